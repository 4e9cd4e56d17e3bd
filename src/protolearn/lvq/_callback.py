"""State of training that is passed to callbacks after every iteration."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

__all__ = ["Callback", "TrainingState"]


class TrainingState:
    """State of training after an iteration, as passed to a ``callback``.

    Parameters
    ----------
    iteration : int
        Number of the iteration or epoch, from 1.
    cost : float
        Cost after the iteration, as in ``cost_history_``; for `LVQ1` and `LVQ21`, the error rate of the epoch.
    make_classifier : callable
        Function that returns a copy of the classifier after this iteration.

    Attributes
    ----------
    classifier : object
        Fitted copy of the classifier after this iteration, with all of its methods. The copy is created on first
        access.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protolearn import GMLVQ
    >>> X, y = load_iris(return_X_y=True)
    >>> curve = []
    >>> def follow(state):
    ...     curve.append(state.classifier.score(X, y))
    ...     return curve[-1] > 0.97  # good enough
    >>> model = GMLVQ(callback=follow).fit(X, y)
    >>> len(curve) == model.n_iter_ < 50
    True
    """

    def __init__(self, iteration: int, cost: float, make_classifier: Callable[[], Any]) -> None:
        self.iteration = iteration
        self.cost = cost
        self._make_classifier = make_classifier

    def __repr__(self) -> str:
        return f"TrainingState(iteration={self.iteration}, cost={self.cost:.6g})"

    @cached_property
    def classifier(self) -> Any:
        """Copy of the classifier after this iteration."""
        return self._make_classifier()


Callback = Callable[[TrainingState], bool | None]
