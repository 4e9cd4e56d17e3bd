"""LVQ classifiers with learned metrics, their components, and related metric learners (LMNN, LFDA, LPP)."""

from protolearn.lvq._base import LVQClassifier
from protolearn.lvq._callback import TrainingState
from protolearn.lvq._cialvq import CIALVQ
from protolearn.lvq._glvq import GLVQ, GRLVQ, LGRLVQ
from protolearn.lvq._gmlvq import GMLVQ, LGMLVQ, LLiRaMLVQ
from protolearn.lvq._lfda import LFDA
from protolearn.lvq._lmnn import LMNN
from protolearn.lvq._lpp import LPP
from protolearn.lvq._lvq1 import LVQ1, LVQ21
from protolearn.lvq._request import Category, InputTable, Mixing, Number, Unused
from protolearn.lvq._rslvq import RSLVQ
from protolearn.lvq._tangent import TangentMetric
from protolearn.lvq._units import (
    PrototypeTable,
    counterfactual,
    explain,
    prototype_table,
    prototypes_in_units,
    table_of,
)
from protolearn.lvq.reading import Counterfactuals, Explanation
from protolearn.lvq.relevance import (
    DiagonalMetric,
    EuclideanMetric,
    MatrixMetric,
    Metric,
    MinkowskiMetric,
    ProductMetric,
    Relevance,
    canonical_matrix,
    mean_canonical_matrix,
)
from protolearn.lvq.solvers import LBFGS, SGD, SOLVERS, Adam, Solver, Waypoint
from protolearn.lvq.spectral import difference_of_gaussians_bank, gabor_bank
from protolearn.lvq.stability import RelevanceStability, relevance_stability

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
    "LPP",
    "LVQ1",
    "LVQ21",
    "RSLVQ",
    "SGD",
    "SOLVERS",
    "Adam",
    "Category",
    "Counterfactuals",
    "DiagonalMetric",
    "EuclideanMetric",
    "Explanation",
    "InputTable",
    "LLiRaMLVQ",
    "LVQClassifier",
    "MatrixMetric",
    "Metric",
    "MinkowskiMetric",
    "Mixing",
    "Number",
    "ProductMetric",
    "PrototypeTable",
    "Relevance",
    "RelevanceStability",
    "Solver",
    "TangentMetric",
    "TrainingState",
    "Unused",
    "Waypoint",
    "canonical_matrix",
    "counterfactual",
    "difference_of_gaussians_bank",
    "explain",
    "gabor_bank",
    "mean_canonical_matrix",
    "prototype_table",
    "prototypes_in_units",
    "relevance_stability",
    "table_of",
]
