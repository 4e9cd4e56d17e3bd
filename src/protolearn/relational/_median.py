"""k-means, neural gas and self-organizing maps whose prototypes are objects themselves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from protolearn.core.cooperation import Cooperation
from protolearn.core.documentation import extends
from protolearn.core.loop import Step, anneal
from protolearn.core.relational import Median, Relational
from protolearn.core.types import Floats
from protolearn.core.validation import check_flags, check_number, check_option
from protolearn.maps._kmeans import KMeans
from protolearn.maps._matrix import ONLINE
from protolearn.maps._neural_gas import NeuralGas
from protolearn.maps._som import SOM
from protolearn.maps._state import Samples
from protolearn.relational._base import DissimilarityMap, Indices, epochs_until_still
from protolearn.relational._docs import documented
from protolearn.relational._objects import Objects
from protolearn.relational._start import on_principal_plane

__all__ = ["MedianKMeans", "MedianMap", "MedianNeuralGas", "MedianSOM"]


class MedianMap(DissimilarityMap):
    """Base of maps whose prototypes are objects."""

    collision: str
    noise: float
    exemplar_labels: bool
    swap: bool = False

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_option("collision", self.collision, ("exclude", "noise", "ignore"))
        check_number("noise", self.noise, low=0)
        check_flags(self, "exemplar_labels", "swap")

    def _start(
        self, source: Any, cooperation: Cooperation, patch: Samples, model: Any, rng: np.random.RandomState
    ) -> Any:
        k, n = self._size(cooperation), source.n_samples
        if model is not None:
            return n - len(model.kept.owners) + model.kept.coefficients.argmax(axis=1)
        if isinstance(self.init, str):
            if self.init == "pca":
                coefficients = on_principal_plane(source, self._plane(cooperation))
                return Relational.at(source, coefficients).squares.argmin(axis=0)
            return self._drawn(source, k, rng)
        given = np.asarray(self.init)
        objects: Any = patch.X
        if given.shape != (k,) or given.dtype.kind not in "iu" or not np.isin(given, objects.numbers).all():
            raise ValueError(
                f"init must hold the indices of {k} objects, from 0 to {objects.n_seen - 1}, that have a positive "
                f"weight and are in the first patch; got {self.init!r}."
            )
        order = np.argsort(objects.numbers)
        return order[np.searchsorted(objects.numbers, given, sorter=order)]

    def _prototypes(self, positions: Any, source: Any, model: Any, rng: np.random.RandomState) -> Any:
        distinct = self.collision == "exclude"
        return Median.at(source, positions, distinct=distinct, own_labels=self.exemplar_labels)

    def _epochs(self, prototypes: Any, cooperation: Any, source: Any, ranges: Any, rng: Any) -> Iterator[Step]:
        if self.collision != "noise":
            yield from super()._epochs(prototypes, cooperation, source, ranges, rng)
            return
        scale = self.noise * float(np.abs(prototypes.squares).mean())
        for epoch, range_ in enumerate(ranges):  # noise fades, and the last epoch has none
            height = scale * (1.0 - (epoch + 1) / len(ranges))
            jitter = height * rng.random_sample(prototypes.squares.shape) if height > 0 else None
            (step,) = anneal(replace(prototypes, jitter=jitter), cooperation, source, np.array([range_]))
            prototypes = step.prototypes
            yield step

    def _can_swap(self, prototypes: Median) -> bool:
        """Say whether swaps of prototypes are asked for, and known to lower the cost."""
        apart = len(prototypes) > 1 and len(np.unique(prototypes.indices)) == len(prototypes)
        plain = self.collision == "exclude" and self.label_weight == 0
        return self.swap and plain and apart and not callable(prototypes.pairs.matrix)

    def _supported(self, prototypes: Median, objects: Objects) -> dict[str, Any]:
        k, source = len(prototypes), prototypes.pairs
        own = np.zeros(k)
        return {
            "support": objects[prototypes.indices],
            "positions": np.eye(k),
            "self_terms": own,
            "offsets": own if source.diagonal is None else source.diagonal[prototypes.indices],
        }

    def _stand_ins(self, prototypes: Median, nearest: Indices) -> tuple[Indices, Indices, Floats]:
        """Return the prototypes that win anything, each once: they stand for their receptive fields."""
        winning = np.unique(nearest)
        chosen, first = np.unique(prototypes.indices[winning], return_index=True)
        same = prototypes.squares[chosen].argmin(axis=0)
        own = chosen == prototypes.indices[:, None]
        same = np.where(own.any(axis=1), own.argmax(axis=1), same)
        return chosen, winning[first], np.eye(len(chosen))[same]

    def _store(self, model: Any) -> None:
        super()._store(model)
        self.prototype_indices_ = model.support.numbers[model.positions.argmax(axis=1)]


def epochs_of_swaps(prototypes: Median, cooperation: Cooperation, source: Any, n_epochs: int) -> Iterator[Step]:
    """Run epochs in which every object is tried in place of a prototype, until none of them is better."""
    for _ in range(n_epochs):
        sums: Any = cooperation.gather(prototypes, source, 0.0)  # type: ignore[arg-type]
        swapped = prototypes.swapped()
        yield Step(swapped, 0.0, prototypes.cost(sums), sums.mass)  # type: ignore[arg-type]
        if swapped.n_open == 0:
            return
        prototypes = swapped


@documented
class MedianKMeans(MedianMap, KMeans):
    r"""k-means on dissimilarities with objects as prototypes, also known as k-medoids.

    Each prototype is the object of least summed (squared) dissimilarity to the objects it wins. Works for any
    dissimilarity, and the cost never rises. With ``squared=True`` sums are over the dissimilarities as they are.

    Parameters
    ----------
    n_prototypes : int, default=8
        Number of prototypes.
    %(dissimilarities)s
    %(median)s
    swap : bool, default=True
        Try in every epoch to swap a prototype for each other object (FasterPAM), instead of moving all prototypes to
        the medians of their fields. Only with ``collision="exclude"`` and without labels, and while the dissimilarities
        are in memory.
    init : {"k-means++", "random", "pca"} or array of shape (n_prototypes,), default="k-means++"
        Where prototypes start: spread or random objects, those nearest to the plane of classical scaling, or the
        indices of objects.
    n_init : int, default=1
        Number of starts, unless ``init`` is an array; the result with the lowest cost is kept.
    max_iter : int, default=300
        Largest number of epochs; it stops as soon as no prototype moves.
    empty : {"keep", "reseed"}, default="keep"
        A prototype that wins no object stays where it is, or moves to the object farthest from its prototype.
    %(labels)s
    %(patch)s
    %(running)s

    Attributes
    ----------
    %(indices)s
    %(attributes)s

    See Also
    --------
    MedianNeuralGas : The same cost in the end, with less dependence on the start.
    RelationalKMeans : Prototypes between objects, for smoother clusters.

    References
    ----------
    Cottrell, Hammer, Hasenfuss, Villmann (2006). Batch and median neural gas. Neural Networks.

    Schubert, Rousseeuw (2021). Fast and eager k-medoids clustering. Information Systems.

    Hasenfuss (2009). Topographic mapping of dissimilarity datasets. PhD thesis, TU Clausthal.

    Examples
    --------
    >>> from protolearn import MedianKMeans
    >>> words = ["kitten", "kitchen", "mitten", "castle", "cattle", "rattle"]
    >>> kmeans = MedianKMeans(2, metric="edit", random_state=0).fit(words)
    >>> sorted(words[j] for j in kmeans.prototype_indices_)
    ['cattle', 'kitten']
    """

    def __init__(
        self,
        n_prototypes: int = 8,
        *,
        metric: Any = "precomputed",
        metric_params: dict[str, Any] | None = None,
        squared: bool = False,
        symmetrize: str = "raise",
        collision: str = "exclude",
        noise: float = 0.0001,
        exemplar_labels: bool = False,
        swap: bool = True,
        init: str | ArrayLike = "k-means++",
        n_init: int = 1,
        max_iter: int = 300,
        empty: str = "keep",
        label_weight: float = 0.0,
        magnification: float | str = 0.0,
        patch_size: int | None = None,
        patch_runs: int = 1,
        decay: float = 1.0,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_prototypes = n_prototypes
        self.metric = metric
        self.metric_params = metric_params
        self.squared = squared
        self.symmetrize = symmetrize
        self.collision = collision
        self.noise = noise
        self.exemplar_labels = exemplar_labels
        self.swap = swap
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.empty = empty
        self.label_weight = label_weight
        self.magnification = magnification
        self.patch_size = patch_size
        self.patch_runs = patch_runs
        self.decay = decay
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _epochs(self, prototypes: Any, cooperation: Any, source: Any, ranges: Any, rng: Any) -> Iterator[Step]:
        if self._can_swap(prototypes):
            return epochs_of_swaps(prototypes, cooperation, source, len(ranges))
        if self.collision == "noise":
            return super()._epochs(prototypes, cooperation, source, ranges, rng)
        return epochs_until_still(prototypes, cooperation, source, ranges, self.empty == "reseed")


@documented
class MedianNeuralGas(MedianMap, NeuralGas):
    r"""Neural gas on dissimilarities with objects as prototypes.

    Each prototype is the object of least summed (squared) dissimilarity to all objects, weighted by its rank for them.
    As the range falls the cost becomes that of k-medoids, with little dependence on the start. Works for any
    dissimilarity, and at a fixed range the cost never rises.

    Parameters
    ----------
    n_prototypes : int, default=8
        Number of prototypes.
    %(dissimilarities)s
    %(median)s
    swap : bool, default=True
        Finish with swaps of single prototypes for other objects, as long as one lowers the cost (FasterPAM). Only with
        ``collision="exclude"`` and without labels, and while the dissimilarities are in memory.
    init : {"k-means++", "random", "pca"} or array of shape (n_prototypes,), default="k-means++"
        Where prototypes start: spread or random objects, those nearest to the plane of classical scaling, or the
        indices of objects.
    %(gas)s
    %(labels)s
    %(patch)s
    %(running)s

    Attributes
    ----------
    %(indices)s
    %(attributes)s

    See Also
    --------
    RelationalNeuralGas : Prototypes between objects, mostly more accurate.
    MedianSOM : The same with a fixed lattice.

    References
    ----------
    Cottrell, Hammer, Hasenfuss, Villmann (2006). Batch and median neural gas. Neural Networks.

    Schubert, Rousseeuw (2021). Fast and eager k-medoids clustering. Information Systems.

    Hasenfuss (2009). Topographic mapping of dissimilarity datasets. PhD thesis, TU Clausthal.

    Examples
    --------
    >>> from protolearn import MedianNeuralGas
    >>> words = ["kitten", "kitchen", "mitten", "castle", "cattle", "rattle"]
    >>> gas = MedianNeuralGas(2, metric="edit", random_state=0).fit(words)
    >>> sorted(words[j] for j in gas.prototype_indices_)
    ['cattle', 'kitten']
    """

    def __init__(
        self,
        n_prototypes: int = 8,
        *,
        metric: Any = "precomputed",
        metric_params: dict[str, Any] | None = None,
        squared: bool = False,
        symmetrize: str = "raise",
        collision: str = "exclude",
        noise: float = 0.0001,
        exemplar_labels: bool = False,
        swap: bool = True,
        init: str | ArrayLike = "k-means++",
        n_init: int = 1,
        max_iter: int = 100,
        range_start: float | str = "auto",
        range_end: float = 0.01,
        schedule: str | Schedule = "geometric",
        label_weight: float = 0.0,
        magnification: float | str = 0.0,
        patch_size: int | None = None,
        patch_runs: int = 1,
        decay: float = 1.0,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_prototypes = n_prototypes
        self.metric = metric
        self.metric_params = metric_params
        self.squared = squared
        self.symmetrize = symmetrize
        self.collision = collision
        self.noise = noise
        self.exemplar_labels = exemplar_labels
        self.swap = swap
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.range_start = range_start
        self.range_end = range_end
        self.schedule = schedule
        self.label_weight = label_weight
        self.magnification = magnification
        self.patch_size = patch_size
        self.patch_runs = patch_runs
        self.decay = decay
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _finished(self, prototypes: Median, source: Any, range_: float, rng: Any) -> tuple[Median, None]:
        if self._can_swap(prototypes):
            while prototypes.n_open != 0:
                prototypes = prototypes.swapped()
        return prototypes, None


@documented
class MedianSOM(MedianMap, SOM):
    r"""Self-organizing map of dissimilarities with objects as prototypes.

    Each node of the lattice is the object of least summed (squared) dissimilarity to the objects of its neighborhood.
    Works for any dissimilarity, and at a fixed range the cost never rises.

    Parameters
    ----------
    lattice : "auto", tuple (rows, columns), int or Lattice, default="auto"
        ``"auto"`` is a rectangle of about :math:`5\sqrt{n}` nodes for n different objects. See
        :mod:`protolearn.core.lattices` for hyperbolic and other lattices.
    %(dissimilarities)s
    %(median)s
    %(winner)s
    init : {"pca", "k-means++", "random"} or array of shape (n_prototypes,), default="pca"
        Where prototypes start: spread or random objects, those nearest to the plane of classical scaling, or the
        indices of objects.
    %(som)s
    %(labels)s
    %(patch)s
    %(running)s

    Attributes
    ----------
    lattice_ : Lattice
        The lattice.
    %(indices)s
    %(attributes)s

    See Also
    --------
    RelationalSOM : Prototypes between objects, mostly a smoother map.

    References
    ----------
    Cottrell, Hammer, Hasenfuss, Villmann (2006). Batch and median neural gas. Neural Networks.

    Hasenfuss (2009). Topographic mapping of dissimilarity datasets. PhD thesis, TU Clausthal.

    Examples
    --------
    >>> from protolearn import MedianSOM
    >>> words = ["kitten", "kitchen", "mitten", "castle", "cattle", "rattle"]
    >>> som = MedianSOM((1, 3), metric="edit").fit(words)
    >>> som.prototype_indices_.shape
    (3,)
    """

    def __init__(
        self,
        lattice: Any = "auto",
        *,
        metric: Any = "precomputed",
        metric_params: dict[str, Any] | None = None,
        squared: bool = False,
        symmetrize: str = "raise",
        collision: str = "exclude",
        noise: float = 0.0001,
        exemplar_labels: bool = False,
        init: str | ArrayLike = "pca",
        n_init: int = 1,
        winner: str = "heskes",
        kernel: str = "gaussian",
        max_iter: int = 100,
        range_start: float | str = "auto",
        range_end: float = 0.55,
        schedule: str | Schedule = "geometric",
        label_weight: float = 0.0,
        magnification: float | str = 0.0,
        patch_size: int | None = None,
        patch_runs: int = 1,
        decay: float = 1.0,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.lattice = lattice
        self.metric = metric
        self.metric_params = metric_params
        self.squared = squared
        self.symmetrize = symmetrize
        self.collision = collision
        self.noise = noise
        self.exemplar_labels = exemplar_labels
        self.init = init
        self.n_init = n_init
        self.winner = winner
        self.kernel = kernel
        self.max_iter = max_iter
        self.range_start = range_start
        self.range_end = range_end
        self.schedule = schedule
        self.label_weight = label_weight
        self.magnification = magnification
        self.patch_size = patch_size
        self.patch_runs = patch_runs
        self.decay = decay
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
