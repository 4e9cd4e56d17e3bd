"""Callbacks that monitor training and may stop it."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from shutil import get_terminal_size
from threading import Lock
from time import monotonic
from typing import Any, Self, TextIO

from protolearn.core.compiling import compiling_told

__all__ = [
    "Progress",
    "wants_to_stop",
]


def wants_to_stop(callback: Callable[[Any], bool | None] | None, state: Any) -> bool:
    """Call a callback with the current state; return whether it requests to stop.

    Examples
    --------
    >>> wants_to_stop(lambda cost: cost < 0.1, 0.01), wants_to_stop(None, 0.01)
    (True, False)
    """
    if callback is None:
        return False
    try:
        return bool(callback(state))
    except StopIteration:
        return True


LENGTH = 16  # of a bar, in characters


PAUSE = 0.1  # seconds from one drawing to the next


GRAIN = 0.005  # share of the work from one remembered moment to the next, at least


_last_line = Lock()  # of the terminal, held by the one bar that is drawn there


Values = dict[str, float | None]


@dataclass
class Progress:
    """Progress display: nothing (``verbose=0``), a bar or about ten lines (1), or all lines (2 or more).

    A bar is shown where a line can be redrawn, on a terminal and in a notebook. It is visible from the first step to
    the end of the ``with`` block, and suppresses nested displays.

    Parameters
    ----------
    name : str
        Name of the estimator or function.
    total : int or None
        Maximum number of steps; None if there is no limit.
    verbose : float
        Amount of output.
    unit : str, default="iteration"
        Name of a step.
    every : int, optional
        Number of steps between printed lines, instead of about ten lines in total.
    n_runs : int or None, default=1
        Number of runs of all steps; None if it is not known.

    Examples
    --------
    >>> with Progress("SOM", 20, verbose=1, unit="epoch") as progress:
    ...     for epoch in range(1, 4):
    ...         progress.step(epoch, range=8 / epoch, cost=1 / 3)
    [SOM] epoch 1/20  range 8  cost 0.333333
    [SOM] epoch 2/20  range 4  cost 0.333333
    """

    name: str
    total: int | None
    verbose: float
    unit: str = "iteration"
    every: int | None = None
    n_runs: int | None = 1
    _bar: Bar | None = field(default=None, init=False)
    _redraws: bool = field(default=False, init=False)
    _done: int = field(default=0, init=False)  # steps of the present run
    _passed: int = field(default=0, init=False)  # steps of all runs, those that were not needed included
    _ended: int = field(default=0, init=False)  # runs
    _values: Values = field(default_factory=dict, init=False)
    _stopped: bool = field(default=False, init=False)
    _start: float = field(default_factory=lambda: monotonic(), init=False)
    _turn: Any = field(default_factory=Lock, init=False, repr=False)  # for runs side by side
    _notice: ExitStack = field(default_factory=ExitStack, init=False, repr=False)

    def __reduce__(self) -> tuple[Any, ...]:
        # In another process there is nothing to go on with.
        return Progress, (self.name, self.total, self.verbose, self.unit, self.every, self.n_runs)

    def __enter__(self) -> Self:
        self._redraws = 0 < self.verbose <= 1 and can_redraw(sys.stdout)
        if self.verbose:
            self._notice.enter_context(compiling_told())
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._notice.close()
        if self._bar is None:
            return
        try:
            stopped = self._stopped or kind is not None
            early = self.total is not None and self._done < self.total
            word = "stopped at " if stopped else "ended at " if early else ""
            self._bar.end(self._share() if stopped else 1.0, word + self._count(self._done), self._values)
        finally:
            self._bar = None
            _last_line.release()

    def step(self, done: int, new: int = 1, **values: float | None) -> None:
        """Report the number of completed steps of a run, ``new`` of them since the last call.

        Values are shown with their names; for values of None, only the name is shown.
        """
        if self._redraws:
            with self._turn:
                self._done, self._values = done, values
                self._passed += new
                self._draw()
        elif self._due(done, new):
            print(self.line(done, **values), flush=True)

    def stop(self) -> None:
        """Report that the work will not be finished."""
        self._stopped = True

    def end_run(self, done: int) -> None:
        """Continue with the next run, after the given number of steps of this run, which may be below the maximum."""
        with self._turn:
            self._ended += 1
            self._passed += max((self.total or 0) - done, 0)

    @property
    def seconds(self) -> float:
        """Return the elapsed time."""
        return monotonic() - self._start

    def line(self, done: int, **values: float | None) -> str:
        """Return the line that is printed about a step."""
        return "  ".join([f"[{self.name}] {self._count(done)}", *described(values, 6)])

    def _due(self, done: int, new: int) -> bool:
        """Say whether the last steps are worth a line."""
        if self.every is not None:
            return bool(self.verbose) and done // self.every > (done - new) // self.every
        passed = not self.total or done == 1 or 10 * done // self.total > 10 * (done - new) // self.total
        return self.verbose > 1 or (bool(self.verbose) and passed)

    def note(self, text: str) -> None:
        """Print a remark if ``verbose`` is positive."""
        if self.verbose:
            print(f"[{self.name}] {text}", flush=True)

    def _count(self, done: int) -> str:
        return f"{self.unit} {done}" + ("" if self.total is None else f"/{self.total}")

    def _share(self) -> float | None:
        """Return how much of all runs is done, if that is known."""
        return min(self._passed / (self.total * self.n_runs), 1.0) if self.total and self.n_runs else None

    def _draw(self) -> None:
        if self._bar is None:
            if not _last_line.acquire(blocking=False):
                return
            self._bar = Bar(self.name, sys.stdout, self._start)
        run = "" if self.n_runs == 1 else f"run {self._ended + 1}" + (f"/{self.n_runs}  " if self.n_runs else "  ")
        self._bar.show(self._share(), run + self._count(self._done), self._values)


class Bar:
    """Progress bar with the fraction of completed work, the elapsed time and the remaining time.

    The remaining time is estimated from the speed of the second half of the completed steps, without the first step.
    One-time costs, such as compilation, are thereby excluded, and changes of speed are taken into account.

    Parameters
    ----------
    name : str
        Name of the estimator or function.
    stream : file
        Where it is drawn.
    start : float
        When the work began, by `time.monotonic`.
    """

    def __init__(self, name: str, stream: TextIO, start: float) -> None:
        self.name, self.stream, self.start = name, stream, start
        self._full, self._empty = marks_of(stream)
        self._moments: deque[tuple[float, float]] = deque()  # shares, and when they were reached
        self._drawn, self._length = -float("inf"), 0

    def show(self, share: float | None, text: str, values: Values) -> None:
        """Draw the line, unless it has just been drawn."""
        now = monotonic()
        if share is not None and (not self._moments or share - self._moments[-1][0] >= GRAIN):
            self._moments.append((share, now))
        if now - self._drawn >= PAUSE:
            self._drawn = now
            self._write(share, clock(now - self.start) + self._left(share, now), text, values)

    def end(self, share: float | None, text: str, values: Values) -> None:
        """Draw the line for the last time, and go on to the next."""
        self._write(share, clock(monotonic() - self.start), text, values)
        print(file=self.stream, flush=True)

    def _left(self, share: float | None, now: float) -> str:
        if share is None:
            return ""
        while len(self._moments) > 1 and self._moments[1][0] <= share / 2:
            self._moments.popleft()
        before, then = self._moments[0]
        return f", {clock((now - then) * (1.0 - share) / (share - before))} left" if share > before else ""

    def _write(self, share: float | None, time: str, text: str, values: Values) -> None:
        """Write the line over the last one, without the first of the values if it would be too long."""
        full = int(LENGTH * (share or 0.0))
        bar = [] if share is None else [f"{self._full * full + self._empty * (LENGTH - full)} {int(100 * share):3d}%"]
        start, shown, width = " ".join([f"[{self.name}]", *bar]), described(values, 4), get_terminal_size().columns - 1
        while len(line := "  ".join([start, time, text, *shown])) > width and shown:
            shown = shown[1:]
        line = line[:width]
        print("\r" + line.ljust(self._length), end="", file=self.stream, flush=True)
        self._length = len(line)


def described(values: Values, digits: int) -> list[str]:
    """Return values with their names, in so many digits.

    Examples
    --------
    >>> described({"exaggerated": None, "error_of_rods": 0.012345}, 3)
    ['exaggerated', 'error of rods 0.0123']
    """
    return [name.replace("_", " ") + ("" if x is None else f" {x:.{digits}g}") for name, x in values.items()]


def clock(seconds: float) -> str:
    """Return a time as a clock shows it.

    Examples
    --------
    >>> clock(75.4), clock(3675)
    ('1:15', '1:01:15')
    """
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def can_redraw(stream: TextIO | None) -> bool:
    """Say whether a carriage return leads back to the start of the line: on a terminal, and in a notebook.

    Examples
    --------
    >>> import io
    >>> can_redraw(io.StringIO())
    False
    """
    return stream is not None and (type(stream).__module__.startswith("ipykernel") or stream.isatty())


def marks_of(stream: TextIO) -> tuple[str, str]:
    """Return the two characters that bars are made of, as far as an output has them.

    Examples
    --------
    >>> import io
    >>> marks_of(io.TextIOWrapper(io.BytesIO(), "utf-8")), marks_of(io.TextIOWrapper(io.BytesIO(), "ascii"))
    (('█', '░'), ('#', '-'))
    """
    try:
        "█░".encode(getattr(stream, "encoding", None) or "ascii")
    except UnicodeEncodeError:
        return "#", "-"
    return "█", "░"
