"""Quadratic forms of a diagonal and a few factors, and the point nearest to zero beyond half-spaces within bounds.

The memory and time that they take grow in proportion to the number of columns, as long as there are few factors.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve, svd

from protolearn.core.types import Bools, Floats, Indices
from protolearn.core.validation import require_memory
from protolearn.lvq._nearest_point import SLACK, least_distance

__all__ = ["Form", "nearest_beyond"]

N_ROUNDS = 60
MOST_AT_ONCE = 300  # bounds that are added in a round


@dataclass(frozen=True)
class Form:
    """The form ``delta'S delta`` with ``S = diag(d) + F'F``, for positive d (N,) and factors F (r, N)."""

    d: Floats
    F: Floats
    _parts: dict[bytes, Form] = field(default_factory=dict)

    def __call__(self, delta: Floats) -> float:
        """Return the value of the form."""
        image = self.F @ delta
        return float(self.d @ delta**2 + image @ image)

    def share(self, delta: Floats, columns: Indices) -> float:
        """Return the value of the form if only these columns change."""
        some = delta[columns]
        image = self.F[:, columns] @ some
        return float(self.d[columns] @ some**2 + image @ image)

    @property
    def trace(self) -> float:
        """Return the sum of the diagonal."""
        return float(self.d.sum() + (self.F**2).sum())

    def matrix(self) -> Floats:
        """Return S."""
        require_memory(f"A matrix of {len(self.d)} features", 3 * 8 * len(self.d) ** 2, "use fewer features")
        return np.diag(self.d) + self.F.T @ self.F

    def plus(self, share: float, other: Form) -> Form:
        """Return the sum of this form and a share of another one."""
        return Form(self.d + share * other.d, np.vstack([self.F, np.sqrt(share) * other.F]))

    def times(self, delta: Floats) -> Floats:
        """Return ``S delta``."""
        return self.d * delta + self.F.T @ (self.F @ delta)

    def within(self, free: Bools) -> Form:
        """Return the form of some columns; the last one is remembered."""
        if free.all():
            return self
        key = free.tobytes()
        if key not in self._parts:
            self._parts.clear()
            self._parts[key] = Form(self.d[free], self.F[:, free])
        return self._parts[key]

    def solve(self, rows: Floats) -> Floats:
        """Return ``rows S^-1`` of rows (m, N)."""
        if not len(self.F):
            return rows / self.d
        kind, *parts = self._inverse
        if kind == "dense":
            return np.asarray(cho_solve(parts[0], rows.T).T, np.float64)
        root, axes, shrunk = parts
        scaled = rows / root
        along = scaled @ axes.T
        rest = scaled - along @ axes
        faint = np.abs(rest).max(axis=1, initial=0.0) <= 1e-12 * np.abs(scaled).max(axis=1, initial=0.0)
        rest[faint] = 0.0  # rounding, which small numbers d would magnify
        return np.asarray((along * shrunk @ axes + rest) / root, np.float64)

    @cached_property
    def _inverse(self) -> tuple[Any, ...]:
        r, N = self.F.shape
        if 2 * r >= N:
            return "dense", cho_factor(self.matrix(), lower=True)
        root = np.sqrt(self.d)  # S = root (1 + G'G) root
        _, sizes, axes = svd(self.F / root, full_matrices=False)
        return "few factors", root, axes, 1.0 / (1.0 + sizes**2)


def nearest_beyond(
    form: Form, g: Floats, c: Floats, low: Floats, high: Floats, cutoff: float
) -> tuple[Floats, float, bool]:
    """Return the delta with the least value of a form, its value, and whether it is proven that none is smaller.

    It satisfies ``2 g_j'delta + c_j <= 0`` for all j, and is within bounds, of which those that it violates are added
    until there are none. The value is infinite if there is no such point, and a bound of it if it reaches the cutoff.

    Examples
    --------
    >>> form = Form(np.ones(2), np.empty((0, 2)))
    >>> nearest_beyond(form, np.array([[-0.5, -0.5]]), np.array([3.0]), np.zeros(2), np.array([1.0, 5.0]), np.inf)
    (array([1., 2.]), 5.0, True)
    """
    free = low < high
    fixed = np.where(free, 0.0, low)
    part = form.within(free)
    g, c = g[:, free], c + 2.0 * g @ fixed
    pull = form.times(fixed)[free]
    center = -part.solve(pull[None])[0]
    base = form(fixed) + float(pull @ center)
    c = c + 2.0 * g @ center
    low, high = low[free] - center, high[free] - center
    rows = _FormRows(part, -2.0 * g, c)
    ends = np.concatenate([low, high])
    room = SLACK * float(np.abs(ends[np.isfinite(ends)]).max(initial=1e-300))
    for _ in range(N_ROUNDS):
        step = rows.nearest()
        if step is None:
            return fixed, np.inf, True
        if base + part(step) >= cutoff:
            return fixed, base + part(step), True
        beyond = np.maximum(step - high, low - step)
        worst = np.flatnonzero(beyond > room)
        worst = worst[np.argsort(-beyond[worst])[:MOST_AT_ONCE]]
        above = step[worst] > high[worst]
        if not rows.add(worst, np.where(above, -1.0, 1.0), np.where(above, -high[worst], low[worst])):
            break
    else:
        return fixed, np.inf, False
    if rows.tight.size:  # what is at a bound stays there, and the rest is solved again, to full precision
        at_low = np.abs(step - low) < np.abs(step - high)
        at = np.isin(np.arange(len(step)), rows.tight)
        lower, upper = np.where(at, np.where(at_low, low, high), [[-np.inf], [np.inf]])
        again, value, _ = nearest_beyond(part, g, c, lower, upper, np.inf)
        if np.isfinite(value) and (again >= low - 1e4 * room).all() and (again <= high + 1e4 * room).all():
            step = again
    step = np.clip(step, low, high)
    sizes = np.maximum(np.abs(c), np.abs(g) @ np.abs(step))
    if (2.0 * g @ step + c > 1e-6 * sizes).any():
        return fixed, np.inf, False
    delta = fixed.copy()
    delta[free] = center + step
    return delta, base + part(step), True


class _FormRows:
    """Inequalities ``R delta >= h``, and what is nearest to zero beyond them."""

    def __init__(self, form: Form, rows: Floats, h: Floats) -> None:
        self.form, self.R, self.h = form, rows, h
        self.P = form.solve(rows)
        self.K = self.P @ rows.T
        self.places = np.full(len(rows), -1)  # columns of bounds
        self.tight = np.empty(0, np.int64)  # columns that the last answer has at a bound
        self.known: set[tuple[int, float]] = set()

    def add(self, places: Indices, signs: Floats, h: Floats) -> bool:
        """Add bounds ``signs delta[places] >= h``; return whether any of them is new."""
        new = [i for i, key in enumerate(zip(places.tolist(), signs.tolist())) if key not in self.known]
        if not new:
            return False
        places, signs, h = places[new], signs[new], h[new]
        self.known |= set(zip(places.tolist(), signs.tolist()))
        rows = np.zeros((len(new), self.R.shape[1]))
        rows[np.arange(len(new)), places] = signs
        P = self.form.solve(rows)
        across = P @ self.R.T
        self.K = np.block([[self.K, across.T], [across, P[:, places] * signs]])
        self.R, self.P, self.h = np.vstack([self.R, rows]), np.vstack([self.P, P]), np.concatenate([self.h, h])
        self.places = np.concatenate([self.places, places])
        return True

    def nearest(self) -> Floats | None:
        """Return the point with the least value of the form; None if there is none."""
        norms = np.sqrt(np.maximum(np.diagonal(self.K), 0.0))
        units = np.where(norms > 0, norms, 1.0)
        values, vectors = np.linalg.eigh(self.K / units[:, None] / units)
        images = vectors * np.sqrt(np.maximum(values, 0.0))  # points with the same products as the rows
        h = self.h / units
        solved = least_distance(images, h)
        if solved is None:
            return None
        forces = solved[1] / units
        tight = forces > 0.0
        if tight.any():  # products are known to half of the digits only
            short = self.h[tight] - self.R[tight] @ (forces @ self.P)
            forces[tight] += np.linalg.lstsq(self.K[np.ix_(tight, tight)], short)[0]
        self.tight = self.places[tight & (self.places >= 0)]
        return np.asarray(forces @ self.P, np.float64)
