"""Characteristics of data that a view should preserve: affinities, distances, neighborhood graphs.

Each is a table with a row for each sample and a column for each training sample, sparse if few pairs are connected.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Protocol

import numpy as np
from scipy import sparse

from protolearn.core.graphs import Neighborhood, nearest_of_new
from protolearn.core.parameters import constrained, integer, none, positive
from protolearn.core.threads import Threads
from protolearn.core.types import Array, Bools, Floats
from protolearn.dissimilarities import shortest_paths
from protolearn.embedding._base import Samples
from protolearn.embedding.charts._local_weights import weights_in_graph
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
    "OnGraph",
    "Reconstruction",
]

RandomState = np.random.RandomState

WIDTH = 3.0  # times the perplexity: neighbors with affinities above zero


class DataPart(Protocol):
    """Characteristics of the data that a view should preserve.

    Examples
    --------
    Ranks of distances, so that only their order matters:

    >>> import numpy as np
    >>> from protolearn import MappedEmbedding
    >>> from protolearn.embedding.mapped.costs import Cost, DistanceView, LeastSquares
    >>> class Ranks:
    ...     metric = False
    ...
    ...     def of(self, samples, threads, rng):
    ...         squares = samples.all_squares()
    ...         return np.unique(squares, return_inverse=True)[1].reshape(squares.shape).astype(float)
    >>> cost = Cost(Ranks(), DistanceView(), LeastSquares())
    >>> view = MappedEmbedding(cost=cost, mapping="free", n_components=1, random_state=0)
    >>> Y = view.fit_transform([[0.0], [1.0], [3.0], [100.0]])
    >>> bool(np.ptp(Y[:3]) > 0.2 * np.ptp(Y))  # the last is not as far away as in the data
    True
    """

    metric: ClassVar[bool]  # whether positions have the unit of the data

    def of(self, samples: Samples, threads: Threads, rng: RandomState) -> Any:
        """Return a table (n, n) of the samples."""

    def of_new(self, samples: Samples, new: Samples, threads: Threads, rng: RandomState) -> Any:
        """Return a table (m, n) of new samples, given as vectors or as squared distances (m, n) to the others."""


class OnGraph:
    """Base of characteristics of a neighborhood graph."""

    n_neighbors: int
    radius: float | None
    components: str

    def __post_init__(self) -> None:
        _ = self.neighborhood  # checks the parameters

    @property
    def neighborhood(self) -> Neighborhood:
        """Definition of the neighborhood graph."""
        return Neighborhood(self.n_neighbors, self.radius, self.components)

    def kept(self, samples: Samples, threads: Threads, rng: RandomState) -> Array:
        """Return the indices of the samples that are included."""
        return self.neighborhood.kept(samples, _search(threads, rng), samples.unit)

    def reached(self, samples: Samples, new: Samples, threads: Threads) -> Bools:
        """Return which new samples have neighbors."""
        if self.radius is None:
            return np.ones(len(new), bool)
        return np.diff(self._of_new(samples, new, threads).indptr) > 0

    def _of(self, samples: Samples, threads: Threads, rng: RandomState, **options: bool) -> Any:
        """Return the squared distances (n, n) of neighbors as a connected graph."""
        return self.neighborhood.graph(samples, _search(threads, rng), samples.unit, **options)

    def _of_new(self, samples: Samples, new: Samples, threads: Threads) -> Any:
        """Return the squared distances (m, n) of new samples to their neighbors."""
        return self.neighborhood.of_new(samples, new, samples.unit, threads)


@dataclass(frozen=True)
class Affinities:
    """Affinities: the probability with which each sample selects another as its neighbor.

    Parameters
    ----------
    perplexity : float, default=30.0
        Effective number of neighbors; choose at most a third of the number of samples.
    symmetric : bool, default=True
        Whether affinities are one joint distribution over all pairs. Otherwise each sample has a conditional
        distribution over the others; new samples always do.

    Examples
    --------
    The affinity of each sample is largest to the nearest other sample:

    >>> import numpy as np
    >>> from protolearn.core.threads import Threads
    >>> from protolearn.embedding._base import Samples
    >>> from protolearn.embedding.mapped.costs import Affinities
    >>> samples = Samples(np.array([[0.0], [1.0], [10.0], [11.0], [20.0], [21.0]]), None, unit=1.0)
    >>> P = Affinities(perplexity=1.5, symmetric=False).of(samples, Threads(), np.random.RandomState(0))
    >>> P.argmax(axis=1).tolist(), P.sum(axis=1).round(6).tolist()
    ([1, 0, 3, 2, 5, 4], [1.0, 1.0, 1.0, 1.0, 1.0, 1.0])
    """

    perplexity: float = 30.0
    symmetric: bool = True

    metric: ClassVar[bool] = False

    def of(self, samples: Samples, threads: Threads, rng: RandomState) -> Any:
        """Return affinities (n, n), of all pairs or, for more than a few samples, of neighbors only."""
        n = len(samples)
        check_perplexity(self.perplexity, n)
        neighbors = all_pairs(samples.all_squares()) if n <= FEW else _nearest(samples, self._reach(n), threads, rng)
        conditional = conditional_affinities(neighbors, calibrated(neighbors.squares, self.perplexity, threads)[0])
        return joint_affinities(conditional) if self.symmetric else conditional

    def of_new(self, samples: Samples, new: Samples, threads: Threads, rng: RandomState) -> Any:
        """Return affinities (m, n), each row normalized to 1; no sample is a neighbor of itself."""
        squares, indices = nearest_of_new(samples, new, self._reach(len(samples)) + 1, threads)
        itself = squares[:, :1] == 0.0
        squares, indices = (np.where(itself, part[:, 1:], part[:, :-1]) for part in (squares, indices))
        return _in_rows(calibrated(squares, self.perplexity, threads)[0], indices, len(samples))

    def _reach(self, n: int) -> int:
        return min(n - 1, int(WIDTH * self.perplexity))


@dataclass(frozen=True)
class Distances:
    """Distances of all pairs.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.core.threads import Threads
    >>> from protolearn.embedding._base import Samples
    >>> from protolearn.embedding.mapped.costs import Distances
    >>> samples = Samples(np.array([[0.0], [1.0], [3.0]]), None, unit=1.0)
    >>> Distances().of(samples, Threads(), np.random.RandomState(0)).round(6).tolist()
    [[0.0, 1.0, 3.0], [1.0, 0.0, 2.0], [3.0, 2.0, 0.0]]
    """

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
    """Inner products of all pairs, relative to the mean of the samples.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.core.threads import Threads
    >>> from protolearn.embedding._base import Samples
    >>> from protolearn.embedding.mapped.costs import InnerProducts
    >>> samples = Samples(np.array([[1.0], [2.0], [3.0]]), None, unit=1.0)  # -1, 0, 1 as seen from their mean
    >>> InnerProducts().of(samples, Threads(), np.random.RandomState(0)).diagonal().tolist()
    [1.0, 0.0, 1.0]
    """

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
class Geodesics(OnGraph):
    """Geodesic distances of all pairs: lengths of shortest paths in the neighborhood graph.

    Parameters
    ----------
    n_neighbors : int, default=10
        Number of neighbors that each sample is connected to.
    radius : float, optional
        Maximum distance of connected samples; if given, it replaces ``n_neighbors``.
    components : {"raise", "connect", "largest"}, default="raise"
        Treatment of a graph that is not connected: ``"raise"`` reports an error, ``"connect"`` adds the shortest edges
        between components, and ``"largest"`` keeps only the samples of the largest component.

    Examples
    --------
    Between the ends of three sides of a square, the path along the sides has the length 1 + 1.1 + 1.1:

    >>> import numpy as np
    >>> from protolearn.core.threads import Threads
    >>> from protolearn.embedding._base import Samples
    >>> from protolearn.embedding.mapped.costs import Geodesics
    >>> samples = Samples(np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.1], [-0.1, 1.2]]), None, unit=1.0)
    >>> lengths = Geodesics(n_neighbors=1).of(samples, Threads(), np.random.RandomState(0))
    >>> round(float(lengths[0, 3]), 1)
    3.2
    """

    n_neighbors: int = 10
    radius: float | None = None
    components: str = "raise"

    metric: ClassVar[bool] = True

    def of(self, samples: Samples, threads: Threads, rng: RandomState) -> Floats:
        """Return lengths (n, n)."""
        _refuse_many(samples)
        return shortest_paths(self._of(samples, threads, rng))

    def of_new(self, samples: Samples, new: Samples, threads: Threads, rng: RandomState) -> Floats:
        """Return lengths (m, n) of paths that start at a neighbor of the new sample."""
        between = shortest_paths(self._of(samples, threads, rng, quiet=True))
        edges = self._of_new(samples, new, threads)
        lengths, steps = np.empty(edges.shape), np.sqrt(edges.data)
        for i, (first, last) in enumerate(zip(edges.indptr[:-1], edges.indptr[1:])):
            lengths[i] = (steps[first:last, None] + between[edges.indices[first:last]]).min(axis=0)
        return lengths


@dataclass(frozen=True)
class EdgeSquares(OnGraph):
    """Squared distances of neighbors.

    Parameters
    ----------
    n_neighbors : int, default=5
        Number of neighbors that each sample is connected to.
    radius : float, optional
        Maximum distance of connected samples; if given, it replaces ``n_neighbors``.
    components : {"raise", "connect", "largest"}, default="raise"
        Treatment of a graph that is not connected: ``"raise"`` reports an error, ``"connect"`` adds the shortest edges
        between components, and ``"largest"`` keeps only the samples of the largest component.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.core.threads import Threads
    >>> from protolearn.embedding._base import Samples
    >>> from protolearn.embedding.mapped.costs import EdgeSquares
    >>> samples = Samples(np.array([[0.0], [1.0], [3.0]]), None, unit=1.0)
    >>> EdgeSquares(n_neighbors=1).of(samples, Threads(), np.random.RandomState(0)).toarray().round(6).tolist()
    [[0.0, 1.0, 0.0], [1.0, 0.0, 4.0], [0.0, 4.0, 0.0]]
    """

    n_neighbors: int = 5
    radius: float | None = None
    components: str = "raise"

    metric: ClassVar[bool] = True

    def of(self, samples: Samples, threads: Threads, rng: RandomState) -> Any:
        """Return a symmetric graph (n, n)."""
        return self._of(samples, threads, rng)

    def of_new(self, samples: Samples, new: Samples, threads: Threads, rng: RandomState) -> Any:
        """Return edges (m, n) to the training samples."""
        return self._of_new(samples, new, threads)


@constrained(width=positive | none)
@dataclass(frozen=True)
class HeatKernel(OnGraph):
    """Weights ``exp(-|x - x'|^2 / width)`` of neighbors.

    Parameters
    ----------
    n_neighbors : int, default=10
        Number of neighbors that each sample is connected to.
    width : float, optional
        Squared length scale of the kernel; the mean squared distance of neighbors by default.
    radius : float, optional
        Maximum distance of connected samples; if given, it replaces ``n_neighbors``.
    components : {"raise", "connect", "largest"}, default="raise"
        Treatment of a graph that is not connected: ``"raise"`` reports an error, ``"connect"`` adds the shortest edges
        between components, and ``"largest"`` keeps only the samples of the largest component.

    Examples
    --------
    Nearer neighbors have larger weights:

    >>> import numpy as np
    >>> from protolearn.core.threads import Threads
    >>> from protolearn.embedding._base import Samples
    >>> from protolearn.embedding.mapped.costs import HeatKernel
    >>> samples = Samples(np.array([[0.0], [1.0], [3.0]]), None, unit=1.0)
    >>> weights = HeatKernel(n_neighbors=1, width=4.0).of(samples, Threads(), np.random.RandomState(0)).toarray()
    >>> weights[1].round(3).tolist()
    [0.779, 0.0, 0.368]
    """

    n_neighbors: int = 10
    width: float | None = None
    radius: float | None = None
    components: str = "raise"

    metric: ClassVar[bool] = False

    def of(self, samples: Samples, threads: Threads, rng: RandomState) -> Any:
        """Return a symmetric graph (n, n)."""
        graph = self._of(samples, threads, rng)
        return self._warmed(graph, graph, samples.unit)

    def of_new(self, samples: Samples, new: Samples, threads: Threads, rng: RandomState) -> Any:
        """Return edges (m, n) to the training samples."""
        graph = self._of(samples, threads, rng, quiet=True)
        return self._warmed(self._of_new(samples, new, threads), graph, samples.unit)

    def _warmed(self, edges: Any, graph: Any, unit: float) -> Any:
        width = (graph.data.mean() or 1.0) if self.width is None else self.width / unit**2
        return sparse.csr_array((np.exp(-edges.data / width), edges.indices, edges.indptr), shape=edges.shape)


@dataclass(frozen=True)
class Reconstruction(OnGraph):
    """Weights that reconstruct each sample from its neighbors, as in locally linear embedding.

    Parameters
    ----------
    n_neighbors : int, default=10
        Number of neighbors of each sample.
    regularization : float, default=1e-3
        Strength of regularization toward equal weights, which is needed for more neighbors than features.
    radius : float, optional
        Maximum distance of connected samples; if given, it replaces ``n_neighbors``.
    components : {"raise", "connect", "largest"}, default="raise"
        Treatment of a graph that is not connected: ``"raise"`` reports an error, ``"connect"`` adds the shortest edges
        between components, and ``"largest"`` keeps only the samples of the largest component.

    Examples
    --------
    A point between two others is a weighted mean of both:

    >>> import numpy as np
    >>> from protolearn.core.threads import Threads
    >>> from protolearn.embedding._base import Samples
    >>> from protolearn.embedding.mapped.costs import Reconstruction
    >>> samples = Samples(np.array([[0.0], [1.0], [4.0]]), None, unit=1.0)
    >>> weights = Reconstruction(n_neighbors=2).of(samples, Threads(), np.random.RandomState(0)).toarray()
    >>> weights[1].round(2).tolist()
    [0.75, 0.0, 0.25]
    """

    n_neighbors: int = 10
    regularization: float = 1e-3
    radius: float | None = None
    components: str = "raise"

    metric: ClassVar[bool] = False

    def of(self, samples: Samples, threads: Threads, rng: RandomState) -> Any:
        """Return weights (n, n), each row of which sums to 1."""
        vectors = _vectors(samples)
        graph = self._of(samples, threads, rng, directed=True)
        return weights_in_graph(vectors, vectors, graph, self.regularization)

    def of_new(self, samples: Samples, new: Samples, threads: Threads, rng: RandomState) -> Any:
        """Return weights (m, n), each row of which sums to 1."""
        edges = self._of_new(samples, new, threads)
        return weights_in_graph(_vectors(new), _vectors(samples), edges, self.regularization)


def _search(threads: Threads, rng: RandomState) -> Any:
    """Return a function that searches the nearest vectors, using cells if there are very many."""
    return partial(nearest_vectors, threads=threads, rng=rng)


def _nearest(samples: Samples, k: int, threads: Threads, rng: RandomState) -> Neighbors:
    integer(1, len(samples) - 1).check("n_neighbors", k)
    if samples.vectors is None:
        return nearest_in_matrix(samples.all_squares(), k)
    return nearest_vectors(samples.vectors, k, threads, rng)


def _in_rows(values: Floats, indices: Any, n: int) -> Any:
    """Return values (m, k) at columns (m, k) of a sparse table (m, n)."""
    m, k = values.shape
    return sparse.csr_array((values.ravel(), np.ravel(indices), np.arange(0, m * k + 1, k)), shape=(m, n))


def _vectors(samples: Samples) -> Array:
    if samples.vectors is None:
        raise ValueError("This cost needs vectors, not dissimilarities; use another one, such as 'isomap' or 'tsne'.")
    return samples.vectors


def _refuse_many(samples: Samples) -> None:
    if len(samples) > MOST_PAIRS:
        raise ValueError(
            f"The cost cannot compare all pairs of n_samples={len(samples)}; train on a subset of the samples, or use "
            "a cost of neighbors, such as 'tsne'."
        )
