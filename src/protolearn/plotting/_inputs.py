"""What the pictures read from estimators: the map, its lattice, features by name, winners and classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import column_or_1d
from sklearn.utils.validation import check_is_fitted

from protolearn.core.fitted import is_relational
from protolearn.core.lattices import Lattice
from protolearn.core.types import Array, Floats

__all__ = [
    "check_labels",
    "class_shares",
    "classes_of",
    "fitted_map",
    "lattice_of",
    "select_features",
    "value_of",
    "winners",
]

Indices = NDArray[np.intp]


def fitted_map(estimator: Any) -> Any:
    """Return the map itself, also if it is inside a classifier."""
    check_is_fitted(estimator)
    return getattr(estimator, "estimator_", estimator)


def value_of(estimator: Any, attribute: str, what: str) -> Any:
    """Return a fitted attribute, or say what the map lacks."""
    model = fitted_map(estimator)
    if attribute == "prototypes_" and is_relational(model):
        raise ValueError(
            f"This picture shows {what} as vectors, and {type(model).__name__} knows only their dissimilarities. "
            "plot_prototype_view shows any prototypes, and plot_examples the samples nearest to them."
        )
    if not hasattr(model, attribute):
        raise ValueError(
            f"This picture shows {what}, and {type(model).__name__} has no {attribute}. "
            "Give a fitted map of protolearn, such as NeuralGas; of a Pipeline, give its last step."
        )
    return getattr(model, attribute)


def lattice_of(estimator: Any) -> Lattice:
    """Return the lattice of a fitted map, or say what can be drawn without one."""
    model = fitted_map(estimator)
    if not hasattr(model, "lattice_"):
        raise ValueError(
            f"This picture shows a lattice, and {type(model).__name__} has none (no attribute lattice_). "
            "Give a fitted SOM; of maps without a lattice, plot_prototypes, plot_graph and plot_history can be drawn, "
            "and plot_prototype_view of maps of dissimilarities."
        )
    return model.lattice_


def select_features(estimator: Any, features: Sequence[int | str] | None) -> tuple[Indices, list[str]]:
    """Return columns and names of features given by number or by name; None means all."""
    n_features = value_of(estimator, "prototypes_", "prototypes").shape[1]
    given = getattr(estimator, "feature_names_in_", None)
    names = [f"feature {column}" for column in range(n_features)] if given is None else list(map(str, given))
    chosen: Sequence[int | str] = range(n_features) if features is None else features
    columns = [names.index(feature) if feature in names else feature for feature in chosen]
    for feature in columns:
        if not isinstance(feature, int | np.integer) or not -n_features <= feature < n_features:
            raise ValueError(
                f"There is no feature {feature!r}; the map has {n_features}: give numbers from 0 to {n_features - 1}"
                + ("." if given is None else f", or names from {names}.")
            )
    if not columns:
        raise ValueError("features is empty; name at least one, or give None for all.")
    positions = np.array(columns, dtype=np.intp) % n_features
    return positions, [names[position] for position in positions]


def winners(estimator: Any, X: Any) -> Indices:
    """Return the nearest prototype of each sample (n,); None means the samples of the fit."""
    model = fitted_map(estimator)
    if X is None:
        return value_of(estimator, "labels_", "the samples of the fit")
    # A classifier strips the names of the features before it fits its map.
    return model.predict(np.asarray(X) if model is not estimator and hasattr(X, "columns") else X)


def classes_of(estimator: Any, y: Array | None) -> Array | None:
    """Return the classes to color by: those of the estimator unless the labels have others."""
    known = getattr(estimator, "classes_", None)
    if y is None:
        return known
    found = np.unique(y)
    return known if known is not None and set(found.tolist()) <= set(known.tolist()) else found


def check_labels(y: ArrayLike | None, n_samples: int) -> Array | None:
    """Return the labels as an array (n,), or None."""
    if y is None:
        return None
    labels = column_or_1d(y)
    if len(labels) != n_samples:
        raise ValueError(
            f"y has {len(labels)} labels for {n_samples} samples; give one label for each sample of X, or of the fit "
            "if there is no X."
        )
    return labels


def class_shares(estimator: Any, found: Indices | None, y: ArrayLike | None) -> tuple[Array, Floats]:
    """Return the classes (C,) and their shares (k, C) in each node, all zero in a node without samples.

    Labels ``y`` of samples with winners ``found`` come first; without them, the labels the estimator has learned.
    """
    labels = None if found is None else check_labels(y, len(found))
    classes = classes_of(estimator, labels)
    if classes is None:
        raise ValueError(
            f"{type(estimator).__name__} knows no classes: give the labels y of the samples, or a map that was fitted "
            "with labels (label_weight > 0, or inside a PrototypeClassifier)."
        )
    if labels is None or found is None:
        counts = np.asarray(estimator.label_distribution_, dtype=np.float64)
    else:
        counts = np.zeros((len(value_of(estimator, "multiplicities_", "samples of prototypes")), len(classes)))
        np.add.at(counts, (found, np.searchsorted(classes, labels)), 1.0)
    totals = counts.sum(axis=1, keepdims=True)
    return classes, np.divide(counts, totals, out=np.zeros_like(counts), where=totals > 0)
