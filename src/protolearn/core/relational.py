"""Prototypes of objects without coordinates: combinations of objects (`Relational`), or single objects (`Median`).

Both know their distances to all objects after one product of the dissimilarities with the weights of an epoch
(`Pairs.times`), which also does for kernels, for a virtual spread and for landmarks.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_array, issparse

from protolearn.core.numerics import flushed
from protolearn.core.pairs import Combination, Pairs, Span
from protolearn.core.types import Bools, Floats, Indices

__all__ = ["Median", "Related", "Relational"]


class Related(ABC):
    """Prototypes with known distances to every object of some `Pairs`, and a fuzzy label (k, C) each.

    Examples
    --------
    `Relational` prototypes are related to all objects:

    >>> import numpy as np
    >>> from protolearn.core.pairs import Pairs
    >>> from protolearn.core.relational import Related, Relational
    >>> x, coefficients = np.array([0.0, 1.0, 5.0]), np.array([[1.0, 1.0], [0.0, 0.0], [0.0, 0.0]])
    >>> prototypes: Related = Relational.at(Pairs((x[:, None] - x) ** 2), coefficients)
    >>> prototypes.distances[:, 0].tolist()
    [0.0, 1.0, 25.0]
    >>> prototypes.reseeded(np.array([False, True])).distances[:, 1].tolist()  # goes to the farthest object
    [25.0, 16.0, 0.0]
    """

    pairs: Pairs
    fuzzy: Floats
    squares: Any  # squared distances (n, k) of all objects, labels not counted
    between: Any  # squared distances (k, k) between prototypes
    linear = True

    @abstractmethod
    def __len__(self) -> int:
        """Return the number of prototypes."""

    @abstractmethod
    def take(self, places: Indices) -> Self:
        """Return the prototypes in another order."""

    @abstractmethod
    def same(self, other: Self) -> bool:
        """Say whether these are the same prototypes as others."""

    @abstractmethod
    def at_objects(self, chosen: Indices, which: Indices) -> Self:
        """Move some prototypes to given objects."""

    def reseeded(self, idle: Bools) -> Self:
        """Move idle prototypes to the objects that are farthest from their own prototype."""
        lost = np.where(self.pairs.weights > 0, self.distances.min(axis=1), -np.inf)
        which = np.flatnonzero(idle)
        return self.at_objects(np.argsort(lost)[::-1][: len(which)], which)

    @abstractmethod
    def update(self, sums: Combination) -> Self:
        """Return the best prototypes for these weights; one without objects stays."""

    @cached_property
    def distances(self) -> Floats:
        """Squared distances (n, k) of all objects, with the share of the labels."""
        share = self.pairs.label_weight
        if share == 0:
            return self.squares
        apart = label_distances(self.pairs.labels.vectors, self.fuzzy)
        return (1.0 - share) * self.squares + share * self.pairs.label_unit * apart

    def measure(self, dtype: Any) -> Callable[[Span], tuple[Floats, Callable[..., Combination]]]:
        """Return the function that gives the distances (c, k) of some objects, and one that collects weights (k, c)."""

        def look(span: Span) -> tuple[Floats, Callable[..., Combination]]:
            return self.distances[span.rows].copy(), partial(self.sums, span)

        return look

    def winner_search(self, dtype: Any, mixture: Floats | None = None) -> Callable[[Span], NDArray[np.intp]]:
        """Return the function that gives the nearest prototype (c,) of some objects, by mixed distances if asked."""
        mix = None if mixture is None else mixture.T

        def find(span: Span) -> NDArray[np.intp]:
            distances = self.distances[span.rows]
            return (distances if mix is None else distances @ mix).argmin(axis=1)

        return find

    def sums(self, span: Span, weights: Any, log_scale: Floats | None = None) -> Combination:
        """Collect weights (k, c), a dense or sparse array, of some objects."""
        scale = np.zeros(len(self)) if log_scale is None else log_scale
        return Combination(csr_array(weights.T) if issparse(weights) else weights.T, scale)

    def cost(self, sums: Combination) -> float:
        """Return half the weighted sum of distances."""
        together = sums.weights.T @ self.distances if sums.mixture is not None else None
        if together is not None:
            twice = (together * sums.mixture).sum(axis=0)
        else:
            twice = np.asarray((sums.dense * self.distances).sum(axis=0))
        scale = np.where(np.isfinite(sums.log_scale), sums.log_scale, -np.inf)
        return 0.5 * float(np.exp(scale) @ twice) + sums.offset

    def final_cost(self, sums: Combination) -> float:
        """Return the cost by which results are compared."""
        return self.cost(sums)

    def _mean_labels(self, sums: Combination) -> Floats:
        """Return the weighted mean label of every prototype's objects; one without labeled objects keeps its own."""
        together = sums.dense.T @ self.pairs.labels.vectors
        mass = together.sum(axis=1, keepdims=True)
        return np.divide(together, mass, out=self.fuzzy.copy(), where=mass > 0)


