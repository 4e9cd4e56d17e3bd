"""Embeddings (views) of data: neighbor embeddings, topographic embeddings, charting and explicit mappings."""

from protolearn.embedding._charting import Charting
from protolearn.embedding._classical import ClassicalMDS
from protolearn.embedding._following import ViewState
from protolearn.embedding._mapped import MappedEmbedding
from protolearn.embedding._mvu import MVU
from protolearn.embedding._out_of_sample import OutOfSample
from protolearn.embedding._sone import SONE
from protolearn.embedding._tsne import SNE, TSNE
from protolearn.embedding._xom import XOM
from protolearn.embedding.discriminative import (
    DiscriminativeEmbedding,
    class_aware_distances,
    discriminative_distances,
    fisher_distances,
    local_projection,
)

__all__ = [
    "MVU",
    "SNE",
    "SONE",
    "TSNE",
    "XOM",
    "Charting",
    "ClassicalMDS",
    "DiscriminativeEmbedding",
    "MappedEmbedding",
    "OutOfSample",
    "ViewState",
    "class_aware_distances",
    "discriminative_distances",
    "fisher_distances",
    "local_projection",
]
