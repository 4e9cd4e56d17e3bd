"""Gradient descent with momentum and a gain for each coordinate, the standard optimizer of neighbor embeddings."""

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
    """State of a gradient descent: a velocity (n, d) and a gain for each coordinate.

    Parameters
    ----------
    longest_step : float
        Maximum displacement of a point in one step.
    momentum : float
        Fraction of the previous step that is kept.
    """

    longest_step: float
    momentum: float = 0.8
    _stage: Any = field(default=None, init=False, repr=False)
    _velocity: Any = field(default=0.0, init=False, repr=False)
    _gains: Any = field(default=1.0, init=False, repr=False)

    def copy(self) -> Descent:
        """Return a copy that continues from the same state."""
        return deepcopy(self)

    def step(self, points: Floats, gradient: Floats, rate: float, stage: Any) -> None:
        """Move the points by one step, in place; reset the state if the stage, and with it the objective, changes."""
        from protolearn.embedding.neighbor._kernels import descend

        if self._stage != stage:
            self._stage, self._velocity, self._gains = stage, np.zeros_like(points), np.ones_like(points)
        shape = rate, self.momentum, SLOWEST_GAIN, self.longest_step
        descend(np.ascontiguousarray(gradient), *shape, self._velocity, self._gains, points)
        points -= points.mean(axis=0)
