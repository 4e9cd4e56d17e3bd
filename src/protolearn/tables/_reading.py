"""Tables from files: text with any separator, Parquet, Excel, and arrays of NumPy."""

from __future__ import annotations

import re
import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

import numpy as np

from protolearn.applications.image_files import image_candidates, open_image
from protolearn.core.files import FilePath, check_unpacked, file_size, stored_array
from protolearn.core.parameters import constrained, none, option
from protolearn.core.texts import from_cell
from protolearn.core.types import Array
from protolearn.tables._dialect import (
    FIRST_VALUES,
    Dialect,
    as_labels,
    find_dialect,
    has_marks,
    is_gap,
    is_text,
    marks_of,
    optional,
    pandas,
    read_numbers,
    strange_values,
    text_encoding,
    unique_names,
)
from protolearn.tables._limits import FREE_XML, check_chunks, check_lines, names_of_texts, sheet_rows, with_texts
from protolearn.tables._marks import MARK_NAMES, decided_mark

__all__ = [
    "ObjectColumn",
    "is_picture_folder",
    "read_array",
    "read_distances",
    "read_pictures",
    "read_strings",
    "read_table",
]

UNKNOWN = ["?"]  # taken as missing beside what pandas knows: empty, NA, NaN, null, None and the like


EXCEL_ERRORS = ("#DIV/0!", "#N/A", "#NAME?", "#NULL!", "#NUM!", "#REF!", "#VALUE!", "#SPILL!", "#CALC!")


EMPTY = {"keep_default_na": False, "na_values": ["", *EXCEL_ERRORS]}


TARGETS = ("y", "target", "label", "labels")  # names of arrays that hold one value for each row


