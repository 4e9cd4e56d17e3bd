"""A map with labelled prototypes is a classifier."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import gen_batches
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, has_fit_parameter, validate_data

from protolearn.core.reject import check_reject, relative_similarity, with_rejects
from protolearn.core.validation import check_option, check_weights
from protolearn.maps._neural_gas import NeuralGas

__all__ = ["PrototypeClassifier"]


class PrototypeClassifier(ClassifierMixin, BaseEstimator):
    """Classify by the label of the nearest prototype of a map.

    The map is fitted first. Then every prototype gets the class shares of the samples it wins; a prototype that wins
    none takes the class of the sample nearest to it. A supervised map (``label_weight > 0``) brings the class
    shares of its prototypes along.

    Parameters
    ----------
    estimator : object, optional
        A map, or a pipeline that ends in one: anything with ``fit``, ``predict`` (index of the winner) and
        ``transform`` (distances to the prototypes);
        by default neural gas with three prototypes for each class.
    labelling : {"fuzzy", "majority"}, default="fuzzy"
        ``"fuzzy"`` keeps the class shares of each prototype as probabilities, ``"majority"`` only its largest class,
        with probability one. Predictions are the same.
    reject_threshold : float, default=0.0
        Samples whose `confidence` is below this are not classified.
    reject_label : object, default=-1
        What `predict` returns for such samples; of the same kind as the classes.

    Attributes
    ----------
    estimator_ : object
        The fitted map.
    classes_ : ndarray of shape (n_classes,)
        The classes.
    label_distribution_ : ndarray of shape (n_prototypes, n_classes)
        Class shares of each prototype.
    prototype_labels_ : ndarray of shape (n_prototypes,)
        Largest class of each prototype.
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

    def __init__(
        self,
        estimator: Any = None,
        *,
        labelling: str = "fuzzy",
        reject_threshold: float = 0.0,
        reject_label: Any = -1,
    ) -> None:
        self.estimator = estimator
        self.labelling = labelling
        self.reject_threshold = reject_threshold
        self.reject_label = reject_label

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the map, then label its prototypes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Their classes.
        sample_weight : array-like of shape (n_samples,), optional
            Weight of each sample, in the map and in the class shares.

        Returns
        -------
        self : object
            The fitted classifier.
        """
        check_option("labelling", self.labelling, ("fuzzy", "majority"))
        samples, y = validate_data(self, X, y, dtype=[np.float64, np.float32])
        check_classification_targets(y)
        weights = check_weights(sample_weight, len(samples), np.float64)
        self.classes_, codes = np.unique(y, return_inverse=True)
        check_reject(self.reject_threshold, self.reject_label, self.classes_)
        if self.estimator is None:
            size = min(3 * len(self.classes_), int(np.count_nonzero(weights)))
            estimator: Any = NeuralGas(size, random_state=0)
        else:
            estimator = clone(self.estimator)
        if sample_weight is None:
            self.estimator_ = estimator.fit(samples, y)
        elif has_fit_parameter(estimator, "sample_weight"):
            self.estimator_ = estimator.fit(samples, y, sample_weight=weights)
        else:
            raise ValueError(f"{type(estimator).__name__} takes no sample_weight; fit without weights.")
        if hasattr(self.estimator_, "label_distribution_"):
            shares = self.estimator_.label_distribution_
        else:
            shares = self._class_shares(samples, codes, weights)
        largest = shares.argmax(axis=1)
        self.label_distribution_ = np.eye(len(self.classes_))[largest] if self.labelling == "majority" else shares
        self.prototype_labels_ = self.classes_[largest]
        return self

    def predict(self, X: ArrayLike) -> NDArray[Any]:
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
        predicted = self.prototype_labels_[self.estimator_.predict(X)]
        if self.reject_threshold > 0:
            unsure = self._confidence(X) < self.reject_threshold
            predicted = with_rejects(predicted, unsure, self.reject_threshold, self.reject_label, self.classes_)
        return predicted

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the class shares of the nearest prototype.

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
        return self.label_distribution_[self.estimator_.predict(X)]

    def confidence(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the relative similarity of each sample, ``(d- - d+) / (d- + d+)``.

        ``d+`` is the squared distance to the nearest prototype and ``d-`` to the nearest prototype of another class
        (what the map's ``transform`` gives): 0 on a class border, 1 on a prototype.

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

    def _confidence(self, X: NDArray[Any]) -> NDArray[np.float64]:
        return np.concatenate(
            [
                relative_similarity(self.estimator_.transform(X[rows]), self.prototype_labels_)
                for rows in gen_batches(len(X), 4096)
            ]
        )

    def _class_shares(
        self, X: NDArray[Any], codes: NDArray[np.int64], weights: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return the class shares of each receptive field; an empty one takes the class of the nearest sample."""
        counts = np.zeros((self.estimator_.transform(X[:1]).shape[1], len(self.classes_)))
        np.add.at(counts, (self.estimator_.predict(X), codes), weights)
        empty = np.flatnonzero(counts.sum(axis=1) == 0)
        if len(empty):
            present = np.flatnonzero(weights)
            nearest, closest = np.zeros(len(empty), np.int64), np.full(len(empty), np.inf)
            for rows in gen_batches(len(present), 4096):
                distances = self.estimator_.transform(X[present[rows]])[:, empty]
                best = distances.argmin(axis=0)
                nearer = distances.min(axis=0) < closest
                nearest[nearer] = present[rows][best[nearer]]
                closest = np.minimum(closest, distances.min(axis=0))
            counts[empty, codes[nearest]] = 1.0
        return counts / counts.sum(axis=1, keepdims=True)

    def _check_new(self, X: ArrayLike) -> NDArray[Any]:
        check_is_fitted(self, "prototype_labels_")
        return validate_data(self, X, dtype=[np.float64, np.float32], reset=False)
