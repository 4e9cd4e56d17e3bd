"""Reading a pipeline in the columns and units of its table: prototypes, explanations and counterfactuals.

The steps before the classifier are followed column by column. Scalers and other transformers that treat each column by
itself and can be inverted are undone, encoded categories are one feature, imputers and selectors leave values as they
are.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import OneToOneFeatureMixin
from sklearn.compose import ColumnTransformer
from sklearn.feature_selection import SelectorMixin
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer, Normalizer, OneHotEncoder
from sklearn.utils.validation import check_is_fitted

from protolearn.core.types import Array, Floats
from protolearn.lvq._request import (
    Category,
    Feature,
    Number,
    Table,
    Unused,
    find_counterfactuals,
    is_missing,
    read_request,
)
from protolearn.lvq.reading import Counterfactuals, Explanation

__all__ = ["counterfactual", "explain", "prototypes_in_units", "table_of"]


def prototypes_in_units(model: Any) -> Array:
    """Return the prototypes of a fitted classifier, or of a pipeline that ends in one, in the units of the data.

    Parameters
    ----------
    model : classifier or Pipeline
        Fitted. The steps of a pipeline before the last are undone: those with ``inverse_transform``, and behind a
        ``ColumnTransformer`` scalers, encoders of categories, imputers and selectors of features.

    Returns
    -------
    prototypes : ndarray of shape (k, n_features)
        The prototypes as if they were samples. A categorical feature has the category whose code is nearest to the
        prototype, and a feature that the classifier does not see is NaN. With categories, the array is one of objects.

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
    model = _unwrapped(model)
    if not isinstance(model, Pipeline):
        return model.prototypes_
    if hasattr(model[:-1], "inverse_transform"):
        return np.asarray(model[:-1].inverse_transform(model[-1].prototypes_))
    table = _table(model)
    typical = np.full((len(model[-1].prototypes_), len(table.features)), np.nan, dtype=object)
    for i, feature in enumerate(table.features):
        values = model[-1].prototypes_[:, feature.columns]
        if isinstance(feature, Number):
            typical[:, i] = feature.back(values[:, 0])
        elif isinstance(feature, Category):
            spans = np.ptp(feature.rows, axis=0)
            apart = (values[:, None] - feature.rows) / np.where(spans > 0, spans, 1.0)
            typical[:, i] = feature.categories[(apart**2).sum(axis=2).argmin(axis=1)]
    mixed = any(isinstance(feature, Category) for feature in table.features)
    return typical if mixed else typical.astype(np.float64)


def table_of(model: Any) -> Table:
    """Return the features of the samples that a model takes, and which columns of its classifier they become.

    Parameters
    ----------
    model : classifier or Pipeline
        A fitted classifier, or a pipeline that ends in one.

    Returns
    -------
    table : Table
        For each feature a `Number`, a `Category`, or `Unused`. A pipeline whose steps mix columns, or cannot be undone,
        is refused.

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
    model = _unwrapped(model)
    if isinstance(model, Pipeline):
        return _table(model)
    check_is_fitted(model)
    names = getattr(model, "feature_names_in_", np.array([f"x{i}" for i in range(model.n_features_in_)]))
    return Table(names, [Number(np.array([i])) for i in range(len(names))])


def explain(model: Any, X: Any) -> Explanation:
    """Return which prototypes and which features decided on the class of each sample, in the features of a table.

    Parameters
    ----------
    model : LVQClassifier or Pipeline
        A fitted classifier, or a pipeline that ends in one.
    X : array-like of shape (n_samples, n_features)
        Samples, as the pipeline takes them.

    Returns
    -------
    explanation : Explanation
        Explanation as from ``explain`` of the classifier, with one contribution for each feature of the table: the
        columns into which a category was encoded are added up.

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
    model = _unwrapped(model)
    if not isinstance(model, Pipeline):
        return model.explain(X)
    table = _table(model)
    plain = model[-1].explain(model[:-1].transform(X))
    sums = [plain.contributions[:, feature.columns].sum(axis=1) for feature in table.features]
    return replace(plain, contributions=np.stack(sums, axis=1), feature_names=table.names)


