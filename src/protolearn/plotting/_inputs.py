"""Input of the plots, read from estimators and pipelines: maps, lattices, features by name, winners and classes."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import column_or_1d
from sklearn.utils.validation import check_is_fitted

from protolearn.core.fitted import is_relational, take_apart, take_map_apart
from protolearn.core.lattices import Lattice
from protolearn.core.samples import require_known
from protolearn.core.types import Array, Floats
from protolearn.lvq import PrototypeTable, prototype_table

__all__ = [
    "as_images",
    "check_labels",
    "check_names",
    "check_numbers",
    "class_shares",
    "classes_of",
    "fitted_map",
    "fitted_model",
    "in_units",
    "lattice_of",
    "numbers_of",
    "samples_in_units",
    "select_features",
    "slopes_in_units",
    "value_of",
    "winners",
    "with_samples",
]

Indices = NDArray[np.intp]


def fitted_model(estimator: Any) -> Any:
    """Return the model itself, also if it is at the end of a pipeline."""
    model = take_apart(estimator).last
    check_is_fitted(model)
    return model


def fitted_map(estimator: Any) -> Any:
    """Return the map itself, also if it is inside a classifier or at the end of a pipeline."""
    fitted_model(estimator)
    return take_map_apart(estimator).last


def with_samples(estimator: Any, X: Any) -> tuple[Any, Any]:
    """Return the map, or a pipeline that ends in it, and samples as it takes them."""
    parts = take_apart(estimator)
    samples, inner = parts.transform(X), getattr(parts.last, "estimator_", None)
    if inner is None:
        return parts.last, samples
    # A classifier strips the names of the features before it fits its map.
    return inner, np.asarray(samples) if hasattr(samples, "columns") else samples


def value_of(estimator: Any, attribute: str, what: str) -> Any:
    """Return a fitted attribute, or raise an error that says what the model lacks."""
    model = fitted_map(estimator)
    if attribute == "prototypes_" and is_relational(model):
        raise ValueError(
            f"Cannot plot {what} as vectors: {type(model).__name__} represents them by dissimilarities. Use "
            "plot_prototype_view for any prototypes, or plot_examples for the samples nearest to them."
        )
    if not hasattr(model, attribute):
        raise ValueError(
            f"Cannot plot {what}: {type(model).__name__} has no {attribute}. Give a fitted map of protolearn, such as "
            "NeuralGas, or a pipeline that ends in one."
        )
    return getattr(model, attribute)


def lattice_of(estimator: Any) -> Lattice:
    """Return the lattice of a fitted map, or raise an error that names plots without a lattice."""
    model = fitted_map(estimator)
    if not hasattr(model, "lattice_"):
        raise ValueError(
            f"Cannot plot a lattice: {type(model).__name__} has none (no attribute lattice_). Give a fitted SOM. For "
            "maps without a lattice use plot_prototypes, plot_graph and plot_history, and plot_prototype_view for maps "
            "of dissimilarities."
        )
    return model.lattice_


def in_units(estimator: Any, feature_names: Sequence[str] | None, prototypes: Array | None = None) -> PrototypeTable:
    """Return prototypes in the features and units of the samples, or warn that a step cannot be undone.

    Without any names, features are called by their numbers.
    """
    W = value_of(estimator, "prototypes_", "prototypes") if prototypes is None else prototypes
    table = prototype_table(estimator, W)
    if table.note:
        warnings.warn(table.note, UserWarning, stacklevel=4)
    return replace(table, feature_names=check_names(feature_names, _own_names(estimator, table)))


def as_images(values: Array, shape: tuple[int, int]) -> Array:
    """Return pixels (..., h, w) of images (..., h w)."""
    if np.shape(shape) != (2,) or np.prod(shape) != values.shape[-1]:
        raise ValueError(f"shape={shape!r} must be the height and width of an image of {values.shape[-1]} pixels.")
    return values.reshape(*values.shape[:-1], *shape)


def _own_names(estimator: Any, table: PrototypeTable) -> list[str]:
    known = table.note or hasattr(estimator, "feature_names_in_")
    return list(map(str, table.feature_names)) if known else [f"feature {i}" for i in range(len(table.feature_names))]


def check_names(given: Sequence[str] | None, own: Sequence[str] | Array) -> Any:
    """Return names of features: those given, one for each, or their own."""
    names = list(map(str, own if given is None else given))
    if len(names) != len(own):
        raise ValueError(f"feature_names holds {len(names)} names for {len(own)} features; give one for each.")
    return np.array(names, dtype=object)


def slopes_in_units(estimator: Any, columns: Indices, n_columns: int) -> Floats:
    """Return how chosen features (c, n_columns) change with the columns that a map sees, if steps are affine."""
    if take_map_apart(estimator).before is None:
        return np.eye(n_columns)[columns]
    probes = np.vstack([np.zeros(n_columns), np.eye(n_columns), np.linspace(-1.0, 2.0, n_columns)])
    table = prototype_table(estimator, probes)
    origin, *ends, there = np.stack([check_numbers(table, column) for column in columns], axis=1)
    slopes = (np.array(ends) - origin).T
    if not np.allclose(origin + slopes @ probes[-1], there, rtol=1e-6, atol=1e-6 * np.abs(there).max()):
        raise ValueError(
            "Shapes of prototypes can be shown only if the steps of the pipeline before the map are affine, as scalers "
            "and PCA are. Give the last step alone, with samples transformed by the other steps."
        )
    return slopes


def samples_in_units(estimator: Any, table: PrototypeTable, X: Any) -> Any:
    """Return samples with the features of a table of prototypes: as they are, or as the map sees them."""
    return with_samples(estimator, X)[1] if table.note else X


def numbers_of(table: PrototypeTable, column: int) -> Floats | None:
    """Return a feature of prototypes as numbers; None if it has categories."""
    try:
        return table.values[:, column].astype(np.float64)
    except (TypeError, ValueError):
        return None


def check_numbers(table: PrototypeTable, column: int) -> Floats:
    """Return a feature of prototypes as numbers, or raise an error if it has categories."""
    numbers = numbers_of(table, column)
    if numbers is None:
        known = [str(name) for i, name in enumerate(table.feature_names) if numbers_of(table, i) is not None]
        raise ValueError(
            f"{table.feature_names[column]} has categories; choose features that are numbers, from {known}."
        )
    return numbers


def select_features(table: PrototypeTable, features: Sequence[int | str] | None) -> tuple[Indices, list[str]]:
    """Return columns and names of features given by number or by name; None means all."""
    names = list(table.feature_names)
    n_features = len(names)
    chosen: Sequence[int | str] = range(n_features) if features is None else features
    columns = [names.index(feature) if feature in names else feature for feature in chosen]
    for feature in columns:
        if not isinstance(feature, int | np.integer) or not -n_features <= feature < n_features:
            raise ValueError(
                f"There is no feature {feature!r}; the map has {n_features}: give indices from 0 to {n_features - 1}, "
                f"or names from {names}."
            )
    if not columns:
        raise ValueError("features is empty; name at least one, or give None for all.")
    positions = np.array(columns, dtype=np.intp) % n_features
    return positions, [names[position] for position in positions]


def winners(estimator: Any, X: Any) -> Indices:
    """Return the nearest prototype of each sample (n,); None means the samples of the fit."""
    if X is None:
        return value_of(estimator, "labels_", "the samples of the fit")
    model, samples = with_samples(estimator, X)
    return model.predict(samples)


def classes_of(estimator: Any, y: Array | None) -> Array | None:
    """Return the classes to color by: those of the estimator unless the labels have others."""
    known = getattr(take_apart(estimator).last, "classes_", None)
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
            "if X is not given."
        )
    require_known(labels, "a plot")
    return labels


def class_shares(estimator: Any, found: Indices | None, y: ArrayLike | None) -> tuple[Array, Floats]:
    """Return the classes (C,) and their shares (k, C) in each node, all zero in a node without samples.

    Labels ``y`` of samples with winners ``found`` come first; without them, the labels the estimator has learned.
    """
    labels = None if found is None else check_labels(y, len(found))
    classes = classes_of(estimator, labels)
    if classes is None:
        raise ValueError(
            f"{type(fitted_model(estimator)).__name__} has not learned classes: give the labels y of the samples, or a "
            "map that was fitted with labels (label_weight > 0, or inside a PrototypeClassifier)."
        )
    if labels is None or found is None:
        counts = np.asarray(fitted_model(estimator).label_distribution_, dtype=np.float64)
    else:
        counts = np.zeros((len(value_of(estimator, "multiplicities_", "samples of prototypes")), len(classes)))
        np.add.at(counts, (found, np.searchsorted(classes, labels)), 1.0)
    totals = counts.sum(axis=1, keepdims=True)
    return classes, np.divide(counts, totals, out=np.zeros_like(counts), where=totals > 0)
