"""E23: magnification control by relational neural gas, on the control data of E7.

Protocol (Hasenfuss 2009, sec. 4.6, fig. 4.12 left): the sheets of E7 (d = 1, 2, 3 with 2500/5000/10000 samples), given
to relational neural gas as distances; 50 prototypes, 100 epochs, c from -1.5 to 3.5 in steps of 0.25, 20 runs (fewer
here, see the settings). On Euclidean distances relational neural gas is neural gas: for d = 1 it is run for every c,
from the same start as the vectors, and asserted to give the same winners; the curves of all runs are those of vectors.

The document says that the optima are close to theory, c* = 2/d. No numbers are printed.

Rule, fixed before the run, as in E7: a quadratic is fitted to the mean entropies within 1 of the largest one; the
optimum is reproduced if the vertex is within PASS_BAND of c*; otherwise "same order" if the vertex falls with d. The
maps are the same if at most DIFFERENT of all winners differ (ties and rounding).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from experiments._protocol import RANGE_END, Array, canvas
from experiments._report import NO_NUMBER, Result, holds, judge, report, row
from experiments.e07_magnification import DIMENSIONS, EXPONENTS, OPTIMA, PASS_BAND, at, entropies, estimate, vertex
from protolearn import NeuralGas, RelationalNeuralGas
from protolearn.datasets import make_magnification_control
from protolearn.dissimilarities import pairwise
from protolearn.maps import Ranks

TITLE = "magnification control, relational"
N_PROTOTYPES = 50
EPOCHS = 100
RUNS = 2
RELATIONAL_STEP = 4  # every fourth c is run relationally
DIFFERENT = 1e-3

# why a row is not reproduced, by a phrase of its quantity
REMARKS = {
    "d = 3": "below the law, as neural gas on the same data (E7): of 50 prototypes fewer than four lie along each axis",
}


def run(quick: bool = False) -> Result:
    n_runs, epochs = (2, 10) if quick else (RUNS, EPOCHS)
    exponents = EXPONENTS[:: 10 if quick else RELATIONAL_STEP]
    differing = max(share_of_differing_winners(c, epochs) for c in exponents)
    assert differing <= DIFFERENT, differing
    curves = {d: entropies(d, N_PROTOTYPES, epochs, n_runs, exact=False) for d in DIMENSIONS}
    tops = [vertex(part.mean(axis=0)) for part in curves.values()]
    falls = bool(np.all(np.diff(tops) < 0))
    rows = [
        row(
            "d = 1: relational and vector maps are the same (differing winners)",
            "yes",
            f"{100 * differing:.3g} %",
            holds(differing <= DIFFERENT),
        )
    ]
    for (d, part), top in zip(curves.items(), tops):
        verdict = judge(top, OPTIMA[d], PASS_BAND, falls)
        rows.append(estimate(f"optimal c, d = {d}, vertex", OPTIMA[d], part, vertex, verdict))
        best, low, high = (part[:, i].mean() for i in (at(top), 0, -1))
        text = f"{best:.4f} > {low:.4f}, {high:.4f}"
        rows.append(row(f"entropy at the vertex above both ends, d = {d}", "yes", text, holds(best > max(low, high))))
        rows.append(row(f"entropy near c*, d = {d}", None, part[:, at(OPTIMA[d])], NO_NUMBER))
    rows.append(row("the vertex falls with d", "yes", "yes" if falls else "no", holds(falls)))
    return report(
        settings={
            "runs": f"{n_runs} (document: 20)",
            "seeds": "run number, for samples and start alike",
            "epochs": epochs,
            "range": "n / 2 -> 0.01, start near the center",
            "relational": f"d = 1, one run, c = {', '.join(f'{c:g}' for c in exponents)}, magnification of the library "
            "(density from the dissimilarities), from the same given start",
            "density": "Gaussian Parzen window, bandwidth = average distance / 3",
            "logarithm": f"natural; at most ln {N_PROTOTYPES} = {np.log(N_PROTOTYPES):.4f}",
            "pass band": f"|vertex - c*| <= {PASS_BAND}",
        },
        rows=rows,
        data={"exponents": EXPONENTS, "curves": curves},
    )


def share_of_differing_winners(c: float, epochs: int) -> float:
    """Return how many samples of the d = 1 data have another winner in the relational than in the vector map."""
    X, _ = make_magnification_control(1, random_state=0)
    start = np.random.RandomState(0).dirichlet(np.ones(len(X)), N_PROTOTYPES)
    ranks = Ranks((N_PROTOTYPES / 2, RANGE_END), settle=False)
    settings: dict[str, Any] = {"neighborhood": ranks, "max_iter": epochs, "magnification": float(c)}
    vectors = NeuralGas(N_PROTOTYPES, init=start @ X, **settings).fit(X)
    relational = RelationalNeuralGas(N_PROTOTYPES, init=start, **settings).fit(pairwise(X, metric="euclidean"))
    return float((vectors.labels_ != relational.labels_).mean())


def draw(result: Result) -> Figure:
    figure, axes = canvas(size=(5.4, 4.0))
    c = np.array(result["data"]["exponents"])
    ax = axes[0, 0]
    for d, color in zip(DIMENSIONS, ("#1b6ca8", "#c8553d", "#4a7c59")):
        curves: Array = np.array(result["data"]["curves"][str(d)])
        mean, deviation = curves.mean(axis=0), curves.std(axis=0, ddof=1)
        ax.fill_between(c, mean - deviation, mean + deviation, color=color, alpha=0.15, linewidth=0)
        ax.plot(c, mean, "o-", color=color, markersize=3, linewidth=1.4, label=f"d = {d}")
        ax.annotate(
            "",
            xy=(OPTIMA[d], np.interp(OPTIMA[d], c, mean) + 0.004),
            xytext=(OPTIMA[d], np.log(N_PROTOTYPES) + 0.028),
            arrowprops={"arrowstyle": "->", "color": color, "linewidth": 1.4},
        )
    ax.axhline(np.log(N_PROTOTYPES), color="0.6", linewidth=0.8, linestyle="--")
    ax.set(xlabel="exponent c", ylabel="entropy of the map (nats)", title="50 prototypes; arrows: c* = 2/d")
    ax.set_ylim(top=np.log(N_PROTOTYPES) + 0.035)
    ax.legend(frameon=False, loc="lower center")
    return figure
