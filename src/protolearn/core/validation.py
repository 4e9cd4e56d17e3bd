"""Checks of parameters and samples whose messages name what was wrong, what was given and what to do."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_array, validate_data

from protolearn.core.types import Array

__all__ = [
    "check_range",
    "check_scale",
    "check_weights",
    "given_array",
    "hinted",
    "is_collection",
    "largest_value",
    "read_samples",
    "refuse_collection",
    "refuse_empty_rows",
    "refuse_large",
    "refuse_overflow",
    "refuse_underflow",
    "require_memory",
]

LEAST_BYTES = 1 << 28  # what is not worth a question to the system


def given_array(name: str, value: Any, **options: Any) -> Array:
    """Return the array that a parameter holds, checked with the options of scikit-learn's ``check_array``.

    Examples
    --------
    >>> given_array("init", [[1, 2], [3, "many"]])
    Traceback (most recent call last):
    ...
    ValueError: init must be an array of numbers: could not convert string to float: 'many'
    """
    try:
        return check_array(value, dtype=np.float64, input_name=name, **options)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be an array of numbers: {error}") from None


def is_collection(X: Any) -> bool:
    """Say whether this is a Dask collection, without an import of Dask.

    Examples
    --------
    >>> is_collection([[1.0, 2.0]])
    False
    """
    return hasattr(X, "__dask_graph__") and not isinstance(X, type)


def refuse_collection(
    X: Any, who: str, remedy: str = "give a sample of it, and apply what is learned block by block"
) -> None:
    """Refuse a Dask collection where samples have to be in memory.

    Examples
    --------
    >>> refuse_collection([[1.0, 2.0]], "LMNN")
    """
    if is_collection(X):
        raise ValueError(f"{who} needs samples in memory, and takes no Dask collection; {remedy}.")


def check_weights(sample_weight: ArrayLike | None, n_samples: int, dtype: Any) -> Array:
    """Return sample weights (n,) as an array, ones by default; they must be finite, not negative, and not all zero.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.core.validation import check_weights
    >>> check_weights(None, 2, np.float64), check_weights([1, 0], 2, np.float64)
    (array([1., 1.]), array([1., 0.]))
    >>> check_weights([1, -2], 2, np.float64)
    Traceback (most recent call last):
    ...
    ValueError: sample_weight contains negative values (smallest -2); weights must be 0 or more.
    """
    if sample_weight is None:
        return np.ones(n_samples, dtype)
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.ndim == 0:
        weights = np.full(n_samples, float(weights))
    if weights.shape != (n_samples,):
        raise ValueError(
            f"sample_weight.shape == {weights.shape}, expected ({n_samples},): one weight for each sample of X."
        )
    if not np.isfinite(weights).all():
        raise ValueError("sample_weight contains NaN or infinity; give finite weights, 0 to leave a sample out.")
    if (weights < 0).any():
        raise ValueError(
            f"sample_weight contains negative values (smallest {weights.min():g}); weights must be 0 or more."
        )
    if not weights.any():
        raise ValueError("sample_weight sums to zero; give at least one sample a positive weight.")
    return weights.astype(dtype)


def read_samples(estimator: Any, X: Any, *, reset: bool = False, learning: bool = False, **options: Any) -> Array:
    """Return samples in single or double precision, by scikit-learn's ``validate_data`` and its options.

    Their squares must not be too large to compute with, and of samples for ``learning`` not too small either.

    Parameters
    ----------
    estimator : estimator
        Whose samples these are.
    X : array-like of shape (n, d)
        The samples.
    reset : bool, default=False
        Whether names and number of features are stored, or compared with what is stored.
    learning : bool, default=False
        Whether the estimator learns from them.
    **options : object
        Options of ``validate_data``.

    Returns
    -------
    ndarray of shape (n, d)
        The samples.

    Examples
    --------
    >>> from protolearn import KMeans
    >>> from protolearn.core.validation import read_samples
    >>> read_samples(KMeans(), [[1, 2], [3, 4]], reset=True, learning=True).dtype
    dtype('float64')
    >>> read_samples(KMeans(), [[1e200]], reset=True)
    Traceback (most recent call last):
    ...
    ValueError: X has values up to 1e+200, whose squares are too large for float64; rescale X, or drop outliers.
    """
    with hinted(estimator):
        samples = validate_data(estimator, X, dtype=[np.float64, np.float32], reset=reset, **options)
    return check_scale(samples) if learning else refuse_overflow(samples)


@contextmanager
def hinted(estimator: Any) -> Iterator[None]:
    r"""Let errors about missing values in ``X`` say that the estimator would leave them out if asked to.

    Examples
    --------
    >>> from protolearn import SOM
    >>> with hinted(SOM()):
    ...     raise ValueError("Input X contains NaN.\nSOM does not accept missing values.")
    Traceback (most recent call last):
    ...
    ValueError: Input X contains NaN. SOM(missing='partial') leaves missing values out of distances.
    """
    try:
        yield
    except ValueError as error:
        first, name = str(error).partition("\n")[0], type(estimator).__name__
        if estimator.get_params(deep=False).get("missing") != "error" or "X contains NaN" not in first:
            raise
        raise type(error)(f"{first} {name}(missing='partial') leaves missing values out of distances.") from None


def refuse_empty_rows(X: Array) -> None:
    """Refuse samples none of whose values is known.

    Examples
    --------
    >>> refuse_empty_rows(np.array([[1.0, np.nan], [np.nan, np.nan]]))
    Traceback (most recent call last):
    ...
    ValueError: 1 samples of X have no value at all (the first is row 1); leave them out.
    """
    empty = np.isnan(X).all(axis=1)
    if empty.any():
        raise ValueError(
            f"{int(empty.sum())} samples of X have no value at all (the first is row {empty.argmax()}); leave them out."
        )


def check_scale(X: Array) -> Array:
    """Return samples to learn from; refuse them if the squares of their values are beyond what a float can hold.

    Examples
    --------
    >>> check_scale(np.array([[1e-200, 3e-200]]))
    Traceback (most recent call last):
    ...
    ValueError: X has no values above 3e-200, whose squares are too small for float64; rescale X.
    """
    check_range(largest_value(X), X.dtype, X.shape[1])
    return X


def check_range(largest: float, dtype: Any, n_features: int) -> None:
    """Refuse values up to the largest if sums of their squares are beyond what a float can hold.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.core.validation import check_range
    >>> check_range(5.0, np.float32, n_features=10)
    >>> check_range(1e30, np.float32, n_features=10)
    Traceback (most recent call last):
    ...
    ValueError: X has values up to 1e+30, whose squares are too large for float32; rescale X, or drop outliers.
    """
    example = np.empty((0, n_features), dtype)
    refuse_small(example, largest)
    refuse_large(example, largest)


def refuse_underflow(X: Array) -> None:
    """Refuse samples whose squared distances, but for the largest ones, are below the smallest number.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.core.validation import refuse_underflow
    >>> refuse_underflow(np.array([[1e-200, 1.0]]))
    >>> refuse_underflow(np.array([[1e-200]]))
    Traceback (most recent call last):
    ...
    ValueError: X has no values above 1e-200, whose squares are too small for float64; rescale X.
    """
    refuse_small(X, largest_value(X))


def refuse_small(X: Array, largest: float) -> None:
    """Refuse values up to the largest if the squares of most are below the smallest number."""
    limits = np.finfo(X.dtype)
    if 0.0 < largest < np.sqrt(limits.tiny) / limits.eps**0.25:
        raise ValueError(f"X has no values above {largest:g}, whose squares are too small for {X.dtype}; rescale X.")


def refuse_overflow(X: Array) -> Array:
    """Return samples; refuse them if their squared distances are beyond the largest number.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.core.validation import refuse_overflow
    >>> refuse_overflow(np.array([[1.0, 2.0]]))
    array([[1., 2.]])
    >>> refuse_overflow(np.array([[1e300]]))
    Traceback (most recent call last):
    ...
    ValueError: X has values up to 1e+300, whose squares are too large for float64; rescale X, or drop outliers.
    """
    refuse_large(X, largest_value(X))
    return X


def refuse_large(X: Array, largest: float, squared: bool = False) -> None:
    """Refuse values up to the largest if sums of their squares, or of themselves, are beyond the largest number.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.core.validation import refuse_large
    >>> refuse_large(np.zeros((1, 2), np.float32), 1e30, squared=True)
    >>> refuse_large(np.zeros((1, 2), np.float32), 1e30)
    Traceback (most recent call last):
    ...
    ValueError: X has values up to 1e+30, whose squares are too large for float32; rescale X, or drop outliers.
    """
    bound = np.finfo(X.dtype).max / (8 * X.shape[1])
    if largest > (bound if squared else np.sqrt(bound)):
        sums = "sums" if squared else "squares"
        raise ValueError(
            f"X has values up to {largest:g}, whose {sums} are too large for {X.dtype}; rescale X, or drop outliers."
        )


def largest_value(X: Array) -> float:
    """Return the size of the largest value that is known.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.core.validation import largest_value
    >>> largest_value(np.array([[1.0, -7.0], [np.nan, 2.0]]))
    7.0
    """
    return max(float(np.fmax.reduce(X, axis=None)), -float(np.fmin.reduce(X, axis=None)))


def require_memory(what: str, n_bytes: float, remedy: str) -> None:
    """Refuse what does not fit in memory before it is tried.

    Examples
    --------
    >>> require_memory("A matrix of all pairs of 1000 samples", 8 * 1000**2, "use fewer samples")
    >>> require_memory("A matrix of all pairs", 1e18, "use fewer samples")
    Traceback (most recent call last):
    ...
    MemoryError: A matrix of all pairs needs 1e+09 GB of memory, and ... GB are free; use fewer samples.
    """
    if n_bytes <= LEAST_BYTES:
        return
    available = available_memory()
    if n_bytes > available:
        raise MemoryError(
            f"{what} needs {n_bytes / 1e9:.3g} GB of memory, and {available / 1e9:.3g} GB are free; {remedy}."
        )


def available_memory() -> float:
    """Return how many bytes can be had without swapping; infinity if the system does not tell."""
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            sizes = dict(line.split(":", 1) for line in lines)
        return 1024.0 * int(sizes["MemAvailable"].split()[0])
    except (OSError, KeyError, ValueError):
        pass
    try:
        return float(os.sysconf("SC_AVPHYS_PAGES")) * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return np.inf
