"""Pages to explore fitted models in."""

from pathlib import Path
from typing import Any

__all__ = ["explore"]


def explore(
    model: Any, X: Any, y: Any = None, *, names: Any = None, images: Any = None, texts: Any = None, path: Any
) -> None:
    """Write a page that shows a model."""
    Path(path).write_text(f"<!doctype html><title>protolearn</title><p>{type(model).__name__}", encoding="utf-8")
