"""Subspace spanned by the samples, for data with more features than samples."""

from __future__ import annotations

import numpy as np

from protolearn.core.types import Floats

__all__ = ["row_space"]


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
