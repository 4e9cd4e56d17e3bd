"""Lazy import of pandas, which only tables need."""

from __future__ import annotations

import codecs
import csv
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from importlib import import_module
from io import StringIO
from itertools import islice
from numbers import Real
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from protolearn.core.files import file_size
from protolearn.core.texts import MISSING_WORDS, from_cell
from protolearn.core.types import Array

__all__ = [
    "FIRST_VALUES",
    "Dialect",
    "Marks",
    "as_labels",
    "date_format",
    "find_dialect",
    "has_marks",
    "is_gap",
    "is_text",
    "marks_of",
    "optional",
    "pandas",
    "read_dates",
    "read_numbers",
    "strange_values",
    "text_encoding",
    "unique_names",
    "without_words",
]


def pandas() -> Any:
    """Return pandas, or raise an error that explains how to install it."""
    return optional("pandas", "Tables")


def optional(name: str, what: str) -> Any:
    """Return a package of the extra ``files``, or raise an error that explains how to install it."""
    try:
        return import_module(name)
    except ImportError:
        package = name.partition(".")[0]
        raise ImportError(
            f"{what} are read with {package}, which is not installed: pip install 'protolearn[files]'"
        ) from None


PLAIN = r"[+-]?(?:\d+(?:{d}\d*)?|{d}\d+)(?:[eE][+-]?\d+)?"  # d: decimal mark


GROUPED = r"[+-]?[1-9]\d{{0,2}}(?:{t}\d{{3}})+(?:{d}\d+)?"  # t: mark between groups of three digits


WORDS = r"[+-]?(?:inf|infinity)"


MARKS = {".": ",", ",": "."}


MARKED = r"\s*[+-]?[\d.,]*[.,][\d.,]*(?:[eE][+-]?\d+)?\s*"


# Tried in this order; the first that fits all values is taken, so that 03/04/2020 is the third of April.
DATE_FORMATS = (
    "ISO8601",
    *("%d.%m.%Y", "%d.%m.%Y %H:%M", "%d.%m.%Y %H:%M:%S", "%d.%m.%y"),
    *("%d/%m/%Y", "%d/%m/%Y %H:%M", "%d/%m/%Y %H:%M:%S", "%m/%d/%Y", "%m/%d/%Y %H:%M", "%m/%d/%Y %H:%M:%S"),
    *("%Y/%m/%d", "%Y/%m/%d %H:%M:%S", "%d-%m-%Y", "%d-%b-%Y", "%d %b %Y", "%d %B %Y", "%b %d, %Y", "%B %d, %Y"),
)


FIRST_VALUES = 1000  # rows that are tried before all others


DASHES = {"-", "--", ".", "*"}  # taken as missing among numbers


A_DATE = r"\s*(?:\d{1,4}[-./]\d{1,2}[-./]\d{1,4}|\d{1,2}[- ][A-Za-z]{3,9}[- ]\d{4}|[A-Za-z]{3,9} \d{1,2}, \d{4}).*"


def strange_values(column: Any) -> str | None:
    """Return what the values of a column are if they are several values in one, or bytes.

    Examples
    --------
    >>> import pandas as pd
    >>> strange_values(pd.Series([[1, 2], [3]])), strange_values(pd.Series(["a", 1, None]))
    ('lists', None)
    """
    if column.dtype != object:
        return None
    for kind in {type(value) for value in column}:
        if issubclass(kind, bytes | bytearray):
            return "bytes"
        if issubclass(kind, dict):
            return "records"
        if issubclass(kind, tuple) or kind.__hash__ is None:
            return "lists"
    return None


def is_text(column: Any) -> bool:
    """Return whether a column contains texts, or any other values except numbers, booleans and dates."""
    return column.dtype.kind not in "biufmM"


class Marks(NamedTuple):
    """What the numbers among texts show about their decimal mark."""

    point: int  # different numbers that can only be read with a decimal point
    comma: int  # or with a decimal comma
    either: list[str]  # that are different numbers with a point and a comma
    numbers: float  # share of the rows with texts that are numbers with the mark that suits more of them

    @property
    def own(self) -> str | None:
        """The mark that the numbers show, if they show one."""
        return None if self.point == self.comma else "." if self.point > self.comma else ","


