"""Labeled samples in the plane: a checkerboard, Ripley's two classes, and two classes that meet at a line."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import truncnorm
from sklearn.utils import check_random_state

from protolearn.core.parameters import constrained, integer, number
from protolearn.core.types import Array, Floats
from protolearn.datasets._shares import labels_in_shares

__all__ = ["make_checkerboard", "make_half_plane_classes", "make_ripley"]

# Ripley's mixture: centers of the four components, and the class that each belongs to. The classes alternate, so that
# they stay balanced when the number of samples is not a multiple of four.
RIPLEY_CENTERS = np.array([(-0.7, 0.3), (-0.3, 0.7), (0.3, 0.3), (0.4, 0.7)])
RIPLEY_CLASSES = np.array([0, 1, 0, 1])
RIPLEY_VARIANCE = 0.03


@constrained(n_rows=integer(1), n_cols=integer(1), noise=number(0))
def make_checkerboard(
    n_rows: int = 10,
    n_cols: int = 10,
    *,
    points_per_field: tuple[int, int] = (15, 20),
    noise: float = 0.12,
    return_field: bool = False,
    random_state: Any = None,
) -> tuple[Array, ...]:
    """Make small clusters on a grid, with two classes that alternate as on a chessboard.

    The data reveal methods that converge to poor local optima: one prototype for each field is optimal, and every field
    without a prototype reduces the accuracy.

    Parameters
    ----------
    n_rows, n_cols : int, default=10
        Numbers of rows and columns. The center of a field is (column, row).
    points_per_field : tuple (low, high), default=(15, 20)
        Smallest and largest number of samples in a field; numbers are drawn uniformly from this range.
    noise : float, default=0.12
        Standard deviation of the Gaussian spread around the center, in units of the spacing of the fields.
    return_field : bool, default=False
        Whether to return the field of each sample as well.
    random_state : int, RandomState or None, default=None
        Seed for reproducible samples.

    Returns
    -------
    X : ndarray of shape (n, 2)
        The samples in random order.
    y : ndarray of shape (n,)
        The class, 0 or 1.
    field : ndarray of shape (n,)
        The field `row * n_cols + column`; only if `return_field` is true.

    References
    ----------
    Hasenfuss, A. (2009). Topographic Mapping of Dissimilarity Datasets. PhD thesis, TU Clausthal, section 3.5. The
    variance within a field is not specified there.

    Examples
    --------
    >>> from protolearn.datasets import make_checkerboard
    >>> X, y, field = make_checkerboard(2, 3, return_field=True, random_state=0)
    >>> {int(f): int(c) for f, c in sorted(zip(field, y))}
    {0: 0, 1: 1, 2: 0, 3: 1, 4: 0, 5: 1}
    """
    if np.shape(points_per_field) != (2,) or not 1 <= points_per_field[0] <= points_per_field[1]:
        raise ValueError(f"points_per_field must be (low, high) with 1 <= low <= high, got {points_per_field!r}.")
    low, high = points_per_field
    rng = check_random_state(random_state)
    counts = rng.randint(low, high + 1, size=n_rows * n_cols)
    field = rng.permutation(np.repeat(np.arange(n_rows * n_cols), counts))
    row, col = np.divmod(field, n_cols)
    X = np.column_stack([col, row]) + noise * rng.standard_normal((len(field), 2))
    y = (row + col) % 2
    return (X, y, field) if return_field else (X, y)


@constrained(n_samples=integer(1))
def make_ripley(n_samples: int = 1250, *, random_state: Any = None) -> tuple[Floats, NDArray[np.intp]]:
    """Make two overlapping classes of two Gaussian clusters each, after Ripley.

    Class 0 is centered at (-0.7, 0.3) and (0.3, 0.3), class 1 at (-0.3, 0.7) and (0.4, 0.7); the variance is 0.03 in
    every direction. The Bayes error of this mixture is 8.9%.

    Parameters
    ----------
    n_samples : int, default=1250
        Number of samples; a quarter in each cluster. Ripley used 250 for training and 1000 for testing.
    random_state : int, RandomState or None, default=None
        Seed for reproducible samples.

    Returns
    -------
    X : ndarray of shape (n, 2)
        The samples in random order.
    y : ndarray of shape (n,)
        The class, 0 or 1.

    References
    ----------
    Ripley, B. D. (1996). Pattern Recognition and Neural Networks. Cambridge University Press.

    Examples
    --------
    >>> from protolearn.datasets import make_ripley
    >>> X, y = make_ripley(random_state=0)
    >>> X.shape, int(y.sum())
    ((1250, 2), 625)
    """
    rng = check_random_state(random_state)
    cluster = labels_in_shares(n_samples, np.ones(len(RIPLEY_CENTERS)), rng)
    X = RIPLEY_CENTERS[cluster] + np.sqrt(RIPLEY_VARIANCE) * rng.standard_normal((n_samples, 2))
    return X, RIPLEY_CLASSES[cluster]


@constrained(n_samples=integer(1))
def make_half_plane_classes(n_samples: int = 2000, *, random_state: Any = None) -> tuple[Floats, NDArray[np.intp]]:
    """Make two Gaussian classes, each truncated at the line between them.

    Class 0 is a Gaussian of unit variance around (-1, 0) without its samples at x >= 0, class 1 its mirror image. The
    classes are separable, but the density of the samples does not reveal their border: only a supervised method can
    place a decision boundary along the line x = 0.

    Parameters
    ----------
    n_samples : int, default=2000
        Number of samples; half in each class.
    random_state : int, RandomState or None, default=None
        Seed for reproducible samples.

    Returns
    -------
    X : ndarray of shape (n, 2)
        The samples in random order.
    y : ndarray of shape (n,)
        The class, 0 or 1.

    References
    ----------
    Hasenfuss, A. (2009). Topographic Mapping of Dissimilarity Datasets. PhD thesis, TU Clausthal, section 3.5. Centers
    and number of samples are not given there.

    Examples
    --------
    >>> from protolearn.datasets import make_half_plane_classes
    >>> X, y = make_half_plane_classes(random_state=0)
    >>> bool((y == (X[:, 0] > 0)).all())
    True
    """
    rng = check_random_state(random_state)
    y = labels_in_shares(n_samples, np.ones(2), rng)
    from_line = truncnorm.rvs(-1, np.inf, loc=1, size=n_samples, random_state=rng)
    return np.column_stack([np.where(y == 1, from_line, -from_line), rng.standard_normal(n_samples)]), y
