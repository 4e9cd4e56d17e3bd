"""Prototype models: their distances to samples, and their updates from sums over samples.

`Mean` is a point, `Matrix` an ellipsoid, and `Subspace` an ellipsoid in high dimensions whose covariance matrix is
never formed. Distances to the first two are linear in lifted samples, so samples are processed by a single matrix
product.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from protolearn.core.shapes import ShapeRule, Shapes, conditional, principal_shapes, sketched_shapes
from protolearn.core.sources import Chunk
from protolearn.core.statistics import Statistics
from protolearn.core.threads import block_size, cut
from protolearn.core.types import Array, Bools, Floats, Indices

__all__ = ["Gappy", "Matrix", "Mean", "Prototypes", "Subspace"]

BLOCK_BYTES = 1_600_000  # distances of a block of samples: few enough for the cache, enough to be worth a call

DENSE = 0.08  # share of pairs with a weight from which one large product is faster than many small ones

Sums = Callable[..., Statistics]


class Prototypes(Protocol):
    """Protocol of prototypes in the training loop.

    Examples
    --------
    `Mean` is the simplest of them:

    >>> import numpy as np
    >>> from protolearn.core.neighborhoods import Winner
    >>> from protolearn.core.prototypes import Mean, Prototypes
    >>> from protolearn.core.sources import ArraySource
    >>> source = ArraySource(np.array([[0.0], [2.0], [9.0]]), origin=np.zeros(1))
    >>> prototypes: Prototypes = Mean(np.array([[0.0], [8.0]]), np.ones(1))
    >>> sums = Winner().gather(prototypes, source, 0.0)
    >>> prototypes.cost(sums), prototypes.update(sums).positions.tolist()
    (2.5, [[1.0], [9.0]])
    """

    @property
    def positions(self) -> Floats:
        """Positions of the prototypes (k, D)."""

    @property
    def metric(self) -> Floats:
        """Weight of each column (D,) in the squared distance."""

    @property
    def linear(self) -> bool:
        """Whether distances and sums are linear in lifted samples."""

    def __len__(self) -> int:
        """Return the number of prototypes."""

    def measure(self, dtype: Any) -> Callable[[Chunk], tuple[Array, Sums]]:
        """Return the function that gives the distances (c, k) of a chunk, and a function of weights (k, c).

        The latter, with an optional logarithmic scale (k,) of the weights, gives the sums for an update.
        """

    def winner_search(self, dtype: Any, mixture: Any = None) -> Callable[[Chunk], NDArray[np.intp]]:
        """Return the function that gives the nearest prototype (c,) of each sample of a chunk.

        With a ``mixture`` (k, k) the mixed distances are compared.
        """

    def update(self, statistics: Statistics) -> Self:
        """Return the optimal prototypes for these sums; prototypes without samples stay unchanged."""

    def cost(self, statistics: Statistics) -> float:
        """Return half the weighted sum of distances, from the sums alone."""


class Lifted(ABC):
    """Prototypes whose distance to a sample is linear in the lifted sample."""

    positions: Floats
    metric: Floats
    n_labels: Any  # how many columns, the last, are labels
    linear = True

    def __len__(self) -> int:
        return len(self.positions)

    @property
    @abstractmethod
    def affine(self) -> Floats:
        """Rows whose product with a lifted sample is the distance; the last coefficient is the same for all."""

    def forms(self, mixture: Any = None) -> Floats:
        """Return rows whose product with a lifted sample is the distance.

        With a ``mixture``, an array (k, k) or what multiplies like one, it is an entry of ``distances @ mixture.T``, at
        no extra cost for the samples.
        """
        return self.affine if mixture is None else mixture @ self.affine

    def columns(self, dtype: Any, mixture: Any = None) -> Array:
        """Return the matrix, a column for each prototype, that turns lifted samples into (mixed) distances."""
        return np.ascontiguousarray(self.forms(mixture).T, dtype=dtype)

    def measure(self, dtype: Any) -> Callable[[Chunk], tuple[Array, Sums]]:
        """Return the function that gives distances of a chunk and its sums."""
        columns, sums = self.columns(dtype), self.sums

        def look(chunk: Chunk) -> tuple[Array, Sums]:
            return chunk.lifted @ columns, partial(sums, chunk)

        return look

    @staticmethod
    def sums(chunk: Chunk, weights: Any, log_scale: Floats | None = None) -> Statistics:
        """Sum the samples of a chunk with weights (k, c), a dense or sparse array."""
        return Statistics.of(weights, chunk.lifted, log_scale)

    def winner_search(self, dtype: Any, mixture: Any = None) -> Callable[[Chunk], NDArray[np.intp]]:
        """Return the function that gives the nearest prototypes of a chunk.

        The term ``|x|^2`` is left out if it is the same for all, and a few samples are looked at at a time, so that
        their distances stay in a cache.
        """
        columns = self.columns(dtype, mixture)
        if np.ptp(columns[-1]) < 1e-12:
            columns = columns[:-1]
        k = len(self)
        size = block_size(k * columns.itemsize, BLOCK_BYTES, least=16)

        def find(chunk: Chunk) -> NDArray[np.intp]:
            winners = np.empty(len(chunk.lifted), np.intp)
            # zeros: of one column, OpenBLAS may multiply what is there with nothing, and report that it is no number
            distances = np.zeros((min(size, len(winners)), k), columns.dtype)
            for rows in cut(len(winners), size):
                block = chunk.lifted[rows, : len(columns)]
                np.dot(block, columns, out=distances[: len(block)])
                distances[: len(block)].argmin(axis=1, out=winners[rows])
            return winners

        return find

    def means(self, statistics: Statistics) -> Floats:
        """Return the weighted mean of every prototype's samples; one without samples stays."""
        return _means(self.positions, statistics, self.n_labels)

    def cost(self, statistics: Statistics) -> float:
        """Return half the weighted sum of distances, from the sums alone."""
        twice = np.exp(statistics.log_scale) @ (self.affine * statistics.moments).sum(axis=1)
        return 0.5 * float(twice) + statistics.offset


