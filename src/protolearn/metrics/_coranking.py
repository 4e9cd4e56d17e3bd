"""Which neighbors a view keeps, at every scale: the co-ranking matrix and the measures that follow from it.

Sample j is the k-th neighbor of sample i in the data and the l-th in the view, equal distances in the order of the
samples; the co-ranking matrix Q counts pairs of ranks (k, l). All measures sum over parts of it, and are counted
for all sizes K of neighborhoods at once, without the matrix.
"""

from __future__ import annotations

from dataclasses import dataclass
from threading import Lock
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from protolearn.core.parameters import constrained, option
from protolearn.core.types import Floats, Indices
from protolearn.core.validation import require_memory
from protolearn.metrics._spaces import Rows, Space, check_size, check_spaces, documented, sweep

__all__ = [
    "LocalGlobal",
    "RankCounts",
    "RankCurves",
    "b_nx",
    "coranking_matrix",
    "extrusions",
    "intrusions",
    "lcmc",
    "neighbor_order",
    "q_local_global",
    "q_nx",
    "r_nx",
    "r_nx_auc",
    "rank_curves",
]


class LocalGlobal(NamedTuple):
    """How well a view keeps near and far neighbors, and where one ends and the other begins.

    Parameters
    ----------
    q_local : float
        Mean share of neighbors that are kept, in neighborhoods up to ``k_max``.
    q_global : float
        The same in larger neighborhoods.
    k_max : int
        Size of the neighborhoods at which `lcmc` is highest.

    Examples
    --------
    >>> from protolearn.metrics import q_local_global
    >>> found = q_local_global([[0.0], [1.0], [3.0], [7.0]], [[0.0], [2.0], [3.0], [7.0]])
    >>> found.q_local < found.q_global, found.k_max
    (True, 1)
    """

    q_local: float
    q_global: float
    k_max: int


@documented
def coranking_matrix(
    X: ArrayLike, Y: ArrayLike, *, metric: str = "euclidean", n_jobs: int | None = None
) -> NDArray[np.int32]:
    """Count how often the k-th neighbor in the data is the l-th neighbor in the view.

    ``Q_kl = |{(i, j): j is the k-th neighbor of i in the data, and the l-th in the view}|``. Entries below the
    diagonal are intrusions, neighbors that came closer; those above are extrusions. A perfect view has a diagonal
    matrix.

    Parameters
    ----------
    %(view)s
    %(options)s

    Returns
    -------
    ndarray of shape (n - 1, n - 1)
        The counts; ``Q[k - 1, l - 1]`` is that of ranks k and l. All rows and columns sum to n. The matrix needs
        ``4 n^2`` bytes, 400 MB for 10,000 samples; the measures do not need it.

    References
    ----------
    Lee, J. A., Verleysen, M. (2009). Quality assessment of dimensionality reduction: rank-based criteria.
    Neurocomputing 72, 1431-1443.

    Examples
    --------
    >>> from protolearn.metrics import coranking_matrix
    >>> coranking_matrix([[0.0], [1.0], [3.0], [7.0]], [[0.0], [2.0], [3.0], [7.0]])
    array([[3, 1, 0],
           [1, 3, 0],
           [0, 0, 4]], dtype=int32)
    """
    given, shown = check_spaces(X, Y, metric)
    pairs = _Pairs(len(given))
    sweep(given, shown, pairs, n_jobs=n_jobs)
    return pairs.matrix


@documented
def q_nx(
    X: ArrayLike, Y: ArrayLike, k: int | None = None, *, metric: str = "euclidean", n_jobs: int | None = None
) -> Floats | float:
    """Share of the k nearest neighbors in the data that are among the k nearest in the view.

    ``Q_NX(K) = 1 / (K n) sum_{k <= K, l <= K} Q_kl``, of the co-ranking matrix Q.

    Parameters
    ----------
    %(view)s
    k : int, optional
        Size K of the neighborhoods, up to ``n - 2``; all sizes by default.
    %(options)s

    Returns
    -------
    float, or ndarray of shape (n - 2,)
        1 is perfect; a random view has ``K / (n - 1)``. Without a ``k``, for K = 1, ..., n - 2.

    References
    ----------
    Lee, J. A., Verleysen, M. (2009). Quality assessment of dimensionality reduction: rank-based criteria.
    Neurocomputing 72, 1431-1443.

    Examples
    --------
    >>> from protolearn.metrics import q_nx
    >>> q_nx([[0.0], [1.0], [3.0], [7.0]], [[0.0], [2.0], [3.0], [7.0]])
    array([0.75, 1.  ])
    """
    return _curve("q_nx", X, Y, k, metric, n_jobs)


