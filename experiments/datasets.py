"""Generators of the data sets of single experiments; those of the package are in `protolearn.datasets`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter
from scipy.spatial.distance import pdist, squareform
from sklearn.utils import check_random_state

from protolearn.core.parameters import constrained, integer, number
from protolearn.core.types import Array, Floats
from protolearn.datasets import make_clouds
from protolearn.datasets._shares import labels_in_shares

__all__ = [
    "make_connectivity",
    "make_corner_planes",
    "make_four_clouds",
    "make_gaussian_ellipses",
    "make_gaussian_surface",
    "make_hd_manifold",
    "make_kdd_surrogate",
    "make_label_image",
    "make_landsat_like",
    "make_landsat_surrogate",
    "make_pseudo_euclidean",
    "make_punctured_sphere",
    "make_spiral_gaussian",
    "make_three_gaussians",
    "make_toroidal_helix",
]

Labels = NDArray[np.intp]


# Bunte 2011, table 3.2: pixels of each class
LANDSAT_PIXELS = np.array(
    [581424, 355145, 181036, 272282, 144334, 208152, 170196, 277778, 16667, 97502, 127464, 267495, 675048, 27556]
)


LANDSAT_SPREAD = np.array([0.45, 0.45, 0.45, 3.0, 0.3, 0.3])  # within a cluster; the fourth axis is brightness


LANDSAT_BOX = np.array([4.0, 3.0, 1.0])  # the centers of the classes lie within, on the first three axes


LANDSAT_GAP = 1.15  # smallest distance between the centers of two classes


LANDSAT_OFFSETS = np.array([0.4, 0.4, 0.24])  # standard deviation of the clusters of a class around its center


@constrained(n_per_class=integer(1))
def make_landsat_like(n_per_class: int = 400, *, random_state: Any = None) -> tuple[Floats, Labels]:
    """Make 14 classes of land cover in 6 spectral bands that are separated in three hidden directions.

    A class consists of two spherical clusters in these three directions, the third of which has a small extent. A
    fourth direction, the brightness, has the largest variance and no information on the classes; the rest is weak
    noise. All bands mix all directions, so neither single bands nor principal components separate the classes, but a
    relevance matrix of rank 2 or 3 does.

    Parameters
    ----------
    n_per_class : int, default=400
        Number of samples in each class.
    random_state : int, RandomState or None, default=None
        Seed for reproducible samples. The classes are always the same.

    Returns
    -------
    X : ndarray of shape (n, 6)
        The samples in random order; each band has expected mean 0 and variance 1.
    y : ndarray of shape (n,)
        The class, from 1 to 14.

    See Also
    --------
    make_label_image : The same classes as an image, with the frequencies of the original.
    make_landsat_surrogate : Another substitute, with the published correlations of the bands.

    References
    ----------
    Bunte, K. (2011). Adaptive dissimilarity measures, dimension reduction and visualization. PhD thesis, University of
    Groningen, section 3.4.5, describes the image of Colorado that these samples imitate. Only the numbers of bands and
    classes are those of the image; everything else is synthetic.

    Examples
    --------
    >>> from experiments.datasets import make_landsat_like
    >>> X, y = make_landsat_like(random_state=0)
    >>> X.shape, int(y.min()), int(y.max())
    ((5600, 6), 1, 14)
    """
    rng = check_random_state(random_state)
    label = _balanced_labels(len(LANDSAT_PIXELS), n_per_class, rng)
    return _spectra(label, rng), label + 1


@constrained(n_rows=integer(1), n_cols=integer(1), smoothness=number(0))
def make_label_image(
    n_rows: int = 200, n_cols: int = 200, *, smoothness: float = 20.0, random_state: Any = None
) -> tuple[Floats, Labels]:
    """Make an image in 6 spectral bands and its labels, 14 classes of land cover in regions of different size.

    Every class has a smooth random field. The classes, from the rarest to the most frequent, are assigned the free
    pixels with the largest values of their fields, up to their frequency in the image of Colorado. Each pixel is an
    independent sample of its class, see `make_landsat_like`.

    Parameters
    ----------
    n_rows, n_cols : int, default=200
        Size of the image. The original has 1907 rows and 1784 columns.
    smoothness : float, default=20
        Standard deviation of the Gaussian filter that smooths the fields, in pixels. Larger values give larger regions.
    random_state : int, RandomState or None, default=None
        Seed for a reproducible image.

    Returns
    -------
    image : ndarray of shape (n_rows, n_cols, 6)
        The bands of each pixel.
    labels : ndarray of shape (n_rows, n_cols)
        The class of each pixel, from 1 to 14.

    References
    ----------
    Bunte, K. (2011). Adaptive dissimilarity measures, dimension reduction and visualization. PhD thesis, University of
    Groningen, table 3.2 (the frequencies of the classes).

    Examples
    --------
    >>> from experiments.datasets import make_label_image
    >>> image, labels = make_label_image(random_state=0)
    >>> image.shape, float((labels == 13).mean().round(3))
    ((200, 200, 6), 0.198)
    """
    rng = check_random_state(random_state)
    label = _smooth_patches((n_rows, n_cols), LANDSAT_PIXELS, smoothness, rng)
    return _spectra(label.ravel(), rng).reshape(n_rows, n_cols, -1), label + 1


def _balanced_labels(n_classes: int, n_per_class: int, rng: np.random.RandomState) -> Labels:
    return labels_in_shares(n_classes * n_per_class, np.ones(n_classes), rng)


def _spectra(label: Labels, rng: np.random.RandomState) -> Floats:
    """Bands (n, 6) of one pixel for each label from 0 to 13, scaled for classes that are equally frequent."""
    clusters, axes = _landsat_clusters()
    cluster = rng.randint(clusters.shape[1], size=len(label))
    hidden = clusters[label, cluster] + LANDSAT_SPREAD * rng.standard_normal((len(label), 6))
    centers = clusters.reshape(-1, 6)
    variance = np.diag(axes.T @ (np.cov(centers.T, bias=True) + np.diag(LANDSAT_SPREAD**2)) @ axes)
    return (hidden - centers.mean(axis=0)) @ axes / np.sqrt(variance)


def _landsat_clusters() -> tuple[Floats, Floats]:
    """Centers (14, 2, 6) of the two clusters of each class in hidden directions, and these directions (6, 6)."""
    rng = np.random.RandomState(13)  # linear discriminants get 80% right in two dimensions, 88% in three
    axes = _random_axes(rng, 6)
    centers = np.empty((0, 3))
    while len(centers) < len(LANDSAT_PIXELS):
        candidate = LANDSAT_BOX * rng.uniform(-1, 1, 3)
        if np.all(np.linalg.norm(centers - candidate, axis=1) >= LANDSAT_GAP):
            centers = np.vstack([centers, candidate])
    clusters = np.zeros((len(centers), 2, 6))
    clusters[..., :3] = centers[:, None] + LANDSAT_OFFSETS * rng.standard_normal((len(centers), 2, 3))
    return clusters, axes


def _random_axes(rng: np.random.RandomState, dim: int) -> Floats:
    """Orthonormal rows (dim, dim)."""
    return np.linalg.qr(rng.standard_normal((dim, dim)))[0].T


def _smooth_patches(shape: tuple[int, int], shares: Labels, smoothness: float, rng: np.random.RandomState) -> Labels:
    """Labels from 0 of the given shape, in connected patches and in given shares, up to rounding."""
    n_pixels = shape[0] * shape[1]
    counts = np.bincount(labels_in_shares(n_pixels, shares, rng), minlength=len(shares))
    label = np.full(n_pixels, -1, dtype=np.intp)
    for rare in np.argsort(counts, kind="stable"):
        field = gaussian_filter(rng.standard_normal(shape), smoothness).ravel()
        free = np.flatnonzero(label < 0)
        lowest_first = free[np.argsort(field[free], kind="stable")]
        label[lowest_first[len(free) - counts[rare] :]] = rare
    return label.reshape(shape)


Order = Literal["random", "sorted", "diffused"]


FOUR_CENTERS = ((-4.0, -4.0), (4.0, -4.0), (-4.0, 4.0), (4.0, 4.0))


def make_four_clouds(
    n_samples: int = 40000, *, order: Order = "random", return_centers: bool = False, random_state: Any = None
) -> tuple[Array, ...]:
    """Make four planar clouds of unit variance that hardly overlap.

    Parameters
    ----------
    n_samples : int, default=40000
        Number of samples.
    order : {"random", "sorted", "diffused"}, default="random"
        Order of the samples, see `make_clouds`.
    return_centers : bool, default=False
        Whether to return the centers (±4, ±4) as well.
    random_state : int, RandomState or None, default=None
        Seed for reproducible samples.

    Returns
    -------
    X : ndarray of shape (n, 2)
        The samples in the order of the stream.
    y : ndarray of shape (n,)
        The cloud of each sample, numbered from left to right and from bottom to top.
    centers : ndarray of shape (4, 2)
        The centers; only if `return_centers` is true.

    References
    ----------
    Hasenfuss, A. (2009). Topographic Mapping of Dissimilarity Datasets. PhD thesis, TU Clausthal, section 3.5. The
    centers are not given there.

    Examples
    --------
    >>> from experiments.datasets import make_four_clouds
    >>> X, y, centers = make_four_clouds(return_centers=True, random_state=0)
    >>> X.shape, centers.tolist()
    ((40000, 2), [[-4.0, -4.0], [4.0, -4.0], [-4.0, 4.0], [4.0, 4.0]])
    """
    return make_clouds(n_samples, FOUR_CENTERS, order=order, return_centers=return_centers, random_state=random_state)


Manifold = tuple[Floats, Floats, Labels]


FOLD = np.radians(45.0)


@constrained(n_samples=integer(1), noise=number(0))
def make_toroidal_helix(n_samples: int = 2000, *, noise: float = 0.05, random_state: Any = None) -> Manifold:
    """Make a closed curve that winds around a ring eight times.

    Samples are ((2 + cos 8t) cos t, (2 + cos 8t) sin t, sin 8t) plus noise, at equal steps of the angle t.

    Parameters
    ----------
    n_samples : int, default=2000
        Number of samples.
    noise : float, default=0.05
        Standard deviation of the Gaussian noise along each axis.
    random_state : int, RandomState or None, default=None
        Seed for reproducible noise.

    Returns
    -------
    X : ndarray of shape (n, 3)
        The samples in their order along the curve.
    coordinates : ndarray of shape (n, 1)
        The angle t of each sample, up to 2 pi.
    y : ndarray of shape (n,)
        The class, 0 or 1, alternating along the curve in segments of length 2/3 in t.

    References
    ----------
    Arnonkijpanich, B. (2010). Matrix learning for topographic neural maps. PhD thesis, TU Clausthal, section 5.3.

    Examples
    --------
    >>> import numpy as np
    >>> from experiments.datasets import make_toroidal_helix
    >>> X, coordinates, y = make_toroidal_helix(noise=0)
    >>> X.shape, coordinates.shape, np.allclose((np.hypot(X[:, 0], X[:, 1]) - 2) ** 2 + X[:, 2] ** 2, 1)
    ((2000, 3), (2000, 1), True)
    """
    rng = check_random_state(random_state)
    t = 2.0 * np.pi * np.arange(1, n_samples + 1) / n_samples
    radius = 2.0 + np.cos(8.0 * t)
    X = _noisy([radius * np.cos(t), radius * np.sin(t), np.sin(8.0 * t)], noise, rng)
    return X, t[:, None], _checkers(t[:, None], 2.0 / 3.0)


@constrained(n_samples=integer(1), noise=number(0))
def make_corner_planes(n_samples: int = 2000, *, noise: float = 0.05, random_state: Any = None) -> Manifold:
    """Make a sheet that is folded along its center line by 45 degrees, with samples on a grid.

    Parameters
    ----------
    n_samples : int, default=2000
        Approximate number of samples. The grid has ``m + 1`` by ``ceil(n_samples / m) + 1`` nodes, where ``m`` is the
        square root of `n_samples`, rounded down: 2115 nodes for 2000.
    noise : float, default=0.05
        Standard deviation of the Gaussian noise along each axis; neighbors on the grid have distance 1.
    random_state : int, RandomState or None, default=None
        Seed for reproducible noise.

    Returns
    -------
    X : ndarray of shape (n, 3)
        The samples.
    coordinates : ndarray of shape (n, 2)
        Grid node of each sample: its position along and across the fold.
    y : ndarray of shape (n,)
        The class, 0 or 1: a checkerboard with fields of side 10.

    References
    ----------
    Arnonkijpanich, B. (2010). Matrix learning for topographic neural maps. PhD thesis, TU Clausthal, section 5.3.

    Examples
    --------
    >>> from experiments.datasets import make_corner_planes
    >>> X, coordinates, y = make_corner_planes(random_state=0)
    >>> X.shape, coordinates.max(axis=0)
    ((2115, 3), array([44., 46.]))
    """
    rng = check_random_state(random_state)
    along = int(np.sqrt(n_samples))
    across = -(-n_samples // along)
    coordinates = _grid(np.arange(along + 1.0), np.arange(across + 1.0))
    x, y = coordinates.T
    beyond = np.maximum(y - across // 2, 0.0)
    X = _noisy([x, y - beyond + beyond * np.cos(FOLD), beyond * np.sin(FOLD)], noise, rng)
    return X, coordinates, _checkers(coordinates, 10.0)


@constrained(n_samples=integer(1), noise=number(0))
def make_punctured_sphere(n_samples: int = 2000, *, noise: float = 0.005, random_state: Any = None) -> Manifold:
    """Make a sphere that is open at the top, with dense samples near the opening.

    The samples are a grid on a disc of radius 5, projected onto a sphere of radius 1 that touches the plane at the
    origin: (ax, ay, 2(1 - a)) with a = 4 / (4 + x^2 + y^2).

    Parameters
    ----------
    n_samples : int, default=2000
        Number of samples.
    noise : float, default=0.005
        Standard deviation of the Gaussian noise along each axis. By default, neighbors have distances from 0.03 at
        the top to 0.2 at the bottom.
    random_state : int, RandomState or None, default=None
        Seed for reproducible noise.

    Returns
    -------
    X : ndarray of shape (n, 3)
        The samples, from the bottom to the top.
    coordinates : ndarray of shape (n, 2)
        Position (x, y) of each sample on the disc.
    y : ndarray of shape (n,)
        The class, 0 or 1: a checkerboard on the disc with fields of side 3 that meet at the origin.

    References
    ----------
    Arnonkijpanich, B. (2010). Matrix learning for topographic neural maps. PhD thesis, TU Clausthal, section 5.3. The
    classes are not specified there; these have about the same nearest neighbor error.

    Saul, L. K., Roweis, S. T. (2003). Think globally, fit locally: unsupervised learning of low dimensional manifolds.
    Journal of Machine Learning Research 4, 119-155.

    Examples
    --------
    >>> import numpy as np
    >>> from experiments.datasets import make_punctured_sphere
    >>> X, coordinates, y = make_punctured_sphere(noise=0)
    >>> X.shape, np.allclose(np.linalg.norm(X - [0, 0, 1], axis=1), 1)
    ((2000, 3), True)
    """
    rng = check_random_state(random_state)
    steps = np.arange(-5.0, 5.0, 9.0 / np.sqrt(n_samples))
    plane = _grid(steps, steps)
    coordinates = plane[np.square(plane).sum(axis=1).argsort(kind="stable")[:n_samples]]
    a = 4.0 / (4.0 + np.square(coordinates).sum(axis=1))
    X = _noisy([*(a * coordinates.T), 2.0 * (1.0 - a)], noise, rng)
    return X, coordinates, _checkers(coordinates - 1.5, 3.0)


@constrained(n_samples=integer(1), noise=number(0))
def make_gaussian_surface(n_samples: int = 2000, *, noise: float = 0.0, random_state: Any = None) -> Manifold:
    """Make a bell-shaped surface: samples from a Gaussian in the plane with its density as the third feature.

    Parameters
    ----------
    n_samples : int, default=2000
        Number of samples.
    noise : float, default=0.0
        Standard deviation of the Gaussian noise along each axis. The height of the bell is 0.16.
    random_state : int, RandomState or None, default=None
        Seed for reproducible samples.

    Returns
    -------
    X : ndarray of shape (n, 3)
        The samples.
    coordinates : ndarray of shape (n, 2)
        Position of each sample in the plane.
    y : ndarray of shape (n,)
        The class, 0 or 1: a checkerboard in the plane with fields of side 1, one of them around the origin.

    References
    ----------
    Arnonkijpanich, B. (2010). Matrix learning for topographic neural maps. PhD thesis, TU Clausthal, section 5.3.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.stats import multivariate_normal
    >>> from experiments.datasets import make_gaussian_surface
    >>> X, coordinates, y = make_gaussian_surface(random_state=0)
    >>> np.allclose(X[:, 2], multivariate_normal([0, 0]).pdf(coordinates))
    True
    """
    rng = check_random_state(random_state)
    coordinates = rng.standard_normal((n_samples, 2))
    density = np.exp(-0.5 * np.square(coordinates).sum(axis=1)) / (2.0 * np.pi)
    return _noisy([*coordinates.T, density], noise, rng), coordinates, _checkers(coordinates, 1.0)


@constrained(n_samples=integer(1), noise=number(0))
def make_hd_manifold(n_samples: int = 2000, *, noise: float = 0.05, random_state: Any = None) -> Manifold:
    """Make a five-dimensional manifold in ten dimensions, with samples on a grid.

    The features of a sample are functions of five coordinates between 0 and 1: cos t1, tanh 3 t2, t1 + t3, t4 sin t2,
    sin(t1 + t5), t5 cos t2, t5 + t4, t2, t3 t4, t1.

    Parameters
    ----------
    n_samples : int, default=2000
        Approximate number of samples. The grid has ``m**5`` nodes, where ``m`` is the fifth root of `n_samples`,
        rounded: 3125 for 2000.
    noise : float, default=0.05
        Standard deviation of the Gaussian noise along each axis; values on the grid have distance 0.25.
    random_state : int, RandomState or None, default=None
        Seed for reproducible noise.

    Returns
    -------
    X : ndarray of shape (n, 10)
        The samples.
    coordinates : ndarray of shape (n, 5)
        The coordinates t1, ..., t5 of each sample.
    y : ndarray of shape (n,)
        The class, 0 or 1: whether an even or an odd number of coordinates is at least 0.5.

    References
    ----------
    Arnonkijpanich, B. (2010). Matrix learning for topographic neural maps. PhD thesis, TU Clausthal, section 5.3.

    Examples
    --------
    >>> from experiments.datasets import make_hd_manifold
    >>> X, coordinates, y = make_hd_manifold(random_state=0)
    >>> X.shape, coordinates.shape
    ((3125, 10), (3125, 5))
    """
    rng = check_random_state(random_state)
    coordinates = _grid(*[np.linspace(0.0, 1.0, round(n_samples**0.2))] * 5)
    t1, t2, t3, t4, t5 = coordinates.T
    bent = [np.cos(t1), np.tanh(3.0 * t2), t1 + t3, t4 * np.sin(t2), np.sin(t1 + t5), t5 * np.cos(t2)]
    return _noisy([*bent, t5 + t4, t2, t3 * t4, t1], noise, rng), coordinates, _checkers(coordinates, 1.0)


def _noisy(features: list[Floats], noise: float, rng: np.random.RandomState) -> Floats:
    X = np.column_stack(features)
    return X + noise * rng.standard_normal(X.shape)


def _checkers(coordinates: Floats, sides: Any) -> Labels:
    """Return 0 or 1 in turn on fields of these sides, the first of which has its middle at the origin."""
    return np.floor(coordinates / sides + 0.5).sum(axis=1).astype(np.intp) % 2


def _grid(*axes: Floats) -> Floats:
    """Return all combinations of values on the axes, as rows."""
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(axes))


CLASS_SEED = 4  # classes are the same for every random_state


# How often connections have strength 0, 1, 2 and 3.
WITHIN_GROUPS, BETWEEN_GROUPS = (0.35, 0.20, 0.30, 0.15), (0.86, 0.07, 0.05, 0.02)


STRONGEST = 4.0  # dissimilarity of two areas without connection


@constrained(n_samples=integer(1), n_positive=integer(1), n_negative=integer(0), n_classes=integer(1), scale=number(0))
def make_pseudo_euclidean(
    n_samples: int = 200,
    n_positive: int = 5,
    n_negative: int = 3,
    *,
    n_classes: int = 4,
    scale: float = 0.1,
    squared: bool = True,
    random_state: Any = None,
) -> tuple[Floats, Labels]:
    """Make pseudo-Euclidean dissimilarities with a known signature.

    Classes are Gaussians of unit variance. Points ``(x, z)`` with p positive and q negative directions have the squared
    dissimilarities ``|x_i - x_j|^2 - scale |z_i - z_j|^2``.

    Parameters
    ----------
    n_samples : int, default=200
        Number of objects.
    n_positive, n_negative : int, default=5, 3
        Numbers p and q of directions; the signature is (p, q, n - p - q) if there are more than p + q objects.
    n_classes : int, default=4
        Number of classes, all of equal size.
    scale : float, default=0.1
        Weight of the negative directions. With 0 the dissimilarities are Euclidean.
    squared : bool, default=True
        Whether to return squared dissimilarities, some of which may be negative. Otherwise, dissimilarities are
        returned, and `scale` is lowered if a square would be negative.
    random_state : int, RandomState or None, default=None
        Seed for reproducible objects. The classes are always the same.

    Returns
    -------
    D : ndarray of shape (n, n)
        Dissimilarities, squared if `squared` is true.
    y : ndarray of shape (n,)
        The class of each object.

    Examples
    --------
    >>> from experiments.datasets import make_pseudo_euclidean
    >>> from protolearn.dissimilarities import signature
    >>> D, y = make_pseudo_euclidean(60, 4, 2, random_state=0)
    >>> signature(D, squared=True)
    Signature(positive=4, negative=2, zero=54)
    """
    rng = check_random_state(random_state)
    y = labels_in_shares(n_samples, np.ones(n_classes), rng)
    centers = 2.0 * np.random.RandomState(CLASS_SEED).standard_normal((n_classes, n_positive + n_negative))
    points = centers[y] + rng.standard_normal((n_samples, n_positive + n_negative))
    positive = pdist(points[:, :n_positive], "sqeuclidean")
    negative = pdist(points[:, n_positive:], "sqeuclidean") if n_negative else np.zeros_like(positive)
    if squared:
        return squareform(positive - scale * negative), y
    below = negative * scale > positive
    scale = np.min(positive[below] / negative[below], initial=scale)
    return squareform(np.sqrt(np.maximum(positive - scale * negative, 0.0))), y


def make_connectivity(sizes: Sequence[int] = (10, 18, 18, 19), *, random_state: Any = None) -> tuple[Floats, Labels]:
    """Make dissimilarities of areas that are strongly connected within groups and weakly connected between groups.

    The data are a substitute for the connectivity of cortical areas of the cat. Connections have strengths from 0
    (none) to 3. The dissimilarity is 4 minus the mean strength of both directions. There are only a few distinct
    values, and they are not a metric: almost every tenth pair violates the triangle inequality.

    Parameters
    ----------
    sizes : sequence of int, default=(10, 18, 18, 19)
        Number of areas in each group.
    random_state : int, RandomState or None, default=None
        Seed for reproducible connections.

    Returns
    -------
    D : ndarray of shape (n, n)
        Dissimilarities of the areas, in random order.
    y : ndarray of shape (n,)
        The group of each area.

    References
    ----------
    Hasenfuss, A. (2009). Topographic Mapping of Dissimilarity Datasets. PhD thesis, TU Clausthal, section 4.6. The
    group sizes are those of the data used there; the frequencies of the strengths are chosen to give similar mean
    dissimilarities.

    Examples
    --------
    >>> from experiments.datasets import make_connectivity
    >>> D, y = make_connectivity(random_state=0)
    >>> D.shape, float(D[D > 0].min()), float(D.max())
    ((65, 65), 1.0, 4.0)
    """
    integer(1).check_each("sizes", sizes)
    rng = check_random_state(random_state)
    y = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    uniform = rng.uniform(size=(len(y), len(y)))
    within, between = (np.searchsorted(np.cumsum(shares)[:-1], uniform) for shares in (WITHIN_GROUPS, BETWEEN_GROUPS))
    strengths = np.where(np.equal.outer(y, y), within, between)
    D = STRONGEST - (strengths + strengths.T) / 2
    np.fill_diagonal(D, 0.0)
    return D, y


ELLIPSE_CENTERS = np.array([(-4.0, 0.0), (4.0, 0.0), (0.0, -4.0), (0.0, 4.0)])


ELLIPSE_SPREAD = np.array([(0.4, 1.6), (0.4, 1.6), (1.6, 0.4), (1.6, 0.4)])


@constrained(n_samples=integer(1), noise=number(0))
def make_spiral_gaussian(
    n_samples: int = 500, *, noise: float = 0.1, noisy_angle: bool = False, random_state: Any = None
) -> tuple[Floats, Floats]:
    """Make a spiral of two turns around the first axis of space, of radius 1, with Gaussian noise.

    Parameters
    ----------
    n_samples : int, default=500
        Number of samples.
    noise : float, default=0.1
        Standard deviation of the noise along each axis.
    noisy_angle : bool, default=False
        Whether the second and third coordinates depend on the observed first coordinate, including noise, instead of
        its true value. The paper says the former, but its reported likelihoods agree with the latter.
    random_state : int, RandomState or None, default=None
        Seed for reproducible samples.

    Returns
    -------
    X : ndarray of shape (n, 3)
        The samples (angle, sin angle, cos angle) plus noise.
    angle : ndarray of shape (n,)
        Position along the spiral, uniform between 0 and 4 pi.

    References
    ----------
    Möller, R., Hoffmann, H. (2004). An extension of neural gas to local PCA. Neurocomputing 62, 305-326, appendix D.

    Tipping, M. E., Bishop, C. M. (1999). Mixtures of probabilistic principal component analyzers. Neural Computation
    11, 443-482.

    Examples
    --------
    >>> import numpy as np
    >>> from experiments.datasets import make_spiral_gaussian
    >>> X, angle = make_spiral_gaussian(noise=0, random_state=0)
    >>> np.allclose(X, np.column_stack([angle, np.sin(angle), np.cos(angle)]))
    True
    """
    rng = check_random_state(random_state)
    angle = rng.uniform(0, 4 * np.pi, n_samples)
    errors = noise * rng.standard_normal((n_samples, 3))
    turn = angle + errors[:, 0] if noisy_angle else angle
    return np.column_stack([angle, np.sin(turn), np.cos(turn)]) + errors, angle


@constrained(n_samples=integer(1))
def make_gaussian_ellipses(n_samples: int = 2000, *, random_state: Any = None) -> tuple[Floats, Labels]:
    """Make four elongated Gaussian clusters in the plane, arranged like the sides of a square.

    The clusters have their centers at (-4, 0), (4, 0), (0, -4) and (0, 4). The left and right clusters are vertical,
    the others horizontal, with standard deviations of 1.6 along and 0.4 across the cluster.

    Parameters
    ----------
    n_samples : int, default=2000
        Number of samples; a quarter in each cluster.
    random_state : int, RandomState or None, default=None
        Seed for reproducible samples.

    Returns
    -------
    X : ndarray of shape (n, 2)
        The samples in random order.
    y : ndarray of shape (n,)
        The cluster, from 0 to 3.

    References
    ----------
    Arnonkijpanich, B. (2010). Matrix learning for topographic neural maps. PhD thesis, TU Clausthal, section 4.1, gives
    the ratio 16 of the variances. Centers and directions are not given there.

    Examples
    --------
    >>> import numpy as np
    >>> from experiments.datasets import make_gaussian_ellipses
    >>> X, y = make_gaussian_ellipses(random_state=0)
    >>> X.shape, np.bincount(y)
    ((2000, 2), array([500, 500, 500, 500]))
    """
    rng = check_random_state(random_state)
    y = labels_in_shares(n_samples, np.ones(len(ELLIPSE_CENTERS)), rng)
    return ELLIPSE_CENTERS[y] + ELLIPSE_SPREAD[y] * rng.standard_normal((n_samples, 2)), y


# Hasenfuss 2009, table 3.2: share of each class in per cent.
LANDSAT_SHARES = (17.30, 10.46, 5.32, 7.93, 4.26, 6.13, 5.05, 8.12, 0.48, 2.83, 3.78, 7.78, 19.77, 0.79)


# Hasenfuss 2009, table 3.3: correlations of bands 1 with 2 to 6, 2 with 3 to 6, and so on.
LANDSAT_CORRELATIONS = (
    *(0.9564, 0.9493, 0.4691, 0.8162, 0.8544),
    *(0.9678, 0.5858, 0.8448, 0.8682),
    *(0.4867, 0.8339, 0.8897),
    *(0.5783, 0.4417),
    *(0.9574,),
)


LANDSAT_WITHIN = 0.5  # part of the variance that is found within the classes


KDD_SHARES = (0.22, 0.17, 0.14, 0.12, 0.10, 0.08, 0.07, 0.05, 0.03, 0.02)


KDD_COLUMNS = {"gaussian": 30, "skewed": 16, "binary": 10}


@constrained(n_samples=integer(1))
def make_landsat_surrogate(n_samples: int = 17004, *, random_state: Any = None) -> tuple[Floats, NDArray[np.intp]]:
    """Make a substitute for the LANDSAT TM image of Colorado: 6 bands, 14 classes of land cover.

    Each class is a Gaussian. The frequencies of the classes and the correlations of the bands, both within the classes
    and over all samples, are those published for the image; the means and everything else are synthetic. Two rare
    classes, water (9) and alpine vegetation (14), lie far from the others at the dark and at the bright end.

    Parameters
    ----------
    n_samples : int, default=17004
        Number of samples.
    random_state : int, RandomState or None, default=None
        Seed for reproducible samples. The classes are always the same.

    Returns
    -------
    X : ndarray of shape (n, 6)
        The samples in random order; each band has mean 0 and variance 1.
    y : ndarray of shape (n,)
        The class, from 1 to 14.

    References
    ----------
    Hasenfuss, A. (2009). Topographic Mapping of Dissimilarity Datasets. PhD thesis, TU Clausthal, tables 3.2 and 3.3.

    Examples
    --------
    >>> from experiments.datasets import make_landsat_surrogate
    >>> X, y = make_landsat_surrogate(random_state=0)
    >>> X.shape, int((y == 9).sum())
    ((17004, 6), 82)
    """
    rng = check_random_state(random_state)
    label = labels_in_shares(n_samples, LANDSAT_SHARES, rng)
    correlation = _landsat_correlation()
    within = rng.standard_normal((n_samples, 6)) @ np.linalg.cholesky(LANDSAT_WITHIN * correlation).T
    return _landsat_centers(correlation)[label] + within, label + 1


@constrained(n_samples=integer(1))
def make_kdd_surrogate(n_samples: int = 95412, *, random_state: Any = None) -> tuple[Floats, NDArray[np.intp]]:
    """Make a substitute for the KDD Cup 98 mailing list: 56 columns of mixed type, 10 clusters.

    Only the size and the mixture of column types are those of the original: 30 columns are Gaussian, 16 skewed
    (log-normal, as amounts of money are) and 10 binary. The values of each column are independent within a cluster.
    Scale the columns before clustering, for example with scikit-learn's `StandardScaler`.

    Parameters
    ----------
    n_samples : int, default=95412
        Number of samples.
    random_state : int, RandomState or None, default=None
        Seed for reproducible samples. The clusters are always the same.

    Returns
    -------
    X : ndarray of shape (n, 56)
        The samples in random order: Gaussian, then skewed, then binary columns.
    y : ndarray of shape (n,)
        The cluster, from 0 to 9, in order of decreasing size.

    References
    ----------
    Hasenfuss, A. (2009). Topographic Mapping of Dissimilarity Datasets. PhD thesis, TU Clausthal, section 3.5.

    Examples
    --------
    >>> from experiments.datasets import make_kdd_surrogate
    >>> X, y = make_kdd_surrogate(1000, random_state=0)
    >>> X.shape, int((y == 0).sum())
    ((1000, 56), 220)
    """
    rng = check_random_state(random_state)
    y = labels_in_shares(n_samples, KDD_SHARES, rng)
    means, log_means, probabilities = _kdd_clusters()
    gaussian = rng.normal(means[y])
    skewed = rng.lognormal(log_means[y])
    binary = rng.uniform(size=(n_samples, KDD_COLUMNS["binary"])) < probabilities[y]
    return np.hstack([gaussian, skewed, binary]), y


def _landsat_correlation() -> Floats:
    """Correlation matrix (6, 6) of the bands."""
    correlation = np.eye(6)
    upper = np.triu_indices(6, k=1)
    correlation[upper] = LANDSAT_CORRELATIONS
    correlation.T[upper] = LANDSAT_CORRELATIONS
    return correlation


def _landsat_centers(correlation: Floats) -> Floats:
    """Centers (14, 6) whose own covariance, weighted by the shares, has the given correlation as well.

    The centers are drawn at random and sphered; classes 9 and 14 are first put far out, on opposite sides along the
    common brightness of the bands.
    """
    shares = np.array(LANDSAT_SHARES) / 100
    variances, axes = np.linalg.eigh(correlation)
    centers = np.random.RandomState(14).standard_normal((14, 6))
    brightness = np.sign(axes[:, -1].sum()) * np.eye(6)[-1]  # the last axis has the largest variance
    centers[8], centers[13] = -6 * brightness, 6 * brightness
    centers -= shares @ centers
    spread = np.linalg.cholesky(centers.T @ (shares[:, None] * centers))
    sphered = np.linalg.solve(spread, centers.T).T
    return np.sqrt(1 - LANDSAT_WITHIN) * sphered * np.sqrt(variances) @ axes.T


def _kdd_clusters() -> tuple[Floats, Floats, Floats]:
    """Parameters of the clusters: means (10, 30), means of the logarithm (10, 16), probabilities of a one (10, 10)."""
    rng = np.random.RandomState(98)
    n_clusters = len(KDD_SHARES)
    means = rng.normal(scale=2, size=(n_clusters, KDD_COLUMNS["gaussian"]))
    log_means = rng.normal(size=(n_clusters, KDD_COLUMNS["skewed"]))
    probabilities = rng.uniform(0.05, 0.95, size=(n_clusters, KDD_COLUMNS["binary"]))
    return means, log_means, probabilities


STACK_GAP = 4.5


STACK_SPREAD = np.array([4.0, 0.3, 6.0])


@constrained(n_per_class=integer(1))
def make_three_gaussians(n_per_class: int = 100, *, random_state: Any = None) -> tuple[Floats, Labels]:
    """Make three flat, stacked Gaussian classes in space, which overlap in the plane of the principal components.

    Only the second feature separates the classes: its mean is -4.5, 0 or 4.5, with a standard deviation of 0.3. The
    first and the third feature have the same distribution in all classes and larger standard deviations (4 and 6), so
    the classes overlap in the plane of largest variance.

    Parameters
    ----------
    n_per_class : int, default=100
        Number of samples in each class.
    random_state : int, RandomState or None, default=None
        Seed for reproducible samples.

    Returns
    -------
    X : ndarray of shape (n, 3)
        The samples in random order.
    y : ndarray of shape (n,)
        The class, 0, 1 or 2.

    References
    ----------
    Bunte, K. (2011). Adaptive dissimilarity measures, dimension reduction and visualization. PhD thesis, University of
    Groningen, section 6.4, describes the data without numbers; the numbers here are chosen.

    Examples
    --------
    >>> from experiments.datasets import make_three_gaussians
    >>> X, y = make_three_gaussians(random_state=0)
    >>> X.shape, X.var(axis=0).round().astype(int)
    ((300, 3), array([15, 14, 32]))
    """
    rng = check_random_state(random_state)
    y = labels_in_shares(3 * n_per_class, np.ones(3), rng)
    X = STACK_SPREAD * rng.standard_normal((len(y), 3))
    X[:, 1] += STACK_GAP * (y - 1)
    return X, y
