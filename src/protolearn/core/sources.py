"""Sources of samples: an array or a memory map, read in chunks that fit the processor's cache.

A chunk is a contiguous copy of some rows, moved to a common origin and *lifted* to ``(x, 1, |x|^2)``. The squared
distance to any point is linear in a lifted sample, so one matrix product gives all distances of a chunk, and the same
product with weights gives every sum that an update needs. For prototypes with a shape a sample can be lifted further,
by all products of two coordinates, in which every quadratic form is linear. A sample with missing values is also lifted
by the mask of its known values, in which distances over the known values are linear. In addition to the data, only
chunks are held in memory.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import pairwise
from operator import add
from typing import Any, TypeVar

import numpy as np

from protolearn.core.bounds import Bounds
from protolearn.core.shapes import Shapes
from protolearn.core.threads import CACHED, Threads, cut
from protolearn.core.types import Array, Bools, Floats, Indices

__all__ = ["ArraySource", "Chunk", "LabelMoments", "Labels", "PointSource", "Source", "cut_patches", "known_median",
           "with_labels"]  # fmt: skip

KEPT_BYTES = 64 << 20  # lifted samples up to this size are kept; larger data are read anew in every epoch
KEPT_PRODUCTS = 192 << 20  # the same with all products of two coordinates, which take as long as what they are for
N_SPANS = 8  # fixed, so that sums do not depend on the number of threads
LEAST_WORK = 2_000_000  # products below which threads cost more than they bring

T = TypeVar("T")


@dataclass(frozen=True)
class Chunk:
    """Some samples: lifted rows (c, D + 2 or more), their weights (c,), and the rows of the source they stand for.

    Coordinates are the first ``n_columns`` of the lifted row. The last samples may stand for many, with a spread each.
    ``gaps`` (c, d) marks values that are not known, and take no part in distances that are ``partial``; ``mean_label``
    (C,) stands for labels that are not known.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.core.sources import ArraySource
    >>> chunk = ArraySource(np.array([[3.0, 4.0], [0.0, 1.0], [5.0, 5.0]]), origin=np.zeros(2)).chunk(slice(0, 2))
    >>> chunk.points.tolist(), chunk.lifted[0].tolist()
    ([[3.0, 4.0], [0.0, 1.0]], [3.0, 4.0, 1.0, 25.0])
    """

    lifted: Array
    weights: Array
    rows: slice
    n_columns: int
    spreads: Shapes | None = None
    gaps: Bools | None = None
    mean_label: Array | None = None
    partial: bool = False

    @property
    def points(self) -> Array:
        """Return the coordinates (c, D)."""
        return self.lifted[:, : self.n_columns]

    @property
    def known(self) -> Array:
        """Return the coordinates, not a number where they take no part in distances."""
        return self._marked(self.points.copy(), np.nan) if self.partial else self.points

    def apart(self, places: Array) -> Array:
        """Return the differences (c, D) of samples from places, zero where they take no part in distances."""
        return self._marked(self.filled - places, 0.0)

    def _marked(self, values: Array, mark: float) -> Array:
        """Write a mark into values (c, D) where they take no part in distances."""
        if self.partial:
            assert self.gaps is not None
            np.copyto(values[:, : self.gaps.shape[1]], mark, where=self.gaps)
        return values

    @property
    def filled(self) -> Array:
        """Return the coordinates, with the mean label in place of one that is not known."""
        return self.points if self.mean_label is None else with_labels(self.points, self.mean_label)

    @property
    def n_single(self) -> int:
        """Number of samples, the first, that stand for themselves only."""
        return len(self.weights) - (0 if self.spreads is None else len(self.spreads))


def with_labels(points: Array, mean_label: Array) -> Array:
    """Return points (c, D), with the mean label (C,) where the last columns are zero.

    Examples
    --------
    >>> with_labels(np.array([[7.0, 0.0, 0.0], [8.0, 0.0, 1.0]]), np.array([0.4, 0.6]))
    array([[7. , 0.4, 0.6],
           [8. , 0. , 1. ]])
    """
    features, labels = np.split(points, [points.shape[1] - len(mean_label)], axis=1)
    known = labels.any(axis=1, keepdims=True)
    return np.hstack([features, np.where(known, labels, mean_label)]).astype(points.dtype, copy=False)


@dataclass(frozen=True)
class LabelMoments:
    """Sums over the known labels of samples: their vectors (C,), their squared lengths, and their weights.

    Examples
    --------
    >>> moments = LabelMoments.of(np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]), np.array([1.0, 3.0, 5.0]))
    >>> moments.mean, moments.variance
    (array([0.25, 0.75]), 0.375)
    """

    sums: Floats
    squares: float
    mass: float

    @classmethod
    def of(cls, vectors: Array, weights: Array) -> LabelMoments:
        """Sum label vectors (n, C), zero where the label is not known, with weights (n,)."""
        sums = weights @ vectors.astype(np.float64)
        squares = np.einsum("jc,jc->j", vectors, vectors, dtype=np.float64)
        known = weights * vectors.any(axis=1)
        return cls(sums, float(known @ squares), float(known.sum(dtype=np.float64)))

    def __add__(self, other: LabelMoments) -> LabelMoments:
        return LabelMoments(self.sums + other.sums, self.squares + other.squares, self.mass + other.mass)

    @property
    def mean(self) -> Floats:
        """Return the weighted mean of all known labels."""
        return self.sums / self.sums.sum()

    @property
    def variance(self) -> float:
        """Return the mean squared distance of known labels to their mean."""
        return self.squares / self.mass - float(self.mean @ self.mean)

    def unit(self, variance: float) -> float:
        """Return how much a squared label distance counts beside samples of a total variance, for equal shares."""
        return variance / self.variance if variance > 0 and self.variance > 1e-12 else 1.0


@dataclass(frozen=True)
class Labels:
    """Label vectors (n, C) that add up to one, or are zero where the label is not known.

    A sample without label has no label distance, and a prototype's label is the mean of those that are known.

    Examples
    --------
    >>> import numpy as np
    >>> labels = Labels(np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]), np.array([1.0, 3.0, 5.0]))
    >>> labels.mean
    array([0.25, 0.75])
    >>> labels.filled[2]
    array([0.25, 0.75])
    """

    vectors: Array
    weights: Array

    @cached_property
    def known(self) -> Bools:
        """Say which samples (n,) have a label."""
        return np.asarray(self.vectors.any(axis=1))

    @cached_property
    def moments(self) -> LabelMoments:
        """Return the sums over known labels."""
        return LabelMoments.of(self.vectors, self.weights)

    @property
    def mean(self) -> Floats:
        """Return the weighted mean of all known labels."""
        return self.moments.mean

    @cached_property
    def filled(self) -> Array:
        """Return the vectors, the mean in place of those that are not known: where prototypes start, all have one."""
        if self.known.all():
            return self.vectors
        return with_labels(self.vectors, self.mean)


class Source(ABC):
    """Samples with weights, read in chunks by several threads; what `ArraySource` and `Pairs` have in common.

    Examples
    --------
    A source of one's own says how some rows are read:

    >>> import numpy as np
    >>> from protolearn.core.sources import Source
    >>> class Squares(Source):
    ...     n_samples, n_lifted, n_threads = 5, 3, 1
    ...     dtype, weights = np.dtype(np.float64), np.ones(5)
    ...
    ...     def chunk(self, rows):
    ...         return np.arange(5.0)[rows] ** 2
    >>> float(Squares().sum(np.sum)), Squares().mass
    (30.0, 5.0)
    """

    dtype: np.dtype[Any]
    weights: Array
    n_samples: int
    n_lifted: int
    n_threads: int
    chunk_size: int | None = None
    listed = True  # whether a number for each sample, such as its weight, fits into the memory that is here

    @property
    def mass(self) -> float:
        """Return the weight of all samples."""
        return float(self.weights.sum(dtype=np.float64))

    @abstractmethod
    def chunk(self, rows: slice) -> Any:
        """Read some rows."""

    def slices(self, width: int = 1) -> list[slice]:
        """Cut the rows for chunks that stay in the cache, with ``width`` numbers beside each sample."""
        size = self.chunk_size
        if size is None:
            row_bytes = (self.n_lifted + width) * self.dtype.itemsize
            size = min(max(CACHED // row_bytes, 128), 8192)
            if self.n_samples > size:
                rounds = -(-self.n_samples // (N_SPANS * size))  # as many chunks for each span
                size = min(size, -(-self.n_samples // (N_SPANS * rounds)))
        return list(cut(self.n_samples, size))

    def map(self, function: Callable[[Any], T], n_prototypes: int = 1) -> Iterator[T]:
        """Yield ``function(chunk)`` for every chunk, in order."""
        return self._workers(n_prototypes).map(lambda rows: function(self.chunk(rows)), self.slices(n_prototypes))

    def sum(self, function: Callable[[Any], T], n_prototypes: int = 1, width: int | None = None) -> T:
        """Add ``function(chunk)`` over all chunks; the order of additions does not depend on the threads.

        ``n_prototypes`` tells how much work a sample is, and ``width`` how many numbers it needs at a time.
        """
        slices = self.slices(n_prototypes if width is None else width)
        n_spans = min(N_SPANS, len(slices))
        edges = (len(slices) * span // n_spans for span in range(n_spans + 1))
        spans = [slices[a:b] for a, b in pairwise(edges)]
        workers = self._workers(n_prototypes)
        return reduce(
            add, workers.collect(lambda span: reduce(add, (function(self.chunk(rows)) for rows in span)), spans)
        )

    def gather(self, function: Callable[[Any], tuple[Array, ...]], n_prototypes: int = 1) -> list[Array]:
        """Concatenate per-sample results of ``function`` over all chunks."""
        return [np.concatenate(parts) for parts in zip(*self.map(function, n_prototypes))]

    def whole(self, function: Callable[[Any], T]) -> T:
        """Return what a function makes of all samples, or the sum of what it makes of those of each partition."""
        return function(self)

    def _workers(self, n_prototypes: int) -> Threads:
        """Return the threads for work with so many prototypes, a single one if others cost more than they bring."""
        work = self.n_samples * (self.n_lifted - 2) * n_prototypes
        return self._threads if work >= LEAST_WORK else Threads(1)

    @cached_property
    def _threads(self) -> Threads:
        return Threads(self.n_threads)


class PointSource(Source):
    """Samples that are points: what `ArraySource` and `PartitionedSource` have in common.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.core.sources import ArraySource, PointSource
    >>> source: PointSource = ArraySource(np.array([[100.0], [101.0], [102.0]]), origin=np.array([101.0]))
    >>> source.rows(np.array([0, 2])).tolist(), source.n_single, source.gappy
    ([[-1.0], [1.0]], 3, False)
    """

    n_features: int
    n_columns: int
    origin: Floats
    scale: Floats
    metric: Floats
    label_weight: float
    label_unit: float
    mean_label: Array | None
    partial: bool
    first = 0  # index of the first row, where these samples are some of many
    bounds: Bounds | None = None  # what is known of the nearest prototypes, where it can be kept

    @property
    def n_labels(self) -> int:
        """Number of columns, the last, that are labels."""
        return self.n_columns - self.n_features

    @property
    @abstractmethod
    def n_single(self) -> int:
        """Number of samples, the first, that stand for themselves only."""

    @property
    @abstractmethod
    def single_mass(self) -> float:
        """Return the weight of those that stand for themselves only."""

    @property
    @abstractmethod
    def gappy(self) -> bool:
        """Return whether some values are missing."""

    @abstractmethod
    def picked(self, indices: Indices) -> Array:
        """Return single samples as `rows` does, but with zeros for a label that is not known, and NaN for a value."""

    def rows(self, indices: Indices) -> Array:
        """Return single samples in the source's own coordinates, of shape (len(indices), D).

        The mean label stands for one that is not known, and the origin for a value.
        """
        return self.filled(self.picked(indices))

    def filled(self, points: Array) -> Array:
        """Return samples (m, D), with the mean label and the origin in place of what is not known."""
        points = np.nan_to_num(points) if self.partial else points
        return points if self.mean_label is None else with_labels(points, self.mean_label)


class ArraySource(PointSource):
    """Samples of an array or memory map, with weights and, for supervised maps, label vectors.

    The distance between a sample and a prototype is
    ``(1 - label_weight) |x - w|^2 + label_weight label_unit |y - w_y|^2``, without the last term if the sample has no
    label.

    Parameters
    ----------
    X : array of shape (n, d)
        Samples; a memory map is read chunk by chunk.
    weights : array of shape (n,), optional
        Weight of each sample, 1 by default.
    labels : array of shape (n, C), optional
        Label vectors, one-hot or fuzzy; zero for unknown labels.
    label_weight : float, default=0.0
        Weight of the labels in the distance.
    label_unit : float, default=1.0
        Factor on squared distances between labels.
    origin : array of shape (d,), optional
        Origin of the coordinates; by default the median of a few samples, which avoids cancellation of squares.
    scale : array of shape (d,), optional
        Factor on every coordinate, 1 by default.
    quadratic : bool, default=False
        Whether to lift samples by all products of two coordinates as well.
    spreads : Shapes, optional
        Covariances of the samples that the last rows of ``X`` represent, in units of ``X``.
    gaps : array of shape (n, d), optional
        Mask of missing values of ``X``, for which ``X`` contains initial estimates.
    partial : bool, default=False
        Whether to leave NaN out of distances: ``|x - w|^2`` is the sum over the known values, multiplied by the number
        of features and divided by the number of known values.
    mean_label : array of shape (C,), optional
        Substitute for unknown labels; by default the mean of the known labels.
    first : int, default=0
        Index of the first row, if the samples are a part of a larger set.
    n_threads : int, default=1
        Number of threads that process chunks.
    chunk_size : int, optional
        Number of rows in a chunk; by default as many as fit the cache.
    keep : bool, default=True
        Whether to keep the lifted samples of small data, for sources that are read more than once.

    Examples
    --------
    >>> import numpy as np
    >>> source = ArraySource(np.array([[0.0, 2.0], [4.0, 6.0]]), origin=np.zeros(2))
    >>> source.sum(lambda chunk: chunk.lifted.sum(axis=0))
    array([ 4.,  8.,  2., 56.])
    """

    def __init__(
        self,
        X: Array,
        *,
        weights: Array | None = None,
        labels: Array | None = None,
        label_weight: float = 0.0,
        label_unit: float = 1.0,
        origin: Array | None = None,
        scale: Floats | None = None,
        quadratic: bool = False,
        spreads: Shapes | None = None,
        gaps: Bools | None = None,
        partial: bool = False,
        mean_label: Floats | None = None,
        first: int = 0,
        n_threads: int = 1,
        chunk_size: int | None = None,
        keep: bool = True,
    ) -> None:
        self.X = X
        self.dtype = np.dtype(np.float64) if quadratic else X.dtype  # forms of a thin shape cancel
        self.weights = np.ones(len(X), self.dtype) if weights is None else weights.astype(self.dtype, copy=False)
        self.labels = None if labels is None else Labels(labels, self.weights)
        if mean_label is None and self.labels is not None and not self.labels.known.all():
            mean_label = self.labels.mean
        self.mean_label = None if mean_label is None else mean_label.astype(self.dtype)
        self.first = first
        self.gaps = gaps
        self.partial = partial
        self.label_weight = label_weight
        self.label_unit = label_unit
        self.n_threads = n_threads
        self.chunk_size = chunk_size
        self.n_samples, self.n_features = X.shape
        n_labels = 0 if labels is None else labels.shape[1]
        self.n_columns = self.n_features + n_labels
        self.quadratic = quadratic
        self.n_lifted = self.n_columns + 2 + (self.n_features * (self.n_features + 1) // 2 if quadratic else 0)
        self.n_lifted += 2 * self.n_features if partial else 0
        self.scale = np.ones(self.n_features) if scale is None else scale
        self.spreads = None if spreads is None else Shapes(spreads.axes * self.scale, spreads.variances, spreads.rest)
        if origin is None:
            some = X[:: max(1, len(X) // 1024)]
            origin = known_median(some) if partial else np.median(some, axis=0)
        origin = np.asarray(origin).astype(self.dtype)  # as it is subtracted, so that whoever adds it undoes that
        self.origin = np.concatenate([origin, np.zeros(n_labels)])
        # the weight of each column in the squared distance, Hasenfuss 2009, sec. 3.3
        shares = np.full(self.n_features, 1.0 - label_weight), np.full(n_labels, label_weight * label_unit)
        self.metric = np.concatenate(shares)
        if labels is None:
            self.metric[:] = 1.0

        self.bounds = Bounds.unknown(self.n_samples)
        self._kept: Array | None = None
        size = self.n_samples * self.n_lifted * self.dtype.itemsize
        if keep and size <= (KEPT_PRODUCTS if quadratic else KEPT_BYTES):
            kept = np.empty((self.n_samples, self.n_lifted), self.dtype)
            for rows in self.slices():
                kept[rows] = self._lift(rows)
            self._kept = kept

    @property
    def n_single(self) -> int:
        """Number of samples, the first, that stand for themselves only."""
        return self.n_samples - (0 if self.spreads is None else len(self.spreads))

    @property
    def single_mass(self) -> float:
        """Return the weight of those that stand for themselves only."""
        return float(self.weights[: self.n_single].sum(dtype=np.float64))

    @property
    def gappy(self) -> bool:
        """Return whether some values are missing."""
        return self.gaps is not None

    def chunk(self, rows: slice) -> Chunk:
        """Read some rows."""
        lifted = self._lift(rows) if self._kept is None else self._kept[rows]
        gaps = None if self.gaps is None else self.gaps[rows]
        gaps = np.isnan(self.X[rows]) if self.partial else gaps
        start, stop, _ = rows.indices(self.n_samples)
        known_as = slice(start + self.first, stop + self.first)
        parts = lifted, self.weights[rows], known_as, self.n_columns, self._spreads(rows), gaps, self.mean_label
        return Chunk(*parts, self.partial)

    def _spreads(self, rows: slice) -> Shapes | None:
        """Return the spreads of those of the rows, the last, that have one."""
        if self.spreads is None:
            return None
        start, stop, _ = rows.indices(self.n_samples)
        first = self.n_single
        return self.spreads[max(start - first, 0) : stop - first] if stop > first else None

    def _lift(self, rows: slice) -> Array:
        d = self.n_features
        block = self.X[rows]
        lifted = np.empty((len(block), self.n_lifted), self.dtype)
        np.subtract(block, self.origin[:d].astype(self.dtype), out=lifted[:, :d])
        if (self.scale != 1.0).any():
            lifted[:, :d] *= self.scale
        lifted[:, -2] = 1.0
        norms = self._lift_known(lifted) if self.partial else np.einsum("ij,ij->i", lifted[:, :d], lifted[:, :d])
        spreads = self._spreads(rows)
        if self.quadratic:
            column = self.n_columns
            for a in range(d):
                np.multiply(lifted[:, a:d], lifted[:, a : a + 1], out=lifted[:, column : column + d - a])
                column += d - a
            if spreads is not None:
                upper = np.triu_indices(d)
                lifted[-len(spreads) :, self.n_columns : -2] += spreads.covariances[:, upper[0], upper[1]]
                norms[-len(spreads) :] += np.trace(spreads.covariances, axis1=1, axis2=2)
        if self.labels is not None:
            fuzzy = lifted[:, d : self.n_columns]
            fuzzy[:] = self.labels.vectors[rows]
            norms = self.metric[0] * norms + self.metric[-1] * np.einsum("ij,ij->i", fuzzy, fuzzy)
        lifted[:, -1] = norms
        return lifted

    def _lift_known(self, lifted: Array) -> Array:
        """Write which values are known, and the known ones, into lifted samples; return their squared lengths.

        Both are multiplied by the number of features over that of known ones, as distances are.
        """
        d, first = self.n_features, self.n_columns
        points, scaled, known = lifted[:, :d], lifted[:, first : first + d], lifted[:, first + d : first + 2 * d]
        known[:] = ~np.isnan(points)
        points[known == 0.0] = 0.0
        known *= d / known.sum(axis=1, keepdims=True)
        np.multiply(points, known, out=scaled)
        return np.einsum("ij,ij->i", points, scaled)

    def picked(self, indices: Indices) -> Array:
        """Return single samples as `rows` does, but with zeros for a label that is not known, and NaN for a value."""
        points = self.X[indices].astype(self.dtype) - self.origin[: self.n_features].astype(self.dtype)
        points *= self.scale.astype(self.dtype)
        if self.labels is None:
            return points
        return np.hstack([points, self.labels.vectors[indices].astype(self.dtype)])


def known_median(X: Array) -> Array:
    """Return the median (d,) of the known values of each column, zero if there is none.

    Examples
    --------
    >>> known_median(np.array([[1.0, np.nan], [3.0, np.nan], [np.nan, np.nan]]))
    array([2., 0.])
    """
    known = ~np.isnan(X).all(axis=0)
    median = np.zeros(X.shape[1], X.dtype)
    median[known] = np.nanmedian(X[:, known], axis=0)
    return median


def cut_patches(n_samples: int, patch_size: int) -> list[Indices]:
    """Cut ``range(n_samples)`` into patches of nearly equal size, as Hasenfuss 2009, sec. 3.4 does.

    Examples
    --------
    >>> [len(patch) for patch in cut_patches(10, 4)]
    [4, 3, 3]
    """
    n_patches = -(-n_samples // patch_size)
    return np.array_split(np.arange(n_samples), n_patches)
