"""Stability of learned relevances over the splits of a cross-validation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike
from scipy.stats import rankdata
from sklearn.base import clone
from sklearn.metrics import auc, roc_curve
from sklearn.model_selection import RepeatedStratifiedKFold, check_cv
from sklearn.utils import _safe_indexing, indexable

from protolearn.core.fitted import take_apart
from protolearn.core.parameters import constrained, fraction, integer, none
from protolearn.core.printing import Printed, Sheet, import_pandas
from protolearn.core.samples import all_labels
from protolearn.core.types import Array, Bools, Floats, Indices
from protolearn.lvq.relevance import canonical_matrix

__all__ = ["RelevanceStability", "relevance_stability"]

RATES = np.linspace(0.0, 1.0, 101)  # false positive rates at which ROC curves are compared


@dataclass(frozen=True, repr=False)
class RelevanceStability(Printed):
    """Feature relevances and classification performance in each split of a cross-validation.

    Intervals are percentiles over the splits. The splits share most of their training samples, so an interval describes
    the variability between subsets of the data; it is not a confidence interval.

    Attributes
    ----------
    feature_names : ndarray of shape (n_features,)
        Names of the input features of the classifier.
    classes : ndarray of shape (n_classes,)
        Class labels.
    relevances : ndarray of shape (n_splits, n_features)
        ``feature_importances_`` of each split: relevances that sum to one.
    omegas : tuple of ndarray
        Matrices of each split in canonical form, of shape (M, n_features), or (s, M, n_features) for local matrices;
        empty if the classifier learns no matrix.
    accuracy : ndarray of shape (n_splits,)
        Accuracy on the held-out samples of each split.
    balanced_accuracy : ndarray of shape (n_splits,)
        Balanced accuracy on the held-out samples: the mean accuracy over the classes.
    auc : ndarray of shape (n_splits, n_curves)
        Area under each ROC curve: one curve for two classes, otherwise one for each class against the rest. NaN if a
        class is missing among the held-out samples.
    false_positive_rates : ndarray of shape (n_points,)
        False positive rates at which the ROC curves are evaluated.
    true_positive_rates : ndarray of shape (n_splits, n_curves, n_points)
        True positive rates of the ROC curves.
    n_top : int
        Number of most relevant features that `top_share` and `kuncheva_index` consider.
    level : float
        Fraction of the splits that intervals cover.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protolearn import GRLVQ
    >>> from protolearn.lvq import relevance_stability
    >>> found = relevance_stability(GRLVQ(), *load_iris(return_X_y=True), cv=2)
    >>> found.relevances.shape, found.relevances.sum(axis=1).round(6).tolist()
    ((2, 4), [1.0, 1.0])
    >>> low, high = found.interval(found.balanced_accuracy)
    >>> bool(0.8 < low <= high <= 1.0)
    True
    """

    feature_names: Array
    classes: Array
    relevances: Floats
    omegas: tuple[Floats, ...]
    accuracy: Floats
    balanced_accuracy: Floats
    auc: Floats
    false_positive_rates: Floats
    true_positive_rates: Floats
    n_top: int
    level: float

    def __str__(self) -> str:
        return self.table()

    __repr__ = __str__

    @property
    def mean_relevances(self) -> Floats:
        """Mean relevance of each feature over the splits."""
        return self.relevances.mean(axis=0)

    @property
    def ranks(self) -> Floats:
        """Rank of each feature in each split (n_splits, n_features), 1 for the most relevant one."""
        return rankdata(-self.relevances, axis=1)

    @property
    def top_share(self) -> Floats:
        """Fraction of the splits in which each feature is among the ``n_top`` most relevant features."""
        return self._on_top().mean(axis=0)

    @property
    def rank_correlation(self) -> float:
        """Spearman's rank correlation of relevances, averaged over all pairs of splits; NaN if all are equal."""
        ranks = self.ranks - self.ranks.mean(axis=1, keepdims=True)
        lengths = np.linalg.norm(ranks, axis=1)
        if not lengths.all():
            return float("nan")
        return _mean_of_pairs((ranks @ ranks.T) / np.outer(lengths, lengths))

    @property
    def kuncheva_index(self) -> float:
        """Agreement of the ``n_top`` most relevant features of two splits, averaged over all pairs.

        It is 1 if the sets of features are identical, and about 0 if they are drawn at random; NaN if ``n_top`` is the
        number of features.
        """
        on_top = self._on_top().astype(np.float64)
        k, N = self.n_top, self.relevances.shape[1]
        if k == N:
            return float("nan")
        return _mean_of_pairs((on_top @ on_top.T * N - k**2) / (k * (N - k)))  # Kuncheva 2007, eq. 2

    def interval(self, values: ArrayLike) -> tuple[Any, Any]:
        """Return the percentiles that enclose the fraction ``level`` of the splits.

        Parameters
        ----------
        values : array-like of shape (n_splits, ...)
            Array with a row for each split.

        Returns
        -------
        low, high : float or ndarray
            Lower and upper end of the interval.
        """
        outside = 50.0 * (1.0 - self.level)
        low, high = np.nanpercentile(np.asarray(values), [outside, 100.0 - outside], axis=0)
        return low, high

    def mean_relevance_matrix(self) -> Floats:
        """Return the mean of the relevance matrices ``Omega^T Omega`` over the splits.

        Returns
        -------
        matrix : ndarray of shape (n_features, n_features) or (s, n_features, n_features)
            Mean matrix, or the mean matrix of each prototype or class; ``plot_relevance_matrix`` draws it.
        """
        if not self.omegas:
            raise ValueError("The classifier learns no matrix, only a relevance for each feature; see relevances.")
        return np.mean([omega.swapaxes(-1, -2) @ omega for omega in self.omegas], axis=0)

    def table(self, n_features: int = 10) -> str:
        """Return performance, stability and the most relevant features as text.

        Parameters
        ----------
        n_features : int, default=10
            Number of features to list, the most relevant first.

        Returns
        -------
        text : str
            Summary in a few lines.
        """
        lines = [self._heading(), *(f"{name:<25}{text}" for name, text in self._qualities().items())]
        return "\n".join([*lines, self._features(n_features).text()])

    def _heading(self) -> str:
        return f"{len(self.relevances)} splits; in brackets the middle {100 * self.level:g} % of them"

    def _qualities(self) -> dict[str, str]:
        """Return accuracies and agreement by name."""
        numbers = {
            "accuracy": self.accuracy,
            "balanced accuracy": self.balanced_accuracy,
            "area under the ROC curve": self.auc.mean(axis=1),
        }
        texts = {
            name: f"{np.nanmean(values):.3f} {_brackets(*self.interval(values))}" for name, values in numbers.items()
        }
        agreement = {
            "rank correlation": self.rank_correlation,
            f"agreement of the top {self.n_top}": self.kuncheva_index,
        }
        return texts | {name: f"{value:.3f}" for name, value in agreement.items()}

    def _features(self, n_features: int) -> Sheet:
        """Return the most relevant features as a table."""
        low, high = self.interval(self.relevances)
        rows = [
            [
                str(self.feature_names[i]),
                f"{self.mean_relevances[i]:.3f} {_brackets(low[i], high[i])}",
                f"{100 * self.top_share[i]:.0f} %",
            ]
            for i in self._order()[:n_features]
        ]
        return Sheet("", ["feature", "relevance", f"among the top {self.n_top}"], rows)

    def _sheet(self) -> Sheet:
        features = self._features(10)
        told = "; ".join(f"{name} {text}" for name, text in self._qualities().items())
        return Sheet(f"{self._heading()}: {told}.", features.header, features.rows)

    def to_frame(self) -> Any:
        """Return the features as a pandas DataFrame, the most relevant first.

        Returns
        -------
        frame : DataFrame
            Mean and interval of the relevance, mean rank, and share of the splits among the top, with a row for each
            feature.
        """
        pd = import_pandas()
        low, high = self.interval(self.relevances)
        columns = {
            "relevance": self.mean_relevances,
            "low": low,
            "high": high,
            "mean_rank": self.ranks.mean(axis=0),
            "top_share": self.top_share,
        }
        frame = pd.DataFrame(columns, index=pd.Index(self.feature_names, name="feature"))
        return frame.iloc[self._order()]

    def _order(self) -> Indices:
        return np.argsort(-self.mean_relevances, kind="stable")

    def _on_top(self) -> Bools:
        first = np.argsort(-self.relevances, axis=1, kind="stable")[:, : self.n_top]
        on_top = np.zeros(self.relevances.shape, bool)
        np.put_along_axis(on_top, first, True, axis=1)
        return on_top