@dataclass(frozen=True)
class Relational(Related):
    """Prototypes that are combinations of objects, with coefficients that add up to one.

    Parameters
    ----------
    pairs : Pairs
        The objects.
    coefficients : array of shape (n, k)
        A column for each prototype.
    products : array of shape (n, k)
        ``S @ coefficients``.
    fuzzy : array of shape (k, C)
        Labels.
    n_largest : int, optional
        Number of coefficients kept for each prototype, all by default.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.array([0.0, 1.0, 5.0])
    >>> pairs = Pairs((x[:, None] - x) ** 2)
    >>> Relational.at(pairs, np.array([[0.5], [0.5], [0.0]])).distances.ravel()
    array([ 0.25,  0.25, 20.25])
    """

    pairs: Pairs
    coefficients: Floats
    products: Floats
    fuzzy: Floats
    n_largest: int | None = None

    @classmethod
    def at(
        cls, pairs: Pairs, coefficients: Floats, fuzzy: Floats | None = None, n_largest: int | None = None
    ) -> Relational:
        """Make prototypes with given coefficients (n, k)."""
        if fuzzy is None:
            fuzzy = coefficients.T @ pairs.labels.filled
        return cls(pairs, coefficients, pairs.times(coefficients), fuzzy, n_largest)

    def __len__(self) -> int:
        return self.coefficients.shape[1]

    @cached_property
    def self_terms(self) -> Floats:
        """Return ``a' S a`` for each prototype."""
        return np.einsum("ji,ji->i", self.coefficients, self.products)

    @cached_property
    def squares(self) -> Floats:
        """Squared distances (n, k) of all objects; negative ones can occur if S is not Euclidean."""
        return self.products - 0.5 * self.self_terms  # Hasenfuss 2009, eq. 4.7

    @property
    def between(self) -> Floats:
        """Squared distances (k, k) between prototypes."""
        crossed = self.coefficients.T @ self.products
        return between(0.5 * (crossed + crossed.T))

    def take(self, places: Indices) -> Relational:
        """Return the prototypes in another order."""
        coefficients, products = self.coefficients[:, places], self.products[:, places]
        return replace(self, coefficients=coefficients, products=products, fuzzy=self.fuzzy[places])

    def perturbed(self, coefficients: Floats, share: float) -> Relational:
        """Mix a share of other coefficients (n, k) in."""
        mixed = (1.0 - share) * self.coefficients + share * coefficients
        return Relational.at(self.pairs, mixed, self.fuzzy, self.n_largest)

    def same(self, other: Relational) -> bool:
        """Say whether coefficients are the same."""
        return bool((self.coefficients == other.coefficients).all() and (self.fuzzy == other.fuzzy).all())

    def at_objects(self, chosen: Indices, which: Indices) -> Relational:
        """Move some prototypes to given objects."""
        coefficients = self.coefficients.copy()
        coefficients[:, which] = 0.0
        coefficients[chosen, which] = 1.0
        fuzzy = self.fuzzy.copy()
        fuzzy[which] = self.pairs.labels.filled[chosen]
        return Relational.at(self.pairs, coefficients, fuzzy, self.n_largest)

    def update(self, sums: Combination) -> Relational:
        """Make every prototype the weighted mean of its objects."""
        mass = sums.mass
        full = mass > 0
        scale = 1.0 / np.where(full, mass, 1.0)
        if self.n_largest is not None:
            coefficients = largest(sums.dense * scale, self.n_largest)
            products = self.pairs.times(csr_array(coefficients))
        else:
            coefficients = flushed(sums.dense * scale)  # Hasenfuss 2009, eq. 4.12
            products = self.pairs.times(sums.weights)
            products = (products if sums.mixture is None else products @ sums.mixture) * scale
        return replace(
            self,
            coefficients=np.where(full, coefficients, self.coefficients),
            products=np.where(full, products, self.products),
            fuzzy=self._mean_labels(sums),
        )

    def final_cost(self, sums: Combination) -> float:
        """Return the cost with the best prototypes for these weights: the dual cost, which needs no prototypes."""
        return self.update(sums).cost(sums)  # Hasenfuss 2009, eq. 4.14


