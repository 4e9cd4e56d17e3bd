"""Matrix LVQ: learned linear transformations of the features, global or local."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from protolearn.core.parameters import array, flag, integer, none, option
from protolearn.core.partitions import blockwise
from protolearn.core.threads import chunk_threads
from protolearn.core.types import Array, Floats
from protolearn.core.validation import given_array, require_memory
from protolearn.lvq._callback import Callback
from protolearn.lvq._docs import documented
from protolearn.lvq._glvq import GLVQ
from protolearn.lvq._masked import masked_metric
from protolearn.lvq._start import Frame, discriminative_directions
from protolearn.lvq.relevance import MatrixMetric, Metric, ProductMetric, Relevance, Theta, canonical_matrix
from protolearn.lvq.samples import TrainingSamples
from protolearn.lvq.solvers import Solver

__all__ = ["GMLVQ", "LGMLVQ", "LLiRaMLVQ"]

SOLVER_VECTORS = 30  # as large as the matrices that a solver holds


class MatrixLVQ(GLVQ):
    """Base class of classifiers with relevance matrices: rank, initialization and relevances."""

    _constraints = {
        "n_components": integer(1) | none,
        "mask": integer(0) | array("an array of booleans") | none,
        "symmetric": flag,
        "metric_init": option("auto", "identity", "random", "discriminative") | array("an array"),
    }

    n_components: int | None
    metric_init: str | ArrayLike
    localization = "global"
    norm = "common"
    scale_: Floats
    _metric: Relevance
    _standardizes = True
    mask: int | ArrayLike | None = None
    symmetric = False

    @property
    def relevances_(self) -> Floats:
        """Relevance of each feature, in units of its standard deviation: the diagonal of the relevance matrix."""
        return np.einsum("...mi,...mi->...i", *[self._omegas() * self.scale_] * 2)

    @property
    def relevance_matrix_(self) -> Floats:
        """The relevance matrix ``Lambda = Omega^T Omega`` for standardized features."""
        omega = self._omegas() * self.scale_
        *s, _, N = omega.shape
        n_bytes = 2 * 8 * int(np.prod(s)) * N**2
        require_memory(f"relevance_matrix_ of {N} features", n_bytes, "use relevances_, or the factors of the matrix")
        return omega.swapaxes(-1, -2) @ omega

    @property
    def eigenvalues_(self) -> Floats:
        """Eigenvalues of the relevance matrix in descending order, at most M of them."""
        return np.square(np.linalg.svd(self._omegas() * self.scale_, compute_uv=False), dtype=np.float64)

    def _omegas(self) -> Floats:
        raise NotImplementedError

    def _canonical(self, omega: Floats) -> Floats:
        """Return the matrix of the same distances that is canonical for standardized features."""
        return canonical_matrix(omega * self.scale_) / self.scale_

    def _default_slope(self) -> tuple[float, float]:
        return 10.0, 10.0

    def _rotates(self) -> bool:
        return self.mask is None and not self.symmetric

    def _structure(self, frame: Frame, samples: TrainingSamples) -> Metric:
        rank, N = self._rank(), self.n_features_in_
        if self.symmetric and rank != N:
            raise ValueError(f"A symmetric matrix must be square; got n_components={rank} for {N} features.")
        s, width = MatrixMetric(localization=self.localization).n_matrices(self._codes), samples.n_features
        require_memory(
            f"{type(self).__name__} with {s} matrices of {min(rank, width)} x {width} numbers",
            SOLVER_VECTORS * 8 * s * min(rank, width) * width,
            "use a small n_components, such as 10, or fewer features",
        )
        return masked_metric(
            width,
            min(rank, width),
            localization=self.localization,
            mask=self.mask,
            symmetric=self.symmetric,
            norm=self.norm,
            start_at=self._start_at(frame, samples),
        )

    def _rank(self) -> int:
        """Return the number of rows M."""
        N = self.n_features_in_
        if self.n_components is None:
            return N
        integer(1, N).check("n_components", self.n_components, ", the number of features")
        return int(self.n_components)

    def _start_at(self, frame: Frame, samples: TrainingSamples) -> str | Floats:
        """Return where the matrix starts, in the coordinates of the solver."""
        rank = min(self._rank(), samples.n_features)
        if not isinstance(self.metric_init, str):
            given = frame.enter_matrices(self._given_matrices())
            return given if given.shape[1] == rank else np.stack([canonical_matrix(part, rank) for part in given])
        if self.metric_init == "discriminative" or (self.metric_init == "auto" and rank < samples.n_features):
            return discriminative_directions(samples, len(self.classes_), rank)
        return "random" if self.metric_init == "random" else "identity"

    def _given_matrices(self) -> Floats:
        """Return the matrices that the user gave."""
        given = given_array("metric_init", self.metric_init, ensure_2d=False, allow_nd=True, ensure_all_finite=False)
        shape = (self._rank(), self.n_features_in_)
        several = (MatrixMetric(localization=self.localization).n_matrices(self._codes), *shape)
        if given.shape not in (shape, several) or not np.isfinite(given).all() or not given.any():
            raise ValueError(
                f"metric_init has shape {given.shape}; expected finite values, not all zero, of shape {shape}"
                + (f" or {several}." if several[0] > 1 else ".")
            )
        return given if given.ndim == 3 else given[None]


class _WithView(ClassNamePrefixFeaturesOutMixin, TransformerMixin, MatrixLVQ):
    """What classifiers with one matrix for all samples share: the view it gives."""

    omega_: Floats

    @blockwise
    @chunk_threads(1)
    def transform(self, X: ArrayLike) -> Array:
        """Project samples by Omega, so that Euclidean distances equal the learned distances.

        Missing values are replaced by the mean of the training samples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        Z : ndarray of shape (n_samples, M)
            Projected samples; the most discriminative direction comes first.
        """
        X = self._check_filled(X)
        return X @ self.omega_.T.astype(X.dtype)

    @property
    def _n_features_out(self) -> int:
        return len(self.omega_)

    def _omegas(self) -> Floats:
        return self.omega_

    def _default_slope(self) -> tuple[float, float]:
        """Return a flat slope for a view of few dimensions, which cannot do justice to all samples near a border."""
        return (5.0, 5.0) if self._rank() < self.n_features_in_ else super()._default_slope()


@documented
class GMLVQ(_WithView):
    r"""Generalized matrix LVQ, which learns a relevance matrix, optionally of limited rank (LiRaM LVQ).

    The squared distance is

    .. math:: d = \|\Omega (x - w)\|^2 = (x - w)^\top \Lambda\, (x - w), \qquad \Lambda = \Omega^\top \Omega,

    for features in units of their standard deviation, where the relevance matrix :math:`\Lambda` has trace one.
    Relevant features and combinations of features receive a larger weight, and the units of the features do not matter.
    Prototypes and :math:`\Omega` minimize the mean of :math:`\Phi(\mu)` with :math:`\mu = (d_J - d_K) / (d_J + d_K)`,
    see `GLVQ`, minus ``regularization`` times the mean logarithm of the singular values of :math:`\Omega`.

    Parameters
    ----------
    prototypes_per_class : int or dict, default=1
        Number of prototypes per class: one number for all classes, or a dict from class labels to numbers.
    n_components : int, optional
        Number of rows M of the matrix, which limits its rank and is the output dimension of `transform`; by default the
        number of features. If the samples span fewer dimensions, the matrix has only that many rows.
    mask : int or array-like of shape (M, n_features), optional
        Entries of :math:`\Omega` that may differ from zero: an array of booleans, or the half-width of a band around
        the diagonal, which suits features in spatial or temporal order.
    symmetric : bool, default=False
        Whether :math:`\Omega` is constrained to be symmetric.
    metric_init : {"auto", "identity", "random", "discriminative"} or ndarray of shape (M, n_features), default="auto"
        Initial matrix. ``"discriminative"`` uses the directions of linear discriminant analysis. ``"auto"`` is
        ``"discriminative"`` if ``n_components`` is below the number of features, and ``"identity"`` otherwise.
    regularization : float or "auto", default="auto"
        Weight of the mean logarithm of the singular values of the matrices. This term prevents directions from
        collapsing to zero and guards against overfitting. ``"auto"`` is 0.1 times the number of rows of all matrices
        divided by the number of samples, so the term matters less the more samples there are.
    %(parameters)s

    Attributes
    ----------
    omega_ : ndarray of shape (M, n_features)
        The matrix :math:`\Omega` for features in their original units. Multiplied by ``scale_`` it is the matrix for
        standardized features. Unless masked or symmetric, that matrix is in canonical form: its rows are the
        eigenvectors of the relevance matrix times the square roots of their eigenvalues, in descending order, and the
        largest entry of each row is positive.
    relevance_matrix_ : ndarray of shape (n_features, n_features)
        Relevance matrix :math:`\Lambda = \Omega^\top \Omega` for standardized features, with trace one.
    relevances_ : ndarray of shape (n_features,)
        Relevance of each feature, in units of its standard deviation: the diagonal of the relevance matrix.
    eigenvalues_ : ndarray of shape (M,)
        Eigenvalues of the relevance matrix, in descending order.
    %(scale)s
    %(importances)s
    %(attributes)s

    See Also
    --------
    LGMLVQ : Learns a matrix for each prototype.

    References
    ----------
    Biehl, Hammer and Schneider (2006). Matrix learning in learning vector quantization. Technical report IfI-06-14, TU
    Clausthal.

    Bunte (2011). Adaptive dissimilarity measures, dimension reduction and visualization. PhD thesis, University of
    Groningen, chapters 2 and 3.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protolearn import GMLVQ
    >>> X, y = load_iris(return_X_y=True)
    >>> model = GMLVQ(n_components=2).fit(X, y)
    >>> model.score(X, y) > 0.95
    True
    >>> model.transform(X).shape
    (150, 2)
    >>> round(float(model.relevances_.sum()), 6)
    1.0
    """

    def __init__(
        self,
        prototypes_per_class: int | dict[Any, int] = 1,
        *,
        n_components: int | None = None,
        mask: int | ArrayLike | None = None,
        symmetric: bool = False,
        metric_init: str | ArrayLike = "auto",
        regularization: float | str = "auto",
        init: str | ArrayLike = "neural_gas",
        squashing: str = "sigmoid",
        slope: float | tuple[float, float] | None = None,
        neighborhood_range: float | None = None,
        solver: str | Solver = "auto",
        max_iter: int | None = None,
        tol: float = 1e-06,
        class_weight: dict[Any, float] | str | None = None,
        warm_start: bool = False,
        early_stopping: bool | str = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 10,
        missing: str = "error",
        calibration: int | None = None,
        reject_threshold: float = 0.0,
        reject_label: Any = -1,
        contamination: float | None = None,
        callback: Callback | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.prototypes_per_class = prototypes_per_class
        self.n_components = n_components
        self.mask = mask
        self.symmetric = symmetric
        self.metric_init = metric_init
        self.regularization = regularization
        self.init = init
        self.squashing = squashing
        self.slope = slope
        self.neighborhood_range = neighborhood_range
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.missing = missing
        self.calibration = calibration
        self.reject_threshold = reject_threshold
        self.reject_label = reject_label
        self.contamination = contamination
        self.callback = callback
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _store_metric(self, theta: Theta) -> Theta:
        (omega,) = self._metric.matrices(theta)
        self.omega_ = self._canonical(omega) if self._rotates() else omega
        return (self.omega_[None],) if self._rotates() else theta


@documented
class LGMLVQ(MatrixLVQ):
    r"""Localized generalized matrix LVQ, with a separate relevance matrix for each prototype or each class.

    The squared distance to prototype p is :math:`d_p = \|\Omega_p (x - w_p)\|^2`. Borders between classes are curved,
    and receptive fields need not be convex. The mean trace of the matrices :math:`\Omega_p^\top \Omega_p` is one; a
    prototype whose matrix has a small trace has a wide receptive field.

    Parameters
    ----------
    prototypes_per_class : int or dict, default=1
        Number of prototypes per class: one number for all classes, or a dict from class labels to numbers.
    n_components : int, optional
        Number of rows M of each matrix, which limits its rank; by default the number of features. If the samples span
        fewer dimensions, the matrices have only that many rows.
    localization : {"prototype", "class"}, default="prototype"
        Whether each prototype or each class has its own matrix.
    norm : {"common", "each"}, default="common"
        Normalization of the matrices. With ``"common"`` their mean trace is one, so some classes can be wider than
        others. With ``"each"`` every relevance matrix has trace one, as in the original publication.
    mask : int or array-like of shape (M, n_features), optional
        Entries of the matrices that may differ from zero: an array of booleans, or the half-width of a band around the
        diagonal.
    symmetric : bool, default=False
        Whether the matrices are constrained to be symmetric.
    metric_init : {"auto", "identity", "random", "discriminative"} or ndarray of shape ([s,] M, N), default="auto"
        Initial matrices. ``"discriminative"`` uses the directions of linear discriminant analysis. ``"auto"`` is
        ``"discriminative"`` if ``n_components`` is below the number of features, and ``"identity"`` otherwise.
    regularization : float or "auto", default="auto"
        Weight of the mean logarithm of the singular values of the matrices. This term prevents directions from
        collapsing to zero and guards against overfitting. ``"auto"`` is 0.1 times the number of rows of all matrices
        divided by the number of samples, so the term matters less the more samples there are.
    %(parameters)s

    Attributes
    ----------
    omegas_ : ndarray of shape (s, M, n_features)
        The matrix of each prototype or class, for features in their original units. Unless masked or symmetric, the
        matrices are in canonical form after multiplication by ``scale_``, see `GMLVQ`.
    relevance_matrix_ : ndarray of shape (s, n_features, n_features)
        The relevance matrices for standardized features, normalized as set by ``norm``.
    relevances_ : ndarray of shape (s, n_features)
        Relevance of each feature: the diagonals of the relevance matrices.
    eigenvalues_ : ndarray of shape (s, M)
        Eigenvalues of the relevance matrices, in descending order.
    %(scale)s
    %(importances)s
    %(attributes)s

    See Also
    --------
    GMLVQ : Learns one matrix for all prototypes.
    LLiRaMLVQ : Learns a shared low-dimensional view, and local matrices in it.

    References
    ----------
    Biehl, Hammer and Schneider (2006). Matrix learning in learning vector quantization. Technical report IfI-06-14, TU
    Clausthal.

    Bunte (2011). Adaptive dissimilarity measures, dimension reduction and visualization. PhD thesis, University of
    Groningen, chapters 2 and 3.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protolearn import LGMLVQ
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LGMLVQ().fit(X, y)
    >>> model.omegas_.shape
    (3, 4, 4)
    >>> model.score(X, y) > 0.95
    True
    """

    def __init__(
        self,
        prototypes_per_class: int | dict[Any, int] = 1,
        *,
        n_components: int | None = None,
        localization: str = "prototype",
        norm: str = "common",
        mask: int | ArrayLike | None = None,
        symmetric: bool = False,
        metric_init: str | ArrayLike = "auto",
        regularization: float | str = "auto",
        init: str | ArrayLike = "neural_gas",
        squashing: str = "sigmoid",
        slope: float | tuple[float, float] | None = None,
        neighborhood_range: float | None = None,
        solver: str | Solver = "auto",
        max_iter: int | None = None,
        tol: float = 1e-06,
        class_weight: dict[Any, float] | str | None = None,
        warm_start: bool = False,
        early_stopping: bool | str = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 10,
        missing: str = "error",
        calibration: int | None = None,
        reject_threshold: float = 0.0,
        reject_label: Any = -1,
        contamination: float | None = None,
        callback: Callback | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.prototypes_per_class = prototypes_per_class
        self.n_components = n_components
        self.localization = localization
        self.norm = norm
        self.mask = mask
        self.symmetric = symmetric
        self.metric_init = metric_init
        self.regularization = regularization
        self.init = init
        self.squashing = squashing
        self.slope = slope
        self.neighborhood_range = neighborhood_range
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.missing = missing
        self.calibration = calibration
        self.reject_threshold = reject_threshold
        self.reject_label = reject_label
        self.contamination = contamination
        self.callback = callback
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @blockwise
    def local_transform(self, X: ArrayLike) -> Array:
        """Project samples, relative to each prototype, with the matrix of that prototype.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        Z : ndarray of shape (n_samples, k, M)
            Projections ``Omega_p (x - w_p)``, whose squared length is the distance to prototype p. The axes of
            different prototypes are unrelated.
        """
        X = self._check_new(X)
        A, slots = self._matrices("local_transform")
        views = [np.nan_to_num(X - w) @ A[s].T for w, s in zip(self.prototypes_, slots)]
        return np.stack(views, axis=1).astype(X.dtype)

    def _omegas(self) -> Floats:
        return self.omegas_

    def _store_metric(self, theta: Theta) -> Theta:
        omegas = self._metric.matrices(theta)
        self.omegas_ = np.stack([self._canonical(omega) for omega in omegas]) if self._rotates() else omegas
        return (self.omegas_,) if self._rotates() else theta


@documented
class LLiRaMLVQ(_WithView):
    r"""Localized limited-rank matrix LVQ, with a shared low-dimensional view and local matrices in it.

    The squared distance to prototype p is :math:`d_p = \|\Psi_p \Omega (x - w_p)\|^2`. The matrix :math:`\Omega` of
    shape (M, n_features), with :math:`\operatorname{tr} \Omega^\top \Omega = 1`, is shared by all prototypes. The
    matrices :math:`\Psi_p` of shape (M, M) belong to single classes or prototypes. Distances depend on :math:`\Omega x`
    alone, so the curved borders between classes can be drawn in the projection by :math:`\Omega`, the view.

    Parameters
    ----------
    prototypes_per_class : int or dict, default=1
        Number of prototypes per class: one number for all classes, or a dict from class labels to numbers.
    n_components : int, optional
        Dimension M of the view; by default 2, or 1 for a single feature.
    localization : {"class", "prototype"}, default="class"
        Whether each class or each prototype has its own :math:`\Psi`.
    metric_init : {"auto", "identity", "random", "discriminative"} or ndarray of shape (M, n_features), default="auto"
        Initial :math:`\Omega`. ``"auto"`` and ``"discriminative"`` use the directions of linear discriminant analysis.
        Every :math:`\Psi` is initialized with the identity.
    regularization : float, default=0.05
        Weight of the mean logarithm of the singular values of the matrices. This term prevents directions from
        collapsing to zero.
    %(parameters)s

    Attributes
    ----------
    omega_ : ndarray of shape (M, n_features)
        The shared matrix :math:`\Omega` for features in their original units; in canonical form after multiplication by
        ``scale_``, see `GMLVQ`.
    psis_ : ndarray of shape (s, M, M)
        The local matrices :math:`\Psi`.
    relevance_matrix_ : ndarray of shape (n_features, n_features)
        Relevance matrix :math:`\Omega^\top \Omega` for standardized features, with trace one.
    relevances_ : ndarray of shape (n_features,)
        Relevance of each feature, in units of its standard deviation: the diagonal of the relevance matrix.
    eigenvalues_ : ndarray of shape (M,)
        Eigenvalues of the relevance matrix, in descending order.
    %(scale)s
    %(importances)s
    %(attributes)s

    References
    ----------
    Biehl, Hammer and Schneider (2006). Matrix learning in learning vector quantization. Technical report IfI-06-14, TU
    Clausthal.

    Bunte (2011). Adaptive dissimilarity measures, dimension reduction and visualization. PhD thesis, University of
    Groningen, chapters 2 and 3.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protolearn import LLiRaMLVQ
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LLiRaMLVQ().fit(X, y)
    >>> model.transform(X).shape, model.psis_.shape
    ((150, 2), (3, 2, 2))
    """

    def __init__(
        self,
        prototypes_per_class: int | dict[Any, int] = 1,
        *,
        n_components: int | None = None,
        localization: str = "class",
        metric_init: str | ArrayLike = "auto",
        regularization: float = 0.05,
        init: str | ArrayLike = "neural_gas",
        squashing: str = "sigmoid",
        slope: float | tuple[float, float] | None = None,
        neighborhood_range: float | None = None,
        solver: str | Solver = "auto",
        max_iter: int | None = None,
        tol: float = 1e-06,
        class_weight: dict[Any, float] | str | None = None,
        warm_start: bool = False,
        early_stopping: bool | str = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 10,
        missing: str = "error",
        calibration: int | None = None,
        reject_threshold: float = 0.0,
        reject_label: Any = -1,
        contamination: float | None = None,
        callback: Callback | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.prototypes_per_class = prototypes_per_class
        self.n_components = n_components
        self.localization = localization
        self.metric_init = metric_init
        self.regularization = regularization
        self.init = init
        self.squashing = squashing
        self.slope = slope
        self.neighborhood_range = neighborhood_range
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.missing = missing
        self.calibration = calibration
        self.reject_threshold = reject_threshold
        self.reject_label = reject_label
        self.contamination = contamination
        self.callback = callback
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _rank(self) -> int:
        return min(2, self.n_features_in_) if self.n_components is None else super()._rank()

    def _structure(self, frame: Frame, samples: TrainingSamples) -> Metric:
        rank = min(self._rank(), samples.n_features)
        return ProductMetric(rank, localization=self.localization, start_at=self._start_at(frame, samples))

    def _store_metric(self, theta: Theta) -> Theta:
        (omega,), psi = theta
        self.omega_ = self._canonical(omega)
        self.psis_ = psi @ ((omega * self.scale_) @ np.linalg.pinv(self.omega_ * self.scale_))
        return self.omega_[None], self.psis_
