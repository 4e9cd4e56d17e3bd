"""Matrix LVQ: a learned rotation and scaling of the features, one for all prototypes or one for each."""

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
    """What classifiers with matrices share: rank, start, and relevances."""

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
        """Relevance of each feature, in standard deviations: the diagonal of the relevance matrix."""
        return np.einsum("...mi,...mi->...i", *[self._omegas() * self.scale_] * 2)

    @property
    def relevance_matrix_(self) -> Floats:
        """The relevance matrix ``Lambda = Omega^T Omega`` for standardized features."""
        omega = self._omegas() * self.scale_
        *s, _, N = omega.shape
        n_bytes = 2 * 8 * int(np.prod(s)) * N**2
        require_memory(f"relevance_matrix_ of {N} features", n_bytes, "use relevances_, or the matrices it is made of")
        return omega.swapaxes(-1, -2) @ omega

    @property
    def eigenvalues_(self) -> Floats:
        """Eigenvalues of the relevance matrix in falling order, at most M of them."""
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
        """Project samples by Omega: Euclidean distances in the view are the learned ones.

        Where values are missing, those of the mean of the training samples are taken.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        Z : ndarray of shape (n_samples, M)
            Projected samples, the most discriminative direction first.
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
    """Generalized matrix LVQ: learns prototypes and a relevance matrix, of limited rank if so wanted (LiRaM LVQ).

    The distance is ``d = |Omega (x - w)|^2 = (x - w)^T Lambda (x - w)`` with ``Lambda = Omega^T Omega`` of trace one,
    for features in standard deviations, so that their units do not matter: relevant features and combinations of
    features count more. Prototypes and Omega minimize the mean of ``phi(mu)``,
    ``mu = (d_J - d_K) / (d_J + d_K)``, minus ``regularization`` times the mean logarithm of the singular values of
    Omega.

    Parameters
    ----------
    prototypes_per_class : int or dict, default=1
        Number of prototypes of every class, or of each class by its label.
    n_components : int, optional
        Number of rows M of the matrix, which limits its rank and is the dimension of `transform`; by default the number
        of features. If samples differ in fewer directions, there are only as many rows.
    mask : int or array-like of shape (M, n_features), optional
        Entries of Omega that may differ from zero: booleans, or the half-width of a band around the diagonal, as suits
        features in spatial or temporal order.
    symmetric : bool, default=False
        Whether Omega is kept symmetric.
    metric_init : {"auto", "identity", "random", "discriminative"} or ndarray of shape (M, n_features), default="auto"
        Where the matrix starts. ``"discriminative"`` takes the directions of linear discriminant analysis; ``"auto"``
        does that for ``n_components`` below the number of features, and otherwise starts at the identity.
    regularization : float or "auto", default="auto"
        Weight of the mean logarithm of the singular values of the matrices, a term that keeps all of their directions
        alive and guards against overfitting. ``"auto"`` takes 0.1 times the number of rows of all matrices for each
        sample, so that the term fades as samples come.
    %(parameters)s

    Attributes
    ----------
    omega_ : ndarray of shape (M, n_features)
        The matrix, for features as they were given. Times ``scale_`` it is that for standardized features; unless
        masked or symmetric, in canonical form: rows are eigenvectors of the relevance matrix times the roots of their
        eigenvalues, in falling order, with their largest entry positive.
    relevance_matrix_ : ndarray of shape (n_features, n_features)
        ``Lambda = Omega^T Omega`` for standardized features, of trace one.
    relevances_ : ndarray of shape (n_features,)
        Its diagonal: the relevance of each feature, measured in standard deviations.
    eigenvalues_ : ndarray of shape (M,)
        Its eigenvalues, in falling order.
    %(scale)s
    %(importances)s
    %(attributes)s

    See Also
    --------
    LGMLVQ : A matrix for each prototype.

    References
    ----------
    Biehl, Hammer and Schneider (2006). Matrix learning in learning vector quantization. Technical report IfI-06-14, TU
    Clausthal. Bunte (2011). Adaptive dissimilarity measures, dimension reduction and visualization. PhD thesis,
    University of Groningen, chapters 2 and 3.

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
    """Localized generalized matrix LVQ: each prototype, or each class, has a relevance matrix of its own.

    The distance to prototype p is ``d = |Omega_p (x - w_p)|^2``, so borders between classes are curved and cells need
    not be convex. The traces of ``Omega_p^T Omega_p`` are one in the mean: a matrix of small trace makes a wide class.

    Parameters
    ----------
    prototypes_per_class : int or dict, default=1
        Number of prototypes of every class, or of each class by its label.
    n_components : int, optional
        Number of rows M of each matrix, which limits its rank; by default the number of features. If samples differ in
        fewer directions, there are only as many rows.
    localization : {"prototype", "class"}, default="prototype"
        Who has a matrix of its own.
    norm : {"common", "each"}, default="common"
        Whether the relevances of all matrices add up to one in the mean, so that one class can be wider than another,
        or those of each matrix, as first published.
    mask : int or array-like of shape (M, n_features), optional
        Entries of the matrices that may differ from zero: booleans, or the half-width of a band around the diagonal.
    symmetric : bool, default=False
        Whether the matrices are kept symmetric.
    metric_init : {"auto", "identity", "random", "discriminative"} or ndarray of shape ([s,] M, N), default="auto"
        Where the matrices start. ``"discriminative"`` takes the directions of linear discriminant analysis; ``"auto"``
        does that for ``n_components`` below the number of features, and otherwise starts at the identity.
    regularization : float or "auto", default="auto"
        Weight of the mean logarithm of the singular values of the matrices, a term that keeps all of their directions
        alive and guards against overfitting. ``"auto"`` takes 0.1 times the number of rows of all matrices for each
        sample, so that the term fades as samples come.
    %(parameters)s

    Attributes
    ----------
    omegas_ : ndarray of shape (s, M, n_features)
        The matrix of each prototype, or of each class, for features as they were given; unless masked or symmetric,
        in canonical form when multiplied by ``scale_``.
    relevance_matrix_ : ndarray of shape (s, n_features, n_features)
        The relevance matrices, of trace one in the mean (``norm``), for standardized features.
    relevances_ : ndarray of shape (s, n_features)
        Their diagonals.
    eigenvalues_ : ndarray of shape (s, M)
        Their eigenvalues, in falling order.
    %(scale)s
    %(importances)s
    %(attributes)s

    See Also
    --------
    GMLVQ : One matrix for all.
    LLiRaMLVQ : A shared view, and local matrices in it.

    References
    ----------
    Biehl, Hammer and Schneider (2006). Matrix learning in learning vector quantization. Technical report IfI-06-14, TU
    Clausthal. Bunte (2011). Adaptive dissimilarity measures, dimension reduction and visualization. PhD thesis,
    University of Groningen, chapters 2 and 3.

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
        """Project samples, relative to each prototype, by the matrix of that prototype.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        Z : ndarray of shape (n_samples, k, M)
            ``Omega_p (x - w_p)``; its squared length is the distance to prototype p. The views of different prototypes
            do not share their axes.
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
    """Localized limited-rank matrix LVQ: one shared view of low dimension, and a matrix for each class in it.

    The distance to prototype p is ``d = |Psi_p Omega (x - w_p)|^2`` with Omega (M, n_features) shared, of
    ``trace(Omega^T Omega) = 1``, and Psi (M, M) of each class or prototype. All distances depend on ``Omega x`` alone,
    so the curved borders between classes can be drawn in the view.

    Parameters
    ----------
    prototypes_per_class : int or dict, default=1
        Number of prototypes of every class, or of each class by its label.
    n_components : int, optional
        Dimension M of the view; by default 2, or 1 if there is only one feature.
    localization : {"class", "prototype"}, default="class"
        Who has a Psi of its own.
    metric_init : {"auto", "identity", "random", "discriminative"} or ndarray of shape (M, n_features), default="auto"
        Where Omega starts; ``"auto"`` and ``"discriminative"`` take the directions of linear discriminant analysis.
        Every Psi starts at the identity.
    regularization : float, default=0.05
        Weight of the mean logarithm of the singular values of the matrices, a term that keeps all directions alive.
    %(parameters)s

    Attributes
    ----------
    omega_ : ndarray of shape (M, n_features)
        The shared matrix, for features as they were given; in canonical form when multiplied by ``scale_``.
    psis_ : ndarray of shape (s, M, M)
        The local matrices.
    relevance_matrix_ : ndarray of shape (n_features, n_features)
        ``Omega^T Omega`` for standardized features, of trace one.
    relevances_ : ndarray of shape (n_features,)
        Its diagonal: the relevance of each feature, measured in standard deviations.
    eigenvalues_ : ndarray of shape (M,)
        Its eigenvalues, in falling order.
    %(scale)s
    %(importances)s
    %(attributes)s

    References
    ----------
    Biehl, Hammer and Schneider (2006). Matrix learning in learning vector quantization. Technical report IfI-06-14, TU
    Clausthal. Bunte (2011). Adaptive dissimilarity measures, dimension reduction and visualization. PhD thesis,
    University of Groningen, chapters 2 and 3.

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
