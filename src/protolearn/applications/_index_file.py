"""Files of an index of images: plain arrays, which run nothing when they are read."""

from __future__ import annotations

import json
import zlib
from os import PathLike
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from sklearn.preprocessing import StandardScaler

from protolearn.applications._metric_maps import MetricMaps
from protolearn.applications.colour import RegionColors
from protolearn.applications.retrieval import Collection, ImageRetriever

__all__ = ["read_index", "write_index"]

FORMAT = "protolearn index of images, version 1"


def write_index(path: str | PathLike[str], retriever: ImageRetriever) -> None:
    """Write a retriever that was fitted to a folder by `RegionColors`, with a metric given by its name."""
    features, maps, scaler = retriever.features_, retriever._maps, retriever.scaler_
    if not isinstance(features, RegionColors) or maps is None or retriever.paths_ is None or scaler is None:
        raise ValueError("An index file holds scaled colours of files, with a metric that LVQ or LMNN has learned.")
    settings = {name: getattr(retriever, name) for name in ("metric", "n_components", "n_neighbors", "local_map")}
    arrays: dict[str, Any] = {
        "format": FORMAT,
        "settings": json.dumps(settings),
        "features": json.dumps(features.get_params()),
        "mean": scaler.mean_,
        "scale": scaler.scale_,
        "matrices": maps.matrices,
        "prototypes": maps.prototypes,
        "slots": maps.slots,
        "names": maps.names,
        "vectors": retriever.vectors_,
        "labels": retriever.labels_,
        "paths": [str(file.resolve()) for file in retriever.paths_],
    }
    with Path(path).open("wb") as stream:
        np.savez_compressed(stream, **arrays)


def read_index(path: str | PathLike[str]) -> ImageRetriever:
    """Return the retriever of a file, ready for queries."""
    try:
        with np.load(path, allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in stored.files}
        if arrays["format"] != FORMAT:
            raise ValueError(arrays["format"])
        return _retriever(arrays)
    except (zlib.error, ValueError, LookupError, TypeError, AttributeError, EOFError, BadZipFile) as error:
        raise ValueError(f"{path} is no index of images; make one with: protolearn retrieve index FOLDER") from error


def _retriever(arrays: dict[str, Any]) -> ImageRetriever:
    features = RegionColors(**json.loads(str(arrays["features"]))).fit()
    retriever = ImageRetriever(features=features, **json.loads(str(arrays["settings"])))
    scaler = StandardScaler()
    scaler.mean_, scaler.scale_ = arrays["mean"], arrays["scale"]
    scaler.n_features_in_ = retriever.n_features_in_ = len(arrays["mean"])
    retriever.features_, retriever.scaler_, retriever.metric_ = features, scaler, None
    retriever._names = features.get_feature_names_out()
    retriever._maps = MetricMaps(*(arrays[name] for name in ("matrices", "prototypes", "slots", "names")))
    paths = [Path(name) for name in arrays["paths"].tolist()]
    retriever._fill(arrays["vectors"], arrays["labels"], Collection(None, True, paths=paths))
    return retriever