@constrained(n_top=integer(1) | none, level=fraction, n_jobs=integer() | none)
def relevance_stability(
    estimator: Any,
    X: Any,
    y: ArrayLike,
    *,
    groups: ArrayLike | None = None,
    cv: Any = None,
    n_top: int | None = None,
    level: float = 0.95,
    n_jobs: int | None = None,
) -> RelevanceStability:
    """Fit a classifier in each split of a cross-validation, and compare the learned relevances.

    Parameters
    ----------
    estimator : classifier or Pipeline
        LVQ classifier that learns relevances, or a pipeline that ends in one. The estimator is cloned and fitted as a
        whole in each split. Relevances are comparable only between features of the same scale, so include a scaler in
        the pipeline.
    X : array-like of shape (n_samples, n_features)
        Samples; column names of a data frame are kept.
    y : array-like of shape (n_samples,)
        Class labels of the samples.
    groups : array-like of shape (n_samples,), optional
        Group of each sample, such as a patient, for splitters that keep groups together.
    cv : int, splitter or iterable, optional
        Cross-validation splits, as in scikit-learn; by default stratified 5-fold cross-validation, repeated 5 times.
    n_top : int, optional
        Number of most relevant features to compare; by default a third of the features, but at most 10.
    level : float, default=0.95
        Fraction of the splits that intervals cover.
    n_jobs : int, optional
        Number of splits that are fitted in parallel, as in scikit-learn. The result does not depend on it.

    Returns
    -------
    stability : RelevanceStability
        Relevances, accuracies and ROC curves of each split, with means, intervals and a table.

    References
    ----------
    Biehl (2017). Biomedical applications of prototype based classifiers and relevance learning. AlCoB.

    Kuncheva (2007). A stability index for feature selection. Artificial Intelligence and Applications.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from protolearn import GRLVQ
    >>> from protolearn.lvq import relevance_stability
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> found = relevance_stability(make_pipeline(StandardScaler(), GRLVQ()), X, y, cv=5)
    >>> found.to_frame().index[:2].sort_values().tolist(), found.n_top
    (['petal length (cm)', 'petal width (cm)'], 1)
    >>> low, high = found.interval(found.accuracy)
    >>> bool(0.8 < low < high <= 1.0)
    True
    """
    X, y, groups = indexable(X, all_labels(y, "the assessment"), groups)
    if cv is None:
        cv = RepeatedStratifiedKFold(n_splits=5, n_repeats=5, random_state=0)
    splits = list(check_cv(cv, y, classifier=True).split(X, y, groups))
    results = Parallel(n_jobs=n_jobs)(delayed(_assess)(clone(estimator), X, y, *split) for split in splits)
    names, classes, relevances, omegas, right, balanced, areas, curves = zip(*results)
    if len({tuple(each) for each in names}) > 1:
        raise ValueError(
            "The input features of the classifier differ between splits. Use steps before it that always produce the "
            "same columns, for example OneHotEncoder with given categories."
        )
    if len({tuple(each) for each in classes}) > 1:
        raise ValueError("Some splits lack a class in their training part; use fewer folds or a stratified cv.")
    n_features = len(names[0])
    return RelevanceStability(
        feature_names=names[0],
        classes=classes[0],
        relevances=np.array(relevances),
        omegas=tuple(omega for omega in omegas if omega is not None),
        accuracy=np.array(right),
        balanced_accuracy=np.array(balanced),
        auc=np.array(areas),
        false_positive_rates=RATES,
        true_positive_rates=np.array(curves),
        n_top=min(n_top or min(10, n_features // 3) or 1, n_features),
        level=level,
    )


def _assess(estimator: Any, X: Any, y: Array, train: Indices, test: Indices) -> tuple[Any, ...]:
    """Return what one split says about features, and how good the classifier is on the samples held out."""
    estimator.fit(_safe_indexing(X, train), y[train])
    parts = take_apart(estimator)
    model = parts.last
    if not hasattr(model, "feature_importances_"):
        raise ValueError(
            f"{type(model).__name__} learns no relevances (it has no feature_importances_); give an LVQ classifier "
            "that does, such as GMLVQ or GRLVQ, or a pipeline that ends in one."
        )
    held_out, truth = _safe_indexing(X, test), y[test]
    right = estimator.predict(held_out) == truth
    balanced = np.mean([right[truth == label].mean() for label in np.unique(truth)])
    P = estimator.predict_proba(held_out)
    classes = estimator.classes_
    curves = [_roc(truth == label, P[:, c]) for c, label in enumerate(classes)][1 if len(classes) == 2 else 0 :]
    areas, rates = zip(*curves)
    relevances = model.feature_importances_
    names = parts.names_out(len(relevances))
    return names, classes, relevances, _canonical(model), right.mean(), balanced, areas, rates


def _canonical(model: Any) -> Floats | None:
    """Return the canonical matrix or matrices of a classifier, of norm one for features in standard deviations.

    None if it learns no matrix.
    """
    if not hasattr(model, "relevance_matrix_"):
        return None
    if hasattr(model, "omegas_"):
        return np.stack([_of_norm_one(omega * model.scale_) for omega in model.omegas_])
    return _of_norm_one(model.omega_ * model.scale_)


def _of_norm_one(omega: Floats) -> Floats:
    return canonical_matrix(omega / np.linalg.norm(omega))


def _roc(positive: Bools, scores: Floats) -> tuple[float, Floats]:
    """Return the area under the ROC curve, and true positive rates at `RATES`; NaN if a class is missing."""
    if positive.all() or not positive.any():
        return float("nan"), np.full(len(RATES), np.nan)
    false, true, _ = roc_curve(positive, scores)
    rates = np.interp(RATES, false, true)
    rates[0] = 0.0
    return float(auc(false, true)), rates


def _brackets(low: float, high: float) -> str:
    return f"[{low:.3f}, {high:.3f}]"


def _mean_of_pairs(matrix: Floats) -> float:
    """Return the mean over all pairs of different splits; 1 for a single split."""
    n = len(matrix)
    return float((matrix.sum() - matrix.trace()) / (n * (n - 1))) if n > 1 else 1.0
