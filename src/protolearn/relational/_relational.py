"""k-means, neural gas and self-organizing maps whose prototypes are combinations of objects."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from protolearn.core.cooperation import Cooperation
from protolearn.core.documentation import extends
from protolearn.core.loop import Step
from protolearn.core.pairs import Landmarks, Pairs
from protolearn.core.relational import Relational
from protolearn.core.types import Floats
from protolearn.core.validation import check_flags, check_number, given_array
from protolearn.dissimilarities._geometry import check_dissimilarities, spread_value
from protolearn.maps._kmeans import KMeans
from protolearn.maps._matrix import ONLINE
from protolearn.maps._neural_gas import NeuralGas
from protolearn.maps._som import SOM
from protolearn.maps._state import Samples
from protolearn.relational._base import (
    MOST_KEPT,
    DissimilarityMap,
    Indices,
    best_so_far,
    epochs_until_still,
    offsets,
)
from protolearn.relational._docs import documented
from protolearn.relational._objects import Objects
from protolearn.relational._start import around_center, on_principal_plane

__all__ = ["RelationalKMeans", "RelationalMap", "RelationalNeuralGas", "RelationalSOM"]


class RelationalMap(DissimilarityMap):
    """Base of maps whose prototypes are combinations of objects."""

    spread: float | str | None = None
    keep_best: bool = False
    sparsity: int | None = None
    n_landmarks: int | None = None
    n_approximation: float = 10
    _inits = ("k-means++", "random", "center", "pca")

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_flags(self, "keep_best")
        if self.spread is not None and not (isinstance(self.spread, str) and self.spread == "implicit"):
            check_number("spread", self.spread, low=0, also=", 'implicit' or None")
        for name in ("sparsity", "n_landmarks"):
            if getattr(self, name) is not None:
                check_number(name, getattr(self, name), integer=True, low=1)
        share = isinstance(self.n_approximation, float | np.floating) and self.n_approximation < 1
        if share:
            check_number("n_approximation", self.n_approximation, low=0, open_low=True)
        else:
            check_number("n_approximation", self.n_approximation, integer=True, low=1, also=", or a share below 1")

    def _pairs(self, objects: Objects, common: dict[str, Any], rng: np.random.RandomState) -> Pairs:
        if self.n_landmarks is not None and self.n_landmarks < len(objects):
            return self._few_columns(objects, self.n_landmarks, common, rng)
        pairs = super()._pairs(objects, common, rng)
        if self.spread == "implicit":
            if callable(pairs.matrix):
                raise ValueError(
                    "spread='implicit' needs all dissimilarities in memory; give a number, or use patch_size."
                )
            _, different = np.unique(pairs.groups, return_index=True)
            pairs.spread = spread_value(pairs.block(different), squared=True)
        elif self.spread is not None:
            pairs.spread = float(self.spread)
        return pairs

    def _few_columns(
        self, objects: Objects, n_landmarks: int, common: dict[str, Any], rng: np.random.RandomState
    ) -> Pairs:
        """Return the objects as known by their dissimilarities to a few landmarks, drawn at random."""
        if self.spread == "implicit":
            raise ValueError("spread='implicit' needs all dissimilarities; leave out n_landmarks, or give a number.")
        chosen = np.sort(rng.permutation(len(objects))[:n_landmarks])
        columns = self._sound(objects.source.block(objects.places, objects.places[chosen]))
        if not self._is_kernel:
            inner = check_dissimilarities(columns[chosen], squared=self.squared, symmetrize=self.symmetrize)
            columns = columns.copy()
            columns[chosen] = inner
        columns = self._squared(columns).astype(np.float64)
        pairs = Pairs(Landmarks.at(columns, chosen), spread=float(self.spread or 0.0), **common)
        if self._is_kernel:
            kernel: Any = objects.source.data
            pairs.diagonal = np.array([float(kernel[j, j]) for j in objects.places.tolist()])
        return pairs

    def _start(
        self, source: Any, cooperation: Cooperation, patch: Samples, model: Any, rng: np.random.RandomState
    ) -> Any:
        k, n = self._size(cooperation), source.n_samples
        if model is not None:
            coefficients = np.zeros((n, k))
            coefficients[-len(model.kept.owners) :] = model.kept.coefficients.T
            return coefficients
        if isinstance(self.init, str):
            if self.init == "center":
                return around_center(source, k, rng)
            if self.init == "pca":
                return on_principal_plane(source, self._plane(cooperation))
            coefficients = np.zeros((n, k))
            coefficients[self._drawn(source, k, rng), np.arange(k)] = 1.0
            return coefficients
        given = given_array("init", self.init)
        objects: Any = patch.X
        if given.shape != (k, objects.n_seen):
            raise ValueError(
                f"init has shape {given.shape}; expected {(k, objects.n_seen)}: the coefficients of each prototype."
            )
        given = given[:, objects.numbers]
        if not np.allclose(given.sum(axis=1), 1.0):
            raise ValueError(
                "Each row of init, the coefficients of a prototype, must add up to 1, with objects of positive weight "
                "in the first patch alone."
            )
        return given.T

    def _prototypes(self, positions: Any, source: Any, model: Any, rng: np.random.RandomState) -> Any:
        return Relational.at(source, positions, n_largest=self.sparsity)

    def _epochs(self, prototypes: Any, cooperation: Any, source: Any, ranges: Any, rng: Any) -> Iterator[Step]:
        steps = super()._epochs(prototypes, cooperation, source, ranges, rng)
        return best_so_far(steps) if self.keep_best else steps

    def _supported(self, prototypes: Relational, objects: Objects) -> dict[str, Any]:
        source, coefficients = prototypes.pairs, prototypes.coefficients.T
        chosen = np.arange(len(objects))
        parts = coefficients
        if isinstance(source.matrix, Landmarks):
            chosen = source.matrix.chosen
            parts = (source.matrix.core @ (coefficients @ source.matrix.columns).T).T
        elif self.sparsity is not None:
            chosen = np.flatnonzero(coefficients.any(axis=0))
            parts = coefficients[:, chosen]
        return {
            "support": objects if len(chosen) == len(objects) else objects[chosen],
            "positions": parts,
            "self_terms": prototypes.self_terms,
            "offsets": offsets(source, coefficients, prototypes.self_terms),
        }

    def _stand_ins(self, prototypes: Relational, nearest: Indices) -> tuple[Indices, Indices, Floats]:
        """Return the k-approximation: the objects of every receptive field that are nearest to the prototype."""
        k = len(prototypes)
        picks = [self._nearest_own(prototypes, i, np.flatnonzero(nearest == i)) for i in range(k)]
        chosen = np.concatenate(picks)
        owners = np.repeat(np.arange(k), [len(pick) for pick in picks])
        coefficients = np.zeros((k, len(chosen)))
        coefficients[owners, np.arange(len(chosen))] = np.maximum(prototypes.coefficients[chosen, owners], 1e-300)
        for i in np.flatnonzero(np.bincount(owners, minlength=k) == 0):
            closest = np.argsort(prototypes.squares[chosen, i], kind="stable")[: int(np.ceil(self.n_approximation))]
            coefficients[i, closest] = 1.0
        return chosen, owners, coefficients / coefficients.sum(axis=1, keepdims=True)

    def _nearest_own(self, prototypes: Relational, i: int, field: Indices) -> Indices:
        """Return the nearest objects of a receptive field: so many, or enough to come close to the prototype."""
        squares = prototypes.squares[field, i]
        order = field[np.argsort(squares, kind="stable")]
        if self.n_approximation >= 1:
            return order[: int(self.n_approximation)]
        allowed = self.n_approximation * max(float(squares.mean()), 0.0) if len(field) else 0.0
        size = 1
        while size < min(len(order), MOST_KEPT):
            part = order[:size]
            shares = np.maximum(prototypes.coefficients[part, i], 1e-300)
            shares = shares / shares.sum()
            crossed = shares @ prototypes.products[part, i]
            own = shares @ prototypes.pairs.block(part) @ shares
            if crossed - 0.5 * own - 0.5 * prototypes.self_terms[i] <= allowed:  # Hasenfuss 2009, eq. 4.8
                break
            size *= 2
        return order[: min(size, MOST_KEPT)]

    def _store(self, model: Any) -> None:
        super()._store(model)
        self.coefficients_ = model.positions
        self.self_terms_ = model.self_terms


@documented
class RelationalKMeans(RelationalMap, KMeans):
    r"""k-means on dissimilarities: clusters of objects of which nothing is known but how different they are.

    Prototypes are combinations of objects, :math:`w_i = \sum_j \alpha_{ij} v_j` with
    :math:`\sum_j \alpha_{ij} = 1`, and their squared distance to an object is

    .. math:: d(v_j, w_i) = [S\alpha_i]_j - \tfrac12 \alpha_i^\top S \alpha_i

    for squared dissimilarities :math:`S`. If these are Euclidean, the result is that of `KMeans` on the (unknown)
    vectors.

    Parameters
    ----------
    n_prototypes : int, default=8
        Number of prototypes.
    %(dissimilarities)s
    %(relational)s
    init : {"k-means++", "random", "center", "pca"} or array of shape (n_prototypes, n_objects), default="k-means++"
        Where prototypes start: spread or random objects, random combinations near the center, on the plane of
        classical scaling, or given coefficients, which add up to 1 for each prototype.
    n_init : int, default=1
        Number of starts, unless ``init`` is an array; the result with the lowest cost is kept.
    max_iter : int, default=300
        Largest number of epochs; it stops as soon as no object changes its prototype.
    empty : {"keep", "reseed"}, default="keep"
        A prototype that wins no object stays where it is, or moves to the object farthest from its prototype.
    %(labels)s
    %(patches)s
    %(running)s

    Attributes
    ----------
    %(coefficients)s
    %(attributes)s

    See Also
    --------
    RelationalNeuralGas : The same cost in the end, with less dependence on the start.
    MedianKMeans : Prototypes that are objects.

    References
    ----------
    Hathaway, Bezdek (1994). NERF c-means: non-Euclidean relational fuzzy clustering. Pattern Recognition.

    Hammer, Hasenfuss (2010). Topographic mapping of large dissimilarity data sets. Neural Computation.

    Examples
    --------
    >>> from protolearn import RelationalKMeans
    >>> words = ["kitten", "kitchen", "mitten", "castle", "cattle", "rattle"]
    >>> kmeans = RelationalKMeans(2, metric="edit", random_state=0).fit(words)
    >>> same = kmeans.labels_ == kmeans.labels_[0]
    >>> same.tolist()
    [True, True, True, False, False, False]
    >>> int(kmeans.predict(["bitten"])[0]) == int(kmeans.labels_[0])
    True
    """

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
        init: str | ArrayLike = "k-means++",
        n_approximation: float = 10,
        n_init: int = 1,
        max_iter: int = 300,
        empty: str = "keep",
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
        self.metric = metric
        self.metric_params = metric_params
        self.squared = squared
        self.symmetrize = symmetrize
        self.spread = spread
        self.keep_best = keep_best
        self.sparsity = sparsity
        self.n_landmarks = n_landmarks
        self.init = init
        self.n_approximation = n_approximation
        self.n_init = n_init
        self.max_iter = max_iter
        self.empty = empty
        self.label_weight = label_weight
        self.magnification = magnification
        self.patch_size = patch_size
        self.patch_runs = patch_runs
        self.decay = decay
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _epochs(self, prototypes: Any, cooperation: Any, source: Any, ranges: Any, rng: Any) -> Iterator[Step]:
        steps = epochs_until_still(prototypes, cooperation, source, ranges, self.empty == "reseed")
        return best_so_far(steps) if self.keep_best else steps


@documented
class RelationalNeuralGas(RelationalMap, NeuralGas):
    r"""Neural gas on dissimilarities: prototypes of strings, sequences, graphs or texts that cooperate by rank.

    Prototypes are combinations of objects, :math:`w_i = \sum_j \alpha_{ij} v_j` with
    :math:`\sum_j \alpha_{ij} = 1`, and their squared distance to an object is

    .. math:: d(v_j, w_i) = [S\alpha_i]_j - \tfrac12 \alpha_i^\top S \alpha_i

    for squared dissimilarities :math:`S`. If these are Euclidean, the result is that of `NeuralGas` on the (unknown)
    vectors. For others, such as edit distances, everything is computed alike; ``spread="implicit"`` makes sure that the
    cost falls.

    Parameters
    ----------
    n_prototypes : int, default=8
        Number of prototypes.
    %(dissimilarities)s
    %(relational)s
    init : {"k-means++", "center", "random", "pca"} or array of shape (n_prototypes, n_objects), default="k-means++"
        Where prototypes start: spread objects, random combinations near the center, random objects, on the plane of
        classical scaling, or given coefficients, which add up to 1 for each prototype.
    %(gas)s
    %(labels)s
    %(patches)s
    %(running)s

    Attributes
    ----------
    %(coefficients)s
    %(attributes)s

    See Also
    --------
    RelationalSOM : The same with a fixed lattice, for a picture of the objects.
    MedianNeuralGas : Prototypes that are objects.
    PrototypeClassifier : Turns a map into a classifier.

    References
    ----------
    Hammer, Hasenfuss (2010). Topographic mapping of large dissimilarity data sets. Neural Computation.

    Hasenfuss (2009). Topographic mapping of dissimilarity datasets. PhD thesis, TU Clausthal.

    Examples
    --------
    >>> from protolearn import RelationalNeuralGas
    >>> from protolearn.dissimilarities import pairwise
    >>> words = ["kitten", "kitchen", "mitten", "castle", "cattle", "rattle"]
    >>> gas = RelationalNeuralGas(2, random_state=0).fit(pairwise(words, metric="edit"))
    >>> gas.coefficients_.shape
    (2, 6)
    >>> [words[j] for j in gas.prototype_examples_[gas.labels_[3], :2]]
    ['cattle', 'castle']
    """

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
        init: str | ArrayLike = "k-means++",
        n_approximation: float = 10,
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
        self.metric = metric
        self.metric_params = metric_params
        self.squared = squared
        self.symmetrize = symmetrize
        self.spread = spread
        self.keep_best = keep_best
        self.sparsity = sparsity
        self.n_landmarks = n_landmarks
        self.init = init
        self.n_approximation = n_approximation
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


@documented
class RelationalSOM(RelationalMap, SOM):
    r"""Self-organizing map of dissimilarities: a picture of strings, sequences, graphs or texts on a lattice.

    Prototypes are combinations of objects, :math:`w_i = \sum_j \alpha_{ij} v_j` with
    :math:`\sum_j \alpha_{ij} = 1`, one for each node of the lattice, and their squared distance to an object is

    .. math:: d(v_j, w_i) = [S\alpha_i]_j - \tfrac12 \alpha_i^\top S \alpha_i

    for squared dissimilarities :math:`S`. If these are Euclidean, the result is that of `SOM` on the (unknown) vectors.

    Parameters
    ----------
    lattice : "auto", tuple (rows, columns), int or Lattice, default="auto"
        ``"auto"`` is a rectangle of about :math:`5\sqrt{n}` nodes for n different objects, with sides in proportion to
        the two largest deviations of classical scaling. See :mod:`protolearn.core.lattices` for hyperbolic and other
        lattices.
    %(dissimilarities)s
    %(relational)s
    %(winner)s
    init : {"pca", "center", "k-means++", "random"} or array of shape (n_nodes, n_objects), default="pca"
        Where prototypes start; ``"pca"`` lays the lattice over the plane of classical scaling.
    %(som)s
    %(labels)s
    %(patches)s
    %(running)s

    Attributes
    ----------
    lattice_ : Lattice
        The lattice.
    %(coefficients)s
    %(attributes)s

    See Also
    --------
    RelationalNeuralGas : Better quantization, no lattice.
    MedianSOM : Prototypes that are objects.

    References
    ----------
    Hammer, Hasenfuss (2010). Topographic mapping of large dissimilarity data sets. Neural Computation.

    Hasenfuss (2009). Topographic mapping of dissimilarity datasets. PhD thesis, TU Clausthal.

    Examples
    --------
    >>> from protolearn import RelationalSOM
    >>> words = ["kitten", "kitchen", "mitten", "castle", "cattle", "rattle"]
    >>> som = RelationalSOM((1, 3), metric="edit").fit(words)
    >>> som.lattice_
    Lattice(rectangular, 1 x 3)
    """

    def __init__(
        self,
        lattice: Any = "auto",
        *,
        metric: Any = "precomputed",
        metric_params: dict[str, Any] | None = None,
        squared: bool = False,
        symmetrize: str = "raise",
        spread: float | str | None = None,
        keep_best: bool = False,
        sparsity: int | None = None,
        n_landmarks: int | None = None,
        init: str | ArrayLike = "pca",
        n_approximation: float = 10,
        n_init: int = 1,
        winner: str = "heskes",
        kernel: str = "gaussian",
        max_iter: int = 100,
        range_start: float | str = "auto",
        range_end: float = 0.55,
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
        self.metric = metric
        self.metric_params = metric_params
        self.squared = squared
        self.symmetrize = symmetrize
        self.spread = spread
        self.keep_best = keep_best
        self.sparsity = sparsity
        self.n_landmarks = n_landmarks
        self.init = init
        self.n_approximation = n_approximation
        self.n_init = n_init
        self.winner = winner
        self.kernel = kernel
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
