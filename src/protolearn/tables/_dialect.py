"""Detection of the format of text files: encoding, column separator, decimal mark and header."""

from __future__ import annotations

import codecs
import csv
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from io import StringIO
from itertools import islice
from pathlib import Path

from protolearn.core.files import file_size
from protolearn.core.texts import from_cell
from protolearn.tables._pandas import pandas
from protolearn.tables._values import marks_of

__all__ = ["Dialect", "find_dialect", "text_encoding", "unique_names"]

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
