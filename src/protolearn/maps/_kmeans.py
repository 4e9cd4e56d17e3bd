"""k-means: only the winner learns."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

from numpy.typing import ArrayLike
from sklearn.base import ClusterMixin

from protolearn.core.learning import Epochs
from protolearn.core.loop import until_still
from protolearn.core.map import KMeansFamily
from protolearn.core.parameters import Constraint, integer
from protolearn.core.samples import Samples
from protolearn.core.schedules import Schedule
from protolearn.core.types import Array
from protolearn.maps._base import PrototypeMap
from protolearn.maps._points import Fields, FittedPoints

__all__ = ["KMeans", "still_epochs"]


class KMeans(ClusterMixin, KMeansFamily, PrototypeMap):
    r"""k-means: each sample moves its nearest prototype only.

    Minimizes :math:`E(W) = \tfrac12 \sum_j u_j \min_i \|x_j - w_i\|^2` by turns in the receptive fields and the
    prototypes. Fast, but it depends on the start; `NeuralGas` of the same size is the steadier alternative. It has all
    that the other maps have: labels, magnification control, patches.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of prototypes, one for each cluster.
    metric : "euclidean" or learned metric, default="euclidean"
        Distance between samples and prototypes: Euclidean, or one that was learned, with one matrix for all samples. It
        is whatever `protolearn.as_metric` takes, such as the ``metric_`` of a fitted `GMLVQ`.
    missing : {"error", "partial"}, default="error"
        What to do with NaN in ``X``: refuse it, or leave missing values out: squared distances are then sums over the
        features that a sample has a value of, times the number of all features over that of these, and prototypes are
        means of known values.
    algorithm : {"batch", "online"}, default="batch"
        ``"batch"`` moves all prototypes to their optimum once an epoch; ``"online"`` moves the winner a little after
        each of n_samples random samples.
    init : {"k-means++", "random", "center", "pca"} or array of shape (n_clusters, n_features), default="k-means++"
        Where prototypes start: spread samples, random samples, small values around the mean, on the principal plane,
        or given.
    n_init : int, default=1
        Number of starts, unless ``init`` is an array; the result with the lowest cost is kept.
    max_iter : int, default=300
        Largest number of epochs. If these are too few, there is a ``ConvergenceWarning``.
    tol : float, default=1e-4
        Stop when the squared movement of all prototypes is below ``tol`` times the average variance of a feature.
    empty : {"keep", "reseed"}, default="keep"
        A prototype that wins no sample stays where it is, or moves to the sample farthest from its prototype.
    schedule : {"geometric", "inverse", "constant"} or callable, default="geometric"
        How the learning rate of the online algorithm falls; a callable maps (start, end, n_steps) to the values, 256
        for each epoch.
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
        Makes the start, the order of patches and online learning repeatable.
    verbose : int, default=0
        1 shows a bar of progress (lines where there is no terminal), 2 a line for every epoch.

    Attributes
    ----------
    prototypes_, cluster_centers_ : ndarray of shape (n_clusters, n_features)
        The prototypes; the second is scikit-learn's name of the same array.
    inertia_ : float
        Sum of the squared distances of the samples that ``labels_`` is of to their nearest prototypes, times their
        weights.
    labels_ : ndarray of shape (n_samples,)
        Index of the nearest prototype of each sample of ``fit`` (of the last patch, if patches were given one by one).
    multiplicities_ : ndarray of shape (n_clusters,)
        Weight of all samples in each receptive field.
    graph_ : sparse array of shape (n_clusters, n_clusters)
        Topology representing network: the weight of the samples whose two nearest prototypes are this pair.
    cost_history_, range_history_ : list of float
        Cost at the start of every epoch, half the inertia; the range is 0.
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
    NeuralGas : The same cost in the end, with less dependence on the start.

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
        algorithm: str = "batch",
        init: str | ArrayLike = "k-means++",
        n_init: int = 1,
        max_iter: int = 300,
        tol: float = 1e-4,
        empty: str = "keep",
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
        self.n_clusters = n_clusters
        self.metric = metric
        self.missing = missing
        self.algorithm = algorithm
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.empty = empty
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

    fit_predict = PrototypeMap.fit_predict  # scikit-learn's drops y

    @property
    def n_prototypes(self) -> int:
        """Number of prototypes, as other maps call it."""
        return self.n_clusters

    @property
    def cluster_centers_(self) -> Array:
        """The prototypes, as scikit-learn calls them."""
        return self.prototypes_

    def _publish(self, fitted: FittedPoints) -> None:
        super()._publish(fitted)
        self.inertia_ = fitted.inertia

    def _assign(self, samples: Samples) -> Fields:
        fields: Fields = super()._assign(samples)
        self.inertia_ = fields.inertia
        return fields

    def _epochs(self) -> Epochs:
        return super()._epochs() if self.algorithm == "online" else still_epochs(self.tol, self.empty)


def still_epochs(tol: float, empty: str) -> Epochs:
    """Return epochs of k-means, with the tolerance and the treatment of idle prototypes that parameters name."""
    return partial(until_still, tol=tol, reseeds=empty == "reseed")
