"""Models beyond Python: graphs of the open format ONNX, converted by skl2onnx together with the steps before them."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import DTypeLike
from sklearn.base import BaseEstimator, is_classifier
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.utils.validation import check_is_fitted

import protolearn
from protolearn.core.files import FilePath, replacing

__all__ = ["register_onnx_converters", "to_onnx"]

OPSET = 18  # which onnxruntime has known since early 2023
OPTIONS = {"transform": [False, True], "zipmap": [False, True, "columns"]}  # the second of which all classifiers have


def to_onnx(model: Any, X: Any = None, *, dtype: DTypeLike = np.float64, path: FilePath | None = None) -> Any:
    """Convert a fitted model, or a pipeline that ends in one, to ONNX.

    The result answers as the model does, to rounding, wherever there is a runtime for ONNX: in C++, Java, JavaScript,
    on a phone. Classifiers have the outputs ``label``, ``probabilities``, ``distances`` and ``confidence``; maps
    ``winner`` and ``distances``, and those with shapes ``code``, which is what their ``transform`` returns;
    `OutlierDetector` has ``label`` and ``scores``; views and projections have ``transformed``. The guide, in
    "Shipping a model", lists which models can be converted, and how far their answers agree.

    Parameters
    ----------
    model : object
        A fitted estimator of protolearn, or a fitted pipeline of scikit-learn. The other steps of it must be among those
        that skl2onnx knows.
    X : DataFrame, optional
        Some samples. With a table that has names, each column is an input of its own, with its name: columns of strings
        are strings, all others are numbers. Without, there is one input ``X`` of shape (n_samples, n_features).
    dtype : {float64, float32}, default=float64
        Type of the numbers that come in, and of those that come out. What protolearn computes is computed in double
        precision in any case; the steps before it are in the type of the input.
    path : str or path-like, optional
        Where to write the model; such files are usually called ``.onnx``. An existing file is replaced when the new one
        is complete.

    Returns
    -------
    onnx_model : onnx.ModelProto
        The model, which ``onnx_model.SerializeToString()`` makes bytes of, for onnxruntime.

    See Also
    --------
    save : For use in Python.
    protolearn.deployment.register_onnx_converters : For those who call skl2onnx themselves.

    Examples
    --------
    >>> import numpy as np
    >>> import onnxruntime
    >>> import protolearn
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = protolearn.GMLVQ().fit(X, y)
    >>> session = onnxruntime.InferenceSession(protolearn.to_onnx(model).SerializeToString())
    >>> label, distances = session.run(["label", "distances"], {"X": X})
    >>> bool((label == model.predict(X)).all()), bool(np.allclose(distances, model.distances(X)))
    (True, True)
    """
    types = _skl2onnx("skl2onnx.common.data_types")
    number = types.guess_data_type(np.zeros((1, 1), _checked(dtype)))[0][1].__class__
    register_onnx_converters()
    check_is_fitted(model)
    model = getattr(model, "best_estimator_", model)
    if X is not None and not hasattr(X, "columns"):
        raise TypeError(f"X is a {type(X).__name__}; give a table with named columns, or nothing.")
    if X is None:
        inputs = [("X", number([None, _n_features(model)]))]
    else:
        kinds = [number if _is_numeric(X[name]) else types.StringTensorType for name in X.columns]
        inputs = [(str(name), kind([None, 1])) for name, kind in zip(X.columns, kinds)]
    try:
        converted = _skl2onnx("skl2onnx").convert_sklearn(
            model,
            initial_types=inputs,
            target_opset={"": OPSET, "ai.onnx.ml": 3},
            options=_options(model),
            custom_conversion_functions={SimpleImputer: _fill_in},
            name=type(model).__name__,
        )
        _skl2onnx("onnx").checker.check_model(converted, full_check=True)
    except (RuntimeError, *_refusals()) as error:
        other = "float32" if _checked(dtype) == np.float64 else "float64"
        raise ValueError(
            f"A step of the model cannot be converted by skl2onnx ({str(error).partition('. ')[0].rstrip('.')}). Some "
            f"can for one type of numbers only: try dtype='{other}', or another step in its place."
        ) from error
    converted.producer_name, converted.producer_version = "protolearn", protolearn.__version__
    if path is not None:
        with replacing(path) as new:
            new.write_bytes(converted.SerializeToString())
    return converted


def register_onnx_converters() -> None:
    """Tell skl2onnx how to convert the estimators of this library.

    `to_onnx` does so itself. After it, ``skl2onnx.to_onnx`` and ``skl2onnx.convert_sklearn`` take these estimators,
    with all their options, alone and within anything that skl2onnx converts. A model whose ``transform`` counts, since
    other steps follow it, needs the option ``{id(model): {"transform": True}}``.

    Examples
    --------
    >>> import skl2onnx
    >>> from protolearn import KMeans
    >>> from protolearn.deployment import register_onnx_converters
    >>> register_onnx_converters()
    >>> converted = skl2onnx.to_onnx(KMeans(2).fit([[0.0], [1.0], [9.0]]), np.zeros((1, 1)))
    >>> [output.name for output in converted.graph.output]
    ['winner', 'distances']
    """
    register = _skl2onnx("skl2onnx").update_registered_converter
    for name in protolearn.__all__:
        found = getattr(protolearn, name)
        if isinstance(found, type) and issubclass(found, BaseEstimator):
            register(found, f"Protolearn{name}", _shapes_are_known, _convert, parser=_parse, options=OPTIONS)


def _skl2onnx(module: str) -> Any:
    try:
        return import_module(module)
    except ImportError:
        raise ImportError(
            "Models are converted to ONNX by skl2onnx, which is not installed: pip install protolearn[onnx]"
        ) from None


def _refusals() -> tuple[type[Exception], ...]:
    """Return what onnx raises of a graph that is not in order."""
    onnx = _skl2onnx("onnx")
    return onnx.checker.ValidationError, onnx.shape_inference.InferenceError


def _checked(dtype: DTypeLike) -> Any:
    if np.dtype(dtype) not in (np.dtype(np.float32), np.dtype(np.float64)):
        raise ValueError(f"dtype={dtype!r} must be float64 or float32.")
    return np.dtype(dtype)


def _is_numeric(column: Any) -> bool:
    return np.asarray(column).dtype.kind in "biuf"


def _n_features(model: Any) -> int:
    """Return how many features a model takes; that of a pipeline, its first step knows."""
    try:
        return int(model.n_features_in_)
    except AttributeError:
        raise ValueError(f"{type(model).__name__} does not say how many features it takes; give X, a table.") from None


def _options(model: Any) -> dict[int, dict[str, bool]]:
    """Return options of skl2onnx: steps before others transform, and a classifier returns arrays, not dicts."""
    options = {id(step): {"transform": True} for step in _earlier_steps(model) if _is_ours(step)}
    last = model
    while isinstance(last, Pipeline):
        last = last[-1]
    if is_classifier(last):
        options[id(last)] = {"zipmap": False}
    return options


def _is_ours(step: Any) -> bool:
    return isinstance(getattr(protolearn, type(step).__name__, None), type) and type(step).__name__ in protolearn.__all__


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
    """Declare what a model takes and what it answers."""
    from skl2onnx._parse import parse_sklearn
    from skl2onnx.common import data_types as types

    from protolearn.deployment import _onnx_models as models

    check_is_fitted(model)
    transforms = scope.get_options(model, {"transform": False})["transform"]
    answers = models.columns(model, transforms)
    operator = scope.declare_local_operator(f"Protolearn{type(model).__name__}", model)
    operator.inputs, operator.sizes = [], []
    for steps, _ in models.inner_models(model):
        found = inputs if steps is None else parse_sklearn(scope, steps, inputs, custom_parsers)
        for variable in found:
            variable.init_status(is_leaf=False)
        operator.inputs += found
        operator.sizes.append(len(found))
    double = any(isinstance(variable.type, types.DoubleTensorType) for variable in scope.input_variables)
    kinds = {"index": types.Int64TensorType, "number": types.DoubleTensorType if double else types.FloatTensorType}
    for name, kind, width in answers:
        shape = [None] if width is None else [None, width]
        declared = kinds[kind] if kind in kinds else types.guess_data_type(models.labels_of(model)[:1])[0][1].__class__
        operator.outputs.append(scope.declare_local_variable(name, declared(shape)))
    return operator.outputs


def _shapes_are_known(operator: Any) -> None:
    """Do nothing: the parser has declared types and shapes."""


def _convert(scope: Any, operator: Any, container: Any) -> None:
    """Write the formulas of a model into a graph."""
    from onnx import TensorProto
    from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType

    from protolearn.deployment import _onnx_models as models
    from protolearn.deployment._onnx_graph import Graph

    graph = Graph(scope, container)
    variables = iter(operator.inputs)
    samples = [graph.joined([graph.numbers(next(variables).full_name) for _ in range(size)]) for size in operator.sizes]
    found = models.answers(graph, operator.raw_operator, samples, [output.raw_name for output in operator.outputs])
    for output in operator.outputs:
        tensor, name = found[output.raw_name], [output.full_name]
        if isinstance(output.type, DoubleTensorType | FloatTensorType):
            to = TensorProto.DOUBLE if isinstance(output.type, DoubleTensorType) else TensorProto.FLOAT
            container.add_node("Cast", [tensor], name, to=to)
        else:
            container.add_node("Identity", [tensor], name)


def _fill_in(scope: Any, operator: Any, container: Any) -> None:
    """Convert an imputer of numbers; the operator that skl2onnx takes for it is not there for double precision."""
    from skl2onnx.common._registration import get_converter
    from skl2onnx.common.data_types import DoubleTensorType

    from protolearn.deployment._onnx_graph import Graph

    imputer, missing = operator.raw_operator, operator.raw_operator.missing_values
    double = all(isinstance(variable.type, DoubleTensorType) for variable in operator.inputs)
    if not double or imputer.add_indicator or not isinstance(missing, float) or not np.isnan(missing):
        get_converter("SklearnSimpleImputer")(scope, operator, container)
        return
    graph, kept = Graph(scope, container), np.flatnonzero(~np.isnan(imputer.statistics_))
    x = graph("Gather", graph.joined([variable.full_name for variable in operator.inputs]), kept, axis=1)
    filled = graph("Where", graph("IsNaN", x), imputer.statistics_[kept], x)
    container.add_node("Identity", [filled], [operator.outputs[0].full_name])
