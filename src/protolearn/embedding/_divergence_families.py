"""Base of all divergences: sums over pairs of entries, their derivatives, and input checks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import kl_div, rel_entr

from protolearn.core.parameters import constrained, number, positive
from protolearn.core.types import Floats

__all__ = [
    "Alpha",
    "Beta",
    "Bregman",
    "CauchySchwarz",
    "Csiszar",
    "Divergence",
    "Eta",
    "Floats",
    "Gamma",
    "GeneralizedKullbackLeibler",
    "GeneralizedRenyi",
    "Hellinger",
    "ItakuraSaito",
    "KullbackLeibler",
    "NeRV",
    "Pull",
    "Renyi",
    "ReverseGeneralizedKullbackLeibler",
    "ReverseKullbackLeibler",
    "Tsallis",
    "evaluated",
    "near",
    "ratio",
    "times",
]

TOLERANCE = 1e-6  # so close to a limit, formulas lose more digits by cancellation than the limit is off


class Pull(NamedTuple):
    """Part of ``q * slopes(p, q)`` that depends on p: ``factor * p**p_power * q**q_power`` of one of the sums.

    Examples
    --------
    For the Kullback-Leibler divergence, the slopes are ``-p / q``, so their product with q is ``-p``:

    >>> from protolearn.embedding.divergences import KullbackLeibler
    >>> KullbackLeibler().pull
    Pull(index=0, factor=-1.0, p_power=1.0, q_power=0.0)
    """

    index: int  # type: ignore[assignment]
    factor: float
    p_power: float
    q_power: float


class Divergence(ABC):
    """Divergence of two non-negative arrays, summed over the last axis.

    A subclass defines the terms of its sums and their derivatives and, if it is not a plain sum, a function of the sums
    and its derivatives. These four methods expect valid input, and NumPy may warn where a formula is infinite;
    ``value`` and ``derivative`` accept any numbers.

    Examples
    --------
    Half the squared Euclidean distance, as a divergence of your own:

    >>> import numpy as np
    >>> from protolearn.embedding.divergences import Divergence
    >>> class Squares(Divergence):
    ...     def terms(self, p, q):
    ...         return 0.5 * np.square(p - q)[None]
    ...
    ...     def slopes(self, p, q):
    ...         return (q - p)[None]
    >>> float(Squares().value([1.0, 2.0], [3.0, 2.0])), Squares().derivative([1.0, 2.0], [3.0, 2.0]).tolist()
    (2.0, [2.0, 0.0])
    """

    trade_off: float | None = None  # weight of Kullback-Leibler in a sum of its both directions, if it is one
    _positive = False  # never negative, for densities or not, so that what is below zero is rounding
    _scalable = False  # D(a p || b q) = D(p || q) + _shift(a, b)

    @property
    def needs_positive_p(self) -> bool:
        """Whether the value or the derivative can be infinite where p is zero."""
        return False

    @property
    def needs_positive_q(self) -> bool:
        """Whether the value or the derivative can be infinite where q is zero."""
        return False

    @abstractmethod
    def terms(self, p: Any, q: Any) -> Floats:
        """Return the summands (m, ...) of the m sums."""

    @abstractmethod
    def slopes(self, p: Any, q: Any) -> Floats:
        """Return the derivatives (m, ...) of the summands with respect to q."""

    def outer(self, sums: Floats) -> Any:
        """Return the divergence, a function of the sums (m, ...)."""
        return sums[0]

    def weights(self, sums: Floats) -> Floats:
        """Return the derivatives (m, ...) of the divergence with respect to the sums."""
        return np.ones_like(sums)

    @property
    def is_plain_sum(self) -> bool:
        """Whether the divergence is one plain sum, so that the derivative does not depend on its value."""
        return type(self).weights is Divergence.weights

    @property
    def of_measures(self) -> bool:
        """Whether it is stationary where p and q are equal, so that they need not sum to one."""
        equal = np.array([0.2, 0.4])
        return bool(np.abs(self.derivative(equal, equal)).max() <= 1e-9)

    @property
    def pull(self) -> Pull | None:
        """Part of the slopes that depends on p if it is a product of powers, otherwise None."""
        return None

    def limit(self) -> Divergence:
        """Return the limiting divergence where the formula divides by zero, otherwise the divergence itself."""
        return self

    def value(self, p: ArrayLike, q: ArrayLike, pseudocount: float = 0.0) -> Any:
        """Return ``D(p || q)``, summed over the last axis.

        Parameters
        ----------
        p, q : array-like of shape (..., n)
            Non-negative numbers; the leading axes are broadcast against each other.
        pseudocount : float, default=0.0
            Constant added to all entries of both, for divergences that are infinite if there are zeros.

        Returns
        -------
        float or ndarray of shape (...)
            Divergences, ``inf`` where zeros make them infinite.
        """
        form = self.limit()
        p, q = _checked(p, q, pseudocount)
        with np.errstate(all="ignore"):
            p, q, shift, _ = form._scaled(p, q)
            return form._of_sums(form.terms(p, q).sum(axis=-1), shift)

    def derivative(self, p: ArrayLike, q: ArrayLike, pseudocount: float = 0.0) -> Floats:
        """Return the derivative of ``D(p || q)`` with respect to each entry of q.

        Parameters
        ----------
        p, q : array-like of shape (..., n)
            Non-negative numbers; the leading axes are broadcast against each other.
        pseudocount : float, default=0.0
            Constant added to all entries of both.

        Returns
        -------
        ndarray of shape (..., n)
            Derivatives; where q is zero, derivatives from the right, which may be infinite.
        """
        form = self.limit()
        p, q = _checked(p, q, pseudocount)
        with np.errstate(all="ignore"):
            p, q, _, unit = form._scaled(p, q)
            weights = form.weights(form.terms(p, q).sum(axis=-1))
            return times(weights[..., None], form.slopes(p, q)).sum(axis=0) / unit

    def _scaled(self, p: Floats, q: Floats) -> tuple[Floats, Floats, Any, Any]:
        """Return p and q by their largest entries, if that is allowed, what the value lacks then, and the unit of q."""
        if not self._scalable:
            return p, q, 0.0, 1.0
        a, b = (
            np.where(largest > 0.0, largest, 1.0) for largest in (p.max(-1, keepdims=True), q.max(-1, keepdims=True))
        )
        return p / a, q / b, self._shift(a[..., 0], b[..., 0]), b

    def _of_sums(self, sums: Floats, shift: Any) -> Any:
        """Return the value from the sums of scaled arrays, without what rounding may have put below zero."""
        value = self.outer(sums) + shift
        return np.maximum(value, 0.0) if self._positive else value

    def _between(self, P: Floats, Q: Floats, pseudocount: float) -> Floats:
        """Return the divergences (n, m) between rows of two tables, with a product of matrices for the mixed sum.

        This is for families whose mixed sum has positive powers alone, so that other sums do not mix p and q.
        """
        P, Q = _checked(P[:, None], Q[None], pseudocount)
        index, factor, p_power, q_power = self.pull  # type: ignore[misc]
        with np.errstate(all="ignore"):
            p, q, shift, _ = self._scaled(P, Q)
            sums = self.terms(p, 0.0).sum(axis=-1) + self.terms(0.0, q).sum(axis=-1)
            sums[index] += factor / q_power * (p[:, 0] ** p_power @ (q[0] ** q_power).T)
            return self._of_sums(sums, shift)

    def _shift(self, a: Floats, b: Floats) -> Any:
        """Return ``D(a p || b q) - D(p || q)``."""
        return 0.0


def near(parameter: float, limit: float) -> bool:
    """Return whether a parameter is so close to a limit that the limiting divergence takes over."""
    return abs(parameter - limit) < TOLERANCE


def ratio(p: Any, q: Any) -> Any:
    """Return ``p / q``, 0 where p is zero even if q is zero too."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(p == 0.0, 0.0, p / q)


