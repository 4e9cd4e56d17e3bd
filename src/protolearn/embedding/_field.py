"""Sums of any smooth kernel over all pairs of points in the plane, in nearly linear time.

Points are smeared over the nodes of a grid by quintic splines; there the sums are convolutions, done by Fourier
transforms. Forces are the gradients of potentials, so that one transform gives both of their components.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from protolearn.core.threads import Threads

__all__ = ["Field"]

Floats = NDArray[np.float64]

MARGIN = 6  # nodes that a spline covers
STEP = 0.5  # nodes apart, in widths of the kernel
FEWEST, MOST = 24, 2000  # cells along an axis


class Field:
    """The plane around some points, as a grid.

    Parameters
    ----------
    points : ndarray of shape (n, 2)
        Points.
    width : float
        Distance over which kernels change: the grid is fine enough to follow them.
    threads : Threads
        What loops over points are spread over.

    Examples
    --------
    >>> import numpy as np
    >>> Y = np.random.default_rng(0).normal(size=(200, 2)) * 5.0
    >>> field = Field(Y, width=1.0, threads=Threads(1))
    >>> fast = field.sum_over_pairs(1.0 / (1.0 + field.squares))
    >>> exact = (1.0 / (1.0 + ((Y[:, None] - Y) ** 2).sum(axis=2))).sum() - 200
    >>> bool(abs(fast / exact - 1.0) < 1e-3)
    True
    """

    def __init__(self, points: Floats, width: float, threads: Threads) -> None:
        from scipy.fft import next_fast_len

        self.points, self.threads = points, threads
        low, high = points.min(axis=0), points.max(axis=0)
        extent = np.maximum(high - low, 1e-3 * max(float((high - low).max()), np.finfo(float).tiny))
        cells = np.clip(np.ceil(extent / (STEP * width)), FEWEST, MOST)
        self.step = extent / cells
        self.low = low
        self.nodes = cells.astype(int) + MARGIN
        self.size = [next_fast_len(2 * int(nodes), real=True) for nodes in self.nodes]
        self.size = [size + size % 2 for size in self.size]
        halves = [size // 2 + 1 for size in self.size]
        # Where points are close together, potentials differ too little for single precision; there the grid is small.
        self.dtype = np.float32 if cells.max() > 2 * FEWEST else np.float64
        along, across = (np.arange(half) * step for half, step in zip(halves, self.step))
        #: Squared distances (a, b) between nodes: kernels are given by their values there.
        self.squares = along[:, None] ** 2 + across**2
        # Spline coefficients from values at nodes, at the source and at the target of a sum.
        first, second = (_spline_symbol(half, size) for half, size in zip(halves, self.size))
        self._filter = (1.0 / (first[:, None] * second) ** 2).astype(self.dtype)
        self._ones = self.spectrum(np.ones(len(points)))
        self._pairs: Floats | None = None

    def spectrum(self, charges: Floats) -> NDArray[np.complex128]:
        """Return the Fourier transform of charges (n,) at the points."""
        from scipy.fft import fft, rfft

        from protolearn.embedding._kernels import spread

        grid = np.zeros(self.nodes, self.dtype)
        spread(self.points, charges, self.low, self.step, grid)
        rows = rfft(grid, self.size[1], axis=1, workers=self.threads.n)
        return fft(rows, self.size[0], axis=0, overwrite_x=True, workers=self.threads.n)

    def potential(self, kernel: Floats, spectrum: Any = None) -> tuple[Floats, Floats]:
        """Return ``sum_j c_j k(r_ij)``, with the point's own term, and its gradient (n, 2) with respect to point i.

        ``kernel`` holds k at ``squares``; ``spectrum`` is that of the charges c, all 1 by default.
        """
        from scipy.fft import dctn, ifft, irfft

        from protolearn.embedding._kernels import gather

        even = dctn(kernel.astype(self.dtype, copy=False), type=1, workers=self.threads.n) * self._filter
        waves = (self._ones if spectrum is None else spectrum).copy()
        half = len(even)
        waves[:half] *= even
        waves[half:] *= even[-2:0:-1]
        rows = ifft(waves, axis=0, overwrite_x=True, workers=self.threads.n)[: self.nodes[0]]
        grid = irfft(rows, self.size[1], axis=1, workers=self.threads.n)[:, : self.nodes[1]]
        values, gradients = np.empty(len(self.points)), np.empty_like(self.points)
        grid = np.ascontiguousarray(grid)
        self.threads.over(len(self.points), gather, self.points, self.low, self.step, grid, ..., values, gradients)
        return values, gradients

    def sum_over_pairs(self, kernel: Floats) -> float:
        """Return the sum of k(r_ij) over all ordered pairs of different points."""
        if self._pairs is None:
            self._pairs = self._pair_counts()
        return float(np.vdot(self._pairs, kernel)) - len(self.points) * float(kernel[0, 0])

    def _pair_counts(self) -> Floats:
        """Return how many ordered pairs of points lie how many nodes apart, in either direction of each axis."""
        from scipy.fft import dctn

        power = np.abs(self._ones) ** 2
        half = self.size[0] // 2
        folded = power[: half + 1]
        folded[1:half] += power[:half:-1]
        folded[1:half] *= 0.5
        counts = dctn(folded * self._filter, type=1, workers=self.threads.n) / (self.size[0] * self.size[1])
        counts[1:-1] *= 2.0
        counts[:, 1:-1] *= 2.0
        return counts.astype(np.float64)


def _spline_symbol(n_waves: int, size: int) -> Floats:
    """Return the Fourier transform of the values of a quintic spline at the nodes, (66, 26, 1) / 120."""
    angles = 2.0 * np.pi * np.arange(n_waves) / size
    return (33.0 + 26.0 * np.cos(angles) + np.cos(2.0 * angles)) / 60.0
