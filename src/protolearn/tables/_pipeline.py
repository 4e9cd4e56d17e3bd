"""Pipelines from tables to estimators."""

from __future__ import annotations

from typing import Any

from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from protolearn.tables._preparation import CATEGORIES, NUMBERS, TablePreparation

__all__ = ["table_pipeline"]


def table_pipeline(preparation: TablePreparation, estimator: Any) -> Pipeline:
    """Return a pipeline that prepares a raw table for an estimator.

    Missing numbers and dates are replaced by the median, and all numbers and dates are scaled to unit variance.
    Categories are one-hot encoded; a category that did not occur in training is encoded as zeros.

    Parameters
    ----------
    preparation : TablePreparation
        Fitted preparation, which defines the columns.
    estimator : estimator
        Estimator that learns from the prepared table.

    Returns
    -------
    pipeline : Pipeline
        Pipeline with the steps ``"table"`` (the preparation), ``"columns"`` and ``"model"``. Without the first step,
        ``pipeline[1:]`` takes prepared tables and can be passed to `protolearn.lvq.explain` and related functions.

    Examples
    --------
    >>> import pandas as pd
    >>> from protolearn import GMLVQ
    >>> from protolearn.tables import TablePreparation, table_pipeline
    >>> table = pd.DataFrame({"age": [30, None, 60, 70], "smoker": ["no", "no", "yes", "no"], "ill": list("nnyy")})
    >>> pipeline = table_pipeline(TablePreparation("ill").fit(table), GMLVQ()).fit(table, table["ill"])
    >>> print(*pipeline.predict(table))
    n n y y
    """
    numbers = make_pipeline(SimpleImputer(strategy="median", keep_empty_features=True), StandardScaler())
    encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    parts = [
        ("number", numbers, preparation.names_of(*NUMBERS)),
        ("category", encoder, preparation.names_of(*CATEGORIES)),
    ]
    columns = ColumnTransformer([part for part in parts if part[2]])
    return Pipeline([("table", preparation), ("columns", columns), ("model", estimator)])
