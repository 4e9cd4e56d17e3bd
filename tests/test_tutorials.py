"""Tutorials of commands do what they say: they print what is shown, up to numbers and bars. Others are doctests."""

import re
import shlex
from pathlib import Path

import pytest

pytest.importorskip("typer")
pytest.importorskip("pandas")
pytest.importorskip("skops")

from typer.testing import CliRunner

from protolearn.cli import app

PAGES = sorted((Path(__file__).parents[1] / "docs" / "tutorials").glob("*.md"))
TUTORIALS = [page for page in PAGES if "```console" in page.read_text(encoding="utf-8")]


def words(text):
    """Return the words of an output; figures and the order of rows may differ on another processor."""
    return set(re.findall(r"[a-z]+", text.lower()))


@pytest.mark.parametrize("path", TUTORIALS, ids=lambda path: path.stem)
def test_tutorial(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    blocks = re.findall(r"^```(python|console)\n(.*?)^```", path.read_text(encoding="utf-8"), flags=re.M | re.S)
    assert len(blocks) > 3
    scope = {}
    for language, text in blocks:
        if language == "python":
            exec(text, scope)
            continue
        command, shown = re.fullmatch(r"\$ protolearn ([^\n]*)\n(.*)", text, flags=re.S).groups()
        done = CliRunner().invoke(app, shlex.split(command))
        assert done.exit_code == 0, done.output
        assert len(words(shown) - words(done.output)) <= 3, words(shown) - words(done.output)
