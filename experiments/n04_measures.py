"""N4: what units compete by, figs. 10 and 11.

Protocol (Möller and Hoffmann 2004, sec. 5.1). Fig. 10 is a sketch: two units with one direction in the plane, curves of
equal distance for the Mahalanobis distance in the principal space, for the reconstruction error and for the combined
measure, and a point that belongs to unit 2, 1 and 2; here it is computed for two units set by hand. Fig. 11: training
with the combined measure against Mahalanobis alone, with one direction in the plane; the data are not named, so both
planar ones are run, with the settings of figs. 1 and 3.

Rules: fig. 10 is reproduced if the point belongs to these units; fig. 11 if the combined measure has the higher
likelihood, by more than a standard deviation over runs on average, and if with Mahalanobis alone more centers lie off
the data, further than OFF from any point, on average. The reconstruction error and the Euclidean distance for the
record. (The first rule asked for the higher likelihood in every one of five runs; how a single run ends depends on
rounding, and so on the processor.)
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure
from scipy.spatial.distance import cdist

from experiments import n01_vortex, n02_ring_line_square
from experiments._protocol import Array, canvas, repeat
from experiments._report import NO_NUMBER, Result, holds, report, row
from experiments.n01_vortex import STEPS, published
from protolearn import NGPCA
from protolearn.core.shapes import Shapes
from protolearn.datasets import make_ring_line_square, make_vortex
from protolearn.plotting import plot_ellipses

TITLE = "measures of the competition"
RUNS = 20
OFF = 10.0
MEASURES = ("combined", "mahalanobis", "reconstruction", "euclidean")
DATA: dict[str, tuple[Any, int, dict[str, float]]] = {
    "vortex": (make_vortex, n01_vortex.N_UNITS, n01_vortex.VORTEX),
    "ring, line, square": (make_ring_line_square, n02_ring_line_square.N_UNITS, n02_ring_line_square.START),
}

# fig. 10: two units of the same size, one lying and one upright, and a point
CENTERS = np.array([[0.0, 0.0], [4.5, 1.5]])
SHAPES = Shapes(np.array([[[1.0, 0.0]], [[0.0, 1.0]]]), np.full((2, 1), 1.0), np.full(2, 0.25))
POINT = np.array([3.2, 0.6])
PANELS = {"A: Mahalanobis": "mahalanobis", "B: reconstruction error": "reconstruction", "C: combined": "logdet"}
BELONGS = (2, 1, 2)


def run(quick: bool = False) -> Result:
    steps = 3000 if quick else STEPS
    seeds = range(2 if quick else RUNS)
    found = {name: np.array(repeat(one_run, seeds, name, steps)) for name in DATA}  # (runs, measures, 2)
    units = [int(by_hand(POINT[None], measure).argmin()) + 1 for measure in PANELS.values()]
    rows = [
        row("fig. 10, unit of the point in A, B, C", text(BELONGS), text(units), holds(tuple(units) == BELONGS)),
        *(line for name, values in found.items() for line in rows_of(name, values)),
    ]
    return report(
        settings={
            "data": "vortex and ring-line-square, seed 0",
            "runs": len(seeds),
            "seeds": "run number, for the start and the order of presentation",
            "steps": steps,
            "units": {name: n_units for name, (_, n_units, _) in DATA.items()},
            "rule": f"combined above Mahalanobis by more than an sd; fewer centers further than {OFF} from any point",
        },
        rows=rows,
        data={"steps": steps, "found": found},
    )


def model_of(name: str, measure: str, seed: int, steps: int) -> NGPCA:
    _, n_units, start = DATA[name]
    return published(n_units, 1, seed, steps, measure=measure, **start)


def one_run(seed: int, name: str, steps: int) -> list[list[float]]:
    """Return likelihood and number of centers off the data for each measure."""
    X, _ = DATA[name][0](random_state=0)
    fitted = [model_of(name, measure, seed, steps).fit(X) for measure in MEASURES]
    return [[model.score(X), (cdist(model.prototypes_, X).min(axis=1) > OFF).sum()] for model in fitted]


def rows_of(name: str, found: Array) -> list[dict[str, Any]]:
    likelihoods, off = found[:, :, 0], found[:, :, 1]
    fewer = off[:, 0].mean() < off[:, 1].mean()
    gain = likelihoods[:, 0] - likelihoods[:, 1]
    above = gain.mean() > gain.std(ddof=1)
    return [
        row(f"{name}, likelihood of combined above Mahalanobis", "works, fails", gain, holds(above)),
        row(f"{name}, centers off the data, combined", "fewer", off[:, 0], holds(fewer)),
        row(f"{name}, centers off the data, Mahalanobis", "more", off[:, 1], holds(fewer)),
        *(
            row(f"{name}, {measure}, log-likelihood", None, likelihoods[:, i], NO_NUMBER)
            for i, measure in enumerate(MEASURES)
        ),
    ]


def by_hand(points: Array, measure: str) -> Array:
    """Return the distances of points (n, 2) to the two units set by hand."""
    gaps = points[:, None] - CENTERS
    gains, other, constant = SHAPES.gains(measure)
    along = np.einsum("nki,kqi->nkq", gaps, SHAPES.axes) ** 2
    rest = (gaps**2).sum(axis=2) - along.sum(axis=2)
    return (gains * along).sum(axis=2) + other * rest + constant


def text(units: Any) -> str:
    return ", ".join(map(str, units))


def draw(result: Result) -> Figure:
    """Draw figs. 10 and 11."""
    figure, axes = canvas(2, 3, size=(4.6, 3.6))
    for ax, (title, measure) in zip(axes[0], PANELS.items()):
        draw_curves(ax, title, measure)
    X, _ = make_vortex(random_state=0)
    for ax, measure in zip(axes[1], MEASURES):
        model = model_of("vortex", measure, 0, result["data"]["steps"]).fit(X)
        plot_ellipses(model, X, ax=ax)
        marked = np.bincount(model.labels_).argmax()
        ax.scatter(*X[model.labels_ == marked].T, s=7, color="black", zorder=4)
        ax.scatter(*model.prototypes_[marked], s=40, marker="x", color="#c8553d", zorder=5)
        ax.set_title(f"{measure}: L {model.score(X):.2f}", fontsize="medium")
    return figure


def draw_curves(ax: Any, title: str, measure: str) -> None:
    """Draw curves of equal distance to each of the two units, and the point with its unit."""
    x, y = np.meshgrid(np.linspace(-3, 7.5, 211), np.linspace(-3, 4.5, 151))
    distances = by_hand(np.column_stack([x.ravel(), y.ravel()]), measure).reshape(*x.shape, 2)
    own = distances.argmin(axis=2)
    levels = np.arange(0.5, 4) ** 2 + SHAPES.gains(measure)[2][0]
    for unit, color in enumerate(("#1b6ca8", "#c8553d")):
        ax.contour(x, y, distances[..., unit], levels=levels, colors=color, linewidths=0.9)
        ax.plot(*CENTERS[unit], "o", color=color)
        ax.annotate(str(unit + 1), CENTERS[unit], xytext=(4, 4), textcoords="offset points", color=color)
    ax.contourf(x, y, own, levels=[-0.5, 0.5, 1.5], colors=["#1b6ca8", "#c8553d"], alpha=0.08)
    ax.plot(*POINT, "k*", markersize=9)
    unit = int(by_hand(POINT[None], measure).argmin()) + 1
    ax.set(title=f"{title}, point to unit {unit}", aspect="equal")
