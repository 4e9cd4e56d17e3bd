r"""Distances and projections in the learned metric of a classifier: each sample is measured by that of its winner.

With the relevance matrices :math:`\Lambda_k = \Omega_k^\top \Omega_k` of the prototypes and the winner :math:`J(x)` of
a sample x, the dissimilarity of two samples is :math:`d(x, z) = (x - z)^\top \Lambda_{J(x)} (x - z)`. It turns every
embedding that accepts distances into a supervised one. The computations are those of `protolearn.LearnedMetric`.

`fisher_distances` are distances by the class probabilities of a classifier, and `class_aware_distances` depend on the
class labels of the samples, without a classifier.
"""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from sklearn.base import MetaEstimatorMixin, clone
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_array, check_consistent_length, validate_data

from protolearn.core.estimator import Estimator, nothing_lost
from protolearn.core.graphs import NeighborGraph, PointSet
from protolearn.core.metric import LearnedMetric, as_metric
from protolearn.core.neighbors import first_nearest
from protolearn.core.parameters import constrained, instance, integer, none, number, option, part, positive
from protolearn.core.samples import all_labels
from protolearn.core.threads import HELD, Threads, chunk_threads, row_blocks
from protolearn.core.types import Array, Floats
from protolearn.dissimilarities import shortest_paths
from protolearn.embedding._base import Embedding, View, vector_samples
from protolearn.embedding._local_weights import locally_linear, reconstruction_weights
from protolearn.embedding._neighbors import nearest_in_matrix
from protolearn.embedding._tsne import TSNE
from protolearn.lvq import LGMLVQ

__all__ = [
    "class_aware_distances",
    "discriminative_distances",
    "fisher_distances",
    "local_projection",
]

MOST = 300.0  # exponent from which distances of samples of different classes grow no more, short of infinity


def discriminative_distances(
    model: Any, X: Any, Z: Any = None, *, squared: bool = False, symmetrize: str | None = "mean"
) -> Array:
    r"""Compute distances between samples in the learned metric of a classifier.

    Sample :math:`x_i` measures its squared distances to all others with the relevance matrix of its winner, prototype
    J(i),

    .. math:: D_{ij} = (x_i - x_j)^\top \Lambda^{J(i)} (x_i - x_j).

    Samples that are alike to the classifier are close to each other, even if they differ in irrelevant features. D is
    not symmetric between the receptive fields of prototypes with different metrics, and there only small distances are
    meaningful.

    Parameters
    ----------
    model : object
        Fitted LVQ classifier with relevances or matrices of any kind (`LGMLVQ`, `GMLVQ`, `LLiRaMLVQ`, `LGRLVQ`,
        `GRLVQ`), or without (`GLVQ`); a fitted `LMNN` or `LFDA`; a pipeline that ends in one of them, where distances
        are measured after the preceding steps; or anything else that `protolearn.as_metric` accepts.
    X : array-like of shape (n, n_features)
        Samples, without missing values.
    Z : array-like of shape (m, n_features), optional
        Samples to compare with; by default the samples of ``X`` are compared with each other.
    squared : bool, default=False
        Whether to return D itself, which is a squared distance, instead of its square root. Most embeddings expect the
        root.
    symmetrize : {"mean", "min", "max"} or None, default="mean"
        Rule that combines the squared distances of two samples by the metric of one and of the other. None keeps the
        distance by the metric of the row.

    Returns
    -------
    D : ndarray of shape (n, n) or (n, m)
        Distances, in single precision for samples in single precision. Without ``Z`` the diagonal is zero.

    See Also
    --------
    local_projection : Projection of samples by the matrices of their winners.
    DiscriminativeEmbedding : Embeddings by these distances.

    References
    ----------
    Bunte (2011). Adaptive dissimilarity measures, dimension reduction and visualization. PhD thesis, University of
    Groningen, section 7.2.

    Examples
    --------
    Nearest neighbors by the learned distance are more often of the same class.

    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import StandardScaler
    >>> from protolearn import LGMLVQ
    >>> from protolearn.embedding import discriminative_distances
    >>> from protolearn.metrics import nearest_neighbor_error
    >>> X, y = load_wine(return_X_y=True)
    >>> X = StandardScaler().fit_transform(X)
    >>> D = discriminative_distances(LGMLVQ(random_state=0).fit(X, y), X)
    >>> nearest_neighbor_error(D, y, metric="precomputed") < 0.02 < nearest_neighbor_error(X, y)
    True
    """
    metric = as_metric(model, "discriminative_distances")
    return metric.distances(X, Z, squared=squared, symmetrize=symmetrize)


