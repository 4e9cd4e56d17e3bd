"""Models that tests of a module share."""

from typing import Any

from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator


class Fitted(dict[str, Any]):
    """Models by name, each fitted when a test first asks for it: all processes collect the tests, and few run these."""

    def __init__(self, models: dict[str, BaseEstimator], X: ArrayLike, y: ArrayLike) -> None:
        self._models, self._data = models, (X, y)

    def __missing__(self, name: str) -> Any:
        self[name] = self._models[name].fit(*self._data)
        return self[name]
