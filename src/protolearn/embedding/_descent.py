"""Gradient descent with momentum and a gain for each coordinate, the standard optimizer of neighbor embeddings."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from protolearn.core.types import Floats

__all__ = [
    "Descent",
]

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
        if self._stage != stage:
            self._stage, self._velocity, self._gains = stage, np.zeros_like(points), np.ones_like(points)
        velocity = self._velocity
        onwards = (gradient < 0.0) == (velocity > 0.0)
        self._gains = np.maximum(np.where(onwards, self._gains + 0.2, self._gains * 0.8), SLOWEST_GAIN)
        velocity *= self.momentum
        velocity -= rate * self._gains * gradient
        squares = np.einsum("ij,ij->i", velocity, velocity)
        long = np.flatnonzero(squares > self.longest_step**2)
        if len(long) > 0:
            velocity[long] *= (self.longest_step / np.sqrt(squares[long]))[:, None]
        points += velocity
        points -= points.mean(axis=0)
