"""Base of all divergences: sums over pairs of entries, their derivatives, and input checks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from protolearn.core.parameters import number
from protolearn.core.types import Floats

__all__ = ["Divergence", "Floats", "Pull", "near", "ratio", "times"]


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
