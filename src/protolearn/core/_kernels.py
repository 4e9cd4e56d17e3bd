"""Compiled loops for what matrix products cannot do: ranks, and learning one sample at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from protolearn.core.compiling import WITHIN_LOOPS
from protolearn.core.types import Array, Floats, Indices

# A code holds a distance in its high bits and the prototype's index in its low bits: one sort of plain numbers gives
# the order, and distances that differ by no more than rounding count as ties, resolved by index.


@njit(cache=True, nogil=True)
def double_codes(distances: Array, codes: Floats, bits: Indices, mask: int) -> None:
    """Replace the lowest bits of each distance (c, k), as a double, by the index; negative ones are lifted first.

    ``bits`` is the memory of the codes, as integers.
    """
    n, k = distances.shape
    for j in range(n):
        low = 0.0
        for i in range(k):
            low = min(low, distances[j, i])
        for i in range(k):
            codes[j, i] = distances[j, i] - low
        for i in range(k):
            bits[j, i] = (bits[j, i] & ~mask) | i


@njit(cache=True, nogil=True)
def short_codes(distances: NDArray[np.float32], codes: NDArray[np.uint32], n_bits: int) -> None:
    """Write single-precision distances (c, k) as fractions of the range of their row, the index in ``n_bits``."""
    n, k = distances.shape
    for j in range(n):
        low = distances[j, 0]
        high = low
        for i in range(k):
            low = min(low, distances[j, i])
            high = max(high, distances[j, i])
        extent = high - low if high > low else np.float32(1.0)
        top = np.float32(0.9999999) * np.float32(1 << (32 - n_bits))
        for i in range(k):
            level = np.int32((distances[j, i] - low) / extent * top)
            codes[j, i] = (np.uint32(level) << np.uint32(n_bits)) | np.uint32(i)


@njit(cache=True, nogil=True)
def rank_weights(
    codes: Array,
    mask: int,
    table: Array,
    sample_weights: Array,
    least: Any,
    relative: bool,
    weights: Array,
    best_rank: Indices,
) -> None:
    """Give each of the nearest prototypes the weight ``table[rank]`` for a sample, times the weight of the sample.

    ``codes`` (c, k) are sorted; ``weights`` (c, k) must come zeroed, and those below ``least`` stay so. If
    ``relative``, ranks are counted from the best one that a prototype has in these samples, which goes to
    ``best_rank`` (k,); otherwise that must come zeroed.
    """
    n, k = codes.shape
    if relative:
        for p in range(k):
            best_rank[p] = k
        for j in range(n):
            if sample_weights[j] > 0:
                for r in range(len(table)):
                    i = np.int64(codes[j, r]) & mask
                    best_rank[i] = min(best_rank[i], r)
    for j in range(n):
        u = sample_weights[j]
        if u > 0:
            for r in range(len(table)):
                i = np.int64(codes[j, r]) & mask
                weight = u * table[r - best_rank[i]]
                if weight >= least:
                    weights[j, i] = weight


@njit(cache=True, nogil=True)
def settle_winners(
    lifted: Array,
    wanted: Indices,
    forms: Array,
    exact: Floats,
    limits: tuple[float, ...],
    coarse: float,
    size: int,
    winners: Array,
    room: Floats,
) -> int:
    """Find the nearest prototypes of the samples that are wanted, and the room that they have; see `core.bounds`.

    Lifted samples (n, L) are multiplied with ``forms`` (k, L or L - 1), which are ``exact`` up to rounding, for
    ``size`` samples at a time, so that products stay in the cache of a core, and nothing holds up other threads. The
    search ends before a block of which a share above ``coarse`` is too close to call; returns how many are done.
    """
    k, n_terms = forms.shape
    margin, margin_per_length, too_large, least_room, reach, growth, least_square = limits
    block = np.empty((size, n_terms), forms.dtype)
    products = np.empty(k * size, forms.dtype)
    first = np.empty(size, np.int32)
    low, second = np.empty(size, forms.dtype), np.empty(size, forms.dtype)
    squares, margins, rooms = np.empty(size), np.empty(size), np.empty(size)
    for start in range(0, len(wanted), size):
        m = min(size, len(wanted) - start)
        for j in range(m):
            row = lifted[wanted[start + j]]
            for t in range(n_terms):
                block[j, t] = row[t]
            squares[j] = np.float64(row[-1]) * growth + least_square if reach < np.inf else _squared_length(row)
        here = products[: k * m].reshape(k, m)
        np.dot(forms, block[:m].T, here)
        _two_smallest_rows(here, first[:m], low[:m], second[:m])
        n_close = 0
        for j in range(m):
            length = np.sqrt(squares[j])
            wide = margin + margin_per_length * length
            margins[j] = wide if wide < too_large else np.inf  # products may have overflown
            gap = np.float64(second[j]) - low[j] - margins[j]
            base = squares[j] + margins[j]
            apart = np.sqrt(max(base + second[j], 0.0)) + np.sqrt(max(base + low[j], 0.0))
            rooms[j] = gap / apart - least_room * (length + reach) if gap > 0.0 else np.nan
            n_close += not gap > 0.0
        if n_close > coarse * m:
            return start
        for j in range(m):
            sample = wanted[start + j]
            winners[sample], room[sample] = first[j], rooms[j]
            if np.isnan(rooms[j]):
                winners[sample] = _lowest_product(lifted[sample], exact, here[:, j], low[j] + margins[j])
                room[sample] = 0.0
    return len(wanted)


@njit(**WITHIN_LOOPS)
def _squared_length(row: Array) -> float:
    """Return the squared length of a lifted sample, without the one."""
    at_one = row.shape[0] - 2
    total = 0.0
    for t in range(row.shape[0]):
        total += np.float64(row[t]) * row[t] * (t != at_one)
    return total


@njit(**WITHIN_LOOPS)
def _two_smallest_rows(products: Array, first: Array, low: Array, second: Array) -> None:
    """Write for each column (m,) of products (k, m) the row of the smallest, the first of equal ones, and both values.

    Two passes of this form become vector instructions, one pass does not.
    """
    k, m = products.shape
    for j in range(m):
        first[j], low[j], second[j] = 0, products[0, j], np.inf
    for i in range(1, k):
        row, number = products[i], np.int32(i)
        for j in range(m):
            value, least = row[j], low[j]
            first[j] = number if value < least else first[j]
            low[j] = value if value < least else least
    for i in range(k):
        row, number = products[i], np.int32(i)
        for j in range(m):
            least = second[j]
            value = least if first[j] == number else row[j]
            second[j] = value if value < least else least


@njit(**WITHIN_LOOPS)
def _lowest_product(row: Array, exact: Floats, products: Array, limit: float) -> int:
    """Return the first of the rows of ``exact`` with the lowest product, among those not above a limit by rounding."""
    best, lowest = 0, np.inf
    for i in range(exact.shape[0]):
        if not products[i] > limit:
            product = 0.0
            for t in range(exact.shape[1]):
                product += row[t] * exact[i, t]
            if product < lowest:
                best, lowest = i, product
    return best


@njit(cache=True, nogil=True)
def sum_fields(lifted: Array, weights: Array, winners: Array, sums: Floats) -> None:
    """Add each sample (c, D + 2), times its weight, to the row of ``sums`` (k, D + 2) of its winner."""
    for j in range(lifted.shape[0]):
        row, total, weight = lifted[j], sums[winners[j]], np.float64(weights[j])
        for t in range(len(row)):
            total[t] += weight * row[t]


@njit(cache=True, nogil=True)
def sum_nearby(lifted: Array, columns: Array, weights: Array, table: Floats, sums: Floats, size: int) -> None:
    """Add each sample, times its weight and ``table[rank]``, to the rows of ``sums`` of its nearest prototypes.

    As many of these learn as the table is long; between equal distances the lower index is nearer. Distances
    ``lifted @ columns`` are computed for ``size`` samples at a time, as in `settle_winners`.
    """
    k, n_near = columns.shape[1], len(table)
    distances = np.empty((size, k), lifted.dtype)
    near = np.empty(n_near, np.int64)
    for start in range(0, lifted.shape[0], size):
        block = lifted[start : start + size]
        here = distances[: block.shape[0]]
        np.dot(block, columns, here)
        for j in range(block.shape[0]):
            row = here[j]
            worst = row.dtype.type(np.inf)
            for i in range(k):
                if i < n_near or row[i] < worst:
                    place = min(i, n_near - 1)
                    while place > 0 and row[i] < row[near[place - 1]]:
                        near[place] = near[place - 1]
                        place -= 1
                    near[place] = i
                    worst = row[near[min(i, n_near - 1)]]
            for rank in range(n_near):
                _add_scaled(sums[near[rank]], weights[start + j] * table[rank], block[j])


@njit(**WITHIN_LOOPS, fastmath={"contract"})
def _add_scaled(total: Floats, factor: float, row: Array) -> None:
    for t in range(len(row)):
        total[t] += factor * row[t]


@njit(**WITHIN_LOOPS, fastmath={"reassoc", "contract"})
def _squared_distances(point: Array, positions: Array, metric: Array, distances: Array) -> None:
    zero = point.dtype.type(0.0)
    for i in range(positions.shape[0]):
        total = zero
        for t in range(point.shape[0]):
            gap = point[t] - positions[i, t]
            total += metric[t] * gap * gap if gap == gap else zero  # not a number: not known
        distances[i] = total


@njit(**WITHIN_LOOPS, fastmath={"reassoc", "contract"})
def _mix(mixture: Array, distances: Array, mixed: Array) -> None:
    for i in range(mixture.shape[0]):
        total = distances.dtype.type(0.0)
        for t in range(mixture.shape[1]):
            total += mixture[i, t] * distances[t]
        mixed[i] = total


@njit(**WITHIN_LOOPS, fastmath={"contract"})
def _pull(position: Array, point: Array, step: float) -> None:
    rate = point.dtype.type(step)
    for t in range(point.shape[0]):
        gap = point[t] - position[t]
        if gap == gap:
            position[t] += rate * gap


@njit(**WITHIN_LOOPS)
def _two_smallest(distances: Array, places: Indices) -> None:
    """Write where the two smallest are, the lower index of equal ones; twice the same if there is but one."""
    first, second = 0, 0
    for i in range(1, distances.shape[0]):
        if distances[i] < distances[first]:
            first, second = i, first
        elif second == first or distances[i] < distances[second]:
            second = i
    places[0], places[1] = first, second


@njit(**WITHIN_LOOPS)
def _lowest(values: Array) -> int:
    """Return where the smallest is, the lower index of equal ones."""
    lowest = 0
    for i in range(1, values.shape[0]):
        if values[i] < values[lowest]:
            lowest = i
    return lowest


@njit(cache=True, nogil=True)
def _sort(values: Array, order: Indices, room: Indices) -> None:
    """Write the order (k,) of values (k,), equal ones by their index, by merging; ``room`` (k,) is used for this."""
    k, width = values.shape[0], 1
    for i in range(k):
        order[i] = i
    while width < k:
        for start in range(0, k, 2 * width):
            middle, end = min(start + width, k), min(start + 2 * width, k)
            a, b = start, middle
            for t in range(start, end):
                if b == end or (a < middle and values[order[a]] <= values[order[b]]):
                    room[t] = order[a]
                    a += 1
                else:
                    room[t] = order[b]
                    b += 1
        for i in range(k):
            order[i] = room[i]
        width *= 2


@njit(cache=True, nogil=True)
def link_winners(seen: Indices, strengths: Floats, ages: Indices, lifetime: int) -> None:
    """Connect the two nearest prototypes of one sample after the other, and drop edges that were not renewed.

    Strengths and ages (k, k) change in place. An edge ages by one whenever one of its ends wins without it; Martinetz
    and Schulten 1994.
    """
    for j in range(seen.shape[0]):
        first, second = seen[j]
        for i in range(strengths.shape[0]):
            if strengths[first, i] > 0.0:
                ages[first, i] += 1
                ages[i, first] = ages[first, i]
                if ages[first, i] > lifetime and i != second:
                    strengths[first, i] = strengths[i, first] = 0.0
        if first != second:
            strengths[first, second] += 1.0
            strengths[second, first] = strengths[first, second]
            ages[first, second] = ages[second, first] = 0


@njit(cache=True, nogil=True)
def online_gas(
    points: Array,
    positions: Array,
    metric: Array,
    rates: Floats,
    ranges: Floats,
    gains: Floats,
    seen: Indices,
) -> None:
    """Neural gas, one sample after the other: every prototype moves by the weight of its rank.

    The step is multiplied by the gain (k,) of the winner; the two nearest prototypes (n, 2) are written to ``seen``.
    """
    k = positions.shape[0]
    distances, order, room = np.empty(k, points.dtype), np.empty(k, np.int64), np.empty(k, np.int64)
    for j in range(points.shape[0]):
        _squared_distances(points[j], positions, metric, distances)
        _two_smallest(distances, seen[j])
        fade = np.exp(-1.0 / ranges[j])
        step = rates[j] * gains[seen[j, 0]]
        if fade < 1e-12:  # only the winner moves
            _pull(positions[seen[j, 0]], points[j], step)
            continue
        _sort(distances, order, room)
        for rank in range(k):
            _pull(positions[order[rank]], points[j], step)  # Hasenfuss 2009, eq. 2.9
            step *= fade
            if step < 1e-12:
                break


@njit(cache=True, nogil=True)
def online_lattice(
    points: Array,
    positions: Array,
    metric: Array,
    rates: Floats,
    neighborhood: Floats,
    mixture: Array,
    gains: Floats,
    seen: Indices,
) -> None:
    """Self-organizing map, one sample after the other, with a fixed neighborhood (k, k).

    The winner minimizes ``mixture @ distances``, or the distance itself when ``mixture`` has no rows; the step is
    multiplied by its gain (k,). The two nearest prototypes (n, 2) are written to ``seen``.
    """
    k = positions.shape[0]
    distances = np.empty(k, points.dtype)
    mixed = np.empty(k, points.dtype)
    for j in range(points.shape[0]):
        _squared_distances(points[j], positions, metric, distances)
        _two_smallest(distances, seen[j])
        winner = seen[j, 0]
        if mixture.shape[0] > 0:
            _mix(mixture, distances, mixed)
            winner = _lowest(mixed)
        for i in range(k):
            step = rates[j] * gains[winner] * neighborhood[winner, i]
            if step > 1e-12:
                _pull(positions[i], points[j], step)  # Hasenfuss 2009, eq. 2.4


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def shape_distances(
    coordinates: Array,
    offsets: Array,
    squared: Array,
    norms: Array,
    square_norms: Array,
    gaps: Array,
    other: Array,
    constant: Array,
    distances: Array,
) -> None:
    """Write ``sum_a (g_a - r) y_a^2 + r |xi|^2 + c`` for samples and prototypes into ``distances`` (c, k).

    ``coordinates`` (c, kq) come as products with the directions and leave measured from the prototypes (minus
    ``offsets``), ``squared`` (c, k) comes as ``-2 x w`` and leaves as ``|x - w|^2``.
    """
    n, k = squared.shape
    q = coordinates.shape[1] // k
    zero = squared.dtype.type(0.0)
    for j in range(n):
        for i in range(k):
            total = zero
            for a in range(i * q, (i + 1) * q):
                y = coordinates[j, a] - offsets[a]
                coordinates[j, a] = y
                total += gaps[a] * y * y
            length = max(squared[j, i] + norms[j] + square_norms[i], zero)
            squared[j, i] = length
            distances[j, i] = total + other[i] * length + constant[i]


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def add_products(
    features: Array,
    weights: Array,
    least: Array,
    coordinates: Array,
    positions: Floats,
    products: Floats,
) -> None:
    """Add ``h y (x - w)'`` to the products (k, q, d), for samples and prototypes of more than least weight."""
    n, k = weights.shape
    q, d = products.shape[1:]
    for i in range(k):
        for j in range(n):
            if weights[j, i] > least[i]:
                for a in range(q):
                    pull = weights[j, i] * coordinates[j, i * q + a]
                    for t in range(d):
                        products[i, a, t] += pull * (features[j, t] - positions[i, t])


