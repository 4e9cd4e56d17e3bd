"""How long the first fit takes beyond a second one, with nothing compiled before and with all that is found on disk.

``python -m benchmarks.first_use [NAME ...]`` prints a table: for each estimator and setting, seconds of the processor
that the first fit of a few samples takes in a process of its own beyond the same fit done again.
"""

from __future__ import annotations

import os
import subprocess
import sys
from tempfile import TemporaryDirectory
from time import process_time

from benchmarks.environments import thread_settings
from protolearn.cli._first_fits import estimator_names, first_fits, use


def main() -> None:
    """Print the table, or measure one estimator if a number comes before its name."""
    match sys.argv[1:]:
        case [number, name] if number.isdecimal():
            print(beyond(name, int(number)))
        case names:
            print("| estimator | empty cache | warm cache |\n|---|---|---|")
            for name in names or estimator_names():
                for number, estimator in enumerate(first_fits(name)):
                    with TemporaryDirectory() as folder:
                        cold, warm = (in_new_process(name, number, folder) for _ in range(2))
                    print(f"| `{' '.join(repr(estimator).split())}` | {cold:.1f} | {warm:.1f} |", flush=True)


def in_new_process(name: str, number: int, folder: str) -> float:
    """Measure in a process that looks for compiled loops in a folder."""
    command = [sys.executable, "-m", "benchmarks.first_use", str(number), name]
    environ = os.environ | thread_settings(1) | {"NUMBA_CACHE_DIR": folder}
    return float(subprocess.run(command, env=environ, check=True, stdout=subprocess.PIPE, text=True).stdout)


def beyond(name: str, number: int) -> float:
    """Return the seconds that the first use takes beyond a second one."""
    estimator = first_fits(name)[number]
    seconds = []
    for _ in range(2):
        start = process_time()
        use(estimator, "float64")
        seconds.append(process_time() - start)
    return seconds[0] - seconds[1]


if __name__ == "__main__":
    main()
