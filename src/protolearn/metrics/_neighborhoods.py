"""Trustworthiness and continuity of embeddings and maps.

*Trustworthiness* measures whether neighbors in the visualization are neighbors in the data, *continuity* whether
neighbors in the data are neighbors in the visualization. Both are defined for embeddings, in which every sample has its
own position, and for maps, in which samples are located at the lattice node of their nearest prototype.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial import KDTree

from protolearn.core.density import squared_distances
from protolearn.core.fitted import (
    TIE,
    check_samples,
    is_relational,
    lattice_of,
    nearest_prototypes,
    prototypes_of,
)
from protolearn.core.parameters import integer
from protolearn.core.samples import all_labels
from protolearn.core.threads import CACHED, HELD, Threads, chunk_threads, row_blocks
from protolearn.core.types import Floats
from protolearn.metrics._coranking import neighbor_order, rank_curves
from protolearn.metrics._spaces import (
    MeasuredSpace,
    PointSpace,
    check_positions,
    check_size,
    check_space,
    check_spaces,
    documented,
)

__all__ = [
    "check_below_half",
    "check_labels",
    "continuity",
    "map_continuity",
    "map_trustworthiness",
    "nearest_neighbor_error",
    "neighborhood_hit",
    "trustworthiness",
]

Indices = NDArray[np.intp]


@documented
def trustworthiness(
    X: ArrayLike,
    X_embedded: ArrayLike,
    n_neighbors: int = 5,
    *,
    metric: str = "euclidean",
    n_jobs: int | None = None,
) -> float:
    r"""Return the degree to which neighbors in the embedding are neighbors in the data.

    .. math:: T(k) = 1 - \frac{2}{n k (2 n - 3 k - 1)} \sum_i \sum_{j \in N_i} \max(0, r_{ij} - k)

    where :math:`N_i` are the k nearest neighbors of sample i in the embedding and :math:`r_{ij}` is the rank of j among
    the neighbors of i in the data. The definition is that of scikit-learn; ties are broken by the order of the samples.

    Parameters
    ----------
    X : array-like of shape (n, d), or (n, n) with ``metric="precomputed"``
        Samples, or the matrix of their dissimilarities.
    X_embedded : array-like of shape (n, q)
        Positions of the samples in the embedding.
    n_neighbors : int, default=5
        Size ``k`` of the neighborhoods, below ``n / 2``.
    %(options)s

    Returns
    -------
    float
        Value between 0 and 1; 1 is best.

    References
    ----------
    Venna, J., Kaski, S. (2001). Neighborhood preservation in nonlinear projection methods: an experimental study.
    ICANN, 485-491.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).random((50, 2))
    >>> trustworthiness(X, 3.0 * X + 1.0)
    1.0
    >>> trustworthiness(X, X[:, :1]) < 1.0
    True
    """
    return _at("trustworthiness", X, X_embedded, n_neighbors, metric, n_jobs)


@documented
def continuity(
    X: ArrayLike,
    X_embedded: ArrayLike,
    n_neighbors: int = 5,
    *,
    metric: str = "euclidean",
    n_jobs: int | None = None,
) -> float:
    """Return the degree to which neighbors in the data are neighbors in the embedding.

    Continuity is trustworthiness with the roles of both spaces exchanged.

    Parameters
    ----------
    X : array-like of shape (n, d), or (n, n) with ``metric="precomputed"``
        Samples, or the matrix of their dissimilarities.
    X_embedded : array-like of shape (n, q)
        Positions of the samples in the embedding.
    n_neighbors : int, default=5
        Size of the neighborhoods, below ``n / 2``.
    %(options)s

    Returns
    -------
    float
        Value between 0 and 1; 1 is best.

    References
    ----------
    Venna, J., Kaski, S. (2001). Neighborhood preservation in nonlinear projection methods: an experimental study.
    ICANN, 485-491.

    Examples
    --------
    A circle that is cut open remains trustworthy, but neighbors are separated:

    >>> import numpy as np
    >>> angle = np.random.default_rng(0).uniform(0.0, 2.0 * np.pi, (40, 1))
    >>> circle = np.hstack([np.cos(angle), np.sin(angle)])
    >>> round(trustworthiness(circle, angle, 3), 2), round(continuity(circle, angle, 3), 2)
    (1.0, 0.95)
    """
    return _at("continuity", X, X_embedded, n_neighbors, metric, n_jobs)


def map_trustworthiness(X: Any, estimator: Any, n_neighbors: int = 5) -> float:
    """Return the degree to which neighbors on the map are neighbors in the data.

    This is `trustworthiness`, where the distance of two samples on the map is the lattice distance between their
    nearest prototypes. Many distances on a map are equal, for example those within one cell. The measure is the mean
    over all possible orders of such ties.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Samples. For a relational map, the training objects, or other objects if the map computes their dissimilarities.
    estimator : fitted map
        Fitted map with a lattice, such as SOM or RelationalSOM.
    n_neighbors : int, default=5
        Size of the neighborhoods, below ``n / 2``.

    Returns
    -------
    float
        Value of at most 1, which is best.

    Notes
    -----
    If a cell contains more than ``n_neighbors + 1`` samples, the map does not determine which of them are nearest
    neighbors. Compare maps with the same number of prototypes, or choose ``n_neighbors`` not smaller than the number of
    samples in a cell.

    References
    ----------
    Venna, J., Kaski, S. (2001). Neighborhood preservation in nonlinear projection methods: an experimental study.
    ICANN, 485-491.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from protolearn.core.lattices import chain
    >>> X = [[0.0], [1.0], [10.0], [11.0], [20.0], [21.0]]
    >>> ordered = SimpleNamespace(prototypes_=[[0.5], [10.5], [20.5]], lattice_=chain(3))
    >>> map_trustworthiness(X, ordered, n_neighbors=1)
    1.0
    """
    return _average_over_ties(X, estimator, n_neighbors, shown_first=True)


def map_continuity(X: Any, estimator: Any, n_neighbors: int = 5) -> float:
    """Return the degree to which neighbors in the data are neighbors on the map.

    This is `continuity`, with distances on the map and ties as in `map_trustworthiness`.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Samples. For a relational map, the training objects, or other objects if the map computes their dissimilarities.
    estimator : fitted map
        Fitted map with a lattice, such as SOM or RelationalSOM.
    n_neighbors : int, default=5
        Size of the neighborhoods, below ``n / 2``.

    Returns
    -------
    float
        Value of at most 1, which is best.

    References
    ----------
    Venna, J., Kaski, S. (2001). Neighborhood preservation in nonlinear projection methods: an experimental study.
    ICANN, 485-491.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from protolearn.core.lattices import chain
    >>> X = [[0.0], [1.0], [10.0], [11.0], [22.0], [23.0]]
    >>> folded = SimpleNamespace(prototypes_=[[0.5], [22.5], [10.5]], lattice_=chain(3))
    >>> map_continuity(X, folded, n_neighbors=1), round(map_continuity(X, folded, n_neighbors=2), 2)
    (1.0, 0.57)
    """
    return _average_over_ties(X, estimator, n_neighbors, shown_first=False)


def _at(name: str, X: ArrayLike, X_embedded: ArrayLike, n_neighbors: int, metric: str, n_jobs: int | None) -> float:
    given, shown = check_spaces(X, X_embedded, metric)
    check_below_half(n_neighbors, len(given))
    return float(getattr(rank_curves(given, shown, n_jobs), name)[n_neighbors - 1])


def check_below_half(n_neighbors: int, n: int) -> None:
    """Require neighborhoods for which the measures are defined."""
    integer(1).check("n_neighbors", n_neighbors)
    if n_neighbors >= n / 2:
        raise ValueError(f"n_neighbors={n_neighbors} must be less than half the number of samples, n={n}.")


def _average_over_ties(X: Any, estimator: Any, n_neighbors: int, *, shown_first: bool) -> float:
    """Take neighbors from the map and ranks from the data, or the other way round."""
    lattice = lattice_of(estimator)
    winners = nearest_prototypes(X, estimator)[0]
    n = len(winners)
    check_below_half(n_neighbors, n)
    squares_from = _squares_between_samples(X, estimator)
    penalty = 0.0
    for part in row_blocks(n, 8 * n, CACHED):
        rows = np.arange(part.start, part.stop)
        in_data = _rank_bounds(squares_from(rows), rows)
        on_map = _rank_bounds(lattice.distances_from(winners[rows])[:, winners], rows)
        neighbors, ranks = (on_map, in_data) if shown_first else (in_data, on_map)
        penalty += float((_neighbor_chance(*neighbors, n_neighbors) * _expected_excess(*ranks, n_neighbors)).sum())
    return 1.0 - 2.0 * penalty / (n * n_neighbors * (2 * n - 3 * n_neighbors - 1))


def _squares_between_samples(X: Any, estimator: Any) -> Callable[[Indices], Floats]:
    """Return the function that gives the squared distances (b, n) of some samples to all, or numbers of their order."""
    if not is_relational(estimator):
        samples = check_samples(X, prototypes_of(estimator))
        centered = samples - samples.mean(axis=0, dtype=np.float64)
        return lambda rows: squared_distances(centered[rows], centered)
    model = getattr(estimator, "estimator_", estimator)
    if not (isinstance(model.metric, str) and model.metric in ("precomputed", "kernel")):
        from protolearn.dissimilarities import Dissimilarities  # here, for maps of vectors need none

        source = Dissimilarities(X, model.metric, n_jobs=model.n_jobs, **model.metric_params or {})
        return lambda rows: source.block(rows, np.arange(len(source)))
    matrix = np.asarray(X)
    if matrix.shape[0] != matrix.shape[1]:
        raise ValueError(
            f"X has the shape {matrix.shape}, but this measure compares all pairs of samples; pass the square "
            "matrix used for fitting."
        )
    own = matrix.diagonal()

    def squares(rows: Indices) -> Floats:
        block = 0.5 * (matrix[rows] + matrix[:, rows].T)
        return own[rows, None] + own - 2.0 * block if model.metric == "kernel" else block

    return squares


def _rank_bounds(distances: Floats, own: Indices) -> tuple[Floats, Floats]:
    """Return the first and last rank (b, n), from 1, that each entry can have in its row; a sample's own comes last."""
    b, n = distances.shape
    distances = distances.copy()
    distances[np.arange(b), own] = np.inf
    order = np.argsort(distances, axis=1)
    ordered = np.take_along_axis(distances, order, axis=1)
    starts = np.ones((b, n), dtype=bool)
    starts[:, 1:] = ordered[:, 1:] - ordered[:, :-1] > TIE * np.abs(ordered[:, :-1])
    ends = np.roll(starts, -1, axis=1)  # the first entry always starts a tie, so the last one always ends one
    positions = np.arange(1.0, n + 1.0)
    first, last = np.empty((b, n)), np.empty((b, n))
    np.put_along_axis(first, order, np.maximum.accumulate(np.where(starts, positions, 0.0), axis=1), axis=1)
    backwards = np.minimum.accumulate(np.where(ends, positions, np.inf)[:, ::-1], axis=1)
    np.put_along_axis(last, order, backwards[:, ::-1], axis=1)
    return first, last


def _neighbor_chance(first: Floats, last: Floats, n_neighbors: int) -> Floats:
    """Return the chance to be among the nearest, if each rank between first and last is as likely."""
    return np.clip((n_neighbors - first + 1.0) / (last - first + 1.0), 0.0, 1.0)


def _expected_excess(first: Floats, last: Floats, n_neighbors: int) -> Floats:
    """Return the expected ``max(0, rank - n_neighbors)``, if each rank between first and last is as likely."""
    above, below = np.maximum(last - n_neighbors, 0.0), np.maximum(first - 1.0 - n_neighbors, 0.0)
    return (above * (above + 1.0) - below * (below + 1.0)) / (2.0 * (last - first + 1.0))


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


def _nearest(space: MeasuredSpace, k: int, n_threads: int) -> Indices:
    """Return the nearest neighbors (n, k) of all samples, in any order; equally far ones go by their index."""
    n = len(space)
    nearest, settled = np.empty((n, k), np.intp), np.zeros(n, dtype=bool)
    if isinstance(space, PointSpace) and space.by_differences and k + 2 <= n:
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
