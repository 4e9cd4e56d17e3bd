"""Files: what is stored is what is read, labels and masks are found, and nothing damaged or odd passes unnoticed."""

import io
import os
import struct
import sys
import warnings
import zlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protolearn import GMLVQ
from protolearn.applications import RegionColors, image_files, read_image, read_image_folder, read_mask

pytest.importorskip("PIL")

from PIL import Image

LOSSLESS = ["PNG", "BMP", "TIFF", "PPM", "GIF", "WEBP"]


def pixels(seed=0, height=6, width=8):
    return np.random.default_rng(seed).integers(0, 256, (height, width, 3), dtype=np.uint8)


def store(path, array, mode=None, **options):
    path.parent.mkdir(parents=True, exist_ok=True)
    picture = Image.fromarray(array)
    (picture if mode is None else picture.convert(mode)).save(path, **options)
    return path


def encoded(array, form):
    stream = io.BytesIO()
    picture = Image.fromarray(array)
    if form == "GIF":
        picture = picture.quantize(256)  # no more pixels than colors
    picture.save(stream, form, **({"lossless": True} if form == "WEBP" else {}))
    return stream.getvalue()


def square_mask(height=6, width=8):
    mask = np.zeros((height, width), np.uint8)
    mask[1:4, 2:5] = 255
    return mask


@pytest.fixture
def folder(tmp_path):
    """Two classes of two images each."""
    for i, name in enumerate(["brown/b.png", "brown/a.bmp", "red/c.png", "red/d.tif"]):
        store(tmp_path / name, pixels(i))
    return tmp_path


# One image


@pytest.mark.parametrize("form", LOSSLESS)
def test_lossless_files_are_read_exactly(form, tmp_path):
    file = tmp_path / "image"
    file.write_bytes(encoded(pixels(), form))
    found = read_image(file)
    assert found.dtype == np.uint8
    np.testing.assert_array_equal(found, pixels())
    found[:] = 0  # not a view of something read-only
    np.testing.assert_array_equal(read_image(str(file)), pixels())


def test_jpeg_is_read_nearly(tmp_path):
    smooth = np.linspace(40, 200, 32 * 32 * 3).reshape(32, 32, 3).astype(np.uint8)
    found = read_image(store(tmp_path / "a.jpg", smooth, quality=98, subsampling=0))
    assert np.abs(found.astype(int) - smooth).max() <= 4


def test_palettes_and_inks_are_replaced_by_their_colors(tmp_path):
    colors = np.array([[255, 0, 0], [0, 0, 255], [10, 200, 30]], np.uint8)[np.arange(48).reshape(6, 8) % 3]
    store(tmp_path / "palette.png", colors, "P", bits=8)
    with Image.open(tmp_path / "palette.png") as stored:
        assert stored.mode == "P"
        expected = np.asarray(stored.convert("RGB"))
    np.testing.assert_array_equal(read_image(tmp_path / "palette.png"), expected)
    np.testing.assert_array_equal(read_image(store(tmp_path / "inks.tif", colors, "CMYK")), colors)


def test_what_is_transparent_is_laid_over_white(tmp_path):
    layers = np.zeros((1, 3, 4), np.uint8)
    layers[0] = (200, 0, 0, 255), (200, 0, 0, 0), (200, 0, 0, 51)
    found = read_image(store(tmp_path / "a.png", layers))
    np.testing.assert_array_equal(found[0, :2], [(200, 0, 0), (255, 255, 255)])
    np.testing.assert_allclose(found[0, 2], (255 - 55 * 0.2, 255 * 0.8, 255 * 0.8), atol=1)


def test_images_are_turned_upright(tmp_path):
    exif = Image.Exif()
    exif[0x0112] = 6  # the camera was turned to the left
    found = read_image(store(tmp_path / "a.png", pixels(), exif=exif))
    np.testing.assert_array_equal(found, np.rot90(pixels(), -1))


def test_of_several_frames_the_first_is_read(tmp_path):
    frames = [Image.fromarray(pixels(i)) for i in range(3)]
    frames[0].save(tmp_path / "a.tif", save_all=True, append_images=frames[1:])
    np.testing.assert_array_equal(read_image(tmp_path / "a.tif"), pixels(0))


