"""Compiled loops of the exploratory observation machine and of self-organized neighbor embedding.

Arrays: images (n, M), changed in place; squares (n, n) squared dissimilarities of the samples; order (n, n) the samples
by their distance to each, itself first; precisions (n,) ``1 / (2 sigma_i^2)``. Logarithms of affinities are kept, not
affinities: ``x = -log h`` and ``c = -log g`` (n,), so that nothing underflows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from protolearn.core.types import Floats, Indices
from protolearn.embedding.topographic._base import LEAST_AFFINITY

IMAGE, MEAN, DIVERGENCE = range(3)  # what the winner of a sampling vector is nearest by
FLOOR = -np.log(LEAST_AFFINITY)
STRIDE = 16  # terms of a sum between two looks at the best sum so far
SUMS = {"reassoc", "contract", "nsz"}  # sums may be added in any order, so that they use vector instructions
INLINED: dict[str, Any] = {"cache": True, "nogil": True, "forceinline": True}


@njit(cache=True, nogil=True, fastmath=SUMS)
def observe(
    points: Floats, images: Floats, squares: Floats, precision: float, weights: Any, winner: int, rate: float, won: Any
) -> float:
    """Present sampling vectors (T, M) to an exploratory observation machine; return the mean cost.

    The winners are written to ``won`` (T,).
    """
    n, M = images.shape
    distances = np.empty(n)
    cost, best = 0.0, 0
    for t in range(len(points)):
        s = points[t]
        _squared_distances(s, images, distances)
        best = int(np.argmin(distances)) if winner == IMAGE else _lowest(distances, weights, best)
        won[t] = best
        for k in range(n):
            h = np.exp(-precision * squares[best, k])
            cost += h * distances[k]
            for m in range(M):
                images[k, m] += rate * h * (s[m] - images[k, m])  # Bunte 2011, eq. 8.2, its factor 2 in the rate
    return cost / len(points)


@njit(cache=True, nogil=True, fastmath=SUMS)
def present(
    points: Floats,
    anchors: Indices,
    images: Floats,
    squares: Floats,
    precisions: Floats,
    own: Floats,
    weights: Any,
    winner: int,
    student: bool,
    scale: float,
    rate: float,
    form: tuple[float, float, float, bool],
    won: Indices,
) -> float:
    """Present sampling vectors (T, M) to all images; return the mean divergence.

    A vector with an anchor of 0 or more is relative to that image. The affinity of a sample to itself is
    ``exp(-own)``. The winners are written to ``won`` (T,).
    """
    n, M = images.shape
    a, b, factor, scale_free = form
    floor = np.inf if b == 0.0 else FLOOR
    s, distances, c, x, pull = np.empty(M), np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    powers = np.empty(n if winner == DIVERGENCE else 0)
    cost, best = 0.0, 0
    for t in range(len(points)):
        for m in range(M):
            s[m] = points[t, m] + (images[anchors[t], m] if anchors[t] >= 0 else 0.0)
        _squared_distances(s, images, distances)
        _minus_logs(distances, student, scale, c)
        if scale_free:
            c -= c.min()
        if winner == IMAGE:
            best = int(np.argmin(distances))
        elif winner == MEAN or b == 0.0:
            best = _lowest(c, weights, best)
        else:
            for k in range(n):
                powers[k] = np.exp(-b * min(c[k], floor))
            best = _lowest_log(powers, weights, b) if scale_free else _lowest(powers, weights, best)
        won[t] = best
        for k in range(n):
            x[k] = min(precisions[best] * squares[best, k], floor)
            c[k] = min(c[k], floor)
        x[best] = min(own[best], floor)
        if scale_free:
            cost += _scale_free_pull(x, c, b, pull)
        else:
            cost += _pull(x, c, a, b, factor, pull)
        _limit(pull, b > 0.0)
        for k in range(n):
            slope = (scale + 1.0) / (scale + distances[k]) if student else 1.0 / scale**2  # Bunte 2011, eqs. 8.14, 8.16
            for m in range(M):
                images[k, m] -= rate * slope * pull[k] * (images[k, m] - s[m])
    return cost / len(points)


@njit(**INLINED)
def _squared_distances(s: Floats, images: Floats, distances: Floats) -> None:
    for k in range(len(images)):
        distance = 0.0
        for m in range(images.shape[1]):
            distance += (s[m] - images[k, m]) ** 2
        distances[k] = distance


@njit(**INLINED)
def _minus_logs(distances: Floats, student: bool, scale: float, c: Floats) -> None:
    """Write -log g, of a Student or Gaussian kernel."""
    for k in range(len(distances)):
        if student:
            c[k] = 0.5 * (scale + 1.0) * np.log1p(distances[k] / scale)
        else:
            c[k] = distances[k] / (2.0 * scale**2)


@njit(**INLINED)
def _pull(x: Floats, c: Floats, a: float, b: float, factor: float, pull: Floats) -> float:
    """Write -g dD/dg = factor (h^a g^b - g^(a + b)) and return the divergence."""
    value = 0.0
    for k in range(len(x)):
        mixed, mine = np.exp(-a * x[k] - b * c[k]), np.exp(-(a + b) * c[k])
        pull[k] = factor * (mixed - mine)
        if b == 0.0:  # mixed = h^a
            value += mixed * (c[k] - x[k]) + (mine - mixed) / a
        else:
            theirs = np.exp(-(a + b) * x[k])
            value += (theirs - mixed) / b + (x[k] - c[k] if a + b == 0.0 else (mine - theirs) / (a + b))
    return factor * value


@njit(**INLINED)
def _scale_free_pull(x: Floats, c: Floats, gamma: float, pull: Floats) -> float:
    """Write -g dD/dg of the gamma divergence and return the divergence."""
    mixed, mine, theirs = 0.0, 0.0, 0.0
    for k in range(len(x)):
        pull[k] = np.exp(-x[k] - gamma * c[k])
        mixed += pull[k]
        mine += np.exp(-(gamma + 1.0) * c[k])
        theirs += np.exp(-(gamma + 1.0) * x[k])
    for k in range(len(x)):
        pull[k] = pull[k] / mixed - np.exp(-(gamma + 1.0) * c[k]) / mine
    return np.log(theirs) / (gamma * (gamma + 1.0)) + np.log(mine) / (gamma + 1.0) - np.log(mixed) / gamma


@njit(**INLINED)
def _limit(pull: Floats, fading: bool) -> None:
    """Bring pulls to sizes of at most one; those that fade with the distance get that size."""
    largest = 0.0
    for k in range(len(pull)):
        largest = max(largest, abs(pull[k]))
    for k in range(len(pull)):
        if not fading:
            pull[k] = max(-1.0, min(1.0, pull[k]))
        elif largest > 0.0:
            pull[k] /= largest


@njit(**INLINED)
def _lowest(costs: Floats, weights: Any, guess: int) -> int:
    """Return the row with the lowest ``base + sum values * costs``; no term is negative if ``positive``."""
    index, values, base, positive = weights
    bound = base[guess]
    for j in range(index.shape[1]):
        bound += values[guess, j] * costs[index[guess, j]]
    best, lowest = guess, np.nextafter(bound, np.inf)
    for i in range(len(base)):
        score = base[i]
        for first in range(0, index.shape[1], STRIDE):
            for j in range(first, min(first + STRIDE, index.shape[1])):
                score += values[i, j] * costs[index[i, j]]
            if positive and score >= lowest:
                break
        if score < lowest:
            best, lowest = i, score
    return best


@njit(**INLINED)
def _lowest_log(powers: Floats, weights: Any, gamma: float) -> int:
    """Return the row with the lowest ``base - log(sum values * powers) / gamma``."""
    index, values, base, _ = weights
    best, lowest = 0, np.inf
    for i in range(len(base)):
        total = 0.0
        for j in range(index.shape[1]):
            total += values[i, j] * powers[index[i, j]]
        score = base[i] - np.log(total) / gamma if total > 0.0 else np.inf
        if score < lowest:
            best, lowest = i, score
    return best


@njit(cache=True, nogil=True)
def choose_neighbors(
    squares: Floats,
    order: Any,
    precisions: Floats,
    own: Floats,
    cutoff: float,
    index: Any,
    x: Floats,
    shares: Floats,
) -> None:
    """Choose K neighbors of each sample, evenly from near to far.

    Writes which they are to ``index`` (n, K), -log of their affinities to ``x`` (n, K), and for how many samples each
    stands to ``shares`` (n,). Samples with ``x > cutoff`` are left out, but for the first K.
    """
    n, K = index.shape
    for i in range(n):
        low, high = K, n
        while low < high:
            middle = (low + high) // 2
            if precisions[i] * squares[i, order[i, middle]] <= cutoff:
                low = middle + 1
            else:
                high = middle
        shares[i] = low / K
        for j in range(K):
            k = order[i, int((j + 0.5) * low / K)]
            index[i, j] = k
            x[i, j] = own[i] if k == i else precisions[i] * squares[i, k]


@njit(cache=True, nogil=True)
def entropic_precisions(squares: Floats, precisions: Floats, perplexity: float) -> None:
    """Change precisions such that the affinities of each sample to the others have an entropy of log(perplexity).

    The precisions given are where the search starts.
    """
    n = len(squares)
    target = np.log(perplexity)
    for i in range(n):
        nearest = np.inf
        for k in range(n):
            if k != i:
                nearest = min(nearest, squares[i, k])
        low, high, beta = 0.0, np.inf, precisions[i]
        for _ in range(60):
            total, first, second = 0.0, 0.0, 0.0
            for k in range(n):
                excess = squares[i, k] - nearest
                if k != i and beta * excess < 700.0:
                    h = np.exp(-beta * excess)
                    total += h
                    first += h * excess
                    second += h * excess**2
            mean = first / total
            gap = np.log(total) + beta * mean - target
            if abs(gap) < 1e-5:
                break
            if gap > 0.0:
                low = beta
            else:
                high = beta
            slope = beta**2 * (second / total - mean**2)  # -dH / dlog beta
            following = beta * np.exp(max(-2.0, min(2.0, gap / slope))) if slope > 0.0 else 0.0
            if not low < following < high:
                following = 2.0 * low if high == np.inf else 0.5 * (low + high)
            if following == 0.0 or following == beta:
                break
            beta = following
        precisions[i] = beta
