"""Charts of data: each prototype of a map or classifier has linear coordinates for the samples around it.

With coordinates ``z_k(x) = A_k (x - w_k)`` and shares ``r_k(x)``, which sum to one, all views that are linear on each
chart have the form ``y(x) = sum_k r_k(x) [z_k(x), 1] B_k = u(x) B``. Charting, local linear coordination and local
linear mappings differ in how they determine B.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import softmax
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from protolearn.core.estimator import unfinished
from protolearn.core.metric import as_metric
from protolearn.core.numerics import flushed, row_space
from protolearn.core.parameters import constrained, integer, none, number, option, positive
from protolearn.core.threads import CACHED, row_blocks
from protolearn.core.types import Array, Floats
from protolearn.core.validation import require_memory
from protolearn.lvq import LVQClassifier
from protolearn.maps import PrototypeMap, ShapedMap

__all__ = [
    "Charts",
    "Gating",
    "charts_of",
    "fitted_model",
]

GATINGS = ("crisp", "density", "distance", "rank")


BANDWIDTHS = ("square", "mean", "root_sum")


FEW_PER_COORDINATE = 3  # samples of a chart, for each of its coordinates and the offset, below which they are few


N_NEARBY = 3  # prototypes that a chart should reach


MOST_AT_ONCE = 256  # coordinates of all charts up to which all are computed for every sample


@dataclass(frozen=True)
class Gating:
    """Rule for the shares of k charts in a sample, given its distances to their prototypes.

    Parameters
    ----------
    kind : {"crisp", "density", "distance", "rank"}
        Form of the shares: 1 for the nearest chart; ``softmax(offsets - rates * distances)``, by densities or by
        distances; or ``softmax(-rate * ranks)`` of the ranks of the distances.
    offsets, rates : ndarray of shape (k,)
        Coefficients of the exponents. By ranks, the first rate is used for all charts.
    cutoff : float
        Share below which a chart is ignored.
    groups : ndarray of shape (k,), optional
        Group of each chart. A sample belongs to charts of one group only, the one with the largest share.

    Examples
    --------
    >>> import numpy as np
    >>> Gating("rank", np.zeros(3), np.full(3, np.log(2.0))).shares(np.array([[5.0, 0.1, 7.0]])).round(3)
    array([[0.286, 0.571, 0.143]])
    """

    kind: str
    offsets: Floats
    rates: Floats
    cutoff: float = 0.0
    groups: Array | None = None

    def shares(self, distances: Array) -> Array:
        """Return the shares (n, k), each row of which sums to one."""
        if self.kind == "crisp":
            return _by_ranks(distances, np.ones(1, distances.dtype))
        if self.kind == "rank":  # as in neural gas
            falling = softmax(-self.rates[0] * np.arange(len(self.rates)))
            shares = _by_ranks(distances, falling[falling >= min(self.cutoff, falling[0])])
        else:
            shares = flushed(softmax(self.exponents(distances.astype(np.float64)), axis=1))
        if self.groups is not None:
            together = shares @ (self.groups[:, None] == np.unique(self.groups)).astype(float)
            shares[together.argmax(axis=1)[:, None] != self.groups] = 0.0
        if self.cutoff or self.groups is not None:
            shares[shares < np.minimum(self.cutoff, shares.max(axis=1, keepdims=True))] = 0.0
            shares /= shares.sum(axis=1, keepdims=True)
        return shares

    def exponents(self, distances: Array) -> Array:
        """Return the fit of each chart to the samples; logarithms of densities if there are any."""
        return self.offsets - self.rates * distances


@dataclass(frozen=True)
class Charts:
    """Linear coordinates around k prototypes, and the share of each chart in any sample.

    Parameters
    ----------
    model : object
        Fitted map or classifier that measures distances to prototypes.
    axes : ndarray of shape (k, m, d)
        Directions of the coordinates of each chart, as rows.
    gating : Gating
        Rule that converts distances to shares.
    first : fitted PCA, optional
        Principal components that replace the d features as the model's input; see `inner`.

    Examples
    --------
    >>> from protolearn import MatrixNeuralGas
    >>> from protolearn.datasets import make_cigars
    >>> from protolearn.embedding.charts import charts_of
    >>> X, y = make_cigars(random_state=0)
    >>> charts = charts_of(MatrixNeuralGas(3, random_state=0).fit(X), n_components=1)
    >>> charts.coordinates(X).shape, charts.shares(X).shape, charts.features(X).shape
    ((600, 3, 1), (600, 3), (600, 6))
    """

    model: Any
    axes: Floats
    gating: Gating
    first: Any = None

    @property
    def centers(self) -> Floats:
        """Prototypes (k, d)."""
        centers: Floats = self.model.prototypes_
        return centers if self.first is None else self.first.inverse_transform(centers)

    @property
    def inner(self) -> Charts:
        """The same charts in the model's input space, which differs if principal components are taken first."""
        return self if self.first is None else replace(self, axes=self.axes @ self.first.components_.T, first=None)

    def behind(self, first: Any) -> Charts:
        """Return the same charts for samples whose principal components are the present samples."""
        return replace(self, axes=self.axes @ first.components_, first=first)

    def __len__(self) -> int:
        return len(self.axes)

    def distances(self, X: Array) -> Array:
        """Return distances (n, k), as the gating requires."""
        X = self._entered(X)
        if self.gating.kind == "density":
            return self.model.distances(X, measure="logdet")
        return self.model.distances(X)

    def shares(self, X: Array) -> Array:
        """Return the share (n, k) of each chart in each sample."""
        return self.gating.shares(self.distances(X))

    def coordinates(self, X: Array) -> Array:
        """Return the coordinates (n, k, m) of each sample in each chart."""
        k, m, d = self.axes.shape
        origin = self.centers.mean(axis=0)
        own = np.einsum("kmd,kd->km", self.axes, self.centers - origin)
        flat = (X - origin) @ self.axes.reshape(k * m, d).T
        return flat.reshape(len(X), k, m) - own

    def features(self, X: Array) -> Floats:
        """Return the matrix U (n, k (m + 1)): coordinates and a constant one for each chart, times its share."""
        z = self.coordinates(X)
        homogeneous = np.concatenate([z, np.ones((*z.shape[:2], 1))], axis=2)
        return (self.shares(X)[:, :, None] * homogeneous).reshape(len(X), -1)

    def place(self, X: Array, weights: Floats) -> Array:
        """Return the positions ``features(X) @ weights``, with the weights (k (m + 1), c) multiplied out first."""
        k, m, d = self.axes.shape
        blocks = weights.reshape(k, m + 1, -1)
        origin = self.centers.mean(axis=0)
        slopes = np.swapaxes(self.axes, 1, 2) @ blocks[:, :m]  # (k, d, c)
        starts = blocks[:, m] - np.einsum("kd,kdc->kc", self.centers - origin, slopes)
        slopes, starts, origin = (part.astype(X.dtype) for part in (slopes, starts, origin))
        places = np.empty((len(X), blocks.shape[2]), X.dtype)
        crisp, few = self.gating.kind == "crisp", slopes.size <= MOST_AT_ONCE * d
        winners = None if not crisp or (few and _is_plain(self.model)) else self.model.nearest(self._entered(X))
        if winners is not None and not few:
            for rows in row_blocks(len(X), 8 * slopes[0].size, CACHED):
                own = winners[rows]
                places[rows] = np.matmul((X[rows] - origin)[:, None], slopes[own])[:, 0] + starts[own]
            return places
        columns = slopes.transpose(1, 0, 2).reshape(d, -1)
        if crisp and winners is None:  # samples are compared with prototypes by the same product
            centers = (self.centers - origin).astype(X.dtype)
            columns = np.hstack([columns, centers.T])
            half_squares = 0.5 * np.square(centers).sum(axis=1)
        columns = np.ascontiguousarray(columns)
        for rows in row_blocks(len(X), 8 * (d + columns.shape[1]), CACHED, least=256):
            products = (X[rows] - origin) @ columns
            local = products[:, : starts.size].reshape(-1, *starts.shape)
            if crisp:
                own = (half_squares - products[:, starts.size :]).argmin(axis=1) if winners is None else winners[rows]
                places[rows] = local[np.arange(len(local)), own] + starts[own]
            else:
                places[rows] = np.einsum("nk,nkc->nc", self.shares(X[rows]).astype(X.dtype), local + starts)
        return places

    def reaches(self) -> Floats:
        """Return the mean squared distance (k,) of adjacent prototypes, which each chart has to reach."""
        if len(self) == 1:
            return np.zeros(1)
        squares = np.square(self.coordinates(self.centers)).sum(axis=2)
        np.fill_diagonal(squares, np.inf)
        return np.sort(squares, axis=0)[: min(N_NEARBY, len(self) - 1)].mean(axis=0)

    def invert(self, Y: Floats, weights: Floats) -> Floats:
        """Return samples (n, d) that map to the positions Y, each in the chart that fits best.

        Charts that do not extend to a position are ignored, unless none does.
        """
        k, m, d = self.axes.shape
        blocks, centers = weights.reshape(k, m + 1, -1), self.centers
        best, missing, samples = np.full(len(Y), -np.inf), np.ones(len(Y), bool), np.empty((len(Y), d))
        rounding = 1e-9 * np.ptp(blocks[:, m], axis=0).max()
        for chart, (axes, block) in enumerate(zip(self.axes, blocks)):
            # Arnonkijpanich 2010, eq. 5.5; Bunte 2011, sec. 6.7.1
            z = (Y - block[m]) @ np.linalg.pinv(block[:m])
            fits = self.gating.offsets[chart] - self.gating.rates[chart] * self._within(z, chart)
            missed = (
                np.abs(z @ block[:m] + block[m] - Y).max(axis=1) > 1e-6 * np.abs(Y - block[m]).max(axis=1) + rounding
            )
            # Charts that do not reach a position come after all that do.
            better = np.where(missed == missing, fits > best, missing)
            best[better], missing[better] = fits[better], missed[better]
            samples[better] = centers[chart] + z[better] @ np.linalg.pinv(axes).T
        return samples

    def _entered(self, X: Array) -> Array:
        """Return samples in the model's input space."""
        return X if self.first is None else self.first.transform(X)

    def _within(self, z: Floats, chart: int) -> Floats:
        """Return distances (n,) to a prototype, as the gating requires, of samples given by coordinates."""
        if self.gating.kind != "density":
            return np.square(z).sum(axis=1)
        variances = self.model.variances_[chart, : z.shape[1]]
        counts = variances > 0.0
        return np.square(z[:, counts]) @ (1.0 / variances[counts]) + 2.0 * self.model.log_volumes_[chart]


