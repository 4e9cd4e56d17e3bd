"""How the house is built: packages know what is public of each other only, and stand on each other in one order."""

import ast
import sys
from collections import defaultdict
from graphlib import TopologicalSorter
from importlib import import_module
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def sources():
    sys.path.insert(0, str(Path(__file__).parents[1] / "docs"))
    yield import_module("draw_imports")
    sys.path.pop(0)
    sys.modules.pop("draw_imports")


def is_private(name: str) -> bool:
    return any(part.startswith("_") and not part.startswith("__") for part in name.split("."))


def crossings(imports, modules=()):
    """Return what is private of another package, and names with an underscore of another module of the same."""
    found = set()
    for one in imports:
        here, there = one.packages
        full = f"{one.module}.{one.name}"
        if is_private(full) if here != there else is_private(one.name) and full not in modules:
            found.add(f"{one.importer} {full}".replace("protolearn.", ""))
    return found


def test_private_names_are_found(sources):
    source = "from protolearn.core._a import b\nfrom protolearn.maps._c import d, _e\nfrom protolearn.core.f import g\n"
    imports = sources.imports_in("protolearn.maps._h", ast.parse(source + "def late():\n    import protolearn.lvq._i"))
    assert crossings(imports) == {"maps._h core._a.b", "maps._h maps._c._e", "maps._h lvq._i."}


def test_no_private_name_crosses_packages_nor_an_underscore_modules(sources):
    assert crossings(sources.all_imports(), sources.trees()) == set()


def test_no_private_attribute_crosses_packages(sources):
    defined, used = defaultdict(set), defaultdict(set)
    for module, tree in sources.trees().items():
        package = sources.package_of(module)
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                defined[package].add(node.name)
            elif isinstance(node, ast.Attribute) and is_private(node.attr):
                inherited = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
                if isinstance(node.ctx, ast.Store):
                    defined[package].add(node.attr)
                elif not inherited:
                    used[package].add((node.attr, f"{module} {ast.unparse(node)}".removeprefix("protolearn.")))
    ours = set().union(*defined.values())
    assert not {
        place for package, uses in used.items() for name, place in uses if name in ours and name not in defined[package]
    }


def test_packages_import_each_other_in_one_order(sources):
    graph = sources.package_graph()
    assert set(graph) == {path.parent.name for path in (sources.SOURCE / "protolearn").glob("*/__init__.py")}
    TopologicalSorter(graph).prepare()  # refuses cycles
