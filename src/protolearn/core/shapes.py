"""Shape of a prototype: an ellipsoid, given by directions, the variance along each, and one variance for the rest.

All distances between a sample and a prototype with a shape are of one form, ``sum_a g_a y_a^2 + r e^2 + c``: ``y`` are
the coordinates along the directions, ``e^2`` what they leave of the squared length, and the gains ``g, r, c`` follow
from the variances. Distances, densities and completed vectors are computed from these numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.linalg import qr
from scipy.special import logsumexp

from protolearn.core.numerics import TIED
from protolearn.core.types import Array, Bools, Floats, Indices

__all__ = [
    "Prior",
    "ShapeRule",
    "Shapes",
    "completed",
    "conditional",
    "no_swap_helps",
    "optimal_block",
    "principal_shapes",
    "sketched_shapes",
]


PRIOR_SAMPLES = 0.1  # a whole one blurs thin shapes, and less leaves small samples to chance

MEASURES = ("det", "logdet", "none", "euclidean", "mahalanobis", "residual", "reconstruction")
REGULARIZATIONS = ("prior", "floor", "ridge", "pinv", "tikhonov", "none")


@dataclass(frozen=True)
class Shapes:
    """Ellipsoidal shapes of k prototypes in d dimensions.

    Parameters
    ----------
    axes : array of shape (k, q, d)
        Orthonormal directions, in rows.
    variances : array of shape (k, q)
        Variance along each direction; infinite for one that distances leave out.
    rest : array of shape (k,)
        Variance along each of the other d - q directions, infinite if distances leave them out; of no meaning if there
        are none.
    swap_condition : array of shape (k,), optional
        Whether no exchange of an axis for another direction would lower the cost, where that is known.
    more : int, default=0
        Number of other directions for which there is no coordinate. They are as the last coordinate, which no axis has.

    Examples
    --------
    >>> import numpy as np
    >>> shapes = Shapes(np.array([[[1.0, 0.0, 0.0]]]), np.array([[4.0]]), np.array([0.5]))
    >>> shapes.covariances[0]
    array([[4. , 0. , 0. ],
           [0. , 0.5, 0. ],
           [0. , 0. , 0.5]])
    >>> shapes.log_determinants
    array([0.])
    """

    axes: Floats
    variances: Floats
    rest: Floats
    swap_condition: Bools | None = None
    more: int = 0

    def __len__(self) -> int:
        return len(self.axes)

    def __getitem__(self, index: Any) -> Shapes:
        condition = None if self.swap_condition is None else self.swap_condition[index]
        return Shapes(self.axes[index], self.variances[index], self.rest[index], condition, self.more)

    def joined(self, other: Shapes) -> Shapes:
        """Append other shapes; where some have fewer axes than others, they get more of length zero."""
        q = max(self.axes.shape[1], other.axes.shape[1])
        parts = self._with_axes(q), other._with_axes(q)
        return Shapes(
            np.concatenate([part.axes for part in parts]),
            np.concatenate([part.variances for part in parts]),
            np.concatenate([self.rest, other.rest]),
            more=self.more,
        )

    def _with_axes(self, n_axes: int) -> Shapes:
        k, q, d = self.axes.shape
        if q == n_axes:
            return self
        axes = np.concatenate([self.axes, np.zeros((k, n_axes - q, d))], axis=1)
        variances = np.column_stack([self.variances, np.repeat(self.rest[:, None], n_axes - q, axis=1)])
        return Shapes(axes, variances, self.rest, more=self.more)

    @property
    def n_other(self) -> int:
        """Number of directions other than the axes."""
        return self.axes.shape[2] - self.axes.shape[1] + self.more

    @cached_property
    def covariances(self) -> Floats:
        """Covariance matrices (k, d, d); directions without a finite variance count as having none."""
        rest = np.where(np.isfinite(self.rest), self.rest, 0.0)[:, None] if self.n_other else np.zeros((len(self), 1))
        extra = np.where(np.isfinite(self.variances), self.variances, 0.0) - rest
        return np.swapaxes(self.axes, 1, 2) @ (extra[:, :, None] * self.axes) + rest[:, :, None] * np.eye(
            self.axes.shape[2]
        )

    @cached_property
    def n_dimensions(self) -> Indices:
        """Number of directions that count, of each prototype."""
        return np.isfinite(self.variances).sum(axis=1) + self.n_other * np.isfinite(self.rest)

    @cached_property
    def log_determinants(self) -> Floats:
        """Logarithm of the determinant of each covariance, over the directions that count."""
        logs = np.where(np.isfinite(self.variances), np.log(self.variances), 0.0).sum(axis=1)
        return logs + self.n_other * np.where(np.isfinite(self.rest), np.log(self.rest), 0.0) if self.n_other else logs

    def gains(self, measure: str) -> tuple[Floats, Floats, Floats]:
        """Return g (k, q), r (k,) and c (k,) of the distance ``sum_a g_a y_a^2 + r e^2 + c``."""
        k = len(self)
        inverse, other = 1.0 / self.variances, 1.0 / self.rest if self.n_other else np.zeros(k)
        if measure == "det":  # determinant one; Arnonkijpanich 2010, eq. 3.8
            scale = np.exp(self.log_determinants / self.n_dimensions)
            return scale[:, None] * inverse, scale * other, np.zeros(k)
        if measure == "logdet":  # Moeller & Hoffmann 2004, eq. 3
            return inverse, other, self.log_determinants
        if measure == "mahalanobis":
            logs = np.where(np.isfinite(self.variances), np.log(self.variances), 0.0)
            return inverse, np.zeros(k), logs.sum(axis=1)
        if measure == "residual":  # Moeller & Hoffmann 2004, eq. 13
            return np.zeros_like(inverse), np.ones(k), np.zeros(k)
        if measure == "reconstruction":  # the same; of subspaces that are equally good, that of the nearest center
            return np.full_like(inverse, TIED), np.ones(k), np.zeros(k)
        if measure == "euclidean":
            return np.ones_like(inverse), np.ones(k), np.zeros(k)
        return inverse, other, np.zeros(k)

    def traces(self, measure: str, scatter: Floats) -> Floats:
        """Return the sum of distances (k,) of samples with a diagonal scatter (d,) around each prototype."""
        gains, other, _ = self.gains(measure)
        along = self.axes**2 @ scatter
        return (gains * along).sum(axis=1) + other * (self._total(scatter) - along.sum(axis=1))

    def forms(self, measure: str) -> Floats:
        """Return the matrices (k, d, d) of the quadratic part of the distance."""
        gains, other, _ = self.gains(measure)
        count = np.ones(self.axes.shape[2])
        count[-1] += self.more
        inside = np.swapaxes(self.axes, 1, 2) @ ((gains - other[:, None])[:, :, None] * self.axes)
        return inside + other[:, None, None] * np.diag(count)

    def _total(self, scatter: Floats) -> float:
        """Return the sum of a scatter (d,) over all directions."""
        return float(scatter.sum() + self.more * scatter[-1])


@dataclass(frozen=True)
class Prior:
    """Prior of the covariances: virtual samples of every prototype that keep its covariance from being singular.

    Covariances become those of both together. That minimizes the cost of both, so a cost with the prior in it
    (`Shapes.traces`) still falls in every epoch, and can be compared between starts.

    Parameters
    ----------
    mass : float
        Weight of these samples.
    scatter : array of shape (d,)
        Diagonal of the sum of their squared deviations from the prototype, wherever it is.

    Examples
    --------
    Samples of weight 3 that do not vary at all:

    >>> import numpy as np
    >>> from protolearn.core.shapes import Prior
    >>> Prior(mass=1.0, scatter=np.array([1.0, 1.0])).joined(np.zeros((1, 2, 2)), np.array([3.0])).tolist()
    [[[0.25, 0.0], [0.0, 0.25]]]
    """

    mass: float
    scatter: Floats

    @classmethod
    def of(cls, variances: Floats, resolutions: Floats, k: int, total: float, unit: float) -> Prior:
        """Return the prior of k prototypes for samples of this total weight and mean weight.

        A tenth of a sample, as far off as k equal parts of all samples reach (after Fraley & Raftery 2007, sec. 2.2);
        and, since a value that is recorded in steps stands for all values of its step, the variance within a step
        (Sheppard 1898).
        """
        d = len(variances)
        typical = np.where(variances > 0, variances, variances.mean() or 1.0)
        steps = np.minimum(resolutions**2 / 12.0, variances)
        mass = PRIOR_SAMPLES * unit
        return cls(mass, mass * typical * k ** (-2.0 / d) + total / k * steps)

    def joined(self, covariances: Floats, mass: Floats) -> Floats:
        """Return covariances (k, d, d) of samples of a mass (k,) and of the prior together."""
        both = mass + self.mass
        return (mass / both)[:, None, None] * covariances + np.diag(self.scatter) / both[:, None, None]

    def decides(self, shapes: Shapes, mass: Floats) -> Indices:
        """Return in how many directions of each prototype the samples vary less than the prior."""
        both = mass + self.mass
        along = shapes.axes**2 @ self.scatter
        others = (shapes._total(self.scatter) - along.sum(axis=1)) / max(shapes.n_other, 1)
        few = (shapes.variances < 2.0 * along / both[:, None]).sum(axis=1)
        return few + np.where(shapes.rest < 2.0 * others / both, shapes.n_other, 0)


@dataclass(frozen=True)
class ShapeRule:
    """Rule that derives shapes from covariances.

    Parameters
    ----------
    n_components : int
        Number of directions that are kept.
    measure : str, default="det"
        Distance defined by the shapes, see `Shapes.gains`.
    regularization : {"prior", "floor", "ridge", "pinv", "tikhonov", "none"}, default="floor"
        Treatment of small variances.
    epsilon : float, default=1e-6
        Smallest variance allowed, relative to the mean variance of the prototype.
    selection : {"top", "optimal"}, default="top"
        Choice of the directions: those of largest variance, or those that minimize the cost.
    shared : bool, default=False
        Whether all prototypes share one shape.
    unit : float, default=1.0
        Mean variance of all samples, below a thousandth of which no prototype's mean variance counts.
    prior : Prior, optional
        What every prototype has seen before its samples, if ``regularization`` is "prior".
    n_hidden : int, default=0
        Number of directions that the last coordinate stands for, if it is not one of those in which samples differ.

    Examples
    --------
    A variance of zero is lifted to a tenth of the mean:

    >>> import numpy as np
    >>> from protolearn.core.shapes import ShapeRule
    >>> variances, n_changed = ShapeRule(2, epsilon=0.1).regularized(np.array([[9.0, 0.0]]))
    >>> variances.round(6).tolist(), n_changed.tolist()
    ([[9.0, 0.45]], [1])
    """

    n_components: int
    measure: str = "det"
    regularization: str = "floor"
    epsilon: float = 1e-6
    selection: str = "top"
    shared: bool = False
    unit: float = 1.0
    prior: Prior | None = None
    n_hidden: int = 0

    def regularized(self, values: Floats) -> tuple[Floats, Indices]:
        """Return variances (k, q) that distances can be divided by, and how many of each row had to change.

        ``floor`` lifts small ones, as does ``prior`` after adding its samples, ``ridge`` adds to all, ``pinv``
        makes small ones infinite, so that they do not count, ``tikhonov`` inverts ``s`` to ``s / (s^2 + eps)``,
        ``none`` refuses them.
        """
        reference = np.maximum(values.mean(axis=1, keepdims=True), 1e-3 * self.unit)
        small = values < self.epsilon * reference
        if self.regularization == "none":
            singular = (values <= 1e-14 * reference).any(axis=1)
            if singular.any():
                raise ValueError(
                    f"The samples of prototype {int(singular.argmax())} do not vary in every direction, so its "
                    "matrix has no inverse; use regularization='floor', fewer prototypes, or n_components."
                )
            return values, np.zeros(len(values), np.int64)
        if self.regularization in ("prior", "floor"):
            return np.maximum(values, self.epsilon * reference), small.sum(axis=1)
        if self.regularization == "ridge":
            return values + self.epsilon * reference, small.sum(axis=1)
        if self.regularization == "pinv":
            null = values <= max(self.epsilon, 1e-15) * np.maximum(values.max(axis=1, keepdims=True), 1e-3 * self.unit)
            null[:, 0] = False  # one direction is always left
            return np.where(null, np.inf, np.maximum(values, 1e-12 * self.unit)), null.sum(axis=1)
        fades = values < np.sqrt(self.epsilon) * reference  # Arnonkijpanich 2010, sec. 3.2
        fades[:, 0] = False
        damped = values + self.epsilon * reference**2 / np.where(values > 0, values, reference)
        return np.where(fades, np.inf, damped), fades.sum(axis=1)


def principal_shapes(covariances: Floats, rule: ShapeRule, noise: Floats | float = 0.0) -> tuple[Shapes, Indices]:
    """Return shapes from covariances (k, d, d), and how many directions of each were regularized.

    Variances up to ``noise`` (k, 1), the rounding of the covariances, count as none.

    Examples
    --------
    >>> import numpy as np
    >>> shapes, _ = principal_shapes(np.diag([1.0, 9.0, 3.0])[None], ShapeRule(n_components=1))
    >>> np.abs(shapes.axes), shapes.variances, shapes.rest
    (array([[[0., 1., 0.]]]), array([[9.]]), array([2.]))
    """
    if rule.n_hidden:
        return _shapes_in_span(covariances, rule, noise)
    axes, raw = _principal_axes(covariances, noise)
    values, changed = rule.regularized(raw)
    for i in np.flatnonzero(changed):
        axes[i] = _settled_axes(axes[i], int((raw[i] > 1e-12 * max(raw[i, 0], rule.unit)).sum()))
    q, d = rule.n_components, axes.shape[1]
    if q == d:
        return Shapes(np.ascontiguousarray(axes), values, np.ones(len(axes)), np.ones(len(axes), bool)), changed
    first = np.full(len(axes), q) if rule.selection == "top" else optimal_block(values, q)
    columns = np.arange(d)
    rest = (columns >= first[:, None]) & (columns < first[:, None] + d - q)
    finite = rest & np.isfinite(values)
    sums, counts = np.where(finite, values, 0.0).sum(axis=1), finite.sum(axis=1)
    others = np.where(counts > 0, sums / np.maximum(counts, 1), np.inf)
    kept, left = values[~rest].reshape(len(axes), q), values[rest].reshape(len(axes), d - q)
    return Shapes(axes[~rest].reshape(len(axes), q, d), kept, others, no_swap_helps(kept, left)), changed


def _shapes_in_span(covariances: Floats, rule: ShapeRule, noise: Floats | float) -> tuple[Shapes, Indices]:
    """Return shapes from covariances (k, r + 1, r + 1), whose last coordinate stands for all other directions."""
    axes, raw = _principal_axes(covariances[:, :-1, :-1], noise)
    hidden = np.where(covariances[:, -1, -1:] > noise, covariances[:, -1, -1:], 0.0)
    values, changed = rule.regularized(np.column_stack([raw, np.repeat(hidden, rule.n_hidden, axis=1)]))
    for i in np.flatnonzero(changed):
        axes[i] = _settled_axes(axes[i], int((raw[i] > 1e-12 * max(raw[i, 0], rule.unit)).sum()))
    k, r = raw.shape
    axes = np.concatenate([axes, np.zeros((k, r, 1))], axis=2)
    return Shapes(axes, values[:, :r], values[:, -1], np.ones(k, bool), rule.n_hidden - 1), changed


def _principal_axes(covariances: Floats, noise: Floats | float) -> tuple[Floats, Floats]:
    """Return the axes (k, d, d) of covariances and their variances (k, d), largest first."""
    values, vectors = np.linalg.eigh(0.5 * (covariances + np.swapaxes(covariances, 1, 2)))
    return np.swapaxes(vectors, 1, 2)[:, ::-1], np.where(values > noise, values, 0.0)[:, ::-1]


def _settled_axes(axes: Floats, n_certain: int) -> Floats:
    """Return orthonormal axes (d, d), of which the last, where samples do not vary, follow from the first alone."""
    certain = axes[:n_certain]
    left = np.eye(axes.shape[1]) - certain.T @ certain
    preference = 1.0 - 1e-6 * np.arange(len(left))  # of equal features, the first
    _, _, order = qr(left * preference, mode="economic", pivoting=True)
    others = np.linalg.qr(np.vstack([certain, left[order[: len(axes) - n_certain]]]).T)[0].T[n_certain:]
    return np.vstack([certain, others])


def optimal_block(values: Floats, n_components: int) -> Indices:
    """Return where the most equal d - q of the variances (k, d), in falling order, begin.

    The cost of a shape with determinant one is ``d`` times the geometric mean of all variances times a power of the
    ratio of arithmetic to geometric mean among those that are replaced by their mean, and the best such set is
    contiguous.

    Examples
    --------
    >>> import numpy as np
    >>> optimal_block(np.array([[24.177, 10.212, 0.775, 0.197]]), 2)
    array([0])
    """
    size = values.shape[1] - n_components
    blocks = np.lib.stride_tricks.sliding_window_view(values, size, axis=1)
    return (np.log(blocks.mean(axis=2)) - np.log(blocks).mean(axis=2)).argmin(axis=1)


def no_swap_helps(kept: Floats, left: Floats) -> Bools:
    """Say (k,) whether no exchange of a variance that is kept (k, q) for one of the others (k, r) lowers the cost.

    The cost of a shape with determinant one grows with the product of those kept times the r-th power of the sum of the
    others. Exchanges of several at once may lower it all the same.

    Examples
    --------
    >>> import numpy as np
    >>> no_swap_helps(np.array([[24.177, 10.212], [24.177, 10.212]]), np.array([[0.775, 0.197], [9.0, 0.1]]))
    array([ True, False])
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        p, q = kept[:, :, None], left[:, None, :]
        apart = q.sum(axis=2, keepdims=True) - q
        gaps = np.log(q) - np.log(p) + q.shape[2] * (np.log(apart + p) - np.log(apart + q))
    return ~(gaps < -1e-9).any(axis=(1, 2))  # Arnonkijpanich 2010, eq. 3.18, for all pairs


