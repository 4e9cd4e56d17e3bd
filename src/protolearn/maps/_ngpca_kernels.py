"""Compiled loops of neural gas with local PCA, one sample after the other.

Arrays: X (n, d) samples; centers (k, d), axes (k, m, d) with orthonormal rows, variances (k, m) along them and residual
(k,), the variance in all other directions together, not used where m = d: the state of the units, changed in place.
A rule of None is RRLSA, the rule that is mostly used: then the others are not compiled.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from protolearn.core.compiling import FROM_PYTHON, WITHIN_LOOPS
from protolearn.core.numerics import TIED
from protolearn.core.types import Array, Floats, Indices

COMBINED, EUCLIDEAN, MAHALANOBIS, RECONSTRUCTION = range(4)  # measures of the competition
GRAM_SCHMIDT, SANGER, CCIPCA = range(1, 4)  # rules of the online PCA
SUMS = {"reassoc", "contract", "nsz"}  # sums may be added in any order, so that they use vector instructions
# Helpers become part of the one loop that calls them, so that it rounds alike, compiled just now or found in the cache.
INLINED: dict[str, Any] = {**WITHIN_LOOPS, "forceinline": True}
NEGLIGIBLE = 1e-14  # units that learn at a smaller rate are left alone


@njit(**FROM_PYTHON, error_model="numpy")
def present(
    X: Array,
    order: Indices,
    centers: Floats,
    axes: Floats,
    variances: Floats,
    residual: Floats,
    ranges: Floats,
    rates: Floats,
    measure: int,
    rule: int | None,
    refresh: int,
    floor: float,
    step: int,
) -> None:
    """Present the samples ``order`` (T,), each with a range and a rate (T,): units learn by their rank.

    Rates lie in [0, 1). No variance falls below ``floor`` in any direction. All axes are orthonormalized anew after
    every ``refresh`` presentations, of which ``step`` came before.
    """
    k, m, d = axes.shape
    n_minor = d - m
    n_weighed = n_minor if measure == COMBINED else 0  # minor directions in the Mahalanobis distance
    gap, drift = np.empty(d), np.empty(d)
    y, squares, rests = np.empty((k, m)), np.empty(k), np.empty(k)
    distances, log_volumes, nearest = np.empty(k), np.empty(k), np.empty(k, np.int64)
    skewed = np.empty(k, np.int64)
    for i in range(k):
        skewed[i] = 0
        log_volumes[i] = _log_volume(variances[i], residual[i], n_weighed)
    for j in range(len(order)):
        x = X[order[j]]
        for i in range(k):
            squares[i] = _subtract(x, centers[i], gap)
            if measure == EUCLIDEAN:
                distances[i] = squares[i]
                continue
            rests[i] = _project(gap, squares[i], axes[i], y[i])
            if measure == RECONSTRUCTION:
                distances[i] = rests[i] + TIED * (squares[i] - rests[i])  # as `Shapes.gains` has it
            else:  # Möller and Hoffmann 2004, eq. 3
                distances[i] = _mahalanobis(y[i], variances[i], rests[i], residual[i], n_weighed) + log_volumes[i]
        n_learning = 0
        while n_learning < k and rates[j] * np.exp(-n_learning / ranges[j]) >= NEGLIGIBLE:
            n_learning += 1
        _rank(distances, nearest, n_learning)
        for rank in range(n_learning):
            i = nearest[rank]
            rate = rates[j] * np.exp(-rank / ranges[j])
            _subtract(x, centers[i], gap)
            if measure == EUCLIDEAN:
                rests[i] = _project(gap, squares[i], axes[i], y[i])
            for t in range(d):
                centers[i, t] += rate * gap[t]  # eq. 2
            skewed[i] = _turn(axes[i], variances[i], y[i], squares[i], gap, drift, rate, rule, floor)  # eq. 4
            if n_minor > 0:
                residual[i] = max(residual[i] + rate * (rests[i] - residual[i]), floor * n_minor)  # eq. 5
            log_volumes[i] = _log_volume(variances[i], residual[i], n_weighed)
        renewed = (step + j + 1) % refresh == 0
        for i in range(k):
            if renewed or skewed[i]:
                orthonormalize(axes[i])
                skewed[i] = 0


@njit(**FROM_PYTHON)
def settle(
    X: Array,
    order: Indices,
    center: Floats,
    axes: Floats,
    variances: Floats,
    residual: Floats,
    rates: Floats,
    rule: int | None,
    refresh: int,
    floor: float,
) -> None:
    """Fit the shape of one unit, axes (m, d), variances (m,) and residual (1,), around a center (d,) that stays."""
    m, d = axes.shape
    gap, drift, y = np.empty(d), np.empty(d), np.empty(m)
    for j in range(len(order)):
        square = _subtract(X[order[j]], center, gap)
        rest = _project(gap, square, axes, y)
        skewed = _turn(axes, variances, y, square, gap, drift, rates[j], rule, floor)
        if m < d:
            residual[0] = max(residual[0] + rates[j] * (rest - residual[0]), floor * (d - m))
        if skewed or (j + 1) % refresh == 0:
            orthonormalize(axes)


@njit(**INLINED, fastmath=SUMS)
def orthonormalize(axes: Floats) -> None:
    """Make the rows of axes (m, d) orthonormal, in order, by the modified Gram-Schmidt procedure."""
    m, d = axes.shape
    for i in range(m):
        length = 0.0
        for t in range(d):
            length += axes[i, t] * axes[i, t]
        for _ in range(2):  # where little is left, rounding is not orthogonal: once more
            before = length
            for j in range(i):
                product = 0.0
                for t in range(d):
                    product += axes[j, t] * axes[i, t]
                for t in range(d):
                    axes[i, t] -= product * axes[j, t]
            length = 0.0
            for t in range(d):
                length += axes[i, t] * axes[i, t]
            if length > 0.1 * before:
                break
        for t in range(d):
            axes[i, t] /= np.sqrt(length)


@njit(**INLINED)
def _turn(
    axes: Floats,
    variances: Floats,
    y: Floats,
    square: float,
    gap: Floats,
    drift: Floats,
    rate: float,
    rule: int | None,
    floor: float,
) -> bool:
    """Let the axes learn from ``gap``, of squared length ``square`` and coordinates y; gap and drift are used up.

    Returns whether the axes have to be orthonormalized.
    """
    skewed = True
    if rule is None:
        skewed = not _interlock(axes, variances, y, square, gap, drift, rate)
    elif rule == CCIPCA:
        _follow(axes, variances, gap, rate)
    else:
        _deflate(axes, variances, y, gap, rate, rule == SANGER)
    for i in range(len(variances)):
        variances[i] = max(variances[i], floor)
    return skewed


@njit(**INLINED, fastmath=SUMS, error_model="numpy")
def _interlock(
    axes: Floats, variances: Floats, y: Floats, square: float, gap: Floats, drift: Floats, rate: float
) -> bool:
    """Learn and orthonormalize in one go, as ``online_pca.interlocked_step`` does; say whether axes were orthonormal.

    They cease to be, faster and faster, once there are more of them than directions in which samples vary.
    """
    for t in range(len(drift)):
        drift[t] = 0.0
    pulls, sine = 0.0, 1.0
    slack, orthonormal = 1e-9 * square, True
    for i in range(len(axes)):
        power = y[i] * y[i]
        share = min(power / square, 1.0) if square > 0 else 0.0
        old = (1.0 - rate) * variances[i]
        new = old + rate * square
        kept = old + rate * power
        variances[i] = np.sqrt(old * old + rate * power * (old + new))
        norm = np.sqrt(old * old * (1.0 - share) + new * new * share * sine)
        pull = y[i] * (rate * sine - old * pulls) / norm
        expected = square - power
        keep, learn, drop = kept / norm, rate * y[i] / norm, new * y[i] / norm
        square, length = 0.0, 0.0
        for t in range(len(gap)):  # take the axis off the gap, mix it anew, and add it to the drift
            rest = gap[t] - y[i] * axes[i, t]
            mixed = keep * axes[i, t] + learn * rest - drop * drift[t]
            gap[t] = rest
            axes[i, t] = mixed
            drift[t] += pull * mixed
            square += rest * rest
            length += mixed * mixed
        orthonormal &= abs(square - expected) <= slack and abs(length - 1.0) <= 1e-6
        pulls += pull * pull
        sine *= keep * keep
    return orthonormal


@njit(**INLINED)
def _deflate(axes: Floats, variances: Floats, y: Floats, gap: Floats, rate: float, hebbian: bool) -> None:
    """Learn from what the axes before have left, by recursive least squares or by Sanger's Hebbian rule."""
    for i in range(len(axes)):
        _add(gap, axes[i], -y[i])
        old = (1.0 - rate) * variances[i]
        if hebbian:
            variances[i] = old + rate * y[i] * y[i]
            _add(axes[i], gap, rate * y[i] / variances[i])  # Sanger 1989; the variance makes it free of scale
        else:
            _scale(axes[i], old + rate * y[i] * y[i])
            _add(axes[i], gap, rate * y[i])  # Möller and Hoffmann 2004, eqs. A.1 and A.2
            variances[i] = np.sqrt(_dot(axes[i], axes[i]))  # eq. A.3


