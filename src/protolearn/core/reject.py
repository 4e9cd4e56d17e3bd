"""When a nearest-prototype classifier is too unsure to answer: relative similarity, and labels for rejected samples."""

from __future__ import annotations

from typing import Any

import numpy as np

from protolearn.core.parameters import number
from protolearn.core.types import Array, Bools, Floats

__all__ = ["check_reject", "relative_similarity", "with_rejects"]


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


def check_reject(threshold: float, label: Any, classes: Array) -> None:
    """Require a threshold between 0 and 1, and a label for rejected samples of the kind of the classes."""
    number(0, 1).check("reject_threshold", threshold)
    kinds = {"numeric" if np.asarray(part).dtype.kind in "biuf" else "text" for part in (classes, label)}
    if threshold > 0 and len(kinds) > 1:
        raise ValueError(
            f"reject_label={label!r} is not of the kind of the classes {classes.dtype}; "
            "choose a label of the same kind, such as 'rejected' for classes that are strings."
        )
    if threshold > 0 and label in classes:
        raise ValueError(f"reject_label={label!r} is one of the classes; choose a label that is none of them.")


def with_rejects(predicted: Array, unsure: Bools, threshold: float, label: Any, classes: Array) -> Array:
    """Return predictions with the label of rejected samples where they are unsure.

    Examples
    --------
    >>> import numpy as np
    >>> with_rejects(np.array(["a", "b"]), np.array([True, False]), 0.1, "none", np.array(["a", "b"])).tolist()
    ['none', 'b']
    """
    check_reject(threshold, label, classes)
    return np.where(unsure, np.asarray(label), predicted)
