"""Prototypes of objects: combinations of them, or some of them; how they start, and the fitted model they make."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from scipy.optimize import linear_sum_assignment

from protolearn.core.density import Precomputed
from protolearn.core.lattices import Lattice, suggest_lattice
from protolearn.core.learning import Kind, Learned, Recipe
from protolearn.core.neighborhoods import Neighborhood, plane_of
from protolearn.core.neighbors import two_nearest
from protolearn.core.pairs import Landmarks, Pairs
from protolearn.core.relational import Median, Relational
from protolearn.core.samples import Samples, as_shares
from protolearn.core.types import Floats, Indices
from protolearn.core.validation import given_array
from protolearn.dissimilarities import check_dissimilarities, spread_value
from protolearn.relational._epochs import dual_cost
from protolearn.relational._objects import FittedObjects, Kept, Objects, Reading
from protolearn.relational._start import (
    around_center,
    on_principal_plane,
    principal_plane,
    random_objects,
    spread_objects,
)

__all__ = ["Combinations", "Exemplars", "constant_diagonal", "nearest_objects", "offsets"]

N_EXAMPLES = 5
MOST_KEPT = 50  # objects that stand for one prototype, however small an error is asked for


@dataclass(frozen=True, kw_only=True)
class _Related(Kind):
    """Prototypes of objects.

    Parameters
    ----------
    init : str or array
        Initial prototypes.
    size : int, optional
        Their number, if no lattice has it.
    label_weight : float
        Share of the labels in the distance.
    reading : Reading
        What the numbers between objects are.
    compares : bool
        Whether the cost is needed to choose one of several starts.
    condensed : bool, default=False
        Whether prototypes are combinations of objects that stand for others from the first patch on.
    """

    init: Any
    size: int | None
    label_weight: float
    reading: Reading
    compares: bool
    condensed: bool = False

    def condensing(self) -> Self:
        """Return the kind whose models hold a few objects only."""
        return replace(self, condensed=True)

    def suggested_lattice(self, source: Pairs) -> Lattice:
        """Return a lattice that suits the objects."""
        return suggest_lattice(source.n_different, principal_plane(source)[0])

    def widest(self, source: Pairs) -> float:
        """Return the variance of the objects along the direction where it is largest."""
        return float(principal_plane(source)[0][0])

    def density_data(self, samples: Samples) -> Precomputed:
        """Return squared dissimilarities, of which some rows are read at a time."""
        pairs = self.pairs(samples.X, np.random.RandomState(0))
        return Precomputed(pairs.rows, pairs.n_samples)

    def source(self, samples: Samples, past: Any, n_threads: int, rng: np.random.RandomState) -> Pairs:
        """Return the objects of a patch as the loop reads them."""
        common = {"weights": samples.weights, "labels": samples.labels, "label_weight": self.label_weight}
        source = self.pairs(samples.X, rng, **common, n_threads=n_threads)
        if samples.labels is not None:
            source.label_unit = self.label_unit(source)
        return source

    def label_unit(self, source: Pairs) -> float:
        """Return the factor on squared distances between labels."""
        return source.labels.moments.unit(source.variance)

    def pairs(self, objects: Objects, rng: np.random.RandomState, **common: Any) -> Pairs:
        """Return objects with their squared dissimilarities."""
        return self.reading.pairs(objects, **common)

    def drawn(self, source: Pairs, k: int, rng: np.random.RandomState) -> Indices:
        """Return first objects by the rule that ``init`` names."""
        return (spread_objects if self.init == "k-means++" else random_objects)(source, k, rng)

    @abstractmethod
    def supported(self, prototypes: Any, objects: Objects) -> dict[str, Any]:
        """Return support, coefficients, self terms and offsets of prototypes in a patch of objects."""

    @abstractmethod
    def stand_ins(self, prototypes: Any, nearest: Indices) -> tuple[Indices, Indices, Floats]:
        """Return objects that can stand for all of the patch, their prototypes, and coefficients (k, s) on them."""

    def fitted(self, learned: Learned) -> FittedObjects:
        """Return the model that remains, prototypes in the order of earlier ones."""
        prototypes, source, samples, history = learned.prototypes, learned.source, learned.samples, learned.history
        k, n_new, taught = len(prototypes), learned.n_new, samples.present()
        nearest, second = two_nearest(prototypes.squares)
        best_cost = np.inf
        if self.compares and not history.interrupted:
            sums: Any = learned.neighborhood.gather(prototypes, source, history.ranges[-1])
            best_cost = learned.scale * prototypes.final_cost(sums)
        if learned.earlier is not None:
            before = learned.earlier.kept
            prototypes = prototypes.take(_same_places(before, nearest[-len(before.owners) :], k))
            nearest, second = two_nearest(prototypes.squares)
        chosen, owners, coefficients = self.stand_ins(prototypes, nearest)
        counts = np.bincount(owners, minlength=k)
        masses = np.bincount(nearest, taught.weights, k).astype(np.float64)
        kept = Kept(
            taught.X[chosen],
            owners,
            (masses / np.maximum(counts, 1))[owners],  # Hasenfuss 2009, sec. 4.5, of what was really taken
            coefficients,
            None if taught.labels is None else taught.labels[chosen],
        )
        whole = n_new == len(samples) and not self.condensed
        model = FittedObjects(
            learned.neighborhood,
            classes=learned.classes,
            shares=np.empty((k, 0)) if taught.labels is None else as_shares(prototypes.fuzzy),
            masses=masses,
            winners=np.empty(0, np.int64),
            graph=None,
            history=history,
            reading=self.reading,
            kept=kept,
            between=prototypes.between,
            examples=taught.X.numbers[nearest_objects(prototypes.squares)],
            dual_cost=learned.scale * dual_cost(source, nearest, k),
            best_cost=best_cost,
            shift=0.0 if isinstance(source.matrix, Landmarks) else source.spread,
            diagonal=constant_diagonal(source.diagonal),
            **(self.supported(prototypes, taught.X) if whole else _supported_by(kept, chosen, source)),
        )
        winners = np.zeros((2, len(samples)), np.int64)
        winners[:, samples.weights > 0] = nearest, second
        absent = np.flatnonzero(samples.weights == 0)
        if len(absent):
            winners[:, absent] = model.two_nearest(samples.X[absent], learned.n_threads)
        return model.showing(samples.weights[:n_new], winners[0, :n_new], winners[1, :n_new])


@dataclass(frozen=True, kw_only=True)
class Combinations(_Related):
    """Prototypes that are combinations of objects; for the other parameters see `RelationalNeuralGas`."""

    spread: float | str | None
    sparsity: int | None
    n_landmarks: int | None
    n_approximation: float

    def pairs(self, objects: Objects, rng: np.random.RandomState, **common: Any) -> Pairs:
        """Return objects with their squared dissimilarities, spread, or to a few landmarks only."""
        if self.n_landmarks is not None and self.n_landmarks < len(objects):
            return self._few_columns(objects, self.n_landmarks, rng, **common)
        pairs = super().pairs(objects, rng, **common)
        if self.spread == "implicit":
            if callable(pairs.matrix):
                raise ValueError(
                    "spread='implicit' needs all dissimilarities in memory; set spread to a number, or use patches."
                )
            _, different = np.unique(pairs.groups, return_index=True)
            pairs.spread = spread_value(pairs.block(different), squared=True)
        elif self.spread is not None:
            pairs.spread = float(self.spread)
        return pairs

    def _few_columns(self, objects: Objects, n_landmarks: int, rng: np.random.RandomState, **common: Any) -> Pairs:
        """Return the objects as known by their dissimilarities to a few landmarks, drawn at random."""
        if self.spread == "implicit":
            raise ValueError("spread='implicit' needs all dissimilarities; omit n_landmarks, or set spread=number.")
        reading = self.reading
        chosen = np.sort(rng.permutation(len(objects))[:n_landmarks])
        columns = reading.sound(objects.source.block(objects.places, objects.places[chosen]))
        if not reading.is_kernel:
            inner = check_dissimilarities(columns[chosen], squared=reading.squared, symmetrize=reading.symmetrize)
            columns = columns.copy()
            columns[chosen] = inner
        columns = reading.squares(columns).astype(np.float64)
        pairs = Pairs(Landmarks.at(columns, chosen), spread=float(self.spread or 0.0), **common)
        if reading.is_kernel:
            kernel: Any = objects.source.data
            pairs.diagonal = np.array([float(kernel[j, j]) for j in objects.places.tolist()])
        return pairs

    def start(
        self,
        recipe: Recipe,
        source: Pairs,
        neighborhood: Neighborhood,
        samples: Samples,
        past: Any,
        rng: np.random.RandomState,
    ) -> Relational:
        """Return the first prototypes."""
        coefficients = self._first_coefficients(source, neighborhood, samples.X, past, rng)
        return Relational.at(source, coefficients, n_largest=self.sparsity)

    def _first_coefficients(
        self, source: Pairs, neighborhood: Neighborhood, objects: Objects, past: Any, rng: np.random.RandomState
    ) -> Floats:
        """Return the first coefficients (n, k)."""
        k, n = self.count(neighborhood), source.n_samples
        coefficients = np.zeros((n, k))
        if past is not None:
            coefficients[-len(past.kept.owners) :] = past.kept.coefficients.T
            return coefficients
        if isinstance(self.init, str):
            if self.init == "center":
                return around_center(source, k, rng)
            if self.init == "pca":
                return on_principal_plane(source, plane_of(neighborhood, k))
            coefficients[self.drawn(source, k, rng), np.arange(k)] = 1.0
            return coefficients
        given = given_array("init", self.init)
        if given.shape != (k, objects.n_seen):
            raise ValueError(
                f"init has shape {given.shape}; expected {(k, objects.n_seen)}: the coefficients of each prototype."
            )
        given = given[:, objects.numbers]
        if not np.allclose(given.sum(axis=1), 1.0):
            raise ValueError(
                "Each row of init, the coefficients of a prototype, must add up to 1 and use only objects "
                "of positive weight in the first patch."
            )
        return given.T

    def supported(self, prototypes: Relational, objects: Objects) -> dict[str, Any]:
        """Return support, coefficients, self terms and offsets of prototypes in a patch of objects."""
        source, coefficients = prototypes.pairs, prototypes.coefficients.T
        chosen = np.arange(len(objects))
        parts = coefficients
        if isinstance(source.matrix, Landmarks):
            chosen = source.matrix.chosen
            parts = (source.matrix.core @ (coefficients @ source.matrix.columns).T).T
        elif self.sparsity is not None:
            chosen = np.flatnonzero(coefficients.any(axis=0))
            parts = coefficients[:, chosen]
        return {
            "support": objects if len(chosen) == len(objects) else objects[chosen],
            "coefficients": parts,
            "self_terms": prototypes.self_terms,
            "offsets": offsets(source, coefficients, prototypes.self_terms),
        }

    def stand_ins(self, prototypes: Relational, nearest: Indices) -> tuple[Indices, Indices, Floats]:
        """Return the k-approximation: the objects of every receptive field that are nearest to the prototype."""
        k = len(prototypes)
        picks = [self._nearest_own(prototypes, i, np.flatnonzero(nearest == i)) for i in range(k)]
        chosen = np.concatenate(picks)
        owners = np.repeat(np.arange(k), [len(pick) for pick in picks])
        coefficients = np.zeros((k, len(chosen)))
        coefficients[owners, np.arange(len(chosen))] = np.maximum(prototypes.coefficients[chosen, owners], 1e-300)
        for i in np.flatnonzero(np.bincount(owners, minlength=k) == 0):
            closest = np.argsort(prototypes.squares[chosen, i], kind="stable")[: int(np.ceil(self.n_approximation))]
            coefficients[i, closest] = 1.0
        return chosen, owners, coefficients / coefficients.sum(axis=1, keepdims=True)

    def _nearest_own(self, prototypes: Relational, i: int, field: Indices) -> Indices:
        """Return the nearest objects of a receptive field: so many, or enough to come close to the prototype."""
        squares = prototypes.squares[field, i]
        order = field[np.argsort(squares, kind="stable")]
        if self.n_approximation >= 1:
            return order[: int(self.n_approximation)]
        allowed = self.n_approximation * max(float(squares.mean()), 0.0) if len(field) else 0.0
        size = 1
        while size < min(len(order), MOST_KEPT):
            part = order[:size]
            shares = np.maximum(prototypes.coefficients[part, i], 1e-300)
            shares = shares / shares.sum()
            crossed = shares @ prototypes.products[part, i]
            own = shares @ prototypes.pairs.block(part) @ shares
            if crossed - 0.5 * own - 0.5 * prototypes.self_terms[i] <= allowed:  # Hasenfuss 2009, eq. 4.8
                break
            size *= 2
        return order[: min(size, MOST_KEPT)]


@dataclass(frozen=True, kw_only=True)
class Exemplars(_Related):
    """Prototypes that are objects, no two of them the same if they are ``distinct``."""

    distinct: bool
    own_labels: bool

    def start(
        self,
        recipe: Recipe,
        source: Pairs,
        neighborhood: Neighborhood,
        samples: Samples,
        past: Any,
        rng: np.random.RandomState,
    ) -> Median:
        """Return the first prototypes."""
        chosen = self._first_objects(source, neighborhood, samples.X, past, rng)
        return Median.at(source, chosen, distinct=self.distinct, own_labels=self.own_labels)

    def _first_objects(
        self, source: Pairs, neighborhood: Neighborhood, objects: Objects, past: Any, rng: np.random.RandomState
    ) -> Indices:
        """Return the objects that prototypes start at."""
        k, n = self.count(neighborhood), source.n_samples
        if past is not None:
            return n - len(past.kept.owners) + past.kept.coefficients.argmax(axis=1)
        if isinstance(self.init, str):
            if self.init == "pca":
                coefficients = on_principal_plane(source, plane_of(neighborhood, k))
                return Relational.at(source, coefficients).squares.argmin(axis=0)
            return self.drawn(source, k, rng)
        given = np.asarray(self.init)
        if given.shape != (k,) or given.dtype.kind not in "iu" or not np.isin(given, objects.numbers).all():
            raise ValueError(
                f"init must hold the indices of {k} objects, from 0 to {objects.n_seen - 1}, that have a positive "
                f"weight and are in the first patch; got {self.init!r}."
            )
        order = np.argsort(objects.numbers)
        return order[np.searchsorted(objects.numbers, given, sorter=order)]

    def supported(self, prototypes: Median, objects: Objects) -> dict[str, Any]:
        """Return support, coefficients, self terms and offsets of prototypes in a patch of objects."""
        k, diagonal = len(prototypes), prototypes.pairs.diagonal
        own = np.zeros(k)
        return {
            "support": objects[prototypes.indices],
            "coefficients": np.eye(k),
            "self_terms": own,
            "offsets": own if diagonal is None else diagonal[prototypes.indices],
        }

    def stand_ins(self, prototypes: Median, nearest: Indices) -> tuple[Indices, Indices, Floats]:
        """Return the prototypes that win anything, each once: they stand for their receptive fields."""
        winning = np.unique(nearest)
        chosen, first = np.unique(prototypes.indices[winning], return_index=True)
        same = prototypes.squares[chosen].argmin(axis=0)
        own = chosen == prototypes.indices[:, None]
        same = np.where(own.any(axis=1), own.argmax(axis=1), same)
        return chosen, winning[first], np.eye(len(chosen))[same]


def offsets(source: Pairs, coefficients: Floats, self_terms: Floats) -> Floats:
    """Return what has to be added to ``coefficients`` (k, n) times squared dissimilarities, or -2 times a kernel."""
    if source.diagonal is None:
        constant = source.spread if isinstance(source.matrix, Landmarks) else 0.0
        return constant - 0.5 * self_terms  # Hasenfuss 2009, eq. 4.9
    return coefficients @ source.diagonal + source.spread - 0.5 * self_terms  # eq. 4.15


def _supported_by(kept: Kept, chosen: Indices, source: Pairs) -> dict[str, Any]:
    """Return support, coefficients, self terms and offsets of prototypes as combinations of kept objects."""
    block = source.block(chosen)
    self_terms = np.einsum("is,st,it->i", kept.coefficients, block, kept.coefficients, optimize=True)
    whole = np.zeros((len(kept.coefficients), source.n_samples))
    whole[:, chosen] = kept.coefficients
    return {
        "support": kept.objects,
        "coefficients": kept.coefficients,
        "self_terms": self_terms,
        "offsets": offsets(source, whole, self_terms),
    }


def nearest_objects(squares: Floats) -> Indices:
    """Return the objects (k, up to 5) nearest to each prototype, the nearest first."""
    n = min(N_EXAMPLES, len(squares))
    some = np.argpartition(squares, n - 1, axis=0)[:n]
    order = np.lexsort((some, np.take_along_axis(squares, some, axis=0)), axis=0)
    return np.take_along_axis(some, order, axis=0).T


def _same_places(before: Kept, winners: Indices, n_prototypes: int) -> Indices:
    """Return for each old prototype the new one that wins most of what the old one stood for, each once."""
    moved = np.zeros((n_prototypes, n_prototypes))
    np.add.at(moved, (before.owners, winners), before.masses)
    return linear_sum_assignment(-moved)[1]


def constant_diagonal(diagonal: Floats | None) -> float | None:
    """Return the value of a constant diagonal, NaN of another."""
    if diagonal is None:
        return None
    same = np.ptp(diagonal) <= 1e-9 * np.abs(diagonal).max(initial=1e-300)
    return float(diagonal[0]) if same else float("nan")