def counterfactual(
    model: Any,
    X: Any,
    target: Any = None,
    *,
    fixed: Any = None,
    bounds: Any = None,
    increasing: Any = None,
    decreasing: Any = None,
    integers: Any = None,
    groups: Any = None,
    sparse: bool = False,
    margin: float = 0.0,
    length: str = "metric",
) -> Counterfactuals:
    """Return the smallest allowed change of each sample that gives it another class, in the features of a table.

    As ``counterfactual`` of the classifiers, for a pipeline and in the units of its samples. A categorical feature
    changes from one category to another, and counts as one feature. Columns of booleans stay true or false, and missing
    values missing.

    Parameters
    ----------
    model : LVQClassifier or Pipeline
        A fitted classifier, or a pipeline that ends in one.
    X : array-like of shape (n_samples, n_features)
        Samples, as the pipeline takes them.
    target : object, optional
        The class to reach; by default any other.
    fixed : list of features, optional
        Features that must not change.
    bounds : dict, optional
        For a number the least and the largest value, as a pair; None for no bound. For a category the list of the
        categories that are allowed.
    increasing, decreasing : list of features, optional
        Numbers that may only go up, or only down.
    integers : list of features, optional
        Numbers that must be integers.
    groups : list of lists of features, optional
        Features of which exactly one is 1 and the others are 0, if the table has categories in this form.
    sparse : bool, default=False
        Change as few features as possible, and these as little as possible.
    margin : float, default=0.0
        Least confidence of the changed sample in its class.
    length : {"metric", "euclidean"}, default="metric"
        How changes are measured: by the learned metric, or with the same weight for all columns that the classifier
        sees; behind a `StandardScaler` these are standard deviations.

    Returns
    -------
    counterfactuals : Counterfactuals
        Counterfactuals in the units of X; ``samples`` is a DataFrame if X is one.

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
    model = _unwrapped(model)
    if not isinstance(model, Pipeline):
        return model.counterfactual(X, target, **request, **how)
    table = _table(model)
    mixed = not all(isinstance(feature, Number) for feature in table.features)
    rows = np.array(X, dtype=object if mixed else np.float64)

    def columns(given: Any) -> Floats:
        return model[-1]._check_new(model[:-1].transform(given)).astype(np.float64)

    def renewed(row: Array, s: int) -> Floats:
        return columns(_as_given(X[s : s + 1], row[None], rows[[s]]))[0]

    flags = [i for i, dtype in enumerate(getattr(X, "dtypes", ())) if getattr(dtype, "kind", "") == "b"]
    request["bounds"] = {**dict.fromkeys(flags, (0, 1)), **(bounds or {})}
    request["integers"] = flags + table.find_all(integers, "integers")
    asked = read_request(table, **request)
    found = find_counterfactuals(model[-1], rows, columns(X), renewed, asked, target, **how)
    return replace(found, samples=_as_given(X, found.samples, rows))


def _unwrapped(model: Any) -> Any:
    return model[-1] if isinstance(model, Pipeline) and len(model) == 1 else model


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


@dataclass(frozen=True)
class _Column:
    """A column on its way to the classifier: the feature it is made of, and how.

    The steps are for numbers; ``codes`` are for categories, and hold what the column is for each of them.
    """

    feature: int
    steps: tuple[_Step, ...] = ()
    categories: Array | None = None
    codes: Floats | None = None

    def through(self, step: _Step) -> _Column:
        if self.codes is None:
            return replace(self, steps=(*self.steps, step))
        return replace(self, codes=step.forward(self.codes))

    def forward(self, values: Floats) -> Floats:
        for step in self.steps:
            values = step.forward(values)
        return values

    def back(self, values: Floats) -> Floats:
        for step in reversed(self.steps):
            values = step.back(values)
        return values


@dataclass(frozen=True)
class _Step:
    """What a transformer that treats each column by itself does to one of them."""

    transformer: Any
    place: int
    width: int

    def forward(self, values: Floats) -> Floats:
        return self._apply(self.transformer.transform, values)

    def back(self, values: Floats) -> Floats:
        return self._apply(self.transformer.inverse_transform, values)

    def _apply(self, function: Any, values: Floats) -> Floats:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # other columns hold the same values, which may not suit them
            return _dense(function(np.repeat(values[:, None], self.width, axis=1)))[:, self.place].astype(np.float64)


def _table(pipeline: Pipeline) -> Table:
    """Return the features of the samples that a pipeline takes, and the columns of its classifier they become."""
    check_is_fitted(pipeline[-1])
    first = next(step for step in pipeline if hasattr(step, "n_features_in_"))
    names = getattr(first, "feature_names_in_", np.array([f"x{i}" for i in range(first.n_features_in_)], object))
    columns = [_Column(i) for i in range(len(names))]
    for name, step in pipeline.steps[:-1]:
        columns = _through(step, name, columns)
    places: list[list[int]] = [[] for _ in names]
    for place, column in enumerate(columns):
        places[column.feature].append(place)
    return Table(names, [_feature(name, own, columns) for name, own in zip(names, places)])


def _feature(name: Any, own: list[int], columns: list[_Column]) -> Feature:
    """Return what a feature becomes: the columns at its own places."""
    places = np.array(own, np.int64)
    mine = [columns[place] for place in own]
    if not mine:
        return Unused(places)
    codes = [column.codes for column in mine if column.codes is not None]
    if mine[0].categories is not None and len(codes) == len(mine):
        return Category(places, mine[0].categories, np.stack(codes, axis=1))
    if len(mine) == 1:
        return Number(places, mine[0].forward, mine[0].back)
    raise ValueError(f"The pipeline makes {len(mine)} columns of {name!s}, so these cannot be changed one by one.")


def _through(step: Any, name: str, columns: list[_Column]) -> list[_Column]:
    """Return what a fitted transformer makes of columns."""
    if step is None or isinstance(step, str) or (type(step) is FunctionTransformer and step.func is None):
        return columns
    if isinstance(step, Pipeline):
        for inner, transformer in step.steps:
            columns = _through(transformer, inner, columns)
        return columns
    if isinstance(step, ColumnTransformer):
        return _side_by_side(step, columns)
    if isinstance(step, SelectorMixin):
        return [column for column, kept in zip(columns, step.get_support()) if kept]
    if hasattr(step, "categories_"):
        return [made for place, column in enumerate(columns) for made in _encoded(step, name, place, column)]
    if isinstance(step, (SimpleImputer, KNNImputer)) or hasattr(step, "imputation_sequence_"):
        if len(step.get_feature_names_out()) == len(columns):
            return columns
        raise ValueError(f"Step {name!r} adds or drops columns, so the units of the table cannot be restored.")
    if not hasattr(step, "inverse_transform"):
        raise ValueError(f"Step {name!r} of the pipeline has no inverse_transform, so its units cannot be restored.")
    if isinstance(step, FunctionTransformer) and step.inverse_func is None:
        raise ValueError(f"Step {name!r} of the pipeline has no inverse_func, so its units cannot be restored.")
    if not isinstance(step, (OneToOneFeatureMixin, FunctionTransformer)) or isinstance(step, Normalizer):
        raise ValueError(
            f"Step {name!r} ({type(step).__name__}) of the pipeline mixes columns, so that they have no units of the "
            "table."
        )
    return [column.through(_Step(step, place, len(columns))) for place, column in enumerate(columns)]


def _side_by_side(step: ColumnTransformer, columns: list[_Column]) -> list[_Column]:
    made: dict[int, _Column] = {}
    for name, transformer, chosen in step.transformers_:
        if isinstance(transformer, str) and transformer == "drop":
            continue
        some = [columns[place] for place in _places(step, chosen)]
        made.update(zip(range(*step.output_indices_[name].indices(10**9)), _through(transformer, name, some)))
    return [made[place] for place in sorted(made)]


def _places(step: ColumnTransformer, chosen: Any) -> Array:
    """Return the numbers of columns that are given by names, numbers, a mask or a slice."""
    n_columns = step.n_features_in_
    numbers = np.arange(n_columns)
    if isinstance(chosen, slice) and isinstance(chosen.start or chosen.stop, str):
        names = list(step.feature_names_in_)
        first = 0 if chosen.start is None else names.index(chosen.start)
        last = n_columns if chosen.stop is None else names.index(chosen.stop) + 1
        return numbers[first:last]
    if isinstance(chosen, slice):
        return numbers[chosen]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # scikit-learn 1.6, on the numbers of remaining columns
        wanted = np.atleast_1d(np.asarray(chosen))
    if wanted.dtype.kind in "OUT" and len(wanted):
        places = {name: place for place, name in enumerate(step.feature_names_in_)}
        return np.array([places[name] for name in wanted.tolist()])
    return numbers[wanted] if len(wanted) else numbers[:0]


def _encoded(step: Any, name: str, place: int, column: _Column) -> list[_Column]:
    """Return the columns that an encoder makes of one, with the codes of its categories."""
    if column.steps or column.codes is not None:
        raise ValueError(
            f"Step {name!r} encodes what an earlier step has changed, so the categories are not those of the table."
        )
    categories = np.array(step.categories_[place], object)
    samples = np.empty((len(categories), len(step.categories_)), object)
    samples[:] = [known[0] for known in step.categories_]
    samples[:, place] = categories
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # these samples have no names
        codes = _dense(step.transform(samples)).astype(np.float64)
    first, last = (sum(_n_codes(step, i) for i in range(end)) for end in (place, place + 1))
    return [_Column(column.feature, (), categories, codes[:, i]) for i in range(first, last)]


def _n_codes(step: Any, place: int) -> int:
    """Return how many columns an encoder makes of one."""
    if not isinstance(step, OneHotEncoder):
        return len(step.get_feature_names_out()) // len(step.categories_)
    rare = getattr(step, "infrequent_categories_", [None] * len(step.categories_))[place]
    dropped = step.drop_idx_ is not None and step.drop_idx_[place] is not None
    return len(step.categories_[place]) - (0 if rare is None else len(rare) - 1) - int(dropped)


def _dense(values: Any) -> Array:
    return np.asarray(values.toarray() if hasattr(values, "toarray") else values)
