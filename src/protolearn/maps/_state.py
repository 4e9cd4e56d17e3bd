"""What goes into a map and what comes out of it: patches of samples, and prototypes with their masses."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from protolearn.core.cooperation import Cooperation
from protolearn.core.loop import stage, winners

__all__ = ["Model", "Samples", "hebbian_graph"]


@dataclass(frozen=True)
class Samples:
    """One patch: samples (n, d), weights (n,), and label vectors (n, C) over ``classes`` if the map is supervised."""

    X: NDArray[Any]
    weights: NDArray[Any]
    labels: Any = None
    classes: Any = None

    def take(self, rows: NDArray[np.int64]) -> Samples:
        """Return some of the samples."""
        labels = None if self.labels is None else self.labels[rows]
        return Samples(self.X[rows], self.weights[rows], labels, self.classes)

    def joined(self, other: Samples) -> Samples:
        """Append other samples."""
        X = np.concatenate([self.X, other.X])
        weights = np.concatenate([self.weights, other.weights])
        if self.labels is None:
            return Samples(X, weights)
        if (self.classes.dtype.kind in "biuf") != (other.classes.dtype.kind in "biuf"):
            raise ValueError(
                f"Classes are {self.classes.tolist()} here and {other.classes.tolist()} in another patch; "
                "give all patches the same kind of labels."
            )
        classes = np.union1d(self.classes, other.classes)
        labels = [spread_columns(part.labels, part.classes, classes) for part in (self, other)]
        return Samples(X, weights, np.concatenate(labels).astype(X.dtype), classes)


@dataclass(frozen=True)
class Model:
    """Prototypes with the mass of their receptive fields, and how they came about."""

    cooperation: Cooperation
    positions: NDArray[Any]
    fuzzy: NDArray[np.float64] | None
    classes: Any
    magnification: float | None
    masses: NDArray[np.float64]
    winners: NDArray[np.int64]
    graph: csr_array
    costs: list[float]
    ranges: list[float]
    interrupted: bool

    def as_samples(self, decay: float = 1.0) -> Samples:
        """Return the prototypes that stand for something as weighted samples (Hasenfuss 2009, sec. 3.4)."""
        full = self.masses > 0
        fuzzy = None if self.fuzzy is None else self.fuzzy[full]
        return Samples(self.positions[full], decay * self.masses[full], fuzzy, self.classes)

    def showing(self, patch: Samples, n_threads: int) -> Model:
        """Return the model with winners and graph of other samples than those it was trained on last."""
        first, second = winners(*stage(patch.X, self.positions, n_threads))
        return replace(self, winners=first, graph=hebbian_graph(first, second, patch.weights, len(self.positions)))

    def labels_over(self, classes: Any) -> NDArray[np.float64]:
        """Return the fuzzy labels with a column for each of these classes; none if the map is not supervised."""
        if self.fuzzy is None:
            return np.empty((len(self.positions), 0))
        return spread_columns(self.fuzzy, self.classes, classes)


def spread_columns(labels: NDArray[Any], classes: NDArray[Any], all_classes: NDArray[Any]) -> NDArray[Any]:
    """Return label vectors over more classes, zero for the new ones."""
    wider = np.zeros((len(labels), len(all_classes)))
    wider[:, np.searchsorted(all_classes, classes)] = labels
    return wider


def hebbian_graph(
    first: NDArray[np.int64], second: NDArray[np.int64], weights: NDArray[Any], n_prototypes: int
) -> csr_array:
    """Connect the two nearest prototypes of every sample, and add up the weights of the samples of each edge."""
    if n_prototypes == 1:
        return csr_array((1, 1))
    pairs = np.minimum(first, second) * n_prototypes + np.maximum(first, second)
    if n_prototypes <= 1024:
        sums = np.bincount(pairs, weights)
        pairs = np.flatnonzero(sums)
        weights = sums[pairs]
    ends = np.divmod(pairs, n_prototypes)
    upper = coo_array((weights, ends), shape=(n_prototypes, n_prototypes)).tocsr()
    return upper + upper.T