def local_projection(model: Any, X: Any, centered: bool = False) -> Array:
    """Project each sample by the matrix of its winner: ``Omega_J x`` for the winning prototype J.

    The coordinates of different prototypes have the same origin but not the same axes, so samples from different
    receptive fields may overlap.

    Parameters
    ----------
    model : object
        Fitted model, see `discriminative_distances`. With ``n_components=2`` the projection is a two-dimensional view.
    X : array-like of shape (n, n_features)
        Samples, without missing values.
    centered : bool, default=False
        Whether to center the projection on the winner, ``Omega_J (x - w_J)``, which places every prototype at the
        origin.

    Returns
    -------
    Z : ndarray of shape (n, M)
        Projected samples.

    See Also
    --------
    protolearn.lvq.LGMLVQ.local_transform : Projections of samples by each prototype.

    References
    ----------
    Bunte (2011). Adaptive dissimilarity measures, dimension reduction and visualization. PhD thesis, University of
    Groningen, eqs. 6.19 and 7.2.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protolearn import LGMLVQ
    >>> from protolearn.embedding import local_projection
    >>> X, y = load_iris(return_X_y=True)
    >>> local_projection(LGMLVQ(n_components=2, random_state=0).fit(X, y), X).shape
    (150, 2)
    """
    return as_metric(model, "local_projection").project(X, centered)


@constrained(alpha=number(0, 1), width=positive | none)
def class_aware_distances(X: Any, y: ArrayLike, *, alpha: float = 0.5, width: float | None = None) -> Floats:
    r"""Compute dissimilarities that contract classes and separate them from each other, as in supervised Isomap.

    With Euclidean distances d and a width :math:`\beta`,

    .. math:: D_{ij} = \begin{cases} \sqrt{1 - \exp(-d_{ij}^2 / \beta)} & \text{if } y_i = y_j \\
                                      \sqrt{\exp(d_{ij}^2 / \beta)} - \alpha & \text{otherwise.} \end{cases}

    Samples of the same class have a dissimilarity of at most 1, however distant they are in the data; samples of
    different classes have one of at least :math:`1 - \alpha`, however close they are. `ClassicalMDS` of the shortest
    paths along these dissimilarities (`protolearn.dissimilarities.geodesic`) is supervised Isomap; all embeddings
    accept them with ``metric="precomputed"``.

    Parameters
    ----------
    X : array-like of shape (n, n_features)
        Samples.
    y : array-like of shape (n,)
        Class labels of the samples.
    alpha : float, default=0.5
        Reduction of the dissimilarities between different classes, from 0 to 1; their minimum is :math:`1 - \alpha`.
    width : float, optional
        Squared length scale of the kernel. The default is the mean squared distance of all pairs, which makes the
        dissimilarities independent of units.

    Returns
    -------
    D : ndarray of shape (n, n)
        Dissimilarities of all pairs.

    See Also
    --------
    discriminative_distances : Distances learned by a classifier, which are also defined for new samples.

    Notes
    -----
    Classes are separated in the view by construction. The view shows the arrangement of samples within each class and
    says nothing about how well classes can be discriminated.

    References
    ----------
    Geng, X., Zhan, D.-C., Zhou, Z.-H. (2005). Supervised nonlinear dimensionality reduction for visualization and
    classification. IEEE Transactions on Systems, Man, and Cybernetics B 35, 1098-1107.

    Examples
    --------
    >>> from protolearn.embedding import class_aware_distances
    >>> class_aware_distances([[0.0], [1.0], [2.0]], ["a", "a", "b"], width=1.0).round(3)
    array([[0.   , 0.795, 6.889],
           [0.795, 0.   , 1.149],
           [6.889, 1.149, 0.   ]])
    """
    vectors = check_array(X, dtype=np.float64, ensure_min_samples=2)
    classes = all_labels(y, "a distance that knows classes")
    check_consistent_length(vectors, classes)
    samples = vector_samples(vectors)
    squares = samples.all_squares()
    mean = float(squares.sum()) / (len(squares) * (len(squares) - 1))
    if not mean:
        raise ValueError("All samples are the same, so there are no distances; give samples that differ.")
    ratios = squares * (1.0 / mean if width is None else samples.unit**2 / width)
    within = np.sqrt(-np.expm1(-ratios))
    return np.where(classes[:, None] == classes, within, np.exp(np.minimum(0.5 * ratios, MOST)) - alpha)


