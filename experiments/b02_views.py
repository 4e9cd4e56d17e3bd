"""B2: discriminative views in two dimensions, UCI image segmentation.

Protocol (Bunte 2011, sec. 3.4.3, table 3.1 part 1, fig. 3.6): data and training as in B1, M = 2. Of ten runs the one
with the best training accuracy is shown, at the epoch with the best mean training accuracy. LLiRaM LVQ has one
prototype and one local matrix per class, which starts at the identity. LFDA scans its number of neighbors k = 1 ... 30
(a class has 30 training samples, so 29 at most), NCA its number of steps l = 1 ... 30; the best 1-NN accuracy on the
training set decides. NCA is scikit-learn's, where l counts steps of L-BFGS and not line searches of conjugate
gradients; it starts at 0.1 times normal values, in ten runs, the best of which is shown. (After a first run with 0.01,
which did worse, the factor was chosen from 0.01 to 1 by the training accuracy.)

How 1-NN is scored is not said. On training samples it must be leave-one-out. On test samples it is either
leave-one-out among the test samples (judged here) or 1-NN among the training samples (for the record).

Which of ten runs is the best depends on rounding, and so on the processor. The ten runs are therefore made GROUPS times
with other seeds, and what is shown of the best has a mean and a deviation over them; pictures are of the first ten.

Rule, fixed before the first run, now on means: a number is reproduced within TOLERANCE per cent, and on the border if
its mean is closer to that limit than its standard error; so are statements with a threshold. Otherwise "same order" if
the LVQ classifiers of that column come in the printed order, or LFDA is the lowest of the 1-NN column. Statements:
LFDA and NCA scans hold if the best and the worst values are within TOLERANCE; more prototypes "do not help" LLiRaM LVQ
if the mean training accuracy with 2 per class (3 for windows) gains less than TOLERANCE. Added after the first run: sky
and grass are "separated quite well" if 1-NN gets at least SEPARATED per cent of each right in every view (not measured
before), and a comparison of the views of LVQ with those of LFDA and NCA (which had been seen, so it has no verdict).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from sklearn.base import clone
from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors, NeighborhoodComponentsAnalysis
from sklearn.utils import shuffle

from experiments._lvq import COLORS, Samples, accuracy, segmentation
from experiments._protocol import Array, canvas, repeat
from experiments._report import ADDED, NO_NUMBER, SKIPPED, Result, Row, judge, reaches, report, row
from experiments.b01_rank import EPOCHS, RUNS, SIZES, Run, best_epoch, liram_runs, recorded, scaled
from protolearn import GMLVQ, LFDA, LLiRaMLVQ

TITLE = "discriminative views, segmentation"
SCAN = tuple(range(1, 31))
SHOWN = 50  # samples per class
TOLERANCE = 2.0
SEPARATED = 97.0
GROUPS = 3
SCALINGS = ("weighted", "plain", "orthonormalized")

LIRAM, LIRAM_15, LLIRAM = "LiRaM, 7 prototypes", "LiRaM, 15 prototypes", "LLiRaM"
MORE = "LLiRaM, 15 prototypes"
# Bunte 2011, table 3.1: train and test, classification and 1-NN
CLASSIFICATION = {LIRAM: (92.9, 88.0), LIRAM_15: (91.9, 90.3), LLIRAM: (89.0, 85.7)}
NEIGHBORS = {
    LIRAM: (85.7, 87.0),
    LIRAM_15: (88.6, 87.5),
    LLIRAM: (88.6, 87.4),
    "LFDA": (83.7, 85.8),
    "NCA": (90.0, 87.1),
}
WHOLE = {LIRAM: 88.4, LIRAM_15: 90.4}
LLIRAM_MEAN = 85.0

# why a row is not reproduced, by a phrase of its quantity
REMARKS = {
    "sky and grass": "a little below the threshold set here; the document speaks of the picture only",
    "LLiRaM": "better than printed; how the local matrices start is not said, here at the identity",
    "LiRaM": "better than printed; the number of epochs is not given",
    "worst k": (
        "depends on the scaling of the directions, which the document does not name: with orthonormal ones (rows "
        "below) the worst is as printed"
    ),
    "NCA": "steps of L-BFGS here and line searches of conjugate gradients there; views of one run differ much",
}

Predict = Callable[[Array], Array]


@dataclass
class View:
    """A linear view: rows of the matrix, and prototypes and local matrices in it if there are any."""

    matrix: Array
    prototypes: Array | None = None
    codes: Array | None = None
    psis: Array | None = None

    def __call__(self, X: Array) -> Array:
        """Return the coordinates of samples in the view."""
        return X @ self.matrix.T

    def scores(self, train: Samples, test: Samples) -> list[float]:
        """Return 1-NN accuracies: train and test by leave-one-out, test among training samples."""
        Z, Z_test = self(train[0]), self(test[0])
        among = KNeighborsClassifier(1).fit(Z, train[1])
        return [leave_one_out(Z, train[1]), leave_one_out(Z_test, test[1]), accuracy(among, (Z_test, test[1]))]

    def plain(self, X: Array) -> dict[str, Any]:
        """Return what a picture needs."""
        return {"points": self(X), "prototypes": self.prototypes, "codes": self.codes, "psis": self.psis}


def run(quick: bool = False) -> Result:
    files = segmentation()
    if files is None:
        return report({"data": "missing"}, [row("table 3.1, part 1", "table", None, SKIPPED)])
    train, test = scaled(*files[:2])
    n_runs, epochs = (4, 120) if quick else (GROUPS * RUNS, EPOCHS)
    size = n_runs // (2 if quick else GROUPS)
    runs = {
        LIRAM: liram_runs(train, test, 7, 2, n_runs, epochs),
        LIRAM_15: liram_runs(train, test, 15, 2, n_runs, epochs),
        LLIRAM: repeat(recorded, range(n_runs), LLiRaMLVQ, train, test, 1, 2, epochs),
        MORE: repeat(recorded, range(n_runs), LLiRaMLVQ, train, test, SIZES[15], 2, epochs),
    }
    lfda = {scaling: lfda_scan(train, SCAN, 2, scaling) for scaling in SCALINGS}
    nca = [nca_scan(train, SCAN, 2, seed) for seed in range(n_runs)]
    groups = [{name: part[i : i + size] for name, part in runs.items()} for i in range(0, n_runs, size)]
    views = [
        {name: best_view(group[name], 15 if name == LIRAM_15 else 7) for name in CLASSIFICATION}
        | {"LFDA": best_of_scan(lfda["weighted"]), "NCA": best_of_scan(best_scan(nca[i * size : (i + 1) * size]))}
        for i, group in enumerate(groups)
    ]
    defaults = {
        LIRAM: GMLVQ(SIZES[7], n_components=2),
        LIRAM_15: GMLVQ(SIZES[15], n_components=2),
        LLIRAM: LLiRaMLVQ(),
    }
    some = chosen(test[1], SHOWN)
    return report(
        settings=settings(size, len(groups), epochs),
        rows=[
            *classification_rows(groups),
            *neighbor_rows(views, train, test),
            *statements(views, test),
            *lliram_rows(groups),
            *scan_rows(lfda, nca, train, test),
            *default_rows(defaults, size, train, test),
        ],
        data={
            "classes": files[3],
            "labels": test[1][some],
            "views": {name: view.plain(test[0][some]) for name, view in views[0].items()},
        },
    )


def settings(size: int, n_groups: int, epochs: int) -> dict[str, Any]:
    return {
        "data": "UCI image segmentation, original split, 16 features, z-transform by the training set",
        "runs": f"{n_groups} times {size}, seeds 0, 1, ...",
        "epochs": f"{epochs}; the one with the best mean training accuracy counts",
        "shown": f"of every {size} runs the one with the best training accuracy there",
        "training": "as B1; LLiRaM with the same rates, local matrices of classes from the identity, not normalized",
        "LFDA": f"k = 1 ... {SCAN[-1]}, scaling 'weighted' is judged",
        "NCA": f"scikit-learn, 1 ... {SCAN[-1]} steps of L-BFGS, start 0.1 times normal values",
        "1-NN": "leave-one-out on training and on test samples; also test among training samples",
        "library defaults": f"{size} seeds, each with the training samples in another order",
        "rule": f"tolerance {TOLERANCE} %",
    }


def best_run(runs: list[Run]) -> tuple[Run, int]:
    """Return the run with the best training accuracy at the best epoch of all, and that epoch."""
    epoch = best_epoch(runs)
    return max(runs, key=lambda r: float(r.curve[epoch, 0])), epoch


def best_view(runs: list[Run], n_prototypes: int) -> View:
    best, epoch = best_run(runs)
    W, theta = best.states[epoch]
    counts = SIZES[n_prototypes]
    codes = np.repeat(np.arange(7), [counts if isinstance(counts, int) else counts[label] for label in range(7)])
    return view_of(W, codes, *theta)


def view_of(W: Array, codes: Array, omega: Array, psis: Array | None = None) -> View:
    """Return the view of a trained classifier."""
    matrix = omega[0]
    local = np.eye(len(matrix))[None].repeat(codes.max() + 1, axis=0) if psis is None else psis
    return View(matrix, W @ matrix.T, codes, local)


def in_view(view: dict[str, Any]) -> Predict:
    """Return the function that gives the class of the nearest prototype to points of a view."""
    V, codes, psis = (np.array(view[name]) for name in ("prototypes", "codes", "psis"))

    def predict(Z: Array) -> Array:
        D = [(((Z - v) @ psis[code].T) ** 2).sum(axis=1) for v, code in zip(V, codes)]
        return codes[np.argmin(D, axis=0)]

    return predict


def leave_one_out(Z: Array, y: Array) -> float:
    """Return the 1-NN accuracy among samples that are not their own neighbors, in per cent."""
    nearest = NearestNeighbors(n_neighbors=1).fit(Z).kneighbors(return_distance=False)[:, 0]
    return 100 * float((y[nearest] == y).mean())


Scan = dict[int, tuple[float, View]]


def lfda_scan(train: Samples, scan: tuple[int, ...], M: int, scaling: str = "weighted") -> Scan:
    """Return the training accuracy and the view for every number of neighbors."""
    views = {k: View(LFDA(M, n_neighbors=k, scaling=scaling).fit(*train).components_) for k in scan}
    return {k: (leave_one_out(view(train[0]), train[1]), view) for k, view in views.items()}


def nca_scan(train: Samples, scan: tuple[int, ...], M: int, seed: int) -> Scan:
    """Return the training accuracy and the view after every number of steps, all of one fit."""
    start = 0.1 * np.random.RandomState(seed).normal(size=(M, train[0].shape[1]))
    steps: list[Array] = []
    model = NeighborhoodComponentsAnalysis(
        init=start, max_iter=scan[-1], tol=0.0, callback=lambda flat, _: steps.append(flat.reshape(start.shape).copy())
    )
    model.fit(*train)
    steps += [steps[-1]] * (scan[-1] - len(steps))  # converged
    views = {step: View(steps[step - 1]) for step in scan}
    return {step: (leave_one_out(view(train[0]), train[1]), view) for step, view in views.items()}


def best_scan(scans: list[Scan]) -> Scan:
    return max(scans, key=lambda scan: scan[best_key(scan)][0])


def best_of_scan(scan: Scan) -> View:
    return scan[best_key(scan)][1]


def best_key(scan: Scan) -> int:
    return max(scan, key=lambda key: scan[key][0])


def chosen(y: Array, n_per_class: int) -> Array:
    """Return the indices of the first samples of every class."""
    return np.concatenate([np.flatnonzero(y == label)[:n_per_class] for label in np.unique(y)])


Group = dict[str, list[Run]]


def classification_rows(groups: list[Group]) -> list[Row]:
    best = {name: [best_run(group[name]) for group in groups] for name in CLASSIFICATION}
    ours = {name: np.array([r.curve[epoch] for r, epoch in found]) for name, found in best.items()}  # (groups, 2)
    rows = []
    for i, part in enumerate(("train", "test")):
        in_order = sorted(ours, key=lambda name: ours[name][:, i].mean()) == sorted(
            CLASSIFICATION, key=lambda name: CLASSIFICATION[name][i]
        )
        for name, printed in CLASSIFICATION.items():
            values = ours[name][:, i]
            verdict = judge(values, printed[i], TOLERANCE, in_order)
            rows.append(row(f"{name}, classification, {part}, %", printed[i], values, verdict))
    for name, overall in WHOLE.items():
        values = ours[name] @ [210, 2100] / 2310
        verdict = judge(values, overall, TOLERANCE, False)
        rows.append(row(f"{name}, classification, all samples, %", overall, values, verdict))
    return rows


def neighbor_rows(views: list[dict[str, View]], train: Samples, test: Samples) -> list[Row]:
    ours = {name: np.array([group[name].scores(train, test) for group in views]) for name in NEIGHBORS}  # (groups, 3)
    rows = []
    for i, part in enumerate(("train, leave-one-out", "test, leave-one-out", "test among training samples")):
        lowest = min(ours, key=lambda name: ours[name][:, i].mean()) == "LFDA"
        for name, printed in NEIGHBORS.items():
            document = printed[min(i, 1)]
            verdict = judge(ours[name][:, i], document, TOLERANCE, lowest) if i < 2 else NO_NUMBER
            rows.append(row(f"{name}, 1-NN in the view, {part}, %", document, ours[name][:, i], verdict))
    return rows


def statements(views: list[dict[str, View]], test: Samples) -> list[Row]:
    apart = [
        min(class_score(view(test[0]), test[1], label) for view in group.values() for label in (1, 6))
        for group in views
    ]
    quality = {name: [leave_one_out(group[name](test[0]), test[1]) for group in views] for name in NEIGHBORS}
    mean = {name: float(np.mean(values)) for name, values in quality.items()}
    lvq, others = (max(v for name, v in mean.items() if (name in CLASSIFICATION) == is_lvq) for is_lvq in (1, 0))
    text = f"{lvq:.1f} against {others:.1f}"
    separated = reaches(apart, SEPARATED)
    return [
        row("sky and grass, 1-NN, test, lowest of all views, %", "separated", apart, separated),
        row("best view of LVQ against best of LFDA and NCA, 1-NN, test, %", "equal or superior", text, ADDED),
    ]


def class_score(Z: Array, y: Array, label: int) -> float:
    """Return the percentage of a class whose nearest neighbor belongs to it."""
    nearest = NearestNeighbors(n_neighbors=1).fit(Z).kneighbors(return_distance=False)[:, 0]
    return 100 * float((y[nearest] == label)[y == label].mean())


def lliram_rows(groups: list[Group]) -> list[Row]:
    values, others = (np.array([at_best_epoch(group[name]) for group in groups]) for name in (LLIRAM, MORE))
    gains = others.mean(axis=1) - values.mean(axis=1)
    verdict = judge(values, LLIRAM_MEAN, TOLERANCE, False)
    return [
        row("LLiRaM, mean training accuracy over runs, %", LLIRAM_MEAN, values, verdict),
        row("LLiRaM, gain by 15 prototypes, train, %", "no improvement", gains, reaches(-gains, -TOLERANCE)),
    ]


def at_best_epoch(runs: list[Run]) -> list[float]:
    """Return the training accuracies of all runs at the best epoch of all."""
    epoch = best_epoch(runs)
    return [float(r.curve[epoch, 0]) for r in runs]


def scan_rows(lfda: dict[str, Scan], nca: list[Scan], train: Samples, test: Samples) -> list[Row]:
    rows = []
    for scaling, scan in lfda.items():
        scores = {k: score for k, (score, _) in scan.items()}
        for printed, pick, word in ((83.7, max, "best"), (66.6, min, "worst")):
            k = pick(scores, key=lambda k: scores[k])
            verdict = judge(scores[k], printed, TOLERANCE, False) if scaling == "weighted" else NO_NUMBER
            rows.append(row(f"LFDA {scaling}, 1-NN, train, {word} k ({k}), %", printed, scores[k], verdict))
    for scaling in SCALINGS[1:]:
        value = best_of_scan(lfda[scaling]).scores(train, test)[1]
        rows.append(row(f"LFDA {scaling}, 1-NN, test, leave-one-out, best k, %", 85.8, value, NO_NUMBER))
    first = [one[1][0] for one in nca]
    late = [float(np.mean([score for step, (score, _) in one.items() if step >= 16])) for one in nca]
    best = [one[best_key(one)][0] for one in nca]
    tests = [best_of_scan(one).scores(train, test)[1] for one in nca]
    rows.append(row("NCA, 1-NN, train, l = 1, %", 56.2, first, judge(first, 56.2, TOLERANCE, False)))
    rows.append(row("NCA, 1-NN, train, mean of l >= 16, %", 90.0, late, judge(late, 90.0, TOLERANCE, False)))
    rows.append(row("NCA, 1-NN, train, best l of each run, %", None, best, NO_NUMBER))
    rows.append(row("NCA, 1-NN, test, leave-one-out, best l of each run, %", None, tests, NO_NUMBER))
    return rows


def default_rows(defaults: dict[str, Any], n_runs: int, train: Samples, test: Samples) -> list[Row]:
    rows = []
    for name, model in defaults.items():
        found = np.array(repeat(default_scores, range(n_runs), model, train, test)).T
        for part, values in zip(("train", "test"), found[:2]):
            rows.append(row(f"{name}, library defaults, classification, {part}, %", None, values, NO_NUMBER))
        for part, values in zip(("train", "test"), found[2:]):
            rows.append(row(f"{name}, library defaults, 1-NN, {part}, leave-one-out, %", None, values, NO_NUMBER))
    return rows


def default_scores(seed: int, model: Any, train: Samples, test: Samples) -> list[float]:
    """Return accuracies of a classifier, then of 1-NN in its view, both on training and on test samples."""
    fitted = clone(model).set_params(random_state=seed).fit(*shuffle(*train, random_state=seed))
    return [accuracy(fitted, train), accuracy(fitted, test), *View(fitted.omega_).scores(train, test)[:2]]


def draw(result: Result) -> Figure:
    figure, axes = canvas(2, 3, (4.6, 3.9))
    data = result["data"]
    for ax, (name, view) in zip(axes.flat, data["views"].items()):
        draw_view(ax, view, np.array(data["labels"]))
        ax.set_title(name)
    draw_legend(axes[1, 2], data["classes"])
    return figure


def draw_view(ax: Axes, view: dict[str, Any], labels: Array) -> None:
    """Draw samples, and prototypes and class borders if the view has any; far outliers fall outside."""
    Z = np.array(view["points"])
    colors = np.array((*COLORS, "#000000"))
    ax.scatter(Z[:, 0], Z[:, 1], s=9, c=colors[labels], alpha=0.75, linewidth=0, zorder=3)
    around = Z if view["prototypes"] is None else np.vstack([Z, view["prototypes"]])
    low, high = np.percentile(around, [0.5, 99.5], axis=0)
    margin = 0.06 * (high - low)
    ax.set(xlim=(low[0] - margin[0], high[0] + margin[0]), ylim=(low[1] - margin[1], high[1] + margin[1]))
    ax.set_xticks([])
    ax.set_yticks([])
    if view["prototypes"] is None:
        return
    draw_borders(ax, in_view(view))
    V, codes = np.array(view["prototypes"]), np.array(view["codes"])
    style: dict[str, Any] = {"marker": "D", "facecolor": "none", "linewidth": 1.7, "zorder": 4}
    ax.scatter(V[:, 0], V[:, 1], s=75, edgecolor=colors[codes], **style)


def draw_borders(ax: Axes, predict: Predict, color: str = "0.35") -> None:
    """Draw the borders between the regions of a prediction, in the plane that the Axes show."""
    x, y = (np.linspace(*limits, 400) for limits in (ax.get_xlim(), ax.get_ylim()))
    plane = np.stack(np.meshgrid(x, y), axis=-1)
    codes = predict(plane.reshape(-1, 2)).reshape(plane.shape[:2])
    for code in np.unique(codes):
        ax.contour(x, y, codes == code, levels=[0.5], colors=color, linewidths=0.7, zorder=1)


def draw_legend(ax: Axes, classes: list[str]) -> None:
    ax.axis("off")
    marks = [Line2D([], [], linestyle="", marker="o", color=c, label=n) for c, n in zip((*COLORS, "#000000"), classes)]
    diamond: dict[str, Any] = {"marker": "D", "markersize": 8, "fillstyle": "none", "color": "0.4"}
    marks.append(Line2D([], [], linestyle="", label="prototype", **diamond))
    ax.legend(handles=marks, frameon=False, loc="center left")
