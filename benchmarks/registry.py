"""Who is compared: every competitor is a small function that fits one method of one library.

Libraries are imported inside the functions, because each function runs in the environment of its own library.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

__all__ = ["COMPETITORS", "FLOOR", "FLOOR_IN_CHUNKS", "OURS", "Competitor", "competitor"]

OURS = "protolearn"
FLOOR = "matrix products alone"
FLOOR_IN_CHUNKS = f"{FLOOR}, in chunks"

Fit = TypeVar("Fit", bound=Callable[..., Any])


@dataclass(frozen=True)
class Competitor:
    """One method of one library on one task."""

    name: str
    task: str
    package: str
    environment: str
    threads: tuple[int, ...]
    fit: Callable[..., Any]
    alike: bool = True  # does the same kind of work, or stands there for orientation only
    sizes: tuple[str, ...] | None = None  # of the task that it does, if not all


COMPETITORS: list[Competitor] = []


def competitor(
    name: str,
    *tasks: str,
    package: str,
    environment: str = "peers",
    threads: tuple[int, ...] = (1,),
    alike: bool = True,
    sizes: tuple[str, ...] | None = None,
) -> Callable[[Fit], Fit]:
    """Register a fit function for the given tasks."""

    def register(fit: Fit) -> Fit:
        COMPETITORS.extend(Competitor(name, task, package, environment, threads, fit, alike, sizes) for task in tasks)
        return fit

    return register
