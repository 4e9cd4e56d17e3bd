"""Who is compared on maps: functions ``fit(X, task) -> (prototypes, epochs done)``.

Every library runs with its defaults, apart from the size of the map, the number of epochs and the seed.
"""

from __future__ import annotations

import math
import sys
from functools import cache
from typing import Any

import numpy as np

from benchmarks.maps import MapTask, chunks
from benchmarks.registry import FLOOR, OURS, competitor
from protolearn.maps import Ranks

__all__ = ["prosemble_model"]

Fitted = tuple[np.ndarray | None, int]


@competitor(OURS, "map-scaling", package="protolearn", environment="own")
@competitor(OURS, "som", "memmap", package="protolearn", environment="own", threads=(1, 2))
def our_som(X: np.ndarray, task: MapTask) -> Fitted:
    from protolearn import SOM

    model = SOM(lattice=task.lattice, max_iter=task.epochs).fit(X)
    return model.prototypes_, model.n_iter_


@competitor(OURS, "ng", package="protolearn", environment="own", threads=(1, 2))
def our_neural_gas(X: np.ndarray, task: MapTask) -> Fitted:
    from protolearn import NeuralGas

    model = NeuralGas(task.n_prototypes, max_iter=task.epochs).fit(X)
    return model.prototypes_, model.n_iter_


@competitor(OURS, "ng-annealing", package="protolearn", environment="own", threads=(1, 2))
def our_annealing(X: np.ndarray, task: MapTask) -> Fitted:
    from protolearn import NeuralGas

    model = NeuralGas(task.n_prototypes, max_iter=task.epochs, neighborhood=Ranks(settle=False)).fit(X)
    return model.prototypes_, model.n_iter_


@competitor(OURS, "kmeans", "kmeans-clusters", package="protolearn", environment="own", threads=(1, 2))
def our_kmeans(X: np.ndarray, task: MapTask) -> Fitted:
    from protolearn import KMeans

    model = KMeans(task.n_prototypes, init=task.init, max_iter=task.epochs, tol=0).fit(X)
    return model.prototypes_, model.n_iter_


@competitor(FLOOR, "som", "kmeans", "kmeans-clusters", "memmap", package="numpy", environment="own", threads=(1, 2))
def winner_products(X: np.ndarray, task: MapTask) -> Fitted:
    for _ in range(task.epochs):
        for rows in chunks(len(X)):
            X[rows] @ task.init.T
    return None, task.epochs


@competitor(FLOOR, "ng", "ng-annealing", package="numpy", environment="own", threads=(1, 2))
def neural_gas_products(X: np.ndarray, task: MapTask) -> Fitted:
    for _ in range(task.epochs):
        for rows in chunks(len(X)):
            H = X[rows] @ task.init.T
            H.T @ X[rows]
    return None, task.epochs


@competitor("xpysom", "som", package="xpysom")
def xpysom(X: np.ndarray, task: MapTask) -> Fitted:
    from xpysom import XPySom

    som = XPySom(*task.lattice, X.shape[1], random_seed=0)
    som.train(X, task.epochs)
    return som.get_weights(), task.epochs


@competitor("python-som", "som", package="python-som")
def python_som(X: np.ndarray, task: MapTask) -> Fitted:
    # Its plain installation has no numba and computes in float64. Where it finds numba (here for another peer's sake)
    # or gets float32 samples, it is several times slower on one thread.
    sys.modules["numba"] = None  # type: ignore[assignment]
    from python_som import SOM

    som = SOM(*task.lattice, X.shape[1], random_seed=0)
    som.train(X.astype(np.float64), task.epochs, mode="batch")
    return som.get_weights(), task.epochs


@competitor("numbasom (online)", "som", package="numbasom")
def numbasom(X: np.ndarray, task: MapTask) -> Fitted:
    from numbasom import SOM

    return SOM(task.lattice).train(X, task.epochs * len(X)), task.epochs


@competitor("MiniSom (batch)", "som", package="minisom")
def minisom_batch(X: np.ndarray, task: MapTask) -> Fitted:
    som = _minisom(X, task)
    som.train_batch_offline(X, task.epochs)
    return som.get_weights(), task.epochs


@competitor("MiniSom (online)", "som", package="minisom")
def minisom_online(X: np.ndarray, task: MapTask) -> Fitted:
    som = _minisom(X, task)
    som.train(X, task.epochs, use_epochs=True)
    return som.get_weights(), task.epochs