@njit(cache=True, nogil=True)
def sum_weighted(
    rows: Array,
    starts: Array,
    columns: Array,
    weights: Floats,
    sums: Floats,
) -> None:
    """Add the product of rows (c, n) with a sparse matrix (n, k), given row by row, to ``sums`` (c, k)."""
    for r in range(rows.shape[0]):
        for j in range(rows.shape[1]):
            value = rows[r, j]
            for t in range(starts[j], starts[j + 1]):
                sums[r, columns[t]] += weights[t] * value


@njit(cache=True, nogil=True, fastmath={"contract"})
def add_weighted_rows(matrix: Array, starts: Array, columns: Array, weights: Floats, first: int, sums: Floats) -> None:
    """Add the rows of a matrix (n, n), from a column on, to ``sums`` (k, c), by a sparse matrix (n, k) of weights."""
    for j in range(matrix.shape[0]):
        row = matrix[j, first:]
        for t in range(starts[j], starts[j + 1]):
            total, weight = sums[columns[t]], weights[t]
            for i in range(len(total)):
                total[i] += weight * row[i]


@njit(**WITHIN_LOOPS)
def _second(S: Array, medoids: Indices, o: int, first: int) -> tuple[int, float]:
    """Return the medoid nearest to object ``o`` but for ``first``, and its dissimilarity."""
    best, least = -1, np.inf
    for i in range(medoids.shape[0]):
        if i != first and S[medoids[i], o] < least:
            best, least = i, S[medoids[i], o]
    return best, least


