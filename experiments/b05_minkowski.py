"""B5: nearest prototypes under Minkowski distances.

The document (Bunte 2011, sec. 2.2, figs. 2.1 and 2.2) draws equidistance lines for several exponents p, and the regions
of three classes with two prototypes each, for the Euclidean distance and p = 5. It says: p = 2 is the Euclidean
distance, whose borders are piecewise linear; other p give more general borders. Its samples and prototypes are not
given; here three classes of two Gaussian clusters in the plane, and prototypes trained by GLVQ under each distance.

Added, without a counterpart in the document: which p suits which noise. Clusters in eight dimensions have noise with
density exp(-|x|^q) in every coordinate, of unit variance; with equal clusters the most likely one is then the nearest
in the Minkowski distance of order q.

These are facts of geometry, so that there is no verdict: the share of the points of a grid that get the class of the
Euclidean nearest prototype for p = 2; and the bend of a border between two prototypes, its largest distance from the
straight line through its ends, in units of the distance of the prototypes, over a stretch of twice that distance.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy.optimize import brentq
from scipy.spatial.distance import cdist
from scipy.stats import gennorm

from experiments._lvq import COLORS, Samples, accuracy, draw_regions
from experiments._protocol import Array, canvas, repeat
from experiments._report import NO_NUMBER, STATEMENT, Result, Row, report, row
from experiments.b02_views import draw_borders
from protolearn import GLVQ
from protolearn.lvq import MinkowskiMetric

TITLE = "Minkowski distances"
EXPONENTS = (1.1, 1.5, 2.0, 4.0)
DRAWN = (2.0, 5.0)  # of the document's fig. 2.2
NOISES = (1.0, 2.0, 8.0)
RUNS = 10
PAIR = np.array([[0.0, 0.0], [2.0, 1.0]])
CENTERS = np.array([[0.0, 0.0], [3.2, 2.6], [3.0, -0.4], [0.2, 3.0], [6.0, 0.6], [6.2, 3.6]])


def run(quick: bool = False) -> Result:
    n_runs, n_test = (2, 500) if quick else (RUNS, 3000)
    train, test = planar_classes(0), planar_classes(1, 500)
    models = {p: GLVQ(2, metric=MinkowskiMetric(p), random_state=0).fit(*train) for p in sorted({*EXPONENTS, *DRAWN})}
    scores = {q: np.array(repeat(one_noise, range(n_runs), q, n_test)) for q in NOISES}
    return report(
        settings={
            "data": "three classes of two Gaussian clusters; 60 training and 500 test samples per cluster",
            "model": "GLVQ, two prototypes per class, library defaults",
            "runs": f"{n_runs}, with other clusters and noise",
            "noise study": "three classes of two clusters in 8 dimensions, generalized normal noise of unit variance",
        },
        rows=[
            *statements(models[2.0]),
            *(row(f"GLVQ, p = {p:g}, accuracy, test, %", None, accuracy(models[p], test), NO_NUMBER) for p in models),
            *noise_rows(scores),
        ],
        data={
            "points": train[0],
            "labels": train[1],
            "prototypes": {f"{p:g}": model.prototypes_ for p, model in models.items()},
            "scores": {f"{q:g}": values.mean(axis=0) for q, values in scores.items()},
        },
    )


def planar_classes(seed: int, n_per_cluster: int = 60) -> Samples:
    rng = np.random.RandomState(seed)
    cluster = np.repeat(np.arange(6), n_per_cluster)
    return CENTERS[cluster] + 0.75 * rng.normal(size=(len(cluster), 2)), cluster // 2


def one_noise(seed: int, q: float, n_test: int) -> list[float]:
    """Return the test accuracy for every exponent of the distance, given that of the noise."""
    rng = np.random.RandomState(seed)
    centers = rng.normal(size=(6, 8))
    train, test = (noisy(centers, q, n, rng) for n in (60, n_test // 6))
    return [accuracy(GLVQ(2, metric=MinkowskiMetric(p), random_state=0).fit(*train), test) for p in EXPONENTS]


def noisy(centers: Array, q: float, n_per_cluster: int, rng: np.random.RandomState) -> Samples:
    cluster = np.repeat(np.arange(len(centers)), n_per_cluster)
    noise = gennorm.rvs(q, size=(len(cluster), centers.shape[1]), random_state=rng) / gennorm.std(q)
    return centers[cluster] + noise, cluster // 2


def statements(model: GLVQ) -> list[Row]:
    plane = grid((-3, 10), (-3, 7))
    euclidean = model.prototype_labels_[cdist(plane, model.prototypes_).argmin(axis=1)]
    agreement = 100 * float((model.predict(plane) == euclidean).mean())
    rows = [row("p = 2, points with the class of the Euclidean nearest, %", "100", agreement, STATEMENT)]
    for p in sorted({*EXPONENTS, *DRAWN}):
        printed = "linear" if p == 2 else "more general"
        rows.append(row(f"bend of the border between two prototypes, p = {p:g}", printed, bend(p), STATEMENT))
    return rows


def bend(p: float) -> float:
    """Return how far the border between two prototypes is from a straight line."""
    along = PAIR[1] - PAIR[0]
    across = np.array([-along[1], along[0]])

    def excess(t: float, s: float) -> float:
        x = PAIR.mean(axis=0) + t * along + s * across
        near, far = (np.abs(x - PAIR) ** p).sum(axis=1)
        return float(near - far)

    reach = np.linspace(-1, 1, 201)
    border = np.array([brentq(excess, -5, 5, args=(s,)) for s in reach])
    line = border[0] + (border[-1] - border[0]) * (reach + 1) / 2
    return float(np.abs(border - line).max())


def grid(x: tuple[float, float], y: tuple[float, float], n: int = 200) -> Array:
    return np.stack(np.meshgrid(np.linspace(*x, n), np.linspace(*y, n)), axis=-1).reshape(-1, 2)


def noise_rows(scores: dict[float, Array]) -> list[Row]:
    rows = []
    for q, values in scores.items():
        for p, column in zip(EXPONENTS, values.T):
            rows.append(row(f"noise of exponent {q:g}, GLVQ with p = {p:g}, test, %", None, column, NO_NUMBER))
    return rows


def draw(result: Result) -> Figure:
    figure, axes = canvas(2, 4, (3.9, 3.5))
    data = result["data"]
    draw_equidistance(axes[0, 0])
    places = iter([*axes[0, 1:], *axes[1, :2]])
    for p, ax in zip(data["prototypes"], places):
        draw_model(ax, float(p), data)
    for (q, values), color in zip(data["scores"].items(), COLORS):
        values = np.array(values)
        axes[1, 2].plot(EXPONENTS, values - values.max(), "o-", color=color, markersize=4, label=f"noise exponent {q}")
    axes[1, 2].set(title="which p for which noise", xlabel="p", ylabel="test accuracy below the best, %")
    axes[1, 2].legend(frameon=False, fontsize="small")
    axes[1, 3].axis("off")
    return figure


def draw_equidistance(ax: Axes) -> None:
    x = np.linspace(-1.15, 1.15, 300)
    X, Y = np.meshgrid(x, x)
    for p, color in zip((*EXPONENTS, 5.0), COLORS):
        ax.contour(X, Y, np.abs(X) ** p + np.abs(Y) ** p, levels=[1.0], colors=[color], linewidths=1.3)
        ax.plot([], [], color=color, label=f"p = {p:g}")
    ax.set(title="equal distance from the origin", aspect="equal")
    ax.legend(frameon=False, fontsize="small", loc="center")


def draw_model(ax: Axes, p: float, data: dict[str, Any]) -> None:
    """Draw samples, prototypes, class regions, and receptive fields in gray."""
    Z, W = np.array(data["points"]), np.array(data["prototypes"][f"{p:g}"])
    colors = np.array(COLORS)
    classes = np.arange(6) // 2
    ax.scatter(Z[:, 0], Z[:, 1], s=6, c=colors[data["labels"]], alpha=0.6, linewidth=0, zorder=3)
    ax.scatter(W[:, 0], W[:, 1], s=70, marker="D", facecolor=colors[classes], edgecolor="white", zorder=4)
    ax.set(title=f"GLVQ, p = {p:g}", xlim=(-2.5, 8.5), ylim=(-3, 6))

    def nearest(points: Array) -> Array:
        return cdist(points, W, "minkowski", p=p).argmin(axis=1)

    draw_borders(ax, nearest, "0.75")
    draw_regions(ax, lambda points: classes[nearest(points)], 3)
