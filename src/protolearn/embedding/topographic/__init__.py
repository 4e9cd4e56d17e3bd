"""Topographic embeddings: samples arranged among the sampling vectors of a structure."""
