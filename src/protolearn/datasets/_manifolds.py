"""Samples on manifolds, with the intrinsic coordinates that an embedding should recover."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from protolearn.core.parameters import constrained, integer, number
from protolearn.core.types import Floats

__all__ = [
    "make_corner_planes",
    "make_gaussian_surface",
    "make_hd_manifold",
    "make_punctured_sphere",
    "make_swiss_roll",
    "make_toroidal_helix",
    "make_twin_peaks",
]

Labels = NDArray[np.intp]
Manifold = tuple[Floats, Floats, Labels]

ROLL_START = 1.5 * np.pi  # angle at the inner end of a Swiss roll; the outer end is at three times this
HOLE = np.array([(9.0, 12.0), (9.0, 14.0)])  # in the angle and in the height
FOLD = np.radians(45.0)


@constrained(n_samples=integer(1), noise=number(0))
def make_swiss_roll(
    n_samples: int = 2000,
    *,
    hole: bool = False,
    broken: bool = False,
    noise: float = 0.05,
    random_state: Any = None,
) -> Manifold:
    """Make a rolled-up sheet: whole, with a hole, or broken into two pieces.

    A sample is (t cos t, h, t sin t) plus noise, with the angle t uniform between 1.5 pi and 4.5 pi, and the height h
    uniform between 0 and 21. The hole is where t is between 9 and 12, and h between 9 and 14. A broken roll has no
    angles between 2.7 pi and 3.3 pi, and heights up to 30.

    Parameters
    ----------
    n_samples : int, default=2000
        Number of samples.
    hole : bool, default=False
        Whether the sheet has a hole.
    broken : bool, default=False
        Whether the sheet is broken in two. The first half of the samples lies on the inner piece, the other half on the
        outer piece.
    noise : float, default=0.05
        Standard deviation of the Gaussian noise along each axis.
    random_state : int, RandomState or None, default=None
        Seed for reproducible samples.

    Returns
    -------
    X : ndarray of shape (n, 3)
        The samples.
    coordinates : ndarray of shape (n, 2)
        Angle t and height h of each sample on the sheet.
    y : ndarray of shape (n,)
        The class, 0 or 1: upright stripes of width 1 in t, or fields of 2 by 12 if the roll is broken.

    References
    ----------
    Arnonkijpanich, B. (2010). Matrix learning for topographic neural maps. PhD thesis, TU Clausthal, section 5.3.

    van der Maaten, L., Postma, E., van den Herik, J. (2009). Dimensionality reduction: a comparative review. Technical
    Report TiCC 2009-005, Tilburg University.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.datasets import make_swiss_roll
    >>> X, coordinates, y = make_swiss_roll(noise=0, random_state=0)
    >>> X.shape, np.allclose(np.hypot(X[:, 0], X[:, 2]), coordinates[:, 0])
    ((2000, 3), True)
    """
    if hole and broken:
        raise ValueError("hole=True and broken=True cannot be combined; choose one of them.")
    rng = check_random_state(random_state)
    if broken:
        coordinates = _on_sheet(n_samples, 0.8, 30.0, rng)
        coordinates[n_samples // 2 :, 0] += 1.2 * ROLL_START
        y = _checkers(coordinates, (2.0, 12.0))
    else:
        coordinates = _around_hole(n_samples, rng) if hole else _on_sheet(n_samples, 2.0, 21.0, rng)
        y = _checkers(coordinates[:, :1], 1.0)
    t, height = coordinates.T
    return _noisy([t * np.cos(t), height, t * np.sin(t)], noise, rng), coordinates, y


@constrained(n_samples=integer(1), noise=number(0))
def make_toroidal_helix(n_samples: int = 2000, *, noise: float = 0.05, random_state: Any = None) -> Manifold:
    """Make a closed curve that winds around a ring eight times.

    Samples are ((2 + cos 8t) cos t, (2 + cos 8t) sin t, sin 8t) plus noise, at equal steps of the angle t.

    Parameters
    ----------
    n_samples : int, default=2000
        Number of samples.
    noise : float, default=0.05
        Standard deviation of the Gaussian noise along each axis.
    random_state : int, RandomState or None, default=None
        Seed for reproducible noise.

    Returns
    -------
    X : ndarray of shape (n, 3)
        The samples in their order along the curve.
    coordinates : ndarray of shape (n, 1)
        The angle t of each sample, up to 2 pi.
    y : ndarray of shape (n,)
        The class, 0 or 1, alternating along the curve in segments of length 2/3 in t.

    References
    ----------
    Arnonkijpanich, B. (2010). Matrix learning for topographic neural maps. PhD thesis, TU Clausthal, section 5.3.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.datasets import make_toroidal_helix
    >>> X, coordinates, y = make_toroidal_helix(noise=0)
    >>> X.shape, coordinates.shape, np.allclose((np.hypot(X[:, 0], X[:, 1]) - 2) ** 2 + X[:, 2] ** 2, 1)
    ((2000, 3), (2000, 1), True)
    """
    rng = check_random_state(random_state)
    t = 2.0 * np.pi * np.arange(1, n_samples + 1) / n_samples
    radius = 2.0 + np.cos(8.0 * t)
    X = _noisy([radius * np.cos(t), radius * np.sin(t), np.sin(8.0 * t)], noise, rng)
    return X, t[:, None], _checkers(t[:, None], 2.0 / 3.0)


@constrained(n_samples=integer(1), noise=number(0))
def make_twin_peaks(n_samples: int = 2000, *, noise: float = 0.05, random_state: Any = None) -> Manifold:
    """Make a square sheet with two peaks and two valleys.

    A sample is (a, b, sin(pi a) tanh(3b)) plus noise, with a and b uniform between -1 and 1; its third feature is then
    multiplied by 10.

    Parameters
    ----------
    n_samples : int, default=2000
        Number of samples.
    noise : float, default=0.05
        Standard deviation of the Gaussian noise along each axis, before the third feature is multiplied.
    random_state : int, RandomState or None, default=None
        Seed for reproducible samples.

    Returns
    -------
    X : ndarray of shape (n, 3)
        The samples.
    coordinates : ndarray of shape (n, 2)
        Position (a, b) of each sample on the square.
    y : ndarray of shape (n,)
        The class, 0 or 1: 1 between the heights -15 - m and -5 - m, where m, about -11, is the smallest height, and 0
        below and above. The class depends on the observed heights, including noise.

    References
    ----------
    Arnonkijpanich, B. (2010). Matrix learning for topographic neural maps. PhD thesis, TU Clausthal, section 5.3.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.datasets import make_twin_peaks
    >>> X, coordinates, y = make_twin_peaks(noise=0, random_state=0)
    >>> X.shape, np.allclose(X[:, :2], coordinates)
    ((2000, 3), True)
    """
    rng = check_random_state(random_state)
    a, b = 1.0 - 2.0 * rng.uniform(size=(2, n_samples))
    X = _noisy([a, b, np.sin(np.pi * a) * np.tanh(3.0 * b)], noise, rng) * (1.0, 1.0, 10.0)
    return X, np.column_stack([a, b]), _checkers(X + X.min(axis=0), 10.0)


@constrained(n_samples=integer(1), noise=number(0))
def make_corner_planes(n_samples: int = 2000, *, noise: float = 0.05, random_state: Any = None) -> Manifold:
    """Make a sheet that is folded along its center line by 45 degrees, with samples on a grid.

    Parameters
    ----------
    n_samples : int, default=2000
        Approximate number of samples. The grid has ``m + 1`` by ``ceil(n_samples / m) + 1`` nodes, where ``m`` is the
        square root of `n_samples`, rounded down: 2115 nodes for 2000.
    noise : float, default=0.05
        Standard deviation of the Gaussian noise along each axis; neighbors on the grid have distance 1.
    random_state : int, RandomState or None, default=None
        Seed for reproducible noise.

    Returns
    -------
    X : ndarray of shape (n, 3)
        The samples.
    coordinates : ndarray of shape (n, 2)
        Grid node of each sample: its position along and across the fold.
    y : ndarray of shape (n,)
        The class, 0 or 1: a checkerboard with fields of side 10.

    References
    ----------
    Arnonkijpanich, B. (2010). Matrix learning for topographic neural maps. PhD thesis, TU Clausthal, section 5.3.

    Examples
    --------
    >>> from protolearn.datasets import make_corner_planes
    >>> X, coordinates, y = make_corner_planes(random_state=0)
    >>> X.shape, coordinates.max(axis=0)
    ((2115, 3), array([44., 46.]))
    """
    rng = check_random_state(random_state)
    along = int(np.sqrt(n_samples))
    across = -(-n_samples // along)
    coordinates = _grid(np.arange(along + 1.0), np.arange(across + 1.0))
    x, y = coordinates.T
    beyond = np.maximum(y - across // 2, 0.0)
    X = _noisy([x, y - beyond + beyond * np.cos(FOLD), beyond * np.sin(FOLD)], noise, rng)
    return X, coordinates, _checkers(coordinates, 10.0)


@constrained(n_samples=integer(1), noise=number(0))
def make_punctured_sphere(n_samples: int = 2000, *, noise: float = 0.005, random_state: Any = None) -> Manifold:
    """Make a sphere that is open at the top, with dense samples near the opening.

    The samples are a grid on a disc of radius 5, projected onto a sphere of radius 1 that touches the plane at the
    origin: (ax, ay, 2(1 - a)) with a = 4 / (4 + x^2 + y^2).

    Parameters
    ----------
    n_samples : int, default=2000
        Number of samples.
    noise : float, default=0.005
        Standard deviation of the Gaussian noise along each axis. By default, neighbors have distances from 0.03 at
        the top to 0.2 at the bottom.
    random_state : int, RandomState or None, default=None
        Seed for reproducible noise.

    Returns
    -------
    X : ndarray of shape (n, 3)
        The samples, from the bottom to the top.
    coordinates : ndarray of shape (n, 2)
        Position (x, y) of each sample on the disc.
    y : ndarray of shape (n,)
        The class, 0 or 1: a checkerboard on the disc with fields of side 3 that meet at the origin.

    References
    ----------
    Arnonkijpanich, B. (2010). Matrix learning for topographic neural maps. PhD thesis, TU Clausthal, section 5.3. The
    classes are not specified there; these have about the same nearest neighbor error.

    Saul, L. K., Roweis, S. T. (2003). Think globally, fit locally: unsupervised learning of low dimensional manifolds.
    Journal of Machine Learning Research 4, 119-155.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.datasets import make_punctured_sphere
    >>> X, coordinates, y = make_punctured_sphere(noise=0)
    >>> X.shape, np.allclose(np.linalg.norm(X - [0, 0, 1], axis=1), 1)
    ((2000, 3), True)
    """
    rng = check_random_state(random_state)
    steps = np.arange(-5.0, 5.0, 9.0 / np.sqrt(n_samples))
    plane = _grid(steps, steps)
    coordinates = plane[np.square(plane).sum(axis=1).argsort(kind="stable")[:n_samples]]
    a = 4.0 / (4.0 + np.square(coordinates).sum(axis=1))
    X = _noisy([*(a * coordinates.T), 2.0 * (1.0 - a)], noise, rng)
    return X, coordinates, _checkers(coordinates - 1.5, 3.0)


@constrained(n_samples=integer(1), noise=number(0))
def make_gaussian_surface(n_samples: int = 2000, *, noise: float = 0.0, random_state: Any = None) -> Manifold:
    """Make a bell-shaped surface: samples from a Gaussian in the plane with its density as the third feature.

    Parameters
    ----------
    n_samples : int, default=2000
        Number of samples.
    noise : float, default=0.0
        Standard deviation of the Gaussian noise along each axis. The height of the bell is 0.16.
    random_state : int, RandomState or None, default=None
        Seed for reproducible samples.

    Returns
    -------
    X : ndarray of shape (n, 3)
        The samples.
    coordinates : ndarray of shape (n, 2)
        Position of each sample in the plane.
    y : ndarray of shape (n,)
        The class, 0 or 1: a checkerboard in the plane with fields of side 1, one of them around the origin.

    References
    ----------
    Arnonkijpanich, B. (2010). Matrix learning for topographic neural maps. PhD thesis, TU Clausthal, section 5.3.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.stats import multivariate_normal
    >>> from protolearn.datasets import make_gaussian_surface
    >>> X, coordinates, y = make_gaussian_surface(random_state=0)
    >>> np.allclose(X[:, 2], multivariate_normal([0, 0]).pdf(coordinates))
    True
    """
    rng = check_random_state(random_state)
    coordinates = rng.standard_normal((n_samples, 2))
    density = np.exp(-0.5 * np.square(coordinates).sum(axis=1)) / (2.0 * np.pi)
    return _noisy([*coordinates.T, density], noise, rng), coordinates, _checkers(coordinates, 1.0)


@constrained(n_samples=integer(1), noise=number(0))
def make_hd_manifold(n_samples: int = 2000, *, noise: float = 0.05, random_state: Any = None) -> Manifold:
    """Make a five-dimensional manifold in ten dimensions, with samples on a grid.

    The features of a sample are functions of five coordinates between 0 and 1: cos t1, tanh 3 t2, t1 + t3, t4 sin t2,
    sin(t1 + t5), t5 cos t2, t5 + t4, t2, t3 t4, t1.

    Parameters
    ----------
    n_samples : int, default=2000
        Approximate number of samples. The grid has ``m**5`` nodes, where ``m`` is the fifth root of `n_samples`,
        rounded: 3125 for 2000.
    noise : float, default=0.05
        Standard deviation of the Gaussian noise along each axis; values on the grid have distance 0.25.
    random_state : int, RandomState or None, default=None
        Seed for reproducible noise.

    Returns
    -------
    X : ndarray of shape (n, 10)
        The samples.
    coordinates : ndarray of shape (n, 5)
        The coordinates t1, ..., t5 of each sample.
    y : ndarray of shape (n,)
        The class, 0 or 1: whether an even or an odd number of coordinates is at least 0.5.

    References
    ----------
    Arnonkijpanich, B. (2010). Matrix learning for topographic neural maps. PhD thesis, TU Clausthal, section 5.3.

    Examples
    --------
    >>> from protolearn.datasets import make_hd_manifold
    >>> X, coordinates, y = make_hd_manifold(random_state=0)
    >>> X.shape, coordinates.shape
    ((3125, 10), (3125, 5))
    """
    rng = check_random_state(random_state)
    coordinates = _grid(*[np.linspace(0.0, 1.0, round(n_samples**0.2))] * 5)
    t1, t2, t3, t4, t5 = coordinates.T
    bent = [np.cos(t1), np.tanh(3.0 * t2), t1 + t3, t4 * np.sin(t2), np.sin(t1 + t5), t5 * np.cos(t2)]
    return _noisy([*bent, t5 + t4, t2, t3 * t4, t1], noise, rng), coordinates, _checkers(coordinates, 1.0)


def _noisy(features: list[Floats], noise: float, rng: np.random.RandomState) -> Floats:
    X = np.column_stack(features)
    return X + noise * rng.standard_normal(X.shape)


def _checkers(coordinates: Floats, sides: Any) -> Labels:
    """Return 0 or 1 in turn on fields of these sides, the first of which has its middle at the origin."""
    return np.floor(coordinates / sides + 0.5).sum(axis=1).astype(np.intp) % 2


def _grid(*axes: Floats) -> Floats:
    """Return all combinations of values on the axes, as rows."""
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(axes))


def _on_sheet(n_samples: int, length: float, height: float, rng: np.random.RandomState) -> Floats:
    """Return angles and heights (n, 2); the length of the sheet is in units of its first angle."""
    return np.array([ROLL_START, 0.0]) + rng.uniform(size=(n_samples, 2)) * (length * ROLL_START, height)


def _around_hole(n_samples: int, rng: np.random.RandomState) -> Floats:
    kept = np.empty((0, 2))
    while len(kept) < n_samples:
        drawn = _on_sheet(n_samples, 2.0, 21.0, rng)
        outside = ((drawn <= HOLE[:, 0]) | (drawn >= HOLE[:, 1])).any(axis=1)
        kept = np.concatenate([kept, drawn[outside]])
    return kept[:n_samples]
