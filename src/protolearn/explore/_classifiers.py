"""The part of a page that is about a classifier."""

from __future__ import annotations

from typing import Any

__all__ = ["classifier_part"]


def classifier_part(model: Any, last: Any, X: Any, y: Any) -> dict[str, Any]:
    """Return what the page needs of a classifier."""
    return {"kind": "classifier", "subtitle": "", "classifier": {}}
