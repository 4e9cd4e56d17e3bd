"""Colors of images: eight color spaces, and mean colors inside and outside a mask as features."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted, validate_data

from protolearn.applications.image_files import ImageFolder, check_mask, read_image, read_image_folder, read_mask
from protolearn.core.estimator import Estimator, nothing_lost
from protolearn.core.parameters import constrained, flag, option
from protolearn.core.types import Array, Bools, Floats

__all__ = [
    "COLOR_SPACES",
    "ColorDifference",
    "ImageFolder",
    "RegionColors",
    "convert_color",
    "read_image",
    "read_image_folder",
    "read_mask",
]


COLOR_SPACES = ("rgb", "nrgb", "tsl", "xyz", "lab", "luv", "lch", "ycrcb")
SOME_PIXELS = 4096
GRAY_CHROMA = 0.01  # in Lab, gray is not exactly at a = b = 0: matrix and white point agree to four digits only


@constrained(space=option(*COLOR_SPACES))
def convert_color(rgb: ArrayLike, space: str) -> Floats:
    r"""Convert colors from sRGB to another space.

    ========  ==========  =======================================================================================
    space     channels    meaning
    ========  ==========  =======================================================================================
    "rgb"     R, G, B     red, green, blue, in [0, 1]
    "nrgb"    r, g, b     their shares :math:`(R, G, B) / (R + G + B)`; black is (1/3, 1/3, 1/3)
    "tsl"     T, S, L     tint in [0, 1), which is cyclic; saturation; lightness
    "xyz"     X, Y, Z     CIE 1931
    "lab"     L, a, b     CIE 1976: lightness, green to red, blue to yellow
    "luv"     L, u, v     CIE 1976, with other color axes
    "lch"     L, C, h     Lab in polar form: lightness, chroma, hue in [0, 2 pi), which is cyclic
    "ycrcb"   Y, Cr, Cb   ITU-R BT.601: luma in [16, 235], red and blue differences in [16, 240]
    ========  ==========  =======================================================================================

    The white point is D65 with the 2-degree observer. With :math:`r' = r - 1/3` and :math:`g' = g - 1/3`,

    .. math:: S = \sqrt{\tfrac95 (r'^2 + g'^2)}, \quad 2 \pi T = \arctan_2(g', -r'), \quad
              L = 0.299 R + 0.587 G + 0.114 B.

    This is the usual tint except for colors with :math:`g' = 0`. Here their tint is the limit of neighboring colors,
    while the usual definition sets it to 0. Hue and tint of gray are 0.

    All spaces but "rgb", "nrgb" and "tsl" need scikit-image (``pip install 'protolearn[images]'``).

    Parameters
    ----------
    rgb : array-like of shape (..., 3)
        Red, green and blue, of type uint8 or floats in [0, 1].
    space : {"rgb", "nrgb", "tsl", "xyz", "lab", "luv", "lch", "ycrcb"}
        Target color space.

    Returns
    -------
    converted : ndarray of shape (..., 3)
        Channels in the order of the table.

    References
    ----------
    Terrillon, Akamatsu (2000). Comparative performance of different chrominance spaces for color segmentation and
    detection of human faces in complex scene images. Proc. Vision Interface.

    Examples
    --------
    >>> from protolearn.applications import convert_color
    >>> convert_color([1.0, 0.5, 0.5], "nrgb")
    array([0.5 , 0.25, 0.25])
    >>> convert_color([1.0, 0.0, 0.0], "lab").round(1)
    array([53.2, 80.1, 67.2])
    """
    return SPACES[space].convert(check_rgb(rgb))


class RegionColors(TransformerMixin, Estimator):
    r"""Transformer that describes images by their mean colors outside and inside a mask.

    For an image of a skin lesion, for instance, these are the mean colors of healthy skin and of the lesion, six
    numbers. The transformer is stateless.

    A cyclic channel (the hue of Lch or the tint of TSL) has no arithmetic mean: the mean hue of two shades of red could
    be green. Hues are therefore averaged as points :math:`(\cos h, \sin h)` on a circle, with gray, which has no hue,
    at its center.

    Parameters
    ----------
    space : {"rgb", "nrgb", "tsl", "xyz", "lab", "luv", "lch", "ycrcb"}, default="lab"
        Color space, see `convert_color`.
    regions : {"mask", "center", "whole"}, default="mask"
        Regions of an image. ``"mask"`` requires a mask for each image. ``"center"`` uses a central ellipse, half as
        high and half as wide as the image, as the inside of images without a mask. ``"whole"`` uses no masks: features
        are the mean and the standard deviation of each channel over the whole image.
    difference : bool, default=False
        Whether features are the differences inside minus outside, see `ColorDifference`.
    average : {"converted", "rgb"}, default="converted"
        Where colors are averaged. ``"converted"`` converts all pixels to ``space`` and averages there. ``"rgb"``
        averages red, green and blue and converts the mean, which is faster and gives similar results for regions of
        uniform color. Standard deviations are always computed from converted pixels.
    cyclic : {"sincos", "raw"}, default="sincos"
        Representation of a cyclic channel. ``"sincos"`` uses two features, cosine and sine. ``"raw"`` uses one feature,
        the angle of the mean point on the circle, whose two ends are far apart although they are the same color. The
        standard deviation of the angle is that of the points from their mean, which agrees if hues differ little.

    See Also
    --------
    ColorDifference : Differences of the features of two regions.
    read_image_folder : Reads images and masks from files.

    Notes
    -----
    Compute differences before scaling features to unit variance: the channels of both regions have the same unit, but
    not the same variance.

    References
    ----------
    Bunte, Biehl, Jonkman, Petkov (2011). Learning effective color features for content based image retrieval in
    dermatology. Pattern Recognition 44(9), 1892-1902.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.applications import RegionColors
    >>> image = np.full((8, 8, 3), (230, 180, 150), np.uint8)
    >>> mask = np.zeros((8, 8), bool)
    >>> mask[2:5, 3:6] = True
    >>> image[mask] = 180, 40, 40
    >>> features = RegionColors("rgb").set_output(transform="pandas").fit_transform([(image, mask)])
    >>> features.round(2)
       outside R  outside G  outside B  inside R  inside G  inside B
    0        0.9       0.71       0.59      0.71      0.16      0.16
    """

    _constraints = {
        "space": option(*COLOR_SPACES),
        "regions": option("mask", "center", "whole"),
        "difference": flag,
        "average": option("converted", "rgb"),
        "cyclic": option("sincos", "raw"),
    }

    def __init__(
        self,
        space: str = "lab",
        *,
        regions: str = "mask",
        difference: bool = False,
        average: str = "converted",
        cyclic: str = "sincos",
    ) -> None:
        self.space = space
        self.regions = regions
        self.difference = difference
        self.average = average
        self.cyclic = cyclic

    def fit(self, X: Any = None, y: Any = None) -> Self:
        """Validate the parameters; the transformer is stateless.

        Parameters
        ----------
        X : object, optional
            Ignored.
        y : object, optional
            Ignored.

        Returns
        -------
        self : object
            The transformer.
        """
        self._check_parameters()
        return self

    def transform(self, X: Any) -> Floats:
        """Return the color features of images.

        Parameters
        ----------
        X : sequence of images or of tuples (image, mask), or array or data frame of shape (n, 6)
            Images of shape (height, width, 3), possibly of different sizes, of type uint8 or floats in [0, 1]. Masks
            have shape (height, width) and are nonzero inside. Each row of a table with six columns contains red, green
            and blue of the outside, then of the inside, which are converted.

        Returns
        -------
        features : ndarray of shape (n, n_features)
            Features of the outside, then of the inside; or means, then standard deviations.
        """
        self._check_parameters()
        if getattr(X, "ndim", None) == 2:
            features = self._of_table(np.asarray(X))
        else:
            features = np.array(list(self._of_images(X)))
        return _halves_subtracted(features) if self.difference else features

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Return the names of the features.

        Parameters
        ----------
        input_features : object, optional
            Ignored.

        Returns
        -------
        names : ndarray of str
            Names such as "inside L", "inside cos h", "mean L" or "inside L - outside L".
        """
        self._check_parameters()
        parts = ("mean", "std") if self.regions == "whole" else ("outside", "inside")
        channels = SPACES[self.space].names(self.cyclic)
        names = np.array([f"{part} {channel}" for part in parts for channel in channels], dtype=object)
        return _difference_names(names) if self.difference else names

    def __sklearn_is_fitted__(self) -> bool:
        """Say that there is nothing to fit."""
        return True

    def __sklearn_tags__(self) -> Tags:
        """Say that samples are images, not rows of a table, and that there is nothing to fit."""
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.three_d_array = True
        tags.requires_fit = False
        return tags

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.difference and self.regions == "whole":
            raise ValueError("difference=True requires two regions; use regions='mask' or 'center'.")

    def _of_table(self, table: Array) -> Floats:
        if table.shape[1] != 6 or self.regions == "whole":
            raise ValueError(
                f"X has shape {table.shape}, and regions={self.regions!r}; give a list of images, or a table of 6 "
                "columns, red, green and blue of the outside and of the inside, with regions='mask' or 'center'."
            )
        points = SPACES[self.space].points(check_rgb(table.reshape(-1, 2, 3)))
        return self._channels(points, _turn).reshape(len(table), -1)

    def _of_images(self, samples: Any) -> Iterator[Floats]:
        for i, sample in enumerate(_checked_samples(samples)):
            image, mask = sample if isinstance(sample, tuple | list) and len(sample) == 2 else (sample, None)
            try:
                yield self._of_image(check_image(image), mask)
            except ValueError as error:
                raise ValueError(f"X[{i}]: {error}") from error

    def _of_image(self, image: Array, mask: Any) -> Floats:
        if self.regions == "whole":
            pixels = image.reshape(-1, 3)
            return np.concatenate([self._mean(pixels), self._deviation(pixels)])
        if mask is None and self.regions == "mask":
            raise ValueError("The image has no mask; give tuples (image, mask), or use regions='center' or 'whole'.")
        inside = central_ellipse(*image.shape[:2]) if mask is None else check_mask(mask, image.shape)
        return np.concatenate([self._mean(image[~inside]), self._mean(image[inside])])

    def _mean(self, pixels: Array) -> Floats:
        if self.average == "rgb":
            return self._channels(SPACES[self.space].points(check_rgb(pixels).mean(axis=0)), _turn)
        points, counts = self._points(pixels)
        return self._channels(np.average(points, axis=0, weights=counts), _turn)

    def _deviation(self, pixels: Array) -> Floats:
        points, counts = self._points(pixels)
        squares = (points - np.average(points, axis=0, weights=counts)) ** 2
        return self._channels(np.sqrt(np.average(squares, axis=0, weights=counts)), _part_of_turn)

    def _points(self, pixels: Array) -> tuple[Floats, NDArray[np.intp] | None]:
        """Return the converted colors of pixels, and how often each occurs."""
        colors, counts = _distinct_colors(pixels)
        return SPACES[self.space].points(colors), counts

    def _channels(self, points: Floats, fold: Callable[[Floats, Floats], Floats]) -> Floats:
        return points if self.cyclic == "sincos" else SPACES[self.space].folded(points, fold)


