"""Topographic embeddings: samples arranged among the points of a structure."""
