"""Training, validation on held-out rows, and output files of commands on files."""

from __future__ import annotations

import math
import platform
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from protolearn import __version__
from protolearn.cli._samples import CliInput, check_exist, listed, part
from protolearn.cli._tasks import Task, ViewTask, predictions

if TYPE_CHECKING:
    from protolearn.cli._console import Bars
    from protolearn.core.types import Array, Indices

__all__ = ["FILES", "LearnedModel", "Validation", "learn", "outputs", "write_outputs"]

FILES = ("index.html", "model.skops", "predictions.csv", "report.json")
MOST_CLASSES = 200  # beyond which a column is taken for one of numbers or names
FEW_NUMBERS = 20  # that may well be classes
LEAST_OF_CLASS = 20  # rows of a class that a random part of the rows keeps, if there are so many
PAGE_ROWS = 10_000  # that the page shows, of more a random part
MANY_COPIES = 0.01  # share of samples that are copies, beyond which figures may be too good
LEAST_JUDGED = 100  # rows that a mapping has not seen, to judge it by them
UNKNOWN = "(unknown)"


@dataclass(frozen=True)
class Validation:
    """Scores on held-out rows, one for each fold of each repetition, or for each repetition."""

    folds: int
    repeats: int
    scores: dict[str, list[float]]
    held_out: Array | None = (
        None  # class of each learned row, by the model of the first repetition that had not seen it
    )

    def summary(self) -> dict[str, dict[str, float]]:
        """Return mean and standard deviation of each figure."""
        import numpy as np

        return {
            name: {"mean": float(np.mean(values)), "std": float(np.std(values))} for name, values in self.scores.items()
        }


@dataclass(frozen=True)
class LearnedModel:
    """A fitted model, and what is known about it."""

    task: Task
    samples: CliInput
    model: Any
    rows: Indices  # that it was learned from
    validation: Validation | None
    quality: dict[str, float]  # of a view
    columns: dict[str, Array]  # of the predictions
    notes: list[str] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def shown(self) -> Any:
        """The part of the model that takes prepared samples."""
        return self.model[1:] if self.samples.preparation is not None else self.model


def learn(task: Task, samples: CliInput, bars: Bars, *, folds: int, repeats: int, most: int | None) -> LearnedModel:
    """Fit the model of a task, judge it, and apply it to all samples."""
    from sklearn.base import clone
    from sklearn.pipeline import Pipeline

    from protolearn.dissimilarities import pairwise
    from protolearn.tables import table_pipeline

    start = perf_counter()
    notes = list(samples.notes)
    rows = _rows_to_learn(task, samples, most, notes)
    X = part(samples.prepared, rows, rows if samples.metric == "precomputed" else None)
    y = None if samples.labels is None else samples.labels[rows]
    if task.validated:
        _note_copies(samples, X, y, notes)
    with _kept_warnings(notes):
        pairs = X  # what is cut into folds: a prepared table, or all distances
        if samples.texts is not None:
            with bars.waiting(f"Comparing {len(X):,} {samples.word}"):
                pairs = pairwise(X, metric=samples.metric)
        with bars.waiting("Choosing the model"):
            estimator = task.estimator(samples, pairs)
        if samples.preparation is not None:
            model = table_pipeline(samples.preparation, estimator)[1:]
            judged = model
        else:
            model = estimator
            judged = clone(estimator).set_params(metric="precomputed")
        validation = _validate(task, judged, pairs, y, folds, repeats, bars, notes) if task.validated else None
        with bars.fitting(model[-1] if isinstance(model, Pipeline) else model):
            target = y.astype(str) if task.supervised and y is not None else None
            placed = samples.texts is not None and isinstance(task, ViewTask)
            model.fit(pairs if placed else X, target)
        quality = _quality(task, samples, model, pairs, rows, notes)
        columns = _columns(task, samples, model, rows, bars)
    if samples.preparation is not None:
        model = Pipeline([("table", samples.preparation), *model.steps])
    return LearnedModel(task, samples, model, rows, validation, quality, columns, notes, perf_counter() - start)


