"""What training minimizes, as a function of the distances to all prototypes, with its derivative by every distance.

Generalized LVQ: ``E = mean_i u_i phi(mu_i)`` with ``mu = (d_J - d_K) / (d_J + d_K)``, where J is the nearest prototype
of the sample's own class and K the nearest of another: ``mu`` runs from -1 to 1 and is negative if and only if the
sample is classified correctly. Supervised neural gas lets all prototypes of the class take the place of J, weighted by
rank. Soft LVQ: ``E = -mean_i u_i log p(y_i | x_i)`` in a mixture of Gaussians around the prototypes.

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
    """What training minimizes, as a function of the distances between samples and prototypes."""

    @property
    def n_stages(self) -> int:
        """How many stages a solver that anneals in few, long stages should take."""

    def stages(self, n_steps: int) -> Sequence[Cost]:
        """Return the cost at every one of a number of steps; the last is that at the end of training."""

    def __call__(self, D: Floats, own: Bools, u: Floats) -> tuple[float, Floats]:
        """Return the weighted sum over the samples at the end of training, and its derivative by every distance."""


TINY = 1e-290  # below this, distances have no meaningful ratio
NEGLIGIBLE = 1e-16  # shares of one that change nothing


def identity(mu: Floats, slope: float) -> tuple[Floats, Floats]:
    """Leave ``mu`` as it is: every sample counts the same. Return value and derivative."""
    return mu, np.ones_like(mu)


def sigmoid(mu: Floats, slope: float) -> tuple[Floats, Floats]:
    """Logistic function ``1 / (1 + exp(-slope mu))``: a steep one counts errors, and heeds samples near the border."""
    value = expit(slope * mu)
    return value, slope * value * (1.0 - value)


def swish(mu: Floats, slope: float) -> tuple[Floats, Floats]:
    """Return ``mu / (1 + exp(-slope mu))``, which goes on growing with the size of an error."""
    gate = expit(slope * mu)
    return mu * gate, gate + slope * mu * gate * (1.0 - gate)


SQUASHING: dict[str, Squashing] = {"identity": identity, "sigmoid": sigmoid, "swish": swish}


def relative_distance(D: Floats, own: Bools) -> tuple[Floats, Any, Any, Floats, Floats]:
    """Return ``mu`` (n,), the winners J and K (n,), and the derivatives of ``mu`` by their distances.

    A sample that lies on both of its winners has ``mu = 0`` and derivative 0. A sample without a prototype of its
    own class, or of another, does not count either.
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
    """Return ``sum_i u_i phi(mu_i)`` and its derivative by every distance (n, k), zero but for the winners."""
    mu, J, K, by_J, by_K = relative_distance(D, own)
    value, steepness = squashing(mu, slope)
    rows = np.arange(len(D))
    G = np.zeros_like(D)
    G[rows, J] = u * steepness * by_J
    G[rows, K] += u * steepness * by_K
    return float(u @ value), G


@dataclass(frozen=True)
class RelativeDistance:
    """The cost of generalized LVQ, ``sum_i u_i phi(mu_i)``.

    Parameters
    ----------
    squashing : {"sigmoid", "identity", "swish"}, default="sigmoid"
        Name of ``phi``.
    slope : tuple of float, default=(1.0, 1.0)
        Slope of ``phi`` at the start and at the end of training.
    """

    squashing: str = "sigmoid"
    slope: tuple[float, float] = (1.0, 1.0)

    @property
    def n_stages(self) -> int:
        """How many stages a solver that anneals in few, long stages should take."""
        return 1 if self.slope[0] == self.slope[1] else 2

    def stages(self, n_steps: int) -> list[Self]:
        """Return the cost at every one of a number of steps; the last is that at the end of training."""
        if self.slope[0] == self.slope[1]:
            return [self] * n_steps
        return [replace(self, slope=(slope, slope)) for slope in annealed(self.slope, n_steps)]

    def __call__(self, D: Floats, own: Bools, u: Floats) -> tuple[float, Floats]:
        """Return the weighted sum over the samples at the end of training, and its derivative by every distance."""
        return relative_distance_cost(D, own, u, SQUASHING[self.squashing], self.slope[1])


@dataclass(frozen=True)
class CooperativeRelativeDistance(RelativeDistance):
    """The cost of supervised neural gas: ``sum_i u_i sum_p h_ip phi(mu_ip)``.

    The sum is over the prototypes of the sample's class, ``mu_ip = (d_p - d_K) / (d_p + d_K)``, and the weights ``h``
    fall with the rank of p among them. At a range near zero it is the cost of generalized LVQ.

    Parameters
    ----------
    squashing : {"sigmoid", "identity", "swish"}, default="sigmoid"
        Name of ``phi``.
    slope : tuple of float, default=(1.0, 1.0)
        Slope of ``phi`` at the start and at the end of training.
    range_ : tuple of float, default=(1.0, 0.01)
        Range of the cooperation, in ranks, at the start and at the end of training.

    References
    ----------
    Hammer, Strickert and Villmann (2005). Supervised neural gas with general similarity measure. Neural Processing
    Letters 21.
    """

    range_: tuple[float, float] = (1.0, 0.01)

    @property
    def n_stages(self) -> int:
        """How many stages a solver that anneals in few, long stages should take."""
        return 5

    def stages(self, n_steps: int) -> list[Self]:
        """Return the cost at every one of a number of steps; the last is that at the end of training."""
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
    """Return ``exp(-rank / range)`` of each prototype (n, k) among those of the sample's class, with sum one.

    Between prototypes at the same distance, the first is nearer.

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
    """The cost of robust soft LVQ: ``-sum_i u_i log p(y_i | x_i)``.

    Every prototype is a Gaussian of the same width and prior, so that ``p(y | x)`` is the share of
    ``exp(-d_p / (2 width^2))`` that the prototypes of class y have.

    Parameters
    ----------
    width : float, default=1.0
        Standard deviation of the Gaussians, in the unit of the square root of the distances.

    References
    ----------
    Seo and Obermayer (2003). Soft learning vector quantization. Neural Computation 15.
    """

    width: float = 1.0

    @property
    def n_stages(self) -> int:
        """How many stages a solver that anneals in few, long stages should take."""
        return 1

    def stages(self, n_steps: int) -> list[Self]:
        """Return the cost at every one of a number of steps, which is always the same."""
        return [self] * n_steps

    def __call__(self, D: Floats, own: Bools, u: Floats) -> tuple[float, Floats]:
        """Return the weighted sum over the samples, and its derivative by every distance."""
        of_all, P = _shares(D, self.width)
        of_own, Q = _shares(np.where(own, D, np.inf), self.width)
        known = np.isfinite(of_own)  # samples with a prototype of their class
        G = np.where(known[:, None], Q - P, 0.0) * (u / (2.0 * self.width**2))[:, None]
        return float(u[known] @ (of_all[known] - of_own[known])), G  # Seo and Obermayer 2003, eqs. 22 and 24


def log_posteriors(D: Floats, classes: Indices, n_classes: int, width: float) -> Floats:
    """Return ``log p(c | x)`` of every class (n, C), which has the prototypes with its code in ``classes`` (k,)."""
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
    """Return a number at every one of a number of steps, from its first value to its last in equal ratios.

    Examples
    --------
    >>> annealed((2.0, 8.0), 3), annealed((2.0, 8.0), 1)
    (array([2., 4., 8.]), array([8.]))
    """
    return np.geomspace(*ends, n_steps) if n_steps > 1 else np.array([ends[1]])
