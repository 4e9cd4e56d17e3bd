"""What the measures read from samples and fitted maps: prototypes, lattice, and the nearest prototypes of samples."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_array

from protolearn.core.lattices import Lattice
from protolearn.core.loop import distances_to, stage, winners
from protolearn.core.threads import chunk_threads

__all__ = ["check_samples", "lattice_of", "nearest_prototypes", "prototypes_of"]

TIE = 1e-9  # distances that differ by less, relatively, are the same up to rounding
BLOCK_ENTRIES = 1 << 18  # distances, or coordinates, held at once: 2 MB

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]


def prototypes_of(source: Any) -> NDArray[Any]:
    """Return the prototypes W (k, d) of a fitted map or of the map in a classifier, or the array itself.

    Examples
    --------
    >>> prototypes_of([[0, 1], [2, 3]])
    array([[0., 1.],
           [2., 3.]])
    """
    source = getattr(source, "estimator_", source)
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
    lattice = getattr(getattr(estimator, "estimator_", estimator), "lattice_", None)
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


def nearest_prototypes(samples: NDArray[Any], prototypes: NDArray[Any]) -> tuple[Indices, Indices, NDArray[Any]]:
    """Return the nearest and second nearest prototype of each sample, and the squared distance to the nearest.

    Examples
    --------
    >>> import numpy as np
    >>> first, second, squared = nearest_prototypes(np.array([[0.5], [5.0]]), np.array([[0.0], [2.0], [9.0]]))
    >>> first, second, squared
    (array([0, 1]), array([1, 2]), array([0.25, 9.  ]))
    """
    with chunk_threads() as n_threads:
        staged = stage(samples, prototypes, n_threads)
        first, second = winners(*staged)
        return first, second, distances_to(*staged, first)
