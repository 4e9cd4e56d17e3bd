"""Densities in a view: points are close together where samples are, and far apart where these are.

The local radius of a sample is the mean squared distance to its neighbors, weighted by affinities: in the data by those
of the data, in the view by those of the view. The correlation of the logarithms of both is added to what forces reach
for (Narayan, Berger, Cho 2021, den-SNE). It takes pairs of neighbors alone, in time linear in their number.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from protolearn.core.neighbors import first_smallest
from protolearn.core.threads import Threads
from protolearn.core.types import Array, Floats
from protolearn.embedding.divergences import Divergence
from protolearn.embedding.neighbor._exact import Step
from protolearn.embedding.neighbor.affinities import Neighbors, conditional_affinities
from protolearn.embedding.neighbor.view import GaussianKernel, Kernel

__all__ = ["Densities", "LocalRadii"]


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
    >>> from protolearn.embedding.neighbor.affinities import Neighbors
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
        from protolearn.embedding.neighbor._kernels import pull_radii

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
        from protolearn.embedding.neighbor._kernels import local_radii

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
    ) -> Step:
        """Return the gradient of the divergence less that of the weighted correlation."""
        step = self.forces.step(points, divergence, exaggeration, mass)
        drawn = self.weight * step.mass * self.radii.gradient(points, self.kernel, self.threads)
        return step._replace(gradient=step.gradient - drawn)

    def value(self, points: Floats, divergence: Divergence, mass: float | None = None) -> float:
        """Return the divergence alone."""
        return self.forces.value(points, divergence, mass)


def _dof(kernel: Kernel) -> float:
    return np.inf if isinstance(kernel, GaussianKernel) else kernel.dof
