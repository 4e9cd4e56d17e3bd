"""Cells have the right shape and place, whatever the lattice."""

import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.collections import LineCollection, PatchCollection
from matplotlib.patches import Circle

from protolearn.core.lattices import (
    Lattice,
    chain,
    from_distances,
    from_graph,
    hexagonal,
    hyperbolic,
    rectangular,
    tree,
)
from protolearn.plotting.cells import draw_cells, draw_pies, edge_lines, node_radii

STAR = np.zeros((9, 9))
STAR[0, 1:] = STAR[1:, 0] = 1.0

DOTTED = [chain(7), chain(1), chain(8, periodic=True), tree(3, 3), tree(2, 0), hyperbolic(7, 3), hyperbolic(9, 2)]


def drawn(lattice: Lattice) -> PatchCollection:
    return draw_cells(plt.figure().add_subplot(), lattice, values=np.arange(lattice.n_nodes, dtype=float))


def corners(cells: PatchCollection) -> list[np.ndarray]:
    """Corners of each cell, without the one that closes the outline."""
    outlines = [path.to_polygons(closed_only=False)[0] for path in cells.get_paths()]
    return [np.unique(outline.round(9), axis=0) for outline in outlines]


def shared(first: np.ndarray, second: np.ndarray) -> int:
    return int((np.abs(first[:, None] - second).max(axis=2) < 1e-6).any(axis=1).sum())


@pytest.mark.parametrize(
    ("lattice", "n_corners"), [(rectangular(3, 4), 4), (hexagonal(4, 3), 6), (hexagonal(4, 3, periodic=True), 6)]
)
def test_cells_of_a_sheet_are_regular_polygons_around_the_nodes(lattice: Lattice, n_corners: int) -> None:
    cells = corners(drawn(lattice))
    assert len(cells) == lattice.n_nodes
    for cell, node in zip(cells, lattice.coordinates):
        assert len(cell) == n_corners
        radii = np.hypot(*(cell - node).T)
        np.testing.assert_allclose(radii, 0.5 / np.cos(np.pi / n_corners), atol=1e-8)


@pytest.mark.parametrize("lattice", [rectangular(3, 4), hexagonal(4, 3)])
def test_neighbors_share_a_side_and_no_others_do(lattice: Lattice) -> None:
    cells = corners(drawn(lattice))
    joined = {tuple(edge) for edge in lattice.edges.tolist()}
    for i in range(lattice.n_nodes):
        for j in range(i + 1, lattice.n_nodes):
            assert (shared(cells[i], cells[j]) == 2) == ((i, j) in joined)


def test_sheets_fill_the_axes() -> None:
    lattice = rectangular(3, 4)
    ax = drawn(lattice).axes
    assert ax is not None
    np.testing.assert_allclose([*ax.get_xlim(), *ax.get_ylim()], [-0.5, 3.5, -0.5, 2.5], atol=1e-9)
    assert not ax.get_xticks().size
    assert not ax.get_yticks().size
    assert ax.get_aspect() == 1


@pytest.mark.parametrize("lattice", [*DOTTED, from_graph(STAR), from_distances([[0, 1, 3], [1, 0, 2], [3, 2, 0]])])
def test_dots_lie_at_the_coordinates_of_the_lattice(lattice: Lattice) -> None:
    cells = drawn(lattice)
    boxes = [path.get_extents() for path in cells.get_paths()]
    centers = np.array([(box.p0 + box.p1) / 2 for box in boxes])
    np.testing.assert_allclose(centers, lattice.coordinates, atol=1e-6)
    widths = np.array([box.width for box in boxes])
    np.testing.assert_allclose(widths / 2, node_radii(lattice), rtol=1e-3)
    assert (widths > 0).all()


@pytest.mark.parametrize("lattice", DOTTED)
def test_dots_do_not_touch(lattice: Lattice) -> None:
    radii = node_radii(lattice)
    gaps = np.hypot(*(lattice.coordinates[:, None] - lattice.coordinates).T) - (radii[:, None] + radii)
    assert (gaps[~np.eye(lattice.n_nodes, dtype=bool)] > 0).all()


def test_dots_at_the_same_place_do_not_make_the_others_vanish() -> None:
    points = [[0, 0], [0, 0], [1e-9, 0], [1e-3, 1], [0, 1], [3, 1]]
    radii = node_radii(from_graph(np.ones((6, 6)), coordinates=points))
    assert radii.min() > 0.01


