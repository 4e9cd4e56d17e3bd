"""Nodes of a lattice as cells: squares, hexagons, or dots connected by edges. All plots of maps use this module."""

from __future__ import annotations

from dataclasses import replace

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PatchCollection
from matplotlib.colors import to_rgb
from matplotlib.image import AxesImage
from matplotlib.patches import Circle, Patch, RegularPolygon, Wedge
from numpy.typing import NDArray

from protolearn.core.lattices import Lattice
from protolearn.core.parameters import integer
from protolearn.core.types import Floats
from protolearn.plotting.style import EMPTY, INK, MUTED

__all__ = [
    "draw_cells",
    "draw_images",
    "draw_pies",
    "edge_lines",
    "focused",
    "height_to_width",
    "in_ink",
    "node_radii",
    "points_per_unit",
]

CORNERS = {"rectangular": 4, "hexagonal": 6}

Complex = NDArray[np.complex128]


def draw_cells(
    ax: Axes,
    lattice: Lattice,
    *,
    values: NDArray[np.floating] | None = None,
    cmap: str = "viridis",
    colors: Floats | None = None,
) -> PatchCollection:
    """Draw each node as a cell, colored by values (k,), where masked values are gray, or by colors (k, 3).

    The cells of a planar lattice are squares or hexagons that fill it. On other lattices they are dots, connected by
    edges; a hyperbolic lattice is drawn in the Poincaré disc, with its edges along geodesics.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        Axes to draw into.
    lattice : Lattice
        Lattice with k nodes.
    values : ndarray of shape (k,), optional
        Values that determine the colors; masked values are gray.
    cmap : str, default="viridis"
        Name of a Matplotlib colormap for the values.
    colors : ndarray of shape (k, 3), optional
        Colors that replace the values.

    Returns
    -------
    PatchCollection
        Patches of the cells.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.core.lattices import hexagonal
    >>> from protolearn.plotting.cells import draw_cells
    >>> from protolearn.plotting.style import axes_or_new
    >>> cells = draw_cells(axes_or_new(None), hexagonal(2, 3), values=np.arange(6.0))
    >>> len(cells.get_paths()), cells.get_array().shape
    (6, (6,))
    """
    low, high = _corners(lattice)
    cells = PatchCollection(_cell_patches(lattice), edgecolor="white", zorder=2)
    unit = points_per_unit(ax, high - low)
    cells.set_linewidth(np.clip(0.03 * unit, 0.1, 0.8))
    if colors is None:
        cells.set_cmap(mpl.colormaps[cmap].with_extremes(bad=EMPTY))
        cells.set_array(values)
    else:
        cells.set_facecolor(colors.tolist())
    ax.add_collection(cells, autolim=False)
    if lattice.kind not in CORNERS:
        width = np.clip(0.3 * unit * node_radii(lattice).min(), 0.25, 0.7)
        lines = LineCollection(list(edge_lines(lattice)), colors=MUTED, linewidths=width, zorder=1)
        ax.add_collection(lines, autolim=False)
    if lattice.kind == "hyperbolic":
        ax.add_patch(Circle((0, 0), 1, facecolor="none", edgecolor=MUTED, linewidth=0.8, zorder=1))
    ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), xticks=[], yticks=[], aspect="equal")
    ax.spines[:].set_visible(False)
    return cells


def draw_pies(ax: Axes, lattice: Lattice, areas: Floats, shares: Floats, colors: Floats) -> PatchCollection:
    """Draw a disc in each cell, of area (k,) up to 1, divided by shares (k, C) in colors (C, 3).

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        Axes to draw into.
    lattice : Lattice
        Lattice with k nodes.
    areas : ndarray of shape (k,)
        Area of each disc, from 0 to 1; a disc of area 1 fills its cell.
    shares : ndarray of shape (k, C)
        Share of each class in each disc.
    colors : ndarray of shape (C, 3)
        Colors of the classes.

    Returns
    -------
    PatchCollection
        Patches of the slices.

    Examples
    --------
    Two classes share the first node, the second node has one class, and the third is empty:

    >>> import numpy as np
    >>> from protolearn.core.lattices import rectangular
    >>> from protolearn.plotting.cells import draw_pies
    >>> from protolearn.plotting.style import axes_or_new, class_colors
    >>> shares = np.array([[0.5, 0.5], [1.0, 0.0], [0.0, 0.0]])
    >>> pies = draw_pies(axes_or_new(None), rectangular(1, 3), np.array([1.0, 0.5, 0.0]), shares, class_colors(2))
    >>> len(pies.get_paths())
    3
    """
    radii = 0.85 * node_radii(lattice) * np.sqrt(areas)
    turns = 90.0 - 360.0 * np.column_stack([np.zeros(len(shares)), np.cumsum(shares, axis=1)])  # clockwise from the top
    slices = [(node, part) for node, part in np.argwhere(shares > 0) if areas[node] > 0]
    wedges = [
        Wedge(tuple(lattice.coordinates[node]), radii[node], turns[node, part + 1], turns[node, part])
        for node, part in slices
    ]
    pies = PatchCollection(wedges, facecolor=[tuple(colors[part]) for _, part in slices], linewidth=0, zorder=3)
    ax.add_collection(pies, autolim=False)
    return pies


