"""The self-organizing map: prototypes on a lattice."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from protolearn.core.learning import Patches
from protolearn.core.map import LatticeFamily
from protolearn.core.neighborhoods import OnLattice
from protolearn.maps._base import Online, PrototypeMap

__all__ = ["SOM"]


class SOM(LatticeFamily, PrototypeMap):
    r"""Self-organizing map: prototypes on a lattice, where neighboring nodes represent similar samples.

    Minimizes the following cost function while the neighborhood range :math:`\lambda` decreases:

    .. math:: E_\lambda(W) = \tfrac12 \sum_j u_j \sum_i h_\lambda(g(s_j, i))\, \|x_j - w_i\|^2,

    where :math:`g` is the distance on the lattice, :math:`h_\lambda(g) \propto e^{-g^2/2\lambda^2}`, normalized to sum
    one over i, is the neighborhood function, and :math:`s_j` is the winner of sample j, the node for which the inner
    sum is smallest. Use the map to visualize data by component planes, the U-matrix, or a map of the classes (see
    :mod:`protolearn.plotting`).

    Parameters
    ----------
    lattice : "auto", tuple (rows, columns), int or Lattice, default="auto"
        Arrangement of the nodes. ``"auto"`` is a rectangle of about :math:`5\sqrt{n}` nodes for n distinct samples,
        with sides proportional to the two largest standard deviations. An int is the length of a chain. See
        :mod:`protolearn.core.lattices` for toroidal, hyperbolic and user-given lattices.
    topology : {"rectangular", "hexagonal"}, default="rectangular"
        Type of lattice for ``"auto"`` and tuples: nodes have four neighbors, or six.
    metric : "euclidean" or learned metric, default="euclidean"
        Distance between samples and prototypes: Euclidean, or a learned metric with a single matrix for all samples, in
        any form that `protolearn.as_metric` accepts, such as the ``metric_`` of a fitted `GMLVQ`.
    missing : {"error", "partial"}, default="error"
        Treatment of NaN in ``X``. ``"error"`` raises an error. ``"partial"`` leaves missing values out: a squared
        distance is the sum over the known features of the sample, multiplied by n_features and divided by the number of
        known features, and prototypes are means of known values.
    init : {"pca", "center", "k-means++", "random"} or array of shape (n_nodes, n_features), default="pca"
        Initial prototypes: ``"pca"`` places the lattice in the plane of the first two principal components,
        ``"center"`` places prototypes close to the mean, ``"k-means++"`` chooses samples far from each other,
        ``"random"`` chooses samples at random. An array gives the positions.
    n_init : int, default=1
        Number of runs from different initial prototypes, unless ``init`` is an array; the result with the lowest cost
        is kept. With ``init="pca"`` and the batch algorithm, all runs are identical.
    max_iter : int, default=100
        Number of epochs, over which the neighborhood range decreases.
    neighborhood : OnLattice, optional
        Which prototypes a sample updates: those near its winner on the lattice. `protolearn.maps.OnLattice` has the
        range in the first and the last epoch and how it falls, the neighborhood function, and the rule for the winner.
    online : Online, optional
        Learn from single samples in random order instead of batches, see `protolearn.maps.Online`: the learning rate,
        where magnification control evaluates the density, and the lifetime of edges.
    label_weight : float, default=0.0
        Weight of the labels ``y`` in the distance, from 0 (labels are ignored) to 1 (only labels count). At 0.5, labels
        and features have equal weight, each normalized by its total variance.
    magnification : float or "optimal", default=0.0
        Exponent c of magnification control: the weight of a sample is multiplied by its density to the power c; see
        `NeuralGas`.
    patches : Patches, optional
        Train on one patch of the samples after another instead of all at once, see `protolearn.maps.Patches`: their
        size, how earlier patches are weighted, and independent runs.
    n_jobs : int, optional
        Number of threads; None means the number of threads of the BLAS library.
    random_state : int, RandomState instance or None, default=None
        Seed of random initialization, the order of the patches and online learning. An int makes results reproducible.
    verbose : int, default=0
        1 shows a progress bar (or lines of text, if the output is not a terminal), 2 prints one line for every epoch.

    Attributes
    ----------
    lattice_ : Lattice
        The lattice.
    prototypes_ : ndarray of shape (n_nodes, n_features)
        Positions of the prototypes, in row-major order of the lattice.
    labels_ : ndarray of shape (n_samples,)
        Index of the nearest prototype of each training sample (of the last patch, if patches were given one by one).
    multiplicities_ : ndarray of shape (n_nodes,)
        Total weight of the samples in the receptive field of each prototype.
    graph_ : sparse array of shape (n_nodes, n_nodes)
        Topology representing network. The weight of an edge is the total weight of the samples whose two nearest
        prototypes it connects.
    cost_history_, range_history_ : list of float
        Cost at the start of every epoch, and the neighborhood range of the epoch.
    n_iter_ : int
        Number of epochs run (on the last patch, if there are patches).
    label_distribution_, prototype_labels_, classes_ : ndarray
        Class shares of each prototype, its majority class, and the classes; present if ``label_weight > 0``.
    magnification_ : float
        Exponent used; present if magnification control is enabled.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if ``X`` had names.

    See Also
    --------
    NeuralGas : Lower quantization error, without a lattice.

    References
    ----------
    Kohonen (2001). Self-organizing maps. Springer.

    Heskes (1999). Energy functions for self-organizing maps. In: Kohonen maps, Elsevier.

    Hasenfuss (2009). Topographic mapping of dissimilarity datasets. PhD thesis, TU Clausthal.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> from protolearn import SOM
    >>> X, y = load_wine(return_X_y=True)
    >>> som = SOM(lattice=(5, 8)).fit(scale(X))
    >>> som.lattice_
    Lattice(rectangular, 5 x 8)
    >>> som.predict(scale(X)[:3]).shape
    (3,)
    >>> SOM(lattice=(7, 10), topology="hexagonal").fit(scale(X)).lattice_
    Lattice(hexagonal, 7 x 10)

    With ``missing="partial"``, missing values are left out:

    >>> partial = SOM(lattice=(5, 8), missing="partial").fit(scale(X))
    >>> X[0, 2] = float("nan")
    >>> partial.predict(scale(X)[:1]).shape
    (1,)
    """

    def __init__(
        self,
        lattice: Any = "auto",
        *,
        topology: str = "rectangular",
        metric: Any = "euclidean",
        missing: str = "error",
        init: str | ArrayLike = "pca",
        n_init: int = 1,
        max_iter: int = 100,
        neighborhood: OnLattice | None = None,
        online: Online | None = None,
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
        self.missing = missing
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.neighborhood = neighborhood
        self.online = online
        self.label_weight = label_weight
        self.magnification = magnification
        self.patches = patches
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
