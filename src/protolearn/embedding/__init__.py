"""Views of data: neighbour embeddings under any divergence, and topographic embeddings."""

from protolearn.embedding._sne import SNE, TSNE
from protolearn.embedding._sone import SONE
from protolearn.embedding._xom import XOM

__all__ = ["SNE", "SONE", "TSNE", "XOM"]