@documented
def b_nx(
    X: ArrayLike, Y: ArrayLike, k: int | None = None, *, metric: str = "euclidean", n_jobs: int | None = None
) -> Floats | float:
    """Whether a view errs by showing strangers as neighbors (positive), or by tearing neighbors apart (negative).

    ``B_NX(K) = 1 / (K n) (sum_{k < l <= K} Q_kl - sum_{l < k <= K} Q_kl)``, of the co-ranking matrix Q. Strangers that
    intrude into a neighborhood push true neighbors outwards within it, and these are what is counted: as many
    strangers come in as neighbors go out, always.

    Parameters
    ----------
    %(view)s
    k : int, optional
        Size K of the neighborhoods, up to ``n - 2``; all sizes by default.
    %(options)s

    Returns
    -------
    float, or ndarray of shape (n - 2,)
        Above 0 for an intrusive view, such as a projection in which classes overlap; below 0 for an extrusive one.
        Without a ``k``, for K = 1, ..., n - 2.

    References
    ----------
    Lee, J. A., Verleysen, M. (2009). Quality assessment of dimensionality reduction: rank-based criteria.
    Neurocomputing 72, 1431-1443.

    Examples
    --------
    Seen from above, two layers of points are one:

    >>> import numpy as np
    >>> from protolearn.metrics import b_nx
    >>> x = np.random.default_rng(0).random((60, 2))
    >>> layers = np.column_stack([x, np.arange(60) % 2])
    >>> b_nx(layers, x, 10) > 0.1
    True
    """
    return _curve("b_nx", X, Y, k, metric, n_jobs)


@documented
@constrained(kind=option("mild", "hard"))
def intrusions(
    X: ArrayLike,
    Y: ArrayLike,
    k: int | None = None,
    kind: str = "mild",
    *,
    metric: str = "euclidean",
    n_jobs: int | None = None,
) -> Floats | float:
    """Share of neighbors in the view that have come closer than they are in the data.

    Of the co-ranking matrix Q, mild intrusions are ``1 / (K n) sum_{l < k <= K} Q_kl``: neighbors in the data, too,
    but farther ones. Hard intrusions are ``1 / (K n) sum_{l <= K < k} Q_kl``: strangers, which are no neighbors.

    Parameters
    ----------
    %(view)s
    k : int, optional
        Size K of the neighborhoods, up to ``n - 2``; all sizes by default.
    kind : {"mild", "hard"}, default="mild"
        Which to count.
    %(options)s

    Returns
    -------
    float, or ndarray of shape (n - 2,)
        0 is perfect. Without a ``k``, for K = 1, ..., n - 2.

    See Also
    --------
    extrusions : Neighbors that have gone away.
    b_nx : Mild extrusions less mild intrusions.

    References
    ----------
    Lee, J. A., Verleysen, M. (2009). Quality assessment of dimensionality reduction: rank-based criteria.
    Neurocomputing 72, 1431-1443.

    Examples
    --------
    >>> from protolearn.metrics import intrusions
    >>> intrusions([[0.0], [1.0], [3.0], [7.0]], [[0.0], [2.0], [3.0], [7.0]])
    array([0.   , 0.125])
    >>> intrusions([[0.0], [1.0], [3.0], [7.0]], [[0.0], [2.0], [3.0], [7.0]], kind="hard")
    array([0.25, 0.  ])
    """
    return _curve(f"{kind}_intrusions", X, Y, k, metric, n_jobs)


