"""What a solver sees of a classifier: one flat vector, its cost, its gradient, and a sweep over single samples."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import pairwise
from operator import add
from typing import Any

import numpy as np

from protolearn.core.chunks import CACHED, block_size, cut
from protolearn.core.threads import Threads
from protolearn.core.types import Bools, Floats, Indices
from protolearn.lvq.cost import Cost
from protolearn.lvq.relevance import Metric, Theta

__all__ = ["Problem"]

N_SPANS = 8  # sums are added in this many parts, whatever the number of threads


@dataclass
class Problem:
    """The mean cost of the samples, ``cost / sum_i u_i - regularization * log_volume``, of prototypes and metric.

    Parameters
    ----------
    X : ndarray of shape (n, N)
        Samples.
    y : ndarray of shape (n,)
        Their class codes.
    u : ndarray of shape (n,)
        Their weights.
    classes : ndarray of shape (k,)
        Class code of each prototype.
    metric : Metric
        How they are compared.
    cost : Cost
        What their distances cost.
    regularization : float
        Weight of the logarithm of the volume.
    shapes : list of tuple
        Shapes of the prototypes and of the parameters of the metric.
    n_threads : int
        Threads to spread chunks over.
    hidden : ndarray of shape (k,), optional
        Prototypes that take no part yet.
    """

    X: Floats
    y: Indices
    u: Floats
    classes: Indices
    metric: Metric
    cost: Cost
    regularization: float
    shapes: list[tuple[int, ...]]
    n_threads: int = 1
    hidden: Bools | None = None

    @cached_property
    def _threads(self) -> Threads:
        return Threads(self.n_threads)

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return len(self.X)

    @property
    def blocks(self) -> list[slice]:
        """Where the prototypes and each parameter of the metric are in the flat vector."""
        ends = np.cumsum([0, *(int(np.prod(shape)) for shape in self.shapes)])
        return [slice(int(a), int(b)) for a, b in pairwise(ends)]

    def unpack(self, flat: Floats) -> tuple[Floats, Theta]:
        """Return the prototypes and the parameters of the metric, as views of the flat vector."""
        W, *theta = (flat[block].reshape(shape) for block, shape in zip(self.blocks, self.shapes))
        return W, tuple(theta)

    def normalized(self, flat: Floats) -> Floats:
        """Return the equivalent flat vector with a metric of standard size."""
        W, theta = self.unpack(flat)
        return pack(W, self.metric.normalize(theta))

    def __call__(self, flat: Floats, stage: Cost | None = None, rows: Any = None) -> tuple[float, Floats]:
        """Return cost and gradient, at a stage or at the end of training, over all samples or over some rows."""
        stage = self.cost if stage is None else stage
        W, theta = self.unpack(flat)
        normal = self.metric.normalize(theta)
        if rows is None:
            cost, dW, slopes = reduce(_add, self._parts(W, normal, stage))
            mass = self.u.sum()
        else:
            cost, dW, slopes = self._part(W, normal, stage, rows)
            mass = self.u[rows].sum()
        cost, dW, slopes = cost / mass, dW / mass, tuple(part / mass for part in slopes)
        if self.regularization:
            volume, by_theta = self.metric.log_volume(normal)
            cost -= self.regularization * volume
            slopes = tuple(a - self.regularization * b for a, b in zip(slopes, by_theta))
        return cost, pack(dW, self.metric.tangent(theta, slopes))

    def accuracy(self, flat: Floats) -> float:
        """Return the share of samples, by weight, whose nearest prototype has their class."""
        W, theta = self.unpack(self.normalized(flat))
        right = 0.0
        for rows in cut(self.n_samples, self._chunk_size()):
            winners = self.metric.measure(self.X[rows], W, self.classes, theta)[0].argmin(axis=1)
            right += float(self.u[rows] @ (self.classes[winners] == self.y[rows]))
        return right / float(self.u.sum())

    def _chunk_size(self) -> int:
        n_features = self.X.shape[1]
        n_numbers = self.blocks[-1].stop  # adding up gradients must not take longer than making them
        return block_size(16 * n_features, CACHED, least=max(128, n_numbers // (2 * n_features)))  # with projections

    def _part(self, W: Floats, theta: Theta, stage: Cost, rows: Any) -> tuple[float, Floats, Theta]:
        D, pullback = self.metric.measure(self.X[rows], W, self.classes, theta)
        if self.hidden is not None:
            D[:, self.hidden] = np.inf
        own = self.y[rows][:, None] == self.classes
        cost, G = stage(D, own, self.u[rows])
        return cost, *pullback(G)

    def _parts(self, W: Floats, theta: Theta, stage: Cost) -> Iterator[tuple[float, Floats, Theta]]:
        """Return the sums over each span of chunks, in order."""
        chunks = list(cut(self.n_samples, self._chunk_size()))
        spans = np.array_split(np.arange(len(chunks)), min(N_SPANS, len(chunks)))

        def total(span: Indices) -> tuple[float, Floats, Theta]:
            return reduce(_add, (self._part(W, theta, stage, chunks[i]) for i in span))

        return self._threads.map(total, spans)


def pack(W: Floats, theta: Theta) -> Floats:
    """Return prototypes and parameters of the metric as one flat vector."""
    return np.concatenate([W.ravel(), *(part.ravel() for part in theta)])


def _add(a: tuple[float, Floats, Theta], b: tuple[float, Floats, Theta]) -> tuple[float, Floats, Theta]:
    return a[0] + b[0], a[1] + b[1], tuple(map(add, a[2], b[2]))
