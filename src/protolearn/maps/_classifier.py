"""Classification by a map with labeled prototypes."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassifierMixin, clone
from sklearn.pipeline import Pipeline
from sklearn.utils import InputTags, Tags, get_tags
from sklearn.utils.validation import (
    check_array,
    check_consistent_length,
    check_is_fitted,
    has_fit_parameter,
    validate_data,
)

from protolearn.core.classification import (
    best_temperature,
    check_reject,
    nearest_of_classes,
    relative_similarity,
    shares_at,
    with_rejects,
)
from protolearn.core.estimator import Estimator, nothing_lost
from protolearn.core.parameters import flag, none, number, option, part
from protolearn.core.partitions import blockwise
from protolearn.core.samples import all_labels
from protolearn.core.threads import cut
from protolearn.core.types import Array, Floats, Indices
from protolearn.core.validation import check_weights, hinted, refuse_collection
from protolearn.core.weights import as_counts
from protolearn.maps._neural_gas import NeuralGas

__all__ = ["PrototypeClassifier", "distances_of", "input_tags_of", "validated"]

ROWS = 4096  # compared with all prototypes at a time


class PrototypeClassifier(ClassifierMixin, Estimator):
    """Classifier that assigns the label of the nearest prototype of a map.

    The map is fitted first. Then every prototype is assigned the class shares of the samples in its receptive field; a
    prototype with an empty receptive field is assigned the class of the sample nearest to it. A supervised map
    (``label_weight > 0``) provides the class shares of its prototypes itself. With ``per_class``, a separate map is
    fitted to the samples of each class, and a new sample is assigned to the class of the nearest prototype of all maps.

    Parameters
    ----------
    estimator : object, optional
        A map, or a pipeline that ends in one: anything with ``fit``, ``predict`` (index of the winner) and
        ``transform`` (distances to the prototypes). By default, neural gas with three prototypes for each class. Values
        may be missing (NaN) if the map supports it, as maps with ``missing="partial"`` do.
    per_class : bool, default=False
        Whether to fit a separate map for each class. The size of ``estimator`` is then the size of each of these maps;
        by default, neural gas with three prototypes.
    labeling : {"fuzzy", "majority"}, default="fuzzy"
        ``"fuzzy"`` keeps the class shares of each prototype; ``"majority"`` keeps only its majority class, which then
        has probability one. Both give the same predictions.
    reject_threshold : float, default=0.0
        Samples whose `confidence` is below this threshold are rejected instead of classified.
    reject_label : object, default=-1
        Label that `predict` returns for rejected samples; of the same type as the classes.

    Attributes
    ----------
    estimator_ : object
        The fitted map; only without ``per_class``.
    estimators_ : list of object
        The fitted maps of all classes with positive weight, in the order of ``classes_``; without ``per_class``, a list
        of the single map.
    classes_ : ndarray of shape (n_classes,)
        The classes.
    class_prior_ : ndarray of shape (n_classes,)
        Share of each class in the training samples.
    label_distribution_ : ndarray of shape (n_prototypes, n_classes)
        Class shares of each prototype.
    prototype_labels_ : ndarray of shape (n_prototypes,)
        Majority class of each prototype.
    prototype_probabilities_ : ndarray of shape (n_prototypes, n_classes)
        Class probabilities that `predict_proba` returns for samples nearest to each prototype; only without
        ``per_class``.
    temperature_ : float
        Temperature of the class probabilities; only with ``per_class``.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if ``X`` had names.

    References
    ----------
    Hasenfuss (2009). Topographic mapping of dissimilarity datasets. PhD thesis, TU Clausthal, section 3.5.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protolearn import NeuralGas, PrototypeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> classifier = PrototypeClassifier(NeuralGas(9, random_state=0)).fit(X, y)
    >>> classifier.predict(X[:3])
    array([0, 0, 0])
    >>> classifier.confidence(X[:1]).round(2)
    array([0.99])
    """

    _constraints = {
        "estimator": part() | none,
        "per_class": flag,
        "labeling": option("fuzzy", "majority"),
        "reject_threshold": number(0, 1),
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        per_class: bool = False,
        labeling: str = "fuzzy",
        reject_threshold: float = 0.0,
        reject_label: Any = -1,
    ) -> None:
        self.estimator = estimator
        self.per_class = per_class
        self.labeling = labeling
        self.reject_threshold = reject_threshold
        self.reject_label = reject_label

    @nothing_lost
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the map, then label its prototypes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples. For a relational map, any input that the map accepts, such as a square matrix of dissimilarities or
            a list of strings.
        y : array-like of shape (n_samples,)
            Classes of the samples; none may be missing.
        sample_weight : array-like of shape (n_samples,), optional
            Weight of each sample, for fitting the map and for the class shares. Weights with a mean below one are
            rescaled to mean one.

        Returns
        -------
        self : object
            The fitted classifier.
        """
        self._check_parameters()
        refuse_collection(X, type(self).__name__)
        samples, targets = self._check_training(X, y)
        weights = as_counts(check_weights(sample_weight, len(samples), np.float64))
        self.classes_, codes = np.unique(targets, return_inverse=True)
        check_reject(self.reject_threshold, self.reject_label, self.classes_)
        for name in ("estimator_", "temperature_", "prototype_probabilities_"):
            self.__dict__.pop(name, None)
        if self.per_class:
            present = np.flatnonzero(np.bincount(codes, weights) > 0)
            self._parts = [np.flatnonzero(codes == code) for code in present]
            self.estimators_ = [
                self._fit_map(self._among(samples, part), None, weights[part], sample_weight is not None, 1)
                for part in self._parts
            ]
            sizes = [len(_last(estimator).multiplicities_) for estimator in self.estimators_]
            shares = np.repeat(np.eye(len(self.classes_))[present], sizes, axis=0)
            self.temperature_ = best_temperature(self._class_scores(samples, np.repeat(present, sizes)), codes, weights)
        else:
            weighted = sample_weight is not None
            self.estimator_ = self._fit_map(samples, targets, weights, weighted, len(self.classes_))
            self.estimators_ = [self.estimator_]
            supervised = hasattr(self.estimator_, "label_distribution_")
            counts = self._class_counts(samples, codes, weights, supervised)
            shares = self.estimator_.label_distribution_ if supervised else counts / counts.sum(axis=1, keepdims=True)
        largest = shares.argmax(axis=1)
        if self.labeling == "majority":
            shares = np.eye(len(self.classes_))[largest]
        if not self.per_class:
            self.prototype_probabilities_ = shares if self.labeling == "majority" else _chances(counts, largest)
        self.class_prior_ = np.bincount(codes, weights) / weights.sum()
        self.label_distribution_ = shares
        self.prototype_labels_ = self.classes_[largest]
        return self

    def __sklearn_tags__(self) -> Tags:
        """Return the tags of the map: it may accept samples, missing values, objects, or a matrix of pairs."""
        tags = super().__sklearn_tags__()
        if hasattr(self.estimator, "fit"):
            tags.input_tags = input_tags_of(self.estimator)
        return tags

    @blockwise
    def predict(self, X: Any) -> Array:
        """Return the class of the nearest prototype, or ``reject_label``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Classes.
        """
        X = self._check_new(X)
        predicted = self.prototype_labels_[self._winners(X)]
        if self.reject_threshold > 0:
            unsure = self._confidence(X) < self.reject_threshold
            predicted = with_rejects(predicted, unsure, self.reject_threshold, self.reject_label, self.classes_)
        return predicted

    @blockwise
    def predict_proba(self, X: Any) -> Floats:
        r"""Return class probabilities, the largest for the class that `predict` returns.

        The probabilities are the class shares of the training samples in the receptive field of the nearest prototype,
        smoothed by one additional sample that belongs to all classes equally. With ``labeling="majority"``, the class
        of the prototype has probability one. With ``per_class``, probabilities are proportional to
        :math:`e^{-\sqrt{d} / T}`, where d is the squared distance to the nearest prototype of each class, or to
        :math:`(1 + d - d_{\min})^{-1/T}` for maps whose distance d is the logarithm of a density. The temperature T is
        fitted to the training samples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            One column for each of ``classes_``.
        """
        X = self._check_new(X)
        if self.per_class:
            codes = np.searchsorted(self.classes_, self.prototype_labels_)
            return shares_at(self.temperature_, self._class_scores(X, codes))
        return self.prototype_probabilities_[self._winners(X)]

    @blockwise
    def nearest(self, X: Any) -> Indices:
        """Return the index of the nearest prototype of each sample among the prototypes of all maps.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        winners : ndarray of shape (n_samples,)
            Index into ``prototype_labels_``.
        """
        return self._winners(self._check_new(X))

    @blockwise
    def distances(self, X: Any) -> Array:
        """Return the distance of each sample to the prototypes of all maps.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        distances : ndarray of shape (n_samples, n_prototypes)
            Distances as defined by the maps, in the order of ``prototype_labels_``: squared distances, except for the
            estimators of scikit-learn.
        """
        return self._distances(self._check_new(X))

    @blockwise
    def confidence(self, X: Any) -> Floats:
        """Return the relative similarity of each sample, :math:`(d^- - d^+) / (d^- + d^+)`.

        :math:`d^+` is the squared distance to the nearest prototype and :math:`d^-` the squared distance to the nearest
        prototype of another class. The value is 0 on a class border and 1 at a prototype. For maps whose distances are
        logarithms of densities, densities are compared instead.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        confidence : ndarray of shape (n_samples,)
            Values between 0 and 1.
        """
        return self._confidence(self._check_new(X))

    def _confidence(self, X: Array) -> Floats:
        return np.concatenate(
            [
                relative_similarity(self._distances(X[rows]), self.prototype_labels_, self._logarithmic())
                for rows in cut(len(X), ROWS)
            ]
        )

    def _fit_map(self, X: Array, y: Array | None, weights: Floats, weighted: bool, n_classes: int) -> Any:
        """Fit a clone of the map, or neural gas with three prototypes for each class."""
        if self.estimator is None:
            estimator: Any = NeuralGas(min(3 * n_classes, int(np.count_nonzero(weights))), random_state=0)
        else:
            estimator = clone(self.estimator)
        if self.per_class:
            _reduce(_last(estimator), int(np.count_nonzero(weights)))
        if not weighted:
            return estimator.fit(X, y)
        if not has_fit_parameter(estimator, "sample_weight"):
            raise ValueError(f"{type(estimator).__name__} does not support sample_weight; fit it without weights.")
        return estimator.fit(X, y, sample_weight=weights)

    def _winners(self, X: Array) -> Indices:
        if not self.per_class:
            return self.estimator_.predict(X)
        return np.concatenate([self._distances(X[rows]).argmin(axis=1) for rows in cut(len(X), ROWS)])

    def _distances(self, X: Array) -> Array:
        if self.per_class and get_tags(self).input_tags.pairwise:
            cuts = (X[:, part] for part in self._parts)
            return np.hstack([distances_of(*pair) for pair in zip(self.estimators_, cuts)])
        return np.hstack([distances_of(estimator, X) for estimator in self.estimators_])

    def _class_scores(self, X: Array, codes: Indices) -> Floats:
        """Return the distance from each class (n, C), in the form that probabilities are made of."""

        def scores(part: Array) -> Floats:
            near = nearest_of_classes(self._distances(part), codes, len(self.classes_))
            first = near.min(axis=1, keepdims=True)
            if self._logarithmic():  # tails as heavy as those of densities whose shape is an estimate, Student's
                return np.log1p(near - first)
            return np.sqrt(near - np.minimum(first, 0.0))  # squares may be negative where pairs are not Euclidean

        return np.concatenate([scores(X[rows]) for rows in cut(len(X), ROWS)])

    def _logarithmic(self) -> bool:
        """Say whether distances are twice the negative logarithm of a density."""
        return getattr(_last(self.estimators_[0]), "measure_", "") in ("logdet", "mahalanobis")

    def _class_counts(self, X: Array, codes: Indices, weights: Floats, supervised: bool) -> Floats:
        """Return the weight of each class in each receptive field; an empty one takes the class of the nearest sample.

        The winners of a supervised map know the classes; those that count here do not, as in `predict`.
        """
        fitted = _last(self.estimator_)
        winners = None if supervised else getattr(fitted, "labels_", None)
        if winners is None or len(winners) != len(codes):
            winners = self._winners(X)
        examples = getattr(fitted, "prototype_examples_", None)
        n_prototypes = self._distances(X[:1]).shape[1] if examples is None else len(examples)
        counts = np.zeros((n_prototypes, len(self.classes_)))
        np.add.at(counts, (winners, codes), weights)
        empty = np.flatnonzero(counts.sum(axis=1) == 0)
        if len(empty) and examples is not None:
            counts[empty, codes[examples[empty, 0]]] = 1.0
        elif len(empty):
            present = np.flatnonzero(weights)
            nearest, closest = np.zeros(len(empty), np.int64), np.full(len(empty), np.inf)
            for rows in cut(len(present), ROWS):
                distances = self._distances(X[present[rows]])[:, empty]
                best = distances.argmin(axis=0)
                nearer = distances.min(axis=0) < closest
                nearest[nearer] = present[rows][best[nearer]]
                closest = np.minimum(closest, distances.min(axis=0))
            counts[empty, codes[nearest]] = 1.0
        return counts

    def _check_training(self, X: Any, y: ArrayLike) -> tuple[Any, Array]:
        """Validate samples and their classes; objects, and sources of dissimilarities, are left to the map."""
        targets = y if y is None else all_labels(y, type(self).__name__)
        if get_tags(self).input_tags.two_d_array and not hasattr(X, "block"):
            return validated(self, X, targets)
        check_consistent_length(range(len(X)), targets)
        return X, targets

    def _check_new(self, X: Any) -> Any:
        check_is_fitted(self, "prototype_labels_")
        if not get_tags(self).input_tags.two_d_array:
            return X
        if not hasattr(self, "n_features_in_"):  # fitted to a source of dissimilarities
            return check_array(X, dtype=[np.float64, np.float32])
        return validated(self, X, reset=False)

    def _among(self, X: Any, part: Indices) -> Any:
        """Return some samples, or some objects with the dissimilarities between them."""
        tags = get_tags(self).input_tags
        if tags.pairwise:
            return X[np.ix_(part, part)]
        return X[part] if hasattr(X, "shape") else [X[j] for j in part.tolist()]