@constrained(model=part("predict_proba"), n_steps=integer(1))
def fisher_distances(
    model: Any,
    X: Any,
    *,
    n_neighbors: int = 10,
    n_steps: int = 10,
    components: str = "raise",
    n_jobs: int | None = None,
) -> Floats:
    r"""Distances along which the probabilities of the classes change, as in the supervised NeRV.

    With the Fisher information :math:`J(x) = \sum_c p(c|x)\, \nabla \log p(c|x) \nabla \log p(c|x)^\top` a small step
    has the length

    .. math:: d(x, x + dx)^2 = dx^\top J(x)\, dx = 4 \sum_c \big(d \sqrt{p(c|x)}\big)^2 ,

    which is that of an arc on a sphere, and needs no derivatives. Directions in which no class becomes more probable
    have no length. Samples are joined to their neighbors by straight lines, and distances are the shortest paths along
    these. Views that take them as ``metric="precomputed"`` are supervised; with ``SNE(divergence=NeRV(trade_off))``
    this is the supervised neighbor retrieval visualizer.

    Parameters
    ----------
    model : object
        A fitted classifier with ``predict_proba``, of protolearn, scikit-learn or others, or a pipeline that ends in
        one. Its probabilities should change smoothly: samples whose probabilities are the same are at distance zero.
    X : array-like of shape (n, n_features)
        Samples, without missing values.
    n_neighbors : int, default=10
        Neighbors, by Euclidean distance, that each sample is joined to.
    n_steps : int, default=10
        Steps along each line, between which probabilities should not change much.
    components : {"raise", "connect"}, default="raise"
        What becomes of a graph of neighbors that falls apart, see `protolearn.dissimilarities.geodesic`.
    n_jobs : int, optional
        Number of threads that look for neighbors.

    Returns
    -------
    D : ndarray of shape (n, n)
        Distances, a pseudometric.

    See Also
    --------
    discriminative_distances : Distances in the learned metric of a classifier.

    Notes
    -----
    What `discriminative_distances` says about views made with the labels that they show holds here, too: for an honest
    one, fit the classifier to other samples.

    References
    ----------
    Venna, J., Peltonen, J., Nybo, K., Aidos, H., Kaski, S. (2010). Information retrieval perspective to nonlinear
    dimensionality reduction for data visualization. JMLR 11, 451-490, section 5.

    Peltonen, J., Klami, A., Kaski, S. (2004). Improved learning of Riemannian metrics for exploratory analysis. Neural
    Networks 17, 1087-1100.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import StandardScaler
    >>> from protolearn import RSLVQ, SNE
    >>> from protolearn.embedding import fisher_distances
    >>> from protolearn.embedding.divergences import NeRV
    >>> from protolearn.metrics import nearest_neighbor_error
    >>> X, y = load_wine(return_X_y=True)
    >>> X = StandardScaler().fit_transform(X)
    >>> D = fisher_distances(RSLVQ(random_state=0).fit(X, y), X)
    >>> view = SNE(divergence=NeRV(0.5), metric="precomputed", max_iter=300, random_state=0).fit_transform(D)
    >>> nearest_neighbor_error(view, y) < nearest_neighbor_error(X, y)
    True
    """
    vectors = check_array(X, dtype=np.float64, ensure_min_samples=2)
    with chunk_threads(n_jobs) as n_threads:
        search = partial(first_nearest, threads=Threads(n_threads))
        joined = NeighborGraph(n_neighbors, components=components).graph(PointSet(vectors - vectors[0], None), search)
    edges = joined.tocoo()
    once = edges.row < edges.col
    first, second = edges.row[once], edges.col[once]
    squares = np.empty(len(first))
    for some in row_blocks(len(first), 2 * 8 * vectors.shape[1], HELD):
        squares[some] = _arcs(model, vectors[first[some]], vectors[second[some]], n_steps) ** 2
    return shortest_paths(csr_array((squares, (first, second)), shape=joined.shape))


def _arcs(model: Any, start: Floats, end: Floats, n_steps: int) -> Floats:
    """Return how far the roots of probabilities move on a sphere of radius 2 along straight lines (m, d)."""
    lengths, last = np.zeros(len(start)), np.sqrt(model.predict_proba(start))
    for step in range(1, n_steps + 1):
        share = step / n_steps
        here = np.sqrt(model.predict_proba((1.0 - share) * start + share * end))
        chords = np.sqrt(np.square(here - last).sum(axis=1))
        lengths += 4.0 * np.arcsin(np.minimum(0.5 * chords, 1.0))
        last = here
    return lengths


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
