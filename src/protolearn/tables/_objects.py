"""Objects from files: strings, texts, pictures, and distances between anything."""

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
from protolearn.tables._values import as_labels, is_text

__all__ = ["Objects", "is_picture_folder", "read_distances", "read_pictures", "read_strings"]

SIDE = 16  # of the squares to which pictures are made smaller
CHANNELS = ("red", "green", "blue")


@dataclass(frozen=True)
class Objects:
    """Objects of a file or a folder.

    Attributes
    ----------
    X : list of str, ndarray or DataFrame
        The objects: strings, a matrix of distances, or pictures as rows of a table.
    labels : ndarray of shape (n,) or None
        The class of each, None where it is not known; None if no classes are given.
    names : list of str or None
        Names, if they have any.
    pictures : ndarray of shape (n, side, side, 3) or None
        Thumbnails of the objects, if they are pictures.

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
        A file with a string in each line and, if wanted, a tab and its class after it; or a folder of texts, in
        sub-folders that are called like the classes if there are any.

    Returns
    -------
    objects : Objects
        Strings, with their classes if there are some; texts have the names of their files.

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
    pairs = [line.rpartition("\t") if "\t" in line else (line, "", "") for line in lines]
    strings = [string for string, _, _ in pairs]
    if not strings:
        raise ValueError(f"{path} has no strings: write one in each line.")
    labeled = any(label.strip() for _, _, label in pairs)
    return Objects(strings, as_labels([label for _, _, label in pairs]) if labeled else None)


def _texts(folder: Path) -> Objects:
    files = sorted(file for file in folder.rglob("*") if file.is_file() and not file.name.startswith("."))
    if not files:
        raise ValueError(f"{folder} has no files.")
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
        A table that `read_table` reads, with a row and a column for each object. A column of texts with another value
        in each row names them.
    target : str, optional
        Column with the class of each object.
    decimal : {".", ","}, optional
        Decimal mark of numbers, as in `read_table`.
    model : estimator, optional
        Fitted to distances. A column that is one too many for it is taken for the target if it holds repeated texts or
        nothing but classes of the model.

    Returns
    -------
    objects : Objects
        The objects, with a matrix as ``X``, which is square for a model to learn from, and has a column for each known
        object if the rows are new ones.

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
    if target is not None and target not in frame.columns:
        raise ValueError(f"{path} has no column {target!r}.")
    if target is None and model is not None:
        target = _target(path, frame, model)
    classes = None if target is None else as_labels(frame.pop(target))
    texts = [name for name in frame if is_text(frame[name])]
    names = [str(name) for name in frame[texts[0]]] if texts else None
    return Objects(_finite(path, frame.drop(columns=texts[:1])), classes, names)


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
            f"{path} has {n} columns of numbers, but the model takes the distances to {known} objects; leave out "
            "whatever is no distance."
        )
    return str(found[0])


def _finite(path: Path, values: Any) -> Array:
    """Return distances as a matrix of floats without gaps."""
    try:
        D = np.asarray(values, dtype=np.float64)
    except ValueError:
        raise ValueError(
            f"{path} holds texts where distances are expected; name a column of classes as target."
        ) from None
    if D.ndim != 2 or not np.isfinite(D).all():
        raise ValueError(f"{path} must hold a distance in each place of a table; values are missing or infinite.")
    return D


def is_picture_folder(path: FilePath) -> bool:
    """Tell whether there is a picture in a folder.

    Parameters
    ----------
    path : str or path-like
        A folder.

    Returns
    -------
    bool
        Whether a file in it, or in one of its sub-folders, is a picture by its name.

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
    """Read the pictures of a folder as a table, with a row for each picture and a column for each pixel.

    Pictures are cut to a square in their middle and made smaller, to 16 x 16 pixels. Their colors count, unless all of
    them are gray. They are read by Pillow, which comes with the extra ``images``.

    Parameters
    ----------
    folder : str or path-like
        Folder of pictures, in sub-folders that are called like the classes if there are any.
    columns : sequence of str, optional
        Names of columns that are needed: gray values or colors, as a model was trained with.

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
        raise ValueError(f"{folder} has no pictures.")
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
        raise ValueError(f"{file} has more than 8 bits for each value; convert it to 8 bits first.")
    return np.asarray(ImageOps.fit(picture.convert("RGB"), (SIDE, SIDE)))


def _classes(folder: Path, files: list[Path]) -> Array | None:
    """Return the sub-folder of each file; None for files that are in none."""
    parts = [file.relative_to(folder).parts for file in files]
    return as_labels([part[0] if len(part) > 1 else None for part in parts]) if max(map(len, parts)) > 1 else None


def _names(folder: Path, files: list[Path]) -> list[str]:
    return [file.relative_to(folder).as_posix() for file in files]
