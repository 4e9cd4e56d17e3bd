"""Views of data: neighbour embeddings under any divergence."""
