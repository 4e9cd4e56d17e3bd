"""Progress bars on the terminal: on the error stream, and removed at the end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from io import StringIO
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.progress import TimeRemainingColumn as TimeLeft

__all__ = ["Bars"]


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
