"""Local Fisher discriminant analysis: a linear projection that separates classes of several clusters."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import eigh
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.neighbors import NearestNeighbors
from sklearn.utils import Tags
from sklearn.utils.extmath import svd_flip
from sklearn.utils.validation import check_is_fitted, validate_data

from protolearn.core.density import squared_distances
from protolearn.core.estimator import Estimator, nothing_lost
from protolearn.core.metric import LearnedMetric
from protolearn.core.numerics import decayed, row_space, without_constants
from protolearn.core.parameters import integer, none, option
from protolearn.core.samples import all_labels
from protolearn.core.threads import HELD, chunk_threads, row_blocks
from protolearn.core.types import Array, Floats, Indices
from protolearn.core.validation import (
    largest_value,
    refuse_collection,
    refuse_large,
    refuse_underflow,
    require_memory,
)

__all__ = ["LFDA", "LinearMetric"]


RIDGE = 1e-8  # added to the scatter within classes, relative to its mean eigenvalue


class LinearMetric(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Estimator):
    """Base class of linear maps ``x -> A x`` that are learned from samples."""

    _constraints = {"n_components": integer(1) | none, "n_neighbors": integer(1)}

    n_components: int | None
    components_: Floats

    @chunk_threads(1)
    def transform(self, X: ArrayLike) -> Floats:
        """Project samples, so that Euclidean distances equal the learned distances.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        Z : ndarray of shape (n_samples, n_components)
            Projected samples, ``X @ components_.T``.
        """
        check_is_fitted(self, "components_")
        samples: Array = validate_data(self, X, dtype=[np.float64, np.float32], reset=False)
        return samples @ self.components_.T

    @property
    def metric_(self) -> LearnedMetric:
        """The learned metric."""
        check_is_fitted(self, "components_")
        names = getattr(self, "feature_names_in_", None)
        return LearnedMetric(self.components_[None], feature_names=names, learner=type(self).__name__)

    def _read(self, X: Any, y: Any) -> tuple[Floats, float, Indices, Array]:
        """Return samples with mean zero and mean square one, their scale, class codes, and two or more classes."""
        refuse_collection(X, type(self).__name__)
        if y is not None:
            y = all_labels(y, type(self).__name__)
        X, y = validate_data(self, X, y, dtype=np.float64, ensure_min_samples=2)
        classes, codes = np.unique(y, return_inverse=True)
        if len(classes) == 1:
            raise ValueError(
                f"y contains 1 class only ({classes.tolist()[0]!r}); {type(self).__name__} needs at least two."
            )
        return *self._standard(X), codes, classes

    def _read_samples(self, X: Any) -> tuple[Floats, float]:
        """Return samples with mean zero and mean square one, and their scale."""
        refuse_collection(X, type(self).__name__)
        return self._standard(validate_data(self, X, dtype=np.float64, ensure_min_samples=2))

    def _standard(self, X: Floats) -> tuple[Floats, float]:
        if self.n_components is not None:
            integer(1, X.shape[1]).check("n_components", self.n_components, " (n_features)")
        refuse_underflow(X)
        refuse_large(X, largest_value(X), squared=True)
        M = min(X.shape)
        what = f"{type(self).__name__} of {M} directions"
        require_memory(what, 10 * 8 * M**2, "use fewer features, such as principal components")
        X = without_constants(X)
        largest = float(np.abs(X).max()) or 1.0
        X /= largest  # first, for the squares of large numbers may be too large
        size = float(np.sqrt((X**2).mean())) or 1.0
        return X / size, largest * size

    def _within(self, X: Floats) -> tuple[Floats, Floats | None]:
        """Return samples, with mean zero, in coordinates to work in, and their axes (N, r), None if these are features.

        If there are directions in which no two samples differ, they are left out.
        """
        axes = row_space(X)
        return (X, None) if axes is None or axes.shape[1] == X.shape[1] else (X @ axes, axes)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)


class LFDA(LinearMetric):
    r"""Local Fisher discriminant analysis, for classes that consist of several clusters.

    The projection matrix T maximizes :math:`\mathrm{tr}((T^\top S^w T)^{-1}\, T^\top S^b T)`. The scatter matrices

    .. math:: S = \tfrac12 \sum_{ij} W_{ij} (x_i - x_j)(x_i - x_j)^\top

    within and between classes weight the pairs of a class of :math:`n_l` samples by their affinity,
    :math:`W^w_{ij} = A_{ij} / n_l` and :math:`W^b_{ij} = A_{ij} (1/n - 1/n_l)`, and pairs of different classes by
    :math:`W^b_{ij} = 1/n`. Only neighboring samples of a class are drawn together, so a class may have several
    clusters. If all affinities are one, the method is Fisher's discriminant analysis. The number of directions is not
    limited by the number of classes.

    Parameters
    ----------
    n_components : int, optional
        Number of directions; by default the number of features. It is limited to the dimension of the space in which
        samples differ, which is smaller if features are constant or linearly dependent, or samples are few.
    n_neighbors : int, default=7
        Neighbor that sets the scale of the affinity :math:`A_{ij} = \exp(-\|x_i - x_j\|^2 / (s_i s_j))`: :math:`s_i` is
        the distance of sample i to its ``n_neighbors``-th neighbor in its class (in smaller classes, to the farthest
        sample).
    scaling : {"weighted", "orthonormalized", "plain"}, default="weighted"
        Scaling of the directions. With ``"plain"`` the within-class scatter of the projections is the identity,
        ``"weighted"`` multiplies these directions by the square roots of their eigenvalues, and ``"orthonormalized"``
        returns an orthonormal basis of the same space.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The directions, in descending order of their eigenvalues; the largest entry of each direction is positive.
    eigenvalues_ : ndarray of shape (n_components,)
        Ratio of between-class to within-class scatter along each direction.
    metric_ : LearnedMetric
        The learned metric, for estimators that accept a metric.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if ``X`` had names.

    See Also
    --------
    LMNN : Learns a metric for nearest-neighbor classification with a large margin.
    LPP : Unsupervised counterpart.
    sklearn.discriminant_analysis.LinearDiscriminantAnalysis : Fisher's analysis, for classes that form one cluster.

    References
    ----------
    Sugiyama (2007). Dimensionality reduction of multimodal labeled data by local Fisher discriminant analysis. Journal
    of Machine Learning Research 8, 1027-1061.

    Bunte (2011). Adaptive dissimilarity measures, dimension reduction and visualization. PhD thesis, University of
    Groningen, section 3.4.1.

    Examples
    --------
    One class lies on both sides of the other, so the class means coincide.

    >>> import numpy as np
    >>> from protolearn import LFDA
    >>> rng = np.random.default_rng(0)
    >>> X = np.vstack([rng.normal([m, 0], [0.5, 3], (50, 2)) for m in (-4, 0, 4)])
    >>> y = np.repeat(["outer", "inner", "outer"], 50)
    >>> LFDA(1, scaling="orthonormalized").fit(X, y).components_.round(1) + 0.0
    array([[1., 0.]])
    """

    _constraints = {"scaling": option("weighted", "orthonormalized", "plain")}

    def __init__(self, n_components: int | None = None, *, n_neighbors: int = 7, scaling: str = "weighted") -> None:
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.scaling = scaling

    @nothing_lost
    @chunk_threads(1)
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Compute the directions.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Class of each sample.

        Returns
        -------
        self : object
            The fitted transformer.
        """
        self._check_parameters()
        samples, scale, codes, _ = self._read(X, y)
        n_features = samples.shape[1]
        samples, axes = self._within(samples)
        within, between = local_scatters(samples, codes, self.n_neighbors)
        n_directions = min(self.n_components or n_features, len(within))
        self.eigenvalues_, directions = leading_directions(within, between, n_directions, n_features)
        directions = (directions if axes is None else axes @ directions) / scale
        if self.scaling == "weighted":
            directions *= np.sqrt(self.eigenvalues_)
        elif self.scaling == "orthonormalized":
            directions = np.linalg.qr(directions)[0]
        self.components_ = svd_flip(directions, None)[0].T
        return self


