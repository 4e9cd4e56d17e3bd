"""Training data of a map: one patch of samples or objects, with weights and labels."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import assert_all_finite
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, column_or_1d

from protolearn.core.numerics import flushed, power_of_two
from protolearn.core.shapes import Shapes
from protolearn.core.sources import ArraySource, LabelMoments
from protolearn.core.types import Array, Bools, Floats, Indices
from protolearn.core.validation import check_weights

__all__ = [
    "Samples",
    "TooFewSamples",
    "all_labels",
    "as_shares",
    "batched",
    "is_known",
    "known_labels",
    "label_vectors",
    "labeled",
    "over_classes",
    "refuse_unlabeled",
    "require_known",
    "require_labels",
    "require_samples",
]

T = TypeVar("T")


FAR = 2.0**40  # from one: such weights are computed in another unit, for which no type is too small


@dataclass(frozen=True)
class Samples:
    """One patch: samples (n, d) or objects, weights (n,), and label vectors (n, C) over ``classes`` if labels are used.

    The last samples may represent others with a covariance around them, which ``spreads`` describes. ``gaps`` (n, d)
    marks values of ``X`` that are initial estimates of missing values.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.core.samples import Samples
    >>> samples = Samples(np.array([[1.0], [2.0], [np.nan]]), np.array([1.0, 0.0, 3.0]))
    >>> samples.missing, samples.filled().X.ravel().tolist()
    (True, [1.0, 2.0, 1.5])
    >>> len(samples.present()), len(samples.joined(samples.take(np.array([0]))))
    (2, 4)
    """

    X: Any
    weights: Array
    labels: Any = None
    classes: Any = None
    spreads: Shapes | None = None
    gaps: Bools | None = None

    in_memory = True

    def __len__(self) -> int:
        return len(self.X)

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self.X.shape[1]

    @property
    def dtype(self) -> np.dtype[Any]:
        """Return the type of the features."""
        return self.X.dtype

    @property
    def supervised(self) -> bool:
        """Return whether labels are used."""
        return self.labels is not None

    @property
    def heaviest(self) -> float:
        """Return the largest weight."""
        return float(self.weights.max(initial=1e-300))

    @property
    def label_moments(self) -> LabelMoments:
        """Return the sums over known labels."""
        return LabelMoments.of(self.labels, self.weights)

    @property
    def missing(self) -> bool:
        """Return whether some values are missing."""
        return bool(np.isnan(self.X).any())

    def weighted(self, factors: Floats | float) -> Samples:
        """Return the samples with their weights multiplied."""
        return replace(self, weights=self.weights * factors)

    def unlabeled(self) -> Samples:
        """Return the samples without labels."""
        return replace(self, labels=None, classes=None)

    def without_spreads(self) -> Samples:
        """Return the samples as if all stood for themselves only."""
        return replace(self, spreads=None)

    def filled(self) -> Samples:
        """Return samples with the mean of a feature where its value is missing, if any is."""
        gaps = np.isnan(self.X)
        if not gaps.any():
            return self
        counts = np.maximum((~gaps).sum(axis=0), 1)
        return self.filled_by((np.where(gaps, 0.0, self.X).sum(axis=0) / counts).astype(self.dtype))

    def filled_by(self, values: Array) -> Samples:
        """Return samples with these values (d,) where their own are missing."""
        gaps = np.isnan(self.X)
        return replace(self, X=np.where(gaps, values, self.X), gaps=gaps)

    def source(self, **options: Any) -> ArraySource:
        """Return the samples as a loop reads them; for the options see `ArraySource`.

        Weights that are far from one, as they are only before training, are put in another unit.
        """
        far = not 1.0 / FAR < self.heaviest < FAR
        weights = self.weights / power_of_two(self.heaviest) if far else self.weights
        common = {"weights": weights, "labels": self.labels, "spreads": self.spreads, "gaps": self.gaps}
        return ArraySource(self.X, **common, **options)

    def sampled(self, most: int) -> Samples:
        """Return the samples themselves: they are in memory, however many."""
        return self

    def emphasized(self, log_factors: Callable[[Samples], Floats]) -> Samples:
        """Return samples, weights times the exponential of what a function says of each, the largest of them one."""
        logs = log_factors(self)
        return self.weighted(flushed(np.exp(logs - logs.max()), np.float32))

    def assigned(self, find: Callable[[Samples], tuple[Indices, ...]], total: Callable[..., T]) -> tuple[Indices, T]:
        """Return the first of what ``find`` says of each sample, and what ``total`` adds up of all of it."""
        found = find(self)
        return found[0], total(self, *found)

    def parted(self, n_new: int) -> tuple[Samples, Samples]:
        """Return the first samples, and the others."""
        return self._between(0, n_new), self._between(n_new, len(self))

    def _between(self, start: int, stop: int) -> Samples:
        rows = slice(start, stop)
        labels = None if self.labels is None else self.labels[rows]
        return Samples(self.X[rows], self.weights[rows], labels, self.classes)

    def take(self, rows: Indices) -> Samples:
        """Return some of the samples, in rising order if they have spreads."""
        labels = None if self.labels is None else self.labels[rows]
        spreads = self.spreads
        if spreads is not None:
            places = rows - (len(self) - len(spreads))
            spreads = spreads[places[places >= 0]]
        gaps = None if self.gaps is None else self.gaps[rows]
        return Samples(self.X[rows], self.weights[rows], labels, self.classes, spreads, gaps)

    def present(self) -> Samples:
        """Return the samples that have a weight."""
        rows = np.flatnonzero(self.weights)
        return self if len(rows) == len(self) else self.take(rows)

    def joined(self, other: Samples) -> Samples:
        """Append other samples, all of which have spreads if these have any."""
        X = self.X.joined(other.X) if hasattr(self.X, "joined") else np.concatenate([self.X, other.X])
        weights = np.concatenate([self.weights, other.weights])
        spreads = other.spreads
        if self.spreads is not None and spreads is not None:
            spreads = self.spreads.joined(spreads)
        if self.labels is None:
            return Samples(X, weights, spreads=spreads)
        if (self.classes.dtype.kind in "biuf") != (other.classes.dtype.kind in "biuf"):
            raise ValueError(
                f"Classes are {self.classes.tolist()} here and {other.classes.tolist()} in another patch; "
                "use the same type of labels in all patches."
            )
        classes = np.union1d(self.classes, other.classes)
        labels = [over_classes(part.labels, part.classes, classes) for part in (self, other)]
        return Samples(X, weights, np.concatenate(labels).astype(self.labels.dtype), classes, spreads)


def labeled(
    X: Any, y: ArrayLike | None, sample_weight: ArrayLike | None, label_weight: float, unit: float | None = None
) -> Samples:
    """Combine samples with their weights and, if used, their labels.

    Parameters
    ----------
    X : array of shape (n, d) or objects
        The samples.
    y : array-like of shape (n,) or None
        Labels of the samples.
    sample_weight : array-like of shape (n,) or None
        Weights of the samples, ones by default.
    label_weight : float
        Weight of the labels in distances; with 0, labels are ignored.
    unit : float, optional
        Unit of the weights, that of other samples (`protolearn.core.validation.check_weights`).

    Returns
    -------
    Samples
        The samples with weights and labels.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.core.samples import labeled
    >>> X = np.array([[1.0], [2.0]])
    >>> labeled(X, ["b", "a"], None, 0.5).labels.tolist(), labeled(X, ["b", "a"], None, 0.0).supervised
    ([[0.0, 1.0], [1.0, 0.0]], False)
    """
    weights = check_weights(sample_weight, len(X), np.float64, unit=unit)
    if y is not None:
        check_consistent_length(weights, y)
    if label_weight == 0:
        return Samples(X, weights)
    require_labels(y, label_weight)
    classes, labels = label_vectors(column_or_1d(y), getattr(X, "dtype", np.float64))
    refuse_unlabeled(float(weights[labels.any(axis=1)].sum()))
    return Samples(X, weights, labels, classes)


def require_labels(y: ArrayLike | None, label_weight: float) -> None:
    """Raise an error if labels are needed but missing.

    Examples
    --------
    >>> from protolearn.core.samples import require_labels
    >>> require_labels(None, 0.5)
    Traceback (most recent call last):
    ...
    ValueError: label_weight=0.5 needs the classes of the samples: call fit(X, y), or set label_weight=0 for an
    unsupervised map.
    """
    if y is None:
        raise ValueError(
            f"label_weight={label_weight} needs the classes of the samples: call fit(X, y), "
            "or set label_weight=0 for an unsupervised map."
        )


def refuse_unlabeled(mass: float) -> None:
    """Raise an error if the total weight of labeled samples is zero.

    Examples
    --------
    >>> from protolearn.core.samples import refuse_unlabeled
    >>> refuse_unlabeled(3.0)
    >>> refuse_unlabeled(0.0)
    Traceback (most recent call last):
    ...
    ValueError: No sample of positive weight has a label: NaN, None and NA mean unlabeled. Provide some classes, or set
    label_weight=0 for an unsupervised map.
    """
    if not mass:
        raise ValueError(
            "No sample of positive weight has a label: NaN, None and NA mean unlabeled. Provide some classes, "
            "or set label_weight=0 for an unsupervised map."
        )


def label_vectors(y: Array, dtype: Any) -> tuple[Array, Array]:
    """Return the classes, and a vector (n, C) for each label: one-hot, or zero if it is NaN, None or NA.

    Examples
    --------
    >>> classes, vectors = label_vectors(np.array([2.0, -1.0, np.nan]), np.float64)
    >>> classes, vectors.sum(axis=1)
    (array([-1.,  2.]), array([1., 1., 0.]))
    """
    known, given = known_labels(y)
    classes, codes = np.unique(given, return_inverse=True)
    vectors = np.zeros((len(y), len(classes)), dtype)
    vectors[np.flatnonzero(known), codes] = 1.0
    return classes, vectors


def known_labels(y: Array) -> tuple[Bools, Array]:
    """Return which labels (n,) are known, and the known labels: NaN, None and NA mean unlabeled.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.core.samples import known_labels
    >>> known, labels = known_labels(np.array(["ill", None, "well"], dtype=object))
    >>> known.tolist(), labels.tolist()
    ([True, False, True], ['ill', 'well'])
    """
    known = is_known(y)
    if y.dtype.kind == "O" and not any(isinstance(label, str) for label in y):
        given = np.array(y[known].tolist())
    else:
        given = y[known]
    assert_all_finite(given, input_name="y")
    check_classification_targets(given)
    return known, given


def all_labels(y: ArrayLike, who: str) -> Array:
    """Return labels (n,), for what needs the class of every sample; raise an error if some are unlabeled.

    Examples
    --------
    >>> all_labels([1, -1, 1], "GLVQ")
    array([ 1, -1,  1])
    >>> all_labels(["ill", None, "well"], "GLVQ")
    Traceback (most recent call last):
    ...
    ValueError: 1 of 3 labels in y is missing (the first in row 1; NaN, None and NA mean unlabeled), but GLVQ needs the
    class of every sample. Leave out rows without a class.
    """
    labels = column_or_1d(y, warn=True)
    require_known(labels, who)
    return known_labels(labels)[1]


def require_known(labels: Array, who: str) -> None:
    """Raise an error if some labels (n,) are missing.

    Examples
    --------
    >>> require_known(np.array([0.0, 1.0]), "a plot")
    """
    known = is_known(labels)
    if not known.all():
        n_missing = int((~known).sum())
        raise ValueError(
            f"{n_missing} of {len(known)} labels in y {'is' if n_missing == 1 else 'are'} missing (the first in row "
            f"{known.argmin()}; NaN, None and NA mean unlabeled), but {who} needs the class of every sample. Leave out "
            "rows without a class."
        )


def is_known(labels: Array) -> Bools:
    """Return which labels (n,) stand for a class: all but NaN, None and pandas' NA.

    Examples
    --------
    >>> is_known(np.array(["ill", None, float("nan")], dtype=object))
    array([ True, False, False])
    """
    if labels.dtype.kind != "O":
        return labels == labels
    missing = [label is None or type(label).__name__ == "NAType" or label != label for label in labels]
    return ~np.array(missing, dtype=bool)


def over_classes(labels: Array, classes: Array, all_classes: Array) -> Floats:
    """Return label vectors over more classes, zero for the new classes.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.core.samples import over_classes
    >>> over_classes(np.array([[1.0, 0.0]]), np.array(["b", "d"]), np.array(["a", "b", "d"])).tolist()
    [[0.0, 1.0, 0.0]]
    """
    wider = np.zeros((len(labels), len(all_classes)))
    wider[:, np.searchsorted(all_classes, classes)] = labels
    return wider


def as_shares(labels: Floats) -> Floats:
    """Return fuzzy labels (k, C) as class shares, without rounding errors.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.core.samples import as_shares
    >>> as_shares(np.array([[2.0, -1e-17], [0.5, 0.5]])).round(6).tolist()
    [[1.0, 0.0], [0.5, 0.5]]
    """
    clipped = np.clip(labels, 1e-300, 1.0)
    return clipped / clipped.sum(axis=1, keepdims=True)


class TooFewSamples(ValueError):
    """Fewer samples than prototypes.

    Examples
    --------
    >>> from protolearn.core.samples import TooFewSamples, require_samples
    >>> try:
    ...     require_samples(3, n_prototypes=5)
    ... except TooFewSamples as error:
    ...     print(str(error).partition(". ")[0])
    n_samples=3 is fewer than the 5 prototypes
    """


def require_samples(n_samples: int, n_prototypes: int) -> None:
    """Raise an error if there are fewer samples of positive weight than prototypes.

    Examples
    --------
    >>> from protolearn.core.samples import require_samples
    >>> require_samples(10, n_prototypes=5)
    >>> require_samples(3, n_prototypes=5)
    Traceback (most recent call last):
    ...
    protolearn.core.samples.TooFewSamples: n_samples=3 is fewer than the 5 prototypes. Use at most 3
    prototypes (or nodes of the lattice), or more samples (in the first patch, if there are several).
    """
    if n_samples < n_prototypes:
        raise TooFewSamples(
            f"n_samples={n_samples} is fewer than the {n_prototypes} prototypes. Use at most {n_samples} "
            "prototypes (or nodes of the lattice), or more samples (in the first patch, if there are several)."
        )


def batched(patches: Iterable[Samples], size: int) -> Iterator[list[Samples]]:
    """Yield a given number of patches at a time, including all patches before one that fails.

    Examples
    --------
    >>> from protolearn.core.samples import batched
    >>> list(batched(iter("abcde"), 2))
    [['a', 'b'], ['c', 'd'], ['e']]
    """
    group: list[Samples] = []
    failure = None
    try:
        for patch in patches:
            group.append(patch)
            if len(group) == size:
                yield group
                group = []
    except Exception as error:
        failure = error
    if group:
        yield group
    if failure is not None:
        raise failure
