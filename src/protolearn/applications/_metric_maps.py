"""Linear maps of a learned metric: combined projections, and their interpretation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from protolearn.core.metric import LearnedMetric
from protolearn.core.types import Array, Floats
from protolearn.lvq import canonical_matrix, mean_canonical_matrix

__all__ = ["Recommendation", "canonical_maps", "patchwork"]


def patchwork(metric: LearnedMetric, X: Floats, kind: str) -> Floats:
    """Return one view (n, M) of all samples, each mapped by the matrix of its own prototype."""
    winners, vectors, omegas = metric.nearest(X), metric.samples(X), metric.omegas
    shared = mean_canonical_matrix(omegas)
    view = np.empty((len(vectors), omegas.shape[1]))
    for p in np.unique(winners):
        members, w, A = vectors[winners == p], metric.prototypes[p], omegas[metric.slots[p]]
        if kind == "centered":
            patch = (members - w) @ _turned(A, shared).T + shared @ w
        else:  # Bunte 2011, eq. 4.8
            patch = members @ (A if kind == "raw" else canonical_matrix(A)).T
        view[winners == p] = patch
    return view


def canonical_maps(metric: LearnedMetric) -> Floats:
    """Return the matrices in canonical form, (M, N) of one and (s, M, N) of several."""
    forms = np.stack([canonical_matrix(matrix) for matrix in metric.omegas])
    return forms[0] if metric.is_global else forms


@dataclass(frozen=True, repr=False)
class Recommendation:
    """Features, and combinations of features, that a learned metric uses; printed as a table.

    Attributes
    ----------
    transform : ndarray of shape (M, n_features) or (s, M, n_features)
        Matrix of the metric in canonical form. Each row is a new feature, a weighted sum of the standardized original
        features, in descending order of weight. There are several matrices if prototypes have local metrics.
    feature_names : ndarray of shape (n_features,)
        Names of the features.
    names : ndarray of shape (s,) or None
        Class of each matrix, if there are several.

    See Also
    --------
    ImageRetriever.recommendation : Returns the recommendation of a fitted retriever.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.applications import Recommendation
    >>> found = Recommendation(np.array([[0.8, 0.0], [0.0, 0.6]]), np.array(["red", "blue"]))
    >>> found.relevances.round(2).tolist()
    [0.64, 0.36]
    >>> str(found).splitlines()[-1].split()  # printed, it is a table; this is its last row
    ['share', '64.0', '%', '36.0', '%']
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
