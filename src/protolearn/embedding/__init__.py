"""Embeddings (views) of data: neighbor embeddings, topographic embeddings, charting and explicit mappings."""

from protolearn.embedding._discriminative import DiscriminativeEmbedding
from protolearn.embedding.charts._charting import Charting
from protolearn.embedding.charts._mvu import MVU
from protolearn.embedding.discriminative import (
    class_aware_distances,
    discriminative_distances,
    fisher_distances,
    local_projection,
)
from protolearn.embedding.mapped._classical import ClassicalMDS
from protolearn.embedding.mapped._mapped import MappedEmbedding
from protolearn.embedding.mapped._out_of_sample import OutOfSample
from protolearn.embedding.neighbor._following import ViewState
from protolearn.embedding.neighbor._sne import SNE, TSNE
from protolearn.embedding.topographic._sone import SONE
from protolearn.embedding.topographic._xom import XOM

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
