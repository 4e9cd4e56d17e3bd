r"""Texts from files in outputs: nothing in them steers a terminal, or is calculated by a spreadsheet.

Names, classes and values are written by whoever made a file. In JSON, characters that cannot be seen are escaped. In
CSV files, an apostrophe before a text that a spreadsheet would take for a formula makes it a text; ``read_table``
removes it.
"""

from __future__ import annotations

import json
import re
from typing import Any

__all__ = ["MISSING_WORDS", "as_cell", "from_cell", "visible_json"]

#: Words for missing values in columns of numbers, dates and truth values; elsewhere they are texts as any other.
MISSING_WORDS = frozenset(
    {"?", "NA", "N/A", "n/a", "#NA", "#N/A", "#N/A N/A", "<NA>", "NULL", "null", "None", "NaN", "nan", "-NaN", "-nan"}
    | {"1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN"}
)

BEYOND_ASCII = re.compile(r"[^\n\x20-\x7e]")
FORMULA = r"'*(?:\s*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20]|[\t\r\n])"  # the last four are wide forms
A_FORMULA, AN_ESCAPED_FORMULA = re.compile(FORMULA), re.compile(f"'(?={FORMULA})")
A_NUMBER = re.compile(r"[+-]?(?:\d+[.,]?\d*|[.,]\d+)(?:[eE][+-]?\d+)?")


def visible_json(value: Any, indent: int | None = None) -> str:
    r"""Return a value as JSON in which every character that cannot be seen is escaped.

    Such characters are controls, among them those of the second block (C1), marks that turn the direction of the text,
    separators of lines, and halves of characters (surrogates).

    Examples
    --------
    >>> print(visible_json({"Größe": "a\x9b31m\u202e"}))
    {"Größe": "a\u009b31m\u202e"}
    """
    text = json.dumps(value, indent=indent, ensure_ascii=False, allow_nan=False)
    return BEYOND_ASCII.sub(lambda found: found[0] if found[0].isprintable() else json.dumps(found[0])[1:-1], text)


def as_cell(value: Any) -> Any:
    """Return a value for a CSV file: texts that a spreadsheet would take for formulas begin with an apostrophe.

    Examples
    --------
    >>> [as_cell(value) for value in ("=1+1", "@A1", "-5", -5, "a=b")]
    ["'=1+1", "'@A1", '-5', -5, 'a=b']
    """
    if not isinstance(value, str) or not A_FORMULA.match(value) or A_NUMBER.fullmatch(value):
        return value
    return f"'{value}"


def from_cell(value: Any) -> Any:
    """Return a value of a CSV file without the apostrophe of `as_cell`.

    Examples
    --------
    >>> [from_cell(value) for value in ("'=1+1", "'a'", -5)]
    ['=1+1', "'a'", -5]
    """
    return AN_ESCAPED_FORMULA.sub("", value, count=1) if isinstance(value, str) and value[:1] == "'" else value
