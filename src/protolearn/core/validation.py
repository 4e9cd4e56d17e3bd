"""Validation of parameters and samples, with messages that name the problem, the given value and a remedy."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_array, validate_data

from protolearn.core.types import Array, Floats

__all__ = [
    "check_range",
    "check_scale",
    "check_weights",
    "given_array",
    "hinted",
    "in_range",
    "is_collection",
    "largest_value",
    "read_samples",
    "refuse_collection",
    "refuse_empty_rows",
    "refuse_far_weights",
    "refuse_large",
    "refuse_overflow",
    "refuse_small",
    "refuse_underflow",
    "require_memory",
    "weight_unit",
]

FAR = 2.0**1000  # from one, for weights
NOTHING = 2.0**-100  # beside one, as a weight
LEAST_BYTES = 1 << 28  # what is not worth a question to the system


def given_array(name: str, value: Any, **options: Any) -> Array:
    """Validate a parameter that is an array, with the options of scikit-learn's ``check_array``.

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
    """Return whether an object is a Dask collection, without importing Dask.

    Examples
    --------
    >>> is_collection([[1.0, 2.0]])
    False
    """
    return hasattr(X, "__dask_graph__") and not isinstance(X, type)


def refuse_collection(
    X: Any, who: str, remedy: str = "give a sample of it, and apply what is learned block by block"
) -> None:
    """Raise an error for a Dask collection where samples must be in memory.

    Examples
    --------
    >>> refuse_collection([[1.0, 2.0]], "LMNN")
    """
    if is_collection(X):
        raise ValueError(f"{who} needs samples in memory and does not support Dask collections; {remedy}.")


def check_weights(sample_weight: ArrayLike | None, n_samples: int, dtype: Any, *, unit: float | None = None) -> Array:
    """Validate sample weights (n,), ones by default; they must be finite, nonnegative, and not all zero.

    The range of the type is no matter: where the largest weight is above 1e301 or below 1e-301, weights are divided by
    a power of two (`weight_unit`). A weight below 1e-30 of the largest is zero.

    Parameters
    ----------
    sample_weight : array-like of shape (n,) or None
        The weights.
    n_samples : int
        Number n of samples.
    dtype : dtype
        Type of the result.
    unit : float, optional
        Divisor, if it is that of weights with which these are compared, as in a stream.

    Returns
    -------
    ndarray of shape (n,)
        The weights.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.core.validation import check_weights
    >>> check_weights(None, 2, np.float64), check_weights([1, 0], 2, np.float64)
    (array([1., 1.]), array([1., 0.]))
    >>> check_weights([2.0**-1020, 2.0**-1019], 2, np.float64)
    array([0.25, 0.5 ])
    >>> check_weights([1, -2], 2, np.float64)
    Traceback (most recent call last):
    ...
    ValueError: sample_weight contains negative values (smallest -2); weights must be 0 or more.
    """
    if sample_weight is None and unit in (None, 1.0):
        return np.ones(n_samples, dtype)
    weights = np.asarray(1.0 if sample_weight is None else sample_weight, dtype=np.float64)
    if weights.ndim == 0:
        weights = np.full(n_samples, float(weights))
    if weights.shape != (n_samples,):
        raise ValueError(
            f"sample_weight.shape == {weights.shape}, expected ({n_samples},): one weight for each sample of X."
        )
    if not np.isfinite(weights).all():
        raise ValueError("sample_weight contains NaN or infinity; use finite weights, and 0 to exclude a sample.")
    if (weights < 0).any():
        raise ValueError(
            f"sample_weight contains negative values (smallest {weights.min():g}); weights must be 0 or more."
        )
    if not weights.any():
        raise ValueError("sample_weight sums to zero; give at least one sample a positive weight.")
    return _in_units(weights, weight_unit(weights) if unit is None else unit).astype(dtype)


def weight_unit(sample_weight: ArrayLike | None) -> float:
    """Return the power of two that weights are divided by: one, unless the largest is very large or small.

    Examples
    --------
    >>> from protolearn.core.validation import weight_unit
    >>> weight_unit([1, 1000]), weight_unit([1e305]) == 2.0**1014
    (1.0, True)
    """
    largest = 1.0 if sample_weight is None else float(np.max(np.asarray(sample_weight, np.float64), initial=0.0))
    if not 0.0 < largest < np.inf or 1.0 / FAR <= largest <= FAR:  # what is no weight is refused elsewhere
        return 1.0
    return float(np.ldexp(1.0, max(np.frexp(largest)[1], -1074)))


