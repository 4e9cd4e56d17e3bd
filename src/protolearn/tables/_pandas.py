"""Lazy import of pandas, which only tables need."""

from __future__ import annotations

from importlib import import_module
from typing import Any

__all__ = ["optional", "pandas"]


def pandas() -> Any:
    """Return pandas, or raise an error that explains how to install it."""
    return optional("pandas", "Tables")


def optional(name: str, what: str) -> Any:
    """Return a package of the extra ``files``, or raise an error that explains how to install it."""
    try:
        return import_module(name)
    except ImportError:
        package = name.partition(".")[0]
        raise ImportError(
            f"{what} are read with {package}, which is not installed: pip install 'protolearn[files]'"
        ) from None
