"""Bars on the terminal for what takes a while: on the error stream, and gone when it is done."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

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
    def counting(self, what: str, total: int) -> Iterator[Callable[[], None]]:
        """Show how many of several steps are done, and how long the others will take."""
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeLeft(), TextColumn("left"))
        with Progress(*columns, console=self._console, transient=True, disable=self._quiet) as progress:
            task = progress.add_task(what, total=total)
            yield lambda: progress.advance(task)
