"""Callbacks that monitor training and may stop it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["wants_to_stop"]


def wants_to_stop(callback: Callable[[Any], bool | None] | None, state: Any) -> bool:
    """Call a callback with the current state; return whether it requests to stop.

    Examples
    --------
    >>> wants_to_stop(lambda cost: cost < 0.1, 0.01), wants_to_stop(None, 0.01)
    (True, False)
    """
    if callback is None:
        return False
    try:
        return bool(callback(state))
    except StopIteration:
        return True
