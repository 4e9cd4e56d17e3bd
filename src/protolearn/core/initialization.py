"""Initialization of prototypes.

Random draws depend on the samples and their weights, not on their order, nor on the order of features: a sample of
weight two is equivalent to two equal samples.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator, eigsh
from sklearn.exceptions import ConvergenceWarning

from protolearn.core.numerics import TIED, first_lowest, largest_positive
from protolearn.core.prototypes import Mean
from protolearn.core.sources import Chunk, PointSource
from protolearn.core.statistics import Distinct, Lowest
from protolearn.core.types import Array, Floats, Indices

MOST_STEPS = 256  # different values of a feature that is recorded in steps
MOST_CODES = 16384  # different samples that are counted one by one, if there are more than can be listed
N_ROUNDS, OVERSAMPLING = 5, 2  # of k-means||: passes over the samples, and samples of each for every prototype

__all__ = ["around_center", "distinct_samples", "on_principal_plane", "spread_samples"]


def around_center(source: PointSource, n_prototypes: int, rng: np.random.RandomState) -> Floats:
    """Return random positions close to the mean, with a thousandth of the standard deviation of each column.

    Parameters
    ----------
    source : PointSource
        The samples.
    n_prototypes : int
        Number of prototypes.
    rng : RandomState
        Source of random numbers.

    Returns
    -------
    ndarray of shape (n_prototypes, D)
        Initial positions of the prototypes, in the coordinates of the source.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.core.initialization import around_center
    >>> from protolearn.core.sources import ArraySource
    >>> source = ArraySource(np.array([[0.0], [10.0]]), origin=np.zeros(1))
    >>> around_center(source, 3, np.random.RandomState(0)).round(1).ravel().tolist()
    [5.0, 5.0, 5.0]
    """
    mean, variance = mean_and_variance(source)
    return mean + 1e-3 * np.sqrt(variance) * column_noise(source, rng, n_prototypes)


def on_principal_plane(source: PointSource, coordinates: Floats) -> Floats:
    """Map lattice coordinates (k, 2) to the plane of the two largest principal components.

    Each axis is scaled to the standard deviation of the data along it.

    Parameters
    ----------
    source : PointSource
        The samples.
    coordinates : ndarray of shape (k, 2)
        Coordinates of the nodes.

    Returns
    -------
    ndarray of shape (k, D)
        Initial positions of the prototypes, in the coordinates of the source.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.core.initialization import on_principal_plane
    >>> from protolearn.core.sources import ArraySource
    >>> X = np.array([[-4.0, 0.0], [4.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    >>> start = on_principal_plane(ArraySource(X, origin=np.zeros(2)), np.array([[-1.0, 0.0], [1.0, 0.0]]))
    >>> bool(abs(start[:, 0]).min() > 2.0), bool(abs(start[:, 1]).max() < 1e-9)  # along the first component
    (True, True)
    """
    mean, values, axes = principal_axes(source, coordinates.shape[1])
    centered = coordinates - coordinates.mean(axis=0)
    spread = centered.std(axis=0)
    flat = spread == 0
    scaled = centered[:, : len(values)] / np.where(flat, 1.0, spread)[: len(values)]
    return mean + (scaled * np.sqrt(values)) @ axes


def spread_samples(source: PointSource, n_prototypes: int, rng: np.random.RandomState) -> Floats:
    """Return samples drawn by k-means++, with probabilities proportional to the squared distance from earlier draws.

    Of a few candidates at each draw, the one that lowers the quantization error most is kept. Very large sets of
    samples are first reduced by k-means||, which draws many samples in each of several passes.

    References
    ----------
    Arthur and Vassilvitskii (2007). k-means++: the advantages of careful seeding. SODA.

    Bahmani et al. (2012). Scalable k-means++. VLDB.

    Parameters
    ----------
    source : PointSource
        The samples.
    n_prototypes : int
        Number of prototypes.
    rng : RandomState
        Source of random numbers.

    Returns
    -------
    ndarray of shape (n_prototypes, D)
        Initial positions of the prototypes, in the coordinates of the source.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.core.initialization import spread_samples
    >>> from protolearn.core.sources import ArraySource
    >>> source = ArraySource(np.array([[0.0], [0.1], [0.2], [50.0], [90.0]]), origin=np.zeros(1))
    >>> found = spread_samples(source, 3, np.random.RandomState(0)).ravel()
    >>> bool(50.0 in found and 90.0 in found)
    True
    """
    find = _candidates if source.listed else _overseeded
    points, weights = find(source, most_candidates(n_prototypes), rng)
    return _draw(points, weights, source.metric, n_prototypes, rng, 1.0, n_candidates=2 + int(np.log(n_prototypes)))


def distinct_samples(source: PointSource, n_prototypes: int, rng: np.random.RandomState) -> Floats:
    """Return random samples, no two of them equal.

    Parameters
    ----------
    source : PointSource
        The samples.
    n_prototypes : int
        Number of prototypes.
    rng : RandomState
        Source of random numbers.

    Returns
    -------
    ndarray of shape (n_prototypes, D)
        Initial positions of the prototypes, in the coordinates of the source.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.core.initialization import distinct_samples
    >>> from protolearn.core.sources import ArraySource
    >>> source = ArraySource(np.array([[1.0], [1.0], [1.0], [2.0], [3.0]]), origin=np.zeros(1))
    >>> np.sort(distinct_samples(source, 3, np.random.RandomState(0)).ravel()).tolist()
    [1.0, 2.0, 3.0]
    """
    points, weights = _candidates(source, most_candidates(n_prototypes), rng)
    return _draw(points, weights, source.metric, n_prototypes, rng, 0.0, n_candidates=1)


def mean_and_variance(source: PointSource) -> tuple[Floats, Floats]:
    """Return weighted mean and variance of what is known of every column, in the source's coordinates."""

    def moments(chunk: Chunk) -> Floats:
        columns = chunk.filled.astype(np.float64)
        return np.vstack([chunk.weights @ columns, chunk.weights @ columns**2])

    mass: Any = source.mass
    if source.partial:  # what is not known is at the origin, and adds nothing
        unknown = source.sum(lambda chunk: (chunk.weights @ np.isnan(chunk.known)).astype(np.float64))
        mass = np.maximum(mass - unknown, np.finfo(np.float64).tiny)
    first, second = source.sum(moments) / mass
    return first, np.maximum(second - first**2, 0.0)


def resolutions(source: PointSource) -> Floats:
    """Return the smallest step between two values of each feature, 0 for one with hundreds of values, or one only.

    In the source's coordinates. Values with steps are those of counts, grades, pixels and yes or no. Samples that stand
    for others, and values that are not known, do not count.
    """
    d = source.n_features
    head = source.rows(np.arange(min(source.n_single, 4 * MOST_STEPS)))
    few = np.array([len(np.unique(head[:, a])) <= MOST_STEPS + 1 for a in range(d)])  # one may stand for a gap
    steps = np.zeros(d)
    if not few.any():
        return steps

    def values(chunk: Chunk) -> _Values:
        columns = chunk.points[: chunk.n_single, :d][:, few]
        known = np.ones(columns.shape, bool) if chunk.gaps is None else ~chunk.gaps[: chunk.n_single][:, few]
        return _Values([np.unique(column[there]) for column, there in zip(columns.T, known.T)])

    found = source.sum(values).columns
    steps[few] = [0.0 if column is None or len(column) < 2 else np.diff(column).min() for column in found]
    return steps


@dataclass(frozen=True)
class _Values:
    """Different values of each column, in order; None of one that has too many."""

    columns: list[Array | None]

    def __add__(self, other: _Values) -> _Values:
        return _Values([_united(*pair) for pair in zip(self.columns, other.columns)])


def _united(one: Array | None, other: Array | None) -> Array | None:
    if one is None or other is None:
        return None
    both = np.union1d(one, other)
    return both if len(both) <= MOST_STEPS else None


def principal_axes(source: PointSource, n_axes: int) -> tuple[Floats, Floats, Floats]:
    """Return the mean, and the largest eigenvalues and eigenvectors (rows) of the covariance, signs fixed."""
    if source.n_columns <= 1024:
        mean, covariance = mean_and_covariance(source)
        values, vectors = np.linalg.eigh(covariance)
    else:  # the covariance would not fit in a cache, or in memory
        mean, values, vectors = _leading_axes(source, n_axes)
    largest = np.argsort(values)[::-1][:n_axes]
    return mean, np.maximum(values[largest], 0.0), largest_positive(vectors[:, largest].T, axis=1)


def mean_and_covariance(source: PointSource) -> tuple[Floats, Floats]:
    """Return weighted mean and covariance of all columns, in the source's coordinates."""

    def moments(chunk: Chunk) -> Floats:
        plain = chunk.mean_label is None and chunk.lifted.shape[1] == chunk.n_columns + 2
        points = chunk.lifted[:, :-1] if plain else np.column_stack([chunk.filled, chunk.lifted[:, -2]])  # and ones
        return ((chunk.weights[:, None] * points).T @ points).astype(np.float64)

    second = source.sum(moments, source.n_columns)
    mean = second[-1, :-1] / second[-1, -1]
    return mean, second[:-1, :-1] / second[-1, -1] - np.outer(mean, mean)


def _leading_axes(source: PointSource, n_axes: int) -> tuple[Floats, Floats, Floats]:
    """Return mean, eigenvalues and eigenvectors (columns) of the covariance without ever forming it."""
    mean, variance = mean_and_variance(source)
    if not variance.any():
        return mean, np.zeros(n_axes), np.eye(source.n_columns, n_axes)
    dtype = source.dtype

    def covariance_times(vector: Floats) -> Floats:
        def times(chunk: Chunk) -> Floats:
            centered = chunk.filled - mean.astype(dtype)
            return (chunk.weights * (centered @ vector.astype(dtype)).ravel()) @ centered.astype(np.float64)

        return source.sum(times) / source.mass

    operator = LinearOperator((source.n_columns, source.n_columns), covariance_times, dtype=np.float64)
    return mean, *eigsh(operator, k=n_axes, v0=np.sqrt(variance))


def distinct_rows(source: PointSource) -> tuple[Indices, Floats]:
    """Return one index for each different sample of positive weight, and the weight of all that equal it."""
    present = np.flatnonzero(source.weights)
    (codes,) = source.gather(lambda chunk: (_row_codes(chunk.points),))
    _, first, same = np.unique(codes[present], return_index=True, return_inverse=True)
    return present[first].astype(np.int64), np.bincount(same, source.weights[present]).astype(np.float64)


def n_distinct(source: PointSource) -> int:
    """Return the number of different samples that stand for themselves; an estimate if there are too many to list."""
    if source.listed:
        return int(np.count_nonzero(distinct_rows(source)[0] < source.n_single))
    return source.sum(lambda chunk: Distinct.of(_mixed(_row_codes(chunk.points[: chunk.n_single])), MOST_CODES)).number


def sampling_order(source: PointSource, rng: np.random.RandomState) -> Indices:
    """Order samples by their distances to the mean: an order that depends on values, not on rows or columns.

    Samples at equal distances are ordered along the third moment of the data, and then along a random direction.
    """
    numbers = rng.normal(size=(1, source.n_columns))
    mean, variance = mean_and_variance(source)
    root = np.sqrt(source.metric)  # as distances measure, so that labels keep their share at all scales of features
    (distances,) = source.gather(lambda chunk: (_lengths((chunk.points - mean) * root),))
    ranks = _ranked(distances, distances)
    if len(ranks) and ranks.max() < len(ranks) - 1:
        moments = _moments(source, mean, variance)
        moment, most = moments[1:]
        (direction,) = _dealt(moments, numbers)

        def look(chunk: Chunk) -> tuple[Floats, Floats]:
            apart = (chunk.points - mean) * root
            return apart @ moment, apart @ direction

        along, across = source.gather(look)
        ranks = _ranked(along, distances * most, ranks)
        ranks = _ranked(across, distances * np.linalg.norm(direction), ranks)
    return np.argsort(ranks, kind="stable")


def column_noise(source: PointSource, rng: np.random.RandomState, n_rows: int) -> Floats:
    """Return normal random numbers (n_rows, D): those of a column depend on its values, not on its place."""
    numbers = rng.normal(size=(n_rows, source.n_columns))
    return _dealt(_moments(source, *mean_and_variance(source)), numbers)


def _dealt(moments: tuple[Floats, Floats, float], numbers: Floats) -> Floats:
    """Deal random numbers (m, D) to the columns in the order of their variances, and of their third moments."""
    variance, moment, most = moments
    ranks = _ranked(moment, np.full(len(moment), most), _ranked(variance, variance))
    dealt = np.empty_like(numbers)
    dealt[:, np.argsort(ranks, kind="stable")] = numbers
    return dealt


def random_axes(source: PointSource, rng: np.random.RandomState, n_prototypes: int, n_components: int) -> Floats:
    """Return random orthonormal axes (k, q, d) of each prototype, which do not depend on the order of features."""
    drawn = column_noise(source, rng, n_prototypes * n_components)[:, : source.n_features]
    columns = np.swapaxes(drawn.reshape(n_prototypes, n_components, -1), 1, 2)
    return np.swapaxes(np.linalg.qr(columns)[0], 1, 2)


def _moments(source: PointSource, mean: Floats, variance: Floats) -> tuple[Floats, Floats, float]:
    """Return the variance of every column, the third moment (D,), and how long it is at most, as distances measure."""
    unit = np.sqrt(source.metric @ variance) or 1.0
    root = np.sqrt(source.metric)

    def cubes(chunk: Chunk) -> Floats:
        apart = (chunk.points - mean) * root / unit
        lengths = _lengths(apart)
        squares = chunk.weights * lengths**2
        return np.append(squares @ apart, squares @ lengths)

    *moment, most = source.sum(cubes)
    return source.metric * variance, np.array(moment), most


def _lengths(vectors: Floats) -> Floats:
    return np.sqrt(np.einsum("ij,ij->i", vectors, vectors))


def _ranked(keys: Floats, sizes: Floats, ranks: Indices | None = None) -> Indices:
    """Rank by keys (n,), which are equal if they differ by a rounding of their sizes; by earlier ranks first."""
    ranks = np.zeros(len(keys), np.int64) if ranks is None else ranks
    order = np.lexsort((keys, ranks))
    steps = (np.diff(ranks[order]) > 0) | (np.diff(keys[order]) > TIED * sizes[order[1:]])
    refined = np.empty_like(ranks)
    refined[order] = np.concatenate([[0], np.cumsum(steps)])
    return refined


def inverse_cdf(cumulated: Floats, uniform: Floats) -> Indices:
    """Draw indices with probability proportional to the steps of ``cumulated``."""
    return np.minimum(np.searchsorted(cumulated, uniform * cumulated[-1], side="right"), len(cumulated) - 1)


def drawn_points(source: PointSource, most: int, rng: np.random.RandomState) -> tuple[Array, Array]:
    """Return samples (m, D) and their weights (m,): all, or so many that are drawn in proportion to their weights.

    Labels that are not known are zero, and values NaN. Samples that are too many to be listed are drawn without
    replacement.
    """
    if source.n_samples <= most:
        return source.picked(np.arange(source.n_samples)), source.weights
    if not source.listed:
        times = race(rng)
        drawn = source.sum(lambda chunk: Lowest.of(times(chunk) / chunk.weights, chunk.known, chunk.weights, most))
        return drawn.points, np.ones(len(drawn.points), source.dtype)
    order = sampling_order(source, rng)
    cumulated = np.cumsum(source.weights[order], dtype=np.float64)
    rows = np.sort(order[inverse_cdf(cumulated, rng.random_sample(most))])
    return source.picked(rows), np.ones(most, source.dtype)


def race(rng: np.random.RandomState) -> Callable[[Chunk], Floats]:
    """Return a function that gives each sample of a chunk an exponential random number, by its row among all.

    Divided by weights these are the times of a race, in which the first so many are drawn in proportion to their
    weights, without replacement.

    References
    ----------
    Efraimidis and Spirakis (2006). Weighted random sampling with a reservoir. Information Processing Letters.
    """
    seed = int(rng.randint(2**31))
    return lambda chunk: -np.log1p(-uniform_rows(seed, chunk.rows))


def uniform_rows(seed: int, rows: slice) -> Floats:
    """Return random numbers from 0 to 1 for some rows, each of which has its own.

    Examples
    --------
    >>> bool((uniform_rows(7, slice(0, 100))[37:51] == uniform_rows(7, slice(37, 51))).all())
    True
    """
    generator = np.random.Philox(key=seed)
    block, skipped = divmod(rows.start, 4)  # which come four at a time
    generator.advance(block)
    return np.random.Generator(generator).random(rows.stop - rows.start + skipped)[skipped:]


def most_candidates(n_prototypes: int) -> int:
    """Return the number of samples of which first prototypes are drawn, at most."""
    return max(2048, 64 * n_prototypes)


def _overseeded(source: PointSource, most: int, rng: np.random.RandomState) -> tuple[Floats, Floats]:
    """Return the samples that k-means|| draws in a few passes, with the weights of their receptive fields."""
    size = max(1, most // (2 * N_ROUNDS))
    points = source.filled(drawn_points(source, size, rng)[0])
    for _ in range(N_ROUNDS):
        look = Mean(points, source.metric, source.n_labels, source.partial).measure(source.dtype)
        times = race(rng)

        def far(chunk: Chunk, look: Any = look, times: Any = times) -> Lowest:
            odds = chunk.weights * np.maximum(look(chunk)[0].min(axis=1), 0.0)
            keys = np.divide(times(chunk), odds, out=np.full(len(odds), np.inf), where=odds > 0)
            return Lowest.of(keys, chunk.points, chunk.weights, size)  # Bahmani 2012, algorithm 2, so many a pass

        points = np.concatenate([points, source.filled(source.sum(far, len(points)).points)])
    k, find = len(points), Mean(points, source.metric, source.n_labels, source.partial).winner_search(source.dtype)
    weights = source.sum(lambda chunk: np.bincount(find(chunk), chunk.weights, k).astype(np.float64), k)
    return points.astype(np.float64), weights


def _draw(
    points: Floats,
    weights: Floats,
    metric: Floats,
    n_prototypes: int,
    rng: np.random.RandomState,
    power: float,
    n_candidates: int,
) -> Floats:
    """Draw points with probability proportional to weight times (squared distance to the nearest drawn) ^ power."""
    scaled = points * metric
    norms = (scaled * points).sum(axis=1)
    equal = 16 * np.finfo(np.float64).eps * norms  # nearer than rounding: the same point
    nearest = np.full(len(points), np.inf)
    odds = weights
    chosen: list[int] = []
    while len(chosen) < n_prototypes and odds.any():
        drawn = inverse_cdf(np.cumsum(odds), rng.random_sample(n_candidates if chosen else 1))
        distances = norms + norms[drawn, None] - 2.0 * (points[drawn] @ scaled.T)
        improved = np.minimum(nearest, np.maximum(distances, 0.0))
        best = first_lowest(improved @ weights)
        chosen.append(int(drawn[best]))
        nearest = improved[best]
        odds = np.where(nearest > equal, weights * nearest**power, 0.0)
    if len(chosen) < n_prototypes:
        warnings.warn(
            f"Only {len(chosen)} distinct samples for {n_prototypes} prototypes: some prototypes coincide. "
            "Use fewer prototypes.",
            ConvergenceWarning,
            stacklevel=2,
        )
    return points[np.resize(chosen, n_prototypes)]


def _candidates(source: PointSource, most: int, rng: np.random.RandomState) -> tuple[Floats, Floats]:
    """Return samples and weights to draw from, in an order of their own: all different ones, or a random subset."""
    if not source.listed:
        points, weights = drawn_points(source, most, rng)
        return source.filled(points).astype(np.float64), weights.astype(np.float64)
    order = sampling_order(source, rng)
    weights = source.weights.astype(np.float64)
    if source.n_samples > most:
        head = np.arange(min(source.n_samples, 2 * most))
        many = len(np.unique(_row_codes(source.picked(head))[weights[head] > 0])) > most
        indices, summed = (order, weights) if many else distinct_rows(source)
        if len(indices) > most:
            order = order[inverse_cdf(np.cumsum(weights[order]), rng.random_sample(most))]
            return source.rows(order).astype(np.float64), np.ones(most)
        weights = np.zeros(source.n_samples)
        weights[indices] = summed
        order = order[weights[order] > 0]
    return source.rows(order).astype(np.float64), weights[order]


def _row_codes(points: Array) -> NDArray[np.uint64]:
    """Hash the bits of each sample; equal samples have equal codes, and others hardly ever."""
    values = points + 0.0  # -0.0 is 0.0
    unsigned = np.dtype(f"u{values.dtype.itemsize}")
    bits = values.view(unsigned).astype(np.uint64)
    bits ^= bits >> np.uint64(unsigned.itemsize * 4 - 3)
    odd = 2 * np.random.default_rng(0).integers(1, 2**31, values.shape[1], dtype=np.uint64) + 1
    return (bits * odd).sum(axis=1, dtype=np.uint64)


def _mixed(codes: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return codes whose order says nothing about the samples."""
    for shift in (30, 27):
        codes = (codes ^ (codes >> np.uint64(shift))) * np.uint64(0x9E3779B97F4A7C15)
    return codes ^ (codes >> np.uint64(31))
