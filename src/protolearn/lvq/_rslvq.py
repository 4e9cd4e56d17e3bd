"""Robust soft LVQ: prototypes as centers of Gaussians, trained by maximum likelihood of the class labels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from protolearn.core.parameters import instance, option, positive
from protolearn.core.partitions import blockwise
from protolearn.core.types import Array, Floats
from protolearn.lvq._callback import Callback
from protolearn.lvq._docs import documented
from protolearn.lvq._gmlvq import MatrixLVQ
from protolearn.lvq._start import Frame
from protolearn.lvq.cost import Cost, CrossEntropy, log_posteriors
from protolearn.lvq.problem import Problem
from protolearn.lvq.relevance import (
    LOCALIZATIONS,
    DiagonalMetric,
    EuclideanMetric,
    MatrixMetric,
    Metric,
    Relevance,
    Theta,
)
from protolearn.lvq.samples import Labeled, TrainingSamples
from protolearn.lvq.solvers import LBFGS, Solver

__all__ = ["RSLVQ"]

SHARE = 0.1  # of the mean distance to the nearest prototype of the class that the squared width is
ENOUGH = 20_000  # samples from which this mean is taken
FEW_ITERATIONS = 15  # of L-BFGS, after which probabilities of new samples become worse


@documented
class RSLVQ(MatrixLVQ):
    r"""Robust soft learning vector quantization, optionally with a learned metric.

    Each prototype is the center of a Gaussian; all Gaussians have the same width :math:`\sigma` and prior. The
    probability of class c is the share of its prototypes in the mixture,

    .. math:: p(c \mid x) = \frac{\sum_{p:\, c_p = c} \exp(-d_p / 2\sigma^2)}{\sum_p \exp(-d_p / 2\sigma^2)},

    where :math:`d_p` is the squared distance to prototype p and :math:`c_p` its class. Prototypes and metric minimize
    the cross-entropy, the mean of :math:`-\log p(y \mid x)`, minus ``regularization`` times the mean logarithm of the
    singular values of the metric. With a small width only misclassified samples and samples near a class border
    contribute, and the update rule approaches learning from mistakes.

    `predict` returns the class of the nearest prototype, as in the publication, and `predict_proba` returns
    :math:`p(c \mid x)`. With one prototype per class they always agree. With several, a class with many prototypes
    nearby can be more probable than the class of the nearest prototype.

    If the training samples are separable, the cost has no minimum, and probabilities become more and more extreme
    during training. L-BFGS therefore stops after 15 iterations by default.

    Parameters
    ----------
    prototypes_per_class : int or dict, default=1
        Number of prototypes per class: one number for all classes, or a dict from class labels to numbers.
    metric : {"euclidean", "diagonal", "matrix"} or Metric, default="euclidean"
        Distance between samples and prototypes: squared Euclidean distance, a learned relevance for each feature, or a
        learned relevance matrix (matrix RSLVQ). For other distances, pass an object with the methods of
        `protolearn.lvq.Metric`.
    localization : {"global", "class", "prototype"}, default="global"
        Whether all prototypes share the relevances or the matrix, or each class or each prototype has its own.
    n_components : int, optional
        Number of rows M of a matrix, which limits its rank; by default the number of features. Other metrics ignore
        this parameter.
    metric_init : {"auto", "identity", "random", "discriminative"} or ndarray of shape ([s,] M, N), default="auto"
        Initial matrices. ``"discriminative"`` uses the directions of linear discriminant analysis. ``"auto"`` is
        ``"discriminative"`` if ``n_components`` is below the number of features, and ``"identity"`` otherwise.
    width : float or "auto", default="auto"
        Standard deviation :math:`\sigma` of the Gaussians, in the unit of the square root of `distances`. ``"auto"``
        sets the variance to a tenth of the mean squared distance of the samples to the nearest prototype of their class
        before training.
    regularization : float, default=0.05
        Weight of the mean logarithm of the singular values of the matrix, or of the square roots of the relevances.
        This term prevents directions from collapsing to zero.
    %(init)s
    %(optimization)s
    %(answers)s
    %(running)s

    Attributes
    ----------
    width_ : float
        Standard deviation of the Gaussians.
    relevances_ : ndarray of shape (n_features,) or (s, n_features)
        Relevance of each feature, if the metric is learned; with local metrics, for each class or prototype.
    relevance_matrix_ : ndarray of shape (n_features, n_features) or (s, n_features, n_features)
        The relevance matrix, with trace one, if the metric is learned.
    eigenvalues_ : ndarray of shape (M,) or (s, M)
        Eigenvalues of the relevance matrix, in descending order.
    metric_parameters_ : tuple of ndarray
        Learned parameters of the metric, if it has any.
    %(attributes)s

    See Also
    --------
    GMLVQ : Minimizes a function of relative distances instead.

    References
    ----------
    Seo and Obermayer (2003). Soft learning vector quantization. Neural Computation 15.

    Schneider, Biehl and Hammer (2009). Distance learning in discriminative vector quantization. Neural Computation 21.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protolearn import RSLVQ
    >>> X, y = load_iris(return_X_y=True)
    >>> model = RSLVQ(metric="matrix").fit(X, y)
    >>> model.score(X, y) > 0.95
    True
    >>> model.predict_proba(X[:1]).round(2)
    array([[1., 0., 0.]])
    """

    _constraints = {
        "metric": option("euclidean", "diagonal", "matrix") | instance(Metric),
        "localization": option(*LOCALIZATIONS),
        "width": positive | option("auto"),
    }

    slope = None
    _ends_early = True

    def __init__(
        self,
        prototypes_per_class: int | dict[Any, int] = 1,
        *,
        metric: str | Metric = "euclidean",
        localization: str = "global",
        n_components: int | None = None,
        metric_init: str | ArrayLike = "auto",
        width: float | str = "auto",
        regularization: float = 0.05,
        init: str | ArrayLike = "neural_gas",
        solver: str | Solver = "auto",
        max_iter: int | None = None,
        tol: float = 1e-06,
        class_weight: dict[Any, float] | str | None = None,
        warm_start: bool = False,
        early_stopping: bool | str = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 10,
        missing: str = "error",
        reject_threshold: float = 0.0,
        reject_label: Any = -1,
        contamination: float | None = None,
        callback: Callback | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.prototypes_per_class = prototypes_per_class
        self.metric = metric
        self.localization = localization
        self.n_components = n_components
        self.metric_init = metric_init
        self.width = width
        self.regularization = regularization
        self.init = init
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.missing = missing
        self.reject_threshold = reject_threshold
        self.reject_label = reject_label
        self.contamination = contamination
        self.callback = callback
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @blockwise
    def predict_proba(self, X: ArrayLike) -> Floats:
        """Return the probability ``p(c | x)`` of each class under the mixture of Gaussians around the prototypes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            One column for each of ``classes_``.
        """
        return np.exp(self._log_posteriors(self._check_new(X)))

    @blockwise
    def decision_function(self, X: ArrayLike) -> Floats:
        """Return the logarithm of the class probabilities that `predict_proba` returns.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            Score of each class. For two classes, a single score per sample: the log-odds of the second class.
        """
        logs = self._log_posteriors(self._check_new(X))
        return logs[:, 1] - logs[:, 0] if logs.shape[1] == 2 else logs

    def _log_posteriors(self, X: Array) -> Floats:
        width = self.width_ or np.finfo(np.float64).eps  # crisp, as long as no two samples of a stream differ
        return self._over_chunks(
            lambda part: log_posteriors(self._measure(part), self._codes, len(self.classes_), width), X
        )

    def _check_parameters(self) -> None:
        super()._check_parameters()
        learned = isinstance(self.metric, str) and self.metric != "euclidean"
        if self.localization != "global" and not learned:
            raise ValueError(
                f"localization={self.localization!r} requires learned relevances; use metric='diagonal' or "
                f"metric='matrix', or a local metric object, instead of metric={self.metric!r}."
            )
        if not self._is_matrix() and not (isinstance(self.metric_init, str) and self.metric_init == "auto"):
            raise ValueError(
                f"metric_init={self.metric_init!r} applies to matrices only; leave it at 'auto', or use "
                "metric='matrix'."
            )

    @property
    def _standardizes(self) -> bool:  # type: ignore[override]
        return isinstance(self.metric, str) and self.metric != "euclidean"

    def _is_matrix(self) -> bool:
        return isinstance(self.metric, str) and self.metric == "matrix"

    def _rotates(self) -> bool:
        return self._is_matrix()

    def _frame(self, samples: TrainingSamples, rescales: bool, resumes: bool) -> Frame:
        if isinstance(self.metric, Metric) and not isinstance(self.metric, Relevance):
            return Frame(np.zeros(samples.n_features))  # how its distances change with the scale is not known
        return super()._frame(samples, rescales, resumes)

    def _structure(self, frame: Frame, samples: TrainingSamples) -> Metric:
        if self._is_matrix():
            return super()._structure(frame, samples)
        if isinstance(self.metric, Metric):
            return super(MatrixLVQ, self)._structure(frame, samples)
        return EuclideanMetric() if self.metric == "euclidean" else DiagonalMetric(self.localization)

    def _store_metric(self, theta: Theta) -> Theta:
        return (np.stack([self._canonical(omega) for omega in theta[0]]),) if self._is_matrix() else theta

    def _omegas(self) -> Floats:
        if not isinstance(self._metric, DiagonalMetric | MatrixMetric):
            raise AttributeError(f"metric={self.metric!r} learns no relevances.")
        omegas = self._theta[0] if self._is_matrix() else self._theta[0][..., None] * np.eye(self.n_features_in_)
        return omegas[0] if self.localization == "global" else omegas

    def _begin(
        self, frame: Frame, samples: TrainingSamples, resumes: bool, rng: np.random.RandomState
    ) -> tuple[Metric, Floats, Theta]:
        if not resumes:
            self.width_ = 0.0
        return super()._begin(frame, samples, resumes, rng)

    def _problem(
        self, frame: Frame, metric: Metric, samples: TrainingSamples, W: Floats, theta: Theta, n_threads: int
    ) -> Problem:
        if not isinstance(self.width, str):
            self.width_ = float(self.width)
        elif self.width_ == 0:  # not known yet; still so after batches of a stream whose samples do not differ
            self.width_ = frame.length * self._first_width(metric, samples, W, theta)
        return super()._problem(frame, metric, samples, W, theta, n_threads)

    def _first_width(self, metric: Metric, samples: TrainingSamples, W: Floats, theta: Theta) -> float:
        """Return the root of a share of the mean distance to the nearest prototype of the class."""
        codes = self._codes

        def sums(part: Labeled) -> Floats:
            D = metric.measure(part.X, W, codes, theta)[0]
            nearest = np.where(part.y[:, None] == codes, D, np.inf).min(axis=1)
            return np.array([part.u @ nearest, part.u.sum()])

        total, mass = samples.thinned(ENOUGH).sum(sums)
        return float(np.sqrt(SHARE * total / mass))

    def _cost(self, frame: Frame) -> Cost:
        return CrossEntropy(self.width_ / frame.length or 1.0)

    def _default_iterations(self, solver: Solver) -> int:
        return FEW_ITERATIONS if isinstance(solver, LBFGS) else super()._default_iterations(solver)

    def _fit_temperature(self, samples: TrainingSamples) -> None:
        """Do nothing: probabilities follow from the width."""
