"""The data of the tasks for views: X (n, d) samples and y (n,) classes."""

from __future__ import annotations

from functools import cache

import numpy as np

from benchmarks import shape_data
from benchmarks.classifier_data import stored

__all__ = ["N_COMPONENTS", "Labeled", "deformed_mnist", "digits", "mnist"]

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


def deformed_mnist(n_samples: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return principal components of turned, scaled and shifted digits, their classes, and the images behind them."""
    from sklearn.decomposition import PCA

    images, classes = shape_data.mnist().reshape(-1, 28, 28), _components()[1]
    rng = np.random.default_rng(0)
    model = PCA(N_COMPONENTS, random_state=0)
    parts = []
    for start in range(0, n_samples, len(images)):
        part = images[: n_samples - start]
        changes = rng.uniform(-1, 1, (len(images), 4))[: len(part)]
        X = np.array([_deformed(image, *change).ravel() for image, change in zip(part, changes)], dtype=np.float32)
        if start == 0:
            model.fit(X)
        parts.append(model.transform(X))
    origins = np.arange(n_samples) % len(images)
    return np.vstack(parts), classes[origins], origins


def _deformed(image: np.ndarray, turn: float, size: float, right: float, down: float) -> np.ndarray:
    """Turn and scale an image about its center, and shift it, each as far as a number in [-1, 1] says."""
    from scipy.ndimage import affine_transform

    angle, scale = 0.2 * turn, 1 + 0.1 * size
    inverse = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]) / scale
    center = (np.array(image.shape) - 1) / 2
    return affine_transform(image, inverse, center - inverse @ center + 1.5 * np.array([down, right]), order=1)


@cache
def _components() -> Labeled:
    from sklearn.decomposition import PCA

    y = np.concatenate([stored(f"mnist_train_{part}")["y"] for part in (1, 2)])
    return PCA(N_COMPONENTS, random_state=0).fit_transform(shape_data.mnist()), y