def _chances(counts: Floats, labels: Indices) -> Floats:
    """Return class probabilities of each prototype, the largest for its label."""
    n_classes = counts.shape[1]
    chances = (counts + 1.0 / n_classes) / (counts.sum(axis=1, keepdims=True) + 1.0)
    rows, largest = np.arange(len(counts)), chances.argmax(axis=1)
    chances[rows, labels], chances[rows, largest] = chances[rows, largest], chances[rows, labels]
    return chances


def _last(estimator: Any) -> Any:
    """Return the map itself, at the end of a pipeline if it is in one."""
    return estimator[-1] if isinstance(estimator, Pipeline) else estimator


def _reduce(estimator: Any, n_samples: int) -> None:
    """Take as many prototypes as there are samples, if these are fewer."""
    for name in ("n_prototypes", "n_clusters"):
        size = estimator.get_params(deep=False).get(name)
        if isinstance(size, Integral) and int(size) > n_samples:
            estimator.set_params(**{name: n_samples})


def input_tags_of(estimator: Any) -> InputTags:
    """Return what a map takes, at the end of a pipeline if it is in one.

    A pipeline does not tell whether values may be missing; they may if its first step accepts them, and the steps
    after it check for themselves.
    """
    tags = get_tags(estimator).input_tags
    first = estimator
    while isinstance(first, Pipeline):
        first = first.steps[0][1]
    return replace(tags, allow_nan=first != "passthrough" and get_tags(first).input_tags.allow_nan)


def validated(wrapper: Any, X: Any, *y: Any, reset: bool = True) -> Any:
    """Return samples, and classes if given, for an estimator that hands them on to a map; gaps if that takes them."""
    finite = "allow-nan" if get_tags(wrapper).input_tags.allow_nan else True
    with hinted(wrapper.estimator) if hasattr(wrapper.estimator, "get_params") else nullcontext():
        return validate_data(wrapper, X, *y, dtype=[np.float64, np.float32], reset=reset, ensure_all_finite=finite)


def distances_of(estimator: Any, X: Array) -> Array:
    """Return the distances of samples to the prototypes of a map, at the end of a pipeline if it is in one.

    Clusterers of scikit-learn have them as ``transform``.
    """
    if isinstance(estimator, Pipeline):
        return distances_of(estimator[-1], estimator[:-1].transform(X))
    return estimator.distances(X) if hasattr(estimator, "distances") else estimator.transform(X)
