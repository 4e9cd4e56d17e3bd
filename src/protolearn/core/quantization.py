"""Quantization error."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from protolearn.core.fitted import nearest_prototypes
from protolearn.core.parameters import constrained, option
from protolearn.core.validation import check_weights, weight_unit

__all__ = ["quantization_error"]


@constrained(reduction=option("mean_distance", "mean_squared", "half_mean", "half_sum"))
def quantization_error(
    X: ArrayLike,
    prototypes: Any,
    *,
    sample_weight: ArrayLike | None = None,
    reduction: Literal["mean_distance", "mean_squared", "half_mean", "half_sum"] = "mean_distance",
) -> float:
    """Return the error of replacing every sample by its nearest prototype.

    With ``e_j = min_i |x_j - w_i|`` and weights ``u_j``, several quantities have this name:

    ==================  =====================================  =================================================
    ``reduction``       formula                                also known as
    ==================  =====================================  =================================================
    ``mean_distance``   ``sum u_j e_j / sum u_j``              the usual quality of a self-organizing map
    ``mean_squared``    ``sum u_j e_j^2 / sum u_j``            distortion
    ``half_mean``       ``1/2 sum u_j e_j^2 / sum u_j``
    ``half_sum``        ``1/2 sum u_j e_j^2``                  cost function of k-means (half its inertia)
    ==================  =====================================  =================================================

    If dissimilarities are not Euclidean, the squares ``e_j^2`` can be negative. They are used unchanged, except in
    ``mean_distance``, where they are set to zero.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Samples; for a relational map, the input of its ``transform``.
    prototypes : array-like of shape (k, d) or fitted estimator
        The prototypes, or a fitted map.
    sample_weight : array-like of shape (n,), optional
        Weight of each sample, 1 by default.
    reduction : {"mean_distance", "mean_squared", "half_mean", "half_sum"}, default="mean_distance"
        Quantity to return, see the table.

    Returns
    -------
    float
        The error; 0 if every sample lies on a prototype.

    References
    ----------
    Hasenfuss, A. (2009). Topographic mapping of dissimilarity datasets, eq. 2.2 (``half_sum``).

    Examples
    --------
    >>> X = [[0.0], [3.0], [9.0], [10.0]]
    >>> quantization_error(X, [[1.0], [9.0]])
    1.0
    >>> quantization_error(X, [[1.0], [9.0]], reduction="half_sum")
    3.0
    """
    _, _, squared = nearest_prototypes(X, prototypes)
    weights, unit = check_weights(sample_weight, len(squared), np.float64), weight_unit(sample_weight)
    errors = np.sqrt(np.maximum(squared, 0.0)) if reduction == "mean_distance" else squared
    scale = 0.5 if reduction.startswith("half") else 1.0
    total = 1.0 / unit if reduction.endswith("sum") else weights.sum()
    return float(scale * (weights @ errors) / total)
