"""Learning from a stream of batches."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from protolearn.core.types import Bools, Floats, Indices
from protolearn.lvq._start import Frame
from protolearn.lvq.problem import Problem, pack
from protolearn.lvq.relevance import Metric, Theta
from protolearn.lvq.samples import Labeled
from protolearn.lvq.solvers import SGD, Adam, AdamState, Solver, step_sizes

__all__ = ["LONGEST_HISTORY", "Stream", "stream_solver"]

LONGEST_HISTORY = 1000  # batches whose costs are kept


def stream_solver(solver: str | Solver) -> Adam | SGD:
    """Return the solver for a stream; raise an error if it cannot learn from one."""
    if isinstance(solver, str):
        solver = {"auto": Adam(batch_size=128), "adam": Adam(batch_size=128), "sgd": SGD()}.get(solver, solver)
    if not isinstance(solver, (Adam, SGD)):
        raise ValueError(
            f"partial_fit sees each batch once, which solver={solver!r} does not support. Use 'adam' or 'sgd', or an "
            "Adam or SGD object; or call fit, with warm_start=True to continue from the last fit."
        )
    solver.check()
    if isinstance(solver, SGD) and solver.ends:
        raise ValueError(
            f"partial_fit has no last epoch at which {solver!r} could reach its final rates; give a single rate."
        )
    return solver


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
        self.n_batches = 0
        self.mass = 0.0  # of all samples so far
        self.moments = AdamState(np.zeros(len(pack(W, theta))))

    def settle(self, frame: Frame, samples: Floats) -> None:
        """Choose coordinates by a batch, unless an earlier batch already had samples that differ."""
        if not self.settled:
            W, theta = self.parts
            self.parts = frame.enter(self.frame.leave(W)), theta
            self.frame = frame
            self.settled = bool((samples != samples[0]).any())

    def add_classes(self, samples: Labeled, classes: Indices, place: Callable[..., Floats]) -> None:
        """Initialize the prototypes of classes that occur for the first time."""
        W, theta = self.parts
        new = np.setdiff1d(samples.y, np.flatnonzero(self.seen))
        mine = np.isin(classes, new)
        if mine.any():
            W = W.copy()
            W[mine] = place(self.metric, theta, samples, self.rng)[mine]
            self.parts = W, theta

    def learn(self, problem: Problem, solver: Adam | SGD) -> float:
        """Make one pass over a batch; return the mean cost during the pass."""
        if self.seen.sum() < 2 or not self.settled:
            return 0.0
        self.n_batches += 1
        flat, cost = (self._sweep if isinstance(solver, SGD) else self._steps)(problem, pack(*self.parts), solver)
        W, theta = problem.unpack(problem.normalized(flat))
        self.parts = W, theta
        return cost

    def _steps(self, problem: Problem, flat: Floats, solver: Adam) -> tuple[Floats, float]:
        """Learn from mini-batches, at a rate that does not fall."""
        costs = []
        sizes = solver.learning_rate * step_sizes(problem, flat)
        for rows in solver.batches(problem.n_samples, self.rng):
            cost, gradient = problem(flat, rows=rows)
            flat = flat - sizes * self.moments.step(gradient, solver)
            costs.append(cost)
        return flat, float(np.mean(costs))

    def _sweep(self, problem: Problem, flat: Floats, solver: SGD) -> tuple[Floats, float]:
        """Learn from single samples, at the rates of the epoch that has the number of the batch."""
        from protolearn.lvq._sweeps import sweep

        order = self.rng.permutation(problem.n_samples)
        return sweep(problem, flat, order, solver.rates(self.n_batches, self.n_batches), problem.cost.stages(1)[0])
