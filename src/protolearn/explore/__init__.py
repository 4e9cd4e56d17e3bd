"""Self-contained HTML pages for exploring a fitted model and its samples in a browser."""

from protolearn.explore._page import explore

__all__ = ["explore"]
