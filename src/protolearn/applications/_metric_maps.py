"""The linear maps that a learned metric consists of: which of them measures a sample, views, and how to read them.

Arrays: X (n, N) samples, A (s, M, N) matrices Omega, W (p, N) prototypes. The distance of two samples is
``|A_s (x - z)|``, where s is the matrix of the prototype that is nearest to x.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from protolearn.core.types import Array, Floats, Indices
from protolearn.lvq import canonical_matrix, mean_canonical_matrix
from protolearn.lvq._base import LVQClassifier
from protolearn.lvq._lfda import LinearMetric

__all__ = ["MetricMaps", "Recommendation", "canonical_maps", "maps_of", "patchwork"]


@dataclass(frozen=True)
class MetricMaps:
    """Matrices of a metric, and the prototypes that choose between them.

    Parameters
    ----------
    matrices : ndarray of shape (s, M, N)
        The matrices, one if all samples are measured alike.
    prototypes : ndarray of shape (p, N)
        Prototypes, none if there is one matrix.
    slots : ndarray of shape (p,)
        The matrix of each prototype.
    names : ndarray of shape (p,)
        The class of each prototype.
    """

    matrices: Floats
    prototypes: Floats
    slots: Indices
    names: Array

    @classmethod
    def shared(cls, matrix: Any) -> MetricMaps:
        """Return the maps of a metric with one matrix (M, N)."""
        A = np.asarray(matrix, dtype=np.float64)
        return cls(A[None], np.empty((0, A.shape[1])), np.empty(0, np.int64), np.empty(0, str))

    @property
    def local(self) -> bool:
        """Whether samples are measured by different matrices."""
        return len(self.matrices) > 1

    def winners(self, X: Floats) -> Indices:
        """Return the nearest prototype of each sample, each measured by its own matrix."""
        pairs = zip(self.prototypes, self.slots)
        distances = [np.square((X - w) @ self.matrices[slot].T).sum(axis=1) for w, slot in pairs]
        return np.argmin(distances, axis=0)


def maps_of(model: Any) -> MetricMaps | None:
    """Return the matrices of a fitted metric learner of this library; None of other estimators."""
    if isinstance(model, LinearMetric):
        return MetricMaps.shared(model.components_)
    if not isinstance(model, LVQClassifier):
        return None
    matrices, slots = model._matrices("ImageRetriever")
    if matrices.ndim == 2:  # relevances of single features
        matrices = matrices[:, None, :] * np.eye(matrices.shape[1])
    if len(matrices) == 1:
        return MetricMaps.shared(matrices[0])
    return MetricMaps(matrices, model.prototypes_, slots, model.prototype_labels_)


def patchwork(maps: MetricMaps, X: Floats, kind: str) -> Floats:
    """Return one view (n, M) of all samples, each mapped by the matrix of its own prototype."""
    winners = maps.winners(X)
    shared = mean_canonical_matrix(maps.matrices)
    view = np.empty((len(X), maps.matrices.shape[1]))
    for p in np.unique(winners):
        members, w, A = X[winners == p], maps.prototypes[p], maps.matrices[maps.slots[p]]
        if kind == "centered":
            patch = (members - w) @ _turned(A, shared).T + shared @ w
        else:  # Bunte 2011, eq. 4.8
            patch = members @ (A if kind == "raw" else canonical_matrix(A)).T
        view[winners == p] = patch
    return view


def canonical_maps(maps: MetricMaps) -> Floats:
    """Return the matrices in canonical form, (M, N) of one and (s, M, N) of several."""
    forms = np.stack([canonical_matrix(matrix) for matrix in maps.matrices])
    return forms if maps.local else forms[0]


@dataclass(frozen=True, repr=False)
class Recommendation:
    """Which features a learned metric heeds, and in which combinations; printed, it is a table.

    Attributes
    ----------
    transform : ndarray of shape (M, n_features) or (s, M, n_features)
        The matrix of the metric in canonical form: each row is a new feature, a weighted sum of the original ones in
        units of their spread, the weightiest first. There are several if prototypes have metrics of their own.
    feature_names : ndarray of shape (n_features,)
        Names of the features.
    names : ndarray of shape (s,) or None
        The class of each matrix, if there are several.

    See Also
    --------
    ImageRetriever.recommendation : Makes it.
    """

    transform: Floats
    feature_names: Array
    names: Array | None = None

    @property
    def relevances(self) -> Floats:
        """Share (n_features,) or (s, n_features) of each feature in the squared weights."""
        squares = (self.transform**2).sum(axis=-2)
        return squares / squares.sum(axis=-1, keepdims=True)

    @property
    def shares(self) -> Floats:
        """Share (M,) or (s, M) of each new feature in the squared weights."""
        squares = (self.transform**2).sum(axis=-1)
        return squares / squares.sum(axis=-1, keepdims=True)

    def __str__(self) -> str:
        if self.names is None:
            return "\n".join(self._lines(self.transform, self.relevances, self.shares))
        parts = zip(self.names, self.transform, self.relevances, self.shares)
        return "\n\n".join("\n".join([str(name), *self._lines(*values)]) for name, *values in parts)

    __repr__ = __str__

    def _lines(self, transform: Floats, relevances: Floats, shares: Floats) -> Iterator[str]:
        width = max(len(str(name)) for name in [*self.feature_names, "share"])
        heads = [f"{f'direction {i}':>12}" for i in range(1, len(transform) + 1)]
        yield " ".join([" " * width, *heads, " relevance"])
        for name, column, relevance in zip(self.feature_names, transform.T, relevances):
            yield " ".join([f"{name!s:<{width}}", *(f"{value:12.3f}" for value in column), f"{100 * relevance:8.1f} %"])
        yield " ".join([f"{'share':<{width}}", *(f"{100 * share:10.1f} %" for share in shares)])


def _turned(A: Floats, shared: Floats) -> Floats:
    """Return a matrix with its rows rotated to agree best with another one."""
    left, _, right = np.linalg.svd(shared @ A.T)
    return left @ right @ A
