"""Prototypes that are points among the samples: how they start, and the fitted model they make."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist

from protolearn.core import initialization
from protolearn.core.chunks import HELD, row_blocks
from protolearn.core.cooperation import Cooperation, plane_of
from protolearn.core.density import mean_pairwise_distance, parzen_log_density
from protolearn.core.learning import Fitted, Kind, Learned, Recipe, as_counts, density_exponent
from protolearn.core.loop import nearest, stage, winners
from protolearn.core.prototypes import Mean
from protolearn.core.samples import Samples, as_shares
from protolearn.core.sources import ArraySource, Labels
from protolearn.core.types import Array, Floats, Indices
from protolearn.core.validation import given_array

__all__ = ["FittedPoints", "Points", "winner_gains"]


@dataclass(frozen=True)
class FittedPoints(Fitted):
    """Points (k, d), and the means of their receptive fields: of samples (k, d) and of labels (k, C)."""

    positions: Array
    centers: Array
    center_shares: Floats

    def past(self, decay: float = 1.0) -> Samples:
        """Return the centers of the receptive fields, with their masses (Hasenfuss 2009, sec. 3.4).

        Prototypes that learn with their neighbors are drawn towards these, and a map that took them for its samples
        would contract with every patch.
        """
        full = self.masses > 0
        labels = self.center_shares[full] if self.supervised else None
        return Samples(self.centers[full], decay * self.masses[full], labels, self.classes)

    def stage(self, X: Array, n_threads: int) -> tuple[Any, ArraySource]:
        """Set prototypes and samples into common coordinates."""
        return stage(X, self.positions, n_threads)

    def nearest(self, X: Array, n_threads: int) -> Indices:
        """Return the nearest prototype of every sample."""
        return nearest(*self.stage(X, n_threads))

    def two_nearest(self, X: Array, n_threads: int) -> tuple[Indices, Indices]:
        """Return the nearest and second nearest prototype of every sample."""
        return winners(*self.stage(X, n_threads))

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
        Where they start.
    size : int, optional
        Their number, if no lattice has it.
    label_weight : float, default=0.0
        Share of the labels in the distance.
    """

    init: Any
    size: int | None
    label_weight: float = 0.0

    def density_data(self, samples: Samples) -> Array:
        """Return the samples."""
        return samples.X

    def source(
        self, samples: Samples, weights: Array, past: Any, n_threads: int, rng: np.random.RandomState
    ) -> ArraySource:
        """Return the samples of a patch as the loop reads them."""
        return ArraySource(
            samples.X,
            weights=weights,
            labels=samples.labels,
            label_weight=self.label_weight,
            label_unit=self.label_unit(samples, weights, n_threads),
            n_threads=n_threads,
        )

    def label_unit(self, samples: Samples, weights: Array, n_threads: int) -> float:
        """Return the factor on squared distances between labels."""
        if samples.labels is None:
            return 1.0
        return Labels(samples.labels, weights).unit(self.variance(samples, weights, n_threads))

    def variance(self, samples: Samples, weights: Array, n_threads: int) -> float:
        """Return the total variance of samples, in units of their squared distances."""
        return initialization.total_variance(samples.X, weights, n_threads)

    def start(
        self,
        recipe: Recipe,
        source: ArraySource,
        cooperation: Cooperation,
        samples: Samples,
        past: Any,
        rng: np.random.RandomState,
    ) -> Any:
        """Return the first prototypes, in the coordinates of the source."""
        positions = self.first_positions(recipe, source, cooperation, samples, past, rng)
        return Mean(positions, source.metric, source.n_columns - source.n_features)

    def first_positions(
        self,
        recipe: Recipe,
        source: ArraySource,
        cooperation: Cooperation,
        samples: Samples,
        past: Any,
        rng: np.random.RandomState,
    ) -> Floats:
        """Return the first positions, those of labels included, in the coordinates of the source."""
        d = source.n_features
        if past is not None:
            given, labels = past.positions, past.shares_over(samples.classes)
        elif isinstance(self.init, str):
            return self.drawn(recipe, source, cooperation, rng)
        else:
            given = given_array("init", self.init)
            shape = (self.count(cooperation), d)
            if given.shape != shape:
                raise ValueError(f"init has shape {given.shape}; expected {shape}: one row for each prototype.")
            labels = np.empty((len(given), 0))
            if samples.labels is not None:
                labels = np.tile(initialization.mean_and_variance(source)[0][d:], (len(given), 1))
        return np.hstack([(given - source.origin[:d]) * source.scale, labels])

    def drawn(
        self, recipe: Recipe, source: ArraySource, cooperation: Cooperation, rng: np.random.RandomState
    ) -> Floats:
        """Return first positions by the rule that ``init`` names."""
        k = self.count(cooperation)
        if self.init == "pca":
            return initialization.on_principal_plane(source, plane_of(cooperation, k))
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
        points = (positions[:, :d] / source.scale + source.origin[:d]).astype(samples.X.dtype)
        shares = as_shares(positions[:, d:]) if samples.labels is not None else np.empty((k, 0))
        places = np.arange(k)
        if learned.earlier is not None:
            _, places = linear_sum_assignment(cdist(learned.earlier.positions, points, "sqeuclidean"))
        if history.edges is not None:
            history = replace(history, edges=history.edges[np.ix_(places, places)])
        common: dict[str, Any] = {
            "cooperation": learned.cooperation,
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
        first, second = model.two_nearest(samples.X, learned.n_threads)
        masses = np.bincount(first, samples.weights, k).astype(np.float64)
        n_new = learned.n_new
        shown = model.showing(samples.weights[:n_new], first[:n_new], second[:n_new])
        centers = field_means(samples.X, samples.weights, first, model.positions)
        center_shares = model.shares
        if samples.labels is not None:
            known = samples.weights * samples.labels.any(axis=1)
            center_shares = field_means(samples.labels, known, first, model.shares)
        return replace(shown, masses=masses, centers=centers, center_shares=center_shares)

    def model(self, learned: Learned, places: Indices, common: dict[str, Any]) -> FittedPoints:
        """Return the model of prototypes in this order, given what all models of points have."""
        return FittedPoints(**common)


def field_means(values: Array, weights: Array, owners: Indices, otherwise: Array) -> Array:
    """Return the mean (k, d) of the values in each receptive field; a row of ``otherwise`` for fields without weight.

    A value that is not known counts as that of ``otherwise``, so that it moves nothing.
    """
    k, d = otherwise.shape
    gaps = np.zeros((k, d))
    for rows in row_blocks(len(values), 8 * d, HELD):
        own = owners[rows]
        part = np.nan_to_num(values[rows] - otherwise[own], copy=False)
        gaps += csr_array((weights[rows], (own, np.arange(len(own)))), shape=(k, len(own))) @ part
    mass = np.bincount(owners, weights, k)[:, None]
    return (otherwise + gaps / np.where(mass > 0, mass, 1.0)).astype(otherwise.dtype)


def winner_gains(source: ArraySource, magnification: float | str) -> Any:
    """Return the function that gives the factor p^c of the step of a winner at its place."""
    d = source.n_features
    exponent = density_exponent(magnification, source.X, source.weights)
    counts = as_counts(source.weights)
    options: dict[str, Any] = {"sample_weight": counts, "n_jobs": source.n_threads}
    options["bandwidth"] = mean_pairwise_distance(source.X, counts) / 3.0
    highest = (exponent * parzen_log_density(source.X, **options)).max()

    def gains(positions: Array) -> Floats:
        places = positions[:, :d] / source.scale + source.origin[:d]
        logs = exponent * parzen_log_density(source.X, points=places, **options)
        return np.exp(np.minimum(logs - highest, 0.0))  # Hasenfuss 2009, eq. 3.6

    return gains
