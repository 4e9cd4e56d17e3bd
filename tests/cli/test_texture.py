"""Textures through the command line: files, the table that is printed, and what is said when something is wrong."""

import sys
from io import BytesIO

import numpy as np
import pytest

pytest.importorskip("typer")
pytest.importorskip("av")
pytest.importorskip("matplotlib")

from PIL import Image
from typer.testing import CliRunner

from protolearn.applications import DynamicTexture, LinearDynamicTexture, frame_errors, read_video, write_video
from protolearn.cli import app
from protolearn.cli._commands.images import contact_sheet
from protolearn.datasets import make_dynamic_texture

WIDE = {"COLUMNS": "160"}
FEW = ["--components", "5", "--charts", "2"]


def run(*arguments):
    return CliRunner().invoke(app, ["texture", *map(str, arguments)], env=WIDE)


@pytest.fixture(scope="module")
def video(tmp_path_factory):
    path = tmp_path_factory.mktemp("videos") / "waves.mp4"
    write_video(path, make_dynamic_texture(60, (24, 32), random_state=0))
    return path


def test_a_new_video_with_its_errors(video, tmp_path):
    target = tmp_path / "new.mp4"
    result = run(video, "-o", target, "--frames", 30, "--seed", 3, *FEW)
    assert result.exit_code == 0, result.output
    originals = read_video(video)
    models = [DynamicTexture(5, n_charts=2, random_state=3), LinearDynamicTexture(5)]
    made = [model.fit(originals).sample(30, random_state=3) for model in models]
    assert frame_errors(read_video(target), made[0]).max() < 5

    rows = [line.split() for line in result.output.strip().splitlines()[-2:]]
    for row, name, model, frames in zip(rows, ("charts", "linear"), models, made, strict=True):
        alike = frame_errors(frames, originals, nearest=True)
        figures = [
            model.reconstruction_errors_.mean(),
            frame_errors(frames, originals[2:32]).mean(),
            alike.mean(),
            alike.max(),
            100 * model.compression_ratio_,
        ]
        assert row[0] == name
        np.testing.assert_allclose([float(cell) for cell in row[1:5]], figures[:4], atol=0.0051)
        assert row[5:7] == [f"{figures[4]:.0f}", "%"]
    with Image.open(tmp_path / "new-frames.png") as sheet:
        assert sheet.width > sheet.height


def test_small_parts_of_a_video_to_other_files(video, tmp_path):
    size = ["--size", 12, 16, "--max-frames", 40]
    result = run(video, "--output", tmp_path / "new.gif", "--frames", 50, "--fps", 10, *size, *FEW)
    assert result.exit_code == 0, result.output
    assert read_video(tmp_path / "new.gif").shape == (50, 12, 16, 3)  # more frames than there are originals


def test_the_sheet_shows_each_video_in_a_row():
    dark, light = np.full((40, 10, 20, 3), 30, np.uint8), np.full((20, 10, 20, 3), 220, np.uint8)
    with Image.open(BytesIO(contact_sheet({"dark": dark, "light": light}))) as picture:
        pixels = np.asarray(picture.convert("RGB"))
    rows = {level: np.flatnonzero((pixels == level).all(axis=2).sum(axis=1) > 50) for level in (30, 220)}
    columns = {level: np.flatnonzero((pixels == level).all(axis=2).sum(axis=0) > 20) for level in (30, 220)}
    assert rows[30].max() < rows[220].min()
    assert columns[220].max() < 0.55 * columns[30].max()  # it ends after half the time
    assert len(columns[30]) > 1.8 * len(columns[220])


def test_what_is_wrong_is_said(video, tmp_path, monkeypatch):
    (tmp_path / "text.avi").write_text("no video " * 100)
    target = tmp_path / "new.mp4"
    for arguments, message in [
        ((tmp_path / "none.avi", "-o", target), "No such file"),
        ((tmp_path / "text.avi", "-o", target), "cannot be read as a video"),
        ((video, "-o", target, "--components", 70), "n_components=70 is more than the 59 principal components"),
        ((video, "-o", target, "--charts", 0), "n_charts=0"),
        ((video, "-o", target, "--frames", 0, *FEW), "n_frames=0"),
        ((tmp_path / "none.avi", "-o", tmp_path / "new.txt"), "must end in"),
    ]:
        result = run(*arguments)
        assert result.exit_code == 1
        assert message in result.output
        assert "Traceback" not in result.output
    monkeypatch.setitem(sys.modules, "av", None)
    result = run(video, "-o", target)
    assert result.exit_code == 1
    assert "protolearn[video]" in result.output
    assert [path.name for path in tmp_path.iterdir()] == ["text.avi"]


def test_outputs_are_tried_before_the_work_and_never_replace_the_video(video, tmp_path, monkeypatch):
    monkeypatch.setattr(DynamicTexture, "fit", lambda *_: pytest.fail("the work has begun"))
    copy = tmp_path / "waves.mp4"
    copy.write_bytes(video.read_bytes())
    (tmp_path / "sheet-frames.png").hardlink_to(copy)
    (tmp_path / "folder-frames.png").mkdir()
    for target, message in [
        (copy, "would be overwritten"),
        (tmp_path / "sheet.mp4", "would be overwritten"),  # the picture beside it
        (tmp_path / "folder.mp4", "folder-frames.png is a folder"),
        (tmp_path / "none" / "new.mp4", "cannot be written: No such file"),
    ]:
        result = run(copy, "-o", target, *FEW)
        assert result.exit_code == 1
        assert message in result.output
    assert copy.read_bytes() == video.read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder-frames.png", "sheet-frames.png", "waves.mp4"]