@constrained(
    n_components=integer(1) | none,
    gating=option("auto", *GATINGS),
    fraction=positive,
    n_nearest=integer(1),
    bandwidth=option(*BANDWIDTHS),
    range_=positive,
    cutoff=number(0, 0.5),
)
def charts_of(
    model: Any,
    X: Array | None = None,
    *,
    n_components: int | None = None,
    gating: str = "auto",
    fraction: float = 0.1,
    n_nearest: int = 2,
    bandwidth: str = "square",
    range_: float = 0.5,
    cutoff: float = 1e-8,
) -> Charts:
    """Return the charts of a fitted map or LVQ classifier.

    Parameters
    ----------
    model : object
        Fitted model: a map with shapes (`MatrixNeuralGas`, `NGPCA`, `MixturePPCA`, ...), whose principal directions are
        used; a plain map (`KMeans`, `NeuralGas`, `SOM`), with the principal directions of the samples around each
        prototype; or an LVQ classifier, whose matrices are used.
    X : ndarray of shape (n_samples, d), optional
        Samples from which the directions of a plain map are computed.
    n_components : int, optional
        Number m of coordinates; by default all that the model has.
    gating : {"auto", "crisp", "density", "distance", "rank"}, default="auto"
        Rule for the shares of charts. ``"crisp"`` assigns a sample to the nearest chart, the default for plain maps.
        ``"density"`` uses the normal density of each shape, or of each cell of a plain map, the default for maps with
        densities. ``"distance"`` uses ``exp(-d / sigma)`` of squared distances d, the default for LVQ classifiers.
        ``"rank"`` uses ``exp(-r / lambda)`` of the ranks r of the distances, as in neural gas.
    fraction, n_nearest, bandwidth : float, int, {"square", "mean", "root_sum"}
        Parameters of ``sigma`` in gating by distance. For ``"square"``, sigma is ``fraction`` times the mean squared
        distance of a typical prototype to its ``n_nearest`` others. As in the source, ``"mean"`` and ``"root_sum"``
        give each prototype its own sigma, from the mean distance to these others, or from the root of the sum of
        squared distances divided by their number; both depend on the scale of the data, so standardize the features.
    range_ : float, default=0.5
        Parameter lambda of gating by ranks; larger values make shares softer.
    cutoff : float, default=1e-8
        Share below which a chart is ignored.

    Returns
    -------
    charts : Charts
        Coordinates and shares.

    Examples
    --------
    >>> from protolearn import LGMLVQ
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> charts = charts_of(LGMLVQ(n_components=2).fit(X, y), fraction=0.1)
    >>> charts.shares(X).sum(axis=1).round(6).min()
    np.float64(1.0)
    """
    if not isinstance(model, PrototypeMap | LVQClassifier):
        raise TypeError(f"{type(model).__name__} has no charts; give a map of vectors or an LVQ classifier.")
    check_is_fitted(model)
    if not hasattr(model, "prototypes_"):
        raise TypeError(f"The prototypes of {type(model).__name__} are not vectors, so it has no charts.")
    if X is not None and X.shape[1] != model.n_features_in_:
        raise ValueError(
            f"X has {X.shape[1]} features, but {type(model).__name__} was fitted to {model.n_features_in_}."
        )
    if hasattr(model, "feature_names_in_"):  # whoever asks for charts has looked at names
        model = copy(model)
        del model.feature_names_in_
    classifies = isinstance(model, LVQClassifier)
    if gating == "auto":
        gating = "density" if isinstance(model, ShapedMap) else "distance" if classifies else "crisp"
    if gating == "density" and not isinstance(model, ShapedMap):
        if classifies or X is None:
            raise ValueError(
                f"{type(model).__name__} has no densities for gating='density'; use a map with shapes such as "
                "MatrixNeuralGas, or give X to a plain map."
            )
        model = _shaped(model, X)
    axes = _axes(model, X, n_components)
    k = len(axes)
    offsets, rates = np.zeros(k), np.ones(k)
    if gating == "density":
        # Arnonkijpanich 2010, eq. 5.3
        with np.errstate(divide="ignore"):
            offsets = np.log(model.weights_) - 0.5 * model.n_dimensions_ * np.log(2.0 * np.pi)
        rates = np.full(k, 0.5)
    elif gating == "distance":
        rates = 1.0 / _bandwidths(model, fraction, n_nearest, bandwidth)
    elif gating == "rank":
        rates = np.full(k, 1.0 / range_)
    return Charts(model, axes, Gating(gating, offsets, rates, cutoff))


