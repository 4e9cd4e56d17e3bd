"""Common methods of all fitted LVQ classifiers: prediction, distances, confidence, explanations and counterfactuals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassifierMixin, clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from protolearn.core.classification import (
    acceptance_radii,
    best_temperature,
    check_reject,
    fold_numbers,
    nearest_of_classes,
    novelty,
    relative_similarity,
    shares_at,
    with_rejects,
)
from protolearn.core.estimator import Estimator
from protolearn.core.metric import LearnedMetric
from protolearn.core.parameters import array, function, instance, integer, none, number, option
from protolearn.core.partitions import averaged, blockwise
from protolearn.core.samples import all_labels
from protolearn.core.streams import begin_record, usual_rows
from protolearn.core.threads import CACHED, Threads, chunk_threads, row_blocks
from protolearn.core.types import Array, Floats, Indices
from protolearn.core.validation import (
    check_scale,
    check_weights,
    given_array,
    hinted,
    in_range,
    read_samples,
    refuse_empty_rows,
    require_memory,
)
from protolearn.lvq._request import InputTable, find_counterfactuals, known_ranges, read_request
from protolearn.lvq.cost import relative_distance
from protolearn.lvq.reading import Counterfactuals, Explanation, contributions
from protolearn.lvq.relevance import Metric, Relevance, Theta
from protolearn.lvq.samples import Labeled, TrainingSamples

__all__ = ["LVQClassifier"]

MISSING = option("error", "partial")
ENOUGH = 20_000  # samples from which a temperature follows


class LVQClassifier(ClassifierMixin, Estimator):
    """Base class of all LVQ classifiers: nearest-prototype classification with any metric.

    Examples
    --------
    >>> from protolearn import GMLVQ, LMNN
    >>> from protolearn.lvq import LVQClassifier
    >>> [isinstance(model, LVQClassifier) for model in (GMLVQ(), LMNN())]  # LMNN has no prototypes
    [True, False]
    """

    _constraints = {
        "prototypes_per_class": integer() | instance(dict, "a dict of integers"),
        "init": option("neural_gas", "mean") | array("an array"),
        "missing": MISSING,
        "calibration": integer(2) | none,
        "reject_threshold": number(0, 1),
        "contamination": number(0, 1, open_high=True) | none,
        "callback": function() | none,
    }

    # parameters and fitted state of the children
    prototypes_per_class: int | dict[Any, int]
    missing: str
    calibration: int | None = None  # of those that have no such parameter
    reject_threshold: float
    reject_label: Any
    contamination: float | None
    n_jobs: int | None
    prototypes_: Floats
    prototype_labels_: Array
    n_wins_: Indices
    feature_ranges_: Floats
    temperature_: float
    classes_: Array
    _codes: Indices
    _metric: Metric
    _theta: Theta
    _center: Floats
    _hidden: Any = slice(0)  # prototypes of classes of which no sample has come yet

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn whether missing values are allowed."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing == "partial"
        return tags

    @blockwise
    def predict(self, X: ArrayLike) -> Array:
        """Return the class of the nearest prototype, or ``reject_label`` for rejected samples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Predicted classes. Ties between equally distant prototypes are always broken the same way.
        """
        X = self._check_new(X)
        predicted = self.prototype_labels_[self._winners(X)]
        if not self._rejects():
            return predicted
        rejected = np.zeros(len(X), bool)
        if self.reject_threshold > 0:
            rejected |= self._confidence(X) < self.reject_threshold
        if self.contamination is not None:
            rejected |= self._novelty(X) > 1.0
        return with_rejects(predicted, rejected, 1.0, self.reject_label, self.classes_)

    @averaged
    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the accuracy: the (weighted) fraction of samples that are classified correctly.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Class labels of the samples.
        sample_weight : array-like of shape (n_samples,), optional
            Weight of each sample.

        Returns
        -------
        score : float
            Accuracy, between 0 and 1.
        """
        return float(super().score(X, y, sample_weight))

    @blockwise
    def distances(self, X: ArrayLike) -> Floats:
        """Return the squared distance of each sample to each prototype, in the learned metric.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        distances : ndarray of shape (n_samples, n_prototypes)
            Squared distances. They are infinite for prototypes of classes that have not yet occurred in a stream.
        """
        return self._over_chunks(self._measure, self._check_new(X))

    @blockwise
    def nearest(self, X: ArrayLike) -> Indices:
        """Return the index of the nearest prototype of each sample.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        winners : ndarray of shape (n_samples,)
            Row number of the nearest prototype in ``prototypes_``.
        """
        return self._winners(self._check_new(X))

    @property
    def metric_(self) -> LearnedMetric:
        """The learned metric, with its matrices and prototypes."""
        check_is_fitted(self, "prototypes_")
        try:
            A, slots = self._matrices("metric_")
        except ValueError as error:
            raise AttributeError(str(error)) from None
        slots = slots.copy()
        slots[self._hidden] = -1
        names = getattr(self, "feature_names_in_", None)
        return LearnedMetric(A, self.prototypes_, slots, self.prototype_labels_, None, names, type(self).__name__)

    @property
    def feature_importances_(self) -> Floats:
        """Relevance of each feature, averaged over prototypes with local relevances; the relevances sum to one."""
        check_is_fitted(self, "prototypes_")
        relevances = getattr(self, "relevances_", None)  # the one place that says which relevances can be compared
        if relevances is None:
            raise AttributeError(f"{type(self).__name__} learns no relevances, so it has no feature_importances_.")
        shares = relevances / relevances.sum(axis=-1, keepdims=True)
        return shares if shares.ndim == 1 else shares[self._metric.slots(self._codes)].mean(axis=0)

    @blockwise
    def decision_function(self, X: ArrayLike) -> Floats:
        """Return the negative distance (not squared) to the nearest prototype of each class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            Score of each class. For two classes, a single score per sample: how much nearer the second class is than
            the first.
        """
        near = self._plain_distances(self._check_new(X))
        return near[:, 0] - near[:, 1] if near.shape[1] == 2 else -near

    @blockwise
    def predict_proba(self, X: ArrayLike) -> Floats:
        r"""Return class probabilities, proportional to :math:`e^{-\sqrt{d} / T}` for a squared distance d to a class.

        The distance to a class is that to its nearest prototype, so the most probable class is the one that `predict`
        returns. The temperature T maximizes the likelihood of the training samples or, with ``calibration``, of
        held-out samples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            One column for each of ``classes_``.
        """
        near = self._plain_distances(self._check_new(X))
        return shares_at(self.temperature_, near)

    @blockwise
    def confidence(self, X: ArrayLike) -> Floats:
        """Return the relative similarity of each sample, :math:`(d^- - d^+) / (d^- + d^+)`.

        :math:`d^+` is the squared distance to the nearest prototype, and :math:`d^-` the squared distance to the
        nearest prototype of any other class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        confidence : ndarray of shape (n_samples,)
            Confidence, from 0 on a class border to 1 at the position of a prototype.
        """
        return self._confidence(self._check_new(X))

    @available_if(lambda self: self.contamination is not None)
    @blockwise
    def score_samples(self, X: ArrayLike) -> Floats:
        """Return a novelty score for each sample: minus the smallest ratio :math:`d_p / r_p` over all prototypes.

        :math:`d_p` is the squared distance to prototype p, and :math:`r_p` its acceptance radius. Acceptance radii, and
        therefore scores, exist only if ``contamination`` is set. Samples with a score below -1 lie outside all radii,
        and `predict` rejects them.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        scores : ndarray of shape (n_samples,)
            Scores: lower is more novel, and 0 is the score at the position of a prototype.
        """
        return -self._novelty(self._check_new(X))

    @blockwise
    def relative_distance(self, X: ArrayLike, y: ArrayLike) -> Floats:
        r"""Return :math:`\mu = (d_J - d_K) / (d_J + d_K)` of each sample, the quantity that generalized LVQ minimizes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Class labels of the samples.

        Returns
        -------
        mu : ndarray of shape (n_samples,)
            Relative distance, between -1 and 1; negative for samples that are classified correctly.
        """
        return self._to_both_sides(X, y)[0]

    @blockwise
    def margins(self, X: ArrayLike, y: ArrayLike) -> Floats:
        """Return the margin ``d_K - d_J`` of each sample: how much nearer its own class is than any other class.

        `protolearn.metrics.margin_bound` computes a bound on the generalization error from the margins.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Class labels of the samples.

        Returns
        -------
        margins : ndarray of shape (n_samples,)
            Margins, positive for samples that are classified correctly.
        """
        return self._to_both_sides(X, y)[1]

    def explain(self, X: ArrayLike) -> Explanation:
        """Return the prototypes and features that determined the class of each sample.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        explanation : Explanation
            The two competing prototypes, their distances, and the contribution of every feature.
        """
        X = self._check_new(X).astype(np.float64)
        A, slots = self._matrices("explain")
        D = self._over_chunks(self._measure, X)
        winners = D.argmin(axis=1)
        rivals = np.where(self._codes[winners][:, None] != self._codes, D, np.inf).argmin(axis=1)
        rows = np.arange(len(X))
        return Explanation(
            self.prototype_labels_[winners],
            self.prototype_labels_[rivals],
            winners,
            rivals,
            D[rows, winners],
            D[rows, rivals],
            contributions(X, self.prototypes_, A, slots, rivals)
            - contributions(X, self.prototypes_, A, slots, winners),
            self._feature_names(),
        )

    def counterfactual(
        self,
        X: ArrayLike,
        target: Any = None,
        *,
        fixed: Any = None,
        bounds: Any = "training",
        increasing: Any = None,
        decreasing: Any = None,
        integers: Any = None,
        groups: Any = None,
        sparse: bool = False,
        margin: float = 0.0,
        length: str = "metric",
    ) -> Counterfactuals:
        """Return the smallest allowed change of each sample that changes its predicted class.

        Refer to features by name or by number, from 0. Every result is verified with ``predict``. If all prototypes
        share one matrix, the changes are globally optimal. With local matrices, a change is optimal where ``proven`` is
        true, and otherwise the best result of a search from many starting points. `protolearn.lvq.counterfactual` does
        the same for a pipeline, in the units of its input.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples. With ``missing="partial"``, missing values stay missing and are not used.
        target : object, optional
            Class to reach; by default any other class. Samples that are already in the target class are not changed.
        fixed : list of features, optional
            Features that must not change.
        bounds : dict, "training" or None, default="training"
            Smallest and largest allowed value of a feature, as a pair in which None stands for no bound. The values of
            other features stay within those of the training samples, ``feature_ranges_``; a value outside of them may
            stay as it is. None allows all values.
        increasing, decreasing : list of features, optional
            Features that may only increase, or only decrease.
        integers : list of features, optional
            Features that must take integer values.
        groups : list of lists of features, optional
            Groups of one-hot encoded features: in each group exactly one feature is 1 and the others are 0. The
            features of a group change together and count as one feature.
        sparse : bool, default=False
            Whether to change as few features as possible, and these as little as possible. Otherwise the total change
            is as small as possible, and it usually involves all features.
        margin : float, default=0.0
            Minimum `confidence` of the changed sample in its new class, from 0 (on the class border) to below 1. If
            ``reject_threshold`` is larger, it is used instead.
        length : {"metric", "euclidean"}, default="metric"
            How changes are measured: in the learned metric, or with the same weight for all features. The learned
            metric is that of the nearest prototype plus 1/10,000 of the mean over all prototypes, so features that only
            other prototypes use have a cost, too. The reported ``distances`` do not include this term.

        Returns
        -------
        counterfactuals : Counterfactuals
            Changed samples and the lengths of the changes; the length is infinite where no allowed change was found,
            and ``messages`` says why.
        """
        X = self._check_new(X).astype(np.float64)
        table = InputTable.of_numbers(self._feature_names())
        request = read_request(
            table,
            ranges=known_ranges(self, table, bounds),
            fixed=fixed,
            bounds=bounds,
            increasing=increasing,
            decreasing=decreasing,
            integers=integers,
            groups=groups,
        )
        return find_counterfactuals(
            self, X, X, X, lambda row, s: (row, row), request, target, sparse=sparse, margin=margin, length=length
        )

    def _confidence(self, X: Array) -> Floats:
        return self._over_chunks(lambda part: relative_similarity(self._measure(part), self._codes), X)

    def _novelty(self, X: Array) -> Floats:
        if not hasattr(self, "acceptance_radii_"):
            raise ValueError(
                f"{type(self).__name__} was fitted without contamination, so it has no acceptance radii. Set "
                "contamination and fit again."
            )
        return self._over_chunks(lambda part: novelty(self._measure(part), self.acceptance_radii_), X)

    def _fit_radii(self, samples: TrainingSamples) -> None:
        """Set the acceptance radii by the training samples, or go on from earlier ones by a batch."""
        model = samples.sent(self)
        D, y, u = samples.listed.gather(lambda part: (model._over_chunks(model._measure, part.X), part.y, part.u))
        before = getattr(self, "acceptance_radii_", None)
        self.acceptance_radii_ = acceptance_radii(D, self._codes, y, u, float(self.contamination or 0.0), before)

    def _matrices(self, wanted: str) -> tuple[Floats, Indices]:
        """Return the matrices (s, M, N) or (s, N), and which of them each prototype uses."""
        if not isinstance(self._metric, Relevance):
            raise ValueError(
                f"{wanted} needs a metric |A (x - w)|^2; {type(self._metric).__name__} is of another kind."
            )
        A = self._metric.matrices(self._theta)
        A = np.broadcast_to(A, (len(A), self.n_features_in_)) if A.ndim == 2 else A
        return A, self._metric.slots(self._codes)

    def _feature_names(self) -> Array:
        return getattr(self, "feature_names_in_", np.array([f"x{i}" for i in range(self.n_features_in_)]))

    def _to_both_sides(self, X: ArrayLike, y: ArrayLike) -> tuple[Floats, Floats]:
        samples = self._check_new(X)
        labels = np.asarray(y)
        if labels.shape != (len(samples),):
            raise ValueError(f"y has shape {labels.shape}; expected ({len(samples)},): one class for each sample of X.")
        codes = np.searchsorted(self.classes_, labels)
        known = codes < len(self.classes_)
        if not known.all() or (self.classes_[codes] != labels).any():
            raise ValueError(f"y contains classes that were not in the training data, {list(self.classes_)}.")
        D = self._over_chunks(self._measure, samples)
        mu, J, K, _, _ = relative_distance(D, codes[:, None] == self._codes)
        rows = np.arange(len(D))
        return mu, D[rows, K] - D[rows, J]

    def _measure(self, X: Array) -> Floats:
        """Return the distances of a chunk of samples, in double precision and from a common origin."""
        centered = X.astype(np.float64) - self._center
        D = self._metric.measure(centered, self.prototypes_ - self._center, self._codes, self._theta)[0]
        D[:, self._hidden] = np.inf
        return D

    def _class_distances(self, X: Array) -> Floats:
        """Return the distance to the nearest prototype of each class (n, C); infinite for a class without any."""
        return self._over_chunks(
            lambda part: nearest_of_classes(self._measure(part), self._codes, len(self.classes_)), X
        )

    def _plain_distances(self, X: Array) -> Floats:
        """Return the distance to each class (n, C), not squared, which probabilities are made of."""
        return np.sqrt(np.maximum(self._class_distances(X), 0.0))

    def _winners(self, X: Array) -> Indices:
        """Return the index of the nearest prototype of each sample."""
        affine = None if np.isnan(X.sum()) else self._affine(X.dtype)
        if affine is None:
            return self._over_chunks(lambda part: self._measure(part).argmin(axis=1), X)
        columns, constants, origin = affine
        return self._over_chunks(lambda part: ((part - origin) @ columns + constants).argmin(axis=1), X)

    def _affine(self, dtype: Any) -> tuple[Floats, Floats, Floats] | None:
        """Return distances, up to a constant for each sample, as ``(x - origin) columns + constants``, if possible."""
        if not isinstance(self._metric, Relevance):
            return None
        A, _ = self._matrices("predict")
        if len(A) > 1:
            return None
        origin = self._center.astype(dtype)  # as it is subtracted from the samples, rounding included
        W = self.prototypes_ - origin
        scaled = W @ A[0].T @ A[0] if A.ndim == 3 else W * A[0] * A[0]
        constants = (scaled * W).sum(axis=1)
        if not in_range(np.delete(W, self._hidden, axis=0).astype(dtype)):
            return None
        constants[self._hidden] = np.inf
        return (-2.0 * scaled.T).astype(dtype), constants.astype(dtype), origin

    def _over_chunks(self, function: Callable[[Array], Array], X: Array) -> Array:
        """Apply a function to chunks of samples, on several threads, and put the results together."""
        blocks = [*row_blocks(len(X), X.itemsize * X.shape[1], CACHED, least=256)] or [slice(0)]
        with chunk_threads(self.n_jobs) as n_threads:
            return np.concatenate(list(Threads(n_threads).map(lambda rows: function(X[rows]), blocks)))

    def _check_new(self, X: ArrayLike) -> Array:
        check_is_fitted(self, "prototypes_")
        samples = read_samples(self, X, ensure_all_finite="allow-nan" if self._partial() else True)
        self._refuse_empty(samples)
        return samples

    def _check_filled(self, X: ArrayLike) -> Array:
        """Return new samples, with the mean of the training samples where values are missing."""
        samples = self._check_new(X)
        return np.where(np.isnan(samples), self._center.astype(samples.dtype), samples)

    def _refuse_empty(self, X: Array) -> None:
        if self._partial() and len(X):
            refuse_empty_rows(X)

    def _partial(self) -> bool:
        MISSING.check("missing", self.missing)
        return self.missing == "partial"

    def _check_training(self, X: ArrayLike, y: ArrayLike, reset: bool = True) -> tuple[Floats, Array]:
        """Return samples in double precision, and their labels."""
        self._require_labels(y)
        finite = "allow-nan" if self._partial() else True
        labels = all_labels(y, type(self).__name__)
        with hinted(self):
            samples, labels = validate_data(self, X, labels, dtype=np.float64, reset=reset, ensure_all_finite=finite)
        self._refuse_empty(samples)
        return check_scale(samples), labels

    def _usual(
        self, samples: Floats, labels: Array, sample_weight: ArrayLike | None, begins: bool
    ) -> tuple[Floats, Array, Floats]:
        """Return samples, labels and weights; of a batch those that count, with values as in the batches before."""
        weights = check_weights(sample_weight, len(samples), np.float64)
        if begins:
            begin_record(self, samples, weights)
            return samples, labels, weights
        usual = usual_rows(self, samples, weights) & (weights > 0)
        return samples[usual], labels[usual], weights[usual]

    def _require_labels(self, y: Any) -> None:
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None.")

    def _stream_codes(self, labels: Array, classes: ArrayLike | None) -> Indices:
        """Return the class codes of a batch; in the first one, take note of all classes that will ever come."""
        if not hasattr(self, "prototypes_"):
            if classes is None:
                raise ValueError(
                    "The first call of partial_fit needs classes: the list of all classes that may occur in any batch."
                )
            self.classes_ = np.unique(np.asarray(classes))
            self._check_reject()
        unknown = np.setdiff1d(labels, self.classes_)
        if len(unknown):
            raise ValueError(f"y contains {list(unknown)}, which are not among the classes {list(self.classes_)}.")
        return np.searchsorted(self.classes_, labels)

    def _prototype_codes(self, available: Indices | None) -> Indices:
        """Return the class code of each prototype, in the order of the classes, if samples (or a stream) allow it."""
        wanted = self.prototypes_per_class
        if isinstance(wanted, dict):
            unknown = [label for label in wanted if label not in self.classes_]
            lacking = [label for label in self.classes_ if label not in wanted]
            if unknown or lacking:
                raise ValueError(
                    f"prototypes_per_class must have exactly the classes {list(self.classes_)}; "
                    + (f"{unknown} are unknown." if unknown else f"{lacking} are missing.")
                )
            counts = [wanted[label] for label in self.classes_]
        else:
            counts = [wanted] * len(self.classes_)
        for label, count in zip(self.classes_, counts):
            whole = isinstance(count, (int, np.integer)) and not isinstance(count, bool)
            if not whole or count < 1:
                raise ValueError(
                    f"prototypes_per_class={wanted!r} must be an integer of 1 or more for each class; it is {count!r} "
                    f"for class {label!s}."
                )
        for code, count in enumerate(counts):
            if available is not None and available[code] < count:
                raise ValueError(
                    f"Class {self.classes_[code]!s} has {available[code]} samples, fewer than its {count} prototypes. "
                    "Use fewer prototypes for it (prototypes_per_class takes a dict), or more samples."
                )
        if available is None:  # otherwise there are no more than samples
            what = f"A model of {sum(counts):,} prototypes and {self.n_features_in_} features"
            require_memory(what, 10 * 8 * sum(counts) * self.n_features_in_, "use fewer prototypes")
        return np.repeat(np.arange(len(counts)), counts)

    def _given_prototypes(self, init: ArrayLike) -> Floats:
        """Return prototypes that the user gave, ordered by class."""
        given = given_array("init", init, ensure_2d=False, allow_nd=True, ensure_all_finite=False, copy=True)
        shape = (len(self._codes), self.n_features_in_)
        if given.shape != shape or not np.isfinite(given).all():
            raise ValueError(
                f"init has shape {given.shape}; expected finite values of shape {shape}: one row for each prototype, "
                "ordered by class."
            )
        return given

    def _rejects(self) -> bool:
        """Say whether `predict` rejects samples."""
        return self.reject_threshold > 0 or self.contamination is not None

    def _check_reject(self) -> None:
        check_reject(1.0 if self._rejects() else 0.0, self.reject_label, self.classes_)

    def _finish(self, samples: TrainingSamples) -> None:
        """Learn from the training samples what prototypes and metric do not say: wins, ranges, probabilities, radii."""
        self.n_wins_, self.feature_ranges_ = self._count(samples)
        self._fit_temperature(samples)
        self.__dict__.pop("acceptance_radii_", None)
        if self.contamination is not None:
            self._fit_radii(samples)

    def _finish_batch(self, samples: Labeled) -> None:
        """Do the same for a batch of a stream."""
        before = getattr(self, "feature_ranges_", None)
        self.n_wins_, self.feature_ranges_ = self._count(samples)
        if before is not None:
            self.feature_ranges_ = joint_ranges(before, self.feature_ranges_)
        if len(np.unique(samples.y)) > 1 or not hasattr(self, "temperature_"):
            self._fit_temperature(samples)
        if self.contamination is not None:
            self._fit_radii(samples)

    def _count(self, samples: TrainingSamples) -> tuple[Indices, Floats]:
        """Return how many samples each prototype is nearest to, and the ranges (2, N) of the features."""
        model, k = samples.sent(self), len(self._codes)
        total = samples.sum(lambda part: Count(np.bincount(model._winners(part.X), minlength=k), ranges_of(part.X)))
        return total.wins, total.ranges

    def _fit_temperature(self, samples: TrainingSamples) -> None:
        """Choose the temperature of the probabilities by maximum likelihood on (some of) the training samples."""
        model = samples.sent(self)
        some = samples.thinned(ENOUGH)
        self.temperature_ = best_temperature(
            *some.gather(lambda part: (model._plain_distances(part.X), part.y, part.u))
        )

    def _calibrate(self, samples: Labeled, factors: Floats) -> None:
        """Choose the temperature on samples held out, whose distances are compared in units of their mean."""
        plain: dict[str, Any] = {"calibration": None, "callback": None, "warm_start": False, "verbose": 0}
        plain["class_weight"] = dict(zip(self.classes_, factors))
        X, y, u = samples.X, samples.y, samples.u
        counts = u / factors[y]
        folds = fold_numbers(X, y, counts, int(self.calibration or 0), np.bincount(self._codes))
        D = self._plain_distances(X)
        unit = _mean_distance(D, u)
        D /= unit
        for fold in np.unique(folds[folds >= 0]):
            out = folds == fold
            model = clone(self).set_params(**plain).fit(X[~out], self.classes_[y[~out]], sample_weight=counts[~out])
            held_out = model._plain_distances(X[out])
            D[out] = held_out / _mean_distance(held_out, u[out])
        self.temperature_ = unit * best_temperature(D, y, u)


@dataclass(frozen=True)
class Count:
    """How many samples each prototype is nearest to, and the ranges (2, N) of the features."""

    wins: Indices
    ranges: Floats

    def __add__(self, other: Count) -> Count:
        return Count(self.wins + other.wins, joint_ranges(self.ranges, other.ranges))


def ranges_of(X: Floats) -> Floats:
    """Return the smallest and the largest value (2, N) of each column; infinity and its negative if it has none."""
    return np.stack([np.fmin.reduce(X, axis=0, initial=np.inf), np.fmax.reduce(X, axis=0, initial=-np.inf)])


def joint_ranges(one: Floats, other: Floats) -> Floats:
    """Return the ranges (2, N) of two sets of samples together."""
    return np.stack([np.minimum(one[0], other[0]), np.maximum(one[1], other[1])])


def _mean_distance(D: Floats, u: Floats) -> float:
    return float(np.average(D.mean(axis=1), weights=u)) or 1.0
