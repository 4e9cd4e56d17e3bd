"""Blocks of rows. The size of a block depends on the data, never on the number of threads.

>>> list(cut(7, 3))
[slice(0, 3, None), slice(3, 6, None), slice(6, 7, None)]
>>> list(row_blocks(3, 8 * 1000, most=16_000))
[slice(0, 2, None), slice(2, 3, None)]
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import cache, partial
from itertools import pairwise
from threading import Event, Lock, local
from typing import Any, TypeVar

from joblib import effective_n_jobs
from threadpoolctl import OpenBLASController, ThreadpoolController

__all__ = [
    "CACHED",
    "CLOSE",
    "HELD",
    "Threads",
    "blas_architectures",
    "block_size",
    "chunk_threads",
    "cut",
    "row_blocks",
]

CLOSE = 1 << 18  #: Bytes of a block that several passes go over: within the second cache of a core.


CACHED = 1 << 21  #: Bytes of a block that a matrix product makes and the next lines read: within the last cache.


HELD = 1 << 23  #: Bytes of a block that only must not fill the memory.


def cut(stop: int, size: int, start: int = 0) -> Iterator[slice]:
    """Cut rows into slices of a given size; the last slice contains the remaining rows.

    Examples
    --------
    >>> from protolearn.core.threads import cut
    >>> list(cut(7, 3))
    [slice(0, 3, None), slice(3, 6, None), slice(6, 7, None)]
    """
    return (slice(first, min(first + size, stop)) for first in range(start, stop, size))


def block_size(row_bytes: int, most: int, least: int = 1) -> int:
    """Return the number of rows that fit into ``most`` bytes, at least ``least`` rows.

    Examples
    --------
    >>> from protolearn.core.threads import block_size
    >>> block_size(8 * 1000, most=16_000), block_size(8 * 1000, most=16_000, least=10)
    (2, 10)
    """
    return max(least, most // max(1, row_bytes))


def row_blocks(n_rows: int, row_bytes: int, most: int, least: int = 1) -> Iterator[slice]:
    """Cut rows into blocks of ``most`` bytes.

    Examples
    --------
    >>> from protolearn.core.threads import row_blocks
    >>> list(row_blocks(3, 8 * 1000, most=16_000))
    [slice(0, 2, None), slice(2, 3, None)]
    """
    return cut(n_rows, block_size(row_bytes, most, least))


S = TypeVar("S")


T = TypeVar("T")


PARTS = 8  # of a loop that has other work beside it, so that threads end at about the same time


_HERE = local()  # `at_work`: whether this thread is one of several that share some work


class Threads:
    """Threads that process parts of the work; results do not depend on their number.

    Parameters
    ----------
    n : int
        Number of threads.
    least : int
        Rows below which a thread is not worth its while.

    Examples
    --------
    >>> import numpy as np
    >>> done = np.zeros(10, int)
    >>> def count(first, last, done):
    ...     done[first:last] += 1
    >>> Threads(2, least=2).over(10, count, ..., done)
    >>> done.tolist()
    [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]
    >>> list(Threads(2).map(abs, [3, -2, 1]))
    [3, 2, 1]
    """

    def __init__(self, n: int = 1, least: int = 1000) -> None:
        self.n, self.least = n, least
        self._pool = ThreadPoolExecutor(n, initializer=_begin_work) if n > 1 else None

    @property
    def _helpers(self) -> ThreadPoolExecutor | None:
        """Return who shares the parts; nobody within a part, as shared work is not shared again."""
        return None if getattr(_HERE, "at_work", False) else self._pool

    def map(self, function: Callable[[S], T], parts: Iterable[S]) -> Iterator[T]:
        """Yield ``function(part)`` for all parts, in order."""
        waiting, helpers = list(parts), self._helpers
        if helpers is None or len(waiting) == 1:
            yield from map(function, waiting)
            return
        running = deque(helpers.submit(function, part) for part in waiting)
        try:
            while running:
                result = running[0].result()
                running.popleft()
                yield result
        finally:  # after an interrupt, none begins and none still writes
            for part in running:
                part.cancel()
            wait(running)

    def collect(self, function: Callable[[S], T], parts: Iterable[S]) -> list[T]:
        """Return ``function(part)`` for all parts, in order, when all are done.

        A thread that is done with a part takes the next one by itself. This costs less than `map`, which wakes the
        caller for every part.
        """
        waiting, helpers = list(parts), self._helpers
        if helpers is None or len(waiting) == 1:
            return list(map(function, waiting))
        results: dict[int, T] = {}
        places, lock, ended = iter(range(len(waiting))), Lock(), Event()

        def work() -> None:
            while True:
                with lock:
                    place = next(places, None)
                if place is None or ended.is_set():
                    return
                try:
                    results[place] = function(waiting[place])
                except BaseException:
                    ended.set()
                    raise

        running = [helpers.submit(work) for _ in range(min(self.n, len(waiting)))]
        try:
            for each in running:
                each.result()
        finally:  # after an interrupt, none begins and none still writes
            ended.set()
            wait(running)
        return [results[place] for place in range(len(waiting))]

    def over(
        self,
        n_rows: int,
        loop: Callable[..., object],
        *args: Any,
        step: int = 1,
        most: int | None = None,
        beside: Callable[[], object] | None = None,
    ) -> None:
        """Call the loop for parts of the rows: the ``...`` among its arguments becomes the first and last row.

        Rows are parted at multiples of ``step`` only. A loop that treats so many at a time, by products of matrices,
        then has the same blocks on any number of threads, and the same results to the last bit. A part has ``most``
        rows or about as many, so that a compiled loop that takes long can be interrupted. One of the threads does the
        work ``beside``, if given, before it helps the others.
        """
        at = next(position for position, argument in enumerate(args) if argument is ...)
        before, after = args[:at], args[at + 1 :]
        n_steps = -(-n_rows // step)
        n_threads = max(1, min(self.n, n_rows // self.least, n_steps))
        n_parts = n_threads if most is None else max(n_threads, min(n_steps, -(-n_rows // most)))
        if beside is not None and n_threads > 1:
            n_parts = max(n_parts, min(n_steps, PARTS))
        edges = [min(n_rows, step * (n_steps * part // n_parts)) for part in range(n_parts + 1)]
        work: list[Callable[[], object]] = [partial(loop, *before, *part, *after) for part in pairwise(edges)]
        workers = Threads(1) if n_threads == 1 else self
        workers.collect(lambda part: part(), work if beside is None else [beside, *work])


def _begin_work() -> None:
    _HERE.at_work = True


@contextmanager
def chunk_threads(n_jobs: int | None = None) -> Iterator[int]:
    """Hold BLAS to one thread and yield the number of threads to spread chunks over.

    ``n_jobs=None`` means as many as BLAS was allowed, so that ``OMP_NUM_THREADS``, ``threadpool_limits`` and joblib's
    workers are respected. On the small products of a chunk two BLAS threads are slower than one; two chunks at a
    time are not; and a product that is cut for threads may be rounded differently. The limit of BLAS belongs to the
    whole process, so of several fits that run at the same time the first sets it, and the last one lifts it again.

    It can decorate a function, as ``@chunk_threads(1)``, all of whose products are then made on one thread.

    Examples
    --------
    >>> with chunk_threads(2) as outer, chunk_threads() as inner:
    ...     outer, inner
    (2, 1)
    """
    blas = _blas()
    allowed = max((library.num_threads for library in blas.lib_controllers), default=1)
    _HOLD.enter(blas)
    try:
        yield allowed if n_jobs is None else effective_n_jobs(n_jobs)
    finally:
        _HOLD.leave()


@cache
def blas_architectures() -> set[str]:
    """Return the kinds of processor for which the matrix libraries have chosen their kernels.

    Examples
    --------
    >>> isinstance(blas_architectures(), set)
    True
    """
    return {str(getattr(library, "architecture", "")) for library in _blas().lib_controllers}


class _Hold:
    """The limit of BLAS to one thread, and how many rely on it."""

    def __init__(self) -> None:
        self.n_users = 0
        self.limit: Any = None
        self.lock = Lock()

    def enter(self, blas: Any) -> None:
        with self.lock:
            if self.n_users == 0:
                with _in_control():
                    self.limit = blas.limit(limits=1)
            self.n_users += 1

    def leave(self) -> None:
        with self.lock:
            self.n_users -= 1
            if self.n_users == 0:
                with _in_control():
                    self.limit.restore_original_limits()


_HOLD = _Hold()


@contextmanager
def _in_control() -> Iterator[None]:
    """Let this thread set limits, whichever has set them before, and any other afterwards.

    From its version 3.8 on, threadpoolctl ignores all threads but the first that sets a limit, until that lets go.
    """
    let_go = getattr(OpenBLASController, "clear_controlling_thread", lambda force: None)
    let_go(force=True)
    try:
        yield
    finally:
        let_go(force=True)


@cache
def _blas() -> Any:
    return ThreadpoolController().select(user_api="blas")
