"""Names that are no longer there: what to write instead."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["gone"]


def gone(package: str, instead: Mapping[str, str]) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of a package, which says what to write in place of names that are gone.

    Parameters
    ----------
    package : str
        Name of the package.
    instead : mapping
        What to write, in one sentence, by the name that is gone.

    Returns
    -------
    callable
        Function that raises ``ImportError`` for names that are gone, which an import shows as it is, and
        ``AttributeError`` for others.

    Examples
    --------
    >>> look_up = gone("animals", {"dodo": "Use pigeon."})
    >>> look_up("dodo")
    Traceback (most recent call last):
    ...
    ImportError: animals.dodo is gone. Use pigeon.
    """

    def look_up(name: str) -> Any:
        if name in instead:
            raise ImportError(f"{package}.{name} is gone. {instead[name]}")
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return look_up
