"""The data of the tasks for views: X (n, d) samples and y (n,) classes."""

from __future__ import annotations

from functools import cache

import numpy as np

from benchmarks import shape_data
from benchmarks.classifier_data import stored

__all__ = ["N_COMPONENTS", "Labeled", "digits", "mnist"]

Labeled = tuple[np.ndarray, np.ndarray]

N_COMPONENTS = 50  # of the digits of MNIST


def digits() -> Labeled:
    """Return scikit-learn's handwritten digits (1797, 64)."""
    from sklearn.datasets import load_digits

    return load_digits(return_X_y=True)


def mnist(n_samples: int) -> Labeled:
    """Return the first training digits of MNIST, as principal components of all 60,000."""
    X, y = _components()
    return X[:n_samples], y[:n_samples]


@cache
def _components() -> Labeled:
    from sklearn.decomposition import PCA

    y = np.concatenate([stored(f"mnist_train_{part}")["y"] for part in (1, 2)])
    return PCA(N_COMPONENTS, random_state=0).fit_transform(shape_data.mnist()), y
