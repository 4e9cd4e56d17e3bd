"""E3: quantization and classification of the checkerboard.

Protocol (Hasenfuss 2009, sec. 3.5, table 3.1): 10 x 10 clusters in the plane with 15-20 samples each, labels
alternating like a chess board, separate training and test sets; 100 prototypes, 100 epochs, 5 runs; classification by
the majority label of each receptive field. Here there are RUNS runs: means of five lie on either side of a tolerance,
and which depends on rounding, and so on the processor.

The spread within a field is not given; the generator's default (Gaussian, 0.12 of the spacing) is used and not tuned.
The printed error (0.0028 ...) is read as half the mean squared distance. k-means starts from random samples: from
small values it collapses (last rows), so the printed k-means row cannot have used them. The last SOM was added after
a first look at the results, to see whether the SOM Toolbox's defaults explain the printed SOM rows; it has no
verdict.

Rule, fixed before the run: quantization errors are reproduced within QUANTIZATION_TOLERANCE (relative),
classification errors within CLASSIFICATION_TOLERANCE (absolute); otherwise "same order" if, in that line of the
table, batch NG is lowest and both SOMs are above online NG and k-means.

Added after a first look at RUNS runs, in which batch NG is .0007 outside of the tolerance of a class error: "on the
border" if the edge of the tolerance is within a standard error of the mean.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from experiments._protocol import (
    ONLINE_SETTINGS,
    SOM_SETTINGS,
    Array,
    batch_kmeans,
    batch_som,
    canvas,
    neural_gas,
    repeat,
    toolbox_som,
    z_transform,
)
from experiments._report import ADDED, NO_NUMBER, Result, judge, report, row
from protolearn import PrototypeClassifier
from protolearn.datasets import make_checkerboard
from protolearn.metrics import quantization_error

TITLE = "checkerboard"
N_PROTOTYPES = 100
LATTICE = (10, 10)
EPOCHS = 100
RUNS = 20
QUANTIZATION_TOLERANCE = 0.25
CLASSIFICATION_TOLERANCE = 0.02
QUANTITIES = ("quantization error, train", "quantization error, test", "class error, train", "class error, test")
DOCUMENT = {
    "online NG": (0.0043, 0.0051, 0.1032, 0.1207),
    "batch NG": (0.0028, 0.0033, 0.0330, 0.0426),
    "online SOM": (0.0127, 0.0125, 0.2744, 0.2944),
    "batch SOM": (0.0126, 0.0124, 0.2770, 0.2926),
    "k-means": (0.0043, 0.0050, 0.1136, 0.1376),
}
TOOLBOX = "batch SOM, Toolbox (hexagonal, Gaussian, range to 1)"
EXTRA = ("batch SOM, nearest winner", TOOLBOX, "k-means, small values")

# why a row is not reproduced, by a phrase of its quantity
REMARKS = {
    "SOM": (
        "ours is far better, and so the order of the methods changes: a rectangular 10 x 10 lattice has the "
        "shape of the board, and the range falls to 0.01. The document used the SOM Toolbox; see the row with "
        "its defaults"
    ),
    "online NG": (
        "better than printed. The document itself says elsewhere (E11) that online NG misses about 3 clusters "
        "after 100 epochs, which is 3 % and not 10 % of error"
    ),
    "batch NG": "one or two clusters more are missed than in the document; the spread within a field is not known",
    "k-means, q": "the spread within a field and the start of k-means are not known",
    "k-means, c": "the spread within a field and the start of k-means are not known",
}


def run(quick: bool = False) -> Result:
    epochs = 10 if quick else EPOCHS
    runs = repeat(one_run, range(2 if quick else RUNS), epochs)
    values = {name: np.array([part[name] for part in runs]) for name in (*DOCUMENT, *EXTRA)}
    rows = []
    for column, quantity in enumerate(QUANTITIES):
        ordered = same_order({name: float(part[:, column].mean()) for name, part in values.items()})
        for name, line in DOCUMENT.items():
            tolerance = QUANTIZATION_TOLERANCE * line[column] if column < 2 else CLASSIFICATION_TOLERANCE
            ours = values[name][:, column]
            verdict = judge(ours, line[column], tolerance, ordered)
            rows.append(row(f"{name}, {quantity}", line[column], ours, verdict))
    for name in EXTRA:
        for column, quantity in enumerate(QUANTITIES):
            printed, verdict = (DOCUMENT["batch SOM"][column], ADDED) if name == TOOLBOX else (None, NO_NUMBER)
            rows.append(row(f"{name}, {quantity}", printed, values[name][:, column], verdict))
    return report(
        settings={
            "runs": len(runs),
            "seeds": "run number: training set 2 run, test set 2 run + 1, start run",
            "epochs": epochs,
            "NG range": "n / 2 -> 0.01",
            "error": "half the mean squared distance, after z-transform by the training set",
            "spread within a field": "Gaussian, 0.12 of the spacing",
            "k-means start": "random samples",
            "rule": f"quantization within {QUANTIZATION_TOLERANCE} relative, classes within {CLASSIFICATION_TOLERANCE}",
            **SOM_SETTINGS,
            **ONLINE_SETTINGS,
        },
        rows=rows,
        data={"values": values},
    )


def one_run(seed: int, epochs: int) -> dict[str, list[float]]:
    train, y_train = make_checkerboard(random_state=2 * seed)
    test, y_test = make_checkerboard(random_state=2 * seed + 1)
    train, test = z_transform(train, test)
    return {name: errors(model, train, y_train, test, y_test) for name, model in estimators(epochs, seed).items()}


def estimators(epochs: int, seed: int) -> dict[str, Any]:
    return {
        "online NG": neural_gas(N_PROTOTYPES, epochs, seed, algorithm="online"),
        "batch NG": neural_gas(N_PROTOTYPES, epochs, seed),
        "online SOM": batch_som(LATTICE, epochs, seed, algorithm="online"),
        "batch SOM": batch_som(LATTICE, epochs, seed),
        "k-means": batch_kmeans(N_PROTOTYPES, epochs, seed),
        "batch SOM, nearest winner": batch_som(LATTICE, epochs, seed, winner="nearest"),
        TOOLBOX: toolbox_som(LATTICE, epochs, seed),
        "k-means, small values": batch_kmeans(N_PROTOTYPES, epochs, seed, init="center"),
    }


def errors(model: Any, train: Array, y_train: Array, test: Array, y_test: Array) -> list[float]:
    classifier = PrototypeClassifier(model).fit(train, y_train)
    return [
        quantization_error(train, classifier.estimator_, reduction="half_mean"),
        quantization_error(test, classifier.estimator_, reduction="half_mean"),
        1 - classifier.score(train, y_train),
        1 - classifier.score(test, y_test),
    ]


def same_order(error: dict[str, float]) -> bool:
    middle = (error["online NG"], error["k-means"])
    return error["batch NG"] < min(middle) and max(middle) < min(error["online SOM"], error["batch SOM"])


def draw(result: Result) -> Figure:
    figure, axes = canvas(1, 2, (5.4, 3.8))
    printed = {**DOCUMENT, TOOLBOX: DOCUMENT["batch SOM"]}
    labels = [*DOCUMENT, "batch SOM,\nToolbox"]
    places = np.arange(len(printed))
    for ax, column in zip(axes[0], (1, 3)):
        ours = [np.array(result["data"]["values"][name])[:, column] for name in printed]
        ax.bar(places - 0.2, [values[column] for values in printed.values()], 0.38, color="0.8", label="document")
        deviations = [part.std(ddof=1) for part in ours]
        ax.bar(places + 0.2, [part.mean() for part in ours], 0.38, yerr=deviations, color="#1b6ca8", label="ours")
        ax.set_xticks(places, labels, rotation=25, ha="right")
        ax.set(title=QUANTITIES[column], ylim=(0, None))
    figure.legend(*axes[0, 0].get_legend_handles_labels(), frameon=False, loc="outside lower center", ncols=2)
    return figure
