"""Frames of a video as vectors: principal components (eigenimages) and errors between frames."""

from __future__ import annotations

import os
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import eigh
from scipy.spatial.distance import cdist

from protolearn.core.files import FilePath, file_size, most_pixels, replacing
from protolearn.core.numerics import largest_positive
from protolearn.core.parameters import constrained, integer, none, positive
from protolearn.core.threads import HELD, row_blocks
from protolearn.core.types import Array, Floats

__all__ = [
    "read_video",
    "video_kind",
    "write_video",
]

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


Frames = NDArray[np.uint8]


# Of all that FFmpeg opens, files of frames; others are playlists and scripts that name further files and addresses.
CONTAINERS = "apng,asf,avi,flv,gif,matroska,mov,mpeg,mpegts,mpegvideo,ogg,webm,yuv4mpegpipe"


class _Format(NamedTuple):
    """How frames are stored."""

    codec: str
    pixels: str
    options: dict[str, str]


FORMATS = {
    ".mp4": _Format("libx264", "yuv420p", {"crf": "16"}),
    ".mkv": _Format("libx264", "yuv420p", {"crf": "16"}),
    ".avi": _Format("mjpeg", "yuvj420p", {"qmin": "2", "qmax": "2"}),
}


@constrained(max_frames=integer(1) | none)
def read_video(path: FilePath, shape: tuple[int, int] | None = None, max_frames: int | None = None) -> Frames:
    """Read the frames of a video.

    This function needs PyAV (``pip install 'protolearn[video]'``).

    Parameters
    ----------
    path : str or path
        Video file in a format that FFmpeg reads and that contains the frames themselves: AVI, MP4, MOV, MKV, WebM,
        MPEG, OGG, FLV, WMV, GIF and others. Other files or addresses that it refers to are never opened.
    shape : tuple (height, width), optional
        Size to which frames are scaled; by default frames keep their size.
    max_frames : int, optional
        Number of frames to read from the beginning; by default all.

    Returns
    -------
    frames : ndarray of shape (n_frames, height, width, 3), of uint8
        Frames with red, green and blue channels.

    Raises
    ------
    ValueError
        If the file is damaged, not a supported video, or claims more pixels than it can contain: more than 1000 pixels
        for each byte of the file, beyond 8 million pixels in total.

    See Also
    --------
    write_video : Writes a video, with an example.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import numpy as np
    >>> from protolearn.applications import read_video, write_video
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder) / "gray.avi"
    ...     write_video(file, np.full((5, 16, 16), 128, np.uint8))
    ...     read_video(file, shape=(8, 8), max_frames=2).shape
    (2, 8, 8, 3)
    """
    av = _pyav()
    height, width = (None, None) if shape is None else _checked_shape(shape)
    size = file_size(path)
    frames: list[Frames] = []
    promised = 0
    try:
        with av.open(os.path.abspath(path), options=_restrictions(size)) as container:
            if not container.streams.video:
                raise ValueError(f"{path} has sound but no video stream; give a video.")
            stream = container.streams.video[0]
            if stream.codec_context is None:
                raise ValueError(f"{path} uses a codec that FFmpeg does not support; convert the video first.")
            stream.codec_context.options = _restrictions(size)
            promised = stream.frames  # 0 if the file does not say
            for frame in container.decode(stream):
                height, width = height or frame.height, width or frame.width
                if (len(frames) + 1) * height * width > most_pixels(size):
                    raise ValueError(
                        f"{path} claims more than {len(frames)} frames of {width} x {height} pixels, which is more "
                        f"than {size:,} bytes can hold; read fewer (max_frames) or smaller frames (shape)."
                    )
                colors = frame.reformat(format="rgb24")  # in a step of its own: scaling would halve their resolution
                frames.append(colors.reformat(width=width, height=height, interpolation="AREA").to_ndarray())
                if len(frames) == max_frames:
                    return np.stack(frames)
    except PermissionError:
        raise
    except (av.FFmpegError, MemoryError) as error:  # of many kinds, with and without a kin among Python's own errors
        if not frames:
            raise ValueError(f"{path} cannot be read as a video; it is damaged or not a video.") from error
        promised = len(frames) + 1
    if not frames:
        raise ValueError(f"{path} has no frames.")
    if len(frames) < promised:
        raise ValueError(
            f"{path} is damaged or truncated: only its first {len(frames)} frames can be read. Read these with "
            f"max_frames={len(frames)}."
        )
    return np.stack(frames)


