"""Reports of commands on files, as data and as tables for the terminal."""

from __future__ import annotations

import math
from itertools import groupby
from typing import TYPE_CHECKING, Any

from protolearn.cli._learning import FILES, LearnedModel, versions
from protolearn.cli._report import Table
from protolearn.cli._samples import shown_day

if TYPE_CHECKING:
    from pathlib import Path

    from protolearn.tables import Column

__all__ = [
    "column_data",
    "column_table",
    "outside_data",
    "outside_table",
    "plain_parameters",
    "relevance_table",
    "relevances",
    "report_of",
    "tables_of",
]

MANY = 3  # columns in a row that are treated alike and are shown in one line, if they are more
MOST_LINES = 40
MOST_FEATURES = 10
LONGEST = 18  # letters of a name in a line of many
MEANINGS = {
    "accuracy": "rows classified correctly",
    "balanced accuracy": "mean over classes, all folds pooled",
    "baseline": "always the largest class",
    "quantization error": "mean distance to the nearest prototype",
    "explained variance": "by the nearest prototypes",
    "topographic error": "two nearest prototypes are not neighbors",
    "class by node": "same as most other rows of the node",
    "class by cluster": "same as most other rows of the cluster",
    "trustworthiness": "neighbors in the view are neighbors in the data (1 is best)",
    "continuity": "neighbors in the data are neighbors in the view (1 is best)",
    "quality": "neighborhoods of all sizes (0 by chance, 1 is best)",
    "class of neighbor": "nearest row in the view has the same class",
}
SHARES = {"accuracy", "balanced accuracy", "baseline", "explained variance", "topographic error", "class by node"}
SHARES |= {"class of neighbor", "class by cluster"}


def report_of(learned: LearnedModel, folder: Path) -> dict[str, Any]:
    """Return all that a command has found, as data."""
    samples, task = learned.samples, learned.task
    estimator = learned.model[-1] if hasattr(learned.model, "steps") else learned.model
    report: dict[str, Any] = {
        "command": task.name,
        "data": {"source": str(samples.source), "rows": len(samples), "learned": len(learned.rows)},
        "model": {"name": type(estimator).__name__, "parameters": plain_parameters(estimator), **_size(estimator)},
        "seed": task.seed,
    }
    if samples.preparation is not None and samples.pictures is None:
        report["columns"] = [column_data(column) for column in samples.preparation.columns_]
        report["data"]["decimal"] = samples.preparation.decimal_
        report["target"] = samples.preparation.target
    if samples.labels is not None:
        report["classes"] = _classes(learned)
    if learned.validation is not None:
        v = learned.validation
        report["validation"] = {"folds": v.folds, "repeats": v.repeats, "figures": v.summary(), "scores": v.scores}
    if learned.quality:
        report["quality"] = learned.quality
    weights = relevances(learned.model)
    if weights:
        report["relevances"] = weights
    counted = _sizes(learned)
    if counted:
        report["clusters"] = {"given": getattr(task, "clusters", None) is not None, "sizes": counted}
    return report | {
        "notes": learned.notes,
        "seconds": round(learned.seconds, 2),
        "files": [str(folder / name) for name in FILES],
        "versions": versions(),
    }


