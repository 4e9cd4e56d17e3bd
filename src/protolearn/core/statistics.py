"""Sums from which prototypes are updated. They add, over chunks, patches and workers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from protolearn.core.types import Array, Floats

__all__ = ["Statistics"]


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
        return Statistics.of(np.exp(logs - log_scale[:, None]), self.moments[occupied], log_scale)
