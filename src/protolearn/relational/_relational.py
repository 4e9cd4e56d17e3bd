"""k-means, neural gas and self-organizing maps whose prototypes are combinations of objects."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

from numpy.typing import ArrayLike
from sklearn.base import ClusterMixin

from protolearn.core.learning import Epochs, Patches
from protolearn.core.loop import batch
from protolearn.core.map import GasFamily, KMeansFamily, LatticeFamily
from protolearn.core.neighborhoods import OnLattice, Ranks, Winner
from protolearn.core.parameters import Constraint, array, flag, integer, none, number, option
from protolearn.relational._base import DissimilarityMap
from protolearn.relational._docs import documented
from protolearn.relational._epochs import KeepingBest, until_still
from protolearn.relational._kinds import Combinations
from protolearn.relational._objects import FittedObjects

__all__ = ["RelationalKMeans", "RelationalMap", "RelationalNeuralGas", "RelationalSOM"]


A_SHARE = Constraint(number(0, 1, open_low=True, open_high=True).allows, ("a share below 1",))


class RelationalMap(DissimilarityMap):
    """Base class of maps whose prototypes are combinations of objects."""

    spread: float | str | None
    keep_best: bool
    sparsity: int | None
    n_landmarks: int | None
    n_approximation: float
    _constraints: ClassVar[dict[str, Constraint]] = {
        "init": option("k-means++", "random", "center", "pca") | array("an array of shape (n_prototypes, n_features)"),
        "spread": number(0) | option("implicit") | none,
        "keep_best": flag,
        "sparsity": integer(1) | none,
        "n_landmarks": integer(1) | none,
        "n_approximation": integer(1)
        | Constraint(number(0, 1, open_low=True, open_high=True).allows, ("a share below 1",)),
    }

    def _kind(self) -> Combinations:
        return Combinations(
            **self._related(),
            spread=self.spread,
            sparsity=self.sparsity,
            n_landmarks=self.n_landmarks,
            n_approximation=self.n_approximation,
        )

    def _epochs(self) -> Epochs:
        return KeepingBest(self._plain_epochs()) if self.keep_best else self._plain_epochs()

    def _plain_epochs(self) -> Epochs:
        """Return how epochs are run, whichever of them is kept."""
        return batch

    def _publish(self, fitted: FittedObjects) -> None:
        super()._publish(fitted)
        self.coefficients_ = fitted.coefficients
        self.self_terms_ = fitted.self_terms


@documented
class RelationalKMeans(ClusterMixin, KMeansFamily, RelationalMap):
    r"""k-means for dissimilarities, with combinations of objects as prototypes.

    Prototypes are combinations of objects, :math:`w_i = \sum_j \alpha_{ij} v_j` with
    :math:`\sum_j \alpha_{ij} = 1`, and their squared distance to an object is

    .. math:: d(v_j, w_i) = [S\alpha_i]_j - \tfrac12 \alpha_i^\top S \alpha_i

    where :math:`S` is the matrix of squared dissimilarities. If :math:`S` is Euclidean, the result is that of `KMeans`
    on the (unknown) vectors.

    Parameters
    ----------
    n_prototypes : int, default=8
        Number of prototypes.
    %(dissimilarities)s
    %(relational)s
    init : {"k-means++", "random", "center", "pca"} or array of shape (n_prototypes, n_objects), default="k-means++"
        Initial prototypes: ``"k-means++"`` chooses objects far from each other, ``"random"`` chooses objects at random,
        ``"center"`` uses random combinations near the center, ``"pca"`` a grid in the plane of classical scaling. An
        array gives the coefficients, which must add up to 1 for each prototype.
    n_init : int, default=1
        Number of runs from different initial prototypes, unless ``init`` is an array; the result with the lowest cost
        is kept.
    max_iter : int, default=300
        Maximum number of epochs. Training stops as soon as no object changes its prototype; otherwise, a
        ``ConvergenceWarning`` is issued.
    neighborhood : Winner, optional
        Which prototypes a sample updates: its winner only. `protolearn.maps.Winner` says what happens to prototypes
        that win no sample.
    %(labels)s
    %(patches)s
    %(running)s

    Attributes
    ----------
    %(coefficients)s
    %(attributes)s

    See Also
    --------
    RelationalNeuralGas : The same cost function at the end of annealing, with less dependence on the initialization.
    MedianKMeans : Single objects as prototypes.

    References
    ----------
    Hathaway, Bezdek (1994). NERF c-means: non-Euclidean relational fuzzy clustering. Pattern Recognition.

    Hammer, Hasenfuss (2010). Topographic mapping of large dissimilarity data sets. Neural Computation.

    Examples
    --------
    >>> from protolearn import RelationalKMeans
    >>> words = ["kitten", "kitchen", "mitten", "castle", "cattle", "rattle"]
    >>> kmeans = RelationalKMeans(2, metric="edit", random_state=0).fit(words)
    >>> same = kmeans.labels_ == kmeans.labels_[0]
    >>> same.tolist()
    [True, True, True, False, False, False]
    >>> int(kmeans.predict(["bitten"])[0]) == int(kmeans.labels_[0])
    True
    """

    def __init__(
        self,
        n_prototypes: int = 8,
        *,
        metric: Any = "precomputed",
        metric_params: dict[str, Any] | None = None,
        squared: bool = False,
        symmetrize: str = "raise",
        spread: float | str | None = None,
        keep_best: bool = False,
        sparsity: int | None = None,
        n_landmarks: int | None = None,
        init: str | ArrayLike = "k-means++",
        n_approximation: float = 10,
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
        self.spread = spread
        self.keep_best = keep_best
        self.sparsity = sparsity
        self.n_landmarks = n_landmarks
        self.init = init
        self.n_approximation = n_approximation
        self.n_init = n_init
        self.max_iter = max_iter
        self.neighborhood = neighborhood
        self.label_weight = label_weight
        self.magnification = magnification
        self.patches = patches
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    fit_predict = RelationalMap.fit_predict  # scikit-learn's drops y

    def _plain_epochs(self) -> Epochs:
        return partial(until_still, reseeds=self._group("neighborhood").empty == "reseed")


@documented
class RelationalNeuralGas(ClusterMixin, GasFamily, RelationalMap):
    r"""Neural gas for dissimilarities, with combinations of objects as prototypes.

    Prototypes are combinations of objects, :math:`w_i = \sum_j \alpha_{ij} v_j` with
    :math:`\sum_j \alpha_{ij} = 1`, and their squared distance to an object is

    .. math:: d(v_j, w_i) = [S\alpha_i]_j - \tfrac12 \alpha_i^\top S \alpha_i

    where :math:`S` is the matrix of squared dissimilarities. If :math:`S` is Euclidean, the result is that of
    `NeuralGas` on the (unknown) vectors. The same formulas apply to other dissimilarities, such as edit distances;
    ``spread="implicit"`` then guarantees that the cost decreases.

    Parameters
    ----------
    n_prototypes : int, default=8
        Number of prototypes.
    %(dissimilarities)s
    %(relational)s
    init : {"k-means++", "center", "random", "pca"} or array of shape (n_prototypes, n_objects), default="k-means++"
        Initial prototypes: ``"k-means++"`` chooses objects far from each other, ``"center"`` uses random combinations
        near the center, ``"random"`` chooses objects at random, ``"pca"`` uses a grid in the plane of classical
        scaling. An array gives the coefficients, which must add up to 1 for each prototype.
    %(gas)s
    %(labels)s
    %(patches)s
    %(running)s

    Attributes
    ----------
    %(coefficients)s
    %(attributes)s

    See Also
    --------
    RelationalSOM : Prototypes on a fixed lattice, for visualization.
    MedianNeuralGas : Single objects as prototypes.
    PrototypeClassifier : Turns a map into a classifier.

    References
    ----------
    Hammer, Hasenfuss (2010). Topographic mapping of large dissimilarity data sets. Neural Computation.

    Hasenfuss (2009). Topographic mapping of dissimilarity datasets. PhD thesis, TU Clausthal.

    Examples
    --------
    >>> from protolearn import RelationalNeuralGas
    >>> from protolearn.dissimilarities import pairwise
    >>> words = ["kitten", "kitchen", "mitten", "castle", "cattle", "rattle"]
    >>> gas = RelationalNeuralGas(2, random_state=0).fit(pairwise(words, metric="edit"))
    >>> gas.coefficients_.shape
    (2, 6)
    >>> [words[j] for j in gas.prototype_examples_[gas.labels_[3], :2]]
    ['cattle', 'castle']
    """

    def __init__(
        self,
        n_prototypes: int = 8,
        *,
        metric: Any = "precomputed",
        metric_params: dict[str, Any] | None = None,
        squared: bool = False,
        symmetrize: str = "raise",
        spread: float | str | None = None,
        keep_best: bool = False,
        sparsity: int | None = None,
        n_landmarks: int | None = None,
        init: str | ArrayLike = "k-means++",
        n_approximation: float = 10,
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
        self.spread = spread
        self.keep_best = keep_best
        self.sparsity = sparsity
        self.n_landmarks = n_landmarks
        self.init = init
        self.n_approximation = n_approximation
        self.n_init = n_init
        self.max_iter = max_iter
        self.neighborhood = neighborhood
        self.label_weight = label_weight
        self.magnification = magnification
        self.patches = patches
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    fit_predict = RelationalMap.fit_predict  # scikit-learn's drops y


@documented
class RelationalSOM(LatticeFamily, RelationalMap):
    r"""Self-organizing map for dissimilarities, with combinations of objects as prototypes.

    Prototypes are combinations of objects, :math:`w_i = \sum_j \alpha_{ij} v_j` with
    :math:`\sum_j \alpha_{ij} = 1`, one for each node of the lattice, and their squared distance to an object is

    .. math:: d(v_j, w_i) = [S\alpha_i]_j - \tfrac12 \alpha_i^\top S \alpha_i

    where :math:`S` is the matrix of squared dissimilarities. If :math:`S` is Euclidean, the result is that of `SOM` on
    the (unknown) vectors.

    Parameters
    ----------
    lattice : "auto", tuple (rows, columns), int or Lattice, default="auto"
        Arrangement of the nodes. ``"auto"`` is a rectangle of about :math:`5\sqrt{n}` nodes for n different objects,
        with sides proportional to the two largest standard deviations of classical scaling. See
        :mod:`protolearn.core.lattices` for hyperbolic and other lattices.
    topology : {"rectangular", "hexagonal"}, default="rectangular"
        Type of lattice for ``"auto"`` and tuples: nodes have four neighbors, or six.
    %(dissimilarities)s
    %(relational)s
    %(winner)s
    init : {"pca", "center", "k-means++", "random"} or array of shape (n_nodes, n_objects), default="pca"
        Initial prototypes: ``"pca"`` places the lattice in the plane of classical scaling; for the other values see
        `RelationalNeuralGas`.
    %(som)s
    %(labels)s
    %(patches)s
    %(running)s

    Attributes
    ----------
    lattice_ : Lattice
        The lattice.
    %(coefficients)s
    %(attributes)s

    See Also
    --------
    RelationalNeuralGas : Lower quantization error, without a lattice.
    MedianSOM : Single objects as prototypes.

    References
    ----------
    Hammer, Hasenfuss (2010). Topographic mapping of large dissimilarity data sets. Neural Computation.

    Hasenfuss (2009). Topographic mapping of dissimilarity datasets. PhD thesis, TU Clausthal.

    Examples
    --------
    >>> from protolearn import RelationalSOM
    >>> words = ["kitten", "kitchen", "mitten", "castle", "cattle", "rattle"]
    >>> som = RelationalSOM((1, 3), metric="edit").fit(words)
    >>> som.lattice_
    Lattice(rectangular, 1 x 3)
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
        spread: float | str | None = None,
        keep_best: bool = False,
        sparsity: int | None = None,
        n_landmarks: int | None = None,
        init: str | ArrayLike = "pca",
        n_approximation: float = 10,
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
        self.spread = spread
        self.keep_best = keep_best
        self.sparsity = sparsity
        self.n_landmarks = n_landmarks
        self.init = init
        self.n_approximation = n_approximation
        self.n_init = n_init
        self.max_iter = max_iter
        self.neighborhood = neighborhood
        self.label_weight = label_weight
        self.magnification = magnification
        self.patches = patches
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
