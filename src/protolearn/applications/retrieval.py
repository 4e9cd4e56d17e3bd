"""Retrieval of similar images, with a metric that is learned from labeled images.

The distance of two images is the distance of their features, mapped by a matrix that LVQ or LMNN has learned:
``d(x, z) = |Omega (x - z)|``. The metric places images of one class near each other, even if they differ in other
respects.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from sklearn.neighbors import KDTree, NearestNeighbors
from sklearn.preprocessing import StandardScaler
from sklearn.utils import Tags, check_array, check_consistent_length, get_tags
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted, validate_data

from protolearn.applications._contact_sheet import contact_sheet
from protolearn.applications._retrieval_rates import (
    Recommendation,
    RetrievalRates,
    canonical_maps,
    checked_sizes,
    patchwork,
    retrieval_rates,
)
from protolearn.applications.color import RegionColors
from protolearn.applications.image_files import read_each, read_pair
from protolearn.core.estimator import Estimator, nothing_lost
from protolearn.core.metric import LearnedMetric, as_metric
from protolearn.core.parameters import flag, function, instance, integer, none, option, part
from protolearn.core.samples import all_labels
from protolearn.core.types import Array, Floats, Indices
from protolearn.lvq import GMLVQ, LGMLVQ, LMNN
from protolearn.metrics import precision_curve

__all__ = ["ImageRetriever", "Recommendation", "RetrievalHits", "RetrievalRates", "contact_sheet", "retrieval_rates"]


METRICS = ("liram", "local", "lmnn", "euclidean")
LOCAL_MAPS = ("query", "raw", "canonical", "centered")
LARGEST = 256  # height or width of images of a folder that only give mean colors
MOST_TREE_DIMENSIONS = 15  # beyond, products search faster than a tree
TARGETS = 25  # neighbors of the same class that LMNN pulls near; more of them serve long lists of results better


@dataclass(frozen=True)
class RetrievalHits:
    """Results of a search, with a row for each query, nearest image first.

    Attributes
    ----------
    indices : ndarray of shape (n_queries, k)
        Positions of the images in the index.
    distances : ndarray of shape (n_queries, k)
        Distances of the images from the query.
    labels : ndarray of shape (n_queries, k) or None
        Labels of the images, if the images in the index have labels.
    paths : list of list of Path, or None
        Files of the images, if the index was built from files.

    Examples
    --------
    >>> from protolearn.applications import ImageRetriever
    >>> X, y = [[0.0], [1.0], [9.0], [10.0]], ["dark", "dark", "bright", "bright"]
    >>> hits = ImageRetriever("euclidean", scale=False).fit(X, y).retrieve([[2.0]], 3)
    >>> hits.labels.tolist(), hits.distances.round(6).tolist()
    ([['dark', 'dark', 'bright']], [[1.0, 2.0, 7.0]])
    """

    indices: Indices
    distances: Floats
    labels: Array | None = None
    paths: list[list[Path]] | None = None


class ImageRetriever(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Estimator):
    r"""Retrieval of similar images, with a metric that is learned from labeled images.

    Images are described by features, by default the mean colors of two regions. Features are scaled to unit variance,
    and a metric is learned in which images of one class are near each other:

    - ``"liram"``: limited-rank matrix LVQ, `GMLVQ`, with one prototype for each class;
    - ``"local"``: a matrix for each class, `LGMLVQ`;
    - ``"lmnn"``: `LMNN` with 25 target neighbors, or as many as the smallest class allows;
    - ``"euclidean"``: no metric is learned, and labels are not needed.

    Parameters
    ----------
    metric : {"liram", "local", "lmnn", "euclidean"}, estimator or LearnedMetric, default="liram"
        Method that learns the metric. An estimator is cloned and fitted. It must be an LVQ classifier, or have ``fit``
        and ``transform``; distances are then Euclidean after ``transform``. A `LearnedMetric` is applied to the scaled
        features without further training.
    features : transformer or callable, optional
        Features of images: a transformer of lists of images or of tuples (image, mask), or a function that returns the
        feature vector of one image. The default ``RegionColors(regions="center")`` computes mean Lab colors outside and
        inside the mask, or a central ellipse for images without a mask. For these means, images of a folder are reduced
        to 256 pixels when they are read. Not used for tables of features. Unless the features must be fitted to the
        images, only one image of a folder is in memory at a time.
    n_components : int, default=3
        Rank of the metric: the number of relevant combinations of features, limited to the number of features.
    n_neighbors : int, default=11
        Default number of images that a search returns.
    scale : bool, default=True
        Whether features are scaled to zero mean and unit variance over the training images.
    local_map : {"query", "raw", "canonical", "centered"}, default="query"
        How images are compared if prototypes have local matrices, see Notes.
    on_error : {"raise", "skip"}, default="raise"
        How to handle files in a folder that cannot be used: raise an error, or skip them with a warning.
    random_state : int, RandomState instance or None, default=None
        Seed of metrics that are given by name.

    Attributes
    ----------
    metric_ : estimator, LearnedMetric or None
        The fitted metric, which applies to scaled features; None for the Euclidean metric.
    learned_metric_ : LearnedMetric or None
        Matrices of the metric; None for an estimator that only has ``transform``.
    features_ : transformer, callable or None
        Fitted transformer or function that computes features of images; None after a fit to a table.
    scaler_ : StandardScaler or None
        Fitted scaler of the features; None if ``scale`` is false.
    vectors_ : ndarray of shape (n_images, n_features)
        Scaled features of the images in the index.
    labels_ : ndarray of shape (n_images,) or None
        Labels of the images in the index.
    paths_ : list of Path or None
        Files of the images in the index, if they come from a folder.
    skipped_ : list of tuple (Path, str)
        Files that were skipped, with the reasons.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if ``X`` was a table with names.

    See Also
    --------
    retrieval_rates : Evaluates a retriever by cross-validation.
    contact_sheet : Draws queries and results.

    Notes
    -----
    *Local matrices.* The matrix of a prototype is determined only up to a rotation: :math:`\Omega_j` and
    :math:`Q \Omega_j` with an orthogonal matrix Q define the same metric. Suppose that each image x is mapped by the
    matrix of its nearest prototype J, :math:`\Omega_J x`. Distances within the receptive field of a prototype do not
    depend on Q, but distances between images in different receptive fields do. The ranking of images can then depend on
    the rotation that training, or a normal form, happened to choose. ``local_map`` offers four ways to compare images:

    - ``"query"``: all images are compared in the metric of the query, :math:`\|\Omega_J (x_{query} - x)\|` with J the
      nearest prototype of the query. It does not depend on rotations and is the default.
    - ``"raw"``: :math:`\Omega_J x` with the matrices as trained. All matrices have the same initialization and stay
      similar.
    - ``"canonical"``: :math:`\Omega_J x` with matrices in canonical form. Not recommended: eigenvectors of different
      matrices are not common axes.
    - ``"centered"``: :math:`Q_J \Omega_J (x - w_J) + \Omega w_J` with the mean metric :math:`\Omega` and rotations
      :math:`Q_J` that align each matrix with the mean metric. It does not depend on previous rotations.

    *Time.* Searches use scikit-learn's ``KDTree`` on mapped images for up to 15 dimensions, and its
    ``NearestNeighbors`` with matrix products otherwise. A query among 20,000 images takes about a millisecond.

    *Files.* A fitted retriever can be stored with ``joblib`` or ``pickle``. Load only files that you trust, because
    loading can execute arbitrary code.

    References
    ----------
    Bunte, Biehl, Jonkman, Petkov (2011). Learning effective color features for content based image retrieval in
    dermatology. Pattern Recognition 44(9), 1892-1902.

    Bunte (2011). Adaptive dissimilarity measures, dimension reduction and visualization. PhD thesis, University of
    Groningen, chapter 4.

    Examples
    --------
    Skin colors outside and inside a lesion: the learned metric finds more lesions of the same class.

    >>> from protolearn.applications import ImageRetriever
    >>> from protolearn.datasets import make_lesions
    >>> X, y = make_lesions(random_state=0)
    >>> learned, plain = (ImageRetriever(metric).fit(X[:150], y[:150]) for metric in ("liram", "euclidean"))
    >>> learned.precision_at_k(X[150:], y[150:], [11]) > plain.precision_at_k(X[150:], y[150:], [11]) + 0.1
    array([ True])
    >>> str(y[151]), learned.retrieve(X[151:152], 3).labels.tolist()
    ('white', [['white', 'white', 'white']])
    """

    _constraints = {
        "metric": option(*METRICS) | part("fit", "an estimator with fit and transform") | instance(LearnedMetric),
        "features": function("a function of one image") | part("transform", "a transformer of images") | none,
        "n_components": integer(1),
        "n_neighbors": integer(1),
        "scale": flag,
        "local_map": option(*LOCAL_MAPS),
        "on_error": option("raise", "skip"),
    }

    def __init__(
        self,
        metric: Any = "liram",
        *,
        features: Any = None,
        n_components: int = 3,
        n_neighbors: int = 11,
        scale: bool = True,
        local_map: str = "query",
        on_error: str = "raise",
        random_state: Any = None,
    ) -> None:
        self.metric = metric
        self.features = features
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.scale = scale
        self.local_map = local_map
        self.on_error = on_error
        self.random_state = random_state

    @nothing_lost
    def fit(self, X: Any, y: ArrayLike | None = None) -> Self:
        """Learn the metric from labeled images, and index these images.

        Parameters
        ----------
        X : path, sequence of images, or array-like of shape (n_images, n_features)
            One of: a folder with a sub-folder of image files for each class; images (height, width, 3), possibly of
            different sizes, or tuples (image, mask); paths of image files, with optional masks ``NAME_mask.png`` in the
            same folder; or a table of features.
        y : array-like of shape (n_images,), optional
            Labels of the images. The labels of a folder are the names of its sub-folders.

        Returns
        -------
        self : object
            The fitted retriever.
        """
        self._check_parameters()
        found = self._collected(X, y, self._features_without_fit())
        table, labels = self._read_first(found)
        self.scaler_ = StandardScaler().set_output(transform="default").fit(table) if self.scale else None
        vectors = self._scaled(table)
        self.metric_ = self._learned_metric(vectors, labels)
        self.learned_metric_ = self._found_metric()
        self._fill(vectors, labels, found)
        return self

    @nothing_lost
    def index(self, X: Any, y: ArrayLike | None = None) -> Self:
        """Replace the images in the index by other images, and keep the metric.

        A metric that was learned from some labeled images can thus be used to search many others.

        Parameters
        ----------
        X : path, sequence of images, or array-like of shape (n_images, n_features)
            Images or features, as for `fit`.
        y : array-like of shape (n_images,), optional
            Labels of the images, if available.

        Returns
        -------
        self : object
            The retriever.
        """
        check_is_fitted(self)
        found = self._collected(X, y, self.features_)
        self._fill(self._scaled(self._read(found)), found.labels, found)
        return self

    def kneighbors(
        self, X: Any = None, n_neighbors: int | None = None, return_distance: bool = True
    ) -> tuple[Floats, Indices] | Indices:
        """Find the nearest images in the index.

        Parameters
        ----------
        X : path, sequence of images, or array-like of shape (n_queries, n_features), optional
            Queries: images or features, as for `fit`, or the path of one image. By default the images of the index
            themselves; an image is not its own neighbor.
        n_neighbors : int, optional
            Number of neighbors; by default ``n_neighbors`` of the retriever.
        return_distance : bool, default=True
            Whether to return the distances as well.

        Returns
        -------
        distances : ndarray of shape (n_queries, n_neighbors)
            Distances in the learned metric, if ``return_distance`` is true.
        indices : ndarray of shape (n_queries, n_neighbors)
            Positions of the images in the index, nearest first.
        """
        check_is_fitted(self)
        if X is None:
            distances, indices = self._search(self.vectors_, n_neighbors, np.arange(len(self.vectors_)))
        else:
            distances, indices = self._search(self._queries(X), n_neighbors)
        return (distances, indices) if return_distance else indices

    def retrieve(self, X: Any, n_neighbors: int | None = None) -> RetrievalHits:
        """Find the images in the index that are most similar to each query, with their labels and files.

        Parameters
        ----------
        X : path, sequence of images, or array-like of shape (n_queries, n_features)
            Queries: images or features, as for `fit`, or the path of one image.
        n_neighbors : int, optional
            Number of results; by default ``n_neighbors`` of the retriever.

        Returns
        -------
        RetrievalHits
            Positions, distances, labels and paths of the results.
        """
        check_is_fitted(self)
        return self._hits(*self._search(self._queries(X), n_neighbors))

    def similar(self, indices: ArrayLike, n_neighbors: int | None = None) -> RetrievalHits:
        """Find the images most similar to images of the index, which are excluded from their own results.

        Parameters
        ----------
        indices : array-like of int, shape (n_queries,)
            Positions of the query images in the index.
        n_neighbors : int, optional
            Number of results; by default ``n_neighbors`` of the retriever.

        Returns
        -------
        RetrievalHits
            Positions, distances, labels and paths of the results.
        """
        check_is_fitted(self)
        own = np.asarray(indices, dtype=np.int64)
        return self._hits(*self._search(self.vectors_[own], n_neighbors, own))

    def precision_at_k(self, X: Any = None, y: ArrayLike | None = None, ks: Iterable[int] = (1, 5, 11)) -> Floats:
        """Return the fraction of the k nearest images that have the label of the query.

        Parameters
        ----------
        X : path, sequence of images, or array-like of shape (n_queries, n_features), optional
            Queries. By default each image of the index, searched among the others. If the metric was learned from these
            images, the result is too optimistic; use `retrieval_rates` for a realistic estimate.
        y : array-like of shape (n_queries,), optional
            Labels of the queries.
        ks : iterable of int, default=(1, 5, 11)
            Numbers k of results.

        Returns
        -------
        precision : ndarray of shape (n_ks,)
            Mean fraction over the queries, for each k.
        """
        check_is_fitted(self)
        if self.labels_ is None:
            raise ValueError("The images in the index have no labels; pass y to fit or index.")
        sizes = checked_sizes(ks)
        if X is None:
            found = self.kneighbors(n_neighbors=max(sizes), return_distance=False)
            return precision_curve(self.labels_[found], self.labels_, sizes)
        queries = self._collected(X, y, self.features_)
        if queries.labels is None:
            raise ValueError("The queries have no labels; give y, or a folder with a sub-folder for each class.")
        _, found = self._search(self._scaled(self._read(queries)), max(sizes))
        return precision_curve(self.labels_[found], queries.labels, sizes)

    def recommendation(self) -> Recommendation:
        """Return the features, and combinations of features, that the metric uses.

        Returns
        -------
        Recommendation
            Matrix in canonical form and names of the features; printed as a table.
        """
        check_is_fitted(self)
        metric = self.learned_metric_
        if metric is None or metric.steps is not None:
            components: Any = getattr(self.metric_, "components_", ())
            if np.shape(components)[1:] != (self.n_features_in_,):
                raise ValueError(
                    f"{type(self.metric_).__name__} has no matrix (components_) to base a recommendation on."
                )
            metric = as_metric(components)
        names = None
        if not metric.is_global:
            names = np.array([metric.labels[metric.slots == slot][0] for slot in range(len(metric.matrices))])
        return Recommendation(canonical_maps(metric), self._names, names)

    def transform(self, X: Any) -> Floats:
        """Project images such that Euclidean distances equal the distances of the search.

        Parameters
        ----------
        X : path, sequence of images, or array-like of shape (n_images, n_features)
            Images or features, as for `fit`.

        Returns
        -------
        view : ndarray of shape (n_images, n_components)
            Projected images.
        """
        check_is_fitted(self)
        if self._n_views > 1:
            raise ValueError(
                "With local_map='query' every prototype has its own projection; use another local_map for a common one."
            )
        return self._view(self._queries(X), 0)

    def __sklearn_tags__(self) -> Tags:
        """Say that labels are needed, unless the metric is Euclidean."""
        tags = super().__sklearn_tags__()
        tags.target_tags.required = isinstance(self.metric, str) and self.metric != "euclidean"
        return tags

    @property
    def _n_features_out(self) -> int:
        return self._view(self.vectors_[:1], 0).shape[1]

    def _read_first(self, found: Collection) -> tuple[Floats, Array | None]:
        """Return the features and labels of a fit, and keep what is needed to read others."""
        required = self.__sklearn_tags__().target_tags.required
        if found.are_images:
            if required and found.labels is None:
                raise ValueError("Learning a metric requires labels; give y, or use metric='euclidean'.")
            self.features_ = self._features_without_fit() or clone(self.features).fit(found.samples)
            table = self._checked_features(found)
            self.n_features_in_ = table.shape[1]
            self._names = names_of(self.features_, table.shape[1])
            return table, found.labels
        self.features_ = None
        if required or found.labels is not None:
            table, labels = validate_data(self, found.samples, found.labels, dtype=np.float64)
        else:
            table, labels = validate_data(self, found.samples, dtype=np.float64), None
        self._names = _check_feature_names_in(self)
        return table, labels

    def _collected(self, X: Any, y: ArrayLike | None = None, features: Any = None) -> Collection:
        """Return what X is; of the images of a folder only the features, unless these must be fitted to images."""
        if not isinstance(X, str | PathLike) or Path(X).is_file():
            return collected(X, y)
        if y is not None:
            raise ValueError("The labels of images in a folder are the names of its sub-folders; omit y.")
        means = self.features is None or getattr(self.features, "regions", "whole") != "whole"
        one_by_one = features is not None
        samples, labels, paths, skipped = read_each(
            X,
            (lambda pair: features_of(features, [pair])[0]) if one_by_one else (lambda pair: pair),
            self.on_error,
            max_size=LARGEST if means else None,
        )
        table = np.array(samples) if one_by_one else None
        return Collection(samples, True, labels, paths, tuple(skipped), table)

    def _features_without_fit(self) -> Any:
        """Return what makes features of single images; None if it must be fitted to images."""
        if self.features is None:
            return RegionColors(regions="center")
        if not hasattr(self.features, "transform"):
            return self.features
        return None if get_tags(self.features).requires_fit else clone(self.features).fit([])

    def _feature_table(self, X: Any, y: ArrayLike | None) -> tuple[Floats, Array | None, Array]:
        """Return features, labels and names of features, without a fit."""
        self._check_parameters()
        fresh = clone(self)
        table, labels = fresh._read_first(self._collected(X, y, self._features_without_fit()))
        return table, labels, fresh._names

    def _read(self, found: Collection) -> Floats:
        """Return the features of other images."""
        if not found.are_images:
            return validate_data(self, found.samples, dtype=np.float64, reset=False)
        if self.features_ is None:
            raise ValueError(
                f"The retriever was fitted to a table of {self.n_features_in_} features; give a table, not images."
            )
        return self._checked_features(found)

    def _checked_features(self, found: Collection) -> Floats:
        table = features_of(self.features_, found.samples) if found.table is None else found.table
        return check_array(table, input_name="features")

    def _queries(self, X: Any) -> Floats:
        return self._scaled(self._read(self._collected(X, features=self.features_)))

    def _scaled(self, table: Floats) -> Floats:
        return table if self.scaler_ is None else (table - self.scaler_.mean_) / self.scaler_.scale_

    def _learned_metric(self, vectors: Floats, labels: Any) -> Any:
        if isinstance(self.metric, LearnedMetric):
            return self.metric
        if not isinstance(self.metric, str):
            learner = clone(self.metric)
            if hasattr(learner, "set_output"):
                learner.set_output(transform="default")
            return learner.fit(vectors, labels)
        if self.metric == "euclidean":
            return None
        rank = min(self.n_components, vectors.shape[1])
        given: dict[str, Any] = {"n_components": rank, "random_state": self.random_state}
        if self.metric == "liram":
            return GMLVQ(**given).fit(vectors, labels)
        if self.metric == "local":
            # A mask that allows all entries keeps matrices as training leaves them.
            mask = np.ones((rank, vectors.shape[1]), bool) if self.local_map == "raw" else None
            return LGMLVQ(mask=mask, **given).fit(vectors, labels)
        smallest = int(np.unique(labels, return_counts=True)[1].min())
        return LMNN(n_neighbors=max(1, min(TARGETS, smallest - 1)), **given).fit(vectors, labels)

    def _found_metric(self) -> LearnedMetric | None:
        if self.metric_ is None:
            return as_metric(np.eye(self.n_features_in_))
        try:
            return as_metric(self.metric_, "ImageRetriever")
        except TypeError:
            if hasattr(self.metric_, "transform"):
                return None
        raise ValueError(f"metric: {type(self.metric_).__name__} has no transform and is not an LVQ classifier.")

    def _fill(self, vectors: Floats, labels: Array | None, found: Collection) -> None:
        """Make the index, which can be searched in as many views of the images as there are metrics."""
        self.vectors_, self.labels_ = vectors, labels
        self.paths_, self.skipped_ = found.paths, list(found.skipped)
        metric = self.learned_metric_
        self._n_views = len(metric.matrices) if metric is not None and self.local_map == "query" else 1
        self._searches: dict[int, KDTree | NearestNeighbors] = {}
        self._search_in(0)

    def _search_in(self, slot: int) -> KDTree | NearestNeighbors:
        """Return the index of one view, which is made when it is first needed: there may be very many."""
        if slot not in self._searches:
            seen = self._view(self.vectors_, slot)
            low = seen.shape[1] <= MOST_TREE_DIMENSIONS
            self._searches[slot] = KDTree(seen) if low else NearestNeighbors(algorithm="brute").fit(seen)
        return self._searches[slot]

    def _nearest_in(self, slot: int, vectors: Floats, k: int) -> tuple[Floats, Indices]:
        """Search in one view; a tree itself answers a query in a third of the time that NearestNeighbors takes."""
        search, seen = self._search_in(slot), self._view(vectors, slot)
        return search.query(seen, k) if isinstance(search, KDTree) else search.kneighbors(seen, k)

    def _view(self, vectors: Floats, slot: int) -> Floats:
        """Return scaled features as one of the metrics sees them."""
        metric = self.learned_metric_
        if metric is None:
            return self.metric_.transform(vectors)
        if not metric.is_global and self.local_map != "query":
            return patchwork(metric, vectors, self.local_map)
        return metric.samples(vectors) @ metric.omegas[slot].T

    def _search(
        self, vectors: Floats, n_neighbors: int | None = None, own: Indices | None = None
    ) -> tuple[Floats, Indices]:
        """Return distances and numbers of the nearest images, without those that the queries are themselves."""
        k, n_images = self.n_neighbors if n_neighbors is None else n_neighbors, len(self.vectors_)
        more = 0 if own is None else 1
        integer(1, n_images - more).check("n_neighbors", k, f" for {n_images} images")
        distances, indices = np.empty((len(vectors), k)), np.empty((len(vectors), k), np.int64)
        slots, metric = np.zeros(len(vectors), np.int64), self.learned_metric_
        if metric is not None and self._n_views > 1:
            slots = metric.slots[metric.nearest(vectors)]
        for slot in np.unique(slots):
            members = np.flatnonzero(slots == slot)
            near, found = self._nearest_in(int(slot), vectors[members], k + more)
            if own is not None:
                near, found = without_own(near, found, own[members])
            distances[members], indices[members] = near, found
        return distances, indices

    def _hits(self, distances: Floats, indices: Indices) -> RetrievalHits:
        labels = None if self.labels_ is None else self.labels_[indices]
        paths = None if self.paths_ is None else [[self.paths_[i] for i in row] for row in indices]
        return RetrievalHits(indices, distances, labels, paths)


@dataclass(frozen=True)
class Collection:
    """Images or a table of features, with what is known of each."""

    samples: Any
    are_images: bool
    labels: Array | None = None
    paths: list[Path] | None = None
    skipped: tuple[tuple[Path, str], ...] = ()
    table: Array | None = None  # features of images, if they are known already


def collected(X: Any, y: ArrayLike | None) -> Collection:
    """Return what X is: image files, images, or a table."""
    if isinstance(X, str | PathLike):
        X = [X]
    labels = None if y is None else all_labels(y, "retrieval")
    if labels is not None:
        check_consistent_length(X, labels)
    if isinstance(X, list | tuple) and len(X) and isinstance(X[0], str | PathLike):
        return Collection([read_pair(path) for path in X], True, labels, [Path(path) for path in X])
    return Collection(X, are_images(X), labels)


def are_images(X: Any) -> bool:
    """Say whether these are images, or tuples (image, mask), and not rows of a table."""
    if isinstance(X, np.ndarray) and X.dtype != object:
        return X.ndim > 2
    if not isinstance(X, list | tuple | np.ndarray) or len(X) == 0:
        return False
    first = X[0][0] if isinstance(X[0], tuple) and len(X[0]) else X[0]
    return isinstance(first, np.ndarray) and first.ndim > 1


def features_of(features: Any, samples: Any) -> Any:
    """Return the features of images, by a transformer or by a function of one image."""
    if hasattr(features, "transform"):
        return np.asarray(features.transform(samples))
    images = [sample[0] if isinstance(sample, tuple) else sample for sample in samples]
    return [np.ravel(features(image)) for image in images]


def names_of(features: Any, n_features: int) -> Array:
    """Return the names of features that a transformer makes, or x0, x1, ..."""
    if hasattr(features, "get_feature_names_out"):
        return np.asarray(features.get_feature_names_out(), dtype=object)
    return np.array([f"x{i}" for i in range(n_features)], dtype=object)


def without_own(distances: Floats, indices: Indices, own: Indices) -> tuple[Floats, Indices]:
    """Take each query out of its own results, or the last result where it is not among them."""
    kept = indices != own[:, None]
    kept[kept.all(axis=1), -1] = False
    shape = len(own), indices.shape[1] - 1
    return distances[kept].reshape(shape), indices[kept].reshape(shape)
