"""Every reader, given files that are cut off, padded, or claim more than they hold, in a process with little memory.

A file is read or refused by a ValueError. One that claims too much is refused.
"""

import bz2
import gzip
import io
import lzma
import re
import zlib
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

import numpy as np
import pytest

pytest.importorskip("pandas")
pytest.importorskip("openpyxl")
pytest.importorskip("pyarrow")
pytest.importorskip("skops")
pytest.importorskip("PIL")
pytest.importorskip("av")

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as parquet
from PIL import Image
from sklearn.datasets import load_iris

import protolearn
from protolearn import GMLVQ
from tests.applications.test_fuzz_files import good_files
from tests.limited import outcomes

TABLE = pd.DataFrame({"size": [1.5, 2.5, 4.0, 8.5] * 5, "kind": ["a", "b"] * 10, "count": range(20)})
READERS = {
    "csv": "protolearn.tables:read_table",
    "xlsx": "protolearn.tables:read_table",
    "parquet": "protolearn.tables:read_table",
    "npy": "protolearn.tables:read_table",
    "npz": "protolearn.tables:read_table",
    "skops": "protolearn:load",
    **dict.fromkeys(("index", "png", "tiff", "plc", "mp4"), "tests.limited:read_media"),
}
ZIPPED = ("xlsx", "npz", "skops", "index")
SHEET = "xl/worksheets/sheet1.xml"


def written(write):
    stream = io.BytesIO()
    write(stream)
    return stream.getvalue()


def good_file(form, folder):
    """Return the content of a file of a format."""
    if form == "csv":
        return TABLE.to_csv(index=False).encode()
    if form == "xlsx":
        return written(lambda stream: TABLE.to_excel(stream, index=False))
    if form == "parquet":
        return written(TABLE.to_parquet)
    if form == "npy":
        return array(np.arange(12.0).reshape(4, 3))
    if form == "npz":
        return written(lambda stream: np.savez_compressed(stream, X=np.arange(12.0).reshape(4, 3), y=np.arange(4)))
    if form == "skops":
        X, y = load_iris(return_X_y=True)
        protolearn.save(GMLVQ().fit(X[::5], y[::5]), folder / "model.skops")
        return (folder / "model.skops").read_bytes()
    return good_files(form)[0]


def array(values):
    return written(lambda stream: np.save(stream, values))


def header(*shape):
    about = {"descr": "<f8", "fortran_order": False, "shape": shape}
    return written(lambda stream: np.lib.format.write_array_header_1_0(stream, about))


def unpacked(archive):
    with ZipFile(io.BytesIO(archive)) as opened:
        return {name: opened.read(name) for name in opened.namelist()}


def packed(members, packing=ZIP_DEFLATED):
    stream = io.BytesIO()
    with ZipFile(stream, "w", packing) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return stream.getvalue()


def mistakes(form, content):
    """Yield files with mistakes that a reader notices, or that do no harm."""
    for part in (0.01, 0.3, 0.7, 0.98):
        yield f"first {part:.0%}", content[: int(part * len(content))]
    yield "without the last byte", content[:-1]
    yield "without the first byte", content[1:]
    yield "zeros behind", content + bytes(5000)
    yield "zeros before", bytes(5000) + content
    yield "twice", content + content
    yield "zeros only", bytes(len(content))
    if form in ZIPPED:
        members = unpacked(content)
        packing = ZIP_STORED if form == "skops" else ZIP_DEFLATED
        for name in list(members)[:4]:
            others = {other: data for other, data in members.items() if other != name}
            yield f"{name} missing", packed(others, packing)
            yield f"{name} renamed", packed({**others, f"{name}.bin": members[name]}, packing)
            yield f"{name} empty", packed({**members, name: b""}, packing)


