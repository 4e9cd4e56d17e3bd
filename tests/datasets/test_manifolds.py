"""Samples without noise lie on their surfaces, classes follow the coordinates, and neighbors err as often as known."""

from functools import partial

import numpy as np
import pytest
from scipy.stats import kstest
from sklearn.neighbors import NearestNeighbors

from experiments.datasets import (
    make_corner_planes,
    make_gaussian_surface,
    make_hd_manifold,
    make_punctured_sphere,
    make_toroidal_helix,
)
from protolearn.datasets import make_swiss_roll, make_twin_peaks

# name: (generator, samples for 2000, features, coordinates, error of the nearest neighbor in percent in the thesis)
MANIFOLDS = {
    "swiss roll": (make_swiss_roll, 2000, 3, 2, 3.36),
    "roll with a hole": (partial(make_swiss_roll, hole=True), 2000, 3, 2, 3.28),
    "broken roll": (partial(make_swiss_roll, broken=True), 2000, 3, 2, 4.23),
    "toroidal helix": (make_toroidal_helix, 2000, 3, 1, 1.29),
    "twin peaks": (make_twin_peaks, 2000, 3, 2, 0.73),
    "corner planes": (make_corner_planes, 2115, 3, 2, 10.38),
    "punctured sphere": (make_punctured_sphere, 2000, 3, 2, 6.64),
    "gaussian surface": (make_gaussian_surface, 2000, 3, 2, 6.30),
    "hd manifold": (make_hd_manifold, 3125, 10, 5, 23.73),
}
GRIDS = ("toroidal helix", "corner planes", "punctured sphere", "hd manifold")
NOISE = {"punctured sphere": 0.005, "gaussian surface": 0.0}

each = pytest.mark.parametrize("name", MANIFOLDS)


def is_uniform(values, low, high):
    return kstest(values, "uniform", (low, high - low)).pvalue > 1e-3


class TestEveryManifold:
    @each
    def test_shapes(self, name):
        make, n_samples, n_features, n_coordinates, _ = MANIFOLDS[name]
        X, coordinates, y = make(random_state=0)
        assert X.shape == (n_samples, n_features)
        assert coordinates.shape == (n_samples, n_coordinates)
        assert y.shape == (n_samples,)
        assert X.dtype == coordinates.dtype == np.float64
        assert np.isfinite(X).all()
        assert set(y) == {0, 1}
        assert y.mean() == pytest.approx(0.5, abs=0.06)

    @each
    def test_the_seed_decides(self, name):
        make = MANIFOLDS[name][0]
        rng = np.random.RandomState(3)
        first, second, again = (
            make(noise=0.05, random_state=rng),
            make(noise=0.05, random_state=rng),
            make(noise=0.05, random_state=3),
        )
        for one, other in zip(first, again):
            np.testing.assert_array_equal(one, other)
        assert not np.array_equal(first[0], second[0])
        assert np.array_equal(first[1], second[1]) == (name in GRIDS)

    @each
    def test_noise_is_the_standard_deviation_along_each_axis(self, name):
        make = MANIFOLDS[name][0]
        clean, noisy = make(noise=0, random_state=0), make(noise=0.3, random_state=0)
        np.testing.assert_array_equal(clean[1], noisy[1])
        errors = noisy[0] - clean[0]
        if name == "twin peaks":
            errors[:, 2] /= 10
        for column in errors.T:
            assert kstest(column / 0.3, "norm").pvalue > 1e-3
        np.testing.assert_allclose(np.corrcoef(errors.T), np.eye(errors.shape[1]), atol=0.1)
        usual = make(random_state=0)[0] - clean[0]
        assert usual[:, 0].std() == pytest.approx(NOISE.get(name, 0.05), rel=0.1)

    @each
    def test_neighbors_err_as_often_as_is_known(self, name):
        """Means of five sets of samples have a standard error of up to 0.4, the known ones of up to 0.3."""
        make, *_, known = MANIFOLDS[name]
        errors = []
        for seed in range(5):
            X, _, y = make(random_state=seed)
            neighbor = NearestNeighbors(n_neighbors=1).fit(X).kneighbors(return_distance=False)[:, 0]
            errors.append(100 * np.mean(y[neighbor] != y))
        assert np.mean(errors) == pytest.approx(known, abs=0.3 + 0.08 * known)

    @each
    @pytest.mark.parametrize("n_samples", [1, 2, 7])
    def test_few_samples(self, name, n_samples):
        make = MANIFOLDS[name][0]
        for seed in range(5):
            X, coordinates, y = make(n_samples, random_state=seed)
            assert len(X) == len(coordinates) == len(y)
            assert len(X) == n_samples or name in ("corner planes", "hd manifold")

    @each
    def test_errors(self, name):
        make = MANIFOLDS[name][0]
        with pytest.raises(ValueError, match=r"n_samples=0 must be an integer in .1, inf."):
            make(0)
        with pytest.raises(ValueError, match=r"noise=-1\.0 must be a number in .0, inf."):
            make(noise=-1.0)