def local_scatters(X: Floats, codes: Indices, n_neighbors: int) -> tuple[Floats, Floats]:
    """Return the local scatters (N, N) within and between classes.

    Weights of pairs are sums of constants and affinities, and constants need no pairs: the sum over all pairs of a
    set of samples is their number times their scatter around the mean.
    """
    n, N = X.shape
    within, mixture, between = np.zeros((N, N)), np.zeros((N, N)), X.T @ X
    for members in (X[codes == code] for code in range(codes.max() + 1)):
        centered = members - members.mean(axis=0)
        near = neighbor_scatter(centered, n_neighbors)
        within += near / len(members)
        mixture += near / n
        between -= len(members) / n * (centered.T @ centered)
    return within, between + mixture - within  # Sugiyama 2007, eqs. 15 to 18


def neighbor_scatter(X: Floats, n_neighbors: int) -> Floats:
    """Return the scatter of the pairs of one class, weighted by their affinities: ``X^T (diag(A 1) - A) X``."""
    scatter = np.zeros((X.shape[1], X.shape[1]))
    for rows, affinities in local_affinities(X, n_neighbors):
        scatter += X[rows].T @ (affinities.sum(axis=1)[:, None] * X[rows] - affinities @ X)
    return (scatter + scatter.T) / 2.0


def leading_directions(
    within: Floats, between: Floats, n_components: int, n_features: int | None = None
) -> tuple[Floats, Floats]:
    """Return the largest eigenvalues (M,), and eigenvectors (N, M), of ``between v = lambda within v``.

    The scatters may be those in a part of a space of more features, outside of which there is none.
    """
    N = len(within)
    ridge = RIDGE * np.trace(within) / (n_features or N)
    if not ridge > 0.0:
        raise ValueError(
            "No two different samples of a class are neighbors, so the within-class scatter is zero; "
            "provide several different samples of at least one class."
        )
    values, vectors = eigh(between, within + ridge * np.eye(N), subset_by_index=[N - n_components, N - 1])
    return np.maximum(values[::-1], 0.0), vectors[:, ::-1]  # negative by rounding only, as no affinity exceeds one


def local_affinities(X: Floats, n_neighbors: int) -> Iterator[tuple[slice, Floats]]:
    """Yield some rows of one class at a time, with their affinities to all of it.

    A sample that coincides with so many others that its scale is zero has no affinity to samples elsewhere, and its
    affinity to coinciding samples does not matter.
    """
    n_neighbors = min(n_neighbors, len(X) - 1)
    if n_neighbors == 0:
        return
    scales = NearestNeighbors(n_neighbors=n_neighbors).fit(X).kneighbors()[0][:, -1]
    for rows in row_blocks(len(X), 8 * len(X), HELD):
        widths = np.outer(scales[rows], scales)
        with np.errstate(over="ignore"):
            ratios = np.divide(squared_distances(X[rows], X), widths, np.full(widths.shape, np.inf), where=widths > 0)
        yield rows, decayed(-ratios)