def oversized(form, content):
    """Yield files that claim more than they hold."""
    if form in ZIPPED:
        members = unpacked(content)
        for name in list(members)[:4]:
            yield f"{name} extended", packed({**members, name: members[name] + bytes(20_000_000)})
    if form == "npz":
        yield "array of another name", packed({"X": array(np.zeros((2_000_000, 2)))})
    if form in ("npy", "npz"):
        for shape in ((10**11,), (10**6, 10**5), (0, 10**9), (10**9, 0), (2, 10**10)):
            data = header(*shape) + bytes(64)
            yield f"shape {shape}", data if form == "npy" else packed({"X.npy": data})
    if form == "xlsx":
        yield from sheets(unpacked(content))
    if form == "csv":
        full = b",".join(b"c%d" % i for i in range(2000)) + b"\n" + (b"1," * 1999 + b"1\n") * 300
        yield "short rows", full + b"1\n" * 500_000
        long = content * 2000
        for name, pack in (("gzip", gzip.compress), ("bz2", bz2.compress), ("xz", lzma.compress)):
            yield name, pack(long)
        yield "zip", packed({"table.csv": long})
    if form == "parquet":
        yield "equal numbers", written(lambda stream: parquet.write_table(pa.table({"x": np.zeros(10**7)}), stream))
        yield "equal texts", written(lambda stream: parquet.write_table(long_texts(), stream, store_schema=False))
    if form == "png":
        yield "large", png(60_000, 60_000)
        yield "large for its size", png(9_400, 9_400)


def sheets(members):
    def changed(name, old, new):
        assert len(re.findall(old, members[name])) == 1
        return packed({**members, name: re.sub(old, lambda _: new, members[name])})

    end = b"</sheetData>"
    for place in (b"XFD1048576", b"XFD1000"):
        row = b'<row r="%s"><c r="%s"><v>1</v></c></row>' % (place[3:], place)
        yield place.decode(), changed(SHEET, end, row + end)
    yield "late row", changed(SHEET, end, b'<row r="99999999999"><c><v>1</v></c></row>' + end)
    empty = b"".join(b'<row r="%d"><c r="XFD%d"/></row>' % (row, row) for row in range(30, 3000))
    yield "wide empty rows", changed(SHEET, end, empty + end)
    yield "styles", changed("xl/styles.xml", b"</cellXfs>", b"<xf/>" * 500_000 + b"</cellXfs>")


def long_texts():
    dictionary = pa.DictionaryArray.from_arrays(pa.array(np.zeros(4000, dtype=np.int32)), ["x" * 1_000_000])
    return pa.table({"x": dictionary})


def png(width, height):
    """Return an image of which only the beginning is there."""
    with io.BytesIO() as stream:
        Image.new("L", (1, 1)).save(stream, "png")
        data = bytearray(stream.getvalue())
    data[16:24] = width.to_bytes(4, "big") + height.to_bytes(4, "big")
    data[29:33] = zlib.crc32(data[12:29]).to_bytes(4, "big")
    return bytes(data)


@pytest.mark.parametrize("reader", sorted(set(READERS.values())))
def test_readers_refuse_what_they_cannot_read_in_little_memory(reader, tmp_path):
    good, kinds = [], {}
    for form in (form for form, used in READERS.items() if used == reader):
        content = good_file(form, tmp_path)
        good.append(tmp_path / f"good.{form}")
        good[-1].write_bytes(content)
        for demanding, files in ((False, mistakes(form, content)), (True, oversized(form, content))):
            for name, data in files:
                path = tmp_path / f"{len(kinds)}.{form}"
                path.write_bytes(data)
                kinds[path] = f"{form}, {name}", demanding
    found = dict(zip(kinds.values(), outcomes(reader, good, list(kinds))))
    wrong = {
        name: said
        for (name, demanding), said in found.items()
        if (not said.startswith("ValueError") and (demanding or said != "read")) or "out of memory" in said
    }
    assert not wrong
    assert sum(said != "read" for said in found.values()) > len(found) / 2
