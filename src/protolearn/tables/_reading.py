"""Tables from files: text with any separator, Parquet, Excel, and arrays of NumPy."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

from protolearn.core.files import FilePath, check_unpacked, file_size, stored_array
from protolearn.core.parameters import constrained, none, option
from protolearn.core.texts import from_cell
from protolearn.core.types import Array
from protolearn.tables._dialect import Dialect, find_dialect, unique_names
from protolearn.tables._pandas import optional, pandas
from protolearn.tables._values import is_text, read_numbers

__all__ = ["read_array", "read_table"]

UNKNOWN = ["?"]  # taken as missing beside what pandas knows: empty, NA, NaN, null, None and the like
DASHES = {"-", "--", ".", "*"}  # taken as missing in columns of numbers
FREE_CELLS, CELLS_PER_BYTE = 2**23, 1000  # that a Parquet file of any size may have; beyond those
TARGETS = ("y", "target", "label", "labels")  # names of arrays that hold one value for each row


@constrained(decimal=option(".", ",") | none)
def read_table(path: FilePath, *, decimal: str | None = None) -> Any:
    r"""Read a table from a file.

    The suffix determines the type of the file: ``.parquet``, ``.xlsx`` (the first sheet), ``.npy`` or ``.npz``; any
    other file is read as text. For text files, the encoding, the separator (comma, semicolon, tab or vertical bar), the
    decimal mark and the header are detected. Reading executes no code from the file.

    Parameters
    ----------
    path : str or path-like
        File to read.
    decimal : {".", ","}, optional
        Decimal mark of numbers in a text file. By default a comma if numbers such as 2,5 can only be read this way, or
        if values are separated by semicolons.

    Returns
    -------
    DataFrame
        Table with columns of numbers, booleans, dates or texts. Columns with the same name are distinguished by a
        number.

    Raises
    ------
    ValueError
        If the file is damaged, empty, or not a table.

    See Also
    --------
    TablePreparation : Prepares a table for estimators.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from protolearn.tables import read_table
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder) / "people.csv"
    ...     _ = file.write_text("name;height;born\nAda;1,65;1815\nAlan;1,78;1912\n")
    ...     read_table(file)
       name  height  born
    0   Ada    1.65  1815
    1  Alan    1.78  1912
    """
    path = Path(path)
    file_size(path)  # of an ordinary file, which has an end
    pandas()
    readers = {".parquet": _parquet, ".pq": _parquet, ".xlsx": _excel, ".xlsm": _excel, ".npy": _numpy, ".npz": _numpy}
    suffix = path.suffix.lower()
    frame = readers[suffix](path) if suffix in readers else _text(path, decimal)
    if len(frame) == 0:
        raise ValueError(f"{path} has column names, but no rows.")
    return frame.reset_index(drop=True)


def _text(path: Path, decimal: str | None) -> Any:
    pd = pandas()
    dialect = find_dialect(path, decimal)
    with path.open(encoding=dialect.encoding, errors="replace", newline="") as file, warnings.catch_warnings():
        warnings.simplefilter("error", pd.errors.ParserWarning)
        if dialect.hint:
            file.readline()
        try:
            frame = pd.read_csv(
                file,
                sep=dialect.separator,
                decimal=dialect.decimal,
                names=dialect.names,
                header=0 if dialect.header else None,
                index_col=False,
                skipinitialspace=True,
                na_values=UNKNOWN,
                low_memory=False,
            )
        except (pd.errors.ParserError, pd.errors.ParserWarning, pd.errors.EmptyDataError, ValueError) as error:
            raise ValueError(_what_is_wrong(path, dialect, str(error))) from error
    return _without_apostrophes(with_numbers(frame, dialect.decimal))


def _without_apostrophes(frame: Any) -> Any:
    """Return a table whose texts are no longer protected from spreadsheets."""
    for name in [name for name in frame if is_text(frame[name])]:
        frame[name] = frame[name].map(from_cell, na_action="ignore")
    return frame


def _what_is_wrong(path: Path, dialect: Dialect, reason: str) -> str:
    """Return in one sentence why a text is no table."""
    width = len(dialect.names)
    found = re.search(r"Expected \d+ fields in line (\d+), saw (\d+)", reason)
    mark = {"\t": "tab"}.get(dialect.separator, dialect.separator)
    if found:
        line, seen = found.groups()
        return (
            f"{path}: line {line} has {seen} values, but there are {width} columns, separated by {mark!r}; put quotes "
            "around values that contain it."
        )
    if "Length of header" in reason:
        return f"{path}: some rows have more values than the {width} columns named in the first row."
    if "EOF inside string" in reason:
        return f"{path}: a quotation mark is opened and never closed."
    return f"{path} cannot be read as a table ({reason.strip().partition(chr(10))[0]})."


def with_numbers(frame: Any, decimal: str = ".") -> Any:
    """Replace columns of texts that are all numbers, with marks between thousands say, by these."""
    for name in [name for name in frame if is_text(frame[name])]:
        present = frame[name].dropna()
        present = present[~present.isin(DASHES)]
        if len(present) == 0 or isinstance(present.iloc[0], bool):
            continue
        for mark in sorted(".,", key=decimal.__ne__):
            if read_numbers(present.iloc[:100], mark).notna().all():
                numbers = read_numbers(present, mark)
                if numbers.notna().all():
                    frame[name] = numbers.reindex(frame.index)
                    break
    return frame


def _parquet(path: Path) -> Any:
    parquet = optional("pyarrow.parquet", "Parquet files")
    try:
        with parquet.ParquetFile(path) as file:
            about = file.metadata
            if about.num_rows * about.num_columns > FREE_CELLS + CELLS_PER_BYTE * file_size(path):
                raise ValueError("it claims more values than its bytes can hold")
            frame = file.read().to_pandas(ignore_metadata=True, date_as_object=False)
    except MemoryError:
        raise
    except Exception as error:  # of many kinds, as pyarrow finds damage
        raise ValueError(f"{path} cannot be read as a Parquet file ({_first_line(error)}).") from error
    frame.columns = unique_names(list(frame.columns))
    return with_numbers(frame)


def _excel(path: Path) -> Any:
    optional("openpyxl", "Excel files")
    pd = pandas()
    try:
        with ZipFile(path) as archive:
            check_unpacked(archive.infolist(), file_size(path), (ZIP_STORED, ZIP_DEFLATED))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # on styles, which do not matter here
            cells = pd.read_excel(path, sheet_name=0, header=None, engine="openpyxl", na_values=UNKNOWN)
    except MemoryError:
        raise
    except Exception as error:  # of many kinds, as openpyxl finds damage
        raise ValueError(f"{path} cannot be read as an Excel file ({_first_line(error)}).") from error
    cells = cells.dropna(how="all")
    if len(cells) == 0:
        raise ValueError(f"{path} is empty: its first sheet has no values.")
    frame = cells.iloc[1:].infer_objects()
    frame.columns = unique_names(["" if pd.isna(name) else name for name in cells.iloc[0]])
    return with_numbers(frame)


def _numpy(path: Path) -> Any:
    X, y = read_array(path)
    if X.ndim != 2:
        raise ValueError(f"{path} contains an array of shape {X.shape}, but a table must have rows and columns.")
    frame = pandas().DataFrame(X, columns=[f"x{place}" for place in range(X.shape[1])])
    return frame if y is None else frame.assign(y=y)


def read_array(path: Path) -> tuple[Array, Array | None]:
    """Return the array of a NumPy file, and of an archive the array with one value for each row, if there is one."""
    try:
        if path.suffix.lower() == ".npy":
            return _plain(stored_array(path.read_bytes())), None
        with ZipFile(path) as archive:
            members = archive.infolist()
            check_unpacked(members, file_size(path), (ZIP_STORED, ZIP_DEFLATED))
            arrays = {m.filename.removesuffix(".npy"): stored_array(archive.read(m)) for m in members}
    except MemoryError:
        raise
    except Exception as error:  # of many kinds, as archives and headers are damaged
        raise ValueError(f"{path} cannot be read as a file of NumPy arrays ({_first_line(error)}).") from error
    tables = [name for name, values in arrays.items() if values.ndim == 2]
    chosen = [name for name in tables if name in ("X", "D", "data")] or tables
    if len(chosen) != 1:
        raise ValueError(
            f"{path} has {len(tables)} tables ({', '.join(map(repr, arrays)) or 'no arrays'}); name one of them 'X'."
        )
    X = _plain(arrays[chosen[0]])
    labels = [arrays[name] for name in TARGETS if name in arrays and arrays[name].shape == X.shape[:1]]
    return X, _plain(labels[0]) if labels else None


def _plain(values: Array) -> Array:
    if values.dtype.kind not in "biufU":
        raise ValueError(f"arrays must contain numbers or strings, not {values.dtype}.")
    return values


def _first_line(error: Exception) -> str:
    return (str(error).strip().partition("\n")[0] or type(error).__name__).rstrip(".")