@documented
@constrained(kind=option("mild", "hard"))
def extrusions(
    X: ArrayLike,
    Y: ArrayLike,
    k: int | None = None,
    kind: str = "mild",
    *,
    metric: str = "euclidean",
    n_jobs: int | None = None,
) -> Floats | float:
    """Share of neighbors in the data that are farther away in the view.

    Of the co-ranking matrix Q, mild extrusions are ``1 / (K n) sum_{k < l <= K} Q_kl``: still neighbors in the view,
    but farther ones. Hard extrusions are ``1 / (K n) sum_{k <= K < l} Q_kl``: neighbors that are lost. For each of them
    a stranger comes in, so that there are as many as hard `intrusions`, always.

    Parameters
    ----------
    %(view)s
    k : int, optional
        Size K of the neighborhoods, up to ``n - 2``; all sizes by default.
    kind : {"mild", "hard"}, default="mild"
        Which to count.
    %(options)s

    Returns
    -------
    float, or ndarray of shape (n - 2,)
        0 is perfect. Without a ``k``, for K = 1, ..., n - 2.

    See Also
    --------
    intrusions : Neighbors that have come closer.
    b_nx : Mild extrusions less mild intrusions.

    References
    ----------
    Lee, J. A., Verleysen, M. (2009). Quality assessment of dimensionality reduction: rank-based criteria.
    Neurocomputing 72, 1431-1443.

    Examples
    --------
    >>> from protolearn.metrics import extrusions
    >>> extrusions([[0.0], [1.0], [3.0], [7.0]], [[0.0], [2.0], [3.0], [7.0]])
    array([0.   , 0.125])
    """
    return _curve("mild_extrusions" if kind == "mild" else "hard_intrusions", X, Y, k, metric, n_jobs)


@documented
def lcmc(
    X: ArrayLike, Y: ArrayLike, k: int | None = None, *, metric: str = "euclidean", n_jobs: int | None = None
) -> Floats | float:
    """Local continuity meta-criterion: what the overlap of neighborhoods has beyond that of a random view.

    ``LCMC(K) = Q_NX(K) - K / (n - 1)``, with `q_nx`.

    Parameters
    ----------
    %(view)s
    k : int, optional
        Size K of the neighborhoods, up to ``n - 2``; all sizes by default.
    %(options)s

    Returns
    -------
    float, or ndarray of shape (n - 2,)
        About 0 for a random view, and at most ``1 - K / (n - 1)``. Without a ``k``, for K = 1, ..., n - 2.

    References
    ----------
    Chen, L., Buja, A. (2009). Local multidimensional scaling for nonlinear dimension reduction, graph drawing, and
    proximity analysis. Journal of the American Statistical Association 104, 209-219.

    Examples
    --------
    >>> from protolearn.metrics import lcmc
    >>> lcmc([[0.0], [1.0], [3.0], [7.0], [8.0]], [[0.0], [2.0], [3.0], [7.0], [9.0]], 2)
    0.5
    """
    return _curve("lcmc", X, Y, k, metric, n_jobs)


@documented
def r_nx(
    X: ArrayLike, Y: ArrayLike, k: int | None = None, *, metric: str = "euclidean", n_jobs: int | None = None
) -> Floats | float:
    """Overlap of neighborhoods on a scale from a random view (0) to a perfect one (1).

    ``R_NX(K) = ((n - 1) Q_NX(K) - K) / (n - 1 - K)``, with `q_nx`; values at different K can be compared.

    Parameters
    ----------
    %(view)s
    k : int, optional
        Size K of the neighborhoods, up to ``n - 2``; all sizes by default.
    %(options)s

    Returns
    -------
    float, or ndarray of shape (n - 2,)
        1 is perfect, 0 as good as random. Without a ``k``, for K = 1, ..., n - 2.

    References
    ----------
    Lee, J. A., Renard, E., Bernard, G., Dupont, P., Verleysen, M. (2013). Type 1 and 2 mixtures of Kullback-Leibler
    divergences as cost functions in dimensionality reduction based on similarity preservation. Neurocomputing 112,
    92-108.

    Examples
    --------
    >>> from protolearn.metrics import r_nx
    >>> r_nx([[0.0], [1.0], [3.0], [7.0]], [[0.0], [2.0], [3.0], [7.0]])
    array([0.625, 1.   ])
    """
    return _curve("r_nx", X, Y, k, metric, n_jobs)


