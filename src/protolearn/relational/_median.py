"""k-means, neural gas and self-organizing maps with single objects as prototypes (medians)."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

from numpy.typing import ArrayLike
from sklearn.base import ClusterMixin

from protolearn.core.learning import Epochs, Finish, Patches
from protolearn.core.loop import batch
from protolearn.core.map import GasFamily, KMeansFamily, LatticeFamily
from protolearn.core.neighborhoods import OnLattice, Ranks, Winner
from protolearn.core.parameters import Constraint, flag, number, option
from protolearn.relational._base import DissimilarityMap
from protolearn.relational._docs import documented
from protolearn.relational._epochs import noisy, swap_epochs, swapped, until_still
from protolearn.relational._kinds import Exemplars
from protolearn.relational._objects import FittedObjects

__all__ = ["MedianKMeans", "MedianMap", "MedianNeuralGas", "MedianSOM"]


class MedianMap(DissimilarityMap):
    """Base class of maps whose prototypes are single objects."""

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

    @property
    def _swaps(self) -> bool:
        """Say whether swaps of prototypes are requested and known to lower the cost."""
        return self.swap and self.collision == "exclude" and self.label_weight == 0

    def _publish(self, fitted: FittedObjects) -> None:
        super()._publish(fitted)
        self.prototype_indices_ = fitted.support.numbers[fitted.coefficients.argmax(axis=1)]


@documented
class MedianKMeans(ClusterMixin, KMeansFamily, MedianMap):
    r"""k-means for dissimilarities with single objects as prototypes, also known as k-medoids.

    Each prototype is the object with the smallest sum of squared dissimilarities to the objects in its receptive field.
    The method works for any dissimilarity, and the cost never rises. With ``squared=True``, the dissimilarities are not
    squared before summation.

    Parameters
    ----------
    n_prototypes : int, default=8
        Number of prototypes.
    %(dissimilarities)s
    %(median)s
    swap : bool, default=True
        Whether each epoch tries to swap a prototype with every other object (FasterPAM), instead of moving all
        prototypes to the medians of their receptive fields. Swaps need ``collision="exclude"``, no labels, and all
        dissimilarities in memory.
    init : {"k-means++", "random", "pca"} or array of shape (n_prototypes,), default="k-means++"
        Initial prototypes: ``"k-means++"`` chooses objects far from each other, ``"random"`` chooses objects at random,
        ``"pca"`` chooses the objects nearest to a grid in the plane of classical scaling. An array gives the indices of
        objects.
    n_init : int, default=1
        Number of runs from different initial prototypes, unless ``init`` is an array; the result with the lowest cost
        is kept.
    max_iter : int, default=300
        Maximum number of epochs. Training stops as soon as no prototype moves; otherwise, a ``ConvergenceWarning`` is
        issued.
    neighborhood : Winner, optional
        Which prototypes a sample updates: its winner only. `protolearn.maps.Winner` says what happens to prototypes
        that win no sample.
    %(labels)s
    %(patch)s
    %(running)s

    Attributes
    ----------
    %(indices)s
    %(attributes)s

    See Also
    --------
    MedianNeuralGas : The same cost function at the end of annealing, with less dependence on the initialization.
    RelationalKMeans : Combinations of objects as prototypes, for smoother clusters.

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
        neighborhood: Winner | None = None,
        label_weight: float = 0.0,
        magnification: float | str = 0.0,
        patches: Patches | None = None,
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
        self.neighborhood = neighborhood
        self.label_weight = label_weight
        self.magnification = magnification
        self.patches = patches
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    fit_predict = MedianMap.fit_predict  # scikit-learn's drops y

    def _epochs(self) -> Epochs:
        if self.collision == "noise":
            return super()._epochs()
        still = partial(until_still, reseeds=self._group("neighborhood").empty == "reseed")
        return partial(swap_epochs, otherwise=still) if self._swaps else still


@documented
class MedianNeuralGas(ClusterMixin, GasFamily, MedianMap):
    r"""Neural gas for dissimilarities with single objects as prototypes.

    Each prototype is the object with the smallest sum of squared dissimilarities to all objects, weighted by its rank
    for each of them. As the neighborhood range decreases, the cost becomes that of k-medoids, with less dependence on
    the initialization. The method works for any dissimilarity, and at a fixed range the cost never rises.

    Parameters
    ----------
    n_prototypes : int, default=8
        Number of prototypes.
    %(dissimilarities)s
    %(median)s
    swap : bool, default=True
        Whether training ends with swaps of single prototypes with other objects, as long as a swap lowers the cost
        (FasterPAM). Swaps need ``collision="exclude"``, no labels, and all dissimilarities in memory.
    init : {"k-means++", "random", "pca"} or array of shape (n_prototypes,), default="k-means++"
        Initial prototypes: ``"k-means++"`` chooses objects far from each other, ``"random"`` chooses objects at random,
        ``"pca"`` chooses the objects nearest to a grid in the plane of classical scaling. An array gives the indices of
        objects.
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
    RelationalNeuralGas : Combinations of objects as prototypes, mostly more accurate.
    MedianSOM : Prototypes on a fixed lattice.

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
        neighborhood: Ranks | None = None,
        label_weight: float = 0.0,
        magnification: float | str = 0.0,
        patches: Patches | None = None,
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
        self.neighborhood = neighborhood
        self.label_weight = label_weight
        self.magnification = magnification
        self.patches = patches
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    fit_predict = MedianMap.fit_predict  # scikit-learn's drops y

    def _finish(self) -> Finish | None:
        return swapped if self._swaps else None


@documented
class MedianSOM(LatticeFamily, MedianMap):
    r"""Self-organizing map for dissimilarities with single objects as prototypes.

    The prototype of each node of the lattice is the object with the smallest sum of squared dissimilarities to all
    objects, weighted by the neighborhood function. The method works for any dissimilarity, and at a fixed neighborhood
    range the cost never rises.

    Parameters
    ----------
    lattice : "auto", tuple (rows, columns), int or Lattice, default="auto"
        Arrangement of the nodes. ``"auto"`` is a rectangle of about :math:`5\sqrt{n}` nodes for n different objects.
        See
        :mod:`protolearn.core.lattices` for hyperbolic and other lattices.
    topology : {"rectangular", "hexagonal"}, default="rectangular"
        Type of lattice for ``"auto"`` and tuples: nodes have four neighbors, or six.
    %(dissimilarities)s
    %(median)s
    %(winner)s
    init : {"pca", "k-means++", "random"} or array of shape (n_prototypes,), default="pca"
        Initial prototypes: ``"k-means++"`` chooses objects far from each other, ``"random"`` chooses objects at random,
        ``"pca"`` chooses the objects nearest to a grid in the plane of classical scaling. An array gives the indices of
        objects.
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
    RelationalSOM : Combinations of objects as prototypes, mostly a smoother map.

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
        max_iter: int = 100,
        neighborhood: OnLattice | None = None,
        label_weight: float = 0.0,
        magnification: float | str = 0.0,
        patches: Patches | None = None,
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
        self.max_iter = max_iter
        self.neighborhood = neighborhood
        self.label_weight = label_weight
        self.magnification = magnification
        self.patches = patches
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
