"""Command line: ``python -m experiments [e03 g01 ...]`` runs experiments; ``--help`` tells of what else it does."""

from __future__ import annotations

import argparse
import importlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from types import ModuleType

from joblib.externals.loky import get_reusable_executor

import protolearn
from experiments._again import differences, fitting, fraction, missed_rows
from experiments._pages import pages
from experiments._report import DOCUMENTS, PICTURES, RESULTS, Result, save, save_picture, table

FOLDER = Path(__file__).parent
DOCS = FOLDER.parent / "docs"
SCRIPTS = [path.stem for letter in DOCUMENTS for path in sorted(FOLDER.glob(f"{letter}[0-9][0-9]_*.py"))]
TIMED = ("e13", "b08", "v08")  # measure time, so nothing should run beside them
FIFTH = 0.2


def main(words: Sequence[str] | None = None) -> None:
    """Run, run again, redraw or tabulate the chosen experiments, by the words of the command line."""
    given = _arguments(words)
    stored = {name: _read(name, RESULTS) for name in SCRIPTS if _path(name, RESULTS).exists()}
    chosen = [name for name in SCRIPTS if not given.names or name[:3] in given.names]
    if given.table:
        for path, text in pages(stored).items():
            (DOCS / path).parent.mkdir(exist_ok=True)
            (DOCS / path).write_text(text, encoding="utf-8")
        return
    if given.missed:
        chosen = [name for name in chosen if name in stored and missed_rows(stored[name])]
    if given.check:
        steady = [name for name in chosen if name in stored and not name.startswith(TIMED)]
        chosen = steady if given.names else fraction(steady, FIFTH, given.seed)
    if given.minutes is not None:
        chosen = fitting(chosen, stored, given.minutes)
    chosen = sorted(chosen, key=lambda name: name.startswith(TIMED))
    if given.check:
        sys.exit(_check(chosen, stored))
    for name in chosen:
        script = importlib.import_module(f"experiments.{name}")
        if not given.draw:
            _store(name, script, _run(name, script, given.quick), given.quick)
        elif _path(name, PICTURES).exists():
            save_picture(name[:3], _read(name, PICTURES), script.draw, PICTURES)
        else:
            print(f"{name[:3].upper()} has not been run here; run it, and it is drawn.")


def _run(name: str, script: ModuleType, quick: bool = False) -> Result:
    """Return what an experiment finds, with its times and the code that it ran with."""
    print(f"\n{name[:3].upper()} {script.TITLE}", flush=True)
    result: Result = {"commit": _commit()}
    start, before = time.perf_counter(), _processor_seconds()
    result |= script.run(quick)
    result["seconds"] = round(time.perf_counter() - start, 1)
    result["cpu_seconds"] = round(_processor_seconds() - before, 1)
    result["version"] = protolearn.__version__
    result["date"] = date.today().isoformat()
    print(table(result["rows"]), f"\n{result['seconds']} s", flush=True)
    return result


def _store(name: str, script: ModuleType, result: Result, quick: bool) -> None:
    # a smoke run must not replace the real results
    results, pictures = (Path(tempfile.mkdtemp()),) * 2 if quick else (RESULTS, PICTURES)
    save(name[:3], result, results)
    save_picture(name[:3], result, script.draw, pictures)


def _check(names: Sequence[str], stored: dict[str, Result]) -> int:
    """Run experiments again without storing them; return 1 if they do not find what is stored."""
    print("Run again: " + ", ".join(name[:3] for name in names), flush=True)
    lines: list[str] = []
    for name in names:
        found = _run(name, importlib.import_module(f"experiments.{name}"))
        sentences = differences(stored[name], found)
        print(f"{len(sentences)} rows differ from what is stored", *sentences, sep="\n", flush=True)
        lines += [f"{name[:3].upper()} {sentence}" for sentence in sentences]
    print(f"\n{len(names)} experiments, {len(lines)} rows that differ", *lines, sep="\n")
    return int(bool(lines))


def _processor_seconds() -> float:
    """Return the seconds of the processors so far; processes of joblib are counted when they have ended."""
    get_reusable_executor().shutdown(wait=True)
    return sum(os.times()[:4])


def _commit() -> str | None:
    """Return the commit of the code, with a plus sign if files of it have changed since; None outside a repository."""
    code = ("--", "src", "experiments", ":!experiments/results")
    try:
        commit, changes = (
            subprocess.run(["git", *words], cwd=FOLDER.parent, capture_output=True, text=True, check=True).stdout
            for words in (("rev-parse", "--short", "HEAD"), ("status", "--porcelain", *code))
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return commit.strip() + ("+" if changes else "")


def _path(name: str, folder: Path) -> Path:
    return folder / f"{name[:3]}.json"


def _read(name: str, folder: Path) -> Result:
    result: Result = json.loads(_path(name, folder).read_text())
    return result


def _arguments(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m experiments", description="Run published experiments again.")
    parser.add_argument("names", nargs="*", metavar="eNN", help="which experiments, such as e03; all by default")
    one = parser.add_mutually_exclusive_group()
    one.add_argument("--quick", action="store_true", help="a reduced smoke run; results go to a temporary folder")
    one.add_argument("--table", action="store_true", help="only write the pages in docs from the stored results")
    one.add_argument("--draw", action="store_true", help="only draw the pictures again, of what was run here")
    one.add_argument("--missed", action="store_true", help="only experiments with missed rows in the stored results")
    one.add_argument(
        "--check",
        action="store_true",
        help="compare a random fifth (or the experiments named) with what is stored, but for those that measure time, "
        "and store nothing; the exit status is 1 if a row differs",
    )
    parser.add_argument("--seed", type=int, default=0, help="of the random fifth, 0 by default")
    parser.add_argument("--minutes", type=float, help="leave out what would take longer in all, by the stored times")
    given = parser.parse_args(words)
    known = {name[:3] for name in SCRIPTS}
    if unknown := sorted(set(given.names) - known):
        parser.error(f"no experiment {', '.join(unknown)}; there are {', '.join(sorted(known))}")
    return given


if __name__ == "__main__":
    main()
