"""Compiled loops of the large margin cost: near pairs, and what pushes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from protolearn.core.compiling import FROM_PYTHON, WITHIN_LOOPS
from protolearn.core.types import Floats

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
def near_pairs(
    products: Floats,
    of_rows: Floats,
    of_columns: Floats,
    radii_of_rows: Floats,
    radii_of_columns: Floats,
    allowances_of_rows: Floats,
    allowances_of_columns: Floats,
    row: int,
    column: int,
    pairs: NDArray[np.int32],
    gaps: NDArray[np.float32],
) -> tuple[int, int]:
    """Write the pairs of a tile that are nearer than the larger radius, and those nearer than that plus allowances.

    ``products`` (r, c) are the inner products of samples ``row, row + 1, ...`` with samples ``column, ...``, whose
    squared lengths are ``of_rows`` (r,) and ``of_columns`` (c,). The first pairs go to the front of ``pairs`` (at least
    r c, 2) and the others to its end, and lower bounds of their distances to ``gaps``; their numbers are returned. All
    arrays of numbers but ``gaps`` have one type, in which sums stay, without literals of another.
    """
    n_rows, n_columns = products.shape
    near = 0
    almost = 0
    for a in range(n_rows):
        length, own_radius, allowance = of_rows[a], radii_of_rows[a], allowances_of_rows[a]
        for start in range(0, n_columns, BLOCK):
            n = min(BLOCK, n_columns - start)
            found = 0  # a sum without branches uses vector instructions
            for b in range(n):
                reach = max(own_radius, radii_of_columns[start + b]) + allowance + allowances_of_columns[start + b]
                found += (
                    length + of_columns[start + b] - (products[a, start + b] + products[a, start + b]) < reach * reach
                )
            for b in range(start, start + n if found > 0 else start):
                distance = length + of_columns[b] - (products[a, b] + products[a, b])
                radius = max(own_radius, radii_of_columns[b])
                reach = radius + allowance + allowances_of_columns[b]
                if distance < reach * reach:
                    if distance < radius * radius:
                        place = near
                        near += 1
                    else:
                        almost += 1
                        place = len(pairs) - almost
                    pairs[place, 0] = row + a
                    pairs[place, 1] = column + b
                    gaps[place] = ROUNDED_DOWN * np.sqrt(max(distance, 0.0))
    return near, almost


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
    smoothing: float | None,
    active_rows: Floats,
    active_columns: Floats,
) -> tuple[float, float]:
    """Do the same for all pairs of a tile, given inner products, in whose place the weights of the pairs come.

    Without smoothing (None), what rounds the hinges is not compiled. Loops go along a few columns at a time without a
    branch, so that they use vector instructions and the first cache.
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
                if smoothing is None:
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
    if smoothing is None:
        return linear, linear
    return exact, linear - 0.5 * smoothing * squares
