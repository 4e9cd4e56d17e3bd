"""What the experiments on charting share: charts of several local models, other views, and measures of a view."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from sklearn.frozen import FrozenEstimator
from sklearn.manifold import Isomap, LocallyLinearEmbedding
from sklearn.neighbors import KNeighborsClassifier

from experiments._protocol import Array
from experiments._report import Row, holds, row
from protolearn import Charting, MatrixNeuralGas, MixturePPCA
from protolearn.metrics import nearest_neighbor_error, trustworthiness

__all__ = [
    "CHARTED",
    "COORDINATIONS",
    "MEASURES",
    "MIXTURE",
    "MNG",
    "SETTINGS",
    "SIZES",
    "Measured",
    "best_charting",
    "charted",
    "held_out_error",
    "local_models",
    "measured",
    "neighbor_view",
    "no_worse",
    "spread_row",
    "way_back",
]

MNG, MIXTURE = "MNG", "MoPPCA"
COORDINATIONS = {"charting": "charting", "llc": "LLC"}
CHARTED = tuple(f"{local}, {words}" for local in (MNG, MIXTURE) for words in COORDINATIONS.values())
MEASURES = ("1-NN error, %", "trustworthiness")
DIGITS = (2, 4)  # of the measures, as printed
N_NEIGHBORS = 12  # in trustworthiness
SIZES = (20, 30, 40)  # of neighborhoods for Isomap and LLE, of the 20 to 40 that the document searches
TEAR = 0.1  # isometry defect that a further component counts as, as in Charting
SETTINGS = {
    "MNG": "matrix neural gas, random samples, range 1 -> 0.01, 100 epochs",
    "MoPPCA": "mixture of probabilistic PCA with as many directions as the view, start from k-means",
    "coordination": "charting as in the document; LLC with 12 neighbors is added. The same local models serve both",
    "restarts": "of all local models the one with the smallest isometry defect, without a look at classes",
    "rescale": "isometric",
    "Isomap, LLE": f"scikit-learn, the neighbors of {SIZES} with the lowest 1-NN error",
    "1-NN error": "leave-one-out, in per cent",
    "trustworthiness": f"{N_NEIGHBORS} neighbors",
}


class Measured(NamedTuple):
    """1-NN error in per cent and trustworthiness of a view."""

    error: float
    trust: float


def local_models(
    name: str, n_charts: int, n_components: int, X: Array, seeds: Any, low_rank: bool = False
) -> list[Any]:
    """Return fitted local models, from several starts."""
    if name == MIXTURE:
        return [MixturePPCA(n_charts, n_components=n_components, random_state=seed, n_jobs=1).fit(X) for seed in seeds]
    options: dict[str, Any] = {"n_components": n_components} if low_rank else {}
    options |= {"init": "random", "range_start": 1.0, "regularization": "floor", "n_jobs": 1}
    return [MatrixNeuralGas(n_charts, random_state=seed, **options).fit(X) for seed in seeds]


def best_charting(models: list[Any], n_components: int, X: Array, coordination: str, **options: Any) -> Charting:
    """Return the charting, of those of all local models, that Charting would choose as well."""
    settings = {"coordination": coordination, "gating": "density", "n_init": 1, "n_jobs": 1} | options
    found = [Charting(n_components, local_model=FrozenEstimator(model), **settings).fit(X) for model in models]
    return min(found, key=lambda one: one.isometry_defect_ + TEAR * int(one.groups_.max()))


def charted(
    X: Array, n_charts: int, n_components: int, seeds: Mapping[str, Any], low_rank: bool = False, **options: Any
) -> dict[str, Charting]:
    """Return the charting by both local models and both coordinations; seeds of the starts by local model."""
    found = {}
    for local in seeds:
        models = local_models(local, n_charts, n_components, X, seeds[local], low_rank)
        for coordination, words in COORDINATIONS.items():
            found[f"{local}, {words}"] = best_charting(models, n_components, X, coordination, **options)
    return found


def neighbor_view(name: str, X: Array, y: Array, n_components: int, sizes: tuple[int, ...] = SIZES) -> Array:
    """Return the view by Isomap or LLE whose number of neighbors has the lowest 1-NN error."""
    kind = {"Isomap": Isomap, "LLE": LocallyLinearEmbedding}[name]
    options = {"random_state": 0} if name == "LLE" else {}
    views = [kind(n_neighbors=size, n_components=n_components, **options).fit_transform(X) for size in sizes]
    return min(views, key=lambda Y: nearest_neighbor_error(Y, y, n_jobs=1))


def measured(X: Array, Y: Array, y: Array) -> Measured:
    error = 100 * nearest_neighbor_error(Y, y, n_jobs=1)
    return Measured(error, trustworthiness(X, Y, n_neighbors=N_NEIGHBORS, n_jobs=1))


def held_out_error(Y: Array, y: Array, Y_new: Array, y_new: Array) -> float:
    """Return the 1-NN error in per cent of new samples, whose neighbors are the training samples."""
    return 100 * float((KNeighborsClassifier(1).fit(Y, y).predict(Y_new) != y_new).mean())


def way_back(charting: Charting, X: Array) -> float:
    """Return the squared error of samples after the way to the view and back, relative to their variance."""
    back = charting.inverse_transform(charting.transform(X))
    return float(((X - back) ** 2).sum() / ((X - X.mean(axis=0)) ** 2).sum())


def no_worse(printed: tuple[float, float], ours: Any, measure: int) -> bool:
    """Say whether a mean is at most one printed standard deviation worse than the printed, to the printed digits."""
    mean, deviation = printed
    own = round(float(np.mean(ours)), DIGITS[measure])
    return own <= round(mean + deviation, 4) if measure == 0 else own >= round(mean - deviation, 4)


def spread_row(quantity: str, printed: tuple[float, float], ours: Any, measure: int) -> Row:
    """Return a row that is reproduced if our mean is not worse than that."""
    return row(quantity, f"{printed[0]:g} ± {printed[1]:g}", ours, holds(no_worse(printed, ours, measure)))
