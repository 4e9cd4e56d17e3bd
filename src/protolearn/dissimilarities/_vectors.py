"""Dissimilarities of vectors: norms of differences, angles, correlations and common features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from protolearn.core.parameters import constrained, number, option, positive
from protolearn.dissimilarities._blocks import Floats, Measure, all_pairs, rows_of

__all__ = [
    "Chebyshev",
    "Cosine",
    "Euclidean",
    "Manhattan",
    "Minkowski",
    "OfVectors",
    "Pearson",
    "SquaredEuclidean",
    "Tanimoto",
    "chebyshev",
    "cosine",
    "directions",
    "euclidean",
    "manhattan",
    "minkowski",
    "pearson",
    "sqeuclidean",
    "tanimoto",
]


def euclidean(X: Any, Y: Any = None, *, n_jobs: int | None = None) -> Floats:
    """Return Euclidean distances of vectors.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Vectors.
    Y : array-like of shape (m, d), optional
        Vectors to compare with. By default, all pairs in ``X`` are compared.
    n_jobs : int, optional
        Number of threads; by default the number of threads of the BLAS library.

    Returns
    -------
    ndarray of shape (n, m)
        Distances.

    Examples
    --------
    >>> from protolearn.dissimilarities import euclidean
    >>> euclidean([[0.0, 0.0]], [[3.0, 4.0], [0.0, 1.0]])
    array([[5., 1.]])
    """
    return all_pairs(Euclidean(), X, Y, n_jobs=n_jobs)


def sqeuclidean(X: Any, Y: Any = None, *, n_jobs: int | None = None) -> Floats:
    """Return squared Euclidean distances of vectors.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Vectors.
    Y : array-like of shape (m, d), optional
        Vectors to compare with. By default, all pairs in ``X`` are compared.
    n_jobs : int, optional
        Number of threads; by default the number of threads of the BLAS library.

    Returns
    -------
    ndarray of shape (n, m)
        Squared distances.

    Notes
    -----
    Relational maps square dissimilarities unless ``squared=True``; set this option for squared distances.

    Examples
    --------
    >>> from protolearn.dissimilarities import sqeuclidean
    >>> sqeuclidean([[0.0, 0.0]], [[3.0, 4.0], [0.0, 1.0]])
    array([[25.,  1.]])
    """
    return all_pairs(SquaredEuclidean(), X, Y, n_jobs=n_jobs)


def chebyshev(X: Any, Y: Any = None, *, n_jobs: int | None = None) -> Floats:
    """Return Chebyshev distances of vectors, the largest absolute differences.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Vectors.
    Y : array-like of shape (m, d), optional
        Vectors to compare with. By default, all pairs in ``X`` are compared.
    n_jobs : int, optional
        Number of threads; by default the number of threads of the BLAS library.

    Returns
    -------
    ndarray of shape (n, m)
        Distances.

    Examples
    --------
    >>> from protolearn.dissimilarities import chebyshev
    >>> chebyshev([[0.0, 0.0]], [[3.0, 4.0], [0.0, 1.0]])
    array([[4., 1.]])
    """
    return all_pairs(Chebyshev(), X, Y, n_jobs=n_jobs)


def minkowski(X: Any, Y: Any = None, *, p: float = 2.0, n_jobs: int | None = None) -> Floats:
    """Return Minkowski distances of vectors, the p-th roots of the sums of the p-th powers of absolute differences.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Vectors.
    Y : array-like of shape (m, d), optional
        Vectors to compare with. By default, all pairs in ``X`` are compared.
    p : float, default=2.0
        Exponent, at least 1: 1 gives Manhattan distances, 2 Euclidean distances.
    n_jobs : int, optional
        Number of threads; by default the number of threads of the BLAS library.

    Returns
    -------
    ndarray of shape (n, m)
        Distances.

    Examples
    --------
    >>> from protolearn.dissimilarities import minkowski
    >>> minkowski([[0.0, 0.0]], [[3.0, 4.0], [0.0, 1.0]], p=3).round(3)
    array([[4.498, 1.   ]])
    """
    return all_pairs(Minkowski(p), X, Y, n_jobs=n_jobs)


def manhattan(X: Any, Y: Any = None, *, n_jobs: int | None = None) -> Floats:
    """Return Manhattan distances of vectors, the sums of the absolute differences.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Vectors.
    Y : array-like of shape (m, d), optional
        Vectors to compare with. By default, all pairs in ``X`` are compared.
    n_jobs : int, optional
        Number of threads; by default the number of threads of the BLAS library.

    Returns
    -------
    ndarray of shape (n, m)
        Distances.

    Examples
    --------
    >>> from protolearn.dissimilarities import manhattan
    >>> manhattan([[0.0, 0.0]], [[3.0, 4.0], [0.0, 1.0]])
    array([[7., 1.]])
    """
    return all_pairs(Manhattan(), X, Y, n_jobs=n_jobs)


def cosine(X: Any, Y: Any = None, *, n_jobs: int | None = None) -> Floats:
    r"""Return cosine dissimilarities of vectors, :math:`1 - x \cdot y / (\|x\| \|y\|)`.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Nonzero vectors.
    Y : array-like of shape (m, d), optional
        Vectors to compare with. By default, all pairs in ``X`` are compared.
    n_jobs : int, optional
        Number of threads; by default the number of threads of the BLAS library.

    Returns
    -------
    ndarray of shape (n, m)
        Dissimilarities, between 0 and 2.

    Notes
    -----
    The dissimilarity is half the squared Euclidean distance of the vectors scaled to length one. Set ``squared=True``
    in relational maps to treat it as a squared distance.

    Examples
    --------
    >>> from protolearn.dissimilarities import cosine
    >>> cosine([[1.0, 0.0]], [[2.0, 0.0], [0.0, 1.0], [-1.0, 0.0]])
    array([[0., 1., 2.]])
    """
    return all_pairs(Cosine(), X, Y, n_jobs=n_jobs)


def pearson(X: Any, Y: Any = None, *, power: float = 1.0, n_jobs: int | None = None) -> Floats:
    """Return correlation dissimilarities of profiles, :math:`(1 - r)^p` with Pearson's correlation r and the power p.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Profiles that are not constant.
    Y : array-like of shape (m, d), optional
        Profiles to compare with. By default, all pairs in ``X`` are compared.
    power : float, default=1.0
        Exponent; with 0.5, the dissimilarity is a Euclidean distance up to a constant factor.
    n_jobs : int, optional
        Number of threads; by default the number of threads of the BLAS library.

    Returns
    -------
    ndarray of shape (n, m)
        Dissimilarities, 0 for profiles that differ only in level and scale.

    Examples
    --------
    >>> from protolearn.dissimilarities import pearson
    >>> pearson([[0.0, 1.0, 2.0]], [[5.0, 7.0, 9.0], [2.0, 1.0, 0.0], [1.0, 0.0, 1.0]])
    array([[0., 2., 1.]])
    """
    return all_pairs(Pearson(power), X, Y, n_jobs=n_jobs)


@constrained(metric=option("cosine", "pearson"))
def directions(X: Any, metric: str = "cosine") -> Floats:
    """Return vectors of length one whose halved squared Euclidean distances are cosine or correlation dissimilarities.

    Use them to apply fast methods for Euclidean distances to angles and correlations.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Nonzero vectors; for ``"pearson"``, vectors that are not constant.
    metric : {"cosine", "pearson"}, default="cosine"
        Dissimilarity that the vectors reproduce; for ``"pearson"``, vectors are centered to mean zero first.

    Returns
    -------
    ndarray of shape (n, d)
        Vectors of length one.

    Examples
    --------
    >>> from protolearn.dissimilarities import cosine, directions
    >>> X = directions([[3.0, 4.0], [1.0, 0.0]])
    >>> print(f"{((X[0] - X[1]) ** 2).sum() / 2:.3f}", cosine([[3.0, 4.0]], [[1.0, 0.0]]).round(3))
    0.400 [[0.4]]
    """
    return (Cosine() if metric == "cosine" else Pearson()).encode(X)


def tanimoto(X: Any, Y: Any = None, *, n_jobs: int | None = None) -> Floats:
    r"""Return Tanimoto dissimilarities of vectors, 0 for two zero vectors.

    The dissimilarity is :math:`1 - x \cdot y / (\|x\|^2 + \|y\|^2 - x \cdot y)`.

    For vectors of zeros and ones this is the Jaccard distance.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Vectors.
    Y : array-like of shape (m, d), optional
        Vectors to compare with. By default, all pairs in ``X`` are compared.
    n_jobs : int, optional
        Number of threads; by default the number of threads of the BLAS library.

    Returns
    -------
    ndarray of shape (n, m)
        Dissimilarities, between 0 and 4/3, and at most 1 if no value is negative.

    Examples
    --------
    >>> from protolearn.dissimilarities import tanimoto
    >>> tanimoto([[1.0, 1.0, 0.0]], [[1.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 0.0, 2.0]]).round(3)
    array([[0.   , 0.667, 1.   ]])
    """
    return all_pairs(Tanimoto(), X, Y, n_jobs=n_jobs)


class OfVectors(Measure):
    """A dissimilarity of the rows of two tables with the same columns."""

    tile = 512
    n_columns: int | None = None

    def encode(self, objects: Any, name: str = "X") -> Floats:
        """Return vectors as rows, made ready by the measure."""
        rows = rows_of(objects, name)
        self.n_columns = rows.shape[1] if self.n_columns is None else self.n_columns
        if rows.shape[1] != self.n_columns:
            raise ValueError(f"{name} has {rows.shape[1]} columns, the other vectors {self.n_columns}.")
        return self.prepare(rows, name)

    def prepare(self, rows: Floats, name: str) -> Floats:
        """Return what a block needs of each row."""
        return rows


@dataclass(eq=False)
class Euclidean(OfVectors):
    """Euclidean distance."""

    name = "euclidean"

    def block(self, a: Floats, b: Floats, n_threads: int = 1) -> Floats:
        """Return Euclidean distances."""
        from scipy.spatial.distance import cdist

        return cdist(a, b)


@dataclass(eq=False)
class Manhattan(OfVectors):
    """Sum of absolute differences."""

    name = "manhattan"

    def block(self, a: Floats, b: Floats, n_threads: int = 1) -> Floats:
        """Return Manhattan distances."""
        from scipy.spatial.distance import cdist

        return cdist(a, b, "cityblock")


@dataclass(eq=False)
class SquaredEuclidean(OfVectors):
    """Squared Euclidean distance."""

    name = "sqeuclidean"

    def block(self, a: Floats, b: Floats, n_threads: int = 1) -> Floats:
        """Return squared Euclidean distances."""
        from scipy.spatial.distance import cdist

        return cdist(a, b, "sqeuclidean")


@dataclass(eq=False)
class Chebyshev(OfVectors):
    """Largest absolute difference."""

    name = "chebyshev"

    def block(self, a: Floats, b: Floats, n_threads: int = 1) -> Floats:
        """Return Chebyshev distances."""
        from scipy.spatial.distance import cdist

        return cdist(a, b, "chebyshev")


@constrained(p=number(1))
@dataclass(eq=False)
class Minkowski(OfVectors):
    """Root of the sum of powers of absolute differences."""

    name = "minkowski"
    p: float = 2.0

    def block(self, a: Floats, b: Floats, n_threads: int = 1) -> Floats:
        """Return Minkowski distances."""
        from scipy.spatial.distance import cdist

        return cdist(a, b, "minkowski", p=self.p)


@dataclass(eq=False)
class Cosine(OfVectors):
    """One minus the cosine of the angle."""

    name = "cosine"

    def prepare(self, rows: Floats, name: str) -> Floats:
        """Scale vectors to length one."""
        return _to_unit_length(rows, name, "zero; there is no angle to it. Drop such vectors, or use another metric")

    def block(self, a: Floats, b: Floats, n_threads: int = 1) -> Floats:
        """Return one minus the scalar products."""
        return _positive(1.0 - a @ b.T)


@constrained(power=positive)
@dataclass(eq=False)
class Pearson(OfVectors):
    """A power of one minus the correlation."""

    name = "pearson"
    power: float = 1.0

    def prepare(self, rows: Floats, name: str) -> Floats:
        """Shift profiles to mean zero and scale them to length one."""
        level = np.abs(rows).max(axis=1, initial=0.0)
        centered = rows - rows.mean(axis=1, keepdims=True)
        centered[np.abs(centered).max(axis=1, initial=0.0) <= 1e-14 * level] = 0.0  # constant, but for rounding
        return _to_unit_length(
            centered, name, "constant; it has no correlation. Drop such profiles, or use another metric"
        )

    def block(self, a: Floats, b: Floats, n_threads: int = 1) -> Floats:
        """Return powers of one minus the correlations."""
        return _positive(1.0 - a @ b.T) ** self.power


@dataclass(eq=False)
class Tanimoto(OfVectors):
    """One minus the scalar product over what it would be if the smaller vector were part of the larger."""

    name = "tanimoto"

    def block(self, a: Floats, b: Floats, n_threads: int = 1) -> Floats:
        """Return Tanimoto dissimilarities."""
        common = a @ b.T
        union = np.add.outer(np.einsum("ij,ij->i", a, a), np.einsum("ij,ij->i", b, b)) - common
        return _positive(1.0 - np.divide(common, union, out=np.ones_like(common), where=union > 0.0))


def _to_unit_length(rows: Floats, name: str, fault: str) -> Floats:
    largest = np.abs(rows).max(axis=1, initial=0.0)
    if not largest.all():
        raise ValueError(f"{name}[{largest.argmin()}] is {fault}.")
    scaled = rows / largest[:, None]  # squares of very small or large numbers leave the range of numbers
    return scaled / np.linalg.norm(scaled, axis=1, keepdims=True)


def _positive(values: Floats) -> Floats:
    """Set what is zero but for rounding to zero."""
    values[values < 1e-14] = 0.0
    return values
