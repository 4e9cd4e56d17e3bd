"""One epoch of stochastic gradient descent: compiled for our own structures, general for any metric."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from protolearn.lvq.cost import SQUASHING
from protolearn.lvq.problem import Problem, pack
from protolearn.lvq.relevance import Diagonal, Identity, Matrix, Product, allowed_entries

__all__ = ["sweep"]

Floats = NDArray[np.float64]
Rates = tuple[float, float, float]


def sweep(problem: Problem, flat: Floats, order: NDArray[np.int64], rates: Rates, slope: float) -> tuple[Floats, float]:
    """Return the flat vector after one epoch, and the mean cost that its samples met.

    ``rates`` are those of the prototypes, of the diagonal and of the other entries of a matrix.
    """
    if type(problem.metric) in (Identity, Diagonal):
        return _sweep_diagonal(problem, flat, order, rates, slope)
    if type(problem.metric) in (Matrix, Product):
        return _sweep_matrix(problem, flat, order, rates, slope)
    return _sweep_any(problem, flat, order, rates, slope)


def _sweep_diagonal(
    problem: Problem, flat: Floats, order: NDArray[np.int64], rates: Rates, slope: float
) -> tuple[Floats, float]:
    from protolearn.lvq import _kernels

    W, theta = problem.unpack(flat.copy())
    learns = bool(theta)
    relevances = theta[0] ** 2 if learns else np.ones((1, W.shape[1]))
    cost = _kernels.sweep_diagonal(
        problem.X,
        problem.y,
        _relative_weights(problem),
        order,
        W,
        problem.classes,
        relevances,
        problem.metric.slots(problem.classes),
        rates if learns else (rates[0], 0.0, 0.0),
        float(problem.regularization),
        KINDS.index(problem.squashing),
        slope,
    )
    return pack(W, (np.sqrt(relevances),) if learns else ()), cost


def _sweep_matrix(
    problem: Problem, flat: Floats, order: NDArray[np.int64], rates: Rates, slope: float
) -> tuple[Floats, float]:
    from protolearn.lvq import _kernels

    W, theta = problem.unpack(flat.copy())
    omega, psi = theta if len(theta) == 2 else (theta[0], np.empty((0, 1, 1)))
    mask = getattr(problem.metric, "mask", None)
    shape = omega.shape[1:]
    cost = _kernels.sweep_matrix(
        problem.X,
        problem.y,
        _relative_weights(problem),
        order,
        W,
        problem.classes,
        omega,
        psi,
        problem.metric.slots(problem.classes),
        np.ones(shape, bool) if mask is None else allowed_entries(mask, shape),
        bool(getattr(problem.metric, "symmetric", False)),
        rates,
        float(problem.regularization),
        KINDS.index(problem.squashing),
        slope,
    )
    return pack(W, theta), cost


def _sweep_any(
    problem: Problem, flat: Floats, order: NDArray[np.int64], rates: Rates, slope: float
) -> tuple[Floats, float]:
    """Follow the exact gradient of each sample, with one rate for prototypes and one for the metric."""
    steps = np.full(len(flat), rates[1])
    steps[problem.blocks[0]] = rates[0]
    weights = _relative_weights(problem)
    total = 0.0
    for i in order:
        cost, gradient = problem(flat, slope, slice(i, i + 1))
        flat = problem.normalised(flat - weights[i] * steps * gradient)
        total += weights[i] * cost
    return flat, total / float(weights.sum())


KINDS = tuple(SQUASHING)


def _relative_weights(problem: Problem) -> Floats:
    return problem.u / problem.u.mean()
