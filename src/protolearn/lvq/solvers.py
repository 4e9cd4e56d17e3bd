"""Optimizers of the cost of a classifier.

A solver minimizes a `Problem`: a flat vector of prototypes and metric with its cost and its gradient. After every step
it calls ``watch(flat, cost)``, which may stop the solver by raising ``StopIteration``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Protocol

import numpy as np
from scipy.optimize import OptimizeResult, minimize

from protolearn.core.parameters import Constraint, Part, fraction, integer, none, number, positive
from protolearn.core.threads import cut
from protolearn.core.types import Floats, Indices
from protolearn.lvq.cost import Cost
from protolearn.lvq.problem import Problem

__all__ = ["LBFGS", "SGD", "SOLVERS", "Adam", "Solver", "Waypoint"]

LARGE = 200_000  # samples above which mini-batches are faster than L-BFGS


class Watch(Protocol):
    """Observer of a solver, which receives the state and the cost after every step, and the annealing stage."""

    def __call__(self, flat: Floats, cost: float, stage: int = 0) -> None:
        """Take notice of a step, or raise ``StopIteration`` to end the work."""


Rate = float | tuple[float, float]
RATE = number(0) | Constraint(
    lambda value: isinstance(value, (tuple, list)) and len(value) == 2 and all(map(positive.allows, value)),
    ("a pair of positive numbers (first, last)",),
)


class Solver(Part):
    """Base class of optimizers that minimize a `Problem`, starting from a flat vector.

    Examples
    --------
    A custom solver, plain gradient descent:

    >>> from protolearn.lvq import GLVQ, Solver
    >>> class AdamRun(Solver):
    ...     def minimize(self, problem, start, max_iter, tol, rng, watch):
    ...         for _ in range(max_iter):
    ...             cost, gradient = problem(start)
    ...             start = start - 0.1 * gradient
    ...             watch(start, cost)
    >>> X, y = [[0.0], [0.2], [0.8], [1.0]], [0, 0, 1, 1]
    >>> GLVQ(solver=AdamRun(), max_iter=5).fit(X, y).score(X, y)
    1.0
    """

    default_iterations = 100
    rescales = True  # whether the solver may work in coordinates of its own choice
    turns = True  # whether the axes of these may be turned
    one_by_one = False  # whether the solver learns from single samples in random order, which must be in memory
    first_slope: float | None = None  # where the slope of the squashing function starts by default, if it must be flat

    def minimize(
        self, problem: Problem, start: Floats, max_iter: int, tol: float, rng: np.random.RandomState, watch: Watch
    ) -> bool | None:
        """Minimize from ``start`` and report every step to ``watch``; return False if ``max_iter`` is reached first."""
        raise NotImplementedError


class LBFGS(Solver):
    """Limited-memory BFGS on the exact gradient over all samples, without learning rates.

    If the slope of the squashing function is annealed, the initial slope is used for at most half of the iterations,
    then the final slope. If ``max_iter`` is reached, classifiers issue scikit-learn's ``ConvergenceWarning``.

    Parameters
    ----------
    memory : int, default=10
        Number of previous steps from which the Hessian is approximated.

    Examples
    --------
    >>> from protolearn.lvq import GLVQ, LBFGS
    >>> X, y = [[0.0], [0.2], [0.8], [1.0]], [0, 0, 1, 1]
    >>> GLVQ(solver=LBFGS(memory=5)).fit(X, y).score(X, y)
    1.0
    """

    _constraints = {"memory": integer(1)}

    default_iterations = 300

    def __init__(self, memory: int = 10) -> None:
        self.memory = memory

    def minimize(
        self, problem: Problem, start: Floats, max_iter: int, tol: float, rng: np.random.RandomState, watch: Watch
    ) -> bool:
        """Minimize from ``start`` and report every step to ``watch``; return False if ``max_iter`` is reached first."""
        stopped = False
        number = 0

        def callback(intermediate_result: OptimizeResult) -> None:
            nonlocal stopped
            try:
                watch(intermediate_result.x, float(intermediate_result.fun), number)
            except StopIteration:
                stopped = True
                raise

        stages = problem.cost.stages(min(problem.cost.n_stages, max_iter))
        left = max_iter
        for n_stages, stage in zip(range(len(stages), 0, -1), stages):
            iterations = left // n_stages
            options = {
                "maxiter": iterations,
                "maxfun": 20 * iterations,
                "maxcor": self.memory,
                "ftol": tol,
                "gtol": 1e-9,
            }
            result = minimize(
                problem, start, args=(stage,), jac=True, method="L-BFGS-B", callback=callback, options=options
            )
            if stopped:
                return True
            start, left, number = result.x, left - result.nit, number + 1
        return bool(result.status != 1)


class SGD(Solver):
    """Stochastic gradient descent with single samples in random order, as in the original publications.

    The metric is normalized after every sample. In epoch t (counted from 1) the learning rate of the prototypes is
    ``learning_rate / (1 + decay (t - 1))``. The learning rate of the metric is
    ``metric_learning_rate / (1 + metric_decay (t - metric_start))`` from epoch ``metric_start`` on, and 0 before. A
    rate that is given as a pair decreases exponentially instead, from the first value to the second in ``max_iter``
    epochs.

    Parameters
    ----------
    learning_rate : float or tuple of float, default=0.01
        Initial learning rate of the prototypes, or a pair of initial and final rates. Rates refer to exact gradients.
        Some publications omit the factor two of the gradient in their update rules; their rates are twice as large.
        Rates also refer to standardized features: samples of another scale are rescaled internally such that the mean
        variance of the features is about one.
    metric_learning_rate : float or tuple of float, default=0.001
        Initial learning rate of the metric (relevances, or a matrix), or a pair of initial and final rates. If
        ``off_diagonal_learning_rate`` is set, it applies to the diagonal of a matrix only.
    off_diagonal_learning_rate : float or tuple of float, optional
        Initial learning rate of the off-diagonal entries of a matrix, or a pair of initial and final rates; by default
        ``metric_learning_rate``.
    decay : float, default=1e-4
        Decay of the learning rate of the prototypes; larger values reduce the rate faster.
    metric_decay : float, optional
        Decay of the learning rate of the metric; by default equal to ``decay``.
    metric_start : int, default=1
        First epoch in which the metric is updated.

    References
    ----------
    Biehl, Hammer and Schneider (2006). Matrix learning in learning vector quantization. Technical report IfI-06-14, TU
    Clausthal, section 5.

    Bunte (2011). Adaptive dissimilarity measures, dimension reduction and visualization. PhD thesis, University of
    Groningen, eqs. 3.5, 3.6, 5.4 and 5.5.

    Examples
    --------
    A pair gives the initial and the final learning rate:

    >>> from protolearn.lvq import SGD
    >>> solver = SGD(learning_rate=(0.1, 0.001), metric_start=3)
    >>> [round(solver.rates(epoch, max_iter=4)[0], 5) for epoch in (2, 4)]
    [0.01, 0.001]
    >>> [round(solver.rates(epoch, max_iter=4)[1], 5) for epoch in (2, 4)]  # the metric does not learn at first
    [0.0, 0.001]
    """

    _constraints = {
        "learning_rate": RATE,
        "metric_learning_rate": RATE,
        "off_diagonal_learning_rate": RATE | none,
        "decay": number(0),
        "metric_decay": number(0) | none,
        "metric_start": integer(1),
    }

    rescales = False
    one_by_one = True

    def __init__(
        self,
        learning_rate: Rate = 0.01,
        metric_learning_rate: Rate = 0.001,
        *,
        off_diagonal_learning_rate: Rate | None = None,
        decay: float = 1e-4,
        metric_decay: float | None = None,
        metric_start: int = 1,
    ) -> None:
        self.learning_rate = learning_rate
        self.metric_learning_rate = metric_learning_rate
        self.off_diagonal_learning_rate = off_diagonal_learning_rate
        self.decay = decay
        self.metric_decay = metric_decay
        self.metric_start = metric_start

    def rates(self, epoch: int, max_iter: int) -> tuple[float, float, float]:
        """Return the learning rates of prototypes, diagonal and other entries of the metric in an epoch (from 1)."""
        passed = epoch / max_iter
        prototypes = _rate(self.learning_rate, self.decay * (epoch - 1), passed)  # Bunte 2011, eq. 3.5
        if epoch < self.metric_start:
            return prototypes, 0.0, 0.0
        fall = self._metric_decay() * (epoch - self.metric_start)  # Bunte 2011, eq. 3.6
        diagonal, rest = (_rate(rate, fall, passed) for rate in (self.metric_learning_rate, self._off_diagonal()))
        return prototypes, diagonal, rest

    @property
    def ends(self) -> bool:
        """Whether a rate decreases to a final value, which requires a last epoch."""
        given = self.learning_rate, self.metric_learning_rate, self._off_diagonal()
        return any(isinstance(rate, (tuple, list)) for rate in given)

    def minimize(
        self, problem: Problem, start: Floats, max_iter: int, tol: float, rng: np.random.RandomState, watch: Watch
    ) -> None:
        """Minimize from ``start`` and report every step to ``watch``."""
        from protolearn.lvq._sweeps import sweep

        flat = problem.normalized(start)
        for epoch, stage in enumerate(problem.cost.stages(max_iter), 1):
            order, rates = rng.permutation(problem.n_samples), self.rates(epoch, max_iter)
            flat, cost = sweep(problem, flat, order, rates, stage)
            try:
                watch(flat, cost)
            except StopIteration:
                return

    @property
    def turns(self) -> bool:  # type: ignore[override]
        """Whether the axes may be rotated: not if the diagonal of a matrix has a separate learning rate."""
        return self._off_diagonal() == self.metric_learning_rate

    def _off_diagonal(self) -> Rate:
        given = self.off_diagonal_learning_rate
        return self.metric_learning_rate if given is None else given

    def _metric_decay(self) -> float:
        return self.decay if self.metric_decay is None else self.metric_decay


class Waypoint(Solver):
    """Gradient descent with step size control by waypoint averaging.

    Each step follows the negative gradient by the current step length, separately for prototypes and metric. If the
    mean of the last points has a lower cost than the new point, the mean replaces the new point and the step length
    decreases; otherwise it increases.

    Parameters
    ----------
    step : float, default=0.1
        Initial step length, relative to the size of the parameters.
    n_points : int, default=3
        Number of points that are averaged.
    shrink : float, default=0.67
        Factor on the step length if the average has a lower cost.
    grow : float, default=1.1
        Factor on the step length otherwise.

    References
    ----------
    Papari, Bunte and Biehl (2011). Waypoint averaging and step size control in learning by gradient descent. Machine
    Learning Reports 06/2011.

    Examples
    --------
    >>> from protolearn.lvq import GLVQ, Waypoint
    >>> X, y = [[0.0], [0.2], [0.8], [1.0]], [0, 0, 1, 1]
    >>> GLVQ(solver=Waypoint(step=0.05), max_iter=20).fit(X, y).score(X, y)
    1.0
    """

    _constraints = {"step": positive, "n_points": integer(2), "shrink": fraction, "grow": number(1)}

    def __init__(self, step: float = 0.1, *, n_points: int = 3, shrink: float = 0.67, grow: float = 1.1) -> None:
        self.step = step
        self.n_points = n_points
        self.shrink = shrink
        self.grow = grow

    def minimize(
        self, problem: Problem, start: Floats, max_iter: int, tol: float, rng: np.random.RandomState, watch: Watch
    ) -> None:
        """Minimize from ``start`` and report every step to ``watch``."""
        stages = problem.cost.stages(max_iter)
        flat, length = problem.normalized(start), self.step
        points = [flat]
        _, gradient = problem(flat, stages[0])
        for stage in stages:
            flat = flat - length * _unit_steps(problem, flat, gradient)
            cost, gradient = problem(flat, stage)
            points = [*points, flat][-self.n_points :]
            if len(points) == self.n_points:
                mean = np.mean(points, axis=0)
                cost_of_mean, at_mean = problem(mean, stage)
                if cost_of_mean < cost:
                    flat, cost, gradient, length = mean, cost_of_mean, at_mean, length * self.shrink
                    points[-1] = mean
                else:
                    length *= self.grow
            try:
                watch(flat, cost)
            except StopIteration:
                return
            if length < tol:
                return


class Adam(Solver):
    r"""Adam (adaptive moment estimation) on mini-batches, for large data sets.

    Parameters
    ----------
    learning_rate : float, default=0.02
        Initial learning rate, relative to the spread of the data and to the entries of the metric; it decreases to zero
        along a cosine.
    batch_size : int, default=512
        Number of samples in a mini-batch.
    momentum : float, default=0.9
        Decay factor of the running mean of the gradients (:math:`\beta_1`).
    second_momentum : float, default=0.99
        Decay factor of the running mean of the squared gradients (:math:`\beta_2`).

    References
    ----------
    Kingma and Ba (2015). Adam: a method for stochastic optimization. ICLR.

    Examples
    --------
    >>> from protolearn.lvq import GLVQ, Adam
    >>> X, y = [[0.0], [0.2], [0.8], [1.0]], [0, 0, 1, 1]
    >>> GLVQ(solver=Adam(learning_rate=0.05, batch_size=2), random_state=0).fit(X, y).score(X, y)
    1.0
    """

    _constraints = {
        "learning_rate": positive,
        "batch_size": integer(1),
        "momentum": number(0, 1),
        "second_momentum": fraction,
    }

    default_iterations = 20
    first_slope = 2.0  # a few samples near the border say little on the way to go

    def __init__(
        self,
        learning_rate: float = 0.02,
        *,
        batch_size: int = 512,
        momentum: float = 0.9,
        second_momentum: float = 0.99,
    ) -> None:
        self.learning_rate = learning_rate
        self.batch_size = batch_size
        self.momentum = momentum
        self.second_momentum = second_momentum

    def minimize(
        self, problem: Problem, start: Floats, max_iter: int, tol: float, rng: np.random.RandomState, watch: Watch
    ) -> None:
        """Minimize from ``start`` and report every step to ``watch``."""
        descent = AdamRun(start, AdamState(np.zeros_like(start)), step_sizes(problem, start))
        n_steps = max_iter * problem.n_batches(self.batch_size)
        for stage in problem.cost.stages(max_iter):
            descent = problem.visit(partial(self._descend, stage, n_steps), replace(descent, costs=[]), rng)
            try:
                watch(descent.flat, float(np.mean(descent.costs)))
            except StopIteration:
                return

    def _descend(
        self, stage: Cost, n_steps: int, descent: AdamRun, problem: Problem, rng: np.random.RandomState
    ) -> AdamRun:
        """Go over the samples once, at rates that fall over so many steps."""
        flat, moments, costs = descent.flat, descent.moments, [*descent.costs]
        for rows in self.batches(problem.n_samples, rng):
            cost, gradient = problem(flat, stage, rows)
            rate = self.learning_rate * (1.0 + np.cos(np.pi * moments.n_steps / n_steps)) / 2
            flat = flat - rate * descent.sizes * moments.step(gradient, self)
            costs.append(cost)
        return replace(descent, flat=flat, costs=costs)

    def batches(self, n_samples: int, rng: np.random.RandomState) -> Iterator[Indices]:
        """Yield the rows of each mini-batch of an epoch, in random order."""
        order = rng.permutation(n_samples)
        for batch in cut(n_samples, self.batch_size):
            yield np.sort(order[batch])


@dataclass(frozen=True)
class AdamRun:
    """State of a descent in mini-batches: flat vector, running means, step sizes, costs in this epoch."""

    flat: Floats
    moments: AdamState
    sizes: Floats
    costs: list[float] = field(default_factory=list)


class AdamState:
    """The running means of gradients and of their squares."""

    def __init__(self, zeros: Floats) -> None:
        self.mean = zeros
        self.square = zeros.copy()
        self.n_steps = 0

    def step(self, gradient: Floats, solver: Adam) -> Floats:
        """Process a gradient; return the direction of the next step, of about unit size in every coordinate."""
        self.n_steps += 1
        t = self.n_steps
        self.mean += (1.0 - solver.momentum) * (gradient - self.mean)
        self.square += (1.0 - solver.second_momentum) * (gradient**2 - self.square)
        root = np.sqrt(self.square / (1.0 - solver.second_momentum**t))
        return self.mean / (1.0 - solver.momentum**t) / (root + 1e-8)


SOLVERS: dict[str, type[Solver]] = {"lbfgs": LBFGS, "sgd": SGD, "waypoint": Waypoint, "adam": Adam}


def get_solver(solver: Solver | str, n_samples: int) -> Solver:
    """Return the solver of a name; ``"auto"`` chooses by the number of samples.

    Examples
    --------
    >>> get_solver("auto", 1000), get_solver("sgd", 1000)
    (LBFGS(), SGD())
    """
    if isinstance(solver, Solver):
        return solver
    if solver == "auto":
        return LBFGS() if n_samples <= LARGE else Adam()
    return SOLVERS[solver]()


def step_sizes(problem: Problem, flat: Floats) -> Floats:
    """Return a step size for each coordinate: 1 for prototypes, the size of the entries for the metric."""
    sizes = np.ones_like(flat)
    for block in problem.blocks[1:]:
        sizes[block] = np.sqrt(np.mean(flat[block] ** 2))
    return sizes


def _rate(given: Rate, fall: float, passed: float) -> float:
    """Return a rate that falls as ``1 / (1 + fall)``, or exponentially between two after a share of all epochs."""
    if isinstance(given, (tuple, list)):
        first, last = given
        return float(first * (last / first) ** passed)  # Bunte 2011, eqs. 5.4 and 5.5
    return given / (1.0 + fall)


def _unit_steps(problem: Problem, flat: Floats, gradient: Floats) -> Floats:
    """Scale the gradient so that every block moves by its own size."""
    steps = np.zeros_like(gradient)
    for block in problem.blocks:
        length = np.linalg.norm(gradient[block])
        if length > 0:
            steps[block] = gradient[block] * (np.linalg.norm(flat[block]) / length)
    return steps
