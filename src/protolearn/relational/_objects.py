"""What a map of dissimilarities learns from, and what it keeps: objects of a source, and combinations of a few."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from protolearn.core.types import Array, Floats, Indices
from protolearn.dissimilarities._source import Dissimilarities
from protolearn.maps._state import Model, Samples

__all__ = ["Kept", "Objects", "RelatedModel"]


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
        objects = self.source.objects(self.places[some])
        self.source.n_computed += len(objects) * len(others)
        return others.source.to(objects, others.places)


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
class RelatedModel(Model):
    """Prototypes as combinations of supporting objects.

    ``positions`` are their coefficients (k, s); the distance of an object is its product with what the object has in
    common with the support (squared dissimilarities, or -2 times a kernel), plus ``offsets`` (k,).
    """

    support: Any = None
    offsets: Any = None
    self_terms: Any = None
    kept: Any = None
    between: Any = None
    examples: Any = None
    dual_cost: float = np.nan
    final_cost: float = np.inf
    shift: float = 0.0
    diagonal: float | None = None

    def as_samples(self, decay: float = 1.0) -> Samples:
        """Return the objects that stand for those seen so far (Hasenfuss 2009, sec. 4.5)."""
        kept = self.kept
        return Samples(kept.objects, decay * kept.masses, kept.labels, self.classes)

    def beside(self, source: Dissimilarities) -> RelatedModel:
        """Return the model with its kept objects in another source, where they come first."""
        kept = self.kept.objects
        moved = Objects(source, np.arange(len(kept)), kept.numbers, kept.n_seen)
        return replace(self, kept=replace(self.kept, objects=moved))

    def alone(self) -> RelatedModel:
        """Return the model without the objects that it does not need any more."""
        kept = self.kept.objects.alone()
        support = self.support
        if support.source.precomputed:  # only the numbers of supporting objects matter
            support = Objects(kept.source, np.arange(len(support)), support.numbers, support.n_seen)
        else:
            support = support.alone()
        return replace(self, support=support, kept=replace(self.kept, objects=kept))
