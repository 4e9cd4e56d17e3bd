"""How maps of dissimilarities learn from epoch to epoch, where it is not by plain annealing; and their dual cost."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.exceptions import ConvergenceWarning

from protolearn.core.learning import Epochs
from protolearn.core.loop import Step, anneal
from protolearn.core.neighborhoods import Neighborhood
from protolearn.core.pairs import Pairs
from protolearn.core.relational import Median
from protolearn.core.types import Floats, Indices
from protolearn.relational._start import around_center

__all__ = ["KeepingBest", "dual_cost", "noisy", "perturbed", "swap_epochs", "swapped", "until_still"]

PERTURBATION = 1e-3  # share of a random object that is mixed in, so that prototypes which coincide can part


def until_still(
    prototypes: Any,
    neighborhood: Neighborhood,
    source: Any,
    ranges: Floats,
    rng: np.random.RandomState,
    *,
    reseeds: bool,
) -> Iterator[Step]:
    """Run epochs of k-means until no prototype changes; an idle one may move to the farthest object.

    If the dissimilarities are not Euclidean, assignments can repeat in a cycle, which also ends the run.
    """
    seen: set[bytes] = set()
    last = b""
    for range_ in ranges:
        (step,) = anneal(prototypes, neighborhood, source, np.array([range_]))
        moved: Any = step.prototypes
        idle = step.mass == 0
        if reseeds and idle.any():
            moved = moved.reseeded(idle)
        rests = moved.same(prototypes)
        assigned = last if rests else moved.distances.argmin(axis=1).tobytes()
        cycles = assigned in seen and assigned != last
        yield replace(step.moved(moved), still=rests or cycles)
        if rests:
            return
        if cycles:
            warnings.warn(
                "Assignments repeat in a cycle, because the dissimilarities are not Euclidean. With spread='implicit' "
                "the cost always falls; keep_best=True returns the best epoch.",
                ConvergenceWarning,
                stacklevel=2,
            )
            return
        seen.add(assigned)
        prototypes, last = moved, assigned


@dataclass(frozen=True)
class KeepingBest:
    """Epochs after which prototypes are those of the lowest dual cost up to there, the last of several."""

    epochs: Epochs

    def __call__(self, *parts: Any) -> Iterator[Step]:
        """Run the epochs."""
        best, lowest = None, np.inf
        for step in self.epochs(*parts):
            cost = cost_of_fields(step.prototypes)
            if best is None or cost <= lowest + 1e-12 * abs(lowest):  # equal fields, whatever rounding says
                best, lowest = step.prototypes, min(cost, lowest)
            yield step.moved(best)


def cost_of_fields(prototypes: Any) -> float:
    """Return the dual cost of the prototypes' receptive fields, with the share of the labels."""
    pairs, k = prototypes.pairs, len(prototypes)
    winners, share = prototypes.distances.argmin(axis=1), pairs.label_weight
    cost = dual_cost(pairs, winners, k)
    if share == 0:
        return cost
    members = csr_array((pairs.weights, winners, np.arange(len(winners) + 1)), shape=(len(winners), k))
    vectors, known = pairs.labels.vectors, pairs.labels.known
    sums = members.T @ vectors
    means = sums / np.maximum(sums.sum(axis=1, keepdims=True), 1e-300)
    scatter = known * np.square(vectors - means[winners]).sum(axis=1)
    return (1.0 - share) * cost + share * pairs.label_unit * 0.5 * float(pairs.weights @ scatter)


def dual_cost(source: Pairs, winners: Indices, n_prototypes: int) -> float:
    """Return the cost of the receptive fields, without prototypes."""
    n = len(winners)
    order = np.argsort(winners, kind="stable")
    fields = np.split(order, np.flatnonzero(np.diff(winners[order])) + 1)
    if source.in_memory and sum(len(field) ** 2 for field in fields) < n**2 // 4:
        blocks = [(source.weights[field], source.block(field)) for field in fields]
        return 0.25 * float(sum(u @ block @ u / u.sum() for u, block in blocks))  # Hasenfuss 2009, eq. 4.14
    members = csr_array((source.weights, winners, np.arange(n + 1)), shape=(n, n_prototypes))
    products = source.times(members)
    twice = np.bincount(winners, source.weights * products[np.arange(n), winners], n_prototypes)
    mass = np.bincount(winners, source.weights, n_prototypes)
    return 0.25 * float((twice / np.where(mass > 0, mass, 1.0)).sum())


def swap_epochs(
    prototypes: Median,
    neighborhood: Neighborhood,
    source: Any,
    ranges: Floats,
    rng: np.random.RandomState,
    *,
    otherwise: Epochs,
) -> Iterator[Step]:
    """Run epochs in which every object is tried in place of a prototype, until none of them is better.

    Where prototypes cannot be swapped, others are run.
    """
    if not can_swap(prototypes):
        yield from otherwise(prototypes, neighborhood, source, ranges, rng)
        return
    for _ in ranges:
        sums: Any = neighborhood.gather(prototypes, source, 0.0)  # type: ignore[arg-type]
        moved = prototypes.swapped()
        rests = moved.n_open == 0
        yield Step(moved, 0.0, prototypes.cost(sums), sums.mass, still=rests)  # type: ignore[arg-type]
        if rests:
            return
        prototypes = moved


def swapped(prototypes: Median, source: Any, range_: float, rng: np.random.RandomState) -> tuple[Median, float | None]:
    """Swap prototypes for other objects as long as that helps."""
    if can_swap(prototypes):
        while prototypes.n_open != 0:
            prototypes = prototypes.swapped()
    return prototypes, None


def can_swap(prototypes: Median) -> bool:
    """Say whether all dissimilarities are in memory, and prototypes are several different objects."""
    apart = len(prototypes) > 1 and len(np.unique(prototypes.indices)) == len(prototypes)
    return apart and not callable(prototypes.pairs.matrix)


def noisy(
    prototypes: Any,
    neighborhood: Neighborhood,
    source: Any,
    ranges: Floats,
    rng: np.random.RandomState,
    *,
    noise: float,
) -> Iterator[Step]:
    """Run epochs with noise on the distances, as a share of their mean; it fades, and the last epoch has none."""
    scale = noise * float(np.abs(prototypes.squares).mean())
    for epoch, range_ in enumerate(ranges):
        height = scale * (1.0 - (epoch + 1) / len(ranges))
        jitter = height * rng.random_sample(prototypes.squares.shape) if height > 0 else None
        (step,) = anneal(replace(prototypes, jitter=jitter), neighborhood, source, np.array([range_]))
        prototypes = step.prototypes
        yield step


def perturbed(
    prototypes: Any, neighborhood: Neighborhood, source: Any, ranges: Floats, rng: np.random.RandomState
) -> Iterator[Step]:
    """Run epochs before each of which a little of a random object is mixed into every prototype."""
    for range_ in ranges:
        mixed = prototypes.perturbed(around_center(source, len(prototypes), rng, share=1.0), PERTURBATION)
        (step,) = anneal(mixed, neighborhood, source, np.array([range_]))
        prototypes = step.prototypes
        yield step
