"""Samples on a curved surface with known density, for measuring the magnification of prototypes."""

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from protolearn.core.parameters import constrained, integer, none
from protolearn.core.types import Floats

__all__ = ["make_magnification_control"]


@constrained(dim=integer(1), n_samples=integer(1) | none)
def make_magnification_control(
    dim: int = 1, n_samples: int | None = None, *, random_state: Any = None
) -> tuple[Floats, Floats]:
    """Make samples on the graph of a product of sines, with their density on this surface.

    A sample is (x_1, ..., x_d, sin(pi x_1) ... sin(pi x_d)) with every x_i uniform between 0 and 1. The surface is
    steep near its border and flat in the middle, so the samples are sparse at the border and dense in the middle.

    Parameters
    ----------
    dim : int, default=1
        Dimension d of the surface.
    n_samples : int, default=None
        Number of samples, `2500 * 2 ** (dim - 1)` by default.
    random_state : int, RandomState or None, default=None
        Seed for reproducible samples.

    Returns
    -------
    X : ndarray of shape (n, dim + 1)
        The samples.
    density : ndarray of shape (n,)
        Probability density at each sample, per unit of length, area or volume of the surface: ``1 / sqrt(1 + |grad
        f|^2)`` for the height f.

    References
    ----------
    Hasenfuss, A. (2009). Topographic Mapping of Dissimilarity Datasets. PhD thesis, TU Clausthal, section 3.5.

    Examples
    --------
    >>> from protolearn.datasets import make_magnification_control
    >>> X, density = make_magnification_control(dim=2, random_state=0)
    >>> X.shape, density.shape
    ((5000, 3), (5000,))
    """
    if n_samples is None:
        n_samples = 2500 * 2 ** (dim - 1)
    x = check_random_state(random_state).uniform(size=(n_samples, dim))
    sines = np.sin(np.pi * x)
    slopes = [np.pi * np.cos(np.pi * x[:, i]) * np.delete(sines, i, axis=1).prod(axis=1) for i in range(dim)]
    density = 1 / np.sqrt(1 + np.sum(np.square(slopes), axis=0))
    return np.column_stack([x, sines.prod(axis=1)]), density
