"""Values that a classifier holds for each of its matrices, and the selection of one for a plot."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_array

from protolearn.core.pipelines import take_apart
from protolearn.core.types import Array, Floats, Indices
from protolearn.lvq import Category, Table, table_of
from protolearn.plotting._inputs import fitted_model

__all__ = ["column_names", "columns_by_feature", "matrices_of", "select"]


def matrices_of(model: Any, attribute: str, n_axes: int, what: str) -> tuple[Floats, Array | None]:
    """Return what a fitted model, or an array, holds for each of its matrices, and the classes these belong to.

    There is one for all if it has ``n_axes`` axes, and a stack of several if it has one axis more. Classes are None if
    there is one for all, and for an array.
    """
    if hasattr(model, "get_params"):
        model = fitted_model(model)
        if not hasattr(model, attribute):
            raise ValueError(
                f"Cannot plot {what}: {type(model).__name__} has no {attribute}. Give a classifier that learns a "
                "metric, such as GMLVQ, or a pipeline that ends in one."
            )
        values = np.asarray(getattr(model, attribute))
    else:
        values = check_array(model, dtype=np.float64, ensure_2d=False, allow_nd=True, input_name="model")
        square = n_axes < 2 or values.shape[-1] == values.shape[-2]
        if values.ndim not in (n_axes, n_axes + 1) or not square:
            one = ", ".join(["n_features"] * n_axes)
            raise ValueError(
                f"Cannot plot {what}: the array given has shape {values.shape}; expected ({one}"
                f"{',' if n_axes == 1 else ''}) for one, or (s, {one}) for several."
            )
    if values.ndim == n_axes:
        return values[None], None
    for owners in ("classes_", "prototype_labels_"):
        labels = getattr(model, owners, None)
        if labels is not None and len(labels) == len(values):
            return values, labels
    return values, None


def columns_by_feature(model: Any, n_columns: int) -> tuple[list[str], list[Indices]]:
    """Return the features of the samples by name, and the columns that a classifier sees of each.

    Behind steps that mix columns, or cannot be undone, these are the columns themselves.
    """
    table = _table(model)
    if table is None:
        return _own_names(model, n_columns), [np.array([i]) for i in range(n_columns)]
    seen = [(str(name), feature.columns) for name, feature in zip(table.names, table.features) if len(feature.columns)]
    return [name for name, _ in seen], [columns for _, columns in seen]


def column_names(model: Any, n_columns: int) -> list[str]:
    """Return names of the columns that a classifier sees: of a feature, with its category if it has any."""
    names, table = _own_names(model, n_columns), _table(model)
    if table is not None:
        for name, feature in zip(table.names, table.features):
            for place, column in enumerate(feature.columns):
                names[column] = str(name)
                if isinstance(feature, Category) and len(feature.columns) > 1:
                    names[column] += f" = {feature.categories[feature.rows[:, place].argmax()]}"
    return names


def _table(model: Any) -> Table | None:
    """Return how features become columns behind the steps of a pipeline, if each column is of one feature."""
    if not hasattr(model, "get_params") or take_apart(model).before is None:
        return None
    try:
        table = table_of(model)
    except ValueError:  # a step that cannot be undone
        return None
    return table if table.mixing is None else None


def _own_names(model: Any, n_columns: int) -> list[str]:
    parts = take_apart(model)
    if parts.before is None and not hasattr(model, "feature_names_in_"):
        return [f"feature {i}" for i in range(n_columns)]
    return list(map(str, parts.names_out(n_columns)))


def select(stack: Floats, labels: Array | None, matrix: Any) -> tuple[Floats, Floats, str]:
    """Return the values of one matrix, or a mean; what it is the mean of, empty if nothing; and a title."""
    if matrix is None:
        several = len(stack) > 1
        return stack.mean(axis=0), stack if several else stack[:0], f"mean of {len(stack)} matrices" if several else ""
    number = _number_of(matrix, len(stack), labels)
    if labels is None:
        title = f"matrix {number}" if len(stack) > 1 else ""
    else:
        alone = np.count_nonzero(labels == labels[number]) == 1
        title = f"class {labels[number]}" if alone else f"prototype {number}, class {labels[number]}"
    return stack[number], stack[:0], title


def _number_of(matrix: Any, n_matrices: int, labels: Array | None) -> int:
    if isinstance(matrix, int | np.integer):
        found = [int(matrix)] if 0 <= matrix < n_matrices else []
    else:
        found = [] if labels is None else [number for number, label in enumerate(labels) if label == matrix]
    if len(found) > 1:
        raise ValueError(f"Class {matrix!r} has {len(found)} matrices; give the number of one of them, from {found}.")
    if not found:
        names = [] if labels is None else sorted({label for label in labels.tolist() if isinstance(label, str)})
        known = f", or one of the classes {names}" if names else ""
        raise ValueError(f"There is no matrix {matrix!r}; give a number from 0 to {n_matrices - 1}{known}.")
    return found[0]
