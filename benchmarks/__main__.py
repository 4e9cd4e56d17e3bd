"""Command line of the benchmarks: run the chosen tasks, print a table for each, write the results."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

from benchmarks.environments import ROOT, machine
from benchmarks.families import FAMILIES, MAIN_TASKS, TASKS, Family
from benchmarks.registry import FLOOR, OURS, Competitor
from benchmarks.runner import run
from benchmarks.tables import fastest_peers, page, summary, table
from benchmarks.tasks import Task

RESULTS = ROOT / "benchmarks" / "results"
COMPASS = "compass"  # the file of the one table
PAGE = ROOT / "docs" / "benchmarks.md"


def main() -> None:
    """Run the benchmarks."""
    given = _arguments()
    if given.table:
        others = {folder.name: _stored(folder) for folder in sorted(RESULTS.iterdir()) if folder.is_dir()}
        folders = (RESULTS, *(RESULTS / name for name in others))
        compasses = filter(None, (_read(folder / f"{COMPASS}.json") for folder in folders))
        PAGE.write_text(page(_stored(RESULTS), others, list(compasses)))
        return
    if given.core:
        os.environ["OPENBLAS_CORETYPE"] = given.core  # read by the processes of the competitors
    print(json.dumps(machine()))
    if given.compass:
        _one_table(given)
        return
    for family in FAMILIES:
        tasks = [task for task in family.tasks.values() if task.name in given.only]
        results: dict[str, Any] = {"date": date.today().isoformat(), "machine": machine(), "tasks": {}}
        for task in tasks:
            results["tasks"][task.name] = _results(task, given, lambda entry: _chosen(entry, given.peers))
        if tasks:
            print(f"\n{summary(results['tasks'])}", flush=True)
        complete = len(tasks) == len(family.tasks) and not given.peers
        folder = given.output or (RESULTS / (given.core or "") if complete else None)
        if tasks and folder:
            _save(family, results, folder)


def _one_table(given: argparse.Namespace) -> None:
    """Run the tasks of the compass with the fastest stored peers, and write the one table after each task."""
    results: dict[str, Any] = {"date": date.today().isoformat(), "machine": machine(), "tasks": {}}
    stored = _stored(RESULTS)
    folder = given.output or RESULTS / (given.core or "")
    folder.mkdir(parents=True, exist_ok=True)
    for family in FAMILIES:
        entries = stored.get(family.name, {"tasks": {}})["tasks"]
        for name in (name for name in family.tasks if name in MAIN_TASKS and name in given.only):
            peers = fastest_peers(name, entries[name]["rows"] if name in entries else [])
            results["tasks"][name] = _results(family.tasks[name], given, lambda entry: entry.name in peers)  # noqa: B023
            (folder / f"{COMPASS}.json").write_text(json.dumps(results, indent=1) + "\n")
    print(f"\n{summary(results['tasks'])}", flush=True)


def _stored(folder: Path) -> dict[str, Any]:
    """Return the results of each family that has a file in a folder."""
    found = {family.name: _read(folder / f"{family.name}.json") for family in FAMILIES}
    return {name: results for name, results in found.items() if results}


def _read(file: Path) -> dict[str, Any]:
    """Return what a file of results holds; nothing if there is none."""
    return json.loads(file.read_text()) if file.exists() else {}


def _results(task: Task, given: argparse.Namespace, chosen: Callable[[Competitor], bool]) -> dict[str, Any]:
    """Run a task with the chosen peers and print its table."""
    print(f"\n{task.name}: {task.describe()}\n", flush=True)
    entry: dict[str, Any] = {"description": task.describe(), "rows": []}
    try:
        entry["rows"] = run(task, lambda entry: _own(entry) or chosen(entry), given.repeats, given.budget)
    except FileNotFoundError as error:
        entry["problem"] = str(error)
    print(entry.get("problem") or table(task, entry["rows"]), flush=True)
    return entry


def _save(family: Family, results: dict[str, Any], folder: Path) -> None:
    """Write the results of a family, and the pictures of its tasks."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{family.name}.json").write_text(json.dumps(results, indent=1) + "\n")
    for name, entry in results["tasks"].items():
        figure = family.tasks[name].picture(entry["rows"])
        if figure:
            figure.savefig(folder / f"{name}.png", dpi=150)


def _own(entry: Competitor) -> bool:
    return entry.name.startswith((OURS, FLOOR))


def _chosen(entry: Competitor, peers: list[str] | None) -> bool:
    return not peers or any(peer in entry.name.lower() for peer in peers)


def _arguments() -> argparse.Namespace:
    def names(text: str) -> list[str]:
        return text.lower().split(",")

    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description="protolearn and its peers on the same data"
    )
    groups = {family.name: list(family.tasks) for family in FAMILIES} | {name: [name] for name in TASKS}
    parser.add_argument("--only", type=names, help=f"tasks or families, separated by commas: {', '.join(groups)}")
    parser.add_argument("--peers", type=names, help="parts of the names of peers, separated by commas")
    parser.add_argument("--compass", action="store_true", help="one table of the main tasks, with their fastest peers")
    parser.add_argument("--repeats", type=int, default=3, help="timed fits of each competitor (default 3)")
    parser.add_argument("--budget", type=float, default=120, help="seconds a competitor may take (default 120)")
    parser.add_argument("--core", help="let OpenBLAS take the kernels of another processor, such as Haswell or Nehalem")
    parser.add_argument("--output", type=Path, help="folder for the results; an incomplete run writes none without it")
    parser.add_argument("--table", action="store_true", help="only write the page of the documentation, from results")
    given = parser.parse_args()
    unknown = set(given.only or ()) - set(groups)
    if unknown:
        parser.error(f"unknown task {', '.join(sorted(unknown))}; choose from {', '.join(groups)}")
    given.only = {task for name in given.only or groups for task in groups[name]}
    return given


if __name__ == "__main__":
    main()
