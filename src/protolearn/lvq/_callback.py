"""What a function that follows training is told after every iteration."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

__all__ = ["Callback", "TrainingState"]


class TrainingState:
    """What a ``callback`` sees of training after an iteration.

    Parameters
    ----------
    iteration : int
        Number of the iteration or epoch, from 1.
    cost : float
        Its cost, as in ``cost_history_``; for `LVQ1` and `LVQ21` the share of errors in the epoch.
    make_classifier : callable
        Returns a copy of the classifier as it is after this iteration.

    Attributes
    ----------
    classifier : object
        A copy of the classifier as it is after this iteration, fitted, with all of its methods. It is made when it is
        first asked for.

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
        """A copy of the classifier as it is after this iteration."""
        return self._make_classifier()


Callback = Callable[[TrainingState], bool | None]
