"""Image sequences: a rotating object, and dynamic textures."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from protolearn.core.parameters import constrained, integer, number, option
from protolearn.core.types import Floats

__all__ = [
    "make_dynamic_texture",
    "make_rotating_views",
]

Frames = NDArray[np.uint8]


Size = tuple[int, int]


ROOM = np.array([0.92, 1.3])  # half the height and half the width of what is seen of the solid


N_RAYS = 3  # across and up in a pixel


LIGHT = np.array([-0.48, -0.6, 0.64])


AMBIENT, BACKGROUND = 0.25, 30.0


CLAY, BRASS, PAINT = (214.0, 140.0, 96.0), (206.0, 190.0, 120.0), (60.0, 110.0, 200.0)


DEVIATION = 36.0  # of pixels from the mean gray value


N_WAVES, LONGEST, SHORTEST = 12, 1.0, 0.15  # wavelengths in heights of the picture


SPREAD, SPEED = 0.5, 0.025  # of directions; of a wave as long as the picture is high, in heights for each frame


N_RIPPLES, TURN = 30, 100  # plane waves in a rotating pattern, frames of a full turn


DRIFT, KEPT = np.array([-0.009, 0.02]), 0.97  # down and across, in heights for each frame; how much of the noise stays


BLUR = 0.06  # of the noise, in heights


@constrained(n_frames=integer(1), max_angle=number())
def make_rotating_views(
    n_frames: int = 200, shape: Size = (38, 50), *, max_angle: float = np.pi
) -> tuple[Frames, Floats]:
    """Make images of a rotating pot, a smooth curve in the space of images.

    The images are a substitute for photographs of a teapot that rotates by 180 degrees. The pot has a spout, a handle,
    a knob on its lid and a colored spot on one side, so no two views are alike. It is seen from the side without
    perspective, and its brightness follows Lambert's law.

    Parameters
    ----------
    n_frames : int, default=200
        Number of images.
    shape : tuple (height, width), default=(38, 50)
        Size of an image in pixels.
    max_angle : float, default=pi
        Rotation angle between the first and the last image, counterclockwise as seen from above. In the first image,
        the spout points to the right.

    Returns
    -------
    images : ndarray of shape (n_frames, height, width, 3), of uint8
        Red, green and blue, in the order of the angle.
    angles : ndarray of shape (n_frames,)
        The angle of the pot in each image, from 0 to `max_angle` in equal steps.

    References
    ----------
    Weinberger, K. Q., Saul, L. K. (2006). Unsupervised learning of image manifolds by semidefinite programming.
    International Journal of Computer Vision 70, 77-90.

    Examples
    --------
    >>> from protolearn.datasets import make_rotating_views
    >>> images, angles = make_rotating_views(5)
    >>> images.shape, images.dtype, angles.round(2)
    ((5, 38, 50, 3), dtype('uint8'), array([0.  , 0.79, 1.57, 2.36, 3.14]))
    """
    _check_shape(shape)
    angles = np.linspace(0.0, max_angle, n_frames)
    return np.array([_rendered(angle, shape) for angle in angles]), angles


@constrained(n_frames=integer(1), kind=option("waves", "rotation", "advection"))
def make_dynamic_texture(
    n_frames: int = 200,
    shape: Size = (36, 44),
    *,
    kind: Literal["waves", "rotation", "advection"] = "waves",
    random_state: Any = None,
) -> Frames:
    """Make a sequence of color images with steady motion.

    Parameters
    ----------
    n_frames : int, default=200
        Number of images.
    shape : tuple (height, width), default=(36, 44)
        Size of an image in pixels.
    kind : {"waves", "rotation", "advection"}, default="waves"
        Type of motion: waves on water, a sum of 12 sines that travel at different speeds, long waves faster; a random
        pattern that rotates about the center of the image once in 100 images; or clouds in the wind, smooth noise that
        drifts to one side and changes slowly.
    random_state : int, RandomState or None, default=None
        Seed for a reproducible sequence.

    Returns
    -------
    frames : ndarray of shape (n_frames, height, width, 3), of uint8
        Red, green and blue, in the order of time.

    References
    ----------
    Doretto, G., Chiuso, A., Wu, Y. N., Soatto, S. (2003). Dynamic textures. International Journal of Computer Vision
    51, 91-109.

    Examples
    --------
    >>> from protolearn.datasets import make_dynamic_texture
    >>> frames = make_dynamic_texture(50, kind="waves", random_state=0)
    >>> frames.shape, frames.dtype
    ((50, 36, 44, 3), dtype('uint8'))
    """
    _check_shape(shape)
    return _as_bytes(128.0 + TEXTURES[kind](n_frames, shape, check_random_state(random_state)))


def _waves(n_frames: int, shape: Size, rng: np.random.RandomState) -> Floats:
    lengths = LONGEST * (SHORTEST / LONGEST) ** rng.uniform(size=N_WAVES)
    directions = rng.normal(0.0, SPREAD, N_WAVES)
    vectors = 2.0 * np.pi / lengths[:, None] * np.column_stack([np.cos(directions), np.sin(directions)])
    phases = rng.uniform(0.0, 2.0 * np.pi, N_WAVES)
    colors = _colors(np.sqrt(lengths), rng)
    rates = 2.0 * np.pi * SPEED / np.sqrt(lengths)  # as in deep water
    along = _places(shape) @ vectors.T
    return np.array([np.sin(along - rates * time + phases) @ colors for time in range(n_frames)])


def _rotation(n_frames: int, shape: Size, rng: np.random.RandomState) -> Floats:
    vectors = rng.normal(0.0, 2.0 * np.pi, (N_RIPPLES, 2))
    phases = rng.uniform(0.0, 2.0 * np.pi, N_RIPPLES)
    colors = _colors(np.ones(N_RIPPLES), rng)
    places = _places(shape)
    turns = [_turn(2.0 * np.pi * time / TURN) for time in range(n_frames)]
    return np.array([np.sin(places @ turn @ vectors.T + phases) @ colors for turn in turns])


def _advection(n_frames: int, shape: Size, rng: np.random.RandomState) -> Floats:
    height, width = shape
    frequencies = np.stack(np.meshgrid(np.fft.fftfreq(height), np.fft.fftfreq(width), indexing="ij"), axis=-1)
    smooth = np.exp(-2.0 * np.square(np.pi * BLUR * height * frequencies).sum(axis=-1))
    smooth *= DEVIATION / np.sqrt(np.square(smooth).mean())
    shift = np.exp(-2j * np.pi * height * frequencies @ DRIFT)
    fields = [_white(shape, rng)]
    for _ in range(1, n_frames):  # each wave of the noise is a stationary autoregressive process
        fields.append(KEPT * shift * fields[-1] + np.sqrt(1.0 - KEPT**2) * _white(shape, rng))
    noise = np.array([np.fft.ifft2(smooth * field).real for field in fields])
    return np.moveaxis(noise, 1, -1) @ (np.ones((3, 3)) + np.eye(3)) / np.sqrt(6.0)  # mostly gray


TEXTURES = {"waves": _waves, "rotation": _rotation, "advection": _advection}


def _places(shape: Size) -> Floats:
    """Return where pixels (h, w, 2) are from the middle, across and up, in heights of the picture."""
    height, width = shape
    up, across = np.mgrid[:height, :width]
    return np.stack([across - 0.5 * (width - 1), 0.5 * (height - 1) - up], axis=-1) / height


def _colors(amplitudes: Floats, rng: np.random.RandomState) -> Floats:
    """Return how much of red, green and blue (q, 3) is in each of q sines."""
    colors = amplitudes[:, None] * rng.uniform(0.4, 1.0, (len(amplitudes), 3))
    return DEVIATION * colors / np.sqrt(0.5 * np.square(colors).sum(axis=0))


def _white(shape: Size, rng: np.random.RandomState) -> NDArray[np.complex128]:
    """Return the spectrum of noise in three colors (3, h, w)."""
    return np.fft.fft2(rng.standard_normal((3, *shape)))


def _turn(angle: float) -> Floats:
    """Return a matrix that turns rows (x, y) clockwise."""
    cos, sin = np.cos(angle), np.sin(angle)
    return np.array([[cos, -sin], [sin, cos]])


def _as_bytes(values: Floats) -> Frames:
    return np.clip(np.round(values), 0.0, 255.0).astype(np.uint8)


def _check_shape(shape: Any) -> None:
    if np.shape(shape) != (2,):
        raise ValueError(f"shape={shape!r} must be two numbers: the height and the width of an image in pixels.")
    integer(2).check_each("shape", shape)


def _pot() -> tuple[Floats, Floats, Floats]:
    """Return centers (s, 3), radii (s,) and colors (s, 3) of the balls that the pot is made of."""
    way = np.linspace(0.0, 1.0, 14)
    bend = np.radians(90.0 + 180.0 * way)
    none = np.zeros_like(way)
    spout = np.column_stack([0.45 + 0.7 * way, none, -0.2 + 0.65 * way**1.7, 0.2 - 0.1 * way])
    handle = np.column_stack([-0.5 + 0.5 * np.cos(bend), none, 0.33 * np.sin(bend), 0.075 + none])
    body = np.array([(0.0, 0.0, -0.1, 0.66), (0.0, 0.0, 0.62, 0.13)])
    spot = np.array([(0.12, -0.5, 0.08, 0.28)])
    balls = np.concatenate([body, spout, handle, spot])
    colors = np.repeat([CLAY, BRASS, PAINT], [2 + len(spout), len(handle), 1], axis=0)
    colors[1] = BRASS  # the knob
    return balls[:, :3], balls[:, 3], colors


def _rendered(angle: float, shape: Size) -> Frames:
    """Return an image (h, w, 3) of the pot, turned and seen along the second axis, from its negative side."""
    centers, radii, colors = _pot()
    centers[:, :2] = centers[:, :2] @ _turn(-angle)
    fine = (N_RAYS * shape[0], N_RAYS * shape[1])
    rays = _places(fine) * fine[0] * 2.0 * (ROOM / fine).max()
    across, up = rays[0, :, 0], rays[:, 0, 1]
    depths, pixels = np.full(fine, np.inf), np.full((*fine, 3), BACKGROUND)
    for center, radius, color in zip(centers, radii, colors):
        columns, rows = (np.flatnonzero(np.abs(line) < radius) for line in (across - center[0], up - center[2]))
        x, z = across[columns] - center[0], up[rows, None] - center[2]
        squares = radius**2 - x**2 - z**2
        y = -np.sqrt(np.maximum(squares, 0.0))
        window = np.ix_(rows, columns)
        seen = (squares > 0.0) & (center[1] + y < depths[window])
        facing = np.maximum(LIGHT[0] * x + LIGHT[1] * y + LIGHT[2] * z, 0.0) / radius  # Lambert's law
        depths[window] = np.where(seen, center[1] + y, depths[window])
        shades = (AMBIENT + (1.0 - AMBIENT) * facing)[..., None] * color
        pixels[window] = np.where(seen[..., None], shades, pixels[window])
    return _as_bytes(pixels.reshape(shape[0], N_RAYS, shape[1], N_RAYS, 3).mean(axis=(1, 3)))
