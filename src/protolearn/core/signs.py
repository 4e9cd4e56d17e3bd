"""Rules for the arbitrary signs of eigenvectors and components, which make results reproducible.

>>> import numpy as np
>>> largest_positive(np.array([[1.0, -3.0], [2.0, 1.0]]), axis=1).tolist()
[[-1.0, 3.0], [2.0, 1.0]]
>>> longer_side_positive(np.array([[-1.0, -3.0], [1.0, 2.0]])).tolist()
[[-1.0, 3.0], [1.0, -2.0]]
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from protolearn.core.ties import power_of_two
from protolearn.core.types import Array, Floats

__all__ = ["largest_positive", "longer_side_positive", "settled_signs"]

SKEWED = 1e-6  # third moment, relative to that of the absolute values, from which on coordinates are not symmetric


def largest_positive(vectors: Array, axis: int) -> Array:
    """Return vectors along an axis, each with the sign that makes its entry of largest absolute value positive.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.core.signs import largest_positive
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
    >>> from protolearn.core.signs import longer_side_positive
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
