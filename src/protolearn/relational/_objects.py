"""What a map of dissimilarities learns from, and what it keeps: objects of a source, and combinations of a few."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from protolearn.dissimilarities._source import Dissimilarities
from protolearn.maps._state import Model, Samples

__all__ = ["Kept", "Objects", "RelatedModel"]

Indices = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Objects:
    """Some objects of a source: their places in it, and their numbers among all objects that a map ever saw."""

    source: Dissimilarities
    places: Indices
    numbers: Indices

    @classmethod
    def all(cls, source: Dissimilarities, first_number: int = 0) -> Objects:
        """Return all objects of a source."""
        places = np.arange(len(source))
        return cls(source, places, places + first_number)

    def __len__(self) -> int:
        return len(self.places)

    def __getitem__(self, rows: Any) -> Objects:
        return Objects(self.source, self.places[rows], self.numbers[rows])

    def joined(self, other: Objects) -> Objects:
        """Append other objects, of the same source or with the same metric."""
        numbers = np.concatenate([self.numbers, other.numbers])
        if self.source is other.source:
            return Objects(self.source, np.concatenate([self.places, other.places]), numbers)
        first, second = self.source.objects(self.places), other.source.objects(other.places)
        both = list(first) + list(second) if isinstance(first, list) else np.concatenate([first, second])
        source = Dissimilarities(
            both,
            self.source.metric,
            n_jobs=self.source.n_jobs,
            verbose=self.source.verbose,
            **self.source.metric_params,
        )
        source.n_computed = self.source.n_computed + other.source.n_computed
        return Objects(source, np.arange(len(both)), numbers)

    @property
    def whole(self) -> bool:
        """Say whether these are all objects of the source, in order."""
        return len(self) == len(self.source) and bool((self.places == np.arange(len(self))).all())

    def matrix(self) -> NDArray[Any]:
        """Return the dissimilarities between all of them."""
        if self.whole and self.source.in_memory:
            self.source.n_computed += len(self) ** 2
            return self.source.data
        return self.source.block(self.places)

    def rows(self, some: slice) -> NDArray[Any]:
        """Return the dissimilarities of some of them to all."""
        return self.source.block(self.places[some], self.places)

    def to(self, others: Objects, some: slice) -> NDArray[Any]:
        """Return the dissimilarities of some of them to others."""
        if self.source is others.source:
            return self.source.block(self.places[some], others.places)
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
    n_seen: int = 0
    diagonal: float | None = None

    def as_samples(self, decay: float = 1.0) -> Samples:
        """Return the objects that stand for those seen so far (Hasenfuss 2009, sec. 4.5)."""
        kept = self.kept
        return Samples(kept.objects, decay * kept.masses, kept.labels, self.classes)

    def beside(self, source: Dissimilarities, first: int = 0) -> RelatedModel:
        """Return the model with its objects in another source, where the kept ones begin at a place."""
        kept = self.kept.objects
        places = np.arange(first, first + len(kept))
        moved = Objects(source, places, kept.numbers)
        support = moved if self.support is kept else self.support
        return replace(self, support=support, kept=replace(self.kept, objects=moved))
