"""Compiled loops of neighbor embeddings: bandwidths, attraction along the edges of a graph, and a field on a grid."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, types
from numba.extending import intrinsic
from numpy.typing import NDArray

from protolearn.core.compiling import FROM_PYTHON, WITHIN_LOOPS
from protolearn.core.types import Floats

# Sums may be taken in any order, so that loops over edges use whole vector registers.
FAST = {"nnan", "ninf", "nsz", "contract", "reassoc", "arcp"}

Singles = NDArray[np.float32]

f32, i32 = np.float32, np.int32

# The mantissa is taken between sqrt(1/2) and sqrt(2), where log2 is an odd series of (m - 1) / (m + 1) that ends early.
_ROOT_HALF = i32(0x3F3504F3)

# Sums may be taken in any order, so that distances use whole vector registers.
ASSOCIATIVE = {"nsz", "contract", "reassoc"}


@njit(**FROM_PYTHON, error_model="numpy")
def calibrate(
    squares: Floats,
    first: int,
    last: int,
    log_perplexity: float,
    p: Floats,
    rates: Floats,
    steps: int,
    tolerance: float,
) -> None:
    """Fill p (n, k) with ``exp(-rate * squares)`` of rows first to last, normalized, with the entropy asked for.

    ``rates`` (n,) gets ``1 / (2 sigma^2)`` of each row. Infinite squares mean no neighbor.
    """
    k = squares.shape[1]
    for i in range(first, last):
        least, total, m = np.inf, 0.0, 0
        for j in range(k):
            if squares[i, j] < np.inf:
                least = min(least, squares[i, j])
                total += squares[i, j]
                m += 1
        spread = total / m - least
        rate = 1.0 / spread if spread > 0.0 else 1.0
        low, high, stride = 0.0, np.inf, 2.0
        for _ in range(steps):
            mass, moment = 0.0, 0.0
            for j in range(k):
                excess = squares[i, j] - least
                w = np.exp(-rate * excess) if excess < np.inf else 0.0
                p[i, j] = w
                mass += w
                if w > 0.0:
                    moment += w * excess
            entropy = np.log(mass) + rate * moment / mass
            for j in range(k):
                p[i, j] /= mass
            if abs(entropy - log_perplexity) < tolerance or spread <= 0.0:
                break
            if entropy > log_perplexity:
                low = rate
            else:
                high = rate
            if low > 0.0 and high < np.inf:
                rate = np.sqrt(low) * np.sqrt(high)
            else:
                rate = rate / stride if high < np.inf else min(rate * stride, 1e300)
                stride = min(stride * stride, 1e30)
        rates[i] = rate


@intrinsic
def _bits_of(typingctx: Any, number: Any) -> Any:
    """Read the bits of a single-precision number as an integer."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], context.get_value_type(types.int32))

    return types.int32(types.float32), codegen


