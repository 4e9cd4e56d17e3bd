"""Results as Markdown: the table of a task, and the page of the documentation."""

from __future__ import annotations

from typing import Any

from benchmarks.families import FAMILIES, TASKS
from benchmarks.registry import COMPETITORS, FLOOR, OURS
from benchmarks.tasks import Column, Row, Task

__all__ = ["fastest_peers", "page", "summary", "table"]

N_PEERS = 3  # of a task, in the table of all families

SUMMARY: list[Column] = [
    ("work", "work", str),
    ("threads", "threads", str),
    ("quantity", "quantity", str),
    ("ours", "ours", "{:.3g}".format),
    ("best peer", "peer", str),
    ("its", "theirs", "{:.3g}".format),
    ("peer / ours", "ahead", "{:.2f}".format),
    ("floor", "floor", "{:.3g}".format),
    ("ours / floor", "above", "{:.2f}".format),
    ("note", "flag", str),
]


COMPASS = (
    "The main task of each method, on one thread and on two, beside the fastest of the peers that do the same kind of "
    "work: those that were fastest in the tables below, and those that are not yet in them."
)


def page(
    results: dict[str, dict[str, Any]],
    others: dict[str, dict[str, dict[str, Any]]],
    compasses: list[dict[str, Any]],
) -> str:
    """Return the page of the documentation: the tables of all families in one, each family, and other kernels."""
    parts = [
        "# Benchmarks",
        "protolearn and its peers on the same data. `benchmarks/README.md` explains the columns; a time ratio above 1 "
        "means that protolearn is faster. The first table of each family sets protolearn beside the fastest peer "
        "that does the same kind of work and, where there is one, beside the floor: the matrix products that the "
        "method cannot do without. This page is made by `python -m benchmarks --table`.",
    ]
    if compasses:
        parts += ["## All families in one table", COMPASS]
    for found in compasses:
        parts += [_circumstances(found, " --compass"), summary(found["tasks"])]
    for family in FAMILIES:
        if family.name not in results:
            continue
        parts += [f"## {family.title}", _circumstances(results[family.name])]
        parts += [summary(results[family.name]["tasks"])]
        for found in others.values():
            if family.name in found:
                parts += [_circumstances(found[family.name]), summary(found[family.name]["tasks"])]
        for name, entry in results[family.name]["tasks"].items():
            title, task = entry["description"], family.tasks[name]
            parts += [f"### {title[0].upper()}{title[1:]}", entry.get("problem") or table(task, entry["rows"])]
            parts += [f"![{title}](../benchmarks/results/{name}.png)"] if task.picture(entry["rows"]) else []
    return "\n\n".join(parts) + "\n"


def table(task: Task, rows: list[Row]) -> str:
    """Format the rows of a task as a Markdown table, followed by its notes and by who has no result."""
    text = [_markdown(task.columns, [row for row in rows if "problem" not in row])]
    text += [f"\n{row['name']}, {row['threads']} thread(s): {row['problem']}" for row in rows if "problem" in row]
    text += [f"\n{note}" for note in task.notes(rows)]
    return "\n".join(text)


def summary(tasks: dict[str, dict[str, Any]]) -> str:
    """Set our time on each task beside that of the fastest peer and that of the floor; flag where a peer is faster."""
    return _markdown(SUMMARY, [line for name, entry in tasks.items() for line in _standings(name, entry["rows"])])


def fastest_peers(name: str, rows: list[Row]) -> set[str]:
    """Return the peers of the same kind that were fastest on a task by these rows, and those without a row."""
    quantity = TASKS[name].compared[0]
    times: dict[str, float] = {}
    for row in rows:
        times[row["name"]] = min(times.get(row["name"], float("inf")), row.get(quantity) or float("inf"))
    peers = {entry.name for entry in COMPETITORS if entry.task == name and entry.alike}
    peers = {peer for peer in peers if not peer.startswith((OURS, FLOOR))}
    return peers - times.keys() | set(sorted(peers & times.keys(), key=times.__getitem__)[:N_PEERS])


def _standings(name: str, rows: list[Row]) -> list[Row]:
    """Return a line of the summary for each size and number of threads on which we have a time."""
    task = TASKS[name]
    alike = {entry.name for entry in COMPETITORS if entry.task == name and entry.alike}
    measured = [row | {"figure": row[task.compared[0]]} for row in rows if row.get(task.compared[0]) is not None]
    lines = []
    for own in (row for row in measured if row["name"] == OURS):
        beside = [row for row in measured if (row.get("size"), row["threads"]) == (own.get("size"), own["threads"])]
        floors = [row["figure"] for row in beside if row["name"].startswith(FLOOR)]
        peers = [row for row in beside if row["name"] in alike and not row["name"].startswith((OURS, FLOOR))]
        line: Row = {"work": ", ".join(filter(None, (name, own.get("size")))), "threads": own["threads"]}
        line |= {"quantity": task.compared[0].replace("_", " "), "ours": own["figure"], "flag": ""}
        if floors:
            line |= {"floor": min(floors), "above": own["figure"] / min(floors)}
        if peers:
            best = min(peers, key=lambda row: row["figure"])
            ahead = best["figure"] / own["figure"]
            line |= {"peer": best["name"], "theirs": best["figure"], "ahead": ahead}
            line |= {"flag": "BEHIND"} if ahead < 1 else {}
        if floors or peers:
            lines.append(line)
    return lines


def _markdown(columns: list[Column], rows: list[Row]) -> str:
    lines = [[title for title, _, _ in columns]]
    lines += [[_cell(row, column) for column in columns] for row in rows]
    widths = [max(map(len, column)) for column in zip(*lines)]
    lines.insert(1, ["-" * max(width, 1) for width in widths])
    return "\n".join("| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths)) + " |" for line in lines)


def _circumstances(results: dict[str, Any], option: str = "") -> str:
    facts = results["machine"]
    kernels = f" with kernels for {facts['core_type']}" if "core_type" in facts else ""
    libraries = ", ".join(f"{name} {version}" for name, version in facts["libraries"].items())
    copies = f"Two threads copy memory {facts['copy_gain']} times as fast as one. " if "copy_gain" in facts else ""
    return (
        f"One run of `python -m benchmarks{option}` on {results['date']}: {facts['cpu']}, {facts['cores']} cores, "
        f"Python {facts['python']}, {facts['blas']}{kernels}, {libraries}. {copies}{results.get('note', '')}".rstrip()
    )


def _cell(row: Row, column: Column) -> str:
    _, key, form = column
    return "-" if row.get(key) is None else form(row[key])
