"""Weights of a sample of one lattice node for the other nodes, at one neighborhood range.

`AllPairs` holds them, which is fastest for some hundred nodes. `Structured` never does: on a sheet the weights between
two rows of nodes depend on how far apart the rows are only, so that a sum over all nodes is a few small products along
the rows, one for each separation; on other lattices some nodes are looked at at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from protolearn.core.lattices import Lattice, LatticeSheet
from protolearn.core.numerics import decayed, flushed
from protolearn.core.statistics import Statistics
from protolearn.core.threads import HELD, row_blocks
from protolearn.core.types import Array, Floats

__all__ = ["AllPairs", "Structured", "log_kernel"]


NEGLIGIBLE = 1e-40  # weight below which a node does not count, beside others
FAINT = 1e-22  # share of the largest sum below which those left out might count


def log_kernel(distances: Floats, kernel: str, range_: float) -> Floats:
    """Return the logarithm of the neighborhood function: ``-g^2 / (2 range^2)``, or ``-g / range`` if exponential.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.core.neighborhoods import log_kernel
    >>> distances = np.array([0.0, 1.0, 2.0])
    >>> log_kernel(distances, "gaussian", 1.0).tolist(), log_kernel(distances, "exponential", 1.0).tolist()
    ([-0.0, -0.5, -2.0], [-0.0, -1.0, -2.0])
    """
    return -distances / range_ if kernel == "exponential" else -0.5 * (distances / range_) ** 2


@dataclass(frozen=True)
class AllPairs:
    """Weights between all nodes, from their logarithms (k, k), row to column.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.core.lattices import chain
    >>> from protolearn.core.neighborhoods import AllPairs, log_kernel
    >>> near = AllPairs(log_kernel(chain(3).distances, "exponential", 1.0))
    >>> near.mixture.round(3).tolist()
    [[1.0, 0.368, 0.135], [0.368, 1.0, 0.368], [0.135, 0.368, 1.0]]
    """

    log_shares: Floats

    @cached_property
    def mixture(self) -> Floats:
        """What makes mixed distances of distances."""
        return decayed(self.log_shares)

    def mixer(self, dtype: Any) -> Callable[[Array], Array]:
        """Return the function that mixes distances (c, k)."""
        columns = flushed(self.mixture.T.astype(dtype))
        return lambda distances: distances @ columns

    def logs(self, nodes: NDArray[np.intp]) -> Floats:
        """Return the logarithms of the weights of some nodes for all."""
        return self.log_shares[nodes]

    def shared(self, sums: Any) -> Any:
        """Give the sums of every node to the others."""
        return sums.shared(self.log_shares)


@dataclass(frozen=True)
class Structured:
    """The same for a large lattice, whose weights are never all held.

    Parameters
    ----------
    lattice : Lattice
        Gives the distances.
    kernel : {"gaussian", "exponential"}
        Neighborhood function.
    range_ : float
        Its range.
    normalized : bool
        Whether the weights of a node add up to one.

    Examples
    --------
    It gives the same products as all weights:

    >>> import numpy as np
    >>> from protolearn.core.lattices import rectangular
    >>> from protolearn.core.neighborhoods import AllPairs, Structured, log_kernel
    >>> lattice, rows = rectangular(3, 4), np.arange(24.0).reshape(12, 2)
    >>> near = Structured(lattice, "gaussian", 1.0, normalized=False)
    >>> bool(np.allclose(near @ rows, AllPairs(log_kernel(lattice.distances, "gaussian", 1.0)).mixture @ rows))
    True
    """

    lattice: Lattice
    kernel: str
    range_: float
    normalized: bool

    @property
    def mixture(self) -> Structured:
        """What makes mixed distances of distances."""
        return self

    def __matmul__(self, rows: Floats) -> Floats:
        """Return the product of the weights (k, k) with rows (k, L)."""
        return np.exp(-self._log_sums)[:, None] * self._kernel_times(rows)

    def mixer(self, dtype: Any) -> Callable[[Array], Array]:
        """Return the function that mixes distances (c, k)."""
        return lambda distances: (self @ distances.T.astype(np.float64)).T

    def logs(self, nodes: NDArray[np.intp]) -> Floats:
        """Return the logarithms of the weights of some nodes for all."""
        return self._log_kernel(self.lattice.distances_from(nodes)) - self._log_sums[nodes, None]

    def shared(self, sums: Statistics) -> Statistics:
        """Give the sums of every node to the others.

        Where the sum is faint, since all samples are far away, weights are taken relative to the largest.
        """
        moments, log_scale = np.zeros_like(sums.moments), np.full(len(sums.moments), -np.inf)
        faint = np.ones(len(moments), bool)
        if self.lattice.sheet is not None:
            moments = self._kernel_times(np.exp(-self._log_sums)[:, None] * sums.moments)
            mass = moments[:, -2].copy()
            faint = mass <= FAINT * mass.max()
            scale = np.where(faint, 1.0, mass)
            moments /= scale[:, None]
            log_scale = np.log(scale)
        occupied = np.flatnonzero(sums.mass > 0)
        for nodes in self._blocks(np.flatnonzero(faint)):
            logs = self._log_kernel(self.lattice.distances_from(nodes)[:, occupied]) - self._log_sums[occupied]
            log_scale[nodes] = logs.max(axis=1)
            moments[nodes] = decayed(logs - log_scale[nodes, None]) @ sums.moments[occupied]
        return Statistics(moments, log_scale, sums.offset)

    @cached_property
    def _log_sums(self) -> Floats:
        """Logarithm of the sum (k,) of the kernel around each node, by which weights are divided."""
        k = self.lattice.n_nodes
        return np.log(self._kernel_times(np.ones((k, 1)))[:, 0]) if self.normalized else np.zeros(k)

    def _log_kernel(self, distances: Floats) -> Floats:
        return log_kernel(distances, self.kernel, self.range_)

    def _blocks(self, nodes: NDArray[np.intp]) -> Iterator[NDArray[np.intp]]:
        return (nodes[some] for some in row_blocks(len(nodes), 8 * self.lattice.n_nodes, HELD))

    def _kernel_times(self, rows: Floats) -> Floats:
        """Return the product of the kernel (k, k) with rows (k, L)."""
        sheet = self.lattice.sheet
        if sheet is not None and sheet.rows > 1:
            return self._along_rows(sheet, rows)
        nodes = np.arange(len(rows))
        parts = [decayed(self._log_kernel(self.lattice.distances_from(some))) @ rows for some in self._blocks(nodes)]
        return np.concatenate(parts)

    def _along_rows(self, sheet: LatticeSheet, rows: Floats) -> Floats:
        """Return the same on a sheet, where the kernel between two of its rows depends on how far apart they are.

        Rows that are as far above as others are below are added first.
        """
        R, C = sheet.rows, sheet.cols
        columns = np.ascontiguousarray(rows.reshape(R, C, -1).transpose(1, 0, 2))  # (C, R, L)
        result = np.zeros_like(columns)
        few = 8 * R * C**2 <= HELD
        for targets, down, weights in self._kept_steps if few else self._steps(sheet):
            below, above = targets + down, targets - down
            if sheet.periodic:
                below, above = below % R, above % R
            there = (above >= 0) & (above != below)
            together = np.zeros((C, len(targets), columns.shape[2]))
            together[:, below < R] = columns[:, below[below < R]]
            together[:, there] += columns[:, above[there]]
            result[:, targets] += (weights @ together.reshape(C, -1)).reshape(together.shape)
        return result.transpose(1, 0, 2).reshape(rows.shape)

    @cached_property
    def _kept_steps(self) -> list[tuple[NDArray[np.intp], int, Floats]]:
        assert self.lattice.sheet is not None
        return list(self._steps(self.lattice.sheet))

    def _steps(self, sheet: LatticeSheet) -> Iterator[tuple[NDArray[np.intp], int, Floats]]:
        """Yield rows, a number of steps down or up from them, and the kernel (C, C) between nodes so far apart.

        Odd rows of hexagons are shifted, so even and odd ones take turns.
        """
        across, apart = np.arange(sheet.cols), 2 if sheet.hexagonal else 1
        for down in range(sheet.rows // 2 + 1 if sheet.periodic else sheet.rows):
            for first in range(min(apart, sheet.rows)):
                nodes = first * sheet.cols + across
                distances = sheet.distances(nodes[:, None], nodes + down * sheet.cols)
                weights = np.exp(self._log_kernel(distances))
                weights[weights < NEGLIGIBLE] = 0.0
                if not weights.any():
                    return
                yield np.arange(first, sheet.rows, apart), down, weights
