"""What all maps of dissimilarities share: objects in, combinations of objects or single objects out."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_array
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags, assert_all_finite, gen_batches
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from protolearn.core.cooperation import Cooperation
from protolearn.core.density import Precomputed, correlation_dimension, parzen_log_density
from protolearn.core.lattices import Lattice
from protolearn.core.loop import Step, anneal
from protolearn.core.pairs import Landmarks, Pairs
from protolearn.core.relational import Related
from protolearn.core.threads import chunk_threads
from protolearn.core.types import Array, Floats, Indices
from protolearn.core.validation import check_flags, check_option, check_weights, refuse_large
from protolearn.dissimilarities._geometry import checked
from protolearn.dissimilarities._source import Dissimilarities
from protolearn.maps._base import PrototypeMap, as_shares
from protolearn.maps._som import suggest_lattice
from protolearn.maps._state import Samples
from protolearn.relational._objects import Kept, Objects, RelatedModel
from protolearn.relational._start import principal_plane, random_objects, spread_objects

__all__ = ["DissimilarityMap"]

MOST_BYTES = 4 << 30  # dissimilarities on a disk, or between objects, are held in memory up to this size
CROSS_BYTES = 32 << 20  # dissimilarities to new objects made at a time
OF_VECTORS = ("cosine", "euclidean", "pearson", "tanimoto")  # metrics whose objects are rows of a table
N_EXAMPLES = 5
MOST_KEPT = 50  # objects that stand for one prototype, however small an error is asked for


class DissimilarityMap(PrototypeMap):
    """Base of all maps of dissimilarities; what the prototypes are is left to `MedianMap` and `RelationalMap`."""

    metric: Any
    metric_params: dict[str, Any] | None
    squared: bool
    symmetrize: str
    algorithm = "batch"
    learning_rate_start = learning_rate_end = 0.5
    _inits: tuple[str, ...] = ("k-means++", "random", "pca")
    _algorithms = ("batch",)
    _model: RelatedModel

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
        tags.input_tags.two_d_array = self._pairwise or self.metric in OF_VECTORS
        tags.input_tags.positive_only = self._pairwise and not self._is_kernel and not self.squared
        tags.transformer_tags.preserves_dtype = ["float64"]
        return tags

    @property
    def _pairwise(self) -> bool:
        return isinstance(self.metric, str) and self.metric in ("precomputed", "kernel")

    @property
    def _is_kernel(self) -> bool:
        return isinstance(self.metric, str) and self.metric == "kernel"

    # Reading objects

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_option("symmetrize", self.symmetrize, ("raise", "mean"))
        check_flags(self, "squared")
        if self.metric_params is not None and not isinstance(self.metric_params, dict):
            raise ValueError(f"metric_params={self.metric_params!r} must be a dict, such as {{'indel': 4.5}}, or None.")
        if self.metric_params and self._pairwise:
            raise ValueError(
                f"metric_params={self.metric_params!r} has no meaning for metric={self.metric!r}; name the metric of "
                "the objects, such as metric='edit'."
            )

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
        return self._labeled(Objects.all(source, n_before), y, sample_weight)

    def _as_source(self, X: Any, reset: bool) -> Dissimilarities:
        """Return the source of dissimilarities that the given data are."""
        if isinstance(X, Dissimilarities):
            if not (X.precomputed if self._pairwise else X.metric == self.metric):
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
        if self.metric in OF_VECTORS:
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
            n_before += len(samples.X)
            yield samples

    def _read_more(
        self, X: Any, y: ArrayLike | None, sample_weight: ArrayLike | None, model: Any
    ) -> tuple[Samples, Any]:
        """Read one more patch; dissimilarities of new objects to the kept ones come before those to each other."""
        if model is None or not self._pairwise:
            n_before = 0 if model is None else model.kept.objects.n_seen
            return self._read(X, y, sample_weight, reset=model is None, n_before=n_before), model
        kept = model.kept.objects
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
        return self._labeled(new, y, sample_weight), model.beside(source)

    # Learning

    def _source(self, patch: Samples, weights: Array, model: Any, n_threads: int, rng: np.random.RandomState) -> Pairs:
        objects: Any = patch.X
        common: dict[str, Any] = {
            "weights": weights,
            "labels": patch.labels,
            "label_weight": self.label_weight,
            "n_threads": n_threads,
        }
        source = self._pairs(objects, common, rng)
        if patch.labels is not None:
            source.label_unit = self._label_unit(source.labels, source.variance)
        return source

    def _pairs(self, objects: Objects, common: dict[str, Any], rng: np.random.RandomState) -> Pairs:
        """Return the objects as the loop reads them: with all squared dissimilarities, or row by row."""
        if len(objects) ** 2 * 8 > MOST_BYTES and not (objects.whole and objects.source.in_memory):
            if self._is_kernel:
                raise ValueError("A kernel matrix of this size cannot be read row by row; use patch_size.")
            return Pairs(lambda rows: self._squared(self._sound(objects.rows(rows))), n_samples=len(objects), **common)
        matrix = objects.matrix()
        if self._is_kernel:
            matrix = check_kernel(self._squared(matrix), self.symmetrize)
            return Pairs(matrix, diagonal=matrix.diagonal().astype(np.float64), **common)
        matrix, largest = checked(matrix, squared=self.squared, symmetrize=self.symmetrize)
        refuse_large(matrix, largest, self.squared)
        return Pairs(matrix if self.squared else _squares(matrix), **common)

    def _sound(self, block: Array) -> Array:
        """Require finite dissimilarities that are not negative, in a block."""
        if not np.isfinite(block).all():
            raise ValueError("Some dissimilarities are NaN or infinite; leave out such objects, or fill the gaps.")
        if not self.squared and not self._is_kernel and (block < 0).any():
            raise ValueError(f"Dissimilarities must not be negative; the lowest is {block.min():g}.")
        return block

    def _squared(self, block: Array) -> Array:
        """Return squared dissimilarities."""
        plain = self.squared or self._is_kernel
        refuse_large(block, float(np.abs(block).max(initial=0.0)), plain)
        return block if plain else np.square(block)

    def _emphasis(self, patch: Samples, n_threads: int) -> tuple[Floats | float, float | None]:
        if self.magnification == 0:
            return 1.0, None
        if len(patch.X) < 2:
            raise ValueError(f"n_samples={len(patch.X)} is too few for magnification control, which needs a density.")
        objects: Any = patch.X
        squares = self._pairs(objects, {}, np.random.RandomState(0)).squares
        counts = patch.weights * max(1.0, len(squares) / patch.weights.sum())
        exponent = self.magnification
        if exponent == "optimal":
            exponent = 2.0 / correlation_dimension(Precomputed(squares), sample_weight=counts)  # eq. 3.7
        logs = float(exponent) * parzen_log_density(Precomputed(squares), sample_weight=counts, n_jobs=n_threads)
        return np.exp(logs - logs.max()), float(exponent)  # Hasenfuss 2009, eq. 4.16

    def _suggested(self, source: Pairs) -> Lattice:
        return suggest_lattice(source.n_different, principal_plane(source)[0])

    def _drawn(self, source: Pairs, k: int, rng: np.random.RandomState) -> Indices:
        """Return first objects by the rule that ``init`` names."""
        return (spread_objects if self.init == "k-means++" else random_objects)(source, k, rng)

    def _placed(
        self,
        prototypes: Related,
        source: Pairs,
        cooperation: Cooperation,
        patch: Samples,
        n_new: int,
        earlier: Any,
        n_threads: int,
        scale: float,
        history: dict[str, Any],
    ) -> RelatedModel:
        k = len(prototypes)
        objects: Any = patch.X
        present = np.flatnonzero(patch.weights)
        taught = objects if len(present) == len(objects) else objects[present]
        weights = patch.weights[present]
        labels = None if patch.labels is None else patch.labels[present]
        nearest, second = _two_nearest(prototypes.squares)
        final_cost = np.inf
        if self.n_init > 1 and not history["interrupted"]:
            sums: Any = cooperation.gather(prototypes, source, history["ranges"][-1])  # type: ignore[arg-type]
            final_cost = scale * prototypes.final_cost(sums)
        if earlier is not None:
            before = earlier.kept
            prototypes = prototypes.take(_same_places(before, nearest[-len(before.owners) :], k))
            nearest, second = _two_nearest(prototypes.squares)
        chosen, owners, coefficients = self._stand_ins(prototypes, nearest)
        shares = np.bincount(owners, minlength=k)
        masses = np.bincount(nearest, weights, k).astype(np.float64)
        kept = Kept(
            taught[chosen],
            owners,
            (masses / np.maximum(shares, 1))[owners],  # Hasenfuss 2009, sec. 4.5, of what was really taken
            coefficients,
            None if labels is None else labels[chosen],
        )
        whole = n_new == len(objects)
        model = RelatedModel(
            cooperation,
            fuzzy=None if labels is None else as_shares(prototypes.fuzzy),
            classes=patch.classes,
            masses=masses,
            winners=np.empty(0, np.int64),
            graph=None,
            kept=kept,
            between=prototypes.between,
            examples=taught.numbers[_nearest_objects(prototypes.squares)],
            dual_cost=scale * dual_cost(source, nearest, k),
            final_cost=final_cost,
            shift=0.0 if isinstance(source.matrix, Landmarks) else source.spread,
            diagonal=_constant(source.diagonal),
            **history,
            **(self._supported(prototypes, taught) if whole else _supported_by(kept, chosen, source)),
        )
        winners = np.zeros((2, len(objects)), np.int64)
        winners[:, present] = nearest, second
        absent = np.flatnonzero(patch.weights == 0)
        if len(absent):
            winners[:, absent] = self._winners(objects[absent], model, n_threads)
        return model.showing(patch.weights[:n_new], winners[0, :n_new], winners[1, :n_new])  # type: ignore[return-value]

    @abstractmethod
    def _supported(self, prototypes: Any, objects: Objects) -> dict[str, Any]:
        """Return support, coefficients and offsets of prototypes in a patch of objects."""

    @abstractmethod
    def _stand_ins(self, prototypes: Any, nearest: Indices) -> tuple[Indices, Indices, Floats]:
        """Return objects that can stand for all of the patch, their prototypes, and coefficients (k, s) on them."""

    def _final_cost(self, model: Any) -> float:
        return model.final_cost

    # New objects

    def _assign(self, samples: Samples) -> None:
        super()._assign(samples)
        objects: Any = samples.X
        self.n_dissimilarities_ = objects.source.n_computed - self._n_made_before

    def _winners(self, X: Any, model: Any, n_threads: int) -> tuple[Indices, Indices]:
        size = max(1, CROSS_BYTES // (8 * len(model.support)))
        parts = []
        for rows in gen_batches(len(X), size):
            distances = _to_prototypes(self._squared(self._sound(X.to(model.support, rows))), model, self._is_kernel)
            first = distances.argmin(axis=1)
            distances[np.arange(len(first)), first] = np.inf
            parts.append((first, distances.argmin(axis=1)))
        first, second = (np.concatenate(part) for part in zip(*parts))
        return first, second

    def _distances_by_parts(self, X: Any, complete: bool = False) -> Iterator[Floats]:
        """Yield the squared distances of new objects to the prototypes, some objects at a time."""
        check_is_fitted(self, "labels_")
        model = self._model
        size = max(1, CROSS_BYTES // (8 * len(model.support)))
        if isinstance(X, Dissimilarities) or not self._pairwise:
            new = Objects.all(self._as_source(X, reset=False))
            with chunk_threads(self.n_jobs):
                for rows in gen_batches(len(new), size):
                    yield _to_prototypes(
                        self._squared(self._sound(new.to(model.support, rows))), model, self._is_kernel
                    )
            return
        block, own = self._check_cross(X)
        if self._is_kernel and complete and np.isnan(own).any():
            raise ValueError(
                "The diagonal of the kernel is not constant, so distances need the kernel of each new object with "
                "itself: give it as one more column of X. predict does without."
            )
        with chunk_threads(self.n_jobs):
            for rows in gen_batches(len(block), size):
                distances = _to_prototypes(self._squared(block[rows]), model, self._is_kernel)
                yield distances + own[rows, None] if self._is_kernel and complete else distances

    def _check_cross(self, X: Any) -> tuple[Array, Floats]:
        """Return the dissimilarities of new objects to the support, and a kernel's diagonal for new objects."""
        model = self._model
        rows = _numbers(X, self.metric)
        n, s = model.kept.objects.n_seen, len(model.support)
        widths = {n: model.support.numbers, s: np.arange(s)}
        own = np.full(len(rows), np.nan if model.diagonal is None else model.diagonal)
        if self._is_kernel and rows.shape[1] not in widths and rows.shape[1] - 1 in widths:
            rows, own = rows[:, :-1], rows[:, -1].astype(np.float64)
        if rows.shape[1] not in widths:
            raise ValueError(
                f"X has {rows.shape[1]} features, but {type(self).__name__} is expecting {n} features as input: the "
                f"dissimilarities of each new object to the {n} objects of fit"
                f"{f' (or to the {s} in support_)' if s != n else ''}."
            )
        return self._sound(rows[:, widths[rows.shape[1]]]), own

    def _store(self, model: Any) -> None:
        made = model.kept.objects.source.n_computed
        model = model.alone()
        super()._store(model)
        del self.prototypes_
        self.support_ = model.support.numbers
        self.kept_ = model.kept.objects.numbers
        self.prototype_examples_ = model.examples
        self.prototype_dissimilarities_ = model.between
        self.dual_cost_ = model.dual_cost
        self.n_dissimilarities_ = made - self._n_made_before
        costs = np.asarray(model.costs)
        self.n_cost_increases_ = int((np.diff(costs) > 1e-9 * np.abs(costs[:-1])).sum())


