"""Who is compared on maps of dissimilarities.

Functions ``fit(D, task) -> (prototypes, epochs done)`` for whole matrices, ``fit(D, task, seed) -> medoids`` for
``medoids``, ``fit(words, task) -> model`` for ``strings``, ``fit(D, y, task) -> classifier`` for LVQ and ``fit(X, Y) ->
matrix`` for the dissimilarities.
"""

from __future__ import annotations

import bz2
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from benchmarks.registry import FLOOR, OURS, competitor
from benchmarks.relational import MatrixTask, MedoidsTask, ObjectClassifierTask, StringsTask
from protolearn.maps import Patches

__all__: list[str] = []

Fitted = tuple[np.ndarray | None, int]

OWN: dict[str, Any] = {"package": "protolearn", "environment": "own"}


@competitor(OURS, "relational-ng", **OWN, threads=(1, 2))
@competitor(OURS, "relational-peers", **OWN)
def our_relational_gas(D: np.ndarray, task: MatrixTask, **options: Any) -> Fitted:
    from protolearn import RelationalNeuralGas

    model = RelationalNeuralGas(task.n_prototypes, max_iter=task.epochs, random_state=0, **options).fit(D)
    return _combined(model.coefficients_, task), model.n_iter_


@competitor(f"{OURS} (from the center)", "relational-ng", "relational-peers", **OWN)
def our_relational_gas_from_center(D: np.ndarray, task: MatrixTask) -> Fitted:
    return our_relational_gas(D, task, init="center")


@competitor(OURS, "median-ng", **OWN, threads=(1, 2))
@competitor(OURS, "median-plane", **OWN)
def our_median_gas(D: np.ndarray, task: MatrixTask, **options: Any) -> Fitted:
    from protolearn import MedianNeuralGas

    model = MedianNeuralGas(task.n_prototypes, squared=True, max_iter=task.epochs, random_state=0, **options).fit(D)
    return task.samples[model.prototype_indices_], model.n_iter_


@competitor(f"{OURS} (random start)", "median-ng", **OWN)
def our_median_gas_from_random(D: np.ndarray, task: MatrixTask) -> Fitted:
    return our_median_gas(D, task, init="random")


@competitor(f"{OURS} (without swaps)", "median-ng", **OWN)
def our_median_gas_alone(D: np.ndarray, task: MatrixTask) -> Fitted:
    return our_median_gas(D, task, swap=False)


@competitor("kmedoids (FasterPAM)", "median-ng", "median-plane", package="kmedoids", alike=False)
def faster_pam_once(D: np.ndarray, task: MatrixTask) -> Fitted:
    import kmedoids

    found = kmedoids.fasterpam(D, task.n_prototypes, random_state=0, n_cpu=1)
    return task.samples[found.medoids], found.n_iter


@competitor(OURS, "relational-som", **OWN)
def our_relational_som(D: np.ndarray, task: MatrixTask) -> Fitted:
    from protolearn import RelationalSOM

    model = RelationalSOM(task.lattice, max_iter=task.epochs).fit(D)
    return _combined(model.coefficients_, task), model.n_iter_


@competitor(f"{OURS} (SOM of the vectors)", "relational-som", **OWN)
def our_vector_som(D: np.ndarray, task: MatrixTask) -> Fitted:
    from protolearn import SOM

    model = SOM(task.lattice, max_iter=task.epochs).fit(task.samples[: len(D)])
    return model.prototypes_, model.n_iter_


@competitor(FLOOR, "relational-ng", "median-ng", package="numpy", environment="own", threads=(1, 2))
@competitor(FLOOR, "relational-som", package="numpy", environment="own")
def products(D: np.ndarray, task: MatrixTask) -> Fitted:
    weights = np.ones((len(D), task.n_prototypes))
    for _ in range(task.epochs):
        D @ weights
    return None, task.epochs


@competitor("dyconnmap", "relational-peers", package="dyconnmap")
def dyconnmap(D: np.ndarray, task: MatrixTask) -> Fitted:
    # It takes dissimilarities as they are for squared ones.
    from dyconnmap.cluster import RelationalNeuralGas

    seed = np.random.RandomState(0)
    model = RelationalNeuralGas(task.n_prototypes, task.epochs, metric="precomputed", rng=seed).fit(D**2)
    return _combined(model.coeff, task), task.epochs


