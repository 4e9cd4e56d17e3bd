"""E10: patch processing of the checkerboard.

Protocol (Hasenfuss 2009, sec. 3.5, fig. 3.12): checkerboard of about 2000 points, 100 prototypes, range from 10, 20
epochs (for batch and for each patch), 10 runs; patches of 200, 400 and 600 points. Generator as in E3 (15-20 points
in each field, Gaussian spread 0.12), z-transformed; k-means starts from random samples.

The document gives the accuracy of each method, a quantization error "around 0.055 for all" (read as mean distance),
and says that patch neural gas misses 3-4 clusters more than batch, k-means about 15, neural gas 7.

Rule, fixed before the run: accuracies (of the training points) are reproduced within TOLERANCE (percentage points),
errors within ERROR_TOLERANCE (relative), numbers of missed clusters within MISS_TOLERANCE; otherwise "same order" if
every neural gas is above every k-means, batch NG above patch NG and batch k-means above patch k-means.

What is a missed cluster? The document equates one with about 1 % of classification error, so a field is missed if it
is not the commonest field in any receptive field. Counting fields without a prototype near the center (within LOCATED
spacings) would count two fields that share one prototype as two; a smoke run with two runs was counted that way at
first, and this count is still given, without a verdict.

A patch starts from the prototypes of the patch before. After a first look, neural gas that starts near the mean again
for every patch was added, without a verdict, and neural gas with the defaults of the library.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

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
from experiments._report import ADDED, NO_NUMBER, Result, judge, report, row
from protolearn import NeuralGas, PrototypeClassifier
from protolearn.datasets import make_checkerboard
from protolearn.maps import Patches
from protolearn.metrics import quantization_error

TITLE = "patches, checkerboard"
N_PROTOTYPES = 100
RANGE_START = 10.0
EPOCHS = 20
RUNS = 10
PATCH_SIZES = (200, 400, 600)
TOLERANCE = 2.0
ERROR_TOLERANCE = 0.1
MISS_TOLERANCE = 3.0
LOCATED = 0.25
DOCUMENT = {
    "batch k-means": 87.32,
    "patch k-means, 200": 86.38,
    "patch k-means, 400": 85.43,
    "patch k-means, 600": 84.47,
    "batch NG": 93.35,
    "patch NG, 200": 90.18,
    "patch NG, 400": 90.76,
    "patch NG, 600": 91.80,
}
MISSES = {"batch k-means": 15.0, "batch NG": 7.0}
QUANTIZATION = 0.055

# why a row is not reproduced, by a phrase of its quantity
REMARKS = {
    "quantization error": (
        "depends on the spread within a field, which is not given; one value for methods that miss 7 and 15 "
        "clusters is hard to explain in any case"
    ),
    "patch NG": (
        "better than printed: here a patch starts from the prototypes of the patch before. With a start near "
        "the mean for every patch (rows below) patches lose accuracy as in the document; but on the clouds "
        "(E9, E14) that start fails where the document's did not"
    ),
    "patch k-means": (
        "a little below; start and spread are not known, and the order test fails because patch NG is better "
        "than printed"
    ),
}


def run(quick: bool = False) -> Result:
    runs = repeat(one_run, range(2 if quick else RUNS))
    # (runs, [accuracy train, accuracy test, quantization error, missed clusters, fields without a prototype])
    values = {name: np.array([part[name] for part in runs]) for name in runs[0]}
    ordered = same_order({name: float(part[:, 0].mean()) for name, part in values.items()})
    rows = []
    for name, printed in DOCUMENT.items():
        accuracy = values[name][:, 0]
        rows.append(row(f"{name}, accuracy % (train)", printed, accuracy, judge(accuracy, printed, TOLERANCE, ordered)))
    for name in DOCUMENT:
        errors = values[name][:, 2]
        verdict = judge(errors, QUANTIZATION, ERROR_TOLERANCE * QUANTIZATION, ordered)
        rows.append(row(f"{name}, quantization error", QUANTIZATION, errors, verdict))
    for name, printed in MISSES.items():
        missed = values[name][:, 3]
        rows.append(row(f"{name}, missed clusters", printed, missed, judge(missed, printed, MISS_TOLERANCE, ordered)))
    for size in PATCH_SIZES:
        more = values[f"patch NG, {size}"][:, 3] - values["batch NG"][:, 3]
        verdict = judge(more, 3.5, MISS_TOLERANCE, ordered)
        rows.append(row(f"patch NG, {size}, clusters missed more than by batch NG", 3.5, more, verdict))
    for size in PATCH_SIZES:
        anew = values[f"patch NG anew, {size}"]
        printed = DOCUMENT[f"patch NG, {size}"]
        rows.append(
            row(f"patch NG, {size}, started anew for every patch, accuracy % (train)", printed, anew[:, 0], ADDED)
        )
        more = anew[:, 3] - values["batch NG"][:, 3]
        quantity = f"patch NG, {size}, started anew for every patch, clusters missed more than by batch NG"
        rows.append(row(quantity, 3.5, more, ADDED))
    for name in ("batch NG, library defaults", *(f"patch NG, {size}, library defaults" for size in PATCH_SIZES)):
        rows.append(row(f"{name}, accuracy % (train)", None, values[name][:, 0], ADDED))
    for name in MISSES:
        rows.append(row(f"{name}, fields without a prototype near the center", None, values[name][:, 4], NO_NUMBER))
    for name in DOCUMENT:
        rows.append(row(f"{name}, accuracy % (test)", None, values[name][:, 1], NO_NUMBER))
    X, y = make_checkerboard(random_state=0)
    return report(
        settings={
            "runs": len(runs),
            "seeds": "run number: training set 2 run, test set 2 run + 1, start and order of patches run",
            "epochs": f"{EPOCHS} for batch and for each patch",
            "range": "10 -> 0.01",
            "error": "mean distance, after z-transform by the training set",
            "spread within a field": "Gaussian, 0.12 of the spacing",
            "k-means start": "random samples",
            **PATCH_SETTINGS,
            "rule": f"accuracy within {TOLERANCE} points, error within {ERROR_TOLERANCE} relative, "
            f"missed clusters within {MISS_TOLERANCE}",
        },
        rows=rows,
        data={"X": X, "y": y, "accuracy": {name: part[:, 0] for name, part in values.items()}},
    )


def estimators(X: Array, seed: int) -> dict[str, Any]:
    samples, near_mean = random_samples(X, N_PROTOTYPES, seed), small_values(X, N_PROTOTYPES, seed)
    models: dict[str, Any] = {
        "batch k-means": batch_kmeans(N_PROTOTYPES, EPOCHS, seed),
        "batch NG": gas(seed),
        "batch NG, library defaults": NeuralGas(N_PROTOTYPES, max_iter=EPOCHS, random_state=seed),
    }
    for size in PATCH_SIZES:
        models[f"patch k-means, {size}"] = batch_kmeans(N_PROTOTYPES, EPOCHS, seed, patches=Patches(size), init=samples)
        models[f"patch NG, {size}"] = gas(seed, patches=Patches(size), init=near_mean)
        models[f"patch NG anew, {size}"] = gas(seed, patches=Patches(size))
        default = NeuralGas(N_PROTOTYPES, max_iter=EPOCHS, random_state=seed, patches=Patches(size))
        models[f"patch NG, {size}, library defaults"] = default
    return models


def gas(seed: int, **options: Any) -> NeuralGas:
    return neural_gas(N_PROTOTYPES, EPOCHS, seed, range_start=RANGE_START, **options)


def one_run(seed: int) -> dict[str, list[float]]:
    train, y_train, field = make_checkerboard(return_field=True, random_state=2 * seed)
    test, y_test = make_checkerboard(random_state=2 * seed + 1)
    z_train, z_test, centers = z_transform(train, test, field_centers())
    results = {}
    for name, model in estimators(z_train, seed).items():
        classifier = PrototypeClassifier(model).fit(z_train, y_train)
        results[name] = [
            100 * classifier.score(z_train, y_train),
            100 * classifier.score(z_test, y_test),
            quantization_error(z_train, classifier.estimator_),
            missed_clusters(classifier.estimator_.predict(z_train), field),
            len(centers) - located_fields(centers, classifier.estimator_.prototypes_),
        ]
    return results


def field_centers() -> Array:
    return np.array([(col, row) for row in range(10) for col in range(10)], float)


def missed_clusters(winners: Array, field: Array) -> int:
    """Count the fields that are not the commonest one in any receptive field."""
    counts = np.zeros((N_PROTOTYPES, 100), int)
    np.add.at(counts, (winners, field), 1)
    return 100 - len(np.unique(counts[counts.sum(axis=1) > 0].argmax(axis=1)))


def located_fields(centers: Array, prototypes: Array) -> int:
    """Count the fields with a prototype near their center."""
    spacing = np.linalg.norm(centers[1] - centers[0])
    gaps = np.linalg.norm(centers[:, None] - prototypes, axis=2)
    return int((gaps.min(axis=1) <= LOCATED * spacing).sum())


def same_order(accuracy: dict[str, float]) -> bool:
    gas = [accuracy[f"patch NG, {size}"] for size in PATCH_SIZES]
    kmeans = [accuracy[f"patch k-means, {size}"] for size in PATCH_SIZES]
    batch_first = accuracy["batch NG"] > max(gas) and accuracy["batch k-means"] > max(kmeans)
    return batch_first and min(gas) > accuracy["batch k-means"]


def draw(result: Result) -> Figure:
    figure, axes = canvas(1, 2, (4.6, 4.2))
    X, y = np.array(result["data"]["X"]), np.array(result["data"]["y"])
    for label, color in enumerate(("#1b6ca8", "#e08e45")):
        axes[0, 0].scatter(*X[y == label].T, s=5, color=color, linewidth=0)
    axes[0, 0].set(title="Checkerboard (fig. 3.12)", aspect="equal")
    names = [*DOCUMENT, *(f"patch NG anew, {size}" for size in PATCH_SIZES)]
    places = np.arange(len(names))[::-1]
    ours = [np.array(result["data"]["accuracy"][name]) for name in names]
    axes[0, 1].errorbar(
        [part.mean() for part in ours],
        places,
        xerr=[part.std(ddof=1) for part in ours],
        fmt="o",
        color="#1b6ca8",
        label="ours",
    )
    printed = [DOCUMENT[name.replace(" anew", "")] for name in names]
    axes[0, 1].plot(printed, places, "D", color="0.5", markersize=5, label="document")
    axes[0, 1].set_yticks(places, names)
    axes[0, 1].set(xlabel="accuracy %, train (mean, sd)")
    axes[0, 1].legend(frameon=False)
    return figure
