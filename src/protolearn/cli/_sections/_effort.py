"""How much work the demo does."""

from dataclasses import dataclass

__all__ = ["FULL", "QUICK", "Effort"]


@dataclass(frozen=True)
class Effort:
    """Epochs of each map, digits to learn from, and repetitions of the comparison of classifiers."""

    max_iter: int
    n_digits: int
    n_splits: int


FULL = Effort(max_iter=100, n_digits=1797, n_splits=5)
QUICK = Effort(max_iter=10, n_digits=500, n_splits=2)
