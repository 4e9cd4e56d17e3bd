"""Quality measures of maps, embeddings (views), classifiers and retrieval.

The functions accept a fitted estimator, or arrays where these are sufficient.
"""

from protolearn.core.fitted import quantization_error
from protolearn.core.names import gone
from protolearn.metrics._coranking import (
    b_nx,
    coranking_matrix,
    extrusions,
    intrusions,
    lcmc,
    q_nx,
    r_nx,
)
from protolearn.metrics._dimension import intrinsic_dimension
from protolearn.metrics._distances import distance_correlation, sammon_stress, stress
from protolearn.metrics._images import precision_at_k, precision_curve, psnr
from protolearn.metrics._margins import (
    MarginBound,
    classification_margins,
    margin_bound,
    margin_error,
    posterior_margin_bound,
    ramp_loss,
)
from protolearn.metrics._neighborhoods import (
    continuity,
    map_continuity,
    map_trustworthiness,
    nearest_neighbor_error,
    neighborhood_hit,
    trustworthiness,
)
from protolearn.metrics._reconstruction import ReconstructionBound, reconstruction_bound, reconstruction_error
from protolearn.metrics._topography import (
    intra_cluster_cost,
    magnification_exponent,
    map_entropy,
    topographic_error,
    topographic_function,
    topographic_product,
)
from protolearn.metrics._views import PointQuality, ViewQuality, point_quality, view_quality

__all__ = [
    "MarginBound",
    "PointQuality",
    "ReconstructionBound",
    "ViewQuality",
    "b_nx",
    "classification_margins",
    "continuity",
    "coranking_matrix",
    "distance_correlation",
    "extrusions",
    "intra_cluster_cost",
    "intrinsic_dimension",
    "intrusions",
    "lcmc",
    "magnification_exponent",
    "map_continuity",
    "map_entropy",
    "map_trustworthiness",
    "margin_bound",
    "margin_error",
    "nearest_neighbor_error",
    "neighborhood_hit",
    "point_quality",
    "posterior_margin_bound",
    "precision_at_k",
    "precision_curve",
    "psnr",
    "q_nx",
    "quantization_error",
    "r_nx",
    "ramp_loss",
    "reconstruction_bound",
    "reconstruction_error",
    "sammon_stress",
    "stress",
    "topographic_error",
    "topographic_function",
    "topographic_product",
    "trustworthiness",
    "view_quality",
]

__getattr__ = gone(
    __name__,
    {
        "dual_cost": "Use dual_cost_ of a fitted map.",
        "r_nx_auc": "Use view_quality(X, Y).auc.",
        "q_local_global": "Use q_local, q_global and k_max of view_quality(X, Y).",
    },
)
