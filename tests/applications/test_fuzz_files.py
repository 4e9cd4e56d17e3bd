"""Files with mistakes of all kinds: each is refused by a ValueError, or read as what it now is, in bounded memory.

Tests try a few mistakes in files of each format. Many are tried by hand after a change to a reader, each in the memory
that is allowed to it, 20 times its size and 200 MB::

    python tests/applications/test_fuzz_files.py --files 10000
"""

import argparse
import io
import json
import random
import struct
import subprocess
import sys
import tempfile
import warnings
import zipfile
import zlib
from collections import Counter
from functools import cache, partial
from pathlib import Path

import numpy as np
import pytest

from protolearn.applications import (
    ImageCompressor,
    ImageRetriever,
    decode_image,
    read_image,
    read_mask,
    read_video,
    write_video,
)
from protolearn.applications.index_file import read_index, write_index
from protolearn.datasets import make_lesion_images

pytest.importorskip("PIL")

from PIL import Image

IMAGES = ("bmp", "gif", "jpeg", "png", "ppm", "tiff", "webp")
VIDEOS = ("avi", "mkv", "mp4")
FORMATS = ("plc", "index", *IMAGES, *VIDEOS)
EXTREMES = [0, 1, 127, 128, 255, 256, 32767, 32768, 65535, 65536, 2**24, 2**28, 2**31 - 1, 2**31, 2**32 - 1, 2**64 - 1]
ALLOWED_PER_BYTE, ALLOWED = 20, 200 * 2**20
ADDRESSES = 4 * 2**30  # bytes that a process may set aside, whether it uses them or not


# Files without mistakes


def picture(height=18, width=24):
    rows, columns = np.indices((height, width))
    return np.stack([10 * rows, 9 * columns, 128 + 5 * rows - 4 * columns], axis=2).clip(0, 255).astype(np.uint8)


@cache
def good_files(form):
    """Return the contents of a few small files of a format."""
    if form == "plc":
        return _streams()
    if form == "index":
        return _indices()
    if form in VIDEOS:
        frames = np.stack([np.roll(picture(), shift, axis=1) for shift in range(6)])
        return [_written(partial(write_video, frames=frames), form)]
    layers = np.dstack([picture(), picture()[..., 0]])
    options = {
        "bmp": [{}],
        "gif": [{}],
        "jpeg": [{}, {"progressive": True}],
        "png": [{}, {"optimize": True}],
        "ppm": [{}],
        "tiff": [{}, {"compression": "tiff_adobe_deflate"}, {"compression": "tiff_lzw"}],
        "webp": [{}, {"lossless": True}],
    }[form]
    images = [Image.fromarray(picture())]
    if form in ("png", "webp"):
        images += [Image.fromarray(layers)]
    if form in ("png", "gif", "tiff"):
        images += [images[0].quantize(16)]
    return [_written(partial(image.save, **choice), form) for image in images for choice in options]


def _streams():
    color = picture()
    gray = np.ascontiguousarray(color[..., 0])
    choices = [(gray, "pca", False), (gray, "vq", True), (color, "pca", True), (color, "vq", False)]
    sizes = {"n_prototypes": 5, "n_components": 2, "max_iter": 2, "random_state": 0}
    choices += [(np.full_like(gray, 9), "vq", entropy) for entropy in (False, True)]  # one prototype, no coefficients
    return [ImageCompressor(method, entropy=entropy, **sizes).fit(x).encode(x) for x, method, entropy in choices]


def _indices():
    images, _, y = make_lesion_images((3, 3, 3, 3), size=16, random_state=0)
    with tempfile.TemporaryDirectory() as folder:
        for number, (image, label) in enumerate(zip(images, y)):
            (Path(folder) / label).mkdir(exist_ok=True)
            Image.fromarray(image).save(Path(folder) / label / f"{number}.png")
        fitted = [ImageRetriever(metric, random_state=0).fit(folder) for metric in ("euclidean", "local")]
    for one in fitted:
        one.paths_ = [Path(f"/images/{number}.png") for number in range(len(one.paths_))]  # the same each time
    return [_packed(_unpacked(_written(partial(write_index, retriever=one), "npz"))) for one in fitted]


def _written(write, suffix):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"file.{suffix}"
        write(path)
        return path.read_bytes()


# Mistakes


def bad_file(form, number):
    """Return the mistaken file of a number, and the good one if its format notices all mistakes, else None."""
    rng = random.Random(f"{form} {number}")
    files = good_files(form)
    good = rng.choice(files)
    noticed = form in ("plc", "index")
    if rng.random() < 0.5:
        if form == "index":  # mistakes within an array, in an archive without any
            return _repacked(good, rng), None
        if form == "plc":
            return _sealed(mistaken(good[:-4], files, rng)), None
        if form == "png":
            return _png_sealed(mistaken(good, files, rng)), None
    return mistaken(good, files, rng), good if noticed else None


def mistaken(content, others, rng):
    """Return bytes with one to three mistakes, more of them near the beginning."""
    data = bytearray(content)
    for _ in range(rng.randint(1, 3)):
        place = int(len(data) * rng.random() ** 2)
        length = rng.randint(1, 16)
        kind = rng.randrange(8)
        if kind == 0 and data:
            data[place] ^= 1 << rng.randrange(8)
        elif kind == 1:
            data[place : place + 1] = rng.randbytes(1)
        elif kind in (2, 3):
            n_bytes = rng.choice([1, 2, 4, 8])
            number = rng.choice(EXTREMES) % 256**n_bytes
            data[place : place + n_bytes] = number.to_bytes(n_bytes, rng.choice(["little", "big"]))
        elif kind == 4:
            del data[place:]
        elif kind == 5:
            del data[place : place + length]
        elif kind == 6:
            data[place:place] = data[place : place + length]
        else:
            other = rng.choice(others)
            start = rng.randrange(len(other))
            data[place : place + length] = other[start : start + length]
    return bytes(data)


