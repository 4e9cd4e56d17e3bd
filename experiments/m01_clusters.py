"""M1: four long Gaussian clusters, and how the matrices turn into their directions.

Protocol (Arnonkijpanich 2010, sec. 4.1, fig. 4.1): 4 clusters with 500 samples each in the plane, principal axes in the
ratio 16:1, read as variances; 4 prototypes; matrix neural gas, SOM and k-means for 100 epochs, 10 runs. Centers and
directions are not stated; protolearn.datasets.make_gaussian_ellipses has them at (+-4, 0) and (0, +-4), upright and
flat in turn. There, neighboring clusters touch at their ends, so that no method can be right about every sample;
quadratic discriminants, which know the classes, tell how much is possible.

The document says that all three maps find the clusters, that the direction in which the metric is weakest (solid lines
of the picture) and the principal direction of the receptive field (dashed) differ at first and coincide at the end,
and that it takes about 30 epochs.

Rule, fixed before the full run, after a trial of two runs: a run finds the clusters if each is the majority in one
receptive field and C2, the share of samples in the majority of their field, is at least FOUND; a method finds them if
all runs do. It has converged in the epoch from which on 99 % of the samples keep their winner; "after about 30 epochs"
is reproduced if the mean is at most ABOUT later. Directions of matrix NG, of which the document speaks, coincide if the
largest angle of all runs is below COINCIDE degrees, and differ at first if the mean over runs of the largest angle
after one epoch is above DIFFER degrees.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.metrics.cluster import contingency_matrix

from experiments._matrix import (
    EPOCHS,
    MATRIX,
    SETTINGS,
    as_published,
    between,
    by_default,
    convergence,
    main_directions,
    majority_accuracy,
    samples_won,
)
from experiments._protocol import Array, canvas, repeat
from experiments._report import NO_NUMBER, Result, holds, report, row
from experiments.datasets import make_gaussian_ellipses
from protolearn.plotting import plot_ellipses

TITLE = "Gaussian clusters, matrix maps"
N_PROTOTYPES = 4
RUNS = 10
FOUND = 0.98
COINCIDE = 1.0
DIFFER = 5.0
CONVERGED = 30
ABOUT = 10
STEP = 5  # resolution of the epochs
INK = "#222222"
LINES: tuple[Any, Any] = ("-", "--")
SNAPSHOTS = (1, 5, 10, 20, 30, EPOCHS)


def run(quick: bool = False) -> Result:
    runs = repeat(one_run, range(2 if quick else RUNS))
    rows = [line for name in MATRIX for line in method_rows(name, [part[name] for part in runs])]
    rows += direction_rows([part["matrix NG"] for part in runs])
    for name in MATRIX:
        ours = [part[f"{name}, defaults"]["C2"] for part in runs]
        rows.append(row(f"{name}, defaults, C2", None, ours, NO_NUMBER))
    known = [part["discriminants"] for part in runs]
    rows.append(row("quadratic discriminants, accuracy", None, known, NO_NUMBER))
    return report(
        settings={
            "runs": len(runs),
            "seeds": "run number, for samples and start",
            **SETTINGS,
            "rule": f"C2 at least {FOUND}; angles below {COINCIDE} at the end and above {DIFFER} after one epoch",
        },
        rows=rows,
        data={"runs": runs},
    )


def one_run(seed: int) -> dict[str, Any]:
    """Return what was found by each method."""
    X, y = make_gaussian_ellipses(random_state=seed)
    found: dict[str, Any] = {"discriminants": QuadraticDiscriminantAnalysis().fit(X, y).score(X, y)}
    for name in MATRIX:
        found[f"{name}, defaults"] = quality(by_default(name, N_PROTOTYPES, seed).fit(X), X, y)
        found[name] = quality(as_published(name, N_PROTOTYPES, seed).fit(X), X, y) | {
            "angle at first": largest_angle(as_published(name, N_PROTOTYPES, seed, 1).fit(X), X),
            "converged": convergence(name, N_PROTOTYPES, seed, X, STEP),
        }
    return found


def quality(model: Any, X: Array, y: Array) -> dict[str, Any]:
    winners = model.predict(X)
    accuracy = majority_accuracy(y, winners)
    apart = len(set(contingency_matrix(y, winners).argmax(axis=0))) == N_PROTOTYPES
    return {"C2": accuracy, "found": apart and accuracy >= FOUND, "angle": largest_angle(model, X)}


def largest_angle(model: Any, X: Array) -> float:
    """Return the largest angle between the direction of a matrix and that of its receptive field."""
    fields = samples_won(X, model.predict(X), N_PROTOTYPES)
    return float(np.nanmax(between(model.components_[:, 0], main_directions(fields))))


def method_rows(name: str, runs: list[dict[str, Any]]) -> list[Any]:
    found, accuracy, epochs = (np.array([part[key] for part in runs], float) for key in ("found", "C2", "converged"))
    in_time = holds(epochs.mean() <= CONVERGED + ABOUT)
    return [
        row(f"{name}, share of runs that find the clusters", "all", found, holds(found.all())),
        row(f"{name}, C2", None, accuracy, NO_NUMBER),
        row(f"{name}, epochs until converged", f"about {CONVERGED}", epochs, in_time),
    ]


def direction_rows(runs: list[dict[str, Any]]) -> list[Any]:
    """Return rows on the angle between the directions of the matrices of neural gas and of their fields."""
    first, last = (np.array([part[key] for part in runs]) for key in ("angle at first", "angle"))
    quantity = "matrix NG, largest angle of directions, degrees"
    return [
        row(f"{quantity}, after 1 epoch", "differ", first, holds(first.mean() > DIFFER)),
        row(f"{quantity}, at the end", "coincide", last, holds(last.max() < COINCIDE)),
    ]


def draw(result: Result) -> Figure:
    """Draw fig. 4.1 from the first run, which is made again: matrix NG over the epochs, the other maps at the end."""
    figure, axes = canvas(2, 4, size=(3.2, 3.2))
    X, _ = make_gaussian_ellipses(random_state=0)
    panels = [
        (f"matrix NG, epoch {epochs}", as_published("matrix NG", N_PROTOTYPES, 0, epochs)) for epochs in SNAPSHOTS
    ]
    panels += [(f"{name}, epoch {EPOCHS}", as_published(name, N_PROTOTYPES, 0)) for name in MATRIX[:2]]
    for ax, (title, model) in zip(axes.flat, panels):
        plot_ellipses(model.fit(X), X, size=2, arrows=False, winners=True, ax=ax)
        draw_directions(ax, model, X)
        ax.set_title(title, fontsize=10)
        ax.set(xlabel="", ylabel="")
    lines = [Line2D([], [], color=INK, linestyle=style) for style in LINES]
    labels = ["direction of the matrix", "direction of the receptive field"]
    figure.legend(lines, labels, frameon=False, loc="outside lower center", ncols=2)
    return figure


def draw_directions(ax: Axes, model: Any, X: Array) -> None:
    """Show the direction of each matrix as a solid line and that of its receptive field as a dashed one."""
    fields = samples_won(X, model.predict(X), N_PROTOTYPES)
    for directions, style in zip((model.components_[:, 0], main_directions(fields)), LINES):
        ends = model.prototypes_[:, None] + 3.2 * np.array([-1, 1])[:, None] * directions[:, None]
        ax.plot(*ends.transpose(2, 1, 0), linestyle=style, color=INK, linewidth=1.2)