@dataclass(frozen=True)
class Mean(Lifted):
    """Prototypes that are points; the optimal prototype of weighted samples is their mean.

    Parameters
    ----------
    positions : array of shape (k, D)
        Positions of the prototypes.
    metric : array of shape (D,)
        Weight of each column in the squared distance.
    n_labels : int, default=0
        Number of columns, the last, that are labels: a sample with zeros there has none.
    partial : bool, default=False
        Whether distances are over the values of a sample that are known, and means of these, see `ArraySource`.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.core.sources import ArraySource
    >>> prototypes = Mean(np.array([[0.0, 0.0], [3.0, 0.0]]), np.ones(2))
    >>> chunk = ArraySource(np.array([[0.0, 4.0]]), origin=np.zeros(2)).chunk(slice(None))
    >>> distances, _ = prototypes.measure(np.float64)(chunk)
    >>> distances
    array([[16., 25.]])
    """

    positions: Floats
    metric: Floats
    n_labels: int = 0
    partial: bool = False

    @cached_property
    def affine(self) -> Floats:
        """Rows (-2 m w, |w|^2_m, 1): their product with a lifted sample is the squared distance."""
        linear, constant = _linear_form(self.metric * self.positions, self.positions, self.n_labels)
        if not self.partial:
            return np.column_stack([linear, constant, np.ones(len(self))])
        features, labels = np.hsplit(linear, [linear.shape[1] - self.n_labels])
        squares = -0.5 * features * self.positions[:, : features.shape[1]]
        ends = np.tile([0.0, 1.0], (len(self), 1))
        return np.hstack([np.zeros_like(features), labels, features, squares, ends])

    def update(self, statistics: Statistics) -> Mean:
        """Move every prototype to its weighted mean; one without samples stays."""
        return replace(self, positions=self.means(statistics))

    def means(self, statistics: Statistics) -> Floats:
        """Return the weighted mean of every prototype's samples, or of their known values."""
        positions = super().means(statistics)
        if self.partial:
            d = positions.shape[1] - self.n_labels
            sums, masses = np.split(statistics.moments[:, -2 - 2 * d : -2], 2, axis=1)
            positions[:, :d] = np.divide(sums, masses, out=self.positions[:, :d].copy(), where=masses > 0)
        return positions

    def cost(self, statistics: Statistics) -> float:
        """Return half the weighted sum of squared distances, clear of rounding."""
        return max(super().cost(statistics), 0.0)


