"""Squared distances between samples: single rows on demand, and those to neighbors from near to far."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from protolearn.core.chunks import block_size, cut
from protolearn.core.types import Floats, Indices
from protolearn.embedding._base import Samples
from protolearn.embedding._start import classical_scaling, principal_components

__all__ = ["Near", "Rows", "Squares", "ranks_and_shares"]


MOST_BYTES = 1 << 27  # of rows that are sorted together
KEPT_BYTES = 1 << 28  # of rows that are kept: all of 5,700 samples
MOST_EXACT = 1000  # samples up to which all count as neighbors of each,
MOST_NEIGHBORS = 128  # and number of neighbors that stand for all if there are more
SAMPLED = 1000  # samples that stand for all where a typical distance is wanted


class Rows(NamedTuple):
    """Rows of the matrix of all squared distances, as compiled loops take them.

    Row i is ``table[place[i]]`` or, if ``place[i]`` is negative, computed from the vectors (n, d). It then takes the
    place ``clock[0]`` of the row of sample ``held[clock[0]]``.
    """

    vectors: Floats
    table: Floats
    place: Indices
    held: Indices
    clock: Indices


class Near(NamedTuple):
    """Neighbors (n, K) of each sample, itself first, and their squared distances.

    Neighbor j has the rank ``ranks[j]`` and represents ``shares[j]`` samples.
    """

    columns: NDArray[np.int32]
    squares: Floats
    ranks: Indices
    shares: Floats

    def of_rank(self, rank: int) -> Floats:
        """Return the squared distances (n,) to the neighbors with a rank, if need be by those with ranks around it."""
        j = min(int(np.searchsorted(self.ranks, rank)), len(self.ranks) - 1)
        low, high = self.ranks[max(j - 1, 0)], self.ranks[j]
        part = min(1.0, (rank - low) / (high - low)) if high > low else 1.0
        return part * self.squares[:, j] + (1.0 - part) * self.squares[:, max(j - 1, 0)]


@dataclass
class Squares:
    """Squared distances of n samples, in the unit in which those of all pairs have a mean of one."""

    samples: Samples

    def __len__(self) -> int:
        return len(self.samples)

    @cached_property
    def mean(self) -> float:
        """The mean over all pairs, in the unit of the samples."""
        if self.samples.squares is not None:
            return float(self.samples.squares.mean())
        return float(2.0 * np.asarray(self.samples.vectors, np.float64).var(axis=0).sum())

    @cached_property
    def vectors(self) -> Floats:
        """The samples (n, d); no columns if only their dissimilarities are known."""
        if self.samples.vectors is None:
            return np.empty((len(self), 0))
        return np.ascontiguousarray(self.samples.vectors, np.float64) / np.sqrt(self.mean)

    @cached_property
    def rows(self) -> Rows:
        """Single rows: all if they are given, else as many as memory is set aside for."""
        n = len(self)
        if self.samples.squares is not None:
            everything = np.arange(n)
            table = np.ascontiguousarray(self.samples.squares / self.mean)
            return Rows(self.vectors, table, everything, everything, np.zeros(1, np.int64))
        kept = min(n, block_size(8 * n, KEPT_BYTES))
        nowhere = np.full(n, -1), np.full(kept, -1)
        return Rows(self.vectors, np.empty((kept, n)), *nowhere, np.zeros(1, np.int64))

    def of(self, chosen: Any) -> Floats:
        """Return the squared distances (m, n) of some samples to all."""
        from scipy.spatial.distance import cdist

        if self.samples.squares is not None:
            return self.rows.table[chosen]
        return cdist(self.vectors[chosen], self.vectors, "sqeuclidean")

    def near(self) -> Near:
        """Return the neighbors of all samples: all others or, if there are many, some from near to far."""
        n = len(self)
        ranks, shares = ranks_and_shares(n)
        columns, squares = np.empty((n, len(ranks)), np.int32), np.empty((n, len(ranks)))
        for part in cut(n, block_size(24 * n, MOST_BYTES)):
            rows = np.array(self.of(part))
            rows[np.arange(len(rows)), np.arange(n)[part]] = -1.0  # itself first; others by the order given if tied
            columns[part] = np.argsort(rows, axis=1, kind="stable")[:, ranks]
            squares[part] = np.take_along_axis(rows, columns[part], axis=1)
        squares[:, 0] = 0.0
        return Near(columns, squares, ranks, shares)

    def principal(self, d: int, rng: np.random.RandomState) -> Floats:
        """Return principal components (n, d) of the samples, or those that their dissimilarities stand for."""
        if self.samples.squares is not None:
            return classical_scaling(self.samples.squares, d, rng)
        return principal_components(self.vectors, d, rng)

    def typical(self, rank: int) -> float:
        """Return the median squared distance to the neighbor with a rank, or to the first that is not the same."""
        n = len(self)
        squares = np.sort(self.of(slice(None, None, 1 + (n - 1) // SAMPLED)), axis=1)
        first = np.maximum(rank, (squares <= 0.0).sum(axis=1))
        return float(np.median(squares[np.arange(len(squares)), np.minimum(first, n - 1)]))


def ranks_and_shares(n: int) -> tuple[Indices, Floats]:
    """Return ranks (K,) of neighbors that represent all n samples, and the number of samples that each represents.

    Ranks are denser for near neighbors, so that neighborhoods of any size are represented.

    Examples
    --------
    >>> ranks, shares = ranks_and_shares(20_000)
    >>> ranks[:4].tolist(), ranks[-2:].tolist(), float(shares.sum())
    ([0, 1, 2, 3], [18171, 19377], 20000.0)
    """
    if n <= MOST_EXACT:
        return np.arange(n), np.ones(n)
    edges = np.zeros(MOST_NEIGHBORS + 1, np.int64)
    for j in range(1, len(edges)):
        left = len(edges) - j
        growth = (n / max(edges[j - 1], 1)) ** (1.0 / left)
        edges[j] = max(edges[j - 1] + 1, int(np.rint(edges[j - 1] * growth)))
    return (edges[:-1] + edges[1:]) // 2, np.diff(edges).astype(np.float64)
