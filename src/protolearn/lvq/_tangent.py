"""Tangent distances: prototypes as affine subspaces, with a few directions along which differences do not count.

Arrays: X (n, N) samples, W (k, N) prototypes, V (k, q, N) orthonormal directions of each, D (n, k) squared distances.
"""

from __future__ import annotations

import numpy as np

from protolearn.core.parameters import integer
from protolearn.core.types import Floats, Indices
from protolearn.lvq.relevance import Metric, Pullback, Theta

__all__ = ["TangentMetric"]


class TangentMetric(Metric):
    r"""Squared distance to the subspace through a prototype, :math:`d = \|(1 - V_p^\top V_p)(x - w_p)\|^2`.

    Each prototype has ``n_components`` orthonormal directions, the rows of :math:`V_p`, along which differences between
    a sample and the prototype do not count. Such directions model variation within a class, for instance slanted or
    thick strokes, or a different baseline of a spectrum. They are initialized with the principal directions of those
    samples of the class that are nearest to the prototype, and are learned together with the prototype. The initial
    distance is the reconstruction error of local PCA; training adapts the directions to separate the classes.

    Parameters
    ----------
    n_components : int, default=5
        Number of directions of each prototype, less than the number of features.

    References
    ----------
    Saralajew and Villmann (2016). Adaptive tangent distances in generalized learning vector quantization for
    transformation and distortion invariant classification learning. IJCNN.

    Examples
    --------
    Two classes along crossing lines.

    >>> import numpy as np
    >>> from protolearn.lvq import GLVQ, TangentMetric
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 100)
    >>> along = rng.uniform(-9, 9, 200)
    >>> X = np.column_stack([along, np.where(y == 0, along, -along)]) + rng.normal(0, 0.1, (200, 2))
    >>> model = GLVQ(metric=TangentMetric(1)).fit(X, y)
    >>> model.score(X, y) > 0.95 > 0.8 > GLVQ().fit(X, y).score(X, y)
    True
    >>> (directions,) = model.metric_parameters_
    >>> directions.shape
    (2, 1, 2)
    """

    homogeneous = True

    def __init__(self, n_components: int = 5) -> None:
        self.n_components = n_components

    def start(self, n_features: int, classes: Indices, rng: np.random.RandomState) -> Theta:
        """Return random directions."""
        integer(1, n_features - 1).check("n_components", self.n_components, f", below n_features = {n_features}")
        return self.normalize((rng.normal(size=(len(classes), self.n_components, n_features)),))

    def start_among(self, theta: Theta, X: Floats, y: Indices, u: Floats, W: Floats, classes: Indices) -> Theta:
        """Return principal directions of the samples around each prototype; if too few, the given ones."""
        (V,) = theta
        own = np.where(y[:, None] == classes, _squared_distances(X, W), np.inf)
        nearest = own.argmin(axis=1)
        least = 1e-9 * np.sqrt(np.square(X).mean())  # of a spread that is not rounding
        V = V.copy()
        for p in np.unique(nearest):
            mine = nearest == p
            weights = np.sqrt(u[mine] / u[mine].sum())[:, None]
            _, spread, axes = np.linalg.svd(weights * (X[mine] - W[p]), full_matrices=False)
            found = axes[spread > least]
            V[p] = _orthonormal(np.vstack([found, V[p]])[None, : self.n_components])[0][0]
        return (V,)

    def measure(self, X: Floats, W: Floats, classes: Indices, theta: Theta) -> tuple[Floats, Pullback]:
        """Return the distances and a function that backpropagates derivatives."""
        (V,) = theta
        k, q, N = V.shape
        C = (X @ V.reshape(k * q, N).T).reshape(len(X), k, q) - np.einsum("kqi,ki->kq", V, W)  # along the directions
        D = _squared_distances(X, W) - np.einsum("nkq,nkq->nk", C, C)
        np.maximum(D, 0.0, out=D)

        def pullback(G: Floats) -> tuple[Floats, Theta]:
            weighted = G[:, :, None] * C
            sums = weighted.sum(axis=0)  # (k, q)
            dW = -2.0 * (G.T @ X - G.sum(axis=0)[:, None] * W - np.einsum("kq,kqi->ki", sums, V))
            dV = (weighted.reshape(len(X), k * q).T @ X).reshape(V.shape) - sums[:, :, None] * W[:, None]
            return dW, (-2.0 * dV,)  # Saralajew and Villmann 2016, section III

        return D, pullback

    def normalize(self, theta: Theta) -> Theta:
        """Return orthonormal directions of the same subspaces."""
        return (_orthonormal(theta[0])[0],)

    def tangent(self, theta: Theta, slopes: Theta) -> Theta:
        """Turn derivatives by orthonormal directions into derivatives by theta, up to rotations within subspaces."""
        Q, factors = _orthonormal(theta[0])
        outside = slopes[0] - slopes[0] @ Q.swapaxes(1, 2) @ Q
        return (np.asarray(np.linalg.solve(factors.swapaxes(1, 2), outside), np.float64),)


def _orthonormal(V: Floats) -> tuple[Floats, Floats]:
    """Return orthonormal rows Q (k, q, N) and factors L (k, q, q) with ``V = L Q``, the diagonals of L not negative."""
    Q, R = np.linalg.qr(V.swapaxes(1, 2))
    signs = np.where(np.einsum("kii->ki", R) < 0, -1.0, 1.0)
    return (Q * signs[:, None, :]).swapaxes(1, 2), (R * signs[:, :, None]).swapaxes(1, 2)


def _squared_distances(X: Floats, W: Floats) -> Floats:
    D = X @ (-2.0 * W.T)
    D += np.einsum("ij,ij->i", X, X)[:, None]
    D += np.einsum("ij,ij->i", W, W)
    return D
