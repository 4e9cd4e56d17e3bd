"""Generalized LVQ: prototypes and feature relevances that minimize a common cost function."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from copy import copy, deepcopy
from dataclasses import replace
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import OneToOneFeatureMixin, TransformerMixin, clone
from sklearn.model_selection import train_test_split
from sklearn.utils import check_random_state

from protolearn.core.estimator import keep, nothing_lost, warn_unconverged
from protolearn.core.parameters import anything, flag, fraction, instance, integer, none, number, option, positive
from protolearn.core.partitions import ClassReader, blockwise, read_partitions
from protolearn.core.progress import Progress, wants_to_stop
from protolearn.core.streams import forget_record
from protolearn.core.threads import chunk_threads
from protolearn.core.types import Array, Floats, Indices
from protolearn.core.validation import is_collection, refuse_collection
from protolearn.core.weights import class_factors, counted
from protolearn.lvq._base import LVQClassifier
from protolearn.lvq._callback import Callback, TrainingState
from protolearn.lvq._docs import documented
from protolearn.lvq._start import Frame, first_prototypes, natural_frame, plain_frame, standard_frame
from protolearn.lvq._stream import LONGEST_HISTORY, Stream, stream_solver, warn_of_change
from protolearn.lvq.cost import SQUASHING, CooperativeRelativeDistance, Cost, RelativeDistance, slope_ends
from protolearn.lvq.problem import PartitionedProblem, Problem, pack
from protolearn.lvq.relevance import NORMS, DiagonalMetric, EuclideanMetric, Metric, Theta
from protolearn.lvq.samples import Labeled, LabeledPartitions, TrainingSamples
from protolearn.lvq.solvers import SOLVERS, Solver, get_solver

__all__ = ["GLVQ", "GRLVQ", "LGRLVQ"]

Codes = Indices
FORM = (
    "prototypes_per_class",
    "metric",
    "localization",
    "norm",
    "n_components",
    "mask",
    "symmetric",
    "filters",
    "structure",
    "distance",
    "learn_filters",
    "patch_shape",
)
LAST_RANGE = 0.1  # in ranks, at which only the nearest prototype learns


@documented
class GLVQ(LVQClassifier):
    r"""Generalized learning vector quantization.

    A sample is assigned to the class of its nearest prototype. Training minimizes the mean of :math:`\Phi(\mu)` over
    the samples, where

    .. math:: \mu = \frac{d_J - d_K}{d_J + d_K}

    is the relative distance of a sample. :math:`d_J` is the squared distance to the nearest prototype of the sample's
    own class, and :math:`d_K` the squared distance to the nearest prototype of any other class. The parameter
    ``squashing`` chooses the function :math:`\Phi`.

    Parameters
    ----------
    prototypes_per_class : int or dict, default=1
        Number of prototypes per class: one number for all classes, or a dict from class labels to numbers.
    metric : "euclidean" or Metric, default="euclidean"
        Distance between samples and prototypes. For any other differentiable distance, pass an object with the methods
        of `protolearn.lvq.Metric`.
    %(parameters)s

    Attributes
    ----------
    metric_parameters_ : tuple of ndarray
        Learned parameters of the metric, if it has any.
    %(attributes)s

    See Also
    --------
    GMLVQ : Learns a relevance matrix as well.

    References
    ----------
    Sato and Yamada (1995). Generalized learning vector quantization. NIPS.

    Biehl, Hammer and Schneider (2006). Matrix learning in learning vector quantization. Technical report IfI-06-14, TU
    Clausthal.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protolearn import GLVQ
    >>> X, y = load_iris(return_X_y=True)
    >>> model = GLVQ().fit(X, y)
    >>> model.prototype_labels_
    array([0, 1, 2])
    >>> model.score(X, y) > 0.95
    True
    """

    metric: Any = "euclidean"  # of those that have no such parameter
    _constraints = {
        "metric": option("euclidean") | instance(Metric),
        "localization": option("prototype", "class"),
        "norm": option(*NORMS),
        "squashing": option(*SQUASHING),
        "slope": anything("a number, or a pair of numbers (start, end)"),
        "neighborhood_range": positive | none,
        "solver": option("auto", *SOLVERS) | instance(Solver),
        "max_iter": integer(0) | none,
        "tol": number(0),
        "regularization": number(0) | option("auto"),
        "class_weight": option("balanced") | instance(dict, "a dict") | none,
        "warm_start": flag,
        "early_stopping": option("train") | flag,
        "validation_fraction": fraction,
        "n_iter_no_change": integer(1),
    }

    regularization: float | str = 0.0
    neighborhood_range: float | None = None
    _prior = 0.1  # samples that the regularization of one direction weighs as much as
    _standardizes = False  # whether the metric learns the weight of each feature, so that their units do not matter
    _ends_early = False  # whether the default number of iterations is to end training before it converges
    _form: dict[str, Any]
    _stream: Stream
    _mass: float  # of the samples of the last fit
    _factors: Floats  # on the weights of each class

    def __init__(
        self,
        prototypes_per_class: int | dict[Any, int] = 1,
        *,
        metric: str | Metric = "euclidean",
        init: str | ArrayLike = "neural_gas",
        squashing: str = "sigmoid",
        slope: float | tuple[float, float] | None = None,
        neighborhood_range: float | None = None,
        solver: str | Solver = "auto",
        max_iter: int | None = None,
        tol: float = 1e-6,
        class_weight: dict[Any, float] | str | None = None,
        warm_start: bool = False,
        early_stopping: bool | str = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 10,
        missing: str = "error",
        calibration: int | None = None,
        reject_threshold: float = 0.0,
        reject_label: Any = -1,
        contamination: float | None = None,
        callback: Callback | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.prototypes_per_class = prototypes_per_class
        self.metric = metric
        self.init = init
        self.squashing = squashing
        self.slope = slope
        self.neighborhood_range = neighborhood_range
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.missing = missing
        self.calibration = calibration
        self.reject_threshold = reject_threshold
        self.reject_label = reject_label
        self.contamination = contamination
        self.callback = callback
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @nothing_lost
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn prototypes and metric.

        If training is interrupted (Ctrl-C), the current state is kept.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or Dask array or data frame
            Samples.
        y : array-like of shape (n_samples,), or Dask collection with the partitions of X
            Class labels of the samples; at least two classes.
        sample_weight : array-like of shape (n_samples,), or Dask collection, optional
            Weight of each sample in the cost. Samples of weight 0 are ignored, and so are classes without any remaining
            sample. A weight of 3 counts as three samples; of weights with a mean below one only the ratios matter.

        Returns
        -------
        self : object
            The fitted classifier.
        """
        self._check_parameters()
        resumes = self.warm_start and hasattr(self, "prototypes_")
        read = self._read_partitions if is_collection(X) else self._read
        known, samples = read(X, y, sample_weight, reset=not resumes)
        if resumes:
            self._check_resumable(known)
        if len(known) < 2:
            raise ValueError(
                f"{type(self).__name__} needs samples of at least 2 classes, but y has one class only ({known[0]})."
            )
        self.classes_ = known
        for name in ("_stream", "_hidden"):
            self.__dict__.pop(name, None)
        self._check_reject()
        rng = check_random_state(self.random_state)
        held_out = None
        if self.early_stopping is True:
            kept, out = self._split(samples.codes, rng)
            held_out, samples = samples.take(out), samples.take(kept)
        self._codes = self._prototype_codes(samples.counts(len(known)))
        with chunk_threads(self.n_jobs) as n_threads:
            self._train(samples, held_out, resumes, rng, n_threads)
        self._finish(samples)
        self._warn_of_silence()
        if self.calibration is not None:
            assert isinstance(samples, Labeled)
            try:
                self._calibrate(samples, self._factors)
            except KeyboardInterrupt:
                keep(self)
                raise
        return self

    @nothing_lost
    def partial_fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Continue training with a batch of samples.

        The first call initializes prototypes and metric, unless `fit` was called before. Every call makes one pass over
        the batch. By default and with ``solver="adam"``, the pass uses mini-batches at a constant learning rate. With
        ``"sgd"``, it presents the samples one by one, and batch t uses the learning rates of epoch t. Other solvers
        need all samples at once and raise an error. The prototypes of a class are initialized when its first samples
        arrive.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Their classes.
        classes : array-like of shape (n_classes,), optional
            All classes that may occur in any batch. Required in the first call unless `fit` was called before.
        sample_weight : array-like of shape (n_samples,), optional
            Weight of each sample in the cost. Only the ratios within the batch matter for the step that it makes.

        Returns
        -------
        self : object
            The classifier.

        Notes
        -----
        Samples with a value more than a hundred times larger than all values of this feature so far are left out, with
        a warning.
        """
        self._check_parameters()
        first = not hasattr(self, "prototypes_")
        samples, labels, weights = self._check_samples(X, y, sample_weight, reset=first, batch=True)
        if not len(samples):
            return self
        if not first:
            self._check_resumable(self.classes_)
        self._go_on(Labeled(samples, self._stream_codes(labels, classes), weights))
        return self

    @property
    def metric_parameters_(self) -> Theta:
        """Learned parameters of the metric, a tuple of arrays; empty if the metric has none."""
        return self._theta

    def _structure(self, frame: Frame, samples: TrainingSamples) -> Metric:
        """Return the metric, given samples in the coordinates of the solver."""
        return clone(self.metric) if isinstance(self.metric, Metric) else EuclideanMetric()

    def _frame(self, samples: TrainingSamples, rescales: bool, resumes: bool) -> Frame:
        """Return the coordinates to work in."""
        if isinstance(self.metric, Metric) and not self.metric.homogeneous:
            return Frame(np.zeros(samples.n_features))
        turns = self._rotates() and not resumes
        if not rescales:
            return plain_frame(samples, turns)
        return standard_frame(samples, turns) if self._standardizes else natural_frame(samples)

    def _stream_frame(self, samples: Labeled, rescales: bool, resumes: bool) -> Frame:
        """Return the coordinates of a stream: those of the last fit, or what the first batch suggests."""
        if rescales and resumes and self._standardizes:
            return Frame(self._center, self.scale_)
        return self._frame(samples, rescales, resumes=True)

    def _rotates(self) -> bool:
        """Say whether the axes of the data may be turned for training."""
        return False

    def _store_metric(self, theta: Theta) -> Theta:
        """Set the attributes that show the metric; return its parameters as they are used from now on."""
        return theta

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.slope is not None:
            positive.check_each("slope", self._slope(), ", or a pair of them")
        if isinstance(self.metric, Metric) and self._partial() and not self.metric.allows_missing:
            raise ValueError(f"{type(self.metric).__name__} does not support missing values; impute them first.")

    def _default_slope(self) -> tuple[float, float]:
        """Return the default slope for the metric, at the start and at the end of training.

        A flat slope at the start, with which all samples contribute, would sacrifice rare classes.
        """
        return 15.0, 15.0

    def _default_iterations(self, solver: Solver) -> int:
        """Return how long a solver works if the user does not say."""
        return solver.default_iterations if self.neighborhood_range is None else 2 * solver.default_iterations

    def _slope(self) -> tuple[float, float]:
        if self.slope is None:
            return self._default_slope()
        return slope_ends(self.slope)

    def _split(self, codes: Codes, rng: np.random.RandomState) -> tuple[Codes, Codes]:
        """Return the samples to learn from, and those to hold out."""
        n_out = int(np.ceil(self.validation_fraction * len(codes)))
        n_classes = len(self.classes_)
        if min(n_out, len(codes) - n_out) < n_classes or np.bincount(codes).min() < 2:
            raise ValueError(
                f"Too few samples to hold out validation_fraction={self.validation_fraction} of {len(codes)} with "
                f"{n_classes} classes; use early_stopping='train', or more samples of each class."
            )
        rows = np.arange(len(codes))
        kept, out = train_test_split(rows, test_size=n_out, stratify=codes, random_state=rng)
        return np.sort(kept), np.sort(out)

    def _check_resumable(self, classes: Array) -> None:
        """Refuse to go on from a model that is of another form than the parameters ask for."""
        if not np.array_equal(classes, self.classes_):
            raise ValueError(
                f"warm_start needs the classes of the last fit, {list(self.classes_)}; y has {list(classes)}."
            )
        for name, before in self._form.items():
            now = getattr(self, name)
            if not np.array_equal(np.asarray(now, object), np.asarray(before, object)):
                raise ValueError(
                    f"{name} was {before!r} in the last fit and is {now!r} now; training can continue only with the "
                    "same form of model. Fit again with warm_start=False."
                )

    def _solver(self, n_samples: int) -> Solver:
        solver = get_solver(self.solver, n_samples)
        solver.check()
        return solver

    def _read(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None, reset: bool) -> tuple[Array, Labeled]:
        """Return the classes, and the samples in memory."""
        samples, labels, weights = self._check_samples(X, y, sample_weight, reset)
        known, codes = np.unique(labels, return_inverse=True)
        return known, Labeled(samples, codes, weights)

    def _read_partitions(self, X: Any, y: Any, sample_weight: Any, reset: bool) -> tuple[Array, LabeledPartitions]:
        """Return the classes, and the samples in the partitions of a Dask collection."""
        self._require_labels(y)
        self._check_additive(X)
        forget_record(self)
        finite = "allow-nan" if self._partial() else True
        options: dict[str, Any] = {"reset": reset, "supervised": True, "finite": finite, "kind": ClassReader}
        parts = read_partitions(self, X, y, sample_weight, **options)
        if len(parts) < parts.n_features:
            raise ValueError(
                f"X has {len(parts)} samples of {parts.n_features} features. Collections need as many samples as "
                "features or more; pass X.compute() and y.compute(), which fit in memory."
            )
        samples = LabeledPartitions.of(parts, partial(self._class_factors, parts.classes))
        Progress(type(self).__name__, None, self.verbose).note(parts.description)
        return parts.classes, samples

    def _check_additive(self, X: Any) -> None:
        """Refuse to learn from partitions what is no sum over samples."""
        solver = self._solver(0)
        if solver.one_by_one:
            raise ValueError(
                f"solver={solver!r} presents single samples in random order and does not support Dask collections; use "
                "'lbfgs' or 'adam', or call partial_fit with one partition after the other."
            )
        if self.calibration is not None:
            raise ValueError(
                "calibration refits the classifier to samples in memory and does not support Dask collections; set "
                "calibration=None."
            )
        if isinstance(self.metric, Metric) and type(self.metric).start_among is not Metric.start_among:
            refuse_collection(X, f"{type(self).__name__} with metric={self.metric!r}")

    def _class_factors(self, classes: Array, counts: Indices, masses: Floats) -> Floats:
        """Return the factor on the weights of each class."""
        factors = class_factors(self.class_weight, classes, masses)
        if not factors.all():
            nothing = classes[factors == 0].tolist()
            raise ValueError(f"class_weight gives classes {nothing} weight zero; remove them from the collection.")
        return factors * max(1.0, counts.sum() / masses.sum())  # as counts

    def _check_samples(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None, reset: bool, batch: bool = False
    ) -> tuple[Floats, Array, Floats]:
        """Return samples, labels and weights, without samples of weight zero, and in a batch without unusual ones."""
        refuse_collection(X, "partial_fit", "give one partition after the other")
        samples, labels = self._check_training(X, y, reset)
        samples, labels, weights = self._usual(samples, labels, sample_weight, reset or not batch)
        if not len(samples):
            return samples, labels, weights
        present, counts, self._factors = counted(labels, weights, self.class_weight)
        codes = np.unique(labels[present], return_inverse=True)[1]
        return samples[present], labels[present], counts * self._factors[codes]

    def _begin(
        self, frame: Frame, samples: TrainingSamples, resumes: bool, rng: np.random.RandomState
    ) -> tuple[Metric, Floats, Theta]:
        """Return the metric, the first prototypes and the first parameters, in the coordinates of the solver."""
        self._form = {name: getattr(self, name) for name in FORM if hasattr(self, name)}
        if resumes:
            return self._metric, frame.enter(self.prototypes_), self._metric.carried(self._theta, frame.enter_matrices)
        metric = self._structure(frame, samples)
        theta = metric.start(samples.n_features, self._codes, rng)
        if isinstance(self.init, str):
            W = self._first_prototypes(metric, theta, samples, rng)
        else:
            W = frame.enter(self._given_prototypes(self.init))
        if isinstance(samples, Labeled):
            theta = metric.start_among(theta, samples.X, samples.y, samples.u, W, self._codes)
        return metric, W, theta

    def _first_prototypes(
        self, metric: Metric, theta: Theta, samples: TrainingSamples, rng: np.random.RandomState
    ) -> Floats:
        """Return the first prototypes, in the coordinates of the solver."""
        return first_prototypes(samples, self._codes, str(self.init), rng)

    def _problem(
        self, frame: Frame, metric: Metric, samples: TrainingSamples, W: Floats, theta: Theta, n_threads: int
    ) -> Problem:
        parts: dict[str, Any] = {
            "classes": self._codes,
            "metric": metric,
            "cost": self._cost(frame),
            "regularization": self._regularization(metric, theta, samples.mass),
            "shapes": [W.shape, *(part.shape for part in theta)],
        }
        if isinstance(samples, Labeled):
            return Problem(samples.X, samples.y, samples.u, **parts, n_threads=n_threads)
        return PartitionedProblem.of(samples, **parts)

    def _cost(self, frame: Frame) -> Cost:
        """Return what is minimized, in the coordinates of the solver."""
        slope = (1.0, 1.0) if self.squashing == "identity" else self._slope()
        if self.neighborhood_range is None:
            return RelativeDistance(self.squashing, slope)
        return CooperativeRelativeDistance(self.squashing, slope, (float(self.neighborhood_range), LAST_RANGE))

    def _regularization(self, metric: Metric, theta: Theta, mass: float) -> float:
        """Return the weight of the mean logarithm, which decreases with the number of samples."""
        if self.regularization == "auto":
            return self._prior * metric.n_directions(theta) / mass
        return float(self.regularization)

    def _train(
        self,
        samples: TrainingSamples,
        held_out: TrainingSamples | None,
        resumes: bool,
        rng: np.random.RandomState,
        n_threads: int,
    ) -> None:
        solver = self._solver(len(samples))
        max_iter = self._default_iterations(solver) if self.max_iter is None else self.max_iter
        frame = self._frame(samples, solver.rescales, resumes or not solver.turns or not max_iter)
        inside = samples.entered(frame)
        metric, W, theta = self._begin(frame, inside, resumes, rng)
        problem = self._problem(frame, metric, inside, W, theta, n_threads)
        if self.slope is None and solver.first_slope is not None and isinstance(problem.cost, RelativeDistance):
            problem.cost = replace(problem.cost, slope=(solver.first_slope, problem.cost.slope[1]))
        watch = _Watch(self, max_iter)
        if self.early_stopping:
            judged = inside if held_out is None else held_out.entered(frame)
            watch.judge = self._problem(frame, metric, judged, W, theta, n_threads)
        interrupted = False
        watch.flat = pack(W, theta)
        watch.snapshot = lambda flat, costs: self._snapshot(problem, frame, flat, costs, watch.stage_starts, samples)
        try:
            if max_iter:
                with watch.progress:
                    converged = solver.minimize(problem, watch.flat, max_iter, self.tol, rng, watch)
                if converged is False and not (self._ends_early and self.max_iter is None):
                    warn_unconverged(self, max_iter)
        except KeyboardInterrupt:
            if not watch.costs:
                raise
            interrupted = True
        self.cost_history_ = watch.costs
        self.stage_starts_ = watch.stage_starts
        self.n_iter_ = max(min(1, max_iter), len(watch.costs))
        self._mass = samples.mass
        self.__dict__.pop("score_history_", None)
        if self.early_stopping:
            self.score_history_ = watch.scores
        self._store(problem, frame, watch.best)
        if interrupted:
            self._finish(samples)
            keep(self)
            raise KeyboardInterrupt

    def _snapshot(
        self,
        problem: Problem,
        frame: Frame,
        flat: Floats,
        costs: list[float],
        stage_starts: list[int],
        samples: TrainingSamples,
    ) -> GLVQ:
        """Return a copy of the classifier as it was at a moment of training."""
        then = copy(self)
        then.cost_history_, then.n_iter_ = costs, len(costs)
        then.stage_starts_ = [start for start in stage_starts if start <= len(costs)]
        then._store(problem, frame, flat)
        then._finish(samples)
        return then

    def _store(self, problem: Problem, frame: Frame, flat: Floats) -> None:
        with np.errstate(invalid="ignore", over="ignore"):
            flat = problem.normalized(flat)
        if not np.isfinite(flat).all():
            raise ValueError(
                "Training diverged: prototypes or metric are no longer finite. Scale the features or lower the "
                "learning rates."
            )
        W, theta = problem.unpack(flat)
        self._center = frame.center
        self.prototypes_ = frame.leave(W)
        self.prototype_labels_ = self.classes_[self._codes]
        self._metric = problem.metric
        if self._standardizes:
            self.scale_ = frame.units
            self.regularization_ = problem.regularization
        self._theta = self._store_metric(problem.metric.carried(theta, frame.leave_matrices))

    def _warn_of_silence(self) -> None:
        """Warn of classes that are never predicted on the training samples."""
        silent = self.classes_[np.bincount(self._codes, self.n_wins_) == 0]
        if len(silent):
            warnings.warn(
                f"{type(self).__name__} never predicts {', '.join(map(str, silent))} on the training samples: the "
                "prototypes of these classes are nearest to no sample. Give rare classes more weight "
                "(class_weight='balanced'), more prototypes (prototypes_per_class), or local metrics (LGMLVQ).",
                UserWarning,
                stacklevel=4,
            )

    def _go_on(self, samples: Labeled) -> None:
        """Make one pass over a batch, with prototypes of the classes seen so far."""
        solver = stream_solver(self.solver)
        if not hasattr(self, "_stream"):
            resumes = hasattr(self, "prototypes_")
            rng = check_random_state(self.random_state)
            if not resumes:
                self._codes = self._prototype_codes(None)
            frame = self._stream_frame(samples, solver.rescales, resumes)
            metric, W, theta = self._begin(frame, samples.entered(frame), resumes, rng)
            stream = Stream(frame, rng, metric, W, theta, np.full(len(self.classes_), resumes))
            if resumes:
                stream.settled, stream.mass = self._standardizes, self._mass
            self.cost_history_, self.stage_starts_, self.n_iter_ = [], [], 0
        else:
            stream = deepcopy(self._stream)  # the old one serves on if this batch fails
        stream.settle(self._stream_frame(samples, solver.rescales, resumes=False), samples.X)
        inside = samples.entered(stream.frame)
        if isinstance(self.init, str):
            stream.add_classes(inside, self._codes, self._first_prototypes)
        stream.seen[samples.y] = True
        self._hidden = ~stream.seen[self._codes]
        if stream.follow(inside, self._codes):
            warn_of_change(self)
        problem = self._problem(stream.frame, stream.metric, inside, *stream.parts, 1)
        problem.hidden = self._hidden
        stream.mass += samples.mass
        problem.regularization = self._regularization(stream.metric, stream.parts[1], stream.mass)
        with chunk_threads(1):
            self.cost_history_ = [*self.cost_history_, stream.learn(problem, solver)][-LONGEST_HISTORY:]
        self.n_iter_ += 1
        self._stream = stream
        self._store(problem, stream.frame, pack(*stream.parts))
        self._finish_batch(samples)


class _Watch:
    """Follows a solver: keeps costs and the best state, reports, and stops early."""

    def __init__(self, model: GLVQ, max_iter: int) -> None:
        self.model = model
        self.progress = Progress(type(model).__name__, max_iter, model.verbose)
        self.judge: Problem | None = None
        self.snapshot: Callable[[Floats, list[float]], GLVQ]
        self.costs: list[float] = []
        self.stage_starts: list[int] = []
        self.scores: list[float] = []
        self.flat = np.empty(0)
        self._best: Floats | None = None

    @property
    def best(self) -> Floats:
        """The state with the best score, or the last one."""
        return self.flat if self._best is None else self._best

    def __call__(self, flat: Floats, cost: float, stage: int = 0) -> None:
        self.flat = flat.copy()  # solvers may change theirs in place
        self.costs.append(cost)
        if stage > len(self.stage_starts):
            self.stage_starts.append(len(self.costs))
        self.progress.step(len(self.costs), cost=cost)
        stops = self._exhausted()
        make = partial(self.snapshot, self.flat, [*self.costs])
        if wants_to_stop(self.model.callback, TrainingState(len(self.costs), cost, make)) or stops:
            raise StopIteration

    def _exhausted(self) -> bool:
        """Score the present state, if there is a judge; return whether scores have not improved for long."""
        if self.judge is None:
            return False
        score = self.judge.accuracy(self.flat)
        if not self.scores or score > max(self.scores):
            self._best = self.flat
        self.scores.append(score)
        return len(self.scores) - 1 - int(np.argmax(self.scores)) >= self.model.n_iter_no_change


@documented
class GRLVQ(TransformerMixin, GLVQ):
    r"""Generalized relevance LVQ, which also learns the relevance of each feature.

    The squared distance is

    .. math:: d = \sum_i \lambda_i (x_i - w_i)^2 / s_i^2

    with relevances :math:`\lambda_i \ge 0` that sum to one. :math:`s_i` is the standard deviation of feature i, so the
    units of the features do not matter.

    Parameters
    ----------
    prototypes_per_class : int or dict, default=1
        Number of prototypes per class: one number for all classes, or a dict from class labels to numbers.
    regularization : float or "auto", default="auto"
        Weight of the mean logarithm of the square roots of the relevances. This term prevents relevances from
        collapsing to zero. ``"auto"`` is 0.01 times the number of relevances divided by the number of samples, so the
        term matters less the more samples there are.
    %(parameters)s

    Attributes
    ----------
    relevances_ : ndarray of shape (n_features,)
        Relevance of each feature, for features in units of their standard deviation; the relevances sum to one.
    omega_ : ndarray of shape (n_features,)
        Factor of each feature in `transform`: the square root of its relevance, divided by its ``scale_``.
    %(scale)s
    %(importances)s
    %(attributes)s

    References
    ----------
    Hammer and Villmann (2002). Generalized relevance learning vector quantization. Neural Networks 15.

    Bunte (2011). Adaptive dissimilarity measures, dimension reduction and visualization. PhD thesis, University of
    Groningen, section 2.4.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protolearn import GRLVQ
    >>> X, y = load_iris(return_X_y=True)
    >>> model = GRLVQ().fit(X, y)
    >>> bool(model.relevances_.argmax() >= 2)  # length or width of the petals
    True
    """

    def __init__(
        self,
        prototypes_per_class: int | dict[Any, int] = 1,
        *,
        regularization: float | str = "auto",
        init: str | ArrayLike = "neural_gas",
        squashing: str = "sigmoid",
        slope: float | tuple[float, float] | None = None,
        neighborhood_range: float | None = None,
        solver: str | Solver = "auto",
        max_iter: int | None = None,
        tol: float = 1e-06,
        class_weight: dict[Any, float] | str | None = None,
        warm_start: bool = False,
        early_stopping: bool | str = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 10,
        missing: str = "error",
        calibration: int | None = None,
        reject_threshold: float = 0.0,
        reject_label: Any = -1,
        contamination: float | None = None,
        callback: Callback | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.prototypes_per_class = prototypes_per_class
        self.regularization = regularization
        self.init = init
        self.squashing = squashing
        self.slope = slope
        self.neighborhood_range = neighborhood_range
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.missing = missing
        self.calibration = calibration
        self.reject_threshold = reject_threshold
        self.reject_label = reject_label
        self.contamination = contamination
        self.callback = callback
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    _standardizes = True
    _prior = 0.01

    def _structure(self, frame: Frame, samples: TrainingSamples) -> Metric:
        return DiagonalMetric()

    def _store_metric(self, theta: Theta) -> Theta:
        self.omega_ = np.abs(theta[0][0])
        self.relevances_ = (self.omega_ * self.scale_) ** 2
        return theta

    @blockwise
    def transform(self, X: ArrayLike) -> Array:
        """Scale the features so that Euclidean distances equal the learned distances.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
            Scaled samples.
        """
        X = self._check_filled(X)
        return X * self.omega_.astype(X.dtype)

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Return the names of the output features, which are those of the input.

        Parameters
        ----------
        input_features : array-like of str, optional
            Names of the input features, if ``X`` had no names in `fit`.

        Returns
        -------
        names : ndarray of str
            Names of the output features.
        """
        return OneToOneFeatureMixin.get_feature_names_out(self, input_features)


