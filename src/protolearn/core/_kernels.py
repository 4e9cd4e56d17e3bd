"""Compiled loops for what matrix products cannot do: ranks, and learning one sample at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from protolearn.core.compiling import FROM_PYTHON, WITHIN_LOOPS
from protolearn.core.types import Array, Floats, Indices

# A code holds a distance in its high bits and the prototype's index in its low bits: one sort of plain numbers gives
# the order, and distances that differ by no more than rounding count as ties, resolved by index.


@njit(**FROM_PYTHON)
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


@njit(**FROM_PYTHON, error_model="numpy")
def short_codes(distances: NDArray[np.float32], n_bits: int) -> None:
    """Replace single-precision distances (c, k) by fractions of the range of their row, the index in ``n_bits``.

    These are unsigned whole numbers in the place of the distances. The range is found among whole numbers in the order
    of the distances, which becomes vector instructions.
    """
    n, k = distances.shape
    top, shift = np.float32(0.9999999) * np.float32(1 << (32 - n_bits)), np.uint32(n_bits)
    bits, codes = distances.view(np.int32), distances.view(np.uint32)
    ends = np.empty(2, np.int32)
    values = ends.view(np.float32)
    for j in range(n):
        least, most = np.int32(0x7FFFFFFF), np.int32(-0x80000000)
        for i in range(k):
            least, most = min(least, _ordered(bits[j, i])), max(most, _ordered(bits[j, i]))
        ends[0], ends[1] = _ordered(least), _ordered(most)
        low, high = values
        extent = high - low if high > low else np.float32(1.0)
        for i in range(k):
            level = np.int32((distances[j, i] - low) / extent * top)
            codes[j, i] = (np.uint32(level) << shift) | np.uint32(i)


@njit(**WITHIN_LOOPS)
def _ordered(bits: Any) -> Any:
    """Turn the bits of a float into a whole number in the order of floats, or back: negative ones are reversed."""
    return np.int32(bits ^ ((bits >> 31) & 0x7FFFFFFF))


@njit(**FROM_PYTHON)
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

    ``codes`` (c, k) are sorted; ``weights`` (c, k) may be in their place, and those below ``least`` are zero. If
    ``relative``, ranks are counted from the best one that a prototype has in these samples, which goes to
    ``best_rank`` (k,); otherwise that must come zeroed.
    """
    n, k = codes.shape
    near, index_bits = np.empty(len(table), np.uintp), np.uintp(mask)  # unsigned: no check for negative indices
    if relative:
        for p in range(k):
            best_rank[p] = k
        for j in range(n):
            if sample_weights[j] > 0:
                for r in range(len(table)):
                    nearest = np.uintp(codes[j, r]) & index_bits
                    best_rank[nearest] = min(best_rank[nearest], r)
    for j in range(n):
        for r in range(len(table)):
            near[r] = np.uintp(codes[j, r]) & index_bits
        row, u = weights[j], sample_weights[j]
        row[:] = 0.0
        for r in range(len(table) if u > 0 else 0):
            weight = u * table[r - best_rank[near[r]] if relative else r]
            row[near[r]] = weight if weight >= least else 0.0


@njit(**FROM_PYTHON)
def find_winners(
    lifted: Array,
    wanted: Indices,
    forms: Array,
    exact: Floats,
    limits: tuple[float, ...],
    coarse: float,
    size: int,
    upright: bool,
    winners: Array,
    room: Floats,
    runners_up: Array,
) -> int:
    """Find the nearest prototypes of the samples that are wanted, and the room that they have; see `core.bounds`.

    The second nearest ones, as the products tell, go to ``runners_up`` (n,) unless that is empty.

    Lifted samples (n, L) are multiplied with ``forms`` (k, L or L - 1), which are ``exact`` up to rounding, for
    ``size`` samples at a time, so that products stay in the cache of a core, and nothing holds up other threads. If
    ``upright``, samples are columns in memory as well. The search ends before a block of which a share above
    ``coarse`` is too close to call; returns how many are done.
    """
    k, n_terms = forms.shape
    reach, growth, least_square = limits[4:]
    block = np.empty((size, n_terms), forms.dtype)
    columns = np.empty(n_terms * size if upright else 0, forms.dtype)
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
        if upright:
            standing = columns[: n_terms * m].reshape(n_terms, m)
            for t in range(n_terms):
                for j in range(m):
                    standing[t, j] = block[j, t]
            np.dot(forms, standing, here)
        else:
            np.dot(forms, block[:m].T, here)
        _two_smallest_rows(here, first[:m], low[:m], second[:m])
        n_close = _judge(squares[:m], low[:m], second[:m], limits, margins, rooms)
        if n_close > coarse * m:
            return start
        for j in range(m):
            sample = wanted[start + j]
            winners[sample], room[sample] = first[j], rooms[j]
        for j in range(m if n_close else 0):
            if rooms[j] == -np.inf:
                sample = wanted[start + j]
                winners[sample] = _lowest_product(lifted[sample], exact, here[:, j], low[j] + margins[j])
        if len(runners_up) > 0:
            for j in range(m):
                here[winners[wanted[start + j]], j] = np.inf
            _smallest_rows(here, first[:m], low[:m])
            for j in range(m):
                runners_up[wanted[start + j]] = first[j]
    return len(wanted)