@njit(cache=True, nogil=True)
def swap_medoids(S: Array, weights: Floats, medoids: Indices, order: Indices, n_open: int) -> int:
    """Try objects in order, and swap a medoid (k,), in place, for each that lowers the weighted sum.

    Only the first ``n_open`` are tried, unless one of them is taken, then all; returns how many are open after that,
    because they were not tried since the last swap.

    An object is tried against all medoids at once: Schubert and Rousseeuw 2021, alg. FasterPAM.
    """
    n, k = S.shape[0], medoids.shape[0]
    first, second, taken = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    d1, d2 = np.empty(n), np.empty(n)
    total = 0.0
    for o in range(n):
        taken[o] = 0
    for i in range(k):
        taken[medoids[i]] = 1
    for o in range(n):
        first[o], d1[o] = _second(S, medoids, o, k)
        second[o], d2[o] = _second(S, medoids, o, first[o])
        total += weights[o] * (abs(d1[o]) + abs(d2[o]))
    removal, change = np.empty(k), np.empty(k)
    still_open, stale = 0, True
    for place in range(n):
        if place >= n_open and still_open == 0:
            break
        x = order[place]
        if taken[x]:
            continue
        if stale:
            for i in range(k):
                removal[i] = 0.0
            for o in range(n):
                removal[first[o]] += weights[o] * (d2[o] - d1[o])
            stale = False
        for i in range(k):
            change[i] = removal[i]
        gained = 0.0
        for o in range(n):
            d = S[x, o]
            if d < d2[o]:  # few are, so this is where the time goes
                nearer = min(d, d1[o])
                gained += weights[o] * (nearer - d1[o])
                change[first[o]] += weights[o] * (max(d, d1[o]) - d2[o])
        i = _lowest(change)
        if change[i] + gained >= -1e-12 * total:
            continue
        taken[medoids[i]], taken[x] = 0, 1
        medoids[i] = x
        for o in range(n):
            d = S[x, o]
            if first[o] == i:
                if d < d2[o]:
                    d1[o] = d
                else:
                    first[o], d1[o] = second[o], d2[o]
                    second[o], d2[o] = _second(S, medoids, o, first[o])
            elif d < d1[o]:
                second[o], d2[o] = first[o], d1[o]
                first[o], d1[o] = i, d
            elif second[o] == i:
                second[o], d2[o] = _second(S, medoids, o, first[o])
            elif d < d2[o]:
                second[o], d2[o] = i, d
        still_open, stale = place + 1, True
    return still_open


@njit(cache=True, nogil=True)
def squares_to_rows(points: Array, others: Array, indices: Array, first: int, last: int, squares: Array) -> None:
    """Fill squares (n, k) with the squared distances of some points (n, d) to those of the others that are named."""
    for i in range(first, last):
        for j in range(indices.shape[1]):
            total = 0.0
            for f in range(points.shape[1]):
                gap = points[i, f] - others[indices[i, j], f]
                total += gap * gap
            squares[i, j] = total
