"""Descent with momentum and a gain for each coordinate, the customary way to layouts of neighbors."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from protolearn.core.types import Floats

__all__ = ["Descent"]


SLOWEST_GAIN = 0.01


@dataclass
class Descent:
    """Points that move against a gradient.

    Parameters
    ----------
    points : ndarray of shape (n, d)
        Where they are; changed in place.
    longest_step : float
        Most that a point moves at a time.
    momentum : float
        Share of the last step that is kept.
    """

    points: Floats
    longest_step: float
    momentum: float = 0.8
    _velocity: Floats = field(init=False, repr=False)
    _gains: Floats = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        """Forget the past, when another function is to be minimized."""
        self._velocity, self._gains = np.zeros_like(self.points), np.ones_like(self.points)

    def step(self, gradient: Floats, rate: float) -> None:
        """Move the points once."""
        from protolearn.embedding.neighbor._kernels import descend

        shape = rate, self.momentum, SLOWEST_GAIN, self.longest_step
        descend(np.ascontiguousarray(gradient), *shape, self._velocity, self._gains, self.points)
        self.points -= self.points.mean(axis=0)
