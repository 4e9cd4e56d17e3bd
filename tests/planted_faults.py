"""Plant faults in the sources, one at a time, and tell which of them the tests catch.

Run it by hand after a change to the tests, to see that they still notice what they noticed before::

    python tests/planted_faults.py after.json
    python tests/planted_faults.py before.json --tests OLD_CHECKOUT

The same sources and the same seed give the same faults. Each is planted in a copy of the project and tried on the
tests of its own package; those that survive are tried on all others. Compiled code is copied too, so run the tests once
before, or every copy compiles anew.
"""

import argparse
import ast
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ENDLESS = ["-o", "faulthandler_timeout=150", "-o", "faulthandler_exit_on_timeout=true"]  # seconds for one test
Change = Callable[[], None]

OPPOSITE: dict[type, type] = {
    ast.Lt: ast.GtE, ast.Gt: ast.LtE, ast.Eq: ast.NotEq, ast.Is: ast.IsNot, ast.In: ast.NotIn,
    ast.Add: ast.Sub, ast.Mult: ast.Div,
}  # fmt: skip
OPPOSITE |= {value: key for key, value in OPPOSITE.items()}
EXTREMES = {"min": "max", "minimum": "maximum", "argmin": "argmax", "nanmin": "nanmax"}
EXTREMES |= {value: key for key, value in EXTREMES.items()}


@dataclass
class Fault:
    """The fault number `index` that can be planted in a file, and what came of it."""

    path: str
    index: int
    kind: str
    line: int
    change: str = ""
    caught_by: str = ""

    @property
    def package(self) -> str:
        return Path(self.path).parent.name


def changes(node: ast.AST) -> Iterator[tuple[str, Change]]:
    """Yield the faults that can be planted in a node: their kind, and the function that plants them."""

    def put(owner: object, name: str, value: object) -> Change:
        return lambda: setattr(owner, name, value)

    match node:
        case ast.Compare(ops=[op]) if type(op) in OPPOSITE:
            yield "comparison", put(node, "ops", [OPPOSITE[type(op)]()])
        case ast.BinOp(op=op) if type(op) in OPPOSITE:
            yield "operator", put(node, "op", OPPOSITE[type(op)]())
        case ast.Constant(value=bool(value)):
            yield "constant", put(node, "value", not value)
        case ast.Constant(value=int(value)):
            yield "constant", put(node, "value", value + 1)
        case ast.Constant(value=float(value)):
            yield "constant", put(node, "value", 2 * value or 1.0)
        case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test) if not isinstance(test, ast.Compare):
            yield "condition", put(node, "test", ast.UnaryOp(ast.Not(), test))
        case ast.Name(id=name) if name in EXTREMES:
            yield "extreme", put(node, "id", EXTREMES[name])
        case ast.Attribute(attr=name) if name in EXTREMES:
            yield "extreme", put(node, "attr", EXTREMES[name])
        case ast.keyword(arg="axis", value=ast.Constant(value=int(axis))):
            yield "axis", put(node, "value", ast.Constant(0 if axis else 1))
        case ast.Call(keywords=keywords):
            for keyword in keywords:
                if keyword.arg not in (None, "axis"):
                    yield "argument", put(node, "keywords", [other for other in keywords if other is not keyword])


def places(tree: ast.AST, statement: ast.stmt | None = None) -> Iterator[tuple[str, ast.stmt, Change]]:
    """Yield all faults within the functions of a tree: kind, innermost statement, and what plants them."""
    for child in ast.iter_child_nodes(tree):
        if isinstance(tree, ast.FunctionDef) and child not in tree.body:
            continue  # decorators, types and defaults
        if isinstance(child, ast.Raise) or child is getattr(tree, "annotation", None):
            continue
        if isinstance(child, ast.Call) and ast.unparse(child.func).endswith("warn"):
            continue
        inner = statement
        if isinstance(child, ast.FunctionDef) or (statement is not None and isinstance(child, ast.stmt)):
            inner = child
        if inner is not None:
            for kind, change in changes(child):
                yield kind, inner, change
        yield from places(child, inner)


def plant(fault: Fault, project: Path) -> None:
    """Put a fault into a file of a copied project and say in `fault` what was changed."""
    path = project / fault.path
    tree = ast.parse(path.read_text())
    _, statement, change = list(places(tree))[fault.index]
    before = ast.unparse(statement).splitlines()
    change()
    pairs = [(old, new) for old, new in zip(before, ast.unparse(statement).splitlines()) if old != new]
    fault.change = " -> ".join(line.strip() for line in pairs[0])
    path.write_text(ast.unparse(tree))
    if "njit" in path.read_text():  # compiled code of other files may hold the old code of this one
        for compiled in project.rglob("*.nbi"):
            compiled.unlink()


