"""Generalized LVQ of objects with single objects as prototypes."""

from __future__ import annotations

from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from protolearn.core.estimator import warn_unconverged
from protolearn.core.pairs import Pairs
from protolearn.core.progress import Progress
from protolearn.core.types import Floats, Indices
from protolearn.lvq.cost import slope_ends
from protolearn.relational._docs import documented
from protolearn.relational._exchange import exchanges
from protolearn.relational._lvq import LearnedObjects, ObjectLVQ, first_medoids
from protolearn.relational._objects import Objects

__all__ = ["MedianGLVQ"]

SLOPE = 10.0  # of the squashing function: as good as smaller ones first, on leaves, proteins and chromosomes


@documented
class MedianGLVQ(ObjectLVQ):
    r"""Generalized LVQ of objects with single objects as prototypes (median GLVQ).

    The prototypes of a class are typical training objects of the class. The cost function is that of `GLVQ`, with
    squared dissimilarities instead of squared distances. Prototypes are replaced one by one by the object of their
    class that lowers the cost most, until no single exchange lowers it. The method works for any dissimilarity, and new
    objects are compared with the prototypes only.

    Parameters
    ----------
    prototypes_per_class : int or dict, default=1
        Number of prototypes for every class, or a dict with the number for each class label.
    %(dissimilarities)s
    init : {"k-medoids"} or array of shape (n_prototypes,), default="k-medoids"
        Initial prototypes: the medoids of each class, or the indices of objects, ordered by class.
    squashing : {"sigmoid", "identity", "swish"}, default="sigmoid"
        Function applied to the relative distance of each object in the cost function.
    slope : float or tuple of float, optional
        Slope of the sigmoid or swish function, by default 10. With a pair, the first slope is used until no exchange
        lowers the cost, then the second.
    max_iter : int, optional
        Maximum number of rounds over all prototypes, for each slope; unlimited by default. If training has not
        converged by then, a ``ConvergenceWarning`` is issued.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, as in scikit-learn.
    %(object_patches)s
    %(reject)s
    %(running)s

    Attributes
    ----------
    prototype_indices_ : ndarray of shape (n_prototypes,)
        The object that each prototype is.
    %(object_attributes)s

    See Also
    --------
    RelationalGLVQ : Combinations of objects as prototypes, mostly more accurate.
    MedianNeuralGas : Single objects as prototypes, without classes.

    References
    ----------
    Nebel, Hammer, Frohberg and Villmann (2015). Median variants of learning vector quantization for learning of
    dissimilarity data. Neurocomputing 169.

    Examples
    --------
    >>> from protolearn import MedianGLVQ
    >>> words = ["kitten", "kitchen", "mitten", "castle", "cattle", "rattle"]
    >>> model = MedianGLVQ(metric="edit").fit(words, ["k", "k", "k", "c", "c", "c"])
    >>> [words[j] for j in model.prototype_indices_]
    ['cattle', 'kitten']
    """

    def __init__(
        self,
        prototypes_per_class: int | dict[Any, int] = 1,
        *,
        metric: Any = "precomputed",
        metric_params: dict[str, Any] | None = None,
        squared: bool = False,
        symmetrize: str = "raise",
        init: str | ArrayLike = "k-medoids",
        squashing: str = "sigmoid",
        slope: float | tuple[float, float] | None = None,
        max_iter: int | None = None,
        class_weight: dict[Any, float] | str | None = None,
        n_approximation: int = 10,
        patch_size: int | None = None,
        reject_threshold: float = 0.0,
        reject_label: Any = -1,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.prototypes_per_class = prototypes_per_class
        self.metric = metric
        self.metric_params = metric_params
        self.squared = squared
        self.symmetrize = symmetrize
        self.init = init
        self.squashing = squashing
        self.slope = slope
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.n_approximation = n_approximation
        self.patch_size = patch_size
        self.reject_threshold = reject_threshold
        self.reject_label = reject_label
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @property
    def prototype_indices_(self) -> Indices:
        """The object that each prototype is."""
        check_is_fitted(self, "support_")
        return self.support_[self._fitted.coefficients.argmax(axis=1)]

    def _progress(self, n_objects: int, n_patches: int) -> Progress:
        return Progress("MedianGLVQ", self.max_iter, self.verbose, "round", n_runs=n_patches * len(self._slopes()))

    def _learn(
        self, pairs: Pairs, y: Indices, start: Any, rng: np.random.RandomState, progress: Progress
    ) -> LearnedObjects:
        if not pairs.in_memory:
            raise ValueError(
                f"Exchanges among {pairs.n_samples} objects need all dissimilarities in memory; use patch_size."
            )
        indices = self._medoids(pairs, y, rng) if start is None else start.argmax(axis=1)
        costs: list[float] = []
        interrupted = False
        try:
            for slope in self._slopes():
                rounds = exchanges(pairs, y, self._codes, indices, self.squashing, slope)
                done = 0
                for done, (better, cost) in enumerate(islice(rounds, self.max_iter), 1):
                    indices = better
                    costs.append(cost)
                    progress.step(done, cost=cost)
                if done == self.max_iter and any((further != indices).any() for further, _ in islice(rounds, 1)):
                    warn_unconverged(self, self.max_iter)
                progress.end_run(done)
        except KeyboardInterrupt:
            if not costs:
                raise
            interrupted = True
        coefficients = np.zeros((len(indices), len(y)))
        coefficients[np.arange(len(indices)), indices] = 1.0

        def approximate(chosen: Indices, firsts: Indices) -> Floats:
            return np.eye(len(chosen))[firsts]  # the nearest is the prototype itself

        return LearnedObjects(coefficients, approximate, costs, interrupted)

    def _slopes(self) -> list[float]:
        """Return the slopes that exchanges are made for, one after the other."""
        if self.squashing == "identity":
            return [1.0]
        return [SLOPE] if self.slope is None else list(dict.fromkeys(slope_ends(self.slope)))

    def _medoids(self, pairs: Pairs, y: Indices, rng: np.random.RandomState) -> Indices:
        parts = []
        for code, count in enumerate(np.bincount(self._codes).tolist()):
            members = np.flatnonzero(y == code)
            parts.append(members[first_medoids(pairs, members, count, rng).indices])
        return np.concatenate(parts)

    def _given_start(self, objects: Objects) -> Floats:
        given = np.asarray(self.init)
        k = len(self._codes)
        if given.shape != (k,) or given.dtype.kind not in "iu" or not np.isin(given, objects.numbers).all():
            raise ValueError(
                f"init must hold the indices of {k} objects, from 0 to {objects.n_seen - 1}, that have a positive "
                f"weight and are in the first patch; got {self.init!r}."
            )
        return (given[:, None] == objects.numbers).astype(np.float64)
