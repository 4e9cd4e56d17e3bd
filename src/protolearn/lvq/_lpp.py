"""Locality preserving projections: a linear projection that keeps neighbors together, the unsupervised form of LFDA."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import eigh
from sklearn.utils import Tags
from sklearn.utils.extmath import svd_flip

from protolearn.core.estimator import nothing_lost
from protolearn.core.numerics import white_axes
from protolearn.core.threads import chunk_threads
from protolearn.core.types import Floats
from protolearn.lvq._lfda import RIDGE, LinearMetric, local_affinities

__all__ = ["LPP"]


class LPP(LinearMetric):
    r"""Locality preserving projections, the directions along which neighbors differ least.

    The projection matrix T minimizes

    .. math:: \tfrac12 \sum_{ij} A_{ij} \|T^\top (x_i - x_j)\|^2 \quad\text{with}\quad T^\top X^\top D X\, T = 1,

    where :math:`A_{ij}` is the affinity of two samples and :math:`D` the diagonal matrix of the row sums of :math:`A`.
    Samples are centered at their mean with the weights :math:`D`. The method is unsupervised; `LFDA` applies the same
    idea to labeled samples.

    Parameters
    ----------
    n_components : int, optional
        Number of directions; by default the number of features. It is limited to the dimension of the space in which
        samples differ, which is smaller if features are constant or linearly dependent, or samples are few.
    n_neighbors : int, default=7
        Neighbor that sets the scale of the affinity :math:`A_{ij} = \exp(-\|x_i - x_j\|^2 / (s_i s_j))`: :math:`s_i` is
        the distance of sample i to its ``n_neighbors``-th neighbor (with fewer samples, to the farthest sample).

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The directions, in ascending order of their eigenvalues; the largest entry of each direction is positive.
    eigenvalues_ : ndarray of shape (n_components,)
        Scatter of neighbors along each direction relative to the scatter of all samples; small for directions that keep
        neighbors together.
    metric_ : LearnedMetric
        The learned metric, for estimators that accept a metric.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if ``X`` had names.

    See Also
    --------
    LFDA : Supervised counterpart.

    References
    ----------
    He and Niyogi (2003). Locality preserving projections. NIPS 16.

    Bunte (2011). Adaptive dissimilarity measures, dimension reduction and visualization. PhD thesis, University of
    Groningen, section 3.4.1.

    Examples
    --------
    Two elongated clusters side by side: the second feature has the larger variance but does not separate them.

    >>> import numpy as np
    >>> from protolearn import LPP
    >>> rng = np.random.default_rng(0)
    >>> X = np.vstack([rng.normal([m, 0], [0.02, 2], (100, 2)) for m in (-1, 1)])
    >>> direction = LPP(1).fit(X).components_[0]
    >>> bool(direction[0] > 10 * abs(direction[1]))
    True
    """

    def __init__(self, n_components: int | None = None, *, n_neighbors: int = 7) -> None:
        self.n_components = n_components
        self.n_neighbors = n_neighbors

    @nothing_lost
    @chunk_threads(1)
    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Compute the directions.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        y : None
            Ignored.

        Returns
        -------
        self : object
            The fitted transformer.
        """
        self._check_parameters()
        samples, scale = self._read_samples(X)
        n_features = samples.shape[1]
        axes = white_axes(samples)  # others would be first: along them neighbors do not differ at all
        near, all_pairs = preserved_scatters(samples, samples @ axes, self.n_neighbors)
        n_directions = min(self.n_components or n_features, len(near))
        ridge = RIDGE * np.trace(all_pairs)
        if not ridge > 0.0:
            raise ValueError("All samples of X are equal, or no sample has a neighbor; there is nothing to preserve.")
        ridge /= len(near)
        values, directions = eigh(near, all_pairs + ridge * np.eye(len(near)), subset_by_index=[0, n_directions - 1])
        self.eigenvalues_ = np.maximum(values, 0.0)
        self.components_ = svd_flip(axes @ directions / scale, None)[0].T
        return self

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = False
        return tags


def preserved_scatters(X: Floats, Z: Floats, n_neighbors: int) -> tuple[Floats, Floats]:
    """Return the scatter of neighbors, ``Z^T (D - A) Z``, and that of all samples, ``Z^T D Z`` around its mean.

    Z are coordinates of the samples X, whose distances give the affinities A.
    """
    N = Z.shape[1]
    near, whole, first, mass = np.zeros((N, N)), np.zeros((N, N)), np.zeros(N), 0.0
    for rows, affinities in local_affinities(X, n_neighbors):
        degrees = affinities.sum(axis=1)
        weighted = degrees[:, None] * Z[rows]
        near += Z[rows].T @ (weighted - affinities @ Z)
        whole += Z[rows].T @ weighted
        first += weighted.sum(axis=0)
        mass += degrees.sum()
    whole -= np.outer(first, first) / (mass or 1.0)
    return (near + near.T) / 2.0, (whole + whole.T) / 2.0  # He and Niyogi 2003, section 2.2
