"""What all maps of dissimilarities share: objects in, distances to combinations of objects or to single objects out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import Tags, assert_all_finite
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from protolearn.core.chunks import cut
from protolearn.core.lattices import Lattice, suggest_lattice
from protolearn.core.map import TopographicMap
from protolearn.core.metric import A_METRIC, is_learned
from protolearn.core.parameters import Constraint, array, flag, function, none, option
from protolearn.core.samples import Samples, labeled
from protolearn.core.threads import chunk_threads
from protolearn.core.types import Array, Floats, Indices
from protolearn.core.validation import check_weights
from protolearn.dissimilarities import METRICS, Dissimilarities
from protolearn.relational._objects import FittedObjects, Objects, Reading
from protolearn.relational._start import principal_plane

__all__ = ["DissimilarityMap"]

OF_VECTORS = ("cosine", "euclidean", "pearson", "tanimoto")  # metrics whose objects are rows of a table
A_DICT = Constraint(lambda value: isinstance(value, dict), ("a dict, such as {'indel': 4.5},",))


class DissimilarityMap(TopographicMap):
    """Base of all maps of dissimilarities; what the prototypes are is left to `MedianMap` and `RelationalMap`."""

    metric: Any
    metric_params: dict[str, Any] | None
    squared: bool
    symmetrize: str
    _fitted: FittedObjects
    _constraints: ClassVar[dict[str, Constraint]] = {
        "metric": option("precomputed", "kernel", *METRICS) | function("a function of two objects") | A_METRIC,
        "init": option("k-means++", "random", "pca") | array("an array of shape (n_prototypes, n_features)"),
        "symmetrize": option("raise", "mean"),
        "squared": flag,
        "metric_params": A_DICT | none,
    }

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.metric_params and self._pairwise:
            raise ValueError(
                f"metric_params={self.metric_params!r} has no meaning for metric={self.metric!r}; name the metric of "
                "the objects, such as metric='edit'."
            )

    def _related(self) -> dict[str, Any]:
        """Return what all kinds of prototypes have in common."""
        return {
            "init": self.init,
            "size": getattr(self, "n_prototypes", None),
            "label_weight": self.label_weight,
            "reading": Reading(self.squared, self._is_kernel, self.symmetrize),
            "compares": self.n_init > 1,
        }

    def _suggested(self, source: Any, kind: Any) -> Lattice:
        """Return a lattice that suits the objects."""
        return suggest_lattice(source.n_different, principal_plane(source)[0])

    def fit(self, X: Any, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> Self:
        """Place the prototypes.

        Parameters
        ----------
        X : array-like of shape (n_objects, n_objects), sequence of objects, `Dissimilarities` or iterator of patches
            What ``metric`` says: dissimilarities or a kernel between all objects, also as a memory map, HDF5 data set
            or Zarr array; the objects themselves, such as a list of strings; or a source of either. An iterator yields
            patches of objects ``X``, ``(X, y)`` or ``(X, y, sample_weight)``.
        y : array-like of shape (n_objects,), optional
            Class of each object, used if ``label_weight`` is positive; -1, NaN and None mean unlabeled.
        sample_weight : array-like of shape (n_objects,), optional
            Weight of each object; 2 is the same as giving the object twice.

        Returns
        -------
        self : object
            The fitted map. If the fit is interrupted, or fails in a later patch, what was learned so far is kept.
        """
        return super().fit(X, y, sample_weight)

    def partial_fit(self, X: Any, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from one more patch of objects.

        A few objects (``kept_``) stand for all seen before: they join the patch, each with its share of the mass of its
        receptive field (times ``decay``), and the map is trained on both.

        Parameters
        ----------
        X : sequence of objects, or array-like of shape (n_new, n_kept + n_new)
            The patch. In a matrix, each new object has its dissimilarities to the objects ``kept_`` first, in that
            order, and then those to the new ones; the first patch is square.
        y : array-like of shape (n_new,), optional
            Class of each object, used if ``label_weight`` is positive; -1, NaN and None mean unlabeled.
            New classes may appear at any time.
        sample_weight : array-like of shape (n_new,), optional
            Weight of each object.

        Returns
        -------
        self : object
            The fitted map.
        """
        return super().partial_fit(X, y, sample_weight)

    def fit_predict(self, X: Any, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> Indices:
        """Fit the map and return the index of the nearest prototype of each object.

        Parameters
        ----------
        X : array-like of shape (n_objects, n_objects), or sequence of objects
            Whatever `fit` takes.
        y : array-like of shape (n_objects,), optional
            Class of each object, used if ``label_weight`` is positive; -1, NaN and None mean unlabeled.
        sample_weight : array-like of shape (n_objects,), optional
            Weight of each object.

        Returns
        -------
        winners : ndarray of shape (n_objects,)
            ``labels_``.
        """
        return self.fit(X, y, sample_weight).labels_

    def predict(self, X: Any) -> Indices:
        """Return the index of the nearest prototype of each object.

        Parameters
        ----------
        X : array-like of shape (n_new, n_train), or sequence of objects
            Dissimilarities of new objects to those of ``fit`` (or to those of ``support_`` alone), or the new objects,
            whichever ``fit`` took.

        Returns
        -------
        winners : ndarray of shape (n_new,)
            Index of a prototype.
        """
        return self.nearest(X)

    def nearest(self, X: Any) -> Indices:
        """Return the index of the nearest prototype of each object, as `predict` does.

        Parameters
        ----------
        X : array-like of shape (n_new, n_train), or sequence of objects
            Whatever `predict` takes.

        Returns
        -------
        winners : ndarray of shape (n_new,)
            Index of a prototype.
        """
        parts = [distances.argmin(axis=1) for distances in self._distances_by_parts(X)]
        return np.concatenate(parts) if parts else np.empty(0, np.int64)

    def transform(self, X: Any) -> Floats:
        """Return the squared distance of each object to each prototype, as `distances` does.

        Parameters
        ----------
        X : array-like of shape (n_new, n_train), or sequence of objects
            Whatever `distances` takes.

        Returns
        -------
        distances : ndarray of shape (n_new, n_prototypes)
            Squared distances.
        """
        return self.distances(X)

    def distances(self, X: Any) -> Floats:
        """Return the squared distance of each object to each prototype.

        Parameters
        ----------
        X : array-like of shape (n_new, n_train), or sequence of objects
            Dissimilarities of new objects to those of ``fit`` (or to those of ``support_`` alone), or the new objects,
            whichever ``fit`` took. A kernel whose diagonal is not constant needs one more column, the kernel of each
            new object with itself.

        Returns
        -------
        distances : ndarray of shape (n_new, n_prototypes)
            Squared distances; negative ones can occur if the dissimilarities are not Euclidean.
        """
        return np.concatenate(list(self._distances_by_parts(X, complete=True)))

    def score(self, X: Any, y: None = None, sample_weight: ArrayLike | None = None) -> float:
        """Return the negative quantization error, the mean distance of objects to their nearest prototype.

        Parameters
        ----------
        X : array-like of shape (n_new, n_train), or sequence of objects
            Dissimilarities of new objects to those of ``fit``, or the new objects.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_new,), optional
            Weight of each object.

        Returns
        -------
        score : float
            At most 0; larger is better.
        """
        nearest = np.concatenate([part.min(axis=1) for part in self._distances_by_parts(X, complete=True)])
        weights = check_weights(sample_weight, len(nearest), np.float64)
        return -float(np.average(np.sqrt(np.maximum(nearest, 0.0)), weights=weights))

    def __sklearn_tags__(self) -> Tags:
        """Say whether ``X`` is a matrix of pairs, so that cross-validation cuts rows and columns."""
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._pairwise
        tags.input_tags.two_d_array = self._pairwise or self._of_vectors
        tags.input_tags.positive_only = self._pairwise and not self._is_kernel and not self.squared
        tags.transformer_tags.preserves_dtype = ["float64"]
        return tags

    @property
    def _pairwise(self) -> bool:
        return isinstance(self.metric, str) and self.metric in ("precomputed", "kernel")

    @property
    def _of_vectors(self) -> bool:
        return is_learned(self.metric) or (isinstance(self.metric, str) and self.metric in OF_VECTORS)

    @property
    def _is_kernel(self) -> bool:
        return isinstance(self.metric, str) and self.metric == "kernel"

    # Reading objects

    def _read(
        self,
        X: Any,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        reset: bool,
        n_before: int = 0,
    ) -> Samples:
        source = self._as_source(X, reset)
        if reset:
            self._n_made_before = source.n_computed
        return labeled(Objects.all(source, n_before), y, sample_weight, self.label_weight)

    def _as_source(self, X: Any, reset: bool) -> Dissimilarities:
        """Return the source of dissimilarities that the given data are."""
        if isinstance(X, Dissimilarities):
            same = (
                X.metric is self.metric if is_learned(X.metric) or is_learned(self.metric) else X.metric == self.metric
            )
            if not (X.precomputed if self._pairwise else same):
                raise ValueError(
                    f"metric={self.metric!r}, but X is a source with metric={X.metric!r}; give the map the same "
                    "metric, or 'precomputed' for stored dissimilarities."
                )
            if X.precomputed:
                self.n_features_in_ = len(X)
            return X
        if not self._pairwise:
            return self._objects_source(X, reset)
        stored = isinstance(X, np.memmap) or (hasattr(X, "chunks") and hasattr(X, "shape"))
        if not stored:
            _refuse_texts(X, self.metric)
            X = validate_data(self, X, dtype=[np.float64, np.float32], ensure_all_finite=False, reset=reset)
        if len(X.shape) != 2 or X.shape[0] != X.shape[1]:
            assert_all_finite(np.asarray(X), input_name="X")
            raise ValueError(
                f"X has shape {X.shape}, but metric={self.metric!r} needs a square matrix: a row and a column for "
                "each object. For new objects call predict or transform; for objects themselves give a metric, such as "
                "'edit'."
            )
        self.n_features_in_ = X.shape[1]
        return Dissimilarities(X)

    def _objects_source(self, X: Any, reset: bool) -> Dissimilarities:
        if self._of_vectors:
            X = validate_data(self, X, dtype=[np.float64, np.float32], reset=reset)
        elif hasattr(X, "iloc"):
            X = X.to_numpy()
        if getattr(X, "ndim", 1) == 2 and X.shape[1] == 1 and X.dtype.kind in "OUS":
            X = X[:, 0]  # a table with a column of objects
        if isinstance(X, str | bytes | dict | set) or not hasattr(X, "__len__"):
            raise ValueError(f"X must be a sequence of objects, such as a list of strings; got {type(X).__name__}.")
        if len(X) == 0:
            raise ValueError("X has no objects; give at least one.")
        options: dict[str, Any] = {"n_jobs": self.n_jobs, "verbose": self.verbose, "symmetrize": self.symmetrize}
        return Dissimilarities(X, self.metric, **options, **(self.metric_params or {}))

    def _read_all(self, patches: Iterator[Any]) -> Iterator[Samples]:
        if self._pairwise:
            raise ValueError(
                f"metric={self.metric!r} cannot be read patch by patch from an iterator, because patches need their "
                "dissimilarities to earlier objects. Give a matrix, memory map or Dissimilarities source with "
                "patch_size, or call partial_fit."
            )
        n_before = 0
        for patch in patches:
            samples = self._read(
                *(patch if isinstance(patch, tuple) else (patch,)), reset=n_before == 0, n_before=n_before
            )
            n_before += len(samples)
            yield samples

    def _read_more(
        self, X: Any, y: ArrayLike | None, sample_weight: ArrayLike | None, fitted: Any
    ) -> tuple[Samples, Any]:
        """Read one more patch; dissimilarities of new objects to the kept ones come before those to each other."""
        if fitted is None or not self._pairwise:
            n_before = 0 if fitted is None else fitted.kept.objects.n_seen
            return self._read(X, y, sample_weight, reset=fitted is None, n_before=n_before), fitted
        kept = fitted.kept.objects
        rows = check_array(X, dtype=[np.float64, np.float32])
        k, n = len(kept), len(rows)
        if rows.shape[1] != k + n:
            raise ValueError(
                f"X has shape {rows.shape}; expected ({n}, {k + n}): the dissimilarities of {n} new objects first to "
                f"the {k} objects `kept_` of the map so far, then to each other."
            )
        matrix = np.empty((k + n, k + n), rows.dtype)
        matrix[:k, :k] = kept.matrix()
        matrix[k:] = rows
        matrix[:k, k:] = rows[:, :k].T
        source = Dissimilarities(matrix)
        source.n_computed = kept.source.n_computed
        new = Objects(source, np.arange(k, k + n), kept.n_seen + np.arange(n), kept.n_seen + n)
        return labeled(new, y, sample_weight, self.label_weight), fitted.beside(source)

    # New objects

    def _assign(self, samples: Samples) -> None:
        super()._assign(samples)
        self.n_dissimilarities_ = samples.X.source.n_computed - self._n_made_before

    def _distances_by_parts(self, X: Any, complete: bool = False) -> Iterator[Floats]:
        """Yield the squared distances of new objects to the prototypes, some objects at a time."""
        check_is_fitted(self, "labels_")
        fitted = self._fitted
        if isinstance(X, Dissimilarities) or not self._pairwise:
            new = Objects.all(self._as_source(X, reset=False))
            with chunk_threads(self.n_jobs):
                yield from fitted.distances(new)
            return
        block, own = self._check_cross(X)
        if self._is_kernel and complete and np.isnan(own).any():
            raise ValueError(
                "The diagonal of the kernel is not constant, so distances need the kernel of each new object with "
                "itself: give it as one more column of X. predict does without."
            )
        with chunk_threads(self.n_jobs):
            for rows in cut(len(block), fitted.batch_size):
                distances = fitted.to_prototypes(block[rows])
                yield distances + own[rows, None] if self._is_kernel and complete else distances

    def _check_cross(self, X: Any) -> tuple[Array, Floats]:
        """Return the dissimilarities of new objects to the support, and a kernel's diagonal for new objects."""
        fitted = self._fitted
        rows = _numbers(X, self.metric)
        n, s = fitted.kept.objects.n_seen, len(fitted.support)
        widths = {n: fitted.support.numbers, s: np.arange(s)}
        own = np.full(len(rows), np.nan if fitted.diagonal is None else fitted.diagonal)
        if self._is_kernel and rows.shape[1] not in widths and rows.shape[1] - 1 in widths:
            rows, own = rows[:, :-1], rows[:, -1].astype(np.float64)
        if rows.shape[1] not in widths:
            raise ValueError(
                f"X has {rows.shape[1]} features, but {type(self).__name__} is expecting {n} features as input: the "
                f"dissimilarities of each new object to the {n} objects of fit"
                f"{f' (or to the {s} in support_)' if s != n else ''}."
            )
        return fitted.reading.sound(rows[:, widths[rows.shape[1]]]), own

    def _publish(self, fitted: FittedObjects) -> None:
        made = fitted.kept.objects.source.n_computed
        fitted = fitted.alone()
        super()._publish(fitted)
        self.support_ = fitted.support.numbers
        self.kept_ = fitted.kept.objects.numbers
        self.prototype_examples_ = fitted.examples
        self.prototype_dissimilarities_ = fitted.between
        self.dual_cost_ = fitted.dual_cost
        self.n_dissimilarities_ = made - self._n_made_before
        costs = np.asarray(fitted.history.costs)
        self.n_cost_increases_ = int((np.diff(costs) > 1e-9 * np.abs(costs[:-1])).sum())


def _refuse_texts(X: Any, metric: str) -> None:
    """Refuse texts in place of numbers."""
    first = X[:1] if isinstance(X, list | tuple) or (isinstance(X, np.ndarray) and X.dtype.kind in "OUS") else ()
    if any(isinstance(x, str | bytes) for x in np.asarray(first, dtype=object).ravel()):
        raise ValueError(
            f"metric={metric!r} needs a matrix of numbers, and X holds texts; name a metric between them, such as "
            "metric='edit' or metric='ncd'."
        )


def _numbers(X: Any, metric: str) -> Array:
    _refuse_texts(X, metric)
    return check_array(X, dtype=[np.float64, np.float32])
