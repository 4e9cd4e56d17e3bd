import numpy as np
import pytest
from scipy.spatial import ConvexHull
from scipy.spatial.distance import pdist, squareform

from protolearn.embedding.structures import class_centers, gaussian_mixture, triangular_mesh, uniform


@pytest.mark.parametrize("shape", ["hexagon", "circle", "square"])
@pytest.mark.parametrize("n_points", [1, 7, 48, 200, 562])
def test_a_mesh_has_so_many_points_with_this_spacing(shape, n_points):
    mesh = triangular_mesh(shape, n_points, spacing=10.0)
    assert mesh.shape == (n_points, 2)
    if n_points > 1:
        distances = squareform(pdist(mesh))
        np.fill_diagonal(distances, np.inf)
        np.testing.assert_allclose(distances.min(axis=1), 10.0)
        n_neighbors = (distances < 10.01).sum(axis=1)
        assert n_neighbors.max() <= 6
        assert n_neighbors[0] == 6


@pytest.mark.parametrize(("shape", "expected"), [("hexagon", 1.5 * np.sqrt(3)), ("circle", np.pi), ("square", 2.0)])
def test_a_mesh_fills_its_outline(shape, expected):
    mesh = triangular_mesh(shape, 1000)
    area = ConvexHull(mesh).volume
    cell = np.sqrt(3) / 2
    assert area == pytest.approx(1000 * cell, rel=0.1)
    reach = np.hypot(*mesh.T).max()
    assert area / reach**2 == pytest.approx(expected, rel=0.1)


def test_full_hexagons_are_symmetric():
    for rings in range(1, 6):
        mesh = triangular_mesh("hexagon", 1 + 3 * rings * (rings + 1))
        assert np.hypot(*mesh.T).max() == pytest.approx(rings)
        turn = np.array([[0.5, -np.sqrt(0.75)], [np.sqrt(0.75), 0.5]])
        assert {tuple(p) for p in (mesh @ turn).round(6) + 0.0} == {tuple(p) for p in mesh.round(6) + 0.0}


def test_more_points_are_added_outside():
    np.testing.assert_array_equal(triangular_mesh("circle", 300)[:100], triangular_mesh("circle", 100))


def test_uniform_points_fill_the_box():
    points = uniform(4000, 3, side=2.0, random_state=0)
    assert np.abs(points).max() <= 1.0
    np.testing.assert_allclose(np.histogramdd(points, bins=2)[0], 500, rtol=0.2)
    np.testing.assert_array_equal(points, uniform(4000, 3, side=2.0, random_state=0))
    assert np.ptp(uniform(400, 2, random_state=0), axis=0).max() <= 20.0


def test_gaussian_mixture_has_its_centers_and_spread():
    centers = np.array([[0.0, 0.0, 5.0], [10.0, 0.0, 0.0]])
    points = gaussian_mixture(centers, 4000, spread=0.5, random_state=1)
    for i, center in enumerate(centers):
        np.testing.assert_allclose(points[i::2].mean(axis=0), center, atol=0.05)
        np.testing.assert_allclose(points[i::2].std(axis=0), 0.5, rtol=0.1)


@pytest.mark.parametrize(("n_classes", "n_components"), [(3, 2), (4, 3), (5, 7), (2, 1), (2, 2), (2, 4)])
def test_class_centers_are_equally_far_apart_where_there_is_room(n_classes, n_components):
    centers = class_centers(n_classes, n_components, spacing=3.0)
    assert centers.shape == (n_classes, n_components)
    np.testing.assert_allclose(pdist(centers), 3.0)
    np.testing.assert_allclose(centers.mean(axis=0), 0.0, atol=1e-12)


@pytest.mark.parametrize(("n_classes", "n_components"), [(5, 2), (8, 3), (6, 1)])
def test_class_centers_are_a_polygon_or_a_row_elsewhere(n_classes, n_components):
    centers = class_centers(n_classes, n_components, spacing=2.0)
    np.testing.assert_allclose(np.linalg.norm(np.diff(centers, axis=0), axis=1), 2.0)
    if n_components > 1:
        np.testing.assert_allclose(np.linalg.norm(centers, axis=1), np.linalg.norm(centers[0]))


@pytest.mark.parametrize(
    ("make", "arguments", "message"),
    [
        (triangular_mesh, {"shape": "star"}, "shape='star' must be one of"),
        (triangular_mesh, {"n_points": 0}, "n_points=0"),
        (triangular_mesh, {"spacing": 0.0}, r"spacing=0.0 must be a number in \(0"),
        (uniform, {"side": -1.0}, "side=-1.0"),
        (uniform, {"n_components": 0}, "n_components=0"),
        (gaussian_mixture, {"centers": [[np.nan]]}, "NaN"),
        (gaussian_mixture, {"centers": [[1.0]], "spread": -1}, "spread=-1"),
        (class_centers, {"n_classes": 1}, "n_classes=1"),
    ],
)
def test_bad_structures_are_refused(make, arguments, message):
    with pytest.raises(ValueError, match=message):
        make(**arguments)
