"""Bars and images of values that belong to features, used by the plots of relevances."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.font_manager import FontProperties
from matplotlib.image import AxesImage
from matplotlib.ticker import MaxNLocator

from protolearn.core.types import Array, Floats
from protolearn.plotting.style import (
    INK,
    add_color_bar,
    add_legend,
    axes_or_new,
    class_colors,
    class_handles,
    tidy,
)

__all__ = [
    "MOST_NAMES",
    "draw_bars",
    "draw_columns",
    "draw_dots",
    "draw_heat_map",
    "draw_image",
    "entitle",
    "label_size",
    "whole_numbers",
]

MOST_NAMES = 40  # more do not fit beside each other


def label_size(ax: Axes, axis: Literal["x", "y"], n_labels: int) -> float:
    """Return a font size, small at most, in which so many labels fit side by side along an axis."""
    length = (ax.bbox.width if axis == "x" else ax.bbox.height) * 72 / ax.figure.dpi
    return float(np.clip(0.95 * length / n_labels, 4.0, FontProperties(size="small").get_size_in_points()))


def whole_numbers() -> MaxNLocator:
    """Return what places as many ticks at whole numbers as there is room for."""
    return MaxNLocator("auto", integer=True, steps=[1, 2, 5, 10])


def draw_bars(ax: Axes, values: Floats, names: list[str], colors: Any) -> None:
    """Draw horizontal bars from top to bottom, with names unless there are too many."""
    rows = np.arange(len(values))
    ax.barh(rows, values, height=0.75, color=colors)
    ax.set_ylim(len(values) - 0.5, -0.5)
    tidy(ax)
    if len(values) <= MOST_NAMES:
        ax.set_yticks(rows, names)
        ax.tick_params(axis="y", labelsize=label_size(ax, "y", len(names)), length=0)
    else:
        ax.yaxis.set_major_locator(whole_numbers())


def draw_columns(ax: Axes, values: Floats, first: int, color: str) -> None:
    """Draw upright bars over numbers that begin with ``first``."""
    ax.bar(first + np.arange(len(values)), values, width=0.75, color=color)
    ax.set_xlim(first - 0.75, first + len(values) - 0.25)
    tidy(ax)
    ax.xaxis.set_major_locator(whole_numbers())


def draw_dots(ax: Axes, parts: Floats, labels: Array | None, *, first: int = 0, across: bool = False) -> None:
    """Draw on each bar a dot for each matrix, parts (n, s), in the color of its class."""
    if not parts.shape[1]:
        return
    places = np.broadcast_to(first + np.arange(len(parts))[:, None], parts.shape)
    x, y = (parts, places) if across else (places, parts)
    colors: Any = INK
    if labels is not None:
        classes, codes = np.unique(labels, return_inverse=True)
        palette = class_colors(len(classes))
        colors = palette[np.tile(codes, len(parts))]
        add_legend(ax, class_handles(classes, palette))
    ax.scatter(x.ravel(), y.ravel(), s=16, c=colors, edgecolors="white", linewidths=0.5, zorder=3)


def draw_heat_map(ax: Axes, values: Floats, aspect: Literal["equal", "auto"], cmap: str) -> AxesImage:
    """Draw values (h, w) in colors that diverge from zero."""
    limit = np.abs(values).max() or 1.0
    tidy(ax, hidden=())
    return ax.imshow(values, cmap=cmap, vmin=-limit, vmax=limit, interpolation="nearest", aspect=aspect)


def draw_image(
    ax: Axes | None,
    values: Floats,
    shape: tuple[int, int],
    label: str,
    title: str,
    *,
    cmap: str,
    diverging: bool = False,
) -> Axes:
    """Draw values (h w,) as an image (h, w), in colors that diverge from zero or begin with it."""
    if np.shape(shape) != (2,) or np.prod(shape) != len(values):
        raise ValueError(f"shape={shape!r} must be the height and width of an image of {len(values)} pixels.")
    pixels = values.reshape(shape)
    ax = axes_or_new(ax, shape[0] / shape[1])
    if diverging:
        image = draw_heat_map(ax, pixels, "equal", cmap)
    else:
        image = ax.imshow(pixels, cmap=cmap, vmin=0.0, interpolation="nearest", aspect="equal")
    add_color_bar(ax, image, label)
    ax.set(xticks=[], yticks=[])
    ax.spines[:].set_visible(False)
    entitle(ax, title)
    return ax


def entitle(ax: Axes, title: str) -> None:
    """Set a small title, if there is one."""
    if title:
        ax.set_title(title, fontsize="small")
