"""Sources of samples: vectors, pairs or graphs, which find the neighbors of training samples and of new ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from scipy import sparse

from protolearn.core.estimator import unfinished
from protolearn.core.neighbors import first_in_matrix, first_nearest, first_smallest, squares_to
from protolearn.core.numerics import power_of_two
from protolearn.core.threads import HELD, Threads, cut, row_blocks
from protolearn.core.types import Array, Floats
from protolearn.dissimilarities import Dissimilarities, directions
from protolearn.embedding._base import ViewSamples, squares_of
from protolearn.embedding._start import classical_scaling, principal_components
from protolearn.embedding.affinities import Neighbors
from protolearn.maps import Winner

__all__ = [
    "MANY",
    "OF_SPARSE",
    "Angles",
    "Graph",
    "NeighborSpace",
    "ObjectSpace",
    "PairSpace",
    "SparseRows",
    "Vectors",
    "Weighted",
    "all_pairs",
    "graph_neighbors",
    "nearest_by_cells",
    "nearest_by_landmarks",
    "nearest_in_matrix",
    "nearest_vectors",
]

OF_SPARSE = ("euclidean", "cosine", "pearson", "tanimoto", "jaccard", "hamming", "manhattan")  # metrics of sparse rows


KINDS = {"tanimoto": 1, "jaccard": 1, "hamming": 2, "manhattan": 3}  # of sums over what two rows share, 0 for others


CALL_PAIRS = 10**7  # of rows in one call of a compiled loop: a fraction of a second


CSR = ("data", "indices", "indptr")


RandomState = np.random.RandomState


class NeighborSpace(Protocol):
    """Samples that find their neighbors, and the unit of their distances."""

    @property
    def unit(self) -> float:
        """Factor that distances are multiplied by."""

    def __len__(self) -> int: ...

    def all_neighbors(self) -> Neighbors:
        """Return all others of each sample, or as many as are known."""

    def neighbors(self, k: int, threads: Threads, rng: RandomState) -> Neighbors:
        """Return the k nearest others of each sample, or as many as are known."""

    def neighbors_of(self, new: Any, k: int, threads: Threads) -> Neighbors:
        """Return the k nearest samples of each new one, the nearest first."""

    def start(self, d: int, rng: RandomState) -> Floats | None:
        """Return coordinates (n, d) that show most of the distances, or None if that is not possible."""

    def kept(self) -> NeighborSpace:
        """Return what new samples need."""

    def same_as(self, other: Any) -> bool:
        """Return whether another space is known to hold the same samples."""


@dataclass(frozen=True)
class Vectors:
    """Samples as vectors, with Euclidean distances.

    Parameters
    ----------
    samples : Samples
        Vectors in a unit of their own.
    see : callable, optional
        Function that converts new samples to vectors.
    """

    samples: ViewSamples
    see: Callable[[Any], Array] | None = None

    def __len__(self) -> int:
        return len(self._vectors)

    @property
    def unit(self) -> float:
        return self.samples.unit

    @property
    def _vectors(self) -> Array:
        assert self.samples.vectors is not None
        return self.samples.vectors

    def all_neighbors(self) -> Neighbors:
        return all_pairs(self.samples.all_squares())

    def neighbors(self, k: int, threads: Threads, rng: RandomState) -> Neighbors:
        return nearest_vectors(self._vectors, k, threads, rng)

    def neighbors_of(self, new: Any, k: int, threads: Threads) -> Neighbors:
        vectors = new if self.see is None else self.see(new)
        return Neighbors(*first_nearest(self._vectors, k, threads, new=(vectors - self.samples.origin) / self.unit))

    def start(self, d: int, rng: RandomState) -> Floats:
        return principal_components(self._vectors, d, rng)

    def kept(self) -> Vectors:
        return self

    def same_as(self, other: Any) -> bool:
        if not isinstance(other, Vectors) or self.unit != other.unit:
            return False
        return np.array_equal(self.samples.origin, other.samples.origin) and np.array_equal(
            self._vectors, other._vectors
        )


@dataclass(frozen=True)
class Angles:
    """Samples as vectors of length one, whose dissimilarities are half their squared distances.

    Parameters
    ----------
    vectors : ndarray of shape (n, d)
        Vectors of length one.
    metric : {"cosine", "pearson"}
        Dissimilarity by which new samples are normalized.
    """

    vectors: Floats
    metric: str
    unit: float = 1.0

    def __len__(self) -> int:
        return len(self.vectors)

    def all_neighbors(self) -> Neighbors:
        return _halved(all_pairs(ViewSamples(self.vectors, None, 1.0).all_squares()))

    def neighbors(self, k: int, threads: Threads, rng: RandomState) -> Neighbors:
        return _halved(nearest_vectors(self.vectors, k, threads, rng))

    def neighbors_of(self, new: Any, k: int, threads: Threads) -> Neighbors:
        return _halved(Neighbors(*first_nearest(self.vectors, k, threads, new=directions(new, self.metric))))

    def start(self, d: int, rng: RandomState) -> Floats:
        return principal_components(self.vectors, d, rng)

    def kept(self) -> Angles:
        return self

    def same_as(self, other: Any) -> bool:
        return isinstance(other, Angles) and np.array_equal(self.vectors, other.vectors)


@dataclass(frozen=True)
class SparseRows:
    """Samples as the rows of a sparse table, whose distances follow from what two rows share.

    Parameters
    ----------
    rows : csr_array of shape (n, d)
        Samples; of length one for ``"cosine"`` and ``"pearson"``.
    norms, shifts : ndarray of shape (n,)
        Distances to zero: squared lengths, counts or sums; and for ``"pearson"`` what the mean of each row takes off
        its products.
    metric : str
        One of `OF_SPARSE`.
    unit : float
        Factor that distances are multiplied by.
    """

    rows: Any
    norms: Floats
    shifts: Floats
    metric: str
    unit: float = 1.0

    @classmethod
    def of(cls, X: Any, metric: str, unit: float = 1.0) -> SparseRows:
        """Return the samples in a table (n, d)."""
        rows = sparse.csr_array(X, dtype=np.float64, copy=True)
        rows.eliminate_zeros()
        if metric == "jaccard":
            rows.data[:] = 1.0
        rows.data /= unit
        shifts = np.zeros(rows.shape[0])
        if metric == "pearson":
            shifts = rows.sum(axis=1) / np.sqrt(rows.shape[1])
        if metric == "hamming":
            return cls(rows, np.diff(rows.indptr).astype(np.float64), shifts, metric, unit)
        if metric == "manhattan":
            return cls(rows, abs(rows).sum(axis=1), shifts, metric, unit)
        norms = rows.multiply(rows).sum(axis=1) - shifts**2
        if metric in ("cosine", "pearson"):
            lost = norms <= 1e-28 * shifts**2
            if lost.any():
                what = "zero; there is no angle to it" if metric == "cosine" else "constant; it has no correlation"
                raise ValueError(f"X[{lost.argmax()}] is {what}. Drop such rows, or use another metric.")
            scales = 1.0 / np.sqrt(norms)
            rows, shifts, norms = rows * scales[:, None], shifts * scales, np.ones_like(norms)
        return cls(sparse.csr_array(rows), norms, shifts, metric, unit)

    def __len__(self) -> int:
        return self.rows.shape[0]

    def all_neighbors(self) -> Neighbors:
        return self._nearest(self, len(self) - 1, Threads(), 0)

    def neighbors(self, k: int, threads: Threads, rng: RandomState) -> Neighbors:
        return self._nearest(self, k, threads, 0)

    def neighbors_of(self, new: Any, k: int, threads: Threads) -> Neighbors:
        others = SparseRows.of(new, self.metric, self.unit)
        return self._nearest(others, k, threads, len(others))

    def _nearest(self, rows: SparseRows, k: int, threads: Threads, names_from: int) -> Neighbors:
        """Return the nearest of these to other rows, or to the same if names begin with 0, the nearest first."""
        from protolearn.embedding._kernels import offer_sparse

        n, m = len(self), len(rows)
        columns, names = self.rows.tocsc(), np.arange(names_from, names_from + n)
        nearest, found, counts = np.empty((m, k)), np.empty((m, k), np.int32), np.zeros(m, np.int64)
        given = rows.rows.indptr, rows.rows.indices, rows.rows.data, rows.norms, rows.shifts
        known = (columns.indptr, columns.indices, columns.data), self.norms, self.shifts
        kind = KINDS.get(self.metric, 0)
        threads.over(
            m, offer_sparse, *given, *known, kind, names, ..., nearest, found, counts, most=max(1, CALL_PAIRS // n)
        )
        order = np.lexsort((found, nearest), axis=1)
        nearest, found = np.take_along_axis(nearest, order, axis=1), np.take_along_axis(found, order, axis=1)
        squares = Neighbors(nearest, found - names_from)
        if self.metric == "euclidean":
            return squares
        if self.metric == "hamming":
            nearest = nearest / self.rows.shape[1]
        return Neighbors(np.square(nearest), squares.indices) if kind else _halved(squares)

    def start(self, d: int, rng: RandomState) -> Floats:
        return principal_components(self.rows, d, rng)

    def kept(self) -> SparseRows:
        return self

    def same_as(self, other: Any) -> bool:
        if not isinstance(other, SparseRows) or (self.unit, self.metric) != (other.unit, other.metric):
            return False
        if self.rows.shape != other.rows.shape:
            return False
        return all(np.array_equal(getattr(self.rows, name), getattr(other.rows, name)) for name in CSR)


@dataclass(frozen=True)
class ObjectSpace:
    """Samples that are compared on demand: too many for the dissimilarities of all pairs.

    Parameters
    ----------
    source : Dissimilarities
        Objects and how they are compared.
    """

    source: Dissimilarities
    unit: float = 1.0

    def __len__(self) -> int:
        return len(self.source)

    def all_neighbors(self) -> Neighbors:
        raise NotImplementedError

    def neighbors(self, k: int, threads: Threads, rng: RandomState) -> Neighbors:
        if self.source.metric == "manhattan":
            return nearest_by_cells(np.asarray(self.source.data), k, threads, rng, manhattan=True)
        return nearest_by_landmarks(self.source, k, rng)

    def neighbors_of(self, new: Any, k: int, threads: Threads) -> Neighbors:
        return PairSpace(len(self), 1.0, see=self.source.from_new).neighbors_of(new, k, threads)

    def start(self, d: int, rng: RandomState) -> None:
        return None

    def kept(self) -> ObjectSpace:
        return self

    def same_as(self, other: Any) -> bool:
        return False


@dataclass(frozen=True)
class PairSpace:
    """Samples by the dissimilarities of all pairs.

    Parameters
    ----------
    n : int
        Number of samples.
    unit : float
        Factor that distances are multiplied by.
    squares : ndarray of shape (n, n), optional
        Squared distances in this unit, of each sample (row) to others; not needed for new samples.
    squared : bool
        Whether dissimilarities of new samples are squared distances.
    see : callable, optional
        Function that returns the dissimilarities (m, n) of new samples to these.
    """

    n: int
    unit: float
    squares: Floats | None = None
    squared: bool = False
    see: Callable[[Any], Array] | None = None

    def __len__(self) -> int:
        return self.n

    @property
    def _pairs(self) -> Floats:
        assert self.squares is not None
        return self.squares

    def all_neighbors(self) -> Neighbors:
        return all_pairs(self._pairs)

    def neighbors(self, k: int, threads: Threads, rng: RandomState) -> Neighbors:
        return nearest_in_matrix(self._pairs, k)

    def neighbors_of(self, new: Any, k: int, threads: Threads) -> Neighbors:
        squares, indices = np.empty((len(new), k)), np.empty((len(new), k), np.intp)
        for rows in row_blocks(len(new), 8 * self.n, HELD):
            squares[rows], indices[rows] = self._nearest(new[rows], k)
        return Neighbors(squares, indices)

    def _nearest(self, new: Any, k: int) -> tuple[Floats, Array]:
        given = new if self.see is None else self.see(new)
        squares = squares_of(given, self.unit, self.squared)
        indices = first_smallest(squares, k)
        squares = np.take_along_axis(squares, indices, axis=1)
        order = np.argsort(squares, axis=1, kind="stable")
        return np.take_along_axis(squares, order, axis=1), np.take_along_axis(indices, order, axis=1)

    def start(self, d: int, rng: RandomState) -> Floats:
        return classical_scaling(0.5 * (self._pairs + self._pairs.T), d, rng)

    def kept(self) -> PairSpace:
        return replace(self, squares=None)

    def same_as(self, other: Any) -> bool:
        return False


@dataclass(frozen=True)
class Graph:
    """Samples by the distances of each to its neighbors.

    Parameters
    ----------
    n : int
        Number of samples.
    unit : float
        Factor that distances are multiplied by.
    known : Neighbors, optional
        Neighbors, with distances in this unit; not needed for new samples.
    squared : bool
        Whether distances of new samples are squared.
    """

    n: int
    unit: float
    known: Neighbors | None = None
    squared: bool = False

    @classmethod
    def of(cls, distances: Any, unit: float, squared: bool) -> Graph:
        """Return the samples of a sparse matrix (n, n) with distances in a unit."""
        return cls(
            distances.shape[0],
            float(np.sqrt(unit)) if squared else unit,
            graph_neighbors(distances, squared),
            squared,
        )

    def __len__(self) -> int:
        return self.n

    def all_neighbors(self) -> Neighbors:
        assert self.known is not None
        return self.known

    def neighbors(self, k: int, threads: Threads, rng: RandomState) -> Neighbors:
        return self.all_neighbors()

    def neighbors_of(self, new: Any, k: int, threads: Threads) -> Neighbors:
        if not sparse.issparse(new):
            raise TypeError("The view was fitted to a sparse graph; give new samples as a sparse graph, too.")
        counts = np.diff(new.indptr)
        if counts.min() < k:
            raise ValueError(
                f"X has samples with only {counts.min()} neighbors among the training samples; give at least {k}, the "
                "perplexity."
            )
        if (new.data < 0.0).any():
            raise ValueError("The graph X holds negative distances; distances must not be negative.")
        squares, indices = graph_neighbors(new, self.squared)
        nearest = np.argsort(squares, axis=1, kind="stable")[:, :k]
        squares = np.take_along_axis(squares, nearest, axis=1) / self.unit**2
        return Neighbors(squares, np.take_along_axis(np.asarray(indices), nearest, axis=1))

    def start(self, d: int, rng: RandomState) -> None:
        return None

    def kept(self) -> Graph:
        return replace(self, known=None)

    def same_as(self, other: Any) -> bool:
        return False


@dataclass(frozen=True)
class Weighted:
    """Samples given by their affinities to each other.

    Parameters
    ----------
    n : int
        Number of samples.
    weights : csr_array of shape (n, n), optional
        Affinities of each sample to others; not needed for new samples.
    """

    n: int
    weights: Any = None

    @classmethod
    def of(cls, X: Any) -> Weighted:
        """Return the samples of a matrix (n, n) of affinities, dense or sparse."""
        weights = sparse.csr_array(X, copy=True)
        weights.setdiag(0.0)
        _check_weights(weights)
        return cls(weights.shape[0], weights)

    def __len__(self) -> int:
        return self.n

    def heaviest(self, new: Any, k: int) -> tuple[Floats, Array]:
        """Return the largest affinities (m, k) of new samples, each row with a sum of 1, and whose they are."""
        rows = sparse.csr_array(new)
        _check_weights(rows)
        p, indices = np.zeros((rows.shape[0], k)), np.zeros((rows.shape[0], k), np.intp)
        for i, (first, last) in enumerate(pairwise(rows.indptr)):
            order = first + np.argsort(-rows.data[first:last], kind="stable")[:k]
            p[i, : len(order)], indices[i, : len(order)] = rows.data[order], rows.indices[order]
        return p / p.sum(axis=1, keepdims=True), indices

    def start(self, d: int, rng: RandomState) -> None:
        return None

    def kept(self) -> Weighted:
        return replace(self, weights=None)

    def same_as(self, other: Any) -> bool:
        return False


def _check_weights(weights: Any) -> None:
    """Refuse affinities that are negative, and samples that have none."""
    weights.eliminate_zeros()
    if weights.nnz and weights.data.min() < 0.0:
        raise ValueError(f"X holds negative affinities (smallest {weights.data.min():g}); they must be 0 or more.")
    lonely = np.flatnonzero(np.diff(weights.indptr) == 0)
    if len(lonely):
        raise ValueError(
            f"X[{lonely[0]}] has no affinity above zero to another sample, so it cannot be placed; drop such rows."
        )


def _halved(neighbors: Neighbors) -> Neighbors:
    """Return neighbors whose dissimilarities are half the squared distances that are given."""
    return Neighbors(np.square(0.5 * neighbors.squares), neighbors.indices)


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
    cells = KMeans(
        n_cells, init="random", max_iter=5, neighborhood=Winner("reseed"), n_jobs=threads.n, random_state=rng
    )
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
    from protolearn.embedding._kernels import city_blocks

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
    from protolearn.embedding._kernels import offer_neighbors

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
