"""All measures of a view in one go."""

from __future__ import annotations

from dataclasses import dataclass, fields

from numpy.typing import ArrayLike

from protolearn.core.types import Floats
from protolearn.metrics._coranking import RankCounts, RankCurves
from protolearn.metrics._label_neighbors import check_labels
from protolearn.metrics._mds import Moments, RankCorrelation
from protolearn.metrics._spaces import check_view, documented, sweep

__all__ = ["ViewQuality", "view_quality"]


@dataclass(frozen=True, eq=False, repr=False)
class ViewQuality(RankCurves):
    """How good a view of data is, at every scale; made by `view_quality`.

    Parameters
    ----------
    k : ndarray of shape (n - 2,)
        Sizes of neighborhoods, 1, ..., n - 2; all curves are for these.
    q_nx, b_nx, lcmc, r_nx : ndarray of shape (n - 2,)
        See the functions of the same names.
    mild_intrusions, mild_extrusions, hard_intrusions : ndarray of shape (n - 2,)
        See `intrusions` and `extrusions`; there are as many hard extrusions as hard intrusions.
    trustworthiness, continuity : ndarray of shape (n - 2,)
        See the functions of the same names. For neighborhoods of half the samples and more, too, 0 is the worst
        possible.
    auc : float
        See `r_nx_auc`.
    q_local, q_global : float
        See `q_local_global`.
    k_max : int
        Size of the neighborhoods at which `lcmc` is highest.
    sammon_stress : float
        See the function of the same name; of the view in its best size.
    pearson, spearman : float
        See `distance_correlation`.
    neighborhood_hit : ndarray of shape (n - 2,) or None
        See the function of the same name; None without labels.
    nearest_neighbor_error : float or None
        See the function of the same name, with one neighbor; None without labels.
    n_unplaced : int
        Number of samples without a position, which are left out.

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

    def __repr__(self) -> str:
        numbers = {field.name: getattr(self, field.name) for field in fields(self)}
        if not self.n_unplaced:
            del numbers["n_unplaced"]
        shown = (f"{name}={value:.4g}" for name, value in numbers.items() if isinstance(value, int | float))
        return f"ViewQuality({', '.join(shown)})"


@documented
def view_quality(
    X: ArrayLike,
    Y: ArrayLike,
    y: ArrayLike | None = None,
    *,
    metric: str = "euclidean",
    n_jobs: int | None = None,
) -> ViewQuality:
    """Measure how well a view shows data: neighbors at every scale, distances and, with labels, classes.

    All measures are made of the same distances, which are computed in blocks and never held: memory grows with the
    number of samples, time with its square.

    Parameters
    ----------
    %(view)s
    y : array-like of shape (n,), optional
        Labels.
    %(options)s

    Returns
    -------
    ViewQuality
        Curves over the size of neighborhoods, and numbers.

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
    n, n_all = len(given), len(placed)
    counts = RankCounts(n, None if y is None else check_labels(y, n_all)[placed])
    moments, ranks = Moments(given, shown), RankCorrelation(given, shown)
    sweep(given, shown, counts, moments, ranks, n_jobs=n_jobs)
    return ViewQuality(
        **vars(counts.curves()),
        sammon_stress=moments.sammon_stress(),
        pearson=moments.correlation(),
        spearman=ranks.correlation(n_jobs),
        neighborhood_hit=None if y is None else counts.neighborhood_hit(),
        nearest_neighbor_error=None if y is None else 1.0 - float(counts.agreement[0]) / n,
        n_unplaced=n_all - n,
    )
