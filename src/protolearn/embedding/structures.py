"""Structure hypotheses: the sampling vectors among which XOM and SONE arrange the images of samples.

Each function returns an array (n_points, n_components) that is centered on the origin; any other array can be used as
well.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_array, check_random_state

from protolearn.core.parameters import constrained, integer, none, number, option, positive
from protolearn.core.types import Floats
from protolearn.core.validation import require_memory

__all__ = [
    "class_centers",
    "gaussian_mixture",
    "triangular_mesh",
    "uniform",
]

SHAPES = ("hexagon", "circle", "square")


@constrained(shape=option(*SHAPES), n_points=integer(1), spacing=positive)
def triangular_mesh(shape: str = "hexagon", n_points: int = 200, spacing: float = 1.0) -> Floats:
    """Return a triangular mesh that fills a shape in the plane.

    Parameters
    ----------
    shape : {"hexagon", "circle", "square"}, default="hexagon"
        Outline of the mesh.
    n_points : int, default=200
        Number of points: the innermost nodes of an infinite mesh, in the norm whose unit sphere is the outline.
    spacing : float, default=1.0
        Distance between neighboring points.

    Returns
    -------
    ndarray of shape (n_points, 2)
        Points, the innermost first.

    Examples
    --------
    >>> from protolearn.embedding.structures import triangular_mesh
    >>> triangular_mesh("hexagon", 7).round(2)
    array([[ 0.  ,  0.  ],
           [-1.  ,  0.  ],
           [-0.5 , -0.87],
           [-0.5 ,  0.87],
           [ 0.5 , -0.87],
           [ 0.5 ,  0.87],
           [ 1.  ,  0.  ]])
    """
    _require_points(n_points, 2)
    reach = np.arange(-np.ceil(np.sqrt(n_points)) - 1, np.ceil(np.sqrt(n_points)) + 2)  # enough for each outline
    row, col = np.meshgrid(reach, reach, indexing="ij")
    nodes = np.column_stack([(col + (row % 2) / 2.0).ravel(), row.ravel() * np.sqrt(3.0) / 2.0])
    keys = np.column_stack([nodes[:, ::-1], np.hypot(*nodes.T), _radius(nodes, shape)])
    return spacing * nodes[np.lexsort(keys.round(9).T)[:n_points]]  # rounding must not break ties


@constrained(n_points=integer(1), n_components=integer(1), side=positive | none)
def uniform(
    n_points: int = 200, n_components: int = 2, *, side: float | None = None, random_state: Any = None
) -> Floats:
    """Return points drawn uniformly from a box.

    Parameters
    ----------
    n_points : int, default=200
        Number of points.
    n_components : int, default=2
        Number of dimensions of the box.
    side : float, optional
        Side length of the box; by default such that there is one point per unit of volume.
    random_state : int, RandomState instance or None, default=None
        Seed of the random points.

    Returns
    -------
    ndarray of shape (n_points, n_components)
        Random points.

    Examples
    --------
    >>> from protolearn.embedding.structures import uniform
    >>> points = uniform(1000, 3, random_state=0)
    >>> points.shape, bool(abs(points).max() <= 5)
    ((1000, 3), True)
    """
    _require_points(n_points, n_components)
    if side is None:
        side = n_points ** (1.0 / n_components)
    return check_random_state(random_state).uniform(-side / 2.0, side / 2.0, (n_points, n_components))


@constrained(n_points=integer(1), spread=number(0))
def gaussian_mixture(
    centers: ArrayLike, n_points: int = 200, *, spread: float = 1.0, random_state: Any = None
) -> Floats:
    """Return points drawn from a mixture of isotropic Gaussians, one for each expected group.

    Parameters
    ----------
    centers : array-like of shape (n_groups, n_components)
        Centers of the Gaussians, such as those from `class_centers`.
    n_points : int, default=200
        Number of points, divided as equally as possible among the Gaussians.
    spread : float, default=1.0
        Standard deviation of each Gaussian.
    random_state : int, RandomState instance or None, default=None
        Seed of the random points.

    Returns
    -------
    ndarray of shape (n_points, n_components)
        Random points; point ``i`` belongs to Gaussian ``i % n_groups``.

    Examples
    --------
    >>> from protolearn.embedding.structures import class_centers, gaussian_mixture
    >>> points = gaussian_mixture(class_centers(3, spacing=10.0), 300, random_state=0)
    >>> points[::3].mean(axis=0).round()
    array([6., 0.])
    """
    means = check_array(centers, dtype=np.float64, input_name="centers")
    _require_points(n_points, means.shape[1])
    noise = check_random_state(random_state).normal(scale=spread, size=(n_points, means.shape[1]))
    return means[np.arange(n_points) % len(means)] + noise


@constrained(n_classes=integer(2), n_components=integer(1), spacing=positive)
def class_centers(n_classes: int, n_components: int = 2, spacing: float = 1.0) -> Floats:
    """Return equidistant points: the vertices of a regular polygon, or of a simplex if there are enough dimensions.

    Parameters
    ----------
    n_classes : int
        Number of points.
    n_components : int, default=2
        Number of dimensions. If it is less than ``n_classes - 1``, the points are the vertices of a polygon in the
        first two dimensions, or lie on a line if there is only one.
    spacing : float, default=1.0
        Distance between neighboring points.

    Returns
    -------
    ndarray of shape (n_classes, n_components)
        Positions of the points.

    Examples
    --------
    >>> from protolearn.embedding.structures import class_centers
    >>> class_centers(4, spacing=2.0).round(6) + 0.0
    array([[ 1.414214,  0.      ],
           [ 0.      ,  1.414214],
           [-1.414214,  0.      ],
           [ 0.      , -1.414214]])
    """
    centers = np.zeros((n_classes, n_components))
    if n_components == 1:
        centers[:, 0] = np.arange(n_classes) - (n_classes - 1) / 2.0
    elif n_components < n_classes - 1 or n_classes <= 3:
        angles = 2.0 * np.pi * np.arange(n_classes) / n_classes
        radius = 1.0 / (2.0 * np.sin(np.pi / n_classes))
        centers[:, :2] = radius * np.column_stack([np.cos(angles), np.sin(angles)])
    else:
        centers[:, : n_classes - 1] = _simplex(n_classes)
    return spacing * centers


def _radius(nodes: Floats, shape: str) -> Floats:
    """Return the size of the outline around the origin that each node (k, 2) lies on."""
    if shape == "circle":
        return np.hypot(*nodes.T)
    if shape == "square":
        return np.abs(nodes).max(axis=1)
    angles = np.pi / 3.0 * np.arange(3) + np.pi / 6.0  # normals of the sides
    return np.abs(nodes @ np.array([np.cos(angles), np.sin(angles)])).max(axis=1)


def _simplex(n_corners: int) -> Floats:
    """Return the corners (k, k - 1) of a regular simplex with edges of length one."""
    corners = np.eye(n_corners) / np.sqrt(2.0)
    axes = np.linalg.svd(corners - corners.mean(axis=0))[2][:-1]
    return (corners - corners.mean(axis=0)) @ axes.T


def _require_points(n_points: int, n_components: int) -> None:
    require_memory(f"A structure of {n_points:,} points", 16 * 8 * n_points * n_components, "use fewer points")