def choose(packages: Iterable[str], number: int, seed: int) -> list[Fault]:
    """Return faults of all kinds in turn, equally many in each package, drawn with a seed."""
    faults = []
    for package in packages:
        generator = random.Random(f"{package} {seed}")
        kinds: dict[str, list[Fault]] = {}
        for path in sorted((ROOT / "src/protolearn" / package).glob("*.py")):
            for index, (kind, statement, _) in enumerate(places(ast.parse(path.read_text()))):
                fault = Fault(path.relative_to(ROOT).as_posix(), index, kind, statement.lineno)
                kinds.setdefault(kind, []).append(fault)
        for turn in range(number):
            left = kinds[sorted(kinds)[turn % len(kinds)]]
            faults.append(left.pop(generator.randrange(len(left))))
    return faults


def run(project: Path, arguments: Iterable[str]) -> str:
    """Run tests in a copied project; return the one that fails, or nothing."""
    listed = project / "arguments"
    listed.write_text("\n".join(arguments))
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *ENDLESS, f"@{listed}"]
    environment = os.environ | {"PYTHONPATH": str(project / "src"), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, check=False)
    if done.returncode in (0, 5):  # all passed, or none were found
        return ""
    lines = (done.stdout + done.stderr).splitlines()
    return next((line for line in lines if line.startswith(("FAILED", "ERROR"))), " ".join(lines[-3:]))[:300]


def copied(tests: Path, place: Path) -> Path:
    """Return a fresh copy of our sources, compiled code included, with the tests and pages of a project."""
    shutil.copytree(tests, place, ignore=shutil.ignore_patterns(".*", "src", "_build"))
    shutil.copytree(ROOT / "src", place / "src")
    return place


def tests_of(fault: Fault, project: Path) -> Iterator[list[str]]:
    """Yield the tests of the fault's package and then all others, those that have most to do with its module first."""
    name = Path(fault.path).stem.strip("_")

    def mentions(paths: Iterable[Path]) -> int:
        return -sum(path.read_text().count(name) for path in paths)

    own, others = project / "tests" / fault.package, [path for path in (project / "tests").iterdir() if path.is_dir()]
    others.sort(key=lambda path: mentions((project / "src/protolearn" / path.name).glob("*.py")))
    yield [*map(str, sorted(own.glob("test_*.py"), key=lambda path: mentions([path]))), str(Path(fault.path).parent)]
    others += sorted((project / "tests").glob("test_*.py"))
    yield [*(str(path) for path in others if path != own), "src", "README.md", "docs/quickstart.md", "docs/guide"]


def tried(fault: Fault, tests: Path, *, own: bool) -> Fault:
    """Return a fault with the test that catches it."""
    with tempfile.TemporaryDirectory() as place:
        project = copied(tests, Path(place) / "project")
        plant(fault, project)
        for arguments in [next(tests_of(fault, project))] if own else tests_of(fault, project):
            fault.caught_by = fault.caught_by or run(project, arguments)
    print(f"{fault.path}:{fault.line}: {fault.change}\n    {fault.caught_by or 'SURVIVED'}", flush=True)
    return fault


def main() -> None:
    """Plant the faults asked for and write what came of them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("report", type=Path, help="file for the result, as JSON")
    parser.add_argument("--tests", type=Path, default=ROOT, help="the project whose tests are tried (this one)")
    parser.add_argument("--packages", nargs="+", default=["core", "lvq", "relational"])
    parser.add_argument("--number", type=int, default=20, help="of faults in each package")
    parser.add_argument("--only", nargs="+", type=int, help="numbers of the faults to plant (all)")
    parser.add_argument("--own", action="store_true", help="try the tests of the fault's own package only")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    faults = choose(given.packages, given.number, given.seed)
    chosen = faults if given.only is None else [faults[number] for number in given.only]
    with ThreadPoolExecutor(2) as pool:
        done = list(pool.map(lambda fault: tried(fault, given.tests.resolve(), own=given.own), chosen))
    given.report.write_text(json.dumps([{"number": faults.index(fault)} | asdict(fault) for fault in done], indent=1))
    print(f"{sum(bool(fault.caught_by) for fault in done)} of {len(done)} faults caught")


if __name__ == "__main__":
    main()
