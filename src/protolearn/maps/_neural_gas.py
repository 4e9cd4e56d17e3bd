"""Neural gas: prototypes learn from every sample by rank."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClusterMixin

from protolearn.core.learning import Finish
from protolearn.core.map import GasFamily
from protolearn.core.parameters import Constraint, flag
from protolearn.core.relocation import relocate
from protolearn.core.schedules import Schedule
from protolearn.maps._base import PrototypeMap

__all__ = ["NeuralGas"]

WINNERS_ONLY = 0.1  # range below which others than the winner learn next to nothing


class NeuralGas(ClusterMixin, GasFamily, PrototypeMap):
    r"""Neural gas: vector quantization in which prototypes cooperate by rank.

    Minimizes, while the range :math:`\lambda` falls,

    .. math:: E_\lambda(W) = \tfrac12 \sum_j u_j \sum_i e^{-k_{ij}/\lambda}\, \|x_j - w_i\|^2,

    where :math:`k_{ij}` is the rank of prototype i among all prototypes by distance to sample j (0 for the nearest)
    and :math:`u_j` the weight of the sample. Prototypes near a sample learn from it together, so that none is left
    idle; as the range falls to zero the cost becomes that of k-means. Use it where k-means would be used and a good,
    steady solution matters, or as the base of a topology graph (``graph_``).

    Parameters
    ----------
    n_prototypes : int, default=8
        Number of prototypes.
    metric : "euclidean" or learned metric, default="euclidean"
        Distance between samples and prototypes: Euclidean, or one that was learned, with one matrix for all samples. It
        is whatever `protolearn.as_metric` takes, such as the ``metric_`` of a fitted `GMLVQ`.
    missing : {"error", "partial"}, default="error"
        What to do with NaN in ``X``: refuse it, or leave missing values out: squared distances are then sums over the
        features that a sample has a value of, times the number of all features over that of these, and prototypes are
        means of known values.
    algorithm : {"batch", "online"}, default="batch"
        ``"batch"`` moves all prototypes to their optimum once an epoch; ``"online"`` moves them a little after each of
        n_samples random samples.
    init : {"k-means++", "center", "random", "pca"} or array of shape (n_prototypes, n_features), default="k-means++"
        Where prototypes start: spread samples, small values around the mean, random samples, on the principal plane,
        or given.
    n_init : int, default=1
        Number of starts, unless ``init`` is an array; the result with the lowest cost is kept.
    max_iter : int, default=100
        Number of epochs over which the range falls.
    range_start : float or "auto", default="auto"
        First range; ``"auto"`` is half the number of prototypes, which makes up for any start, or 2 if prototypes
        start spread over the samples (``init="k-means++"``).
    range_end : float, default=0.01
        Last range.
    schedule : {"geometric", "inverse", "constant"} or callable, default="geometric"
        How the range and the learning rate fall; a callable maps (start, end, n_steps) to the values: one for each
        epoch, 256 if online.
    settle : bool, default=True
        After the last epoch of the batch algorithm, if only winners learn by then, move prototypes that are hardly
        needed to where one more lowers the cost of k-means most, as long as that helps. Annealing alone passes over
        small groups far from all others.
    label_weight : float, default=0.0
        Share of the labels ``y`` in the distance: 0 ignores them, 1 uses nothing else, 0.5 lets labels and features
        count alike, each in units of its total variance.
    magnification : float or "optimal", default=0.0
        Exponent c of magnification control: samples count with their density to the power c. Positive values put more
        prototypes into dense regions, negative ones (above -1) into sparse regions. ``"optimal"`` takes
        2 / (intrinsic dimension), which makes all prototypes win about equally often. The density is estimated from
        all pairs of samples.
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
    prototypes_ : ndarray of shape (n_prototypes, n_features)
        The prototypes.
    labels_ : ndarray of shape (n_samples,)
        Index of the nearest prototype of each sample of ``fit`` (of the last patch, if patches were given one by one).
    multiplicities_ : ndarray of shape (n_prototypes,)
        Weight of all samples in each receptive field.
    graph_ : sparse array of shape (n_prototypes, n_prototypes)
        Topology representing network: the weight of the samples whose two nearest prototypes are this pair.
    cost_history_, range_history_ : list of float
        Cost at the start of every epoch, and its range.
    n_iter_ : int
        Number of epochs run (on the last patch).
    label_distribution_ : ndarray of shape (n_prototypes, n_classes)
        Share of each class in the label of each prototype, if ``label_weight > 0``.
    prototype_labels_ : ndarray of shape (n_prototypes,)
        The class with the largest share, if ``label_weight > 0``.
    classes_ : ndarray of shape (n_classes,)
        The classes, if ``label_weight > 0``.
    magnification_ : float
        The exponent used, if magnification control is on.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if ``X`` had names.

    See Also
    --------
    SOM : The same with a fixed lattice, for a picture of the data.
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

    _constraints: ClassVar[dict[str, Constraint]] = {"settle": flag}

    def __init__(
        self,
        n_prototypes: int = 8,
        *,
        metric: Any = "euclidean",
        missing: str = "error",
        algorithm: str = "batch",
        init: str | ArrayLike = "k-means++",
        n_init: int = 1,
        max_iter: int = 100,
        range_start: float | str = "auto",
        range_end: float = 0.01,
        schedule: str | Schedule = "geometric",
        settle: bool = True,
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
        self.n_prototypes = n_prototypes
        self.metric = metric
        self.missing = missing
        self.algorithm = algorithm
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.range_start = range_start
        self.range_end = range_end
        self.schedule = schedule
        self.settle = settle
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

    def _finish(self) -> Finish | None:
        return relocated if self.settle and self.algorithm == "batch" else None


def relocated(prototypes: Any, source: Any, range_: float, rng: np.random.RandomState) -> tuple[Any, float | None]:
    """Move prototypes that are hardly needed, if only winners learned at the end."""
    return relocate(prototypes, source, rng) if range_ <= WINNERS_ONLY else (prototypes, None)
