"""Descent with momentum and a gain for each coordinate, the customary way to layouts of neighbours."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

__all__ = ["Descent"]

Floats = NDArray[np.float64]

SLOWEST_GAIN = 0.01
LONGEST_STEP = 5.0  # of a point, in units of the kernel


@dataclass
class Descent:
    """Points that move against a gradient.

    Parameters
    ----------
    points : ndarray of shape (n, d)
        Where they are; changed in place.
    momentum : float
        Share of the last step that is kept.
    """

    points: Floats
    momentum: float = 0.8
    _velocity: Floats = field(init=False, repr=False)
    _gains: Floats = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        """Forget the past, when another function is to be minimised."""
        self._velocity, self._gains = np.zeros_like(self.points), np.ones_like(self.points)

    def step(self, gradient: Floats, rate: float) -> None:
        """Move the points once."""
        onwards = (gradient < 0.0) == (self._velocity > 0.0)
        self._gains = np.maximum(np.where(onwards, self._gains + 0.2, self._gains * 0.8), SLOWEST_GAIN)
        self._velocity *= self.momentum
        self._velocity -= rate * self._gains * gradient
        lengths = np.sqrt((self._velocity**2).sum(axis=1, keepdims=True))
        self._velocity *= np.minimum(1.0, LONGEST_STEP / np.maximum(lengths, LONGEST_STEP))
        self.points += self._velocity
        self.points -= self.points.mean(axis=0)
