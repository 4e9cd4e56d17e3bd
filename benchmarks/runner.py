"""Run a competitor in a process of its own, watch its memory, cut it off at the budget, and judge its prototypes."""

from __future__ import annotations

import json
import os
import re
import statistics
import subprocess
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.environments import ROOT, error_line, install, installed_version, interpreter, thread_settings
from benchmarks.maps import Task, quantisation_error, topographic_error
from benchmarks.peers import Competitor

__all__ = ["compete"]

MEGABYTE = 1e6


def compete(
    entry: Competitor, task: Task, threads: int, data: Path, init: Path, repeats: int, budget: float
) -> dict[str, Any]:
    """Return one row of the results: times, errors and memory, or what went wrong."""
    row: dict[str, Any] = {"name": entry.name, "threads": threads}
    problem = install(entry.package, entry.environment)
    if problem:
        return {**row, "problem": problem}
    row["version"] = installed_version(entry.package, entry.environment)

    report = data.with_name("report.json")
    for leftover in (report, report.with_suffix(".npy")):
        leftover.unlink(missing_ok=True)
    command = [interpreter(entry.environment), "-m", "benchmarks.worker"]
    command += [entry.name, task.name, data, init, report, threads, repeats, budget]
    problem, memory = _watch([str(part) for part in command], threads, budget)
    if not report.exists():
        return {**row, "problem": problem or "no result"}

    row |= json.loads(report.read_text())
    row["seconds"] = statistics.median(row["times"])
    row["cpu_seconds"] = statistics.median(row["cpu_times"])
    row["seconds_per_epoch"] = row["seconds"] / row["epochs"]
    X = np.load(data, mmap_mode="r")
    row["memory_mb"] = memory["RssAnon"] - (0 if task.memory_map else X.nbytes / MEGABYTE)
    row["memory_with_files_mb"] = memory["VmHWM"]
    if report.with_suffix(".npy").exists():
        W = np.load(report.with_suffix(".npy"))
        row["quantisation_error"] = quantisation_error(X, W)
        row["topographic_error"] = topographic_error(X, W, task.lattice) if task.topographic else None
    return row


def _watch(command: list[str], threads: int, budget: float) -> tuple[str | None, dict[str, float]]:
    """Run a command in the project; return what went wrong and the peaks of its memory in MB."""
    peaks = {"RssAnon": 0.0, "VmHWM": 0.0}
    environ = {**os.environ, **thread_settings(threads)}
    process = subprocess.Popen(
        command, cwd=ROOT, env=environ, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    deadline = time.monotonic() + budget
    while process.poll() is None and time.monotonic() < deadline:
        for kind, megabytes in _memory(process.pid).items():
            peaks[kind] = max(peaks[kind], megabytes)
        time.sleep(0.01)
    cut = process.poll() is None
    process.kill()
    errors = process.communicate()[1]
    if cut:
        return f"cut off after {budget:g} s", peaks
    return (error_line(errors) if process.returncode else None), peaks


def _memory(pid: int) -> dict[str, float]:
    """Read the anonymous memory (without mapped files) and the peak with files; empty where the system has no /proc."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return {}
    return {
        kind: int(kilobytes) * 1024 / MEGABYTE for kind, kilobytes in re.findall(r"(RssAnon|VmHWM):\s+(\d+)", status)
    }
