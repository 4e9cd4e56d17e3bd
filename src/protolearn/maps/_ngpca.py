"""Neural gas with local PCA: prototypes with adaptive principal directions, learned online or in batches."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClusterMixin
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if

from protolearn.core.estimator import keep, nothing_lost
from protolearn.core.initialization import inverse_cdf, mean_and_variance, random_axes, sampling_order
from protolearn.core.learning import Epochs, History
from protolearn.core.loop import batch, nearest, stage
from protolearn.core.map import GasFamily
from protolearn.core.neighborhoods import Neighborhood, Ranks
from protolearn.core.numerics import power_of_two
from protolearn.core.parameters import Constraint, fraction, integer, option, positive
from protolearn.core.progress import Progress
from protolearn.core.samples import Samples, require_samples
from protolearn.core.shapes import Shapes
from protolearn.core.threads import chunk_threads
from protolearn.core.types import Array, Floats, Indices
from protolearn.maps._base import OnlineEpochs
from protolearn.maps._docs import documented
from protolearn.maps._ellipsoids import FittedShapes
from protolearn.maps._shaped import ShapedMap

__all__ = ["NGPCA"]

MEASURES = ("combined", "euclidean", "mahalanobis", "reconstruction")  # in the order of the compiled loop
ONLINE_PCA = ("rrlsa", "gram_schmidt", "sanger", "ccipca")
REGION_STEPS = 3000  # presentations to each region in the second of two stages
REFRESH = 1000  # presentations after which the directions are orthonormalized again
FAR = 2.0**200  # from one: variances whose squares, and further products, are computed in another unit
BLOCK = 1000  # presentations between two looks at the keyboard


class NearTwo(Ranks):
    """Ranks with a first range of two, unless prototypes start in order."""

    def first(self, kind: Any) -> float:
        """Return the first range."""
        return max(0.5 if kind.starts_by("euclidean") else 2.0, self.radius[1])


def _learns_on(estimator: Any) -> bool:
    """Say whether more samples can be learned from later: two stages need all at once."""
    return estimator.algorithm != "two-stage"


@dataclass(frozen=True)
class _Presented(FittedShapes):
    """Ellipsoids learned online, after ``n_steps`` presentations; ``unit`` is the mean variance of the features."""

    n_steps: int
    unit: float


@documented
class NGPCA(ClusterMixin, GasFamily, ShapedMap):
    r"""Neural gas with local PCA, in which every prototype is an ellipsoid with a few principal directions.

    Each sample updates the prototypes, weighted by their rank with respect to the distance

    .. math:: d_i(x) = \sum_a \frac{y_a^2}{\lambda_{ia}} + \frac{\|x - w_i\|^2 - \|y\|^2}{\lambda_i^*}
              + \sum_a \ln \lambda_{ia} + (n - m) \ln \lambda_i^*,

    where y are the coordinates of the sample along the m directions of prototype i. Up to a constant, this distance is
    twice the negative logarithm of a normal density. The online algorithm is the original one: each step moves a
    prototype towards the sample and takes one step of an online PCA. The batch algorithm ranks all samples and then
    sets prototypes and directions to their optimum. It minimizes :math:`\tfrac12 \sum_j \sum_i e^{-k_{ij}/\lambda}
    d_i(x_j)`, uses all cores, and is recommended for large data sets. Use the map for density estimation, for
    imputation, for compression, or with `PrototypeClassifier` for classification.

    Parameters
    ----------
    %(size)s
    n_components : int, default=2
        Number of directions of each prototype, at most the number of features.
    algorithm : {"online", "batch", "two-stage"}, default="online"
        ``"online"`` learns from one random sample at a time, ``"batch"`` from all samples in every epoch.
        ``"two-stage"`` is online and first learns the positions by neural gas, then the directions within each
        receptive field.
    measure : {"combined", "euclidean", "mahalanobis", "reconstruction"}, default="combined"
        Distance by which prototypes are ranked: the distance above, the Euclidean distance to the centers, the terms of
        the distance above along the principal directions only, or the squared distance to the subspace, as in `VQPCA`.
    n_steps : int, default=30000
        Number of presentations of samples in the online algorithm, over which the neighborhood range and the learning
        rate decrease.
    max_iter : int, default=30
        Number of epochs of the batch algorithm, over which the neighborhood range decreases.
    range_start : float or "auto", default="auto"
        Initial neighborhood range. ``"auto"`` is 0.5 if prototypes start from the result of neural gas, and 2
        otherwise.
    range_end : float, default=0.01
        Final neighborhood range.
    learning_rate_start, learning_rate_end : float, default=0.5, 0.005
        First and last learning rate of the online algorithm. The learned variances fluctuate by about the square root
        of the last learning rate.
    variance_start : float or "auto", default="auto"
        Initial variance along each principal direction, and total initial variance along all other directions.
        ``"auto"`` is the mean variance of the features.
    online_pca : {"rrlsa", "gram_schmidt", "sanger", "ccipca"}, default="rrlsa"
        Update rule of online PCA: recursive least squares with interlocked orthonormalization (``"rrlsa"``) or with a
        separate Gram-Schmidt step (``"gram_schmidt"``), the generalized Hebbian rule (``"sanger"``), or candid
        covariance-free incremental PCA (``"ccipca"``).
    epsilon : float, default=1e-6
        Smallest variance allowed, relative to the mean variance of the features (online) or of the prototype (batch).
    init : {"auto", "random", "k-means++", "center", "pca", "euclidean"} or array, default="auto"
        Initial prototypes: ``"euclidean"`` is the result of `NeuralGas`; for the other values see there. ``"auto"`` is
        ``"random"`` for the online algorithms and ``"euclidean"`` for the batch algorithm.
    n_init : int, default=1
        Number of runs of the batch algorithm from different initial prototypes, unless ``init`` is an array; the result
        with the lowest cost is kept.
    %(running)s

    Attributes
    ----------
    %(attributes)s
    n_steps_ : int
        Number of presentations of samples so far.

    See Also
    --------
    MatrixNeuralGas : The batch algorithm with all directions, labels and patches.
    MixturePPCA : The corresponding probabilistic model.

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

    _constraints: ClassVar[dict[str, Constraint]] = {
        "algorithm": option("online", "batch", "two-stage"),
        "measure": option(*MEASURES),
        "n_components": integer(1),
        "n_steps": integer(1),
        "online_pca": option(*ONLINE_PCA),
        "range_start": positive | option("auto"),
        "range_end": positive,
        "learning_rate_start": fraction,
        "learning_rate_end": fraction,
        "variance_start": positive | option("auto"),
    }

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
        self.epsilon = epsilon
        self.init = init
        self.n_init = n_init
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    fit_predict = ShapedMap.fit_predict  # scikit-learn's drops y

    @nothing_lost
    def fit(self, X: Any, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> Self:
        """Learn prototypes and their directions.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or iterator of patches
            Samples. An iterator yields patches ``X``, ``(X, y)`` or ``(X, y, sample_weight)``; the online algorithm
            presents every sample of a patch about once.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,), optional
            Weight of each sample. The probability that a sample is presented is proportional to its weight.

        Returns
        -------
        self : object
            The fitted map. If training is interrupted from the keyboard or fails in a later patch, the model learned so
            far is kept.
        """
        if isinstance(X, Iterator) and self.algorithm == "online":
            self.__dict__.pop("_fitted", None)
            for patch in X:
                self.partial_fit(*(patch if isinstance(patch, tuple) else (patch,)))
                keep(self)
            return self
        return super().fit(X, y, sample_weight)

    @available_if(_learns_on)
    @nothing_lost
    def partial_fit(self, X: ArrayLike, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> Self:
        """Continue training with more samples.

        The online algorithm presents as many samples as there are in ``X``, drawn with probabilities proportional to
        their weights, and continues the decrease of the neighborhood range and the learning rate. The batch algorithm
        trains on the samples together with the current prototypes, which represent all earlier samples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples. The first call needs at least as many samples as there are prototypes.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,), optional
            Weight of each sample.

        Returns
        -------
        self : object
            The fitted map. After ``n_steps`` presentations, the neighborhood range and the learning rate keep their
            final values.
        """
        if self.algorithm == "batch":
            return super().partial_fit(X, y, sample_weight)
        self._check_parameters()
        fitted = getattr(self, "_fitted", None)
        samples = self._usual(self._read(X, y, sample_weight, reset=fitted is None), begins=fitted is None)
        if not len(samples):
            return self
        rng = check_random_state(self.random_state) if fitted is None else deepcopy(self._rng)
        if fitted is not None:
            self._check_unchanged(fitted)
        with chunk_threads(self.n_jobs) as n_threads:
            begun = self._begin(samples, rng, n_threads) if fitted is None else fitted
            return self._keep_presented(self._present(samples, begun, rng, len(samples), n_threads), rng)

    @property
    def _measure(self) -> str:
        return "logdet" if self.measure == "combined" else self.measure

    def _neighborhood(self) -> Neighborhood:
        return NearTwo((self.range_start, self.range_end))

    @property
    def _in_batches(self) -> bool:
        return self.algorithm == "batch"

    def _epochs(self) -> Epochs:
        if self._in_batches:
            return batch
        return OnlineEpochs((self.learning_rate_start, self.learning_rate_end), "geometric", self.max_iter)

    def _learn(self, patches: Any, past: Any, rng: np.random.RandomState, n_patches: int | None = 1) -> Self:
        if self.algorithm == "batch":
            return super()._learn(patches, past, rng, n_patches)
        fitted = None
        with chunk_threads(self.n_jobs) as n_threads:
            for samples in patches:
                begun = self._begin(samples, rng, n_threads)
                fitted = self._present(samples, begun, rng, self.n_steps, n_threads)
        if fitted is None:
            raise ValueError("The iterator yields no patches; provide at least one.")
        return self._keep_presented(fitted, rng)

    def _keep_presented(self, fitted: _Presented, rng: np.random.RandomState) -> Self:
        """Store what was learned, also before an interrupt is passed on."""
        self._rng = rng
        self._publish(fitted)
        if fitted.history.interrupted:
            keep(self)
            raise KeyboardInterrupt
        return self

    # Learning one sample at a time

    def _begin(self, samples: Samples, rng: np.random.RandomState, n_threads: int) -> _Presented:
        """Return units at their first positions, with random directions and equal variances."""
        kind = self._kind().sized(samples, None)
        kind = replace(kind, init="random") if kind.starts_by("auto") else kind
        neighborhood, k = Ranks(), kind.count(Ranks())
        require_samples(int(np.count_nonzero(samples.weights)), k)
        source = samples.unlabeled().source(n_threads=n_threads)
        rule, d = kind.rule(source.n_features), source.n_features
        recipe = replace(self._recipe(), kind=kind)
        positions = kind.first_positions(recipe, source, neighborhood, samples, None, rng) + source.origin
        unit = float(mean_and_variance(source)[1].mean()) or 1.0
        first = unit if self.variance_start == "auto" else float(self.variance_start)
        q = rule.n_components
        axes = random_axes(source, rng, k, q)
        return _Presented(
            neighborhood,
            classes=np.empty(0),
            shares=np.empty((k, 0)),
            masses=np.zeros(k),
            winners=np.empty(0, np.int64),
            graph=None,
            history=History(),
            positions=positions,
            centers=positions,
            center_shares=np.empty((k, 0)),
            shapes=Shapes(np.ascontiguousarray(axes), np.full((k, q), first), np.full(k, first / max(d - q, 1))),
            scale=np.ones(d),
            rule=rule,
            floored=np.zeros(k, np.int64),
            log_weights=None,
            n_steps=0,
            unit=unit,
        )

    def _present(
        self, samples: Samples, model: _Presented, rng: np.random.RandomState, n_steps: int, n_threads: int
    ) -> _Presented:
        """Present samples, drawn in proportion to their weights, to the units of a model."""
        from protolearn.maps._ngpca_kernels import present

        source = samples.unlabeled().source(n_threads=n_threads)
        order = sampling_order(source, rng)
        factor = _factor(model.unit)
        units = _Units.of(model).scaled(factor)
        two_stages = self.algorithm == "two-stage"
        measure = MEASURES.index("euclidean" if two_stages else self.measure)
        settings = (ONLINE_PCA.index(self.online_pca) or None, REFRESH, self.epsilon * model.unit * factor**2)
        drawn = _draw(source.weights, order, n_steps, rng)
        passed = np.minimum(np.arange(model.n_steps, model.n_steps + n_steps) / self.n_steps, 1.0)
        start = max(2.0, self.range_end) if isinstance(self.range_start, str) else float(self.range_start)
        ranges, rates = _falling(start, self.range_end, passed), self._rates(passed)
        X, done, interrupted = np.ascontiguousarray(samples.X if factor == 1.0 else samples.X * factor), 0, False
        try:
            with Progress("NGPCA", n_steps, self.verbose, "step") as progress:
                while done < n_steps:
                    part = slice(done, done + BLOCK)
                    present(X, drawn[part], *units, ranges[part], rates[part], measure, *settings, model.n_steps + done)
                    done = min(done + BLOCK, n_steps)
                    progress.step(done, BLOCK, range=ranges[done - 1], rate=rates[done - 1])
                if two_stages:
                    units = self._settled(
                        X,
                        source.weights,
                        order,
                        units.centers,
                        _Units.of(model).scaled(factor),
                        settings,
                        rng,
                        n_threads,
                    )
        except KeyboardInterrupt:
            if not done:
                raise
            interrupted = True
        found = units.scaled(1.0 / factor)
        seen = replace(
            model,
            positions=found.centers.astype(X.dtype),
            shapes=found.shapes(),
            floored=(units.variances <= settings[-1]).sum(axis=1),
            n_steps=model.n_steps + done,
            history=History(interrupted=interrupted),
        )
        first, second = seen.two_nearest(samples.X, n_threads)
        masses = model.masses + np.bincount(first, samples.weights, len(units.centers))
        return replace(seen.showing(samples.weights, first, second), masses=masses)

    def _settled(
        self,
        X: Array,
        weights: Array,
        order: Indices,
        centers: Floats,
        units: _Units,
        settings: tuple[int | None, int, float],
        rng: np.random.RandomState,
        n_threads: int,
    ) -> _Units:
        """Return units that learned their directions within receptive fields, whose centers stay."""
        from protolearn.maps._ngpca_kernels import settle

        regions = nearest(*stage(X, centers, n_threads))[order]
        rates = self._rates(np.arange(REGION_STEPS) / REGION_STEPS)
        for i in np.unique(regions):
            chosen = _draw(weights, order[regions == i], REGION_STEPS, rng)
            shape = (units.axes[i], units.variances[i], units.residual[i : i + 1])
            settle(X, chosen, centers[i], *shape, rates, *settings)
        return units._replace(centers=centers)

    def _rates(self, passed: Floats) -> Floats:
        return _falling(self.learning_rate_start, self.learning_rate_end, passed)

    def _publish(self, fitted: Any) -> None:
        super()._publish(fitted)
        self.n_steps_ = getattr(fitted, "n_steps", 0)
        self.n_iter_ = max(self.n_iter_, 1)


class _Units(NamedTuple):
    """What the compiled loop changes: centers (k, d), axes (k, q, d), variances (k, q), residual variances (k,)."""

    centers: Floats
    axes: Floats
    variances: Floats
    residual: Floats

    @classmethod
    def of(cls, model: FittedShapes) -> _Units:
        shapes = model.shapes
        residual = shapes.rest * shapes.n_other
        return cls(model.positions.astype(np.float64), shapes.axes.copy(), shapes.variances.copy(), residual)

    def scaled(self, factor: float) -> _Units:
        """Return the units among samples multiplied by a factor."""
        return _Units(self.centers * factor, self.axes, self.variances * factor**2, self.residual * factor**2)

    def shapes(self) -> Shapes:
        n_other = self.axes.shape[2] - self.axes.shape[1]
        return Shapes(self.axes, self.variances, self.residual / n_other if n_other else np.ones(len(self.axes)))


def _factor(variance: float) -> float:
    """Return the power of two by which samples are multiplied for online steps, which square variances."""
    return 1.0 if 1.0 / FAR < variance < FAR else 1.0 / power_of_two(np.sqrt(variance))


def _falling(start: float, end: float, passed: Floats) -> Floats:
    """Return what falls from start to end by the same factor at every step, after a share of all steps."""
    return start * (end / start) ** passed  # Moeller & Hoffmann 2004, sec. 2


def _draw(weights: Array, order: Indices, n_steps: int, rng: np.random.RandomState) -> Indices:
    """Draw samples in proportion to their weights, from an order that depends on their values only."""
    return order[inverse_cdf(np.cumsum(weights[order], dtype=np.float64), rng.random_sample(n_steps))]
