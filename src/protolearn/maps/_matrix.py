"""k-means, neural gas and self-organizing maps with an adaptive matrix for each prototype."""

from __future__ import annotations

from typing import Any, ClassVar

from numpy.typing import ArrayLike
from sklearn.base import ClusterMixin

from protolearn.core.learning import Epochs, Patches
from protolearn.core.map import GasFamily, KMeansFamily, LatticeFamily
from protolearn.core.neighborhoods import OnLattice, Ranks, Winner
from protolearn.core.parameters import Constraint, option
from protolearn.maps._docs import documented
from protolearn.maps._kmeans import still_epochs
from protolearn.maps._shaped import ShapedMap

__all__ = ["MatrixKMeans", "MatrixNeuralGas", "MatrixSOM"]


class _MatrixMap(ShapedMap):
    """Base class of the three maps: the distance defined by the matrices."""

    normalization: str
    _constraints: ClassVar[dict[str, Constraint]] = {"normalization": option("det", "logdet", "none")}

    @property
    def _measure(self) -> str:
        return self.normalization

    def _publish(self, fitted: Any) -> None:
        super()._publish(fitted)
        self.__dict__.pop("swap_condition_", None)
        if fitted.shapes.swap_condition is not None and fitted.rule.measure != "none":
            self.swap_condition_ = fitted.shapes.swap_condition


