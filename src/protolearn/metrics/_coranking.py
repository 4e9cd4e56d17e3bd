"""Neighborhood preservation of an embedding at every scale: the co-ranking matrix and measures derived from it.

If sample j is the k-th neighbor of sample i in the data and the l-th neighbor in the view, the pair has the ranks (k,
l); ties are broken by the order of the samples. The co-ranking matrix Q counts the pairs of ranks. All measures are
sums over parts of Q and are computed for all neighborhood sizes K at once, without forming the matrix.
"""

from __future__ import annotations

from dataclasses import dataclass
from threading import Lock
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from protolearn.core.parameters import constrained, option
from protolearn.core.types import Floats, Indices
from protolearn.core.validation import require_memory
from protolearn.metrics._spaces import MeasuredSpace, Rows, check_size, check_spaces, documented, sweep

__all__ = [
    "RankCounts",
    "RankCurves",
    "b_nx",
    "coranking_matrix",
    "extrusions",
    "intrusions",
    "lcmc",
    "neighbor_order",
    "q_nx",
    "r_nx",
    "rank_curves",
]


@documented
def coranking_matrix(
    X: ArrayLike, Y: ArrayLike, *, metric: str = "euclidean", n_jobs: int | None = None
) -> NDArray[np.int32]:
    r"""Return the co-ranking matrix: how often the k-th neighbor in the data is the l-th neighbor in the view.

    :math:`Q_{kl}` counts the pairs (i, j) where j is the k-th neighbor of i in the data, and the l-th in the view.
    Entries below the diagonal are intrusions, samples that are nearer in the view; entries above the diagonal are
    extrusions. A perfect view has a diagonal matrix.

    Parameters
    ----------
    %(view)s
    %(options)s

    Returns
    -------
    ndarray of shape (n - 1, n - 1)
        Counts; ``Q[k - 1, l - 1]`` is the count of the ranks k and l. All rows and columns sum to n. The matrix needs
        :math:`4 n^2` bytes, 400 MB for 10,000 samples; the other functions do not form it.

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
    pairs = _RankPairs(len(given))
    sweep(given, shown, pairs, n_jobs=n_jobs)
    return pairs.matrix


@documented
def q_nx(
    X: ArrayLike, Y: ArrayLike, k: int | None = None, *, metric: str = "euclidean", n_jobs: int | None = None
) -> Floats | float:
    r"""Return the fraction of the k nearest neighbors in the data that are among the k nearest neighbors in the view.

    It is :math:`Q_{NX}(K) = \frac{1}{K n} \sum_{k \le K,\, l \le K} Q_{kl}` with the co-ranking matrix Q.

    Parameters
    ----------
    %(view)s
    k : int, optional
        Size K of the neighborhoods, at most ``n - 2``; by default, all sizes.
    %(options)s

    Returns
    -------
    float, or ndarray of shape (n - 2,)
        1 for a perfect view, about :math:`K / (n - 1)` for a random view. Without ``k``, an array for K = 1, ...,
        n - 2.

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
    r"""Return the difference between mild extrusions and mild intrusions, the behavior of a view.

    With the co-ranking matrix Q, it is

    .. math:: B_{NX}(K) = \frac{1}{K n} \Big(\sum_{k < l \le K} Q_{kl} - \sum_{l < k \le K} Q_{kl}\Big)

    Positive values indicate an intrusive view, which shows distant samples as neighbors; negative values an extrusive
    view, which separates neighbors. The measure counts rank changes within the neighborhoods: samples that intrude into
    a neighborhood increase the ranks of true neighbors. Samples that enter and leave the neighborhoods are always equal
    in number.

    Parameters
    ----------
    %(view)s
    k : int, optional
        Size K of the neighborhoods, at most ``n - 2``; by default, all sizes.
    %(options)s

    Returns
    -------
    float, or ndarray of shape (n - 2,)
        Positive for an intrusive view, such as a projection in which classes overlap; negative for an extrusive view.
        Without ``k``, an array for K = 1, ..., n - 2.

    References
    ----------
    Lee, J. A., Verleysen, M. (2009). Quality assessment of dimensionality reduction: rank-based criteria.
    Neurocomputing 72, 1431-1443.

    Examples
    --------
    A projection of two layers of points onto one plane is intrusive:

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
    r"""Return the fraction of neighbors in the view that have a larger rank in the data.

    With the co-ranking matrix Q, mild intrusions are :math:`\frac{1}{K n} \sum_{l < k \le K} Q_{kl}`: samples that are
    also neighbors in the data, but with a larger rank. Hard intrusions are
    :math:`\frac{1}{K n} \sum_{l \le K < k} Q_{kl}`: samples that are not neighbors in the data.

    Parameters
    ----------
    %(view)s
    k : int, optional
        Size K of the neighborhoods, at most ``n - 2``; by default, all sizes.
    kind : {"mild", "hard"}, default="mild"
        Type of errors to count, see above.
    %(options)s

    Returns
    -------
    float, or ndarray of shape (n - 2,)
        0 for a perfect view. Without ``k``, an array for K = 1, ..., n - 2.

    See Also
    --------
    extrusions : Neighbors that are farther away in the view.
    b_nx : Difference between mild extrusions and mild intrusions.

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
    r"""Return the fraction of neighbors in the data that have a larger rank in the view.

    With the co-ranking matrix Q, mild extrusions are :math:`\frac{1}{K n} \sum_{k < l \le K} Q_{kl}`: samples that are
    still neighbors in the view, but with a larger rank. Hard extrusions are
    :math:`\frac{1}{K n} \sum_{k \le K < l} Q_{kl}`: samples that are not neighbors in the view. Hard extrusions and
    hard `intrusions` are always equal in number.

    Parameters
    ----------
    %(view)s
    k : int, optional
        Size K of the neighborhoods, at most ``n - 2``; by default, all sizes.
    kind : {"mild", "hard"}, default="mild"
        Type of errors to count, see above.
    %(options)s

    Returns
    -------
    float, or ndarray of shape (n - 2,)
        0 for a perfect view. Without ``k``, an array for K = 1, ..., n - 2.

    See Also
    --------
    intrusions : Neighbors that are nearer in the view.
    b_nx : Difference between mild extrusions and mild intrusions.

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
    r"""Return the local continuity meta-criterion, the overlap of neighborhoods beyond that of a random view.

    :math:`\mathrm{LCMC}(K) = Q_{NX}(K) - K / (n - 1)`, with `q_nx`.

    Parameters
    ----------
    %(view)s
    k : int, optional
        Size K of the neighborhoods, at most ``n - 2``; by default, all sizes.
    %(options)s

    Returns
    -------
    float, or ndarray of shape (n - 2,)
        About 0 for a random view, and at most :math:`1 - K / (n - 1)`. Without ``k``, an array for K = 1, ..., n - 2.

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
    """Return the overlap of neighborhoods, normalized to 0 for a random view and 1 for a perfect view.

    :math:`R_{NX}(K) = ((n - 1) Q_{NX}(K) - K) / (n - 1 - K)`, with `q_nx`. Values for different K are comparable.

    Parameters
    ----------
    %(view)s
    k : int, optional
        Size K of the neighborhoods, at most ``n - 2``; by default, all sizes.
    %(options)s

    Returns
    -------
    float, or ndarray of shape (n - 2,)
        1 for a perfect embedding, about 0 for a random one. Without ``k``, an array for K = 1, ..., n - 2.

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


@dataclass(frozen=True, eq=False)
class RankCurves:
    """Measures for neighborhoods of K = 1, ..., n - 2 samples, and their summary values."""

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
        from protolearn.metrics._kernels import count_agreement, count_ranks

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


def rank_curves(given: MeasuredSpace, shown: MeasuredSpace, n_jobs: int | None = None) -> RankCurves:
    """Return the measures of a view."""
    counts = RankCounts(len(given))
    sweep(given, shown, counts, n_jobs=n_jobs)
    return counts.curves()


class _RankPairs:
    """The co-ranking matrix."""

    def __init__(self, n: int) -> None:
        instead = "use view_quality, which counts ranks without it, or fewer samples"
        require_memory(f"The co-ranking matrix of {n} samples", 4 * n**2, instead)
        self.matrix = np.zeros((n - 1, n - 1), np.int32)
        self._lock = Lock()

    def add(self, rows: slice, first: int, given: Floats, shown: Floats) -> None:
        from protolearn.metrics._kernels import count_pairs

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
    from protolearn.metrics._kernels import order_rows

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
