"""How many threads to use: ours run over chunks, so the matrix library itself is held to one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from functools import cache
from itertools import pairwise
from threading import Lock
from typing import Any

from joblib import effective_n_jobs
from threadpoolctl import ThreadpoolController

__all__ = ["Threads", "chunk_threads"]


class Threads:
    """Some threads that loops over rows are spread over.

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
    """

    def __init__(self, n: int = 1, least: int = 1000) -> None:
        self.n, self.least = n, least
        self._pool = ThreadPoolExecutor(n) if n > 1 else None

    def over(self, n_rows: int, loop: Callable[..., object], *args: Any) -> None:
        """Call the loop for parts of the rows: the ``...`` among its arguments becomes the first and last row."""
        at = next(position for position, argument in enumerate(args) if argument is ...)
        before, after = args[:at], args[at + 1 :]
        n_parts = max(1, min(self.n, n_rows // self.least))
        edges = [n_rows * part // n_parts for part in range(n_parts + 1)]
        if self._pool is None or n_parts == 1:
            loop(*before, 0, n_rows, *after)
            return
        for done in [self._pool.submit(loop, *before, a, b, *after) for a, b in pairwise(edges)]:
            done.result()


@contextmanager
def chunk_threads(n_jobs: int | None = None) -> Iterator[int]:
    """Hold BLAS to one thread and yield the number of threads to spread chunks over.

    ``n_jobs=None`` means as many as BLAS was allowed, so that ``OMP_NUM_THREADS``, ``threadpool_limits`` and joblib's
    workers are respected. On the small products of a chunk two BLAS threads are slower than one; two chunks at a
    time are not. The limit of BLAS belongs to the whole process, so of several fits that run at the same time only
    the first sets it, and lifts it again.

    Examples
    --------
    >>> with chunk_threads(2) as outer, chunk_threads() as inner:
    ...     outer, inner
    (2, 1)
    """
    blas = _blas()
    allowed = max((library.num_threads for library in blas.lib_controllers), default=1)
    first = _HELD.acquire(blocking=False)
    try:
        with blas.limit(limits=1) if first else nullcontext():
            yield allowed if n_jobs is None else effective_n_jobs(n_jobs)
    finally:
        if first:
            _HELD.release()


_HELD = Lock()


@cache
def _blas() -> Any:
    return ThreadpoolController().select(user_api="blas")