def test_dots_of_the_disc_shrink_towards_the_border_and_stay_inside() -> None:
    lattice = hyperbolic(7, 3)
    distance = np.hypot(*lattice.coordinates.T)
    radii = node_radii(lattice)[np.argsort(distance)]
    assert (np.diff(radii) <= 1e-12).all()
    assert radii[-1] < radii[0] / 3
    assert (distance + node_radii(lattice) < 1).all()


def test_the_border_of_the_disc_is_drawn_once_and_only_for_hyperbolic_lattices() -> None:
    for lattice in (hyperbolic(7, 2), chain(5)):
        ax = drawn(lattice).axes
        assert ax is not None
        circles = [patch for patch in ax.patches if isinstance(patch, Circle)]
        assert [circle.radius for circle in circles] == ([1.0] if lattice.kind == "hyperbolic" else [])


def test_geodesics_are_shortest_ways() -> None:
    lattice = hyperbolic(7, 3)
    lines = edge_lines(lattice)
    z = lines[..., 0] + 1j * lines[..., 1]
    assert (np.abs(z) < 1).all()
    np.testing.assert_allclose(lines[:, [0, -1]], lattice.coordinates[lattice.edges], atol=1e-12)
    steps = 2 * np.arctanh(np.abs((z[:, 1:] - z[:, :-1]) / (1 - z[:, 1:].conj() * z[:, :-1])))
    length = 2 * np.arctanh(np.abs((z[:, -1] - z[:, 0]) / (1 - z[:, -1].conj() * z[:, 0])))
    np.testing.assert_allclose(steps.sum(axis=1), length, rtol=1e-9)
    # Edges along a ring bend towards the center.
    middle, straight = np.abs(z[:, 8]), np.abs((z[:, 0] + z[:, -1]) / 2)
    assert (middle < straight - 1e-3).any()


@pytest.mark.parametrize("lattice", [chain(4), tree(2, 2), chain(5, periodic=True)])
def test_edges_are_drawn_between_the_nodes(lattice: Lattice) -> None:
    ax = drawn(lattice).axes
    assert ax is not None
    (lines,) = [part for part in ax.collections if isinstance(part, LineCollection)]
    np.testing.assert_allclose(np.array(lines.get_segments()), lattice.coordinates[lattice.edges])


@pytest.mark.parametrize("lattice", [rectangular(2, 2), chain(4)])
def test_colors_follow_the_values(lattice: Lattice) -> None:
    values = np.ma.masked_array([1.0, 3.0, 2.0, 0.0], mask=[False, False, False, True])
    cells = draw_cells(plt.figure().add_subplot(), lattice, values=values, cmap="cividis")
    cells.update_scalarmappable()
    expected = plt.get_cmap("cividis")([0.0, 1.0, 0.5])
    np.testing.assert_allclose(np.asarray(cells.get_facecolor())[:3], expected, atol=1e-12)
    lightness = np.asarray(cells.get_facecolor())[3, :3]
    assert np.ptp(lightness) == 0  # what is masked is gray


@pytest.mark.parametrize("lattice", [rectangular(2, 2), hyperbolic(7, 1)])
def test_pies_have_the_area_and_the_shares_given(lattice: Lattice) -> None:
    k = lattice.n_nodes
    areas = np.linspace(0, 1, k)
    shares = np.tile([0.25, 0.0, 0.75], (k, 1))
    colors = np.eye(3)
    pies = draw_pies(plt.figure().add_subplot(), lattice, areas, shares, colors)
    outlines = [np.vstack(path.to_polygons()) for path in pies.get_paths()]
    found = np.array([area(outline) for outline in outlines]).reshape(k - 1, 2)  # none in the empty node
    full = np.pi * (0.85 * node_radii(lattice)) ** 2
    np.testing.assert_allclose(found, (full * areas)[1:, None] * [0.25, 0.75], rtol=0.02)
    np.testing.assert_allclose(np.asarray(pies.get_facecolor())[:, :3], np.tile(colors[[0, 2]], (k - 1, 1)))
    quarter = outlines[0].mean(axis=0) - lattice.coordinates[1]
    assert (quarter > 0).all()  # the first share starts at the top, clockwise


def area(corners: np.ndarray) -> float:
    x, y = (corners - corners.mean(axis=0)).T
    return 0.5 * abs(x @ np.roll(y, -1) - y @ np.roll(x, -1))
