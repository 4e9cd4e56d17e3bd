"""What a solver sees of a classifier: one flat vector, its cost, its gradient, and a sweep over single samples."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import reduce
from itertools import pairwise
from operator import add
from typing import Any

import numpy as np

from protolearn.core.types import Bools, Floats, Indices
from protolearn.lvq.cost import SQUASHING, relative_distance_cost
from protolearn.lvq.relevance import Metric, Theta

__all__ = ["Problem"]

CHUNK_BYTES = 1 << 21  # of samples and their projections: they stay in the cache between the two products
N_SPANS = 8  # sums are added in this many parts, whatever the number of threads


@dataclass
class Problem:
    """The cost ``sum_i u_i phi(mu_i) / sum_i u_i - regularization * log_volume`` of prototypes and metric.

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
    squashing : str
        Name of the squashing function.
    slope : tuple of float
        Its slope at the start and at the end.
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
    squashing: str
    slope: tuple[float, float]
    regularization: float
    shapes: list[tuple[int, ...]]
    n_threads: int = 1
    hidden: Bools | None = None
    _pool: ThreadPoolExecutor | None = field(default=None, repr=False)

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

    def slopes(self, n_steps: int) -> Floats:
        """Return the slope of the squashing function at every one of a number of steps."""
        return np.geomspace(*self.slope, n_steps) if n_steps > 1 else np.array([self.slope[1]])

    def __call__(self, flat: Floats, slope: float, rows: Any = None) -> tuple[float, Floats]:
        """Return cost and gradient, over all samples or over some rows."""
        W, theta = self.unpack(flat)
        normal = self.metric.normalize(theta)
        if rows is None:
            cost, dW, slopes = reduce(_add, self._parts(W, normal, slope))
            mass = self.u.sum()
        else:
            cost, dW, slopes = self._part(W, normal, slope, rows)
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
        for start in range(0, self.n_samples, self._chunk_size()):
            rows = slice(start, start + self._chunk_size())
            winners = self.metric.measure(self.X[rows], W, self.classes, theta)[0].argmin(axis=1)
            right += float(self.u[rows] @ (self.classes[winners] == self.y[rows]))
        return right / float(self.u.sum())

    def _chunk_size(self) -> int:
        n_features = self.X.shape[1]
        n_numbers = self.blocks[-1].stop  # adding up gradients must not take longer than making them
        return max(128, CHUNK_BYTES // (16 * n_features), n_numbers // (2 * n_features))

    def _part(self, W: Floats, theta: Theta, slope: float, rows: Any) -> tuple[float, Floats, Theta]:
        D, pullback = self.metric.measure(self.X[rows], W, self.classes, theta)
        if self.hidden is not None:
            D[:, self.hidden] = np.inf
        own = self.y[rows][:, None] == self.classes
        cost, G = relative_distance_cost(D, own, self.u[rows], SQUASHING[self.squashing], slope)
        return cost, *pullback(G)

    def _parts(self, W: Floats, theta: Theta, slope: float) -> Iterator[tuple[float, Floats, Theta]]:
        """Yield the sums over each span of chunks, in order."""
        size = self._chunk_size()
        starts = range(0, self.n_samples, size)
        spans = np.array_split(starts, min(N_SPANS, len(starts)))

        def total(span: Indices) -> tuple[float, Floats, Theta]:
            return reduce(_add, (self._part(W, theta, slope, slice(int(a), int(a) + size)) for a in span))

        if self.n_threads == 1 or len(spans) == 1:
            yield from map(total, spans)
            return
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self.n_threads)
        yield from self._pool.map(total, spans)


def pack(W: Floats, theta: Theta) -> Floats:
    """Return prototypes and parameters of the metric as one flat vector."""
    return np.concatenate([W.ravel(), *(part.ravel() for part in theta)])


def _add(a: tuple[float, Floats, Theta], b: tuple[float, Floats, Theta]) -> tuple[float, Floats, Theta]:
    return a[0] + b[0], a[1] + b[1], tuple(map(add, a[2], b[2]))
