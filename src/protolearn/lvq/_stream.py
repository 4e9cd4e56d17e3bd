"""Learning from batches that come one after the other."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from protolearn.core.types import Bools, Floats, Indices
from protolearn.lvq._start import Frame
from protolearn.lvq.problem import Problem, pack
from protolearn.lvq.relevance import Metric, Theta
from protolearn.lvq.solvers import Adam, AdamState, step_sizes

__all__ = ["Stream"]


class Stream:
    """The state of training between two batches."""

    def __init__(
        self, frame: Frame, rng: np.random.RandomState, metric: Metric, W: Floats, theta: Theta, seen: Bools
    ) -> None:
        self.frame = frame
        self.rng = rng
        self.metric = metric
        self.parts = W, theta
        self.seen = seen
        self.settled = False
        self.mass = 0.0  # of all samples so far
        self.solver = Adam(batch_size=128)
        self.moments = AdamState(np.zeros(len(pack(W, theta))))

    def settle(self, frame: Frame, samples: Floats) -> None:
        """Take the coordinates that a batch suggests, unless an earlier one had samples that differ."""
        if not self.settled:
            W, theta = self.parts
            self.parts = frame.enter(self.frame.leave(W)), theta
            self.frame = frame
            self.settled = bool((samples != samples[0]).any())

    def welcome(self, X: Floats, y: Indices, u: Floats, classes: Indices, place: Callable[..., Floats]) -> None:
        """Place the prototypes of classes that come for the first time."""
        W, theta = self.parts
        new = np.setdiff1d(y, np.flatnonzero(self.seen))
        mine = np.isin(classes, new)
        if mine.any():
            W = W.copy()
            W[mine] = place(self.metric, theta, X, y, u, self.rng)[mine]
            self.parts = W, theta

    def learn(self, problem: Problem) -> float:
        """Make one pass over a batch; return the mean cost on the way."""
        if self.seen.sum() < 2 or not self.settled:
            return 0.0
        flat = pack(*self.parts)
        costs = []
        sizes = self.solver.learning_rate * step_sizes(problem, flat)
        for rows in self.solver.batches(problem.n_samples, self.rng):
            cost, gradient = problem(flat, problem.slope[1], rows)
            flat = flat - sizes * self.moments.step(gradient, self.solver)
            costs.append(cost)
        W, theta = problem.unpack(problem.normalized(flat))
        self.parts = W, theta
        return float(np.mean(costs))
