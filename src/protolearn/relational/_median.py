"""k-means, neural gas and self-organizing maps whose prototypes are objects themselves."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClusterMixin

from protolearn.core.cooperation import Cooperation
from protolearn.core.learning import Epochs, Finish
from protolearn.core.loop import Step, batch
from protolearn.core.map import GasFamily, KMeansFamily, LatticeFamily
from protolearn.core.parameters import Constraint, flag, number, option
from protolearn.core.relational import Median
from protolearn.core.schedules import Schedule
from protolearn.core.types import Floats
from protolearn.relational._base import DissimilarityMap
from protolearn.relational._docs import documented
from protolearn.relational._epochs import noisy, swap_epochs, until_still
from protolearn.relational._kinds import Exemplars
from protolearn.relational._objects import FittedObjects

__all__ = ["MedianKMeans", "MedianMap", "MedianNeuralGas", "MedianSOM"]


class MedianMap(DissimilarityMap):
    """Base of maps whose prototypes are objects."""

    collision: str
    noise: float
    exemplar_labels: bool
    swap: bool = False
    _constraints: ClassVar[dict[str, Constraint]] = {
        "collision": option("exclude", "noise", "ignore"),
        "noise": number(0),
        "exemplar_labels": flag,
        "swap": flag,
    }

    def _kind(self) -> Exemplars:
        return Exemplars(**self._related(), distinct=self.collision == "exclude", own_labels=self.exemplar_labels)

    def _epochs(self) -> Epochs:
        return partial(noisy, noise=self.noise) if self.collision == "noise" else batch

    def _can_swap(self, prototypes: Median) -> bool:
        """Say whether swaps of prototypes are asked for, and known to lower the cost."""
        apart = len(prototypes) > 1 and len(np.unique(prototypes.indices)) == len(prototypes)
        plain = self.collision == "exclude" and self.label_weight == 0
        return self.swap and plain and apart and not callable(prototypes.pairs.matrix)

    def _publish(self, fitted: FittedObjects) -> None:
        super()._publish(fitted)
        self.prototype_indices_ = fitted.support.numbers[fitted.coefficients.argmax(axis=1)]


@documented
class MedianKMeans(ClusterMixin, KMeansFamily, MedianMap):
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
        Largest number of epochs; it stops as soon as no prototype moves. If these are too few, there is a
        ``ConvergenceWarning``.
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

    fit_predict = MedianMap.fit_predict  # scikit-learn's drops y

    def _epochs(self) -> Epochs:
        return self._swaps_or_means

    def _swaps_or_means(
        self, prototypes: Median, cooperation: Cooperation, source: Any, ranges: Floats, rng: np.random.RandomState
    ) -> Iterator[Step]:
        """Run epochs of swaps if these are allowed, else of medians."""
        still = partial(until_still, reseeds=self.empty == "reseed")
        other = super()._epochs() if self.collision == "noise" else still
        return (swap_epochs if self._can_swap(prototypes) else other)(prototypes, cooperation, source, ranges, rng)


@documented
class MedianNeuralGas(ClusterMixin, GasFamily, MedianMap):
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

    fit_predict = MedianMap.fit_predict  # scikit-learn's drops y

    def _finish(self) -> Finish:
        return self._swapped

    def _swapped(
        self, prototypes: Median, source: Any, range_: float, rng: np.random.RandomState
    ) -> tuple[Median, float | None]:
        """Swap prototypes for other objects as long as that helps."""
        if self._can_swap(prototypes):
            while prototypes.n_open != 0:
                prototypes = prototypes.swapped()
        return prototypes, None


@documented
class MedianSOM(LatticeFamily, MedianMap):
    r"""Self-organizing map of dissimilarities with objects as prototypes.

    Each node of the lattice is the object of least summed (squared) dissimilarity to the objects of its neighborhood.
    Works for any dissimilarity, and at a fixed range the cost never rises.

    Parameters
    ----------
    lattice : "auto", tuple (rows, columns), int or Lattice, default="auto"
        ``"auto"`` is a rectangle of about :math:`5\sqrt{n}` nodes for n different objects. See
        :mod:`protolearn.core.lattices` for hyperbolic and other lattices.
    topology : {"rectangular", "hexagonal"}, default="rectangular"
        What sheet ``"auto"`` and a tuple make: one in which nodes have four neighbors, or six.
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
        topology: str = "rectangular",
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
        self.topology = topology
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
