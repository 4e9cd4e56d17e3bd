"""Images of colored textures in several classes: synthetic, or cut from photographs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter
from sklearn.utils import check_random_state

from protolearn.core.parameters import constrained, integer
from protolearn.core.types import Bools, Floats

__all__ = ["load_picture_textures", "make_color_textures"]

Texts = NDArray[np.str_]

JITTER, GRAIN, GAIN = 0.05, 0.02, 0.1  # standard deviations: of the colors of a picture, of its pixels, of its light
JOINT = 2  # pixels between bricks and between tiles

TILE = 40
# class: picture, and the upper left corners (row, column) of the tiles that are cut from it
TILES = {
    "fur": ("chelsea", [(4, 120), (4, 160), (4, 200), (4, 240), (44, 100), (44, 255)]),
    "gland": ("immunohistochemistry", [(50, 10), (100, 60), (150, 190), (50, 370), (200, 340), (440, 100)]),
    "leaves": ("china.jpg", [(385, 20), (385, 70), (385, 120), (345, 110), (345, 430), (300, 520)]),
    "petals": ("flower.jpg", [(120, 250), (120, 320), (165, 370), (275, 240), (225, 200), (270, 330)]),
    "stroma": ("immunohistochemistry", [(250, 250), (380, 185), (430, 180), (60, 450), (150, 465), (330, 405)]),
    "wood": ("coffee", [(140, 0), (140, 40), (180, 0), (290, 0), (340, 505), (350, 555)]),
}


@constrained(size=integer(16))
def make_color_textures(
    n_images: int | Sequence[int] = 4, *, size: int = 128, random_state: Any = None
) -> tuple[Floats, Texts]:
    """Make images of five colored textures: bark, brick, tile, fabric and food.

    The images are a substitute for photographs of textures. The images of a class share a generator, but each has its
    own scale, colors and illumination, so unseen images are harder to classify than other parts of the training images.
    A brick or a tile is wider than a patch of 15 pixels. The mean and the standard deviation of the colors identify the
    class of most patches, the gray values of fewer.

    Parameters
    ----------
    n_images : int or sequence of five int, default=4
        Number of images of each class.
    size : int, default=128
        Height and width of an image in pixels, at least 16.
    random_state : int, RandomState or None, default=None
        Seed for reproducible images.

    Returns
    -------
    images : ndarray of shape (n, size, size, 3)
        Red, green and blue, from 0 to 1, class by class.
    y : ndarray of shape (n,), of str
        The class: "bark", "brick", "tile", "fabric" or "food".

    See Also
    --------
    load_picture_textures : Textures cut from photographs.
    texture_protocol : Patches for training and testing.

    References
    ----------
    Bunte, K. (2011). Adaptive dissimilarity measures, dimension reduction and visualization. PhD thesis, University of
    Groningen, section 5.3, has photographs in classes of these names. The textures here are synthetic.

    Examples
    --------
    >>> from protolearn.datasets import make_color_textures
    >>> images, y = make_color_textures(2, random_state=0)
    >>> images.shape, y[::2].tolist()
    ((10, 128, 128, 3), ['bark', 'brick', 'tile', 'fabric', 'food'])
    """
    counts: Any = [n_images] * len(RECIPES) if np.ndim(n_images) == 0 else n_images
    if np.shape(counts) != (len(RECIPES),):
        raise ValueError(f"n_images={n_images!r} must be one number, or one for each of {', '.join(RECIPES)}.")
    integer(1).check_each("n_images", counts)
    rng = check_random_state(random_state)
    y = np.repeat(list(RECIPES), counts)
    return np.array([_painted(label, size, rng) for label in y]), y


def load_picture_textures() -> tuple[Floats, Texts]:
    """Load six colored textures, cut from photographs included in scikit-image and scikit-learn.

    Each class consists of six tiles from different places of one photograph: fur of a cat, glands and the tissue
    between them under a microscope, leaves of trees, petals of a dahlia, and wood of a table. The tiles do not overlap.
    An unseen tile shows a new place in the same photograph under the same illumination, which is easier to classify
    than a new photograph. The mean and the standard deviation of the colors identify the class of most patches, the
    gray values of fewer.

    Returns
    -------
    images : ndarray of shape (36, 40, 40, 3)
        Red, green and blue, from 0 to 1, class by class.
    y : ndarray of shape (36,), of str
        The class: "fur", "gland", "leaves", "petals", "stroma" or "wood".

    See Also
    --------
    make_color_textures : Synthetic textures.
    texture_protocol : Patches for training and testing.

    Notes
    -----
    The function needs scikit-image and downloads nothing. The photographs are `chelsea`, `immunohistochemistry` and
    `coffee` of ``skimage.data``, and those of ``sklearn.datasets.load_sample_images``.

    Examples
    --------
    >>> from protolearn.datasets import load_picture_textures
    >>> images, y = load_picture_textures()
    >>> images.shape, int((y == "wood").sum())
    ((36, 40, 40, 3), 6)
    """
    tiles, y = [], []
    for label, (name, corners) in TILES.items():
        photograph = _photograph(name)
        tiles += [photograph[row : row + TILE, column : column + TILE] for row, column in corners]
        y += [label] * len(corners)
    return np.array(tiles) / 255.0, np.array(y)


def _photograph(name: str) -> NDArray[np.uint8]:
    try:
        from skimage import data
    except ImportError as error:
        raise ImportError("Textures of photographs need scikit-image: pip install 'protolearn[images]'.") from error
    from sklearn.datasets import load_sample_image

    return load_sample_image(name) if name.endswith(".jpg") else getattr(data, name)()


def _painted(label: str, size: int, rng: np.random.RandomState) -> Floats:
    """Return a picture (size, size, 3) of one class, with colors and light of its own."""
    pattern, darkest, brightest = RECIPES[label]
    low, high = np.array([darkest, brightest]) + JITTER * rng.standard_normal((2, 3))
    picture = low + (high - low) * pattern(size, rng)[..., None]
    gain = np.clip(1.0 + GAIN * rng.standard_normal(), 0.7, 1.3)
    return np.clip(gain * (picture + GRAIN * rng.standard_normal(picture.shape)), 0.0, 1.0)


def _bark(size: int, rng: np.random.RandomState) -> Floats:
    return _scaled(_smooth(size, (rng.uniform(4.0, 9.0), rng.uniform(0.8, 1.6)), rng))


def _brick(size: int, rng: np.random.RandomState) -> Floats:
    height, width = rng.uniform(12.0, 18.0), rng.uniform(26.0, 38.0)
    row, column = _pixels(size, rng)
    shifted = column + 0.5 * width * (row // height % 2)
    return np.where(_joint(row, height) | _joint(shifted, width), 1.0, 0.3 + 0.4 * _scaled(_smooth(size, 1.5, rng)))


def _tile(size: int, rng: np.random.RandomState) -> Floats:
    period = rng.uniform(18.0, 34.0)
    row, column = _pixels(size, rng)
    return np.where(_joint(row, period) | _joint(column, period), 0.0, 0.5 + 0.35 * _scaled(_smooth(size, 2.5, rng)))


def _fabric(size: int, rng: np.random.RandomState) -> Floats:
    period, angle = rng.uniform(3.2, 6.0), rng.uniform(0.0, 0.5 * np.pi)
    row, column = _pixels(size, rng)
    threads = np.exp(1j * angle) * 2.0 * np.pi / period * (column + 1j * row)
    return _scaled(np.sin(threads.real) * np.sin(threads.imag) + 0.25 * rng.standard_normal((size, size)))


def _food(size: int, rng: np.random.RandomState) -> Floats:
    width = rng.uniform(2.0, 3.5)
    noise = rng.standard_normal((size, size))
    difference = gaussian_filter(noise, width) - gaussian_filter(noise, 1.8 * width)
    return _scaled(np.tanh(difference / difference.std()))


# class: pattern, its darkest and its brightest color
RECIPES = {
    "bark": (_bark, (0.18, 0.12, 0.08), (0.55, 0.43, 0.32)),
    "brick": (_brick, (0.35, 0.12, 0.08), (0.75, 0.62, 0.55)),
    "tile": (_tile, (0.25, 0.25, 0.25), (0.55, 0.62, 0.72)),
    "fabric": (_fabric, (0.2, 0.15, 0.3), (0.6, 0.5, 0.75)),
    "food": (_food, (0.45, 0.2, 0.02), (0.98, 0.65, 0.2)),
}


def _pixels(size: int, rng: np.random.RandomState) -> tuple[Floats, Floats]:
    """Return the row and the column of each pixel, from a random origin."""
    row, column = np.mgrid[:size, :size] + rng.uniform(0.0, 100.0, (2, 1, 1))
    return row, column


def _joint(place: Floats, period: float) -> Bools:
    return place % period < JOINT


def _smooth(size: int, width: Any, rng: np.random.RandomState) -> Floats:
    return gaussian_filter(rng.standard_normal((size, size)), width)


def _scaled(values: Floats) -> Floats:
    return (values - values.min()) / np.ptp(values)
