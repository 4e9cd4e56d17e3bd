"""Store what every estimator returns, and compare it with what it returned before a change that should not matter.

Run it by hand, before and after a refactoring::

    PYTHONPATH=OLD_CHECKOUT/src python tests/same_results.py record before.npz
    python tests/same_results.py record after.npz
    python tests/same_results.py compare before.npz after.npz --messages

Only names that a refactoring keeps are used: those of the package and its public subpackages (and lattices). A case
that fails, because something else that it needs has moved, is told while recording and missing in the comparison.
Results are those of one thread; compare recordings of the same machine and the same versions of libraries.
"""

from __future__ import annotations

import argparse
import dataclasses
import inspect
import re
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from scipy.spatial.distance import cdist
from sklearn.base import is_classifier
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, scale
from threadpoolctl import threadpool_limits

import protolearn as pl
from protolearn.maps import Patches

MESSAGES = "messages/"
ROUNDED_ZERO = 1e-14  # a difference that is none, whatever the values
SHOWN = 200  # lines of a comparison
DEEPEST = 3  # levels of objects within results
SCALARS = (bool, int, float, complex, str, np.generic)

Array = NDArray[Any]
Outputs = dict[str, Array]
Settings = dict[str, Any]
Learn = Callable[[Any, "Data"], Any]
Results = Iterator[tuple[str, Any]]


@dataclass(frozen=True)
class Data:
    """What a model learns from, and what it is asked about."""

    X: Any
    y: Any = None
    new: Any = None
    new_y: Any = None
    weights: Any = None


@dataclass(frozen=True)
class Case:
    """A name such as ``maps/SOM/online``, and what yields the results."""

    name: str
    results: Callable[[], Results]


# Data


@cache
def table(name: str) -> Data:
    """Return a table by its name, shuffled, with the last samples as new ones."""
    X, y, n, n_new = _samples(name)
    order = np.random.RandomState(0).permutation(len(X))
    X, y = X[order], y[order]
    return Data(X[:n], y[:n], X[n : n + n_new], y[n : n + n_new])


def _samples(name: str) -> tuple[Array, Array, int, int]:
    """Return samples and classes, and the numbers of samples to learn from and of new ones."""
    iris, wine, cancer, digits = load_iris(), load_wine(), load_breast_cancer(), load_digits()
    pixels = digits.data / 16.0
    return {
        "iris": (scale(iris.data), iris.target, 120, 30),
        "iris raw": (iris.data, iris.target, 120, 30),
        "wine": (scale(wine.data), wine.target, 140, 38),
        "cancer": (scale(cancer.data), cancer.target, 200, 40),
        "cancer raw": (cancer.data, cancer.target, 200, 40),
        "digits": (pixels, digits.target, 300, 50),
        "wide": (np.hstack([pixels, pixels**2]), digits.target % 3, 40, 10),
    }[name]


def with_gaps(X: Array, share: float = 0.1) -> Array:
    """Return samples of which some values are missing."""
    gaps = np.random.RandomState(1).rand(*X.shape) < share
    gaps[gaps.all(axis=1)] = False
    return np.where(gaps, np.nan, X)


def weighted(data: Data) -> Data:
    """Return samples with weights, some of which are zero."""
    return dataclasses.replace(data, weights=np.random.RandomState(2).randint(0, 4, len(data.X)).astype(float))


def partly_labelled(data: Data) -> Data:
    """Return samples of which every third has no label."""
    return dataclasses.replace(data, y=np.where(np.arange(len(data.y)) % 3 == 0, -1, data.y))


def sparsely_labelled(data: Data) -> Data:
    """Return samples whose classes are texts, and of which every third has None or NaN instead."""
    names = named_classes(data).y.astype(object)
    names[::3], names[::6] = None, np.nan
    return dataclasses.replace(data, y=names)


def named_classes(data: Data) -> Data:
    """Return samples whose classes are texts."""
    names = np.array([f"class {code}" for code in range(10)])
    return dataclasses.replace(data, y=names[data.y], new_y=names[data.new_y])


def in_float32(data: Data) -> Data:
    """Return samples of single precision."""
    return dataclasses.replace(data, X=data.X.astype(np.float32), new=data.new.astype(np.float32))


def gappy(data: Data) -> Data:
    """Return samples with missing values."""
    return dataclasses.replace(data, X=with_gaps(data.X), new=with_gaps(data.new))


def few(data: Data, n: int) -> Data:
    """Return the first samples."""
    return dataclasses.replace(data, X=data.X[:n], y=data.y[:n])


@cache
def strings() -> Data:
    """Return words of three classes, made by changing letters of three others."""
    rng = np.random.RandomState(3)
    letters = np.array(list("abcdefgh"))
    roots, y = [rng.choice(letters, 9) for _ in range(3)], np.arange(90) % 3
    words = ["".join(np.where(rng.rand(9) < 0.3, rng.choice(letters, 9), roots[c])[: 6 + rng.randint(4)]) for c in y]
    return Data(words[:70], y[:70], words[70:], y[70:])


def matrix(kind: str = "euclidean", name: str = "iris") -> Data:
    """Return dissimilarities between samples, or a kernel, with rows of new objects."""
    data = table(name)
    both = np.vstack([data.X, data.new])
    n = len(data.X)
    full = _related(kind, both)
    rows = full[n:, :n]
    if kind == "linear":  # needs the kernel of new objects with themselves
        rows = np.column_stack([rows, full.diagonal()[n:]])
    return dataclasses.replace(data, X=np.ascontiguousarray(full[:n, :n]), new=np.ascontiguousarray(rows))


def _related(kind: str, X: Array) -> Array:
    squares = cdist(X, X, "sqeuclidean")
    match kind:
        case "squared":
            return squares
        case "city":
            return cdist(X, X, "cityblock")
        case "rbf":
            return np.exp(-squares / X.shape[1])
        case "linear":
            return X @ X.T
        case "lopsided":
            return np.sqrt(squares) * (1.0 + 0.1 * np.sin(np.arange(len(X))))
    return np.sqrt(squares)


def sourced(objects: Any, metric: str = "precomputed") -> Data:
    """Return a source of dissimilarities."""
    source = pl.dissimilarities.Dissimilarities(objects, metric)
    return Data(source, np.arange(len(objects)) % 3, source)


# Ways to learn


def fit(model: Any, data: Data) -> None:
    """Learn from all at once."""
    if data.weights is None:
        model.fit(data.X, data.y)
    else:
        model.fit(data.X, data.y, sample_weight=data.weights)


def fit_without_labels(model: Any, data: Data) -> None:
    """Learn from all at once, without labels."""
    model.fit(data.X)


def fit_twice(model: Any, data: Data) -> None:
    """Learn again from other samples."""
    model.fit(data.X[::2], data.y[::2])
    model.fit(data.X, data.y)


def parts_of(data: Data, n_parts: int = 3) -> Iterator[tuple[Any, ...]]:
    """Yield parts of the samples, with their labels and weights."""
    for part in np.array_split(np.arange(len(data.X)), n_parts):
        X = [data.X[j] for j in part] if isinstance(data.X, list) else data.X[part]
        yield (X, data.y[part]) if data.weights is None else (X, data.y[part], data.weights[part])


def fit_iterator(model: Any, data: Data) -> None:
    """Learn from an iterator of patches."""
    model.fit(parts_of(data))


def fit_parts(model: Any, data: Data) -> None:
    """Learn part after part."""
    for part in parts_of(data):
        model.partial_fit(*part)


def fit_sorted_parts(model: Any, data: Data) -> None:
    """Learn part after part, each of which has new classes."""
    order = np.argsort(data.y, kind="stable")
    fit_parts(model, dataclasses.replace(data, X=data.X[order], y=data.y[order]))


def fit_then_parts(model: Any, data: Data) -> None:
    """Learn from one half at once and from the rest in parts."""
    first, *others = parts_of(data, 4)
    model.fit(*first)
    for part in others:
        model.partial_fit(*part)


def fit_classified_parts(model: Any, data: Data) -> None:
    """Learn part after part, with the classes given at first."""
    for number, (X, y) in enumerate(parts_of(data)):
        model.partial_fit(X, y, **({"classes": np.unique(data.y)} if number == 0 else {}))


def fit_rows(model: Any, data: Data) -> None:
    """Learn from a matrix part after part: dissimilarities to what was kept, then those within the part."""
    for number, part in enumerate(np.array_split(np.arange(len(data.X)), 3)):
        columns = part if number == 0 else np.concatenate([model.kept_, part])
        model.partial_fit(data.X[np.ix_(part, columns)], data.y[part])


def fit_memory_map(model: Any, data: Data) -> None:
    """Learn from a file."""
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "X.npy"
        np.save(path, data.X)
        model.fit(np.load(path, mmap_mode="r"), data.y)


# Results of a fitted model

ASKED = (
    *("predict", "transform", "distances", "nearest", "predict_proba", "decision_function", "confidence"),
    *("score_samples", "nearest_prototypes", "local_transform", "intensities", "powers"),
)
ASKED_WITH_LABELS = ("margins", "relative_distance")


def results(model: Any, data: Data) -> Results:
    """Yield the attributes of a fitted model, and what it says of new samples."""
    yield from attributes(model)
    if data.new is None:
        return
    for name in ASKED:
        if hasattr(model, name):
            yield from attempt(name, partial(getattr(model, name), data.new))
    for name in ASKED_WITH_LABELS:
        if hasattr(model, name):
            yield from attempt(name, partial(getattr(model, name), data.new, data.new_y))
    if hasattr(model, "score"):
        labels = {"y": data.new_y} if is_classifier(model) else {}
        yield from attempt("score", partial(model.score, data.new, **labels))
    for ask in (_completed, _explained, _from_support, _and_back, _names):
        yield from ask(model, data)


def _completed(model: Any, data: Data) -> Results:
    """Yield what maps with shapes say of samples with gaps, and their other distances."""
    if not hasattr(model, "complete"):
        return
    new = with_gaps(data.new, 0.3)
    for how in ("blend", "joint", "marginal"):
        yield from attempt(f"complete({how})", partial(model.complete, new, how))
    for name in ("predict", "score_samples", "transform", "distances"):
        yield from attempt(f"{name}(gaps)", partial(getattr(model, name), new))
    for measure in ("normal", "pair"):
        yield from attempt(f"distances({measure})", partial(model.distances, data.new, measure))


def _explained(model: Any, data: Data) -> Results:
    if hasattr(model, "explain"):
        yield from attempt("explain", partial(model.explain, data.new[:5]))
        yield from attempt("counterfactual", partial(model.counterfactual, data.new[:3]))


def _from_support(model: Any, data: Data) -> Results:
    """Yield what a map of dissimilarities says of new objects of which only those to its support are known."""
    support = getattr(model, "support_", None)
    if support is None or not isinstance(data.new, np.ndarray) or len(support) in (len(data.X), data.new.shape[1]):
        return
    own = data.new[:, len(data.X) :]
    if len(data.X) > support.max() and data.new.shape[1] >= len(data.X):
        rows = np.column_stack([data.new[:, support], own])
        yield from attempt("predict(support)", lambda: model.predict(rows))
        yield from attempt("transform(support)", lambda: model.transform(rows))


