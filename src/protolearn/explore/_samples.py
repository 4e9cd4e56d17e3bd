"""Samples as a page shows them: columns of a table, names, classes, images and texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import get_tags

from protolearn.core.samples import is_known
from protolearn.core.types import Array

__all__ = ["classes_of", "columns_of", "is_table", "pixels", "sample_names", "strings"]

MOST_PIXELS = 2**27  # bytes of images in a page


def is_table(model: Any, X: Any) -> bool:
    """Say whether X has a column for each feature, and is neither a list of objects nor a matrix of pairs.

    Examples
    --------
    >>> from protolearn import RelationalSOM
    >>> is_table(RelationalSOM(metric="euclidean"), [[1.0, 2.0]]), is_table(RelationalSOM(metric="edit"), ["one"])
    (True, False)
    """
    if get_tags(model).input_tags.pairwise:
        return False
    try:
        return len(X.shape if hasattr(X, "shape") else np.shape(X)) == 2
    except ValueError:  # lists of different lengths
        return False


def columns_of(X: Any, feature_names: Sequence[str] | None = None) -> list[dict[str, Any]]:
    """Return each column of a table as its name with numbers, or with the codes of categories.

    Examples
    --------
    >>> columns_of([[1.0, 2.0], [3.0, 4.0]], ["a", "b"])[1]
    {'name': 'b', 'values': array([2., 4.])}
    """
    if hasattr(X, "iloc"):
        columns = [column.to_numpy() for _, column in X.items()]
        names = list(X.columns)
    else:
        dense = X.toarray() if hasattr(X, "toarray") else np.asarray(X)
        columns = list(dense.T)
        names = [f"x{j}" for j in range(len(columns))]
    names = names if feature_names is None else list(feature_names)
    if len(names) != len(columns):
        raise ValueError(f"feature_names has {len(names)} names for {len(columns)} features; give one for each.")
    return [{"name": str(name), **_column(np.asarray(values))} for name, values in zip(names, columns)]


def _column(values: Array) -> dict[str, Any]:
    try:
        return {"values": values.astype(np.float64)}
    except (TypeError, ValueError):
        return coded(values)


def coded(values: Array) -> dict[str, Any]:
    """Return texts as the different ones among them and the number of each, -1 for what is missing."""
    known = is_known(values.astype(object))
    categories, codes = np.unique(values[known].astype(str), return_inverse=True)
    numbers = np.full(len(values), -1)
    numbers[known] = codes
    return {"categories": categories.tolist(), "codes": numbers}


def classes_of(y: ArrayLike | None, n_samples: int, classes: Array | None = None) -> dict[str, Any] | None:
    """Return the names of classes, those of a model first, and the number (n,) of the class of each sample."""
    if y is None:
        return None
    labels = np.asarray(y)
    if labels.shape != (n_samples,):
        raise ValueError(f"y has shape {labels.shape}; expected ({n_samples},): one class for each sample of X.")
    found = coded(labels)
    names = [] if classes is None else [str(name) for name in classes]
    names += [name for name in found["categories"] if name not in names]
    places = np.array([*(names.index(name) for name in found["categories"]), -1])
    return {"names": names, "codes": places[found["codes"]]}


def sample_names(names: ArrayLike | None, X: Any, n_samples: int) -> list[str]:
    """Return the name of each sample: as given, the index of a frame, or numbers from 0."""
    if names is None:
        return [str(name) for name in (X.index if hasattr(X, "iloc") else range(n_samples))]
    return strings("names", names, n_samples)


def strings(role: str, values: Any, n_samples: int) -> list[str]:
    """Return one text for each sample."""
    texts = [str(value) for value in values]
    if len(texts) != n_samples:
        raise ValueError(f"{role} has {len(texts)} entries for {n_samples} samples; give one for each.")
    return texts


def pixels(images: ArrayLike, n_samples: int) -> Array:
    """Return images (n, h, w, c) with 1, 3 or 4 channels as bytes; numbers are stretched over all images.

    Examples
    --------
    >>> pixels(np.array([[[0.0, 16.0]]]), 1).ravel()
    array([  0, 255], dtype=uint8)
    """
    given = np.asarray(images)
    if given.ndim == 3:
        given = given[..., None]
    if given.ndim != 4 or len(given) != n_samples or given.shape[3] not in (1, 3, 4):
        raise ValueError(
            f"images has shape {np.shape(images)}; expected ({n_samples}, height, width), or four dimensions with 1, 3 "
            "or 4 channels at the end."
        )
    if given.size > MOST_PIXELS:
        raise ValueError(
            f"images contains {given.size:,} numbers, too many for one page; reduce the images, to at most "
            f"{MOST_PIXELS:,} numbers in total."
        )
    if given.dtype == np.uint8:
        return given
    low, high = float(given.min()), float(given.max())
    if not (np.isfinite(low) and np.isfinite(high)):
        raise ValueError("images contains NaN or infinite numbers; replace them.")
    return np.round((given - low) * (255.0 / (high - low or 1.0))).astype(np.uint8)
