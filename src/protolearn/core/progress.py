"""What estimators print while they learn."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Progress"]


@dataclass(frozen=True)
class Progress:
    """Lines on how far something is: none, about ten (``verbose=1``), or all.

    Examples
    --------
    >>> progress = Progress("SOM", 20, verbose=1, unit="epoch")
    >>> for epoch in range(1, 4):
    ...     progress.step(epoch, range=8 / epoch, cost=1 / 3)
    [SOM] epoch 1/20  range 8  cost 0.333333
    [SOM] epoch 2/20  range 4  cost 0.333333
    """

    name: str
    total: int
    verbose: int
    unit: str = "iteration"

    def step(self, done: int, new: int = 1, **values: float | None) -> None:
        """Print a line, if one is due."""
        if self.due(done, new):
            self.tell(done, **values)

    def due(self, done: int, new: int = 1) -> bool:
        """Tell whether so many steps, the last ``new`` of them since it was asked before, are worth a line."""
        passed = done == 1 or 10 * done // self.total > 10 * (done - new) // self.total
        return self.verbose > 1 or (bool(self.verbose) and passed)

    def note(self, text: str) -> None:
        """Print a remark; without ``verbose`` print none."""
        if self.verbose:
            print(f"[{self.name}] {text}", flush=True)

    def tell(self, done: int, **values: float | None) -> None:
        """Print a line with values, of those that are None with their names alone; without ``verbose`` print none."""
        if self.verbose:
            state = [name.replace("_", " ") + ("" if x is None else f" {x:.6g}") for name, x in values.items()]
            print("  ".join([f"[{self.name}] {self.unit} {done}/{self.total}", *state]), flush=True)
