"""Embeddings by an explicit mapping, optimized for any cost of a view, with an out-of-sample extension."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import OptimizeResult, minimize
from sklearn.utils import Tags, check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_array, check_consistent_length, check_is_fitted, column_or_1d, validate_data

from protolearn.core.estimator import keep, nothing_lost, warn_unconverged
from protolearn.core.metric import as_metric, is_learned
from protolearn.core.parameters import array, integer, none, number, option, positive
from protolearn.core.partitions import blockwise, read_partitions
from protolearn.core.progress import Progress
from protolearn.core.threads import Threads, chunk_threads
from protolearn.core.types import Array, Floats
from protolearn.core.validation import given_array, is_collection, read_samples
from protolearn.embedding._base import LEAST_SAMPLES, Embedding, Lens, ViewSamples
from protolearn.embedding._placing import Placement
from protolearn.embedding._start import classical_scaling, principal_components
from protolearn.embedding.costs import A_COST, Objective, ViewCost, get_cost
from protolearn.embedding.mappings import (
    A_MAPPING,
    FittedMapping,
    FreeMapping,
    LocalLinearMapping,
    NeighborMapping,
    NetworkMapping,
    SolvedMapping,
    get_mapping,
)

__all__ = [
    "MappedEmbedding",
]

MEMORY = 20  # steps that L-BFGS remembers


EVERY = 50  # iterations between two lines of progress


MOST_COLLECTED = 2000  # samples of a Dask collection that a mapping is trained on, if nothing else is said


def _is_invertible(self: MappedEmbedding) -> bool:
    return not isinstance(get_mapping(self.mapping), FreeMapping | NeighborMapping | NetworkMapping)


class MappedEmbedding(Embedding):
    r"""Embedding by an explicit mapping, optimized for any cost, that applies directly to new samples.

    Neighbor embeddings, multidimensional scaling, Isomap and other methods optimize the positions :math:`y_i` of
    samples with respect to a cost E. Here the positions are given by a mapping, :math:`y_i = f(x_i; \theta)`, and its
    parameters are optimized with the gradient

    .. math:: \frac{\partial E}{\partial \theta}
              = \sum_i \Big(\frac{\partial f(x_i)}{\partial \theta}\Big)^\top \frac{\partial E}{\partial y_i} .

    Every cost can be combined with every mapping. The mapping may be trained on a subset of the samples and then
    applied to all of them. Linear and local mappings also have an `inverse_transform`.

    Parameters
    ----------
    n_components : int, default=2
        Number of dimensions of the view.
    cost : str or Cost, default="tsne"
        Objective that is minimized: ``"tsne"``, ``"sne"``, ``"nerv"``, ``"tnerv"``, ``"mds"``, ``"sammon"``,
        ``"isomap"``, ``"lle"``, ``"laplacian"``, ``"mvu"``, ``"strain"``, or an instance with parameters or parts of
        your own, such as ``protolearn.embedding.costs.tsne(perplexity=50)``.
    mapping : {"linear", "local", "network", "neighbors", "free"}, Mapping, or estimator, default="local"
        Form of the mapping from the data to the view.

        - ``"linear"`` is a linear projection.
        - ``"local"`` is linear on each k-means cell; a map or an LVQ classifier in its place supplies the charts.
        - ``"network"`` is a feed-forward neural network.
        - ``"neighbors"`` optimizes free positions of the training samples and interpolates between those of the nearest
          training samples. It is the most accurate mapping, but has to store the training samples.
        - ``"free"`` optimizes free positions without a mapping. A new sample is placed by minimizing its own cost while
          all others stay fixed, which requires an optimization.

        See `protolearn.embedding.mappings`.
    n_train : int or float, optional
        Number or fraction of the samples that the mapping is trained on, drawn at random. By default all samples are
        used, but at most 2,000 of a Dask collection.
    init : {"pca", "random"} or array-like of shape (n_samples, n_components), default="pca"
        Initial positions, which the mapping approximates as closely as it can.
    n_init : int, default=1
        Number of initializations, random from the second on; the solution with the lowest cost is kept.
    max_iter : int, default=250
        Maximum number of iterations; with ``mapping="neighbors"`` and a Student kernel, number of steps of the gradient
        descent of `TSNE`. A ``ConvergenceWarning`` is issued if L-BFGS does not converge within them.
    tol : float, default=1e-7
        Relative decrease of the cost below which L-BFGS stops.
    metric : str, callable or learned metric, default="euclidean"
        Distance between samples, as in `TSNE`. ``"euclidean"`` and learned metrics of a single matrix, whose
        projections are mapped, work with all mappings; all others require ``mapping="free"``.
    squared : bool, default=False
        Whether precomputed dissimilarities are squared distances already.
    symmetrize : {"raise", "mean"}, default="raise"
        Treatment of dissimilarities that are not symmetric: an error, or the mean of both directions.
    n_jobs : int, optional
        Number of threads; None uses as many as BLAS does.
    random_state : int, RandomState instance or None, default=None
        Seed for the choice of training samples, the charts and random initializations.
    verbose : int, default=0
        Verbosity: 1 shows a progress bar; 2, or 1 without a terminal, prints the cost every 50 iterations.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        Positions of the samples; NaN for samples that are not placed (free positions with a cost that is restricted to
        the largest component of a graph). Of a Dask collection a lazy array, which is not stored with the estimator.
    mapping_ : SolvedMapping
        Fitted mapping: `LinearMap` with ``mean`` and ``weights``, `ChartMap` with ``charts`` and ``weights``,
        `NetworkMap`, `NeighborMap`, or `Placement` for free positions.
    train_indices_ : ndarray
        Indices of the samples that the mapping was trained on.
    cost_ : float
        Final cost on the training samples.
    cost_history_ : list of float
        Cost after each iteration of the best initialization.
    n_iter_ : int
        Number of iterations of the best initialization. With ``mapping="neighbors"``, number of gradient descent steps,
        which are followed by one iteration of L-BFGS.
    n_features_in_ : int
        Number of features seen during ``fit``.

    See Also
    --------
    TSNE : Free positions under the same cost, with a specialized gradient descent.
    Charting : Alignment of local linear charts.
    OutOfSample : Out-of-sample extension of embeddings without a mapping.

    Notes
    -----
    Features of mappings that are linear in their parameters (all but networks) are whitened first. A gradient step then
    moves positions as closely as the mapping allows to where it would move free positions. This makes L-BFGS converge
    fast at any scale of the data.

    References
    ----------
    Bunte, K., Biehl, M., Hammer, B. (2012). A general framework for dimensionality-reducing data visualization mapping.
    Neural Computation 24, 771-804.

    Bunte, K. (2011). Adaptive dissimilarity measures, dimension reduction and visualization, chapter 6. PhD thesis,
    University of Groningen.

    Examples
    --------
    >>> from protolearn import MappedEmbedding
    >>> from protolearn.metrics import nearest_neighbor_error
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> view = MappedEmbedding(n_train=600, random_state=0).fit(X)
    >>> view.transform(X[:5]).shape
    (5, 2)
    >>> nearest_neighbor_error(view.embedding_, y) < 0.2
    True
    """

    _lens: Lens | None = None  # of a learned metric
    _constraints = {
        "cost": A_COST,
        "mapping": A_MAPPING,
        "n_train": positive | none,
        "init": option("pca", "random") | array("an array"),
        "n_init": integer(1),
        "tol": number(0),
    }

    def __init__(
        self,
        n_components: int = 2,
        *,
        cost: str | ViewCost = "tsne",
        mapping: Any = "local",
        n_train: int | float | None = None,
        init: str | ArrayLike = "pca",
        n_init: int = 1,
        max_iter: int = 250,
        tol: float = 1e-7,
        metric: Any = "euclidean",
        squared: bool = False,
        symmetrize: str = "raise",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.cost = cost
        self.mapping = mapping
        self.n_train = n_train
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.metric = metric
        self.squared = squared
        self.symmetrize = symmetrize
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @nothing_lost
    def fit(self, X: Any, y: ArrayLike | None = None) -> Self:
        """Train the mapping.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or (n_samples, n_samples), list of objects, or Dask collection
            Samples or their dissimilarities, see ``metric``. Of a Dask array or data frame, only the training samples
            are loaded into memory, and ``embedding_`` is a lazy array.
        y : array-like of shape (n_samples,), optional
            Classes, for mappings with the charts of a classifier; for a Dask collection, a collection with the same
            partitions.

        Returns
        -------
        self : object
            The fitted embedding. If the fit is interrupted from the keyboard, the state reached so far is kept.
        """
        self._check_parameters()
        rng = check_random_state(self.random_state)
        interrupted = self._train_on_some(X, y, rng) if is_collection(X) else self._train(X, y, rng)
        if interrupted:
            keep(self)
            raise KeyboardInterrupt
        return self

    def _train_on_some(self, X: Any, y: Any, rng: np.random.RandomState) -> bool:
        """Train on samples of a Dask collection; return whether the training was interrupted."""
        if isinstance(get_mapping(self.mapping), FreeMapping):
            raise ValueError("mapping='free' cannot place further samples of a Dask collection; use another mapping.")
        if not (self._of_vectors or is_learned(self.metric)):
            raise ValueError(f"metric={self.metric!r} does not apply to a Dask collection, which holds vectors.")
        if not isinstance(self.init, str):
            raise ValueError("init must not be an array for a Dask collection; use init='pca' or init='random'.")
        parts = read_partitions(self, X, y, reset=True, supervised=None)
        rows = self._drawn(len(parts), rng, MOST_COLLECTED)
        progress = Progress("MappedEmbedding", self.max_iter, self.verbose)
        progress.note(f"{len(parts):,} samples in {len(parts.blocks)} partitions; {len(rows):,} of them are trained on")
        classes = None if y is None else parts.labels_at(rows)
        interrupted = self._train(parts.table(parts.take(rows).X), classes, rng, np.arange(len(rows)))
        self.train_indices_ = rows
        self.embedding_ = parts.by_method(self, "_placed")
        return interrupted

    def _train(self, X: Any, y: Any, rng: np.random.RandomState, rows: Array | None = None) -> bool:
        """Train on the given rows, by default those selected by ``n_train``; return whether this was interrupted."""
        cost, mapping = get_cost(self.cost), get_mapping(self.mapping)
        with chunk_threads(self.n_jobs) as n_threads:
            samples = self._read_samples(X, self.n_jobs)
            if samples.vectors is None and not isinstance(mapping, FreeMapping):
                raise ValueError(
                    f"metric={self.metric!r} gives dissimilarities, which {type(mapping).__name__} cannot map; use "
                    "mapping='free', or vectors."
                )
            self._lens = Lens.of(as_metric(self.metric), X) if is_learned(self.metric) else None
            rows = self._drawn(len(samples), rng) if rows is None else rows
            training, rows = self._taking_part(samples, rows, Threads(n_threads))
            self.train_indices_ = rows
            if y is not None:
                check_consistent_length(X, y)
            objective = cost.objective(training, Threads(n_threads), rng)
            vectors = np.empty((0, 0)) if samples.vectors is None else self._read_vectors(X)
            classes = None if y is None else column_or_1d(y)[rows]
            fitted = mapping.fitted(vectors[rows] if len(vectors) else vectors, classes, self.n_components, rng)
            unit = cost.unit(training)
            theta, interrupted = self._best(objective, fitted, training, self._given(len(samples), rows, unit), rng)
            positions = fitted.forward(theta)
            solved = fitted.solved(theta, unit)
            self.mapping_: SolvedMapping = solved or Placement(
                cost, training, positions, unit, self.squared and self._pairwise, self.n_jobs, rows
            )
            if solved is None:
                self.embedding_ = np.full((len(samples), self.n_components), np.nan)
                self.embedding_[rows] = unit * positions
            else:
                self.embedding_ = solved.place(vectors)
        return interrupted

    @blockwise
    def transform(self, X: ArrayLike) -> Array:
        """Map samples to the view.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or Dask collection
            Samples to map.

        Returns
        -------
        positions : ndarray of shape (n_samples, n_components)
            Positions of the samples; a lazy array if the samples are lazy.
        """
        check_is_fitted(self, "mapping_")
        if not (self._of_vectors or self._pairwise or self._lens):
            raise ValueError(
                f"New samples cannot be placed with metric={self.metric!r}; fit with metric='precomputed', and pass "
                "the dissimilarities of new samples to the training samples here."
            )
        return self._placed(X)

    @chunk_threads(1)
    def _placed(self, X: Any) -> Array:
        return self.mapping_.place(self._read_vectors(X))

    @available_if(_is_invertible)
    @chunk_threads(1)
    def inverse_transform(self, X: ArrayLike) -> Floats:
        """Return samples that are mapped to the given positions.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components)
            Positions in the view.

        Returns
        -------
        samples : ndarray of shape (n_samples, n_features)
            Among all samples that map to the position, the one nearest to the mean or, with charts, to the prototype of
            the chart that fits best.
        """
        check_is_fitted(self, "mapping_")
        positions: Floats = check_array(X, dtype=np.float64)
        if positions.shape[1] != self.n_components:
            raise ValueError(f"X has {positions.shape[1]} columns, but the view has {self.n_components} dimensions.")
        samples = self.mapping_.invert(positions)  # type: ignore[attr-defined]
        return samples if self._lens is None else self._lens.restore(samples)

    def __sklearn_tags__(self) -> Tags:
        """Declare whether classes are required."""
        tags = super().__sklearn_tags__()
        mapping = self.mapping.model if isinstance(self.mapping, LocalLinearMapping) else self.mapping
        inner = getattr(mapping, "__sklearn_tags__", None)
        tags.target_tags.required = bool(inner and inner().target_tags.required)
        return tags

    @property
    def _n_features_out(self) -> int:
        return self.n_components  # lazy positions are not stored

    def _read_vectors(self, X: ArrayLike) -> Array:
        if self._lens is not None:
            validate_data(self, X, skip_check_array=True, reset=False)
            return self._lens.see(X)
        return read_samples(self, X)

    def _taking_part(self, samples: ViewSamples, rows: Array, threads: Threads) -> tuple[ViewSamples, Array]:
        """Return the samples that the cost includes: all, or those in the largest component of their graph."""
        training = samples.part(rows)
        if training.vectors is not None and (training.vectors == training.vectors[0]).all():
            raise ValueError(f"The {len(rows)} samples drawn to train on are all the same; raise n_train.")
        kept = get_cost(self.cost).kept(training, threads, np.random.RandomState(0))
        if len(kept) < LEAST_SAMPLES:
            raise ValueError(
                f"The largest component of the neighborhood graph has only {len(kept)} samples; raise n_neighbors or "
                "radius."
            )
        if len(kept) == len(rows):
            return training, rows
        return training.part(kept).rescaled(), rows[kept]

    def _drawn(self, n: int, rng: np.random.RandomState, most: int | None = None) -> Array:
        """Return the indices of the training samples: ``n_train`` of them, by default all or at most ``most``."""
        if self.n_train is None:
            return np.arange(n) if most is None or n <= most else np.sort(rng.choice(n, most, replace=False))
        whole = isinstance(self.n_train, int | np.integer) and not isinstance(self.n_train, bool)
        if isinstance(get_mapping(self.mapping), FreeMapping):
            raise ValueError("n_train needs a mapping, but mapping='free' has none; pass fewer samples to fit instead.")
        if not whole and self.n_train > 1:
            raise ValueError(f"n_train={self.n_train!r} is neither a whole number of samples nor a fraction of them.")
        wanted = int(self.n_train) if whole else round(self.n_train * n)
        if not LEAST_SAMPLES <= wanted <= n:
            raise ValueError(
                f"n_train={self.n_train!r} means {wanted} samples; it must be from {LEAST_SAMPLES} to n_samples={n}."
            )
        return np.sort(rng.choice(n, wanted, replace=False))

    def _given(self, n: int, rows: Array, unit: float) -> Floats | None:
        """Return the initial positions of the training samples, if they were given."""
        if isinstance(self.init, str):
            return None
        given: Floats = given_array("init", self.init)
        if given.shape != (n, self.n_components):
            raise ValueError(
                f"init has the shape {given.shape}; expected (n_samples, n_components)={(n, self.n_components)}."
            )
        return given[rows] / unit

    def _best(
        self,
        objective: Objective,
        fitted: FittedMapping,
        samples: ViewSamples,
        given: Floats | None,
        rng: np.random.RandomState,
    ) -> tuple[Floats, bool]:
        """Return the best parameters of all initializations, and whether the search was interrupted."""
        best: Floats | None = None
        self.cost_, converged = np.inf, True
        # L-BFGS would let free points of a neighbor embedding drift apart without end, and a field grow with them.
        unfold = objective.unfold
        descends = isinstance(get_mapping(self.mapping), NeighborMapping) and unfold is not None
        progress = Progress("MappedEmbedding", self.max_iter, self.verbose, every=EVERY, n_runs=self.n_init)
        try:
            with progress:
                for run in range(self.n_init):
                    is_given, n_iter, stopped = run == 0 and given is not None, 0, False
                    if given is None or run:
                        given = self._first(samples, objective.size, "random" if run else str(self.init), rng)
                    if unfold is not None and (descends or not is_given):
                        given = np.array(given, order="C")
                        n_iter, stopped = _moved(unfold(given), self.max_iter if descends else 0, progress)
                    ends = descends or stopped
                    theta, history, interrupted, ended = self._descend(
                        objective, fitted, fitted.start(given), None if ends else progress, 1 if ends else self.max_iter
                    )
                    n_iter = n_iter or len(history) - 1
                    if best is None or history[-1] < self.cost_:
                        best, self.cost_, self.cost_history_, self.n_iter_ = theta, history[-1], history, n_iter
                        converged = ended or ends
                    if interrupted or stopped:
                        raise KeyboardInterrupt
                    progress.end_run(n_iter)
        except KeyboardInterrupt:
            if best is None:
                raise
            interrupted = True
        if best is None or not np.isfinite(self.cost_):
            raise ValueError("The cost is not finite at the initial positions; standardize the features.")
        if not (converged or interrupted):
            warn_unconverged(self, self.max_iter)
        return best, interrupted

    def _first(self, samples: ViewSamples, size: float, kind: str, rng: np.random.RandomState) -> Floats:
        """Return initial positions with a given root mean square radius."""
        n, d = len(samples), self.n_components
        noise = rng.normal(size=(n, d))
        if kind == "random":
            positions = noise
        else:
            if samples.vectors is not None:
                positions = principal_components(samples.vectors, d, rng)
            else:
                positions = classical_scaling(samples.all_squares(), d, rng)
            positions = positions + 1e-3 * positions[:, 0].std() * noise
        return positions * (size / np.sqrt(np.square(positions).sum(axis=1).mean()))

    def _descend(
        self, objective: Objective, fitted: FittedMapping, theta: Floats, progress: Progress | None, max_iter: int
    ) -> tuple[Floats, list[float], bool, bool]:
        """Return parameters, the history of costs, whether it was interrupted, and whether it converged."""
        reached = theta

        def function(parameters: Floats) -> tuple[float, Floats]:
            positions = fitted.forward(parameters)
            value, gradient = objective(positions)
            fine, slopes = fitted.penalty(parameters, positions)
            return value + fine, fitted.pull(parameters, gradient) + slopes

        history = [function(theta)[0]]

        def callback(intermediate_result: OptimizeResult) -> None:
            nonlocal reached
            reached = intermediate_result.x.copy()
            history.append(float(intermediate_result.fun))
            if progress is not None:
                progress.step(len(history) - 1, cost=history[-1])

        options = {
            "maxiter": max_iter,
            "maxfun": 10 * max_iter,
            "maxcor": MEMORY,
            "ftol": self.tol,
            "gtol": 0.0,
        }
        try:
            found = minimize(function, theta, jac=True, method="L-BFGS-B", callback=callback, options=options)
        except KeyboardInterrupt:
            if len(history) == 1:
                raise
            return reached, history, True, False
        return reached, history, False, found.status != 1  # iterations or evaluations were enough


def _moved(steps: Iterator[int], n_steps: int, progress: Progress) -> tuple[int, bool]:
    """Take a number of steps after preparation; return how many were taken, and whether this was interrupted."""
    step = 0
    try:
        for step in steps:
            if step > 0:
                progress.step(step)
            if step == n_steps:
                break
    except KeyboardInterrupt:
        return max(step, 0), True
    return n_steps, False
