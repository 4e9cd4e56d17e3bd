"""Prototypes that are points: their initialization and fitted model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csc_array, csr_array
from scipy.spatial.distance import cdist

from protolearn.core import initialization
from protolearn.core.density import mean_pairwise_distance, parzen_log_density
from protolearn.core.lattices import Lattice, suggest_lattice
from protolearn.core.learning import MOST_PAIRED, Fitted, Kind, Learned, Recipe, Wins, density_exponent
from protolearn.core.loop import distances_to, nearest, stage, winners
from protolearn.core.neighborhoods import Neighborhood, plane_of
from protolearn.core.prototypes import Mean
from protolearn.core.samples import Samples, as_shares
from protolearn.core.sources import ArraySource, PointSource
from protolearn.core.threads import CACHED, row_blocks
from protolearn.core.types import Array, Floats, Indices
from protolearn.core.validation import given_array

__all__ = ["Fields", "FittedPoints", "Points", "feature_variances", "winner_gains"]


@dataclass(frozen=True)
class FittedPoints(Fitted):
    """Points (k, d), and the means of their receptive fields: of samples (k, d) and of labels (k, C).

    ``inertia`` is the sum of the squared distances of the samples learned from last to their nearest points. With
    ``partial`` distances, samples may have values that are not known (NaN).
    """

    positions: Array
    centers: Array
    center_shares: Floats
    inertia: float = field(default=0.0, kw_only=True)
    partial: bool = field(default=False, kw_only=True)

    def past(self, decay: float = 1.0) -> Samples:
        """Return the centers of the receptive fields, with their masses (Hasenfuss 2009, sec. 3.4).

        The prototypes themselves are biased towards their lattice neighbors; a map that represented earlier samples by
        its prototypes would contract with every patch.
        """
        full = self.masses > 0
        labels = self.center_shares[full] if self.supervised else None
        return Samples(self.centers[full], decay * self.masses[full], labels, self.classes)

    def stage(self, X: Array, n_threads: int) -> tuple[Any, ArraySource]:
        """Set prototypes and samples into common coordinates."""
        return stage(X, self.positions, n_threads, self.partial)

    def nearest(self, X: Array, n_threads: int) -> Indices:
        """Return the nearest prototype of every sample."""
        return nearest(*self.stage(X, n_threads))

    def two_nearest(self, X: Array, n_threads: int) -> tuple[Indices, Indices]:
        """Return the nearest and second nearest prototype of every sample."""
        return winners(*self.stage(X, n_threads))

    def squared_errors(self, X: Array, n_threads: int) -> Array:
        """Return the squared distance (n,) of every sample to its nearest prototype."""
        prototypes, source = self.stage(X, n_threads)
        return distances_to(prototypes, source, winners(prototypes, source)[0])

    def fields(self) -> Callable[..., Fields]:
        """Return how samples are added up, given the two nearest prototypes of each."""
        return partial(Fields.around, self.positions, self.shares)

    def distances(self, X: Array, n_threads: int) -> Array:
        """Return the squared distances (n, k) of samples."""
        prototypes, source = self.stage(X, n_threads)
        measure = prototypes.measure(source.dtype)
        (distances,) = source.gather(lambda chunk: (np.maximum(measure(chunk)[0], 0.0),), len(prototypes))
        return distances


@dataclass(frozen=True)
class Points(Kind):
    """Prototypes that are points.

    Parameters
    ----------
    init : str or array of shape (k, d)
        Initial positions of the prototypes.
    size : int, optional
        Number of prototypes, unless a lattice determines it.
    label_weight : float, default=0.0
        Share of the labels in the distance.
    partial : bool, default=False
        Whether values that are not known (NaN) are left out of distances.
    """

    init: Any
    size: int | None
    label_weight: float = 0.0
    partial: bool = False

    def density_data(self, samples: Samples) -> Array:
        """Return the samples."""
        return samples.X

    def suggested_lattice(self, source: PointSource) -> Lattice:
        """Return a lattice that suits the samples."""
        return suggest_lattice(initialization.n_distinct(source), initialization.principal_axes(source, 2)[1])

    def widest(self, source: PointSource) -> float:
        """Return the variance of the samples along the direction where it is largest."""
        return float(initialization.principal_axes(source, 1)[1][0])

    def source(self, samples: Samples, past: Any, n_threads: int, rng: np.random.RandomState) -> PointSource:
        """Return the samples of a patch as the loop reads them."""
        unit = self.label_unit(samples, n_threads)
        partial = self.partial and samples.missing
        return samples.source(label_weight=self.label_weight, label_unit=unit, partial=partial, n_threads=n_threads)

    def label_unit(self, samples: Samples, n_threads: int) -> float:
        """Return the factor on squared distances between labels."""
        return samples.label_moments.unit(self.variance(samples, n_threads)) if samples.supervised else 1.0

    def variance(self, samples: Samples, n_threads: int) -> float:
        """Return the total variance of samples, in units of their squared distances."""
        return float(feature_variances(samples, n_threads, self.partial).sum())

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
        return Mean(positions, source.metric, source.n_labels, source.partial)

    def first_positions(
        self,
        recipe: Recipe,
        source: PointSource,
        neighborhood: Neighborhood,
        samples: Samples,
        past: Any,
        rng: np.random.RandomState,
    ) -> Floats:
        """Return the first positions, those of labels included, in the coordinates of the source."""
        d = source.n_features
        if past is not None:
            given, labels = past.positions, past.shares_over(samples.classes)
        elif isinstance(self.init, str):
            return self.drawn(recipe, source, neighborhood, samples, rng)
        else:
            given = given_array("init", self.init)
            shape = (self.count(neighborhood), d)
            if given.shape != shape:
                raise ValueError(f"init has shape {given.shape}; expected {shape}: one row for each prototype.")
            labels = np.empty((len(given), 0))
            if samples.supervised:
                labels = np.tile(initialization.mean_and_variance(source)[0][d:], (len(given), 1))
        return np.hstack([(given - source.origin[:d]) * source.scale, labels])

    def drawn(
        self,
        recipe: Recipe,
        source: PointSource,
        neighborhood: Neighborhood,
        samples: Samples,
        rng: np.random.RandomState,
    ) -> Floats:
        """Return first positions by the rule that ``init`` names."""
        k = self.count(neighborhood)
        if self.init == "pca":
            return initialization.on_principal_plane(source, plane_of(neighborhood, k))
        if self.init == "center":
            return initialization.around_center(source, k, rng)
        if self.init == "k-means++":
            return initialization.spread_samples(source, k, rng)
        return initialization.distinct_samples(source, k, rng)

    def fitted(self, learned: Learned) -> FittedPoints:
        """Return the model that remains, prototypes in the order of earlier ones."""
        source, samples, history = learned.source, learned.samples, learned.history
        k, d = len(learned.prototypes), source.n_features
        positions = learned.prototypes.positions
        points = (positions[:, :d] / source.scale + source.origin[:d]).astype(samples.dtype)
        shares = as_shares(positions[:, d:]) if samples.supervised else np.empty((k, 0))
        places = np.arange(k)
        if learned.earlier is not None:
            _, places = linear_sum_assignment(cdist(learned.earlier.positions, points, "sqeuclidean"))
        if history.edges is not None:
            history = replace(history, edges=history.edges[np.ix_(places, places)])
        common: dict[str, Any] = {
            "neighborhood": learned.neighborhood,
            "classes": learned.classes,
            "shares": shares[places],
            "masses": np.ones(k),
            "winners": np.empty(0, np.int64),
            "graph": None,
            "history": history,
            "positions": points[places],
            "centers": points[places],
            "center_shares": shares[places],
        }
        model = self.model(learned, places, common)
        new, old = samples.parted(learned.n_new)
        find, total = model.assignment(learned.n_threads), model.fields()
        winners, sums = new.assigned(find, total)
        graph = sums.graph if history.edges is None else csr_array(history.edges)
        inertia = sums.inertia
        if len(old):
            sums = sums + old.assigned(find, total)[1]
        return replace(
            model,
            winners=winners,
            graph=graph,
            masses=sums.masses,
            inertia=inertia,
            centers=sums.means(model.positions),
            center_shares=sums.label_means(model.shares),
        )

    def model(self, learned: Learned, places: Indices, common: dict[str, Any]) -> FittedPoints:
        """Return the model of prototypes in this order, given what all models of points have."""
        return FittedPoints(**common, partial=self.partial)


@dataclass(frozen=True)
class Fields(Wins):
    """Sums over receptive fields: wins, weights (k,) of samples that have a label, and differences from prototypes.

    Those of samples (k, d) and of labels (k, C) are measured from the prototypes and theirs; a value that is not known
    counts as that of the prototype, so that it moves nothing. ``inertia`` is the sum of the squares of the former.
    """

    gaps: Floats
    inertia: float
    label_masses: Floats
    label_gaps: Floats

    @classmethod
    def around(cls, positions: Array, shares: Floats, samples: Samples, first: Indices, second: Indices) -> Fields:
        """Add samples up by the nearest of prototypes (k, d) with labels (k, C)."""
        wins = Wins.of(samples, first, second, len(positions))
        gaps, inertia = _gaps(samples.X, samples.weights, first, positions)
        label_masses, label_gaps = np.zeros(len(positions)), np.zeros(shares.shape)
        if samples.supervised:
            known = samples.weights * samples.labels.any(axis=1)
            label_masses = np.bincount(first, known, len(positions)).astype(np.float64)
            label_gaps, _ = _gaps(samples.labels, known, first, shares)
        return cls(wins.masses, wins.graph, gaps, inertia, label_masses, label_gaps)

    def __add__(self, other: Fields) -> Fields:  # type: ignore[override]
        return Fields(*(getattr(self, one.name) + getattr(other, one.name) for one in fields(self)))

    def means(self, positions: Array) -> Array:
        """Return the mean (k, d) of each field; the position where there are no samples."""
        return (positions + self.gaps / _or_one(self.masses)).astype(positions.dtype)

    def label_means(self, shares: Floats) -> Floats:
        """Return the mean label (k, C) of each field; that of the prototype where there are none."""
        return shares + self.label_gaps / _or_one(self.label_masses)


def _gaps(values: Array, weights: Array, owners: Indices, places: Array) -> tuple[Floats, float]:
    """Return the sum of the differences of values from places (k, d) in each receptive field, and of all squares."""
    k, d = places.shape
    gaps, squares = np.zeros((k, d)), 0.0
    for rows in row_blocks(len(values), 8 * d, CACHED):
        own = owners[rows]
        part = values[rows] - places[own]
        lengths = np.einsum("ij,ij->i", part, part)
        gappy = np.flatnonzero(np.isnan(lengths))
        if len(gappy):
            missing = np.isnan(part[gappy])
            part[gappy] = np.where(missing, 0.0, part[gappy])
            scales = d / np.maximum(d - missing.sum(axis=1), 1)
            lengths[gappy] = scales * np.einsum("ij,ij->i", part[gappy], part[gappy])
        gaps += csc_array((weights[rows], own, np.arange(len(own) + 1)), shape=(k, len(own))) @ part
        squares += float(weights[rows].astype(np.float64) @ lengths)
    return gaps, squares


def _or_one(masses: Floats) -> Floats:
    """Return masses (k, 1) to divide by."""
    return np.where(masses > 0, masses, 1.0)[:, None]


def feature_variances(samples: Samples, n_threads: int, partial: bool = False) -> Floats:
    """Return the weighted variance of every feature (d,); with ``partial``, of what is known of it."""
    source = samples.unlabeled().source(n_threads=n_threads, partial=partial, keep=False)
    return initialization.mean_and_variance(source)[1]


def winner_gains(source: ArraySource, magnification: float | str) -> Any:
    """Return the function that gives the factor p^c of the step of a winner at its place."""
    d = source.n_features
    exponent = density_exponent(magnification, source.X, source.weights)
    options: dict[str, Any] = {"sample_weight": source.weights, "max_samples": MOST_PAIRED, "n_jobs": source.n_threads}
    options["bandwidth"] = mean_pairwise_distance(source.X, source.weights, max_samples=MOST_PAIRED) / 3.0
    highest = (exponent * parzen_log_density(source.X, **options)).max()

    def gains(positions: Array) -> Floats:
        places = positions[:, :d] / source.scale + source.origin[:d]
        logs = exponent * parzen_log_density(source.X, points=places, **options)
        return np.exp(np.minimum(logs - highest, 0.0))  # Hasenfuss 2009, eq. 3.6

    return gains
