"""Dissimilarities of strings, texts, sets, sequences and vectors, and the geometry of dissimilarity matrices."""

from protolearn.dissimilarities._alignment import alignment
from protolearn.dissimilarities._compression import ncd
from protolearn.dissimilarities._geodesic import geodesic, shortest_paths
from protolearn.dissimilarities._geometry import (
    Signature,
    check_dissimilarities,
    checked_with_scale,
    clip_spectrum,
    flip_spectrum,
    gram_matrix,
    pseudo_euclidean,
    signature,
    spectrum,
    spread_transform,
    spread_value,
    symmetrized,
)
from protolearn.dissimilarities._pairwise import METRICS, VECTOR_METRICS, is_metric, metric_name, pairwise
from protolearn.dissimilarities._series import dtw
from protolearn.dissimilarities._source import Dissimilarities
from protolearn.dissimilarities._strings import cyclic_edit, edit, hamming, jaccard
from protolearn.dissimilarities._transport import emd
from protolearn.dissimilarities._vectors import (
    chebyshev,
    cosine,
    directions,
    euclidean,
    manhattan,
    minkowski,
    pearson,
    sqeuclidean,
    tanimoto,
)

__all__ = [
    "METRICS",
    "VECTOR_METRICS",
    "Dissimilarities",
    "Signature",
    "alignment",
    "chebyshev",
    "check_dissimilarities",
    "checked_with_scale",
    "clip_spectrum",
    "cosine",
    "cyclic_edit",
    "directions",
    "dtw",
    "edit",
    "emd",
    "euclidean",
    "flip_spectrum",
    "geodesic",
    "gram_matrix",
    "hamming",
    "is_metric",
    "jaccard",
    "manhattan",
    "metric_name",
    "minkowski",
    "ncd",
    "pairwise",
    "pearson",
    "pseudo_euclidean",
    "shortest_paths",
    "signature",
    "spectrum",
    "spread_transform",
    "spread_value",
    "sqeuclidean",
    "symmetrized",
    "tanimoto",
]
