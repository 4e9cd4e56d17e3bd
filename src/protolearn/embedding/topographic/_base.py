"""What the exploratory observation machine and SONE share: samples get images, which sampling vectors order."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial import cKDTree
from sklearn.utils import check_random_state

from protolearn.core.estimator import keep, nothing_lost
from protolearn.core.parameters import array, integer, option
from protolearn.core.progress import Progress
from protolearn.core.schedules import geometric
from protolearn.core.threads import chunk_threads
from protolearn.core.types import Floats, Indices
from protolearn.core.validation import given_array
from protolearn.embedding._base import Embedding
from protolearn.embedding.topographic.structures import SHAPES, triangular_mesh, uniform

__all__ = [
    "LAST_NEIGHBORS",
    "LEAST_AFFINITY",
    "NO_WEIGHTS",
    "SIGMAS",
    "Epoch",
    "TopographicEmbedding",
    "Trainer",
    "Weights",
    "neighbor_order",
    "neighbor_squares",
    "neighborhoods",
]


LEAST_SAMPLES = 4
LEAST_VECTORS, MOST_VECTORS = 7, 200  # of a structure whose size is chosen for the user
MOST_EXACT = 1000  # samples up to which winners are found by the affinities to all samples,
MOST_NEIGHBORS = 128  # and number of neighbors that stand for all if there are more
LAST_NEIGHBORS = 10  # in the smallest neighborhoods, unless the user chooses,
SIGMAS = 3.0  # and how many standard deviations away the last is: its affinity is about 1 %
LEAST_AFFINITY = 1e-12  # divergences other than that of Kullback and Leibler do not see a difference below
START_SPREAD = 0.01  # of the first images around the center, in units of the kernel


class Epoch(NamedTuple):
    """What was seen in one sweep over the sampling vectors."""

    cost: float
    winners: Indices
    range_: float


class Trainer(Protocol):
    """What moves the images (n, M), in place, and finds the winners of sampling vectors (T, M)."""

    def epoch(self, t: int, vectors: Any, images: Floats, rng: np.random.RandomState) -> Epoch:
        """Present all sampling vectors once."""

    def winners(self, vectors: Floats, images: Floats) -> Indices:
        """Return the winner of each sampling vector at the end."""


class TopographicEmbedding(Embedding):
    """Base of `XOM` and `SONE`: reads samples, places images, runs epochs and keeps what they show."""

    _constraints = {
        "structure": option("auto", *SHAPES, "uniform") | array("an array"),
        "n_sampling": integer(2) | option("auto"),
        "init": option("random") | array("an array"),
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
        """Arrange the images of the samples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or (n_samples, n_samples)
            Samples, or with ``metric="precomputed"`` the dissimilarities between them.
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
        images = self._start(len(squares), unit, rng)
        trainer = self._trainer(squares, vectors)
        interrupted = self._run(trainer, vectors, images, rng)
        self._store(trainer, vectors, images, unit)
        if interrupted:
            keep(self)
            raise KeyboardInterrupt
        return self

    # Reading

    def _read(self, X: Any) -> Floats:
        """Return the squared dissimilarities of the samples, with a mean of one."""
        squares = self._read_samples(X).all_squares()
        return np.ascontiguousarray(squares / squares.mean())

    def _sampling_vectors(self, n_samples: int, rng: np.random.RandomState) -> tuple[Floats, float]:
        """Return the structure as it is used in training, and the unit that makes it the one given."""
        if isinstance(self.structure, str):
            return self._named_structure(n_samples, rng), 1.0
        vectors = given_array("structure", self.structure, order="C")
        if vectors.shape[1] != self.n_components:
            raise ValueError(f"structure has {vectors.shape[1]} columns; expected n_components={self.n_components}.")
        distinct = np.unique(vectors, axis=0)
        if len(distinct) < 2:
            raise ValueError("structure has fewer than 2 different sampling vectors; give more.")
        unit = float(np.median(cKDTree(distinct).query(distinct, k=2)[0][:, 1])) / self._spacing()
        return vectors / unit, unit

    def _named_structure(self, n_samples: int, rng: np.random.RandomState) -> Floats:
        n_points = max(LEAST_VECTORS, min(MOST_VECTORS, 3 * n_samples // 4))
        n_points = n_points if self.n_sampling == "auto" else int(self.n_sampling)
        flat = self.n_components == 2
        if self.structure == "uniform" or (self.structure == "auto" and not flat):
            return self._spacing() * uniform(n_points, self.n_components, random_state=rng)
        if not flat:
            raise ValueError(
                f"structure={self.structure!r} is flat, but n_components={self.n_components}; use structure='uniform' "
                "or give an array with n_components columns."
            )
        return triangular_mesh("hexagon" if self.structure == "auto" else self.structure, n_points, self._spacing())

    def _start(self, n_samples: int, unit: float, rng: np.random.RandomState) -> Floats:
        if isinstance(self.init, str):
            return rng.normal(scale=START_SPREAD, size=(n_samples, self.n_components))
        images = given_array("init", self.init, order="C")
        if images.shape != (n_samples, self.n_components):
            raise ValueError(
                f"init has shape {images.shape}; expected (n_samples, n_components)={(n_samples, self.n_components)}."
            )
        return images / unit

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
    def _trainer(self, squares: Floats, vectors: Any) -> Trainer:
        """Return what moves the images."""

    @abstractmethod
    def _spacing(self) -> float:
        """Return the distance of neighboring sampling vectors in training."""

    def _chosen(self, name: str, default: float) -> float:
        value = getattr(self, name)
        return float(default) if value == "auto" else float(value)

    def _falling(self, start: float, end: float) -> Floats:
        return geometric(start, end, self.max_iter)  # Bunte 2011, eqs. 8.17, 8.19

    def _store(self, trainer: Trainer, vectors: Any, images: Floats, unit: float) -> None:
        self.embedding_ = unit * images
        self.n_iter_ = len(self.cost_history_)
        self.structure_ = None if vectors is None else unit * vectors
        for name in ("labels_", "exemplars_"):
            self.__dict__.pop(name, None)
        if vectors is not None:
            self.labels_ = cKDTree(vectors).query(images)[1]
            self.exemplars_ = trainer.winners(vectors, images)


def neighbor_order(squares: Floats) -> NDArray[np.int32]:
    """Return the samples (n, n) by their distance to each, itself first; ties in the order given."""
    order = np.empty(squares.shape, np.int32)
    for i, row in enumerate(squares):
        others = row.copy()
        others[i] = -1.0
        order[i] = np.argsort(others, kind="stable")
    return order


def neighbor_squares(squares: Floats, order: NDArray[np.int32], n_neighbors: int) -> Floats:
    """Return the squared distance (n,) of each sample to its n-th neighbor, or to the first that is not the same."""
    radii = np.take_along_axis(squares, order[:, n_neighbors, None], axis=1)[:, 0]
    for i in np.flatnonzero(radii == 0.0):
        radii[i] = squares[i, squares[i] > 0.0].min()
    return radii


class Weights(NamedTuple):
    """By what the winner i of a sampling vector is found, the lowest ``base_i + sum_j values_ij cost(columns_ij)``.

    Columns and values are of shape (n, K). ``positive`` says that no term of the sum is negative.
    """

    columns: NDArray[np.int32]
    values: Floats
    base: Floats
    positive: bool


NO_WEIGHTS = Weights(np.empty((0, 0), np.int32), np.empty((0, 0)), np.empty(0), True)  # the nearest image wins


def neighborhoods(
    squares: Floats, order: NDArray[np.int32], precisions: Floats, own: Floats, cutoff: float = np.inf
) -> tuple[NDArray[np.int32], Floats, Floats]:
    """Return the neighbors (n, K) of all samples, -log of their affinities, and how many samples each stands for (n,).

    These are all samples or, if there are too many to look through each time, some evenly from near to far. Samples
    beyond ``cutoff`` count only among the first K.
    """
    from protolearn.embedding.topographic._kernels import choose_neighbors

    n = len(squares)
    K = n if n <= MOST_EXACT else MOST_NEIGHBORS
    index, x, shares = np.empty((n, K), np.int32), np.empty((n, K)), np.empty(n)
    choose_neighbors(squares, order, precisions, own, cutoff, index, x, shares)
    return index, x, shares