@documented
class LGRLVQ(GLVQ):
    r"""Localized generalized relevance LVQ, with separate relevances for each prototype or each class.

    The squared distance to prototype p is

    .. math:: d_p = \sum_i \lambda_{pi} (x_i - w_{pi})^2 / s_i^2

    with the standard deviations :math:`s_i` of the features and relevances :math:`\lambda_{pi} \ge 0` whose sum over
    the features is one on average over the prototypes. Borders between classes are curved.

    Parameters
    ----------
    prototypes_per_class : int or dict, default=1
        Number of prototypes per class: one number for all classes, or a dict from class labels to numbers.
    localization : {"prototype", "class"}, default="prototype"
        Whether each prototype or each class has its own relevances.
    norm : {"common", "each"}, default="common"
        Normalization of the relevances. With ``"common"`` their sum is one on average over all prototypes or classes,
        so some prototypes or classes can be wider than others. With ``"each"`` the sum is one for every prototype or
        class.
    regularization : float or "auto", default="auto"
        Weight of the mean logarithm of the square roots of the relevances. This term prevents relevances from
        collapsing to zero. ``"auto"`` is 0.01 times the number of relevances divided by the number of samples, so the
        term matters less the more samples there are.
    %(parameters)s

    Attributes
    ----------
    relevances_ : ndarray of shape (k, n_features) or (n_classes, n_features)
        Relevances of each prototype or class, for features in units of their standard deviation.
    %(scale)s
    %(importances)s
    %(attributes)s

    References
    ----------
    Hammer, Schleif and Villmann (2005). On the generalization ability of prototype-based classifiers with local
    relevance determination. Technical report IfI-05-14, TU Clausthal.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protolearn import LGRLVQ
    >>> X, y = load_iris(return_X_y=True)
    >>> LGRLVQ().fit(X, y).relevances_.shape
    (3, 4)
    """

    def __init__(
        self,
        prototypes_per_class: int | dict[Any, int] = 1,
        *,
        localization: str = "prototype",
        norm: str = "common",
        regularization: float | str = "auto",
        init: str | ArrayLike = "neural_gas",
        squashing: str = "sigmoid",
        slope: float | tuple[float, float] | None = None,
        neighborhood_range: float | None = None,
        solver: str | Solver = "auto",
        max_iter: int | None = None,
        tol: float = 1e-06,
        class_weight: dict[Any, float] | str | None = None,
        warm_start: bool = False,
        early_stopping: bool | str = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 10,
        missing: str = "error",
        calibration: int | None = None,
        reject_threshold: float = 0.0,
        reject_label: Any = -1,
        contamination: float | None = None,
        callback: Callback | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.prototypes_per_class = prototypes_per_class
        self.localization = localization
        self.norm = norm
        self.regularization = regularization
        self.init = init
        self.squashing = squashing
        self.slope = slope
        self.neighborhood_range = neighborhood_range
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.missing = missing
        self.calibration = calibration
        self.reject_threshold = reject_threshold
        self.reject_label = reject_label
        self.contamination = contamination
        self.callback = callback
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    _standardizes = True
    _prior = 0.01

    def _structure(self, frame: Frame, samples: TrainingSamples) -> Metric:
        return DiagonalMetric(self.localization, self.norm)

    def _store_metric(self, theta: Theta) -> Theta:
        self.relevances_ = (theta[0] * self.scale_) ** 2
        return theta
