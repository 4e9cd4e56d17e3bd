"""Pages to explore a fitted model and its samples with, in a browser and without any other file."""

from protolearn.explore._explore import explore

__all__ = ["explore"]
