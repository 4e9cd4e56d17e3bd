"""Documents with arrays as text that a page can hold: JSON and the bytes of the arrays, compressed, in base64."""

from __future__ import annotations

import gzip
import json
import re
from base64 import b64encode
from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import is_classifier

from protolearn import __version__
from protolearn.core.files import FilePath, replacing
from protolearn.core.fitted import take_apart
from protolearn.core.map import TopographicMap
from protolearn.core.types import Array
from protolearn.explore._classifiers import classifier_part
from protolearn.explore._maps import map_part
from protolearn.explore._samples import classes_of, columns_of, is_table, pixels, sample_names, strings
from protolearn.explore._views import view_part

__all__ = [
    "explore",
    "narrowed",
    "pack",
    "render",
    "script",
]

FLOATS = ("float32", "float64")


STORED = ("uint8", "int8", "uint16", "int16", "int32", *FLOATS)  # a typed array of JavaScript for each


WORD = 8  # bytes; arrays begin at multiples, as typed arrays must


def pack(document: dict[str, Any]) -> str:
    """Return a document of dicts, lists, strings, numbers and arrays as one line of letters.

    Compressed are four bytes with the length of the JSON, the JSON, and the arrays one after another. In the JSON, an
    array is ``{"#": [type, place, shape]}``. Infinite numbers and NaN are allowed in arrays only.

    Examples
    --------
    >>> text = pack({"title": "Iris", "numbers": np.array([1.0, 2.5])})
    >>> from base64 import b64decode
    >>> gzip.decompress(b64decode(text))[4:54]
    b'{"title":"Iris","numbers":{"#":["float32",0,[2]]}}'
    """
    blocks: list[bytes] = []
    size = 0

    def stored(value: Any) -> Any:
        nonlocal size
        if isinstance(value, np.generic):
            return value.item()
        if not isinstance(value, np.ndarray):
            raise TypeError(f"{type(value).__name__} cannot be part of a page")
        data = narrowed(value)
        place = size
        block = data.astype(data.dtype.newbyteorder("<")).tobytes()
        blocks.append(block + bytes(-len(block) % WORD))
        size += len(blocks[-1])
        return {"#": [data.dtype.name, place, list(data.shape)]}

    text = json.dumps(document, default=stored, separators=(",", ":"), allow_nan=False).encode()
    text += b" " * (-(len(text) + 4) % WORD)
    return b64encode(gzip.compress(len(text).to_bytes(4, "little") + text + b"".join(blocks), 6, mtime=0)).decode()


def narrowed(values: Array) -> Array:
    """Return the same numbers in the smallest type that holds them all.

    Examples
    --------
    >>> narrowed(np.array([0.0, 255.0])).dtype, narrowed(np.array([0.5, 0.1])).dtype
    (dtype('uint8'), dtype('float64'))
    """
    broken = values.dtype.kind == "f" and bool((values != np.rint(values)).any())
    for name in FLOATS if broken else STORED:
        with np.errstate(all="ignore"):
            smaller = values.astype(name)
        if np.array_equal(smaller, values, equal_nan=values.dtype.kind == "f"):
            return smaller
    return values.astype(np.float64)


MODULES = (
    "data", "dom", "store", "colors", "scatter", "table", "bars", "panels",
    "quadratic", "lvq", "classifiers", "maps", "mapping", "views", "main",
)  # fmt: skip


def render(title: str, payload: str) -> str:
    """Return a self-contained page.

    Examples
    --------
    >>> page = render("<b>Wine</b>", "")
    >>> "&lt;b&gt;Wine&lt;/b&gt;" in page and "src=" not in page.partition("<script")[0]
    True
    """
    title = title.encode("utf-8", "replace").decode()  # halves of characters (surrogates) cannot be written
    style, code = _read("style.css"), script()
    policy = (
        f"default-src 'none'; script-src '{_hash(code)}'; style-src '{_hash(style)}'; img-src data: blob:; "
        "base-uri 'none'; form-action 'none'"
    )
    template = Template(_read("template.html"))
    return template.substitute(title=escape(title), policy=policy, style=style, script=code, payload=payload)


