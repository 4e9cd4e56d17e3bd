"""Outputs of commands on a full disk, and when the process is asked to end."""

import os
import resource
import signal
import subprocess
import sys
from contextlib import contextmanager

import pytest

pytest.importorskip("typer")
pytest.importorskip("skops")
pytest.importorskip("pandas")

from typer.testing import CliRunner

from protolearn.cli import _learning, app
from protolearn.cli._learning import FILES
from tests.cli.test_files import FAST, text_of

HALF_A_COMMAND = """
import sys, time
from pathlib import Path
from rich.console import Console
from protolearn.cli._console import told_what_is_wrong
from protolearn.core.files import replacing
with told_what_is_wrong(Console()), replacing(sys.argv[1]) as new:
    new.write_text("half")
    print("begun", flush=True)
    time.sleep(100)
"""
ALL_OF_CLASSIFY = """
import sys, time
from protolearn.cli import _learning, app
def write(learned, path):
    path.write_text("half")
    print("begun", flush=True)
    time.sleep(100)
_learning._write_page = write
sys.argv = ["protolearn", "classify", sys.argv[1], "--target", "class", "--output", sys.argv[2], "--folds", "2", "-q"]
app()
"""


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(text_of())
    return path


@contextmanager
def files_no_larger_than(size):
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize(("size", "name"), [(2_000, "model.skops"), (500_000, "index.html")])
@pytest.mark.parametrize("existing", [True, False])
def test_no_output_is_replaced_if_one_cannot_be_written(table, tmp_path, monkeypatch, size, name, existing):
    folder = tmp_path / "out"
    if existing:
        folder.mkdir()
        for file in FILES:
            (folder / file).write_text("old")
    write = _learning.write_outputs

    def write_little(*arguments):
        with files_no_larger_than(size):
            write(*arguments)

    monkeypatch.setattr(_learning, "write_outputs", write_little)
    monkeypatch.setattr(_learning, "_write_page", lambda learned, path: path.write_text("x" * 1_000_000))
    command = ["classify", str(table), "--target", "class", "--output", str(folder), *FAST]
    result = CliRunner().invoke(app, command, env={"COLUMNS": "160"})
    assert result.exit_code == 1
    last = result.output.strip().splitlines()[-1]
    assert last == f"{folder / name} cannot be written: File too large"
    assert sorted(tmp_path.rglob("*")) == sorted([table, *([folder, *[folder / file for file in FILES]] * existing)])
    assert all((folder / file).read_text() == "old" for file in FILES if existing)


def ended(code, number, *arguments):
    """Start a program, send it a signal once it has begun to write, and return its exit code."""
    command = [sys.executable, "-c", code, *map(str, arguments)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "begun\n"
        process.send_signal(number)
        process.stdout.read()
    return process.returncode


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP", "SIGINT"])
def test_a_signal_leaves_no_temporary_file(tmp_path, name):
    (tmp_path / "old.txt").write_text("old")
    number = getattr(signal, name)
    assert ended(HALF_A_COMMAND, number, tmp_path / "old.txt") in (128 + number, -number, 1)
    assert os.listdir(tmp_path) == ["old.txt"]
    assert (tmp_path / "old.txt").read_text() == "old"


def test_a_signal_leaves_no_file_of_a_command(table, tmp_path):
    assert ended(ALL_OF_CLASSIFY, signal.SIGTERM, table, tmp_path / "out") == 128 + signal.SIGTERM
    assert os.listdir(tmp_path) == [table.name]


def test_signals_that_are_ignored_stay_ignored(tmp_path):
    code = "import signal; signal.signal(signal.SIGHUP, signal.SIG_IGN)\n" + HALF_A_COMMAND.replace("100", "0.5")
    assert ended(code, signal.SIGHUP, tmp_path / "new.txt") == 0
    assert (tmp_path / "new.txt").read_text() == "half"
