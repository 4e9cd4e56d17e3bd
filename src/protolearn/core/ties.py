"""Choice among numbers that may be equal up to rounding, by a rule instead of the last bit."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from protolearn.core.types import Array

__all__ = ["alike", "first_lowest", "lower", "power_of_two"]

TIED = 1e-9  # relative difference up to which two costs are equal: sums over many samples, however they are added up


def alike(X: Array, computed: bool = False) -> bool:
    """Return whether all rows are the same; up to rounding, if they were computed by matrix products.

    Examples
    --------
    >>> rows = np.array([[0.1 + 0.2], [0.3]])
    >>> alike(rows), alike(rows, computed=True)
    (False, True)
    """
    if not computed:
        return bool((X[0] == X).all())
    return bool(np.abs(X - X[0]).max() <= 1000.0 * np.finfo(X.dtype).eps * np.abs(X).max())


def first_lowest(values: ArrayLike) -> int:
    """Return the index of the lowest value; of those that are equal up to rounding, of the first.

    Examples
    --------
    >>> first_lowest([3.0, 0.1 + 0.2, 0.3]), first_lowest([3.0, 0.31, 0.3])
    (1, 2)
    """
    given = np.asarray(values, dtype=np.float64)
    lowest = given.min()
    return int((given <= lowest + TIED * abs(lowest)).argmax())


def lower(first: Any, second: Any, cost: Any) -> Any:
    """Return the one of the lower cost, a function of both; the first if costs are equal up to rounding.

    Examples
    --------
    >>> from protolearn.core.ties import lower
    >>> lower("first", "second", {"first": 0.1 + 0.2, "second": 0.3}.get)  # equal but for rounding
    'first'
    """
    return (first, second)[first_lowest([cost(first), cost(second)])]


def power_of_two(number: float) -> float:
    """Return the power of two nearest to a number, by which others can be divided without rounding; 1 for zero.

    Examples
    --------
    >>> power_of_two(5.0)
    4.0
    """
    return float(2.0 ** np.round(np.log2(number))) if number > 0 else 1.0
