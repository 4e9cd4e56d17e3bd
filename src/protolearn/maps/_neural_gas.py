"""Neural gas: every sample updates all prototypes, weighted by their distance ranks."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClusterMixin

from protolearn.core.learning import Finish, Patches
from protolearn.core.map import GasFamily
from protolearn.core.neighborhoods import Ranks
from protolearn.core.relocation import relocate
from protolearn.maps._base import Online, PrototypeMap

__all__ = ["NeuralGas"]

WINNERS_ONLY = 0.1  # range below which others than the winner learn next to nothing


class NeuralGas(ClusterMixin, GasFamily, PrototypeMap):
    r"""Neural gas: vector quantization with a neighborhood function of distance ranks.

    Minimizes the following cost function while the neighborhood range :math:`\lambda` decreases:

    .. math:: E_\lambda(W) = \tfrac12 \sum_j u_j \sum_i e^{-k_{ij}/\lambda}\, \|x_j - w_i\|^2,

    where :math:`k_{ij}` is the rank of prototype i among all prototypes by distance to sample j (0 for the nearest) and
    :math:`u_j` the weight of the sample. A sample updates all prototypes in its neighborhood, which keeps prototypes
    from staying idle. As the range falls to zero, the cost becomes that of k-means. Use neural gas in place of k-means
    if the result should depend less on the initialization, or to learn a topology graph (``graph_``).

    Parameters
    ----------
    n_prototypes : int, default=8
        Number of prototypes.
    metric : "euclidean" or learned metric, default="euclidean"
        Distance between samples and prototypes: Euclidean, or a learned metric with a single matrix for all samples, in
        any form that `protolearn.as_metric` accepts, such as the ``metric_`` of a fitted `GMLVQ`.
    missing : {"error", "partial"}, default="error"
        Treatment of NaN in ``X``. ``"error"`` raises an error. ``"partial"`` leaves missing values out: a squared
        distance is the sum over the known features of the sample, multiplied by n_features and divided by the number of
        known features, and prototypes are means of known values.
    init : {"k-means++", "center", "random", "pca"} or array of shape (n_prototypes, n_features), default="k-means++"
        Initial prototypes: ``"k-means++"`` chooses samples far from each other, ``"center"`` places prototypes close to
        the mean, ``"random"`` chooses samples at random, ``"pca"`` places prototypes on a grid in the plane of the
        first two principal components. An array gives the positions.
    n_init : int, default=1
        Number of runs from different initial prototypes, unless ``init`` is an array; the result with the lowest cost
        is kept.
    max_iter : int, default=100
        Number of epochs, over which the neighborhood range decreases.
    neighborhood : Ranks, optional
        Which prototypes a sample updates: all, by rank. `protolearn.maps.Ranks` has the range of ranks in the first and
        the last epoch, and how it falls.
    online : Online, optional
        Learn from single samples in random order instead of batches, see `protolearn.maps.Online`: the learning rate,
        where magnification control evaluates the density, and the lifetime of edges.
    label_weight : float, default=0.0
        Weight of the labels ``y`` in the distance, from 0 (labels are ignored) to 1 (only labels count). At 0.5, labels
        and features have equal weight, each normalized by its total variance.
    magnification : float or "optimal", default=0.0
        Exponent c of magnification control: the weight of a sample is multiplied by its density to the power c.
        Positive values place more prototypes in dense regions, negative values (above -1) more in sparse regions.
        ``"optimal"`` is 2 / (intrinsic dimension), for which all prototypes win about equally often. The density is
        estimated from all pairs of samples.
    patches : Patches, optional
        Train on one patch of the samples after another instead of all at once, see `protolearn.maps.Patches`: their
        size, how earlier patches are weighted, and independent runs.
    n_jobs : int, optional
        Number of threads; None means the number of threads of the BLAS library.
    random_state : int, RandomState instance or None, default=None
        Seed of the initialization, the order of the patches and online learning. An int makes results reproducible.
    verbose : int, default=0
        1 shows a progress bar (or lines of text, if the output is not a terminal), 2 prints one line for every epoch.

    Attributes
    ----------
    prototypes_ : ndarray of shape (n_prototypes, n_features)
        Positions of the prototypes.
    labels_ : ndarray of shape (n_samples,)
        Index of the nearest prototype of each training sample (of the last patch, if patches were given one by one).
    multiplicities_ : ndarray of shape (n_prototypes,)
        Total weight of the samples in the receptive field of each prototype.
    graph_ : sparse array of shape (n_prototypes, n_prototypes)
        Topology representing network. The weight of an edge is the total weight of the samples whose two nearest
        prototypes it connects.
    cost_history_, range_history_ : list of float
        Cost at the start of every epoch, and the neighborhood range of the epoch.
    n_iter_ : int
        Number of epochs run (on the last patch, if there are patches).
    label_distribution_ : ndarray of shape (n_prototypes, n_classes)
        Share of each class in the label of each prototype, if ``label_weight > 0``.
    prototype_labels_ : ndarray of shape (n_prototypes,)
        Class with the largest share of each prototype, if ``label_weight > 0``.
    classes_ : ndarray of shape (n_classes,)
        The classes, if ``label_weight > 0``.
    magnification_ : float
        Exponent used; present if magnification control is enabled.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if ``X`` had names.

    See Also
    --------
    SOM : Prototypes on a fixed lattice, for visualization.
    PrototypeClassifier : Turns a map into a classifier.

    References
    ----------
    Martinetz, Berkovich, Schulten (1993). "Neural-gas" network for vector quantization and its application to
    time-series prediction. IEEE Transactions on Neural Networks.

    Cottrell, Hammer, Hasenfuss, Villmann (2006). Batch and median neural gas. Neural Networks.

    Hasenfuss (2009). Topographic mapping of dissimilarity datasets. PhD thesis, TU Clausthal.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protolearn import NeuralGas
    >>> X, y = load_iris(return_X_y=True)
    >>> gas = NeuralGas(n_prototypes=3, random_state=0).fit(X)
    >>> sorted(gas.multiplicities_.astype(int).tolist())
    [39, 50, 61]
    >>> X[::3, 0] = float("nan")  # every third sample was not measured
    >>> gas = NeuralGas(n_prototypes=3, missing="partial", random_state=0).fit(X)
    >>> sorted(gas.multiplicities_.astype(int).tolist())
    [39, 50, 61]
    """

    def __init__(
        self,
        n_prototypes: int = 8,
        *,
        metric: Any = "euclidean",
        missing: str = "error",
        init: str | ArrayLike = "k-means++",
        n_init: int = 1,
        max_iter: int = 100,
        neighborhood: Ranks | None = None,
        online: Online | None = None,
        label_weight: float = 0.0,
        magnification: float | str = 0.0,
        patches: Patches | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_prototypes = n_prototypes
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

    fit_predict = PrototypeMap.fit_predict  # scikit-learn's drops y

    def _finish(self) -> Finish | None:
        return relocated if self._group("neighborhood").settle and self.online is None else None


def relocated(prototypes: Any, source: Any, range_: float, rng: np.random.RandomState) -> tuple[Any, float | None]:
    """Relocate prototypes that contribute little, if only winners learned at the end."""
    return relocate(prototypes, source, rng) if range_ <= WINNERS_ONLY else (prototypes, None)
