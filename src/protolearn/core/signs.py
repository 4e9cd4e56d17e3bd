"""The sign of an eigenvector or component, which is free, by a rule: the same picture on every machine."""

from __future__ import annotations

import numpy as np

from protolearn.core.types import Array

__all__ = ["largest_positive", "longer_side_positive"]


def largest_positive(vectors: Array, axis: int) -> Array:
    """Return vectors along an axis, each with the sign that makes its largest entry in size positive.

    Examples
    --------
    >>> import numpy as np
    >>> largest_positive(np.array([[1.0, -3.0], [2.0, 1.0]]), axis=1)
    array([[-1.,  3.],
           [ 2.,  1.]])
    """
    largest = np.take_along_axis(vectors, np.abs(vectors).argmax(axis=axis, keepdims=True), axis)
    return np.where(largest < 0, -vectors, vectors)


def longer_side_positive(points: Array) -> Array:
    """Return points (n, d) with the signs of coordinates that make the longer side of each positive, if one is longer.

    A picture as long to the left as to the right stays as it is, and `largest_positive` would turn it.

    Examples
    --------
    >>> import numpy as np
    >>> longer_side_positive(np.array([[-1.0, -3.0], [1.0, 2.0]]))
    array([[-1.,  3.],
           [ 1., -2.]])
    """
    return np.where(points.max(axis=0) < -points.min(axis=0), -points, points)