class TestSwissRoll:
    @pytest.mark.parametrize("kind", [{}, {"hole": True}, {"broken": True}], ids=str)
    def test_the_sheet(self, kind):
        X, coordinates, _ = make_swiss_roll(noise=0, random_state=0, **kind)
        t, height = coordinates.T
        np.testing.assert_allclose(X[:, 0] + 1j * X[:, 2], t * np.exp(1j * t))
        np.testing.assert_array_equal(X[:, 1], height)

    def test_whole(self):
        _, (t, height), y = transposed(make_swiss_roll(20_000, random_state=0))
        assert is_uniform(t, 1.5 * np.pi, 4.5 * np.pi)
        assert is_uniform(height, 0, 21)
        np.testing.assert_array_equal(y, np.round(t) % 2)

    def test_hole(self):
        _, (t, height), y = transposed(make_swiss_roll(20_000, hole=True, random_state=0))
        assert len(t) == 20_000
        beside = (t > 9) & (t < 12)
        assert not (beside & (height > 9) & (height < 14)).any()
        assert is_uniform(t[height < 9], 1.5 * np.pi, 4.5 * np.pi)
        assert is_uniform(height[~beside], 0, 21)
        for low, high in ((8.5, 9), (14, 14.5)):  # up to its border there are as many as elsewhere
            near = (height > low) & (height < high)
            assert (near & beside).sum() / near.sum() == pytest.approx(3 / (3 * np.pi), abs=0.07)
        np.testing.assert_array_equal(y, np.round(t) % 2)

    def test_broken(self):
        _, (t, height), y = transposed(make_swiss_roll(20_001, broken=True, random_state=0))
        assert is_uniform(t[:10_000], 1.5 * np.pi, 2.7 * np.pi)
        assert is_uniform(t[10_000:], 3.3 * np.pi, 4.5 * np.pi)
        assert is_uniform(height, 0, 30)
        np.testing.assert_array_equal(y, (np.round(t / 2) + np.round(height / 12)) % 2)

    def test_one_or_the_other(self):
        with pytest.raises(ValueError, match="hole=True and broken=True cannot be combined"):
            make_swiss_roll(hole=True, broken=True)


class TestToroidalHelix:
    def test_the_curve_winds_around_a_torus_eight_times(self):
        X, (t,), y = transposed(make_toroidal_helix(noise=0))
        np.testing.assert_allclose(np.diff(t), 2 * np.pi / 2000)
        assert t[-1] == pytest.approx(2 * np.pi)
        ring = np.hypot(X[:, 0], X[:, 1])
        np.testing.assert_allclose((ring - 2) ** 2 + X[:, 2] ** 2, 1)
        np.testing.assert_allclose(np.unwrap(np.arctan2(X[:, 1], X[:, 0])), t)
        assert np.ptp(np.unwrap(np.arctan2(X[:, 2], ring - 2))) == pytest.approx(16 * np.pi, rel=1e-3)
        np.testing.assert_array_equal(y, np.round(1.5 * t) % 2)


