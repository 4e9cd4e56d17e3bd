"""Characteristics of data that a view should preserve: affinities, distances, neighborhood graphs.

Each is a table with a row for each sample and a column for each training sample, sparse if few pairs are connected.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import count
from typing import Any, ClassVar, Protocol

import numpy as np
from scipy import sparse
from scipy.spatial.distance import cdist

from protolearn.core.graphs import NeighborGraph, nearest_of_new
from protolearn.core.parameters import constrained, integer, none, option, positive
from protolearn.core.threads import CLOSE, Threads, block_size, cut, row_blocks
from protolearn.core.types import Array, Bools, Floats
from protolearn.dissimilarities import shortest_paths
from protolearn.embedding._base import ViewSamples
from protolearn.embedding._descent import Descent
from protolearn.embedding._exact import TINY, Exact, floors
from protolearn.embedding._fast import Fast, degree, is_tame
from protolearn.embedding._fields import n_cells
from protolearn.embedding._local_weights import weights_in_graph
from protolearn.embedding._neighbors import all_pairs, nearest_in_matrix, nearest_vectors
from protolearn.embedding._tsne import FEW, MOST_PAIRS
from protolearn.embedding.affinities import (
    Kernel,
    Neighbors,
    StudentKernel,
    calibrated,
    check_perplexity,
    conditional_affinities,
    joint_affinities,
)
from protolearn.embedding.divergences import Divergence, KullbackLeibler

__all__ = [
    "Affinities",
    "DataPart",
    "DistanceView",
    "Distances",
    "EdgeSquares",
    "ErrorPart",
    "Geodesics",
    "HeatKernel",
    "InnerProductView",
    "InnerProducts",
    "KernelView",
    "LeastSquares",
    "OnGraph",
    "ProductError",
    "Reconstruction",
    "ResidualView",
    "Rows",
    "Spread",
    "SquaredDistanceView",
    "SquaredError",
    "ViewConstraint",
    "ViewPart",
    "Whitened",
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
    >>> from protolearn.embedding.costs import DistanceView, LeastSquares, ViewCost
    >>> class Ranks:
    ...     metric = False
    ...
    ...     def of(self, samples, threads, rng):
    ...         squares = samples.all_squares()
    ...         return np.unique(squares, return_inverse=True)[1].reshape(squares.shape).astype(float)
    >>> cost = ViewCost(Ranks(), DistanceView(), LeastSquares())
    >>> view = MappedEmbedding(cost=cost, mapping="free", n_components=1, random_state=0)
    >>> Y = view.fit_transform([[0.0], [1.0], [3.0], [100.0]])
    >>> bool(np.ptp(Y[:3]) > 0.2 * np.ptp(Y))  # the last is not as far away as in the data
    True
    """

    metric: ClassVar[bool]  # whether positions have the unit of the data

    def of(self, samples: ViewSamples, threads: Threads, rng: RandomState) -> Any:
        """Return a table (n, n) of the samples."""

    def of_new(self, samples: ViewSamples, new: ViewSamples, threads: Threads, rng: RandomState) -> Any:
        """Return a table (m, n) of new samples, given as vectors or as squared distances (m, n) to the others."""