def epochs_until_still(
    prototypes: Any, cooperation: Cooperation, source: Pairs, ranges: Floats, reseed: bool
) -> Iterator[Step]:
    """Run epochs of k-means until no prototype changes; an idle one may move to the farthest object.

    On dissimilarities that are not Euclidean, assignments can come back in a cycle, which ends it as well.
    """
    seen: set[bytes] = set()
    last = b""
    for range_ in ranges:
        (step,) = anneal(prototypes, cooperation, source, np.array([range_]))  # type: ignore[arg-type]
        idle = step.mass == 0
        if reseed and idle.any():
            step = step.moved(step.prototypes.reseeded(idle))  # type: ignore[attr-defined]
        yield step
        if step.prototypes.same(prototypes):  # type: ignore[attr-defined]
            return
        prototypes = step.prototypes
        assigned = prototypes.distances.argmin(axis=1).tobytes()
        if assigned in seen and assigned != last:
            warnings.warn(
                "Assignments repeat in a cycle, because the dissimilarities are not Euclidean. spread='implicit' makes "
                "the cost fall, keep_best=True returns the best epoch.",
                ConvergenceWarning,
                stacklevel=2,
            )
            return
        seen.add(assigned)
        last = assigned


def best_so_far(steps: Iterator[Step]) -> Iterator[Step]:
    """Yield all steps, each with the prototypes of the lowest dual cost up to there, the last of those if several."""
    best, lowest = None, np.inf
    for step in steps:
        cost = cost_of_fields(step.prototypes)  # type: ignore[arg-type]
        if best is None or cost <= lowest + 1e-12 * abs(lowest):  # equal fields, whatever rounding says
            best, lowest = step.prototypes, min(cost, lowest)
        yield step.moved(best)


