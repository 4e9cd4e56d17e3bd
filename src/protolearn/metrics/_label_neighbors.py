"""Agreement between neighborhoods in a view and class labels."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial import KDTree

from protolearn.core.chunks import HELD, row_blocks
from protolearn.core.samples import all_labels
from protolearn.core.threads import Threads, chunk_threads
from protolearn.metrics._coranking import neighbor_order
from protolearn.metrics._spaces import Points, Space, check_positions, check_size, check_space

__all__ = ["check_labels", "nearest_neighbor_error", "neighborhood_hit"]

Indices = NDArray[np.intp]


def neighborhood_hit(
    Y: ArrayLike, y: ArrayLike, n_neighbors: int = 10, *, metric: str = "euclidean", n_jobs: int | None = None
) -> float:
    """Return the mean fraction of the nearest neighbors of a sample that have its label.

    Parameters
    ----------
    Y : array-like of shape (n, q), or (n, n) with ``metric="precomputed"``
        Positions of the samples in a view, or dissimilarities. Samples without a position (rows of NaN) are left out,
        with a warning.
    y : array-like of shape (n,)
        Labels of the samples.
    n_neighbors : int, default=10
        Number of neighbors; ties are broken by the order of the samples.
    metric : {"euclidean", "precomputed"}, default="euclidean"
        Content of ``Y``: positions, compared by their Euclidean distance, or dissimilarities.
    n_jobs : int, optional
        Number of threads; None means the number of threads of the BLAS library.

    Returns
    -------
    float
        1 if the classes are well separated.

    References
    ----------
    Paulovich, F. V., Nonato, L. G., Minghim, R., Levkowitz, H. (2008). Least square projection: a fast high-precision
    multidimensional projection technique. IEEE Transactions on Visualization and Computer Graphics 14, 564-575.

    Examples
    --------
    >>> from protolearn.metrics import neighborhood_hit
    >>> neighborhood_hit([[0.0], [1.0], [3.0], [4.0]], ["a", "a", "a", "b"], n_neighbors=2)
    0.625
    """
    neighbors, labels = _neighbors(Y, y, n_neighbors, metric, n_jobs)
    return float((labels[neighbors] == labels[:, None]).mean())


def nearest_neighbor_error(
    Y: ArrayLike, y: ArrayLike, n_neighbors: int = 1, *, metric: str = "euclidean", n_jobs: int | None = None
) -> float:
    """Return the leave-one-out error of a nearest neighbor classifier.

    Parameters
    ----------
    Y : array-like of shape (n, q), or (n, n) with ``metric="precomputed"``
        Positions of the samples in a view, or dissimilarities. Samples without a position (rows of NaN) are left out,
        with a warning.
    y : array-like of shape (n,)
        Labels of the samples.
    n_neighbors : int, default=1
        Number of neighbors; ties between distances are broken by the order of the samples, and ties between votes by
        the sorted order of the classes.
    metric : {"euclidean", "precomputed"}, default="euclidean"
        Content of ``Y``: positions, compared by their Euclidean distance, or dissimilarities.
    n_jobs : int, optional
        Number of threads; None means the number of threads of the BLAS library.

    Returns
    -------
    float
        Fraction of misclassified samples; 0 if all samples are classified correctly.

    Examples
    --------
    >>> from protolearn.metrics import nearest_neighbor_error
    >>> nearest_neighbor_error([[0.0], [1.0], [3.0], [4.0]], ["a", "a", "a", "b"])
    0.5
    """
    neighbors, labels = _neighbors(Y, y, n_neighbors, metric, n_jobs)
    votes = np.zeros((len(labels), labels.max() + 1), np.intp)
    for nearest in neighbors.T:
        votes[np.arange(len(labels)), labels[nearest]] += 1
    return float((votes.argmax(axis=1) != labels).mean())


def check_labels(y: ArrayLike, n: int) -> Indices:
    """Return the number (n,) of the class of each sample.

    Examples
    --------
    >>> check_labels(["b", "a", "b"], 3)
    array([1, 0, 1])
    """
    labels = all_labels(y, "this measure")
    if len(labels) != n:
        raise ValueError(f"y has {len(labels)} labels, but there are {n} samples; pass one label for each sample.")
    return np.unique(labels, return_inverse=True)[1]


def _neighbors(
    Y: ArrayLike, y: ArrayLike, n_neighbors: int, metric: str, n_jobs: int | None
) -> tuple[Indices, Indices]:
    """Return the nearest neighbors (n, k) and the labels (n,)."""
    Y, placed = check_positions(Y) if metric == "euclidean" else (Y, None)
    space = check_space(Y, metric, "Y")
    n = len(space)
    check_size("n_neighbors", n_neighbors, n - 1, n)
    labels = check_labels(y, n) if placed is None else check_labels(y, len(placed))[placed]
    with chunk_threads(n_jobs) as n_threads:
        return _nearest(space, n_neighbors, n_threads), labels


def _nearest(space: Space, k: int, n_threads: int) -> Indices:
    """Return the nearest neighbors (n, k) of all samples, in any order; equally far ones go by their index."""
    n = len(space)
    nearest, settled = np.empty((n, k), np.intp), np.zeros(n, dtype=bool)
    if isinstance(space, Points) and space.by_differences and k + 2 <= n:
        distances, found = KDTree(space.points).query(space.points, k + 2, workers=n_threads)
        own = found == np.arange(n)[:, None]
        settled = own.any(axis=1) & (distances[:, k] < distances[:, k + 1])
        own[~settled, -1] = True
        own[~settled, :-1] = False
        nearest = found[~own].reshape(n, k + 1)[:, :k]
    rows = np.flatnonzero(~settled)

    def sort(part: slice) -> None:
        nearest[rows[part]] = neighbor_order(space.block(rows[part]), rows[part])[:, :k]

    list(Threads(n_threads).map(sort, row_blocks(len(rows), 8 * n, HELD)))
    return nearest
