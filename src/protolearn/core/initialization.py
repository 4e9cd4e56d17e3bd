"""Where prototypes start.

Every draw depends on the samples and their weights only, not on their order: a sample of weight two behaves exactly
like two equal samples.
"""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator, eigsh
from sklearn.exceptions import ConvergenceWarning

from protolearn.core.signs import largest_positive
from protolearn.core.sources import ArraySource, Chunk
from protolearn.core.ties import first_lowest
from protolearn.core.types import Array, Floats, Indices

MOST_STEPS = 256  # different values of a feature that is recorded in steps

__all__ = ["around_center", "distinct_samples", "on_principal_plane", "spread_samples"]


def around_center(source: ArraySource, n_prototypes: int, rng: np.random.RandomState) -> Floats:
    """Small distinct values around the mean, a thousandth of the spread of each column."""
    mean, variance = mean_and_variance(source)
    return mean + 1e-3 * np.sqrt(variance) * rng.normal(size=(n_prototypes, source.n_columns))


def on_principal_plane(source: ArraySource, coordinates: Floats) -> Floats:
    """Stretch lattice coordinates (k, 2) over the plane of the two largest principal components.

    Each axis gets the standard deviation of the data along it.
    """
    mean, values, axes = principal_axes(source, coordinates.shape[1])
    centered = coordinates - coordinates.mean(axis=0)
    spread = centered.std(axis=0)
    flat = spread == 0
    scaled = centered[:, : len(values)] / np.where(flat, 1.0, spread)[: len(values)]
    return mean + (scaled * np.sqrt(values)) @ axes


def spread_samples(source: ArraySource, n_prototypes: int, rng: np.random.RandomState) -> Floats:
    """k-means++: samples drawn with probability proportional to the squared distance from those drawn before.

    Of a few candidates at each draw the one is kept that lowers the quantization error most.

    References
    ----------
    Arthur and Vassilvitskii (2007). k-means++: the advantages of careful seeding. SODA.
    """
    return _draw_samples(source, n_prototypes, rng, power=1.0, n_candidates=2 + int(np.log(n_prototypes)))


def distinct_samples(source: ArraySource, n_prototypes: int, rng: np.random.RandomState) -> Floats:
    """Random samples, no two of them equal."""
    return _draw_samples(source, n_prototypes, rng, power=0.0, n_candidates=1)


def mean_and_variance(source: ArraySource) -> tuple[Floats, Floats]:
    """Return weighted mean and variance of every column, in the source's coordinates."""

    def moments(chunk: Chunk) -> Floats:
        columns = source.points(chunk)
        return np.vstack([chunk.weights @ columns, chunk.weights @ columns**2]).astype(np.float64)

    first, second = source.sum(moments)
    mass = source.weights.sum(dtype=np.float64)
    mean = first / mass
    return mean, np.maximum(second / mass - mean**2, 0.0)


def resolutions(source: ArraySource) -> Floats:
    """Return the smallest step between two values of each feature, 0 for one with hundreds of values, or one only.

    In the source's coordinates. Values with steps are those of counts, grades, pixels and yes or no. Samples that stand
    for others, and values that are not known, do not count.
    """
    d, n = source.n_features, source.n_single
    values: list[Array] = [np.empty(0, source.dtype)] * d
    open_ = np.ones(d, bool)
    for rows in source.slices():
        part = slice(rows.start, min(rows.stop, n))
        known = None if source.gaps is None else ~source.gaps[part]
        for a in np.flatnonzero(open_):
            column = source.X[part, a]
            values[a] = np.union1d(values[a], column if known is None else column[known[:, a]])
            open_[a] = len(values[a]) <= MOST_STEPS
        if not open_.any():
            break
    steps = [np.diff(values[a]).min(initial=np.inf) if open_[a] else np.inf for a in range(d)]
    return np.where(np.isfinite(steps), steps, 0.0) * source.scale


def total_variance(X: Array, weights: Array, n_threads: int = 1) -> float:
    """Return the weighted mean squared distance of samples (n, d) to their mean."""
    return float(mean_and_variance(ArraySource(X, weights=weights, n_threads=n_threads, keep=False))[1].sum())


def principal_axes(source: ArraySource, n_axes: int) -> tuple[Floats, Floats, Floats]:
    """Return the mean, and the largest eigenvalues and eigenvectors (rows) of the covariance, signs fixed."""
    if source.n_columns <= 1024:
        mean, covariance = mean_and_covariance(source)
        values, vectors = np.linalg.eigh(covariance)
    else:  # the covariance would not fit in a cache, or in memory
        mean, values, vectors = _leading_axes(source, n_axes)
    largest = np.argsort(values)[::-1][:n_axes]
    return mean, np.maximum(values[largest], 0.0), largest_positive(vectors[:, largest].T, axis=1)


