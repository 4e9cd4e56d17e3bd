"""A sequence of positions continued at will: new curves that move as the sequence does, and stay near it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import cdist
from scipy.special import logsumexp, softmax
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from protolearn.core.validation import check_number

__all__ = ["Successors", "Trajectory"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Successors:
    """Where a trajectory may go next: positions (m, d), the training frames they come from, their probabilities."""

    positions: Floats
    frames: Integers
    probabilities: Floats


class Trajectory(BaseEstimator):
    r"""Traversal of a sequence of positions: a new curve that follows the steps of its neighbours in the sequence.

    From the last two positions :math:`g(t-1), g(t)`, each of the K nearest positions :math:`z(i)` of the sequence
    proposes its own step, J times with noise :math:`v_j`: :math:`g^{ij} = g(t) + z(i+1) - z(i) + v_j`. The next
    position is drawn from these with probabilities proportional to

    .. math:: e^{-\|g(t) - z(i)\|^2 / \sigma_1^2} \; e^{\alpha (\cos \angle(z(i) - z(i-1),\, g(t) - g(t-1)) - 1)} \;
        \sum_l e^{-\|g^{ij} - z(l)\|^2 / 2 h^2},

    that is, near neighbours count most, those that move in the same direction, and steps that stay where the sequence
    has been.

    Parameters
    ----------
    n_neighbors : int, default=5
        Number K of neighbours that propose a step. With one neighbour and no noise, the sequence itself is replayed.
    n_candidates : int, default=10
        Number J of noisy versions of each step.
    neighbor_range : float or "auto", default="auto"
        Range :math:`\sigma_1` within which neighbours count; ``"auto"`` is the median distance to the K-th neighbour.
    smoothness : float, default=5.0
        Preference :math:`\alpha` for going on in the same direction.
    noise : float or "auto", default="auto"
        Standard deviation :math:`\sigma_2` of the noise in each coordinate; ``"auto"`` makes noise a twentieth as long
        as a step of the sequence.
    window : float or "auto", default="auto"
        Width h of the density that holds the curve near the sequence; ``"auto"`` is the median length of a step.
    periodic : bool, default=False
        Whether the first position follows the last. If not, neither of the two proposes a step.

    Attributes
    ----------
    positions_ : ndarray of shape (n_frames, n_components)
        The sequence.
    neighbor_range_, noise_, window_ : float
        The values used.
    n_features_in_ : int
        Number of coordinates of a position.

    See Also
    --------
    DynamicTexture : Videos by way of a trajectory.

    References
    ----------
    Arnonkijpanich (2010). Matrix learning for topographic maps. PhD thesis, TU Clausthal, section 5.4.

    Liu, Lin, Ahuja (2006). Nonlinear dynamical systems identification for dynamic textures.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.applications import Trajectory
    >>> angles = np.linspace(0, 2 * np.pi, 60, endpoint=False)
    >>> circle = np.column_stack([np.cos(angles), np.sin(angles)])
    >>> trajectory = Trajectory(periodic=True).fit(circle)
    >>> positions, frames = trajectory.sample(600, random_state=0)
    >>> radii = np.linalg.norm(positions, axis=1)
    >>> bool(np.abs(radii - 1).max() < 0.2)
    True
    """

    def __init__(
        self,
        n_neighbors: int = 5,
        *,
        n_candidates: int = 10,
        neighbor_range: float | str = "auto",
        smoothness: float = 5.0,
        noise: float | str = "auto",
        window: float | str = "auto",
        periodic: bool = False,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.n_candidates = n_candidates
        self.neighbor_range = neighbor_range
        self.smoothness = smoothness
        self.noise = noise
        self.window = window
        self.periodic = periodic
