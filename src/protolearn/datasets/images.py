"""Images, their colors, and spectra."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.ndimage import gaussian_filter
from sklearn.utils import check_array, check_random_state

from protolearn.core.parameters import Constraint, constrained, integer, number, option
from protolearn.core.types import Array, Bools, Floats
from protolearn.datasets._shares import labels_in_shares

__all__ = [
    "downsample_digits",
    "make_lesion_images",
    "make_lesions",
    "make_noisy_histograms",
    "make_spectra",
]

SIDE, MARGIN, SMALL = 28, 4, 8  # pixels of a digit, of the empty border around it, and of its small version


def downsample_digits(images: ArrayLike) -> Floats:
    """Reduce images of digits from 28 x 28 pixels, as in MNIST, to 8 x 8 pixels.

    The border of 4 pixels is removed. Each pixel of the small image is the mean of the remaining pixels, weighted by a
    Gaussian around its center with a standard deviation of 1.25 pixels, half the distance between two centers. The
    weights sum to one, so the range of values does not change.

    Parameters
    ----------
    images : array-like of shape (..., 28, 28) or (..., 784)
        One image or many.

    Returns
    -------
    ndarray of shape (..., 8, 8) or (..., 64)
        The small images; flattened, if the input is.

    References
    ----------
    Möller, R., Hoffmann, H. (2004). An extension of neural gas to local PCA. Neurocomputing 62, 305-326, section 4.2.
    A half-width of 1.25 is given there; that it is the standard deviation is assumed.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.datasets import downsample_digits
    >>> downsample_digits(np.ones((5, 784))).shape
    (5, 64)
    """
    pixels = np.asarray(images)
    flat = pixels.shape[-1:] == (SIDE**2,)
    if not flat and pixels.shape[-2:] != (SIDE, SIDE):
        raise ValueError(
            f"images.shape == {pixels.shape}, expected (..., {SIDE}, {SIDE}) or (..., {SIDE**2}): digits of {SIDE} x "
            f"{SIDE} pixels."
        )
    leading = pixels.shape[: -1 if flat else -2]
    inner = pixels.reshape(*leading, SIDE, SIDE)[..., MARGIN:-MARGIN, MARGIN:-MARGIN]
    weights = _weights()
    small = weights @ inner @ weights.T
    return small.reshape(*leading, SMALL**2) if flat else small


def _weights() -> Floats:
    """Weights (8, 20) of the pixels along one side in each pixel of the small image; rows sum to one."""
    n_pixels = SIDE - 2 * MARGIN
    pitch = n_pixels / SMALL
    centers = (np.arange(SMALL) + 0.5) * pitch - 0.5
    weights = np.exp(-0.5 * ((np.arange(n_pixels) - centers[:, None]) / (pitch / 2)) ** 2)
    return weights / weights.sum(axis=1, keepdims=True)


Three = tuple[float, float, float]


# CIE Lab: how lesions of a class differ from healthy skin, and how the skin of people varies
SHIFTS = {"red": (-6.0, 13.0, 3.0), "white": (9.0, -6.0, -5.0), "blue": (-13.0, 1.0, -12.0), "brown": (-14.0, 5.0, 4.0)}


SKIN = np.array([68.0, 12.0, 17.0])


SKIN_SPREAD = np.array([7.0, 3.5, 3.5])


SKIN_CORRELATION = np.array([[1.0, -0.5, -0.2], [-0.5, 1.0, 0.3], [-0.2, 0.3, 1.0]])


# sRGB: XYZ of its three lights, which together give the white D65
RGB_TO_XYZ = np.array([[0.412453, 0.357580, 0.180423], [0.212671, 0.715160, 0.072169], [0.019334, 0.119193, 0.950227]])


WHITE = np.array([0.95047, 1.0, 1.08883])


FURROW = (0.07, 0.012)  # length and width of furrows of the skin, as parts of the size of a picture


N_CORRECTIONS = 8


@constrained(scale=number(0), persistence=number(0, 1))
def make_lesions(
    counts: Sequence[int] = (82, 46, 29, 54),
    *,
    scale: float = 0.87,
    persistence: float = 0.6,
    spread: Three = (5.0, 4.5, 4.5),
    random_state: Any = None,
) -> tuple[Floats, NDArray[np.str_]]:
    """Make the mean colors of skin lesions and of the healthy skin around them.

    The samples are a substitute for the colors of dermatological photographs in four classes. In CIE Lab, the color `h`
    of healthy skin is normally distributed around a mean `m`, and that of a lesion is ``m + persistence (h - m) + scale
    shift + noise``, with a shift for each class: red, white, blue or brown. Colors are then converted to RGB and
    clipped.

    The parameter `persistence` controls the information in the color of the skin. At 1, the difference between lesion
    and skin does not depend on the skin color of the person and is already the ideal feature, so there is little to
    learn; this is the control setting. Below 1, a lesion retains only a part of the skin color, and the ideal weight of
    the skin is smaller than that of the lesion.

    Parameters
    ----------
    counts : sequence of four int, default=(82, 46, 29, 54)
        Number of red, white, blue and brown lesions.
    scale : float, default=0.87
        Factor of the shifts; larger values separate the classes more.
    persistence : float, default=0.6
        Part of the skin color of the person that the lesion retains, from 0 to 1.
    spread : tuple of three float, default=(5, 4.5, 4.5)
        Standard deviation of the noise in L, a and b.
    random_state : int, RandomState or None, default=None
        Seed for reproducible samples.

    Returns
    -------
    X : ndarray of shape (n, 6)
        The samples in random order: red, green and blue of the healthy skin, outside the lesion, then of the lesion,
        inside it. All values are from 0 to 1.
    y : ndarray of shape (n,), of str
        The class: "red", "white", "blue" or "brown".

    See Also
    --------
    make_lesion_images : Images with these mean colors.

    References
    ----------
    Bunte, K. (2011). Adaptive dissimilarity measures, dimension reduction and visualization. PhD thesis, University of
    Groningen, section 4.3, describes 211 photographs in these classes. The colors here are synthetic.

    Examples
    --------
    >>> from protolearn.datasets import make_lesions
    >>> X, y = make_lesions(random_state=0)
    >>> X.shape, int((y == "blue").sum())
    ((211, 6), 29)
    """
    _check_each("counts", counts, SHIFTS, integer(1))
    _check_each("spread", spread, "Lab", number(0))
    rng = check_random_state(random_state)
    y = rng.permutation(np.repeat(list(SHIFTS), counts))
    own = SKIN_SPREAD * (rng.standard_normal((len(y), 3)) @ np.linalg.cholesky(SKIN_CORRELATION).T)
    shift = scale * np.array([SHIFTS[label] for label in y])
    lesion = SKIN + persistence * own + shift + rng.standard_normal((len(y), 3)) * spread
    return np.hstack([_lab_to_rgb(SKIN + own), _lab_to_rgb(lesion)]), y


@constrained(size=integer(16))
def make_lesion_images(
    counts: Sequence[int] = (82, 46, 29, 54),
    *,
    size: int = 64,
    scale: float = 0.87,
    persistence: float = 0.6,
    spread: Three = (5.0, 4.5, 4.5),
    random_state: Any = None,
) -> tuple[NDArray[np.uint8], Bools, NDArray[np.str_]]:
    """Make images of skin lesions in four color classes, and masks of the lesions.

    An image shows a spot with an irregular contour and a soft border on textured skin with some shading. The mean
    colors inside and outside the mask are those of `make_lesions` with the same parameters, up to rounding, and up to
    0.01 for bright colors whose pixels are clipped.

    Parameters
    ----------
    counts : sequence of four int, default=(82, 46, 29, 54)
        Number of red, white, blue and brown lesions.
    size : int, default=64
        Height and width of an image in pixels, at least 16.
    scale, persistence, spread : float, float, tuple of three float
        Parameters of the color distribution, as in `make_lesions`.
    random_state : int, RandomState or None, default=None
        Seed for reproducible images.

    Returns
    -------
    images : ndarray of shape (n, size, size, 3), of uint8
        Red, green and blue, in random order.
    masks : ndarray of shape (n, size, size), of bool
        Masks that are true inside the lesions.
    y : ndarray of shape (n,), of str
        The class: "red", "white", "blue" or "brown".

    See Also
    --------
    make_lesions : The mean colors only.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.datasets import make_lesion_images, make_lesions
    >>> images, masks, y = make_lesion_images((3, 3, 2, 2), random_state=0)
    >>> images.shape, images.dtype, masks.shape
    ((10, 64, 64, 3), dtype('uint8'), (10, 64, 64))
    >>> X, _ = make_lesions((3, 3, 2, 2), random_state=0)
    >>> bool(np.allclose(images[0][masks[0]].mean(axis=0) / 255, X[0, 3:], atol=0.01))
    True
    """
    rng = check_random_state(random_state)
    X, y = make_lesions(counts, scale=scale, persistence=persistence, spread=spread, random_state=rng)
    pictures, masks = zip(*(_picture(colors.reshape(2, 3), size, rng) for colors in X))
    return np.array(pictures), np.array(masks), y


def _picture(colors: Floats, size: int, rng: np.random.RandomState) -> tuple[NDArray[np.uint8], Bools]:
    """Return a picture (size, size, 3) and its mask, with given mean colors (2, 3) outside and inside of it."""
    height = _spot(size, rng)
    mask = height > 0
    edge = 1.0 / (1.0 + np.exp(-height / rng.uniform(0.015, 0.05)))
    cover = edge * (1.0 + 0.15 * _noise(size, 0.06, rng)) + 0.04 * _noise(size, 0.12, rng)
    bumps = (1.0 - 0.5 * edge) * _skin(size, rng) + edge * (_mottling(size, rng) + rng.uniform(-0.4, 0.4) * height)
    light = _shade(size, rng) * (1.0 + bumps)
    paint = light[..., None] * np.stack([1.0 - cover, cover], axis=-1)  # how much of either color is in a pixel
    shares = np.array([paint[~mask].mean(axis=0), paint[mask].mean(axis=0)])
    pure = np.zeros((2, 3))
    for _ in range(N_CORRECTIONS):  # the first one is exact unless pixels are clipped
        picture = np.clip(paint @ pure, 0.0, 1.0)
        pure += np.linalg.solve(shares, colors - [picture[~mask].mean(axis=0), picture[mask].mean(axis=0)])
    return np.round(255.0 * np.clip(paint @ pure, 0.0, 1.0)).astype(np.uint8), mask


def _spot(size: int, rng: np.random.RandomState) -> Floats:
    """Return a landscape (size, size) that is above zero within a spot with an uneven outline."""
    across, up = _places(size)
    middle, stretch = rng.uniform(-0.15, 0.15, 2), rng.uniform(0.8, 1.0)
    turned = np.exp(1j * rng.uniform(0.0, np.pi)) * (across - middle[0] + 1j * (up - middle[1]))
    distance = np.hypot(turned.real * stretch, turned.imag / stretch)
    return rng.uniform(0.4, 0.6) - distance + 0.09 * _noise(size, 0.1, rng) + 0.04 * _noise(size, 0.035, rng)


def _shade(size: int, rng: np.random.RandomState) -> Floats:
    """Return how much light falls on each pixel: more from one side, less towards the corners."""
    across, up = _places(size)
    angle = rng.uniform(0.0, 2.0 * np.pi)
    slope = np.cos(angle) * across + np.sin(angle) * up
    return 1.0 + rng.uniform(0.02, 0.08) * slope - 0.05 * (across**2 + up**2)


def _skin(size: int, rng: np.random.RandomState) -> Floats:
    """Return the texture of skin: furrows in two directions, blotches, grain."""
    angle = rng.uniform(0.0, np.pi)
    furrows = [np.abs(_noise(size, FURROW, rng, angle + turn)) for turn in (0.0, rng.uniform(1.0, 1.6))]
    return -0.03 * np.maximum(*furrows) + 0.015 * _noise(size, 0.1, rng) + 0.012 * _noise(size, 0.0, rng)


def _mottling(size: int, rng: np.random.RandomState) -> Floats:
    return 0.06 * _noise(size, 0.05, rng) + 0.04 * _noise(size, 0.018, rng)


def _noise(size: int, width: float | tuple[float, float], rng: np.random.RandomState, angle: float = 0.0) -> Floats:
    """Return smooth noise (size, size) of mean 0 and variance 1; widths, along and across, are parts of the size."""
    along, across = np.broadcast_to(width, 2)
    frequency = size * np.fft.fftfreq(size)
    turned = np.exp(1j * angle) * (frequency + 1j * frequency[:, None])
    smooth = np.exp(-2.0 * np.pi**2 * (np.square(along * turned.real) + np.square(across * turned.imag)))
    field = np.fft.ifft2(smooth * np.fft.fft2(rng.standard_normal((size, size)))).real
    return (field - field.mean()) / field.std()


def _places(size: int) -> tuple[Floats, Floats]:
    """Return how far across and up each pixel is from the middle, in halves of the size."""
    place = np.linspace(-1.0, 1.0, size)
    across, up = np.meshgrid(place, place[::-1])
    return across, up


def _lab_to_rgb(lab: Floats) -> Floats:
    """Return colors (n, 3) of CIE Lab, white D65 seen at 2 degrees, as sRGB from 0 to 1, clipped."""
    lightness = (lab[:, 0] + 16.0) / 116.0
    roots = np.column_stack([lightness + lab[:, 1] / 500.0, lightness, lightness - lab[:, 2] / 200.0])
    xyz = WHITE * np.where(roots > 6 / 29, roots**3, 3 * (6 / 29) ** 2 * (roots - 4 / 29))
    linear = np.clip(xyz @ np.linalg.inv(RGB_TO_XYZ).T, 0.0, 1.0)
    return np.where(linear > 0.0031308, 1.055 * linear ** (1 / 2.4) - 0.055, 12.92 * linear)


def _check_each(name: str, values: Any, parts: Collection[str], constraint: Constraint) -> None:
    if np.shape(values) != (len(parts),):
        raise ValueError(f"{name}={values!r} must be {len(parts)} numbers, one for each of {', '.join(parts)}.")
    constraint.check_each(name, values)


Labels = NDArray[np.intp]


SPECIES_SEED = 9  # species are the same for every random_state


N_BINS, GENUS_PEAKS, OWN_PEAKS = 1000, 60, 30


KEPT, DROPOUT, HEIGHT_SPREAD = 0.6, 0.15, 0.4


SCENE = (240, 320)  # pixels of the generated pictures


@constrained(n_samples=integer(1), n_genera=integer(1), n_species=integer(1))
def make_spectra(
    n_samples: int = 3048, n_genera: int = 40, n_species: int = 5, *, random_state: Any = None
) -> tuple[Floats, Labels]:
    """Make peak spectra of many species, some of which are related.

    The spectra are a substitute for mass spectra of bacteria. Each species has 36 of the 60 peaks of its genus and 30
    peaks of its own. In a sample of a species, each peak is missing with probability 0.15, and the others have
    log-normal heights.

    Parameters
    ----------
    n_samples : int, default=3048
        Number of spectra, about equally many of each species.
    n_genera : int, default=40
        Number of genera.
    n_species : int, default=5
        Number of species in each genus.
    random_state : int, RandomState or None, default=None
        Seed for reproducible samples. The species are always the same.

    Returns
    -------
    X : ndarray of shape (n, 1000)
        The spectra in random order; each adds up to one.
    y : ndarray of shape (n,)
        The species, from 0 to ``n_genera * n_species - 1``; its genus is ``y // n_species``.

    References
    ----------
    Bunte, K. (2011). Adaptive dissimilarity measures, dimension reduction and visualization. PhD thesis, University of
    Groningen, section 9.7.2, shows data of this type; the data here are synthetic.

    Examples
    --------
    >>> from protolearn.datasets import make_spectra
    >>> X, y = make_spectra(random_state=0)
    >>> X.shape, len(set(y)), bool((X > 0).sum(axis=1).max() <= 66)
    ((3048, 1000), 200, True)
    """
    rng = check_random_state(random_state)
    y = labels_in_shares(n_samples, np.ones(n_genera * n_species), rng)
    peaks = np.concatenate([_species_of_genus(genus, n_species) for genus in range(n_genera)])
    seen = peaks[y] & (rng.uniform(size=(n_samples, N_BINS)) >= DROPOUT)
    X = np.where(seen, rng.lognormal(0.0, HEIGHT_SPREAD, (n_samples, N_BINS)), 0.0)
    return X / X.sum(axis=1, keepdims=True), y


@constrained(noise=option("contrast", "uniform"), binning=option("range", "clip"), n_bins=integer(1))
def make_noisy_histograms(
    image: Literal["moon", "dolphins"] | ArrayLike = "moon",
    levels: ArrayLike | None = None,
    *,
    noise: Literal["contrast", "uniform"] = "contrast",
    binning: Literal["range", "clip"] = "range",
    n_bins: int = 256,
    return_images: bool = False,
    random_state: Any = None,
) -> tuple[Array, ...]:
    """Make histograms of a gray image with increasing distortion.

    The histograms show whether a divergence increases with the difference of the levels; ideally, the matrix of all
    divergences is a band.

    Parameters
    ----------
    image : {"moon", "dolphins"} or array-like of shape (h, w), default="moon"
        An image with values from 0 to 1, or the name of a synthetic image: a bright disc with spots in a dark sky, or
        dark bodies in front of waves.
    levels : array-like of shape (m,), optional
        Levels of distortion. By default 1, 2, ..., 9 for contrast, and 50/255, 100/255, ..., 450/255 for uniform noise.
    noise : {"contrast", "uniform"}, default="contrast"
        Distortion of an image ``I`` at level ``l``: ``I (l (I - min I) + 1)``, or ``I + U`` with a random number ``U``
        between 0 and ``l`` for each pixel.
    binning : {"range", "clip"}, default="range"
        Treatment of values above 1: ``"range"`` extends the bins to all values of all levels, ``"clip"`` clips values
        at 1.
    n_bins : int, default=256
        Number of bins of a histogram.
    return_images : bool, default=False
        Whether to return the images as well.
    random_state : int, RandomState or None, default=None
        Seed for a reproducible image and noise.

    Returns
    -------
    histograms : ndarray of shape (m + 1, n_bins)
        Histograms (numbers of pixels) of the original image and of all levels.
    levels : ndarray of shape (m + 1,)
        The levels, the first of which is 0.
    images : ndarray of shape (m + 1, h, w)
        The images, only if `return_images` is true.

    References
    ----------
    Bunte, K. (2011). Adaptive dissimilarity measures, dimension reduction and visualization. PhD thesis, University of
    Groningen, section 9.2.4, does this with photographs.

    Examples
    --------
    >>> from protolearn.datasets import make_noisy_histograms
    >>> histograms, levels = make_noisy_histograms(random_state=0)
    >>> histograms.shape, levels
    ((10, 256), array([0., 1., 2., 3., 4., 5., 6., 7., 8., 9.]))
    """
    rng = check_random_state(random_state)
    original = _scene_picture(image, rng)
    strengths = np.concatenate([[0.0], _check_levels(levels, noise)])
    each = strengths[:, None, None]
    if noise == "contrast":
        images = original * (each * (original - original.min()) + 1.0)
    else:
        images = original + each * rng.uniform(size=(len(each), *original.shape))
    images = np.minimum(images, 1.0) if binning == "clip" else images
    highest = max(1.0, float(images.max()))
    histograms = np.array([np.histogram(one, n_bins, (0.0, highest))[0] for one in images])
    return (histograms, strengths, images) if return_images else (histograms, strengths)


def _species_of_genus(genus: int, n_species: int) -> Bools:
    """Where the species of a genus have peaks (n_species, N_BINS); the first ones are the same for any number."""
    rng = np.random.RandomState([SPECIES_SEED, genus])
    bins = rng.permutation(N_BINS)
    template, others = bins[:GENUS_PEAKS], bins[GENUS_PEAKS:]
    peaks = np.zeros((n_species, N_BINS), dtype=bool)
    for own in peaks:
        own[rng.choice(template, round(KEPT * GENUS_PEAKS), replace=False)] = True
        own[rng.choice(others, OWN_PEAKS, replace=False)] = True
    return peaks


def _scene_picture(image: Any, rng: np.random.RandomState) -> Floats:
    """Return an image (h, w) with values from 0 to 1, generated if it is named."""
    if isinstance(image, str):
        option(*SCENES).check("image", image, ", or an array (h, w)")
        return np.clip(SCENES[image](rng), 0.0, 1.0)
    pixels = check_array(image, dtype=np.float64, input_name="image")
    if pixels.min() < 0 or pixels.max() > 1:
        raise ValueError(
            f"image has values from {pixels.min():g} to {pixels.max():g}; scale it to values from 0 to 1, for example "
            "divide by 255."
        )
    return pixels


def _moon(rng: np.random.RandomState) -> Floats:
    up, across = _coordinates()
    sky = 0.04 + 0.015 * rng.standard_normal(SCENE)
    disc = 0.6 + 0.12 * _texture(8.0, rng) + 0.03 * rng.standard_normal(SCENE)
    return np.where(np.hypot(up, across - 0.1) < 0.55, disc, sky)


def _dolphins(rng: np.random.RandomState) -> Floats:
    up, across = _coordinates()
    waves = 0.55 + 0.12 * np.sin(24.0 * up + 2.0 * _texture(20.0, rng)) + 0.03 * rng.standard_normal(SCENE)
    for height, place in ((-0.35, -0.6), (0.1, 0.15), (0.45, 0.7)):
        tilt = up - height - 0.2 * (across - place)
        body = np.hypot(tilt / 0.14, (across - place) / 0.42) < 1.0
        waves = np.where(body, 0.15 + 0.04 * _texture(4.0, rng), waves)
    return waves


SCENES = {"moon": _moon, "dolphins": _dolphins}


def _coordinates() -> tuple[Floats, Floats]:
    """Return how far up and across each pixel of a picture is from its middle, in halves of its height."""
    height, width = SCENE
    up, across = np.mgrid[:height, :width]
    return 1.0 - 2.0 * up / (height - 1), (2.0 * across - (width - 1)) / (height - 1)


def _texture(smoothness: float, rng: np.random.RandomState) -> Floats:
    """Return smooth noise of mean 0 and variance 1."""
    field = gaussian_filter(rng.standard_normal(SCENE), smoothness)
    return (field - field.mean()) / field.std()


def _check_levels(levels: ArrayLike | None, noise: str) -> Floats:
    if levels is None:
        return np.arange(1.0, 10.0) if noise == "contrast" else np.arange(50.0, 451.0, 50.0) / 255.0
    given = np.atleast_1d(np.asarray(levels, dtype=np.float64))
    if given.ndim != 1 or not (np.isfinite(given) & (given >= 0)).all():
        raise ValueError(f"levels={levels!r} must be a one-dimensional array of nonnegative numbers.")
    return given