def _rows_to_learn(task: Task, samples: CliInput, most: int | None, notes: list[str]) -> Indices:
    """Return the rows to learn from: those with a label, if it takes labels, and a random part if they are too many."""
    import numpy as np

    rows = np.arange(len(samples))
    labels = samples.labels
    if task.supervised:
        if labels is None:
            where = "--target NAME" if samples.metric == "precomputed" else "a tab and the class after each string"
            where = "the names of sub-folders" if samples.source.is_dir() else where
            raise ValueError(f"{samples.source} contains no classes to learn; give them by {where}.")
        rows = np.flatnonzero(labels != None)  # noqa: E711, elementwise
        if len(rows) < len(labels):
            notes.append(f"{len(labels) - len(rows):,} rows without a class are not used for training, but predicted.")
        _check_classes(samples, labels[rows], notes)
    limit = most or task.limit(samples)
    if len(rows) <= limit:
        return rows
    notes.append(f"Trained on {limit:,} of {len(rows):,} {samples.word}, chosen at random (--rows).")
    rng = np.random.default_rng(task.seed)
    if labels is None or not task.supervised:
        return np.sort(rng.choice(rows, limit, replace=False))
    kept = []
    for name in np.unique(labels[rows].astype(str)):
        own = rng.permutation(rows[labels[rows] == name])
        kept.append(own[: max(round(limit * len(own) / len(rows)), LEAST_OF_CLASS)])
    return np.sort(np.concatenate(kept))


def _check_classes(samples: CliInput, labels: Array, notes: list[str]) -> None:
    """Require two classes or more, and not so many that the column is no class; say if it may be none."""
    import numpy as np

    target = samples.preparation.target if samples.preparation is not None else None
    column = f"Column {target!r}" if target is not None else f"{samples.source}"
    if len(labels) == 0:
        raise ValueError(f"{column} has no values, so there is no class to learn.")
    classes, counts = np.unique(labels.astype(str), return_counts=True)
    if len(classes) == 1:
        raise ValueError(f"{column} has one class only, {str(classes[0])!r}; at least two classes are needed.")
    if len(classes) > MOST_CLASSES or (len(classes) > 10 and 5 * len(classes) > len(labels)):
        raise ValueError(
            f"{column} has {len(classes):,} different values in {len(labels):,} rows; each class needs more "
            "rows. To predict numbers, divide them into classes first."
        )
    if counts.max() < 2:
        raise ValueError(f"{column} has one row of each class; validation requires at least two.")
    if len(classes) > FEW_NUMBERS and 20 * len(classes) > len(labels) and all(_is_number(name) for name in classes):
        notes.append(
            f"{column} holds {len(classes)} different numbers, which looks like a regression target rather than "
            "classes; each number is treated as a separate class, without regard to their order."
        )


def _is_number(name: str) -> bool:
    try:
        return math.isfinite(float(name))
    except ValueError:
        return False


def _note_copies(samples: CliInput, X: Any, y: Array | None, notes: list[str]) -> None:
    """Say how many samples are copies of others, which may be learned from and judged by at the same time."""
    import pandas as pd

    if samples.metric == "precomputed":
        return
    table = pd.DataFrame(X).reset_index(drop=True)
    copies = int(pd.concat([table, pd.Series(y, dtype=object)], axis=1).duplicated().sum())
    if copies > MANY_COPIES * len(table):
        notes.append(
            f"{copies:,} {samples.word} are copies of others in all training columns; unless they are independent "
            "observations, the scores are too optimistic, because copies occur in both training and test folds."
        )


