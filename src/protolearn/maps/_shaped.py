"""Base class of maps whose prototypes have a shape: distances, codes, densities and imputation."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp
from sklearn.utils import Tags
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from protolearn.core.numerics import largest_positive
from protolearn.core.parameters import Constraint, integer, none, number, option
from protolearn.core.partitions import averaged, blockwise
from protolearn.core.samples import Samples
from protolearn.core.shapes import REGULARIZATIONS, ShapeRule, Shapes, completed
from protolearn.core.threads import chunk_threads
from protolearn.core.types import Array, Floats, Indices
from protolearn.core.validation import check_weights, read_samples, refuse_empty_rows, refuse_overflow, require_memory
from protolearn.maps._base import GIVEN, INITS, PrototypeMap
from protolearn.maps._ellipsoids import Ellipsoids, FittedShapes, finite_or_zero

__all__ = ["DistanceTerms", "ShapedMap"]


class DistanceTerms(NamedTuple):
    """Coefficients of ``d(x, w) = sum_a gains_a (directions_a . (x - w))^2 + rest |scale (x - w)|^2 + c``."""

    directions: Floats  # (k, q, d)
    gains: Floats  # (k, q)
    scale: Floats  # (d,)
    rest: Floats  # (k,)
    constants: Floats  # (k,), the c


class ShapedMap(PrototypeMap):
    """Base class of maps whose prototypes have a shape: a matrix, or a few principal directions.

    Examples
    --------
    >>> from protolearn import NGPCA, NeuralGas
    >>> from protolearn.maps import ShapedMap
    >>> [isinstance(model, ShapedMap) for model in (NGPCA(), NeuralGas())]
    [True, False]
    """

    n_components: int | None
    scope: str = "local"
    selection: str = "top"
    regularization: str = "floor"
    epsilon: float = 1e-6
    metric_init: str = "identity"
    _mixes = False  # whether the prototypes' shares count in distances
    _fitted: FittedShapes
    _constraints: ClassVar[dict[str, Constraint]] = {
        "n_prototypes": integer(1) | option("auto"),
        "n_components": integer(1) | none,
        "scope": option("local", "global"),
        "selection": option("top", "optimal"),
        "regularization": option(*REGULARIZATIONS),
        "epsilon": number(0, 1, open_low=True),
        "metric_init": option("identity", "covariance"),
        "init": option(*INITS, "auto", "euclidean") | GIVEN,
    }

    # What a fitted shape is good for

    @blockwise
    def distances(self, X: ArrayLike, measure: str | None = None) -> Array:
        """Return the distance of each sample to each prototype, in the metric of the prototype.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        measure : {"normal", "logdet", "pair"}, optional
            By default, the distance of the map. ``"normal"`` is the negative logarithm of the normal density with the
            shape of the prototype, also known as normalized Mahalanobis distance [1]_. ``"logdet"`` is twice the former
            without its constant, in double precision. ``"pair"`` is a pair of numbers: the distance ``"normal"``
            restricted to the ``components_``, and the squared distance from the affine subspace that the
            ``components_`` span.

        Returns
        -------
        distances : ndarray of shape (n_samples, n_prototypes), or (n_samples, n_prototypes, 2) for ``"pair"``
            Squared distances. Distances that include a log-volume may be negative.

        References
        ----------
        .. [1] Sung, Poggio (1998). Example-based learning for view-based human face detection. IEEE Transactions on
           Pattern Analysis and Machine Intelligence.
        """
        X = self._check_new(X, gaps=measure is None)
        if measure is None:
            return self._per_sample(X, lambda distances: distances.astype(X.dtype), self._fitted.untied)
        (option("normal", "logdet", "pair") | none).check("measure", measure)
        if measure == "logdet":
            return self._per_sample(X, np.asarray, measure)
        shapes = self._fitted.shapes
        counted = shapes.n_dimensions if measure == "normal" else np.isfinite(shapes.variances).sum(axis=1)
        constant = counted * np.log(2.0 * np.pi)  # Moeller & Hoffmann 2004, eq. 14
        kind = "logdet" if measure == "normal" else "mahalanobis"
        normal = self._per_sample(X, lambda distances: (0.5 * (distances + constant)).astype(X.dtype), kind)
        if measure == "normal":
            return normal
        residual = self._per_sample(X, lambda squares: np.maximum(squares, 0.0).astype(X.dtype), "residual")
        return np.stack([normal, residual], axis=2)

    @blockwise
    def predict(self, X: ArrayLike) -> Indices:
        """Return the index of the nearest prototype of each sample.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples; missing values (NaN) are allowed if `fit` allows them.

        Returns
        -------
        winners : ndarray of shape (n_samples,)
            Row of ``prototypes_``.
        """
        return self.nearest(X)

    @blockwise
    def nearest(self, X: ArrayLike) -> Indices:
        """Return the index of the nearest prototype of each sample, as `predict` does.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples; missing values (NaN) are allowed if `fit` allows them.

        Returns
        -------
        winners : ndarray of shape (n_samples,)
            Row of ``prototypes_``.
        """
        samples = self._check_new(X, gaps=True)
        with chunk_threads(self.n_jobs) as n_threads:
            return self._fitted.nearest(samples, n_threads)

    @blockwise
    def transform(self, X: ArrayLike) -> Array:
        """Encode each sample by its nearest prototype and its coordinates along the directions of that prototype.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples; missing values (NaN) are imputed by `complete`.

        Returns
        -------
        code : ndarray of shape (n_samples, 1 + n_components)
            Index of the nearest prototype, followed by the coordinates along its ``components_`` relative to its
            position.
        """
        X = self._check_new(X, gaps=True)
        if np.isnan(X).any():
            X = self.complete(X)
        with chunk_threads(self.n_jobs) as n_threads:
            winners = self._fitted.nearest(X, n_threads)
        gaps = X - self.prototypes_[winners]
        coordinates = np.empty((len(X), self.components_.shape[1]), X.dtype)
        with chunk_threads(1):
            for i in np.unique(winners):
                own = winners == i
                coordinates[own] = gaps[own] @ self.components_[i].T.astype(X.dtype)
        return np.column_stack([winners.astype(X.dtype), coordinates])

    @chunk_threads(1)
    def inverse_transform(self, code: ArrayLike) -> Array:
        """Reconstruct samples from their codes.

        Parameters
        ----------
        code : array-like of shape (n_samples, 1 + n_components)
            Codes returned by `transform`.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
            Reconstructed samples; the part of a sample outside the subspace of its prototype is lost.
        """
        check_is_fitted(self, "prototypes_")
        codes: Array = check_array(code, dtype=[np.float64, np.float32])
        k, q, _ = self.components_.shape
        units = codes[:, 0].astype(np.int64)
        if codes.shape[1] != 1 + q or (units != codes[:, 0]).any() or (units < 0).any() or (units >= k).any():
            raise ValueError(
                f"A code must have {1 + q} columns, the first an index of a prototype from 0 to {k - 1}; "
                f"got {codes.shape[1]} columns and first values such as {codes[0, 0]:g}."
            )
        X = self.prototypes_[units].astype(codes.dtype)
        for i in np.unique(units):
            own = units == i
            X[own] += codes[own, 1:] @ self.components_[i].astype(codes.dtype)
        return X

    @blockwise
    def score_samples(self, X: ArrayLike) -> Floats:
        """Return the log-density of each sample under the mixture of normal distributions that the map defines.

        Each prototype contributes a normal distribution with its shape, weighted by its fraction of the training
        samples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples. For a sample with missing values (NaN), the marginal density of the known values is returned.

        Returns
        -------
        log_density : ndarray of shape (n_samples,)
            Natural logarithm of the density.
        """
        X = self._check_new(X, gaps=True)
        shapes = self._fitted.shapes
        with np.errstate(divide="ignore"):
            log_shares = np.log(self.weights_)
        constant = log_shares - 0.5 * shapes.n_dimensions * np.log(2.0 * np.pi)  # Moeller & Hoffmann 2004, app. C
        unknown = np.isnan(X) @ (0.5 * np.log(2.0 * np.pi) - np.log(self._fitted.scale))
        logs = self._per_sample(X, lambda distances: logsumexp(constant - 0.5 * distances, axis=1), "logdet")
        return logs + unknown

    @averaged
    def score(self, X: ArrayLike, y: None = None, sample_weight: ArrayLike | None = None) -> float:
        """Return the mean log-density of the samples.

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
            Mean log-density. Larger values are better; values are comparable only for the same features.
        """
        logs = self.score_samples(X)
        return float(np.average(logs, weights=check_weights(sample_weight, len(logs), np.float64)))

    @blockwise
    def complete(self, X: ArrayLike, how: str = "blend") -> Array:
        """Impute missing values by their conditional means given the known values.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples with NaN where values are missing.
        how : {"blend", "joint", "marginal"}, default="blend"
            ``"blend"`` averages over the prototypes, weighted by their posterior probabilities given the known values,
            which minimizes the expected squared error. The other values use one prototype for each sample: ``"joint"``
            the prototype with the smallest distance to the completed sample, ``"marginal"`` the prototype with the
            largest density of the known values. They do not average between the branches of a multivalued relation.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
            Completed samples; known values are unchanged.
        """
        check_is_fitted(self, "prototypes_")
        option("joint", "marginal", "blend").check("how", how)
        samples = read_samples(self, X, ensure_all_finite="allow-nan")
        refuse_empty_rows(samples)
        model = self._fitted
        with np.errstate(divide="ignore"):
            log_shares = np.log(self.weights_)
        scaled = (samples - model.positions[0]) * model.scale
        positions = (model.positions - model.positions[0]).astype(np.float64) * model.scale
        filled, _ = completed(scaled, positions, model.shapes, log_shares, how, model.rule.measure)
        values = filled / model.scale + model.positions[0]
        return np.where(np.isnan(samples), values, samples).astype(samples.dtype)

    def distance_terms(self, measure: str | None = None) -> DistanceTerms:
        """Return the coefficients of the distance functions, for computing distances outside protolearn.

        Parameters
        ----------
        measure : str, optional
            By default, the distance that `distances` returns; ``"logdet"``, as in `distances`; or ``measure_``, the
            distance that `predict` compares, without the weights of the prototypes.

        Returns
        -------
        terms : named tuple
            Arrays ``directions`` (k, q, d), ``gains`` (k, q), ``scale`` (d,), ``rest`` (k,) and ``constants`` (k,). The
            distance from prototype w is ``sum_a gains_a (directions_a . (x - w))^2 + rest |scale (x - w)|^2 +
            constants``.
        """
        check_is_fitted(self, "prototypes_")
        fitted = self._fitted
        gains, other, constants = fitted.shapes.gains(measure or fitted.untied or fitted.rule.measure)
        if measure is None and fitted.log_weights is not None:
            constants = constants - 2.0 * fitted.log_weights
        return DistanceTerms(fitted.shapes.axes * fitted.scale, gains - other[:, None], fitted.scale, other, constants)

    @property
    def covariances_(self) -> Floats:
        """Covariance matrix of each prototype."""
        check_is_fitted(self, "prototypes_")
        self._require_matrices("covariances_")
        covariances = self._fitted.shapes.covariances
        return covariances / (self._fitted.scale[:, None] * self._fitted.scale)

    @property
    def omegas_(self) -> Floats:
        """Matrices of the distance ``|Omega (x - w)|^2``, up to additive constants."""
        check_is_fitted(self, "prototypes_")
        self._require_matrices("omegas_")
        shapes = self._fitted.shapes
        gains, other, _ = shapes.gains(self._fitted.untied or self._fitted.rule.measure)
        roots = np.sqrt(gains)[:, :, None] * shapes.axes
        if shapes.n_other:
            complement = np.eye(shapes.axes.shape[2]) - np.swapaxes(shapes.axes, 1, 2) @ shapes.axes
            roots = np.swapaxes(shapes.axes, 1, 2) @ roots + np.sqrt(other)[:, None, None] * complement
        return roots * self._fitted.scale

    def _require_matrices(self, name: str) -> None:
        k, d = self.prototypes_.shape
        instead = "use components_, variances_ and residual_variances_ instead"
        require_memory(f"{name} of {k} prototypes and {d} features", 4 * 8 * k * d**2, instead)

    @property
    def _n_features_out(self) -> int:
        return 1 + self.components_.shape[1]

    @property
    def measure_(self) -> str:
        """Name of the distance; ``"logdet"`` and ``"mahalanobis"`` are minus twice the logarithm of a density."""
        return self._measure

    @property
    def n_dimensions_(self) -> Indices:
        """Number of directions that the density of each prototype covers."""
        return self._fitted.shapes.n_dimensions

    # Learning

    @property
    def _measure(self) -> str:
        raise NotImplementedError

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.selection == "optimal" and self.regularization in ("pinv", "tikhonov"):
            raise ValueError(
                f"selection='optimal' compares all variances, but regularization={self.regularization!r} leaves some "
                "out; use 'floor' or 'ridge'."
            )

    def _kind(self) -> Ellipsoids:
        size = getattr(self, "n_prototypes", None)
        shared = self.scope == "global"
        return Ellipsoids(
            self.init,
            None if isinstance(size, str) else size,
            self.label_weight,
            name=type(self).__name__,
            auto=isinstance(size, str),
            n_components=self.n_components,
            template=ShapeRule(1, self._measure, self.regularization, self.epsilon, self.selection, shared),
            metric_init=self.metric_init,
            mixes=self._mixes,
        )

    @property
    def _finite(self) -> bool | str:
        return "allow-nan" if self._in_batches else True

    def __sklearn_tags__(self) -> Tags:
        """Say that values may be missing, unless samples are learned one at a time."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self._finite == "allow-nan"
        return tags

    def _check_new(self, X: ArrayLike, gaps: bool = False) -> Array:
        if not gaps:
            return super()._check_new(X)
        check_is_fitted(self, "prototypes_")
        finite = self._finite
        return self._refuse_gaps(
            validate_data(self, X, dtype=[np.float64, np.float32], reset=False, ensure_all_finite=finite)
        )

    def _refuse_gaps(self, X: Array) -> Array:
        """Refuse samples with values that are too large, or missing where that will not do."""
        refuse_empty_rows(X)
        if np.isnan(X).any():
            self._check_gaps(X.shape[1])
        return refuse_overflow(X)

    def _check_gaps(self, d: int) -> None:
        """Refuse missing values of d features where they will not do."""
        if self.magnification != 0:
            raise ValueError("X has missing values (NaN), but magnification control needs complete samples.")
        if self._kind().sketches(d):
            raise ValueError(
                f"X has missing values (NaN), which need full covariances of {d} features; use "
                f"n_components above {d // 2}, or fit on complete samples and impute others by complete()."
            )

    def _read(
        self, X: Any, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None, *, reset: bool
    ) -> Samples:
        samples = super()._read(X, y, sample_weight, reset=reset)
        d = samples.n_features
        if not samples.in_memory and samples.missing:
            self._check_gaps(d)
        elif samples.in_memory and self._finite == "allow-nan":
            self._refuse_gaps(samples.X)
        if self.n_components is not None and self.n_components > d:
            raise ValueError(f"n_components={self.n_components} is more than the {d} features of X.")
        if self._measure == "reconstruction" and self._kind().rule(d).n_components == d:
            raise ValueError(
                f"n_components={self.n_components} with n_features={d} lets every prototype reconstruct every sample; "
                "use fewer components, or another measure."
            )
        if self.selection == "optimal" and self._kind().sketches(d):
            raise ValueError(
                f"selection='optimal' needs all variances, which are not computed for {d} features; use 'top', or "
                f"n_components above {d // 2}."
            )
        return samples

    def _per_sample(self, X: Array, function: Callable[[Array], Array], measure: str | None = None) -> Array:
        """Return what a function makes of the distances of samples."""
        with chunk_threads(self.n_jobs) as n_threads:
            return self._fitted.per_sample(X, function, n_threads, measure)

    def _publish(self, fitted: Any) -> None:
        super()._publish(fitted)
        shapes = fitted.shapes
        self.weights_ = (
            fitted.masses / fitted.masses.sum() if fitted.log_weights is None else np.exp(fitted.log_weights)
        )
        self.log_volumes_ = 0.5 * shapes.log_determinants
        self.floored_ = fitted.floored
        self._warn_of_floors()
        axes, variances = shapes.axes, finite_or_zero(shapes.variances)
        rest = finite_or_zero(shapes.rest) if shapes.n_other else np.zeros(len(shapes))
        if (fitted.scale != 1.0).any() and shapes.n_other:
            axes, variances, rest = _unscaled(shapes, fitted.scale)
        elif (fitted.scale != 1.0).any():
            _, deviations, axes = np.linalg.svd(np.sqrt(variances)[:, :, None] * axes / fitted.scale)
            variances = deviations**2
        order = np.argsort(-variances, axis=1, kind="stable")
        axes = np.take_along_axis(axes, order[:, :, None], axis=1)
        self.components_ = largest_positive(axes, axis=2)
        self.variances_ = np.take_along_axis(variances, order, axis=1)
        self.residual_variances_ = rest

    def _warn_of_floors(self) -> None:
        """Warn if the shape of most samples' prototypes is not learned but set, in most directions."""
        d = self.n_features_in_
        share = float(self.weights_ @ self.floored_) / d
        if self._kind().rule(d).n_components == d and self.scope == "local" and share > 0.5:
            warnings.warn(
                f"In {share:.0%} of the directions the samples of a prototype hardly vary, and "
                f"regularization={self.regularization!r} determines the variance (see floored_). For {d} features use "
                "fewer prototypes, a small n_components, or more samples.",
                UserWarning,
                stacklevel=2,
            )


def _unscaled(shapes: Shapes, scale: Floats) -> tuple[Floats, ...]:
    """Return axes (k, r, d), variances (k, r) and the mean variance of the rest (k,) without the scale.

    All shapes have the same directions beside their axes. Of these, whose variances become different, only the mean is
    kept.
    """
    rest = finite_or_zero(shapes.rest)
    excess = finite_or_zero(shapes.variances) - rest[:, None]
    basis = np.linalg.qr((shapes.axes[0] / scale).T)[0]  # (d, r)
    seen = shapes.axes / scale @ basis
    shared = (basis / (scale**2)[:, None]).T @ basis
    inside = np.swapaxes(seen, 1, 2) @ (excess[:, :, None] * seen) + rest[:, None, None] * shared
    values, vectors = np.linalg.eigh(inside)
    values = np.maximum(values, 0.0)
    total = (excess * ((shapes.axes / scale) ** 2).sum(axis=2)).sum(axis=1) + rest * (scale**-2.0).sum()
    others = np.maximum(total - values.sum(axis=1), 0.0) / shapes.n_other
    return np.swapaxes(vectors, 1, 2) @ basis.T, values, others
