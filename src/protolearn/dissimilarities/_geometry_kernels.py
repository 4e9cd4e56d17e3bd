"""Compiled loops over all entries of a matrix of dissimilarities."""

from __future__ import annotations

import numpy as np
from numba import njit

from protolearn.core.compiling import FROM_PYTHON, WITHIN_LOOPS
from protolearn.core.types import Array

SIZE = 64  # rows and columns of a tile: two of them stay in the cache of a core
PAD = 8  # keeps the rows of a tile apart, so that a column of it does not fall into one place of the cache


@njit(**FROM_PYTHON, fastmath={"nnan", "ninf", "nsz"})
def _widen(row: Array, mirror: Array, extremes: Array) -> None:
    gap, low, high = extremes
    for b in range(row.shape[0]):
        gap = max(gap, abs(row[b] - mirror[b]))
        low = min(low, row[b], mirror[b])
        high = max(high, row[b], mirror[b])
    extremes[0], extremes[1], extremes[2] = gap, low, high


@njit(**WITHIN_LOOPS, fastmath={"reassoc", "nsz"})
def _vanishes(row: Array, mirror: Array) -> bool:
    """Tell whether all entries are finite: only then is their product with zero zero."""
    zero = row.dtype.type(0.0)
    total = zero
    for b in range(row.shape[0]):
        total += zero * row[b] + zero * mirror[b]
    return total == zero


@njit(**FROM_PYTHON)
def survey(D: Array, first: int, step: int, extremes: Array) -> None:
    """Widen the extremes (3,) of ``|d_ij - d_ji|`` (NaN if an entry is not finite), lowest and highest entry.

    Tiles on and above the diagonal, each together with its mirror image, are numbered; every ``step``-th is read.
    """
    n = D.shape[0]
    mirror = np.empty((SIZE, SIZE + PAD), D.dtype)
    own = extremes.copy()  # threads that write side by side hold each other up
    finite = True
    number = 0
    for top in range(0, n, SIZE):
        height = min(SIZE, n - top)
        for left in range(top, n, SIZE):
            number += 1
            if number % step != first:
                continue
            width = min(SIZE, n - left)
            for b in range(width):
                for a in range(height):
                    mirror[a, b] = D[left + b, top + a]
            for a in range(height):
                row = D[top + a, left : left + width]
                finite &= _vanishes(row, mirror[a, :width])
                _widen(row, mirror[a, :width], own)
    for k in range(len(own)):
        extremes[k] = own[k]
    if not finite:
        extremes[0] = np.nan