@pytest.mark.parametrize("mode", ["1", "L", "LA", "I;16", "I", "F"])
def test_gray_files_are_refused(mode, tmp_path):
    file = tmp_path / "gray.tif"
    Image.new(mode, (4, 3)).save(file)
    with pytest.raises(ValueError, match=r"gray.tif is gray .*a color image is needed"):
        read_image(file)


@pytest.mark.parametrize("form", [*LOSSLESS, "JPEG"])
def test_truncated_files_are_named(form, tmp_path):
    whole = encoded(pixels(0, 40, 50) // 3, form)
    file = tmp_path / "cut.png"
    for part in (0, 1, 10, len(whole) // 4, len(whole) // 2, 3 * len(whole) // 4):
        file.write_bytes(whole[:part])
        with pytest.raises(ValueError, match=r"cut.png is damaged"):
            read_image(file)


@settings(max_examples=150)
@given(st.sampled_from(["PNG", "BMP", "PPM", "TIFF"]), st.floats(0, 1), st.integers(1, 255))
def test_a_file_cut_off_anywhere_is_refused_or_has_all_its_pixels(tmp_path_factory, form, share, seed):
    whole = encoded(pixels(seed), form)
    file = tmp_path_factory.getbasetemp() / "cut_anywhere"
    file.write_bytes(whole[: int(share * len(whole))])
    reason = None
    try:
        found = read_image(file)
    except ValueError as error:
        reason = str(error)
    if reason is None:
        np.testing.assert_array_equal(found, pixels(seed))
    else:
        assert "cut_anywhere is damaged" in reason


@settings(max_examples=150)
@given(st.binary(max_size=200), st.sampled_from([b"", b"\x89PNG\r\n\x1a\n", b"BM", b"GIF89a", b"II*\x00", b"\xff\xd8"]))
def test_arbitrary_bytes_are_refused_by_name(tmp_path_factory, content, start):
    file = tmp_path_factory.getbasetemp() / "noise.png"
    file.write_bytes(start + content)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # what Pillow warns of is in the error, or harmless
        with pytest.raises(ValueError, match=r"noise.png is"):
            read_image(file)


@pytest.mark.parametrize("content", [b"%!PS-Adobe-3.0 EPSF-3.0\n", b"%PDF-1.4\n", b"just text"])
def test_other_kinds_of_files_are_refused(content, tmp_path):
    file = tmp_path / "odd.png"
    file.write_bytes(content)
    with pytest.raises(ValueError, match=r"odd.png is damaged, too large, or not an image of a supported type"):
        read_image(file)


@pytest.mark.parametrize("form", ["ICO", "PCX", "SGI", "TGA"])
def test_of_all_types_that_pillow_knows_few_are_read(form, tmp_path):
    file = tmp_path / "rare.png"
    Image.fromarray(pixels()).save(file, form)
    with pytest.raises(ValueError, match=r"rare.png is damaged, too large, or not an image of a supported type"):
        read_image(file)


def test_images_of_too_many_pixels_are_refused_before_they_are_unpacked(tmp_path, monkeypatch):
    file = store(tmp_path / "bomb.png", pixels())
    for limit in (40, 10):  # where Pillow warns, and where it refuses
        monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", limit)
        with pytest.raises(ValueError, match=r"bomb.png is .*too large.*exceeds limit of"):
            read_image(file)


def png_of_size(width, height, n_bytes=0):
    """Return a PNG with a header that is right, and next to nothing behind it."""

    def chunk(name, data):
        return len(data).to_bytes(4, "big") + name + data + zlib.crc32(name + data).to_bytes(4, "big")

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    content = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(bytes(n_bytes))) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + content


@pytest.mark.parametrize("size", [(60_000, 60_000), (2**31 - 1, 2**31 - 1), (9000, 9000)])
def test_headers_that_ask_for_more_than_there_is_are_refused(size, tmp_path):
    """3.6 gigapixels, as many as can be said, and few enough for Pillow: none are set aside."""
    file = tmp_path / "bomb.png"
    file.write_bytes(png_of_size(*size))
    for read in (read_image, read_mask):
        with pytest.raises(ValueError, match=r"bomb.png is .*too large") as caught:
            read(file)
        assert "\n" not in str(caught.value)


def test_a_blank_page_is_no_bomb(tmp_path):
    """Deflated to a thousandth; it has as many pixels as its bytes can hold."""
    file = tmp_path / "page.png"
    width, height = 2480, 3508  # A4 at 300 dots an inch
    file.write_bytes(png_of_size(width, height, height * (3 * width + 1)))
    assert file.stat().st_size < 30_000
    assert read_image(file).shape == (height, width, 3)


def test_what_is_no_ordinary_file_is_refused_rather_than_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe.png")
    with pytest.raises(ValueError, match=r"pipe.png is not a regular file"):
        read_image(tmp_path / "pipe.png")


def test_missing_files_and_folders_are_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"none.png"):
        read_image(tmp_path / "none.png")
    with pytest.raises(IsADirectoryError, match=tmp_path.name):
        read_image(tmp_path)


