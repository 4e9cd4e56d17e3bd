"""How well distances in a picture agree with dissimilarities."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import pdist
from sklearn.utils import check_array

__all__ = ["stress"]


def stress(D: ArrayLike, Y: ArrayLike, nonmetric: bool = False) -> float:
    """Kruskal's stress-1: how far distances in a picture are from the dissimilarities they show.

    ``stress = sqrt(sum_{i<j} (f(D_ij) - d_ij)^2 / sum_{i<j} d_ij^2)``, where ``d_ij`` is the Euclidean distance of the
    positions i and j, and ``f(D_ij)`` is the dissimilarity itself or, with ``nonmetric``, the best increasing function
    of it: then only the order of the dissimilarities counts.

    Parameters
    ----------
    D : array-like of shape (n, n)
        Dissimilarities, symmetric; the diagonal is ignored.
    Y : array-like of shape (n, q)
        Positions in the picture.
    nonmetric : bool, default=False
        Compare the order of the dissimilarities only.

    Returns
    -------
    float
        0 for a perfect picture; by Kruskal's rule of thumb 0.05 is good, 0.1 fair and 0.2 poor.

    References
    ----------
    Kruskal, J. B. (1964). Multidimensional scaling by optimizing goodness of fit to a nonmetric hypothesis.
    Psychometrika 29, 1-27.

    Examples
    --------
    >>> D = [[0.0, 1.0, 4.0], [1.0, 0.0, 1.0], [4.0, 1.0, 0.0]]
    >>> Y = [[0.0], [1.0], [2.0]]
    >>> round(stress(D, Y), 2), stress(D, Y, nonmetric=True)
    (0.82, 0.0)
    """
    given = check_array(D, dtype=np.float64, input_name="D")
    positions = check_array(Y, dtype=np.float64, input_name="Y")
    n = len(positions)
    if given.shape != (n, n):
        raise ValueError(f"D has the shape {given.shape}; for {n} positions it must be {(n, n)}.")
    shown, wanted = pdist(positions), given[np.triu_indices(n, k=1)]
    if not shown.any():
        raise ValueError("All positions in Y coincide, so there are no distances to compare; give at least two.")
    if nonmetric:
        from sklearn.isotonic import IsotonicRegression  # here, for it is slow to import

        wanted = IsotonicRegression().fit_transform(wanted, shown)
    return float(np.sqrt(((wanted - shown) ** 2).sum() / (shown**2).sum()))
