"""Deterministic annealing for pairwise clustering: soft assignments that become crisp as the temperature decreases."""

from __future__ import annotations

from typing import Any, ClassVar

from numpy.typing import ArrayLike
from sklearn.base import ClusterMixin

from protolearn.core.learning import Epochs, Patches
from protolearn.core.neighborhoods import Soft
from protolearn.core.parameters import Part
from protolearn.relational._docs import documented
from protolearn.relational._epochs import perturbed
from protolearn.relational._relational import RelationalMap

__all__ = ["PairwiseAnnealing"]


@documented
class PairwiseAnnealing(ClusterMixin, RelationalMap):
    r"""Pairwise clustering by deterministic annealing.

    Every object is assigned to every prototype with the probability :math:`p_{ij} \propto e^{-d(v_j, w_i) / 2T}`, and a
    prototype is the mean of the objects, weighted by these probabilities. While the temperature T decreases, the
    assignments become crisp and clusters split one after another. At low temperature, the cost function is that of
    `RelationalKMeans`.

    Parameters
    ----------
    n_prototypes : int, default=8
        Number of prototypes.
    %(dissimilarities)s
    %(relational)s
    init : {"center", "k-means++", "random", "pca"} or array of shape (n_prototypes, n_objects), default="center"
        Initial prototypes, as in `RelationalKMeans`; at the first temperature all of them converge to the center.
    max_iter : int, default=300
        Number of epochs, over which the temperature decreases.
    neighborhood : Soft, optional
        Which prototypes a sample updates: all, in proportion to ``exp(-d / 2T)``. `protolearn.maps.Soft` has the first
        and the last temperature T.
    %(labels)s
    %(patches)s
    %(running)s

    Attributes
    ----------
    %(coefficients)s
    %(attributes)s

    See Also
    --------
    RelationalNeuralGas : Annealing of a neighborhood range of ranks instead of a temperature.

    References
    ----------
    Hofmann, Buhmann (1997). Pairwise data clustering by deterministic annealing. IEEE Transactions on Pattern Analysis
    and Machine Intelligence.

    Rose (1998). Deterministic annealing for clustering, compression, classification, regression, and related
    optimization problems. Proceedings of the IEEE.

    Examples
    --------
    >>> from protolearn import PairwiseAnnealing
    >>> words = ["kitten", "kitchen", "mitten", "castle", "cattle", "rattle"]
    >>> clusters = PairwiseAnnealing(2, metric="edit", random_state=0).fit(words).labels_
    >>> (clusters == clusters[0]).tolist()
    [True, True, True, False, False, False]
    """

    _grouped: ClassVar[dict[str, type[Part]]] = {"neighborhood": Soft}

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
        init: str | ArrayLike = "center",
        max_iter: int = 300,
        neighborhood: Soft | None = None,
        label_weight: float = 0.0,
        magnification: float | str = 0.0,
        n_approximation: float = 10,
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
        self.max_iter = max_iter
        self.neighborhood = neighborhood
        self.label_weight = label_weight
        self.magnification = magnification
        self.n_approximation = n_approximation
        self.patches = patches
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    fit_predict = RelationalMap.fit_predict  # scikit-learn's drops y

    def _plain_epochs(self) -> Epochs:
        return perturbed