def test_missing_library_is_named(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "PIL", None)
    for read in (read_image, read_mask):
        with pytest.raises(ImportError, match=r"Pillow.*protolearn\[images\]"):
            read(folder / "brown" / "b.png")
    with pytest.raises(ImportError, match="Pillow"):
        read_image_folder(folder, on_error="skip")


@pytest.mark.parametrize(
    ("mode", "low", "high"), [("1", 0, 255), ("L", 0, 255), ("L", 0, 1), ("RGB", 3, 250), ("I;16", 0, 40000)]
)
def test_masks_have_any_two_levels(mode, low, high, tmp_path):
    inside = square_mask() > 0
    levels = np.where(inside, high, low).astype(np.uint16 if mode == "I;16" else np.uint8)
    file = store(tmp_path / "mask.png", levels, None if mode == "I;16" else mode)
    np.testing.assert_array_equal(read_mask(file), inside)


def test_noise_of_jpeg_does_not_change_a_mask(tmp_path):
    mask = np.zeros((64, 64), np.uint8)
    mask[13:41, 6:51] = 255
    file = store(tmp_path / "mask.jpg", mask, quality=60)
    with Image.open(file) as stored:
        assert len(np.unique(np.asarray(stored))) > 2
    np.testing.assert_array_equal(read_mask(file), mask > 0)


# Folders


def test_labels_are_sub_folders_and_files_are_in_order(folder):
    (folder / "notes.txt").write_text("no image")
    (folder / "brown" / "Thumbs.db").write_bytes(b"")
    (folder / "brown" / ".hidden.png").write_bytes(b"")
    (folder / ".cache" / "x").mkdir(parents=True)
    (folder / ".cache" / "x" / "y.png").write_bytes(b"")
    (folder / "empty").mkdir()
    found = read_image_folder(str(folder))
    names = ["brown/a.bmp", "brown/b.png", "red/c.png", "red/d.tif"]
    assert [path.relative_to(folder).as_posix() for path in found.paths] == names
    assert found.labels.tolist() == ["brown", "brown", "red", "red"]
    for image, seed in zip(found.images, (1, 0, 2, 3)):
        np.testing.assert_array_equal(image, pixels(seed))
    assert found.masks is None
    assert found.skipped == []
    assert [mask for _, mask in found.pairs] == [None] * 4


def test_deeper_folders_belong_to_their_class(folder):
    store(folder / "red" / "2011" / "May" / "e.PNG", pixels(9))
    found = read_image_folder(folder)
    assert found.labels.tolist() == ["brown", "brown", "red", "red", "red"]
    np.testing.assert_array_equal(found.images[2], pixels(9))  # 2011 comes before c