def marks_of(texts: Any) -> Marks:
    """Return what the numbers among texts show about their decimal mark.

    Examples
    --------
    >>> import pandas as pd
    >>> marks_of(pd.Series(["1,250", "2,5", "7"]))
    Marks(point=0, comma=1, either=['1,250'], numbers=1.0)
    """
    pd = pandas()
    counts = texts.astype(object).value_counts(sort=False)
    counts = counts[[isinstance(value, str) and not is_gap(value) for value in counts.index]]
    distinct = pd.Series(counts.index.to_numpy(dtype=object), dtype=object)
    point, comma = _parsed(distinct, "."), _parsed(distinct, ",")
    either = distinct[point.notna() & comma.notna() & (point != comma)]
    only_point, only_comma = (point.notna() & comma.isna()).sum(), (comma.notna() & point.isna()).sum()
    numbers = max(counts.to_numpy()[values.notna()].sum() for values in (point, comma)) / max(counts.sum(), 1)
    return Marks(int(only_point), int(only_comma), either.tolist(), float(numbers))


def is_gap(value: Any) -> bool:
    """Return whether a value among numbers is a word or a dash in place of a missing one."""
    return isinstance(value, str) and (value.strip() in DASHES or value.strip() in MISSING_WORDS)


def has_marks(texts: Any) -> bool:
    """Return whether there are numbers with a point or a comma among texts."""
    pd = pandas()
    distinct = pd.Series([text for text in texts.dropna().unique() if isinstance(text, str)], dtype=object)
    marked = distinct[distinct.str.fullmatch(MARKED).astype(bool)] if len(distinct) else distinct
    parts = marked[:FIRST_VALUES], marked[FIRST_VALUES:]  # the first ones mostly tell
    return any((_parsed(part, ".").notna() | _parsed(part, ",").notna()).any() for part in parts)


def read_numbers(texts: Any, decimal: str | None = None) -> Any:
    """Parse texts as numbers, with NaN for texts that are not numbers.

    Parameters
    ----------
    texts : Series
        Texts, or missing values; numbers among them stay as they are.
    decimal : {".", ","}, optional
        Decimal mark. By default the mark with which more different texts are numbers, or the point if both work. The
        other mark may separate groups of three digits.

    Returns
    -------
    Series
        The numbers, as floats.

    Examples
    --------
    >>> import pandas as pd
    >>> read_numbers(pd.Series(["1,234.5", "7", "<2"])).tolist()
    [1234.5, 7.0, nan]
    >>> read_numbers(pd.Series(["1.234,5", "0,25", 1.25], dtype=object)).tolist()
    [1234.5, 0.25, 1.25]
    """
    if decimal is None:
        decimal = marks_of(texts).own or "."
    if texts.dtype != object:
        return _parsed(texts, decimal)
    if len(texts) == 0:
        return texts.astype(np.float64)
    is_number = texts.map(lambda value: isinstance(value, Real | Decimal) and not isinstance(value, bool)).astype(bool)
    numbers = texts[is_number].map(float).reindex(texts.index).astype(np.float64)
    return numbers.where(is_number, _parsed(texts, decimal))


def _parsed(texts: Any, decimal: str) -> Any:
    pd = pandas()
    group = MARKS[decimal]
    texts = texts.astype(object).where(texts.notna(), "").astype(str).str.strip()
    marks = {"d": f"[{decimal}]", "t": f"[{group}]"}
    forms = [PLAIN.format(**marks), GROUPED.format(**marks), f"(?i:{WORDS})"]
    fits = texts.str.fullmatch("|".join(f"(?:{form})" for form in forms)).astype(bool)
    plain = texts.str.replace(group, "", regex=False).str.replace(decimal, ".", regex=False)
    return pd.to_numeric(plain.where(fits, None), errors="coerce").astype(np.float64)


def without_words(values: Any) -> Any:
    """Return a column in which words for missing values are missing.

    Examples
    --------
    >>> import pandas as pd
    >>> without_words(pd.Series(["1", "NA", "?"])).isna().tolist()
    [False, True, True]
    """
    if not is_text(values):
        return values
    words = [value for value in values.unique() if isinstance(value, str) and value.strip() in MISSING_WORDS]
    return values.where(~values.isin(words), None) if words else values


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
    strange = strange_values(column)
    if strange is not None:
        raise ValueError(f"Each label must be one text, number or date, but these contain {strange}.")
    codes, distinct = column.factorize()
    names = np.array([_label(value) for value in distinct] + [None], dtype=object)  # the last for missing ones, -1
    return names[codes]


def _label(value: Any) -> str | None:
    if isinstance(value, float | np.floating) and float(value).is_integer():
        value = int(value)
    return str(value).strip() or None


SEPARATORS = ",;\t|"


HEAD, RECORDS = 2**20, 100  # characters, and rows, that are looked at


BLOCK = 2**20


A_NUMBER = re.compile(r"\s*[+-]?(?:\d+[.,]?\d*|[.,]\d+)(?:[eE][+-]?\d+)?\s*")


BYTE_ORDER_MARKS = {  # the first that fits: UTF-32 begins with that of UTF-16
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}