def _and_back(model: Any, data: Data) -> Results:
    if hasattr(model, "inverse_transform") and hasattr(model, "transform"):
        yield from attempt("inverse_transform", lambda: model.inverse_transform(model.transform(data.new)))


def _names(model: Any, data: Data) -> Results:
    if hasattr(model, "get_feature_names_out"):
        yield from attempt("get_feature_names_out", model.get_feature_names_out)


def attributes(model: Any) -> Results:
    """Yield everything that was learned: attributes that end in an underscore."""
    for name in dir(model):
        if name.endswith("_") and not name.startswith("_"):
            yield from attempt(name, partial(_attribute, model, name))


def _attribute(model: Any, name: str) -> Any:
    """Return an attribute; of an object that is no estimator, such as a lattice, only what has a place in the plane."""
    value = getattr(model, name)
    if not dataclasses.is_dataclass(value):
        return value
    return {part: getattr(value, part) for part in ("coordinates", "edges") if hasattr(value, part)}


def attempt(name: str, ask: Callable[[], Any]) -> Results:
    """Yield what a function returns, or what it raises."""
    try:
        yield name, ask()
    except Exception as error:
        yield f"{name}!", error


def flat(name: str, value: Any, depth: int = 0) -> Iterator[tuple[str, Array]]:
    """Yield the arrays that a result is made of, with their names."""
    if isinstance(value, Exception):
        yield name, np.array([type(value).__name__, str(value)])
    elif value is None or depth > DEEPEST:
        return
    elif issparse(value):
        yield name, value.toarray()
    elif isinstance(value, bytes):
        yield name, np.frombuffer(value, np.uint8)
    elif isinstance(value, (np.ndarray, *SCALARS)):
        yield name, storable(np.asarray(value))
    elif isinstance(value, list | tuple) and all(isinstance(each, SCALARS) for each in value):
        yield name, np.asarray(value)
    else:
        for part, inner in _parts(value):
            yield from flat(f"{name}/{part}", inner, depth + 1)


def _parts(value: Any) -> Results:
    """Yield the parts of a result that is no array."""
    if isinstance(value, list | tuple):
        yield from ((str(number), each) for number, each in enumerate(value))
    elif isinstance(value, Mapping):
        yield from ((str(key), each) for key, each in value.items())
    elif dataclasses.is_dataclass(value):
        yield from ((field.name, getattr(value, field.name)) for field in dataclasses.fields(value))
    elif hasattr(value, "get_params"):
        yield from attributes(value)


def storable(values: Array) -> Array:
    """Return an array that needs no pickle."""
    return values.astype(str) if values.dtype == object else values


# Cases


def made(name: str, settings: Settings) -> Any:
    """Return an estimator of the package; some parameters of maps have become parts."""
    kind, given = getattr(pl, name), dict(settings)
    part = {"KMeans": "Winner", "NeuralGas": "Ranks", "SOM": "OnLattice"}.get(
        re.sub("Matrix|Relational|Median", "", name)
    )
    if part is None or name == "NGPCA":
        if name == "PairwiseAnnealing" and "decay" in given:
            given["patches"] = Patches(decay=given.pop("decay"))
        if name == "PairwiseAnnealing" and {"temperature_start", "temperature_end"} & set(given):
            ends = given.pop("temperature_start", "auto"), given.pop("temperature_end", "auto")
            given["neighborhood"] = pl.maps.Soft(ends)
        return kind(**given)
    if "decay" in given:
        given["patches"] = Patches(decay=given.pop("decay"))
    online = given.pop("algorithm", "batch")
    if online not in ("batch", "online"):
        raise ValueError(f"algorithm={online!r}")
    names = {"Winner": ("empty",), "Ranks": ("schedule", "settle"), "OnLattice": ("schedule", "kernel", "winner")}[part]
    own = {key: given[key] for key in names if key in given}
    single = {key: given.pop(key) for key in ("density_at", "edge_lifetime") if key in given}
    if "schedule" in given:
        single["schedule"] = given["schedule"]
    for key in names:
        given.pop(key, None)
    given.pop("schedule", None)
    if {"range_start", "range_end"} & set(given):
        last: Any = 0.01 if part == "Ranks" else "auto"
        own["radius"] = given.pop("range_start", "auto"), given.pop("range_end", last)
    rate = given.pop("learning_rate_start", 0.5), given.pop("learning_rate_end", 0.005)
    if own:
        given["neighborhood"] = getattr(pl.maps, part)(**own)
    if online == "online":
        given["online"] = pl.maps.Online(rate, **single)
    return kind(**given)


def case(
    group: str,
    name: str,
    variant: str,
    settings: Settings | Callable[[], Settings] | None = None,
    data: Data | Callable[[], Data] | str = "iris",
    learn: Learn = fit,
) -> Case:
    """Return the case of an estimator of the package, made, fitted and asked when its results are."""

    def run() -> Results:
        given = settings() if callable(settings) else settings or {}
        seed = {"random_state": 0} if "random_state" in inspect.signature(getattr(pl, name)).parameters else {}
        samples = table(data) if isinstance(data, str) else data() if callable(data) else data
        model = made(name, seed | given)
        learn(model, samples)
        yield from results(model, samples)

    return Case(f"{group}/{name}/{variant}", run)


def variants(
    group: str, name: str, several: Mapping[str, Settings | Callable[[], Settings]], **common: Any
) -> Iterator[Case]:
    """Yield cases of an estimator that differ in their settings; ``also`` are settings of all."""
    also = common.pop("also", {})

    def joined(settings: Settings | Callable[[], Settings]) -> Settings:
        return also | (settings() if callable(settings) else settings)

    for variant, settings in several.items():
        yield case(group, name, variant, partial(joined, settings), **common)


def all_cases() -> Iterator[Case]:
    """Yield all cases."""
    yield from default_cases()
    for name in ("KMeans", "NeuralGas", "SOM"):
        yield from vector_cases(name)
    yield from kmeans_cases()
    yield from gas_cases()
    yield from som_cases()
    for name in ("MatrixKMeans", "MatrixNeuralGas", "MatrixSOM"):
        yield from shaped_cases(name)
    yield from local_pca_cases()
    yield from large_cases()
    for name in RELATED:
        yield from related_cases(name)
    yield from relational_cases()
    yield from median_cases()
    yield from annealing_cases()
    yield from classifier_cases()
    yield from lvq_cases()
    yield from metric_cases()
    yield from cialvq_cases()
    yield from neighbor_cases()
    yield from view_cases()
    yield from mapped_cases()
    yield from application_cases()
    yield from parameter_cases()


RELATED = (
    *("MedianKMeans", "MedianNeuralGas", "MedianSOM", "RelationalKMeans", "RelationalNeuralGas", "RelationalSOM"),
    "PairwiseAnnealing",
)


def size_of(name: str) -> Settings:
    """Return the size of small maps of a kind."""
    if name == "KMeans":
        return {"n_clusters": 7}
    return {"lattice": (3, 4)} if name.endswith("SOM") else {"n_prototypes": 7}


def n_prototypes(name: str) -> int:
    """Return the number of prototypes of small maps of a kind."""
    return int(np.prod(next(iter(size_of(name).values()))))


# Defaults

PLAIN = (
    *("KMeans", "NeuralGas", "SOM", "MatrixKMeans", "MatrixNeuralGas", "MatrixSOM", "VQPCA", "MixturePPCA"),
    *("PrototypeClassifier", "OutlierDetector", "LVQ1", "LVQ21", "GLVQ", "GRLVQ", "GMLVQ", "LFDA"),
)
SHORT: dict[str, Settings] = {  # of what takes longer by default
    "NGPCA": {"n_steps": 3000},
    "LGRLVQ": {"max_iter": 20},
    "LGMLVQ": {"max_iter": 20},
    "LLiRaMLVQ": {"max_iter": 20},
    "LMNN": {"max_iter": 10},
}
VIEWS: dict[str, Settings] = {
    "SNE": {"max_iter": 30, "early_exaggeration_iter": 10},
    "TSNE": {"max_iter": 30, "early_exaggeration_iter": 10},
    "XOM": {"max_iter": 5},
    "SONE": {"max_iter": 5},
    "Charting": {"n_init": 1},
    "MappedEmbedding": {"max_iter": 10},
    "DiscriminativeEmbedding": {},
}


def default_cases() -> Iterator[Case]:
    """Yield all estimators as they are on several tables, with fewer steps where many take long."""
    for name in PLAIN:
        for data in ("iris", "wine", "cancer", "cancer raw", "digits"):
            yield case("defaults", name, data, data=data)
    for name, settings in SHORT.items():
        for data in ("iris", "wine", "cancer raw"):
            yield case("defaults", name, data, settings, data)
    for name, settings in VIEWS.items():
        for data in ("iris", "wine"):
            yield case("defaults", name, data, settings, data)
    for name in RELATED:
        for data in ("iris", "wine"):
            short = {} if name.endswith("KMeans") else {"max_iter": 20}
            yield case("defaults", name, data, short, partial(matrix, name=data))
    yield case("defaults", "NGPCA", "all steps", data="iris")


def parameter_cases() -> Iterator[Case]:
    """Yield the parameters of all estimators with their default values."""
    for name in pl.__all__:
        if inspect.isclass(getattr(pl, name)):
            yield Case(f"parameters/{name}", partial(_defaults, name))


def _defaults(name: str) -> Results:
    for parameter in inspect.signature(getattr(pl, name)).parameters.values():
        yield parameter.name, repr(parameter.default)


# Maps of vectors


def falling(start: float, end: float, n_steps: int) -> Array:
    """Return a schedule of our own."""
    return np.linspace(start, end, n_steps)


def some_rows(name: str, n_features: int = 4) -> Array:
    """Return prototypes to start with."""
    return np.random.RandomState(5).normal(size=(n_prototypes(name), n_features))


def vector_cases(name: str) -> Iterator[Case]:
    """Yield what k-means, neural gas and the self-organising map have in common."""
    online = {"algorithm": "online"}
    short = size_of(name) | {"max_iter": 12}
    settings: dict[str, Settings] = {
        "batch": {},
        "two threads": {"n_jobs": 2},
        "online": online,
        **{f"init {init}": {"init": init} for init in ("k-means++", "random", "center", "pca")},
        **{f"online init {init}": {"init": init} | online for init in ("k-means++", "random", "center", "pca")},
        "init array": {"init": some_rows(name)},
        "online init array": {"init": some_rows(name)} | online,
        "n_init": {"n_init": 3, "init": "random"},
        "online n_init": {"n_init": 2} | online,
        "labels": {"label_weight": 0.5},
        "labels alone": {"label_weight": 1.0},
        "online labels": {"label_weight": 0.3} | online,
        "magnification": {"magnification": 0.7},
        "magnification optimal": {"magnification": "optimal"},
        "online magnification": {"magnification": -0.5} | online,
        "online magnification winner": {"magnification": 0.5, "density_at": "winner"} | online,
        "online optimal winner": {"magnification": "optimal", "density_at": "winner"} | online,
        "edge_lifetime": {"edge_lifetime": 20} | online,
        "learning rates": {"learning_rate_start": 0.9, "learning_rate_end": 0.05} | online,
        "online schedule": {"schedule": falling} | online,
        "patches": {"patches": Patches(40)},
        "patches online": {"patches": Patches(40)} | online,
        "decay": {"patches": Patches(40, decay=0.5)},
        "patch_runs": {"patches": Patches(30, runs=2)},
        "patches labels": {"patches": Patches(40), "label_weight": 0.4},
        "patches n_init": {"patches": Patches(40), "n_init": 2, "init": "random"},
        "patches magnification": {"patches": Patches(40), "magnification": 0.5},
        **{f"schedule {kind}": {"schedule": kind} for kind in ("inverse", "constant")},
        "schedule callable": {"schedule": falling},
    }
    yield from variants("maps", name, settings, also=short)
    yield from vector_data_cases(name, short)


