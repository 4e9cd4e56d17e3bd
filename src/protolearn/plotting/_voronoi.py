"""Receptive fields in the plane: Voronoi cells, clipped to a box."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from protolearn.core.types import Floats

__all__ = ["voronoi_cells"]


def voronoi_cells(points: ArrayLike, low: ArrayLike, high: ArrayLike) -> list[Floats]:
    """Return the corners (c, 2), counterclockwise, of the Voronoi cell of each point, clipped to a box.

    Unlike diagrams from Qhull, whose precision is limited by squared distances, these cells are correct for points that
    nearly coincide, such as unused prototypes.

    Parameters
    ----------
    points : array-like of shape (k, 2)
        Points inside the box; equal points have the same cell.
    low, high : array-like of shape (2,)
        Lower left and upper right corner of the box.

    Returns
    -------
    list of k arrays of shape (c, 2)
        Corners of the cells.

    Examples
    --------
    >>> left, right = voronoi_cells([[1, 1], [3, 1]], low=[0, 0], high=[4, 2])
    >>> left.min(axis=0), left.max(axis=0)
    (array([0., 0.]), array([2., 2.]))
    """
    points, low, high = (np.asarray(values, dtype=np.float64) for values in (points, low, high))
    box = np.array([low, [high[0], low[1]], high, [low[0], high[1]]])
    cells = [point + _cell_around_origin(points - point, box - point) for point in points]
    return [np.clip(cell, low, high) for cell in cells]


def _cell_around_origin(others: Floats, corners: Floats) -> Floats:
    """Cut from a convex polygon (c, 2) around the origin all that is nearer to another point (k, 2)."""
    squared = (others**2).sum(axis=1)
    for index in np.argsort(squared):
        if squared[index] > 4 * (corners**2).sum(axis=1).max():
            break  # from here on, the points are too far to reach the cell
        if squared[index] > 0:
            corners = _kept(corners, corners @ others[index] - squared[index] / 2)
    return corners


def _kept(corners: Floats, beyond: Floats) -> Floats:
    """Return what is left of a convex polygon (c, 2) cut along a line, the distances (c,) beyond which are given."""
    following, beyond_next = np.roll(corners, -1, axis=0), np.roll(beyond, -1)
    crosses = (beyond > 0) != (beyond_next > 0)
    way = np.divide(beyond, beyond - beyond_next, out=np.zeros_like(beyond), where=crosses)
    crossings = corners + way[:, None] * (following - corners)
    return np.stack([corners, crossings], axis=1)[np.column_stack([beyond <= 0, crosses])]