@constrained(decimal=option(".", ",") | none)
def read_table(path: FilePath, *, decimal: str | None = None, like: Any = None) -> Any:
    r"""Read a table from a file.

    The suffix determines the type of the file: ``.parquet``, ``.xlsx`` (the first sheet), ``.npy`` or ``.npz``; any
    other file is read as text. For text files, the encoding, the separator (comma, semicolon, tab or vertical bar), the
    decimal mark and the header are detected. Reading executes no code from the file.

    Parameters
    ----------
    path : str or path-like
        File to read.
    decimal : {".", ","}, optional
        Decimal mark of numbers in texts. By default, the numbers of all rows decide: 2,5 has a decimal comma, 2.5 and
        1,250.5 a decimal point. Columns with numbers such as 1,250 only are read as the others. If nothing in the file
        shows the mark, it is the one of ``like``, or a comma between semicolons and a point in quotes between commas;
        otherwise, or if these differ, the table is refused.
    like : TablePreparation, optional
        Fitted preparation of a model that the table is for. Its categories are read as texts, and numbers that may mean
        two things as in its training table.

    Returns
    -------
    DataFrame
        Table with columns of numbers, booleans, dates or texts. Columns with the same name are distinguished by a
        number. Words such as NA, None, null and ? are missing values in columns of numbers and booleans; in columns of
        texts, which may be classes, only empty cells are missing. ``attrs`` has the decimal mark, as ``"decimal"``, and
        ``"notes"`` on how the file was read.

    Raises
    ------
    ValueError
        If the file is damaged, empty, or not a table, or if it does not show what its numbers mean.

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
    frame = _typed(path, readers[suffix](path), decimal, like) if suffix in readers else _text(path, decimal, like)
    if len(frame) == 0:
        raise ValueError(f"{path} has column names, but no rows.")
    return frame.reset_index(drop=True)


def _text(path: Path, decimal: str | None, like: Any) -> Any:
    dialect = find_dialect(path)
    check_lines(path, dialect)
    frame = _parsed(path, dialect, decimal=decimal or dialect.decimal)
    known, coded = _as_learned(like)
    own: dict[str, str] = {}
    notes: list[str] = []
    fractions = _has_fractions(frame)
    mark = decimal or (dialect.decimal if dialect.decimal == "," or fractions else None)
    doubtful = (known == "," and fractions) or any(has_marks(frame[name]) for name in _texts_of(frame))
    if decimal is None and doubtful:
        cells = _parsed(path, dialect, dtype=str)
        columns = [(name, _telling(texts, frame[name])) for name, texts in cells.items() if name not in coded]
        mark, own, notes = decided_mark(path, columns, dialect.separator, known)
        if mark is not None and mark != dialect.decimal:
            frame = _parsed(path, dialect, decimal=mark)
    with_numbers(frame, mark or ".", own, coded)
    texts = [name for name in frame if name in coded or _may_have_words(frame[name])]
    if texts:  # in which only empty cells are missing
        cells = _parsed(path, dialect, dtype=str, usecols=texts, keep_default_na=False, na_values=[""])
        for name in texts:
            frame[name] = cells[name] if cells[name].notna().any() else frame[name]
    for name in _texts_of(frame):
        if any(str(text).startswith("'") for text in frame[name].unique()):
            frame[name] = frame[name].map(from_cell, na_action="ignore")
    return _with_attrs(frame, mark, known, [*_on_encoding(dialect), *notes])


def _as_learned(like: Any) -> tuple[str | None, set[str]]:
    """Return the decimal mark of a training table, and its columns of categories."""
    return (None, set()) if like is None else (getattr(like, "decimal_", None), set(like.names_of("category")))


def _parsed(path: Path, dialect: Dialect, **options: Any) -> Any:
    """Return a text file as a frame."""
    pd = pandas()
    with path.open(encoding=dialect.encoding, errors="replace", newline="") as file, warnings.catch_warnings():
        warnings.simplefilter("error", pd.errors.ParserWarning)
        if dialect.hint:
            file.readline()
        try:
            return pd.read_csv(
                file,
                sep=dialect.separator,
                names=dialect.names,
                header=0 if dialect.header else None,
                index_col=False,
                skipinitialspace=True,
                low_memory=False,
                **{"na_values": UNKNOWN, **options},
            )
        except (pd.errors.ParserError, pd.errors.ParserWarning, pd.errors.EmptyDataError, ValueError) as error:
            raise ValueError(_what_is_wrong(path, dialect, str(error))) from error


def _texts_of(frame: Any) -> list[str]:
    return [name for name in frame if is_text(frame[name]) and strange_values(frame[name]) is None]


def _telling(texts: Any, column: Any) -> Any:
    """Return texts that show as much as all do: of a column of numbers, the first ones if they show the mark."""
    head = texts.iloc[:FIRST_VALUES]
    return head if not is_text(column) and marks_of(head).own is not None else texts


def _has_fractions(frame: Any) -> bool:
    """Return whether a table has numbers that are not whole."""
    return any((column.dropna() % 1 != 0).any() for _, column in frame.items() if column.dtype.kind == "f")


def _may_have_words(column: Any) -> bool:
    """Return whether words for missing values in a column may be texts as any other."""
    present = column.dropna()
    return len(present) < len(column) and (
        len(present) == 0 or (is_text(column) and not isinstance(present.iloc[0], bool))
    )


def _on_encoding(dialect: Dialect) -> list[str]:
    if dialect.encoding != "cp1252":
        return []
    return [
        "The file is not in UTF-8, and is read as Western European (cp1252); if letters are wrong, save it as UTF-8."
    ]


def _with_attrs(frame: Any, mark: str | None, known: str | None, notes: list[str]) -> Any:
    """Return a table that carries its decimal mark, and notes on how it was read."""
    if mark is not None and known is not None and mark != known:
        notes = [
            *notes,
            f"The table has decimal {MARK_NAMES[mark]}s, but the training table had decimal {MARK_NAMES[known]}s.",
        ]
    frame.attrs = {"decimal": mark, "notes": notes}
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


def with_numbers(frame: Any, decimal: str, own: Mapping[str, str], coded: Collection[str]) -> None:
    """Replace columns of texts that are all numbers, with marks between thousands say, by these, except some.

    Columns are read with their own decimal mark if it is known.
    """
    for name in [name for name in _texts_of(frame) if name not in coded]:
        present = frame[name].dropna()
        present = present[~present.isin([value for value in present.unique() if is_gap(value)])]
        if len(present) == 0 or isinstance(present.iloc[0], bool):
            continue
        head = present.iloc[:100]
        if not any(read_numbers(head, mark).notna().all() for mark in ".,"):
            continue
        numbers = read_numbers(present, own.get(name) or marks_of(present).own or decimal)
        if numbers.notna().all():
            frame[name] = numbers.reindex(frame.index)


def _typed(path: Path, frame: Any, decimal: str | None, like: Any) -> Any:
    """Return a table of a file that stores the types of its values, with numbers in place of texts that are such."""
    known, coded = _as_learned(like)
    cells = [(name, frame[name]) for name in _texts_of(frame) if name not in coded]
    mark, own, notes = (decimal, {}, []) if decimal else decided_mark(path, cells, None, known)
    with_numbers(frame, mark or ".", own, coded)
    return _with_attrs(frame, mark, known, notes)


def _parquet(path: Path) -> Any:
    parquet = optional("pyarrow.parquet", "Parquet files")
    try:
        with parquet.ParquetFile(path) as file:
            check_chunks(file.metadata, file_size(path))
            texts = names_of_texts(file.schema_arrow)
        with parquet.ParquetFile(path, read_dictionary=texts) as file:  # in which texts are not repeated
            table = with_texts(file.read(), texts, file_size(path))
        frame = table.to_pandas(ignore_metadata=True, date_as_object=False)
    except MemoryError:
        raise
    except Exception as error:  # of many kinds, as pyarrow finds damage
        raise ValueError(f"{path} cannot be read as a Parquet file ({_first_line(error)}).") from error
    frame.columns = unique_names(list(frame.columns))
    return frame


def _excel(path: Path) -> Any:
    optional("openpyxl", "Excel files")
    pd = pandas()
    from pandas.io.parsers import TextParser

    size = file_size(path)
    try:
        with ZipFile(path) as archive:
            check_unpacked(archive.infolist(), size, (ZIP_STORED, ZIP_DEFLATED), FREE_XML)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # on styles, which do not matter here
            with pd.ExcelFile(path, engine="openpyxl") as book:
                rows = sheet_rows(book.book.worksheets[0], size)
        cells = TextParser(rows, header=None, **EMPTY).read() if rows else pd.DataFrame()
    except MemoryError:
        raise
    except Exception as error:  # of many kinds, as openpyxl finds damage
        raise ValueError(f"{path} cannot be read as an Excel file ({_first_line(error)}).") from error
    cells = cells.dropna(how="all")
    if len(cells) == 0:
        raise ValueError(f"{path} is empty: its first sheet has no values.")
    frame = cells.iloc[1:].infer_objects()
    frame.columns = unique_names(["" if pd.isna(name) else name for name in cells.iloc[0]])
    return frame


def _numpy(path: Path) -> Any:
    X, y = read_array(path)
    if X.ndim != 2:
        raise ValueError(f"{path} contains an array of shape {X.shape}, but a table must have rows and columns.")
    if 0 in X.shape:
        raise ValueError(f"{path} contains an array of shape {X.shape}, which has no values.")
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


SIDE = 16  # of the squares to which pictures are made smaller


CHANNELS = ("red", "green", "blue")


@dataclass(frozen=True)
class ObjectColumn:
    """Objects that were read from a file or a folder.

    Attributes
    ----------
    X : list of str, ndarray or DataFrame
        The objects: strings, a matrix of distances, or images as rows of a table.
    labels : ndarray of shape (n,) or None
        Class of each object, None where it is unknown; None if there are no classes.
    names : list of str or None
        Names of the objects, if there are any.
    pictures : ndarray of shape (n, side, side, 3) or None
        Thumbnails of the objects, if they are images.

    Examples
    --------
    >>> from protolearn.tables import ObjectColumn
    >>> words = ObjectColumn(["night", "Nacht", "nuit"], names=["English", "German", "French"])
    >>> words.X[1], words.names[1], words.labels is None
    ('Nacht', 'German', True)
    """

    X: Any
    labels: Array | None = None
    names: list[str] | None = None
    pictures: Array | None = field(default=None, repr=False)


def read_strings(path: FilePath) -> ObjectColumn:
    r"""Read strings from a file, or texts from a folder.

    Parameters
    ----------
    path : str or path-like
        File with one string per line, optionally followed by a tab and its class; sequences in FASTA format; or a
        folder of text files, optionally in sub-folders that are named after the classes.

    Returns
    -------
    objects : Objects
        Strings, with their classes if there are any; texts have the names of their files, and sequences those of their
        headers.

    Raises
    ------
    ValueError
        If the file contains no strings, or is a table with commas or semicolons rather than a list of strings.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from protolearn.tables import read_strings
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder) / "words.txt"
    ...     _ = file.write_text("night\tEnglish\nNacht\tGerman\nnuit\n")
    ...     objects = read_strings(file)
    >>> objects.X, objects.labels.tolist()
    (['night', 'Nacht', 'nuit'], ['English', 'German', None])
    """
    path = Path(path)
    if path.is_dir():
        return _texts(path)
    lines = [line.rstrip("\r") for line in _read(path).split("\n") if line.strip()]
    if lines and lines[0].startswith(">") and not all(line.startswith(">") for line in lines):
        return _sequences(path, lines)
    if path.suffix.lower() == ".csv" and any(_are_columns(lines, separator) for separator in ",;"):
        raise ValueError(
            f"{path} is a table, and whole lines would be compared; write one string per line, optionally followed by "
            "a tab and its class."
        )
    pairs = [line.rpartition("\t") if "\t" in line else (line, "", "") for line in lines]
    strings = [string for string, _, _ in pairs]
    if not strings:
        raise ValueError(f"{path} contains no strings; write one string per line.")
    labeled = any(label.strip() for _, _, label in pairs)
    return ObjectColumn(strings, as_labels([label for _, _, label in pairs]) if labeled else None)


def _sequences(path: Path, lines: list[str]) -> ObjectColumn:
    """Return the sequences of a file in FASTA format, which may go on over several lines, and their headers."""
    starts = [i for i, line in enumerate(lines) if line.startswith(">")]
    names = [lines[i][1:].strip() for i in starts]
    strings = ["".join(map(str.strip, lines[i + 1 : end])) for i, end in zip(starts, [*starts[1:], len(lines)])]
    if "" in strings:
        raise ValueError(f"{path}: there is no sequence after the header >{names[strings.index('')]}.")
    return ObjectColumn(strings, names=names)


def _are_columns(lines: Sequence[str], separator: str) -> bool:
    """Return whether every line has the same number of separators, one at least."""
    counts = {line.count(separator) for line in lines}
    return len(counts) == 1 and 0 not in counts


def _texts(folder: Path) -> ObjectColumn:
    files = sorted(file for file in folder.rglob("*") if file.is_file() and not file.name.startswith("."))
    if not files:
        raise ValueError(f"{folder} contains no files.")
    texts = [_read(file) for file in files]
    return ObjectColumn(texts, _classes(folder, files), _names(folder, files))


def _read(path: Path) -> str:
    encoding = text_encoding(path)
    return path.read_text(encoding=encoding, errors="replace")


def read_distances(
    path: FilePath, target: str | None = None, *, decimal: str | None = None, model: Any = None
) -> ObjectColumn:
    r"""Read distances between objects from a table.

    Parameters
    ----------
    path : str or path-like
        Table, see `read_table`, with a row and a column for each object. A column of texts with a different value in
        each row provides the names.
    target : str, optional
        Column with the class of each object.
    decimal : {".", ","}, optional
        Decimal mark of numbers, as in `read_table`.
    model : estimator, optional
        Model that was fitted to distances. If the table has one column too many, and this column contains repeated
        texts or only classes of the model, it is used as the target.

    Returns
    -------
    objects : Objects
        The objects, with a matrix as ``X``: square for training, and with a column for each training object if the rows
        are new objects.

    Raises
    ------
    ValueError
        If a distance is missing or is no number, or, without a model, if rows and columns have the same names in
        another order.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from protolearn.tables import read_distances
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder) / "trips.csv"
    ...     _ = file.write_text("town,Ulm,Bonn,land\nUlm,0,360,south\nBonn,360,0,north\n")
    ...     objects = read_distances(file, "land")
    >>> objects.names, objects.labels.tolist(), objects.X.shape
    (['Ulm', 'Bonn'], ['south', 'north'], (2, 2))
    """
    path = Path(path)
    if path.suffix.lower() in (".npy", ".npz"):
        D, labels = read_array(path)
        return ObjectColumn(_finite(path, D), None if labels is None else as_labels(labels))
    frame = read_table(path, decimal=decimal)
    for name in frame:
        if strange_values(frame[name]) is not None:
            raise ValueError(f"{path} contains {strange_values(frame[name])} in column {str(name)!r}, not distances.")
    if target is not None and target not in frame.columns:
        raise ValueError(f"{path} has no column {target!r}.")
    if target is None and model is not None:
        target = _target(path, frame, model)
    classes = None if target is None else as_labels(frame.pop(target))
    texts = [name for name in frame if is_text(frame[name])]
    names = [str(name) for name in frame[texts[0]]] if texts else None
    frame = frame.drop(columns=texts[:1])
    columns = [str(name) for name in frame]
    if model is None and names is not None and names != columns and sorted(names) == sorted(columns):
        raise ValueError(f"{path} has the same names in rows and columns, but in another order; sort one of them.")
    return ObjectColumn(_finite(path, frame), classes, names)


def _target(path: Path, frame: Any, model: Any) -> str | None:
    """Return the column of classes in a table of distances to the objects that a model knows, if there is one."""
    texts = [name for name in frame if is_text(frame[name])]
    repeated = [name for name in texts if not frame[name].is_unique]
    if repeated:
        return str(repeated[0])
    n, known = len(frame.columns) - len(texts), model.n_features_in_
    if n == known:
        return None
    classes = {None, *map(str, getattr(model, "classes_", ()))}
    found = [name for name in frame if classes.issuperset(as_labels(frame[name]))]
    if n != known + 1 or len(found) != 1:
        raise ValueError(
            f"{path} has {n} columns of numbers, but the model takes the distances to {known} objects; remove "
            "columns that are not distances."
        )
    return str(found[0])


def _finite(path: Path, values: Any) -> Array:
    """Return distances as a matrix of floats without gaps."""
    try:
        D = np.asarray(values, dtype=np.float64)
    except ValueError:
        raise ValueError(
            f"{path} contains texts where distances are expected; name a column of classes as target."
        ) from None
    if D.ndim != 2 or not np.isfinite(D).all():
        raise ValueError(f"{path} must contain a distance in every cell of the table; values are missing or infinite.")
    return D


def is_picture_folder(path: FilePath) -> bool:
    """Return whether a folder contains an image.

    Parameters
    ----------
    path : str or path-like
        Folder to search.

    Returns
    -------
    bool
        Whether a file in the folder or its sub-folders has an image suffix.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from protolearn.tables import is_picture_folder
    >>> with TemporaryDirectory() as folder:
    ...     is_picture_folder(folder)
    False
    """
    return Path(path).is_dir() and next(image_candidates(path), None) is not None


def read_pictures(folder: FilePath, columns: Sequence[str] | None = None) -> ObjectColumn:
    """Read the images of a folder as a table, with a row for each image and a column for each pixel.

    Images are cropped to a central square and reduced to 16 x 16 pixels. The table contains colors unless all images
    are gray. This function needs Pillow, which comes with the extra ``images``.

    Parameters
    ----------
    folder : str or path-like
        Folder of images, optionally in sub-folders that are named after the classes.
    columns : sequence of str, optional
        Names of the required columns, gray values or colors, as in the training table of a model.

    Returns
    -------
    objects : Objects
        The objects, with a DataFrame as ``X``.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import numpy as np
    >>> from PIL import Image
    >>> from protolearn.tables import read_pictures
    >>> with TemporaryDirectory() as folder:
    ...     Image.fromarray(np.full((40, 30, 3), (255, 0, 0), np.uint8)).save(f"{folder}/red.png")
    ...     objects = read_pictures(folder)
    >>> objects.names, objects.X.shape, objects.X["red 0,0"].tolist()
    (['red.png'], (1, 768), [1.0])
    """
    folder = Path(folder)
    files = sorted(image_candidates(folder))
    if not files:
        raise ValueError(f"{folder} contains no images.")
    small = np.stack([_thumbnail(file) for file in files])
    gray = bool((small == small[..., :1]).all()) if columns is None else any(n.startswith("gray") for n in columns)
    values = small.mean(axis=3, keepdims=True) if gray else small.astype(np.float64)
    channels = ("gray",) if gray else CHANNELS
    names = [f"{channel} {row},{column}" for row in range(SIDE) for column in range(SIDE) for channel in channels]
    table = pandas().DataFrame(values.reshape(len(files), -1) / 255, columns=names)
    return ObjectColumn(table, _classes(folder, files), _names(folder, files), small)


def _thumbnail(file: Path) -> Array:
    """Return the middle square of a picture, made smaller, in red, green and blue."""
    from PIL import ImageOps

    file_size(file)
    picture = open_image(file)
    if picture.mode.startswith(("I", "F")):
        raise ValueError(f"{file} has more than 8 bits per value; convert it to 8 bits first.")
    return np.asarray(ImageOps.fit(picture.convert("RGB"), (SIDE, SIDE)))


def _classes(folder: Path, files: list[Path]) -> Array | None:
    """Return the sub-folder of each file; None for files that are in none."""
    parts = [file.relative_to(folder).parts for file in files]
    return as_labels([part[0] if len(part) > 1 else None for part in parts]) if max(map(len, parts)) > 1 else None


def _names(folder: Path, files: list[Path]) -> list[str]:
    return [file.relative_to(folder).as_posix() for file in files]