def vector_data_cases(name: str, short: Settings) -> Iterator[Case]:
    """Yield maps of vectors that learn from several kinds of samples, in several ways."""
    iris, online = table("iris"), {"algorithm": "online"}
    labels = short | {"label_weight": 0.5}
    for kind, settings in {"": short, " online": short | online}.items():
        yield case("maps", name, f"partly labelled{kind}", settings | {"label_weight": 0.5}, partly_labelled(iris))
        yield case("maps", name, f"named classes{kind}", settings | {"label_weight": 0.2}, named_classes(iris))
        yield case("maps", name, f"weights{kind}", settings, weighted(iris))
        yield case("maps", name, f"float32{kind}", settings, in_float32(iris))
        yield case("maps", name, f"memory map{kind}", settings, iris, fit_memory_map)
        yield case("maps", name, f"fit twice{kind}", settings, iris, fit_twice)
        yield case("maps", name, f"partial_fit{kind}", settings, iris, fit_parts)
        yield case("maps", name, f"iterator{kind}", settings, iris, fit_iterator)
    yield case("maps", name, "weights labels", labels, weighted(partly_labelled(iris)))
    yield case("maps", name, "weights patches", short | {"patches": Patches(40)}, weighted(iris))
    yield case("maps", name, "weights magnification", short | {"magnification": 0.5}, weighted(iris))
    yield case("maps", name, "weights iterator", short, weighted(iris), fit_iterator)
    yield case("maps", name, "float32 labels", labels, in_float32(iris))
    yield case("maps", name, "memory map patches", short | {"patches": Patches(40)}, iris, fit_memory_map)
    yield case("maps", name, "memory map labels", labels, iris, fit_memory_map)
    yield case("maps", name, "memory map magnification", short | {"magnification": 0.5}, iris, fit_memory_map)
    yield case("maps", name, "partial_fit new classes", labels, iris, fit_sorted_parts)
    yield case("maps", name, "partial_fit decay", short | {"decay": 0.3}, iris, fit_parts)
    yield case("maps", name, "fit then partial_fit", short, iris, fit_then_parts)
    yield case("maps", name, "iterator labels", labels, iris, fit_iterator)
    yield case("maps", name, "iterator patch_runs", short | {"patches": Patches(runs=2)}, iris, fit_iterator)
    yield case("maps", name, "labels of several kinds", labels, sparsely_labelled(iris))
    yield case("maps", name, "one feature", short, partial(_columns, 1))


def _columns(n: int) -> Data:
    iris = table("iris")
    return dataclasses.replace(iris, X=iris.X[:, :n], new=iris.new[:, :n])


def kmeans_cases() -> Iterator[Case]:
    """Yield what only k-means has."""
    far = np.vstack([some_rows("KMeans")[:5], np.full((2, 4), 50.0)])
    settings: dict[str, Settings] = {
        "tol": {"tol": 0.0},
        "tol large": {"tol": 0.5},
        "empty keep": {"init": far},
        "empty reseed": {"init": far, "empty": "reseed"},
        "empty reseed patches": {"init": far, "empty": "reseed", "patches": Patches(40)},
        "empty reseed labels": {"init": far, "empty": "reseed", "label_weight": 0.5},
        "one": {"n_clusters": 1},
    }
    yield from variants("maps", "KMeans", settings, also={"n_clusters": 7})


def gas_cases() -> Iterator[Case]:
    """Yield what only neural gas has."""
    settings: dict[str, Settings] = {
        "settle": {"settle": False},
        "settle many": {"n_prototypes": 40, "max_iter": 20},
        "settle false many": {"n_prototypes": 40, "max_iter": 20, "settle": False},
        "settle labels": {"n_prototypes": 30, "max_iter": 20, "label_weight": 0.3},
        "settle magnification": {"n_prototypes": 30, "max_iter": 20, "magnification": 0.5},
        "ranges": {"range_start": 3.0, "range_end": 0.5},
        "online ranges": {"range_start": 3.0, "range_end": 0.5, "algorithm": "online", "max_iter": 5},
        "one": {"n_prototypes": 1},
    }
    yield from variants("maps", "NeuralGas", settings, also={"n_prototypes": 7})
    yield case("maps", "NeuralGas", "settle weights", {"n_prototypes": 30}, weighted(table("iris")))


def lattices() -> dict[str, Callable[[], Settings]]:
    """Return settings of lattices that are no rectangles, made when asked for."""

    def made(name: str, *arguments: Any, **settings: Any) -> Settings:
        return {"lattice": getattr(pl.core.lattices, name)(*arguments, **settings)}

    square = np.abs(np.subtract.outer(np.arange(6), np.arange(6)))
    return {
        "lattice hexagonal": partial(made, "hexagonal", 3, 4),
        "lattice hexagonal torus": partial(made, "hexagonal", 4, 4, periodic=True),
        "lattice torus": partial(made, "rectangular", 4, 4, periodic=True),
        "lattice ring": partial(made, "chain", 9, periodic=True),
        "lattice tree": partial(made, "tree", 2, 3),
        "lattice hyperbolic": partial(made, "hyperbolic", 7, 2),
        "lattice hyperbolic metric": partial(made, "hyperbolic", 7, 2, metric="hyperbolic"),
        "lattice distances": partial(made, "from_distances", square),
        "lattice graph": partial(made, "from_graph", (square == 1).astype(float)),
    }


def som_cases() -> Iterator[Case]:
    """Yield what only the self-organising map has."""
    settings: dict[str, Settings | Callable[[], Settings]] = {
        f"{algorithm} {winner} {kernel}": {"winner": winner, "kernel": kernel, "algorithm": algorithm}
        for algorithm in ("batch", "online")
        for winner in ("heskes", "nearest", "heskes-printed")
        for kernel in ("gaussian", "exponential")
    }
    settings |= {
        "ranges": {"range_start": 3.0, "range_end": 0.2},
        "chain": {"lattice": 9},
        "auto labels": {"lattice": "auto", "label_weight": 0.5},
        "auto online": {"lattice": "auto", "algorithm": "online", "max_iter": 3},
        "auto patches": {"lattice": "auto", "patches": Patches(40)},
        "nearest labels": {"winner": "nearest", "label_weight": 0.5},
    }
    short = {"lattice": (3, 4), "max_iter": 12}
    yield from variants("maps", "SOM", settings, also=short)
    yield from variants("maps", "SOM", lattices(), also=short)
    yield case("maps", "SOM", "large", {"lattice": (12, 15), "max_iter": 12}, "digits")
    online = {f"online {kind}": each for kind, each in lattices().items()}
    yield from variants("maps", "SOM", online, also=short | {"algorithm": "online"})


# Maps with shapes


def shaped_cases(name: str) -> Iterator[Case]:
    """Yield maps with a matrix for each prototype."""
    size: Settings = {"lattice": (2, 2)} if name == "MatrixSOM" else {"n_prototypes": 3}
    short = size | {"max_iter": 10}
    settings: dict[str, Settings] = {
        "all directions": {},
        "two": {"n_components": 2},
        "two optimal": {"n_components": 2, "selection": "optimal"},
        **{f"normalization {kind}": {"normalization": kind} for kind in ("det", "logdet", "none")},
        **{f"two normalization {kind}": {"normalization": kind, "n_components": 2} for kind in ("logdet", "none")},
        "global": {"scope": "global"},
        "global two": {"scope": "global", "n_components": 2},
        **{
            f"regularization {kind}": {"regularization": kind, "epsilon": 1e-2}
            for kind in ("prior", "floor", "ridge", "pinv", "tikhonov", "none")
        },
        "covariance": {"metric_init": "covariance", "regularization": "floor"},
        **{f"init {kind}": {"init": kind} for kind in ("k-means++", "random", "center", "pca", "euclidean")},
        "n_init": {"n_init": 2, "init": "random"},
        "labels": {"label_weight": 0.5},
        "labels two": {"label_weight": 0.5, "n_components": 2},
        "magnification": {"magnification": 0.5},
        "patches": {"patches": Patches(60)},
        "patches labels": {"patches": Patches(60), "label_weight": 0.5},
        "decay": {"patches": Patches(60, decay=0.5)},
        "patch_runs": {"patches": Patches(40, runs=2)},
        "two threads": {"n_jobs": 2},
    }
    yield from variants("shapes", name, settings, also=short)
    yield from shaped_data_cases(name, short)


def shaped_data_cases(name: str, short: Settings) -> Iterator[Case]:
    """Yield maps with shapes that learn from several kinds of samples, in several ways."""
    iris, two, labels = table("iris"), short | {"n_components": 2}, short | {"label_weight": 0.5}
    yield case("shapes", name, "init array", short | {"init": iris.X[: 4 if name == "MatrixSOM" else 3]})
    yield case("shapes", name, "float32", short, in_float32(iris))
    yield case("shapes", name, "weights", short, weighted(iris))
    yield case("shapes", name, "weights two", two, weighted(iris))
    yield case("shapes", name, "partly labelled", labels, partly_labelled(iris))
    yield case("shapes", name, "gaps", short, gappy(iris))
    yield case("shapes", name, "gaps two", two, gappy(iris))
    yield case("shapes", name, "gaps labels", labels, gappy(iris))
    yield case("shapes", name, "gaps patches", short | {"patches": Patches(60)}, gappy(iris))
    yield case("shapes", name, "partial_fit", short, iris, fit_parts)
    yield case("shapes", name, "partial_fit two", two, iris, fit_parts)
    yield case("shapes", name, "partial_fit new classes", labels, iris, fit_sorted_parts)
    yield case("shapes", name, "iterator", short, iris, fit_iterator)
    yield case("shapes", name, "memory map", short, iris, fit_memory_map)
    yield case("shapes", name, "raw", short, "cancer raw")
    yield case("shapes", name, "wide", short, "wide")
    yield case("shapes", name, "wide three", short | {"n_components": 3}, "wide")
    for variant, settings in {"": short, " three": short | {"n_components": 3}}.items():
        yield case("shapes", name, f"wide{variant} labels", settings | {"label_weight": 0.5}, "wide")
        yield case("shapes", name, f"wide{variant} global", settings | {"scope": "global"}, "wide")
        yield case("shapes", name, f"wide{variant} partial_fit", settings, "wide", fit_parts)
        yield case("shapes", name, f"wide{variant} patches", settings | {"patches": Patches(20)}, "wide")
        yield case("shapes", name, f"wide{variant} two threads", settings | {"n_jobs": 2}, "wide")
    yield case("shapes", name, "auto", {"max_iter": 10}, "wine")
    yield case("shapes", name, "auto patches", {"max_iter": 10, "patches": Patches(60)}, iris)


