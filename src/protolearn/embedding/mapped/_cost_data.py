"""Characteristics of data that a view can be asked to keep: affinities, distances, graphs of neighbors.

Each is a table with a row for each sample and a column for each training sample, sparse if few of them are joined.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
from scipy import sparse

from protolearn.core.neighbors import check_connected, first_nearest, first_smallest
from protolearn.core.parameters import constrained, integer, none, positive
from protolearn.core.threads import Threads
from protolearn.core.types import Array, Floats
from protolearn.embedding._base import Samples
from protolearn.embedding.charts._local_weights import affine_weights, reconstruction_weights
from protolearn.embedding.neighbor._neighbors import all_pairs, nearest_in_matrix, nearest_vectors
from protolearn.embedding.neighbor._sne import FEW, MOST_PAIRS
from protolearn.embedding.neighbor.affinities import (
    Neighbors,
    calibrated,
    check_perplexity,
    conditional_affinities,
    joint_affinities,
)

__all__ = [
    "Affinities",
    "DataPart",
    "Distances",
    "EdgeSquares",
    "Geodesics",
    "HeatKernel",
    "InnerProducts",
    "Reconstruction",
    "nearest_of_new",
]

RandomState = np.random.RandomState

WIDTH = 3.0  # times the perplexity: neighbors with affinities above zero


class DataPart(Protocol):
    """What is to be kept of the data."""

    metric: ClassVar[bool]  # whether positions have the unit of the data

    def of(self, samples: Samples, threads: Threads, rng: RandomState) -> Any:
        """Return a table (n, n) of the samples."""

    def of_new(self, samples: Samples, new: Samples, threads: Threads, rng: RandomState) -> Any:
        """Return a table (m, n) of new samples, which are vectors or squared distances (m, n) to the others."""


@dataclass(frozen=True)
class Affinities:
    """How likely each sample takes which other as its neighbor.

    Parameters
    ----------
    perplexity : float, default=30.0
        Effective number of neighbors, at most a third of the samples for a good view.
    symmetric : bool, default=True
        One distribution over all pairs. Otherwise each sample has its own over the others, as new samples always do.
    """

    perplexity: float = 30.0
    symmetric: bool = True

    metric: ClassVar[bool] = False

    def of(self, samples: Samples, threads: Threads, rng: RandomState) -> Any:
        """Return affinities (n, n), of all pairs or, for more than a few samples, of neighbors."""
        n = len(samples)
        check_perplexity(self.perplexity, n)
        neighbors = all_pairs(samples.all_squares()) if n <= FEW else _nearest(samples, self._reach(n), threads, rng)
        conditional = conditional_affinities(neighbors, calibrated(neighbors.squares, self.perplexity, threads)[0])
        return joint_affinities(conditional) if self.symmetric else conditional

    def of_new(self, samples: Samples, new: Samples, threads: Threads, rng: RandomState) -> Any:
        """Return affinities (m, n), each row of which sums to 1; no sample is a neighbor of itself."""
        squares, indices = nearest_of_new(samples, new, self._reach(len(samples)) + 1, threads)
        itself = squares[:, :1] == 0.0
        squares, indices = (np.where(itself, part[:, 1:], part[:, :-1]) for part in (squares, indices))
        return _in_rows(calibrated(squares, self.perplexity, threads)[0], indices, len(samples))

    def _reach(self, n: int) -> int:
        return min(n - 1, int(WIDTH * self.perplexity))


@dataclass(frozen=True)
class Distances:
    """Distances of all pairs."""

    metric: ClassVar[bool] = True

    def of(self, samples: Samples, threads: Threads, rng: RandomState) -> Floats:
        """Return distances (n, n)."""
        _refuse_many(samples)
        return np.sqrt(samples.all_squares())

    def of_new(self, samples: Samples, new: Samples, threads: Threads, rng: RandomState) -> Floats:
        """Return distances (m, n)."""
        from scipy.spatial.distance import cdist

        return cdist(new.vectors, samples.vectors) if new.squares is None else np.sqrt(new.squares)


@dataclass(frozen=True)
class InnerProducts:
    """Inner products of all pairs, as seen from the mean of the samples."""

    metric: ClassVar[bool] = True

    def of(self, samples: Samples, threads: Threads, rng: RandomState) -> Floats:
        """Return products (n, n)."""
        _refuse_many(samples)
        return self.of_new(samples, samples, threads, rng)

    def of_new(self, samples: Samples, new: Samples, threads: Threads, rng: RandomState) -> Floats:
        """Return products (m, n)."""
        if new.squares is None:
            vectors, mean = _vectors(samples), _vectors(samples).mean(axis=0, dtype=np.float64)
            return (_vectors(new) - mean) @ (vectors - mean).T
        means = samples.all_squares().mean(axis=0)
        return -0.5 * (new.squares - new.squares.mean(axis=1, keepdims=True) - means + means.mean())


@dataclass(frozen=True)
class Geodesics:
    """Lengths of the shortest paths from neighbor to neighbor, of all pairs.

    Parameters
    ----------
    n_neighbors : int, default=10
        Neighbors that each sample is joined to.
    """

    n_neighbors: int = 10

    metric: ClassVar[bool] = True

    def of(self, samples: Samples, threads: Threads, rng: RandomState) -> Floats:
        """Return lengths (n, n)."""
        from protolearn.dissimilarities import geodesic

        _refuse_many(samples)
        if samples.vectors is not None:
            return geodesic(samples.vectors, self.n_neighbors, n_jobs=threads.n)
        return geodesic(np.sqrt(samples.all_squares()), self.n_neighbors, metric="precomputed", n_jobs=threads.n)

    def of_new(self, samples: Samples, new: Samples, threads: Threads, rng: RandomState) -> Floats:
        """Return lengths (m, n) of paths whose first step is to a neighbor."""
        between = self.of(samples, threads, rng)
        squares, indices = nearest_of_new(samples, new, self.n_neighbors, threads)
        lengths = np.full((len(squares), len(samples)), np.inf)
        for steps, neighbors in zip(np.sqrt(squares).T, indices.T):
            np.minimum(lengths, steps[:, None] + between[neighbors], out=lengths)
        return lengths


@dataclass(frozen=True)
class EdgeSquares:
    """Squared distances of neighbors.

    Parameters
    ----------
    n_neighbors : int, default=5
        Neighbors that each sample is joined to.
    """

    n_neighbors: int = 5

    metric: ClassVar[bool] = True

    def of(self, samples: Samples, threads: Threads, rng: RandomState) -> Any:
        """Return a symmetric graph (n, n)."""
        return _graph(samples, self.n_neighbors, threads, rng)

    def of_new(self, samples: Samples, new: Samples, threads: Threads, rng: RandomState) -> Any:
        """Return edges (m, n) to the training samples."""
        return _in_rows(*nearest_of_new(samples, new, self.n_neighbors, threads), len(samples))


@constrained(width=positive | none)
@dataclass(frozen=True)
class HeatKernel:
    """Weights ``exp(-|x - x'|^2 / width)`` of neighbors.

    Parameters
    ----------
    n_neighbors : int, default=10
        Neighbors that each sample is joined to.
    width : float, optional
        The mean squared distance of neighbors by default.
    """

    n_neighbors: int = 10
    width: float | None = None

    metric: ClassVar[bool] = False

    def of(self, samples: Samples, threads: Threads, rng: RandomState) -> Any:
        """Return a symmetric graph (n, n)."""
        graph = _graph(samples, self.n_neighbors, threads, rng)
        return self._warmed(graph, graph, samples.unit)

    def of_new(self, samples: Samples, new: Samples, threads: Threads, rng: RandomState) -> Any:
        """Return edges (m, n) to the training samples."""
        edges = _in_rows(*nearest_of_new(samples, new, self.n_neighbors, threads), len(samples))
        return self._warmed(edges, _graph(samples, self.n_neighbors, threads, rng), samples.unit)

    def _warmed(self, edges: Any, graph: Any, unit: float) -> Any:
        width = (graph.data.mean() or 1.0) if self.width is None else self.width / unit**2
        return sparse.csr_array((np.exp(-edges.data / width), edges.indices, edges.indptr), shape=edges.shape)


@dataclass(frozen=True)
class Reconstruction:
    """Weights with which neighbors make up each sample, see locally linear embedding.

    Parameters
    ----------
    n_neighbors : int, default=10
        Neighbors of each sample.
    regularization : float, default=1e-3
        How much equal weights are preferred, which is needed for more neighbors than features.
    """

    n_neighbors: int = 10
    regularization: float = 1e-3

    metric: ClassVar[bool] = False

    def of(self, samples: Samples, threads: Threads, rng: RandomState) -> Any:
        """Return weights (n, n), each row of which sums to 1."""
        vectors = _vectors(samples)
        neighbors = _nearest(samples, self.n_neighbors, threads, rng)
        check_connected(_in_rows(np.ones(neighbors.squares.shape), neighbors.indices, len(samples)), self.n_neighbors)
        return reconstruction_weights(vectors, neighbors.indices, self.regularization)

    def of_new(self, samples: Samples, new: Samples, threads: Threads, rng: RandomState) -> Any:
        """Return weights (m, n), each row of which sums to 1."""
        vectors, others = _vectors(samples), _vectors(new)
        _, indices = nearest_of_new(samples, new, self.n_neighbors, threads)
        weights = affine_weights(vectors[indices].astype(np.float64) - others[:, None], self.regularization)
        return _in_rows(weights, indices, len(samples))


def nearest_of_new(samples: Samples, new: Samples, k: int, threads: Threads) -> tuple[Floats, Array]:
    """Return squared distances (m, k) of new samples to the nearest of the others, in order, and which these are."""
    integer(1, len(samples)).check("n_neighbors", k)
    if new.squares is not None:
        indices = first_smallest(new.squares, k)
        squares = np.take_along_axis(new.squares, indices, axis=1)
        order = np.argsort(squares, axis=1, kind="stable")
        return np.take_along_axis(squares, order, axis=1), np.take_along_axis(indices, order, axis=1)
    return first_nearest(_vectors(samples), k, threads, new=_vectors(new))


def _nearest(samples: Samples, k: int, threads: Threads, rng: RandomState) -> Neighbors:
    integer(1, len(samples) - 1).check("n_neighbors", k)
    if samples.vectors is None:
        return nearest_in_matrix(samples.all_squares(), k)
    return nearest_vectors(samples.vectors, k, threads, rng)


def _graph(samples: Samples, k: int, threads: Threads, rng: RandomState) -> Any:
    """Return squared distances as a connected graph that joins two samples if one is a neighbor of the other."""
    squares, indices = _nearest(samples, k, threads, rng)
    n = len(squares)
    rows, columns = np.repeat(np.arange(n), k), np.asarray(indices).ravel()
    places = np.concatenate([rows * n + columns, columns * n + rows])
    edges, first = np.unique(places, return_index=True)
    # Built from its entries, since sums and maxima of sparse matrices would lose edges of length zero.
    graph = sparse.csr_array((np.tile(squares.ravel(), 2)[first], (edges // n, edges % n)), shape=(n, n))
    check_connected(graph, k)
    return graph


def _in_rows(values: Floats, indices: Any, n: int) -> Any:
    """Return values (m, k) at places (m, k) of a sparse table (m, n)."""
    m, k = values.shape
    return sparse.csr_array((values.ravel(), np.ravel(indices), np.arange(0, m * k + 1, k)), shape=(m, n))


def _vectors(samples: Samples) -> Array:
    if samples.vectors is None:
        raise ValueError("This cost needs vectors, not dissimilarities; use another one, such as 'isomap' or 'tsne'.")
    return samples.vectors


def _refuse_many(samples: Samples) -> None:
    if len(samples) > MOST_PAIRS:
        raise ValueError(
            f"All pairs of n_samples={len(samples)} are too many to be compared one by one; train on a part of the "
            "samples, or use a cost of neighbors, such as 'tsne'."
        )
