"""Initial positions of an embedding, with each coordinate centered."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from protolearn.core.numerics import largest_positive
from protolearn.core.types import Floats

__all__ = ["classical_scaling", "principal_components", "spectral"]


def principal_components(X: Any, d: int, rng: np.random.RandomState) -> Floats:
    """Return principal component scores (n, d) of the rows of X, dense or sparse; zeros in missing dimensions."""
    from sklearn.decomposition import PCA

    rank = min(d, *X.shape)
    if sparse.issparse(X) and rank == min(X.shape):  # too few rows or columns for an iteration
        X = X.toarray()
    solver = "covariance_eigh" if X.shape[1] <= min(X.shape[0], 1000) else "auto"
    solver = "arpack" if sparse.issparse(X) else solver
    scores = largest_positive(PCA(rank, svd_solver=solver, random_state=rng).fit_transform(X), axis=0)
    return np.hstack([scores, np.zeros((X.shape[0], d - rank))]).astype(np.float64)


def classical_scaling(squares: Floats, d: int, rng: np.random.RandomState) -> Floats:
    """Return the coordinates (n, d) whose squared distances best approximate those given."""
    gram = squares - squares.mean(axis=0)
    gram -= gram.mean(axis=1, keepdims=True)
    values, vectors = _largest_eigenvectors(-0.5 * gram, min(d, len(squares) - 1), rng)
    scores = vectors * np.sqrt(np.maximum(values, 0.0))
    return np.hstack([scores, np.zeros((len(squares), d - scores.shape[1]))])


def spectral(affinities: Any, d: int, rng: np.random.RandomState) -> Floats:
    """Return the d eigenvectors of a random walk between neighbors that change most slowly."""
    p = affinities + affinities.T
    degrees = np.sqrt(np.asarray(p.sum(axis=1)).ravel())
    normalized = sparse.csr_array(p) * (1.0 / degrees)[:, None] * (1.0 / degrees)
    vectors = _largest_eigenvectors(normalized, min(d + 1, len(degrees) - 1), rng)[1]
    scores = vectors[:, 1:] / degrees[:, None]
    scores = scores - scores.mean(axis=0)
    return np.hstack([scores, np.zeros((len(degrees), d - scores.shape[1]))])


def _largest_eigenvectors(matrix: Any, k: int, rng: np.random.RandomState) -> tuple[Floats, Floats]:
    """Return the k largest eigenvalues of a symmetric matrix, and their vectors (n, k)."""
    n = matrix.shape[0]
    if n <= 500:
        values, vectors = np.linalg.eigh(matrix.toarray() if sparse.issparse(matrix) else matrix)
    else:
        values, vectors = sparse.linalg.eigsh(matrix, k, which="LA", v0=rng.normal(size=n), tol=1e-4)
    order = np.argsort(values)[::-1][:k]
    return values[order], largest_positive(vectors[:, order], axis=0)
