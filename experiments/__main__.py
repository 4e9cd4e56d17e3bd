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
from experiments._report import DOCUMENTS, PICTURES, RESULTS, Result, markdown, save, save_picture, table

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
        if not given.draw:
            _run(name, script, given.quick)
        elif _path(name, PICTURES).exists():
            save_picture(name[:3], _read(name, PICTURES), script.draw, PICTURES)
        else:
            print(f"{name[:3].upper()} has not been run here; run it, and it is drawn.")


def _run(name: str, script: ModuleType, quick: bool) -> None:
    print(f"\n{name[:3].upper()} {script.TITLE}", flush=True)
    start = time.perf_counter()
    result = script.run(quick)
    result["seconds"] = round(time.perf_counter() - start, 1)
    result["version"] = protolearn.__version__
    result["date"] = date.today().isoformat()
    print(table(result["rows"]), f"\n{result['seconds']} s", flush=True)
    # a smoke run must not replace the real results
    results, pictures = (Path(tempfile.mkdtemp()),) * 2 if quick else (RESULTS, PICTURES)
    save(name[:3], result, results)
    save_picture(name[:3], result, script.draw, pictures)


def _path(name: str, folder: Path = RESULTS) -> Path:
    return folder / f"{name[:3]}.json"


def _read(name: str, folder: Path = RESULTS) -> Result:
    result: Result = json.loads(_path(name, folder).read_text())
    return result


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m experiments", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="eNN", help="which experiments, such as e03; all by default")
    parser.add_argument("--quick", action="store_true", help="a reduced smoke run; results go to a temporary folder")
    parser.add_argument("--table", action="store_true", help=f"only write docs/{PAGE.name} from the stored results")
    parser.add_argument("--draw", action="store_true", help="only draw the pictures again, of what was run here")
    given = parser.parse_args()
    known = {name[:3] for name in SCRIPTS}
    if unknown := sorted(set(given.names) - known):
        parser.error(f"no experiment {', '.join(unknown)}; there are {', '.join(sorted(known))}")
    return given


if __name__ == "__main__":
    main()
