"""Safe reading and writing of files: limits on memory, and atomic output.

A file whose header claims more pixels than its size allows is rejected before memory is allocated. Output is written to
a temporary file in the same folder, which replaces the target at the end, so a failure leaves an existing output
unchanged. Several outputs are replaced together or not at all.
"""

from __future__ import annotations

import errno
import os
import re
import secrets
import shutil
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from io import BytesIO
from os import PathLike
from pathlib import Path
from stat import S_ISDIR, S_ISREG
from zipfile import ZipInfo

import numpy as np

from protolearn.core.types import Array

__all__ = [
    "FREE_PIXELS",
    "PIXELS_PER_BYTE",
    "FilePath",
    "check_bytes",
    "check_cells",
    "check_output",
    "check_unpacked",
    "file_size",
    "most_pixels",
    "replacing",
    "replacing_together",
    "stored_array",
]

FilePath = str | PathLike[str]  #: Path of a file.

FREE_PIXELS = 2**23  #: Number of pixels that a file of any size may have.
PIXELS_PER_BYTE = 1000  #: Pixels for each byte beyond those; deflate makes about so many bytes of one at best.
FREE_BYTES = 2**24  # of arrays that an archive of any size may hold
HIDDEN = re.compile(r"\.[0-9a-f]{16}.*")  # names of temporary files
FREE_CELLS, CELLS_PER_BYTE = 2**22, 64  # of a table in a file of any size, and for each of its bytes
BYTES_PER_BYTE = 32  # beyond those: names of files repeat each other, numbers do not


def most_pixels(size: int) -> int:
    """Return the maximum number of pixels allowed for a file of a given size, which limits memory allocation.

    Examples
    --------
    >>> most_pixels(100), most_pixels(10_000_000)
    (8488608, 10008388608)
    """
    return FREE_PIXELS + PIXELS_PER_BYTE * size


def file_size(path: FilePath) -> int:
    """Return the size of a regular file in bytes; raise an error for pipes and devices, which could block forever.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from protolearn.core.files import file_size
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder) / "letters.txt"
    ...     _ = file.write_text("abc")
    ...     file_size(file)
    3
    """
    found = os.stat(path)
    if S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not S_ISREG(found.st_mode):
        raise ValueError(f"{path} is not a regular file but a pipe or a device; copy its content to a file first.")
    return found.st_size


def check_cells(n_rows: int, n_columns: int, size: int) -> None:
    """Require that a table has no more cells than its file can justify, before memory for them is allocated.

    A file of a few bytes can have a value in a far corner of an empty sheet, or a million times the same one.

    Parameters
    ----------
    n_rows, n_columns : int
        Size of the table.
    size : int
        Number of bytes of the file.

    Examples
    --------
    >>> from protolearn.core.files import check_cells
    >>> check_cells(1_000_000, 4, 100)
    >>> check_cells(1_000_000, 5, 100)
    Traceback (most recent call last):
    ...
    ValueError: 1,000,000 rows and 5 columns are too many for its 100 bytes, which justify 4,200,704 cells
    """
    most = FREE_CELLS + CELLS_PER_BYTE * size
    if n_rows * n_columns > most:
        raise ValueError(
            f"{n_rows:,} rows and {n_columns:,} columns are too many for its {size:,} bytes, which justify {most:,} "
            "cells"
        )


def check_bytes(n_bytes: int, size: int, free: int = FREE_BYTES) -> None:
    """Require that the content of a file has no more bytes than the file can justify.

    Parameters
    ----------
    n_bytes : int
        Number of bytes after unpacking.
    size : int
        Number of bytes of the file.
    free : int, default=16777216
        Number of bytes that the content of a file of any size may have; beyond these, 32 for each byte of the file.

    Examples
    --------
    >>> from protolearn.core.files import check_bytes
    >>> check_bytes(10_000_000, 100)
    >>> check_bytes(10_000_000, 100, free=0)
    Traceback (most recent call last):
    ...
    ValueError: its 100 bytes become too many
    """
    if n_bytes > free + BYTES_PER_BYTE * size:
        raise ValueError(f"its {size:,} bytes become too many")


def check_unpacked(members: Collection[ZipInfo], size: int, packings: Collection[int], free: int = FREE_BYTES) -> None:
    """Require that members of an archive use allowed compression methods and do not expand to too many bytes.

    Other compression methods may need much memory before the first byte is decompressed.

    Parameters
    ----------
    members : collection of ZipInfo
        The members that will be read.
    size : int
        Number of bytes of the archive.
    packings : collection of int
        Allowed compression methods, as constants of ``zipfile``.
    free : int, default=16777216
        Number of bytes that the members of an archive of any size may have, as in `check_bytes`.

    Examples
    --------
    >>> from zipfile import ZIP_STORED, ZipInfo
    >>> from protolearn.core.files import check_unpacked
    >>> small, large = ZipInfo("small"), ZipInfo("large")
    >>> small.file_size, large.file_size = 1000, 10**12
    >>> check_unpacked([small], 1200, [ZIP_STORED])
    >>> check_unpacked([small, large], 1200, [ZIP_STORED])
    Traceback (most recent call last):
    ...
    ValueError: its 1,200 bytes become too many
    """
    check_bytes(sum(member.file_size for member in members), size, free)
    if any(member.compress_type not in packings for member in members):
        raise ValueError("it is packed in another way")