def local_pca_cases() -> Iterator[Case]:
    """Yield neural gas with local PCA and its relatives."""
    ngpca: dict[str, Settings] = {
        **{f"{kind}": {"algorithm": kind} for kind in ("online", "batch", "two-stage")},
        **{f"rule {rule}": {"online_pca": rule} for rule in ("rrlsa", "gram_schmidt", "sanger", "ccipca")},
        **{
            f"{algorithm} {measure}": {"measure": measure, "algorithm": algorithm}
            for measure in ("euclidean", "mahalanobis", "reconstruction")
            for algorithm in ("online", "batch")
        },
        **{f"init {kind}": {"init": kind} for kind in ("k-means++", "center", "pca", "euclidean")},
        "init array": {"init": table("iris").X[:3]},
        "n_init": {"algorithm": "batch", "n_init": 2, "init": "random"},
        "ranges": {"range_start": 3.0, "range_end": 0.3, "variance_start": 0.5},
    }
    short: Settings = {"n_prototypes": 3, "n_components": 2, "n_steps": 2000, "max_iter": 10}
    yield from variants("shapes", "NGPCA", ngpca, also=short)
    iris = table("iris")
    for algorithm in ("online", "batch"):
        settings = short | {"algorithm": algorithm}
        yield case("shapes", "NGPCA", f"{algorithm} partial_fit", settings, iris, fit_parts)
        yield case("shapes", "NGPCA", f"{algorithm} weights", settings, weighted(iris))
        yield case("shapes", "NGPCA", f"{algorithm} float32", settings, in_float32(iris))
        yield case("shapes", "NGPCA", f"{algorithm} iterator", settings, iris, fit_iterator)
        yield case("shapes", "NGPCA", f"{algorithm} wide", settings, "wide")
    yield case("shapes", "NGPCA", "batch gaps", short | {"algorithm": "batch"}, gappy(iris))
    few_steps = {"n_prototypes": 3, "n_components": 2, "max_iter": 15}
    vqpca = {f"measure {kind}": {"measure": kind} for kind in ("reconstruction", "euclidean")}
    yield from variants("shapes", "VQPCA", vqpca, also=few_steps)
    for name in ("VQPCA", "MixturePPCA"):
        starts: dict[str, Settings] = {f"init {kind}": {"init": kind} for kind in ("k-means++", "random", "pca")}
        yield from variants("shapes", name, starts | {"n_init": {"n_init": 2, "init": "random"}}, also=few_steps)
        yield case("shapes", name, "init array", few_steps | {"init": iris.X[:3]})
        yield case("shapes", name, "weights", few_steps, weighted(iris))
        yield case("shapes", name, "float32", few_steps, in_float32(iris))
        yield case("shapes", name, "gaps", few_steps, gappy(iris))
        yield case("shapes", name, "wide", few_steps, "wide")


# Maps of many samples


@cache
def cloud() -> Data:
    """Return enough samples for several chunks, threads and compiled code, in three classes."""
    rng = np.random.RandomState(11)
    y = rng.randint(0, 3, 8100)
    X = rng.normal(size=(3, 4))[y] * 3.0 + rng.normal(size=(8100, 4)) @ rng.normal(size=(4, 4))
    return Data(X[:8000], y[:8000], X[8000:], y[8000:])


def large_cases() -> Iterator[Case]:
    """Yield maps of many samples, and of so many nodes that not all pairs of these are held in memory."""
    sizes: dict[str, Settings] = {
        "KMeans": {"n_clusters": 60, "max_iter": 8},
        "NeuralGas": {"n_prototypes": 20, "max_iter": 4},
        "SOM": {"lattice": (10, 12), "max_iter": 4},
        "MatrixNeuralGas": {"n_prototypes": 4, "max_iter": 3},
        "VQPCA": {"n_prototypes": 4, "max_iter": 3},
    }
    for name, settings in sizes.items():
        several: dict[str, Settings] = {"many": {}, "many two threads": {"n_jobs": 2}}
        if name in ("KMeans", "NeuralGas", "SOM"):
            several |= {"many online": {"algorithm": "online", "max_iter": 1}, "many labels": {"label_weight": 0.5}}
            runs = {"patches": Patches(2000, runs=2), "n_jobs": 2}
            several |= {"many magnification": {"magnification": 0.5}, "many patch_runs": runs}
        yield from variants("large", name, several, also=settings, data=cloud)
        yield case("large", name, "many float32", settings, lambda: in_float32(cloud()))
        yield case("large", name, "many weights", settings, lambda: weighted(cloud()))
    yield from nodes_cases()


def nodes_cases() -> Iterator[Case]:
    """Yield self-organising maps of many nodes."""

    def made(name: str, *arguments: Any, **settings: Any) -> Settings:
        return {"lattice": getattr(pl.core.lattices, name)(*arguments, **settings)}

    several: dict[str, Settings | Callable[[], Settings]] = {
        "nodes": {"lattice": (26, 27)},
        "nodes chain": {"lattice": 700},
        "nodes torus": partial(made, "rectangular", 26, 27, periodic=True),
        "nodes hexagonal": partial(made, "hexagonal", 26, 27),
        "nodes hexagonal torus": partial(made, "hexagonal", 26, 26, periodic=True),
        "nodes tree": partial(made, "tree", 2, 9),
        "nodes labels": {"lattice": (26, 27), "label_weight": 0.5},
        "nodes exponential": {"lattice": (26, 27), "kernel": "exponential"},
        **{f"nodes {kind}": {"lattice": (26, 27), "winner": kind} for kind in ("nearest", "heskes-printed")},
    }
    yield from variants("large", "SOM", several, also={"max_iter": 3}, data=cloud)


# Maps of dissimilarities


def letters_apart(one: str, other: str) -> float:
    """Return a dissimilarity of our own."""
    return float(len(set(one) ^ set(other)) + abs(len(one) - len(other)))


def related_cases(name: str) -> Iterator[Case]:
    """Yield what all maps of dissimilarities have in common."""
    short = size_of(name) | {"max_iter": 10}
    settings: dict[str, Settings] = {
        "matrix": {},
        "labels": {"label_weight": 0.5},
        "labels alone": {"label_weight": 1.0},
        "magnification": {"magnification": 0.5},
        "magnification optimal": {"magnification": "optimal"},
        "patches": {"patches": Patches(40)},
        "patches labels": {"patches": Patches(40), "label_weight": 0.4},
        "patches magnification": {"patches": Patches(40), "magnification": 0.4},
        "decay": {"patches": Patches(40, decay=0.5)},
        "patch_runs": {"patches": Patches(30, runs=2)},
        "two threads": {"n_jobs": 2},
    }
    if name != "PairwiseAnnealing":
        settings |= {f"init {kind}": {"init": kind} for kind in ("k-means++", "random", "pca")}
        settings["n_init"] = {"n_init": 3, "init": "random"}
        settings["patches n_init"] = {"n_init": 2, "init": "random", "patches": Patches(40)}
    if name.endswith(("NeuralGas", "SOM")):
        settings |= {f"schedule {kind}": {"schedule": kind} for kind in ("inverse", "constant")}
        settings |= {"schedule callable": {"schedule": falling}, "ranges": {"range_start": 3.0, "range_end": 0.4}}
    if name.endswith("SOM"):
        settings |= {f"winner {kind}": {"winner": kind} for kind in ("nearest", "heskes-printed")}
        settings |= {"exponential": {"kernel": "exponential"}, "auto": {"lattice": "auto"}, "chain": {"lattice": 7}}
    yield from variants("relational", name, settings, also=short, data=matrix)
    if name.endswith("SOM"):
        yield from variants("relational", name, lattices(), also=short, data=matrix)
    yield from related_data_cases(name, short)


def related_data_cases(name: str, short: Settings) -> Iterator[Case]:
    """Yield maps of dissimilarities that learn from several kinds of objects, in several ways."""
    edit, labels = short | {"metric": "edit"}, {"label_weight": 0.5}
    kernel, vectors = short | {"metric": "kernel"}, short | {"metric": "euclidean"}
    iris, distances = table("iris"), matrix()
    data: dict[str, tuple[Settings, Any, Learn]] = {
        "strings": (edit, strings, fit),
        "strings labels": (edit | labels, strings, fit),
        "strings patches": (edit | {"patches": Patches(25)}, strings, fit),
        "strings partial_fit": (edit, strings, fit_parts),
        "strings partial_fit labels": (edit | labels, strings, fit_parts),
        "strings iterator": (edit, strings, fit_iterator),
        "strings params": (edit | {"metric_params": {"indel": 0.7}}, strings, fit),
        "strings function": (short | {"metric": letters_apart}, strings, fit),
        "strings function patches": (short | {"metric": letters_apart, "patches": Patches(25)}, strings, fit),
        "kernel": (kernel, partial(matrix, "rbf"), fit),
        "kernel linear": (kernel, partial(matrix, "linear"), fit),
        "kernel patches": (kernel | {"patches": Patches(40)}, partial(matrix, "rbf"), fit),
        "kernel labels": (kernel | labels, partial(matrix, "rbf"), fit),
        "source": (short, partial(sourced, distances.X), fit),
        "source strings": (edit | {"patches": Patches(25)}, partial(sourced, strings().X, "edit"), fit),
        "vectors": (vectors, iris, fit),
        "vectors patches": (vectors | {"patches": Patches(40)}, iris, fit),
        "vectors cosine": (short | {"metric": "cosine"}, table("wine"), fit),
        "squared": (short | {"squared": True}, partial(matrix, "squared"), fit),
        "symmetrize": (short | {"symmetrize": "mean"}, partial(matrix, "lopsided"), fit),
        "not euclidean": (short, partial(matrix, "city"), fit),
        "weights": (short, weighted(distances), fit),
        "weights labels": (short | labels, weighted(partly_labelled(distances)), fit),
        "weights patches": (short | {"patches": Patches(40)}, weighted(distances), fit),
        "partly labelled": (short | labels, partly_labelled(distances), fit),
        "float32": (short, in_float32(distances), fit),
        "memory map": (short, distances, fit_memory_map),
        "partial_fit": (short, distances, fit_rows),
        "partial_fit labels": (short | labels, distances, fit_rows),
        "partial_fit decay": (short | {"decay": 0.4}, distances, fit_rows),
        "partial_fit vectors": (vectors, iris, fit_parts),
        "partial_fit weights": (vectors, weighted(iris), fit_parts),
        "fit then partial_fit": (vectors, iris, fit_then_parts),
        "iterator patch_runs": (vectors | {"patches": Patches(runs=2)}, iris, fit_iterator),
    }
    for variant, (settings, samples, learn) in data.items():
        yield case("relational", name, variant, settings, samples, learn)


