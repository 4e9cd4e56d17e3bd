"""Sums from which prototypes are updated. They add, over chunks, patches and workers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from protolearn.core.numerics import decayed
from protolearn.core.types import Array, Floats

__all__ = ["Distinct", "Lowest", "Statistics"]


@dataclass(frozen=True)
class Statistics:
    """Weighted sums of lifted samples, one row for each prototype.

    Row i of ``moments`` holds ``sum_j h_ij (x_j, 1, |x_j|^2)``, divided by ``exp(log_scale[i])``. The scale keeps
    weights such as ``exp(-800)`` from vanishing: a mean needs only their ratios. Prototypes with a shape sum more than
    these. ``offset`` is what samples cost wherever prototypes are.

    Examples
    --------
    >>> import numpy as np
    >>> tiny = Statistics(np.array([[3.0, 1.0, 9.0]]), np.array([-800.0]))
    >>> total = tiny + tiny
    >>> total.moments, total.log_scale
    (array([[ 6.,  2., 18.]]), array([-800.]))
    """

    moments: Floats
    log_scale: Floats
    offset: float = 0.0

    @classmethod
    def of(cls, weights: Any, lifted: Array, log_scale: Floats | None = None) -> Statistics:
        """Sum lifted samples (c, D + 2) with weights (k, c), a dense or sparse array."""
        moments = np.asarray(weights @ lifted, dtype=np.float64)
        return cls(moments, np.zeros(len(moments)) if log_scale is None else log_scale)

    @property
    def mass(self) -> Floats:
        """Return the sum of weights of each prototype, up to its scale."""
        return self.moments[:, -2]

    def __add__(self, other: Statistics) -> Statistics:
        if np.array_equal(self.log_scale, other.log_scale):
            return Statistics(self.moments + other.moments, self.log_scale, self.offset + other.offset)
        top = np.maximum(self.log_scale, other.log_scale)
        base = np.where(np.isfinite(top), top, 0.0)  # a prototype that no sample has reached has the scale -inf
        mine, theirs = np.exp(self.log_scale - base), np.exp(other.log_scale - base)
        moments = mine[:, None] * self.moments + theirs[:, None] * other.moments
        return Statistics(moments, top, self.offset + other.offset)

    def shared(self, log_shares: Floats) -> Statistics:
        """Give the sums of every prototype to the others, weighted by ``exp(log_shares)`` (k, k), row to column."""
        occupied = self.mass > 0
        logs = log_shares[occupied].T
        log_scale = logs.max(axis=1)
        return Statistics.of(decayed(logs - log_scale[:, None]), self.moments[occupied], log_scale)


@dataclass(frozen=True)
class Lowest:
    """The ``most`` samples whose keys (m,) are lowest: points (m, D) and weights (m,), the lowest first.

    Of samples with equal keys those that come first are kept; one with an infinite key is none.

    Examples
    --------
    >>> import numpy as np
    >>> one = Lowest.of(np.array([3.0, 1.0]), np.array([[30.0], [10.0]]), np.ones(2), most=2)
    >>> two = Lowest.of(np.array([2.0, np.inf]), np.array([[20.0], [0.0]]), np.ones(2), most=2)
    >>> (one + two).points
    array([[10.],
           [20.]])
    """

    keys: Floats
    points: Array
    weights: Array
    most: int

    @classmethod
    def of(cls, keys: Floats, points: Array, weights: Array, most: int) -> Lowest:
        """Keep the lowest of these."""
        order = np.argsort(keys, kind="stable")[:most]
        order = order[np.isfinite(keys[order])]
        return cls(keys[order], points[order], weights[order], most)

    def __add__(self, other: Lowest) -> Lowest:
        keys, points, weights = (
            np.concatenate(pair)
            for pair in ((self.keys, other.keys), (self.points, other.points), (self.weights, other.weights))
        )
        return Lowest.of(keys, points, weights, self.most)


@dataclass(frozen=True)
class Distinct:
    """How many samples have which code (m,), for the ``most`` lowest codes, and the number of all samples.

    Codes are hashes, so the lowest are a random choice of them, and the same one wherever the samples are. The number
    of different codes is exact if there are no more, or if all occur equally often.

    Examples
    --------
    >>> import numpy as np
    >>> codes = np.array([5, 7, 9, 11, 13, 15], np.uint64)
    >>> (Distinct.of(codes[:4], most=3) + Distinct.of(codes[2:], most=3)).number
    6
    >>> (Distinct.of(codes, most=3) + Distinct.of(codes, most=3)).number
    6
    """

    codes: Any
    counts: Any
    total: int
    most: int

    @classmethod
    def of(cls, codes: Any, most: int) -> Distinct:
        """Count these codes."""
        lowest, counts = np.unique(codes, return_counts=True)
        return cls(lowest[:most], counts[:most], len(codes), most)

    def __add__(self, other: Distinct) -> Distinct:
        codes, same = np.unique(np.concatenate([self.codes, other.codes]), return_inverse=True)
        counts = np.bincount(same, np.concatenate([self.counts, other.counts])).astype(np.int64)
        return Distinct(codes[: self.most], counts[: self.most], self.total + other.total, self.most)

    @property
    def number(self) -> int:
        """Return the number of different codes, by the share that the lowest have among all samples."""
        if len(self.codes) < self.most:
            return len(self.codes)
        return round(self.total * len(self.codes) / int(self.counts.sum()))
