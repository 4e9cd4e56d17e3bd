"""Mappings from data to a view: linear, linear on each chart of a map, a network, by neighbors, or free positions.

A mapping is first bound to samples and is then a function of its parameters: `FittedMapping.forward` returns the
positions of the samples, and `FittedMapping.pull` turns a gradient with respect to positions into a gradient with
respect to parameters. Any cost of positions can therefore be minimized by any mapping.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from protolearn.core.estimator import unfinished
from protolearn.core.numerics import power_of_two
from protolearn.core.parameters import constrained, integer, none, number, option, part
from protolearn.core.threads import cut
from protolearn.core.types import Array, Floats
from protolearn.embedding._charting import whitened
from protolearn.embedding.charts import GATINGS, Charts, charts_of, fitted_model
from protolearn.maps import Winner

__all__ = [
    "ChartMap",
    "FittedMapping",
    "FreeMapping",
    "LinearMap",
    "LinearMapping",
    "LocalLinearMapping",
    "Mapping",
    "NeighborMap",
    "NeighborMapping",
    "NetworkMap",
    "NetworkMapping",
    "SolvedMapping",
    "get_mapping",
]

THIN = 1e-4  # deviation along a coordinate of a chart, relative to the largest, below which it is left out


LEAST = 1e-7  # singular value of the features, relative to the largest, that counts


ROWS = 4096  # placed at a time


SAMPLES_PER_CHART, MOST_CHARTS = 6, 1000  # of the default mapping


CELLS = 2.0  # times the square root of the samples: parts in which neighbors are looked for


N_PROBES = 8  # cells that are searched


FARTHEST = 1e15  # in the unit of the training samples, beyond which new samples are all the same


N_STEPS = 8  # in which neighbors agree on a place


class FittedMapping(Protocol):
    """Mapping of given samples, as a function of its parameters, a flat array.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.embedding.mappings import FittedMapping, LinearMapping
    >>> X = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0], [2.0, 2.0]])
    >>> mapping: FittedMapping = LinearMapping().fitted(X, None, n_components=1, rng=np.random.RandomState(0))
    >>> theta = mapping.start(X[:, :1] - 1.0)  # parameters with which samples come to these positions
    >>> mapping.forward(theta).round(6).tolist(), mapping.pull(theta, np.ones((4, 1))).shape == theta.shape
    ([[-1.0], [1.0], [-1.0], [1.0]], True)
    """

    def start(self, positions: Floats) -> Floats:
        """Return parameters that bring the samples close to given positions (n, c)."""

    def forward(self, theta: Floats) -> Floats:
        """Return the positions (n, c) of the samples."""

    def pull(self, theta: Floats, gradient: Floats) -> Floats:
        """Return the gradient with respect to parameters, given that with respect to positions (n, c)."""

    def penalty(self, theta: Floats, positions: Floats) -> tuple[float, Floats]:
        """Return the penalty added to the cost, and its gradient with respect to parameters."""

    def solved(self, theta: Floats, unit: float) -> SolvedMapping | None:
        """Return the mapping with the given parameters, in units of the positions; None if there is none."""


class SolvedMapping(Protocol):
    """Mapping with given parameters.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.embedding.mappings import LinearMapping, SolvedMapping
    >>> X = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0], [2.0, 2.0]])
    >>> mapping = LinearMapping().fitted(X, None, n_components=1, rng=np.random.RandomState(0))
    >>> solved: SolvedMapping = mapping.solved(mapping.start(X[:, :1] - 1.0), unit=1.0)
    >>> solved.place(np.array([[3.0, 7.0]])).round(6).tolist()
    [[2.0]]
    """

    def place(self, X: Array) -> Array:
        """Return the positions (n, c) of any samples."""


class Mapping(Protocol):
    """Form of a mapping, before it is bound to samples.

    Examples
    --------
    A mapping of your own: linear in the first two features only.

    >>> from protolearn import MappedEmbedding
    >>> from protolearn.embedding.mappings import LinearMapping
    >>> class FirstFeatures:
    ...     def fitted(self, X, y, n_components, rng):
    ...         mask = [1.0, 1.0] + [0.0] * (X.shape[1] - 2)
    ...         return LinearMapping().fitted(X * mask, y, n_components, rng)
    >>> X = [[0.0, 0.0, 5.0], [3.0, 0.0, 1.0], [0.0, 4.0, 2.0], [1.0, 1.0, 9.0]]
    >>> view = MappedEmbedding(cost="mds", mapping=FirstFeatures(), random_state=0).fit(X)
    >>> view.mapping_.weights.round(6)[2].tolist()
    [0.0, 0.0]
    """

    def fitted(self, X: Array, y: ArrayLike | None, n_components: int, rng: np.random.RandomState) -> FittedMapping:
        """Return the mapping of samples (n, d) to a view with ``n_components`` dimensions."""


@dataclass(frozen=True)
class LinearMapping:
    """Linear mapping ``y = A (x - mean)``, which is smooth and has interpretable directions.

    Examples
    --------
    >>> from protolearn import MappedEmbedding
    >>> from protolearn.embedding.mappings import LinearMapping
    >>> view = MappedEmbedding(mapping=LinearMapping())
    """

    def fitted(self, X: Array, y: ArrayLike | None, n_components: int, rng: np.random.RandomState) -> FittedMapping:
        """Return the mapping of the given samples."""
        return _Linear(X, n_components)


@constrained(
    n_charts=integer(1) | none,
    n_coordinates=integer(1) | none,
    gating=option("auto", *GATINGS),
    regularization=number(0),
)
@dataclass(frozen=True)
class LocalLinearMapping:
    """Mapping that is linear on each chart of a map or LVQ classifier, ``y = sum_k r_k(x) (A_k z_k(x) + o_k)``.

    Parameters
    ----------
    model : estimator, optional
        Estimator that provides the charts: any map, or an LVQ classifier, which makes the view supervised. It is cloned
        and fitted; wrap it in scikit-learn's ``FrozenEstimator`` if it is fitted already. The default is `KMeans`, with
        local principal components around its prototypes.
    n_charts : int, optional
        Number of prototypes of the default model; by default a sixth of the samples, at most 1000. Many small charts
        represent the data better, and generalize better, than few large ones.
    n_coordinates : int, optional
        Number of dimensions of the charts; by default that of the view.
    gating : {"auto", "crisp", "density", "distance", "rank"}, default="auto"
        Rule for the shares (responsibilities) of charts, see `protolearn.embedding.charts.charts_of`. Crisp shares, the
        default for plain maps, may cause discontinuities where charts meet; shares by rank, as in neural gas, give a
        smoother view.
    regularization : float, default=0.1
        Weight of a penalty on the mean squared displacement of adjacent prototypes by a chart, relative to the size of
        the view. It limits extrapolation where the training samples of a chart vary little.

    Examples
    --------
    >>> from protolearn import KMeans, MappedEmbedding
    >>> from protolearn.embedding.mappings import LocalLinearMapping
    >>> view = MappedEmbedding(mapping=LocalLinearMapping(KMeans(20), gating="rank"))
    """

    model: Any = None
    n_charts: int | None = None
    n_coordinates: int | None = None
    gating: str = "auto"
    regularization: float = 0.1

    def fitted(self, X: Array, y: ArrayLike | None, n_components: int, rng: np.random.RandomState) -> FittedMapping:
        """Return the mapping of the given samples."""
        from protolearn.maps import KMeans

        most = min(MOST_CHARTS, max(2, len(X) // SAMPLES_PER_CHART))
        model = KMeans(most if self.n_charts is None else self.n_charts) if self.model is None else self.model
        model = fitted_model(model, X, y, rng)
        charts = charts_of(model, X, n_components=self.n_coordinates, gating=self.gating)
        if self.n_coordinates is None:
            charts = replace(charts, axes=charts.axes[:, :n_components])
        return _OnCharts(charts, X, n_components, self.regularization)


@dataclass(frozen=True)
class NetworkMapping:
    """Feed-forward network with rectified linear units, as in parametric t-SNE.

    Parameters
    ----------
    hidden : tuple of int, default=(100, 100, 500)
        Number of units in each hidden layer.

    Examples
    --------
    >>> from protolearn import MappedEmbedding
    >>> from protolearn.embedding.mappings import NetworkMapping
    >>> view = MappedEmbedding(mapping=NetworkMapping(hidden=(50, 50)))
    """

    hidden: tuple[int, ...] = (100, 100, 500)

    def __post_init__(self) -> None:
        integer(1).check_each("hidden", self.hidden)

    def fitted(self, X: Array, y: ArrayLike | None, n_components: int, rng: np.random.RandomState) -> FittedMapping:
        """Return the mapping of the given samples."""
        return _Network(X, (X.shape[1], *self.hidden, n_components), rng)


@constrained(n_neighbors=integer(1))
@dataclass(frozen=True)
class NeighborMapping:
    """Free positions of the training samples, between which new samples are interpolated by their nearest neighbors.

    The training samples are stored and keep their own positions exactly. The view is as good as without a mapping, and
    new samples are placed close to where an optimization would place them, without an optimization.

    Parameters
    ----------
    n_neighbors : int, default=8
        Number of training samples that determine the position of a new sample. Nearer samples have larger weights; if
        the neighbors lie far apart in the view, those that lie together have larger weights.

    Examples
    --------
    >>> from protolearn import MappedEmbedding
    >>> from protolearn.embedding.mappings import NeighborMapping
    >>> view = MappedEmbedding(mapping=NeighborMapping(n_neighbors=5))
    """

    n_neighbors: int = 8

    def fitted(self, X: Array, y: ArrayLike | None, n_components: int, rng: np.random.RandomState) -> FittedMapping:
        """Return the mapping of the given samples."""
        return _AmongNeighbors(X, n_components, min(self.n_neighbors, len(X) - 1), rng)


@dataclass(frozen=True)
class FreeMapping:
    """Free positions, each a parameter of its own, without a mapping for new samples.

    Examples
    --------
    >>> from protolearn import MappedEmbedding
    >>> from protolearn.embedding.mappings import FreeMapping
    >>> sammon = MappedEmbedding(cost="sammon", mapping=FreeMapping())
    """

    def fitted(
        self, X: Array | None, y: ArrayLike | None, n_components: int, rng: np.random.RandomState
    ) -> FittedMapping:
        """Return the mapping of the given samples."""
        return _Free(n_components)


MAPPINGS: dict[str, Mapping] = {
    "linear": LinearMapping(),
    "local": LocalLinearMapping(),
    "network": NetworkMapping(),
    "neighbors": NeighborMapping(),
    "free": FreeMapping(),
}


A_MAPPING = option(*MAPPINGS) | part("fit", "a map, an LVQ classifier") | part("fitted", "an instance of Mapping")


@constrained(mapping=A_MAPPING)
def get_mapping(mapping: Any) -> Mapping:
    """Return the mapping for a name, for a map or classifier that provides charts, or the given mapping itself.

    Examples
    --------
    >>> get_mapping("linear")
    LinearMapping()
    """
    if isinstance(mapping, str):
        return MAPPINGS[mapping]
    return mapping if hasattr(mapping, "fitted") else LocalLinearMapping(mapping)


class _Unbound:
    """Mapping without a penalty on its parameters."""

    def penalty(self, theta: Floats, positions: Floats) -> tuple[float, Floats]:
        return 0.0, np.zeros_like(theta)


class _OnFeatures(_Unbound):
    """Positions that are linear in features of the samples, parameterized by whitened features.

    In whitened features, a gradient step moves positions as closely as the mapping allows to where it would move free
    positions, at any scale of the data.

    Parameters
    ----------
    white : array or sparse array of shape (n, q)
        Features with identity second moments.
    back : array or sparse array of shape (p, q)
        Matrix that converts weights of whitened features to weights of the original features.
    n_components : int
        Number of dimensions of the view.
    """

    def __init__(self, white: Any, back: Any, n_components: int) -> None:
        self.white, self.back, self.n_components = white, back, n_components

    def start(self, positions: Floats) -> Floats:
        return (self.white.T @ positions / len(positions)).ravel()

    def forward(self, theta: Floats) -> Floats:
        return self.white @ theta.reshape(-1, self.n_components)

    def pull(self, theta: Floats, gradient: Floats) -> Floats:
        # Bunte 2011, eq. 6.18 and 6.22, 6.23, in white features
        return (self.white.T @ gradient).ravel()

    def weights(self, theta: Floats) -> Floats:
        """Return the weights (p, c) of the original features."""
        return self.back @ theta.reshape(-1, self.n_components)


@dataclass(frozen=True)
class LinearMap:
    """Linear mapping with positions ``(x - mean) @ weights``.

    Parameters
    ----------
    mean : ndarray of shape (d,)
        Mean of the training samples.
    weights : ndarray of shape (d, c)
        Weights of the features.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.embedding.mappings import LinearMap
    >>> mapping = LinearMap(np.array([1.0, 1.0]), np.array([[2.0], [0.0]]))
    >>> Y = mapping.place(np.array([[1.0, 5.0], [2.0, 5.0]]))
    >>> Y.tolist(), mapping.invert(Y).round(6).tolist()
    ([[0.0], [2.0]], [[1.0, 1.0], [2.0, 1.0]])
    """

    mean: Floats
    weights: Floats

    def place(self, X: Array) -> Array:
        """Return the positions (n, c) of samples."""
        return (X - self.mean.astype(X.dtype)) @ self.weights.astype(X.dtype)

    def invert(self, Y: Floats) -> Floats:
        """Return the samples nearest to the mean that map to given positions."""
        return Y @ np.linalg.pinv(self.weights) + self.mean


@dataclass(frozen=True)
class ChartMap:
    """Mapping that is linear on each chart.

    Parameters
    ----------
    charts : Charts
        The k charts, with m coordinates each.
    weights : ndarray of shape (k (m + 1), c)
        Weights of the coordinates of each chart, followed by the position of its prototype.

    Examples
    --------
    Two charts unfold a line with a kink, one for each half:

    >>> import numpy as np
    >>> from protolearn import KMeans
    >>> from protolearn.embedding.charts import charts_of
    >>> from protolearn.embedding.mappings import ChartMap
    >>> X = np.array([[-2.0, 2.0], [-1.0, 1.0], [1.0, 1.0], [2.0, 2.0]])
    >>> charts = charts_of(KMeans(2, init=X[[0, 3]]).fit(X), X, n_components=1)
    >>> weights = np.stack([np.sign(charts.axes[:, 0, 0]), np.sqrt(2.0) * charts.centers[:, 0]], axis=1).reshape(4, 1)
    >>> (ChartMap(charts, weights).place(X) / np.sqrt(2.0)).round(6).ravel().tolist()
    [-2.0, -1.0, 1.0, 2.0]
    """

    charts: Charts
    weights: Floats

    def place(self, X: Array) -> Array:
        """Return the positions (n, c) of samples."""
        return self.charts.place(X, self.weights)

    def invert(self, Y: Floats) -> Floats:
        """Return samples that map to given positions, each in the chart that fits best."""
        return self.charts.invert(Y, self.weights)


@dataclass(frozen=True)
class NetworkMap:
    """Neural network with rectified linear hidden layers and a linear output layer.

    Parameters
    ----------
    mean : ndarray of shape (d,)
        Mean of the training samples.
    scale : float
        Factor that centered samples are divided by.
    layers : tuple of ndarray
        Weights of each layer, with a row for each input and a last row for the biases.

    Examples
    --------
    Two rectified units compute the absolute value:

    >>> import numpy as np
    >>> from protolearn.embedding.mappings import NetworkMap
    >>> hidden, last = np.array([[1.0, -1.0], [0.0, 0.0]]), np.array([[1.0], [1.0], [0.0]])
    >>> NetworkMap(np.zeros(1), 1.0, (hidden, last)).place(np.array([[-2.0], [3.0]])).tolist()
    [[2.0], [3.0]]
    """

    mean: Floats
    scale: float
    layers: tuple[Floats, ...]

    def place(self, X: Array) -> Array:
        """Return the positions (n, c) of samples."""
        places = np.empty((len(X), self.layers[-1].shape[1]), X.dtype)
        for rows in cut(len(X), ROWS):
            places[rows] = _affine(self.activations(X[rows])[-1], self.layers[-1])
        return places

    def activations(self, X: Array) -> list[Floats]:
        """Return the inputs of all layers."""
        found = [(X - self.mean) / self.scale]
        for layer in self.layers[:-1]:
            found.append(np.maximum(_affine(found[-1], layer), 0.0))
        return found


@dataclass(frozen=True)
class NeighborMap:
    """Positions interpolated between those of the nearest training samples.

    Parameters
    ----------
    mean : ndarray of shape (d,)
        Mean of the training samples.
    scale : float
        Factor that centered samples are divided by.
    samples : ndarray of shape (n, d)
        Training samples, centered, scaled and sorted by cell, in single precision.
    positions : ndarray of shape (n, c)
        Positions of the training samples.
    centers : ndarray of shape (q, d)
        Centers of the cells used to search for neighbors.
    starts : ndarray of shape (q + 1,)
        Index of the first sample of each cell.
    n_neighbors : int
        Number of training samples that determine the position of a new one.
    width : float
        Distance up to which positions in the view are considered close.

    Examples
    --------
    Training samples keep their own positions:

    >>> import numpy as np
    >>> from protolearn.embedding.mappings import NeighborMap
    >>> X = np.arange(12.0)[:, None]
    >>> mapping = NeighborMap.of(X, 10.0 * X, n_neighbors=2, rng=np.random.RandomState(0))
    >>> mapping.place(X[[3, 7]]).round(3).tolist()
    [[30.0], [70.0]]
    """

    mean: Floats
    scale: float
    samples: Array
    positions: Floats
    centers: Array
    starts: Array
    n_neighbors: int
    width: float

    @classmethod
    def of(cls, X: Array, positions: Floats, n_neighbors: int, rng: np.random.RandomState) -> NeighborMap:
        """Return the mapping of training samples (n, d) with positions (n, c)."""
        from scipy.spatial import cKDTree

        from protolearn.maps import KMeans

        mean = X.mean(axis=0, dtype=np.float64)
        scale = power_of_two(np.abs(X - mean).max())
        samples = _single(X, mean, scale)
        cells = KMeans(
            max(1, int(CELLS * np.sqrt(len(X)))),
            init="random",
            max_iter=5,
            neighborhood=Winner("reseed"),
            random_state=rng,
        )
        with unfinished():
            labels = cells.fit(samples).labels_
        order = np.argsort(labels, kind="stable")
        starts = np.concatenate([[0], np.cumsum(np.bincount(labels, minlength=cells.n_clusters))])
        gaps = cKDTree(positions).query(positions, k=2)[0][:, 1]
        width = float(np.median(gaps)) or float(gaps.mean()) or 1.0
        return cls(mean, scale, samples[order], positions[order], cells.prototypes_, starts, n_neighbors, width)

    def place(self, X: Array) -> Array:
        """Return the positions (n, c) of samples."""
        from protolearn.embedding._kernels import place_among

        places = np.empty((len(X), self.positions.shape[1]))
        known = self.centers, self.starts, self.samples, self.positions, self.n_neighbors
        for rows in cut(len(X), ROWS):
            new = _single(X[rows], self.mean, self.scale)
            place_among(new, *known, min(N_PROBES, len(self.centers)), N_STEPS, self.width, places[rows])
        return places.astype(X.dtype)


class _Linear(_OnFeatures):
    def __init__(self, X: Array, n_components: int) -> None:
        self.mean = X.mean(axis=0, dtype=np.float64)
        super().__init__(*_white(X - self.mean), n_components)

    def solved(self, theta: Floats, unit: float) -> LinearMap:
        return LinearMap(self.mean, unit * self.weights(theta))


class _OnCharts(_OnFeatures):
    def __init__(self, charts: Charts, X: Array, n_components: int, regularization: float) -> None:
        self.charts = charts
        k, m, _ = charts.axes.shape
        burdens = np.zeros((k, m + 1))
        burdens[:, :m] = (regularization / k * charts.reaches())[:, None]
        self.burdens = burdens.ravel()
        within = whitened(charts.coordinates(X).astype(np.float64), charts.shares(X).astype(np.float64), THIN)
        if charts.gating.kind == "crisp":
            white, back = np.sqrt(len(X)) * within.features, np.sqrt(len(X)) * within.back
        else:
            white, back = _white(within.features.toarray())
            back = within.back @ back
        # Parameters on which the penalty is steep move slowly, and start small.
        pace = 1.0 / np.sqrt(1.0 + self.burdens @ (back * back))
        super().__init__(white * pace, back * pace, n_components)

    def penalty(self, theta: Floats, positions: Floats) -> tuple[float, Floats]:
        """Return the mean squared displacement of adjacent prototypes by charts, relative to the size of the view."""
        weights = self.weights(theta)
        gaps = positions - positions.mean(axis=0)
        size = 1.0 + np.square(gaps).sum() / len(gaps)  # while the view is small, it is not held back from growing
        value = float(self.burdens @ np.square(weights).sum(axis=1)) / size
        slopes = (self.back.T @ (self.burdens[:, None] * weights)).ravel() - value / len(gaps) * self.pull(theta, gaps)
        return value, 2.0 / size * slopes

    def solved(self, theta: Floats, unit: float) -> ChartMap:
        return ChartMap(self.charts, unit * self.weights(theta))


class _Free(_Unbound):
    def __init__(self, n_components: int) -> None:
        self.n_components = n_components

    def start(self, positions: Floats) -> Floats:
        return positions.ravel()

    def forward(self, theta: Floats) -> Floats:
        return theta.reshape(-1, self.n_components)

    def pull(self, theta: Floats, gradient: Floats) -> Floats:
        return gradient.ravel()

    def solved(self, theta: Floats, unit: float) -> SolvedMapping | None:
        return None


class _AmongNeighbors(_Free):
    def __init__(self, X: Array, n_components: int, n_neighbors: int, rng: np.random.RandomState) -> None:
        super().__init__(n_components)
        self.X, self.n_neighbors, self.rng = X, n_neighbors, rng

    def solved(self, theta: Floats, unit: float) -> NeighborMap:
        return NeighborMap.of(self.X, unit * self.forward(theta), self.n_neighbors, self.rng)


class _Network(_Unbound):
    """Parameters are the layers, one after the other."""

    def __init__(self, X: Array, sizes: tuple[int, ...], rng: np.random.RandomState) -> None:
        self.X, self.sizes, self.rng = X, sizes, rng
        self.mean = X.mean(axis=0, dtype=np.float64)
        self.scale = float(np.sqrt(X.var(axis=0, dtype=np.float64).mean())) or 1.0

    def start(self, positions: Floats) -> Floats:
        """Draw random hidden layers, and fit the output layer."""
        layers = [
            np.vstack([self.rng.normal(scale=np.sqrt(2.0 / a), size=(a, b)), np.zeros(b)])
            for a, b in zip(self.sizes[:-1], self.sizes[1:])
        ]
        hidden = self._net(np.concatenate([layer.ravel() for layer in layers])).activations(self.X)[-1]
        padded = np.column_stack([hidden, np.ones(len(hidden))])
        gram = padded.T @ padded
        gram[np.diag_indices(len(gram))] += 1e-3 * np.trace(gram) / len(gram)
        layers[-1] = np.linalg.solve(gram, padded.T @ positions)
        return np.concatenate([layer.ravel() for layer in layers])

    def forward(self, theta: Floats) -> Floats:
        net = self._net(theta)
        return _affine(net.activations(self.X)[-1], net.layers[-1])

    def pull(self, theta: Floats, gradient: Floats) -> Floats:
        net, slopes = self._net(theta), []
        for layer, inputs in zip(reversed(net.layers), reversed(net.activations(self.X))):
            slopes.append(np.vstack([inputs.T @ gradient, gradient.sum(axis=0)]).ravel())
            gradient = (gradient @ layer[:-1].T) * (inputs > 0.0)
        return np.concatenate(slopes[::-1])

    def solved(self, theta: Floats, unit: float) -> NetworkMap:
        net = self._net(theta)
        return NetworkMap(self.mean, self.scale, (*net.layers[:-1], unit * net.layers[-1]))

    def _net(self, theta: Floats) -> NetworkMap:
        shapes = [(a + 1, b) for a, b in zip(self.sizes[:-1], self.sizes[1:])]
        parts = np.split(theta, np.cumsum([a * b for a, b in shapes])[:-1])
        return NetworkMap(self.mean, self.scale, tuple(part.reshape(shape) for part, shape in zip(parts, shapes)))


def _single(X: Array, mean: Floats, scale: float) -> Array:
    """Return samples (n, d) less a mean, over a scale, in single precision, in which their squares are finite."""
    return np.ascontiguousarray(np.clip((X - mean) / scale, -FARTHEST, FARTHEST), dtype=np.float32)


def _affine(inputs: Floats, layer: Floats) -> Floats:
    return inputs @ layer[:-1] + layer[-1]


def _white(features: Floats) -> tuple[Floats, Floats]:
    """Return features (n, q) with second moments one, and what makes weights of these to weights of the given."""
    left, values, right = np.linalg.svd(features, full_matrices=False)
    kept, size = values > LEAST * values[0], np.sqrt(len(features))
    return np.ascontiguousarray(size * left[:, kept]), size * right[kept].T / values[kept]
