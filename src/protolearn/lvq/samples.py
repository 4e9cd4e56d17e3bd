"""Training samples with class codes and weights, in memory or in the partitions of a collection.

Both kinds provide sums of functions over their samples through the same interface. A function that is sent to
partitions must not refer to the samples themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial, reduce
from itertools import accumulate, pairwise
from operator import add
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from protolearn.core.initialization import uniform_rows
from protolearn.core.partitions import Columns, Partitions, alone, features, read_partitions
from protolearn.core.samples import Samples
from protolearn.core.threads import HELD, row_blocks
from protolearn.core.types import Array, Bools, Floats, Indices
from protolearn.maps import NeuralGas

if TYPE_CHECKING:
    from protolearn.lvq._start import Frame

__all__ = ["Labeled", "LabeledPartitions"]

T = TypeVar("T")
ENOUGH = 1 << 16  # samples that stand for all others where these are too many to list


@dataclass(frozen=True)
class Labeled:
    """Samples in memory: X (n, N), their class codes y (n,) and weights u (n,). NaN in X stands for a missing value.

    Examples
    --------
    >>> samples = Labeled(np.array([[1.0], [2.0], [4.0]]), np.array([0, 1, 1]), np.ones(3))
    >>> samples.sum(lambda part: part.u @ part.X), samples.counts(2)
    (array([7.]), array([1, 2]))
    """

    X: Floats
    y: Indices
    u: Floats

    n_jobs = 1  # threads of what learns from members of a class

    def __len__(self) -> int:
        return len(self.X)

    @property
    def n_features(self) -> int:
        """Number of features, or of coordinates."""
        return self.X.shape[1]

    @property
    def mass(self) -> float:
        """Return the weight of all samples."""
        return float(self.u.sum())

    @property
    def missing(self) -> bool:
        """Return whether values are missing."""
        return bool(np.isnan(self.X).any())

    @property
    def codes(self) -> Indices:
        """Return the class codes of all samples."""
        return self.y

    @property
    def listed(self) -> Labeled:
        """Return all samples, which are in memory."""
        return self

    def counts(self, n_classes: int) -> Indices:
        """Return the number of samples of each class."""
        return np.bincount(self.y, minlength=n_classes)

    def masses(self, n_classes: int) -> Floats:
        """Return the weight of each class."""
        return np.bincount(self.y, self.u, n_classes).astype(np.float64)

    def entered(self, frame: Frame) -> Labeled:
        """Return the samples in other coordinates."""
        return replace(self, X=frame.enter(self.X))

    def take(self, rows: Any) -> Labeled:
        """Return some of the samples."""
        return Labeled(self.X[rows], self.y[rows], self.u[rows])

    def thinned(self, most: int) -> Labeled:
        """Return every sample, or every other, or every third, and so on: less than twice as many as ``most``."""
        return self.take(slice(None, None, max(1, len(self) // most)))

    def sum(self, function: Callable[[Labeled], T]) -> T:
        """Return the sum of a function over the samples."""
        return function(self)

    def gather(self, function: Callable[[Labeled], tuple[Array, ...]]) -> tuple[Array, ...]:
        """Return the values of a function for each sample."""
        return function(self)

    def sent(self, model: T) -> T:
        """Return a model as functions of samples may refer to it."""
        return model

    def members(self, code: int, values: Floats) -> tuple[Floats, Floats]:
        """Return the samples of a class, with these values where theirs are missing, and their weights."""
        mine = self.take(self.y == code)
        return np.where(np.isnan(mine.X), values, mine.X), mine.u

    def third(self, code: int, rng: np.random.RandomState) -> Labeled:
        """Return samples of which those of a class are a random third of these."""
        return self.take(_third(self.y, code, rng))


@dataclass(frozen=True)
class LabeledPartitions:
    """Training samples in partitions.

    Parameters
    ----------
    parts : Partitions
        The samples, with class codes as labels.
    factors : array of shape (C,)
        Factor by which the weights of each class are multiplied.
    totals : array of shape (2, C)
        Number and weight of the samples of each class.
    frame : Frame, optional
        Coordinates of the samples that functions receive; by default those of the features.
    chosen : callable, optional
        Function that selects some of a range of consecutive samples; by default all.

    Examples
    --------
    >>> import dask.array as da
    >>> from protolearn import GMLVQ
    >>> from protolearn.core.partitions import ClassReader
    >>> X = da.from_array(np.arange(8.0)[:, None], chunks=(3, 1))
    >>> parts = read_partitions(GMLVQ(), X, X[:, 0] > 3, reset=True, supervised=True, kind=ClassReader)
    >>> samples = LabeledPartitions.of(parts, lambda counts, masses: np.ones(2))
    >>> samples.sum(lambda part: part.u @ part.X), samples.counts(2)
    (array([28.]), array([4, 4]))
    """

    parts: Partitions
    factors: Floats
    totals: Floats
    frame: Frame | None = None
    chosen: Callable[[slice], Bools] | None = None

    @classmethod
    def of(cls, parts: Partitions, factors_of: Callable[[Indices, Floats], Floats]) -> LabeledPartitions:
        """Return all samples of partitions, given factors as a function of number and weight of each class."""
        n_classes = len(parts.classes)
        plain = cls(parts, np.ones(n_classes), np.zeros((2, n_classes)))
        counts, masses = plain._totals()
        factors = factors_of(counts.astype(np.int64), masses)
        return replace(plain, factors=factors, totals=np.stack([counts, factors * masses]))

    def __len__(self) -> int:
        return int(self.totals[0].sum())

    @property
    def n_features(self) -> int:
        """Number of features, or of coordinates."""
        axes = None if self.frame is None else self.frame.axes
        return self.parts.n_features if axes is None else axes.shape[1]

    @property
    def n_jobs(self) -> int | None:
        """Return the number of threads, if tasks run on those of this process."""
        return self.parts.n_jobs

    @property
    def mass(self) -> float:
        """Return the weight of all samples."""
        return float(self.totals[1].sum())

    @property
    def missing(self) -> bool:
        """Return whether values are missing."""
        return self.parts.missing

    @property
    def codes(self) -> Indices:
        """Return the class codes of all samples, which must not be too many to list."""
        if not self.parts.listed:
            raise ValueError(
                f"early_stopping=True holds out some of {len(self.parts):,} samples, too many to list; use "
                "early_stopping='train'."
            )
        (codes,) = self.gather(lambda part: (part.y,))
        return codes

    def counts(self, n_classes: int) -> Indices:
        """Return the number of samples of each class."""
        return self.totals[0].astype(np.int64)

    def masses(self, n_classes: int) -> Floats:
        """Return the weight of each class."""
        return self.totals[1]

    @property
    def sizes(self) -> list[int]:
        """Return the number of samples in each partition."""
        present = self.parts.survey.present
        if self.chosen is None:
            return list(present)
        return [int(self.chosen(slice(a, b)).sum()) for a, b in pairwise(accumulate(present, initial=0))]

    @property
    def listed(self) -> LabeledPartitions:
        """Return all samples, or some if they are too many to list."""
        return self if self.parts.listed else self.thinned(ENOUGH)

    def entered(self, frame: Frame) -> LabeledPartitions:
        """Return the samples in other coordinates."""
        return replace(self, frame=frame)

    def take(self, rows: Indices) -> LabeledPartitions:
        """Return some of the samples."""
        mask = np.zeros(len(self.parts), bool)
        mask[rows if self.chosen is None else np.flatnonzero(self.chosen(slice(0, len(mask))))[rows]] = True
        taken = replace(self, chosen=partial(_unpacked, np.packbits(mask)))
        return replace(taken, totals=taken._totals())

    def thinned(self, most: int) -> LabeledPartitions:
        """Return every sample, or every other, or every third, and so on: less than twice as many as ``most``."""
        step = max(1, len(self) // most)
        if self.chosen is None:
            return replace(self, chosen=partial(_every, step))
        return self.take(np.arange(0, len(self), step))

    def sum(self, function: Callable[[Labeled], T]) -> T:
        """Return the sum of a function over the samples, computed block by block."""
        return self.parts.sum(partial(_summed, self._view(), function))

    def gather(self, function: Callable[[Labeled], tuple[Array, ...]]) -> tuple[Array, ...]:
        """Return the values of a function for each sample."""
        return self.sum(lambda part: Columns(function(part))).columns

    def sent(self, model: T) -> T:
        """Return a model as functions of samples may refer to it."""
        return alone(model)

    def relay(self, function: Callable[[T, Labeled], T], state: T, rng: np.random.RandomState) -> T:
        """Pass a state from partition to partition, in random order; a function updates it with the samples of each."""
        return self.parts.relay(partial(_relayed, self._view(), function), state, rng)

    def members(self, code: int, values: Floats) -> tuple[Any, Any]:
        """Return samples, lazily, with these values where theirs are missing, and weights, those of other classes 0.

        If there are too many to list, return a random choice of the class in memory.
        """
        points = self.parts.lazily(partial(_points, self.frame, values), np.empty((0, self.n_features)))
        firsts = [*accumulate(self.parts.survey.present, initial=0)]
        of_class = partial(_of_class, self.parts.classes[code], float(self.factors[code]), self.chosen, firsts)
        masses = self.parts.lazily(of_class, np.empty(0))
        if self.parts.listed:
            return points, masses
        some = read_partitions(NeuralGas(), points, None, masses, reset=True).sampled(ENOUGH)
        return some.X, some.weights

    def third(self, code: int, rng: np.random.RandomState) -> LabeledPartitions:
        """Return samples of which those of a class are a random third of these."""
        if self.parts.listed:
            return self.take(_third(self.codes, code, rng))
        return replace(self, chosen=partial(_drawn, int(rng.randint(2**31)), 1.0 / 3.0))

    def _view(self) -> View:
        """Return how samples are seen where they are."""
        return partial(_labeled, self.frame, self.factors, self.chosen)

    def _totals(self) -> Floats:
        """Return number and weight (2, C) of the samples of each class."""
        n_classes = len(self.factors)
        return self.sum(lambda part: np.stack([np.bincount(part.y, u, n_classes) for u in (None, part.u)]))


TrainingSamples = Labeled | LabeledPartitions
View = Callable[[Samples, int, slice], Labeled]


def _third(y: Indices, code: int, rng: np.random.RandomState) -> Indices:
    """Return the rows of a random third of a class."""
    rows = np.flatnonzero(y == code)
    return rows[rng.choice(len(rows), max(1, len(rows) // 3), replace=False)]


# What says which of consecutive samples are chosen


def _every(step: int, rows: slice) -> Bools:
    return np.arange(rows.start, rows.stop) % step == 0


def _unpacked(bits: Array, rows: slice) -> Bools:
    return np.unpackbits(bits)[rows].astype(bool)


def _drawn(seed: int, share: float, rows: slice) -> Bools:
    return uniform_rows(seed, rows) < share


# What runs where partitions are


def _labeled(frame: Frame | None, factors: Floats, chosen: Any, samples: Samples, first: int, rows: slice) -> Labeled:
    """Return some rows of a partition whose first sample is this one among all."""
    at = rows
    if chosen is not None:
        at = rows.start + np.flatnonzero(chosen(slice(first + rows.start, first + rows.stop)))
    X, y = samples.X[at].astype(np.float64), samples.labels[at]
    return Labeled(X if frame is None else frame.enter(X), y, samples.weights[at] * factors[y])


def _summed(view: View, function: Callable[[Labeled], Any], samples: Samples, first: int) -> Any:
    blocks = row_blocks(len(samples), 8 * samples.n_features, HELD)
    return reduce(add, (function(view(samples, first, rows)) for rows in blocks))


def _relayed(view: View, function: Callable[[Any, Labeled], Any], state: Any, samples: Samples, first: int) -> Any:
    return function(state, view(samples, first, slice(0, len(samples))))


def _points(frame: Frame | None, values: Floats, X: Any, y: Any, weights: Any, block_id: tuple[int]) -> Floats:
    rows = features(X, np.float64)
    points = rows if frame is None else frame.enter(rows)
    return np.where(np.isnan(points), values, points)


def _of_class(
    label: Any,
    factor: float,
    chosen: Callable[[slice], Bools] | None,
    firsts: list[int],
    X: Any,
    y: Any,
    weights: Any,
    block_id: tuple[int],
) -> Floats:
    given = np.ones(len(y)) if weights is None else np.asarray(weights, np.float64)
    masses = np.where(np.asarray(y) == label, factor * given, 0.0)
    if chosen is not None:
        masses[given > 0] *= chosen(slice(firsts[block_id[0]], firsts[block_id[0] + 1]))
    return masses
