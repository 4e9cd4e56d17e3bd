"""Base class of all maps of vectors: validation of samples, distances to prototypes, and online learning."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from protolearn.core.learning import Epochs
from protolearn.core.loop import Step, batch, learn_online
from protolearn.core.map import TopographicMap
from protolearn.core.metric import A_METRIC, LearnedMetric, as_metric, is_learned
from protolearn.core.neighborhoods import SCHEDULE, Neighborhood
from protolearn.core.parameters import Constraint, Part, array, fraction, integer, none, option
from protolearn.core.partitions import averaged, blockwise, read_partitions
from protolearn.core.progress import Progress
from protolearn.core.samples import Samples, require_labels
from protolearn.core.schedules import Schedule, falling
from protolearn.core.threads import chunk_threads
from protolearn.core.types import Array, Bools, Floats, Indices
from protolearn.core.validation import check_weights, is_collection, read_samples, refuse_empty_rows
from protolearn.maps._points import FittedPoints, Points, winner_gains

__all__ = ["INITS", "Online", "OnlineEpochs", "PrototypeMap"]

INITS = ("center", "pca", "k-means++", "random")
GIVEN = array("an array of shape (n_prototypes, n_features)")
RATES = Constraint(
    lambda value: isinstance(value, tuple | list) and len(value) == 2 and all(map(fraction.allows, value)),
    ("a pair (first, last) of numbers in (0, 1]",),
)
ONLINE_STEPS = 256  # values of the schedule in an epoch of online learning, close enough to be joined by lines


class Online(Part):
    """Learning from single samples: n samples for each epoch, drawn at random, one after another.

    Parameters
    ----------
    rate : tuple of float, default=(0.5, 0.005)
        First and last learning rate.
    schedule : {"geometric", "inverse", "constant"} or callable, default="geometric"
        Decrease of the learning rate. A callable maps (start, end, n_steps) to the values, 256 for each epoch.
    density_at : {"sample", "winner"}, default="sample"
        Point at which magnification control evaluates the density: the sample, or the winner, whose step is then
        multiplied by the density to the power c.
    edge_lifetime : int, optional
        Build the edges of ``graph_`` during training, and remove an edge that has not been renewed during this number
        of wins of one of its two prototypes. By default, the edges are computed from all samples after training.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protolearn import NeuralGas
    >>> from protolearn.maps import Online
    >>> X, _ = load_iris(return_X_y=True)
    >>> gas = NeuralGas(3, online=Online(rate=(0.5, 0.01)), max_iter=20, random_state=0).fit(X)
    >>> gas.prototypes_.shape
    (3, 4)
    """

    _constraints = {
        "rate": RATES,
        "schedule": SCHEDULE,
        "density_at": option("sample", "winner"),
        "edge_lifetime": integer(1) | none,
    }

    def __init__(
        self,
        rate: tuple[float, float] = (0.5, 0.005),
        *,
        schedule: str | Schedule = "geometric",
        density_at: str = "sample",
        edge_lifetime: int | None = None,
    ) -> None:
        self.rate = rate
        self.schedule = schedule
        self.density_at = density_at
        self.edge_lifetime = edge_lifetime


@dataclass(frozen=True)
class OnlineEpochs:
    """Epochs of online learning: n samples, drawn at random, one after another.

    Parameters
    ----------
    rate : tuple of float
        First and last learning rate.
    schedule : str or callable
        Decrease of the learning rate.
    n_epochs : int
        Number of epochs.
    exponent : float or "optimal"
        Exponent of the density at the winner by which its steps are multiplied, 0 for none.
    lifetime : int, optional
        Lifetime of edges, in wins, if they are built during training.
    """

    rate: tuple[float, float]
    schedule: str | Schedule
    n_epochs: int
    exponent: float | str = 0.0
    lifetime: int | None = None
    per_epoch = ONLINE_STEPS

    def __call__(
        self, prototypes: Any, neighborhood: Neighborhood, source: Any, ranges: Floats, rng: np.random.RandomState
    ) -> Iterator[Step]:
        """Run the epochs."""
        rates = falling(self.schedule, *self.rate, self.n_epochs, self.per_epoch)
        gains = None if self.exponent == 0 else winner_gains(source, self.exponent)
        course = self.n_epochs, ranges, rates, rng
        return learn_online(prototypes, neighborhood, source, *course, gains, self.lifetime)


class PrototypeMap(TopographicMap):
    """Base class of all maps of vectors.

    Examples
    --------
    >>> from protolearn import KMeans, MatrixKMeans, RelationalKMeans
    >>> from protolearn.maps import PrototypeMap
    >>> [isinstance(model, PrototypeMap) for model in (KMeans(), MatrixKMeans(), RelationalKMeans())]
    [True, True, False]
    """

    metric: Any = "euclidean"
    missing: str = "error"
    online: Online | None = None
    _fitted: FittedPoints
    _constraints: ClassVar[dict[str, Constraint]] = {
        "metric": option("euclidean") | A_METRIC,
        "missing": option("error", "partial"),
        "init": option(*INITS) | GIVEN,
    }
    _grouped: ClassVar[dict[str, type[Part]]] = {"online": Online}

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self._partial and self._lens is not None:
            raise ValueError("missing='partial' needs metric='euclidean': a learned metric combines features.")
        if self._partial and self.magnification != 0:
            raise ValueError("missing='partial' needs magnification=0: a density needs complete samples.")

    @property
    def _in_batches(self) -> bool:
        """Say whether all samples are learned at once, epoch after epoch."""
        return self.online is None

    @property
    def _partial(self) -> bool:
        """Say whether values that are missing are left out of distances."""
        return self.missing == "partial"

    @property
    def _finite(self) -> bool | str:
        """Say whether samples to learn from must be complete, or "allow-nan"."""
        return "allow-nan" if self._partial else True

    @property
    def _lens(self) -> LearnedMetric | None:
        """Return the learned metric through which the map sees samples, if there is one."""
        if not is_learned(self.metric):
            return None
        lens = as_metric(self.metric, type(self).__name__)
        if not lens.is_global:
            raise ValueError(
                f"metric={lens!r} has several matrices, but {type(self).__name__} needs one for all samples. "
                "Use a metric with one matrix, or use this metric in a relational map such as RelationalNeuralGas."
            )
        return lens

    def _seen(self, X: Array) -> Array:
        """Return samples as the map sees them: projected by a learned metric, or as they are."""
        return X if self._lens is None else self._lens.project(X)

    def _kind(self) -> Points:
        given = self.init if isinstance(self.init, str) or self._lens is None else self._seen(self.init)
        return Points(given, getattr(self, "n_prototypes", None), self.label_weight, self._partial)

    def _epochs(self) -> Epochs:
        if self.online is None:
            return batch
        exponent = self.magnification if self.online.density_at == "winner" else 0.0
        rate = self.online.rate[0], self.online.rate[1]
        return OnlineEpochs(rate, self.online.schedule, self.max_iter, exponent, self.online.edge_lifetime)

    def _read(
        self, X: Any, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None, *, reset: bool
    ) -> Samples:
        if is_collection(X):
            return self._read_collection(X, y, sample_weight, reset)
        X = read_samples(self, X, reset=reset, learning=True, ensure_all_finite=self._finite)
        if self._partial:
            refuse_empty_rows(X)
            if reset:
                _require_features(~np.isnan(X).all(axis=0))
        if reset and self._lens is not None:
            self._center = self._lens.samples(X).mean(axis=0, dtype=np.float64)
        return self._labeled(self._seen(X), y, sample_weight, reset)

    def _read_collection(self, X: Any, y: Any, sample_weight: Any, reset: bool) -> Any:
        """Look at every partition of a Dask collection."""
        if not self._in_batches:
            raise ValueError(
                f"{type(self).__name__} learns from single samples in random order, which a Dask collection does not "
                "support; learn in batches (online=None), or pass an iterator of patches."
            )
        supervised, lens = self.label_weight > 0, self._lens
        if supervised:
            require_labels(y, self.label_weight)
        options: dict[str, Any] = {"reset": reset, "supervised": supervised, "finite": self._finite}
        if lens is not None:
            options["project"] = lens.project
        if lens is not None and reset:
            sums, counts = read_partitions(self, X, reset=True, project=lens.samples).survey.known
            self._center = sums / counts
        samples = read_partitions(self, X, y, sample_weight, **options)
        if self._partial and reset:
            _require_features(samples.survey.known[1] > 0)
        Progress(type(self).__name__, self.max_iter, self.verbose).note(samples.description)
        return samples

    def _check_new(self, X: ArrayLike) -> Array:
        check_is_fitted(self, "prototypes_")
        partial = self._fitted.partial
        samples = read_samples(self, X, ensure_all_finite="allow-nan" if partial else True)
        if partial:
            refuse_empty_rows(samples)
        return self._seen(samples)

    def _publish(self, fitted: FittedPoints) -> None:
        super()._publish(fitted)
        lens = self._lens
        self.prototypes_ = fitted.positions if lens is None else lens.restore(fitted.positions, self._center)

    @blockwise
    def predict(self, X: ArrayLike) -> Indices:
        """Return the index of the nearest prototype of each sample.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        winners : ndarray of shape (n_samples,)
            Index of a row of ``prototypes_``.
        """
        return self.nearest(X)

    @blockwise
    def nearest(self, X: ArrayLike) -> Indices:
        """Return the index of the nearest prototype of each sample, as `predict` does.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        winners : ndarray of shape (n_samples,)
            Index of a row of ``prototypes_``.
        """
        samples = self._check_new(X)
        with chunk_threads(self.n_jobs) as n_threads:
            return self._fitted.nearest(samples, n_threads)

    @blockwise
    def transform(self, X: ArrayLike) -> Array:
        """Return the squared distance of each sample to each prototype, as `distances` does.

        scikit-learn's ``KMeans.transform`` returns distances that are not squared.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        distances : ndarray of shape (n_samples, n_prototypes)
            Squared distances, Euclidean unless ``metric`` is a learned metric.
        """
        return self.distances(X)

    @blockwise
    def distances(self, X: ArrayLike) -> Array:
        """Return the squared distance of each sample to each prototype.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        distances : ndarray of shape (n_samples, n_prototypes)
            Squared distances, Euclidean unless ``metric`` is a learned metric.
        """
        samples = self._check_new(X)
        with chunk_threads(self.n_jobs) as n_threads:
            return self._fitted.distances(samples, n_threads)

    @averaged
    def score(self, X: ArrayLike, y: None = None, sample_weight: ArrayLike | None = None) -> float:
        """Return the negative quantization error, the mean (unsquared) distance to the nearest prototype.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,), optional
            Weight of each sample.

        Returns
        -------
        score : float
            Negative quantization error. It is at most 0; larger values are better.
        """
        samples = self._check_new(X)
        weights = check_weights(sample_weight, len(samples), samples.dtype)
        with chunk_threads(self.n_jobs) as n_threads:
            errors = np.sqrt(self._fitted.squared_errors(samples, n_threads))
        return -float(weights @ errors / weights.sum())

    def __sklearn_tags__(self) -> Tags:
        """Say that float32 stays float32, and whether values may be missing."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self._partial
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _require_features(known: Bools) -> None:
    """Refuse samples if nothing is known of a feature (d,), of which prototypes would have no value."""
    if not known.all():
        raise ValueError(f"Feature {known.argmin()} of X has no known value; remove this feature.")