def cost_of_fields(prototypes: Related) -> float:
    """Return the dual cost of the prototypes' receptive fields, with the share of the labels."""
    pairs, k = prototypes.pairs, len(prototypes)
    winners, share = prototypes.distances.argmin(axis=1), pairs.label_weight
    cost = dual_cost(pairs, winners, k)
    if share == 0:
        return cost
    members = csr_array((pairs.weights, winners, np.arange(len(winners) + 1)), shape=(len(winners), k))
    vectors, known = pairs.labels.vectors, pairs.labels.known
    sums = members.T @ vectors
    means = sums / np.maximum(sums.sum(axis=1, keepdims=True), 1e-300)
    scatter = known * np.square(vectors - means[winners]).sum(axis=1)
    return (1.0 - share) * cost + share * pairs.label_unit * 0.5 * float(pairs.weights @ scatter)


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


def check_kernel(K: Array, symmetrize: str) -> Array:
    """Require a symmetric matrix of finite numbers, with a diagonal that a kernel can have."""
    K = check_array(K, dtype=[np.float64, np.float32], input_name="K")
    scale = np.abs(K).max()
    if scale > 0 and K.diagonal().max() <= 0:
        raise ValueError(
            f"The largest entry on the diagonal is {K.diagonal().max():g}, which no kernel has. If these are "
            "dissimilarities, use metric='precomputed'."
        )
    if np.abs(K - K.T).max() <= (1e-8 if K.dtype == np.float64 else 1e-5) * scale:
        return K
    if symmetrize == "mean":
        return 0.5 * (K + K.T)
    raise ValueError("The kernel matrix is not symmetric. Pass symmetrize='mean', or give (K + K.T) / 2.")


