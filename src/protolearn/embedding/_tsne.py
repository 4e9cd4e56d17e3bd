"""Out-of-sample extension of neighbor embeddings: new samples are placed while all training samples stay fixed.

A position y minimizes the Kullback-Leibler divergence between the affinities p of the new sample to its neighbors and
those in the view, ``-sum_j p_j log w(y, y_j) + log sum_j w(y, y_j)``. The second sum, over all samples, is a field.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import partial
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from protolearn.core.estimator import filled, keep, nothing_lost
from protolearn.core.metric import as_metric, is_learned
from protolearn.core.numerics import power_of_two
from protolearn.core.parameters import array, flag, function, integer, none, number, option, positive
from protolearn.core.progress import Progress, wants_to_stop
from protolearn.core.threads import Threads, chunk_threads
from protolearn.core.types import Array, Floats
from protolearn.core.validation import check_range, given_array, largest_value, refuse_overflow
from protolearn.dissimilarities import Dissimilarities, directions, is_metric, metric_name
from protolearn.embedding._base import LEAST_SAMPLES, Embedding, Lens, check_square
from protolearn.embedding._descent import Descent
from protolearn.embedding._exact import Densities, Exact, LocalRadii
from protolearn.embedding._fast import Fast, is_tame
from protolearn.embedding._fields import Field, Grid
from protolearn.embedding._following import ViewCallback, ViewState
from protolearn.embedding._neighbors import (
    MANY,
    OF_SPARSE,
    Angles,
    Graph,
    NeighborSpace,
    ObjectSpace,
    PairSpace,
    SparseRows,
    Vectors,
    Weighted,
)
from protolearn.embedding._start import spectral
from protolearn.embedding.affinities import (
    AffinityTable,
    GaussianKernel,
    Kernel,
    Neighbors,
    StudentKernel,
    calibrated,
    check_perplexity,
    conditional_affinities,
    distributed,
    given_weights,
    joint_affinities,
)
from protolearn.embedding.divergences import A_DIVERGENCE, Divergence, KullbackLeibler, get_divergence
from protolearn.embedding.forces import Forces, MakesForces

__all__ = [
    "SNE",
    "TSNE",
    "placed",
]

N_STEPS = 50


STILL = 1e-3  # length of a step, in widths of the kernel, that is the last


def placed(points: Floats, indices: Array, p: Floats, kernel: Kernel, threads: Threads) -> Floats:
    """Return positions (m, d) of new samples among points (n, d), of which those with indices (m, k) draw them by p.

    Each starts at the first of its neighbors, and none depends on the other new samples.
    """
    from protolearn.embedding._kernels import place

    n, d = points.shape
    among = np.ascontiguousarray(np.hstack([points, np.zeros((n, max(2 - d, 0)))]))
    places = among[indices[:, 0]]
    dof = np.inf if isinstance(kernel, GaussianKernel) else kernel.dof
    nodes = others = None
    if d <= 2:
        grid = Grid(among, kernel.width(1.0))
        low, high, step = grid.low, grid.low + grid.extent, grid.step
        nodes = Field(grid, among, threads).nodes(grid.waves(kernel.weights(grid.squares))).astype(np.float64)
    else:  # there is no grid, and the field is summed point by point
        room = 0.05 * np.ptp(among, axis=0)
        low, high, step = among.min(axis=0) - room, among.max(axis=0) + room, np.ones(d)
        others = among
    rest = p, dof, low, high, step, nodes, others, N_STEPS, STILL * kernel.width(1.0)
    threads.over(len(places), place, among, indices, *rest, ..., places, most=10_000)
    return places[:, :d]


FEW = 150  # samples up to which all pairs are faster than a field


MOST_PAIRS = 20_000  # samples up to which all pairs are still taken one by one


START_SIZE = 1e-4  # standard deviation of the first layout, in units of the kernel


EVERY = 50  # iterations between two looks at the divergence


OF_NEW = 3.0  # part of the perplexity that new samples have, which see fewer neighbors so as not to fall between them


SAME = 1e-28  # squared distance, in the unit of the samples, that is none but for rounding


DOCS = {
    "common": """
n_components : int, default=2
    Number of dimensions of the view.
perplexity : float or sequence of float, default=30.0
    Effective number of neighbors of each sample; choose at most a third of the number of samples. Given several
    perplexities, affinities are averaged over them: small perplexities preserve the nearest neighbors, large ones the
    arrangement of clusters.
affinities : {"perplexity", "precomputed"} or callable, default="perplexity"
    Affinities between samples. ``"perplexity"`` gives each sample a Gaussian whose bandwidth is fitted to its
    neighborhood. A function ``weights = affinities(distances)`` returns weights of your own, see
    `protolearn.embedding.affinities.Affinities`. With ``"precomputed"``, ``X`` holds the affinities of each
    sample (row) to the others, at any scale, as a dense or sparse matrix; ``metric`` is not used then.
divergence : str or Divergence, default="kl"
    Divergence between the affinities of the data and those of the view, the objective that is minimized: a name, see
    `protolearn.embedding.divergences.DIVERGENCES`, or an instance such as ``Gamma(0.6)``.