def _in_units(weights: Floats, unit: float) -> Floats:
    """Return positive weights divided by a unit, without those that vanish beside the largest."""
    largest = float(weights.max())
    refuse_far_weights(largest, unit)
    weights = weights / unit
    return np.where(weights < NOTHING * (largest / unit), 0.0, weights)


def refuse_far_weights(largest: float, unit: float = 1.0) -> None:
    """Raise an error for weights that cannot be compared with others.

    Examples
    --------
    >>> refuse_far_weights(1e3)
    >>> refuse_far_weights(1e305)
    Traceback (most recent call last):
    ...
    ValueError: sample_weight has values up to 1e+305, which cannot be compared with weights around 1 of other samples;
    use weights between 9.33e-302 and 1.07e+301 in all batches or partitions, or 0 to exclude samples.
    """
    least, most = unit / FAR, min(unit * FAR, sys.float_info.max)
    if not least <= largest <= most:
        raise ValueError(
            f"sample_weight has values up to {largest:g}, which cannot be compared with weights around {unit:g} of "
            f"other samples; use weights between {least:.3g} and {most:.3g} in all batches or partitions, or 0 to "
            "exclude samples."
        )


def read_samples(estimator: Any, X: Any, *, reset: bool = False, learning: bool = False, **options: Any) -> Array:
    """Validate samples by scikit-learn's ``validate_data`` and return them in single or double precision.

    Squares of the values must not overflow and, with ``learning``, must not underflow. Samples in single precision for
    which this does not hold are returned in double precision, which holds the squares of all of them.

    Parameters
    ----------
    estimator : estimator
        Estimator that receives the samples.
    X : array-like of shape (n, d)
        The samples.
    reset : bool, default=False
        Whether names and number of features are stored instead of compared with the stored ones.
    learning : bool, default=False
        Whether the samples are used for training.
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
    ValueError: X has values up to 1e+200, whose squares are too large for float64; rescale X, or remove outliers.
    """
    with hinted(estimator):
        samples = validate_data(estimator, X, dtype=[np.float64, np.float32], reset=reset, **options)
    return check_scale(samples) if learning else refuse_overflow(samples)


@contextmanager
def hinted(estimator: Any) -> Iterator[None]:
    r"""Add a hint to ``missing="partial"`` to errors about missing values in ``X``.

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
    """Raise an error for samples without any known value.

    Examples
    --------
    >>> refuse_empty_rows(np.array([[1.0, np.nan], [np.nan, np.nan]]))
    Traceback (most recent call last):
    ...
    ValueError: 1 samples of X have no known value (the first is row 1); remove them.
    """
    empty = np.isnan(X).all(axis=1)
    if empty.any():
        raise ValueError(
            f"{int(empty.sum())} samples of X have no known value (the first is row {empty.argmax()}); remove them."
        )


def check_scale(X: Array) -> Array:
    """Return training samples, widened as new ones are; raise an error if squares of values overflow or underflow.

    Examples
    --------
    >>> check_scale(np.array([[1e-200, 3e-200]]))
    Traceback (most recent call last):
    ...
    ValueError: X has no values above 3e-200, whose squares are too small for float64; rescale X.
    """
    X = _widened(X)
    check_range(largest_value(X), X.dtype, X.shape[1])
    return X


def check_range(largest: float, dtype: Any, n_features: int) -> None:
    """Raise an error if sums of squares of values up to the largest overflow or underflow.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.core.validation import check_range
    >>> check_range(5.0, np.float32, n_features=10)
    >>> check_range(1e30, np.float32, n_features=10)
    Traceback (most recent call last):
    ...
    ValueError: X has values up to 1e+30, whose squares are too large for float32; rescale X, or remove outliers.
    """
    example = np.empty((0, n_features), dtype)
    _refuse_tiny(example, largest)
    refuse_large(example, largest)


def in_range(X: Array) -> bool:
    """Return whether sums of squares of values up to the largest neither overflow nor underflow.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.core.validation import in_range
    >>> [in_range(np.array([[value]], np.float32)) for value in (0.0, 1.0, 1e-20, 1e20)]
    [True, True, False, False]
    """
    largest = largest_value(X)
    return largest == 0.0 or bool(_least(X.dtype) <= largest <= np.sqrt(_most(X)))


def refuse_underflow(X: Array) -> None:
    """Raise an error for samples whose squared distances, except for the largest ones, underflow.

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
    _refuse_tiny(X, largest_value(X))


