"""Detection of column types, and preparation of tables for pipelines."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, fields, replace
from difflib import get_close_matches
from typing import Any

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils import Tags
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from protolearn.core.estimator import Estimator, nothing_lost
from protolearn.core.parameters import Constraint, instance, none
from protolearn.core.types import Array, Floats
from protolearn.tables._dialect import (
    as_labels,
    date_format,
    is_text,
    marks_of,
    pandas,
    read_dates,
    read_numbers,
    strange_values,
    without_words,
)

__all__ = [
    "MISSING",
    "Column",
    "TablePreparation",
    "table_pipeline",
]

MISSING = "(missing)"  # the category of missing values


NUMBERS, CATEGORIES = ("number", "date"), ("category", "boolean")


TEXTS = ("category", "identifier", "text")


MOST_CATEGORIES = 50


FEW_CATEGORIES = 10  # that may be more than half of the rows


FEW_ROWS = 10  # whole numbers that count up in so few rows may do so by chance


MOSTLY = 0.9  # of the values are numbers: other texts are taken as missing; of the rows have names: they are names


LARGEST = 1e150  # number of which variances can be computed


LEAST = 1e-140  # difference between numbers of which variances can be computed


A_NUMBER_OF_ROWS = re.compile(r"(?:.*[\W_])?(?:id|idx|index|row|nr|no|key|uid|guid)|.*[a-z]ID", flags=re.DOTALL)


@dataclass(frozen=True)
class Column:
    """Type of a table column, and how the column is used.

    Attributes
    ----------
    name : str
        Name of the column.
    kind : str
        Type of the column. ``"number"``, ``"date"``, ``"category"`` and ``"boolean"`` columns are used as features;
        ``"identifier"``, ``"text"``, ``"constant"``, ``"empty"``, ``"target"`` and ``"ignored"`` columns are not.
    done : str
        Description of how the column is used.
    missing : float
        Fraction of rows without a value.
    form : str
        Format of dates in texts, or decimal mark of numbers in texts.
    origin : str
        Day from which the days of a date are counted.
    low, high : float
        Smallest and largest number in the training table, of dates the days; infinite for other columns.

    Examples
    --------
    >>> import pandas as pd
    >>> from protolearn.tables import TablePreparation
    >>> table = pd.DataFrame({"age": [30, None, 60, 70], "site": ["north"] * 4, "ill": list("nnyy")})
    >>> for column in TablePreparation("ill").fit(table).columns_:
    ...     print(column.name, column.kind, column.used, column.missing)
    age number True 0.25
    site constant False 0.0
    ill target False 0.0
    """

    name: str
    kind: str
    done: str
    missing: float
    form: str = ""
    origin: str = ""
    low: float = -np.inf
    high: float = np.inf

    @property
    def used(self) -> bool:
        """Whether the column is used as a feature."""
        return self.kind in (*NUMBERS, *CATEGORIES)


class TablePreparation(TransformerMixin, Estimator):
    """Transformer that detects the types of table columns and converts the useful ones to numbers and categories.

    Numbers are not changed, except that infinite values are treated as missing. Dates become days since the first date.
    Booleans and texts with few distinct values become categories, with a separate category for missing values. Columns
    that carry no information about new rows are left out: identifiers, row numbers, empty or constant columns, and free
    text. Imputation, scaling and encoding are left to `table_pipeline`.

    Parameters
    ----------
    target : str, optional
        Column to predict, which is not used as a feature.
    ignore : collection of str, default=()
        Columns to leave out.
    keep : collection of str, default=()
        Columns to use even if they look like identifiers or free text.

    Attributes
    ----------
    columns_ : list of Column
        Type and use of each column.
    decimal_ : {".", ","} or None
        Decimal mark of the file that the table was read from; None if no number of it showed one, or if it was not read
        by `read_table`.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the columns, if they have any.

    See Also
    --------
    read_table : Reads a table from a file.
    table_pipeline : Combines preparation, imputation, scaling, encoding and an estimator.

    Notes
    -----
    Columns are identified by name, so a new table may have its columns in any order, and may lack columns that are not
    used.

    Examples
    --------
    >>> import pandas as pd
    >>> from protolearn.tables import TablePreparation
    >>> table = pd.DataFrame({"seen": ["2024-01-01", "2024-01-11", None], "stage": ["I", "II", "I"], "site": 7})
    >>> preparation = TablePreparation().fit(table)
    >>> preparation.transform(table)
       seen stage
    0   0.0     I
    1  10.0    II
    2   NaN     I
    >>> for column in preparation.columns_:
    ...     print(f"{column.name}: {column.kind}, {column.done}")
    seen: date, days since 2024-01-01; missing: median
    stage: category, one of 2 values
    site: constant, left out, always 7
    """

    _constraints = {
        "target": instance(str, "the name of a column") | none,
        "ignore": Constraint(lambda value: not isinstance(value, str), ("a list of names of columns",)),
        "keep": Constraint(lambda value: not isinstance(value, str), ("a list of names of columns",)),
    }

    def __init__(self, target: str | None = None, *, ignore: Collection[str] = (), keep: Collection[str] = ()) -> None:
        self.target = target
        self.ignore = ignore
        self.keep = keep

    def __sklearn_tags__(self) -> Tags:
        """Say that a table may have missing values and columns of any type."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.transformer_tags.preserves_dtype = []
        return tags

    @property
    def columns_(self) -> list[Column]:
        """Type and use of each column."""
        if not hasattr(self, "_columns"):
            raise AttributeError(f"This {type(self).__name__} is not fitted yet.")
        return [Column(*entry) for entry in zip(*(values.tolist() for values in self._columns.values()))]

    @nothing_lost
    def fit(self, X: Any, y: Any = None) -> TablePreparation:
        """Detect the types of the columns.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features)
            Table, for instance from `read_table`.
        y : ignored
            Not used, present for compatibility with pipelines.

        Returns
        -------
        self : TablePreparation
            The fitted preparation.
        """
        self._check_parameters()
        frame = _as_frame(self, X, reset=True)
        for name in (*self.ignore, *self.keep, *([] if self.target is None else [self.target])):
            if name not in frame.columns:
                near = _similar(str(name), list(map(str, frame.columns)))
                meant = f" Did you mean {near!r}?" if near else ""
                raise ValueError(f"There is no column {name!r}; {_listed('columns are', frame.columns)}.{meant}")
        self.decimal_ = getattr(X, "attrs", {}).get("decimal")
        columns = [self._look_at(values) for _, values in frame.items()]
        self._columns = {part.name: np.array([getattr(c, part.name) for c in columns]) for part in fields(Column)}
        if not any(column.used for column in self.columns_):
            reasons = "; ".join(f"{c.name!r} is {c.kind}: {c.done}" for c in self.columns_[:5])
            rows = "1 sample" if len(frame) == 1 else f"{len(frame)} rows"
            raise ValueError(f"There is no column to learn from in {rows} ({reasons}).")
        return self

    def transform(self, X: Any) -> Any:
        """Return the columns that are used.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features)
            Table with the same columns, in any order; additional columns are ignored.

        Returns
        -------
        DataFrame of shape (n_samples, n_used)
            Numbers as floats, categories as strings.
        """
        check_is_fitted(self)
        frame = _as_frame(self, X, reset=False)
        used = [column for column in self.columns_ if column.used]
        absent = [column.name for column in used if column.name not in frame.columns]
        if absent:
            raise ValueError(
                f"The table has no {_listed('columns' if len(absent) > 1 else 'column', absent)}, which the model was "
                f"trained on; {_listed('it has', frame.columns)}."
            )
        mark = getattr(X, "attrs", {}).get("decimal")
        return pandas().DataFrame({c.name: _prepared(c, frame[c.name], mark) for c in used}, index=frame.index)

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Return the names of the columns that are used.

        Parameters
        ----------
        input_features : ignored
            Not used, present for compatibility with pipelines.

        Returns
        -------
        ndarray of str
            Names of the columns.
        """
        check_is_fitted(self)
        return np.array([column.name for column in self.columns_ if column.used], dtype=object)

    def names_of(self, *kinds: str) -> list[str]:
        """Return the names of the columns of some kinds, as ``names_of("number", "date")``."""
        return [column.name for column in self.columns_ if column.kind in kinds]

    def _look_at(self, values: Any) -> Column:
        name, missing = str(values.name), float(values.isna().to_numpy().mean())
        if name == self.target:
            return Column(name, "target", "the class of each row", missing)
        if name in self.ignore:
            return Column(name, "ignored", "left out, as requested", missing)
        _check_values(name, values)
        kind, done, *formats = _kind(name, values, name in self.keep, self.decimal_ or ".")
        if kind not in TEXTS:
            missing = float(without_words(values).isna().to_numpy().mean())
        if missing and kind in NUMBERS:
            done += "; missing: median"
        if missing and kind in CATEGORIES:
            done += "; missing: one more"
        form, origin = (*formats, "", "")[:2]
        column = Column(name, kind, done, missing, form, origin)
        if kind not in NUMBERS:
            return column
        numbers = _prepared(column, values)
        low, high = float(np.nanmin(numbers)), float(np.nanmax(numbers))
        if 0.0 < high - low < LEAST:
            raise ValueError(
                f"Column {column.name!r} contains numbers too small to be scaled, which differ by {high - low:.3g}; "
                "multiply them, take their logarithms, or remove the column."
            )
        return replace(column, low=low, high=high)


def _kind(name: str, values: Any, keep: bool, decimal: str) -> tuple[str, ...]:
    """Return the kind of a column, what is done with it, and of dates the format and the first."""
    if values.dtype.kind in "iufm":
        kind, done = _number(name, _floats(values), keep)
        return kind, done.replace("scaled", "days, scaled") if values.dtype.kind == "m" else done, decimal
    texts = values.dropna()
    if is_text(texts):
        texts = pandas().Series(as_labels(texts), index=texts.index, dtype=object).dropna()
    present = without_words(texts).dropna()
    distinct = present.unique()
    if len(distinct) == 0:
        return "empty", f"left out, no values{f' but {_short(texts.iloc[0])}' if len(texts) else ''}"
    if len(distinct) == 1 and not (len(present) < len(texts) and _is_category(present)):
        return "constant", f"left out, always {_short(distinct[0])}"
    if _is_dates(present):
        return _date(present, "ISO8601")
    if present.dtype.kind == "b" or set(distinct) == {"True", "False"}:
        return "boolean", "true or false"
    return _text(present, texts, len(values), keep, decimal)


def _number(name: str, values: Floats, keep: bool) -> tuple[str, ...]:
    present = values[~np.isnan(values)]
    finite = present[np.isfinite(present)]
    if len(finite) == 0:
        return "empty", "left out, no finite numbers" if len(present) else "left out, no values"
    distinct = len(np.unique(present))
    if distinct == 1:
        return "constant", f"left out, always {_short(finite[0])}"
    whole = distinct == len(present) == len(finite) and bool((finite % 1 == 0).all())
    counts = whole and distinct == len(values) > FEW_ROWS and bool((np.diff(finite) == 1).all())
    if not keep and (counts or (whole and distinct > 2 and _names_rows(name))):
        return "identifier", "left out, numbers the rows" if counts else "left out, a different number in each row"
    infinite = len(present) - len(finite)
    return "number", f"scaled; {infinite} infinite treated as missing" if infinite else "scaled"


def _text(present: Any, texts: Any, rows: int, keep: bool, decimal: str) -> tuple[str, ...]:
    """Return what `_kind` does for a column of texts, given also without words for missing values, as ``present``."""
    form = date_format(present)
    if form is not None:
        kind, done, *formats = _date(read_dates(present, form), form)
        by_month = form.replace("%d/%m", "%m/%d")
        if by_month != form and read_dates(present, by_month).notna().all():
            done = done.replace(")", f", but could also be {by_month})")
        return kind, done, *formats
    mark = marks_of(present).own or decimal
    numbers = read_numbers(present, mark)
    if numbers.notna().mean() >= MOSTLY:
        strays = present[numbers.isna()]
        done = f"scaled; {len(strays)} such as {_short(strays.iloc[0])} treated as missing" if len(strays) else "scaled"
        return "number", done, mark
    distinct = texts.nunique()
    if keep:
        return "category", f"one of {distinct} values"
    if present.nunique() == len(present) >= MOSTLY * rows:
        return "identifier", "left out, a different value in each row"
    if distinct > MOST_CATEGORIES or (distinct > FEW_CATEGORIES and 2 * distinct > len(texts)):
        return "text", f"left out, {distinct:,} different texts"
    return "category", f"one of {distinct} values"


def _date(dates: Any, form: str) -> tuple[str, ...]:
    origin = str(_without_zone(dates).min().date())
    shown = "" if form == "ISO8601" else f" (read as {form})"
    return "date", f"days since {origin}{shown}", form, origin


def _prepared(column: Column, values: Any, decimal: str | None = None) -> Any:
    """Return a column of a new table, whose decimal mark may be known, as it was learned."""
    pd = pandas()
    _check_values(column.name, values)
    if column.kind != "category":
        values = without_words(values)
    if column.kind in CATEGORIES:
        labels = as_labels(values)
        return np.where(labels == None, MISSING, labels)  # noqa: E711, elementwise
    if column.kind == "date":
        dates = _without_zone(values) if _is_dates(values) else read_dates(values, column.form)
        numbers = _floats((dates - pd.Timestamp(column.origin)) / pd.Timedelta(days=1))
    else:
        mark = (marks_of(values).own or decimal or column.form or ".") if is_text(values) else None
        numbers = _floats(values if mark is None else read_numbers(values, mark))
    if is_text(values) and np.isnan(numbers).all() and values.notna().any():
        example = _short(values.dropna().iloc[0])
        raise ValueError(f"Column {column.name!r} must contain a {column.kind} in each row, but contains {example}.")
    finite = np.isfinite(numbers)
    largest = np.abs(numbers[finite]).max(initial=0.0)
    if largest > LARGEST:
        raise ValueError(
            f"Column {column.name!r} contains numbers too large to be scaled, up to {largest:.3g}; divide them, take "
            "their logarithms, or remove the column."
        )
    return np.where(finite, numbers, np.nan)


def _check_values(name: str, values: Any) -> None:
    strange = strange_values(values)
    if strange is not None:
        remedy = "store them as text" if strange == "bytes" else "put their parts into columns of their own"
        raise ValueError(
            f"Column {name!r} contains {strange}, but needs one number, text or date in each row; {remedy}, or leave "
            "the column out (ignore, on the command line --ignore)."
        )


def _floats(values: Any) -> Floats:
    """Return numbers as floats, and durations in days."""
    if values.dtype.kind == "m":
        values = values / pandas().Timedelta(days=1)
    return values.to_numpy(dtype=np.float64, na_value=np.nan)


def _as_frame(estimator: TablePreparation, X: Any, reset: bool) -> Any:
    """Return a table as a frame, and check its width if it has no names."""
    if not hasattr(X, "iloc"):
        dtype = None if getattr(X, "dtype", None) is not None else object
        X = check_array(X, dtype=dtype, ensure_all_finite=False, input_name="X")
        if X.dtype.kind == "c":
            raise ValueError("Complex data not supported.")
        validate_data(estimator, X, reset=reset, skip_check_array=True)
        X = pandas().DataFrame(X, columns=[f"x{place}" for place in range(X.shape[1])])
    elif reset:
        validate_data(estimator, X, reset=True, skip_check_array=True)
        if not X.columns.is_unique:
            raise ValueError("Two columns have the same name; rename one of them.")
    if len(X) == 0:
        raise ValueError("The table has no rows: 0 sample(s).")
    return X


def _is_dates(values: Any) -> bool:
    return values.dtype.kind == "M"


def _without_zone(dates: Any) -> Any:
    return dates.dt.tz_convert("UTC").dt.tz_localize(None) if dates.dt.tz is not None else dates


def _is_category(present: Any) -> bool:
    """Return whether one text, beside words for missing values, is neither a number nor a date."""
    return is_text(present) and date_format(present) is None and read_numbers(present).isna().all()


def _names_rows(name: str) -> bool:
    return A_NUMBER_OF_ROWS.fullmatch(name if name.endswith("ID") else name.lower()) is not None


def _similar(name: str, names: list[str]) -> str | None:
    """Return the name that was probably meant, whether letters are capital or not; None if all are very different."""
    found = get_close_matches(name.casefold(), [one.casefold() for one in names], n=1)
    return next((one for one in names if [one.casefold()] == found), None)


def _short(value: Any) -> str:
    text = str(int(value) if isinstance(value, float) and value.is_integer() else value)
    return text if len(text) <= 20 else f"{text[:17]}..."


def _listed(start: str, names: Any, most: int = 8) -> str:
    shown = ", ".join(repr(str(name)) for name in list(names)[:most])
    return f"{start} {shown}{f' and {len(names) - most} more' if len(names) > most else ''}"


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
