"""Geodesic distances: shortest paths in a neighborhood graph."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from protolearn.core.graphs import NeighborGraph, PointSet
from protolearn.core.neighbors import first_nearest
from protolearn.core.parameters import constrained, option
from protolearn.core.threads import Threads, chunk_threads
from protolearn.core.types import Array
from protolearn.core.validation import require_memory
from protolearn.dissimilarities._blocks import Floats

__all__ = ["geodesic", "shortest_paths"]


@constrained(components=option("raise", "connect"))
def geodesic(
    X: Any,
    n_neighbors: int = 10,
    *,
    radius: float | None = None,
    components: str = "raise",
    metric: str = "euclidean",
    n_jobs: int | None = None,
) -> Floats:
    """Return geodesic distances, the lengths of shortest paths in the graph of nearest neighbors.

    Parameters
    ----------
    X : array-like of shape (n, d), or (n, n) if ``metric="precomputed"``
        Vectors, or dissimilarities of objects.
    n_neighbors : int, default=10
        Number of neighbors to which each object is connected. With fewer neighbors, paths follow the data more closely;
        with too few, the graph is disconnected.
    radius : float, optional
        If given, objects up to this distance are connected, instead of ``n_neighbors`` neighbors.
    components : {"raise", "connect"}, default="raise"
        Treatment of a disconnected graph: ``"raise"`` raises an error; ``"connect"`` adds the shortest edges that
        connect its components, and issues a warning.
    metric : str, default="euclidean"
        Distance to neighbors: ``"precomputed"`` or a name that scikit-learn's ``pairwise_distances`` accepts.
    n_jobs : int, optional
        Number of threads of the neighbor search.

    Returns
    -------
    ndarray of shape (n, n)
        Geodesic distances, which are a metric.

    See Also
    --------
    protolearn.ClassicalMDS : Embeds the distances in the plane, as in Isomap.

    References
    ----------
    Tenenbaum, J., de Silva, V., Langford, J. (2000). A global geometric framework for nonlinear dimensionality
    reduction. Science 290, 2319-2323.

    Examples
    --------
    >>> from protolearn.dissimilarities import geodesic
    >>> geodesic([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.5]], n_neighbors=1)[0]
    array([0.        , 1.        , 2.        , 3.11803399])
    """
    neighborhood = NeighborGraph(n_neighbors, radius, components)
    with chunk_threads(n_jobs) as n_threads:
        graph = neighborhood.graph(_points(X, metric), partial(first_nearest, threads=Threads(n_threads)))
    return shortest_paths(graph)


def shortest_paths(graph: Any) -> Floats:
    """Return the lengths (n, n) of shortest paths in a graph of squared distances.

    Parameters
    ----------
    graph : sparse array of shape (n, n)
        Squared distances of neighbors, stored in one direction or in both.

    Returns
    -------
    ndarray of shape (n, n)
        Lengths of the paths; infinite if there is no path.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from protolearn.dissimilarities import shortest_paths
    >>> shortest_paths(csr_array([[0.0, 9.0, 0.0], [0.0, 0.0, 16.0], [0.0, 0.0, 0.0]]))[0]
    array([0., 3., 7.])
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import shortest_path

    n = graph.shape[0]
    require_memory(f"Paths between all pairs of {n} samples", 3 * 8 * n**2, "use fewer samples")
    lengths = csr_array((np.sqrt(graph.data), graph.indices, graph.indptr), shape=graph.shape)
    distances = shortest_path(lengths, method="D", directed=False)
    return np.minimum(distances, distances.T)  # the two directions of a path are added up with different rounding


def _points(X: Any, metric: str) -> PointSet:
    """Return vectors, measured from one of them, or squared distances of objects."""
    from sklearn.metrics import pairwise_distances
    from sklearn.utils import check_array

    if metric == "euclidean":
        vectors: Array = check_array(X, dtype=np.float64)
        return PointSet(vectors - vectors[0], None)
    given: Any = check_array(X, dtype=np.float64) if metric == "precomputed" else pairwise_distances(X, metric=metric)
    return PointSet(None, np.square(given))