def draw_images(ax: Axes, centers: Floats, images: Floats, sizes: float | Floats) -> None:
    """Draw gray images, from transparent at 0 to the color of ink at 1, so that the color of a cell shows through.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        Axes to draw into.
    centers : ndarray of shape (k, 2)
        Position of each image.
    images : ndarray of shape (k, h, w)
        Values of the pixels; values below 0 or above 1 are clipped.
    sizes : float or ndarray of shape (k,)
        Length of the longer side of the images in the units of the axes.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.core.lattices import hexagonal
    >>> from protolearn.plotting.cells import draw_cells, draw_images
    >>> from protolearn.plotting.style import axes_or_new
    >>> ax, lattice = axes_or_new(None), hexagonal(2, 3)
    >>> cells = draw_cells(ax, lattice, colors=np.ones((6, 3)))
    >>> draw_images(ax, lattice.coordinates, np.ones((6, 8, 8)), 0.7)
    >>> len(ax.images)
    6
    """
    height, width = images.shape[1:]
    halves = np.outer(np.broadcast_to(sizes, len(images)), [width + 2, height + 2]) / (2 * max(height, width))
    for (x, y), (half_width, half_height), picture in zip(centers, halves, in_ink(images)):
        extent = (x - half_width, x + half_width, y - half_height, y + half_height)
        drawn = AxesImage(ax, extent=extent, origin="upper", interpolation="bicubic", zorder=4)
        drawn.set_data(picture)
        ax.add_image(drawn)


def in_ink(images: Floats) -> Floats:
    """Return images (k, h, w) as colors (k, h + 2, w + 2, 4): ink, transparent at 0 and opaque at 1.

    A margin of one pixel lets strokes fade out instead of being cut off.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.plotting.cells import in_ink
    >>> in_ink(np.ones((1, 2, 2)))[0, :, :, 3].astype(int)
    array([[0, 0, 0, 0],
           [0, 1, 1, 0],
           [0, 1, 1, 0],
           [0, 0, 0, 0]])
    """
    opacity = np.pad(np.clip(images, 0.0, 1.0), ((0, 0), (1, 1), (1, 1)))[..., None]
    return np.concatenate([np.broadcast_to(to_rgb(INK), (*opacity.shape[:-1], 3)), opacity], axis=-1)


def node_radii(lattice: Lattice) -> Floats:
    """Return the radius (k,) of the largest disc in each cell.

    Dots are as large as possible without touching. In the Poincaré disc they shrink toward the border, as any figure of
    constant size in the hyperbolic plane does.

    Examples
    --------
    >>> from protolearn.core.lattices import hyperbolic, rectangular
    >>> from protolearn.plotting.cells import node_radii
    >>> node_radii(rectangular(1, 3)).tolist()
    [0.5, 0.5, 0.5]
    >>> radii = node_radii(hyperbolic(7, 1))
    >>> bool(radii[0] > radii[1:].max())  # the first node is in the center of the disc
    True
    """
    if lattice.kind in CORNERS:
        return np.full(lattice.n_nodes, 0.5)
    points = lattice.coordinates
    scale = 1.0 - (points**2).sum(axis=1) if lattice.kind == "hyperbolic" else np.ones(len(points))
    gaps = np.hypot(*(points[:, None] - points).T)
    gaps[gaps <= 1e-6 * gaps.max()] = np.inf  # nodes drawn at the same place cannot be kept apart
    room = (gaps / (scale[:, None] + scale)).min(axis=1)
    room = room[np.isfinite(room)]
    # A pair of nodes that nearly coincide must not make all dots vanish.
    return 0.75 * scale * (max(room.min(), 0.2 * float(np.median(room))) if len(room) else 0.5)


