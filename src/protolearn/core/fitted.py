"""Access of measures and plots to fitted maps: prototypes, lattice, distances and nearest prototypes.

A relational map has no vectors. It provides the squared distances between its prototypes
(``prototype_dissimilarities_``) and of samples to prototypes (``transform``), which suffice for most measures.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import cdist
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_array

from protolearn.core.lattices import Lattice
from protolearn.core.loop import distances_to, stage, winners
from protolearn.core.neighbors import two_nearest
from protolearn.core.threads import chunk_threads
from protolearn.core.types import Array, Floats

__all__ = [
    "check_samples",
    "edge_lengths",
    "is_relational",
    "lattice_of",
    "nearest_prototypes",
    "prototype_distances",
    "prototypes_of",
]

TIE = 1e-9  # distances that differ by less, relatively, are the same up to rounding

Indices = NDArray[np.intp]


def prototypes_of(source: Any) -> Array:
    """Return the prototypes W (k, d) of a fitted map or of the map in a classifier, or the array itself.

    Examples
    --------
    >>> prototypes_of([[0, 1], [2, 3]])
    array([[0., 1.],
           [2., 3.]])
    """
    source = getattr(source, "estimator_", source)
    if is_relational(source):
        raise ValueError(
            f"This measure needs prototypes that are vectors, and {type(source).__name__} knows them by their "
            "dissimilarities only; pass a map of vectors, such as NeuralGas."
        )
    if hasattr(source, "fit") and not hasattr(source, "prototypes_"):
        raise NotFittedError(f"This {type(source).__name__} has no prototypes yet; call fit first.")
    return check_array(getattr(source, "prototypes_", source), dtype=[np.float64, np.float32], input_name="prototypes")


def is_relational(source: Any) -> bool:
    """Return whether an estimator is a fitted relational map, or a classifier that contains one.

    Examples
    --------
    >>> is_relational([[0, 1], [2, 3]])
    False
    """
    return hasattr(getattr(source, "estimator_", source), "prototype_dissimilarities_")


def prototype_distances(source: Any) -> Floats:
    """Return the distances (k, k) between the prototypes of any map, or between the rows of an array.

    Negative squared distances, which can occur if dissimilarities are not Euclidean, are set to zero.

    Examples
    --------
    >>> prototype_distances([[0.0], [3.0]])
    array([[0., 3.],
           [3., 0.]])
    >>> from types import SimpleNamespace
    >>> prototype_distances(SimpleNamespace(prototype_dissimilarities_=[[0.0, 9.0], [9.0, 0.0]]))
    array([[0., 3.],
           [3., 0.]])
    """
    if is_relational(source):
        squared = np.asarray(getattr(source, "estimator_", source).prototype_dissimilarities_, dtype=np.float64)
        return np.sqrt(np.maximum(squared, 0.0))
    prototypes = prototypes_of(source).astype(np.float64)
    return cdist(prototypes, prototypes)


def edge_lengths(source: Any, edges: Indices) -> Floats:
    """Return the distances (e,) between the prototypes at both ends of edges (e, 2), as `prototype_distances` has them.

    Examples
    --------
    >>> edge_lengths([[0.0], [3.0], [4.0]], np.array([[0, 1], [1, 2]]))
    array([3., 1.])
    """
    first, second = edges.T
    if is_relational(source):
        return prototype_distances(source)[first, second]
    prototypes = prototypes_of(source).astype(np.float64)
    return np.linalg.norm(prototypes[first] - prototypes[second], axis=1)


def lattice_of(estimator: Any) -> Lattice:
    """Return the lattice of a fitted map.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from protolearn.core.lattices import chain
    >>> lattice_of(SimpleNamespace(lattice_=chain(3)))
    Lattice(chain, 3 nodes)
    """
    lattice = getattr(getattr(estimator, "estimator_", estimator), "lattice_", None)
    if lattice is None:
        raise ValueError(
            f"This measure compares the data with a lattice, and this {type(estimator).__name__} has none (no "
            "attribute lattice_); pass a fitted map with a lattice, such as SOM."
        )
    return lattice


def check_samples(X: ArrayLike, prototypes: Array) -> Array:
    """Return the samples X (n, d) as an array with as many features as the prototypes.

    Examples
    --------
    >>> import numpy as np
    >>> check_samples([[1, 2]], np.zeros((3, 2)))
    array([[1., 2.]])
    """
    samples = check_array(X, dtype=[np.float64, np.float32], input_name="X")
    if samples.shape[1] != prototypes.shape[1]:
        raise ValueError(
            f"X has {samples.shape[1]} features, but the prototypes have {prototypes.shape[1]}; pass samples with the "
            "features of the training samples."
        )
    return samples


def nearest_prototypes(X: Any, source: Any) -> tuple[Indices, Indices, Array]:
    """Return the nearest and second nearest prototype of each sample, and the squared distance to the nearest.

    The squared distance can be negative for relational maps if the dissimilarities are not Euclidean.

    Examples
    --------
    >>> first, second, squared = nearest_prototypes([[0.5], [5.0]], [[0.0], [2.0], [9.0]])
    >>> first, second, squared
    (array([0, 1]), array([1, 2]), array([0.25, 9.  ]))
    """
    if is_relational(source):
        distances = getattr(source, "estimator_", source).transform(X)
        first, second = two_nearest(distances)
        return first, second, distances[np.arange(len(first)), first]
    prototypes = prototypes_of(source)
    with chunk_threads() as n_threads:
        staged = stage(check_samples(X, prototypes), prototypes, n_threads)
        first, second = winners(*staged)
        return first, second, distances_to(*staged, first)
