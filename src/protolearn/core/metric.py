"""Learned metrics: matrices, and prototypes that select among them.

The distance of samples is ``d(x, z) = |Omega_J(x) (x - z)|``, where J(x) is the prototype nearest to x and Omega_J(x)
its matrix. With a single matrix, this is the Euclidean distance of projections.

Arrays: X (n, N) samples, Z (m, N) others, D (n, m) distances, matrices (s, M, N) or diagonals (s, N).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.utils.validation import check_array

from protolearn.core.density import squared_distances
from protolearn.core.parameters import Constraint, none, option
from protolearn.core.threads import chunk_threads, cut
from protolearn.core.types import Array, Floats, Indices
from protolearn.core.validation import given_array, refuse_overflow, require_memory

__all__ = ["A_METRIC", "LearnedMetric", "as_metric", "is_learned"]

TILE = 384  # rows and columns of a block of distances, which stays in the cache
ROWS = 1024  # samples whose winners are looked for at a time


@dataclass(frozen=True, eq=False, repr=False)
class LearnedMetric:
    r"""Learned metric, independent of the estimator that learned it.

    Distances from sample :math:`x_i` are measured by the matrix of its nearest prototype J(i),

    .. math:: D_{ij} = \|\Omega_{J(i)} (x_i - x_j)\|^2.

    Fitted LVQ classifiers, `LMNN` and `LFDA` provide a learned metric as ``metric_``, and `as_metric` converts other
    objects. Pass it as the parameter ``metric`` of maps and other estimators.

    Parameters
    ----------
    matrices : array-like of shape (s, M, N) or (s, N)
        The matrices Omega, or their diagonals.
    prototypes : array-like of shape (p, N), optional
        Prototypes that select among several matrices.
    slots : array-like of shape (p,), optional
        Index of the matrix of each prototype, -1 for prototypes to which no sample is nearest; by default, the
        first matrix for all prototypes.
    labels : array-like of shape (p,), optional
        Classes of the prototypes.
    steps : fitted transformer, optional
        Preprocessing of samples before they are compared.
    feature_names : array-like of shape (N,), optional
        Names of the features after the preprocessing steps; tables with other names raise an error.
    learner : str, default="LearnedMetric"
        Name of the estimator that learned the metric, for messages.

    See Also
    --------
    as_metric : Convert an estimator or a matrix to a learned metric.
    protolearn.embedding.discriminative_distances : Distances by any model with a learned metric.

    References
    ----------
    Bunte (2011). Adaptive dissimilarity measures, dimension reduction and visualization. PhD thesis, University of
    Groningen, section 7.2.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protolearn import GMLVQ
    >>> X, y = load_iris(return_X_y=True)
    >>> metric = GMLVQ(n_components=2).fit(X, y).metric_
    >>> metric
    LearnedMetric(GMLVQ, 2 x 4)
    >>> metric.project(X).shape, metric.distances(X[:3], X).shape
    ((150, 2), (3, 150))
    """

    matrices: Floats
    prototypes: Any = None
    slots: Any = None
    labels: Any = None
    steps: Any = None
    feature_names: Any = None
    learner: str = "LearnedMetric"

    def __post_init__(self) -> None:
        matrices = given_array("matrices", self.matrices, ensure_2d=False, allow_nd=True)
        if matrices.ndim not in (2, 3):
            raise ValueError(f"matrices has shape {matrices.shape}; expected (s, M, N), or (s, N) of diagonals.")
        s, N = len(matrices), matrices.shape[-1]
        given = np.empty((0, N)) if self.prototypes is None else self.prototypes
        prototypes = given_array("prototypes", given, ensure_min_samples=0)
        p = len(prototypes)
        slots = np.zeros(p, np.int64) if self.slots is None else np.asarray(self.slots, np.int64)
        labels = np.empty(p, str) if self.labels is None else np.asarray(self.labels)
        if prototypes.shape != (p, N) or slots.shape != (p,) or labels.shape != (p,):
            raise ValueError(
                f"prototypes, slots and labels have the shapes {prototypes.shape}, {slots.shape} and {labels.shape}; "
                f"expected ({p}, {N}), ({p},) and ({p},)."
            )
        if (slots >= s).any() or (s > 1 and not (slots >= 0).any()):
            raise ValueError(f"{s} matrices need prototypes that select among them, with slots below {s}.")
        for name, value in zip(("matrices", "prototypes", "slots", "labels"), (matrices, prototypes, slots, labels)):
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        sizes = " x ".join(map(str, self.matrices.shape[0 if len(self.matrices) > 1 else 1 :]))
        return f"LearnedMetric({'' if self.learner == 'LearnedMetric' else f'{self.learner}, '}{sizes})"

    def __sklearn_clone__(self) -> LearnedMetric:
        """Return the metric itself: it never changes, and an estimator that holds it can be cloned."""
        return self

    @property
    def is_global(self) -> bool:
        """Whether a single matrix applies to all samples."""
        return len(self.matrices) == 1

    @property
    def omegas(self) -> Floats:
        """The matrices (s, M, N), also if only their diagonals are stored."""
        A = self.matrices
        return A if A.ndim == 3 else A[:, None, :] * np.eye(A.shape[1])

    @property
    def inner(self) -> LearnedMetric:
        """The metric without the preprocessing steps."""
        return replace(self, steps=None)

    def samples(self, X: Any, wanted: str = "a learned metric") -> Array:
        """Validate and preprocess samples, which gives the input of the matrices.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            Samples, without missing values after preprocessing.
        wanted : str
            Purpose of the samples, for messages.

        Returns
        -------
        vectors : ndarray of shape (n, N)
            Samples in single or double precision.
        """
        X = X if self.steps is None else self.steps.transform(X)
        names = getattr(X, "columns", None)
        if names is not None and self.feature_names is not None and list(names) != list(self.feature_names):
            raise ValueError(f"X has the features {list(names)}, but {self.learner} knows {list(self.feature_names)}.")
        vectors: Array = check_array(X, dtype=[np.float64, np.float32], ensure_all_finite="allow-nan", input_name="X")
        if vectors.shape[1] != self.matrices.shape[-1]:
            raise ValueError(
                f"X has {vectors.shape[1]} features, but {self.learner} is expecting {self.matrices.shape[-1]} "
                "features as input."
            )
        missing = np.isnan(vectors).any(axis=1)
        if missing.any():
            raise ValueError(
                f"X contains NaN: {int(missing.sum())} samples have missing values (the first is row "
                f"{missing.argmax()}), and {wanted} needs samples without. Leave these out, or fill the gaps."
            )
        return refuse_overflow(vectors)

    @chunk_threads(1)
    def project(self, X: Any, centered: bool = False) -> Array:
        """Return ``Omega_J x``, each sample by the matrix of its nearest prototype.

        With one matrix, Euclidean distances of projections are the learned ones. The coordinates of different matrices
        share their origin but not their axes.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            Samples.
        centered : bool, default=False
            Measure from the prototype, ``Omega_J (x - w_J)``.

        Returns
        -------
        Z : ndarray of shape (n, M)
            Projected samples, in single precision for samples in single precision.
        """
        if centered and not len(self.prototypes):
            raise ValueError(
                "centered=True needs a model with prototypes, which are the centers; without prototypes, use "
                "centered=False."
            )
        vectors = self.samples(X)
        slots = self._slots_of(vectors)
        gaps = vectors - self.prototypes[self._winners(vectors)] if centered else vectors
        projected = np.empty((len(vectors), self.matrices.shape[1]), vectors.dtype)
        for slot in np.unique(slots):
            projected[slots == slot] = self._through(slot, gaps[slots == slot])
        return projected

    def restore(self, Z: ArrayLike, center: ArrayLike) -> Array:
        """Return the samples nearest to a center among those projected to given points, for a metric with one matrix.

        Parameters
        ----------
        Z : array-like of shape (m, M)
            Points in the space of projections. A point outside the range of the projection is replaced by the nearest
            point in the range.
        center : array-like of shape (N,)
            Center of the search, such as the mean of ``samples(X)``.

        Returns
        -------
        X : ndarray of shape (m, n_features)
            Samples before preprocessing.
        """
        if not self.is_global:
            raise ValueError(f"Restoring samples needs a single matrix; this metric has {len(self.matrices)}.")
        points: Array = check_array(Z, dtype=[np.float64, np.float32])
        middle, (matrix,) = np.asarray(center, dtype=np.float64), self.matrices
        gaps = points - self._through(0, middle)
        if matrix.ndim == 1:
            steps = np.divide(gaps, matrix, out=np.zeros(gaps.shape), where=matrix != 0.0)
        else:
            steps = gaps @ np.linalg.pinv(matrix).T
        samples = (middle + steps).astype(points.dtype)
        return samples if self.steps is None else self.steps.inverse_transform(samples)

    @chunk_threads(1)
    def distances(self, X: Any, Z: Any = None, *, squared: bool = False, symmetrize: str | None = "mean") -> Array:
        """Return the distances of all pairs of samples, or of samples to others.

        In addition to the result, memory is needed only for some blocks and for the projected samples.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            Samples.
        Z : array-like of shape (m, n_features), optional
            Samples to compare with; by default ``X``.
        squared : bool, default=False
            Whether to return squared distances.
        symmetrize : {"mean", "min", "max"} or None, default="mean"
            Combination of the two squared distances of a pair, each measured by the matrix of one sample. None keeps
            the distance by the matrix of the row.

        Returns
        -------
        D : ndarray of shape (n, n) or (n, m)
            Distances, in single precision for samples in single precision. Without ``Z`` the diagonal is zero.
        """
        (option(*MERGERS) | none).check("symmetrize", symmetrize)
        left = self.samples(X)
        right = left if Z is None else self.samples(Z)
        n, m, dtype = len(left), len(right), np.result_type(left, right)
        require_memory(f"A matrix of {n} x {m} distances", dtype.itemsize * n * m, "use fewer samples")
        D = np.empty((n, m), dtype)
        for rows, columns, block in self._blocks(left, right):
            D[rows, columns] = block
        if symmetrize is not None and Z is None:
            _merge_halves(D, symmetrize)
        elif symmetrize is not None and not self.is_global:
            for rows, columns, block in self._blocks(right, left):
                D.T[rows, columns] = MERGERS[symmetrize](D.T[rows, columns], block)
        return D if squared else np.sqrt(D, out=D)

    def nearest(self, X: Any) -> Indices:
        """Return the nearest prototype of each sample, where each distance is measured by the matrix of the prototype.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            Samples.

        Returns
        -------
        winners : ndarray of shape (n,)
            Rows of ``prototypes``.
        """
        if not len(self.prototypes):
            raise ValueError(f"{self!r} has one matrix and no prototypes, so the nearest prototype is undefined.")
        return self._winners(self.samples(X))

    def at(self, x: ArrayLike) -> Floats:
        """Return the matrix of the metric at a sample.

        Parameters
        ----------
        x : array-like of shape (n_features,)
            A sample.

        Returns
        -------
        omega : ndarray of shape (M, N)
            The matrix of its nearest prototype.
        """
        matrix = self.matrices[self._slots_of(self.samples(np.asarray(x)[None]))[0]]
        return matrix if matrix.ndim == 2 else np.diag(matrix)

    @chunk_threads(1)
    def _winners(self, vectors: Array) -> Indices:
        known = np.flatnonzero(self.slots >= 0)
        winners = np.empty(len(vectors), np.int64)
        for rows in cut(len(vectors), ROWS):
            part = vectors[rows].astype(np.float64)
            gaps = (self._through(self.slots[p], part - self.prototypes[p]) for p in known)
            winners[rows] = known[np.argmin([np.einsum("ij,ij->i", gap, gap) for gap in gaps], axis=0)]
        return winners

    def _slots_of(self, vectors: Array) -> Indices:
        """Return the matrix by which each sample is measured."""
        return np.zeros(len(vectors), np.int64) if self.is_global else self.slots[self._winners(vectors)]

    def _through(self, slot: int, vectors: Array) -> Array:
        """Return ``Omega x`` for every vector."""
        matrix = self.matrices[slot]
        return vectors @ matrix.T if matrix.ndim == 2 else vectors * matrix

    def _blocks(self, left: Array, right: Array) -> Iterator[tuple[Indices, slice, Floats]]:
        """Yield rows, columns and the squared distances between them, by the matrices of the rows."""
        slots, origin = self._slots_of(left), left.mean(axis=0, dtype=np.float64)
        centered = right - origin
        for slot in np.unique(slots):
            members = np.flatnonzero(slots == slot)
            others = self._through(slot, centered)
            # The same numbers on both sides, so that the diagonal is exactly zero.
            own = others[members] if left is right else self._through(slot, left[members] - origin)
            for rows in cut(len(own), TILE):
                for columns in cut(len(others), TILE):
                    yield members[rows], columns, squared_distances(own[rows], others[columns])  # Bunte 2011, eq. 7.3


def as_metric(source: Any, wanted: str = "distances") -> LearnedMetric:
    """Convert an object to a learned metric.

    Parameters
    ----------
    source : object
        A `LearnedMetric`; a matrix Omega (M, N), or the relevances (N,) of features; a fitted LVQ classifier with a
        learned metric, `LMNN`, `LFDA`, or any other object with a learned metric as attribute ``metric_``, also inside
        scikit-learn's ``FrozenEstimator``; or a fitted pipeline that ends in one of these, whose other steps become the
        preprocessing.
    wanted : str, default="distances"
        Purpose of the metric, for messages.

    Returns
    -------
    LearnedMetric
        The metric.

    Examples
    --------
    >>> from protolearn import as_metric
    >>> as_metric([1.0, 4.0]).distances([[0.0, 0.0]], [[3.0, 2.0]])
    array([[5.]])
    """
    if isinstance(source, LearnedMetric):
        return source
    if isinstance(source, FrozenEstimator):
        return as_metric(source.estimator, wanted)
    if isinstance(source, Pipeline):
        metric = as_metric(source[-1], wanted)
        steps = [source[:-1]] * (len(source) > 1) + [metric.steps] * (metric.steps is not None)
        return replace(metric, steps=make_pipeline(*steps)) if steps else metric
    if isinstance(source, np.ndarray | list | tuple):
        return _of_array(source)
    found: Any = None
    try:
        found = source.metric_
    except NotFittedError as error:
        raise NotFittedError(
            f"{error} A clone of a fitted estimator is not fitted: pass the metric_ of a fitted estimator, or "
            "wrap it in FrozenEstimator."
        ) from None
    except AttributeError as error:
        if hasattr(type(source), "metric_"):  # which says why this one has none
            raise ValueError(str(error).replace("metric_", wanted, 1)) from None
    if not isinstance(found, LearnedMetric):
        raise TypeError(
            f"{type(source).__name__} has no metric for {wanted}; pass an LVQ classifier, LMNN or LFDA of protolearn, "
            "a pipeline that ends in one, a LearnedMetric, a matrix, or the relevances of features."
        )
    return found


def is_learned(metric: Any) -> bool:
    """Return whether a parameter ``metric`` is an input of `as_metric`: an estimator or array, not a name or function.

    Parameters
    ----------
    metric : object
        Value of the parameter.

    Returns
    -------
    bool
        Whether `as_metric` applies.

    Examples
    --------
    >>> is_learned([1.0, 4.0]), is_learned("euclidean")
    (True, False)
    """
    return isinstance(metric, LearnedMetric | BaseEstimator | np.ndarray | list | tuple)


#: A learned metric, or what can be converted to one.
A_METRIC = Constraint(is_learned, ("a learned metric",))


def _of_array(source: Any) -> LearnedMetric:
    given = given_array("metric", source, ensure_2d=False, allow_nd=True)
    if given.ndim not in (1, 2):
        raise ValueError(
            f"metric has shape {given.shape}; expected a matrix (M, N), or the relevances (N,) of features."
        )
    if given.ndim == 1 and (given < 0.0).any():
        raise ValueError(f"metric contains negative relevances (smallest {given.min():g}); they must be 0 or more.")
    return LearnedMetric((given if given.ndim == 2 else np.sqrt(given))[None])


def _mean(a: Array, b: Array) -> Array:
    return 0.5 * (a + b)


MERGERS: dict[str, Callable[..., Array]] = {"mean": _mean, "min": np.minimum, "max": np.maximum}


def _merge_halves(D: Array, symmetrize: str) -> None:
    """Make a square matrix symmetric, in place."""
    for rows in cut(len(D), TILE):
        for columns in cut(rows.stop, TILE):
            both = MERGERS[symmetrize](D[rows, columns], D[columns, rows].T)
            D[rows, columns], D[columns, rows] = both, both.T
