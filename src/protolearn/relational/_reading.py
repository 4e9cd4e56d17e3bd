"""Input of objects given by dissimilarities or a kernel, for training and for comparison with prototypes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import Tags, assert_all_finite
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from protolearn.core.estimator import Estimator
from protolearn.core.metric import A_METRIC, is_learned
from protolearn.core.parameters import Constraint, flag, function, none, option
from protolearn.core.threads import chunk_threads, cut
from protolearn.core.types import Array, Floats
from protolearn.core.validation import is_collection
from protolearn.dissimilarities import METRICS, VECTOR_METRICS, Dissimilarities, is_metric, metric_name
from protolearn.relational._objects import Objects, Reading, Supported

__all__ = ["ObjectReader"]

A_DICT = Constraint(lambda value: isinstance(value, dict), ("a dict, such as {'indel': 4.5},",))


class ObjectReader(Estimator):
    """Base class of maps and classifiers of objects: validation of input, and comparison with new objects."""

    metric: Any
    metric_params: dict[str, Any] | None
    squared: bool
    symmetrize: str
    n_jobs: int | None
    verbose: int
    _fitted: Supported
    _constraints: ClassVar[dict[str, Constraint]] = {
        "metric": option("precomputed", "kernel", *METRICS) | function("a function of two objects") | A_METRIC,
        "symmetrize": option("raise", "mean"),
        "squared": flag,
        "metric_params": A_DICT | none,
    }

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.metric_params and self._pairwise:
            raise ValueError(
                f"metric_params={self.metric_params!r} cannot be used with metric={self.metric!r}; choose a metric for "
                "the objects, such as metric='edit'."
            )

    def __sklearn_tags__(self) -> Tags:
        """Say whether ``X`` is a matrix of pairs, so that cross-validation cuts rows and columns."""
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._pairwise
        tags.input_tags.two_d_array = self._pairwise or self._of_vectors
        tags.input_tags.positive_only = self._pairwise and not self._is_kernel and not self.squared
        return tags

    @property
    def _pairwise(self) -> bool:
        return isinstance(self.metric, str) and self.metric in ("precomputed", "kernel")

    @property
    def _of_vectors(self) -> bool:
        return is_learned(self.metric) or is_metric(self.metric, *VECTOR_METRICS)

    @property
    def _is_kernel(self) -> bool:
        return isinstance(self.metric, str) and self.metric == "kernel"

    def _reading(self) -> Reading:
        """Return what the numbers between objects are."""
        return Reading(self.squared, self._is_kernel, self.symmetrize)

    def _as_source(self, X: Any, reset: bool) -> Dissimilarities:
        """Return the source of dissimilarities that the given data are."""
        if isinstance(X, Dissimilarities):
            learned = is_learned(X.metric) or is_learned(self.metric)
            same = X.metric is self.metric if learned else X.metric == metric_name(self.metric)
            if not (X.precomputed if self._pairwise else same):
                raise ValueError(
                    f"metric={self.metric!r}, but X is a source with metric={X.metric!r}; use {type(self).__name__} "
                    "with the same metric, or 'precomputed' for stored dissimilarities."
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
                f"X has shape {X.shape}, but metric={self.metric!r} needs a square matrix with a row and a column for "
                "each object. For new objects call predict or transform; for the objects themselves choose a metric, "
                "such as 'edit'."
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
        if is_collection(X):
            raise ValueError(
                f"X is a Dask {type(X).__name__}, but {type(self).__name__} needs objects in memory; use a "
                "sample of them, such as X.random_sample(0.01).compute()."
            )
        if isinstance(X, str | bytes | dict | set) or not hasattr(X, "__len__"):
            raise ValueError(f"X must be a sequence of objects, such as a list of strings; got {type(X).__name__}.")
        if len(X) == 0:
            raise ValueError("X is empty; pass at least one object.")
        options: dict[str, Any] = {"n_jobs": self.n_jobs, "verbose": self.verbose, "symmetrize": self.symmetrize}
        return Dissimilarities(X, self.metric, **options, **(self.metric_params or {}))

    def _some_objects(self) -> Any:
        """Return an object such as those that prototypes are compared with."""
        check_is_fitted(self, "support_")
        if self._pairwise:
            raise ValueError(
                f"metric={self.metric!r} needs dissimilarities to the training objects, not objects; pass an array of "
                "shape (n_new, n_train)."
            )
        support = self._fitted.support
        return support.source.objects(support.places[:1])

    def _distances_by_parts(self, X: Any, complete: bool = False) -> Iterator[Floats]:
        """Yield the squared distances of new objects to the prototypes, some objects at a time."""
        check_is_fitted(self, "support_")
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
                "itself: append it to X as a column. predict does not need it."
            )
        with chunk_threads(self.n_jobs):
            for rows in cut(len(block), fitted.batch_size):
                distances = fitted.to_prototypes(block[rows])
                yield distances + own[rows, None] if self._is_kernel and complete else distances

    def _check_cross(self, X: Any) -> tuple[Array, Floats]:
        """Return the dissimilarities of new objects to the support, and a kernel's diagonal for new objects."""
        fitted = self._fitted
        rows = _numbers(X, self.metric)
        n, s = fitted.support.n_seen, len(fitted.support)
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


def _refuse_texts(X: Any, metric: str) -> None:
    """Refuse texts in place of numbers."""
    first = X[:1] if isinstance(X, list | tuple) or (isinstance(X, np.ndarray) and X.dtype.kind in "OUS") else ()
    if any(isinstance(x, str | bytes) for x in np.asarray(first, dtype=object).ravel()):
        raise ValueError(
            f"metric={metric!r} needs a matrix of numbers, but X contains texts; choose a metric for texts, such as "
            "metric='edit' or metric='ncd'."
        )


def _numbers(X: Any, metric: str) -> Array:
    _refuse_texts(X, metric)
    return check_array(X, dtype=[np.float64, np.float32])
