"""Who is compared on views of data.

Functions ``fit(X, task) -> (view, whether it is one of t-SNE)``, and ``measure(X, Y, y, k) -> trustworthiness`` at k
neighbors for ``view-quality``.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from benchmarks.embedding import GAMMA, ViewTask
from benchmarks.registry import OURS, competitor

__all__ = ["OWN", "PEERS", "open_tsne_model", "umap_model"]

Fitted = tuple[np.ndarray, bool]

OWN: dict[str, Any] = {"package": "protolearn", "environment": "own"}
PEERS: dict[str, Any] = {"environment": "embedding"}
N30, N100, N1000 = (f"n = {n:,}" for n in (30_000, 100_000, 1_000_000))  # the sizes that peers show, which take long
SMALL, LARGE = ("view-digits", "view-mnist"), ("view-mnist-all", "view-scaling")  # large ones take long on one thread


@competitor(OURS, *SMALL, **OWN, threads=(1, 2))
@competitor(OURS, *LARGE, "view-million", **OWN, threads=(2,))
def our_tsne(X: np.ndarray, task: ViewTask, **options: Any) -> Fitted:
    from protolearn import TSNE

    return TSNE(perplexity=task.perplexity, random_state=0, **options).fit_transform(X), True


@competitor(GAMMA, *SMALL, **OWN, threads=(1, 2))
@competitor(GAMMA, *LARGE, **OWN, threads=(2,))
def our_gamma_tsne(X: np.ndarray, task: ViewTask) -> Fitted:
    from protolearn.embedding.divergences import Gamma

    return our_tsne(X, task, divergence=Gamma(0.5))


@competitor(f"{OURS} (alpha)", *SMALL, **OWN)
def our_alpha_tsne(X: np.ndarray, task: ViewTask) -> Fitted:
    from protolearn.embedding.divergences import Alpha

    return our_tsne(X, task, divergence=Alpha(0.5))


@competitor("openTSNE", *SMALL, package="openTSNE", **PEERS, threads=(1, 2))
@competitor("openTSNE", "view-mnist-all", package="openTSNE", **PEERS, threads=(2,))
@competitor("openTSNE", "view-million", package="openTSNE", **PEERS, threads=(2,), sizes=(N30, N100))
def open_tsne(X: np.ndarray, task: ViewTask) -> Fitted:
    return open_tsne_model(task.perplexity, task.large).fit_transform(X), True


@competitor("scikit-learn (TSNE)", *SMALL, package="scikit-learn", environment="own")
def sklearn_tsne(X: np.ndarray, task: ViewTask) -> Fitted:
    from sklearn.manifold import TSNE

    return TSNE(perplexity=task.perplexity, n_jobs=_threads(), random_state=0).fit_transform(X), True


@competitor("umap-learn", *SMALL, package="umap-learn", **PEERS)
@competitor("umap-learn", "view-mnist-all", package="umap-learn", **PEERS, threads=(2,))
@competitor("umap-learn", "view-million", package="umap-learn", **PEERS, threads=(2,), sizes=(N100, N1000))
def umap(X: np.ndarray, task: ViewTask) -> Fitted:
    return umap_model(task.large).fit_transform(X), False


@competitor("pacmap", *SMALL, package="pacmap", **PEERS)
@competitor("pacmap", "view-mnist-all", package="pacmap", **PEERS, threads=(2,))
@competitor("pacmap", "view-million", package="pacmap", **PEERS, threads=(2,), sizes=(N100, N1000))
def pacmap(X: np.ndarray, task: ViewTask) -> Fitted:
    from pacmap import PaCMAP

    return PaCMAP(random_state=0).fit_transform(X), False


@competitor(OURS, "view-quality", **OWN, threads=(1, 2))
def our_quality(X: np.ndarray, Y: np.ndarray, y: np.ndarray, k: int) -> float:
    from protolearn.metrics import view_quality

    return view_quality(X, Y, y).trustworthiness[k - 1]


@competitor("scikit-learn (trustworthiness alone)", "view-quality", package="scikit-learn", environment="own")
def sklearn_quality(X: np.ndarray, Y: np.ndarray, y: np.ndarray, k: int) -> float:
    from sklearn.manifold import trustworthiness

    return trustworthiness(X, Y, n_neighbors=k)


def open_tsne_model(perplexity: float, large: bool) -> Any:
    from openTSNE.sklearn import TSNE

    method = "fft" if large else "auto"
    return TSNE(perplexity=perplexity, n_jobs=_threads(), negative_gradient_method=method, random_state=0)


def umap_model(large: bool) -> Any:
    # With a seed it takes one thread. The search for neighbors that it has for 4,096 samples and more is asked for, so
    # that the first call compiles it.
    from umap import UMAP

    seed = 0 if _threads() == 1 else None
    return UMAP(n_jobs=_threads(), force_approximation_algorithm=large, random_state=seed)


def _threads() -> int:
    """Return the number of threads to which the runner holds this process."""
    return int(os.environ["OMP_NUM_THREADS"])
