"""M9: fives and sixes in the plane.

Protocol (Arnonkijpanich 2010, sec. 5.3, fig. 5.5): 300 images of the digit 5 and 300 of 6 (MNIST), 30 principal
components, shown in two dimensions by charting with four charts of matrix NG (MNG) or of a mixture of probabilistic PCA
(MoPPCA), by Isomap, LLE and a SOM of 12 x 12. A picture has the image nearest to each node of a grid over the view. It
is said to show two clusters with MNG; one, but with the classes roughly apart, with Isomap and SOM; and mixed classes
with LLE and MoPPCA. There are no numbers.

Here the images are drawn anew in each of RUNS runs. MNG has two directions for each prototype, a range from 1 from
random samples; MNG and MoPPCA have RESTARTS starts, of which the one with the smallest isometry defect is taken. Isomap
and LLE have 20, 30 or 40 neighbors, the best by 1-NN error. SOM places an image on the lattice, at its winner. Beyond
the document: charts that share samples by the ranks of their distances, and locally linear coordination (LLC).

The picture is put into numbers: the 1-NN error in the view (SOM: of the majority in a node); how well a straight line
separates the classes (linear discriminant); and how well two clusters of k-means match them, in per cent.

Rule, fixed before the run: MNG shows "two clusters" if k-means matches the classes for at least MATCHED per cent of the
images; classes are "roughly apart" in Isomap and SOM if a line separates at least APART per cent; they are "mixed" in
LLE and MoPPCA if a line separates less than in MNG. LLC and ranks have no verdict.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from experiments._charted import CHARTED, MIXTURE, MNG, SETTINGS, best_charting, local_models, neighbor_view
from experiments._matrix import majority_accuracy
from experiments._protocol import Array, batch_som, canvas, load, repeat
from experiments._report import NO_NUMBER, SKIPPED, Result, Row, holds, report, row
from protolearn.metrics import nearest_neighbor_error
from protolearn.plotting import plot_image_grid

TITLE = "fives and sixes"
RUNS = 5
RESTARTS = 10
PER_CLASS, N_FIRST, N_CHARTS = 300, 30, 4
SIDE = 12
MATCHED, APART = 90.0, 90.0
VIEWS = {MNG: CHARTED[0], MIXTURE: CHARTED[2]}
LLC, RANKS = CHARTED[1], f"{CHARTED[0]}, shares by ranks"
REMARKS = {  # why a row is not reproduced, by a phrase of its quantity
    "MNG, charting": "classes lie on two sides of a line, but there is no gap between them that k-means would find",
}
MEASURES = {"error": "1-NN error, %", "line": "separated by a line, %", "clusters": "matched by two clusters, %"}


def run(quick: bool = False) -> Result:
    jobs = all_jobs(quick)
    if not jobs:
        return report({"data": "missing"}, [row("fig. 5.5", "figure", None, SKIPPED)])
    return result_of(jobs, repeat(one_run, jobs, quick))


def all_jobs(quick: bool) -> list[tuple[int]]:
    """Return seeds, if the data are there."""
    return [] if load("mnist_train_1") is None else [(seed,) for seed in range(1 if quick else RUNS)]


def images_of(seed: int) -> tuple[Array, Array]:
    """Return images and their classes."""
    files = load("mnist_train_1")
    assert files is not None
    rng = np.random.RandomState(seed)
    digits = (5, 6)
    chosen = [rng.choice(np.flatnonzero(files["y"] == digit), PER_CLASS, replace=False) for digit in digits]
    return files["X"][np.concatenate(chosen)], np.repeat(digits, PER_CLASS)


def one_run(job: tuple[int], quick: bool) -> dict[str, Any]:
    """Return the measures of all views, and, in the first run, positions."""
    (seed,) = job
    images, y = images_of(seed)
    X = PCA(N_FIRST, random_state=0).fit_transform(images.reshape(len(images), -1) / 255.0)
    starts = RESTARTS * seed + np.arange(1 if quick else RESTARTS)
    gas, mixture = (local_models(name, N_CHARTS, 2, X, starts, low_rank=True) for name in (MNG, MIXTURE))
    som = batch_som((SIDE, SIDE), 100, seed).fit(X)
    winners = som.predict(X)
    nodes = np.stack(np.divmod(np.arange(SIDE**2), SIDE), axis=1)[:, ::-1].astype(float)
    views = {
        VIEWS[MNG]: best_charting(gas, 2, X, "charting").embedding_,
        VIEWS[MIXTURE]: best_charting(mixture, 2, X, "charting").embedding_,
        "Isomap": neighbor_view("Isomap", X, y, 2),
        "LLE": neighbor_view("LLE", X, y, 2),
        "SOM": nodes[winners],
        RANKS: best_charting(gas, 2, X, "charting", gating="rank").embedding_,
        LLC: best_charting(gas, 2, X, "llc").embedding_,
    }
    found: dict[str, Any] = {name: measures(Y, y) for name, Y in views.items()}
    found["SOM"]["error"] = 100 * (1 - majority_accuracy(y, winners))
    if not seed:
        found["points"] = {name: Y.round(4) for name, Y in views.items()}
    print(f"seed {seed}: " + ", ".join(f"{name} {found[name]['line']:.1f}" for name in views), flush=True)
    return found


def measures(Y: Array, y: Array) -> dict[str, float]:
    line = float(LinearDiscriminantAnalysis().fit(Y, y).score(Y, y))
    clusters = KMeans(2, n_init=10, random_state=0).fit_predict(Y / Y.std(axis=0))
    return {
        "error": 100 * nearest_neighbor_error(Y, y, n_jobs=1),
        "line": 100 * line,
        "clusters": 100 * majority_accuracy(y, clusters),
    }


def result_of(jobs: list[tuple[int]], outcomes: list[dict[str, Any]]) -> Result:
    points = outcomes[0]["points"]
    found = {name: {key: np.array([one[name][key] for one in outcomes]) for key in MEASURES} for name in points}
    settings = {
        "runs": len(jobs),
        "restarts": RESTARTS,
        **SETTINGS,
        "MNG": SETTINGS["MNG"] + ", two directions",
        "SOM": f"{SIDE} x {SIDE}, 100 epochs, as in E1 to E15",
        "clusters": "k-means on coordinates of variance one",
        "rule": f"clusters {MATCHED} %, line {APART} %",
    }
    return report(settings, all_rows(found), {"points": points})


def all_rows(found: dict[str, dict[str, Array]]) -> list[Row]:
    mng = found[VIEWS[MNG]]
    rows = [
        row(
            f"{VIEWS[MNG]}, {MEASURES['clusters']}",
            "two clusters",
            mng["clusters"],
            holds(mng["clusters"].mean() >= MATCHED),
        )
    ]
    for name in ("Isomap", "SOM"):
        line = found[name]["line"]
        rows.append(row(f"{name}, {MEASURES['line']}", "roughly apart", line, holds(line.mean() >= APART)))
    for name in ("LLE", VIEWS[MIXTURE]):
        line = found[name]["line"]
        verdict = holds(line.mean() < mng["line"].mean())
        rows.append(row(f"{name}, {MEASURES['line']}", "mixed: below MNG", line, verdict))
    for name, one in found.items():
        rows += [row(f"{name}, {words}", None, one[key], NO_NUMBER) for key, words in MEASURES.items()]
    return rows


def draw(result: Result) -> Figure:
    """Draw the first run: the image nearest to each node of a grid over each view."""
    points = {name: np.array(Y) for name, Y in result["data"]["points"].items()}
    figure, axes = canvas(2, 4, (4.0, 4.0))
    images, y = images_of(0)
    for ax, (name, Y) in zip(axes.flat, points.items()):
        plot_image_grid(Y, 255 - images, y, n_cells=SIDE, ax=ax)
        ax.set_title(name)
        if ax is not axes[0, 0]:
            ax.get_legend().remove()
    for ax in axes.flat[len(points) :]:
        ax.axis("off")
    return figure
