"""Agreement between distances in a view and distances or dissimilarities in the data."""

from __future__ import annotations

from threading import Lock

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import pdist
from scipy.stats import rankdata
from sklearn.utils import check_array

from protolearn.core.parameters import constrained, option
from protolearn.core.types import Floats, Indices
from protolearn.metrics._spaces import MeasuredSpace, check_positions, check_spaces, documented, sweep

__all__ = [
    "Moments",
    "RankCorrelation",
    "distance_correlation",
    "sammon_stress",
    "stress",
]

EXACT = 2048  # samples up to which the distances of all pairs are sorted


BUCKETS = 1 << 22  # beyond, distances in a bucket have one rank


ROUNDING = 64 * np.finfo(np.float64).eps  # of squared distances by products, as a share of the largest


TIED = 1e-8  # but not more than this share of themselves: products that cancel more are computed again


SHIFT = 35  # bits of a double that are left out, so that distances in a bucket differ by less than 2^-17 of them


def stress(D: ArrayLike, Y: ArrayLike, nonmetric: bool = False) -> float:
    r"""Return Kruskal's stress-1, the deviation of distances in an embedding from the dissimilarities.

    The stress is

    .. math:: \sqrt{\sum_{i<j} (f(D_{ij}) - d_{ij})^2 \, / \sum_{i<j} d_{ij}^2}

    where :math:`d_{ij}` is the Euclidean distance of the positions i and j, and :math:`f(D_{ij})` is the dissimilarity
    itself or, with ``nonmetric``, its optimal monotone transformation, for which only the order of the dissimilarities
    matters.

    Parameters
    ----------
    D : array-like of shape (n, n)
        Dissimilarities, symmetric; the diagonal is ignored.
    Y : array-like of shape (n, q)
        Positions in the embedding. Objects without a position (rows of NaN) are left out, with a warning.
    nonmetric : bool, default=False
        Whether to compare only the order of the dissimilarities.

    Returns
    -------
    float
        0 for a perfect embedding; by Kruskal's rule of thumb, 0.05 is good, 0.1 fair and 0.2 poor.

    References
    ----------
    Kruskal, J. B. (1964). Multidimensional scaling by optimizing goodness of fit to a nonmetric hypothesis.
    Psychometrika 29, 1-27.

    Examples
    --------
    >>> D = [[0.0, 1.0, 4.0], [1.0, 0.0, 1.0], [4.0, 1.0, 0.0]]
    >>> Y = [[0.0], [1.0], [2.0]]
    >>> round(stress(D, Y), 2), stress(D, Y, nonmetric=True)
    (0.82, 0.0)
    """
    given = check_array(D, dtype=np.float64, input_name="D")
    positions, placed = check_positions(Y)
    n = len(placed)
    if given.shape != (n, n):
        raise ValueError(f"D has the shape {given.shape}; for {n} positions it must be {(n, n)}.")
    shown, wanted = pdist(positions), given[placed][:, placed][np.triu_indices(len(positions), k=1)]
    if not shown.any():
        raise ValueError("All positions in Y coincide; at least two different positions are needed.")
    if nonmetric:
        from sklearn.isotonic import IsotonicRegression  # here, for it is slow to import

        wanted = IsotonicRegression().fit_transform(wanted, shown)
    return float(np.sqrt(((wanted - shown) ** 2).sum() / (shown**2).sum()))


