"""Part of a page that shows a view: positions, quality of the embedding of each sample, and its true neighbors."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import get_tags

from protolearn.core.chunks import HELD, row_blocks
from protolearn.core.metric import as_metric, is_learned
from protolearn.core.neighbors import first_nearest, first_smallest
from protolearn.core.pipelines import take_apart
from protolearn.core.types import Array, Floats, Indices
from protolearn.embedding import DiscriminativeEmbedding, discriminative_distances
from protolearn.explore._mappings import is_mapping, mapping_numbers
from protolearn.metrics import point_quality

__all__ = ["view_part"]

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
