"""k-means, neural gas and self-organizing maps whose prototypes have a matrix each."""

from __future__ import annotations

from typing import Any, ClassVar

from numpy.typing import ArrayLike
from sklearn.base import ClusterMixin

from protolearn.core.initialization import n_distinct, principal_axes
from protolearn.core.lattices import Lattice, suggest_lattice
from protolearn.core.learning import Epochs, Kind
from protolearn.core.map import GasFamily, KMeansFamily, LatticeFamily
from protolearn.core.parameters import Constraint, option
from protolearn.core.schedules import Schedule
from protolearn.maps._docs import documented
from protolearn.maps._ellipsoids import SAMPLES_PER_DIRECTION
from protolearn.maps._kmeans import still_epochs
from protolearn.maps._shaped import ShapedMap

__all__ = ["MatrixKMeans", "MatrixNeuralGas", "MatrixSOM"]

LEAST_NODES = 12  # of a lattice that is not given, if there are four samples for each


class _MatrixMap(ShapedMap):
    """What the three have in common: which distance the matrices make."""

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
    r"""k-means with a matrix for each prototype: clusters are ellipsoids, of any direction and elongation.

    Minimizes :math:`E = \tfrac12 \sum_j u_j \min_i (x_j - w_i)^\top \Lambda_i (x_j - w_i)` with
    :math:`\det \Lambda_i = 1` by turns in the receptive fields, the prototypes (means) and the matrices (inverse
    covariances of the fields, normalized).

    Parameters
    ----------
    %(size)s
    %(shape)s
    init : {"auto", "euclidean", "k-means++", "random", "center", "pca"} or array, default="auto"
        Where prototypes start: at the result of k-means, at spread or random samples, around the mean, on the principal
        plane, or given. ``"auto"`` is the first, and spread and random samples in turns from the second of ``n_init``
        starts on.
    n_init : int, default=1
        Number of starts, unless ``init`` is an array; the result with the lowest cost is kept.
    max_iter : int, default=300
        Largest number of epochs. If these are too few, there is a ``ConvergenceWarning``.
    tol : float, default=1e-4
        Stop when the squared movement of all prototypes is below ``tol`` times the average variance of a feature.
    empty : {"keep", "reseed"}, default="keep"
        A prototype that wins no sample stays as it is, or moves to the sample farthest from its prototype.
    schedule : {"geometric", "inverse", "constant"} or callable, default="geometric"
        Of no effect, since the range is zero.
    %(patches)s

    Attributes
    ----------
    %(attributes)s
    %(swaps)s
    %(labels)s

    See Also
    --------
    MatrixNeuralGas : Less dependent on the start.

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
        tol: float = 0.0001,
        empty: str = "keep",
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
        self.tol = tol
        self.empty = empty
        self.schedule = schedule
        self.label_weight = label_weight
        self.magnification = magnification
        self.patch_size = patch_size
        self.patch_runs = patch_runs
        self.decay = decay
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    fit_predict = ShapedMap.fit_predict  # scikit-learn's drops y

    def _epochs(self) -> Epochs:
        return still_epochs(self.tol, self.empty)


@documented
class MatrixNeuralGas(ClusterMixin, GasFamily, _MatrixMap):
    r"""Neural gas with a matrix for each prototype: it finds position, direction and elongation of clusters.

    Minimizes, while the range :math:`\lambda` falls,

    .. math:: E_\lambda = \tfrac12 \sum_j u_j \sum_i e^{-k_{ij}/\lambda}\, (x_j - w_i)^\top \Lambda_i (x_j - w_i)

    with :math:`\det \Lambda_i = 1`, where :math:`k_{ij}` is the rank of prototype i for sample j, each prototype
    measuring with its own matrix. The best matrix is the inverse of the weighted covariance, normalized, so every
    prototype carries the principal components of its region along. With ``n_components`` it knows only a few of them,
    which makes it fit for many features.

    Parameters
    ----------
    %(size)s
    %(shape)s
    init : {"auto", "euclidean", "k-means++", "center", "random", "pca"} or array, default="auto"
        Where prototypes start: at the result of neural gas, spread samples, small values around the mean, random
        samples, on the principal plane, or given. ``"auto"`` is the first, and spread and random samples in turns
        from the second of ``n_init`` starts on.
    n_init : int, default=1
        Number of starts, unless ``init`` is an array; the result with the lowest cost is kept.
    max_iter : int, default=100
        Number of epochs over which the range falls.
    range_start : float or "auto", default="auto"
        First range; ``"auto"`` is half the number of prototypes, which makes up for any start, 2 if prototypes start
        spread over the samples, and 0.5 if they start from neural gas.
    range_end : float, default=0.01
        Last range.
    schedule : {"geometric", "inverse", "constant"} or callable, default="geometric"
        How the range falls; a callable maps (start, end, n_steps) to the values.
    %(patches)s

    Attributes
    ----------
    %(attributes)s
    %(swaps)s
    %(labels)s

    See Also
    --------
    NGPCA : Few directions for each prototype, learned from one sample at a time.
    PrototypeClassifier : Turns a map into a classifier.
    OutlierDetector : Turns a map into a detector of outliers.

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

    fit_predict = ShapedMap.fit_predict  # scikit-learn's drops y

    def _first_range(self, kind: Kind) -> float:
        return max(0.5, self.range_end) if kind.starts_by("euclidean") else super()._first_range(kind)


