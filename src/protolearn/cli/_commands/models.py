"""``protolearn predict``, ``explain`` and ``info``: what a stored model says about new rows, and about itself."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from protolearn.cli._console import as_rich, printable, told_what_is_wrong

if TYPE_CHECKING:
    from protolearn.cli._report import Table
    from protolearn.cli._samples import Samples

__all__ = ["explain", "info", "predict"]

Model = Annotated[Path, typer.Argument(help="Model that protolearn classify, map, cluster or view wrote.")]
New = Annotated[Path, typer.Argument(help="Rows of the same kind as the model was learned from.")]
Decimal = Annotated[str | None, typer.Option(help="Decimal mark of numbers in a text, if it is found wrongly.")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON, and nothing else.")]
MOST_REASONS = 12


def predict(
    model: Model,
    data: New,
    output: Annotated[Path, typer.Option("--output", "-o", help="Table to write.")] = Path("predictions.csv"),
    decimal: Decimal = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")] = False,
    as_json: Json = False,
) -> None:
    """Apply a model to new rows: their classes, their places on a map, their clusters, or their points in a view.

    Columns may be in any order, and those that the model does not use may be missing.
    """
    errors = Console(stderr=True)
    with told_what_is_wrong(errors):
        from protolearn import load
        from protolearn.cli._learning import as_frame
        from protolearn.cli._progress import Bars
        from protolearn.cli._samples import read_new
        from protolearn.cli._tasks import predictions
        from protolearn.core.files import check_output, replacing

        check_output(output, [model, data])
        bars = Bars(errors, quiet or as_json)
        with bars.waiting("Predicting"):
            fitted = load(model)
            samples = read_new(data, fitted, decimal)
            found = predictions(_of_prepared(fitted, samples), samples.prepared)
        table = as_frame(samples, found)
        with replacing(output) as new:
            table.to_csv(new, index=False)
        if as_json:
            print(table.to_json(orient="records", force_ascii=False))
        elif not quiet:
            console = Console()
            console.print(as_rich(_counts(f"{data}: {len(table):,} rows", found), "left"))
            console.print(printable(f"\n{output}: what the model says about each row"), soft_wrap=True)


def explain(
    model: Model,
    data: New,
    row: Annotated[int, typer.Option(min=1, help="Number of the row, from 1 on.")] = 1,
    decimal: Decimal = None,
    as_json: Json = False,
) -> None:
    """Say why a row is classified as it is, and which change would give it another class."""
    errors = Console(stderr=True)
    with told_what_is_wrong(errors):
        from protolearn import load
        from protolearn.cli._learning import as_json as json_of
        from protolearn.cli._samples import read_new

        fitted = load(model)
        last = fitted[-1] if hasattr(fitted, "steps") else fitted
        if not hasattr(last, "explain"):
            raise ValueError(f"{model} is a {type(last).__name__}; only classifiers give reasons for single rows.")
        samples = read_new(data, fitted, decimal)
        if row > len(samples):
            raise ValueError(f"{data} has {len(samples):,} rows, and no row {row:,}.")
        reasons = _reasons(fitted, samples, row - 1)
        if as_json:
            print(json_of(reasons), end="")
            return
        console = Console()
        name = f" ({samples.names[row - 1]})" if samples.names else ""
        first = f"Row {row}{name}: {reasons['class']}, {100 * reasons['probability']:.1f} % against {reasons['rival']}"
        console.print(printable(first, "bold"), soft_wrap=True)
        for table in _reason_tables(reasons):
            console.print()
            console.print(as_rich(table, "left"))


def info(model: Model, as_json: Json = False) -> None:
    """Say what a model is, what it was learned from, and which columns it needs."""
    errors = Console(stderr=True)
    with told_what_is_wrong(errors):
        from protolearn import load
        from protolearn.cli._findings import column_table, relevance_table, relevances
        from protolearn.cli._learning import as_json as json_of
        from protolearn.tables import TablePreparation

        fitted = load(model)
        about = _about(fitted)
        weights = relevances(fitted)
        first = fitted[0] if hasattr(fitted, "steps") else None
        if as_json:
            columns = first.columns_ if isinstance(first, TablePreparation) else []
            listed = [{"name": c.name, "kind": c.kind, "done": c.done, "used": c.used} for c in columns]
            print(json_of(about | {"columns": listed, "relevances": weights}), end="")
            return
        from protolearn.cli._report import Table

        console = Console()
        lines = [
            [name, ", ".join(map(str, value)) if isinstance(value, list) else str(value)]
            for name, value in about.items()
        ]
        console.print(as_rich(Table(str(model), ["", ""], lines), "left"))
        if isinstance(first, TablePreparation):
            console.print()
            console.print(as_rich(column_table(first.columns_), "left"))
        if weights:
            console.print()
            console.print(as_rich(relevance_table(weights), "left"))


def _of_prepared(model: Any, samples: Samples) -> Any:
    """Return the part of a model that takes prepared samples."""
    return model[1:] if samples.preparation is not None else model


def _counts(caption: str, found: dict[str, Any]) -> Table:
    """Return how often each class, node or cluster was predicted; of a view, where its points are."""
    import numpy as np

    from protolearn.cli._report import Table

    if "x" in found:
        lines = [[name, f"{v.min():.3g}", f"{v.max():.3g}"] for name, v in found.items()]
        return Table(caption, ["position", "from", "to"], lines)
    name = next(iter(found))
    values, counts = np.unique(found[name], return_counts=True)
    order = np.argsort(-counts, kind="stable")[:20]
    lines = [[str(values[i]), f"{counts[i]:,}", f"{100 * counts[i] / counts.sum():.1f} %"] for i in order]
    return Table(caption, [name, "rows", "share"], lines)


def _reasons(model: Any, samples: Samples, row: int) -> dict[str, Any]:
    """Return the decision on a row, what decided, and the smallest change to another class."""
    import numpy as np

    from protolearn.cli._samples import part
    from protolearn.lvq import counterfactual
    from protolearn.lvq import explain as explain_rows

    shown = _of_prepared(model, samples)
    sample = part(samples.prepared, np.array([row]))
    shares = shown.predict_proba(sample)[0]
    report: dict[str, Any] = {"row": row + 1, "probability": float(shares.max())}
    if samples.preparation is None:
        found = shown.explain(sample)
        report |= {"class": str(found.classes[0]), "rival": str(found.rivals[0])}
        known = getattr(shown, "objects_", None)
        return report | {
            "like": [_name(known, place) for place in np.atleast_1d(found.members[0])],
            "unlike": [_name(known, place) for place in np.atleast_1d(found.rival_members[0])],
        }
    found = explain_rows(shown, sample)
    parts = found.contributions[0]
    total = float(np.abs(parts).sum()) or 1.0
    order = np.argsort(-np.abs(parts), kind="stable")
    values = [sample.iloc[0][name] for name in found.feature_names]
    report |= {"class": str(found.classes[0]), "rival": str(found.rivals[0])}
    report["reasons"] = [
        {"column": str(found.feature_names[i]), "value": _plain(values[i]), "share": float(parts[i]) / total}
        for i in order
    ]
    changed = counterfactual(shown, sample, sparse=True)
    if changed.found[0]:
        report["change"] = {
            "class": str(changed.classes[0]),
            "columns": [
                {"column": str(name), "from": _plain(sample.iloc[0][name]), "to": _plain(changed.samples.iloc[0][name])}
                for name in sample.columns
                if changed.samples.iloc[0][name] != sample.iloc[0][name]
                and sample.iloc[0][name] == sample.iloc[0][name]
            ],
        }
    return report


def _reason_tables(reasons: dict[str, Any]) -> list[Table]:
    from protolearn.cli._report import Table

    if "like" in reasons:
        lines = [
            [reasons["class"], ", ".join(reasons["like"][:5])],
            [reasons["rival"], ", ".join(reasons["unlike"][:5])],
        ]
        return [Table("Nearest objects of each class", ["class", "objects"], lines)]
    lines = []
    for reason in reasons["reasons"][:MOST_REASONS]:
        side = "for" if reason["share"] >= 0 else "against"
        bar = "█" * round(24 * abs(reason["share"]))
        lines.append([reason["column"], _shown(reason["value"]), f"{100 * abs(reason['share']):.1f} % {side}", bar])
    tables = [Table("What decided", ["column", "value", "share", ""], lines)]
    if "change" in reasons:
        change = reasons["change"]
        lines = [[c["column"], _shown(c["from"]), _shown(c["to"])] for c in change["columns"]]
        tables.append(Table(f"A small change that makes it {change['class']}", ["column", "from", "to"], lines))
    return tables


def _about(model: Any) -> dict[str, Any]:
    """Return what a model is."""
    from protolearn.cli._findings import plain_parameters

    steps = hasattr(model, "steps")
    last = model[-1] if steps else model
    about: dict[str, Any] = {"model": type(last).__name__, **plain_parameters(last)}
    target = getattr(model[0], "target", None) if steps else None
    if target:
        about["target"] = target
    if hasattr(last, "classes_"):
        about["classes"] = [str(name) for name in last.classes_]
    if hasattr(last, "prototypes_"):
        about["prototypes"] = len(last.prototypes_)
    return about


def _name(known: Any, place: int) -> str:
    return f"object {int(place) + 1}" if known is None else str(known[int(place)])


def _plain(value: Any) -> Any:
    return value if isinstance(value, str) else float(value)


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else f"{value:.4g}"