@intrinsic
def _number_of(typingctx: Any, bits: Any) -> Any:
    """Read an integer as the bits of a single-precision number."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], context.get_value_type(types.float32))

    return types.float32(types.int32), codegen


@njit(inline="always", fastmath=FAST)
def _exp2(exponent: np.float32) -> np.float32:
    """Return ``2 ** exponent`` to about 1e-6, in operations that processors do on many numbers at a time."""
    exponent = max(min(exponent, f32(126.0)), f32(-126.0))
    whole = np.floor(exponent + f32(0.5))
    x = exponent - whole
    series = f32(0.00961812911) + x * (f32(0.00133335581) + x * f32(0.000154035304))
    series = f32(1.0) + x * (f32(0.693147181) + x * (f32(0.240226507) + x * (f32(0.0555041087) + x * series)))
    return series * _number_of((i32(whole) + i32(127)) << i32(23))  # type: ignore[call-arg]


@njit(inline="always", fastmath=FAST)
def _log2(number: np.float32) -> np.float32:
    """Return the binary logarithm of a positive number to about 1e-7."""
    bits = _bits_of(number) - _ROOT_HALF  # type: ignore[call-arg]
    mantissa = _number_of((bits & i32(0x007FFFFF)) + _ROOT_HALF)
    x = (mantissa - f32(1.0)) / (mantissa + f32(1.0))
    s = x * x
    series = x * (f32(2.885390082) + s * (f32(0.961796694) + s * (f32(0.577078016) + s * f32(0.412198583))))
    return f32(bits >> i32(23)) + series


@njit(inline="always", fastmath=FAST)
def _power(base: np.float32, exponent: np.float32) -> np.float32:
    """Return ``base ** exponent`` of a positive base to about 1e-6."""
    return _exp2(_log2(base) * exponent)


# Points are collected first: fetched within a loop over vector registers, they would take longer than all the rest.


@njit(inline="always")
def _room(indptr: Any, first: int, last: int) -> tuple[Singles, Singles]:
    """Return room for the differences of each of some points to all of its neighbors."""
    longest = 0
    for i in range(first, last):
        longest = max(longest, indptr[i + 1] - indptr[i])
    return np.empty(longest, np.float32), np.empty(longest, np.float32)


@njit(inline="always", fastmath=FAST)
def _apart(indptr: Any, indices: Any, points: Singles, i: int, xs: Singles, ys: Singles) -> tuple[int, int]:
    """Set the differences of a point to its neighbors; return where its edges start, and how many there are."""
    start = indptr[i]
    m = indptr[i + 1] - start
    x, y = points[i, 0], points[i, 1]
    for k in range(m):
        j = indices[start + k]
        xs[k], ys[k] = x - points[j, 0], y - points[j, 1]
    return start, m


@njit(**FROM_PYTHON, error_model="numpy", fastmath=FAST)
def pull_inverse(
    indptr: Any, indices: Any, edges: Singles, points: Singles, scale: float, first: int, last: int, forces: Floats
) -> None:
    """Set forces (n, 2) to the sum over edges of ``edge * (y_i - y_j) / (1 + scale * r_ij)``."""
    xs, ys = _room(indptr, first, last)
    inverse = f32(scale)
    for i in range(first, last):
        start, m = _apart(indptr, indices, points, i, xs, ys)
        along, across = f32(0.0), f32(0.0)
        for k in range(m):
            w = edges[start + k] / (f32(1.0) + inverse * (xs[k] * xs[k] + ys[k] * ys[k]))
            along += w * xs[k]
            across += w * ys[k]
        forces[i, 0] = along
        forces[i, 1] = across


@njit(**FROM_PYTHON, error_model="numpy", fastmath=FAST)
def pull_power(
    indptr: Any,
    indices: Any,
    edges: Singles,
    points: Singles,
    scale: float,
    exponent: float,
    exponential: bool,
    first: int,
    last: int,
    forces: Floats,
    totals: Floats,
) -> None:
    """Sum ``edge * u`` to totals (n,) and ``edge * v * (y_i - y_j)`` to forces (n, 2) over the edges of each point.

    With ``b = 1 + scale * r_ij`` it is ``v = b ** exponent`` and ``u = b * v``; if ``exponential``, it is
    ``u = v = exp(exponent * scale * r_ij)``.
    """
    xs, ys = _room(indptr, first, last)
    step, power = f32(scale), f32(exponent)
    rate = f32(exponent * scale / np.log(2.0))
    for i in range(first, last):
        start, m = _apart(indptr, indices, points, i, xs, ys)
        total, along, across = f32(0.0), f32(0.0), f32(0.0)
        if exponential:
            for k in range(m):
                w = edges[start + k] * _exp2(rate * (xs[k] * xs[k] + ys[k] * ys[k]))
                total += w
                along += w * xs[k]
                across += w * ys[k]
        else:
            for k in range(m):
                base = f32(1.0) + step * (xs[k] * xs[k] + ys[k] * ys[k])
                w = edges[start + k] * _power(base, power)
                total += w * base
                along += w * xs[k]
                across += w * ys[k]
        forces[i, 0] = along
        forces[i, 1] = across
        totals[i] = total


@njit(**FROM_PYTHON, fastmath=FAST)
def sum_logs(
    indptr: Any,
    indices: Any,
    edges: Singles,
    points: Singles,
    scale: float,
    exponential: bool,
    first: int,
    last: int,
    totals: Floats,
) -> None:
    """Sum ``edge * log(1 + scale * r_ij)``, or ``edge * scale * r_ij`` if exponential, over the edges of each point."""
    step = f32(scale)
    for i in range(first, last):
        x, y = points[i, 0], points[i, 1]
        total = f32(0.0)
        for k in range(indptr[i], indptr[i + 1]):
            j = indices[k]
            dx, dy = x - points[j, 0], y - points[j, 1]
            excess = step * (dx * dx + dy * dy)
            total += edges[k] * (excess if exponential else f32(0.6931472) * _log2(f32(1.0) + excess))
        totals[i] = total


@njit(**FROM_PYTHON, fastmath=FAST)
def pull_weighted(
    indptr: Any, indices: Any, weights: Floats, points: Floats, first: int, last: int, forces: Floats
) -> None:
    """Set forces (n, d) to the sum over edges of ``weight * (y_i - y_j)``."""
    d = points.shape[1]
    for i in range(first, last):
        forces[i] = 0.0
        for k in range(indptr[i], indptr[i + 1]):
            j = indices[k]
            for c in range(d):
                forces[i, c] += weights[k] * (points[i, c] - points[j, c])


@njit(**FROM_PYTHON)
def edge_squares(indptr: Any, indices: Any, points: Floats, first: int, last: int, squares: Floats) -> None:
    """Fill squares (nnz,) with the squared length of each edge."""
    d = points.shape[1]
    for i in range(first, last):
        for k in range(indptr[i], indptr[i + 1]):
            j = indices[k]
            square = 0.0
            for c in range(d):
                difference = points[i, c] - points[j, c]
                square += difference * difference
            squares[k] = square


@njit(inline="always")
def _weight_and_decay(r: float, dof: float) -> tuple[float, float]:
    """Return the kernel of a squared distance, Student or, with infinitely many degrees, Gaussian, and its decay."""
    if dof == 1.0:
        w = 1.0 / (1.0 + r)
        return w, w
    if dof < np.inf:
        return (1.0 + r / dof) ** (-0.5 * (dof + 1.0)), 0.5 * (dof + 1.0) / (dof + r)
    return np.exp(-r), 1.0


@njit(**FROM_PYTHON, error_model="numpy")
def local_radii(
    indptr: Any, indices: Any, points: Floats, dof: float, first: int, last: int, masses: Floats, radii: Floats
) -> None:
    """Sum the kernel over the neighbors of each point to masses (n,), and average squared distances by it to radii."""
    d = points.shape[1]
    for i in range(first, last):
        mass, moment = 0.0, 0.0
        for k in range(indptr[i], indptr[i + 1]):
            j = indices[k]
            r = 0.0
            for c in range(d):
                gap = points[i, c] - points[j, c]
                r += gap * gap
            w, _ = _weight_and_decay(r, dof)
            mass += w
            moment += w * r
        masses[i] = max(mass, 1e-200)
        radii[i] = moment / masses[i]


@njit(**FROM_PYTHON, error_model="numpy")
def pull_radii(
    indptr: Any,
    indices: Any,
    points: Floats,
    dof: float,
    shares: Floats,
    radii: Floats,
    first: int,
    last: int,
    forces: Floats,
) -> None:
    """Set forces (n, d) to the gradient of the radii R, weighted by ``shares * masses``, of a symmetric graph.

    A radius grows with the squared distance r of a neighbor by ``w (1 + decay (R - r)) / mass``.
    """
    d = points.shape[1]
    for i in range(first, last):
        forces[i] = 0.0
        for k in range(indptr[i], indptr[i + 1]):
            j = indices[k]
            r = 0.0
            for c in range(d):
                gap = points[i, c] - points[j, c]
                r += gap * gap
            w, decay = _weight_and_decay(r, dof)
            both = shares[i] * (1.0 + decay * (radii[i] - r)) + shares[j] * (1.0 + decay * (radii[j] - r))
            for c in range(d):
                forces[i, c] += 2.0 * w * both * (points[i, c] - points[j, c])


@njit(**WITHIN_LOOPS)
def spline(t: Any, w: Floats) -> None:
    """Set w (6,) to the quintic B-splines of the six nearest nodes, at the fraction t behind the third of them."""
    u = 1.0 - t
    t2, u2 = t * t, u * u
    t4, u4 = t2 * t2, u2 * u2
    w[0] = u4 * u / 120.0
    w[5] = t4 * t / 120.0
    w[2] = (66.0 - 60.0 * t2 + 30.0 * t4 - 10.0 * t4 * t) / 120.0
    w[3] = (66.0 - 60.0 * u2 + 30.0 * u4 - 10.0 * u4 * u) / 120.0
    w[1] = (26.0 - 50.0 * t + 20.0 * t2 + 20.0 * t2 * t - 20.0 * t4 + 5.0 * t4 * t) / 120.0
    w[4] = (26.0 - 50.0 * u + 20.0 * u2 + 20.0 * u2 * u - 20.0 * u4 + 5.0 * u4 * u) / 120.0


@njit(**WITHIN_LOOPS)
def spline_slope(t: Any, w: Floats) -> None:
    """Set w (6,) to the derivatives of the splines with respect to t."""
    u = 1.0 - t
    t2, u2 = t * t, u * u
    t4, u4 = t2 * t2, u2 * u2
    w[0] = -u4 / 24.0
    w[5] = t4 / 24.0
    w[2] = (-120.0 * t + 120.0 * t2 * t - 50.0 * t4) / 120.0
    w[3] = (120.0 * u - 120.0 * u2 * u + 50.0 * u4) / 120.0
    w[1] = (-50.0 + 40.0 * t + 60.0 * t2 - 80.0 * t2 * t + 25.0 * t4) / 120.0
    w[4] = (50.0 - 40.0 * u - 60.0 * u2 + 80.0 * u2 * u - 25.0 * u4) / 120.0


@njit(**FROM_PYTHON)
def spread(points: Floats, charges: Floats, low: Floats, step: Floats, grid: Any) -> None:
    """Add the charge (n,) of each point to the nodes of the grid around it."""
    a, b = np.empty(6), np.empty(6)
    for i in range(len(points)):
        x, y = (points[i, 0] - low[0]) / step[0], (points[i, 1] - low[1]) / step[1]
        left, below = int(x), int(y)
        spline(x - left, a)
        spline(y - below, b)
        for j in range(6):
            c = charges[i] * a[j]
            for k in range(6):
                grid[left + j, below + k] += c * b[k]


@njit(**WITHIN_LOOPS, fastmath=FAST)
def _read_field(x: float, y: float, nodes: Floats, splines: Floats) -> tuple[float, float, float]:
    """Return value and gradient of a field on a grid at a place, in steps of it; splines (4, 6) are room for this."""
    left, below = int(x), int(y)
    a, b, da, db = splines[0], splines[1], splines[2], splines[3]
    spline(x - left, a)
    spline(y - below, b)
    spline_slope(x - left, da)
    spline_slope(y - below, db)
    value, along, across = 0.0, 0.0, 0.0
    for j in range(6):
        row, slope = 0.0, 0.0
        for k in range(6):
            g = nodes[left + j, below + k]
            row += g * b[k]
            slope += g * db[k]
        value += a[j] * row
        along += da[j] * row
        across += a[j] * slope
    return value, along, across


@njit(**FROM_PYTHON, fastmath=FAST)
def gather(
    points: Floats,
    charges: Floats,
    low: Floats,
    step: Floats,
    grid: Any,
    own: Floats,
    first: int,
    last: int,
    values: Floats,
    gradients: Floats,
) -> None:
    """Read values (n,) and gradients (n, 2) of the field on a grid at the points, each without its own part.

    ``own`` (m + 1, m + 1, 3) holds the value and the gradient, in steps, that a point of charge 1 causes at itself, by
    where it lies between nodes.
    """
    splines, mine = np.empty((4, 6)), np.empty(3)
    m = len(own) - 1
    for i in range(first, last):
        x, y = (points[i, 0] - low[0]) / step[0], (points[i, 1] - low[1]) / step[1]
        value, along, across = _read_field(x, y, grid, splines)
        u, v = m * (x - int(x)), m * (y - int(y))
        j, k = min(int(u), m - 1), min(int(v), m - 1)
        u -= j
        v -= k
        near, far = charges[i] * (1.0 - u), charges[i] * u
        for part in range(3):
            mine[part] = (1.0 - v) * (near * own[j, k, part] + far * own[j + 1, k, part])
            mine[part] += v * (near * own[j, k + 1, part] + far * own[j + 1, k + 1, part])
        values[i] = value - mine[0]
        gradients[i, 0] = (along - mine[1]) / step[0]
        gradients[i, 1] = (across - mine[2]) / step[1]


@njit(**FROM_PYTHON, error_model="numpy")
def place(
    points: Floats,
    indices: Any,
    p: Floats,
    dof: float,
    low: Floats,
    high: Floats,
    step: Floats,
    nodes: Floats | None,
    others: Floats | None,
    n_steps: int,
    still: float,
    first: int,
    last: int,
    places: Floats,
) -> None:
    """Move each of the places (m, d) down ``-sum_j p_j log w_j + log sum_j w_j``, between low and high (d,).

    The first sum is over the points with indices (m, k) among all (n, d), the second over all: read from the nodes of a
    grid or, if there is none, summed over the others, which are all points; one of the two is None. Where a Student
    kernel is bounded by Gaussians, the first sum alone leads to a weighted mean in one step; such a step is halved as
    long as it leads upwards.
    """
    d = points.shape[1]
    here, there, gradient, slope, push = np.empty(d), np.empty(d), np.empty(d), np.empty(d), np.empty(d)
    splines = np.empty((4, 6))
    heavy = dof < np.inf
    for i in range(first, last):
        for c in range(d):
            there[c] = places[i, c]
        best, share, curvature = np.inf, 1.0, 1.0
        for t in range(n_steps):
            cost, near, steep = 0.0, 0.0, 0.0
            slope[:] = 0.0
            for k in range(indices.shape[1]):
                j = indices[i, k]
                r = 0.0
                for c in range(d):
                    gap = there[c] - points[j, c]
                    r += gap * gap
                energy = 0.5 * (dof + 1.0) * np.log1p(r / dof) if heavy else r
                pull = 2.0 * p[i, k] * (0.5 * (dof + 1.0) / (dof + r) if heavy else 1.0)
                cost += p[i, k] * energy
                near += np.exp(-energy)
                steep += pull
                for c in range(d):
                    slope[c] += pull * (there[c] - points[j, c])
            total = 0.0
            if nodes is not None:
                x, y = (there[0] - low[0]) / step[0], (there[1] - low[1]) / step[1]
                total, along, across = _read_field(x, y, nodes, splines)
                push[0], push[1] = along / step[0], across / step[1]
            if others is not None:
                push[:] = 0.0
                for j in range(len(others)):
                    r = 0.0
                    for c in range(d):
                        gap = there[c] - others[j, c]
                        r += gap * gap
                    w = (1.0 + r / dof) ** (-0.5 * (dof + 1.0)) if heavy else np.exp(-r)
                    total += w
                    w *= -2.0 * (0.5 * (dof + 1.0) / (dof + r) if heavy else 1.0)
                    for c in range(d):
                        push[c] += w * (there[c] - others[j, c])
            total = max(total, near)
            cost += np.log(total)
            moved = 0.0
            if cost <= best:
                for c in range(d):
                    moved = max(moved, abs(there[c] - here[c]))
                    here[c] = there[c]
                    gradient[c] = slope[c] + push[c] / total
                if t > 0 and moved < still:
                    break
                best, curvature = cost, steep
                share = min(1.0, 2.0 * share)
            else:
                share *= 0.5
                if share < 1e-3:
                    break
            for c in range(d):
                there[c] = min(max(here[c] - share * gradient[c] / curvature, low[c]), high[c])
        for c in range(d):
            places[i, c] = here[c]


@njit(**FROM_PYTHON, fastmath=FAST)
def fold_power(spectrum: Any, folded: Any) -> None:
    """Write the squares of a spectrum, twice where it stands for two waves, and those of opposite waves added."""
    n_rows, n_columns = spectrum.shape
    for i in range(len(folded)):
        ahead, back = spectrum[i], spectrum[n_rows - i if 0 < i < n_rows - i else i]
        share = 2.0 if 0 < i < n_rows - i else 1.0  # each, of a row that has an opposite one
        for j in range(n_columns):
            square = ahead[j].real * ahead[j].real + ahead[j].imag * ahead[j].imag
            opposite = back[j].real * back[j].real + back[j].imag * back[j].imag
            folded[i, j] = share * (square + opposite)
        folded[i, 0] *= 0.5
        folded[i, n_columns - 1] *= 0.5


@njit(**FROM_PYTHON)
def count_fractions(points: Floats, low: Floats, step: Floats, counts: Floats) -> None:
    """Count how many points lie where between nodes, shared out to the nearest entries of counts (m + 1, m + 1)."""
    m = len(counts) - 1
    for i in range(len(points)):
        x, y = (points[i, 0] - low[0]) / step[0], (points[i, 1] - low[1]) / step[1]
        u, v = m * (x - int(x)), m * (y - int(y))
        j, k = min(int(u), m - 1), min(int(v), m - 1)
        u -= j
        v -= k
        counts[j, k] += (1.0 - u) * (1.0 - v)
        counts[j + 1, k] += u * (1.0 - v)
        counts[j, k + 1] += (1.0 - u) * v
        counts[j + 1, k + 1] += u * v


@njit(**FROM_PYTHON)
def offer_neighbors(
    distances: Any, queries: Any, members: Any, nearest: Any, indices: NDArray[np.int32], counts: Any
) -> None:
    """Take members (b,) among the nearest of queries (a,) where they are near enough, by their distances (a, b).

    ``nearest`` and ``indices`` (n, k) are heaps with the farthest neighbor first, of which ``counts`` (n,) are filled.
    """
    k = nearest.shape[1]
    for row in range(len(queries)):
        i = queries[row]
        heap, names = nearest[i], indices[i]
        for column in range(len(members)):
            d = distances[row, column]
            if counts[i] == k:
                if d >= heap[0] or members[column] == i:
                    continue
                at = 0
                while True:
                    child = 2 * at + 1
                    if child >= k:
                        break
                    if child + 1 < k and heap[child + 1] > heap[child]:
                        child += 1
                    if heap[child] <= d:
                        break
                    heap[at], names[at] = heap[child], names[child]
                    at = child
            elif members[column] != i:
                at = counts[i]
                counts[i] += 1
                while at > 0 and heap[(at - 1) // 2] < d:
                    parent = (at - 1) // 2
                    heap[at], names[at] = heap[parent], names[parent]
                    at = parent
            else:
                continue
            heap[at], names[at] = d, members[column]


@njit(**FROM_PYTHON, fastmath=FAST)
def city_blocks(rows: Singles, queries: Any, others: Singles, members: Any, distances: Singles) -> None:
    """Fill distances (a, b) with the Manhattan distances of some rows to some others, four of these at a time."""
    d, m = rows.shape[1], len(members)
    few = np.empty((4, d), np.float32)
    sums = np.empty(4, np.float32)
    for first in range(0, m, 4):
        for k in range(4):
            member = members[min(first + k, m - 1)]
            for c in range(d):
                few[k, c] = others[member, c]
        for a in range(len(queries)):
            x = rows[queries[a]]
            s, t, u, v = f32(0.0), f32(0.0), f32(0.0), f32(0.0)
            for c in range(d):
                s += abs(x[c] - few[0, c])
                t += abs(x[c] - few[1, c])
                u += abs(x[c] - few[2, c])
                v += abs(x[c] - few[3, c])
            sums[0], sums[1], sums[2], sums[3] = s, t, u, v
            for k in range(min(4, m - first)):
                distances[a, first + k] = sums[k]


@njit(**FROM_PYTHON, error_model="numpy")
def offer_sparse(
    indptr: Any,
    indices: Any,
    data: Floats,
    norms: Floats,
    shifts: Floats,
    columns: tuple[Any, Any, Floats],
    other_norms: Floats,
    other_shifts: Floats,
    kind: int,
    members: Any,
    first: int,
    last: int,
    nearest: Floats,
    found: NDArray[np.int32],
    counts: Any,
) -> None:
    """Find the nearest of others (n, d), given by columns, for sparse rows (m, d), by sums over what the two share.

    With the product c, less that of the shifts, distances are ``norm + other - 2 c`` (kind 0), or
    ``1 - c / (norm + other - c)`` (1). With sums c of ``1 + (x == y)`` (2) or ``|x| + |y| - |x - y|`` (3) they are
    ``norm + other - c``. ``members`` (n,) are the names of the others.
    """
    starts, places, entries = columns
    n = len(other_norms)
    distances, query = np.empty((1, n)), np.empty(1, np.int64)
    for i in range(first, last):
        for j in range(n):
            distances[0, j] = -shifts[i] * other_shifts[j]
        for k in range(indptr[i], indptr[i + 1]):
            column, x = indices[k], data[k]
            if kind < 2:
                for m in range(starts[column], starts[column + 1]):
                    distances[0, places[m]] += x * entries[m]
            elif kind == 2:
                for m in range(starts[column], starts[column + 1]):
                    distances[0, places[m]] += 2.0 if x == entries[m] else 1.0
            else:
                for m in range(starts[column], starts[column + 1]):
                    distances[0, places[m]] += abs(x) + abs(entries[m]) - abs(x - entries[m])
        for j in range(n):
            total = norms[i] + other_norms[j]
            c = distances[0, j]
            if kind == 1:
                distances[0, j] = 1.0 - c / (total - c) if total > c else 0.0
            else:
                distances[0, j] = max(total - (2.0 * c if kind == 0 else c), 0.0)
        query[0] = i
        offer_neighbors(distances, query, members, nearest, found, counts)


@njit(**FROM_PYTHON)
def interleave(points: Floats, low: Floats, scale: float, depth: int) -> NDArray[np.int64]:
    """Return the cells (n,) of a cube that points (n, 3) lie in: digits from 0 to 7, the coarsest division first."""
    codes = np.zeros(len(points), np.int64)
    for i in range(len(points)):
        x, y, z = (
            np.int64((points[i, 0] - low[0]) * scale),
            np.int64((points[i, 1] - low[1]) * scale),
            np.int64((points[i, 2] - low[2]) * scale),
        )
        for level in range(depth - 1, -1, -1):
            digit = 4 * ((x >> level) & 1) + 2 * ((y >> level) & 1) + ((z >> level) & 1)
            codes[i] = 8 * codes[i] + digit
    return codes


@njit(**FROM_PYTHON)
def grow_tree(codes: Any, points: Floats, most: int, depth: int) -> tuple[Floats, Any]:
    """Return the cells of a tree of points (n, 3) in the order of their codes, each before those within it.

    Of each there are the mean of its points and the square of the diagonal of the box around them (m, 4), and its first
    and last point, the next cell that is not within it, and whether none is (m, 4).
    """
    n = len(points)
    boxes, links = np.empty((2 * n + 1, 4)), np.empty((2 * n + 1, 4), np.int64)
    todo = np.empty((3, 8 * depth + 8), np.int64)
    starts, ends, levels = todo[0], todo[1], todo[2]
    open_cells, open_levels = np.empty(depth + 2, np.int64), np.empty(depth + 2, np.int64)
    n_open, n_cells, waiting = 0, 0, 1
    starts[0], ends[0], levels[0] = 0, n, 0
    while waiting > 0:
        waiting -= 1
        start, end, level = starts[waiting], ends[waiting], levels[waiting]
        if level < depth and end - start > most:  # a cell all of whose points are in one of its parts is that part
            shift = 3 * (depth - level - 1)
            while level < depth and (codes[start] >> shift) == (codes[end - 1] >> shift):
                level += 1
                shift -= 3
        while n_open > 0 and open_levels[n_open - 1] >= levels[waiting]:
            n_open -= 1
            links[open_cells[n_open], 2] = n_cells
        is_leaf = level >= depth or end - start <= most
        for c in range(3):
            low, high, total = np.inf, -np.inf, 0.0
            for i in range(start, end):
                x = points[i, c]
                low, high = min(low, x), max(high, x)
                total += x
            boxes[n_cells, c] = total / (end - start)
            boxes[n_cells, 3] = (high - low) * (high - low) + (0.0 if c == 0 else boxes[n_cells, 3])
        # A point must not be farther from the mean of its own cell, even by rounding, than this is wide.
        least = 1e-20 * boxes[0, 3] if boxes[0, 3] > 0.0 else 1.0
        boxes[n_cells, 3] = max(boxes[n_cells, 3], least)
        links[n_cells, 0], links[n_cells, 1], links[n_cells, 3] = start, end, is_leaf
        open_cells[n_open], open_levels[n_open] = n_cells, levels[waiting]
        n_open += 1
        n_cells += 1
        if not is_leaf:
            shift = 3 * (depth - level - 1)
            last = end
            for i in range(end - 1, start - 1, -1):  # the first part is taken from the stack first
                if i == start or (codes[i] >> shift) != (codes[i - 1] >> shift):
                    starts[waiting], ends[waiting], levels[waiting] = i, last, level + 1
                    waiting += 1
                    last = i
    while n_open > 0:
        n_open -= 1
        links[open_cells[n_open], 2] = n_cells
    return boxes[:n_cells].copy(), links[:n_cells].copy()


@njit(inline="always", fastmath=FAST)
def _table_place(r: float, scale: float, per_step: float, last: int) -> float:
    """Return the place of a squared distance in a table of kernels."""
    place = 0.6931471805599453 * per_step * float(_log2(f32(1.0 + scale * r)))
    return min(place, last - 1e-6)


@njit(**FROM_PYTHON, fastmath=FAST)
def climb(
    points: Floats,
    boxes: Floats,
    links: Any,
    charges: Floats,
    table: Floats,
    scale: float,
    per_step: float,
    farther: float,
    first: int,
    last: int,
    values: Floats,
    gradients: Floats,
) -> None:
    """Sum a kernel, and its gradient (n, 3), over all other points, those of far cells together at their mean.

    ``charges`` (n + 1,) are the sums of the charges of all points before each.
    """
    n_cells, end = len(boxes), len(table) - 1
    for i in range(first, last):
        x, y, z = points[i, 0], points[i, 1], points[i, 2]
        value, along, across, upward = 0.0, 0.0, 0.0, 0.0
        cell = 0
        while cell < n_cells:
            dx, dy, dz = x - boxes[cell, 0], y - boxes[cell, 1], z - boxes[cell, 2]
            r = dx * dx + dy * dy + dz * dz
            if farther * boxes[cell, 3] < r:
                place = _table_place(r, scale, per_step, end)
                k = int(place)
                t = place - k
                m = charges[links[cell, 1]] - charges[links[cell, 0]]
                value += m * (table[k, 0] + t * (table[k + 1, 0] - table[k, 0]))
                w = m * (table[k, 1] + t * (table[k + 1, 1] - table[k, 1]))
                along += w * dx
                across += w * dy
                upward += w * dz
                cell = links[cell, 2]
            elif links[cell, 3]:
                for j in range(links[cell, 0], links[cell, 1]):
                    if j != i:
                        dx, dy, dz = x - points[j, 0], y - points[j, 1], z - points[j, 2]
                        place = _table_place(dx * dx + dy * dy + dz * dz, scale, per_step, end)
                        k = int(place)
                        t = place - k
                        m = charges[j + 1] - charges[j]
                        value += m * (table[k, 0] + t * (table[k + 1, 0] - table[k, 0]))
                        w = m * (table[k, 1] + t * (table[k + 1, 1] - table[k, 1]))
                        along += w * dx
                        across += w * dy
                        upward += w * dz
                cell = links[cell, 2]
            else:
                cell += 1
        values[i] = value
        gradients[i, 0], gradients[i, 1], gradients[i, 2] = 2.0 * along, 2.0 * across, 2.0 * upward


@njit(**WITHIN_LOOPS, fastmath=ASSOCIATIVE)
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
