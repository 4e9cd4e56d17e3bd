"""Run the competitors of a task, each in a process of its own: watch the memory, cut off at the budget, judge."""

from __future__ import annotations

import json
import os
import re
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.environments import ROOT, error_line, install, installed_version, interpreter, thread_settings
from benchmarks.registry import COMPETITORS, OURS, Competitor
from benchmarks.tasks import Row, Task

__all__ = ["compete", "run"]

MEGABYTE = 1e6


def run(task: Task, chosen: Callable[[Competitor], bool], repeats: int, budget: float) -> list[Row]:
    """Let every chosen competitor do the task in all its sizes; return the rows with their ratios to ours."""
    return [row for size in task.sizes() for row in _ranking(task, size, chosen, repeats, budget)]


def compete(entry: Competitor, task: Task, size: str, threads: int, repeats: int, budget: float) -> Row:
    """Return one row of the results: times, quality and memory, or what went wrong."""
    row: Row = {"name": entry.name, "threads": threads} | ({"size": size} if size else {})
    problem = install(entry.package, entry.environment)
    if problem:
        return {**row, "problem": problem}
    row["version"] = installed_version(entry.package, entry.environment)

    with tempfile.TemporaryDirectory() as scratch:
        report = Path(scratch) / "report.json"
        command = [interpreter(entry.environment), "-m", "benchmarks.worker"]
        command += [entry.name, task.name, size, task.folder, report, threads]
        command += [min(repeats, task.most_fits or repeats), budget]
        problem, memory = _watch([str(part) for part in command], threads, budget, Path(scratch) / "errors.txt")
        if not report.exists():
            return {**row, "problem": problem or "no result"}
        row |= json.loads(report.read_text())
        result = np.load(report.with_suffix(".npy")) if report.with_suffix(".npy").exists() else None

    row["seconds"] = statistics.median(row["times"])
    row["cpu_seconds"] = statistics.median(row["cpu_times"])
    row["memory_mb"] = memory["RssAnon"] - row.pop("data_bytes") / MEGABYTE
    row["memory_with_files_mb"] = memory["VmHWM"]
    return row | task.judge(row, result)


def _ranking(task: Task, size: str, chosen: Callable[[Competitor], bool], repeats: int, budget: float) -> list[Row]:
    """Return the rows of one size, fastest first, with their ratios to ours on as many threads."""
    with tempfile.TemporaryDirectory() as folder:
        sized = replace(task.sizes()[size], folder=Path(folder))
        sized.write_data()
        rows = [
            compete(entry, sized, size, threads, repeats, budget)
            for entry in COMPETITORS
            if entry.task == task.name and chosen(entry) and (entry.sizes is None or size in entry.sizes)
            for threads in entry.threads
        ]
    ours = {row["threads"]: row for row in rows if row["name"] == OURS}
    for row in rows:
        for quantity in task.compared:
            reference = ours.get(row["threads"], {}).get(quantity)
            row[f"{quantity}_ratio"] = row[quantity] / reference if reference and quantity in row else None
    return sorted(rows, key=lambda row: (row["threads"], row.get(task.compared[0], float("inf"))))


def _watch(command: list[str], threads: int, budget: float, errors: Path) -> tuple[str | None, dict[str, float]]:
    """Run a command in the project; return what went wrong and the peaks of its memory in MB."""
    peaks = {"RssAnon": 0.0, "VmHWM": 0.0}
    environ = {**os.environ, **thread_settings(threads)}
    with errors.open("w") as stream:
        process = subprocess.Popen(command, cwd=ROOT, env=environ, stdout=subprocess.DEVNULL, stderr=stream)
        deadline = time.monotonic() + budget
        while process.poll() is None and time.monotonic() < deadline:
            for kind, megabytes in _memory(process.pid).items():
                peaks[kind] = max(peaks[kind], megabytes)
            time.sleep(0.01)
        cut = process.poll() is None
        process.kill()
        process.wait()
    if cut:
        return f"cut off after {budget:g} s", peaks
    if process.returncode < 0:
        return f"ended by signal {-process.returncode}", peaks
    return (error_line(errors.read_text()) if process.returncode else None), peaks


def _memory(pid: int) -> dict[str, float]:
    """Read the anonymous memory (without mapped files) and the peak with files; empty where the system has no /proc."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return {}
    return {
        kind: int(kilobytes) * 1024 / MEGABYTE for kind, kilobytes in re.findall(r"(RssAnon|VmHWM):\s+(\d+)", status)
    }
