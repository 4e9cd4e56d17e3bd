"""Outlier detection by maps and classifiers: samples that no prototype represents."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import OutlierMixin, clone, is_classifier
from sklearn.utils import Tags, get_tags
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from protolearn.core.estimator import Estimator, nothing_lost
from protolearn.core.parameters import none, number, part
from protolearn.core.partitions import blockwise
from protolearn.core.types import Array, Floats, Indices
from protolearn.core.validation import check_weights
from protolearn.maps._classifier import distances_of, input_tags_of, validated
from protolearn.maps._matrix import MatrixNeuralGas

__all__ = ["OutlierDetector"]


class OutlierDetector(OutlierMixin, Estimator):
    """Outlier detector based on a map or an LVQ classifier.

    The estimator is fitted, and a sample is an outlier if its score is below the ``contamination`` quantile of the
    scores of the training samples. The score is the log-density for maps whose prototypes have a shape, and the
    negative squared distance to the nearest prototype for other maps. An LVQ classifier is fitted with the classes of
    the samples; if it has a parameter ``contamination`` that is set, the score measures how well its acceptance radii
    cover a sample.

    Parameters
    ----------
    estimator : object, optional
        A map or an LVQ classifier, or a pipeline that ends in one. By default, matrix neural gas with at most 8
        prototypes, fewer for small data sets, and variances of at least one thousandth of the mean variance. Values may
        be missing (NaN) if the map supports it, as maps with ``missing="partial"`` do.
    contamination : float, default=0.05
        Fraction of the training samples that are outliers, in (0, 0.5]. Larger values raise the threshold ``offset_``.

    Attributes
    ----------
    estimator_ : object
        The fitted map.
    offset_ : float
        Threshold on the score; samples with lower scores are outliers.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if ``X`` had names.

    References
    ----------
    Moeller, Hoffmann (2004). An extension of neural gas to local PCA. Neurocomputing.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protolearn import OutlierDetector
    >>> X, y = load_iris(return_X_y=True)
    >>> detector = OutlierDetector(contamination=0.1).fit(X)
    >>> detector.predict([[5.0, 3.4, 1.5, 0.2], [5.0, 3.4, 6.0, 0.2]])
    array([ 1, -1])
    """

    _constraints = {"estimator": part() | none, "contamination": number(0, 0.5, open_low=True)}

    def __init__(self, estimator: Any = None, *, contamination: float = 0.05) -> None:
        self.estimator = estimator
        self.contamination = contamination

    @nothing_lost
    def fit(self, X: ArrayLike, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the map and set the threshold.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,), optional
            Classes of the samples, for a classifier; maps ignore them.
        sample_weight : array-like of shape (n_samples,), optional
            Weight of each sample.

        Returns
        -------
        self : object
            The fitted detector.
        """
        self._check_parameters()
        samples = self._checked(X, reset=True)
        weights = check_weights(sample_weight, len(samples), np.float64)
        if self.estimator is None:
            n_distinct, d = len(np.unique(samples[weights > 0], axis=0)), samples.shape[1]
            size = max(1, min(8, n_distinct // (5 * (d + 1))))
            estimator: Any = MatrixNeuralGas(size, regularization="floor", epsilon=1e-3, random_state=0)
        else:
            estimator = clone(self.estimator)
        if is_classifier(estimator) and y is None:
            raise ValueError(f"{type(estimator).__name__} is a classifier and needs classes; pass them as y.")
        targets = (y,) if is_classifier(estimator) else ()
        if sample_weight is None:
            self.estimator_ = estimator.fit(samples, *targets)
        elif has_fit_parameter(estimator, "sample_weight"):
            self.estimator_ = estimator.fit(samples, *targets, sample_weight=weights)
        else:
            raise ValueError(f"{type(estimator).__name__} does not support sample_weight; fit it without weights.")
        scores = self._scores(samples)
        present = weights > 0
        self.offset_ = _threshold(scores[present], weights[present], self.contamination)
        return self

    @blockwise
    def score_samples(self, X: ArrayLike) -> Floats:
        """Return the score of each sample; lower scores are more abnormal.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        scores : ndarray of shape (n_samples,)
            Log-density, or negative squared distance.
        """
        check_is_fitted(self, "offset_")
        return self._scores(self._checked(X, reset=False))

    @blockwise
    def decision_function(self, X: ArrayLike) -> Floats:
        """Return the score relative to the threshold; negative for outliers.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        scores : ndarray of shape (n_samples,)
            ``score_samples(X) - offset_``: differences of log-densities or of squared distances.
        """
        return self.score_samples(X) - self.offset_

    @blockwise
    def predict(self, X: ArrayLike) -> Indices:
        """Return -1 for outliers and 1 for inliers.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        verdict : ndarray of shape (n_samples,)
            -1 or 1.
        """
        return np.where(self.decision_function(X) < 0, -1, 1)

    def __sklearn_tags__(self) -> Tags:
        """Return the tags of the map: it may accept samples, missing values, objects, or a matrix of pairs."""
        tags = super().__sklearn_tags__()
        if hasattr(self.estimator, "fit"):
            tags.input_tags = input_tags_of(self.estimator)
        return tags

    def _checked(self, X: Any, reset: bool) -> Any:
        """Validate samples; objects, and sources of dissimilarities, are left to the map."""
        if not get_tags(self).input_tags.two_d_array or hasattr(X, "block"):
            return X
        return validated(self, X, reset=reset)

    def _scores(self, X: Array) -> Floats:
        if hasattr(self.estimator_, "score_samples"):
            return self.estimator_.score_samples(X)
        return -distances_of(self.estimator_, X).min(axis=1).astype(np.float64)


def _threshold(scores: Floats, weights: Floats, share: float) -> float:
    """Return a score that a share of the weight lies below, halfway to the next, so that rounding does not matter."""
    order = np.argsort(scores, kind="stable")
    ordered, reached = scores[order], np.cumsum(weights[order]) / weights.sum()
    first = ordered[np.searchsorted(reached, share, side="right")]
    rounding = 1e-9 * (np.abs(ordered).max() or 1.0)  # equal samples may have scores that differ by as much
    below = ordered[ordered < first - rounding]
    return float(0.5 * (first + below[-1])) if len(below) else float(first - rounding)