@dataclass(frozen=True)
class Matrix(Lifted):
    """Prototypes that are ellipsoids; the optimal prototype of weighted samples has their mean and covariance.

    Parameters
    ----------
    positions : array of shape (k, D)
        Positions of the prototypes.
    metric : array of shape (D,)
        Weight of each column in the squared distance: of features, which come first, and of labels.
    shapes : Shapes
        Shapes of the prototypes in the d features.
    rule : ShapeRule
        Rule that derives shapes from covariances, and distances from shapes.
    log_weights : array of shape (k,), optional
        Logarithm of the share of each prototype in a mixture; with it, twice this is subtracted from distances.
    changed : array of shape (k,), optional
        Number of directions of each prototype that were regularized.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.core.sources import ArraySource
    >>> shapes = Shapes(np.eye(2)[None], np.array([[4.0, 1.0]]), np.ones(1))
    >>> prototypes = Matrix(np.zeros((1, 2)), np.ones(2), shapes, ShapeRule(2))
    >>> chunk = ArraySource(np.array([[0.0, 4.0]]), origin=np.zeros(2), quadratic=True).chunk(slice(None))
    >>> distances, _ = prototypes.measure(np.float64)(chunk)
    >>> distances
    array([[32.]])
    """

    positions: Floats
    metric: Floats
    shapes: Shapes
    rule: ShapeRule
    log_weights: Floats | None = None
    changed: Indices = field(default_factory=lambda: np.zeros(0, np.int64))

    @property
    def n_labels(self) -> int:
        """Number of columns that are labels."""
        return len(self.metric) - self.shapes.axes.shape[2]

    @cached_property
    def affine(self) -> Floats:
        """Rows (-2 M w, upper triangle of M - 1, w'M w + c, 1), those of `Mean` for the labels.

        Without labels the ones are zeros: there a unit in the form is no use, and would hide a small one.
        """
        d = self.shapes.axes.shape[2]
        share = self.metric[0] if d else 1.0
        forms = share * self.shapes.forms(self.rule.measure)
        scaled = self.metric * self.positions
        scaled[:, :d] = (forms @ self.positions[:, :d, None])[:, :, 0]
        constant = self.shapes.gains(self.rule.measure)[2]
        if self.log_weights is not None:
            constant = constant - 2.0 * self.log_weights
        linear, squares = _linear_form(scaled, self.positions, self.n_labels)
        constant = squares + share * constant
        upper = np.triu_indices(d)
        doubled = np.where(upper[0] == upper[1], 1.0, 2.0)
        labeled = float(self.n_labels > 0)
        quadratic = doubled * (forms - labeled * share * np.eye(d))[:, upper[0], upper[1]]
        return np.column_stack([linear, quadratic, constant, np.full(len(self), labeled)])

    def cost(self, statistics: Statistics) -> float:
        """Return half the weighted sum of distances, those of the prior's samples among them, from the sums alone."""
        return super().cost(statistics) + _prior_cost(self)

    def update(self, statistics: Statistics) -> Matrix:
        """Give every prototype the mean and the covariance of its samples."""
        k, d = len(self), self.shapes.axes.shape[2]
        positions, mass = self.means(statistics), statistics.mass
        full = mass > 0
        second = np.empty((k, d, d))
        rows, columns = np.triu_indices(d)
        weighted = statistics.moments[:, len(self.metric) : -2] / np.where(full, mass, 1.0)[:, None]
        second[:, rows, columns] = second[:, columns, rows] = weighted
        means = positions[:, :d]
        covariances = second - means[:, :, None] * means[:, None, :]
        if self.rule.shared:
            shares = np.exp(statistics.log_scale) * mass
            covariances[:] = np.tensordot(shares / shares.sum(), np.where(full[:, None, None], covariances, 0.0), 1)
            full = np.ones(k, bool)
        prior, seen = self.rule.prior, _seen(self.rule, statistics)
        if prior is not None:
            covariances = prior.joined(covariances, seen)
        noise = np.finfo(np.float64).eps * d * np.abs(second).max(axis=(1, 2))[:, None]
        shapes, changed = principal_shapes(covariances, self.rule, noise.max() if self.rule.shared else noise)
        if prior is not None:
            changed = prior.decides(shapes, seen)
        return replace(
            self,
            positions=positions,
            shapes=_where(full, shapes, self.shapes),
            changed=np.where(full, changed, 0),
            log_weights=_log_shares(self.log_weights, statistics),
        )


