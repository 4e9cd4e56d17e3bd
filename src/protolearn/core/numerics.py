"""Choice among numbers that may be equal up to rounding, by a rule instead of the last bit."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from protolearn.core.types import Array, Floats

__all__ = [
    "alike",
    "decayed",
    "first_lowest",
    "flushed",
    "largest_positive",
    "longer_side_positive",
    "lower",
    "power_of_two",
    "row_space",
    "settled_signs",
    "white_axes",
    "without_constants",
]

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
    >>> from protolearn.core.numerics import lower
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


SKEWED = 1e-6  # third moment, relative to that of the absolute values, from which on coordinates are not symmetric


def largest_positive(vectors: Array, axis: int) -> Array:
    """Return vectors along an axis, each with the sign that makes its entry of largest absolute value positive.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.core.numerics import largest_positive
    >>> largest_positive(np.array([[1.0, -3.0], [2.0, 1.0]]), axis=1).tolist()
    [[-1.0, 3.0], [2.0, 1.0]]
    """
    largest = np.take_along_axis(vectors, np.abs(vectors).argmax(axis=axis, keepdims=True), axis)
    return np.where(largest < 0, -vectors, vectors)


def longer_side_positive(points: Array) -> Array:
    """Return points (n, d), each coordinate with the sign that makes its longer side positive; ties are left unchanged.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.core.numerics import longer_side_positive
    >>> longer_side_positive(np.array([[-1.0, -3.0], [1.0, 2.0]])).tolist()
    [[-1.0, 3.0], [1.0, -2.0]]
    """
    return np.where(points.max(axis=0) < -points.min(axis=0), -points, points)


def settled_signs(coordinates: Array, weights: ArrayLike | None = None, first: int = 0) -> Floats:
    """Return the signs (k,) that make coordinates (n, k) skewed to the right, or those of one sample if they are not.

    The sign of an eigenvector is arbitrary and depends on the solver.

    Examples
    --------
    >>> import numpy as np
    >>> settled_signs(np.array([[-1.0, -1.0], [-1.0, 0.0], [2.0, 1.0]]))
    array([ 1., -1.])
    """
    cubes = (coordinates / power_of_two(float(np.abs(coordinates).max(initial=0.0)))) ** 3  # which must not overflow
    shares = np.ones(len(cubes)) if weights is None else np.asarray(weights)
    moments = shares @ cubes
    skewed = np.abs(moments) > SKEWED * (shares @ np.abs(cubes))
    return np.where(np.where(skewed, moments, coordinates[first]) < 0, -1.0, 1.0)


def flushed(weights: Array, dtype: Any = None) -> Array:
    """Set weights below the smallest normal number of a type, their own by default, to zero, in place; return them.

    Examples
    --------
    >>> flushed(np.array([1.0, 1e-30, 1e-40], np.float32))
    array([1.e+00, 1.e-30, 0.e+00], dtype=float32)
    """
    weights[weights < np.finfo(weights.dtype if dtype is None else dtype).tiny] = 0.0
    return weights


def decayed(logs: Floats, dtype: Any = np.float64) -> Array:
    """Return weights of a type by their logarithms, zero below its smallest normal number.

    Examples
    --------
    >>> decayed(np.array([0.0, -80.0, -95.0]), np.float32)
    array([1.0000000e+00, 1.8048513e-35, 0.0000000e+00], dtype=float32)
    """
    return flushed(np.exp(logs).astype(dtype, copy=False))


FAINT = 1e-9  # spread of a direction relative to the largest, of columns with equal spreads, that may be rounding


def row_space(rows: Floats) -> Floats | None:
    """Return an orthonormal basis (N, r) of the space of rows (n, N), directions with most of them first.

    Lengths and angles of the rows are the same in its coordinates, ``rows @ basis``. None if all rows are zero.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.array([[3.0, 0.0, 4.0], [-3.0, 0.0, -4.0]])
    >>> np.abs(rows @ row_space(rows))
    array([[5.],
           [5.]])
    """
    _, sizes, directions = np.linalg.svd(rows, full_matrices=False)
    kept = sizes > max(rows.shape) * np.finfo(np.float64).eps * sizes.max(initial=0.0)
    return directions[kept].T if kept.any() else None


def without_constants(X: Floats) -> Floats:
    """Return samples (n, N) with mean zero; columns that are constant up to rounding are zero.

    Examples
    --------
    >>> import numpy as np
    >>> without_constants(np.array([[0.1, 1.0], [0.1, 2.0], [0.1, 3.0]]))
    array([[ 0., -1.],
           [ 0.,  0.],
           [ 0.,  1.]])
    """
    center = X.mean(axis=0)
    rows = X - center
    constant = np.abs(rows).max(axis=0) <= len(X) * np.finfo(np.float64).eps * np.abs(center)
    rows[:, constant] = 0.0
    return rows


def white_axes(rows: Floats) -> Floats:
    """Return axes (N, r) along which rows (n, N) have mean square one and are not correlated.

    There is none where rows do not differ: r is the number of columns, less one for each column that is zero or that
    depends linearly on others. The units of the columns do not matter.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.array([[1.0, 0.0, 4.0], [1.0, 0.0, 4.0], [-2.0, 0.0, -8.0]])
    >>> np.abs(rows @ white_axes(rows)).round(2)
    array([[0.71],
           [0.71],
           [1.41]])
    """
    largest = np.abs(rows).max(axis=0)
    units = largest * np.sqrt(np.square(rows / np.where(largest > 0, largest, 1.0)).mean(axis=0))
    units[units == 0] = np.inf
    _, sizes, directions = np.linalg.svd(rows / units, full_matrices=False)
    kept = sizes > FAINT * sizes.max(initial=0.0)
    return np.asarray(np.sqrt(len(rows)) * (directions[kept] / sizes[kept, None] / units).T)
