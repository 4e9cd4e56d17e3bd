"""Conversion of models and pipelines to the open format ONNX, with skl2onnx."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import DTypeLike
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from protolearn.core.files import FilePath, replacing

__all__ = ["register_onnx_converters", "to_onnx"]


def to_onnx(model: Any, X: Any = None, *, dtype: DTypeLike = np.float64, path: FilePath | None = None) -> Any:
    """Convert a fitted model, or a pipeline that ends in one, to ONNX.

    Up to rounding, the graph gives the same results as the model wherever there is an ONNX runtime, for instance in
    C++, Java, JavaScript or on a phone. Classifiers have the outputs ``label``, ``probabilities``, ``distances`` and
    ``confidence``. Maps have the outputs ``winner`` and ``distances``; maps with shapes also have ``code``, the result
    of their ``transform``. `OutlierDetector` has ``label`` and ``scores``, and views and projections have
    ``transformed``. The guide "Shipping a model" lists the models that can be converted and the accuracy of their
    results.

    Parameters
    ----------
    model : object
        Fitted estimator of protolearn, or a fitted scikit-learn pipeline whose other steps skl2onnx supports.
    X : DataFrame, optional
        Some rows of the table, if the model was fitted to a table with columns of different types. Each column is then
        an input of shape (n_samples, 1), of strings or numbers, in the order of the table. The input has the name of
        the column, with all characters except letters and digits replaced by underscores. Otherwise there is a single
        input ``X`` of shape (n_samples, n_features). For a pipeline that begins with a `TablePreparation`, give rows of
        the raw table; the inputs are the columns that it returns.
    dtype : {float64, float32}, default=float64
        Type of the numerical inputs and outputs. Models of protolearn are always computed in double precision; the
        steps before them use the type of the input.
    path : str or path-like, optional
        File to write, usually with the suffix ``.onnx``. An existing file is replaced once the new file is complete.

    Returns
    -------
    onnx_model : onnx.ModelProto
        The converted model. ``onnx_model.SerializeToString()`` returns the bytes that onnxruntime reads.

    See Also
    --------
    save : Saves a model for use in Python.
    protolearn.deployment.register_onnx_converters : Enables direct calls of skl2onnx.

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
    converters = _converters()
    check_is_fitted(model)
    if np.dtype(dtype) not in (np.dtype(np.float32), np.dtype(np.float64)):
        raise ValueError(f"dtype={dtype!r} must be float64 or float32.")
    converted = converters.convert(*_prepared(getattr(model, "best_estimator_", model), X), np.dtype(dtype))
    if path is not None:
        with replacing(path) as new:
            new.write_bytes(converted.SerializeToString())
    return converted


def _prepared(model: Any, X: Any) -> tuple[Any, Any]:
    """Return a pipeline without the reading of texts and dates, which graphs cannot do, and samples after it."""
    if not isinstance(model, Pipeline):
        return model, X
    from protolearn.tables import TablePreparation

    if not isinstance(model[0], TablePreparation):
        return model, X
    if X is None:
        raise ValueError(
            "The model was fitted to a table; give X, some rows of it, for the names and types of the columns."
        )
    return model[1:], model[0].transform(X)


def register_onnx_converters() -> None:
    """Register converters for the estimators of this library with skl2onnx.

    `to_onnx` calls this function itself. Afterwards ``skl2onnx.to_onnx`` and ``skl2onnx.convert_sklearn`` accept these
    estimators with all their options, both alone and inside any estimator that skl2onnx converts. A model that is
    followed by other steps, which use its ``transform``, needs the option ``{id(model): {"transform": True}}``.

    Examples
    --------
    >>> import numpy as np
    >>> import skl2onnx
    >>> from protolearn import KMeans
    >>> from protolearn.deployment import register_onnx_converters
    >>> register_onnx_converters()
    >>> converted = skl2onnx.to_onnx(KMeans(2).fit([[0.0], [1.0], [9.0]]), np.zeros((1, 1)))
    >>> [output.name for output in converted.graph.output]
    ['winner', 'distances']
    """
    _converters().register()


def _converters() -> Any:
    try:
        return import_module("protolearn.deployment._onnx_converters")
    except ModuleNotFoundError as error:
        if str(error.name).partition(".")[0] not in ("onnx", "skl2onnx"):
            raise
        raise ImportError(
            f"Conversion to ONNX requires {error.name}, which is not installed: pip install 'protolearn[onnx]'"
        ) from None
