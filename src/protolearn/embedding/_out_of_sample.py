"""Out-of-sample extension of embeddings without a mapping."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import MetaEstimatorMixin, clone
from sklearn.utils import Tags, get_tags
from sklearn.utils.validation import check_is_fitted, validate_data

from protolearn.core.estimator import Estimator, nothing_lost
from protolearn.core.metric import as_metric, is_learned
from protolearn.core.numerics import alike, power_of_two
from protolearn.core.parameters import instance, option, part
from protolearn.core.partitions import blockwise
from protolearn.core.threads import chunk_threads
from protolearn.core.types import Array
from protolearn.core.validation import refuse_overflow
from protolearn.dissimilarities import checked_with_scale, is_metric
from protolearn.embedding import costs
from protolearn.embedding._base import LEAST_SAMPLES, Lens, View, ViewSamples, vector_samples
from protolearn.embedding._placing import Placement
from protolearn.embedding.affinities import GaussianKernel, StudentKernel
from protolearn.embedding.costs import COSTS, ViewCost, get_cost
from protolearn.embedding.divergences import get_divergence

__all__ = [
    "OutOfSample",
]

GRAPHS = {"Isomap": "isomap", "LocallyLinearEmbedding": "lle", "SpectralEmbedding": "laplacian", "MVU": "mvu"}


KNOWN = ("SNE", "TSNE", "MappedEmbedding", "MDS", "ClassicalMDS", *GRAPHS)


class OutOfSample(View, MetaEstimatorMixin, Estimator):
    """Out-of-sample extension of an embedding: new samples minimize their cost while the training samples stay fixed.

    Parameters
    ----------
    embedding : estimator
        Estimator with ``fit_transform``: `TSNE`, `SNE`, `MVU`, scikit-learn's ``MDS``, ``Isomap``,
        ``LocallyLinearEmbedding``, ``SpectralEmbedding``, ``TSNE``, or any other if ``cost`` is given.
    cost : str or Cost or "auto", default="auto"
        Cost that a new sample minimizes, see `MappedEmbedding`; ``"auto"`` is the cost of the embedding itself.
    n_jobs : int, optional
        Number of threads; None uses as many as BLAS does.

    Attributes
    ----------
    embedding_estimator_ : estimator
        The fitted embedding.
    embedding_ : ndarray of shape (n_samples, n_components)
        Positions of the training samples.
    cost_ : Cost
        Cost that new samples minimize.
    n_features_in_ : int
        Number of features seen during ``fit``.

    See Also
    --------
    MappedEmbedding : Learns a mapping together with the view, which is much faster for many new samples.

    Notes
    -----
    If the embedding uses a learned metric, new samples are compared by it as well. If it takes precomputed
    dissimilarities, `transform` expects those of new samples (rows) to the training samples (columns). New samples are
    placed independently of each other. A training sample is returned at its own position.

    References
    ----------
    Bunte, K. (2011). Adaptive dissimilarity measures, dimension reduction and visualization, section 6.2.2. PhD thesis,
    University of Groningen.

    Examples
    --------
    >>> from protolearn import TSNE, OutOfSample
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> view = OutOfSample(TSNE(perplexity=20, random_state=0)).fit(X[::2])
    >>> view.transform(X[1::2]).shape
    (75, 2)
    """

    _lens: Lens | None = None  # of a learned metric
    _constraints = {"embedding": part("fit_transform"), "cost": option("auto", *COSTS) | instance(ViewCost)}

    def __init__(self, embedding: Any, cost: str | ViewCost = "auto", n_jobs: int | None = None) -> None:
        self.embedding = embedding
        self.cost = cost
        self.n_jobs = n_jobs

    @nothing_lost
    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> Self:
        """Fit the embedding.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or (n_samples, n_samples)
            Samples, or their dissimilarities if the embedding expects them.
        y : array-like, optional
            Target values that are passed on to the embedding.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        self._check_parameters()
        embedding, given, seen = self._read(X)
        cost = None if isinstance(self.cost, str) and self.cost == "auto" else get_cost(self.cost)
        if cost is None:
            _check_known(self.embedding)
        with chunk_threads(1):
            samples = self._samples(seen)
        self.embedding_estimator_ = embedding
        self.embedding_ = np.asarray(embedding.fit_transform(given, y))
        self.cost_ = cost or _own_cost(self.embedding_estimator_)
        with chunk_threads(1):
            unit = self.cost_.unit(samples)
        placed = np.flatnonzero(~np.isnan(self.embedding_).any(axis=1))
        positions = self.embedding_[placed].astype(np.float64) / unit
        self._placing = Placement(self.cost_, samples.part(placed), positions, unit, self._squared, self.n_jobs, placed)
        return self

    @blockwise
    def transform(self, X: ArrayLike) -> Array:
        """Place new samples in the view.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or (n_samples, n_training_samples)
            Samples, or their dissimilarities to the training samples.

        Returns
        -------
        positions : ndarray of shape (n_samples, n_components)
            Positions of the new samples.
        """
        check_is_fitted(self, "embedding_")
        if self._lens is None:
            seen = validate_data(self, X, dtype=(np.float64, np.float32), reset=False)
            seen = seen if _is_pairwise(self.embedding) else refuse_overflow(seen)
        else:
            validate_data(self, X, skip_check_array=True, reset=False)
            seen = self._lens.see(X)
        return self._placing.place(seen).astype(self.embedding_.dtype)

    def __sklearn_tags__(self) -> Tags:
        """Declare the input types of the embedding."""
        tags = super().__sklearn_tags__()
        if not hasattr(self.embedding, "get_params"):
            return tags
        inner = get_tags(self.embedding)
        tags.input_tags.pairwise = _is_pairwise(self.embedding)
        tags.input_tags.positive_only = inner.input_tags.positive_only
        tags.target_tags.required = inner.target_tags.required
        tags.transformer_tags.preserves_dtype = []
        return tags

    @property
    def _squared(self) -> bool:
        return self._lens is None and bool(getattr(self.embedding, "squared", False))

    def _sees_pairs(self) -> bool:
        return _is_pairwise(self.embedding) if self._lens is None else not self._lens.metric.is_global

    def _read(self, X: Any) -> tuple[Any, Any, Array]:
        """Return the embedding to fit, its input, and the vectors or dissimilarities that this input represents."""
        embedding = clone(self.embedding)
        metric = getattr(self.embedding, "metric", None)
        self._lens = None
        if not is_learned(metric):
            given = validate_data(self, X, dtype=(np.float64, np.float32), ensure_min_samples=LEAST_SAMPLES)
            return embedding, given, given
        embedding.set_params(metric=as_metric(metric, type(self).__name__))  # a clone is not fitted
        validate_data(self, X, skip_check_array=True)
        self._lens = Lens.of(embedding.metric, X)
        return embedding, X, Lens(embedding.metric).see(X)

    def _samples(self, X: Array) -> ViewSamples:
        if not self._sees_pairs():
            if alike(X, computed=self._lens is not None):
                raise ValueError("All samples are the same, so there is nothing to arrange; give samples that differ.")
            return vector_samples(X.astype(np.float64))
        given, largest = checked_with_scale(X.astype(np.float64), squared=self._squared, symmetrize="mean")
        if not largest:
            raise ValueError("All dissimilarities are zero, so there is nothing to arrange; give objects that differ.")
        unit = power_of_two(largest)
        squares = np.maximum(given / unit, 0.0) if self._squared else np.square(given / unit)
        return ViewSamples(None, squares, float(np.sqrt(unit)) if self._squared else unit)


