"""How many threads to use: ours run over chunks, so the matrix library itself is held to one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import cache
from threading import Lock
from typing import Any

from joblib import effective_n_jobs
from threadpoolctl import ThreadpoolController

__all__ = ["chunk_threads"]


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
