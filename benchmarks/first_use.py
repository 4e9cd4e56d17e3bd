"""How long the first use of an estimator takes beyond a second one, with nothing compiled before and with a warm cache.

``python -m benchmarks.first_use [NAME ...]`` prints a table: for each estimator and setting, the processor seconds
that fitting and applying it to a few samples takes in a process of its own, beyond the same done again. Each process is
a fork of one that has imported scikit-learn, but neither numba nor anything compiled.
"""

from __future__ import annotations

import os
import sys
from multiprocessing import get_context
from tempfile import TemporaryDirectory
from time import process_time

from threadpoolctl import threadpool_limits

from protolearn.cli._first_fits import estimator_names, first_fits, use


def main() -> None:
    """Print the table."""
    names = sys.argv[1:] or estimator_names()
    fits = [(name, number, fit) for name in names for number, fit in enumerate(first_fits(name))]
    print("| estimator | empty cache | warm cache |\n|---|---|---|")
    with get_context("fork").Pool(1, maxtasksperchild=1) as processes:
        for name, number, fit in fits:
            with TemporaryDirectory() as folder:
                cold, warm = (processes.apply(beyond, (name, number, folder)) for _ in range(2))
            print(f"| `{' '.join(repr(fit).split())}` | {cold:.1f} | {warm:.1f} |", flush=True)


def beyond(name: str, number: int, folder: str) -> float:
    """Return the seconds that the first use takes beyond a second one, with compiled loops in a folder."""
    assert "numba" not in sys.modules
    os.environ["NUMBA_CACHE_DIR"] = folder
    estimator = first_fits(name)[number]
    seconds = []
    with threadpool_limits(1):
        for _ in range(2):
            start = process_time()
            use(estimator, "float64")
            seconds.append(process_time() - start)
    return seconds[0] - seconds[1]


if __name__ == "__main__":
    main()