def _is_pairwise(embedding: Any) -> bool:
    own = embedding.get_params(deep=False)
    return any(own.get(name) == "precomputed" for name in ("metric", "dissimilarity") if isinstance(own.get(name), str))


def _check_known(embedding: Any) -> None:
    """Refuse an embedding whose cost is known to be unavailable before it is fitted."""
    name, own = type(embedding).__name__, embedding.get_params(deep=False)
    if name not in KNOWN:
        raise ValueError(
            f"The cost that {name} minimizes is unknown; give one, such as cost='tsne', by which new samples are "
            "placed."
        )
    metric = own.get("metric", "euclidean")
    if is_learned(metric):
        return
    other = not is_metric(metric, "euclidean", "minkowski", "precomputed")
    if name == "MDS":  # whose metric was once whether it is metric
        other = (other and isinstance(metric, str)) or not own.get("metric_mds", metric)
    other = other or (metric == "minkowski" and own.get("p", 2) != 2)
    other = other or own.get("affinity", "nearest_neighbors") != "nearest_neighbors"
    if other or own.get("method") in ("hessian", "modified", "ltsa"):
        raise ValueError(f"New samples of {embedding!r} cannot be placed: use Euclidean or precomputed distances.")


def _own_cost(embedding: Any) -> ViewCost:
    """Return the cost that a fitted embedding minimizes."""
    name, own = type(embedding).__name__, embedding.get_params(deep=False)
    if name in GRAPHS:
        if own.get("radius") is None:
            graph = {"n_neighbors": getattr(embedding, "n_neighbors_", own["n_neighbors"])}
        else:
            graph = {"radius": own["radius"]}
        joins = "connect" if name == "Isomap" else "raise"
        return getattr(costs, GRAPHS[name])(**graph, components=own.get("components", joins))
    if name in ("SNE", "TSNE"):
        symmetric = own.get("symmetric", True)
        dof = own.get("dof", max(own["n_components"] - 1.0, 1.0))
        kernel = costs.KernelView(GaussianKernel() if name == "SNE" else StudentKernel(dof), symmetric)
        divergence = get_divergence(own.get("divergence", "kl"))
        return ViewCost(costs.Affinities(own["perplexity"], symmetric), kernel, divergence)
    if name == "MappedEmbedding":
        return get_cost(own["cost"])
    return costs.mds() if name == "MDS" else costs.strain()
