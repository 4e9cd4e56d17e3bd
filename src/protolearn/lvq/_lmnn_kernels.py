"""Compiled loops of the large margin cost: distances to target neighbors, near pairs, and what pulls and pushes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from protolearn.core.compiling import FROM_PYTHON, WITHIN_LOOPS
from protolearn.core.types import Floats, Indices

ROUNDED_DOWN = 1.0 - 1e-6  # lower bounds stay such as float32
BLOCK = 64  # columns of a tile at a time
SUMS = {"reassoc", "contract", "nsz"}  # sums may be added in any order, so that they use vector instructions


@njit(**WITHIN_LOOPS, fastmath=SUMS)
def _squared_distance(Z: Floats, i: int, j: int, enough: float) -> float:
    """Return the squared distance of two rows, or a part of it that already exceeds ``enough``."""
    width = Z.shape[1]
    distance = 0.0
    for start in range(0, width, 32):
        for m in range(start, min(start + 32, width)):
            step = Z[i, m] - Z[j, m]
            distance += step * step
        if distance > enough:
            break
    return distance


@njit(**WITHIN_LOOPS, fastmath=SUMS)
def _tie(V: Floats, i: int, j: int, weight: float, product: Floats) -> None:
    """Add the part of one pair, ``weight (e_i - e_j) (e_i - e_j)^T V``, to the product of the Laplacian with V."""
    for m in range(V.shape[1]):
        force = weight * (V[i, m] - V[j, m])
        product[i, m] += force
        product[j, m] -= force


@njit(**FROM_PYTHON)
def target_distances(Z: Floats, targets: Indices, distances: Floats) -> None:
    """Write the squared distances (n, k) of samples to their target neighbors."""
    for i in range(len(targets)):
        for t in range(targets.shape[1]):
            distances[i, t] = _squared_distance(Z, i, targets[i, t], np.inf)


@njit(**FROM_PYTHON)
def near_pairs(
    products: Floats,
    of_rows: Floats,
    of_columns: Floats,
    radii: Floats,
    allowances: Floats,
    row: int,
    column: int,
    pairs: NDArray[np.int32],
    gaps: NDArray[np.float32],
) -> tuple[int, int]:
    """Write the pairs of a tile that are nearer than the larger radius, and those nearer than that plus allowances.

    ``products`` (r, c) are the inner products of samples ``row, row + 1, ...`` with samples ``column, ...``, whose
    squared lengths are ``of_rows`` (r,) and ``of_columns`` (c,). The first pairs go to the front of ``pairs`` (at least
    r c, 2) and the others to its end, and lower bounds of their distances to ``gaps``; their numbers are returned.
    """
    n_rows, n_columns = products.shape
    near = 0
    almost = 0
    for a in range(n_rows):
        i = row + a
        for start in range(0, n_columns, BLOCK):
            stop = min(start + BLOCK, n_columns)
            at = slice(start, stop)
            others = slice(column + start, column + stop)
            if not _any_within(
                products[a, at], of_rows[a], of_columns[at], radii[i], radii[others], allowances[i], allowances[others]
            ):
                continue
            for b in range(start, stop):
                j = column + b
                distance = of_rows[a] + of_columns[b] - 2.0 * products[a, b]
                radius = max(radii[i], radii[j])
                reach = radius + allowances[i] + allowances[j]
                if distance < reach * reach:
                    if distance < radius * radius:
                        place = near
                        near += 1
                    else:
                        almost += 1
                        place = len(pairs) - almost
                    pairs[place, 0] = i
                    pairs[place, 1] = j
                    gaps[place] = ROUNDED_DOWN * np.sqrt(max(distance, 0.0))
    return near, almost


@njit(**WITHIN_LOOPS)
def _any_within(
    products: Floats, length: float, lengths: Floats, radius: float, radii: Floats, allowance: float, allowances: Floats
) -> bool:
    """Say whether a row has any such pair in some columns: a sum without branches, which uses vector instructions."""
    found = 0
    for b in range(len(products)):
        reach = max(radius, radii[b]) + allowance + allowances[b]
        found += length + lengths[b] - 2.0 * products[b] < reach * reach
    return found > 0


@njit(**FROM_PYTHON)
def push(
    pairs: NDArray[np.int32],
    gaps: NDArray[np.float32],
    scale: float,
    moved: Floats,
    Z: Floats,
    V: Floats,
    margins: Floats,
    radii: Floats,
    smoothing: float,
    strength: float,
    active: Floats,
    product: Floats,
) -> tuple[float, float]:
    """Add the active triples among some pairs of different classes; return the sums of hinges, exact and smoothed.

    Pairs are at least ``scale`` times their ``gaps`` apart, but for what samples have ``moved``. ``margins`` (k, n) are
    the squared distances to the targets plus one, and the largest is the square of the radius. ``active`` (k, n) gains
    the number of active triples of each target, and ``product`` (n, m) the part of these pairs in the product of the
    Laplacian with V.
    """
    exact = 0.0
    smoothed = 0.0
    for p in range(len(pairs)):
        i: Any = np.int64(pairs[p, 0])  # as elsewhere, so that functions are compiled for one type of index only
        j: Any = np.int64(pairs[p, 1])
        radius = max(radii[i], radii[j])
        if scale * gaps[p] - moved[i] - moved[j] >= radius:
            continue
        distance = _squared_distance(Z, i, j, radius * radius)
        weight = 0.0
        for s in (i, j):
            for t in range(len(margins)):
                excess = margins[t, s] - distance
                if excess > 0.0:
                    slope = 1.0 if excess >= smoothing else excess / smoothing
                    exact += excess
                    smoothed += slope * (excess - 0.5 * smoothing * slope)
                    active[t, s] += slope
                    weight += slope
        if weight > 0.0:
            _tie(V, i, j, -strength * weight, product)
    return exact, smoothed


@njit(**FROM_PYTHON, fastmath=SUMS)
def push_tile(
    products: Floats,
    of_rows: Floats,
    of_columns: Floats,
    margins_of_rows: Floats,
    margins_of_columns: Floats,
    smoothing: float,
    active_rows: Floats,
    active_columns: Floats,
) -> tuple[float, float]:
    """Do the same for all pairs of a tile, given inner products, in whose place the weights of the pairs come.

    Loops go along a few columns at a time without a branch, so that they use vector instructions and the first cache.
    """
    n_targets, n_columns = margins_of_columns.shape
    linear = 0.0  # sum of slope times excess
    squares = 0.0  # of slopes
    exact = 0.0
    margins = np.empty((n_targets, BLOCK))
    active = np.empty((n_targets, BLOCK))
    distances = np.empty(BLOCK)
    weights = np.empty(BLOCK)
    for start in range(0, n_columns, BLOCK):
        n = min(BLOCK, n_columns - start)
        for t in range(n_targets):
            for b in range(n):
                margins[t, b], active[t, b] = margins_of_columns[t, start + b], 0.0
        for a in range(len(products)):
            for b in range(n):
                distances[b] = of_rows[a] + of_columns[start + b] - 2.0 * products[a, start + b]
                weights[b] = 0.0
            for t in range(n_targets):
                margin, of_others, counts = margins_of_rows[t, a], margins[t], active[t]
                total = 0.0
                if smoothing == 0.0:
                    for b in range(n):
                        slope = 1.0 if distances[b] < margin else 0.0
                        other = 1.0 if distances[b] < of_others[b] else 0.0
                        total += slope
                        counts[b] += other
                        weights[b] += slope + other
                else:
                    for b in range(n):
                        excess = max(margin - distances[b], 0.0)
                        excess_of_other = max(of_others[b] - distances[b], 0.0)
                        slope = min(excess / smoothing, 1.0)
                        other = min(excess_of_other / smoothing, 1.0)
                        exact += excess + excess_of_other
                        squares += slope * slope + other * other
                        total += slope
                        counts[b] += other
                        weights[b] += slope + other
                active_rows[t, a] += total
                linear += margin * total
            for b in range(n):
                linear -= weights[b] * distances[b]
                products[a, start + b] = weights[b]
        for t in range(n_targets):
            for b in range(n):
                active_columns[t, start + b] += active[t, b]
                linear += margins[t, b] * active[t, b]
    return (linear if smoothing == 0.0 else exact), linear - 0.5 * smoothing * squares


@njit(**FROM_PYTHON)
def pull(targets: Indices, weights: Floats, V: Floats, product: Floats) -> None:
    """Add the part of the target neighbors, with weights (n, k), to the product of the Laplacian with V."""
    for i in range(len(targets)):
        for t in range(targets.shape[1]):
            _tie(V, i, targets[i, t], weights[i, t], product)
