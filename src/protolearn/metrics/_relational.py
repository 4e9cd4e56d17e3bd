"""Cost functions of clusterings and maps, computed from dissimilarities."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_array, column_or_1d

from protolearn.dissimilarities import check_dissimilarities

__all__ = ["dual_cost", "intra_cluster_cost"]


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


def dual_cost(S: ArrayLike, weights: ArrayLike) -> float:
    r"""Return the dual cost of a map, which does not depend on prototypes.

    .. math:: E = \frac{1}{4} \sum_i \frac{1}{\sum_l h_{il}} \sum_{s, t} h_{is} h_{it} s_{st}

    For vectors, the dual cost equals ``1/2 sum_ij h_ij |x_j - w_i|^2`` with the optimal prototypes ``w_i``, the
    weighted means. Use it to compare maps of any dissimilarities, including relational maps with maps of vectors.

    Parameters
    ----------
    S : array-like of shape (n, n)
        Squared dissimilarities; they may be negative.
    weights : array-like of shape (k, n)
        Weight of each object for each prototype: ``h_ij`` times the weight of the object, at least 0. Rows need not sum
        to one. Prototypes whose weights are all zero do not contribute to the cost.

    Returns
    -------
    float
        The cost.

    References
    ----------
    Hasenfuss, A. (2009). Topographic Mapping of Dissimilarity Datasets. PhD thesis, TU Clausthal, eq. 4.14.

    Examples
    --------
    The prototype of two points at a squared distance of 4 is their midpoint:

    >>> from protolearn.metrics import dual_cost
    >>> dual_cost([[0, 4], [4, 0]], [[1, 1]])
    1.0
    """
    matrix = check_dissimilarities(S, squared=True).astype(np.float64, copy=False)
    h = check_array(weights, dtype=np.float64, input_name="weights")
    if h.shape[1] != len(matrix):
        raise ValueError(
            f"weights.shape == {h.shape}, expected (k, {len(matrix)}): one row for each prototype, one column for each "
            "object of S."
        )
    if h.min() < 0:
        raise ValueError(f"weights contains negative values (smallest {h.min():g}); weights must be 0 or more.")
    h = h[h.any(axis=1)]
    within = np.einsum("ij,ij->i", h @ matrix, h)
    return float(0.25 * (within / h.sum(axis=1)).sum())
