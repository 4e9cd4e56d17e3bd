"""Compiled loops of the exploratory observation machine and of self-organized neighbor embedding.

Arrays: images (n, M), changed in place; rows, squared distances of samples, see `Rows`; precisions (n,)
``1 / (2 sigma_i^2)``. Logarithms of affinities are kept, not affinities: ``x = -log h`` and ``c = -log g`` (n,), so
that nothing underflows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from protolearn.core.compiling import FROM_PYTHON, WITHIN_LOOPS
from protolearn.core.types import Floats, Indices
from protolearn.embedding._presentations import LEAST_AFFINITY

IMAGE, MEAN, DIVERGENCE = range(3)  # what the winner of a sampling vector is nearest by

FLOOR = -np.log(LEAST_AFFINITY)

SETTLED, MOST_STEPS = 1e-20, 200  # squared step of a place, as a share of the scale, and number of steps

NOTHING = 40.0  # -log of an affinity that is lost in rounding

STRIDE = 16  # terms of a sum between two looks at the best sum so far

SUMS = {"reassoc", "contract", "nsz"}  # sums may be added in any order, so that they use vector instructions

INLINED: dict[str, Any] = {**WITHIN_LOOPS, "forceinline": True}


@njit(**FROM_PYTHON, fastmath=SUMS)
def observe(points: Floats, images: Floats, rows: Any, precision: float, weights: Any, rate: float, won: Any) -> float:
    """Present sampling vectors (T, M) to an exploratory observation machine; return the mean cost.

    The winners are written to ``won`` (T,); without weights (None) they are those with the nearest images.
    """
    n, M = images.shape
    distances = np.empty(n)
    cost = 0.0
    for t in range(len(points)):
        s = points[t]
        best = _squared_distances(s, images, distances)
        if weights is not None:
            best = lowest(distances, weights, best)
        won[t] = best
        row = _row(best, rows)
        for k in range(n):
            if precision * row[k] > NOTHING:
                continue
            h = np.exp(-precision * row[k])
            cost += h * distances[k]
            for m in range(M):
                images[k, m] += rate * h * (s[m] - images[k, m])  # Bunte 2011, eq. 8.2, its factor 2 in the rate
    return cost / len(points)


@njit(**FROM_PYTHON, fastmath=SUMS)
def present(
    points: Floats,
    anchors: Indices,
    images: Floats,
    rows: Any,
    offsets: Floats,
    precisions: Floats,
    own: Floats,
    weights: Any,
    each: bool,
    winner: int,
    student: bool,
    scale: float,
    rate: float,
    form: Any,
    scale_free: bool | None,
    won: Indices,
) -> float:
    """Present sampling vectors (T, M) to all images; return the mean divergence.

    A vector with an anchor of 0 or more is relative to that image. Affinities are those of squared distances beyond
    the offsets (n,), by offset and precision of ``each`` sample, or by those of the winner; that of a sample to itself
    is ``exp(-own)``. The winners are written to ``won`` (T,). A divergence that is not scale-free is given by None.
    """
    n, M = images.shape
    b = form.q_power
    floor = np.inf if b == 0.0 else FLOOR
    # squared distance from where on -log g is beyond NOTHING / a
    reach = NOTHING / form.p_power if b == 0.0 else np.inf
    far = scale * np.expm1(min(2.0 * reach / (scale + 1.0), 700.0)) if student else 2.0 * scale * scale * reach
    s, distances, c, x, pull = np.empty(M), np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    powers = np.empty(n if winner == DIVERGENCE else 0)
    cost = 0.0
    for t in range(len(points)):
        for m in range(M):
            s[m] = points[t, m] + (images[anchors[t], m] if anchors[t] >= 0 else 0.0)
        best = _squared_distances(s, images, distances)
        if winner != IMAGE or b != 0.0:
            for k in range(n):
                c[k] = _minus_log(distances[k], student, scale)
        if scale_free is not None:
            nearest = c[best]  # the kernel falls with the distance
            for k in range(n):
                c[k] -= nearest
        if weights is not None:  # or else the nearest image wins, and the functions here are not compiled
            if winner == MEAN or b == 0.0:
                best = lowest(c, weights, best)
            else:
                for k in range(n):
                    powers[k] = np.exp(-b * min(c[k], floor))
                best = lowest(powers, weights, best) if scale_free is None else _lowest_log(powers, weights, b)
        won[t] = best
        row = _row(best, rows)
        for k in range(n):
            i = k if each else best
            x[k] = min(precisions[i] * (row[k] - offsets[i]), floor)
            if winner != IMAGE or b != 0.0:
                c[k] = min(c[k], floor)
            elif x[k] < NOTHING or distances[k] < far:
                c[k] = _minus_log(distances[k], student, scale)
            else:
                c[k] = np.inf
        x[best] = min(own[best], floor)
        if scale_free is None:
            cost += _pull(x, c, form, pull)
        else:
            cost += _scale_free_pull(x, c, b, pull)
        unit = _largest(pull) if b > 0.0 else 1.0  # pulls that fade with the distance are measured by the largest
        for k in range(n):
            if pull[k] == 0.0:
                continue
            # Bunte 2011, eqs. 8.14 and 8.16
            slope = (scale + 1.0) / (scale + distances[k]) if student else 1.0 / (scale * scale)
            step = rate * slope * max(-1.0, min(1.0, pull[k] / unit))
            for m in range(M):
                images[k, m] -= step * (images[k, m] - s[m])
    return cost / len(points)


@njit(**INLINED)
def _row(i: int, rows: Any) -> Any:
    """Return the squared distances of a sample to all, computed if they are not in the table."""
    if rows.place[i] < 0:
        slot = rows.clock[0]
        rows.clock[0] = (slot + 1) % len(rows.table)
        if rows.held[slot] >= 0:
            rows.place[rows.held[slot]] = -1
        _squared_distances(rows.vectors[i], rows.vectors, rows.table[slot])
        rows.place[i], rows.held[slot] = slot, i
    return rows.table[rows.place[i]]


@njit(**INLINED)
def _squared_distances(s: Floats, images: Floats, distances: Floats) -> int:
    """Write the squared distances (n,) to the images; return which is the nearest, the first of equal ones."""
    nearest = 0
    for k in range(len(images)):
        distance = 0.0
        for m in range(images.shape[1]):
            gap = s[m] - images[k, m]
            distance += gap * gap
        distances[k] = distance
        if distance < distances[nearest]:
            nearest = k
    return nearest


@njit(**INLINED)
def _minus_log(distance: float, student: bool, scale: float) -> float:
    """Return -log g at a squared distance, of a Student or Gaussian kernel."""
    return 0.5 * (scale + 1.0) * np.log1p(distance / scale) if student else distance / (2.0 * scale * scale)


@njit(**INLINED)
def _pull(x: Floats, c: Floats, form: Any, pull: Floats) -> float:
    """Write -g dD/dg = factor (h^a g^b - g^(a + b)) and return the divergence."""
    a, b, factor = form.p_power, form.q_power, form.factor
    value = 0.0
    for k in range(len(x)):
        if b == 0.0:  # pulls where there is nothing of either are not computed
            mixed = np.exp(-a * x[k]) if a * x[k] < NOTHING else 0.0
            mine = np.exp(-a * c[k]) if a * c[k] < NOTHING else 0.0
            value += (mixed * (c[k] - x[k]) if mixed > 0.0 else 0.0) + (mine - mixed) / a
        elif a == 0.0:  # b = 1, and the limit of (h^a - g^a) / a is a difference of logarithms
            mine = np.exp(-c[k])
            mixed = mine * (1.0 + c[k] - x[k])
            value += np.exp(-x[k]) - mixed
        else:
            mixed, mine = np.exp(-a * x[k] - b * c[k]), np.exp(-(a + b) * c[k])
            theirs = np.exp(-(a + b) * x[k])
            value += (theirs - mixed) / b + (x[k] - c[k] if a + b == 0.0 else (mine - theirs) / (a + b))
        pull[k] = factor * (mixed - mine)
    value *= factor
    if form.inner == 0.0:
        return value
    inside = 1.0 + form.inner * value  # D = outer log(1 + inner value)
    if inside <= 0.0:  # infinite, but the direction is known
        return np.inf
    for k in range(len(x)):
        pull[k] *= form.outer * form.inner / inside
    return form.outer * np.log(inside)


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
def _largest(pull: Floats) -> float:
    """Return the largest size of a pull, 1 if there is none."""
    largest = 0.0
    for k in range(len(pull)):
        largest = max(largest, abs(pull[k]))
    return largest if largest > 0.0 else 1.0


@njit(**FROM_PYTHON, fastmath=SUMS)
def lowest(costs: Floats, weights: Any, guess: int) -> int:
    """Return the row with the lowest ``base + sum values * costs``; no term is negative if ``positive``."""
    index, values, counts, base, positive = weights
    bound = base[guess]
    for j in range(counts[guess]):
        bound += values[guess, j] * costs[index[guess, j]]
    best, least = guess, np.nextafter(bound, np.inf)
    for i in range(len(base)):
        score = base[i]
        for first in range(0, counts[i], STRIDE):
            for j in range(first, min(first + STRIDE, counts[i])):
                score += values[i, j] * costs[index[i, j]]
            if positive and score >= least:
                break
        if score < least:
            best, least = i, score
    return best


@njit(**INLINED)
def _lowest_log(powers: Floats, weights: Any, gamma: float) -> int:
    """Return the row with the lowest ``base - log(sum values * powers) / gamma``."""
    index, values, counts, base, _ = weights
    best, least = 0, np.inf
    for i in range(len(base)):
        total = 0.0
        for j in range(counts[i]):
            total += values[i, j] * powers[index[i, j]]
        score = base[i] - np.log(total) / gamma if total > 0.0 else np.inf
        if score < least:
            best, least = i, score
    return best


@njit(**FROM_PYTHON)
def settle(squares: Floats, precisions: Floats, images: Floats, scale: float, places: Floats) -> None:
    """Write places (m, M), each with the lowest sum of ``h_k log(1 + |place - image_k|^2 / scale)``.

    The affinities h are those of squared distances (m, n) to the samples with these images. Each step goes to the mean
    of the images, weighted by h and by the slopes of the kernel, which never raises the sum; the first is the mean by
    h alone, which is the place if the scale is infinite.
    """
    n, M = images.shape
    h, following = np.empty(n), np.empty(M)
    for i in range(len(squares)):
        nearest = np.inf
        for k in range(n):
            nearest = min(nearest, squares[i, k])
        for k in range(n):
            x = precisions[i] * (squares[i, k] - nearest)
            h[k] = np.exp(-x) if x < NOTHING else 0.0
        place = places[i]
        for step in range(MOST_STEPS):
            total = 0.0
            for m in range(M):
                following[m] = 0.0
            for k in range(n):
                if h[k] == 0.0:
                    continue
                distance = 0.0
                if step > 0:
                    for m in range(M):
                        gap = place[m] - images[k, m]
                        distance += gap * gap
                weight = h[k] / (1.0 + distance / scale)
                total += weight
                for m in range(M):
                    following[m] += weight * images[k, m]
            moved = 0.0
            for m in range(M):
                following[m] /= total
                gap = following[m] - place[m]
                moved += gap * gap
                place[m] = following[m]
            if scale == np.inf or (step > 0 and moved <= SETTLED * scale):
                break


@njit(**FROM_PYTHON)
def entropic_precisions(squares: Floats, shares: Floats, perplexity: float, precisions: Floats) -> None:
    """Change precisions (m,) such that affinities to neighbors (m, K) have an entropy of log(perplexity).

    Neighbor j represents ``shares[j]`` samples. The search starts at the given precisions.
    """
    target = np.log(perplexity)
    for i in range(len(squares)):
        row = squares[i]
        nearest = np.inf
        for k in range(len(row)):
            nearest = min(nearest, row[k])
        low, high, beta = 0.0, np.inf, precisions[i]
        for _ in range(60):
            total, first, second = 0.0, 0.0, 0.0
            for k in range(len(row)):
                excess = row[k] - nearest
                if beta * excess < 700.0:
                    h = shares[k] * np.exp(-beta * excess)
                    total += h
                    first += h * excess
                    second += h * excess * excess
            mean = first / total
            gap = np.log(total) + beta * mean - target
            if abs(gap) < 1e-5:
                break
            if gap > 0.0:
                low = beta
            else:
                high = beta
            slope = beta * beta * (second / total - mean * mean)  # -dH / dlog beta
            following = beta * np.exp(max(-2.0, min(2.0, gap / slope))) if slope > 0.0 else 0.0
            if not low < following < high:
                following = 2.0 * low if high == np.inf else 0.5 * (low + high)
            if following == 0.0 or following == beta:
                break
            beta = following
        precisions[i] = beta
