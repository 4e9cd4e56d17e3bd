"""Results as tables: printed text, HTML in notebooks, and data frames."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

__all__ = [
    "Printed",
    "Sheet",
    "import_pandas",
    "left_out",
]


@dataclass(frozen=True)
class Sheet:
    """A table of texts with a heading.

    Parameters
    ----------
    caption : str
        Sentence above the table that describes it.
    header : sequence of str
        Names of the columns.
    rows : sequence of sequences of str
        The cells.
    footer : str, default=""
        A sentence below the table.

    Examples
    --------
    >>> print(Sheet("Two results.", ["name", "value"], [["a", "0.5"], ["<b>", "12.25"]]).text())
    Two results.
    name  value
    a       0.5
    <b>   12.25
    """

    caption: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    footer: str = ""

    def text(self) -> str:
        """Return lines whose columns are aligned, numbers to the right."""
        widths = [max(len(row[column]) for row in (self.header, *self.rows)) for column in range(len(self.header))]
        right = self._right()
        lines = [
            "  ".join(
                cell.rjust(width) if numeric else cell.ljust(width) for cell, width, numeric in zip(row, widths, right)
            ).rstrip()
            for row in (self.header, *self.rows)
        ]
        return "\n".join([line for line in (self.caption, *lines, self.footer) if line])

    def html(self) -> str:
        """Return an HTML table with escaped cells."""
        looks = [f'style="text-align: {"right" if numeric else "left"}"' for numeric in self._right()]

        def line(cells: Sequence[str], tag: str) -> str:
            return "<tr>" + "".join(f"<{tag} {look}>{escape(c)}</{tag}>" for c, look in zip(cells, looks)) + "</tr>"

        parts = [f"<p>{escape(self.caption)}</p>"] if self.caption else []
        parts += ["<table>", f"<thead>{line(self.header, 'th')}</thead>", "<tbody>"]
        parts += [line(row, "td") for row in self.rows]
        parts += ["</tbody>", "</table>"]
        parts += [f"<p>{escape(self.footer)}</p>"] if self.footer else []
        return f"<div>{''.join(parts)}</div>"

    def _right(self) -> list[bool]:
        return [
            bool(self.rows) and all(_is_number(row[column]) for row in self.rows) for column in range(len(self.header))
        ]


class Printed:
    """Base class of results that are displayed as tables when printed and in notebooks; ``_sheet`` returns the content.

    Examples
    --------
    >>> from protolearn.core.printing import Printed, Sheet
    >>> class Mean(Printed):
    ...     def _sheet(self):
    ...         return Sheet("", ["measure", "value"], [["mean", "0.5"]])
    >>> print(Mean())
    measure  value
    mean       0.5
    """

    def _sheet(self) -> Sheet:
        raise NotImplementedError

    def __str__(self) -> str:
        return self._sheet().text()

    def _repr_html_(self) -> str:
        return self._sheet().html()


def left_out(n_rows: int, what: str) -> str:
    """Return the sentence below a table from which rows are left out; empty if there are none.

    Parameters
    ----------
    n_rows : int
        Number of rows that are not printed.
    what : str
        What a row contains, in the singular.

    Returns
    -------
    str
        Number of rows, and the method that returns all of them.

    Examples
    --------
    >>> from protolearn.core.printing import left_out
    >>> left_out(3, "feature")
    'and 3 more features; to_frame() returns all'
    """
    return f"and {n_rows} more {what}{'s' if n_rows > 1 else ''}; to_frame() returns all" if n_rows > 0 else ""


def import_pandas() -> Any:
    """Import pandas, or raise an error that explains how to install it.

    Examples
    --------
    >>> from protolearn.core.printing import import_pandas
    >>> len(import_pandas().DataFrame({"a": [1, 2]}))
    2
    """
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError(
            "Data frames need pandas, which could not be imported; install it with: pip install 'protolearn[files]'"
        ) from error
    return pd


def _is_number(cell: str) -> bool:
    text = cell.strip().removesuffix("%").strip()
    if not text:
        return True
    try:
        float(text)
    except ValueError:
        return False
    return True