def times(a: Any, b: Any) -> Any:
    """Return ``a * b``, 0 where one of them is zero even if the other is infinite."""
    with np.errstate(invalid="ignore"):
        return np.where((a == 0.0) | (b == 0.0), 0.0, a * b)


def _checked(p: ArrayLike, q: ArrayLike, pseudocount: float) -> tuple[Floats, Floats]:
    number(0).check("pseudocount", pseudocount)
    p, q = (_entries(name, array) for name, array in (("p", p), ("q", q)))
    if p.shape[-1] != q.shape[-1]:
        raise ValueError(f"p has {p.shape[-1]} entries along its last axis, but q has {q.shape[-1]}; they must agree.")
    try:
        np.broadcast_shapes(p.shape, q.shape)
    except ValueError:
        raise ValueError(f"p of shape {p.shape} and q of shape {q.shape} cannot be broadcast together.") from None
    return p + pseudocount, q + pseudocount


def _entries(name: str, array: ArrayLike) -> Floats:
    array = np.asarray(array, dtype=np.float64)
    if array.ndim == 0 or array.shape[-1] == 0:
        raise ValueError(f"{name} has shape {array.shape}; give an array with at least one entry along its last axis.")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} contains NaN or infinity; divergences need finite numbers.")
    if (array < 0.0).any():
        raise ValueError(
            f"{name} contains negative numbers (smallest {array.min():g}); divergences need counts or densities."
        )
    return array


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
