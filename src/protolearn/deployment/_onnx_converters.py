"""Converters of the estimators of this library for skl2onnx: inputs, outputs and nodes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from onnx import ModelProto, TensorProto
from onnx.checker import ValidationError, check_model
from onnx.shape_inference import InferenceError
from skl2onnx import convert_sklearn, update_registered_converter
from skl2onnx._parse import parse_sklearn
from skl2onnx.common._registration import get_converter
from skl2onnx.common.data_types import (
    DoubleTensorType,
    FloatTensorType,
    Int64TensorType,
    StringTensorType,
    guess_data_type,
)
from sklearn.base import is_classifier
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.utils.validation import check_is_fitted

from protolearn import __version__, embedding, lvq, maps, relational
from protolearn.core.estimator import Estimator
from protolearn.deployment._onnx_models import INDEX, LABEL, OnnxGraph, answers, columns, inner_models, labels_of

__all__ = ["convert", "register"]

OPSET = {"": 18, "ai.onnx.ml": 3}  # which onnxruntime has known since early 2023
OPTIONS = {"transform": [False, True], "zipmap": [False, True, "columns"]}  # the second of which all classifiers have


def register() -> None:
    """Tell skl2onnx of all public estimators, also of those that will be refused, with a reason."""
    for one in _estimators():
        update_registered_converter(one, _alias(one), _keep_shapes, _convert, parser=_parse, options=OPTIONS)


def convert(model: Any, X: Any, dtype: Any) -> ModelProto:
    """Return the graph of a fitted model or pipeline, which takes numbers of a type, or the columns of a table."""
    register()
    try:
        converted = convert_sklearn(
            model,
            initial_types=_inputs(model, X, DoubleTensorType if dtype == np.float64 else FloatTensorType),
            target_opset=OPSET,
            options=_options(model),
            custom_conversion_functions={SimpleImputer: _fill_in},
            name=type(model).__name__,
        )
        check_model(converted, full_check=True)
    except (
        RuntimeError,
        ValidationError,
        InferenceError,
    ) as error:  # of steps it does not know, or not well
        reason = str(error).partition("\n")[0].partition(". ")[0].rstrip(".")
        named = X is None and hasattr(model, "feature_names_in_")
        raise ValueError(
            f"A step of the model cannot be converted by skl2onnx ({reason}). "
            + ("If it selects columns by name, give X, a table with these columns. " if named else "")
            + "Some steps can be converted for one number type only: try the other dtype, or another step."
        ) from error
    converted.producer_name, converted.producer_version = "protolearn", __version__
    return converted


def _estimators() -> list[type]:
    public = [getattr(package, name) for package in (embedding, lvq, maps, relational) for name in package.__all__]
    return [one for one in public if isinstance(one, type) and issubclass(one, Estimator)]


def _alias(one: type) -> str:
    return f"Protolearn{one.__name__}"


def _inputs(model: Any, X: Any, number: Any) -> list[tuple[str, Any]]:
    """Return name and type of each input."""
    n_features = getattr(model, "n_features_in_", None)  # of a pipeline, its first step knows
    if X is None:
        if n_features is None:
            raise ValueError(f"{type(model).__name__} does not define its number of features; give X, a table.")
        return [("X", number([None, n_features]))]
    if not hasattr(X, "columns"):
        raise TypeError(f"X is a {type(X).__name__}; give a table with named columns, or omit X.")
    known = getattr(model, "feature_names_in_", X.columns)
    if list(known) != list(X.columns) or len(known) != (n_features or len(known)):
        raise ValueError(f"X has columns {list(X.columns)}, but the model was fitted to {list(known)}.")
    kinds = {name: np.asarray(X[name]).dtype.kind for name in X.columns}
    for name, kind in kinds.items():
        if kind not in "biufOU":
            raise ValueError(f"Column {name!r} of X contains neither numbers nor strings; convert it first.")
    return [(str(name), (number if kind in "biuf" else StringTensorType)([None, 1])) for name, kind in kinds.items()]


def _options(model: Any) -> dict[int, dict[str, bool]]:
    """Return options of skl2onnx: steps before others transform, and a classifier returns arrays, not dicts."""
    ours = tuple(_estimators())
    options = {id(step): {"transform": True} for step in _earlier_steps(model) if isinstance(step, ours)}
    last = model
    while isinstance(last, Pipeline):
        last = last[-1]
    if is_classifier(last):
        options[id(last)] = {"zipmap": False}
    return options


def _earlier_steps(model: Any, last: bool = True) -> Iterator[Any]:
    """Yield the steps of nested pipelines whose `transform` counts."""
    if isinstance(model, Pipeline):
        for number, (_, step) in enumerate(model.steps):
            yield from _earlier_steps(step, last and number == len(model.steps) - 1)
    elif isinstance(model, ColumnTransformer | FeatureUnion):
        parts = model.transformers_ if isinstance(model, ColumnTransformer) else model.transformer_list
        for part in parts:
            yield from _earlier_steps(part[1], False)
    elif not last:
        yield model


def _parse(scope: Any, model: Any, inputs: list[Any], custom_parsers: Any = None) -> list[Any]:
    """Declare what a model takes and what it answers, in the type of the numbers that come in."""
    check_is_fitted(model)
    answered = columns(model, scope.get_options(model, {"transform": False})["transform"])
    operator = scope.declare_local_operator(_alias(type(model)), model)
    operator.inputs, operator.sizes = [], []
    for steps, _ in inner_models(model):
        found = inputs if steps is None else parse_sklearn(scope, steps, inputs, custom_parsers)
        for variable in found:
            variable.init_status(is_leaf=False)
        operator.inputs += found
        operator.sizes.append(len(found))
    double = any(isinstance(variable.type, DoubleTensorType) for variable in scope.input_variables)
    for name, kind, width in answered:
        if kind == LABEL:
            declared = type(guess_data_type(labels_of(model)[:1])[0][1])
        else:
            declared = Int64TensorType if kind == INDEX else DoubleTensorType if double else FloatTensorType
        shape = [None] if width is None else [None, width]
        operator.outputs.append(scope.declare_local_variable(name, declared(shape)))
    return operator.outputs


def _keep_shapes(operator: Any) -> None:
    """Leave types and shapes as they were declared."""


def _convert(scope: Any, operator: Any, container: Any) -> None:
    """Write the formulas of a model into a graph."""
    graph, variables = OnnxGraph(scope, container), iter(operator.inputs)
    samples = [graph.joined([graph.numbers(next(variables).full_name) for _ in range(size)]) for size in operator.sizes]
    found = answers(graph, operator.raw_operator, samples, [output.raw_name for output in operator.outputs])
    types = {DoubleTensorType: TensorProto.DOUBLE, FloatTensorType: TensorProto.FLOAT}
    for output in operator.outputs:
        node, to = ("Cast", {"to": types[type(output.type)]}) if type(output.type) in types else ("Identity", {})
        container.add_node(node, [found[output.raw_name]], [output.full_name], **to)


def _fill_in(scope: Any, operator: Any, container: Any) -> None:
    """Convert an imputer of numbers; the node that skl2onnx takes for it is not there for double precision."""
    imputer, missing = operator.raw_operator, operator.raw_operator.missing_values
    double = all(isinstance(variable.type, DoubleTensorType) for variable in operator.inputs)
    if not double or imputer.add_indicator or not isinstance(missing, float) or not np.isnan(missing):
        get_converter("SklearnSimpleImputer")(scope, operator, container)
        return
    graph, kept = OnnxGraph(scope, container), np.flatnonzero(~np.isnan(imputer.statistics_))
    x = graph("Gather", graph.joined([variable.full_name for variable in operator.inputs]), kept, axis=1)
    filled = graph("Where", graph("IsNaN", x), imputer.statistics_[kept], x)
    container.add_node("Identity", [filled], [operator.outputs[0].full_name])
