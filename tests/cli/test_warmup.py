"""What ``protolearn warmup`` fits, and what it says."""

import pytest

pytest.importorskip("typer")

from typer.testing import CliRunner

import protolearn
from protolearn.cli import _first_fits, app
from protolearn.core.compiling import cache_place


def test_every_estimator_is_among_the_first_fits():
    names = _first_fits.estimator_names()
    assert {"TSNE", "OutOfSample", "KMeans"} < set(names) < set(protolearn.__all__)
    for name in names:
        assert {type(estimator).__name__ for estimator in _first_fits.first_fits(name)} == {name}
    assert set(_first_fits.SETTINGS) < set(names)


def test_warmup_fits_and_names_the_cache(monkeypatch):
    used = []
    monkeypatch.setattr(_first_fits, "estimator_names", lambda: ["KMeans", "GLVQ"])
    monkeypatch.setattr(_first_fits, "use", lambda estimator, dtype: used.append((type(estimator).__name__, dtype)))
    result = CliRunner().invoke(app, ["warmup"])
    assert result.exit_code == 0
    assert set(used) == {(name, dtype) for name in ("KMeans", "GLVQ") for dtype in ("float32", "float64")}
    assert [line.split()[0] for line in result.output.splitlines()] == ["KMeans", "GLVQ", "Done"]
    assert cache_place() in result.output
