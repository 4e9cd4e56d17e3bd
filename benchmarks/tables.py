"""Results as Markdown: the table of a task, and the page of the documentation."""

from __future__ import annotations

from typing import Any

from benchmarks.families import FAMILIES
from benchmarks.tasks import Column, Row, Task

__all__ = ["page", "table"]


def page(results: dict[str, dict[str, Any]]) -> str:
    """Return the page of the documentation that shows the results of each family."""
    parts = [
        "# Benchmarks",
        "protolearn and its peers on the same data. `benchmarks/README.md` explains the columns; a time ratio above 1 "
        "means that protolearn is faster. This page is made by `python -m benchmarks --table`.",
    ]
    for family in FAMILIES:
        if family.name not in results:
            continue
        parts += [f"## {family.title}", _circumstances(results[family.name])]
        for name, entry in results[family.name]["tasks"].items():
            title, task = entry["description"], family.tasks[name]
            parts += [f"### {title[0].upper()}{title[1:]}", entry.get("problem") or table(task, entry["rows"])]
            parts += [f"![{title}](../benchmarks/results/{name}.png)"] if task.picture(entry["rows"]) else []
    return "\n\n".join(parts) + "\n"


def table(task: Task, rows: list[Row]) -> str:
    """Format the rows of a task as a Markdown table, followed by its notes and by who has no result."""
    lines = [[title for title, _, _ in task.columns]]
    lines += [[_cell(row, column) for column in task.columns] for row in rows if "problem" not in row]
    widths = [max(map(len, column)) for column in zip(*lines)]
    lines.insert(1, ["-" * width for width in widths])
    text = ["| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths)) + " |" for line in lines]
    text += [f"\n{row['name']}, {row['threads']} thread(s): {row['problem']}" for row in rows if "problem" in row]
    text += [f"\n{note}" for note in task.notes(rows)]
    return "\n".join(text)


def _circumstances(results: dict[str, Any]) -> str:
    facts = results["machine"]
    libraries = ", ".join(f"{name} {version}" for name, version in facts["libraries"].items())
    return (
        f"One run of `python -m benchmarks` on {results['date']}: {facts['cpu']}, {facts['cores']} cores, Python "
        f"{facts['python']}, {facts['blas']}, {libraries}. {results.get('note', '')}".rstrip()
    )


def _cell(row: Row, column: Column) -> str:
    _, key, form = column
    return "-" if row.get(key) is None else form(row[key])
