"""Classical multidimensional scaling: positions in closed form, with an out-of-sample formula."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import eigh
from sklearn.utils.validation import check_is_fitted, validate_data

from protolearn.core.estimator import nothing_lost
from protolearn.core.metric import as_metric, is_learned
from protolearn.core.numerics import settled_signs
from protolearn.core.parameters import integer
from protolearn.core.threads import chunk_threads
from protolearn.core.types import Array, Floats
from protolearn.dissimilarities import Dissimilarities, gram_matrix
from protolearn.embedding._base import Embedding, Lens, ViewSamples, squares_of
from protolearn.embedding.mappings import LinearMap, SolvedMapping

__all__ = [
    "ClassicalMDS",
    "GowerMap",
]


@dataclass(frozen=True)
class GowerMap:
    """Positions ``1/2 (means - squares) @ weights`` from the squared dissimilarities to the training samples.

    Parameters
    ----------
    means : ndarray of shape (n,)
        Mean squared dissimilarity of each training sample to all.
    weights : ndarray of shape (n, c)
        Positions of the training samples divided by the eigenvalues of their axes.
    unit : float
        Unit of the dissimilarities from which ``means`` and ``weights`` were computed.
    squared : bool
        Whether dissimilarities of new samples are squared distances.
    """

    means: Floats
    weights: Floats
    unit: float
    squared: bool

    def place(self, X: Array) -> Floats:
        """Return the positions (m, c) from dissimilarities (m, n) to the training samples."""
        return 0.5 * (self.means - squares_of(X, self.unit, self.squared)) @ self.weights  # Gower 1968, eq. 10


class ClassicalMDS(Embedding):
    r"""Classical multidimensional scaling: a linear embedding of vectors or of any dissimilarities, in closed form.

    The dissimilarities d are converted to the inner products :math:`B = -\frac{1}{2} J d^2 J` of centered vectors with
    these distances, where J is the centering matrix. The view minimizes

    .. math:: \min_{y} \sum_{ij} (b_{ij} - y_i^\top y_j)^2 .

    The solution consists of the leading eigenvectors of B, each scaled by the root of its eigenvalue. For Euclidean
    distances these are principal components; for geodesic distances (`protolearn.dissimilarities.geodesic`) the view is
    Isomap.

    Parameters
    ----------
    n_components : int, default=2
        Number of dimensions of the view.
    metric : str, callable or learned metric, default="euclidean"
        Distance between samples: ``"euclidean"``; ``"precomputed"`` if ``X`` holds the dissimilarities of all pairs; a
        name or function that `protolearn.dissimilarities.pairwise` accepts, for strings, sequences and other objects;
        or a learned metric, anything that `protolearn.as_metric` accepts, such as a fitted LVQ classifier.
    squared : bool, default=False
        Whether precomputed dissimilarities are squared distances already; negative ones are set to zero.
    symmetrize : {"raise", "mean"}, default="raise"
        Treatment of dissimilarities that are not symmetric: an error, or the mean of both directions.
    n_jobs : int, optional
        Number of threads; None uses as many as BLAS does.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        Positions in the view, along the directions of largest variance; zero in dimensions that the data do not have.
    eigenvalues_ : ndarray of shape (n_samples,) or (min(n_samples, n_features),)
        All eigenvalues of B in decreasing order; of vectors, those that may differ from zero.
    negative_share_ : float
        Sum of the absolute values of the negative eigenvalues, as a fraction of that of all; 0 for Euclidean distances.
        The corresponding part of the dissimilarities cannot be represented by any number of dimensions.
    mapping_ : LinearMap or GowerMap
        Mapping for new samples.
    n_features_in_ : int
        Number of features seen during ``fit``.

    See Also
    --------
    MappedEmbedding : Minimizes stress, an error of distances rather than inner products, with ``cost="mds"``.
    protolearn.dissimilarities.signature : Number of negative eigenvalues.

    Notes
    -----
    The running time grows with the cube of the number of samples, or of the number of features if vectors have fewer of
    these.

    New samples are placed by Gower's formula: the least-squares solution for the squared distances to all training
    samples, in the space of all eigenvectors with positive eigenvalues, projected onto the view. A training sample is
    returned at its own position.

    References
    ----------
    Torgerson, W. S. (1952). Multidimensional scaling: I. Theory and method. Psychometrika 17, 401-419.

    Gower, J. C. (1968). Adding a point to vector diagrams in multivariate analysis. Biometrika 55, 582-585.

    Examples
    --------
    Isomap unrolls a spiral to a line:

    >>> import numpy as np
    >>> from protolearn import ClassicalMDS
    >>> from protolearn.dissimilarities import geodesic
    >>> angles = np.linspace(0, 3 * np.pi, 60)
    >>> X = angles[:, None] * np.column_stack([np.cos(angles), np.sin(angles)])
    >>> line = ClassicalMDS(1, metric="precomputed").fit_transform(geodesic(X, n_neighbors=2))
    >>> bool(np.all(np.diff(line[:, 0]) > 0) or np.all(np.diff(line[:, 0]) < 0))
    True

    Edit distances are not Euclidean:

    >>> words = ["map", "maps", "lap", "laps", "lapse", "elapse"]
    >>> view = ClassicalMDS(metric="edit").fit(words)
    >>> view.negative_share_ > 0.05
    True
    >>> view.transform(["slap"]).shape
    (1, 2)
    """

    _lens: Lens | None = None  # of a learned metric
    _source: Dissimilarities | None = None  # of objects

    def __init__(
        self,
        n_components: int = 2,
        *,
        metric: Any = "euclidean",
        squared: bool = False,
        symmetrize: str = "raise",
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.metric = metric
        self.squared = squared
        self.symmetrize = symmetrize
        self.n_jobs = n_jobs

    @nothing_lost
    def fit(self, X: Any, y: None = None) -> Self:
        """Compute the embedding.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or (n_samples, n_samples), or list of objects
            Samples or their dissimilarities, see ``metric``.
        y : None
            Ignored.

        Returns
        -------
        self : object
            The fitted embedding.
        """
        self._check_parameters()
        with chunk_threads(self.n_jobs):
            samples = self._read_samples(X, self.n_jobs)
            integer(1, len(samples) - 1).check("n_components", self.n_components)
            self._lens = self._source = None
            if is_learned(self.metric):
                self._lens = Lens.of(as_metric(self.metric, type(self).__name__), X)
            elif not (self._of_vectors or self._pairwise):
                self._source = Dissimilarities(X, self.metric, n_jobs=self.n_jobs, symmetrize=self.symmetrize)
            values = self._scale_vectors(samples) if samples.squares is None else self._scale_pairs(samples)
        self.eigenvalues_ = values * samples.unit**2
        sizes = np.abs(values)
        self.negative_share_ = float(sizes[values < -_least(values)].sum() / sizes.sum())
        return self

    def transform(self, X: ArrayLike) -> Array:
        """Place new samples in the view.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or (n_samples, n_training_samples), or list of objects
            Samples or their dissimilarities to the training samples, see ``metric``.

        Returns
        -------
        positions : ndarray of shape (n_samples, n_components)
            Positions of the new samples.
        """
        check_is_fitted(self, "mapping_")
        with chunk_threads(self.n_jobs):
            if self._source is not None:
                return self.mapping_.place(self._source.from_new(X))
            if self._lens is not None:
                validate_data(self, X, skip_check_array=True, reset=False)
                return self.mapping_.place(self._lens.see(X))
            return self.mapping_.place(validate_data(self, X, dtype=np.float64, reset=False))

    def _scale_vectors(self, samples: ViewSamples) -> Floats:
        """Set positions of vectors; return eigenvalues, of the smaller of the matrices of features and of samples."""
        assert samples.vectors is not None
        vectors = samples.vectors.astype(np.float64)
        mean = vectors.mean(axis=0)
        vectors -= mean
        n, d = vectors.shape
        values, axes = _eigen(vectors.T @ vectors if d <= n else vectors @ vectors.T)
        shown, axes = values[: self.n_components], axes[:, : self.n_components]
        if d > n:
            axes = (vectors.T @ axes) / np.sqrt(np.where(shown > _least(values), shown, np.inf))
        weights = np.zeros((d, self.n_components))
        weights[:, : len(shown)] = np.where(shown > _least(values), axes, 0.0)
        weights *= settled_signs(vectors @ weights)
        self.mapping_: SolvedMapping = LinearMap(samples.origin + samples.unit * mean, weights)
        self.embedding_ = samples.unit * (vectors @ weights)
        return values

    def _scale_pairs(self, samples: ViewSamples) -> Floats:
        """Set positions of objects from their dissimilarities; return eigenvalues."""
        assert samples.squares is not None
        values, axes = _eigen(gram_matrix(samples.squares, squared=True))
        shown = values[: self.n_components]
        positive = shown > _least(values)
        scores = np.where(positive, axes[:, : self.n_components] * np.sqrt(np.maximum(shown, 0.0)), 0.0)
        scores *= settled_signs(scores)
        weights = samples.unit * scores / np.where(positive, shown, np.inf)
        squared = self.squared and self._pairwise
        self.mapping_ = GowerMap(samples.squares.mean(axis=0), weights, samples.unit, squared)
        self.embedding_ = samples.unit * scores
        if -values[-1] > shown[-1]:
            warnings.warn(
                f"The dissimilarities are far from Euclidean: the negative eigenvalue {values[-1] * samples.unit**2:g} "
                f"exceeds the last one shown, {shown[-1] * samples.unit**2:g}, in size. Reduce n_components, or use "
                "MappedEmbedding(cost='mds', mapping='free').",
                UserWarning,
                stacklevel=3,
            )
        return values


def _eigen(matrix: Floats) -> tuple[Floats, Floats]:
    """Return the eigenvalues of a symmetric matrix, the largest first, and the vectors."""
    values, vectors = eigh(matrix, overwrite_a=True, check_finite=False)
    return values[::-1], vectors[:, ::-1]


def _least(values: Floats) -> float:
    """Return the size up to which eigenvalues are zero but for rounding."""
    return len(values) * float(np.finfo(np.float64).eps) * float(np.abs(values).max())
