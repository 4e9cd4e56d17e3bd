"""The warning of a fit that iterates until it converges, and was stopped before it did."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sklearn.exceptions import ConvergenceWarning

__all__ = ["unfinished", "warn_unconverged"]

LIBRARIES = ("protolearn", "sklearn")  # through which a fit is called


def warn_unconverged(estimator: Any, max_iter: int, state: str = "", advice: str = "") -> None:
    """Warn that a fit stopped at ``max_iter``, at the line of the user that asked for it.

    Parameters
    ----------
    estimator : object
        What was fitted.
    max_iter : int
        The number of iterations it was allowed.
    state : str, default=""
        How far from convergence it still is.
    advice : str, default=""
        What to do about it, if that is not to raise ``max_iter``, or ``tol`` of an estimator that has one.

    Examples
    --------
    >>> import warnings
    >>> from protolearn import KMeans
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warn_unconverged(KMeans(), 3)
    >>> print(caught[0].message)
    KMeans stopped after max_iter=3 iterations, before it converged. Raise max_iter; or raise tol, if the result is good
    enough.
    """
    where = f": {state}" if state else ""
    usual = (
        "Raise max_iter; or raise tol, if the result is good enough."
        if hasattr(estimator, "tol")
        else "Raise max_iter."
    )
    warnings.warn(
        f"{type(estimator).__name__} stopped after max_iter={max_iter} iterations, before it converged{where}. "
        f"{advice or usual}",
        ConvergenceWarning,
        stacklevel=_user_level(),
    )


@contextmanager
def unfinished() -> Iterator[None]:
    """Let fits inside stop before they converge, without a warning.

    Examples
    --------
    >>> with unfinished():
    ...     warn_unconverged(object(), 3)
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield


def _user_level() -> int:
    """Return the stack level, seen from the function that calls this, of the first line of somebody else."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in LIBRARIES:
        frame, level = frame.f_back, level + 1
    return level
