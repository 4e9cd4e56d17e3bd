"""Samples in the partitions of a Dask collection, each read on demand on the worker that stores it.

A function is sent to the partitions, and what it returns is added up in a tree whose shape depends on the number of
partitions only. So a result depends neither on how many workers there are nor on who finished first, and what travels
are prototypes in one direction and sums in the other. Dask decides where tasks run: on the threads of this process, or
on the workers of a cluster if a client is active. Everything here imports Dask when it is called with one of its
collections, and never before.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, partial, reduce, wraps
from operator import add
from typing import Any, TypeVar, cast
from uuid import uuid4

import numpy as np
from joblib import effective_n_jobs
from sklearn import get_config
from sklearn.utils.validation import validate_data

from protolearn.core.initialization import drawn_points
from protolearn.core.learning import Recipe, condense, learn, merge
from protolearn.core.numerics import flushed
from protolearn.core.samples import Samples, all_labels, known_labels, over_classes, refuse_unlabeled
from protolearn.core.sources import ArraySource, Chunk, LabelMoments, PointSource, known_median
from protolearn.core.threads import chunk_threads
from protolearn.core.types import Array, Bools, Floats, Indices
from protolearn.core.validation import (
    check_range,
    check_weights,
    hinted,
    is_collection,
    largest_value,
    refuse_far_weights,
)

__all__ = [
    "BlockReader",
    "ClassReader",
    "ObjectPartitions",
    "PartitionError",
    "PartitionedSource",
    "Partitions",
    "Reader",
    "averaged",
    "blockwise",
    "read_objects",
    "read_partitions",
]

T = TypeVar("T")
P = TypeVar("P", bound="Partitions")
Method = TypeVar("Method", bound=Callable[..., Any])
MOST_LISTED = 1 << 20  # samples of which a number each may be collected; beyond that a sample has to do
N_EXAMPLES = 1024  # samples from which the origin of coordinates is found
ARITY = 8  # sums that are added in one task


class PartitionError(ValueError):
    """Error about a partition that cannot be used, with the reason.

    Examples
    --------
    >>> raise PartitionError.at(17, "contains NaN")
    Traceback (most recent call last):
    ...
    protolearn.core.partitions.PartitionError: Partition 17 of X contains NaN.
    """

    @classmethod
    def at(cls, number: int, problem: object) -> PartitionError:
        """Return the error of one of the partitions."""
        return cls(f"Partition {number} of X {str(problem).rstrip('.')}.")


@dataclass(frozen=True)
class Reader:
    """How the blocks of a partition become samples: those that have a weight.

    Parameters
    ----------
    dtype : dtype
        Precision of the samples.
    project : callable, optional
        What the estimator sees of rows (c, d); the rows themselves by default.
    classes : array of shape (C,), optional
        The classes, if labels count.
    factor : float, default=1.0
        Factor on weights.
    values : array of shape (d,), optional
        What stands where values are missing.

    Examples
    --------
    >>> reader = Reader(np.dtype(np.float64), classes=np.array(["a", "b"]))
    >>> samples = reader(np.array([[1], [2], [3]]), np.array(["b", "a", "b"]), np.array([1.0, 0.0, 2.0]))
    >>> samples.X.ravel(), samples.labels
    (array([1., 3.]), array([[0., 1.],
           [0., 1.]]))
    """

    dtype: np.dtype[Any]
    project: Callable[[Array], Array] | None = None
    classes: Any = None
    factor: float = 1.0
    values: Array | None = None

    def __call__(self, X: Any, y: Any, weights: Any) -> Samples:
        """Return the samples of a partition, of its rows, labels and weights, or None for those."""
        rows = self.rows(X)
        given = np.ones(len(rows)) if weights is None else np.asarray(weights, np.float64)
        labels = None if self.classes is None else self.labels(np.asarray(y), given > 0)
        samples = Samples(rows, given * self.factor, labels, self.classes).present()
        return samples if self.values is None else samples.filled_by(self.values)

    def found(self, y: Array, here: Bools) -> tuple[Bools, Array]:
        """Say which labels of a partition are known, and which classes there are; samples are those ``here``."""
        known, given = known_labels(y)
        return known, np.unique(given)

    def labels(self, y: Array, here: Bools) -> Array:
        """Return the labels of a partition as samples have them: vectors (n, C)."""
        known, given = known_labels(y)
        vectors = np.zeros((len(y), len(self.classes)), self.dtype)
        vectors[np.flatnonzero(known), np.searchsorted(self.classes, given)] = 1.0
        return vectors

    def rows(self, X: Any) -> Array:
        """Return all rows of a partition."""
        rows = features(X, self.dtype)
        if self.project is None:
            return rows
        return self.project(rows) if len(rows) else self.project(np.zeros((1, rows.shape[1]), self.dtype))[:0]


class ClassReader(Reader):
    """A reader for classifiers: every sample has a class; labels are codes (n,).

    Examples
    --------
    >>> reader = ClassReader(np.dtype(np.float64), classes=np.array([-1, 5]))
    >>> reader(np.array([[1], [2], [3]]), np.array([5, 7, -1]), np.array([1.0, 0.0, 2.0])).labels
    array([1, 0])
    """

    def found(self, y: Array, here: Bools) -> tuple[Bools, Array]:
        """Say that all labels of a partition are known, and which classes its samples, those ``here``, have."""
        labels = all_labels(y, "a classifier")
        return np.ones(len(labels), bool), np.unique(labels[here])

    def labels(self, y: Array, here: Bools) -> Array:
        """Return the class codes (n,) of a partition; 0 for what is no sample."""
        codes = np.zeros(len(y), np.int64)
        codes[here] = np.searchsorted(self.classes, all_labels(y, "a classifier")[here])
        return codes


@dataclass(frozen=True, kw_only=True)
class BlockReader(Reader):
    """How the blocks of a partition become objects with weights and labels.

    Parameters
    ----------
    read : callable
        Gives the objects of a block, which can be counted, indexed and joined, and know their numbers.
    **options : object
        Options of `Reader`.

    Examples
    --------
    >>> reader = BlockReader(np.dtype(np.float64), read=np.array)
    >>> samples = reader(["kitten", "mitten"], None, [0.0, 2.0])
    >>> samples.X.tolist(), samples.weights
    (['mitten'], array([2.]))
    """

    read: Callable[[Any], Any]

    def rows(self, X: Any) -> Any:
        """Return all objects of a partition."""
        return self.read(X) if len(X) else []


def features(X: Any, dtype: Any) -> Array:
    """Return the rows of an array or data frame."""
    return X.to_numpy(dtype, na_value=np.nan) if hasattr(X, "columns") else np.asarray(X, dtype)


@dataclass(frozen=True)
class Survey:
    """What is known of partitions after they were read for the first time.

    How many ``rows`` each has, and how many of them have a weight; the total and the largest weight; the largest value;
    the classes; the sums and numbers of known values of each feature; some rows as examples.
    """

    rows: tuple[int, ...]
    present: tuple[int, ...]
    mass: float
    heaviest: float
    labeled: float
    largest: float
    classes: Any
    known: Floats
    examples: Array

    def __add__(self, other: Survey) -> Survey:
        heaviest, largest = max(self.heaviest, other.heaviest), max(self.largest, other.largest)
        examples = np.concatenate([self.examples, other.examples])
        added = {
            part.name: getattr(self, part.name) + getattr(other, part.name)
            for part in fields(self)
            if part.name in ("rows", "present", "mass", "labeled", "known")
        }
        classes = _united(self.classes, other.classes)
        return Survey(**added, heaviest=heaviest, largest=largest, classes=classes, examples=examples)


NOTHING = Survey((), (), 0.0, 0.0, 0.0, 0.0, None, np.zeros((2, 0)), np.empty((0, 0)))


def _united(one: Any, other: Any) -> Any:
    """Return all classes of two sets, which have to be of one kind."""
    if one is None or not len(one) or not len(other):
        return other if one is None or not len(one) else one
    if (one.dtype.kind in "biuf") != (other.dtype.kind in "biuf"):
        raise PartitionError(f"Classes are {one.tolist()} in some partitions of y and {other.tolist()} in others.")
    return np.union1d(one, other)


def surveyed(
    reader: Reader,
    finite: bool | str,
    supervised: bool,
    n_examples: int,
    n_features: int,
    number: int,
    X: Any,
    y: Any,
    weights: Any,
) -> Survey:
    """Read a partition for the first time; raise an error if it cannot be learned from."""
    if np.shape(X)[1:] != (n_features,):
        raise PartitionError.at(number, f"has blocks of shape {np.shape(X)}, and X has {n_features} columns")
    given, counted = counted_rows(reader, supervised, number, X, y, weights)
    rows = reader.rows(X)
    gaps = _checked(rows, finite, number)
    here = given > 0
    seen, gaps = (rows, gaps) if here.all() else (rows[here], gaps[here])
    known_rows = np.where(gaps, 0.0, seen) if gaps.any() else seen
    return replace(
        counted,
        largest=largest_value(rows) if len(rows) else 0.0,
        known=np.vstack([known_rows.sum(axis=0, dtype=np.float64), len(seen) - gaps.sum(axis=0)]),
        examples=seen[:: max(1, len(seen) // n_examples)].copy(),
    )


def counted_rows(reader: Reader, supervised: bool, number: int, X: Any, y: Any, weights: Any) -> tuple[Floats, Survey]:
    """Return the weights of the rows or objects of a partition, and what these and labels say of it."""
    for name, part in (("y", y), ("sample_weight", weights)):
        if part is not None and len(part) != len(X):
            raise PartitionError.at(number, f"has {len(X)} rows, and that of {name} has {len(part)}")
    given = np.ones(len(X)) if weights is None else np.asarray(weights, np.float64)
    if given.any():
        check_weights(given, len(X), np.float64)
    known, classes = reader.found(np.asarray(y), given > 0) if supervised else (np.zeros(len(X), bool), None)
    return given, Survey(
        rows=(len(X),),
        present=(int(np.count_nonzero(given)),),
        mass=float(given.sum()),
        heaviest=float(given.max(initial=0.0)),
        labeled=float(given[known].sum()),
        largest=0.0,
        classes=classes,
        known=np.zeros((2, 0)),
        examples=np.empty((0, 0)),
    )


def _checked(rows: Array, finite: bool | str, number: int) -> Bools:
    """Return where values of rows are missing, if they may be."""
    gaps = np.isnan(rows)
    if np.isinf(rows).any():
        raise PartitionError.at(number, f"contains infinity, in row {int(np.isinf(rows).any(axis=1).argmax())} of it")
    if gaps.any() and finite is True:
        row = int(gaps.any(axis=1).argmax())
        raise PartitionError.at(number, f"contains NaN, in row {row} of it; fill such values in, or drop the rows")
    if gaps.all(axis=1).any():
        raise PartitionError.at(number, f"has no known value in row {int(gaps.all(axis=1).argmax())} of it; drop it")
    return gaps


@dataclass(frozen=True)
class Partitions:
    """Samples in partitions, for whoever takes `Samples`.

    Parameters
    ----------
    blocks : sequence of (X, y, weights)
        The delayed blocks of each partition; None for labels and weights that are not given.
    reader : Reader
        How blocks become samples.
    survey : Survey
        What is known of them.
    collections : tuple of (X, y, weights)
        The collections that blocks are of. While they are here, what was persisted stays in memory.
    past : Samples, optional
        Samples in memory that follow those of the partitions, such as prototypes that stand for earlier ones.
    n_jobs : int, optional
        Number of threads, if tasks run on those of this process.

    Examples
    --------
    >>> import dask.array as da
    >>> from protolearn import KMeans
    >>> from protolearn.core.partitions import read_partitions
    >>> samples = read_partitions(KMeans(), da.from_array([[0.0], [1.0], [2.0]], chunks=(2, 1)), reset=True)
    >>> samples.description, samples.sum(lambda part, first: part.X.sum(axis=0)).tolist()
    ('3 samples in 2 partitions', [3.0])
    """

    blocks: Sequence[tuple[Any, Any, Any]]
    reader: Reader
    survey: Survey
    collections: tuple[Any, Any, Any]
    past: Samples | None = None
    n_jobs: int | None = field(default=None, kw_only=True)
    in_memory = False
    adds = True  # whether what a map needs to know of partitions are sums
    arity = ARITY  # partitions whose models are merged in one task

    def __len__(self) -> int:
        return sum(self.survey.present) + (0 if self.past is None else len(self.past))

    @property
    def listed(self) -> bool:
        """Say whether samples are few enough to collect a number for each; of more, a random choice has to do."""
        return len(self) <= MOST_LISTED

    @property
    def description(self) -> str:
        """Say how many samples there are, for whoever follows the training."""
        beyond = "" if self.listed else "; what is no sum is taken from a sample of them"
        return f"{len(self):,} samples in {len(self.blocks)} partitions{beyond}"

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self.survey.examples.shape[1]

    @property
    def dtype(self) -> np.dtype[Any]:
        """Return the type of the features."""
        return self.survey.examples.dtype

    @property
    def classes(self) -> Any:
        """Return the classes, None if labels do not count."""
        return self.reader.classes

    @property
    def supervised(self) -> bool:
        """Return whether labels are used."""
        return self.classes is not None

    @property
    def mass(self) -> float:
        """Return the weight of all samples."""
        mass = self.reader.factor * self.survey.mass
        return mass if self.past is None else mass + float(self.past.weights.sum(dtype=np.float64))

    @property
    def heaviest(self) -> float:
        """Return the largest weight."""
        heaviest = self.reader.factor * self.survey.heaviest
        return heaviest if self.past is None else max(heaviest, self.past.heaviest)

    @property
    def missing(self) -> bool:
        """Return whether some values are missing."""
        return bool((self.survey.known[1] < sum(self.survey.present)).any())

    @property
    def origin(self) -> Floats:
        """Return the median of what is known of the examples."""
        return known_median(self.survey.examples)

    @cached_property
    def label_moments(self) -> LabelMoments:
        """Return the sums over known labels."""
        return self.sum(lambda samples, first: samples.label_moments)

    # The same samples in another light

    def present(self) -> Partitions:
        """Return the samples that have a weight: no others are read."""
        return self

    def joined(self, other: Samples) -> Partitions:
        """Append samples in memory."""
        past = other if self.past is None else self.past.joined(other)
        if not self.supervised:
            return replace(self, past=past)
        classes = _united(self.classes, past.classes)
        labels = over_classes(past.labels, past.classes, classes).astype(self.dtype)
        return replace(
            self, reader=replace(self.reader, classes=classes), past=replace(past, labels=labels, classes=classes)
        )

    def weighted(self, factor: float) -> Partitions:
        """Return the samples with their weights multiplied."""
        past = None if self.past is None else self.past.weighted(factor)
        return replace(self, reader=replace(self.reader, factor=factor * self.reader.factor), past=past)

    def unlabeled(self) -> Partitions:
        """Return the samples without labels."""
        past = None if self.past is None else self.past.unlabeled()
        return replace(self, reader=replace(self.reader, classes=None), past=past)

    def without_spreads(self) -> Partitions:
        """Return the samples as if all stood for themselves only."""
        return self if self.past is None else replace(self, past=self.past.without_spreads())

    def filled(self) -> Partitions:
        """Return samples with the mean of a feature where its value is missing, if any is."""
        if not self.missing:
            return self
        sums, counts = self.survey.known
        if self.past is not None:
            sums, counts = sums + self.past.X.sum(axis=0, dtype=np.float64), counts + len(self.past)
        values = (sums / np.maximum(counts, 1)).astype(self.dtype)
        past = None if self.past is None else self.past.filled_by(values)
        return replace(self, reader=replace(self.reader, values=values), past=past)

    def parted(self, n_new: int) -> tuple[Partitions, Any]:
        """Return the samples of the partitions, and those that follow them."""
        return replace(self, past=None), () if self.past is None else self.past

    def source(self, **options: Any) -> PartitionedSource:
        """Return the samples as a loop reads them; for the options see `ArraySource`."""
        return PartitionedSource(self, **options)

    # What is computed where the partitions are

    def sum(self, function: Callable[[Samples, int], T]) -> T:
        """Add up what a function makes of the samples of each partition, and of the number of those before them."""
        total = self._total([self._task(partial(_applied, function, first), n) for n, first in self._firsts()])
        if self.past is None or not len(self.past):
            return total
        last = function(self.past, sum(self.survey.present))
        return last if total is None else total + last

    def relay(self, function: Callable[[T, Samples, int], T], state: T, rng: np.random.RandomState) -> T:
        """Hand a state on from partition to partition, in random order.

        The function changes it by the samples of a partition, given the number of those before them. One partition at
        a time is read.
        """
        for number, first in rng.permutation(self._firsts()).tolist():
            (state,) = self._computed([self._task(partial(_applied, partial(function, state), first), number)])
        return state

    def take(self, indices: Indices) -> Samples:
        """Return some samples, in this order, in memory."""
        bounds = np.cumsum([0, *self.survey.present])
        owners = np.searchsorted(bounds, indices, side="right") - 1
        tasks = [
            self._task(partial(_taken, indices[owners == n] - bounds[n]), n)
            for n in np.unique(owners[owners < len(self.blocks)]).tolist()
        ]
        parts = self._computed(tasks) if tasks else []
        if self.past is not None:
            parts.append(replace(self.past.without_spreads().take(indices[indices >= bounds[-1]] - bounds[-1])))
        order = np.argsort(np.argsort(owners, kind="stable"), kind="stable")
        return reduce(_appended, parts).take(order)

    def table(self, rows: Array) -> Any:
        """Return rows in memory as the collection has them: in a data frame, if it is one."""
        columns = getattr(self.collections[0], "columns", None)
        return rows if columns is None else _frame(rows, list(columns))

    def labels_at(self, indices: Indices) -> Array:
        """Return the labels of some rows, in rising order, as they were given."""
        bounds = np.cumsum([0, *self.survey.rows])
        owners = np.searchsorted(bounds, indices, side="right") - 1
        tasks = [
            _delayed(partial(_values_at, indices[owners == n] - bounds[n]), n, self.blocks[n][1])
            for n in np.unique(owners).tolist()
        ]
        return np.concatenate(self._computed(tasks))

    def sampled(self, most: int) -> Samples:
        """Return at most so many samples in memory, the same ones in every call: all, or a random choice of them."""
        source = self.unlabeled().source()
        points, weights = drawn_points(source, most, np.random.RandomState(0))
        return Samples((points + source.origin).astype(self.dtype), weights)

    def assigned(self, find: Callable[[Samples], tuple[Indices, ...]], total: Callable[..., T]) -> tuple[Any, T]:
        """Return the first of what ``find`` says of each row, as a lazy array, and what ``total`` adds up of it all."""
        return self.each(lambda samples: find(samples)[0], np.int64), self.sum(partial(_assigned, find, total))

    def each(self, function: Callable[[Samples], Array], dtype: Any) -> Any:
        """Return what a function says of each row, with or without a weight, as a lazy Dask array (n,)."""
        unweighted = replace(self.reader, classes=None, values=None)
        return self._lazy_rows(partial(label_block, unweighted, function, dtype), np.empty(0, dtype))

    def by_method(self, estimator: Any, name: str) -> Any:
        """Return what a method of a fitted estimator makes of each row, as a lazy Dask array."""
        example = np.asarray(getattr(estimator, name)(self.table(self.survey.examples[:1])))[:0]
        return self._lazy_rows(partial(method_block, alone(estimator), name, (), {}, None, example), example)

    def _lazy_rows(self, block: Callable[[Any], Array], example: Array) -> Any:
        X = self.collections[0]
        blocks = [block[:1] for block in self.blocks] if hasattr(X, "divisions") else _lasting_blocks(X)
        return _joined(blocks, block, example, self.survey.rows)

    def lazily(self, function: Callable[..., Array], example: Array) -> Any:
        """Return what a function makes of rows, labels and weights of each partition, as a lazy array like the example.

        The function has to take the number of the partition as well, ``block_id=(number,)``.
        """
        return _joined(self.blocks, function, example, self.survey.rows)

    def emphasized(self, log_factors: Callable[[Samples], Floats]) -> Partitions:
        """Return samples with weights times the exponential of what a function says of each, the largest of them one.

        These are computed once, and kept where the partitions are.
        """
        import dask

        reader = replace(self.reader, classes=None, factor=1.0)
        logs = dask.persist(
            *(_delayed(partial(_logs, reader, log_factors), n, *block) for n, block in enumerate(self.blocks)),
            **self._threads(),
        )
        top = max(self._computed([_delayed(_highest, n, part) for n, part in enumerate(logs)]))
        late = None if self.past is None else log_factors(self.past)
        top = top if late is None else max(top, float(late.max()))
        weights = [_delayed(partial(_factors, top), n, part) for n, part in enumerate(logs)]
        blocks = [(X, y, new) for (X, y, _), new in zip(self.blocks, weights)]
        past = None if self.past is None else self.past.weighted(flushed(np.exp(late - top), np.float32))
        found = self._computed([_delayed(_weighed, n, part) for n, part in enumerate(weights)])
        counts, masses, peaks = zip(*found)
        survey = replace(self.survey, present=tuple(counts), mass=sum(masses), heaviest=max(peaks))
        return replace(self, blocks=blocks, survey=survey, past=past)

    def condensed(self, recipe: Recipe, patch_size: int, rng: np.random.RandomState) -> Any:
        """Return the model of a map that each partition learns patch by patch, and that are merged in a tree.

        Only what stands for the samples of a partition travels. Prototypes depend on where partitions begin.
        """
        recipe = replace(recipe, kind=recipe.kind.condensing())
        level = [
            self._task(partial(_condensed, recipe, patch_size, rng.randint(2**31)), n)
            for n, size in enumerate(self.survey.present)
            if size
        ]
        while len(level) > 1:
            groups = [level[n : n + self.arity] for n in range(0, len(level), self.arity)]
            level = [
                _delayed(partial(_merged, recipe, rng.randint(2**31)), n, *group) for n, group in enumerate(groups)
            ]
        (fitted,) = self._computed(level)
        if isinstance(fitted, Samples):  # too few in all partitions together
            return learn(recipe, fitted, None, rng, 1)
        return fitted

    # Tasks

    def _firsts(self) -> list[tuple[int, int]]:
        """Return number and first row of each partition that has samples."""
        bounds = np.cumsum([0, *self.survey.present]).tolist()
        return [(n, bounds[n]) for n, size in enumerate(self.survey.present) if size]

    def _task(self, function: Callable[[Samples], Any], number: int) -> Any:
        """Return the task that applies a function to the samples of a partition."""
        return _named_task(partial(_read_and, self.reader, function), number, *self.blocks[number])

    def _total(self, tasks: list[Any]) -> Any:
        """Add up the results of tasks, by a tree in the order of the partitions."""
        level = tasks
        while len(level) > 1:
            groups = [level[n : n + ARITY] for n in range(0, len(level), ARITY)]
            level = [_delayed(_added, n, *group) for n, group in enumerate(groups)]
        (total,) = self._computed(level) if level else (None,)
        if isinstance(total, PartitionError):
            raise total
        return total

    def _computed(self, tasks: list[Any]) -> list[Any]:
        """Return the results of tasks; a partition that cannot be read is named."""
        import dask

        try:
            return list(dask.compute(*tasks, **self._threads()))
        except PartitionError:
            raise
        except Exception as error:
            if not type(error).__module__.startswith("distributed"):
                self._name_unreadable()
            raise

    def _name_unreadable(self) -> None:
        """Raise an error that names the first partition that cannot be computed, if there is one."""
        import dask

        for number, block in enumerate(self.blocks):
            try:
                dask.compute(_delayed(_nothing, number, *block), **self._threads())
            except Exception as error:
                problem = f"cannot be read, which a persisted one is only while its client is open: {error}"
                raise PartitionError.at(number, problem) from error

    def _threads(self) -> dict[str, int]:
        return {} if self.n_jobs is None else {"num_workers": effective_n_jobs(self.n_jobs)}


class ObjectPartitions(Partitions):
    """Objects in partitions, each of which is learned by itself and condensed to a few objects that stand for it.

    Examples
    --------
    >>> import dask.bag as db
    >>> import numpy as np
    >>> from protolearn.core.partitions import read_objects
    >>> words = read_objects(db.from_sequence(["kitten", "mitten", "sitting"], npartitions=3), read=np.array)
    >>> len(words), words.survey.rows
    (3, (1, 1, 1))
    """

    adds = False
    arity = 2  # dissimilarities of all objects that meet in a task are needed, so these are no more than of a patch

    def condensed(self, recipe: Recipe, patch_size: int | None, rng: np.random.RandomState) -> Any:
        """Return the model of a map; without a size of patches, partitions are the patches."""
        return super().condensed(recipe, patch_size or max(self.survey.present), rng)

    def _task(self, function: Callable[[Samples], Any], number: int) -> Any:
        return super()._task(partial(_numbered, function, self._bounds[number], self._bounds[-1]), number)

    @cached_property
    def _bounds(self) -> list[int]:
        """Return the number of objects before each partition, and of all."""
        return np.cumsum([0, *self.survey.rows]).tolist()


class PartitionedSource(PointSource):
    """Samples in partitions as a loop reads them: an `ArraySource` in each, all with the same coordinates.

    Parameters
    ----------
    samples : Partitions
        The samples.
    origin : array of shape (d,), optional
        Where coordinates are measured from; by default the median of a few samples.
    n_threads : int, default=1
        It has no effect: partitions are spread over threads or workers, and each is read by one.
    keep : bool, default=False
        It has no effect: partitions are read whenever they are needed. Those of a collection that was persisted are in
        memory.
    **options : dict
        Further options of `ArraySource`.

    Examples
    --------
    >>> import dask.array as da
    >>> from protolearn import KMeans
    >>> from protolearn.core.partitions import read_partitions
    >>> samples = read_partitions(KMeans(), da.from_array([[0.0], [1.0], [2.0]], chunks=(2, 1)), reset=True)
    >>> source = samples.source(origin=[0.0])
    >>> source.sum(lambda chunk: chunk.lifted.sum(axis=0)).tolist()  # of x, 1 and x^2
    [3.0, 3.0, 5.0]
    """

    def __init__(
        self,
        samples: Partitions,
        *,
        origin: Floats | None = None,
        n_threads: int = 1,
        keep: bool = False,
        **options: Any,
    ) -> None:
        self.samples = samples
        self.n_threads = n_threads
        options["origin"] = samples.origin if origin is None else origin
        labels = None
        if samples.supervised:
            labels = np.empty((0, len(samples.classes)), samples.dtype)
            moments = samples.label_moments
            if moments.mass < samples.mass * (1.0 - 1e-12):
                options["mean_label"] = moments.mean
        self.options = options
        empty = ArraySource(np.empty((0, samples.n_features), samples.dtype), labels=labels, keep=False, **options)
        self.dtype, self.n_features, self.n_columns = empty.dtype, empty.n_features, empty.n_columns
        self.n_lifted, self.scale, self.origin = empty.n_lifted, empty.scale, empty.origin
        self.metric, self.mean_label = empty.metric, empty.mean_label
        self.label_weight, self.label_unit, self.partial = empty.label_weight, empty.label_unit, empty.partial
        self.n_samples, self.listed = len(samples), samples.listed

    @property
    def mass(self) -> float:
        """Return the weight of all samples."""
        return self.samples.mass

    @property
    def gappy(self) -> bool:
        """Return whether some values are missing."""
        return self.samples.reader.values is not None

    @property
    def n_single(self) -> int:
        """Number of samples, the first, that stand for themselves only."""
        return self.n_samples - len(self._fat())

    @property
    def single_mass(self) -> float:
        """Return the weight of those that stand for themselves only."""
        return self.mass - float(self._fat().sum(dtype=np.float64))

    def _fat(self) -> Array:
        """Return the weights of samples that stand for others."""
        past = self.samples.past
        return np.empty(0) if past is None or past.spreads is None else past.weights[-len(past.spreads) :]

    @cached_property
    def weights(self) -> Array:  # type: ignore[override]
        """Return the weight of every sample."""
        (weights,) = self.gather(lambda chunk: (chunk.weights,))
        return weights

    def chunk(self, rows: slice) -> Chunk:
        """Collect some rows."""
        start, stop, _ = rows.indices(self.n_samples)
        taken = self.samples.take(np.arange(start, stop))
        return taken.source(**self.options, first=start, keep=False).chunk(slice(None))

    def sum(self, function: Callable[[Any], T], n_prototypes: int = 1, width: int | None = None) -> T:
        """Add ``function(chunk)`` over the chunks of each partition, and the sums of all partitions."""
        return self.samples.sum(partial(_summed, self.options, function, n_prototypes, width))

    def whole(self, function: Callable[[Any], T]) -> T:
        """Return the sum of what a function makes of the samples of each partition."""
        return self.samples.sum(partial(_whole, self.options, function))

    def gather(self, function: Callable[[Any], tuple[Array, ...]], n_prototypes: int = 1) -> list[Array]:
        """Collect results for each sample; for those that are `listed` only."""
        return list(self.samples.sum(partial(_gathered, self.options, function, n_prototypes)).columns)

    def picked(self, indices: Indices) -> Array:
        """Return single samples (m, D), with zeros for a label that is not known, and NaN for a value."""
        return self.samples.take(indices).source(**self.options, keep=False).picked(np.arange(len(indices)))


def read_partitions(
    estimator: Any,
    X: Any,
    y: Any = None,
    sample_weight: Any = None,
    *,
    reset: bool,
    supervised: bool | None = False,
    finite: bool | str = True,
    project: Callable[[Array], Array] | None = None,
    kind: type[Reader] = Reader,
) -> Partitions:
    """Read a Dask array or data frame for the first time, with labels and weights whose partitions are those of it.

    Every partition is read once, and an error is raised for values, weights or labels that cannot be used for training.
    Labels are used with ``supervised=True``; with None they are not used, but remain available.

    Parameters
    ----------
    estimator : estimator
        Estimator that receives the samples.
    X : Dask array or data frame of shape (n, d)
        The samples.
    y, sample_weight : Dask array or column of shape (n,), optional
        Labels and weights.
    reset : bool
        Whether names and number of features are stored instead of compared with the stored ones.
    supervised : bool or None, default=False
        Whether labels count.
    finite : bool or "allow-nan", default=True
        Whether values may be missing.
    project : callable, optional
        What the estimator sees of rows.
    kind : type, default=Reader
        How blocks become samples.

    Returns
    -------
    Partitions
        The samples.

    Examples
    --------
    >>> import dask.array as da
    >>> from protolearn import KMeans
    >>> from protolearn.core.partitions import read_partitions
    >>> X = da.from_array([[0.0], [1.0], [float("nan")]], chunks=(2, 1))
    >>> len(read_partitions(KMeans(), X[:2], reset=True))
    2
    >>> read_partitions(KMeans(), X, reset=True)
    Traceback (most recent call last):
    ...
    protolearn.core.partitions.PartitionError: Partition 1 of X contains NaN, in row 0 of it; fill such values in, or
    drop the rows. KMeans(missing='partial') leaves missing values out of distances.
    """
    example = check_collection(X)
    validate_data(estimator, example, skip_check_array=True, reset=reset)
    dtype = np.dtype(np.float32 if _dtype(example) == np.float32 else np.float64)
    parts = (X, None if supervised is False else y, sample_weight)
    blocks = _blocks(*parts)
    n_jobs = getattr(estimator, "n_jobs", None)
    reader = kind(dtype, project)
    unread = Partitions(blocks, reader, NOTHING, parts, n_jobs=n_jobs)
    n_examples = 1 + N_EXAMPLES // len(blocks)
    with hinted(estimator):
        samples = _read_first(unread, partial(surveyed, reader, finite, bool(supervised), n_examples, example.shape[1]))
    check_range(samples.survey.largest, dtype, samples.n_features)
    return samples


def read_objects(
    X: Any,
    y: Any = None,
    sample_weight: Any = None,
    *,
    read: Callable[[Any], Any],
    supervised: bool = False,
    n_jobs: int | None = None,
) -> ObjectPartitions:
    """Count the objects of a Dask bag, or of any collection, with labels and weights whose partitions are those of it.

    What a partition holds is left to ``read``, see `BlockReader`.

    Parameters
    ----------
    X : Dask collection
        The objects.
    y, sample_weight : Dask array or column of shape (n,), optional
        Labels and weights.
    read : callable
        Gives the objects of a block.
    supervised : bool, default=False
        Whether labels count.
    n_jobs : int, optional
        Number of threads.

    Returns
    -------
    ObjectPartitions
        The objects.

    Examples
    --------
    >>> import dask.bag as db
    >>> import numpy as np
    >>> from protolearn.core.partitions import read_objects
    >>> words = db.from_sequence(["kitten", "mitten", "sitting"], npartitions=3)
    >>> read_objects(words, read=np.array).description
    '3 samples in 3 partitions'
    """
    parts = (X, y if supervised else None, sample_weight)
    reader = BlockReader(np.dtype(np.float64), read=read)
    unread = ObjectPartitions(_blocks(*parts), reader, NOTHING, parts, n_jobs=n_jobs)
    return _read_first(unread, partial(_counted, reader, supervised))


def _read_first(unread: P, look: Callable[..., Survey]) -> P:
    """Return partitions with what a look at each of them says."""
    survey = unread._total(
        [_delayed(partial(_survey, look, n), n, *block) for n, block in enumerate(unread.blocks)],
    )
    if not sum(survey.rows):
        raise ValueError("X has no rows: all of its partitions are empty.")
    if not sum(survey.present):
        raise ValueError("sample_weight sums to zero; give at least one sample a positive weight.")
    refuse_far_weights(survey.heaviest)
    if survey.classes is None:
        return replace(unread, survey=survey)
    refuse_unlabeled(survey.labeled)
    return replace(unread, reader=replace(unread.reader, classes=survey.classes), survey=survey)


def check_collection(X: Any) -> Any:
    """Refuse what is no table of numbers in partitions of rows; return an empty array or data frame of its kind."""
    if not isinstance(getattr(X, "npartitions", None), int) or not hasattr(X, "ndim"):
        raise ValueError(f"X is a {type(X).__name__}; give a Dask array or data frame.")
    if X.ndim != 2:
        raise ValueError(f"X is a Dask {type(X).__name__} of {X.ndim} dimensions; give one of (n_samples, n_features).")
    if not X.shape[1]:
        raise ValueError(f"X is a Dask {type(X).__name__} without columns; give one with at least one feature.")
    if hasattr(X, "columns"):
        if any(hasattr(kind, "fill_value") for kind in X.dtypes):
            raise ValueError(
                "X has sparse columns; make them dense: X.map_partitions(pandas.DataFrame.sparse.to_dense)."
            )
        wrong = [f"{name!r} ({kind})" for name, kind in X.dtypes.items() if getattr(kind, "kind", "O") not in "biuf"]
        if wrong:
            raise ValueError(f"X has columns that are not numbers: {', '.join(wrong)}; encode them, or drop them.")
        return X._meta
    if X.numblocks[1] != 1:
        raise ValueError(
            f"X is cut along its columns, into {X.numblocks[1]} chunks; a partition needs whole rows: use "
            "X.rechunk({1: -1})."
        )
    if isinstance(X._meta, np.ma.MaskedArray):
        raise ValueError("X has masked values; fill them in, or say that they are missing: da.ma.filled(X, np.nan).")
    if X.dtype.kind not in "biuf" or not isinstance(X._meta, np.ndarray):
        raise ValueError(f"X has blocks of type {type(X._meta).__name__}, {X.dtype}; give NumPy arrays of numbers.")
    return np.empty((0, X.shape[1]), X.dtype)


def _dtype(example: Any) -> np.dtype[Any]:
    """Return the common type of an array or data frame."""
    if not hasattr(example, "dtypes"):
        return example.dtype
    return np.result_type(*(getattr(kind, "numpy_dtype", kind) for kind in example.dtypes))


def _blocks(X: Any, y: Any = None, weights: Any = None) -> list[tuple[Any, Any, Any]]:
    """Return the delayed blocks of each partition, None for labels and weights that are not given.

    Those of arrays, and those of data frames, come from one graph, so that a file that they have in common is read
    once, and all are cut alike: Dask joins small files, and how many depends on the columns that are asked for.
    """
    for name, part in (("y", y), ("sample_weight", weights)):
        if part is not None:
            _check_alike(name, part, X)
    given = [part for part in (X, y, weights) if part is not None]
    together = _together(given)
    if together is not None:
        rows = [[pack[place] for place in range(len(given))] for pack in _delayed_blocks(together)]
    else:  # beside another kind of collection, partitions of data frames must stay what they are
        joined = [len(given) == 1 or not hasattr(part, "divisions") for part in given]
        columns = [_delayed_blocks(part, optimize_graph=may_join) for part, may_join in zip(given, joined)]
        rows = list(map(list, zip(*columns)))
    nothing = [place for place, part in enumerate((X, y, weights)) if part is None]
    for row in rows:
        for place in nothing:
            row.insert(place, None)
    return [(X, y, u) for X, y, u in rows]


def _together(parts: list[Any]) -> Any:
    """Return several arrays, or several data frames and columns, as one collection of tuples; None of others."""
    if len(parts) > 1 and all(hasattr(part, "chunks") for part in parts):
        import dask.array as da

        axes = "ij"[: parts[0].ndim]
        indexed = [each for part in parts for each in (part, axes[: part.ndim])]
        meta = np.empty((0,) * len(axes), object)
        return da.blockwise(_packed, axes, *indexed, dtype=object, meta=meta, align_arrays=False)
    if len(parts) > 1 and all(hasattr(part, "divisions") for part in parts):
        import dask.dataframe as dd
        from pandas import Series

        options = {"align_dataframes": False, "enforce_metadata": False, "meta": Series([], dtype=object)}
        return dd.map_partitions(_packed, *parts, **options)
    return None


def _packed(*blocks: Any) -> tuple[Any, ...]:
    return blocks


def _delayed_blocks(X: Any, **options: Any) -> list[Any]:
    delayed = X.to_delayed(**options)
    return list(delayed.ravel() if hasattr(delayed, "ravel") else delayed)


def _lasting_blocks(X: Any) -> list[tuple[Any]]:
    """Return delayed blocks that keep what was persisted, as optimized ones of arrays and bags do not."""
    if hasattr(X, "divisions"):
        return [(block,) for block in _delayed_blocks(X)]
    lists = X if hasattr(X, "chunks") else X.map_partitions(list)  # of a bag, which may hold iterators
    return [(block,) for block in _delayed_blocks(lists, optimize_graph=False)]


def _check_alike(name: str, part: Any, X: Any) -> None:
    """Refuse labels or weights that are not in partitions like those of X."""
    n = X.npartitions
    if not is_collection(part):
        raise ValueError(f"{name} must be a Dask collection with the partitions of X, got {type(part).__name__}.")
    if getattr(part, "ndim", 1) != 1:
        raise ValueError(f"{name} has {part.ndim} dimensions; give one value for each row of X.")
    if part.npartitions != n:
        raise ValueError(f"{name} has {part.npartitions} partitions, and X has {n}; rechunk {name} like X.")
    sizes, wanted = (getattr(each, "chunks", ((np.nan,),))[0] for each in (part, X))
    for number, (size, rows) in enumerate(zip(sizes, wanted)):
        if size != rows and size == size and rows == rows:
            raise PartitionError.at(number, f"has {rows} rows, and that of {name} has {size}; rechunk {name} like X")


def named(function: Method) -> Method:
    """Make a function of a partition name it in an error; whoever calls it, such as Dask, says which block it is."""

    @wraps(function)
    def block(*args: Any, block_id: tuple[int, ...]) -> Any:
        try:
            return function(*args)
        except Exception as error:
            raise PartitionError.at(block_id[0], f"cannot be used: {error}") from error

    del block.__wrapped__  # whose arguments Dask would look at
    return cast(Method, block)


# What fitted estimators do with collections


def blockwise(method: Method) -> Method:
    """Extend a method that returns a row for each sample to Dask collections, evaluated lazily and block by block.

    The method of a classifier may also have an argument for classes, with the same partitions. The result is a Dask
    array. It is computed with the current state of the estimator, even if the estimator changes later.

    Parameters
    ----------
    method : callable
        The method ``(self, X, ...)``.

    Returns
    -------
    callable
        The method for arrays and collections.

    Examples
    --------
    >>> import dask.array as da
    >>> import numpy as np
    >>> from protolearn.core.partitions import blockwise
    >>> class Doubled:
    ...     @blockwise
    ...     def transform(self, X):
    ...         return 2.0 * X
    >>> Doubled().transform(np.ones((1, 2))).tolist()
    [[2.0, 2.0]]
    >>> lazy = Doubled().transform(da.ones((4, 2), chunks=(2, 2)))
    >>> lazy.numblocks, float(lazy.sum().compute())
    ((2, 1), 16.0)
    """

    @wraps(method)
    def lazily(self: Any, X: Any, *args: Any, **options: Any) -> Any:
        if not is_collection(X):
            return method(self, X, *args, **options)
        _refuse_frames(self, method.__name__)
        if of_objects(self, X):
            example = np.asarray(method(self, self._some_objects(), *args, **options))[:0]
            block = partial(method_block, alone(self), method.__name__, args, options, None, example)
            return _joined(_lasting_blocks(X), block, example, getattr(X, "chunks", (None,))[0])
        check_collection(X)
        names = list(X.columns) if hasattr(X, "columns") else None
        rows = np.ones((1, X.shape[1]), X.dtype) if names is None else X._meta_nonempty.iloc[:1]
        classes = [part for part in (*args, *options.values()) if is_collection(part)]
        if classes:
            example = np.asarray(method(self, rows, self.classes_[:1]))[:0]
            block = partial(method_block, alone(self), method.__name__, (), {}, None, example)
            return _joined(
                [given[:2] for given in _blocks(X, *classes)], block, example, getattr(X, "chunks", (None,))[0]
            )
        example = np.asarray(method(self, rows, *args, **options))[:0]
        block = partial(method_block, alone(self), method.__name__, args, options, names, example)
        return _blockwise(X, block, example)

    return cast(Method, lazily)


def _refuse_frames(estimator: Any, name: str) -> None:
    """Refuse to make data frames in memory of what is lazy."""
    chosen = getattr(estimator, "_sklearn_output_config", {}).get(name, get_config()["transform_output"])
    if name == "transform" and chosen != "default":
        raise ValueError(
            f"set_output(transform={chosen!r}) would collect all partitions; leave it at 'default', and make a lazy "
            "data frame of the result: dask.dataframe.from_dask_array(Z, columns=...)."
        )


def of_objects(estimator: Any, X: Any) -> bool:
    """Say whether the elements of a collection are objects, for an estimator that compares such."""
    return hasattr(estimator, "_some_objects") and getattr(X, "ndim", 1) == 1


def _joined(
    blocks: Sequence[tuple[Any, ...]], function: Callable[..., Array], example: Array, sizes: Sequence[float] | None
) -> Any:
    """Return what a function makes of the delayed blocks of partitions, as a lazy array like the example.

    Partitions have so many rows each; None if these are not known.
    """
    import dask.array as da

    shape = (np.nan, *example.shape[1:])  # of which none is left out, as an empty one would be
    tasks = (_named_task(function, n, *block) for n, block in enumerate(blocks))
    rows = da.concatenate([da.from_delayed(task, shape, meta=example) for task in tasks], allow_unknown_chunksizes=True)
    if sizes is not None:
        rows._chunks = (tuple(sizes), *rows.chunks[1:])  # as Dask's documentation does
    return rows


def _blockwise(X: Any, block: Callable[[Array], Array], example: Array) -> Any:
    """Return what a function of rows makes of each partition, as a lazy array like the example."""
    rows = X.to_dask_array() if hasattr(X, "columns") else X
    sizes = tuple((size,) for size in example.shape[1:])
    options: dict[str, Any] = {"chunks": (rows.chunks[0], *sizes), "dtype": example.dtype, "meta": example}
    options |= {"new_axis": list(range(2, example.ndim))} if sizes else {"drop_axis": 1}
    return rows.map_blocks(block, **options)


def averaged(method: Method) -> Method:
    """Extend a method ``(X, y, sample_weight)`` that returns a weighted mean over samples to Dask collections.

    The result is a number.

    Parameters
    ----------
    method : callable
        The method ``(self, X, y, sample_weight)``.

    Returns
    -------
    callable
        The method for arrays and collections.

    Examples
    --------
    >>> import dask.array as da
    >>> import numpy as np
    >>> from protolearn.core.partitions import averaged
    >>> class Level:
    ...     @averaged
    ...     def score(self, X, y=None, sample_weight=None):
    ...         return np.average(X[:, 0], weights=sample_weight)
    >>> Level().score(da.from_array([[0.0], [1.0], [5.0]], chunks=(2, 1)))
    2.0
    """

    @wraps(method)
    def mean(self: Any, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        if not is_collection(X):
            return method(self, X, y, sample_weight)
        import dask

        if not of_objects(self, X):
            check_collection(X)
        block = partial(_mean_of_block, alone(self), method.__name__)
        blocks = _blocks(X, y, sample_weight)
        parts = dask.compute(*(_named_task(block, n, *given) for n, given in enumerate(blocks)))
        total, mass = np.sum(parts, axis=0)
        if not mass:
            raise ValueError("X has no sample of positive weight to average over.")
        return float(total / mass)

    return cast(Method, mean)


def alone(estimator: Any) -> Any:
    """Return a copy of an estimator as it is sent to partitions: on one thread, and it says nothing to anybody."""
    sent = copy(estimator)
    for name, value in (("n_jobs", 1), ("verbose", 0), ("callback", None)):
        if hasattr(sent, name):
            setattr(sent, name, value)
    return sent


@named
@chunk_threads(1)
def method_block(
    estimator: Any,
    name: str,
    args: tuple[Any, ...],
    options: dict[str, Any],
    columns: list[Any] | None,
    example: Array,
    X: Any,
    *classes: Array,
) -> Array:
    if not len(X):
        return example
    rows = X if columns is None else _frame(X, columns)
    return np.asarray(getattr(estimator, name)(rows, *map(np.ravel, classes), *args, **options))


def _frame(rows: Array, columns: list[Any]) -> Any:
    from pandas import DataFrame, isna

    if rows.dtype == object:  # of columns that can hold NA
        rows = np.where(isna(rows), np.nan, rows).astype(np.float64)
    return DataFrame(rows, columns=columns)


@named
@chunk_threads(1)
def _mean_of_block(estimator: Any, name: str, X: Any, y: Any, weights: Any) -> tuple[float, float]:
    mass = float(len(X) if weights is None else np.sum(weights))
    return (mass * float(getattr(estimator, name)(X, y, weights)), mass) if mass else (0.0, 0.0)


# What runs in tasks


def _delayed(function: Callable[..., Any], number: int, *args: Any) -> Any:
    from dask import delayed

    name = getattr(function, "__name__", getattr(getattr(function, "func", None), "__name__", "task")).strip("_")
    return delayed(function, pure=False)(*args, dask_key_name=f"protolearn-{name}-{uuid4().hex}-{number}")


def _named_task(function: Callable[..., Any], number: int, *args: Any) -> Any:
    return _delayed(partial(function, block_id=(number,)), number, *args)


@named
@chunk_threads(1)
def _read_and(reader: Reader, function: Callable[[Samples], Any], X: Any, y: Any, weights: Any) -> Any:
    return function(reader(X, y, weights))


def _applied(function: Callable[[Samples, int], Any], first: int, samples: Samples) -> Any:
    return function(samples, first)


def _taken(rows: Indices, samples: Samples) -> Samples:
    return samples.take(rows)


def _values_at(rows: Indices, values: Any) -> Array:
    return np.asarray(values)[rows]


def _appended(one: Samples, other: Samples) -> Samples:
    """Return samples of the same kind, one after the other."""

    def both(name: str) -> Any:
        mine, theirs = getattr(one, name), getattr(other, name)
        return None if mine is None or theirs is None else np.concatenate([mine, theirs])

    return Samples(both("X"), both("weights"), both("labels"), one.classes, gaps=both("gaps"))


def _numbered(function: Callable[[Samples], Any], first: int, n_seen: int, samples: Samples) -> Any:
    return function(replace(samples, X=samples.X.among(first, n_seen)))


def _condensed(recipe: Recipe, patch_size: int, seed: int, samples: Samples) -> Any:
    return condense(recipe, samples, patch_size, np.random.RandomState(seed))


@chunk_threads(1)
def _merged(recipe: Recipe, seed: int, *parts: Any) -> Any:
    return merge(recipe, list(parts), np.random.RandomState(seed))


def _added(*parts: Any) -> Any:
    """Add what partitions return, or return the problem of the first that has one, whatever ran first."""
    problems = (part for part in parts if isinstance(part, PartitionError))
    return next(problems, None) or reduce(add, parts)


def _survey(look: Callable[..., Survey], number: int, *blocks: Any) -> Survey | PartitionError:
    try:
        return look(number, *blocks)
    except PartitionError as error:
        return error
    except (TypeError, ValueError) as error:
        return PartitionError.at(number, f"cannot be used: {error}")


def _counted(*args: Any) -> Survey:
    return counted_rows(*args)[1]


def _nothing(*blocks: Any) -> None:
    return None


def _assigned(find: Any, total: Any, samples: Samples, first: int) -> Any:
    return total(samples, *find(samples))


@named
@chunk_threads(1)
def label_block(reader: Reader, function: Callable[[Samples], Array], dtype: Any, X: Any) -> Array:
    rows = reader.rows(X)
    return function(Samples(rows, np.ones(len(rows)))).astype(dtype) if len(rows) else np.empty(0, dtype)


@chunk_threads(1)
def _logs(
    reader: Reader, log_factors: Callable[[Samples], Floats], X: Any, y: Any, weights: Any
) -> tuple[Array, Array]:
    given = np.ones(len(X)) if weights is None else np.asarray(weights, np.float64)
    logs = np.full(len(X), -np.inf)
    if given.any():
        logs[given > 0] = log_factors(reader(X, y, weights))
    return given, logs


def _highest(part: tuple[Array, Array]) -> float:
    return float(part[1].max(initial=-np.inf))


def _factors(top: float, part: tuple[Array, Array]) -> Floats:
    weights, logs = part
    return weights * flushed(np.exp(logs - top), np.float32)


def _weighed(weights: Floats) -> tuple[int, float, float]:
    return int(np.count_nonzero(weights)), float(weights.sum()), float(weights.max(initial=0.0))


def _summed(options: dict[str, Any], function: Any, n_prototypes: int, width: Any, samples: Samples, first: int) -> Any:
    return samples.source(**options, first=first, keep=False).sum(function, n_prototypes, width)


def _whole(options: dict[str, Any], function: Any, samples: Samples, first: int) -> Any:
    return function(samples.source(**options, first=first, keep=False))


@dataclass(frozen=True)
class Columns:
    """Results for each sample, one after the other."""

    columns: tuple[Array, ...]

    def __add__(self, other: Columns) -> Columns:
        return Columns(tuple(np.concatenate(pair) for pair in zip(self.columns, other.columns)))


def _gathered(options: dict[str, Any], function: Any, n_prototypes: int, samples: Samples, first: int) -> Columns:
    return Columns(tuple(samples.source(**options, first=first, keep=False).gather(function, n_prototypes)))