@constrained(fps=positive)
def write_video(path: FilePath, frames: ArrayLike, fps: float = 25) -> None:
    """Write frames as a video.

    This function needs PyAV (``pip install 'protolearn[video]'``); GIF files only need Pillow.

    Parameters
    ----------
    path : str or path
        File to write. Its suffix determines the format: .mp4, .mkv, .avi or .gif.
    frames : array-like of shape (n_frames, height, width) or (n_frames, height, width, 3)
        Frames of type uint8, gray or in color. If height or width is odd, the last row or column is duplicated.
    fps : float, default=25
        Frames per second; the time unit of a GIF is a hundredth of a second.

    See Also
    --------
    read_video : Reads a video.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from protolearn.applications import read_video, write_video
    >>> from protolearn.datasets import make_dynamic_texture
    >>> frames = make_dynamic_texture(20, random_state=0)
    >>> with TemporaryDirectory() as folder:
    ...     write_video(Path(folder) / "waves.mp4", frames)
    ...     read_video(Path(folder) / "waves.mp4").shape
    (20, 36, 44, 3)
    """
    pictures, kind = _in_color(frames), video_kind(path)
    with replacing(path) as new:
        if kind == ".gif":
            _write_gif(new, pictures, fps)
        else:
            _encode(new, pictures, fps, FORMATS[kind])


def video_kind(path: FilePath) -> str:
    """Return the suffix of a file name, which must be that of a supported output format.

    Parameters
    ----------
    path : str or path
        File name; the file need not exist.

    Returns
    -------
    str
        Suffix in lower case.

    Examples
    --------
    >>> from protolearn.applications.video import video_kind
    >>> video_kind("waves.MP4")
    '.mp4'
    >>> video_kind("waves.txt")
    Traceback (most recent call last):
    ...
    ValueError: waves.txt must end in .mp4, .mkv, .avi or .gif, which determines the format of the video.
    """
    kind = Path(path).suffix.lower()
    if kind not in (*FORMATS, ".gif"):
        raise ValueError(f"{path} must end in {', '.join(FORMATS)} or .gif, which determines the format of the video.")
    return kind


def _restrictions(size: int) -> dict[str, str]:
    """Return options for FFmpeg: what it may open, and how many pixels a frame in a file of this size may have."""
    most = min(most_pixels(size), 2**31 - 1)
    return {"format_whitelist": CONTAINERS, "protocol_whitelist": "file", "max_pixels": str(most)}


def _encode(path: Path, frames: Frames, fps: float, form: _Format) -> None:
    av = _pyav()
    height, width = frames.shape[1:3]
    even = np.pad(frames, ((0, 0), (0, height % 2), (0, width % 2), (0, 0)), mode="edge")
    with av.open(str(path), mode="w") as container:
        stream = container.add_stream(form.codec, rate=Fraction(fps).limit_denominator(1001), options=form.options)
        stream.height, stream.width = even.shape[1:3]
        stream.pix_fmt = form.pixels
        for picture in even:
            container.mux(stream.encode(av.VideoFrame.from_ndarray(np.ascontiguousarray(picture), format="rgb24")))
        container.mux(stream.encode())


def _write_gif(path: Path, frames: Frames, fps: float) -> None:
    from PIL import Image

    first, *others = (Image.fromarray(frame) for frame in frames)
    first.save(path, save_all=True, append_images=others, duration=1000.0 / fps, loop=0)


def _in_color(frames: ArrayLike) -> Frames:
    given = check_frames(frames, least=1)
    if given.dtype != np.uint8:
        raise ValueError(f"A video must have values from 0 to 255 of type uint8, not {given.dtype}; convert it first.")
    return given if given.ndim == 4 else np.repeat(given[..., None], 3, axis=3)


def _checked_shape(shape: Any) -> tuple[int, int]:
    if len(shape) != 2:
        raise ValueError(f"shape={shape!r} must be two numbers, height and width.")
    integer(1).check_each("shape", shape)
    return shape


def _pyav() -> Any:
    try:
        import av
    except ImportError as error:
        raise ImportError(
            "Videos are read and written with PyAV, which could not be imported; install it with: "
            "pip install 'protolearn[video]'"
        ) from error
    return av
