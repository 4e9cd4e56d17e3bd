"""What the experiments of this folder share: where data are, how runs are repeated, the settings of the document."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from matplotlib.figure import Figure
from numpy.typing import NDArray
from sklearn.preprocessing import StandardScaler

from protolearn import SOM, KMeans, NeuralGas
from protolearn.core.lattices import hexagonal
from protolearn.core.parameters import grouped
from protolearn.maps import Online

__all__ = [
    "ONLINE_SETTINGS",
    "PATCH_SETTINGS",
    "SOM_SETTINGS",
    "AsPrinted",
    "batch_kmeans",
    "batch_som",
    "canvas",
    "data_path",
    "load",
    "nearest_rectangle",
    "neural_gas",
    "random_samples",
    "repeat",
    "small_values",
    "toolbox_som",
    "z_transform",
]

N_JOBS = 2
RANGE_END = 0.01

SOM_SETTINGS = {
    "SOM kernel": "exponential, path length on the rectangular lattice",
    "SOM range": "sqrt(n) / 2 -> 0.01",
    "SOM winner": "Heskes, with a neighborhood normalized to sum one for each node; 'nearest' is Kohonen's rule",
}
PATCH_SETTINGS = {
    "patch start": "k-means and neural gas start a patch from the prototypes of the patch before; "
    "'anew': near the mean for every patch",
}
ONLINE_SETTINGS = {"online": "step size 0.5 -> 0.005, geometric; samples drawn with replacement"}

Array = NDArray[Any]


class AsPrinted:
    """Labels count as in the document, whatever the scale of the samples (Hasenfuss 2009, eq. 3.14)."""

    def _kind(self) -> Any:
        kind = super()._kind()  # type: ignore[misc]
        printed = type(f"Printed{type(kind).__name__}", (_PlainLabels, type(kind)), {})
        return printed(**{field.name: getattr(kind, field.name) for field in fields(kind)})


class _PlainLabels:
    """A kind of prototypes for which squared distances between labels are taken as they are."""

    def label_unit(self, *_: Any) -> float:
        return 1.0


class PrintedNeuralGas(AsPrinted, NeuralGas):
    """Neural gas with the label distance of the document."""


class PrintedKMeans(AsPrinted, KMeans):
    """k-means with the label distance of the document."""


def data_path(name: str) -> Path:
    """Return where a data file is, or would be."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    return Path(os.environ.get("PROTOLEARN_DATA", beside)) / name


def load(name: str) -> dict[str, Array] | None:
    """Return the arrays of a data file, or None if the data folder is not there."""
    path = data_path(f"{name}.npz")
    if not path.exists():
        return None
    with np.load(path) as arrays:
        return dict(arrays)


def repeat(run: Callable[..., Any], seeds: Any, *args: Any) -> list[Any]:
    """Return ``run(seed, *args)`` for all seeds, computed in two processes."""
    return Parallel(n_jobs=N_JOBS)(delayed(run)(seed, *args) for seed in seeds)


def z_transform(train: Array, *others: Array) -> list[Array]:
    """Scale every column to mean 0 and variance 1, as found in the training set."""
    scaler = StandardScaler().fit(train)
    return [scaler.transform(part) for part in (train, *others)]


def nearest_rectangle(n_prototypes: int) -> tuple[int, int]:
    """Return the sides of a nearly square lattice with about that many nodes."""
    rows = int(np.sqrt(n_prototypes))
    return rows, round(n_prototypes / rows)


def with_neighborhood(kind: type, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings of a map, with its ranges, kernel and schedule as one neighborhood function."""
    part = grouped(kind)["neighborhood"]
    own = {name: settings[name] for name in ("schedule", "kernel", "winner", "settle") if name in settings}
    if "range_start" in settings or "range_end" in settings:
        start, end = part().radius  # type: ignore[attr-defined]
        own["radius"] = settings.get("range_start", start), settings.get("range_end", end)
    rest = {name: value for name, value in settings.items() if name not in {*own, "range_start", "range_end"}}
    if rest.pop("algorithm", "batch") == "online":
        rest["online"] = Online()
    return rest | ({"neighborhood": part(**own)} if own else {})


def neural_gas(n_prototypes: int, epochs: int, seed: int, **options: Any) -> NeuralGas:
    """Neural gas as in the document: small values around the mean, range n/2 -> 0.01."""
    settings = {"init": "center", "range_end": RANGE_END, "max_iter": epochs, "settle": False, "random_state": seed}
    settings |= options
    return PrintedNeuralGas(n_prototypes, **with_neighborhood(PrintedNeuralGas, settings))


def small_values(X: Array, n_prototypes: int, seed: int) -> Array:
    """Return small values around the mean, as an array: later patches then start from the prototypes so far."""
    noise = np.random.RandomState(seed).normal(size=(n_prototypes, X.shape[1]))
    return X.mean(axis=0) + 1e-3 * X.std(axis=0) * noise


def random_samples(X: Array, n_prototypes: int, seed: int) -> Array:
    """Return random samples, as an array: later patches then start from the prototypes so far."""
    return X[np.random.RandomState(seed).choice(len(X), n_prototypes, replace=False)]


def batch_som(shape: tuple[int, int], epochs: int, seed: int, **options: Any) -> SOM:
    """SOM as in the document: exponential neighborhood, small values around the mean, range sqrt(n)/2 -> 0.01."""
    settings = {
        "lattice": shape,
        "kernel": "exponential",
        "init": "center",
        "range_start": np.sqrt(shape[0] * shape[1]) / 2,
        "range_end": RANGE_END,
        "max_iter": epochs,
        "random_state": seed,
    } | options
    return SOM(**with_neighborhood(SOM, settings))


def toolbox_som(shape: tuple[int, int], epochs: int, seed: int) -> SOM:
    """SOM with the defaults of the SOM Toolbox: hexagonal, nearest winner, Gaussian neighborhood that ends at 1."""
    start = max(1.0, np.sqrt(shape[0] * shape[1]) / 2)
    options = {"winner": "nearest", "kernel": "gaussian", "range_start": start, "range_end": 1.0}
    return batch_som(shape, epochs, seed, lattice=hexagonal(*shape), **options)


def batch_kmeans(n_prototypes: int, epochs: int, seed: int, **options: Any) -> KMeans:
    """K-means for a fixed number of epochs, started from random samples."""
    settings = {"init": "random", "max_iter": epochs, "tol": 0.0, "random_state": seed} | options
    return PrintedKMeans(n_prototypes, **settings)


def canvas(
    n_rows: int = 1, n_columns: int = 1, size: tuple[float, float] = (5.0, 3.8), **options: Any
) -> tuple[Figure, Any]:
    """Return a figure and its axes (rows, columns), each of the given size in inches."""
    figure = Figure(figsize=(size[0] * n_columns, size[1] * n_rows), layout="constrained")
    axes = figure.subplots(n_rows, n_columns, squeeze=False, **options)
    for ax in axes.flat:
        ax.spines[["top", "right"]].set_visible(False)
    return figure, axes
