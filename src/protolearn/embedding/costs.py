"""Costs of a view, composed of four parts.

A cost is the error between characteristics of the data and those of the view, with a constraint where the error alone
would be minimized by collapsing the view to a point. Multidimensional scaling, Isomap, locally linear embedding,
Laplacian eigenmaps, maximum variance unfolding and neighbor embeddings all have this form; a new cost is one line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from protolearn.core.graphs import nearest_of_new
from protolearn.core.parameters import constrained, instance, option, positive
from protolearn.core.threads import Threads
from protolearn.core.types import Array, Bools, Floats
from protolearn.embedding._base import ViewSamples
from protolearn.embedding._cost_parts import (
    Affinities,
    DataPart,
    Distances,
    DistanceView,
    EdgeSquares,
    ErrorPart,
    Geodesics,
    HeatKernel,
    InnerProducts,
    InnerProductView,
    KernelView,
    LeastSquares,
    OnGraph,
    ProductError,
    Reconstruction,
    ResidualView,
    Rows,
    Spread,
    SquaredDistanceView,
    SquaredError,
    ViewConstraint,
    ViewPart,
    Whitened,
)
from protolearn.embedding.affinities import GaussianKernel, StudentKernel, calibrated
from protolearn.embedding.divergences import Divergence, NeRV, get_divergence

__all__ = [
    "COSTS",
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
    "Objective",
    "ProductError",
    "Reconstruction",
    "ResidualView",
    "Spread",
    "SquaredDistanceView",
    "SquaredError",
    "ViewConstraint",
    "ViewCost",
    "ViewPart",
    "Whitened",
    "get_cost",
    "isomap",
    "laplacian",
    "lle",
    "mds",
    "mvu",
    "nerv",
    "sammon",
    "sne",
    "strain",
    "tnerv",
    "tsne",
]

RandomState = np.random.RandomState


N_START = 15  # neighbors among whose images a new point starts


START_PERPLEXITY = 5.0


@dataclass(frozen=True)
class Objective:
    """Cost as a function of positions (n, d), for given data.

    Parameters
    ----------
    parts : tuple of callable
        Functions of positions whose values and gradients are summed.
    size : float
        Root mean square radius of a good initial layout.
    unfold : callable, optional
        Function that improves free positions (n, d) in place: an iterator over the numbers of its steps. Steps up to
        number 0 are preparation.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.embedding.costs import Objective
    >>> def squares(points):
    ...     return np.square(points).sum(axis=1), 2.0 * points
    >>> value, gradient = Objective((squares, squares), size=1.0)(np.array([[1.0], [2.0]]))
    >>> value, gradient.tolist()
    (10.0, [[4.0], [8.0]])
    """

    parts: tuple[Rows, ...]
    size: float
    unfold: Callable[[Floats], Iterator[int]] | None = None

    def __call__(self, points: Floats) -> tuple[float, Floats]:
        """Return the value and the gradient (n, d)."""
        values, gradients = zip(*(part(points) for part in self.parts))
        return float(sum(map(np.sum, values))), sum(gradients)


@dataclass(frozen=True)
class ViewCost:
    """Cost of a view: characteristics of the data, those of the view, the error between them, and a constraint.

    Parameters
    ----------
    data : DataPart
        Characteristics of the data that the view should preserve: `Affinities`, `Distances`, `InnerProducts`,
        `Geodesics`, `EdgeSquares`, `HeatKernel` or `Reconstruction`.
    view : ViewPart
        Corresponding characteristics of the view: `KernelView`, `DistanceView`, `InnerProductView`,
        `SquaredDistanceView` or `ResidualView`.
    error : Divergence or ErrorPart
        Error between the two: any divergence for affinities, otherwise `LeastSquares`, `ProductError` or
        `SquaredError`.
    constraint : ViewConstraint, optional
        Penalty term that constrains the positions: `Whitened` or `Spread`.

    Notes
    -----
    Costs of an uninformative view are of the order of 1 at any number and scale of the samples.

    New samples are placed one by one: each minimizes its own error while the others stay fixed. Terms that depend on
    all samples are left out: the constraint, which one more point hardly changes, and the sum over all pairs that
    normalizes joint affinities. The affinities of a new sample are normalized to 1 instead, in the data and in the
    view, which balances attraction and repulsion for a single point.

    References
    ----------
    Bunte, K. (2011). Adaptive dissimilarity measures, dimension reduction and visualization. PhD thesis, University of
    Groningen. Chapter 6, table 6.1.

    Examples
    --------
    Sammon's mapping of geodesic distances:

    >>> import numpy as np
    >>> from protolearn.core.threads import Threads
    >>> from protolearn.embedding._base import ViewSamples
    >>> from protolearn.embedding.costs import ViewCost, DistanceView, Geodesics, LeastSquares
    >>> cost = ViewCost(Geodesics(n_neighbors=1), DistanceView(), LeastSquares("sammon"))
    >>> X = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.1], [0.0, 2.2]])
    >>> objective = cost.objective(ViewSamples(X, None, unit=1.0), Threads(), np.random.RandomState(0))
    >>> round(objective(np.array([[0.0], [1.0], [2.1], [3.587]]))[0], 6)
    0.0
    """

    data: DataPart
    view: ViewPart
    error: Divergence | ErrorPart
    constraint: ViewConstraint | None = None

    def __post_init__(self) -> None:
        if isinstance(self.error, Divergence) != isinstance(self.view, KernelView):
            raise ValueError(
                f"view={self.view!r} and error={self.error!r} do not go together: divergences are of the affinities of "
                "KernelView, all other errors of other views."
            )
        if getattr(self.data, "symmetric", None) != getattr(self.view, "symmetric", None):
            raise ValueError(
                f"data={self.data!r} and view={self.view!r} do not go together: use Affinities with KernelView, and "
                "the same symmetric for both."
            )

    def unit(self, samples: ViewSamples) -> float:
        """Return the factor that converts positions to the unit of the data; 1 if positions have no unit."""
        return samples.unit if self.data.metric else 1.0

    def kept(self, samples: ViewSamples, threads: Threads, rng: RandomState) -> Array:
        """Return the samples included in the cost: all, or those in the largest component of the graph."""
        return self.data.kept(samples, threads, rng) if isinstance(self.data, OnGraph) else np.arange(len(samples))

    def reached(self, samples: ViewSamples, new: ViewSamples, threads: Threads) -> Bools:
        """Return which new samples can be placed: all, or those that have neighbors in the graph."""
        if isinstance(self.data, OnGraph):
            return self.data.reached(samples, new, threads)
        return np.ones(len(new), bool)

    def objective(self, samples: ViewSamples, threads: Threads, rng: RandomState) -> Objective:
        """Return the cost of positions of all samples.

        Parameters
        ----------
        samples : Samples
            The samples.
        threads : Threads
            Threads that loops use.
        rng : RandomState
            Random numbers for the approximate search for neighbors.

        Returns
        -------
        Objective
            Function of positions (n, d).
        """
        given = self.data.of(samples, threads, rng)
        size = _radius(samples) if self.data.metric else self.view.size
        error = self.view.compared(given, self.error, threads)
        parts = (error,) if self.constraint is None else (error, self.constraint.on(given, size))
        return Objective(parts, size, getattr(error, "unfold", None))

    def placement(
        self, samples: ViewSamples, points: Floats, new: ViewSamples, threads: Threads, rng: RandomState
    ) -> tuple[Objective, Floats]:
        """Return the cost of positions of new samples while the others stay fixed, and their initial positions.

        Parameters
        ----------
        samples : Samples
            Training samples.
        points : ndarray of shape (n, d)
            Positions of the training samples, see `unit`.
        new : Samples
            New samples in the same unit: m vectors, or their squared distances (m, n) to the training samples.
        threads : Threads
            Threads that loops use.
        rng : RandomState
            Random numbers for the approximate search for neighbors.

        Returns
        -------
        objective : Objective
            Function of positions (m, d): a sum of costs, each of which depends on the position of one new sample only.
        start : ndarray of shape (m, d)
            Initial positions: the weighted mean of the positions of the nearest training samples or, where its cost is
            lower, the position of the nearest one.
        """
        given = self.data.of_new(samples, new, threads, rng)
        errors = self.view.placed(given, points, self.error, threads)
        objective = Objective((errors,), float(np.sqrt(points.var(axis=0).sum())))
        return objective, _start(errors, samples, points, new, threads)


@constrained(dof=positive)
def tsne(perplexity: float = 30.0, divergence: str | Divergence = "kl", dof: float = 1.0) -> ViewCost:
    r"""Return the cost of t-distributed stochastic neighbor embedding.

    Parameters
    ----------
    perplexity : float, default=30.0
        Effective number of neighbors.
    divergence : str or Divergence, default="kl"
        Divergence between the joint affinities in the data and in the view.
    dof : float, default=1.0
        Degrees of freedom of the Student kernel of the view.

    Returns
    -------
    Cost
        :math:`D(p \| q)` with :math:`q_{ij}` proportional to :math:`(1 + \|y_i - y_j\|^2 / \nu)^{-(\nu + 1) / 2}`,
        where :math:`\nu` is ``dof``.

    Examples
    --------
    >>> from protolearn.embedding.costs import tsne
    >>> tsne(perplexity=50, divergence="gamma").error
    Gamma(gamma=0.5)
    """
    return ViewCost(Affinities(perplexity), KernelView(StudentKernel(dof)), get_divergence(divergence))


def sne(perplexity: float = 30.0, divergence: str | Divergence = "kl", symmetric: bool = False) -> ViewCost:
    r"""Return the cost of stochastic neighbor embedding.

    Parameters
    ----------
    perplexity : float, default=30.0
        Effective number of neighbors.
    divergence : str or Divergence, default="kl"
        Divergence between the affinities in the data and in the view.
    symmetric : bool, default=False
        Whether to compare all pairs as one joint distribution. Otherwise each sample has a conditional distribution
        over the others.

    Returns
    -------
    Cost
        :math:`D(p \| q)`, or its mean over the samples, with :math:`q_{ij}` proportional to
        :math:`\exp(-\|y_i - y_j\|^2)`.

    Examples
    --------
    >>> from protolearn import MappedEmbedding
    >>> from protolearn.embedding.costs import sne
    >>> view = MappedEmbedding(cost=sne(perplexity=10, divergence="beta"))
    >>> view.cost.data.perplexity, view.cost.view.kernel
    (10, GaussianKernel())
    """
    return ViewCost(
        Affinities(perplexity, symmetric), KernelView(GaussianKernel(), symmetric), get_divergence(divergence)
    )


def nerv(perplexity: float = 30.0, trade_off: float = 0.5) -> ViewCost:
    r"""Return the cost of the neighbor retrieval visualizer: `sne` with both directions of the divergence.

    Parameters
    ----------
    perplexity : float, default=30.0
        Effective number of neighbors.
    trade_off : float, default=0.5
        Trade-off between missed neighbors (1, recall) and false neighbors (0, precision).

    Returns
    -------
    Cost
        :math:`\lambda\, KL(p \| q) + (1 - \lambda)\, KL(q \| p)` with the trade-off :math:`\lambda`.

    Examples
    --------
    >>> from protolearn.embedding.costs import nerv
    >>> cost = nerv(perplexity=20, trade_off=0.1)  # a view with few wrong neighbors
    >>> cost.error, cost.view.kernel
    (NeRV(trade_off=0.1), GaussianKernel())
    """
    return sne(perplexity, NeRV(trade_off))


def tnerv(perplexity: float = 30.0, trade_off: float = 0.5) -> ViewCost:
    r"""Return the cost of t-NeRV: `tsne` with both directions of the divergence.

    Parameters
    ----------
    perplexity : float, default=30.0
        Effective number of neighbors.
    trade_off : float, default=0.5
        Trade-off between missed neighbors (1, recall) and false neighbors (0, precision).

    Returns
    -------
    Cost
        :math:`\lambda\, KL(p \| q) + (1 - \lambda)\, KL(q \| p)` with the trade-off :math:`\lambda`.

    Examples
    --------
    >>> from protolearn.embedding.costs import tnerv
    >>> cost = tnerv(perplexity=20, trade_off=0.9)  # a view that misses few neighbors
    >>> cost.error, cost.view.kernel
    (NeRV(trade_off=0.9), StudentKernel(dof=1.0))
    """
    return tsne(perplexity, NeRV(trade_off))


def mds() -> ViewCost:
    r"""Return the stress of metric multidimensional scaling.

    Returns
    -------
    Cost
        :math:`\sum_{ij} (d_{ij} - \|y_i - y_j\|)^2 / \sum_{ij} d_{ij}^2` for the distances d of the data.

    Examples
    --------
    The distances within a rectangle are preserved exactly:

    >>> from scipy.spatial.distance import pdist
    >>> from protolearn import MappedEmbedding
    >>> from protolearn.embedding.costs import mds
    >>> X = [[0.0, 0.0, 1.0], [3.0, 0.0, 1.0], [0.0, 4.0, 1.0], [3.0, 4.0, 1.0]]
    >>> Y = MappedEmbedding(cost=mds(), mapping="free", random_state=0).fit_transform(X)
    >>> pdist(Y).round(2).tolist()
    [3.0, 4.0, 5.0, 5.0, 4.0, 3.0]
    """
    return ViewCost(Distances(), DistanceView(), LeastSquares())


def sammon() -> ViewCost:
    r"""Return Sammon's stress, which weights errors by the inverse distance and so emphasizes small distances.

    Returns
    -------
    Cost
        :math:`\sum_{ij} \frac{(d_{ij} - \|y_i - y_j\|)^2}{d_{ij}} / \sum_{ij} d_{ij}` over the pairs with
        :math:`d_{ij} > 0`.

    Examples
    --------
    >>> from protolearn import MappedEmbedding
    >>> from protolearn.embedding.costs import sammon
    >>> line = [[0.0, 0.0], [1.0, 1.0], [5.0, 5.0], [6.0, 6.0]]
    >>> view = MappedEmbedding(cost=sammon(), mapping="free", n_components=1, random_state=0).fit(line)
    >>> view.cost_ < 1e-6  # distances on a line can be kept
    True
    """
    return ViewCost(Distances(), DistanceView(), LeastSquares("sammon"))


def isomap(n_neighbors: int = 10, radius: float | None = None, components: str = "raise") -> ViewCost:
    """Return the stress of geodesic distances, the cost of Isomap.

    Parameters
    ----------
    n_neighbors : int, default=10
        Number of neighbors that each sample is connected to.
    radius : float, optional
        Maximum distance of connected samples; if given, it replaces ``n_neighbors``.
    components : {"raise", "connect", "largest"}, default="raise"
        Treatment of a graph that is not connected: ``"raise"`` reports an error, ``"connect"`` adds the shortest edges
        between components, and ``"largest"`` keeps only the samples of the largest component.

    Returns
    -------
    Cost
        Stress as in `mds`, with the lengths of shortest paths in the neighborhood graph as distances.

    Examples
    --------
    >>> from protolearn import MappedEmbedding
    >>> from protolearn.embedding.costs import isomap
    >>> view = MappedEmbedding(cost=isomap(n_neighbors=8, components="connect"))
    >>> view.cost.data
    Geodesics(n_neighbors=8, radius=None, components='connect')
    """
    return ViewCost(Geodesics(n_neighbors, radius, components), DistanceView(), LeastSquares())


def strain() -> ViewCost:
    r"""Return the cost of classical scaling, which principal components minimize.

    Returns
    -------
    Cost
        :math:`\sum_{ij} (x_i \cdot x_j - y_i \cdot y_j)^2 / \sum_{ij} (x_i \cdot x_j)^2` for centered samples and
        positions.

    Examples
    --------
    Its minimum is the residual of principal components:

    >>> from protolearn import MappedEmbedding
    >>> from protolearn.embedding.costs import strain
    >>> cross = [[2.0, 0.0], [-2.0, 0.0], [0.0, 1.0], [0.0, -1.0]]  # eigenvalues 8 and 2
    >>> view = MappedEmbedding(cost=strain(), mapping="linear", n_components=1, random_state=0).fit(cross)
    >>> round(view.cost_, 3), round(2**2 / (8**2 + 2**2), 3)
    (0.059, 0.059)
    """
    return ViewCost(InnerProducts(), InnerProductView(), LeastSquares())


def mvu(n_neighbors: int = 5, weight: float = 0.01, radius: float | None = None, components: str = "raise") -> ViewCost:
    r"""Return a soft form of the cost of maximum variance unfolding.

    Parameters
    ----------
    n_neighbors : int, default=5
        Number of neighbors that each sample is connected to.
    weight : float, default=0.01
        Weight of the variance. Larger values unfold the data faster but stretch the distances between neighbors more.
    radius : float, optional
        Maximum distance of connected samples; if given, it replaces ``n_neighbors``.
    components : {"raise", "connect", "largest"}, default="raise"
        Treatment of a graph that is not connected: ``"raise"`` reports an error, ``"connect"`` adds the shortest edges
        between components, and ``"largest"`` keeps only the samples of the largest component.

    Returns
    -------
    Cost
        :math:`\sum_{ij} (d_{ij}^2 - \|y_i - y_j\|^2)^2 / \sum_{ij} d_{ij}^4` over pairs of neighbors, minus ``weight``
        times the ratio of the variance of the positions to that of the data.

    Examples
    --------
    >>> from protolearn.embedding.costs import mvu
    >>> cost = mvu(n_neighbors=4, weight=0.1)  # unfolds more than by default
    >>> cost.data.n_neighbors, cost.constraint
    (4, Spread(weight=0.1))
    """
    return ViewCost(EdgeSquares(n_neighbors, radius, components), SquaredDistanceView(), LeastSquares(), Spread(weight))


def lle(
    n_neighbors: int = 10,
    regularization: float = 1e-3,
    weight: float = 1.0,
    radius: float | None = None,
    components: str = "raise",
) -> ViewCost:
    r"""Return a soft form of the cost of locally linear embedding.

    Parameters
    ----------
    n_neighbors : int, default=10
        Number of neighbors of each sample.
    regularization : float, default=1e-3
        Strength of regularization toward equal weights of all neighbors.
    weight : float, default=1.0
        Weight of the penalty term on mean and covariance of the view.
    radius : float, optional
        Maximum distance of connected samples; if given, it replaces ``n_neighbors``.
    components : {"raise", "connect", "largest"}, default="raise"
        Treatment of a graph that is not connected: ``"raise"`` reports an error, ``"connect"`` adds the shortest edges
        between components, and ``"largest"`` keeps only the samples of the largest component.

    Returns
    -------
    Cost
        :math:`\sum_i \|y_i - \sum_j w_{ij} y_j\|^2 / n + c\, (\|m\|^2 + \|C - I\|^2)` with the mean m and the
        covariance C of the positions and ``weight`` c, where the weights w reconstruct each sample from its neighbors.

    Examples
    --------
    >>> from protolearn.embedding.costs import lle
    >>> cost = lle(n_neighbors=12, regularization=0.01)
    >>> cost.data.regularization, cost.view, cost.constraint
    (0.01, ResidualView(), Whitened(weight=1.0))
    """
    data = Reconstruction(n_neighbors, regularization, radius, components)
    return ViewCost(data, ResidualView(), SquaredError(), Whitened(weight))


def laplacian(
    n_neighbors: int = 10,
    width: float | None = None,
    weight: float = 1.0,
    radius: float | None = None,
    components: str = "raise",
) -> ViewCost:
    r"""Return a soft form of the cost of Laplacian eigenmaps.

    Parameters
    ----------
    n_neighbors : int, default=10
        Number of neighbors that each sample is connected to.
    width : float, optional
        Squared length scale of the weights :math:`w_{ij} = e^{-\|x_i - x_j\|^2 / \text{width}}`; the mean squared
        distance of neighbors by default.
    weight : float, default=1.0
        Weight of the penalty term on mean and covariance of the view.
    radius : float, optional
        Maximum distance of connected samples; if given, it replaces ``n_neighbors``.
    components : {"raise", "connect", "largest"}, default="raise"
        Treatment of a graph that is not connected: ``"raise"`` reports an error, ``"connect"`` adds the shortest edges
        between components, and ``"largest"`` keeps only the samples of the largest component.

    Returns
    -------
    Cost
        :math:`\sum_{ij} w_{ij} \|y_i - y_j\|^2 / \sum_{ij} w_{ij} + c\, (\|m\|^2 + \|C - I\|^2)` with ``weight`` c,
        where the mean m and the covariance C weight each sample by the sum of its :math:`w_{ij}`.

    Examples
    --------
    >>> from protolearn.embedding.costs import laplacian
    >>> cost = laplacian(n_neighbors=5, width=2.0)
    >>> cost.data.width, cost.view, cost.error
    (2.0, SquaredDistanceView(), ProductError())
    """
    data = HeatKernel(n_neighbors, width, radius, components)
    return ViewCost(data, SquaredDistanceView(), ProductError(), Whitened(weight))


#: Costs by their names, with default parameters.
COSTS: dict[str, ViewCost] = {
    make.__name__: make() for make in (tsne, sne, nerv, tnerv, mds, sammon, isomap, strain, mvu, lle, laplacian)
}


A_COST = option(*COSTS) | instance(ViewCost)


@constrained(cost=A_COST)
def get_cost(cost: str | ViewCost) -> ViewCost:
    """Return the cost with a given name, or the given cost itself.

    Parameters
    ----------
    cost : str or Cost
        Key of ``COSTS``, for a cost with default parameters, or an instance.

    Returns
    -------
    Cost
        The cost.

    Examples
    --------
    >>> from protolearn.embedding.costs import get_cost
    >>> get_cost("sammon").error
    LeastSquares(weighting='sammon')
    """
    return COSTS[cost] if isinstance(cost, str) else cost


def _radius(samples: ViewSamples) -> float:
    """Return the root mean square distance of samples from their mean."""
    if samples.vectors is not None:
        return float(np.sqrt(samples.vectors.var(axis=0, dtype=np.float64).sum()))
    return float(np.sqrt(0.5 * samples.all_squares().mean()))


def _start(rows: Rows, samples: ViewSamples, points: Floats, new: ViewSamples, threads: Threads) -> Floats:
    """Return the mean of the images of the nearest samples or, where that costs less, the image of the nearest one."""
    k = min(N_START, len(samples))
    squares, indices = nearest_of_new(samples, new, k, threads)
    weights, _ = calibrated(squares, min(START_PERPLEXITY, k), threads)
    means, nearest = np.einsum("mk,mkd->md", weights, points[indices]), points[indices[:, 0]]
    return np.where((rows(means)[0] <= rows(nearest)[0])[:, None], means, nearest)
