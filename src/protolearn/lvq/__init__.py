"""LVQ classifiers with learned metrics, the parts they are made of, and the metric learners they are compared with."""

from protolearn.lvq._cialvq import CIALVQ
from protolearn.lvq._glvq import GLVQ, GRLVQ, LGRLVQ
from protolearn.lvq._gmlvq import GMLVQ, LGMLVQ, LLiRaMLVQ
from protolearn.lvq._lfda import LFDA
from protolearn.lvq._lmnn import LMNN
from protolearn.lvq._lvq1 import LVQ1, LVQ21
from protolearn.lvq.filters import difference_of_gaussians_bank, gabor_bank
from protolearn.lvq.reading import Counterfactuals, Explanation, prototypes_in_units
from protolearn.lvq.relevance import (
    Diagonal,
    Identity,
    Matrix,
    Metric,
    Minkowski,
    Product,
    Relevance,
    canonical,
    mean_canonical,
)
from protolearn.lvq.solvers import LBFGS, SGD, Adam, Solver, Waypoint

__all__ = [
    "CIALVQ",
    "GLVQ",
    "GMLVQ",
    "GRLVQ",
    "LBFGS",
    "LFDA",
    "LGMLVQ",
    "LGRLVQ",
    "LMNN",
    "LVQ1",
    "LVQ21",
    "SGD",
    "Adam",
    "Counterfactuals",
    "Diagonal",
    "Explanation",
    "Identity",
    "LLiRaMLVQ",
    "Matrix",
    "Metric",
    "Minkowski",
    "Product",
    "Relevance",
    "Solver",
    "Waypoint",
    "canonical",
    "difference_of_gaussians_bank",
    "gabor_bank",
    "mean_canonical",
    "prototypes_in_units",
]