def _sealed(data):
    return data + zlib.crc32(data).to_bytes(4, "little")


def _png_sealed(data):
    """Make the checksums of all chunks right that can be found."""
    sealed, place = bytearray(data), 8
    while place + 12 <= len(sealed):
        (length,) = struct.unpack_from(">I", sealed, place)
        end = place + 8 + length
        if end + 4 > len(sealed):
            break
        sealed[end : end + 4] = zlib.crc32(sealed[place + 4 : end]).to_bytes(4, "big")
        place = end + 4
    return bytes(sealed)


def _repacked(archive, rng):
    members = _unpacked(archive)
    chosen = rng.choice(sorted(members))
    return _packed({**members, chosen: mistaken(members[chosen], list(members.values()), rng)})


def _unpacked(archive):
    with zipfile.ZipFile(io.BytesIO(archive)) as old:
        return {name: old.read(name) for name in old.namelist()}


def _packed(members):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as new:
        for name, content in members.items():
            new.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)  # without the time
    return stream.getvalue()


# What becomes of them


def check(form, path, good=None):
    """Read a file by all that reads its format; what comes out must be possible, or that of the good file."""
    if form == "plc":
        image = decode_image(path.read_bytes())
        assert image.dtype == np.uint8
        assert image.ndim in (2, 3)
        assert good is None or np.array_equal(image, decode_image(good))
    elif form == "index":
        hits = read_index(path).retrieve([picture()], 3)
        assert hits.indices.shape == hits.labels.shape == (1, 3)
        assert len(hits.paths[0]) == 3
        if good is not None:
            path.write_bytes(good)
            np.testing.assert_array_equal(hits.indices, read_index(path).retrieve([picture()], 3).indices)
    elif form in VIDEOS:
        frames = read_video(path)
        assert frames.dtype == np.uint8
        assert frames.shape[3:] == (3,)
    else:
        _check_image(path)


def _check_image(path):
    mask = read_mask(path)
    with Image.open(path) as header:
        assert sorted(mask.shape) == sorted(header.size)  # it may have been turned
    image = read_image(path)
    assert image.dtype == np.uint8
    assert image.shape == (*mask.shape, 3)


def outcome(form, path, content, good):
    """Return "correct", "refused", or the kind of error that should not be."""
    path.write_bytes(content)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            check(form, path, good)
        except ValueError:
            return "refused"
        except Exception as error:
            return type(error).__name__
    return "correct"


@pytest.mark.parametrize("kind", ["plc", "index", "image", "video"])
def test_mistakes_are_noticed_or_harmless(kind, tmp_path):
    forms = {"image": IMAGES, "video": ("avi", "mp4")}.get(kind, (kind,))  # MKV has numbers drawn at random
    if kind == "video":
        pytest.importorskip("av")
    counts = Counter()
    for number in range(200):
        form = forms[number % len(forms)]
        found = outcome(form, tmp_path / f"file.{form}", *bad_file(form, number))
        assert found in ("correct", "refused"), f"{form} {number}"
        counts[found] += 1
    assert counts["refused"] > 50


@pytest.mark.parametrize("form", FORMATS)
def test_files_without_mistakes_are_read(form, tmp_path):
    if form in VIDEOS:
        pytest.importorskip("av")
    for content in good_files(form):
        known = content if form in ("plc", "index") else None
        assert outcome(form, tmp_path / f"file.{form}", content, known) == "correct"


# By hand


def work(form, start, stop):
    """Try the files of some numbers in this process; print outcome, size and peak of memory of each."""
    import resource

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"file.{form}"
        for content in good_files(form):  # compiles what has to be, and sets aside what will stay
            outcome(form, path, content, None)
        resource.setrlimit(resource.RLIMIT_AS, (_memory("VmSize") + ADDRESSES, -1))
        for number in range(start, stop):
            content, good = bad_file(form, number)
            Path("/proc/self/clear_refs").write_text("5")  # forgets the peak so far
            before = _memory("VmRSS")
            found = outcome(form, path, content, good)
            print(json.dumps([number, found, len(content), _memory("VmHWM") - before]), flush=True)


def _memory(field):
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith(field + ":"))


def try_all(form, n_files):
    """Try the first files of a format, in other processes, which may break down; return what became of each."""
    done = []
    while len(done) < n_files:
        command = [sys.executable, __file__, "--work", form, str(len(done)), str(n_files)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            for line in process.stdout:
                done.append(json.loads(line))
        if len(done) < n_files:
            done.append([len(done), f"end of the process ({process.returncode})", 0, 0])
    return done


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--files", type=int, default=10_000, help="number of files of each format")
    parser.add_argument("--formats", nargs="*", choices=FORMATS, default=FORMATS)
    parser.add_argument("--work", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        form, start, stop = options.work
        work(form, int(start), int(stop))
        return
    print("format   correct  refused  others  largest peak in MB  files above what is allowed")
    for form in options.formats:
        done = try_all(form, options.files)
        counts = Counter(found for _, found, _, _ in done)
        correct, refused = counts.pop("correct", 0), counts.pop("refused", 0)
        peak = max(used for *_, used in done) / 2**20
        above = [number for number, _, size, used in done if used > ALLOWED_PER_BYTE * size + ALLOWED]
        others = f"{counts.total()} {dict(counts) or ''}"
        print(f"{form:7} {correct:8} {refused:8}  {others:>6} {peak:19.1f}  {len(above)} {above[:5] or ''}", flush=True)


if __name__ == "__main__":
    main()
