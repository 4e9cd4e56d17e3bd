"""How well classifiers and detectors tell a class that they have not seen from those they know: AUC, as a table.

Command: ``python -m benchmarks.open_set [wine iris ...]``. For each class in turn, models learn from half of the
samples of the other classes, at unit variance; scores are compared for the other half and for all samples of the class
left out.
Detectors of scikit-learn, and `OutlierDetector` with its default map, get no labels.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.ensemble import IsolationForest
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.neighbors import LocalOutlierFactor
from sklearn.preprocessing import StandardScaler
from sklearn.svm import OneClassSVM

from benchmarks.classifier_data import stored
from protolearn import GMLVQ, LGMLVQ, OutlierDetector

Array = NDArray[Any]
CONTAMINATION = 0.05
FEW = 200  # samples, up to which there are five splits


def main() -> None:
    """Print the AUC of every method on every data set, and the share of known samples that classifiers reject."""
    for name in sys.argv[1:] or list(DATA):
        X, y = DATA[name]()
        found: dict[str, list[float]] = {}
        for label in np.unique(y):
            for seed in range(5 if len(X) <= FEW else 1):
                for method, value in left_out(X, y, label, seed).items():
                    found.setdefault(method, []).append(value)
        print(f"\n{name}, {X.shape[0]} x {X.shape[1]}, {len(np.unique(y))} classes")
        for method, values in found.items():
            print(f"{method:40} {np.mean(values):.3f} +- {np.std(values):.3f}", flush=True)


def left_out(X: Array, y: Array, label: Any, seed: int) -> dict[str, float]:
    """Return the AUC of every method for one class that is left out, and rates of rejection."""
    known = y != label
    train, old, y_train, _ = train_test_split(X[known], y[known], test_size=0.5, stratify=y[known], random_state=seed)
    scaler = StandardScaler().fit(train)
    train, test = scaler.transform(train), scaler.transform(np.vstack([old, X[~known]]))
    is_old = np.arange(len(test)) < len(old)
    found = {}
    for name, model in CLASSIFIERS.items():
        model.set_params(contamination=CONTAMINATION).fit(train, y_train)
        scores = model.score_samples(test)
        found[name] = roc_auc_score(is_old, scores)
        found[f"{name}, confidence"] = roc_auc_score(is_old, model.confidence(test))
        found[f"{name}, known samples rejected"] = float((scores[is_old] < -1).mean())
    for name, detector in DETECTORS.items():
        found[name] = roc_auc_score(is_old, detector.fit(train).score_samples(test))
    return found


CLASSIFIERS: dict[str, Any] = {"GMLVQ": GMLVQ(), "GMLVQ, 4": GMLVQ(4, random_state=0), "LGMLVQ": LGMLVQ()}
DETECTORS: dict[str, Any] = {
    "OutlierDetector": OutlierDetector(),
    "isolation forest": IsolationForest(random_state=0),
    "one-class SVM": OneClassSVM(),
    "local outlier factor": LocalOutlierFactor(novelty=True),
}


def _segmentation() -> tuple[Array, Array]:
    files = stored("segmentation")
    return np.delete(files["X_test"], [2, 3, 4], axis=1), files["y_test"]  # hardly varying features


def _satellite() -> tuple[Array, Array]:
    files = stored("landsat_satimage")
    some = np.random.RandomState(0).permutation(len(files["X_train"]))[:1500]
    return files["X_train"][some].astype(np.float64), files["y_train"][some]


def _letters() -> tuple[Array, Array]:
    files = stored("letter")
    codes = np.unique(files["y"], return_inverse=True)[1]
    some = np.flatnonzero(codes < 10)[:2500]
    return files["X"][some].astype(np.float64), codes[some]


DATA: dict[str, Callable[[], tuple[Array, Array]]] = {
    "wine": lambda: load_wine(return_X_y=True),
    "iris": lambda: load_iris(return_X_y=True),
    "segmentation": _segmentation,
    "satellite": _satellite,
    "letters": _letters,
    "digits": lambda: load_digits(return_X_y=True),
}


if __name__ == "__main__":
    main()
