"""Maps and LVQ of objects: strings, sequences, graphs, texts, or anything with a distance or a kernel."""

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
