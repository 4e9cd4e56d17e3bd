"""What a map learns from: one patch of samples or objects, with weights and labels."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import assert_all_finite
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, column_or_1d

from protolearn.core.shapes import Shapes
from protolearn.core.types import Array, Floats, Indices
from protolearn.core.validation import check_weights

__all__ = ["Samples", "as_shares", "batched", "label_vectors", "labeled", "over_classes", "require_samples"]


@dataclass(frozen=True)
class Samples:
    """One patch: samples (n, d) or objects, weights (n,), and label vectors (n, C) over ``classes`` if labels count.

    The last samples may stand for others that are spread around them; ``spreads`` tells how.
    """

    X: Any
    weights: Array
    labels: Any = None
    classes: Any = None
    spreads: Shapes | None = None

    def __len__(self) -> int:
        return len(self.X)

    def take(self, rows: Indices) -> Samples:
        """Return some of the samples, in rising order if they have spreads."""
        labels = None if self.labels is None else self.labels[rows]
        spreads = self.spreads
        if spreads is not None:
            places = rows - (len(self) - len(spreads))
            spreads = spreads[places[places >= 0]]
        return Samples(self.X[rows], self.weights[rows], labels, self.classes, spreads)

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
                "give all patches the same kind of labels."
            )
        classes = np.union1d(self.classes, other.classes)
        labels = [over_classes(part.labels, part.classes, classes) for part in (self, other)]
        return Samples(X, weights, np.concatenate(labels).astype(self.labels.dtype), classes, spreads)


def labeled(X: Any, y: ArrayLike | None, sample_weight: ArrayLike | None, label_weight: float) -> Samples:
    """Put samples together with their weights and, if these count, their labels."""
    weights = check_weights(sample_weight, len(X), np.float64)
    if y is not None:
        check_consistent_length(weights, y)
    if label_weight == 0:
        return Samples(X, weights)
    if y is None:
        raise ValueError(
            f"label_weight={label_weight} needs the classes of the samples: call fit(X, y), "
            "or set label_weight=0 for an unsupervised map."
        )
    classes, labels = label_vectors(column_or_1d(y), getattr(X, "dtype", np.float64))
    if not weights[labels.any(axis=1)].any():
        raise ValueError(
            "No sample of positive weight has a label: -1, NaN and None mean unlabeled. Give the classes of some, "
            "or set label_weight=0 for an unsupervised map."
        )
    return Samples(X, weights, labels, classes)


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


def over_classes(labels: Array, classes: Array, all_classes: Array) -> Floats:
    """Return label vectors over more classes, zero for the new ones."""
    wider = np.zeros((len(labels), len(all_classes)))
    wider[:, np.searchsorted(all_classes, classes)] = labels
    return wider


def as_shares(labels: Floats) -> Floats:
    """Return fuzzy labels (k, C) as class shares, clear of rounding."""
    clipped = np.clip(labels, 1e-300, 1.0)
    return clipped / clipped.sum(axis=1, keepdims=True)


def require_samples(n_samples: int, n_prototypes: int) -> None:
    """Refuse to place more prototypes than there are samples with weight."""
    if n_samples < n_prototypes:
        raise ValueError(
            f"n_samples={n_samples} is fewer than the {n_prototypes} prototypes to be placed. Use at most {n_samples} "
            "prototypes (or nodes of the lattice), or more samples (in the first patch, if there are several)."
        )


def batched(patches: Iterable[Samples], size: int) -> Iterator[list[Samples]]:
    """Yield so many patches at a time; of those before one that fails, none is lost."""
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