def test_masks_are_found_beside_images_and_in_their_own_folder(folder):
    store(folder / "brown" / "a_mask.png", square_mask())
    store(folder / "masks" / "red" / "d.png", 255 - square_mask())
    found = read_image_folder(folder)
    assert [path.name for path in found.paths] == ["a.bmp", "b.png", "c.png", "d.tif"]
    inside = square_mask() > 0
    np.testing.assert_array_equal(found.masks[0], inside)
    assert found.masks[1] is found.masks[2] is None
    np.testing.assert_array_equal(found.masks[3], ~inside)
    features = RegionColors("rgb", regions="center").transform(found.pairs)
    np.testing.assert_allclose(features[0, 3:], pixels(1)[inside].mean(axis=0) / 255)
    np.testing.assert_allclose(features[3, :3], pixels(3)[inside].mean(axis=0) / 255)
    without = read_image_folder(folder, masks=None)
    assert without.masks is None
    assert without.paths == found.paths


def test_a_name_like_that_of_a_mask_is_an_image_if_it_masks_none(folder):
    store(folder / "red" / "gas_mask.png", pixels(5))
    found = read_image_folder(folder)
    assert "gas_mask.png" in [path.name for path in found.paths]
    assert found.masks is None


def test_large_images_are_shrunk_by_averages(tmp_path):
    image = pixels(0, 20, 30)
    store(tmp_path / "a" / "x.png", image)
    store(tmp_path / "a" / "x_mask.png", np.kron(square_mask(4, 6), np.ones((5, 5), np.uint8)))
    found = read_image_folder(tmp_path, max_size=6)
    expected = image.reshape(4, 5, 6, 5, 3).mean(axis=(1, 3))
    np.testing.assert_allclose(found.images[0], expected, atol=0.6)
    np.testing.assert_array_equal(found.masks[0], square_mask(4, 6) > 0)
    for size in (30, 100, None):
        np.testing.assert_array_equal(read_image_folder(tmp_path, max_size=size).images[0], image)
    for size in (1, 7, 11, 29):
        assert max(read_image_folder(tmp_path, masks=None, max_size=size).images[0].shape[:2]) <= size
    with pytest.raises(ValueError, match=r"x_mask.png: The mask has no (inside|outside)"):
        read_image_folder(tmp_path, max_size=1)


