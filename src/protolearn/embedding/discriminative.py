"""Distances and projections as a classifier sees the samples: each by the metric of the prototype that wins it.

With the relevance matrices ``Lambda_k = Omega_k^T Omega_k`` of the prototypes and the winner J(x) of a sample x, the
dissimilarity of two samples is ``d(x, z) = (x - z)^T Lambda_J(x) (x - z)``. It makes a supervised view of every
embedding that takes distances.

Arrays: X (n, N) samples, Z (m, N) others, D (n, m) distances, A (s, M, N) matrices Omega or (s, N) diagonals.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from protolearn.core.chunks import cut
from protolearn.core.density import squared_distances
from protolearn.core.parameters import constrained, none, option
from protolearn.core.threads import chunk_threads
from protolearn.core.types import Array, Floats, Indices
from protolearn.core.validation import read_samples, refuse_overflow, require_memory
from protolearn.lvq._base import LVQClassifier
from protolearn.lvq._lfda import LinearMetric

__all__ = ["discriminative_distances", "local_projection"]


TILE = 384  # rows and columns of a block of distances, which stays in the cache


@constrained(symmetrize=option("mean", "min", "max") | none)
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
        `GRLVQ`), or without (`GLVQ`); a fitted `LMNN` or `LFDA`; or a pipeline that ends in one of them, after whose
        other steps distances are measured.
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
    fields = fields_of(model, X, "discriminative_distances")
    others = fields if Z is None else fields_of(model, Z, "discriminative_distances")
    return distances_between(fields, others, squared=squared, symmetrize=symmetrize)


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
    fields = fields_of(model, X, "local_projection")
    if centered and fields.winners is None:
        raise ValueError(
            "centered=True needs a model with prototypes; without any there is nothing to measure from, so use "
            "centered=False."
        )
    vectors = fields.vectors - fields.winners if centered else fields.vectors
    projected = np.empty((len(vectors), fields.matrices.shape[1]), fields.vectors.dtype)
    for slot, members in fields.groups():
        projected[members] = fields.projected(vectors[members], slot)
    return projected


@dataclass(frozen=True)
class Fields:
    """Samples in the receptive fields of prototypes.

    Parameters
    ----------
    vectors : ndarray of shape (n, N)
        Samples.
    matrices : ndarray of shape (s, M, N) or (s, N)
        Matrices of the metrics, or their diagonals.
    slots : ndarray of shape (n,)
        Which of them each sample is measured by.
    winners : ndarray of shape (n, N) or None
        The prototype of each sample, if there are any.
    """

    vectors: Array
    matrices: Floats
    slots: Indices
    winners: Floats | None

    def groups(self) -> Iterator[tuple[int, NDArray[np.intp]]]:
        """Yield each matrix that is used, and the samples that use it."""
        for slot in np.unique(self.slots):
            yield slot, np.flatnonzero(self.slots == slot)

    def projected(self, vectors: Array, slot: int) -> Array:
        """Return ``Omega x`` for every vector."""
        matrix = self.matrices[slot]
        return vectors @ matrix.T if matrix.ndim == 2 else vectors * matrix


def fields_of(model: Any, X: Any, wanted: str) -> Fields:
    """Return samples with the metric that a fitted model has for each; ``wanted`` is what for, in messages."""
    if isinstance(model, FrozenEstimator):
        return fields_of(model.estimator, X, wanted)
    if isinstance(model, Pipeline):
        return fields_of(model[-1], model[:-1].transform(X) if len(model) > 1 else X, wanted)
    if isinstance(model, LVQClassifier):
        vectors = _complete(model._check_new(X), wanted)
        matrices, slots = model._matrices(wanted)
        winners = model._winners(vectors)
        return Fields(vectors, matrices, slots[winners], model.prototypes_[winners])
    if isinstance(model, LinearMetric):
        check_is_fitted(model, "components_")
        vectors = read_samples(model, X)
        return Fields(vectors, model.components_[None], np.zeros(len(vectors), np.int64), None)
    raise TypeError(
        f"{type(model).__name__} has no metric for {wanted}; give an LVQ classifier, LMNN or LFDA of protolearn, or a "
        "pipeline that ends in one."
    )


@chunk_threads(1)
def distances_between(fields: Fields, others: Fields, *, squared: bool, symmetrize: str | None) -> Array:
    """Return the distances (n, m) of samples to others in the same space, to themselves if these are the same object.

    Besides the result there is only memory for some blocks, and for the projected samples.
    """
    dtype = np.result_type(fields.vectors, others.vectors)
    n, m = len(fields.vectors), len(others.vectors)
    require_memory(f"A matrix of {n} x {m} distances", dtype.itemsize * n * m, "use fewer samples")
    D = np.empty((n, m), dtype)
    for rows, columns, block in _blocks(fields, others):
        D[rows, columns] = block
    if symmetrize is not None and fields is others:
        _merge_halves(D, symmetrize)
    elif symmetrize is not None:
        for rows, columns, block in _blocks(others, fields):
            D.T[rows, columns] = MERGERS[symmetrize](D.T[rows, columns], block)
    return D if squared else np.sqrt(D, out=D)


def _mean(a: Array, b: Array) -> Array:
    return 0.5 * (a + b)


MERGERS: dict[str, Callable[..., Array]] = {"mean": _mean, "min": np.minimum, "max": np.maximum}


def _complete(X: Array, wanted: str) -> Array:
    """Refuse missing values, which the model may allow."""
    missing = np.isnan(X).any(axis=1)
    if missing.any():
        raise ValueError(
            f"X contains NaN: {int(missing.sum())} samples have missing values (the first is row {missing.argmax()}), "
            f"and {wanted} needs samples without. Leave these out, or fill the gaps."
        )
    return refuse_overflow(X)


def _blocks(fields: Fields, others: Fields) -> Iterator[tuple[NDArray[np.intp], slice, Floats]]:
    """Yield rows, columns and the squared distances between them, by the metrics of the rows."""
    origin = fields.vectors.mean(axis=0, dtype=np.float64)
    right_vectors = others.vectors - origin
    for slot, members in fields.groups():
        right = fields.projected(right_vectors, slot)
        # The same numbers on both sides, so that the diagonal is exactly zero.
        left = right[members] if fields is others else fields.projected(fields.vectors[members] - origin, slot)
        for rows in cut(len(left), TILE):
            for columns in cut(len(right), TILE):
                yield members[rows], columns, squared_distances(left[rows], right[columns])  # Bunte 2011, eq. 7.3


def _merge_halves(D: Array, symmetrize: str) -> None:
    """Make a square matrix symmetric, in place."""
    for rows in cut(len(D), TILE):
        for columns in cut(rows.stop, TILE):
            both = MERGERS[symmetrize](D[rows, columns], D[columns, rows].T)
            D[rows, columns], D[columns, rows] = both, both.T
