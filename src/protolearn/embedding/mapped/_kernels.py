"""Compiled loop of a mapping by neighbors: who is near a sample, and where their positions agree."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from protolearn.core.compiling import FROM_PYTHON, WITHIN_LOOPS
from protolearn.core.types import Floats

# Sums may be taken in any order, so that distances use whole vector registers.
FAST = {"nsz", "contract", "reassoc"}
Singles = NDArray[np.float32]


@njit(**WITHIN_LOOPS, fastmath=FAST)
def _square(a: Singles, b: Singles) -> Any:
    total = np.float32(0.0)
    for c in range(len(a)):
        total += (a[c] - b[c]) * (a[c] - b[c])
    return total


@njit(**FROM_PYTHON, error_model="numpy")
def place_among(
    new: Singles,
    centers: Singles,
    starts: Any,
    samples: Singles,
    positions: Floats,
    k: int,
    n_probes: int,
    n_steps: int,
    width: float,
    places: Floats,
) -> None:
    """Fill places (m, c) of new samples (m, d) from the positions (n, c) of the k nearest samples (n, d).

    Samples of cell j are those from ``starts[j]`` to ``starts[j + 1]``. The cells with the nearest ``n_probes`` centers
    are searched, and more if they have too few samples. Neighbors at distances d count by ``(1 / d - 1 / R) ** 2``,
    with R the distance of the next one, times ``1 / (width ** 2 + |y - y_j| ** 2)`` in steps from their mean y on.
    """
    n_cells, n_dimensions = len(centers), positions.shape[1]
    far = np.empty(n_cells, np.float32)
    nearest, indices, weights = np.empty(k + 1, np.float32), np.empty(k + 1, np.intp), np.empty(k)
    place, mean = np.empty(n_dimensions), np.empty(n_dimensions)
    for i in range(len(new)):
        for j in range(n_cells):
            far[j] = _square(new[i], centers[j])
        count, probed = 0, 0
        nearest[:] = np.inf
        while probed < n_probes or count <= k:
            cell = 0
            for j in range(1, n_cells):
                if far[j] < far[cell]:
                    cell = j
            far[cell] = np.inf
            probed += 1
            for j in range(starts[cell], starts[cell + 1]):
                square = _square(new[i], samples[j])
                count += 1
                if square < nearest[k]:
                    at = k
                    while at > 0 and nearest[at - 1] > square:
                        nearest[at], indices[at] = nearest[at - 1], indices[at - 1]
                        at -= 1
                    nearest[at], indices[at] = square, j
        reach, total = np.sqrt(nearest[k]), 0.0
        for j in range(k):
            distance = np.sqrt(nearest[j])
            if nearest[0] == 0.0:  # its own place, or the mean of those of its copies
                weights[j] = 1.0 if distance == 0.0 else 0.0
            else:
                excess = reach / distance - 1.0
                weights[j] = excess * excess
            total += weights[j]
        if total == 0.0:  # all are equally far
            weights[:] = 1.0
        for step in range(n_steps + 1):
            mean[:], total = 0.0, 0.0
            for j in range(k):
                apart = width * width
                for c in range(n_dimensions):
                    gap = place[c] - positions[indices[j], c]
                    apart += gap * gap
                weight = weights[j] if step == 0 else weights[j] / apart
                total += weight
                for c in range(n_dimensions):
                    mean[c] += weight * positions[indices[j], c]
            for c in range(n_dimensions):
                place[c] = mean[c] / total
        for c in range(n_dimensions):
            places[i, c] = place[c]