@documented
def sammon_stress(
    X: ArrayLike,
    Y: ArrayLike,
    scaled: bool = True,
    *,
    metric: str = "euclidean",
    n_jobs: int | None = None,
) -> float:
    r"""Return Sammon's stress, the squared errors of the distances in a view relative to the distances in the data.

    The stress is

    .. math:: E = \frac{1}{\sum_{ij} d_{ij}} \sum_{ij} \frac{(d_{ij} - s\, e_{ij})^2}{d_{ij}}

    over all pairs with :math:`d_{ij} > 0`, where :math:`d_{ij}` are the distances in the data and :math:`e_{ij}` the
    distances in the view. The factor :math:`s = \sum_{ij} e_{ij} / \sum_{ij} (e_{ij}^2 / d_{ij})` minimizes the stress,
    since the scale of a view is arbitrary for many methods, such as t-SNE.

    Parameters
    ----------
    %(view)s
    scaled : bool, default=True
        Whether to fit the factor s; otherwise it is 1, and the stress depends on the scale of the view.
    %(options)s

    Returns
    -------
    float
        0 for a view that preserves all distances; at most 1 with ``scaled``.

    References
    ----------
    Sammon, J. W. (1969). A nonlinear mapping for data structure analysis. IEEE Transactions on Computers C-18,
    401-409.

    Examples
    --------
    >>> from protolearn.metrics import sammon_stress
    >>> X, Y = [[0.0], [1.0], [3.0]], [[0.0], [2.0], [6.0]]
    >>> sammon_stress(X, Y), sammon_stress(X, Y, scaled=False)
    (0.0, 1.0)
    """
    given, shown = check_spaces(X, Y, metric)
    moments = Moments(given, shown)
    sweep(given, shown, moments, above=True, n_jobs=n_jobs)
    return moments.sammon_stress(scaled)


@documented
@constrained(kind=option("spearman", "pearson"))
def distance_correlation(
    X: ArrayLike,
    Y: ArrayLike,
    kind: str = "spearman",
    *,
    metric: str = "euclidean",
    n_jobs: int | None = None,
) -> float:
    """Return the correlation between the distances of all pairs in the data and in a view.

    Parameters
    ----------
    %(view)s
    kind : {"spearman", "pearson"}, default="spearman"
        Rank correlation (distances that are equal up to rounding share their mean rank), or correlation of the
        distances themselves.
    %(options)s

    Returns
    -------
    float
        1 for a view that preserves all distances up to scale and offset (``"pearson"``) or their order
        (``"spearman"``); NaN if all distances in the data or in the view are equal.

    Notes
    -----
    For up to 2048 samples, all distances are sorted. For more samples, distances with a relative difference below 1e-5
    share a rank, as do distances below 1e-9 of the largest distance, which makes the required memory independent of the
    number of pairs. The error of the correlation is then negligible, unless a large part of all distances agrees in
    five digits.

    Examples
    --------
    >>> from protolearn.metrics import distance_correlation
    >>> X, Y = [[0.0], [1.0], [3.0]], [[0.0], [1.0], [9.0]]
    >>> distance_correlation(X, Y), round(distance_correlation(X, Y, "pearson"), 3)
    (1.0, 0.918)
    """
    given, shown = check_spaces(X, Y, metric)
    if kind == "pearson":
        moments = Moments(given, shown)
        sweep(given, shown, moments, above=True, n_jobs=n_jobs)
        return moments.correlation()
    ranks = RankCorrelation(given, shown)
    sweep(given, shown, ranks, above=True, n_jobs=n_jobs)
    return ranks.correlation(n_jobs)


class Moments:
    """Sums over all pairs of powers and products of their distances d in the data and e in the view."""

    def __init__(self, given: MeasuredSpace, shown: MeasuredSpace) -> None:
        n = len(given)
        self.n_pairs = n * (n - 1) // 2
        one = slice(0, 1)  # sums of differences from typical distances do not cancel
        self.origin = float(given.block(one).sum() / (n - 1)), float(shown.block(one).sum() / (n - 1))
        self._parts: dict[int, Floats] = {}

    def add(self, rows: slice, first: int, given: Floats, shown: Floats) -> None:
        """Take in the distances (b, n - first) of some samples to all from ``first`` on."""
        from protolearn.metrics._kernels import add_moments

        sums = np.empty((len(given), 8))
        add_moments(given, shown, rows.start - first, self.origin, sums)
        self._parts[rows.start] = sums.sum(axis=0)

    def correlation(self) -> float:
        """Return Pearson's correlation of both distances."""
        a, b, aa, bb, ab = self._sums()[:5]
        m = self.n_pairs
        return _ratio(ab - a * b / m, aa - a * a / m, bb - b * b / m)

    def sammon_stress(self, scaled: bool = True) -> float:
        """Return Sammon's stress, of the view in its best size or as it is."""
        d, e, ratio = self._sums()[5:]
        if d == 0.0:
            return float("nan")  # all samples coincide
        scale = e / ratio if scaled and ratio else 1.0
        return max(0.0, float((d - 2.0 * scale * e + scale**2 * ratio) / d))

    def _sums(self) -> Floats:
        return np.sum([self._parts[start] for start in sorted(self._parts)], axis=0)  # whichever thread was first