normalize : bool, default=True
    Whether the affinities of the view are normalized to a distribution, like those of the data. If False, the
    affinities of the view are the values of the kernel, and the weights of neighbors are used unnormalized, from 0 to
    1; weights by perplexity are 1 for the nearest neighbor of each sample. False requires ``symmetric=True`` and a
    divergence that is not restricted to distributions, such as ``"gkl"``.
""",
    "rest": """
metric : str, callable or learned metric, default="euclidean"
    Distance between samples.

    - ``"euclidean"``: of more than 15,000 samples, neighbors are searched in the nearest k-means cells only. In
      clustered data nearly all true neighbors are found; in high-dimensional noise about half, the others being
      replaced by samples at similar distances.
    - ``"cosine"`` and ``"pearson"`` are as fast as Euclidean distances.
    - ``"precomputed"``: ``X`` holds the dissimilarities of all pairs, or is a sparse graph with the distances of each
      sample (row) to its neighbors.
    - Any other name or function that `protolearn.dissimilarities.pairwise` accepts, for vectors, strings, sequences and
      other objects. A function must be symmetric in its two arguments. Of more than 15,000 samples, only those near
      common landmarks (samples drawn at random) are compared; ``"manhattan"`` uses k-means cells instead.
    - A learned metric: anything that `protolearn.as_metric` accepts, such as a fitted LVQ classifier. With a single
      matrix, samples are projected by it; with several, the distances of all pairs are computed.

    Sparse vectors are accepted with ``"euclidean"``, ``"cosine"``, ``"pearson"``, ``"tanimoto"``, ``"jaccard"``,
    ``"hamming"`` and ``"manhattan"``; their neighbors are exact.
squared : bool, default=False
    Whether precomputed dissimilarities are squared distances already.
symmetrize : {"raise", "mean", "keep"}, default="raise"
    Treatment of dissimilarities that are not symmetric. ``"raise"`` reports an error and ``"mean"`` averages both
    directions. ``"keep"`` computes the affinities of sample i from row i, its dissimilarities to the others; joint
    affinities are then averaged over both directions as usual. ``"keep"`` is available for ``metric="precomputed"`` and
    for learned metrics with several matrices, where each sample is measured by the matrix of its winner.
n_neighbors : int, optional
    Number of neighbors with an affinity above zero; three times the perplexity by default. Ignored if all pairs are
    used.
method : {"auto", "exact", "fast"} or callable, default="auto"
    Algorithm for the forces between points. ``"exact"`` sums over all pairs. ``"fast"`` sums over pairs of neighbors
    and approximates the repulsion of all other pairs by a field, in nearly linear time: on a grid for views in one or
    two dimensions, with a tree for views in three. ``"auto"`` is fast for more than 150 samples. A callable returns
    forces of your own and is called as ``method(affinities, kernel, symmetric, threads)``, see
    `protolearn.embedding.forces.Forces`.
init : {"auto", "pca", "spectral", "random"} or array-like of shape (n_samples, n_components), default="auto"
    Initial positions. ``"pca"`` takes principal components, or classical scaling of dissimilarities; ``"spectral"``
    takes eigenvectors of the neighborhood graph, which is the choice of ``"auto"`` if only a graph is given;
    ``"random"`` is Gaussian noise.
early_exaggeration : float, default=%(exaggeration)s
    Factor of the attraction between neighbors during the first iterations. These iterations minimize the
    Kullback-Leibler divergence, whichever ``divergence`` is minimized afterwards.
early_exaggeration_iter : int, default=250
    Number of iterations with early exaggeration, at most a third of all iterations.
exaggeration : float, default=1.0
    Factor of the attraction between neighbors in all later iterations. Values above 1 contract clusters and widen the
    gaps between them.
density_weight : float, default=0.0
    Weight of the preservation of densities in the objective, next to the divergence: the correlation between the
    logarithms of the local radii in the data and in the view, where a local radius is the mean squared distance to the
    neighbors. With 0, dense and sparse clusters occupy about the same area. With 0.1 to 0.3, areas show which clusters
    are denser.
max_iter : int, default=750
    Total number of iterations.
learning_rate : float or "auto", default="auto"
    Step size of the gradient descent. ``"auto"`` is the number of samples divided by the exaggeration. The gradients of
    all divergences are rescaled to that of the Kullback-Leibler divergence, so the step size need not be tuned for
    each.
warm_start : bool, default=False
    Whether `fit` continues from the previous view of the same number of samples, for ``max_iter`` more iterations and
    without early exaggeration. Parameters such as ``exaggeration`` or ``divergence`` may be changed in between.
callback : callable, optional
    Called as ``callback(state)`` after every iteration, with a `protolearn.embedding.ViewState` that has the attributes
    ``iteration``, ``embedding`` and ``divergence``. Optimization stops if the function returns True or raises
    ``StopIteration``.
n_jobs : int, optional
    Number of threads; None uses as many as BLAS does.
random_state : int, RandomState instance or None, default=None
    Seed of the random initial positions.
verbose : int, default=0
    Verbosity: 1 shows a progress bar; 2, or 1 without a terminal, prints the divergence every 50 iterations.