def mean_and_covariance(source: ArraySource) -> tuple[Floats, Floats]:
    """Return weighted mean and covariance of all columns, in the source's coordinates."""

    def moments(chunk: Chunk) -> Floats:
        points = np.column_stack([source.points(chunk), chunk.lifted[:, -2]])  # with the column of ones
        return ((chunk.weights[:, None] * points).T @ points).astype(np.float64)

    second = source.sum(moments, source.n_columns)
    mean = second[-1, :-1] / second[-1, -1]
    return mean, second[:-1, :-1] / second[-1, -1] - np.outer(mean, mean)


def _leading_axes(source: ArraySource, n_axes: int) -> tuple[Floats, Floats, Floats]:
    """Return mean, eigenvalues and eigenvectors (columns) of the covariance without ever forming it."""
    mean, variance = mean_and_variance(source)
    if not variance.any():
        return mean, np.zeros(n_axes), np.eye(source.n_columns, n_axes)
    mass = source.weights.sum(dtype=np.float64)

    def covariance_times(vector: Floats) -> Floats:
        def times(chunk: Chunk) -> Floats:
            centered = source.points(chunk) - mean.astype(source.dtype)
            return (chunk.weights * (centered @ vector.astype(source.dtype)).ravel()) @ centered.astype(np.float64)

        return source.sum(times) / mass

    operator = LinearOperator((source.n_columns, source.n_columns), covariance_times, dtype=np.float64)
    return mean, *eigsh(operator, k=n_axes, v0=np.sqrt(variance))


def distinct_rows(source: ArraySource) -> tuple[Indices, Floats]:
    """Return one index for each different sample of positive weight, and the weight of all that equal it."""
    present = np.flatnonzero(source.weights)
    (codes,) = source.gather(lambda chunk: (_row_codes(chunk),))
    _, first, same = np.unique(codes[present], return_index=True, return_inverse=True)
    return present[first].astype(np.int64), np.bincount(same, source.weights[present]).astype(np.float64)


def sampling_order(source: ArraySource, rng: np.random.RandomState) -> Indices:
    """Order samples along a random direction: an order that depends on their values only."""
    direction = rng.normal(size=source.n_columns).astype(source.dtype)
    (heights,) = source.gather(lambda chunk: (chunk.points @ direction,))
    return np.argsort(heights, kind="stable")


def inverse_cdf(cumulated: Floats, uniform: Floats) -> Indices:
    """Draw indices with probability proportional to the steps of ``cumulated``."""
    return np.minimum(np.searchsorted(cumulated, uniform * cumulated[-1], side="right"), len(cumulated) - 1)


def _draw_samples(
    source: ArraySource, n_prototypes: int, rng: np.random.RandomState, power: float, n_candidates: int
) -> Floats:
    """Draw samples with probability proportional to weight times (squared distance to the nearest drawn) ^ power."""
    points, weights = _candidates(source, max(2048, 64 * n_prototypes), rng)
    scaled = points * source.metric
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


def _candidates(source: ArraySource, most: int, rng: np.random.RandomState) -> tuple[Floats, Floats]:
    """Return samples and weights to draw from, in an order of their own: all different ones, or a random subset."""
    order = sampling_order(source, rng)
    weights = source.weights.astype(np.float64)
    if source.n_samples > most:
        head = source.chunk(slice(0, 2 * most))
        many = len(np.unique(_row_codes(head)[head.weights > 0])) > most
        indices, summed = (order, weights) if many else distinct_rows(source)
        if len(indices) > most:
            order = order[inverse_cdf(np.cumsum(weights[order]), rng.random_sample(most))]
            return source.rows(order).astype(np.float64), np.ones(most)
        weights = np.zeros(source.n_samples)
        weights[indices] = summed
        order = order[weights[order] > 0]
    return source.rows(order).astype(np.float64), weights[order]


def _row_codes(chunk: Chunk) -> NDArray[np.uint64]:
    """Hash the bits of each sample; equal samples have equal codes, and others hardly ever."""
    values = chunk.points + 0.0  # -0.0 is 0.0
    unsigned = np.dtype(f"u{values.dtype.itemsize}")
    bits = values.view(unsigned).astype(np.uint64)
    bits ^= bits >> np.uint64(unsigned.itemsize * 4 - 3)
    odd = 2 * np.random.default_rng(0).integers(1, 2**31, values.shape[1], dtype=np.uint64) + 1
    return (bits * odd).sum(axis=1, dtype=np.uint64)
