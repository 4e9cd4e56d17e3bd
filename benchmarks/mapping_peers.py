"""Who is compared on new samples in a view.

Functions ``fit(X, task)`` that return a model with ``embedding_``, the positions of X, and ``transform``, which places
others. For the task ``products`` it is one of charts.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.embedding_peers import OWN, PEERS, open_tsne_model, umap_model
from benchmarks.mapping import PlacingTask
from benchmarks.registry import OURS, competitor

__all__: list[str] = []

BOTH: dict[str, Any] = {"threads": (1, 2)}

CRISP: dict[str, Any] = {}  # options of LocalLinear: its defaults
RANK: dict[str, Any] = {"gating": "rank", "n_charts": 200}  # a fit with shares needs a dense matrix (n, 3 charts)


@competitor(OURS, "placing", "products", **OWN, **BOTH)
def our_local_map(X: np.ndarray, task: PlacingTask) -> Any:
    from protolearn.embedding.mappings import LocalLinearMapping

    return _our_map(X, task, LocalLinearMapping(**CRISP))


@competitor(f"{OURS} (rank)", "placing", "products", **OWN, **BOTH)
def our_smooth_map(X: np.ndarray, task: PlacingTask) -> Any:
    from protolearn.embedding.mappings import LocalLinearMapping

    return _our_map(X, task, LocalLinearMapping(**RANK))


@competitor(f"{OURS} (neighbors)", "placing", **OWN, **BOTH)
def our_neighbor_map(X: np.ndarray, task: PlacingTask) -> Any:
    return _our_map(X, task, "neighbors")


@competitor(f"{OURS} (linear)", "placing", **OWN, **BOTH)
def our_linear_map(X: np.ndarray, task: PlacingTask) -> Any:
    return _our_map(X, task, "linear")


@competitor(f"{OURS} (Charting)", "placing", **OWN, **BOTH)
def our_charting(X: np.ndarray, task: PlacingTask) -> Any:
    from protolearn import Charting

    return Charting(random_state=0).fit(X)


@competitor("openTSNE", "placing", package="openTSNE", **PEERS, **BOTH)
def open_tsne(X: np.ndarray, task: PlacingTask) -> Any:
    return open_tsne_model(task.perplexity, large=True).fit(X)


@competitor("umap-learn", "placing", package="umap-learn", **PEERS, **BOTH)
def umap(X: np.ndarray, task: PlacingTask) -> Any:
    return umap_model(large=True).fit(X)


def _our_map(X: np.ndarray, task: PlacingTask, mapping: Any) -> Any:
    from protolearn import MappedEmbedding
    from protolearn.embedding.costs import tsne

    return MappedEmbedding(cost=tsne(task.perplexity), mapping=mapping, max_iter=task.max_iter, random_state=0).fit(X)
