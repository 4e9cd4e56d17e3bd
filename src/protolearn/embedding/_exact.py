"""The divergence between the affinities of data and those of a view, and its gradient, from all pairs of points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from protolearn.embedding.divergences import Divergence
from protolearn.embedding.view import Kernel

__all__ = ["Exact", "Step", "floors"]

Floats = NDArray[np.float64]

P_FLOOR = 1e-6  # smallest affinity of the data, in units of the mean one, if the divergence does not allow zeros
Q_FLOOR = 1e-30  # smallest affinity in the view, in the same units
Q_FLOOR_OF_RATIOS = 1e-6  # the same if the divergence pulls by a negative power of it, without bounds
TINY = np.finfo(np.float64).tiny


class Step(NamedTuple):
    """A gradient (n, d), and how strongly points attract each other in all: the natural unit of the gradient."""

    gradient: Floats
    mass: float


def floors(divergence: Divergence, n: int, symmetric: bool) -> tuple[float, float]:
    """Return the smallest affinities of the data and of the view that count."""
    mean = 1.0 / (n * (n - 1) if symmetric else n - 1)
    q_floor = Q_FLOOR_OF_RATIOS if divergence.pull is not None and divergence.pull.q_power < 0.0 else Q_FLOOR
    return P_FLOOR * mean if divergence.needs_positive_p else 0.0, q_floor * mean


@dataclass
class Exact:
    """All pairs of points, one by one.

    Parameters
    ----------
    p : ndarray of shape (n, n)
        Affinities of the data, with a zero diagonal; the sum of all is 1 if symmetric, else that of each row.
    kernel : Kernel
        Of the view.
    symmetric : bool
        How affinities are normalised.
    """

    p: Floats
    kernel: Kernel
    symmetric: bool

    def step(self, points: Floats, divergence: Divergence, exaggeration: float = 1.0) -> Step:
        """Return the gradient of the divergence, with the pull between neighbours exaggerated."""
        p, p_least, q, squares = self._affinities(points, divergence)
        sums = divergence.terms(p, q).sum(axis=self._pairs, keepdims=True)
        weights = divergence.weights(sums)
        pushes = q * (weights * divergence.slopes(p_least, q)).sum(axis=0)
        pulls = q * (weights * divergence.slopes(p, q)).sum(axis=0) - pushes
        total = (pulls + pushes).sum(axis=None if self.symmetric else 1, keepdims=True)
        # Bunte 2011, eq. 9.57 and 9.61
        forces = _with_diagonal(-self.kernel.decay(squares) * (exaggeration * pulls + pushes - q * total))
        forces += forces.T
        gradient = 2.0 * (forces.sum(axis=1)[:, None] * points - forces @ points)
        return Step(gradient, float(np.abs(pulls).sum()))

    def value(self, points: Floats, divergence: Divergence) -> float:
        """Return the divergence; if conditional, that of all rows together."""
        p, _, q, _ = self._affinities(points, divergence)
        return float(np.sum(divergence.outer(divergence.terms(p, q).sum(axis=self._pairs))))

    @property
    def _pairs(self) -> tuple[int, ...]:
        """The axes of terms (m, n, n - 1) that a divergence sums over."""
        return (1, 2) if self.symmetric else (2,)

    def _affinities(self, points: Floats, divergence: Divergence) -> tuple[Floats, float, Floats, Floats]:
        """Return p and its floor, q, and squared distances, (n, n - 1): without the diagonal."""
        from scipy.spatial.distance import pdist, squareform

        p_least, q_least = floors(divergence, len(points), self.symmetric)
        squares = _without_diagonal(squareform(pdist(points, "sqeuclidean")))
        w = self.kernel.weights(squares)
        mass = w.sum(axis=None if self.symmetric else 1, keepdims=True)
        q = np.maximum(w / np.maximum(mass, TINY), q_least)
        return np.maximum(_without_diagonal(self.p), p_least), p_least, q, squares


def _without_diagonal(matrix: Floats) -> Floats:
    n = len(matrix)
    return np.ascontiguousarray(matrix).ravel()[1:].reshape(n - 1, n + 1)[:, :-1].reshape(n, n - 1)


def _with_diagonal(entries: Floats) -> Floats:
    n = len(entries)
    matrix = np.zeros(n * n)
    matrix[1:].reshape(n - 1, n + 1)[:, :-1] = entries.reshape(n - 1, n)
    return matrix.reshape(n, n)