@documented
class MatrixKMeans(ClusterMixin, KMeansFamily, _MatrixMap):
    r"""k-means with an adaptive matrix for each prototype, which finds ellipsoidal clusters.

    Minimizes :math:`E = \tfrac12 \sum_j u_j \min_i (x_j - w_i)^\top \Lambda_i (x_j - w_i)` subject to :math:`\det
    \Lambda_i = 1` by alternating between the receptive fields, the prototypes (means of the receptive fields) and the
    matrices (normalized inverse covariances of the receptive fields).

    Parameters
    ----------
    %(size)s
    %(shape)s
    init : {"auto", "euclidean", "k-means++", "random", "center", "pca"} or array, default="auto"
        Initial prototypes: ``"euclidean"`` is the result of `KMeans`; for the other values see there. ``"auto"`` uses
        ``"euclidean"`` for the first of ``n_init`` runs, and ``"k-means++"`` and ``"random"`` alternately for the
        others.
    n_init : int, default=1
        Number of runs from different initial prototypes, unless ``init`` is an array; the result with the lowest cost
        is kept.
    max_iter : int, default=300
        Maximum number of epochs. If training has not converged by then, a ``ConvergenceWarning`` is issued.
    neighborhood : Winner, optional
        Which prototypes a sample updates: its winner only. `protolearn.maps.Winner` says what happens to prototypes
        that win no sample.
    tol : float, default=1e-4
        Training stops when the squared movement of all prototypes in one epoch is below ``tol`` times the mean variance
        of the features.
    %(patches)s

    Attributes
    ----------
    %(attributes)s
    %(swaps)s
    %(labels)s

    See Also
    --------
    MatrixNeuralGas : Less dependent on the initialization.

    References
    ----------
    Arnonkijpanich (2010). Matrix learning for topographic maps. PhD thesis, TU Clausthal.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protolearn import MatrixKMeans
    >>> X, y = load_iris(return_X_y=True)
    >>> kmeans = MatrixKMeans(3, n_init=10, random_state=0).fit(X)
    >>> sorted(kmeans.multiplicities_.astype(int).tolist())
    [49, 50, 51]
    """

    def __init__(
        self,
        n_prototypes: int | str = "auto",
        *,
        n_components: int | None = None,
        normalization: str = "det",
        scope: str = "local",
        selection: str = "top",
        regularization: str = "prior",
        epsilon: float = 1e-06,
        metric_init: str = "identity",
        init: str | ArrayLike = "auto",
        n_init: int = 1,
        max_iter: int = 300,
        neighborhood: Winner | None = None,
        tol: float = 0.0001,
        label_weight: float = 0.0,
        magnification: float | str = 0.0,
        patches: Patches | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_prototypes = n_prototypes
        self.n_components = n_components
        self.normalization = normalization
        self.scope = scope
        self.selection = selection
        self.regularization = regularization
        self.epsilon = epsilon
        self.metric_init = metric_init
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.neighborhood = neighborhood
        self.tol = tol
        self.label_weight = label_weight
        self.magnification = magnification
        self.patches = patches
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    fit_predict = ShapedMap.fit_predict  # scikit-learn's drops y

    def _epochs(self) -> Epochs:
        return still_epochs(self.tol, self._group("neighborhood").empty)


@documented
class MatrixNeuralGas(ClusterMixin, GasFamily, _MatrixMap):
    r"""Neural gas with an adaptive matrix for each prototype, which finds ellipsoidal clusters.

    Minimizes the following cost function while the neighborhood range :math:`\lambda` decreases:

    .. math:: E_\lambda = \tfrac12 \sum_j u_j \sum_i e^{-k_{ij}/\lambda}\, (x_j - w_i)^\top \Lambda_i (x_j - w_i)

    subject to :math:`\det \Lambda_i = 1`, where :math:`k_{ij}` is the rank of prototype i for sample j. The distance to
    each prototype is measured by its own matrix. The optimal matrix is the normalized inverse of the weighted
    covariance, so every prototype provides the principal components of its region. With ``n_components``, only the
    leading ones are learned, which makes the method applicable to many features.

    Parameters
    ----------
    %(size)s
    %(shape)s
    init : {"auto", "euclidean", "k-means++", "center", "random", "pca"} or array, default="auto"
        Initial prototypes: ``"euclidean"`` is the result of `NeuralGas`; for the other values see there. ``"auto"``
        uses ``"euclidean"`` for the first of ``n_init`` runs, and ``"k-means++"`` and ``"random"`` alternately for the
        others.
    n_init : int, default=1
        Number of runs from different initial prototypes, unless ``init`` is an array; the result with the lowest cost
        is kept.
    max_iter : int, default=100
        Number of epochs, over which the neighborhood range decreases.
    neighborhood : Ranks, optional
        Which prototypes a sample updates: all, by rank. `protolearn.maps.Ranks` has the range of ranks in the first and
        the last epoch, and how it falls.
    %(patches)s

    Attributes
    ----------
    %(attributes)s
    %(swaps)s
    %(labels)s

    See Also
    --------
    NGPCA : A few directions for each prototype, also learned online.
    PrototypeClassifier : Turns a map into a classifier.
    OutlierDetector : Turns a map into an outlier detector.

    References
    ----------
    Arnonkijpanich, Hasenfuss, Hammer (2011). Local matrix adaptation in topographic neural maps. Neurocomputing.

    Arnonkijpanich (2010). Matrix learning for topographic maps. PhD thesis, TU Clausthal.

    Examples
    --------
    >>> from protolearn import MatrixNeuralGas
    >>> from protolearn.datasets import make_cigars
    >>> X, y = make_cigars(random_state=0)
    >>> gas = MatrixNeuralGas(2, random_state=0).fit(X)
    >>> gas.variances_.shape, gas.components_.shape
    ((2, 2), (2, 2, 2))
    """

    def __init__(
        self,
        n_prototypes: int | str = "auto",
        *,
        n_components: int | None = None,
        normalization: str = "det",
        scope: str = "local",
        selection: str = "top",
        regularization: str = "prior",
        epsilon: float = 1e-06,
        metric_init: str = "identity",
        init: str | ArrayLike = "auto",
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
        self.n_components = n_components
        self.normalization = normalization
        self.scope = scope
        self.selection = selection
        self.regularization = regularization
        self.epsilon = epsilon
        self.metric_init = metric_init
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

    fit_predict = ShapedMap.fit_predict  # scikit-learn's drops y


@documented
class MatrixSOM(LatticeFamily, _MatrixMap):
    r"""Self-organizing map with an adaptive matrix for each prototype.

    Minimizes the following cost function while the neighborhood range :math:`\lambda` decreases:

    .. math:: E_\lambda = \tfrac12 \sum_j u_j \sum_i h_\lambda(g(s_j, i))\, (x_j - w_i)^\top \Lambda_i (x_j - w_i)

    subject to :math:`\det \Lambda_i = 1`. The neighborhood function :math:`h` and the winner :math:`s_j` are defined as
    in `SOM`, with these distances.

    Parameters
    ----------
    lattice : "auto", tuple (rows, columns), int or Lattice, default="auto"
        Arrangement of the nodes, as in `SOM`. ``"auto"`` chooses the size such that there are at least four samples for
        each direction of each prototype, but about a dozen nodes at least, if there are four samples for each node.
    topology : {"rectangular", "hexagonal"}, default="rectangular"
        Type of lattice for ``"auto"`` and tuples: nodes have four neighbors, or six.
    %(shape)s
    init : {"auto", "euclidean", "pca", "center", "k-means++", "random"} or array, default="auto"
        Initial prototypes: ``"euclidean"`` is the result of `SOM`; for the other values see there. ``"auto"`` uses
        ``"euclidean"`` for the first of ``n_init`` runs, and ``"k-means++"`` and ``"random"`` alternately for the
        others.
    n_init : int, default=1
        Number of runs from different initial prototypes, unless ``init`` is an array; the result with the lowest cost
        is kept.
    max_iter : int, default=100
        Number of epochs, over which the neighborhood range decreases.
    neighborhood : OnLattice, optional
        Which prototypes a sample updates: those near its winner on the lattice. `protolearn.maps.OnLattice` has the
        range in the first and the last epoch and how it falls, the neighborhood function, and the rule for the winner.
    %(patches)s

    Attributes
    ----------
    lattice_ : Lattice
        The lattice.
    %(attributes)s
    %(swaps)s
    %(labels)s

    See Also
    --------
    SOM : Self-organizing map with Euclidean distances.

    References
    ----------
    Arnonkijpanich (2010). Matrix learning for topographic maps. PhD thesis, TU Clausthal.

    Examples
    --------
    >>> from protolearn import MatrixSOM
    >>> from protolearn.datasets import make_cigars
    >>> X, y = make_cigars(random_state=0)
    >>> som = MatrixSOM((1, 4)).fit(X)
    >>> som.lattice_
    Lattice(rectangular, 1 x 4)
    """

    def __init__(
        self,
        lattice: Any = "auto",
        *,
        topology: str = "rectangular",
        n_components: int | None = None,
        normalization: str = "det",
        scope: str = "local",
        selection: str = "top",
        regularization: str = "prior",
        epsilon: float = 1e-06,
        metric_init: str = "identity",
        init: str | ArrayLike = "auto",
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
        self.n_components = n_components
        self.normalization = normalization
        self.scope = scope
        self.selection = selection
        self.regularization = regularization
        self.epsilon = epsilon
        self.metric_init = metric_init
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
