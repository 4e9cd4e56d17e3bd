"""Choices among numbers that may be equal up to rounding: a rule decides, not the last bit."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from protolearn.core.types import Array, Floats

__all__ = ["first_lowest", "lower", "power_of_two", "settled_signs"]

TIED = 1e-9  # relative difference up to which two costs are equal: sums over many samples, however they are added up
SKEWED = 1e-6  # third moment, relative to that of the absolute values, from which on coordinates are not symmetric


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
    """Return the one of the lower cost, a function of both; the first if costs are equal up to rounding."""
    return (first, second)[first_lowest([cost(first), cost(second)])]


def power_of_two(number: float) -> float:
    """Return the power of two nearest to a number, by which others can be divided without rounding; 1 for zero.

    Examples
    --------
    >>> power_of_two(5.0)
    4.0
    """
    return float(2.0 ** np.round(np.log2(number))) if number > 0 else 1.0


def settled_signs(coordinates: Array, weights: ArrayLike | None = None, first: int = 0) -> Floats:
    """Return the signs (k,) that make coordinates (n, k) skewed to the right, or those of one sample if they are not.

    Eigenvectors have no sign of their own: a solver may return either.

    Examples
    --------
    >>> import numpy as np
    >>> settled_signs(np.array([[-1.0, -1.0], [-1.0, 0.0], [2.0, 1.0]]))
    array([ 1., -1.])
    """
    cubes = coordinates**3
    shares = np.ones(len(cubes)) if weights is None else np.asarray(weights)
    moments = shares @ cubes
    skewed = np.abs(moments) > SKEWED * (shares @ np.abs(cubes))
    return np.where(np.where(skewed, moments, coordinates[first]) < 0, -1.0, 1.0)