@documented
class MatrixSOM(LatticeFamily, _MatrixMap):
    r"""Self-organizing map with a matrix for each prototype.

    Minimizes, while the range :math:`\lambda` falls,

    .. math:: E_\lambda = \tfrac12 \sum_j u_j \sum_i h_\lambda(g(s_j, i))\, (x_j - w_i)^\top \Lambda_i (x_j - w_i)

    with :math:`\det \Lambda_i = 1`; :math:`h` and the winner :math:`s_j` are those of `SOM`, with these distances.

    Parameters
    ----------
    lattice : "auto", tuple (rows, columns), int or Lattice, default="auto"
        The lattice, as in `SOM`; ``"auto"`` leaves each prototype four samples or more for each of its directions,
        but has about a dozen nodes at least, if there are four samples for each.
    topology : {"rectangular", "hexagonal"}, default="rectangular"
        What sheet ``"auto"`` and a tuple make: one in which nodes have four neighbors, or six.
    %(shape)s
    winner : {"heskes", "nearest", "heskes-printed"}, default="heskes"
        ``"heskes"`` is the winner of the cost above, so that training descends it; ``"nearest"`` is Kohonen's rule, the
        nearest prototype; for ``"heskes-printed"`` see `SOM`.
    kernel : {"gaussian", "exponential"}, default="gaussian"
        Neighborhood function, :math:`e^{-g^2/2\lambda^2}` or :math:`e^{-g/\lambda}`.
    init : {"auto", "euclidean", "pca", "center", "k-means++", "random"} or array, default="auto"
        Where prototypes start: ``"euclidean"`` at the result of a self-organizing map, ``"pca"`` with the lattice laid
        over the principal plane. ``"auto"`` is the first, and spread and random samples in turns from the
        second of ``n_init`` starts on.
    n_init : int, default=1
        Number of starts, unless ``init`` is an array; the result with the lowest cost is kept.
    max_iter : int, default=100
        Number of epochs over which the range falls.
    range_start : float or "auto", default="auto"
        First range; ``"auto"`` is a twelfth of the largest distance on the lattice if the start is already ordered
        (``"euclidean"`` and ``"pca"``) on a flat lattice, else a quarter. In all patches but the first it is
        ``range_end``.
    range_end : float, default=0.2
        Last range. Both are in units of the shortest distance between two nodes, 1 on most lattices. Larger values
        blend the shapes of neighbors.
    schedule : {"geometric", "inverse", "constant"} or callable, default="geometric"
        How the range falls; a callable maps (start, end, n_steps) to the values.
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
    SOM : The same with Euclidean distances.

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
        range_end: float = 0.2,
        winner: str = "heskes",
        kernel: str = "gaussian",
        max_iter: int = 100,
        range_start: float | str = "auto",
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
        self.n_components = n_components
        self.normalization = normalization
        self.scope = scope
        self.selection = selection
        self.regularization = regularization
        self.epsilon = epsilon
        self.metric_init = metric_init
        self.init = init
        self.n_init = n_init
        self.range_end = range_end
        self.winner = winner
        self.kernel = kernel
        self.max_iter = max_iter
        self.range_start = range_start
        self.schedule = schedule
        self.label_weight = label_weight
        self.magnification = magnification
        self.patch_size = patch_size
        self.patch_runs = patch_runs
        self.decay = decay
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _suggested(self, source: Any, kind: Any) -> Lattice:
        n_samples = n_distinct(source)
        enough = SAMPLES_PER_DIRECTION * kind.rule(source.n_features).n_components
        per_node = min(enough, max(SAMPLES_PER_DIRECTION, n_samples // LEAST_NODES))
        return suggest_lattice(n_samples, principal_axes(source, 2)[1], per_node)
