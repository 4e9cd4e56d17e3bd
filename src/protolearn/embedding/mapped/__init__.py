"""Views by a mapping: costs of a view, mappings, and new samples."""
