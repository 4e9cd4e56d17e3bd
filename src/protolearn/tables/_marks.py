"""The decimal mark of a table, decided over all its numbers."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from protolearn.tables._dialect import marks_of, pandas, read_numbers

__all__ = ["MARK_NAMES", "decided_mark"]

MARK_NAMES = {".": "point", ",": "comma"}
MOSTLY = 0.9  # of the texts of a column are numbers; those of others show nothing


def decided_mark(
    path: Path, columns: Iterable[tuple[str, Any]], separator: str | None, known: str | None
) -> tuple[str | None, dict[str, str], list[str]]:
    """Return the decimal mark of a table, those that columns show, and notes on numbers that do not show it.

    Numbers such as 2,5 show the mark. Columns with numbers such as 1,250 only are read with the mark that the other
    columns show, or else with the mark of the training table, or the usual one of the separator. If these differ, or
    there is none, the table is refused.

    Parameters
    ----------
    path : Path
        File, for messages.
    columns : iterable of (str, Series)
        Names and texts of columns.
    separator : str or None
        Separator of the values.
    known : {".", ","} or None
        Decimal mark of the training table.
    """
    found = {name: marks for name, texts in columns if (marks := marks_of(texts)).numbers >= MOSTLY}
    own = {name: marks.own for name, marks in found.items() if marks.own is not None}
    shown = set(own.values())
    unclear = {name: marks.either for name, marks in found.items() if marks.own is None and marks.either}
    if not unclear:
        return (shown.pop() if len(shown) == 1 else known), own, []
    usual = None if shown else _usual(unclear.values(), separator)
    candidates = shown if len(shown) == 1 else {mark for mark in (known, usual) if mark is not None}
    example = next(iter(unclear.values()))[0]
    names = _listed(list(unclear))
    if len(candidates) != 1:
        with_point, with_comma = (_value(example, mark) for mark in ".,")
        raise ValueError(
            f"{path}: numbers such as {example} in {names} may mean {with_point} or {with_comma}, and nothing in the "
            'file shows which; give the decimal mark, as decimal="." or decimal="," (--decimal on the command line).'
        )
    mark = candidates.pop()
    said = f"Numbers such as {example} in {names} are read as {_value(example, mark)} (decimal {MARK_NAMES[mark]})."
    return mark, own, [said]


def _usual(unclear: Iterable[list[str]], separator: str | None) -> str | None:
    """Return the mark that is usual where values are separated in some way; numbers such as 1.250 have a point."""
    texts = [text for texts in unclear for text in texts]
    if not any("," in text for text in texts):
        return "."
    if any("." in text for text in texts):
        return None
    return {";": ",", ",": "."}.get(separator or "")


def _value(text: str, mark: str) -> str:
    return f"{read_numbers(pandas().Series([text]), mark).iloc[0]:.12g}"


def _listed(names: list[str], most: int = 5) -> str:
    more = f" and {len(names) - most} more columns" if len(names) > most else ""
    return ", ".join(map(repr, names[:most])) + more
