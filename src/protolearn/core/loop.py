"""Training loop of every map: compute sums with the current prototypes, update, lower the neighborhood range."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from protolearn.core.initialization import inverse_cdf, mean_and_variance, sampling_order
from protolearn.core.neighborhoods import Neighborhood, is_compiled, search_of
from protolearn.core.neighbors import two_nearest
from protolearn.core.prototypes import Mean, Prototypes
from protolearn.core.sources import ArraySource, Chunk, PointSource
from protolearn.core.statistics import Lowest
from protolearn.core.types import Array, Bools, Floats, Indices

__all__ = ["Step", "anneal", "batch", "distances_to", "learn_online", "nearest", "stage", "until_still", "winners"]


N_GAINS = 16  # times in an epoch of online learning that factors of winners are found anew


@dataclass(frozen=True)
class Step:
    """One epoch: the prototypes after it, the range it used, cost and masses of the prototypes before it.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.core.loop import Step
    >>> from protolearn.core.prototypes import Mean
    >>> step = Step(Mean(np.zeros((1, 2)), np.ones(2)), range_=0.5, cost=3.0, mass=np.array([4.0]))
    >>> step.moved(Mean(np.ones((1, 2)), np.ones(2))).prototypes.positions.tolist(), step.cost
    ([[1.0, 1.0]], 3.0)
    """

    prototypes: Prototypes
    range_: float
    cost: float
    mass: Floats
    edges: Floats | None = None  # made by online learning up to there, if asked for
    still: bool | None = None  # whether prototypes have come to rest; unknown where a schedule ends learning

    def moved(self, prototypes: Prototypes) -> Step:
        """Return the same epoch with other prototypes after it."""
        return replace(self, prototypes=prototypes)


def anneal(prototypes: Prototypes, neighborhood: Neighborhood, source: PointSource, ranges: Floats) -> Iterator[Step]:
    """Run batch learning, which minimizes ``E = 1/2 sum_j u_j sum_i h_ij d(x_j, w_i)`` alternately in h and w.

    At a fixed range, neither half-step increases the cost.

    Parameters
    ----------
    prototypes : Prototypes
        Initial prototypes.
    neighborhood : Neighborhood
        Which prototypes a sample updates.
    source : PointSource
        The samples.
    ranges : ndarray of shape (n_epochs,)
        Neighborhood range of each epoch.

    Yields
    ------
    Step
        Each epoch.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.core.neighborhoods import Winner
    >>> from protolearn.core.loop import anneal
    >>> from protolearn.core.prototypes import Mean
    >>> from protolearn.core.sources import ArraySource
    >>> source = ArraySource(np.array([[0.0], [2.0], [10.0]]), origin=np.zeros(1))
    >>> start = Mean(np.array([[0.0], [4.0]]), np.ones(1))
    >>> [step.cost for step in anneal(start, Winner(), source, np.zeros(3))]  # those of the places before
    [20.0, 1.0, 1.0]
    """
    for range_ in ranges:
        statistics = neighborhood.gather(prototypes, source, range_)
        cost = prototypes.cost(statistics)
        prototypes = prototypes.update(statistics)
        yield Step(prototypes, float(range_), cost, statistics.mass)


def batch(
    prototypes: Any, neighborhood: Neighborhood, source: Any, ranges: Floats, rng: np.random.RandomState
) -> Iterator[Step]:
    """Run the epochs of batch learning, which is deterministic.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.core.neighborhoods import Winner
    >>> from protolearn.core.loop import batch, stage
    >>> prototypes, source = stage(np.array([[0.0], [2.0], [10.0]]), np.array([[0.0], [4.0]]))
    >>> *_, last = batch(prototypes, Winner(), source, np.zeros(3), np.random.RandomState(0))
    >>> (source.origin + last.prototypes.positions).round(6).tolist()
    [[1.0], [10.0]]
    """
    return anneal(prototypes, neighborhood, source, ranges)


def until_still(
    prototypes: Any,
    neighborhood: Neighborhood,
    source: Any,
    ranges: Floats,
    rng: np.random.RandomState,
    *,
    tol: float,
    reseeds: bool,
) -> Iterator[Step]:
    """Run batch epochs until convergence; idle prototypes may move to the samples farthest from their prototypes.

    Prototypes have converged if their squared movement is below ``tol`` times the mean variance of the columns.

    Parameters
    ----------
    prototypes, neighborhood, source, ranges, rng : object
        The same as for `batch`.
    tol : float
        Convergence tolerance.
    reseeds : bool
        Whether idle prototypes are moved.

    Yields
    ------
    Step
        Each epoch.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.core.neighborhoods import Winner
    >>> from protolearn.core.loop import stage, until_still
    >>> start = stage(np.array([[0.0], [2.0], [10.0]]), np.array([[0.0], [4.0]]))
    >>> common = np.zeros(100), np.random.RandomState(0)
    >>> steps = list(until_still(start[0], Winner(), start[1], *common, tol=1e-4, reseeds=False))
    >>> len(steps) < 10
    True
    """
    still = tol * mean_and_variance(source)[1].mean() if tol else 0.0
    before = np.inf
    for range_ in ranges:
        (step,) = anneal(prototypes, neighborhood, source, np.array([range_]))
        idle = step.mass == 0
        if reseeds and idle.any():
            step = step.moved(_reseeded(step.prototypes, idle, source))
        flat = prototypes.linear or before - step.cost <= 0.01 * tol * abs(step.cost)
        rests = flat and bool(((step.prototypes.positions - prototypes.positions) ** 2).sum() <= still)
        yield replace(step, still=rests)
        if rests:
            return
        prototypes, before = step.prototypes, step.cost


def _reseeded(prototypes: Any, idle: Bools, source: PointSource) -> Any:
    """Move idle prototypes to the samples that are farthest from their own prototype."""
    find, n_idle = prototypes.winner_search(source.dtype), int(idle.sum())
    places, metric = prototypes.positions.astype(source.dtype), prototypes.metric.astype(source.dtype)

    def far(chunk: Chunk) -> Lowest:
        squared = np.square(chunk.apart(places[find(chunk)])) @ metric
        return Lowest.of(np.where(chunk.weights > 0, -squared, np.inf), chunk.filled, chunk.weights, n_idle)

    farthest = source.sum(far, len(prototypes)).points
    positions = prototypes.positions.copy()
    positions[np.flatnonzero(idle)[: len(farthest)]] = farthest
    return replace(prototypes, positions=positions)


def learn_online(
    prototypes: Mean,
    neighborhood: Neighborhood,
    source: ArraySource,
    n_epochs: int,
    ranges: Floats,
    rates: Floats,
    rng: np.random.RandomState,
    gains: Callable[[Floats], Floats] | None = None,
    lifetime: int | None = None,
) -> Iterator[Step]:
    """Run online learning: draw samples with probabilities proportional to their weights and update after each.

    ``ranges`` and ``rates`` are curves over all epochs, sampled at equal distances, and each step has its own values.
    ``gains`` are factors (k,) on the steps of winners at positions (k, D), recomputed a few times in each epoch. With a
    ``lifetime``, edges between the two nearest prototypes are built during training, and expire after this number of
    wins.

    Parameters
    ----------
    prototypes : Mean
        Initial prototypes.
    neighborhood : Neighborhood
        Which prototypes a sample updates.
    source : ArraySource
        The samples.
    n_epochs : int
        Number of epochs.
    ranges, rates : ndarray
        Schedules of the neighborhood range and the learning rate.
    rng : RandomState
        Draws the samples.
    gains : callable, optional
        Function that returns the factors of the steps.
    lifetime : int, optional
        Lifetime of edges, in wins.

    Yields
    ------
    Step
        Each epoch.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.core.neighborhoods import Winner
    >>> from protolearn.core.loop import learn_online
    >>> from protolearn.core.prototypes import Mean
    >>> from protolearn.core.sources import ArraySource
    >>> source = ArraySource(np.array([[0.0], [1.0], [9.0], [10.0]]), origin=np.zeros(1))
    >>> start, curve = Mean(np.array([[4.0], [6.0]]), np.ones(1)), np.full(5, 0.2)
    >>> *_, last = learn_online(start, Winner(), source, 5, curve, curve, np.random.RandomState(0))
    >>> bool(last.prototypes.positions[0, 0] < 2.0 and last.prototypes.positions[1, 0] > 8.0)
    True
    """
    n, k = source.n_samples, len(prototypes)
    order = sampling_order(source, rng)
    cumulated = np.cumsum(source.weights[order], dtype=np.float64)
    metric = source.metric.astype(source.dtype)
    if lifetime is not None:
        from protolearn.core._kernels import link_winners

        edges, ages = np.zeros((k, k)), np.zeros((k, k), np.int64)
    for epoch in range(n_epochs):
        steps = epoch + np.arange(n) / n
        falling = _along(ranges, steps / n_epochs), _along(rates, steps / n_epochs)
        range_ = float(falling[0][0])
        statistics = neighborhood.gather(prototypes, source, range_)
        drawn = order[inverse_cdf(cumulated, rng.random_sample((n,)))]
        cost = prototypes.cost(statistics)
        positions = prototypes.positions.astype(source.dtype)
        for rows in source.slices() if gains is None else _cut(source.slices(), -(-n // N_GAINS)):
            points = source.picked(drawn[rows])
            if source.labels is not None:
                points[~source.labels.known[drawn[rows]], source.n_features :] = np.nan
            factors = None if gains is None else gains(positions)
            seen = neighborhood.learn_online(points, positions, metric, falling[1][rows], falling[0][rows], factors)
            if lifetime is not None:
                link_winners(seen, edges, ages, lifetime)
        prototypes = replace(prototypes, positions=positions.astype(np.float64))
        yield Step(prototypes, range_, cost, statistics.mass, None if lifetime is None else edges.copy())


def nearest(prototypes: Prototypes, source: PointSource) -> Indices:
    """Return the nearest prototype of every sample.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.core.loop import nearest, stage
    >>> nearest(*stage(np.array([[0.0], [8.0], [9.0]]), np.array([[1.0], [9.0]]))).tolist()
    [0, 1, 1]
    """
    if _is_searched(prototypes, source):
        find = search_of(prototypes).nearest
        (first,) = source.gather(lambda chunk: (find(chunk.lifted),), len(prototypes))
        return first.astype(np.int64)
    search = prototypes.winner_search(source.dtype)
    (first,) = source.gather(lambda chunk: (search(chunk),), len(prototypes))
    return first


def winners(prototypes: Prototypes, source: PointSource) -> tuple[Indices, Indices]:
    """Return the nearest and second nearest prototype of every sample.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.core.loop import stage, winners
    >>> first, second = winners(*stage(np.array([[0.0], [8.0]]), np.array([[1.0], [4.0], [9.0]])))
    >>> first.tolist(), second.tolist()
    ([0, 2], [1, 1])
    """
    if _is_searched(prototypes, source):
        search = search_of(prototypes)
        first, second = source.gather(lambda chunk: search.two_nearest(chunk.lifted), len(prototypes))
        return first.astype(np.int64), second.astype(np.int64)
    measure = prototypes.measure(source.dtype)
    first, second = source.gather(lambda chunk: two_nearest(measure(chunk)[0]), len(prototypes))
    return first, second


def _is_searched(prototypes: Prototypes, source: PointSource) -> bool:
    """Say whether points are so many that compiled code finds the nearest ones."""
    return isinstance(prototypes, Mean) and is_compiled(prototypes, source)


def distances_to(prototypes: Prototypes, source: PointSource, chosen: Indices) -> Array:
    """Return the squared distance of every sample, without label, to a prototype, exact where squares would cancel.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.core.loop import distances_to, stage
    >>> prototypes, source = stage(np.array([[0.0], [8.0]]), np.array([[1.0], [9.0]]))
    >>> distances_to(prototypes, source, np.array([0, 0])).tolist()  # of both samples to the first prototype
    [1.0, 49.0]
    """
    positions, metric = prototypes.positions.astype(source.dtype), prototypes.metric.astype(source.dtype)

    def measure(chunk: Chunk) -> tuple[Array]:
        gaps = chunk.apart(positions[chosen[chunk.rows]])
        squared = np.square(gaps, out=gaps) @ metric
        return (squared if chunk.gaps is None else squared * chunk.gaps.shape[1] / (~chunk.gaps).sum(axis=1),)

    (squared,) = source.gather(measure)
    return squared


def stage(X: Array, positions: Array, n_threads: int = 1, partial: bool = False) -> tuple[Mean, ArraySource]:
    """Set positions (k, d) and samples (n, d) into common coordinates, to be read once.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Samples.
    positions : ndarray of shape (k, d)
        Prototypes.
    n_threads : int, default=1
        Threads over which chunks are spread.
    partial : bool, default=False
        Whether samples may have gaps (NaN), which take no part in distances.

    Returns
    -------
    prototypes : Mean
        Prototypes, measured from the origin of the source.
    source : ArraySource
        The samples.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.core.loop import stage
    >>> prototypes, source = stage(np.array([[100.0], [103.0]]), np.array([[101.0]]))
    >>> source.origin.tolist(), prototypes.positions.tolist(), source.rows(np.arange(2)).tolist()
    ([101.0], [[0.0]], [[-1.0], [2.0]])
    """
    partial = partial and bool(np.isnan(X).any())
    origin = np.median(positions, axis=0)  # not the mean, which a single outlier would take far from all others
    source = ArraySource(X, origin=origin, partial=partial, n_threads=n_threads, keep=False)
    return Mean(positions - source.origin, source.metric, partial=partial), source


def _cut(slices: list[slice], size: int) -> list[slice]:
    """Cut slices into parts of at most so many rows."""
    return [slice(a, min(a + size, part.stop)) for part in slices for a in range(part.start, part.stop, size)]


def _along(curve: Floats, passed: Floats) -> Floats:
    """Return the values of a sampled curve at shares in [0, 1) of its length."""
    return np.interp(passed * len(curve), np.arange(len(curve)), curve)
