"""Samples of commands on files: a table, strings, distances or images, read according to the options."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from protolearn.core.types import Array, Indices
    from protolearn.tables import TablePreparation

__all__ = [
    "STRING_METRICS",
    "CliInput",
    "check_exist",
    "listed",
    "outside_training",
    "part",
    "read_new",
    "read_samples",
    "shown_day",
]

STRING_METRICS = ("edit", "levenshtein", "cyclic_edit", "hamming", "alignment", "ncd")
MOST_LISTED = 8  # names in a note
NAMED = 200  # letters of a string that is its own name


@dataclass(frozen=True)
class CliInput:
    """Samples of a file: what models take, raw and prepared, with labels and names as far as there are any."""

    source: Path
    X: Any  # a raw table, a list of strings, or a matrix of distances
    prepared: Any  # of a table its useful columns; otherwise X
    labels: Array | None = None  # strings, and None where there is none
    names: list[str] | None = None
    pictures: Array | None = None
    preparation: TablePreparation | None = None
    metric: str | None = None
    notes: list[str] = field(default_factory=list)
    outside: list[dict[str, Any]] = field(default_factory=list)  # columns with values that were not trained on

    def __len__(self) -> int:
        return len(self.X)

    @property
    def texts(self) -> list[str] | None:
        """The strings, if they are such."""
        return self.X if self.metric in STRING_METRICS else None

    @property
    def columns(self) -> int | None:
        """Number of columns of a table, which pictures are not."""
        return len(self.X.columns) if self.preparation is not None and self.pictures is None else None

    @property
    def word(self) -> str:
        """What the samples are called."""
        if self.metric is not None:
            known = "texts" if self.source.is_dir() else "strings"
            return known if self.metric in STRING_METRICS else "objects"
        return "rows" if self.pictures is None else "pictures"


def check_exist(*paths: Path) -> None:
    """Require that files or folders exist."""
    for path in paths:
        if not path.exists():
            raise FileNotFoundError(f"File or folder not found: {path}.")


def part(X: Any, rows: Indices, columns: Indices | None = None) -> Any:
    """Return some rows of a table, some strings of a list or, with columns, a part of a matrix of distances."""
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    if isinstance(X, list):
        return [X[row] for row in rows]
    return X[rows] if columns is None else X[rows][:, columns]


def read_samples(
    data: Path,
    *,
    target: str | None = None,
    ignore: Collection[str] = (),
    keep: Collection[str] = (),
    metric: str | None = None,
    decimal: str | None = None,
) -> CliInput:
    """Read what a model is to learn from."""
    from protolearn.dissimilarities import check_dissimilarities
    from protolearn.tables import (
        TablePreparation,
        as_labels,
        is_picture_folder,
        read_distances,
        read_pictures,
        read_strings,
        read_table,
    )

    if metric is not None and metric not in (*STRING_METRICS, "precomputed"):
        raise ValueError(f"Unknown metric {metric!r}; choose one of {', '.join(STRING_METRICS)} or precomputed.")
    if (ignore or keep or (target and metric != "precomputed")) and (metric is not None or data.is_dir()):
        raise ValueError(f"Columns can be named for tables only, but {data} is not a table.")
    if metric == "precomputed":
        found = read_distances(data, target, decimal=decimal)
        if found.X.shape[0] != found.X.shape[1]:
            raise ValueError(
                f"{data} has {found.X.shape[0]} rows and {found.X.shape[1]} columns of distances, but needs a row and "
                "a column for each object."
            )
        try:
            check_dissimilarities(found.X)  # of all objects, before parts of them are learned
        except ValueError as error:
            raise ValueError(f"{data}: {error} (The first object is number 0.)") from error
        return CliInput(data, found.X, found.X, found.labels, found.names, metric=metric)
    if metric is not None:
        found = read_strings(data)
        names = found.names or [_shortened(string) for string in found.X]
        return CliInput(data, found.X, found.X, found.labels, names, metric=metric)
    if data.is_dir():
        if not is_picture_folder(data):
            raise ValueError(f"{data} contains no images; for texts, name a metric: --metric ncd or --metric edit.")
        found = read_pictures(data)
        preparation = TablePreparation().fit(found.X)
        prepared = preparation.transform(found.X)
        return CliInput(data, found.X, prepared, found.labels, found.names, found.pictures, preparation)
    table = read_table(data, decimal=decimal)
    preparation = TablePreparation(target, ignore=sorted(ignore), keep=sorted(keep)).fit(table)
    labels = None if target is None else as_labels(table[target])
    prepared, notes = preparation.transform(table), [*table.attrs["notes"], *_on_words(target, labels)]
    return CliInput(data, table, prepared, labels, _names(table, preparation), preparation=preparation, notes=notes)


def read_new(data: Path, model: Any, decimal: str | None = None) -> CliInput:
    """Read samples that a fitted model takes, which says of which kind they are."""
    from protolearn.tables import TablePreparation, read_distances, read_pictures, read_strings, read_table

    first = model[0] if hasattr(model, "steps") else model
    if isinstance(first, TablePreparation):
        if data.is_dir():
            found = read_pictures(data, list(first.feature_names_in_))
            return CliInput(data, found.X, first.transform(found.X), None, found.names, found.pictures, first)
        table = read_table(data, decimal=decimal, like=first)
        prepared = first.transform(table)
        outside = outside_training(table, prepared, model)
        notes = [*table.attrs["notes"], *_news(table, outside, first)]
        names = _names(table, first)
        return CliInput(data, table, prepared, names=names, preparation=first, notes=notes, outside=outside)
    metric = getattr(first, "metric", None)
    if metric == "precomputed":
        found = read_distances(data, decimal=decimal, model=first)
    elif metric in STRING_METRICS:
        found = read_strings(data)
    else:
        raise ValueError(
            f"The model is a {type(model).__name__} that was not created by a protolearn command; use it in Python."
        )
    names = found.names or ([_shortened(string) for string in found.X] if metric in STRING_METRICS else None)
    return CliInput(data, found.X, found.X, names=names, metric=metric)


def outside_training(table: Any, prepared: Any, model: Any) -> list[dict[str, Any]]:
    """Return the columns of a new table with values that a model was not trained on, the most unusual first.

    These are numbers and dates outside the range of the training table, categories that it does not have, and texts
    among numbers or dates.
    """
    import numpy as np

    from protolearn.core.texts import MISSING_WORDS

    found: list[tuple[float, dict[str, Any]]] = []
    categories = _categories(model)
    for column in [column for column in model[0].columns_ if column.used]:
        values, raw = prepared[column.name].to_numpy(), table[column.name]
        if column.name in categories:
            unseen = ~np.isin(values.astype(str), categories[column.name]) & raw.notna().to_numpy()
            if unseen.any():
                new = [str(value) for value in np.unique(values[unseen].astype(str))[:MOST_LISTED]]
                found.append((np.inf, {"column": column.name, "rows": unseen, "values": new}))
            continue
        unread = np.isnan(values) & raw.notna().to_numpy()
        unread &= ~raw.map(lambda value: isinstance(value, str) and value.strip() in MISSING_WORDS).to_numpy(dtype=bool)
        if unread.any():
            example = [str(value) for value in raw[unread].unique()[:MOST_LISTED]]
            found.append((np.inf, {"column": column.name, "rows": unread, "values": example, "missing": True}))
        beyond = (values < column.low) | (values > column.high)
        if beyond.any():
            limits = {
                "from": values[beyond].min(),
                "to": values[beyond].max(),
                "lowest": column.low,
                "highest": column.high,
            }
            width = max(column.high - column.low, np.finfo(float).tiny)
            excess = max(column.low - limits["from"], limits["to"] - column.high) / width
            days = {
                name: shown_day(day, column.origin) if column.kind == "date" else float(day)
                for name, day in limits.items()
            }
            found.append((float(excess), {"column": column.name, "rows": beyond, **days}))
    return [entry for _, entry in sorted(found, key=lambda pair: -pair[0])]


def _categories(model: Any) -> dict[str, Array]:
    """Return the known categories of each column that has some."""
    transformers = getattr(model[1], "transformers_", ())
    encoders = [(encoder, names) for kind, encoder, names in transformers if kind == "category"]
    return {name: known.astype(str) for encoder, names in encoders for name, known in zip(names, encoder.categories_)}


def shown_day(day: float, origin: str) -> str:
    """Return the date that is a number of days after another."""
    import pandas as pd

    return str(pd.Timestamp(origin) + pd.Timedelta(days=float(day))).removesuffix(" 00:00:00")


def _news(table: Any, outside: list[dict[str, Any]], preparation: TablePreparation) -> list[str]:
    """Return notes on what a model has not learned about a new table."""
    import numpy as np

    notes = []
    kinds = {
        "have values that did not occur in training, in {}; they are treated as none of the known values.": [
            entry for entry in outside if "values" in entry and "missing" not in entry
        ],
        "have texts where a number or a date is expected, in {}; they are treated as missing.": [
            entry for entry in outside if "missing" in entry
        ],
        "have values outside the range of the training data, in {}; the model extrapolates.": [
            entry for entry in outside if "from" in entry
        ],
    }
    for sentence, entries in kinds.items():
        if entries:
            rows = int(np.logical_or.reduce([entry["rows"] for entry in entries]).sum())
            where = listed([repr(entry["column"]) for entry in entries])
            said = sentence.format(where) if rows > 1 else sentence.format(where).replace("have", "has", 1)
            notes.append(f"{rows:,} of {len(table):,} rows {said}")
    empty = [repr(name) for name in preparation.get_feature_names_out() if table[name].isna().all()]
    if empty:
        notes.append(f"There are no values in {listed(empty)}; all of them are treated as missing.")
    return notes


def _on_words(target: str | None, labels: Array | None) -> list[str]:
    """Return a note on classes whose names often stand for missing values."""
    import numpy as np

    from protolearn.core.texts import MISSING_WORDS

    if labels is None:
        return []
    names, counts = np.unique([label for label in labels if label in MISSING_WORDS], return_counts=True)
    if not len(names):
        return []
    words = listed([f"{str(name)!r} ({count:,} rows)" for name, count in zip(names, counts)])
    return [
        f"Column {target!r} has classes named {words}. These are classes as any other; if they mean a missing class, "
        "empty these cells of the table."
    ]


def listed(names: Sequence[str]) -> str:
    """Return names in a row, the first ones of many."""
    more = f" and {len(names) - MOST_LISTED} more" if len(names) > MOST_LISTED else ""
    return ", ".join(names[:MOST_LISTED]) + more


def _names(table: Any, preparation: TablePreparation) -> list[str] | None:
    """Return names of rows: the first column that has another text in each, or else another number."""
    candidates = [table[name] for name in preparation.names_of("identifier") if name in table.columns]
    chosen: Sequence[Any] = sorted(candidates, key=lambda column: column.dtype.kind in "iuf")[:1]
    return [str(value) for value in chosen[0]] if chosen else None


def _shortened(string: str) -> str:
    return string if len(string) <= NAMED else f"{string[: NAMED - 3]}..."
