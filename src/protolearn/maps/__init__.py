"""Topographic maps of vectors: k-means, neural gas and the self-organising map on one engine."""

from protolearn.maps._classifier import PrototypeClassifier
from protolearn.maps._kmeans import KMeans
from protolearn.maps._neural_gas import NeuralGas
from protolearn.maps._som import SOM

__all__ = ["SOM", "KMeans", "NeuralGas", "PrototypeClassifier"]