@dataclass(frozen=True)
class Median(Related):
    """Prototypes that are single objects; the optimal prototype has the smallest weighted sum of dissimilarities.

    Parameters
    ----------
    pairs : Pairs
        The objects.
    indices : array of shape (k,)
        Index of the object of each prototype.
    fuzzy : array of shape (k, C)
        Labels.
    distinct : bool, default=True
        Whether all prototypes must be different objects.
    own_labels : bool, default=False
        Whether a prototype has the label of its object instead of the mean label of the objects in its neighborhood.
    jitter : array of shape (n, k), optional
        Noise added to distances when prototypes are compared.
    n_open : int, optional
        Number of objects, in the order of the pairs, that were not tried since the last swap; all by default.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.array([0.0, 1.0, 5.0])
    >>> pairs = Pairs((x[:, None] - x) ** 2)
    >>> Median.at(pairs, np.array([2])).update(Combination(np.ones((3, 1)), np.zeros(1))).indices
    array([1])
    """

    pairs: Pairs
    indices: Indices
    squares: Floats
    fuzzy: Floats
    distinct: bool = True
    own_labels: bool = False
    jitter: Floats | None = None
    n_open: int | None = None

    @classmethod
    def at(cls, pairs: Pairs, indices: Indices, fuzzy: Floats | None = None, **options: Any) -> Median:
        """Make prototypes at given objects."""
        fuzzy = pairs.labels.filled[indices] if fuzzy is None else fuzzy
        return cls(pairs, indices, pairs.columns(indices), fuzzy, **options)

    def __len__(self) -> int:
        return len(self.indices)

    @property
    def between(self) -> Floats:
        """Squared dissimilarities (k, k) between prototypes."""
        return self.squares[self.indices]

    def take(self, places: Indices) -> Median:
        """Return the prototypes in another order."""
        indices, squares = self.indices[places], self.squares[:, places]
        return replace(self, indices=indices, squares=squares, fuzzy=self.fuzzy[places])

    def same(self, other: Median) -> bool:
        """Say whether objects and labels are the same."""
        return bool((self.indices == other.indices).all() and (self.fuzzy == other.fuzzy).all())

    def at_objects(self, chosen: Indices, which: Indices) -> Median:
        """Move some prototypes to given objects."""
        indices, squares, fuzzy = self.indices.copy(), self.squares.copy(), self.fuzzy.copy()
        indices[which] = chosen
        squares[:, which] = self.pairs.columns(chosen)
        fuzzy[which] = self.pairs.labels.filled[chosen]
        return replace(self, indices=indices, squares=squares, fuzzy=fuzzy)

    def measure(self, dtype: Any) -> Callable[[Span], tuple[Floats, Callable[..., Combination]]]:
        """Return the function that gives distances, jittered if asked, and one that collects weights."""
        look = super().measure(dtype)
        if self.jitter is None:
            return look
        jitter = self.jitter

        def shaken(span: Span) -> tuple[Floats, Callable[..., Combination]]:
            distances, sums = look(span)
            return distances + jitter[span.rows], sums

        return shaken

    def update(self, sums: Combination) -> Median:
        """Move every prototype to the generalized median of its objects, unless it is as good where it is."""
        fuzzy = self._mean_labels(sums)
        products = self.pairs.times(sums.weights)
        losses = (products if sums.mixture is None else products @ sums.mixture).T  # Hasenfuss 2009, eq. 4.5
        if self.own_labels:
            share, labels, weights = self.pairs.label_weight, self.pairs.labels, sums.dense
            own = labels.filled
            norms, own_norms = (np.einsum("jc,jc->j", part, part) for part in (labels.vectors, own))
            apart = (norms @ weights)[:, None] + (labels.known @ weights)[:, None] * own_norms
            apart = apart - 2.0 * (weights.T @ labels.vectors) @ own.T
            losses = (1.0 - share) * losses + share * self.pairs.label_unit * apart
        losses = np.where(sums.mass[:, None] == 0, np.inf, losses)
        every = np.arange(len(self))
        indices = self.pairs.order[first_of_least(losses[:, self.pairs.order])]
        present = losses[every, self.indices]
        rounding = 1e-12 * np.abs(np.where(np.isinf(present), 0.0, present))
        indices = np.where(losses[every, indices] < present - rounding, indices, self.indices)
        if self.distinct and self._coincide(indices):
            indices = self._apart(losses, np.exp(sums.log_scale))
        moved = np.flatnonzero(indices != self.indices)
        squares = self.squares.copy()
        squares[:, moved] = self.pairs.columns(indices[moved])
        if self.own_labels:
            fuzzy = self.pairs.labels.filled[indices]
        return replace(self, indices=indices, squares=squares, fuzzy=fuzzy)

    def swapped(self) -> Median:
        """Try every object once, and swap a prototype for it if that lowers the cost of winners."""
        from protolearn.core._kernels import swap_medoids

        indices = self.indices.copy()
        n_open = self.pairs.n_samples if self.n_open is None else self.n_open
        n_open = swap_medoids(self.pairs.squares, self.pairs.weights, indices, self.pairs.order, n_open)
        moved = np.flatnonzero(indices != self.indices)
        return replace(self.at_objects(indices[moved], moved), n_open=n_open)

    def _coincide(self, indices: Indices) -> bool:
        """Say whether two of some objects do not differ."""
        if np.count_nonzero(self.pairs.block(indices) == 0) == len(indices):
            return False
        return len(np.unique(self._twins[indices])) < len(indices)

    @property
    def _twins(self) -> Indices:
        """For every object the first that equals it, also in its label if that counts."""
        return np.arange(self.pairs.n_samples) if self.own_labels else self.pairs.twins

    def _apart(self, losses: Floats, scale: Floats) -> Indices:
        """Return the best different objects: an assignment problem, in which each has its k best to choose from."""
        k, twins = len(self), self._twins
        present = twins[self.indices]
        free = np.isinf(losses[:, 0])
        different = np.unique(twins)
        if len(different) < k:
            return present
        best = np.argpartition(losses[:, different], k - 1, axis=1)[~free, :k]
        candidates = np.union1d(different[best], present)
        candidates = self.pairs.order[np.isin(self.pairs.order, candidates)]
        costs = np.maximum(scale, 1e-12 * scale.max())[:, None] * losses[:, candidates]
        costs[free] = np.where(candidates == present[free, None], 0.0, np.abs(costs[~free]).sum() + 1.0)
        before = (candidates == present[:, None]).argmax(axis=1)
        # prototypes that want the same get different objects by their order, not by rounding
        _, chosen = linear_sum_assignment(np.round(costs / max(np.abs(costs).max(), 1e-300), 10))
        every = np.arange(k)
        gain = costs[every, before].sum() - costs[every, chosen].sum()
        better = gain > 1e-12 * np.abs(costs[every, before]).sum() or len(np.unique(present)) < k
        return candidates[chosen] if better else self.indices


