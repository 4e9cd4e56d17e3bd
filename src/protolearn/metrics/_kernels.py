"""Compiled loops over blocks of distances: orders of neighbors, and what is counted of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from protolearn.core.compiling import FROM_PYTHON, WITHIN_LOOPS
from protolearn.core.types import Array, Floats, Indices

DIGIT = 11  # bits of a key that are sorted at a time

PASSES = 6  # until all 64 bits are

LARGEST = (1 << DIGIT) - 1


@njit(**WITHIN_LOOPS)
def _digit(key: Any, p: int) -> Any:
    return (key >> np.uint64(p * DIGIT)) & np.uint64(LARGEST)


@njit(**FROM_PYTHON)
def order_rows(distances: Floats, own: Indices, order: NDArray[np.int32]) -> None:
    """Write the others (b, n - 1) by their distance (b, n) to each sample, equal ones by their index.

    ``own`` (b,) are the indices of the samples. Doubles that are not negative have the order of their bits, which
    are sorted digit by digit, the lowest first.
    """
    b, m = order.shape
    bits = distances.view(np.int64)
    key, spare_key = np.empty(m, np.uint64), np.empty(m, np.uint64)
    index, spare_index = np.empty(m, np.int32), np.empty(m, np.int32)
    places = np.empty((PASSES, LARGEST + 1), np.int32)
    for row in range(b):
        places[:] = 0
        for i in range(m):
            j = i + (i >= own[row])
            index[i], key[i] = j, max(bits[row, j], 0)
            for p in range(PASSES):
                places[p, _digit(key[i], p)] += 1
        for p in range(PASSES):
            place = places[p]
            if place[_digit(key[0], p)] == m:
                continue
            total = 0
            for digit in range(LARGEST + 1):
                place[digit], total = total, total + place[digit]
            for i in range(m):
                digit = _digit(key[i], p)
                spare_key[place[digit]], spare_index[place[digit]] = key[i], index[i]
                place[digit] += 1
            key, spare_key, index, spare_index = spare_key, key, spare_index, index
        for k in range(len(index)):
            order[row, k] = index[k]


@njit(**FROM_PYTHON)
def count_ranks(given: NDArray[np.int32], shown: NDArray[np.int32], counts: Indices) -> None:
    """Count pairs of ranks k in the data and l in the view by the larger of both, of two orders (b, n - 1).

    Rows of ``counts`` (5, n - 1), at rank r: pairs with k = l = r; l < k = r; k < l = r; sum of k over pairs with
    l = r < k; sum of l over pairs with k = r < l.
    """
    b, m = given.shape
    ranks = np.empty(m + 1, np.int32)
    for row in range(b):
        for k in range(m):
            ranks[given[row, k]] = k
        for l in range(m):  # noqa: E741
            k = ranks[shown[row, l]]
            if l < k:
                counts[1, k] += 1
                counts[3, l] += k + 1
            elif k < l:
                counts[2, l] += 1
                counts[4, k] += l + 1
            else:
                counts[0, l] += 1


@njit(**FROM_PYTHON)
def count_pairs(given: NDArray[np.int32], shown: NDArray[np.int32], matrix: NDArray[np.int32]) -> None:
    """Count pairs of ranks in the data and in the view, of two orders (b, n - 1), in the co-ranking matrix."""
    b, m = given.shape
    ranks = np.empty(m + 1, np.int32)
    for row in range(b):
        for k in range(m):
            ranks[given[row, k]] = k
        for l in range(m):  # noqa: E741
            matrix[ranks[shown[row, l]], l] += 1


@njit(**FROM_PYTHON)
def count_agreement(order: NDArray[np.int32], own: Array, others: Array, counts: Indices) -> None:
    """Count at each rank (n - 1,) the samples with the label (b,) of their neighbor of this rank, of labels (n,)."""
    b, m = order.shape
    for row in range(b):
        for k in range(m):
            counts[k] += others[order[row, k]] == own[row]


@njit(**FROM_PYTHON, fastmath={"reassoc", "contract", "nsz"})
def add_moments(
    given: Floats,
    shown: Floats,
    skip: int,
    origin: tuple[float, float],
    sums: Floats,
) -> None:
    """Write for each row (b, 8), over pairs right of the diagonal, what the moments and Sammon's stress need.

    The diagonal of row 0 is at ``skip``. Sums, with a and b the distances from the origin: a, b, aa, bb, ab; then of
    the distances themselves d, and of pairs with d > 0 also e and ee / d.
    """
    b, n = given.shape
    for row in range(b):
        sa = sb = saa = sbb = sab = sd = se = ratio = 0.0
        for j in range(skip + row + 1, n):
            d, e = given[row, j], shown[row, j]
            x, y = d - origin[0], e - origin[1]
            apart = 1.0 if d > 0.0 else 0.0
            sa += x
            sb += y
            saa += x * x
            sbb += y * y
            sab += x * y
            sd += d
            se += apart * e
            ratio += apart * e * e / (d if d > 0.0 else 1.0)
        sums[row, 0], sums[row, 1], sums[row, 2], sums[row, 3] = sa, sb, saa, sbb
        sums[row, 4], sums[row, 5], sums[row, 6], sums[row, 7] = sab, sd, se, ratio


@njit(**WITHIN_LOOPS)
def _bucket(bits: int, shift: int, base: int, last: int) -> int:
    return min(max((bits >> shift) - base, 0), last)


@njit(**FROM_PYTHON)
def tally(distances: Floats, skip: int, shift: int, base: int, counts: Indices) -> None:
    """Count distances right of the diagonal, which in row 0 is at ``skip``, in buckets of similar ones."""
    b, n = distances.shape
    bits = distances.view(np.int64)
    last = counts.shape[0] - 1
    for row in range(b):
        for j in range(skip + row + 1, n):
            counts[_bucket(bits[row, j], shift, base, last)] += 1


@njit(**FROM_PYTHON)
def sum_products(
    given: Floats,
    shown: Floats,
    skip: int,
    shift: int,
    bases: tuple[int, int],
    values: tuple[Floats, Floats],
) -> float:
    """Sum the products of the values that the buckets of both distances have, right of the diagonal."""
    b, n = given.shape
    bits, other = given.view(np.int64), shown.view(np.int64)
    last = values[0].shape[0] - 1
    total = 0.0
    for row in range(b):
        part = 0.0
        for j in range(skip + row + 1, n):
            left = values[0][_bucket(bits[row, j], shift, bases[0], last)]
            right = values[1][_bucket(other[row, j], shift, bases[1], last)]
            part += left * right
        total += part
    return total


@njit(**FROM_PYTHON)
def excess_of_ranks(near: Floats, far: Floats, k: int, excess: Indices) -> None:
    """Sum (b,) by how much the k nearest by one distance (b, m) have ranks above k by another (b, m).

    Equal distances count in the order of the samples; infinite ones do not count.
    """
    b, m = near.shape
    least, chosen = np.empty(k), np.empty(k, np.int64)
    for row in range(b):
        least[:] = np.inf
        for j in range(m):
            distance = near[row, j]
            if distance < least[k - 1]:
                place = k - 1
                while place > 0 and distance < least[place - 1]:
                    least[place], chosen[place] = least[place - 1], chosen[place - 1]
                    place -= 1
                least[place], chosen[place] = distance, j
        total = 0
        for neighbor in chosen:
            distance = far[row, neighbor]
            before = 0
            for j in range(neighbor):
                before += far[row, j] <= distance
            for j in range(neighbor + 1, m):
                before += far[row, j] < distance
            total += max(0, before + 1 - k)
        excess[row] = total