def fitted_model(model: Any, X: Array, y: ArrayLike | None, rng: np.random.RandomState) -> Any:
    """Return a clone of a map or classifier, fitted to samples; one inside ``FrozenEstimator`` stays as it is.

    Parameters
    ----------
    model : estimator
        Map or LVQ classifier. It is cloned, unless it is wrapped in ``FrozenEstimator``.
    X : ndarray of shape (n, d)
        Samples.
    y : array-like of shape (n,) or None
        Labels, which are passed only to a model that uses labels.
    rng : RandomState
        Source of the seed for a model without a ``random_state`` of its own.

    Returns
    -------
    estimator
        The fitted model.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.frozen import FrozenEstimator
    >>> from protolearn import GLVQ
    >>> from protolearn.embedding.charts import fitted_model
    >>> X, y = np.array([[0.0], [0.2], [0.8], [1.0]]), [0, 0, 1, 1]
    >>> model = fitted_model(GLVQ(), X, y, np.random.RandomState(0))
    >>> model.prototypes_.shape
    (2, 1)
    >>> fitted_model(FrozenEstimator(model), X[:3], y[:3], np.random.RandomState(0)) is model
    True
    """
    if isinstance(model, FrozenEstimator):
        return model.estimator
    if not hasattr(model, "fit") or isinstance(model, type):
        raise TypeError(f"{model!r} cannot be fitted; give a map of vectors, or an LVQ classifier, for charts.")
    model = clone(model)
    if "random_state" in model.get_params() and model.random_state is None:
        model.set_params(random_state=rng.randint(np.iinfo(np.int32).max))
    learns = get_tags(model).target_tags.required or getattr(model, "label_weight", 0.0)
    return model.fit(X, y if learns else None)


