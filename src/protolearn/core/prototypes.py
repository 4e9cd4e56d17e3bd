"""What a prototype is: how far samples are from it, and where it goes given the sums of its samples."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from protolearn.core.sources import Chunk
from protolearn.core.statistics import Statistics

__all__ = ["Mean"]

BLOCK_BYTES = 1_600_000  # distances of a block of samples: few enough for the cache, enough to be worth a call


@dataclass(frozen=True)
class Mean:
    """Prototypes that are points; the best one for a set of weighted samples is their mean.

    Parameters
    ----------
    positions : array of shape (k, D)
        Where the prototypes are.
    metric : array of shape (D,)
        Weight of each column in the squared distance.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.core.sources import ArraySource
    >>> prototypes = Mean(np.array([[0.0, 0.0], [3.0, 0.0]]), np.ones(2))
    >>> chunk = ArraySource(np.array([[0.0, 4.0]]), origin=np.zeros(2)).chunk(slice(None))
    >>> prototypes.measure(np.float64)(chunk)
    array([[16., 25.]])
    """

    positions: NDArray[np.float64]
    metric: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.positions)

    @cached_property
    def affine(self) -> NDArray[np.float64]:
        """Rows (-2 m w, |w|^2_m, 1): their product with a lifted sample is the squared distance."""
        scaled = self.metric * self.positions
        return np.column_stack([-2.0 * scaled, (scaled * self.positions).sum(axis=1), np.ones(len(self))])

    def columns(self, dtype: Any, mixture: NDArray[np.float64] | None = None) -> NDArray[Any]:
        """Return the matrix (D + 2, k) that turns lifted samples into squared distances.

        With a ``mixture`` (k, k) it gives ``distances @ mixture.T``, at no extra cost for the samples.
        """
        forms = self.affine if mixture is None else mixture @ self.affine
        return np.ascontiguousarray(forms.T, dtype=dtype)

    def measure(self, dtype: Any) -> Callable[[Chunk], NDArray[Any]]:
        """Return the function that gives the squared distances (c, k) of a chunk."""
        columns = self.columns(dtype)
        return lambda chunk: chunk.lifted @ columns

    def seek(self, dtype: Any, mixture: NDArray[np.float64] | None = None) -> Callable[[Chunk], NDArray[np.intp]]:
        """Return the function that gives the nearest prototype (c,) of each sample of a chunk.

        With a ``mixture`` (k, k), whose rows add up to one, the mixed distances are compared. The term ``|x|^2`` is the
        same for all and left out, and a few samples are looked at at a time, so that their distances stay in a cache.
        """
        columns = self.columns(dtype, mixture)[:-1]
        size = max(16, BLOCK_BYTES // (len(self) * columns.itemsize))

        def find(chunk: Chunk) -> NDArray[np.intp]:
            winners = np.empty(len(chunk.lifted), np.intp)
            distances = np.empty((min(size, len(winners)), len(self)), columns.dtype)
            for start in range(0, len(winners), size):
                block = chunk.lifted[start : start + size, :-1]
                np.dot(block, columns, out=distances[: len(block)])
                distances[: len(block)].argmin(axis=1, out=winners[start : start + size])
            return winners

        return find

    def update(self, statistics: Statistics) -> Mean:
        """Move every prototype to its weighted mean; one without samples stays."""
        mass = statistics.mass[:, None]
        means = np.divide(statistics.moments[:, :-2], mass, out=self.positions.copy(), where=mass > 0)
        return Mean(means, self.metric)

    def cost(self, statistics: Statistics) -> float:
        """Half the weighted sum of squared distances, from the sums alone."""
        twice = float(np.exp(statistics.log_scale) @ (self.affine * statistics.moments).sum(axis=1))
        return max(0.5 * twice, 0.0)