def relational_cases() -> Iterator[Case]:
    """Yield what only maps with prototypes between objects have."""
    settings: dict[str, Settings] = {
        "spread": {"spread": 2.0},
        "spread implicit": {"spread": "implicit"},
        "keep_best": {"keep_best": True},
        "keep_best labels": {"keep_best": True, "label_weight": 0.5},
        "sparsity": {"sparsity": 5},
        "sparsity patches": {"sparsity": 5, "patches": Patches(40)},
        "landmarks": {"n_landmarks": 20},
        "landmarks labels": {"n_landmarks": 20, "label_weight": 0.5},
        "landmarks patches": {"n_landmarks": 15, "patches": Patches(60)},
        "landmarks spread": {"n_landmarks": 20, "spread": 1.0},
        "landmarks sparsity": {"n_landmarks": 20, "sparsity": 5},
        "init center": {"init": "center"},
        "approximation": {"n_approximation": 3, "patches": Patches(40)},
        "approximation share": {"n_approximation": 0.1, "patches": Patches(40)},
    }
    for name in ("RelationalKMeans", "RelationalNeuralGas", "RelationalSOM", "PairwiseAnnealing"):
        short = size_of(name) | {"max_iter": 10}
        yield from variants("relational", name, settings, also=short, data=matrix)
        city = {f"city {kind}": settings[kind] for kind in ("spread", "spread implicit", "keep_best")}
        yield from variants("relational", name, city, also=short, data=partial(matrix, "city"))
        edit = short | {"metric": "edit", "n_landmarks": 15}
        yield case("relational", name, "strings landmarks", edit, strings)
        kernel = short | {"metric": "kernel", "n_landmarks": 15}
        yield case("relational", name, "kernel landmarks", kernel, partial(matrix, "rbf"))
        coefficients = np.random.RandomState(6).dirichlet(np.ones(120), n_prototypes(name))
        yield case("relational", name, "init array", short | {"init": coefficients}, matrix)
    reseed = {"n_prototypes": 12, "empty": "reseed", "init": np.repeat(np.eye(120)[:3], 4, axis=0)}
    yield case("relational", "RelationalKMeans", "empty reseed", reseed, matrix)


def median_cases() -> Iterator[Case]:
    """Yield what only maps whose prototypes are objects have."""
    settings: dict[str, Settings] = {
        **{f"collision {kind}": {"collision": kind} for kind in ("exclude", "noise", "ignore")},
        "noise": {"collision": "noise", "noise": 0.1},
        "exemplar labels": {"exemplar_labels": True, "label_weight": 0.5},
        "ignore labels": {"collision": "ignore", "label_weight": 0.5},
        "noise patches": {"collision": "noise", "patches": Patches(40)},
        "ignore patches": {"collision": "ignore", "patches": Patches(40)},
    }
    for name in ("MedianKMeans", "MedianNeuralGas", "MedianSOM"):
        short = size_of(name) | {"max_iter": 10}
        yield from variants("relational", name, settings, also=short, data=matrix)
        start = short | {"init": np.arange(n_prototypes(name)) * 5}
        yield case("relational", name, "init array", start, matrix)
        if name != "MedianSOM":
            yield case("relational", name, "no swap", short | {"swap": False}, matrix)
            yield case("relational", name, "no swap strings", short | {"swap": False, "metric": "edit"}, strings)
    reseed = {"n_prototypes": 12, "empty": "reseed", "collision": "ignore"}
    yield case("relational", "MedianKMeans", "empty reseed", reseed, matrix)


def annealing_cases() -> Iterator[Case]:
    """Yield what only pairwise annealing has."""
    settings: dict[str, Settings] = {
        **{f"init {kind}": {"init": kind} for kind in ("center", "random", "k-means++", "pca")},
        "temperatures": {"temperature_start": 2.0, "temperature_end": 0.05},
    }
    yield from variants(
        "relational", "PairwiseAnnealing", settings, also={"n_prototypes": 5, "max_iter": 15}, data=matrix
    )


# Classifiers and detectors made of maps


def classifier_cases() -> Iterator[Case]:
    """Yield classifiers and detectors of outliers with maps in them."""
    seed = {"random_state": 0}

    def around(make: Callable[[], Any], **others: Any) -> Callable[[], Settings]:
        return lambda: {"estimator": make(), **others}

    def gas() -> Any:
        return pl.NeuralGas(6, max_iter=15, **seed)

    def shaped() -> Any:
        return pl.MatrixNeuralGas(2, max_iter=10, **seed)

    several: dict[str, Callable[[], Settings]] = {
        "gas": around(gas),
        "per_class": lambda: {"per_class": True},
        "gas per_class": around(lambda: pl.NeuralGas(2, max_iter=15, **seed), per_class=True),
        "som": around(lambda: pl.SOM((3, 4), max_iter=15, **seed)),
        "som with idle nodes": around(lambda: pl.SOM((9, 10), max_iter=15, **seed)),
        "labels in the map": around(lambda: pl.NeuralGas(6, max_iter=15, label_weight=0.5, **seed)),
        "shapes": around(lambda: pl.MatrixNeuralGas(4, max_iter=10, **seed)),
        "shapes per_class": around(shaped, per_class=True),
        "ppca per_class": around(lambda: pl.MixturePPCA(2, **seed), per_class=True),
        "ngpca per_class": around(lambda: pl.NGPCA(2, 2, n_steps=500, **seed), per_class=True),
        "pipeline": around(lambda: make_pipeline(StandardScaler(), gas())),
        "pipeline per_class": around(lambda: make_pipeline(StandardScaler(), gas()), per_class=True),
        "reject": around(gas, reject_threshold=0.9),
        "reject per_class": around(shaped, reject_threshold=0.9, per_class=True),
        "vectors": around(lambda: pl.RelationalNeuralGas(6, metric="euclidean", max_iter=10, **seed)),
        "majority": around(gas, **{_spelled("PrototypeClassifier", "labelling", "labeling"): "majority"}),
    }
    yield from variants("classifier", "PrototypeClassifier", several)
    relational: dict[str, Callable[[], Settings]] = {
        "matrix": around(lambda: pl.RelationalNeuralGas(6, max_iter=10, **seed)),
        "matrix per_class": around(lambda: pl.RelationalNeuralGas(2, max_iter=10, **seed), per_class=True),
        "matrix median": around(lambda: pl.MedianSOM((3, 3), max_iter=10, **seed)),
        "matrix reject": around(lambda: pl.MedianNeuralGas(6, max_iter=10, **seed), reject_threshold=0.8),
    }
    yield from variants("classifier", "PrototypeClassifier", relational, data=matrix)
    words = around(lambda: pl.MedianNeuralGas(6, metric="edit", max_iter=10, **seed))
    yield case("classifier", "PrototypeClassifier", "strings", words, strings)
    rejecting = around(gas, reject_threshold=0.9, reject_label="unknown")
    yield case("classifier", "PrototypeClassifier", "named classes", rejecting, named_classes(table("iris")))
    yield case("classifier", "PrototypeClassifier", "weights", around(gas), weighted(table("iris")))
    yield case("classifier", "PrototypeClassifier", "gaps below zero", around(gas), partly_labelled(table("iris")))
    detectors = {
        "gas": around(gas),
        "som": around(lambda: pl.SOM((3, 3), **seed)),
        "shapes": around(shaped),
        "ppca": around(lambda: pl.MixturePPCA(2, **seed)),
        "contamination": lambda: {"contamination": 0.2},
    }
    yield from variants("classifier", "OutlierDetector", detectors, learn=fit_without_labels)
    yield case("classifier", "OutlierDetector", "weights", {}, weighted(table("iris")))


def _spelled(name: str, *spellings: str) -> str:
    """Return how a parameter of an estimator is spelled now."""
    known = inspect.signature(getattr(pl, name)).parameters
    return next((one for one in spellings if one in known), spellings[0])


# LVQ

LVQ = ("GLVQ", "GRLVQ", "LGRLVQ", "GMLVQ", "LGMLVQ", "LLiRaMLVQ")


def lvq_cases() -> Iterator[Case]:
    """Yield the family of LVQ."""
    for name in LVQ:
        yield from glvq_cases(name)
    for name in ("LVQ1", "LVQ21"):
        yield from heuristic_cases(name)
    adaptive: dict[str, Settings] = {
        "adaptive": {"adaptive_rates": True},
        "relevances": {"relevance_learning_rate": 0.05},
        "adaptive relevances": {"adaptive_rates": True, "relevance_learning_rate": 0.05},
    }
    yield from variants("lvq", "LVQ1", adaptive, also={"max_iter": 10})
    yield case("lvq", "LVQ21", "window", {"window": 0.6, "max_iter": 10})
    matrices: dict[str, Settings] = {
        "rank": {"n_components": 2},
        **{f"metric_init {kind}": {"metric_init": kind} for kind in ("identity", "random", "discriminative")},
    }
    for name in ("GMLVQ", "LGMLVQ", "LLiRaMLVQ"):
        yield from variants("lvq", name, matrices, also={"max_iter": 10})
    for name in ("GMLVQ", "LGMLVQ"):
        masks: dict[str, Settings] = {"mask": {"mask": 1}, "symmetric": {"symmetric": True}}
        yield from variants("lvq", name, masks, also={"max_iter": 10})
    for name in ("LGRLVQ", "LGMLVQ", "LLiRaMLVQ"):
        places = {f"by {kind}": {"localization": kind, "prototypes_per_class": 2} for kind in ("prototype", "class")}
        yield from variants("lvq", name, places, also={"max_iter": 10})
    kinds = {"Identity": "EuclideanMetric"} | {
        kind: f"{kind}Metric" for kind in ("Diagonal", "Matrix", "Product", "Minkowski")
    }
    metrics = {
        f"metric {kind}": partial(
            lambda old, new: {"metric": getattr(pl.lvq, new if hasattr(pl.lvq, new) else old)()}, kind, name
        )
        for kind, name in kinds.items()
    }
    yield from variants("lvq", "GLVQ", metrics, also={"max_iter": 8, "solver": "lbfgs"})


def glvq_cases(name: str) -> Iterator[Case]:
    """Yield what all LVQ that descends a cost has in common."""
    settings: dict[str, Settings | Callable[[], Settings]] = {
        **{f"solver {kind}": {"solver": kind} for kind in ("lbfgs", "sgd", "waypoint", "adam")},
        "solver sgd online": lambda: {"solver": pl.lvq.SGD(0.05, 0.01, metric_start=3)},
        "solver small batches": lambda: {"solver": pl.lvq.Adam(batch_size=16)},
        "two prototypes": {"prototypes_per_class": 2},
        "prototypes by class": {"prototypes_per_class": {0: 1, 1: 2, 2: 3}},
        "mean": {"init": "mean"},
        "init array": {"init": table("iris").X[_first_of_each(table("iris").y)]},
        **{f"squashing {kind}": {"squashing": kind} for kind in ("identity", "sigmoid", "swish")},
        "slope": {"slope": 3.0},
        "slopes": {"slope": (1.0, 5.0)},
        "class weights": {"class_weight": "balanced"},
        "given class weights": {"class_weight": {0: 1.0, 1: 2.0, 2: 0.5}},
        "early stopping": {"early_stopping": True},
        "early stopping train": {"early_stopping": "train"},
        "reject": {"reject_threshold": 0.6},
        "two threads": {"n_jobs": 2},
    }
    if name != "GLVQ":
        settings |= {"no regularization": {"regularization": 0.0}, "regularization": {"regularization": 0.2}}
    short: Settings = {"max_iter": 8}
    yield from variants("lvq", name, settings, also=short)
    iris = table("iris")
    yield case("lvq", name, "weights", short, weighted(iris))
    yield case(
        "lvq", name, "named classes", short | {"reject_label": "?", "reject_threshold": 0.5}, named_classes(iris)
    )
    yield case("lvq", name, "float32", short, in_float32(iris))
    yield case("lvq", name, "gaps", short | {"missing": "partial"}, gappy(iris))
    yield case("lvq", name, "gaps sgd", short | {"missing": "partial", "solver": "sgd"}, gappy(iris))
    yield case("lvq", name, "partial_fit", {}, iris, fit_classified_parts)
    yield case("lvq", name, "fit then partial_fit", short, iris, fit_then_parts)
    yield case("lvq", name, "warm start", short | {"warm_start": True}, iris, fit_twice)
    yield case("lvq", name, "wide", {"max_iter": 3}, "wide")
    yield case("lvq", name, "two classes", short, "cancer raw")


