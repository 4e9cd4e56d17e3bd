"""Explanations of single classifications by prototypes and features, and counterfactuals.

Arrays: X (n, N) samples, W (k, N) prototypes, classes (k,) their class codes, A (s, M, N) or (s, N) matrices, slots
(k,) matrix of each prototype.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from protolearn.core.printing import Printed, Sheet, import_pandas, left_out
from protolearn.core.types import Array, Bools, Floats, Indices

__all__ = ["Counterfactuals", "Explanation"]

MOST_ROWS = 10  # samples, or features of one, that are printed


@dataclass(frozen=True, repr=False)
class Explanation(Printed):
    """Explanation of the classification of samples, which prints as a table.

    Attributes
    ----------
    classes : ndarray of shape (n_samples,)
        Predicted class of each sample.
    rivals : ndarray of shape (n_samples,)
        Rival of each sample: the class of the nearest prototype of any other class.
    prototypes, rival_prototypes : ndarray of shape (n_samples,)
        Index of the nearest prototype, and of the nearest prototype of any other class.
    distances, rival_distances : ndarray of shape (n_samples,)
        Squared distances to these two prototypes.
    contributions : ndarray of shape (n_samples, n_features)
        Contribution of each feature to ``rival_distances - distances``, positive where the feature supports the
        predicted class. The contributions of a sample sum to that difference.
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

    __repr__ = Printed.__str__

    def to_frame(self) -> Any:
        """Return the contributions as a pandas DataFrame.

        Returns
        -------
        frame : DataFrame
            A row for each sample, indexed by sample number, class and rival class, and a column for each feature.
        """
        pd = import_pandas()
        index = pd.MultiIndex.from_arrays(
            [np.arange(len(self.classes)), self.classes, self.rivals], names=["sample", "class", "rival"]
        )
        return pd.DataFrame(self.contributions, index, self.feature_names)

    def table(self, sample: int = 0, n_features: int = 10) -> str:
        """Return the explanation of one sample as text, the most important features first.

        Parameters
        ----------
        sample : int, default=0
            Index of the sample.
        n_features : int, default=10
            Maximum number of features to list.

        Returns
        -------
        text : str
            The two distances, a line for each of the most important features, and the number of those left out.
        """
        reasons = self._reasons(sample, n_features)
        width = max(len(name) for name, _ in reasons)
        lines = [
            f"  {name:<{width}}  {100 * abs(share):5.1f} % {'for' if share >= 0 else 'against'}"
            for name, share in reasons
        ]
        more = left_out(self.contributions.shape[1] - len(reasons), "feature")
        return "\n".join([self._sentence(sample), *lines, *([f"  {more}"] if more else [])])

    def _sentence(self, sample: int) -> str:
        return (
            f"{self.classes[sample]}, because prototype {self.prototypes[sample]} is at {self.distances[sample]:.3g} "
            f"and the nearest of another class ({self.rivals[sample]}, prototype {self.rival_prototypes[sample]}) at "
            f"{self.rival_distances[sample]:.3g}."
        )

    def _reasons(self, sample: int, n_features: int) -> list[tuple[str, float]]:
        """Return the weightiest features of a sample by name, each with its share in all contributions."""
        parts = self.contributions[sample]
        shares = parts / (np.abs(parts).sum() or 1.0)
        order = np.argsort(-np.abs(parts), kind="stable")[:n_features]
        return [(str(self.feature_names[i]), float(shares[i])) for i in order]

    def _sheet(self) -> Sheet:
        if len(self.classes) == 1:
            rows = [
                [name, f"{100 * abs(share):.1f} %", "for" if share >= 0 else "against"]
                for name, share in self._reasons(0, MOST_ROWS)
            ]
            more = left_out(self.contributions.shape[1] - len(rows), "feature")
            return Sheet(self._sentence(0), ["feature", "share", "speaks"], rows, more)
        rows = [
            [
                str(i),
                str(self.classes[i]),
                str(self.rivals[i]),
                f"{self.distances[i]:.3g}",
                f"{self.rival_distances[i]:.3g}",
                ", ".join(f"{name} {100 * share:+.0f} %" for name, share in self._reasons(i, 3)),
            ]
            for i in range(min(len(self.classes), MOST_ROWS))
        ]
        header = ["sample", "class", "rival", "distance", "rival distance", "weightiest features"]
        return Sheet("", header, rows, left_out(len(self.classes) - len(rows), "sample"))