class ColorDifference(TransformerMixin, Estimator):
    r"""Transformer that subtracts the features of the outside from those of the inside.

    With m features of each region, the outside first, a row x becomes :math:`A x` with :math:`A = (-I_m, I_m)`. The
    differences describe a region relative to its surroundings and depend less on illumination and complexion. Apply the
    transformer before scaling features to unit variance: columns of both regions have the same unit, but not the same
    variance.

    Attributes
    ----------
    n_features_in_ : int
        Number of columns, 2 m.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the columns, if they are all strings.

    See Also
    --------
    RegionColors : Mean colors of two regions.

    References
    ----------
    Bunte, Biehl, Jonkman, Petkov (2011). Learning effective color features for content based image retrieval in
    dermatology. Pattern Recognition 44(9), 1892-1902.

    Examples
    --------
    >>> from protolearn.applications import ColorDifference
    >>> ColorDifference().fit_transform([[10.0, 20.0, 30.0, 11.0, 25.0, 30.0]])
    array([[1., 5., 0.]])
    """

    @nothing_lost
    def fit(self, X: Any, y: Any = None) -> Self:
        """Validate that the number of columns is even.

        Parameters
        ----------
        X : array-like of shape (n, 2 m)
            Features of the outside, then of the inside.
        y : object, optional
            Ignored.

        Returns
        -------
        self : object
            The transformer.
        """
        _check_even(validate_data(self, X, dtype=(np.float64, np.float32)).shape[1])
        return self

    def transform(self, X: Any) -> Array:
        """Return the differences.

        Parameters
        ----------
        X : array-like of shape (n, 2 m)
            Features of the outside, then of the inside.

        Returns
        -------
        differences : ndarray of shape (n, m)
            Differences inside minus outside.
        """
        check_is_fitted(self)
        return _halves_subtracted(validate_data(self, X, dtype=(np.float64, np.float32), reset=False))

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Return the names of the differences.

        Parameters
        ----------
        input_features : array-like of str, optional
            Names of the columns; by default those seen in `fit`, or x0, x1, ...

        Returns
        -------
        names : ndarray of str
            Names such as "inside L - outside L".
        """
        check_is_fitted(self)
        return _difference_names(_check_feature_names_in(self, input_features))


def check_rgb(rgb: ArrayLike) -> Floats:
    """Return colors (..., 3) as floats in [0, 1]."""
    values = np.asarray(rgb)
    if values.ndim == 0 or values.shape[-1] != 3:
        raise ValueError(
            f"The last axis of colors must have three values, red, green and blue; got shape {values.shape}."
        )
    if values.dtype == np.uint8:
        return values / 255.0
    if values.dtype.kind != "f":
        raise ValueError(f"Colors must be of type uint8 or floats in [0, 1], not {values.dtype}; convert them first.")
    if not np.isfinite(values).all():
        raise ValueError("Colors contain NaN or infinity; replace or mask those pixels first.")
    if values.size and (values.min() < 0 or values.max() > 1):
        raise ValueError(
            f"Colors that are floats must be in [0, 1], but these are in [{values.min():g}, {values.max():g}]; "
            "divide by the value of white, or clip."
        )
    return values.astype(np.float64)


def check_image(image: ArrayLike) -> Array:
    """Require an image in color, (height, width, 3)."""
    values = np.asarray(image)
    if values.ndim == 2 or values.shape[2:] == (1,):
        raise ValueError(f"The image is gray, of shape {values.shape}, but colors are needed: (height, width, 3).")
    if values.ndim != 3 or values.shape[2] != 3 or values.size == 0:
        raise ValueError(f"An image must have shape (height, width, 3), not {values.shape}; remove the alpha channel.")
    return values


def central_ellipse(height: int, width: int) -> Bools:
    """Return a mask of the middle: an ellipse half as high and half as wide as the image."""
    y, x = ((2 * np.arange(n) + 1 - n) / n for n in (height, width))
    inside = np.add.outer(y**2, x**2) <= 0.25
    if inside.all() or not inside.any():
        raise ValueError(f"The image has only {height} x {width} pixels, too few for a center; use regions='whole'.")
    return inside


@dataclass(frozen=True)
class _Space:
    """A color space, and its cyclic channel, if it has one, as a point (cos, sin) on a circle."""

    channels: tuple[str, str, str]
    convert: Callable[[Floats], Floats]
    cyclic: int | None = None
    period: float = 1.0

    def names(self, cyclic: str) -> list[str]:
        """Return the names of the channels; the cyclic one has two, or one if it is raw."""
        names = list(self.channels)
        if self.cyclic is not None and cyclic == "sincos":
            names[self.cyclic : self.cyclic + 1] = [f"{part} {names[self.cyclic]}" for part in ("cos", "sin")]
        return names

    def points(self, rgb: Floats) -> Floats:
        """Convert colors (..., 3) to channels (..., 3), or (..., 4) if one is cyclic; gray is in its center."""
        values = self.convert(rgb)
        if self.cyclic is None:
            return values
        angle = values[..., self.cyclic] * (2 * np.pi / self.period)
        colored = values[..., 1] > 0  # chroma in Lch, saturation in TSL
        circle = np.stack([np.cos(angle) * colored, np.sin(angle) * colored], axis=-1)
        before, _, after = np.split(values, [self.cyclic, self.cyclic + 1], axis=-1)
        return np.concatenate([before, circle, after], axis=-1)

    def folded(self, points: Floats, fold: Callable[[Floats, Floats], Floats]) -> Floats:
        """Return points (..., 3 or 4) with sine and cosine of the cyclic channel made one, a part of its period."""
        if self.cyclic is None:
            return points
        before, cos, sin, after = np.split(points, [self.cyclic, self.cyclic + 1, self.cyclic + 2], axis=-1)
        return np.concatenate([before, self.period * fold(sin, cos), after], axis=-1)


def _distinct_colors(pixels: Array) -> tuple[Floats, NDArray[np.intp] | None]:
    """Return the colors of pixels (n, 3), and how often each occurs.

    A photograph has many times more pixels than colors, and converting a color costs more than sorting it. If hardly
    any two of some pixels have the same color, as in noise, sorting does not pay.
    """
    if pixels.dtype != np.uint8:
        return check_rgb(pixels), None
    words = np.pad(pixels, ((0, 0), (0, 1))).view(np.uint32)
    some = words[:: max(1, len(words) // SOME_PIXELS)]
    if len(some) >= SOME_PIXELS and len(np.unique(some)) > 0.99 * len(some):
        return check_rgb(pixels), None
    distinct, counts = np.unique(words, return_counts=True)
    return check_rgb(distinct.view(np.uint8).reshape(-1, 4)[:, :3]), counts


def _turn(sin: Floats, cos: Floats) -> Floats:
    """Return angles as parts of a turn, in [0, 1)."""
    turn = np.arctan2(sin, cos) / (2 * np.pi) % 1.0
    return turn % 1.0  # tiny negative angles have been rounded to a full turn


def _part_of_turn(sin: Floats, cos: Floats) -> Floats:
    """Return deviations along a circle of radius 1 as parts of a turn."""
    return np.hypot(sin, cos) / (2 * np.pi)


def _shares(rgb: Floats) -> Floats:
    """Return red, green and blue as parts of their sum; black has none, and is gray."""
    total = rgb.sum(axis=-1, keepdims=True)
    return np.divide(rgb, total, out=np.full_like(rgb, 1 / 3), where=total > 0)


def _tsl(rgb: Floats) -> Floats:
    """Return tint, saturation and lightness."""
    red, green, blue = np.moveaxis(rgb, -1, 0)
    total = 3 * np.where(rgb.any(axis=-1), rgb.sum(axis=-1), 1.0)
    r, g = (2 * red - green - blue) / total, (2 * green - red - blue) / total  # r - 1/3, exactly 0 for gray
    saturation = np.sqrt(9 / 5 * (r**2 + g**2))
    return np.stack([_turn(g, 0.0 - r), saturation, rgb @ [0.299, 0.587, 0.114]], axis=-1)


def _lch(rgb: Floats) -> Floats:
    """Return lightness, chroma and hue, both 0 for gray."""
    lch = _skimage("lab2lch")(_skimage("rgb2lab")(rgb))
    lch[lch[..., 1] < GRAY_CHROMA, 1:] = 0.0
    return lch


def _ycrcb(rgb: Floats) -> Floats:
    return _skimage("rgb2ycbcr")(rgb)[..., [0, 2, 1]]


def _by_skimage(name: str) -> Callable[[Floats], Floats]:
    """Return a conversion of scikit-image that is imported when it is used."""
    return lambda rgb: _skimage(name)(rgb)


def _skimage(name: str) -> Any:
    try:
        from skimage import color
    except ImportError as error:
        raise ImportError(
            "Colors are converted with scikit-image, which could not be imported; install it with: "
            "pip install 'protolearn[images]'"
        ) from error
    return getattr(color, name)


SPACES = {
    "rgb": _Space(("R", "G", "B"), np.asarray),
    "nrgb": _Space(("r", "g", "b"), _shares),
    "tsl": _Space(("T", "S", "L"), _tsl, cyclic=0),
    "xyz": _Space(("X", "Y", "Z"), _by_skimage("rgb2xyz")),
    "lab": _Space(("L", "a", "b"), _by_skimage("rgb2lab")),
    "luv": _Space(("L", "u", "v"), _by_skimage("rgb2luv")),
    "lch": _Space(("L", "C", "h"), _lch, cyclic=2, period=2 * np.pi),
    "ycrcb": _Space(("Y", "Cr", "Cb"), _ycrcb),
}


def _checked_samples(X: Any) -> Any:
    """Require a sequence of images, at least one."""
    if getattr(X, "ndim", 4) == 3:
        raise ValueError(f"X has shape {X.shape}, which is a single image or gray images; give a list of color images.")
    if len(X) == 0:
        raise ValueError("X contains no images; give at least one.")
    return X


def _check_even(n_features: int) -> None:
    if n_features % 2:
        raise ValueError(
            f"X has {n_features} feature(s), an odd number; give as many columns for the inside as for the outside."
        )


def _halves_subtracted(X: Array) -> Array:
    m = X.shape[1] // 2
    return X[:, -m:] - X[:, :m]


def _difference_names(names: Array) -> Array:
    m = len(names) // 2
    return np.array([f"{inside} - {outside}" for inside, outside in zip(names[-m:], names[:m])], dtype=object)
