"""Compiled recursions over pairs of sequences, many pairs side by side."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from protolearn.core.compiling import FROM_PYTHON, WITHIN_LOOPS
from protolearn.core.types import Array, Floats, Indices

# The recursions go through LANES sequences of the second collection at once. The first sequence is common to them, so
# the innermost loop over lanes has no branches and becomes vector instructions. Shorter lanes are filled up with what
# lies there; a cell depends only on the beginnings of both sequences, so the result of a lane is read at its own end.
LANES = 16

UP, LEFT, DIAGONAL = 0, 1, 2

SIZE = 64  # rows and columns of a tile: two of them stay in the cache of a core

PAD = 8  # keeps the rows of a tile apart, so that a column of it does not fall into one place of the cache


@njit(**FROM_PYTHON)
def _largest(lengths: Indices) -> int:
    largest = 0
    for length in lengths:
        largest = max(largest, length)
    return largest


@njit(**FROM_PYTHON)
def edit_block(
    x: Array,
    x_starts: Indices,
    x_lengths: Indices,
    y: Array,
    y_starts: Indices,
    y_lengths: Indices,
    order: Indices,
    indel: float,
    scale: float,
    cap: float,
    period: float,
    result: Floats,
) -> None:
    """Write edit distances into ``result`` (n, m); ``order`` sorts the second sequences by length.

    A substitution costs ``scale * min(gap, period - gap, cap)`` for a difference ``gap`` of two values.
    """
    m = len(y_starts)
    longest = _largest(y_lengths)
    symbols = np.zeros((longest, LANES))
    costs = np.empty((longest + 1, LANES))
    left = np.empty(LANES)
    corner = np.empty(LANES)
    for first in range(0, m, LANES):
        members = order[first : first + LANES]
        depth = y_lengths[members[-1]]
        for w in range(len(members)):
            start = y_starts[members[w]]
            for b in range(y_lengths[members[w]]):
                symbols[b, w] = y[start + b]
        for i in range(len(x_starts)):
            for b in range(depth + 1):
                costs[b] = b * indel
            for a in range(x_lengths[i]):
                corner[:] = a * indel
                left[:] = (a + 1) * indel
                _edit_row(x[x_starts[i] + a], symbols, costs, left, corner, depth, indel, scale, cap, period)
                costs[0] = (a + 1) * indel
            for w in range(len(members)):
                result[i, members[w]] = costs[y_lengths[members[w]], w]


@njit(**WITHIN_LOOPS, fastmath={"nnan", "nsz"})
def _edit_row(
    value: float,
    symbols: Floats,
    costs: Floats,
    left: Floats,
    corner: Floats,
    depth: int,
    indel: float,
    scale: float,
    cap: float,
    period: float,
) -> None:
    """Advance the costs of beginnings (depth + 1, LANES) by one value of the first sequence."""
    for b in range(depth):
        above, others = costs[b + 1], symbols[b]
        for w in range(LANES):  # the neighbors are kept in arrays of their own, as these cannot overlap
            gap = abs(value - others[w])
            substituted = corner[w] + scale * min(min(gap, period - gap), cap)
            best = min(substituted, min(above[w], left[w]) + indel)
            corner[w] = above[w]
            left[w] = best
            above[w] = best


@njit(**FROM_PYTHON)
def cyclic_edit_block(
    x: Array,
    x_starts: Indices,
    x_lengths: Indices,
    y: Array,
    y_starts: Indices,
    y_lengths: Indices,
    indel: float,
    scale: float,
    cap: float,
    period: float,
    result: Floats,
) -> None:
    """Write edit distances of cycles into ``result`` (n, m); costs as in ``edit_block``."""
    for i in range(len(x_starts)):
        first = x[x_starts[i] : x_starts[i] + x_lengths[i]]
        for j in range(len(y_starts)):
            second = y[y_starts[j] : y_starts[j] + y_lengths[j]]
            # the same for both orders of a pair, rounding included
            turned, fixed = (first, second) if _comes_before(first, second) else (second, first)
            result[i, j] = _cyclic_edit(turned, fixed, indel, scale, cap, period)


@njit(**WITHIN_LOOPS)
def _comes_before(x: Array, y: Array) -> bool:
    if len(x) != len(y):
        return len(x) < len(y)
    for a in range(len(x)):
        if x[a] != y[a]:
            return x[a] < y[a]
    return True


@njit(**WITHIN_LOOPS)
def _cyclic_edit(x: Array, y: Array, indel: float, scale: float, cap: float, period: float) -> float:
    """Return the least edit distance between a rotation of x and y, Maes 1990.

    The grid has a row for each gap in x written twice, and a column for each gap in y. The rotation k is a path from
    row k on the left to row k + m on the right; ``top`` and ``bottom`` (m + 1, n + 1) are its rows in each column.
    """
    m, n = len(x), len(y)
    if m == 0:
        return n * indel
    top = np.zeros((m + 1, n + 1), np.int64)
    bottom = np.full((m + 1, n + 1), m)
    distances = np.empty(m + 1)
    costs = np.empty(2 * m + 2)
    moves = np.empty((n + 1, 2 * m + 1), np.uint8)
    twice = np.empty(2 * m)
    for a in range(2 * m):
        twice[a] = x[a % m]
    distances[0] = _rotated_edit(0, m, top[m], bottom[m], twice, y, indel, scale, cap, period, costs, moves)
    _trace(0, m, moves, top[0], bottom[0])
    for c in range(n + 1):
        top[m, c] = top[0, c] + m
        bottom[m, c] = bottom[0, c] + m
    distances[m] = distances[0]
    best = distances[0]
    waiting = np.empty((64, 2), np.int64)
    waiting[0, 0], waiting[0, 1] = 0, m
    n_waiting = 1
    while n_waiting > 0:
        n_waiting -= 1
        low, high = waiting[n_waiting, 0], waiting[n_waiting, 1]
        # a turn by one costs at most a deletion and an insertion
        if high - low < 2 or (distances[low] + distances[high]) / 2 - indel * (high - low) >= best:
            continue
        k = (low + high) // 2
        distances[k] = _rotated_edit(k, m, top[low], bottom[high], twice, y, indel, scale, cap, period, costs, moves)
        best = min(best, distances[k])
        if high - low > 2:
            _trace(k, k + m, moves, top[k], bottom[k])
            waiting[n_waiting, 0], waiting[n_waiting, 1] = low, k
            waiting[n_waiting + 1, 0], waiting[n_waiting + 1, 1] = k, high
            n_waiting += 2
    return best


@njit(**WITHIN_LOOPS, fastmath={"nnan", "nsz"})
def _rotated_edit(
    k: int,
    m: int,
    top: Indices,
    bottom: Indices,
    twice: Array,
    y: Array,
    indel: float,
    scale: float,
    cap: float,
    period: float,
    costs: Floats,
    moves: NDArray[np.uint8],
) -> float:
    """Return the edit distance of the rotation k of x, given twice, and y, by paths between ``top`` and ``bottom``."""
    start, stop = k, min(bottom[0], k + m)
    for r in range(start, stop + 1):
        costs[r] = (r - k) * indel
        moves[0, r] = UP
    for c in range(1, len(y) + 1):
        old_start, old_stop = start, stop
        start, stop = max(top[c], k), min(bottom[c], k + m)
        costs[old_stop + 1 : stop + 1] = np.inf
        corner = costs[start - 1] if start > old_start else np.inf
        above = np.inf
        for r in range(start, stop + 1):
            left = costs[r]
            gap = abs(twice[r - 1] - y[c - 1])
            best, move = corner + scale * min(min(gap, period - gap), cap), DIAGONAL
            if left + indel < best:
                best, move = left + indel, LEFT
            if above + indel < best:
                best, move = above + indel, UP
            corner, above = left, best
            costs[r] = best
            moves[c, r] = move
    return costs[k + m]


@njit(**WITHIN_LOOPS)
def _trace(first: int, last: int, moves: NDArray[np.uint8], top: Indices, bottom: Indices) -> None:
    """Follow the moves of a path from its last row back to its first, and note its rows in each column."""
    row, c = last, len(top) - 1
    bottom[c] = row
    while c > 0:
        move = moves[c, row]
        if move != UP:
            top[c] = row
            c -= 1
        if move != LEFT:
            row -= 1
        if move != UP:
            bottom[c] = row
    top[0] = first


@njit(**FROM_PYTHON)
def dtw_block(
    x: Floats,
    x_starts: Indices,
    x_lengths: Indices,
    y: Floats,
    y_starts: Indices,
    y_lengths: Indices,
    order: Indices,
    window: int,
    result: Floats,
) -> None:
    """Write squared time warping distances of series of vectors into ``result`` (n, m).

    Series of lengths p and q are matched within ``max(window, |p - q|)`` steps from the diagonal.
    """
    m, d = len(y_starts), x.shape[1]
    longest = _largest(y_lengths)
    points = np.zeros((d, longest, LANES))
    costs = np.empty((longest + 1, LANES))
    left = np.empty(LANES)
    corner = np.empty(LANES)
    squares = np.empty((longest, LANES))
    reach = np.empty(LANES)
    for first in range(0, m, LANES):
        members = order[first : first + LANES]
        depth = y_lengths[members[-1]]
        for w in range(len(members)):
            start = y_starts[members[w]]
            for b in range(y_lengths[members[w]]):
                for t in range(d):
                    points[t, b, w] = y[start + b, t]
        for i in range(len(x_starts)):
            furthest = window
            for w in range(LANES):
                away = abs(x_lengths[i] - y_lengths[members[min(w, len(members) - 1)]])
                reach[w] = max(window, away)
                furthest = max(furthest, away)
            costs[:] = np.inf
            costs[0] = 0.0
            for a in range(x_lengths[i]):
                begin, end = max(0, a - furthest), min(depth, a + furthest + 1)
                for w in range(LANES):
                    corner[w] = costs[begin, w]
                left[:] = np.inf
                _squared_distances(x[x_starts[i] + a], points, begin, end, squares)
                _dtw_row(a, begin, end, squares, costs, left, corner, reach)
                costs[begin] = np.inf
            for w in range(len(members)):
                result[i, members[w]] = costs[y_lengths[members[w]], w]


@njit(**FROM_PYTHON, fastmath={"contract"})
def _squared_distances(point: Floats, points: Floats, begin: int, end: int, squares: Floats) -> None:
    """Write the squared distances of a point (d,) to points (d, steps, LANES) into ``squares`` (steps, LANES)."""
    flat = squares[begin:end].reshape(-1)
    flat[:] = 0.0
    for t in range(len(point)):
        value, others = point[t], points[t, begin:end].reshape(-1)
        for w in range(len(flat)):
            flat[w] += (value - others[w]) * (value - others[w])


@njit(**WITHIN_LOOPS, fastmath={"nnan", "nsz"})
def _dtw_row(
    a: int,
    begin: int,
    end: int,
    squares: Floats,
    costs: Floats,
    left: Floats,
    corner: Floats,
    reach: Floats,
) -> None:
    """Advance the costs of beginnings by one vector of the first series."""
    for b in range(begin, end):
        above, squared, off = costs[b + 1], squares[b], float(abs(a - b))
        for w in range(LANES):
            best = min(corner[w], min(above[w], left[w])) + squared[w]
            best = best if off <= reach[w] else np.inf
            corner[w] = above[w]
            left[w] = best
            above[w] = best


@njit(**FROM_PYTHON)
def alignment_block(
    x: Indices,
    x_starts: Indices,
    x_lengths: Indices,
    y: Indices,
    y_starts: Indices,
    y_lengths: Indices,
    order: Indices,
    matrix: Floats,
    gap_open: float,
    gap_extend: float,
    local: bool,
    result: Floats,
) -> None:
    """Write the best scores of alignments into ``result`` (n, m).

    The last column of ``matrix`` (K, K + 1) is for what shorter lanes are filled up with, and must be very low.
    """
    m = len(y_starts)
    longest = _largest(y_lengths)
    codes = np.empty((longest, LANES), np.int64)
    scores = np.empty((longest + 1, LANES))
    downward = np.empty((longest + 1, LANES))
    left = np.empty(LANES)
    corner = np.empty(LANES)
    matched = np.empty(LANES)
    rightward = np.empty(LANES)
    highest = np.empty(LANES)
    floor = 0.0 if local else -np.inf
    for first in range(0, m, LANES):
        members = order[first : first + LANES]
        depth = y_lengths[members[-1]]
        codes[:] = matrix.shape[1] - 1
        for w in range(len(members)):
            start = y_starts[members[w]]
            for b in range(y_lengths[members[w]]):
                codes[b, w] = y[start + b]
        for i in range(len(x_starts)):
            for b in range(depth + 1):
                scores[b] = _border(b, gap_open, gap_extend, local)
            downward[:] = -np.inf
            highest[:] = 0.0
            for a in range(x_lengths[i]):
                corner[:] = _border(a, gap_open, gap_extend, local)
                left[:] = _border(a + 1, gap_open, gap_extend, local)
                scores[0] = _border(a + 1, gap_open, gap_extend, local)
                rightward[:] = -np.inf
                row = matrix[x[x_starts[i] + a]]
                _alignment_row(
                    *(row, codes, scores, downward, left, corner, matched, rightward, highest),
                    *(depth, gap_open, gap_extend, floor),
                )
            for w in range(len(members)):
                result[i, members[w]] = highest[w] if local else scores[y_lengths[members[w]], w]


@njit(**WITHIN_LOOPS)
def _border(length: int, gap_open: float, gap_extend: float, local: bool) -> float:
    """Return the score of a gap at the beginning."""
    return 0.0 if local or length == 0 else -gap_open - (length - 1) * gap_extend


@njit(**WITHIN_LOOPS, fastmath={"nnan", "nsz"})
def _alignment_row(
    row: Floats,
    codes: Indices,
    scores: Floats,
    downward: Floats,
    left: Floats,
    corner: Floats,
    matched: Floats,
    rightward: Floats,
    highest: Floats,
    depth: int,
    gap_open: float,
    gap_extend: float,
    floor: float,
) -> None:
    """Advance the scores of beginnings by one letter of the first sequence, Gotoh 1982."""
    for b in range(depth):
        above, down, others = scores[b + 1], downward[b + 1], codes[b]
        for w in range(LANES):  # apart from the next loop, as looking up is no vector instruction
            matched[w] = row[others[w]]
        for w in range(LANES):
            down[w] = max(above[w] - gap_open, down[w] - gap_extend)
            rightward[w] = max(left[w] - gap_open, rightward[w] - gap_extend)
            best = max(max(corner[w] + matched[w], floor), max(down[w], rightward[w]))
            corner[w] = above[w]
            left[w] = best
            above[w] = best
            highest[w] = max(highest[w], best)


@njit(**FROM_PYTHON)
def overlap_block(
    x: Indices,
    x_starts: Indices,
    x_lengths: Indices,
    y: Indices,
    y_starts: Indices,
    y_lengths: Indices,
    width: int,
    result: Floats,
) -> None:
    """Write the numbers of common members of sets, given by codes below ``width``, into ``result`` (n, m)."""
    member = np.zeros(width, np.int64)
    for i in range(len(x_starts)):
        own = x[x_starts[i] : x_starts[i] + x_lengths[i]]
        for code in own:
            member[code] = 1
        for j in range(len(y_starts)):
            common = 0
            for code in y[y_starts[j] : y_starts[j] + y_lengths[j]]:
                common += member[code]
            result[i, j] = common
        for code in own:
            member[code] = 0


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
