"""Characteristics of a view, errors between these and the data, and constraints, with their gradients."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from typing import Any, ClassVar, Protocol

import numpy as np
from scipy import sparse
from scipy.spatial.distance import cdist

from protolearn.core.chunks import CLOSE, block_size, cut, row_blocks
from protolearn.core.parameters import constrained, option, positive
from protolearn.core.threads import Threads
from protolearn.core.types import Floats
from protolearn.embedding.divergences import Divergence, KullbackLeibler
from protolearn.embedding.neighbor._descent import Descent
from protolearn.embedding.neighbor._exact import TINY, Exact, floors
from protolearn.embedding.neighbor._fast import Fast, degree, is_tame
from protolearn.embedding.neighbor._field import n_cells
from protolearn.embedding.neighbor.view import Kernel, StudentKernel

__all__ = [
    "DistanceView",
    "ErrorPart",
    "InnerProductView",
    "KernelView",
    "LeastSquares",
    "ProductError",
    "ResidualView",
    "Rows",
    "Spread",
    "SquaredDistanceView",
    "SquaredError",
    "ViewConstraint",
    "ViewPart",
    "Whitened",
]

Rows = Callable[[Floats], tuple[Any, Floats]]  # positions to the values of all rows, or their sum, and the gradient

FEW_POINTS = 150  # up to which all pairs of points are taken one by one whatever the kernel
FIELDS_OF_ROWS = 4  # that are summed if each point has a distribution of its own: as many pairs take no longer
N_UNFOLDING = 100  # steps of points that are still free
EXAGGERATION = 12.0  # of the pull between neighbors meanwhile


class ErrorPart(Protocol):
    """Error between characteristics b of a view and a of the data, as a sum over pairs.

    Examples
    --------
    Absolute differences, which penalize large errors less than squared differences do:

    >>> import numpy as np
    >>> from protolearn.embedding.mapped.costs import Cost, DistanceView, Distances
    >>> class Absolute:
    ...     nothing = 0.0
    ...
    ...     def terms(self, a, b):
    ...         return np.abs(a - b)
    ...
    ...     def slopes(self, a, b):
    ...         return np.sign(b - a)
    >>> cost = Cost(Distances(), DistanceView(), Absolute())
    >>> cost.error.terms(3.0, np.array([1.0, 3.0])).tolist()
    [2.0, 0.0]
    """

    nothing: ClassVar[float]  # the b of a view that shows nothing, whose error becomes 1

    def terms(self, a: Any, b: Any) -> Any:
        """Return the summands."""

    def slopes(self, a: Any, b: Any) -> Any:
        """Return the derivatives of the summands with respect to b."""


class ViewPart(Protocol):
    """Characteristics of a view that are compared with those of the data.

    Examples
    --------
    Every view part provides an error as a function of positions, and its gradient:

    >>> import numpy as np
    >>> from protolearn.core.threads import Threads
    >>> from protolearn.embedding.mapped.costs import LeastSquares, SquaredDistanceView, ViewPart
    >>> view: ViewPart = SquaredDistanceView()
    >>> error = view.compared(np.array([[0.0, 4.0], [4.0, 0.0]]), LeastSquares(), Threads())
    >>> values, gradient = error(np.array([[0.0], [2.0]]))
    >>> float(values.sum()), bool(np.allclose(gradient, 0.0))
    (0.0, True)
    """

    size: ClassVar[float]  # root mean square radius of a good first layout, if it is not that of the data

    def compared(self, given: Any, error: Any, threads: Threads) -> Rows:
        """Return the error, about 1 for an uninformative view, as a function of all positions (n, d)."""

    def placed(self, given: Any, points: Floats, error: Any, threads: Threads) -> Rows:
        """Return the errors (m,) of new points as a function of their positions (m, d), while the others stay fixed."""


class ViewConstraint(Protocol):
    """Constraint on positions, as a penalty term.

    Examples
    --------
    A penalty that keeps positions close to the origin:

    >>> import numpy as np
    >>> from protolearn.embedding.mapped.costs import Cost, DistanceView, Distances, LeastSquares
    >>> class Held:
    ...     def on(self, given, size):
    ...         return lambda points: (float(np.square(points).sum()), 2.0 * points)
    >>> cost = Cost(Distances(), DistanceView(), LeastSquares(), Held())
    >>> cost.constraint.on(None, 1.0)(np.array([[3.0]]))
    (9.0, array([[6.]]))
    """

    def on(self, given: Any, size: float) -> Rows:
        """Return the penalty as a function of all positions (n, d)."""


# Errors


@constrained(weighting=option("none", "sammon"))
@dataclass(frozen=True)
class LeastSquares:
    """Squared differences ``w (a - b)^2``.

    Parameters
    ----------
    weighting : {"none", "sammon"}, default="none"
        Weights w of the squares: 1 for ``"none"`` and ``1 / a`` for ``"sammon"``, which emphasizes small values; zeros
        are excluded then.

    Examples
    --------
    >>> import numpy as np
    >>> LeastSquares("sammon").terms(np.array([0.0, 1.0, 2.0]), np.array([3.0, 3.0, 3.0]))
    array([0. , 4. , 0.5])
    """

    weighting: str = "none"

    nothing: ClassVar[float] = 0.0

    def terms(self, a: Any, b: Any) -> Any:
        """Return the summands."""
        return self._weights(a) * np.square(a - b)

    def slopes(self, a: Any, b: Any) -> Any:
        """Return the derivatives of the summands with respect to b."""
        return 2.0 * self._weights(a) * (b - a)

    def _weights(self, a: Any) -> Any:
        if self.weighting == "none":
            return 1.0
        return np.divide(1.0, a, out=np.zeros_like(a), where=a > 0.0)


@dataclass(frozen=True)
class ProductError:
    """Products ``a b`` of weights in the data and squared distances in the view.

    Examples
    --------
    Similar samples should be close to each other:

    >>> import numpy as np
    >>> from protolearn.embedding.mapped.costs import ProductError
    >>> weights, squares = np.array([1.0, 0.1]), np.array([9.0, 9.0])
    >>> ProductError().terms(weights, squares).round(6).tolist()
    [9.0, 0.9]
    """

    nothing: ClassVar[float] = 1.0

    def terms(self, a: Any, b: Any) -> Any:
        """Return the summands."""
        return a * b

    def slopes(self, a: Any, b: Any) -> Any:
        """Return the derivatives of the summands with respect to b."""
        return a


@dataclass(frozen=True)
class SquaredError:
    """Squares ``b^2`` of residuals that should be zero in the view.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.embedding.mapped.costs import SquaredError
    >>> residuals = np.array([0.0, -3.0])
    >>> SquaredError().terms(0.0, residuals).tolist(), SquaredError().slopes(0.0, residuals).tolist()
    ([0.0, 9.0], [0.0, -6.0])
    """

    nothing: ClassVar[float] = 1.0

    def terms(self, a: Any, b: Any) -> Any:
        """Return the summands."""
        return np.square(b)

    def slopes(self, a: Any, b: Any) -> Any:
        """Return the derivatives of the summands with respect to b."""
        return 2.0 * b


# Views


class _Pairs(ABC):
    """Base of views that are characterized by one number for each pair, which must be symmetric in the data."""

    size: ClassVar[float] = 1.0

    def compared(self, given: Any, error: ErrorPart, threads: Threads) -> Rows:
        """Return the error as a function of all positions."""
        unit = _units(given, error).sum() or 1.0

        def rows(points: Floats) -> tuple[Floats, Floats]:
            centered = points - points.mean(axis=0)
            values, gradient = self._sweep(given, centered, centered, error, threads)
            gradient -= gradient.mean(axis=0)
            return values / unit, (2.0 / unit) * gradient  # each pair is met in the rows of both

        return rows

    def placed(self, given: Any, points: Floats, error: ErrorPart, threads: Threads) -> Rows:
        """Return the errors of new points as a function of their positions."""
        origin, units = points.mean(axis=0), _units(given, error)
        units = np.where(units > 0.0, units, 1.0)

        def rows(new: Floats) -> tuple[Floats, Floats]:
            values, gradient = self._sweep(given, new - origin, points - origin, error, threads)
            return values / units, gradient / units[:, None]

        return rows

    def _sweep(
        self, given: Any, new: Floats, others: Floats, error: ErrorPart, threads: Threads
    ) -> tuple[Floats, Floats]:
        """Return the errors (m,) of rows, and their gradients (m, d) with respect to the new positions."""
        if sparse.issparse(given):
            ends = np.repeat(np.arange(len(new)), np.diff(given.indptr))
            shown = self._shown_at(new[ends], others[given.indices])
            forces = _like(given, error.slopes(given.data, shown) * self._rate(shown))
            return _like(given, error.terms(given.data, shown)).sum(axis=1), self._moved(forces, new, others)
        values, gradient, step = np.empty(len(new)), np.empty(new.shape), block_size(8 * len(others), CLOSE)

        def part(first: int, last: int) -> None:
            for rows in cut(last, step, first):
                shown = self._shown(new[rows], others)
                values[rows] = error.terms(given[rows], shown).sum(axis=1)
                forces = error.slopes(given[rows], shown) * self._rate(shown)
                gradient[rows] = self._moved(forces, new[rows], others)

        threads.over(len(new), part, ..., step=step)
        return values, gradient

    @abstractmethod
    def _shown(self, new: Floats, others: Floats) -> Floats:
        """Return the numbers (m, n) of all pairs."""

    @abstractmethod
    def _shown_at(self, new: Floats, others: Floats) -> Floats:
        """Return the numbers (e,) of the pairs of rows."""

    @abstractmethod
    def _rate(self, shown: Floats) -> Any:
        """Return the derivative of the numbers, divided by the difference of both points."""

    def _moved(self, forces: Any, new: Floats, others: Floats) -> Floats:
        """Return the sums (m, d) of differences to the others, weighted by forces (m, n)."""
        return forces.sum(axis=1)[:, None] * new - forces @ others


@dataclass(frozen=True)
class DistanceView(_Pairs):
    """Distances between points.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.core.threads import Threads
    >>> from protolearn.embedding.mapped.costs import DistanceView, LeastSquares
    >>> distances = np.array([[0.0, 2.0], [2.0, 0.0]])
    >>> error = DistanceView().compared(distances, LeastSquares(), Threads())
    >>> [float(error(np.array([[0.0], [x]]))[0].sum()) for x in (0.0, 1.0, 2.0)]
    [1.0, 0.25, 0.0]
    """

    def _shown(self, new: Floats, others: Floats) -> Floats:
        return cdist(new, others)

    def _shown_at(self, new: Floats, others: Floats) -> Floats:
        return np.linalg.norm(new - others, axis=1)

    def _rate(self, shown: Floats) -> Floats:
        # Points in the same place have no direction to be moved apart in.
        return np.divide(1.0, shown, out=np.zeros_like(shown), where=shown > 0.0)


@dataclass(frozen=True)
class SquaredDistanceView(_Pairs):
    """Squared distances between points.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.core.threads import Threads
    >>> from protolearn.embedding.mapped.costs import ProductError, SquaredDistanceView
    >>> weights = np.array([[0.0, 1.0], [1.0, 0.0]])
    >>> error = SquaredDistanceView().compared(weights, ProductError(), Threads())
    >>> [float(error(np.array([[0.0], [x]]))[0].sum()) for x in (0.0, 1.0, 2.0)]
    [0.0, 1.0, 4.0]
    """

    def _shown(self, new: Floats, others: Floats) -> Floats:
        return cdist(new, others, "sqeuclidean")

    def _shown_at(self, new: Floats, others: Floats) -> Floats:
        return np.square(new - others).sum(axis=1)

    def _rate(self, shown: Floats) -> float:
        return 2.0


@dataclass(frozen=True)
class InnerProductView(_Pairs):
    """Inner products of points, relative to their mean.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.core.threads import Threads
    >>> from protolearn.embedding.mapped.costs import InnerProductView, LeastSquares
    >>> products = np.array([[1.0, -1.0], [-1.0, 1.0]])
    >>> error = InnerProductView().compared(products, LeastSquares(), Threads())
    >>> [float(error(np.array([[0.0], [x]]))[0].sum()) for x in (0.0, 2.0)]
    [1.0, 0.0]
    """

    def _shown(self, new: Floats, others: Floats) -> Floats:
        return new @ others.T

    def _shown_at(self, new: Floats, others: Floats) -> Floats:
        return (new * others).sum(axis=1)

    def _rate(self, shown: Floats) -> float:
        return 1.0

    def _moved(self, forces: Any, new: Floats, others: Floats) -> Floats:
        return forces @ others


@dataclass(frozen=True)
class ResidualView:
    """Differences between points and the weighted means of their neighbors.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.core.threads import Threads
    >>> from protolearn.embedding.mapped.costs import ResidualView, SquaredError
    >>> weights = np.array([[0.0, 1.0, 0.0], [0.5, 0.0, 0.5], [0.0, 1.0, 0.0]])  # the second is between the others
    >>> values, gradient = ResidualView().compared(weights, SquaredError(), Threads())(np.array([[0.0], [1.0], [2.0]]))
    >>> (3 * values).round(6).tolist()
    [1.0, 0.0, 1.0]
    """

    size: ClassVar[float] = 1.0

    def compared(self, given: Any, error: ErrorPart, threads: Threads) -> Rows:
        """Return the error as a function of all positions."""

        def rows(points: Floats) -> tuple[Floats, Floats]:
            residuals = points - given @ points
            slopes = error.slopes(0.0, residuals) / len(points)
            return error.terms(0.0, residuals).sum(axis=1) / len(points), slopes - given.T @ slopes

        return rows

    def placed(self, given: Any, points: Floats, error: ErrorPart, threads: Threads) -> Rows:
        """Return the errors of new points as a function of their positions."""
        means = given @ points

        def rows(new: Floats) -> tuple[Floats, Floats]:
            return error.terms(0.0, new - means).sum(axis=1), error.slopes(0.0, new - means)

        return rows


@dataclass(frozen=True)
class KernelView:
    """Affinities of points: a normalized kernel of their distance.

    Parameters
    ----------
    kernel : Kernel
        ``GaussianKernel()`` or ``StudentKernel(dof)``.
    symmetric : bool, default=True
        Whether affinities are one joint distribution over all pairs, as in the data. Otherwise each point has a
        conditional distribution over the others; new points always do.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.core.threads import Threads
    >>> from protolearn.embedding.divergences import KullbackLeibler
    >>> from protolearn.embedding.mapped.costs import KernelView
    >>> from protolearn.embedding.neighbor.view import StudentKernel
    >>> p = np.array([[0.0, 0.5, 0.0], [0.5, 0.0, 0.0], [0.0, 0.0, 0.0]])  # 0 and 1 are neighbors
    >>> error = KernelView(StudentKernel()).compared(p, KullbackLeibler(), Threads())
    >>> together, apart = np.array([[0.0], [0.1], [9.0]]), np.array([[0.0], [9.0], [0.1]])
    >>> error(together)[0] < error(apart)[0]
    True
    """

    kernel: Kernel
    symmetric: bool = True

    size: ClassVar[float] = 1e-2

    def compared(self, given: Any, error: Divergence, threads: Threads) -> Rows:
        """Return the divergence as a function of all positions; of conditional affinities, the mean over all points."""
        return _Forces(given, self.kernel, self.symmetric, error.limit(), threads)

    def placed(self, given: Any, points: Floats, error: Divergence, threads: Threads) -> Rows:
        """Return the divergences of new points as a function of their positions."""
        divergence, n = error.limit(), len(points)
        p_least, q_least = floors(divergence, n + 1, symmetric=False)

        def rows(new: Floats) -> tuple[Floats, Floats]:
            values, gradient, step = np.empty(len(new)), np.empty(new.shape), block_size(8 * n, CLOSE)

            def part(first: int, last: int) -> None:
                for rows in cut(last, step, first):
                    p = np.maximum(given[rows].toarray(), p_least)
                    squares = cdist(new[rows], points, "sqeuclidean")
                    w = self.kernel.weights(squares)
                    q = np.maximum(w / np.maximum(w.sum(axis=1, keepdims=True), TINY), q_least)
                    sums = divergence.terms(p, q).sum(axis=2)
                    values[rows] = divergence.outer(sums)
                    slopes = q * (divergence.weights(sums)[..., None] * divergence.slopes(p, q)).sum(axis=0)
                    # Bunte 2011, eq. 9.57, of one row
                    forces = slopes - q * slopes.sum(axis=1, keepdims=True)
                    forces *= -2.0 * self.kernel.decay(squares)
                    gradient[rows] = forces.sum(axis=1)[:, None] * new[rows] - forces @ points

            threads.over(len(new), part, ..., step=step)
            return values, gradient

        return rows


@dataclass
class _Forces:
    """Divergence of all points: exact for few points, or where a field cannot approximate it, otherwise fast."""

    p: Any
    kernel: Kernel
    symmetric: bool
    divergence: Divergence
    threads: Threads

    def __call__(self, points: Floats) -> tuple[float, Floats]:
        forces = self._chosen(points, self.divergence)
        share = 1.0 if self.symmetric else 1.0 / len(points)
        return share * forces.value(points, self.divergence), share * forces.step(points, self.divergence).gradient

    @property
    def unfold(self) -> Callable[[Floats], Iterator[int]] | None:
        """Gradient descent for free positions, as in `TSNE`.

        There is none for a Gaussian kernel: clusters would become too small for the resolution of a field.
        """
        return self._unfolded if isinstance(self.kernel, StudentKernel) else None

    def _unfolded(self, points: Floats) -> Iterator[int]:
        """Move points step by step and count the steps; up to step 0, the attraction of neighbors is exaggerated.

        These steps minimize the Kullback-Leibler divergence, whichever divergence is minimized afterwards.
        """
        descent = Descent(self.kernel.longest_step)
        for step in count(1 - N_UNFOLDING):
            stage = (KullbackLeibler(), EXAGGERATION) if step <= 0 else (self.divergence, 1.0)
            force = self._chosen(points, stage[0]).step(points, *stage)
            descent.step(points, force.gradient / (4.0 * force.mass), len(points) / stage[1], stage)
            yield step

    def _chosen(self, points: Floats, divergence: Divergence) -> Exact | Fast:
        n, d = points.shape
        if n <= FEW_POINTS or d > 2 or not is_tame(divergence, self.kernel):
            return self._exact
        cells = n_cells(points, self.kernel.width(max(1.0, degree(divergence))))
        return self._exact if n**2 <= cells * (1 if self.symmetric else FIELDS_OF_ROWS) else self._fast

    @cached_property
    def _exact(self) -> Exact:
        return Exact(self.p.toarray() if sparse.issparse(self.p) else self.p, self.kernel, self.symmetric)

    @cached_property
    def _fast(self) -> Fast:
        return Fast(self.p, self.kernel, self.symmetric, self.threads)


# Constraints


@constrained(weight=positive)
@dataclass(frozen=True)
class Whitened:
    """Constraint to zero mean and identity covariance: ``weight (|mean|^2 + |covariance - I|^2)``.

    Mean and covariance are weighted by the row sums of the table, that is, by the degrees in a weighted graph.

    Parameters
    ----------
    weight : float, default=1.0
        Weight of the penalty term. If the error of a layout exceeds it, the view collapses to a point.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.embedding.mapped.costs import Whitened
    >>> penalty = Whitened().on(np.ones((2, 2)), size=1.0)
    >>> [penalty(np.array([[-x], [x]]))[0] for x in (0.0, 1.0)]  # all in one point, and with variance one
    [1.0, 0.0]
    """

    weight: float = 1.0

    def on(self, given: Any, size: float) -> Rows:
        """Return the penalty as a function of all positions."""
        masses = given.sum(axis=1)
        masses = (masses / masses.sum())[:, None]

        def rows(points: Floats) -> tuple[float, Floats]:
            mean = (masses * points).sum(axis=0)
            centered = points - mean
            excess = (masses * centered).T @ centered - np.eye(points.shape[1])
            value = self.weight * float(mean @ mean + np.square(excess).sum())
            return value, self.weight * masses * (2.0 * mean + 4.0 * centered @ excess)

        return rows


@constrained(weight=positive)
@dataclass(frozen=True)
class Spread:
    """Reward for distant points: minus ``weight`` times the ratio of the variance in the view to that in the data.

    Parameters
    ----------
    weight : float, default=0.01
        Weight of the variance. Larger values unfold the data faster but stretch the distances between neighbors more.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.embedding.mapped.costs import Spread
    >>> penalty = Spread(weight=0.5).on(None, size=1.0)
    >>> [penalty(np.array([[-x], [x]]))[0] for x in (1.0, 2.0)]  # the farther apart, the less it costs
    [-0.5, -2.0]
    """

    weight: float = 0.01

    def on(self, given: Any, size: float) -> Rows:
        """Return the penalty as a function of all positions."""

        def rows(points: Floats) -> tuple[float, Floats]:
            centered = points - points.mean(axis=0)
            share = self.weight / (len(points) * size**2)
            return -share * float(np.square(centered).sum()), -2.0 * share * centered

        return rows


def _units(given: Any, error: ErrorPart) -> Floats:
    """Return the errors (m,) of the rows of an uninformative view."""

    def terms(a: Floats) -> Any:
        return error.terms(a, np.full_like(a, error.nothing))

    if sparse.issparse(given):
        return _like(given, terms(given.data)).sum(axis=1)
    n, m = given.shape
    return np.concatenate([terms(given[rows]).sum(axis=1) for rows in row_blocks(n, 8 * m, CLOSE)])


def _like(table: Any, values: Floats) -> Any:
    """Return other values at the places of a sparse table."""
    return sparse.csr_array((values, table.indices, table.indptr), shape=table.shape)