class Gappy(Matrix):
    """Prototypes as in `Matrix`, for samples with missing values.

    Missing values contribute their expectations to the sums of each prototype: their conditional mean and covariance
    given the known values. Its distance is that of the known part, in the metric of the features that are known. With
    responsibilities this is expectation maximization (Ghahramani & Jordan 1994, sec. 3).

    Examples
    --------
    The second value of the first sample is not known:

    >>> import numpy as np
    >>> from protolearn.core.prototypes import Gappy
    >>> from protolearn.core.shapes import ShapeRule, Shapes
    >>> from protolearn.core.sources import ArraySource
    >>> shapes = Shapes(np.eye(2)[None], np.array([[4.0, 1.0]]), np.ones(1))
    >>> prototypes = Gappy(np.zeros((1, 2)), np.ones(2), shapes, ShapeRule(2, "none"))
    >>> X, gaps = np.array([[2.0, 0.0], [2.0, 3.0]]), np.array([[False, True], [False, False]])
    >>> chunk = ArraySource(X, origin=np.zeros(2), quadratic=True, gaps=gaps).chunk(slice(None))
    >>> prototypes.measure(np.float64)(chunk)[0].round(6).tolist()
    [[1.0], [10.0]]
    """

    linear = False  # what is expected depends on the prototype

    def measure(self, dtype: Any) -> Callable[[Chunk], tuple[Array, Sums]]:
        """Return the function that gives distances of a chunk and its sums."""
        look_whole = super().measure(dtype)

        def look(chunk: Chunk) -> tuple[Array, Sums]:
            distances, sums_of_whole = look_whole(chunk)
            assert chunk.gaps is not None
            rows = np.flatnonzero(chunk.gaps.any(axis=1))
            if not len(rows):
                return distances, sums_of_whole
            expected, distances[rows] = self._expected(chunk.lifted[rows], chunk.gaps[rows])
            excess = distances[rows].T - np.einsum("krl,kl->kr", expected, self.affine)

            def sums(weights: Any, log_scale: Floats | None = None) -> Statistics:
                dense = np.array(weights.toarray() if hasattr(weights, "toarray") else weights)
                gappy = dense[:, rows]
                dense[:, rows] = 0.0
                whole = sums_of_whole(dense, log_scale)
                moments = whole.moments + np.einsum("kr,krl->kl", gappy, expected)
                offset = 0.5 * float(np.exp(whole.log_scale) @ (gappy * excess).sum(axis=1))
                return Statistics(moments, whole.log_scale, offset)

            return distances, sums

        return look

    def _expected(self, lifted: Floats, gaps: Bools) -> tuple[Floats, Floats]:
        """Return expected lifted samples (k, r, L) and distances (r, k) of samples (r, L) with gaps."""
        k, d, share = len(self), self.shapes.axes.shape[2], self.metric[0]
        upper = np.triu_indices(d)
        constant = np.zeros(k) if self.log_weights is None else -2.0 * self.log_weights
        expected, distances = np.tile(lifted, (k, 1, 1)), np.empty((len(lifted), k))
        expected[:, :, -1] -= share * (lifted[:, :d] ** 2).sum(axis=1)
        patterns, group = np.unique(gaps, axis=0, return_inverse=True)
        for number, gap in enumerate(patterns):
            rows = np.flatnonzero(group.ravel() == number)
            for i in range(k):
                near = lifted[rows][:, :d][:, ~gap] - self.positions[i, :d][~gap]
                squared, fills, log_det, spread = conditional(near, self.shapes[i : i + 1], gap)
                points, covariance = lifted[rows, :d], np.zeros((d, d))
                points[:, gap] = fills + self.positions[i, :d][gap]
                covariance[np.ix_(gap, gap)] = spread
                expected[i, rows, :d] = points
                products = points[:, upper[0]] * points[:, upper[1]] + covariance[upper]
                expected[i, rows, len(self.metric) : -2] = products
                expected[i, rows, -1] += share * ((points**2).sum(axis=1) + np.trace(covariance))
                known = self._known_distances(squared, log_det, near.shape[1])
                if known is None:
                    distances[rows, i] = expected[i, rows] @ self.affine[i]
                else:
                    distances[rows, i] = share * (known + constant[i])
                    labels = lifted[rows, d : len(self.metric)] - self.positions[i, d:]
                    distances[rows, i] += (self.metric[d:] * labels**2).sum(axis=1)
        return expected, distances

    def _known_distances(self, squared: Floats, log_det: float, n_known: int) -> Floats | None:
        """Return the distances of known parts, if the measure has one of its own for them."""
        if self.rule.measure == "det":
            return np.exp(log_det / n_known) * squared
        if self.rule.measure == "logdet":
            return squared + log_det
        return squared if self.rule.measure == "none" else None


