"""The part of a page that is about a map."""

from __future__ import annotations

from typing import Any

__all__ = ["map_part"]


def map_part(model: Any, last: Any, X: Any, y: Any) -> dict[str, Any]:
    """Return what the page needs of a map."""
    return {"kind": "map", "subtitle": "", "map": {}}
