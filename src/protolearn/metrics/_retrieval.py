"""Precision of retrieval."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import column_or_1d

from protolearn.core.parameters import integer
from protolearn.core.types import Floats

__all__ = ["precision_at_k", "precision_curve"]


def precision_at_k(neighbor_labels: ArrayLike, labels: ArrayLike, k: int = 11) -> float:
    """Return the precision at k, the mean fraction of the first k results that have the label of the query.

    Parameters
    ----------
    neighbor_labels : array-like of shape (n_queries, n_results)
        Labels of the results of each query, in order of distance.
    labels : array-like of shape (n_queries,)
        Labels of the queries.
    k : int, default=11
        Number of results to evaluate; at most n_results.

    Returns
    -------
    float
        1 if all evaluated results have the label of their query.

    See Also
    --------
    precision_curve : Precision for several k.

    Examples
    --------
    >>> from protolearn.metrics import precision_at_k
    >>> precision_at_k([["red", "blue"], ["red", "red"]], ["red", "red"], k=2)
    0.75
    """
    return float(precision_curve(neighbor_labels, labels, [k])[0])


def precision_curve(
    neighbor_labels: ArrayLike, labels: ArrayLike, ks: Iterable[int] | None = None, *, average: bool = True
) -> Floats:
    """Return the precision at k for several k, the fraction of the first k results that have the label of the query.

    Parameters
    ----------
    neighbor_labels : array-like of shape (n_queries, n_results)
        Labels of the results of each query, in order of distance.
    labels : array-like of shape (n_queries,)
        Labels of the queries.
    ks : iterable of int, optional
        Numbers of results; by default 1, ..., n_results.
    average : bool, default=True
        Whether to return means over the queries instead of the precision of each query.

    Returns
    -------
    ndarray of shape (n_ks,) or (n_queries, n_ks)
        Precision, between 0 and 1.

    See Also
    --------
    protolearn.applications.retrieval_rates : Cross-validated precision curves with standard errors.

    Examples
    --------
    >>> from protolearn.metrics import precision_curve
    >>> precision_curve([["red", "blue"], ["red", "red"]], ["red", "red"])
    array([1.  , 0.75])
    >>> precision_curve([["red", "blue"], ["red", "red"]], ["red", "red"], [2], average=False)
    array([[0.5],
           [1. ]])
    """
    found, wanted = np.asarray(neighbor_labels), column_or_1d(labels)
    if found.ndim != 2 or len(found) != len(wanted) or not found.size:
        raise ValueError(
            f"neighbor_labels has shape {found.shape} and labels {wanted.shape}; expected (n_queries, n_results) and "
            "(n_queries,), with at least one of each."
        )
    sizes = range(1, found.shape[1] + 1) if ks is None else list(ks)
    integer(1, found.shape[1]).check_each("k", sizes, ", the number of results")
    counts = np.cumsum(found == wanted[:, None], axis=1)
    shares = counts[:, [k - 1 for k in sizes]] / np.asarray(sizes, dtype=np.float64)
    return shares.mean(axis=0) if average else shares
