"""Precision of retrieval."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import column_or_1d

from protolearn.core.parameters import constrained, integer, positive
from protolearn.core.types import Floats

__all__ = [
    "precision_at_k",
    "precision_curve",
    "psnr",
]


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


@constrained(peak=positive)
def psnr(original: ArrayLike, decoded: ArrayLike, peak: float = 255) -> float:
    """Return the peak signal-to-noise ratio of a compressed image, in decibels.

    The ratio is ``10 log10(peak^2 / mean squared error)``. The loss is clearly visible below 30 dB and hardly visible
    above 40 dB.

    Parameters
    ----------
    original, decoded : array-like of the same shape
        Images; the values of all pixels and color channels have equal weight.
    peak : float, default=255
        Largest possible value of a pixel.

    Returns
    -------
    float
        The ratio; infinite if the images are equal.

    Examples
    --------
    >>> psnr([[0, 255], [255, 0]], [[0, 255], [255, 255]])
    6.02...
    >>> psnr([[7]], [[7]])
    inf
    """
    first, second = np.asarray(original, dtype=np.float64), np.asarray(decoded, dtype=np.float64)
    if first.shape != second.shape or first.size == 0:
        raise ValueError(f"Images must have the same shape and not be empty; got {first.shape} and {second.shape}.")
    error = np.mean((first - second) ** 2)
    return float(10 * np.log10(peak**2 / error)) if error > 0 else float("inf")
