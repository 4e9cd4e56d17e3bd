"""B11: units of features, noise, and classes of different width, with the library's defaults and with those before.

No table of the document. Defaults before: a slope from 2 to 10, a regularization of 0.05 (GRLVQ 0.01), 50 iterations,
and local matrices of norm one each. They are given to the classifiers of today, which standardize features themselves;
so the effect of raw units before is not shown here.

Units: accuracy in 5-fold cross-validation (seed 0) on raw and on standardized features of wine, breast cancer and a
generated table of which one feature is 1000 times as wide. They are the same, since the classifiers standardize
features themselves, and have no verdict.
Noise: two informative features and 28 of noise, 300 and 1000 training samples, five data sets; share of the relevance
that noise holds, and accuracy on 4000 new samples.
Width: two Gaussian classes around one center in four dimensions, one three times as wide; 600 training samples, five
data sets, accuracy on 4000 new samples.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_wine, make_classification

from experiments._protocol import Array, canvas
from experiments._report import NO_NUMBER, STATEMENT, Result, report, row
from experiments._tables import Samples, cross_validated, standardized
from protolearn import GMLVQ, GRLVQ, LGMLVQ

TITLE = "units, noise and width"
KINDS = {"GRLVQ": GRLVQ, "GMLVQ": GMLVQ, "LGMLVQ": LGMLVQ}
BEFORE: dict[str, Any] = {"slope": (2.0, 10.0), "max_iter": 50, "regularization": 0.05}
N_NOISE, SIZES, N_TEST = 28, (300, 1000), 4000


def run(quick: bool = False) -> Result:
    n_seeds = 1 if quick else 5
    rows, noise = units(), {}
    for n_samples in SIZES:
        for name in ("GRLVQ", "GMLVQ"):
            for when, model in versions(name).items():
                shares, scores = np.transpose([noisy(model, n_samples, seed) for seed in range(n_seeds)])
                noise[f"{name}, {n_samples} samples, {when}"] = shares
                quantity = f"{name}, {n_samples} samples, {when}"
                rows.append(row(f"noise, {quantity}, share of the relevance, %", None, shares, NO_NUMBER))
                rows.append(row(f"noise, {quantity}, test accuracy, %", None, scores, NO_NUMBER))
    for when, model in versions("LGMLVQ").items():
        scores = [wide(model, seed) for seed in range(n_seeds)]
        rows.append(row(f"width, LGMLVQ, {when}, test accuracy, %", None, scores, NO_NUMBER))
    return report({"before": str(BEFORE), "seeds": n_seeds}, rows, noise)


def versions(name: str) -> dict[str, Any]:
    """Return a classifier without regularization, as it was before, and as it is."""
    before = BEFORE | {"GRLVQ": {"regularization": 0.01}, "LGMLVQ": {"norm": "each"}}.get(name, {})
    kind = KINDS[name]
    return {"unregularized": kind(regularization=0.0), "before": kind(**before), "now": kind()}


def units() -> list[dict[str, Any]]:
    """Return rows on raw and standardized features."""
    X, y = make_classification(400, 8, n_informative=5, random_state=1)
    tables = {
        "wine": load_wine(return_X_y=True),
        "breast cancer": load_breast_cancer(return_X_y=True),
        "one feature 1000 times as wide": (X * np.where(np.arange(8) == 7, 1000.0, 1.0), y),
    }
    rows = []
    for name, samples in tables.items():
        scores = cross_validated({kind: make() for kind, make in KINDS.items()}, samples)
        scaled = cross_validated({kind: standardized(make()) for kind, make in KINDS.items()}, samples)
        for kind in KINDS:
            a, b = (100 * float(np.mean(part[kind]["accuracy"])) for part in (scores, scaled))
            rows.append(row(f"units, {name}, {kind}, raw, accuracy, %", f"standardized {b:.1f}", a, STATEMENT))
    return rows


def noisy(model: Any, n_samples: int, seed: int) -> tuple[float, float]:
    """Return the share of the relevance that noise holds, and the accuracy on new samples, in percent."""
    model = _fitted(model, noisy_samples(n_samples, seed))
    return 100 * float(model.relevances_[2:].sum()), 100 * model.score(*noisy_samples(N_TEST, 100 + seed))


def noisy_samples(n_samples: int, seed: int) -> Samples:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n_samples)
    X = rng.normal(size=(n_samples, 2 + N_NOISE))
    X[:, :2] += 2.0 * y[:, None] - 1.0
    return X, y


def wide(model: Any, seed: int) -> float:
    """Return the accuracy on new samples of a wide and a narrow class, in percent."""
    return 100 * float(_fitted(model, wide_and_narrow(600, seed)).score(*wide_and_narrow(N_TEST, 100 + seed)))


def wide_and_narrow(n_samples: int, seed: int) -> Samples:
    y = np.repeat([0, 1], n_samples // 2)
    return np.random.default_rng(seed).normal(size=(n_samples, 4)) * np.where(y, 1.0, 3.0)[:, None], y


def _fitted(model: Any, samples: tuple[Array, Array]) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return clone(model).fit(*samples)


def draw(result: Result) -> Figure:
    figure, axes = canvas(1, 1, (6.5, 4.0))
    names = list(result["data"])[::-1]
    shares = [float(np.mean(result["data"][name])) for name in names]
    colors = {"now": "#1b6ca8", "before": "#8fb8de", "unregularized": "0.75"}
    axes[0, 0].barh(range(len(names)), shares, color=[colors[name.split(", ")[-1]] for name in names])
    axes[0, 0].set_yticks(range(len(names)), names, fontsize=8)
    axes[0, 0].set(xlabel=f"share of the relevance that {N_NOISE} features of noise hold, %")
    return figure