@dataclass(frozen=True)
class Dialect:
    """Format of a table in a text file.

    Attributes
    ----------
    encoding : str
        Name of the encoding.
    separator : str
        Separator between two values.
    decimal : str
        The decimal mark that the first rows show, a point if they show none.
    names : list of str
        Unique names of the columns.
    header : bool
        Whether the first row contains the names.
    hint : bool
        Whether a line before the first row names the separator, as Excel writes it.
    """

    encoding: str
    separator: str
    decimal: str
    names: list[str]
    header: bool
    hint: bool


def text_encoding(path: Path) -> str:
    """Return the encoding of a file: UTF-8, UTF-16 or UTF-32, or that of Western Windows if it is none of these."""
    if file_size(path) == 0:
        raise ValueError(f"{path} is empty.")
    with path.open("rb") as file:
        head = file.read(4096)
        for mark, name in BYTE_ORDER_MARKS.items():
            if head.startswith(mark):
                return name
        even, odd = head[::2].count(0), head[1::2].count(0)
        if max(even, odd) > len(head) / 5 and min(even, odd) < len(head) / 100 + 1:
            return "utf-16-be" if even > odd else "utf-16-le"
        decoder = codecs.getincrementaldecoder("utf-8")()
        encoding, block = "utf-8", head
        while block:
            if b"\0" in block:
                raise ValueError(
                    f"{path} is not a text file: it contains bytes that no text has. Save a text as UTF-8, and "
                    "give other files the suffix of their type."
                )
            if encoding == "utf-8":
                try:
                    decoder.decode(block)
                except UnicodeDecodeError:
                    encoding = "cp1252"
            block = file.read(BLOCK)
    return encoding


def find_dialect(path: Path) -> Dialect:
    """Detect the format of a table from its first rows."""
    encoding = text_encoding(path)
    with path.open(encoding=encoding, errors="replace", newline="") as file:
        head = file.read(HEAD)
    hint = re.match(r"sep=(.)\r?\n", head)
    text = head[hint.end() :] if hint else head
    if not text.strip():
        raise ValueError(f"{path} is empty.")
    complete = len(head) < HEAD
    separator = hint[1] if hint else max(SEPARATORS, key=lambda mark: _suits(_records(text, mark, complete), mark))
    records = _records(text, separator, complete) or _records(text, separator, True)
    if not records:
        raise ValueError(f"{path} is not a table: its first lines contain no values separated by {separator!r}.")
    cells = [cell for record in records[1:] or records for cell in record]
    decimal = marks_of(pandas().Series(cells, dtype=object)).own or "."
    first, others = records[0], records[1:]
    header = not all(A_NUMBER.fullmatch(cell) for cell in first)
    names = list(first) if header else [""] * len(first)
    if header and others and all(len(record) == len(first) + 1 for record in others):
        if separator == "," and all(A_NUMBER.fullmatch(",".join(record)) for record in others):
            raise ValueError(
                f"{path} has one name, and in each row two values or a number with a decimal comma, such as "
                f"{','.join(others[0])}; name both columns, or put quotes around the numbers."
            )
        names = ["row", *names]  # as R writes tables: names of rows have no name
    names = unique_names([from_cell(name) for name in names])
    return Dialect(encoding, separator, decimal, names, header, hint is not None)


def unique_names(names: Sequence[object]) -> list[str]:
    """Return names of columns, of which no two are the same and none is empty.

    Examples
    --------
    >>> unique_names(["a", "", "a "])
    ['a', 'column 2', 'a (2)']
    """
    used: set[str] = set()
    unique = []
    for place, given in enumerate(names, 1):
        name = wanted = str(given).strip() or f"column {place}"
        count = 1
        while name in used:
            count += 1
            name = f"{wanted} ({count})"
        used.add(name)
        unique.append(name)
    return unique


def _records(text: str, separator: str, complete: bool) -> list[list[str]]:
    """Return the first rows; the last may be cut off, and is left out, if the text is not complete."""
    try:
        rows = csv.reader(StringIO(text, newline=None), delimiter=separator, skipinitialspace=True)  # any end of lines
        records = [row for row in islice(rows, RECORDS + 1) if row]
    except csv.Error:
        return []
    return records if complete and len(records) <= RECORDS else records[:-1]


def _suits(records: list[list[str]], separator: str) -> tuple[float, float, int]:
    """Return how well a separator suits: rows of one width of at least two, cells without others, many columns."""
    if not records:
        return 0.0, 0.0, 0
    width, count = Counter(map(len, records)).most_common(1)[0]
    if width < 2:
        return 0.0, 0.0, width
    cells = [cell for record in records for cell in record]
    others = set(SEPARATORS) - {separator}
    clean = sum(not others & set(cell) or A_NUMBER.fullmatch(cell) is not None for cell in cells)
    return count / len(records), clean / len(cells), width
