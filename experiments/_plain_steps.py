"""Mappings learned by plain gradient steps, the schedule of the thesis, instead of L-BFGS.

L-BFGS reaches lower costs in fewer steps, which is why the library has nothing else.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from experiments._protocol import Array
from protolearn import MappedEmbedding
from protolearn.core.schedules import geometric

__all__ = ["PlainSteps"]

RATES = 0.3, 0.01  # first and last; Bunte 2011, eq. 6.24


class PlainSteps(MappedEmbedding):
    """A mapping of affinities that takes ``max_iter`` gradient steps (300 in the thesis) with falling learning rates.

    Positions move by the learning rate times the number of samples times the gradient, as closely as a mapping that is
    linear in its parameters can represent.
    """

    def _best(self, objective: Any, *others: Any) -> Any:
        return super()._best(replace(objective, unfold=None), *others)

    def _descend(self, objective: Any, fitted: Any, theta: Array, progress: Any, max_iter: int) -> Any:
        def function(parameters: Array) -> tuple[float, Array]:
            positions = fitted.forward(parameters)
            value, gradient = objective(positions)
            return value, fitted.pull(parameters, gradient)

        # White features have n as the sum of squares: gradients by their weights hold this factor already.
        pace = 1.0 if hasattr(fitted, "white") else len(fitted.forward(theta))
        value, gradient = function(theta)
        history = [value]
        for rate in pace * geometric(*RATES, max_iter):
            theta = theta - rate * gradient
            value, gradient = function(theta)
            history.append(value)
            progress.step(len(history) - 1, cost=value)
        return theta, history, False, True
