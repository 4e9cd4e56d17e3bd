"""Distances in the data and in a view, computed in blocks of rows to limit memory."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import cdist
from sklearn.utils import check_array

from protolearn.core.density import squared_distances
from protolearn.core.estimator import filled
from protolearn.core.parameters import constrained, integer, option
from protolearn.core.threads import HELD, Threads, chunk_threads, row_blocks
from protolearn.core.types import Array, Bools, Floats, Indices
from protolearn.dissimilarities import check_dissimilarities

__all__ = [
    "ALL",
    "Collector",
    "Dissimilar",
    "MeasuredSpace",
    "PointSpace",
    "Rows",
    "check_positions",
    "check_size",
    "check_space",
    "check_spaces",
    "check_view",
    "documented",
    "sweep",
]

FEW_FEATURES = 16  # up to which differences are as fast as a matrix product

Rows = slice | NDArray[np.intp]
ALL: Rows = slice(None)

F = TypeVar("F", bound=Callable[..., Any])

VIEW = """
X : array-like of shape (n, d), or (n, n) with ``metric="precomputed"``
    Samples, or the matrix of their dissimilarities.
Y : array-like of shape (n, q)
    Positions of the samples in the view (embedding). Samples without a position (rows of NaN) are also left out of the
    data, with a warning that states their number.
"""

OPTIONS = """
metric : {"euclidean", "precomputed"}, default="euclidean"
    Content of ``X``: vectors, compared by their Euclidean distance, or dissimilarities.
n_jobs : int, optional
    Number of threads; None means the number of threads of the BLAS library.
