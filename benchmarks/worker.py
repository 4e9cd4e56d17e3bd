"""Run one competitor on one task in this interpreter: a small first fit, then timed fits.

Started by ``benchmarks.runner`` in the competitor's environment. The report is written after every timed fit, so that
a run that is cut off keeps the fits it has finished.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.families import TASKS
from benchmarks.registry import COMPETITORS
from benchmarks.tasks import Task

__all__ = ["hold_to_cores", "main", "work"]


def work(fit: Callable[..., Any], task: Task, repeats: int, budget: float, report: Path) -> None:
    """Time the fits and keep reporting, until the repeats are done or the next one would exceed the budget."""
    data = task.load()
    started = time.perf_counter()
    task.warm_up(fit, data)
    measured: dict[str, Any] = {"first_call": time.perf_counter() - started, "times": [], "cpu_times": []}
    measured["data_bytes"] = sum(array.nbytes for array in data if not isinstance(array, np.memmap))

    outcomes: list[dict[str, float]] = []
    for _ in range(repeats):
        wall, cpu = time.perf_counter(), time.process_time()
        fitted = task.run(fit, data)
        measured["times"].append(time.perf_counter() - wall)
        measured["cpu_times"].append(time.process_time() - cpu)
        facts, result = task.outcome(fitted, data)
        outcomes.append(facts)
        if result is not None:
            np.save(report.with_suffix(".npy"), result)
        medians = {key: statistics.median_low(facts[key] for facts in outcomes) for key in facts}
        report.write_text(json.dumps(measured | medians))
        if time.perf_counter() - started + measured["times"][-1] > budget:
            break


def hold_to_cores(threads: int) -> None:
    """Keep this process on as many cores as it may use threads: JAX does not heed its own settings for that."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-threads:])


def main() -> None:
    """Read the command line that the runner gives."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("name", "task", "size"):
        parser.add_argument(name)
    for name in ("folder", "report"):
        parser.add_argument(name, type=Path)
    parser.add_argument("threads", type=int)
    parser.add_argument("repeats", type=int)
    parser.add_argument("budget", type=float)
    given = parser.parse_args()

    hold_to_cores(given.threads)
    task = replace(TASKS[given.task].sizes()[given.size], folder=given.folder)
    (fit,) = (entry.fit for entry in COMPETITORS if (entry.name, entry.task) == (given.name, given.task))
    work(fit, task, given.repeats, given.budget, given.report)


if __name__ == "__main__":
    main()
