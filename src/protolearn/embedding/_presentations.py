"""Squared distances between samples: single rows on demand, and those to neighbors from near to far."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial import cKDTree
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from protolearn.core.estimator import keep, nothing_lost
from protolearn.core.metric import LearnedMetric, as_metric, is_learned
from protolearn.core.parameters import array, integer, option
from protolearn.core.progress import Progress
from protolearn.core.schedules import geometric
from protolearn.core.threads import block_size, chunk_threads, cut
from protolearn.core.types import Array, Floats, Indices
from protolearn.core.validation import given_array, refuse_overflow
from protolearn.embedding._base import Embedding, Lens, ViewSamples
from protolearn.embedding._start import classical_scaling, principal_components
from protolearn.embedding.structures import SHAPES, triangular_mesh, uniform

__all__ = [
    "LAST_NEIGHBORS",
    "LEAST_AFFINITY",
    "NO_WEIGHTS",
    "SIGMAS",
    "Bandwidth",
    "Epoch",
    "Near",
    "NewSamples",
    "Rows",
    "SettledPlacing",
    "Squares",
    "TopographicEmbedding",
    "Trainer",
    "Weights",
    "ranks_and_shares",
]

MOST_BYTES = 1 << 27  # of rows that are sorted together


KEPT_BYTES = 1 << 28  # of rows that are kept: all of 5,700 samples


MOST_EXACT = 1000  # samples up to which all count as neighbors of each,


MOST_NEIGHBORS = 128  # and number of neighbors that stand for all if there are more


SAMPLED = 1000  # samples that stand for all where a typical distance is wanted


class Rows(NamedTuple):
    """Rows of the matrix of all squared distances, as compiled loops take them.

    Row i is ``table[place[i]]`` or, if ``place[i]`` is negative, computed from the vectors (n, d). It then takes the
    place ``clock[0]`` of the row of sample ``held[clock[0]]``.
    """

    vectors: Floats
    table: Floats
    place: Indices
    held: Indices
    clock: Indices


class Near(NamedTuple):
    """Neighbors (n, K) of each sample, itself first, and their squared distances.

    Neighbor j has the rank ``ranks[j]`` and represents ``shares[j]`` samples.
    """

    columns: NDArray[np.int32]
    squares: Floats
    ranks: Indices
    shares: Floats

    def of_rank(self, rank: int) -> Floats:
        """Return the squared distances (n,) to the neighbors with a rank, if need be by those with ranks around it."""
        j = min(int(np.searchsorted(self.ranks, rank)), len(self.ranks) - 1)
        low, high = self.ranks[max(j - 1, 0)], self.ranks[j]
        part = min(1.0, (rank - low) / (high - low)) if high > low else 1.0
        return part * self.squares[:, j] + (1.0 - part) * self.squares[:, max(j - 1, 0)]


@dataclass
class Squares:
    """Squared distances of n samples, in the unit in which those of all pairs have a mean of one."""

    samples: ViewSamples

    def __len__(self) -> int:
        return len(self.samples)

    @cached_property
    def mean(self) -> float:
        """The mean over all pairs, in the unit of the samples."""
        if self.samples.squares is not None:
            return float(self.samples.squares.mean())
        return float(2.0 * np.asarray(self.samples.vectors, np.float64).var(axis=0).sum())

    @cached_property
    def vectors(self) -> Floats:
        """The samples (n, d); no columns if only their dissimilarities are known."""
        if self.samples.vectors is None:
            return np.empty((len(self), 0))
        return np.ascontiguousarray(self.samples.vectors, np.float64) / np.sqrt(self.mean)

    @cached_property
    def rows(self) -> Rows:
        """Single rows: all if they are given, else as many as memory is set aside for."""
        n = len(self)
        if self.samples.squares is not None:
            everything = np.arange(n)
            table = np.ascontiguousarray(self.samples.squares / self.mean)
            return Rows(self.vectors, table, everything, everything, np.zeros(1, np.int64))
        kept = min(n, block_size(8 * n, KEPT_BYTES))
        nowhere = np.full(n, -1), np.full(kept, -1)
        return Rows(self.vectors, np.empty((kept, n)), *nowhere, np.zeros(1, np.int64))

    def of(self, chosen: Any) -> Floats:
        """Return the squared distances (m, n) of some samples to all."""
        from scipy.spatial.distance import cdist

        if self.samples.squares is not None:
            return self.rows.table[chosen]
        return cdist(self.vectors[chosen], self.vectors, "sqeuclidean")

    def near(self) -> Near:
        """Return the neighbors of all samples: all others or, if there are many, some from near to far."""
        n = len(self)
        ranks, shares = ranks_and_shares(n)
        columns, squares = np.empty((n, len(ranks)), np.int32), np.empty((n, len(ranks)))
        for part in cut(n, block_size(24 * n, MOST_BYTES)):
            rows = np.array(self.of(part))
            rows[np.arange(len(rows)), np.arange(n)[part]] = -1.0  # itself first; others by the order given if tied
            columns[part] = np.argsort(rows, axis=1, kind="stable")[:, ranks]
            squares[part] = np.take_along_axis(rows, columns[part], axis=1)
        squares[:, 0] = 0.0
        return Near(columns, squares, ranks, shares)

    def principal(self, d: int, rng: np.random.RandomState) -> Floats:
        """Return principal components (n, d) of the samples, or those that their dissimilarities stand for."""
        if self.samples.squares is not None:
            return classical_scaling(self.samples.squares, d, rng)
        return principal_components(self.vectors, d, rng)

    def typical(self, rank: int) -> float:
        """Return the median squared distance to the neighbor with a rank, or to the first that is not the same."""
        n = len(self)
        squares = np.sort(self.of(slice(None, None, 1 + (n - 1) // SAMPLED)), axis=1)
        first = np.maximum(rank, (squares <= 0.0).sum(axis=1))
        return float(np.median(squares[np.arange(len(squares)), np.minimum(first, n - 1)]))


def ranks_and_shares(n: int) -> tuple[Indices, Floats]:
    """Return ranks (K,) of neighbors that represent all n samples, and the number of samples that each represents.

    Ranks are denser for near neighbors, so that neighborhoods of any size are represented.

    Examples
    --------
    >>> ranks, shares = ranks_and_shares(20_000)
    >>> ranks[:4].tolist(), ranks[-2:].tolist(), float(shares.sum())
    ([0, 1, 2, 3], [18171, 19377], 20000.0)
    """
    if n <= MOST_EXACT:
        return np.arange(n), np.ones(n)
    edges = np.zeros(MOST_NEIGHBORS + 1, np.int64)
    for j in range(1, len(edges)):
        left = len(edges) - j
        growth = (n / max(edges[j - 1], 1)) ** (1.0 / left)
        edges[j] = max(edges[j - 1] + 1, int(np.rint(edges[j - 1] * growth)))
    return (edges[:-1] + edges[1:]) // 2, np.diff(edges).astype(np.float64)


SAME = 1e-12  # squared distance, as a share of the mean, that is none but for rounding


class Bandwidth(Protocol):
    """Widths of the neighborhoods of new samples."""

    def of_new(self, squares: Floats) -> Floats:
        """Return the precisions (m,) of samples with given squared distances (m, n) to all training samples."""


@dataclass(frozen=True)
class NewSamples:
    """Comparison of new samples with the training samples.

    Parameters
    ----------
    samples : Samples
        Training samples as vectors; only their unit if dissimilarities are given.
    mean : float
        Mean of all squared distances, in the unit of the samples.
    squared : bool
        Whether dissimilarities are squared distances already.
    lens : Lens, optional
        Learned metric through which samples are compared, if any.
    objects : list, optional
        Training samples, if they are compared by a function.
    """

    samples: ViewSamples
    mean: float
    squared: bool
    lens: Lens | None = None
    objects: Any = None

    @classmethod
    def of(
        cls, samples: ViewSamples, mean: float, squared: bool, metric: LearnedMetric | None, objects: Any
    ) -> NewSamples:
        """Return the comparison for the samples of a fit."""
        known = ViewSamples(samples.vectors, None, samples.unit, samples.origin)
        return cls(known, mean, squared, None if metric is None else Lens.of(metric, objects), objects)

    def squares(self, X: Array) -> Floats:
        """Return the squared distances (m, n) of vectors (m, d), or of dissimilarities (m, n) to training samples."""
        from scipy.spatial.distance import cdist

        samples, root = self.samples, np.sqrt(self.mean)
        if samples.vectors is not None:
            new = (X - samples.origin) / samples.vectors.dtype.type(samples.unit)
            known = np.asarray(samples.vectors, np.float64)
            return cdist(np.asarray(new, np.float64) / root, known / root, "sqeuclidean")
        if not self.squared and (X < 0.0).any():
            raise ValueError(f"X holds negative dissimilarities (smallest {X.min():g}); they must be 0 or more.")
        squares = np.maximum(X / samples.unit**2, 0.0) if self.squared else np.square(X / samples.unit)
        return np.asarray(squares / self.mean, np.float64)


@dataclass(frozen=True)
class SettledPlacing:
    """Fixed images (n, M), among which a new sample is placed at the lowest mean of -log g.

    The mean is over all images, weighted by the affinities of the sample. ``scale`` is that of a Student kernel; if it
    is infinite, the sample is placed at the mean of the images.
    """

    comparison: NewSamples
    images: Floats
    bandwidth: Bandwidth
    scale: float

    def place(self, X: Array) -> Floats:
        """Return images (m, M) of vectors (m, d), or of dissimilarities (m, n); training samples keep their own."""
        from protolearn.embedding._presentation_kernels import settle

        places = np.empty((len(X), self.images.shape[1]))
        for part in cut(len(X), block_size(24 * len(self.images), MOST_BYTES)):
            squares = self.comparison.squares(X[part])
            settle(squares, self.bandwidth.of_new(squares), self.images, self.scale, places[part])
            known = squares.min(axis=1) <= SAME
            places[part][known] = self.images[squares[known].argmin(axis=1)]
        return places


LEAST_SAMPLES = 4


LEAST_VECTORS, VECTORS_PER_ROOT = 7, 12  # of a structure whose size is chosen for the user: 12 sqrt(n) of n samples


LAST_NEIGHBORS = 10  # in the smallest neighborhoods, unless the user chooses,


SIGMAS = 3.0  # and how many standard deviations away the last is: its affinity is about 1 %


LEAST_AFFINITY = 1e-12  # divergences other than that of Kullback and Leibler do not see a difference below


FARTHEST = 1e30  # from the origin


START_SPREAD = 0.01  # of the first images around the center, in units of the kernel


class Epoch(NamedTuple):
    """Results of one pass over the sampling vectors."""

    cost: float
    winners: Indices
    range_: float


class Trainer(Protocol):
    """Update rule of the images (n, M), in place, and search for the winners of sampling vectors (T, M)."""

    def epoch(self, t: int, vectors: Any, images: Floats, rng: np.random.RandomState) -> Epoch:
        """Present all sampling vectors once."""

    def winners(self, vectors: Floats, images: Floats) -> Indices:
        """Return the final winner of each sampling vector."""

    def placing(self) -> tuple[Bandwidth, float]:
        """Return the neighborhoods of new samples, and the scale of the kernel that places them."""


class TopographicEmbedding(Embedding):
    """Base of `XOM` and `SONE`: reads samples, initializes images, runs epochs and records their results."""

    _constraints = {
        "structure": option("auto", *SHAPES, "uniform") | array("an array"),
        "n_sampling": integer(2) | option("auto"),
        "init": option("pca", "random", "center") | array("an array"),
    }

    n_components: int
    structure: Any
    n_sampling: int | str
    init: Any
    max_iter: int
    random_state: Any
    verbose: int
    winner: str

    @nothing_lost
    @chunk_threads(1)
    def fit(self, X: ArrayLike, y: None = None) -> Self:
        """Compute the embedding: the images of the samples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or (n_samples, n_samples)
            Samples or, with ``metric="precomputed"``, the dissimilarities between them.
        y : None
            Ignored.

        Returns
        -------
        self : object
            The fitted embedding. If the fit is interrupted from the keyboard, the state reached so far is kept.
        """
        self._check_parameters()
        squares = self._read(X)
        rng = check_random_state(self.random_state)
        vectors, unit = self._sampling_vectors(len(squares), rng)
        images = self._start(squares, vectors, unit, rng)
        trainer = self._trainer(squares, vectors)
        interrupted = self._run(trainer, vectors, images, rng)
        self._store(trainer, vectors, images, unit)
        self._placing = SettledPlacing(self._comparison(X, squares), images, *trainer.placing())
        if interrupted:
            keep(self)
            raise KeyboardInterrupt
        return self

    def transform(self, X: Any) -> Floats:
        """Place new samples among the images of the training samples, which stay fixed.

        A sample is placed at the position that would make it the winner: where the mean of ``-log g`` over its
        neighborhood among the training samples is smallest. A training sample is returned at its own image. New samples
        are placed independently of each other.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or (n_samples, n_training_samples), or list of objects
            Samples or, with ``metric="precomputed"``, their dissimilarities to the training samples.

        Returns
        -------
        images : ndarray of shape (n_samples, n_components)
            Images of the samples.
        """
        check_is_fitted(self, "embedding_")
        with chunk_threads(1):
            return self._unit * self._placing.place(self._read_new(X))

    # Reading

    def _read(self, X: Any) -> Squares:
        """Return the squared dissimilarities of the samples."""
        return Squares(self._read_samples(X))

    def _comparison(self, X: Any, squares: Squares) -> NewSamples:
        """Return how new samples are compared with X."""
        metric = as_metric(self.metric, type(self).__name__) if is_learned(self.metric) else None
        objects = None if metric is None and (self._pairwise or self._of_vectors) else X
        return NewSamples.of(squares.samples, squares.mean, self.squared and self._pairwise, metric, objects)

    def _read_new(self, X: Any) -> Array:
        """Return new samples as vectors, or as dissimilarities to the training samples."""
        known = self._placing.comparison
        if known.lens is not None:
            validate_data(self, X, skip_check_array=True, reset=False)
            return check_array(known.lens.see(X), dtype=(np.float64, np.float32))
        if known.objects is None:
            new = validate_data(self, X, dtype=(np.float64, np.float32), reset=False)
            return new if self._pairwise else refuse_overflow(new)
        from protolearn.dissimilarities import pairwise

        return pairwise(X, known.objects, metric=self.metric)

    def _sampling_vectors(self, n_samples: int, rng: np.random.RandomState) -> tuple[Floats, float]:
        """Return the structure as used in training, and the factor that converts it to the given structure."""
        if isinstance(self.structure, str):
            return self._named_structure(n_samples, rng), 1.0
        vectors = given_array("structure", self.structure, order="C")
        if vectors.shape[1] != self.n_components:
            raise ValueError(f"structure has {vectors.shape[1]} columns; expected n_components={self.n_components}.")
        distinct = np.unique(vectors, axis=0)
        if len(distinct) < 2:
            raise ValueError("structure has fewer than 2 distinct sampling vectors; give at least 2.")
        distinct /= (size := float(np.abs(distinct).max()))  # first, for the squares of large numbers may be too large
        unit = size * float(np.median(cKDTree(distinct).query(distinct, k=2)[0][:, 1])) / self._spacing()
        return _moderate("structure", vectors, unit), unit

    def _named_structure(self, n_samples: int, rng: np.random.RandomState) -> Floats:
        n_points = max(LEAST_VECTORS, min(int(VECTORS_PER_ROOT * np.sqrt(n_samples)), 3 * n_samples // 4))
        n_points = n_points if self.n_sampling == "auto" else int(self.n_sampling)
        flat = self.n_components == 2
        if self.structure == "uniform" or (self.structure == "auto" and not flat):
            return self._spacing() * uniform(n_points, self.n_components, random_state=rng)
        if not flat:
            raise ValueError(
                f"structure={self.structure!r} is two-dimensional, but n_components={self.n_components}; use "
                "structure='uniform' or give an array with n_components columns."
            )
        return triangular_mesh("hexagon" if self.structure == "auto" else self.structure, n_points, self._spacing())

    def _start(self, squares: Squares, vectors: Any, unit: float, rng: np.random.RandomState) -> Floats:
        shape = len(squares), self.n_components
        if not isinstance(self.init, str):
            images = given_array("init", self.init, order="C")
            if images.shape != shape:
                raise ValueError(f"init has shape {images.shape}; expected (n_samples, n_components)={shape}.")
            return _moderate("init", images, unit)
        noise = rng.normal(scale=START_SPREAD, size=shape)
        if self.init == "center":
            return noise
        side = shape[0] ** (1.0 / shape[1])  # without a structure, there is a unit of volume for each image
        low, high = (-side / 2.0, side / 2.0) if vectors is None else (vectors.min(axis=0), vectors.max(axis=0))
        if self.init == "random":
            return rng.uniform(low, high, size=shape)
        scores = squares.principal(self.n_components, rng)
        return 0.5 * (low + high) + 0.5 * (high - low) * scores / np.abs(scores).max() + noise

    # Learning

    def _run(self, trainer: Trainer, vectors: Any, images: Floats, rng: np.random.RandomState) -> bool:
        """Run all epochs; return whether they were interrupted."""
        self.cost_history_: list[float] = []
        self.range_history_: list[float] = []
        self.n_distinct_winners_: list[int] = []
        try:
            with Progress(type(self).__name__, self.max_iter, self.verbose, "epoch") as progress:
                for t in range(self.max_iter):
                    epoch = trainer.epoch(t, vectors, images, rng)
                    winners = len(np.unique(epoch.winners))
                    self.cost_history_.append(epoch.cost)
                    self.range_history_.append(epoch.range_)
                    self.n_distinct_winners_.append(winners)
                    progress.step(t + 1, range=epoch.range_, winners=winners, cost=epoch.cost)
        except KeyboardInterrupt:
            if not self.cost_history_:
                raise
            return True
        return False

    @abstractmethod
    def _trainer(self, squares: Squares, vectors: Any) -> Trainer:
        """Return the update rule of the images."""

    @abstractmethod
    def _spacing(self) -> float:
        """Return the distance between neighboring sampling vectors in training."""

    def _chosen(self, name: str, default: float) -> float:
        value = getattr(self, name)
        return float(default) if value == "auto" else float(value)

    def _falling(self, start: float, end: float) -> Floats:
        return geometric(start, end, self.max_iter)  # Bunte 2011, eqs. 8.17, 8.19

    def _store(self, trainer: Trainer, vectors: Any, images: Floats, unit: float) -> None:
        self.embedding_ = unit * images
        if not np.isfinite(self.embedding_).all():
            raise ValueError(
                f"Training of {type(self).__name__} diverged: images are no longer finite. Lower the learning rates, "
                "and give structure and init values of moderate size."
            )
        self._unit = unit
        self.n_iter_ = len(self.cost_history_)
        self.structure_ = None if vectors is None else unit * vectors
        for name in ("labels_", "exemplars_"):
            self.__dict__.pop(name, None)
        if vectors is not None:
            self.labels_ = cKDTree(vectors).query(images)[1]
            self.exemplars_ = trainer.winners(vectors, images)


def _moderate(name: str, points: Floats, unit: float) -> Floats:
    """Return points in a unit; raise an error if they are so far apart, or so far away, that squares overflow."""
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        scaled = points / unit
    if not np.abs(scaled).max() <= FARTHEST:
        raise ValueError(
            f"{name} has values up to {np.abs(points).max():g}, more than {FARTHEST:g} times the distance of "
            f"neighboring sampling vectors, {unit:g} in training; give points that are closer together."
        )
    return scaled


class Weights(NamedTuple):
    """Weights that define the winner i of a sampling vector, the lowest ``base_i + sum_j values_ij cost(columns_ij)``.

    Columns and values have shape (n, K); the sum extends over the first ``counts`` (n,) of each row. ``positive``
    states that no term of the sum is negative.
    """

    columns: NDArray[np.int32]
    values: Floats
    counts: Indices
    base: Floats
    positive: bool


# the nearest image wins
NO_WEIGHTS = Weights(np.empty((0, 0), np.int32), np.empty((0, 0)), np.empty(0, np.int64), np.empty(0), True)
