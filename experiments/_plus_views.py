"""What the experiments on supervised views share: the methods of Bunte 2011, table 7.1, and how they are judged.

A view with a plus sign sees the distances that a classifier has learned. Errors are of the nearest neighbor (1-NN) in
the view.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.frozen import FrozenEstimator
from sklearn.manifold import Isomap, LocallyLinearEmbedding
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier

from experiments._lvq import COLORS
from experiments._protocol import Array, canvas, repeat
from experiments._report import ADDED, MISSED, NO_NUMBER, ORDER, REPRODUCED, Row, holds, row
from protolearn import LGMLVQ, MVU, SNE, TSNE, XOM, Charting, DiscriminativeEmbedding
from protolearn.embedding import discriminative_distances, local_projection
from protolearn.metrics import nearest_neighbor_error

__all__ = [
    "CHARTING",
    "COLORS_10",
    "DISCRIMINANT",
    "METHODS",
    "NAIVE",
    "PRINCIPAL",
    "RUNS",
    "SETTINGS",
    "TOLERANCE",
    "UNFOLDING",
    "Found",
    "Printed",
    "Task",
    "Unfolded",
    "all_runs",
    "best",
    "claim_rows",
    "draw_pairs",
    "draw_points",
    "error_rows",
    "held_out_rows",
    "models",
    "points_to_draw",
    "scaled",
    "setting_rows",
    "trained",
    "unfolding_rows",
    "unfoldings",
    "without_labels",
]

RUNS, TUNED, HALVES = 5, 2, 3  # classifiers and starts: in all, of which so many choose the setting; on halves
TOLERANCE = 0.03
SHOWN = 500  # samples in a picture
NAIVE, CHARTING, PRINCIPAL, DISCRIMINANT, RAW = "naive projection", "charting+", "PCA", "LDA", "data space"
CHARTING_DEFAULT = f"{CHARTING}, defaults of the library"
CLASSIFIER, UNFOLDING, UNFOLDING_PLUS, UNFOLDING_LENGTHS = "LVQ", "MVU", "MVU+", "MVU+, learned lengths"
UNFOLDED = (5, 8, 12)  # neighbors
GRID = {  # values of one parameter; the middle one is taken where nothing is chosen
    "XOM": ("range_end", (0.05, "auto", 0.2)),
    "Isomap": ("n_neighbors", (10, 25, 50)),
    "LLE": ("n_neighbors", (6, 12, 35)),
    "SNE": ("perplexity", (15.0, 30.0, 50.0)),
    "t-SNE": ("perplexity", (20.0, 35.0, 50.0)),
}
METHODS = tuple(GRID)
BY_CHANCE = ("XOM", "SNE", "t-SNE")  # whose views differ from start to start
FRACTIONS, NEAREST = (0.1, 0.2, 0.4, 0.8), (1, 2, 3)
MIDDLE_CHARTS = (0.4, 2)
COLORS_10 = (*COLORS, "#000000", "#999999", "#8C510A")
SETTINGS = {
    "classifier": "LGMLVQ with a matrix of rank M for each prototype, solver and start of prototypes of the library "
    "(L-BFGS, neural gas), matrices from random numbers, by which the runs differ",
    "runs": f"{RUNS} classifiers (document: 10), one view each; no labels: {RUNS} starts of XOM, SNE, t-SNE and MVU",
    "grid": {f"{name}, {parameter}": list(values) for name, (parameter, values) in GRID.items()},
    "grid of charting": {"fraction": FRACTIONS, "n_nearest": NEAREST},
    "choice": f"the setting with the lowest mean error of the first {TUNED} classifiers or starts, as scored (labels "
    "of all samples, as in the document); of charting that of all runs",
    "charting": "gating by distance, bandwidth 'mean': a fraction alpha of the mean distance to k other prototypes",
    "XOM": "250 sweeps over at most 12 sqrt(n) vectors in a hexagon, rate 0.9 -> 0.05; last range in units of the root "
    "mean square distance",
    "Isomap, LLE": "scikit-learn; LLE+ by this library, neighbors by the learned metric",
    "halves": f"{HALVES} classifiers trained on half of the samples, drawn by class; all samples are embedded, those "
    "of the other half without labels (charting: placed by its map); middle setting of the grid, nothing chosen",
    "held-out error": "1-NN of the other half, with the training half as neighbors",
    "rule": f"tolerance {TOLERANCE}, or the printed deviation if it is larger",
}

Printed = Mapping[str, tuple[float, float]]  # by view: error, deviation
Found = dict[tuple[str, str], list[float]]  # by view and setting: errors of the runs
Views = dict[tuple[str, str], Array]
Unfolded = Mapping[str, Mapping[int, Array]]  # by kind and neighbors: errors of the runs


class Task(NamedTuple):
    """Samples, classes, prototypes of each class, and the ranks M with the views that are wanted of each."""

    X: Array
    y: Array
    per_class: int
    ranks: Mapping[int, Sequence[str]]


class Outcome(NamedTuple):
    """Errors by view and setting, and the views themselves."""

    errors: dict[tuple[str, str], float]
    points: Views


class Runs(NamedTuple):
    """All that was found: leave-one-out errors, held-out errors, and the views of all runs."""

    errors: Found
    held_out: Found
    points: dict[tuple[str, str], list[Array]]


def all_runs(task: Task, quick: bool = False) -> Runs:
    """Make all views of a data set, with all classifiers."""
    n_runs, n_tuned, n_halves = (2, 1, 1) if quick else (RUNS, TUNED, HALVES)
    errors: Found = {}
    held_out: Found = {}
    points: dict[tuple[str, str], list[Array]] = {}
    plain = [(name, words, i) for name in METHODS for words in models(name, 0) for i in starts(name, 0, n_tuned)]
    _collect(errors, points, repeat(without_labels, plain, task))
    more = [(name, best(errors, name)[0], i) for name in METHODS for i in starts(name, n_tuned, n_runs)]
    _collect(errors, points, repeat(without_labels, more, task))
    for name in METHODS:
        halves = [half(task.y, seed) for seed in range(n_halves)]
        middle, *_ = points[name, middle_of(name)]
        held_out[name, middle_of(name)] = [error_of_others(middle, task.y, *parts) for parts in halves]
    _collect(errors, points, [linear_views(task)])
    _collect(errors, points, repeat(by_charts, range(n_runs), task, False))
    _collect(held_out, {}, repeat(by_charts, range(n_halves), task, True))
    for rank, wanted in task.ranks.items():
        every = {name: tuple(models(name, 0)) for name in wanted}
        _collect(errors, points, repeat(with_labels, range(n_tuned), task, rank, every, False))
        chosen = {name: (best(errors, plus(name, rank))[0],) for name in wanted}
        _collect(errors, points, repeat(with_labels, range(n_tuned, n_runs), task, rank, chosen, False))
        fixed = {name: (middle_of(name),) for name in wanted}
        _collect(held_out, {}, repeat(with_labels, range(n_halves), task, rank, fixed, True))
    return Runs(errors, held_out, points)


def models(name: str, seed: int) -> dict[str, Any]:
    """Return the embeddings of a kind, by their setting in words."""
    parameter, values = GRID[name]
    return {f"{parameter} {value}": build(name, seed, **{parameter: value}) for value in values}


def build(name: str, seed: int, **options: Any) -> Any:
    if name in ("Isomap", "LLE"):
        kind = Isomap if name == "Isomap" else LocallyLinearEmbedding
        return kind(**options, **({} if name == "Isomap" else {"random_state": seed}))
    if name == "XOM":
        return XOM(random_state=seed, **options)
    return {"SNE": SNE, "t-SNE": TSNE}[name](random_state=seed, n_jobs=1, **options)


def starts(name: str, first: int, last: int) -> range:
    """Return the seeds from first to last of a view without labels: none but 0 if it has no chance in it."""
    return range(first, last if name in BY_CHANCE else min(last, 1))


def middle_of(name: str) -> str:
    return list(models(name, 0))[1]


def plus(name: str, rank: int) -> str:
    """Return the name of a supervised view."""
    return f"{name}+, M = {rank}"


def without_labels(job: tuple[str, str, int], task: Task) -> Outcome:
    """Return a view without labels and its leave-one-out error; a job is a kind of view, its setting and a seed."""
    name, words, seed = job
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn tells of neighbor graphs that fall apart
        Y = models(name, seed)[words].fit_transform(task.X)
    error = nearest_neighbor_error(Y, task.y, n_jobs=1)
    print(f"{name}, {words}, start {seed}: {error:.3f}", flush=True)
    return Outcome({(name, words): error}, {(name, words): Y})


def linear_views(task: Task) -> Outcome:
    """Return the views by PCA and LDA, and the error in the data space."""
    views = {(PRINCIPAL, ""): PCA(2).fit_transform(task.X)}
    if len(np.unique(task.y)) > 2:
        views[DISCRIMINANT, ""] = LinearDiscriminantAnalysis(n_components=2).fit_transform(task.X, task.y)
    errors = {key: nearest_neighbor_error(Y, task.y, n_jobs=1) for key, Y in views.items()}
    return Outcome(errors | {(RAW, ""): nearest_neighbor_error(task.X, task.y, n_jobs=1)}, views)


def with_labels(seed: int, task: Task, rank: int, wanted: Mapping[str, Sequence[str]], halved: bool) -> Outcome:
    """Return the errors of all views by one classifier, of the other half if it is trained on one half."""
    X, y = task.X, task.y
    lvq, train, test = trained(seed, task, rank, halved)
    views: Views = {}
    for name, settings in wanted.items():
        for words in settings:
            embedding = models(name, seed)[words]
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                Y = DiscriminativeEmbedding(FrozenEstimator(lvq), embedding).fit_transform(X)
            views[plus(name, rank), words] = Y
    errors = errors_of(views, y, train, test)
    errors[f"{CLASSIFIER}, M = {rank}", ""] = 1.0 - lvq.score(X[test], y[test])
    if halved and rank == min(task.ranks):
        errors[RAW, ""] = error_of_others(X, y, train, test)
    print(f"classifier {seed}, M = {rank}{', half' if halved else ''}: " + _told(errors), flush=True)
    return Outcome(errors, {} if halved else views)


def by_charts(seed: int, task: Task, halved: bool) -> Outcome:
    """Return the errors of the naive projection and of charting by one classifier, see `with_labels`."""
    lvq, train, test = trained(seed, task, 2, halved)
    views: Views = {(NAIVE, ""): local_projection(lvq, task.X)}
    for (name, words), options in chart_settings(halved).items():
        charting = Charting(local_model=FrozenEstimator(lvq), n_init=1, n_jobs=1, **options)
        views[name, words] = charting.fit(task.X[train], task.y[train]).transform(task.X)
    errors = errors_of(views, task.y, train, test)
    print(f"charts, classifier {seed}{', half' if halved else ''}: " + _told(errors), flush=True)
    return Outcome(errors, {} if halved else views)


def chart_settings(halved: bool) -> dict[tuple[str, str], dict[str, Any]]:
    """Return the settings of charting: as in the document, and the defaults of the library."""
    chosen = [MIDDLE_CHARTS] if halved else [(fraction, nearest) for fraction in FRACTIONS for nearest in NEAREST]
    printed: dict[str, Any] = {"gating": "distance", "bandwidth": "mean"}
    found = {(CHARTING, f"alpha {a}, k {k}"): printed | {"fraction": a, "n_nearest": k} for a, k in chosen}
    return found | {(CHARTING_DEFAULT, ""): {}}


def trained(seed: int, task: Task, rank: int, halved: bool) -> tuple[LGMLVQ, Array, Array]:
    """Return a classifier, and the samples that it was trained on and is scored by."""
    train, test = half(task.y, seed) if halved else (np.arange(len(task.y)),) * 2
    lvq = LGMLVQ(task.per_class, n_components=rank, metric_init="random", random_state=seed)
    return lvq.fit(task.X[train], task.y[train]), train, test


def errors_of(views: Views, y: Array, train: Array, test: Array) -> dict[tuple[str, str], float]:
    """Return the errors of the samples to score, leave-one-out if these are the training samples."""
    if len(train) == len(y):
        return {key: nearest_neighbor_error(Y, y, n_jobs=1) for key, Y in views.items()}
    return {key: error_of_others(Y, y, train, test) for key, Y in views.items()}


def half(y: Array, seed: int) -> tuple[Array, Array]:
    """Return the samples of two halves, drawn by class."""
    train, test = train_test_split(np.arange(len(y)), test_size=0.5, stratify=y, random_state=seed)
    return np.sort(train), np.sort(test)


def error_of_others(Y: Array, y: Array, train: Array, test: Array) -> float:
    """Return the error of 1-NN for some samples, with others as neighbors."""
    return 1.0 - float(KNeighborsClassifier(1).fit(Y[train], y[train]).score(Y[test], y[test]))


def _collect(found: Found, points: dict[tuple[str, str], list[Array]], outcomes: Sequence[Outcome]) -> None:
    for outcome in outcomes:
        for key, error in outcome.errors.items():
            found.setdefault(key, []).append(error)
        for key, Y in outcome.points.items():
            points.setdefault(key, []).append(Y)


def _told(errors: Mapping[tuple[str, str], float]) -> str:
    lowest: dict[str, float] = {}
    for (name, _), error in errors.items():
        lowest[name] = min(error, lowest.get(name, 1.0))
    return ", ".join(f"{name} {error:.3f}" for name, error in lowest.items())


def best(found: Found, name: str) -> tuple[str, Array]:
    """Return the setting of a view that was chosen, and its errors in all runs."""
    settings = {words: np.array(errors) for (view, words), errors in found.items() if view == name}
    most = max(map(len, settings.values()))  # only the chosen setting has all runs
    kept = {words: errors for words, errors in settings.items() if len(errors) == most}
    words = min(kept, key=lambda words: float(kept[words].mean()))
    return words, kept[words]


def views_of(found: Found) -> list[str]:
    return list(dict.fromkeys(name for name, _ in found))


def error_rows(found: Found, printed: Printed) -> list[Row]:
    """Return rows for all views: those of the table are judged, t-SNE+ and the others are for the record."""
    return [error_row(found, name, printed.get(name)) for name in views_of(found)]


def error_row(found: Found, name: str, printed: tuple[float, float] | None) -> Row:
    ours = best(found, name)[1]
    quantity = f"1-NN error, {name}" if not name.startswith(CLASSIFIER) else f"error of the classifier, {name}"
    if printed is None:
        return row(quantity, None, ours, NO_NUMBER)
    error, tolerance = printed[0], max(TOLERANCE, printed[1])
    difference = float(ours.mean()) - error
    supervised = "+" in name or name in (NAIVE, DISCRIMINANT) or name.startswith(CLASSIFIER)
    if difference <= tolerance and (supervised or difference >= -tolerance):
        verdict = REPRODUCED
    else:
        verdict = ORDER if gains(found, name) else MISSED
    return row(quantity, error, ours, verdict)


def gains(found: Found, name: str) -> bool:
    """Say whether labels lower the error of a kind of view, as in the whole table."""
    kind = name.split("+")[0]
    if name in (NAIVE, CHARTING, PRINCIPAL):  # which have no counterpart but each other
        return max(best(found, view)[1].mean() for view in (NAIVE, CHARTING)) < best(found, PRINCIPAL)[1].mean()
    supervised = [view for view in views_of(found) if view.startswith(f"{kind}+")]
    return bool(supervised) and all(best(found, view)[1].mean() < best(found, kind)[1].mean() for view in supervised)


def claim_rows(found: Found, kinds: Sequence[str] = METHODS[:-1]) -> list[Row]:
    """Return a row on the claim of the whole table: learned distances lower the error of every kind of view."""
    lower = [kind for kind in kinds if gains(found, kind)]
    text = f"{len(lower)} of {len(kinds)}" + ("" if len(lower) == len(kinds) else f" ({', '.join(lower)})")
    return [row("kinds of views with a lower 1-NN error by learned distances", "all", text, holds(lower == [*kinds]))]


def setting_rows(found: Found) -> list[Row]:
    """Return rows with the chosen settings, and the errors of all settings."""
    rows = []
    for name in views_of(found):
        settings = {words: float(np.mean(errors)) for (view, words), errors in found.items() if view == name and words}
        if name == CHARTING:  # too many
            settings = {words: error for words, error in settings.items() if words.endswith("k 2")}
        if settings:
            text = "; ".join(f"{words}: {error:.3f}" for words, error in settings.items())
            rows.append(row(f"{name}, chosen {best(found, name)[0]}; mean errors", None, text, NO_NUMBER))
    return rows


def held_out_rows(held_out: Found) -> list[Row]:
    """Return rows with the errors of samples whose labels the classifier has not seen."""
    return [
        row(f"held-out error, {name}" + (f", {words}" if words else ""), None, errors, NO_NUMBER)
        for (name, words), errors in held_out.items()
    ]


def unfoldings(task: Task, kinds: Sequence[str] = (UNFOLDING, UNFOLDING_PLUS, UNFOLDING_LENGTHS)) -> Unfolded:
    """Return the errors of maximum variance unfolding without and with labels, by the number of neighbors."""
    jobs = [(kind, k, seed) for kind in kinds for k in UNFOLDED for seed in range(RUNS)]
    errors = np.array(repeat(unfolded, jobs, task)).reshape(len(kinds), len(UNFOLDED), RUNS)
    return {kind: dict(zip(UNFOLDED, part)) for kind, part in zip(kinds, errors)}


def unfolding_rows(found: Unfolded, printed: Mapping[str, float], judged: bool) -> list[Row]:
    """Return rows for maximum variance unfolding; a number of neighbors counts if its graphs are never in parts."""
    rows = []
    for name, errors in found.items():
        whole = {k: line for k, line in errors.items() if not np.isnan(line).any()}
        text = "; ".join(f"{k}: {np.nanmean(line):.3f}" for k, line in errors.items() if not np.isnan(line).all())
        parts = "; ".join(f"{k}: {np.isnan(line).sum()}" for k, line in errors.items() if k not in whole)
        if whole:
            k = min(whole, key=lambda k: float(whole[k].mean()))
            error = printed[name.split(",")[0]]
            difference = float(whole[k].mean()) - error
            near = difference <= TOLERANCE and ("+" in name or difference >= -TOLERANCE)
            verdict = ADDED if name == UNFOLDING_LENGTHS else holds(near) if judged else NO_NUMBER
            rows.append(row(f"1-NN error, {name}, {k} neighbors", error, whole[k], verdict))
        if text:
            rows.append(row(f"{name}, mean errors by neighbors", None, text, NO_NUMBER))
        if parts:
            rows.append(row(f"{name}, runs with a graph in parts, by neighbors", None, parts, NO_NUMBER))
    return rows


def unfolded(job: tuple[str, int, int], task: Task) -> float:
    """Return the error of a view by maximum variance unfolding; NaN if the graph of neighbors is not connected.

    A job is a kind of unfolding, a number of neighbors, and the seed of the view and of the classifier, if any.
    """
    kind, k, seed = job
    X = task.X
    model: Any = MVU(n_neighbors=k, random_state=seed)
    if kind != UNFOLDING:
        lvq = LGMLVQ(task.per_class, n_components=2, metric_init="random", random_state=seed).fit(X, task.y)
        if kind == UNFOLDING_LENGTHS:
            X = discriminative_distances(lvq, X)
            model.set_params(metric="precomputed")
        else:
            model = DiscriminativeEmbedding(FrozenEstimator(lvq), model)
    try:
        error = nearest_neighbor_error(model.fit_transform(X), task.y, n_jobs=1)
    except ValueError:
        error = np.nan
    print(f"{kind}, {k} neighbors, run {seed}: {error:.3f}", flush=True)
    return error


def points_to_draw(runs: Runs, y: Array) -> dict[str, Any]:
    """Return what `draw_pairs` needs: a view of each kind, thinned."""
    some = np.random.RandomState(0).permutation(len(y))[:SHOWN]
    names = [name for name in views_of(runs.errors) if any(view == name for view, _ in runs.points)]
    names = [name for name in names if name != CHARTING_DEFAULT and (", M =" not in name or name.endswith(", M = 2"))]
    points = {}
    for name in names:
        words, errors = best(runs.errors, name)
        points[f"{name}, {float(errors[0]):.3f}"] = scaled(runs.points[name, words][0][some])
    return {"shown": some, "y": np.unique(y, return_inverse=True)[1][some], "points": points}


def scaled(Y: Array) -> Array:
    """Return positions between 0 and 1, the outermost per cent of them at the edge."""
    low, high = np.percentile(Y, [0.5, 99.5], axis=0)
    return np.clip((Y - low) / np.maximum(high - low, 1e-300), 0, 1).round(4)


def draw_pairs(data: Mapping[str, Any]) -> Figure:
    """Draw views without labels above, and their supervised counterparts below."""
    titles = list(data["points"])
    above = [title for title in titles if "+" not in title and not title.startswith(NAIVE)]
    below = [title for title in titles if title not in above]
    figure, axes = canvas(2, max(len(above), len(below)), (2.5, 2.6))
    for line, chosen in zip(axes, (above, below)):
        for ax, title in zip(line, chosen):
            draw_points(ax, data["points"][title], data["y"], title)
        for ax in line[len(chosen) :]:
            ax.axis("off")
    figure.suptitle("1-NN errors; first classifier of all, best setting", fontsize=9)
    return figure


def draw_points(ax: Axes, points: Any, y: Any, title: str) -> None:
    x, up = np.array(points).T
    ax.scatter(x, up, s=5, c=[COLORS_10[label] for label in y], linewidth=0)
    ax.set(xticks=[], yticks=[])
    ax.set_title(title, fontsize=8)
