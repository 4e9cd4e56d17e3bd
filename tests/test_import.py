import subprocess
import sys

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


def test_subpackages_by_attribute():
    assert protolearn.metrics.quantization_error([[0.0]], [[3.0]]) == 3.0
