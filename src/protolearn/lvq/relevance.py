r"""Adaptive distances between samples and prototypes, :math:`d(x, w) = \|A (x - w)\|^2` with a learned matrix A.

A relevance structure defines the matrices and their free parameters. It returns the distances together with a function
that backpropagates derivatives by the distances to prototypes and parameters, which is all a solver needs. Any object
with the methods of `Metric` can be used instead.

Arrays: X (n, N) samples, W (k, N) prototypes, classes (k,) their class codes, D (n, k) distances, A (s, M, N) matrices
or (s, N) diagonals, of which prototype p uses number ``slots[p]``; theta, a tuple of arrays, holds the parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from sklearn.base import BaseEstimator

from protolearn.core.numerics import largest_positive
from protolearn.core.parameters import integer, option
from protolearn.core.threads import cut
from protolearn.core.types import Bools, Floats, Indices
from protolearn.lvq._triangles import add_squares, times_triangle

__all__ = [
    "Comparison",
    "DiagonalMetric",
    "EuclideanMetric",
    "MatrixMetric",
    "Metric",
    "MinkowskiMetric",
    "ProductMetric",
    "Relevance",
    "canonical_matrix",
    "mean_canonical_matrix",
]

Theta = tuple[Floats, ...]
Pullback = Callable[[Floats], tuple[Floats, Theta]]
Back = Callable[[Floats], tuple[Floats, Floats]]

BLOCK = 64  # rows that make a product worth its while: of a triangle, or of several small matrices together

LOCALIZATIONS = ("global", "class", "prototype")
NORMS = ("common", "each")


class Metric(BaseEstimator):
    """Base class of differentiable dissimilarities between samples and prototypes, to be learned by `GLVQ`.

    A subclass implements `measure`, and `start` if it has parameters. Distances must not be negative. Their unit does
    not matter.

    Attributes
    ----------
    homogeneous : bool
        Whether distances are invariant to a common translation of samples and prototypes, and change by a common factor
        if both are scaled. If so, training uses centered and scaled coordinates.
    allows_missing : bool
        Whether the metric supports missing values (NaN), which it leaves out of the distances.

    Examples
    --------
    A custom metric, half the squared Euclidean distance:

    >>> from protolearn.lvq import GLVQ, Metric
    >>> class Half(Metric):
    ...     def measure(self, X, W, classes, theta):
    ...         gaps = X[:, None] - W
    ...         return 0.5 * (gaps**2).sum(axis=2), lambda G: (-(G[..., None] * gaps).sum(axis=0), ())
    >>> model = GLVQ(metric=Half()).fit([[0.0], [0.2], [0.8], [1.0]], [0, 0, 1, 1])
    >>> model.predict([[0.1], [0.9]]).tolist()
    [0, 1]
    """

    homogeneous = False
    allows_missing = False

    def start(self, n_features: int, classes: Indices, rng: np.random.RandomState) -> Theta:
        """Return the initial parameters.

        Parameters
        ----------
        n_features : int
            Number of features N.
        classes : ndarray of shape (k,)
            Class code of each prototype.
        rng : RandomState
            Random number generator.

        Returns
        -------
        theta : tuple of ndarray
            Any number of arrays; the default is none.
        """
        return ()

    def start_among(self, theta: Theta, X: Floats, y: Indices, u: Floats, W: Floats, classes: Indices) -> Theta:
        """Return improved initial parameters, given the samples and the initial prototypes.

        Parameters
        ----------
        theta : tuple of ndarray
            Parameters returned by `start`.
        X : ndarray of shape (n, N)
            Samples.
        y : ndarray of shape (n,)
            Class codes of the samples.
        u : ndarray of shape (n,)
            Weights of the samples.
        W : ndarray of shape (k, N)
            Initial prototypes.
        classes : ndarray of shape (k,)
            Class code of each prototype.

        Returns
        -------
        theta : tuple of ndarray
            Arrays of the same shapes; by default theta itself.
        """
        return theta

    def measure(self, X: Floats, W: Floats, classes: Indices, theta: Theta) -> tuple[Floats, Pullback]:
        """Return the distances and a function that backpropagates derivatives.

        Parameters
        ----------
        X : ndarray of shape (n, N)
            Samples.
        W : ndarray of shape (k, N)
            Prototypes.
        classes : ndarray of shape (k,)
            Class code of each prototype.
        theta : tuple of ndarray
            Parameters.

        Returns
        -------
        D : ndarray of shape (n, k)
            Distances.
        pullback : callable
            Function from the derivative G (n, k) of a cost by D to its derivatives by W and by each array of theta.
        """
        raise NotImplementedError

    def compare(self, W: Floats, classes: Indices, theta: Theta, n_samples: int) -> Comparison:
        """Return an object that compares chunks of samples with fixed prototypes and parameters.

        A subclass can perform computations that do not depend on the samples here, once for all chunks.

        Parameters
        ----------
        W : ndarray of shape (k, N)
            Prototypes.
        classes : ndarray of shape (k,)
            Class code of each prototype.
        theta : tuple of ndarray
            Parameters.
        n_samples : int
            Approximate number of samples that will be compared.

        Returns
        -------
        comparison : Comparison
            Object that computes distances and derivatives; by default with `measure`.
        """
        return Comparison(self, W, classes, theta)

    def normalize(self, theta: Theta) -> Theta:
        """Return equivalent normalized parameters; by default theta itself."""
        return theta

    def tangent(self, theta: Theta, slopes: Theta) -> Theta:
        """Turn derivatives by the normalized parameters into derivatives by theta."""
        return slopes

    def carried(self, theta: Theta, change: Callable[[Floats], Floats]) -> Theta:
        """Return the parameters in other coordinates, given a function that transforms the last axis of arrays."""
        return (change(theta[0]), *theta[1:]) if theta else theta

    def n_directions(self, theta: Theta) -> int:
        """Return the number of directions whose logarithms `log_volume` averages."""
        return int(np.prod(theta[0].shape[:2])) if theta else 0

    def log_volume(self, theta: Theta) -> tuple[float, Theta]:
        """Return the logarithm of the volume of the metric, for regularization, and its derivative; by default 0."""
        return 0.0, tuple(np.zeros_like(part) for part in theta)


class Comparison:
    """Comparison of chunks of samples with fixed prototypes.

    Parameters
    ----------
    metric : Metric
        Distance between samples and prototypes.
    W : ndarray of shape (k, N)
        Prototypes.
    classes : ndarray of shape (k,)
        Class code of each prototype.
    theta : tuple of ndarray
        Parameters of the metric.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.lvq import EuclideanMetric
    >>> compared = EuclideanMetric().compare(np.array([[0.0], [3.0]]), np.array([0, 1]), (), n_samples=1)
    >>> distances, gather = compared.measure(np.array([[1.0]]))
    >>> distances.tolist(), compared.slopes(gather(np.ones((1, 2))))[0].tolist()
    ([[1.0, 4.0]], [[-2.0], [4.0]])
    """

    def __init__(self, metric: Metric, W: Floats, classes: Indices, theta: Theta) -> None:
        self.metric, self.W, self.classes, self.theta = metric, W, classes, theta

    def measure(self, X: Floats) -> tuple[Floats, Callable[[Floats], Theta]]:
        """Return distances (n, k), and a function from derivatives by the distances to sums over the samples.

        The sums are arrays that can be added to the sums over other samples.
        """
        D, pullback = self.metric.measure(X, self.W, self.classes, self.theta)

        def gather(G: Floats) -> Theta:
            dW, slopes = pullback(G)
            return (dW, *slopes)

        return D, gather

    def slopes(self, sums: Theta) -> tuple[Floats, Theta]:
        """Return the derivatives by W and by each array of theta, from sums over all samples."""
        return sums[0], sums[1:]


class Relevance(Metric):
    r"""Base class of all relevance structures, metrics of the form :math:`\|A (x - w)\|^2`.

    A subclass computes matrices from parameters (`matrices`) and derivatives by the parameters from derivatives by the
    matrices (`pull`). NaN in ``X`` stands for a missing value, which is left out of the distance.

    Examples
    --------
    A custom metric that learns the weight of the first feature only:

    >>> import numpy as np
    >>> from protolearn.lvq import GLVQ, Relevance
    >>> class FirstFeature(Relevance):
    ...     def start(self, n_features, classes, rng):
    ...         return (np.full((1, n_features), n_features**-0.5),)
    ...
    ...     def matrices(self, theta):
    ...         return theta[0]
    ...
    ...     def pull(self, theta, dA):
    ...         return (dA * (np.arange(dA.shape[1]) == 0),)
    >>> model = GLVQ(metric=FirstFeature()).fit([[0.0, 5.0], [0.2, 1.0], [0.8, 4.0], [1.0, 2.0]], [0, 0, 1, 1])
    >>> model.predict([[0.1, 1.0], [0.9, 5.0]]).tolist()
    [0, 1]
    """

    localization = "global"
    norm = "common"
    homogeneous = True
    allows_missing = True

    def matrices(self, theta: Theta) -> Floats:
        """Return A, as (s, M, N), or as (s, N) if diagonal."""
        raise NotImplementedError

    def operators(self, theta: Theta) -> Any:
        """Return the projections of samples: A, or equivalent objects that are more efficient."""
        return self.matrices(theta)

    def pull(self, theta: Theta, dA: Floats) -> Theta:
        """Turn derivatives by A into derivatives by the parameters."""
        raise NotImplementedError

    def slots(self, classes: Indices) -> Indices:
        """Return the index of the matrix that each prototype uses."""
        if self.localization == "global":
            return np.zeros(len(classes), np.int64)
        return (
            np.arange(len(classes)) if self.localization == "prototype" else np.unique(classes, return_inverse=True)[1]
        )

    def n_matrices(self, classes: Indices) -> int:
        """Return the number of matrices."""
        option(*LOCALIZATIONS).check("localization", self.localization)
        return int(self.slots(classes).max()) + 1

    def compare(self, W: Floats, classes: Indices, theta: Theta, n_samples: int) -> Comparison:
        """Return an object that compares chunks of samples with fixed prototypes and parameters."""
        A = self.operators(theta)
        if getattr(A, "ndim", 0) == 3:
            return MatrixComparison(self, W, classes, theta, A, n_samples)
        return super().compare(W, classes, theta, n_samples)

    def measure(self, X: Floats, W: Floats, classes: Indices, theta: Theta) -> tuple[Floats, Pullback]:
        """Return the distances and a function that backpropagates derivatives."""
        A = self.operators(theta)
        if getattr(A, "ndim", 0) == 3:
            comparison = MatrixComparison(self, W, classes, theta, A, len(X))
            D, gather = comparison.measure(X)
            return D, lambda G: comparison.slopes(gather(G))
        if getattr(A, "ndim", 0) == 2:
            A = np.broadcast_to(A, (len(A), X.shape[1]))
        D, back = _measure_shared(X, W, A, bool(theta)) if len(A) == 1 else (np.full((1, 1), np.nan), None)
        if back is None or np.isnan(D[:, 0]).any():  # missing values do not survive the shared projection
            D, back = _measure_local(X, W, A, self.slots(classes))

        def pullback(G: Floats) -> tuple[Floats, Theta]:
            dW, dA = back(G)
            return dW, self.pull(theta, dA)

        return D, pullback

    def normalize(self, theta: Theta) -> Theta:
        """Scale the matrices of the first parameter to a Frobenius norm of one, on average or individually."""
        return (theta[0] / self._norms(theta[0]), *theta[1:])  # Bunte 2011, eq. 2.21

    def tangent(self, theta: Theta, slopes: Theta) -> Theta:
        """Turn derivatives by the normalized parameters into derivatives by theta."""
        norms = self._norms(theta[0])
        unit = theta[0] / norms
        along = self._mean_over_matrices((slopes[0] * unit).sum(axis=tuple(range(1, unit.ndim)), keepdims=True))
        return ((slopes[0] - along * unit) / norms, *slopes[1:])

    def _norms(self, omega: Floats) -> Floats:
        return np.sqrt(self._mean_over_matrices((omega**2).sum(axis=tuple(range(1, omega.ndim)), keepdims=True)))

    def _mean_over_matrices(self, values: Floats) -> Floats:
        """Return the mean, if matrices have a common norm, so that one may be wider than another; or all values."""
        option(*NORMS).check("norm", self.norm)
        return values if self.norm == "each" else values.mean(axis=0, keepdims=True)


class EuclideanMetric(Relevance):
    """Squared Euclidean distance, which has no parameters to learn.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.lvq import EuclideanMetric
    >>> X, W = np.array([[0.0, 0.0], [3.0, 4.0]]), np.array([[0.0, 0.0]])
    >>> D, pullback = EuclideanMetric().measure(X, W, np.array([0]), ())
    >>> D.tolist()
    [[0.0], [25.0]]
    >>> pullback(np.array([[0.0], [1.0]]))[0].tolist()  # the derivative of the second distance by the prototype
    [[-6.0, -8.0]]
    """

    def matrices(self, theta: Theta) -> Floats:
        """Return A, as (s, M, N), or as (s, N) if diagonal."""
        return np.ones((1, 1))

    def pull(self, theta: Theta, dA: Floats) -> Theta:
        """Turn derivatives by A into derivatives by the parameters."""
        return ()

    def normalize(self, theta: Theta) -> Theta:
        """Return theta itself, since there are no parameters to normalize."""
        return theta

    def tangent(self, theta: Theta, slopes: Theta) -> Theta:
        """Turn derivatives by the normalized parameters into derivatives by theta."""
        return slopes


class DiagonalMetric(Relevance):
    r"""Metric with a relevance for each feature.

    The squared distance is :math:`d = \sum_i \omega_i^2 (x_i - w_i)^2` with :math:`\sum_i \omega_i^2 = 1`.

    Parameters
    ----------
    localization : {"global", "class", "prototype"}, default="global"
        Whether all prototypes share the relevances, or each class or each prototype has its own.
    norm : {"common", "each"}, default="common"
        Normalization of local relevances. With ``"common"`` their sum is one on average, so some classes can be wider
        than others. With ``"each"`` the sum is one for each class or prototype.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.lvq import DiagonalMetric
    >>> X, W = np.array([[3.0, 4.0]]), np.array([[0.0, 0.0]])
    >>> theta = (np.array([[0.6, 0.8]]),)  # relevances 0.36 and 0.64
    >>> D, pullback = DiagonalMetric().measure(X, W, np.array([0]), theta)
    >>> round(float(D[0, 0]), 6), round(0.36 * 3**2 + 0.64 * 4**2, 6)
    (13.48, 13.48)
    """

    def __init__(self, localization: str = "global", norm: str = "common") -> None:
        self.localization = localization
        self.norm = norm

    def start(self, n_features: int, classes: Indices, rng: np.random.RandomState) -> Theta:
        """Return equal relevances."""
        return (np.full((self.n_matrices(classes), n_features), n_features**-0.5),)

    def matrices(self, theta: Theta) -> Floats:
        """Return A, as (s, M, N), or as (s, N) if diagonal."""
        return theta[0]

    def pull(self, theta: Theta, dA: Floats) -> Theta:
        """Turn derivatives by A into derivatives by the parameters."""
        return (dA,)

    def log_volume(self, theta: Theta) -> tuple[float, Theta]:
        """Return the mean logarithm of the entries, and its derivative."""
        omega = theta[0]
        least = 1e-8 * np.abs(omega).max()
        safe = np.where(np.abs(omega) > least, omega, least)
        return float(np.log(np.abs(safe)).mean()), (1.0 / safe / omega.size,)


class MatrixMetric(Relevance):
    r"""Metric with a matrix that transforms the features linearly.

    The squared distance is :math:`d = \|\Omega (x - w)\|^2` with a matrix :math:`\Omega` of shape (M, N).

    Parameters
    ----------
    n_components : int, optional
        Number of rows M, which limits the rank; by default the number of features N.
    localization : {"global", "class", "prototype"}, default="global"
        Whether all prototypes share one matrix, or each class or each prototype has its own.
    mask : int or array-like of shape (M, N), optional
        Entries that may differ from zero: an array of booleans, or the half-width of a band around the diagonal (0 is a
        diagonal matrix), which suits features in spatial or temporal order.
    symmetric : bool, default=False
        Whether Omega is constrained to be symmetric, which requires M = N.
    start_at : {"identity", "random"} or ndarray of shape (M, N) or (s, M, N), default="identity"
        Initial matrix. ``"random"`` draws the entries uniformly from [-1, 1].
    norm : {"common", "each"}, default="common"
        Normalization of local matrices. With ``"common"`` their mean squared Frobenius norm is one, so some classes can
        be wider than others. With ``"each"`` the norm of each matrix is one.

    Examples
    --------
    A band around the diagonal suits features in temporal order:

    >>> from protolearn.lvq import GLVQ, MatrixMetric
    >>> X, y = [[0, 0, 5], [0, 1, 1], [1, 0, 4], [1, 1, 2.0]], [0, 0, 1, 1]
    >>> model = GLVQ(metric=MatrixMetric(mask=1)).fit(X, y)
    >>> model.predict(X).tolist()
    [0, 0, 1, 1]
    """

    def __init__(
        self,
        n_components: int | None = None,
        *,
        localization: str = "global",
        mask: int | ArrayLike | None = None,
        symmetric: bool = False,
        start_at: str | ArrayLike = "identity",
        norm: str = "common",
    ) -> None:
        self.n_components = n_components
        self.localization = localization
        self.mask = mask
        self.symmetric = symmetric
        self.start_at = start_at
        self.norm = norm

    def start(self, n_features: int, classes: Indices, rng: np.random.RandomState) -> Theta:
        """Return matrices of Frobenius norm one."""
        shape = (self.n_matrices(classes), self.n_components or n_features, n_features)
        if not isinstance(self.start_at, str):
            omega = np.broadcast_to(np.asarray(self.start_at, np.float64), shape)
        elif self.start_at == "random":
            omega = rng.uniform(-1.0, 1.0, shape)  # Bunte 2011, section 4.2.2
        else:
            option("identity", "random").check("start_at", self.start_at, " or an array")
            omega = np.broadcast_to(np.eye(*shape[1:]), shape)
            if not self._constrained(omega).any():  # the mask has no diagonal
                omega = np.ones(shape)
        return self.normalize((omega,))

    def matrices(self, theta: Theta) -> Floats:
        """Return A, as (s, M, N), or as (s, N) if diagonal."""
        return theta[0]

    def pull(self, theta: Theta, dA: Floats) -> Theta:
        """Turn derivatives by A into derivatives by the parameters."""
        return (dA,)

    def normalize(self, theta: Theta) -> Theta:
        """Apply the mask and the symmetry, and scale to a Frobenius norm of one, on average or individually."""
        return super().normalize((self._constrained(theta[0]),))

    def tangent(self, theta: Theta, slopes: Theta) -> Theta:
        """Turn derivatives by the normalized parameters into derivatives by theta."""
        (slope,) = super().tangent((self._constrained(theta[0]),), slopes)
        return (self._constrained(slope),)

    def log_volume(self, theta: Theta) -> tuple[float, Theta]:
        """Return the mean logarithm of the singular values, and its derivative."""
        value, slope = log_volume(theta[0])
        return value, (slope,)

    def _constrained(self, A: Floats) -> Floats:
        """Project on the matrices that mask and symmetry allow; as a projection it serves derivatives too."""
        if self.symmetric:
            A = (A + A.swapaxes(1, 2)) / 2.0
        return A if self.mask is None else np.where(allowed_entries(self.mask, A.shape[1:], self.symmetric), A, 0.0)


class ProductMetric(Relevance):
    r"""Metric with a matrix that all prototypes share, and local matrices.

    The squared distance is :math:`d = \|\Psi_p \Omega (x - w_p)\|^2` with the shared matrix :math:`\Omega` of shape
    (M, N) and local matrices :math:`\Psi_p` of shape (M, M). All distances depend on :math:`\Omega x` alone, so classes
    with local metrics share one low-dimensional view. Only :math:`\Omega` is normalized; the scale of a
    :math:`\Psi_p` sets the bandwidth of its class.

    Parameters
    ----------
    n_components : int, optional
        Dimension M of the view; by default the number of features N.
    localization : {"class", "prototype"}, default="class"
        Whether each class or each prototype has its own :math:`\Psi`.
    start_at : {"identity", "random"} or ndarray of shape (M, N), default="identity"
        Initial Omega. Every Psi is initialized with the identity.

    Examples
    --------
    Two classes with local matrices share one two-dimensional view:

    >>> import numpy as np
    >>> from protolearn.lvq import ProductMetric
    >>> metric = ProductMetric(n_components=2)
    >>> omega, psi = metric.start(3, np.array([0, 1]), np.random.RandomState(0))
    >>> omega.shape, psi.shape, metric.matrices((omega, psi)).shape
    ((1, 2, 3), (2, 2, 2), (2, 2, 3))
    """

    def __init__(
        self, n_components: int | None = None, *, localization: str = "class", start_at: str | ArrayLike = "identity"
    ) -> None:
        self.n_components = n_components
        self.localization = localization
        self.start_at = start_at

    def start(self, n_features: int, classes: Indices, rng: np.random.RandomState) -> Theta:
        """Return an Omega of Frobenius norm one, and identity matrices."""
        (omega,) = MatrixMetric(self.n_components, start_at=self.start_at).start(n_features, classes, rng)
        M = omega.shape[1]
        return omega, np.tile(np.eye(M), (self.n_matrices(classes), 1, 1))

    def matrices(self, theta: Theta) -> Floats:
        """Return A, as (s, M, N), or as (s, N) if diagonal."""
        omega, psi = theta
        return psi @ omega

    def pull(self, theta: Theta, dA: Floats) -> Theta:
        """Turn derivatives by A into derivatives by the parameters."""
        omega, psi = theta
        return np.einsum("slm,sln->mn", psi, dA, optimize=True)[None], dA @ omega[0].T  # Bunte 2011, eqs. 3.9, 3.10

    def log_volume(self, theta: Theta) -> tuple[float, Theta]:
        """Return the mean logarithm of the singular values of all matrices, and its derivative."""
        (of_omega, by_omega), (of_psi, by_psi) = (log_volume(part) for part in theta)
        psi = theta[1]
        size = (psi**2).sum()  # scaling all Psi together changes nothing, so it must not pay
        return of_omega + of_psi - 0.5 * float(np.log(size)), (by_omega, by_psi - psi / size)


class MinkowskiMetric(Metric):
    r"""Sum of the p-th powers of the differences, :math:`d = \sum_i |x_i - w_i|^p`, without parameters to learn.

    Parameters
    ----------
    p : float, default=1.5
        Exponent, at least 1; 2 gives the squared Euclidean distance and 1 the Manhattan distance. The derivative of the
        Manhattan distance is taken as zero in features in which a sample and a prototype agree.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protolearn.lvq import GLVQ, MinkowskiMetric
    >>> X, y = load_iris(return_X_y=True)
    >>> GLVQ(metric=MinkowskiMetric(3)).fit(X, y).score(X, y) > 0.9
    True
    """

    homogeneous = True

    def __init__(self, p: float = 1.5) -> None:
        self.p = p

    def measure(self, X: Floats, W: Floats, classes: Indices, theta: Theta) -> tuple[Floats, Pullback]:
        """Return the distances and a function that backpropagates derivatives."""
        if not self.p >= 1:
            raise ValueError(f"p={self.p!r} must be at least 1, so that the distance is differentiable.")
        D = np.stack([(np.abs(X - w) ** self.p).sum(axis=1) for w in W], axis=1)

        def pullback(G: Floats) -> tuple[Floats, Theta]:
            def slope(w: Floats, g: Floats) -> Floats:
                gaps = X - w
                if self.p == 1:  # what differs by rounding agrees
                    gaps[np.abs(gaps) <= 1e-12 * (np.abs(X) + np.abs(w))] = 0.0
                return -self.p * (g @ (np.sign(gaps) * np.abs(gaps) ** (self.p - 1.0)))

            return np.stack([slope(w, g) for w, g in zip(W, G.T)]), ()

        return D, pullback


class MatrixComparison(Comparison):
    r"""Samples compared by matrices A of shape (s, M, N), :math:`d(x, w) = \|A x - A w\|^2`.

    Distances do not change if A is replaced by the triangular factor of its QR decomposition, which takes half of the
    products. Derivatives follow from :math:`Q = \sum_i g_i x_i x_i^\top` of each matrix, where g adds up the
    derivatives by the distances to its prototypes; Q is symmetric, which saves half of its products
    too. Both pay for wide matrices and many samples.

    Parameters
    ----------
    metric : Relevance
        The structure that the matrices belong to.
    W, classes, theta
        Prototypes (k, N), their class codes, parameters.
    A : ndarray of shape (s, M, N)
        The matrices.
    n_samples : int
        Approximate number of samples that will be compared.
    """

    def __init__(self, metric: Relevance, W: Floats, classes: Indices, theta: Theta, A: Floats, n_samples: int) -> None:
        super().__init__(metric, W, classes, theta)
        self.A = A
        self.slots = metric.slots(classes)
        self.members = [_span(np.flatnonzero(self.slots == slot)) for slot in range(len(A))]
        M, N = A.shape[1:]
        self.symmetric = 2 * M > N >= BLOCK and n_samples > 2 * N
        self.triangular = M == N >= BLOCK and n_samples > 4 * N
        self.root = np.asarray(np.linalg.qr(A, mode="r")) if self.triangular else A

    def measure(self, X: Floats) -> tuple[Floats, Callable[[Floats], Theta]]:
        """Return distances (n, k), and a function from derivatives by these to sums over the samples."""
        D = np.empty((len(X), len(self.W)))
        for slot, Z in self._projections(X):
            mine = self.members[slot]
            V = self.W[mine] @ self.root[slot].T
            if len(V) == 1:
                Z -= V
                D[:, mine] = np.einsum("ij,ij->i", Z, Z)[:, None]
            else:
                part = Z @ (-2.0 * V.T)
                part += np.einsum("ij,ij->i", Z, Z)[:, None]
                part += np.einsum("ij,ij->i", V, V)
                np.maximum(part, 0.0, out=part)
                if len(self.A) == 1:
                    D = part
                else:
                    D[:, mine] = part
        if np.isnan(D[:, 0]).any():
            return self._measure_partial(X)
        view = Z if len(self.A) == 1 < len(self.W) else None
        return D, lambda G: self._gather(X, G, view)

    def _projections(self, X: Floats) -> Iterator[tuple[int, Floats]]:
        """Yield the number of each matrix, and the samples as it maps them."""
        s, M, N = self.root.shape
        if self.triangular:
            yield from ((slot, times_triangle(X, matrix)) for slot, matrix in enumerate(self.root))
            return
        for group in cut(s, max(1, BLOCK // 2 // M) if N > 4 * M else 1):  # flat matrices are multiplied together
            Z = X @ self.root[group].reshape(-1, N).T
            for slot in range(group.start, group.stop):
                first = (slot - group.start) * M
                yield slot, Z[:, first : first + M]

    def _gather(self, X: Floats, G: Floats, view: Floats | None) -> Theta:
        """Return sums over samples, given their view if there is one matrix for all."""
        of_matrices = self._no_sums()
        for slot in range(len(self.A) if self.theta else 0):
            mine = G[:, self.members[slot]]
            g = mine @ np.ones(mine.shape[1])  # faster than a sum along rows
            rows = slice(None) if view is not None else np.flatnonzero(g)
            some = X[rows]
            if self.symmetric:
                scaled = np.multiply(np.sqrt(np.abs(g[rows, None])), some, order="C")
                add_squares(of_matrices[slot], scaled)
                add_squares(of_matrices[slot], scaled[g[rows] < 0.0], -2.0)
            else:
                Z = some @ self.A[slot].T if view is None else view
                np.matmul((g[rows, None] * Z).T, some, out=of_matrices[slot])
        return np.zeros_like(self.W), G.T @ X, np.ones(len(G)) @ G, of_matrices

    def _measure_partial(self, X: Floats) -> tuple[Floats, Callable[[Floats], Theta]]:
        """Do the same for samples with missing values, each of which differs from no prototype."""
        missing = np.isnan(X)

        def differences(rows: Any, p: int) -> Floats:
            return np.where(missing[rows], 0.0, X[rows] - self.W[p])

        D = np.empty((len(X), len(self.W)))
        for p, slot in enumerate(self.slots):
            Z = differences(slice(None), p) @ self.A[slot].T
            D[:, p] = np.einsum("ij,ij->i", Z, Z)

        def gather(G: Floats) -> Theta:
            dW, of_matrices = np.zeros_like(self.W), self._no_sums()
            for p, slot in enumerate(self.slots):
                rows = np.flatnonzero(G[:, p])
                F = differences(rows, p)
                Z = G[rows, p, None] * (F @ self.A[slot].T)
                dW[p] = -2.0 * np.where(missing[rows], 0.0, Z @ self.A[slot]).sum(axis=0)
                of_matrices[slot] += (G[rows, p, None] * F if self.symmetric else Z).T @ F
            return dW, np.zeros_like(self.W), np.zeros(len(self.W)), of_matrices

        return D, gather

    def _no_sums(self) -> Floats:
        s, M, N = self.A.shape
        return np.zeros((s, N if self.symmetric else M, N))

    def slopes(self, sums: Theta) -> tuple[Floats, Theta]:
        """Return the derivatives by W and by each array of theta, from sums over all samples."""
        dW, S, masses, of_matrices = sums
        if self.symmetric:  # of which the upper triangle is known
            of_matrices = self.A @ (np.triu(of_matrices) + np.triu(of_matrices, 1).swapaxes(1, 2))
        dW, dA = dW.copy(), 2.0 * of_matrices
        for slot, (mine, matrix) in enumerate(zip(self.members, self.A)):
            V = self.W[mine] @ matrix.T
            dV = masses[mine, None] * V - S[mine] @ matrix.T
            dW[mine] += 2.0 * dV @ matrix
            dA[slot] += 2.0 * (dV.T @ self.W[mine] - V.T @ S[mine])
        return dW, self.metric.pull(self.theta, dA)  # Bunte 2011, eqs. 3.3 and 3.4, summed over the samples


def canonical_matrix(omega: ArrayLike, n_components: int | None = None) -> Floats:
    """Return the equivalent matrix whose rows are scaled eigenvectors of the relevance matrix, in descending order.

    Row i is the i-th eigenvector of ``omega.T @ omega`` times the square root of its eigenvalue, with its largest entry
    positive. Distances do not change, and matrices that differ by a rotation of their rows become equal.

    Parameters
    ----------
    omega : array-like of shape (M, N)
        Any matrix.
    n_components : int, optional
        Number of rows to keep; by default M. Fewer rows omit the smallest eigenvalues.

    Returns
    -------
    omega : ndarray of shape (n_components, N)
        The canonical matrix.

    References
    ----------
    Bunte (2011). Adaptive dissimilarity measures, dimension reduction and visualization. PhD thesis, University of
    Groningen, eqs. 3.2 and 4.3.

    Examples
    --------
    >>> from protolearn.lvq import canonical_matrix
    >>> canonical_matrix([[0.0, 3.0], [-4.0, 0.0]])
    array([[4., 0.],
           [0., 3.]])
    """
    given = np.asarray(omega, dtype=np.float64)
    _, singular, axes = np.linalg.svd(given, full_matrices=False)
    rows = np.zeros_like(given)
    rows[: len(axes)] = singular[:, None] * largest_positive(axes, axis=1)
    return rows[:n_components] + 0.0


def mean_canonical_matrix(omegas: ArrayLike, n_components: int | None = None) -> Floats:
    """Return the canonical matrix of the mean relevance matrix of several runs.

    The signs and the order of rows differ between runs, so averaging the matrices entry by entry is meaningless. The
    mean of ``omega.T @ omega`` does not depend on signs and order.

    Parameters
    ----------
    omegas : array-like of shape (n_runs, M, N)
        Matrices of several runs.
    n_components : int, optional
        Number of rows to keep; by default M.

    Returns
    -------
    omega : ndarray of shape (n_components, N)
        The canonical matrix of the mean.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.lvq import mean_canonical_matrix
    >>> bool(np.allclose(mean_canonical_matrix([[[3.0, 4.0]], [[-3.0, -4.0]]]), [[3, 4]]))
    True
    """
    stack = np.asarray(omegas, dtype=np.float64)
    mean = np.einsum("rmi,rmj->ij", stack, stack) / len(stack)
    values, vectors = np.linalg.eigh(mean)
    root = (vectors * np.sqrt(np.maximum(values, 0.0))).T
    return canonical_matrix(root, n_components or stack.shape[1])


def allowed_entries(mask: int | ArrayLike, shape: tuple[int, ...], symmetric: bool = False) -> Bools:
    """Return which entries of a matrix may differ from zero, for a half-width or an array of booleans."""
    if np.ndim(mask) == 0:
        integer(0).check("mask", mask, ", the half-width of a band, or an array of booleans")
        rows, columns = np.indices(shape)
        return np.abs(rows - columns) <= mask
    allowed = np.asarray(mask, dtype=bool)
    if allowed.shape != tuple(shape):
        raise ValueError(f"mask has shape {allowed.shape}; expected {tuple(shape)}, or the half-width of a band.")
    if not allowed.any():
        raise ValueError("mask allows no entry of the matrix; at least one must be true.")
    if symmetric and not np.array_equal(allowed, allowed.T):
        raise ValueError("symmetric=True requires a symmetric mask.")
    return allowed


TINY = 1e-150


def log_volume(omega: Floats) -> tuple[float, Floats]:
    """Return ``ln det(Omega Omega^T) / 2`` over all rows of all matrices, as a mean, and its derivative."""
    value, slopes = 0.0, []
    for matrix in omega:  # Bunte 2011, section 3.2; the derivative is the transposed pseudo-inverse
        try:
            factor = cho_factor(matrix @ matrix.T, lower=True)
            value += float(np.log(np.diag(factor[0])).sum())
            slopes.append(cho_solve(factor, matrix))
        except LinAlgError:
            U, singular, V = np.linalg.svd(matrix, full_matrices=False)
            safe = np.maximum(singular, 1e-8 * max(float(singular[0]), TINY))
            value += float(np.log(safe).sum())
            slopes.append((U / safe) @ V)
    count = omega.shape[0] * omega.shape[1]
    return value / count, np.stack(slopes) / count


def _span(members: Indices) -> Any:
    """Return sorted numbers as a slice if they leave none out, which takes views instead of copies."""
    first, last = members[0], members[-1]
    return slice(first, last + 1) if last - first == len(members) - 1 else members


def _project(X: Floats, A: Any) -> Floats:
    """Return ``A x`` for every row, A a diagonal (N,), or an object that can do it."""
    return X * A if isinstance(A, np.ndarray) else A.project(X)


def _outer(Z: Floats, X: Floats, A: Any) -> Floats:
    """Return the derivative by A of a cost whose derivative by ``A x`` is Z."""
    return (Z * X).sum(axis=0) if isinstance(A, np.ndarray) else A.outer(Z, X)


def _measure_shared(X: Floats, W: Floats, A: Any, learns: bool) -> tuple[Floats, Back]:
    """Measure with one matrix: project everything once, then compare in the view."""
    matrix = A[0]
    Z, V = _project(X, matrix), _project(W, matrix)
    D = Z @ (-2.0 * V.T)
    D += np.einsum("ij,ij->i", Z, Z)[:, None]
    D += np.einsum("ij,ij->i", V, V)
    np.maximum(D, 0.0, out=D)

    def back(G: Floats) -> tuple[Floats, Floats]:
        S = G.T @ X  # all that prototypes need to know of the samples
        dV = 2.0 * (G.sum(axis=0)[:, None] * V - _project(S, matrix))
        dW = _project(dV, matrix.T)
        if not learns:
            return dW, A
        scaled = (2.0 * G.sum(axis=1))[:, None] * Z
        dA = _outer(scaled, X, matrix) + _outer(dV, W, matrix) - 2.0 * _outer(V, S, matrix)
        return dW, dA[None]  # Bunte 2011, eqs. 3.3 and 3.4, summed over the samples

    return D, back


def _measure_local(X: Floats, W: Floats, A: Any, slots: Indices) -> tuple[Floats, Back]:
    """Measure with a matrix for each prototype; a missing value differs from no prototype."""
    missing = np.isnan(X)
    partial = bool(missing.any())

    def differences(rows: Any, w: Floats) -> Floats:
        F = X[rows] - w
        return np.where(missing[rows], 0.0, F) if partial else F

    D = np.empty((len(X), len(W)))
    for p, w in enumerate(W):
        Z = _project(differences(slice(None), w), A[slots[p]])
        D[:, p] = np.einsum("ij,ij->i", Z, Z)

    def back(G: Floats) -> tuple[Floats, Floats]:
        dW, dA = np.zeros_like(W), np.zeros((len(A), *A[0].shape))
        for p, w in enumerate(W):
            rows = np.flatnonzero(G[:, p])
            F = differences(rows, w)
            matrix = A[slots[p]]
            dZ = 2.0 * G[rows, p][:, None] * _project(F, matrix)
            dF = _project(dZ, matrix.T)
            dW[p] = -(np.where(missing[rows], 0.0, dF) if partial else dF).sum(axis=0)
            dA[slots[p]] += _outer(dZ, F, matrix)  # Bunte 2011, section 2.4, local matrices
        return dW, dA

    return D, back
