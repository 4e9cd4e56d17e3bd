"""Compiled sweeps over single samples: the online rules of LVQ, in the order in which they were published.

Arrays: X (n, N), y (n,), u (n,) weights, W (k, N), classes (k,), omega (s, M, N), slots (k,) matrix of each prototype.
``rates`` are those of prototypes, of the diagonal and of the other entries of a matrix. A missing value (NaN) differs
from no prototype. A ``rule`` is a cost: its kind, slope (or width, of soft LVQ), and range of cooperation (0: none).
"""

from __future__ import annotations

import numpy as np
from numba import njit

from protolearn.core.types import Array

NEGLIGIBLE = 1e-16  # shares of one that change nothing

IDENTITY, SIGMOID, SWISH, SOFT = range(4)


@njit(cache=True, nogil=True)
def squash(kind: int, mu: float, slope: float) -> tuple[float, float]:
    """Return value and derivative of the squashing function."""
    if kind == IDENTITY:
        return mu, 1.0
    gate = 1.0 / (1.0 + np.exp(-slope * mu))
    if kind == SIGMOID:
        return gate, slope * gate * (1.0 - gate)
    return mu * gate, gate + slope * mu * gate * (1.0 - gate)


@njit(cache=True, nogil=True)
def slopes_of(rule: tuple[int, float, float], d: Array, own: Array, u: float, gamma: Array) -> float:
    """Write ``u`` times the derivative of a sample's cost by each distance to gamma; return the cost, or NaN.

    NaN is for samples that do not count: those without a prototype on either side, or on both of their winners.
    """
    gamma[:] = 0.0
    if rule[0] == SOFT:
        return _soft_slopes(rule[1], d, own, u, gamma)
    J, K = -1, -1
    for p in range(len(d)):
        if own[p]:
            if d[p] < np.inf and (J < 0 or d[p] < d[J]):
                J = p
        elif d[p] < np.inf and (K < 0 or d[p] < d[K]):
            K = p
    if J < 0 or K < 0 or not 0 < d[J] + d[K] < np.inf:
        return np.nan
    if rule[2] == 0.0:
        return _pair_slopes(rule, d[J], d[K], u, gamma, J, K)
    total = 0.0
    cost = 0.0
    for p in range(len(d)):
        if own[p] and d[p] < np.inf:
            total += np.exp(-_rank(p, d, own) / rule[2])
    for p in range(len(d)):
        if own[p] and d[p] < np.inf:
            share = np.exp(-_rank(p, d, own) / rule[2]) / total
            if share > NEGLIGIBLE:
                cost += share * _pair_slopes(rule, d[p], d[K], u * share, gamma, p, K)
    return cost


@njit(cache=True, nogil=True)
def _rank(p: int, d: Array, own: Array) -> float:
    """Return how many prototypes of the class are nearer, the first of equal ones counting as such."""
    rank = 0.0
    for q in range(len(d)):
        if own[q] and (d[q] < d[p] or (d[q] == d[p] and q < p)):
            rank += 1.0
    return rank


@njit(cache=True, nogil=True)
def _pair_slopes(
    rule: tuple[int, float, float], d_J: float, d_K: float, u: float, gamma: Array, J: int, K: int
) -> float:
    """Add the derivatives of ``u phi(mu)`` by both distances to gamma; return ``phi(mu)``."""
    total = d_J + d_K
    value, steepness = squash(rule[0], (d_J - d_K) / total, rule[1])
    gamma[J] += u * steepness * 2.0 * d_K / (total * total)
    gamma[K] += -u * steepness * 2.0 * d_J / (total * total)
    return value


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def _gap(x: Array, w: Array, f: Array) -> None:
    for t in range(x.shape[0]):
        f[t] = 0.0 if np.isnan(x[t]) else x[t] - w[t]


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
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


@njit(cache=True, nogil=True, fastmath={"contract"})
def _add_transposed(w: Array, x: Array, omega: Array, z: Array, step: float) -> None:
    """Add ``step omega^T z`` to w, but for the features that x misses."""
    for m in range(omega.shape[0]):
        pull = step * z[m]
        for t in range(omega.shape[1]):
            if not np.isnan(x[t]):
                w[t] += pull * omega[m, t]


@njit(cache=True, nogil=True)
def _add_outer(omega: Array, z: Array, f: Array, diagonal: float, rest: float, symmetric: bool) -> None:
    """Subtract the rates times ``2 z f^T``, or times its symmetric part, rounded alike in both halves."""
    for m in range(omega.shape[0]):
        if symmetric:
            omega[m, m] -= diagonal * 2.0 * z[m] * f[m]
            for t in range(m):
                omega[m, t] -= rest * (z[m] * f[t] + f[m] * z[t])  # Biehl et al. 2006, section 3
                omega[t, m] = omega[m, t]
        else:
            for t in range(omega.shape[1]):
                omega[m, t] -= (diagonal if t == m else rest) * 2.0 * z[m] * f[t]


