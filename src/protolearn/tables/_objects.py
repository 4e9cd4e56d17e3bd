"""Objects from files: strings, texts, images, and distances between arbitrary objects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from protolearn.applications.image_files import image_candidates, open_image
from protolearn.core.files import FilePath, file_size
from protolearn.core.types import Array
from protolearn.tables._dialect import text_encoding
from protolearn.tables._pandas import pandas
from protolearn.tables._reading import read_array, read_table
from protolearn.tables._values import as_labels, is_text, strange_values

__all__ = ["Objects", "is_picture_folder", "read_distances", "read_pictures", "read_strings"]

SIDE = 16  # of the squares to which pictures are made smaller
CHANNELS = ("red", "green", "blue")


@dataclass(frozen=True)
class Objects:
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
    >>> from protolearn.tables import Objects
    >>> words = Objects(["night", "Nacht", "nuit"], names=["English", "German", "French"])
    >>> words.X[1], words.names[1], words.labels is None
    ('Nacht', 'German', True)
    """

    X: Any
    labels: Array | None = None
    names: list[str] | None = None
    pictures: Array | None = field(default=None, repr=False)


def read_strings(path: FilePath) -> Objects:
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
    return Objects(strings, as_labels([label for _, _, label in pairs]) if labeled else None)


def _sequences(path: Path, lines: list[str]) -> Objects:
    """Return the sequences of a file in FASTA format, which may go on over several lines, and their headers."""
    starts = [i for i, line in enumerate(lines) if line.startswith(">")]
    names = [lines[i][1:].strip() for i in starts]
    strings = ["".join(map(str.strip, lines[i + 1 : end])) for i, end in zip(starts, [*starts[1:], len(lines)])]
    if "" in strings:
        raise ValueError(f"{path}: there is no sequence after the header >{names[strings.index('')]}.")
    return Objects(strings, names=names)


def _are_columns(lines: Sequence[str], separator: str) -> bool:
    """Return whether every line has the same number of separators, one at least."""
    counts = {line.count(separator) for line in lines}
    return len(counts) == 1 and 0 not in counts


def _texts(folder: Path) -> Objects:
    files = sorted(file for file in folder.rglob("*") if file.is_file() and not file.name.startswith("."))
    if not files:
        raise ValueError(f"{folder} contains no files.")
    texts = [_read(file) for file in files]
    return Objects(texts, _classes(folder, files), _names(folder, files))


def _read(path: Path) -> str:
    encoding = text_encoding(path)
    return path.read_text(encoding=encoding, errors="replace")


def read_distances(
    path: FilePath, target: str | None = None, *, decimal: str | None = None, model: Any = None
) -> Objects:
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
        return Objects(_finite(path, D), None if labels is None else as_labels(labels))
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
    return Objects(_finite(path, frame), classes, names)


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


def read_pictures(folder: FilePath, columns: Sequence[str] | None = None) -> Objects:
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
    return Objects(table, _classes(folder, files), _names(folder, files), small)


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