def _first_of_each(y: Array) -> Array:
    return np.unique(y, return_index=True)[1]


def heuristic_cases(name: str) -> Iterator[Case]:
    """Yield LVQ without a cost."""
    settings: dict[str, Settings] = {
        "two prototypes": {"prototypes_per_class": 2},
        "mean": {"init": "mean"},
        "learning rate": {"learning_rate": 0.2},
        "reject": {"reject_threshold": 0.5},
    }
    short: Settings = {"max_iter": 10}
    yield from variants("lvq", name, settings, also=short)
    yield case("lvq", name, "gaps", short | {"missing": "partial"}, gappy(table("iris")))
    yield case("lvq", name, "named classes", short, named_classes(table("iris")))


def metric_cases() -> Iterator[Case]:
    """Yield metrics learned without prototypes."""
    lmnn: dict[str, Settings] = {
        "rank": {"n_components": 2},
        "psd": {"method": "psd"},
        "neighbors": {"n_neighbors": 5, "push": 0.8},
        **{f"init {kind}": {"init": kind} for kind in ("lda", "identity", "random")},
    }
    yield from variants("lvq", "LMNN", lmnn, also={"max_iter": 8})
    lfda: dict[str, Settings] = {
        "rank": {"n_components": 2},
        "neighbors": {"n_neighbors": 3},
        **{f"scaling {kind}": {"scaling": kind} for kind in ("orthonormalized", "plain")},
    }
    yield from variants("lvq", "LFDA", lfda)


def patches_of_color(n: int = 40) -> Data:
    """Return small pictures of waves in three directions and colours."""
    rng = np.random.RandomState(7)
    y = np.arange(n) % 3
    rows, columns = np.indices((6, 5))
    angles = np.stack([rows / 6, columns / 5, rows / 6 + columns / 5])
    colors = rng.uniform(0.2, 1, (3, 3))
    waves = np.sin(2 * np.pi * (angles[y] + rng.rand(n, 1, 1)))
    X = 0.5 + 0.3 * waves[..., None] * colors[y][:, None, None] + 0.15 * rng.rand(n, 6, 5, 3)
    return Data(X[:30], y[:30], X[30:], y[30:])


def cialvq_cases() -> Iterator[Case]:
    """Yield LVQ of textures."""
    settings: dict[str, Settings] = {
        f"{structure} {distance}": {"structure": structure, "distance": distance}
        for structure in ("full", "diagonal", "color")
        for distance in ("magnitude", "position")
    }
    settings |= {f"learned filters {kind}": {"structure": kind, "learn_filters": True} for kind in ("full", "color")}
    settings |= {f"by {kind}": {"localization": kind} for kind in ("global", "prototype")}
    settings |= {f"filters {kind}": {"filters": kind} for kind in ("gaussians", None)}
    settings |= {f"solver {kind}": {"solver": kind} for kind in ("sgd", "adam", "waypoint")}
    yield from variants(
        "lvq", "CIALVQ", settings, also={"prototypes_per_class": 1, "max_iter": 3}, data=patches_of_color
    )


# Views

DIVERGENCES = (
    *("kl", "gkl", "reverse_kl", "nerv", "is", "eta", "beta", "alpha", "renyi", "generalized_renyi", "tsallis"),
    *("hellinger", "gamma", "cauchy_schwarz"),
)


def neighbor_cases() -> Iterator[Case]:
    """Yield neighbour embeddings."""
    settings: dict[str, Settings | Callable[[], Settings]] = {
        "exact": {"method": "exact"},
        "fast": {"method": "fast"},
        "three dimensions": {"n_components": 3},
        "neighbors": {"method": "fast", "n_neighbors": 20},
        **{f"init {kind}": {"init": kind} for kind in ("pca", "spectral", "random")},
        "init array": {"init": table("iris").X[:, :2] * 1e-2},
        "learning rate": {"learning_rate": 20.0},
        "cosine": {"metric": "cosine"},
        **{f"divergence {kind}": {"divergence": kind} for kind in DIVERGENCES},
    }
    short: Settings = {"perplexity": 10, "max_iter": 20, "early_exaggeration_iter": 8}
    pairs = short | {"metric": "precomputed"}
    for name in ("SNE", "TSNE"):
        yield from variants("views", name, settings, also=short)
        yield case("views", name, "symmetric", short | {"symmetric": name == "SNE"})
        yield case("views", name, "matrix", pairs, matrix)
        yield case("views", name, "matrix squared", pairs | {"squared": True}, partial(matrix, "squared"))
        yield case("views", name, "matrix symmetrize", pairs | {"symmetrize": "mean"}, partial(matrix, "lopsided"))
        yield case("views", name, "strings", short | {"metric": "edit"}, strings)
        yield case("views", name, "digits fast", short | {"method": "fast"}, "digits")
        yield case("views", name, "float32", short, in_float32(table("iris")))
    yield case("views", "TSNE", "dof", short | {"dof": 2.0})


def view_cases() -> Iterator[Case]:
    """Yield the other views."""
    xom: dict[str, Settings] = {
        **{f"structure {kind}": {"structure": kind} for kind in ("hexagon", "circle", "square", "uniform")},
        **{f"winner {kind}": {"winner": kind} for kind in ("image", "mean")},
        "three dimensions": {"n_components": 3},
        "ranges": {"range_start": 1.0, "range_end": 0.1, "learning_rate_start": 0.5},
        "n_sampling": {"n_sampling": 50},
    }
    yield from variants("views", "XOM", xom, also={"max_iter": 4})
    sone: dict[str, Settings] = {
        **{f"{kernel} {winner}": {"kernel": kernel, "winner": winner}
           for kernel in ("gaussian", "student") for winner in ("image", "mean", "divergence")},
        "perplexity": {"bandwidth": "perplexity"},
        "structure": {"structure": "square"},
        **{f"divergence {kind}": {"divergence": kind} for kind in ("alpha", "generalized_renyi", "gamma")},
    }  # fmt: skip
    yield from variants("views", "SONE", sone, also={"max_iter": 4})
    for name in ("XOM", "SONE"):
        yield case("views", name, "matrix", {"max_iter": 4, "metric": "precomputed"}, matrix)
    yield from charting_cases()
    yield from composed_cases()
    mvu: dict[str, Settings] = {
        f"{method} {kind}": {"method": method, "constraint": kind}
        for method in ("low_rank", "sdp")
        for kind in ("equal", "shrink", "slack")
    }
    yield from variants("views", "MVU", mvu, also={"n_neighbors": 8, "max_iter": 40}, data=_few_apart)


def _few_apart() -> Data:
    """Return few samples, no two of which are the same."""
    return few(table("wine"), 50)


def charting_cases() -> Iterator[Case]:
    """Yield glued charts."""
    seed = {"random_state": 0, "max_iter": 10}
    models: dict[str, Callable[[], Any]] = {
        "MatrixNeuralGas": lambda: pl.MatrixNeuralGas(5, n_components=2, **seed),
        "MatrixSOM": lambda: pl.MatrixSOM((2, 3), n_components=2, **seed),
        "NeuralGas": lambda: pl.NeuralGas(6, **seed),
        "SOM": lambda: pl.SOM((2, 3), **seed),
        "MixturePPCA": lambda: pl.MixturePPCA(5, 2, **seed),
        "VQPCA": lambda: pl.VQPCA(5, 2, **seed),
        "NGPCA": lambda: pl.NGPCA(5, 2, n_steps=2000, random_state=0),
        "LGMLVQ": lambda: pl.LGMLVQ(2, n_components=2, **seed),
        "GMLVQ": lambda: pl.GMLVQ(2, n_components=2, **seed),
    }
    settings: dict[str, Settings | Callable[[], Settings]] = {
        f"{coordination} {name}": partial(
            lambda coordination, make: {"coordination": coordination, "local_model": make()}, coordination, make
        )
        for coordination in ("charting", "llc")
        for name, make in models.items()
    }
    settings |= {f"gating {kind}": {"gating": kind} for kind in ("density", "distance", "rank")}
    settings["llc crisp"] = {"coordination": "llc", "gating": "crisp"}
    settings |= {f"bandwidth {kind}": {"bandwidth": kind, "gating": "distance"} for kind in ("mean", "root_sum")}
    yield from variants("views", "Charting", settings, also={"n_charts": 6, "n_init": 1})


def composed_cases() -> Iterator[Case]:
    """Yield views made of other views and classifiers."""
    seed = {"random_state": 0}

    def tsne() -> Any:
        return pl.TSNE(perplexity=10, max_iter=15, early_exaggeration_iter=5, **seed)

    inner: dict[str, Callable[[], Any]] = {
        "TSNE": tsne,
        "SNE": lambda: pl.SNE(perplexity=10, max_iter=15, early_exaggeration_iter=5, **seed),
        "MVU": lambda: pl.MVU(n_neighbors=20, method="low_rank", max_iter=20, **seed),
        "XOM": lambda: pl.XOM(max_iter=3, **seed),
    }
    wrapped = {name: partial(lambda make: {"embedding": make()}, make) for name, make in inner.items() if name != "XOM"}
    yield from variants("views", "OutOfSample", wrapped)
    costs = {f"cost {cost}": partial(lambda cost: {"embedding": tsne(), "cost": cost}, cost) for cost in ("mds", "lle")}
    yield from variants("views", "OutOfSample", costs)
    classifiers: dict[str, Callable[[], Any]] = {
        "GMLVQ": lambda: pl.GMLVQ(max_iter=8, **seed),
        "LGMLVQ": lambda: pl.LGMLVQ(max_iter=8, **seed),
        "GRLVQ": lambda: pl.GRLVQ(max_iter=8, **seed),
        "LMNN": lambda: pl.LMNN(max_iter=8, **seed),
    }
    views = {**inner, "lle": lambda: "lle"}
    discriminative = {
        f"{classifier} {view}": partial(
            lambda first, second: {"classifier": first(), "embedding": second()}, classifiers[classifier], views[view]
        )
        for classifier in classifiers
        for view in ("TSNE", "XOM", "lle")
    }
    yield from variants("views", "DiscriminativeEmbedding", discriminative)


