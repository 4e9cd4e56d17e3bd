"""Subspace spanned by the samples: directions in which no two samples differ are left out."""

from __future__ import annotations

import numpy as np

from protolearn.core.types import Floats

__all__ = ["row_space", "white_axes", "without_constants"]


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
