"""Out-of-sample extension of neighbor embeddings: new samples are placed while all training samples stay fixed.

A position y minimizes the Kullback-Leibler divergence between the affinities p of the new sample to its neighbors and
those in the view, ``-sum_j p_j log w(y, y_j) + log sum_j w(y, y_j)``. The second sum, over all samples, is a field.
"""

from __future__ import annotations

import numpy as np

from protolearn.core.threads import Threads
from protolearn.core.types import Array, Floats
from protolearn.embedding.neighbor._field import Field, Grid
from protolearn.embedding.neighbor.view import GaussianKernel, Kernel

__all__ = ["placed"]


N_STEPS = 50
STILL = 1e-3  # length of a step, in widths of the kernel, that is the last


def placed(points: Floats, indices: Array, p: Floats, kernel: Kernel, threads: Threads) -> Floats:
    """Return positions (m, d) of new samples among points (n, d), of which those with indices (m, k) draw them by p.

    Each starts at the first of its neighbors, and none depends on the other new samples.
    """
    from protolearn.embedding.neighbor._kernels import place

    n, d = points.shape
    among = np.ascontiguousarray(np.hstack([points, np.zeros((n, max(2 - d, 0)))]))
    places = among[indices[:, 0]]
    dof = np.inf if isinstance(kernel, GaussianKernel) else kernel.dof
    nodes = others = None
    if d <= 2:
        grid = Grid(among, kernel.width(1.0))
        low, high, step = grid.low, grid.low + grid.extent, grid.step
        nodes = Field(grid, among, threads).nodes(grid.waves(kernel.weights(grid.squares))).astype(np.float64)
    else:  # there is no grid, and the field is summed point by point
        room = 0.05 * np.ptp(among, axis=0)
        low, high, step = among.min(axis=0) - room, among.max(axis=0) + room, np.ones(d)
        others = among
    rest = p, dof, low, high, step, nodes, others, N_STEPS, STILL * kernel.width(1.0)
    threads.over(len(places), place, among, indices, *rest, ..., places, most=10_000)
    return places[:, :d]
