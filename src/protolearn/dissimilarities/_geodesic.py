"""Distances along the data: shortest paths from neighbor to neighbor."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from protolearn.core.neighbors import check_connected, first_nearest, first_smallest
from protolearn.core.parameters import integer
from protolearn.core.threads import Threads, chunk_threads
from protolearn.core.validation import require_memory
from protolearn.dissimilarities._blocks import Floats

__all__ = ["geodesic"]


def geodesic(X: Any, n_neighbors: int = 10, *, metric: str = "euclidean", n_jobs: int | None = None) -> Floats:
    """Geodesic distances: lengths of shortest paths in the graph that joins each object to its nearest neighbors.

    Parameters
    ----------
    X : array-like of shape (n, d), or (n, n) if ``metric="precomputed"``
        Vectors, or dissimilarities of objects.
    n_neighbors : int, default=10
        Neighbors that each object is joined to. The fewer, the closer paths follow the data; with too few, the graph
        falls apart.
    metric : str, default="euclidean"
        Distance to neighbors: ``"precomputed"`` or a name that scikit-learn's neighbors know.
    n_jobs : int, optional
        Number of threads that look for neighbors.

    Returns
    -------
    ndarray of shape (n, n)
        Distances, a metric.

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
    from scipy.sparse.csgraph import shortest_path

    integer(1, max(1, len(X) - 1)).check("n_neighbors", n_neighbors)
    graph = _neighbor_graph(X, n_neighbors, metric, n_jobs)
    check_connected(graph, n_neighbors)
    require_memory(f"Paths between all pairs of {len(X)} samples", 3 * 8 * len(X) ** 2, "use fewer samples")
    distances = shortest_path(graph, method="D", directed=False)
    return np.minimum(distances, distances.T)  # the two directions of a path are added up with different rounding


def _neighbor_graph(X: Any, k: int, metric: str, n_jobs: int | None) -> Any:
    """Return the distances of each sample to its nearest others as a sparse graph (n, n)."""
    from sklearn.neighbors import kneighbors_graph
    from sklearn.utils import check_array

    if metric not in ("euclidean", "precomputed"):
        return kneighbors_graph(X, k, mode="distance", metric=metric, n_jobs=n_jobs)
    given = check_array(X, dtype=np.float64)
    if metric == "euclidean":
        with chunk_threads(n_jobs) as n_threads:
            squares, indices = first_nearest(given, k, Threads(n_threads))
        lengths = np.sqrt(squares)
    else:
        indices = first_smallest(np.where(np.eye(len(given), dtype=bool), np.inf, given), k)
        lengths = np.take_along_axis(given, indices, axis=1)
    places, starts = (numbers.astype(np.int32) for numbers in (indices.ravel(), np.arange(0, indices.size + 1, k)))
    return csr_array((lengths.ravel(), places, starts), shape=(len(given),) * 2)