@competitor("proto-dist-ml", "relational-peers", package="proto-dist-ml", environment="lvq")
def proto_dist_ml(D: np.ndarray, task: MatrixTask) -> Fitted:
    from proto_dist_ml.rng import RNG

    np.random.seed(0)  # noqa: NPY002 (its only source of random numbers)
    model = RNG(task.n_prototypes, task.epochs).fit(D)
    return _combined(model._Alpha.toarray(), task), len(model._loss)


@competitor(OURS, "relational-glvq", **OWN)
def our_relational_glvq(D: np.ndarray, y: np.ndarray, task: ObjectClassifierTask, **options: Any) -> Any:
    from protolearn import RelationalGLVQ

    return RelationalGLVQ(task.per_class, random_state=0, **options).fit(D, y)


@competitor(f"{OURS} (sparsity 10)", "relational-glvq", **OWN)
def our_sparse_glvq(D: np.ndarray, y: np.ndarray, task: ObjectClassifierTask) -> Any:
    return our_relational_glvq(D, y, task, sparsity=10)


@competitor(f"{OURS} (patches of 550)", "relational-glvq", **OWN)
def our_patch_glvq(D: np.ndarray, y: np.ndarray, task: ObjectClassifierTask) -> Any:
    return our_relational_glvq(D, y, task, patches=Patches(550))


@competitor(OURS, "median-glvq", **OWN)
def our_median_glvq(D: np.ndarray, y: np.ndarray, task: ObjectClassifierTask) -> Any:
    from protolearn import MedianGLVQ

    return MedianGLVQ(task.per_class, random_state=0).fit(D, y)


@competitor("proto-dist-ml", "relational-glvq", package="proto-dist-ml", environment="lvq")
def proto_dist_ml_glvq(D: np.ndarray, y: np.ndarray, task: ObjectClassifierTask) -> Any:
    from proto_dist_ml.rglvq import RGLVQ

    np.random.seed(0)  # noqa: NPY002 (its only source of random numbers)
    return RGLVQ(task.per_class).fit(D, y)


@competitor("proto-dist-ml", "median-glvq", package="proto-dist-ml", environment="lvq")
def proto_dist_ml_median(D: np.ndarray, y: np.ndarray, task: ObjectClassifierTask) -> Any:
    from proto_dist_ml.mglvq import MGLVQ

    np.random.seed(0)  # noqa: NPY002 (its only source of random numbers)
    model = MGLVQ(task.per_class).fit(D, y)
    return _Columns(model, model._w)


@competitor(OURS, "medoids", "medoids-plane", **OWN)
def our_medoids(D: np.ndarray, task: MedoidsTask, seed: int, **options: Any) -> np.ndarray:
    from protolearn import MedianKMeans

    return MedianKMeans(task.n_prototypes, squared=True, random_state=seed, **options).fit(D).prototype_indices_


@competitor(f"{OURS} (without swaps)", "medoids", "medoids-plane", **OWN)
def our_medoids_alone(D: np.ndarray, task: MedoidsTask, seed: int) -> np.ndarray:
    return our_medoids(D, task, seed, swap=False)


@competitor(f"{OURS} (without swaps, same start)", "medoids", "medoids-plane", **OWN)
def our_medoids_from_start(D: np.ndarray, task: MedoidsTask, seed: int) -> np.ndarray:
    return our_medoids(D, task, seed, swap=False, init=task.start(len(D), seed))


@competitor("kmedoids (alternating)", "medoids", "medoids-plane", package="kmedoids")
def alternating(D: np.ndarray, task: MedoidsTask, seed: int) -> np.ndarray:
    import kmedoids

    return kmedoids.alternating(D, task.start(len(D), seed)).medoids


@competitor("kmedoids (FasterPAM)", "medoids", "medoids-plane", package="kmedoids")
def faster_pam(D: np.ndarray, task: MedoidsTask, seed: int) -> np.ndarray:
    import kmedoids

    return kmedoids.fasterpam(D, task.n_prototypes, random_state=seed, n_cpu=1).medoids


