"""Prototype-based learning with adaptive distances, for scikit-learn.

Public names are imported on first use, so ``import protolearn`` costs next to nothing.
"""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_HOME = {
    "KMeans": "maps",
    "NeuralGas": "maps",
    "SOM": "maps",
    "MatrixKMeans": "maps",
    "MatrixNeuralGas": "maps",
    "MatrixSOM": "maps",
    "NGPCA": "maps",
    "VQPCA": "maps",
    "MixturePPCA": "maps",
    "MedianKMeans": "relational",
    "MedianNeuralGas": "relational",
    "MedianSOM": "relational",
    "RelationalKMeans": "relational",
    "RelationalNeuralGas": "relational",
    "RelationalSOM": "relational",
    "PairwiseAnnealing": "relational",
    "PrototypeClassifier": "maps",
    "OutlierDetector": "maps",
    "LVQ1": "lvq",
    "LVQ21": "lvq",
    "GLVQ": "lvq",
    "GRLVQ": "lvq",
    "LGRLVQ": "lvq",
    "GMLVQ": "lvq",
    "LGMLVQ": "lvq",
    "LLiRaMLVQ": "lvq",
    "LMNN": "lvq",
    "CIALVQ": "lvq",
    "LFDA": "lvq",
    "SNE": "embedding",
    "TSNE": "embedding",
    "XOM": "embedding",
    "SONE": "embedding",
    "Charting": "embedding",
    "MappedEmbedding": "embedding",
    "OutOfSample": "embedding",
    "MVU": "embedding",
    "DiscriminativeEmbedding": "embedding",
    "LearnedMetric": "core.metric",
    "as_metric": "core.metric",
}

__all__ = ["__version__", *_HOME]


def __getattr__(name: str) -> Any:
    """Import a public estimator, or a subpackage, when it is first asked for."""
    if name in _HOME:
        return getattr(import_module(f"protolearn.{_HOME[name]}"), name)
    try:
        return import_module(f"protolearn.{name}")
    except ModuleNotFoundError as error:
        if error.name != f"protolearn.{name}":
            raise
        raise AttributeError(f"module 'protolearn' has no attribute {name!r}") from None


def __dir__() -> list[str]:
    return sorted(__all__)