def tables_of(report: dict[str, Any]) -> list[Table]:
    """Return what a report says on the model, as tables."""
    tables = []
    validation = report.get("validation")
    if validation and validation["figures"]:
        figures = validation["figures"]
        lines = [
            [name, _figure(name, f["mean"]) + _spread(name, f["std"], validation["scores"]), MEANINGS.get(name, "")]
            for name, f in figures.items()
        ]
        how = f"{validation['folds']} folds, {_times(validation['repeats'])}; ± standard deviation"
        caption = f"{_model(report)}, on held-out rows ({how})"
        tables.append(Table(caption, ["", "", ""], lines))
    if "quality" in report:
        lines = [[name, _figure(name, value), MEANINGS.get(name, "")] for name, value in report["quality"].items()]
        tables.append(Table(f"{_model(report)}: quality of the view", ["", "", ""], lines))
    if any("found" in entry for entry in report.get("classes", [])):
        lines = [
            [c["class"], f"{c['rows']:,}", f"{100 * c['found']:.1f} %", c["mistaken for"]] for c in report["classes"]
        ]
        tables.append(
            Table("Classes, on held-out rows", ["class", "rows", "correct", "most often confused with"], lines)
        )
    if "relevances" in report and "columns" in report:  # those of pixels are for the page
        tables.append(relevance_table(report["relevances"]))
    if "clusters" in report:
        lines = [[str(entry["cluster"]), f"{entry['rows']:,}"] for entry in report["clusters"]["sizes"]]
        tried = "" if report["clusters"]["given"] else " (2 to 8 were tried; use --clusters NUMBER for another number)"
        tables.append(Table(f"Clusters{tried}", ["cluster", "rows"], lines))
    return tables


def relevance_table(weights: list[dict[str, Any]]) -> Table:
    """Return the columns that count most, with bars."""
    first = weights[:MOST_FEATURES]
    largest = max(entry["share"] for entry in first) or 1.0
    lines = [
        [entry["column"], f"{100 * entry['share']:.1f} %", "█" * max(1, round(24 * entry["share"] / largest))]
        for entry in first
    ]
    left = len(weights) - len(first)
    more = f" (and {left:,} more column{'s' if left > 1 else ''})" if left else ""
    return Table(f"Relevance of the columns{more}", ["column", "relevance", ""], lines)


def column_table(caption: str, columns: list[Column]) -> Table:
    """Return what was done with each column; neighbors that are treated alike share a line."""
    lines = []
    for _, group in groupby(columns, key=lambda c: (c.kind, c.done, c.missing)):
        alike = list(group)
        if len(alike) > MANY:
            lines.append(_line(f"{_cut(alike[0].name)} … {_cut(alike[-1].name)} ({len(alike):,})", alike[0]))
        else:
            lines.extend(_line(column.name, column) for column in alike)
    left = len(lines) - MOST_LINES
    if left > 1:
        lines = [*lines[:MOST_LINES], [f"({left:,} more lines in report.json)", "", "", ""]]
    return Table(caption, ["column", "kind", "use", "missing"], lines)


def column_data(column: Column) -> dict[str, Any]:
    """Return what was learned about a column, as data."""
    limits = None
    if math.isfinite(column.high):
        limits = [shown_day(v, column.origin) if column.kind == "date" else v for v in (column.low, column.high)]
    return {
        "name": column.name,
        "kind": column.kind,
        "done": column.done,
        "missing": column.missing,
        "used": column.used,
        "range": limits,
    }