def dual_cost(source: Pairs, winners: Indices, n_prototypes: int) -> float:
    """Return the cost of the receptive fields, without prototypes."""
    n = len(winners)
    order = np.argsort(winners, kind="stable")
    fields = np.split(order, np.flatnonzero(np.diff(winners[order])) + 1)
    if source.in_memory and sum(len(field) ** 2 for field in fields) < n**2 // 4:
        blocks = [(source.weights[field], source.block(field)) for field in fields]
        return 0.25 * float(sum(u @ block @ u / u.sum() for u, block in blocks))  # Hasenfuss 2009, eq. 4.14
    members = csr_array((source.weights, winners, np.arange(n + 1)), shape=(n, n_prototypes))
    products = source.times(members)
    twice = np.bincount(winners, source.weights * products[np.arange(n), winners], n_prototypes)
    mass = np.bincount(winners, source.weights, n_prototypes)
    return 0.25 * float((twice / np.where(mass > 0, mass, 1.0)).sum())


def offsets(source: Pairs, coefficients: Floats, self_terms: Floats) -> Floats:
    """Return what has to be added to ``coefficients`` (k, n) times squared dissimilarities, or -2 times a kernel."""
    if source.diagonal is None:
        constant = source.spread if isinstance(source.matrix, Landmarks) else 0.0
        return constant - 0.5 * self_terms  # Hasenfuss 2009, eq. 4.9
    return coefficients @ source.diagonal + source.spread - 0.5 * self_terms  # eq. 4.15


