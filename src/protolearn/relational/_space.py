"""A Euclidean space in which prototypes of objects can move: as coordinates there, and as combinations of the objects.

Squared dissimilarities S are those of points in a space in which some directions may count negatively. With shares s of
the objects, the Gram matrix around their mean is ``B = -1/2 (1 - 1 s') S (1 - s 1')``. Combinations ``s + U a`` with
``U' B U = 1`` are points with coordinates a, and the objects have the coordinates ``Z = B U``:

    d(x_j, s + U a) = |z_j - a|^2 + (B_jj - |z_j|^2)

The last term is the same for all prototypes. It is zero if S are squared distances of points and U spans all of their
space, and holds what is left out otherwise: small directions, and all that count negatively.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from protolearn.core.pairs import Pairs
from protolearn.core.types import Floats, Indices

__all__ = ["EuclideanPart", "euclidean_part"]

SMALL = 1000  # objects up to which all directions are computed
N_POWERS, N_MORE = 2, 20  # subspace iteration for the largest directions of more objects
NEGLIGIBLE = 1e-10  # variances below this share of the largest are rounding
RIDGE = 0.1  # share of the mean square that keeps coefficients small: chosen objects differ beyond the space, too


@dataclass(frozen=True)
class EuclideanPart:
    """Coordinates of objects (n, r), and coefficients of the origin (n,) and of unit vectors along the axes (n, r)."""

    coordinates: Floats
    origin: Floats
    axes: Floats

    def positions(self, coefficients: Floats) -> Floats:
        """Return the coordinates (k, r) of combinations (k, n)."""
        return coefficients @ self.coordinates

    def combinations(self, positions: Floats) -> Floats:
        """Return coefficients (k, n) of positions (k, r); they add up to one."""
        return self.origin + positions @ self.axes.T

    def approximations(self, positions: Floats, chosen: Indices) -> Floats:
        """Return coefficients (k, c) with which some objects come near to positions (k, r); they add up to one."""
        Z = self.coordinates[chosen]
        gram = Z @ Z.T
        gram.flat[:: len(chosen) + 1] += RIDGE * np.trace(gram) / len(chosen) or 1.0
        factor = cho_factor(gram)
        coefficients, one = cho_solve(factor, Z @ positions.T).T, cho_solve(factor, np.ones(len(chosen)))
        return coefficients + ((1.0 - coefficients.sum(axis=1)) / one.sum())[:, None] * one


def euclidean_part(pairs: Pairs, n_components: int) -> EuclideanPart:
    """Return the space of the largest positive directions, as many as there are up to a number.

    Variances are those of weighted objects. Draws depend on the dissimilarities, not on the order of the objects.
    """
    shares = pairs.weights / pairs.weights.sum()
    roots = np.sqrt(shares)[:, None]
    if pairs.n_samples <= max(SMALL, 2 * n_components):
        vectors = np.eye(pairs.n_samples)
    else:
        vectors = np.empty((pairs.n_samples, n_components + N_MORE))
        vectors[pairs.order] = np.random.RandomState(0).standard_normal(vectors.shape)
        for _ in range(N_POWERS):
            vectors = np.linalg.qr(roots * _gram(pairs, shares, roots * vectors))[0]
    images = _gram(pairs, shares, roots * vectors)
    small = vectors.T @ (roots * images)
    values, turns = np.linalg.eigh(0.5 * (small + small.T))
    rounding = max(NEGLIGIBLE, pairs.n_samples * np.finfo(getattr(pairs.matrix, "dtype", np.float64)).eps)
    kept = np.flatnonzero(values > rounding * np.abs(values).max(initial=0.0))[::-1][:n_components]
    if len(kept) == 0:  # no two objects differ, or in no direction that counts
        nothing = np.zeros((pairs.n_samples, 1))
        return EuclideanPart(nothing, shares, nothing)
    turns = turns[:, kept] / np.sqrt(values[kept])
    return EuclideanPart(images @ turns, shares, roots * (vectors @ turns))


def _gram(pairs: Pairs, shares: Floats, coefficients: Floats) -> Floats:
    """Return the product of the Gram matrix around the mean with coefficients (n, q)."""
    centered = coefficients - shares[:, None] * coefficients.sum(axis=0)
    product = -0.5 * pairs.times(centered)
    return product - shares @ product
