"""Plots of divergences in three dimensions: isolines over the simplex of densities, and an isosurface in space."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import permutations
from typing import Any, Literal

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.patheffects import withStroke
from mpl_toolkits.mplot3d.art3d import Line3DCollection, Poly3DCollection  # type: ignore[import-untyped]
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import cdist

from protolearn.core.parameters import constrained, integer, option, positive
from protolearn.core.types import Floats
from protolearn.embedding.divergences import get_divergence
from protolearn.plotting._embedding import axes_in_space
from protolearn.plotting._relevances import entitle
from protolearn.plotting.style import INK, MUTED, OKABE_ITO, axes_or_new

__all__ = ["plot_divergence_octant", "plot_divergence_simplex"]


CENTER = (1 / 3, 1 / 3, 1 / 3)
CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(0.75)]])  # of the simplex, as it is drawn
SMALLEST = 1e-6  # probabilities that are shown; at zero, many divergences are infinite
N_STEPS = 100  # densities along a side of the simplex that tell how large a divergence is
N_ANGLES = 1440  # directions from the reference in which an isoline is looked for
N_CELLS = 36  # cells of a grid along each side of a surface
N_HALVINGS = 35

# Where one, two or three corners of a tetrahedron, in ascending order, are below a surface: the edges on which the
# corners of its triangles are.
CROSSED = {
    1: [[(0, 1), (0, 2), (0, 3)]],
    2: [[(0, 2), (0, 3), (1, 3)], [(0, 2), (1, 3), (1, 2)]],
    3: [[(0, 3), (1, 3), (2, 3)]],
}


@constrained(direction=option("p", "q"))
def plot_divergence_simplex(
    divergence: Any,
    reference: ArrayLike = CENTER,
    *,
    levels: int | ArrayLike = 8,
    direction: Literal["p", "q"] = "p",
    cmap: str = "viridis",
    ax: Axes | None = None,
) -> Axes:
    """Show the isolines of a divergence from a reference over all densities of three values, on a triangle.

    A vertex of the triangle is the density concentrated on one of the values.

    Parameters
    ----------
    divergence : str or Divergence
        Name or instance of a divergence, as in `protolearn.embedding.divergences`.
    reference : array-like of shape (3,), default=(1/3, 1/3, 1/3)
        Reference density, with positive entries.
    levels : int or array-like, default=8
        Values of the isolines, or their number; in the latter case the values divide the triangle into equal areas.
    direction : {"p", "q"}, default="p"
        Argument that varies: ``"p"`` shows ``D(p || reference)``, ``"q"`` shows ``D(reference || q)``.
    cmap : str, default="viridis"
        Name of a Matplotlib colormap for the isolines; low values are light.
    ax : Axes, optional
        Axes to draw into; a new figure by default.

    Returns
    -------
    Axes
        Axes with the plot.

    See Also
    --------
    plot_divergence_octant : An isosurface over all positive numbers.

    Notes
    -----
    Isolines are searched along rays from the reference, along each of which the divergence must increase. This holds
    for every Bregman and Csiszár divergence, for increasing functions of these, such as Rényi's, and, as far as tested,
    for gamma divergences.

    Examples
    --------
    >>> from protolearn.plotting import plot_divergence_simplex
    >>> ax = plot_divergence_simplex("kl", (0.5, 0.3, 0.2), levels=[0.1, 0.4])
    >>> ax.get_title()
    'KullbackLeibler()'
    """
    chosen = get_divergence(divergence)
    origin = _check_reference(reference, density=True)

    def value(densities: Floats) -> Floats:
        return chosen.value(densities, origin) if direction == "p" else chosen.value(origin, densities)

    ax = axes_or_new(ax, CORNERS[2, 1])
    _draw_frame(ax, direction)
    heights = _check_levels(levels, value)
    _draw_isolines(ax, [_isoline(value, origin, height) for height in heights], heights, cmap)
    ax.plot(*(origin @ CORNERS), "o", color=OKABE_ITO[3], markersize=5, zorder=4)
    entitle(ax, str(chosen))
    return ax


@constrained(level=positive)
def plot_divergence_octant(
    divergence: Any, reference: ArrayLike = CENTER, level: float = 0.1, *, ax: Axes | None = None
) -> Axes:
    """Show an isosurface of a divergence from a reference, over three positive numbers up to 1.

    The intersection of the surface with the plane of densities, ``p_1 + p_2 + p_3 = 1``, is drawn as a line. The
    surface is clipped to the unit cube.

    Parameters
    ----------
    divergence : str or Divergence
        Name or instance of a divergence, as in `protolearn.embedding.divergences`.
    reference : array-like of shape (3,), default=(1/3, 1/3, 1/3)
        Reference with positive entries up to 1, which need not sum to one.
    level : float, default=0.1
        Value of ``D(p || reference)`` on the surface.
    ax : Axes, optional
        Three-dimensional Axes to draw into; a new figure by default.

    Returns
    -------
    Axes
        Axes with the plot.

    See Also
    --------
    plot_divergence_simplex : Isolines over densities.

    Examples
    --------
    >>> from protolearn.plotting import plot_divergence_octant
    >>> ax = plot_divergence_octant("gkl", level=0.05)
    >>> ax.name
    '3d'
    """
    chosen = get_divergence(divergence)
    origin = _check_reference(reference)
    surface = _isosurface(partial(chosen.value, q=origin), level)
    ax = axes_in_space(ax)
    _draw_in_space(ax, surface, _cut_by_densities(surface), origin)
    entitle(ax, f"{chosen} = {level:g}")
    return ax


def _check_reference(reference: ArrayLike, density: bool = False) -> Floats:
    origin = np.asarray(reference, dtype=np.float64)
    if origin.shape != (3,) or not ((origin > 0) & (origin <= 1)).all():
        raise ValueError(f"reference={reference!r} must be three positive numbers of at most 1.")
    if density and not np.isclose(origin.sum(), 1.0):
        raise ValueError(f"reference={reference!r} sums to {origin.sum():g}, but a density sums to 1.")
    return origin


def _check_levels(levels: Any, value: Callable[[Floats], Floats]) -> Floats:
    """Return increasing levels; of a number of them, those that part the simplex into equal areas."""
    if np.ndim(levels) == 0:
        integer(1).check("levels", levels)
        return np.quantile(value(_simplex_lattice()), np.arange(1, levels + 1) / (levels + 1), method="lower")
    heights = np.unique(np.asarray(levels, dtype=np.float64))
    if not len(heights) or not (np.isfinite(heights) & (heights > 0)).all():
        raise ValueError(f"levels={levels!r} must be positive numbers, or the number of levels.")
    return heights


def _simplex_lattice() -> Floats:
    """Return densities (m, 3) on a triangular lattice within the simplex."""
    first, second = np.mgrid[:N_STEPS, :N_STEPS].reshape(2, -1) + 1 / 3
    third = N_STEPS - first - second
    return np.column_stack([first, second, third])[third > 0] / N_STEPS


def _isoline(value: Callable[[Floats], Floats], origin: Floats, level: float) -> Floats:
    """Return densities (m, 3) around the origin that have the level, not a number where it is beyond the simplex."""
    around = np.linspace(0.0, 2.0 * np.pi, N_ANGLES + 1)
    ways = np.outer(np.cos(around), [1, -1, 0]) / np.sqrt(2) + np.outer(np.sin(around), [-1, -1, 2]) / np.sqrt(6)
    falling = ways < -1e-12
    lengths = np.divide(SMALLEST - origin, ways, out=np.full_like(ways, np.inf), where=falling).min(axis=1)
    ends = origin + lengths[:, None] * ways
    found = value(ends) >= level
    return np.where(found[:, None], _reached(value, np.broadcast_to(origin, ends.shape), ends, level), np.nan)


def _reached(value: Callable[[Floats], Floats], starts: Floats, ends: Floats, level: float) -> Floats:
    """Return where values reach the level on straight ways (..., 3) from starts, where they are below, to ends."""
    low, high = np.zeros(starts.shape[:-1]), np.ones(starts.shape[:-1])
    for _ in range(N_HALVINGS):
        middle = 0.5 * (low + high)
        above = value(starts + middle[..., None] * (ends - starts)) >= level
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    return starts + high[..., None] * (ends - starts)


def _draw_isolines(ax: Any, lines: list[Floats], heights: Floats, cmap: str) -> None:
    """Draw lines of densities (m, 3), the darker the higher, with their heights where these are farthest apart."""
    written = CORNERS
    shades = mpl.colormaps[cmap](np.linspace(0.85, 0.0, len(lines)))
    for line, height, shade in zip(lines, heights, shades):
        ax.plot(*(line @ CORNERS).T, color=shade, linewidth=1.3)
        inner = line[line.min(axis=1) > 0.03] @ CORNERS
        if len(inner):
            place = inner[cdist(inner, written).min(axis=1).argmax()]
            written = np.vstack([written, place])
            text = ax.text(*place, f"{height:.2g}", ha="center", va="center", fontsize=7, color=INK, zorder=3)
            text.set_path_effects([withStroke(linewidth=2.5, foreground="white")])


def _draw_frame(ax: Any, direction: str) -> None:
    """Draw the simplex with the names of its corners, and nothing else of the Axes."""
    ax.fill(*CORNERS.T, facecolor="none", edgecolor=INK, linewidth=0.8)
    for number, (corner, side) in enumerate(zip(CORNERS, ("right", "left", "center")), start=1):
        away = corner + 0.03 * (corner - CORNERS.mean(axis=0))
        ax.text(*away, f"${direction}_{number}$ = 1", ha=side, va="bottom" if number == 3 else "top", fontsize="small")
    ax.set(xlim=(-0.16, 1.16), ylim=(-0.1, 0.97), aspect="equal")
    ax.set_axis_off()


def _isosurface(value: Callable[[Floats], Floats], level: float) -> Floats:
    """Return triangles (t, 3, 3) in the cube whose corners have the level (marching tetrahedra)."""
    low, high = np.full(3, SMALLEST), np.ones(3)
    for _ in range(2):  # the first grid tells where a finer one has to be
        tetrahedra, n_below = _crossed_tetrahedra(value, low, high, level)
        if not len(tetrahedra):
            return np.empty((0, 3, 3))
        margin = (high - low) / N_CELLS
        low, high = np.clip([tetrahedra.min(axis=(0, 1)) - margin, tetrahedra.max(axis=(0, 1)) + margin], low, high)
    edges = np.concatenate([tetrahedra[n_below == n][:, ends].reshape(-1, 3, 2, 3) for n, ends in CROSSED.items()])
    starts, ends = edges[:, :, 0], edges[:, :, 1]
    triangles = _reached(value, starts, ends, level)
    normals = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    inwards = (normals * (ends - starts).sum(axis=1)).sum(axis=1) < 0
    triangles[inwards] = triangles[inwards, ::-1]  # light falls on the outer side
    return triangles[normals.any(axis=1)]


def _crossed_tetrahedra(
    value: Callable[[Floats], Floats], low: Floats, high: Floats, level: float
) -> tuple[Floats, NDArray[np.intp]]:
    """Return tetrahedra (t, 4, 3) of a grid with corners on both sides, by ascending value, and how many are below."""
    steps = np.stack(np.meshgrid(*3 * [np.arange(N_CELLS + 1)], indexing="ij"), axis=-1)
    grid = low + (high - low) * steps / N_CELLS
    values = value(grid)
    # A cell of the grid is six tetrahedra, each on a way from its lowest to its highest corner along the axes.
    units = np.eye(3, dtype=np.intp)
    ways = [np.cumsum([0 * units[0], *units[list(axes)]], axis=0) for axes in permutations(range(3))]
    corners = np.concatenate([steps[:-1, :-1, :-1].reshape(-1, 1, 3) + way for way in ways])
    n_below = (values < level)[tuple(corners.T)].sum(axis=0)
    crossed = (n_below > 0) & (n_below < 4)
    places = tuple(np.moveaxis(corners[crossed], -1, 0))
    order = values[places].argsort(axis=1, kind="stable")
    return np.take_along_axis(grid[places], order[..., None], axis=1), n_below[crossed]


def _cut_by_densities(corners: Floats) -> Floats:
    """Return the lines (c, 2, 3) in which triangles (t, 3, 3) cut the plane of numbers that sum to one."""
    excess = corners.sum(axis=2) - 1.0
    # A triangle that is cut has one corner alone on its side of the plane; it comes first.
    above = excess > 0
    crossing = np.flatnonzero(above.any(axis=1) & ~above.all(axis=1))
    alone = np.where(above[crossing].sum(axis=1) == 1, above[crossing].T, ~above[crossing].T).T.argmax(axis=1)
    order = (alone[:, None] + np.arange(3)) % 3
    corners = np.take_along_axis(corners[crossing], order[..., None], axis=1)
    excess = np.take_along_axis(excess[crossing], order, axis=1)
    shares = excess[:, :1] / (excess[:, :1] - excess[:, 1:])
    return corners[:, :1] + shares[..., None] * (corners[:, 1:] - corners[:, :1])


def _draw_in_space(ax: Any, surface: Floats, cut: Floats, origin: Floats) -> None:
    plane = Poly3DCollection([np.eye(3)], facecolor=MUTED, edgecolor=INK, linewidth=0.6, alpha=0.15)
    ax.add_collection3d(plane)
    if len(surface):
        ax.add_collection3d(Poly3DCollection(surface, facecolors=OKABE_ITO[5], alpha=0.45, shade=True, linewidth=0))
    if len(cut):
        ax.add_collection3d(Line3DCollection(cut, colors=OKABE_ITO[3], linewidths=1.6))
    ax.scatter(*origin[:, None], s=25, color=OKABE_ITO[3], depthshade=False)
    ax.set(xlim=(0, 1), ylim=(0, 1), zlim=(0, 1), xlabel="$p_1$", ylabel="$p_2$", zlabel="$p_3$")
    for axis in (ax.xaxis, ax.yaxis, ax.zaxis):
        axis.set_rotate_label(False)
    ax.set_box_aspect((1, 1, 1))
    ax.view_init(22, 30)
    ax.tick_params(labelsize="small")
