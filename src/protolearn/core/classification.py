"""Class probabilities of nearest-prototype classifiers: distances from the classes, and one temperature for them."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import softmax

from protolearn.core.parameters import number
from protolearn.core.types import Array, Bools, Floats, Indices

__all__ = [
    "acceptance_radii",
    "best_temperature",
    "check_reject",
    "fold_numbers",
    "nearest_of_classes",
    "novelty",
    "relative_similarity",
    "shares_at",
    "with_rejects",
]

FLATTEST, STEEPEST = 1e-6, 1e12  # inverse temperatures, in units of the mean distance


def shares_at(temperature: float, D: Floats) -> Floats:
    """Return probabilities (n, C), in proportion to ``exp(-D / T)``; the class at the smallest D has the largest.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.core.classification import shares_at
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
    >>> from protolearn.core.classification import best_temperature
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
    >>> from protolearn.core.classification import fold_numbers
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


BEGIN = 0.05  # share of the samples of other classes that lie nearer to a prototype than where these begin


def relative_similarity(distances: Array, labels: Array, logarithmic: bool = False) -> Floats:
    """Return ``(d- - d+) / (d- + d+)`` of each sample, from its distances (n, k) to prototypes with labels (k,).

    ``d+`` is the smallest distance and ``d-`` the smallest to a prototype of another label than the nearest: 0 on a
    border, 1 on a prototype. If distances are twice the negative logarithm of a density, ``(p+ - p-) / (p+ + p-)``.

    Examples
    --------
    >>> import numpy as np
    >>> relative_similarity(np.array([[1.0, 2.0, 3.0]]), np.array(["a", "a", "b"]))
    array([0.5])
    """
    winners = distances.argmin(axis=1)
    own = distances[np.arange(len(distances)), winners]
    rivals = labels[winners][:, None] != labels
    other = np.where(rivals, distances, np.inf).min(axis=1)
    certain = np.isinf(other)
    if logarithmic:
        return np.where(certain, 1.0, np.tanh(0.25 * np.where(certain, 0.0, other - own)))
    apart = ~certain & (other > own)
    similarity = np.divide(other - own, other + own, out=np.zeros(len(distances)), where=apart)
    return np.where(certain, 1.0, similarity)


def novelty(distances: Floats, radii: Floats) -> Floats:
    """Return the smallest ratio of distance and radius over all prototypes; it is above one outside all radii.

    Examples
    --------
    >>> import numpy as np
    >>> novelty(np.array([[1.0, 8.0], [3.0, 8.0], [0.0, 8.0]]), np.array([2.0, 4.0]))
    array([0.5, 1.5, 0. ])
    """
    ratios = np.divide(distances, radii, out=np.where(distances > 0, np.inf, 0.0), where=radii > 0)
    return ratios.min(axis=1)


def acceptance_radii(
    distances: Floats, codes: Indices, y: Indices, u: Floats, contamination: float, before: Floats | None = None
) -> Floats:
    """Return a radius (k,) for each prototype, in the unit of the squared distances (n, k) of the training samples.

    Radii are proportional to the mean of two distances: the mean distance of the samples for which the prototype is the
    nearest one of their class, and the distance at which other classes begin, the ``BEGIN`` quantile of their samples.
    The factor is chosen such that a fraction ``contamination`` of the samples, by weight, lies outside all radii. One
    sample at the mean distance of its class is added to each prototype, which regularizes the radii of prototypes with
    few samples. If a batch contains no samples of a class, the radii of the class do not change.

    Examples
    --------
    >>> import numpy as np
    >>> D = np.array([[1.0, 50.0], [3.0, 50.0], [20.0, 4.0], [20.0, 12.0]])
    >>> acceptance_radii(D, np.array([0, 1]), np.array([0, 0, 1, 1]), np.ones(4), 0.0).round(6)
    array([ 4.551724, 12.      ])
    """
    own = np.where(y[:, None] == codes, distances, np.inf)
    nearest, size = own.argmin(axis=1), own.min(axis=1)
    k, n_classes = len(codes), int(max(codes.max(), y.max())) + 1
    mass = np.bincount(y, u, n_classes)
    known = mass[codes] > 0
    of_class = np.divide(np.bincount(y, u * size, n_classes), mass, out=np.zeros(n_classes), where=mass > 0)[codes]
    typical = (np.bincount(nearest, u * size, k) + of_class) / (np.bincount(nearest, u, k) + 1.0)
    shapes = typical.copy()
    for p in np.flatnonzero(known):
        others = y != codes[p]
        if others.any():
            shapes[p] = 0.5 * (typical[p] + _quantile(distances[others, p], u[others], BEGIN))
    radii = shapes * _quantile(novelty(distances[:, known], shapes[known]), u, 1.0 - contamination)
    return radii if before is None else np.where(known, radii, before)


def _quantile(values: Floats, u: Floats, share: float) -> float:
    """Return the smallest value up to which at least a share of the weight lies, a little larger against rounding."""
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(u[order])
    first = min(int(np.searchsorted(reached, share * reached[-1] * (1.0 - 1e-12))), len(values) - 1)
    return float(values[order][first]) * (1.0 + 1e-9)


def check_reject(threshold: float, label: Any, classes: Array) -> None:
    """Require a threshold between 0 and 1, and a label for rejected samples of the kind of the classes.

    Parameters
    ----------
    threshold : float
        Parameter ``reject_threshold``.
    label : object
        Parameter ``reject_label``.
    classes : ndarray of shape (n_classes,)
        The classes.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.core.classification import check_reject
    >>> check_reject(0.1, "none", np.array(["ill", "well"]))
    >>> check_reject(0.1, "ill", np.array(["ill", "well"]))
    Traceback (most recent call last):
    ...
    ValueError: reject_label='ill' is one of the classes; choose a label that is none of them.
    """
    number(0, 1).check("reject_threshold", threshold)
    kinds = {"numeric" if np.asarray(part).dtype.kind in "biuf" else "text" for part in (classes, label)}
    if threshold > 0 and len(kinds) > 1:
        raise ValueError(
            f"reject_label={label!r} is not of the type of the classes, {classes.dtype}; "
            "choose a label of the same type, such as 'rejected' for classes that are strings."
        )
    if threshold > 0 and label in classes:
        raise ValueError(f"reject_label={label!r} is one of the classes; choose a label that is none of them.")


def with_rejects(predicted: Array, unsure: Bools, threshold: float, label: Any, classes: Array) -> Array:
    """Return predictions, with the reject label for samples of low confidence.

    Examples
    --------
    >>> import numpy as np
    >>> with_rejects(np.array(["a", "b"]), np.array([True, False]), 0.1, "none", np.array(["a", "b"])).tolist()
    ['none', 'b']
    """
    check_reject(threshold, label, classes)
    return np.where(unsure, np.asarray(label), predicted)
