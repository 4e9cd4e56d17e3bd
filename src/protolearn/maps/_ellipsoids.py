"""Prototypes that are ellipsoids: their samples, initialization and fitted model."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from protolearn.core.initialization import (
    mean_and_covariance,
    mean_and_variance,
    n_distinct,
    principal_axes,
    random_axes,
    resolutions,
)
from protolearn.core.lattices import Lattice, suggest_lattice
from protolearn.core.learning import Learned, Recipe, emphasis
from protolearn.core.neighborhoods import Neighborhood, OnLattice, Winner
from protolearn.core.prototypes import Gappy, Matrix, Mean, Prototypes, Subspace
from protolearn.core.samples import Samples
from protolearn.core.shapes import Prior, ShapeRule, Shapes, principal_shapes
from protolearn.core.sources import ArraySource, PointSource
from protolearn.core.types import Array, Floats, Indices
from protolearn.core.validation import given_array, require_memory
from protolearn.maps._points import FittedPoints, Points, feature_variances
from protolearn.maps._span import RowSpace

__all__ = ["Ellipsoids", "FittedShapes", "finite_or_zero"]

MOST_PROTOTYPES = 8  # by default
SAMPLES_PER_DIRECTION = 4  # of each prototype, by default
MOST_QUADRATIC = 64  # features up to which covariances are summed whole, rather than sketched
LEAST_NODES = 12  # of a lattice that is not given, if there are four samples for each
SKETCH_ROWS = 2048  # samples of a chunk when they are sketched: sums are large, so chunks are few


@dataclass(frozen=True)
class FittedShapes(FittedPoints):
    """Ellipsoids in coordinates that are scaled by ``scale`` (d,).

    ``rule`` defines the distances, ``floored`` (k,) counts the regularized directions, and ``log_weights`` (k,) are the
    logarithms of the mixture weights, None if distances do not depend on them.
    """

    shapes: Shapes
    scale: Floats
    rule: ShapeRule
    floored: Indices
    log_weights: Floats | None

    @property
    def untied(self) -> str | None:
        """Return the measure without what decides ties, if that is another one."""
        return "residual" if self.rule.measure == "reconstruction" else None

    def past(self, decay: float = 1.0) -> Samples:
        """Return the centers of the receptive fields, with their masses and the spread of their shapes."""
        shapes = self.shapes[self.masses > 0]
        axes = shapes.axes / self.scale
        spreads = Shapes(axes, finite_or_zero(shapes.variances), finite_or_zero(shapes.rest))
        return replace(super().past(decay), spreads=spreads)

    def stage(self, X: Array, n_threads: int, measure: str | None = None) -> tuple[Any, ArraySource]:
        """Set prototypes and samples into common coordinates, with the measure of the rule by default."""
        d = X.shape[1]
        spanned = self.shapes.axes.shape[1] < self.rule.n_components  # learned from fewer samples than features
        sketched = spanned or sketches(self.rule, d)
        samples = Samples(X.astype(np.float64) if spanned else X, np.ones(len(X))).filled()
        if spanned and samples.gaps is not None:
            raise ValueError(
                f"X has missing values (NaN), which need full covariances of {d} features, but the map was "
                "fitted to fewer samples than features; impute them by complete()."
            )
        source = samples.source(
            origin=np.median(self.positions, axis=0),
            scale=self.scale,
            quadratic=not sketched,
            n_threads=n_threads,
            keep=False,
            chunk_size=SKETCH_ROWS if sketched else None,
        )
        rule, log_weights = self.rule, self.log_weights
        if measure is not None:
            rule, log_weights = replace(rule, measure=measure), None
        positions = (self.positions - source.origin) * self.scale
        kind = _kind(sketched, source.gappy)
        return kind(positions, source.metric, self.shapes, rule, log_weights), source

    def per_sample(
        self, X: Array, function: Callable[[Array], Array], n_threads: int, measure: str | None = None
    ) -> Array:
        """Apply a function to the distances of samples, one chunk at a time."""
        prototypes, source = self.stage(X, n_threads, measure)
        look = prototypes.measure(source.dtype)
        (found,) = source.gather(lambda chunk: (function(look(chunk)[0]),), len(prototypes))
        return found

    def nearest(self, X: Array, n_threads: int) -> Indices:
        """Return the nearest prototype of every sample, as `two_nearest` does, rounding included."""
        return self.per_sample(X, lambda distances: distances.argmin(axis=1), n_threads)

    def distances(self, X: Array, n_threads: int) -> Array:
        """Return the distances (n, k) of samples."""
        return self.per_sample(X, lambda distances: distances.astype(X.dtype), n_threads, self.untied)


@dataclass(frozen=True, kw_only=True)
class Ellipsoids(Points):
    """Prototypes that are ellipsoids.

    Parameters
    ----------
    name : str
        Name of the map in messages.
    auto : bool
        Whether the number of prototypes is derived from the samples.
    n_components : int, optional
        Number of directions of each prototype; all by default.
    template : ShapeRule
        Rule that derives shapes from covariances, for any number of directions.
    metric_init : {"identity", "covariance"}
        Initial shape of all prototypes.
    mixes : bool
        Whether distances include the mixture weights of the prototypes.
    span : Span, optional
        Coordinates in which the prototypes are learned, if these differ from the features.
    """

    name: str
    auto: bool
    n_components: int | None
    template: ShapeRule
    metric_init: str
    mixes: bool
    span: RowSpace | None = None
    last_radius = 0.2

    def rule(self, n_features: int, unit: float = 1.0) -> ShapeRule:
        """Return how shapes follow from covariances."""
        q = n_features if self.n_components is None else min(self.n_components, n_features)
        n_hidden = 0 if self.span is None else self.span.n_hidden
        return replace(self.template, n_components=q, unit=unit, n_hidden=n_hidden)

    def sketches(self, n_features: int) -> bool:
        """Say whether there are too many features to sum covariances whole."""
        return sketches(self.rule(n_features), n_features)

    def sized(self, samples: Samples, past: Any) -> Ellipsoids:
        """Return the kind with as many prototypes as the past has, or as samples suffice for."""
        if not self.auto:
            return self
        if past is not None:
            return replace(self, size=len(past))
        needed = SAMPLES_PER_DIRECTION * self.rule(samples.n_features).n_components
        n_samples = n_distinct(samples.unlabeled().source(keep=False))
        return replace(self, size=int(np.clip(n_samples // needed, 1, MOST_PROTOTYPES)))

    def starts(self, n_init: int) -> Iterator[Ellipsoids]:
        """Yield the kind with the rule of each start, the first at the result of the map without shapes."""
        if not self.starts_by("auto"):
            yield from super().starts(n_init)  # type: ignore[misc]
            return
        for number in range(n_init):
            yield replace(self, init=("k-means++", "random")[number % 2 - 1] if number else "euclidean")

    # More features than samples

    def enter(self, recipe: Recipe, samples: Samples, past: Any) -> tuple[Any, Samples, Any]:
        """Enter the space in which samples differ, if there are more features than samples."""
        span = self._new_span(recipe, samples, past)
        if span is None:
            return self, samples, past
        init = self.init if isinstance(self.init, str) else span.enter(given_array("init", self.init))
        inside = replace(self, span=span, n_components=span.axes.shape[1], init=init)
        return inside, span.enter_samples(samples), None if past is None else span.enter_model(past)

    def leave(self, fitted: Any) -> Any:
        """Return ellipsoids among features."""
        if self.span is None:
            return fitted
        outside = replace(self, span=None, n_components=None)
        return replace(self.span.leave_model(fitted), rule=outside.rule(len(self.span.scale)))

    def _new_span(self, recipe: Recipe, samples: Samples, past: Any) -> RowSpace | None:
        """Return the space in which samples differ, if it is worth working in."""
        n, d = len(samples), samples.n_features
        whole = self.rule(d).n_components == d and self.template.measure in ("det", "logdet", "none")
        known = past is None or past.shapes.n_other > 0
        if d <= max(n, MOST_QUADRATIC) or not (whole and known) or samples.missing:
            return None
        if not samples.in_memory:
            raise ValueError(
                f"X has {n} samples of {d} features; fewer samples than features fit in memory: pass X.compute()."
            )
        if past is not None:
            return RowSpace.of(samples, past.scale, past.scale, past, self.init)
        weighted = emphasis(recipe, samples.unlabeled(), 1)[0]
        balance = _balancing_scale(weighted, 1)
        source = weighted.source(scale=balance, keep=False)
        k = self.count(recipe.neighborhood.resolved(source, self))
        if not isinstance(self.init, str) and np.shape(self.init) != (k, d):
            raise ValueError(f"init has shape {np.shape(self.init)}; expected {(k, d)}: one row for each prototype.")
        prior, scale = self._prior(source, k), balance
        if prior is not None:  # what is known beforehand shall be the same in all directions
            logs = np.log(prior.scatter)
            scale = balance * np.exp(0.5 * (logs.mean() - logs))
        return RowSpace.of(samples, scale, balance, None, self.init)

    def _as_features(self, samples: Samples) -> Samples:
        """Return samples as the features that they are outside of the span."""
        return samples if self.span is None else replace(samples, X=self.span.leave(samples.X), spreads=None)

    # Samples

    def density_data(self, samples: Samples) -> Array:
        """Return the samples."""
        return self._as_features(samples).X

    def source(self, samples: Samples, past: Any, n_threads: int, rng: np.random.RandomState) -> PointSource:
        """Return the samples of a patch as the loop reads them, lifted by squares unless these are too many."""
        d = samples.n_features
        sketched = self.sketches(d)
        if not sketched:
            require_memory(
                f"{self.name} with n_components={self.n_components} of {d} features",
                8 * d**2 * (min(len(samples), 128) / 2 + 8),
                f"use n_components={min(10, d // 2)} or another number up to {d // 2}",
            )
        known, samples = samples, samples.filled()
        if past is not None:
            scale = past.scale
        elif self.rule(d).n_components < d or self.template.measure in ("euclidean", "reconstruction"):
            scale = np.ones(d)  # what is measured depends on the features as they are
        else:
            scale = _balancing_scale(samples, n_threads)
        return samples.source(
            label_weight=self.label_weight,
            label_unit=self.label_unit(known, n_threads),
            scale=scale,
            quadratic=not sketched,
            n_threads=n_threads,
            chunk_size=SKETCH_ROWS if sketched else None,
        )

    def suggested_lattice(self, source: PointSource) -> Lattice:
        """Return a lattice with enough samples for the shape of each node."""
        n_samples = n_distinct(source)
        enough = SAMPLES_PER_DIRECTION * self.rule(source.n_features).n_components
        per_node = min(enough, max(SAMPLES_PER_DIRECTION, n_samples // LEAST_NODES))
        return suggest_lattice(n_samples, principal_axes(source, 2)[1], per_node)

    def variance(self, samples: Samples, n_threads: int) -> float:
        """Return the total variance of samples, in units of their squared distances."""
        samples = self._as_features(samples)
        if self.template.measure in ("det", "euclidean", "reconstruction"):
            return super().variance(samples, n_threads)
        return float(samples.n_features)  # distances are in units of the deviations

    # First prototypes

    def start(
        self,
        recipe: Recipe,
        source: PointSource,
        neighborhood: Neighborhood,
        samples: Samples,
        past: Any,
        rng: np.random.RandomState,
    ) -> Any:
        """Return the first prototypes, in the coordinates of the source."""
        positions = self.first_positions(recipe, source, neighborhood, samples, past, rng)
        k, d = len(positions), source.n_features
        variances = _spread(source)
        unit = float(variances.mean() if self.span is None else variances.sum() / len(self.span.scale)) or 1.0
        rule = replace(self.rule(d, unit), prior=self._prior(source, k))
        log_weights = np.full(k, -np.log(k)) if self.mixes else None
        shapes = self._first_shapes(source, rule, k, rng) if past is None else past.shapes
        kind = _kind(self.sketches(d), source.gappy)
        if past is None and self.starts_by("euclidean"):
            plain = kind(positions, source.metric, shapes, replace(rule, measure="none"))
            shapes = plain.update(Winner().gather(plain, source, 0.0)).shapes
        return kind(positions, source.metric, shapes, rule, log_weights, np.zeros(k, np.int64))

    def drawn(
        self,
        recipe: Recipe,
        source: PointSource,
        neighborhood: Neighborhood,
        samples: Samples,
        rng: np.random.RandomState,
    ) -> Floats:
        """Return first positions by the rule that ``init`` names: "euclidean" is the result of the map of points."""
        if self.init != "euclidean":
            return super().drawn(recipe, source, neighborhood, samples, rng)
        samples = self._as_features(samples.filled().without_spreads())
        outside = replace(self, span=None, init="pca" if isinstance(neighborhood, OnLattice) else "k-means++")
        plain = Points.source(outside, samples, None, source.n_threads, rng)
        first = Points.drawn(outside, recipe, plain, neighborhood, samples, rng)
        prototypes: Prototypes = Mean(first, plain.metric, plain.n_labels)
        ranges = recipe.ranges(neighborhood, plain, outside, False)
        for step in recipe.epochs(prototypes, neighborhood, plain, ranges, rng):
            prototypes = step.prototypes
        points, labels = np.split(prototypes.positions, [plain.n_features], axis=1)
        points = points + plain.origin[: plain.n_features]
        points = points if self.span is None else self.span.enter(points)
        return np.hstack([(points - source.origin[: source.n_features]) * source.scale, labels])

    def _prior(self, source: PointSource, k: int) -> Prior | None:
        """Return the prior of the prototypes: a fraction of a sample."""
        if self.template.regularization != "prior" or not source.n_single:
            return None
        features, span = source, self.span
        if span is not None:
            weights = source.weights[: source.n_single]
            features = ArraySource(span.single, weights=weights, scale=span.balance, keep=False)
        single = source.single_mass
        spread = _spread(features)
        prior = Prior.of(spread, resolutions(features), k, single, single / n_distinct(features))
        if span is None:
            return prior
        scatter = prior.scatter * (span.scale / span.balance) ** 2
        return replace(prior, scatter=np.full(source.n_features, np.exp(np.log(scatter).mean())))

    def _first_shapes(self, source: PointSource, rule: ShapeRule, k: int, rng: np.random.RandomState) -> Shapes:
        """Return the shapes that all prototypes start with."""
        q, d = rule.n_components, source.n_features
        if self.sketches(d):
            axes = random_axes(source, rng, 1 if rule.shared else k, q)
            axes = np.ascontiguousarray(np.broadcast_to(axes, (k, q, d)))
            return Shapes(axes, np.full((k, q), rule.unit), np.full(k, rule.unit))
        if self.metric_init == "covariance":
            covariance = mean_and_covariance(source)[1][:d, :d]
            floor = replace(rule, regularization="floor", selection="top", prior=None)
            return principal_shapes(np.tile(covariance, (k, 1, 1)), floor)[0]
        if self.span is not None:
            variances, axes = self.span.euclidean()
            rest = rule.unit * np.exp(-np.log(variances).sum() / rule.n_hidden)  # the determinant is that of the unit
            tiled = np.tile(axes, (k, 1, 1)), np.tile(rule.unit * variances, (k, 1))
            return Shapes(*tiled, np.full(k, rest), more=rule.n_hidden - 1)
        axes = np.tile(np.eye(q, d), (k, 1, 1))
        return Shapes(axes, np.tile(rule.unit * source.scale[:q] ** 2, (k, 1)), np.full(k, rule.unit))

    def model(self, learned: Learned, places: Indices, common: dict[str, Any]) -> FittedShapes:
        """Return the model of prototypes in this order."""
        prototypes, source = learned.prototypes, learned.source
        log_weights = prototypes.log_weights
        return FittedShapes(
            **common,
            shapes=prototypes.shapes[places],
            scale=source.scale,
            rule=self.rule(source.n_features),
            floored=prototypes.changed[places],
            log_weights=None if log_weights is None else log_weights[places],
        )


def _spread(source: PointSource) -> Floats:
    """Return the variance of every feature (d,); of one sample the mean square of its values, which has its scale."""
    d = source.n_features
    mean, variance = (moments[:d] for moments in mean_and_variance(source))
    if variance.any():
        return variance
    return np.full(d, np.square(mean + source.origin[:d] * source.scale).mean())


def sketches(rule: ShapeRule, n_features: int) -> bool:
    """Say whether there are too many features to sum covariances whole."""
    return n_features > MOST_QUADRATIC and rule.n_components <= n_features // 2


def finite_or_zero(variances: Floats) -> Floats:
    """Return variances, none for directions that do not count."""
    return np.where(np.isfinite(variances), variances, 0.0)


def _kind(sketched: bool, gappy: bool) -> type[Matrix] | type[Subspace]:
    """Return the prototypes that suit samples."""
    if sketched:
        return Subspace
    return Gappy if gappy else Matrix


def _balancing_scale(samples: Samples, n_threads: int) -> Floats:
    """Return factors, with product one, that give all features that vary the same variance."""
    deviations = np.sqrt(feature_variances(samples, n_threads))
    deviations = np.ldexp(deviations, -np.frexp(deviations.max())[1])  # so that the unit of X does not round
    varies = deviations > 0
    logs = np.where(varies, np.log(np.where(varies, deviations, 1.0)), 0.0)
    level = logs.sum() / max(varies.sum(), 1)
    return np.where(varies, np.exp(level - logs), 1.0)
