"""E5: supervised neural gas on iris, accuracy over the label weight.

Protocol (Hasenfuss 2009, sec. 3.5, fig. 3.3): 150 samples, 3 classes; 9 prototypes, range from 4.5, 100 epochs;
random halves for training and test, 50 runs; sweep of the mixing parameter beta without the end where only labels
count.

The document says that accuracy rises as labels get more weight, with batch neural gas (BNG) as the flat reference. No
numbers of its own; it quotes fuzzy labeled neural gas from the literature, 0.85 train / 0.91 test (mixing 0.5).

In sec. 3.5 beta is the weight of the data (beta = 1 is plain BNG); here label_weight = 1 - beta.

Rule, fixed before the run: "rises" holds if the mean accuracy at the largest label weight is above that of BNG and
the rank correlation of accuracy and label weight is at least RISING.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure
from scipy.stats import spearmanr
from sklearn.datasets import load_iris
from sklearn.model_selection import train_test_split

from experiments._protocol import Array, canvas, neural_gas, repeat, z_transform
from experiments._report import NO_NUMBER, REFERENCE, Result, holds, report, row
from protolearn import PrototypeClassifier

TITLE = "supervised, iris"
N_PROTOTYPES = 9
LABEL_WEIGHTS = np.linspace(0.0, 0.95, 20)
EPOCHS = 100
RUNS = 50
RISING = 0.8
LITERATURE = {"train": 0.85, "test": 0.91}


def run(quick: bool = False) -> Result:
    X, y = load_iris(return_X_y=True)
    accuracies = sweep(X, y, N_PROTOTYPES, quick)
    return report(settings(accuracies), rows_of(accuracies, LITERATURE), {"accuracies": accuracies})


def sweep(X: Array, y: Array, n_prototypes: int, quick: bool) -> Array:
    """Return the accuracy (runs, label weights, train and test)."""
    epochs = 20 if quick else EPOCHS
    return np.array(repeat(one_run, range(3 if quick else RUNS), X, y, n_prototypes, epochs))


def one_run(seed: int, X: Array, y: Array, n_prototypes: int, epochs: int) -> list[list[float]]:
    train, test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=seed)
    train, test = z_transform(train, test)
    accuracies = []
    for weight in LABEL_WEIGHTS:
        gas = neural_gas(n_prototypes, epochs, seed, range_start=n_prototypes / 2, label_weight=float(weight))
        model = PrototypeClassifier(gas).fit(train, y_train)
        accuracies.append([model.score(train, y_train), model.score(test, y_test)])
    return accuracies


def settings(accuracies: Array) -> dict[str, Any]:
    return {
        "runs": len(accuracies),
        "seeds": "run number, for the split and the start",
        "label weights": LABEL_WEIGHTS,
        "label weight": "1 - beta, beta being the weight of the data (reading of sec. 3.5)",
        "range": "n / 2 -> 0.01",
        "split": "random halves, not stratified",
        "scaling": "z-transform by the training half",
        "rule": f"last above first and rank correlation of at least {RISING}",
    }


def rows_of(accuracies: Array, literature: dict[str, float]) -> list[dict[str, Any]]:
    rows = []
    half = int(np.abs(LABEL_WEIGHTS - 0.5).argmin())
    for i, part in enumerate(("train", "test")):
        values = accuracies[:, :, i]
        mean = values.mean(axis=0)
        correlation = spearmanr(LABEL_WEIGHTS, mean).statistic
        rises = mean[-1] > mean[0] and correlation >= RISING
        text = f"{mean[0]:.3f} -> {mean[-1]:.3f}, rank correlation {correlation:.2f}"
        rows.append(row(f"accuracy rises with the label weight, {part}", "yes", text, holds(rises)))
        rows.append(row(f"BNG, accuracy, {part}", None, values[:, 0], NO_NUMBER))
        rows.append(row(f"SBNG, label weight 0.95, accuracy, {part}", None, values[:, -1], NO_NUMBER))
        quantity = f"SBNG, label weight 0.5, accuracy, {part} (document: fuzzy labeled NG)"
        rows.append(row(quantity, literature[part], values[:, half], REFERENCE))
    return rows


def draw(result: Result) -> Figure:
    figure, axes = canvas(size=(5.6, 4.0))
    ax = axes[0, 0]
    accuracies = np.array(result["data"]["accuracies"])
    for i, (part, color) in enumerate((("train", "#1b6ca8"), ("test", "#c8553d"))):
        mean = accuracies[:, :, i].mean(axis=0)
        error = accuracies[:, :, i].std(axis=0, ddof=1) / np.sqrt(len(accuracies))
        ax.fill_between(LABEL_WEIGHTS, mean - error, mean + error, color=color, alpha=0.2, linewidth=0)
        ax.plot(LABEL_WEIGHTS, mean, "o-", markersize=3, linewidth=1.4, color=color, label=f"SBNG, {part}")
        ax.axhline(mean[0], color=color, linestyle="--", linewidth=1, label=f"BNG, {part}")
    ax.set(xlabel="label weight (1 - beta)", ylabel="accuracy (mean, band: standard error)")
    figure.legend(frameon=False, loc="outside lower center", ncols=4)
    return figure
