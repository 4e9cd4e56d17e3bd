"""Earth mover's distance of histograms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from protolearn.dissimilarities._blocks import Floats, all_pairs, optional, rows_of
from protolearn.dissimilarities._vectors import OfVectors

__all__ = ["Transport", "emd"]


def emd(X: Any, Y: Any = None, *, ground: ArrayLike | None = None, n_jobs: int | None = None) -> Floats:
    r"""Return earth mover's distances of histograms, the smallest cost of transporting one histogram to another.

    The distance is :math:`\min \sum_{ab} f_{ab} c_{ab}` over all flows f with :math:`\sum_b f_{ab} = x_a`,
    :math:`\sum_a f_{ab} = y_b` and :math:`f_{ab} \ge 0`.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Histograms: nonnegative numbers in d bins. Each histogram is scaled to sum to one.
    Y : array-like of shape (m, d), optional
        Histograms to compare with. By default, all pairs in ``X`` are compared.
    ground : array-like of shape (d, d), optional
        Distances ``c`` between bins. By default, bins lie on a line at unit distances, and the distance is ``sum
        |cumsum(x) - cumsum(y)|``. With a matrix, a linear program is solved for each pair, which needs the package POT
        (``pip install 'protolearn[transport]'``).
    n_jobs : int, optional
        Number of threads; by default the number of threads of the BLAS library.

    Returns
    -------
    ndarray of shape (n, m)
        Distances, which are a metric if ``ground`` is a metric.

    References
    ----------
    Rubner, Y., Tomasi, C., Guibas, L. (2000). The earth mover's distance as a metric for image retrieval. International
    Journal of Computer Vision 40, 99-121.

    Examples
    --------
    >>> from protolearn.dissimilarities import emd
    >>> emd([[1, 1, 0, 0]], [[0, 1, 1, 0], [0, 0, 1, 1]])
    array([[1., 2.]])
    >>> in_a_ring = [[0, 1, 2, 1], [1, 0, 1, 2], [2, 1, 0, 1], [1, 2, 1, 0]]
    >>> emd([[1, 0, 0, 0]], [[0, 0, 0, 1]], ground=in_a_ring)
    array([[1.]])
    """
    return all_pairs(Transport(ground), X, Y, n_jobs=n_jobs)


@dataclass(eq=False)
class Transport(OfVectors):
    """Earth mover's distance."""

    name = "emd"
    ground: ArrayLike | None = None

    def __post_init__(self) -> None:
        if self.ground is not None:
            optional("ot", "transport", "emd with a ground distance")
            self.ground = _check_ground(self.ground)
            self.grain = 1

    def prepare(self, rows: Floats, name: str) -> Floats:
        """Scale histograms to sum to one; on a line, cumulate them."""
        totals = rows.sum(axis=1, keepdims=True)
        if (rows < 0).any() or not totals.all():
            wrong = int(((rows < 0).any(axis=1) | (totals[:, 0] == 0)).argmax())
            raise ValueError(f"{name}[{wrong}] is not a histogram: its values are negative or all zero.")
        shares = rows / totals
        if self.ground is None:
            return np.cumsum(shares, axis=1)
        if np.shape(self.ground)[0] != rows.shape[1]:
            raise ValueError(f"ground has {np.shape(self.ground)[0]} bins, but {name} has {rows.shape[1]}.")
        return shares

    def block(self, a: Floats, b: Floats, n_threads: int = 1) -> Floats:
        """Return earth mover's distances."""
        if self.ground is None:
            from scipy.spatial.distance import cdist

            return cdist(a, b, "cityblock")
        work = optional("ot", "transport", "emd with a ground distance").emd2
        return np.array([[work(x, y, self.ground) for y in b] for x in a])


def _check_ground(ground: ArrayLike) -> Floats:
    distances = rows_of(ground, "ground", at_least=0.0)
    if (
        distances.shape[0] != distances.shape[1]
        or not np.array_equal(distances, distances.T)
        or np.diag(distances).any()
    ):
        raise ValueError("ground must be a square symmetric matrix of distances between bins, with a zero diagonal.")
    return np.ascontiguousarray(distances)
