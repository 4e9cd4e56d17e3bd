"""What maps whose prototypes have a shape share: how they learn it, and what a fitted shape is good for."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from copy import copy
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp
from sklearn.utils import Tags
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from protolearn.core.cooperation import Cooperation, OnLattice, WinnerTakesAll
from protolearn.core.initialisation import distinct_rows, mean_and_covariance, mean_and_variance, resolutions
from protolearn.core.prototypes import Gappy, Matrix, Mean, Prototypes, Subspace
from protolearn.core.shapes import Prior, ShapeRule, Shapes, completed, principal_shapes
from protolearn.core.sources import ArraySource
from protolearn.core.threads import chunk_threads
from protolearn.core.validation import (
    check_number,
    check_option,
    check_weights,
    given_array,
    refuse_overflow,
    require_memory,
)
from protolearn.maps._base import PrototypeMap
from protolearn.maps._span import Span
from protolearn.maps._state import Model, Samples, _finite, best_of

__all__ = ["ShapedMap"]

MOST_PROTOTYPES = 8  # by default
SAMPLES_PER_DIRECTION = 4  # of each prototype, by default
MOST_QUADRATIC = 64  # features up to which covariances are summed whole, rather than sketched
SKETCH_ROWS = 2048  # samples of a chunk when they are sketched: sums are large, so chunks are few


class ShapedMap(PrototypeMap):
    """Base of maps whose prototypes have a shape: a matrix, or a few principal directions."""

    n_components: int | None
    scope: str = "local"
    selection: str = "top"
    regularization: str = "floor"
    epsilon: float = 1e-6
    metric_init: str = "identity"
    _span: Span | None = None  # coordinates in which learning goes on, if they are not the features
    _inits = (*PrototypeMap._inits, "auto", "euclidean")

    # What a fitted shape is good for

    def distances(self, X: ArrayLike, measure: str | None = None) -> NDArray[Any]:
        """Return the distance of each sample to each prototype, in the prototype's own metric.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        measure : {"normal", "pair"}, optional
            The distance of the map by default. ``"normal"`` is minus the logarithm of the normal distribution with the
            prototype's shape, also known as normalised Mahalanobis distance [1]_. ``"pair"`` are two numbers: the same
            along the ``components_`` alone, and the squared distance from the space that these span.

        Returns
        -------
        distances : ndarray of shape (n_samples, n_prototypes), or (n_samples, n_prototypes, 2) for ``"pair"``
            Squared distances; with a logarithmic volume in them they may be negative.

        References
        ----------
        .. [1] Sung, Poggio (1998). Example-based learning for view-based human face detection. IEEE Transactions on
           Pattern Analysis and Machine Intelligence.
        """
        X = self._check_new(X, gaps=measure is None)
        if measure is None:
            return self._per_sample(X, lambda distances: distances.astype(X.dtype), self._untied)
        check_option("measure", measure, ("normal", "pair"), also=" or None")
        shapes = self._model.shapes
        assert shapes is not None
        counted = shapes.n_dimensions if measure == "normal" else np.isfinite(shapes.variances).sum(axis=1)
        constant = counted * np.log(2.0 * np.pi)  # Moeller & Hoffmann 2004, eq. 14
        kind = "logdet" if measure == "normal" else "mahalanobis"
        normal = self._per_sample(X, lambda distances: (0.5 * (distances + constant)).astype(X.dtype), kind)
        if measure == "normal":
            return normal
        residual = self._per_sample(X, lambda squares: np.maximum(squares, 0.0).astype(X.dtype), "residual")
        return np.stack([normal, residual], axis=2)

    def predict(self, X: ArrayLike) -> NDArray[np.int64]:
        """Return the index of the nearest prototype of each sample.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples; values may be missing (NaN) where `fit` takes them.

        Returns
        -------
        winners : ndarray of shape (n_samples,)
            Row of ``prototypes_``.
        """
        return self._nearest(self._check_new(X, gaps=True))

    def transform(self, X: ArrayLike) -> NDArray[Any]:
        """Code each sample by its prototype and its coordinates there.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples; where values are missing (NaN), those of `complete` take their place.

        Returns
        -------
        code : ndarray of shape (n_samples, 1 + n_components)
            Index of the prototype, then the coordinates along its ``components_``, measured from the prototype.
        """
        X = self._check_new(X, gaps=True)
        if np.isnan(X).any():
            X = self.complete(X)
        winners = self._nearest(X)
        gaps = X - self.prototypes_[winners]
        coordinates = np.empty((len(X), self.components_.shape[1]), X.dtype)
        with chunk_threads(1):
            for i in np.unique(winners):
                own = winners == i
                coordinates[own] = gaps[own] @ self.components_[i].T.astype(X.dtype)
        return np.column_stack([winners.astype(X.dtype), coordinates])

    @chunk_threads(1)
    def inverse_transform(self, code: ArrayLike) -> NDArray[Any]:
        """Return the samples that codes stand for.

        Parameters
        ----------
        code : array-like of shape (n_samples, 1 + n_components)
            What `transform` returned.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
            Samples; what the directions of a prototype leave out is lost.
        """
        check_is_fitted(self, "prototypes_")
        codes: NDArray[Any] = check_array(code, dtype=[np.float64, np.float32])
        k, q, _ = self.components_.shape
        units = codes[:, 0].astype(np.int64)
        if codes.shape[1] != 1 + q or (units != codes[:, 0]).any() or (units < 0).any() or (units >= k).any():
            raise ValueError(
                f"A code has {1 + q} columns, the first an index of a prototype from 0 to {k - 1}; "
                f"got {codes.shape[1]} columns and first values such as {codes[0, 0]:g}."
            )
        X = self.prototypes_[units].astype(codes.dtype)
        for i in np.unique(units):
            own = units == i
            X[own] += codes[own, 1:] @ self.components_[i].astype(codes.dtype)
        return X

    def score_samples(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the logarithm of the density of the map, as a mixture of normal distributions.

        Each prototype is a normal distribution with its shape, weighted by its share of the training samples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples; of one with missing values (NaN) the density of the known ones is returned.

        Returns
        -------
        log_density : ndarray of shape (n_samples,)
            Natural logarithm of the density.
        """
        X = self._check_new(X, gaps=True)
        shapes = self._model.shapes
        assert shapes is not None
        with np.errstate(divide="ignore"):
            log_shares = np.log(self.weights_)
        constant = log_shares - 0.5 * shapes.n_dimensions * np.log(2.0 * np.pi)  # Moeller & Hoffmann 2004, app. C
        unknown = np.isnan(X) @ (0.5 * np.log(2.0 * np.pi) - np.log(self._model.scale))
        logs = self._per_sample(X, lambda distances: logsumexp(constant - 0.5 * distances, axis=1), "logdet")
        return logs + unknown

    def score(self, X: ArrayLike, y: None = None, sample_weight: ArrayLike | None = None) -> float:
        """Return the mean logarithm of the density of samples.

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
            Larger is better; comparable on the same features only.
        """
        logs = self.score_samples(X)
        return float(np.average(logs, weights=check_weights(sample_weight, len(logs), np.float64)))

    def complete(self, X: ArrayLike, how: str = "blend") -> NDArray[Any]:
        """Fill in missing values by what is most likely in a prototype.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples with NaN where values are missing.
        how : {"blend", "joint", "marginal"}, default="blend"
            ``"blend"`` averages over prototypes with their posterior given the known values, which has the smallest
            squared error. The others choose one prototype, by the smallest distance that the completed sample can
            have, or by the density of the known values, and so keep the branches of a relation with several values
            apart.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
            The samples, completed; known values are untouched.
        """
        check_is_fitted(self, "prototypes_")
        check_option("how", how, ("joint", "marginal", "blend"))
        samples: NDArray[Any] = refuse_overflow(
            validate_data(self, X, dtype=[np.float64, np.float32], reset=False, ensure_all_finite="allow-nan")
        )
        empty = np.isnan(samples).all(axis=1)
        if empty.any():
            raise ValueError(f"Row {int(empty.argmax())} of X has no known value to complete it from; leave it out.")
        model = self._model
        assert model.shapes is not None
        with np.errstate(divide="ignore"):
            log_shares = np.log(self.weights_)
        scaled = (samples - model.positions[0]) * model.scale
        positions = (model.positions - model.positions[0]).astype(np.float64) * model.scale
        filled, _ = completed(scaled, positions, model.shapes, log_shares, how, self._measure)
        values = filled / model.scale + model.positions[0]
        return np.where(np.isnan(samples), values, samples).astype(samples.dtype)

    @property
    def covariances_(self) -> NDArray[np.float64]:
        """Covariance matrix of each prototype."""
        check_is_fitted(self, "prototypes_")
        self._require_matrices("covariances_")
        covariances = self._model.shapes.covariances  # type: ignore[union-attr]
        return covariances / (self._model.scale[:, None] * self._model.scale)

    @property
    def omegas_(self) -> NDArray[np.float64]:
        """Matrices whose squared product with ``x - w`` is the distance, apart from constants."""
        check_is_fitted(self, "prototypes_")
        self._require_matrices("omegas_")
        shapes = self._model.shapes
        assert shapes is not None
        gains, other, _ = shapes.gains(self._untied or self._measure)
        roots = np.sqrt(gains)[:, :, None] * shapes.axes
        if shapes.n_other:
            complement = np.eye(shapes.axes.shape[2]) - np.swapaxes(shapes.axes, 1, 2) @ shapes.axes
            roots = np.swapaxes(shapes.axes, 1, 2) @ roots + np.sqrt(other)[:, None, None] * complement
        return roots * self._model.scale

    def _require_matrices(self, name: str) -> None:
        k, d = self.prototypes_.shape
        instead = "use components_, variances_ and residual_variances_ instead"
        require_memory(f"{name} of {k} prototypes and {d} features", 4 * 8 * k * d**2, instead)

    @property
    def _n_features_out(self) -> int:
        return 1 + self.components_.shape[1]

    # Learning

    @property
    def _measure(self) -> str:
        raise NotImplementedError

    @property
    def _untied(self) -> str | None:
        """Return the measure without what decides ties, if that is another one."""
        return "residual" if self._measure == "reconstruction" else None

    def _check_parameters(self) -> None:
        size = getattr(self, "n_prototypes", None)
        if isinstance(size, str):
            check_option("n_prototypes", size, ("auto",), also=" or an integer")
        super(ShapedMap, self._sized(1))._check_parameters()
        if self.n_components is not None:
            check_number("n_components", self.n_components, integer=True, low=1)
        check_option("scope", self.scope, ("local", "global"))
        check_option("metric_init", self.metric_init, ("identity", "covariance"))
        self._rule(1).check()

    def _sized(self, size: int | Samples) -> Self:
        """Return the map itself, or, if its size is not given, one of this size, or of one that suits samples."""
        if getattr(self, "n_prototypes", None) != "auto":
            return self
        sized = copy(self)
        sized.n_prototypes = self._suggested_size(size) if isinstance(size, Samples) else size
        return sized

    def _check_unchanged(self, model: Model) -> None:
        super(ShapedMap, self._sized(len(model)))._check_unchanged(model)

    def _suggested_size(self, patch: Samples) -> int:
        """Return how many prototypes the samples suffice for."""
        n_distinct = len(distinct_rows(ArraySource(patch.X, weights=patch.weights, keep=False))[0])
        needed = SAMPLES_PER_DIRECTION * self._rule(patch.X.shape[1]).n_components
        return int(np.clip(n_distinct // needed, 1, MOST_PROTOTYPES))

    def _rule(self, n_features: int, unit: float = 1.0) -> ShapeRule:
        """Return how shapes follow from covariances."""
        return ShapeRule(
            n_features if self.n_components is None else min(self.n_components, n_features),
            self._measure,
            self.regularization,
            self.epsilon,
            self.selection,
            self.scope == "global",
            unit,
            n_hidden=0 if self._span is None else self._span.n_hidden,
        )

    def _sketches(self, n_features: int) -> bool:
        """Say whether there are too many features to sum covariances whole."""
        return n_features > MOST_QUADRATIC and self._rule(n_features).n_components <= n_features // 2

    @property
    def _finite(self) -> bool | str:  # type: ignore[override]
        return "allow-nan" if self.algorithm == "batch" else True

    def __sklearn_tags__(self) -> Tags:
        """Say that values may be missing, unless samples are learned one at a time."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self._finite == "allow-nan"
        return tags

    def _check_new(self, X: ArrayLike, gaps: bool = False) -> NDArray[Any]:
        if not gaps:
            return super()._check_new(X)
        check_is_fitted(self, "prototypes_")
        finite = self._finite
        return self._refuse_gaps(
            validate_data(self, X, dtype=[np.float64, np.float32], reset=False, ensure_all_finite=finite)
        )

    def _refuse_gaps(self, X: NDArray[Any]) -> NDArray[Any]:
        """Refuse samples with values that are too large, or missing where that will not do."""
        missing = np.isnan(X)
        if missing.all(axis=1).any():
            row = int(missing.all(axis=1).argmax())
            raise ValueError(f"Row {row} of X has no known value; leave it out.")
        if missing.any() and self.magnification != 0:
            raise ValueError("X has missing values (NaN), with which there is no density for magnification control.")
        if missing.any() and self._sketches(X.shape[1]):
            raise ValueError(
                f"X has missing values (NaN), for which whole covariances of {X.shape[1]} features are needed; use "
                f"n_components above {X.shape[1] // 2}, or fit on complete samples and fill others in by complete."
            )
        return refuse_overflow(X)

    def _read(
        self, X: Any, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None, *, reset: bool
    ) -> Samples:
        samples = super()._read(X, y, sample_weight, reset=reset)
        d = samples.X.shape[1]
        if self._finite == "allow-nan":
            self._refuse_gaps(samples.X)
        if self.n_components is not None and self.n_components > d:
            raise ValueError(f"n_components={self.n_components} is more than the {d} features of X.")
        if self._measure == "reconstruction" and self._rule(d).n_components == d:
            raise ValueError(
                f"n_components={self.n_components} with n_features={d} reconstructs every sample in every prototype; "
                "use fewer components, or another measure."
            )
        if self.selection == "optimal" and self._sketches(d):
            raise ValueError(
                f"selection='optimal' needs all variances, which are not computed for {d} features; use 'top', or "
                f"n_components above {d // 2}."
            )
        return samples

    def _learn_best(
        self, patch: Samples, model: Model | None, rng: np.random.RandomState, n_threads: int, decay: float
    ) -> Model:
        sized = self._sized(patch if model is None else len(model))
        return sized._learn_sized(patch, model, rng, n_threads, decay)

    def _learn_sized(
        self, patch: Samples, model: Model | None, rng: np.random.RandomState, n_threads: int, decay: float
    ) -> Model:
        """Train from several starts, the first at the result of the map without shapes, and keep the best."""
        if self.algorithm != "batch":
            return self._learn(patch, model, rng, n_threads, decay)
        if not (isinstance(self.init, str) and self.init == "auto"):
            return super()._learn_best(patch, model, rng, n_threads, decay)

        def learned(number: int) -> Model:
            start = copy(self)
            start.init = ("k-means++", "random")[number % 2 - 1] if number else "euclidean"
            return start._learn(patch, model, rng, n_threads, decay)

        return best_of(map(learned, range(self.n_init)), lambda candidate: candidate.costs[-1])

    def _learn(
        self, patch: Samples, model: Model | None, rng: np.random.RandomState, n_threads: int, decay: float
    ) -> Model:
        """Train on one patch; if there are more features than samples, in the space in which samples differ."""
        span = self._new_span(patch, model)
        if span is None:
            return super()._learn(patch, model, rng, n_threads, decay)
        inside = copy(self)
        inside._span = span
        inside.n_components = span.axes.shape[1]
        if not isinstance(self.init, str):
            inside.init = span.enter(given_array("init", self.init))
        earlier = None if model is None else span.enter_model(model)
        return span.leave_model(inside._learn(span.enter_samples(patch), earlier, rng, n_threads, decay))

    def _new_span(self, patch: Samples, model: Model | None) -> Span | None:
        """Return the space in which samples differ, if it is worth working in."""
        n, d = patch.X.shape
        whole = self._rule(d).n_components == d and self._measure in ("det", "logdet", "none")
        known = model is None or (model.shapes is not None and model.shapes.n_other > 0)
        if self._span is not None or d <= max(n, MOST_QUADRATIC) or not (whole and known) or np.isnan(patch.X).any():
            return None
        if model is not None:
            return Span.of(patch, model.scale, model.scale, model, self.init)
        weights = patch.weights * self._emphasis(patch, 1)[0]
        balance = _balancing_scale(patch.X, weights, 1)
        source = ArraySource(patch.X, weights=weights, scale=balance, spreads=patch.spreads, keep=False)
        k = self._size(self._cooperation(source))
        if not isinstance(self.init, str) and np.shape(self.init) != (k, d):
            raise ValueError(f"init has shape {np.shape(self.init)}; expected {(k, d)}: one row for each prototype.")
        prior, scale = self._prior(source, k), balance
        if prior is not None:  # what is known beforehand shall be the same in all directions
            logs = np.log(prior.scatter)
            scale = balance * np.exp(0.5 * (logs.mean() - logs))
        return Span.of(patch, scale, balance, None, self.init)

    def _emphasis(self, patch: Samples, n_threads: int) -> tuple[NDArray[np.float64] | float, float | None]:
        return super()._emphasis(self._as_features(patch), n_threads)

    def _as_features(self, patch: Samples) -> Samples:
        """Return samples as the features that they are outside of the span."""
        return patch if self._span is None else replace(patch, X=self._span.leave(patch.X), spreads=None)

    def _source(
        self, patch: Samples, weights: NDArray[Any], model: Model | None, n_threads: int, rng: np.random.RandomState
    ) -> ArraySource:
        d = patch.X.shape[1]
        if not self._sketches(d):
            require_memory(
                f"{type(self).__name__} with n_components={self.n_components} of {d} features",
                8 * d**2 * (min(len(patch.X), 128) / 2 + 8),
                f"use n_components={min(10, d // 2)} or another number up to {d // 2}",
            )
        X, gaps = _filled(patch.X)
        if model is not None:
            scale = model.scale
        elif self._rule(d).n_components < d or self._measure in ("euclidean", "reconstruction"):
            scale = np.ones(d)  # what is measured depends on the features as they are
        else:
            scale = _balancing_scale(X, weights, n_threads)
        return ArraySource(
            X,
            weights=weights,
            labels=patch.labels,
            label_weight=self.label_weight,
            label_unit=self._unit_of(patch, weights, n_threads),
            scale=scale,
            quadratic=not self._sketches(d),
            spreads=patch.spreads,
            gaps=gaps,
            n_threads=n_threads,
            chunk_size=SKETCH_ROWS if self._sketches(d) else None,
        )

    def _variance(self, patch: Samples, weights: NDArray[Any], n_threads: int) -> float:
        patch = self._as_features(patch)
        if self._measure in ("det", "euclidean", "reconstruction"):
            return super()._variance(patch, weights, n_threads)
        return float(patch.X.shape[1])  # distances are in units of the deviations

    def _prototypes(
        self, positions: NDArray[np.float64], source: ArraySource, model: Model | None, rng: np.random.RandomState
    ) -> Prototypes:
        k, d = len(positions), source.n_features
        variances = mean_and_variance(source)[1][:d]
        unit = float(variances.mean() if self._span is None else variances.sum() / len(self._span.scale)) or 1.0
        rule = replace(self._rule(d, unit), prior=self._prior(source, k))
        log_weights = np.full(k, -np.log(k)) if self._mixes() else None
        if model is not None:
            shapes = model.shapes
            assert shapes is not None
        else:
            shapes = self._first_shapes(source, rule, k, rng)
        kind = self._kind(source)
        if model is None and isinstance(self.init, str) and self.init == "euclidean":
            plain = kind(positions, source.metric, shapes, replace(rule, measure="none"))
            shapes = plain.update(WinnerTakesAll().gather(plain, source, 0.0)).shapes
        return kind(positions, source.metric, shapes, rule, log_weights, np.zeros(k, np.int64))

    def _prior(self, source: ArraySource, k: int) -> Prior | None:
        """Return what prototypes have seen before their samples: a part of one of these."""
        if self.regularization != "prior" or not source.n_single:
            return None
        features, span = source, self._span
        if span is not None:
            weights = source.weights[: source.n_single]
            features = ArraySource(span.single, weights=weights, scale=span.balance, keep=False)
        single = source.weights[: source.n_single].sum(dtype=np.float64)
        n_distinct = np.count_nonzero(distinct_rows(features)[0] < source.n_single)
        variances = mean_and_variance(features)[1][: features.n_features]
        prior = Prior.of(variances, resolutions(features), k, single, single / n_distinct)
        if span is None:
            return prior
        scatter = prior.scatter * (span.scale / span.balance) ** 2
        return replace(prior, scatter=np.full(source.n_features, np.exp(np.log(scatter).mean())))

    def _kind(self, source: ArraySource) -> type[Matrix] | type[Subspace]:
        """Return the prototypes that suit samples."""
        if self._sketches(source.n_features):
            return Subspace
        return Matrix if source.gaps is None else Gappy

    def _mixes(self) -> bool:
        """Say whether the prototypes' shares count in distances."""
        return False

    def _first_shapes(self, source: ArraySource, rule: ShapeRule, k: int, rng: np.random.RandomState) -> Shapes:
        """Return the shapes that all prototypes start with."""
        q, d = rule.n_components, source.n_features
        if self._sketches(d):
            axes = np.swapaxes(np.linalg.qr(rng.normal(size=(1 if rule.shared else k, d, q)))[0], 1, 2)
            axes = np.ascontiguousarray(np.broadcast_to(axes, (k, q, d)))
            return Shapes(axes, np.full((k, q), rule.unit), np.full(k, rule.unit))
        if self.metric_init == "covariance":
            covariance = mean_and_covariance(source)[1][:d, :d]
            floor = replace(rule, regularization="floor", selection="top", prior=None)
            return principal_shapes(np.tile(covariance, (k, 1, 1)), floor)[0]
        if self._span is not None:
            variances, axes = self._span.euclidean()
            rest = rule.unit * np.exp(-np.log(variances).sum() / rule.n_hidden)  # the determinant is that of the unit
            tiled = np.tile(axes, (k, 1, 1)), np.tile(rule.unit * variances, (k, 1))
            return Shapes(*tiled, np.full(k, rest), more=rule.n_hidden - 1)
        axes = np.tile(np.eye(q, d), (k, 1, 1))
        return Shapes(axes, np.tile(rule.unit * source.scale[:q] ** 2, (k, 1)), np.full(k, rule.unit))

    def _draw(self, source: ArraySource, cooperation: Cooperation, rng: np.random.RandomState) -> NDArray[np.float64]:
        if self.init != "euclidean":
            return super()._draw(source, cooperation, rng)
        labels = None if source.labels is None else source.labels.vectors
        samples = self._as_features(Samples(source.X, source.weights, labels))
        start = copy(self)
        start._span = None
        plain = super(ShapedMap, start)._source(samples, source.weights, None, source.n_threads, rng)
        start.init = "pca" if isinstance(cooperation, OnLattice) else "k-means++"
        first = super(ShapedMap, start)._draw(plain, cooperation, rng)
        prototypes: Prototypes = Mean(first, plain.metric, plain.n_columns - plain.n_features)
        for step in start._epochs(prototypes, cooperation, plain, start._ranges(cooperation, False), rng):
            prototypes = step.prototypes
        points, fuzzy = np.split(prototypes.positions, [plain.n_features], axis=1)
        points = points + plain.origin[: plain.n_features]
        points = points if self._span is None else self._span.enter(points)
        return np.hstack([(points - source.origin[: source.n_features]) * source.scale, fuzzy])

    def _shape(self, prototypes: Prototypes, source: ArraySource, places: NDArray[np.int64]) -> dict[str, Any]:
        assert isinstance(prototypes, Matrix | Subspace)
        log_weights = prototypes.log_weights
        return {
            "shapes": prototypes.shapes[places],
            "scale": source.scale,
            "changed": prototypes.changed[places],
            "log_weights": None if log_weights is None else log_weights[places],
        }

    def _stage(
        self, X: NDArray[Any], model: Model, n_threads: int, measure: str | None = None
    ) -> tuple[Prototypes, ArraySource]:
        d = X.shape[1]
        assert model.shapes is not None
        rule = self._rule(d)
        spanned = model.shapes.axes.shape[1] < rule.n_components  # learned from fewer samples than features
        sketches = spanned or self._sketches(d)
        X, gaps = _filled(X.astype(np.float64) if spanned else X)
        if spanned and gaps is not None:
            raise ValueError(
                f"X has missing values (NaN), for which whole covariances of {d} features are needed, and the map was "
                "fitted to fewer samples than features; fill them in by complete."
            )
        source = ArraySource(
            X,
            origin=np.median(model.positions, axis=0),
            gaps=gaps,
            scale=model.scale,
            quadratic=not sketches,
            n_threads=n_threads,
            keep=False,
            chunk_size=SKETCH_ROWS if sketches else None,
        )
        log_weights = model.log_weights
        if measure is not None:
            rule, log_weights = replace(rule, measure=measure), None
        positions = (model.positions - source.origin) * model.scale
        kind = Subspace if spanned else self._kind(source)
        return kind(positions, source.metric, model.shapes, rule, log_weights), source

    def _nearest(self, X: NDArray[Any]) -> NDArray[np.int64]:
        return self._per_sample(X, lambda distances: distances.argmin(axis=1))  # as labels_, rounding included

    def _distances(self, X: NDArray[Any]) -> NDArray[Any]:
        return self._per_sample(X, lambda distances: distances.astype(X.dtype))

    def _per_sample(
        self, X: NDArray[Any], function: Callable[[NDArray[Any]], NDArray[Any]], measure: str | None = None
    ) -> NDArray[Any]:
        """Return what a function makes of the distances of samples, a chunk at a time."""
        with chunk_threads(self.n_jobs) as n_threads:
            prototypes, source = self._stage(X, self._model, n_threads, measure)
            look = prototypes.measure(source.dtype)
            (found,) = source.gather(lambda chunk: (function(look(chunk)[0]),), len(prototypes))
        return found

    def _store(self, model: Model) -> None:
        super()._store(model)
        shapes = model.shapes
        assert shapes is not None
        self.weights_ = model.masses / model.masses.sum() if model.log_weights is None else np.exp(model.log_weights)
        self.log_volumes_ = 0.5 * shapes.log_determinants
        self.floored_ = model.changed
        self._warn_of_floors()
        axes, variances = shapes.axes, _finite(shapes.variances)
        rest = _finite(shapes.rest) if shapes.n_other else np.zeros(len(shapes))
        if (model.scale != 1.0).any() and shapes.n_other:
            axes, variances, rest = _unscaled(shapes, model.scale)
        elif (model.scale != 1.0).any():
            _, deviations, axes = np.linalg.svd(np.sqrt(variances)[:, :, None] * axes / model.scale)
            variances = deviations**2
        order = np.argsort(-variances, axis=1, kind="stable")
        axes = np.take_along_axis(axes, order[:, :, None], axis=1)
        largest = np.take_along_axis(axes, np.abs(axes).argmax(axis=2)[:, :, None], axis=2)
        self.components_ = axes * np.where(largest < 0, -1.0, 1.0)
        self.variances_ = np.take_along_axis(variances, order, axis=1)
        self.residual_variances_ = rest

    def _warn_of_floors(self) -> None:
        """Warn if the shape of most samples' prototypes is not learned but set, in most directions."""
        d = self.n_features_in_
        share = float(self.weights_ @ self.floored_) / d
        if self._rule(d).n_components == d and self.scope == "local" and share > 0.5:
            warnings.warn(
                f"In {share:.0%} of their directions the samples of a prototype hardly vary, so that "
                f"regularization={self.regularization!r} sets the variance there (see floored_). For {d} features use "
                "fewer prototypes, a small n_components, or more samples.",
                UserWarning,
                stacklevel=2,
            )


def _unscaled(shapes: Shapes, scale: NDArray[np.float64]) -> tuple[NDArray[np.float64], ...]:
    """Return axes (k, r, d), variances (k, r) and the mean variance of the rest (k,) without the scale.

    All shapes have the same directions beside their axes. Of these, whose variances become different, only the mean is
    kept.
    """
    rest = _finite(shapes.rest)
    excess = _finite(shapes.variances) - rest[:, None]
    basis = np.linalg.qr((shapes.axes[0] / scale).T)[0]  # (d, r)
    seen = shapes.axes / scale @ basis
    shared = (basis / (scale**2)[:, None]).T @ basis
    inside = np.swapaxes(seen, 1, 2) @ (excess[:, :, None] * seen) + rest[:, None, None] * shared
    values, vectors = np.linalg.eigh(inside)
    values = np.maximum(values, 0.0)
    total = (excess * ((shapes.axes / scale) ** 2).sum(axis=2)).sum(axis=1) + rest * (scale**-2.0).sum()
    others = np.maximum(total - values.sum(axis=1), 0.0) / shapes.n_other
    return np.swapaxes(vectors, 1, 2) @ basis.T, values, others


def _filled(X: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.bool_] | None]:
    """Return samples with the mean of a feature where its value is missing, and where that is."""
    gaps = np.isnan(X)
    if not gaps.any():
        return X, None
    counts = np.maximum((~gaps).sum(axis=0), 1)
    return np.where(gaps, (np.where(gaps, 0.0, X).sum(axis=0) / counts).astype(X.dtype), X), gaps


def _balancing_scale(X: NDArray[Any], weights: NDArray[Any], n_threads: int) -> NDArray[np.float64]:
    """Return factors, with product one, that give all features that vary the same variance."""
    deviations = np.sqrt(mean_and_variance(ArraySource(X, weights=weights, n_threads=n_threads, keep=False))[1])
    deviations = np.ldexp(deviations, -np.frexp(deviations.max())[1])  # so that the unit of X does not round
    varies = deviations > 0
    logs = np.where(varies, np.log(np.where(varies, deviations, 1.0)), 0.0)
    level = logs.sum() / max(varies.sum(), 1)
    return np.where(varies, np.exp(level - logs), 1.0)
