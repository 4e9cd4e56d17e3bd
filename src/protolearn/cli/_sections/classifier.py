"""Maps as classifiers of digits: a comparison, and the prototypes behind single decisions."""

from __future__ import annotations

import time
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.cluster import KMeans as ReferenceKMeans
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.neighbors import KNeighborsClassifier

from protolearn import SOM, KMeans, NeuralGas, PrototypeClassifier
from protolearn.cli._pictures import canvas, ink_png, to_png
from protolearn.cli._report import Block, Card, Cards, Picture, Prose, Section, Table
from protolearn.cli._sections._digits_data import N_PROTOTYPES, as_images, load_samples
from protolearn.cli._sections._effort import Effort
from protolearn.core.lattices import hexagonal
from protolearn.core.types import Array, Floats, Indices
from protolearn.metrics import map_entropy, quantization_error, topographic_error
from protolearn.plotting.style import class_colors, tidy

__all__ = ["Trial", "classifier_section"]

LATTICE = hexagonal(5, 6)
LABEL_WEIGHT = 0.5
REJECT_SHARE = 0.1
N_CARDS = 6

UNSUPERVISED, SUPERVISED, ON_LATTICE = "neural gas", "supervised neural gas", "SOM"

Classes = Indices
Rows = NDArray[np.intp]


@dataclass(frozen=True)
class Trial:
    """A fitted classifier, the rows it learned from and is tested on, and the seconds of its fit."""

    classifier: PrototypeClassifier
    train: Rows
    test: Rows
    seconds: float


def classifier_section(effort: Effort) -> Section:
    """Compare maps as classifiers on several splits, and show decisions with their prototypes."""
    X, y = load_samples(effort.n_digits)
    splits = list(StratifiedShuffleSplit(effort.n_splits, test_size=0.3, random_state=0).split(X, y))
    trials = {
        name: [run_trial(clone(model).set_params(random_state=seed), X, y, *rows) for seed, rows in enumerate(splits)]
        for name, model in models(effort).items()
    }
    nearest = [KNeighborsClassifier(1).fit(X[train], y[train]).score(X[test], y[test]) for train, test in splits]
    first = trials[SUPERVISED][0]
    careful = with_rejection(first.classifier, X[first.train], REJECT_SHARE)
    blocks: list[Block] = [
        Prose(_introduction(first, effort.n_splits)),
        merit_table(trials, X, y),
        Prose(_on_table(trials, X, y, float(np.mean(nearest)))),
        Prose(_on_confidence()),
        _rejection_picture(trials, X, y),
        Prose(_on_rejection(careful, X[first.test], y[first.test])),
        *_decisions(careful, X[first.test], y[first.test]),
    ]
    results = {"trials": trials, "careful": careful, "X": X, "y": y}
    return Section("classifier", "A classifier that explains its decisions", blocks, results)


def models(effort: Effort) -> dict[str, Any]:
    """Return the maps to compare, all with the same number of prototypes."""
    epochs = effort.max_iter
    return {
        "k-means (scikit-learn)": _KMeansOfScikitLearn(N_PROTOTYPES, n_init=1),
        "k-means": KMeans(N_PROTOTYPES),
        UNSUPERVISED: NeuralGas(N_PROTOTYPES, max_iter=epochs),
        SUPERVISED: NeuralGas(N_PROTOTYPES, max_iter=epochs, label_weight=LABEL_WEIGHT),
        ON_LATTICE: SOM(LATTICE, max_iter=epochs),
    }


def run_trial(model: Any, X: Floats, y: Classes, train: Rows, test: Rows) -> Trial:
    """Fit a classifier to the training rows."""
    start = time.perf_counter()
    classifier = PrototypeClassifier(model).fit(X[train], y[train])
    return Trial(classifier, train, test, time.perf_counter() - start)


