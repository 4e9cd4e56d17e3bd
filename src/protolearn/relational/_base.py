"""Base class of all relational maps: input of objects, and distances to prototypes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils import Tags
from sklearn.utils.validation import check_array, validate_data

from protolearn.core.map import TopographicMap
from protolearn.core.parameters import Constraint, array, option
from protolearn.core.partitions import averaged, blockwise, check_collection, read_objects
from protolearn.core.progress import Progress
from protolearn.core.samples import Samples, require_labels
from protolearn.core.streams import usual_objects
from protolearn.core.types import Floats, Indices
from protolearn.core.validation import check_weights, is_collection
from protolearn.dissimilarities import Dissimilarities
from protolearn.relational._objects import FittedObjects, Objects
from protolearn.relational._reading import ObjectReader

__all__ = ["DissimilarityMap"]


class DissimilarityMap(ObjectReader, TopographicMap):
    """Base class of all relational maps; `MedianMap` and `RelationalMap` define the prototype model."""

    _fitted: FittedObjects
    _constraints: ClassVar[dict[str, Constraint]] = {
        "init": option("k-means++", "random", "pca") | array("an array of shape (n_prototypes, n_features)"),
    }

    def __sklearn_tags__(self) -> Tags:
        """Say that distances are in double precision, beside what is read."""
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64"]
        return tags

    def _related(self) -> dict[str, Any]:
        """Return what all kinds of prototypes have in common."""
        return {
            "init": self.init,
            "size": getattr(self, "n_prototypes", None),
            "label_weight": self.label_weight,
            "reading": self._reading(),
            "compares": self.n_init > 1,
        }

    def fit(self, X: Any, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> Self:
        """Train the map.

        Parameters
        ----------
        X : array-like of shape (n_objects, n_objects), sequence of objects, `Dissimilarities`, iterator, or Dask bag
            Input of the type that ``metric`` specifies: a matrix of dissimilarities or a kernel matrix of all objects,
            also as a memory map, HDF5 dataset or Zarr array; the objects themselves, such as a list of strings; or a
            `Dissimilarities` source of either. An iterator yields patches of objects ``X``, ``(X, y)`` or ``(X, y,
            sample_weight)``. For a Dask bag or a column of texts, a map is trained on every partition where it is
            stored, in patches if given, and the results are merged; ``labels_`` is then a
            lazy array.
        y : array-like of shape (n_objects,), optional
            Class of each object, used if ``label_weight`` is positive; NaN, None and NA mean unlabeled.
        sample_weight : array-like of shape (n_objects,), optional
            Weight of each object; a weight of 2 is equivalent to including the object twice. For a Dask collection,
            labels and weights are collections with the same partitions.

        Returns
        -------
        self : object
            The fitted map. If training is interrupted or fails in a later patch, the model learned so far is kept.
        """
        return super().fit(X, y, sample_weight)

    def partial_fit(self, X: Any, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from one more patch of objects.

        A few objects (``kept_``) represent all objects seen before. They are added to the patch, weighted by their
        fraction of the total weight of their receptive field (times ``decay``), and the map is trained on both.

        Parameters
        ----------
        X : sequence of objects, or array-like of shape (n_new, n_kept + n_new)
            The patch. A row of a matrix contains the dissimilarities of a new object to the objects ``kept_``, in that
            order, followed by its dissimilarities to the new objects. The matrix of the first patch is square.
        y : array-like of shape (n_new,), optional
            Class of each object, used if ``label_weight`` is positive; NaN, None and NA mean unlabeled.
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
            Same input as for `fit`.
        y : array-like of shape (n_objects,), optional
            Class of each object, used if ``label_weight`` is positive; NaN, None and NA mean unlabeled.
        sample_weight : array-like of shape (n_objects,), optional
            Weight of each object.

        Returns
        -------
        winners : ndarray of shape (n_objects,)
            ``labels_``.
        """
        return self.fit(X, y, sample_weight).labels_

    @blockwise
    def predict(self, X: Any) -> Indices:
        """Return the index of the nearest prototype of each object.

        Parameters
        ----------
        X : array-like of shape (n_new, n_train), or sequence of objects
            New objects, in the same form as in ``fit``: their dissimilarities to the training objects (or only to those
            in ``support_``), or the objects themselves.

        Returns
        -------
        winners : ndarray of shape (n_new,)
            Index of a prototype.
        """
        return self.nearest(X)

    @blockwise
    def nearest(self, X: Any) -> Indices:
        """Return the index of the nearest prototype of each object, as `predict` does.

        Parameters
        ----------
        X : array-like of shape (n_new, n_train), or sequence of objects
            Same input as for `predict`.

        Returns
        -------
        winners : ndarray of shape (n_new,)
            Index of a prototype.
        """
        parts = [distances.argmin(axis=1) for distances in self._distances_by_parts(X)]
        return np.concatenate(parts) if parts else np.empty(0, np.int64)

    @blockwise
    def transform(self, X: Any) -> Floats:
        """Return the squared distance of each object to each prototype, as `distances` does.

        Parameters
        ----------
        X : array-like of shape (n_new, n_train), or sequence of objects
            Same input as for `distances`.

        Returns
        -------
        distances : ndarray of shape (n_new, n_prototypes)
            Squared distances.
        """
        return self.distances(X)

    @blockwise
    def distances(self, X: Any) -> Floats:
        """Return the squared distance of each object to each prototype.

        Parameters
        ----------
        X : array-like of shape (n_new, n_train), or sequence of objects
            New objects, in the same form as in ``fit``: their dissimilarities to the training objects (or only to those
            in ``support_``), or the objects themselves. A kernel whose diagonal is not constant needs one more column,
            the kernel of each new object with itself.

        Returns
        -------
        distances : ndarray of shape (n_new, n_prototypes)
            Squared distances, which can be negative if the dissimilarities are not Euclidean.
        """
        return np.concatenate(list(self._distances_by_parts(X, complete=True)))

    @averaged
    def score(self, X: Any, y: None = None, sample_weight: ArrayLike | None = None) -> float:
        """Return the negative quantization error, the mean (unsquared) distance to the nearest prototype.

        Parameters
        ----------
        X : array-like of shape (n_new, n_train), or sequence of objects
            New objects: their dissimilarities to the training objects, or the objects themselves.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_new,), optional
            Weight of each object.

        Returns
        -------
        score : float
            Negative quantization error. It is at most 0; larger values are better.
        """
        nearest = np.concatenate([part.min(axis=1) for part in self._distances_by_parts(X, complete=True)])
        weights = check_weights(sample_weight, len(nearest), np.float64)
        return -float(np.average(np.sqrt(np.maximum(nearest, 0.0)), weights=weights))

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
        if is_collection(X) and not (self._pairwise and hasattr(X, "chunks")):
            return self._read_partitions(X, y, sample_weight, reset)
        source = self._as_source(X, reset)
        if reset:
            self._n_made_before = source.n_computed
        return self._labeled(Objects.all(source, n_before), y, sample_weight, reset)

    def _read_partitions(self, X: Any, y: Any, sample_weight: Any, reset: bool) -> Any:
        """Count the objects of a Dask collection."""
        if self._pairwise:
            raise ValueError(
                f"metric={self.metric!r} needs a matrix of all pairs, but X is a {type(X).__name__} of objects; choose "
                "a metric for the objects, such as metric='edit'."
            )
        if not reset:
            raise ValueError(
                "partial_fit needs objects in memory, not a Dask collection; pass one partition after another."
            )
        if not isinstance(self.init, str):
            raise ValueError(
                "init is an array, but every partition of a Dask collection is initialized separately; use a rule "
                "such as init='k-means++'."
            )
        if getattr(X, "ndim", 1) == 2:
            validate_data(self, check_collection(X), skip_check_array=True, reset=True)
        if self.label_weight > 0:
            require_labels(y, self.label_weight)
        read = clone(self).set_params(n_jobs=1, verbose=0)._partition
        options: dict[str, Any] = {"supervised": self.label_weight > 0, "n_jobs": self.n_jobs}
        samples = read_objects(X, y, sample_weight, read=read, **options)
        self._n_made_before = 0
        progress = Progress(type(self).__name__, self.max_iter, self.verbose)
        progress.note(f"{len(samples):,} objects in {len(samples.blocks)} partitions, each learned by itself")
        return samples

    def _partition(self, X: Any) -> Objects:
        """Return the objects of a partition."""
        return Objects.all(self._as_source(X, reset=True))

    def _read_all(self, patches: Iterator[Any]) -> Iterator[Samples]:
        if self._pairwise:
            raise ValueError(
                f"metric={self.metric!r} cannot be read patch by patch from an iterator, because patches need their "
                "dissimilarities to earlier objects. Pass a matrix, memory map or Dissimilarities source with "
                "patches=Patches(size), or call partial_fit."
            )
        n_before = 0
        for patch in patches:
            samples = self._read(
                *(patch if isinstance(patch, tuple) else (patch,)), reset=n_before == 0, n_before=n_before
            )
            usual = self._usual(samples, begins=n_before == 0)
            n_before += len(samples)
            if len(usual):
                yield usual

    def _read_more(
        self, X: Any, y: ArrayLike | None, sample_weight: ArrayLike | None, fitted: Any
    ) -> tuple[Samples, Any]:
        """Read one more patch; dissimilarities of new objects to the kept ones come before those to each other."""
        if fitted is None or not self._pairwise:
            n_before = 0 if fitted is None else fitted.kept.objects.n_seen
            read = self._read(X, y, sample_weight, reset=fitted is None, n_before=n_before)
            return self._usual(read, begins=fitted is None), fitted
        kept = fitted.kept.objects
        rows = check_array(X, dtype=[np.float64, np.float32])
        k, n = len(kept), len(rows)
        if rows.shape[1] != k + n:
            raise ValueError(
                f"X has shape {rows.shape}; expected ({n}, {k + n}): the dissimilarities of {n} new objects, first to "
                f"the {k} objects in `kept_`, then to each other."
            )
        matrix = np.empty((k + n, k + n), rows.dtype)
        matrix[:k, :k] = kept.matrix()
        matrix[k:] = rows
        matrix[:k, k:] = rows[:, :k].T
        source = Dissimilarities(matrix)
        source.n_computed = kept.source.n_computed
        new = Objects(source, np.arange(k, k + n), kept.n_seen + np.arange(n), kept.n_seen + n)
        usual = np.flatnonzero(usual_objects(self, rows[:, :k], matrix[:k, :k]))
        return self._labeled(new, y, sample_weight, reset=False).take(usual), fitted.beside(source)

    def _values(self, samples: Samples) -> Any:
        """Return the values of objects that are vectors, else None."""
        objects = samples.X
        if not self._of_vectors or objects.source.precomputed:
            return None
        return np.asarray(objects.source.data if objects.whole else objects.source.objects(objects.places))

    def _pass_over(self, samples: Samples) -> Self:
        """Count objects from which nothing is learned, so that the numbers of later ones stay the same."""
        kept = self._fitted.kept
        seen = replace(kept.objects, n_seen=samples.X.n_seen)
        self._fitted = replace(self._fitted, kept=replace(kept, objects=seen))
        return self

    # New objects

    def _assign(self, samples: Samples) -> None:
        super()._assign(samples)
        if samples.in_memory:
            self.n_dissimilarities_ = samples.X.source.n_computed - self._n_made_before
        else:
            self.n_dissimilarities_ += len(samples) * len(self._fitted.support)

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