@documented
def r_nx_auc(X: ArrayLike, Y: ArrayLike, *, metric: str = "euclidean", n_jobs: int | None = None) -> float:
    """One number for all scales: the area under the curve of `r_nx` over the logarithm of the neighborhood size.

    ``AUC = sum_K R_NX(K) / K / sum_K 1 / K`` over K = 1, ..., n - 2.

    Parameters
    ----------
    %(view)s
    %(options)s

    Returns
    -------
    float
        1 is perfect, 0 as good as random.

    References
    ----------
    Lee, J. A., Peluffo-Ordóñez, D. H., Verleysen, M. (2015). Multi-scale similarities in stochastic neighbour
    embedding: reducing dimensionality while preserving both local and global structure. Neurocomputing 169, 246-261.

    Examples
    --------
    >>> from protolearn.metrics import r_nx_auc
    >>> r_nx_auc([[0.0], [1.0], [3.0], [7.0]], [[0.0], [2.0], [3.0], [7.0]])
    0.75
    """
    return rank_curves(*check_spaces(X, Y, metric), n_jobs).auc


@documented
def q_local_global(X: ArrayLike, Y: ArrayLike, *, metric: str = "euclidean", n_jobs: int | None = None) -> LocalGlobal:
    """How well a view keeps near neighbors, and how well far ones; the data tell where near ends.

    Near are neighborhoods up to ``k_max``, where `lcmc` is highest. ``q_local`` is the average of `q_nx` for K up to
    ``k_max``, ``q_global`` that from ``k_max`` up to n - 1.

    Parameters
    ----------
    %(view)s
    %(options)s

    Returns
    -------
    LocalGlobal
        Named tuple ``(q_local, q_global, k_max)``.

    References
    ----------
    Lee, J. A., Verleysen, M. (2010). Scale-independent quality criteria for dimensionality reduction. Pattern
    Recognition Letters 31, 2248-2257.

    Examples
    --------
    >>> from protolearn.metrics import q_local_global
    >>> q_local_global([[0.0], [1.0], [3.0], [7.0]], [[0.0], [2.0], [3.0], [7.0]])
    LocalGlobal(q_local=0.75, q_global=0.9166666666666666, k_max=1)
    """
    curves = rank_curves(*check_spaces(X, Y, metric), n_jobs)
    return LocalGlobal(curves.q_local, curves.q_global, curves.k_max)


@dataclass(frozen=True, eq=False)
class RankCurves:
    """Measures for neighborhoods of K = 1, ..., n - 2 samples, and the numbers that sum them up."""

    k: Indices
    q_nx: Floats
    b_nx: Floats
    mild_intrusions: Floats
    mild_extrusions: Floats
    hard_intrusions: Floats
    lcmc: Floats
    r_nx: Floats
    trustworthiness: Floats
    continuity: Floats
    auc: float
    q_local: float
    q_global: float
    k_max: int


