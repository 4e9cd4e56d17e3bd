"""Prototypes, explanations and counterfactuals of a pipeline in the columns and units of its input table."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from protolearn.core.fitted import Parts, is_relational, take_apart, take_map_apart
from protolearn.core.printing import Printed, Sheet, import_pandas
from protolearn.core.types import Array, Floats
from protolearn.lvq._columns import NoUnits, is_plain, table_behind
from protolearn.lvq._request import (
    Category,
    InputTable,
    Number,
    find_counterfactuals,
    is_missing,
    known_ranges,
    read_request,
)
from protolearn.lvq.reading import Counterfactuals, Explanation, contributions, shown

__all__ = ["PrototypeTable", "counterfactual", "explain", "prototype_table", "prototypes_in_units", "table_of"]


def prototypes_in_units(model: Any) -> Array:
    """Return the prototypes of a fitted model, or of a pipeline that ends in one, in the units of the data.

    Parameters
    ----------
    model : estimator or Pipeline
        Fitted model whose prototypes are vectors. The steps of a pipeline before the model are inverted: scalers, PCA
        and other transformers with an inverse, ``ColumnTransformer`` block by block, category encoders, imputers and
        feature selectors.

    Returns
    -------
    prototypes : ndarray of shape (k, n_features)
        The prototypes in the form of samples. A categorical feature has its most likely category, and a feature that
        the model does not use is NaN. With categorical features, the array has dtype object. If a step cannot be
        inverted, a warning is issued, and the prototypes are in the input columns of the model.

    See Also
    --------
    prototype_table : Prototypes with the names of the features and the shares of the categories.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from protolearn import GLVQ
    >>> from protolearn.lvq import prototypes_in_units
    >>> X, y = load_iris(return_X_y=True)
    >>> pipeline = make_pipeline(StandardScaler(), GLVQ()).fit(X, y)
    >>> prototypes_in_units(pipeline)[0].round()
    array([5., 3., 1., 0.])
    """
    table = prototype_table(model)
    if table.note:
        warnings.warn(table.note, UserWarning, stacklevel=2)
    return table.values


@dataclass(frozen=True, repr=False)
class PrototypeTable(Printed):
    """Table of prototypes in the features and units of the samples, as far as the steps of a pipeline can be inverted.

    Attributes
    ----------
    values : ndarray of shape (k, n_features)
        The prototypes in the form of samples. A categorical feature has its most likely category, and a feature that
        the model does not use is NaN. With categorical features, the array has dtype object.
    shares : ndarray of shape (k, n_features)
        Share of the most likely category in each prototype, from 0 to 1. NaN for numerical features, and where a single
        number encodes several categories.
    feature_names : ndarray of shape (n_features,)
        Names of the features.
    labels : ndarray of shape (k,) or None
        Class of each prototype; None if the model has no classes.
    note : str
        Explains which step cannot be inverted, in which case the columns are the input columns of the model; empty if
        all steps are inverted.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from protolearn import GLVQ
    >>> from protolearn.lvq import prototype_table
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> table = prototype_table(make_pipeline(StandardScaler(), GLVQ(random_state=0)).fit(X, y))
    >>> table.to_frame().shape, table.note
    ((3, 4), '')
    """

    values: Array
    shares: Floats
    feature_names: Array
    labels: Array | None
    note: str = ""

    __repr__ = Printed.__str__

    def to_frame(self) -> Any:
        """Return the prototypes as a pandas DataFrame, with the shares of categories in separate columns.

        Returns
        -------
        frame : DataFrame
            A row for each prototype, indexed by its class if there are classes.
        """
        pd = import_pandas()
        index = pd.RangeIndex(len(self.values), name="prototype")
        index = index if self.labels is None else pd.Index(self.labels, name="class")
        frame = pd.DataFrame({}, index=index)
        for name, column, shares in zip(self.feature_names, self.values.T, self.shares.T):
            frame[name] = column
            if not np.isnan(shares).all():
                frame[f"{name} share"] = shares
        return frame.infer_objects()

    def _sheet(self) -> Sheet:
        names = list(map(str, range(len(self.values)) if self.labels is None else self.labels))
        cells = [
            [shown(value) if np.isnan(share) else f"{value} ({share:.0%})" for value, share in zip(row, shares)]
            for row, shares in zip(self.values, self.shares)
        ]
        # Features are rows: they have names, and there are often more of them than prototypes.
        rows = [[str(name), *column] for name, column in zip(self.feature_names, zip(*cells))]
        return Sheet(self.note, ["feature" if self.labels is None else "class", *names], rows)


def prototype_table(model: Any, prototypes: ArrayLike | None = None) -> PrototypeTable:
    """Return the prototypes of a fitted model or pipeline as a table, with the feature names and units of the data.

    Parameters
    ----------
    model : estimator or Pipeline
        Fitted model whose prototypes are vectors: a map, a classifier, or a pipeline that ends in one.
    prototypes : array-like of shape (k, N), optional
        Other vectors in the input columns of the model, such as modified prototypes; by default the prototypes of the
        model.

    Returns
    -------
    table : PrototypeTable
        Values, names, shares of categories and classes. It prints as a table and can be converted with ``to_frame``.

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn.compose import make_column_transformer
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import OneHotEncoder, StandardScaler
    >>> from protolearn import KMeans
    >>> from protolearn.lvq import prototype_table
    >>> X = pd.DataFrame({"age": [30, 40, 60, 70], "smoker": ["no", "no", "yes", "no"]})
    >>> columns = make_column_transformer((StandardScaler(), ["age"]), (OneHotEncoder(), ["smoker"]))
    >>> print(prototype_table(make_pipeline(columns, KMeans(1)).fit(X)))
    feature         0
    age            50
    smoker   no (75%)
    """
    parts = take_map_apart(model)
    check_is_fitted(parts.last)
    if prototypes is None and not hasattr(parts.last, "prototypes_"):
        kind = "represents prototypes by dissimilarities only" if is_relational(parts.last) else "has no prototypes_"
        raise ValueError(
            f"Units require prototypes that are vectors, but {type(parts.last).__name__} {kind}. Give a map or "
            "classifier of vectors, such as SOM or GMLVQ, or a pipeline that ends in one."
        )
    W = np.asarray(parts.last.prototypes_ if prototypes is None else prototypes)
    labels = getattr(take_apart(model).last, "prototype_labels_", None)
    values, note = W, ""
    shares = None
    names = parts.names_out(W.shape[1])
    if parts.before is not None:
        try:
            values, shares, names = _undone(parts, W)
        except NoUnits as error:
            note = f"{error} The values are in the input columns of {type(parts.last).__name__}."
    shares = np.full(values.shape, np.nan) if shares is None else shares
    return PrototypeTable(values, shares, names, labels if labels is not None and len(labels) == len(W) else None, note)


def table_of(model: Any) -> InputTable:
    """Return the input features of a classifier or pipeline, and the columns into which they are transformed.

    Parameters
    ----------
    model : classifier or Pipeline
        A fitted classifier, or a pipeline that ends in one.

    Returns
    -------
    table : Table
        Table with a `Number`, a `Category`, or `Unused` for each feature. A pipeline whose steps mix columns or cannot
        be inverted raises an error.

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn.compose import make_column_transformer
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import OneHotEncoder, StandardScaler
    >>> from protolearn import GMLVQ
    >>> from protolearn.lvq import table_of
    >>> X = pd.DataFrame({"age": [30, 40, 60, 70], "smoker": ["no", "no", "yes", "no"]})
    >>> columns = make_column_transformer((StandardScaler(), ["age"]), (OneHotEncoder(), ["smoker"]))
    >>> pipeline = make_pipeline(columns, GMLVQ()).fit(X, ["well", "well", "ill", "ill"])
    >>> age, smoker = table_of(pipeline).features
    >>> age.back(np.zeros(1)), smoker.categories.tolist(), smoker.columns.tolist()
    (array([50.]), ['no', 'yes'], [1, 2])
    """
    parts = take_apart(model)
    check_is_fitted(parts.last)
    if parts.before is not None:
        return table_behind(parts)
    return InputTable.of_numbers(parts.names_in())


def explain(model: Any, X: Any) -> Explanation:
    """Return the prototypes and table features that determined the class of each sample.

    Parameters
    ----------
    model : LVQClassifier or Pipeline
        A fitted classifier, a pipeline that ends in one, or a search over either, such as ``GridSearchCV``.
    X : array-like of shape (n_samples, n_features)
        Samples in the input format of the pipeline.

    Returns
    -------
    explanation : Explanation
        Explanation as returned by the classifier's ``explain``, with one contribution for each feature of the table.
        The contributions of the columns that encode a category are summed.

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn.compose import make_column_transformer
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import OneHotEncoder, StandardScaler
    >>> from protolearn import GMLVQ
    >>> from protolearn.lvq import explain
    >>> X = pd.DataFrame({"age": [30, 40, 60, 70], "smoker": ["no", "no", "yes", "no"]})
    >>> columns = make_column_transformer((StandardScaler(), ["age"]), (OneHotEncoder(), ["smoker"]))
    >>> pipeline = make_pipeline(columns, GMLVQ()).fit(X, ["well", "well", "ill", "ill"])
    >>> explanation = explain(pipeline, X)
    >>> explanation.feature_names, explanation.contributions.shape
    (array(['age', 'smoker'], dtype=object), (4, 2))
    """
    parts = _classifier_parts(model, "explain")
    if parts.before is None:
        return parts.last.explain(X)
    plain = parts.last.explain(parts.transform(X))
    try:
        table = table_of(model)
    except NoUnits as error:
        _warn_of_columns(parts, error)
        return replace(plain, feature_names=parts.names_out(plain.contributions.shape[1]))
    pieces = plain.contributions
    if table.mixing is not None:  # |A (Z - W)|^2 = |A slopes (R - back(W))|^2
        A, slots = parts.last._matrices("explain")
        A, W = table.mixing.folded(A), table.mixing.back(parts.last.prototypes_)
        R = table.prepare(X).astype(np.float64)
        pieces = contributions(R, W, A, slots, plain.rival_prototypes) - contributions(R, W, A, slots, plain.prototypes)
    sums = [pieces[:, feature.columns].sum(axis=1) for feature in table.features]
    return replace(plain, contributions=np.stack(sums, axis=1), feature_names=table.names)


def counterfactual(
    model: Any,
    X: Any,
    target: Any = None,
    *,
    fixed: Any = None,
    bounds: Any = "training",
    increasing: Any = None,
    decreasing: Any = None,
    integers: Any = None,
    groups: Any = None,
    sparse: bool = False,
    margin: float = 0.0,
    length: str = "metric",
) -> Counterfactuals:
    """Return the smallest allowed change of each sample that changes its predicted class, in the features of a table.

    This function extends the method `LVQClassifier.counterfactual` to pipelines, in the units of their input. A
    categorical feature changes from one category to another and counts as one feature. Boolean columns stay boolean,
    and missing values stay missing.

    Parameters
    ----------
    model : LVQClassifier or Pipeline
        A fitted classifier, a pipeline that ends in one, or a search over either, such as ``GridSearchCV``.
    X : array-like of shape (n_samples, n_features)
        Samples in the input format of the pipeline.
    target : object, optional
        Class to reach; by default any other class.
    fixed : list of features, optional
        Features that must not change.
    bounds : dict, "training" or None, default="training"
        Smallest and largest allowed value of a numerical feature, as a pair in which None stands for no bound; or the
        list of allowed categories of a categorical feature. The values of other features stay within those of the
        training samples; a value outside of them may stay as it is. None allows all values. Behind steps that mix
        features, such as PCA, the ranges of the training samples are not known, and a warning says so.
    increasing, decreasing : list of features, optional
        Numerical features that may only increase, or only decrease.
    integers : list of features, optional
        Numerical features that must take integer values.
    groups : list of lists of features, optional
        Groups of features of which exactly one is 1 and the others are 0, if the table contains one-hot encoded
        categories.
    sparse : bool, default=False
        Whether to change as few features as possible, and these as little as possible.
    margin : float, default=0.0
        Minimum confidence of the changed sample in its new class.
    length : {"metric", "euclidean"}, default="metric"
        How changes are measured: in the learned metric, or with the same weight for all input columns of the
        classifier. After a ``StandardScaler`` their unit is the standard deviation.

    Returns
    -------
    counterfactuals : Counterfactuals
        Counterfactuals in the units of X. ``samples`` is a DataFrame if X is a DataFrame.

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn.compose import make_column_transformer
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import OneHotEncoder, StandardScaler
    >>> from protolearn import GMLVQ
    >>> from protolearn.lvq import counterfactual
    >>> X = pd.DataFrame({"age": [30, 50, 45, 65], "smoker": ["no", "no", "yes", "yes"]})
    >>> columns = make_column_transformer((StandardScaler(), ["age"]), (OneHotEncoder(), ["smoker"]))
    >>> pipeline = make_pipeline(columns, GMLVQ()).fit(X, ["well", "well", "ill", "ill"])
    >>> print(counterfactual(pipeline, X[2:3], fixed=["age"]).table())
    ill becomes well with
      smoker  yes -> no
    """
    request = {
        "fixed": fixed,
        "bounds": bounds,
        "increasing": increasing,
        "decreasing": decreasing,
        "integers": integers,
        "groups": groups,
    }
    how: dict[str, Any] = {"sparse": sparse, "margin": margin, "length": length}
    parts = _classifier_parts(model, "counterfactual")
    if parts.before is None:
        return parts.last.counterfactual(X, target, **request, **how)
    seen = parts.transform(X)
    try:
        table = table_of(model)
    except NoUnits as error:
        _warn_of_columns(parts, error)
        Z = parts.last._check_new(seen).astype(np.float64)
        table = InputTable.of_numbers(parts.names_out(Z.shape[1]))
        asked = read_request(table, ranges=known_ranges(parts.last, table, bounds), **request)
        return find_counterfactuals(parts.last, Z, Z, Z, lambda row, s: (row, row), asked, target, **how)
    mixed = not all(isinstance(feature, Number) for feature in table.features)
    rows = np.array(X, dtype=object if mixed else np.float64)

    def columns(given: Any, seen: Any) -> tuple[Floats, Floats]:
        checked = parts.last._check_new(seen).astype(np.float64)
        return (checked if table.mixing is None else table.prepare(given).astype(np.float64)), checked

    def renewed(row: Array, s: int) -> tuple[Floats, Floats]:
        new = _as_given(X[s : s + 1], row[None], rows[[s]])
        (made,), (checked,) = columns(new, parts.transform(new))
        return made, checked

    flags = [i for i, dtype in enumerate(getattr(X, "dtypes", ())) if getattr(dtype, "kind", "") == "b"]
    asked = read_request(table, ranges=known_ranges(parts.last, table, bounds), flags=flags, **request)
    found = find_counterfactuals(parts.last, rows, *columns(X, seen), renewed, asked, target, **how)
    return replace(found, samples=_as_given(X, found.samples, rows))


def _classifier_parts(model: Any, wanted: str) -> Parts:
    """Return the parts of a fitted LVQ classifier or pipeline, or raise an error that says which models have them."""
    parts = take_apart(model)
    if not hasattr(parts.last, wanted):
        raise TypeError(
            f"{wanted} is not available for {type(parts.last).__name__}: it requires prototypes in a learned metric. "
            "Give a fitted classifier of protolearn.lvq, such as GMLVQ, or a pipeline or search that ends in one."
        )
    check_is_fitted(parts.last)
    return parts


def _warn_of_columns(parts: Parts, error: NoUnits) -> None:
    warnings.warn(
        f"{error} The result is in the input columns of {type(parts.last).__name__}.", UserWarning, stacklevel=3
    )


def _as_given(X: Any, samples: Array, rows: Array) -> Any:
    """Return samples as a frame if X is one: columns that differ from rows are new, of the same type if possible."""
    if not hasattr(X, "iloc"):
        return samples
    frame = X.copy()
    for j in range(rows.shape[1]):
        changed = [not is_missing(row) and row != new for row, new in zip(rows[:, j], samples[:, j])]
        if any(changed):
            column = X.iloc[:, j]
            values = type(column)(samples[:, j].tolist(), index=column.index)
            broken = column.dtype.kind in "iu" and (values.dropna() % 1 != 0).any()
            frame.isetitem(j, values if broken or column.dtype.kind == "f" else values.astype(column.dtype))
    return frame


def _undone(parts: Parts, W: Array) -> tuple[Array, Floats | None, Array]:
    """Return rows (k, N) of what a model sees in units, the shares of their categories, and the names of features."""
    assert parts.before is not None
    if is_plain(parts.before):
        return np.asarray(parts.before.inverse_transform(W)), None, parts.names_in()
    try:
        table = table_behind(parts)
    except NoUnits:
        if not hasattr(parts.before, "inverse_transform"):
            raise
        return np.asarray(parts.before.inverse_transform(W)), None, parts.names_in()
    R = W if table.mixing is None else table.mixing.back(W)
    values = np.full((len(W), len(table.features)), np.nan, dtype=object)
    shares = np.full(values.shape, np.nan)
    for i, feature in enumerate(table.features):
        if isinstance(feature, Number):
            values[:, i] = feature.back(R[:, feature.columns[0]])
        elif isinstance(feature, Category):
            chosen, shares[:, i] = _likeliest(R[:, feature.columns], feature.rows)
            values[:, i] = feature.categories[chosen]
    mixed = any(isinstance(feature, Category) for feature in table.features)
    return (values if mixed else values.astype(np.float64)), shares, table.names


def _likeliest(values: Floats, rows: Floats) -> tuple[Array, Floats]:
    """Return the number of the likeliest category for values (k, m) of columns, and its share.

    Values are a mixture of the rows (c, m) of categories, with shares that sum to one. If several mixtures give the
    same values, as with a code of one number, the nearest row is chosen, and its share is not known.
    """
    spans = np.ptp(rows, axis=0)
    scale = np.where(spans > 0, spans, 1.0)
    codes, first = np.unique(rows / scale, axis=0, return_index=True)
    if np.linalg.matrix_rank(np.column_stack([codes, np.ones(len(codes))])) < len(codes):
        apart = ((values / scale)[:, None] - rows / scale) ** 2
        return apart.sum(axis=2).argmin(axis=1), np.full(len(values), np.nan)
    mixture = np.linalg.lstsq(
        np.column_stack([codes, np.ones(len(codes))]).T, np.column_stack([values / scale, np.ones(len(values))]).T
    )[0].T
    mixture = np.maximum(mixture, 0.0)
    mixture /= mixture.sum(axis=1, keepdims=True)
    best = mixture.argmax(axis=1)
    return first[best], mixture[np.arange(len(values)), best]
