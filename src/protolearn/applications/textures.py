"""Continuation of a sequence of positions: new curves that move like the sequence and stay near it."""

from __future__ import annotations

from os import PathLike
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import cdist
from scipy.special import logsumexp, softmax
from sklearn.base import clone
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from protolearn.applications.video import Eigenimages, check_frames, frame_errors, read_video, write_video
from protolearn.core.estimator import Estimator, nothing_lost
from protolearn.core.parameters import constrained, flag, integer, none, number, option, part, positive
from protolearn.core.types import Array, Floats, Indices
from protolearn.embedding import Charting
from protolearn.maps import MatrixNeuralGas

__all__ = [
    "DynamicTexture",
    "LinearDynamicTexture",
    "Trajectory",
    "frame_errors",
    "read_video",
    "write_video",
]

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


LOST = 0.03  # stretch of a direction by the map of a chart, relative to the largest, below which it is not undone


FLOOR = 0.05  # least variance along a direction of a chart, relative to the mean: charts have few frames


class _Texture(Estimator):
    """What models of textures share: frames as positions in a few dimensions, and positions as frames."""

    _constraints = {"n_components": integer(1)}

    n_components: int
    embedding_: Floats

    @nothing_lost
    def fit(self, X: Any, y: None = None) -> Self:
        """Learn a dynamic texture from a video.

        Parameters
        ----------
        X : array-like of shape (n_frames, height, width) or (n_frames, height, width, 3), or path
            Frames in temporal order, gray or in color, of any numeric type; or a video file, see `read_video`.
        y : None
            Ignored.

        Returns
        -------
        self : object
            The fitted texture.
        """
        self._check_parameters()
        frames = read_video(X) if isinstance(X, str | PathLike) else check_frames(X)
        if (frames == frames[0]).all():
            raise ValueError("All frames are equal, so there is no motion to learn; give frames that differ.")
        self._limits, self._dtype = (frames.min(), frames.max()), frames.dtype
        self._basis = Eigenimages.of(frames, self._n_eigenimages)
        self.mean_frame_, self.eigenimages_ = self._basis.mean, self._basis.images
        self.embedding_ = self._embed(self._basis.project(frames))
        self.reconstruction_errors_ = frame_errors(self.reconstruct(), frames)
        stored = self.mean_frame_.size + self.eigenimages_.size + self.embedding_.size + self._n_numbers
        self.compression_ratio_ = stored / frames.size
        return self

    def transform(self, X: ArrayLike) -> Floats:
        """Return the positions of frames in the embedding.

        Parameters
        ----------
        X : array-like of shape (n, height, width) or (n, height, width, 3)
            Frames.

        Returns
        -------
        positions : ndarray of shape (n, n_components)
            Positions of the frames.
        """
        check_is_fitted(self)
        frames = check_frames(X, least=1)
        if frames.shape[1:] != self.mean_frame_.shape:
            raise ValueError(f"Frames have the shape {frames.shape[1:]}, but must have {self.mean_frame_.shape}.")
        return self._place(self._basis.project(frames))

    def inverse_transform(self, X: ArrayLike) -> Array:
        """Return the frames at given positions.

        Parameters
        ----------
        X : array-like of shape (n, n_components)
            Positions.

        Returns
        -------
        frames : ndarray of shape (n, height, width) or (n, height, width, 3)
            Frames of the same type as the training frames, clipped to their range of values.
        """
        check_is_fitted(self)
        positions: Floats = check_array(X, dtype=np.float64)
        frames = np.clip(self._basis.render(self._undo(positions)), *self._limits)
        return (frames if self._dtype.kind == "f" else np.rint(frames)).astype(self._dtype)

    def reconstruct(self) -> Array:
        """Return the training frames as reconstructed by the model.

        Returns
        -------
        frames : ndarray of the shape of the video
            The frames at the positions ``embedding_``.
        """
        check_is_fitted(self)
        return self.inverse_transform(self.embedding_)

    @constrained(n=integer(0))
    def interpolate(self, n: int) -> Array:
        """Return the video in slow motion, with new frames between successive frames.

        Parameters
        ----------
        n : int
            Number of frames to insert between two frames, equally spaced on the line between their positions.

        Returns
        -------
        frames : ndarray of shape (n_frames + n * (n_frames - 1), height, width) or (..., height, width, 3)
            The frames of `reconstruct` and the interpolated frames.
        """
        check_is_fitted(self)
        times = np.arange((len(self.embedding_) - 1) * (n + 1) + 1) / (n + 1)
        known = np.arange(len(self.embedding_))
        return self.inverse_transform(np.column_stack([np.interp(times, known, z) for z in self.embedding_.T]))

    @constrained(n_frames=integer(1))
    def sample(self, n_frames: int, start: int | ArrayLike | None = None, random_state: Any = None) -> Array:
        """Synthesize new frames.

        Parameters
        ----------
        n_frames : int
            Number of frames.
        start : int or array-like of shape (n, height, width) or (n, height, width, 3), optional
            Start of the new sequence: the number of a training frame, counted from 0, which is continued together with
            its predecessors; or other frames, as many as the order of the model. By default the first frames are
            continued.
        random_state : int, RandomState instance or None, default=None
            Seed for reproducible frames.

        Returns
        -------
        frames : ndarray of shape (n_frames, height, width) or (n_frames, height, width, 3)
            New frames after the start.
        """
        check_is_fitted(self)
        if start is not None and np.ndim(start) > 0:
            start = self.transform(start)
        return self.inverse_transform(self._continue(n_frames, start, random_state))

    def __sklearn_tags__(self) -> Tags:
        """Say that samples are images, not rows of a table."""
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.three_d_array = True
        return tags

    # What a model has to say of itself

    @property
    def _n_eigenimages(self) -> int:
        return self.n_components

    @property
    def _n_numbers(self) -> int:
        """Count what is stored beside positions and images."""
        raise NotImplementedError

    def _embed(self, scores: Floats) -> Floats:
        """Learn from the principal components of frames, and return positions."""
        raise NotImplementedError

    def _place(self, scores: Floats) -> Floats:
        return scores

    def _undo(self, positions: Floats) -> Floats:
        return positions

    def _continue(self, n_frames: int, start: Any, random_state: Any) -> Floats:
        """Return new positions that follow a frame or positions."""
        raise NotImplementedError