def _by_ranks(distances: Array, falling: Array) -> Array:
    """Return shares (n, k) by rank: the first entry of ``falling`` for the nearest chart, the next for the second, ...

    Of equal distances, the one with the lower index is nearer.
    """
    rest, rows = np.minimum(distances, np.finfo(distances.dtype).max), np.arange(len(distances))
    shares = np.zeros(distances.shape, falling.dtype)
    for share in falling:
        nearest = rest.argmin(axis=1)
        shares[rows, nearest], rest[rows, nearest] = share, np.inf
    return shares


def _shaped(model: Any, X: Array) -> Any:
    """Return the cells of a plain map as prototypes with the covariances of their samples."""
    from protolearn.maps import MatrixKMeans

    start = {"init": model.prototypes_, "max_iter": 1, "n_jobs": model.n_jobs}
    with unfinished():
        return MatrixKMeans(len(model.prototypes_), regularization="floor", **start).fit(X)


def _is_plain(model: Any) -> bool:
    return isinstance(model, PrototypeMap) and not isinstance(model, ShapedMap)


def _axes(model: Any, X: Array | None, n_components: int | None) -> Floats:
    """Return the directions (k, m, d) of the coordinates around each prototype."""
    if isinstance(model, ShapedMap):
        axes = model.components_
    elif isinstance(model, LVQClassifier):
        metric = as_metric(model, "A chart")
        axes = metric.omegas[metric.slots]
    elif X is None:
        raise ValueError(f"{type(model).__name__} has no directions of its own; give the samples X to compute them.")
    else:
        axes = _local_directions(X, model.nearest(X), len(model.prototypes_), n_components)
    if n_components is None:
        return np.asarray(axes, np.float64)
    if n_components > axes.shape[1]:
        raise ValueError(
            f"n_components={n_components} is more than the {axes.shape[1]} directions that {type(model).__name__} has; "
            "lower it, or give the model more components."
        )
    return np.asarray(axes[:, :n_components], np.float64)


