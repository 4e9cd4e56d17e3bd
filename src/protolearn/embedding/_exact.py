"""The divergence between the affinities of data and view, and its gradient, summed over all pairs of points."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from protolearn.core.neighbors import first_smallest
from protolearn.core.threads import CLOSE, Threads, row_blocks
from protolearn.core.types import Array, Floats
from protolearn.embedding.affinities import GaussianKernel, Kernel, Neighbors, conditional_affinities
from protolearn.embedding.divergences import Divergence

__all__ = [
    "Densities",
    "Exact",
    "Gradient",
    "LocalRadii",
    "floors",
]

P_FLOOR = 1e-6  # smallest affinity of the data, in units of the mean one, if the divergence does not allow zeros


Q_FLOOR = 1e-30  # smallest affinity in the view, in the same units


Q_FLOOR_OF_RATIOS = 1e-6  # the same if the divergence pulls by a negative power of it, without bounds


TINY = np.finfo(np.float64).tiny


class Gradient(NamedTuple):
    """Gradient (n, d) of the divergence, and the total attraction of all pairs, the natural unit of the gradient.

    Parameters
    ----------
    gradient : ndarray of shape (n, d)
        The gradient of the divergence with respect to the points.
    mass : float
        Sum of the attractions of all pairs.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.embedding.forces import Gradient
    >>> step = Gradient(np.array([[0.2, 0.0], [-0.2, 0.0]]), mass=2.0)
    >>> points = np.zeros((2, 2)) - 0.1 * step.gradient / step.mass  # downhill, in the natural unit
    >>> points.round(3).tolist()
    [[-0.01, 0.0], [0.01, 0.0]]
    """

    gradient: Floats
    mass: float


def floors(divergence: Divergence, n: int, symmetric: bool) -> tuple[float, float]:
    """Return the lower bounds on the affinities of the data and of the view."""
    mean = 1.0 / (n * (n - 1) if symmetric else n - 1)
    q_floor = Q_FLOOR_OF_RATIOS if divergence.pull is not None and divergence.pull.q_power < 0.0 else Q_FLOOR
    return P_FLOOR * mean if divergence.needs_positive_p else 0.0, q_floor * mean


@dataclass
class Exact:
    """Forces summed exactly over all pairs of points.

    Parameters
    ----------
    p : ndarray of shape (n, n)
        Affinities of the data, with a zero diagonal; all of them sum to 1 if symmetric, otherwise each row does.
    kernel : Kernel
        Kernel of the affinities in the view.
    symmetric : bool
        Whether affinities are joint (normalized over all pairs) or conditional (over each row).

    Examples
    --------
    Two points that are neighbors in the data attract each other, and the third is repelled:

    >>> import numpy as np
    >>> from protolearn.embedding.divergences import KullbackLeibler
    >>> from protolearn.embedding.forces import Exact
    >>> from protolearn.embedding.affinities import StudentKernel
    >>> p = np.array([[0.0, 0.5, 0.0], [0.5, 0.0, 0.0], [0.0, 0.0, 0.0]])
    >>> step = Exact(p, StudentKernel(), symmetric=True).step(np.array([[0.0], [1.0], [2.0]]), KullbackLeibler())
    >>> np.sign(-step.gradient).ravel().tolist()  # where the points move
    [1.0, -1.0, 1.0]
    """

    p: Floats
    kernel: Kernel
    symmetric: bool

    def step(
        self, points: Floats, divergence: Divergence, exaggeration: float = 1.0, mass: float | None = None
    ) -> Gradient:
        """Return the gradient of the divergence, with exaggerated attraction between neighbors.

        Affinities of the view are the kernel divided by its sum; joint affinities are divided by ``mass`` if given.
        """
        masses = self._masses(points, mass)
        slopes = self._sums(points, masses, divergence, lambda p, q: q * divergence.slopes(p, q))
        weights = np.ones_like(slopes)
        if not divergence.is_plain_sum:
            weights = divergence.weights(self._sums(points, masses, divergence, divergence.terms))
        total = (weights * slopes).sum(axis=0) * (mass is None)
        gradient, pulled = np.zeros_like(points), 0.0
        for rows in self._blocks():
            block = self._block(points, rows, masses, divergence)
            q, weight = block.q, weights[:, self._of(rows), None]
            pushes = q * (weight * divergence.slopes(block.p_least, q)).sum(axis=0)
            pulls = q * (weight * divergence.slopes(block.p, q)).sum(axis=0) - pushes
            pulls[block.own] = 0.0
            # Bunte 2011, eq. 9.57 and 9.61
            forces = exaggeration * pulls + pushes - q * total[self._of(rows), None]
            forces *= -2.0 * self.kernel.decay(block.squares)
            forces[block.own] = 0.0
            gradient[rows] += forces.sum(axis=1)[:, None] * points[rows] - forces @ points
            gradient += forces.sum(axis=0)[:, None] * points - forces.T @ points[rows]
            pulled += float(np.abs(pulls).sum())
        return Gradient(gradient, pulled)

    def value(self, points: Floats, divergence: Divergence, mass: float | None = None) -> float:
        """Return the divergence; of conditional affinities, the sum over all rows."""
        sums = self._sums(points, self._masses(points, mass), divergence, divergence.terms)
        return float(np.sum(divergence.outer(sums)))

    def _blocks(self) -> Iterator[slice]:
        """Return blocks of rows that are small enough for the processor's cache."""
        n = len(self.p)
        return row_blocks(n, 8 * n, CLOSE)

    def _of(self, rows: slice) -> slice:
        """Return which sums, of all pairs (1,) or of each row (n,), belong to some rows."""
        return slice(None) if self.symmetric else rows

    def _masses(self, points: Floats, mass: float | None) -> Floats:
        """Return the sums of the kernel, or the mass that replaces them."""
        if mass is not None:
            return np.array([mass])
        masses = np.empty(len(points))
        for rows in self._blocks():
            w = self.kernel.weights(_squares(points, rows))
            w[_own(rows)] = 0.0
            masses[rows] = w.sum(axis=1)
        return np.maximum(masses.sum(keepdims=True) if self.symmetric else masses, TINY)

    def _sums(
        self, points: Floats, masses: Floats, divergence: Divergence, summands: Callable[[Floats, Floats], Floats]
    ) -> Floats:
        """Return the sums of functions (m, a, b) of p and q: (m, 1), or (m, n) if conditional."""
        parts = []
        for rows in self._blocks():
            block = self._block(points, rows, masses, divergence)
            values = summands(block.p, block.q)
            values[:, *block.own] = 0.0
            parts.append(values.sum(axis=2))
        sums = np.concatenate(parts, axis=1)
        return sums.sum(axis=1, keepdims=True) if self.symmetric else sums

    def _block(self, points: Floats, rows: slice, masses: Floats, divergence: Divergence) -> _Block:
        p_least, q_least = floors(divergence, len(points), self.symmetric)
        squares = _squares(points, rows)
        q = np.maximum(self.kernel.weights(squares) / masses[self._of(rows), None], q_least)
        q[_own(rows)] = q_least
        return _Block(np.maximum(self.p[rows], p_least), p_least, q, squares, _own(rows))


