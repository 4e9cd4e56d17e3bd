"""Nearest neighbor search with results that do not depend on the number of threads or the processor.

Otherwise, the order of threads or rounding errors would decide between equally distant rows, which are frequent in
tables of integers.
"""

from __future__ import annotations

import numpy as np

from protolearn.core.density import squared_distances
from protolearn.core.threads import HELD, Threads, row_blocks
from protolearn.core.types import Array, Bools, Floats, Indices

__all__ = ["first_in_matrix", "first_nearest", "first_smallest", "squares_to", "two_nearest"]

SPARE = 8  # candidates beyond those wanted, among which most ties are settled
TIED = 1e-12  # relative difference of distances that are equal up to rounding


def first_nearest(
    X: Array, k: int, threads: Threads | None = None, *, new: Array | None = None
) -> tuple[Floats, Indices]:
    """Find the k nearest rows; ties, up to rounding, are broken by the lowest index.

    Parameters
    ----------
    X : array of shape (n, d)
        Rows to search.
    k : int
        Number of neighbors.
    threads : Threads, optional
        Threads of the search; one thread by default.
    new : array of shape (m, d), optional
        Rows whose neighbors are searched; by default the rows of X, where no row is its own neighbor.

    Returns
    -------
    squares : array of shape (m, k)
        Squared distances, the smallest first.
    indices : array of shape (m, k)
        Indices of the neighbors.

    Examples
    --------
    >>> import numpy as np
    >>> first_nearest(np.array([[0.0], [3.0], [1.0], [-1.0]]), 1)[1].ravel().tolist()
    [2, 2, 0, 0]
    """
    from sklearn.neighbors import NearestNeighbors

    threads = threads or Threads()
    given = X if new is None else new
    # measured from one of them, points on a grid stay on it
    origin = X[np.square(X - X.mean(axis=0)).sum(axis=1).argmin()].astype(np.float64)
    rows, asked = X - origin, given - origin
    n_others = len(X) - (new is None)
    search = NearestNeighbors(n_neighbors=min(n_others, k + SPARE), n_jobs=threads.n).fit(rows)
    found = np.sort(search.kneighbors(None if new is None else asked, return_distance=False), axis=1)
    squares = squares_to(asked, rows, found, threads)
    rounding = 4.0 * np.finfo(np.float64).eps * np.sqrt(np.square(rows).sum(axis=1).max())
    chosen, settled = _first_of_tied(np.sqrt(squares), k, rounding)
    squares, indices = np.take_along_axis(squares, chosen, axis=1), np.take_along_axis(found, chosen, axis=1)
    rest = np.flatnonzero(~settled) if found.shape[1] < n_others else np.empty(0, np.int64)
    for part in row_blocks(len(rest), 8 * len(X), HELD):
        some = rest[part]
        all_squares = squared_distances(asked[some], rows)
        if new is None:
            all_squares[np.arange(len(some)), some] = np.inf
        indices[some], _ = _first_of_tied(np.sqrt(all_squares), k, rounding)
    squares[rest] = squares_to(asked[rest], rows, indices[rest], Threads())
    order = np.argsort(squares, axis=1, kind="stable")
    return np.take_along_axis(squares, order, axis=1), np.take_along_axis(indices, order, axis=1)


def first_smallest(distances: Array, k: int) -> Indices:
    """Return the indices (r, k) of the smallest numbers in each row; ties, up to rounding, go to the lowest index.

    Examples
    --------
    >>> import numpy as np
    >>> first_smallest(np.array([[1.0, 0.0, 1.0], [2.0, 0.1 + 0.2, 0.3]]), 1).ravel().tolist()
    [1, 1]
    """
    return _first_of_tied(distances, k, 0.0)[0]


def first_in_matrix(squares: Floats, k: int) -> tuple[Floats, Indices]:
    """Find the k nearest other points of each point from a matrix (n, n); ties are broken by the lowest index.

    Examples
    --------
    >>> import numpy as np
    >>> first_in_matrix(np.array([[0.0, 4.0, 1.0], [4.0, 0.0, 1.0], [1.0, 1.0, 0.0]]), 1)[1].ravel().tolist()
    [2, 2, 0]
    """
    others = squares.copy()
    np.fill_diagonal(others, np.inf)
    indices = first_smallest(others, k)
    return np.take_along_axis(others, indices, axis=1), indices


def two_nearest(distances: Array) -> tuple[Indices, Indices]:
    """Return the places (n,) of the smallest and of the second smallest number in each row; of equal ones, the first.

    Examples
    --------
    >>> import numpy as np
    >>> two_nearest(np.array([[2.0, 0.0, 1.0], [3.0, 3.0, 5.0]]))
    (array([1, 0]), array([2, 1]))
    """
    rows, first = np.arange(len(distances)), distances.argmin(axis=1)
    smallest = distances[rows, first]
    distances[rows, first] = np.inf  # for a moment: a copy of many distances would take longer than the search
    second = distances.argmin(axis=1)
    distances[rows, first] = smallest
    return first, second


def squares_to(points: Array, others: Array, indices: Array, threads: Threads) -> Floats:
    """Return the squared distances (m, k) of points (m, d) to the rows of others whose indices (m, k) are given.

    Examples
    --------
    >>> import numpy as np
    >>> squares_to(np.array([[0.0], [1.0]]), np.array([[3.0], [4.0]]), np.array([[0, 1], [1, 0]]), Threads())
    array([[ 9., 16.],
           [ 9.,  4.]])
    """
    from protolearn.core._kernels import squares_to_rows

    squares = np.empty(indices.shape)
    threads.over(len(points), squares_to_rows, points, others, indices, ..., squares)
    return squares


def _first_of_tied(distances: Array, k: int, rounding: float) -> tuple[Indices, Bools]:
    """Return the places (r, k) of the smallest in each row, and whether others in the row are larger for certain."""
    limits = np.partition(distances, k - 1, axis=1)[:, k - 1 : k]
    margin = rounding + TIED * limits
    order = (distances > limits - margin).astype(np.int8) + (distances > limits + margin)
    return np.sort(np.argsort(order, axis=1, kind="stable")[:, :k], axis=1), (order == 2).any(axis=1)
