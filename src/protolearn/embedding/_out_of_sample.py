"""New samples in any view: a map for embeddings that have none."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, MetaEstimatorMixin, TransformerMixin, clone
from sklearn.utils import Tags, get_tags
from sklearn.utils.validation import check_is_fitted, validate_data

from protolearn.core.validation import undone_on_error
from protolearn.embedding import costs
from protolearn.embedding._base import LEAST_SAMPLES, Samples, power_of_two, vector_samples
from protolearn.embedding._placing import Placing
from protolearn.embedding.costs import Cost, get_cost

__all__ = ["OutOfSample"]


class OutOfSample(ClassNamePrefixFeaturesOutMixin, MetaEstimatorMixin, TransformerMixin, BaseEstimator):
    """Places new samples into a view that has no map: each goes where it costs least, while all others rest.

    Parameters
    ----------
    embedding : estimator
        Anything with ``fit_transform``: `TSNE`, `SNE`, `MVU`, scikit-learn's ``MDS``, ``Isomap``,
        ``LocallyLinearEmbedding``, ``SpectralEmbedding``, ``TSNE``, and others if ``cost`` is given.
    cost : str or Cost or "auto", default="auto"
        What a new sample minimises, see `MappedEmbedding`; by default what the embedding itself minimises.
    n_jobs : int, optional
        Number of threads; None means as many as BLAS may use.

    Attributes
    ----------
    embedding_estimator_ : estimator
        The fitted embedding.
    embedding_ : ndarray of shape (n_samples, n_components)
        Positions of the training samples.
    cost_ : Cost
        What new samples minimise.
    n_features_in_ : int
        Number of features seen in ``fit``.

    See Also
    --------
    MappedEmbedding : Learns a map together with the view, which is much faster for many new samples.

    Notes
    -----
    If the embedding takes precomputed dissimilarities, `transform` takes those of new samples (rows) to the training
    samples (columns). New samples do not see each other. A training sample has its own position.

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

    def __init__(self, embedding: Any, cost: str | Cost = "auto", n_jobs: int | None = None) -> None:
        self.embedding = embedding
        self.cost = cost
        self.n_jobs = n_jobs

    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> Self:
        """Fit the embedding.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or (n_samples, n_samples)
            Samples, or their dissimilarities if the embedding takes these.
        y : array-like, optional
            Handed to the embedding.

        Returns
        -------
        self : object
            The fitted view.
        """
        with undone_on_error(self):
            given = validate_data(self, X, dtype=(np.float64, np.float32), ensure_min_samples=LEAST_SAMPLES)
            self.cost_ = _own_cost(self.embedding) if self.cost == "auto" else get_cost(self.cost)
            self.embedding_estimator_ = clone(self.embedding)
            self.embedding_ = np.asarray(self.embedding_estimator_.fit_transform(given, y))
            samples = self._samples(given)
            unit = self.cost_.unit(samples)
            positions = self.embedding_.astype(np.float64) / unit
            self._placing = Placing(self.cost_, samples, positions, unit, self._squared, self.n_jobs)
        return self

    def fit_transform(self, X: ArrayLike, y: ArrayLike | None = None) -> NDArray[Any]:
        """Fit the embedding and return the positions of the samples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or (n_samples, n_samples)
            Samples, or their dissimilarities if the embedding takes these.
        y : array-like, optional
            Handed to the embedding.

        Returns
        -------
        positions : ndarray of shape (n_samples, n_components)
            ``embedding_``.
        """
        return self.fit(X, y).embedding_

    def transform(self, X: ArrayLike) -> NDArray[Any]:
        """Place samples in the view.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or (n_samples, n_training_samples)
            Samples, or their dissimilarities to the training samples.

        Returns
        -------
        positions : ndarray of shape (n_samples, n_components)
            Positions.
        """
        check_is_fitted(self, "embedding_")
        given = validate_data(self, X, dtype=(np.float64, np.float32), reset=False)
        return self._placing.place(given).astype(self.embedding_.dtype)

    def __sklearn_tags__(self) -> Tags:
        """Take samples as the embedding does."""
        tags = super().__sklearn_tags__()
        inner = get_tags(self.embedding)
        tags.input_tags.pairwise = inner.input_tags.pairwise
        tags.input_tags.positive_only = inner.input_tags.positive_only
        tags.target_tags.required = inner.target_tags.required
        tags.transformer_tags.preserves_dtype = []
        return tags

    @property
    def _n_features_out(self) -> int:
        return self.embedding_.shape[1]

    @property
    def _squared(self) -> bool:
        return bool(getattr(self.embedding, "squared", False))

    def _samples(self, X: NDArray[Any]) -> Samples:
        if not get_tags(self.embedding).input_tags.pairwise:
            return vector_samples(X.astype(np.float64))
        unit = power_of_two(float(np.abs(X).max()))
        unit = float(np.sqrt(unit)) if self._squared else unit
        squares = np.maximum(X / unit**2, 0.0) if self._squared else np.square(X / unit)
        return Samples(None, squares.astype(np.float64), unit)


def _own_cost(embedding: Any) -> Cost:
    """Return what an embedding minimises."""
    name, own = type(embedding).__name__, embedding.get_params(deep=False)
    if name == "SNE":
        return costs.sne(own["perplexity"], own["divergence"], own["symmetric"])
    if name == "TSNE":
        return costs.tsne(own["perplexity"], own.get("divergence", "kl"), own.get("dof", 1.0))
    if name == "MappedEmbedding":
        return get_cost(own["cost"])
    if name in ("Isomap", "LocallyLinearEmbedding", "SpectralEmbedding", "MVU"):
        make = {"Isomap": costs.isomap, "LocallyLinearEmbedding": costs.lle, "MVU": costs.mvu}
        n_neighbors = own["n_neighbors"]
        return make.get(name, costs.laplacian)(10 if n_neighbors is None else n_neighbors)
    if name == "MDS":
        return costs.mds()
    if name in ("ClassicalMDS", "PCA", "KernelPCA"):
        return costs.strain()
    raise ValueError(
        f"What {name} minimises is not known here; give a cost, such as cost='tsne', by which new samples find their "
        "places."
    )
