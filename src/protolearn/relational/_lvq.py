"""Base class of LVQ classifiers of objects: input, patches and explanations."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_consistent_length

from protolearn.core.classification import check_reject, relative_similarity, with_rejects
from protolearn.core.estimator import keep, nothing_lost
from protolearn.core.metric import LearnedMetric
from protolearn.core.numerics import first_lowest
from protolearn.core.pairs import Pairs
from protolearn.core.parameters import Constraint, anything, array, instance, integer, none, option, positive
from protolearn.core.partitions import blockwise
from protolearn.core.printing import Printed, Sheet, import_pandas, left_out
from protolearn.core.progress import Progress
from protolearn.core.relational import Median, Relational
from protolearn.core.samples import all_labels
from protolearn.core.sources import cut_patches
from protolearn.core.threads import chunk_threads
from protolearn.core.types import Array, Floats, Indices
from protolearn.core.weights import counted
from protolearn.lvq import LVQClassifier
from protolearn.lvq.cost import SQUASHING, slope_ends
from protolearn.lvq.samples import Labeled
from protolearn.relational._kinds import constant_diagonal, nearest_objects, offsets
from protolearn.relational._objects import Objects, Supported
from protolearn.relational._reading import ObjectReader
from protolearn.relational._start import spread_objects

__all__ = ["LearnedObjects", "ObjectExplanation", "ObjectLVQ", "first_medoids"]

MOST_ROWS = 10  # objects that are printed


@dataclass(frozen=True, repr=False)
class ObjectExplanation(Printed):
    """Explanation of the classification of objects by the nearest prototypes and the training objects near them.

    Printing the explanation shows a table.

    Attributes
    ----------
    classes, rivals : ndarray of shape (n_objects,)
        Predicted class of each object, and the class of the nearest prototype of another class.
    prototypes, rival_prototypes : ndarray of shape (n_objects,)
        Index of the nearest prototype, and index of the nearest prototype of another class.
    distances, rival_distances : ndarray of shape (n_objects,)
        Squared distances to these two prototypes.
    members, rival_members : ndarray of shape (n_objects, up to 5)
        Training objects nearest to the two prototypes, among those of the same class, in order of distance.

    Examples
    --------
    >>> from protolearn import RelationalGLVQ
    >>> words = ["kitten", "kitchen", "mitten", "castle", "cattle", "rattle"]
    >>> model = RelationalGLVQ(metric="edit").fit(words, ["k", "k", "k", "c", "c", "c"])
    >>> reasons = model.explain(["bitten"])
    >>> str(reasons.classes[0]), sorted(words[j] for j in reasons.members[0])
    ('k', ['kitchen', 'kitten', 'mitten'])
    """

    classes: Array
    rivals: Array
    prototypes: Indices
    rival_prototypes: Indices
    distances: Floats
    rival_distances: Floats
    members: Indices
    rival_members: Indices

    __repr__ = Printed.__str__

    def to_frame(self) -> Any:
        """Return the explanation as a pandas DataFrame.

        Returns
        -------
        frame : DataFrame
            One row for each object: its class and the rival class, the squared distances to their prototypes, and the
            training objects nearest to these prototypes.
        """
        return import_pandas().DataFrame(self._rows(), columns=self._header)

    _header = ("class", "rival", "distance", "rival_distance", "members", "rival_members")

    def _rows(self) -> list[tuple[Any, ...]]:
        lists = (self.members.tolist(), self.rival_members.tolist())
        return list(zip(self.classes, self.rivals, self.distances, self.rival_distances, *lists))

    def _sheet(self) -> Sheet:
        rows = [
            [str(i), str(own), str(rival), f"{near:.3g}", f"{far:.3g}", *(", ".join(map(str, some)) for some in lists)]
            for i, (own, rival, near, far, *lists) in enumerate(self._rows()[:MOST_ROWS])
        ]
        header = ["object", *(name.replace("_", " ") for name in self._header)]
        return Sheet("", header, rows, left_out(len(self.classes) - len(rows), "object"))


@dataclass(frozen=True)
class LearnedObjects:
    """Prototypes of some objects, as coefficients (k, n); ``beyond`` is the mean square that no prototype can reach.

    ``approximate`` gives coefficients (k, c) on some objects (c,) alone, among which the nearest to each prototype have
    the places (k,) that follow.
    """

    coefficients: Floats
    approximate: Callable[[Indices, Indices], Floats]
    costs: list[float]
    interrupted: bool = False
    beyond: float = 0.0


@dataclass(frozen=True)
class Patch:
    """Objects that were learned from, with their class codes and weights, and the prototypes that came out."""

    objects: Objects
    codes: Indices
    weights: Floats
    learned: LearnedObjects
    prototypes: Relational


@dataclass(frozen=True)
class Past:
    """Objects that stand for earlier patches, their classes and masses, and prototypes as combinations of them."""

    objects: Objects
    codes: Indices
    masses: Floats
    coefficients: Floats


class ObjectLVQ(ObjectReader, LVQClassifier):
    """Base class of LVQ classifiers of objects; subclasses define the prototype model."""

    missing = "error"
    init: Any
    squashing: str
    slope: Any
    max_iter: int | None
    class_weight: Any
    n_approximation: int
    patch_size: int | None
    random_state: Any
    _constraints: ClassVar[dict[str, Constraint]] = {
        "init": option("k-medoids") | array("an array"),
        "squashing": option(*SQUASHING),
        "slope": anything("a number, or a pair of numbers (start, end)"),
        "max_iter": integer(1) | none,
        "class_weight": option("balanced") | instance(dict, "a dict") | none,
        "n_approximation": integer(1),
        "patch_size": integer(1) | none,
    }

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.slope is not None:
            positive.check_each("slope", slope_ends(self.slope), ", or a pair of such numbers")

    @abstractmethod
    def _learn(
        self, pairs: Pairs, y: Indices, start: Any, rng: np.random.RandomState, progress: Progress
    ) -> LearnedObjects:
        """Learn prototypes of objects with class codes y, from where a patch before or ``init`` has them start."""

    @abstractmethod
    def _progress(self, n_objects: int, n_patches: int) -> Progress:
        """Return what shows the progress, for so many objects in so many patches."""

    @abstractmethod
    def _given_start(self, objects: Objects) -> Any:
        """Return the start that the user gave."""

    @nothing_lost
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn the prototypes.

        If training is interrupted (Ctrl-C), the model learned so far is kept.

        Parameters
        ----------
        X : array-like of shape (n_objects, n_objects), sequence of objects, or `Dissimilarities`
            Input of the type that ``metric`` specifies: a matrix of dissimilarities or a kernel matrix of all objects,
            also as a memory map, HDF5 dataset or Zarr array; the objects themselves, such as a list of strings; or a
            `Dissimilarities` source of either.
        y : array-like of shape (n_objects,)
            Classes of the objects, at least two.
        sample_weight : array-like of shape (n_objects,), optional
            Weight of each object in the cost function. Objects of weight 0, and classes with no other objects, are left
            out.

        Returns
        -------
        self : object
            The fitted classifier.
        """
        self._check_parameters()
        objects, labels, weights = self._read_training(X, y, sample_weight)
        self._n_made_before = objects.source.n_computed
        self.classes_, codes = np.unique(labels, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(
                f"{type(self).__name__} needs samples of at least 2 classes, but y has one class only "
                f"({self.classes_[0]})."
            )
        check_reject(self.reject_threshold, self.reject_label, self.classes_)
        self._codes = self._prototype_codes(np.bincount(codes))
        self.prototype_labels_ = self.classes_[self._codes]
        self.cost_history_: list[float] = []
        rng = check_random_state(self.random_state)
        patch = None
        n_patches = len(cut_patches(len(codes), self.patch_size or len(codes)))
        with chunk_threads(self.n_jobs) as n_threads, self._progress(len(codes), n_patches) as progress:
            for rows in _cut_evenly(codes, n_patches, rng):
                past = None
                if patch is not None:
                    keep(self)  # what was learned so far survives a failure
                    past = self._past(patch)
                patch = self._learn_patch(objects[rows], codes[rows], weights[rows], past, rng, n_threads, progress)
        return self

    @blockwise
    def predict(self, X: Any) -> Array:
        """Return the class of the nearest prototype, or ``reject_label``.

        Parameters
        ----------
        X : array-like of shape (n_new, n_train), or sequence of objects
            New objects, in the same form as in ``fit``: their dissimilarities to the training objects (or only to those
            in ``support_``), or the objects themselves.

        Returns
        -------
        y : ndarray of shape (n_new,)
            Classes.
        """
        D = self._compared(X, complete=self.reject_threshold > 0)
        predicted = self.prototype_labels_[D.argmin(axis=1)]
        if self.reject_threshold > 0:
            unsure = self._confidence(D) < self.reject_threshold
            predicted = with_rejects(predicted, unsure, self.reject_threshold, self.reject_label, self.classes_)
        return predicted

    @blockwise
    def nearest(self, X: Any) -> Indices:
        """Return the index of the nearest prototype of each object.

        Parameters
        ----------
        X : array-like of shape (n_new, n_train), or sequence of objects
            Same input as for `predict`.

        Returns
        -------
        winners : ndarray of shape (n_new,)
            Index into ``prototype_labels_``.
        """
        return self._compared(X, complete=False).argmin(axis=1)

    @blockwise
    def distances(self, X: Any) -> Floats:
        """Return the squared distance of each object to each prototype.

        Parameters
        ----------
        X : array-like of shape (n_new, n_train), or sequence of objects
            Same input as for `predict`. A kernel whose diagonal is not constant needs one more column, the kernel of
            each new object with itself.

        Returns
        -------
        distances : ndarray of shape (n_new, n_prototypes)
            Squared distances, which can be negative if the dissimilarities are not Euclidean.
        """
        return self._check_new(X)

    def explain(self, X: Any) -> ObjectExplanation:  # type: ignore[override]
        """Return which prototypes determined the class of each object, and the training objects nearest to them.

        Parameters
        ----------
        X : array-like of shape (n_new, n_train), or sequence of objects
            Same input as for `distances`.

        Returns
        -------
        explanation : ObjectExplanation
            Prototypes, distances and members.
        """
        D = self._check_new(X)
        winners = D.argmin(axis=1)
        rivals = np.where(self._codes[winners][:, None] != self._codes, D, np.inf).argmin(axis=1)
        rows = np.arange(len(D))
        return ObjectExplanation(
            self.prototype_labels_[winners],
            self.prototype_labels_[rivals],
            winners,
            rivals,
            D[rows, winners],
            D[rows, rivals],
            self.prototype_examples_[winners],
            self.prototype_examples_[rivals],
        )

    @property
    def metric_(self) -> LearnedMetric:
        """Not available: objects have no features, and their dissimilarities are given."""
        raise AttributeError(f"{type(self).__name__} learns no metric; it uses the given dissimilarities.")

    def _matrices(self, wanted: str) -> tuple[Floats, Indices]:
        raise ValueError(f"{wanted} needs features, but objects given by dissimilarities have none.")

    # Reading objects

    def _read_training(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None) -> tuple[Objects, Array, Floats]:
        """Return objects, labels and weights, without objects of weight zero."""
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        objects = Objects.all(self._as_source(X, reset=True))
        labels = all_labels(y, type(self).__name__)
        check_consistent_length(range(len(objects)), labels)
        present, counts, factors = counted(labels, sample_weight, self.class_weight)
        kept = objects if present.all() else objects[np.flatnonzero(present)]
        codes = np.unique(labels[present], return_inverse=True)[1]
        return kept, labels[present], counts * factors[codes]

    def _check_new(self, X: Any) -> Floats:
        """Return the distances of new objects, which is all that is to be known of them."""
        return self._compared(X, complete=True)

    def _compared(self, X: Any, complete: bool) -> Floats:
        parts = list(self._distances_by_parts(X, complete))
        return np.concatenate(parts) if parts else np.empty((0, len(self._codes)))

    def _measure(self, X: Floats) -> Floats:
        """Return distances without what is beyond the reach of prototypes, and none of them negative."""
        D = X - self._beyond
        return D - np.minimum(D.min(axis=1, keepdims=True, initial=np.inf), 0.0)

    def _confidence(self, X: Floats) -> Floats:
        return relative_similarity(self._measure(X), self._codes)

    # Learning

    def _learn_patch(
        self,
        objects: Objects,
        y: Indices,
        weights: Floats,
        past: Past | None,
        rng: np.random.RandomState,
        n_threads: int,
        progress: Progress,
    ) -> Patch:
        """Learn from some objects, and from those that stand for earlier ones."""
        if past is None:
            self._check_first(y)
            start = None if isinstance(self.init, str) else self._given_start(objects)
        else:
            start = np.hstack([np.zeros((len(self._codes), len(y))), past.coefficients])
            objects = objects.joined(past.objects)
            y, weights = np.concatenate([y, past.codes]), np.concatenate([weights, past.masses])
        pairs = self._reading().pairs(objects, weights=weights, n_threads=n_threads)
        learned = self._learn(pairs, y, start, rng, progress)
        self.cost_history_ = [*self.cost_history_, *learned.costs]
        self.n_iter_ = max(1, len(self.cost_history_))
        self.n_dissimilarities_ = objects.source.n_computed - self._n_made_before
        patch = Patch(objects, y, weights, learned, Relational.at(pairs, learned.coefficients.T))
        self._store(patch)
        if learned.interrupted:
            keep(self)
            raise KeyboardInterrupt
        return patch

    def _check_first(self, y: Indices) -> None:
        """Require that a class has as many objects in the first patch as it has prototypes."""
        lacking = np.bincount(y, minlength=len(self.classes_)) < np.bincount(self._codes)
        if lacking.any():
            raise ValueError(
                f"patch_size={self.patch_size} leaves fewer objects of class {self.classes_[lacking.argmax()]!s} in a "
                "patch than the class has prototypes; use larger patches."
            )

    def _store(self, patch: Patch) -> None:
        """Set what is known about the prototypes."""
        prototypes, coefficients = patch.prototypes, patch.learned.coefficients
        chosen = np.flatnonzero(coefficients.any(axis=0))
        support = patch.objects[chosen]
        if support.source.precomputed:  # only the numbers of supporting objects matter
            nothing = support.source.like(np.zeros((0, 0)))
            support = Objects(nothing, np.arange(len(chosen)), support.numbers, support.n_seen)
        else:
            support = support.alone()
        own = self._own_squares(patch)
        examples = nearest_objects(own)[:, : int(np.isfinite(own).sum(axis=0).min())]
        self._fitted = Supported(
            self._reading(),
            support,
            coefficients[:, chosen],
            prototypes.self_terms,
            offsets(prototypes.pairs, coefficients, prototypes.self_terms),
            patch.objects.numbers[examples],
            0.0,
            constant_diagonal(prototypes.pairs.diagonal),
        )
        self.support_ = support.numbers
        self.prototype_examples_ = self._fitted.examples
        self._beyond = patch.learned.beyond
        self._fit_temperature(Labeled(prototypes.squares, patch.codes, patch.weights))

    def _past(self, patch: Patch) -> Past:
        """Return objects that stand for all: of those whose prototype of their class is this one, the nearest."""
        own = self._own_squares(patch)
        fields = own.argmin(axis=1)
        masses = np.bincount(fields, patch.weights, len(self._codes))
        parts, shares = [], []
        for p, mass in enumerate(masses):
            field = np.flatnonzero(fields == p) if mass else np.flatnonzero(patch.codes == self._codes[p])
            part = field[np.argsort(own[field, p], kind="stable")[: self.n_approximation]]
            parts.append(part)
            shares.append(np.full(len(part), mass / len(part)))
        chosen, firsts = np.concatenate(parts), np.cumsum([0, *map(len, parts)])[:-1]
        coefficients = patch.learned.approximate(chosen, firsts)
        return Past(patch.objects[chosen], patch.codes[chosen], np.concatenate(shares), coefficients)

    def _own_squares(self, patch: Patch) -> Floats:
        """Return squared distances (n, k), infinite to prototypes of other classes."""
        return np.where(patch.codes[:, None] == self._codes, patch.prototypes.squares, np.inf)


def first_medoids(pairs: Pairs, members: Indices, count: int, rng: np.random.RandomState) -> Median:
    """Return medoids of some objects: spread ones, exchanged as long as that brings objects nearer to them."""
    some = Pairs(pairs.block(members), weights=pairs.weights[members])
    if count == 1:
        return Median.at(some, np.array([first_lowest(some.times(some.weights[:, None])[:, 0])]))
    medoids = Median.at(some, spread_objects(some, count, rng))
    different = len(np.unique(medoids.indices)) == count
    while different and medoids.n_open != 0:
        medoids = medoids.swapped()
    return medoids


def _cut_evenly(y: Indices, n_patches: int, rng: np.random.RandomState) -> Iterator[Indices]:
    """Yield the objects of each patch, in which all classes have their share."""
    if n_patches == 1:
        yield np.arange(len(y))
        return
    order = rng.permutation(len(y))
    order = order[np.argsort(y[order], kind="stable")]
    for first in range(n_patches):
        yield np.sort(order[first::n_patches])
