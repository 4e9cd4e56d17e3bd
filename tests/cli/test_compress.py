"""Pictures through the command line: files, the table that is printed, and what is said when something is wrong."""

import re

import numpy as np
import pytest

pytest.importorskip("typer")
pytest.importorskip("PIL")

from PIL import Image
from typer.testing import CliRunner

from protolearn.applications import ImageCompressor, decode
from protolearn.cli import app
from protolearn.metrics import psnr

WIDE = {"COLUMNS": "120"}


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments], env=WIDE)


@pytest.fixture(scope="module")
def pictures(tmp_path_factory):
    """A grey picture, one in colour, and one with transparency, as files."""
    folder = tmp_path_factory.mktemp("pictures")
    rows, columns = np.indices((60, 81))
    grey = (128 + 90 * np.sin(rows / 5) * np.cos(columns / 7) + 30 * ((rows + columns) % 13 > 6)).clip(0, 255)
    colour = np.stack([grey, 255 - grey, np.roll(grey, 9, axis=1)], axis=2)
    clear = np.concatenate([colour, np.full((60, 81, 1), 100)], axis=2)
    arrays = {"grey": grey, "colour": colour, "clear": clear}
    for name, values in arrays.items():
        Image.fromarray(values.astype(np.uint8)).save(folder / f"{name}.png")
    return folder, {name: values.astype(np.uint8) for name, values in arrays.items()}


@pytest.mark.parametrize(("name", "options"), [("grey", ["--bpp", 1.5]), ("colour", ["--entropy", "--method", "pca"])])
def test_there_and_back(pictures, tmp_path, name, options):
    folder, arrays = pictures
    image = arrays[name]
    result = run("compress", folder / f"{name}.png", tmp_path / "small.plc", *options)
    assert result.exit_code == 0, result.output
    stream = (tmp_path / "small.plc").read_bytes()
    bpp = float(options[1]) if options[0] == "--bpp" else 1.25
    assert 0.6 * bpp < 8 * len(stream) / (60 * 81) <= bpp

    assert run("decompress", tmp_path / "small.plc", tmp_path / "back.png").exit_code == 0
    with Image.open(tmp_path / "back.png") as picture:
        back = np.asarray(picture)
    np.testing.assert_array_equal(back, decode(stream))

    row = re.split(r"\s{2,}|(?<=\d) (?=\d)", result.output.strip().splitlines()[-1].strip())
    size, n_bytes, rate, ratio, quality, seconds = row
    assert size == "81 x 60"
    assert int(n_bytes.replace(",", "")) == len(stream)
    assert float(rate) == pytest.approx(8 * len(stream) / (60 * 81), abs=0.0006)
    assert float(ratio) == pytest.approx(image.size / len(stream), abs=0.06)
    assert float(quality) == pytest.approx(psnr(image, back), abs=0.006)
    assert float(seconds) >= 0


def test_it_is_the_compressor(pictures, tmp_path):
    folder, arrays = pictures
    assert run("compress", folder / "grey.png", tmp_path / "a.plc", "--method", "vq", "--seed", 3).exit_code == 0
    expected = ImageCompressor("vq", bpp=1.25, random_state=3).fit(arrays["grey"]).encode(arrays["grey"])
    assert (tmp_path / "a.plc").read_bytes() == expected


def test_transparency_is_left_out(pictures, tmp_path):
    folder, _ = pictures
    result = run("compress", folder / "clear.png", tmp_path / "a.plc", "--method", "pca", "--bpp", 3)
    assert result.exit_code == 0
    assert "Transparency is left out" in result.output
    assert decode((tmp_path / "a.plc").read_bytes()).shape == (60, 81, 3)


def test_what_is_wrong_is_said(pictures, tmp_path):
    folder, _ = pictures
    grey, target = folder / "grey.png", tmp_path / "a.plc"
    Image.fromarray(np.zeros((8, 8), np.uint16)).save(tmp_path / "deep.png")
    (tmp_path / "text.png").write_text("no picture")
    for arguments, message in [
        (("compress", tmp_path / "none.png", target), "No such file"),
        (("compress", tmp_path / "text.png", target), "cannot identify image file"),
        (("compress", tmp_path / "deep.png", target), "more than 8 bits"),
        (("compress", grey, target, "--method", "zip"), "method='zip' must be one of"),
        (("compress", grey, target, "--bpp", 0.001), "bpp=0.001 is too little"),
        (("decompress", grey, tmp_path / "b.png"), "Not a compressed picture"),
        (("decompress", tmp_path / "none.plc", tmp_path / "b.png"), "No such file"),
    ]:
        result = run(*arguments)
        assert result.exit_code == 1
        assert message in result.output
        assert "Traceback" not in result.output
    assert not target.exists()


def test_damage_is_said(pictures, tmp_path):
    folder, _ = pictures
    assert run("compress", folder / "grey.png", tmp_path / "a.plc", "--method", "pca").exit_code == 0
    stream = bytearray((tmp_path / "a.plc").read_bytes())
    stream[len(stream) // 2] ^= 1
    (tmp_path / "a.plc").write_bytes(stream)
    result = run("decompress", tmp_path / "a.plc", tmp_path / "b.png")
    assert result.exit_code == 1
    assert "checksum is wrong" in result.output
    assert not (tmp_path / "b.png").exists()
