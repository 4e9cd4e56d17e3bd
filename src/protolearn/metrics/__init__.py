"""How good is a map? Quantisation, preservation of neighbourhoods, and how the prototypes follow the data density.

Functions take a fitted estimator, or plain arrays where these are enough.
"""

from protolearn.metrics._magnification import magnification_exponent, map_entropy
from protolearn.metrics._neighbourhood import continuity, map_continuity, map_trustworthiness, trustworthiness
from protolearn.metrics._quantization import quantization_error
from protolearn.metrics._topography import topographic_error, topographic_function, topographic_product

__all__ = [
    "continuity",
    "magnification_exponent",
    "map_continuity",
    "map_entropy",
    "map_trustworthiness",
    "quantization_error",
    "topographic_error",
    "topographic_function",
    "topographic_product",
    "trustworthiness",
]
