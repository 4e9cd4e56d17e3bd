"""What the measures read from samples and fitted maps: prototypes, lattice, and the nearest prototypes of samples."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_array

from protolearn.core.density import squared_distances
from protolearn.core.lattices import Lattice

__all__ = ["check_samples", "lattice_of", "nearest_prototypes", "prototypes_of"]

TIE = 1e-9  # distances that differ by less, relatively, are the same up to rounding
BLOCK_ENTRIES = 1 << 18  # distances, or coordinates, held at once: 2 MB

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]


def prototypes_of(source: Any) -> NDArray[Any]:
    """Return the prototypes W (k, d) of a fitted estimator, or the array itself.

    Examples
    --------
    >>> prototypes_of([[0, 1], [2, 3]])
    array([[0., 1.],
           [2., 3.]])
    """
    if hasattr(source, "fit") and not hasattr(source, "prototypes_"):
        raise NotFittedError(f"This {type(source).__name__} has no prototypes yet; call fit first.")
    return check_array(getattr(source, "prototypes_", source), dtype=[np.float64, np.float32], input_name="prototypes")


def lattice_of(estimator: Any) -> Lattice:
    """Return the lattice of a fitted map.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from protolearn.core.lattices import chain
    >>> lattice_of(SimpleNamespace(lattice_=chain(3)))
    Lattice(chain, 3 nodes)
    """
    lattice = getattr(estimator, "lattice_", None)
    if lattice is None:
        raise ValueError(
            f"This measure compares the data with a lattice, and this {type(estimator).__name__} has none (no "
            "attribute lattice_); give a fitted map with a lattice, such as SOM."
        )
    return lattice


def check_samples(X: ArrayLike, prototypes: NDArray[Any]) -> NDArray[Any]:
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
            f"X has {samples.shape[1]} features, but the prototypes have {prototypes.shape[1]}; give samples of the "
            "kind the map was trained on."
        )
    return samples


def nearest_prototypes(samples: NDArray[Any], prototypes: NDArray[Any], n_nearest: int) -> tuple[Indices, Floats]:
    """Return the indices and squared distances (n, n_nearest) of the nearest prototypes, the lowest index on ties.

    Examples
    --------
    >>> import numpy as np
    >>> indices, squared = nearest_prototypes(np.array([[1.0], [5.0]]), np.array([[0.0], [2.0], [9.0]]), 2)
    >>> indices
    array([[0, 1],
           [1, 2]])
    >>> squared
    array([[ 1.,  1.],
           [ 9., 16.]])
    """
    origin = prototypes.mean(axis=0, dtype=np.float64)
    centred = prototypes - origin
    indices = np.empty((len(samples), n_nearest), dtype=np.intp)
    distances = np.empty((len(samples), n_nearest))
    size = max(1, BLOCK_ENTRIES // max(prototypes.shape))
    for start in range(0, len(samples), size):
        rows = slice(start, start + size)
        squared = squared_distances(samples[rows] - origin, centred)
        each = np.arange(len(squared))
        for place in range(n_nearest):
            winners = squared.argmin(axis=1)
            indices[rows, place] = winners
            distances[rows, place] = squared[each, winners]
            squared[each, winners] = np.inf
    return indices, distances
