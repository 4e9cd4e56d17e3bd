"""V9: views of handwritten digits with SONE.

Protocol (Bunte 2011, sec. 8.6.1, tables 8.1 and 8.2, figs. 8.4-8.6): USPS digits 0 to 4, 5500 samples; SONE on a
triangular mesh in a circle with 562 sampling vectors, 50 epochs, perplexity 30 -> 3; t-SONE on a hexagon, 500 epochs,
n_k 3000 -> 10, width of the kernel 1e7 -> 5000; both without structure hypothesis (ws), 300 epochs, perplexity
500 -> 5; t-SNE with perplexity 45; PCA; 10 runs. Sammon stress, correlation of distances (Spearman, Pearson),
leave-one-out 1-NN error in the view.

Here the digits 0 to 4 of another version of USPS, training and test set: 5427 samples, and classes of 824 to 1553
samples instead of 1100; PCA and t-SNE on the same data show what that alone changes. The size of the hexagon is not
given; 397 vectors with a spacing of 10 have the diameter that goes with the printed width: a tenth of its square.
The winner is the one with the smallest divergence, as in the document, but found by 128 neighbors of each sample.
Beside it stand the rule of the library, by which each sample has its own neighborhood and the nearest image wins, with
the schedules of the document, and the defaults of the library. Images of t-SONE start at random in the bounding box of
the structure. Those of SONE, whose neighborhoods are narrow from the start, begin at principal components, the default
of the library; a random start stands beside it. Epochs are those of the document, runs are fewer, see RUNS. The
variants without structure run on WS_PER_CLASS samples of each class, with the first perplexity in proportion. Settings
are those of the document and of the library. Why the printed rule fails was found on half of these samples; the rule
of the library was then chosen on other data (MNIST, digits of 8 x 8 pixels, letters, satellite images, digits 5 to 9 of
USPS). Charting, whose settings are not printed, has the defaults of the library; it was run later than all others.

Rule, fixed before any run: a value is reproduced if it differs from the printed one by at most TOLERANCE: the printed
deviations are rounded to 0.0 or 0.1, so 0.05 for stress and 0.1 for correlations; 0.02 for the errors of t-SONE and
t-SNE, and 0.05 for those of single runs and of charting. Otherwise "same order" if t-SONE and t-SNE compare as in
table 8.1, in that measure (Sammon stress: they differ by at most 0.05). Only the winner of the document is judged. A
structure is filled if 90 % of its sampling vectors are the nearest one of an image, and shows gaps if fewer are than
with SONE. The area of a digit is the number of cells of a grid of 20 x 20 over the view that hold one of its first 800
samples.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure
from sklearn.decomposition import PCA

from experiments._folds import MISSING
from experiments._lvq import COLORS
from experiments._protocol import Array, canvas, load, repeat
from experiments._report import NO_NUMBER, SKIPPED, Result, Row, holds, judge, report, row
from experiments._sone_views import OURS, SETTINGS, WINNERS, Seen, draw_view, looked_at, stacked
from protolearn import SONE, TSNE, Charting

TITLE = "views of digits with SONE"
MEASURES = {"sammon": "Sammon stress", "spearman": "Spearman", "pearson": "Pearson", "error": "1-NN error"}
TOLERANCE = {"sammon": 0.05, "spearman": 0.1, "pearson": 0.1, "error": 0.02}
SINGLE = 0.05  # tolerance of errors that are printed for one run
N_DIGITS = 5
FIRST, CELLS = 800, 20  # samples of a digit, and cells along a side, for areas
FILLED = 0.9
EPOCHS, CIRCLE_EPOCHS, WS_EPOCHS = 500, 50, 300  # of t-SONE, SONE, and without structure
WS_PER_CLASS = 100
N_RUNS = 5
SIZES = (10, 100, 1000)  # of neighborhoods
EVERY = 8  # sample of the whole data is drawn, and every second one of the smaller data

PRINTED_TSONE, OUR_TSONE = (f"t-SONE, {rule}" for rule in (WINNERS["divergence"], OURS))
PRINTED_SONE, OUR_SONE = (f"SONE, circle, {rule}" for rule in (WINNERS["divergence"], OURS))
RANDOM_SONE = f"{PRINTED_SONE}, random start"
AS_PRINTED: dict[str, Any] = {"winner": "divergence", "neighborhoods": "winner"}
T_SNE, PRINCIPAL, DEFAULTS, CHARTED = "t-SNE, perplexity 45", "PCA", "t-SONE, defaults", "charting"
RUNS = {  # on all samples
    PRINCIPAL: 1,
    CHARTED: N_RUNS,
    T_SNE: 3,
    PRINTED_TSONE: N_RUNS,
    PRINTED_SONE: N_RUNS,
    DEFAULTS: N_RUNS,
    OUR_TSONE: N_RUNS,
    OUR_SONE: N_RUNS,
    RANDOM_SONE: 1,
}
TABLE = {
    PRINTED_TSONE: {"sammon": 0.16, "spearman": 0.54, "pearson": 0.57, "error": 0.06},
    T_SNE: {"sammon": 0.16, "spearman": 0.40, "pearson": 0.44, "error": 0.02},
}
CHARTING = {"sammon": 0.25, "spearman": 0.42, "pearson": 0.43, "error": 0.29}
SINGLE_ERRORS = {PRINTED_SONE: 0.13, PRINTED_TSONE: 0.05, PRINCIPAL: 0.37}
REMARKS = {
    "SONE, circle": "samples that are among the nearest neighbors of no other stay behind; not so with own "
    "neighborhoods, see the error without a verdict",
    "t-SNE": "our t-SNE keeps distances better than the printed one",
    "charting": "our charting keeps distances and classes better than the printed one, whose settings are not known",
    "PCA": "another version of USPS, with classes of other sizes",
    "t-SONE": "samples that are among the nearest neighbors of no other stay behind; not so with own neighborhoods, "
    "see the rows without a verdict. The size of the mesh and the bandwidths are not given in the document",
}


class Outcome(NamedTuple):
    """A view, and the share of the sampling vectors that are the nearest one of an image (NaN without a structure)."""

    seen: Seen
    filled: float


def run(quick: bool = False) -> Result:
    data = digits()
    if data is None:
        print(MISSING)
        return report({}, [row("table 8.1", "table 8.1", None, SKIPPED)])
    X, y = (part[::20] for part in data) if quick else data
    jobs = all_jobs(quick)
    outcomes = repeat(outcome, jobs, X, y, quick)
    return result_of(jobs, outcomes, y)


def digits() -> tuple[Array, Array] | None:
    files = load("usps")
    if files is None:
        return None
    X, y = (np.concatenate([files[f"{part}_train"], files[f"{part}_test"]]) for part in "Xy")
    chosen = y < N_DIGITS
    return X[chosen] / 1000.0, y[chosen].astype(int)


def all_jobs(quick: bool) -> list[tuple[str, int]]:
    """Return methods and seeds, the fast ones first."""
    counts = RUNS | dict.fromkeys(without_structure(0, 1, 1), N_RUNS)
    return [(name, seed) for name, count in counts.items() for seed in range(1 if quick else count)]


def outcome(job: tuple[str, int], X: Array, y: Array, quick: bool) -> Outcome:
    name, seed = job
    if "(ws)" in name:
        part = few(y)
        X, y = X[part], y[part]
        model = without_structure(seed, len(X), 5 if quick else WS_EPOCHS)[name]
    else:
        model = with_structure(seed, len(X), quick)[name]
    seen = looked_at(model, X, y)
    vectors = getattr(model, "structure_", None)
    filled = np.nan if vectors is None else len(np.unique(model.labels_)) / len(vectors)
    print(f"{name}, seed {seed}: " + ", ".join(f"{m} {getattr(seen, m):.3f}" for m in MEASURES), flush=True)
    return Outcome(seen, filled)


def few(y: Array) -> Array:
    """Return the first samples of each class."""
    return np.concatenate([np.flatnonzero(y == label)[:WS_PER_CLASS] for label in np.unique(y)])


def with_structure(seed: int, n: int, quick: bool) -> dict[str, Any]:
    tsone: dict[str, Any] = {
        "structure": "hexagon",
        "n_sampling": 397,
        "n_neighbors_start": 3000 * n / 5500,
        "n_neighbors_end": 10,
        "scale_start": 1e7,
        "scale_end": 5000.0,
        "bandwidth": "radius",
        "init": "random",
        "max_iter": 10 if quick else EPOCHS,
        "random_state": seed,
    }
    sone: dict[str, Any] = {
        "kernel": "gaussian",
        "structure": "circle",
        "n_sampling": 562,
        "max_iter": 5 if quick else CIRCLE_EPOCHS,
        "bandwidth": "perplexity",
        "n_neighbors_start": 30,
        "n_neighbors_end": 3,
        "random_state": seed,
    }
    return {
        PRINCIPAL: PCA(2, random_state=seed),
        CHARTED: Charting(random_state=seed),
        T_SNE: TSNE(perplexity=45.0, init="random", n_jobs=1, random_state=seed),
        DEFAULTS: SONE(random_state=seed),
        PRINTED_TSONE: SONE(**AS_PRINTED, **tsone),
        OUR_TSONE: SONE(**tsone),
        PRINTED_SONE: SONE(**AS_PRINTED, **sone),
        OUR_SONE: SONE(**sone),
        RANDOM_SONE: SONE(init="random", **AS_PRINTED, **sone),
    }


def without_structure(seed: int, n: int, epochs: int) -> dict[str, Any]:
    options: dict[str, Any] = {
        "structure": None,
        "max_iter": epochs,
        "bandwidth": "perplexity",
        "n_neighbors_start": max(500 * n / 5500, 5),
        "n_neighbors_end": 5,
        "random_state": seed,
    }
    kinds: dict[str, dict[str, Any]] = {
        "SONE(ws)": {"kernel": "gaussian"},
        "t-SONE(ws)": {"scale_start": 1e7, "scale_end": 0.1},
    }
    return {f"{name}, {WINNERS['divergence']}": SONE(**AS_PRINTED, **kind, **options) for name, kind in kinds.items()}


def result_of(jobs: list[tuple[str, int]], outcomes: list[Outcome], y: Array) -> Result:
    found: dict[str, list[Outcome]] = {}
    for (name, _), one in zip(jobs, outcomes):
        found.setdefault(name, []).append(one)
    views = {name: [one.seen for one in runs] for name, runs in found.items()}
    rows = [*table_rows(views), *structure_rows(found), *area_rows(views, y), *record_rows(views)]
    settings = SETTINGS | {
        "data": "USPS, digits 0 to 4 of training and test set, gray values from -1 to 1",
        "runs": {name: len(runs) for name, runs in found.items()},
        "epochs": {"t-SONE": EPOCHS, "SONE": CIRCLE_EPOCHS, "without structure": WS_EPOCHS},
        "n_k": "3000 of 5500 samples, in proportion",
        "without structure": f"{WS_PER_CLASS} samples per class",
        "rule": "see the script",
    }
    whole = {name: runs for name, runs in views.items() if "(ws)" not in name}
    drawn = {
        "y": y[::EVERY],
        "y few": y[few(y)][::2],
        "points": {
            name: runs[0].points[:: 2 if "(ws)" in name else EVERY].round(2)
            for name, runs in views.items()
            if shown(name)
        },
        "q": {name: thinned(stacked(runs, "q")) for name, runs in whole.items() if shown(name)},
        "b": {name: thinned(stacked(runs, "b")) for name, runs in whole.items() if shown(name)},
    }
    return report(settings, rows, drawn)


def shown(name: str) -> bool:
    return name != RANDOM_SONE


def thinned(curves: Array) -> Array:
    """Return a mean curve at some sizes of neighborhoods: sizes, values."""
    sizes = np.unique(np.geomspace(1, curves.shape[1], 60).astype(int))
    return np.array([sizes, curves.mean(axis=0)[sizes - 1]])


def table_rows(views: dict[str, list[Seen]]) -> list[Row]:
    """Return rows for table 8.1, and for the errors in fig. 8.4."""
    rows = []
    for measure, words in MEASURES.items():
        sone, sne = (stacked(views[name], measure) for name in TABLE)
        ordered = compare_as_printed(measure, sone.mean(), sne.mean())
        for name, printed in TABLE.items():
            ours = stacked(views[name], measure)
            verdict = judge(ours, printed[measure], TOLERANCE[measure], ordered)
            rows.append(row(f"{words}, {name}", printed[measure], ours, verdict))
        rows.append(charting_row(measure, stacked(views[CHARTED], measure)))
    errors = {name: stacked(views[name], "error") for name in SINGLE_ERRORS}
    ordered = errors[PRINTED_TSONE].mean() < errors[PRINTED_SONE].mean() < errors[PRINCIPAL].mean()
    for name, error in SINGLE_ERRORS.items():
        first = float(errors[name][0])
        rows.append(row(f"1-NN error of one run, {name}", error, first, judge(first, error, SINGLE, ordered)))
    return rows


def charting_row(measure: str, ours: Array) -> Row:
    """Return the row of table 8.1 for charting."""
    tolerance = SINGLE if measure == "error" else TOLERANCE[measure]
    verdict = judge(ours, CHARTING[measure], tolerance, same_order=False)
    return row(f"{MEASURES[measure]}, {CHARTED}", CHARTING[measure], ours, verdict)


def compare_as_printed(measure: str, sone: float, sne: float) -> bool:
    if measure == "sammon":
        return abs(sone - sne) <= TOLERANCE[measure]
    return sone > sne  # correlations, and also the error


def structure_rows(found: dict[str, list[Outcome]]) -> list[Row]:
    """Return rows on how much of the structure is filled."""
    filled = {name: np.array([one.filled for one in runs]) for name, runs in found.items()}
    sone, tsone = filled[PRINTED_SONE].mean(), filled[PRINTED_TSONE].mean()
    judged = {
        PRINTED_SONE: ("the whole circle", holds(sone >= FILLED)),
        PRINTED_TSONE: ("with gaps", holds(tsone < sone)),
    }
    return [
        row(f"sampling vectors next to an image, {name}", *_between(judged.get(name), values))
        for name, values in filled.items()
        if np.isfinite(values).all()
    ]


def _between(said: tuple[str, str] | None, ours: Array) -> tuple[Any, Any, str]:
    return (None, ours, NO_NUMBER) if said is None else (said[0], ours, said[1])


def area_rows(views: dict[str, list[Seen]], y: Array) -> list[Row]:
    """Return rows on the areas of the digits."""
    rows = []
    for name, runs in views.items():
        if "(ws)" in name:
            continue
        areas = np.mean([areas_of(one.points, y) for one in runs], axis=0)
        text = ", ".join(f"{area:.0f}" for area in areas)
        rows.append(row(f"areas of the digits 0 to 4, {name}", None, text, NO_NUMBER))
        if name in (PRINTED_TSONE, PRINTED_SONE):
            least, most = int(areas.argmin()), sorted(np.argsort(areas)[-2:])
            rows += [
                row(f"digit with the smallest area, {name}", "1", str(least), holds(least == 1)),
                row(
                    f"digits with the largest areas, {name}",
                    "2, 4",
                    ", ".join(map(str, most)),
                    holds(most == [2, 4]),
                ),
            ]
    return rows


def areas_of(points: Array, y: Array) -> Array:
    """Return the number of cells of a grid over the view that hold some of the first samples of each digit."""
    low, high = points.min(axis=0), points.max(axis=0)
    cells = np.minimum(((points - low) / (high - low) * CELLS).astype(int), CELLS - 1)
    index = cells[:, 0] * CELLS + cells[:, 1]
    return np.array([len(np.unique(index[y == label][:FIRST])) for label in range(N_DIGITS)])


def record_rows(views: dict[str, list[Seen]]) -> list[Row]:
    """Return rows without a verdict: all other values, and Q and B at a few sizes of neighborhoods."""
    rows = []
    for name, runs in views.items():
        if name not in (*TABLE, CHARTED):
            printed = TABLE[PRINTED_TSONE] if name in (OUR_TSONE, DEFAULTS) else {}
            for measure, words in MEASURES.items():
                rows.append(row(f"{words}, {name}", printed.get(measure), stacked(runs, measure), NO_NUMBER))
    for measure in "qb":
        for name, runs in views.items():
            curves = stacked(runs, measure)
            text = ", ".join(f"{curves[:, K - 1].mean():.3f}" for K in SIZES if curves.shape[1] >= K)
            rows.append(row(f"{measure.upper()} of {SIZES} neighbors, {name}", None, text, NO_NUMBER))
    return rows


def draw(result: Result) -> Figure:
    data = result["data"]
    n_columns = (len(data["points"]) + 3) // 2
    figure, axes = canvas(2, n_columns, (3.3, 3.2))
    *places, q_ax, b_ax = axes.ravel()
    for ax, (name, points) in zip(places, data["points"].items()):
        draw_view(ax, points, data["y few"] if "(ws)" in name else data["y"], name)
    for ax in places[len(data["points"]) :]:
        ax.axis("off")
    for ax, measure in zip((q_ax, b_ax), "qb"):
        for color, (name, (sizes, values)) in zip(COLORS, data[measure].items()):
            ax.plot(sizes, values, color=color, linewidth=1.3, label=name)
        ax.set(xlabel="neighbors K", ylabel=measure.upper(), xscale="log")
    q_ax.legend(frameon=False, fontsize=6)
    return figure
