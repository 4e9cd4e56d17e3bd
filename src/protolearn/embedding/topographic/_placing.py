"""Out-of-sample extension with fixed images: new samples are placed where a sampling vector would select them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from protolearn.core.chunks import block_size, cut
from protolearn.core.metric import LearnedMetric
from protolearn.core.types import Array, Floats
from protolearn.embedding._base import Lens, Samples
from protolearn.embedding.topographic._rows import MOST_BYTES

__all__ = ["Bandwidth", "Comparison", "Placing"]


SAME = 1e-12  # squared distance, as a share of the mean, that is none but for rounding


class Bandwidth(Protocol):
    """Widths of the neighborhoods of new samples."""

    def of_new(self, squares: Floats) -> Floats:
        """Return the precisions (m,) of samples with given squared distances (m, n) to all training samples."""


@dataclass(frozen=True)
class Comparison:
    """Comparison of new samples with the training samples.

    Parameters
    ----------
    samples : Samples
        Training samples as vectors; only their unit if dissimilarities are given.
    mean : float
        Mean of all squared distances, in the unit of the samples.
    squared : bool
        Whether dissimilarities are squared distances already.
    lens : Lens, optional
        Learned metric through which samples are compared, if any.
    objects : list, optional
        Training samples, if they are compared by a function.
    """

    samples: Samples
    mean: float
    squared: bool
    lens: Lens | None = None
    objects: Any = None

    @classmethod
    def of(cls, samples: Samples, mean: float, squared: bool, metric: LearnedMetric | None, objects: Any) -> Comparison:
        """Return the comparison for the samples of a fit."""
        known = Samples(samples.vectors, None, samples.unit, samples.origin)
        return cls(known, mean, squared, None if metric is None else Lens.of(metric, objects), objects)

    def squares(self, X: Array) -> Floats:
        """Return the squared distances (m, n) of vectors (m, d), or of dissimilarities (m, n) to training samples."""
        from scipy.spatial.distance import cdist

        samples, root = self.samples, np.sqrt(self.mean)
        if samples.vectors is not None:
            new = (X - samples.origin) / samples.vectors.dtype.type(samples.unit)
            known = np.asarray(samples.vectors, np.float64)
            return cdist(np.asarray(new, np.float64) / root, known / root, "sqeuclidean")
        if not self.squared and (X < 0.0).any():
            raise ValueError(f"X holds negative dissimilarities (smallest {X.min():g}); they must be 0 or more.")
        squares = np.maximum(X / samples.unit**2, 0.0) if self.squared else np.square(X / samples.unit)
        return np.asarray(squares / self.mean, np.float64)


@dataclass(frozen=True)
class Placing:
    """Fixed images (n, M), among which a new sample is placed at the lowest mean of -log g.

    The mean is over all images, weighted by the affinities of the sample. ``scale`` is that of a Student kernel; if it
    is infinite, the sample is placed at the mean of the images.
    """

    comparison: Comparison
    images: Floats
    bandwidth: Bandwidth
    scale: float

    def place(self, X: Array) -> Floats:
        """Return images (m, M) of vectors (m, d), or of dissimilarities (m, n); training samples keep their own."""
        from protolearn.embedding.topographic._kernels import settle

        places = np.empty((len(X), self.images.shape[1]))
        for part in cut(len(X), block_size(24 * len(self.images), MOST_BYTES)):
            squares = self.comparison.squares(X[part])
            settle(squares, self.bandwidth.of_new(squares), self.images, self.scale, places[part])
            known = squares.min(axis=1) <= SAME
            places[part][known] = self.images[squares[known].argmin(axis=1)]
        return places
