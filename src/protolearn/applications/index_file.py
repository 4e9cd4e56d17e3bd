"""Index files of image retrievers: plain arrays, which execute no code when they are read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import IO, Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

import numpy as np
from sklearn.preprocessing import StandardScaler

from protolearn.applications.color import RegionColors
from protolearn.applications.retrieval import Collection, ImageRetriever
from protolearn.core.files import FilePath, check_unpacked, file_size, replacing, stored_array
from protolearn.core.metric import LearnedMetric
from protolearn.core.types import Array

__all__ = ["read_index", "write_index"]

FORMAT = "protolearn index of images, version 1"
LONGEST_TEXT = 10_000  # letters of the settings
KINDS = {
    **dict.fromkeys(("format", "settings", "features", "names", "labels", "paths"), "U"),
    **dict.fromkeys(("mean", "scale", "matrices", "prototypes", "vectors"), "f"),
    "slots": "i",
}  # of arrays, by the letters of NumPy

Arrays = dict[str, Array]


def write_index(path: FilePath, retriever: ImageRetriever) -> None:
    """Write an index file of a retriever that was fitted to a folder with `RegionColors` and a metric given by name.

    Parameters
    ----------
    path : str or path
        File to write. An existing file is replaced once the new one is complete.
    retriever : ImageRetriever
        The fitted retriever.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from PIL import Image
    >>> from protolearn.applications import ImageRetriever, RegionColors
    >>> from protolearn.applications.index_file import read_index, write_index
    >>> with TemporaryDirectory() as folder:
    ...     for name in ("red", "orange", "blue", "navy"):
    ...         place = Path(folder) / ("warm" if name in ("red", "orange") else "cold")
    ...         place.mkdir(exist_ok=True)
    ...         Image.new("RGB", (4, 4), name).save(place / f"{name}.png")
    ...     retriever = ImageRetriever("liram", features=RegionColors(regions="center")).fit(folder)
    ...     write_index(f"{folder}/colors.npz", retriever)
    ...     again = read_index(f"{folder}/colors.npz")
    >>> sorted(path.stem for path in again.paths_)
    ['blue', 'navy', 'orange', 'red']
    """
    features, metric, scaler = retriever.features_, retriever.learned_metric_, retriever.scaler_
    if (
        not isinstance(features, RegionColors)
        or (metric is None or metric.steps is not None)
        or (retriever.paths_ is None or scaler is None)
    ):
        raise ValueError(
            "An index file stores scaled colors of image files with a metric that LVQ or LMNN has learned."
        )
    settings = {name: getattr(retriever, name) for name in ("metric", "n_components", "n_neighbors", "local_map")}
    arrays: dict[str, Any] = {
        "format": FORMAT,
        "settings": json.dumps(settings),
        "features": json.dumps(features.get_params()),
        "mean": scaler.mean_,
        "scale": scaler.scale_,
        "matrices": metric.omegas,
        "prototypes": metric.prototypes,
        "slots": metric.slots,
        "names": metric.labels,
        "vectors": retriever.vectors_,
        "labels": retriever.labels_,
        "paths": [str(file.resolve()) for file in retriever.paths_],
    }
    with replacing(path) as new, new.open("wb") as stream:
        np.savez_compressed(stream, **arrays)


def read_index(path: FilePath) -> ImageRetriever:
    """Read a retriever from an index file.

    Parameters
    ----------
    path : str or path
        File written by `write_index`. Reading it executes no code.

    Returns
    -------
    ImageRetriever
        The fitted retriever, ready for queries.

    See Also
    --------
    write_index : Writes the file, with an example of both functions.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from protolearn.applications.index_file import read_index
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder) / "colors.npz"
    ...     _ = file.write_text("This is no index.")
    ...     read_index(file)
    Traceback (most recent call last):
    ...
    ValueError: ...colors.npz is no image index, or damaged (File is not a zip file); create one with: protolearn
    retrieve index FOLDER
    """
    size = file_size(path)
    with Path(path).open("rb") as stream:
        try:
            return _retriever(_read_arrays(stream, size))
        except Exception as error:  # archives, headers of arrays and JSON are refused in many ways
            reason = str(error).partition("\n")[0]
            raise ValueError(
                f"{path} is no image index, or damaged ({reason}); create one with: protolearn retrieve index FOLDER"
            ) from error


def _read_arrays(stream: IO[bytes], size: int) -> Arrays:
    """Return the arrays of an archive, unless they are much larger than a file of this size should hold."""
    with ZipFile(stream) as archive:
        members = {name: archive.getinfo(f"{name}.npy") for name in KINDS}
        check_unpacked(members.values(), size, (ZIP_STORED, ZIP_DEFLATED))
        return {name: stored_array(archive.read(member)) for name, member in members.items()}


def _retriever(arrays: Arrays) -> ImageRetriever:
    _check(arrays)
    features = RegionColors(**json.loads(str(arrays["features"]))).fit()
    retriever = ImageRetriever(features=features, **json.loads(str(arrays["settings"])))
    retriever._check_parameters()
    scaler = StandardScaler()
    scaler.mean_, scaler.scale_ = arrays["mean"], arrays["scale"]
    scaler.n_features_in_ = retriever.n_features_in_ = len(arrays["mean"])
    retriever.features_, retriever.scaler_, retriever.metric_ = features, scaler, None
    retriever._names = features.get_feature_names_out()
    if len(retriever._names) != retriever.n_features_in_:
        raise ValueError("its features do not match its description")
    retriever.learned_metric_ = LearnedMetric(
        arrays["matrices"], arrays["prototypes"], arrays["slots"], arrays["names"]
    )
    paths = [Path(name) for name in arrays["paths"].tolist()]
    retriever._fill(arrays["vectors"], arrays["labels"], Collection(None, True, paths=paths))
    return retriever


def _check(arrays: Arrays) -> None:
    """Require arrays that belong together, of finite numbers."""
    for name, kind in KINDS.items():
        if arrays[name].dtype.kind != kind or (kind == "f" and not np.isfinite(arrays[name]).all()):
            raise ValueError(f"its {name} have another type, or are not finite")
    if arrays["format"] != FORMAT or max(arrays["settings"].itemsize, arrays["features"].itemsize) > 4 * LONGEST_TEXT:
        raise ValueError("it has another format")
    slots = arrays["slots"]
    (n, d), (s, m, _), p = arrays["vectors"].shape, arrays["matrices"].shape, len(slots)
    shapes: dict[str, tuple[int, ...]] = {
        "settings": (),
        "features": (),
        "mean": (d,),
        "scale": (d,),
        "matrices": (s, m, d),
        "prototypes": (p, d),
        "slots": (p,),
        "names": (p,),
        "labels": (n,),
        "paths": (n,),
    }
    if any(arrays[name].shape != shape for name, shape in shapes.items()) or min(n, d, s, m) < 1:
        raise ValueError("its arrays differ in length")
    if ((slots < 0) | (slots >= s)).any() or (s > 1 and p == 0) or (arrays["scale"] <= 0).any():
        raise ValueError("its arrays have impossible values")
