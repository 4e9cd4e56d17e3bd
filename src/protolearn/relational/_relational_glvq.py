"""Generalized LVQ of objects with combinations of objects as prototypes."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.metrics import euclidean_distances
from sklearn.utils.validation import check_is_fitted

from protolearn.core.pairs import Pairs
from protolearn.core.parameters import Constraint, instance, integer, none, number, option
from protolearn.core.progress import Progress
from protolearn.core.relational import Relational
from protolearn.core.types import Floats, Indices
from protolearn.core.validation import given_array
from protolearn.lvq import GLVQ, SOLVERS, Solver
from protolearn.lvq.solvers import get_solver
from protolearn.relational._docs import documented
from protolearn.relational._lvq import LearnedObjects, ObjectLVQ, first_medoids
from protolearn.relational._objects import Objects
from protolearn.relational._space import EuclideanPart, euclidean_part

__all__ = ["RelationalGLVQ"]


@documented
class RelationalGLVQ(ObjectLVQ):
    r"""Generalized LVQ of objects given by dissimilarities or a kernel, such as strings, sequences, graphs or texts.

    Prototypes are combinations of objects, :math:`w_i = \sum_j \alpha_{ij} v_j` with
    :math:`\sum_j \alpha_{ij} = 1`, and their squared distance to an object is

    .. math:: d(v_j, w_i) = [S\alpha_i]_j - \tfrac12 \alpha_i^\top S \alpha_i

    where :math:`S` is the matrix of squared dissimilarities. Training minimizes the cost function of `GLVQ`. If the
    dissimilarities are Euclidean, the result is that of `GLVQ` on the (unknown) vectors. Otherwise, prototypes move
    only along the eigenvectors of the Gram matrix with positive eigenvalues. The nearest prototype is then the same as
    after clipping the negative eigenvalues, but neither the dissimilarities of training objects nor those of new
    objects need to be corrected.

    Parameters
    ----------
    prototypes_per_class : int or dict, default=1
        Number of prototypes for every class, or a dict with the number for each class label.
    %(dissimilarities)s
    n_components : int, default=200
        Maximum number of directions in which prototypes move, those of largest variance. Smaller values are faster.
    sparsity : int, optional
        Number of objects that each prototype combines after training: the nearest objects of its class. New objects are
        then compared with these objects only. By default, prototypes combine all objects.
    init : {"k-medoids"} or array of shape (n_prototypes, n_objects), default="k-medoids"
        Initial prototypes: the means of the objects around each medoid of a class (the class mean, for one prototype
        per class), or an array of coefficients, ordered by class, which must add up to 1 for each prototype.
    %(training)s
    %(object_patches)s
    %(reject)s
    %(running)s

    Attributes
    ----------
    coefficients_ : ndarray of shape (n_prototypes, n_support)
        Coefficient of each supporting object in each prototype.
    %(object_attributes)s

    See Also
    --------
    MedianGLVQ : Single objects as prototypes.
    GLVQ : Generalized LVQ of vectors.
    RelationalNeuralGas : Combinations of objects as prototypes, without classes.

    References
    ----------
    Hammer, Hofmann, Schleif and Zhu (2014). Learning vector quantization for (dis-)similarities. Neurocomputing 131.

    Examples
    --------
    >>> from protolearn import RelationalGLVQ
    >>> words = ["kitten", "kitchen", "mitten", "castle", "cattle", "rattle"]
    >>> model = RelationalGLVQ(metric="edit").fit(words, ["k", "k", "k", "c", "c", "c"])
    >>> model.predict(["bitten", "battle"]).tolist()
    ['k', 'c']
    """

    _constraints: ClassVar[dict[str, Constraint]] = {
        "n_components": integer(1),
        "sparsity": integer(1) | none,
        "solver": option("auto", *SOLVERS) | instance(Solver),
        "tol": number(0),
    }

    def __init__(
        self,
        prototypes_per_class: int | dict[Any, int] = 1,
        *,
        metric: Any = "precomputed",
        metric_params: dict[str, Any] | None = None,
        squared: bool = False,
        symmetrize: str = "raise",
        n_components: int = 200,
        sparsity: int | None = None,
        init: str | ArrayLike = "k-medoids",
        squashing: str = "sigmoid",
        slope: float | tuple[float, float] | None = None,
        solver: str | Solver = "auto",
        max_iter: int | None = None,
        tol: float = 1e-6,
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
        self.n_components = n_components
        self.sparsity = sparsity
        self.init = init
        self.squashing = squashing
        self.slope = slope
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol
        self.class_weight = class_weight
        self.n_approximation = n_approximation
        self.patch_size = patch_size
        self.reject_threshold = reject_threshold
        self.reject_label = reject_label
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @property
    def coefficients_(self) -> Floats:
        """Coefficient of each supporting object in each prototype."""
        check_is_fitted(self, "support_")
        return self._fitted.coefficients

    def _progress(self, n_objects: int, n_patches: int) -> Progress:
        steps = self.max_iter or get_solver(self.solver, n_objects).default_iterations
        return Progress("RelationalGLVQ", steps, self.verbose, n_runs=n_patches)

    def _learn(
        self, pairs: Pairs, y: Indices, start: Any, rng: np.random.RandomState, progress: Progress
    ) -> LearnedObjects:
        space = euclidean_part(pairs, self.n_components)
        coefficients = self._class_means(pairs, y, rng) if start is None else start
        model, interrupted = self._vector_model(space.positions(coefficients), rng, progress), False
        try:
            model.fit(space.coordinates, y, sample_weight=pairs.weights)
            progress.end_run(model.n_iter_)
        except KeyboardInterrupt:
            if not hasattr(model, "prototypes_"):
                raise
            interrupted = True
        W = model.prototypes_

        def approximate(chosen: Indices, firsts: Indices) -> Floats:
            return space.approximations(W, chosen)

        coefficients = space.combinations(W) if self.sparsity is None else self._sparse(space, W, y, self.sparsity)
        seen = Relational.at(pairs, coefficients.T).squares - euclidean_distances(space.coordinates, W, squared=True)
        beyond = float(np.average(seen.mean(axis=1), weights=pairs.weights))
        return LearnedObjects(coefficients, approximate, model.cost_history_, interrupted, beyond)

    def _vector_model(self, W: Floats, rng: np.random.RandomState, progress: Progress) -> GLVQ:
        """Return the classifier that learns from coordinates of the objects, starting at W."""
        return GLVQ(
            dict(enumerate(np.bincount(self._codes).tolist())),
            init=W,
            squashing=self.squashing,
            slope=self.slope,
            solver=self.solver,
            max_iter=self.max_iter,
            tol=self.tol,
            n_jobs=self.n_jobs,
            random_state=rng,
            callback=lambda state: progress.step(state.iteration, cost=state.cost),
        )

    def _class_means(self, pairs: Pairs, y: Indices, rng: np.random.RandomState) -> Floats:
        """Return coefficients (k, n) of the means around the medoids of each class."""
        coefficients = np.zeros((len(self._codes), len(y)))
        for code, count in enumerate(np.bincount(self._codes).tolist()):
            members, places = np.flatnonzero(y == code), np.flatnonzero(self._codes == code)
            fields = np.zeros(len(members), np.int64)
            if count > 1:
                fields = first_medoids(pairs, members, count, rng).squares.argmin(axis=1)
            coefficients[places[fields], members] = pairs.weights[members]
            for place in places[np.bincount(fields, minlength=count) == 0]:  # of objects that do not differ
                coefficients[place, members] = pairs.weights[members]
        return coefficients / coefficients.sum(axis=1, keepdims=True)

    def _sparse(self, space: EuclideanPart, W: Floats, y: Indices, n_nearest: int) -> Floats:
        """Return coefficients (k, n) on a few objects: for each prototype, the nearest of its class."""
        squares = euclidean_distances(space.coordinates, W, squared=True)
        order = np.argsort(np.where(y[:, None] == self._codes, squares, np.inf), axis=0, kind="stable")
        few = np.minimum(n_nearest, np.bincount(y)[self._codes])
        chosen = np.unique(np.concatenate([order[:m, p] for p, m in enumerate(few)]))
        coefficients = np.zeros((len(W), len(y)))
        coefficients[:, chosen] = space.approximations(W, chosen)
        return coefficients

    def _given_start(self, objects: Objects) -> Floats:
        given = given_array("init", self.init)
        shape = (len(self._codes), objects.n_seen)
        if given.shape != shape:
            raise ValueError(f"init has shape {given.shape}; expected {shape}: the coefficients of each prototype.")
        given = given[:, objects.numbers]
        if not np.allclose(given.sum(axis=1), 1.0):
            raise ValueError(
                "Each row of init, the coefficients of a prototype, must add up to 1 and use only objects "
                "of positive weight in the first patch."
            )
        return given
