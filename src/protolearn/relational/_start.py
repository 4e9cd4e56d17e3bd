"""Initialization of prototypes of objects. Draws depend on the dissimilarities, not on the order of the objects."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from protolearn.core.initialization import inverse_cdf
from protolearn.core.numerics import first_lowest, settled_signs
from protolearn.core.pairs import Pairs
from protolearn.core.types import Bools, Floats, Indices

__all__ = ["around_center", "on_principal_plane", "principal_plane", "random_objects", "spread_objects"]


N_VECTORS, N_POWERS = 8, 6  # subspace iteration for the two largest directions


def spread_objects(pairs: Pairs, n_prototypes: int, rng: np.random.RandomState) -> Indices:
    """k-means++: objects drawn with probability proportional to the squared dissimilarity from those drawn before."""
    return _draw(pairs, n_prototypes, rng, power=1.0, n_candidates=2 + int(np.log(n_prototypes)))


def random_objects(pairs: Pairs, n_prototypes: int, rng: np.random.RandomState) -> Indices:
    """Random objects, no two of them equal."""
    return _draw(pairs, n_prototypes, rng, power=0.0, n_candidates=1)


def around_center(pairs: Pairs, n_prototypes: int, rng: np.random.RandomState, share: float = 0.01) -> Floats:
    """Return coefficients (n, k) of the center, with a share of a random object for each prototype."""
    shares = pairs.weights / pairs.weights.sum()
    order = pairs.order
    coefficients = np.tile((1.0 - share) * shares[:, None], n_prototypes)
    drawn = order[inverse_cdf(np.cumsum(shares[order]), rng.random_sample(n_prototypes))]
    coefficients[drawn, np.arange(n_prototypes)] += share
    return coefficients


def on_principal_plane(pairs: Pairs, coordinates: Floats) -> Floats:
    """Return coefficients (n, k) that lay lattice coordinates (k, 2) over the plane of classical scaling.

    Each axis gets the standard deviation of the objects along it.
    """
    shares = pairs.weights / pairs.weights.sum()
    values, axes = principal_plane(pairs)
    centered = coordinates - coordinates.mean(axis=0)
    deviations = centered.std(axis=0)
    scaled = centered / np.where(deviations > 0, deviations, 1.0)
    q = min(len(values), scaled.shape[1])
    return shares[:, None] + np.sqrt(shares)[:, None] * (axes[:, :q] @ scaled[:, :q].T)


def principal_plane(pairs: Pairs) -> tuple[Floats, Floats]:
    """Return the two largest variances of classical scaling, and eigenvectors (n, 2) of the weighted Gram matrix."""
    roots = np.sqrt(pairs.weights / pairs.weights.sum())

    def gram(vectors: Floats) -> Floats:
        centered = roots[:, None] * vectors
        centered -= np.square(roots)[:, None] * centered.sum(axis=0)
        product = -0.5 * pairs.times(centered)
        product -= np.square(roots) @ product
        return roots[:, None] * product

    order = pairs.order
    vectors = np.empty((pairs.n_samples, min(N_VECTORS, pairs.n_samples)))
    vectors[order] = np.random.RandomState(0).standard_normal(vectors.shape)
    for _ in range(N_POWERS):
        vectors, _ = np.linalg.qr(gram(vectors))
    small = vectors.T @ gram(vectors)
    values, turns = np.linalg.eigh(0.5 * (small + small.T))
    largest = np.argsort(values)[::-1][:2]
    axes = vectors @ turns[:, largest]
    signs = settled_signs(axes / roots[:, None], np.square(roots), order[0])
    return np.maximum(values[largest], 0.0), axes * signs


def _draw(pairs: Pairs, n_prototypes: int, rng: np.random.RandomState, power: float, n_candidates: int) -> Indices:
    """Draw objects with probability proportional to weight times (squared dissimilarity to the nearest) ^ power."""
    order, weights = pairs.order, pairs.weights
    nearest = np.full(pairs.n_samples, np.inf)
    odds = weights
    chosen: list[int] = []
    while len(chosen) < n_prototypes and odds.any():
        drawn = order[inverse_cdf(np.cumsum(odds[order]), rng.random_sample(n_candidates if chosen else 1))]
        improved = np.minimum(nearest[:, None], np.maximum(pairs.columns(drawn), 0.0))
        best = first_lowest(weights @ improved)
        chosen.append(int(drawn[best]))
        nearest = improved[:, best]
        left = np.where(_equal_to(chosen, nearest, pairs), 0.0, weights)
        odds = left * nearest**power
        if not odds.any():
            odds = left  # different objects without a distance
    if len(chosen) < n_prototypes:
        warnings.warn(
            f"Only {len(chosen)} distinct objects for {n_prototypes} prototypes: some prototypes coincide. "
            "Use fewer prototypes.",
            ConvergenceWarning,
            stacklevel=2,
        )
    return np.resize(chosen, n_prototypes).astype(np.int64)


def _equal_to(chosen: list[int], nearest: Floats, pairs: Pairs) -> Bools:
    """Tell which objects are among some, or do not differ from one of them; ``nearest`` is their distance to these."""
    if np.count_nonzero(nearest == 0) == len(chosen):
        return nearest == 0
    return np.isin(pairs.twins, pairs.twins[chosen])
