"""Divergences that are invariant to the scales of their arguments."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from protolearn.core.parameters import constrained, number
from protolearn.embedding.divergences._bregman import KullbackLeibler
from protolearn.embedding.divergences._divergence import Divergence, Floats, Pull, near, times

__all__ = ["CauchySchwarz", "Gamma"]


@constrained(gamma=number(0))
@dataclass(frozen=True)
class Gamma(Divergence):
    r"""Gamma divergence, which is invariant to the scales of p and q.

    .. math::
        D(p \,\|\, q) = \frac{\log \sum_k p_k^{\gamma + 1}}{\gamma (\gamma + 1)}
        + \frac{\log \sum_k q_k^{\gamma + 1}}{\gamma + 1} - \frac{\log \sum_k p_k q_k^\gamma}{\gamma}

    It is robust: if p is q contaminated by outliers, the divergence is nearly that without the outliers. It is finite
    with zeros unless p and q have no mass in common; then it is infinite.

    Parameters
    ----------
    gamma : float, default=0.5
        Parameter :math:`\gamma \ge 0`. Larger values reduce the influence of small entries. The limit for 0 is the
        Kullback-Leibler divergence, which requires densities; 1 is the Cauchy-Schwarz divergence.

    References
    ----------
    Fujisawa, Eguchi (2008). Robust parameter estimation with a small bias against heavy contamination. Journal of
    Multivariate Analysis.

    Bunte (2011). Adaptive dissimilarity measures, dimension reduction and visualization, chapter 9. PhD thesis,
    University of Groningen.

    Examples
    --------
    >>> from protolearn.embedding.divergences import Gamma
    >>> Gamma(0.5).value([[1.0, 3.0], [1e200, 3e200]], [2.0, 1.0]).round(4)
    array([0.3572, 0.3572])
    """

    gamma: float = 0.5

    _positive = True
    _scalable = True

    @property
    def needs_positive_q(self) -> bool:
        return self.gamma < 1.0

    def terms(self, p: Any, q: Any) -> Floats:
        p, q = np.broadcast_arrays(p, q)
        g = self.gamma
        return np.stack([p ** (g + 1.0), q ** (g + 1.0), p * q**g])

    def slopes(self, p: Any, q: Any) -> Floats:
        p, q = np.broadcast_arrays(p, q)
        g = self.gamma
        return np.stack([np.zeros_like(p), (g + 1.0) * q**g, g * times(p, q ** (g - 1.0))])

    def outer(self, sums: Floats) -> Any:
        g = self.gamma
        own, other, mixed = np.log(sums)
        value = own / (g * (g + 1.0)) + other / (g + 1.0) - mixed / g  # Bunte 2011, sec. 9.2.3
        return np.where(sums[2] == 0.0, np.inf, value)

    def weights(self, sums: Floats) -> Floats:
        g = self.gamma
        return np.stack([1.0 / (g * (g + 1.0) * sums[0]), 1.0 / ((g + 1.0) * sums[1]), -1.0 / (g * sums[2])])

    @property
    def pull(self) -> Pull:
        return Pull(2, self.gamma, 1.0, self.gamma)

    def limit(self) -> Divergence:
        return KullbackLeibler() if near(self.gamma, 0.0) else self


@dataclass(frozen=True)
class CauchySchwarz(Gamma):
    r"""Cauchy-Schwarz divergence: minus the logarithm of the cosine of the angle between p and q.

    .. math:: D(p \,\|\, q) = \frac{1}{2} \log \sum_k p_k^2 \sum_k q_k^2 - \log \sum_k p_k q_k

    It is the :class:`Gamma` divergence for :math:`\gamma = 1`, the symmetric member of that family.

    References
    ----------
    Bunte (2011). Adaptive dissimilarity measures, dimension reduction and visualization, chapter 9. PhD thesis,
    University of Groningen.

    Examples
    --------
    >>> from protolearn.embedding.divergences import CauchySchwarz
    >>> float(CauchySchwarz().value([1.0, 0.0], [5.0, 5.0]).round(4))
    0.3466
    """

    gamma: float = field(default=1.0, init=False, repr=False)
