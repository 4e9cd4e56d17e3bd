"""Maximum variance unfolding: embeddings of largest variance that preserve the distances between neighbors."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import eigh
from scipy.optimize import minimize
from scipy.sparse.csgraph import connected_components, shortest_path
from sklearn.utils import check_random_state

from protolearn.core.estimator import nothing_lost, warn_unconverged
from protolearn.core.graphs import COMPONENTS, NeighborGraph
from protolearn.core.numerics import largest_positive
from protolearn.core.parameters import array, fraction, integer, none, option, positive
from protolearn.core.progress import Progress
from protolearn.core.threads import Threads, chunk_threads, cut
from protolearn.core.types import Floats
from protolearn.core.validation import given_array
from protolearn.embedding._base import Embedding, ViewSamples
from protolearn.embedding._neighbors import nearest_vectors
from protolearn.embedding._start import classical_scaling

__all__ = [
    "MVU",
]

Indices = NDArray[np.intp]


FEW = 50  # samples up to which the convex problem is solved first


MOST_CONVEX = 250  # samples up to which it can be


MOST_DENSE = 2000  # samples up to which eigenvectors of a dense matrix are faster


MODES = 100  # slowest vibrations of the framework that are brought to the same speed


ROUND = 50  # steps between two updates of the tensions


FIRST_PENALTY, LAST_PENALTY = 10.0, 1e4  # on squared errors of squared lengths


RANK = 10  # dimensions of the optimization, at least


GIVE = 1e-2  # squared error of a squared length at the cost of one


NOISE = 1e-2  # of the first positions, in lengths of rods


CONVEX_ITER, CONVEX_TOL = 20_000, 1e-4  # of scs


class MVU(Embedding):
    """Maximum variance unfolding: the embedding of largest variance that preserves the distances between neighbors.

    Neighbors are connected by edges of fixed length, like the rods of a framework, and the samples are pulled apart as
    far as the edges allow. This flattens a curved sheet. With the matrix K of inner products of the positions and the
    distances d in the data, the problem is to maximize

        ``tr(K)`` subject to ``K >= 0``, ``K 1 = 0``, ``K_ii + K_jj - 2 K_ij = d_ij^2`` for all neighbors i, j.

    Parameters
    ----------
    n_components : int, default=2
        Number of dimensions of the view.
    n_neighbors : int, default=5
        Number of neighbors that each sample is connected to. With few neighbors the graph is loose and may be
        stretched; with too many, edges connect layers that only lie close to each other.
    radius : float, optional
        Maximum distance of connected samples; if given, it replaces ``n_neighbors``.
    components : {"connect", "largest", "raise"}, default="connect"
        Treatment of a graph that is not connected. ``"connect"`` adds the shortest edges between components, with a
        warning. ``"largest"`` unfolds only the largest component, with a warning, and sets the positions of other
        samples to NaN. ``"raise"`` reports an error.
    connectivity : sparse or dense array of shape (n_samples, n_samples), optional
        Neighborhood graph of your own, which replaces ``n_neighbors``: all pairs with a nonzero entry in at least one
        direction are connected. The lengths of edges are still computed from ``X``. The graph must be connected.
    constraint : {"equal", "shrink", "slack"}, default="equal"
        Constraint on the lengths of edges. ``"equal"`` preserves them to within ``tol``; ``"shrink"`` allows them to
        become shorter, like strings; ``"slack"`` replaces them by stiff springs, whose squared lengths deviate by about
        half a percent of the mean squared length. Dissimilarities that are not the distances of points in any Euclidean
        space cannot all be preserved exactly; ``"shrink"`` and ``"slack"`` always have a solution.
    method : {"auto", "low_rank", "sdp"}, default="auto"
        Solver. ``"low_rank"`` optimizes positions in ten dimensions, initialized by shortest paths along the
        edges. ``"sdp"`` first solves the convex problem for K, which has no local optima but takes long, and continues
        from its solution; it needs the package scs and accepts at most 250 samples. ``"auto"`` selects ``"sdp"`` for up
        to 50 samples if scs is installed.
    tol : float, default=1e-2
        Largest error of the length of an edge, in units of the root mean square length.
    max_iter : int, default=5000
        Maximum number of steps in these dimensions. A ``ConvergenceWarning`` is issued if they do not suffice.
    metric : str, callable or learned metric, default="euclidean"
        Distance between samples: ``"euclidean"``; ``"precomputed"`` if ``X`` holds the dissimilarities of all pairs; a
        name or function that `protolearn.dissimilarities.pairwise` accepts, for strings, sequences and other objects;
        or a learned metric, anything that `protolearn.as_metric` accepts, such as a fitted LVQ classifier.
    squared : bool, default=False
        Whether precomputed dissimilarities are squared distances already.
    symmetrize : {"raise", "mean"}, default="raise"
        Treatment of dissimilarities that are not symmetric: an error, or the mean of both directions.
    n_jobs : int, optional
        Number of threads for the search for neighbors; None uses as many as BLAS does.
    random_state : int, RandomState instance or None, default=None
        Seed of the small noise added to the initial positions, which allows flat data to move in all dimensions.
    verbose : int, default=0
        Verbosity: 1 shows a progress bar; 2, or 1 without a terminal, prints the variance and the error of edge lengths
        every 50 steps.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        Positions in the view, along the directions of largest variance; NaN for samples that are left out.
    coordinates_ : ndarray of shape (n_samples, n_dimensions)
        Positions in all dimensions of the optimization, of which the view shows the first.
    eigenvalues_ : ndarray of shape (n_dimensions,)
        Largest eigenvalues of K; all others are zero. Eigenvalues beyond the dimensions of the view should be small.
    edge_error_ : float
        Largest difference between the lengths of an edge in K and in the data, in units of the root mean square length;
        with ``constraint="shrink"``, only edges that are too long count.
    method_ : str
        ``"low_rank"`` or ``"sdp"``.
    n_iter_ : int
        Number of steps.
    n_features_in_ : int
        Number of features seen during ``fit``.

    See Also
    --------
    protolearn.dissimilarities.geodesic : Distances along the same graph, for classical scaling (Isomap).
    TSNE : A view of clusters, which need not be connected.

    Notes
    -----
    If edges are so many that they leave no degrees of freedom, the optimum under exact equality is ill-posed: Lagrange
    multipliers are unbounded, and the variance depends on the last digits of the lengths. A positive ``tol`` makes the
    problem well-posed. The running time grows with the number of digits of ``tol``.

    The problem is solved by an augmented Lagrangian method, whose multipliers are the tensions of the edges. It is
    minimized by L-BFGS with a preconditioner from the slowest modes of the graph. The convex problem is solved by scs.

    Identical samples stay at the same position, and are weighted by their number.

    References
    ----------
    Weinberger, K., Saul, L. (2006). Unsupervised learning of image manifolds by semidefinite programming. International
    Journal of Computer Vision 70, 77-90.

    Burer, S., Monteiro, R. (2003). A nonlinear programming algorithm for solving semidefinite programs via low-rank
    factorization. Mathematical Programming 95, 329-357.

    O'Donoghue, B., Chu, E., Parikh, N., Boyd, S. (2016). Conic optimization via operator splitting and homogeneous
    self-dual embedding. Journal of Optimization Theory and Applications 169, 1042-1068. (scs)

    Examples
    --------
    A spiral is unrolled to a line:

    >>> import numpy as np
    >>> from protolearn import MVU
    >>> angles = np.linspace(0, 3 * np.pi, 60)
    >>> X = angles[:, None] * np.column_stack([np.cos(angles), np.sin(angles)])
    >>> mvu = MVU(n_components=1, n_neighbors=2, random_state=0).fit(X)
    >>> bool(np.all(np.diff(mvu.embedding_[:, 0]) > 0) or np.all(np.diff(mvu.embedding_[:, 0]) < 0))
    True
    >>> bool(mvu.eigenvalues_[0] > 0.99 * mvu.eigenvalues_.sum()), mvu.edge_error_ < 0.01
    (True, True)
    """

    _constraints = {
        "n_neighbors": integer(1),
        "radius": positive | none,
        "components": COMPONENTS,
        "connectivity": array("an array of shape (n_samples, n_samples)") | none,
        "constraint": option("equal", "shrink", "slack"),
        "method": option("auto", "low_rank", "sdp"),
        "tol": fraction,
    }

    def __init__(
        self,
        n_components: int = 2,
        *,
        n_neighbors: int = 5,
        radius: float | None = None,
        components: str = "connect",
        connectivity: Any = None,
        constraint: str = "equal",
        method: str = "auto",
        tol: float = 1e-2,
        max_iter: int = 5000,
        metric: Any = "euclidean",
        squared: bool = False,
        symmetrize: str = "raise",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.components = components
        self.connectivity = connectivity
        self.constraint = constraint
        self.method = method
        self.tol = tol
        self.max_iter = max_iter
        self.metric = metric
        self.squared = squared
        self.symmetrize = symmetrize
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @nothing_lost
    def fit(self, X: Any, y: None = None) -> Self:
        """Compute the embedding.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or (n_samples, n_samples), or list of objects
            Samples or their dissimilarities, see ``metric``.
        y : None
            Ignored.

        Returns
        -------
        self : object
            The fitted embedding.
        """
        self._check_parameters()
        with chunk_threads(self.n_jobs) as n_threads:
            samples = self._read_samples(X, self.n_jobs)
            integer(1, len(samples) - 1).check("n_components", self.n_components)
            rng = check_random_state(self.random_state)
            different, places = _different(samples)
            different, places, graph = self._joined(different, places, Threads(n_threads), rng)
            self.method_ = self._chosen_method(len(different))
            rods, unit = self._rods(different, graph.tocoo())
            inside = places >= 0
            points = self._unfolded(Framework(rods, np.bincount(places[inside]).astype(np.float64)), rng)
            positions = points[places[inside]] * (unit * samples.unit)
            axes, lengths, _ = np.linalg.svd(positions - positions.mean(axis=0), full_matrices=False)
            self.coordinates_ = np.full((len(places), len(lengths)), np.nan)
            self.coordinates_[inside] = largest_positive(axes, axis=0) * lengths
            self.eigenvalues_ = np.square(lengths)
            self.embedding_ = self.coordinates_[:, : self.n_components].copy()
        return self

    # Reading

    def _chosen_method(self, n: int) -> str:
        if self.method == "sdp" and n > MOST_CONVEX:
            raise ValueError(f"method='sdp' takes at most {MOST_CONVEX} samples, not {n}; use method='low_rank'.")
        return self.method if self.method != "auto" else "sdp" if n <= FEW and find_spec("scs") else "low_rank"

    def _joined(
        self, different: ViewSamples, places: Indices, threads: Threads, rng: np.random.RandomState
    ) -> tuple[ViewSamples, Indices, Any]:
        """Return the distinct samples that are included, the index of each sample among them or -1, and their graph."""
        if self.connectivity is not None:
            return different, places, self._given_graph(places, len(different))
        neighborhood = NeighborGraph(min(self.n_neighbors, len(different) - 1), self.radius, self.components)
        search = partial(nearest_vectors, threads=threads, rng=rng)
        kept = neighborhood.kept(different, search, different.unit)
        order = np.full(len(different), -1)
        order[kept] = np.arange(len(kept))
        if (order[places] >= 0).sum() <= self.n_components:
            raise ValueError(
                f"The largest component has {(order[places] >= 0).sum()} samples, too few for n_components="
                f"{self.n_components}; raise n_neighbors or radius."
            )
        different = different.part(kept)
        return different, order[places], neighborhood.graph(different, search, different.unit)

    def _given_graph(self, places: Indices, n: int) -> Any:
        """Return the given neighborhood graph, of distinct samples."""
        given = given_array("connectivity", self.connectivity, accept_sparse="csr")
        if given.shape != (len(places), len(places)):
            raise ValueError(
                f"connectivity has the shape {given.shape}; expected (n_samples, n_samples)={(len(places),) * 2}."
            )
        first, second = (places[ends] for ends in given.nonzero())
        graph = sparse.coo_array((np.ones(len(first)), (first, second)), shape=(n, n)).tocsr()
        n_parts = connected_components(graph, directed=False)[0]
        if n_parts > 1:
            raise ValueError(
                f"The graph falls into {n_parts} components, which could be pulled apart without limit. Connect them "
                "in connectivity, or unfold them one by one."
            )
        return graph + graph.T

    def _rods(self, different: ViewSamples, graph: Any) -> tuple[Rods, float]:
        """Return the edges between connected samples, each pair once, and the unit of their lengths."""
        once = graph.row < graph.col
        first, second = graph.row[once].astype(np.intp), graph.col[once].astype(np.intp)
        if different.vectors is None:
            squares = different.all_squares()[first, second]
        else:
            squares = np.square(different.vectors[first].astype(np.float64) - different.vectors[second]).sum(axis=1)
        unit = squares.mean()
        if not unit:
            raise ValueError("All neighbors are at distance zero, so nothing can be pulled apart; raise n_neighbors.")
        squares = squares / unit
        low, high, give = squares, squares, 0.0
        if self.constraint == "equal":
            lengths = np.sqrt(squares)
            low, high = np.maximum(lengths - 0.5 * self.tol, 0.0) ** 2, (lengths + 0.5 * self.tol) ** 2
        elif self.constraint == "shrink":
            low = np.zeros_like(squares)
        else:
            give = GIVE
        return Rods(first, second, squares, low, high, give), float(np.sqrt(unit))

    # Learning

    def _unfolded(self, framework: Framework, rng: np.random.RandomState) -> Floats:
        """Return positions (n, rank), in units of the rods."""
        rank = max(self.n_components, min(RANK, framework.n - 1))
        if self.method_ == "sdp":
            points, tensions, self.n_iter_ = framework.convex_optimum(rank, rng)
        else:
            points, tensions, self.n_iter_ = framework.drawn_out(rank, rng), np.zeros(framework.rods.n), 0
        penalty, last = FIRST_PENALTY, np.inf
        moves = Moves(framework)
        with Progress("MVU", self.max_iter, self.verbose, "step", every=1) as progress:
            for start in range(0, self.max_iter, ROUND):
                steps = min(ROUND, self.max_iter - start)
                points, n_steps = framework.descend(points, tensions, penalty, moves, steps)
                self.n_iter_ += n_steps
                squares = framework.squares(points)
                pulled = framework.rods.tensions(squares + tensions / penalty, 1.0 / penalty)
                wanted = squares + (tensions - pulled) / penalty
                tensions = pulled
                error = float(np.abs(np.sqrt(squares) - np.sqrt(np.maximum(wanted, 0.0))).max())
                progress.step(start + n_steps, steps, variance=framework.variance(points), error_of_rods=error)
                if error <= 0.5 * self.tol:
                    break
                size = float(np.square(squares - wanted).sum())
                if size > 0.25 * last:
                    penalty = min(2.0 * penalty, LAST_PENALTY)
                last = size
        if error > 0.5 * self.tol:
            state = f"lengths of edges are still off by up to {error:.2g} of their mean"
            advice = "Raise max_iter or tol; use constraint='slack' if no points have the distances in X."
            warn_unconverged(self, self.max_iter, state, advice)
        self.edge_error_ = framework.rods.error(squares, self.constraint == "shrink")
        return points


@dataclass(frozen=True)
class Rods:
    """Pairs of samples with squared lengths that are constrained to an interval: strictly, or at a cost outside of it.

    The cost is the squared distance from the interval over ``give``.
    """

    first: Indices
    second: Indices
    squares: Floats
    low: Floats
    high: Floats
    give: float

    @property
    def n(self) -> int:
        return len(self.squares)

    def tensions(self, squares: Floats, step: float) -> Floats:
        """Return the gradient of the cost, smoothed by a step of the proximal point method."""
        return (squares - np.clip(squares, self.low, self.high)) / (step + 0.5 * self.give)

    def cost(self, squares: Floats, step: float) -> float:
        """Return the smoothed cost."""
        return 0.5 * float(np.square(self.tensions(squares, step)).sum()) * (step + 0.5 * self.give)

    def error(self, squares: Floats, one_sided: bool) -> float:
        """Return the largest error of a length, or the largest excess."""
        differences = np.sqrt(squares) - np.sqrt(self.squares)
        return float(max(0.0, differences.max(), 0.0 if one_sided else -differences.min()))


class Framework:
    """Edges between n weighted samples that are pulled apart.

    The objective is ``-share tr(K)`` plus the cost of the edges, where ``share`` makes the mean tension about 1.
    """

    def __init__(self, rods: Rods, weights: Floats) -> None:
        self.rods, self.weights, self.n = rods, weights, len(weights)
        signs = np.repeat([1.0, -1.0], rods.n)
        entries = signs, (np.tile(np.arange(rods.n), 2), np.concatenate([rods.first, rods.second]))
        self.incidence = sparse.csr_array(entries, shape=(rods.n, self.n))
        self.transposed = self.incidence.T.tocsr()
        ends = rods.first.astype(np.int32), rods.second.astype(np.int32)  # SciPy 1.13 searches no longer indices
        lengths = sparse.csr_array((np.sqrt(rods.squares), ends), shape=(self.n, self.n))
        self.paths = np.empty((self.n, self.n))
        for rows in cut(self.n, 128):  # a search for all paths at once could not be interrupted
            starts = np.arange(rows.start, rows.stop)
            self.paths[rows] = np.square(shortest_path(lengths, method="D", directed=False, indices=starts))
        widest = weights @ self.paths @ weights
        if not widest:
            raise ValueError("Neighbors at distance zero hold all samples together; raise n_neighbors.")
        self.share = 2.0 * rods.n * weights.sum() / widest  # no variance can be larger

    def squares(self, points: Floats) -> Floats:
        """Return the squared lengths of the rods."""
        return np.square(self.incidence @ points).sum(axis=1)

    def variance(self, points: Floats) -> float:
        """Return tr(K)."""
        return float(self.weights @ np.square(points - self.weights @ points / self.weights.sum()).sum(axis=1))

    def modes(self, count: int) -> tuple[Floats, Floats]:
        """Return squared frequencies and modes (n, count) of the slowest vibrations; the first is the constant mode."""
        laplacian = self.transposed @ self.incidence
        if self.n > MOST_DENSE:
            start = np.random.RandomState(0).normal(size=self.n)
            return sparse.linalg.eigsh(laplacian.tocsc(), count, sigma=-1e-3, v0=start)
        return eigh(laplacian.toarray(), subset_by_index=(0, count - 1))

    def drawn_out(self, rank: int, rng: np.random.RandomState) -> Floats:
        """Return positions (n, rank) whose distances best approximate shortest paths along the edges."""
        return classical_scaling(self.paths, rank, rng) + NOISE * rng.normal(size=(self.n, rank))

    def descend(
        self, points: Floats, tensions: Floats, penalty: float, moves: Moves, n_steps: int
    ) -> tuple[Floats, int]:
        """Return improved positions (n, rank) under an augmented Lagrangian, and the number of steps."""

        def objective(flat: Floats) -> tuple[float, Floats]:
            points = moves.applied(flat.reshape(shape))
            edges = self.incidence @ points
            pulled = np.square(edges).sum(axis=1) + tensions / penalty
            value = self.rods.cost(pulled, 1.0 / penalty) - self.share * self.variance(points)
            outward = self.weights[:, None] * (points - self.weights @ points / self.weights.sum())
            inward = self.transposed @ (self.rods.tensions(pulled, 1.0 / penalty)[:, None] * edges)
            return value, 2.0 * moves.applied(inward - self.share * outward).ravel()

        shape = points.shape
        options = {"maxiter": n_steps, "maxfun": 10 * n_steps, "ftol": 0.0, "gtol": 1e-5}
        found = minimize(objective, moves.undone(points).ravel(), jac=True, method="L-BFGS-B", options=options)
        return moves.applied(found.x.reshape(shape)), found.nit

    def convex_optimum(self, rank: int, rng: np.random.RandomState) -> tuple[Floats, Floats, int]:
        """Solve for K, the matrix of all inner products, with scs.

        Returns positions (n, rank) of the largest part of K, the tensions, and the number of iterations. Without a
        solution K, the positions are those from shortest paths.
        """
        try:
            import scs
        except ImportError as error:
            raise ImportError(
                "method='sdp' needs the package scs; install it with: pip install 'protolearn[mvu]', or use "
                "method='low_rank'."
            ) from error
        problem, cones = self._cone_program()
        solution = scs.SCS(
            problem, cones, verbose=False, eps_abs=CONVEX_TOL, eps_rel=CONVEX_TOL, max_iters=CONVEX_ITER
        ).solve()
        if solution["info"]["status"] == "interrupted":  # scs takes the signal for itself
            raise KeyboardInterrupt
        if not np.isfinite(solution["x"]).all():  # no points have the distances in X, not even to within tol
            return self.drawn_out(rank, rng), np.zeros(self.rods.n), solution["info"]["iter"]
        rows, columns = _lower_triangle(self.n)
        products = np.zeros((self.n, self.n))
        entries = solution["x"][: len(rows)] / np.where(rows == columns, 1.0, np.sqrt(2.0))
        products[rows, columns] = products[columns, rows] = entries
        sizes, axes = np.linalg.eigh(products)
        points = axes[:, ::-1][:, :rank] * np.sqrt(np.maximum(sizes[::-1][:rank], 0.0))
        above, below = solution["y"][1 : 1 + 2 * self.rods.n].reshape(2, -1)
        return np.hstack([points, np.zeros((self.n, rank - points.shape[1]))]), above - below, solution["info"]["iter"]

    def _cone_program(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return ``P, A, b, c`` and the cones: minimize ``x'Px / 2 + c'x`` where ``b - Ax`` is in them.

        The unknowns are the lower triangle of K, with entries beside the diagonal times the root of 2, and how far rods
        are out of their intervals, if they may be.
        """
        rods, n, m = self.rods, self.n, self.rods.n
        rows, columns = _lower_triangle(n)
        q = len(rows)
        places = np.empty((n, n), np.intp)
        places[rows, columns] = places[columns, rows] = np.arange(q)
        each, ones = np.arange(m), np.ones(m)
        entries = np.concatenate([ones, ones, -np.sqrt(2.0) * ones])
        ends = np.concatenate([places[rods.first, rods.first], places[rods.second, rods.second]])
        ends = np.concatenate([ends, places[rods.first, rods.second]])
        squares = sparse.csc_array((entries, (np.tile(each, 3), ends)), shape=(m, q))
        doubled = np.where(rows == columns, 1.0, np.sqrt(2.0))
        middle = sparse.csc_array((doubled * self.weights[rows] * self.weights[columns])[None] / self.weights.sum())
        gain = np.where(rows == columns, -self.share * self.weights[rows], 0.0)
        A = sparse.vstack([middle, squares, -squares, -sparse.eye_array(q)], format="csc")
        b = np.concatenate([[0.0], rods.high, -rods.low, np.zeros(q)])
        P = sparse.csc_array((q, q))
        if rods.give:
            out = sparse.eye_array(m)
            A = sparse.hstack([A, sparse.vstack([sparse.csc_array((1, m)), -out, out, sparse.csc_array((q, m))])])
            P, gain = sparse.block_diag([P, 2.0 / rods.give * out]), np.concatenate([gain, np.zeros(m)])
        problem = {"P": sparse.csc_matrix(P), "A": sparse.csc_matrix(A), "b": b, "c": gain}
        return problem, {"z": 1, "l": 2 * m, "s": [n]}


