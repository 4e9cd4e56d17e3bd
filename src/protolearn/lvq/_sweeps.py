"""One epoch of stochastic gradient descent: compiled for the built-in structures, generic for any other metric."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from protolearn.core.threads import row_blocks
from protolearn.core.types import Floats, Indices
from protolearn.lvq._masked import MaskedMetric
from protolearn.lvq.cost import SQUASHING, CooperativeRelativeDistance, Cost, CrossEntropy, RelativeDistance
from protolearn.lvq.problem import Problem, pack
from protolearn.lvq.relevance import DiagonalMetric, EuclideanMetric, MatrixMetric, ProductMetric, allowed_entries

__all__ = ["pieces", "sweep"]

Rates = tuple[float, float, float]
Rule = tuple[int, float, float | None, float | None]
CALL_ENTRIES = 50_000_000  # that one call of a compiled loop goes through: about a tenth of a second


def sweep(problem: Problem, flat: Floats, order: Indices, rates: Rates, stage: Cost) -> tuple[Floats, float]:
    """Return the flat vector after one epoch, and the mean cost of the samples at their presentation.

    ``rates`` are those of the prototypes, of the diagonal and of the other entries of a matrix.
    """
    rule = _rule(stage)
    if rule is None or (problem.hidden is not None and type(stage) is not RelativeDistance):
        return _sweep_any(problem, flat, order, rates, stage)
    if type(problem.metric) in (EuclideanMetric, DiagonalMetric):
        compiled = _sweep_diagonal
    elif type(problem.metric) in (MatrixMetric, MaskedMetric, ProductMetric):
        compiled = _sweep_matrix
    else:
        return _sweep_any(problem, flat, order, rates, stage)
    if problem.hidden is None:
        return compiled(problem, flat, order, rates, rule)
    far = np.where(problem.hidden[:, None], np.inf, problem.unpack(flat)[0])  # so that hidden prototypes never win
    after, cost = compiled(problem, pack(far, problem.unpack(flat)[1]), order, rates, rule)
    W, theta = problem.unpack(after)
    return pack(np.where(problem.hidden[:, None], problem.unpack(flat)[0], W), theta), cost


def _rule(stage: Cost) -> Rule | None:
    """Return a cost as compiled loops know it: its kind, slope, range and width; None if they do not."""
    if type(stage) is CrossEntropy:
        return 0, 1.0, None, float(stage.width)
    if type(stage) is CooperativeRelativeDistance:
        return KINDS.index(stage.squashing), float(stage.slope[1]), float(stage.range_[1]), None
    if type(stage) is RelativeDistance:
        return KINDS.index(stage.squashing), float(stage.slope[1]), None, None
    return None


def _sweep_diagonal(problem: Problem, flat: Floats, order: Indices, rates: Rates, rule: Rule) -> tuple[Floats, float]:
    from protolearn.lvq import _kernels

    W, theta = problem.unpack(flat.copy())
    learns = bool(theta)
    relevances = theta[0] ** 2 if learns else np.ones((1, W.shape[1]))
    weights, sums = _relative_weights(problem), np.zeros(2)
    for some in pieces(order, W.size):
        _kernels.sweep_diagonal(
            problem.X,
            problem.y,
            weights,
            some,
            W,
            problem.classes,
            relevances,
            problem.metric.slots(problem.classes),
            problem.metric.norm == "each",
            rates if learns else (rates[0], 0.0, 0.0),
            float(problem.regularization) or None,
            rule,
            sums,
        )
    return pack(W, (np.sqrt(relevances),) if learns else ()), _mean(sums)


def _sweep_matrix(problem: Problem, flat: Floats, order: Indices, rates: Rates, rule: Rule) -> tuple[Floats, float]:
    from protolearn.lvq import _kernels

    W, theta = problem.unpack(flat.copy())
    metric = problem.metric
    if isinstance(metric, MaskedMetric):
        theta = (metric.matrices(theta),)
    mask, shape = getattr(metric, "mask", None), theta[0].shape[1:]
    weights, sums = _relative_weights(problem), np.zeros(2)
    kernel: Any = _kernels.sweep_product
    options: tuple[Any, ...] = ()
    if not isinstance(metric, ProductMetric):
        kernel = _kernels.sweep_matrix
        allowed = None if mask is None else allowed_entries(mask, shape)
        options = (allowed, getattr(metric, "symmetric", False) or None, metric.norm == "each")
    for some in pieces(order, W.size * shape[0] + sum(part.size for part in theta)):
        kernel(
            *(problem.X, problem.y, weights, some, W, problem.classes, *theta, metric.slots(problem.classes)),
            *(*options, rates, float(problem.regularization) or None, rule, sums),
        )
    return pack(W, metric.folded(theta) if isinstance(metric, MaskedMetric) else theta), _mean(sums)


def _sweep_any(problem: Problem, flat: Floats, order: Indices, rates: Rates, stage: Cost) -> tuple[Floats, float]:
    """Follow the exact gradient of each sample, with one rate for prototypes and one for the metric."""
    steps = np.full(len(flat), rates[1])
    steps[problem.blocks[0]] = rates[0]
    weights = _relative_weights(problem)
    total = 0.0
    for i in order:
        cost, gradient = problem(flat, stage, slice(i, i + 1))
        flat = problem.normalized(flat - weights[i] * steps * gradient)
        total += weights[i] * cost
    return flat, total / float(weights.sum())


KINDS = tuple(SQUASHING)


def pieces(order: Indices, n_entries: int) -> Iterator[Indices]:
    """Split an order of samples into calls of limited cost, between which Python handles interrupts.

    Examples
    --------
    >>> [len(piece) for piece in pieces(np.arange(25), CALL_ENTRIES // 10)]
    [10, 10, 5]
    """
    return (order[part] for part in row_blocks(len(order), n_entries, CALL_ENTRIES))


def _mean(sums: Floats) -> float:
    """Return the mean of costs, whose sum and total weight are given."""
    return float(sums[0] / sums[1]) if sums[1] > 0 else 0.0


def _relative_weights(problem: Problem) -> Floats:
    return problem.u / problem.u.mean()
