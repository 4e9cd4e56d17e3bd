"""Compiled loops for what matrix products cannot do: ranks, and learning one sample at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

# A key is a distance whose lowest bits hold the prototype's index: one sort of plain floats gives the order, and
# distances that differ by rounding only count as ties, resolved by index.


@njit(cache=True, nogil=True)
def pack_keys(distances: NDArray[Any], keys: NDArray[np.float64], mask: int) -> None:
    """Write a key for every distance, both of shape (c, k)."""
    n, k = distances.shape
    bits = keys.view(np.int64)
    for j in range(n):
        for i in range(k):
            keys[j, i] = max(distances[j, i], 0.0)
        for i in range(k):
            bits[j, i] = (bits[j, i] & ~mask) | i


@njit(cache=True, nogil=True)
def nearest_keys(distances: NDArray[Any], nearest: NDArray[np.float64], mask: int) -> None:
    """Write the smallest keys of each row of ``distances`` (c, k), in order, into ``nearest`` (c, depth)."""
    n, k = distances.shape
    depth = nearest.shape[1]
    keys = np.empty(k)
    bits = keys.view(np.int64)
    for j in range(n):
        for i in range(k):
            keys[i] = max(distances[j, i], 0.0)
        for i in range(k):
            bits[i] = (bits[i] & ~mask) | i
        row = nearest[j]
        row[:] = np.inf
        worst = np.inf
        for i in range(k):
            key = keys[i]
            if key < worst:
                p = depth - 1
                while p > 0 and row[p - 1] > key:
                    row[p] = row[p - 1]
                    p -= 1
                row[p] = key
                worst = row[depth - 1]


@njit(cache=True, nogil=True)
def rank_weights(
    keys: NDArray[np.float64],
    mask: int,
    table: NDArray[Any],
    sample_weights: NDArray[Any],
    weights: NDArray[Any],
    first: NDArray[np.int64],
) -> None:
    """Give each prototype the weight of its rank, relative to the best rank it has in these samples.

    ``keys`` (c, depth) are sorted; ``table[r]`` is the neighbourhood function; ``weights`` (c, k) must come zeroed;
    ``first`` (k,) receives the best rank of each prototype, or ``k`` when it is not among the nearest of any sample.
    """
    n, depth = keys.shape
    k = weights.shape[1]
    bits = keys.view(np.int64)
    first[:] = k
    for j in range(n):
        if sample_weights[j] > 0:
            for r in range(depth):
                i = bits[j, r] & mask
                if r < first[i]:
                    first[i] = r
    for j in range(n):
        u = sample_weights[j]
        if u > 0:
            for r in range(depth):
                i = bits[j, r] & mask
                weights[j, i] = u * table[r - first[i]]


@njit(cache=True, nogil=True)
def _squared_distances(
    point: NDArray[Any], positions: NDArray[Any], metric: NDArray[Any], distances: NDArray[np.float64]
) -> None:
    for i in range(positions.shape[0]):
        total = 0.0
        for t in range(point.shape[0]):
            gap = point[t] - positions[i, t]
            total += metric[t] * gap * gap
        distances[i] = total


@njit(cache=True, nogil=True)
def _pull(position: NDArray[Any], point: NDArray[Any], step: float) -> None:
    for t in range(point.shape[0]):
        position[t] += step * (point[t] - position[t])


@njit(cache=True, nogil=True)
def online_gas(
    points: NDArray[Any],
    positions: NDArray[Any],
    metric: NDArray[Any],
    rates: NDArray[np.float64],
    ranges: NDArray[np.float64],
) -> None:
    """Neural gas, one sample after the other: every prototype moves by the weight of its rank."""
    distances = np.empty(positions.shape[0])
    for j in range(points.shape[0]):
        _squared_distances(points[j], positions, metric, distances)
        fade = np.exp(-1.0 / ranges[j])
        if fade < 1e-12:  # only the winner moves
            _pull(positions[np.argmin(distances)], points[j], rates[j])
            continue
        step = rates[j]
        for i in np.argsort(distances, kind="mergesort"):
            _pull(positions[i], points[j], step)  # Hasenfuss 2009, eq. 2.9
            step *= fade
            if step < 1e-12:
                break


@njit(cache=True, nogil=True)
def online_lattice(
    points: NDArray[Any],
    positions: NDArray[Any],
    metric: NDArray[Any],
    rates: NDArray[np.float64],
    neighbourhood: NDArray[np.float64],
    mixture: NDArray[np.float64],
) -> None:
    """Self-organising map, one sample after the other, with a fixed neighbourhood (k, k).

    The winner minimises ``mixture @ distances``, or the distance itself when ``mixture`` has no rows.
    """
    k = positions.shape[0]
    distances = np.empty(k)
    for j in range(points.shape[0]):
        _squared_distances(points[j], positions, metric, distances)
        winner = np.argmin(distances)
        if mixture.shape[0] > 0:
            winner = np.argmin(mixture @ distances)
        for i in range(k):
            step = rates[j] * neighbourhood[winner, i]
            if step > 1e-12:
                _pull(positions[i], points[j], step)  # Hasenfuss 2009, eq. 2.4
