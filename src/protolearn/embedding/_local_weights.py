"""Locally linear embedding: weights that reconstruct samples from their neighbors, and positions that preserve them."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from protolearn.core.numerics import largest_positive
from protolearn.core.parameters import integer
from protolearn.core.threads import HELD, row_blocks
from protolearn.core.types import Floats

__all__ = [
    "locally_linear",
    "reconstruction_weights",
    "weights_in_graph",
]

FEW = 500  # samples up to which all eigenvectors are computed


SHIFT = 1e-10  # times the mean eigenvalue, so that the matrix can be inverted


def reconstruction_weights(X: Any, indices: Any, regularization: float = 1e-3) -> sparse.csr_array:
    """Return the weights that best reconstruct each sample as an affine combination of its neighbors.

    Row i of the result minimizes ``|x_i - sum_j w_ij x_j|^2 + r |w_i|^2`` over weights of its neighbors that sum to
    one, where r is ``regularization`` times the sum of the squared distances to them. The weights are invariant to
    translation, rotation and scaling of the samples.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Samples.
    indices : array-like of shape (n, k)
        Indices of the neighbors of each sample.
    regularization : float, default=1e-3
        Strength of regularization toward equal weights. It must be positive if there are more neighbors than features.

    Returns
    -------
    csr_array of shape (n, n)
        Reconstruction weights.

    References
    ----------
    Roweis, S., Saul, L. (2000). Nonlinear dimensionality reduction by locally linear embedding. Science 290, 2323-2326.

    Examples
    --------
    >>> from protolearn.embedding._local_weights import reconstruction_weights
    >>> X = [[0.0], [1.0], [4.0]]
    >>> reconstruction_weights(X, [[1, 2], [0, 2], [0, 1]], 1e-9).toarray().round(4)
    array([[ 0.    ,  1.3333, -0.3333],
           [ 0.75  ,  0.    ,  0.25  ],
           [-3.    ,  4.    ,  0.    ]])
    """
    X, indices = np.asarray(X), np.asarray(indices)
    n, k = indices.shape
    graph = sparse.csr_array((np.ones(n * k), indices.ravel(), np.arange(0, n * k + 1, k)), shape=(n, n))
    return weights_in_graph(X, X, graph, regularization)


def weights_in_graph(new: Any, X: Any, graph: Any, regularization: float = 1e-3) -> sparse.csr_array:
    """Return reconstruction weights as `reconstruction_weights` does, for the neighbors in a graph.

    Parameters
    ----------
    new : array-like of shape (m, d)
        Samples to reconstruct.
    X : array-like of shape (n, d)
        Samples that contain the neighbors.
    graph : csr_array of shape (m, n)
        Neighborhood graph; any stored entry marks a neighbor.
    regularization : float, default=1e-3
        Strength of regularization toward equal weights.

    Returns
    -------
    csr_array of shape (m, n)
        Reconstruction weights; rows of samples without neighbors are empty.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from protolearn.embedding._local_weights import weights_in_graph
    >>> weights_in_graph([[0.5], [3.0]], [[0.0], [1.0], [2.0]], csr_array([[1, 1, 0], [0, 0, 1]]), 1e-9).toarray()
    array([[0.5, 0.5, 0. ],
           [0. , 0. , 1. ]])
    """
    new, X = np.asarray(new), np.asarray(X)
    counts, weights = np.diff(graph.indptr), np.empty(graph.nnz)
    for k in np.unique(counts[counts > 0]):
        same = np.flatnonzero(counts == k)
        for part in row_blocks(len(same), 8 * k * max(k, X.shape[1]), HELD):
            rows = same[part]
            places = graph.indptr[rows, None] + np.arange(k)
            differences = X[graph.indices[places]].astype(np.float64) - new[rows, None]
            weights[places] = affine_weights(differences, regularization)
    return sparse.csr_array((weights, graph.indices, graph.indptr), shape=graph.shape)


def locally_linear(weights: Any, n_components: int, rng: np.random.RandomState) -> Floats:
    """Return the positions that are best reconstructed by the weights of their neighbors.

    They minimize ``sum_i |y_i - sum_j w_ij y_j|^2`` among all positions with zero mean and identity covariance. The
    solution consists of the eigenvectors of ``(I - W)' (I - W)`` with the smallest eigenvalues, except the constant
    one.

    Parameters
    ----------
    weights : sparse array of shape (n, n)
        Reconstruction weights of the neighbors of each sample; rows sum to one.
    n_components : int
        Number of coordinates.
    rng : RandomState
        Seed of the eigenvector solver for many samples.

    Returns
    -------
    ndarray of shape (n, n_components)
        Positions of the samples.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.embedding._local_weights import locally_linear, reconstruction_weights
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0], [6.0]])
    >>> weights = reconstruction_weights(X, [[1, 2], [0, 2], [1, 3], [2, 4], [2, 3]], 1e-9)
    >>> positions = locally_linear(weights, 1, np.random.RandomState(0))
    >>> np.diff(positions.ravel() * X.std()).round(4)
    array([1., 1., 1., 3.])
    """
    n = weights.shape[0]
    integer(1, n - 1).check("n_components", n_components)
    residual = sparse.eye_array(n, format="csr") - weights
    cost = sparse.csc_array(residual.T @ residual)
    vectors = (_all_vectors if n <= FEW else _slow_vectors)(cost, n_components, rng)
    vectors, _ = np.linalg.qr(vectors - vectors.mean(axis=0))  # so that the covariance is exactly one
    return np.sqrt(n) * largest_positive(vectors, axis=0)


def affine_weights(differences: Floats, regularization: float) -> Floats:
    """Return weights (b, k) from the differences (b, k, d) between neighbors and samples."""
    size = np.abs(differences).max(axis=(1, 2), keepdims=True, initial=0.0)
    differences = differences / np.where(size > 0.0, size, 1.0)
    gram = differences @ differences.transpose(0, 2, 1)
    spread = np.trace(gram, axis1=1, axis2=2)
    same = spread == 0.0  # samples like all of their neighbors, of which no weights are better than others
    gram[:, range(gram.shape[1]), range(gram.shape[1])] += np.where(same, 1.0, regularization * spread)[:, None]
    weights = np.linalg.solve(gram, np.ones((*gram.shape[:2], 1)))[..., 0]
    return weights / weights.sum(axis=1, keepdims=True)


def _all_vectors(cost: Any, d: int, rng: np.random.RandomState) -> Floats:
    n = cost.shape[0]
    # Lifts the constant above all other eigenvectors, whose eigenvalues are at most the trace.
    lifted = cost.toarray() + 2.0 * cost.trace() / n
    return np.linalg.eigh(lifted)[1][:, :d]


def _slow_vectors(cost: Any, d: int, rng: np.random.RandomState) -> Floats:
    """Return eigenvectors (n, d) of the smallest eigenvalues as those of the largest of the inverse."""
    n = cost.shape[0]
    shift = SHIFT * cost.trace() / n
    factors = sparse.linalg.splu(cost + shift * sparse.eye_array(n, format="csc"))

    def inverse(vector: Floats) -> Floats:
        solved = factors.solve(vector - vector.mean())
        return solved - solved.mean()

    operator = sparse.linalg.LinearOperator((n, n), matvec=inverse, dtype=np.float64)
    values, vectors = sparse.linalg.eigsh(operator, d, which="LA", v0=rng.normal(size=n))
    return vectors[:, np.argsort(-values)]