@njit(**INLINED)
def _follow(axes: Floats, variances: Floats, gap: Floats, rate: float) -> None:
    """Learn from what the axes before have left after their own step."""
    for i in range(len(axes)):  # Weng, Zhang and Hwang 2003
        y = _dot(axes[i], gap)
        _scale(axes[i], (1.0 - rate) * variances[i])
        _add(axes[i], gap, rate * y)
        variances[i] = np.sqrt(_dot(axes[i], axes[i]))
        _scale(axes[i], 1.0 / variances[i])
        _add(gap, axes[i], -_dot(axes[i], gap))


@njit(**INLINED, fastmath=SUMS)
def _subtract(x: Array, center: Floats, gap: Floats) -> float:
    """Write ``x - center`` to gap; return its squared length."""
    square = 0.0
    for t in range(len(gap)):
        gap[t] = x[t] - center[t]
        square += gap[t] * gap[t]
    return square


@njit(**INLINED, fastmath=SUMS)
def _project(gap: Floats, square: float, axes: Floats, y: Floats) -> float:
    """Write the coordinates ``axes gap`` to y; return the squared length of what they leave out."""
    m, d = axes.shape
    rest = square
    for i in range(m):
        product = 0.0
        for t in range(d):
            product += axes[i, t] * gap[t]
        y[i] = product
        rest -= product * product
    return max(rest, 0.0) if m < d else 0.0


