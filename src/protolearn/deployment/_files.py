"""Files of fitted models, written and read with skops, which executes no code from a file."""

from __future__ import annotations

import json
import platform
from collections.abc import Collection, Iterable
from importlib import import_module
from importlib.metadata import version
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZIP_STORED, ZipFile

from protolearn import __version__
from protolearn.core.files import FilePath, file_size, replacing
from protolearn.deployment._contents import check_members, check_nodes

__all__ = [
    "load",
    "save",
]

FORMAT = 1


VERSIONS = "protolearn.json"


LIBRARIES = ("scikit-learn", "numpy", "scipy", "skops")


HARMLESS = {"scipy.sparse._csr.csr_array", "numpy.dtype"}  # arrays and their types, which skops does not list


def save(model: Any, path: FilePath, *, trusted: Collection[str] = ()) -> None:
    """Save a fitted estimator or pipeline to a file that `load` reads without executing code from it.

    The file is written with skops and contains plain arrays and a description of the model in JSON. An existing file is
    replaced only once the new file is complete.

    Parameters
    ----------
    model : object
        Estimator of protolearn or scikit-learn, or a pipeline of these.
    path : str or path-like
        File to write, usually with the suffix ``.skops``.
    trusted : collection of str, default=()
        Full names of your own types and functions in the model, such as ``"mymodule.my_distance"``. Pass the same names
        to `load`.

    See Also
    --------
    load : Loads the file.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from sklearn.datasets import load_iris
    >>> import protolearn
    >>> X, y = load_iris(return_X_y=True)
    >>> model = protolearn.GMLVQ().fit(X, y)
    >>> with TemporaryDirectory() as folder:
    ...     protolearn.save(model, f"{folder}/iris.skops")
    ...     again = protolearn.load(f"{folder}/iris.skops")
    >>> bool((again.predict(X) == model.predict(X)).all())
    True
    """
    files = _skops()
    with replacing(path) as new:
        try:
            files.dump(model, new, compression=ZIP_STORED)
        except (OSError, MemoryError):
            raise
        except Exception as error:
            raise ValueError(f"{type(model).__name__} contains an object that cannot be stored: {error}") from error
        foreign = _foreign(files.get_untrusted_types(file=new), trusted)
        if foreign:
            instead = "Save its best_estimator_" if hasattr(model, "best_estimator_") else "Replace it"
            raise ValueError(
                f"{type(model).__name__} contains {_listed(foreign)}, which is not part of protolearn or of a fitted "
                f"model of scikit-learn. {instead}, or name it in trusted, both here and in load."
            )
        with ZipFile(new, "a", ZIP_STORED) as archive:
            archive.writestr(VERSIONS, json.dumps({"format": FORMAT, "versions": _versions()}))


def load(path: FilePath, *, trusted: Collection[str] = ()) -> Any:
    """Load a model from a file that `save` has written.

    Loading executes no code from the file, so untrusted files are safe: a file can refer only to types of protolearn
    and scikit-learn, and nothing is unpacked or constructed that its own bytes do not justify. If the file was written
    by another version of either library, a warning is issued.

    Parameters
    ----------
    path : str or path-like
        File to read.
    trusted : collection of str, default=()
        Full names of further types and functions that the file may refer to. Their code is executed, so name only those
        that you trust.

    Returns
    -------
    model : object
        The model in the state in which it was saved.

    See Also
    --------
    save : Writes the file.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import protolearn
    >>> model = protolearn.GLVQ().fit([[0.0], [0.2], [0.8], [1.0]], ["low", "low", "high", "high"])
    >>> with TemporaryDirectory() as folder:
    ...     protolearn.save(model, f"{folder}/levels.skops")
    ...     again = protolearn.load(f"{folder}/levels.skops")
    >>> print(*again.predict([[0.1], [0.9]]))
    low high
    """
    files = _skops()
    size = file_size(path)
    data = Path(path).read_bytes()
    saved_by = "an unknown version"
    try:
        with ZipFile(BytesIO(data)) as archive:
            check_members(archive, size)
            about = json.loads(archive.read(VERSIONS))
            saved_by = f"version {about['versions']['protolearn']}"
            if about["format"] != FORMAT:
                raise ValueError(f"its format is {about['format']}, but this release reads format {FORMAT}")
            check_nodes(archive, size, trusted)
        foreign = _foreign(named := files.get_untrusted_types(data=data), trusted)
        if not foreign:
            return files.loads(data, trusted=named)
    except (MemoryError, Warning):
        raise
    except Exception as error:  # archives, headers of arrays, JSON and descriptions are refused in many ways
        reason = str(error).partition("\n")[0] or type(error).__name__
        raise ValueError(
            f"{path} is not a model that protolearn {__version__} can load, or it is damaged ({reason}). It was saved "
            f"by {saved_by}."
        ) from error
    raise ValueError(
        f"{path} refers to {_listed(foreign)}, which is not part of protolearn or scikit-learn, and was not loaded. If "
        "you trust it, name it in trusted."
    )


def _skops() -> Any:
    try:
        return import_module("skops.io")
    except ImportError:
        raise ImportError(
            "Storing models requires skops, which is not installed: pip install 'protolearn[skops]'"
        ) from None


def _versions() -> dict[str, str]:
    return {
        "protolearn": __version__,
        "python": platform.python_version(),
        **{name: version(name) for name in LIBRARIES},
    }


def _listed(names: Iterable[str]) -> str:
    return ", ".join(repr(name) for name in names)


def _foreign(names: Iterable[str], trusted: Collection[str]) -> list[str]:
    """Return those of the names that are nobody's we trust."""
    return [name for name in names if name not in HARMLESS and name not in trusted and not _is_ours(name)]


def _is_ours(name: str) -> bool:
    """Say whether a name is that of a class of this library: functions and modules are not types of models."""
    module, _, attribute = name.rpartition(".")
    if not module.startswith("protolearn."):
        return False
    try:
        found = getattr(import_module(module), attribute)
    except (ImportError, AttributeError):
        return False
    return isinstance(found, type) and found.__module__ == module
