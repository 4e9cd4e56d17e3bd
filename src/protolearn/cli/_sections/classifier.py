"""Maps as classifiers of digits: a comparison, and the prototypes behind single decisions."""

from __future__ import annotations

import time
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
from protolearn.metrics import map_entropy, quantization_error, topographic_error
from protolearn.plotting._style import class_colours, tidy

__all__ = ["Trial", "classifier_section"]

LATTICE = hexagonal(5, 6)
SUPERVISED = "supervised neural gas"
UNSUPERVISED = "neural gas"
REJECT_SHARE = 0.1
N_CARDS = 6

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Trial:
    """A fitted classifier, the rows it learned from and is tested on, and the seconds of its fit."""

    classifier: PrototypeClassifier
    train: NDArray[np.intp]
    test: NDArray[np.intp]
    seconds: float


class _KMeansOfScikitLearn(ReferenceKMeans):
    """The reference, with its centres where a PrototypeClassifier looks for them."""

    @property
    def prototypes_(self) -> NDArray[Any]:
        return self.cluster_centers_


def classifier_section(effort: Effort) -> Section:
    """Compare maps as classifiers on several splits, and show decisions with their prototypes."""
    X, y = load_samples(effort.n_digits)
    splits = list(StratifiedShuffleSplit(effort.n_splits, test_size=0.3, random_state=0).split(X, y))
    trials = {
        name: [run_trial(clone(model), seed, X, y, *split) for seed, split in enumerate(splits)]
        for name, model in models(effort).items()
    }
    nearest = [KNeighborsClassifier(1).fit(X[train], y[train]).score(X[test], y[test]) for train, test in splits]
    first = trials[SUPERVISED][0]
    careful = with_rejection(first.classifier, X[first.train], REJECT_SHARE)
    blocks: list[Block] = [
        Prose(_introduction(effort, splits)),
        merit_table(trials, X, y),
        Prose(_on_table(trials, y, X, float(np.mean(nearest)), len(splits[0][0]))),
        _rejection_curve(trials, X, y),
        Prose(_on_rejection(careful, X[first.test], y[first.test])),
        *_decisions(careful, X[first.test], y[first.test]),
    ]
    results = {"trials": trials, "careful": careful, "nearest": nearest, "X": X, "y": y}
    return Section("classifier", "A classifier that shows its reasons", blocks, results)


def models(effort: Effort) -> dict[str, Any]:
    """Return the maps to compare, all with the same number of prototypes."""
    epochs = effort.max_iter
    return {
        "k-means of scikit-learn": _KMeansOfScikitLearn(N_PROTOTYPES, n_init=1),
        "k-means": KMeans(N_PROTOTYPES),
        UNSUPERVISED: NeuralGas(N_PROTOTYPES, max_iter=epochs),
        SUPERVISED: NeuralGas(N_PROTOTYPES, max_iter=epochs, label_weight=0.5),
        "SOM": SOM(LATTICE, max_iter=epochs),
    }


def run_trial(
    model: Any, seed: int, X: Floats, y: NDArray[np.int64], train: NDArray[np.intp], test: NDArray[np.intp]
) -> Trial:
    """Fit a classifier to the training rows."""
    classifier = PrototypeClassifier(model.set_params(random_state=seed))
    start = time.perf_counter()
    classifier.fit(X[train], y[train])
    return Trial(classifier, train, test, time.perf_counter() - start)


def figures_of_merit(trial: Trial, X: Floats, y: NDArray[np.int64]) -> tuple[float, float, float, float]:
    """Return accuracy, quantisation error, topographic error (NaN without a lattice) and entropy on the test rows."""
    samples, model = X[trial.test], trial.classifier.estimator_
    return (
        float(np.mean(trial.classifier.predict(samples) == y[trial.test])),
        quantization_error(samples, model.prototypes_),
        topographic_error(samples, model) if hasattr(model, "lattice_") else float("nan"),
        map_entropy(model.predict(samples), base=N_PROTOTYPES),
    )


def merit_table(trials: dict[str, list[Trial]], X: Floats, y: NDArray[np.int64]) -> Table:
    """Return the comparison: means over the splits, and the median time."""
    columns = ["", "accuracy", "quantisation error", "topographic error", "map entropy", "seconds"]
    rows = []
    for name, repeated in trials.items():
        merits = np.array([figures_of_merit(trial, X, y) for trial in repeated])  # (splits, 4)
        accuracy, error, broken, entropy = merits.mean(axis=0)
        rows.append(
            [
                name,
                f"{100 * accuracy:.1f} ± {100 * merits[:, 0].std():.1f} %",
                f"{error:.3f}",
                "–" if np.isnan(broken) else f"{100 * broken:.1f} %",
                f"{entropy:.3f}",
                f"{np.median([trial.seconds for trial in repeated]):.2f}",
            ]
        )
    return Table(f"{N_PROTOTYPES} prototypes on digits they have not seen", columns, rows)


def with_rejection(classifier: PrototypeClassifier, X: Floats, share: float) -> PrototypeClassifier:
    """Return the same classifier with the threshold that would reject this share of the samples."""
    careful = clone(classifier).set_params(reject_threshold=float(np.quantile(classifier.confidence(X), share)))
    vars(careful).update({name: value for name, value in vars(classifier).items() if name.endswith("_")})
    return careful


def _accuracy(trials: list[Trial], X: Floats, y: NDArray[np.int64]) -> float:
    return float(np.mean([figures_of_merit(trial, X, y)[0] for trial in trials]))
