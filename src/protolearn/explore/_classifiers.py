"""Part of a page that shows a classifier.

The page computes the same results as the classifier, from distances ``|A (z - w)|^2`` of columns z to prototypes w. The
reader changes features of the table, so the page also knows how each feature is transformed to columns.

Arrays: Z (n, N) columns of the samples, W (k, N) prototypes, A (s, M, N) or (s, N) matrices.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy.sparse.linalg import lsqr
from sklearn.utils.extmath import randomized_svd

from protolearn.core.fitted import take_apart
from protolearn.core.metric import LearnedMetric
from protolearn.core.numerics import largest_positive
from protolearn.core.types import Array, Floats
from protolearn.explore._samples import columns_of
from protolearn.lvq import RSLVQ, Category, InputTable, Mixing, Number, mean_canonical_matrix, table_of

__all__ = ["classifier_part"]

MOST_PAIRS = 40  # features whose relevance matrix is shown
FLAT = 0.4  # ratio of the spreads in the two directions of the plane, at least
MOST_ROWS = 500  # of a matrix that is decomposed; a larger one is inverted for two vectors only
CHECKED = 200  # samples whose distances must be those of the metric
N_PROBES = 9  # values by which it is seen whether what steps do to a number is affine


def classifier_part(model: Any, last: Any, X: Any, y: Any) -> dict[str, Any]:
    """Return the data of a classifier for the page: its parameters, and its results for all samples."""
    if not (hasattr(last, "prototype_labels_") and hasattr(last, "confidence")):
        raise ValueError(
            f"{type(last).__name__} has no page; give a fitted classifier of protolearn, whose predictions are based "
            "on prototypes."
        )
    samples = take_apart(model).transform(X)
    metric = _metric(last, samples)
    classes = [str(name) for name in last.classes_]
    part: dict[str, Any] = {
        "model": type(last).__name__,
        "classes": classes,
        "codes": np.searchsorted(last.classes_, last.prototype_labels_),
        "winners": np.asarray(last.nearest(samples)),
        "confidence": np.asarray(last.confidence(samples)),
        "threshold": float(last.reject_threshold),
    }
    if getattr(last, "contamination", None) is not None:
        part |= {"radii": last.acceptance_radii_, "novel": last.score_samples(samples) < -1.0}
    if metric is None:
        part |= _answers(last, samples)
    else:
        Z, rule = _dense(samples), _rule(last, metric, samples)
        try:
            table = table_of(model)
        except ValueError as error:
            part |= _columns(model, Z, str(error)) | _relevances(last, Z.shape[1])
        else:
            relevances = _relevances(last, Z.shape[1])
            if table.mixing is not None:  # steps such as PCA become part of the metric
                Z, metric = table.prepare(X).astype(np.float64), _folded(metric, table.mixing)
                relevances = _folded_relevances(last, metric, Z)
            part |= _features(table, X, Z) | relevances
        part |= _plane(metric, Z)
        part |= {"prototypes": metric.prototypes, "matrices": metric.matrices, "slots": metric.slots, "rule": rule}
    n_prototypes, n_samples = len(part["codes"]), len(part["winners"])
    counts = [f"{n_prototypes:,} prototypes", f"{len(classes)} classes", f"{n_samples:,} samples"]
    return {"kind": "classifier", "subtitle": f"{type(last).__name__}: {', '.join(counts)}.", "classifier": part}


def _dense(samples: Any) -> Floats:
    return np.asarray(samples.toarray() if hasattr(samples, "toarray") else samples, np.float64)


def _metric(last: Any, samples: Any) -> LearnedMetric | None:
    """Return the metric by which a classifier measures, if it is one that the page can compute."""
    metric = getattr(last, "metric_", None)
    if metric is None:
        points: list[Any] = [getattr(part, "prototypes_", None) for part in getattr(last, "estimators_", ())]
        if not points or any(np.ndim(W) != 2 for W in points):
            return None
        W = np.vstack(points)
        metric = LearnedMetric(np.ones((1, W.shape[1])), W)
    some = samples[:CHECKED] if not hasattr(samples, "iloc") else samples.iloc[:CHECKED]
    expected, Z = last.distances(some), _dense(some)
    if Z.shape[1] != metric.matrices.shape[-1]:
        return None
    measured = np.full(expected.shape, np.inf)
    for p in np.flatnonzero(metric.slots >= 0):
        A = metric.matrices[metric.slots[p]]
        gaps = np.nan_to_num(Z - metric.prototypes[p])
        measured[:, p] = np.square(gaps @ A.T if A.ndim == 2 else gaps * A).sum(axis=1)
    size = float(np.max(expected, where=np.isfinite(expected), initial=0.0))
    return metric if np.allclose(measured, expected, rtol=1e-4, atol=1e-6 * size) else None


def _answers(last: Any, samples: Any) -> dict[str, Any]:
    """Return what a classifier says of all samples, where the page cannot compute it, and places by distances."""
    D = np.asarray(last.distances(samples), np.float64)
    spread = np.sqrt(np.maximum(D[:, np.isfinite(D).all(axis=0)], 0.0))
    spread -= spread.mean(axis=0)
    _, _, axes = np.linalg.svd(spread, full_matrices=False)
    axes = largest_positive(axes[:2], axis=1)
    positions = np.zeros((len(D), 2))
    positions[:, : len(axes)] = spread @ axes.T
    return {"distances": D, "probabilities": np.asarray(last.predict_proba(samples)), "positions": positions}


def _rule(last: Any, metric: LearnedMetric, samples: Any) -> dict[str, Any]:
    """Return how probabilities follow from distances."""
    if isinstance(last, RSLVQ):
        return {"width": last.width_ or float(np.finfo(np.float64).eps)}
    if hasattr(last, "temperature_"):
        return {"temperature": last.temperature_}
    W = metric.prototypes
    W = type(samples)(W, columns=samples.columns) if hasattr(samples, "iloc") else W
    return {"shares": last.predict_proba(W)}  # a sample has those of its nearest prototype


def _folded(metric: LearnedMetric, mixing: Mixing) -> LearnedMetric:
    """Return the metric of the columns that steps such as PCA mix before the classifier sees them."""
    return LearnedMetric(mixing.folded(metric.matrices), mixing.back(metric.prototypes), metric.slots)


def _columns(model: Any, Z: Floats, why: str) -> dict[str, Any]:
    """Return the columns that a classifier sees as features, where steps of a pipeline cannot be undone."""
    names = take_apart(model).names_out(Z.shape[1])
    return {
        "features": [{"name": str(name), **_plain(j, Z)} for j, name in enumerate(names)],
        "prepared": list(Z.T),
        "note": f"{why} The values here are the input columns of the classifier.",
    }


def _features(table: InputTable, X: Any, Z: Floats) -> dict[str, Any]:
    """Return the features that a reader can change, and the columns (of Z) that do not follow from them alone."""
    columns = columns_of(X)
    named = {str(name): place for place, name in enumerate(getattr(X, "columns", ()))}
    places = [named.get(str(name), i) for i, name in enumerate(table.names)]
    ways = _ways(table, X, columns, places)
    features: list[dict[str, Any]] = []
    prepared: list[Array | None] = [None] * Z.shape[1]
    for place, feature in zip(places, table.features):
        if isinstance(feature, Category):
            made, follows = _category(feature, _cells(X, place))
        elif isinstance(feature, Number):
            j = int(feature.columns[0])
            made, follows = _number(j, columns[place].get("values"), ways.get(j), Z)
        else:
            continue
        features.append({"place": place, **made})
        for j, known in zip(feature.columns, follows.T):
            span = np.ptp(Z[np.isfinite(Z[:, j]), j], axis=0) if np.isfinite(Z[:, j]).any() else 0.0
            if not np.allclose(known, Z[:, j], rtol=1e-9, atol=1e-9 * span, equal_nan=True):
                prepared[j] = Z[:, j]
    note = "Features with transformations other than scaling are changed here in the input columns of the classifier."
    return {"features": features, "prepared": prepared, "note": note if any("own" in f for f in features) else ""}


def _plain(j: int, Z: Floats) -> dict[str, Any]:
    """Return a column of the classifier as a feature of its own."""
    return {"columns": [j], "own": True, "origin": 0.0, "factor": 1.0, **_range(Z[:, j])}


def _number(j: int, values: Floats | None, way: tuple[float, float] | None, Z: Floats) -> tuple[dict[str, Any], Floats]:
    """Return a number as the page changes it, and what its column (n, 1) is by its values alone."""
    if values is None or way is None:
        return _plain(j, Z), np.full((len(Z), 1), np.nan)
    origin, factor = way
    made = {"columns": [j], "origin": origin, "factor": factor, **_range(values)}
    return made, ((values - origin) * factor)[:, None]


def _category(feature: Category, cells: list[Any]) -> tuple[dict[str, Any], Floats]:
    """Return a category as the page changes it, and what its columns (n, m) are by the categories alone."""
    known = {name: code for code, name in enumerate(feature.categories.tolist())}
    codes = np.array([known.get(cell, -1) for cell in cells])
    made = {
        "columns": feature.columns.tolist(),
        "categories": [str(name) for name in known],
        "rows": feature.rows,
        "codes": codes,
    }
    return made, np.where(codes[:, None] < 0, np.nan, feature.rows[codes])


def _cells(X: Any, place: int) -> list[Any]:
    return (X.iloc[:, place] if hasattr(X, "iloc") else np.asarray(X, object)[:, place]).tolist()


def _range(values: Floats) -> dict[str, Any]:
    """Return the range of a feature, and whether it has integers only."""
    finite = values[np.isfinite(values)]
    low, high = (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 1.0)
    return {"low": low, "high": high, "whole": bool((finite == np.round(finite)).all())}


def _ways(
    table: InputTable, X: Any, columns: list[dict[str, Any]], places: list[int]
) -> dict[int, tuple[float, float] | None]:
    """Return origin and factor for each column that is ``(value - origin) factor`` of a number of the table, else None.

    Values within and around those of each number go through all steps together, once for the whole table.
    """
    numbers = [
        (place, int(feature.columns[0]), _probes(columns[place]["values"]))
        for place, feature in zip(places, table.features)
        if isinstance(feature, Number) and "values" in columns[place]
    ]
    given = _sampled(X, {place: at for place, _, at in numbers})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # values around those of the samples may not suit a step
        made = table.prepare(given)
    return {j: _affine(at, made[:, j].astype(np.float64)) for _, j, at in numbers}


def _sampled(X: Any, values: dict[int, Floats]) -> Any:
    """Return a few rows of a table with other values in some columns."""
    rows = np.arange(N_PROBES) % (len(X) if not hasattr(X, "shape") else X.shape[0])
    if hasattr(X, "iloc"):
        columns = [values[i] if i in values else X.iloc[rows, i].array for i in range(X.shape[1])]
        return type(X)(dict(enumerate(columns))).set_axis(X.columns, axis=1)
    dense = X.toarray() if hasattr(X, "toarray") else np.asarray(X)
    some = dense[rows].astype(np.float64) if dense.dtype.kind in "biuf" else np.asarray(X, object)[rows]
    for i, column in values.items():
        some[:, i] = column
    return some


def _probes(values: Floats) -> Floats:
    """Return values within and around the range of a feature."""
    low, high = (_range(values)[end] for end in ("low", "high"))
    span = high - low or 1.0
    return np.concatenate([[low - span], np.linspace(low, high, N_PROBES - 2), [high + span]])


def _affine(at: Floats, made: Floats) -> tuple[float, float] | None:
    """Return origin and factor if what is made of some values is ``(value - origin) factor``."""
    span = (at[-1] - at[0]) / 3.0
    factor = (made[-1] - made[0]) / (at[-1] - at[0])
    if not np.isfinite(made).all() or factor == 0:
        return None
    origin = at[0] - made[0] / factor
    bend = np.abs((at - origin) * factor - made).max()
    straight = bend <= 1e-9 * abs(factor) * span + 1e-14 * np.abs(made).max()
    return (float(origin), float(factor)) if straight else None


def _relevances(last: Any, n_columns: int) -> dict[str, Any]:
    """Return relevances (s, N) for features in standard deviations, matrices (s, N, N) if small, and their owners."""
    relevances = getattr(last, "relevances_", None)
    if relevances is None or relevances.shape[-1] != n_columns:
        return {"relevances": None}
    pairs = getattr(last, "relevance_matrix_", None) if n_columns <= MOST_PAIRS else None
    return _owned(last, np.atleast_2d(relevances), None if pairs is None else pairs.reshape(-1, n_columns, n_columns))


def _folded_relevances(last: Any, metric: LearnedMetric, Z: Floats) -> dict[str, Any]:
    """Return relevances of columns (of Z) in standard deviations, by a metric that steps are part of."""
    scaled = metric.omegas * Z.std(axis=0)
    relevances = np.square(scaled).sum(axis=1)
    totals = relevances.sum(axis=1)
    few = Z.shape[1] <= MOST_PAIRS
    pairs = np.swapaxes(scaled, 1, 2) @ scaled / totals[:, None, None] if few else None
    return _owned(last, relevances / totals[:, None], pairs)


def _owned(last: Any, relevances: Floats, pairs: Floats | None) -> dict[str, Any]:
    owners = {len(last.prototype_labels_): "prototype", len(last.classes_): "class", 1: "all"}[len(relevances)]
    return {"relevances": relevances, "owners": owners, "pairs": pairs}


def _plane(metric: LearnedMetric, Z: Floats) -> dict[str, Any]:
    """Return the plane of the two directions in which prototypes differ most, by the learned metric.

    If all prototypes share a matrix, a class depends on the place of a sample in the space that the prototypes span,
    and on nothing else. With matrices of their own, that of their mean takes its place. Lengths in the plane are
    lengths in the metric, stretched along the second direction if samples would lie on a line otherwise.
    """
    seen = metric.slots >= 0
    stack = metric.matrices[metric.slots[seen]]
    if metric.is_global:
        A = stack[0]
    elif stack.ndim == 2:
        A = np.sqrt(np.square(stack).mean(axis=0))
    else:
        A = mean_canonical_matrix(stack, min(stack.shape[2], len(stack) * stack.shape[1]))
    n_rows = len(A)
    known = ~np.isnan(Z)
    center = np.sum(Z, axis=0, where=known) / np.maximum(known.sum(axis=0), 1)
    filled = np.where(known, Z, center)
    W = metric.prototypes[seen]
    _, sizes, axes = np.linalg.svd(_mapped(W - W.mean(axis=0), A), full_matrices=False)
    total = float(np.square(sizes).sum()) or 1.0
    rank = int((sizes > 1e-9 * np.sqrt(total)).sum())
    axes = axes[: min(rank, 2)]
    if len(axes) < 2:  # of what the prototypes do not tell apart, the direction in which samples differ most
        spread = _mapped(filled - center, A)
        spread -= spread @ axes.T @ axes
        if n_rows <= MOST_ROWS:
            values, vectors = np.linalg.eigh(spread.T @ spread)
            largest, vectors = values[-1], vectors[:, ::-1].T
        else:
            _, values, vectors = randomized_svd(spread, 2, random_state=0)
            largest = values[0]
        axes = np.vstack([axes, vectors[: 2 - len(axes)] * (largest > 0)])
    axes = largest_positive(np.vstack([axes, np.zeros((2 - len(axes), n_rows))]), axis=1)
    P, back = axes @ A if A.ndim == 2 else axes * A, _back(A, axes)
    first, second = (filled @ P.T).std(axis=0)
    stretch = max(FLAT * first / second, 1.0) if second > 0 else 1.0
    P[1] *= stretch
    back[:, 1] /= stretch
    return {
        "plane": P,
        "back": back,
        "stretch": stretch,
        "center": center,
        "positions": filled @ P.T,
        "shares": np.square(sizes[:2]) / total,
        "complete": (metric.is_global and rank <= 2) or _is_flat(A),
    }


def _mapped(rows: Floats, A: Floats) -> Floats:
    """Return rows (m, N) as a matrix (M, N) or a diagonal (N,) maps them."""
    return rows @ A.T if A.ndim == 2 else rows * A


def _is_flat(A: Floats) -> bool:
    """Say whether a matrix, or a diagonal, maps all to a plane; of a large one this is not asked."""
    if A.ndim == 1:
        return bool((np.abs(A) > np.finfo(np.float64).eps * len(A) * np.abs(A).max()).sum() <= 2)
    return len(A) <= MOST_ROWS and bool(np.linalg.matrix_rank(A) <= 2)


def _back(A: Floats, axes: Floats) -> Floats:
    """Return the smallest columns (N, 2) that a matrix or a diagonal maps to two axes, or as near as it can."""
    if A.ndim == 1:
        inverse = np.divide(1.0, A, out=np.zeros_like(A), where=np.abs(A) > 1e-9 * np.abs(A).max())
        return inverse[:, None] * axes.T
    if min(A.shape) <= MOST_ROWS:
        return np.linalg.pinv(A, rcond=1e-9) @ axes.T
    return np.stack([lsqr(A, axis, atol=1e-12, btol=1e-12, iter_lim=len(A))[0] for axis in axes], axis=1)
