"""What all maps of vectors share: samples in, prototypes out, in one go or patch by patch."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator
from copy import deepcopy
from dataclasses import replace
from functools import reduce
from typing import Any, Self

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags, assert_all_finite, check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d, validate_data

from protolearn.core import initialization
from protolearn.core.cooperation import Cooperation
from protolearn.core.density import correlation_dimension, mean_pairwise_distance, parzen_log_density
from protolearn.core.estimator import Estimator, keep, nothing_lost
from protolearn.core.loop import Step, anneal, learn_online, nearest, stage, winners
from protolearn.core.prototypes import Mean, Prototypes
from protolearn.core.schedules import Schedule, as_schedule
from protolearn.core.sources import ArraySource, Labels, cut_patches
from protolearn.core.threads import chunk_threads
from protolearn.core.types import Array, Floats, Indices
from protolearn.core.validation import (
    check_number,
    check_option,
    check_running,
    check_scale,
    check_weights,
    given_array,
    refuse_overflow,
)
from protolearn.maps._state import Model, Samples, best_of, field_means, hebbian_graph
from protolearn.metrics import quantization_error

__all__ = ["PrototypeMap"]

ONLINE_STEPS = 256  # values of the schedule in an epoch of online learning, close enough to be joined by lines


class PrototypeMap(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Estimator):
    """Base of all maps of vectors; a map says how prototypes cooperate, where they start and how the range falls."""

    algorithm: str
    init: Any
    n_init: int = 1
    max_iter: int
    schedule: str | Schedule
    label_weight: float
    magnification: float | str
    density_at: str = "sample"
    edge_lifetime: int | None = None
    learning_rate_start: float
    learning_rate_end: float
    patch_size: int | None
    patch_runs: int
    decay: float
    n_jobs: int | None
    random_state: Any
    verbose: int
    _inits: tuple[str, ...] = ("center", "pca", "k-means++", "random")
    _algorithms: tuple[str, ...] = ("batch", "online")
    _finite: bool | str = True  # whether samples may have gaps, "allow-nan"

    @abstractmethod
    def _cooperation(self, source: ArraySource) -> Cooperation:
        """Return who learns from a sample, given the first samples."""

    @abstractmethod
    def _size(self, cooperation: Cooperation) -> int:
        """Return the number of prototypes."""

    @abstractmethod
    def _ranges(self, cooperation: Cooperation, resumed: bool) -> Floats:
        """Return the range of every epoch, which may depend on whether prototypes start where they were."""

    @nothing_lost
    def fit(self, X: Any, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> Self:
        """Place the prototypes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or iterator of patches
            Samples; a memory map of floats is read in chunks. An iterator yields patches ``X``, ``(X, y)`` or
            ``(X, y, sample_weight)``; only those being learned, and the next, are in memory.
        y : array-like of shape (n_samples,), optional
            Class of each sample, used if ``label_weight`` is positive; -1, NaN and None mean unlabeled.
        sample_weight : array-like of shape (n_samples,), optional
            Weight of each sample; 2 is the same as giving the sample twice.

        Returns
        -------
        self : object
            The fitted map. If the fit is interrupted from the keyboard, or fails in a later patch, what was learned so
            far is kept.
        """
        self._check_parameters()
        rng = check_random_state(self.random_state)
        if isinstance(X, Iterator):
            if y is not None or sample_weight is not None:
                raise ValueError("An iterator of patches yields its own labels and weights: (X, y, sample_weight).")
            return self._learn_patches(self._read_all(X), None, rng)
        samples = self._read(X, y, sample_weight, reset=True)
        cuts = cut_patches(len(samples.X), self.patch_size or len(samples.X))
        if len(cuts) == 1:
            return self._learn_patches([samples], None, rng)
        order = rng.permutation(len(samples.X))
        self._learn_patches((samples.take(order[cut]) for cut in cuts), None, rng)
        self._assign(samples)
        return self

    @nothing_lost
    def partial_fit(self, X: ArrayLike, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from one more patch of samples.

        The centers of the receptive fields so far stand for the samples seen before: they join the patch, each weighted
        by the mass of its field (times ``decay``), and the map is trained on both with the full schedule of the range.
        A prototype keeps its index if it stays about where it was.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The patch; the first must have at least as many samples as there are prototypes.
        y : array-like of shape (n_samples,), optional
            Class of each sample, used if ``label_weight`` is positive; -1, NaN and None mean unlabeled.
            New classes may appear at any time.
        sample_weight : array-like of shape (n_samples,), optional
            Weight of each sample.

        Returns
        -------
        self : object
            The fitted map.
        """
        self._check_parameters()
        model = getattr(self, "_model", None)
        if model is not None:
            self._check_unchanged(model)
        rng = check_random_state(self.random_state) if model is None else deepcopy(self._rng)
        samples, model = self._read_more(X, y, sample_weight, model)
        return self._learn_patches([samples], model, rng)

    def fit_predict(self, X: Any, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> Indices:
        """Fit the map and return the index of the nearest prototype of each sample.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,), optional
            Class of each sample, used if ``label_weight`` is positive; -1, NaN and None mean unlabeled.
        sample_weight : array-like of shape (n_samples,), optional
            Weight of each sample.

        Returns
        -------
        winners : ndarray of shape (n_samples,)
            ``labels_``.
        """
        return self.fit(X, y, sample_weight).labels_

    def predict(self, X: ArrayLike) -> Indices:
        """Return the index of the nearest prototype of each sample.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        winners : ndarray of shape (n_samples,)
            Row of ``prototypes_``.
        """
        return self.nearest(X)

    def nearest(self, X: ArrayLike) -> Indices:
        """Return the index of the nearest prototype of each sample, as `predict` does.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        winners : ndarray of shape (n_samples,)
            Row of ``prototypes_``.
        """
        return self._nearest(self._check_new(X))

    def transform(self, X: ArrayLike) -> Array:
        """Return the squared distance of each sample to each prototype, as `distances` does.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        distances : ndarray of shape (n_samples, n_prototypes)
            Squared Euclidean distances.
        """
        return self.distances(X)

    def distances(self, X: ArrayLike) -> Array:
        """Return the distance of each sample to each prototype.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        distances : ndarray of shape (n_samples, n_prototypes)
            Squared Euclidean distances.
        """
        return np.maximum(self._distances(self._check_new(X)), 0.0)

    def score(self, X: ArrayLike, y: None = None, sample_weight: ArrayLike | None = None) -> float:
        """Return the negative quantization error, the mean distance of samples to their nearest prototype.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,), optional
            Weight of each sample.

        Returns
        -------
        score : float
            At most 0; larger is better.
        """
        X = self._check_new(X)
        return -quantization_error(X, self.prototypes_, sample_weight=check_weights(sample_weight, len(X), X.dtype))

    def __sklearn_tags__(self) -> Tags:
        """Say that float32 stays float32."""
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    @property
    def _n_features_out(self) -> int:
        return len(self._model)

    def _nearest(self, X: Array) -> Indices:
        with chunk_threads(self.n_jobs) as n_threads:
            return nearest(*self._stage(X, self._model, n_threads))

    def _distances(self, X: Array) -> Array:
        with chunk_threads(self.n_jobs) as n_threads:
            prototypes, source = self._stage(X, self._model, n_threads)
            measure = prototypes.measure(source.dtype)
            (distances,) = source.gather(lambda chunk: (measure(chunk)[0],), len(prototypes))
        return distances

    # Reading samples

    def _check_parameters(self) -> None:
        check_option("algorithm", self.algorithm, self._algorithms)
        check_number("max_iter", self.max_iter, integer=True, low=1)
        check_number("n_init", self.n_init, integer=True, low=1)
        as_schedule(self.schedule)
        check_number("label_weight", self.label_weight, low=0, high=1)
        if not (isinstance(self.magnification, str) and self.magnification == "optimal"):
            check_number("magnification", self.magnification, also=" or 'optimal'")
        check_option("density_at", self.density_at, ("sample", "winner"))
        if self.edge_lifetime is not None:
            check_number("edge_lifetime", self.edge_lifetime, integer=True, low=1, also=" or None")
        for name, usual in (("density_at", "sample"), ("edge_lifetime", None)):
            if self.algorithm != "online" and getattr(self, name) != usual:
                raise ValueError(f"{name}={getattr(self, name)!r} needs algorithm='online'.")
        check_number("learning_rate_start", self.learning_rate_start, low=0, high=1, open_low=True)
        check_number("learning_rate_end", self.learning_rate_end, low=0, high=1, open_low=True)
        if self.patch_size is not None:
            check_number("patch_size", self.patch_size, integer=True, low=1)
        check_number("patch_runs", self.patch_runs, integer=True, low=1)
        check_number("decay", self.decay, low=0, high=1, open_low=True)
        check_running(self)
        if isinstance(self.init, str) or self.init is None or callable(self.init):
            check_option("init", self.init, self._inits, also=" or an array of shape (n_prototypes, n_features)")

    def _check_unchanged(self, model: Model) -> None:
        """Refuse to go on with a map of another kind than the one so far."""
        if (model.fuzzy is None) != (self.label_weight == 0):
            raise ValueError(
                f"label_weight={self.label_weight}, but the map so far was fitted "
                f"{'without' if model.fuzzy is None else 'with'} labels; call fit to start anew."
            )
        if self._size(model.cooperation) != len(model):
            raise ValueError(
                f"n_prototypes={self._size(model.cooperation)}, but the map so far has {len(model)}; "
                "call fit to start anew."
            )

    def _read_all(self, patches: Iterator[Any]) -> Iterator[Samples]:
        for number, patch in enumerate(patches):
            yield self._read(*(patch if isinstance(patch, tuple) else (patch,)), reset=number == 0)

    def _read_more(
        self, X: Any, y: ArrayLike | None, sample_weight: ArrayLike | None, model: Any
    ) -> tuple[Samples, Any]:
        """Validate one more patch, and set the map so far beside it."""
        return self._read(X, y, sample_weight, reset=model is None), model

    def _read(
        self, X: Any, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None, *, reset: bool
    ) -> Samples:
        """Validate one patch of samples."""
        finite = self._finite
        X = check_scale(validate_data(self, X, dtype=[np.float64, np.float32], reset=reset, ensure_all_finite=finite))
        return self._labeled(X, y, sample_weight)

    def _labeled(self, X: Any, y: ArrayLike | None, sample_weight: ArrayLike | None) -> Samples:
        """Put samples together with their weights and labels."""
        weights = check_weights(sample_weight, len(X), np.float64)
        if y is not None:
            check_consistent_length(weights, y)
        if self.label_weight == 0:
            return Samples(X, weights)
        if y is None:
            raise ValueError(
                f"label_weight={self.label_weight} needs the classes of the samples: call fit(X, y), "
                "or set label_weight=0 for an unsupervised map."
            )
        classes, labels = label_vectors(column_or_1d(y), getattr(X, "dtype", np.float64))
        if not weights[labels.any(axis=1)].any():
            raise ValueError(
                "No sample of positive weight has a label: -1, NaN and None mean unlabeled. Give the classes of some, "
                "or set label_weight=0 for an unsupervised map."
            )
        return Samples(X, weights, labels, classes)

    def _check_new(self, X: ArrayLike) -> Array:
        check_is_fitted(self, "prototypes_")
        return refuse_overflow(validate_data(self, X, dtype=[np.float64, np.float32], reset=False))

    # Learning

    def _learn_patches(self, patches: Iterable[Samples], model: Model | None, rng: np.random.RandomState) -> Self:
        """Learn patch after patch, in ``patch_runs`` independent runs whose prototypes are merged at the end.

        If a patch fails, or the user interrupts, what was learned before is merged and kept.
        """
        runs: list[Model | None] = [model] + [None] * (self.patch_runs - 1)
        rngs = [rng] + [np.random.RandomState(rng.randint(2**31)) for _ in runs[1:]]
        last: Any = None
        failure: BaseException | None = None
        with chunk_threads(self.n_jobs) as n_threads:
            try:
                for group in _batched(patches, self.patch_runs):
                    done = self._learn_each(list(zip(group, runs, rngs)), n_threads)
                    runs[: len(done)], last = done, group[len(done) - 1]
                    if any(model.interrupted for model in done):
                        raise KeyboardInterrupt
            except (KeyboardInterrupt, Exception) as error:
                failure = error
            models = [model for model in runs if model is not None]
            if len(models) > 1:
                others = reduce(Samples.joined, (model.as_samples() for model in models[1:]))
                merged = self._learn_best(others, models[0], rng, n_threads, decay=1.0)
                shown = self._winners(last.X, merged, n_threads)
                models[0] = merged.showing(last.weights, *shown)
                if merged.interrupted:
                    failure = KeyboardInterrupt()
        if models and models[0] is not model:
            self._rng = rng
            self._store(models[0])
            keep(self)
        if failure is not None:
            raise failure
        if not models:
            raise ValueError("There are no patches in the iterator; give at least one.")
        return self

    def _learn_each(
        self, jobs: list[tuple[Samples, Model | None, np.random.RandomState]], n_threads: int
    ) -> list[Model]:
        """Train each run on its patch, at the same time or one after the other until one is interrupted."""
        if len(jobs) > 1 and n_threads > 1:
            learn = Parallel(n_threads, require="sharedmem")
            return learn(delayed(self._learn_best)(*job, 1, self.decay) for job in jobs)
        done: list[Model] = []
        for job in jobs:
            done.append(self._learn_best(*job, n_threads, self.decay))
            if done[-1].interrupted:
                break
        return done

    def _learn_best(
        self, patch: Samples, model: Model | None, rng: np.random.RandomState, n_threads: int, decay: float
    ) -> Model:
        """Train on one patch ``n_init`` times, unless the start is given, and keep the result of lowest cost."""
        n_starts = self.n_init if isinstance(self.init, str) else 1
        return best_of((self._learn(patch, model, rng, n_threads, decay) for _ in range(n_starts)), self._final_cost)

    def _final_cost(self, model: Any) -> float:
        """Return the cost by which one of several starts is chosen."""
        return model.costs[-1] if model.settled is None else model.settled

    def _learn(
        self, patch: Samples, model: Model | None, rng: np.random.RandomState, n_threads: int, decay: float
    ) -> Model:
        """Train on one patch, together with the prototypes that stand for earlier ones."""
        n_new = len(patch.X)
        if model is not None:
            patch = patch.joined(model.as_samples(decay))
        present = np.flatnonzero(patch.weights)
        taught = patch if len(present) == len(patch.X) else patch.take(present)
        emphasis, magnification = self._emphasis(taught, n_threads)
        weights = taught.weights * emphasis
        scale = float(weights.max(initial=1e-300))
        source = self._source(taught, weights / scale, model, n_threads, rng)
        cooperation = self._cooperation(source) if model is None else model.cooperation
        k = self._size(cooperation) if model is None else len(model)
        if model is None:
            require_samples(len(taught.X), k)
        resumed = model is not None and self._resumes()
        positions = self._start(source, cooperation, taught, model if resumed else None, rng)
        prototypes = self._prototypes(positions, source, model if resumed else None, rng)
        epochs = self._epochs(prototypes, cooperation, source, self._ranges(cooperation, resumed), rng)
        costs: list[float] = []
        ranges: list[float] = []
        settled: float | None = None
        edges = None
        interrupted = False
        try:
            for step in epochs:
                prototypes, edges = step.prototypes, step.edges
                costs.append(scale * step.cost)
                ranges.append(step.range_)
                self._report(costs, ranges)
            prototypes, settled = self._finished(prototypes, source, ranges[-1], rng)
        except KeyboardInterrupt:
            if not costs:
                raise
            interrupted = True
        history = {"costs": costs, "ranges": ranges, "interrupted": interrupted, "magnification": magnification}
        history |= {"settled": None if settled is None else scale * settled, "edges": edges}
        earlier = None if resumed else model
        return self._placed(prototypes, source, cooperation, patch, n_new, earlier, n_threads, scale, history)

    def _assign(self, samples: Samples) -> None:
        """Find the prototypes of samples that were learned patch by patch."""
        with chunk_threads(self.n_jobs) as n_threads:
            self.labels_, second = self._winners(samples.X, self._model, n_threads)
        k = len(self._model)
        self.multiplicities_ = np.bincount(self.labels_, samples.weights, k).astype(np.float64)
        if self._model.edges is None:
            self.graph_ = hebbian_graph(self.labels_, second, samples.weights, k)

    # What a map with prototypes of another kind says differently

    def _placed(
        self,
        prototypes: Any,
        source: Any,
        cooperation: Cooperation,
        patch: Samples,
        n_new: int,
        earlier: Model | None,
        n_threads: int,
        scale: float,
        history: dict[str, Any],
    ) -> Model:
        """Return what was learned from a patch, whose first samples are new, prototypes in the order of ``earlier``.

        Weights in the source are those of the patch divided by ``scale``.
        """
        k, d = len(prototypes), source.n_features
        positions = (prototypes.positions[:, :d] / source.scale + source.origin[:d]).astype(patch.X.dtype)
        fuzzy = None if patch.labels is None else as_shares(prototypes.positions[:, d:])
        places = np.arange(k)
        if earlier is not None:
            _, places = linear_sum_assignment(cdist(earlier.positions, positions, "sqeuclidean"))
        if history["edges"] is not None:
            history["edges"] = history["edges"][np.ix_(places, places)]
        placed = Model(
            cooperation,
            positions[places],
            None if fuzzy is None else fuzzy[places],
            patch.classes,
            masses=np.ones(k),
            winners=np.empty(0, np.int64),
            graph=None,
            **history,
            **self._shape(prototypes, source, places),
        )
        first, second = self._winners(patch.X, placed, n_threads)
        masses = np.bincount(first, patch.weights, k).astype(np.float64)
        shown = placed.showing(patch.weights[:n_new], first[:n_new], second[:n_new])
        centers, labels = field_means(patch.X, patch.weights, first, placed.positions), None
        if placed.fuzzy is not None:
            labels = field_means(patch.labels, patch.weights * patch.labels.any(axis=1), first, placed.fuzzy)
        return replace(shown, masses=masses, centers=centers, center_labels=labels)

    def _finished(
        self, prototypes: Any, source: Any, range_: float, rng: np.random.RandomState
    ) -> tuple[Any, float | None]:
        """Return the prototypes after the last epoch, of this range, and their cost if they could be improved."""
        return prototypes, None

    def _winners(self, X: Any, model: Any, n_threads: int) -> tuple[Indices, Indices]:
        """Return the nearest and second nearest prototype of every sample."""
        return winners(*self._stage(X, model, n_threads))

    def _source(
        self, patch: Samples, weights: Array, model: Model | None, n_threads: int, rng: np.random.RandomState
    ) -> Any:
        """Return the samples of a patch as the loop reads them."""
        return ArraySource(
            patch.X,
            weights=weights,
            labels=patch.labels,
            label_weight=self.label_weight,
            label_unit=self._unit_of(patch, weights, n_threads),
            n_threads=n_threads,
        )

    def _unit_of(self, patch: Samples, weights: Array, n_threads: int) -> float:
        """Return the factor on squared distances between the labels of a patch."""
        if patch.labels is None:
            return 1.0
        return self._label_unit(Labels(patch.labels, weights), self._variance(patch, weights, n_threads))

    def _label_unit(self, labels: Labels, variance: float) -> float:
        """Return the factor by which labels count beside samples of a total variance, for equal shares."""
        return labels.unit(variance)

    def _variance(self, patch: Samples, weights: Array, n_threads: int) -> float:
        """Return the total variance of samples, in units of their squared distances."""
        return initialization.total_variance(patch.X, weights, n_threads)

    def _prototypes(
        self, positions: Floats, source: ArraySource, model: Model | None, rng: np.random.RandomState
    ) -> Prototypes:
        """Return the first prototypes, at these positions."""
        return Mean(positions, source.metric, source.n_columns - source.n_features)

    def _shape(self, prototypes: Prototypes, source: ArraySource, places: Indices) -> dict[str, Any]:
        """Return what a model keeps of prototypes beside their positions."""
        return {}

    def _stage(self, X: Array, model: Model, n_threads: int) -> tuple[Prototypes, ArraySource]:
        """Set prototypes and samples into common coordinates."""
        return stage(X, model.positions, n_threads)

    def _resumes(self) -> bool:
        """Say whether later patches start from the prototypes so far; otherwise they start anew, by ``init``."""
        return not isinstance(self.init, str)

    def _emphasis(self, patch: Samples, n_threads: int) -> tuple[Floats | float, float | None]:
        """Return the factor p^c by which magnification control weights each sample, and c."""
        if self.magnification == 0:
            return 1.0, None
        n_samples = len(patch.X)
        if n_samples < 2:
            raise ValueError(f"n_samples={n_samples} is too few for magnification control, which needs a density.")
        # weights that cannot be counts, such as shares, are made one on average
        counts = patch.weights * max(1.0, n_samples / patch.weights.sum())
        exponent = self.magnification
        if exponent == "optimal":
            exponent = 2.0 / correlation_dimension(patch.X, sample_weight=counts)  # Hasenfuss 2009, eq. 3.7
        if self.density_at == "winner":
            return 1.0, float(exponent)
        log_weights = float(exponent) * parzen_log_density(patch.X, sample_weight=counts, n_jobs=n_threads)
        return np.exp(log_weights - log_weights.max()), float(exponent)

    def _gains(self, source: ArraySource) -> Callable[[Array], Floats] | None:
        """Return the function that gives the factor p^c of the step of a winner at its place, or None."""
        if self.magnification == 0 or self.density_at == "sample":
            return None
        d = source.n_features
        exponent = self._emphasis(Samples(source.X, source.weights), source.n_threads)[1]
        assert exponent is not None
        counts = source.weights * max(1.0, source.n_samples / source.weights.sum())
        options: dict[str, Any] = {"sample_weight": counts, "n_jobs": source.n_threads}
        options["bandwidth"] = mean_pairwise_distance(source.X, counts) / 3.0
        highest = (exponent * parzen_log_density(source.X, **options)).max()

        def gains(positions: Array) -> Floats:
            places = positions[:, :d] / source.scale + source.origin[:d]
            logs = exponent * parzen_log_density(source.X, points=places, **options)
            return np.exp(np.minimum(logs - highest, 0.0))  # Hasenfuss 2009, eq. 3.6

        return gains

    def _start(
        self,
        source: ArraySource,
        cooperation: Cooperation,
        patch: Samples,
        model: Model | None,
        rng: np.random.RandomState,
    ) -> Floats:
        """Return the first positions, in the coordinates of the source."""
        d = source.n_features
        if model is not None:
            given, labels = model.positions, model.labels_over(patch.classes)
        elif isinstance(self.init, str):
            return self._draw(source, cooperation, rng)
        else:
            given = given_array("init", self.init)
            shape = (self._size(cooperation), d)
            if given.shape != shape:
                raise ValueError(f"init has shape {given.shape}; expected {shape}: one row for each prototype.")
            labels = np.empty((len(given), 0))
            if patch.labels is not None:
                labels = np.tile(initialization.mean_and_variance(source)[0][d:], (len(given), 1))
        return np.hstack([(given - source.origin[:d]) * source.scale, labels])

    def _draw(self, source: ArraySource, cooperation: Cooperation, rng: np.random.RandomState) -> Floats:
        """Return first positions by the rule that ``init`` names."""
        k = self._size(cooperation)
        if self.init == "pca":
            return initialization.on_principal_plane(source, self._plane(cooperation))
        if self.init == "center":
            return initialization.around_center(source, k, rng)
        if self.init == "k-means++":
            return initialization.spread_samples(source, k, rng)
        return initialization.distinct_samples(source, k, rng)

    def _plane(self, cooperation: Cooperation) -> Floats:
        """Return where prototypes start on the principal plane: without a lattice, on a nearly square grid."""
        k = self._size(cooperation)
        rows = max(1, int(np.sqrt(k)))
        return np.column_stack([np.arange(k) // rows, np.arange(k) % rows]).astype(np.float64)

    def _epochs(
        self,
        prototypes: Prototypes,
        cooperation: Cooperation,
        source: ArraySource,
        ranges: Floats,
        rng: np.random.RandomState,
    ) -> Iterator[Step]:
        """Run the schedule."""
        if self.algorithm == "batch":
            return anneal(prototypes, cooperation, source, ranges)
        assert isinstance(prototypes, Mean)
        rates = self._falling(self.learning_rate_start, self.learning_rate_end)
        course = self.max_iter, ranges, rates, rng
        return learn_online(prototypes, cooperation, source, *course, self._gains(source), self.edge_lifetime)

    def _falling(self, start: float, end: float) -> Floats:
        """Return the values of the schedule: one an epoch, or for single samples many."""
        online = self.algorithm == "online"
        n_steps = self.max_iter * (ONLINE_STEPS if online else 1)
        values = np.asarray(as_schedule(self.schedule)(start, end, n_steps), dtype=np.float64)
        if values.shape != (n_steps,) or not (np.isfinite(values) & (values > 0)).all():
            wanted = f"n_steps={n_steps}, {ONLINE_STEPS} an epoch," if online else f"max_iter={n_steps}"
            raise ValueError(
                f"The schedule must give {wanted} positive numbers; it gave {np.round(values[:5], 6)}"
                f"{' ...' if values.size > 5 else ''} of shape {values.shape}."
            )
        return values

    def _report(self, costs: list[float], ranges: list[float]) -> None:
        epoch = len(costs)
        every = 1 if self.verbose > 1 else max(1, self.max_iter // 10)
        if self.verbose and (epoch % every == 0 or epoch == 1):
            print(
                f"[{type(self).__name__}] epoch {epoch}/{self.max_iter}  range {ranges[-1]:.3g}  cost {costs[-1]:.6g}",
                flush=True,
            )

    def _store(self, model: Model) -> None:
        self._model = model
        self.prototypes_ = model.positions
        self.multiplicities_ = model.masses
        self.labels_ = model.winners
        self.graph_ = model.graph
        self.cost_history_ = model.costs
        self.range_history_ = model.ranges
        self.n_iter_ = len(model.costs)
        for name in ("classes_", "label_distribution_", "prototype_labels_", "magnification_"):
            self.__dict__.pop(name, None)
        if model.magnification is not None:
            self.magnification_ = model.magnification
        if model.fuzzy is not None:
            self.classes_ = model.classes
            self.label_distribution_ = model.fuzzy
            self.prototype_labels_ = model.classes[model.fuzzy.argmax(axis=1)]


def require_samples(n_samples: int, n_prototypes: int) -> None:
    """Refuse to place more prototypes than there are samples with weight."""
    if n_samples < n_prototypes:
        raise ValueError(
            f"n_samples={n_samples} is fewer than the {n_prototypes} prototypes to be placed. Use at most {n_samples} "
            "prototypes (or nodes of the lattice), or more samples (in the first patch, if there are several)."
        )


def label_vectors(y: Array, dtype: Any) -> tuple[Array, Array]:
    """Return the classes, and a vector (n, C) for each label: one-hot, or zero if it is -1, NaN or None.

    Examples
    --------
    >>> classes, vectors = label_vectors(np.array([2.0, -1.0, 5.0, np.nan]), np.float64)
    >>> classes, vectors.sum(axis=1)
    (array([2., 5.]), array([1., 0., 1., 0.]))
    """
    if y.dtype.kind == "O":
        known = np.array([not _is_missing(label) for label in y], dtype=bool)
        given = y[known] if any(isinstance(label, str) for label in y) else np.array(y[known].tolist())
    else:
        known = (y == y) & (y != -1) if y.dtype.kind in "iuf" else np.ones(len(y), bool)
        given = y[known]
    assert_all_finite(given, input_name="y")
    check_classification_targets(given)
    classes, codes = np.unique(given, return_inverse=True)
    if len(given) < len(y) and len(classes) == 1 and classes[0] == 1:
        warnings.warn(
            "y has no labels but 1 and -1, and -1 means unlabeled. If both are classes, call them 0 and 1.",
            stacklevel=2,
        )
    vectors = np.zeros((len(y), len(classes)), dtype)
    vectors[np.flatnonzero(known), codes] = 1.0
    return classes, vectors


def _is_missing(label: Any) -> bool:
    """Say whether an object stands for no label: None, pandas' NA, NaN or -1."""
    return label is None or type(label).__name__ == "NAType" or label != label or (label == -1) is True


def as_shares(labels: Floats) -> Floats:
    """Return fuzzy labels (k, C) as class shares, clear of rounding."""
    clipped = np.clip(labels, 1e-300, 1.0)
    return clipped / clipped.sum(axis=1, keepdims=True)


def _batched(items: Iterable[Samples], size: int) -> Iterator[list[Samples]]:
    """Yield so many items at a time; of those before one that fails, none is lost."""
    group: list[Samples] = []
    failure = None
    try:
        for item in items:
            group.append(item)
            if len(group) == size:
                yield group
                group = []
    except Exception as error:
        failure = error
    if group:
        yield group
    if failure is not None:
        raise failure
