"""Dissimilarities of all pairs of objects, by the name of a metric or a function of two objects."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from numbers import Real
from typing import Any

import numpy as np

from protolearn.core.density import squared_distances
from protolearn.core.metric import A_METRIC, LearnedMetric, as_metric, is_learned
from protolearn.core.parameters import constrained, function, number, option
from protolearn.core.types import Array, Indices
from protolearn.dissimilarities._alignment import Alignment
from protolearn.dissimilarities._blocks import Floats, Measure, all_pairs, listed
from protolearn.dissimilarities._compression import Compression
from protolearn.dissimilarities._series import TimeWarping
from protolearn.dissimilarities._strings import CyclicEdit, Edit, Hamming, Jaccard
from protolearn.dissimilarities._transport import Transport
from protolearn.dissimilarities._vectors import (
    Chebyshev,
    Cosine,
    Euclidean,
    Manhattan,
    Minkowski,
    OfVectors,
    Pearson,
    SquaredEuclidean,
    Tanimoto,
)

__all__ = ["METRICS", "VECTOR_METRICS", "is_metric", "measure_of", "metric_name", "pairwise"]

_KINDS = (
    *(Edit, CyclicEdit, Hamming, Jaccard, Tanimoto, Alignment),
    *(Compression, Cosine, Pearson, TimeWarping, Transport, Euclidean, SquaredEuclidean, Manhattan, Chebyshev),
    Minkowski,
)
_MEASURES: dict[str, Any] = {kind.name: kind for kind in _KINDS}
_SYNONYMS = {
    "levenshtein": "edit",
    "correlation": "pearson",
    "l2": "euclidean",
    "l1": "manhattan",
    "cityblock": "manhattan",
}

METRICS = (*_MEASURES, *_SYNONYMS)
VECTOR_METRICS = tuple(name for name, kind in _MEASURES.items() if issubclass(kind, OfVectors))
FEW, N_TRIED = 8, 24  # objects up to which all pairs are tried whether a function is symmetric; pairs of more objects
ROUNDING = 1e-8  # differences that are none, as a share of the largest dissimilarity


@constrained(verbose=number(0))
def pairwise(
    X: Any,
    Y: Any = None,
    *,
    metric: Any,
    n_jobs: int | None = None,
    verbose: int = 0,
    symmetrize: str = "raise",
    **params: Any,
) -> Floats:
    """Return the dissimilarities of all pairs of objects.

    Parameters
    ----------
    X : list of objects or array-like
        Objects, of a type that the metric supports.
    Y : list of objects or array-like, optional
        Objects to compare with. By default, all pairs in ``X`` are compared; each pair is computed once, and the
        diagonal is zero.
    metric : str, callable or learned metric
        One of `METRICS`, the names of the functions in this package, or scikit-learn's name for one of them (see
        `metric_name`); a function of two objects that returns their dissimilarity; or a learned metric in any form that
        `protolearn.as_metric` accepts, such as a fitted LVQ classifier.
    n_jobs : int, optional
        Number of threads; by default the number of threads of the BLAS library. A Python function of two objects is
        called from a single thread.
    verbose : int, default=0
        1 shows a progress bar (or lines of text, if the output is not a terminal), 2 prints one line for every block.
    symmetrize : {"raise", "mean"}, default="raise"
        Treatment of a function of two objects that may be asymmetric or not zero for equal objects. ``"raise"`` raises
        an error if a few pairs of ``X`` show this (only checked without ``Y``); ``"mean"`` calls the function for both
        orders and uses the mean.
    **params : dict
        Parameters of a named metric, or additional keyword arguments of the function.

    Returns
    -------
    ndarray of shape (len(X), len(Y))
        Dissimilarities.

    Examples
    --------
    >>> from protolearn.dissimilarities import pairwise
    >>> pairwise(["one", "two", "three"], metric="edit")
    array([[0., 3., 4.],
           [3., 0., 4.],
           [4., 4., 0.]])
    >>> def by_length(a, b):
    ...     return abs(len(a) - len(b))
    >>> pairwise(["one", "two", "three"], metric=by_length)
    array([[0., 0., 2.],
           [0., 0., 2.],
           [2., 2., 0.]])
    """
    return all_pairs(measure_of(metric, params, symmetrize), X, Y, n_jobs=n_jobs, verbose=verbose)


@constrained(metric=option(*METRICS) | function() | A_METRIC, symmetrize=option("raise", "mean"))
def measure_of(metric: Any, params: dict[str, Any], symmetrize: str = "raise") -> Measure:
    """Return the measure with a name, one that calls a function of two objects, or a learned metric."""
    if is_learned(metric):
        if params:
            raise ValueError(f"A learned metric has no parameters, but {', '.join(params)} was given.")
        return LearnedDistance(as_metric(metric, "dissimilarities"))
    if callable(metric):
        return Function(metric, params, symmetrize)
    kind = _MEASURES[metric_name(metric)]
    known = [one.name for one in fields(kind) if one.init]
    for name in params:
        if name not in known:
            allowed = f"it has {', '.join(known)}" if known else "it has none"
            raise ValueError(f"metric {metric!r} has no parameter {name!r}; {allowed}.")
    measure: Measure = kind(**params)
    return measure


def metric_name(metric: Any) -> Any:
    """Return the name that this package uses for a metric; any other value is returned unchanged.

    ``"levenshtein"`` is ``"edit"``, ``"correlation"`` is ``"pearson"``, ``"l2"`` is ``"euclidean"``, and ``"l1"`` and
    ``"cityblock"`` are ``"manhattan"``.

    Parameters
    ----------
    metric : object
        A name, or any other form of a metric.

    Returns
    -------
    object
        The name, or the given metric.

    Examples
    --------
    >>> from protolearn.dissimilarities import metric_name
    >>> metric_name("cityblock"), metric_name("cosine")
    ('manhattan', 'cosine')
    """
    return _SYNONYMS.get(metric, metric) if isinstance(metric, str) else metric


def is_metric(metric: Any, *names: str) -> bool:
    """Return whether a metric is one of the named metrics, under any of its names.

    Parameters
    ----------
    metric : object
        A name, or any other form of a metric.
    *names : str
        Names in the form that `metric_name` returns.

    Returns
    -------
    bool
        Whether the metric is one of them.

    Examples
    --------
    >>> from protolearn.dissimilarities import is_metric
    >>> is_metric("l2", "euclidean"), is_metric(max, "euclidean")
    (True, False)
    """
    return isinstance(metric, str) and metric_name(metric) in names


@dataclass(eq=False)
class LearnedDistance(Measure):
    """Distances by a learned metric, the mean of squares if they depend on the order of two samples."""

    metric: LearnedMetric
    name = "learned metric"
    tile = 1024
    grain = 256

    def encode(self, objects: Any, name: str = "X") -> Array:
        """Return samples behind the steps of the metric, projected if it is global."""
        return self.metric.project(objects) if self.metric.is_global else self.metric.samples(objects)

    def block(self, a: Array, b: Array, n_threads: int = 1) -> Floats:
        """Return distances."""
        if self.metric.is_global:
            origin = b.mean(axis=0, dtype=np.float64)
            return np.sqrt(squared_distances(a - origin, b - origin))
        return self.metric.inner.distances(a, b)


@dataclass(frozen=True)
class ObjectPairs:
    """Objects of any kind, with their places in the collection that they come from."""

    items: Array
    places: Indices
    name: str

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, rows: Any) -> ObjectPairs:
        return ObjectPairs(self.items[rows], self.places[rows], self.name)


@dataclass(eq=False)
class Function(Measure):
    """A dissimilarity given as a function of two objects, which may depend on their order if the mean is asked for."""

    function: Callable[..., float]
    params: dict[str, Any]
    symmetrize: str = "raise"
    tile = 32
    grain = 1
    in_threads = False

    def __post_init__(self) -> None:
        self.name = getattr(self.function, "__name__", type(self.function).__name__)

    def encode(self, objects: Any, name: str = "X") -> ObjectPairs:
        """Give each object its place."""
        given = listed(objects, name)
        items = np.empty(len(given), dtype=object)
        for i, one in enumerate(given):
            items[i] = one
        return ObjectPairs(items, np.arange(len(items)), name)

    def block(self, a: ObjectPairs, b: ObjectPairs, n_threads: int = 1) -> Floats:
        """Call the function for each pair, in both orders if their mean is asked for."""
        result = np.empty((len(a), len(b)))
        for i, x in enumerate(a.items):
            for j, y in enumerate(b.items):
                if self.symmetrize == "mean":
                    result[i, j] = 0.0 if x is y else (self._value(a, i, b, j) + self._value(b, j, a, i)) / 2.0
                else:
                    result[i, j] = self._value(a, i, b, j)
        return result

    def check(self, encoded: ObjectPairs) -> int:
        """Require, of a few objects, that their order does not matter, and that they are not unlike themselves."""
        n = len(encoded)
        if self.symmetrize == "mean" or n == 0:
            return 0
        rng = np.random.default_rng(0)
        pairs = rng.integers(n, size=(N_TRIED, 2)) if n > FEW else np.argwhere(np.tri(n, k=-1, dtype=bool))
        alone = rng.permutation(n)[:FEW]
        there = [self._value(encoded, i, encoded, j) for i, j in pairs]
        back = [self._value(encoded, j, encoded, i) for i, j in pairs]
        own = [self._value(encoded, i, encoded, i) for i in alone]
        slack = ROUNDING * max([*there, *back, 0.0])
        remedy = 'Pass symmetrize="mean" to use the mean of both orders, and zero for an object and itself.'
        for (i, j), one, other in zip(pairs, there, back):
            if abs(one - other) > slack:
                calls = self._call(encoded, i, encoded, j), self._call(encoded, j, encoded, i)
                raise ValueError(f"{calls[0]} is {one:g}, but {calls[1]} is {other:g}. {remedy}")
        for i, value in zip(alone, own):
            if value > slack:
                raise ValueError(f"{self._call(encoded, i, encoded, i)} is {value:g}, not 0. {remedy}")
        return len(there) + len(back) + len(own)

    def _value(self, a: ObjectPairs, i: int, b: ObjectPairs, j: int) -> float:
        try:
            value = self.function(a.items[i], b.items[j], **self.params)
        except Exception as error:
            raise ValueError(f"{self._call(a, i, b, j)} failed: {type(error).__name__}: {error}") from error
        if not isinstance(value, Real | np.ndarray) or np.ndim(value) or not 0.0 <= value < np.inf:
            raise ValueError(f"{self._call(a, i, b, j)} returned {value!r}; it must be a number, 0 or more.")
        return float(value)

    def _call(self, a: ObjectPairs, i: int, b: ObjectPairs, j: int) -> str:
        return f"{self.name}({a.name}[{a.places[i]}], {b.name}[{b.places[j]}])"