@competitor(
    "scikit-learn-extra (alternate)", "medoids", "medoids-plane", package="scikit-learn-extra", environment="lvq"
)
def sklearn_extra(D: np.ndarray, task: MedoidsTask, seed: int) -> np.ndarray:
    from sklearn_extra.cluster import KMedoids

    model = KMedoids(task.n_prototypes, metric="precomputed", init="random", random_state=seed)
    return model.fit(D).medoid_indices_


@competitor(OURS, "strings", **OWN)
def our_patches(words: list[str], task: StringsTask) -> Any:
    from protolearn import RelationalNeuralGas

    return RelationalNeuralGas(task.n_prototypes, metric="edit", patches=Patches(task.patch_size), random_state=0).fit(
        words
    )


@competitor(OURS, "edit", "numeric-edit", **OWN)
def our_edit(X: Any, Y: Any) -> np.ndarray:
    from protolearn.dissimilarities import edit

    return edit(X, Y)


@competitor("rapidfuzz", "edit", package="rapidfuzz")
def rapidfuzz_edit(X: list[str], Y: list[str]) -> np.ndarray:
    from rapidfuzz.distance import Levenshtein
    from rapidfuzz.process import cdist

    return cdist(X, Y, scorer=Levenshtein.distance)


@competitor("numba, the plain recursion", "numeric-edit", package="numba", environment="own")
def numba_edit(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    return _compiled_edit()(X, Y)


@competitor(OURS, "dtw", **OWN)
def our_dtw(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    from protolearn.dissimilarities import dtw

    return dtw(X, Y)


@competitor("tslearn", "dtw", package="tslearn")
def tslearn_dtw(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    from tslearn.metrics import cdist_dtw

    return cdist_dtw(X, Y)


@competitor("dtaidistance", "dtw", package="dtaidistance")
def dtaidistance_dtw(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    from dtaidistance.dtw import distance_matrix_fast

    block = ((0, len(X)), (len(X), len(X) + len(Y)))
    return distance_matrix_fast(np.concatenate([X, Y]), block=block, parallel=False)[: len(X), len(X) :]


@competitor(OURS, "ncd", **OWN)
def our_ncd(X: list[str], Y: list[str]) -> np.ndarray:
    from protolearn.dissimilarities import ncd

    return ncd(X, Y)


@competitor("bz2, pair by pair", "ncd", package="numpy", environment="own")
def plain_ncd(X: list[str], Y: list[str]) -> np.ndarray:
    # As one would write it, with the sizes of single texts kept.
    @cache
    def size(text: str) -> int:
        return len(bz2.compress(text.encode()))

    pairs = [[len(bz2.compress((x + y).encode())) for y in Y] for x in X]
    first, second = np.array([size(x) for x in X])[:, None], np.array([size(y) for y in Y])
    return (np.array(pairs) - np.minimum(first, second)) / np.maximum(first, second)


def _combined(coefficients: np.ndarray, task: MatrixTask) -> np.ndarray:
    """Return the combinations of samples that prototypes are."""
    return coefficients @ task.samples[: coefficients.shape[1]]


@cache
def _compiled_edit() -> Any:
    """Return the edit distances of rows of numbers as one would write them in numba."""
    import numba

    @numba.njit
    def edit(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        result = np.empty((len(X), len(Y)))
        E = np.empty((X.shape[1] + 1, Y.shape[1] + 1))
        E[:, 0] = np.arange(len(E))
        E[0] = np.arange(E.shape[1])
        for i, x in enumerate(X):
            for j, y in enumerate(Y):
                for a in range(len(x)):
                    for b in range(len(y)):
                        E[a + 1, b + 1] = min(E[a, b + 1] + 1, E[a + 1, b] + 1, E[a, b] + abs(x[a] - y[b]))
                result[i, j] = E[-1, -1]
        return result

    return edit


@dataclass(frozen=True)
class _Columns:
    """A classifier that takes the columns of its prototypes alone."""

    model: Any
    columns: np.ndarray

    def predict(self, D: np.ndarray) -> np.ndarray:
        return self.model.predict(D[:, self.columns])