@dataclass(frozen=True)
class Subspace:
    """Prototypes with a few principal directions each, for samples of many features.

    The sums hold the product of the covariance with the earlier directions only, from which new directions follow
    (`sketched_shapes`): no d x d matrix is formed. Parameters are those of `Matrix`.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.core.sources import ArraySource
    >>> shapes = Shapes(np.eye(1, 3)[None], np.array([[4.0]]), np.array([0.5]))
    >>> prototypes = Subspace(np.zeros((1, 3)), np.ones(3), shapes, ShapeRule(1, measure="none"))
    >>> chunk = ArraySource(np.array([[4.0, 3.0, 0.0]]), origin=np.zeros(3)).chunk(slice(None))
    >>> distances, _ = prototypes.measure(np.float64)(chunk)
    >>> distances
    array([[22.]])
    """

    positions: Floats
    metric: Floats
    shapes: Shapes
    rule: ShapeRule
    log_weights: Floats | None = None
    changed: Indices = field(default_factory=lambda: np.zeros(0, np.int64))
    linear = False

    def __len__(self) -> int:
        return len(self.positions)

    def measure(self, dtype: Any) -> Callable[[Chunk], tuple[Array, Sums]]:
        """Return the function that gives distances of a chunk and its sums."""
        k, q, d = self.shapes.axes.shape
        share = self.metric[0]
        gains, other, constant = self._gains()
        directions = np.ascontiguousarray(self.shapes.axes.reshape(k * q, d).T, dtype=dtype)
        offsets = (self.shapes.axes @ self.positions[:, :d, None]).reshape(k * q).astype(dtype)
        points = Mean(self.positions[:, :d], np.ones(d)).columns(dtype)
        labels = self._labels
        gaps = (gains - other[:, None]).reshape(k * q).astype(dtype)
        other, constant = other.astype(dtype), constant.astype(dtype)

        def look(chunk: Chunk) -> tuple[Array, Sums]:
            from protolearn.core._kernels import shape_distances

            features = np.ascontiguousarray(chunk.points[:, :d])
            coordinates = features @ directions
            squared = features @ points[:d]
            norms = np.einsum("ij,ij->i", features, features)
            distances = np.empty_like(squared)
            shape_distances(coordinates, offsets, squared, norms, points[d], gaps, other, constant, distances)
            if len(self.metric) > d:
                fuzzy = chunk.points[:, d:]
                distances *= dtype.type(share)
                distances += _squared_distances(fuzzy, labels)
            return distances, lambda weights, log_scale=None: self._sums(
                chunk, features, coordinates, squared, weights, log_scale
            )

        return look

    def winner_search(self, dtype: Any, mixture: Any = None) -> Callable[[Chunk], NDArray[np.intp]]:
        """Return the function that gives the nearest prototypes of a chunk."""
        look = self.measure(dtype)
        mix = None if mixture is None else mixture.T.astype(dtype)

        def find(chunk: Chunk) -> NDArray[np.intp]:
            distances, _ = look(chunk)
            return (distances if mix is None else distances @ mix).argmin(axis=1)

        return find

    @property
    def _labels(self) -> Mean:
        """Return the labels alone, as prototypes of labels."""
        d = self.shapes.axes.shape[2]
        return Mean(self.positions[:, d:], self.metric[d:], len(self.metric) - d)

    def _gains(self) -> tuple[Floats, Floats, Floats]:
        gains, other, constant = self.shapes.gains(self.rule.measure)
        return gains, other, constant if self.log_weights is None else constant - 2.0 * self.log_weights

    def _sums(
        self,
        chunk: Chunk,
        features: Array,
        coordinates: Array,
        squared: Array,
        weights: Any,
        log_scale: Floats | None,
    ) -> Statistics:
        """Return rows ``sum h (x, y, xi y', |xi|^2, 1, |x|^2)`` for each prototype, xi measured from where it is."""
        from protolearn.core._kernels import add_products

        k, q, d = self.shapes.axes.shape
        weights = np.ascontiguousarray(weights.T.toarray() if hasattr(weights, "toarray") else weights.T)  # (c, k)
        plain = weights.T @ np.column_stack([chunk.points, chunk.lifted[:, -2:]])
        products = np.zeros((k, q, d))
        least = 1e-9 * weights.max(axis=0)  # weights below that change nothing
        if np.count_nonzero(weights > least) > DENSE * weights.size:
            pulled = (coordinates.reshape(-1, k, q) * weights[:, :, None]).reshape(-1, k * q)
            products += (pulled.T @ features).reshape(k, q, d)
            products -= pulled.sum(axis=0).reshape(k, q, 1) * self.positions[:, None, :d]
        else:
            add_products(features, weights, least, coordinates, self.positions[:, :d], products)
        spread = np.einsum("ck,ck->k", weights, squared, dtype=np.float64)
        if chunk.spreads is not None:
            fat = weights[-len(chunk.spreads) :].astype(np.float64)
            rest = chunk.spreads.rest if chunk.spreads.n_other else np.zeros(len(chunk.spreads))
            extra = chunk.spreads.variances - rest[:, None]
            for f, share in enumerate(fat):
                seen = self.shapes.axes @ chunk.spreads.axes[f].T
                turned = (seen * extra[f]) @ chunk.spreads.axes[f] + rest[f] * self.shapes.axes
                products += share[:, None, None] * turned
                spread += share * (extra[f].sum() + rest[f] * d)
        moments = np.column_stack([plain[:, :-2], products.reshape(k, q * d), spread, plain[:, -2:]])
        return Statistics(moments, np.zeros(k) if log_scale is None else log_scale)

    def update(self, statistics: Statistics) -> Subspace:
        """Give every prototype the mean of its samples and the directions of their sketched covariance."""
        k, q, d = self.shapes.axes.shape
        mass = statistics.mass
        full = mass > 0
        safe = np.where(full, mass, 1.0)
        positions = _means(self.positions, statistics, len(self.metric) - d)
        moved = positions[:, :d] - self.positions[:, :d]
        seen = (self.shapes.axes @ moved[:, :, None])[:, :, 0]
        products = statistics.moments[:, len(self.metric) : -3].reshape(k, q, d) / safe[:, None, None]
        products = products - seen[:, :, None] * moved[:, None, :]
        totals = np.maximum(statistics.moments[:, -3] / safe - (moved**2).sum(axis=1), 0.0)
        if self.rule.shared:
            shares = np.exp(statistics.log_scale) * mass
            shares = shares / shares.sum()
            products = np.broadcast_to(np.tensordot(shares, products, 1), products.shape)
            totals = np.full(k, shares @ totals)
            full = np.ones(k, bool)
        prior, own = self.rule.prior, _seen(self.rule, statistics)
        if prior is not None:
            both = own + prior.mass
            products = (own / both)[:, None, None] * products + self.shapes.axes * prior.scatter / both[:, None, None]
            totals = (own * totals + prior.scatter.sum()) / both
        shapes, changed = sketched_shapes(self.shapes.axes, products, totals, self.rule)
        if prior is not None:
            changed = prior.decides(shapes, own)
        return replace(
            self,
            positions=positions,
            shapes=_where(full, shapes, self.shapes),
            changed=np.where(full, changed, 0),
            log_weights=_log_shares(self.log_weights, statistics),
        )

    def cost(self, statistics: Statistics) -> float:
        """Return half the weighted sum of distances, from the sums alone."""
        k, q, d = self.shapes.axes.shape
        gains, other, constant = self._gains()
        products = statistics.moments[:, len(self.metric) : -3].reshape(k, q, d)
        along = (products * self.shapes.axes).sum(axis=2)
        spread = statistics.moments[:, -3]
        twice = ((gains - other[:, None]) * along).sum(axis=1) + other * spread + constant * statistics.mass
        if len(self.metric) > d:
            twice = self.metric[0] * twice + self._label_costs(statistics)
        return 0.5 * float(np.exp(statistics.log_scale) @ twice) + statistics.offset + _prior_cost(self)

    def _label_costs(self, statistics: Statistics) -> Floats:
        """Return the weighted sum of squared distances of labels to those of each prototype."""
        d = self.shapes.axes.shape[2]
        centers, sums, mass = self.positions[:, :d], statistics.moments[:, :d], statistics.mass
        squares = statistics.moments[:, -3] + 2.0 * (centers * sums).sum(axis=1) - mass * (centers**2).sum(axis=1)
        norms = statistics.moments[:, -1] - self.metric[0] * squares
        lifted = np.column_stack([statistics.moments[:, d : len(self.metric)], mass, norms])
        return (self._labels.affine * lifted).sum(axis=1)


