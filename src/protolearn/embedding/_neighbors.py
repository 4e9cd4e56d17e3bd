"""The samples nearest to each, from vectors, dissimilarities or a graph."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from protolearn.embedding.affinities import Neighbors

__all__ = ["all_pairs", "graph_neighbors", "nearest_in_matrix", "nearest_vectors"]

Floats = NDArray[np.float64]


def all_pairs(squares: Floats) -> Neighbors:
    """Return all other samples as neighbours of each, from a matrix (n, n) of squared distances."""
    n = len(squares)
    return Neighbors(squares[~np.eye(n, dtype=bool)].reshape(n, n - 1), None)


def nearest_in_matrix(squares: Floats, k: int) -> Neighbors:
    """Return the k nearest others of each sample, from a matrix (n, n) of squared distances."""
    n = len(squares)
    others = squares.copy()
    np.fill_diagonal(others, np.inf)
    indices = np.argpartition(others, min(k, n - 1) - 1, axis=1)[:, :k]
    return Neighbors(np.take_along_axis(others, indices, axis=1), indices)


def nearest_vectors(X: NDArray[Any], k: int, n_jobs: int | None) -> Neighbors:
    """Return the k nearest others of each row of X."""
    from sklearn.neighbors import NearestNeighbors

    distances, indices = NearestNeighbors(n_neighbors=k, n_jobs=n_jobs).fit(X).kneighbors()
    return Neighbors(np.square(distances, dtype=np.float64), indices)


def graph_neighbors(graph: Any, squared: bool) -> Neighbors:
    """Return the neighbours that a sparse graph (n, n) of distances has stored, zeros among them."""
    counts = np.diff(graph.indptr)
    n, k = graph.shape[0], int(counts.max())
    squares, indices = np.full((n, k), np.inf), np.zeros((n, k), np.intp)
    places = np.arange(graph.nnz) - np.repeat(graph.indptr[:-1], counts)
    rows = np.repeat(np.arange(n), counts)
    squares[rows, places] = graph.data if squared else np.square(graph.data)
    indices[rows, places] = graph.indices
    return Neighbors(squares, indices)
