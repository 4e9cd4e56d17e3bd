"""The data of the classifiers' tasks: X (n, d) and y (n,) classes 0, 1, ... for training, then the same held out.

Each function splits 70/30 by classes with seed 0 and standardizes by the training samples, unless it says otherwise.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from benchmarks.environments import ROOT

__all__ = [
    "Split",
    "chromosomes",
    "digits",
    "letter",
    "mnist",
    "mnist_components",
    "segmentation",
    "stored",
    "synthetic",
    "usps",
    "wine",
]

Split = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def digits() -> Split:
    """Return scikit-learn's handwritten digits."""
    from sklearn.datasets import load_digits

    return _standardized(*_split(*load_digits(return_X_y=True)))


def wine() -> Split:
    """Return scikit-learn's wines."""
    from sklearn.datasets import load_wine

    return _standardized(*_split(*load_wine(return_X_y=True)))


def segmentation() -> Split:
    """Return the image segmentation data of UCI with their own split, without the three constant features."""
    arrays = stored("segmentation")
    X, X_test = (np.delete(arrays[name], [2, 3, 4], axis=1) for name in ("X_train", "X_test"))
    return _standardized(X, arrays["y_train"], X_test, arrays["y_test"])


def letter() -> Split:
    """Return the letters of UCI."""
    arrays = stored("letter")
    return _standardized(*_split(arrays["X"], arrays["y"]))


def usps() -> Split:
    """Return the handwritten digits of USPS with their own split, as gray values in [-1, 1]."""
    arrays = stored("usps")  # thousandths
    return arrays["X_train"] / 1000, arrays["y_train"], arrays["X_test"] / 1000, arrays["y_test"]


def mnist() -> Split:
    """Return the handwritten digits of MNIST with their own split, as gray values in [0, 1]."""
    parts = [stored(f"mnist_{part}") for part in ("train_1", "train_2", "test")]
    images = [part["X"].reshape(len(part["X"]), -1) / 255 for part in parts]
    labels = [part["y"] for part in parts]
    return np.concatenate(images[:2]), np.concatenate(labels[:2]), images[2], labels[2]


def mnist_components() -> Split:
    """Return the first 5,000 training samples and 2,000 test samples of MNIST, in 64 principal components."""
    from sklearn.decomposition import PCA

    X, y, X_test, y_test = mnist()
    pca = PCA(64, svd_solver="covariance_eigh").fit(X[:5000])
    return pca.transform(X[:5000]), y[:5000], pca.transform(X_test[:2000]), y_test[:2000]


def chromosomes() -> Split:
    """Return edit distances of half of the chromosomes to each other and, held out, of the others to these."""
    twice = np.concatenate([stored(f"chromosomes_D_{part}")["twice_d"] for part in (1, 2)])
    y = np.unique(stored("chromosomes")["y"], return_inverse=True)[1]
    n = len(y)
    D = np.zeros((n, n))
    D[np.triu_indices(n, 1)] = twice / 2.0
    D += D.T
    train, test = np.split(np.random.RandomState(0).permutation(n), 2)
    return D[np.ix_(train, train)], y[train], D[np.ix_(test, train)], y[test]


def synthetic(n_samples: int, n_features: int, held_out: float = 0.3) -> Split:
    """Return five overlapping classes, one cluster each, in which 20 features of ``n_features`` are informative."""
    from sklearn.datasets import make_classification

    X, y = make_classification(
        n_samples,
        n_features,
        n_informative=20,
        n_redundant=10,
        n_classes=5,
        n_clusters_per_class=1,
        random_state=0,
    )
    return _standardized(*_split(X, y, held_out))


def stored(name: str) -> dict[str, np.ndarray]:
    """Return the arrays of a file of data; a FileNotFoundError says what is missing."""
    folder = Path(os.environ.get("PROTOLEARN_DATA", ROOT.parent / "shared" / "data"))
    path = folder / f"{name}.npz"
    if not path.exists():
        raise FileNotFoundError(f"not run: its data, {path.name}, are missing; set PROTOLEARN_DATA to their folder")
    with np.load(path) as arrays:
        return dict(arrays)


def _split(X: np.ndarray, y: np.ndarray, held_out: float = 0.3) -> Split:
    from sklearn.model_selection import train_test_split

    X, X_test, y, y_test = train_test_split(X, y, test_size=held_out, stratify=y, random_state=0)
    return X, y, X_test, y_test


def _standardized(X: np.ndarray, y: np.ndarray, X_test: np.ndarray, y_test: np.ndarray) -> Split:
    from sklearn.preprocessing import StandardScaler

    scaler = StandardScaler().fit(X)
    return scaler.transform(X), y, scaler.transform(X_test), y_test
