"""Views of data: neighbor embeddings under any divergence, topographic embeddings, charting, explicit mappings."""

from protolearn.embedding._charting import Charting
from protolearn.embedding._discriminative import DiscriminativeEmbedding
from protolearn.embedding._mapped import MappedEmbedding
from protolearn.embedding._mvu import MVU
from protolearn.embedding._out_of_sample import OutOfSample
from protolearn.embedding._sne import SNE, TSNE
from protolearn.embedding._sone import SONE
from protolearn.embedding._xom import XOM
from protolearn.embedding.discriminative import discriminative_distances, local_projection

__all__ = [
    "MVU",
    "SNE",
    "SONE",
    "TSNE",
    "XOM",
    "Charting",
    "DiscriminativeEmbedding",
    "MappedEmbedding",
    "OutOfSample",
    "discriminative_distances",
    "local_projection",
]
