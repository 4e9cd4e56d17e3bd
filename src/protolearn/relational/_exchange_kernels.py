"""Compiled loops of exchanges: what generalized LVQ costs with each of many objects in the place of one prototype."""

from __future__ import annotations

import numpy as np
from numba import njit

from protolearn.core.compiling import FROM_PYTHON, WITHIN_LOOPS
from protolearn.core.types import Array, Floats, Indices

TINY = 1e-290  # below this, distances have no meaningful ratio


@njit(**WITHIN_LOOPS)
def loss(d_J: float, d_K: float, squashing: int, slope: float) -> float:
    """Return ``phi(mu)`` of one object; ``mu`` is from -1 to 1 also if given squares are negative."""
    total = abs(d_J) + abs(d_K)
    mu = 0.0
    if d_J == np.inf:  # without a prototype on one side
        mu = 1.0
    elif d_K == np.inf:
        mu = -1.0
    elif total > TINY:
        mu = (d_J - d_K) / total
    if squashing == 0:
        return mu
    gate = 1.0 / (1.0 + np.exp(-slope * mu))
    return gate if squashing == 1 else mu * gate


@njit(**FROM_PYTHON)
def nearest_of_both(P: Floats, y: Indices, codes: Indices, left_out: int) -> Floats:
    """Return the squares (2, n) to the nearest prototype of an object's class, and of another; one is left out.

    P (k, n) are squared dissimilarities of prototypes with class codes (k,), y (n,) class codes of the objects.
    """
    nearest = np.empty((2, P.shape[1]))
    for j in range(P.shape[1]):
        nearest[0, j], nearest[1, j] = np.inf, np.inf
    for p in range(P.shape[0]):
        if p == left_out:
            continue
        for j in range(P.shape[1]):
            own = codes[p] == y[j]
            nearest[0, j] = min(nearest[0, j], P[p, j] if own else np.inf)
            nearest[1, j] = min(nearest[1, j], np.inf if own else P[p, j])
    return nearest


@njit(**FROM_PYTHON)
def candidate_costs(
    S: Array, members: Indices, nearest: Floats, y: Indices, code: int, weights: Floats, squashing: int, slope: float
) -> Floats:
    """Return the cost (m,) with each of the members (m,) of a class in the place of one of its prototypes.

    S (n, n) are squared dissimilarities, ``nearest`` (2, n) those to the other prototypes.
    """
    n = S.shape[0]
    before, limits = np.empty(n), np.empty(n)
    total = 0.0
    for j in range(n):
        before[j] = weights[j] * loss(nearest[0, j], nearest[1, j], squashing, slope)
        limits[j] = nearest[0, j] if y[j] == code else nearest[1, j]
        total += before[j]
    costs = np.empty(members.shape[0])
    for q in range(members.shape[0]):
        costs[q] = total
        row = S[members[q]]
        for j in range(n):
            if row[j] < limits[j]:  # only what the candidate comes nearer to changes
                if y[j] == code:
                    after = loss(row[j], nearest[1, j], squashing, slope)
                else:
                    after = loss(nearest[0, j], row[j], squashing, slope)
                costs[q] += weights[j] * after - before[j]
    return costs
