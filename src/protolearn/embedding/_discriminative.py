"""Supervised embeddings: any embedding, with distances in the metric that a classifier has learned."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from sklearn.base import MetaEstimatorMixin, clone
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import validate_data

from protolearn.core.estimator import Estimator, nothing_lost
from protolearn.core.metric import LearnedMetric, as_metric
from protolearn.core.parameters import instance, integer, none, option, part
from protolearn.core.threads import chunk_threads
from protolearn.core.types import Array
from protolearn.embedding._base import Embedding, View
from protolearn.embedding.charts._local_weights import locally_linear, reconstruction_weights
from protolearn.embedding.neighbor._neighbors import nearest_in_matrix
from protolearn.embedding.neighbor._sne import TSNE
from protolearn.lvq import LGMLVQ

__all__ = ["DiscriminativeEmbedding"]


class DiscriminativeEmbedding(View, MetaEstimatorMixin, Estimator):
    """Supervised embedding (view): distances come from a classifier, and positions from any embedding.

    A classifier is fitted first. In the embedding, distances in its learned metric, see
    `protolearn.embedding.discriminative_distances`, then replace Euclidean distances. Features that do not discriminate
    between classes have little influence, so the view shows classes, borders and outliers where an unsupervised view
    shows noise.

    Parameters
    ----------
    classifier : object, optional
        LVQ classifier, `LMNN` or `LFDA`, or a pipeline that ends in one, which is advisable for features of different
        scales; `LGMLVQ` by default. It is cloned and fitted, unless it is fitted already and wrapped in scikit-learn's
        ``FrozenEstimator``. A `LearnedMetric` is accepted as well.
    embedding : object or "lle", optional
        Any embedding that accepts precomputed distances by its parameter ``metric`` (`TSNE`, `SNE`, `XOM`, `SONE`; MDS,
        Isomap and TSNE of scikit-learn; UMAP), scikit-learn's SpectralEmbedding with neighbors, or one for which the
        learned metric selects the neighbors: `MVU` and scikit-learn's LocallyLinearEmbedding, or ``"lle"`` for the
        latter with default parameters. It is cloned and configured for precomputed distances or neighbors. The default
        is `TSNE` with a perplexity of 30, or of a third of the samples if there are fewer than 90.

    Attributes
    ----------
    classifier_ : object
        Fitted classifier, or the given metric.
    embedding_estimator_ : object
        Fitted embedding. Of a locally linear embedding, only ``embedding_`` and the parameters are set.
    embedding_ : ndarray of shape (n_samples, n_components)
        Positions of the samples in the view.
    n_features_in_ : int
        Number of features seen during ``fit``.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if ``X`` has names.

    See Also
    --------
    protolearn.embedding.discriminative_distances : Distances in the learned metric.
    protolearn.embedding.local_projection : A view without an embedding.

    Notes
    -----
    The view uses the labels of its own samples, so a low nearest-neighbor error says little about new samples. For an
    unbiased view, fit the classifier to other samples and wrap it in ``FrozenEstimator``.

    The learned metric often moves classes so far apart that the neighborhood graph is not connected. No sample is ever
    left out. Neighbor embeddings (`TSNE`, `SNE`, `SONE`) show components as islands. Isomap connects the nearest
    samples of two components, with a warning. Locally linear and spectral embeddings issue a warning and may show
    components as single points. `MVU` raises an error. More neighbors connect the components.

    Locally linear embedding takes neighbors from the learned metric and reconstructs samples from them in the original
    features. `MVU` takes neighbors from the learned metric and preserves their original distances. All other embeddings
    use the learned distances only, symmetrized by the mean of their squares.

    Memory grows with the square of the number of samples. For a single global metric, as in `GMLVQ`, `LMNN` and `LFDA`,
    ``make_pipeline(GMLVQ(), TSNE())`` computes a view from the same distances without this cost.

    References
    ----------
    Bunte (2011). Adaptive dissimilarity measures, dimension reduction and visualization. PhD thesis, University of
    Groningen, chapter 7.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from protolearn import LGMLVQ, TSNE, DiscriminativeEmbedding
    >>> from protolearn.metrics import nearest_neighbor_error
    >>> X, y = load_wine(return_X_y=True)
    >>> classifier = make_pipeline(StandardScaler(), LGMLVQ(random_state=0))
    >>> view = DiscriminativeEmbedding(classifier, TSNE(random_state=0)).fit_transform(X, y)
    >>> nearest_neighbor_error(view, y) < 0.02
    True
    """

    _constraints = {
        "classifier": part() | instance(LearnedMetric) | none,
        "embedding": option("lle") | part("fit_transform") | none,
    }

    def __init__(self, classifier: Any = None, embedding: Any = None) -> None:
        self.classifier = classifier
        self.embedding = embedding

    @nothing_lost
    def fit(self, X: Any, y: ArrayLike | None = None) -> Self:
        """Fit the classifier, then the embedding.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples, without missing values.
        y : array-like of shape (n_samples,)
            Class labels, at least two different ones. Not needed for a classifier that is fitted already.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        self._check_parameters()
        learned = isinstance(self.classifier, LearnedMetric)
        validate_data(self, X, skip_check_array=True)
        classifier: Any = LGMLVQ(random_state=0) if self.classifier is None else clone(self.classifier)
        self.classifier_ = classifier if learned else classifier.fit(X, y)
        metric = as_metric(self.classifier_, type(self).__name__)
        with chunk_threads(1):
            vectors = metric.samples(X, type(self).__name__)
        self.embedding_estimator_ = self._chosen_embedding(len(vectors))
        self.embedding_ = arranged(self.embedding_estimator_, metric.inner, vectors)
        return self

    def __sklearn_tags__(self) -> Tags:
        """Declare that class labels are required."""
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

    def _chosen_embedding(self, n_samples: int) -> Any:
        """Return the embedding to be fitted."""
        if self.embedding is None:
            return TSNE(perplexity=min(30.0, n_samples / 3.0), random_state=0)
        if isinstance(self.embedding, str):
            from sklearn.manifold import LocallyLinearEmbedding

            return LocallyLinearEmbedding()
        return clone(self.embedding)


