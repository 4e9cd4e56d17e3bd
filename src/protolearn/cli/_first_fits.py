"""Small fits in which estimators compile what they use, for ``protolearn warmup`` and to measure a first use."""

from __future__ import annotations

import warnings
from typing import Any

import protolearn
from protolearn.maps import Online

__all__ = ["estimator_names", "first_fits", "use"]

QUICK_VIEW: dict[str, Any] = {"perplexity": 5.0, "max_iter": 30}
# Where settings decide what is compiled, or defaults would take long.
SETTINGS: dict[str, list[dict[str, Any]]] = {
    "NeuralGas": [{}, {"online": Online()}],
    "SOM": [{}, {"online": Online()}],
    "NGPCA": [{"n_steps": 100}],
    **{name: [{"max_iter": 3}, {"solver": "sgd", "max_iter": 3}] for name in ("GLVQ", "GRLVQ", "GMLVQ", "LGMLVQ")},
    "LLiRaMLVQ": [{"max_iter": 3}, {"solver": "sgd", "max_iter": 3}],
    "RSLVQ": [{"max_iter": 3}, {"solver": "sgd", "max_iter": 3}],
    "CIALVQ": [{"patch_shape": (1, -1, 1), "max_iter": 3}],
    "SNE": [QUICK_VIEW],
    "TSNE": [QUICK_VIEW, QUICK_VIEW | {"method": "fast"}],
    "XOM": [{"max_iter": 3}],
    "SONE": [{"max_iter": 3}],
    "MappedEmbedding": [{"max_iter": 3}],
    "MVU": [{"method": "low_rank", "max_iter": 10}],
    **{name: [{"embedding": protolearn.TSNE(**QUICK_VIEW)}] for name in ("OutOfSample", "DiscriminativeEmbedding")},
}
METHODS = ("predict", "transform")


def estimator_names() -> list[str]:
    """Return the names of all public estimators."""
    return [name for name in protolearn.__all__ if hasattr(getattr(protolearn, name), "fit")]


def first_fits(name: str) -> list[Any]:
    """Return an estimator in all settings in which it compiles loops of its own."""
    fits = [getattr(protolearn, name)(**settings) for settings in SETTINGS.get(name, [{}])]
    for estimator in fits:
        known = estimator.get_params()
        if "random_state" in known:
            estimator.set_params(random_state=0)
        if known.get("metric") == "precomputed":
            estimator.set_params(metric="euclidean")
    return fits


def use(estimator: Any, dtype: str) -> None:
    """Fit an estimator to a few samples of a type, and apply it."""
    from sklearn.datasets import make_blobs

    X, y = make_blobs(60, 4, centers=3, cluster_std=1.5, random_state=0)
    X = X.astype(dtype)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # so few samples and iterations deserve some
        estimator.fit(X, y)
        for method in METHODS:
            if hasattr(estimator, method):
                getattr(estimator, method)(X)