class Moves:
    """Coordinates of positions in which slow modes of a framework converge as fast as others, without translation."""

    def __init__(self, framework: Framework) -> None:
        frequencies, self.shapes = framework.modes(min(MODES, framework.n))
        self.factors = np.sqrt(frequencies[-1] / np.maximum(frequencies, 1e-12 * frequencies[-1]))
        self.factors[0] = 0.0

    def applied(self, moves: Floats) -> Floats:
        """Return the positions (n, rank) that moves lead to; the map is symmetric."""
        return moves + self.shapes @ ((self.factors - 1.0)[:, None] * (self.shapes.T @ moves))

    def undone(self, points: Floats) -> Floats:
        """Return the coordinates of these positions, up to a translation of all."""
        back = np.append(0.0, 1.0 / self.factors[1:])
        return points + self.shapes @ ((back - 1.0)[:, None] * (self.shapes.T @ points))


def _lower_triangle(n: int) -> tuple[Indices, Indices]:
    """Return rows and columns of the entries of a symmetric matrix, column by column."""
    columns, rows = np.triu_indices(n)
    return rows, columns


def _different(samples: ViewSamples) -> tuple[ViewSamples, Indices]:
    """Return one of each group of identical samples, and the group of each sample."""
    if samples.vectors is None:
        # Not all pairs at distance zero: dissimilarities need not be transitive, and would chain all samples together.
        _, first, places = np.unique(samples.all_squares(), axis=0, return_index=True, return_inverse=True)
        return ViewSamples(None, samples.all_squares()[np.ix_(first, first)], samples.unit), places
    vectors, places = np.unique(samples.vectors, axis=0, return_inverse=True)
    return ViewSamples(vectors, None, samples.unit), places
