"""Contact sheet of an image search: each query with its results."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from protolearn.applications.image_files import read_image
from protolearn.core.types import Array

if TYPE_CHECKING:
    from protolearn.applications.retrieval import RetrievalHits

__all__ = ["contact_sheet"]

INK, MUTED, PALE, GREEN = "#222222", "#8a8a8a", "#d9d9d9", "#1a9850"
SIDE = 1.0  # longer side of a picture, in the units of the drawing
GAP, CAPTION, BESIDE = 0.10, 0.24, 0.30  # between pictures; room for words below one; between query and results
LONGEST = 15  # letters of a caption


def contact_sheet(
    queries: Sequence[Any] | Array,
    hits: RetrievalHits,
    images: Sequence[Any] | Array | None = None,
    *,
    labels: ArrayLike | None = None,
    inches: float = 1.1,
    dpi: int = 120,
) -> bytes:
    """Draw queries and their search results as a PNG image: each row shows a query and its results, nearest first.

    Parameters
    ----------
    queries : sequence
        Images of the queries, arrays or paths of files, one for each row of ``hits``.
    hits : Hits
        Search results, as returned by `ImageRetriever.retrieve`.
    images : sequence, optional
        Images of the index, arrays or paths; by default the files listed in ``hits``.
    labels : array-like of shape (n_queries,), optional
        Labels of the queries. Results with the label of their query get a green frame and a tick.
    inches : float, default=1.1
        Size of the longer side of each image, in inches.
    dpi : int, default=120
        Resolution in pixels per inch.

    Returns
    -------
    bytes
        The PNG image, to be written to a file.

    Examples
    --------
    >>> from protolearn.applications import ImageRetriever, contact_sheet
    >>> from protolearn.datasets import make_lesion_images
    >>> images, masks, y = make_lesion_images((8, 8, 8, 8), random_state=0)
    >>> pairs = list(zip(images, masks))
    >>> retriever = ImageRetriever(n_neighbors=5).fit(pairs[2:], y[2:])
    >>> png = contact_sheet(images[:2], retriever.retrieve(pairs[:2]), images[2:], labels=y[:2])
    >>> png[1:4]
    b'PNG'
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError(
            "A contact sheet is drawn with matplotlib, which could not be imported; install it with: "
            "pip install 'protolearn[plot]'"
        ) from error
    n_queries, k = hits.indices.shape
    wanted = _checked_labels(labels, n_queries)
    if len(queries) != n_queries:
        raise ValueError(
            f"There are {len(queries)} queries, but results for {n_queries}; give one image for each query."
        )
    found = _found(hits, images)

    pixels = int(2 * inches * dpi)  # twice as fine as they are shown
    shown = [[_pixels(image, pixels) for image in (query, *row)] for query, row in zip(queries, found)]
    tall = max(_size(image)[0] for row in shown for image in row)
    width = 2 * GAP + SIDE + BESIDE + k * (SIDE + GAP)
    height = GAP + n_queries * (tall + CAPTION + GAP)
    figure = Figure((inches * width, inches * height), facecolor="white")
    ax = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    ax.set(xlim=(0, width), ylim=(height, 0), xticks=[], yticks=[], frame_on=False)
    draw = partial(_draw, ax, size=72 * inches * CAPTION * 0.42)
    for row, (query, *results) in enumerate(shown):
        bottom = GAP + row * (tall + CAPTION + GAP) + tall
        name = "query" if wanted is None else f"query: {wanted[row]}"
        draw(query, GAP, bottom, _shortened(name), INK, INK, weight="bold")
        for column, image in enumerate(results):
            left = 2 * GAP + SIDE + BESIDE + column * (SIDE + GAP)
            label = None if hits.labels is None else hits.labels[row, column]
            name = "" if label is None else _shortened(str(label))
            if wanted is not None and label is not None and label == wanted[row]:
                draw(image, left, bottom, f"{name} ✓", GREEN, GREEN)
            else:
                draw(image, left, bottom, name, PALE, MUTED)
    stream = BytesIO()
    figure.savefig(stream, format="png", dpi=dpi)
    return stream.getvalue()


def _found(hits: RetrievalHits, images: Sequence[Any] | Array | None) -> list[list[Any]]:
    """Return the images that were found, or their paths."""
    if images is not None:
        return [[images[i] for i in row] for row in hits.indices]
    if hits.paths is None:
        raise ValueError("The results have no file paths; give the images of the index.")
    return hits.paths


def _checked_labels(labels: ArrayLike | None, n_queries: int) -> Array | None:
    if labels is None:
        return None
    wanted = np.asarray(labels)
    if wanted.shape != (n_queries,):
        raise ValueError(f"labels has shape {wanted.shape}; expected ({n_queries},): one for each query.")
    return wanted


def _pixels(image: Any, most: int) -> Array:
    """Return an image with about as many pixels in its height or width as are worth drawing."""
    pixels = image if isinstance(image, np.ndarray) else read_image(image)
    step = max(1, max(pixels.shape[:2]) // most)
    return pixels if step == 1 else pixels[::step, ::step].copy()  # a view would keep all pixels in memory


def _size(pixels: Array) -> tuple[float, float]:
    """Return the height and width of an image in its square."""
    height, width = pixels.shape[:2]
    return SIDE * height / max(height, width), SIDE * width / max(height, width)


def _shortened(name: str) -> str:
    return name if len(name) <= LONGEST else name[: LONGEST - 1] + "…"


def _draw(
    ax: Any,
    pixels: Array,
    left: float,
    bottom: float,
    caption: str,
    frame: str,
    ink: str,
    *,
    size: float,
    weight: str = "normal",
) -> None:
    """Draw one image in its column, with a frame around it and words of a size in points below."""
    from matplotlib.patches import Rectangle

    height, width = _size(pixels)
    x, y = left + (SIDE - width) / 2, bottom - height
    ax.imshow(pixels, cmap="gray", extent=(x, x + width, bottom, y), interpolation="antialiased", aspect="auto")
    ax.add_patch(Rectangle((x, y), width, height, fill=False, edgecolor=frame, linewidth=0.22 * size))
    ax.text(
        left + SIDE / 2,
        bottom + 0.06,
        caption,
        ha="center",
        va="top",
        fontsize=size,
        color=ink,
        weight=weight,
        parse_math=False,
    )
