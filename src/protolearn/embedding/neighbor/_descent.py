"""Descent with momentum and a gain for each coordinate, the customary way to layouts of neighbors."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from protolearn.core.types import Floats

__all__ = ["Descent"]


SLOWEST_GAIN = 0.01


@dataclass
class Descent:
    """How points move against a gradient: their velocity (n, d), and a gain for each coordinate.

    Parameters
    ----------
    longest_step : float
        Most that a point moves at a time.
    momentum : float
        Share of the last step that is kept.
    """

    longest_step: float
    momentum: float = 0.8
    _stage: Any = field(default=None, init=False, repr=False)
    _velocity: Any = field(default=0.0, init=False, repr=False)
    _gains: Any = field(default=1.0, init=False, repr=False)

    def copy(self) -> Descent:
        """Return a descent that goes on as this one would."""
        return deepcopy(self)

    def step(self, points: Floats, gradient: Floats, rate: float, stage: Any) -> None:
        """Move the points once, in place; forget the past when the stage, and with it what is minimized, changes."""
        from protolearn.embedding.neighbor._kernels import descend

        if self._stage != stage:
            self._stage, self._velocity, self._gains = stage, np.zeros_like(points), np.ones_like(points)
        shape = rate, self.momentum, SLOWEST_GAIN, self.longest_step
        descend(np.ascontiguousarray(gradient), *shape, self._velocity, self._gains, points)
        points -= points.mean(axis=0)
