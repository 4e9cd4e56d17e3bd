"""Common base of all embeddings: reading samples, dissimilarities or objects, and returning positions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from scipy.sparse import issparse
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_array, validate_data

from protolearn.core.estimator import Estimator
from protolearn.core.metric import A_METRIC, LearnedMetric, as_metric, is_learned
from protolearn.core.numerics import alike, power_of_two
from protolearn.core.parameters import flag, function, integer, option
from protolearn.core.threads import cut
from protolearn.core.types import Array, Floats
from protolearn.core.validation import (
    check_scale,
    refuse_large,
    require_memory,
)
from protolearn.dissimilarities import METRICS, checked_with_scale, is_metric, pairwise

__all__ = ["Embedding", "Lens", "View", "ViewSamples", "check_square", "squares_of", "vector_samples"]


LEAST_SAMPLES = 4
ROWS = 256  # compared with all others in one call, after which Python heeds interrupts


@dataclass(frozen=True)
class ViewSamples:
    """Samples as vectors (n, d) or as squared distances (n, n), and the unit of their distances.

    Vectors are relative to an origin.
    """

    vectors: Array | None
    squares: Floats | None
    unit: float
    origin: Any = 0.0

    def __len__(self) -> int:
        return len(self.vectors if self.squares is None else self.squares)  # type: ignore[arg-type]

    def part(self, rows: Array) -> ViewSamples:
        """Return some of the samples."""
        if len(rows) == len(self):
            return self
        if self.squares is not None:
            return replace(self, squares=self.squares[np.ix_(rows, rows)])
        assert self.vectors is not None
        return replace(self, vectors=self.vectors[rows])

    def rescaled(self) -> ViewSamples:
        """Return the samples in the unit that they would have on their own."""
        if self.squares is not None:
            unit = power_of_two(float(np.sqrt(self.squares.max())))
            return replace(self, squares=self.squares / unit**2, unit=self.unit * unit)
        assert self.vectors is not None
        own = vector_samples(self.vectors)
        return replace(own, unit=self.unit * own.unit, origin=self.origin + self.unit * own.origin)

    def all_squares(self) -> Floats:
        """Return the squared distances of all pairs."""
        from scipy.spatial.distance import cdist

        if self.squares is not None:
            return self.squares
        require_pairs(len(self))
        assert self.vectors is not None
        n = len(self.vectors)
        squares = np.empty((n, n))
        for rows in cut(n, ROWS):
            part = cdist(self.vectors[rows], self.vectors[rows.start :], "sqeuclidean")
            squares[rows, rows.start :] = part
            squares[rows.start :, rows] = part.T
        return squares


@dataclass(frozen=True)
class Lens:
    """Samples under a learned metric: projected if it is global, otherwise distances to the training samples.

    Parameters
    ----------
    metric : LearnedMetric
        The metric.
    training : ndarray of shape (n, N), optional
        Training samples after the preprocessing steps of the metric; of a global metric, their mean. By default,
        samples are compared with each other.
    directed : bool, default=False
        Whether distances are measured by the matrix of the sample's own winner, or averaged over both samples.
    """

    metric: LearnedMetric
    training: Array | None = None
    directed: bool = False

    @classmethod
    def of(cls, metric: LearnedMetric, X: Any, directed: bool = False) -> Lens:
        """Return the lens that compares new samples with those of a fit."""
        vectors = metric.samples(X)
        return cls(metric, vectors.mean(axis=0, keepdims=True) if metric.is_global else vectors, directed)

    def see(self, X: Any) -> Array:
        """Return projections (m, M), or distances (m, n)."""
        if self.metric.is_global:
            return self.metric.project(X)
        symmetrize = None if self.directed else "mean"
        return self.metric.inner.distances(self.metric.samples(X), self.training, symmetrize=symmetrize)

    def restore(self, Z: Array) -> Array:
        """Return the samples with given projections that are nearest to the mean of the training samples."""
        assert self.training is not None
        return self.metric.restore(Z, self.training[0])


def require_pairs(n: int) -> None:
    """Raise an error if the pairs of all samples, with a few numbers for each, do not fit in memory."""
    instead = "use fewer samples, or a method that needs neighbors only, such as TSNE(method='fast')"
    require_memory(f"A view from all pairs of {n} samples", 5 * 8 * n**2, instead)


class View(ClassNamePrefixFeaturesOutMixin, TransformerMixin):
    """Base of all views, which have the positions of the samples as ``embedding_``."""

    embedding_: Any

    def fit_transform(self, X: Any, y: Any = None) -> Array:
        """Fit the embedding, and return the positions of the samples.

        Parameters
        ----------
        X : array-like or list of objects
            Samples, as for ``fit``.
        y : array-like, optional
            Classes, as for ``fit``.

        Returns
        -------
        positions : ndarray of shape (n_samples, n_components)
            Positions of the samples, ``embedding_``.
        """
        return self.fit(X, y).embedding_

    def fit(self, X: Any, y: Any = None) -> Self:
        """Compute the embedding."""
        raise NotImplementedError

    @property
    def _n_features_out(self) -> int:
        return self.embedding_.shape[1]


class Embedding(View, Estimator):
    """Base of all embeddings that read vectors, dissimilarities or objects."""

    _constraints = {
        "n_components": integer(1),
        "max_iter": integer(1),
        "metric": option("precomputed", *METRICS) | function("a function of two objects") | A_METRIC,
        "squared": flag,
        "symmetrize": option("raise", "mean"),
    }

    metric: Any
    squared: bool
    symmetrize: str
    verbose: int
    embedding_: Floats

    def __sklearn_tags__(self) -> Tags:
        """Declare whether ``X`` is a matrix of pairs."""
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._pairwise
        tags.input_tags.two_d_array = self._pairwise or self._of_vectors or is_learned(self.metric)
        tags.input_tags.positive_only = self._pairwise and not self.squared
        tags.transformer_tags.preserves_dtype = ["float64"]
        return tags

    @property
    def _pairwise(self) -> bool:
        return isinstance(self.metric, str) and self.metric == "precomputed"

    @property
    def _keeps_directions(self) -> bool:
        return self.symmetrize == "keep"

    @property
    def _of_vectors(self) -> bool:
        return is_metric(self.metric, "euclidean")

    def _read_samples(self, X: Any, n_jobs: int | None = None) -> ViewSamples:
        """Return the samples, scaled by a power of two such that no square overflows or underflows."""
        if issparse(X):
            raise TypeError(
                f"Sparse data were passed to {type(self).__name__} with metric={self.metric!r}. Use X.toarray() for "
                "sparse vectors. SNE and TSNE take a sparse graph of distances to neighbors with "
                "metric='precomputed'; other embeddings need the dissimilarities of all pairs."
            )
        metric = as_metric(self.metric, type(self).__name__) if is_learned(self.metric) else None
        squared = self.squared and self._pairwise
        if metric is not None:
            validate_data(self, X, skip_check_array=True)
            lens = Lens(metric, directed=self._keeps_directions)
            X = check_array(lens.see(X), dtype=(np.float64, np.float32), ensure_min_samples=LEAST_SAMPLES)
        elif self._of_vectors:
            X = validate_data(self, X, dtype=(np.float64, np.float32), ensure_min_samples=LEAST_SAMPLES)
        elif self._pairwise:
            X = validate_data(self, X, dtype=np.float64, ensure_min_samples=LEAST_SAMPLES)
            check_square(X)
            require_pairs(len(X))
        else:
            if getattr(X, "ndim", 1) == 2 and X.shape[1] == 1 and not np.issubdtype(np.asarray(X).dtype, np.number):
                raise ValueError(f"X is a table with one column; give the {len(X)} objects in it as a list.")
            if self._keeps_directions:
                raise ValueError(
                    f"symmetrize='keep' needs the dissimilarities of both orders of two objects, but metric="
                    f"{self.metric!r} compares each pair once. Compute them with "
                    "protolearn.dissimilarities.pairwise(X, X, metric=...), and set metric='precomputed'."
                )
            X = pairwise(X, metric=self.metric, n_jobs=n_jobs, symmetrize=self.symmetrize)
        if self._of_vectors or (metric is not None and metric.is_global):
            if alike(X, computed=metric is not None):
                raise ValueError("All samples are the same, so there is nothing to arrange; give samples that differ.")
            return vector_samples(X)
        given, largest = checked_with_scale(X, squared=squared, symmetrize=self.symmetrize)
        refuse_large(given, largest, squared)
        if not largest:
            raise ValueError("All dissimilarities are zero, so there is nothing to arrange; give objects that differ.")
        unit = power_of_two(largest)
        squares = np.maximum(given / unit, 0.0) if squared else np.square(given / unit)
        np.fill_diagonal(squares, 0.0)
        return ViewSamples(None, squares, float(np.sqrt(unit)) if squared else unit)


def squares_of(X: Array, unit: float, squared: bool) -> Floats:
    """Return squared distances in a unit from the dissimilarities of new samples.

    Examples
    --------
    >>> import numpy as np
    >>> squares_of(np.array([[6.0, 2.0]]), unit=2.0, squared=False)
    array([[9., 1.]])
    """
    if squared:
        return np.maximum(X / unit**2, 0.0).astype(np.float64)
    if (X < 0.0).any():
        raise ValueError(f"X holds negative dissimilarities (smallest {X.min():g}); they must be 0 or more.")
    return np.square(X / unit).astype(np.float64)


def vector_samples(X: Array) -> ViewSamples:
    """Return centered vectors, in a unit in which none is large.

    Examples
    --------
    >>> import numpy as np
    >>> vector_samples(np.array([[100.0], [104.0], [102.0]])).vectors.ravel()
    array([-1.,  1.,  0.])
    """
    X = check_scale(X)
    origin = np.median(X[:: 1 + len(X) // 1000], axis=0)
    vectors = X - origin
    unit = power_of_two(np.abs(vectors).max())
    return ViewSamples(vectors / vectors.dtype.type(unit), None, unit, origin)


def check_square(X: Any) -> None:
    """Require as many rows as columns.

    Examples
    --------
    >>> import numpy as np
    >>> check_square(np.ones((2, 3)))
    Traceback (most recent call last):
    ...
    ValueError: X has the shape (2, 3), but metric='precomputed' needs the dissimilarities of all pairs of samples, ...
    """
    if X.shape[0] != X.shape[1]:
        raise ValueError(
            f"X has the shape {X.shape}, but metric='precomputed' needs the dissimilarities of all pairs of samples, "
            "as a square matrix or graph."
        )
