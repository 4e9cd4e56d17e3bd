"""The data of the tasks for maps with a shape: X (n, d)."""

from __future__ import annotations

import numpy as np

from benchmarks.classifier_data import stored

__all__ = ["digit", "elongated", "mnist"]


def elongated(n_samples: int, n_features: int = 20, n_clusters: int = 50) -> np.ndarray:
    """Return samples of overlapping normal distributions, ten times as long as wide, in directions of their own.

    Every feature has mean 0 and variance 1.
    """
    rng = np.random.default_rng(0)
    clusters = rng.integers(n_clusters, size=n_samples)
    X = rng.standard_normal((n_samples, n_features)) * np.geomspace(3.0, 0.3, n_features)
    for cluster in range(n_clusters):
        turn, _ = np.linalg.qr(rng.standard_normal((n_features, n_features)))
        own = clusters == cluster
        X[own] = X[own] @ turn + rng.standard_normal(n_features)
    return (X - X.mean(axis=0)) / X.std(axis=0)


def mnist() -> np.ndarray:
    """Return the 60,000 training digits of MNIST (60000, 784), gray values in [0, 1]."""
    X, _ = _training_digits()
    return X


def digit(label: int, small: bool = False) -> np.ndarray:
    """Return the training digits of one class, 28 x 28 pixels, or 8 x 8."""
    X, y = _training_digits()
    if not small:
        return X[y == label]
    from protolearn.datasets import downsample_digits

    return downsample_digits(X[y == label])


def _training_digits() -> tuple[np.ndarray, np.ndarray]:
    parts = [stored(f"mnist_train_{part}") for part in (1, 2)]
    X, y = (np.concatenate([part[name] for part in parts]) for name in ("X", "y"))
    return X.reshape(len(X), -1) / 255, y
