"""Topographic maps of dissimilarities: strings, sequences, graphs, texts, or anything with a distance or a kernel."""

from protolearn.relational._annealing import PairwiseAnnealing
from protolearn.relational._median import MedianKMeans, MedianNeuralGas, MedianSOM
from protolearn.relational._relational import RelationalKMeans, RelationalNeuralGas, RelationalSOM

__all__ = [
    "MedianKMeans",
    "MedianNeuralGas",
    "MedianSOM",
    "PairwiseAnnealing",
    "RelationalKMeans",
    "RelationalNeuralGas",
    "RelationalSOM",
]