@njit(cache=True, nogil=True)
def _widen(omega: Array, diagonal: float, rest: float) -> None:
    """Add the rates times the transposed pseudo-inverse, the derivative of the logarithm of the volume."""
    gram = omega @ omega.T + 1e-12 * np.eye(len(omega))
    if np.isfinite(gram).all():
        slope = np.linalg.solve(gram, omega)
        for m in range(omega.shape[0]):
            for t in range(omega.shape[1]):
                omega[m, t] += (diagonal if t == m else rest) * slope[m, t]


@njit(cache=True, nogil=True)
def _normalize(omegas: Array) -> None:
    """Scale matrices by one number to a mean squared norm of one."""
    total = 0.0
    for s in range(omegas.shape[0]):
        for m in range(omegas.shape[1]):
            for t in range(omegas.shape[2]):
                total += omegas[s, m, t] * omegas[s, m, t]
    omegas /= np.sqrt(total / omegas.shape[0])


@njit(cache=True, nogil=True)
def _make_shares(relevances: Array, each: bool) -> None:
    """Clip at zero and divide by the sum, of each row or of the mean row; start anew if nothing is left."""
    relevances[:] = np.maximum(relevances, 0.0)  # Biehl et al. 2006, section 2
    for s in range(len(relevances)):
        total = relevances[s].sum()
        if total <= 0:
            relevances[s] = 1.0 / relevances.shape[1]
        elif each:
            relevances[s] /= total
    if not each:
        relevances /= relevances.sum() / len(relevances)


@njit(cache=True, nogil=True)
def sweep_matrix(
    X: Array,
    y: Array,
    u: Array,
    order: Array,
    W: Array,
    classes: Array,
    omega: Array,
    psi: Array,
    slots: Array,
    allowed: Array,
    symmetric: bool,
    each: bool,
    rates: tuple[float, float, float],
    regularization: float,
    rule: tuple[int, float, float],
    sums: Array,
) -> None:
    """Matrix learning from some samples, in place; add the cost that they met, and their weight, to ``sums``.

    Matrices have norm one, ``each`` or in the mean.
    Without ``psi`` (length 0) prototype p uses ``omega[slots[p]]``; otherwise ``psi[slots[p]] @ omega[0]``.
    """
    by_prototypes, by_diagonal, by_rest = rates
    product = psi.shape[0] > 0
    M, N = omega.shape[1], omega.shape[2]
    k = W.shape[0]
    F, V, Z, back = np.empty((k, N)), np.empty((k, M)), np.empty((k, M)), np.empty((k, M))
    d, gamma, own = np.empty(k), np.empty(k), np.empty(k, np.bool_)
    cost, mass = sums[0], sums[1]
    masked = not allowed.all()
    for i in order:
        x = X[i]
        for p in range(k):
            own[p] = classes[p] == y[i]
            _gap(x, W[p], F[p])
            d[p] = _apply(omega[0 if product else slots[p]], F[p], V[p])
            if product:
                d[p] = _apply(psi[slots[p]], V[p], Z[p])
        value = slopes_of(rule, d, own, u[i], gamma)
        if np.isnan(value):
            continue
        cost += u[i] * value
        mass += u[i]
        moved = np.concatenate((np.flatnonzero(own & (gamma != 0)), np.flatnonzero(~own & (gamma != 0))))
        if product:  # Bunte 2011, eqs. 3.8 to 3.10, from the state before the step
            for p in moved:
                back[p] = psi[slots[p]].T @ Z[p]
                _add_transposed(W[p], x, omega[0], back[p], 2.0 * by_prototypes * gamma[p])
            if by_diagonal > 0 or by_rest > 0:
                for p in moved:
                    _add_outer(omega[0], back[p], F[p], by_diagonal * gamma[p], by_rest * gamma[p], False)
                for p in moved:
                    _add_outer(psi[slots[p]], Z[p], V[p], by_diagonal * gamma[p], by_rest * gamma[p], False)
                if regularization > 0:
                    weight = u[i] * regularization / M
                    _widen(omega[0], by_diagonal * weight, by_rest * weight)
                    pull = u[i] * regularization / (psi**2).sum()
                    for s in range(psi.shape[0]):
                        _widen(psi[s], by_diagonal * weight / len(psi), by_rest * weight / len(psi))
                    for m in range(M):
                        for t in range(M):
                            psi[:, m, t] *= 1.0 - (by_diagonal if t == m else by_rest) * pull
                _normalize(omega)
            continue
        for p in moved:
            _add_transposed(W[p], x, omega[slots[p]], V[p], 2.0 * by_prototypes * gamma[p])
        if by_diagonal > 0 or by_rest > 0:
            for p in moved:
                _add_outer(omega[slots[p]], V[p], F[p], by_diagonal * gamma[p], by_rest * gamma[p], symmetric)
            for s in range(omega.shape[0]):
                if regularization > 0:
                    weight = u[i] * regularization / (M * omega.shape[0])
                    _widen(omega[s], by_diagonal * weight, by_rest * weight)
                if regularization > 0 or s in slots[moved]:
                    if masked:
                        omega[s] *= allowed
                    if each:
                        _normalize(omega[s : s + 1])  # Bunte 2011, eq. 2.21
            if not each:
                _normalize(omega)
    sums[0], sums[1] = cost, mass


