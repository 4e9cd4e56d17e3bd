"""All quality measures of a view (embedding) at once."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from protolearn.core.parameters import constrained, integer, none, option
from protolearn.core.printing import Printed, Sheet, import_pandas
from protolearn.core.threads import HELD, Threads, chunk_threads, row_blocks
from protolearn.core.types import Floats
from protolearn.metrics._coranking import RankCounts, RankCurves
from protolearn.metrics._distances import Moments, RankCorrelation
from protolearn.metrics._neighborhoods import check_below_half, check_labels
from protolearn.metrics._spaces import ALL, MeasuredSpace, Rows, check_view, documented, sweep

__all__ = [
    "PointQuality",
    "ViewQuality",
    "point_quality",
    "view_quality",
]

MOST_SAMPLES = 20_000  # up to which all are measured


LEAST_AUTO = 1000  # of more samples that are measured, however many there are


LEAST_SAMPLED = 100  # so that a group has five


NO_AVERAGES = ("k", "k_max", "q_local", "q_global")  # but sizes of neighborhoods, and what depends on the best one


N_GROUPS = 20  # of measured samples, which differ as much as chance makes them


@dataclass(frozen=True, eq=False, repr=False)
class ViewQuality(RankCurves, Printed):
    """Quality measures of a view at every scale; returned by `view_quality` and printed as a table.

    Parameters
    ----------
    k : ndarray of shape (n - 2,)
        Neighborhood sizes 1, ..., n - 2 of all curves.
    q_nx, b_nx, lcmc, r_nx : ndarray of shape (n - 2,)
        See the functions of the same names.
    mild_intrusions, mild_extrusions, hard_intrusions : ndarray of shape (n - 2,)
        See `intrusions` and `extrusions`; hard extrusions equal hard intrusions.
    trustworthiness, continuity : ndarray of shape (n - 2,)
        See the functions of the same names. Also for neighborhoods of at least half the samples, the worst possible
        value is 0.
    auc : float
        Area under the curve of `r_nx` over the logarithm of the neighborhood size,
        ``sum(r_nx / k) / sum(1 / k)``: 1 for a perfect embedding, about 0 for a random one.
    q_local, q_global : float
        Mean of `q_nx` for local neighborhoods, of up to ``k_max`` samples, and for those of ``k_max`` to n - 1 samples.
    k_max : int
        Size of the neighborhoods at which `lcmc` is highest.
    sammon_stress : float
        See the function of the same name, with ``scaled=True``.
    pearson, spearman : float
        See `distance_correlation`.
    neighborhood_hit : ndarray of shape (n - 2,) or None
        See the function of the same name; None without labels.
    nearest_neighbor_error : float or None
        See the function of the same name, with one neighbor; None without labels.
    n_unplaced : int
        Number of samples without a position, which were left out.
    n_samples : int
        Number of samples whose neighborhoods were evaluated: all, or a random subset.
    standard_errors : dict
        For a random subset, the standard error of each measure by its name, of the same shape as the measure. The
        values that depend on the maximum of a curve have none: ``k_max``, ``q_local`` and ``q_global``.

    References
    ----------
    Lee, J. A., Verleysen, M. (2010). Scale-independent quality criteria for dimensionality reduction. Pattern
    Recognition Letters 31, 2248-2257.

    Lee, J. A., Peluffo-Ordóñez, D. H., Verleysen, M. (2015). Multi-scale similarities in stochastic neighbour
    embedding: reducing dimensionality while preserving both local and global structure. Neurocomputing 169, 246-261.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.metrics import view_quality
    >>> X = np.random.default_rng(0).random((30, 3))
    >>> flat, same = view_quality(X, X[:, :2]), view_quality(X, X)
    >>> flat.k[:3].tolist(), bool(flat.trustworthiness[4] < same.trustworthiness[4])
    ([1, 2, 3], True)
    >>> round(same.auc, 6), round(same.pearson, 6), same.nearest_neighbor_error
    (1.0, 1.0, None)
    """

    sammon_stress: float
    pearson: float
    spearman: float
    neighborhood_hit: Floats | None = None
    nearest_neighbor_error: float | None = None
    n_unplaced: int = 0
    n_samples: int = 0
    standard_errors: dict[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"ViewQuality({', '.join(f'{name}={value}' for name, value in self._numbers().items())})"

    def to_frame(self) -> Any:
        """Return the curves as a pandas DataFrame.

        Returns
        -------
        frame : DataFrame
            One row for each neighborhood size ``k`` and one column for each measure.
        """
        curves = {one.name: getattr(self, one.name) for one in fields(self)}
        curves = {name: values for name, values in curves.items() if name != "k" and hasattr(values, "shape")}
        pd = import_pandas()
        return pd.DataFrame(curves, index=pd.Index(self.k, name="k"))

    def _numbers(self) -> dict[str, str]:
        """Return what is not a curve, as texts, with standard errors where there are some."""
        numbers = {one.name: getattr(self, one.name) for one in fields(self)}
        if not self.n_unplaced:
            del numbers["n_unplaced"]
        if not self.standard_errors:
            del numbers["n_samples"]
        return {
            name: f"{value:.4g}" + (f" ± {self.standard_errors[name]:.1g}" if name in self.standard_errors else "")
            for name, value in numbers.items()
            if isinstance(value, int | float)
        }

    def _sheet(self) -> Sheet:
        return Sheet("", ["measure", "value"], [[name, value] for name, value in self._numbers().items()])


@documented
@constrained(n_samples=integer(LEAST_SAMPLED) | option("auto"))
def view_quality(
    X: ArrayLike,
    Y: ArrayLike,
    y: ArrayLike | None = None,
    *,
    metric: str = "euclidean",
    n_samples: int | str = "auto",
    random_state: int = 0,
    n_jobs: int | None = None,
) -> ViewQuality:
    """Measure the quality of a view: neighborhoods at every scale, distances and, with labels, classes.

    All measures use the same distances, which are computed in blocks and not stored. Memory is linear and time
    quadratic in the number of samples, up to 20,000 samples. For more samples, a random subset is evaluated. Its
    neighbors are ranked among all samples, so every rank-based measure is an unbiased estimate of its value on all
    samples for the same neighborhood size; distances are compared within the subset. The result states the size of the
    subset and contains standard errors.

    Parameters
    ----------
    %(view)s
    y : array-like of shape (n,), optional
        Labels of the samples.
    n_samples : int or "auto", default="auto"
        Number of samples whose neighborhoods are evaluated, at least 100; all samples, if there are fewer. ``"auto"``
        evaluates all of up to 20,000 samples, and for more samples a number that takes about the same time, but at
        least 1,000: 6,666 of 60,000.
    random_state : int, default=0
        Seed of the random subset.
    %(options)s

    Returns
    -------
    ViewQuality
        Curves over the neighborhood size, and summary values.

    Notes
    -----
    The subset is divided into 20 groups, for which all measures are computed separately. The standard error is the
    standard deviation over the groups divided by the square root of 20, times ``sqrt(1 - m / n)`` for m samples out of
    n.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.metrics import view_quality
    >>> X = np.random.default_rng(0).random((50, 3))
    >>> flat = view_quality(X, X[:, :2])
    >>> flat.q_nx.shape, bool(flat.b_nx[4] > 0.0)  # strangers are shown as neighbors
    ((48,), True)
    >>> flat
    ViewQuality(auc=0.33..., q_local=0.36..., q_global=0.77..., k_max=7, sammon_stress=0.09..., pearson=0.72...,
    spearman=0.71...)
    """
    given, shown, placed = check_view(X, Y, metric)
    n, n_unplaced = len(given), len(placed) - len(given)
    counts = RankCounts(n, None if y is None else check_labels(y, len(placed))[placed])
    if isinstance(n_samples, str):
        n_samples = n if n <= MOST_SAMPLES else max(LEAST_AUTO, MOST_SAMPLES**2 // n)
    if n_samples >= n:
        moments, ranks = Moments(given, shown), RankCorrelation(given, shown)
        sweep(given, shown, counts, moments, ranks, n_jobs=n_jobs)
        return ViewQuality(**_measures(counts, moments, ranks, n_jobs), n_unplaced=n_unplaced, n_samples=n)
    drawn = np.random.default_rng(random_state).permutation(n)[:n_samples]
    spreads = _Spreads()
    for rows in np.array_split(drawn, N_GROUPS):
        own = RankCounts(n, counts.labels)
        sweep(given, shown, own, rows=rows, n_jobs=n_jobs)
        counts += own
        spreads.add(_measures(own, *_distances(given.at(rows), shown.at(rows), n_jobs), n_jobs))
    return ViewQuality(
        **_measures(counts, *_distances(given.at(drawn), shown.at(drawn), n_jobs), n_jobs),
        n_unplaced=n_unplaced,
        n_samples=n_samples,
        standard_errors=spreads.errors(np.sqrt(1.0 - n_samples / n)),
    )


def _distances(given: MeasuredSpace, shown: MeasuredSpace, n_jobs: int | None) -> tuple[Moments, RankCorrelation]:
    """Return what is measured of the distances of all pairs."""
    moments, ranks = Moments(given, shown), RankCorrelation(given, shown)
    sweep(given, shown, moments, ranks, above=True, n_jobs=n_jobs)
    return moments, ranks


def _measures(counts: RankCounts, moments: Moments, ranks: RankCorrelation, n_jobs: int | None) -> dict[str, Any]:
    """Return all measures by their names."""
    labeled = counts.labels is not None
    return vars(counts.curves()) | {
        "sammon_stress": moments.sammon_stress(),
        "pearson": moments.correlation(),
        "spearman": ranks.correlation(n_jobs),
        "neighborhood_hit": counts.neighborhood_hit() if labeled else None,
        "nearest_neighbor_error": 1.0 - float(counts.agreement[0]) / counts.n_rows if labeled else None,
    }


class _Spreads:
    """Sums over groups of their measures and of the squares of these."""

    def __init__(self) -> None:
        self.n_groups = 0
        self.sums: dict[str, Any] = {}
        self.squares: dict[str, Any] = {}

    def add(self, measures: dict[str, Any]) -> None:
        """Take in the measures of a group, but for those that are no averages."""
        self.n_groups += 1
        for name, value in measures.items():
            if value is not None and name not in NO_AVERAGES:
                self.sums[name] = self.sums.get(name, 0.0) + value
                self.squares[name] = self.squares.get(name, 0.0) + np.square(value)

    def errors(self, share: float) -> dict[str, Any]:
        """Return the standard errors of means over groups, times a factor."""
        m = self.n_groups
        scale = share / np.sqrt(m * (m - 1))
        return {
            name: scale * np.sqrt(np.maximum(self.squares[name] - np.square(total) / m, 0.0))
            for name, total in self.sums.items()
        }


class PointQuality(NamedTuple):
    """Trustworthiness and continuity of each sample in a view; 1 is best.

    Parameters
    ----------
    trustworthiness : ndarray of shape (n,)
        Low for samples whose neighbors in the view are not neighbors in the data.
    continuity : ndarray of shape (n,)
        Low for samples whose neighbors in the data are not neighbors in the view.

    Examples
    --------
    Two points on a line have exchanged their positions in the view:

    >>> import numpy as np
    >>> from protolearn.metrics import point_quality
    >>> line = np.arange(10.0)[:, None]
    >>> quality = point_quality(line, line[[7, 1, 2, 3, 4, 5, 6, 0, 8, 9]], n_neighbors=2)
    >>> bool(quality.trustworthiness[0] < quality.trustworthiness[4]), float(quality.continuity[4])
    (True, 1.0)
    """

    trustworthiness: Floats
    continuity: Floats

    def to_frame(self) -> Any:
        """Return both measures as a pandas DataFrame.

        Returns
        -------
        frame : DataFrame
            One row for each sample.
        """
        return import_pandas().DataFrame(self._asdict())


@documented
@constrained(n_references=integer(3) | none)
def point_quality(
    X: ArrayLike,
    Y: ArrayLike,
    n_neighbors: int = 5,
    *,
    metric: str = "euclidean",
    n_references: int | None = 20_000,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> PointQuality:
    r"""Measure the neighborhood preservation of a view for each sample.

    `trustworthiness` and `continuity` are means over samples; this function returns their terms,

    .. math:: T_i(k) = 1 - \frac{2}{k (2 n - 3 k - 1)} \sum_{j \in N_i} \max(0, r_{ij} - k)

    where :math:`N_i` are the k nearest neighbors of sample i in the view and :math:`r_{ij}` is the rank of j among the
    neighbors of i in the data, and, for the continuity, the same with both spaces exchanged. A low trustworthiness
    means that the neighbors of a sample in the view are not neighbors in the data: the view has *squeezed* distant
    samples together. A low continuity means that neighbors in the data are not neighbors in the view: the view has
    *torn* a neighborhood apart.

    Parameters
    ----------
    %(view)s
    n_neighbors : int, default=5
        Size ``k`` of the neighborhoods, below half the number of samples, or of references.
    n_references : int or None, default=20000
        Maximum number of reference samples. If there are more samples, this number is drawn at random, and neighbors
        are ranked among these references only. The time is then linear in the number of samples instead of quadratic,
        and neighborhoods are larger, since the k nearest references are farther away than the k nearest samples. None
        compares all pairs.
    random_state : int, RandomState instance or None, default=None
        Seed of the random choice of references.
    %(options)s

    Returns
    -------
    PointQuality
        Named tuple ``(trustworthiness, continuity)`` of arrays of shape (n,) with values from 0 to 1 (best), and NaN
        for samples without a position.

    References
    ----------
    Venna, J., Kaski, S. (2001). Neighborhood preservation in nonlinear projection methods: an experimental study.
    ICANN, 485-491.

    Examples
    --------
    A circle that is cut open is torn only at its ends:

    >>> import numpy as np
    >>> from protolearn.metrics import point_quality
    >>> angle = np.linspace(0.0, 2.0 * np.pi, 40, endpoint=False)[:, None]
    >>> circle = np.hstack([np.cos(angle), np.sin(angle)])
    >>> quality = point_quality(circle, angle, n_neighbors=4)
    >>> np.flatnonzero(quality.continuity < 1.0)
    array([ 0,  1, 38, 39])
    """
    given, shown, placed = check_view(X, Y, metric)
    n = len(given)
    references: Rows = ALL
    if n_references is not None and n > n_references:
        references = np.sort(check_random_state(random_state).choice(n, n_references, replace=False))
    places = np.full(n, -1)  # of samples among the references
    places[references] = np.arange(n)[:n_references]
    n_others = places.max() + (places < 0)
    check_below_half(n_neighbors, int(n_others.min()) + 1)
    excess = np.empty((2, n), np.int64)

    def visit(rows: slice) -> None:
        from protolearn.metrics._kernels import excess_of_ranks

        distances = given.block(rows, references), shown.block(rows, references)
        own = np.flatnonzero(places[rows] >= 0)
        for block in distances:
            block[own, places[rows][own]] = np.inf  # nobody is a neighbor of itself
        for part, (near, far) in zip(excess, (distances[::-1], distances)):
            excess_of_ranks(near, far, n_neighbors, part[rows])

    with chunk_threads(n_jobs) as n_threads:
        list(Threads(n_threads).map(visit, row_blocks(n, 8 * int(n_others.max()), HELD)))
    quality = np.full((2, len(placed)), np.nan)
    quality[:, placed] = 1.0 - 2.0 * excess / (n_neighbors * (2 * n_others - 3 * n_neighbors + 1))
    return PointQuality(*quality)
