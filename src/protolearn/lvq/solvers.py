"""How the cost of a classifier is minimized.

A solver sees a `Problem`: a flat vector of prototypes and metric, its cost and its gradient. After every step it calls
``watch(flat, cost)``, which may stop it by raising ``StopIteration``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import ClassVar, Protocol

import numpy as np
from scipy.optimize import OptimizeResult, minimize
from sklearn.base import BaseEstimator

from protolearn.core.chunks import cut
from protolearn.core.parameters import Constraint, check_parameters, fraction, integer, none, number, positive
from protolearn.core.types import Floats, Indices
from protolearn.lvq.cost import Cost
from protolearn.lvq.problem import Problem, pack

__all__ = ["LBFGS", "SGD", "SOLVERS", "Adam", "Solver", "Waypoint"]

LARGE = 200_000  # samples above which mini-batches are faster than L-BFGS


class Watch(Protocol):
    """What follows a solver: it is told the state and the cost after every step, and in which stage the solver is."""

    def __call__(self, flat: Floats, cost: float, stage: int = 0) -> None:
        """Take notice of a step, or raise ``StopIteration`` to end the work."""


Rate = float | tuple[float, float]
RATE = number(0) | Constraint(
    lambda value: isinstance(value, (tuple, list)) and len(value) == 2 and all(map(positive.allows, value)),
    ("a pair of positive numbers (first, last)",),
)


class Solver(BaseEstimator):
    """Something that minimizes a `Problem`, starting from a flat vector.

    Examples
    --------
    A solver of one's own: plain gradient descent.

    >>> from protolearn.lvq import GLVQ, Solver
    >>> class Descent(Solver):
    ...     def minimize(self, problem, start, max_iter, tol, rng, watch):
    ...         for _ in range(max_iter):
    ...             cost, gradient = problem(start)
    ...             start = start - 0.1 * gradient
    ...             watch(start, cost)
    >>> X, y = [[0.0], [0.2], [0.8], [1.0]], [0, 0, 1, 1]
    >>> GLVQ(solver=Descent(), max_iter=5).fit(X, y).score(X, y)
    1.0
    """

    _constraints: ClassVar[dict[str, Constraint]] = {}

    default_iterations = 100
    rescales = True  # whether the solver may work in coordinates of its own choice
    turns = True  # whether the axes of these may be turned
    one_by_one = False  # whether the solver learns from single samples in random order, which must be in memory
    first_slope: float | None = None  # where the slope of the squashing function starts by default, if it must be flat

    def check(self) -> None:
        """Raise an error if a parameter is out of range."""
        check_parameters(self)

    def minimize(
        self, problem: Problem, start: Floats, max_iter: int, tol: float, rng: np.random.RandomState, watch: Watch
    ) -> bool | None:
        """Improve ``start``, and tell ``watch`` about every step; return False if ``max_iter`` came too early."""
        raise NotImplementedError


class LBFGS(Solver):
    """Limited-memory BFGS on the exact gradient over all samples: fast and without learning rates.

    If the slope of the squashing function is annealed, the slope at the start is used for half of the iterations at
    most, then the slope at the end. If ``max_iter`` stops it, classifiers warn (`ConvergenceWarning` of scikit-learn).

    Parameters
    ----------
    memory : int, default=10
        How many earlier steps shape the next one.

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
        """Improve ``start``, and tell ``watch`` about every step; return False if ``max_iter`` came too early."""
        stopped = False
        number = 0

        def callback(intermediate_result: OptimizeResult) -> None:
            nonlocal stopped
            try:
                watch(intermediate_result.x, float(intermediate_result.fun), number)
            except StopIteration:
                stopped = True
                raise

        W, theta = problem.unpack(start)
        start = pack(W, problem.metric.with_unit_rows(theta))  # prototypes are of that size too
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
    """Stochastic gradient descent, one sample at a time in random order, as the method was first published.

    After every sample the metric is normalized. In epoch t (from 1) prototypes learn at the rate
    ``learning_rate / (1 + decay (t - 1))``; the metric learns at ``metric_learning_rate / (1 + metric_decay (t -
    metric_start))`` from epoch ``metric_start`` on, and not before. A rate that is given as a pair falls exponentially
    instead, as ``start (end / start)^(t / t_max)`` with ``t_max`` = ``max_iter``.

    Parameters
    ----------
    learning_rate : float or tuple of float, default=0.01
        First rate of the prototypes, or first and last. Rates belong to exact gradients; some publications print
        prototype rules without the factor two of the gradient, and their rates are twice these. They also belong to
        standardized features: samples of another scale are learned in a unit in which the mean variance of the features
        is about one.
    metric_learning_rate : float or tuple of float, default=0.001
        First rate of the metric, or first and last: of the relevances, the diagonal of a matrix, or the whole matrix.
    off_diagonal_learning_rate : float or tuple of float, optional
        First rate of the other entries of a matrix, or first and last, if it shall differ.
    decay : float, default=1e-4
        How fast the rate of the prototypes falls.
    metric_decay : float, optional
        How fast the rate of the metric falls; by default like ``decay``.
    metric_start : int, default=1
        First epoch in which the metric learns.

    References
    ----------
    Biehl, Hammer and Schneider (2006). Matrix learning in learning vector quantization. Technical report IfI-06-14, TU
    Clausthal, section 5. Bunte (2011). Adaptive dissimilarity measures, dimension reduction and visualization. PhD
    thesis, University of Groningen, eqs. 3.5, 3.6, 5.4 and 5.5.

    Examples
    --------
    Rates may fall from a first value to a last one:

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
        """Return the rates of prototypes, of the diagonal and of the rest of the metric in an epoch, counted from 1."""
        passed = epoch / max_iter
        prototypes = _rate(self.learning_rate, self.decay * (epoch - 1), passed)  # Bunte 2011, eq. 3.5
        if epoch < self.metric_start:
            return prototypes, 0.0, 0.0
        fall = self._metric_decay() * (epoch - self.metric_start)  # Bunte 2011, eq. 3.6
        diagonal, rest = (_rate(rate, fall, passed) for rate in (self.metric_learning_rate, self._off_diagonal()))
        return prototypes, diagonal, rest

    @property
    def ends(self) -> bool:
        """Whether rates fall to a last value, which needs a last epoch."""
        given = self.learning_rate, self.metric_learning_rate, self._off_diagonal()
        return any(isinstance(rate, (tuple, list)) for rate in given)

    def minimize(
        self, problem: Problem, start: Floats, max_iter: int, tol: float, rng: np.random.RandomState, watch: Watch
    ) -> None:
        """Improve ``start``, and tell ``watch`` about every step."""
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
        """Whether axes may be turned: not where entries of a matrix on its diagonal have a rate of their own."""
        return self._off_diagonal() == self.metric_learning_rate

    def _off_diagonal(self) -> Rate:
        given = self.off_diagonal_learning_rate
        return self.metric_learning_rate if given is None else given

    def _metric_decay(self) -> float:
        return self.decay if self.metric_decay is None else self.metric_decay


class Waypoint(Solver):
    """Gradient descent with steps of given length, and averages of the last few points where these are better.

    Each step goes down the gradient by the length of its step, for prototypes and metric separately. If the mean of the
    last points costs less than the new point, the mean is taken and steps become shorter; otherwise they grow.

    Parameters
    ----------
    step : float, default=0.1
        First length of a step, relative to the size of the parameters.
    n_points : int, default=3
        How many points are averaged.
    shrink : float, default=0.67
        Factor on the length of steps when the average was better.
    grow : float, default=1.1
        Factor on the length of steps otherwise.

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
        """Improve ``start``, and tell ``watch`` about every step."""
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
    """Adaptive moments on mini-batches, for data of which a small part tells the gradient well enough.

    Parameters
    ----------
    learning_rate : float, default=0.02
        First rate, relative to the spread of the data and to the entries of the metric; it falls to zero along a
        cosine.
    batch_size : int, default=512
        Samples in a mini-batch.
    momentum : float, default=0.9
        Share of the mean gradient that is kept from step to step.
    second_momentum : float, default=0.99
        Share of the mean squared gradient that is kept.

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
        """Improve ``start``, and tell ``watch`` about every step."""
        descent = Descent(start, AdamState(np.zeros_like(start)), step_sizes(problem, start))
        n_steps = max_iter * problem.n_batches(self.batch_size)
        for stage in problem.cost.stages(max_iter):
            descent = problem.visit(partial(self._descend, stage, n_steps), replace(descent, costs=[]), rng)
            try:
                watch(descent.flat, float(np.mean(descent.costs)))
            except StopIteration:
                return

    def _descend(
        self, stage: Cost, n_steps: int, descent: Descent, problem: Problem, rng: np.random.RandomState
    ) -> Descent:
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
class Descent:
    """Where a descent in mini-batches is: flat vector, running means, size of the steps, costs in this epoch."""

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
        """Take a gradient in; return the direction of the next step, of about unit size in every coordinate."""
        self.n_steps += 1
        t = self.n_steps
        self.mean += (1.0 - solver.momentum) * (gradient - self.mean)
        self.square += (1.0 - solver.second_momentum) * (gradient**2 - self.square)
        root = np.sqrt(self.square / (1.0 - solver.second_momentum**t))
        return self.mean / (1.0 - solver.momentum**t) / (root + 1e-8)


SOLVERS: dict[str, type[Solver]] = {"lbfgs": LBFGS, "sgd": SGD, "waypoint": Waypoint, "adam": Adam}


def get_solver(solver: Solver | str, n_samples: int) -> Solver:
    """Return the solver of a name, or one that suits so many samples.

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
    """Return a size for the steps of each coordinate: one for prototypes, that of their entries for parameters."""
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
