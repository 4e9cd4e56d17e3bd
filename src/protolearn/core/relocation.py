"""Relocation of prototypes that contribute little to where one more lowers the cost most.

Annealing distributes prototypes according to the density of the samples and misses small, remote groups. Subsequent
k-means epochs cannot correct this, since prototypes do not move between groups.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.sparse import csc_array

from protolearn.core.initialization import drawn_points
from protolearn.core.loop import anneal
from protolearn.core.neighborhoods import Winner
from protolearn.core.numerics import power_of_two
from protolearn.core.prototypes import Mean
from protolearn.core.sources import ArraySource, Chunk, PointSource
from protolearn.core.types import Array, Floats, Indices

__all__ = ["relocate"]

N_POWERS = 2  # steps of the power method for the direction in which a receptive field is cut
N_CUTS = 2  # steps of k-means with two prototypes in each receptive field
N_STEPS, N_FIRST = 10, 3  # steps of k-means after a move, at most, and those in which the cost must have fallen
N_TRIALS = 20  # single moves in vain, after which the search ends
MOST, SHARE = 4096, 64  # samples on which moves are tried, at most: in all, or for each prototype if that is more
LEAST = 1e-4  # share of the cost that a step of k-means must lower it by, or it is the last
WORTH = 2e-3  # share of the cost that a move must lower it by


def relocate(prototypes: Mean, source: PointSource, rng: np.random.RandomState) -> tuple[Mean, float]:
    """Lower the k-means cost by relocating prototypes; return the prototypes and their cost.

    For many samples, moves are tried on a random subset, and those that lower its cost are evaluated on all samples.

    Parameters
    ----------
    prototypes : Mean
        Current prototypes.
    source : PointSource
        The samples.
    rng : RandomState
        Random number generator for the subset.

    Returns
    -------
    prototypes : Mean
        Relocated prototypes.
    cost : float
        Half the sum of squared distances of the samples to their nearest prototypes.

    Examples
    --------
    Two of three prototypes share a group of samples, and the third has two groups:

    >>> import numpy as np
    >>> from protolearn.core.prototypes import Mean
    >>> from protolearn.core.relocation import relocate
    >>> from protolearn.core.sources import ArraySource
    >>> source = ArraySource(np.array([[0.0], [0.1], [50.0], [50.1], [90.0], [90.1]]), origin=np.zeros(1))
    >>> found, cost = relocate(Mean(np.array([[0.0], [0.1], [70.0]]), np.ones(1)), source, np.random.RandomState(0))
    >>> np.sort(found.positions.ravel()).round(6).tolist()
    [0.05, 50.05, 90.05]
    """
    prototypes, cost = _settled(prototypes, source)
    if len(prototypes) == 1:
        return prototypes, cost
    most = max(MOST, SHARE * len(prototypes))
    few = _some(source, most, rng)
    if source.n_samples <= most:
        return _search(prototypes, cost, few)
    found, _ = _search(*_settled(prototypes, few), few)
    moved, lower = _settled(found, source)
    return (moved, lower) if lower < cost else (prototypes, cost)


def _search(prototypes: Mean, cost: float, source: PointSource) -> tuple[Mean, float]:
    """Try moves as long as one of them lowers the cost."""
    n_moves, improved = len(prototypes) // 4, True
    while improved:
        losses, gains, halves = _prospects(prototypes, source)
        improved = False
        for moves in _trials(losses, gains, n_moves):
            positions = prototypes.positions.copy()
            for idle, split in moves:
                positions[[split, idle]] = halves[split]
            moved, lower = _settled(replace(prototypes, positions=positions), source, cost)
            if lower < cost * (1.0 - WORTH):
                prototypes, cost, n_moves, improved = moved, lower, len(moves), True
                break
    return prototypes, cost


def _settled(prototypes: Any, source: PointSource, hurdle: float = np.inf) -> tuple[Mean, float]:
    """Return prototypes after some steps of k-means, and their cost; only a few steps if it stays above a hurdle."""
    cost = np.inf
    for number, step in enumerate(anneal(prototypes, Winner(), source, np.zeros(N_STEPS))):
        here, before, cost = prototypes, cost, step.cost
        if cost >= before * (1.0 - LEAST) or (number == N_FIRST and cost > hurdle):
            break
        prototypes = step.prototypes
    return here, cost


def _some(source: PointSource, most: int, rng: np.random.RandomState) -> ArraySource:
    """Return all samples, or so many of them, drawn in proportion to their weights, as a source in memory."""
    points, weights = drawn_points(source, most, rng)
    features, labels = np.split(points, [source.n_features], axis=1)
    return ArraySource(
        features,
        weights=weights,
        labels=labels if source.n_labels else None,
        label_weight=source.label_weight,
        label_unit=source.label_unit,
        partial=source.partial,
        origin=np.zeros(source.n_features),
        n_threads=source.n_threads,
    )


def _prospects(prototypes: Mean, source: PointSource) -> tuple[Floats, Floats, Floats]:
    """Return what it costs to do without each prototype, what is gained by cutting its field, and both halves' means.

    Sums of k-means, all twice the cost: (k,), (k,) and (k, 2, D).
    """
    k = len(prototypes)
    measure = prototypes.measure(source.dtype)

    def look(chunk: Chunk) -> tuple[Indices, Floats]:
        distances, _ = measure(chunk)
        first = distances.argmin(axis=1)
        rows = np.arange(len(first))
        least = distances[rows, first]
        distances[rows, first] = np.inf
        return first, chunk.weights * (distances.min(axis=1) - least)

    winners, extra = source.gather(look, k)
    losses = np.bincount(winners, extra, k).astype(np.float64)
    return losses, *_cuts(prototypes, source, winners)


def _cuts(prototypes: Mean, source: PointSource, winners: Indices) -> tuple[Floats, Floats]:
    """Cut every receptive field in two, first across its main direction, then by k-means of two."""
    k, root = len(prototypes), np.sqrt(prototypes.metric).astype(source.dtype)
    positions = prototypes.positions.astype(source.dtype)
    unit = power_of_two(float(np.abs(positions).max(initial=0.0)))  # squares of squares must not overflow

    def gaps(chunk: Chunk) -> Array:
        return chunk.apart(positions[winners[chunk.rows]]) / source.dtype.type(unit) * root

    def sums(values: Array, factors: Array, rows: Array, n_rows: int = k) -> Floats:
        """Add up values (c, any), with factors (c,), by rows (c,)."""
        members = csc_array((factors, rows, np.arange(len(rows) + 1)), shape=(n_rows, len(rows)))
        return np.asarray(members @ values, np.float64)

    def shape(chunk: Chunk) -> Floats:
        gap = gaps(chunk)
        far = np.sqrt(np.einsum("ij,ij->i", gap, gap))[:, None] * gap
        return sums(np.hstack([far, gap**2]), chunk.weights, winners[chunk.rows])

    skewness, squares = np.hsplit(source.sum(shape), 2)  # a small distant group pulls the first most
    even = np.linalg.norm(skewness, axis=1) <= 1e-6 * squares.sum(axis=1)
    directions = np.where(even[:, None], np.eye(len(root))[squares.argmax(axis=1)], skewness)
    for _ in range(N_POWERS):
        v = _unit(directions).astype(source.dtype)

        def turned(chunk: Chunk, v: Array = v) -> Floats:
            own, gap = winners[chunk.rows], gaps(chunk)
            return sums(gap, chunk.weights * np.einsum("ij,ij->i", gap, v[own]), own)

        directions = source.sum(turned)
    thresholds = np.zeros(k)
    for _ in range(N_CUTS):
        v, t = _unit(directions).astype(source.dtype), thresholds.astype(source.dtype)

        def halves(chunk: Chunk, v: Array = v, t: Array = t) -> Floats:
            own, gap = winners[chunk.rows], gaps(chunk)
            rows = 2 * own + (np.einsum("ij,ij->i", gap, v[own]) > t[own])
            return np.column_stack([sums(gap, chunk.weights, rows, 2 * k), np.bincount(rows, chunk.weights, 2 * k)])

        both = source.sum(halves).reshape(k, 2, -1)
        masses = both[:, :, -1:]
        means = both[:, :, :-1] / np.where(masses > 0, masses, 1.0)
        directions = means[:, 1] - means[:, 0]
        thresholds = 0.5 * ((means[:, 1] + means[:, 0]) * _unit(directions)).sum(axis=1)
    total = masses.sum(axis=(1, 2))
    gains = masses.prod(axis=(1, 2)) / np.where(total > 0, total, 1.0) * (directions**2).sum(axis=1)
    lighter = masses[:, 0, 0] < masses[:, 1, 0] * (1.0 - 1e-9)
    means[lighter] = means[lighter, ::-1]  # the heavier half keeps the index
    inverse = np.divide(1.0, root, where=root > 0, out=np.zeros_like(root))
    return gains * unit**2, prototypes.positions[:, None] + means * inverse * unit


def _trials(losses: Floats, gains: Floats, n_moves: int) -> Iterator[list[tuple[int, int]]]:
    """Yield moves (idle, split) worth a trial: several at once, half as many and so on, and then the best single ones.

    Those that promise most come first, and of equal ones those of lower index.
    """
    scale = float(max(losses.max(), gains.max())) or 1.0
    losses, gains = np.round(losses / scale, 9), np.round(gains / scale, 9)  # so that rounding decides nothing
    idle, split = np.argsort(losses, kind="stable"), np.argsort(-gains, kind="stable")
    pairs = [(int(i), int(s)) for i, s in zip(idle, split) if gains[s] > losses[i]]
    apart = [pair for pair in pairs if pair[0] not in split[: len(pairs)]]
    while n_moves > 1:
        if len(apart) >= n_moves:
            yield apart[:n_moves]
        n_moves //= 2
    single = [(int(i), int(s)) for s in split[:N_TRIALS] for i in idle[:N_TRIALS] if i != s]
    single.sort(key=lambda pair: losses[pair[0]] - gains[pair[1]])
    yield from ([pair] for pair in single[:N_TRIALS])


def _unit(vectors: Floats) -> Floats:
    """Return vectors of length one, or zero."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)
