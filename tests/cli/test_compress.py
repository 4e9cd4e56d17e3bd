"""Pictures through the command line: files, the table that is printed, and what is said when something is wrong."""

import re
import zlib

import numpy as np
import pytest

pytest.importorskip("typer")
pytest.importorskip("PIL")

from PIL import EpsImagePlugin, Image
from typer.testing import CliRunner

from protolearn.applications import ImageCompressor, decode_image
from protolearn.cli import app
from protolearn.metrics import psnr

WIDE = {"COLUMNS": "120"}


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments], env=WIDE)


@pytest.fixture(scope="module")
def pictures(tmp_path_factory):
    """A gray picture, one in color, and one with transparency, as files."""
    folder = tmp_path_factory.mktemp("pictures")
    rows, columns = np.indices((60, 81))
    gray = (128 + 90 * np.sin(rows / 5) * np.cos(columns / 7) + 30 * ((rows + columns) % 13 > 6)).clip(0, 255)
    color = np.stack([gray, 255 - gray, np.roll(gray, 9, axis=1)], axis=2)
    clear = np.concatenate([color, np.full((60, 81, 1), 100)], axis=2)
    arrays = {"gray": gray, "color": color, "clear": clear}
    for name, values in arrays.items():
        Image.fromarray(values.astype(np.uint8)).save(folder / f"{name}.png")
    return folder, {name: values.astype(np.uint8) for name, values in arrays.items()}


@pytest.mark.parametrize(("name", "options"), [("gray", ["--bpp", 1.5]), ("color", ["--entropy", "--method", "pca"])])
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
    np.testing.assert_array_equal(back, decode_image(stream))

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
    assert run("compress", folder / "gray.png", tmp_path / "a.plc", "--method", "vq", "--seed", 3).exit_code == 0
    expected = ImageCompressor("vq", bpp=1.25, random_state=3).fit(arrays["gray"]).encode(arrays["gray"])
    assert (tmp_path / "a.plc").read_bytes() == expected


def test_no_other_picture_is_replaced(pictures, tmp_path):
    """A pattern such as *.png names a second picture where the file to write is expected."""
    folder, _ = pictures
    target = tmp_path / "b.png"
    target.write_bytes((folder / "gray.png").read_bytes())
    result = run("compress", folder / "color.png", target)
    assert result.exit_code == 1
    assert "is the name of an image; choose a compressed file" in result.output
    assert target.read_bytes() == (folder / "gray.png").read_bytes()


def test_transparency_is_left_out(pictures, tmp_path):
    folder, _ = pictures
    result = run("compress", folder / "clear.png", tmp_path / "a.plc", "--method", "pca", "--bpp", 3)
    assert result.exit_code == 0
    assert "Transparency is ignored" in result.output
    assert decode_image((tmp_path / "a.plc").read_bytes()).shape == (60, 81, 3)


def test_what_is_wrong_is_said(pictures, tmp_path):
    folder, _ = pictures
    gray, target = folder / "gray.png", tmp_path / "a.plc"
    Image.fromarray(np.zeros((8, 8), np.uint16)).save(tmp_path / "deep.png")
    (tmp_path / "text.png").write_text("no picture")
    for arguments, message in [
        (("compress", tmp_path / "none.png", target), "No such file"),
        (("compress", tmp_path / "text.png", target), "cannot identify image file"),
        (("compress", tmp_path / "deep.png", target), "more than 8 bits"),
        (("compress", gray, target, "--method", "zip"), "method='zip' must be one of"),
        (("compress", gray, target, "--bpp", 0.001), "bpp=0.001 is too low"),
        (("decompress", gray, tmp_path / "b.png"), "Not a compressed image"),
        (("decompress", tmp_path / "none.plc", tmp_path / "b.png"), "No such file"),
    ]:
        result = run(*arguments)
        assert result.exit_code == 1
        assert message in result.output
        assert "Traceback" not in result.output
    assert not target.exists()


def test_no_other_program_reads_a_picture(tmp_path, monkeypatch):
    """Pillow would hand PostScript to Ghostscript, whatever the file is called."""
    (tmp_path / "a.png").write_bytes(
        b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 8 8\n%%EndComments\nshowpage\n%%EOF\n"
    )
    with Image.open(tmp_path / "a.png") as picture:
        assert picture.format == "EPS"
    monkeypatch.setattr(EpsImagePlugin, "Ghostscript", lambda *_, **__: pytest.fail("Ghostscript was started"))
    result = run("compress", tmp_path / "a.png", tmp_path / "a.plc")
    assert result.exit_code == 1
    assert "not an image of a supported type" in result.output
    assert isinstance(result.exception, SystemExit)


