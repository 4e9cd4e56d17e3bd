"""Compiled sweeps over single samples: the online rules of LVQ, in the order in which they were published.

Arrays: X (n, N), y (n,), u (n,) weights, W (k, N), classes (k,), omega (s, M, N), slots (k,) matrix of each prototype.
``rates`` are those of prototypes, of the diagonal and of the other entries of a matrix. A missing value (NaN) differs
from no prototype. A ``rule`` is a cost: its kind and slope, the range of cooperation (None: none), and the width of
soft LVQ (None: another cost). Code that an argument of None leaves out is not compiled, which would take seconds.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from protolearn.core.compiling import FROM_PYTHON, WITHIN_LOOPS
from protolearn.core.types import Array

NEGLIGIBLE = 1e-16  # shares of one that change nothing
TINY = 1e-290  # below this, distances have no meaningful ratio

IDENTITY, SIGMOID, SWISH = range(3)

Rule = tuple[int, float, float | None, float | None]


@njit(**WITHIN_LOOPS)
def squash(kind: int, mu: float, slope: float) -> tuple[float, float]:
    """Return value and derivative of the squashing function."""
    if kind == IDENTITY:
        return mu, 1.0
    gate = 1.0 / (1.0 + np.exp(-slope * mu))
    if kind == SIGMOID:
        return gate, slope * gate * (1.0 - gate)
    return mu * gate, gate + slope * mu * gate * (1.0 - gate)


@njit(**FROM_PYTHON)
def relative_slopes(kind: int, slope: float, D: Array, own: Array, u: Array, G: Array) -> float:
    """Write the derivatives of ``sum_i u_i phi(mu_i)`` by all distances D (n, k) to G (n, k); return the sum.

    Samples that do not count have ``mu = 0``, as in `protolearn.lvq.cost.relative_distance`.
    """
    cost = 0.0
    at_zero, _ = squash(kind, 0.0, slope)
    for i in range(len(D)):
        d_J, d_K = np.inf, np.inf
        J, K = 0, 0
        for p in range(D.shape[1]):
            d = D[i, p]
            G[i, p] = 0.0
            if own[i, p]:
                if d < d_J:
                    d_J, J = d, p
            elif d < d_K:
                d_K, K = d, p
        total = d_J + d_K
        if TINY < total < np.inf:
            value, steepness = squash(kind, (d_J - d_K) / total, slope)
            G[i, J] = 2.0 * u[i] * steepness * d_K / total / total
            G[i, K] = -2.0 * u[i] * steepness * d_J / total / total
            cost += u[i] * value
        else:
            cost += u[i] * at_zero
    return cost


@njit(**FROM_PYTHON)
def slopes_of(
    kind: int, slope: float, reach: float | None, width: float | None, d: Array, own: Array, u: float, gamma: Array
) -> float:
    """Write ``u`` times the derivative of a sample's cost by each distance to gamma; return the cost, or NaN.

    NaN is for samples that do not count: those without a prototype on either side, or on both of their winners.
    """
    for p in range(len(d)):
        gamma[p] = 0.0
    if width is not None:
        return _soft_slopes(width, d, own, u, gamma)
    J: Any = np.int64(-1)  # a literal would be another type, for which functions that take it are compiled as well
    K: Any = np.int64(-1)
    for p in range(len(d)):
        if own[p]:
            if d[p] < np.inf and (J < 0 or d[p] < d[J]):
                J = p
        elif d[p] < np.inf and (K < 0 or d[p] < d[K]):
            K = p
    if J < 0 or K < 0 or not 0 < d[J] + d[K] < np.inf:
        return np.nan
    if reach is None:
        return _pair_slopes(kind, slope, d[J], d[K], u, gamma, J, K)
    total = 0.0
    cost = 0.0
    for p in range(len(d)):
        if own[p] and d[p] < np.inf:
            total += np.exp(-_rank(p, d, own) / reach)
    for p in range(len(d)):
        if own[p] and d[p] < np.inf:
            share = np.exp(-_rank(p, d, own) / reach) / total
            if share > NEGLIGIBLE:
                cost += share * _pair_slopes(kind, slope, d[p], d[K], u * share, gamma, p, K)
    return cost


@njit(**WITHIN_LOOPS)
def _rank(p: int, d: Array, own: Array) -> float:
    """Return how many prototypes of the class are nearer, the first of equal ones counting as such."""
    rank = 0.0
    for q in range(len(d)):
        if own[q] and (d[q] < d[p] or (d[q] == d[p] and q < p)):
            rank += 1.0
    return rank


@njit(**WITHIN_LOOPS)
def _pair_slopes(kind: int, slope: float, d_J: float, d_K: float, u: float, gamma: Array, J: int, K: int) -> float:
    """Add the derivatives of ``u phi(mu)`` by both distances to gamma; return ``phi(mu)``."""
    total = d_J + d_K
    value, steepness = squash(kind, (d_J - d_K) / total, slope)
    gamma[J] += u * steepness * 2.0 * d_K / (total * total)
    gamma[K] += -u * steepness * 2.0 * d_J / (total * total)
    return value


@njit(**WITHIN_LOOPS)
def _soft_slopes(width: float, d: Array, own: Array, u: float, gamma: Array) -> float:
    nearest, nearest_own = np.inf, np.inf
    for p in range(len(d)):
        nearest = min(nearest, d[p])
        if own[p]:
            nearest_own = min(nearest_own, d[p])
    if not nearest_own < np.inf:
        return np.nan
    beta = 1.0 / (2.0 * width * width)
    of_all, of_own = 0.0, 0.0
    for p in range(len(d)):
        of_all += np.exp(-beta * (d[p] - nearest))
        if own[p]:
            of_own += np.exp(-beta * (d[p] - nearest_own))
    for p in range(len(d)):  # Seo and Obermayer 2003, eq. 24
        share = np.exp(-beta * (d[p] - nearest)) / of_all
        slope = -share if share > NEGLIGIBLE else 0.0
        if own[p]:
            share = np.exp(-beta * (d[p] - nearest_own)) / of_own
            slope += share if share > NEGLIGIBLE else 0.0
        gamma[p] = u * beta * slope
    return np.log(of_all) - np.log(of_own) + beta * (nearest_own - nearest)


@njit(**WITHIN_LOOPS)
def _gap(x: Array, w: Array, f: Array) -> None:
    for t in range(x.shape[0]):
        f[t] = 0.0 if np.isnan(x[t]) else x[t] - w[t]


@njit(**WITHIN_LOOPS, fastmath={"reassoc", "contract"})
def _apply(omega: Array, f: Array, z: Array) -> float:
    """Write ``omega f`` to z; return its squared length."""
    total = 0.0
    for m in range(omega.shape[0]):
        value = 0.0
        for t in range(omega.shape[1]):
            value += omega[m, t] * f[t]
        z[m] = value
        total += value * value
    return total


@njit(**WITHIN_LOOPS, fastmath={"contract"})
def _add_transposed(w: Array, x: Array, omega: Array, z: Array, step: float) -> None:
    """Add ``step omega^T z`` to w, but for the features that x misses."""
    for m in range(omega.shape[0]):
        pull = step * z[m]
        for t in range(omega.shape[1]):
            if not np.isnan(x[t]):
                w[t] += pull * omega[m, t]


@njit(**WITHIN_LOOPS)
def _add_outer(omega: Array, z: Array, f: Array, diagonal: float, rest: float, symmetric: bool | None) -> None:
    """Subtract the rates times ``2 z f^T``, or times its symmetric part, rounded alike in both halves."""
    for m in range(omega.shape[0]):
        if symmetric is not None:
            omega[m, m] -= diagonal * 2.0 * z[m] * f[m]
            for t in range(m):
                omega[m, t] -= rest * (z[m] * f[t] + f[m] * z[t])  # Biehl et al. 2006, section 3
                omega[t, m] = omega[m, t]
        else:
            for t in range(omega.shape[1]):
                omega[m, t] -= (diagonal if t == m else rest) * 2.0 * z[m] * f[t]


@njit(**WITHIN_LOOPS)
def _widen(omega: Array, diagonal: float, rest: float) -> None:
    """Add the rates times the transposed pseudo-inverse, the derivative of the logarithm of the volume.

    That is ``slope = gram^-1 omega`` with ``gram = omega omega^T = L D L^T``, by substitution of whole rows.
    """
    M, N = omega.shape
    L, slope = np.empty((M, M)), np.empty((M, N))  # D is kept on the diagonal of L
    for m in range(M):
        for j in range(m + 1):
            L[m, j] = _dot(omega, m, j, N) + (1e-12 if j == m else 0.0)
    for m in range(M):
        for j in range(m):
            L[m, j] -= _dot(L, m, j, j)  # so far L[m] holds the products with D
        for j in range(m):
            product = L[m, j]
            L[m, j] /= L[j, j]
            L[m, m] -= product * L[m, j]
        if not 0.0 < L[m, m] < np.inf:
            return
    for m in range(M):
        for t in range(N):
            slope[m, t] = omega[m, t]
        for j in range(m):
            _add_row(slope, m, -L[m, j], j)
    for m in range(M - 1, -1, -1):
        for t in range(N):
            slope[m, t] /= L[m, m]
        for j in range(m + 1, M):
            _add_row(slope, m, -L[j, m], j)
    for m in range(M):
        for t in range(N):
            omega[m, t] += (diagonal if t == m else rest) * slope[m, t]


@njit(**WITHIN_LOOPS, fastmath={"reassoc", "contract"})
def _dot(matrix: Array, i: int, j: int, n: int) -> float:
    """Return the inner product of two rows, of their first n entries."""
    total = 0.0
    for t in range(n):
        total += matrix[i, t] * matrix[j, t]
    return total


@njit(**WITHIN_LOOPS, fastmath={"contract"})
def _add_row(matrix: Array, i: int, factor: float, j: int) -> None:
    """Add a multiple of row j to row i."""
    for t in range(matrix.shape[1]):
        matrix[i, t] += factor * matrix[j, t]


@njit(**WITHIN_LOOPS, fastmath={"contract"})
def _add_scaled(total: Array, factor: float, row: Array) -> None:
    for t in range(len(row)):
        total[t] += factor * row[t]


@njit(**WITHIN_LOOPS)
def _hold(w: Array, bounds: Array) -> None:
    """Keep a prototype within the bounds of every feature that has some."""
    for t in range(len(w)):
        if bounds[0, t] <= bounds[1, t]:
            w[t] = min(max(w[t], bounds[0, t]), bounds[1, t])


@njit(**WITHIN_LOOPS)
def _normalize(omegas: Array) -> None:
    """Scale matrices (s, M, N) by one number to a mean squared norm of one."""
    total = 0.0
    for s in range(omegas.shape[0]):
        for m in range(omegas.shape[1]):
            for t in range(omegas.shape[2]):
                total += omegas[s, m, t] * omegas[s, m, t]
    scale = 1.0 / np.sqrt(total / omegas.shape[0])
    for s in range(omegas.shape[0]):
        for m in range(omegas.shape[1]):
            for t in range(omegas.shape[2]):
                omegas[s, m, t] *= scale


@njit(**WITHIN_LOOPS)
def _make_shares(relevances: Array, each: bool) -> None:
    """Clip at zero and divide by the sum, of each row or of the mean row; start anew if nothing is left."""
    n, N = relevances.shape
    of_all = 0.0
    for s in range(n):
        total = 0.0
        for t in range(N):
            relevances[s, t] = max(relevances[s, t], 0.0)  # Biehl et al. 2006, section 2
            total += relevances[s, t]
        of_all += total if total > 0 else 1.0
        for t in range(N):
            if total <= 0:
                relevances[s, t] = 1.0 / N
            elif each:
                relevances[s, t] /= total
    if not each:
        for s in range(n):
            for t in range(N):
                relevances[s, t] /= of_all / n


@njit(**WITHIN_LOOPS)
def _learning(own: Array, gamma: Array, moved: Array) -> int:
    """Write the prototypes with a derivative to ``moved``, those of the class first; return how many there are."""
    count = 0
    for p in range(2 * len(own)):
        q = p % len(own)
        if gamma[q] != 0.0 and (own[q] != 0) == (p < len(own)):
            moved[count] = q
            count += 1
    return count


@njit(**FROM_PYTHON)
def sweep_matrix(
    X: Array,
    y: Array,
    u: Array,
    order: Array,
    W: Array,
    classes: Array,
    omega: Array,
    slots: Array,
    allowed: Array | None,
    symmetric: bool | None,
    each: bool,
    rates: tuple[float, float, float],
    regularization: float | None,
    rule: Rule,
    sums: Array,
) -> None:
    """Matrix learning from some samples, in place; add the cost that they met, and their weight, to ``sums``.

    Prototype p uses ``omega[slots[p]]``. Matrices have norm one, ``each`` or in the mean; a mask (M, N) tells which
    entries are ``allowed``; they are ``symmetric``, or that is None.
    """
    by_prototypes, by_diagonal, by_rest = rates
    n, M, N = omega.shape
    k = W.shape[0]
    F, V, d, gamma = np.empty((k, N)), np.empty((k, M)), np.empty(k), np.empty(k)
    own, moved = np.empty(k, np.int64), np.empty(k, np.int64)
    kind, slope, reach, width = rule
    cost, mass = sums[0], sums[1]
    for i in order:
        x = X[i]
        for p in range(k):
            own[p] = classes[p] == y[i]
            _gap(x, W[p], F[p])
            d[p] = _apply(omega[slots[p]], F[p], V[p])
        value = slopes_of(kind, slope, reach, width, d, own, u[i], gamma)
        if np.isnan(value):
            continue
        cost += u[i] * value
        mass += u[i]
        n_moved = _learning(own, gamma, moved)
        for q in range(n_moved):
            p = moved[q]
            _add_transposed(W[p], x, omega[slots[p]], V[p], 2.0 * by_prototypes * gamma[p])
        if by_diagonal > 0 or by_rest > 0:
            for q in range(n_moved):
                p = moved[q]
                _add_outer(omega[slots[p]], V[p], F[p], by_diagonal * gamma[p], by_rest * gamma[p], symmetric)
            for s in range(n):
                changed = regularization is not None
                if regularization is not None:
                    weight = u[i] * regularization / (M * n)
                    _widen(omega[s], by_diagonal * weight, by_rest * weight)
                for q in range(n_moved):
                    changed |= slots[moved[q]] == s
                if allowed is not None and changed:
                    for m in range(M):
                        for t in range(N):
                            omega[s, m, t] *= allowed[m, t]
                if changed and each:
                    _normalize(omega[s : s + 1])  # Bunte 2011, eq. 2.21
            if not each:
                _normalize(omega)
    sums[0], sums[1] = cost, mass


@njit(**FROM_PYTHON)
def sweep_product(
    X: Array,
    y: Array,
    u: Array,
    order: Array,
    W: Array,
    classes: Array,
    omega: Array,
    psi: Array,
    slots: Array,
    rates: tuple[float, float, float],
    regularization: float | None,
    rule: Rule,
    sums: Array,
) -> None:
    """Learn as `sweep_matrix` does, where prototype p uses ``psi[slots[p]] @ omega[0]``."""
    by_prototypes, by_diagonal, by_rest = rates
    n, M, N = psi.shape[0], omega.shape[1], omega.shape[2]
    k = W.shape[0]
    F, V, Z, back = np.empty((k, N)), np.empty((k, M)), np.empty((k, M)), np.empty((k, M))
    d, gamma, own, moved = np.empty(k), np.empty(k), np.empty(k, np.int64), np.empty(k, np.int64)
    kind, slope, reach, width = rule
    cost, mass = sums[0], sums[1]
    for i in order:
        x = X[i]
        for p in range(k):
            own[p] = classes[p] == y[i]
            _gap(x, W[p], F[p])
            _apply(omega[0], F[p], V[p])
            d[p] = _apply(psi[slots[p]], V[p], Z[p])
        value = slopes_of(kind, slope, reach, width, d, own, u[i], gamma)
        if np.isnan(value):
            continue
        cost += u[i] * value
        mass += u[i]
        n_moved = _learning(own, gamma, moved)
        for q in range(n_moved):  # Bunte 2011, eqs. 3.8 to 3.10, from the state before the step
            p = moved[q]
            for m in range(M):
                back[p, m] = 0.0
            for m in range(M):
                _add_scaled(back[p], Z[p, m], psi[slots[p], m])
            _add_transposed(W[p], x, omega[0], back[p], 2.0 * by_prototypes * gamma[p])
        if by_diagonal > 0 or by_rest > 0:
            for q in range(n_moved):
                p = moved[q]
                _add_outer(omega[0], back[p], F[p], by_diagonal * gamma[p], by_rest * gamma[p], None)
            for q in range(n_moved):
                p = moved[q]
                _add_outer(psi[slots[p]], Z[p], V[p], by_diagonal * gamma[p], by_rest * gamma[p], None)
            if regularization is not None:
                weight = u[i] * regularization / M
                _widen(omega[0], by_diagonal * weight, by_rest * weight)
                norm = 0.0
                for s in range(n):
                    for m in range(M):
                        norm += _dot(psi[s], m, m, M)
                pull = u[i] * regularization / norm
                for s in range(n):
                    _widen(psi[s], by_diagonal * weight / n, by_rest * weight / n)
                    for m in range(M):
                        for t in range(M):
                            psi[s, m, t] *= 1.0 - (by_diagonal if t == m else by_rest) * pull
            _normalize(omega)
    sums[0], sums[1] = cost, mass


@njit(**FROM_PYTHON)
def sweep_diagonal(
    X: Array,
    y: Array,
    u: Array,
    order: Array,
    W: Array,
    classes: Array,
    relevances: Array,
    slots: Array,
    each: bool,
    rates: tuple[float, float, float],
    regularization: float | None,
    rule: Rule,
    sums: Array,
) -> None:
    """Relevance learning on ``d = sum_t relevances_t (x_t - w_t)^2``, in place; add cost and weight to ``sums``."""
    by_prototypes, by_relevances, _ = rates
    k, N = W.shape
    F, old, d, gamma = np.empty((k, N)), np.empty((k, N)), np.empty(k), np.empty(k)
    own, moved = np.empty(k, np.int64), np.empty(k, np.int64)
    kind, slope, reach, width = rule
    cost, mass = sums[0], sums[1]
    for i in order:
        x = X[i]
        for p in range(k):
            own[p] = classes[p] == y[i]
            _gap(x, W[p], F[p])
            d[p] = 0.0
            for t in range(N):
                d[p] += relevances[slots[p], t] * F[p, t] * F[p, t]
        value = slopes_of(kind, slope, reach, width, d, own, u[i], gamma)
        if np.isnan(value):
            continue
        cost += u[i] * value
        mass += u[i]
        n_moved = _learning(own, gamma, moved)
        for q in range(n_moved):
            for t in range(N):
                old[q, t] = relevances[slots[moved[q]], t]
        for q in range(n_moved):
            p = moved[q]
            for t in range(N):
                W[p, t] += 2.0 * by_prototypes * gamma[p] * old[q, t] * F[p, t]
                relevances[slots[p], t] -= by_relevances * gamma[p] * F[p, t] * F[p, t]
        if by_relevances > 0:
            if regularization is not None:  # the derivative of half the mean logarithm, kept finite
                step = by_relevances * u[i] * regularization / (2.0 * N * relevances.shape[0])
                for s in range(relevances.shape[0]):
                    for t in range(N):
                        relevances[s, t] += step / max(relevances[s, t], 1e-6)
            _make_shares(relevances, each)
    sums[0], sums[1] = cost, mass


@njit(**FROM_PYTHON)
def sweep_lvq1(
    X: Array,
    y: Array,
    order: Array,
    W: Array,
    classes: Array,
    relevances: Array,
    rates: Array,
    bounds: Array,
    most: float,
    adaptive: bool,
    by_relevances: float,
) -> float:
    """LVQ1 on some samples, in place: the winner comes nearer, or goes away if its class is wrong; return the errors.

    ``rates`` (k,) are those of the prototypes; if ``adaptive`` they change as in OLVQ1, up to ``most``. No prototype
    goes beyond ``bounds`` (2, N).
    """
    N = X.shape[1]
    f = np.empty(N)
    errors = 0.0
    for i in order:
        x = X[i]
        winner, nearest = 0, np.inf
        for p in range(W.shape[0]):
            _gap(x, W[p], f)
            d = 0.0
            for t in range(N):
                d += relevances[0, t] * f[t] * f[t]
            if d < nearest:
                winner, nearest = p, d
        sign = 1.0 if classes[winner] == y[i] else -1.0
        errors += 1.0 if sign < 0 else 0.0
        _gap(x, W[winner], f)
        if adaptive:
            rates[winner] = min(most, rates[winner] / max(1.0 + sign * rates[winner], 1e-12))
        for t in range(N):
            W[winner, t] += sign * rates[winner] * f[t]
        if sign < 0:
            _hold(W[winner], bounds)
        if by_relevances > 0:
            for t in range(N):
                relevances[0, t] -= sign * by_relevances * abs(f[t])
            _make_shares(relevances, True)
    return errors


@njit(**FROM_PYTHON)
def sweep_lvq21(
    X: Array,
    y: Array,
    order: Array,
    W: Array,
    classes: Array,
    rate: float,
    bounds: Array,
    window: float,
) -> float:
    """LVQ2.1 on some samples, in place: those in a window around the border move both winners; return the errors.

    A winner that is farther than that of the sample's class goes away by less, as in the gradient of generalized LVQ,
    and no prototype goes beyond ``bounds`` (2, N).
    """
    N = X.shape[1]
    f = np.empty(N)
    errors = 0.0
    least = (1.0 - window) / (1.0 + window)
    least *= least  # on squared distances
    for i in order:
        x = X[i]
        J, K = -1, -1
        d_J, d_K = np.inf, np.inf
        for p in range(W.shape[0]):
            _gap(x, W[p], f)
            d = 0.0
            for t in range(N):
                d += f[t] * f[t]
            if classes[p] == y[i]:
                if d < d_J:
                    J, d_J = p, d
            elif d < d_K:
                K, d_K = p, d
        errors += 1.0 if d_J > d_K else 0.0
        if min(d_J, d_K) > least * max(d_J, d_K):
            _gap(x, W[J], f)
            _add_scaled(W[J], rate, f)
            _gap(x, W[K], f)
            _add_scaled(W[K], -rate * min(1.0, d_J / d_K), f)
            _hold(W[K], bounds)
    return errors


@njit(**FROM_PYTHON)
def band_inverse_times(
    factor: Array, rows: Array, columns: Array, values: Array, starts: Array, width: int, slope: Array
) -> None:
    """Write the entries of ``(L L^T)^-1 Omega`` at given places to ``slope``, for a band matrix Omega (M, N).

    ``factor`` (p + 1, M) holds the Cholesky factor, ``L[j + d, j]`` at ``[d, j]``. Row j of Omega has its entries,
    without a gap, from ``starts[j]`` on in ``values`` and ``columns``.
    """
    p, M = factor.shape[0] - 1, factor.shape[1]
    inverse = np.zeros((p + 1, M))  # near the diagonal, in the same order
    for j in range(M - 1, -1, -1):
        last = min(j + p, M - 1)
        for i in range(last, j - 1, -1):
            total = 1.0 / factor[0, j] if i == j else 0.0
            for k in range(j + 1, last + 1):
                total -= factor[k - j, j] * inverse[abs(k - i), min(k, i)]
            inverse[i - j, j] = total / factor[0, j]
    for e in range(len(rows)):
        m, t = rows[e], columns[e]
        total = 0.0
        for j in range(max(0, t - width), min(M - 1, t + width) + 1):
            total += inverse[abs(m - j), min(m, j)] * values[starts[j] + t - columns[starts[j]]]
        slope[e] = total


@njit(**FROM_PYTHON, fastmath={"reassoc", "contract"})
def entries_of_product(Z: Array, X: Array, rows: Array, columns: Array, entries: Array) -> None:
    """Write the entries of ``Z X^T`` at given places to ``entries``."""
    for e in range(len(rows)):
        z, x = Z[rows[e]], X[columns[e]]
        total = 0.0
        for i in range(len(z)):
            total += z[i] * x[i]
        entries[e] = total
