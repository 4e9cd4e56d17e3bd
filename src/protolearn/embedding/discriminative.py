"""Distances and projections as a classifier sees the samples: each by the metric of the prototype that wins it.

With the relevance matrices ``Lambda_k = Omega_k^T Omega_k`` of the prototypes and the winner J(x) of a sample x, the
dissimilarity of two samples is ``d(x, z) = (x - z)^T Lambda_J(x) (x - z)``. It makes a supervised view of every
embedding that takes distances. The work is done by `protolearn.LearnedMetric`.
"""

from __future__ import annotations

from typing import Any

from protolearn.core.metric import as_metric
from protolearn.core.types import Array

__all__ = ["discriminative_distances", "local_projection"]


def discriminative_distances(
    model: Any, X: Any, Z: Any = None, *, squared: bool = False, symmetrize: str | None = "mean"
) -> Array:
    r"""Distances between samples in the learned metric of a classifier.

    Sample :math:`x_i` measures all others by the metric of the prototype J(i) that wins it,

    .. math:: D_{ij} = (x_i - x_j)^\top \Lambda^{J(i)} (x_i - x_j).

    Samples that the classifier takes for the same lie near each other, whatever they differ in besides. Across the
    fields of prototypes with different metrics D is not symmetric, and only small distances mean anything.

    Parameters
    ----------
    model : object
        A fitted LVQ classifier with relevances or matrices of any kind (`LGMLVQ`, `GMLVQ`, `LLiRaMLVQ`, `LGRLVQ`,
        `GRLVQ`), or without (`GLVQ`); a fitted `LMNN` or `LFDA`; a pipeline that ends in one of them, after whose
        other steps distances are measured; or whatever else `protolearn.as_metric` takes.
    X : array-like of shape (n, n_features)
        Samples, without missing values.
    Z : array-like of shape (m, n_features), optional
        Samples to compare with; by default those of ``X`` with each other.
    squared : bool, default=False
        Return D itself, which is a squared distance, instead of its root. Most embeddings want the root.
    symmetrize : {"mean", "min", "max"} or None, default="mean"
        How the squared distances of two samples by the metric of one and by that of the other become one number. None
        keeps those by the metric of the row.

    Returns
    -------
    D : ndarray of shape (n, n) or (n, m)
        Distances, in single precision for samples in single precision. Without ``Z`` the diagonal is zero.

    See Also
    --------
    local_projection : The samples as their winners see them.
    DiscriminativeEmbedding : Views by these distances.

    References
    ----------
    Bunte (2011). Adaptive dissimilarity measures, dimension reduction and visualization. PhD thesis, University of
    Groningen, section 7.2.

    Examples
    --------
    Nearest neighbors by the learned distance are of the same class more often.

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
    """Project samples as their winners see them: ``Omega_J x`` with the matrix of the prototype J that wins x.

    The coordinates of different prototypes share their origin but not their axes, so that samples of different fields
    may fall on each other.

    Parameters
    ----------
    model : object
        A fitted model, see `discriminative_distances`. With ``n_components=2`` the projection is a view.
    X : array-like of shape (n, n_features)
        Samples, without missing values.
    centered : bool, default=False
        Measure from the winner, ``Omega_J (x - w_J)``, so that every prototype lies in the origin.

    Returns
    -------
    Z : ndarray of shape (n, M)
        Projected samples.

    See Also
    --------
    protolearn.lvq.LGMLVQ.local_transform : Samples as each prototype sees them.

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
