"""Common style of all plots: figures, colors of classes, color bars and legends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib import pyplot as plt
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backend_bases import RendererBase
from matplotlib.cm import ScalarMappable
from matplotlib.colors import to_rgb
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator
from matplotlib.transforms import Bbox

from protolearn.core.types import Array, Floats

__all__ = [
    "EMPTY",
    "INK",
    "MUTED",
    "add_color_bar",
    "add_legend",
    "axes_or_new",
    "class_colors",
    "class_handles",
    "tidy",
    "tint",
]

INK = "#222222"  #: Color of outlines and text.
MUTED = "#b3b3b3"  #: Color of what is in the background.
EMPTY = "#f2f2f2"  #: Color of cells without samples.
BAR_ASPECT = 20.0

# Okabe and Ito (2008), Color universal design: told apart with any kind of color vision.
OKABE_ITO = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#F0E442", "#000000")


def axes_or_new(ax: Axes | None, ratio: float = 0.75, width: float = 6.4) -> Axes:
    """Return the given Axes, or those of a new figure with room for a drawing of the given aspect ratio.

    Parameters
    ----------
    ax : matplotlib.axes.Axes or None
        Axes to return, if given.
    ratio : float, default=0.75
        Ratio of height to width of the drawing.
    width : float, default=6.4
        Width of a new figure in inches.

    Returns
    -------
    matplotlib.axes.Axes
        Axes to draw into.

    Examples
    --------
    >>> from protolearn.plotting.style import axes_or_new
    >>> ax = axes_or_new(None, width=4.0)
    >>> float(ax.figure.get_figwidth()), axes_or_new(ax) is ax
    (4.0, True)
    """
    if ax is not None:
        return ax
    room = width - 1.0
    return plt.subplots(figsize=(width, 0.3 + np.clip(room * ratio, 2.1, room)), layout="constrained")[1]


def class_colors(n_classes: int, cmap: str | None = None) -> Floats:
    """Return a color (n_classes, 3) for each class: Okabe-Ito for up to 8, tab20 for up to 20, or from a colormap.

    The colors of a colormap that is a list of at most 20 colors, such as ``"Set2"``, are used in order.

    Examples
    --------
    >>> class_colors(2).round(2)
    array([[0.  , 0.45, 0.7 ],
           [0.9 , 0.62, 0.  ]])
    """
    if cmap is not None:
        chosen = mpl.colormaps[cmap]
        listed = max(n_classes, 2) <= chosen.N <= 20
        return chosen(np.arange(n_classes) if listed else np.linspace(0.0, 1.0, n_classes))[:, :3]
    if n_classes <= len(OKABE_ITO):
        return np.array([to_rgb(color) for color in OKABE_ITO[:n_classes]])
    if n_classes <= 20:
        dark_then_light = np.arange(20).reshape(10, 2).T.ravel()[:n_classes]
        return mpl.colormaps["tab20"](dark_then_light)[:, :3]
    return mpl.colormaps["turbo"](np.linspace(0.02, 0.98, n_classes))[:, :3]


def tint(colors: Floats, strength: float) -> Floats:
    """Mix colors (n, 3) with white; a strength of 1 leaves them unchanged.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.plotting.style import tint
    >>> tint(np.array([[0.0, 0.5, 1.0]]), 0.5).tolist()
    [[0.5, 0.75, 1.0]]
    """
    return 1.0 - strength * (1.0 - colors)


def tidy(ax: Axes, hidden: Sequence[str] = ("top", "right")) -> None:
    """Draw the frame of a plot with thin lines, and hide some of its sides.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        Axes of the plot.
    hidden : sequence of str, default=("top", "right")
        Sides of the frame to hide.

    Examples
    --------
    >>> from protolearn.plotting.style import axes_or_new, tidy
    >>> ax = axes_or_new(None)
    >>> tidy(ax)
    >>> ax.spines["top"].get_visible(), ax.spines["left"].get_visible()
    (False, True)
    """
    ax.spines[:].set(linewidth=0.6, color=INK)
    for side in hidden:
        ax.spines[side].set_visible(False)
    ax.tick_params(width=0.6, length=3, labelsize="small", color=INK, labelcolor=INK)


def add_color_bar(ax: Axes, drawn: ScalarMappable, label: str, *, n_ticks: int = 5, integer: bool = False) -> None:
    """Draw a thin color bar to the right of the Axes, with the same height.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        Axes of the plot.
    drawn : ScalarMappable
        Object that defines the colors, as returned by most color plots of Matplotlib.
    label : str
        Meaning of the colors.
    n_ticks : int, default=5
        Maximum number of intervals between ticks.
    integer : bool, default=False
        Whether ticks are restricted to integers.

    Examples
    --------
    >>> from protolearn.plotting.style import add_color_bar, axes_or_new
    >>> ax = axes_or_new(None)
    >>> add_color_bar(ax, ax.imshow([[0, 1], [2, 3]]), "wins", integer=True)
    >>> ax.figure.axes[1].get_ylabel()
    'wins'
    """
    figure: Any = ax.figure
    ticks = MaxNLocator(n_ticks, integer=integer)
    bar = figure.colorbar(drawn, ax=ax, ticks=ticks, fraction=0.12, pad=0.03, aspect=BAR_ASPECT)
    bar.set_label(label, fontsize="small", color=INK)
    bar.outline.set_visible(False)
    bar.ax.tick_params(width=0.6, length=2.5, labelsize="small", color=INK, labelcolor=INK)
    bar.ax.set_axes_locator(_Beside(ax))


class _Beside:
    """Locator that places a bar next to Axes whose height is known only after their aspect is applied."""

    def __init__(self, ax: Axes) -> None:
        self.ax = ax

    def __call__(self, bar: Axes, renderer: RendererBase) -> Bbox:
        locator = self.ax.get_axes_locator()
        self.ax.apply_aspect(None if locator is None else locator(self.ax, renderer))
        box = self.ax.get_position()
        figure: Any = self.ax.figure
        width = box.height / BAR_ASPECT * figure.bbox.height / figure.bbox.width
        return Bbox.from_bounds(box.x1 + 0.7 * width, box.y0, width, box.height)


def class_handles(classes: Array, colors: Floats) -> list[Artist]:
    """Return a legend entry for each class.

    Parameters
    ----------
    classes : ndarray of shape (n_classes,)
        Classes to list.
    colors : ndarray of shape (n_classes, 3)
        Colors of the classes.

    Returns
    -------
    list of Artist
        Legend entries.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.plotting.style import class_colors, class_handles
    >>> [handle.get_label() for handle in class_handles(np.array(["ill", "well"]), class_colors(2))]
    ['ill', 'well']
    """
    return [
        Line2D([], [], linestyle="", marker="o", markersize=6, color=tuple(color), label=str(name))
        for name, color in zip(classes, colors)
    ]


def add_legend(ax: Axes, handles: Sequence[Any], title: str | None = None, *, above: bool = False) -> None:
    """Draw a small legend to the right of the Axes, in as many columns as needed to match their height, or above them.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        Axes of the plot.
    handles : sequence of Artist
        Legend entries, see `class_handles`.
    title : str, optional
        Title of the legend.
    above : bool, default=False
        Whether to place the legend above the Axes.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.plotting.style import add_legend, axes_or_new, class_colors, class_handles
    >>> ax = axes_or_new(None)
    >>> add_legend(ax, class_handles(np.array(["ill", "well"]), class_colors(2)), "class")
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['ill', 'well']
    """
    n_rows = int(np.clip(ax.bbox.height / ax.figure.dpi / 0.2, 4, 16))
    beside: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (1.02, 1.0), "borderaxespad": 0.0}
    over: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (0.0, 1.0), "borderaxespad": 0.3}
    legend = ax.legend(
        handles=handles,
        title=title,
        frameon=False,
        fontsize="small",
        title_fontsize="small",
        alignment="left",
        ncols=min(4, len(handles)) if above else 1 + (len(handles) - 1) // n_rows,
        **(over if above else beside),
    )
    _make_room(ax, legend)


def _make_room(ax: Axes, legend: Legend) -> None:
    """Shrink Axes by a legend beside or above them, in a figure whose layout finds no room for it by itself."""
    figure: Any = ax.figure
    place = ax.get_subplotspec()
    if figure.get_layout_engine() is not None or place is None:
        return
    cell = place.get_position(figure)
    box = ax.get_position(original=True)
    needed = legend.get_window_extent().transformed(figure.transFigure.inverted())
    active = ax.get_position()
    right = min(box.x1, cell.x1 - max(needed.x1 - active.x1, 0.0))
    top = min(box.y1, cell.y1 - max(needed.y1 - active.y1, 0.0))
    if right > box.x0 and top > box.y0:
        ax.set_position(Bbox([[box.x0, box.y0], [right, top]]))
