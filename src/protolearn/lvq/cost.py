"""The cost of generalized LVQ: how wrong the two nearest prototypes are, and its derivative by every distance.

``E = mean_i u_i phi(mu_i)`` with ``mu = (d_J - d_K) / (d_J + d_K)``, where J is the nearest prototype of the sample's
own class and K the nearest of another: ``mu`` runs from -1 to 1 and is negative if and only if the sample is classified
correctly.

Arrays: D (n, k) squared distances, own (n, k) whether sample and prototype share a class, u (n,) weights.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, Self

import numpy as np
from scipy.special import expit

from protolearn.core.types import Bools, Floats

__all__ = [
    "SQUASHING",
    "Cost",
    "RelativeDistance",
    "identity",
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
        slopes = annealed(self.slope, n_steps)
        return [replace(self, slope=(slope, slope)) for slope in slopes]

    def __call__(self, D: Floats, own: Bools, u: Floats) -> tuple[float, Floats]:
        """Return the weighted sum over the samples at the end of training, and its derivative by every distance."""
        return relative_distance_cost(D, own, u, SQUASHING[self.squashing], self.slope[1])


def annealed(ends: tuple[float, float], n_steps: int) -> Floats:
    """Return a number at every one of a number of steps, from its first value to its last in equal ratios.

    Examples
    --------
    >>> annealed((2.0, 8.0), 3), annealed((2.0, 8.0), 1)
    (array([2., 4., 8.]), array([8.]))
    """
    return np.geomspace(*ends, n_steps) if n_steps > 1 else np.array([ends[1]])