@cache
def script() -> str:
    """Return all modules in one, without indentation, which would be a tenth of it."""
    parts = (re.sub(r"^import [^;]*;\n|^export ", "", _read(f"{name}.js"), flags=re.M) for name in MODULES)
    return re.sub(r"^ +", "", "\n".join(parts), flags=re.M)


def _read(name: str) -> str:
    return files("protolearn.explore").joinpath("page", name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


def explore(
    model: Any,
    X: Any,
    y: ArrayLike | None = None,
    *,
    names: ArrayLike | None = None,
    images: ArrayLike | None = None,
    texts: Sequence[str] | None = None,
    feature_names: Sequence[str] | None = None,
    title: str | None = None,
    note: str = "",
    path: FilePath = "explore.html",
) -> Path:
    """Write an interactive HTML page for exploring a fitted model and its samples.

    The page is a single file that works offline, so it can be sent to anyone. Its panels depend on the model: the
    lattice of a map; the discriminative plane, prototypes and relevances of a classifier; or the positions of an
    embedding (view). All panels share one selection of samples.

    Parameters
    ----------
    model : estimator or Pipeline
        Fitted map, classifier or view of protolearn, or a pipeline that ends in one.
    X : array-like or DataFrame of shape (n_samples, n_features), or list of objects
        Samples in the input format of the model.
    y : array-like of shape (n_samples,), optional
        Classes, or any other labels by which to color the samples.
    names : array-like of shape (n_samples,), optional
        Names of the samples; by default the index of a DataFrame, or numbers from 0.
    images : array-like of shape (n_samples, height, width) or (n_samples, height, width, channels), optional
        Image of each sample.
    texts : sequence of str, optional
        Text of each sample.
    feature_names : sequence of str, optional
        Names of the features; by default the columns of a DataFrame.
    title : str, optional
        Heading of the page; by default the name of the model.
    note : str, default=""
        Note to the reader below the heading, for instance the source of the samples, or how the model was validated.
    path : str or path-like, default="explore.html"
        File to write. An existing file is replaced once the new file is complete.

    Returns
    -------
    Path
        Path of the page.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from sklearn.datasets import load_wine
    >>> from protolearn import SOM
    >>> from protolearn.explore import explore
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> model = SOM(random_state=0).fit(X)
    >>> with TemporaryDirectory() as folder:
    ...     page = explore(model, X, y, path=f"{folder}/wine.html")
    ...     print(page.name, page.stat().st_size < 200_000)
    wine.html True
    """
    last = take_apart(model).last
    n_samples = len(X) if not hasattr(X, "shape") else X.shape[0]
    if texts is None and isinstance(X, (list, tuple)) and X and isinstance(X[0], str):
        texts = X
    document = {
        "title": title or type(last).__name__,
        "footer": f"Made by protolearn {__version__}. This page works offline; the file contains all data.",
        "samples": {
            "names": sample_names(names, X, n_samples),
            "named": names is not None,
            "columns": columns_of(X, feature_names) if is_table(model, X) else [],
            "classes": classes_of(y, n_samples, getattr(last, "classes_", None)),
            "images": None if images is None else pixels(images, n_samples),
            "texts": None if texts is None else strings("texts", texts, n_samples),
        },
        **_part(model, last, X, y),
    }
    document["subtitle"] = f"{document['subtitle']} {note}".strip()
    page = render(document["title"], pack(document))
    with replacing(path) as new:
        new.write_text(page, encoding="utf-8")
    return Path(path)


def _part(model: Any, last: Any, X: Any, y: Any) -> dict[str, Any]:
    """Return what a page shows of the model itself."""
    if is_classifier(last):
        return classifier_part(model, last, X, y)
    if isinstance(last, TopographicMap):
        return map_part(model, last, X, y)
    if hasattr(last, "embedding_"):
        return view_part(model, last, X, y)
    raise ValueError(
        f"{type(last).__name__} has no page; give a fitted map, classifier or view of protolearn, or a pipeline that "
        "ends in one."
    )