class _Block(NamedTuple):
    """Some rows of p and its floor, of q and of squared distances, and where the points themselves stand in them."""

    p: Floats
    p_least: float
    q: Floats
    squares: Floats
    own: tuple[Any, Any]


def _own(rows: slice) -> tuple[Any, Any]:
    """Return where the points of some rows stand in them."""
    return np.arange(rows.stop - rows.start), np.arange(rows.start, rows.stop)


def _squares(points: Floats, rows: slice) -> Floats:
    from scipy.spatial.distance import cdist

    return cdist(points[rows], points, "sqeuclidean")


LEAST = 1e-4  # radius that is none: in the data in units of the mean, in the view in those of the kernel


CALM = 0.1  # added to the variance of logarithms in the view, so that small differences are not forced


@dataclass(frozen=True)
class LocalRadii:
    """Who is a neighbor of whom, in either direction, and how large the neighborhood of each sample is.

    Parameters
    ----------
    indptr, indices : ndarray of int
        Neighbors of each sample, as a symmetric graph in rows.
    levels : ndarray of shape (n,)
        Logarithms of the local radii in the data, standardized; zeros if all radii are the same.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.embedding.affinities import Neighbors
    >>> near = Neighbors(np.array([[1.0], [1.0], [4.0]]), np.array([[1], [0], [1]]))  # of each sample the nearest
    >>> LocalRadii.of(near, np.ones((3, 1)), 1).levels.argsort().tolist()  # of the radii 1, (1 + 1 + 4) / 3 and 4
    [0, 1, 2]
    """

    indptr: Array
    indices: Array
    levels: Floats

    @classmethod
    def of(cls, neighbors: Neighbors, p: Floats, k: int) -> LocalRadii:
        """Return the radii of samples with affinities p to their neighbors; to the k nearest, if all others are."""
        if neighbors.indices is None:
            near = first_smallest(neighbors.squares, k)
            p, squares = (np.take_along_axis(values, near, axis=1) for values in (p, neighbors.squares))
            neighbors = Neighbors(squares, near + (near >= np.arange(len(near))[:, None]))
        weights, moments = conditional_affinities(neighbors, p), conditional_affinities(neighbors, neighbors.squares)
        moments.data = moments.data * weights.data.astype(np.float64)
        # Of joint affinities, the mean of both directions, as are the sums of rows and columns.
        total, mass = (part.sum(axis=0) + part.sum(axis=1) for part in (moments, weights))
        radii = total / mass
        logs = np.log(radii + LEAST * (radii.mean() or 1.0))
        logs -= logs.mean()
        spread = logs.std()
        graph = (weights + weights.T).tocsr()
        return cls(graph.indptr, graph.indices, logs / spread if spread > 1e-9 else np.zeros_like(logs))

    def correlation(self, points: Floats, kernel: Kernel, threads: Threads, calm: float = 0.0) -> float:
        """Return the correlation of the logarithms of local radii in the data and in a view, of points (n, d)."""
        logs = np.log(LEAST + self._in_view(points, kernel, threads)[1])
        variance = logs.var() + calm
        return float(np.mean(self.levels * logs) / np.sqrt(variance)) if variance > 0.0 else 0.0

    def gradient(self, points: Floats, kernel: Kernel, threads: Threads) -> Floats:
        """Return the gradient (n, d) of the correlation, held `CALM`, with respect to the points."""
        from protolearn.embedding._kernels import pull_radii

        masses, radii = self._in_view(points, kernel, threads)
        logs = np.log(LEAST + radii)
        logs -= logs.mean()
        variance = np.mean(logs * logs) + CALM
        slopes = (self.levels - np.mean(self.levels * logs) / variance * logs) / (len(logs) * np.sqrt(variance))
        shares, forces = slopes / ((LEAST + radii) * masses), np.empty_like(points)
        graph = self.indptr, self.indices, points, _dof(kernel)
        threads.over(len(points), pull_radii, *graph, shares, radii, ..., forces)
        return forces

    def _in_view(self, points: Floats, kernel: Kernel, threads: Threads) -> tuple[Floats, Floats]:
        """Return the sums of the kernel over the neighbors of each point, and their local radii."""
        from protolearn.embedding._kernels import local_radii

        masses, radii = np.empty(len(points)), np.empty(len(points))
        graph = self.indptr, self.indices, points, _dof(kernel)
        threads.over(len(points), local_radii, *graph, ..., masses, radii)
        return masses, radii


@dataclass
class Densities:
    """Forces of any kind, and with a weight those that make densities of the view like those of the data.

    Parameters
    ----------
    forces : Forces
        What moves the points besides.
    radii : LocalRadii
        Of the samples in the data.
    weight : float
        How much a correlation counts beside the divergence, in units of the Kullback-Leibler divergence.
    kernel : Kernel
        Kernel of the affinities in the view.
    threads : Threads
        What loops over points are spread over.
    """

    forces: Any
    radii: LocalRadii
    weight: float
    kernel: Kernel
    threads: Threads

    def step(
        self, points: Floats, divergence: Divergence, exaggeration: float = 1.0, mass: float | None = None
    ) -> Gradient:
        """Return the gradient of the divergence less that of the weighted correlation."""
        step = self.forces.step(points, divergence, exaggeration, mass)
        drawn = self.weight * step.mass * self.radii.gradient(points, self.kernel, self.threads)
        return step._replace(gradient=step.gradient - drawn)

    def value(self, points: Floats, divergence: Divergence, mass: float | None = None) -> float:
        """Return the divergence alone."""
        return self.forces.value(points, divergence, mass)


def _dof(kernel: Kernel) -> float:
    return np.inf if isinstance(kernel, GaussianKernel) else kernel.dof