class TestTwinPeaks:
    def test_the_surface(self):
        X, (a, b), _ = transposed(make_twin_peaks(20_000, noise=0, random_state=0))
        np.testing.assert_array_equal(X[:, :2].T, [a, b])
        np.testing.assert_allclose(X[:, 2], 10 * np.sin(np.pi * a) * np.tanh(3 * b))
        assert is_uniform(a, -1, 1)
        assert is_uniform(b, -1, 1)

    def test_classes_are_bands_of_the_height(self):
        X, _, y = make_twin_peaks(random_state=0)
        height = X[:, 2]
        low = height.min()
        assert low == pytest.approx(-11, abs=0.5)
        np.testing.assert_array_equal(y, (height >= -15 - low) & (height < -5 - low))


class TestCornerPlanes:
    def test_two_planes_meet_at_the_fold(self):
        X, (along, across), y = transposed(make_corner_planes(noise=0))
        assert {*map(tuple, np.column_stack([along, across]))} == {(i, j) for i in range(45) for j in range(47)}
        np.testing.assert_array_equal(X[:, 0], along)
        flat = across <= 23
        np.testing.assert_array_equal(X[flat, 1], across[flat])
        assert not X[flat, 2].any()
        np.testing.assert_allclose(X[~flat, 1] - 23, X[~flat, 2])  # 45 degrees
        np.testing.assert_allclose(np.hypot(X[~flat, 1] - 23, X[~flat, 2]), across[~flat] - 23)
        np.testing.assert_array_equal(y, ((along + 5) // 10 + (across + 5) // 10) % 2)


class TestPuncturedSphere:
    def test_a_disc_projected_on_a_sphere(self):
        X, coordinates, y = make_punctured_sphere(noise=0)
        np.testing.assert_allclose(np.linalg.norm(X - [0, 0, 1], axis=1), 1)
        # The pole, a sample and its place in the plane are on a line.
        np.testing.assert_allclose(2 * X[:, :2] / (2 - X[:, 2:]), coordinates)
        assert (np.diff(X[:, 2]) > -1e-12).all()
        assert 1.7 < X[:, 2].max() < 1.75
        np.testing.assert_array_equal(y, (np.floor(coordinates / 3).sum(axis=1)) % 2)

    def test_a_grid_on_a_disc(self):
        _, coordinates, _ = make_punctured_sphere()
        step = 9 / np.sqrt(2000)
        nodes = (coordinates + 5) / step
        np.testing.assert_allclose(nodes, np.round(nodes), atol=1e-9)
        assert len(np.unique(np.round(nodes), axis=0)) == 2000
        radii = np.hypot(*coordinates.T)
        assert radii.max() < 5.1
        full = {
            (i, j) for i in range(50) for j in range(50) if np.hypot(i * step - 5, j * step - 5) < radii.max() - 1e-9
        }
        assert full <= {*map(tuple, np.round(nodes).astype(int))}


class TestGaussianSurface:
    def test_the_bell(self):
        X, coordinates, y = make_gaussian_surface(20_000, random_state=0)
        np.testing.assert_array_equal(X[:, :2], coordinates)
        np.testing.assert_allclose(X[:, 2], np.prod(np.exp(-(coordinates**2) / 2) / np.sqrt(2 * np.pi), axis=1))
        for column in coordinates.T:
            assert kstest(column, "norm").pvalue > 1e-3
        np.testing.assert_array_equal(y, np.round(coordinates).sum(axis=1) % 2)


class TestHDManifold:
    def test_features_are_functions_of_the_coordinates(self):
        X, t, y = make_hd_manifold(noise=0)
        assert len(np.unique(t, axis=0)) == 3125
        np.testing.assert_array_equal(np.unique(t), [0, 0.25, 0.5, 0.75, 1])
        for row in (0, 77, 1234, 3124):
            t1, t2, t3, t4, t5 = t[row]
            expected = [np.cos(t1), np.tanh(3 * t2), t1 + t3, t4 * np.sin(t2), np.sin(t1 + t5)]
            expected += [t5 * np.cos(t2), t5 + t4, t2, t3 * t4, t1]
            np.testing.assert_allclose(X[row], expected)
        np.testing.assert_array_equal(y, (t >= 0.5).sum(axis=1) % 2)

    def test_sizes_are_fifth_powers(self):
        assert len(make_hd_manifold(200)[0]) == 243
        assert len(make_hd_manifold(40)[0]) == 32


def transposed(made):
    X, coordinates, y = made
    return X, coordinates.T, y
