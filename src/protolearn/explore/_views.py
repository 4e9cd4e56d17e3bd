"""Part of a page that shows a view: positions, quality of the embedding of each sample, and its true neighbors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import get_tags

from protolearn.core.fitted import take_apart
from protolearn.core.metric import as_metric, is_learned
from protolearn.core.neighbors import first_nearest, first_smallest
from protolearn.core.threads import HELD, row_blocks
from protolearn.core.types import Array, Floats, Indices
from protolearn.embedding import Charting, DiscriminativeEmbedding, MappedEmbedding, discriminative_distances
from protolearn.embedding.charts import Charts
from protolearn.embedding.mappings import ChartMap, LinearMap, NetworkMap
from protolearn.lvq import LVQClassifier
from protolearn.maps import PrototypeMap, ShapedMap
from protolearn.metrics import point_quality

__all__ = [
    "affine_numbers",
    "is_mapping",
    "mapping_numbers",
    "view_part",
]

N_NEIGHBORS = 10


MOST_PAIRS = 10**8  # of samples and references that are compared for the quality of points: about two seconds


MOST_WITH_LINES = 10_000  # samples whose true neighbors are in the page


MOST_OBJECTS = 1000  # of which all pairs are compared for the page, if the view has compared them itself


TOP = 0.98  # share of samples between the ends of the scale for the quality of points


WORDS = ((0.97, "almost always"), (0.9, "mostly"), (0.75, "often"), (0.0, "seldom"))


def view_part(model: Any, last: Any, X: Any, y: Any) -> dict[str, Any]:
    """Return the positions of the samples, and measures of their quality."""
    given = take_apart(model).transform(X)
    found = _positions(last, given)
    if not np.isfinite(found).all():
        raise ValueError(f"Positions of {type(last).__name__} contain NaN or infinite numbers; fit it again.")
    n_samples, n_components = found.shape
    text = f"{type(last).__name__} of {n_samples:,} sample{'' if n_samples == 1 else 's'}."
    if n_components == 1:
        text += " The view has one dimension, from left to right; vertical positions are arbitrary."
    elif n_components > 2:
        text += f" The first two of {n_components} dimensions are shown."
    view: dict[str, Any] = {"positions": _in_plane(found), "quality": [], "neighbors": None}
    space = _space(last, given)
    if space is not None and n_samples >= 5 and np.ptp(found[:, :2], axis=0).any():
        matrix, metric = space
        k = min(N_NEIGHBORS, (n_samples - 1) // 2)
        n_references = max(MOST_PAIRS // n_samples, 1000)
        trusted, kept = point_quality(matrix, found[:, :2], k, metric=metric, n_references=n_references, random_state=0)
        text += " " + _told(float(trusted.mean()), float(kept.mean()), k, n_samples, n_references)
        view["quality"] = [_quality("Torn", "true neighbors are far away", 1.0 - kept)]
        view["quality"].append(_quality("Squeezed", "false neighbors are near", 1.0 - trusted))
        if n_samples <= MOST_WITH_LINES:
            view["neighbors"] = _nearest(matrix, metric, k)
    view["mapping"] = mapping_numbers(model, last, X)
    return {"kind": "view", "subtitle": text, "view": view}


def _positions(last: Any, given: Any) -> Floats:
    """Return where samples are: by the formula of a mapping, or as they were placed in the fit, or found anew."""
    n_samples = given.shape[0] if hasattr(given, "shape") else len(given)
    placed = np.asarray(last.embedding_, np.float64)
    if is_mapping(last) or (len(placed) != n_samples and hasattr(last, "transform")):
        return np.asarray(last.transform(given), np.float64)
    if len(placed) != n_samples:
        raise ValueError(
            f"{type(last).__name__} has embedded {len(placed)} samples and has no out-of-sample extension, but X has "
            f"{n_samples}; give the samples of the fit, or use MappedEmbedding or OutOfSample."
        )
    return placed


def _in_plane(found: Floats) -> Floats:
    """Return two coordinates: the first two, or the only one and heights that keep points apart."""
    if found.shape[1] > 1:
        return np.ascontiguousarray(found[:, :2])
    heights = np.arange(len(found)) * (np.sqrt(5.0) - 1.0) / 2.0 % 1.0 - 0.5
    return np.column_stack([found, 0.15 * (np.ptp(found) or 1.0) * heights])


def _space(last: Any, given: Any) -> tuple[Array, str] | None:
    """Return what the view has seen: vectors, or dissimilarities; None if that would take long, or is not known."""
    n_samples = given.shape[0] if hasattr(given, "shape") else len(given)
    if issparse(given):
        return None
    if isinstance(last, DiscriminativeEmbedding):
        few = n_samples <= MOST_OBJECTS
        return (discriminative_distances(last.classifier_, given), "precomputed") if few else None
    metric = getattr(getattr(last, "embedding", last), "metric", "euclidean")
    if get_tags(last).input_tags.pairwise:
        matrix = np.asarray(given)  # of objects, if the view was learned from their dissimilarities
        square = matrix.dtype.kind in "fiub" and matrix.shape == (n_samples, n_samples)
        return (0.5 * (matrix + matrix.T), "precomputed") if square else None
    if is_learned(metric):
        learned = as_metric(metric)
        return (learned.project(given), "euclidean") if learned.is_global else None
    if metric != "euclidean":
        from protolearn.dissimilarities import pairwise

        few = n_samples <= MOST_OBJECTS
        return (pairwise(given, metric=metric, symmetrize="mean"), "precomputed") if few else None
    vectors = np.asarray(given)
    numbers = vectors.ndim == 2 and vectors.dtype.kind in "fiub" and bool(np.isfinite(vectors).all())
    return (vectors.astype(np.float64), "euclidean") if numbers and (vectors != vectors[0]).any() else None


def _nearest(matrix: Array, metric: str, k: int) -> Indices:
    """Return the k nearest others (n, k) of each sample in the data."""
    if metric == "euclidean":
        return first_nearest(matrix, k)[1]
    found = np.empty((len(matrix), k), np.int64)
    for rows in row_blocks(len(matrix), 8 * len(matrix), HELD):
        block = matrix[rows].copy()
        block[np.arange(len(block)), np.arange(len(matrix))[rows]] = np.inf
        found[rows] = first_smallest(block, k)
    return found


def _quality(word: str, meaning: str, losses: Floats) -> dict[str, Any]:
    """Return a column of losses in percent of the largest possible one, for a scale that few samples exceed."""
    values = 100.0 * losses
    return {
        "name": f"{word.lower()} (%)",
        "word": word,
        "text": f"{word}: {meaning} (%)",
        "group": "Quality of the view",
        "values": values.astype(np.float32),
        "limits": [0.0, float(np.quantile(values, TOP)) or float(values.max()) or 1.0],
    }


def _told(trusted: float, kept: float, k: int, n_samples: int, n_references: int) -> str:
    often, shown = (next(words for least, words in WORDS if value >= least) for value in (trusted, kept))
    part = f", compared with {n_references:,} samples drawn at random" if n_references < n_samples else ""
    return (
        f"Neighbors here are {often} neighbors in the data (trustworthiness {trusted:.3f}), and neighbors in the data "
        f"are {shown} neighbors here (continuity {kept:.3f}), for {k} neighbors{part}."
    )


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