def mapped_cases() -> Iterator[Case]:
    """Yield explicit mappings."""
    seed = {"random_state": 0, "max_iter": 8}
    costs = ("tsne", "sne", "nerv", "tnerv", "mds", "sammon", "isomap", "strain", "mvu", "lle", "laplacian")
    settings: dict[str, Settings | Callable[[], Settings]] = {
        **{f"cost {kind}": {"cost": kind} for kind in costs},
        **{f"linear {kind}": {"cost": kind, "mapping": "linear"} for kind in costs},
        **{f"mapping {kind}": {"mapping": kind} for kind in ("network", "free")},
        "n_train": {"n_train": 95},
        "init random": {"init": "random", "n_init": 2},
        "on SOM": lambda: {"mapping": pl.SOM((2, 3), **seed)},
        "on NeuralGas": lambda: {"mapping": pl.NeuralGas(6, **seed)},
        "on MatrixNeuralGas": lambda: {"mapping": pl.MatrixNeuralGas(5, **seed)},
        "on LGMLVQ": lambda: {"mapping": pl.LGMLVQ(**seed)},
        "on GMLVQ": lambda: {"mapping": pl.GMLVQ(2, **seed)},
    }
    yield from variants("views", "MappedEmbedding", settings, also={"max_iter": 6})
    yield case(
        "views", "MappedEmbedding", "matrix", {"max_iter": 6, "metric": "precomputed", "mapping": "free"}, matrix
    )


# Applications


def application_cases() -> Iterator[Case]:
    """Yield applications, on small pictures."""
    for metric in ("liram", "local", "lmnn", "euclidean"):
        yield Case(f"applications/ImageRetriever/{metric}", partial(_retrieved, {"metric": metric}))
    for kind in ("raw", "canonical", "centered"):
        settings = {"metric": "local", "local_map": kind}
        yield Case(f"applications/ImageRetriever/local {kind}", partial(_retrieved, settings))
    for name in ("GMLVQ", "GRLVQ", "LFDA", "LGMLVQ", "LLiRaMLVQ"):
        yield Case(f"applications/ImageRetriever/on {name}", partial(_retrieved, {"metric": name}))
    yield Case("applications/ImageRetriever/pictures", partial(_retrieved, {}, pictures=True))
    for method in ("matrix", "ngpca", "vqpca", "ppca", "pca", "vq"):
        for entropy in (False, True):
            settings = {"method": method, "entropy": entropy}
            variant = f"{method} entropy" if entropy else method
            yield Case(f"applications/ImageCompressor/{variant}", partial(_compressed, settings))
    yield Case("applications/ImageCompressor/metric", partial(_compressed, {"assignment": "metric"}))
    yield Case("applications/DynamicTexture/small", partial(_moving, "DynamicTexture", {"n_pca": 8, "random_state": 0}))
    yield Case("applications/LinearDynamicTexture/small", partial(_moving, "LinearDynamicTexture", {}))
    yield Case("applications/digit_classifier/digits", _digits_classified)
    yield Case("applications/gray_texture_classifier/waves", _grey_classified)
    yield Case("applications/RegionColors/pictures", _region_colors)


def _retrieved(settings: Settings, pictures: bool = False) -> Results:
    given = dict(settings)
    if given.get("metric", "").isupper() or given.get("metric") in LVQ:
        kind = getattr(pl, given["metric"])
        seeded = "random_state" in inspect.signature(kind).parameters
        given["metric"] = kind(max_iter=8, random_state=0) if seeded else kind(2)
    data = _spots() if pictures else table("wine")
    model = pl.applications.ImageRetriever(**given, random_state=0).fit(data.X, data.y)
    yield from results(model, data)
    yield from attempt("kneighbors", lambda: model.kneighbors(data.new, 5))
    yield from attempt("kneighbors(own)", lambda: model.kneighbors(n_neighbors=5))
    yield from attempt("retrieve", lambda: model.retrieve(data.new, 5))
    yield from attempt("precision_at_k", lambda: model.precision_at_k(data.new, data.new_y))
    yield from attempt("recommendation", model.recommendation)


def _spots() -> Data:
    """Return pictures of spots in colours that depend on the class."""
    rng = np.random.RandomState(8)
    y = np.arange(36) % 3
    X = rng.randint(0, 60, (36, 14, 12, 3))
    X[:, 4:10, 3:9] += (rng.uniform(0, 150, (3, 3))[y] + rng.normal(0, 10, (36, 3))).astype(int)[:, None, None].clip(0)
    X = X.astype(np.uint8)
    return Data(list(X[:26]), y[:26], list(X[26:]), y[26:])


def _region_colors() -> Results:
    for space in ("rgb", "lab", "tsl"):
        yield from attempt(space, lambda space=space: pl.applications.convert_color(np.eye(3), space))
    yield from attempt(
        "transform", lambda: pl.applications.RegionColors(regions="whole").fit(_spots().X).transform(_spots().new)
    )


def _compressed(settings: Settings) -> Results:
    x = np.linspace(0, 8, 48)
    noise = np.random.RandomState(9).normal(0, 10, (48, 48))
    image = (127 + 100 * np.sin(np.hypot.outer(x, x)) + noise).clip(0, 255).astype(np.uint8)
    sizes = {"n_prototypes": 4, "n_components": 2, "max_iter": 10, "random_state": 0}
    model = pl.applications.ImageCompressor(**sizes | settings).fit(image)
    yield from attributes(model)
    stream = model.encode(image)
    yield "stream", stream
    yield "decoded", model.decode(stream)
    yield "reconstructed", model.reconstruct(image, quantized=False)
    yield "score", model.score(image)


def _moving(name: str, settings: Settings) -> Results:
    rng = np.random.RandomState(10)
    time_, rows, columns = np.indices((60, 8, 7))
    frames = np.sin(rows / 2 + time_ / 3) + np.cos(columns / 3 - time_ / 5) + 0.05 * rng.normal(size=(60, 8, 7))
    model = getattr(pl.applications, name)(n_components=3, **settings).fit(frames)
    yield from attributes(model)
    yield from attempt("transform", lambda: model.transform(frames[:5]))
    yield from attempt("reconstruct", model.reconstruct)
    yield from attempt("interpolate", lambda: model.interpolate(1))
    yield from attempt("sample", lambda: model.sample(10, random_state=0))


def _digits_classified() -> Results:
    data = table("digits")
    local = pl.MatrixNeuralGas(2, n_components=3, max_iter=10, random_state=0)
    model = pl.PrototypeClassifier(local, per_class=True).fit(data.X.astype(np.float32), data.y)
    yield from results(model, dataclasses.replace(data, new=None))
    yield "predict", model.predict(data.new.astype(np.float32))
    yield "predict_proba", model.predict_proba(data.new.astype(np.float32))


def _grey_classified() -> Results:
    data = patches_of_color()
    model = pl.applications.gray_texture_classifier().fit(data.X, data.y)
    yield "predict", model.predict(data.new)
    yield "powers", model[0].transform(data.new)


# Errors


def errors() -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield wrong parameters, wrong samples and wrong calls, by name."""
    for name, settings in WRONG_PARAMETERS:
        text = ", ".join(f"{key}={value!r}" for key, value in settings.items())
        yield f"{name}({text})", partial(_fit_wrongly, name, settings)
    iris = table("iris")
    samples: dict[str, Any] = {
        "nan": np.full((20, 4), np.nan),
        "infinite": np.full((20, 4), np.inf),
        "texts": np.array([["a", "b"]] * 20),
        "one dimension": np.arange(20.0),
        "three dimensions": np.zeros((20, 2, 2)),
        "nothing": np.empty((0, 4)),
        "few samples": iris.X[:2],
        "complex": iris.X + 1j,
        "huge": iris.X * 1e200,
    }
    for name in ("NeuralGas", "SOM", "MatrixNeuralGas", "NGPCA", "RelationalNeuralGas", "MedianKMeans", "GLVQ", "TSNE"):
        for kind, X in samples.items():
            yield f"{name} of {kind}", partial(_fit_samples, name, X)
    yield from wrong_calls()


def _fit_wrongly(name: str, settings: Settings) -> None:
    data = matrix() if name in RELATED else table("iris")
    made(name, settings).fit(data.X, data.y)


def _fit_samples(name: str, X: Array) -> None:
    getattr(pl, name)(random_state=0).fit(X, np.arange(len(X)) % 2)


WRONG_PARAMETERS: list[tuple[str, Settings]] = [
    *((name, {"n_prototypes": wrong}) for name in ("NeuralGas", "MedianNeuralGas") for wrong in (0, 2.5, "many", 1000)),
    *(("NeuralGas", {"max_iter": wrong}) for wrong in (0, 1.5, "long")),
    *(("NeuralGas", {"label_weight": wrong}) for wrong in (-0.1, 1.1, "all")),
    *(("NeuralGas", {"range_start": wrong}) for wrong in (-1.0, "wide")),
    ("NeuralGas", {"algorithm": "offline"}),
    ("NeuralGas", {"init": "somewhere"}),
    ("NeuralGas", {"init": [[0.0, 1.0]]}),
    ("NeuralGas", {"magnification": "best"}),
    ("NeuralGas", {"density_at": "winner"}),
    ("NeuralGas", {"edge_lifetime": 10}),
    ("NeuralGas", {"schedule": "steep"}),
    ("NeuralGas", {"patches": Patches(0)}),
    ("NeuralGas", {"patches": Patches(runs=0)}),
    ("NeuralGas", {"decay": 0.0}),
    ("NeuralGas", {"n_jobs": 0}),
    ("NeuralGas", {"verbose": -1}),
    ("NeuralGas", {"settle": "yes"}),
    ("KMeans", {"tol": -1.0}),
    ("KMeans", {"empty": "drop"}),
    ("SOM", {"lattice": "cube"}),
    ("SOM", {"lattice": (0, 3)}),
    ("SOM", {"winner": "best"}),
    ("SOM", {"kernel": "box"}),
    ("SOM", {"range_end": 0.0}),
    ("MatrixNeuralGas", {"n_components": 9}),
    ("MatrixNeuralGas", {"normalization": "trace"}),
    ("MatrixNeuralGas", {"scope": "all"}),
    ("MatrixNeuralGas", {"selection": "best"}),
    ("MatrixNeuralGas", {"regularization": "lasso"}),
    ("MatrixNeuralGas", {"epsilon": -1.0}),
    ("NGPCA", {"online_pca": "oja"}),
    ("NGPCA", {"measure": "cosine"}),
    ("NGPCA", {"n_steps": 0}),
    ("VQPCA", {"n_components": 0}),
    ("MixturePPCA", {"n_prototypes": -1}),
    ("RelationalNeuralGas", {"metric": "hammer"}),
    ("RelationalNeuralGas", {"symmetrize": "max"}),
    ("RelationalNeuralGas", {"spread": "explicit"}),
    ("RelationalNeuralGas", {"sparsity": 0}),
    ("RelationalNeuralGas", {"n_landmarks": 1000}),
    ("RelationalNeuralGas", {"n_approximation": -1}),
    ("MedianSOM", {"collision": "bounce"}),
    ("MedianSOM", {"noise": -1.0}),
    ("PairwiseAnnealing", {"temperature_start": -1.0}),
    ("PrototypeClassifier", {"estimator": 3}),
    ("PrototypeClassifier", {"reject_threshold": 2.0}),
    ("OutlierDetector", {"contamination": 0.9}),
    ("GLVQ", {"solver": "newton"}),
    ("GLVQ", {"squashing": "cube"}),
    ("GLVQ", {"prototypes_per_class": 0}),
    ("GMLVQ", {"n_components": 9}),
    ("LGMLVQ", {"localization": "sample"}),
    ("LMNN", {"method": "high_rank"}),
    ("LFDA", {"scaling": "log"}),
    ("TSNE", {"perplexity": 500.0}),
    ("TSNE", {"divergence": "l2"}),
    ("TSNE", {"method": "slow"}),
    ("XOM", {"structure": "star"}),
    ("SONE", {"kernel": "box"}),
    ("Charting", {"coordination": "glue"}),
    ("MappedEmbedding", {"cost": "free"}),
    ("MappedEmbedding", {"mapping": "quadratic"}),
    ("MVU", {"constraint": "loose"}),
]


def wrong_calls() -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield calls that cannot work, by name."""
    iris, distances = table("iris"), matrix()
    seed = {"random_state": 0, "max_iter": 3}
    for name in ("SOM", "MatrixKMeans", "RelationalSOM", "MedianKMeans", "GLVQ", "PrototypeClassifier"):
        yield f"{name} not fitted", lambda name=name: getattr(pl, name)().predict(iris.X)
    yield "labels missing", lambda: pl.NeuralGas(label_weight=0.5, **seed).fit(iris.X)
    yield "labels all missing", lambda: pl.NeuralGas(label_weight=0.5, **seed).fit(iris.X, np.full(120, -1))
    yield "labels too few", lambda: pl.NeuralGas(label_weight=0.5, **seed).fit(iris.X, iris.y[:5])
    yield "weights negative", lambda: pl.SOM(**seed).fit(iris.X, sample_weight=np.full(120, -1.0))
    yield "weights zero", lambda: pl.SOM(**seed).fit(iris.X, sample_weight=np.zeros(120))
    yield "weights too few", lambda: pl.SOM(**seed).fit(iris.X, sample_weight=np.ones(5))
    yield "iterator and labels", lambda: pl.SOM((2, 2), **seed).fit(iter([iris.X]), iris.y)
    yield "iterator of nothing", lambda: pl.SOM((2, 2), **seed).fit(iter([]))
    yield "other width", lambda: pl.SOM((2, 2), **seed).fit(iris.X).predict(iris.X[:, :2])
    yield "other size", lambda: pl.KMeans(3, **seed).fit(iris.X).set_params(n_clusters=5).partial_fit(iris.X)
    yield (
        "labels later",
        lambda: pl.KMeans(3, **seed).fit(iris.X).set_params(label_weight=1).partial_fit(iris.X, iris.y),
    )
    yield "matrix other width", lambda: pl.MedianKMeans(3, **seed).fit(distances.X).predict(distances.new[:, :7])
    yield "matrix not square", lambda: pl.RelationalKMeans(3, **seed).fit(distances.X[:, :50])
    yield "matrix lopsided", lambda: pl.RelationalKMeans(3, **seed).fit(matrix("lopsided").X)
    yield "matrix negative", lambda: pl.RelationalKMeans(3, **seed).fit(-distances.X)
    yield "kernel no diagonal", lambda: pl.RelationalKMeans(3, metric="kernel", **seed).fit(distances.X)
    yield "texts no metric", lambda: pl.RelationalKMeans(3, **seed).fit(strings().X)
    yield "two-stage goes on", lambda: pl.NGPCA(2, algorithm="two-stage", random_state=0).partial_fit(iris.X)
    yield "complete nothing", lambda: pl.MatrixKMeans(2, **seed).fit(iris.X).complete(np.full((1, 4), np.nan))
    yield "complete how", lambda: pl.MatrixKMeans(2, **seed).fit(iris.X).complete(iris.X, "guess")
    yield "code too narrow", lambda: pl.MatrixKMeans(2, **seed).fit(iris.X).inverse_transform([[0.0]])
    yield "one class", lambda: pl.GLVQ(**seed).fit(iris.X, np.zeros(120, int))
    yield "numbers as classes", lambda: pl.GLVQ(**seed).fit(iris.X, iris.X[:, 0])
    yield "view of one sample", lambda: pl.TSNE(**seed).fit(iris.X[:1])