def _refuse_tiny(X: Array, largest: float) -> None:
    limits = np.finfo(X.dtype)
    if 0.0 < largest < np.sqrt(limits.tiny) / limits.eps**0.25:
        raise ValueError(_too_small(X, largest))


def refuse_small(X: Array, largest: float, squared: bool = False) -> None:
    """Raise an error if most squares of dissimilarities underflow, or squared dissimilarities as they are.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.core.validation import refuse_small
    >>> refuse_small(np.zeros((1, 2), np.float32), 1e-20, squared=True)
    >>> refuse_small(np.zeros((1, 2), np.float32), 1e-20)
    Traceback (most recent call last):
    ...
    ValueError: X has no values above 1e-20, whose squares are too small for float32; rescale X.
    """
    least = np.finfo(X.dtype).tiny / np.finfo(X.dtype).eps ** 0.25
    if 0.0 < largest < (least if squared else np.sqrt(least)):
        raise ValueError(_too_small(X, largest, "which" if squared else "whose squares"))


def _too_small(X: Array, largest: float, which: str = "whose squares") -> str:
    return f"X has no values above {largest:g}, {which} are too small for {X.dtype}; rescale X."


def refuse_overflow(X: Array) -> Array:
    """Return samples; raise an error if their squared distances overflow.

    Samples in single precision whose squares overflow or underflow are returned in double precision.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.core.validation import refuse_overflow
    >>> refuse_overflow(np.array([[1.0, 2.0]]))
    array([[1., 2.]])
    >>> refuse_overflow(np.array([[1e300]]))
    Traceback (most recent call last):
    ...
    ValueError: X has values up to 1e+300, whose squares are too large for float64; rescale X, or remove outliers.
    """
    X = _widened(X)
    refuse_large(X, largest_value(X))
    return X


def _widened(X: Array) -> Array:
    """Return samples in double precision if they are in single precision, and their squares do not fit in it."""
    return X.astype(np.float64) if X.dtype == np.float32 and not in_range(X) else X


def refuse_large(X: Array, largest: float, squared: bool = False) -> None:
    """Raise an error if sums of values up to the largest, or of their squares, overflow.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.core.validation import refuse_large
    >>> refuse_large(np.zeros((1, 2), np.float32), 1e30, squared=True)
    >>> refuse_large(np.zeros((1, 2), np.float32), 1e30)
    Traceback (most recent call last):
    ...
    ValueError: X has values up to 1e+30, whose squares are too large for float32; rescale X, or remove outliers.
    """
    bound = _most(X)
    if largest > (bound if squared else np.sqrt(bound)):
        sums = "sums" if squared else "squares"
        raise ValueError(
            f"X has values up to {largest:g}, whose {sums} are too large for {X.dtype}; rescale X, or remove outliers."
        )


def _least(dtype: Any) -> float:
    """Return the largest value of samples below which too many digits of squares are lost."""
    limits = np.finfo(dtype)
    return float(np.sqrt(limits.tiny / limits.eps))


def _most(X: Array) -> float:
    """Return up to where sums over features do not overflow, of differences and products with two."""
    return float(np.finfo(X.dtype).max) / (8 * max(1, X.shape[1]))


def largest_value(X: Array) -> float:
    """Return the largest absolute value of the known values.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.core.validation import largest_value
    >>> largest_value(np.array([[1.0, -7.0], [np.nan, 2.0]]))
    7.0
    """
    return max(float(np.fmax.reduce(X, axis=None)), -float(np.fmin.reduce(X, axis=None)))


def require_memory(what: str, n_bytes: float, remedy: str) -> None:
    """Raise an error in advance for data that does not fit in memory.

    Examples
    --------
    >>> require_memory("A matrix of all pairs of 1000 samples", 8 * 1000**2, "use fewer samples")
    >>> require_memory("A matrix of all pairs", 1e18, "use fewer samples")
    Traceback (most recent call last):
    ...
    MemoryError: A matrix of all pairs needs 1e+09 GB of memory, but only ... GB are free; use fewer samples.
    """
    if n_bytes <= LEAST_BYTES:
        return
    available = available_memory()
    if n_bytes > available:
        raise MemoryError(
            f"{what} needs {n_bytes / 1e9:.3g} GB of memory, but only {available / 1e9:.3g} GB are free; {remedy}."
        )


def available_memory() -> float:
    """Return the number of bytes available without swapping; infinity if the system does not report it."""
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