def sketched_shapes(axes: Floats, products: Floats, totals: Floats, rule: ShapeRule) -> tuple[Shapes, Indices]:
    """Return shapes from products (k, q, d) of earlier directions with the covariances, and traces (k,).

    The covariance C is known by ``Y = C V'`` only. ``Y (V Y)^-1 Y'`` agrees with C on the earlier directions V and is
    never larger; its eigenvectors are closer to those of C than V by a factor like that of a step and a half of the
    power method. Repeated in every epoch they converge, and no d x d matrix is ever formed.

    Parameters
    ----------
    axes : ndarray of shape (k, q, d)
        Earlier directions.
    products : ndarray of shape (k, q, d)
        Their products with the covariances.
    totals : ndarray of shape (k,)
        Traces of the covariances.
    rule : ShapeRule
        Rule that derives shapes from covariances.

    Returns
    -------
    shapes : Shapes
        The shapes.
    n_changed : ndarray of shape (k,)
        How many variances of each were regularized.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.core.shapes import ShapeRule, sketched_shapes
    >>> C, axes = np.diag([9.0, 3.0, 1.0]), np.array([[[0.8, 0.6, 0.0]]])
    >>> for _ in range(20):
    ...     shapes, _ = sketched_shapes(axes, axes @ C, np.array([13.0]), ShapeRule(1))
    ...     axes = shapes.axes
    >>> shapes.variances.round(6).tolist(), shapes.rest.round(6).tolist()
    ([[9.0]], [2.0])
    """
    q, d = axes.shape[1:]
    values, vectors = np.linalg.eigh(axes @ np.swapaxes(products, 1, 2))
    kept = values > 1e-12 * np.maximum(values[:, -1:], 1e-300)
    roots = np.where(kept, 1.0 / np.sqrt(np.where(kept, values, 1.0)), 0.0)
    halves = roots[:, :, None] * (np.swapaxes(vectors, 1, 2) @ products)  # its square is the sketch
    _, sizes, rows = np.linalg.svd(halves, full_matrices=False)
    raw = np.minimum(sizes**2, totals[:, None])
    rest = (totals - raw.sum(axis=1)) / max(d - q, 1)
    variances, changed = rule.regularized(np.column_stack([raw, np.repeat(np.maximum(rest, 0.0)[:, None], d - q, 1)]))
    return Shapes(rows, variances[:, :q], variances[:, q:].mean(axis=1) if d > q else np.ones(len(axes))), changed


