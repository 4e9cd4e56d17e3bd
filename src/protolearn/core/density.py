"""Density and intrinsic dimension of samples: Parzen window density and correlation dimension.

Magnification control weights every sample by a power of the data density at its position, and the optimal power follows
from the intrinsic dimension of the data. Both are estimated here from the pairwise distances of the samples. Distances
are computed in tiles, so the required memory is not quadratic in the number of samples. With ``max_samples``, samples
are compared with a random subset only, so the time is not quadratic either.

A sample weight is a multiplicity: a weight of 2 is equivalent to including the sample twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import reduce
from typing import Any, Literal, TypeVar, overload

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_array

from protolearn.core.parameters import constrained, integer, none, positive
from protolearn.core.threads import CACHED, HELD, Threads, block_size, chunk_threads, cut, row_blocks
from protolearn.core.types import Array, Floats, Indices
from protolearn.core.validation import check_weights
from protolearn.core.weights import as_counts

__all__ = [
    "Precomputed",
    "correlation_dimension",
    "correlation_integral",
    "mean_pairwise_distance",
    "parzen_log_density",
    "squared_distances",
]

TILE_SIDE = 384  # rows and columns of a tile of distances: 1 MB, so that the passes over it stay in the cache
CANCELLATION = 1e-6  # a squared distance this small beside the squared norms has lost too many digits
BINS_PER_OCTAVE = 64  # resolution of the correlation curve: radii grow by about 1 % from bin to bin
SMALLEST_OCTAVE, LARGEST_OCTAVE = -1074, 1024  # of any positive double
LOWEST_QUANTILE, LOWEST_NEIGHBORS = 0.001, 0.5  # the fit of the dimension starts at the larger of both
WINDOW_RATIO = 10.0  # and ends where so many times more pairs are closer
MIN_VALUES = 5  # different values of the correlation curve in the fit, if it has as many

Tiles = Iterator[tuple[slice, Floats]]
T = TypeVar("T")


@dataclass(frozen=True)
class Precomputed:
    """Squared distances (n, n) between samples, which all functions of this module accept instead of samples.

    The distances are an array, or a function that returns the rows for a slice or indices of ``n_samples`` samples.
    Densities are then determined up to a factor.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.array([0.0, 3.0, 6.0])
    >>> mean_pairwise_distance(Precomputed((x[:, None] - x) ** 2))
    4.0
    """

    squared: Array | Callable[[Any], Array]
    n_samples: int | None = None
    shape = (0, 0)  # no coordinates

    def __len__(self) -> int:
        return len(self.squared) if self.n_samples is None else self.n_samples  # type: ignore[arg-type]

    def __getitem__(self, chosen: Any) -> Precomputed:
        places = np.arange(len(self))[chosen]

        def among(some: Any) -> Array:
            wanted = places[some]
            bands = row_blocks(len(wanted), 8 * len(self), HELD)
            return np.concatenate([self.rows(wanted[band])[:, places] for band in bands])

        return Precomputed(among, len(places))

    def rows(self, chosen: Any) -> Array:
        """Return the squared distances (c, n) of some samples to all."""
        return self.squared(chosen) if callable(self.squared) else self.squared[chosen]


Samples = ArrayLike | Precomputed


@constrained(max_samples=integer(2) | none)
def parzen_log_density(
    X: Samples,
    *,
    sample_weight: ArrayLike | None = None,
    bandwidth: float | None = None,
    points: ArrayLike | None = None,
    max_samples: int | None = None,
    n_jobs: int | None = None,
) -> Floats:
    """Return the logarithm of the data density, estimated by a Gaussian Parzen window.

    The density at a point ``v`` is the mean over the samples of a Gaussian with standard deviation ``h``::

        p(v) = 1 / sum_j u_j * sum_j u_j (2 pi h^2)^(-d/2) exp(-|v - x_j|^2 / (2 h^2))

    The logarithm does not underflow; compute powers of the density as ``exp(c * log p)``.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Samples.
    sample_weight : array-like of shape (n,), optional
        Multiplicity of each sample, 1 by default.
    bandwidth : float, optional
        Width ``h`` of the window; larger values give smoother densities. By default, one third of the mean distance
        between two samples.
    points : array-like of shape (m, d), optional
        Points at which the density is estimated; by default, the samples. The time is proportional to n times m.
    max_samples : int, optional
        Maximum number of samples whose windows are added up; by default, all. If there are more, a random subset of
        this size is used, the same one in every call; at a sample, its own window is always included. With the default
        bandwidth and 4096 of 20,000 normal samples, ratios of densities deviate from those of all samples by 3 % in 2
        or 5 dimensions, and by 1 % in 20 or 50 (standard deviation; in the tails of 2 dimensions up to 12 %).
    n_jobs : int, optional
        Number of threads; None means the number of threads of the BLAS library.

    Returns
    -------
    array of shape (m,)
        Natural logarithm of the density at the points.

    References
    ----------
    Parzen, E. (1962). On estimation of a probability density function and mode. Annals of Mathematical Statistics 33.

    Hasenfuss, A. (2009). Topographic mapping of dissimilarity datasets, sec. 3.2 and 3.5 (bandwidth).

    Examples
    --------
    >>> import numpy as np
    >>> parzen_log_density([[0.0], [2.0]], bandwidth=1.0, points=[[0.0], [1.0], [9.0]]).round(2)
    array([ -1.49,  -1.42, -26.11])
    """
    given = isinstance(X, Precomputed)
    samples: Any = X if given else check_array(X, dtype=[np.float64, np.float32], input_name="X")
    weights = check_weights(sample_weight, len(samples), np.float64)
    targets = samples if points is None else check_array(points, dtype=[np.float64, np.float32], input_name="points")
    if targets.shape[1] != samples.shape[1]:
        raise ValueError(
            f"The points have {targets.shape[1]} features, but the samples have {samples.shape[1]}; both must be equal."
        )
    if bandwidth is None:
        bandwidth = _default_bandwidth(X, weights, max_samples, n_jobs)
    positive.check("bandwidth", bandwidth)
    present = np.flatnonzero(weights)
    chosen = present[_some(len(present), max_samples)]
    log_weights = np.log(weights[chosen])

    def log_sums(rows: slice, tiles: Tiles) -> Floats:
        total = np.empty(len(targets))
        for columns, squared in tiles:
            exponents = squared * (-0.5 / bandwidth**2) + log_weights[rows, None]
            peaks = exponents.max(axis=0)
            exponents -= peaks
            total[columns] = peaks + np.log(np.exp(exponents).sum(axis=0))
        return total

    some = chosen if len(chosen) < len(weights) else None
    log_total = reduce(np.logaddexp, _map_bands(log_sums, samples, targets, chosen=some, n_jobs=n_jobs))
    mass = weights[chosen].sum()
    if points is None and len(chosen) < len(present):  # own windows as they are, those of others by the chosen ones
        among = np.zeros(len(weights))
        among[chosen] = weights[chosen]
        others = np.maximum(np.exp(log_total) - among, 0.0) * ((weights.sum() - weights) / (mass - among))
        log_total, mass = np.log(others + weights), weights.sum()
    log_volume = samples.shape[1] * np.log(np.sqrt(2.0 * np.pi) * bandwidth)
    return log_total - np.log(mass) - log_volume


@constrained(max_samples=integer(2) | none)
def mean_pairwise_distance(
    X: Samples, sample_weight: ArrayLike | None = None, *, max_samples: int | None = None
) -> float:
    r"""Return the mean Euclidean distance between two different samples.

    :math:`\sum_{ij} u_i u_j \|x_i - x_j\| / (m (m - 1))` with :math:`m = \sum_i u_i`: the mean over all ordered
    pairs, where every sample is repeated according to its weight.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Samples.
    sample_weight : array-like of shape (n,), optional
        Multiplicity of each sample, 1 by default. Weights with a mean below one are rescaled to mean one.
    max_samples : int, optional
        Maximum number of samples that are compared; by default, all. If there are more, a random subset of this size is
        used, the same one in every call.

    Returns
    -------
    float
        The average distance.

    Examples
    --------
    >>> mean_pairwise_distance([[0.0], [3.0], [6.0]])
    4.0
    >>> mean_pairwise_distance([[0.0], [3.0]], sample_weight=[2, 1])
    2.0
    """
    return _mean_distance(*_thin(*_check_samples(X, sample_weight), max_samples))


@constrained(max_samples=integer(2))
def correlation_integral(
    X: Samples, radii: ArrayLike, *, sample_weight: ArrayLike | None = None, max_samples: int = 5000
) -> Floats:
    r"""Return the correlation integral, the fraction of pairs of samples that are closer than a radius.

    .. math:: C(r) = \frac{2}{m (m - 1)} \, \#\{i < j : \|x_i - x_j\| < r\}

    Parameters
    ----------
    X : array-like of shape (n, d)
        Samples.
    radii : array-like of any shape
        The radii ``r``.
    sample_weight : array-like of shape (n,), optional
        Multiplicity of each sample, 1 by default. Weights with a mean below one are rescaled to mean one.
    max_samples : int, default=5000
        Maximum number of samples that are compared. If there are more, a random subset of this size is used, the same
        in every call.

    Returns
    -------
    array of the shape of ``radii``
        ``C(r)`` for each radius.

    References
    ----------
    Grassberger, P., Procaccia, I. (1983). Measuring the strangeness of strange attractors. Physica D 9, 189-208.

    Examples
    --------
    >>> correlation_integral([[0.0], [1.0], [3.0]], [1.0, 1.5, 2.5, 3.5]).round(3)
    array([0.   , 0.333, 0.667, 1.   ])
    """
    samples, weights = _thin(*_check_samples(X, sample_weight), max_samples)
    pairs = _count_ordered_pairs(weights)
    limits = np.asarray(radii, dtype=np.float64)
    if np.isnan(limits).any():
        raise ValueError("The radii must be numbers, but some are NaN.")

    def count_closer(rows: slice, tiles: Tiles) -> Floats:
        counts = np.zeros(limits.size)
        for columns, squared in tiles:
            distances, times = np.sqrt(squared), _times(rows, columns)
            counts += [times * (weights[rows] @ (distances < limit) @ weights[columns]) for limit in limits.flat]
        return counts

    counts = sum(_map_bands(count_closer, samples, samples, upper=True), start=np.zeros(limits.size))
    counts -= weights.sum() * (limits.ravel() > 0.0)  # the pairs of a sample with itself
    return np.maximum(counts / pairs, 0.0).reshape(limits.shape)


@overload
def correlation_dimension(
    X: Samples,
    *,
    sample_weight: ArrayLike | None = ...,
    quantiles: tuple[float, float] | None = ...,
    max_samples: int = ...,
    return_curve: Literal[False] = ...,
) -> float: ...


@overload
def correlation_dimension(
    X: Samples,
    *,
    sample_weight: ArrayLike | None = ...,
    quantiles: tuple[float, float] | None = ...,
    max_samples: int = ...,
    return_curve: Literal[True],
) -> tuple[float, Floats, Floats]: ...


@constrained(max_samples=integer(2))
def correlation_dimension(
    X: Samples,
    *,
    sample_weight: ArrayLike | None = None,
    quantiles: tuple[float, float] | None = None,
    max_samples: int = 5000,
    return_curve: bool = False,
) -> float | tuple[float, Floats, Floats]:
    """Estimate the intrinsic dimension of samples by the method of Grassberger and Procaccia.

    On a manifold of dimension ``D``, the fraction ``C(r)`` of pairs closer than ``r`` grows like ``r^D`` for small
    ``r``. The dimension is the slope of ``log C`` against ``log r``, fitted by least squares where ``C`` is small.
    Duplicate samples carry no information on the dimension, so only pairs at a positive distance are counted.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Samples.
    sample_weight : array-like of shape (n,), optional
        Multiplicity of each sample, 1 by default. Only relative weights matter.
    quantiles : tuple of two floats, optional
        The fit uses the radii between these two quantiles of the pairwise distances. Lower quantiles correspond to
        smaller scales: they have less bias from the borders and the curvature of the data, but more influence of noise
        and fewer pairs. By default ``(0.001, 0.01)``; with fewer than 500 different samples ``(0.5 / n, 5 / n)``, that
        is from half a neighbor to five neighbors of a sample.
    max_samples : int, default=5000
        Maximum number of samples that are compared. If there are more, a random subset of this size is used, the same
        in every call.
    return_curve : bool, default=False
        Also return the curve, to see where it is straight in a doubly logarithmic plot.

    Returns
    -------
    dimension : float
        The slope.
    radii, shares : arrays
        The curve ``C(r)`` over pairs at a positive distance, if ``return_curve``.

    Notes
    -----
    The borders of the data make the estimate too small, increasingly with the dimension. For 5000 uniform samples in a
    cube of 1, 2, 3, 5 dimensions it is 1.00, 1.97, 2.89, 4.57.

    References
    ----------
    Grassberger, P., Procaccia, I. (1983). Measuring the strangeness of strange attractors. Physica D 9, 189-208.

    Examples
    --------
    >>> import numpy as np
    >>> plane = np.random.default_rng(0).random((2000, 2))
    >>> in_four_dimensions = plane @ [[1.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, -1.0]]
    >>> round(correlation_dimension(in_four_dimensions), 1)
    2.0
    """
    samples, weights = _thin(*_check_samples(X, sample_weight), max_samples)
    radii, shares = _correlation_curve(samples, weights)
    low, high = _default_quantiles(samples) if quantiles is None else quantiles
    if not 0.0 <= low < high <= 1.0:
        raise ValueError(f"The quantiles must be two increasing numbers between 0 and 1, but they are {quantiles}.")
    window = _fitting_window(shares, low, high)
    slope, _ = np.polyfit(np.log(radii[window]), np.log(shares[window]), 1)
    return (float(slope), radii, shares) if return_curve else float(slope)


def squared_distances(A: Array, B: Array) -> Floats:
    """Return squared Euclidean distances (a, b), computed by a matrix product in double precision.

    Both arrays should be relative to a common origin near the points. Where the product cancels, because two points are
    much closer to each other than to the origin, the distance is recomputed from the difference. Equal points thus have
    distance zero, and no distance is negative.

    Parameters
    ----------
    A, B : arrays of shape (a, d) and (b, d)
        Points.

    Returns
    -------
    array of shape (a, b)
        Squared distances.

    Examples
    --------
    >>> import numpy as np
    >>> squared_distances(np.array([[0.0, 0.0], [1e9, 1.0]]), np.array([[3.0, 4.0], [1e9, 3.0]])).diagonal()
    array([25.,  4.])
    """
    A, B = A.astype(np.float64, copy=False), B.astype(np.float64, copy=False)
    norms = np.einsum("ij,ij->i", A, A)[:, None] + np.einsum("ij,ij->i", B, B)
    squared = A @ B.T
    squared *= -2.0
    squared += norms
    norms *= CANCELLATION
    rows, columns = np.nonzero(squared <= norms)
    for part in row_blocks(len(rows), 8 * A.shape[1], CACHED):
        gaps = A[rows[part]] - B[columns[part]]
        squared[rows[part], columns[part]] = np.einsum("ij,ij->i", gaps, gaps)
    return squared


def _check_samples(X: Samples, sample_weight: ArrayLike | None) -> tuple[Any, Floats]:
    """Return the samples that have a weight, and how often each counts."""
    given = isinstance(X, Precomputed)
    samples: Any = X if given else check_array(X, dtype=[np.float64, np.float32], input_name="X")
    weights = check_weights(sample_weight, len(samples), np.float64)
    present = weights > 0.0
    return samples if present.all() else samples[present], as_counts(weights[present])


def _thin(samples: Any, weights: Floats, max_samples: int | None) -> tuple[Any, Floats]:
    """Return samples and weights, or a random subset of them."""
    chosen = _some(len(samples), max_samples)
    return samples[chosen], weights[chosen]


def _some(n: int, most: int | None) -> Any:
    """Return all places, or a random subset of them in rising order."""
    if most is None or n <= most:
        return slice(0, n)
    return np.sort(np.random.default_rng(0).choice(n, most, replace=False))


def _count_ordered_pairs(weights: Floats) -> float:
    total = float(weights.sum())
    if total <= 1.0:
        raise ValueError(
            "There is no pair of samples: only one sample has a weight, and it counts once. Pass at least two samples."
        )
    return total * (total - 1.0)


def _default_bandwidth(X: Samples, weights: Floats, max_samples: int | None, n_jobs: int | None) -> float:
    distance = _mean_distance(*_thin(*_check_samples(X, weights), max_samples), n_jobs)
    if distance == 0.0:
        raise ValueError("All samples are the same point, so there is no default bandwidth; set a positive bandwidth.")
    return distance / 3.0  # Hasenfuss 2009, sec. 3.5


def _mean_distance(samples: Any, weights: Floats, n_jobs: int | None = None) -> float:
    def weighted_sum(rows: slice, tiles: Tiles) -> float:
        return sum(
            _times(rows, columns) * float(weights[rows] @ np.sqrt(squared) @ weights[columns])
            for columns, squared in tiles
        )

    pairs = _count_ordered_pairs(weights)
    return sum(_map_bands(weighted_sum, samples, samples, upper=True, n_jobs=n_jobs)) / pairs


def _correlation_curve(samples: Any, weights: Floats) -> tuple[Floats, Floats]:
    """Return radii and the share of pairs at a positive distance below each, from a histogram of log distances."""
    bins_per_square = BINS_PER_OCTAVE // 2
    n_bins = (LARGEST_OCTAVE - SMALLEST_OCTAVE) * bins_per_square

    def count_in_bins(rows: slice, tiles: Tiles) -> Floats:
        counts = np.zeros(n_bins)
        for columns, squared in tiles:
            apart = squared > 0.0
            bins = ((np.log2(squared[apart]) - SMALLEST_OCTAVE) * bins_per_square).astype(np.intp)
            pair_weights = (weights[rows, None] * weights[columns])[apart]
            counts += _times(rows, columns) * np.bincount(bins, pair_weights, n_bins)
        return counts

    histogram = sum(_map_bands(count_in_bins, samples, samples, upper=True), start=np.zeros(n_bins))
    used = np.flatnonzero(histogram)
    if len(used) == 0:
        raise ValueError("All samples are the same point, so they have no dimension; pass different samples.")
    bins = np.arange(used[0], used[-1] + 1)
    radii = np.exp2(0.5 * ((bins + 1) / bins_per_square + SMALLEST_OCTAVE))
    shares = np.cumsum(histogram[bins])
    return radii, shares / shares[-1]


def _default_quantiles(samples: Any) -> tuple[float, float]:
    n_different = len(samples) if isinstance(samples, Precomputed) else len(np.unique(samples, axis=0))
    low = max(LOWEST_QUANTILE, LOWEST_NEIGHBORS / n_different)
    return low, min(1.0, WINDOW_RATIO * low)


def _fitting_window(shares: Floats, low: float, high: float) -> slice:
    """Return the part of the curve between two shares, extended upwards where it would hold too few values."""
    start, stop = np.searchsorted(shares, [low, high])
    rises = start + 1 + np.flatnonzero(np.diff(shares[start:]))
    if len(rises) == 0:
        raise ValueError(
            f"The samples have no finite dimension: above the quantile {low:g}, all distances are (almost) the same. "
            "Use more samples, or a smaller lower quantile."
        )
    return slice(int(start), int(max(stop, rises[: MIN_VALUES - 1][-1])) + 1)


def _map_bands(
    function: Callable[[slice, Tiles], T],
    A: Any,
    B: Any,
    *,
    chosen: Indices | None = None,
    upper: bool = False,
    n_jobs: int | None = None,
) -> Iterator[T]:
    """Yield ``function(rows, tiles)`` for bands of rows of A, all or chosen ones, in order, from several threads.

    The tiles are slices of the rows of B with the squared distances to them; with ``upper`` only those on and above the
    diagonal.
    """
    given = isinstance(B, Precomputed)
    origin = None if given else A.mean(axis=0, dtype=np.float64)
    side = min(TILE_SIDE, block_size(8 * B.shape[1], CACHED))
    height = min(side, block_size(8 * len(B), HELD)) if given else side

    def tiles(rows: slice) -> Tiles:
        parts = [rows, *cut(len(B), side, rows.stop)] if upper else cut(len(B), side)
        places = rows if chosen is None else chosen[rows]
        if given:
            band = B.rows(places)
            for columns in parts:
                yield columns, np.maximum(band[:, columns].astype(np.float64), 0.0)
            return
        left = A[places] - origin
        for columns in parts:
            yield columns, squared_distances(left, B[columns] - origin)

    with chunk_threads(n_jobs) as n_threads:
        bands = cut(len(A if chosen is None else chosen), height)
        yield from Threads(n_threads).map(lambda rows: function(rows, tiles(rows)), bands)


def _times(rows: slice, columns: slice) -> float:
    """How often a tile on or above the diagonal counts when all ordered pairs are wanted."""
    return 1.0 if rows == columns else 2.0