class DynamicTexture(_Texture):
    """Model of a video as a curve on aligned charts, for synthesis, interpolation and compression.

    Frames are reduced to their principal components, in which a local model (matrix neural gas) learns charts.
    `Charting` aligns the charts to a global embedding in ``n_components`` dimensions, where the video is a curve. A
    `Trajectory` draws new curves with the same motion, and the inverse of the charts maps their positions to frames.

    Parameters
    ----------
    n_components : int, default=40
        Dimension of the embedding.
    n_pca : int, default=100
        Number of principal components in which charts are learned; limited by the number of frames.
    n_charts : int or "auto", default="auto"
        Number of charts. With ``"auto"`` each chart has on average twice as many frames as dimensions; with hardly more
        frames than dimensions, charts do not overlap enough to be aligned.
    charting : Charting, optional
        Model that learns and aligns charts; it replaces ``n_components`` and ``n_charts``. By default the charts of
        `MatrixNeuralGas`, with shares of frames by the rank of their distances. Shares by densities would assign each
        frame to a single chart in so many dimensions, and leave no overlap for the alignment.
    trajectory : Trajectory, optional
        Model of new curves; by default ``Trajectory()``.
    random_state : int, RandomState instance or None, default=None
        Seed of the local model.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_frames, n_components)
        Positions of the training frames.
    mean_frame_ : ndarray of shape (height, width) or (height, width, 3)
        Mean of the training frames.
    eigenimages_ : ndarray of shape (n_pca, height, width) or (n_pca, height, width, 3)
        Principal components of the frames.
    charting_ : Charting
        The fitted charts.
    trajectory_ : Trajectory
        The fitted trajectory.
    reconstruction_errors_ : ndarray of shape (n_frames,)
        Mean absolute pixel difference between each training frame and its reconstruction.
    compression_ratio_ : float
        Number of values to store (mean frame, eigenimages, charts and positions), relative to the number in the video.

    See Also
    --------
    LinearDynamicTexture : Linear model of a dynamic texture.
    protolearn.plotting.plot_trajectory : Plots curves over time.

    References
    ----------
    Arnonkijpanich (2010). Matrix learning for topographic maps. PhD thesis, TU Clausthal, section 5.4.

    Arnonkijpanich, Hammer (2010). Global coordination based on matrix neural gas for dynamic texture synthesis. ANNPR.

    Examples
    --------
    >>> from protolearn.applications import DynamicTexture, frame_errors
    >>> from protolearn.datasets import make_dynamic_texture
    >>> frames = make_dynamic_texture(120, kind="rotation", random_state=0)
    >>> texture = DynamicTexture(10, n_pca=20, random_state=0).fit(frames)
    >>> new = texture.sample(300, random_state=0)
    >>> new.shape, bool(frame_errors(new, frames, nearest=True).mean() < 5)
    ((300, 36, 44, 3), True)
    """

    _constraints = {
        "n_pca": integer(1),
        "n_charts": integer(1) | option("auto"),
        "charting": part() | none,
        "trajectory": part() | none,
    }

    def __init__(
        self,
        n_components: int = 40,
        *,
        n_pca: int = 100,
        n_charts: int | str = "auto",
        charting: Any = None,
        trajectory: Any = None,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.n_pca = n_pca
        self.n_charts = n_charts
        self.charting = charting
        self.trajectory = trajectory
        self.random_state = random_state

    @property
    def _n_eigenimages(self) -> int:
        return self.n_pca

    @property
    def _n_numbers(self) -> int:
        charts = self.charting_.charts_
        return charts.centers.size + charts.axes.size + self.charting_.weights_.size

    def _embed(self, scores: Floats) -> Floats:
        charting = self._default_charting(scores) if self.charting is None else clone(self.charting)
        self.charting_ = charting.fit(scores)
        positions: Floats = self.charting_.embedding_
        self.trajectory_ = clone(Trajectory() if self.trajectory is None else self.trajectory).fit(positions)
        return positions

    def _default_charting(self, scores: Floats) -> Charting:
        d = self.n_components
        _check_directions(d, scores)
        n_charts = max(1, len(scores) // (2 * d)) if self.n_charts == "auto" else self.n_charts
        gas = MatrixNeuralGas(n_charts, n_components=d, regularization="floor", epsilon=FLOOR)
        return Charting(d, local_model=gas, gating="rank", n_init=1, random_state=self.random_state)

    def _place(self, scores: Floats) -> Floats:
        return self.charting_.transform(scores)

    def _undo(self, positions: Floats) -> Floats:
        """Return the principal components at positions, by the chart of the nearest training frame.

        A chart of another part of the video may fit a position as well, but shows something else; directions that
        gluing has nearly lost would only make noise larger.
        """
        charts, (_, d) = self.charting_.charts_, self.embedding_.shape
        nearest = self.charting_.labels_[cdist(positions, self.embedding_).argmin(axis=1)]
        blocks = self.charting_.weights_.reshape(len(charts), d + 1, d)
        scores = np.empty((len(positions), charts.axes.shape[2]))
        for chart in np.unique(nearest):
            own, (*slopes, offset) = nearest == chart, blocks[chart]
            local = (positions[own] - offset) @ np.linalg.pinv(slopes, rcond=LOST)  # Arnonkijpanich 2010, eq. 5.5
            scores[own] = charts.centers[chart] + local @ charts.axes[chart]
        return scores

    def _continue(self, n_frames: int, start: Any, random_state: Any) -> Floats:
        return self.trajectory_.sample(n_frames, start, random_state)[0]


class LinearDynamicTexture(_Texture):
    r"""Model of a video as a linear dynamical system of its principal components.

    The principal components :math:`z(t)` of the frames follow :math:`z(t) = A_1 z(t-1) + \dots + A_p z(t-p) + v(t)`.
    The matrices are estimated by least squares, and new frames are driven by Gaussian noise v with the covariance of
    the residuals.

    Parameters
    ----------
    n_components : int, default=40
        Number of principal components.
    order : int, default=1
        Order p of the model: the number of previous frames on which the next frame depends.
    noise : bool, default=True
        Whether new frames are driven by noise. Without noise, most textures fade to the mean frame.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_frames, n_components)
        Principal components of the training frames.
    mean_frame_ : ndarray of shape (height, width) or (height, width, 3)
        Mean of the training frames.
    eigenimages_ : ndarray of shape (n_components, height, width) or (n_components, height, width, 3)
        Principal components of the frames.
    transitions_ : ndarray of shape (order, n_components, n_components)
        Transition matrices of the model.
    residuals_ : ndarray of shape (n_frames - order, n_components)
        Residuals of the least-squares fit for each training frame.
    spectral_radius_ : float
        Largest modulus of the eigenvalues of the least-squares system. If it is above 1, the system is unstable, and
        all eigenvalues are divided by this number.
    reconstruction_errors_ : ndarray of shape (n_frames,)
        Mean absolute pixel difference between each training frame and its reconstruction from principal components.
    compression_ratio_ : float
        Number of values to store (mean frame, eigenimages, matrices and principal components), relative to the number
        in the video.

    See Also
    --------
    DynamicTexture : Model with charts, whose frames stay near those of the video.

    References
    ----------
    Doretto, Chiuso, Wu, Soatto (2003). Dynamic textures. International Journal of Computer Vision.

    Examples
    --------
    >>> from protolearn.applications import LinearDynamicTexture
    >>> from protolearn.datasets import make_dynamic_texture
    >>> frames = make_dynamic_texture(120, kind="waves", random_state=0)
    >>> texture = LinearDynamicTexture(10).fit(frames)
    >>> texture.sample(30, random_state=0).shape, texture.transitions_.shape
    ((30, 36, 44, 3), (1, 10, 10))
    """

    _constraints = {"order": integer(1), "noise": flag}

    def __init__(self, n_components: int = 40, *, order: int = 1, noise: bool = True) -> None:
        self.n_components = n_components
        self.order = order
        self.noise = noise

    @property
    def _n_numbers(self) -> int:
        return self.transitions_.size

    def _embed(self, scores: Floats) -> Floats:
        _check_directions(self.n_components, scores)
        (n, d), p = scores.shape, self.order
        if n - p < p * d:
            raise ValueError(
                f"{n} frames are too few for order={p} and n_components={d}, which require at least {p * (d + 1)}; "
                "lower one of the two."
            )
        past = np.hstack([scores[p - lag : n - lag] for lag in range(1, p + 1)])
        slopes = np.linalg.lstsq(past, scores[p:], rcond=None)[0]
        self.residuals_ = scores[p:] - past @ slopes
        companion = np.vstack([slopes.T, np.eye((p - 1) * d, p * d)])
        self.spectral_radius_ = float(np.abs(np.linalg.eigvals(companion)).max())
        # This divides all eigenvalues by the same number.
        shrinkage = max(1.0, self.spectral_radius_) ** np.arange(1, p + 1)
        self.transitions_ = slopes.reshape(p, d, d).transpose(0, 2, 1) / shrinkage[:, None, None]
        return scores

    def _continue(self, n_frames: int, start: Any, random_state: Any) -> Floats:
        p, d = self.order, self.n_components
        if start is None or np.ndim(start) == 0:
            t = check_start(start, len(self.embedding_), p)
            start = self.embedding_[t + 1 - p : t + 1]
        elif len(start) != p:
            raise ValueError(f"start has {len(start)} frames, but the model needs order={p} frames.")
        # Sums of the residuals with normal weights have their covariance.
        n = len(self.residuals_) if self.noise else 0
        weights = check_random_state(random_state).normal(size=(n_frames, n)) / np.sqrt(max(n, 1))
        noise = weights @ self.residuals_[:n]
        curve = np.concatenate([start, np.empty((n_frames, d))])
        for t in range(p, len(curve)):
            curve[t] = noise[t - p] + sum(a @ curve[t - lag] for lag, a in enumerate(self.transitions_, start=1))
        return curve[p:]


def _check_directions(n_components: int, scores: Floats) -> None:
    n_frames, n_directions = scores.shape
    if n_components > n_directions:
        raise ValueError(
            f"n_components={n_components} is more than the {n_directions} principal components of the {n_frames} "
            "frames; use fewer components, or give more frames."
        )