@njit(**INLINED, fastmath=SUMS, error_model="numpy")
def _mahalanobis(y: Floats, variances: Floats, rest: float, residual: float, n_minor: int) -> float:
    """Return the squared Mahalanobis distance, in the principal space and ``n_minor`` more directions."""
    total = 0.0
    for i in range(len(y)):
        total += y[i] * y[i] / variances[i]
    return total + rest * n_minor / residual if n_minor > 0 else total


@njit(**INLINED)
def _log_volume(variances: Floats, residual: float, n_minor: int) -> float:
    total = n_minor * np.log(residual / n_minor) if n_minor > 0 else 0.0  # eq. 6
    for i in range(len(variances)):
        total += np.log(variances[i])
    return total


@njit(**INLINED)
def _rank(distances: Floats, nearest: Indices, n: int) -> None:
    """Write the indices of the n smallest distances to ``nearest``, in order, ties by index."""
    count = 0
    for i in range(len(distances)):
        place = count
        while place > 0 and distances[nearest[place - 1]] > distances[i]:
            if place < n:
                nearest[place] = nearest[place - 1]
            place -= 1
        if place < n:
            nearest[place] = i
            count += count < n


@njit(**INLINED, fastmath=SUMS)
def _dot(a: Floats, b: Floats) -> float:
    total = 0.0
    for t in range(len(a)):
        total += a[t] * b[t]
    return total


@njit(**INLINED, fastmath=SUMS)
def _add(target: Floats, source: Floats, factor: float) -> None:
    for t in range(len(target)):
        target[t] += factor * source[t]


@njit(**INLINED, fastmath=SUMS)
def _scale(target: Floats, factor: float) -> None:
    for t in range(len(target)):
        target[t] *= factor
