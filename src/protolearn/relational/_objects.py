"""What a map of dissimilarities learns from, and what it keeps: objects of a source, and combinations of a few."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.utils.validation import check_array

from protolearn.core.learning import Fitted
from protolearn.core.neighbors import two_nearest
from protolearn.core.pairs import Pairs
from protolearn.core.samples import Samples
from protolearn.core.threads import HELD, block_size, cut, row_blocks
from protolearn.core.types import Array, Floats, Indices
from protolearn.core.validation import refuse_large, refuse_small
from protolearn.dissimilarities import Dissimilarities, checked_with_scale

__all__ = ["FittedObjects", "Kept", "Objects", "Reading", "Supported"]

MOST_BYTES = 4 << 30  # dissimilarities on a disk, or between objects, are held in memory up to this size
UNPACKED_BYTES = 32 << 20  # a condensed vector becomes a square matrix up to this size


@dataclass(frozen=True)
class Objects:
    """Some objects of a source: their places in it, and their numbers among all ``n_seen`` objects a map ever saw."""

    source: Dissimilarities
    places: Indices
    numbers: Indices
    n_seen: int

    @classmethod
    def all(cls, source: Dissimilarities, n_before: int = 0) -> Objects:
        """Return all objects of a source, which come after some others."""
        places = np.arange(len(source))
        return cls(source, places, places + n_before, n_before + len(source))

    def __len__(self) -> int:
        return len(self.places)

    def __getitem__(self, rows: Any) -> Objects:
        return Objects(self.source, self.places[rows], self.numbers[rows], self.n_seen)

    def joined(self, other: Objects) -> Objects:
        """Append other objects, of the same source or with the same metric."""
        numbers, n_seen = np.concatenate([self.numbers, other.numbers]), max(self.n_seen, other.n_seen)
        if self.source is other.source:
            return Objects(self.source, np.concatenate([self.places, other.places]), numbers, n_seen)
        first, second = self.source.objects(self.places), other.source.objects(other.places)
        both = list(first) + list(second) if isinstance(first, list) else np.concatenate([first, second])
        source = self.source.like(both)
        source.n_computed = self.source.n_computed + other.source.n_computed
        return Objects(source, np.arange(len(both)), numbers, n_seen)

    def alone(self) -> Objects:
        """Return the same objects in a source of their own, so that others can be forgotten."""
        if self.source.precomputed:
            source = self.source.like(np.asarray(self.matrix()))
        elif self.whole:
            return self
        else:
            source = self.source.like(self.source.objects(self.places))
        source.n_computed = self.source.n_computed
        return Objects(source, np.arange(len(self)), self.numbers, self.n_seen)

    def among(self, first: int, n_seen: int) -> Objects:
        """Return the same objects in a source of their own, as those from a number on of all that a map sees."""
        return replace(self.alone(), numbers=first + self.numbers, n_seen=n_seen)

    @property
    def whole(self) -> bool:
        """Say whether these are all objects of the source, in order."""
        return len(self) == len(self.source) and bool((self.places == np.arange(len(self))).all())

    def matrix(self) -> Array:
        """Return the dissimilarities between all of them."""
        return self._matrix

    @cached_property
    def _matrix(self) -> Array:
        if self.whole and self.source.in_memory:
            self.source.n_computed += len(self) ** 2
            return np.asarray(self.source.data)
        return self.source.block(self.places)

    def rows(self, some: slice) -> Array:
        """Return the dissimilarities of some of them to all."""
        return self.source.block(self.places[some], self.places)

    def to(self, others: Objects, some: slice) -> Array:
        """Return the dissimilarities of some of them to others."""
        if self.source is others.source:
            return self.source.block(self.places[some], others.places)
        if self.source.precomputed:
            return self.source.block(self.places[some], others.numbers)
        return self.source.to(self.places[some], others.source, others.places)


@dataclass(frozen=True)
class Kept:
    """The objects that stand for all seen so far, with the prototype and the mass of each, and their labels.

    ``coefficients`` (k, s) are those of the prototypes as combinations of these objects alone.
    """

    objects: Any
    owners: Indices
    masses: Floats
    coefficients: Floats
    labels: Any = None


@dataclass(frozen=True)
class Reading:
    """What the numbers between objects are: dissimilarities, squared dissimilarities, or a kernel."""

    squared: bool
    is_kernel: bool
    symmetrize: str

    @property
    def plain(self) -> bool:
        """Say whether numbers are used as they are."""
        return self.squared or self.is_kernel

    def sound(self, block: Array) -> Array:
        """Require finite dissimilarities that are not negative, in a block."""
        if not np.isfinite(block).all():
            raise ValueError("Some dissimilarities are NaN or infinite; remove these objects, or impute the values.")
        if not self.squared and not self.is_kernel and (block < 0).any():
            raise ValueError(f"Dissimilarities must not be negative; the lowest is {block.min():g}.")
        return block

    def squares(self, block: Array) -> Array:
        """Return squared dissimilarities; a kernel stays as it is."""
        refuse_large(block, float(np.abs(block).max(initial=0.0)), self.plain)
        return block if self.plain else np.square(block)

    def _held(self, objects: Objects) -> bool:
        """Say whether all numbers between objects are, or come to be, in memory; a map of plain ones is as good."""
        source = objects.source
        if objects.whole and source.in_memory and (self.plain or type(source.data) is np.ndarray):
            return True
        return len(objects) ** 2 * source.itemsize <= (UNPACKED_BYTES if source.condensed else MOST_BYTES)

    def pairs(self, objects: Objects, **common: Any) -> Pairs:
        """Return the objects as the loop reads them: with all squared dissimilarities, or row by row."""
        if not self._held(objects):
            if self.is_kernel:
                raise ValueError("A kernel matrix of this size cannot be read row by row; use patches.")
            return Pairs(lambda rows: self.squares(self.sound(objects.rows(rows))), n_samples=len(objects), **common)
        matrix = objects.matrix()
        if self.is_kernel:
            refuse_small(matrix, float(np.abs(matrix).max(initial=0.0)), squared=True)
            matrix = check_kernel(self.squares(matrix), self.symmetrize)
            return Pairs(matrix, diagonal=matrix.diagonal().astype(np.float64), **common)
        matrix, largest = checked_with_scale(matrix, squared=self.squared, symmetrize=self.symmetrize)
        refuse_small(matrix, largest, self.squared)
        refuse_large(matrix, largest, self.squared)
        return Pairs(matrix if self.squared else _squares(matrix), **common)


@dataclass(frozen=True)
class Supported:
    """Prototypes as combinations of supporting objects.

    ``coefficients`` are (k, s); the distance of an object is their product with what the object has in common with the
    support (squared dissimilarities, or -2 times a kernel), plus ``offsets`` (k,). ``examples`` are the objects nearest
    to prototypes, ``shift`` is added to squared dissimilarities, and ``diagonal`` is that of a kernel: None without a
    kernel, NaN if it is not constant.
    """

    reading: Reading
    support: Objects
    coefficients: Floats
    self_terms: Floats
    offsets: Floats
    examples: Indices
    shift: float
    diagonal: float | None

    def distances(self, X: Objects) -> Iterator[Floats]:
        """Yield the squared distances of objects to the prototypes, some objects at a time."""
        for rows in cut(len(X), self.batch_size):
            yield self.to_prototypes(self.reading.sound(X.to(self.support, rows)))

    @property
    def batch_size(self) -> int:
        """Return how many objects are compared with the support at a time."""
        return block_size(8 * len(self.support), HELD)

    def to_prototypes(self, block: Array) -> Floats:
        """Return squared distances (c, k) to prototypes, from what objects have with the support (c, s)."""
        shared = self.reading.squares(block)
        if self.reading.is_kernel:
            return -2.0 * (shared @ self.coefficients.T) + self.offsets
        if self.shift:  # between different objects
            shared = np.where(shared == 0, 0.0, shared + self.shift)
        return shared @ self.coefficients.T + self.offsets


@dataclass(frozen=True)
class FittedObjects(Supported, Fitted):
    """A fitted map of objects.

    ``between`` are squared distances between prototypes, ``best_cost`` is the cost by which starts are compared.
    """

    kept: Kept
    between: Floats
    dual_cost: float
    best_cost: float

    @property
    def final_cost(self) -> float:
        """Return the cost by which one of several starts is chosen."""
        return self.best_cost

    def past(self, decay: float = 1.0) -> Samples:
        """Return the objects that stand for those seen so far (Hasenfuss 2009, sec. 4.5)."""
        return Samples(self.kept.objects, decay * self.kept.masses, self.kept.labels, self.classes)

    def two_nearest(self, X: Objects, n_threads: int) -> tuple[Indices, Indices]:
        """Return the nearest and second nearest prototype of every object."""
        first, second = zip(*(two_nearest(distances) for distances in self.distances(X)))
        return np.concatenate(first), np.concatenate(second)

    def beside(self, source: Dissimilarities) -> FittedObjects:
        """Return the model with its kept objects in another source, where they come first."""
        kept = self.kept.objects
        moved = Objects(source, np.arange(len(kept)), kept.numbers, kept.n_seen)
        return replace(self, kept=replace(self.kept, objects=moved))

    def alone(self) -> FittedObjects:
        """Return the model without the objects that it does not need any more."""
        kept = self.kept.objects.alone()
        support = self.support
        if support.source.precomputed:  # only the numbers of supporting objects matter
            support = Objects(kept.source, np.arange(len(support)), support.numbers, support.n_seen)
        else:
            support = support.alone()
        return replace(self, support=support, kept=replace(self.kept, objects=kept))


def check_kernel(K: Array, symmetrize: str) -> Array:
    """Require a symmetric matrix of finite numbers, with a diagonal that a kernel can have."""
    K = check_array(K, dtype=[np.float64, np.float32], input_name="K")
    scale = max(K.max(), -K.min())
    if scale > 0 and K.diagonal().max() <= 0:
        raise ValueError(
            f"The largest entry on the diagonal is {K.diagonal().max():g}, but a kernel needs a positive one. If "
            "these are dissimilarities, use metric='precomputed'."
        )
    gap = max(np.abs(K[rows] - K[:, rows].T).max() for rows in row_blocks(len(K), K.itemsize * len(K), HELD))
    if gap <= (1e-8 if K.dtype == np.float64 else 1e-5) * scale:
        return K
    if symmetrize == "mean":
        return 0.5 * (K + K.T)
    raise ValueError("The kernel matrix is not symmetric. Pass symmetrize='mean', or pass (K + K.T) / 2 as X.")


def _squares(matrix: Array) -> Array:
    """Return the squares of all entries, row by row, so that Python heeds interrupts in a large matrix."""
    squares = np.empty_like(matrix)
    for row, square in zip(matrix, squares):
        np.square(row, out=square)
    return squares
