"""Color textures, and the patches of an experiment with them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import ArrayLike, NDArray
from scipy.ndimage import gaussian_filter
from sklearn.utils import check_consistent_length, check_random_state, column_or_1d

from protolearn.core.parameters import constrained, integer, number
from protolearn.core.types import Array, Bools, Floats

__all__ = [
    "TexturePatches",
    "cut_image_patches",
    "load_picture_textures",
    "make_color_textures",
    "texture_protocol",
]

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


Pictures = Sequence[Array] | Array


Patches = tuple[Array, Array, NDArray[np.intp]]


@dataclass(frozen=True)
class TexturePatches:
    """Patches (n, size, size, c), their classes (n,) and the indices (n,) of their images, in three parts.

    Attributes
    ----------
    X_train, y_train, sources_train : ndarray
        Patches for training.
    X_test, y_test, sources_test : ndarray
        Other patches of the same images, which may overlap with those for training.
    X_unseen, y_unseen, sources_unseen : ndarray
        Patches of unseen images.
    unseen : ndarray of shape (m,)
        Indices of the unseen images, in ascending order.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.datasets import texture_protocol
    >>> images, y = np.random.default_rng(0).random((6, 20, 20, 3)), [0, 0, 0, 1, 1, 1]
    >>> parts = texture_protocol(images, y, random_state=0)
    >>> bool(set(parts.sources_test) <= set(parts.sources_train)), set(parts.sources_unseen) & set(parts.sources_train)
    (True, set())
    """

    X_train: Array
    y_train: Array
    sources_train: NDArray[np.intp]
    X_test: Array
    y_test: Array
    sources_test: NDArray[np.intp]
    X_unseen: Array
    y_unseen: Array
    sources_unseen: NDArray[np.intp]
    unseen: NDArray[np.intp]


@constrained(n_patches=integer(1), size=integer(1))
def cut_image_patches(
    images: Pictures, y: ArrayLike, n_patches: int, *, size: int = 15, wrap: bool = False, random_state: Any = None
) -> Patches:
    """Cut patches from random positions in images.

    Parameters
    ----------
    images : array of shape (n_images, h, w, c) or sequence of arrays (h, w, c)
        The images, which may differ in size, but not in the number of channels.
    y : array-like of shape (n_images,)
        The class of each image.
    n_patches : int
        Number of patches from each image. Patches may overlap.
    size : int, default=15
        Height and width of a patch in pixels.
    wrap : bool, default=False
        Whether patches may continue at the opposite border, for textures that are periodic.
    random_state : int, RandomState or None, default=None
        Seed for reproducible positions.

    Returns
    -------
    patches : ndarray of shape (n_images * n_patches, size, size, c)
        The patches, image by image, with the data type of the images.
    labels : ndarray of shape (n_images * n_patches,)
        The class of each patch.
    sources : ndarray of shape (n_images * n_patches,)
        The index of the image of each patch.

    See Also
    --------
    texture_protocol : Patches of some images for training and testing, and of unseen images.

    Examples
    --------
    >>> from protolearn.datasets import cut_image_patches, make_color_textures
    >>> images, y = make_color_textures(2, random_state=0)
    >>> patches, labels, sources = cut_image_patches(images, y, 30, random_state=0)
    >>> patches.shape, str(labels[-1]), int(sources[-1])
    ((300, 15, 15, 3), 'food', 9)
    """
    pictures, labels = _checked(images, y, size)
    rng = check_random_state(random_state)
    patches = np.concatenate([_patches(picture, n_patches, size, wrap, rng) for picture in pictures])
    sources = np.repeat(np.arange(len(pictures)), n_patches)
    return patches, labels[sources], sources


@constrained(size=integer(1))
def texture_protocol(
    images: Pictures,
    y: ArrayLike,
    *,
    size: int = 15,
    n_train: int = 150,
    n_test: int = 50,
    n_unseen: int = 50,
    unseen: float | ArrayLike = 1 / 3,
    wrap: bool = False,
    random_state: Any = None,
) -> TexturePatches:
    """Cut patches for training and testing from some images, and for evaluation from unseen images.

    Test patches come from the training images and may overlap with training patches, so the accuracy on them is
    optimistic. The accuracy on unseen images measures generalization to new images.

    Parameters
    ----------
    images : array of shape (n_images, h, w, c) or sequence of arrays (h, w, c)
        The images, which may differ in size, but not in the number of channels.
    y : array-like of shape (n_images,)
        The class of each image.
    size : int, default=15
        Height and width of a patch in pixels.
    n_train, n_test : int, default=150, 50
        Number of patches for training and for testing, from each image that is not unseen.
    n_unseen : int, default=50
        Number of patches from each unseen image.
    unseen : float or array-like of int, default=1/3
        Unseen images: the fraction of the images of each class, rounded and drawn at random, at least one and not all;
        or their indices.
    wrap : bool, default=False
        Whether patches may continue at the opposite border, for textures that are periodic.
    random_state : int, RandomState or None, default=None
        Seed for the choice of images and positions.

    Returns
    -------
    patches : TexturePatches
        The three parts, each with classes and indices of images.

    References
    ----------
    Bunte, K. (2011). Adaptive dissimilarity measures, dimension reduction and visualization. PhD thesis, University of
    Groningen, section 5.3: 20 training images and 15 unseen images.

    Examples
    --------
    >>> from protolearn.datasets import make_color_textures, texture_protocol
    >>> images, y = make_color_textures(6, random_state=0)
    >>> parts = texture_protocol(images, y, random_state=0)
    >>> parts.X_train.shape, parts.X_test.shape, parts.X_unseen.shape
    ((3000, 15, 15, 3), (1000, 15, 15, 3), (500, 15, 15, 3))
    """
    pictures, labels = _checked(images, y, size)
    rng = check_random_state(random_state)
    apart = _drawn(unseen, labels, rng) if np.ndim(unseen) == 0 else _given(unseen, labels)
    seen = np.setdiff1d(np.arange(len(pictures)), apart)

    def part(which: NDArray[np.intp], n_patches: int) -> Patches:
        chosen = [pictures[i] for i in which]
        X, classes, sources = cut_image_patches(
            chosen, labels[which], n_patches, size=size, wrap=wrap, random_state=rng
        )
        return X, classes, which[sources]

    return TexturePatches(*part(seen, n_train), *part(seen, n_test), *part(apart, n_unseen), apart)


def _patches(picture: Array, n_patches: int, size: int, wrap: bool, rng: np.random.RandomState) -> Array:
    if wrap:
        picture = np.pad(picture, ((0, size - 1), (0, size - 1), (0, 0)), mode="wrap")
    windows = sliding_window_view(picture, (size, size), axis=(0, 1))  # (rows, columns, c, size, size)
    rows, columns = (rng.randint(n_places, size=n_patches) for n_places in windows.shape[:2])
    return np.moveaxis(windows[rows, columns], 1, -1)


def _drawn(share: Any, labels: Array, rng: np.random.RandomState) -> NDArray[np.intp]:
    """Return a share of the pictures of each class."""
    number(0, 1, open_low=True, open_high=True).check("unseen", share)
    chosen = []
    for label in np.unique(labels):
        members = np.flatnonzero(labels == label)
        if len(members) == 1:
            raise ValueError(f"Class {label} has only one image; it needs at least two, one of them unseen.")
        n_apart = np.clip(round(share * len(members)), 1, len(members) - 1)
        chosen.append(rng.choice(members, n_apart, replace=False))
    return np.sort(np.concatenate(chosen))


def _given(indices: Any, labels: Array) -> NDArray[np.intp]:
    """Return valid indices of pictures that leave some of each class."""
    apart = np.unique(indices)
    if np.ndim(indices) != 1 or apart.size == 0 or apart.dtype.kind not in "iu":
        raise ValueError(f"unseen={indices!r} must be a fraction of the images, or the indices of at least one image.")
    if apart[0] < 0 or apart[-1] >= len(labels):
        raise ValueError(f"unseen has indices from {apart[0]} to {apart[-1]}, but there are {len(labels)} images.")
    lost = np.setdiff1d(labels, np.delete(labels, apart))
    if lost.size:
        raise ValueError(f"All images of class {lost[0]} are unseen; leave some images of each class for training.")
    return apart


def _checked(images: Any, y: Any, size: int) -> tuple[list[Array], Array]:
    """Return pictures (h, w, c) that have the same channels and type and hold a patch, and their classes."""
    pictures = [np.asarray(image) for image in images]
    labels = column_or_1d(y)
    check_consistent_length(pictures, labels)
    if not pictures:
        raise ValueError("images is empty; pass at least one image.")
    for i, picture in enumerate(pictures):
        if picture.ndim != 3:
            raise ValueError(
                f"images[{i}] has shape {picture.shape}, expected (h, w, c); add an axis for the channel of a gray "
                "image, image[..., np.newaxis]."
            )
        if picture.shape[2] != pictures[0].shape[2] or picture.dtype != pictures[0].dtype:
            raise ValueError(
                f"images[{i}] has {picture.shape[2]} channels of {picture.dtype}, but images[0] has "
                f"{pictures[0].shape[2]} of {pictures[0].dtype}; convert all images to the same type."
            )
        if min(picture.shape[:2]) < size:
            raise ValueError(
                f"images[{i}] has {picture.shape[0]} x {picture.shape[1]} pixels, too few for a patch of size={size}."
            )
    return pictures, labels
