"""Compiled loops of the large margin cost: distances to target neighbors, near pairs, and what pulls and pushes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from protolearn.core.types import Floats, Indices

SUMS = {"reassoc", "contract", "nsz"}  # sums may be added in any order, so that they use vector instructions


@njit(cache=True, nogil=True, fastmath=SUMS)
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


@njit(cache=True, nogil=True, fastmath=SUMS)
def _tie(V: Floats, i: int, j: int, weight: float, product: Floats) -> None:
    """Add the part of one pair, ``weight (e_i - e_j) (e_i - e_j)^T V``, to the product of the Laplacian with V."""
    for m in range(V.shape[1]):
        force = weight * (V[i, m] - V[j, m])
        product[i, m] += force
        product[j, m] -= force


@njit(cache=True, nogil=True)
def target_distances(Z: Floats, targets: Indices, distances: Floats) -> None:
    """Write the squared distances (n, k) of samples to their target neighbors."""
    for i in range(len(targets)):
        for t in range(targets.shape[1]):
            distances[i, t] = _squared_distance(Z, i, targets[i, t], np.inf)


@njit(cache=True, nogil=True)
def near_pairs(
    products: Floats,
    norms: Floats,
    radii: Floats,
    allowances: Floats,
    row: int,
    column: int,
    pairs: NDArray[np.int32],
) -> tuple[int, int]:
    """Write the pairs of a tile that are nearer than the larger radius, and those nearer than that plus allowances.

    ``products`` (r, c) are the inner products of samples ``row, row + 1, ...`` with samples ``column, ...``. The first
    pairs go to the front of ``pairs`` (at least r c, 2) and the others to its end; their numbers are returned.
    """
    n_rows, n_columns = products.shape
    near = 0
    almost = 0
    for a in range(n_rows):
        i = row + a
        for b in range(n_columns):
            j = column + b
            distance = norms[i] + norms[j] - 2.0 * products[a, b]
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
    return near, almost


@njit(cache=True, nogil=True)
def push(
    pairs: NDArray[np.int32],
    Z: Floats,
    V: Floats,
    margins: Floats,
    smoothing: float,
    strength: float,
    active: Floats,
    product: Floats,
) -> tuple[float, float]:
    """Add the active triples among some pairs of different classes; return the sums of hinges, exact and smoothed.

    ``margins`` (n, k) are the squared distances to the targets plus one. ``active`` (n, k) gains the number of active
    triples of each target, and ``product`` (n, m) the part of these pairs in the product of the Laplacian with V.
    """
    exact = 0.0
    smoothed = 0.0
    for p in range(len(pairs)):
        i: Any = np.int64(pairs[p, 0])  # as elsewhere, so that functions are compiled for one type of index only
        j: Any = np.int64(pairs[p, 1])
        widest = 0.0
        for t in range(margins.shape[1]):
            widest = max(widest, margins[i, t], margins[j, t])
        distance = _squared_distance(Z, i, j, widest)
        if distance < widest:
            weight = 0.0
            for s in (i, j):
                for t in range(margins.shape[1]):
                    excess = margins[s, t] - distance
                    if excess > 0.0:
                        slope = 1.0 if excess >= smoothing else excess / smoothing
                        exact += excess
                        smoothed += slope * (excess - 0.5 * smoothing * slope)
                        active[s, t] += slope
                        weight += slope
            _tie(V, i, j, -strength * weight, product)
    return exact, smoothed


@njit(cache=True, nogil=True)
def pull(targets: Indices, weights: Floats, V: Floats, product: Floats) -> None:
    """Add the part of the target neighbors, with weights (n, k), to the product of the Laplacian with V."""
    for i in range(len(targets)):
        for t in range(targets.shape[1]):
            _tie(V, i, targets[i, t], weights[i, t], product)
