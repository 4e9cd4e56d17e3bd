"""Base class of error bounds: sums of terms that are printed as a table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import partial
from itertools import count
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_array, column_or_1d

from protolearn.core.parameters import constrained, fraction, integer, none, positive
from protolearn.core.printing import Printed, Sheet, import_pandas
from protolearn.core.samples import all_labels
from protolearn.core.types import Floats
from protolearn.core.validation import check_weights

__all__ = [
    "MarginBound",
    "PrintedBound",
    "classification_margins",
    "margin_bound",
    "margin_error",
    "posterior_margin_bound",
    "ramp_loss",
]


class PrintedBound(Printed):
    """Error bound whose fields are numbers; the bound is the property ``value``."""

    value: Any

    def to_frame(self) -> Any:
        """Return the bound and its terms as a pandas DataFrame.

        Returns
        -------
        frame : DataFrame
            One row, with a column for the value and for each term.
        """
        return import_pandas().DataFrame([self._terms()])

    def _terms(self) -> dict[str, float]:
        return {"value": self.value} | {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]

    def _sheet(self) -> Sheet:
        return Sheet("", ["term", "value"], [[name, f"{number:.4g}"] for name, number in self._terms().items()])


@dataclass(frozen=True)
class MarginBound(PrintedBound):
    """Bound of the generalization error, with all its terms; returned by `margin_bound`.

    The property `value` is the bound, the sum of error, complexity and confidence.

    Parameters
    ----------
    error : float
        Fraction of the samples that are misclassified or have a small margin, see `margin_error`.
    linear, quadratic : float
        Complexities of the linear and of the quadratic part of a classifier with two prototypes.
    fluctuation : float
        Term for the deviation of the complexity on the samples from the expected complexity.
    complexity : float
        Contribution of all pairs of prototypes to the bound.
    confidence : float
        Term for the deviation of the error on the samples from the expected error.
    rho : float
        Smallest margin without loss.
    delta : float
        Probability that the bound does not hold.

    Examples
    --------
    >>> from protolearn.metrics import margin_bound
    >>> bound = margin_bound([0.2, 0.4], n_prototypes=2, radius=1.0, rho=0.4)
    >>> bound.error
    0.25
    >>> bound.value == bound.error + bound.complexity + bound.confidence
    True
    """

    error: float
    linear: float
    quadratic: float
    fluctuation: float
    complexity: float
    confidence: float
    rho: float
    delta: float

    @property
    def value(self) -> float:
        """The bound: error + complexity + confidence. It is informative only if it is below 1."""
        return self.error + self.complexity + self.confidence


def classification_margins(distances: ArrayLike, prototype_labels: ArrayLike, y: ArrayLike) -> Floats:
    """Return the margin of each sample, the difference of its distances to the nearest wrong and correct prototype.

    A margin is positive if and only if the sample is classified correctly. It is the negative numerator of the relative
    distance in the cost function of generalized LVQ.

    Parameters
    ----------
    distances : array-like of shape (n, k)
        Squared distances of samples to prototypes, each in the metric of its prototype.
    prototype_labels : array-like of shape (k,)
        Class of each prototype.
    y : array-like of shape (n,)
        Class of each sample.

    Returns
    -------
    ndarray of shape (n,)
        The margins.

    References
    ----------
    Biehl, M., Hammer, B., Schneider, P. (2006). Matrix Learning in Learning Vector Quantization. Technical Report
    IfI-06-14, TU Clausthal, section 4.

    Examples
    --------
    >>> from protolearn.metrics import classification_margins
    >>> distances = [[1.0, 4.0, 9.0], [4.0, 1.0, 2.0]]
    >>> classification_margins(distances, ["cat", "cat", "dog"], ["cat", "dog"])
    array([ 8., -1.])
    """
    values = check_array(distances, dtype=np.float64, input_name="distances")
    labels, targets = column_or_1d(prototype_labels), all_labels(y, "a margin")
    if values.shape != (len(targets), len(labels)):
        raise ValueError(
            f"distances.shape == {values.shape}, expected ({len(targets)}, {len(labels)}): a row for each sample in y, "
            "and a column for each prototype in prototype_labels."
        )
    correct = targets[:, None] == labels
    for side, found in (("correct", correct), ("wrong", ~correct)):
        if not found.any(axis=1).all():
            lost = targets[~found.any(axis=1)][0]
            raise ValueError(f"Samples of class {lost} have no {side} prototype; every class needs prototypes.")
    nearest_correct = np.where(correct, values, np.inf).min(axis=1)
    nearest_wrong = np.where(correct, np.inf, values).min(axis=1)
    return nearest_wrong - nearest_correct


@constrained(rho=positive)
def ramp_loss(margins: ArrayLike, rho: float) -> Floats:
    r"""Return the ramp loss of each margin: 1 for a misclassified sample, 0 for a large margin, and linear in between.

    :math:`L(t) = 1` for :math:`t \le 0`, :math:`1 - t / \rho` for :math:`0 < t \le \rho`, and 0 beyond.

    Parameters
    ----------
    margins : array-like
        Margins, of any shape.
    rho : float
        Smallest margin without loss; positive.

    Returns
    -------
    ndarray
        The losses, of the shape of the margins.

    References
    ----------
    Biehl, M., Hammer, B., Schneider, P. (2006). Matrix Learning in Learning Vector Quantization. Technical Report
    IfI-06-14, TU Clausthal, section 4.

    Examples
    --------
    >>> from protolearn.metrics import ramp_loss
    >>> ramp_loss([-1.0, 0.0, 0.5, 2.0, 3.0], rho=2.0)
    array([1.  , 1.  , 0.75, 0.  , 0.  ])
    """
    return 1.0 - np.clip(np.asarray(margins, dtype=np.float64), 0.0, rho) / rho


def margin_error(margins: ArrayLike, rho: float, *, sample_weight: ArrayLike | None = None) -> float:
    """Return the mean `ramp_loss`: the training error plus the loss of correct samples with margins below `rho`.

    Parameters
    ----------
    margins : array-like of shape (n,)
        Margin of each sample, see `classification_margins`.
    rho : float
        Smallest margin without loss; positive. The error grows with ``rho``. For small ``rho`` it is the fraction of
        the samples with a margin of 0 or less.
    sample_weight : array-like of shape (n,), optional
        Weight of each sample, 1 by default.

    Returns
    -------
    float
        Between 0 and 1.

    References
    ----------
    Biehl, M., Hammer, B., Schneider, P. (2006). Matrix Learning in Learning Vector Quantization. Technical Report
    IfI-06-14, TU Clausthal, section 4.

    Examples
    --------
    >>> from protolearn.metrics import margin_error
    >>> margins = [-1.0, 0.5, 2.0, 3.0]
    >>> margin_error(margins, rho=2.0), margin_error(margins, rho=0.1)
    (0.4375, 0.25)
    """
    values = _check_margins(margins)
    weights = check_weights(sample_weight, len(values), np.float64)
    return float(weights @ ramp_loss(values, rho) / weights.sum())


@constrained(n_prototypes=integer(2), radius=positive, delta=fraction, constant=positive)
def margin_bound(
    margins: ArrayLike,
    *,
    n_prototypes: int,
    radius: float,
    rho: float,
    delta: float = 0.05,
    constant: float = 1.0,
) -> MarginBound:
    r"""Bound the error of an LVQ classifier on new samples by its margins on the training samples.

    With probability :math:`1 - \delta`, for P prototypes with any metrics of trace 1 and m independent samples, all of
    them within a ball of radius B around the origin, the error on new samples is at most

    .. math::
        E + \frac{2 K}{\rho} P (P - 1) (l + q + \sqrt{8 \ln(4 / \delta) / m}) + \sqrt{\ln(4 / \delta) / (2 m)}

    with the `margin_error` E and the complexities :math:`l = 4 B (B + 1) (B + 2) / \sqrt{m}` and
    :math:`q = 4 B^2 / \sqrt{m}` of the linear and the quadratic part of a difference of two distances.

    Parameters
    ----------
    margins : array-like of shape (m,)
        Margin of each training sample, see `classification_margins`.
    n_prototypes : int
        Number of prototypes P, of all classes together.
    radius : float
        Largest length B of a sample or a prototype. Center the data first to make it small.
    rho : float
        Smallest margin without loss. It must be chosen before the margins are known, see `posterior_margin_bound`.
    delta : float, default=0.05
        Probability that the bound does not hold.
    constant : float, default=1.0
        Universal constant K, whose value is not known from theory.

    Returns
    -------
    MarginBound
        The bound `value` with all its terms.

    Notes
    -----
    The bound depends neither on the number of features nor on the number of parameters of the metrics. It is far from
    tight and below 1 only for very large numbers of samples. Use it to compare the influence of its terms, not to
    predict an error.

    It is derived for two classes, where the classifier is a Boolean formula of the signs of all differences of two
    distances; the same :math:`P (P - 1)` is used for more classes. The report prints :math:`4 B / \sqrt{m}` for the
    quadratic part; but its inputs, the products of two features, have the length :math:`B^2`.

    References
    ----------
    Biehl, M., Hammer, B., Schneider, P. (2006). Matrix Learning in Learning Vector Quantization. Technical Report
    IfI-06-14, TU Clausthal, section 4.

    Bartlett, P. L., Mendelson, S. (2002). Rademacher and Gaussian complexities: risk bounds and structural results.
    Journal of Machine Learning Research 3, 463-482.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.metrics import margin_bound
    >>> margins = np.linspace(-0.1, 0.9, 1_000_000)
    >>> bound = margin_bound(margins, n_prototypes=2, radius=1.0, rho=0.5)
    >>> round(bound.error, 3), round(bound.complexity, 3), round(bound.confidence, 3), round(bound.value, 3)
    (0.35, 0.271, 0.001, 0.623)
    """
    values = _check_margins(margins)
    error = margin_error(values, rho)
    m = len(values)
    # Lemma 22 of Bartlett and Mendelson: 2 |weights| |inputs| / sqrt(m)
    linear = 4 * radius * (radius + 1) * (radius + 2) / np.sqrt(m)
    quadratic = 4 * radius**2 / np.sqrt(m)
    log_odds = np.log(4 / delta)
    fluctuation = np.sqrt(8 * log_odds / m)
    pairs = n_prototypes * (n_prototypes - 1)
    return MarginBound(
        error=error,
        linear=float(linear),
        quadratic=float(quadratic),
        fluctuation=float(fluctuation),
        complexity=float(2 * constant / rho * pairs * (linear + quadratic + fluctuation)),
        confidence=float(np.sqrt(log_odds / (2 * m))),
        rho=rho,
        delta=delta,
    )


@constrained(radius=positive, scale=positive | none)
def posterior_margin_bound(
    margins: ArrayLike,
    *,
    n_prototypes: int,
    radius: float,
    scale: float | None = None,
    priors: ArrayLike | None = None,
    delta: float = 0.05,
    constant: float = 1.0,
) -> MarginBound:
    r"""Bound the generalization error with the margin that gives the smallest bound.

    `margin_bound` holds for a margin that is fixed in advance. This bound holds simultaneously for all margins
    :math:`\rho_i = C / i`, :math:`i = 1, 2, \ldots`, each with a part :math:`p_i \delta` of the probability
    :math:`\delta`, so the smallest of these bounds is valid.

    Parameters
    ----------
    margins : array-like of shape (m,)
        Margin of each training sample, see `classification_margins`.
    n_prototypes : int
        Number of prototypes, of all classes together.
    radius : float
        Largest length B of a sample or a prototype.
    scale : float, optional
        Largest possible margin C. The default :math:`4 B^2` is the largest squared distance in a ball of radius B.
    priors : array-like of shape (q,), optional
        Prior weight :math:`p_i` of each margin: nonnegative numbers with a sum of at most 1. Only the first q margins
        are considered. By default, :math:`p_i = 1 / (i (i + 1))` for all i.
    delta : float, default=0.05
        Probability that the bound does not hold.
    constant : float, default=1.0
        Universal constant, see `margin_bound`.

    Returns
    -------
    MarginBound
        The smallest bound, with its ``rho_i`` and ``p_i delta`` as `rho` and `delta`.

    References
    ----------
    Biehl, M., Hammer, B., Schneider, P. (2006). Matrix Learning in Learning Vector Quantization. Technical Report
    IfI-06-14, TU Clausthal, section 4.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.metrics import posterior_margin_bound
    >>> margins = np.linspace(-0.1, 0.9, 1_000_000)
    >>> bound = posterior_margin_bound(margins, n_prototypes=2, radius=1.0)
    >>> round(bound.rho, 3), round(bound.value, 3)
    (0.571, 0.641)
    """
    values = _check_margins(margins)
    if scale is None:
        scale = 4.0 * radius**2
    bound = partial(margin_bound, values, n_prototypes=n_prototypes, radius=radius, constant=constant)
    widest = bound(rho=scale, delta=delta)
    training_error = float(np.mean(values <= 0))
    candidates = _positive_priors(priors)
    i, prior = next(candidates)
    best = bound(rho=scale / i, delta=prior * delta)
    for i, prior in candidates:
        # No later bound is smaller: the complexity grows at least like i, the error is at least that in training.
        if training_error + i * widest.complexity + widest.confidence >= best.value:
            break
        best = min(best, bound(rho=scale / i, delta=prior * delta), key=attrgetter("value"))
    return best


def _positive_priors(priors: ArrayLike | None) -> Iterator[tuple[int, float]]:
    """Numbers i = 1, 2, ... of margins with their priors, without those that have none."""
    if priors is None:
        return ((i, 1 / (i * (i + 1))) for i in count(1))
    shares = np.asarray(priors, dtype=np.float64)
    if shares.ndim != 1 or not np.all(shares >= 0) or not 0 < shares.sum() <= 1 + 1e-9:
        raise ValueError(f"priors must be nonnegative numbers with a positive sum of at most 1; got {priors!r}.")
    return ((i, float(share)) for i, share in enumerate(shares, start=1) if share > 0)


def _check_margins(margins: ArrayLike) -> Floats:
    return check_array(column_or_1d(margins), ensure_2d=False, dtype=np.float64, input_name="margins")
