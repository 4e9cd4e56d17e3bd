"""Maps and LVQ classifiers of strings, sequences, graphs, texts and other objects with a dissimilarity or kernel."""

from protolearn.relational._annealing import PairwiseAnnealing
from protolearn.relational._lvq import ObjectExplanation
from protolearn.relational._median import MedianKMeans, MedianNeuralGas, MedianSOM
from protolearn.relational._median_glvq import MedianGLVQ
from protolearn.relational._relational import RelationalKMeans, RelationalNeuralGas, RelationalSOM
from protolearn.relational._relational_glvq import RelationalGLVQ

__all__ = [
    "MedianGLVQ",
    "MedianKMeans",
    "MedianNeuralGas",
    "MedianSOM",
    "ObjectExplanation",
    "PairwiseAnnealing",
    "RelationalGLVQ",
    "RelationalKMeans",
    "RelationalNeuralGas",
    "RelationalSOM",
]