class OnGraph:
    """Base of characteristics of a neighborhood graph."""

    n_neighbors: int
    radius: float | None
    components: str

    def __post_init__(self) -> None:
        _ = self.neighborhood  # checks the parameters

    @property
    def neighborhood(self) -> NeighborGraph:
        """Definition of the neighborhood graph."""
        return NeighborGraph(self.n_neighbors, self.radius, self.components)

    def kept(self, samples: ViewSamples, threads: Threads, rng: RandomState) -> Array:
        """Return the indices of the samples that are included."""
        return self.neighborhood.kept(samples, _search(threads, rng), samples.unit)

    def reached(self, samples: ViewSamples, new: ViewSamples, threads: Threads) -> Bools:
        """Return which new samples have neighbors."""
        if self.radius is None:
            return np.ones(len(new), bool)
        return np.diff(self._of_new(samples, new, threads).indptr) > 0

    def _of(self, samples: ViewSamples, threads: Threads, rng: RandomState, **options: bool) -> Any:
        """Return the squared distances (n, n) of neighbors as a connected graph."""
        return self.neighborhood.graph(samples, _search(threads, rng), samples.unit, **options)

    def _of_new(self, samples: ViewSamples, new: ViewSamples, threads: Threads) -> Any:
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
    >>> from protolearn.embedding._base import ViewSamples
    >>> from protolearn.embedding.costs import Affinities
    >>> samples = ViewSamples(np.array([[0.0], [1.0], [10.0], [11.0], [20.0], [21.0]]), None, unit=1.0)
    >>> P = Affinities(perplexity=1.5, symmetric=False).of(samples, Threads(), np.random.RandomState(0))
    >>> P.argmax(axis=1).tolist(), P.sum(axis=1).round(6).tolist()
    ([1, 0, 3, 2, 5, 4], [1.0, 1.0, 1.0, 1.0, 1.0, 1.0])
    """

    perplexity: float = 30.0
    symmetric: bool = True

    metric: ClassVar[bool] = False

    def of(self, samples: ViewSamples, threads: Threads, rng: RandomState) -> Any:
        """Return affinities (n, n), of all pairs or, for more than a few samples, of neighbors only."""
        n = len(samples)
        check_perplexity(self.perplexity, n)
        neighbors = all_pairs(samples.all_squares()) if n <= FEW else _nearest(samples, self._reach(n), threads, rng)
        conditional = conditional_affinities(neighbors, calibrated(neighbors.squares, self.perplexity, threads)[0])
        return joint_affinities(conditional) if self.symmetric else conditional

    def of_new(self, samples: ViewSamples, new: ViewSamples, threads: Threads, rng: RandomState) -> Any:
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
    >>> from protolearn.embedding._base import ViewSamples
    >>> from protolearn.embedding.costs import Distances
    >>> samples = ViewSamples(np.array([[0.0], [1.0], [3.0]]), None, unit=1.0)
    >>> Distances().of(samples, Threads(), np.random.RandomState(0)).round(6).tolist()
    [[0.0, 1.0, 3.0], [1.0, 0.0, 2.0], [3.0, 2.0, 0.0]]
    """

    metric: ClassVar[bool] = True

    def of(self, samples: ViewSamples, threads: Threads, rng: RandomState) -> Floats:
        """Return distances (n, n)."""
        _refuse_many(samples)
        return np.sqrt(samples.all_squares())

    def of_new(self, samples: ViewSamples, new: ViewSamples, threads: Threads, rng: RandomState) -> Floats:
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
    >>> from protolearn.embedding._base import ViewSamples
    >>> from protolearn.embedding.costs import InnerProducts
    >>> samples = ViewSamples(np.array([[1.0], [2.0], [3.0]]), None, unit=1.0)  # -1, 0, 1 as seen from their mean
    >>> InnerProducts().of(samples, Threads(), np.random.RandomState(0)).diagonal().tolist()
    [1.0, 0.0, 1.0]
    """

    metric: ClassVar[bool] = True

    def of(self, samples: ViewSamples, threads: Threads, rng: RandomState) -> Floats:
        """Return products (n, n)."""
        _refuse_many(samples)
        return self.of_new(samples, samples, threads, rng)

    def of_new(self, samples: ViewSamples, new: ViewSamples, threads: Threads, rng: RandomState) -> Floats:
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
    >>> from protolearn.embedding._base import ViewSamples
    >>> from protolearn.embedding.costs import Geodesics
    >>> samples = ViewSamples(np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.1], [-0.1, 1.2]]), None, unit=1.0)
    >>> lengths = Geodesics(n_neighbors=1).of(samples, Threads(), np.random.RandomState(0))
    >>> round(float(lengths[0, 3]), 1)
    3.2
    """

    n_neighbors: int = 10
    radius: float | None = None
    components: str = "raise"

    metric: ClassVar[bool] = True

    def of(self, samples: ViewSamples, threads: Threads, rng: RandomState) -> Floats:
        """Return lengths (n, n)."""
        _refuse_many(samples)
        return shortest_paths(self._of(samples, threads, rng))

    def of_new(self, samples: ViewSamples, new: ViewSamples, threads: Threads, rng: RandomState) -> Floats:
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
    >>> from protolearn.embedding._base import ViewSamples
    >>> from protolearn.embedding.costs import EdgeSquares
    >>> samples = ViewSamples(np.array([[0.0], [1.0], [3.0]]), None, unit=1.0)
    >>> EdgeSquares(n_neighbors=1).of(samples, Threads(), np.random.RandomState(0)).toarray().round(6).tolist()
    [[0.0, 1.0, 0.0], [1.0, 0.0, 4.0], [0.0, 4.0, 0.0]]
    """

    n_neighbors: int = 5
    radius: float | None = None
    components: str = "raise"

    metric: ClassVar[bool] = True

    def of(self, samples: ViewSamples, threads: Threads, rng: RandomState) -> Any:
        """Return a symmetric graph (n, n)."""
        return self._of(samples, threads, rng)

    def of_new(self, samples: ViewSamples, new: ViewSamples, threads: Threads, rng: RandomState) -> Any:
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
    >>> from protolearn.embedding._base import ViewSamples
    >>> from protolearn.embedding.costs import HeatKernel
    >>> samples = ViewSamples(np.array([[0.0], [1.0], [3.0]]), None, unit=1.0)
    >>> weights = HeatKernel(n_neighbors=1, width=4.0).of(samples, Threads(), np.random.RandomState(0)).toarray()
    >>> weights[1].round(3).tolist()
    [0.779, 0.0, 0.368]
    """

    n_neighbors: int = 10
    width: float | None = None
    radius: float | None = None
    components: str = "raise"

    metric: ClassVar[bool] = False

    def of(self, samples: ViewSamples, threads: Threads, rng: RandomState) -> Any:
        """Return a symmetric graph (n, n)."""
        graph = self._of(samples, threads, rng)
        return self._warmed(graph, graph, samples.unit)

    def of_new(self, samples: ViewSamples, new: ViewSamples, threads: Threads, rng: RandomState) -> Any:
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
    >>> from protolearn.embedding._base import ViewSamples
    >>> from protolearn.embedding.costs import Reconstruction
    >>> samples = ViewSamples(np.array([[0.0], [1.0], [4.0]]), None, unit=1.0)
    >>> weights = Reconstruction(n_neighbors=2).of(samples, Threads(), np.random.RandomState(0)).toarray()
    >>> weights[1].round(2).tolist()
    [0.75, 0.0, 0.25]
    """

    n_neighbors: int = 10
    regularization: float = 1e-3
    radius: float | None = None
    components: str = "raise"

    metric: ClassVar[bool] = False

    def of(self, samples: ViewSamples, threads: Threads, rng: RandomState) -> Any:
        """Return weights (n, n), each row of which sums to 1."""
        vectors = _vectors(samples)
        graph = self._of(samples, threads, rng, directed=True)
        return weights_in_graph(vectors, vectors, graph, self.regularization)

    def of_new(self, samples: ViewSamples, new: ViewSamples, threads: Threads, rng: RandomState) -> Any:
        """Return weights (m, n), each row of which sums to 1."""
        edges = self._of_new(samples, new, threads)
        return weights_in_graph(_vectors(new), _vectors(samples), edges, self.regularization)


def _search(threads: Threads, rng: RandomState) -> Any:
    """Return a function that searches the nearest vectors, using cells if there are very many."""
    return partial(nearest_vectors, threads=threads, rng=rng)


def _nearest(samples: ViewSamples, k: int, threads: Threads, rng: RandomState) -> Neighbors:
    integer(1, len(samples) - 1).check("n_neighbors", k)
    if samples.vectors is None:
        return nearest_in_matrix(samples.all_squares(), k)
    return nearest_vectors(samples.vectors, k, threads, rng)


def _in_rows(values: Floats, indices: Any, n: int) -> Any:
    """Return values (m, k) at columns (m, k) of a sparse table (m, n)."""
    m, k = values.shape
    return sparse.csr_array((values.ravel(), np.ravel(indices), np.arange(0, m * k + 1, k)), shape=(m, n))


def _vectors(samples: ViewSamples) -> Array:
    if samples.vectors is None:
        raise ValueError("This cost needs vectors, not dissimilarities; use another one, such as 'isomap' or 'tsne'.")
    return samples.vectors


def _refuse_many(samples: ViewSamples) -> None:
    if len(samples) > MOST_PAIRS:
        raise ValueError(
            f"The cost cannot compare all pairs of n_samples={len(samples)}; train on a subset of the samples, or use "
            "a cost of neighbors, such as 'tsne'."
        )


Rows = Callable[[Floats], tuple[Any, Floats]]  # positions to the values of all rows, or their sum, and the gradient


FEW_POINTS = 150  # up to which all pairs of points are taken one by one whatever the kernel


FIELDS_OF_ROWS = 4  # that are summed if each point has a distribution of its own: as many pairs take no longer


N_UNFOLDING = 100  # steps of points that are still free


EXAGGERATION = 12.0  # of the pull between neighbors meanwhile


class ErrorPart(Protocol):
    """Error between characteristics b of a view and a of the data, as a sum over pairs.

    Examples
    --------
    Absolute differences, which penalize large errors less than squared differences do:

    >>> import numpy as np
    >>> from protolearn.embedding.costs import DistanceView, Distances, ViewCost
    >>> class Absolute:
    ...     nothing = 0.0
    ...
    ...     def terms(self, a, b):
    ...         return np.abs(a - b)
    ...
    ...     def slopes(self, a, b):
    ...         return np.sign(b - a)
    >>> cost = ViewCost(Distances(), DistanceView(), Absolute())
    >>> cost.error.terms(3.0, np.array([1.0, 3.0])).tolist()
    [2.0, 0.0]
    """

    nothing: ClassVar[float]  # the b of a view that shows nothing, whose error becomes 1

    def terms(self, a: Any, b: Any) -> Any:
        """Return the summands."""

    def slopes(self, a: Any, b: Any) -> Any:
        """Return the derivatives of the summands with respect to b."""


class ViewPart(Protocol):
    """Characteristics of a view that are compared with those of the data.

    Examples
    --------
    Every view part provides an error as a function of positions, and its gradient:

    >>> import numpy as np
    >>> from protolearn.core.threads import Threads
    >>> from protolearn.embedding.costs import LeastSquares, SquaredDistanceView, ViewPart
    >>> view: ViewPart = SquaredDistanceView()
    >>> error = view.compared(np.array([[0.0, 4.0], [4.0, 0.0]]), LeastSquares(), Threads())
    >>> values, gradient = error(np.array([[0.0], [2.0]]))
    >>> float(values.sum()), bool(np.allclose(gradient, 0.0))
    (0.0, True)
    """

    size: ClassVar[float]  # root mean square radius of a good first layout, if it is not that of the data

    def compared(self, given: Any, error: Any, threads: Threads) -> Rows:
        """Return the error, about 1 for an uninformative view, as a function of all positions (n, d)."""

    def placed(self, given: Any, points: Floats, error: Any, threads: Threads) -> Rows:
        """Return the errors (m,) of new points as a function of their positions (m, d), while the others stay fixed."""


class ViewConstraint(Protocol):
    """Constraint on positions, as a penalty term.

    Examples
    --------
    A penalty that keeps positions close to the origin:

    >>> import numpy as np
    >>> from protolearn.embedding.costs import DistanceView, Distances, LeastSquares, ViewCost
    >>> class Held:
    ...     def on(self, given, size):
    ...         return lambda points: (float(np.square(points).sum()), 2.0 * points)
    >>> cost = ViewCost(Distances(), DistanceView(), LeastSquares(), Held())
    >>> cost.constraint.on(None, 1.0)(np.array([[3.0]]))
    (9.0, array([[6.]]))
    """

    def on(self, given: Any, size: float) -> Rows:
        """Return the penalty as a function of all positions (n, d)."""


# Errors


@constrained(weighting=option("none", "sammon"))
@dataclass(frozen=True)
class LeastSquares:
    """Squared differences ``w (a - b)^2``.

    Parameters
    ----------
    weighting : {"none", "sammon"}, default="none"
        Weights w of the squares: 1 for ``"none"`` and ``1 / a`` for ``"sammon"``, which emphasizes small values; zeros
        are excluded then.

    Examples
    --------
    >>> import numpy as np
    >>> LeastSquares("sammon").terms(np.array([0.0, 1.0, 2.0]), np.array([3.0, 3.0, 3.0]))
    array([0. , 4. , 0.5])
    """

    weighting: str = "none"

    nothing: ClassVar[float] = 0.0

    def terms(self, a: Any, b: Any) -> Any:
        """Return the summands."""
        return self._weights(a) * np.square(a - b)

    def slopes(self, a: Any, b: Any) -> Any:
        """Return the derivatives of the summands with respect to b."""
        return 2.0 * self._weights(a) * (b - a)

    def _weights(self, a: Any) -> Any:
        if self.weighting == "none":
            return 1.0
        return np.divide(1.0, a, out=np.zeros_like(a), where=a > 0.0)


@dataclass(frozen=True)
class ProductError:
    """Products ``a b`` of weights in the data and squared distances in the view.

    Examples
    --------
    Similar samples should be close to each other:

    >>> import numpy as np
    >>> from protolearn.embedding.costs import ProductError
    >>> weights, squares = np.array([1.0, 0.1]), np.array([9.0, 9.0])
    >>> ProductError().terms(weights, squares).round(6).tolist()
    [9.0, 0.9]
    """

    nothing: ClassVar[float] = 1.0

    def terms(self, a: Any, b: Any) -> Any:
        """Return the summands."""
        return a * b

    def slopes(self, a: Any, b: Any) -> Any:
        """Return the derivatives of the summands with respect to b."""
        return a


@dataclass(frozen=True)
class SquaredError:
    """Squares ``b^2`` of residuals that should be zero in the view.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.embedding.costs import SquaredError
    >>> residuals = np.array([0.0, -3.0])
    >>> SquaredError().terms(0.0, residuals).tolist(), SquaredError().slopes(0.0, residuals).tolist()
    ([0.0, 9.0], [0.0, -6.0])
    """

    nothing: ClassVar[float] = 1.0

    def terms(self, a: Any, b: Any) -> Any:
        """Return the summands."""
        return np.square(b)

    def slopes(self, a: Any, b: Any) -> Any:
        """Return the derivatives of the summands with respect to b."""
        return 2.0 * b


# Views


class _ViewPairs(ABC):
    """Base of views that are characterized by one number for each pair, which must be symmetric in the data."""

    size: ClassVar[float] = 1.0

    def compared(self, given: Any, error: ErrorPart, threads: Threads) -> Rows:
        """Return the error as a function of all positions."""
        unit = _units(given, error).sum() or 1.0

        def rows(points: Floats) -> tuple[Floats, Floats]:
            centered = points - points.mean(axis=0)
            values, gradient = self._sweep(given, centered, centered, error, threads)
            gradient -= gradient.mean(axis=0)
            return values / unit, (2.0 / unit) * gradient  # each pair is met in the rows of both

        return rows

    def placed(self, given: Any, points: Floats, error: ErrorPart, threads: Threads) -> Rows:
        """Return the errors of new points as a function of their positions."""
        origin, units = points.mean(axis=0), _units(given, error)
        units = np.where(units > 0.0, units, 1.0)

        def rows(new: Floats) -> tuple[Floats, Floats]:
            values, gradient = self._sweep(given, new - origin, points - origin, error, threads)
            return values / units, gradient / units[:, None]

        return rows

    def _sweep(
        self, given: Any, new: Floats, others: Floats, error: ErrorPart, threads: Threads
    ) -> tuple[Floats, Floats]:
        """Return the errors (m,) of rows, and their gradients (m, d) with respect to the new positions."""
        if sparse.issparse(given):
            ends = np.repeat(np.arange(len(new)), np.diff(given.indptr))
            shown = self._shown_at(new[ends], others[given.indices])
            forces = _like(given, error.slopes(given.data, shown) * self._rate(shown))
            return _like(given, error.terms(given.data, shown)).sum(axis=1), self._moved(forces, new, others)
        values, gradient, step = np.empty(len(new)), np.empty(new.shape), block_size(8 * len(others), CLOSE)

        def part(first: int, last: int) -> None:
            for rows in cut(last, step, first):
                shown = self._shown(new[rows], others)
                values[rows] = error.terms(given[rows], shown).sum(axis=1)
                forces = error.slopes(given[rows], shown) * self._rate(shown)
                gradient[rows] = self._moved(forces, new[rows], others)

        threads.over(len(new), part, ..., step=step)
        return values, gradient

    @abstractmethod
    def _shown(self, new: Floats, others: Floats) -> Floats:
        """Return the numbers (m, n) of all pairs."""

    @abstractmethod
    def _shown_at(self, new: Floats, others: Floats) -> Floats:
        """Return the numbers (e,) of the pairs of rows."""

    @abstractmethod
    def _rate(self, shown: Floats) -> Any:
        """Return the derivative of the numbers, divided by the difference of both points."""

    def _moved(self, forces: Any, new: Floats, others: Floats) -> Floats:
        """Return the sums (m, d) of differences to the others, weighted by forces (m, n)."""
        return forces.sum(axis=1)[:, None] * new - forces @ others


@dataclass(frozen=True)
class DistanceView(_ViewPairs):
    """Distances between points.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.core.threads import Threads
    >>> from protolearn.embedding.costs import DistanceView, LeastSquares
    >>> distances = np.array([[0.0, 2.0], [2.0, 0.0]])
    >>> error = DistanceView().compared(distances, LeastSquares(), Threads())
    >>> [float(error(np.array([[0.0], [x]]))[0].sum()) for x in (0.0, 1.0, 2.0)]
    [1.0, 0.25, 0.0]
    """

    def _shown(self, new: Floats, others: Floats) -> Floats:
        return cdist(new, others)

    def _shown_at(self, new: Floats, others: Floats) -> Floats:
        return np.linalg.norm(new - others, axis=1)

    def _rate(self, shown: Floats) -> Floats:
        # Points in the same place have no direction to be moved apart in.
        return np.divide(1.0, shown, out=np.zeros_like(shown), where=shown > 0.0)


@dataclass(frozen=True)
class SquaredDistanceView(_ViewPairs):
    """Squared distances between points.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.core.threads import Threads
    >>> from protolearn.embedding.costs import ProductError, SquaredDistanceView
    >>> weights = np.array([[0.0, 1.0], [1.0, 0.0]])
    >>> error = SquaredDistanceView().compared(weights, ProductError(), Threads())
    >>> [float(error(np.array([[0.0], [x]]))[0].sum()) for x in (0.0, 1.0, 2.0)]
    [0.0, 1.0, 4.0]
    """

    def _shown(self, new: Floats, others: Floats) -> Floats:
        return cdist(new, others, "sqeuclidean")

    def _shown_at(self, new: Floats, others: Floats) -> Floats:
        return np.square(new - others).sum(axis=1)

    def _rate(self, shown: Floats) -> float:
        return 2.0


@dataclass(frozen=True)
class InnerProductView(_ViewPairs):
    """Inner products of points, relative to their mean.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.core.threads import Threads
    >>> from protolearn.embedding.costs import InnerProductView, LeastSquares
    >>> products = np.array([[1.0, -1.0], [-1.0, 1.0]])
    >>> error = InnerProductView().compared(products, LeastSquares(), Threads())
    >>> [float(error(np.array([[0.0], [x]]))[0].sum()) for x in (0.0, 2.0)]
    [1.0, 0.0]
    """

    def _shown(self, new: Floats, others: Floats) -> Floats:
        return new @ others.T

    def _shown_at(self, new: Floats, others: Floats) -> Floats:
        return (new * others).sum(axis=1)

    def _rate(self, shown: Floats) -> float:
        return 1.0

    def _moved(self, forces: Any, new: Floats, others: Floats) -> Floats:
        return forces @ others


@dataclass(frozen=True)
class ResidualView:
    """Differences between points and the weighted means of their neighbors.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.core.threads import Threads
    >>> from protolearn.embedding.costs import ResidualView, SquaredError
    >>> weights = np.array([[0.0, 1.0, 0.0], [0.5, 0.0, 0.5], [0.0, 1.0, 0.0]])  # the second is between the others
    >>> values, gradient = ResidualView().compared(weights, SquaredError(), Threads())(np.array([[0.0], [1.0], [2.0]]))
    >>> (3 * values).round(6).tolist()
    [1.0, 0.0, 1.0]
    """

    size: ClassVar[float] = 1.0

    def compared(self, given: Any, error: ErrorPart, threads: Threads) -> Rows:
        """Return the error as a function of all positions."""

        def rows(points: Floats) -> tuple[Floats, Floats]:
            residuals = points - given @ points
            slopes = error.slopes(0.0, residuals) / len(points)
            return error.terms(0.0, residuals).sum(axis=1) / len(points), slopes - given.T @ slopes

        return rows

    def placed(self, given: Any, points: Floats, error: ErrorPart, threads: Threads) -> Rows:
        """Return the errors of new points as a function of their positions."""
        means = given @ points

        def rows(new: Floats) -> tuple[Floats, Floats]:
            return error.terms(0.0, new - means).sum(axis=1), error.slopes(0.0, new - means)

        return rows


@dataclass(frozen=True)
class KernelView:
    """Affinities of points: a normalized kernel of their distance.

    Parameters
    ----------
    kernel : Kernel
        ``GaussianKernel()`` or ``StudentKernel(dof)``.
    symmetric : bool, default=True
        Whether affinities are one joint distribution over all pairs, as in the data. Otherwise each point has a
        conditional distribution over the others; new points always do.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.core.threads import Threads
    >>> from protolearn.embedding.divergences import KullbackLeibler
    >>> from protolearn.embedding.costs import KernelView
    >>> from protolearn.embedding.affinities import StudentKernel
    >>> p = np.array([[0.0, 0.5, 0.0], [0.5, 0.0, 0.0], [0.0, 0.0, 0.0]])  # 0 and 1 are neighbors
    >>> error = KernelView(StudentKernel()).compared(p, KullbackLeibler(), Threads())
    >>> together, apart = np.array([[0.0], [0.1], [9.0]]), np.array([[0.0], [9.0], [0.1]])
    >>> error(together)[0] < error(apart)[0]
    True
    """

    kernel: Kernel
    symmetric: bool = True

    size: ClassVar[float] = 1e-2

    def compared(self, given: Any, error: Divergence, threads: Threads) -> Rows:
        """Return the divergence as a function of all positions; of conditional affinities, the mean over all points."""
        return _Forces(given, self.kernel, self.symmetric, error.limit(), threads)

    def placed(self, given: Any, points: Floats, error: Divergence, threads: Threads) -> Rows:
        """Return the divergences of new points as a function of their positions."""
        divergence, n = error.limit(), len(points)
        p_least, q_least = floors(divergence, n + 1, symmetric=False)

        def rows(new: Floats) -> tuple[Floats, Floats]:
            values, gradient, step = np.empty(len(new)), np.empty(new.shape), block_size(8 * n, CLOSE)

            def part(first: int, last: int) -> None:
                for rows in cut(last, step, first):
                    p = np.maximum(given[rows].toarray(), p_least)
                    squares = cdist(new[rows], points, "sqeuclidean")
                    w = self.kernel.weights(squares)
                    q = np.maximum(w / np.maximum(w.sum(axis=1, keepdims=True), TINY), q_least)
                    sums = divergence.terms(p, q).sum(axis=2)
                    values[rows] = divergence.outer(sums)
                    slopes = q * (divergence.weights(sums)[..., None] * divergence.slopes(p, q)).sum(axis=0)
                    # Bunte 2011, eq. 9.57, of one row
                    forces = slopes - q * slopes.sum(axis=1, keepdims=True)
                    forces *= -2.0 * self.kernel.decay(squares)
                    gradient[rows] = forces.sum(axis=1)[:, None] * new[rows] - forces @ points

            threads.over(len(new), part, ..., step=step)
            return values, gradient

        return rows


@dataclass
class _Forces:
    """Divergence of all points: exact for few points, or where a field cannot approximate it, otherwise fast."""

    p: Any
    kernel: Kernel
    symmetric: bool
    divergence: Divergence
    threads: Threads

    def __call__(self, points: Floats) -> tuple[float, Floats]:
        forces = self._chosen(points, self.divergence)
        share = 1.0 if self.symmetric else 1.0 / len(points)
        return share * forces.value(points, self.divergence), share * forces.step(points, self.divergence).gradient

    @property
    def unfold(self) -> Callable[[Floats], Iterator[int]] | None:
        """Gradient descent for free positions, as in `TSNE`.

        There is none for a Gaussian kernel: clusters would become too small for the resolution of a field.
        """
        return self._unfolded if isinstance(self.kernel, StudentKernel) else None

    def _unfolded(self, points: Floats) -> Iterator[int]:
        """Move points step by step and count the steps; up to step 0, the attraction of neighbors is exaggerated.

        These steps minimize the Kullback-Leibler divergence, whichever divergence is minimized afterwards.
        """
        descent = Descent(self.kernel.longest_step)
        for step in count(1 - N_UNFOLDING):
            stage = (KullbackLeibler(), EXAGGERATION) if step <= 0 else (self.divergence, 1.0)
            force = self._chosen(points, stage[0]).step(points, *stage)
            descent.step(points, force.gradient / (4.0 * force.mass), len(points) / stage[1], stage)
            yield step

    def _chosen(self, points: Floats, divergence: Divergence) -> Exact | Fast:
        n, d = points.shape
        if n <= FEW_POINTS or d > 2 or not is_tame(divergence, self.kernel):
            return self._exact
        cells = n_cells(points, self.kernel.width(max(1.0, degree(divergence))))
        return self._exact if n**2 <= cells * (1 if self.symmetric else FIELDS_OF_ROWS) else self._fast

    @cached_property
    def _exact(self) -> Exact:
        return Exact(self.p.toarray() if sparse.issparse(self.p) else self.p, self.kernel, self.symmetric)

    @cached_property
    def _fast(self) -> Fast:
        return Fast(self.p, self.kernel, self.symmetric, self.threads)


# Constraints


@constrained(weight=positive)
@dataclass(frozen=True)
class Whitened:
    """Constraint to zero mean and identity covariance: ``weight (|mean|^2 + |covariance - I|^2)``.

    Mean and covariance are weighted by the row sums of the table, that is, by the degrees in a weighted graph.

    Parameters
    ----------
    weight : float, default=1.0
        Weight of the penalty term. If the error of a layout exceeds it, the view collapses to a point.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.embedding.costs import Whitened
    >>> penalty = Whitened().on(np.ones((2, 2)), size=1.0)
    >>> [penalty(np.array([[-x], [x]]))[0] for x in (0.0, 1.0)]  # all in one point, and with variance one
    [1.0, 0.0]
    """

    weight: float = 1.0

    def on(self, given: Any, size: float) -> Rows:
        """Return the penalty as a function of all positions."""
        masses = given.sum(axis=1)
        masses = (masses / masses.sum())[:, None]

        def rows(points: Floats) -> tuple[float, Floats]:
            mean = (masses * points).sum(axis=0)
            centered = points - mean
            excess = (masses * centered).T @ centered - np.eye(points.shape[1])
            value = self.weight * float(mean @ mean + np.square(excess).sum())
            return value, self.weight * masses * (2.0 * mean + 4.0 * centered @ excess)

        return rows


@constrained(weight=positive)
@dataclass(frozen=True)
class Spread:
    """Reward for distant points: minus ``weight`` times the ratio of the variance in the view to that in the data.

    Parameters
    ----------
    weight : float, default=0.01
        Weight of the variance. Larger values unfold the data faster but stretch the distances between neighbors more.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.embedding.costs import Spread
    >>> penalty = Spread(weight=0.5).on(None, size=1.0)
    >>> [penalty(np.array([[-x], [x]]))[0] for x in (1.0, 2.0)]  # the farther apart, the less it costs
    [-0.5, -2.0]
    """

    weight: float = 0.01

    def on(self, given: Any, size: float) -> Rows:
        """Return the penalty as a function of all positions."""

        def rows(points: Floats) -> tuple[float, Floats]:
            centered = points - points.mean(axis=0)
            share = self.weight / (len(points) * size**2)
            return -share * float(np.square(centered).sum()), -2.0 * share * centered

        return rows


def _units(given: Any, error: ErrorPart) -> Floats:
    """Return the errors (m,) of the rows of an uninformative view."""

    def terms(a: Floats) -> Any:
        return error.terms(a, np.full_like(a, error.nothing))

    if sparse.issparse(given):
        return _like(given, terms(given.data)).sum(axis=1)
    n, m = given.shape
    return np.concatenate([terms(given[rows]).sum(axis=1) for rows in row_blocks(n, 8 * m, CLOSE)])


def _like(table: Any, values: Floats) -> Any:
    """Return other values at the places of a sparse table."""
    return sparse.csr_array((values, table.indices, table.indptr), shape=table.shape)