def focused(lattice: Lattice, focus: int | None) -> Lattice:
    """Return a hyperbolic lattice after the motion of the Poincaré disc that moves a node to the center.

    None returns any lattice unchanged.

    Parameters
    ----------
    lattice : Lattice
        Lattice to transform.
    focus : int or None
        Index of the node that moves to the center.

    Returns
    -------
    Lattice
        Lattice with the same nodes and edges, but different coordinates.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.core.lattices import hyperbolic
    >>> from protolearn.plotting.cells import focused
    >>> bool(np.allclose(focused(hyperbolic(7, 1), 3).coordinates[3], 0.0))
    True
    """
    if focus is None:
        return lattice
    if lattice.kind != "hyperbolic":
        raise ValueError(f"focus={focus!r} needs a hyperbolic lattice, but this is a {lattice!r}; use focus=None.")
    integer(0, lattice.n_nodes - 1).check("focus", focus)
    nodes = lattice.coordinates @ np.array([1, 1j])
    return replace(lattice, coordinates=_in_plane(_moved(nodes, -nodes[focus])))


def height_to_width(lattice: Lattice) -> float:
    """Return the ratio of height to width of the drawing.

    Examples
    --------
    >>> from protolearn.core.lattices import rectangular
    >>> from protolearn.plotting.cells import height_to_width
    >>> round(height_to_width(rectangular(2, 4)), 6)
    0.5
    """
    low, high = _corners(lattice)
    return float((high[1] - low[1]) / (high[0] - low[0]))


def edge_lines(lattice: Lattice) -> Floats:
    """Return each edge as points along it (e, p, 2): straight, or a geodesic of the Poincaré disc.

    Examples
    --------
    >>> from protolearn.core.lattices import hyperbolic, rectangular
    >>> from protolearn.plotting.cells import edge_lines
    >>> edge_lines(rectangular(1, 3)).shape  # two straight edges
    (2, 2, 2)
    >>> edge_lines(hyperbolic(7, 1)).shape[1:]  # curved ones have more points
    (17, 2)
    """
    ends = lattice.coordinates[lattice.edges]
    if lattice.kind != "hyperbolic":
        return ends
    start, stop = (ends @ np.array([1, 1j])).T[..., None]
    # Seen from the start of an edge, moved to the center of the disc, the geodesic is a straight ray.
    ray = np.linspace(0, 1, 17) * _moved(stop, -start)
    return _in_plane(_moved(ray, start))


def points_per_unit(ax: Axes, extent: Floats) -> float:
    """Return the approximate length of a unit of the lattice in the drawing, in points (1/72 inch).

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        Axes of the drawing.
    extent : ndarray of shape (2,)
        Width and height of the drawing, in units of the lattice.

    Returns
    -------
    float
        Number of points.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.plotting.cells import points_per_unit
    >>> from protolearn.plotting.style import axes_or_new
    >>> ax = axes_or_new(None)
    >>> bool(np.isclose(points_per_unit(ax, np.array([8.0, 2.0])), 0.5 * points_per_unit(ax, np.array([4.0, 1.0]))))
    True
    """
    width, height = np.array(ax.bbox.size) * 72 / ax.figure.dpi
    return float(min(width / extent[0], height / extent[1]))


def _moved(points: Complex, origin: Complex) -> Complex:
    """Return where points of the Poincaré disc go in the motion that takes the center to the origin given."""
    return (points + origin) / (1 + origin.conj() * points)


def _in_plane(points: Complex) -> Floats:
    return np.stack([points.real, points.imag], axis=-1)


def _cell_patches(lattice: Lattice) -> list[Patch]:
    if lattice.kind not in CORNERS:
        return [Circle(tuple(point), radius) for point, radius in zip(lattice.coordinates, node_radii(lattice))]
    n_corners, radius = CORNERS[lattice.kind], _circumradius(lattice.kind)
    upright = np.pi / n_corners - np.pi / 2  # a flat side to the left and right
    return [
        RegularPolygon(tuple(point), n_corners, radius=radius, orientation=upright) for point in lattice.coordinates
    ]


def _corners(lattice: Lattice) -> tuple[Floats, Floats]:
    """Return the lower left and upper right corner of the drawing."""
    if lattice.kind == "hyperbolic":
        return np.full(2, -1.01), np.full(2, 1.01)
    outlines = np.concatenate([cell.get_extents().get_points() for cell in _cell_patches(lattice)])
    low, high = outlines.min(axis=0), outlines.max(axis=0)
    # A chain is a thin line; a color bar beside it needs some height.
    margin = np.maximum(0.0, 0.25 * (high - low).max() - (high - low)) / 2
    return low - margin, high + margin


def _circumradius(kind: str) -> float:
    """Return the distance of the corners from the center of a cell, whose sides are 1/2 away from it."""
    return 0.5 / np.cos(np.pi / CORNERS[kind])
