"""The data of the tasks for maps of dissimilarities: strings, texts and series, each as one array."""

from __future__ import annotations

import numpy as np

__all__ = ["LENGTH", "N_CLASSES", "distances", "labeled_strings", "series", "strings", "texts"]

LENGTH = 30  # of strings and of short series
N_CLASSES = 50


def distances(X: np.ndarray) -> np.ndarray:
    """Return the Euclidean distances of samples, exactly symmetric with a zero diagonal."""
    from scipy.spatial.distance import pdist, squareform

    return squareform(pdist(X.astype(np.float64)))


def strings(n_objects: int) -> np.ndarray:
    """Return strings of about 30 letters."""
    return labeled_strings(n_objects)[0]


def labeled_strings(n_objects: int) -> tuple[np.ndarray, np.ndarray]:
    """Return strings of about 30 letters, and the class from which each descends."""
    from protolearn.datasets import make_string_classes

    words, y = make_string_classes(
        N_CLASSES, -(-n_objects // N_CLASSES), length=LENGTH, divergence=0.8, kind="letters", random_state=0
    )
    return np.array(words)[:n_objects], y[:n_objects]


def texts(n_objects: int) -> np.ndarray:
    """Return texts of about 60 words."""
    from protolearn.datasets import make_topic_texts

    return np.array(make_topic_texts(n_objects, random_state=0)[0])


def series(n_objects: int, length: int) -> np.ndarray:
    """Return random walks (n, length)."""
    return np.random.default_rng(0).standard_normal((n_objects, length)).cumsum(axis=1)
