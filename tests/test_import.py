import ast
import inspect
import os
import site
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import protolearn


def test_import_is_light():
    """``import protolearn`` loads nothing heavy; estimators do not load numba or matplotlib before they need them."""
    code = (
        "import sys, protolearn; heavy = {'numpy', 'scipy', 'sklearn', 'numba', 'matplotlib'};"
        "print(sorted(heavy & set(sys.modules)));"
        "protolearn.SOM; print(sorted({'numba', 'matplotlib', 'typer'} & set(sys.modules)))"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.split("\n")[:2] == ["[]", "[]"]


def test_a_map_needs_neither_measures_nor_dissimilarities():
    code = (
        "import sys; from protolearn import SOM;"
        "print(sorted({'protolearn.metrics', 'protolearn.dissimilarities', 'matplotlib', 'numba'} & set(sys.modules)))"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.strip() == "[]"


def test_unknown_name():
    with pytest.raises(AttributeError, match="no attribute 'Som'"):
        protolearn.Som  # noqa: B018


def test_a_star_imports_estimators_only():
    """Names such as ``load`` and ``save`` of others stay what they are; ours are imported by name."""
    names = {"load": "mine", "save": "mine"}
    exec("from protolearn import *", names)
    assert names["load"] == names["save"] == "mine"
    assert inspect.isclass(names["SOM"])
    assert all(inspect.isclass(value) for name, value in names.items() if name[0].isalpha() and value != "mine")
    functions = {"load", "save", "to_onnx", "as_metric"}
    assert functions.isdisjoint(protolearn.__all__)
    assert functions <= set(dir(protolearn))
    assert callable(protolearn.load)


def test_subpackages_by_attribute():
    assert protolearn.metrics.quantization_error([[0.0]], [[3.0]]) == 3.0


def test_editors_are_told_where_names_come_from():
    """The imports for type checkers and the table of homes say the same."""
    imports = [node for node in ast.walk(ast.parse(inspect.getsource(protolearn))) if isinstance(node, ast.ImportFrom)]
    told = {
        (alias.name, alias.asname): node.module
        for node in imports
        if node.module.startswith("protolearn.")
        for alias in node.names
    }
    assert told == {(name, name): f"protolearn.{home}" for name, home in protolearn._HOME.items()}


def test_names_have_types(tmp_path):
    """A type checker knows what is imported from protolearn, and so does an editor that completes names."""
    pytest.importorskip("mypy")
    program = tmp_path / "program.py"
    program.write_text("from protolearn import SOM, metrics\nreveal_type(SOM())\nreveal_type(metrics.psnr)\n")
    command = [sys.executable, "-m", "mypy", "--follow-imports=silent", "--config-file=", str(program)]
    source = str(Path(protolearn.__file__).parents[1])
    environment = os.environ | ({} if source in site.getsitepackages() else {"MYPYPATH": source})
    out = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environment).stdout
    assert 'Revealed type is "protolearn.maps._som.SOM"' in out
    assert 'Revealed type is "def (' in out


@pytest.mark.parametrize(
    ("package", "name", "instead"),
    [
        ("metrics", "r_nx_auc", "Use view_quality"),
        ("applications", "digit_classifier", "Use protolearn.PrototypeClassifier"),
        ("datasets", "make_four_clouds", "experiments/datasets.py"),
    ],
)
def test_names_that_are_gone_say_what_to_write_instead(package, name, instead):
    module = import_module(f"protolearn.{package}")
    with pytest.raises(ImportError, match=f"protolearn.{package}.{name} is gone. .*{instead}"):
        getattr(module, name)
    with pytest.raises(ImportError, match="is gone"):
        exec(f"from protolearn.{package} import {name}")
    assert not hasattr(module, "never_there")
