"""``protolearn map``, ``cluster``, ``classify`` and ``view``: from a file to a model, a page and predictions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from protolearn.cli._console import print_listing, printable, told_what_is_wrong

if TYPE_CHECKING:
    from protolearn.cli._tasks import Task

__all__ = ["classify", "cluster", "map_", "view"]

Data = Annotated[
    Path,
    typer.Argument(
        help="Table (CSV, TSV, Parquet, Excel, .npy, .npz), strings or texts (--metric), distances "
        "(--metric precomputed), or a folder of images."
    ),
]
Output = Annotated[
    Path | None, typer.Option("--output", "-o", help="Output folder; by default named after the data and the command.")
]
Target = Annotated[str | None, typer.Option(help="Column with the class of each row.")]
Ignore = Annotated[list[str], typer.Option(help="Column to ignore; can be given several times.")]
Keep = Annotated[list[str], typer.Option(help="Column to use even if it looks like an identifier or free text.")]
Metric = Annotated[
    str | None,
    typer.Option(help="Dissimilarity of strings and texts: edit, ncd, ...; for a distance matrix: precomputed."),
]
Decimal = Annotated[str | None, typer.Option(help="Decimal mark of numbers in a text file, if its detection fails.")]
Rows = Annotated[
    int | None, typer.Option(min=2, help="Maximum number of training rows; a random subset is used if there are more.")
]
Folds = Annotated[int, typer.Option(min=2, help="Number of cross-validation folds.")]
Repeats = Annotated[
    int, typer.Option(min=1, help="Number of repetitions of the cross-validation, with different folds.")
]
Seed = Annotated[int, typer.Option(min=0, help="Seed for reproducible results.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print errors only.")]
Json = Annotated[bool, typer.Option("--json", help="Print only the report, as JSON.")]


def classify(
    data: Data,
    target: Target = None,
    ignore: Ignore = [],  # noqa: B006, typer copies it
    keep: Keep = [],  # noqa: B006
    model: Annotated[
        str, typer.Option(help="gmlvq, glvq, grlvq, lgrlvq, lgmlvq, rslvq, lvq1, lvq21; for objects rglvq, median.")
    ] = "gmlvq",
    prototypes: Annotated[int, typer.Option(min=1, help="Number of prototypes per class.")] = 1,
    metric: Metric = None,
    decimal: Decimal = None,
    output: Output = None,
    folds: Folds = 5,
    repeats: Repeats = 3,
    rows: Rows = None,
    seed: Seed = 0,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Train a classifier, validate it, and explain its decisions.

    Rows without a class are not used for training; their classes are predicted.
    """
    from protolearn.cli._tasks import Classify

    if target is None and metric is None and not data.is_dir():
        raise typer.BadParameter("name the column that contains the classes: --target NAME", param_hint="--target")
    how = {"folds": folds, "repeats": repeats, "most": rows}
    reading = {"target": target, "ignore": ignore, "keep": keep, "metric": metric, "decimal": decimal}
    _run(Classify(seed, model, prototypes), data, output, reading, how, quiet, as_json)


