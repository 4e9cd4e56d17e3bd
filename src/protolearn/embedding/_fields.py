"""Sums of any smooth kernel over all pairs of points in the plane, in nearly linear time.

Points are smeared over the nodes of a grid by quintic splines; there the sums are convolutions, done by Fourier
transforms. Forces are the gradients of potentials, so that one transform gives both of their components.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, reduce
from typing import Any, NamedTuple

import numpy as np

from protolearn.core.threads import Threads
from protolearn.core.types import Floats

__all__ = [
    "CurveTable",
    "Field",
    "Grid",
    "Tree",
    "Waves",
    "n_cells",
]

MARGIN = 6  # nodes that a spline covers


STEP = 0.4  # between nodes, in widths of the kernel


FEWEST, MOST = 24, 2000  # cells along an axis


SLACK = 1.1  # of a grid around points that may move


LARGE = 3_000_000  # nodes with padding, from which threads speed up Fourier transforms; below, they slow them down


N_FRACTIONS = 32  # places between nodes for which a point's effect on itself is known


class Waves(NamedTuple):
    """The Fourier transform of a kernel on a grid, and what its potential is at the point that causes it.

    ``own`` (m, m, 3) holds this value and gradient for places between nodes. They would be the kernel at zero, and
    nothing, were it not for the grid.
    """

    spectrum: Any
    own: Floats


class Grid:
    """Nodes in the plane around some points, fine enough for kernels that change over a given width.

    Parameters
    ----------
    points : ndarray of shape (n, 2)
        Points, around which there is some room.
    width : float
        Distance over which kernels change.

    Attributes
    ----------
    squares : ndarray of shape (a, b)
        Squared distances between nodes: a kernel is given by its values there.
    """

    def __init__(self, points: Floats, width: float) -> None:
        from scipy.fft import next_fast_len

        low, high = _bounds(points)
        if not np.isfinite(high - low).all():
            raise ValueError("The view diverged: positions are no longer finite. Lower the learning_rate.")
        extent = SLACK * np.maximum(high - low, 1e-3 * float((high - low).max()) or 1.0)
        cells = _cells(extent, width)
        self.width = width
        self.extent, self.step = extent, extent / cells
        self.low = 0.5 * (low + high - extent)
        self.nodes = cells.astype(int) + MARGIN
        self.size = [2 * next_fast_len(int(nodes), real=True) for nodes in self.nodes]
        halves = [size // 2 + 1 for size in self.size]
        along, across = (np.arange(half) * step for half, step in zip(halves, self.step))
        self.squares = along[:, None] ** 2 + across**2
        # Where points are close together, potentials differ too little for single precision; there the grid is small.
        self.dtype = np.float32 if cells.max() > 2 * FEWEST else np.float64
        # Spline coefficients from values at nodes, at the source and at the target of a sum.
        first, second = (_spline_symbol(half, size) for half, size in zip(halves, self.size))
        self.filter = (1.0 / (first[:, None] * second) ** 2).astype(self.dtype)
        self.cosines = [
            np.cos(2.0 * np.pi / size * np.outer(np.arange(half), np.arange(6)))
            for half, size in zip(halves, self.size)
        ]

    def suits(self, points: Floats, width: float) -> bool:
        """Return whether the points lie on the grid and fill it."""
        low, high = _bounds(points)
        inside = (low >= self.low).all() and (high <= self.low + self.extent).all()
        return bool(width == self.width and inside and (high - low >= 0.8 * self.extent / SLACK).all())

    def waves(self, kernel: Floats) -> Waves:
        """Return the Fourier transform of a kernel."""
        from scipy.fft import dctn

        spectrum = dctn(kernel.astype(self.dtype), type=1, overwrite_x=True) * self.filter
        values, slopes = _overlaps()
        ends = [np.r_[1.0, np.full(size // 2 - 1, 2.0), 1.0][:, None] / size for size in self.size]
        first, second = (cosines * weights for cosines, weights in zip(self.cosines, ends))
        nodes = first.T @ spectrum @ second  # of the kernel's spline, up to five apart
        own = [values @ nodes @ values.T, slopes @ nodes @ values.T, values @ nodes @ slopes.T]
        return Waves(spectrum, np.stack(own, axis=2))

    def mixed(self, factors: Sequence[float], parts: Sequence[Waves]) -> Waves:
        """Return the transform of a weighted sum of kernels."""
        spectrum, own = (reduce(np.add, [float(f) * w for f, w in zip(factors, part)]) for part in zip(*parts))
        return Waves(np.asarray(spectrum).astype(self.dtype, copy=False), np.asarray(own))

    def field(self, points: Floats, threads: Threads) -> Field:
        """Return points on the grid."""
        return Field(self, points, threads)


class Field:
    """Points on a grid.

    Parameters
    ----------
    grid : Grid
        Grid that contains the points.
    points : ndarray of shape (n, 2)
        Points.
    threads : Threads
        Threads that loops over points use.

    Examples
    --------
    >>> import numpy as np
    >>> Y = np.random.default_rng(0).normal(size=(200, 2)) * 5.0
    >>> grid = Grid(Y, width=1.0)
    >>> fast = Field(grid, Y, Threads()).sum_over_pairs(grid.waves(1.0 / (1.0 + grid.squares)))
    >>> exact = (1.0 / (1.0 + ((Y[:, None] - Y) ** 2).sum(axis=2))).sum() - 200
    >>> bool(abs(fast / exact - 1.0) < 1e-3)
    True
    """

    def __init__(self, grid: Grid, points: Floats, threads: Threads) -> None:
        self.grid, self.points, self.threads = grid, points, threads
        self._charges = np.ones(len(points))
        self._spectrum = self._transformed(self._charges)
        self._pairs: tuple[Any, Floats] | None = None

    def potential(self, waves: Waves, charges: Floats | None = None) -> tuple[Floats, Floats]:
        """Return ``sum_{j != i} c_j k(r_ij)`` and its gradient (n, 2) with respect to point i.

        ``waves`` are those of the kernel k; the charges c (n,) are 1 by default.
        """
        from protolearn.embedding._kernels import gather

        grid, nodes = self.grid, self.nodes(waves, charges).astype(np.float64, copy=False)
        values, gradients = np.empty(len(self.points)), np.empty_like(self.points)
        where = self.points, self._charges if charges is None else charges, grid.low, grid.step
        self.threads.over(len(self.points), gather, *where, nodes, waves.own, ..., values, gradients)
        return values, gradients

    @property
    def _n_workers(self) -> int:
        """Number of threads for a Fourier transform, the results of which do not depend on it."""
        return self.threads.n if self.grid.size[0] * self.grid.size[1] >= LARGE else 1

    def nodes(self, waves: Waves, charges: Floats | None = None) -> Any:
        """Return the spline coefficients (a, b) of ``sum_j c_j k(r_ij)``, the part of each point itself included."""
        from scipy.fft import ifft, irfft

        grid, workers = self.grid, self._n_workers
        spectrum = self._spectrum if charges is None else self._transformed(charges)
        half = len(waves.spectrum)
        product = np.empty_like(spectrum)
        np.multiply(spectrum[:half], waves.spectrum, out=product[:half])
        np.multiply(spectrum[half:], waves.spectrum[-2:0:-1], out=product[half:])
        rows = ifft(product, axis=0, overwrite_x=True, workers=workers)[: grid.nodes[0]]
        return irfft(rows, grid.size[1], axis=1, workers=workers)

    def sum_over_pairs(self, waves: Waves) -> float:
        """Return the sum of k(r_ij) over all ordered pairs of different points, from the waves of the kernel k."""
        if self._pairs is None:
            self._pairs = self._power()
        power, fractions = self._pairs
        rows = np.einsum("ij,ij->i", power, waves.spectrum)  # by Parseval's theorem
        own = np.vdot(fractions, waves.own[:, :, 0])
        return float(rows.sum(dtype=np.float64)) / (self.grid.size[0] * self.grid.size[1]) - float(own)

    def _transformed(self, charges: Floats) -> Any:
        """Return the Fourier transform of charges (n,) at the points."""
        from scipy.fft import fft, rfft

        from protolearn.embedding._kernels import spread

        grid, workers = self.grid, self._n_workers
        nodes = np.zeros(grid.nodes)
        spread(self.points, charges, grid.low, grid.step, nodes)
        rows = rfft(nodes.astype(grid.dtype, copy=False), grid.size[1], axis=1, workers=workers)
        return fft(rows, grid.size[0], axis=0, overwrite_x=True, workers=workers)

    def _power(self) -> tuple[Any, Floats]:
        """Return the power of the points at the waves of a kernel, and how many of them lie where between nodes."""
        from protolearn.embedding._kernels import count_fractions, fold_power

        folded = np.empty((self.grid.size[0] // 2 + 1, self._spectrum.shape[1]), self.grid.dtype)
        fold_power(self._spectrum, folded)
        fractions = np.zeros((N_FRACTIONS + 1, N_FRACTIONS + 1))
        count_fractions(self.points, self.grid.low, self.grid.step, fractions)
        return folded, fractions


def n_cells(points: Floats, width: float) -> float:
    """Return how many cells a grid around points (n, d) has, for kernels that change over a given width."""
    return float(np.prod(_cells(SLACK * np.ptp(points, axis=0), width)))


def _cells(extent: Floats, width: float) -> Floats:
    """Return how many cells there are along each axis."""
    return np.clip(np.ceil(extent / (STEP * width)), FEWEST, MOST)


def _bounds(points: Floats) -> tuple[Floats, Floats]:
    """Return the least and the largest coordinates, by columns: NumPy is slow along rows that short."""
    return np.array([column.min() for column in points.T]), np.array([column.max() for column in points.T])


@cache
def _overlaps() -> tuple[Floats, Floats]:
    """Return how much the splines of a point overlap themselves, and their slopes, for places between nodes (m, 6)."""
    from protolearn.embedding._kernels import spline, spline_slope

    fractions = np.linspace(0.0, 1.0, N_FRACTIONS + 1)
    a, da = np.empty((6, len(fractions))), np.empty((6, len(fractions)))
    spline.py_func(fractions, a)
    spline_slope.py_func(fractions, da)
    # Of nodes that lie d = 0, ..., 5 apart in either direction: the sums of a_j a_{j +- d} and of a'_j a_{j +- d}.
    apart = np.abs(np.subtract.outer(np.arange(6), np.arange(6))) == np.arange(6)[:, None, None]
    values, slopes = (np.einsum("djk,ji,ki->id", apart.astype(float), left, a) for left in (a, da))
    return values, slopes


def _spline_symbol(n_waves: int, size: int) -> Floats:
    """Return the Fourier transform of the values of a quintic spline at the nodes, (66, 26, 1) / 120."""
    angles = 2.0 * np.pi * np.arange(n_waves) / size
    return (33.0 + 26.0 * np.cos(angles) + np.cos(2.0 * angles)) / 60.0


N_VALUES = 1 << 12  # of a kernel, equally far apart in the logarithm of the distance


LOOKS_SMALL = 0.38  # diagonal of the box around the points of a cell over its distance


MOST_IN_LEAF = 8


DEPTH = 20  # of a tree, at most


class Curve(NamedTuple):
    """The values of a kernel and its derivatives with respect to the squared distance, as a table (m, 2)."""

    values: Floats


class CurveTable:
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
    >>> table = CurveTable(Y, width=1.0)
    >>> fast = Tree(table, Y, Threads()).sum_over_pairs(table.waves(1.0 / (1.0 + table.squares)))
    >>> exact = (1.0 / (1.0 + ((Y[:, None] - Y) ** 2).sum(axis=2))).sum() - 200
    >>> bool(abs(fast / exact - 1.0) < 1e-3)
    True
    """

    def __init__(self, table: CurveTable, points: Floats, threads: Threads) -> None:
        from protolearn.embedding._kernels import grow_tree, interleave

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
        from protolearn.embedding._kernels import climb

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
