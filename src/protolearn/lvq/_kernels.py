"""Compiled sweeps over single samples: the online rules of LVQ, in the order in which they were published.

Arrays: X (n, N), y (n,), u (n,) weights, W (k, N), classes (k,), omega (s, M, N), slots (k,) matrix of each prototype.
``rates`` are those of prototypes, of the diagonal and of the other entries of a matrix. A missing value (NaN) differs
from no prototype.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from protolearn.core.types import Array

IDENTITY, SIGMOID, SWISH = range(3)


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
    kind: int,
    slope: float,
    sums: Array,
) -> None:
    """Matrix learning from some samples, in place; add the cost that they met, and their weight, to ``sums``.

    Matrices have norm one, ``each`` or in the mean.
    Without ``psi`` (length 0) prototype p uses ``omega[slots[p]]``; otherwise ``psi[slots[p]] @ omega[0]``.
    """
    by_prototypes, by_diagonal, by_rest = rates
    product = psi.shape[0] > 0
    M, N = omega.shape[1], omega.shape[2]
    f, f_J, f_K = np.empty(N), np.empty(N), np.empty(N)
    v, v_J, v_K = np.empty(M), np.empty(M), np.empty(M)
    z, z_J, z_K = np.empty(M), np.empty(M), np.empty(M)
    cost, mass = sums[0], sums[1]
    masked = not allowed.all()
    for i in order:
        x = X[i]
        J, K = -1, -1
        d_J, d_K = np.inf, np.inf
        for p in range(W.shape[0]):
            own = classes[p] == y[i]
            _gap(x, W[p], f)
            d = _apply(omega[0 if product else slots[p]], f, v)
            if product:
                d = _apply(psi[slots[p]], v, z)
            if own and d < d_J:
                J, d_J = p, d
                f_J[:], v_J[:], z_J[:] = f, v, z
            if not own and d < d_K:
                K, d_K = p, d
                f_K[:], v_K[:], z_K[:] = f, v, z
        total = d_J + d_K
        if J < 0 or K < 0 or not 0 < total < np.inf:
            continue
        value, steepness = squash(kind, (d_J - d_K) / total, slope)
        cost += u[i] * value
        mass += u[i]
        gamma_J = u[i] * steepness * 2.0 * d_K / (total * total)
        gamma_K = -u[i] * steepness * 2.0 * d_J / (total * total)
        a, b = slots[J], slots[K]
        if product:  # Bunte 2011, eqs. 3.8 to 3.10, from the state before the step
            psi_J, psi_K = psi[a].copy(), psi[b].copy()
            back_J, back_K = psi_J.T @ z_J, psi_K.T @ z_K
            _add_transposed(W[J], x, omega[0], back_J, 2.0 * by_prototypes * gamma_J)
            _add_transposed(W[K], x, omega[0], back_K, 2.0 * by_prototypes * gamma_K)
            if by_diagonal > 0 or by_rest > 0:
                _add_outer(omega[0], back_J, f_J, by_diagonal * gamma_J, by_rest * gamma_J, False)
                _add_outer(omega[0], back_K, f_K, by_diagonal * gamma_K, by_rest * gamma_K, False)
                _add_outer(psi[a], z_J, v_J, by_diagonal * gamma_J, by_rest * gamma_J, False)
                _add_outer(psi[b], z_K, v_K, by_diagonal * gamma_K, by_rest * gamma_K, False)
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
        _add_transposed(W[J], x, omega[a], v_J, 2.0 * by_prototypes * gamma_J)
        _add_transposed(W[K], x, omega[b], v_K, 2.0 * by_prototypes * gamma_K)
        if by_diagonal > 0 or by_rest > 0:
            _add_outer(omega[a], v_J, f_J, by_diagonal * gamma_J, by_rest * gamma_J, symmetric)
            _add_outer(omega[b], v_K, f_K, by_diagonal * gamma_K, by_rest * gamma_K, symmetric)
            for s in range(omega.shape[0]):
                if regularization > 0:
                    weight = u[i] * regularization / (M * omega.shape[0])
                    _widen(omega[s], by_diagonal * weight, by_rest * weight)
                if regularization > 0 or s in (a, b):
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
    kind: int,
    slope: float,
    sums: Array,
) -> None:
    """Relevance learning on ``d = sum_t relevances_t (x_t - w_t)^2``, in place; add cost and weight to ``sums``."""
    by_prototypes, by_relevances, _ = rates
    N = X.shape[1]
    f = np.empty(N)
    cost, mass = sums[0], sums[1]
    for i in order:
        x = X[i]
        J, K = -1, -1
        d_J, d_K = np.inf, np.inf
        for p in range(W.shape[0]):
            _gap(x, W[p], f)
            d = 0.0
            for t in range(N):
                d += relevances[slots[p], t] * f[t] * f[t]
            if classes[p] == y[i]:
                if d < d_J:
                    J, d_J = p, d
            elif d < d_K:
                K, d_K = p, d
        total = d_J + d_K
        if J < 0 or K < 0 or not 0 < total < np.inf:
            continue
        value, steepness = squash(kind, (d_J - d_K) / total, slope)
        cost += u[i] * value
        mass += u[i]
        old = relevances[slots[J]].copy(), relevances[slots[K]].copy()
        for side in range(2):
            p = J if side == 0 else K
            gamma = u[i] * steepness * 2.0 * (d_K if side == 0 else -d_J) / (total * total)
            _gap(x, W[p], f)
            for t in range(N):
                W[p, t] += 2.0 * by_prototypes * gamma * old[side][t] * f[t]
                relevances[slots[p], t] -= by_relevances * gamma * f[t] * f[t]
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
