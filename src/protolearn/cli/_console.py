"""Progress bars on the terminal: on the error stream, and removed at the end."""

from __future__ import annotations

import re
import signal
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from io import StringIO
from typing import TYPE_CHECKING, Any, NoReturn

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.progress import TimeRemainingColumn as TimeLeft
from rich.table import Table as RichTable
from rich.text import Text

if TYPE_CHECKING:
    from protolearn.cli._report import Table


__all__ = [
    "Bars",
    "as_rich",
    "print_listing",
    "printable",
    "told_what_is_wrong",
]


class Bars:
    """Shows what a command is doing, unless it is to be quiet or nobody watches."""

    def __init__(self, console: Console, quiet: bool) -> None:
        self._console = console
        self._quiet = quiet or not console.is_terminal

    @contextmanager
    def waiting(self, what: str) -> Iterator[None]:
        """Show that something goes on, and for how long."""
        columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
        with Progress(*columns, console=self._console, transient=True, disable=self._quiet) as progress:
            progress.add_task(what, total=None)
            yield

    @contextmanager
    def fitting(self, estimator: Any) -> Iterator[None]:
        """Show the bar of an estimator that learns meanwhile, which tells the time left."""
        if self._quiet:
            yield
            return
        terminal = _Terminal(self._console)
        estimator.set_params(verbose=1)
        try:
            with redirect_stdout(terminal):
                yield
        finally:
            estimator.set_params(verbose=0)
            terminal.erase()

    @contextmanager
    def counting(self, what: str, total: int) -> Iterator[Callable[[], None]]:
        """Show how many of several steps are done, and how long the others will take."""
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeLeft(), TextColumn("left"))
        with Progress(*columns, console=self._console, transient=True, disable=self._quiet) as progress:
            task = progress.add_task(what, total=total)
            yield lambda: progress.advance(task)


class _Terminal(StringIO):
    """The terminal of a console, as estimators write to it; what they have written can be erased."""

    def __init__(self, console: Console) -> None:
        super().__init__()
        self._file, self._lines = console.file, 0

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        self._lines += text.count("\n")
        return self._file.write(text)

    def flush(self) -> None:
        self._file.flush()

    def erase(self) -> None:
        """Go back to where the first line began."""
        self.write("\r\x1b[2K" + "\x1b[1A\x1b[2K" * self._lines)
        self.flush()


NUMBER = re.compile(r"[-+]?[\d,.]+(?: %)?(?: ± [\d.]+)?|")


def as_rich(table: Table) -> RichTable:
    """Return a table of the page for the terminal."""
    first, *others = table.columns
    title = printable(table.caption, "table.title")
    drawn = RichTable(title=title, title_justify="left", box=SIMPLE_HEAD, pad_edge=False, padding=0, show_edge=False)
    drawn.add_column(first, no_wrap=True)
    for column in others:
        drawn.add_column(column, justify="right")
    for row in table.rows:
        drawn.add_row(*map(printable, row))
    return drawn


def print_listing(console: Console, table: Table) -> None:
    """Print a table that is read along its lines: a heading above it, words at the left, numbers at the right."""
    drawn = RichTable(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, show_header=any(table.columns))
    for column, *cells in zip(table.columns, *table.rows):
        numbers = all(NUMBER.fullmatch(cell) for cell in cells)
        drawn.add_column(printable(column), justify="right" if numbers else "left", overflow="fold")
    for row in table.rows:
        drawn.add_row(*map(printable, row))
    console.print(printable(table.caption, "bold"), soft_wrap=True)
    console.print(drawn)
    console.print()


def printable(text: str, style: str = "") -> Text:
    """Return a text as it is, whatever names in files contain: no markup, and nothing that steers the terminal."""
    letters = (letter if letter.isprintable() or letter == "\n" else "\N{REPLACEMENT CHARACTER}" for letter in text)
    return Text("".join(letters), style)


@contextmanager
def told_what_is_wrong(console: Console) -> Iterator[None]:
    """Print what is wrong with a file or an option, in place of a traceback; warnings are printed as well.

    A command that is asked to end, by SIGTERM or because its terminal is closed, removes its temporary files first.
    """

    def told(message: Warning | str, *_: Any, **__: Any) -> None:
        console.print(printable(f"Warning: {message}", "yellow"), soft_wrap=True)

    try:
        with warnings.catch_warnings(), _ended_in_order():
            warnings.showwarning = told
            yield
    except (OSError, ValueError, ImportError, MemoryError) as error:
        large = "There is not enough memory; use a smaller input. " if isinstance(error, MemoryError) else ""
        console.print(printable(f"{large}{_reason(error)}", "red"), soft_wrap=True)
        raise typer.Exit(1) from error


def _reason(error: Exception) -> str:
    """Return the message of an error; of the system, without its number."""
    if not isinstance(error, OSError) or error.strerror is None:
        return str(error)
    return error.strerror if error.filename is None else f"{error.filename}: {error.strerror}"


@contextmanager
def _ended_in_order() -> Iterator[None]:
    """End by an exception if the process is asked to end, so that temporary files are removed."""

    def end(number: int, _: Any) -> NoReturn:
        raise SystemExit(128 + number)

    if threading.current_thread() is not threading.main_thread():  # only this thread receives signals
        yield
        return
    asking = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before = {number: signal.getsignal(number) for number in asking}
    heeded = [number for number in asking if before[number] == signal.SIG_DFL]  # nohup, say, ignores some
    try:
        for number in heeded:
            signal.signal(number, end)
        yield
    finally:
        for number in heeded:
            signal.signal(number, before[number])
