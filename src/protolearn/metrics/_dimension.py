"""Estimation of the intrinsic dimension of data."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_array

from protolearn.core.parameters import constrained, integer, option
from protolearn.core.types import Floats

__all__ = ["intrinsic_dimension"]


@constrained(k1=integer(2), average=option("mean", "harmonic"), metric=option("euclidean", "precomputed"))
def intrinsic_dimension(
    X: ArrayLike,
    *,
    k1: int = 6,
    k2: int = 12,
    average: str = "mean",
    metric: str = "euclidean",
    n_jobs: int | None = None,
) -> float:
    r"""Estimate the intrinsic dimension by maximum likelihood from the distances to nearest neighbors.

    In m dimensions, the number of neighbors grows with the m-th power of the distance. With the distance :math:`T_j` of
    a sample to its j-th neighbor, the estimate is

    .. math:: \frac{1}{m_k(x)} = \frac{1}{k - 1} \sum_{j < k} \log \frac{T_k}{T_j} ,

    averaged over all samples and over k from ``k1`` to ``k2``.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features), or (n_samples, n_samples) if ``metric="precomputed"``
        Samples, or their distances. Duplicate samples count once.
    k1, k2 : int, default=6, 12
        Smallest and largest number of neighbors. Small numbers are sensitive to noise, large numbers to curvature;
        compare several.
    average : {"mean", "harmonic"}, default="mean"
        ``"mean"`` averages the estimates of all samples; ``"harmonic"`` averages their inverses, which has less bias
        for few neighbors.
    metric : {"euclidean", "precomputed"}, default="euclidean"
        Content of ``X``: samples, compared by their Euclidean distance, or distances.
    n_jobs : int, optional
        Number of threads of the neighbor search.

    Returns
    -------
    dimension : float
        Estimated dimension. It is too small for high dimensions, for which no number of samples suffices.

    References
    ----------
    Levina, E., Bickel, P. (2005). Maximum likelihood estimation of intrinsic dimension. NIPS 17.

    MacKay, D., Ghahramani, Z. (2005). Comments on "Maximum likelihood estimation of intrinsic dimension".

    Examples
    --------
    >>> from sklearn.datasets import make_s_curve
    >>> from protolearn.metrics import intrinsic_dimension
    >>> round(intrinsic_dimension(make_s_curve(2000, random_state=0)[0]))
    2
    """
    integer(k1).check("k2", k2)
    distances = _neighbor_distances(check_array(X, dtype=np.float64), k2, metric, n_jobs)
    logs = np.log(distances)
    # Levina & Bickel 2005, eq. 8
    inverses = np.stack([logs[:, k - 1] - logs[:, : k - 1].mean(axis=1) for k in range(k1, k2 + 1)], axis=1)
    if average == "harmonic":
        return float((1.0 / np.maximum(inverses.mean(axis=0), np.finfo(float).tiny)).mean())
    counted = inverses > 0.0  # all neighbors may be at the same distance, as on a grid
    if not counted.any():
        raise ValueError("All neighbors of each sample are at the same distance, which gives no estimate; raise k2.")
    return float((1.0 / inverses[counted]).mean())


def _neighbor_distances(X: Floats, k: int, metric: str, n_jobs: int | None) -> Floats:
    """Return the distances (n, k), in order, of distinct samples to their nearest others."""
    from sklearn.neighbors import NearestNeighbors

    if metric == "precomputed":
        if X.shape[0] != X.shape[1]:
            raise ValueError(f"X has the shape {X.shape}; metric='precomputed' needs the distances of all pairs.")
        same = np.tril(X == 0.0, -1).any(axis=1)
        X = X[np.ix_(~same, ~same)]
    else:
        X = np.unique(X, axis=0)
    if len(X) <= k:
        raise ValueError(f"k2={k} needs more than {k} distinct samples, but there are {len(X)}; lower k2.")
    return NearestNeighbors(n_neighbors=k, metric=metric, n_jobs=n_jobs).fit(X).kneighbors()[0]
