"""What commands print: tables, and what is wrong in place of a traceback."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console, JustifyMethod
from rich.table import Table as RichTable
from rich.text import Text

if TYPE_CHECKING:
    from protolearn.cli._report import Table

__all__ = ["as_rich", "printable", "told_what_is_wrong"]


def as_rich(table: Table, justify: JustifyMethod = "right") -> RichTable:
    """Return a table of the page for the terminal; without names of columns it has no head."""
    first, *others = table.columns
    title = printable(table.caption, "table.title")
    drawn = RichTable(
        title=title,
        title_justify="left",
        box=SIMPLE_HEAD,
        pad_edge=False,
        padding=0 if justify == "right" else (0, 2, 0, 0),
        show_edge=False,
        show_header=any(table.columns),
    )
    drawn.add_column(first, no_wrap=True)
    for column in others:
        drawn.add_column(column, justify=justify)
    for row in table.rows:
        drawn.add_row(*map(printable, row))
    return drawn


def printable(text: str, style: str = "") -> Text:
    """Return a text as it is, whatever names in files contain: no markup, and nothing that steers the terminal."""
    letters = (letter if letter.isprintable() or letter == "\n" else "\N{REPLACEMENT CHARACTER}" for letter in text)
    return Text("".join(letters), style)


@contextmanager
def told_what_is_wrong(console: Console) -> Iterator[None]:
    """Print what is wrong with a file or an option, in place of a traceback."""
    try:
        yield
    except (OSError, ValueError, ImportError, MemoryError) as error:
        large = "There is too little memory for this; use a smaller input. " if isinstance(error, MemoryError) else ""
        console.print(printable(f"{large}{error}", "red"), soft_wrap=True)
        raise typer.Exit(1) from error
