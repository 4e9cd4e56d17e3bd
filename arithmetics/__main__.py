"""Run the tests in every arithmetic that the machine can do, and print a line for each.

``python -m arithmetics`` runs all tests in all of them; ``--only oldest reordered -- tests/core tests/maps`` some.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import time

from arithmetics import BUILD, ROOT, Arithmetic, arithmetics

TESTS = [sys.executable, "-m", "pytest", "--numprocesses", "2", "--dist", "worksteal", "--quiet", "--tb=short", "-rfE"]


def main() -> int:
    """Run the tests; return 1 if any of them fails in any arithmetic."""
    known = list(arithmetics())
    names = [arithmetic.name for arithmetic in known]
    parser = argparse.ArgumentParser(prog="python -m arithmetics", description=__doc__)
    parser.add_argument("--only", nargs="+", choices=names, default=names, metavar="NAME", help=", ".join(names))
    parser.add_argument("tests", nargs="*", help="what to give to pytest; all tests by default")
    given = parser.parse_args()
    BUILD.mkdir(exist_ok=True)
    passed = [_passes(arithmetic, given.tests) for arithmetic in known if arithmetic.name in given.only]
    return int(not all(passed))


def _passes(arithmetic: Arithmetic, tests: list[str]) -> bool:
    log, start = BUILD / f"{arithmetic.name}.log", time.monotonic()
    with log.open("w") as output:
        done = subprocess.run([*TESTS, *tests], cwd=ROOT, env=arithmetic.environment, stdout=output, stderr=output)
    text = log.read_text()
    last = text.splitlines()[-1] if text else ""
    counts = {word: int(n) for n, word in re.findall(r"(\d+) (passed|failed|error)", last)}
    n_failed = counts.get("failed", 0) + counts.get("error", 0)
    taken = f"{time.monotonic() - start:.0f} s"
    print(f"{arithmetic.name:14} {counts.get('passed', 0):6} passed {n_failed:4} failed  {taken:>7}", flush=True)
    if done.returncode:
        failures = [line for line in text.splitlines() if line.startswith(("FAILED", "ERROR"))]
        print("\n".join(failures or [f"pytest ended with code {done.returncode}; see {log}"]), flush=True)
    return done.returncode == 0


if __name__ == "__main__":
    sys.exit(main())
