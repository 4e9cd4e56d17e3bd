"""The self-organizing map: prototypes on a lattice."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from protolearn.core.map import LatticeFamily
from protolearn.core.schedules import Schedule
from protolearn.maps._base import PrototypeMap

__all__ = ["SOM"]


class SOM(LatticeFamily, PrototypeMap):
    r"""Self-organizing map: prototypes on a lattice, so that neighbors on the lattice are alike.

    Minimizes, while the range :math:`\lambda` falls,

    .. math:: E_\lambda(W) = \tfrac12 \sum_j u_j \sum_i h_\lambda(g(s_j, i))\, \|x_j - w_i\|^2,

    where :math:`g` is the distance on the lattice, :math:`h_\lambda(g) \propto e^{-g^2/2\lambda^2}` with sum one over
    i, and :math:`s_j` the winner of sample j, the node for which the inner sum is smallest. Use it for a picture of
    the data: component planes, the U-matrix, a map of the classes (see :mod:`protolearn.plotting`).

    Parameters
    ----------
    lattice : "auto", tuple (rows, columns), int or Lattice, default="auto"
        ``"auto"`` is a rectangle of about :math:`5\sqrt{n}` nodes for n distinct samples, with sides in proportion to
        the two largest standard deviations. An int is a chain. See :mod:`protolearn.core.lattices` for toroidal,
        hyperbolic and user-given lattices.
    topology : {"rectangular", "hexagonal"}, default="rectangular"
        What sheet ``"auto"`` and a tuple make: one in which nodes have four neighbors, or six.
    metric : "euclidean" or learned metric, default="euclidean"
        Distance between samples and prototypes: Euclidean, or one that was learned, with one matrix for all samples. It
        is whatever `protolearn.as_metric` takes, such as the ``metric_`` of a fitted `GMLVQ`.
    missing : {"error", "partial"}, default="error"
        What to do with NaN in ``X``: refuse it, or leave missing values out: squared distances are then sums over the
        features that a sample has a value of, times the number of all features over that of these, and prototypes are
        means of known values.
    winner : {"heskes", "nearest", "heskes-printed"}, default="heskes"
        ``"heskes"`` is the winner of the cost above, so that training descends it; ``"nearest"`` is Kohonen's rule, the
        nearest prototype; ``"heskes-printed"`` leaves the weights of a node as they are instead of making them add up
        to one (Hasenfuss 2009, eq. 2.5), so that nodes at the border win most samples while the range is wide.
    kernel : {"gaussian", "exponential"}, default="gaussian"
        Neighborhood function, :math:`e^{-g^2/2\lambda^2}` or :math:`e^{-g/\lambda}`.
    algorithm : {"batch", "online"}, default="batch"
        ``"batch"`` moves all prototypes to their optimum once an epoch; ``"online"`` moves them a little after each of
        n_samples random samples.
    init : {"pca", "center", "k-means++", "random"} or array of shape (n_nodes, n_features), default="pca"
        Where prototypes start; ``"pca"`` lays the lattice over the principal plane.
    n_init : int, default=1
        Number of starts, unless ``init`` is an array; the result with the lowest cost is kept. From ``init="pca"`` all
        are the same, unless learning is online.
    max_iter : int, default=100
        Number of epochs over which the range falls.
    range_start : float or "auto", default="auto"
        First range; ``"auto"`` is a twelfth of the largest distance on the lattice if the start is already ordered
        (``init="pca"`` on a flat lattice), else a quarter. In all patches but the first it is ``range_end``.
    range_end : float, default=0.55
        Last range. Both are in units of the shortest distance between two nodes, 1 on most lattices. Smaller values
        quantize better, larger ones keep neighbors more alike.
    schedule : {"geometric", "inverse", "constant"} or callable, default="geometric"
        How the range and the learning rate fall; a callable maps (start, end, n_steps) to the values: one for each
        epoch, 256 if online.
    label_weight : float, default=0.0
        Share of the labels ``y`` in the distance: 0 ignores them, 1 uses nothing else, 0.5 lets labels and features
        count alike, each in units of its total variance.
    magnification : float or "optimal", default=0.0
        Exponent c of magnification control: samples count with their density to the power c; see `NeuralGas`.
    density_at : {"sample", "winner"}, default="sample"
        Where magnification control takes the density: at the sample, or, if online, at the winner, whose step is then
        multiplied by a power of it.
    learning_rate_start, learning_rate_end : float, default=0.5, 0.005
        First and last step size of the online algorithm.
    edge_lifetime : int, optional
        If online, make the edges of ``graph_`` while learning, and drop an edge after so many wins of one of its ends
        without it. By default they are made in the end, from all samples.
    patch_size : int, optional
        Learn from patches of about so many samples, one after the other, instead of all at once.
    patch_runs : int, default=1
        Number of independent runs over the patches, in parallel, whose prototypes are merged at the end.
    decay : float, default=1.0
        Factor on the weight of what was learned before, for each new patch; below 1 old samples are forgotten.
    n_jobs : int, optional
        Number of threads; None means as many as the matrix library may use.
    random_state : int, RandomState instance or None, default=None
        Makes random starts, the order of patches and online learning repeatable.
    verbose : int, default=0
        1 shows a bar of progress (lines where there is no terminal), 2 a line for every epoch.

    Attributes
    ----------
    lattice_ : Lattice
        The lattice.
    prototypes_ : ndarray of shape (n_nodes, n_features)
        The prototypes, row by row of the lattice.
    labels_ : ndarray of shape (n_samples,)
        Index of the nearest prototype of each sample of ``fit`` (of the last patch, if patches were given one by one).
    multiplicities_ : ndarray of shape (n_nodes,)
        Weight of all samples in each receptive field.
    graph_ : sparse array of shape (n_nodes, n_nodes)
        Topology representing network: the weight of the samples whose two nearest prototypes are this pair.
    cost_history_, range_history_ : list of float
        Cost at the start of every epoch, and its range.
    n_iter_ : int
        Number of epochs run (on the last patch).
    label_distribution_, prototype_labels_, classes_ : ndarray
        Fuzzy and crisp labels of the prototypes and the classes, if ``label_weight > 0``.
    magnification_ : float
        The exponent used, if magnification control is on.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if ``X`` had names.

    See Also
    --------
    NeuralGas : Better quantization, no lattice.

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

    With ``missing="partial"``, values that are missing take no part:

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
        winner: str = "heskes",
        kernel: str = "gaussian",
        algorithm: str = "batch",
        init: str | ArrayLike = "pca",
        n_init: int = 1,
        max_iter: int = 100,
        range_start: float | str = "auto",
        range_end: float = 0.55,
        schedule: str | Schedule = "geometric",
        label_weight: float = 0.0,
        magnification: float | str = 0.0,
        density_at: str = "sample",
        learning_rate_start: float = 0.5,
        learning_rate_end: float = 0.005,
        edge_lifetime: int | None = None,
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
        self.missing = missing
        self.winner = winner
        self.kernel = kernel
        self.algorithm = algorithm
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.range_start = range_start
        self.range_end = range_end
        self.schedule = schedule
        self.label_weight = label_weight
        self.magnification = magnification
        self.density_at = density_at
        self.learning_rate_start = learning_rate_start
        self.learning_rate_end = learning_rate_end
        self.edge_lifetime = edge_lifetime
        self.patch_size = patch_size
        self.patch_runs = patch_runs
        self.decay = decay
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