def map_(
    data: Data,
    target: Target = None,
    ignore: Ignore = [],  # noqa: B006
    keep: Keep = [],  # noqa: B006
    size: Annotated[
        tuple[int, int] | None, typer.Option(metavar="ROWS COLUMNS", help="Number of rows and columns of the map.")
    ] = None,
    metric: Metric = None,
    decimal: Decimal = None,
    output: Output = None,
    folds: Folds = 5,
    repeats: Repeats = 3,
    rows: Rows = None,
    seed: Seed = 0,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Train a self-organizing map, on which similar rows are neighbors.

    A target is not used for training; it only labels the map.
    """
    from protolearn.cli._tasks import Map

    how = {"folds": folds, "repeats": repeats, "most": rows}
    reading = {"target": target, "ignore": ignore, "keep": keep, "metric": metric, "decimal": decimal}
    _run(Map(seed, size), data, output, reading, how, quiet, as_json)


def cluster(
    data: Data,
    target: Target = None,
    ignore: Ignore = [],  # noqa: B006
    keep: Keep = [],  # noqa: B006
    clusters: Annotated[
        int | None, typer.Option(min=2, help="Number of clusters; by default the best of 2 to 8.")
    ] = None,
    model: Annotated[str, typer.Option(help="Clustering method: neural-gas or k-means.")] = "neural-gas",
    metric: Metric = None,
    decimal: Decimal = None,
    output: Output = None,
    folds: Folds = 5,
    repeats: Repeats = 3,
    rows: Rows = None,
    seed: Seed = 0,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Cluster the data around prototypes.

    Without --clusters, the number of clusters with the largest silhouette is used. A target is not used for training;
    it only labels the clusters.
    """
    from protolearn.cli._tasks import Cluster

    how = {"folds": folds, "repeats": repeats, "most": rows}
    reading = {"target": target, "ignore": ignore, "keep": keep, "metric": metric, "decimal": decimal}
    _run(Cluster(seed, clusters, model), data, output, reading, how, quiet, as_json)


def view(
    data: Data,
    target: Target = None,
    ignore: Ignore = [],  # noqa: B006
    keep: Keep = [],  # noqa: B006
    mapping: Annotated[
        bool, typer.Option("--mapping", help="Learn a mapping, so that predict can embed new rows; all rows are shown.")
    ] = False,
    metric: Metric = None,
    decimal: Decimal = None,
    output: Output = None,
    rows: Rows = None,
    seed: Seed = 0,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Embed every row as a point in the plane, with neighbors next to each other (t-SNE).

    A target is not used for training; it only colors the points.
    """
    from protolearn.cli._tasks import ViewTask

    reading = {"target": target, "ignore": ignore, "keep": keep, "metric": metric, "decimal": decimal}
    _run(ViewTask(seed, mapping), data, output, reading, {"folds": 0, "repeats": 0, "most": rows}, quiet, as_json)


def _run(
    task: Task,
    data: Path,
    output: Path | None,
    reading: dict[str, Any],
    how: dict[str, Any],
    quiet: bool,
    as_json: bool,
) -> None:
    """Read, learn, write, and say what was found."""
    errors = Console(stderr=True)
    with told_what_is_wrong(errors):
        from protolearn.cli import _findings, _learning, _results
        from protolearn.cli._console import Bars
        from protolearn.cli._samples import read_samples

        folder = output or Path(f"{data.resolve().stem}-{task.name}")
        with _learning.outputs(folder, data):
            bars = Bars(errors, quiet or as_json)
            with bars.waiting("Reading"):
                samples = read_samples(data, **reading)
            console = Console(quiet=quiet or as_json)
            if samples.columns is not None and samples.preparation is not None:
                mark = ", decimal comma" if samples.preparation.decimal_ == "," else ""
                caption = f"{data}: {len(samples):,} rows, {samples.columns:,} columns{mark}"
                print_listing(console, _findings.column_table(caption, samples.preparation.columns_))
            else:
                console.print(printable(f"{data}: {len(samples):,} {samples.word}\n", "bold"), soft_wrap=True)
            learned = _learning.learn(task, samples, bars, **how)
            report = _findings.report_of(learned, folder)
            with bars.waiting("Writing"):
                _learning.write_outputs(learned, folder, report)
        for table in _findings.tables_of(report):
            print_listing(console, table)
        for note in learned.notes:
            console.print(printable(f"Note: {note}", "yellow"), soft_wrap=True)
        console.print(
            printable(f"Open {folder / 'index.html'} in a browser to explore the model.", "bold"), soft_wrap=True
        )
        console.print(printable(f"The folder also contains {', '.join(_learning.FILES[1:])}."), soft_wrap=True)
        if as_json:
            print(_results.as_json(report), end="")
