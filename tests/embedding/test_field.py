"""Sums over pairs on a grid are those of all pairs, wherever the points lie."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protolearn.core.threads import Threads
from protolearn.embedding._fields import Field, Grid
from protolearn.embedding.affinities import GaussianKernel, StudentKernel


def slow(points, kernel, power, charges=None):
    """Return sums over all other points, and their gradients with respect to each point."""
    apart = points[:, None] - points
    r = (apart**2).sum(axis=2)
    k = kernel.weights(r) ** power * (1.0 if charges is None else charges)
    np.fill_diagonal(k, 0.0)
    return k.sum(axis=1), -2.0 * power * ((k * kernel.decay(r))[:, :, None] * apart).sum(axis=1)


def on_grid(points, kernel, power, grid=None):
    grid = Grid(points, kernel.width(power)) if grid is None else grid
    return grid, Field(grid, points, Threads()), kernel.weights(grid.squares) ** power


def assert_close(found, true, tolerance):
    assert np.linalg.norm(found - true) <= tolerance * np.linalg.norm(true)


def clusters(seed, n=200, size=20.0):
    rng = np.random.default_rng(seed)
    return size * rng.normal(size=(8, 2))[rng.integers(8, size=n)] + 2.0 * rng.normal(size=(n, 2))


KERNELS = [
    (StudentKernel(), 1.0),
    (StudentKernel(), 2.0),
    (StudentKernel(0.5), 1.5),
    (StudentKernel(4.0), 1.0),
    (GaussianKernel(), 1.0),
    (GaussianKernel(), 2.0),
]


@pytest.mark.parametrize(("kernel", "power"), KERNELS)
@pytest.mark.parametrize("size", [1e-4, 0.3, 20.0])
def test_sums_and_gradients(kernel, power, size):
    points = clusters(0, size=20.0) * (size / 20.0)
    grid, field, k = on_grid(points, kernel, power)
    values, gradients = field.potential(grid.waves(k))
    true_values, true_gradients = slow(points, kernel, power)
    assert_close(values, true_values, 1e-3)
    assert_close(gradients, true_gradients, 0.01)
    np.testing.assert_allclose(field.sum_over_pairs(grid.waves(k)), true_values.sum(), rtol=1e-3)


@settings(max_examples=15, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    n=st.integers(20, 80),
    stretch=st.sampled_from([1e-3, 0.1, 1.0, 30.0]),
    shift=st.sampled_from([0.0, -7.3, 1e4]),
)
def test_any_points(seed, n, stretch, shift):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(n, 2)) * [5.0, 5.0 * stretch] + shift
    grid, field, k = on_grid(points, StudentKernel(), 1.0)
    values, gradients = field.potential(grid.waves(k))
    true_values, true_gradients = slow(points, StudentKernel(), 1.0)
    assert_close(values, true_values, 2e-3)
    assert_close(gradients, true_gradients, 0.02)


def test_charges():
    points = clusters(1)
    charges = np.random.default_rng(2).normal(size=len(points))
    grid, field, k = on_grid(points, StudentKernel(), 1.0)
    values, gradients = field.potential(grid.waves(k), charges)
    true_values, true_gradients = slow(points, StudentKernel(), 1.0, charges)
    assert_close(values, true_values, 2e-3)
    assert_close(gradients, true_gradients, 0.01)


def test_any_kernel_by_its_values():
    points = clusters(3)
    grid = Grid(points, 2.0)
    kernel = np.cos(np.sqrt(grid.squares) / 10.0) / (4.0 + grid.squares)
    apart = points[:, None] - points
    r = (apart**2).sum(axis=2)
    k = np.cos(np.sqrt(r) / 10.0) / (4.0 + r)
    np.fill_diagonal(k, 0.0)
    field = Field(grid, points, Threads())
    assert_close(field.potential(grid.waves(kernel))[0], k.sum(axis=1), 1e-3)
    np.testing.assert_allclose(field.sum_over_pairs(grid.waves(kernel)), k.sum(), rtol=1e-3)


def test_no_point_acts_on_itself():
    for place in np.random.default_rng(0).uniform(-5.0, 5.0, size=(20, 2)):
        grid = Grid(np.array([[-10.0, -10.0], [10.0, 10.0]]), 1.0)
        field = Field(grid, place[None], Threads())
        values, gradients = field.potential(grid.waves(1.0 / (1.0 + grid.squares)))
        np.testing.assert_allclose(values, 0.0, atol=1e-3)
        np.testing.assert_allclose(gradients, 0.0, atol=1e-3)


def test_points_on_the_border_of_the_grid():
    grid = Grid(np.array([[-10.0, -10.0], [10.0, 10.0]]), 1.0)
    low, high = grid.low, grid.low + grid.extent
    inside = np.random.default_rng(0).uniform(-9.0, 9.0, size=(20, 2))
    points = np.vstack([low, high, [low[0], high[1]], [high[0], 0.0], [0.0, low[1]], inside])
    assert grid.suits(points, 1.0)
    _, field, k = on_grid(points, StudentKernel(), 1.0, grid)
    values, gradients = field.potential(grid.waves(k))
    true_values, true_gradients = slow(points, StudentKernel(), 1.0)
    assert_close(values, true_values, 1e-3)
    assert_close(gradients, true_gradients, 0.01)
    np.testing.assert_allclose(field.sum_over_pairs(grid.waves(k)), true_values.sum(), rtol=1e-3)


def test_points_on_nodes():
    grid = Grid(np.array([[-10.0, -10.0], [10.0, 10.0]]), 1.0)
    rng = np.random.default_rng(0)
    points = grid.low + grid.step * rng.integers(3, 20, size=(30, 2))
    points = np.unique(points, axis=0)
    _, field, k = on_grid(points, StudentKernel(), 1.0, grid)
    values, gradients = field.potential(grid.waves(k))
    true_values, true_gradients = slow(points, StudentKernel(), 1.0)
    assert_close(values, true_values, 1e-3)
    assert_close(gradients, true_gradients, 0.01)


def test_when_a_grid_suits():
    points = clusters(0)
    grid = Grid(points, 1.0)
    assert grid.suits(points, 1.0)
    assert not grid.suits(points, 0.5)
    assert not grid.suits(0.5 * points, 1.0)
    assert not grid.suits(1.2 * points, 1.0)
    assert not grid.suits(points + 3.0 * grid.extent, 1.0)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_lost_points_are_an_error(bad):
    points = clusters(0)
    points[3, 1] = bad
    with pytest.raises(ValueError, match="diverged"):
        Grid(points, 1.0)


def test_coinciding_points():
    points = np.ones((30, 2))
    grid, field, k = on_grid(points, StudentKernel(), 1.0)
    values, gradients = field.potential(grid.waves(k))
    np.testing.assert_allclose(values, 29.0, rtol=1e-6)
    np.testing.assert_allclose(gradients, 0.0, atol=1e-2)
    np.testing.assert_allclose(field.sum_over_pairs(grid.waves(k)), 30 * 29, rtol=1e-6)


def test_threads_change_nothing_but_rounding():
    points = clusters(4)
    grid, field, k = on_grid(points, StudentKernel(), 1.0)
    other = Field(grid, points, Threads(3, least=20))
    for a, b in zip(field.potential(grid.waves(k)), other.potential(grid.waves(k))):
        np.testing.assert_allclose(b, a, atol=1e-5 * np.abs(a).max())


def test_sums_do_not_spoil_each_other():
    points = clusters(5)
    grid, field, k = on_grid(points, StudentKernel(), 1.0)
    before = field.potential(grid.waves(k))
    first = field.sum_over_pairs(grid.waves(k))
    field.sum_over_pairs(grid.waves(k**2))
    after = field.potential(grid.waves(k))
    np.testing.assert_array_equal(after[0], before[0])
    np.testing.assert_array_equal(after[1], before[1])
    assert field.sum_over_pairs(grid.waves(k)) == first
