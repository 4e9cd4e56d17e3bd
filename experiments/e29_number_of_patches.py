"""E29: the error of patch median and patch relational neural gas over the number of patches.

Protocol (Hasenfuss 2009, sec. 4.6, fig. 4.16): the 1250 planar points of E28, 20 prototypes, 50 epochs, range 10 ->
0.01; 10 runs. How many objects stand for a prototype is not said: k = 1, 3 and 10 here; a median prototype is one
object.

No numbers are printed: the error rises with the number of patches, and relational neural gas is clearly below median
neural gas.

Rule, fixed before the run: the error rises if its mean is larger with the most patches than with one, and its rank
correlation with the number of patches is at least RISING; relational is below median if the mean error is lower for
every number of patches and every k.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure
from scipy.stats import spearmanr

from experiments._protocol import RANGE_END, Array, canvas, repeat
from experiments._report import NO_NUMBER, SKIPPED, Result, holds, report, row
from experiments.e28_approximation import planar_points
from protolearn import MedianNeuralGas, RelationalNeuralGas
from protolearn.dissimilarities import pairwise
from protolearn.maps import Patches, Ranks
from protolearn.metrics import quantization_error

TITLE = "number of patches"
N_PROTOTYPES = 20
EPOCHS = 50
RUNS = 10
N_PATCHES = (1, 2, 3, 5, 8, 10, 15, 20, 25)
RISING = 0.8
SIZES = (1, 3, 10)
MEDIAN = "patch median NG"
MAPS = (MEDIAN, *(f"patch relational NG, k = {k}" for k in SIZES))
REMARKS: dict[str, str] = {}


def run(quick: bool = False) -> Result:
    X = planar_points()
    if X is None:
        print("Skipped: the file ripley_synth.npz is not in the data folder.")
        return report({}, [row("quantization error", "fig. 4.16", None, SKIPPED)])
    epochs = 10 if quick else EPOCHS
    runs = np.array(repeat(errors, range(2 if quick else RUNS), X, epochs))  # (runs, maps, patches)
    found = {name: runs[:, i] for i, name in enumerate(MAPS)}
    mean = {name: part.mean(axis=0) for name, part in found.items()}
    rows = []
    for name in MAPS:
        rise = spearmanr(N_PATCHES, mean[name]).statistic
        text = f"{mean[name][0]:.2f} -> {mean[name][-1]:.2f}, rank correlation {rise:.2f}"
        rises = mean[name][-1] > mean[name][0] and rise >= RISING
        rows.append(row(f"the error of {name} rises with the patches", "yes", text, holds(rises)))
    for name in MAPS[1:]:
        ratio = mean[name] / mean[MEDIAN]
        text = f"{ratio.min():.2f} to {ratio.max():.2f} times as large"
        rows.append(row(f"{name} below {MEDIAN}", "yes", text, holds(ratio.max() < 1)))
    for name in MAPS:
        for n in (1, 2, 5, 10, 25):
            rows.append(row(f"error of {name}, {n} patches", None, found[name][:, N_PATCHES.index(n)], NO_NUMBER))
    return report(
        settings={
            "runs": len(runs),
            "seeds": "run number, for start and order of patches; the points are the same",
            "epochs": f"{epochs} for each patch",
            "range": "n / 2 -> 0.01; every patch starts anew, relational near the center, median with random objects",
            "median": "noise of 1e-4 on distances, fading; no noise in the last epoch",
            "error": "half the sum of squared distances of all points to the nearest prototype",
            "rule": f"rank correlation at least {RISING}; relational below median for every number of patches",
        },
        rows=rows,
        data={"found": found},
    )


def errors(seed: int, X: Array, epochs: int) -> list[list[float]]:
    """Return the error for each map and number of patches."""
    D = pairwise(X, metric="euclidean", n_jobs=1)
    return [[error(X, D, name, n, epochs, seed) for n in N_PATCHES] for name in MAPS]


def error(X: Array, D: Array, name: str, n_patches: int, epochs: int, seed: int) -> float:
    settings: dict[str, Any] = {
        "neighborhood": Ranks((N_PROTOTYPES / 2, RANGE_END)),
        "max_iter": epochs,
        "patches": Patches(-(-len(X) // n_patches)),
        "random_state": seed,
        "n_jobs": 1,
    }
    if name == MEDIAN:
        median = MedianNeuralGas(N_PROTOTYPES, init="random", collision="noise", **settings).fit(D)
        prototypes = X[median.prototype_indices_]
    else:
        k = int(name.rsplit(" ", 1)[1])
        relational = RelationalNeuralGas(N_PROTOTYPES, init="center", n_approximation=k, **settings).fit(D)
        prototypes = relational.coefficients_ @ X[relational.support_]
    return quantization_error(X, prototypes, reduction="half_sum")


def draw(result: Result) -> Figure:
    figure, axes = canvas()
    for name, color in zip(MAPS, ("#c8553d", "#8fb8de", "#1b6ca8", "#0b2545")):
        values = np.array(result["data"]["found"][name])
        mean, deviation = values.mean(axis=0), values.std(axis=0, ddof=1)
        axes[0, 0].fill_between(N_PATCHES, mean - deviation, mean + deviation, color=color, alpha=0.15, linewidth=0)
        axes[0, 0].plot(N_PATCHES, mean, "o-", color=color, markersize=3, label=name)
    axes[0, 0].set(xlabel="number of patches", ylabel="half the sum of squared distances", title="fig. 4.16")
    axes[0, 0].set_ylim(bottom=0)
    axes[0, 0].legend(frameon=False, fontsize=8, loc="lower right")
    return figure
