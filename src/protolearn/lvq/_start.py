"""Initialization of training: coordinates, initial prototypes of every class, discriminative directions.

Everything is computed from sums over samples X (n, N) with class codes y (n,) and weights u (n,), in memory or in
partitions. NaN in X stands for a missing value.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from protolearn.core.numerics import power_of_two, row_space
from protolearn.core.types import Bools, Floats, Indices
from protolearn.core.validation import require_memory
from protolearn.lvq.samples import Labeled, TrainingSamples
from protolearn.maps import NeuralGas

__all__ = [
    "Frame",
    "class_means",
    "discriminative_directions",
    "first_prototypes",
    "natural_frame",
    "plain_frame",
    "standard_frame",
]

Codes = Indices
FAINT = 1e-140  # standard deviation whose square loses digits
START_EPOCHS = 30  # of the gas in each class: as accurate afterwards as with 100, and the start was most of a short fit


@dataclass(frozen=True)
class Frame:
    """Coordinates ``((x - center) / scale) axes`` in which a solver works; axes (N, r) are orthonormal, or all N.

    One scale for all features is the solver's own affair. A scale for each belongs to the metric, which then measures
    in these units.
    """

    center: Floats
    scale: float | Floats = 1.0
    axes: Floats | None = None

    @property
    def units(self) -> Floats:
        """Unit in which the metric measures each feature."""
        return self.scale if isinstance(self.scale, np.ndarray) else np.ones(len(self.center))

    @property
    def length(self) -> float:
        """How long outside, as the metric measures it, is what has length one in these coordinates."""
        return 1.0 if isinstance(self.scale, np.ndarray) else self.scale

    def enter(self, X: Floats) -> Floats:
        """Return samples or prototypes in these coordinates."""
        moved = np.subtract(X, self.center, order="C")
        moved /= self.scale
        return moved if self.axes is None else moved @ self.axes

    def leave(self, W: Floats) -> Floats:
        """Return prototypes in feature coordinates."""
        return (W if self.axes is None else W @ self.axes.T) * self.scale + self.center

    def enter_matrices(self, A: Floats) -> Floats:
        """Return matrices, whose last axis is that of the features, for these coordinates."""
        A = A * self.scale if np.ndim(self.scale) else A
        return A if self.axes is None else A @ self.axes

    def leave_matrices(self, A: Floats) -> Floats:
        """Return matrices for feature coordinates."""
        A = A if self.axes is None else A @ self.axes.T
        return A / self.scale if np.ndim(self.scale) else A


def plain_frame(samples: TrainingSamples, rotates: bool) -> Frame:
    """Move the origin to the mean, and take a power of two for a unit, in which the mean variance is about one.

    So rates of learning do not depend on the scale of the samples, and are those of publications if features are
    standardized, as they are there. If there are more features than samples, drop what `standard_frame` drops.
    """
    center = weighted_mean(samples)
    axes = None
    if isinstance(samples, Labeled) and rotates and samples.n_features > len(samples) and not samples.missing:
        axes = row_space(samples.X - center)
    n_directions = samples.n_features if axes is None else axes.shape[1]
    variance = weighted_mean(samples, lambda X: (X - center) ** 2).sum() / n_directions
    return Frame(center, power_of_two(np.sqrt(variance)), axes)


def natural_frame(samples: TrainingSamples) -> Frame:
    """Move the origin to the mean, and scale all features by one number to unit variance."""
    center, spread = _center_and_spread(samples)
    return Frame(center, float(np.sqrt((spread**2).mean())) or 1.0)


def standard_frame(samples: TrainingSamples, rotates: bool) -> Frame:
    """Standardize every feature, and drop directions in which no two samples differ.

    For metrics that learn the weight of each feature: so what they learn does not depend on the units of the features.
    Directions are dropped only where ``rotates`` says that the metric does not mind turned axes. What a matrix does
    in such directions could not be learned, and would only blur the relevances.
    """
    center, spread = _center_and_spread(samples)
    frame = Frame(center, _units(center, spread))
    if not rotates or samples.missing:
        return frame
    return Frame(center, frame.scale, _row_space(samples.entered(frame), spread > 0))


def _center_and_spread(samples: TrainingSamples) -> tuple[Floats, Floats]:
    """Return mean and standard deviation of each feature; of a constant one 0."""
    center = weighted_mean(samples)
    spread = np.sqrt(weighted_mean(samples, lambda X: (X - center) ** 2))
    if not (spread > FAINT).all():  # constant, or squares that vanish
        units = np.array([power_of_two(size) for size in weighted_mean(samples, lambda X: np.abs(X - center))])
        spread = units * np.sqrt(weighted_mean(samples, lambda X: ((X - center) / units) ** 2))
    spread[spread <= len(samples) * np.finfo(np.float64).eps * np.abs(center)] = 0.0  # constant, but for rounding
    return center, spread


def _units(center: Floats, spread: Floats) -> Floats:
    """Return the unit of each feature: its standard deviation, or its size if it is constant."""
    size = np.where(spread > 0, spread, np.abs(center))
    return np.where(size > 0, size, 1.0)


def weighted_mean(samples: TrainingSamples, of: Callable[[Floats], Floats] = lambda X: X) -> Floats:
    """Return the mean of the values of each column that are there, or of a function of the samples."""
    sums, mass = samples.sum(lambda part: _column_sums(of(part.X), part.u))
    return np.divide(sums, mass, out=np.zeros(len(sums)), where=mass > 0)


def _column_sums(X: Floats, u: Floats) -> Floats:
    """Return the weighted sum of the values of each column that are there, and the weight of these (2, N)."""
    if not np.isnan(X).any():
        return np.stack([u @ X, np.full(X.shape[1], u.sum())])
    seen = ~np.isnan(X)
    return np.stack([u @ np.where(seen, X, 0.0), u @ seen])


def class_means(samples: TrainingSamples, n_classes: int) -> Floats:
    """Return the mean of each class (C, N); the overall mean stands in where a class has no value."""

    def sums_of_classes(part: Labeled) -> Floats:
        members = (part.y == code for code in range(n_classes))
        return np.stack([_column_sums(part.X[mine], part.u[mine]) for mine in members], axis=1)

    sums, mass = samples.sum(sums_of_classes)
    total = mass.sum(axis=0)
    mean = np.divide(sums.sum(axis=0), total, out=np.zeros(len(total)), where=total > 0)
    return np.divide(sums, mass, out=np.tile(mean, (n_classes, 1)), where=mass > 0)


def first_prototypes(samples: TrainingSamples, classes: Codes, init: str, rng: np.random.RandomState) -> Floats:
    """Return the first prototypes (k, N): of each class the mean, or several by neural gas, or means of thirds."""
    n_classes = int(classes.max()) + 1
    means, counts = class_means(samples, n_classes), samples.counts(n_classes)
    W = means[classes]
    for code, count in zip(*(values.tolist() for values in np.unique(classes, return_counts=True))):
        available = int(counts[code])
        if not available or (count == 1 and init == "neural_gas"):
            continue
        if available < count:  # in a stream, whose first batch may be small
            members, _ = samples.members(code, means[code])
            noise = 1e-3 * rng.normal(size=(count, samples.n_features))
            W[classes == code] = members[rng.randint(available, size=count)] + noise
        elif init == "neural_gas":
            members, weights = samples.members(code, means[code])
            gas = NeuralGas(count, max_iter=START_EPOCHS, random_state=rng, n_jobs=samples.n_jobs)
            W[classes == code] = gas.fit(members, sample_weight=weights).prototypes_
        else:
            W[classes == code] = _means_of_thirds(samples, code, means[code], count, rng)
    return W


def discriminative_directions(samples: TrainingSamples, n_classes: int, n_components: int) -> Floats:
    """Return directions (M, N) that separate class means, in units of the spread within classes.

    These are the directions of linear discriminant analysis, with a within-class covariance shrunk towards a
    multiple of the identity; further ones follow in the order of their variance.
    """
    means = class_means(samples, n_classes)
    N, mass = samples.n_features, samples.mass

    def squares(part: Labeled) -> Floats:
        residuals = np.where(np.isnan(part.X), 0.0, part.X - means[part.y])
        return (part.u[:, None] * residuals).T @ residuals

    within = samples.sum(squares) / mass
    size = np.trace(within) / N or 1.0
    shrinkage = max(0.1, N / (N + mass))
    values, vectors = np.linalg.eigh((1.0 - shrinkage) * within + shrinkage * size * np.eye(N))
    whiten = vectors / np.sqrt(np.maximum(values, 1e-12 * size))
    shares = samples.masses(n_classes) / mass
    offsets = (means - shares @ means) @ whiten
    between = (shares[:, None] * offsets).T @ offsets
    inside = whiten.T @ within @ whiten
    order = np.linalg.eigh(between + 1e-6 * (between + inside))[1][:, ::-1][:, :n_components]
    return (whiten @ order).T


def _row_space(standard: TrainingSamples, varies: Bools) -> Floats | None:
    """Return an orthonormal basis (N, r) of the directions in which samples differ; None if these are all."""
    n, N, mass = len(standard), standard.n_features, standard.mass
    tolerance = max(n, N) * np.finfo(np.float64).eps

    def weighted(part: Labeled) -> Floats:
        return np.where(varies, part.X, 0.0) * np.sqrt(part.u / mass)[:, None]

    def squares(part: Labeled) -> Floats:
        rows = weighted(part)
        return rows.T @ rows

    if isinstance(standard, Labeled) and n < N:
        _, singular, directions = np.linalg.svd(weighted(standard), full_matrices=False)
        kept = directions[singular > 10 * tolerance * singular[0]].T
    else:
        require_memory(f"The directions of {N} features", 5 * 8 * N**2, "use fewer, such as principal components")
        values, vectors = np.linalg.eigh(standard.sum(squares))
        kept = vectors[:, values > 10 * tolerance * max(values[-1], 0.0)]
    return None if kept.shape[1] in (0, N) else np.ascontiguousarray(kept)


def _means_of_thirds(
    samples: TrainingSamples, code: int, values: Floats, count: int, rng: np.random.RandomState
) -> Floats:
    """Return means of random thirds of a class, each with a small deviation."""  # Bunte 2011, section 4.2.2

    def mean(some: TrainingSamples, of: Callable[[Floats], Floats]) -> Floats:
        def sums(part: Labeled) -> Floats:
            mine = part.y == code
            members = np.where(np.isnan(part.X[mine]), values, part.X[mine])
            return _column_sums(of(members), part.u[mine])

        total, mass = some.sum(sums)
        return total / mass

    center = mean(samples, lambda X: X)
    noise = 1e-3 * np.sqrt(mean(samples, lambda X: (X - center) ** 2))
    thirds = [mean(samples.third(code, rng), lambda X: X) for _ in range(count)]
    return np.stack(thirds) + noise * rng.normal(size=(count, samples.n_features))
