"""Bregman divergences: the difference between a convex function and its tangent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import kl_div, rel_entr

from protolearn.core.parameters import constrained, number
from protolearn.embedding.divergences._divergence import TOLERANCE, Divergence, Floats, Pull, near, ratio, times

__all__ = [
    "Beta",
    "Bregman",
    "Eta",
    "GeneralizedKullbackLeibler",
    "ItakuraSaito",
    "KullbackLeibler",
    "NeRV",
    "ReverseGeneralizedKullbackLeibler",
    "ReverseKullbackLeibler",
    "evaluated",
]

TINY, HUGE = 1e-300, 1e300


@dataclass(frozen=True)
class KullbackLeibler(Divergence):
    r"""Kullback-Leibler divergence of densities, the objective of SNE and t-SNE.

    .. math:: D(p \,\|\, q) = \sum_k p_k \log \frac{p_k}{q_k}

    It penalizes a small q where p is large: true neighbors that are far apart in the view. For p or q that do not sum
    to one it can be negative; use :class:`GeneralizedKullbackLeibler` then. It is infinite where p is positive and q is
    zero.

    References
    ----------
    Bunte (2011). Adaptive dissimilarity measures, dimension reduction and visualization, chapter 9. PhD thesis,
    University of Groningen.

    Examples
    --------
    >>> from protolearn.embedding.divergences import KullbackLeibler
    >>> float(KullbackLeibler().value([0.5, 0.5, 0.0], [0.25, 0.25, 0.5]).round(4))
    0.6931
    """

    needs_positive_q = True

    def terms(self, p: Any, q: Any) -> Floats:
        return rel_entr(p, q)[None]

    def slopes(self, p: Any, q: Any) -> Floats:
        return -ratio(p, q)[None]

    @property
    def pull(self) -> Pull:
        return Pull(0, -1.0, 1.0, 0.0)


@dataclass(frozen=True)
class ReverseKullbackLeibler(Divergence):
    r"""Kullback-Leibler divergence with its arguments exchanged.

    .. math:: D(p \,\|\, q) = \sum_k q_k \log \frac{q_k}{p_k}

    It penalizes a large q where p is small: false neighbors in the view. It is meant for densities, and infinite where
    q is positive and p is zero.

    References
    ----------
    Venna, Peltonen, Nybo, Aidos, Kaski (2010). Information retrieval perspective to nonlinear dimensionality
    reduction for data visualization. Journal of Machine Learning Research.

    Examples
    --------
    >>> from protolearn.embedding.divergences import ReverseKullbackLeibler
    >>> ReverseKullbackLeibler().value([[0.5, 0.5, 0.0], [0.25, 0.25, 0.5]], [0.5, 0.5, 0.0]).round(4)
    array([0.    , 0.6931])
    """

    needs_positive_p = True
    needs_positive_q = True
    trade_off = 0.0

    def terms(self, p: Any, q: Any) -> Floats:
        return rel_entr(q, p)[None]

    def slopes(self, p: Any, q: Any) -> Floats:
        return 1.0 - np.log(ratio(p, q))[None]


@constrained(trade_off=number(0, 1))
@dataclass(frozen=True)
class NeRV(Divergence):
    r"""Objective of the neighbor retrieval visualizer: both directions of the Kullback-Leibler divergence.

    .. math:: D(p \,\|\, q) = \sum_k c \, p_k \log \frac{p_k}{q_k} + (1 - c) \, q_k \log \frac{q_k}{p_k}

    The first term penalizes neighbors that the view misses (recall), the second false neighbors that it shows
    (precision). It is meant for densities.

    Parameters
    ----------
    trade_off : float, default=0.5
        Weight c of the first term, from 0 (precision only) to 1 (recall only, the objective of SNE).

    References
    ----------
    Venna, Peltonen, Nybo, Aidos, Kaski (2010). Information retrieval perspective to nonlinear dimensionality
    reduction for data visualization. Journal of Machine Learning Research.

    Examples
    --------
    >>> from protolearn.embedding.divergences import NeRV
    >>> float(NeRV(0.1).value([0.5, 0.5], [0.9, 0.1]).round(4))
    0.3823
    """

    trade_off: float = 0.5

    needs_positive_q = True

    @property
    def needs_positive_p(self) -> bool:
        return self.trade_off < 1.0

    def terms(self, p: Any, q: Any) -> Floats:
        c = self.trade_off
        return (c * rel_entr(p, q) + (1.0 - c) * rel_entr(q, p))[None]

    def slopes(self, p: Any, q: Any) -> Floats:
        c, u = self.trade_off, ratio(p, q)
        return (-c * u + (1.0 - c) * (1.0 - np.log(u)))[None]

    def limit(self) -> Divergence:
        return {0.0: ReverseKullbackLeibler(), 1.0: KullbackLeibler()}.get(float(self.trade_off), self)


class _PowerBregman(Divergence):
    """Bregman divergence of a function with the second derivative ``_factor * x ** (_order - 2)``."""

    _order: float
    _factor: float = 1.0
    _positive = True

    @property
    def needs_positive_p(self) -> bool:
        return self._order < TOLERANCE

    @property
    def needs_positive_q(self) -> bool:
        return self._order < 2.0

    def terms(self, p: Any, q: Any) -> Floats:
        b = self._order
        powers = p**b + (b - 1.0) * q**b - b * times(p, q ** (b - 1.0))
        return _settled(p, q, self._factor / (b * (b - 1.0)) * powers)[None]

    def slopes(self, p: Any, q: Any) -> Floats:
        b = self._order
        return self._factor * np.where(p == 0.0, q ** (b - 1.0), q ** (b - 2.0) * (q - p))[None]

    @property
    def pull(self) -> Pull:
        return Pull(0, -self._factor, 1.0, self._order - 1.0)


@dataclass(frozen=True)
class GeneralizedKullbackLeibler(_PowerBregman):
    r"""Kullback-Leibler divergence of non-negative arrays that need not sum to one, also called I-divergence.

    .. math:: D(p \,\|\, q) = \sum_k p_k \log \frac{p_k}{q_k} - p_k + q_k

    It is the Bregman divergence of :math:`x \log x - x`, and infinite where p is positive and q is zero.

    References
    ----------
    Villmann, Haase (2011). Divergence-based vector quantization. Neural Computation.

    Examples
    --------
    >>> from protolearn.embedding.divergences import GeneralizedKullbackLeibler
    >>> float(GeneralizedKullbackLeibler().value([2.0, 0.0], [1.0, 1.0]).round(4))
    1.3863
    """

    _order = 1.0

    def terms(self, p: Any, q: Any) -> Floats:
        return kl_div(p, q)[None]


@dataclass(frozen=True)
class ReverseGeneralizedKullbackLeibler(Divergence):
    r"""Generalized Kullback-Leibler divergence with its arguments exchanged.

    .. math:: D(p \,\|\, q) = \sum_k q_k \log \frac{q_k}{p_k} - q_k + p_k

    It is the limit of :class:`Alpha` for :math:`\alpha \to 0`, and infinite where q is positive and p is zero.

    References
    ----------
    Cichocki, Amari (2010). Families of alpha- beta- and gamma-divergences: flexible and robust measures of
    similarities. Entropy.

    Examples
    --------
    >>> from protolearn.embedding.divergences import ReverseGeneralizedKullbackLeibler
    >>> float(ReverseGeneralizedKullbackLeibler().value([1.0, 1.0], [2.0, 0.0]).round(4))
    1.3863
    """

    needs_positive_p = True
    needs_positive_q = True
    _positive = True

    def terms(self, p: Any, q: Any) -> Floats:
        return kl_div(q, p)[None]

    def slopes(self, p: Any, q: Any) -> Floats:
        return -np.log(ratio(p, q))[None]


@dataclass(frozen=True)
class ItakuraSaito(_PowerBregman):
    r"""Itakura-Saito divergence, developed for spectra.

    .. math:: D(p \,\|\, q) = \sum_k \frac{p_k}{q_k} - \log \frac{p_k}{q_k} - 1

    It is the Bregman divergence of :math:`-\log x`. It is invariant to a common factor of p and q, so small entries
    have as much influence as large ones. It is infinite where p or q is zero.

    References
    ----------
    Bunte (2011). Adaptive dissimilarity measures, dimension reduction and visualization, chapter 9. PhD thesis,
    University of Groningen.

    Examples
    --------
    >>> from protolearn.embedding.divergences import ItakuraSaito
    >>> ItakuraSaito().value([[2.0, 1.0], [200.0, 100.0]], [[1.0, 1.0], [100.0, 100.0]]).round(4)
    array([0.3069, 0.3069])
    """

    _order = 0.0

    def terms(self, p: Any, q: Any) -> Floats:
        u = p / q
        return _settled(p, q, u - np.log(u) - 1.0)[None]


@constrained(beta=number())
@dataclass(frozen=True)
class Beta(_PowerBregman):
    r"""Beta divergence, also called density power divergence, of non-negative arrays.

    .. math::
        D(p \,\|\, q) = \sum_k p_k \frac{p_k^{\beta-1} - q_k^{\beta-1}}{\beta-1} - \frac{p_k^\beta - q_k^\beta}{\beta}

    Its limits are the generalized Kullback-Leibler divergence for :math:`\beta \to 1` and the Itakura-Saito divergence
    for :math:`\beta \to 0`; for :math:`\beta = 2` it is half the squared Euclidean distance. Larger values of
    :math:`\beta` increase the influence of large entries.

    Parameters
    ----------
    beta : float, default=0.5
        Any number. The divergence is infinite if q has zeros and :math:`\beta \le 1`, or if p has zeros and
        :math:`\beta \le 0`.

    References
    ----------
    Cichocki, Amari (2010). Families of alpha- beta- and gamma-divergences: flexible and robust measures of
    similarities. Entropy.

    Examples
    --------
    >>> from protolearn.embedding.divergences import Beta
    >>> float(Beta(2.0).value([3.0, 0.0], [1.0, 1.0]))
    2.5
    """

    beta: float = 0.5

    @property
    def _order(self) -> float:  # type: ignore[override]
        return self.beta

    def limit(self) -> Divergence:
        if near(self.beta, 1.0):
            return GeneralizedKullbackLeibler()
        return ItakuraSaito() if near(self.beta, 0.0) else self


@constrained(eta=number(1, open_low=True))
@dataclass(frozen=True)
class Eta(_PowerBregman):
    r"""Eta divergence, also called norm-like divergence, of non-negative arrays.

    .. math:: D(p \,\|\, q) = \sum_k p_k^\eta + (\eta - 1) \, q_k^\eta - \eta \, p_k q_k^{\eta - 1}

    It is the Bregman divergence of :math:`x^\eta`, and :math:`\eta (\eta - 1)` times the :class:`Beta` divergence with
    :math:`\beta = \eta`. For :math:`\eta = 2` it is the squared Euclidean distance.

    Parameters
    ----------
    eta : float, default=2.0
        Exponent, a number above 1. Larger values increase the influence of large entries.

    References
    ----------
    Villmann, Haase (2011). Divergence-based vector quantization. Neural Computation.

    Examples
    --------
    >>> from protolearn.embedding.divergences import Eta
    >>> float(Eta(2.0).value([3.0, 0.0], [1.0, 1.0]))
    5.0
    """

    eta: float = 2.0

    @property
    def _order(self) -> float:  # type: ignore[override]
        return self.eta

    @property
    def _factor(self) -> float:  # type: ignore[override]
        return self.eta * (self.eta - 1.0)


@dataclass(frozen=True)
class Bregman(Divergence):
    r"""Bregman divergence of any strictly convex function.

    .. math:: D(p \,\|\, q) = \sum_k \phi(p_k) - \phi(q_k) - \phi'(q_k) (p_k - q_k)

    Affine terms of :math:`\phi` have no effect. For every :math:`\phi`, the q with the smallest average divergence from
    several arrays is their mean.

    Parameters
    ----------
    phi, slope, curvature : callable
        Function :math:`\phi` on the non-negative numbers, its first and its second derivative, applied to arrays. Where
        they return NaN at zero (as ``x * np.log(x)`` does), their value close to zero is used.

    References
    ----------
    Bregman (1967). The relaxation method of finding the common point of convex sets and its application to the solution
    of problems in convex programming. USSR Computational Mathematics and Mathematical Physics.

    Bunte (2011). Adaptive dissimilarity measures, dimension reduction and visualization, chapter 9. PhD thesis,
    University of Groningen.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.embedding.divergences import Bregman
    >>> exponential = Bregman(np.exp, np.exp, np.exp)
    >>> float(exponential.value([1.0, 2.0], [1.0, 1.0]).round(4))
    1.9525
    """

    phi: Callable[[Any], Any]
    slope: Callable[[Any], Any]
    curvature: Callable[[Any], Any]

    _positive = True

    @property
    def needs_positive_p(self) -> bool:
        return not np.isfinite(evaluated(self.phi, 0.0))

    @property
    def needs_positive_q(self) -> bool:
        return not np.isfinite([evaluated(self.slope, 0.0), evaluated(self.curvature, 0.0)]).all()

    def terms(self, p: Any, q: Any) -> Floats:
        slope = evaluated(self.slope, q)
        return _settled(p, q, evaluated(self.phi, p) - evaluated(self.phi, q) - slope * (p - q))[None]

    def slopes(self, p: Any, q: Any) -> Floats:
        return evaluated(lambda x: self.curvature(x) * (x - p), q)[None]


def evaluated(function: Callable[[Any], Any], x: Any) -> Any:
    """Return a function of x; where it is NaN, at zero or infinity, its value at the closest representable number."""
    with np.errstate(all="ignore"):
        values = np.asarray(function(np.asarray(x, dtype=np.float64)), dtype=np.float64)
        if np.isnan(values).any():
            values = np.where(np.isnan(values), function(np.clip(x, TINY, HUGE)), values)
    return values


def _settled(p: Any, q: Any, terms: Any) -> Any:
    """Return terms that are 0 where p and q are equal, zeros too, and infinite where q = 0 makes them inf - inf."""
    return np.where(p == q, 0.0, np.where(np.isnan(terms), np.inf, terms))
