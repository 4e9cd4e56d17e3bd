"""k-means clustering: each sample updates its winner only."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

from numpy.typing import ArrayLike
from sklearn.base import ClusterMixin

from protolearn.core.learning import Epochs, Patches
from protolearn.core.loop import until_still
from protolearn.core.map import KMeansFamily
from protolearn.core.neighborhoods import Winner
from protolearn.core.parameters import Constraint, integer
from protolearn.core.samples import Samples
from protolearn.core.types import Array
from protolearn.maps._base import Online, PrototypeMap
from protolearn.maps._points import Fields, FittedPoints

__all__ = ["KMeans", "still_epochs"]


class KMeans(ClusterMixin, KMeansFamily, PrototypeMap):
    r"""k-means clustering, in which each sample updates its nearest prototype only.

    The cost function :math:`E(W) = \tfrac12 \sum_j u_j \min_i \|x_j - w_i\|^2` is minimized by alternating between
    assigning samples to prototypes and moving prototypes to the means. k-means is fast but depends on the
    initialization; `NeuralGas` of the same size depends on it less. Like the other maps, it supports labels,
    magnification control and patches.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of prototypes, one for each cluster.
    metric : "euclidean" or learned metric, default="euclidean"
        Distance between samples and prototypes: Euclidean, or a learned metric with a single matrix for all samples, in
        any form that `protolearn.as_metric` accepts, such as the ``metric_`` of a fitted `GMLVQ`.
    missing : {"error", "partial"}, default="error"
        Treatment of NaN in ``X``. ``"error"`` raises an error. ``"partial"`` leaves missing values out: a squared
        distance is the sum over the known features of the sample, multiplied by n_features and divided by the number of
        known features, and prototypes are means of known values.
    init : {"k-means++", "random", "center", "pca"} or array of shape (n_clusters, n_features), default="k-means++"
        Initial prototypes: ``"k-means++"`` chooses samples far from each other, ``"random"`` chooses samples at random,
        ``"center"`` places prototypes close to the mean, ``"pca"`` on a grid in the plane of the first two principal
        components. An array gives the positions.
    n_init : int, default=1
        Number of runs from different initial prototypes, unless ``init`` is an array; the result with the lowest cost
        is kept.
    max_iter : int, default=300
        Maximum number of epochs. If training has not converged by then, a ``ConvergenceWarning`` is issued.
    neighborhood : Winner, optional
        Which prototypes a sample updates: its winner only. `protolearn.maps.Winner` says what happens to prototypes
        that win no sample.
    online : Online, optional
        Learn from single samples in random order instead of batches, see `protolearn.maps.Online`: the learning rate,
        where magnification control evaluates the density, and the lifetime of edges.
    tol : float, default=1e-4
        Training stops when the squared movement of all prototypes in one epoch is below ``tol`` times the mean variance
        of the features.
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
        Seed of the initialization, the order of the patches and online learning. An int makes results reproducible.
    verbose : int, default=0
        1 shows a progress bar (or lines of text, if the output is not a terminal), 2 prints one line for every epoch.

    Attributes
    ----------
    prototypes_, cluster_centers_ : ndarray of shape (n_clusters, n_features)
        Positions of the prototypes. ``cluster_centers_`` is scikit-learn's name for the same array.
    inertia_ : float
        Weighted sum of the squared distances between the samples of ``labels_`` and their nearest prototypes.
    labels_ : ndarray of shape (n_samples,)
        Index of the nearest prototype of each training sample (of the last patch, if patches were given one by one).
    multiplicities_ : ndarray of shape (n_clusters,)
        Total weight of the samples in the receptive field of each prototype.
    graph_ : sparse array of shape (n_clusters, n_clusters)
        Topology representing network. The weight of an edge is the total weight of the samples whose two nearest
        prototypes it connects.
    cost_history_, range_history_ : list of float
        Cost at the start of every epoch (half the inertia), and the neighborhood range (always 0).
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
    NeuralGas : The same cost function at the end of annealing, with less dependence on the initialization.

    References
    ----------
    Lloyd (1982). Least squares quantization in PCM. IEEE Transactions on Information Theory.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn import KMeans
    >>> X = np.array([[1.0, 2], [1, 4], [1, 0], [10, 2], [10, 4], [10, 0]])
    >>> kmeans = KMeans(n_clusters=2, random_state=0).fit(X)
    >>> np.sort(kmeans.cluster_centers_, axis=0)
    array([[ 1.,  2.],
           [10.,  2.]])
    >>> kmeans.inertia_
    16.0
    >>> KMeans(n_clusters=2, missing="partial", random_state=0).fit(X).predict([[2.0, np.nan]]) == kmeans.labels_[0]
    array([ True])
    """

    _constraints: ClassVar[dict[str, Constraint]] = {"n_clusters": integer(1)}

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        metric: Any = "euclidean",
        missing: str = "error",
        init: str | ArrayLike = "k-means++",
        n_init: int = 1,
        max_iter: int = 300,
        neighborhood: Winner | None = None,
        online: Online | None = None,
        tol: float = 1e-4,
        label_weight: float = 0.0,
        magnification: float | str = 0.0,
        patches: Patches | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.metric = metric
        self.missing = missing
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.neighborhood = neighborhood
        self.online = online
        self.tol = tol
        self.label_weight = label_weight
        self.magnification = magnification
        self.patches = patches
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    fit_predict = PrototypeMap.fit_predict  # scikit-learn's drops y

    @property
    def n_prototypes(self) -> int:
        """Number of prototypes, under the name that other maps use."""
        return self.n_clusters

    @property
    def cluster_centers_(self) -> Array:
        """Positions of the prototypes, under scikit-learn's name."""
        return self.prototypes_

    def _publish(self, fitted: FittedPoints) -> None:
        super()._publish(fitted)
        self.inertia_ = fitted.inertia

    def _assign(self, samples: Samples) -> Fields:
        fields: Fields = super()._assign(samples)
        self.inertia_ = fields.inertia
        return fields

    def _epochs(self) -> Epochs:
        return still_epochs(self.tol, self._group("neighborhood").empty) if self.online is None else super()._epochs()


def still_epochs(tol: float, empty: str) -> Epochs:
    """Return epochs of k-means, with the tolerance and the treatment of idle prototypes given by the parameters."""
    return partial(until_still, tol=tol, reseeds=empty == "reseed")
