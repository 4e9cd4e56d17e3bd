"""What the experiments on matrix maps share: the maps of the document, its measures of a clustering, directions."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.metrics.cluster import contingency_matrix

from experiments._protocol import RANGE_END, Array, batch_kmeans, batch_som, neural_gas, with_neighborhood
from protolearn import MatrixKMeans, MatrixNeuralGas, MatrixSOM
from protolearn.core.schedules import geometric

__all__ = [
    "COUNTERPARTS",
    "EPOCHS",
    "MATRIX",
    "SETTINGS",
    "as_published",
    "between",
    "by_default",
    "convergence",
    "main_directions",
    "majority_accuracy",
    "rectangle",
    "samples_won",
    "variants",
]

EPOCHS = 100
COUNTERPARTS = {"matrix k-means": "k-means", "matrix SOM": "SOM", "matrix NG": "NG"}
MATRIX = tuple(COUNTERPARTS)
FLOOR = {"regularization": "floor"}
SETTLED = 0.99  # share of samples with their final winner
SETTINGS = {
    "start": "random samples, matrices at the identity",
    "range": "NG n / 2, SOM n / 12; geometric to 0.01 in 100 epochs",
    "SOM": "rectangular lattice, path length, exponential kernel, Heskes winner",
    "normalization": "determinant one",
    "regularization": "variances of scaled features at least 1e-6 of their mean (none was needed in the plane)",
}


def as_published(name: str, n_prototypes: int, seed: int, epochs: int = EPOCHS, **options: Any) -> Any:
    """Return a map of Arnonkijpanich 2010, sec. 4.1; with fewer epochs, as it is after so many of all."""
    annealed = {"init": "random", "schedule": _first_part} | options
    if name.endswith("NG"):
        annealed = {"range_start": n_prototypes / 2} | annealed
        if name == "NG":
            return neural_gas(n_prototypes, epochs, seed, **annealed)
        settings = FLOOR | {"range_end": RANGE_END, "max_iter": epochs, "random_state": seed} | annealed
        return MatrixNeuralGas(n_prototypes, **with_neighborhood(MatrixNeuralGas, settings))
    if name.endswith("SOM"):
        annealed = {"range_start": n_prototypes / 12} | annealed
        if name == "SOM":
            return batch_som(rectangle(n_prototypes), epochs, seed, **annealed)
        common = {"kernel": "exponential", "range_end": RANGE_END, "max_iter": epochs, "random_state": seed}
        return MatrixSOM(rectangle(n_prototypes), **with_neighborhood(MatrixSOM, FLOOR | common | annealed))
    if name == "k-means":
        return batch_kmeans(n_prototypes, epochs, seed, **options)
    settings = FLOOR | {"init": "random", "max_iter": epochs, "tol": 0.0, "random_state": seed} | options
    return MatrixKMeans(n_prototypes, **settings)


def by_default(name: str, n_prototypes: int, seed: int, **options: Any) -> Any:
    """Return a matrix map with the start of the library, from the Euclidean map, and small variances lifted."""
    if name == "matrix SOM":
        return MatrixSOM(rectangle(n_prototypes), random_state=seed, **(FLOOR | options))
    kind = MatrixNeuralGas if name == "matrix NG" else MatrixKMeans
    return kind(n_prototypes, random_state=seed, **(FLOOR | options))


def variants(n_prototypes: int, seed: int) -> dict[str, Any]:
    """Return maps of the document from better starts, to find the cause of misses."""
    return {
        "matrix SOM, principal plane": as_published("matrix SOM", n_prototypes, seed, init="pca"),
        "matrix SOM, best of 10": as_published("matrix SOM", n_prototypes, seed, n_init=10),
        "matrix NG, best of 10": as_published("matrix NG", n_prototypes, seed, n_init=10),
    }


def rectangle(n_nodes: int) -> tuple[int, int]:
    """Return the sides of the squarest lattice with exactly that many nodes."""
    rows = max(side for side in range(1, int(np.sqrt(n_nodes)) + 1) if n_nodes % side == 0)
    return rows, n_nodes // rows


def majority_accuracy(y: Array, winners: Array) -> float:
    """Return the share of samples in the majority class of their receptive field (C2 of the document)."""
    return float(contingency_matrix(y, winners).max(axis=0).sum() / len(y))


def convergence(name: str, n_prototypes: int, seed: int, X: Array, step: int) -> int:
    """Return the epoch, a multiple of the step, from which on nearly all samples keep their winner."""
    final = as_published(name, n_prototypes, seed).fit(X).predict(X)
    for epochs in range(EPOCHS - step, 0, -step):
        winners = as_published(name, n_prototypes, seed, epochs).fit(X).predict(X)
        if (winners == final).mean() < SETTLED:
            return epochs + step
    return step


def samples_won(X: Array, winners: Array, n_prototypes: int) -> list[Array]:
    """Return the samples of each receptive field."""
    return [X[winners == i] for i in range(n_prototypes)]


def main_directions(fields: list[Array]) -> Array:
    """Return the first principal direction (k, d) of the samples of each receptive field, NaN if there are few."""
    unknown = np.full(fields[0].shape[1], np.nan)
    found = [np.linalg.eigh(np.cov(field.T))[1][:, -1] if len(field) > len(unknown) else unknown for field in fields]
    return np.array(found)


def between(first: Array, second: Array) -> Array:
    """Return the angle between unit directions (k, d), up to their sign, in degrees."""
    return np.degrees(np.arccos(np.minimum(np.abs((first * second).sum(axis=-1)), 1.0)))


def _first_part(start: float, end: float, n_steps: int) -> Array:
    """Fall as in a run of all epochs, for the first of them."""
    return geometric(start, end, EPOCHS)[:n_steps]
