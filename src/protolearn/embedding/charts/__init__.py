"""Charts of data around the prototypes of a model, and views that glue them together or unfold them."""

from protolearn.embedding.charts._charts import Charts, Gating, charts_of, fitted_model

__all__ = ["Charts", "Gating", "charts_of", "fitted_model"]