def completed(
    X: Array, positions: Floats, shapes: Shapes, log_weights: Floats, how: str, measure: str = "logdet"
) -> tuple[Floats, Indices]:
    """Impute missing values (NaN) of samples (n, d) by conditional means, and return the prototype of each sample.

    ``how`` selects the prototype: ``"joint"`` by the smallest distance of the completed sample, ``"marginal"`` by the
    density of the known values; ``"blend"`` averages over all prototypes with their posterior probabilities given the
    known values.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Samples with missing values.
    positions : ndarray of shape (k, d)
        Positions of the prototypes.
    shapes : Shapes
        Their shapes.
    log_weights : ndarray of shape (k,)
        Logarithms of the mixture weights.
    how : {"joint", "marginal", "blend"}
        Choice of the prototype.
    measure : str, default="logdet"
        The distance, see `Shapes.gains`.

    Returns
    -------
    X : ndarray of shape (n, d)
        Completed samples.
    chosen : ndarray of shape (n,)
        The prototype of each.

    Examples
    --------
    Two correlated features:

    >>> import numpy as np
    >>> from protolearn.core.shapes import Shapes, completed
    >>> shapes = Shapes(np.array([[[1.0, 1.0]]]) / np.sqrt(2.0), np.array([[3.0]]), np.ones(1))
    >>> X, chosen = completed(np.array([[3.0, np.nan]]), np.ones((1, 2)), shapes, np.zeros(1), "joint")
    >>> X.round(6).tolist(), chosen.tolist()
    ([[3.0, 2.0]], [0])
    """
    scale = np.exp(shapes.log_determinants / shapes.n_dimensions) if measure == "det" else np.ones(len(shapes))
    volume = np.zeros(len(shapes)) if measure in ("det", "none") else shapes.log_determinants
    result, chosen = X.astype(np.float64), np.zeros(len(X), np.int64)
    gaps, group = np.unique(np.isnan(X), axis=0, return_inverse=True)
    for number, gap in enumerate(gaps):
        rows = np.flatnonzero(group.ravel() == number)
        known = X[rows][:, ~gap].astype(np.float64)
        fits, fills = np.empty((len(shapes), len(rows))), np.empty((len(shapes), len(rows), int(gap.sum())))
        for i in range(len(shapes)):
            spread, fills[i], log_det, _ = conditional(known - positions[i, ~gap], shapes[i : i + 1], gap)
            fills[i] += positions[i, gap]
            if how == "joint":
                fits[i] = -0.5 * (scale[i] * spread + volume[i]) if np.isfinite(log_weights[i]) else -np.inf
            else:
                fits[i] = -0.5 * (spread + log_det) + log_weights[i]
        chosen[rows] = fits.argmax(axis=0)
        if gap.any() and how == "blend":
            shares = np.exp(fits - logsumexp(fits, axis=0))
            result[np.ix_(rows, gap)] = np.einsum("kn,kng->ng", shares, fills)
        elif gap.any():
            result[np.ix_(rows, gap)] = fills[chosen[rows], np.arange(len(rows))]
    return result, chosen


