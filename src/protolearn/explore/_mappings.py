"""Parameters of a mapping, with which a page embeds new samples as ``transform`` does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from protolearn.core.metric import as_metric, is_learned
from protolearn.core.pipelines import take_apart
from protolearn.core.types import Array, Floats
from protolearn.embedding import Charting, MappedEmbedding
from protolearn.embedding.charts import Charts
from protolearn.embedding.mapped.mappings import ChartMap, LinearMap, NetworkMap
from protolearn.lvq import LVQClassifier
from protolearn.maps import PrototypeMap, ShapedMap

__all__ = ["affine_numbers", "is_mapping", "mapping_numbers"]

MOST_FIELDS = 500  # features that one would type in
ROUNDING = 1e-8  # relative to the values, up to which steps are affine


def is_mapping(last: Any) -> bool:
    """Return whether a view is an explicit function of the features."""
    return isinstance(last, Charting) or isinstance(getattr(last, "mapping_", None), LinearMap | ChartMap | NetworkMap)


def mapping_numbers(model: Any, last: Any, X: Any) -> dict[str, Any] | None:
    """Return the parameters that embed a sample: affine steps, then the mapping; None if a page cannot compute it."""
    if not is_mapping(last) or np.ndim(X) != 2 or not np.shape(X)[1] <= MOST_FIELDS:
        return None
    numbers = _of_charts(last.charts_.inner, last.weights_) if isinstance(last, Charting) else _of_mapping(last)
    parts = take_apart(model)
    steps: list[Callable[[Any], Any]] = [] if parts.before is None else [parts.transform]
    if isinstance(last, MappedEmbedding) and is_learned(last.metric):
        steps.append(as_metric(last.metric).project)
    if isinstance(last, Charting) and last.charts_.first is not None:
        steps.append(last.charts_.first.transform)
    affine = affine_numbers(steps, X)
    return None if numbers is None or affine is None else {"steps": affine, **numbers}


def affine_numbers(steps: list[Callable[[Any], Any]], X: Any) -> dict[str, Floats] | None:
    """Return the numbers of ``steps(x) = start + (x - middle) @ slopes``; None if steps are not of this form.

    The numbers are determined by probes in each direction, for any kind of step (scaling, principal components, a
    learned metric).

    Examples
    --------
    >>> affine_numbers([lambda X: 2.0 * X + 1.0], np.array([[0.0], [2.0]]))
    {'middle': array([1.]), 'slopes': array([[2.]]), 'start': array([3.])}
    >>> affine_numbers([np.square], np.array([[0.0], [2.0], [3.0]]))
    """
    try:
        values = np.asarray(X, np.float64)
    except (TypeError, ValueError):  # texts
        return None
    whole = values[np.isfinite(values).all(axis=1)][:1000]
    if not len(whole):
        return None
    middle, spread = whole.mean(axis=0), whole.std(axis=0)
    spread = np.where(spread > 0.0, spread, 1.0)

    def through(rows: Floats) -> Array:
        rows = type(X)(rows, columns=X.columns) if hasattr(X, "iloc") else rows
        for step in steps:
            rows = step(rows)
        return np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows, np.float64)

    start, *ends = through(np.vstack([middle, middle + np.diag(spread)]))
    slopes = (np.array(ends) - start) / spread[:, None]
    there = through(whole)
    if not np.allclose(start + (whole - middle) @ slopes, there, rtol=ROUNDING, atol=ROUNDING * np.abs(there).max()):
        return None
    return {"middle": middle, "slopes": slopes, "start": start}


def _of_mapping(last: MappedEmbedding) -> dict[str, Any] | None:
    mapping = last.mapping_
    if isinstance(mapping, ChartMap):
        return _of_charts(mapping.charts, mapping.weights)
    if isinstance(mapping, LinearMap):
        layers = [np.vstack([mapping.weights, -mapping.mean @ mapping.weights])]
    else:
        assert isinstance(mapping, NetworkMap)
        first, *others = mapping.layers
        weights = first[:-1] / mapping.scale
        layers = [np.vstack([weights, first[-1] - mapping.mean @ weights]), *others]
    return {"kind": "layers", "layers": layers}


def _of_charts(charts: Charts, weights: Floats) -> dict[str, Any] | None:
    """Return the affine map of each chart, and what distances and shares are made of."""
    terms = _distance_terms(charts)
    if terms is None:
        return None
    k, m, _ = charts.axes.shape
    blocks = weights.reshape(k, m + 1, -1)
    return {
        "kind": "charts",
        "centers": np.asarray(charts.centers, np.float64),
        "slopes": np.swapaxes(charts.axes, 1, 2) @ blocks[:, :m],
        "starts": blocks[:, m],
        **terms,
        "gating": charts.gating.kind,
        "offsets": charts.gating.offsets,
        "rates": charts.gating.rates,
        "cutoff": charts.gating.cutoff,
        "groups": None if charts.gating.groups is None else charts.gating.groups,
    }


def _distance_terms(charts: Charts) -> dict[str, Any] | None:
    """Return the numbers of the distances to prototypes, in the form of `ShapedMap.distance_terms`."""
    model, (k, _, d) = charts.model, charts.axes.shape
    if isinstance(model, ShapedMap):
        tied = charts.gating.kind == "crisp" and model.measure_ == "reconstruction"
        return model.distance_terms(
            "logdet" if charts.gating.kind == "density" else model.measure_ if tied else None
        )._asdict()
    plain = {"scale": np.ones(d), "rest": np.zeros(k), "constants": np.zeros(k)}
    if isinstance(model, PrototypeMap) and not is_learned(model.metric):
        return {"directions": np.zeros((k, 0, d)), "gains": np.zeros((k, 0)), **plain, "rest": np.ones(k)}
    if isinstance(model, LVQClassifier) and hasattr(model, "metric_") and (model.metric_.slots >= 0).all():
        directions = model.metric_.omegas[model.metric_.slots]
        return {"directions": directions, "gains": np.ones(directions.shape[:2]), **plain}
    return None
