"""Neighbor embeddings: affinities of the data and of the view, and the forces between them."""
