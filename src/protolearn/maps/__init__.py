"""Topographic maps of vectors: k-means, neural gas and the self-organizing map on one engine."""

from protolearn.core.learning import Patches
from protolearn.core.neighborhoods import OnLattice, Ranks, Soft, Winner
from protolearn.maps._base import Online, PrototypeMap
from protolearn.maps._classifier import PrototypeClassifier
from protolearn.maps._kmeans import KMeans
from protolearn.maps._local_pca import VQPCA, MixturePPCA
from protolearn.maps._matrix import MatrixKMeans, MatrixNeuralGas, MatrixSOM
from protolearn.maps._neural_gas import NeuralGas
from protolearn.maps._ngpca import NGPCA
from protolearn.maps._outliers import OutlierDetector
from protolearn.maps._shaped import ShapedMap
from protolearn.maps._som import SOM

__all__ = [
    "NGPCA",
    "SOM",
    "VQPCA",
    "KMeans",
    "MatrixKMeans",
    "MatrixNeuralGas",
    "MatrixSOM",
    "MixturePPCA",
    "NeuralGas",
    "OnLattice",
    "Online",
    "OutlierDetector",
    "Patches",
    "PrototypeClassifier",
    "PrototypeMap",
    "Ranks",
    "ShapedMap",
    "Soft",
    "Winner",
]
