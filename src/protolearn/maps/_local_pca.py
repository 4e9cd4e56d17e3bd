"""Two classical models with local principal components, as special cases of maps: VQPCA and mixtures of PPCA."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from protolearn.core.learning import Epochs
from protolearn.core.loop import Step, anneal
from protolearn.core.neighborhoods import Neighborhood, Soft, Winner
from protolearn.core.parameters import Constraint, integer, number, option
from protolearn.core.prototypes import Mean
from protolearn.core.types import Floats
from protolearn.maps._docs import documented
from protolearn.maps._shaped import ShapedMap

__all__ = ["VQPCA", "MixturePPCA"]


class _LocalPCA(ShapedMap):
    """Base class of both models: no annealing, no labels and no patches."""

    n_prototypes: int | str
    tol: float
    _constraints: ClassVar[dict[str, Constraint]] = {"n_components": integer(1), "tol": number(0)}

    def __init__(
        self,
        n_prototypes: int | str = "auto",
        n_components: int = 1,
        *,
        epsilon: float = 1e-6,
        init: str | ArrayLike = "euclidean",
        n_init: int = 1,
        max_iter: int = 200,
        tol: float = 1e-6,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_prototypes = n_prototypes
        self.n_components = n_components
        self.epsilon = epsilon
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _neighborhood(self) -> Neighborhood:
        return Winner()

    def _epochs(self) -> Epochs:
        return partial(until_flat, tol=self.tol)


def until_flat(
    prototypes: Any,
    neighborhood: Neighborhood,
    source: Any,
    ranges: Floats,
    rng: np.random.RandomState,
    *,
    tol: float,
    logarithmic: bool = False,
) -> Iterator[Step]:
    """Run epochs until the decrease of the cost is small, relative to the cost or, for a logarithm, per sample."""
    before, mass = np.inf, source.mass
    for step in anneal(prototypes, neighborhood, source, ranges):
        flat = bool(before - step.cost <= tol * (mass if logarithmic else abs(step.cost)))
        yield replace(step, still=flat)
        if flat:
            return
        before = step.cost


@documented
class VQPCA(_LocalPCA):
    """Vector quantization by local PCA: each sample is assigned to the subspace that reconstructs it best.

    Minimizes the squared distance of samples to the nearest of ``n_prototypes`` affine subspaces by alternating between
    assignments and the means and principal directions. It is fast and suits compression, but depends on the
    initialization. Since a subspace is unbounded, samples far from each other may share it.

    Parameters
    ----------
    %(size)s
    n_components : int, default=1
        Dimension of each subspace.
    measure : {"reconstruction", "euclidean"}, default="reconstruction"
        Distance by which samples are assigned: the distance to the subspace, or the distance to its center. Ties
        between subspaces, up to a billionth of the squared distance along them, are broken by the distance to the
        center, except for float32 samples with more than 64 features, whose precision does not suffice.
    epsilon : float, default=1e-6
        Smallest variance allowed in the density (`score_samples`), relative to the mean variance of the prototype.
    init : {"euclidean", "k-means++", "random", "center", "pca"} or array, default="euclidean"
        Initial centers: ``"euclidean"`` is the result of k-means; for the other values see `KMeans`.
    n_init : int, default=1
        Number of runs from different initial prototypes, unless ``init`` is an array; the result with the lowest cost
        is kept.
    max_iter : int, default=200
        Maximum number of epochs. If training has not converged by then, a ``ConvergenceWarning`` is issued.
    tol : float, default=1e-6
        Training stops when an epoch lowers the cost by less than this fraction of the cost.
    %(running)s

    Attributes
    ----------
    %(attributes)s

    References
    ----------
    Kambhatla, Leen (1997). Dimension reduction by local principal component analysis. Neural Computation.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protolearn import VQPCA
    >>> X, y = load_iris(return_X_y=True)
    >>> local = VQPCA(3, 1, random_state=0).fit(X)
    >>> local.transform(X).shape
    (150, 2)
    """

    _constraints: ClassVar[dict[str, Constraint]] = {"measure": option("reconstruction", "euclidean")}

    def __init__(
        self,
        n_prototypes: int | str = "auto",
        n_components: int = 1,
        *,
        measure: str = "reconstruction",
        epsilon: float = 1e-6,
        init: str | ArrayLike = "euclidean",
        n_init: int = 1,
        max_iter: int = 200,
        tol: float = 1e-6,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            n_prototypes,
            n_components,
            epsilon=epsilon,
            init=init,
            n_init=n_init,
            max_iter=max_iter,
            tol=tol,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
        )
        self.measure = measure

    @property
    def _measure(self) -> str:
        return self.measure


@documented
class MixturePPCA(_LocalPCA):
    """Mixture of probabilistic principal component analyzers, by expectation maximization.

    The model is a mixture of normal distributions, each with individual variances along ``n_components`` directions and
    one common variance along all others. The cost is the negative log-likelihood, up to a constant.

    Parameters
    ----------
    %(size)s
    n_components : int, default=1
        Number of principal directions of each component of the mixture.
    epsilon : float, default=1e-6
        Smallest variance allowed, relative to the mean variance of the prototype.
    init : {"euclidean", "k-means++", "random", "center", "pca"} or array, default="euclidean"
        Initial centers: ``"euclidean"`` is the result of k-means; for the other values see `KMeans`.
    n_init : int, default=1
        Number of runs from different initial prototypes, unless ``init`` is an array; the result with the highest
        likelihood is kept.
    max_iter : int, default=200
        Maximum number of epochs. If training has not converged by then, a ``ConvergenceWarning`` is issued.
    tol : float, default=1e-6
        Training stops when an epoch raises the mean log-likelihood of the samples by less than this value.
    %(running)s

    Attributes
    ----------
    %(attributes)s

    References
    ----------
    Tipping, Bishop (1999). Mixtures of probabilistic principal component analyzers. Neural Computation.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protolearn import MixturePPCA
    >>> X, y = load_iris(return_X_y=True)
    >>> mixture = MixturePPCA(3, 1, random_state=0).fit(X)
    >>> mixture.weights_.sum().round(6)
    np.float64(1.0)
    """

    _mixes = True

    @property
    def _measure(self) -> str:
        return "logdet"

    def _neighborhood(self) -> Neighborhood:
        return Soft((1.0, 1.0))

    def _epochs(self) -> Epochs:
        return partial(mixture_epochs, tol=self.tol)


def mixture_epochs(
    prototypes: Any, neighborhood: Neighborhood, source: Any, ranges: Floats, rng: np.random.RandomState, *, tol: float
) -> Iterator[Step]:
    """Run expectation maximization; the first points come from k-means."""
    plain = isinstance(prototypes, Mean)
    return until_flat(
        prototypes, Winner() if plain else neighborhood, source, ranges, rng, tol=tol, logarithmic=not plain
    )
