"""Parsing of table values: numbers with a decimal point or comma, dates, labels."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from protolearn.core.types import Array
from protolearn.tables._pandas import pandas

__all__ = ["as_labels", "date_format", "is_text", "read_dates", "read_numbers", "shows_decimal_comma"]

PLAIN = r"[+-]?(?:\d+(?:{d}\d*)?|{d}\d+)(?:[eE][+-]?\d+)?"  # d: decimal mark
GROUPED = r"[+-]?\d{{1,3}}(?:{t}\d{{3}})+(?:{d}\d+)?"  # t: mark between groups of three digits
WORDS = r"[+-]?(?:inf|infinity)"
MARKS = {".": ",", ",": "."}
ONLY_COMMA = re.compile(r"\s*[+-]?(?:\d+,(?:\d{1,2}|\d{4,})|(?:0|\d{4,}),\d+|\d{1,3}(?:\.\d{3})+,\d+)\s*")

# Tried in this order; the first that fits all values is taken, so that 03/04/2020 is the third of April.
DATE_FORMATS = (
    "ISO8601",
    *("%d.%m.%Y", "%d.%m.%Y %H:%M", "%d.%m.%Y %H:%M:%S", "%d.%m.%y"),
    *("%d/%m/%Y", "%d/%m/%Y %H:%M", "%d/%m/%Y %H:%M:%S", "%m/%d/%Y", "%m/%d/%Y %H:%M", "%m/%d/%Y %H:%M:%S"),
    *("%Y/%m/%d", "%Y/%m/%d %H:%M:%S", "%d-%m-%Y", "%d-%b-%Y", "%d %b %Y", "%d %B %Y", "%b %d, %Y", "%B %d, %Y"),
)
A_DATE = r"\s*(?:\d{1,4}[-./]\d{1,2}[-./]\d{1,4}|\d{1,2}[- ][A-Za-z]{3,9}[- ]\d{4}|[A-Za-z]{3,9} \d{1,2}, \d{4}).*"


def is_text(column: Any) -> bool:
    """Return whether a column contains texts, or any other values except numbers, booleans and dates."""
    return column.dtype.kind not in "biufmM"


def shows_decimal_comma(cell: str) -> bool:
    """Return whether a comma in a number can only be a decimal comma.

    Examples
    --------
    >>> [shows_decimal_comma(cell) for cell in ("2,5", "1.234,567", "1,234", "2.5", "a,5")]
    [True, True, False, False, False]
    """
    return ONLY_COMMA.fullmatch(cell) is not None


def read_numbers(texts: Any, decimal: str | None = None) -> Any:
    """Parse texts as numbers, with NaN for texts that are not numbers.

    Parameters
    ----------
    texts : Series
        Texts, or missing values.
    decimal : {".", ","}, optional
        Decimal mark. By default the mark with which more texts are numbers, or the point if both work. The other mark
        may separate groups of three digits.

    Returns
    -------
    Series
        The numbers, as floats.

    Examples
    --------
    >>> import pandas as pd
    >>> read_numbers(pd.Series(["1,234.5", "7", "<2"])).tolist()
    [1234.5, 7.0, nan]
    >>> read_numbers(pd.Series(["1.234,5", "0,25"])).tolist()
    [1234.5, 0.25]
    """
    if decimal is None:
        point, comma = (read_numbers(texts, mark) for mark in MARKS)
        return comma if comma.notna().sum() > point.notna().sum() else point
    pd = pandas()
    group = MARKS[decimal]
    texts = texts.astype(object).where(texts.notna(), "").astype(str).str.strip()
    marks = {"d": f"[{decimal}]", "t": f"[{group}]"}
    forms = [PLAIN.format(**marks), GROUPED.format(**marks), f"(?i:{WORDS})"]
    fits = texts.str.fullmatch("|".join(f"(?:{form})" for form in forms))
    plain = texts.str.replace(group, "", regex=False).str.replace(decimal, ".", regex=False)
    return pd.to_numeric(plain.where(fits, None), errors="coerce").astype(np.float64)


def date_format(texts: Any) -> str | None:
    """Return the common date format of all texts, if they are dates.

    Examples
    --------
    >>> import pandas as pd
    >>> date_format(pd.Series(["31.12.2020", "01.02.2021"])), date_format(pd.Series(["2020-12-31", "soon"]))
    ('%d.%m.%Y', None)
    """
    present = texts.dropna().astype(str)
    head = present.iloc[:200]
    if len(head) == 0 or not head.str.fullmatch(A_DATE).all():
        return None
    for form in DATE_FORMATS:
        if read_dates(head, form).notna().all() and read_dates(present, form).notna().all():
            return form
    return None


def read_dates(texts: Any, form: str) -> Any:
    """Parse texts as dates in a given format, or in the ISO format, which is always accepted."""
    pd = pandas()
    texts = texts.astype(object).where(texts.notna(), None)
    dates = pd.to_datetime(texts, format=form, errors="coerce", utc=True)
    if form != "ISO8601" and dates.isna().any():
        dates = dates.fillna(pd.to_datetime(texts, format="ISO8601", errors="coerce", utc=True))
    return dates.dt.tz_localize(None)


def as_labels(values: Any) -> Array:
    """Return a column as strings, with None for missing values; whole numbers have no decimals.

    Parameters
    ----------
    values : array-like of shape (n,)
        Column of values, for instance classes.

    Returns
    -------
    ndarray of shape (n,), of object
        Labels: strings and None.

    Examples
    --------
    >>> from protolearn.tables import as_labels
    >>> as_labels([1.0, float("nan"), 2.0]).tolist(), as_labels([True, False]).tolist(), as_labels(["a "]).tolist()
    (['1', None, '2'], ['True', 'False'], ['a'])
    """
    column = pandas().Series(values)
    codes, distinct = column.factorize()
    names = np.array([_label(value) for value in distinct] + [None], dtype=object)  # the last for missing ones, -1
    return names[codes]


def _label(value: Any) -> str | None:
    if isinstance(value, float | np.floating) and float(value).is_integer():
        value = int(value)
    return str(value).strip() or None