def _supported_by(kept: Kept, chosen: Indices, source: Pairs) -> dict[str, Any]:
    """Return support, coefficients and offsets of prototypes as combinations of kept objects."""
    block = source.block(chosen)
    self_terms = np.einsum("is,st,it->i", kept.coefficients, block, kept.coefficients, optimize=True)
    whole = np.zeros((len(kept.coefficients), source.n_samples))
    whole[:, chosen] = kept.coefficients
    return {
        "support": kept.objects,
        "positions": kept.coefficients,
        "self_terms": self_terms,
        "offsets": offsets(source, whole, self_terms),
    }


def _to_prototypes(shared: Array, model: RelatedModel, is_kernel: bool) -> Floats:
    """Return squared distances (c, k) to prototypes, from squares or kernel (c, s) to their supporting objects."""
    if is_kernel:
        return -2.0 * (shared @ model.positions.T) + model.offsets
    if model.shift:  # between different objects
        shared = np.where(shared == 0, 0.0, shared + model.shift)
    return shared @ model.positions.T + model.offsets


def _squares(matrix: Array) -> Array:
    """Return the squares of all entries, row by row, so that Python heeds interrupts in a large matrix."""
    squares = np.empty_like(matrix)
    for row, square in zip(matrix, squares):
        np.square(row, out=square)
    return squares


def _two_nearest(squares: Floats) -> tuple[Indices, Indices]:
    first = squares.argmin(axis=1)
    others = squares.copy()
    others[np.arange(len(first)), first] = np.inf
    return first, others.argmin(axis=1)


def _nearest_objects(squares: Floats) -> Indices:
    """Return the objects (k, up to 5) nearest to each prototype, the nearest first."""
    n = min(N_EXAMPLES, len(squares))
    some = np.argpartition(squares, n - 1, axis=0)[:n]
    order = np.lexsort((some, np.take_along_axis(squares, some, axis=0)), axis=0)
    return np.take_along_axis(some, order, axis=0).T


def _same_places(before: Kept, winners: Indices, n_prototypes: int) -> Indices:
    """Return for each old prototype the new one that wins most of what the old one stood for, each once."""
    moved = np.zeros((n_prototypes, n_prototypes))
    np.add.at(moved, (before.owners, winners), before.masses)
    return linear_sum_assignment(-moved)[1]


def _constant(diagonal: Floats | None) -> float | None:
    """Return the value of a constant diagonal, NaN of another."""
    if diagonal is None:
        return None
    same = np.ptp(diagonal) <= 1e-9 * np.abs(diagonal).max(initial=1e-300)
    return float(diagonal[0]) if same else float("nan")
