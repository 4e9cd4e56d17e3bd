"""``protolearn predict``, ``explain`` and ``info``: predictions, explanations and properties of a stored model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from protolearn.cli._console import print_listing, printable, told_what_is_wrong

if TYPE_CHECKING:
    from protolearn.cli._report import Table
    from protolearn.cli._samples import CliInput

__all__ = ["explain", "info", "predict"]

Model = Annotated[Path, typer.Argument(help="Model file, written by protolearn classify, map, cluster or view.")]
New = Annotated[Path, typer.Argument(help="New data, of the same kind as the training data.")]
Decimal = Annotated[str | None, typer.Option(help="Decimal mark of numbers in a text file, if its detection fails.")]
Json = Annotated[bool, typer.Option("--json", help="Print only the result, as JSON.")]
MOST_REASONS = 12


def predict(
    model: Model,
    data: New,
    output: Annotated[Path, typer.Option("--output", "-o", help="Table of predictions to write.")] = Path(
        "predictions.csv"
    ),
    decimal: Decimal = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print errors only.")] = False,
    as_json: Json = False,
) -> None:
    """Apply a model to new rows, and write their classes, map nodes, clusters, or positions in a view.

    Columns may be in any order, and columns that the model does not use may be missing.
    """
    errors = Console(stderr=True)
    with told_what_is_wrong(errors):
        from protolearn import load
        from protolearn.cli._console import Bars
        from protolearn.cli._findings import outside_data, outside_table
        from protolearn.cli._learning import as_frame
        from protolearn.cli._results import as_json as json_of
        from protolearn.cli._results import write_csv
        from protolearn.cli._samples import check_exist, read_new
        from protolearn.cli._tasks import predictions
        from protolearn.core.files import check_output, replacing

        check_exist(model, data)
        output.parent.mkdir(parents=True, exist_ok=True)
        check_output(output, [model, data])
        bars = Bars(errors, quiet or as_json)
        with bars.waiting("Predicting"):
            fitted = load(model)
            samples = read_new(data, fitted, decimal)
            found = predictions(_of_prepared(fitted, samples), samples.prepared)
        table = as_frame(samples, found)
        with replacing(output) as new:
            write_csv(table, new)
        if as_json:
            report = {"outside": outside_data(samples.outside), "notes": samples.notes}
            print(json_of({"predictions": table.to_dict("records"), **report}), end="")
        elif not quiet:
            console = Console()
            print_listing(console, _counts(f"{data}: {len(table):,} {samples.word}", found))
            if samples.outside:
                print_listing(console, outside_table(samples.outside))
            for note in samples.notes:
                console.print(printable(f"Note: {note}", "yellow"), soft_wrap=True)
            console.print(printable(f"The predictions are in {output}."), soft_wrap=True)


def explain(
    model: Model,
    data: New,
    row: Annotated[int, typer.Option(min=1, help="Number of the row, counted from 1.")] = 1,
    decimal: Decimal = None,
    as_json: Json = False,
) -> None:
    """Explain the classification of a row, and find a small change that changes its class."""
    errors = Console(stderr=True)
    with told_what_is_wrong(errors):
        from protolearn import load
        from protolearn.cli._findings import outside_data, outside_table
        from protolearn.cli._results import as_json as json_of
        from protolearn.cli._samples import check_exist, read_new

        check_exist(model, data)
        fitted = load(model)
        last = fitted[-1] if hasattr(fitted, "steps") else fitted
        if not hasattr(last, "explain"):
            raise ValueError(f"{model} is a {type(last).__name__}; only classifiers can explain single rows.")
        samples = read_new(data, fitted, decimal)
        if row > len(samples):
            raise ValueError(f"{data} has {len(samples):,} rows; there is no row {row:,}.")
        reasons = _reasons(fitted, samples, row - 1)
        outside = _outside(fitted, samples, row - 1)
        if as_json:
            print(json_of(reasons | {"outside": outside_data(outside)}), end="")
            return
        console = Console()
        name = f" ({samples.names[row - 1]})" if samples.names else ""
        first = (
            f"Row {row}{name}: {reasons['class']} ({100 * reasons['probability']:.1f} %); next is {reasons['rival']}"
        )
        console.print(printable(f"{first}\n", "bold"), soft_wrap=True)
        for table in [*_reason_tables(reasons), *([outside_table(outside)] if outside else [])]:
            print_listing(console, table)


def info(model: Model, as_json: Json = False) -> None:
    """Describe a model: its type, its training data, and the columns it requires."""
    errors = Console(stderr=True)
    with told_what_is_wrong(errors):
        from protolearn import load
        from protolearn.cli._findings import column_data, column_table, relevance_table, relevances
        from protolearn.cli._results import as_json as json_of
        from protolearn.cli._samples import check_exist
        from protolearn.tables import TablePreparation

        check_exist(model)
        fitted = load(model)
        about = _about(fitted)
        weights = relevances(fitted)
        first = fitted[0] if hasattr(fitted, "steps") else None
        if as_json:
            columns = first.columns_ if isinstance(first, TablePreparation) else []
            listed = [column_data(c) for c in columns]
            print(json_of(about | {"columns": listed, "relevances": weights}), end="")
            return
        from protolearn.cli._report import Table

        console = Console()
        texts = {name: ", ".join(value) if isinstance(value, list) else str(value) for name, value in about.items()}
        print_listing(console, Table(str(model), ["", ""], [list(pair) for pair in texts.items()]))
        if isinstance(first, TablePreparation):
            print_listing(console, column_table("Columns", first.columns_))
        if weights:
            print_listing(console, relevance_table(weights))


def _of_prepared(model: Any, samples: CliInput) -> Any:
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


def _reasons(model: Any, samples: CliInput, row: int) -> dict[str, Any]:
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
        return report | {
            "like": [int(place) + 1 for place in np.atleast_1d(found.members[0])],
            "unlike": [int(place) + 1 for place in np.atleast_1d(found.rival_members[0])],
        }
    found = explain_rows(shown, sample)
    parts = found.contributions[0]
    total = float(np.abs(parts).sum()) or 1.0
    report |= {"class": str(found.classes[0]), "rival": str(found.rivals[0])}
    dates = {c.name: c.origin for c in samples.preparation.columns_ if c.kind == "date"}
    values = {name: _plain(value, dates.get(name)) for name, value in sample.iloc[0].items()}
    report["reasons"] = [
        {"column": str(name), "value": values[name], "share": float(parts[i]) / total}
        for i, name in sorted(enumerate(found.feature_names), key=lambda pair: -abs(parts[pair[0]]))
    ]
    changed = counterfactual(shown, sample, sparse=True)
    if changed.found[0]:
        new = {name: _plain(value, dates.get(name)) for name, value in changed.samples.iloc[0].items()}
        report["change"] = {
            "class": str(changed.classes[0]),
            "columns": [{"column": n, "from": values[n], "to": new[n]} for n in values if new[n] != values[n]],
        }
    else:
        report["no_change"] = str(changed.messages[0])
    return report


def _outside(model: Any, samples: CliInput, row: int) -> list[dict[str, Any]]:
    """Return the columns of a row whose values were not trained on."""
    from protolearn.cli._samples import outside_training

    if samples.columns is None:
        return []
    return outside_training(samples.X.iloc[[row]], samples.prepared.iloc[[row]], model)


def _reason_tables(reasons: dict[str, Any]) -> list[Table]:
    from protolearn.cli._report import Table

    if "like" in reasons:
        lines = [
            [reasons[name], ", ".join(f"no. {number}" for number in reasons[members])]
            for name, members in (("class", "like"), ("rival", "unlike"))
        ]
        return [Table("Representative objects of the prototypes", ["class", "training objects"], lines)]
    lines = []
    for reason in reasons["reasons"][:MOST_REASONS]:
        side = "for" if reason["share"] >= 0 else "against"
        bar = "█" * round(24 * abs(reason["share"]))
        lines.append([reason["column"], _shown(reason["value"]), f"{100 * abs(reason['share']):.1f} % {side}", bar])
    tables = [Table("Contributions to the decision", ["column", "value", "share", ""], lines)]
    if "change" in reasons:
        change = reasons["change"]
        lines = [[c["column"], _shown(c["from"]), _shown(c["to"])] for c in change["columns"]]
        tables.append(Table(f"A small change to class {change['class']}", ["column", "from", "to"], lines))
    if "no_change" in reasons:
        tables.append(Table("No small change to another class", ["reason"], [[reasons["no_change"]]]))
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


def _plain(value: Any, origin: str | None = None) -> Any:
    """Return a value of a prepared table as the file has it: days are dates again, and what is missing is None."""
    import pandas as pd

    from protolearn.cli._samples import shown_day

    if pd.isna(value):
        return None
    if origin is not None:
        return shown_day(value, origin)
    return value if isinstance(value, str) else float(value)


def _shown(value: Any) -> str:
    return "" if value is None else value if isinstance(value, str) else f"{value:.4g}"
