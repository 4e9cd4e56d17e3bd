"""How maps of dissimilarities learn from epoch to epoch, where it is not by plain annealing; and their dual cost."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.exceptions import ConvergenceWarning

from protolearn.core.cooperation import Cooperation
from protolearn.core.learning import Epochs
from protolearn.core.loop import Step, anneal
from protolearn.core.pairs import Pairs
from protolearn.core.relational import Median
from protolearn.core.types import Floats, Indices
from protolearn.relational._start import around_center, principal_plane

__all__ = ["cooled", "dual_cost", "keeping_best", "noisy", "swap_epochs", "until_still"]

PERTURBATION = 1e-3  # share of a random object that is mixed in, so that prototypes which coincide can part


def until_still(
    prototypes: Any,
    cooperation: Cooperation,
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
        (step,) = anneal(prototypes, cooperation, source, np.array([range_]))
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


def keeping_best(epochs: Epochs) -> Epochs:
    """Return epochs after which prototypes are those of the lowest dual cost up to there, the last of several."""

    def run(*parts: Any) -> Iterator[Step]:
        best, lowest = None, np.inf
        for step in epochs(*parts):
            cost = cost_of_fields(step.prototypes)
            if best is None or cost <= lowest + 1e-12 * abs(lowest):  # equal fields, whatever rounding says
                best, lowest = step.prototypes, min(cost, lowest)
            yield step.moved(best)

    return run


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
    prototypes: Median, cooperation: Cooperation, source: Any, ranges: Floats, rng: np.random.RandomState
) -> Iterator[Step]:
    """Run epochs in which every object is tried in place of a prototype, until none of them is better."""
    for _ in ranges:
        sums: Any = cooperation.gather(prototypes, source, 0.0)  # type: ignore[arg-type]
        swapped = prototypes.swapped()
        rests = swapped.n_open == 0
        yield Step(swapped, 0.0, prototypes.cost(sums), sums.mass, still=rests)  # type: ignore[arg-type]
        if rests:
            return
        prototypes = swapped


def noisy(
    prototypes: Any,
    cooperation: Cooperation,
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
        (step,) = anneal(replace(prototypes, jitter=jitter), cooperation, source, np.array([range_]))
        prototypes = step.prototypes
        yield step


def cooled(
    prototypes: Any,
    cooperation: Cooperation,
    source: Any,
    ranges: Floats,
    rng: np.random.RandomState,
    *,
    start: float | str,
    end: float | str,
    falling: Callable[[float, float], Floats],
) -> Iterator[Step]:
    """Run epochs at temperatures that fall from a start to an end; "auto" ones follow from the objects."""
    first = (1.1 * float(principal_plane(source)[0][0]) or 1.0) if isinstance(start, str) else float(start)
    for temperature in falling(first, 1e-3 * first if isinstance(end, str) else float(end)):
        perturbed = prototypes.perturbed(around_center(source, len(prototypes), rng, share=1.0), PERTURBATION)
        (step,) = anneal(perturbed, cooperation, source, np.array([temperature]))
        prototypes = step.prototypes
        yield step
