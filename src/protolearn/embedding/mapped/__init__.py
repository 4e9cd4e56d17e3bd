"""Embeddings by a mapping: costs of a view, mappings, and out-of-sample extension."""
