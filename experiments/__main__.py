"""Command line: ``python -m experiments [e03 g01 ...] [--quick] [--table] [--draw]``."""

from __future__ import annotations

import argparse
import importlib
import json
import tempfile
import time
from datetime import date
from pathlib import Path
from types import ModuleType

import protolearn
from experiments._report import DOCUMENTS, RESULTS, Result, markdown, save, table

FOLDER = Path(__file__).parent
PAGE = FOLDER.parent / "docs" / "experiments.md"
SCRIPTS = [path.stem for letter in DOCUMENTS for path in sorted(FOLDER.glob(f"{letter}[0-9][0-9]_*.py"))]
LAST = ("e13", "b08", "v08")  # measure time, so nothing should run beside them


def main() -> None:
    """Run, redraw or tabulate the chosen experiments."""
    given = _arguments()
    chosen = [name for name in SCRIPTS if not given.names or name[:3] in given.names]
    if given.table:
        PAGE.write_text(markdown({name: _read(name) for name in SCRIPTS if _path(name).exists()}))
        return
    for name in sorted(chosen, key=lambda name: name.startswith(LAST)):
        script = importlib.import_module(f"experiments.{name}")
        if given.draw:
            save(name[:3], _read(name), script.draw, RESULTS)
        else:
            _run(name, script, given.quick)


def _run(name: str, script: ModuleType, quick: bool) -> None:
    print(f"\n{name[:3].upper()} {script.TITLE}", flush=True)
    start = time.perf_counter()
    result = script.run(quick)
    result["seconds"] = round(time.perf_counter() - start, 1)
    result["version"] = protolearn.__version__
    result["date"] = date.today().isoformat()
    print(table(result["rows"]), f"\n{result['seconds']} s", flush=True)
    # a smoke run must not replace the real results
    save(name[:3], result, script.draw, Path(tempfile.mkdtemp()) if quick else RESULTS)


def _path(name: str) -> Path:
    return RESULTS / f"{name[:3]}.json"


def _read(name: str) -> Result:
    result: Result = json.loads(_path(name).read_text())
    return result


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m experiments", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="eNN", help="which experiments, such as e03; all by default")
    parser.add_argument("--quick", action="store_true", help="a reduced smoke run; results go to a temporary folder")
    parser.add_argument("--table", action="store_true", help=f"only write docs/{PAGE.name} from the stored results")
    parser.add_argument("--draw", action="store_true", help="only draw the pictures again from the stored results")
    given = parser.parse_args()
    known = {name[:3] for name in SCRIPTS}
    if unknown := sorted(set(given.names) - known):
        parser.error(f"no experiment {', '.join(unknown)}; there are {', '.join(sorted(known))}")
    return given


if __name__ == "__main__":
    main()
