"""E12: patch processing of a large table.

Protocol (Hasenfuss 2009, sec. 3.5, table 3.4): KDD Cup 98, 95412 records with 56 fields, z-transformed; 10
prototypes, 20 epochs, 10-fold cross-validation; patches of 1000 and 10000 records.

The document's mean errors: batch NG 0.460; patch k-means 0.464 (size 1000) and 0.468 (10000); patch NG 0.462 and
0.461; batch k-means above 0.460 (digits lost). The unit is unclear and the data are not at hand: a mixture of that
size with columns of mixed type is used (`make_kdd_surrogate`). So only ratios to batch NG are compared.

There is no verdict: on invented data, all ratios are near one, and so are the printed ones.
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
    z_transform,
)
from experiments._report import NO_NUMBER, STATEMENT, Result, report, row
from experiments.datasets import make_kdd_surrogate
from protolearn.maps import Patches
from protolearn.metrics import quantization_error

TITLE = "patches, KDD Cup 98 surrogate"
N_SAMPLES = 95412
N_PROTOTYPES = 10
EPOCHS = 20
FOLDS = 10
PATCH_SIZES = (1000, 10000)
BATCH_GAS = 0.460
DOCUMENT = {
    "patch k-means, 1000": 0.464,
    "patch k-means, 10000": 0.468,
    "patch NG, 1000": 0.462,
    "patch NG, 10000": 0.461,
}


def run(quick: bool = False) -> Result:
    X, _ = make_kdd_surrogate(5000 if quick else N_SAMPLES, random_state=0)
    folds = list(KFold(FOLDS, shuffle=True, random_state=0).split(X))
    runs = repeat(one_run, range(2 if quick else FOLDS), X, folds)
    values = {name: np.array([part[name] for part in runs]) for name in ("batch NG", "batch k-means", *DOCUMENT)}
    ratios = {name: part / values["batch NG"] for name, part in values.items()}
    rows = [row("batch k-means / batch NG, test error", "above 1", ratios["batch k-means"], STATEMENT)]
    for name, printed in DOCUMENT.items():
        rows.append(row(f"{name} / batch NG, test error", round(printed / BATCH_GAS, 4), ratios[name], STATEMENT))
    for name, part in values.items():
        there = {"batch NG": BATCH_GAS, **DOCUMENT}.get(name)
        rows.append(row(f"{name}, test error (surrogate, mean distance)", there, part, NO_NUMBER))
    return report(
        settings={
            "runs": len(runs),
            "seeds": "samples and folds 0, start and order of patches: fold number",
            "epochs": f"{EPOCHS} for batch and for each patch",
            "range": "n / 2 -> 0.01",
            "error": "mean distance of test samples to the nearest prototype",
            "scaling": "z-transform by the training folds",
            "k-means start": "random samples",
            **PATCH_SETTINGS,
            "data": "surrogate of protolearn.datasets",
        },
        rows=rows,
        data={"ratios": ratios},
    )


def one_run(fold: int, X: Array, folds: list[Any]) -> dict[str, float]:
    train, test = z_transform(*(X[part] for part in folds[fold]))
    models: dict[str, Any] = {
        "batch NG": neural_gas(N_PROTOTYPES, EPOCHS, fold),
        "batch k-means": batch_kmeans(N_PROTOTYPES, EPOCHS, fold),
    }
    samples, near_mean = random_samples(train, N_PROTOTYPES, fold), small_values(train, N_PROTOTYPES, fold)
    for size in PATCH_SIZES:
        models[f"patch NG, {size}"] = neural_gas(N_PROTOTYPES, EPOCHS, fold, patches=Patches(size), init=near_mean)
        models[f"patch k-means, {size}"] = batch_kmeans(N_PROTOTYPES, EPOCHS, fold, patches=Patches(size), init=samples)
    return {name: quantization_error(test, model.fit(train)) for name, model in models.items()}


def draw(result: Result) -> Figure:
    figure, axes = canvas(size=(6.4, 3.4))
    ax = axes[0, 0]
    names = ["batch k-means", *DOCUMENT]
    places = np.arange(len(names))[::-1]
    ours = [np.array(result["data"]["ratios"][name]) for name in names]
    ax.errorbar(
        [part.mean() for part in ours],
        places,
        xerr=[part.std(ddof=1) for part in ours],
        fmt="o",
        color="#1b6ca8",
        label="ours (surrogate)",
    )
    ax.plot(
        [printed / BATCH_GAS for printed in DOCUMENT.values()],
        places[1:],
        "D",
        color="0.5",
        markersize=5,
        label="document",
    )
    ax.axvline(1, color="0.8", linewidth=1)
    ax.set_yticks(places, names)
    ax.set(xlabel="test error relative to batch NG")
    ax.legend(frameon=False)
    return figure
