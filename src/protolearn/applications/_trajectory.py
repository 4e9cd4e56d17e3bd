"""Continuation of a sequence of positions: new curves that move like the sequence and stay near it."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import cdist
from scipy.special import logsumexp, softmax
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from protolearn.core.estimator import Estimator, nothing_lost
from protolearn.core.parameters import constrained, flag, integer, number, option, positive
from protolearn.core.types import Floats, Indices

__all__ = ["Successors", "Trajectory", "check_start"]

Integers = Indices

NOISE = 0.05  # length of the noise, relative to a step


class Successors(NamedTuple):
    """Possible next positions (m, d) of a trajectory, the frames that they follow, and probabilities."""

    positions: Floats
    frames: Integers
    probabilities: Floats


class Trajectory(Estimator):
    r"""Traversal of a sequence of positions by random curves that move like their neighbors in the sequence.

    From the last two positions :math:`g(t-1), g(t)`, each of the K nearest positions :math:`z(i)` of the sequence
    proposes its own step, J times with noise :math:`v_j`,

    .. math:: g^{ij} = z(i+1) + (1 - \beta) (g(t) - z(i)) + v_j ,

    and the next position is drawn from these proposals with probabilities proportional to

    .. math:: e^{-\|g(t) - z(i)\|^2 / \sigma_1^2} \; e^{\alpha (\cos \angle(z(i) - z(i-1),\, g(t) - g(t-1)) - 1)} \;
        \sum_l e^{-\|g^{ij} - z(l)\|^2 / 2 h^2} .

    The three factors prefer near neighbors, neighbors that move in the same direction, and steps that stay near the
    sequence.

    Parameters
    ----------
    n_neighbors : int, default=5
        Number K of neighbors that propose a step. With one neighbor and no noise, the curve replays the sequence.
    n_candidates : int, default=10
        Number J of noisy versions of each step.
    neighbor_range : float or "auto", default="auto"
        Range :math:`\sigma_1` of the weights of neighbors; ``"auto"`` is the median distance to the K-th neighbor.
    smoothness : float, default=5.0
        Preference :math:`\alpha` for neighbors that move in the direction of the curve.
    noise : float or "auto", default="auto"
        Standard deviation :math:`\sigma_2` of the noise in each coordinate; with ``"auto"`` the length of the noise is
        a twentieth of a step of the sequence.
    window : float or "auto", default="auto"
        Width h of the density that keeps the curve near the sequence; ``"auto"`` is the median length of a step.
    pull : float, default=0.5
        Fraction :math:`\beta` of the distance to a neighbor that each step corrects. With 0, as in the references, the
        curve copies steps of the sequence without approaching it; in many dimensions it then drifts away by several
        steps.
    periodic : bool, default=False
        Whether the first position follows the last. If not, the last position continues like the position in the first
        half of the sequence that is most similar in place and direction, so curves do not stop at the end of the
        sequence.

    Attributes
    ----------
    positions_ : ndarray of shape (n_frames, n_components)
        The sequence.
    neighbor_range_, noise_, window_ : float
        The values used.
    after_last_ : int
        Frame that follows the last one.
    n_features_in_ : int
        Number of coordinates of a position.

    See Also
    --------
    DynamicTexture : Synthesizes new videos with a trajectory.

    References
    ----------
    Arnonkijpanich (2010). Matrix learning for topographic maps. PhD thesis, TU Clausthal, section 5.4.

    Liu, Lin, Ahuja, Yang (2006). Dynamic textures synthesis as nonlinear manifold learning and traversing. BMVC.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.applications import Trajectory
    >>> angles = np.linspace(0, 2 * np.pi, 60, endpoint=False)
    >>> circle = np.column_stack([np.cos(angles), np.sin(angles)])
    >>> trajectory = Trajectory(periodic=True).fit(circle)
    >>> positions, frames = trajectory.sample(1000, random_state=0)
    >>> positions.shape, bool(np.abs(np.linalg.norm(positions, axis=1) - 1).max() < 0.1)
    ((1000, 2), True)
    """

    _constraints = {
        "n_neighbors": integer(1),
        "n_candidates": integer(1),
        "neighbor_range": positive | option("auto"),
        "smoothness": number(0),
        "noise": number(0) | option("auto"),
        "window": positive | option("auto"),
        "pull": number(0, 1),
        "periodic": flag,
    }

    def __init__(
        self,
        n_neighbors: int = 5,
        *,
        n_candidates: int = 10,
        neighbor_range: float | str = "auto",
        smoothness: float = 5.0,
        noise: float | str = "auto",
        window: float | str = "auto",
        pull: float = 0.5,
        periodic: bool = False,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.n_candidates = n_candidates
        self.neighbor_range = neighbor_range
        self.smoothness = smoothness
        self.noise = noise
        self.window = window
        self.pull = pull
        self.periodic = periodic

    @nothing_lost
    def fit(self, X: ArrayLike, y: None = None) -> Self:
        """Store the sequence and determine the automatic parameters.

        Parameters
        ----------
        X : array-like of shape (n_frames, n_components)
            Positions in temporal order.
        y : None
            Ignored.

        Returns
        -------
        self : object
            The fitted trajectory.
        """
        self._check_parameters()
        z: Floats = validate_data(self, X, dtype=np.float64, ensure_min_samples=4)
        k = min(self.n_neighbors, len(z) - 1)
        lengths = np.linalg.norm(np.diff(z, axis=0), axis=1)
        if not lengths.any():
            raise ValueError("All positions are equal, so the sequence has no steps; give positions that differ.")
        step = float(np.median(lengths[lengths > 0]))
        to_neighbors = np.sort(cdist(z, z), axis=1)[:, k]
        self.positions_ = z
        self.neighbor_range_ = _chosen(self.neighbor_range, float(np.median(to_neighbors)) or step)
        self.noise_ = _chosen(self.noise, NOISE * step / np.sqrt(z.shape[1]))
        self.window_ = _chosen(self.window, step)
        self._moves = np.diff(z, axis=0, prepend=z[-1:])
        self._twins, self._next = np.arange(len(z)), np.arange(1, len(z) + 1)
        if not self.periodic:
            self._twins[-1] = _most_like_last(z, self._moves)
        self._next[-1] = self.after_last_ = int(self._twins[-1] + 1) % len(z)
        return self

    @constrained(n_steps=integer(1))
    def sample(
        self, n_steps: int, start: int | ArrayLike | None = None, random_state: Any = None
    ) -> tuple[Floats, Integers]:
        """Draw a random curve.

        Parameters
        ----------
        n_steps : int
            Number of positions.
        start : int or array-like of shape (2, n_components), optional
            Start of the curve: the number of a frame, counted from 0, or any two positions. By default the curve
            continues the first two frames, which is the same as 1.
        random_state : int, RandomState instance or None, default=None
            Seed for reproducible curves.

        Returns
        -------
        positions : ndarray of shape (n_steps, n_components)
            Positions of the curve after its start.
        frames : ndarray of shape (n_steps,)
            Frame of the sequence that corresponds to each position: the successor of the neighbor whose step was taken.
        """
        check_is_fitted(self)
        previous, current = self._start(start)
        rng = check_random_state(random_state)
        positions, frames = np.empty((n_steps, len(current))), np.empty(n_steps, np.int64)
        for t in range(n_steps):
            found = self.successors(previous, current, rng)
            drawn = rng.choice(len(found.probabilities), p=found.probabilities)
            previous, current = current, found.positions[drawn]
            positions[t], frames[t] = current, found.frames[drawn]
        return positions, frames

    def successors(self, previous: Floats, current: Floats, random_state: Any = None) -> Successors:
        """Return the possible next positions of a curve, and their probabilities.

        Parameters
        ----------
        previous, current : ndarray of shape (n_components,)
            Last two positions of the curve.
        random_state : int, RandomState instance or None, default=None
            Seed for reproducible noise.

        Returns
        -------
        successors : Successors
            Positions (n_neighbors * n_candidates, n_components), the corresponding frames, and probabilities.
        """
        check_is_fitted(self)
        z = self.positions_
        first = 0 if self.periodic else 1  # that has a predecessor
        squares = np.square(z[first:] - current).sum(axis=1)
        near = squares.argsort(kind="stable")[: self.n_neighbors]
        neighbors = near + first
        # Arnonkijpanich 2010, sec. 5.4, steps 1 to 5
        closeness = -squares[near] / self.neighbor_range_**2
        alignment = self.smoothness * (_cosines(self._moves[neighbors], current - previous) - 1.0)
        steps = z[self._next[neighbors]] + (1.0 - self.pull) * (current - z[self._twins[neighbors]])
        noise = check_random_state(random_state).normal(size=(len(near), self.n_candidates, z.shape[1]))
        candidates = (steps[:, None] + self.noise_ * noise).reshape(-1, z.shape[1])
        density = logsumexp(-0.5 * cdist(candidates, z, "sqeuclidean") / self.window_**2, axis=1)
        weights = np.repeat(closeness + alignment, self.n_candidates) + density
        return Successors(candidates, np.repeat(self._next[neighbors], self.n_candidates), softmax(weights))

    def _start(self, start: int | ArrayLike | None) -> Floats:
        """Return the two positions (2, d) that a curve starts from."""
        z = self.positions_
        if start is None or np.ndim(start) == 0:
            t = check_start(start, len(z), 1 if self.periodic else 2)
            return z[[t - 1, t]]
        positions: Floats = check_array(start, dtype=np.float64)
        if positions.shape != (2, z.shape[1]):
            raise ValueError(
                f"start has shape {positions.shape}; expected the number of a frame, or two positions of shape "
                f"(2, {z.shape[1]})."
            )
        return positions


def check_start(start: Any, n_frames: int, n_needed: int) -> int:
    """Return the number of the frame after which a curve goes on, by default the first with enough frames up to it."""
    if start is None:
        return max(n_needed, 2) - 1
    integer(n_needed - 1, n_frames - 1).check("start", start)
    return int(start)


def _chosen(value: Any, automatic: float) -> float:
    return automatic if value == "auto" else float(value)


def _cosines(moves: Floats, direction: Floats) -> Floats:
    """Return the cosines of the angles between moves (k, d) and a direction, 0 where there is none."""
    lengths = np.linalg.norm(moves, axis=1) * np.linalg.norm(direction)
    return np.divide(moves @ direction, lengths, out=np.zeros(len(moves)), where=lengths > 0)


def _most_like_last(z: Floats, moves: Floats) -> int:
    """Return the frame in the first half that comes nearest to the last in position and movement."""
    half = slice(1, max(2, len(z) // 2))
    gaps = np.square(z[half] - z[-1]).sum(axis=1) + np.square(moves[half] - moves[-1]).sum(axis=1)
    return 1 + int(gaps.argmin())
