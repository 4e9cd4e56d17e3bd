"""E34: LVQ of dissimilarities beside the nearest neighbors, a support vector machine and maps.

No table of the document: relational and median GLVQ on its data, cat cortex, proteins and chromosomes (Hasenfuss 2009,
sec. 4.6), and on two sets of which more directions count negatively: outlines of leaves, and Balls-3D. Chromosomes are
a random quarter of all, in repeated two-fold cross-validation, and once all of them; cat cortex is cross-validated
ten-fold, other sets five-fold. Folds are stratified and the same for all.

Each method chooses one number in two inner folds of its training set: prototypes per class 1 or 3, neighbors 1, 3 or 5,
C of the support vector machine 1, 10 or 100. Its kernel is the Gram matrix with negative eigenvalues clipped, and new
objects are projected. Median neural gas has three prototypes per class. For all chromosomes nothing is chosen: three
prototypes, the nearest neighbor, C = 10.

Rule, fixed before the run: relational GLVQ is level with the best of all others if its mean accuracy is at most one
standard error of the difference, over repeats, below. Median GLVQ, whose prototypes are objects, is to be level with
maps that have objects for prototypes.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Self

import numpy as np
from matplotlib.figure import Figure
from scipy.spatial.distance import squareform
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

from experiments._folds import MISSING, cross_validated, pairs
from experiments._lvq import COLORS
from experiments._protocol import Array, canvas, load
from experiments._report import NO_NUMBER, SKIPPED, Result, Row, holds, report, row
from protolearn import MedianGLVQ, MedianNeuralGas, PrototypeClassifier, RelationalGLVQ, RelationalNeuralGas

TITLE = "LVQ of dissimilarities"
OURS, MEDIAN, MEDIAN_MAP = "relational GLVQ", "median GLVQ", "median NG of each class"
SETS = {"cat cortex": (2, 10), "proteins": (2, 5), "chromosomes": (2, 2), "leaves": (1, 5), "Balls-3D": (1, 5)}
PRINTED = ("cat cortex", "proteins", "chromosomes")  # those of the document, which are judged
WHOLE = "chromosomes, all"
N_CHROMOSOMES = 1100
INNER_FOLDS = 2
REMARKS = {
    "cat cortex: relational GLVQ": (
        "65 areas: training sets are learned without an error, and means of classes, which neural gas with one "
        "prototype has, are the safer choice"
    ),
    "proteins: relational GLVQ": "one of 213 proteins",
}


class Chosen(BaseEstimator):
    """The best of several models in inner folds of the training set; of equals the first."""

    def __init__(self, options: list[Any]) -> None:
        self.options = options

    def fit(self, D: Array, y: Array) -> Self:
        """Choose, and fit the chosen one to all."""
        scores = np.zeros(len(self.options))
        for train, test in StratifiedKFold(INNER_FOLDS, shuffle=True, random_state=0).split(D, y):
            for i, model in enumerate(self.options):
                model.fit(D[np.ix_(train, train)], y[train])
                scores[i] += np.sum(model.predict(D[np.ix_(test, train)]) == y[test])
        self.model_ = self.options[int(scores.argmax())].fit(D, y)
        return self

    def predict(self, D: Array) -> Array:
        """Return classes."""
        return self.model_.predict(D)


class ClippedSVC(ClassifierMixin, BaseEstimator):
    """A support vector machine on the Gram matrix of squared dissimilarities without its negative eigenvalues."""

    def __init__(self, C: float = 1.0) -> None:
        self.C = C

    def fit(self, D: Array, y: Array) -> Self:
        """Fit the machine to coordinates, which give the clipped kernel."""
        S = D**2
        self.means_ = S.mean(axis=0)
        values, vectors = np.linalg.eigh(-0.5 * (S - self.means_ - self.means_[:, None] + self.means_.mean()))
        kept = values > 1e-10 * values[-1]
        self.axes_ = vectors[:, kept] / np.sqrt(values[kept])
        self.scale_ = np.sqrt(values[kept].sum() / len(D))  # mean square one
        self.machine_ = SVC(kernel="linear", C=self.C).fit(self._coordinates(D), y)
        return self

    def predict(self, D: Array) -> Array:
        """Return classes."""
        return self.machine_.predict(self._coordinates(D))

    def _coordinates(self, D: Array) -> Array:
        S = D**2
        return -0.5 * (S - S.mean(axis=1, keepdims=True) - self.means_ + self.means_.mean()) @ self.axes_ / self.scale_


def run(quick: bool = False) -> Result:
    data = {name: part for name in SETS if (part := dissimilarities(name)) is not None}
    if len(data) < len(SETS):
        print(MISSING)
        return report({}, [row("accuracy", None, None, SKIPPED)])
    found = {}
    for name, (D, y) in data.items():
        repeats, folds = (1, min(5, SETS[name][1])) if quick else SETS[name]
        found[name] = cross_validated(D, y, methods, repeats, folds, stratified=True)
    if not quick:
        D, y = dissimilarities(WHOLE)  # type: ignore[misc]
        found[WHOLE] = cross_validated(D, y, fixed, 1, 2, stratified=True)
    rows = [
        row(f"{name}, {method}, %", None, values.mean(axis=1), NO_NUMBER)
        for name, part in found.items()
        for method, values in part.items()
    ]
    for name in PRINTED:
        others = [method for method in found[name] if method not in (OURS, MEDIAN)]
        best = max(others, key=lambda method: found[name][method].mean())
        rows += [level(found[name], name, OURS, best), level(found[name], name, MEDIAN, MEDIAN_MAP)]
    settings = {
        "accuracy": "per cent, of test objects; mean over the folds of a repeat, standard deviation over repeats",
        "repeats and folds": {name: f"{repeats} x {folds}" for name, (repeats, folds) in SETS.items()},
        "chromosomes": f"{N_CHROMOSOMES} of 4400, drawn once; all of them in one two-fold cross-validation",
        "chosen in inner folds": "prototypes per class, neighbors, C",
    }
    return report(settings, rows, found)


def dissimilarities(name: str) -> tuple[Array, Array] | None:
    """Return dissimilarities and classes of a data set."""
    if name in ("leaves", "Balls-3D"):
        files = load({"leaves": "osuleaf_edit", "Balls-3D": "balls3d"}[name])
        return None if files is None else (squareform(files["d_condensed"]), files["y"])
    data = pairs({"cat cortex": "catcortex", "proteins": "protein213"}.get(name, "chromosomes"))
    if data is None or name != "chromosomes":
        return data
    some = np.random.RandomState(0).permutation(len(data[1]))[:N_CHROMOSOMES]
    return data[0][np.ix_(some, some)], data[1][some]


def methods(seed: int) -> dict[str, Any]:
    """Return all methods, each with the numbers among which it chooses."""
    gas = partial(RelationalNeuralGas, random_state=seed, n_jobs=1)
    medians = partial(MedianNeuralGas, random_state=seed, n_jobs=1)
    return {
        OURS: Chosen([RelationalGLVQ(k, random_state=seed, n_jobs=1) for k in (1, 3)]),
        MEDIAN: Chosen([MedianGLVQ(k, random_state=seed, n_jobs=1) for k in (1, 3)]),
        "relational NG of each class": Chosen([per_class(gas, k) for k in (1, 3)]),
        MEDIAN_MAP: per_class(medians, 3),
        "nearest neighbors": Chosen([KNeighborsClassifier(k, metric="precomputed") for k in (1, 3, 5)]),
        "SVM, clipped": Chosen([ClippedSVC(C) for C in (1.0, 10.0, 100.0)]),
    }


def fixed(seed: int) -> dict[str, Any]:
    """Return all methods without a choice."""
    return {
        OURS: RelationalGLVQ(3, random_state=seed, n_jobs=1),
        MEDIAN: MedianGLVQ(3, random_state=seed, n_jobs=1),
        "relational NG of each class": per_class(partial(RelationalNeuralGas, random_state=seed, n_jobs=1), 3),
        MEDIAN_MAP: per_class(partial(MedianNeuralGas, random_state=seed, n_jobs=1), 3),
        "nearest neighbors": KNeighborsClassifier(1, metric="precomputed"),
        "SVM, clipped": ClippedSVC(10.0),
    }


def per_class(gas: Callable[..., Any], n_prototypes: int) -> PrototypeClassifier:
    return PrototypeClassifier(gas(n_prototypes), per_class=True)


def level(found: dict[str, Array], name: str, ours: str, other: str) -> Row:
    """Return a row on whether one method is level with another."""
    gain = found[ours].mean(axis=1) - found[other].mean(axis=1)
    error = gain.std(ddof=1) / np.sqrt(len(gain)) if len(gain) > 1 else 0.0
    return row(f"{name}: {ours} less {other}", "level or above", gain, holds(gain.mean() >= -error))


def draw(result: Result) -> Figure:
    found = result["data"]
    figure, axes = canvas(1, len(SETS), (2.4, 2.6))
    for ax, name in zip(axes[0], SETS):
        for i, values in enumerate(found[name].values()):
            means = np.array(values).mean(axis=1)
            spread = means.std(ddof=1) if len(means) > 1 else 0.0
            ax.errorbar(means.mean(), -i, xerr=spread, fmt="o", markersize=4, capsize=2, color=COLORS[i % len(COLORS)])
        first = ax is axes[0, 0]
        ax.set_yticks([-i for i in range(len(found[name]))], list(found[name]) if first else [])
        ax.set_title(name, fontsize=9)
        ax.set_xlabel("accuracy, %")
    return figure
