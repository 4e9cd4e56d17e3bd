"""Schedules of the neighborhood range and the learning rate."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from protolearn.core.parameters import option
from protolearn.core.types import Floats

__all__ = ["Schedule", "as_schedule", "constant", "falling", "geometric", "inverse"]

Schedule = Callable[[float, float, int], Floats]


def geometric(start: float, end: float, n_steps: int) -> Floats:
    """Return values that decrease by a constant factor and would reach ``end`` one step after the last.

    Examples
    --------
    >>> geometric(8.0, 1.0, 3)
    array([8., 4., 2.])
    """
    return start * (end / start) ** (np.arange(n_steps) / n_steps)  # Hasenfuss 2009, sec. 2.4


def inverse(start: float, end: float, n_steps: int) -> Floats:
    """Return values that decrease like ``1 / (1 + c t)``, which satisfies the conditions of Robbins and Monro.

    Examples
    --------
    >>> inverse(1.0, 0.25, 3)
    array([1.  , 0.5       , 0.33333333])
    """
    return start / (1.0 + (start / end - 1.0) * np.arange(n_steps) / n_steps)


def constant(start: float, end: float, n_steps: int) -> Floats:
    """Return the constant ``start``.

    Examples
    --------
    >>> constant(2.0, 1.0, 3)
    array([2., 2., 2.])
    """
    return np.full(n_steps, float(start))


def falling(schedule: str | Schedule, start: float, end: float, n_epochs: int, per_epoch: int = 1) -> Floats:
    """Return the values of a schedule, one or several for each epoch.

    Parameters
    ----------
    schedule : {"geometric", "inverse", "constant"} or callable
        Type of decay, see `as_schedule`.
    start, end : float
        Initial and final value.
    n_epochs : int
        Number of epochs.
    per_epoch : int, default=1
        Number of values for each epoch.

    Returns
    -------
    ndarray of shape (n_epochs * per_epoch,)
        The values.

    Examples
    --------
    >>> from protolearn.core.schedules import falling
    >>> falling("geometric", 8.0, 1.0, 3).round(6).tolist()
    [8.0, 4.0, 2.0]
    >>> falling(lambda start, end, n_steps: [start], 8.0, 1.0, 3)
    Traceback (most recent call last):
    ...
    ValueError: The schedule must give max_iter=3 positive numbers; it gave [8.] of shape (1,).
    """
    n_steps = n_epochs * per_epoch
    values = np.asarray(as_schedule(schedule)(start, end, n_steps), dtype=np.float64)
    if values.shape != (n_steps,) or not (np.isfinite(values) & (values > 0)).all():
        wanted = f"n_steps={n_steps}, {per_epoch} an epoch," if per_epoch > 1 else f"max_iter={n_steps}"
        raise ValueError(
            f"The schedule must give {wanted} positive numbers; it gave {np.round(values[:5], 6)}"
            f"{' ...' if values.size > 5 else ''} of shape {values.shape}."
        )
    return values


def as_schedule(schedule: str | Schedule) -> Schedule:
    """Return the named schedule, or the given function ``(start, end, n_steps) -> values``.

    Examples
    --------
    >>> as_schedule("constant")(3.0, 1.0, 2)
    array([3., 3.])
    """
    if callable(schedule):
        return schedule
    named = {"geometric": geometric, "inverse": inverse, "constant": constant}
    option(*named).check("schedule", schedule, " or a function (start, end, n_steps) -> values")
    return named[schedule]
