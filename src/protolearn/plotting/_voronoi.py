"""Receptive fields in the plane: the part of a box that is nearer to one point than to all others."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial import Voronoi

__all__ = ["voronoi_cells"]

Floats = NDArray[np.float64]


def voronoi_cells(points: ArrayLike, low: ArrayLike, high: ArrayLike) -> list[Floats]:
    """Return the corners (c, 2), counterclockwise, of the Voronoi cell of each point, clipped to a box.

    Parameters
    ----------
    points : array-like of shape (k, 2)
        Points inside the box; equal points have the same cell.
    low, high : array-like of shape (2,)
        Lower left and upper right corner of the box.

    Returns
    -------
    list of k arrays of shape (c, 2)
        The cells.

    Examples
    --------
    >>> left, right = voronoi_cells([[1, 1], [3, 1]], low=[0, 0], high=[4, 2])
    >>> left.min(axis=0), left.max(axis=0)
    (array([0., 0.]), array([2., 2.]))
    """
    points, low, high = (np.asarray(values, dtype=np.float64) for values in (points, low, high))
    centre, size = (low + high) / 2, (high - low).max() / 2
    # Points that differ by rounding only are one point for the diagram.
    distinct, which = np.unique(np.round((points - centre) / size, 9), axis=0, return_inverse=True)
    edge = (high - low) / 2 / size
    # The border between a point and its image in a side of the box is that side, so the images clip the cells.
    images = [_mirrored(distinct, axis, side * edge[axis]) for axis in (0, 1) for side in (-1, 1)]
    diagram = Voronoi(np.concatenate([distinct, *images]))
    cells = [
        _counterclockwise(diagram.vertices[diagram.regions[region]], point)
        for point, region in zip(distinct, diagram.point_region)
    ]
    return [np.clip(centre + size * cells[index], low, high) for index in which.ravel()]


def _mirrored(points: Floats, axis: int, at: float) -> Floats:
    image = points.copy()
    image[:, axis] = 2 * at - image[:, axis]
    return image


def _counterclockwise(corners: Floats, inside: Floats) -> Floats:
    across, up = (corners - inside).T
    return corners[np.argsort(np.arctan2(up, across))]
