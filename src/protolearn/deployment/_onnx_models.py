"""Nodes of ONNX graphs, written as function calls, and the basic formulas of the models.

Everything is computed in double precision and from a common origin. Arrays: x (n, N) samples, W (k, N) prototypes,
D (n, k) distances. A tensor of the graph is its name; an array, or a number, becomes a constant.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any, NamedTuple

import numpy as np
from onnx import TensorProto
from onnx.numpy_helper import from_array
from scipy.fft import fft2
from sklearn.pipeline import Pipeline

from protolearn import relational
from protolearn.core.metric import as_metric, is_learned
from protolearn.core.types import Array, Floats, Indices
from protolearn.embedding import (
    MVU,
    SNE,
    SONE,
    TSNE,
    XOM,
    Charting,
    ClassicalMDS,
    DiscriminativeEmbedding,
    MappedEmbedding,
    OutOfSample,
)
from protolearn.embedding.charts import Charts
from protolearn.embedding.mappings import ChartMap, LinearMap, NetworkMap
from protolearn.lvq import CIALVQ, GRLVQ, LFDA, LMNN, LPP, RSLVQ, LVQClassifier, MinkowskiMetric, TangentMetric
from protolearn.maps import OutlierDetector, PrototypeClassifier, PrototypeMap, ShapedMap

__all__ = [
    "INDEX",
    "LABEL",
    "NUMBER",
    "Inner",
    "OnnxColumn",
    "OnnxGraph",
    "Tensor",
    "answers",
    "columns",
    "inner_models",
    "labels_of",
]

Tensor = str | Array | float | int


AXES_ARE_INPUTS = {"ReduceSum": 13, "ReduceMin": 18, "ReduceMax": 18, "ReduceSumSquare": 18, "ReduceLogSumExp": 18}


class OnnxGraph:
    """A graph that grows by calls, ``graph("MatMul", x, matrix)``, in a conversion of skl2onnx.

    Parameters
    ----------
    scope, container : object
        What skl2onnx gives to a converter: the names in use, and the nodes so far.
    """

    def __init__(self, scope: Any, container: Any) -> None:
        self.scope, self.container = scope, container

    def __call__(self, kind: str, *inputs: Tensor, n_outputs: int = 1, **attributes: Any) -> str:
        """Add a node and return its output, or the last of several."""
        names = [one if isinstance(one, str) else self.constant(one) for one in inputs]
        outputs = [self.scope.get_unique_variable_name(kind.lower()) for _ in range(n_outputs)]
        self.container.add_node(kind, names, outputs, name=self.scope.get_unique_operator_name(kind), **attributes)
        return outputs[-1]

    def constant(self, value: Tensor) -> str:
        """Add numbers, in double precision unless they are integers, or strings."""
        array = np.asarray(value)
        name = self.scope.get_unique_variable_name("constant")
        if array.dtype.kind in "OU":
            self.container.add_initializer(name, TensorProto.STRING, array.shape, [str(one) for one in array.ravel()])
            return name
        types = {"b": np.bool_, "i": np.int64, "u": np.int64}
        numbers: Array = np.ascontiguousarray(array, dtype=types.get(array.dtype.kind, np.float64)).reshape(array.shape)
        self.container.add_initializer(name, None, None, from_array(numbers))
        return name

    def reduce(self, kind: str, x: Tensor, axis: int, keepdims: bool = False) -> str:
        """Reduce one axis, which is an input or an attribute of the node, as the version of ONNX has it."""
        if self.container.target_opset_any_domain("") >= AXES_ARE_INPUTS[kind]:
            return self(kind, x, np.array([axis]), keepdims=int(keepdims))
        return self(kind, x, axes=[axis], keepdims=int(keepdims))

    def nearest(self, D: Tensor) -> str:
        """Return the index (n,) of the smallest in each row."""
        return self("ArgMin", D, axis=1, keepdims=0)

    def ranks(self, D: Tensor, k: int) -> str:
        """Return which place (n, k) each number has in its row, from 0 for the smallest."""
        order = D
        for _ in range(2):
            order = self("TopK", order, np.array([k]), n_outputs=2, axis=1, largest=0, sorted=1)
        return self.numbers(order)

    def numbers(self, x: Tensor) -> str:
        """Return anything in double precision."""
        return self("Cast", x, to=TensorProto.DOUBLE)

    def chosen(self, values: Tensor, winners: Tensor, k: int) -> str:
        """Return, of values (n, k, c), those (n, c) of the winner (n,) of each sample."""
        hot = self("Equal", self("Unsqueeze", winners, np.array([1])), np.arange(k)[None])
        shares = self("Unsqueeze", self.numbers(hot), np.array([2]))
        return self.reduce("ReduceSum", self("Mul", values, shares), 1)

    def squares(self, x: Tensor, W: Floats) -> str:
        """Return the squared Euclidean distances ``|x - w|^2``, by one product, around the median of the prototypes."""
        origin = np.median(W, axis=0)
        z, V = self("Sub", x, origin), W - origin
        lengths = self("Add", self.reduce("ReduceSumSquare", z, 1, True), np.square(V).sum(axis=1))
        return self("Max", self("Add", self("MatMul", z, -2.0 * V.T), lengths), 0.0)

    def weighted(self, x: Tensor, weights: Floats, W: Floats, partial: bool = False) -> str:
        """Return ``sum_i weights_pi (x_i - w_pi)^2``; with ``partial``, NaN differs from no prototype."""
        origin = np.median(W, axis=0)
        V = W - origin
        z: Tensor = self("Sub", x, origin)
        constants: Tensor = (weights * V**2).sum(axis=1)
        if partial:
            z, known = self.known(z)
            constants = self("MatMul", known, (weights * V**2).T)
        sums = self("Add", self("MatMul", self("Mul", z, z), weights.T), self("MatMul", z, -2.0 * (weights * V).T))
        return self("Max", self("Add", sums, constants), 0.0)

    def projected(self, x: Tensor, A: Floats, slots: Indices, W: Floats, partial: bool = False) -> str:
        """Return ``A_p (x - w_p)`` as (k, n, M), with matrices (s, M, N), number ``slots[p]`` for prototype p."""
        origin = np.median(W, axis=0)
        V = W - origin
        z: Tensor = self("Sub", x, origin)
        own: Tensor = np.einsum("kmd,kd->km", A[slots], V)[:, None]
        if partial:
            z, known = self.known(z)
            own = self("MatMul", self("Unsqueeze", known, np.array([0])), np.swapaxes(A[slots] * V[:, None], 1, 2))
        z = self("MatMul", self("Unsqueeze", z, np.array([0])), np.swapaxes(A, 1, 2))
        if not np.array_equal(slots, np.arange(len(A))):
            z = self("Gather", z, slots, axis=0)
        return self("Sub", z, own)

    def quadratic(self, x: Tensor, A: Floats, slots: Indices, W: Floats, partial: bool = False) -> str:
        """Return ``|A_p (x - w_p)|^2``."""
        z = self.projected(x, A, slots, W, partial)
        return self("Transpose", self.reduce("ReduceSumSquare", z, 2), perm=[1, 0])

    def known(self, z: Tensor) -> tuple[str, str]:
        """Return samples with zeros in place of NaN, and ones where there was a value."""
        gaps = self("IsNaN", z)
        return self("Where", gaps, 0.0, z), self.numbers(self("Not", gaps))

    def of_classes(self, D: Tensor, codes: Indices, n_classes: int) -> str:
        """Return the smallest distance (n, C) to the prototypes of each class; infinite for one without any."""
        members = [np.flatnonzero(codes == code) for code in range(n_classes)]
        size = max(map(len, members))
        columns = np.array([np.resize(part if len(part) else [0], size) for part in members])
        near = self.reduce("ReduceMin", self("Gather", D, columns, axis=1), 2)
        absent = np.array([len(part) == 0 for part in members])
        return self("Add", near, np.where(absent, np.inf, 0.0)) if absent.any() else near

    def shares(self, scores: Tensor, temperature: float) -> str:
        """Return probabilities in proportion to ``exp(-scores / T)``."""
        return self("Softmax", self("Div", scores, -temperature), axis=1)

    def similarity(self, near: Tensor, n_classes: int, logarithmic: bool = False) -> str:
        """Return ``(d- - d+) / (d- + d+)`` (n,) of the distances (n, C) to the nearest prototype of each class."""
        if n_classes == 1:
            near = self("Add", near, np.array([[0.0, np.inf]]))
        values = self.two_smallest(near)
        own, other = (self("Gather", values, i, axis=1) for i in (0, 1))
        gap = self("Sub", other, own)
        if logarithmic:
            return self("Tanh", self("Mul", gap, 0.25))
        ratio = self("Div", gap, self("Max", self("Add", other, own), np.finfo(np.float64).tiny))
        return self("Where", self("IsInf", other), 1.0, ratio)

    def two_smallest(self, values: Tensor) -> str:
        """Return the two smallest (n, 2) of each row."""
        columns = self("TopK", values, np.array([2]), n_outputs=2, axis=1, largest=0, sorted=1)
        return self("GatherElements", values, columns, axis=1)

    def joined(self, parts: Sequence[str]) -> str:
        """Return columns side by side."""
        return parts[0] if len(parts) == 1 else self("Concat", *parts, axis=1)


LABEL, NUMBER, INDEX = "label", "number", "index"


LOGARITHMIC = ("logdet", "mahalanobis")  # measures that are minus twice the logarithm of a density


PAIRS = (
    "it compares objects with training objects by dissimilarities that are computed outside the model. Use a "
    "model of vectors"
)


NO_MAP = "it has no out-of-sample mapping. Use MappedEmbedding, which learns one"


class OnnxColumn(NamedTuple):
    """An answer of a model: its name, what it is, and its number of columns, None for one value a sample."""

    name: str
    kind: str
    width: int | None = None


class Inner(NamedTuple):
    """A model that another one asks, and the steps of a pipeline before it, if there are any."""

    steps: Pipeline | None
    model: Any


def inner_models(model: Any) -> list[Inner]:
    """Return the models that a model asks: itself, or the maps it is made of."""
    if not isinstance(model, PrototypeClassifier | OutlierDetector):
        return [Inner(None, model)]
    found = model.estimators_ if isinstance(model, PrototypeClassifier) else [model.estimator_]
    return [Inner(one[:-1], one[-1]) if isinstance(one, Pipeline) else Inner(None, one) for one in found]


def columns(model: Any, transforms: bool) -> list[OnnxColumn]:
    """Return what a model answers, or what its `transform` returns; refuse one that has no ONNX form."""
    refuse(model)
    for _, inner in inner_models(model):
        refuse(inner)
    if transforms:
        return [OnnxColumn("transformed", NUMBER, _transformed_width(model))]
    if isinstance(model, LVQClassifier | PrototypeClassifier):
        n_classes, k = len(model.classes_), len(model.prototype_labels_)
        probabilities, distances = OnnxColumn("probabilities", NUMBER, n_classes), OnnxColumn("distances", NUMBER, k)
        return [OnnxColumn("label", LABEL), probabilities, distances, OnnxColumn("confidence", NUMBER)]
    if isinstance(model, PrototypeMap):
        code = [OnnxColumn("code", NUMBER, _transformed_width(model))] if isinstance(model, ShapedMap) else []
        return [OnnxColumn("winner", INDEX), OnnxColumn("distances", NUMBER, len(model.prototypes_)), *code]
    if isinstance(model, OutlierDetector):
        return [OnnxColumn("label", INDEX), OnnxColumn("scores", NUMBER)]
    return [OnnxColumn("transformed", NUMBER, _transformed_width(model))]


def answers(graph: OnnxGraph, model: Any, samples: Sequence[str], names: Sequence[str]) -> dict[str, Tensor]:
    """Return the answers of a model, given the samples of each of its `inner_models`, in double precision."""
    if list(names) == ["transformed"]:
        return {"transformed": _transformed(graph, model, samples[0])}
    if isinstance(model, LVQClassifier):
        return _of_lvq(graph, model, samples[0])
    if isinstance(model, PrototypeClassifier):
        return _of_classifier(graph, model, samples)
    if isinstance(model, OutlierDetector):
        return _of_detector(graph, model, samples[0])
    D = _distances(graph, model, samples[0])
    found: dict[str, Tensor] = {"winner": _winners(graph, model, samples[0], D), "distances": D}
    if isinstance(model, ShapedMap):
        found["code"] = _transformed(graph, model, samples[0])
    return found


def labels_of(model: Any) -> Array:
    """Return the labels of prototypes, and after them the label of what is rejected, if the model rejects samples."""
    rejects = model.reject_threshold > 0 or getattr(model, "contamination", None) is not None
    table = np.append(model.prototype_labels_, model.reject_label) if rejects else model.prototype_labels_
    return np.array(table.tolist())


# What has no ONNX form


def refuse(model: Any) -> None:
    """Raise an error for a model that has no ONNX form, which says why."""
    reason = _reason(model)
    if reason:
        raise ValueError(f"{type(model).__name__} cannot be converted to ONNX: {reason}.")


def _reason(model: Any) -> str:
    searching = isinstance(model, OutOfSample | XOM | SONE)
    if searching or (isinstance(model, MappedEmbedding) and not _is_map(model.mapping_)):
        return (
            "it places new samples by a search among all training samples. Use MappedEmbedding with mapping='linear', "
            "'local' or 'network'"
        )
    if isinstance(model, SNE | TSNE | MVU | DiscriminativeEmbedding):
        return NO_MAP
    if isinstance(model, ClassicalMDS):
        return (
            "it is an embedding of dissimilarities. Use scikit-learn's PCA, which gives the same embedding of vectors"
        )
    if isinstance(model, RELATIONAL):
        return PAIRS
    if not isinstance(model, KNOWN):
        return "only models of protolearn provide distances to prototypes"
    metric = getattr(model, "metric", None)
    if isinstance(model, PrototypeMap | MappedEmbedding) and is_learned(metric) and as_metric(metric).steps is not None:
        return "its metric includes preprocessing steps. Put these into a pipeline before the model"
    if isinstance(model, LVQClassifier) and not isinstance(model, CIALVQ) and not _is_plain(model):
        return f"its metric is a {type(metric).__name__}, which has no ONNX formula"
    return ""


def _is_map(mapping: Any) -> bool:
    return isinstance(mapping, LinearMap | ChartMap | NetworkMap)


def _is_plain(model: LVQClassifier) -> bool:
    return isinstance(getattr(model, "metric", None), MinkowskiMetric | TangentMetric) or hasattr(model, "metric_")


RELATIONAL = tuple(one for one in vars(relational).values() if isinstance(one, type))


PROJECTIONS = (LMNN, LFDA, LPP)


KNOWN = (
    LVQClassifier,
    PrototypeMap,
    PrototypeClassifier,
    OutlierDetector,
    MappedEmbedding,
    Charting,
    *PROJECTIONS,
)


# Distances


def _distances(graph: OnnxGraph, model: Any, x: Tensor, measure: str | None = None) -> str:
    """Return the distances of samples to the prototypes of a map or LVQ classifier."""
    if isinstance(model, ShapedMap):
        return _distances_to_shapes(graph, model, x, measure)
    if isinstance(model, PrototypeMap):
        W = np.asarray(model.prototypes_, np.float64)
        if model.missing == "partial":
            raise ValueError(
                f"{type(model).__name__} with missing='partial' cannot be converted to ONNX; fill in missing values "
                "first, with SimpleImputer."
            )
        return graph.squares(*((x, W) if not is_learned(model.metric) else _seen(graph, model.metric, x, W)))
    D = _distances_to_patches(graph, model, x) if isinstance(model, CIALVQ) else _learned_distances(graph, model, x)
    hidden = np.isinf(_nameless(model).distances(np.zeros((1, model.n_features_in_)))[0])
    return graph("Add", D, np.where(hidden, np.inf, 0.0)) if hidden.any() else D


def _seen(graph: OnnxGraph, metric: Any, x: Tensor, W: Floats) -> tuple[Tensor, Floats]:
    """Return samples and prototypes as one learned matrix projects them, from a common origin."""
    (omega,), origin = as_metric(metric).omegas, np.median(W, axis=0)
    return graph("MatMul", graph("Sub", x, origin), omega.T), (W - origin) @ omega.T


def _learned_distances(graph: OnnxGraph, model: LVQClassifier, x: Tensor) -> str:
    W, metric = model.prototypes_, getattr(model, "metric", None)
    if isinstance(metric, MinkowskiMetric):
        gaps = graph("Abs", graph("Sub", graph("Unsqueeze", x, np.array([1])), W))
        return graph.reduce("ReduceSum", graph("Pow", gaps, float(metric.p)), 2)
    if isinstance(metric, TangentMetric):
        (directions,) = model.metric_parameters_
        along = graph.quadratic(x, directions, np.arange(len(W)), W)
        return graph("Max", graph("Sub", graph.squares(x, W), along), 0.0)
    learned, partial = model.metric_, model.missing == "partial"
    A, slots = learned.matrices, np.maximum(learned.slots, 0)
    if A.ndim == 2:
        return graph.weighted(x, A[slots] ** 2, W, partial)
    if len(A) > 1 or partial:
        return graph.quadratic(x, A, slots, W, partial)
    return graph.squares(*_seen(graph, learned, x, W))


def _distances_to_patches(graph: OnnxGraph, model: CIALVQ, x: Tensor) -> str:
    """Return distances of spectra; what comes before powers are taken is linear, so unit vectors tell all of it."""
    units = fft2(_nameless(model).intensities(np.eye(model.n_features_in_)), norm="ortho") * model.filter_gains_
    A = units.reshape(*units.shape[:2], -1).transpose(1, 0, 2)  # (s, N, frequencies)
    slots = model.prototype_maps_
    if model.distance == "position":
        parts = np.concatenate([A.real, A.imag], axis=2)
        return graph.quadratic(x, np.swapaxes(parts, 1, 2), slots, model.prototypes_)
    rows = graph("Unsqueeze", x, np.array([0]))
    real, imaginary = (graph("MatMul", rows, part) for part in (A.real, A.imag))
    powers = graph("Add", graph("Mul", real, real), graph("Mul", imaginary, imaginary))
    own = _nameless(model).prototype_powers_.reshape(len(slots), 1, -1)
    gaps = graph("Sub", graph("Gather", powers, slots, axis=0), own)
    return graph("Transpose", graph.reduce("ReduceSumSquare", gaps, 2), perm=[1, 0])


def _distances_to_shapes(graph: OnnxGraph, model: ShapedMap, x: Tensor, measure: str | None) -> str:
    terms, W = model.distance_terms(measure), np.asarray(model.prototypes_, np.float64)
    z = graph.projected(x, terms.directions, np.arange(len(W)), W)
    gained = graph.reduce("ReduceSum", graph("Mul", graph("Mul", z, z), terms.gains[:, None]), 2)
    D = graph("Add", graph("Transpose", gained, perm=[1, 0]), terms.constants)
    if not terms.rest.any():
        return D
    return graph("Add", D, graph("Mul", graph.squares(graph("Mul", x, terms.scale), W * terms.scale), terms.rest))


def _winners(graph: OnnxGraph, model: Any, x: Tensor, D: Tensor) -> str:
    """Return the nearest prototypes; of subspaces that are equally good, the measure of VQPCA decides."""
    tied = isinstance(model, ShapedMap) and model.measure_ == "reconstruction"
    return graph.nearest(_distances(graph, model, x, model.measure_) if tied else D)


def _nameless(model: Any) -> Any:
    """Return the model without names of features, which arrays do not have."""
    model = copy(model)
    model.__dict__.pop("feature_names_in_", None)
    return model


# Classes


def _of_lvq(graph: OnnxGraph, model: LVQClassifier, x: Tensor) -> dict[str, Tensor]:
    D, n_classes = _distances(graph, model, x), len(model.classes_)
    codes = np.searchsorted(model.classes_, model.prototype_labels_)
    near = graph.of_classes(D, codes, n_classes)
    if isinstance(model, RSLVQ):
        width = model.width_ or np.finfo(np.float64).eps
        probabilities = graph("MatMul", graph.shares(D, 2.0 * width**2), np.eye(n_classes)[codes])
    else:
        probabilities = graph.shares(graph("Sqrt", near), model.temperature_)
    confidence = graph.similarity(near, n_classes)
    novel = None if model.contamination is None else graph("Greater", _novelty(graph, model, D), 1.0)
    label = _label(graph, model, graph.nearest(D), confidence, novel)
    return {"label": label, "probabilities": probabilities, "distances": D, "confidence": confidence}


def _novelty(graph: OnnxGraph, model: LVQClassifier, D: Tensor) -> str:
    radii = np.maximum(model.acceptance_radii_, np.finfo(np.float64).tiny)
    return graph.reduce("ReduceMin", graph("Div", D, radii), 1)


def _label(graph: OnnxGraph, model: Any, winners: Tensor, confidence: Tensor, novel: str | None = None) -> str:
    rejected = [] if novel is None else [novel]
    if model.reject_threshold > 0:
        rejected.append(graph("Less", confidence, float(model.reject_threshold)))
    if rejected:
        where = rejected[0] if len(rejected) == 1 else graph("Or", *rejected)
        winners = graph("Where", where, len(model.prototype_labels_), winners)
    return graph("Gather", labels_of(model), winners, axis=0)


def _of_classifier(graph: OnnxGraph, model: PrototypeClassifier, samples: Sequence[str]) -> dict[str, Tensor]:
    maps, n_classes = [inner.model for inner in inner_models(model)], len(model.classes_)
    D = graph.joined([_distances(graph, one, x) for one, x in zip(maps, samples)])
    codes = np.searchsorted(model.classes_, model.prototype_labels_)
    near = graph.of_classes(D, codes, n_classes)
    logarithmic = getattr(maps[0], "measure_", "") in LOGARITHMIC
    if model.per_class:
        winners = graph.nearest(D)
        first = graph.reduce("ReduceMin", near, 1, True)
        if logarithmic:
            scores = graph("Log", graph("Add", graph("Sub", near, first), 1.0))
        else:
            scores = graph("Sqrt", graph("Sub", near, graph("Min", first, 0.0)))
        probabilities = graph.shares(scores, model.temperature_)
    else:
        winners = _winners(graph, maps[0], samples[0], D)
        probabilities = graph("Gather", model.prototype_probabilities_, winners, axis=0)
    confidence = graph.similarity(near, n_classes, logarithmic)
    label = _label(graph, model, winners, confidence)
    return {"label": label, "probabilities": probabilities, "distances": D, "confidence": confidence}


def _of_detector(graph: OnnxGraph, model: OutlierDetector, x: Tensor) -> dict[str, Tensor]:
    inner = inner_models(model)[0].model
    if isinstance(inner, ShapedMap):
        with np.errstate(divide="ignore"):
            constants = np.log(inner.weights_) - 0.5 * inner.n_dimensions_ * np.log(2.0 * np.pi)
        halves = graph("Mul", _distances(graph, inner, x, "logdet"), -0.5)
        scores = graph.reduce("ReduceLogSumExp", graph("Add", halves, constants), 1)
    elif getattr(inner, "contamination", None) is not None:
        scores = graph("Neg", _novelty(graph, inner, _distances(graph, inner, x)))
    else:
        scores = graph("Neg", graph.reduce("ReduceMin", _distances(graph, inner, x), 1))
    return {"label": graph("Where", graph("Less", scores, float(model.offset_)), -1, 1), "scores": scores}


# Views and codes


def _transformed_width(model: Any) -> int:
    """Return the number of columns that `transform` returns; refuse a model that has none, or needs more for it."""
    if not hasattr(model, "transform"):
        raise ValueError(f"{type(model).__name__} has no transform, so no other step can follow it in a pipeline.")
    if isinstance(model, LVQClassifier) and model.missing == "partial":
        raise ValueError(
            f"{type(model).__name__} with missing='partial' cannot be converted to ONNX as a step before others. Fill "
            "in missing values first, with SimpleImputer."
        )
    return len(model.get_feature_names_out())


def _transformed(graph: OnnxGraph, model: Any, x: Tensor) -> Tensor:
    """Return what `transform` returns."""
    if isinstance(model, ShapedMap):
        k, W = len(model.prototypes_), np.asarray(model.prototypes_, np.float64)
        winners = _winners(graph, model, x, _distances(graph, model, x))
        z = graph.projected(x, model.components_, np.arange(k), W)
        own = graph.chosen(graph("Transpose", z, perm=[1, 0, 2]), winners, k)
        return graph.joined([graph.numbers(graph("Unsqueeze", winners, np.array([1]))), own])
    if isinstance(model, PrototypeMap):
        return _distances(graph, model, x)
    if isinstance(model, GRLVQ):
        return graph("Mul", x, model.omega_)
    if isinstance(model, LVQClassifier):
        return graph("MatMul", x, model.omega_.T)
    if isinstance(model, PROJECTIONS):
        return graph("MatMul", x, model.components_.T)
    if isinstance(model, Charting):
        first = model.charts_.first
        if first is not None:
            x = graph("MatMul", graph("Sub", x, first.mean_), first.components_.T)
        return _on_charts(graph, model.charts_.inner, model.weights_, x)
    if is_learned(model.metric):
        x = graph("MatMul", x, as_metric(model.metric).omegas[0].T)
    mapping = model.mapping_
    if isinstance(mapping, LinearMap):
        return graph("MatMul", graph("Sub", x, mapping.mean), mapping.weights)
    if isinstance(mapping, ChartMap):
        return _on_charts(graph, mapping.charts, mapping.weights, x)
    first, *layers = mapping.layers
    x = graph("MatMul", graph("Sub", x, mapping.mean), first[:-1] / mapping.scale)  # a node for it would be in float32
    x = graph("Add", x, first[-1])
    for layer in layers:
        x = graph("Add", graph("MatMul", graph("Relu", x), layer[:-1]), layer[-1])
    return x


def _on_charts(graph: OnnxGraph, charts: Charts, weights: Floats, x: Tensor) -> str:
    """Return positions that are linear on each chart, as ``charts.place`` does."""
    k, m, d = charts.axes.shape
    blocks, origin = weights.reshape(k, m + 1, -1), charts.centers.mean(axis=0)
    slopes = np.swapaxes(charts.axes, 1, 2) @ blocks[:, :m]  # (k, d, c)
    starts = blocks[:, m] - np.einsum("kd,kdc->kc", charts.centers - origin, slopes)
    flat = graph("MatMul", graph("Sub", x, origin), slopes.transpose(1, 0, 2).reshape(d, -1))
    local = graph("Add", graph("Reshape", flat, np.array([-1, *starts.shape])), starts)
    if charts.gating.kind == "crisp":
        D = _distances(graph, charts.model, x)
        return graph.chosen(local, _winners(graph, charts.model, x, D), k)
    shares = _chart_shares(graph, charts, x)
    return graph.reduce("ReduceSum", graph("Mul", local, graph("Unsqueeze", shares, np.array([2]))), 1)


def _chart_shares(graph: OnnxGraph, charts: Charts, x: Tensor) -> str:
    gating, k = charts.gating, len(charts)
    D = _distances(graph, charts.model, x, "logdet" if gating.kind == "density" else None)
    if gating.kind == "rank":
        D = graph.ranks(D, k)
    shares = graph("Softmax", graph("Sub", gating.offsets, graph("Mul", D, gating.rates)), axis=1)
    if gating.groups is not None:
        groups, own = np.unique(gating.groups, return_inverse=True)
        together = graph("MatMul", shares, np.eye(len(groups))[own])
        group = graph("ArgMax", together, axis=1, keepdims=1)
        shares = graph("Mul", shares, graph.numbers(graph("Equal", group, own[None])))
    largest = graph.reduce("ReduceMax", shares, 1, True)
    counts = graph("Less", shares, graph("Min", largest, float(gating.cutoff)))
    shares = graph("Where", counts, 0.0, shares)
    return graph("Div", shares, graph.reduce("ReduceSum", shares, 1, True))