def _linear_form(scaled: Floats, positions: Floats, n_labels: int) -> tuple[Floats, Floats]:
    """Return the factors (k, D) of a sample, and the constant (k,), of ``(x - w)'M(x - w) - x'M x``, ``scaled`` = M w.

    Label columns of a sample add up to one, or to zero if it has no label, so that they take their constant along.
    """
    linear, squares = -2.0 * scaled, scaled * positions
    d = positions.shape[1] - n_labels
    linear[:, d:] += squares[:, d:].sum(axis=1, keepdims=True)
    return linear, squares[:, :d].sum(axis=1)


def _means(positions: Floats, statistics: Statistics, n_labels: int) -> Floats:
    """Return weighted means, labels among those that have one; a prototype that there are no samples for stays."""
    sums = statistics.moments[:, : positions.shape[1]]
    d = positions.shape[1] - n_labels
    mass = np.repeat(statistics.mass[:, None], positions.shape[1], axis=1)
    mass[:, d:] = sums[:, d:].sum(axis=1, keepdims=True)
    return np.divide(sums, mass, out=positions.copy(), where=mass > 0)


def _where(full: Bools, shapes: Shapes, earlier: Shapes) -> Shapes:
    """Return shapes, the earlier ones where there are no samples."""
    if full.all():
        return shapes
    return Shapes(
        np.where(full[:, None, None], shapes.axes, earlier.axes),
        np.where(full[:, None], shapes.variances, earlier.variances),
        np.where(full, shapes.rest, earlier.rest),
        None if shapes.swap_condition is None else shapes.swap_condition | ~full,
        shapes.more,
    )