class RankCorrelation:
    """Spearman's correlation of both distances: by sorting few of them, or by counting many in narrow buckets."""

    def __init__(self, given: MeasuredSpace, shown: MeasuredSpace) -> None:
        self.spaces = given, shown
        tops = np.array([given.reach, shown.reach]).view(np.int64) >> SHIFT
        self.bases = int(tops[0]) - BUCKETS + 1, int(tops[1]) - BUCKETS + 1
        self.counts = np.zeros((2, BUCKETS if len(given) > EXACT else 0), np.int64)
        self._lock = Lock()

    def add(self, rows: slice, first: int, given: Floats, shown: Floats) -> None:
        """Take in the distances (b, n - first) of some samples to all from ``first`` on."""
        from protolearn.metrics._kernels import tally

        if len(self.spaces[0]) <= EXACT:
            return
        for distances, base, counts in zip((given, shown), self.bases, self.counts):
            with self._lock:
                tally(distances, rows.start - first, SHIFT, base, counts)

    def correlation(self, n_jobs: int | None = None) -> float:
        """Return the correlation; of many distances after all have been added."""
        if len(self.spaces[0]) <= EXACT:
            ranks = [_ranks(_pairs(space), space.reach) for space in self.spaces]
            x, y = (rank - rank.mean() for rank in ranks)
            return _ratio(x @ y, x @ x, y @ y)
        values = [_centered_ranks(counts) for counts in self.counts]
        products = _Products(self.bases, (values[0], values[1]))
        sweep(*self.spaces, products, above=True, n_jobs=n_jobs)
        x, y = (float(counts @ np.square(value)) for counts, value in zip(self.counts, values))
        return _ratio(sum(products.parts[start] for start in sorted(products.parts)), x, y)


class _Products:
    """Sums of the products of two ranks."""

    def __init__(self, bases: tuple[int, int], values: tuple[Floats, Floats]) -> None:
        self.bases, self.values = bases, values
        self.parts: dict[int, float] = {}

    def add(self, rows: slice, first: int, given: Floats, shown: Floats) -> None:
        from protolearn.metrics._kernels import sum_products

        self.parts[rows.start] = sum_products(given, shown, rows.start - first, SHIFT, self.bases, self.values)


def _pairs(space: MeasuredSpace) -> Floats:
    n = len(space)
    return space.block(slice(0, n))[np.triu_indices(n, 1)]


def _ranks(distances: Floats, reach: float) -> Floats:
    """Return the ranks of distances of at most ``reach``; those that are equal up to rounding share their average."""
    order = np.argsort(distances)
    squares = np.square(distances[order] / (reach or 1.0))
    apart = np.diff(squares) > np.minimum(ROUNDING, TIED * squares[1:])
    ranks = np.empty(len(distances))
    ranks[order] = rankdata(np.concatenate([[0], np.cumsum(apart)]))
    return ranks


def _centered_ranks(counts: Indices) -> Floats:
    """Return the average rank of the members of each bucket, as a share of all, less the average of all."""
    behind = counts.cumsum()
    return (behind - 0.5 * counts) / behind[-1] - 0.5


def _ratio(product: float, first: float, second: float) -> float:
    """Return a correlation from the sums of a product and of both squares."""
    return float(product / np.sqrt(first * second)) if first > 0.0 and second > 0.0 else float("nan")
