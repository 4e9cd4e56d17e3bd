"""Models beyond Python: graphs of the open format ONNX, converted by skl2onnx together with the steps before them."""

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

    The result answers as the model does, to rounding, wherever there is a runtime for ONNX: in C++, Java, JavaScript,
    on a phone. Classifiers have the outputs ``label``, ``probabilities``, ``distances`` and ``confidence``; maps
    ``winner`` and ``distances``, and those with shapes ``code``, which is what their ``transform`` returns;
    `OutlierDetector` has ``label`` and ``scores``; views and projections have ``transformed``. The guide, in
    "Shipping a model", lists which models can be converted, and how far their answers agree.

    Parameters
    ----------
    model : object
        A fitted estimator of protolearn, or a fitted pipeline of scikit-learn whose other steps skl2onnx knows.
    X : DataFrame, optional
        Some samples, if the model was fitted to a table with columns of different kinds. Each column is then an input
        of shape (n_samples, 1), of strings or of numbers, in the order of the table and with its name, in which all but
        letters and digits becomes an underscore. Otherwise there is one input ``X`` of shape (n_samples, n_features).
        Of a pipeline that begins with a `TablePreparation`, give rows of the raw table; the inputs are the columns that
        it prepares.
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
        raise ValueError("The model takes a table: give X, some rows of it, which tell names and kinds of columns.")
    return model[1:], model[0].transform(X)


def register_onnx_converters() -> None:
    """Tell skl2onnx how to convert the estimators of this library.

    `to_onnx` does so itself. After it, ``skl2onnx.to_onnx`` and ``skl2onnx.convert_sklearn`` take these estimators,
    with all their options, alone and within anything that skl2onnx converts. A model whose ``transform`` counts, since
    other steps follow it, needs the option ``{id(model): {"transform": True}}``.

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
            f"Models are converted to ONNX by skl2onnx, and {error.name} is not installed: pip install protolearn[onnx]"
        ) from None