def figures_of_merit(trial: Trial, X: Floats, y: Classes) -> tuple[float, float, float, float]:
    """Return accuracy, quantization error, topographic error (NaN without a lattice) and entropy on the test rows."""
    samples, model = X[trial.test], trial.classifier.estimator_
    return (
        float(np.mean(trial.classifier.predict(samples) == y[trial.test])),
        quantization_error(samples, model.prototypes_),
        topographic_error(samples, model) if hasattr(model, "lattice_") else float("nan"),
        map_entropy(model.predict(samples), base=N_PROTOTYPES),
    )


def merit_table(trials: dict[str, list[Trial]], X: Floats, y: Classes) -> Table:
    """Return the comparison: means over the splits, and the median time."""
    rows = []
    for name, repeated in trials.items():
        merits = np.array([figures_of_merit(trial, X, y) for trial in repeated])  # (splits, 4)
        accuracy, error, broken, entropy = merits.mean(axis=0)
        seconds = np.median([trial.seconds for trial in repeated])
        rows.append(
            (
                name,
                f"{100 * accuracy:.1f} ± {100 * merits[:, 0].std():.1f}",
                f"{error:.3f}",
                "–" if np.isnan(broken) else f"{100 * broken:.1f}",
                f"{entropy:.3f}",
                f"{seconds:.2f}",
            )
        )
    columns = ("method", "accuracy (%)", "quantization error", "topographic error (%)", "map entropy", "seconds")
    return Table(f"{N_PROTOTYPES} prototypes on test digits", columns, rows)


def with_rejection(classifier: PrototypeClassifier, X: Floats, share: float) -> PrototypeClassifier:
    """Return the same classifier with the threshold that would reject this share of the samples."""
    return copy(classifier).set_params(reject_threshold=float(np.quantile(classifier.confidence(X), share)))


def rejection_curve(trials: list[Trial], X: Floats, y: Classes) -> tuple[Floats, Floats]:
    """Return shares of rejected test samples and the accuracy on the others, over the samples of all splits."""
    pairs = [
        (trial.classifier.confidence(X[trial.test]), trial.classifier.predict(X[trial.test]) == y[trial.test])
        for trial in trials
    ]
    confidence, right = (np.concatenate(part) for part in zip(*pairs))
    surest_first = right[np.argsort(-confidence, kind="stable")]
    kept = np.arange(1, len(right) + 1)
    return 1.0 - kept / len(right), np.cumsum(surest_first) / kept


class _KMeansOfScikitLearn(ReferenceKMeans):
    """The reference, with its centers where a PrototypeClassifier looks for them."""

    @property
    def prototypes_(self) -> Array:
        return self.cluster_centers_


def _introduction(trial: Trial, n_splits: int) -> str:
    return f"""
        A map becomes a classifier if each prototype receives the label of the samples around it: a new sample is
        assigned the label of its nearest prototype. We fit maps of {N_PROTOTYPES} prototypes, three for each digit, to
        {len(trial.train)} digits and test them on {len(trial.test)} others, on {n_splits} random splits.
        <em>Supervised</em> neural gas also uses the labels in training: in the distance to a prototype they have the
        same weight as the pixels (<code>label_weight={LABEL_WEIGHT}</code>).
    """


def _on_table(trials: dict[str, list[Trial]], X: Floats, y: Classes, nearest: float) -> str:
    plain, supervised, lattice = (
        np.mean([figures_of_merit(trial, X, y)[0] for trial in trials[name]])
        for name in (UNSUPERVISED, SUPERVISED, ON_LATTICE)
    )
    return f"""
        The table shows the mean accuracy over the splits with its standard deviation. The <em>quantization error</em>
        is the mean distance of a digit from its nearest prototype. The <em>topographic error</em> is defined for maps
        with a lattice. The <em>map entropy</em> is 1 if all prototypes are used equally often. The last column is the
        median training time in seconds.

        Labels in training raise the accuracy of neural gas from {plain:.1%} to {supervised:.1%}. The nearest neighbor
        rule reaches {nearest:.1%}, but has to store all {len(trials[SUPERVISED][0].train)} training digits. The
        accuracy of the SOM is {lattice:.1%}, because its two-dimensional lattice constrains the prototypes. Use a SOM
        with many more cells than classes to visualize data, and neural gas to classify.
    """


