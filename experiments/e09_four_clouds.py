"""E9: patch processing of the four clouds.

Protocol (Hasenfuss 2009, sec. 3.5, table 3.4, fig. 3.11): 40000 points from four planar Gaussians of unit variance, 4
prototypes, patches of 100 points in random order, 20 epochs for each patch (and for batch), range 2 -> 0, 10-fold
cross-validation. The centers are not given; here (+-4, +-4).

The document's mean error is the mean *distance* to the nearest prototype: 1.25 is that of a planar unit Gaussian to
its center (sqrt(pi/2) = 1.253). So nothing is z-transformed. All centers are found in all runs.

k-means starts from random samples; its start is not described, so "k-means++" is reported beside it. A patch starts
from the prototypes of the patch before. Neural gas that starts near the mean for every patch, and neural gas with the
defaults of the library, were added after a first look.

Rule, fixed before the run: an error is reproduced within TOLERANCE (relative); otherwise "same order" if batch NG and
patch NG are not above batch and patch k-means. A center is found if a prototype is within FOUND of it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure
from sklearn.model_selection import KFold

from experiments._protocol import (
    PATCH_SETTINGS,
    Array,
    batch_kmeans,
    canvas,
    neural_gas,
    random_samples,
    repeat,
    small_values,
)
from experiments._report import ADDED, NO_NUMBER, Result, holds, judge, report, row
from experiments.datasets import make_four_clouds
from protolearn import NeuralGas
from protolearn.maps import Patches
from protolearn.metrics import quantization_error

TITLE = "patches, four clouds"
N_SAMPLES = 40000
N_PROTOTYPES = 4
PATCH_SIZE = 100
EPOCHS = 20
RANGE_START = 2.0
FOLDS = 10
TOLERANCE = 0.02
FOUND = 0.5
DOCUMENT = {"batch k-means": 1.25, "patch k-means": 1.28, "batch NG": 1.25, "patch NG": 1.26}
VARIANCES = {"batch k-means": 0.07e-3, "patch k-means": 0.37e-3, "batch NG": 0.07e-3, "patch NG": 0.1e-3}
EXTRA = (
    "batch k-means++",
    "patch k-means++",
    "patch NG anew",
    "batch NG, library defaults",
    "patch NG, library defaults",
)

# why a row is not reproduced, by a phrase of its quantity
REMARKS = {
    "batch NG": (
        "in some runs one prototype serves two clouds while two share another: on an exact square, neural gas "
        "that starts at the center can end there, and an independent implementation of the algorithm does the "
        "same; on a slightly distorted square it did not happen. The document's centers are not known"
    ),
    "patch k-means, test error": "better than printed: all centers are found exactly",
    "k-means": (
        "stuck in local optima when several of the random first samples are from one cloud; with k-means++ "
        "all centers are found"
    ),
}


def run(quick: bool = False) -> Result:
    X, _, centers = make_four_clouds(4000 if quick else N_SAMPLES, return_centers=True, random_state=0)
    folds = list(KFold(FOLDS, shuffle=True, random_state=0).split(X))
    runs = repeat(one_run, range(3 if quick else FOLDS), X, centers, folds)
    values = {name: np.array([part[name] for part in runs]) for name in (*DOCUMENT, *EXTRA)}  # (folds, error and found)
    mean = {name: float(part[:, 0].mean()) for name, part in values.items()}
    same_order = mean["batch NG"] <= mean["batch k-means"] and mean["patch NG"] <= mean["patch k-means"]
    rows = []
    for name, printed in DOCUMENT.items():
        errors = values[name][:, 0]
        rows.append(
            row(f"{name}, test error", printed, errors, judge(errors, printed, TOLERANCE * printed, same_order))
        )
    for name in DOCUMENT:
        variance = 1e3 * float(values[name][:, 0].var(ddof=1))
        rows.append(row(f"{name}, variance of the error x 1000", 1e3 * VARIANCES[name], variance, NO_NUMBER))
    for name in EXTRA:
        rows.append(row(f"{name}, test error", None, values[name][:, 0], ADDED if "NG" in name else NO_NUMBER))
    for name in (*DOCUMENT, *EXTRA):
        found = values[name][:, 1]
        verdict = holds((found == N_PROTOTYPES).all()) if name in DOCUMENT else ADDED if "NG" in name else NO_NUMBER
        text = f"in {int((found == N_PROTOTYPES).sum())} of {len(found)} runs"
        rows.append(row(f"{name}, all centers found", "in all runs" if name in DOCUMENT else None, text, verdict))
    return report(
        settings={
            "runs": len(runs),
            "seeds": "samples and folds 0, start and order of patches: fold number",
            "epochs": f"{EPOCHS} for batch and for each patch",
            "patch size": PATCH_SIZE,
            "range": "2 -> 0.01",
            "error": "mean distance of test samples to the nearest prototype",
            "scaling": "none",
            "k-means start": "random samples",
            **PATCH_SETTINGS,
            "rule": f"within {TOLERANCE} relative; center found within {FOUND}",
        },
        rows=rows,
        data={"X": X[:3000], "prototypes": fitted_positions(X)},
    )


def estimators(X: Array, seed: int) -> dict[str, Any]:
    patches = {"patches": Patches(PATCH_SIZE)}
    samples, near_mean = random_samples(X, N_PROTOTYPES, seed), small_values(X, N_PROTOTYPES, seed)
    return {
        "batch k-means": batch_kmeans(N_PROTOTYPES, EPOCHS, seed),
        "patch k-means": batch_kmeans(N_PROTOTYPES, EPOCHS, seed, init=samples, **patches),
        "batch NG": neural_gas(N_PROTOTYPES, EPOCHS, seed, range_start=RANGE_START),
        "patch NG": neural_gas(N_PROTOTYPES, EPOCHS, seed, range_start=RANGE_START, init=near_mean, **patches),
        "patch NG anew": neural_gas(N_PROTOTYPES, EPOCHS, seed, range_start=RANGE_START, **patches),
        "batch NG, library defaults": NeuralGas(N_PROTOTYPES, max_iter=EPOCHS, random_state=seed),
        "patch NG, library defaults": NeuralGas(N_PROTOTYPES, max_iter=EPOCHS, random_state=seed, **patches),
        "batch k-means++": batch_kmeans(N_PROTOTYPES, EPOCHS, seed, init="k-means++"),
        "patch k-means++": batch_kmeans(N_PROTOTYPES, EPOCHS, seed, init="k-means++", **patches),
    }


def one_run(fold: int, X: Array, centers: Array, folds: list[Any]) -> dict[str, list[float]]:
    train, test = folds[fold]
    results = {}
    for name, estimator in estimators(X[train], fold).items():
        estimator.fit(X[train])
        results[name] = [quantization_error(X[test], estimator), centers_found(centers, estimator.prototypes_)]
    return results


def centers_found(centers: Array, prototypes: Array) -> int:
    gaps = np.linalg.norm(centers[:, None] - prototypes, axis=2)
    return int((gaps.min(axis=1) <= FOUND).sum())


def fitted_positions(X: Array) -> dict[str, Array]:
    chosen = estimators(X, 0)
    return {name: chosen[name].fit(X).prototypes_ for name in ("patch NG", "patch k-means")}


def draw(result: Result) -> Figure:
    figure, axes = canvas(size=(4.8, 4.4))
    ax = axes[0, 0]
    ax.scatter(*np.array(result["data"]["X"]).T, s=3, color="#c9d6df", linewidth=0)
    for name, style in (
        ("patch NG", {"marker": "o", "color": "#1b6ca8"}),
        ("patch k-means", {"marker": "x", "color": "#c8553d"}),
    ):
        positions = np.array(result["data"]["prototypes"][name])
        ax.plot(*positions.T, linestyle="", markersize=8, label=f"{name} (one run)", **style)
    ax.set(title="Four clouds (fig. 3.11)", aspect="equal")
    ax.legend(frameon=False, loc="center", fontsize=8)
    return figure
