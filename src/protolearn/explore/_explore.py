"""Conversion of a fitted model and its samples to a page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from numpy.typing import ArrayLike
from sklearn.base import is_classifier

from protolearn import __version__
from protolearn.core.files import FilePath, replacing
from protolearn.core.map import TopographicMap
from protolearn.core.pipelines import take_apart
from protolearn.explore._classifiers import classifier_part
from protolearn.explore._maps import map_part
from protolearn.explore._page import render
from protolearn.explore._payload import pack
from protolearn.explore._samples import classes_of, columns_of, is_table, pixels, sample_names, strings
from protolearn.explore._views import view_part

__all__ = ["explore"]


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
