"""Curves and surfaces, with their own coordinates."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from protolearn.core.parameters import constrained, integer, number
from protolearn.core.types import Array, Floats
from protolearn.datasets._shares import labels_in_shares
from protolearn.datasets.shapes import make_checkerboard

__all__ = [
    "make_elongated_checkerboard",
    "make_ring_line_square",
    "make_spiral_uniform",
    "make_spirals",
    "make_swiss_roll",
    "make_twin_peaks",
    "make_vortex",
]

Labels = NDArray[np.intp]


SPIRAL_ANGLE = 6 * np.pi  # at the outer end of a planar spiral


@constrained(n_samples=integer(1))
def make_vortex(n_samples: int = 1000, *, random_state: Any = None) -> tuple[Floats, Floats]:
    """Make a broad spiral of three turns in the plane.

    At the angle a, uniform between 0 and 6 pi, samples lie between the radii 40 a / 2 pi and 40 a / 2 pi + 20: an arm
    of width 20 with gaps of width 20 between its turns. The density decreases from the center to the end of the arm.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of samples.
    random_state : int, RandomState or None, default=None
        Seed for reproducible samples.

    Returns
    -------
    X : ndarray of shape (n, 2)
        The samples.
    angle : ndarray of shape (n,)
        Position along the arm, between 0 and 6 pi.

    References
    ----------
    Möller, R., Hoffmann, H. (2004). An extension of neural gas to local PCA. Neurocomputing 62, 305-326, appendix D.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.datasets import make_vortex
    >>> X, angle = make_vortex(random_state=0)
    >>> width = np.hypot(*X.T) - 40 * angle / (2 * np.pi)
    >>> X.shape, bool(((width > 0) & (width < 20)).all())
    ((1000, 2), True)
    """
    rng = check_random_state(random_state)
    angle = rng.uniform(0, 6 * np.pi, n_samples)
    radius = 120 * angle / (6 * np.pi) + rng.uniform(0, 20, n_samples)
    return _polar(radius, angle), angle


def make_ring_line_square(
    n_samples: tuple[int, int, int] = (500, 50, 200), *, random_state: Any = None
) -> tuple[Floats, Labels]:
    """Make a ring and the boundary of a square, connected by a line: parts of different dimension and density.

    The ring lies between the radii 50 and 100 around the origin, with a higher density inside than outside. The line
    extends from the ring to x = 250, and the square around (350, 0) has sides of length 200. The line and the sides
    have width 20.

    Parameters
    ----------
    n_samples : tuple of three int, default=(500, 50, 200)
        Number of samples in the ring, the line and the square.
    random_state : int, RandomState or None, default=None
        Seed for reproducible samples.

    Returns
    -------
    X : ndarray of shape (n, 2)
        The samples in random order.
    y : ndarray of shape (n,)
        The part that each sample belongs to: 0 for the ring, 1 for the line, 2 for the square.

    References
    ----------
    Möller, R., Hoffmann, H. (2004). An extension of neural gas to local PCA. Neurocomputing 62, 305-326, appendix D.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.datasets import make_ring_line_square
    >>> X, y = make_ring_line_square(random_state=0)
    >>> X.shape, np.bincount(y)
    ((750, 2), array([500,  50, 200]))
    """
    if np.shape(n_samples) != (3,):
        raise ValueError(
            f"n_samples={n_samples!r} must be three numbers of samples: for the ring, the line and the square."
        )
    integer(1).check_each("n_samples", n_samples)
    rng = check_random_state(random_state)
    n_ring, n_line, n_square = n_samples
    ring = _polar(rng.uniform(50, 100, n_ring), rng.uniform(0, 2 * np.pi, n_ring))
    line = np.column_stack([100 + rng.uniform(0, 150, n_line), rng.uniform(-10, 10, n_line)])
    across = 200 * rng.randint(2, size=n_square) + rng.uniform(-10, 10, n_square)
    along = rng.uniform(0, 200, n_square)
    upright = rng.randint(2, size=n_square) == 1
    square = np.column_stack([250 + np.where(upright, across, along), -100 + np.where(upright, along, across)])
    order = rng.permutation(sum(n_samples))
    return np.concatenate([ring, line, square])[order], np.repeat(np.arange(3), n_samples)[order]


@constrained(n_samples=integer(1), max_angle=number(), noise=number(0))
def make_spiral_uniform(
    n_samples: int = 1000, *, max_angle: float = 2 * np.pi, noise: float = 10.0, random_state: Any = None
) -> tuple[Floats, Floats]:
    """Make a spiral around the first axis of space, of length 500 and radius 120, with uniform noise.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of samples.
    max_angle : float, default=2 pi
        Total angle of the spiral. The paper says 2 pi, one turn, but its reported likelihoods agree with 4 pi.
    noise : float, default=10
        Largest distance of a sample from the curve along each axis.
    random_state : int, RandomState or None, default=None
        Seed for reproducible samples.

    Returns
    -------
    X : ndarray of shape (n, 3)
        The samples, in order along the spiral at equal distances.
    angle : ndarray of shape (n,)
        Position along the spiral, from 0 to almost `max_angle`.

    References
    ----------
    Möller, R., Hoffmann, H. (2004). An extension of neural gas to local PCA. Neurocomputing 62, 305-326, appendix D.

    Examples
    --------
    >>> from protolearn.datasets import make_spiral_uniform
    >>> X, angle = make_spiral_uniform(4, noise=0)
    >>> X.round() + 0.0
    array([[   0.,  120.,    0.],
           [ 125.,    0.,  120.],
           [ 250., -120.,    0.],
           [ 375.,    0., -120.]])
    """
    position = np.arange(n_samples) / n_samples
    angle = max_angle * position
    curve = np.column_stack([500 * position, 120 * np.cos(angle), 120 * np.sin(angle)])
    return curve + check_random_state(random_state).uniform(-noise, noise, curve.shape), angle


@constrained(n_samples=integer(1), n_arms=integer(1), noise=number(0))
def make_spirals(
    n_samples: int = 2000, n_arms: int = 2, *, noise: float = 0.01, random_state: Any = None
) -> tuple[Floats, Labels]:
    """Make interleaved thin spirals of three turns in the plane, one for each class.

    An arm begins at the origin, and its radius grows with the angle up to 1. The other arms are rotated copies. Samples
    are distributed such that their density on the disc does not depend on the radius.

    Parameters
    ----------
    n_samples : int, default=2000
        Number of samples, divided evenly among the arms.
    n_arms : int, default=2
        Number of spirals.
    noise : float, default=0.01
        Standard deviation of the Gaussian noise along each axis.
    random_state : int, RandomState or None, default=None
        Seed for reproducible samples.

    Returns
    -------
    X : ndarray of shape (n, 2)
        The samples in random order.
    y : ndarray of shape (n,)
        The arm, from 0 to `n_arms` - 1.

    References
    ----------
    Arnonkijpanich, B. (2010). Matrix learning for topographic neural maps. PhD thesis, TU Clausthal, section 4.1, shows
    a single spiral and two. Their formula is not given there.

    Examples
    --------
    >>> from protolearn.datasets import make_spirals
    >>> X, y = make_spirals(random_state=0)
    >>> X.shape, int(y.sum())
    ((2000, 2), 1000)
    """
    rng = check_random_state(random_state)
    y = labels_in_shares(n_samples, np.ones(n_arms), rng)
    radius = np.sqrt(rng.uniform(size=n_samples))
    X = _polar(radius, SPIRAL_ANGLE * radius + 2 * np.pi * y / n_arms)
    return X + noise * rng.standard_normal((n_samples, 2)), y


@constrained(ratio=number(1))
def make_elongated_checkerboard(
    n_rows: int = 4,
    n_cols: int = 4,
    *,
    points_per_field: tuple[int, int] = (200, 200),
    noise: float = 0.12,
    ratio: float = 16.0,
    return_field: bool = False,
    random_state: Any = None,
) -> tuple[Array, ...]:
    """Make elongated clusters on a grid, alternately horizontal and vertical as on a chessboard.

    Parameters
    ----------
    n_rows, n_cols : int, default=4
        Numbers of rows and columns. The center of a field is (column, row).
    points_per_field : tuple (low, high), default=(200, 200)
        Smallest and largest number of samples in a field; numbers are drawn uniformly from this range.
    noise : float, default=0.12
        Geometric mean of the standard deviations of a cluster along its two axes, in units of the spacing of the
        fields.
    ratio : float, default=16
        Ratio of the variances along and across a cluster. With 1, the data are those of `make_checkerboard`.
    return_field : bool, default=False
        Whether to return the field of each sample as well.
    random_state : int, RandomState or None, default=None
        Seed for reproducible samples.

    Returns
    -------
    X : ndarray of shape (n, 2)
        The samples in random order.
    y : ndarray of shape (n,)
        The class: 0 for horizontal clusters, 1 for vertical clusters.
    field : ndarray of shape (n,)
        The field `row * n_cols + column`; only if `return_field` is true.

    References
    ----------
    Arnonkijpanich, B. (2010). Matrix learning for topographic neural maps. PhD thesis, TU Clausthal, section 4.1, gives
    the ratio 16 of the variances. Directions and spread are not given there.

    Examples
    --------
    >>> from protolearn.datasets import make_elongated_checkerboard
    >>> X, y = make_elongated_checkerboard(random_state=0)
    >>> X[y == 0].shape, X[y == 1].shape
    ((1600, 2), (1600, 2))
    """
    X, y, field = make_checkerboard(
        n_rows, n_cols, points_per_field=points_per_field, noise=noise, return_field=True, random_state=random_state
    )
    centers = np.column_stack([field % n_cols, field // n_cols])
    stretch = ratio ** np.array([(0.25, -0.25), (-0.25, 0.25)])
    X = centers + (X - centers) * stretch[y]
    return (X, y, field) if return_field else (X, y)


def _polar(radius: Floats, angle: Floats) -> Floats:
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])


Manifold = tuple[Floats, Floats, Labels]


ROLL_START = 1.5 * np.pi  # angle at the inner end of a Swiss roll; the outer end is at three times this


HOLE = np.array([(9.0, 12.0), (9.0, 14.0)])  # in the angle and in the height


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


def _noisy(features: list[Floats], noise: float, rng: np.random.RandomState) -> Floats:
    X = np.column_stack(features)
    return X + noise * rng.standard_normal(X.shape)


def _checkers(coordinates: Floats, sides: Any) -> Labels:
    """Return 0 or 1 in turn on fields of these sides, the first of which has its middle at the origin."""
    return np.floor(coordinates / sides + 0.5).sum(axis=1).astype(np.intp) % 2


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
