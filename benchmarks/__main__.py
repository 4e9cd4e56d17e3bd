"""Command line of the benchmarks: run the chosen tasks, print a table for each, write the results."""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

from benchmarks.environments import ROOT, machine
from benchmarks.maps import TASKS, Task, write_data
from benchmarks.peers import COMPETITORS, FLOOR, OURS, Competitor
from benchmarks.runner import compete

RESULTS = ROOT / "benchmarks" / "results" / "maps.json"
PAGE = ROOT / "docs" / "benchmarks.md"

Row = dict[str, Any]


def main() -> None:
    """Run the benchmarks."""
    given = _arguments()
    if given.table:
        PAGE.write_text(page(json.loads(RESULTS.read_text())))
        return
    results: dict[str, Any] = {"date": date.today().isoformat(), "machine": machine(), "tasks": {}}
    print(json.dumps(results["machine"]))
    for task in (TASKS[name] for name in given.only or TASKS):
        print(f"\n{task.name}: {task.describe()}\n")
        rows = run(task, given.peers, given.repeats, given.budget)
        print(table(task, rows))
        results["tasks"][task.name] = {"description": task.describe(), "rows": rows}

    output = given.output or (None if given.only or given.peers else RESULTS)
    if output:
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_text(json.dumps(results, indent=1) + "\n")


def run(task: Task, peers: list[str] | None, repeats: int, budget: float) -> list[Row]:
    """Let every chosen competitor do the task; return the rows with their ratios to ours."""
    with tempfile.TemporaryDirectory() as folder:
        data, init = write_data(task, Path(folder))
        rows = [
            compete(entry, task, threads, data, init, repeats, budget)
            for entry in COMPETITORS
            if entry.task == task.name and _chosen(entry, peers)
            for threads in entry.threads
        ]
    ours = {row["threads"]: row for row in rows if row["name"] == OURS}
    for row in rows:
        for quantity in ("seconds_per_epoch", "quantisation_error"):
            reference = ours[row["threads"]].get(quantity)
            row[f"{quantity}_ratio"] = row[quantity] / reference if reference and quantity in row else None
    return sorted(rows, key=lambda row: (row["threads"], row.get("seconds_per_epoch", float("inf"))))


def page(results: dict[str, Any]) -> str:
    """Return the page of the documentation that shows the results of a full run."""
    facts = results["machine"]
    libraries = ", ".join(f"{name} {version}" for name, version in facts["libraries"].items())
    parts = [
        "# Benchmarks",
        f"One run of `python -m benchmarks` on {results['date']}: {facts['cpu']}, {facts['cores']} cores, Python "
        f"{facts['python']}, {facts['blas']}, {libraries}. `benchmarks/README.md` explains the columns; a time ratio "
        "above 1 means that protolearn is faster. This page is made by `python -m benchmarks --table`.",
    ]
    for name, task in results["tasks"].items():
        parts += [f"## {task['description'][0].upper()}{task['description'][1:]}", table(TASKS[name], task["rows"])]
    return "\n\n".join(parts) + "\n"


def table(task: Task, rows: list[Row]) -> str:
    """Format the rows of a task as a Markdown table, followed by a line for each competitor without a result."""
    lines = [[title for title, _, _ in COLUMNS]]
    lines += [[_cell(row, key, form) for _, key, form in COLUMNS] for row in rows if "problem" not in row]
    widths = [max(map(len, column)) for column in zip(*lines)]
    lines.insert(1, ["-" * width for width in widths])
    text = ["| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths)) + " |" for line in lines]
    text += [f"\n{row['name']}, {row['threads']} thread(s): {row['problem']}" for row in rows if "problem" in row]
    measured = [row for row in rows if row["name"] == OURS and task.memory_limit and "memory_mb" in row]
    text += [f"\n{_verdict(task, row)}" for row in measured]
    return "\n".join(text)


COLUMNS: list[tuple[str, str, Callable[[Any], str]]] = [
    ("competitor", "name", str),
    ("threads", "threads", str),
    ("fits", "times", lambda times: str(len(times))),
    ("first call s", "first_call", "{:.2f}".format),
    ("time s", "seconds", "{:.3f}".format),
    ("cpu s", "cpu_seconds", "{:.3f}".format),
    ("epochs", "epochs", str),
    ("s / epoch", "seconds_per_epoch", "{:.4f}".format),
    ("time ratio", "seconds_per_epoch_ratio", "{:.2f}".format),
    ("quantisation error", "quantisation_error", "{:.4f}".format),
    ("error ratio", "quantisation_error_ratio", "{:.4f}".format),
    ("topographic error", "topographic_error", "{:.3f}".format),
    ("memory MB", "memory_mb", "{:.0f}".format),
]


def _cell(row: Row, key: str, form: Callable[[Any], str]) -> str:
    return "-" if row.get(key) is None else form(row[key])


def _verdict(task: Task, row: Row) -> str:
    kept = "kept" if row["memory_mb"] < task.memory_limit else "EXCEEDED"
    return f"memory limit {task.memory_limit:.0f} MB, {row['threads']} thread(s): {kept} ({row['memory_mb']:.0f} MB)"


def _chosen(entry: Competitor, peers: list[str] | None) -> bool:
    return not peers or entry.name in (OURS, FLOOR) or any(peer in entry.name.lower() for peer in peers)


def _arguments() -> argparse.Namespace:
    def names(text: str) -> list[str]:
        return text.lower().split(",")

    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description="protolearn and its peers on the same data"
    )
    parser.add_argument("--only", type=names, help=f"tasks, separated by commas: {', '.join(TASKS)}")
    parser.add_argument("--peers", type=names, help="parts of the names of peers, separated by commas")
    parser.add_argument("--repeats", type=int, default=3, help="timed fits of each competitor (default 3)")
    parser.add_argument("--budget", type=float, default=120, help="seconds a competitor may take (default 120)")
    parser.add_argument("--output", type=Path, help="where to write the results; a partial run writes none without it")
    parser.add_argument("--table", action="store_true", help="only write the page of the documentation, from results")
    given = parser.parse_args()
    unknown = set(given.only or ()) - set(TASKS)
    if unknown:
        parser.error(f"unknown task {', '.join(sorted(unknown))}; choose from {', '.join(TASKS)}")
    return given


if __name__ == "__main__":
    main()
