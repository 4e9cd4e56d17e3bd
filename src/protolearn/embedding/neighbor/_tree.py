"""Sums of any smooth kernel over all pairs of points in space, in nearly linear time.

Points are sorted into the cells of a tree; a cell that looks small from a point acts as if all of its points were at
their mean. Kernels are read from a table of their values.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from protolearn.core.threads import Threads
from protolearn.core.types import Floats

__all__ = ["Table", "Tree"]


N_VALUES = 1 << 12  # of a kernel, equally far apart in the logarithm of the distance
LOOKS_SMALL = 0.38  # diagonal of the box around the points of a cell over its distance
MOST_IN_LEAF = 8
DEPTH = 20  # of a tree, at most


class Curve(NamedTuple):
    """The values of a kernel and its derivatives with respect to the squared distance, as a table (m, 2)."""

    values: Floats


class Table:
    """Squared distances at which kernels are given, close enough for kernels that change over a given width.

    Parameters
    ----------
    points : ndarray of shape (n, 3)
        Points, beyond which there is some room.
    width : float
        Distance over which kernels change.

    Attributes
    ----------
    squares : ndarray of shape (m,)
        A kernel is given by its values at these.
    """

    def __init__(self, points: Floats, width: float) -> None:
        extent = np.ptp(points, axis=0)
        if not np.isfinite(extent).all():
            raise ValueError("The view diverged: positions are no longer finite. Lower the learning_rate.")
        self.width = width
        self.farthest = 2.0 * max(float(np.square(extent).sum()), width**2)
        self.step = np.log1p(self.farthest / width**2) / (N_VALUES - 1)
        self.squares = width**2 * np.expm1(self.step * np.arange(N_VALUES))

    def suits(self, points: Floats, width: float) -> bool:
        """Return whether the distances of points are in the table."""
        return bool(width == self.width and np.square(np.ptp(points, axis=0)).sum() <= self.farthest)

    def waves(self, kernel: Floats) -> Curve:
        """Return a kernel by its values at the squared distances."""
        slopes = np.gradient(kernel, self.step, edge_order=2) / (self.width**2 + self.squares)
        return Curve(np.stack([kernel, slopes], axis=1))

    def mixed(self, factors: Sequence[float], parts: Sequence[Curve]) -> Curve:
        """Return a weighted sum of kernels."""
        return Curve(np.asarray(sum(f * part.values for f, part in zip(factors, parts))))

    def field(self, points: Floats, threads: Threads) -> Tree:
        """Return points in a tree."""
        return Tree(self, points, threads)


class Tree:
    """Points in the cells of a tree.

    Parameters
    ----------
    table : Table
        Table of the squared distances at which kernels are given.
    points : ndarray of shape (n, 3)
        Points.
    threads : Threads
        Threads that loops over points use.

    Examples
    --------
    >>> import numpy as np
    >>> Y = np.random.default_rng(0).normal(size=(200, 3)) * 5.0
    >>> table = Table(Y, width=1.0)
    >>> fast = Tree(table, Y, Threads()).sum_over_pairs(table.waves(1.0 / (1.0 + table.squares)))
    >>> exact = (1.0 / (1.0 + ((Y[:, None] - Y) ** 2).sum(axis=2))).sum() - 200
    >>> bool(abs(fast / exact - 1.0) < 1e-3)
    True
    """

    def __init__(self, table: Table, points: Floats, threads: Threads) -> None:
        from protolearn.embedding.neighbor._kernels import grow_tree, interleave

        self.table, self.threads = table, threads
        low = points.min(axis=0)
        side = float(np.ptp(points, axis=0).max()) or 1.0
        codes = interleave(points, low, ((1 << DEPTH) - 1) / side, DEPTH)
        self.order = np.argsort(codes, kind="stable")
        self.points = points[self.order]
        self.cells = grow_tree(codes[self.order], self.points, MOST_IN_LEAF, DEPTH)

    def potential(self, waves: Curve, charges: Floats | None = None) -> tuple[Floats, Floats]:
        """Return ``sum_{j != i} c_j k(r_ij)`` and its gradient (n, 3) with respect to point i.

        The charges c (n,) are 1 by default. Those of a cell act together at the mean of its points, so they must not
        differ much between neighbors.
        """
        from protolearn.embedding.neighbor._kernels import climb

        each = np.ones(len(self.points)) if charges is None else charges[self.order]
        values, gradients = np.empty(len(self.points)), np.empty_like(self.points)
        scale = self.table.width**-2, 1.0 / self.table.step, LOOKS_SMALL**-2
        tree = self.points, *self.cells, np.concatenate([[0.0], np.cumsum(each)])
        self.threads.over(len(self.points), climb, *tree, waves.values, *scale, ..., values, gradients)
        return self._restored(values), self._restored(gradients)

    def sum_over_pairs(self, waves: Curve) -> float:
        """Return the sum of k(r_ij) over all ordered pairs of different points."""
        return float(self.potential(waves)[0].sum())

    def _restored(self, values: Floats) -> Any:
        given = np.empty_like(values)
        given[self.order] = values
        return given
