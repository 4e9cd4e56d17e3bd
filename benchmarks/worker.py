"""Run one competitor on one task in this interpreter: a small first fit, then timed fits.

Started by ``benchmarks.runner`` in the competitor's environment. The report is written after every timed fit, so that
a run that is cut off keeps the fits it has finished.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.maps import TASKS, Task
from benchmarks.peers import COMPETITORS, Fit

__all__ = ["hold_to_cores", "main", "work"]

WARM_UP_SAMPLES, WARM_UP_EPOCHS = 2000, 2


def work(fit: Fit, X: np.ndarray, task: Task, repeats: int, budget: float, report: Path) -> None:
    """Time the fits and keep reporting, until the repeats are done or the next one would exceed the budget."""
    started = time.perf_counter()
    fit(X[:WARM_UP_SAMPLES], replace(task, epochs=WARM_UP_EPOCHS))
    first_call = time.perf_counter() - started

    seconds: list[float] = []
    cpu_seconds: list[float] = []
    for _ in range(repeats):
        wall, cpu = time.perf_counter(), time.process_time()
        prototypes, epochs = fit(X, task)
        seconds.append(time.perf_counter() - wall)
        cpu_seconds.append(time.process_time() - cpu)
        if prototypes is not None:
            np.save(report.with_suffix(".npy"), np.reshape(prototypes, (task.n_prototypes, task.n_features)))
        facts = {"first_call": first_call, "times": seconds, "cpu_times": cpu_seconds, "epochs": int(epochs)}
        report.write_text(json.dumps(facts))
        if time.perf_counter() - started + seconds[-1] > budget:
            break


def hold_to_cores(threads: int) -> None:
    """Keep this process on as many cores as it may use threads: JAX does not heed its own settings for that."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-threads:])


def main() -> None:
    """Read the command line that the runner gives."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("name", "task"):
        parser.add_argument(name)
    for name in ("data", "init", "report"):
        parser.add_argument(name, type=Path)
    parser.add_argument("threads", type=int)
    parser.add_argument("repeats", type=int)
    parser.add_argument("budget", type=float)
    given = parser.parse_args()

    hold_to_cores(given.threads)
    task = replace(TASKS[given.task], init=np.load(given.init))
    X = np.load(given.data, mmap_mode="r" if task.memory_map else None)
    (fit,) = (entry.fit for entry in COMPETITORS if (entry.name, entry.task) == (given.name, given.task))
    work(fit, X, task, given.repeats, given.budget, given.report)


if __name__ == "__main__":
    main()
