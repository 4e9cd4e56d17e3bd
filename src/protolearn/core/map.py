"""Base classes of all topographic maps: training on all samples at once or in patches."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator
from copy import deepcopy
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from sklearn.utils import check_random_state

from protolearn.core.estimator import Estimator, keep, nothing_lost, warn_unconverged
from protolearn.core.lattices import as_lattice
from protolearn.core.learning import Epochs, Finish, Fitted, Kind, Patches, Recipe, learn_patches
from protolearn.core.loop import batch
from protolearn.core.neighborhoods import A_LATTICE, Neighborhood, OnLattice, Ranks, Winner
from protolearn.core.parameters import Constraint, Part, integer, number, option
from protolearn.core.progress import Progress
from protolearn.core.samples import Samples, labeled
from protolearn.core.sources import cut_patches
from protolearn.core.streams import begin_record, forget_record, usual_rows
from protolearn.core.threads import chunk_threads
from protolearn.core.types import Indices
from protolearn.core.validation import is_collection, weight_unit

__all__ = ["GasFamily", "KMeansFamily", "LatticeFamily", "TopographicMap"]


class TopographicMap(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Estimator):
    """Base class of all topographic maps.

    A subclass defines how samples are read and composes the `Recipe` of training: the prototype model (kind), the
    neighborhood (neighborhood function), the neighborhood ranges, and the steps during and after the epochs.

    Examples
    --------
    >>> from protolearn import GLVQ, SOM, RelationalSOM
    >>> from protolearn.core.map import TopographicMap
    >>> [isinstance(model, TopographicMap) for model in (SOM(), RelationalSOM(), GLVQ())]
    [True, True, False]
    """

    init: Any
    n_init: int = 1
    max_iter: int
    label_weight: float = 0.0
    magnification: float | str = 0.0
    patches: Patches | None = None
    n_jobs: int | None
    random_state: Any
    verbose: int
    _fitted: Any
    _weight_unit: float = 1.0  # of the samples seen so far
    _constraints: ClassVar[dict[str, Constraint]] = {
        "n_prototypes": integer(1),
        "max_iter": integer(1),
        "n_init": integer(1),
        "label_weight": number(0, 1),
        "magnification": number() | option("optimal"),
    }
    _grouped: ClassVar[dict[str, type[Part]]] = {"patches": Patches}

    # The parts of the recipe

    @abstractmethod
    def _kind(self) -> Kind:
        """Return what prototypes are."""

    def _neighborhood(self) -> Neighborhood:
        """Return who learns from a sample."""
        found: Neighborhood = self._group("neighborhood")
        return found

    def _epochs(self) -> Epochs:
        """Return how epochs are run."""
        return batch

    def _finish(self) -> Finish | None:
        """Return what follows the last epoch."""
        return None

    def _resumes(self) -> bool:
        """Say whether later patches start from the prototypes so far; otherwise they start anew, by ``init``."""
        return not isinstance(self.init, str)

    def _recipe(self) -> Recipe:
        """Return how the map learns."""
        patches = self._group("patches")
        return Recipe(
            self._kind(),
            self._neighborhood(),
            self.max_iter,
            self._epochs(),
            self._finish(),
            self.n_init,
            self._resumes(),
            self.magnification,
            getattr(getattr(self, "online", None), "density_at", "sample"),
            patches.decay,
            patches.runs,
        )

    # Learning

    @abstractmethod
    def _read(
        self, X: Any, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None, *, reset: bool
    ) -> Samples:
        """Validate one patch of samples."""

    def _labeled(self, X: Any, y: ArrayLike | None, sample_weight: ArrayLike | None, reset: bool) -> Samples:
        """Return samples with labels and weights; weights have the unit of the first ones."""
        if reset:
            self._weight_unit = weight_unit(sample_weight)
        return labeled(X, y, sample_weight, self.label_weight, self._weight_unit)

    def _read_all(self, patches: Iterator[Any]) -> Iterator[Samples]:
        """Validate the patches of an iterator."""
        for number_, patch in enumerate(patches):
            samples = self._read(*(patch if isinstance(patch, tuple) else (patch,)), reset=number_ == 0)
            usual = self._usual(samples, begins=number_ == 0)
            if len(usual):
                yield usual

    def _read_more(
        self, X: Any, y: ArrayLike | None, sample_weight: ArrayLike | None, fitted: Any
    ) -> tuple[Samples, Any]:
        """Validate one more patch, and set the map so far beside it."""
        return self._usual(self._read(X, y, sample_weight, reset=fitted is None), begins=fitted is None), fitted

    def _usual(self, samples: Samples, begins: bool) -> Samples:
        """Return the samples of a patch whose values are of the order of magnitude of those before."""
        values = self._values(samples) if samples.in_memory else None
        if values is None:
            forget_record(self)
            return samples
        if begins:
            begin_record(self, values, samples.weights)
            return samples
        usual = usual_rows(self, values, samples.weights)
        return samples if usual.all() else samples.take(np.flatnonzero(usual))

    def _values(self, samples: Samples) -> Any:
        """Return the values of samples (n, d), or None if samples are not vectors."""
        return samples.X

    @nothing_lost
    def fit(self, X: Any, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> Self:
        """Train the map.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), Dask collection, or iterator of patches
            Samples; a memory map of floats is read in chunks. Maps of vectors also accept a Dask array or data frame.
            Each of its partitions is read once per epoch, on the worker that stores it, and ``labels_`` is a lazy
            array. An iterator yields patches ``X``, ``(X, y)`` or ``(X, y, sample_weight)``; only the current patches
            and the next one are in memory.
        y : array-like of shape (n_samples,), optional
            Class of each sample, used if ``label_weight`` is positive; NaN, None and NA mean unlabeled.
        sample_weight : array-like of shape (n_samples,), optional
            Weight of each sample; a weight of 2 is equivalent to including the sample twice. Where the largest weight
            is above 1e301 or below 1e-301, all are divided by a power of two close to it, and a weight below 1e-30 of
            the largest is zero. For a Dask collection, labels and weights are collections with the same partitions.

        Returns
        -------
        self : object
            The fitted map. If training is interrupted from the keyboard or fails in a later patch, the model learned so
            far is kept.
        """
        self._check_parameters()
        rng = check_random_state(self.random_state)
        if isinstance(X, Iterator):
            if y is not None or sample_weight is not None:
                raise ValueError("An iterator of patches must yield labels and weights itself: (X, y, sample_weight).")
            return self._learn(self._read_all(X), None, rng, None)
        self._weight_unit = 1.0
        samples: Any = self._read(X, y, sample_weight, reset=True)
        self._usual(samples, begins=True)
        size = self._group("patches").size
        if not samples.in_memory and (size is not None or not samples.adds):
            return self._condense(samples, rng)
        cuts = cut_patches(len(samples), size or len(samples))
        if len(cuts) == 1:
            return self._learn([samples], None, rng)
        order = rng.permutation(len(samples))
        self._learn((samples.take(order[cut]) for cut in cuts), None, rng, len(cuts))
        self._assign(samples)
        return self

    @nothing_lost
    def partial_fit(self, X: Any, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from one more patch of samples.

        The centers of the receptive fields represent all samples seen before. They are added to the patch, weighted by
        the total weight of their receptive field (times ``decay``), and the map is trained on both with the full
        schedule of the neighborhood range. A prototype that stays near its previous position keeps its index.

        Samples with a value more than a hundred times larger than all values of this feature so far are left out, with
        a warning.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The patch. The first patch needs at least as many samples as there are prototypes.
        y : array-like of shape (n_samples,), optional
            Class of each sample, used if ``label_weight`` is positive; NaN, None and NA mean unlabeled.
            New classes may appear at any time.
        sample_weight : array-like of shape (n_samples,), optional
            Weight of each sample, comparable with those of earlier patches.

        Returns
        -------
        self : object
            The fitted map.
        """
        self._check_parameters()
        fitted = getattr(self, "_fitted", None)
        if fitted is not None:
            self._check_unchanged(fitted)
        rng = check_random_state(self.random_state) if fitted is None else deepcopy(self._rng)
        samples, fitted = self._read_more(X, y, sample_weight, fitted)
        if not len(samples):
            return self._pass_over(samples)
        return self._learn([samples], fitted, rng)

    def _pass_over(self, samples: Samples) -> Self:
        """Take notice of a patch from which nothing is learned."""
        return self

    def fit_predict(self, X: Any, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> Indices:
        """Fit the map and return the index of the nearest prototype of each sample.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,), optional
            Class of each sample, used if ``label_weight`` is positive; NaN, None and NA mean unlabeled.
        sample_weight : array-like of shape (n_samples,), optional
            Weight of each sample.

        Returns
        -------
        winners : ndarray of shape (n_samples,)
            ``labels_``.
        """
        return self.fit(X, y, sample_weight).labels_

    def _check_unchanged(self, fitted: Fitted) -> None:
        """Refuse to go on with a map of another kind than the one so far."""
        if fitted.supervised != (self.label_weight > 0):
            raise ValueError(
                f"label_weight={self.label_weight}, but the current map was fitted "
                f"{'with' if fitted.supervised else 'without'} labels; call fit to restart."
            )
        size = self._kind().size
        if size is not None and size != len(fitted):
            raise ValueError(f"{size} prototypes, but the current map has {len(fitted)}; call fit to restart.")

    def _learn(
        self, patches: Iterable[Samples], past: Any, rng: np.random.RandomState, n_patches: int | None = 1
    ) -> Self:
        """Learn from patches and store the result; what was learned before a failure is kept."""
        recipe = self._recipe()
        n_runs = None if n_patches is None else recipe.count_starts(n_patches)
        progress = Progress(type(self).__name__, self.max_iter, self.verbose, "epoch", n_runs=n_runs)
        with chunk_threads(self.n_jobs) as n_threads, progress:
            fitted, failure = learn_patches(replace(recipe, progress=progress), patches, past, rng, n_threads)
            if failure is not None:
                progress.stop()
        if fitted is not None and fitted is not past:
            self._rng = rng
            self._publish(fitted)
            if failure is None:
                self._warn_of_end()
            keep(self)
        if failure is not None:
            raise failure
        if fitted is None:
            raise ValueError("The iterator yields no patches; provide at least one.")
        return self

    def _condense(self, samples: Any, rng: np.random.RandomState) -> Self:
        """Learn from the partitions of a collection, each patch by patch, and merge what they have learned."""
        patches = self._group("patches")
        if patches.runs != 1:
            raise ValueError(
                f"patches={patches!r} has several runs, but a Dask collection has one for each partition; use runs=1."
            )
        fitted = samples.condensed(clone(self)._recipe(), patches.size, rng)
        self._rng = rng
        self._publish(fitted)
        self._assign(samples)
        self._warn_of_end()
        return self

    def _warn_of_end(self) -> None:
        """Warn if epochs that go on until prototypes rest were too few."""
        if self._fitted.history.still is False:
            warn_unconverged(self, self.max_iter)

    def _assign(self, samples: Samples) -> Any:
        """Find the prototypes of samples that were learned patch by patch; return the sums over receptive fields."""
        with chunk_threads(self.n_jobs) as n_threads:
            self.labels_, wins = samples.assigned(self._fitted.assignment(n_threads), self._fitted.fields())
        self.multiplicities_ = wins.masses
        if self._fitted.history.edges is None:
            self.graph_ = wins.graph
        return wins

    def _publish(self, fitted: Any) -> None:
        """Store what was learned."""
        lazy = is_collection(fitted.winners)
        self._fitted = replace(fitted, winners=np.empty(0, np.int64)) if lazy else fitted
        self.multiplicities_ = fitted.masses
        self.labels_ = fitted.winners
        self.graph_ = fitted.graph
        self.cost_history_ = fitted.history.costs
        self.range_history_ = fitted.history.ranges
        self.n_iter_ = len(fitted.history.costs)
        for name in ("classes_", "label_distribution_", "prototype_labels_", "magnification_"):
            self.__dict__.pop(name, None)
        if fitted.history.magnification is not None:
            self.magnification_ = fitted.history.magnification
        if fitted.supervised:
            self.classes_ = fitted.classes
            self.label_distribution_ = fitted.shares
            self.prototype_labels_ = fitted.classes[fitted.shares.argmax(axis=1)]

    @property
    def _n_features_out(self) -> int:
        return len(self._fitted)


class KMeansFamily:
    """Mixin of maps in which each sample updates its winner only.

    Examples
    --------
    >>> from protolearn import SOM, KMeans, MedianKMeans
    >>> from protolearn.core.map import KMeansFamily
    >>> [isinstance(model, KMeansFamily) for model in (KMeans(), MedianKMeans(), SOM())]
    [True, True, False]
    """

    max_iter: int
    _constraints: ClassVar[dict[str, Constraint]] = {
        "tol": number(0),
    }
    _grouped: ClassVar[dict[str, type[Part]]] = {"neighborhood": Winner}


class GasFamily:
    """Mixin of maps in which each sample updates all prototypes, weighted by rank.

    Examples
    --------
    >>> from protolearn import SOM, MatrixNeuralGas, NeuralGas
    >>> from protolearn.core.map import GasFamily
    >>> [isinstance(model, GasFamily) for model in (NeuralGas(), MatrixNeuralGas(), SOM())]
    [True, True, False]
    """

    _grouped: ClassVar[dict[str, type[Part]]] = {"neighborhood": Ranks}


class LatticeFamily:
    """Mixin of maps in which each sample updates its winner and the neighbors of the winner on a lattice.

    Examples
    --------
    >>> from protolearn import SOM, NeuralGas, RelationalSOM
    >>> from protolearn.core.map import LatticeFamily
    >>> [isinstance(model, LatticeFamily) for model in (SOM(), RelationalSOM(), NeuralGas())]
    [True, True, False]
    """

    lattice: Any
    topology: str
    init: Any
    _group: Any
    _constraints: ClassVar[dict[str, Constraint]] = {
        "lattice": A_LATTICE,
        "topology": option("rectangular", "hexagonal"),
    }
    _grouped: ClassVar[dict[str, type[Part]]] = {"neighborhood": OnLattice}

    def _check_parameters(self) -> None:
        super()._check_parameters()  # type: ignore[misc]
        if not isinstance(self.lattice, str):
            as_lattice(self.lattice, self.topology)

    def _neighborhood(self) -> Neighborhood:
        return self._group("neighborhood").on(self.lattice, self.topology)

    def _resumes(self) -> bool:
        return True  # the map keeps its orientation

    def _publish(self, fitted: Any) -> None:
        super()._publish(fitted)  # type: ignore[misc]
        self.lattice_ = fitted.neighborhood.lattice
