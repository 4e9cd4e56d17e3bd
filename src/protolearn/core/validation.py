"""Checks of parameters and samples whose messages name what was wrong, what was given and what to do."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_array

__all__ = [
    "check_flags",
    "check_number",
    "check_option",
    "check_part",
    "check_running",
    "check_weights",
    "given_array",
]


def check_number(
    name: str,
    value: Any,
    *,
    integer: bool = False,
    low: float = -np.inf,
    high: float = np.inf,
    open_low: bool = False,
    also: str = "",
) -> None:
    """Require a finite number between two bounds.

    Examples
    --------
    >>> check_number("decay", 1.5, low=0, high=1, open_low=True)
    Traceback (most recent call last):
    ...
    ValueError: decay=1.5 must be a number in (0, 1].
    """
    kind = Integral if integer else Real
    number = isinstance(value, kind) and not isinstance(value, bool)
    if not number or not np.isfinite(value) or not low <= value <= high or (open_low and value == low):
        opening = "(" if open_low or not np.isfinite(low) else "["
        bracket = f"{opening}{low:g}, {high:g}{']' if np.isfinite(high) else ')'}"
        raise ValueError(f"{name}={value!r} must be {'an integer' if integer else 'a number'} in {bracket}{also}.")


def check_option(name: str, value: Any, options: Sequence[str], also: str = "") -> None:
    """Require one of a few strings.

    Examples
    --------
    >>> check_option("winner", "best", ("heskes", "nearest"))
    Traceback (most recent call last):
    ...
    ValueError: winner='best' must be one of 'heskes', 'nearest'.
    """
    if not (isinstance(value, str) and value in options):
        raise ValueError(f"{name}={value!r} must be one of {', '.join(map(repr, options))}{also}.")


def check_flags(estimator: Any, *names: str) -> None:
    """Require True or False of some parameters.

    Examples
    --------
    >>> from protolearn import GLVQ
    >>> check_flags(GLVQ(warm_start="no"), "warm_start")
    Traceback (most recent call last):
    ...
    ValueError: warm_start='no' must be True or False.
    """
    for name in names:
        if not isinstance(getattr(estimator, name), bool | np.bool_):
            raise ValueError(f"{name}={getattr(estimator, name)!r} must be True or False.")


def check_running(estimator: Any) -> None:
    """Require a number of threads, and a degree of verbosity, of an estimator that has such parameters.

    Examples
    --------
    >>> from protolearn import TSNE
    >>> check_running(TSNE(verbose=True))
    >>> check_running(TSNE(n_jobs="x"))
    Traceback (most recent call last):
    ...
    ValueError: n_jobs='x' must be an integer in (-inf, inf) or None.
    """
    if getattr(estimator, "n_jobs", None) is not None:
        check_number("n_jobs", estimator.n_jobs, integer=True, also=" or None")
    verbose = getattr(estimator, "verbose", False)
    if not isinstance(verbose, bool | np.bool_):
        check_number("verbose", verbose, low=0, also=", True or False")


def check_part(name: str, value: Any, method: str = "fit") -> None:
    """Require an object, not a class, that has a method.

    Examples
    --------
    >>> check_part("estimator", "gas")
    Traceback (most recent call last):
    ...
    TypeError: estimator='gas' is not an estimator with fit.
    """
    if isinstance(value, type) or not hasattr(value, method):
        raise TypeError(f"{name}={value!r} is not an estimator with {method}.")


def given_array(name: str, value: Any, **options: Any) -> NDArray[Any]:
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


def check_weights(sample_weight: ArrayLike | None, n_samples: int, dtype: Any) -> NDArray[Any]:
    """Return sample weights (n,) as an array, ones by default; they must be finite, not negative, and not all zero."""
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