def spoil(folder, kind):
    """Make one file of the folder unusable, and return its name and what an error says about it."""
    file = folder / "red" / "c.png"
    content = file.read_bytes()
    if kind == "truncated":
        file.write_bytes(content[: len(content) // 2])
        return "c.png is damaged"
    if kind == "empty":
        file.write_bytes(b"")
        return "c.png is damaged"
    if kind == "gray":
        store(file, pixels()[..., 0])
        return "c.png is gray"
    if kind == "link":
        file.rename(folder / "kept")
        file.symlink_to(folder / "kept")
        return "c.png is a symbolic link"
    if kind == "pipe":
        file.unlink()
        os.mkfifo(file)
        return "c.png is a symbolic link or not a regular file"
    if kind == "unlabeled":
        file.rename(folder / "c.png")
        return "c.png has no label"
    mask = file.with_name("c_mask.png")
    if kind == "broken mask":
        mask.write_bytes(b"")
        return "c_mask.png is damaged"
    shape, level = {"mask size": ((8, 6), 0), "no inside": ((6, 8), 0), "no outside": ((6, 8), 255)}[kind]
    store(mask, np.full(shape, level, np.uint8))
    return "c_mask.png: The mask has"


KINDS = [
    "truncated",
    "empty",
    "gray",
    "link",
    "pipe",
    "unlabeled",
    "broken mask",
    "mask size",
    "no inside",
    "no outside",
]


@pytest.mark.parametrize("kind", KINDS)
def test_an_unusable_file_is_named_or_skipped_and_counted(folder, kind):
    message = spoil(folder, kind)
    with pytest.raises(ValueError, match=message):
        read_image_folder(folder)
    with pytest.warns(UserWarning, match=f"Skipped 1 of 4 images:\n.*{message}") as record:
        found = read_image_folder(folder, on_error="skip")
    assert len(record) == 1
    assert record[0].filename == __file__
    assert found.labels.tolist() == ["brown", "brown", "red"]
    assert len(found.images) == len(found.paths) == 3
    ((path, reason),) = found.skipped
    assert path.name == "c.png"
    assert message in reason


def test_many_unusable_files_give_one_short_warning(folder):
    for i in range(9):
        (folder / "red" / f"z{i}.jpg").write_bytes(b"")
    with pytest.warns(UserWarning, match=r"(?s)Skipped 9 of 13 images.*z4.jpg.*and 4 more") as record:
        found = read_image_folder(folder, on_error="skip")
    assert len(record) == 1
    assert "z5.jpg" not in str(record[0].message)
    assert [path.name for path, _ in found.skipped] == [f"z{i}.jpg" for i in range(9)]


@pytest.mark.parametrize("name", ["green", "masks"])
def test_links_to_folders_are_reported_and_not_followed(folder, name, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    store(elsewhere / "red" / "c.png", pixels(7))
    (folder / name).symlink_to(elsewhere, target_is_directory=True)
    with pytest.raises(ValueError, match=rf"{name} is a symbolic link"):
        read_image_folder(folder)
    with pytest.warns(UserWarning, match="Skipped 1 of 5"):
        assert set(read_image_folder(folder, on_error="skip").labels) == {"brown", "red"}


def test_a_folder_of_links_alone_has_no_usable_images(tmp_path, folder):
    (tmp_path / "only").mkdir()
    (tmp_path / "only" / "links").symlink_to(folder / "red", target_is_directory=True)
    with pytest.raises(ValueError, match="links is a symbolic link"):
        read_image_folder(tmp_path / "only")


def test_a_loop_of_links_ends(folder):
    (folder / "red" / "again").symlink_to(folder, target_is_directory=True)
    with pytest.warns(UserWarning, match="Skipped 1 of 5"):
        assert len(read_image_folder(folder, on_error="skip").images) == 4


@pytest.mark.parametrize("on_error", ["raise", "skip"])
def test_folders_without_labeled_images_are_refused(tmp_path, on_error):
    with pytest.raises(ValueError, match="is neither an image file nor a folder"):
        read_image_folder(tmp_path / "none", on_error=on_error)
    with pytest.raises(ValueError, match="contains no images"):
        read_image_folder(tmp_path, on_error=on_error)
    (tmp_path / "red").mkdir()
    with pytest.raises(ValueError, match="contains no images"):
        read_image_folder(tmp_path, on_error=on_error)
    file = store(tmp_path / "a.png", pixels())
    with pytest.raises(ValueError, match=r"no sub-folders, which name the labels"):
        read_image_folder(tmp_path, on_error=on_error)
    with pytest.raises(ValueError, match=r"a.png is neither an image file nor a folder"):
        read_image_folder(file, on_error=on_error)


def test_folders_of_unusable_images_are_refused_even_if_such_are_skipped(tmp_path):
    for name in ("red/a.png", "blue/b.png"):
        store(tmp_path / name, pixels()[..., 0])
    with pytest.raises(ValueError, match=r"None of the 2 images.*b.png is gray"):
        read_image_folder(tmp_path, on_error="skip")


def test_folders_that_may_not_be_read_are_no_empty_ones(folder, monkeypatch):
    def scandir(path):
        if str(path).endswith("red"):
            raise PermissionError(13, "Permission denied", str(path))
        return listing(path)

    listing = os.scandir
    monkeypatch.setattr(image_files.os, "scandir", scandir)
    with pytest.raises(PermissionError, match="red"):
        read_image_folder(folder)


def test_one_class_can_be_read_but_not_learned(tmp_path):
    for i in range(3):
        store(tmp_path / "red" / f"{i}.png", pixels(i))
    found = read_image_folder(tmp_path)
    assert found.labels.tolist() == ["red"] * 3
    with pytest.raises(ValueError, match="class"):
        GMLVQ().fit(RegionColors(regions="center").transform(found.pairs), found.labels)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"on_error": "ignore"}, "on_error='ignore'"),
        ({"masks": True}, "masks=True.*or None"),
        ({"max_size": 0}, "max_size=0"),
        ({"max_size": 2.5}, "max_size=2.5"),
    ],
)
def test_bad_parameters_are_refused(folder, parameters, message):
    with pytest.raises(ValueError, match=message):
        read_image_folder(folder, **parameters)
