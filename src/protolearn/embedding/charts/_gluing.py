"""Alignment of charts by affine maps: charting, and coordination by neighbors or by tangent spaces."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.linalg import eigh
from scipy.sparse.csgraph import connected_components

from protolearn.core.types import Array, Floats

__all__ = [
    "Glued",
    "Whitened",
    "chart_groups",
    "coordinated",
    "glued",
    "isometric",
    "off_neighbors",
    "off_tangents",
    "whitened",
]


THIN = 1e-2  # deviation along a coordinate, relative to the largest of a chart, below which it is left out
LEAST = 1e-10  # eigenvalue of the whitened features that counts
MOST_DENSE = 1200  # unknowns up to which the eigenproblem is solved whole
NEAR_ONE = 1e-6  # shift of the sparse solver above the largest possible eigenvalue


class Glued(NamedTuple):
    """Weights (k (m + 1), c) of charts, the cost of each of c coordinates, and the positions (n, c) they give."""

    weights: Floats
    eigenvalues: Floats
    positions: Floats


class Whitened(NamedTuple):
    """Features of charts, times their shares, with identity covariance within each chart; the constant is one too.

    ``features = U @ back``, so weights of U are ``back @`` weights of these. ``constant`` are the weights for which all
    positions are ``1 / sqrt(n)``.
    """

    features: Any
    back: Any
    constant: Floats


def glued(z: Floats, shares: Floats, n_components: int) -> Glued:
    """Return the affine maps B of charts that minimize ``sum_i sum_jk r_ij r_ik |B_j z_ij - B_k z_ik|^2``.

    With U the features of charts and D the matrix of their second moments within each chart, this is the generalized
    eigenproblem ``(D - U'U) v = lambda U'U v``. In features that are white within each chart it reads
    ``U'U v = v / (1 + lambda)``: the maps are the largest singular vectors of a sparse matrix, after the constant one.

    Parameters
    ----------
    z : ndarray of shape (n, k, m)
        Coordinates of each sample in each chart.
    shares : ndarray of shape (n, k)
        Shares of the charts; rows sum to one.
    n_components : int
        Number of coordinates to find.

    Returns
    -------
    glued : Glued
        Affine maps, with orthonormal and centered columns of positions.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 2))
    >>> charts = np.stack([X, X @ rng.normal(size=(2, 2)) + 1.0], axis=1)  # two views of one plane
    >>> result = glued(charts, np.full((100, 2), 0.5), 2)
    >>> bool((result.eigenvalues < 1e-10).all())
    True
    """
    white = whitened(z, shares)
    # Arnonkijpanich 2010, eq. 5.2; Bunte 2011, eq. 7.6
    values, vectors = _largest(white.features.T @ white.features, white.constant, n_components)
    weights = white.back @ (vectors / np.sqrt(values))
    return Glued(weights, np.maximum(1.0 / values - 1.0, 0.0), white.features @ (vectors / np.sqrt(values)))


def coordinated(z: Floats, shares: Floats, n_components: int, cost: Callable[[Floats], Floats]) -> Glued:
    """Return the affine maps of charts whose positions minimize a given cost, other than that of `glued`.

    Parameters
    ----------
    z, shares, n_components
        Coordinates, shares and number of dimensions, as in `glued`.
    cost : callable
        Function that returns the quadratic form (q, q) of q coordinates, given as the columns (n, q) of positions, such
        as `off_neighbors` or `off_tangents`.

    Returns
    -------
    glued : Glued
        Coordinates and errors as in `glued`; the eigenvalues are the costs of each coordinate.
    """
    white = whitened(z, shares)
    gram = np.asarray((white.features.T @ white.features).todense())
    values, vectors = np.linalg.eigh(gram - 2.0 * np.outer(white.constant, white.constant))
    kept = values > LEAST
    basis = vectors[:, kept] / np.sqrt(values[kept])
    positions = white.features @ basis
    costs, turned = np.linalg.eigh(cost(positions))
    costs, turned = costs[:n_components], turned[:, :n_components]
    return Glued(white.back @ (basis @ turned), np.maximum(costs, 0.0), positions @ turned)


def off_neighbors(reconstruction: Any) -> Callable[[Floats], Floats]:
    """Return the cost of locally linear coordination: the error of reconstructing positions from those of neighbors.

    Parameters
    ----------
    reconstruction : sparse array of shape (n, n)
        Weights that reconstruct each sample from its neighbors.
    """

    def cost(positions: Floats) -> Floats:
        residuals = positions - reconstruction @ positions
        return residuals.T @ residuals

    return cost


def off_tangents(z: Floats, members: Floats) -> Callable[[Floats], Floats]:
    """Return the cost of local tangent space alignment: the deviation of positions from an affine image of each chart.

    This is ``sum_k min_L sum_i m_ik |y_i - L z_ik|^2`` with the best affine map L of each chart. Charts may be the
    neighborhoods of all samples: then this is the method as it was published.

    Parameters
    ----------
    z : ndarray of shape (n, k, m)
        Coordinates of each sample in each chart.
    members : ndarray of shape (n, k)
        Membership of samples in charts, 1 or 0.
    """
    features, counts = whitened(z, members).features, members.sum(axis=1, keepdims=True)

    def cost(positions: Floats) -> Floats:
        fitted = features.T @ positions  # features of a chart are orthonormal
        return positions.T @ (counts * positions) - fitted.T @ fitted

    return cost


def isometric(weights: Floats, shares: Floats, n_coordinates: int) -> tuple[Floats, float]:
    """Return the linear transformation (c, c) that makes charts isometric on average, and the remaining defect.

    Parameters
    ----------
    weights : ndarray of shape (k (m + 1), c)
        Weights of charts, with m = c.
    shares : ndarray of shape (k,)
        Weight of each chart.
    n_coordinates : int
        Number m of coordinates of a chart.
    """
    c = weights.shape[1]
    if not c:
        return np.empty((0, 0)), 0.0
    blocks = weights.reshape(-1, n_coordinates + 1, c)[:, :n_coordinates]
    metrics = np.swapaxes(blocks, 1, 2) @ blocks
    values, turn = np.linalg.eigh(np.average(metrics, axis=0, weights=shares))
    change = turn / np.sqrt(np.maximum(values, np.finfo(float).tiny))
    rest = change.T @ metrics @ change - np.eye(len(change))
    return change, float(np.average((rest**2).sum(axis=(1, 2)), weights=shares))


def chart_groups(shares: Floats, others: Floats, overlap: float) -> Array:
    """Return the component (k,) of each chart, where charts are connected if they overlap.

    Parameters
    ----------
    shares : ndarray of shape (n, k)
        Shares of the charts in each sample.
    others : ndarray of shape (n, k)
        Shares in each sample, or their means over the neighbors of each sample.
    overlap : float
        Minimum fraction of its samples that the smaller of two overlapping charts shares with the larger one.

    Examples
    --------
    >>> import numpy as np
    >>> shares = np.array([[0.5, 0.5, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    >>> chart_groups(shares, shares, overlap=0.01)
    array([0, 0, 1])
    """
    masses = shares.sum(axis=0)
    living = np.flatnonzero(masses)
    common = shares[:, living].T @ others[:, living] / np.minimum(masses[living][:, None], masses[living])
    found = connected_components(sparse.csr_array(common > overlap), directed=False)[1]
    groups = np.zeros(len(masses), np.intp)  # charts without samples go with any
    groups[living] = found
    return groups


def whitened(z: Floats, shares: Floats, thin: float = THIN) -> Whitened:
    """Return features of charts that are white within each chart, without coordinates that hardly vary."""
    n, k, m = z.shape
    columns, back, constant = [], [], []
    for chart in range(k):
        r = shares[:, chart]
        own = np.flatnonzero(r)
        r, mass = r[own], r[own].sum()
        if not len(own):
            columns.append(sparse.csr_array((n, 1)))
            back.append(np.zeros((m + 1, 1)))
            constant.append([0.0])
            continue
        mean = r @ z[own, chart] / mass
        gaps = z[own, chart] - mean
        values, vectors = np.linalg.eigh((r[:, None] * gaps).T @ gaps)
        kept = values > max(thin**2 * values[-1], np.finfo(float).tiny)
        turn = vectors[:, kept] / np.sqrt(values[kept])
        local = r[:, None] * np.column_stack([gaps @ turn, np.full(len(own), mass**-0.5)])
        q = local.shape[1]
        places = np.repeat(own, q), np.tile(np.arange(q), len(own))
        columns.append(sparse.csr_array((local.ravel(), places), shape=(n, q)))
        block = np.zeros((m + 1, q))
        block[:m, : q - 1] = turn
        block[m, : q - 1] = -mean @ turn
        block[m, q - 1] = mass**-0.5
        back.append(block)
        constant.append([*np.zeros(q - 1), np.sqrt(mass / n)])
    blocks = sparse.csr_array(sparse.block_diag([sparse.coo_array(block) for block in back]))
    return Whitened(sparse.hstack(columns, format="csr"), blocks, np.concatenate(constant))


def _largest(gram: Any, constant: Floats, n_components: int) -> tuple[Floats, Floats]:
    """Return the largest eigenvalues of a sparse matrix below one, and their vectors, without that of the constant."""
    q = gram.shape[0]
    wanted = min(n_components, q - 1)
    if not wanted:
        return np.empty(0), np.empty((q, 0))
    if q <= MOST_DENSE:
        # The constant has the eigenvalue one, and becomes the smallest.
        deflated = gram.toarray() - 2.0 * np.outer(constant, constant)
        values, vectors = eigh(deflated, subset_by_index=(q - wanted, q - 1))
    else:
        start = np.random.RandomState(0).normal(size=q)
        _, found = sparse.linalg.eigsh(gram.tocsc(), wanted + 1, sigma=1.0 + NEAR_ONE, which="LM", v0=start)
        found = np.linalg.svd(found - np.outer(constant, constant @ found), full_matrices=False)[0][:, :wanted]
        values, turn = np.linalg.eigh(found.T @ (gram @ found))
        vectors = found @ turn
    kept = values[::-1] > LEAST  # the rest is not in the span of the features
    return values[::-1][kept], vectors[:, ::-1][:, kept]