""",
    "attributes": """
embedding_ : ndarray of shape (n_samples, n_components)
    Positions of the samples in the view.
affinities_ : ndarray or csr_array of shape (n_samples, n_samples)
    Affinities of the data. All of them sum to 1 if ``symmetric``, otherwise each row does.
bandwidths_ : ndarray of shape (n_samples,) or (n_samples, n_perplexities), or None
    Standard deviation of the Gaussian neighborhood of each sample, for each perplexity if there are several; None if
    affinities are not determined by perplexity.
divergence_ : float
    Final divergence of the view from the data; if not ``symmetric``, the sum of the divergences of all samples.
kl_divergence_ : float
    The same value under scikit-learn's name; available if the Kullback-Leibler divergence was minimized.
density_correlation_ : float or None
    Correlation between the logarithms of the local radii in the data and in the view; None if ``density_weight`` is 0.
divergence_history_ : list of float
    Divergence after every 50 iterations, from the end of the early exaggeration on.
method_ : str
    ``"exact"`` or ``"fast"``; ``"given"`` if ``method`` is a callable.
n_iter_ : int
    Number of iterations, including those before a warm start.
n_features_in_ : int
    Number of features seen during ``fit``.
""",
}


class NeighborEmbedding(Embedding):
    """Base of `SNE` and `TSNE`, which differ in the kernel of the view."""

    _constraints = {
        # within the bounds that samples set, see check_perplexity
        "perplexity": number() | array("a sequence of numbers"),
        "affinities": option("perplexity", "precomputed") | function("a function of distances"),
        "divergence": A_DIVERGENCE,
        "normalize": flag,
        "dof": positive,
        "symmetric": flag,
        "symmetrize": option("raise", "mean", "keep"),
        "n_neighbors": integer(2) | none,
        "method": option("auto", "exact", "fast") | function("a function that makes forces"),
        "init": option("auto", "pca", "spectral", "random") | array("an array"),
        "early_exaggeration": number(1),
        "early_exaggeration_iter": integer(0),
        "exaggeration": number(1),
        "density_weight": number(0),
        "learning_rate": positive | option("auto"),
        "warm_start": flag,
        "callback": function() | none,
    }

    n_components: int
    perplexity: float | Sequence[float]
    affinities: str | AffinityTable
    divergence: str | Divergence
    normalize: bool
    symmetric: bool
    n_neighbors: int | None
    method: str | MakesForces
    init: Any
    early_exaggeration: float
    early_exaggeration_iter: int
    exaggeration: float
    density_weight: float
    max_iter: int
    learning_rate: float | str
    warm_start: bool
    callback: ViewCallback | None
    n_jobs: int | None
    random_state: Any
    verbose: int

    affinities_: Any
    bandwidths_: Floats | None
    n_iter_: int
    divergence_history_: list[float]
    _settings: tuple[Any, ...]  # that the affinities were found with
    _mass: float | None  # of the kernel, if it is not the sum over all pairs
    _radii: LocalRadii | None  # of the samples in the data, if densities count
    _descent: Descent  # of the last fit, to go on with
    _space: NeighborSpace | Weighted  # what new samples are compared with

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
            The fitted embedding. If the fit is interrupted from the keyboard, the state reached so far is kept.
        """
        self._check_parameters()
        divergence = get_divergence(self.divergence).limit()
        self._check_measures(divergence)
        with chunk_threads(self.n_jobs) as n_threads:
            data = self._read(X, divergence, n_threads)
            threads = Threads(n_threads)
            rng = check_random_state(self.random_state)
            goes_on = self.warm_start and hasattr(self, "embedding_")
            self.method_ = self._chosen_method(len(data), divergence)
            self._find_affinities(data, threads, rng, goes_on)
            points = self._last_positions(len(data)) if goes_on else self._first_positions(data, rng)
            interrupted = self._descend(points, self._forces(threads), divergence, goes_on)
            seen = points, self._kernel(), threads
            self.density_correlation_ = None if self._radii is None else self._radii.correlation(*seen)
            self.embedding_ = points
            self._space = data.kept()
        if interrupted:
            keep(self)
            raise KeyboardInterrupt
        return self

    def transform(self, X: Any) -> Array:
        """Place new samples in the view.

        The positions of the training samples stay fixed. Each new sample is placed where the Kullback-Leibler
        divergence between its affinities to its nearest training samples and those in the view is smallest,
        independently of the other new samples. A training sample is returned at its own position, except with
        precomputed affinities.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or (n_samples, n_training_samples), or list of objects
            Samples, or their dissimilarities to the training samples, see ``metric``; with precomputed affinities,
            their affinities to the training samples.

        Returns
        -------
        positions : ndarray of shape (n_samples, n_components)
            Positions of the new samples.
        """
        check_is_fitted(self, "embedding_")
        new = self._read_new(X)
        perplexity = max(float(self._perplexities.min()) / OF_NEW, 2.0)
        k = min(len(self._space), int(OF_NEW * perplexity))
        perplexity = min(perplexity, 0.5 * k)
        with chunk_threads(self.n_jobs) as n_threads:
            threads = Threads(n_threads)
            if isinstance(self._space, Weighted):
                p, indices = self._space.heaviest(new, k)
                return placed(self.embedding_, indices, p, self._kernel(), threads)
            squares, found = self._space.neighbors_of(new, k, threads)
            p, indices = calibrated(squares, perplexity, threads)[0], np.asarray(found)
            positions = placed(self.embedding_, indices, p, self._kernel(), threads)
        known = squares[:, 0] <= SAME
        positions[known] = self.embedding_[indices[known, 0]]
        return positions

    @property
    def kl_divergence_(self) -> float:
        """Final Kullback-Leibler divergence, under scikit-learn's name."""
        if not isinstance(get_divergence(self.divergence), KullbackLeibler):
            raise AttributeError(
                f"{type(self).__name__} has no kl_divergence_, because it minimizes divergence={self.divergence!r}; "
                "see divergence_."
            )
        return self.divergence_

    def __sklearn_tags__(self) -> Tags:
        """Declare that ``X`` may be sparse: a neighborhood graph, or vectors."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._pairwise or is_metric(self.metric, *OF_SPARSE)
        tags.input_tags.two_d_array = tags.input_tags.two_d_array or self._of_angles
        return tags

    def _kernel(self) -> Kernel:
        """Return the kernel of the view."""
        raise NotImplementedError

    @property
    def _weighted(self) -> bool:
        """Whether samples are given by their affinities."""
        return isinstance(self.affinities, str) and self.affinities == "precomputed"

    @property
    def _calibrated(self) -> bool:
        """Whether affinities are fitted to the requested perplexity."""
        return isinstance(self.affinities, str) and self.affinities == "perplexity"

    @property
    def _pairwise(self) -> bool:
        return self._weighted or super()._pairwise

    @property
    def _perplexities(self) -> Floats:
        """The perplexities, one or several."""
        listed = self.perplexity if np.ndim(self.perplexity) else [self.perplexity]
        given = given_array("perplexity", listed, ensure_2d=False, ensure_min_samples=0)
        if given.ndim > 1 or not len(given):
            raise ValueError(f"perplexity={self.perplexity!r} must be a number or a sequence of numbers.")
        return given

    def _check_measures(self, divergence: Divergence) -> None:
        """Refuse parameters that need normalized affinities."""
        if self.normalize:
            return
        if not self.symmetric:
            raise ValueError("normalize=False leaves no distribution for each sample; set symmetric=True.")
        if not divergence.of_measures:
            raise ValueError(
                f"divergence={divergence!r} is defined for distributions, but with normalize=False affinities do not "
                "sum to one; use a divergence of measures, such as 'gkl' or 'beta'."
            )

    # Reading

    def _read(self, X: Any, divergence: Divergence, n_threads: int) -> NeighborSpace | Weighted:
        """Return the samples; of very many objects, only some pairs are compared if the fast method can be used."""
        if self._weighted:
            return self._read_weights(X)
        if sparse.issparse(X):
            return self._read_graph(X) if self._pairwise else self._read_sparse(X)
        if self._of_angles:
            return self._read_angles(X)
        of_objects = not (self._pairwise or self._of_vectors or is_learned(self.metric))
        of_some = of_objects and not self._keeps_directions and len(X) > MANY
        if of_some and self._chosen_method(len(X), divergence) != "exact":
            X = self._read_table(X) if is_metric(self.metric, "manhattan") else X
            return ObjectSpace(Dissimilarities(X, self.metric, n_jobs=n_threads, symmetrize=self.symmetrize))
        samples = self._read_samples(X, self.n_jobs)
        see: Any = None
        if is_learned(self.metric):
            see = Lens.of(as_metric(self.metric, type(self).__name__), X, self._keeps_directions).see
        elif of_objects:
            source = Dissimilarities(X, self.metric, n_jobs=self.n_jobs, symmetrize=self.symmetrize)
            see = source.from_new
        if samples.squares is None:
            return Vectors(samples, see)
        return PairSpace(len(samples), samples.unit, samples.squares, self.squared and self._pairwise, see)

    def _read_angles(self, X: Any) -> Angles:
        """Return vectors of which only the directions matter."""
        metric = metric_name(self.metric)
        vectors = directions(self._read_table(X), metric)
        if np.abs(vectors - vectors[0]).max() < 1e-14:
            raise ValueError("All dissimilarities are zero, so there is nothing to arrange; give objects that differ.")
        return Angles(vectors, metric)

    def _read_sparse(self, X: Any) -> SparseRows:
        """Return the rows of a sparse table."""
        metric = metric_name(self.metric)
        if metric not in OF_SPARSE:
            raise TypeError(
                f"Sparse vectors were passed to {type(self).__name__} with metric={self.metric!r}. Use one of "
                f"{', '.join(map(repr, OF_SPARSE))}, or X.toarray() if it fits into memory."
            )
        table = self._read_table(X, accept_sparse="csr")
        if metric not in ("euclidean", "manhattan", "hamming"):
            return SparseRows.of(table, metric)
        if not (table.max(axis=0) != table.min(axis=0)).sum():
            raise ValueError("All samples are the same, so there is nothing to arrange; give samples that differ.")
        if metric == "hamming":
            return SparseRows.of(table, metric)
        largest = largest_value(table.data)
        check_range(largest, table.dtype, table.shape[1])
        return SparseRows.of(table, metric, power_of_two(largest))

    def _read_weights(self, X: Any) -> Weighted:
        """Return samples by the affinities of each to others."""
        if not (self._of_vectors or super()._pairwise):
            raise ValueError(
                f"metric={self.metric!r} is not used with affinities='precomputed'; set only one of the two."
            )
        table = validate_data(self, X, accept_sparse="csr", dtype=np.float64, ensure_min_samples=LEAST_SAMPLES)
        if table.shape[0] != table.shape[1]:
            raise ValueError(
                f"X has the shape {table.shape}, but affinities='precomputed' needs a square matrix: the affinities of "
                "all samples to all others."
            )
        return Weighted.of(table)

    def _read_table(self, X: Any, **options: Any) -> Any:
        numbers = np.float64, np.float32
        return validate_data(self, X, dtype=numbers, ensure_min_samples=LEAST_SAMPLES, **options)

    def _read_new(self, X: Any) -> Any:
        """Return new samples, checked."""
        if is_learned(self.metric):
            validate_data(self, X, skip_check_array=True, reset=False)
            return X
        if isinstance(self._space, ObjectSpace) or (isinstance(self._space, PairSpace) and not self._pairwise):
            return X
        numbers = np.float64 if self._pairwise else (np.float64, np.float32)
        dense = isinstance(self._space, Vectors | Angles)
        new = validate_data(self, X, accept_sparse=False if dense else "csr", dtype=numbers, reset=False)
        return refuse_overflow(new) if dense else new

    @property
    def _of_angles(self) -> bool:
        return is_metric(self.metric, "cosine", "pearson")

    def _read_graph(self, X: Any) -> Graph:
        read = validate_data(self, X, accept_sparse="csr", dtype=np.float64, ensure_min_samples=LEAST_SAMPLES)
        check_square(read)
        graph = read.tocoo()
        if not graph.data.any():
            raise ValueError("All distances in the graph X are zero, so there is nothing to arrange.")
        if (graph.data < 0.0).any():
            raise ValueError("The graph X holds negative distances; distances must not be negative.")
        if (graph.data == graph.data[0]).all() and self._calibrated:
            warnings.warn(
                "All distances in the graph X are equal, so the nearest neighbors are undetermined; give a graph of "
                "distances (mode='distance' in scikit-learn).",
                UserWarning,
                stacklevel=4,
            )
        others = graph.row != graph.col
        entries = graph.data[others], (graph.row[others], graph.col[others])
        graph = sparse.csr_array(entries, shape=graph.shape)
        fewest = int(np.diff(graph.indptr).min())
        most = self._perplexities.max()
        if fewest < most and self._calibrated:
            raise ValueError(
                f"The graph X has samples with only {fewest} neighbors, fewer than perplexity={most:g}; connect each "
                "sample to about three times as many neighbors as the perplexity, or lower the perplexity."
            )
        unit = power_of_two(graph.data.max())
        graph.data /= unit
        return Graph.of(graph, unit, self.squared)

    def _chosen_method(self, n: int, divergence: Divergence) -> str:
        if callable(self.method):
            return "given"
        flat = self.n_components <= 3
        tame = is_tame(divergence, self._kernel())
        if self.method == "fast" and not (flat and tame):
            reason = "with this divergence; use TSNE" if flat else f"for n_components={self.n_components}; use up to 3"
            raise ValueError(f"method='fast' does not work {reason}, or method='exact'.")
        exact = self.method == "exact" or (self.method == "auto" and (n <= FEW or not (flat and tame)))
        if exact and n > MOST_PAIRS:
            raise ValueError(
                f"method='exact' cannot process all pairs of n_samples={n}; use method='fast' with n_components=2, or "
                "a subset of the samples."
            )
        return "exact" if exact else "fast"

    def _find_affinities(
        self, data: NeighborSpace | Weighted, threads: Threads, rng: np.random.RandomState, goes_on: bool
    ) -> None:
        """Set the affinities of the data, unless they are known from the last fit."""
        for perplexity in self._perplexities if self._calibrated else ():
            check_perplexity(perplexity, len(data))
        of_neighbors = self._perplexities.tolist(), self.affinities, self.n_neighbors, self.method_
        settings = *of_neighbors, self.symmetric, self.normalize, self.density_weight > 0.0
        if goes_on and settings == self._settings and data.same_as(self._space):
            return
        self._settings, self.bandwidths_, self._radii = settings, None, None
        if isinstance(data, Weighted):
            if self.density_weight:
                raise ValueError("density_weight above 0 needs distances, not affinities='precomputed' alone.")
            weights = data.weights
        else:
            neighbors = self._neighbors(data, threads, rng)
            by = self._by_perplexity if self._calibrated else self._by_function
            near = by(neighbors, data.unit, threads)
            weights = conditional_affinities(neighbors, near)
            if self.density_weight:
                self._radii = LocalRadii.of(neighbors, near, self._n_nearest(len(data)))
        own = not (self._calibrated and self.normalize)
        distributions = distributed(weights, self.symmetric) if own else weights
        self.affinities_ = joint_affinities(distributions) if self.symmetric else distributions
        self._mass = None if self.normalize else float(weights.sum())

    def _by_perplexity(self, neighbors: Neighbors, unit: float, threads: Threads) -> Floats:
        """Return the weights (n, k) of neighbors by Gaussians, and set their bandwidths."""
        scales = [calibrated(neighbors.squares, perplexity, threads) for perplexity in self._perplexities]
        p = scales[0][0] if len(scales) == 1 else np.mean([p for p, _ in scales], axis=0)
        bandwidths = np.sqrt([variances for _, variances in scales]) * unit
        self.bandwidths_ = bandwidths.T if np.ndim(self.perplexity) else bandwidths[0]
        return p if self.normalize else p / p.max(axis=1, keepdims=True)

    def _by_function(self, neighbors: Neighbors, unit: float, threads: Threads) -> Floats:
        """Return the weights (n, k) that a function gives."""
        assert callable(self.affinities)
        return given_weights(self.affinities, np.sqrt(neighbors.squares) * unit)

    def _neighbors(self, data: NeighborSpace, threads: Threads, rng: np.random.RandomState) -> Neighbors:
        if self.method_ == "exact" and self.n_neighbors is None:
            return data.all_neighbors()
        return data.neighbors(self._n_nearest(len(data)), threads, rng)

    def _n_nearest(self, n: int) -> int:
        """Return the number of neighbors with affinities above zero, unless all have some."""
        most = self._perplexities.max()
        k = min(n - 1, int(3.0 * most) if self.n_neighbors is None else self.n_neighbors)
        if k < most and self._calibrated:
            raise ValueError(
                f"n_neighbors={k} is less than perplexity={most:g}; set it to about three times the perplexity."
            )
        return k

    def _last_positions(self, n: int) -> Floats:
        """Return the positions that the last fit reached."""
        if self.embedding_.shape != (n, self.n_components):
            raise ValueError(
                f"warm_start=True goes on with a view of the shape {self.embedding_.shape}, but X and n_components "
                f"require {(n, self.n_components)}; set warm_start=False for other samples."
            )
        return self.embedding_.copy()

    def _first_positions(self, data: NeighborSpace | Weighted, rng: np.random.RandomState) -> Floats:
        n, d = len(data), self.n_components
        if not isinstance(self.init, str):
            given = given_array("init", self.init, copy=True)
            if given.shape != (n, d):
                raise ValueError(f"init has the shape {given.shape}; expected (n_samples, n_components)={(n, d)}.")
            if (given == given[0]).all():
                raise ValueError("All positions in init are the same, so nothing would move; give some that differ.")
            return given
        noise = rng.normal(size=(n, d))
        if self.init == "random":
            return START_SIZE * noise
        first = None if self.init == "spectral" else data.start(d, rng)
        if first is None:
            if self.init == "pca":
                raise ValueError("init='pca' needs vectors or all dissimilarities, not a graph; use init='spectral'.")
            first = spectral(self.affinities_, d, rng)
        # Noise separates samples that fall together, and fills dimensions that the data do not have.
        return START_SIZE * (first / first[:, 0].std() + 0.01 * noise)

    # Learning

    def _forces(self, threads: Threads) -> Forces:
        """Return the forces that move the points."""
        forces = self._forces_of_affinities(threads)
        if self._radii is None:
            return forces
        return Densities(forces, self._radii, self.density_weight, self._kernel(), threads)

    def _forces_of_affinities(self, threads: Threads) -> Forces:
        p, kernel = self.affinities_, self._kernel()
        if callable(self.method):
            return self.method(p, kernel, self.symmetric, threads)
        if self.method_ == "fast":
            return Fast(p, kernel, self.symmetric, threads)
        return Exact(p.toarray() if sparse.issparse(p) else p, kernel, self.symmetric)

    def _descend(self, points: Floats, forces: Forces, divergence: Divergence, goes_on: bool) -> bool:
        """Move the points (n, d) in place; return whether this was interrupted."""
        start = self.n_iter_ if goes_on else 0
        descent = self._descent.copy() if goes_on else Descent(self._kernel().longest_step)
        history = list(self.divergence_history_) if goes_on else []
        self._descent, self.divergence_history_, self.n_iter_ = descent, history, start
        early = min(self.early_exaggeration_iter, (start + self.max_iter) // 3)
        seen: dict[str, float | None] = {"exaggerated": None} if start < early else {}
        value = partial(forces.value, points, divergence, self._mass)
        try:
            with Progress(type(self).__name__, self.max_iter, self.verbose, every=EVERY) as progress:
                for iteration in range(start, start + self.max_iter):
                    if iteration == early:
                        seen = {}
                    stage: tuple[Divergence, float, float | None] = divergence, self.exaggeration, self._mass
                    if iteration < early:
                        stage = KullbackLeibler(), self.early_exaggeration, None
                    step = forces.step(points, *stage)
                    rate = self._rate(len(points), stage[1], divergence)
                    descent.step(points, step.gradient / (4.0 * step.mass), rate, stage)
                    self.n_iter_ = iteration + 1
                    if self.n_iter_ > early and self.n_iter_ % EVERY == 0:
                        history.append(value())
                        seen = {"divergence": history[-1]}
                    progress.step(self.n_iter_ - start, 1, **seen)
                    if wants_to_stop(self.callback, ViewState(self.n_iter_, stage[1], points, value)):
                        break
        except KeyboardInterrupt:
            if self.n_iter_ == start:
                raise
            interrupted = True
        else:
            interrupted = False
        if not np.isfinite(points).all():
            raise ValueError("The view diverged: positions are no longer finite. Lower the learning_rate.")
        self.divergence_ = value()
        return interrupted

    def _rate(self, n: int, exaggeration: float, divergence: Divergence) -> float:
        if self.learning_rate != "auto":
            return float(self.learning_rate)
        # Far pairs under a Gaussian, whose pull is not bounded, would be thrown to and fro.
        wild = (
            isinstance(self._kernel(), GaussianKernel) and divergence.pull is not None and divergence.pull.q_power < 0.0
        )
        return (0.03 if wild else 1.0) * n / exaggeration


@filled(DOCS | {"rest": DOCS["rest"].replace("%(exaggeration)s", "4.0")})
class SNE(NeighborEmbedding):
    """Stochastic neighbor embedding (SNE) with any divergence as its objective.

    Each sample selects other samples as neighbors with a probability that decreases with their distance, by a Gaussian
    both in the data and in the embedding (view). SNE minimizes the divergence between the two distributions. Where many
    samples have similar distances, they are crowded in the view; `TSNE` leaves more room for them.

    Parameters
    ----------
    %(common)s
    symmetric : bool, default=False
        Whether to compare the affinities of all pairs as one joint distribution. Otherwise each sample has a
        conditional distribution over the others.
    %(rest)s

    Attributes
    ----------
    %(attributes)s

    See Also
    --------
    TSNE : SNE with a heavy-tailed kernel in the view, which separates clusters.
    protolearn.metrics.view_quality : Measures of how far to trust a view.

    Notes
    -----
    With ``divergence=NeRV(trade_off)`` this is the neighbor retrieval visualizer, which trades missed neighbors
    (``trade_off=1``) against false neighbors (``trade_off=0``).

    Divergences that require positive affinities of the data (reverse Kullback-Leibler, NeRV, Itakura-Saito) use a lower
    bound of a millionth of the mean affinity.

    Divergences of ratios of affinities (Itakura-Saito, beta below 1, alpha above 1) weight pairs that are not neighbors
    as much as neighbors, and the tails of a Gaussian make these ratios huge. The resulting views are about as good as a
    linear projection; use these divergences with `TSNE`.

    References
    ----------
    Hinton, G., Roweis, S. (2002). Stochastic neighbor embedding. NIPS 15.

    Bunte, K., Haase, S., Biehl, M., Villmann, T. (2012). Stochastic neighbor embedding (SNE) for dimension reduction
    and visualization using arbitrary divergences. Neurocomputing 90, 23-45.

    Venna, J., Peltonen, J., Nybo, K., Aidos, H., Kaski, S. (2010). Information retrieval perspective to nonlinear
    dimensionality reduction for data visualization. JMLR 11, 451-490.

    Examples
    --------
    >>> from protolearn import SNE
    >>> from protolearn.metrics import trustworthiness
    >>> from sklearn.datasets import load_iris
    >>> X = load_iris().data
    >>> view = SNE(perplexity=20, random_state=0).fit_transform(X)
    >>> view.shape
    (150, 2)
    >>> trustworthiness(X, view, n_neighbors=10) > 0.97
    True
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        perplexity: float | Sequence[float] = 30.0,
        affinities: str | AffinityTable = "perplexity",
        divergence: str | Divergence = "kl",
        normalize: bool = True,
        symmetric: bool = False,
        metric: Any = "euclidean",
        squared: bool = False,
        symmetrize: str = "raise",
        n_neighbors: int | None = None,
        method: str | MakesForces = "auto",
        init: Any = "auto",
        early_exaggeration: float = 4.0,
        early_exaggeration_iter: int = 250,
        exaggeration: float = 1.0,
        density_weight: float = 0.0,
        max_iter: int = 750,
        learning_rate: float | str = "auto",
        warm_start: bool = False,
        callback: ViewCallback | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.perplexity = perplexity
        self.affinities = affinities
        self.divergence = divergence
        self.normalize = normalize
        self.symmetric = symmetric
        self.metric = metric
        self.squared = squared
        self.symmetrize = symmetrize
        self.n_neighbors = n_neighbors
        self.method = method
        self.init = init
        self.early_exaggeration = early_exaggeration
        self.early_exaggeration_iter = early_exaggeration_iter
        self.exaggeration = exaggeration
        self.density_weight = density_weight
        self.max_iter = max_iter
        self.learning_rate = learning_rate
        self.warm_start = warm_start
        self.callback = callback
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _kernel(self) -> Kernel:
        return GaussianKernel()


