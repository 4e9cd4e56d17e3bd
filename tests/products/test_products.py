"""No denormal numbers enter matrix products, which takes some processors many times as long."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import protolearn

HERE = Path(__file__).parent
PUBLIC = {name for name in protolearn.__all__ if isinstance(getattr(protolearn, name), type)}


@pytest.fixture(scope="module")
def lines(tmp_path_factory):
    """Return a line for each model that was fitted under watch: denormal numbers, all numbers, name."""
    blas = np.show_config(mode="dicts")["Build Dependencies"]["blas"]["name"]
    if sys.platform != "linux" or blas != "scipy-openblas" or shutil.which("gcc") is None:
        pytest.skip(f"products of the wheels for Linux can be watched, with gcc; these are of {blas}")
    library = tmp_path_factory.mktemp("products") / "watch.so"
    subprocess.run(["gcc", "-shared", "-fPIC", "-O2", "-o", library, HERE / "watch.c", "-ldl"], check=True)
    run = subprocess.run(
        [sys.executable, HERE / "fit_all.py"],
        env={**os.environ, "LD_PRELOAD": str(library)},
        capture_output=True,
        text=True,
        check=True,
    )
    first, *others = (line.split(maxsplit=2) for line in run.stdout.splitlines())
    assert int(first[0]) == 50 * 40  # of a product that has such numbers: all of them are seen
    return others


def test_weights_that_enter_products_are_normal_numbers(lines):
    assert [line for line in lines if int(line[0])] == []
    assert sum(int(entries) for _, entries, _ in lines) > 10_000_000


def test_all_estimators_are_watched(lines):
    fitted = " ".join(name for _, _, name in lines)
    assert {name for name in PUBLIC if f"{name}(" in fitted} == PUBLIC - {"LearnedMetric"}