@njit(**WITHIN_LOOPS, error_model="numpy")
def _judge(
    squares: Floats, low: Array, second: Array, limits: tuple[float, ...], margins: Floats, rooms: Floats
) -> int:
    """Write the margins of rounding of the two smallest products, and the room; return how many are too close to call.

    These have a room of minus infinity. Without branches and exceptions, all of this is vector instructions.
    """
    margin, margin_per_length, too_large, least_room, reach = limits[:5]
    n_close = 0
    for j in range(squares.shape[0]):
        length = np.sqrt(squares[j])
        wide = margin + margin_per_length * length
        wide = wide if wide < too_large else np.inf  # products may have overflown
        gap = np.float64(second[j]) - np.float64(low[j]) - wide
        farther, nearer = squares[j] + wide + second[j], squares[j] + wide + low[j]
        apart = np.sqrt(farther if farther > 0.0 else 0.0) + np.sqrt(nearer if nearer > 0.0 else 0.0)
        far = gap > 0.0
        margins[j] = wide
        rooms[j] = gap / apart - least_room * (length + reach) if far else -np.inf
        n_close += not far
    return n_close


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

    Rows are taken in pairs, and without branches, so that all of this is vector instructions.
    """
    k, m = products.shape
    first[:] = 0
    second[:] = np.inf
    if k % 2:
        low[:] = products[0]
    else:
        low[:] = np.inf
    for i in range(k % 2, k, 2):
        row, other_row = products[i], products[i + 1]
        number, other_number = np.int32(i), np.int32(i + 1)
        for j in range(m):
            value, other, least, next_least = row[j], other_row[j], low[j], second[j]
            swap = other < value
            lower, upper = other if swap else value, value if swap else other
            winner = other_number if swap else number
            nearer = lower < least
            lost, rest = least if nearer else lower, upper if nearer else next_least
            first[j] = winner if nearer else first[j]
            low[j] = lower if nearer else least
            second[j] = lost if lost < rest else rest


@njit(**WITHIN_LOOPS)
def _smallest_rows(products: Array, first: Array, low: Array) -> None:
    """Write for each column (m,) of products (k, m) the row of the smallest, the first of equal ones, and its value."""
    k, m = products.shape
    first[:] = 0
    low[:] = products[0]
    for i in range(1, k):
        row, number = products[i], np.int32(i)
        for j in range(m):
            value, least = row[j], low[j]
            first[j] = number if value < least else first[j]
            low[j] = value if value < least else least


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


@njit(**FROM_PYTHON)
def sum_fields(lifted: Array, weights: Array, winners: Array, sums: Floats) -> None:
    """Add each sample (c, D + 2), times its weight, to the row of ``sums`` (k, D + 2) of its winner."""
    for j in range(lifted.shape[0]):
        row, total, weight = lifted[j], sums[winners[j]], np.float64(weights[j])
        for t in range(len(row)):
            total[t] += weight * row[t]


@njit(**FROM_PYTHON)
def sum_nearby(lifted: Array, forms: Array, weights: Array, table: Array, sums: Floats, size: int) -> None:
    """Add each sample, times its weight and ``table[rank]``, to the rows of ``sums`` of its nearest prototypes.

    As many of these learn as the table is long; between equal distances the lower index is nearer. Distances
    ``forms @ lifted.T`` are computed for ``size`` samples at a time, as in `find_winners`, and searched once for
    each rank.
    """
    k = forms.shape[0]
    products = np.empty(k * size, lifted.dtype)
    near, low = np.empty(size, np.int32), np.empty(size, lifted.dtype)
    for start in range(0, lifted.shape[0], size):
        block = lifted[start : start + size]
        m = block.shape[0]
        here = products[: k * m].reshape(k, m)
        np.dot(forms, block.T, here)
        for rank in range(len(table)):
            _smallest_rows(here, near[:m], low[:m])
            for j in range(m):
                here[near[j], j] = np.inf
                _add_scaled(sums[near[j]], weights[start + j] * table[rank], block[j])


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


@njit(**FROM_PYTHON)
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


@njit(**FROM_PYTHON)
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


@njit(**FROM_PYTHON)
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


@njit(**FROM_PYTHON)
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


@njit(**FROM_PYTHON, fastmath={"reassoc", "contract"})
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


@njit(**FROM_PYTHON, fastmath={"reassoc", "contract"})
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


@njit(**FROM_PYTHON)
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


@njit(**FROM_PYTHON, fastmath={"contract"})
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


@njit(**FROM_PYTHON)
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


@njit(**FROM_PYTHON)
def squares_to_rows(points: Array, others: Array, indices: Array, first: int, last: int, squares: Array) -> None:
    """Fill squares (n, k) with the squared distances of some points (n, d) to those of the others that are named."""
    for i in range(first, last):
        for j in range(indices.shape[1]):
            total = 0.0
            for f in range(points.shape[1]):
                gap = points[i, f] - others[indices[i, j], f]
                total += gap * gap
            squares[i, j] = total
