"""Csiszar f-divergences, which compare ratios of densities, and functions of these divergences."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from protolearn.core.parameters import constrained, number, positive
from protolearn.embedding.divergences._bregman import (
    GeneralizedKullbackLeibler,
    KullbackLeibler,
    ReverseGeneralizedKullbackLeibler,
    evaluated,
)
from protolearn.embedding.divergences._divergence import TOLERANCE, Divergence, Floats, Pull, near, ratio, times

__all__ = ["Alpha", "Csiszar", "GeneralizedRenyi", "Hellinger", "Renyi", "Tsallis"]


class _MixedPowers(Divergence):
    """A function of the sum of ``p ** alpha * q ** (1 - alpha)``, for measures less the tangent plane at p = q."""

    alpha: float
    _for_measures = False

    @property
    def needs_positive_p(self) -> bool:
        return self.alpha < TOLERANCE

    @property
    def needs_positive_q(self) -> bool:
        return self.alpha > -TOLERANCE

    def terms(self, p: Any, q: Any) -> Floats:
        a = self.alpha
        mixed = _mixed(p, q, a)
        return (mixed - a * p + (a - 1.0) * q if self._for_measures else mixed)[None]

    def slopes(self, p: Any, q: Any) -> Floats:
        a = self.alpha
        return (1.0 - a) * (ratio(p, q) ** a - (1.0 if self._for_measures else 0.0))[None]

    @property
    def pull(self) -> Pull:
        return Pull(0, 1.0 - self.alpha, self.alpha, 1.0 - self.alpha)


@constrained(alpha=number())
@dataclass(frozen=True)
class Alpha(_MixedPowers):
    r"""Alpha divergence of non-negative arrays.

    .. math::
        D(p \,\|\, q) = \frac{1}{\alpha (\alpha - 1)} \sum_k p_k^\alpha q_k^{1 - \alpha} - \alpha p_k + (\alpha - 1) q_k

    For :math:`\alpha \ge 1` it is zero-avoiding: q must be positive where p is. For :math:`\alpha \le 0` it is
    zero-forcing: q must be zero where p is. Its limits are the generalized Kullback-Leibler divergence for
    :math:`\alpha \to 1` and the same with exchanged arguments for :math:`\alpha \to 0`. The values 2 and -1 give half
    of the Pearson and Neyman chi-square divergences, and 1/2 four times the :class:`Hellinger` divergence. Exchanging p
    and q turns :math:`\alpha` into :math:`1 - \alpha`.

    Parameters
    ----------
    alpha : float, default=0.5
        Any number; see above for special values.

    References
    ----------
    Cichocki, Amari (2010). Families of alpha- beta- and gamma-divergences: flexible and robust measures of
    similarities. Entropy.

    Examples
    --------
    >>> from protolearn.embedding.divergences import Alpha
    >>> float(Alpha(2.0).value([3.0, 0.0], [1.0, 1.0]))
    2.5
    """

    alpha: float = 0.5

    _for_measures = True
    _positive = True

    def outer(self, sums: Floats) -> Any:
        return sums[0] / (self.alpha * (self.alpha - 1.0))

    def weights(self, sums: Floats) -> Floats:
        return np.full_like(sums, 1.0 / (self.alpha * (self.alpha - 1.0)))

    def limit(self) -> Divergence:
        return _limit_of_measures(self)


@constrained(alpha=number())
@dataclass(frozen=True)
class GeneralizedRenyi(_MixedPowers):
    r"""Renyi divergence of non-negative arrays that need not sum to one.

    .. math::
        D(p \,\|\, q) = \frac{1}{\alpha - 1} \log (1 + S), \quad
        S = \sum_k p_k^\alpha q_k^{1 - \alpha} - \alpha p_k + (\alpha - 1) q_k

    For densities it equals :class:`Renyi`. For :math:`0 < \alpha < 1`, S is negative and grows with the size of p and
    q. Where :math:`1 + S` is not positive, as for most counts, the value is infinite; normalize counts to densities
    first.

    Parameters
    ----------
    alpha : float, default=0.5
        A positive number, or any number if ``normalized``. The limit for 1 is the generalized Kullback-Leibler
        divergence.
    normalized : bool, default=False
        Whether to divide by :math:`\alpha` as well, which makes the divergence positive for negative :math:`\alpha`,
        too. The limit for 0 is then the generalized Kullback-Leibler divergence with exchanged arguments.

    References
    ----------
    Bunte (2011). Adaptive dissimilarity measures, dimension reduction and visualization, chapter 9. PhD thesis,
    University of Groningen.

    Cichocki, Amari (2010). Families of alpha- beta- and gamma-divergences: flexible and robust measures of
    similarities. Entropy.

    Examples
    --------
    >>> from protolearn.embedding.divergences import GeneralizedRenyi
    >>> GeneralizedRenyi(0.5).value([[1.0, 2.0], [100.0, 200.0]], [[2.0, 1.0], [200.0, 100.0]]).round(4)
    array([0.3765,    inf])
    """

    alpha: float = 0.5
    normalized: bool = False

    _for_measures = True
    _positive = True

    def __post_init__(self) -> None:
        if not self.normalized:
            positive.check("alpha", self.alpha, "; other numbers need normalized=True")

    @property
    def _divisor(self) -> float:
        return (self.alpha - 1.0) * (self.alpha if self.normalized else 1.0)

    def outer(self, sums: Floats) -> Any:
        inside = sums[0] > -1.0
        return np.where(inside, np.log1p(np.where(inside, sums[0], 0.0)) / self._divisor, np.inf)

    def weights(self, sums: Floats) -> Floats:
        return _reciprocal(1.0 + sums) / self._divisor

    def limit(self) -> Divergence:
        return _limit_of_measures(self) if self.normalized or near(self.alpha, 1.0) else self


@constrained(alpha=positive)
@dataclass(frozen=True)
class Renyi(_MixedPowers):
    r"""Renyi divergence of densities.

    .. math:: D(p \,\|\, q) = \frac{1}{\alpha - 1} \log \sum_k p_k^\alpha q_k^{1 - \alpha}

    Factors of p and q only add constants, so the derivative does not depend on the scale of p. The limit for
    :math:`\alpha \to 1` is the Kullback-Leibler divergence.

    Parameters
    ----------
    alpha : float, default=0.5
        A positive number. For :math:`\alpha \ge 1` the divergence is infinite where p is positive and q is zero; for
        :math:`\alpha < 1`, if p and q have no mass in common.

    References
    ----------
    Renyi (1961). On measures of entropy and information. Berkeley Symposium on Mathematical Statistics and Probability.

    Bunte (2011). Adaptive dissimilarity measures, dimension reduction and visualization, chapter 9. PhD thesis,
    University of Groningen.

    Examples
    --------
    >>> from protolearn.embedding.divergences import Renyi
    >>> float(Renyi(2.0).value([0.5, 0.5], [0.25, 0.75]).round(4))
    0.2877
    """

    alpha: float = 0.5

    _scalable = True

    def outer(self, sums: Floats) -> Any:
        return np.log(sums[0]) / (self.alpha - 1.0)

    def weights(self, sums: Floats) -> Floats:
        return _reciprocal(sums) / (self.alpha - 1.0)

    def limit(self) -> Divergence:
        return KullbackLeibler() if near(self.alpha, 1.0) else self

    def _shift(self, a: Floats, b: Floats) -> Any:
        return (self.alpha * np.log(a) + (1.0 - self.alpha) * np.log(b)) / (self.alpha - 1.0)


@constrained(alpha=positive)
@dataclass(frozen=True)
class Tsallis(_MixedPowers):
    r"""Tsallis divergence of densities.

    .. math:: D(p \,\|\, q) = \frac{1}{1 - \alpha} \Big(1 - \sum_k p_k^\alpha q_k^{1 - \alpha}\Big)

    For densities it is :math:`\alpha` times the :class:`Alpha` divergence. The limit for :math:`\alpha \to 1` is the
    Kullback-Leibler divergence.

    Parameters
    ----------
    alpha : float, default=0.5
        A positive number. For :math:`\alpha \ge 1` the divergence is infinite where p is positive and q is zero.

    References
    ----------
    Tsallis (1988). Possible generalization of Boltzmann-Gibbs statistics. Journal of Statistical Physics.

    Bunte (2011). Adaptive dissimilarity measures, dimension reduction and visualization, chapter 9. PhD thesis,
    University of Groningen.

    Examples
    --------
    >>> from protolearn.embedding.divergences import Tsallis
    >>> float(Tsallis(2.0).value([0.5, 0.5], [0.25, 0.75]).round(4))
    0.3333
    """

    alpha: float = 0.5

    def outer(self, sums: Floats) -> Any:
        return (sums[0] - 1.0) / (self.alpha - 1.0)

    def weights(self, sums: Floats) -> Floats:
        return np.full_like(sums, 1.0 / (self.alpha - 1.0))

    def limit(self) -> Divergence:
        return KullbackLeibler() if near(self.alpha, 1.0) else self


@dataclass(frozen=True)
class Hellinger(Divergence):
    r"""Squared Hellinger distance of non-negative arrays.

    .. math:: D(p \,\|\, q) = \frac{1}{2} \sum_k \big(\sqrt{p_k} - \sqrt{q_k}\big)^2

    It is symmetric, finite with zeros, at most 1 for densities, and the square of a metric.

    References
    ----------
    Bunte (2011). Adaptive dissimilarity measures, dimension reduction and visualization, chapter 9. PhD thesis,
    University of Groningen.

    Examples
    --------
    >>> from protolearn.embedding.divergences import Hellinger
    >>> float(Hellinger().value([0.5, 0.5, 0.0], [0.0, 0.0, 1.0]))
    1.0
    """

    needs_positive_q = True
    _positive = True

    def terms(self, p: Any, q: Any) -> Floats:
        return (0.5 * (np.sqrt(p) - np.sqrt(q)) ** 2)[None]

    def slopes(self, p: Any, q: Any) -> Floats:
        return (0.5 - 0.5 * np.sqrt(ratio(p, q)))[None]

    @property
    def pull(self) -> Pull:
        return Pull(0, -0.5, 0.5, 0.5)


@dataclass(frozen=True)
class Csiszar(Divergence):
    r"""Csiszar f-divergence of any convex function with ``f(1) = 0``.

    .. math:: D(p \,\|\, q) = \sum_k q_k \, f\Big(\frac{p_k}{q_k}\Big)

    It does not increase when entries are merged by addition. Zeros are treated by their limits: a term is zero if p and
    q are both zero, and :math:`p f'(\infty)` if only q is zero.

    Parameters
    ----------
    f, slope : callable
        Function f on the non-negative numbers and its derivative, applied to arrays. Where they return NaN at zero or
        infinity, the nearest finite argument is used.
    generalized : bool, default=False
        Whether to subtract :math:`f'(1) (p - q)`. The divergence of arrays that do not sum to one is then non-negative,
        and zero only if they are equal.

    References
    ----------
    Csiszar (1967). Information-type measures of differences of probability distributions and indirect observations.
    Studia Scientiarum Mathematicarum Hungarica.

    Bunte (2011). Adaptive dissimilarity measures, dimension reduction and visualization, chapter 9. PhD thesis,
    University of Groningen.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.embedding.divergences import Csiszar
    >>> variation = Csiszar(lambda u: 0.5 * np.abs(u - 1.0), lambda u: 0.5 * np.sign(u - 1.0))
    >>> float(variation.value([0.5, 0.5, 0.0], [0.25, 0.25, 0.5]))
    0.5
    """

    f: Callable[[Any], Any]
    slope: Callable[[Any], Any]
    generalized: bool = False

    needs_positive_q = True

    def __post_init__(self) -> None:
        start = float(evaluated(self.f, 1.0))
        if not abs(start) < 1e-9:
            raise ValueError(f"f(1)={start:g} must be 0; subtract this constant from f.")

    @property
    def _positive(self) -> bool:  # type: ignore[override]
        return self.generalized

    @property
    def needs_positive_p(self) -> bool:
        return not np.isfinite(evaluated(self.f, 0.0))

    def terms(self, p: Any, q: Any) -> Floats:
        u = ratio(p, q)
        at_zero_q = times(p, evaluated(self.slope, np.inf))  # f(u) / u and f'(u) have the same limit
        terms = np.where(np.isinf(u), at_zero_q, times(q, evaluated(self.f, u)))
        return (terms - self._tilt * (p - q))[None]

    def slopes(self, p: Any, q: Any) -> Floats:
        u = ratio(p, q)
        slopes = np.where(np.isinf(u), -np.inf, evaluated(self.f, u) - times(u, evaluated(self.slope, u)))
        return (slopes + self._tilt)[None]

    def conjugate(self) -> Csiszar:
        """Return the divergence with p and q exchanged, that of ``f*(u) = u f(1 / u)``.

        Examples
        --------
        >>> import numpy as np
        >>> from protolearn.embedding.divergences import Csiszar
        >>> pearson = Csiszar(lambda u: (u - 1.0) ** 2, lambda u: 2.0 * (u - 1.0))
        >>> float(pearson.value([0.5, 0.5], [0.8, 0.2]) - pearson.conjugate().value([0.8, 0.2], [0.5, 0.5]))
        0.0
        """

        def f(u: Any) -> Any:
            return np.where(u == 0.0, evaluated(self.slope, np.inf), u * evaluated(self.f, 1.0 / u))

        def slope(u: Any) -> Any:
            v = 1.0 / u
            return evaluated(self.f, v) - times(v, evaluated(self.slope, v))

        return Csiszar(f, slope, self.generalized)

    @property
    def _tilt(self) -> float:
        return float(evaluated(self.slope, 1.0)) if self.generalized else 0.0


def _limit_of_measures(divergence: Alpha | GeneralizedRenyi) -> Divergence:
    if near(divergence.alpha, 1.0):
        return GeneralizedKullbackLeibler()
    return ReverseGeneralizedKullbackLeibler() if near(divergence.alpha, 0.0) else divergence


def _mixed(p: Any, q: Any, alpha: float) -> Any:
    """Return ``p ** alpha * q ** (1 - alpha)``, 0 where both are zero; powers of a ratio up to 1 do not overflow."""
    large = np.maximum(p, q)
    small = np.minimum(p, q) / np.where(large == 0.0, 1.0, large)
    return times(large, small ** np.where(p > q, 1.0 - alpha, alpha))


def _reciprocal(sums: Floats) -> Floats:
    """Return ``1 / sums``, infinite where they are not positive; not quite 0 where they, like slopes, are infinite."""
    return 1.0 / np.clip(sums, 0.0, np.finfo(np.float64).max)