def stored_array(data: bytes) -> Array:
    """Return the array of a file in NumPy's format, which must have just as many bytes as its header says.

    NumPy's own reader allocates the memory that the header requests, regardless of the actual size.

    Examples
    --------
    >>> file = BytesIO()
    >>> np.save(file, np.arange(3))
    >>> stored_array(file.getvalue())
    array([0, 1, 2])
    """
    stream = BytesIO(data)
    if np.lib.format.read_magic(stream) != (1, 0):
        raise ValueError("its arrays are of another version")
    shape, by_columns, dtype = np.lib.format.read_array_header_1_0(stream)
    values = np.frombuffer(data, dtype, offset=stream.tell()) if 0 not in shape else np.empty(0, dtype)
    return values.reshape(shape, order="F" if by_columns else "C").copy()


def check_output(path: FilePath, inputs: Iterable[FilePath] = ()) -> None:
    """Require that a file can be written to a path that is not an input, under any name or link.

    Commands call this function before long computations.

    Parameters
    ----------
    path : str or path-like
        File to write.
    inputs : iterable of str or path-like, default=()
        Files that are read.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from protolearn.core.files import check_output
    >>> with TemporaryDirectory() as folder:
    ...     source = Path(folder) / "table.csv"
    ...     source.touch()
    ...     check_output(Path(folder) / "model.skops", [source])
    ...     check_output(source, [source])
    Traceback (most recent call last):
    ...
    ValueError: ...table.csv is read by this command, and would be overwritten; write to another file.
    """
    if os.path.isdir(path):
        raise IsADirectoryError(errno.EISDIR, f"{path} is a folder; give the name of a file to write")
    if os.path.exists(path):
        for source in inputs:
            if os.path.exists(source) and os.path.samefile(path, source):
                raise ValueError(f"{path} is read by this command, and would be overwritten; write to another file.")
    if not os.path.exists(path) or _is_ordinary(path):
        with ExitStack() as cleaning, _as_error_of(path):
            _new_file_beside(Path(path).resolve(), cleaning)


@contextmanager
def replacing(path: FilePath) -> Iterator[Path]:
    """Yield a new empty file with the same end of its name, which takes the place of ``path`` if all goes well.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder) / "kept.txt"
    ...     _ = file.write_text("old")
    ...     try:
    ...         with replacing(file) as new:
    ...             _ = new.write_text("half of")
    ...             raise ValueError
    ...     except ValueError:
    ...         print(file.read_text(), len(list(Path(folder).iterdir())))
    old 1
    """
    with replacing_together() as writing, writing(path) as new:
        yield new


@contextmanager
def replacing_together() -> Iterator[Callable[[FilePath], AbstractContextManager[Path]]]:
    """Yield a function like `replacing`, whose files take their places at the end, all of them or none.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from protolearn.core.files import replacing_together
    >>> with TemporaryDirectory() as folder:
    ...     try:
    ...         with replacing_together() as writing:
    ...             with writing(Path(folder) / "model.txt") as new:
    ...                 _ = new.write_text("model")
    ...             with writing(Path(folder) / "report.txt") as new:
    ...                 raise ValueError
    ...     except ValueError:
    ...         print(len(list(Path(folder).iterdir())))
    0
    """
    with ExitStack() as cleaning:
        written: list[tuple[Path, Path]] = []  # each new file, and the path whose file it replaces

        @contextmanager
        def writing(path: FilePath) -> Iterator[Path]:
            check_output(path)
            if os.path.exists(path) and not _is_ordinary(path):  # /dev/null, say, which is not to be replaced
                yield Path(path)
                return
            target = Path(path).resolve()  # what a link leads to, so that the link stays
            with _as_error_of(path):
                yield (new := _new_file_beside(target, cleaning))
            written.append((new, target))

        yield writing
        _take_places(written, cleaning)


def _take_places(written: list[tuple[Path, Path]], cleaning: ExitStack) -> None:
    """Move new files to their targets; if one of them cannot be moved, those before it get their old files back."""
    begun: list[tuple[Path, Path | None]] = []
    try:
        for new, target in written:
            with _as_error_of(target):
                old = None
                if target.exists():
                    shutil.copymode(target, new)
                    old = _kept(target, cleaning) if len(written) > 1 else None
                begun.append((target, old))
                new.replace(target)
    except BaseException:
        for (new, target), (_, old) in zip(written, begun):
            if old is not None:
                old.replace(target)
            elif not new.exists():  # moved to a place where no file was
                target.unlink(missing_ok=True)
        raise


def _kept(target: Path, cleaning: ExitStack) -> Path:
    """Return another name of a file, under which it stays when it is replaced; a copy where files have one name."""
    kept = _hidden_beside(target)
    cleaning.callback(_remove, kept)
    try:
        os.link(target, kept)
    except OSError:
        shutil.copy2(target, kept)
    return kept


def _is_ordinary(path: FilePath) -> bool:
    return S_ISREG(os.stat(path).st_mode)


def _hidden_beside(target: Path) -> Path:
    return target.with_name(f".{secrets.token_hex(8)}{target.suffix}")


def _new_file_beside(target: Path, cleaning: ExitStack) -> Path:
    """Make an empty file in the folder of another, which must be one that may be written to, if it exists."""
    if target.exists() and not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    new = _hidden_beside(target)
    cleaning.callback(_remove, new)  # before there is one, for a signal may arrive at any time
    new.open("xb").close()
    return new


def _remove(path: Path) -> None:
    with suppress(OSError):  # such as that of a folder that does not exist, of which was told
        path.unlink()


@contextmanager
def _as_error_of(path: FilePath) -> Iterator[None]:
    """Name the file that was asked for, not a temporary one, and say why it cannot be written."""
    try:
        yield
    except OSError as error:
        named = None if error.filename is None else Path(str(error.filename))
        if named not in (None, Path(path)) and not HIDDEN.fullmatch(named.name):
            raise  # of another file, which is read, say
        if error.errno is None:
            raise OSError(f"{path} cannot be written: {error}") from error
        raise OSError(error.errno, f"{path} cannot be written: {os.strerror(error.errno)}") from error
