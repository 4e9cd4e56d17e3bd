"""Neural gas with local PCA: prototypes that learn their principal directions, one sample at a time or in batches."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy, deepcopy
from dataclasses import replace
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClusterMixin
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if

from protolearn.core.cooperation import Cooperation, Ranks
from protolearn.core.estimator import keep, nothing_lost
from protolearn.core.initialisation import inverse_cdf, mean_and_variance, sampling_order
from protolearn.core.loop import nearest, stage, winners
from protolearn.core.shapes import Shapes
from protolearn.core.sources import ArraySource
from protolearn.core.threads import chunk_threads
from protolearn.core.validation import check_number, check_option
from protolearn.maps._base import PrototypeMap, require_samples
from protolearn.maps._docs import documented
from protolearn.maps._shaped import ShapedMap
from protolearn.maps._state import Model, Samples

__all__ = ["NGPCA"]

MEASURES = ("combined", "euclidean", "mahalanobis", "reconstruction")  # in the order of the compiled loop
ONLINE_PCA = ("rrlsa", "gram_schmidt", "sanger", "ccipca")
REGION_STEPS = 3000  # presentations to each region in the second of two stages
BLOCK = 1000  # presentations between two looks at the keyboard


def _learns_on(estimator: Any) -> bool:
    """Say whether more samples can be learned from later: two stages need all at once."""
    return estimator.algorithm != "two-stage"


@documented
class NGPCA(ClusterMixin, ShapedMap):
    r"""Neural gas with local PCA: every prototype is an ellipsoid with a few principal directions.

    A sample is presented to all prototypes; they learn, by their rank in the distance

    .. math:: d_i(x) = \sum_a \frac{y_a^2}{\lambda_{ia}} + \frac{\|x - w_i\|^2 - \|y\|^2}{\lambda_i^*}
              + \sum_a \ln \lambda_{ia} + (n - m) \ln \lambda_i^*,

    where y are the coordinates along the m directions of prototype i: twice the negative logarithm of a normal density,
    up to a constant. Online, as it was first described, each step moves a prototype towards the sample and takes one
    step of an online PCA. In batches, all samples are ranked, and prototypes and directions take their optimum: this
    minimises :math:`\tfrac12 \sum_j \sum_i e^{-k_{ij}/\lambda} d_i(x_j)`, uses all cores, and is the choice for large
    data. Use the map as a density, to complete vectors, to compress, or with `PrototypeClassifier` to classify.

    Parameters
    ----------
    %(size)s
    n_components : int, default=2
        Number of directions of each prototype, at most the number of features.
    algorithm : {"online", "batch", "two-stage"}, default="online"
        How it learns: from one random sample at a time; from all samples in every epoch; or online, first positions by
        neural gas and then directions within each receptive field.
    measure : {"combined", "euclidean", "mahalanobis", "reconstruction"}, default="combined"
        What prototypes are ranked by: the distance above, that of the centres, the part of it in the principal
        directions, or the squared distance to the subspace, as in `VQPCA`.
    n_steps : int, default=30000
        Number of samples presented online, over which range and learning rate fall.
    max_iter : int, default=30
        Number of epochs of the batch algorithm, over which the range falls.
    range_start : float or "auto", default="auto"
        First range; ``"auto"`` is 2, and 0.5 if prototypes start at the result of neural gas.
    range_end : float, default=0.01
        Last range.
    learning_rate_start, learning_rate_end : float, default=0.5, 0.005
        First and last step size online. The variances learned vary by about the square root of the last.
    variance_start : float or "auto", default="auto"
        First variance of all directions, and of the rest together; by default the mean variance of a feature.
    online_pca : {"rrlsa", "gram_schmidt", "sanger", "ccipca"}, default="rrlsa"
        The step of online PCA: recursive least squares with orthonormalisation built in, or as a step of its own, the
        generalised Hebbian rule, or candid covariance-free incremental PCA.
    refresh : int, default=1000
        Directions are made orthonormal anew after so many steps.
    epsilon : float, default=1e-6
        Smallest variance allowed, as a share of the mean variance (online: of a feature; batch: of the prototype).
    init : {"auto", "random", "k-means++", "center", "pca", "euclidean"} or array, default="auto"
        Where prototypes start; ``"auto"`` is random samples online, and the result of neural gas in batches.
    n_init : int, default=1
        Number of starts of the batch algorithm, unless ``init`` is an array; the result with the lowest cost is kept.
    %(running)s

    Attributes
    ----------
    %(attributes)s
    n_steps_ : int
        Number of samples presented so far.

    See Also
    --------
    MatrixNeuralGas : The same batch algorithm with all directions, labels and patches.
    MixturePPCA : The probabilistic relative.

    References
    ----------
    Moeller, Hoffmann (2004). An extension of neural gas to local PCA. Neurocomputing.

    Examples
    --------
    >>> from protolearn import NGPCA
    >>> from protolearn.datasets import make_vortex
    >>> X, _ = make_vortex(random_state=0)
    >>> model = NGPCA(20, 2, random_state=0).fit(X)
    >>> -11 < model.score(X) < -10
    True
    >>> model = NGPCA(20, 2, algorithm="batch", random_state=0).fit(X)
    >>> -11 < model.score(X) < -10
    True
    """

    schedule = "geometric"
    label_weight = 0.0
    magnification = 0.0
    patch_size = None
    patch_runs = 1
    decay = 1.0
    _algorithms = ("online", "batch", "two-stage")

    def __init__(
        self,
        n_prototypes: int | str = "auto",
        n_components: int = 2,
        *,
        algorithm: str = "online",
        measure: str = "combined",
        n_steps: int = 30000,
        max_iter: int = 30,
        range_start: float | str = "auto",
        range_end: float = 0.01,
        learning_rate_start: float = 0.5,
        learning_rate_end: float = 0.005,
        variance_start: float | str = "auto",
        online_pca: str = "rrlsa",
        refresh: int = 1000,
        epsilon: float = 1e-6,
        init: str | ArrayLike = "auto",
        n_init: int = 1,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_prototypes = n_prototypes
        self.n_components = n_components
        self.algorithm = algorithm
        self.measure = measure
        self.n_steps = n_steps
        self.max_iter = max_iter
        self.range_start = range_start
        self.range_end = range_end
        self.learning_rate_start = learning_rate_start
        self.learning_rate_end = learning_rate_end
        self.variance_start = variance_start
        self.online_pca = online_pca
        self.refresh = refresh
        self.epsilon = epsilon
        self.init = init
        self.n_init = n_init
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    fit_predict = PrototypeMap.fit_predict

    @nothing_lost
    def fit(self, X: Any, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> Self:
        """Learn prototypes and their directions.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or iterator of patches
            Samples. An iterator yields patches ``X``, ``(X, y)`` or ``(X, y, sample_weight)``; online, every sample of
            a patch is presented about once.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,), optional
            Weight of each sample; samples are presented in proportion to it.

        Returns
        -------
        self : object
            The fitted map. If the fit is interrupted from the keyboard, or fails in a later patch, what was learned so
            far is kept.
        """
        if isinstance(X, Iterator) and self.algorithm == "online":
            self.__dict__.pop("_model", None)
            for patch in X:
                self.partial_fit(*(patch if isinstance(patch, tuple) else (patch,)))
                keep(self)
            return self
        return super().fit(X, y, sample_weight)

    @available_if(_learns_on)
    @nothing_lost
    def partial_fit(self, X: ArrayLike, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> Self:
        """Present more samples, as many as given, drawn in proportion to their weight; range and rate fall on.

        The batch algorithm trains on the samples together with the prototypes so far, which stand for all before.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples; the first must be at least as many as there are prototypes.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,), optional
            Weight of each sample.

        Returns
        -------
        self : object
            The fitted map. After ``n_steps`` presentations, range and rate stay at their last values.
        """
        if self.algorithm == "batch":
            return super().partial_fit(X, y, sample_weight)
        self._check_parameters()
        model = getattr(self, "_model", None)
        samples = self._read(X, y, sample_weight, reset=model is None)
        rng = check_random_state(self.random_state) if model is None else deepcopy(self._rng)
        with chunk_threads(self.n_jobs) as n_threads:
            if model is None:
                model = self._sized(samples)._begin(samples, rng, n_threads)
            self._check_unchanged(model)
            model = self._present(samples, model, rng, len(samples.X), n_threads)
        self._rng = rng
        self._store(model)
        if model.interrupted:
            keep(self)
            raise KeyboardInterrupt
        return self

    @property
    def _measure(self) -> str:
        return "logdet" if self.measure == "combined" else self.measure

    def _check_parameters(self) -> None:
        check_option("measure", self.measure, MEASURES)
        super()._check_parameters()
        if self.n_prototypes != "auto":
            check_number("n_prototypes", self.n_prototypes, integer=True, low=1, also=" or 'auto'")
        check_number("n_steps", self.n_steps, integer=True, low=1)
        check_number("refresh", self.refresh, integer=True, low=1)
        if self.range_start != "auto":
            check_number("range_start", self.range_start, low=0, open_low=True, also=" or 'auto'")
        check_number("range_end", self.range_end, low=0, open_low=True)
        check_option("online_pca", self.online_pca, ONLINE_PCA)
        if self.variance_start != "auto":
            check_number("variance_start", self.variance_start, low=0, open_low=True, also=" or 'auto'")

    def _cooperation(self, source: ArraySource) -> Cooperation:
        return Ranks()

    def _size(self, cooperation: Cooperation) -> int:
        assert not isinstance(self.n_prototypes, str)
        return self.n_prototypes

    def _ranges(self, cooperation: Cooperation, resumed: bool) -> NDArray[np.float64]:
        return self._falling(self._first_range(), self.range_end)

    def _first_range(self) -> float:
        if self.range_start != "auto":
            return float(self.range_start)
        ordered = isinstance(self.init, str) and self.init in ("auto", "euclidean") and self.algorithm == "batch"
        return max(0.5, self.range_end) if ordered else max(2.0, self.range_end)

    def _learn(
        self, patch: Samples, model: Model | None, rng: np.random.RandomState, n_threads: int, decay: float
    ) -> Model:
        if self.algorithm == "batch":
            return super()._learn(patch, model, rng, n_threads, decay)
        model = self._begin(patch, rng, n_threads)
        return self._present(patch, model, rng, self.n_steps, n_threads)

    # Learning one sample at a time

    def _begin(self, patch: Samples, rng: np.random.RandomState, n_threads: int) -> Model:
        """Return units at their first positions, with random directions and equal variances."""
        cooperation = Ranks()
        k = self._size(cooperation)
        require_samples(int(np.count_nonzero(patch.weights)), k)
        source = ArraySource(patch.X, weights=patch.weights, n_threads=n_threads)
        q, d = self._rule(source.n_features).n_components, source.n_features
        starting = copy(self)
        starting.init = "random" if isinstance(self.init, str) and self.init == "auto" else self.init
        positions = starting._start(source, cooperation, patch, None, rng) + source.origin
        unit = float(mean_and_variance(source)[1].mean()) or 1.0
        first = unit if self.variance_start == "auto" else float(self.variance_start)
        axes = np.swapaxes(np.linalg.qr(rng.normal(size=(k, d, q)))[0], 1, 2)
        return Model(
            cooperation,
            positions,
            None,
            None,
            None,
            masses=np.zeros(k),
            winners=np.empty(0, np.int64),
            graph=None,
            costs=[],
            ranges=[],
            interrupted=False,
            shapes=Shapes(np.ascontiguousarray(axes), np.full((k, q), first), np.full(k, first / max(d - q, 1))),
            scale=np.ones(d),
            unit=unit,
        )

    def _present(self, patch: Samples, model: Model, rng: np.random.RandomState, n_steps: int, n_threads: int) -> Model:
        """Present samples, drawn in proportion to their weights, to the units of a model."""
        from protolearn.maps._ngpca_kernels import present

        source = ArraySource(patch.X, weights=patch.weights, n_threads=n_threads)
        order = sampling_order(source, rng)
        units = _Units.of(model)
        two_stages = self.algorithm == "two-stage"
        measure = MEASURES.index("euclidean" if two_stages else self.measure)
        settings = (ONLINE_PCA.index(self.online_pca), self.refresh, self.epsilon * model.unit)
        drawn = _draw(source.weights, order, n_steps, rng)
        passed = np.minimum(np.arange(model.n_steps, model.n_steps + n_steps) / self.n_steps, 1.0)
        ranges, rates = _falling(self._first_range(), self.range_end, passed), self._rates(passed)
        X, done, interrupted = np.ascontiguousarray(patch.X), 0, False
        try:
            while done < n_steps:
                part = slice(done, done + BLOCK)
                present(X, drawn[part], *units, ranges[part], rates[part], measure, *settings, model.n_steps + done)
                done = min(done + BLOCK, n_steps)
                self._report_steps(done, n_steps, ranges[done - 1], rates[done - 1])
            if two_stages:
                units = self._settled(
                    X, source.weights, order, units.centers, _Units.of(model), settings, rng, n_threads
                )
        except KeyboardInterrupt:
            if not done:
                raise
            interrupted = True
        seen = replace(
            model,
            positions=units.centers.astype(X.dtype),
            shapes=units.shapes(),
            changed=(units.variances <= settings[-1]).sum(axis=1),
            n_steps=model.n_steps + done,
            interrupted=interrupted,
        )
        first, second = winners(*self._stage(X, seen, n_threads))
        masses = model.masses + np.bincount(first, patch.weights, len(units.centers))
        return replace(seen.showing(patch.weights, first, second), masses=masses)

    def _settled(
        self,
        X: NDArray[Any],
        weights: NDArray[Any],
        order: NDArray[np.int64],
        centers: NDArray[np.float64],
        units: _Units,
        settings: tuple[int, int, float],
        rng: np.random.RandomState,
        n_threads: int,
    ) -> _Units:
        """Return units that learned their directions within receptive fields, whose centres stay."""
        from protolearn.maps._ngpca_kernels import settle

        regions = nearest(*stage(X, centers, n_threads))[order]
        rates = self._rates(np.arange(REGION_STEPS) / REGION_STEPS)
        for i in np.unique(regions):
            chosen = _draw(weights, order[regions == i], REGION_STEPS, rng)
            shape = (units.axes[i], units.variances[i], units.residual[i : i + 1])
            settle(X, chosen, centers[i], *shape, rates, *settings)
        return units._replace(centers=centers)

    def _rates(self, passed: NDArray[np.float64]) -> NDArray[np.float64]:
        return _falling(self.learning_rate_start, self.learning_rate_end, passed)

    def _report_steps(self, done: int, n_steps: int, range_: float, rate: float) -> None:
        every = BLOCK if self.verbose > 1 else max(BLOCK, n_steps // 10 // BLOCK * BLOCK)
        if self.verbose and (done % every == 0 or done == n_steps):
            print(f"[NGPCA] step {done}/{n_steps}  range {range_:.3g}  rate {rate:.3g}", flush=True)

    def _store(self, model: Model) -> None:
        super()._store(model)
        self.n_steps_ = model.n_steps
        self.n_iter_ = max(self.n_iter_, 1)


class _Units(NamedTuple):
    """What the compiled loop changes: centres (k, d), axes (k, q, d), variances (k, q), residual variances (k,)."""

    centers: NDArray[np.float64]
    axes: NDArray[np.float64]
    variances: NDArray[np.float64]
    residual: NDArray[np.float64]

    @classmethod
    def of(cls, model: Model) -> _Units:
        shapes = model.shapes
        assert shapes is not None
        residual = shapes.rest * shapes.n_other
        return cls(model.positions.astype(np.float64), shapes.axes.copy(), shapes.variances.copy(), residual)

    def shapes(self) -> Shapes:
        n_other = self.axes.shape[2] - self.axes.shape[1]
        return Shapes(self.axes, self.variances, self.residual / n_other if n_other else np.ones(len(self.axes)))


def _falling(start: float, end: float, passed: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return what falls from start to end by the same factor at every step, after a share of all steps."""
    return start * (end / start) ** passed  # Moeller & Hoffmann 2004, sec. 2


def _draw(
    weights: NDArray[Any], order: NDArray[np.int64], n_steps: int, rng: np.random.RandomState
) -> NDArray[np.int64]:
    """Draw samples in proportion to their weights, from an order that depends on their values only."""
    return order[inverse_cdf(np.cumsum(weights[order], dtype=np.float64), rng.random_sample(n_steps))]
