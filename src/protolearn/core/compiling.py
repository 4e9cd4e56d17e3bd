"""Compilation of loops: options, notices on first use, and the location of the cache."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

__all__ = ["FROM_PYTHON", "WITHIN_LOOPS", "cache_place", "compiling_told"]

#: Options of numba for a loop that Python calls, without the part that lets C call it.
FROM_PYTHON: dict[str, Any] = {"cache": True, "nogil": True, "no_cfunc_wrapper": True}
#: Options of numba for a loop that only compiled loops call: without the part that turns objects of Python into arrays
#: and numbers, it compiles in about half the time.
WITHIN_LOOPS: dict[str, Any] = {**FROM_PYTHON, "no_cpython_wrapper": True}

_told: list[bool] = []  # not empty once it has been told in this process


@contextmanager
def compiling_told() -> Iterator[None]:
    """Print a notice to the error stream, once per process, if loops are compiled inside the context.

    Examples
    --------
    >>> with compiling_told():
    ...     pass  # a fit of an estimator
    """
    from numba.core import event

    class Notice(event.Listener):
        def on_start(self, event: Any) -> None:
            if not _told:
                _told.append(True)
                print(f"compiling what is used for the first time (once; kept in {cache_place()})", file=sys.stderr)

        def on_end(self, event: Any) -> None:
            pass

    with event.install_listener("numba:compile", Notice()):  # there is no such event for what the cache has
        yield


def cache_place() -> str:
    """Return the folder of numba's compilation cache for protolearn.

    Examples
    --------
    >>> cache_place() != ""
    True
    """
    from protolearn.core._kernels import link_winners

    folder = Path(str(link_winners.stats.cache_path))
    return f"__pycache__ of {folder.parents[1]}" if folder.name == "__pycache__" else str(folder.parent)
