"""G3: margins in the course of training, and what the generalization bound makes of them.

The document (Biehl, Hammer, Schneider 2006, sec. 4) bounds the error on new samples by the share of narrow margins,
d_K - d_J below rho, plus a term that depends on rho, on the number of samples and prototypes and on the radius of the
data, but neither on the number of features nor on that of metric parameters; and it says that training optimizes the
margin directly. It gives no numbers. Here: the cigars and the protocol of G1, 5 data sets; margins on the training
samples, in metrics of trace one (Euclidean distances are halved for that). The wide margin RHO = 1 was fixed in
advance: the square of two standard deviations across a cigar. The universal constant of the bound, which theory leaves
open, is taken as 1; data are centered.

Rule: training of a matrix "optimizes the margin" if the mean margin error at RHO is lower after the last epoch than
before metric learning. (Made narrower after a first run, in which it compared all methods with the first epoch; that
held too.) That the terms of the bound besides the margin error "do not depend on metric parameters" is in its formula,
and has no verdict.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments._lvq import COLORS, METHODS, Watched, accuracy, as_published
from experiments._protocol import Array, canvas, repeat
from experiments._report import NO_NUMBER, STATEMENT, Result, holds, report, row
from experiments.g01_cigars import EPOCHS, METRIC_START, cigars, online
from protolearn.lvq import EuclideanMetric
from protolearn.lvq.problem import Problem
from protolearn.metrics import classification_margins, margin_bound, margin_error, posterior_margin_bound

TITLE = "margins and bound"
RUNS = 5
RHO = 1.0
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
SHOWN = ("GLVQ", "GMLVQ", "LGMLVQ")
RHOS = np.geomspace(0.05, 500, 81)
N_EPOCHS_SHOWN = 60


def run(quick: bool = False) -> Result:
    shrink = 10 if quick else 1
    runs = repeat(one_run, range(2 if quick else RUNS), shrink)
    numbers = ("first", "before", "last", "test", "rest", "posterior", "needed")
    found = {name: {key: np.array([part[name][key] for part in runs]) for key in numbers} for name in METHODS}
    first = runs[0]
    return report(
        settings={
            "runs": len(runs),
            "seeds": "run number, for samples and the order of learning",
            "training": f"as G1, {EPOCHS['LGMLVQ'] // shrink} epochs with matrices",
            "rho": RHO,
            "delta": 0.05,
            "universal constant": 1,
            "radius": "largest distance of a sample or a prototype from the mean of the samples",
            "rule": "margin error of matrices after the last epoch below that before metric learning",
        },
        rows=all_rows(found),
        data={
            "quantiles": {name: first[name]["quantiles"] for name in SHOWN},
            "errors": {name: [margin_error(first[name]["margins"], rho) for rho in RHOS] for name in METHODS},
            "test": {name: first[name]["test"] for name in METHODS},
            "metric start": METRIC_START // shrink,
        },
    )


def one_run(seed: int, shrink: int) -> dict[str, Any]:
    train, test = cigars(seed)
    before = METRIC_START // shrink - 1
    results = {}
    for name in METHODS:
        n_epochs = EPOCHS[name] // shrink
        margins = Margins([before, *np.geomspace(1, n_epochs, N_EPOCHS_SHOWN).round().astype(int).tolist()])
        model = as_published(name, Watched(online(shrink), margins), n_epochs, seed).fit(*train)
        results[name] = read(margins, before) | {"test": 1 - accuracy(model, test) / 100}
    return results


class Margins:
    """Keeps the margins of the training samples after chosen epochs, and the last radius of samples and prototypes."""

    def __init__(self, epochs: Iterable[int]) -> None:
        self.epochs = set(epochs)
        self.epoch = 0
        self.found: dict[int, Array] = {}
        self.radius = 0.0

    def __call__(self, problem: Problem, flat: Array) -> None:
        """Look at the state after an epoch."""
        self.epoch += 1
        if self.epoch not in self.epochs:
            return
        W, theta = problem.unpack(problem.normalized(flat))
        D = problem.metric.measure(problem.X, W, problem.classes, theta)[0]
        trace = W.shape[1] if isinstance(problem.metric, EuclideanMetric) else 1
        self.found[self.epoch] = classification_margins(D / trace, problem.classes, problem.y)
        self.radius = float(np.sqrt(max((part**2).sum(axis=1).max() for part in (problem.X, W))))


def read(seen: Margins, before: int) -> dict[str, Any]:
    """Return what the margins tell; ``before`` is the last epoch without metric learning."""
    last = seen.found[seen.epoch]
    size: dict[str, Any] = {"n_prototypes": 2, "radius": seen.radius}
    bound = margin_bound(last, rho=RHO, **size)
    moments = {"first": 1, "before": before, "last": seen.epoch}
    return {
        **{moment: margin_error(seen.found[epoch], RHO) for moment, epoch in moments.items()},
        "margins": last,
        "quantiles": [(epoch, *np.quantile(margins, QUANTILES)) for epoch, margins in seen.found.items()],
        "rest": bound.complexity + bound.confidence,
        "posterior": posterior_margin_bound(last, **size).value,
        "needed": samples_needed(last, size),
    }


def samples_needed(margins: Array, size: dict[str, Any]) -> float:
    """Return how many samples with such margins would bring the bound below one, at the best rho."""
    needed = []
    for rho in RHOS:
        bound = margin_bound(margins, rho=rho, **size)
        # all terms but the error fall like the root of the number of samples
        needed.append(len(margins) * ((bound.complexity + bound.confidence) / (1 - bound.error)) ** 2)
    return float(min(needed))


def all_rows(found: dict[str, dict[str, Array]]) -> list[Any]:
    """Return the rows, given the values of all runs for each method."""
    start = found["GLVQ"]
    rows = [
        row("all methods, margin error after the first epoch", None, start["first"], NO_NUMBER),
        row("all methods, margin error before metric learning", None, start["before"], NO_NUMBER),
    ]
    for name, values in found.items():
        with_matrix = name.endswith("GMLVQ")
        optimized = holds(values["last"].mean() < values["before"].mean())
        rows += [
            row(
                f"{name}, margin error after the last epoch",
                "margin is optimized" if with_matrix else None,
                values["last"],
                optimized if with_matrix else NO_NUMBER,
            ),
            row(f"{name}, test error", None, values["test"], NO_NUMBER),
            row(f"{name}, bound at the best rho", None, values["posterior"], NO_NUMBER),
            row(f"{name}, samples needed for a bound below 1", None, values["needed"], NO_NUMBER),
        ]
    rest = {name: values["rest"].mean() for name, values in found.items()}
    text = ", ".join(f"{name} {value:.0f}" for name, value in rest.items())
    quantity = f"terms of the bound besides the margin error, rho = {RHO:g}"
    return [*rows, row(quantity, "do not depend on metric parameters", text, STATEMENT)]


def draw(result: Result) -> Figure:
    """Draw the margins over the epochs, and the margin error over rho, of the first data set."""
    figure, axes = canvas(1, 4, size=(3.9, 3.7))
    data = result["data"]
    for ax, name in zip(axes[0], SHOWN):
        draw_quantiles(ax, np.array(data["quantiles"][name]), data["metric start"])
        ax.set_title(f"{name}: margins on training samples")
    axes[0, 0].legend(frameon=False, fontsize=8, loc="upper left")
    ax = axes[0, 3]
    for (name, errors), color in zip(data["errors"].items(), COLORS):
        ax.plot(RHOS, errors, color=color, label=name)
        ax.axhline(data["test"][name], color=color, linewidth=0.8, linestyle=":")
    ax.set(xscale="log", xlabel="rho", ylabel="margin error; dotted: test error", title="after the last epoch")
    ax.legend(frameon=False, fontsize=8)
    return figure


def draw_quantiles(ax: Axes, found: Array, metric_start: int) -> None:
    """Show quantiles of margins (epochs, 1 + quantiles) over the epochs in the first column."""
    epochs = found[:, 0]
    ax.fill_between(epochs, found[:, 1], found[:, 5], color=COLORS[0], alpha=0.15, linewidth=0, label="5 to 95 %")
    ax.fill_between(epochs, found[:, 2], found[:, 4], color=COLORS[0], alpha=0.3, linewidth=0, label="25 to 75 %")
    ax.plot(epochs, found[:, 3], color=COLORS[0], label="median")
    ax.axhline(0, color="#222222", linewidth=0.8)
    ax.axvline(metric_start, color="0.6", linewidth=0.8, linestyle="--", label="metric learning")
    ax.set(xscale="log", xlabel="epoch", ylabel="margin", ylim=(-20, 50))