@filled(DOCS | {"rest": DOCS["rest"].replace("%(exaggeration)s", "12.0")})
class TSNE(SNE):
    """t-distributed stochastic neighbor embedding (t-SNE) with any divergence as its objective.

    Each sample selects other samples as neighbors with a probability that decreases with their distance, by a Gaussian
    in the data and by a Student t-distribution, which has heavier tails, in the embedding (view). Neighbors stay
    together, and samples that are not neighbors may lie far apart, which makes clusters visible. The sizes of clusters
    and the distances between them mean little; with a positive ``density_weight``, sizes show which clusters are dense.

    Parameters
    ----------
    %(common)s
    dof : float, default=1.0
        Degrees of freedom of the Student distribution. Values below 1 split clusters into finer ones; with larger
        values the view approaches that of `SNE`.
    symmetric : bool, default=True
        Whether to compare the affinities of all pairs as one joint distribution. Otherwise each sample has a
        conditional distribution over the others.
    %(rest)s

    Attributes
    ----------
    %(attributes)s

    See Also
    --------
    SNE : The same with a Gaussian kernel in the view.
    SONE : A view that fills a given shape.
    protolearn.metrics.view_quality : Measures of how far to trust a view.

    Notes
    -----
    The running time is nearly proportional to the number of samples under every divergence. For pairs that are not
    neighbors, the contribution to the divergence depends only on their distance in the view, and the sum of these
    contributions is computed on a grid by fast Fourier transforms.

    With ``divergence=NeRV(trade_off)`` this is t-NeRV, which trades missed neighbors (``trade_off=1``) against false
    neighbors (``trade_off=0``). Divergences that require positive affinities of the data (reverse Kullback-Leibler,
    NeRV, Itakura-Saito) use a lower bound of a millionth of the mean affinity.

    A neighborhood graph that is not connected is shown as islands, whose relative positions have no meaning. Identical
    samples are shown at nearly the same position.

    References
    ----------
    van der Maaten, L., Hinton, G. (2008). Visualizing data using t-SNE. JMLR 9, 2579-2605.

    Bunte, K., Haase, S., Biehl, M., Villmann, T. (2012). Stochastic neighbor embedding (SNE) for dimension reduction
    and visualization using arbitrary divergences. Neurocomputing 90, 23-45.

    Linderman, G., Rachh, M., Hoskins, J., Steinerberger, S., Kluger, Y. (2019). Fast interpolation-based t-SNE for
    improved visualization of single-cell RNA-seq data. Nature Methods 16, 243-245.

    Belkina, A. et al. (2019). Automated optimized parameters for t-distributed stochastic neighbor embedding improve
    visualization and analysis of large datasets. Nature Communications 10, 5415.

    Narayan, A., Berger, B., Cho, H. (2021). Assessing single-cell transcriptomic variability through density-preserving
    data visualization. Nature Biotechnology 39, 765-774.

    Examples
    --------
    >>> from protolearn import TSNE
    >>> from protolearn.embedding.divergences import Gamma
    >>> from protolearn.metrics import trustworthiness
    >>> from sklearn.datasets import load_iris
    >>> X = load_iris().data
    >>> view = TSNE(perplexity=20, random_state=0).fit_transform(X)
    >>> trustworthiness(X, view, n_neighbors=10) > 0.98
    True
    >>> robust = TSNE(perplexity=20, divergence=Gamma(0.5), random_state=0).fit(X)
    >>> robust.embedding_.shape, robust.n_iter_
    ((150, 2), 750)
    >>> bool(TSNE(perplexity=20, random_state=0).fit(X).kl_divergence_ < 0.3)
    True
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        perplexity: float | Sequence[float] = 30.0,
        affinities: str | AffinityTable = "perplexity",
        divergence: str | Divergence = "kl",
        normalize: bool = True,
        dof: float = 1.0,
        symmetric: bool = True,
        early_exaggeration: float = 12.0,
        metric: Any = "euclidean",
        squared: bool = False,
        symmetrize: str = "raise",
        n_neighbors: int | None = None,
        method: str | MakesForces = "auto",
        init: Any = "auto",
        early_exaggeration_iter: int = 250,
        exaggeration: float = 1.0,
        density_weight: float = 0.0,
        max_iter: int = 750,
        learning_rate: float | str = "auto",
        warm_start: bool = False,
        callback: ViewCallback | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.perplexity = perplexity
        self.affinities = affinities
        self.divergence = divergence
        self.normalize = normalize
        self.dof = dof
        self.symmetric = symmetric
        self.early_exaggeration = early_exaggeration
        self.metric = metric
        self.squared = squared
        self.symmetrize = symmetrize
        self.n_neighbors = n_neighbors
        self.method = method
        self.init = init
        self.early_exaggeration_iter = early_exaggeration_iter
        self.exaggeration = exaggeration
        self.density_weight = density_weight
        self.max_iter = max_iter
        self.learning_rate = learning_rate
        self.warm_start = warm_start
        self.callback = callback
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _kernel(self) -> Kernel:
        return StudentKernel(self.dof)
