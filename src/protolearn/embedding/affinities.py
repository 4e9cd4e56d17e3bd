"""Kernels of neighbor embeddings: the affinity of two points of a view as a function of their squared distance."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
from scipy import sparse

from protolearn.core.parameters import number
from protolearn.core.threads import Threads, cut
from protolearn.core.types import Array, Floats

__all__ = [
    "AffinityTable",
    "GaussianKernel",
    "Kernel",
    "Neighbors",
    "StudentKernel",
    "calibrated",
    "conditional_affinities",
    "joint_affinities",
]


@dataclass(frozen=True)
class GaussianKernel:
    """Gaussian kernel of SNE, :math:`w(r) = e^{-r}` of the squared distance r.

    Examples
    --------
    >>> float(GaussianKernel().weights(0.0))
    1.0
    """

    longest_step: ClassVar[float] = 1.0  # that a point may make: more would take it out of reach of its neighbors

    def weights(self, squares: Any) -> Any:
        """Return w(r)."""
        return np.exp(-squares)

    def decay(self, squares: Any) -> Any:
        r"""Return the rate :math:`-\mathrm{d} \log w / \mathrm{d} r`."""
        return np.ones_like(squares)

    def power(self, exponent: float) -> tuple[str, float, float, float]:
        """Return :math:`w(r)^c` times the decay for compiled loops, by a form, its factor, scale and exponent."""
        return "exponential", 1.0, 1.0, -exponent

    def width(self, exponent: float) -> float:
        """Return the length scale of :math:`w^c` with the exponent c."""
        return 1.0 / np.sqrt(max(abs(exponent), 1.0))


@dataclass(frozen=True)
class StudentKernel:
    r"""Student kernel of t-SNE, :math:`w(r) = (1 + r / \nu)^{-(\nu + 1) / 2}` of the squared distance r.

    Parameters
    ----------
    dof : float
        Degrees of freedom :math:`\nu`: the fewer, the heavier the tail, and the farther apart neighbors may lie.

    Examples
    --------
    >>> float(StudentKernel().weights(1.0))
    0.5
    """

    dof: float = 1.0
    longest_step: ClassVar[float] = 5.0

    def weights(self, squares: Any) -> Any:
        """Return w(r)."""
        base = 1.0 + squares / self.dof
        return 1.0 / base if self.dof == 1.0 else base ** (-0.5 * (self.dof + 1.0))

    def decay(self, squares: Any) -> Any:
        r"""Return the rate :math:`-\mathrm{d} \log w / \mathrm{d} r`."""
        return 0.5 * (self.dof + 1.0) / (self.dof + squares)

    def power(self, exponent: float) -> tuple[str, float, float, float]:
        """Return :math:`w(r)^c` times the decay for compiled loops, by a form, its factor, scale and exponent."""
        return "power", 0.5 * (self.dof + 1.0) / self.dof, 1.0 / self.dof, -0.5 * exponent * (self.dof + 1.0) - 1.0

    def width(self, exponent: float) -> float:
        """Return the length scale of :math:`w^c` with the exponent c."""
        # By curvature the power of the exponent would be 0.5; errors of a grid, in units of the push, fall with it.
        return float(np.sqrt(self.dof) * max(0.5 * abs(exponent) * (self.dof + 1.0), 1.0) ** -0.375)


#: A kernel of the distance in a view.
Kernel = GaussianKernel | StudentKernel


N_STEPS, TOLERANCE = 100, 1e-7  # of the search for a bandwidth


BLOCK = 1 << 16  # rows that are in double precision at a time


CALL_ENTRIES = 1 << 18  # of one call of the compiled loop: a fraction of a second


class Neighbors(NamedTuple):
    """Squared distances (n, k) of each sample to k others, and the indices of these; None means all others in order.

    Rows of samples with fewer neighbors are padded with infinite distances.

    Parameters
    ----------
    squares : ndarray of shape (n, k)
        Squared distances.
    indices : ndarray of shape (n, k) or None
        Indices of the neighbors.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.embedding.affinities import Neighbors
    >>> nearest = Neighbors(np.array([[1.0], [1.0], [4.0]]), np.array([[1], [0], [1]]))
    >>> for i in range(3):
    ...     print(f"The nearest of {i} is {nearest.indices[i, 0]}, {nearest.squares[i, 0] ** 0.5:.0f} away.")
    The nearest of 0 is 1, 1 away.
    The nearest of 1 is 0, 1 away.
    The nearest of 2 is 1, 2 away.
    """

    squares: Array
    indices: Array | None


class AffinityTable(Protocol):
    """Function of distances that `SNE` and `TSNE` accept as ``affinities``: the weights of neighbors.

    Examples
    --------
    Equal weights for all neighbors, or a Gaussian of the same bandwidth everywhere:

    >>> import numpy as np
    >>> from protolearn import TSNE
    >>> from sklearn.datasets import load_iris
    >>> X = load_iris().data
    >>> view = TSNE(affinities=np.ones_like, n_neighbors=15, random_state=0).fit(X)
    >>> view.embedding_.shape
    (150, 2)
    >>> def gaussian(distances):
    ...     return np.exp(-distances**2 / 0.5)
    >>> TSNE(affinities=gaussian, n_neighbors=50, random_state=0).fit_transform(X).shape
    (150, 2)
    """

    def __call__(self, distances: Floats, /) -> Floats:
        """Return non-negative weights (n, k) of the neighbors of each sample.

        Parameters
        ----------
        distances : ndarray of shape (n, k)
            Distances of each sample to its neighbors, in no particular order. Rows of samples with fewer neighbors are
            padded with infinite distances; the weights there do not matter.

        Returns
        -------
        weights : ndarray of shape (n, k)
            Weights, at any scale. They are normalized to one joint distribution, averaged over both directions, or to
            one distribution for each sample.
        """


def given_weights(affinities: AffinityTable, distances: Floats) -> Floats:
    """Return the weights that a function assigns to neighbors, checked, and zero where there is no neighbor.

    Examples
    --------
    >>> given_weights(np.negative, np.ones((2, 3)))
    Traceback (most recent call last):
    ...
    ValueError: affinities gave negative weights (smallest -1); weights of neighbors must be 0 or more.
    """
    weights = np.array(affinities(distances), dtype=np.float64)
    if weights.shape != distances.shape:
        raise ValueError(
            f"affinities returned weights of the shape {weights.shape} for distances of the shape {distances.shape}; "
            "it must return one weight for each distance."
        )
    weights[np.isinf(distances)] = 0.0
    if not np.isfinite(weights).all():
        raise ValueError("affinities gave NaN or infinite weights; weights of neighbors must be finite.")
    if (weights < 0.0).any():
        raise ValueError(
            f"affinities gave negative weights (smallest {weights.min():g}); weights of neighbors must be 0 or more."
        )
    lonely = np.flatnonzero(weights.sum(axis=1) == 0.0)
    if len(lonely):
        raise ValueError(
            f"affinities gave no neighbor of sample {lonely[0]} a weight above zero, nor of {len(lonely) - 1} others; "
            "each sample needs at least one positive weight."
        )
    return weights


def check_perplexity(perplexity: float, n: int) -> None:
    """Raise an error if n samples cannot have a perplexity, and warn if it is too large for a useful view.

    Examples
    --------
    >>> check_perplexity(30.0, 20)
    Traceback (most recent call last):
    ...
    ValueError: perplexity=30 is more than the 19 neighbors that each of n_samples=20 has; choose about a third of ...
    """
    number(1, open_low=True).check("perplexity", perplexity)
    if perplexity > n - 1:
        raise ValueError(
            f"perplexity={perplexity:g} is more than the {n - 1} neighbors that each of n_samples={n} has; "
            f"choose about a third of the samples, {n / 3:.3g}."
        )
    if perplexity > n / 3:
        warnings.warn(
            f"perplexity={perplexity:g} is more than a third of n_samples={n}: nearly all samples count as "
            f"neighbors of each other, and the view shows little structure. Choose at most {n / 3:.3g}.",
            UserWarning,
            stacklevel=3,
        )


def calibrated(squares: Array, perplexity: float, threads: Threads | None = None) -> tuple[Array, Floats]:
    """Return affinities (n, k) to neighbors, each row normalized to 1, and the bandwidths (n,) as variances.

    Parameters
    ----------
    squares : ndarray of shape (n, k)
        Squared distances to the neighbors.
    perplexity : float
        Effective number of neighbors, at most k.
    threads : Threads, optional
        Threads that share the samples.

    Examples
    --------
    >>> import numpy as np
    >>> p, variances = calibrated(np.array([[1.0, 2.0, 3.0, 4.0]]), perplexity=2.0)
    >>> float(np.round(p.sum(), 6)), float(np.round(np.exp(-(p * np.log(p)).sum()), 4))
    (1.0, 2.0)
    """
    from protolearn.embedding._kernels import calibrate

    n = len(squares)
    p, rates = np.empty_like(squares), np.empty(n)
    loop = threads or Threads()
    most = max(1, CALL_ENTRIES // squares.shape[1])
    for rows in cut(n, BLOCK):
        given = np.asarray(squares[rows], np.float64)
        found = np.empty_like(given)
        out = found, rates[rows]
        loop.over(len(given), calibrate, given, ..., np.log(perplexity), *out, N_STEPS, TOLERANCE, most=most)
        p[rows] = found
    return p, 0.5 / rates


def conditional_affinities(neighbors: Neighbors, p: Floats) -> Any:
    """Return affinities as a matrix (n, n) with a zero diagonal, dense if all pairs are given and sparse otherwise.

    Parameters
    ----------
    neighbors : Neighbors
        The neighbors of each sample.
    p : ndarray of shape (n, k)
        Affinities to these neighbors.

    Returns
    -------
    ndarray or csr_array of shape (n, n)
        Affinities; zero for pairs that are not neighbors.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.embedding.affinities import Neighbors, conditional_affinities
    >>> neighbors = Neighbors(np.array([[1.0], [1.0], [4.0]]), np.array([[1], [0], [1]]))  # of each sample the nearest
    >>> conditional_affinities(neighbors, np.ones((3, 1))).toarray().tolist()
    [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    """
    n = len(p)
    if neighbors.indices is None:
        matrix = np.zeros((n, n))
        matrix[~np.eye(n, dtype=bool)] = p.ravel()
        return matrix
    kept = np.isfinite(neighbors.squares)
    pointers = np.concatenate([[0], np.cumsum(kept.sum(axis=1))])
    pointers = pointers.astype(sparse.get_index_dtype(maxval=2 * pointers[-1]))  # of joint affinities, too
    found = neighbors.indices.astype(pointers.dtype, copy=False)
    values, columns = (p.ravel(), found.ravel()) if kept.all() else (p[kept], found[kept])
    return sparse.csr_array((values, columns, pointers), shape=(n, n))


def distributed(weights: Any, symmetric: bool) -> Any:
    """Return weights (n, n), normalized to a sum of 1 in each row, or to this sum on average if symmetric."""
    largest = float(weights.max())
    if not 1e-150 < largest < 1e150:
        raise ValueError(f"The largest affinity is {largest:g}, which is out of range; scale affinities to about 1.")
    totals = weights.sum(axis=1)[:, None]
    distributions = weights / (totals.mean() if symmetric else totals)
    if not sparse.issparse(distributions):
        return distributions
    distributions = sparse.csr_array(distributions)
    distributions.eliminate_zeros()
    return distributions


def joint_affinities(conditional: Any) -> Any:
    """Return the symmetric affinities ``(p_j|i + p_i|j) / (2 n)``, which sum to 1.

    Parameters
    ----------
    conditional : ndarray or sparse array of shape (n, n)
        Conditional affinities; each row sums to 1.

    Returns
    -------
    ndarray or sparse array of shape (n, n)
        Joint affinities of pairs.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.embedding.affinities import joint_affinities
    >>> joint_affinities(np.array([[0.0, 1.0], [1.0, 0.0]])).tolist()
    [[0.0, 0.5], [0.5, 0.0]]
    """
    if not sparse.issparse(conditional):
        return (conditional + conditional.T) * (0.5 / len(conditional))
    joint = conditional + conditional.T.tocsr()
    joint.data *= 0.5 / conditional.shape[0]
    return joint
