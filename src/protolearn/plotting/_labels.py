"""Words on the nodes of a lattice: written as large as there is room for, and never one over another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.font_manager import FontProperties
from matplotlib.patheffects import withStroke
from matplotlib.text import Text
from matplotlib.textpath import text_to_path

from protolearn.core.lattices import Lattice
from protolearn.core.types import Bools, Floats
from protolearn.plotting.cells import CORNERS, node_radii, points_per_unit
from protolearn.plotting.style import INK

__all__ = ["draw_labels"]

SMALLEST, EASY, LARGEST = 6.0, 8.0, 11.0  # font sizes in points, in the figure as it is
SMALLEST_DOT = 2.5  # radius in points of a dot that one can still tell from its neighbors
LINE = 1.3  # height of a line, in units of the font size
MARGIN = 1.1  # small letters are drawn a little wider than their outlines
OVERHANG = 1.5  # how much wider than its dot a word may be


def draw_labels(ax: Axes, lattice: Lattice, labels: Sequence[str]) -> list[Text]:
    """Write a label, of one or more lines, on each node that has one, and widen the Axes for those at the border.

    A word that does not fit on its dot in letters that one can read is written from there outwards. Where there is no
    room for that either, it is left out.
    """
    extents = np.array([label_extent(label) for label in labels])
    drawing = np.array([ax.get_xlim(), ax.get_ylim()]).T
    limits = drawing
    for _ in range(2):  # the first round tells how much room is needed beyond the border
        boxes = _arranged(lattice, extents, points_per_unit(ax, limits[1] - limits[0]))
        corners = np.concatenate([drawing, *(box.corners for box in boxes.values())])
        limits = np.array([corners.min(axis=0), corners.max(axis=0)])
    ax.set(xlim=limits[:, 0], ylim=limits[:, 1])
    return [ax.add_artist(ScaledText(box, labels[node])) for node, box in boxes.items()]  # type: ignore[misc]


@dataclass(frozen=True)
class LabelBox:
    """A place for a label: the middle of its box, the extent of the box, the angle of its lines, the font size."""

    center: Floats
    extent: Floats
    size: float
    angle: float = 0.0

    @property
    def corners(self) -> Floats:
        """The corners (4, 2), one after the other."""
        across = np.array([np.cos(self.angle), np.sin(self.angle)])
        signs = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
        return self.center + 0.5 * self.size * (signs * self.extent) @ [across, [-across[1], across[0]]]


class ScaledText(Text):
    """Text whose size is measured in units of the data, so that it keeps its place when a figure changes its size."""

    def __init__(self, box: LabelBox, text: str) -> None:
        look: dict[str, Any] = {"rotation_mode": "anchor", "ha": "center", "va": "center_baseline", "color": INK}
        x, y = box.center
        super().__init__(x, y, text, rotation=np.degrees(box.angle), parse_math=False, zorder=4, **look)
        self._units = box.size

    def draw(self, renderer: Any) -> None:
        self._rescale()
        super().draw(renderer)

    def get_window_extent(self, renderer: Any = None, dpi: float | None = None) -> Any:
        self._rescale()
        return super().get_window_extent(renderer, dpi)

    def _rescale(self) -> None:
        assert self.axes is not None
        pixels = np.ptp(self.axes.transData.transform([(0.0, 0.0), (0.0, self._units)])[:, 1])
        points = pixels * 72 / self.axes.figure.dpi
        self.set_fontsize(points)
        self.set_path_effects([withStroke(linewidth=0.2 * points, foreground="white", alpha=0.7)])


def label_extent(label: str) -> Floats:
    """Return width and height of a label, in units of its font size."""
    lines = label.split("\n")
    font = FontProperties(size=1.0)
    width = max(text_to_path.get_text_width_height_descent(line, font, ismath=False)[0] for line in lines)
    return np.array([MARGIN * width, LINE * len(lines)])


def _arranged(lattice: Lattice, extents: Floats, unit: float) -> dict[int, LabelBox]:
    """Return a box for the label of each node that has room for it, with ``unit`` points to a unit of the lattice."""
    sheet = lattice.kind in CORNERS
    points, radii = lattice.coordinates, node_radii(lattice)
    room = 2.0 * radii[:, None] * [0.95 if sheet else OVERHANG, 0.9]
    fitting = np.minimum((room / np.maximum(extents, 1e-9)).min(axis=1), LARGEST / unit)
    dots = np.array([LabelBox(point, np.full(2, 1.4), radius).corners for point, radius in zip(points, radii)])
    angles = _outward_angles(lattice)
    boxes: dict[int, LabelBox] = {}
    written = np.empty((0, 4, 2))
    for node in np.argsort(-fitting, kind="stable"):
        if extents[node, 0] == 0.0 or radii[node] * unit < SMALLEST_DOT:
            continue
        if sheet:
            taken = written
            places = _places(points[node], extents[node], fitting[node], [SMALLEST / unit])
        else:
            taken = np.concatenate([written, np.delete(dots, node, axis=0)])
            beyond = (1.15 * radii[node], angles[node])
            places = _places(points[node], extents[node], fitting[node], [EASY / unit, SMALLEST / unit], beyond)
        for box in places:
            if not _overlapping(box.corners, taken).any():
                boxes[int(node)] = box
                written = np.concatenate([written, box.corners[None]])
                break
    return boxes


def _places(
    point: Floats, extent: Floats, fitting: float, sizes: list[float], beyond: tuple[float, float] | None = None
) -> Iterator[LabelBox]:
    """Yield boxes for a label, best first: within its node or, in smaller letters, across it, or beyond its border.

    Without ``beyond``, the radius and direction in which to go on, labels stay on their nodes.
    """
    if fitting >= sizes[0]:
        yield LabelBox(point, extent, fitting)
    for size in sizes:
        yield LabelBox(point, extent, size)
        if beyond is not None:
            radius, angle = beyond
            along = np.array([np.cos(angle), np.sin(angle)])
            upright = angle if along[0] > -1e-9 else angle + np.pi
            yield LabelBox(point + (radius + 0.5 * size * extent[0]) * along, extent, size, upright)


def _outward_angles(lattice: Lattice) -> Floats:
    """Return the direction (k,) in which there is most room beside a node: away from the middle, or from a chain."""
    points = lattice.coordinates
    across, up = (points if lattice.kind == "hyperbolic" else points - points.mean(axis=0)).T
    return np.arctan2(up, across) if up.any() else np.full(len(points), np.pi / 2)


def _overlapping(corners: Floats, others: Floats) -> Bools:
    """Tell which of other rectangles (m, 4, 2) meet one of corners (4, 2): no line along a side keeps them apart."""
    found = ~((others.min(axis=1) > corners.max(axis=0)) | (others.max(axis=1) < corners.min(axis=0))).any(axis=1)
    near = others[found]  # few, as a rule
    own = np.broadcast_to(corners, near.shape)
    # Of a rectangle, the direction of a side is the normal of the next one.
    normals = np.concatenate([np.diff(sides[:, :3], axis=1) for sides in (own, near)], axis=1)
    mine, theirs = (np.einsum("mpc,mac->mpa", part, normals) for part in (own, near))
    apart = (mine.min(axis=1) > theirs.max(axis=1)) | (theirs.min(axis=1) > mine.max(axis=1))
    found[found] = ~apart.any(axis=1)
    return found
