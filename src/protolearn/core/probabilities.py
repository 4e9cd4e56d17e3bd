"""Class probabilities of nearest-prototype classifiers: distances from the classes, and one temperature for them."""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq
from scipy.special import softmax

from protolearn.core.types import Array, Floats, Indices

__all__ = ["best_temperature", "fold_numbers", "nearest_of_classes", "shares_at"]

FLATTEST, STEEPEST = 1e-6, 1e12  # inverse temperatures, in units of the mean distance


def shares_at(temperature: float, D: Floats) -> Floats:
    """Return probabilities (n, C), in proportion to ``exp(-D / T)``; the class at the smallest D has the largest.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.core.probabilities import shares_at
    >>> [shares_at(T, np.array([[1.0, 2.0]])).round(2).tolist() for T in (0.1, 100.0)]  # cold and hot
    [[[1.0, 0.0]], [[0.5, 0.5]]]
    """
    return softmax(-D / temperature, axis=1)


def nearest_of_classes(D: Array, codes: Indices, n_classes: int) -> Floats:
    """Return the smallest of the distances (n, k) to the prototypes of each class; infinite for a class without any.

    Examples
    --------
    >>> import numpy as np
    >>> nearest_of_classes(np.array([[3.0, 1.0, 2.0]]), np.array([0, 0, 1]), 3)
    array([[ 1.,  2., inf]])
    """
    near = np.full((len(D), n_classes), np.inf)
    for p, code in enumerate(codes):
        np.minimum(near[:, code], D[:, p], out=near[:, code])
    return near


def best_temperature(D: Floats, y: Indices, u: Floats) -> float:
    """Return the T for which ``exp(-D / T)``, normalized, fits the classes y of samples with weights u best.

    D (n, C) are distances, or anything else that is small for likely classes. A new sample is taken to be wrong as
    often as if one more had been wrong among these (Laplace's rule), so classes without errors keep a finite T.

    Examples
    --------
    Classes that overlap get a higher temperature than those that are far apart:

    >>> import numpy as np
    >>> from protolearn.core.probabilities import best_temperature
    >>> y, u = np.array([0, 0, 1, 1]), np.ones(4)
    >>> apart = best_temperature(np.array([[0.0, 9.0], [0.0, 9.0], [9.0, 0.0], [9.0, 0.0]]), y, u)
    >>> mixed = best_temperature(np.array([[0.0, 9.0], [9.0, 0.0], [9.0, 0.0], [9.0, 0.0]]), y, u)
    >>> bool(apart < mixed)
    True
    """
    present = np.isfinite(D[0])
    codes = np.cumsum(present)[y] - 1
    D = D[:, present]
    D = D - D.min(axis=1, keepdims=True)  # the same likelihood, without overflow
    scale = float(np.average(D.mean(axis=1), weights=u))
    if scale == 0:
        return 1.0
    D /= scale
    doubt = 1.0 / (u.sum() + 2.0)
    off = doubt / max(D.shape[1] - 1, 1)
    expected = (1.0 - doubt - off) * D[np.arange(len(D)), codes] + off * D.sum(axis=1)

    def slope(inverse: float) -> float:
        shares = softmax(-inverse * D, axis=1)
        return float(u @ (np.einsum("ij,ij->i", shares, D) - expected))

    if slope(FLATTEST) <= 0:  # no better than chance
        return scale / FLATTEST
    high = 1.0
    while slope(high) > 0 and high < STEEPEST:
        high *= 4.0
    return scale / (brentq(slope, FLATTEST, high, xtol=1e-12, rtol=1e-12) if high < STEEPEST else high)


def fold_numbers(X: Array, y: Indices, counts: Floats, n_folds: int, needed: Indices) -> Indices:
    """Return the fold (n,) that each sample is held out in, for a cross-validation within each class; -1 for none.

    Samples are dealt out in the order of their values, so neither their order matters, nor whether one comes twice or
    counts twice. One that does will likely come again, and without it a model would still know its like, so it is not
    held out. Nor is a class of which fewer different samples than ``needed`` (one number for each class) would be left.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Samples.
    y : ndarray of shape (n,)
        Their class codes.
    counts : ndarray of shape (n,)
        How often each sample counts.
    n_folds : int
        Number of folds.
    needed : ndarray of shape (n_classes,)
        Number of different samples that each class must keep.

    Returns
    -------
    ndarray of shape (n,)
        The folds.

    Examples
    --------
    The sample that comes twice is never held out:

    >>> import numpy as np
    >>> from protolearn.core.probabilities import fold_numbers
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0], [3.0]])
    >>> fold_numbers(X, np.zeros(5, int), np.ones(5), 2, np.array([1])).tolist()
    [0, 1, 0, -1, -1]
    """
    folds = np.full(len(X), -1)
    known = np.nan_to_num(X)
    for code in np.unique(y):
        own = np.flatnonzero(y == code)
        different, number = np.unique(known[own], axis=0, return_inverse=True)
        number = number.reshape(-1)
        single = np.bincount(number, counts[own]) < 2.0 - 1e-9
        if len(different) - np.ceil(single.sum() / n_folds) >= needed[code]:
            folds[own] = np.where(single, (np.cumsum(single) - 1) % n_folds, -1)[number]
    return folds
