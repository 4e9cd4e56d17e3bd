"""Clusters and classes of vectors, most of them in the plane."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import truncnorm
from sklearn.utils import check_array, check_random_state

from protolearn.core.parameters import constrained, integer, none, number, option
from protolearn.core.types import Array, Floats
from protolearn.datasets._shares import labels_in_shares

__all__ = [
    "make_checkerboard",
    "make_cigars",
    "make_clouds",
    "make_eleven_clouds",
    "make_half_plane_classes",
    "make_magnification_control",
    "make_oblique_classes",
    "make_ripley",
    "make_three_tip_star",
]

# Ripley's mixture: centers of the four components, and the class that each belongs to. The classes alternate, so that
# they stay balanced when the number of samples is not a multiple of four.
RIPLEY_CENTERS = np.array([(-0.7, 0.3), (-0.3, 0.7), (0.3, 0.3), (0.4, 0.7)])


RIPLEY_CLASSES = np.array([0, 1, 0, 1])


RIPLEY_VARIANCE = 0.03


@constrained(n_rows=integer(1), n_cols=integer(1), noise=number(0))
def make_checkerboard(
    n_rows: int = 10,
    n_cols: int = 10,
    *,
    points_per_field: tuple[int, int] = (15, 20),
    noise: float = 0.12,
    return_field: bool = False,
    random_state: Any = None,
) -> tuple[Array, ...]:
    """Make small clusters on a grid, with two classes that alternate as on a chessboard.

    The data reveal methods that converge to poor local optima: one prototype for each field is optimal, and every field
    without a prototype reduces the accuracy.

    Parameters
    ----------
    n_rows, n_cols : int, default=10
        Numbers of rows and columns. The center of a field is (column, row).
    points_per_field : tuple (low, high), default=(15, 20)
        Smallest and largest number of samples in a field; numbers are drawn uniformly from this range.
    noise : float, default=0.12
        Standard deviation of the Gaussian spread around the center, in units of the spacing of the fields.
    return_field : bool, default=False
        Whether to return the field of each sample as well.
    random_state : int, RandomState or None, default=None
        Seed for reproducible samples.

    Returns
    -------
    X : ndarray of shape (n, 2)
        The samples in random order.
    y : ndarray of shape (n,)
        The class, 0 or 1.
    field : ndarray of shape (n,)
        The field `row * n_cols + column`; only if `return_field` is true.

    References
    ----------
    Hasenfuss, A. (2009). Topographic Mapping of Dissimilarity Datasets. PhD thesis, TU Clausthal, section 3.5. The
    variance within a field is not specified there.

    Examples
    --------
    >>> from protolearn.datasets import make_checkerboard
    >>> X, y, field = make_checkerboard(2, 3, return_field=True, random_state=0)
    >>> {int(f): int(c) for f, c in sorted(zip(field, y))}
    {0: 0, 1: 1, 2: 0, 3: 1, 4: 0, 5: 1}
    """
    if np.shape(points_per_field) != (2,) or not 1 <= points_per_field[0] <= points_per_field[1]:
        raise ValueError(f"points_per_field must be (low, high) with 1 <= low <= high, got {points_per_field!r}.")
    low, high = points_per_field
    rng = check_random_state(random_state)
    counts = rng.randint(low, high + 1, size=n_rows * n_cols)
    field = rng.permutation(np.repeat(np.arange(n_rows * n_cols), counts))
    row, col = np.divmod(field, n_cols)
    X = np.column_stack([col, row]) + noise * rng.standard_normal((len(field), 2))
    y = (row + col) % 2
    return (X, y, field) if return_field else (X, y)


@constrained(n_samples=integer(1))
def make_ripley(n_samples: int = 1250, *, random_state: Any = None) -> tuple[Floats, NDArray[np.intp]]:
    """Make two overlapping classes of two Gaussian clusters each, after Ripley.

    Class 0 is centered at (-0.7, 0.3) and (0.3, 0.3), class 1 at (-0.3, 0.7) and (0.4, 0.7); the variance is 0.03 in
    every direction. The Bayes error of this mixture is 8.9%.

    Parameters
    ----------
    n_samples : int, default=1250
        Number of samples; a quarter in each cluster. Ripley used 250 for training and 1000 for testing.
    random_state : int, RandomState or None, default=None
        Seed for reproducible samples.

    Returns
    -------
    X : ndarray of shape (n, 2)
        The samples in random order.
    y : ndarray of shape (n,)
        The class, 0 or 1.

    References
    ----------
    Ripley, B. D. (1996). Pattern Recognition and Neural Networks. Cambridge University Press.

    Examples
    --------
    >>> from protolearn.datasets import make_ripley
    >>> X, y = make_ripley(random_state=0)
    >>> X.shape, int(y.sum())
    ((1250, 2), 625)
    """
    rng = check_random_state(random_state)
    cluster = labels_in_shares(n_samples, np.ones(len(RIPLEY_CENTERS)), rng)
    X = RIPLEY_CENTERS[cluster] + np.sqrt(RIPLEY_VARIANCE) * rng.standard_normal((n_samples, 2))
    return X, RIPLEY_CLASSES[cluster]


@constrained(n_samples=integer(1))
def make_half_plane_classes(n_samples: int = 2000, *, random_state: Any = None) -> tuple[Floats, NDArray[np.intp]]:
    """Make two Gaussian classes, each truncated at the line between them.

    Class 0 is a Gaussian of unit variance around (-1, 0) without its samples at x >= 0, class 1 its mirror image. The
    classes are separable, but the density of the samples does not reveal their border: only a supervised method can
    place a decision boundary along the line x = 0.

    Parameters
    ----------
    n_samples : int, default=2000
        Number of samples; half in each class.
    random_state : int, RandomState or None, default=None
        Seed for reproducible samples.

    Returns
    -------
    X : ndarray of shape (n, 2)
        The samples in random order.
    y : ndarray of shape (n,)
        The class, 0 or 1.

    References
    ----------
    Hasenfuss, A. (2009). Topographic Mapping of Dissimilarity Datasets. PhD thesis, TU Clausthal, section 3.5. Centers
    and number of samples are not given there.

    Examples
    --------
    >>> from protolearn.datasets import make_half_plane_classes
    >>> X, y = make_half_plane_classes(random_state=0)
    >>> bool((y == (X[:, 0] > 0)).all())
    True
    """
    rng = check_random_state(random_state)
    y = labels_in_shares(n_samples, np.ones(2), rng)
    from_line = truncnorm.rvs(-1, np.inf, loc=1, size=n_samples, random_state=rng)
    return np.column_stack([np.where(y == 1, from_line, -from_line), rng.standard_normal(n_samples)]), y


Labels = NDArray[np.intp]


# Biehl, Hammer, Schneider 2006, sec. 5.1
CIGAR_MEANS = np.array([(1.5, 0.0), (-1.5, 0.0)])


CIGAR_SPREAD = np.array([0.5, 3.0])


CIGAR_ANGLES = np.array([np.pi / 4, -np.pi / 6])


OBLIQUE_STRENGTHS = np.geomspace(0.2, 3.0, 16)  # spread of the class means along each feature


OBLIQUE_SCALES = np.geomspace(100.0, 1.0, 16)  # units of the features


OBLIQUE_VARIANCES = np.geomspace(0.15, 6.0, 16)  # within all classes alike, along common oblique axes


OBLIQUE_LENGTH = 5.0  # standard deviation along two oblique axes of each class


@constrained(n_per_class=integer(1), scale=option("std", "variance"))
def make_cigars(
    n_per_class: int = 300,
    *,
    rotate_means: bool = True,
    scale: Literal["std", "variance"] = "std",
    random_state: Any = None,
) -> tuple[Floats, Labels]:
    """Make two elongated Gaussian classes that cross at an angle.

    Both classes are drawn around (1.5, 0) and (-1.5, 0), narrow along the first axis and six times as wide along the
    second axis, and then rotated clockwise about the origin: class 0 by 45 degrees, class 1 by -30 degrees. A single
    metric for both classes gives a straight decision boundary and fails. A separate metric for each class comes close
    to the Bayes classifier, which classifies 91.2% of the samples correctly.

    Parameters
    ----------
    n_per_class : int, default=300
        Number of samples in each class. The report uses 300 for training and 600 for testing.
    rotate_means : bool, default=True
        Whether the centers are rotated with the classes. If False, each class is rotated about its own center (Bayes
        accuracy 92.3%).
    scale : {"std", "variance"}, default="std"
        Meaning of the values 0.5 and 3.0 along the two axes. The report says variance, but its results agree with
        standard deviations. For variances, the Bayes accuracy is 86.6%, or 90.9% without rotation of the centers.
    random_state : int, RandomState or None, default=None
        Seed for reproducible samples.

    Returns
    -------
    X : ndarray of shape (n, 2)
        The samples in random order.
    y : ndarray of shape (n,)
        The class, 0 or 1.

    References
    ----------
    Biehl, M., Hammer, B., Schneider, P. (2006). Matrix Learning in Learning Vector Quantization. Technical Report
    IfI-06-14, TU Clausthal, section 5.1.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.datasets import make_cigars
    >>> X, y = make_cigars(random_state=0)
    >>> X.shape, np.bincount(y)
    ((600, 2), array([300, 300]))
    """
    rng = check_random_state(random_state)
    y = _balanced_labels(2, n_per_class, rng)
    turns = np.array([[(np.cos(a), -np.sin(a)), (np.sin(a), np.cos(a))] for a in CIGAR_ANGLES])
    spread = CIGAR_SPREAD if scale == "std" else np.sqrt(CIGAR_SPREAD)
    means = np.einsum("ci,cij->cj", CIGAR_MEANS, turns) if rotate_means else CIGAR_MEANS
    return _gaussian_samples(y, means, spread[:, None] * turns, rng), y


@constrained(n_per_class=integer(1))
def make_oblique_classes(n_per_class: int = 30, *, random_state: Any = None) -> tuple[Floats, Labels]:
    """Make seven Gaussian classes with 16 features, for tests of fixed, global and local metrics.

    Each step from a fixed to a local metric improves accuracy. The scales of the features differ by a factor of 100
    from the first to the last, and the first features, with the largest scales, discriminate least between the classes.
    All classes share an oblique covariance, which a diagonal metric cannot compensate, and each has two long axes of
    its own, which a global metric cannot compensate. Scaling the features closes the gap between a fixed metric and
    relevance learning only in part.

    Parameters
    ----------
    n_per_class : int, default=30
        Number of samples in each class. The image segmentation data of the UCI repository, which these classes can
        replace, have 30 for training and 300 for testing.
    random_state : int, RandomState or None, default=None
        Seed for reproducible samples. The classes are always the same.

    Returns
    -------
    X : ndarray of shape (n, 16)
        The samples in random order.
    y : ndarray of shape (n,)
        The class, from 0 to 6.

    References
    ----------
    Biehl, M., Hammer, B., Schneider, P. (2006). Matrix Learning in Learning Vector Quantization. Technical Report
    IfI-06-14, TU Clausthal, section 5.2, describes the segmentation data. These classes are invented.

    Examples
    --------
    >>> from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    >>> from sklearn.neighbors import NearestCentroid
    >>> from protolearn.datasets import make_oblique_classes
    >>> X, y = make_oblique_classes(random_state=0)
    >>> X_test, y_test = make_oblique_classes(300, random_state=1)
    >>> fixed = NearestCentroid().fit(X, y).score(X_test, y_test)
    >>> learned = LinearDiscriminantAnalysis().fit(X, y).score(X_test, y_test)
    >>> fixed < 0.4 < 0.8 < learned
    True
    """
    rng = check_random_state(random_state)
    means, factors = _oblique_gaussians()
    y = _balanced_labels(len(means), n_per_class, rng)
    return _gaussian_samples(y, means, factors, rng), y


def _balanced_labels(n_classes: int, n_per_class: int, rng: np.random.RandomState) -> Labels:
    return labels_in_shares(n_classes * n_per_class, np.ones(n_classes), rng)


def _gaussian_samples(y: Labels, means: Floats, factors: Floats, rng: np.random.RandomState) -> Floats:
    """One sample for each label: its class has the mean `means[c]` and the covariance ``factors[c].T @ factors[c]``."""
    noise = rng.standard_normal((len(y), factors.shape[1]))
    X = means[y]
    for label, factor in enumerate(factors):
        X[y == label] += noise[y == label] @ factor
    return X


def _oblique_gaussians() -> tuple[Floats, Floats]:
    """Means (7, 16) and factors (7, 18, 16) of the oblique classes: 16 common axes and 2 long ones of each class."""
    rng = np.random.RandomState(7)
    means = OBLIQUE_STRENGTHS * rng.standard_normal((7, 16))
    common = np.sqrt(OBLIQUE_VARIANCES)[:, None] * _random_axes(rng, 16)
    factors = np.array([np.vstack([common, OBLIQUE_LENGTH * _random_axes(rng, 16)[:2]]) for _ in means])
    return means * OBLIQUE_SCALES, factors * OBLIQUE_SCALES


def _random_axes(rng: np.random.RandomState, dim: int) -> Floats:
    """Orthonormal rows (dim, dim)."""
    return np.linalg.qr(rng.standard_normal((dim, dim)))[0].T


Order = Literal["random", "sorted", "diffused"]


# Hasenfuss 2009, sec. 3.5: shares of the modes two before, one before, at, one after and two after the current one.
DIFFUSED_SHARES = (0.01, 0.21, 0.56, 0.21, 0.01)


@constrained(n_samples=integer(1))
def make_clouds(
    n_samples: int,
    centers: ArrayLike,
    *,
    order: Order = "random",
    return_centers: bool = False,
    random_state: Any = None,
) -> tuple[Array, ...]:
    """Make a stream of samples from Gaussian clouds of unit variance.

    Parameters
    ----------
    n_samples : int
        Number of samples.
    centers : array-like of shape (n_modes, d)
        Center of each cloud.
    order : {"random", "sorted", "diffused"}, default="random"
        Order of the samples. "random" mixes all clouds; "sorted" yields one cloud after another; "diffused" yields
        successive patches of n_samples / n_modes samples, of which 56% belong to the current cloud, 21% each to the
        previous and the next cloud, and 1% each to the clouds two steps before and after. At both ends of the stream,
        the part of missing clouds is divided among the others proportionally.
    return_centers : bool, default=False
        Whether to return the centers as well.
    random_state : int, RandomState or None, default=None
        Seed for reproducible samples.

    Returns
    -------
    X : ndarray of shape (n, d)
        The samples in the order of the stream.
    y : ndarray of shape (n,)
        The cloud of each sample.
    centers : ndarray of shape (n_modes, d)
        The centers; only if `return_centers` is true.

    Examples
    --------
    >>> from protolearn.datasets import make_clouds
    >>> X, y = make_clouds(6, [[0, 0], [9, 0], [9, 9]], order="sorted", random_state=0)
    >>> y
    array([0, 0, 1, 1, 2, 2])
    """
    places: Floats = check_array(centers, dtype=np.float64, copy=True, input_name="centers")
    rng = check_random_state(random_state)
    y = _stream_of_modes(n_samples, len(places), order, rng)
    X = places[y] + rng.standard_normal((n_samples, places.shape[1]))
    return (X, y, places) if return_centers else (X, y)


def make_eleven_clouds(
    n_samples: int = 11000, *, order: Order = "random", return_centers: bool = False, random_state: Any = None
) -> tuple[Array, ...]:
    """Make eleven planar clouds of unit variance on an irregular grid, for tests with nonstationary streams.

    Parameters
    ----------
    n_samples : int, default=11000
        Number of samples.
    order : {"random", "sorted", "diffused"}, default="random"
        Order of the samples, see `make_clouds`.
    return_centers : bool, default=False
        Whether to return the centers as well. The centers are fixed, at distances of about 8.
    random_state : int, RandomState or None, default=None
        Seed for reproducible samples.

    Returns
    -------
    X : ndarray of shape (n, 2)
        The samples in the order of the stream.
    y : ndarray of shape (n,)
        The cloud of each sample, numbered from left to right and from bottom to top.
    centers : ndarray of shape (11, 2)
        The centers; only if `return_centers` is true.

    References
    ----------
    Hasenfuss, A. (2009). Topographic Mapping of Dissimilarity Datasets. PhD thesis, TU Clausthal, section 3.5. The
    centers are not given there.

    Examples
    --------
    >>> from protolearn.datasets import make_eleven_clouds
    >>> X, y = make_eleven_clouds(order="diffused", random_state=0)
    >>> int((y[5000:6000] == 5).sum())
    560
    """
    return make_clouds(
        n_samples, _eleven_centers(), order=order, return_centers=return_centers, random_state=random_state
    )


def _eleven_centers() -> Floats:
    """Eleven places (11, 2) on a grid of four columns with spacing 8, each moved by up to one unit; always the same."""
    row, col = np.divmod(np.arange(11), 4)
    jitter = np.random.RandomState(11).uniform(-1, 1, (11, 2))
    return 8 * np.column_stack([col, row]) + jitter


def _stream_of_modes(n_samples: int, n_modes: int, order: str, rng: np.random.RandomState) -> NDArray[np.intp]:
    if order == "diffused":
        sizes = [len(patch) for patch in np.array_split(np.arange(n_samples), n_modes)]
        shares = _diffused_shares(n_modes)
        return np.concatenate([labels_in_shares(size, share, rng) for size, share in zip(sizes, shares)])
    modes = labels_in_shares(n_samples, np.ones(n_modes), rng)
    if order == "random":
        return modes
    if order == "sorted":
        return np.sort(modes)
    raise ValueError(f"order must be 'random', 'sorted' or 'diffused', got {order!r}.")


def _diffused_shares(n_modes: int) -> Floats:
    """Shares (n_modes, n_modes) of the modes in each patch of a diffused stream; those at both ends add up to less."""
    return np.sum([share * np.eye(n_modes, k=lag) for lag, share in zip(range(-2, 3), DIFFUSED_SHARES)], axis=0)


@constrained(dim=integer(1), n_samples=integer(1) | none)
def make_magnification_control(
    dim: int = 1, n_samples: int | None = None, *, random_state: Any = None
) -> tuple[Floats, Floats]:
    """Make samples on the graph of a product of sines, with their density on this surface.

    A sample is (x_1, ..., x_d, sin(pi x_1) ... sin(pi x_d)) with every x_i uniform between 0 and 1. The surface is
    steep near its border and flat in the middle, so the samples are sparse at the border and dense in the middle.

    Parameters
    ----------
    dim : int, default=1
        Dimension d of the surface.
    n_samples : int, default=None
        Number of samples, `2500 * 2 ** (dim - 1)` by default.
    random_state : int, RandomState or None, default=None
        Seed for reproducible samples.

    Returns
    -------
    X : ndarray of shape (n, dim + 1)
        The samples.
    density : ndarray of shape (n,)
        Probability density at each sample, per unit of length, area or volume of the surface: ``1 / sqrt(1 + |grad
        f|^2)`` for the height f.

    References
    ----------
    Hasenfuss, A. (2009). Topographic Mapping of Dissimilarity Datasets. PhD thesis, TU Clausthal, section 3.5.

    Examples
    --------
    >>> from protolearn.datasets import make_magnification_control
    >>> X, density = make_magnification_control(dim=2, random_state=0)
    >>> X.shape, density.shape
    ((5000, 3), (5000,))
    """
    if n_samples is None:
        n_samples = 2500 * 2 ** (dim - 1)
    x = check_random_state(random_state).uniform(size=(n_samples, dim))
    sines = np.sin(np.pi * x)
    slopes = [np.pi * np.cos(np.pi * x[:, i]) * np.delete(sines, i, axis=1).prod(axis=1) for i in range(dim)]
    density = 1 / np.sqrt(1 + np.sum(np.square(slopes), axis=0))
    return np.column_stack([x, sines.prod(axis=1)]), density


TIP_ANGLES = np.radians([90.0, 210.0, 330.0])


TIP_RADIUS, TIP_OFFSET = 5.0, 1.1  # of a cluster: along the axis of its tip, and across


TIP_LENGTH = 2.0  # standard deviation along it


@constrained(n_per_cluster=integer(1), n_noise=integer(0), noise=number(0), width=number(0))
def make_three_tip_star(
    n_per_cluster: int = 500, *, n_noise: int = 8, noise: float = 3.6, width: float = 0.7, random_state: Any = None
) -> tuple[Floats, Labels]:
    """Make two overlapping classes of three clusters each that form a star with three tips, hidden by noisy features.

    In the plane of the first two features, each tip of the star consists of two elongated clusters side by side, one of
    each class. All other features are noise of larger variance. The nearest neighbor error is about 10% in the plane of
    the star and about 39% in all features.

    Parameters
    ----------
    n_per_cluster : int, default=500
        Number of samples in each of the six clusters.
    n_noise : int, default=8
        Number of noise features.
    noise : float, default=3.6
        Standard deviation of the noise features.
    width : float, default=0.7
        Standard deviation of a cluster across its tip, where the clusters of the two classes have distance 2.2. With
        0.55, the nearest neighbor error in the plane of the star is about 5%.
    random_state : int, RandomState or None, default=None
        Seed for reproducible samples.

    Returns
    -------
    X : ndarray of shape (n, 2 + n_noise)
        The samples in random order.
    y : ndarray of shape (n,)
        The class, 0 or 1.

    References
    ----------
    Bunte, K. (2011). Adaptive dissimilarity measures, dimension reduction and visualization. PhD thesis, University of
    Groningen, section 7.3.1. The numbers are chosen to give errors similar to those reported there.

    Examples
    --------
    >>> from protolearn.datasets import make_three_tip_star
    >>> X, y = make_three_tip_star(random_state=0)
    >>> X.shape, int(y.sum())
    ((3000, 10), 1500)
    """
    rng = check_random_state(random_state)
    cluster = labels_in_shares(6 * n_per_cluster, np.ones(6), rng)
    tip, y = np.divmod(cluster, 2)
    along, across = rng.standard_normal((2, len(y)))
    along = TIP_RADIUS + TIP_LENGTH * along
    across = TIP_OFFSET * (2 * y - 1) + width * across
    cos, sin = np.cos(TIP_ANGLES[tip]), np.sin(TIP_ANGLES[tip])
    star = np.column_stack([along * cos - across * sin, along * sin + across * cos])
    return np.hstack([star, noise * rng.standard_normal((len(y), n_noise))]), y
