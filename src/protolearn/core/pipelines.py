"""Decomposition of fitted pipelines: the steps before a model, the model itself, and the names of columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from protolearn.core.types import Array

__all__ = ["Parts", "take_apart", "take_map_apart"]


@dataclass(frozen=True)
class Parts:
    """A model and the preprocessing steps before it.

    Attributes
    ----------
    before : Pipeline or None
        The steps before the model; None if there are none.
    last : object
        The model itself.
    given : object
        The given pipeline or model.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from protolearn import KMeans
    >>> from protolearn.core.pipelines import take_apart
    >>> parts = take_apart(make_pipeline(StandardScaler(), KMeans(2, random_state=0)).fit(np.arange(8.0).reshape(4, 2)))
    >>> type(parts.last).__name__, parts.transform(np.array([[3.0, 4.0]])).tolist(), parts.names_in().tolist()
    ('KMeans', [[0.0, 0.0]], ['x0', 'x1'])
    """

    before: Pipeline | None
    last: Any
    given: Any

    def transform(self, X: Any) -> Any:
        """Return preprocessed samples, the input of the model."""
        return X if self.before is None else self.before.transform(X)

    def names_in(self) -> Array:
        """Return the names of the features of samples; ``x0``, ``x1``, ... if the fit had no names."""
        steps = [] if self.before is None else [step for _, step in self.before.steps]
        first = next(step for step in (self.given, *steps, self.last) if hasattr(step, "n_features_in_"))
        return _names(getattr(first, "feature_names_in_", None), first.n_features_in_)

    def names_out(self, n_columns: int) -> Array:
        """Return the names of the columns that the model takes, as far as the steps before it can tell."""
        if self.before is None:
            return self.names_in()
        try:
            given = getattr(self.last, "feature_names_in_", None)
            return _names(self.before.get_feature_names_out() if given is None else given, n_columns)
        except (AttributeError, TypeError, ValueError):  # a step that cannot tell
            return _names(None, n_columns)


def take_apart(model: Any) -> Parts:
    """Return the model at the end of a pipeline, or of pipelines in pipelines, and the steps before it.

    The model of a fitted search, such as ``GridSearchCV``, is its best estimator.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from protolearn import KMeans
    >>> parts = take_apart(make_pipeline(StandardScaler(), KMeans(2)))
    >>> type(parts.last).__name__, len(parts.before)
    ('KMeans', 1)
    """
    steps: list[Any] = []
    last = model
    while isinstance(last, Pipeline) or hasattr(last, "best_estimator_"):
        if isinstance(last, Pipeline):
            steps += last.steps[:-1]
            last = last.steps[-1][1]
        else:
            last = last.best_estimator_
    return Parts(Pipeline(steps) if steps else None, last, model)


def take_map_apart(model: Any) -> Parts:
    """Return the map inside a classifier, or at the end of a pipeline, and all steps before it.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from protolearn import KMeans, PrototypeClassifier
    >>> X = np.arange(8.0)[:, None]
    >>> model = PrototypeClassifier(make_pipeline(StandardScaler(), KMeans(2))).fit(X, X[:, 0] > 3)
    >>> type(take_map_apart(model).last).__name__
    'KMeans'
    """
    outer = take_apart(model)
    inner = take_apart(getattr(outer.last, "estimator_", outer.last))
    steps = [step for part in (outer, inner) if part.before is not None for step in part.before.steps]
    return Parts(Pipeline(steps) if steps else None, inner.last, model)


def _names(given: Any, n_columns: int) -> Array:
    return np.array([f"x{i}" for i in range(n_columns)] if given is None else list(given), dtype=object)
