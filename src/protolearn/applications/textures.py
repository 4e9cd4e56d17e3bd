"""Dynamic textures: videos of water, flames or leaves, modeled as curves in a few dimensions, and their synthesis."""

from __future__ import annotations

from os import PathLike
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_array, check_is_fitted

from protolearn.applications._frames import Eigenimages, check_frames, frame_errors
from protolearn.applications._trajectory import Trajectory, check_start
from protolearn.applications.video import read_video, write_video
from protolearn.core.estimator import Estimator, nothing_lost
from protolearn.core.parameters import constrained, flag, integer, none, option, part
from protolearn.core.types import Array, Floats
from protolearn.embedding import Charting
from protolearn.maps import MatrixNeuralGas

__all__ = ["DynamicTexture", "LinearDynamicTexture", "Trajectory", "frame_errors", "read_video", "write_video"]


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