def _on_confidence() -> str:
    return """
        A prototype classifier can reject uncertain samples. Its <em>confidence</em> compares the distance to the
        nearest prototype with the distance to the nearest prototype of another class: it is 0 on the border between
        them and 1 at the position of a prototype. The curves show the accuracy on the remaining digits when the least
        certain ones are rejected.
    """


def _on_rejection(careful: PrototypeClassifier, X: Floats, y: Classes) -> str:
    predicted = careful.predict(X)
    accepted = predicted != careful.reject_label
    return f"""
        With <code>reject_threshold={careful.reject_threshold:.2f}</code>, below which {REJECT_SHARE:.0%} of the
        training digits lie, the first of the supervised classifiers rejects {np.mean(~accepted):.1%} of its test digits
        and is right on {np.mean(predicted[accepted] == y[accepted]):.1%} of the others. Here are some of its decisions,
        each with the digit on the left and its nearest prototype on the right.
    """


def _rejection_picture(trials: dict[str, list[Trial]], X: Floats, y: Classes) -> Picture:
    ax = canvas(6.4, 3.2)
    for name, color in zip((SUPERVISED, UNSUPERVISED), class_colors(2)):
        rejected, accuracy = rejection_curve(trials[name], X, y)
        shown = rejected <= 0.4
        ax.plot(100 * rejected[shown], 100 * accuracy[shown], color=tuple(color), linewidth=2, label=name)
    tidy(ax)
    ax.set(xlabel="rejected digits (%)", ylabel="accuracy on the others (%)", xlim=(0, 40))
    ax.legend(frameon=False, loc="lower right")
    return Picture(
        to_png(ax),
        "Curves of the accuracy over the share of rejected digits, of neural gas with and without supervision",
        "<strong>Accuracy and rejection.</strong> Accuracy on the digits that are not rejected.",
    )


def _decisions(careful: PrototypeClassifier, X: Floats, y: Classes) -> list[Cards]:
    """Return cards of digits classified rightly, wrongly and not at all, the clearest cases first."""
    predicted, confidence = careful.predict(X), careful.confidence(X)
    rejected = predicted == careful.reject_label
    cases = [
        ("Right", predicted == y, np.argsort(-confidence, kind="stable"), "{true}, recognized"),
        ("Wrong", ~rejected & (predicted != y), np.argsort(-confidence, kind="stable"), "{true}, predicted {nearest}"),
        ("Left open", rejected, np.argsort(confidence, kind="stable"), "{true}, nearest to {nearest}"),
    ]
    groups = []
    for heading, belongs, order, words in cases:
        chosen = _varied(order[belongs[order]], y)
        cards = [_card(careful, sample, words, true) for sample, true in zip(X[chosen], y[chosen])]
        groups.append(Cards(heading, cards))
    return [group for group in groups if group.cards]


def _varied(rows: Rows, y: Classes) -> Rows:
    """Return the first rows of different classes and, if they are too few, other first rows."""
    first_of_class = np.sort(np.unique(y[rows], return_index=True)[1])
    others = np.setdiff1d(np.arange(len(rows)), first_of_class)
    return rows[np.concatenate([first_of_class, others])[:N_CARDS]]


def _card(careful: PrototypeClassifier, sample: Floats, words: str, true: int) -> Card:
    (winner,) = careful.estimator_.predict(sample[None])
    (confidence,) = careful.confidence(sample[None])
    digit, prototype = as_images(np.stack([sample, careful.estimator_.prototypes_[winner]]))
    verdict = words.format(true=true, nearest=careful.prototype_labels_[winner])
    return Card(ink_png(digit), ink_png(prototype), [verdict, f"confidence {confidence:.2f}"])
