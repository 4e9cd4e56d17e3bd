"""Search for the nearest neighbors of samples, from vectors, dissimilarities or a graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from protolearn.core.chunks import cut
from protolearn.core.convergence import unfinished
from protolearn.core.neighbors import first_in_matrix, first_nearest, squares_to
from protolearn.core.threads import Threads
from protolearn.core.ties import power_of_two
from protolearn.core.types import Array, Floats
from protolearn.dissimilarities import Dissimilarities
from protolearn.embedding.neighbor.affinities import Neighbors

__all__ = [
    "MANY",
    "all_pairs",
    "graph_neighbors",
    "nearest_by_cells",
    "nearest_by_landmarks",
    "nearest_in_matrix",
    "nearest_vectors",
]


MANY = 15_000  # rows from which not all pairs are compared
CELLS = 1.0  # times the square root of the rows
PROBED = 0.06  # share of the cells that are searched for each row, besides those that are needed to find enough
MOST_PROBED = 20  # cells of that share: of more and smaller cells, as many hold as many of the nearest
CANDIDATES = 10  # times the neighbors asked for
ROWS = 2048  # compared at a time
BLOCK = 1 << 16  # rows of which distances are in double precision
N_SPANS = 16  # of rows that are searched together, so that neighbors do not depend on the number of threads


def all_pairs(squares: Floats) -> Neighbors:
    """Return all other samples as neighbors of each, from a matrix (n, n) of squared distances."""
    n = len(squares)
    return Neighbors(squares[~np.eye(n, dtype=bool)].reshape(n, n - 1), None)


def nearest_in_matrix(squares: Floats, k: int) -> Neighbors:
    """Return the k nearest others of each sample, from a matrix (n, n) of squared distances."""
    return Neighbors(*first_in_matrix(squares, min(k, len(squares) - 1)))


def nearest_vectors(X: Array, k: int, threads: Threads, rng: np.random.RandomState) -> Neighbors:
    """Return the k nearest others of each row of X; of many rows nearly all of the nearest, in nearly linear time."""
    if len(X) > MANY:
        return nearest_by_cells(X, k, threads, rng)
    return Neighbors(*first_nearest(X, k, threads))


def nearest_by_cells(
    X: Array, k: int, threads: Threads, rng: np.random.RandomState, *, manhattan: bool = False
) -> Neighbors:
    """Search neighbors of each row, by Euclidean or Manhattan distance, in its nearest k-means cells."""
    from protolearn.maps import KMeans

    n = len(X)
    X = X - X.mean(axis=0)
    unit = power_of_two(np.abs(X).max())
    X = np.ascontiguousarray(X / unit, dtype=np.float32)
    n_cells = int(CELLS * np.sqrt(n))
    sample = X[rng.choice(n, min(n, 30 * n_cells), replace=False)]
    cells = KMeans(n_cells, init="random", max_iter=5, empty="reseed", n_jobs=threads.n, random_state=rng)
    with unfinished():
        centers = cells.fit(sample).prototypes_
    if manhattan:
        return _nearest_city_blocks(X, centers, k, threads, unit)
    half_norms, half_center_norms = 0.5 * (X * X).sum(axis=1), 0.5 * (centers * centers).sum(axis=1)

    def to_centers(rows: slice) -> Floats:
        return half_center_norms - X[rows] @ centers.T

    def between(some: Array, others: Array) -> Floats:
        return half_norms[others] - X[some] @ X[others].T

    _, found = _search(n, n_cells, k, to_centers, between, threads)
    squares = np.empty(found.shape, np.float32)
    for rows in cut(n, BLOCK):
        squares[rows] = squares_to(X[rows], X, found[rows], threads) * unit**2
    return Neighbors(squares, found)


def nearest_by_landmarks(source: Dissimilarities, k: int, rng: np.random.RandomState) -> Neighbors:
    """Search neighbors of each object among those that share its nearest landmarks, objects drawn at random."""
    n, every = len(source), np.arange(len(source))
    n_cells = int(CELLS * np.sqrt(n))
    landmarks = np.sort(rng.choice(n, n_cells, replace=False))
    distances, found = _search(
        n, n_cells, k, lambda rows: source.block(every[rows], landmarks), source.block, Threads(), dtype=np.float64
    )
    return Neighbors(np.square(distances), found)


def _nearest_city_blocks(X: Array, centers: Array, k: int, threads: Threads, unit: float) -> Neighbors:
    """Search by Manhattan distance, for which k-means cells are less informative, so more of them are searched."""
    from protolearn.embedding.neighbor._kernels import city_blocks

    every, every_center = np.arange(len(X)), np.arange(len(centers))

    def distances(some: Array, others: Array, members: Array) -> Array:
        block = np.empty((len(some), len(members)), np.float32)
        city_blocks(X, some, others, members, block)
        return block

    def to_centers(rows: slice) -> Array:
        return distances(every[rows], centers, every_center)

    def between(some: Array, others: Array) -> Array:
        return distances(some, X, others)

    nearest, found = _search(len(X), len(centers), k, to_centers, between, threads, effort=2)
    return Neighbors(np.square(nearest.astype(np.float64) * unit), found)


def _search(
    n: int,
    n_cells: int,
    k: int,
    to_centers: Callable[[slice], Array],
    between: Callable[[Array, Array], Array],
    threads: Threads,
    *,
    effort: int = 1,
    dtype: Any = np.float32,
) -> tuple[Array, Array]:
    """Return distances (n, k) to the nearest neighbors found in the nearest cells, and their indices.

    ``to_centers`` returns the distances (r, n_cells) of some rows to the centers, ``between`` those (a, b) of some rows
    to others. ``effort`` times as many cells as usual are searched. Rows with too few candidates are compared with all.
    """
    from protolearn.embedding.neighbor._kernels import offer_neighbors

    share = int(np.ceil(effort * min(MOST_PROBED, PROBED * n_cells)))
    n_probes = min(n_cells, share + CANDIDATES * k * n_cells // n)
    nearby, labels = np.empty((n, n_probes), np.int32), np.empty(n, np.intp)

    def probe(first: int, last: int) -> None:
        for rows in cut(last, ROWS, first):
            distances = to_centers(rows)
            nearby[rows] = np.argpartition(distances, n_probes - 1, axis=1)[:, :n_probes]
            labels[rows] = distances.argmin(axis=1)

    threads.over(n, probe, ..., step=ROWS)
    members = np.split(np.argsort(labels, kind="stable"), np.cumsum(np.bincount(labels, minlength=n_cells))[:-1])
    nearest, found, counts = np.empty((n, k), dtype), np.empty((n, k), np.int32), np.zeros(n, np.int64)

    span = -(-n // N_SPANS)

    def search(first: int, last: int) -> None:
        for rows in cut(last, span, first):
            asked = np.argsort(nearby[rows], axis=None, kind="stable")
            ends = np.cumsum(np.bincount(nearby[rows].ravel(), minlength=n_cells))[:-1]
            for queries, others in zip(np.split(rows.start + asked // n_probes, ends), members):
                if len(others):
                    for part in cut(len(queries), ROWS):
                        some = queries[part]
                        offer_neighbors(between(some, others), some, others, nearest, found, counts)

    threads.over(n, search, ..., step=span)
    lonely, everyone = np.flatnonzero(counts < k), np.arange(n)
    counts[lonely] = 0
    for part in cut(len(lonely), ROWS):
        offer_neighbors(between(lonely[part], everyone), lonely[part], everyone, nearest, found, counts)
    return nearest, found


def graph_neighbors(graph: Any, squared: bool) -> Neighbors:
    """Return the neighbors that a sparse graph (n, n) of distances has stored, zeros among them."""
    counts = np.diff(graph.indptr)
    n, k = graph.shape[0], int(counts.max())
    squares, indices = np.full((n, k), np.inf), np.zeros((n, k), np.intp)
    places = np.arange(graph.nnz) - np.repeat(graph.indptr[:-1], counts)
    rows = np.repeat(np.arange(n), counts)
    squares[rows, places] = graph.data if squared else np.square(graph.data)
    indices[rows, places] = graph.indices
    return Neighbors(squares, indices)