def _seen(rule: ShapeRule, statistics: Statistics) -> Floats:
    """Return the weight of the samples that the shape of each prototype is learned from."""
    mass = np.exp(statistics.log_scale) * statistics.mass
    return np.full(len(mass), mass.sum()) if rule.shared else mass


def _prior_cost(prototypes: Matrix | Subspace) -> float:
    """Return what the samples of the prior cost; a shared shape has them once."""
    prior, shapes, measure = prototypes.rule.prior, prototypes.shapes, prototypes.rule.measure
    if prior is None:
        return 0.0
    costs = shapes.traces(measure, prior.scatter) + prior.mass * shapes.gains(measure)[2]
    return 0.5 * float(prototypes.metric[0] * (costs[0] if prototypes.rule.shared else costs.sum()))


def _log_shares(log_weights: Floats | None, statistics: Statistics) -> Floats | None:
    """Return the logarithm of the share of every prototype in all samples, if there were shares before."""
    if log_weights is None:
        return None
    mass = np.maximum(np.exp(statistics.log_scale) * statistics.mass, 1e-300)
    return np.log(mass / mass.sum())


def _squared_distances(points: Array, prototypes: Mean) -> Array:
    """Return squared distances (c, k) of points to prototypes."""
    norms = (prototypes.metric * points**2).sum(axis=1, keepdims=True)
    columns = prototypes.columns(points.dtype)
    return points @ columns[:-2] + columns[-2] + norms.astype(points.dtype)
