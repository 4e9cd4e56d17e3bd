"""Classifiers that learn their distance: how well they do on digits, and how to read them, also on wines."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from protolearn import GLVQ, GMLVQ, LGMLVQ
from protolearn.cli._pictures import canvas, draw_labels, ink_png, signed_png, to_png
from protolearn.cli._report import Block, Explorable, Gallery, Picture, Prose, Section, Table
from protolearn.cli._sections._digits_data import as_images, load_samples
from protolearn.cli._sections._effort import Effort
from protolearn.cli._sections.wine import readable_name
from protolearn.core.types import Array, Floats
from protolearn.explore import explore
from protolearn.plotting import plot_eigenvalues, plot_explanation, plot_relevances, plot_view
from protolearn.plotting.cells import draw_images
from protolearn.plotting.style import class_colors, tint

__all__ = ["lvq_section"]

PLAIN, MATRIX, LOCAL = "GLVQ", "GMLVQ", "LGMLVQ"
N_DIRECTIONS = 10
LEFT_OPEN = (0.05, 0.1, 0.2)
N_FEATURES = 6
SMALL = (3.9, 2.8)  # inches

Classes = Array


@dataclass(frozen=True)
class Trial:
    """A fitted classifier, the rows it learned from and is tested on, and the seconds of its fit."""

    classifier: Any
    train: NDArray[np.intp]
    test: NDArray[np.intp]
    seconds: float


def lvq_section(effort: Effort) -> Section:
    """Compare LVQ classifiers on several splits, then read a GMLVQ of digits and one of wines."""
    X, y = load_samples(effort.n_digits)
    trials = run_trials(effort, X, y)
    first = trials[MATRIX][0]
    model, X_test, y_test = first.classifier, X[first.test], y[first.test]
    weights = model.relevances_
    planes = {
        "learned": GMLVQ(n_components=2, random_state=0).fit(X[first.train], y[first.train]),
        "principal": make_pipeline(PCA(2), GLVQ(random_state=0)).fit(X[first.train], y[first.train]),
    }
    shown = typical_sample(model, X_test, y_test)
    wines = fit_wines()
    blocks: list[Block] = [
        Prose(_introduction()),
        accuracy_table(trials, X, y),
        Prose(_on_table(trials, X, y)),
        Prose(_on_reading(model, weights)),
        Gallery([_prototypes_picture(model), _weights_picture(weights), _eigenvalues_picture(model)], "medium"),
        Prose(_on_view({name: plane.score(X_test, y_test) for name, plane in planes.items()})),
        _view_picture(planes["learned"], X_test, y_test),
        *_decision_blocks(model, shown),
        Explorable(
            "digits-classifier.html",
            "Explore this classifier",
            "Select a test digit, change its pixels, and see how distances, confidence and class change.",
            lambda path: explore(
                model, X_test, y_test, images=as_images(1.0 - X_test), title="A classifier of digits", path=path
            ),
        ),
        *_wine_blocks(*wines),
    ]
    results = {"trials": trials, "X": X, "y": y, "planes": planes, "shown": shown, "wines": wines}
    return Section("lvq", "Learned distances", blocks, results)


def classifiers(seed: int) -> dict[str, Any]:
    """Return LVQ with one prototype for each class, and no, one or several learned matrices."""
    return {
        PLAIN: GLVQ(random_state=seed),
        MATRIX: GMLVQ(random_state=seed),
        LOCAL: LGMLVQ(n_components=N_DIRECTIONS, random_state=seed),
    }


def run_trials(effort: Effort, X: Floats, y: Classes) -> dict[str, list[Trial]]:
    """Fit all classifiers on each of the splits."""
    splits = StratifiedShuffleSplit(effort.n_splits, test_size=0.3, random_state=0).split(X, y)
    runs = [
        {name: _timed_fit(model, X, y, *rows) for name, model in classifiers(seed).items()}
        for seed, rows in enumerate(splits)
    ]
    return {name: [run[name] for run in runs] for name in runs[0]}


def accuracy(trials: list[Trial], X: Floats, y: Classes) -> Floats:
    """Return the share of test samples that are classified rightly, for each trial."""
    return np.array([np.mean(trial.classifier.predict(X[trial.test]) == y[trial.test]) for trial in trials])


def accuracy_table(trials: dict[str, list[Trial]], X: Floats, y: Classes) -> Table:
    """Return the comparison: means over the splits, and the median time."""
    rows = []
    for name, repeated in trials.items():
        shares = 100 * accuracy(repeated, X, y)
        rows.append(
            (
                name,
                str(len(repeated[0].classifier.prototype_labels_)),
                f"{shares.mean():.1f} ± {shares.std():.1f}",
                f"{np.median([trial.seconds for trial in repeated]):.2f}",
            )
        )
    return Table("LVQ on test digits", ("method", "prototypes", "accuracy (%)", "seconds"), rows)


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


def typical_sample(model: Any, X: Floats, y: Classes) -> Floats:
    """Return the sample (1, d) of middle confidence among those that are classified rightly."""
    right = X[model.predict(X) == y]
    order = np.argsort(model.confidence(right), kind="stable")
    return right[order[[len(order) // 2]]]


def fit_wines() -> tuple[Pipeline, Floats, Classes, list[str]]:
    """Fit a GMLVQ with a plane of its own to most of the wines; return it, the other wines, and the measurements."""
    wine = load_wine()
    y = np.array([f"cultivar {number + 1}" for number in wine.target])
    train, test = next(StratifiedShuffleSplit(1, test_size=0.3, random_state=0).split(wine.data, y))
    model = make_pipeline(StandardScaler(), GMLVQ(n_components=2, random_state=0)).fit(wine.data[train], y[train])
    return model, wine.data[test], y[test], [readable_name(name) for name in wine.feature_names]


def doubtful_sample(model: Any, X: Floats, y: Classes) -> int:
    """Return the number of the sample of least confidence among those that are classified rightly."""
    return int(np.where(model.predict(X) == y, model.confidence(X), np.inf).argmin())


def _timed_fit(model: Any, X: Floats, y: Classes, train: NDArray[np.intp], test: NDArray[np.intp]) -> Trial:
    start = time.perf_counter()
    model.fit(X[train], y[train])
    return Trial(model, train, test, time.perf_counter() - start)


def _introduction() -> str:
    return f"""
        In a map, all features have the same weight, and classes play no part. <em>Learning vector quantization</em>
        (LVQ) optimizes prototypes for classification, here of images of handwritten digits. GLVQ moves its prototypes
        such that samples are nearer to prototypes of their own class than to any other. GMLVQ, matrix LVQ, also learns
        the distance: the relevance of pixels and of combinations of pixels. LGMLVQ learns a distance for each
        prototype, here with {N_DIRECTIONS} directions. All three have one prototype for each digit. The numbers are
        means over random splits into training and test digits.
    """


def _on_table(trials: dict[str, list[Trial]], X: Floats, y: Classes) -> str:
    matrix, local = (accuracy(trials[name], X, y).mean() for name in (MATRIX, LOCAL))
    nearest = np.mean(
        [
            KNeighborsClassifier(1).fit(X[trial.train], y[trial.train]).score(X[trial.test], y[trial.test])
            for trial in trials[MATRIX]
        ]
    )
    rejected, right = rejection_curve(trials[MATRIX], X, y)
    certain = [right[np.abs(rejected - share).argmin()] for share in LEFT_OPEN]
    return f"""
        The nearest neighbor rule, with its {len(trials[MATRIX][0].train)} stored digits, is right on {nearest:.1%} of
        the test digits; GMLVQ with {len(np.unique(y))} prototypes on {matrix:.1%}, LGMLVQ on {local:.1%}. If the least
        certain {_listed(LEFT_OPEN, "{:.0%}")} are rejected, GMLVQ is right on {_listed(certain, "{:.1%}")} of the
        others.
    """


def _on_reading(model: GMLVQ, weights: Floats) -> str:
    row, column = np.divmod(weights.argmax(), 8)
    half = 1 + np.searchsorted(np.cumsum(model.eigenvalues_), 0.5)
    return f"""
        <strong>Reading the model.</strong> This is the GMLVQ of the first split. Its prototypes are digits, and its
        <em>relevances</em> show which pixels it uses. The pixel in row {row + 1}, column {column + 1} has the largest
        weight, {weights.max() * len(weights):.1f} times the average; {np.mean(weights < 0.1 / len(weights)):.0%} of the
        pixels have less than a tenth of the average weight. Combinations of pixels matter, too: of the
        {len(model.eigenvalues_)} directions of the relevance matrix, the first {half} have half of the weight.
    """


def _prototypes_picture(model: GMLVQ) -> Picture:
    n_columns = 4
    row, column = np.divmod(np.arange(len(model.prototypes_)), n_columns)
    ax = canvas(*SMALL)
    ax.bar(column, 0.94, 0.94, bottom=-row - 0.47, color=tint(class_colors(len(model.classes_)), 0.42))
    draw_images(ax, np.column_stack([column, -row]), as_images(model.prototypes_), 0.74)
    ax.set(xlim=(-0.55, n_columns - 0.45), ylim=(-row[-1] - 0.55, 0.55), aspect="equal")
    ax.set_axis_off()
    return Picture(to_png(ax), "An image of each digit", "<strong>Prototypes</strong>, one for each digit.")


def _weights_picture(weights: Floats) -> Picture:
    ax = canvas(*SMALL)
    plot_relevances(weights, shape=(8, 8), ax=ax)
    return Picture(
        to_png(ax),
        "Image of the weight of each pixel",
        "<strong>Relevance map.</strong> The weight of each pixel in the learned distance: its relevance times its "
        "variance, as a share of all.",
    )


def _eigenvalues_picture(model: GMLVQ) -> Picture:
    ax = canvas(*SMALL)
    plot_eigenvalues(model, ax=ax)
    return Picture(
        to_png(ax),
        "Bars of the eigenvalues of the relevance matrix, in descending order",
        "<strong>Directions.</strong> Weights of the directions of the relevance matrix: its eigenvalues, which "
        "sum to 1.",
    )


def _on_view(scores: dict[str, float]) -> str:
    return f"""
        <strong>A discriminative view.</strong> With <code>n_components=2</code>, GMLVQ learns the plane that separates
        the classes best, and classifies in this plane: the regions below are the decision regions of the classifier.
        Although two directions are few for ten digits, {scores["learned"]:.0%} of the test digits lie in the region of
        their class. In the plane of the first two principal components, LVQ classifies {scores["principal"]:.0%}
        correctly.
    """


def _view_picture(plane: GMLVQ, X: Floats, y: Classes) -> Picture:
    ax: Any = plot_view(plane, X, y, ax=canvas(7.0, 4.8))
    ax.get_legend().remove()  # the prototypes are images, and need none
    draw_labels(ax, plane.transform(plane.prototypes_), as_images(plane.prototypes_), class_colors(len(plane.classes_)))
    return Picture(
        to_png(ax),
        "Plane with a region for each digit, the test digits as dots and the prototypes as images",
        "<strong>Discriminative view.</strong> Test digits, prototypes and the region of each class. Distances in "
        "this plane are the learned distances.",
    )


def _decision_blocks(model: GMLVQ, sample: Floats) -> list[Block]:
    """Show the prototypes and pixels that decided on a sample (1, d), and the smallest change to another class."""
    reasons, other = model.explain(sample), model.counterfactual(sample)
    (winner,), (rival,), (parts,) = reasons.classes, reasons.rivals, reasons.contributions
    row, column = np.divmod(np.abs(parts).argmax(), 8)
    prose = f"""
        <strong>Explanation and counterfactual.</strong> Take a test digit of medium confidence,
        {model.confidence(sample)[0]:.2f}. Its distance to the prototype of class {winner} is
        {reasons.distances[0]:.3f}; the next class is {rival}, at {reasons.rival_distances[0]:.3f}. The difference is a
        sum over pixels, to which the pixel in row {row + 1}, column {column + 1} contributes most, in favor of
        {winner if parts[8 * row + column] > 0 else rival}. The smallest change in the learned distance that changes the
        class of the digit leads to class {other.classes[0]}; no pixel changes by more than
        {np.abs(other.changes).max():.0%} of full ink.
    """
    drawn = [
        (ink_png, sample, "Test digit", "The digit"),
        (ink_png, model.prototypes_[reasons.prototypes], "Nearest prototype", f"Its prototype, {winner}"),
        (ink_png, model.prototypes_[reasons.rival_prototypes], "Nearest of another class", f"The next class, {rival}"),
        (signed_png, parts, "Contribution of each pixel", f"Blue supports {winner}, red {rival}"),
        (signed_png, other.changes, "Change of each pixel", "The change: blue adds ink, red removes it"),
        (ink_png, other.samples, "Test digit after the change", f"The changed digit, now class {other.classes[0]}"),
    ]
    pictures = [Picture(png(as_images(values)[0]), alt, caption) for png, values, alt, caption in drawn]
    return [Prose(prose), Gallery(pictures, "tiny")]


def _wine_blocks(model: Pipeline, X: Floats, y: Classes, names: list[str]) -> list[Block]:
    scaler, classifier = model
    Z = scaler.transform(X)
    row = doubtful_sample(classifier, Z, y)
    reasons = replace(classifier.explain(Z[[row]]), feature_names=np.array(names))
    view, bars, decision = (canvas(*SMALL) for _ in range(3))
    plot_view(classifier, Z, y, ax=view)
    plot_relevances(classifier, names, N_FEATURES, ax=bars).locator_params(axis="x", nbins=4)
    plot_explanation(reasons, n_features=N_FEATURES, ax=decision)
    pictures = [
        Picture(
            to_png(view),
            "Plane with a region for each cultivar",
            "<strong>View</strong> of the test wines, in the plane in which the model classifies.",
        ),
        Picture(
            to_png(bars),
            "Bars of the relevance of measurements",
            f"<strong>Relevances</strong>, the largest {N_FEATURES}. All relevances sum to 1.",
        ),
        Picture(
            to_png(decision),
            "Bars of the contributions of measurements to a decision",
            "<strong>One decision</strong>, the least certain of the correct ones.",
        ),
    ]
    return [
        Prose(_on_wines(model, X, y, names)),
        Gallery(pictures, "medium"),
        Prose(_on_change(model, X[[row]], names)),
    ]


def _on_wines(model: Pipeline, X: Floats, y: Classes, names: list[str]) -> str:
    first, second = np.argsort(-model[-1].relevances_)[:2]
    return f"""
        <strong>With named features</strong> a model is easy to interpret. This GMLVQ of the wines has two dimensions
        and uses standardized measurements. It is right on {model.score(X, y):.0%} of {len(X)} test wines. Its most
        relevant features are {names[first]} and {names[second]}.
    """


def _on_change(model: Pipeline, sample: Floats, names: list[str]) -> str:
    """Say what would have to be different for another class, in the units of the data."""
    scaler, classifier = model
    other = classifier.counterfactual(scaler.transform(sample))
    (after,) = scaler.inverse_transform(other.samples)
    first, second, third = (
        f"{names[column]} {after[column]:.4g} instead of {sample[0, column]:.4g}"
        for column in np.argsort(-np.abs(other.changes[0]))[:3]
    )
    return f"""
        Which change would turn the last wine into {other.classes[0]}? The main parts of the smallest change are
        {first}, {second} and {third}.
    """


def _listed(values: Any, form: str) -> str:
    *others, last = (form.format(value) for value in values)
    return f"{', '.join(others)} or {last}"
