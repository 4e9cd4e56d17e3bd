"""Where training starts: coordinates to work in, first prototypes of every class, discriminative directions.

Arrays: X (n, N) samples, y (n,) class codes, u (n,) weights. NaN in X stands for a missing value.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from protolearn.core.spans import row_space
from protolearn.core.ties import power_of_two
from protolearn.core.types import Bools, Floats, Indices
from protolearn.core.validation import require_memory
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


def plain_frame(X: Floats, u: Floats, rotates: bool) -> Frame:
    """Move the origin to the mean, and take a power of two for a unit, in which the mean variance is about one.

    So rates of learning do not depend on the scale of the samples, and are those of publications if features are
    standardized, as they are there. If there are more features than samples, drop what `standard_frame` drops.
    """
    center = weighted_mean(X, u)
    few = rotates and X.shape[1] > len(X) and not np.isnan(X).any()
    axes = row_space(X - center) if few else None
    n_directions = X.shape[1] if axes is None else axes.shape[1]
    variance = weighted_mean((X - center) ** 2, u).sum() / n_directions
    return Frame(center, power_of_two(np.sqrt(variance)), axes)


def natural_frame(X: Floats, u: Floats) -> Frame:
    """Move the origin to the mean, and scale all features by one number to unit variance."""
    center, spread = _center_and_spread(X, u)
    return Frame(center, float(np.sqrt((spread**2).mean())) or 1.0)


def standard_frame(X: Floats, u: Floats, rotates: bool) -> Frame:
    """Standardize every feature, and drop directions in which no two samples differ.

    For metrics that learn the weight of each feature: so what they learn does not depend on the units of the features.
    Directions are dropped only where ``rotates`` says that the metric does not mind turned axes. What a matrix does
    in such directions could not be learned, and would only blur the relevances.
    """
    center, spread = _center_and_spread(X, u)
    frame = Frame(center, _units(center, spread))
    if not rotates or np.isnan(X).any():
        return frame
    return Frame(center, frame.scale, _row_space(frame.enter(X), spread > 0, u))


def _center_and_spread(X: Floats, u: Floats) -> tuple[Floats, Floats]:
    """Return mean and standard deviation of each feature; of a constant one 0."""
    center = weighted_mean(X, u)
    spread = np.sqrt(weighted_mean((X - center) ** 2, u))
    spread[spread <= len(X) * np.finfo(np.float64).eps * np.abs(center)] = 0.0  # constant, but for rounding
    return center, spread


def _units(center: Floats, spread: Floats) -> Floats:
    """Return the unit of each feature: its standard deviation, or its size if it is constant."""
    size = np.where(spread > 0, spread, np.abs(center))
    return np.where(size > 0, size, 1.0)


def weighted_mean(X: Floats, u: Floats) -> Floats:
    """Return the mean of the values of each column that are there."""
    if not np.isnan(X).any():
        return u @ X / u.sum()
    seen = ~np.isnan(X)
    mass = u @ seen
    return np.divide(u @ np.where(seen, X, 0.0), mass, out=np.zeros(X.shape[1]), where=mass > 0)


def class_means(X: Floats, y: Codes, u: Floats, n_classes: int) -> Floats:
    """Return the mean of each class (C, N); the overall mean stands in where a class has no value."""
    means = np.tile(weighted_mean(X, u), (n_classes, 1))
    for code in np.unique(y):
        members = X[y == code]
        seen = ~np.isnan(members).all(axis=0)
        means[code, seen] = weighted_mean(members[:, seen], u[y == code])
    return means


def first_prototypes(X: Floats, y: Codes, u: Floats, classes: Codes, init: str, rng: np.random.RandomState) -> Floats:
    """Return the first prototypes (k, N): of each class the mean, or several by neural gas, or means of thirds."""
    means = class_means(X, y, u, int(classes.max()) + 1)
    W = means[classes]
    for code, count in zip(*np.unique(classes, return_counts=True)):
        rows = y == code
        if not rows.any() or (count == 1 and init == "neural_gas"):
            continue
        members = np.where(np.isnan(X[rows]), means[code], X[rows])
        if len(members) < count:  # in a stream, whose first batch may be small
            noise = 1e-3 * rng.normal(size=(int(count), X.shape[1]))
            W[classes == code] = members[rng.randint(len(members), size=int(count))] + noise
        elif init == "neural_gas":
            gas = NeuralGas(int(count), random_state=rng, n_jobs=1)
            W[classes == code] = gas.fit(members, sample_weight=u[rows]).prototypes_
        else:
            W[classes == code] = _means_of_thirds(members, u[rows], int(count), rng)
    return W


def discriminative_directions(X: Floats, y: Codes, u: Floats, n_components: int) -> Floats:
    """Return directions (M, N) that separate class means, in units of the spread within classes.

    These are the directions of linear discriminant analysis, with a within-class covariance shrunk towards a
    multiple of the identity; further ones follow in the order of their variance.
    """
    means = class_means(X, y, u, int(y.max()) + 1)
    X = np.where(np.isnan(X), means[y], X)
    N = X.shape[1]
    residuals = X - means[y]
    within = (u[:, None] * residuals).T @ residuals / u.sum()
    size = np.trace(within) / N or 1.0
    shrinkage = max(0.1, N / (N + u.sum()))
    values, vectors = np.linalg.eigh((1.0 - shrinkage) * within + shrinkage * size * np.eye(N))
    whiten = vectors / np.sqrt(np.maximum(values, 1e-12 * size))
    shares = np.bincount(y, u, len(means)) / u.sum()
    offsets = (means - shares @ means) @ whiten
    between = (shares[:, None] * offsets).T @ offsets
    inside = whiten.T @ within @ whiten
    order = np.linalg.eigh(between + 1e-6 * (between + inside))[1][:, ::-1][:, :n_components]
    return (whiten @ order).T


def _row_space(standard: Floats, varies: Bools, u: Floats) -> Floats | None:
    """Return an orthonormal basis (N, r) of the directions in which samples differ; None if these are all."""
    n, N = standard.shape
    standard = np.where(varies, standard, 0.0) * np.sqrt(u / u.sum())[:, None]
    tolerance = max(n, N) * np.finfo(np.float64).eps
    if n < N:
        _, singular, directions = np.linalg.svd(standard, full_matrices=False)
        kept = directions[singular > 10 * tolerance * singular[0]].T
    else:
        require_memory(f"The directions of {N} features", 5 * 8 * N**2, "use fewer, such as principal components")
        values, vectors = np.linalg.eigh(standard.T @ standard)
        kept = vectors[:, values > 10 * tolerance * max(values[-1], 0.0)]
    return None if kept.shape[1] in (0, N) else np.ascontiguousarray(kept)


def _means_of_thirds(members: Floats, u: Floats, count: int, rng: np.random.RandomState) -> Floats:
    """Return means of random thirds of a class, each with a small deviation."""  # Bunte 2011, section 4.2.2
    noise = 1e-3 * np.sqrt(weighted_mean((members - weighted_mean(members, u)) ** 2, u))
    thirds = [rng.choice(len(members), max(1, len(members) // 3), replace=False) for _ in range(count)]
    return np.stack([weighted_mean(members[third], u[third]) for third in thirds]) + noise * rng.normal(
        size=(count, members.shape[1])
    )
