"""Warning about training that stopped before it converged."""

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
    """Warn that training stopped at ``max_iter``; the warning points to the user's line of code.

    Parameters
    ----------
    estimator : object
        The fitted estimator.
    max_iter : int
        Maximum number of iterations.
    state : str, default=""
        Description of the remaining distance from convergence.
    advice : str, default=""
        Advice to the user, in place of raising ``max_iter`` or, if the estimator has it, ``tol``.

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
    """Suppress convergence warnings of fits inside the context.

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