def _validate(
    task: Task, model: Any, X: Any, y: Array | None, folds: int, repeats: int, bars: Bars, notes: list[str]
) -> Validation:
    """Judge a model by cross-validation, several times over with other folds."""
    import numpy as np
    from sklearn.base import clone
    from sklearn.model_selection import RepeatedKFold, RepeatedStratifiedKFold

    known = None if y is None else np.where(y == None, UNKNOWN, y).astype(str)  # noqa: E711, elementwise
    most = len(X) // 2 if known is None else int(np.unique(known, return_counts=True)[1].max())
    folds = min(folds, most)
    if folds < 2:
        notes.append(f"{len(X)} rows are too few for validation.")
        return Validation(0, 0, {})
    kind = RepeatedKFold if known is None else RepeatedStratifiedKFold
    splits = kind(n_splits=folds, n_repeats=repeats, random_state=task.seed)
    scores: dict[str, list[float]] = {}
    held_out = np.full((repeats, len(X)), None, dtype=object) if task.supervised else None
    if known is not None and task.supervised:
        if _leaves_one_class(known, splits):
            notes.append("Not validated: without the rows of a fold, only one class remains for training.")
            return Validation(0, 0, {})
        _note_rare_classes(known, folds, notes)
    with warnings.catch_warnings(), bars.counting("Validating", folds * repeats) as advance:
        warnings.filterwarnings("ignore", "The least populated class", UserWarning)
        for number, (train, test) in enumerate(splits.split(np.zeros(len(X)), known)):
            columns = None if hasattr(X, "iloc") else train
            old, new = part(X, train, columns), part(X, test, columns)
            labels = None if y is None or known is None else known if task.supervised else y
            seen = None if labels is None else labels[train]
            fitted = clone(model).fit(old, seen if task.supervised else None)
            found = task.scores(fitted, new, None if labels is None else labels[test], (old, seen))
            for name, value in found.items():
                scores.setdefault(name, []).append(value)
            if held_out is not None:
                held_out[number // folds, test] = fitted.predict(new)
            advance()
    if held_out is None or known is None:
        return Validation(folds, repeats, scores)
    for repetition in held_out:
        for name, value in task.pooled_scores(known, repetition).items():
            scores.setdefault(name, []).append(value)
    return Validation(folds, repeats, scores, held_out[0])


def _leaves_one_class(labels: Array, splits: Any) -> bool:
    """Tell whether there is a fold without which one class only is left."""
    import numpy as np

    codes = np.unique(labels, return_inverse=True)[1]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The least populated class", UserWarning)
        return any((codes[train] == codes[train[0]]).all() for train, _ in splits.split(codes, codes))


def _note_rare_classes(labels: Array, folds: int, notes: list[str]) -> None:
    """Say which classes do not have a row for each fold."""
    import numpy as np

    rare = [f"{str(name)!r} ({count})" for name, count in zip(*np.unique(labels, return_counts=True)) if count < folds]
    if rare:
        notes.append(
            f"Some classes have fewer rows than the {folds} folds, so their scores are unreliable: {listed(rare)}."
        )


def _quality(
    task: Task, samples: CliInput, model: Any, pairs: Any, rows: Indices, notes: list[str]
) -> dict[str, float]:
    """Return how good a view is: of rows that it has not seen, if it has a mapping and there are some."""
    import numpy as np

    if not isinstance(task, ViewTask):
        return {}
    judged = rows
    if task.mapping and len(samples) - len(rows) >= LEAST_JUDGED:
        judged = np.setdiff1d(np.arange(len(samples)), rows)
        judged = np.sort(np.random.default_rng(task.seed).permutation(judged)[:PAGE_ROWS])
    elif task.mapping:
        notes.append(
            f"The quality of the mapping is measured on its training {samples.word}, which may be too optimistic. Use "
            f"--rows NUMBER to leave out at least {LEAST_JUDGED} of them for the measurement."
        )
    labels = None if samples.labels is None else samples.labels[judged]
    if samples.metric is not None:
        return task.quality(pairs, model.embedding_, labels, samples.metric)
    columns = np.asarray(model[:-1].transform(part(samples.prepared, judged)))
    positions = model[-1].transform(columns) if task.mapping else model[-1].embedding_
    return task.quality(columns, positions, labels, None)


def _columns(task: Task, samples: CliInput, model: Any, rows: Indices, bars: Bars) -> dict[str, Array]:
    """Return what the model says about all samples; of a view without a mapping, about those it shows."""
    import numpy as np

    if isinstance(task, ViewTask) and not task.mapping:
        view = model if samples.metric is not None else model[-1]
        places = np.full((len(samples), 2), np.nan)
        places[rows] = view.embedding_
        return {"x": places[:, 0], "y": places[:, 1]}
    X = samples.prepared
    if samples.metric == "precomputed":
        X = X[:, rows]
    with bars.waiting(f"Predicting {len(samples):,} {samples.word}"):
        return predictions(model, X)


@contextmanager
def _kept_warnings(notes: list[str]) -> Iterator[None]:
    """Keep warnings for the end, each once; that a fit ended early in some folds matters little."""
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", DeprecationWarning)
        yield
    notes.extend(dict.fromkeys(" ".join(str(warning.message).split()) for warning in caught))


@contextmanager
def outputs(folder: Path, data: Path) -> Iterator[None]:
    """Require that all files can be written, and that none of them is read; a failure leaves no empty folder."""
    from importlib.util import find_spec

    from protolearn.core.files import check_output

    if find_spec("skops") is None:
        raise ImportError("Storing models requires skops, which is not installed: pip install 'protolearn[skops]'")
    check_exist(data)
    if data.is_dir() and folder.resolve().is_relative_to(data.resolve()):
        raise ValueError(f"{folder} is inside the input folder; choose another output folder.")
    if folder.exists() and not folder.is_dir():
        raise NotADirectoryError(f"{folder} is a file; choose an output folder.")
    new = [part for part in (folder, *folder.parents) if not part.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in FILES:
            check_output(folder / name, [data])
        yield
    except BaseException:
        with suppress(OSError):  # as soon as one of them holds a file
            for part in new:
                part.rmdir()
        raise


def write_outputs(learned: LearnedModel, folder: Path, report: dict[str, Any]) -> None:
    """Write the model, the predictions, the report and the page: all of them, or none if one cannot be written."""
    from protolearn import save
    from protolearn.cli._results import as_json, write_csv
    from protolearn.core.files import replacing_together

    with replacing_together() as writing:
        with writing(folder / "model.skops") as new:
            save(learned.model, new)
        with writing(folder / "predictions.csv") as new:
            write_csv(prediction_table(learned), new)
        with writing(folder / "index.html") as new:
            _write_page(learned, new)
        with writing(folder / "report.json") as new:  # the last, for the notes of the others
            new.write_text(as_json(report), encoding="utf-8")


def prediction_table(learned: LearnedModel) -> Any:
    """Return what is known and said about each sample."""
    import numpy as np

    table = as_frame(learned.samples, learned.columns)
    if learned.samples.labels is not None:
        table.insert(len(table.columns) - len(learned.columns), "target", learned.samples.labels)
    validation = learned.validation
    if validation is not None and validation.held_out is not None:
        held_out = np.full(len(table), None, dtype=object)
        held_out[learned.rows] = validation.held_out
        table["held out"] = held_out
    return table


def as_frame(samples: CliInput, columns: dict[str, Array]) -> Any:
    """Return columns of predictions with the number of each row, from 1 on, and its name."""
    import pandas as pd

    names = {} if samples.names is None else {"name": samples.names}
    return pd.DataFrame({"row": range(1, len(samples) + 1), **names, **columns})


def versions() -> dict[str, str]:
    """Return what the results were made with."""
    import numpy as np
    import sklearn

    return {
        "protolearn": __version__,
        "python": platform.python_version(),
        "scikit-learn": sklearn.__version__,
        "numpy": np.__version__,
    }


def _write_page(learned: LearnedModel, path: Path) -> None:
    """Write the page on which the model is explored, with a random part of many samples."""
    import numpy as np

    from protolearn.explore import explore

    samples, rows = learned.samples, learned.rows
    fixed = isinstance(learned.task, ViewTask) and not learned.task.mapping  # its rows are those that were learned from
    shown = rows
    if not fixed and len(rows) > PAGE_ROWS:
        shown = np.sort(np.random.default_rng(learned.task.seed).choice(rows, PAGE_ROWS, replace=False))
        learned.notes.append(f"The page shows {PAGE_ROWS:,} of {len(rows):,} {samples.word}, chosen at random.")
    X = part(samples.prepared, shown, rows if samples.metric == "precomputed" else None)
    labels = None if samples.labels is None else samples.labels[shown]
    explore(
        learned.shown,
        X,
        None if labels is None else np.where(labels == None, UNKNOWN, labels).astype(str),  # noqa: E711
        names=[str(row + 1) if samples.names is None else samples.names[row] for row in shown],
        images=None if samples.pictures is None else samples.pictures[shown],
        texts=None if samples.texts is None else [samples.texts[row] for row in shown],
        note=_on_validation(learned),
        path=path,
    )


def _on_validation(learned: LearnedModel) -> str:
    """Return a sentence on how good the model is, for the page, which shows samples that it has learned from."""
    validation = learned.validation
    if validation is None or "accuracy" not in validation.scores:
        return ""
    right = validation.summary()["accuracy"]
    return (
        f"Its accuracy on held-out rows is {100 * right['mean']:.1f} % ± {100 * right['std']:.1f} in "
        "cross-validation. This page shows the training rows, on which the accuracy is higher."
    )