def test_pictures_are_upright(pictures, tmp_path):
    """What a camera says about its position is not stored, so it is heeded."""
    _, arrays = pictures
    exif = Image.Exif()
    exif[0x0112] = 6
    Image.fromarray(arrays["color"]).save(tmp_path / "a.png", exif=exif)
    assert run("compress", tmp_path / "a.png", tmp_path / "a.plc", "--method", "pca", "--bpp", 4).exit_code == 0
    back = decode_image((tmp_path / "a.plc").read_bytes())
    assert psnr(np.rot90(arrays["color"], -1), back) > 25


def test_huge_and_cut_off_pictures_are_refused_in_a_sentence(pictures, tmp_path):
    whole = (pictures[0] / "color.png").read_bytes()
    huge = bytearray(whole)
    huge[16:24] = (60_000).to_bytes(4, "big") * 2
    huge[29:33] = zlib.crc32(huge[12:29]).to_bytes(4, "big")
    for content, reason in [
        (bytes(huge), "3600000000 pixels"),
        (whole[: len(whole) // 2], "damaged"),
        (b"", "damaged"),
    ]:
        (tmp_path / "a.png").write_bytes(content)
        result = run("compress", tmp_path / "a.png", tmp_path / "a.plc")
        assert result.exit_code == 1
        assert reason in result.output
        assert len(result.output.strip().splitlines()) == 1
        assert isinstance(result.exception, SystemExit)
    assert [path.name for path in tmp_path.iterdir()] == ["a.png"]


def test_an_input_is_never_replaced(pictures, tmp_path):
    source, stream = tmp_path / "a.png", tmp_path / "a.plc"
    source.write_bytes((pictures[0] / "gray.png").read_bytes())
    assert run("compress", source, stream, "--method", "pca").exit_code == 0
    (tmp_path / "hard.png").hardlink_to(source)
    (tmp_path / "soft.png").symlink_to(source)
    before = source.read_bytes(), stream.read_bytes()
    for arguments in [
        ("compress", source, source),
        ("compress", source, tmp_path / "hard.png"),
        ("compress", tmp_path / "soft.png", source),
        ("decompress", stream, stream),
    ]:
        result = run(*arguments)
        assert result.exit_code == 1
        assert "would be overwritten" in result.output
    assert (source.read_bytes(), stream.read_bytes()) == before


def test_outputs_are_tried_before_the_work_and_kept_if_it_fails(pictures, tmp_path, monkeypatch):
    monkeypatch.setattr(ImageCompressor, "fit", lambda *_: pytest.fail("the work has begun"))
    gray = pictures[0] / "gray.png"
    (tmp_path / "folder.plc").mkdir()
    for target, reason in [
        (tmp_path / "none" / "a.plc", "none/a.plc cannot be written: No such file"),
        (tmp_path / "folder.plc", "is a folder"),
    ]:
        result = run("compress", gray, target)
        assert result.exit_code == 1
        assert reason in result.output.replace("\n", "")
    monkeypatch.undo()
    (tmp_path / "old.plc").write_bytes(b"old")
    monkeypatch.setattr(ImageCompressor, "fit", lambda *_: np.empty(2**50))
    result = run("compress", gray, tmp_path / "old.plc")
    assert result.exit_code == 1
    assert "not enough memory" in result.output
    assert (tmp_path / "old.plc").read_bytes() == b"old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder.plc", "old.plc"]


def test_damage_is_said(pictures, tmp_path):
    folder, _ = pictures
    assert run("compress", folder / "gray.png", tmp_path / "a.plc", "--method", "pca").exit_code == 0
    stream = bytearray((tmp_path / "a.plc").read_bytes())
    stream[len(stream) // 2] ^= 1
    (tmp_path / "a.plc").write_bytes(stream)
    result = run("decompress", tmp_path / "a.plc", tmp_path / "b.png")
    assert result.exit_code == 1
    assert "checksum is wrong" in result.output
    assert not (tmp_path / "b.png").exists()