@njit(cache=True, nogil=True)
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
    regularization: float,
    rule: tuple[int, float, float],
    sums: Array,
) -> None:
    """Relevance learning on ``d = sum_t relevances_t (x_t - w_t)^2``, in place; add cost and weight to ``sums``."""
    by_prototypes, by_relevances, _ = rates
    k, N = W.shape
    F, old = np.empty((k, N)), relevances.copy()
    d, gamma, own = np.empty(k), np.empty(k), np.empty(k, np.bool_)
    cost, mass = sums[0], sums[1]
    for i in order:
        x = X[i]
        for p in range(k):
            own[p] = classes[p] == y[i]
            _gap(x, W[p], F[p])
            d[p] = 0.0
            for t in range(N):
                d[p] += relevances[slots[p], t] * F[p, t] * F[p, t]
        value = slopes_of(rule, d, own, u[i], gamma)
        if np.isnan(value):
            continue
        cost += u[i] * value
        mass += u[i]
        moved = np.concatenate((np.flatnonzero(own & (gamma != 0)), np.flatnonzero(~own & (gamma != 0))))
        for p in moved:
            old[slots[p]] = relevances[slots[p]]
        for p in moved:
            for t in range(N):
                W[p, t] += 2.0 * by_prototypes * gamma[p] * old[slots[p], t] * F[p, t]
                relevances[slots[p], t] -= by_relevances * gamma[p] * F[p, t] * F[p, t]
        if by_relevances > 0:
            for s in range(relevances.shape[0]):
                if regularization > 0:  # the derivative of half the mean logarithm, kept finite
                    step = by_relevances * u[i] * regularization / (2.0 * N * relevances.shape[0])
                    relevances[s] += step / np.maximum(relevances[s], 1e-6)
            _make_shares(relevances, each)
    sums[0], sums[1] = cost, mass


@njit(cache=True, nogil=True)
def sweep_lvq1(
    X: Array,
    y: Array,
    order: Array,
    W: Array,
    classes: Array,
    relevances: Array,
    rates: Array,
    most: float,
    adaptive: bool,
    by_relevances: float,
) -> float:
    """LVQ1 on some samples, in place: the winner comes nearer, or goes away if its class is wrong; return the errors.

    ``rates`` (k,) are those of the prototypes; if ``adaptive`` they change as in OLVQ1, up to ``most``.
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
                d += relevances[t] * f[t] * f[t]
            if d < nearest:
                winner, nearest = p, d
        sign = 1.0 if classes[winner] == y[i] else -1.0
        errors += 1.0 if sign < 0 else 0.0
        _gap(x, W[winner], f)
        if adaptive:
            rates[winner] = min(most, rates[winner] / max(1.0 + sign * rates[winner], 1e-12))
        for t in range(N):
            W[winner, t] += sign * rates[winner] * f[t]
        if by_relevances > 0:
            for t in range(N):
                relevances[t] -= sign * by_relevances * abs(f[t])
            _make_shares(relevances.reshape(1, N), True)
    return errors


@njit(cache=True, nogil=True)
def sweep_lvq21(
    X: Array,
    y: Array,
    order: Array,
    W: Array,
    classes: Array,
    rate: float,
    window: float,
) -> float:
    """LVQ2.1 on some samples, in place: those in a window around the border move both winners; return the errors."""
    N = X.shape[1]
    f = np.empty(N)
    errors = 0.0
    least = ((1.0 - window) / (1.0 + window)) ** 2  # on squared distances
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
            W[J] += rate * f
            _gap(x, W[K], f)
            W[K] -= rate * f
    return errors


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def entries_of_product(Z: Array, X: Array, rows: Array, columns: Array, entries: Array) -> None:
    """Write the entries of ``Z X^T`` at given places to ``entries``."""
    for e in range(len(rows)):
        z, x = Z[rows[e]], X[columns[e]]
        total = 0.0
        for i in range(len(z)):
            total += z[i] * x[i]
        entries[e] = total
