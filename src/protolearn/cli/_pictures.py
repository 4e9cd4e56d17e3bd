"""What the pictures of the page share: canvases without windows, small gray images, maps seen in other units."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from io import BytesIO
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import imsave
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.offsetbox import AnnotationBbox, OffsetImage

from protolearn.core.types import Floats
from protolearn.plotting.cells import in_ink
from protolearn.plotting.style import tint

__all__ = ["canvas", "draw_labels", "in_terms_of", "ink_png", "signed_png", "to_png"]

DPI = 150
MARGIN = 0.08


def canvas(width: float, height: float, *, space: bool = False) -> Axes:
    """Return Axes, of three dimensions if in space, in a new figure of this size in inches, which no window shows."""
    figure = Figure(figsize=(width, height), layout=ConstrainedLayoutEngine(h_pad=MARGIN, w_pad=MARGIN))
    return figure.add_subplot(projection="3d" if space else None)


def to_png(ax: Axes, *, dpi: int = DPI, transparent: bool = False) -> bytes:
    """Return the figure of the Axes as PNG."""
    stream = BytesIO()
    figure: Any = ax.figure
    figure.savefig(stream, format="png", dpi=dpi, transparent=transparent)
    return stream.getvalue()


def ink_png(values: Floats) -> bytes:
    """Return a gray image (h, w) with values from 0, paper, to 1, ink, as PNG with one pixel for each value."""
    stream = BytesIO()
    imsave(stream, values, cmap="gray_r", vmin=0.0, vmax=1.0, format="png")
    return stream.getvalue()


def signed_png(values: Floats) -> bytes:
    """Return values (h, w) as PNG with one pixel for each: white is 0, blue above and red below, as far as they go."""
    limit = np.abs(values).max() or 1.0
    stream = BytesIO()
    imsave(stream, values, cmap="RdBu", vmin=-limit, vmax=limit, format="png")
    return stream.getvalue()


def draw_labels(ax: Axes, points: Floats, images: Floats, colors: Floats) -> None:
    """Draw images (k, h, w) as small framed labels at points (k, 2), in colors (k, 3), one on top of another."""
    for point, picture, color in zip(points, in_ink(images), colors):
        look = {"facecolor": tint(color, 0.42), "edgecolor": tuple(color), "linewidth": 1.2}
        content = OffsetImage(picture, zoom=1.9, interpolation="bicubic")
        label = AnnotationBbox(content, tuple(point), pad=0.05, bboxprops=look, zorder=4)
        label.set_in_layout(False)
        ax.add_artist(label)


def in_terms_of(model: Any, prototypes: Floats, names: Sequence[str]) -> Any:
    """Return the same fitted map with its prototypes (k, d) expressed in other features, for drawing only."""
    seen = copy(model)
    seen.prototypes_ = prototypes
    seen.feature_names_in_ = np.array(names, dtype=object)
    return seen