def _minisom(X: np.ndarray, task: MapTask) -> Any:
    from minisom import MiniSom

    return MiniSom(*task.lattice, X.shape[1], random_seed=0)


@competitor("Somoclu", "som", package="somoclu")
def somoclu(X: np.ndarray, task: MapTask) -> Fitted:
    from somoclu import Somoclu

    rows, columns = task.lattice
    som = Somoclu(columns, rows)
    som.train(X, epochs=task.epochs)
    return som.codebook, task.epochs


@competitor("SuSi (batch)", "som", package="susi")
def susi_batch(X: np.ndarray, task: MapTask) -> Fitted:
    return _susi(X, task, n_iter_unsupervised=task.epochs, train_mode_unsupervised="batch")


@competitor("SuSi (online)", "som", package="susi")
def susi_online(X: np.ndarray, task: MapTask) -> Fitted:
    return _susi(X, task, n_iter_unsupervised=task.epochs * len(X))


def _susi(X: np.ndarray, task: MapTask, **options: Any) -> Fitted:
    from susi import SOMClustering

    return SOMClustering(*task.lattice, random_state=0, **options).fit(X).unsuper_som_, task.epochs


@competitor("prosemble (HeskesSOM)", "som", package="prosemble", environment="prosemble")
def prosemble_heskes(X: np.ndarray, task: MapTask) -> Fitted:
    return _prosemble(X, "HeskesSOM", *task.lattice, max_iter=task.epochs)


@competitor("prosemble (KohonenSOM)", "som", package="prosemble", environment="prosemble")
def prosemble_kohonen(X: np.ndarray, task: MapTask) -> Fitted:
    return _prosemble(X, "KohonenSOM", *task.lattice, max_iter=task.epochs)


@competitor("prosemble", "ng", "ng-annealing", package="prosemble", environment="prosemble")
def prosemble_neural_gas(X: np.ndarray, task: MapTask) -> Fitted:
    return _prosemble(X, "NeuralGas", task.n_prototypes, max_iter=task.epochs)


def _prosemble(X: np.ndarray, name: str, *size: int, max_iter: int) -> Fitted:
    model = prosemble_model(name, *size, max_iter=max_iter).fit(X)
    return np.asarray(model.prototypes_), model.n_iter_


@cache
def prosemble_model(name: str, *size: int, **parameters: Any) -> Any:
    """Return one model for equal arguments: its compiled code belongs to it, and a new one would compile again."""
    from prosemble import models

    return getattr(models, name)(*size, **parameters)


@competitor("faiss", "kmeans", "kmeans-clusters", package="faiss-cpu", threads=(1, 2))
def faiss_kmeans(X: np.ndarray, task: MapTask) -> Fitted:
    from faiss import Kmeans

    # it learns from 256 samples for each prototype unless told otherwise
    model = Kmeans(X.shape[1], task.n_prototypes, niter=task.epochs, max_points_per_centroid=len(X))
    model.train(X, init_centroids=task.init)
    return model.centroids, task.epochs


@competitor(
    "scikit-learn (KMeans)", "kmeans", "kmeans-clusters", package="scikit-learn", environment="own", threads=(1, 2)
)
@competitor("scikit-learn (KMeans)", "ng", package="scikit-learn", environment="own", threads=(1, 2), alike=False)
def sklearn_kmeans(X: np.ndarray, task: MapTask) -> Fitted:
    from sklearn.cluster import KMeans

    model = KMeans(task.n_prototypes, init=task.init, algorithm="lloyd", n_init=1, tol=0, max_iter=task.epochs).fit(X)
    return model.cluster_centers_, model.n_iter_


@competitor(
    "scikit-learn (MiniBatchKMeans)",
    "kmeans",
    "kmeans-clusters",
    "ng",
    package="scikit-learn",
    environment="own",
    alike=False,
)
def sklearn_minibatch_kmeans(X: np.ndarray, task: MapTask) -> Fitted:
    from sklearn.cluster import MiniBatchKMeans

    model = MiniBatchKMeans(task.n_prototypes, init=task.init, n_init=1, max_iter=task.epochs, random_state=0).fit(X)
    return model.cluster_centers_, math.ceil(model.n_steps_ * model.batch_size / len(X))
