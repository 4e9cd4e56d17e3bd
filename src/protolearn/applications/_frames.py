"""Frames of a video as vectors: principal components (eigenimages) and errors between frames."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import eigh
from scipy.spatial.distance import cdist

from protolearn.core.chunks import HELD, row_blocks
from protolearn.core.signs import largest_positive
from protolearn.core.types import Array, Floats

__all__ = ["Eigenimages", "check_frames", "frame_errors"]


NEGLIGIBLE = 1e-10  # variance of a component relative to the largest, below which it is rounding


@dataclass(frozen=True)
class Eigenimages:
    """Mean and principal components of frames, in the form of images.

    Parameters
    ----------
    mean : ndarray of shape (height, width) or (height, width, 3)
        The mean frame.
    images : ndarray of shape (n_components, height, width) or (n_components, height, width, 3)
        Orthonormal, those along which frames vary most first.
    """

    mean: Array
    images: Array

    @classmethod
    def of(cls, frames: Array, n_components: int) -> Self:
        """Find the components of frames, fewer if frames vary in fewer directions.

        They are combinations of the frames, so that a matrix of the size of the number of frames is all that has to be
        decomposed.
        """
        n, flat = len(frames), frames.reshape(len(frames), -1)
        mean = flat.mean(axis=0, dtype=np.float64)
        parts = list(row_blocks(flat.shape[1], 8 * n, HELD))
        gram = np.zeros((n, n))
        for part in parts:
            block = flat[:, part] - mean[part]
            gram += block @ block.T
        q = min(n_components, n)
        values, vectors = eigh(gram, subset_by_index=(n - q, n - 1))
        values, vectors = values[::-1], vectors[:, ::-1]
        kept = values > NEGLIGIBLE * values[0]
        turn = largest_positive(vectors[:, kept] / np.sqrt(values[kept]), axis=0)
        dtype = np.result_type(frames.dtype, np.float32)
        images = np.empty((turn.shape[1], flat.shape[1]), dtype)
        for part in parts:
            images[:, part] = turn.T @ (flat[:, part] - mean[part])
        return cls(mean.astype(dtype).reshape(frames.shape[1:]), images.reshape(-1, *frames.shape[1:]))

    def __len__(self) -> int:
        return len(self.images)

    def project(self, frames: Array) -> Floats:
        """Return the coordinates (n, q) of frames."""
        axes, mean = self.images.reshape(len(self), -1), self.mean.ravel()
        scores = np.empty((len(frames), len(self)))
        for part in row_blocks(len(frames), 8 * mean.size, HELD):
            scores[part] = (frames[part].reshape(-1, mean.size) - mean) @ axes.T
        return scores

    def render(self, scores: Floats) -> Array:
        """Return the frames at coordinates (n, q)."""
        return np.tensordot(scores.astype(self.images.dtype), self.images, axes=1) + self.mean


def frame_errors(frames: ArrayLike, originals: ArrayLike, *, nearest: bool = False) -> Floats:
    """Return the mean absolute pixel difference of each frame from an original frame.

    Parameters
    ----------
    frames : array-like of shape (n, height, width) or (n, height, width, 3)
        Synthesized or reconstructed frames.
    originals : array-like of shape (m, height, width) or (m, height, width, 3)
        Original frames.
    nearest : bool, default=False
        Whether to compare each frame with the most similar original instead of the one at the same time. A synthetic
        texture that is out of phase with the original has a large error at the same time but may still look right.

    Returns
    -------
    errors : ndarray of shape (n,)
        Mean absolute pixel difference of each frame, in units of pixel values.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.applications import frame_errors
    >>> originals = np.zeros((3, 2, 2)) + np.array([0, 10, 20])[:, None, None]
    >>> frame_errors(originals[::-1] + 1, originals)
    array([21.,  1., 19.])
    >>> frame_errors(originals[::-1] + 1, originals, nearest=True)
    array([1., 1., 1.])
    """
    made, given = check_frames(frames, least=1), check_frames(originals, least=1)
    if made.shape[1:] != given.shape[1:]:
        raise ValueError(f"Frames must have the same size and colors; got {made.shape[1:]} and {given.shape[1:]}.")
    if not nearest and len(made) != len(given):
        raise ValueError(f"There are {len(made)} frames, but {len(given)} originals; give one original for each.")
    size = made[0].size
    if nearest:
        others = given.reshape(len(given), size).astype(np.float64)
        return np.array([cdist(one.reshape(1, size), others, "cityblock").min() for one in made]) / size
    return np.array([np.abs(one.astype(np.float64) - other).mean() for one, other in zip(made, given)])


def check_frames(frames: ArrayLike, least: int = 4) -> Array:
    """Require frames, gray or in color, with finite values."""
    given = np.asarray(frames)
    if given.size == 0 or not (given.ndim == 3 or given.shape[3:] == (3,)):
        raise ValueError(
            f"A video has the shape (frames, height, width) or (frames, height, width, 3), not {given.shape}."
        )
    if given.dtype.kind not in "uif":
        raise ValueError(f"Pixels must be numbers, not values of type {given.dtype}.")
    if not np.isfinite(given).all():
        raise ValueError("The video contains NaN or infinity; remove these frames.")
    if len(given) < least:
        raise ValueError(f"The video has {len(given)} frames, but at least {least} are needed.")
    return given