def _local_directions(X: Array, labels: Array, k: int, m: int | None) -> Floats:
    """Return the principal directions (k, m, d) of the samples of each label; small groups borrow from all others.

    By default there are as many directions as features, or as dimensions spanned by the samples if these are fewer.
    """
    d = X.shape[1]
    wanted, m = m or 0, d if m is None else min(m, d)
    counts = np.bincount(labels, minlength=k)
    means = np.stack([np.bincount(labels, column, k) for column in X.T], axis=1) / np.maximum(counts, 1)[:, None]
    gaps = X - means[labels]
    basis = row_space(gaps) if len(X) < d else None
    if basis is None or basis.shape[1] < wanted:
        require_memory(f"Charts of {d} features", 4 * 8 * (k + 1) * d**2, "use fewer features, or a small n_components")
        basis = np.empty((d, 0))
    inside = gaps @ basis if basis.size else gaps
    pooled = inside.T @ inside / len(X)
    axes = np.empty((k, min(m, len(pooled)), len(pooled)))
    for chart in range(k):
        own = inside[labels == chart]
        borrowed = m + 1 if len(own) < FEW_PER_COORDINATE * (m + 1) else 0
        axes[chart] = np.linalg.eigh(own.T @ own + borrowed * pooled)[1][:, ::-1][:, :m].T
    return axes @ basis.T if basis.size else axes


def _bandwidths(model: Any, fraction: float, n_nearest: int, kind: str) -> Floats:
    """Return the widths (k,) of Gaussian shares."""
    between = model.distances(model.prototypes_).astype(np.float64)
    np.fill_diagonal(between, np.inf)
    others = max(1, min(n_nearest, len(between) - 1))
    # Of the distances of all prototypes to one, measured by its own metric. Bunte 2011, eq. 7.5
    near = np.maximum(np.sort(between, axis=0)[:others], 0.0)
    near = np.where(np.isfinite(near), near, 1.0)
    if kind == "square":
        widths = np.full(len(between), np.median(near.mean(axis=0)))
    else:
        widths = np.sqrt(near).mean(axis=0) if kind == "mean" else np.sqrt(near.sum(axis=0)) / others
    return np.maximum(fraction * widths, np.finfo(np.float64).tiny)
