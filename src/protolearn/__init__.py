"""Prototype-based learning with adaptive distances, for scikit-learn.

Public names are imported on first use, so ``import protolearn`` costs next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # what `_HOME` says, in a form that editors and type checkers read
    from protolearn.core.metric import LearnedMetric as LearnedMetric
    from protolearn.core.metric import as_metric as as_metric
    from protolearn.deployment import load as load
    from protolearn.deployment import save as save
    from protolearn.deployment import to_onnx as to_onnx
    from protolearn.embedding import MVU as MVU
    from protolearn.embedding import SNE as SNE
    from protolearn.embedding import SONE as SONE
    from protolearn.embedding import TSNE as TSNE
    from protolearn.embedding import XOM as XOM
    from protolearn.embedding import Charting as Charting
    from protolearn.embedding import ClassicalMDS as ClassicalMDS
    from protolearn.embedding import DiscriminativeEmbedding as DiscriminativeEmbedding
    from protolearn.embedding import MappedEmbedding as MappedEmbedding
    from protolearn.embedding import OutOfSample as OutOfSample
    from protolearn.lvq import CIALVQ as CIALVQ
    from protolearn.lvq import GLVQ as GLVQ
    from protolearn.lvq import GMLVQ as GMLVQ
    from protolearn.lvq import GRLVQ as GRLVQ
    from protolearn.lvq import LFDA as LFDA
    from protolearn.lvq import LGMLVQ as LGMLVQ
    from protolearn.lvq import LGRLVQ as LGRLVQ
    from protolearn.lvq import LMNN as LMNN
    from protolearn.lvq import LPP as LPP
    from protolearn.lvq import LVQ1 as LVQ1
    from protolearn.lvq import LVQ21 as LVQ21
    from protolearn.lvq import RSLVQ as RSLVQ
    from protolearn.lvq import LLiRaMLVQ as LLiRaMLVQ
    from protolearn.maps import NGPCA as NGPCA
    from protolearn.maps import SOM as SOM
    from protolearn.maps import VQPCA as VQPCA
    from protolearn.maps import KMeans as KMeans
    from protolearn.maps import MatrixKMeans as MatrixKMeans
    from protolearn.maps import MatrixNeuralGas as MatrixNeuralGas
    from protolearn.maps import MatrixSOM as MatrixSOM
    from protolearn.maps import MixturePPCA as MixturePPCA
    from protolearn.maps import NeuralGas as NeuralGas
    from protolearn.maps import OutlierDetector as OutlierDetector
    from protolearn.maps import PrototypeClassifier as PrototypeClassifier
    from protolearn.relational import MedianGLVQ as MedianGLVQ
    from protolearn.relational import MedianKMeans as MedianKMeans
    from protolearn.relational import MedianNeuralGas as MedianNeuralGas
    from protolearn.relational import MedianSOM as MedianSOM
    from protolearn.relational import PairwiseAnnealing as PairwiseAnnealing
    from protolearn.relational import RelationalGLVQ as RelationalGLVQ
    from protolearn.relational import RelationalKMeans as RelationalKMeans
    from protolearn.relational import RelationalNeuralGas as RelationalNeuralGas
    from protolearn.relational import RelationalSOM as RelationalSOM

__version__ = "0.2.0"

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
    "RelationalGLVQ": "relational",
    "MedianGLVQ": "relational",
    "PrototypeClassifier": "maps",
    "OutlierDetector": "maps",
    "LVQ1": "lvq",
    "LVQ21": "lvq",
    "RSLVQ": "lvq",
    "GLVQ": "lvq",
    "GRLVQ": "lvq",
    "LGRLVQ": "lvq",
    "GMLVQ": "lvq",
    "LGMLVQ": "lvq",
    "LLiRaMLVQ": "lvq",
    "LMNN": "lvq",
    "CIALVQ": "lvq",
    "LFDA": "lvq",
    "LPP": "lvq",
    "SNE": "embedding",
    "TSNE": "embedding",
    "XOM": "embedding",
    "SONE": "embedding",
    "Charting": "embedding",
    "ClassicalMDS": "embedding",
    "MappedEmbedding": "embedding",
    "OutOfSample": "embedding",
    "MVU": "embedding",
    "DiscriminativeEmbedding": "embedding",
    "LearnedMetric": "core.metric",
    "as_metric": "core.metric",
    "save": "deployment",
    "load": "deployment",
    "to_onnx": "deployment",
}

#: The estimators, but no functions, so that ``from protolearn import *`` does not replace a ``load`` of another origin.
__all__ = ["__version__", *(name for name in _HOME if name[0].isupper())]


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
    return sorted(["__version__", *_HOME])
