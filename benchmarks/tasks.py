"""What every task is to the runner, the worker and the tables: data, a way to judge a result, and columns."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

__all__ = ["TIMES", "WHO", "Column", "Data", "Row", "Task", "per_epoch", "timed"]

Row = dict[str, Any]
Data = tuple[np.ndarray, ...]
Column = tuple[str, str, Callable[[Any], str]]  # title, key of a row, format

WHO: list[Column] = [("competitor", "name", str), ("threads", "threads", str)]
TIMES: list[Column] = [
    ("fits", "times", lambda times: str(len(times))),
    ("first call s", "first_call", "{:.2f}".format),
    ("time s", "seconds", "{:.3f}".format),
    ("cpu s", "cpu_seconds", "{:.3f}".format),
]


@dataclass(frozen=True)
class Task(ABC):
    """One piece of work that every competitor does."""

    name: str
    title: str
    folder: Path = field(default=Path(), kw_only=True)  # holds the data, once they are written
    most_fits: int | None = field(default=None, kw_only=True)  # timed at most, where one takes long enough

    columns: ClassVar[list[Column]]
    compared: ClassVar[tuple[str, ...]]  # quantities set in relation to ours; the first one puts the rows in order

    @abstractmethod
    def describe(self) -> str:
        """State the work in one line."""

    def sizes(self) -> dict[str, Task]:
        """Return the forms in which every competitor does the work, each under the label that its row shows."""
        return {"": self}

    @abstractmethod
    def write_data(self) -> None:
        """Write the data to the folder of the task; a FileNotFoundError says what is missing."""

    @abstractmethod
    def load(self) -> Data:
        """Return the arrays that the competitor's process holds."""

    @abstractmethod
    def warm_up(self, fit: Callable[..., Any], data: Data) -> None:
        """Do a small piece of the work, which pays for imports and compilation."""

    @abstractmethod
    def run(self, fit: Callable[..., Any], data: Data) -> Any:
        """Do the work that is timed."""

    @abstractmethod
    def outcome(self, fitted: Any, data: Data) -> tuple[dict[str, float], np.ndarray | None]:
        """Return facts about a result of ``run``, and the array by which it is judged."""

    @abstractmethod
    def judge(self, row: Row, result: np.ndarray | None) -> Row:
        """Return the quality of a result, and what follows from the measured times."""

    def notes(self, rows: list[Row]) -> list[str]:
        """Return what the figures come to: lines below the table."""
        return []

    def picture(self, rows: list[Row]) -> Any:
        """Return a figure of the results, if the task has one."""
        return None


def timed(work: Callable[..., Any], *arguments: Any) -> tuple[Any, tuple[float, float]]:
    """Return what some work gives, and the seconds that it takes: by the clock, and of the processor."""
    wall, cpu = time.perf_counter(), time.process_time()
    result = work(*arguments)
    return result, (time.perf_counter() - wall, time.process_time() - cpu)


def per_epoch(row: Row, clock: str) -> float:
    """Return the time of an epoch, from the epochs that the whole fit did beyond one with half as many."""
    return (row[clock] - row[f"half_{clock}"]) / (row["epochs"] - row["half_epochs"])
