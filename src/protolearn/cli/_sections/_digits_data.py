"""The digits of scikit-learn, with pixels between 0 and 1."""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_digits

from protolearn.core.types import Array, Floats, Indices

__all__ = ["as_images", "load_samples"]


def load_samples(n_samples: int) -> tuple[Floats, Indices]:
    """Return the first digits (n, 64) and their classes (n,).

    Pixels are divided by their largest value, so that a squared distance between digits and one between labels, which
    supervised maps add up, are of the same size.
    """
    X, y = load_digits(return_X_y=True)
    return X[:n_samples] / 16.0, y[:n_samples]


def as_images(X: Array) -> Floats:
    """Return samples or prototypes (n, 64) as images (n, 8, 8)."""
    return X.reshape(-1, 8, 8).astype(np.float64)
