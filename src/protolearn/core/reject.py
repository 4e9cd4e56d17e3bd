"""Reject options of nearest-prototype classifiers: low confidence, or novelty of a sample."""

from __future__ import annotations

from typing import Any

import numpy as np

from protolearn.core.parameters import number
from protolearn.core.types import Array, Bools, Floats, Indices

__all__ = ["acceptance_radii", "check_reject", "novelty", "relative_similarity", "with_rejects"]

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
    >>> from protolearn.core.reject import check_reject
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