@dataclass(frozen=True, repr=False)
class Counterfactuals(Printed):
    """Smallest allowed changes of samples that change their class; printed as a table.

    Attributes
    ----------
    samples : ndarray of shape (n_samples, n_features) or DataFrame
        The changed samples; where no change was found, the original samples.
    changes : ndarray of shape (n_samples, n_features)
        Difference of each numerical feature from the original; NaN where a category was replaced by another.
    classes : ndarray of shape (n_samples,)
        Class of each changed sample.
    distances : ndarray of shape (n_samples,)
        Squared length of each change, in the learned metric unless ``length`` says otherwise; infinite where no change
        was found.
    found : ndarray of shape (n_samples,)
        Whether a change was found.
    proven : ndarray of shape (n_samples,)
        Whether the change is proven to be the smallest one (or proven not to exist). Otherwise it is the best change
        that a search has found.
    originals : ndarray of shape (n_samples, n_features)
        The original samples.
    original_classes : ndarray of shape (n_samples,)
        Predicted class of each original sample.
    weights : ndarray of shape (n_samples, n_features)
        Squared length of the change of each feature alone.
    feature_names : ndarray of shape (n_features,)
        Names of the features.
    target : object
        The requested class; None for any other class.
    messages : ndarray of shape (n_samples,)
        Why no change was found; empty where one was found.

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
    messages: Array

    __repr__ = Printed.__str__

    def to_frame(self) -> Any:
        """Return the changes as a pandas DataFrame.

        Returns
        -------
        frame : DataFrame
            A row for each changed feature of each sample, the largest changes first: index of the sample, its class
            before and after the change, the feature, and its value before and after.
        """
        columns = ["sample", "class", "becomes", "feature", "before", "after"]
        rows = [row for sample in range(len(self.classes)) for row in self._changes(sample)]
        return import_pandas().DataFrame(rows, columns=columns)

    def table(self, sample: int = 0, n_features: int = 10) -> str:
        """Return the change of one sample as text, the largest changes first.

        Parameters
        ----------
        sample : int, default=0
            Index of the sample.
        n_features : int, default=10
            Maximum number of features to list.

        Returns
        -------
        text : str
            A line for each changed feature: its name, and its value before and after.
        """
        before = self.original_classes[sample]
        if not self.found[sample]:
            return f"{before}. {self.messages[sample]}"
        changes = self._changes(sample)
        if not changes:
            return f"{before}, the requested class, without any change."
        rows = [(str(name), shown(old), shown(new)) for *_, name, old, new in changes[:n_features]]
        name, old = (max(len(row[column]) for row in rows) for column in (0, 1))
        lines = [f"{before} becomes {self.classes[sample]} with"]
        lines += [f"  {row[0]:<{name}}  {row[1]:>{old}} -> {row[2]}" for row in rows]
        if len(changes) > n_features:
            lines.append(f"  and {len(changes) - n_features} smaller changes")
        return "\n".join(lines)

    def _changes(self, sample: int) -> list[tuple[Any, ...]]:
        """Return what changes in a sample, the largest parts first, as rows of `to_frame`."""
        changed = np.flatnonzero(self.changes[sample])
        order = changed[np.argsort(-self.weights[sample, changed], kind="stable")]
        after = np.asarray(self.samples, dtype=object)[sample]
        classes = (self.original_classes[sample], self.classes[sample])
        return [(sample, *classes, self.feature_names[i], self.originals[sample, i], after[i]) for i in order]

    def _sheet(self) -> Sheet:
        rows = []
        for sample in range(min(len(self.classes), MOST_ROWS)):
            changes = self._changes(sample)
            first = [str(sample), str(self.original_classes[sample])]
            if not changes:
                rows.append([*first, "", self.messages[sample], "", ""])
            for number, (*_, after, name, old, new) in enumerate(changes[:MOST_ROWS]):
                rows.append([*(first if number == 0 else ["", ""]), str(after), str(name), shown(old), shown(new)])
            if len(changes) > MOST_ROWS:
                rows.append(["", "", "", f"and {len(changes) - MOST_ROWS} smaller changes", "", ""])
        header = ["sample", "class", "becomes", "feature", "before", "after"]
        return Sheet("", header, rows, left_out(len(self.classes) - MOST_ROWS, "sample"))


def shown(value: Any) -> str:
    """Return a number in short, and anything else as it is."""
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