def arranged(embedding: Any, metric: LearnedMetric, X: Array) -> Array:
    """Fit an embedding to samples in a learned metric; return their positions."""
    from sklearn.manifold import LocallyLinearEmbedding

    if isinstance(embedding, LocallyLinearEmbedding):
        return _by_reconstruction(embedding, metric, X)
    parameters = embedding.get_params(deep=False)
    if "connectivity" in parameters:  # Bunte 2011, section 7.2.7: the metric chooses neighbors, and no lengths
        near = learned_neighbors(metric, X, parameters["n_neighbors"])
        return np.asarray(embedding.set_params(connectivity=_graph(near)).fit_transform(X))
    embedding.set_params(**_for_distances(embedding, parameters, len(X)))
    return np.asarray(embedding.fit_transform(metric.distances(X)))


def learned_neighbors(metric: LearnedMetric, X: Array, k: int) -> Array:
    """Return the k nearest others (n, k) of each sample, by the matrix of its winner."""
    integer(1, len(X) - 1).check("n_neighbors", k, f" for n_samples={len(X)}")
    return np.asarray(nearest_in_matrix(metric.distances(X, squared=True, symmetrize=None), k).indices)


def _by_reconstruction(embedding: Any, metric: LearnedMetric, X: Array) -> Array:
    """Arrange samples such that their neighbors in the learned metric reconstruct them as in the data."""
    if embedding.method != "standard":
        raise ValueError(f"method={embedding.method!r} must be one of 'standard' for neighbors by a learned metric.")
    near = learned_neighbors(metric, X, embedding.n_neighbors)  # Bunte 2011, section 7.2.3
    n_groups = _n_closed(_graph(near))
    if n_groups > 1:
        warnings.warn(
            f"With n_neighbors={embedding.n_neighbors} there are {n_groups} groups of samples without neighbors "
            "outside, each of which locally linear embedding may show as one point. Raise n_neighbors to join them.",
            UserWarning,
            stacklevel=5,
        )
    rng = check_random_state(embedding.random_state)
    with chunk_threads(1):
        weights = reconstruction_weights(X, near, embedding.reg)
        embedding.embedding_ = locally_linear(weights, embedding.n_components, rng)
    return embedding.embedding_


def _for_distances(embedding: Any, parameters: dict[str, Any], n_samples: int) -> dict[str, Any]:
    """Return the parameters by which an embedding takes distances of all pairs."""
    if isinstance(embedding, Embedding):
        return {"metric": "precomputed", "squared": False}
    if parameters.get("affinity") == "nearest_neighbors":
        k = parameters["n_neighbors"] or max(1, n_samples // 10)
        return {"affinity": "precomputed_nearest_neighbors", "n_neighbors": k}
    if "metric" not in parameters:
        raise ValueError(
            f"embedding={embedding!r} cannot use learned distances: it has no parameter `metric` for precomputed "
            "distances, and no neighbors. Use TSNE, SNE, XOM, SONE or MVU of protolearn, or MDS, Isomap, "
            "LocallyLinearEmbedding or SpectralEmbedding(affinity='nearest_neighbors') of scikit-learn."
        )
    if isinstance(parameters["metric"], bool):  # MDS before scikit-learn 1.8
        return {"dissimilarity": "precomputed"}
    # Principal components, with which scikit-learn's TSNE begins by default, need vectors.
    begins = {"init": "random"} if str(parameters.get("init")) == "pca" else {}
    return {"metric": "precomputed"} | begins


def _graph(indices: Array) -> csr_array:
    """Return the graph (n, n) that joins each sample to its neighbors (n, k)."""
    n, k = indices.shape
    return csr_array((np.ones(n * k, bool), indices.ravel(), np.arange(0, n * k + 1, k)), shape=(n, n))


def _n_closed(graph: csr_array) -> int:
    """Return the number of groups of samples from which no path leads to others."""
    n_groups, labels = connected_components(graph, connection="strong")
    start, end = (labels[side] for side in graph.nonzero())
    return n_groups - len(np.unique(start[start != end]))
