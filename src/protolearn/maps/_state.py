"""What goes into a map and what comes out of it: patches of samples, and prototypes with their masses."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import coo_array, csr_array
from sklearn.utils import gen_batches

from protolearn.core.cooperation import Cooperation
from protolearn.core.shapes import Shapes
from protolearn.core.ties import lower
from protolearn.core.types import Array, Floats, Indices

__all__ = ["Model", "Samples", "best_of", "field_means", "hebbian_graph"]

BLOCK = 1_000_000  # numbers at a time


@dataclass(frozen=True)
class Samples:
    """One patch: samples (n, d), weights (n,), and label vectors (n, C) over ``classes`` if the map is supervised.

    The last samples may stand for others that are spread around them; ``spreads`` tells how.
    """

    X: Array
    weights: Array
    labels: Any = None
    classes: Any = None
    spreads: Shapes | None = None

    def take(self, rows: Indices) -> Samples:
        """Return some of the samples, in rising order if they have spreads."""
        labels = None if self.labels is None else self.labels[rows]
        spreads = self.spreads
        if spreads is not None:
            places = rows - (len(self.X) - len(spreads))
            spreads = spreads[places[places >= 0]]
        return Samples(self.X[rows], self.weights[rows], labels, self.classes, spreads)

    def joined(self, other: Samples) -> Samples:
        """Append other samples, all of which have spreads if these have any."""
        X = self.X.joined(other.X) if hasattr(self.X, "joined") else np.concatenate([self.X, other.X])
        weights = np.concatenate([self.weights, other.weights])
        spreads = other.spreads
        if self.spreads is not None and spreads is not None:
            spreads = self.spreads.joined(spreads)
        if self.labels is None:
            return Samples(X, weights, spreads=spreads)
        if (self.classes.dtype.kind in "biuf") != (other.classes.dtype.kind in "biuf"):
            raise ValueError(
                f"Classes are {self.classes.tolist()} here and {other.classes.tolist()} in another patch; "
                "give all patches the same kind of labels."
            )
        classes = np.union1d(self.classes, other.classes)
        labels = [spread_columns(part.labels, part.classes, classes) for part in (self, other)]
        return Samples(X, weights, np.concatenate(labels).astype(self.labels.dtype), classes, spreads)


@dataclass(frozen=True)
class Model:
    """Prototypes with the mass of their receptive fields, and how they came about.

    Prototypes with a shape have it in coordinates that are scaled by ``scale``.
    """

    cooperation: Cooperation
    positions: Array
    fuzzy: Floats | None
    classes: Any
    magnification: float | None
    masses: Floats
    winners: Indices
    graph: Any
    costs: list[float]
    ranges: list[float]
    interrupted: bool
    shapes: Shapes | None = None
    scale: Any = None
    changed: Any = None
    log_weights: Any = None
    n_steps: int = 0
    unit: float = 1.0
    settled: float | None = None  # cost after what followed the last epoch
    edges: Any = None  # made by online learning
    centers: Any = None  # means (k, d) of the receptive fields, and of their labels (k, C)
    center_labels: Any = None

    def __len__(self) -> int:
        return len(self.positions)

    def as_samples(self, decay: float = 1.0) -> Samples:
        """Return weighted samples that stand for all that was learned from (Hasenfuss 2009, sec. 3.4).

        They are the centers of the receptive fields. Prototypes that learn with their neighbors are drawn towards
        these, and a map that took them for its samples would contract with every patch.
        """
        full = self.masses > 0
        fuzzy = None if self.fuzzy is None else self.center_labels[full]
        spreads = None
        if self.shapes is not None:
            shapes = self.shapes[full]
            spreads = Shapes(shapes.axes / self.scale, _finite(shapes.variances), _finite(shapes.rest))
        return Samples(self.centers[full], decay * self.masses[full], fuzzy, self.classes, spreads)

    def showing(self, weights: Array, first: Indices, second: Indices) -> Model:
        """Return the model with the two nearest prototypes, and their graph, of samples of given weights.

        Edges that were made while learning are the graph, if there are any.
        """
        graph = hebbian_graph(first, second, weights, len(self)) if self.edges is None else csr_array(self.edges)
        return replace(self, winners=first, graph=graph)

    def labels_over(self, classes: Any) -> Floats:
        """Return the fuzzy labels with a column for each of these classes; none if the map is not supervised."""
        if self.fuzzy is None:
            return np.empty((len(self), 0))
        return spread_columns(self.fuzzy, self.classes, classes)


def _finite(variances: Floats) -> Floats:
    """Return variances, none for directions that do not count."""
    return np.where(np.isfinite(variances), variances, 0.0)


def spread_columns(labels: Array, classes: Array, all_classes: Array) -> Array:
    """Return label vectors over more classes, zero for the new ones."""
    wider = np.zeros((len(labels), len(all_classes)))
    wider[:, np.searchsorted(all_classes, classes)] = labels
    return wider


def field_means(values: Array, weights: Array, winners: Indices, otherwise: Array) -> Array:
    """Return the mean (k, d) of the values in each receptive field; a row of ``otherwise`` for fields without weight.

    A value that is not known counts as that of ``otherwise``, so that it moves nothing.
    """
    k, d = otherwise.shape
    gaps = np.zeros((k, d))
    for rows in gen_batches(len(values), max(1, BLOCK // max(d, 1))):
        own = winners[rows]
        part = np.nan_to_num(values[rows] - otherwise[own], copy=False)
        gaps += csr_array((weights[rows], (own, np.arange(len(own)))), shape=(k, len(own))) @ part
    mass = np.bincount(winners, weights, k)[:, None]
    return (otherwise + gaps / np.where(mass > 0, mass, 1.0)).astype(otherwise.dtype)


def hebbian_graph(first: Indices, second: Indices, weights: Array, n_prototypes: int) -> csr_array:
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


def best_of(models: Iterable[Any], cost: Callable[[Any], float]) -> Any:
    """Return the first model of lowest cost; one that was interrupted is the last, and serves if there is no other."""
    best: Any = None
    try:
        for model in models:
            if model.interrupted:
                return model if best is None else replace(best, interrupted=True)
            best = model if best is None else lower(best, model, cost)
    except KeyboardInterrupt:  # at the very start of one
        if best is None:
            raise
        return replace(best, interrupted=True)
    return best
