"""How good is a map, or a classifier? Quantisation, neighbourhoods, density of the prototypes; margins of classes.

Functions take a fitted estimator, or plain arrays where these are enough.
"""

from protolearn.metrics._magnification import magnification_exponent, map_entropy
from protolearn.metrics._margins import (
    MarginBound,
    classification_margins,
    margin_bound,
    margin_error,
    posterior_margin_bound,
    ramp_loss,
)
from protolearn.metrics._mds import stress
from protolearn.metrics._neighbourhood import continuity, map_continuity, map_trustworthiness, trustworthiness
from protolearn.metrics._pictures import psnr
from protolearn.metrics._quantization import quantization_error
from protolearn.metrics._relational import dual_cost, intra_cluster_cost
from protolearn.metrics._topography import topographic_error, topographic_function, topographic_product

__all__ = [
    "MarginBound",
    "classification_margins",
    "continuity",
    "dual_cost",
    "intra_cluster_cost",
    "magnification_exponent",
    "map_continuity",
    "map_entropy",
    "map_trustworthiness",
    "margin_bound",
    "margin_error",
    "posterior_margin_bound",
    "psnr",
    "quantization_error",
    "ramp_loss",
    "stress",
    "topographic_error",
    "topographic_function",
    "topographic_product",
    "trustworthiness",
]