def first_of_least(losses: Floats) -> NDArray[np.intp]:
    """Return the first column (k,) of the least value of every row, where values apart by rounding count as equal."""
    least = losses.min(axis=1, keepdims=True)
    return (losses <= least + 1e-12 * np.abs(least)).argmax(axis=1)


def label_distances(labels: Floats, fuzzy: Floats) -> Floats:
    """Return squared distances (n, k) between label vectors (n, C) and (k, C); 0 of a vector 0, which is no label."""
    norms = np.einsum("jc,jc->j", labels, labels)[:, None]
    return np.maximum(norms + labels @ (np.einsum("ic,ic->i", fuzzy, fuzzy) - 2.0 * fuzzy.T), 0.0)


def between(crossed: Floats) -> Floats:
    """Return squared distances between combinations a, from all ``a_i' S a_j``."""
    own = np.diag(crossed)
    squares = crossed - 0.5 * own[:, None] - 0.5 * own  # Hasenfuss 2009, eq. 4.8
    np.fill_diagonal(squares, 0.0)
    return squares


def largest(coefficients: Floats, n_largest: int) -> Floats:
    """Keep the largest coefficients of every column, and let them add up to one again."""
    if n_largest >= len(coefficients):
        return coefficients
    kept = np.argpartition(-coefficients, n_largest - 1, axis=0)[:n_largest]
    sparse = np.zeros_like(coefficients)
    np.put_along_axis(sparse, kept, np.take_along_axis(coefficients, kept, axis=0), axis=0)
    sums = sparse.sum(axis=0)
    return sparse / np.where(sums == 0, 1.0, sums)