class RankCounts:
    """Counts of pairs of ranks among n samples, from which the measures follow for all sizes of neighborhoods.

    Measures are averages over the ``n_rows`` samples whose distances have been added. Counts of others add.

    Examples
    --------
    >>> import numpy as np
    >>> counts = RankCounts(3)
    >>> counts.add(slice(0, 3), 0, np.array([[0.0, 1, 2], [1, 0, 3], [2, 3, 0]]), np.ones((3, 3)))
    >>> counts.curves().q_nx
    array([1.])
    """

    def __init__(self, n: int, labels: NDArray[np.intp] | None = None) -> None:
        self.n, self.labels, self.n_rows = n, labels, 0
        self.counts = np.zeros((5, n - 1), np.int64)
        self.agreement = np.zeros(n - 1, np.int64)
        self._lock = Lock()

    def add(self, rows: Rows, first: int, given: Floats, shown: Floats) -> None:
        """Take in the distances (b, n) of some samples to all."""
        from protolearn.metrics._coranking_kernels import count_agreement, count_ranks

        counts, agreement = np.zeros_like(self.counts), np.zeros_like(self.agreement)
        own = np.arange(self.n)[rows]
        order = neighbor_order(shown, own)
        count_ranks(neighbor_order(given, own), order, counts)
        if self.labels is not None:
            count_agreement(order, self.labels[rows], self.labels, agreement)
        with self._lock:
            self.counts += counts
            self.agreement += agreement
            self.n_rows += len(own)

    def __iadd__(self, other: RankCounts) -> Self:
        self.counts += other.counts
        self.agreement += other.agreement
        self.n_rows += other.n_rows
        return self

    def curves(self) -> RankCurves:
        """Return the measures."""
        n, rows, k = self.n, self.n_rows, np.arange(1, self.n)
        same, came_closer, went_away, *sums = self.counts
        kept = (same + came_closer + went_away).cumsum()
        overlap = kept / (k * rows)
        lcmc, r_nx = overlap - k / (n - 1), (overlap[:-1] * (n - 1) - k[:-1]) / (n - 1 - k[:-1])
        k_max = int(lcmc.round(12).argmax()) + 1  # the first of equal ones, whatever their last digits
        strangers = k * rows - kept  # in the neighborhoods of the view; as many neighbors are missing there
        excess = [
            (at_lower - k * at_higher).cumsum() - k * strangers
            for at_lower, at_higher in zip(sums, (came_closer, went_away))
        ]
        return RankCurves(
            k=k[:-1],
            q_nx=overlap[:-1],
            b_nx=((went_away - came_closer).cumsum() / (k * rows))[:-1],
            mild_intrusions=(came_closer.cumsum() / (k * rows))[:-1],
            mild_extrusions=(went_away.cumsum() / (k * rows))[:-1],
            hard_intrusions=(strangers / (k * rows))[:-1],
            lcmc=lcmc[:-1],
            r_nx=r_nx,
            trustworthiness=_without(excess[0] / rows, n),
            continuity=_without(excess[1] / rows, n),
            auc=float(np.average(r_nx, weights=1.0 / k[:-1])),
            q_local=float(overlap[:k_max].mean()),
            q_global=float(overlap[k_max - 1 :].mean()),
            k_max=k_max,
        )

    def neighborhood_hit(self) -> Floats:
        """Return the share of neighbors in the view that have the label of the sample."""
        return (self.agreement.cumsum() / (np.arange(1, self.n) * self.n_rows))[:-1]


def rank_curves(given: Space, shown: Space, n_jobs: int | None = None) -> RankCurves:
    """Return the measures of a view."""
    counts = RankCounts(len(given))
    sweep(given, shown, counts, n_jobs=n_jobs)
    return counts.curves()


class _Pairs:
    """The co-ranking matrix."""

    def __init__(self, n: int) -> None:
        instead = "use view_quality, which counts ranks without it, or fewer samples"
        require_memory(f"The co-ranking matrix of {n} samples", 4 * n**2, instead)
        self.matrix = np.zeros((n - 1, n - 1), np.int32)
        self._lock = Lock()

    def add(self, rows: slice, first: int, given: Floats, shown: Floats) -> None:
        from protolearn.metrics._coranking_kernels import count_pairs

        own = np.arange(rows.start, rows.stop)
        orders = neighbor_order(given, own), neighbor_order(shown, own)
        with self._lock:
            count_pairs(*orders, self.matrix)


def neighbor_order(distances: Floats, own: Indices) -> NDArray[np.int32]:
    """Return the others (b, n - 1) by their distance (b, n) to samples ``own`` (b,), equal ones by their index.

    Examples
    --------
    >>> import numpy as np
    >>> neighbor_order(np.array([[2.0, 0.0, 1.0, 1.0]]), np.array([1]))
    array([[2, 3, 0]], dtype=int32)
    """
    from protolearn.metrics._coranking_kernels import order_rows

    order = np.empty((len(distances), distances.shape[1] - 1), np.int32)
    order_rows(distances, own, order)
    return order


def _without(excess: Floats, n: int) -> Floats:
    """Return one minus the share of the largest possible excess of the ranks of a sample, for K = 1, ..., n - 2."""
    k = np.arange(1, n - 1)
    largest = np.where(2 * k < n, k * (2 * n - 3 * k - 1), (n - k) * (n - k - 1))
    return 1.0 - 2.0 * excess[:-1] / largest


def _curve(name: str, X: ArrayLike, Y: ArrayLike, k: int | None, metric: str, n_jobs: int | None) -> Floats | float:
    """Return one measure, at one size of neighborhoods or at all."""
    given, shown = check_spaces(X, Y, metric)
    if k is not None:
        check_size("k", k, len(given) - 2, len(given))
    values = getattr(rank_curves(given, shown, n_jobs), name)
    return values if k is None else float(values[k - 1])
