"""What the pictures of the page share: canvases without windows, small grey images, maps seen in other units."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from io import BytesIO
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage, imsave
from numpy.typing import NDArray
from PIL import Image

from protolearn import KMeans

__all__ = ["canvas", "draw_images", "in_terms_of", "ink_png", "to_png", "with_palette"]

INK = (0.13, 0.13, 0.13)
DPI = 150

Floats = NDArray[np.float64]


def canvas(width: float, height: float) -> Axes:
    """Return Axes in a new figure of this size in inches, which no window shows."""
    return Figure(figsize=(width, height), layout="constrained").subplots()


def to_png(ax: Axes, *, dpi: int = DPI, transparent: bool = False) -> bytes:
    """Return the figure of the Axes as PNG."""
    stream = BytesIO()
    figure: Any = ax.figure
    figure.savefig(stream, format="png", dpi=dpi, transparent=transparent)
    return stream.getvalue()


def with_palette(png: bytes, n_colours: int) -> bytes:
    """Return the picture with this many colours at most, which makes its file several times smaller."""
    pixels = np.array(Image.open(BytesIO(png)).convert("RGBA"))
    found, where, counts = np.unique(pixels.view(np.uint32), return_inverse=True, return_counts=True)
    colours = found.view(np.uint8).reshape(-1, 4).astype(np.float64)
    palette = KMeans(min(n_colours, len(found)), max_iter=15, random_state=0).fit(colours, sample_weight=counts)
    indices = palette.labels_[where].astype(np.uint8)
    reduced = Image.frombytes("P", pixels.shape[1::-1], indices.tobytes())
    reduced.putpalette(palette.prototypes_.round().astype(np.uint8).tobytes(), "RGBA")
    stream = BytesIO()
    reduced.save(stream, format="png", optimize=True)
    return stream.getvalue()


def ink_png(values: Floats) -> bytes:
    """Return a grey image (h, w) with values from 0, paper, to 1, ink, as PNG with one pixel for each value."""
    stream = BytesIO()
    imsave(stream, values, cmap="gray_r", vmin=0.0, vmax=1.0, format="png")
    return stream.getvalue()


def draw_images(ax: Axes, centres: Floats, images: Floats, size: float) -> None:
    """Draw images (k, h, w) with values from 0, see-through, to 1, ink, at centres (k, 2), each ``size`` wide."""
    # A margin of one pixel lets strokes fade out instead of being cut off.
    half = 0.5 * size * (images.shape[-1] + 2) / images.shape[-1]
    images = np.pad(images, ((0, 0), (1, 1), (1, 1)))
    colour = np.broadcast_to(INK, (*images.shape, 3))
    inked = np.concatenate([colour, np.clip(images, 0.0, 1.0)[..., None]], axis=-1)
    for (x, y), picture in zip(centres, inked):
        extent = (x - half, x + half, y - half, y + half)
        drawn = AxesImage(ax, extent=extent, origin="upper", interpolation="bicubic", zorder=4)
        drawn.set_data(picture)
        ax.add_image(drawn)


def in_terms_of(model: Any, prototypes: Floats, names: Sequence[str]) -> Any:
    """Return the same fitted map with its prototypes (k, d) expressed in other features, for drawing only."""
    seen = copy(model)
    seen.prototypes_ = prototypes
    seen.feature_names_in_ = np.array(names, dtype=object)
    return seen
