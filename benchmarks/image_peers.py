"""Who is compared on images.

For searches functions ``fit(X, y, task)`` that return a model with ``index(Z)``, which returns the model, and
``kneighbors(Q, n_neighbors, return_distance)``; for textures those that return a model with ``predict``, and with
``share`` if only a part of the training was done; for the task ``texture-products`` one that returns a function, which
evaluates cost and gradient and returns the seconds; for colors functions ``fit(images, masks) -> colors (n, 6)``.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Self

import numpy as np

from benchmarks.images import RetrievalTask, TextureTask, mean_colors
from benchmarks.registry import OURS, competitor

__all__: list[str] = []

OWN: dict[str, Any] = {"package": "protolearn", "environment": "own"}
SKLEARN: dict[str, Any] = {"package": "scikit-learn", "environment": "own"}
METRIC_LEARN: dict[str, Any] = {"package": "metric-learn", "environment": "metric"}
BOTH: dict[str, Any] = {"threads": (1, 2)}
SEARCHES = ("retrieval", "retrieval-full")

RATE, METRIC_RATE = 0.002, 0.001  # Bunte 2011, sec. 5.3: of prototypes and of maps, at first


@competitor(OURS, *SEARCHES, "metrics", **OWN)
def our_matrix(X: np.ndarray, y: np.ndarray, task: RetrievalTask) -> Any:
    return _our_retriever(X, y, task, "liram")


@competitor(f"{OURS} (local)", *SEARCHES, "metrics", **OWN)
def our_local_matrices(X: np.ndarray, y: np.ndarray, task: RetrievalTask) -> Any:
    return _our_retriever(X, y, task, "local")


@competitor(f"{OURS} (lmnn)", *SEARCHES, "metrics", **OWN)
def our_lmnn(X: np.ndarray, y: np.ndarray, task: RetrievalTask) -> Any:
    return _our_retriever(X, y, task, "lmnn")


@competitor(f"{OURS} (euclidean)", "retrieval-full", **OWN)
def our_euclidean(X: np.ndarray, y: np.ndarray, task: RetrievalTask) -> Any:
    return _our_retriever(X, y, task, "euclidean")


@competitor("scikit-learn (brute)", *SEARCHES, **SKLEARN)
def sklearn_brute(X: np.ndarray, y: np.ndarray, task: RetrievalTask) -> Any:
    return _Mapped(_matrix(our_matrix(X, y, task)), "brute")


@competitor("scikit-learn (tree)", *SEARCHES, **SKLEARN)
def sklearn_tree(X: np.ndarray, y: np.ndarray, task: RetrievalTask) -> Any:
    return _Mapped(_matrix(our_matrix(X, y, task)), "kd_tree")


@competitor("scikit-learn (NCA)", "metrics", **SKLEARN)
def sklearn_nca(X: np.ndarray, y: np.ndarray, task: RetrievalTask) -> Any:
    from sklearn.neighbors import NeighborhoodComponentsAnalysis

    return _scaled_peer(X, y, NeighborhoodComponentsAnalysis(task.rank, random_state=0))


@competitor("metric-learn (LMNN)", "metrics", **METRIC_LEARN)
def metric_learn_lmnn(X: np.ndarray, y: np.ndarray, task: RetrievalTask) -> Any:
    from metric_learn import LMNN

    return _scaled_peer(X, y, LMNN(n_components=task.rank, random_state=0))


@competitor("metric-learn (NCA)", "metrics", **METRIC_LEARN)
def metric_learn_nca(X: np.ndarray, y: np.ndarray, task: RetrievalTask) -> Any:
    from metric_learn import NCA

    return _scaled_peer(X, y, NCA(n_components=task.rank, random_state=0))


@competitor(OURS, "textures", "texture-structures", **OWN, **BOTH)
def our_textures(X: np.ndarray, y: np.ndarray, task: TextureTask) -> Any:
    return _our_classifier(task).fit(X, y)


@competitor("stochastic gradient descent in NumPy", "textures", package="numpy", environment="own")
def numpy_textures(X: np.ndarray, y: np.ndarray, task: TextureTask) -> Any:
    from protolearn.lvq import gabor_bank

    rng = np.random.default_rng(0)
    codes = np.repeat(np.unique(y), task.prototypes_per_class)
    first = np.concatenate([rng.choice(X[y == code], task.prototypes_per_class) for code in np.unique(y)])
    model = _Descent(
        _spectra(first), codes, np.fft.fft2(np.fft.ifftshift(gabor_bank(X.shape[1:3]).sum(axis=0))).ravel()
    )
    for sample in rng.permutation(len(X))[: task.n_presented]:
        model.present(_spectra(X[sample]), y[sample], RATE, METRIC_RATE)
    model.share = task.n_presented / (task.max_iter * len(X))
    return model


@competitor(OURS, "texture-products", **OWN, **BOTH)
def our_evaluation(X: np.ndarray, y: np.ndarray, task: TextureTask) -> Callable[[], float]:
    from protolearn.core.threads import chunk_threads
    from protolearn.lvq.solvers import Solver

    class Caught(Solver):
        """Keeps the problem that it should solve."""

        def minimize(self, problem: Any, start: Any, max_iter: int, tol: float, rng: Any, watch: Any) -> None:
            met.append((problem, start.copy()))
            watch(start, 0.0)

    met: list[Any] = []
    _our_classifier(task).set_params(solver=Caught()).fit(X, y)
    problem, start = met[0]

    def evaluate() -> float:
        with chunk_threads(None):
            started = time.perf_counter()
            problem(start)
            return time.perf_counter() - started

    return evaluate


@competitor(OURS, "colors", **OWN)
def our_colors(images: np.ndarray, masks: np.ndarray) -> np.ndarray:
    from protolearn.applications import RegionColors

    return RegionColors("lab").transform(list(zip(images, masks)))


@competitor(f'{OURS} (average="rgb")', "colors", **OWN)
def our_early_means(images: np.ndarray, masks: np.ndarray) -> np.ndarray:
    from protolearn.applications import RegionColors

    return RegionColors("lab", average="rgb").transform(list(zip(images, masks)))


@competitor("scikit-image, in a loop", "colors", package="scikit-image", environment="own")
def skimage_colors(images: np.ndarray, masks: np.ndarray) -> np.ndarray:
    return mean_colors(images, masks)


class _Mapped:
    """A search by scikit-learn after a linear map, as one would write it."""

    def __init__(self, matrix: np.ndarray, algorithm: str = "auto") -> None:
        from sklearn.neighbors import NearestNeighbors

        self.matrix, self.search = matrix, NearestNeighbors(algorithm=algorithm)

    def index(self, Z: np.ndarray) -> Self:
        self.search.fit(Z @ self.matrix)
        return self

    def kneighbors(self, Q: np.ndarray, n_neighbors: int, return_distance: bool) -> np.ndarray:
        return self.search.kneighbors(Q @ self.matrix, n_neighbors, return_distance)


class _Descent:
    """CIA-LVQ with a full map for each class, one patch at a time, in complex numbers: Bunte 2011, algorithm 5.1.

    W (k, N) spectra of prototypes, maps (C, M, N), bank (M,) the sum of the spectra of all filters.
    """

    share = 1.0

    def __init__(self, W: np.ndarray, codes: np.ndarray, bank: np.ndarray) -> None:
        self.W, self.codes, self.bank = W, codes, bank
        M, N = len(bank), W.shape[1]
        start = np.tile(np.eye(M, dtype=complex), N // M) * M / N
        self.maps = np.stack([start] * len(np.unique(codes)))
        self.responses = np.concatenate([self._respond(code) for code in np.unique(codes)])

    def present(self, x: np.ndarray, code: int, rate: float, metric_rate: float) -> None:
        """Learn from one patch: the nearest prototypes of its class and of the others, and their maps, move."""
        seen = self.bank * (self.maps @ x)  # (C, M)
        D = self._distances(seen)
        own = self.codes == code
        J, K = np.where(own, D, np.inf).argmin(), np.where(own, np.inf, D).argmin()
        total = (D[J] + D[K]) ** 2
        for L, gamma in ((J, 2.0 * D[K] / total), (K, -2.0 * D[J] / total)):
            omega, w, r, s = self.maps[self.codes[L]], self.W[L], seen[self.codes[L]], self.responses[L]
            pull = 4.0 * gamma * self.bank.conj() * (np.abs(r) ** 2 - np.abs(s) ** 2)
            by_prototype = -omega.conj().T @ (pull * s)  # eq. 5.14
            by_map = np.outer(pull * r, x.conj()) - np.outer(pull * s, w.conj())  # eq. 5.15
            w -= rate * by_prototype
            omega -= metric_rate * by_map
            self.responses[self.codes == self.codes[L]] = self._respond(self.codes[L])

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return the class of the nearest prototype of each patch."""
        return np.array([self.codes[self._distances(self.bank * (self.maps @ x)).argmin()] for x in _spectra(X)])

    def _respond(self, code: int) -> np.ndarray:
        return self.bank * (self.W[self.codes == code] @ self.maps[code].T)

    def _distances(self, seen: np.ndarray) -> np.ndarray:
        return ((np.abs(seen[self.codes]) ** 2 - np.abs(self.responses) ** 2) ** 2).sum(axis=1)


def _our_retriever(X: np.ndarray, y: np.ndarray, task: RetrievalTask, metric: str) -> Any:
    from protolearn.applications import ImageRetriever

    return ImageRetriever(metric, n_components=task.rank, random_state=0).fit(X, y)


def _our_classifier(task: TextureTask) -> Any:
    from protolearn import CIALVQ

    return CIALVQ(task.prototypes_per_class, structure=task.structure, max_iter=task.max_iter, tol=0.0, random_state=0)


def _scaled_peer(X: np.ndarray, y: np.ndarray, metric: Any) -> _Mapped:
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return _Mapped(_matrix(make_pipeline(StandardScaler(), metric).fit(X, y)))


def _matrix(model: Any) -> np.ndarray:
    """Return the matrix (d, m) of a linear map, up to a shift, which distances do not heed."""
    d = model.n_features_in_
    return model.transform(np.eye(d)) - model.transform(np.zeros((d, d)))


def _spectra(patches: np.ndarray) -> np.ndarray:
    """Return the spectra (..., c h w) of the channels of patches (..., h, w, c), one after the other."""
    spectra = np.fft.fft2(np.moveaxis(patches, -1, -3), norm="ortho")
    return spectra.reshape(*patches.shape[:-3], -1)