def outside_data(outside: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return columns with values that were not trained on, with the number of their rows."""
    return [{**entry, "rows": int(entry["rows"].sum())} for entry in outside]


def outside_table(outside: list[dict[str, Any]]) -> Table:
    """Return the columns with the most unusual values that were not trained on."""
    lines = []
    for entry in outside[:MOST_FEATURES]:
        if "values" in entry:
            new, known = ", ".join(map(repr, entry["values"])), "(missing)" if "missing" in entry else "other values"
        else:
            new, known = _span(entry["from"], entry["to"]), _span(entry["lowest"], entry["highest"])
        lines.append([entry["column"], f"{entry['rows'].sum():,}", new, known])
    left = len(outside) - len(lines)
    more = f" (and {left:,} more column{'s' if left > 1 else ''}, see --json)" if left else ""
    return Table(f"Not in the training data{more}", ["column", "rows", "values", "training data"], lines)


def relevances(model: Any) -> list[dict[str, Any]]:
    """Return the share of each column in the learned metric, the largest first; nothing if there is no such metric."""
    import numpy as np

    weights = getattr(model[-1], "relevances_", None) if hasattr(model, "steps") else None
    if weights is None:
        return []
    weights = np.atleast_2d(weights).mean(axis=0)
    shares: dict[str, float] = {}
    for owner, weight in zip(_owners(model[-2]), weights, strict=True):
        shares[owner] = shares.get(owner, 0.0) + float(weight)
    total = sum(shares.values()) or 1.0
    order = sorted(shares, key=lambda name: -shares[name])
    return [{"column": name, "share": shares[name] / total} for name in order]


def _owners(columns: Any) -> list[str]:
    """Return the column of the table that each column behind the encoding comes from."""
    owners: list[str] = []
    for _, transformer, names in columns.transformers_:
        for place, name in enumerate(names):
            codes = getattr(transformer, "categories_", None)
            owners += [name] * (1 if codes is None else len(codes[place]))
    return owners


def _classes(learned: LearnedModel) -> list[dict[str, Any]]:
    """Return the classes with their numbers of rows and, of a classifier, how many were found among rows not seen."""
    import numpy as np

    labels = learned.samples.labels
    assert labels is not None
    known = labels[labels != None].astype(str)  # noqa: E711, elementwise
    held_out = None if learned.validation is None else learned.validation.held_out
    entries = []
    for name, count in zip(*np.unique(known, return_counts=True)):
        entry: dict[str, Any] = {"class": str(name), "rows": int(count)}
        if held_out is not None:
            own = held_out[labels[learned.rows] == name]
            others, counts = np.unique(own[own != name].astype(str), return_counts=True)
            entry["found"] = float((own == name).mean())
            entry["mistaken for"] = f"{others[counts.argmax()]} ({counts.max()})" if len(others) else ""
        entries.append(entry)
    numbers = all(entry["class"].lstrip("-").isdecimal() for entry in entries)
    return sorted(entries, key=lambda entry: int(entry["class"])) if numbers else entries


def _size(estimator: Any) -> dict[str, int]:
    prototypes = getattr(estimator, "multiplicities_", getattr(estimator, "prototypes_", None))
    return {} if prototypes is None else {"prototypes": len(prototypes)}


def _sizes(learned: LearnedModel) -> list[dict[str, int]]:
    import numpy as np

    if "cluster" not in learned.columns:
        return []
    numbers, counts = np.unique(learned.columns["cluster"], return_counts=True)
    return [{"cluster": int(number), "rows": int(count)} for number, count in zip(numbers, counts)]


def plain_parameters(estimator: Any) -> dict[str, Any]:
    """Return the parameters that are not the default ones."""
    default = type(estimator)().get_params(deep=False)
    chosen = {name: value for name, value in estimator.get_params(deep=False).items() if value is not default[name]}
    return {
        name: value if isinstance(value, str | int | float | bool | None) else repr(value)
        for name, value in chosen.items()
        if value != default[name]
    }


def _cut(name: str) -> str:
    return name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…"


def _line(name: str, column: Column) -> list[str]:
    return [name, column.kind, column.done, f"{100 * column.missing:.1f} %" if column.missing else ""]


def _span(first: Any, last: Any) -> str:
    shown = [value if isinstance(value, str) else f"{value:.6g}" for value in (first, last)]
    return " to ".join(dict.fromkeys(shown))


def _figure(name: str, value: float, spread: bool = False) -> str:
    if name in SHARES:
        return f"{100 * value:.1f}" if spread else f"{100 * value:.1f} %"
    return f"{value:.3g}" if not spread else f"{value:.2g}"


def _spread(name: str, value: float, scores: dict[str, list[float]]) -> str:
    return f" ± {_figure(name, value, spread=True)}" if len(scores[name]) > 1 else ""


def _model(report: dict[str, Any]) -> str:
    model = report["model"]
    return f"{model['name']} with {model['prototypes']:,} prototypes" if "prototypes" in model else model["name"]


def _times(repeats: int) -> str:
    return {1: "once", 2: "twice"}.get(repeats, f"{repeats} times")
