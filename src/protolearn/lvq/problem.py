"""Optimization problem of a classifier: a flat parameter vector with its cost, gradient, and sweeps over samples."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial, reduce
from itertools import pairwise
from operator import add
from typing import Any, Self, TypeVar

import numpy as np

from protolearn.core.threads import CACHED, Threads, block_size, cut
from protolearn.core.types import Bools, Floats, Indices
from protolearn.lvq.cost import Cost
from protolearn.lvq.relevance import Comparison, Metric, Theta

__all__ = ["PartitionedProblem", "Problem"]

T = TypeVar("T")
N_SPANS = 8  # sums are added in this many parts, whatever the number of threads
LEAST_NUMBERS = 200_000  # of all samples, from which threads are worth their while


@dataclass(frozen=True)
class Sums:
    """Sums over samples: of the costs, and of the terms from which the derivatives are computed."""

    cost: float
    parts: Theta

    def __add__(self, other: Sums) -> Sums:
        return Sums(self.cost + other.cost, tuple(map(add, self.parts, other.parts)))


@dataclass
class Problem:
    """Objective of training as a function of prototypes and metric, ``cost / sum_i u_i - regularization * log_volume``.

    Parameters
    ----------
    X : ndarray of shape (n, N)
        Samples.
    y : ndarray of shape (n,)
        Class codes of the samples.
    u : ndarray of shape (n,)
        Weights of the samples.
    classes : ndarray of shape (k,)
        Class code of each prototype.
    metric : Metric
        Distance between samples and prototypes.
    cost : Cost
        Cost as a function of the distances.
    regularization : float
        Weight of the regularization term, the logarithm of the volume of the metric.
    shapes : list of tuple
        Shapes of the prototypes and of the parameters of the metric.
    n_threads : int
        Number of threads over which chunks of samples are distributed.
    hidden : ndarray of shape (k,), optional
        Prototypes that are not used yet.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.lvq import EuclideanMetric
    >>> from protolearn.lvq.cost import RelativeDistance
    >>> from protolearn.lvq.problem import Problem
    >>> X, y = np.array([[0.0], [1.0]]), np.array([0, 1])
    >>> cost = RelativeDistance("identity")
    >>> problem = Problem(X, y, np.ones(2), np.array([0, 1]), EuclideanMetric(), cost, 0.0, [(2, 1)])
    >>> value, gradient = problem(np.array([0.0, 1.0]))  # a prototype on each sample
    >>> value, problem.accuracy(np.array([0.0, 1.0])), problem.accuracy(np.array([1.0, 0.0]))
    (-1.0, 1.0, 0.0)
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
        return Threads(self.n_threads if self.X.size >= LEAST_NUMBERS else 1)

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return len(self.X)

    @property
    def mass(self) -> float:
        """Weight of all samples."""
        return float(self.u.sum())

    @property
    def blocks(self) -> list[slice]:
        """Slices of the flat vector that contain the prototypes and each parameter of the metric."""
        ends = np.cumsum([0, *(int(np.prod(shape)) for shape in self.shapes)])
        return [slice(int(a), int(b)) for a, b in pairwise(ends)]

    def unpack(self, flat: Floats) -> tuple[Floats, Theta]:
        """Return the prototypes and the parameters of the metric, as views of the flat vector."""
        W, *theta = (flat[block].reshape(shape) for block, shape in zip(self.blocks, self.shapes))
        return W, tuple(theta)

    def normalized(self, flat: Floats) -> Floats:
        """Return the equivalent flat vector with a normalized metric."""
        W, theta = self.unpack(flat)
        return pack(W, self.metric.normalize(theta))

    def __call__(self, flat: Floats, stage: Cost | None = None, rows: Any = None) -> tuple[float, Floats]:
        """Return cost and gradient, at a stage or at the end of training, over all samples or over some rows."""
        stage = self.cost if stage is None else stage
        W, theta = self.unpack(flat)
        normal = self.metric.normalize(theta)
        n_samples = self.n_samples if rows is None else len(self.u[rows])
        comparison = self.metric.compare(W, self.classes, normal, n_samples)
        if rows is None:
            sums, mass = self.sums(comparison, stage), self.mass
        else:
            sums, mass = self._part(comparison, stage, rows), self.u[rows].sum()
        cost = sums.cost / mass
        dW, slopes = comparison.slopes(tuple(part / mass for part in sums.parts))
        if self.regularization:
            volume, by_theta = self.metric.log_volume(normal)
            cost -= self.regularization * volume
            slopes = tuple(a - self.regularization * b for a, b in zip(slopes, by_theta))
        return cost, pack(dW, self.metric.tangent(theta, slopes))

    def accuracy(self, flat: Floats) -> float:
        """Return the accuracy: the (weighted) fraction of samples whose nearest prototype has their class."""
        return self.right(*self.unpack(self.normalized(flat))) / self.mass

    def sums(self, comparison: Comparison, stage: Cost) -> Sums:
        """Return the sums over all samples, accumulated over spans of chunks in a fixed order."""
        chunks = list(cut(self.n_samples, self._chunk_size())) or [slice(0)]
        spans = np.array_split(np.arange(len(chunks)), min(N_SPANS, len(chunks)))

        def total(span: Indices) -> Sums:
            return reduce(add, (self._part(comparison, stage, chunks[i]) for i in span))

        return reduce(add, self._threads.collect(total, spans))

    def right(self, W: Floats, theta: Theta) -> float:
        """Return the weight of the samples whose nearest prototype has their class."""
        right = 0.0
        for rows in cut(self.n_samples, self._chunk_size()):
            winners = self.metric.measure(self.X[rows], W, self.classes, theta)[0].argmin(axis=1)
            right += float(self.u[rows] @ (self.classes[winners] == self.y[rows]))
        return right

    def visit(
        self, function: Callable[[T, Problem, np.random.RandomState], T], state: T, rng: np.random.RandomState
    ) -> T:
        """Return a state after a function has updated it with the samples."""
        return function(state, self, rng)

    def n_batches(self, size: int) -> int:
        """Return the number of batches of a given size in one visit."""
        return -(-self.n_samples // size)

    def _chunk_size(self) -> int:
        n_features = self.X.shape[1]
        row_bytes = 16 * (n_features + len(self.classes))  # with projections, distances and their derivatives
        n_numbers = self.blocks[-1].stop  # adding up gradients must not take longer than making them
        size = block_size(row_bytes, CACHED, least=max(128, n_numbers // n_features))
        n_pairs = -(-self.n_samples // (2 * size))
        return size if self.n_samples <= size else -(-self.n_samples // (2 * n_pairs))  # alike, for an even number

    def _part(self, comparison: Comparison, stage: Cost, rows: Any) -> Sums:
        D, gather = comparison.measure(self.X[rows])
        if self.hidden is not None:
            D[:, self.hidden] = np.inf
        own = self.y[rows][:, None] == self.classes
        cost, G = stage(D, own, self.u[rows])
        return Sums(cost, gather(G))


@dataclass
class PartitionedProblem(Problem):
    """Objective of training for samples in partitions: the sums of a `Problem` in each partition are added.

    ``X``, ``y`` and ``u`` are empty arrays.

    Parameters
    ----------
    samples : LabeledPartitions
        The samples.

    Examples
    --------
    An object that provides samples in partitions sums the values of a function over the partitions:

    >>> import numpy as np
    >>> from types import SimpleNamespace
    >>> from protolearn.lvq import EuclideanMetric
    >>> from protolearn.lvq.cost import RelativeDistance
    >>> from protolearn.lvq.problem import PartitionedProblem
    >>> class Two:
    ...     n_features, mass = 1, 2.0
    ...     parts = [SimpleNamespace(X=np.array([[x]]), y=np.array([int(x)]), u=np.ones(1)) for x in (0.0, 1.0)]
    ...
    ...     def __len__(self):
    ...         return 2
    ...
    ...     def sum(self, function):
    ...         return function(self.parts[0]) + function(self.parts[1])
    >>> parts = dict(classes=np.array([0, 1]), metric=EuclideanMetric(), cost=RelativeDistance("identity"))
    >>> problem = PartitionedProblem.of(Two(), **parts, regularization=0.0, shapes=[(2, 1)])
    >>> problem(np.array([0.0, 1.0]))[0], problem.accuracy(np.array([0.0, 1.0]))
    (-1.0, 1.0)
    """

    samples: Any = None

    @classmethod
    def of(cls, samples: Any, **parts: Any) -> Self:
        """Return the problem for given samples; the other arguments are those of `Problem`."""
        nothing: dict[str, Any] = {"X": np.empty((0, samples.n_features)), "y": np.empty(0, np.int64), "u": np.empty(0)}
        return cls(**nothing, **parts, samples=samples)

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return len(self.samples)

    @property
    def mass(self) -> float:
        """Weight of all samples."""
        return self.samples.mass

    def sums(self, comparison: Comparison, stage: Cost) -> Sums:
        """Return the sums over all samples."""
        return self.samples.sum(partial(_on, self._alone(), "sums", (comparison, stage)))

    def right(self, W: Floats, theta: Theta) -> float:
        """Return the weight of the samples whose nearest prototype has their class."""
        return self.samples.sum(partial(_on, self._alone(), "right", (W, theta)))

    def visit(
        self, function: Callable[[T, Problem, np.random.RandomState], T], state: T, rng: np.random.RandomState
    ) -> T:
        """Return a state after a function has updated it with the samples of each partition, in random order."""
        state, last = self.samples.relay(partial(_visited, self._alone(), function), (state, rng), rng)
        rng.set_state(last.get_state())
        return state

    def n_batches(self, size: int) -> int:
        """Return the number of batches of a given size in one visit."""
        return sum(-(-n // size) for n in self.samples.sizes)

    def _alone(self) -> Problem:
        """Return the problem as it is sent to partitions."""
        return Problem(self.X, self.y, self.u, self.classes, self.metric, self.cost, self.regularization, self.shapes)


def pack(W: Floats, theta: Theta) -> Floats:
    """Return prototypes and parameters of the metric as one flat vector."""
    return np.concatenate([W.ravel(), *(part.ravel() for part in theta)])


def _there(problem: Problem, part: Any) -> Problem:
    """Return the problem of the samples of a partition."""
    return replace(problem, X=part.X, y=part.y, u=part.u)


def _on(problem: Problem, name: str, args: tuple[Any, ...], part: Any) -> Any:
    return getattr(_there(problem, part), name)(*args)


def _visited(problem: Problem, function: Any, state: tuple[Any, np.random.RandomState], part: Any) -> Any:
    """Change a state by the samples of a partition, and the generator of random numbers along with it."""
    now, rng = state
    return function(now, _there(problem, part), rng), rng
