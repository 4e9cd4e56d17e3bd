r"""Cost functions of LVQ, as functions of the distances to all prototypes, with their derivatives.

Generalized LVQ minimizes the mean of :math:`u_i \Phi(\mu_i)` with :math:`\mu = (d_J - d_K) / (d_J + d_K)`, where J is
the nearest prototype of the sample's own class and K the nearest prototype of any other class. :math:`\mu` lies in
:math:`[-1, 1]` and is negative if and only if the sample is classified correctly. Supervised neural gas replaces J by
all prototypes of the class, weighted by rank. Soft LVQ minimizes the mean of :math:`-u_i \log p(y_i \mid x_i)` in a
mixture of Gaussians around the prototypes.

Arrays: D (n, k) squared distances, own (n, k) whether sample and prototype share a class, u (n,) weights.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, Self

import numpy as np
from scipy.special import expit

from protolearn.core.types import Bools, Floats, Indices

__all__ = [
    "SQUASHING",
    "CooperativeRelativeDistance",
    "Cost",
    "CrossEntropy",
    "RelativeDistance",
    "identity",
    "log_posteriors",
    "rank_weights",
    "relative_distance",
    "relative_distance_cost",
    "sigmoid",
    "swish",
]

Squashing = Callable[[Floats, float], tuple[Floats, Floats]]


class Cost(Protocol):
    """Base class of cost functions of the distances between samples and prototypes.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.lvq.cost import Cost, RelativeDistance
    >>> cost: Cost = RelativeDistance("identity")
    >>> D, own = np.array([[1.0, 3.0]]), np.array([[True, False]])  # one sample, near to the prototype of its class
    >>> value, slopes = cost(D, own, np.ones(1))
    >>> value, slopes.tolist()  # it pays to come nearer to this one, and to go away from the other
    (-0.5, [[0.375, -0.125]])
    """

    @property
    def n_stages(self) -> int:
        """Number of annealing stages for a solver that anneals in a few long stages."""

    def stages(self, n_steps: int) -> Sequence[Cost]:
        """Return the costs for a number of annealing steps; the last one is the cost at the end of training."""

    def __call__(self, D: Floats, own: Bools, u: Floats) -> tuple[float, Floats]:
        """Return the weighted sum over the samples at the end of training, and its derivative by every distance."""


TINY = 1e-290  # below this, distances have no meaningful ratio
NEGLIGIBLE = 1e-16  # shares of one that change nothing
COMPILED = 1 << 12  # distances from which a compiled loop is worth loading


def identity(mu: Floats, slope: float) -> tuple[Floats, Floats]:
    """Return ``mu`` itself and its derivative: all samples have the same influence.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.lvq.cost import identity
    >>> identity(np.array([-0.5, 0.5]), 3.0)
    (array([-0.5,  0.5]), array([1., 1.]))
    """
    return mu, np.ones_like(mu)


def sigmoid(mu: Floats, slope: float) -> tuple[Floats, Floats]:
    r"""Return the logistic function :math:`1 / (1 + e^{-s \mu})` with the slope s, and its derivative.

    Examples
    --------
    With a steep slope the cost approaches the number of errors, and samples near the class border, where ``mu`` is 0,
    have the largest influence:

    >>> import numpy as np
    >>> from protolearn.lvq.cost import sigmoid
    >>> value, derivative = sigmoid(np.array([-1.0, 0.0, 1.0]), 10.0)
    >>> value.round(3).tolist(), derivative.round(3).tolist()
    ([0.0, 0.5, 1.0], [0.0, 2.5, 0.0])
    """
    value = expit(slope * mu)
    return value, slope * value * (1.0 - value)


def swish(mu: Floats, slope: float) -> tuple[Floats, Floats]:
    r"""Return :math:`\mu / (1 + e^{-s \mu})` with the slope s, and its derivative; it keeps increasing with an error.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.lvq.cost import swish
    >>> value, derivative = swish(np.array([-1.0, 0.0, 1.0]), 10.0)
    >>> np.abs(value).round(3).tolist(), np.abs(derivative).round(3).tolist()
    ([0.0, 0.0, 1.0], [0.0, 0.5, 1.0])
    """
    gate = expit(slope * mu)
    return mu * gate, gate + slope * mu * gate * (1.0 - gate)


#: Squashing functions by name.
SQUASHING: dict[str, Squashing] = {"identity": identity, "sigmoid": sigmoid, "swish": swish}


def relative_distance(D: Floats, own: Bools) -> tuple[Floats, Any, Any, Floats, Floats]:
    """Return ``mu`` (n,), the winners J and K (n,), and the derivatives of ``mu`` by their distances.

    A sample that coincides with both of its winners has ``mu = 0`` and derivative 0. The derivatives are also 0 for a
    sample without a prototype of its own class, or without one of another class.

    Parameters
    ----------
    D : ndarray of shape (n, k)
        Squared distances.
    own : ndarray of shape (n, k), of bool
        Whether sample and prototype share a class.

    Returns
    -------
    mu : ndarray of shape (n,)
        Relative distances, negative where a sample is classified correctly.
    J, K : ndarray of shape (n,)
        Nearest prototype of the sample's own class, and of any other class.
    by_J, by_K : ndarray of shape (n,)
        Derivatives of ``mu`` by the distances to J and K.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.lvq.cost import relative_distance
    >>> D, own = np.array([[1.0, 9.0, 3.0]]), np.array([[True, True, False]])
    >>> mu, J, K, by_J, by_K = relative_distance(D, own)
    >>> mu.tolist(), J.tolist(), K.tolist()
    ([-0.5], [0], [2])
    """
    rows = np.arange(len(D))
    J = np.where(own, D, np.inf).argmin(axis=1)
    K = np.where(own, np.inf, D).argmin(axis=1)
    d_J, d_K = D[rows, J], D[rows, K]
    total = d_J + d_K
    usable = (total > TINY) & (total < np.inf) & own[rows, J] & ~own[rows, K]
    total = np.where(usable, total, 1.0)
    d_J, d_K = np.where(usable, d_J, 0.0), np.where(usable, d_K, 0.0)
    mu = (d_J - d_K) / total
    return mu, J, K, 2.0 * d_K / total / total, -2.0 * d_J / total / total  # Biehl et al. 2006, section 2


def relative_distance_cost(
    D: Floats, own: Bools, u: Floats, squashing: Squashing, slope: float
) -> tuple[float, Floats]:
    """Return ``sum_i u_i phi(mu_i)`` and its derivative by every distance (n, k), which is zero except for the winners.

    Parameters
    ----------
    D : ndarray of shape (n, k)
        Squared distances.
    own : ndarray of shape (n, k), of bool
        Whether sample and prototype share a class.
    u : ndarray of shape (n,)
        Weights of the samples.
    squashing : callable
        The function ``phi``, such as `sigmoid`.
    slope : float
        Slope of the squashing function.

    Returns
    -------
    cost : float
        The weighted sum over the samples.
    G : ndarray of shape (n, k)
        Derivatives of the cost by the distances.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.lvq.cost import identity, relative_distance_cost
    >>> D, own = np.array([[1.0, 9.0, 3.0]]), np.array([[True, True, False]])
    >>> cost, G = relative_distance_cost(D, own, np.ones(1), identity, 1.0)
    >>> cost, G.tolist()
    (-0.5, [[0.375, 0.0, -0.125]])
    """
    mu, J, K, by_J, by_K = relative_distance(D, own)
    value, steepness = squashing(mu, slope)
    rows = np.arange(len(D))
    G = np.zeros_like(D)
    G[rows, J] = u * steepness * by_J
    G[rows, K] += u * steepness * by_K
    return float(u @ value), G


@dataclass(frozen=True)
class RelativeDistance:
    """Cost function of generalized LVQ, ``sum_i u_i phi(mu_i)``.

    Parameters
    ----------
    squashing : {"sigmoid", "identity", "swish"}, default="sigmoid"
        Name of the squashing function ``phi``.
    slope : tuple of float, default=(1.0, 1.0)
        Slope of ``phi`` at the start and at the end of training.

    Examples
    --------
    With a steep sigmoid, correctly classified samples contribute almost nothing:

    >>> import numpy as np
    >>> from protolearn.lvq.cost import RelativeDistance
    >>> D, own = np.array([[1.0, 3.0]]), np.array([[True, False]])
    >>> [round(RelativeDistance("sigmoid", (1.0, slope))(D, own, np.ones(1))[0], 3) for slope in (1.0, 20.0)]
    [0.378, 0.0]
    """

    squashing: str = "sigmoid"
    slope: tuple[float, float] = (1.0, 1.0)

    @property
    def n_stages(self) -> int:
        """Number of annealing stages for a solver that anneals in a few long stages."""
        return 1 if self.slope[0] == self.slope[1] else 2

    def stages(self, n_steps: int) -> list[Self]:
        """Return the costs for a number of annealing steps; the last one is the cost at the end of training."""
        if self.slope[0] == self.slope[1]:
            return [self] * n_steps
        return [replace(self, slope=(slope, slope)) for slope in annealed(self.slope, n_steps)]

    def __call__(self, D: Floats, own: Bools, u: Floats) -> tuple[float, Floats]:
        """Return the weighted sum over the samples at the end of training, and its derivative by every distance."""
        if D.size < COMPILED:
            return relative_distance_cost(D, own, u, SQUASHING[self.squashing], self.slope[1])
        from protolearn.lvq._kernels import relative_slopes

        G = np.empty(D.shape)
        kind = tuple(SQUASHING).index(self.squashing)
        return relative_slopes(kind, float(self.slope[1]), D, own, u, G), G


@dataclass(frozen=True)
class CooperativeRelativeDistance(RelativeDistance):
    r"""Cost function of supervised neural gas, :math:`\sum_i u_i \sum_p h_{ip} \Phi(\mu_{ip})`.

    The inner sum runs over the prototypes of the sample's class, with :math:`\mu_{ip} = (d_p - d_K) / (d_p + d_K)`. The
    weights :math:`h_{ip}` decrease with the rank of p among these prototypes. As the range approaches zero, the cost
    becomes that of generalized LVQ.

    Parameters
    ----------
    squashing : {"sigmoid", "identity", "swish"}, default="sigmoid"
        Name of the squashing function ``phi``.
    slope : tuple of float, default=(1.0, 1.0)
        Slope of ``phi`` at the start and at the end of training.
    range_ : tuple of float, default=(1.0, 0.01)
        Neighborhood range, in ranks, at the start and at the end of training.

    References
    ----------
    Hammer, Strickert and Villmann (2005). Supervised neural gas with general similarity measure. Neural Processing
    Letters 21.

    Examples
    --------
    At the start of training all prototypes of the class are drawn to the sample, at the end only the nearest:

    >>> import numpy as np
    >>> from protolearn.lvq.cost import CooperativeRelativeDistance
    >>> D, own = np.array([[1.0, 2.0, 3.0]]), np.array([[True, True, False]])
    >>> stages = CooperativeRelativeDistance().stages(5)
    >>> [(stage(D, own, np.ones(1))[1] > 0.0).sum().item() for stage in (stages[0], stages[-1])]
    [2, 1]
    """

    range_: tuple[float, float] = (1.0, 0.01)

    @property
    def n_stages(self) -> int:
        """Number of annealing stages for a solver that anneals in a few long stages."""
        return 5

    def stages(self, n_steps: int) -> list[Self]:
        """Return the costs for a number of annealing steps; the last one is the cost at the end of training."""
        ranges = annealed(self.range_, n_steps)
        return [replace(stage, range_=(r, r)) for stage, r in zip(super().stages(n_steps), ranges)]

    def __call__(self, D: Floats, own: Bools, u: Floats) -> tuple[float, Floats]:
        """Return the weighted sum over the samples at the end of training, and its derivative by every distance."""
        rows = np.arange(len(D))
        K = np.where(own, np.inf, D).argmin(axis=1)
        d_K = np.where(own[rows, K], np.inf, D[rows, K])
        H = rank_weights(D, own, self.range_[1])
        i, p = np.nonzero((H > NEGLIGIBLE) & (D + d_K[:, None] < np.inf))  # pairs of a sample and a prototype
        d, other, h = D[i, p], d_K[i], u[i] * H[i, p]
        total = d + other
        usable = total > TINY
        total = np.where(usable, total, 1.0)
        value, steepness = SQUASHING[self.squashing](np.where(usable, (d - other) / total, 0.0), self.slope[1])
        steepness = np.where(usable, 2.0 * h * steepness / total / total, 0.0)
        G = np.zeros_like(D)
        G[i, p] = steepness * other  # Hammer, Strickert and Villmann 2005, section 3
        G[rows, K] -= np.bincount(i, steepness * d, len(D))
        return float(h @ value), G


def rank_weights(D: Floats, own: Bools, range_: float) -> Floats:
    r"""Return weights that decrease with the rank of a prototype in the sample's class, with sum one.

    They are proportional to :math:`e^{-\text{rank} / \text{range}}` for the prototypes of the class, and 0 for others.
    Ties are broken in favor of the lower index.

    Examples
    --------
    >>> rank_weights(np.array([[3.0, 1.0, 0.0]]), np.array([[True, True, False]]), 1.0).round(3)
    array([[0.269, 0.731, 0.   ]])
    """
    order = np.where(own, D, np.inf).argsort(axis=1, kind="stable")
    ranks = np.empty_like(order)
    np.put_along_axis(ranks, order, np.arange(D.shape[1])[None], axis=1)
    H = np.where(own & np.isfinite(D), np.exp(-ranks / range_), 0.0)
    total = H.sum(axis=1, keepdims=True)
    return H / np.where(total > 0, total, 1.0)


@dataclass(frozen=True)
class CrossEntropy:
    r"""Cost function of robust soft LVQ, :math:`-\sum_i u_i \log p(y_i \mid x_i)`.

    Every prototype is the center of a Gaussian with the same width :math:`\sigma` and prior, so :math:`p(y \mid x)` is
    the share of the prototypes of class y in the sum of :math:`\exp(-d_p / (2 \sigma^2))` over all prototypes.

    Parameters
    ----------
    width : float, default=1.0
        Standard deviation of the Gaussians, in the unit of the square root of the distances.

    References
    ----------
    Seo and Obermayer (2003). Soft learning vector quantization. Neural Computation 15.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.lvq.cost import CrossEntropy
    >>> D, own = np.array([[1.0, 1.0]]), np.array([[True, False]])  # as near to its own class as to the other
    >>> value, slopes = CrossEntropy(width=1.0)(D, own, np.ones(1))
    >>> round(float(np.exp(-value)), 6), slopes.round(6).tolist()
    (0.5, [[0.25, -0.25]])
    """

    width: float = 1.0

    @property
    def n_stages(self) -> int:
        """Number of annealing stages for a solver that anneals in a few long stages."""
        return 1

    def stages(self, n_steps: int) -> list[Self]:
        """Return the costs for a number of annealing steps, which are all the same."""
        return [self] * n_steps

    def __call__(self, D: Floats, own: Bools, u: Floats) -> tuple[float, Floats]:
        """Return the weighted sum over the samples, and its derivative by every distance."""
        of_all, P = _shares(D, self.width)
        of_own, Q = _shares(np.where(own, D, np.inf), self.width)
        known = np.isfinite(of_own)  # samples with a prototype of their class
        G = np.where(known[:, None], Q - P, 0.0) * (u / (2.0 * self.width**2))[:, None]
        return float(u[known] @ (of_all[known] - of_own[known])), G  # Seo and Obermayer 2003, eqs. 22 and 24


def log_posteriors(D: Floats, classes: Indices, n_classes: int, width: float) -> Floats:
    """Return ``log p(c | x)`` of every class (n, C) under a mixture of Gaussians around the prototypes.

    Parameters
    ----------
    D : ndarray of shape (n, k)
        Squared distances.
    classes : ndarray of shape (k,)
        Class code of each prototype.
    n_classes : int
        Number of classes C.
    width : float
        Standard deviation of the Gaussians around the prototypes.

    Returns
    -------
    ndarray of shape (n, C)
        Logarithms of the probabilities, which sum to 1 in each row.

    Examples
    --------
    Of three prototypes at the same distance, two belong to the second class:

    >>> import numpy as np
    >>> from protolearn.lvq.cost import log_posteriors
    >>> np.exp(log_posteriors(np.ones((1, 3)), np.array([0, 1, 1]), 2, width=1.0)).round(3).tolist()
    [[0.333, 0.667]]
    """
    of_all = _shares(D, width)[0]
    of_class = [_shares(np.where(classes == c, D, np.inf), width)[0] for c in range(n_classes)]
    return np.stack(of_class, axis=1) - of_all[:, None]


def _shares(D: Floats, width: float) -> tuple[Floats, Floats]:
    """Return ``log sum_p exp(-d_p / (2 width^2))`` of each row, and the share of every prototype in that sum."""
    nearest = D.min(axis=1)
    there = nearest < np.inf
    gaps = D - np.where(there, nearest, 0.0)[:, None]
    P = np.exp(gaps / (-2.0 * width**2))
    P[P < NEGLIGIBLE] = 0.0
    total = P.sum(axis=1)
    P /= np.where(there, total, 1.0)[:, None]
    logs = np.where(there, np.log(np.where(there, total, 1.0)) - nearest / (2.0 * width**2), -np.inf)
    return logs, P


def slope_ends(slope: Any) -> tuple[float, float]:
    """Return the slope at the start and at the end of training, from one number or a pair."""
    pair = slope if isinstance(slope, (tuple, list)) else (slope, slope)
    if len(pair) != 2:
        raise ValueError(f"slope={slope!r} must be a number, or a pair of numbers (start, end).")
    return pair[0], pair[1]


def annealed(ends: tuple[float, float], n_steps: int) -> Floats:
    """Return a geometric sequence of values from the first to the last, one for each of a number of steps.

    Examples
    --------
    >>> annealed((2.0, 8.0), 3), annealed((2.0, 8.0), 1)
    (array([2., 4., 8.]), array([8.]))
    """
    return np.geomspace(*ends, n_steps) if n_steps > 1 else np.array([ends[1]])
