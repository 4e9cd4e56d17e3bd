"""Streams of samples from Gaussian clouds: in random order, sorted by cloud, or drifting between clouds."""

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array, check_random_state

from protolearn.core.parameters import constrained, integer
from protolearn.core.types import Array, Floats
from protolearn.datasets._shares import labels_in_shares

__all__ = ["make_clouds", "make_eleven_clouds", "make_four_clouds"]

Order = Literal["random", "sorted", "diffused"]

FOUR_CENTERS = ((-4.0, -4.0), (4.0, -4.0), (-4.0, 4.0), (4.0, 4.0))

# Hasenfuss 2009, sec. 3.5: shares of the modes two before, one before, at, one after and two after the current one.
DIFFUSED_SHARES = (0.01, 0.21, 0.56, 0.21, 0.01)


@constrained(n_samples=integer(1))
def make_clouds(
    n_samples: int,
    centers: ArrayLike,
    *,
    order: Order = "random",
    return_centers: bool = False,
    random_state: Any = None,
) -> tuple[Array, ...]:
    """Make a stream of samples from Gaussian clouds of unit variance.

    Parameters
    ----------
    n_samples : int
        Number of samples.
    centers : array-like of shape (n_modes, d)
        Center of each cloud.
    order : {"random", "sorted", "diffused"}, default="random"
        Order of the samples. "random" mixes all clouds; "sorted" yields one cloud after another; "diffused" yields
        successive patches of n_samples / n_modes samples, of which 56% belong to the current cloud, 21% each to the
        previous and the next cloud, and 1% each to the clouds two steps before and after. At both ends of the stream,
        the part of missing clouds is divided among the others proportionally.
    return_centers : bool, default=False
        Whether to return the centers as well.
    random_state : int, RandomState or None, default=None
        Seed for reproducible samples.

    Returns
    -------
    X : ndarray of shape (n, d)
        The samples in the order of the stream.
    y : ndarray of shape (n,)
        The cloud of each sample.
    centers : ndarray of shape (n_modes, d)
        The centers; only if `return_centers` is true.

    Examples
    --------
    >>> from protolearn.datasets import make_clouds
    >>> X, y = make_clouds(6, [[0, 0], [9, 0], [9, 9]], order="sorted", random_state=0)
    >>> y
    array([0, 0, 1, 1, 2, 2])
    """
    places: Floats = check_array(centers, dtype=np.float64, copy=True, input_name="centers")
    rng = check_random_state(random_state)
    y = _stream_of_modes(n_samples, len(places), order, rng)
    X = places[y] + rng.standard_normal((n_samples, places.shape[1]))
    return (X, y, places) if return_centers else (X, y)


def make_four_clouds(
    n_samples: int = 40000, *, order: Order = "random", return_centers: bool = False, random_state: Any = None
) -> tuple[Array, ...]:
    """Make four planar clouds of unit variance that hardly overlap.

    Parameters
    ----------
    n_samples : int, default=40000
        Number of samples.
    order : {"random", "sorted", "diffused"}, default="random"
        Order of the samples, see `make_clouds`.
    return_centers : bool, default=False
        Whether to return the centers (±4, ±4) as well.
    random_state : int, RandomState or None, default=None
        Seed for reproducible samples.

    Returns
    -------
    X : ndarray of shape (n, 2)
        The samples in the order of the stream.
    y : ndarray of shape (n,)
        The cloud of each sample, numbered from left to right and from bottom to top.
    centers : ndarray of shape (4, 2)
        The centers; only if `return_centers` is true.

    References
    ----------
    Hasenfuss, A. (2009). Topographic Mapping of Dissimilarity Datasets. PhD thesis, TU Clausthal, section 3.5. The
    centers are not given there.

    Examples
    --------
    >>> from protolearn.datasets import make_four_clouds
    >>> X, y, centers = make_four_clouds(return_centers=True, random_state=0)
    >>> X.shape, centers.tolist()
    ((40000, 2), [[-4.0, -4.0], [4.0, -4.0], [-4.0, 4.0], [4.0, 4.0]])
    """
    return make_clouds(n_samples, FOUR_CENTERS, order=order, return_centers=return_centers, random_state=random_state)


def make_eleven_clouds(
    n_samples: int = 11000, *, order: Order = "random", return_centers: bool = False, random_state: Any = None
) -> tuple[Array, ...]:
    """Make eleven planar clouds of unit variance on an irregular grid, for tests with nonstationary streams.

    Parameters
    ----------
    n_samples : int, default=11000
        Number of samples.
    order : {"random", "sorted", "diffused"}, default="random"
        Order of the samples, see `make_clouds`.
    return_centers : bool, default=False
        Whether to return the centers as well. The centers are fixed, at distances of about 8.
    random_state : int, RandomState or None, default=None
        Seed for reproducible samples.

    Returns
    -------
    X : ndarray of shape (n, 2)
        The samples in the order of the stream.
    y : ndarray of shape (n,)
        The cloud of each sample, numbered from left to right and from bottom to top.
    centers : ndarray of shape (11, 2)
        The centers; only if `return_centers` is true.

    References
    ----------
    Hasenfuss, A. (2009). Topographic Mapping of Dissimilarity Datasets. PhD thesis, TU Clausthal, section 3.5. The
    centers are not given there.

    Examples
    --------
    >>> from protolearn.datasets import make_eleven_clouds
    >>> X, y = make_eleven_clouds(order="diffused", random_state=0)
    >>> int((y[5000:6000] == 5).sum())
    560
    """
    return make_clouds(
        n_samples, _eleven_centers(), order=order, return_centers=return_centers, random_state=random_state
    )


def _eleven_centers() -> Floats:
    """Eleven places (11, 2) on a grid of four columns with spacing 8, each moved by up to one unit; always the same."""
    row, col = np.divmod(np.arange(11), 4)
    jitter = np.random.RandomState(11).uniform(-1, 1, (11, 2))
    return 8 * np.column_stack([col, row]) + jitter


def _stream_of_modes(n_samples: int, n_modes: int, order: str, rng: np.random.RandomState) -> NDArray[np.intp]:
    if order == "diffused":
        sizes = [len(patch) for patch in np.array_split(np.arange(n_samples), n_modes)]
        shares = _diffused_shares(n_modes)
        return np.concatenate([labels_in_shares(size, share, rng) for size, share in zip(sizes, shares)])
    modes = labels_in_shares(n_samples, np.ones(n_modes), rng)
    if order == "random":
        return modes
    if order == "sorted":
        return np.sort(modes)
    raise ValueError(f"order must be 'random', 'sorted' or 'diffused', got {order!r}.")


def _diffused_shares(n_modes: int) -> Floats:
    """Shares (n_modes, n_modes) of the modes in each patch of a diffused stream; those at both ends add up to less."""
    return np.sum([share * np.eye(n_modes, k=lag) for lag, share in zip(range(-2, 3), DIFFUSED_SHARES)], axis=0)