"""


def documented(function: F) -> F:
    """Fill the parameters that the measures of views share into a docstring."""
    return filled({"view": VIEW, "options": OPTIONS})(function)  # type: ignore[type-var]


class MeasuredSpace(Protocol):
    """Samples that have distances."""

    reach: float  # no distance is larger

    def __len__(self) -> int: ...

    def block(self, rows: Rows, others: Rows = ALL) -> Floats:
        """Return the distances (b, m) of some samples to others, in an array of its own."""

    def at(self, rows: Indices) -> MeasuredSpace:
        """Return some of the samples."""


class PointSpace:
    """Points of a Euclidean space, the rows of an array.

    Examples
    --------
    >>> import numpy as np
    >>> PointSpace(np.array([[0.0, 0.0], [3.0, 4.0]])).block(slice(0, 1))
    array([[0., 5.]])
    """

    def __init__(self, points: Array) -> None:
        with np.errstate(over="ignore"):
            middle = points[np.square(points - points.mean(axis=0)).sum(axis=1).argmin()]
            self.reach = 2.0 * float(np.sqrt(np.square(points - middle).sum(axis=1).max()))
        self.by_differences = points.shape[1] <= FEW_FEATURES
        # Products are exact near the origin only. Measured from one of them, points on a grid stay on it, so that
        # distances that are equal are found so.
        self.points = points if self.by_differences else points - middle

    def __len__(self) -> int:
        return len(self.points)

    def block(self, rows: Rows, others: Rows = ALL) -> Floats:
        """Return the distances (b, m) of some samples to others, in an array of its own."""
        if self.by_differences:
            return cdist(self.points[rows], self.points[others])
        squared = squared_distances(self.points[rows], self.points[others])
        return np.sqrt(squared, out=squared)

    def at(self, rows: Indices) -> PointSpace:
        """Return some of the samples."""
        return PointSpace(self.points[rows])


class Dissimilar:
    """Objects known by their dissimilarities.

    Examples
    --------
    >>> import numpy as np
    >>> Dissimilar(np.array([[0.0, 5.0], [5.0, 0.0]])).block(slice(0, 1))
    array([[0., 5.]])
    """

    def __init__(self, matrix: Array) -> None:
        self.matrix = matrix
        self.reach = float(matrix.max())

    def __len__(self) -> int:
        return len(self.matrix)

    def block(self, rows: Rows, others: Rows = ALL) -> Floats:
        """Return the distances (b, m) of some samples to others, in an array of its own."""
        return np.maximum(self.matrix[rows, others], 0.0, dtype=np.float64)  # negative ones are rounding

    def at(self, rows: Indices) -> Dissimilar:
        """Return some of the objects."""
        return Dissimilar(self.matrix[np.ix_(rows, rows)])


class Collector(Protocol):
    """Something that adds up over blocks of distances."""

    def add(self, rows: Any, first: int, given: Floats, shown: Floats) -> None:
        """Take in the distances (b, n - first) of some samples to all from ``first`` on, from several threads."""


def check_spaces(X: ArrayLike, Y: ArrayLike, metric: str = "euclidean") -> tuple[MeasuredSpace, MeasuredSpace]:
    """Return the data and the view, with as many samples each.

    Examples
    --------
    >>> given, shown = check_spaces([[0.0], [1.0], [2.0]], [[0.0], [3.0], [4.0]])
    >>> shown.block(slice(0, 1))
    array([[0., 3., 4.]])
    """
    given, shown, _ = check_view(X, Y, metric)
    return given, shown


def check_view(X: ArrayLike, Y: ArrayLike, metric: str = "euclidean") -> tuple[MeasuredSpace, MeasuredSpace, Bools]:
    """Return the data and the view of samples that have a position, and which these are.

    Examples
    --------
    >>> import warnings
    >>> nowhere = float("nan")
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     given, shown, placed = check_view([[0.0], [1.0], [2.0], [3.0]], [[0.0], [nowhere], [4.0], [5.0]])
    >>> given.block(slice(0, 1)), placed
    (array([[0., 2., 3.]]), array([ True, False,  True,  True]))
    """
    positions, placed = check_positions(Y)
    if not placed.all():
        X = np.asarray(X)
        _check_as_many(len(X), len(placed))
        X = X[placed][:, placed] if metric == "precomputed" else X[placed]
    given, shown = check_space(X, metric), check_space(positions, name="Y")
    _check_as_many(len(given), len(shown))
    return given, shown, placed


def _check_as_many(n_given: int, n_shown: int) -> None:
    if n_given != n_shown:
        raise ValueError(f"X has {n_given} samples, but Y has {n_shown} positions; pass one position for each sample.")


def check_positions(Y: ArrayLike) -> tuple[Floats, Bools]:
    """Return the positions (m, q) of samples that have one, and which (n,) these are; warn of those that have none.

    Examples
    --------
    >>> check_positions([[0.0, float("nan")], [1.0, 2.0], [3.0, 4.0]])
    Traceback (most recent call last):
    ...
    ValueError: Input Y contains NaN...
    """
    positions: Floats = check_array(Y, dtype=np.float64, ensure_all_finite="allow-nan", input_name="Y")
    placed: Bools = ~np.isnan(positions).all(axis=1)  # type: ignore[assignment]
    if not placed.any():
        raise ValueError("No sample has a position: all entries of Y are NaN.")
    kept: Floats = check_array(positions[placed], input_name="Y")
    if not placed.all():
        warnings.warn(
            f"{(~placed).sum()} of {len(placed)} samples have no position in Y (rows of NaN), and are left out.",
            UserWarning,
            stacklevel=5,
        )
    return kept, placed


@constrained(metric=option("euclidean", "precomputed"))
def check_space(X: ArrayLike, metric: str = "euclidean", name: str = "X") -> MeasuredSpace:
    """Return samples, at least three and not all the same, as something that has distances.

    Examples
    --------
    >>> check_space([[1.0], [1.0], [1.0]])
    Traceback (most recent call last):
    ...
    ValueError: All samples in X coincide, so there are no distances to compare.
    """
    space: MeasuredSpace
    if metric == "precomputed":
        space = Dissimilar(check_dissimilarities(X))
    else:
        space = PointSpace(check_array(X, dtype=np.float64, input_name=name))
    if len(space) < 3:
        raise ValueError(f"{name} has {len(space)} samples, but comparing neighbors needs at least 3.")
    if space.reach == np.inf:
        raise ValueError(f"Squared distances between samples in {name} are too large; rescale the data.")
    if not space.reach:
        raise ValueError(f"All samples in {name} coincide, so there are no distances to compare.")
    return space


def check_size(name: str, value: Any, high: int, n: int) -> None:
    """Require the size of a neighborhood among n samples."""
    integer(1, high).check(name, value, f", as there are {n} samples")


def sweep(
    given: MeasuredSpace,
    shown: MeasuredSpace,
    *collectors: Collector,
    rows: Indices | None = None,
    above: bool = False,
    n_jobs: int | None = None,
) -> None:
    """Show all distances to the collectors, blocks of rows at a time.

    They are those of all samples or of some ``rows``; with ``above``, only from the diagonal on.
    """
    n = len(given)

    def visit(part: slice) -> None:
        first = part.start if above else 0
        some: Rows = part if rows is None else rows[part]
        distances = given.block(some, slice(first, None)), shown.block(some, slice(first, None))
        for collector in collectors:
            collector.add(some, first, *distances)

    with chunk_threads(n_jobs) as n_threads:
        list(Threads(n_threads).map(visit, row_blocks(n if rows is None else len(rows), 8 * n, HELD)))
