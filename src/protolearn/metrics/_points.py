"""Trustworthiness and continuity of a view for each sample."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from protolearn.core.chunks import HELD, row_blocks
from protolearn.core.parameters import constrained, integer, none
from protolearn.core.sheets import import_pandas
from protolearn.core.threads import Threads, chunk_threads
from protolearn.core.types import Floats
from protolearn.metrics._neighborhood import check_below_half
from protolearn.metrics._spaces import ALL, Rows, check_view, documented

__all__ = ["PointQuality", "point_quality"]


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
        from protolearn.metrics._coranking_kernels import excess_of_ranks

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