# Recording


def record(file: Path, only: list[str]) -> None:
    """Fit everything and write the results."""
    print(f"{pl.__file__}", flush=True)
    begun, stored, n_cases = time.perf_counter(), {}, 0
    with threadpool_limits(1):
        for one in all_cases():
            if wanted(one.name, only):
                n_cases += 1
                stored |= recorded(one)
        for name, call in errors():
            if wanted(MESSAGES + name, only):
                stored[f"{MESSAGES}{name}"] = raised(call)
    np.savez_compressed(file, **stored)
    print(f"{len(stored)} results of {n_cases} cases in {time.perf_counter() - begun:.0f} s")


def wanted(name: str, only: list[str]) -> bool:
    """Say whether a name matches one of the patterns, or any part of it does."""
    return not only or any(fnmatch(name, f"*{pattern}*") for pattern in only)


def recorded(one: Case) -> Outputs:
    """Return the results of a case by their names, and the warnings it gives."""
    found: Outputs = {}
    begun = time.perf_counter()
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        try:
            for part, value in one.results():
                for name, values in flat(f"{one.name}/{part}", value):
                    found[f"{MESSAGES}{name}" if isinstance(value, Exception) else name] = values
        except Exception as error:
            print(f"{one.name} failed: {type(error).__name__}: {error}", flush=True)
            found[f"{MESSAGES}{one.name}!"] = np.array([type(error).__name__, str(error)])
    texts = sorted({str(warning.message) for warning in given})
    if texts:
        found[f"{MESSAGES}{one.name}/warnings"] = np.array(["warnings", "\n".join(texts)])
    if (took := time.perf_counter() - begun) > 3.0:
        print(f"{one.name} took {took:.1f} s", flush=True)
    return found


def raised(call: Callable[[], Any]) -> Array:
    """Return the type and the text of what a call raises; an empty type if it does not."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            call()
        except Exception as error:
            return np.array([type(error).__name__, str(error)])
    return np.array(["", ""])


# Comparing


def compare(before: Path, after: Path, given: argparse.Namespace) -> bool:
    """Print what differs in two recordings; return whether nothing does that should not."""
    first, second = _loaded(before), _loaded(after)
    keys = {key for key in first.keys() | second.keys() if wanted(key, given.only)}
    keys -= {key for key in keys if given.excepting and wanted(key, given.excepting)}
    texts = {key for key in keys if key.startswith(MESSAGES)}
    values = keys - texts
    extra = [f"extra: {key}" for key in sorted(values - first.keys())]
    lines = [*_lost(first, second, values, texts), *_changed(first, second, values, texts, given.tolerance)]
    print_some(lines)
    print_some(extra)
    if given.messages:
        print_some([line for key in sorted(texts) for line in _reworded(key, first.get(key), second.get(key))])
    print(f"{len(values)} results: {len(lines)} missing or different, {len(extra)} extra")
    return not lines and (given.allow_extra or not extra)


def _lost(first: Outputs, second: Outputs, values: set[str], texts: set[str]) -> Iterator[str]:
    """Yield what fails now, and all other results that are missing."""
    failing = {key.removeprefix(MESSAGES).removesuffix("!"): key for key in texts - first.keys() if key.endswith("!")}
    yield from (f"fails: {name}: {_said(second[key])}" for name, key in sorted(failing.items()))
    for key in sorted(values - second.keys()):
        steps = key.split("/")
        if not any("/".join(steps[:n]) in failing for n in range(len(steps) + 1)):
            yield f"missing: {key}"


def _changed(first: Outputs, second: Outputs, values: set[str], texts: set[str], tolerance: float) -> Iterator[str]:
    """Yield results that are different, and calls that raise errors in only one of two recordings."""
    both = first.keys() & second.keys()
    for key in sorted(values & both):
        if what := difference(first[key], second[key], tolerance):
            yield f"differs: {key}: {what}"
    for key in sorted(texts & both):
        if bool(first[key][0]) != bool(second[key][0]):
            yield f"differs: {key}: {_said(first[key])} became {_said(second[key])}"


def _loaded(file: Path) -> Outputs:
    with np.load(file) as stored:
        return dict(stored)


def difference(before: Array, after: Array, tolerance: float) -> str:
    """Return what is different in two arrays, or nothing."""
    if before.shape != after.shape:
        return f"shape {before.shape} became {after.shape}"
    if before.dtype.kind != after.dtype.kind or (before.dtype != after.dtype and before.dtype.kind != "U"):
        return f"type {before.dtype} became {after.dtype}"
    if before.dtype.kind not in "fc":
        changed = before != after
        return f"{np.sum(changed)} of {changed.size} changed, {_some(before, after, changed)}" if changed.any() else ""
    strange = ~np.isfinite(before) | ~np.isfinite(after)
    if not np.array_equal(before[strange], after[strange], equal_nan=True):
        return "other values are not finite"
    gap = np.abs(before[~strange] - after[~strange]).max(initial=0.0)
    largest = np.abs(before[~strange]).max(initial=0.0)
    if gap <= max(tolerance * largest, ROUNDED_ZERO):
        return ""
    return f"by {gap / (largest or 1.0):.1e} of the largest value, {largest:.3g}"


def _some(before: Array, after: Array, changed: Any) -> str:
    """Return the first value that changed, before and after."""
    old, new = (np.ravel(values)[np.argmax(changed)] for values in (before, after))
    return f"such as {str(old)[:60]} to {str(new)[:60]}"


def _reworded(key: str, before: Array | None, after: Array | None) -> Iterator[str]:
    """Yield both wordings of a message that changed."""
    if before is None or after is None or not np.array_equal(before, after):
        yield f"message: {key.removeprefix(MESSAGES)}\n    before: {_said(before)}\n    after:  {_said(after)}"


def _said(message: Array | None) -> str:
    return "nothing" if message is None or not message[0] else f"{message[0]}: {message[1]}"


def print_some(lines: Iterable[str]) -> None:
    """Print lines, but not too many."""
    listed = list(lines)
    for line in listed[:SHOWN]:
        print(line)
    if len(listed) > SHOWN:
        print(f"... and {len(listed) - SHOWN} more")


def main() -> None:
    """Record or compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    recording = commands.add_parser("record", help="fit everything and write the results")
    recording.add_argument("file", type=Path)
    recording.add_argument("--only", nargs="+", default=[], help="patterns of cases, such as 'maps/SOM' (all)")
    comparing = commands.add_parser("compare", help="print what differs; the exit code is 1 if anything does")
    comparing.add_argument("before", type=Path)
    comparing.add_argument("after", type=Path)
    comparing.add_argument("--tolerance", type=float, default=1e-10, help="of floats, as a share of the largest value")
    comparing.add_argument("--messages", action="store_true", help="show errors and warnings whose wording changed")
    comparing.add_argument("--allow-extra", action="store_true", help="only list results that were not there before")
    comparing.add_argument("--except", dest="excepting", nargs="+", default=[], help="patterns of results left out")
    comparing.add_argument("--only", nargs="+", default=[], help="patterns of results compared (all)")
    given = parser.parse_args()
    if given.command == "record":
        record(given.file, given.only)
    elif not compare(given.before, given.after, given):
        sys.exit(1)


if __name__ == "__main__":
    main()
