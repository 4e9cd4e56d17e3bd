"""Local linear charts around the prototypes of a model, and embeddings that align or unfold them."""

from protolearn.embedding._charts import Charts, Gating, charts_of, fitted_model

__all__ = ["Charts", "Gating", "charts_of", "fitted_model"]
