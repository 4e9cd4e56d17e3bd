"""Voronoi cells partition the box, and each is where its point is the nearest."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from matplotlib.path import Path

from protolearn.plotting._features import voronoi_cells

LOW, HIGH = np.array([-1.0, -0.5]), np.array([2.0, 1.5])


def area(corners: np.ndarray) -> float:
    """Positive if the corners go counterclockwise."""
    x, y = (corners - corners[0]).T
    return 0.5 * float(x @ np.roll(y, -1) - y @ np.roll(x, -1))


def total_area(points: np.ndarray, cells: list[np.ndarray]) -> float:
    """Area of all cells, one that equal points share counted once."""
    return sum(area(cells[i]) for i in np.unique(points, axis=0, return_index=True)[1])


def holds(cell: np.ndarray, point: np.ndarray) -> bool:
    """Whether the triangles of the point and any side of the convex cell have its orientation, up to rounding."""
    return all(area(np.array([point, *side])) >= -1e-9 for side in zip(cell, np.roll(cell, -1, axis=0)))


def in_box(n_points: int) -> st.SearchStrategy[np.ndarray]:
    grid = st.integers(0, 40).map(lambda step: step / 40)  # with equal points, and many on common circles
    fine = st.floats(0, 1).map(lambda value: round(value, 15))
    return arrays(float, (n_points, 2), elements=st.one_of(grid, fine))


@settings(max_examples=60, deadline=None)
@given(points=st.integers(1, 12).flatmap(in_box))
def test_cells_partition_the_box(points: np.ndarray) -> None:
    cells = voronoi_cells(points, LOW, HIGH)
    assert len(cells) == len(points)
    for cell, point in zip(cells, points):
        assert (cell >= LOW).all()
        assert (cell <= HIGH).all()
        assert area(cell) > 0
        assert holds(cell, point)
    assert total_area(points, cells) == pytest.approx(np.prod(HIGH - LOW), rel=1e-9)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_the_nearest_point_owns_the_place(scale: float) -> None:
    rng = np.random.default_rng(0)
    points = rng.random((15, 2))
    cells = [Path(cell) for cell in voronoi_cells(points * scale, LOW * scale, HIGH * scale)]
    places = rng.uniform(LOW, HIGH, (300, 2))
    for place in places:
        nearest = ((points - place) ** 2).sum(axis=1).argmin()
        assert cells[nearest].contains_point(place * scale)


def test_far_from_the_origin() -> None:
    points = np.random.default_rng(1).random((9, 2))
    near = voronoi_cells(points, LOW, HIGH)
    far = voronoi_cells(points + 1e6, LOW + 1e6, HIGH + 1e6)
    for here, there in zip(near, far):
        assert area(there - 1e6) == pytest.approx(area(here), rel=1e-6)


@pytest.mark.parametrize("gap", [0.0, 1e-15, 1e-13, 1e-11, 1e-9, 1e-8, 1e-7, 1e-6])
def test_points_that_nearly_coincide(gap: float) -> None:
    base = np.random.default_rng(2).random((6, 2))
    points = np.concatenate([base, base[:3] + gap])
    cells = voronoi_cells(points, LOW, HIGH)
    assert all(holds(cell, point) for cell, point in zip(cells, points))
    assert total_area(points, cells) == pytest.approx(np.prod(HIGH - LOW), rel=1e-9)
