"""The exploratory observation machine: a self-organizing map with the roles of data and lattice exchanged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from protolearn.core.parameters import fraction, option, positive
from protolearn.core.types import Floats, Indices
from protolearn.embedding._presentations import (
    LAST_NEIGHBORS,
    NO_WEIGHTS,
    SIGMAS,
    Epoch,
    Squares,
    TopographicEmbedding,
    Trainer,
    Weights,
)

__all__ = [
    "XOM",
]

WINNERS = ("image", "mean")  # in the order of the compiled loop


START = 0.25  # of the range, in units of the root mean square dissimilarity


class XOM(TopographicEmbedding):
    r"""Exploratory observation machine: a topographic embedding of vectors or dissimilarities.

    Every sample has an image in the embedding (view). Sampling vectors s, the structure hypothesis, are presented in
    random order. The winner :math:`x^*` is the sample whose image is nearest to s. The images of all samples move
    toward s, those of samples close to the winner most,

    .. math:: \xi^k \leftarrow \xi^k + \tau \, h_k (s - \xi^k), \quad h_k = e^{-d(x^k, x^*)^2 / 2 \sigma^2},

    while the neighborhood range :math:`\sigma` decreases. With ``winner="mean"`` this is gradient descent on the cost
    :math:`\sum_s \min_i \sum_k h_{ik} \|s - \xi^k\|^2`. Images never leave the convex hull of the structure and the
    initial images.

    Parameters
    ----------
    n_components : int, default=2
        Number of dimensions of the view.
    structure : {"auto", "hexagon", "circle", "square", "uniform"} or array (n_vectors, n_components), default="auto"
        Sampling vectors: a triangular mesh with this outline, points drawn uniformly from a box, or an array of your
        own, see `protolearn.embedding.structures`. ``"auto"`` is a hexagon in two dimensions and a box
        otherwise.
    n_sampling : int or "auto", default="auto"
        Number of sampling vectors of a named structure. ``"auto"`` is three quarters of the number of samples, but at
        most 12 times its square root.
    winner : {"image", "mean"}, default="image"
        Definition of the winner: the sample with the nearest image, or the sample with the lowest sum of squared
        distances of all images to s, weighted by affinity. With ``"mean"``, training minimizes a cost; it is slower and
        favors samples with few neighbors.
    range_start, range_end : float or "auto", default="auto"
        Initial and final range :math:`\sigma`, in units of the root mean square dissimilarity. The final range is by
        default a third of the median distance to the tenth neighbor; the initial range is 0.25, or the final range if
        that is larger. A wide initial range does not require ordered initial images, but flattens the view.
    learning_rate_start, learning_rate_end : float, default=0.9, 0.05
        Initial and final learning rate :math:`\tau`, at most 1.
    metric : str, callable or learned metric, default="euclidean"
        Distance between samples: ``"euclidean"`` for vectors; ``"precomputed"`` if ``X`` holds the dissimilarities of
        all pairs; a name or function that `protolearn.dissimilarities.pairwise` accepts, for strings, sequences and
        other objects; or a learned metric, anything that `protolearn.as_metric` accepts, such as a fitted LVQ
        classifier.
    squared : bool, default=False
        Whether precomputed dissimilarities are squared distances already; negative ones are set to zero.
    symmetrize : {"raise", "mean"}, default="raise"
        Treatment of precomputed dissimilarities that are not symmetric: an error, or the mean of both directions.
    init : {"pca", "random", "center"} or array of shape (n_samples, n_components), default="pca"
        Initial images: principal components (classical scaling for dissimilarities) that fill the bounding box of the
        structure, points drawn uniformly from that box, points close to the origin, or given positions.
    max_iter : int, default=250
        Number of epochs. Each epoch presents all sampling vectors once.
    random_state : int, RandomState instance or None, default=None
        Seed of the initial images and of the order of presentation.
    verbose : int, default=0
        Verbosity: 1 shows a progress bar, or lines if there is no terminal; 2 prints a line for every epoch.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        Images of the samples.
    structure_ : ndarray of shape (n_vectors, n_components)
        Sampling vectors.
    labels_ : ndarray of shape (n_samples,)
        Index of the sampling vector nearest to each image.
    exemplars_ : ndarray of shape (n_vectors,)
        Index of the winner of each sampling vector.
    n_distinct_winners_ : list of int
        Number of distinct winners in each epoch; a very small number indicates that the view has collapsed.
    cost_history_, range_history_ : list of float
        Mean cost of a presentation, and the range, in each epoch.
    n_iter_ : int
        Number of epochs run.
    n_features_in_ : int
        Number of features, or of samples for precomputed dissimilarities.

    See Also
    --------
    SONE : Images are also repelled, which opens gaps between groups.
    SOM : The converse: prototypes on a lattice, fitted to the data.

    Notes
    -----
    The distances of a winner to all samples are computed on demand and partly cached. Memory is therefore proportional
    to the number of samples, unless dissimilarities are given.

    A new sample is placed at the mean of the images of the training samples, weighted by affinity. A sampling vector at
    this position would make it the winner by ``winner="mean"``.

    References
    ----------
    Wismueller (2009). The exploration machine: a novel method for data visualization. WSOM.

    Bunte (2011). Adaptive dissimilarity measures, dimension reduction and visualization, section 8.2. PhD thesis,
    University of Groningen.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protolearn.embedding import XOM
    >>> X, y = load_iris(return_X_y=True)
    >>> XOM(max_iter=20, random_state=0).fit_transform(X).shape
    (150, 2)
    >>> XOM(max_iter=20, random_state=0).fit(X[::2]).transform(X[1::2]).shape
    (75, 2)
    """

    _constraints = {
        "winner": option(*WINNERS),
        "range_start": positive | option("auto"),
        "range_end": positive | option("auto"),
        "learning_rate_start": fraction,
        "learning_rate_end": fraction,
    }

    def __init__(
        self,
        n_components: int = 2,
        *,
        structure: str | ArrayLike = "auto",
        n_sampling: int | str = "auto",
        winner: str = "image",
        range_start: float | str = "auto",
        range_end: float | str = "auto",
        learning_rate_start: float = 0.9,
        learning_rate_end: float = 0.05,
        metric: Any = "euclidean",
        squared: bool = False,
        symmetrize: str = "raise",
        init: str | ArrayLike = "pca",
        max_iter: int = 250,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.structure = structure
        self.n_sampling = n_sampling
        self.winner = winner
        self.range_start = range_start
        self.range_end = range_end
        self.learning_rate_start = learning_rate_start
        self.learning_rate_end = learning_rate_end
        self.metric = metric
        self.squared = squared
        self.symmetrize = symmetrize
        self.init = init
        self.max_iter = max_iter
        self.random_state = random_state
        self.verbose = verbose

    def _spacing(self) -> float:
        return 1.0

    def _trainer(self, squares: Squares, vectors: Any) -> Trainer:
        end = self._chosen("range_end", np.sqrt(squares.typical(min(LAST_NEIGHBORS, len(squares) - 1))) / SIGMAS)
        start = self._chosen("range_start", max(START, end))
        return Observer(
            squares,
            WINNERS.index(self.winner),
            ranges=self._falling(start, end),
            rates=self._falling(self.learning_rate_start, self.learning_rate_end),
        )


@dataclass(frozen=True)
class OneRange:
    """Neighborhoods with the same range everywhere."""

    precision: float

    def of_new(self, squares: Floats) -> Floats:
        """Return the precisions (m,) of new samples."""
        return np.full(len(squares), self.precision)


@dataclass
class Observer:
    """Update of images toward sampling vectors, with the same neighborhood range everywhere."""

    squares: Squares
    winner: int
    ranges: Floats
    rates: Floats
    weights: Weights = NO_WEIGHTS
    precision: float = np.nan

    def __post_init__(self) -> None:
        self.near = self.squares.near() if WINNERS[self.winner] == "mean" else None
        self._set_range(self.ranges[0])

    def epoch(self, t: int, vectors: Any, images: Floats, rng: np.random.RandomState) -> Epoch:
        """Present all sampling vectors once."""
        self._set_range(self.ranges[t])
        cost, winners = self._observe(vectors[rng.permutation(len(vectors))], images, self.rates[t])
        return Epoch(cost, winners, self.ranges[t])

    def winners(self, vectors: Floats, images: Floats) -> Indices:
        """Return the final winner of each sampling vector."""
        return self._observe(vectors, images, 0.0)[1]

    def placing(self) -> tuple[OneRange, float]:
        """Return the neighborhoods of new samples, which are placed at a mean of images."""
        return OneRange(self.precision), np.inf

    def _set_range(self, range_: float) -> None:
        self.precision = 0.5 / range_**2
        if self.near is not None:
            columns, squares, _, shares = self.near
            h = shares * np.exp(-self.precision * squares)  # Bunte 2011, eq. 8.4
            self.weights = Weights(columns, h, (h > 0.0).sum(axis=1), np.zeros(len(h)), True)

    def _observe(self, points: Floats, images: Floats, rate: float) -> tuple[float, Indices]:
        from protolearn.embedding._presentation_kernels import observe

        won = np.empty(len(points), np.int64)
        weights = self.weights if self.winner else None
        cost = observe(points, images, self.squares.rows, self.precision, weights, rate, won)
        return cost, won
