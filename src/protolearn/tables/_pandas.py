"""pandas, which only tables need."""

from __future__ import annotations

from importlib import import_module
from typing import Any

__all__ = ["optional", "pandas"]


def pandas() -> Any:
    """Return pandas, or say how to get it."""
    return optional("pandas", "Tables")


def optional(name: str, what: str) -> Any:
    """Return a package of the extra ``files``, or say how to get it."""
    try:
        return import_module(name)
    except ImportError:
        package = name.partition(".")[0]
        raise ImportError(
            f"{what} are read by {package}, which is not installed: pip install protolearn[files]"
        ) from None