def conditional(xi: Floats, shape: Shapes, gap: Bools) -> tuple[Floats, Floats, float, Floats]:
    """Return the conditional distribution of g missing values given the known values of samples (n, d - g).

    The results are the Mahalanobis distance of the known values, the conditional mean of the missing values, the
    log-determinant of the covariance of the known values, and the conditional covariance of the missing values. All
    values are relative to the prototype.

    With directions V, variances s and r on the rest the covariance is ``V' (s - r) V + r``; both inverse and
    determinant of a part of it need a q x q matrix only (Woodbury).

    Parameters
    ----------
    xi : ndarray of shape (n, d - g)
        Known values, relative to the prototype.
    shape : Shapes
        The shape of one prototype.
    gap : ndarray of shape (d,)
        Mask of the missing values.

    Returns
    -------
    spread : ndarray of shape (n,)
        Mahalanobis distances of the known values.
    rest : ndarray of shape (n, g)
        Conditional means of the missing values, relative to the prototype.
    log_det : float
        Logarithm of the determinant of the covariance of the known values.
    covariance : ndarray of shape (g, g)
        Conditional covariance of the missing values.

    Examples
    --------
    Two features of variance 2 and covariance 1, the first of which is known to be 2:

    >>> import numpy as np
    >>> from protolearn.core.shapes import Shapes, conditional
    >>> shape = Shapes(np.array([[[1.0, 1.0]]]) / np.sqrt(2.0), np.array([[3.0]]), np.ones(1))
    >>> spread, rest, log_det, covariance = conditional(np.array([[2.0]]), shape, np.array([False, True]))
    >>> spread.round(6).tolist(), rest.round(6).tolist(), covariance.round(6).tolist()
    ([2.0], [[1.0]], [[1.5]])
    """
    axes, n_known = shape.axes[0], len(xi[0])
    smallest = float(shape.variances[0].min())
    variances = np.where(np.isfinite(shape.variances[0]), shape.variances[0], 1e12 * smallest)
    rest = min(shape.rest[0], 1e12 * smallest) if shape.n_other else smallest
    extra = np.sqrt(np.abs(variances - rest))  # a direction may vary less than the rest
    signs = np.where(variances >= rest, 1.0, -1.0)
    inner, outer = extra[:, None] * axes[:, ~gap], extra[:, None] * axes[:, gap]
    core = np.diag(signs) + inner @ inner.T / rest
    along = xi @ inner.T / rest
    solved = np.linalg.solve(core, along.T).T
    spread = (xi**2).sum(axis=1) / rest - (along * solved).sum(axis=1)
    log_det = float(np.linalg.slogdet(core)[1] + n_known * np.log(rest))
    return spread, solved @ outer, log_det, rest * np.eye(int(gap.sum())) + outer.T @ np.linalg.solve(core, outer)
