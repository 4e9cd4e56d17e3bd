"""Weights of samples as counts, and the factors of their classes.

Weights of samples are counts: a weight of 3 is the sample three times. Weights that cannot be counts, with a mean below
one or values above 2**32, are shares of the samples, and only their ratios matter. Factors of classes are relative too:
they never reduce the total, so that they do not make a few samples of many.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import compute_class_weight

from protolearn.core.types import Array, Bools, Floats
from protolearn.core.validation import check_weights

__all__ = ["as_counts", "class_factors", "counted"]

MOST_COPIES = 2.0**32


def as_counts(weights: Array) -> Floats:
    """Return weights as counts; those that cannot be any, such as shares or huge numbers, are made one on average.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.core.weights import as_counts
    >>> as_counts(np.array([1.0, 3.0])), as_counts(np.array([0.25, 0.75]))
    (array([1., 3.]), array([0.5, 1.5]))
    """
    n, total = np.count_nonzero(weights), weights.sum()
    return weights * (n / total) if total < n or weights.max() > MOST_COPIES else weights.astype(np.float64)


def class_factors(class_weight: dict[Any, float] | str | None, classes: Array, masses: Floats) -> Floats:
    """Return the factor on the weights of each class, which leaves their total or raises it.

    Parameters
    ----------
    class_weight : dict, "balanced" or None
        Weights of the classes, as in scikit-learn.
    classes : ndarray of shape (C,)
        The classes.
    masses : ndarray of shape (C,)
        Total weight of the samples of each class, so that factors are the same for weights and for copies.

    Returns
    -------
    ndarray of shape (C,)
        The factors.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.core.weights import class_factors
    >>> classes, masses = np.array(["a", "b"]), np.array([1.0, 3.0])
    >>> class_factors("balanced", classes, masses).round(2), class_factors({"a": 0.5, "b": 0.1}, classes, masses)
    (array([2.  , 0.67]), array([2.5, 0.5]))
    """
    if class_weight == "balanced":
        return masses.sum() / (len(classes) * masses)
    given = np.asarray(compute_class_weight(class_weight, classes=classes, y=classes), np.float64)
    factors = check_weights(given, len(classes), np.float64)
    return factors * max(1.0, masses[factors > 0].sum() / (factors @ masses))


def counted(
    labels: Array, sample_weight: ArrayLike | None, class_weight: dict[Any, float] | str | None = None
) -> tuple[Bools, Floats, Floats]:
    """Return which samples have a weight, how often each of these counts, and the factor of each of their classes.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.core.weights import counted
    >>> present, counts, factors = counted(np.array(["a", "b", "b", "c"]), [1, 2, 1, 0], "balanced")
    >>> present.tolist(), counts.tolist(), factors.round(2).tolist()
    ([True, True, True, False], [1.0, 2.0, 1.0], [2.0, 0.67])
    """
    weights = check_weights(sample_weight, len(labels), np.float64)
    present = weights > 0
    classes, codes = np.unique(labels[present], return_inverse=True)
    counts = as_counts(weights[present])
    factors = class_factors(class_weight, classes, np.bincount(codes, counts).astype(np.float64))
    kept = factors[codes] > 0
    present[present] = kept
    return present, counts[kept], factors[factors > 0]
