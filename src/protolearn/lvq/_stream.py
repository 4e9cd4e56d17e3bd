"""Learning from a stream of batches."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from protolearn.core.types import Bools, Floats, Indices
from protolearn.lvq._start import Frame
from protolearn.lvq.problem import Problem, pack
from protolearn.lvq.relevance import Metric, Theta
from protolearn.lvq.samples import Labeled
from protolearn.lvq.solvers import SGD, Adam, AdamState, Solver, step_sizes

__all__ = ["LONGEST_HISTORY", "Recent", "Stream", "stream_solver", "warn_of_change"]

LONGEST_HISTORY = 1000  # batches whose costs are kept
MOST_ROWS = 500  # of a batch, the last ones, by which changed classes are noticed
MEMORY = 20.0  # samples of each class that its recent mean stands for
WINDOW = 100.0  # samples over which prototypes are compared with recent means
CLEARLY = 3.5  # standard deviations
LEAST_GAIN = 10.0  # samples


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


class Recent:
    """The recent means of the classes, by which a stream notices that its classes have changed.

    Steps along the gradient are too small to follow a sudden change: where all samples are on the wrong side, gradients
    vanish. So the prototypes of each class, moved so that their mean is the recent mean of the class, are compared with
    the present ones on every batch, before these means learn from it. Classes have changed if the moved prototypes are
    clearly better, by a sign test on the samples that only one of the two classifies correctly.
    """

    def __init__(self, n_classes: int, n_features: int) -> None:
        self.means = np.zeros((n_classes, n_features))
        self.masses = np.zeros((n_classes, n_features))
        self.gain = 0.0  # samples that only moved prototypes classify correctly, less those that only present ones do
        self.n_votes = 0.0

    def follow(
        self, batch: Labeled, W: Floats, classes: Indices, right: Callable[[Floats, Floats, Indices], Bools]
    ) -> Floats | None:
        """Learn from a batch; return prototypes to start from anew if the classes have changed, else None."""
        X, y, u = batch.X[-MOST_ROWS:], batch.y[-MOST_ROWS:], batch.u[-MOST_ROWS:]
        votes = u * (right(self._moved(W, classes), X, y).astype(np.float64) - right(W, X, y))
        kept = max(0.0, 1.0 - u.sum() / WINDOW)
        self.gain = kept * self.gain + votes.sum()
        self.n_votes = kept * self.n_votes + np.abs(votes).sum()
        for code in np.unique(y):
            self._learn(code, X[y == code], u[y == code])
        if self.gain < max(LEAST_GAIN, CLEARLY * np.sqrt(self.n_votes)):
            return None
        self.gain = self.n_votes = 0.0
        return self._moved(W, classes)

    def _learn(self, code: int, X: Floats, u: Floats) -> None:
        known = ~np.isnan(X)
        mass = u @ known
        kept = np.maximum(0.0, 1.0 - mass / MEMORY) * self.masses[code]
        sums = kept * self.means[code] + u @ np.where(known, X, 0.0)
        self.masses[code] = kept + mass
        self.means[code] = np.divide(sums, kept + mass, out=self.means[code].copy(), where=kept + mass > 0)

    def _moved(self, W: Floats, classes: Indices) -> Floats:
        """Return the prototypes, moved so that those of a class have its recent mean."""
        moved = W.copy()
        for code in np.unique(classes):
            mine, known = classes == code, self.masses[code] > 0
            moved[np.ix_(mine, known)] += (self.means[code] - W[mine].mean(axis=0))[known]
        return moved


def warn_of_change(estimator: Any) -> None:
    """Warn that prototypes are moved to recent samples."""
    warnings.warn(
        f"Recent samples are classified clearly better by means of their classes than by {type(estimator).__name__}: "
        "the classes have changed, or first batches did not represent them. The prototypes are moved to these means.",
        UserWarning,
        stacklevel=6,
    )


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
        self.restart(W, theta)
        self.recent = Recent(len(seen), W.shape[1])

    def restart(self, W: Floats, theta: Theta) -> None:
        """Go on from other prototypes, with step sizes as in the beginning."""
        self.parts = W, theta
        self.n_batches = 0
        self.moments = AdamState(np.zeros(len(pack(W, theta))))

    def follow(self, batch: Labeled, classes: Indices) -> bool:
        """Start anew from recent samples if the classes have changed; say whether they have."""
        W, theta = self.parts
        if self.seen.sum() < 2 or not self.settled or W.shape[1] != batch.n_features:
            return False  # prototypes of filter banks are no means of samples
        hidden = ~self.seen[classes]

        def right(W: Floats, X: Floats, y: Indices) -> Bools:
            D = self.metric.measure(X, W, classes, theta)[0]
            D[:, hidden] = np.inf
            found: Bools = classes[D.argmin(axis=1)] == y
            return found

        moved = self.recent.follow(batch, W, classes, right)
        if moved is None:
            return False
        self.restart(moved, theta)
        return True

    def settle(self, frame: Frame, samples: Floats) -> None:
        """Choose coordinates by a batch, unless an earlier batch already had samples that differ."""
        if not self.settled:
            W, theta = self.parts
            self.parts = frame.enter(self.frame.leave(W)), theta
            self.frame = frame
            self.recent = Recent(len(self.seen), W.shape[1])
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
