"""What a fitted classifier says about single samples: which prototypes and features decided, and what would change it.

Arrays: X (n, N) samples, W (k, N) prototypes, classes (k,) their class codes, A (s, M, N) or (s, N) matrices, slots
(k,) matrix of each prototype.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from protolearn.core.types import Array, Bools, Floats, Indices

__all__ = ["Counterfactuals", "Explanation"]


@dataclass(frozen=True)
class Explanation:
    """Why samples were classified as they were.

    Attributes
    ----------
    classes : ndarray of shape (n_samples,)
        Predicted class of each sample.
    rivals : ndarray of shape (n_samples,)
        Class of the nearest prototype of another class.
    prototypes, rival_prototypes : ndarray of shape (n_samples,)
        Index of the nearest prototype, and of the nearest one of another class.
    distances, rival_distances : ndarray of shape (n_samples,)
        Squared distances to these two.
    contributions : ndarray of shape (n_samples, n_features)
        What each feature adds to ``rival_distances - distances``: positive where it speaks for the predicted class. The
        contributions of a sample add up to that difference.
    feature_names : ndarray of shape (n_features,)
        Names of the features.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protolearn import GMLVQ
    >>> iris = load_iris(as_frame=True)
    >>> model = GMLVQ(random_state=0).fit(iris.data, iris.target_names[iris.target])
    >>> explanation = model.explain(iris.data[:1])
    >>> str(explanation.classes[0]), str(explanation.rivals[0])
    ('setosa', 'versicolor')
    """

    classes: Array
    rivals: Array
    prototypes: Indices
    rival_prototypes: Indices
    distances: Floats
    rival_distances: Floats
    contributions: Floats
    feature_names: Array

    def table(self, sample: int = 0, n_features: int = 10) -> str:
        """Return the reasons for one sample as text, the weightiest features first.

        Parameters
        ----------
        sample : int, default=0
            Number of the sample.
        n_features : int, default=10
            How many features to list.

        Returns
        -------
        text : str
            A few lines.
        """
        parts = self.contributions[sample]
        total = np.abs(parts).sum() or 1.0
        lines = [
            f"{self.classes[sample]}, because prototype {self.prototypes[sample]} is at {self.distances[sample]:.3g} "
            f"and the nearest of another class ({self.rivals[sample]}, prototype {self.rival_prototypes[sample]}) at "
            f"{self.rival_distances[sample]:.3g}."
        ]
        order = np.argsort(-np.abs(parts), kind="stable")[:n_features]
        width = max(len(str(self.feature_names[i])) for i in order)
        for i in order:
            side = "for" if parts[i] >= 0 else "against"
            lines.append(f"  {self.feature_names[i]!s:<{width}}  {100 * abs(parts[i]) / total:5.1f} % {side}")
        return "\n".join(lines)


@dataclass(frozen=True)
class Counterfactuals:
    """The smallest allowed changes that give samples another class.

    Attributes
    ----------
    samples : ndarray of shape (n_samples, n_features) or DataFrame
        The changed samples; where no change was found, the samples as they were.
    changes : ndarray of shape (n_samples, n_features)
        What was added to each number; NaN where a category was exchanged for another.
    classes : ndarray of shape (n_samples,)
        Class of each changed sample.
    distances : ndarray of shape (n_samples,)
        Squared length of each change, in the learned metric unless asked for otherwise; infinite where no change was
        found.
    found : ndarray of shape (n_samples,)
        Whether a change was found.
    proven : ndarray of shape (n_samples,)
        Whether the change is proven to be the smallest (or that there is none). Otherwise it is the best that a search
        has found.
    originals : ndarray of shape (n_samples, n_features)
        The samples as they were.
    original_classes : ndarray of shape (n_samples,)
        Class of each sample as it was.
    weights : ndarray of shape (n_samples, n_features)
        Squared length that the change of each feature would have alone.
    feature_names : ndarray of shape (n_features,)
        Names of the features.
    target : object
        The class that was asked for; None for any other.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protolearn import GMLVQ
    >>> iris = load_iris(as_frame=True)
    >>> model = GMLVQ(random_state=0).fit(iris.data, iris.target_names[iris.target])
    >>> other = model.counterfactual(iris.data[:1], target="versicolor", sparse=True)
    >>> bool(other.found[0]), int((other.changes[0] != 0).sum())
    (True, 1)
    """

    samples: Any
    changes: Floats
    classes: Array
    distances: Floats
    found: Bools
    proven: Bools
    originals: Array
    original_classes: Array
    weights: Floats
    feature_names: Array
    target: Any

    def table(self, sample: int = 0, n_features: int = 10) -> str:
        """Return the change of one sample as text, the largest parts of it first.

        Parameters
        ----------
        sample : int, default=0
            Number of the sample.
        n_features : int, default=10
            How many features to list.

        Returns
        -------
        text : str
            A line for each feature that changes: its name, what it was, and what it becomes.
        """
        before = self.original_classes[sample]
        if not self.found[sample]:
            wanted = "another class" if self.target is None else f"class {self.target}"
            how = "There is no allowed change" if self.proven[sample] else "No allowed change was found"
            return f"{before}. {how} to {wanted}."
        changed = np.flatnonzero(self.changes[sample])
        if not len(changed):
            return f"{before}, as was asked for, without a change."
        order = changed[np.argsort(-self.weights[sample, changed], kind="stable")]
        after = np.asarray(self.samples, dtype=object)[sample]
        rows = [
            (str(self.feature_names[i]), _shown(self.originals[sample, i]), _shown(after[i]))
            for i in order[:n_features]
        ]
        name, old = (max(len(row[column]) for row in rows) for column in (0, 1))
        lines = [f"{before} becomes {self.classes[sample]} with"]
        lines += [f"  {row[0]:<{name}}  {row[1]:>{old}} -> {row[2]}" for row in rows]
        if len(order) > n_features:
            lines.append(f"  and {len(order) - n_features} smaller changes")
        return "\n".join(lines)


def _shown(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, (float, int, np.number)) else str(value)


def contributions(X: Floats, W: Floats, A: Floats, slots: Indices, winners: Indices) -> Floats:
    """Return what each feature adds to the distance of each sample from its prototype ``winners`` (n,)."""
    parts = np.empty(X.shape)
    for p in np.unique(winners):
        rows = winners == p
        F = np.nan_to_num(X[rows] - W[p])
        matrix = A[slots[p]]
        parts[rows] = F * (F @ matrix.T @ matrix if matrix.ndim == 2 else F * matrix**2)
    return parts
