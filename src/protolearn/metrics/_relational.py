"""The cost of a clustering, computed from dissimilarities."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import column_or_1d

from protolearn.dissimilarities import check_dissimilarities

__all__ = ["intra_cluster_cost"]


def intra_cluster_cost(D: ArrayLike, labels: ArrayLike) -> float:
    r"""Return the cost of a clustering, the sum of all dissimilarities within each cluster divided by its size.

    .. math:: E = \sum_i \frac{1}{|C_i|} \sum_{j, k \in C_i} d_{jk}

    Parameters
    ----------
    D : array-like of shape (n, n)
        Dissimilarities, which are not squared. For squared Euclidean distances, the cost is twice the inertia of
        k-means, and four times the quantization error with ``reduction="half_sum"``.
    labels : array-like of shape (n,)
        Cluster of each object.

    Returns
    -------
    float
        The cost.

    References
    ----------
    Hasenfuss, A. (2009). Topographic Mapping of Dissimilarity Datasets. PhD thesis, TU Clausthal, eq. 4.3.

    Examples
    --------
    >>> from protolearn.metrics import intra_cluster_cost
    >>> D = [[0, 1, 5], [1, 0, 4], [5, 4, 0]]
    >>> intra_cluster_cost(D, ["a", "a", "b"])
    1.0
    >>> intra_cluster_cost(D, ["a", "b", "b"])
    4.0
    """
    matrix = check_dissimilarities(D, squared=True)
    clusters = column_or_1d(labels)
    if len(clusters) != len(matrix):
        raise ValueError(
            f"labels has {len(clusters)} entries, but D is a matrix of {len(matrix)} objects; pass one label for each."
        )
    members = (np.flatnonzero(clusters == cluster) for cluster in np.unique(clusters))
    return float(sum(matrix[np.ix_(m, m)].sum(dtype=np.float64) / len(m) for m in members))
