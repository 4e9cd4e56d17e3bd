import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist, pdist
from scipy.stats import kstest, skew, truncnorm
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

from experiments.datasets import make_four_clouds, make_kdd_surrogate, make_landsat_surrogate
from protolearn.datasets import (
    make_checkerboard,
    make_clouds,
    make_eleven_clouds,
    make_half_plane_classes,
    make_magnification_control,
    make_ripley,
)

# name: (generator with a modest size, number of samples or None if random, number of features)
GENERATORS = {
    "checkerboard": (make_checkerboard, None, 2),
    "clouds": (lambda **kw: make_clouds(50, [[0, 0, 0], [9, 0, 5]], **kw), 50, 3),
    "four clouds": (make_four_clouds, 40000, 2),
    "eleven clouds": (make_eleven_clouds, 11000, 2),
    "eleven clouds diffused": (lambda **kw: make_eleven_clouds(order="diffused", **kw), 11000, 2),
    "magnification control": (make_magnification_control, 2500, 2),
    "ripley": (make_ripley, 1250, 2),
    "half planes": (make_half_plane_classes, 2000, 2),
    "landsat": (make_landsat_surrogate, 17004, 6),
    "kdd": (lambda **kw: make_kdd_surrogate(5000, **kw), 5000, 56),
}


class TestEveryGenerator:
    @pytest.mark.parametrize("name", GENERATORS)
    def test_shape_and_type(self, name):
        make, n_samples, n_features = GENERATORS[name]
        X, y = make(random_state=0)
        assert X.dtype == np.float64
        assert X.shape == (len(y), n_features)
        assert n_samples in (None, len(X))
        assert np.all(np.isfinite(X))
        assert np.all(np.isfinite(y))

    @pytest.mark.parametrize("name", GENERATORS)
    def test_the_seed_decides(self, name):
        make, _, _ = GENERATORS[name]
        for first, second in zip(make(random_state=3), make(random_state=3)):
            np.testing.assert_array_equal(first, second)
        assert not np.array_equal(make(random_state=3)[0], make(random_state=4)[0])

    @pytest.mark.parametrize("name", GENERATORS)
    def test_a_generator_object_is_used_up(self, name):
        make, _, _ = GENERATORS[name]
        rng = np.random.RandomState(3)
        first, second = make(random_state=rng)[0], make(random_state=rng)[0]
        np.testing.assert_array_equal(first, make(random_state=3)[0])
        assert not np.array_equal(first, second)

    @pytest.mark.parametrize(
        "make",
        [
            make_four_clouds,
            make_eleven_clouds,
            make_ripley,
            make_half_plane_classes,
            make_landsat_surrogate,
            make_kdd_surrogate,
            lambda n: make_magnification_control(1, n),
            lambda n: make_clouds(n, [[0.0]]),
        ],
    )
    def test_sizes(self, make):
        for n_samples in (1, 2, 17):
            X, y = make(n_samples)
            assert len(X) == len(y) == n_samples
        with pytest.raises(ValueError, match=r"n_samples=0 must be an integer in .1, inf."):
            make(0)


class TestCheckerboard:
    def test_classes_alternate(self):
        X, y, field = make_checkerboard(return_field=True, random_state=0)
        row, col = field // 10, field % 10
        np.testing.assert_array_equal(y, (row + col) % 2)
        np.testing.assert_array_equal(np.unique(field), np.arange(100))
        np.testing.assert_array_equal(X, make_checkerboard(random_state=0)[0])

    def test_board_that_is_not_square(self):
        X, _, field = make_checkerboard(2, 5, noise=0, return_field=True, random_state=0)
        np.testing.assert_array_equal(X, np.column_stack([field % 5, field // 5]))
        assert field.max() == 9

    def test_every_allowed_number_of_points_occurs(self):
        _, _, field = make_checkerboard(return_field=True, random_state=0)
        np.testing.assert_array_equal(np.unique(np.bincount(field)), np.arange(15, 21))
        _, _, field = make_checkerboard(points_per_field=(3, 3), return_field=True, random_state=0)
        np.testing.assert_array_equal(np.bincount(field), 3)

    @pytest.mark.parametrize("noise", [0.12, 0.3])
    def test_noise_is_the_standard_deviation_around_the_center(self, noise):
        X, _, field = make_checkerboard(20, 20, noise=noise, return_field=True, random_state=0)
        residuals = X - np.column_stack([field % 20, field // 20])
        np.testing.assert_allclose(residuals.std(axis=0), noise, rtol=0.03)
        assert kstest(residuals.ravel() / noise, "norm").pvalue > 1e-3

    def test_samples_are_not_sorted_by_field(self):
        _, _, field = make_checkerboard(return_field=True, random_state=0)
        assert abs(np.corrcoef(field, np.arange(len(field)))[0, 1]) < 0.1

    @pytest.mark.parametrize("points", [(0, 5), (5, 4), 7])
    def test_impossible_numbers_of_points_are_refused(self, points):
        with pytest.raises(ValueError, match="1 <= low <= high, got"):
            make_checkerboard(points_per_field=points)

    def test_negative_noise_is_refused(self):
        with pytest.raises(ValueError, match=r"noise=-0\.1 must be a number in .0, inf."):
            make_checkerboard(noise=-0.1)


class TestClouds:
    def test_clouds_are_unit_gaussians_around_their_centers(self):
        X, y, centers = make_four_clouds(return_centers=True, random_state=0)
        np.testing.assert_array_equal(np.sort(np.abs(centers), axis=None), 4)
        assert len(np.unique(centers, axis=0)) == 4
        np.testing.assert_array_equal(np.bincount(y), 10000)
        for mode in range(4):
            np.testing.assert_allclose(X[y == mode].mean(axis=0), centers[mode], atol=0.05)
            np.testing.assert_allclose(np.cov(X[y == mode].T), np.eye(2), atol=0.06)

    def test_mean_distance_to_the_four_centers(self):
        # The mean of a Rayleigh distribution is sqrt(pi / 2) = 1.253; overlap lowers the published 1.25 hardly at all.
        X, _, centers = make_four_clouds(return_centers=True, random_state=0)
        assert cdist(X, centers).min(axis=1).mean() == pytest.approx(np.sqrt(np.pi / 2), abs=0.01)

    def test_eleven_centers_never_change_and_keep_apart(self):
        _, _, centers = make_eleven_clouds(11, return_centers=True, random_state=0)
        _, _, again = make_eleven_clouds(22, return_centers=True, random_state=1)
        np.testing.assert_array_equal(centers, again)
        assert centers.shape == (11, 2)
        assert 6 <= pdist(centers).min() <= 8
        nearest_grid_point = 8 * np.round(centers / 8)
        assert np.abs(centers - nearest_grid_point).max() <= 1
        assert np.abs(centers - nearest_grid_point).max() > 0.5

    def test_eleven_centers_go_from_left_to_right_and_bottom_to_top(self):
        _, _, centers = make_eleven_clouds(11, return_centers=True, random_state=0)
        rows = np.round(centers[:, 1] / 8)
        assert np.all(np.diff(rows) >= 0)
        assert np.all((np.diff(centers[:, 0]) > 0) | (np.diff(rows) == 1))

    def test_the_centers_of_the_user_are_not_handed_out(self):
        given_centers = np.zeros((2, 2))
        _, _, centers = make_clouds(5, given_centers, return_centers=True, random_state=0)
        centers[:] = 1
        assert np.all(given_centers == 0)

    def test_sorted_order(self):
        _, y = make_eleven_clouds(order="sorted", random_state=0)
        np.testing.assert_array_equal(y, np.repeat(np.arange(11), 1000))

    def test_random_order_has_every_mode_in_every_patch(self):
        _, y = make_eleven_clouds(random_state=0)
        np.testing.assert_array_equal(np.bincount(y), 1000)
        for patch in y.reshape(11, 1000):
            counts = np.bincount(patch, minlength=11)
            assert counts.min() > 50
            assert counts.max() < 140

    def test_diffused_order_inside_the_sweep(self):
        _, y = make_eleven_clouds(order="diffused", random_state=0)
        for t in range(2, 9):
            counts = np.bincount(y[1000 * t : 1000 * (t + 1)], minlength=11)
            expected = np.zeros(11)
            expected[t - 2 : t + 3] = [10, 210, 560, 210, 10]
            np.testing.assert_array_equal(counts, expected)

    @pytest.mark.parametrize(("t", "modes", "shares"), [
        (0, [0, 1, 2], [56, 21, 1]),
        (1, [0, 1, 2, 3], [21, 56, 21, 1]),
        (9, [7, 8, 9, 10], [1, 21, 56, 21]),
        (10, [8, 9, 10], [1, 21, 56]),
    ])  # fmt: skip
    def test_diffused_order_renormalizes_the_shares_at_both_ends(self, t, modes, shares):
        _, y = make_eleven_clouds(order="diffused", random_state=0)
        counts = np.bincount(y[1000 * t : 1000 * (t + 1)], minlength=11)
        assert counts.sum() == counts[modes].sum() == 1000
        np.testing.assert_allclose(counts[modes], 1000 * np.array(shares) / sum(shares), atol=1)

    def test_diffused_patches_are_mixed_inside(self):
        _, y = make_eleven_clouds(order="diffused", random_state=0)
        first_half, second_half = y[5000:5500], y[5500:6000]
        assert np.mean(first_half == 5) == pytest.approx(0.56, abs=0.08)
        assert np.mean(second_half == 5) == pytest.approx(0.56, abs=0.08)

    @settings(max_examples=40, deadline=None)
    @given(
        n_samples=st.integers(1, 300),
        n_modes=st.integers(1, 7),
        order=st.sampled_from(["random", "sorted", "diffused"]),
    )
    def test_any_size_and_number_of_modes(self, n_samples, n_modes, order):
        X, y = make_clouds(n_samples, np.arange(n_modes)[:, None], order=order, random_state=0)
        assert X.shape == (n_samples, 1)
        assert y.min() >= 0
        assert y.max() < n_modes
        if order != "diffused":
            counts = np.bincount(y, minlength=n_modes)
            assert counts.max() - counts.min() <= 1

    def test_unknown_order_is_refused(self):
        with pytest.raises(ValueError, match="'random', 'sorted' or 'diffused', got 'shuffled'"):
            make_eleven_clouds(order="shuffled")

    def test_centers_must_be_a_matrix(self):
        with pytest.raises(ValueError, match="Expected 2D array"):
            make_clouds(10, [0.0, 1.0])


class TestMagnificationControl:
    @pytest.mark.parametrize(("dim", "n_samples"), [(1, 2500), (2, 5000), (3, 10000)])
    def test_samples_lie_on_the_sheet(self, dim, n_samples):
        X, density = make_magnification_control(dim, random_state=0)
        assert X.shape == (n_samples, dim + 1)
        assert density.shape == (n_samples,)
        np.testing.assert_allclose(X[:, -1], np.prod(np.sin(np.pi * X[:, :-1]), axis=1))
        for x in X[:, :-1].T:
            assert kstest(x, "uniform").pvalue > 1e-3

    @pytest.mark.parametrize("dim", [1, 2, 3])
    def test_density_is_the_inverse_stretch_of_the_sheet(self, dim):
        # The volume spanned by the tangent vectors, from numerical derivatives and the Gram determinant.
        X, density = make_magnification_control(dim, 50, random_state=0)
        x, h = X[:, :-1], 1e-5

        def surface(points):
            return np.column_stack([points, np.prod(np.sin(np.pi * points), axis=1)])

        tangents = np.stack([(surface(x + h * e) - surface(x - h * e)) / (2 * h) for e in np.eye(dim)], axis=1)
        stretch = np.sqrt(np.linalg.det(tangents @ tangents.swapaxes(1, 2)))
        np.testing.assert_allclose(density, 1 / stretch, rtol=1e-6)

    def test_density_integrates_to_one_along_the_curve(self):
        X, density = make_magnification_control(1, 20000, random_state=0)
        order = np.argsort(X[:, 0])
        steps = np.linalg.norm(np.diff(X[order], axis=0), axis=1)
        middle = (density[order][1:] + density[order][:-1]) / 2
        assert np.sum(middle * steps) == pytest.approx(1, abs=1e-3)

    def test_inverse_density_averages_to_the_area_of_the_sheet(self):
        # The expectation of 1 / density is the area; triangles of a fine mesh measure it without any formula.
        grid = np.linspace(0, 1, 201)
        x, y = np.meshgrid(grid, grid, indexing="ij")
        points = np.stack([x, y, np.sin(np.pi * x) * np.sin(np.pi * y)], axis=-1)
        corner, right, up, far = points[:-1, :-1], points[1:, :-1], points[:-1, 1:], points[1:, 1:]
        twice_area = np.linalg.norm(np.cross(right - corner, up - corner), axis=-1) + np.linalg.norm(
            np.cross(right - far, up - far), axis=-1
        )
        _, density = make_magnification_control(2, 100_000, random_state=0)
        assert np.mean(1 / density) == pytest.approx(twice_area.sum() / 2, rel=5e-3)

    @pytest.mark.parametrize(("dim", "mean_distance"), [(1, 0.519), (2, 0.659), (3, 0.746)])
    def test_mean_pairwise_distance(self, dim, mean_distance):
        X, _ = make_magnification_control(dim, 2500, random_state=0)
        assert pdist(X).mean() == pytest.approx(mean_distance, abs=0.01)

    def test_dimension_must_be_positive(self):
        with pytest.raises(ValueError, match=r"dim=0 must be an integer in .1, inf."):
            make_magnification_control(0)


class TestRipley:
    def test_moments_of_both_classes(self):
        X, y = make_ripley(40000, random_state=0)
        np.testing.assert_array_equal(np.bincount(y), 20000)
        # Mixture of two: mean of the centers; variance plus squared half distance of the centers.
        np.testing.assert_allclose(X[y == 0].mean(axis=0), [-0.2, 0.3], atol=0.01)
        np.testing.assert_allclose(X[y == 1].mean(axis=0), [0.05, 0.7], atol=0.01)
        np.testing.assert_allclose(X[y == 0].var(axis=0), [0.03 + 0.5**2, 0.03], rtol=0.04)
        np.testing.assert_allclose(X[y == 1].var(axis=0), [0.03 + 0.35**2, 0.03], rtol=0.04)

    @pytest.mark.parametrize("n_samples", [250, 1000, 1250])
    def test_classes_are_balanced(self, n_samples):
        _, y = make_ripley(n_samples, random_state=0)
        np.testing.assert_array_equal(np.bincount(y), n_samples // 2)

    def test_error_of_the_optimal_classifier(self):
        def class_densities(points):
            centers = np.array([(-0.7, 0.3), (0.3, 0.3), (-0.3, 0.7), (0.4, 0.7)])
            components = np.exp(-cdist(points, centers, "sqeuclidean") / (2 * 0.03)) / (2 * np.pi * 0.03)
            return components.reshape(-1, 2, 2).sum(axis=2) / 4

        grid = np.linspace(-2, 2, 201)
        plane = np.array(np.meshgrid(grid, grid)).reshape(2, -1).T
        bayes_error = class_densities(plane).min(axis=1).sum() * (grid[1] - grid[0]) ** 2

        X, y = make_ripley(40000, random_state=0)
        assert np.mean(class_densities(X).argmax(axis=1) != y) == pytest.approx(bayes_error, abs=0.005)
        assert bayes_error == pytest.approx(0.0893, abs=1e-4)


class TestHalfPlaneClasses:
    def test_classes_meet_at_the_line(self):
        X, y = make_half_plane_classes(random_state=0)
        np.testing.assert_array_equal(y, X[:, 0] > 0)
        np.testing.assert_array_equal(np.bincount(y), 1000)
        assert X[y == 0, 0].max() > -0.02
        assert X[y == 1, 0].min() < 0.02

    def test_same_distribution_as_dropping_samples_beyond_the_line(self):
        X, y = make_half_plane_classes(20000, random_state=0)
        for side, label in ((-1, 0), (1, 1)):
            drawn = np.random.RandomState(1).normal((side, 0), 1, size=(20000, 2))
            kept = drawn[side * drawn[:, 0] > 0]
            np.testing.assert_allclose(X[y == label].mean(axis=0), kept.mean(axis=0), atol=0.04)
            np.testing.assert_allclose(X[y == label].std(axis=0), kept.std(axis=0), rtol=0.03)
        assert kstest(np.abs(X[:, 0]), truncnorm(-1, np.inf, loc=1).cdf).pvalue > 1e-3
        assert kstest(X[:, 1], "norm").pvalue > 1e-3


class TestLandsatSurrogate:
    SHARES = np.array([17.30, 10.46, 5.32, 7.93, 4.26, 6.13, 5.05, 8.12, 0.48, 2.83, 3.78, 7.78, 19.77, 0.79])
    CORRELATION = np.array(
        [
            [1.0000, 0.9564, 0.9493, 0.4691, 0.8162, 0.8544],
            [0.9564, 1.0000, 0.9678, 0.5858, 0.8448, 0.8682],
            [0.9493, 0.9678, 1.0000, 0.4867, 0.8339, 0.8897],
            [0.4691, 0.5858, 0.4867, 1.0000, 0.5783, 0.4417],
            [0.8162, 0.8448, 0.8339, 0.5783, 1.0000, 0.9574],
            [0.8544, 0.8682, 0.8897, 0.4417, 0.9574, 1.0000],
        ]
    )

    def test_class_shares_are_exact_up_to_rounding(self):
        _, y = make_landsat_surrogate(random_state=0)
        assert y.min() == 1
        counts = np.bincount(y)[1:]
        np.testing.assert_allclose(counts, 17004 * self.SHARES / 100, atol=1)

    def test_correlation_of_the_bands_within_classes_and_overall(self):
        X, y = make_landsat_surrogate(60000, random_state=0)
        residuals = np.vstack([X[y == label] - X[y == label].mean(axis=0) for label in range(1, 15)])
        np.testing.assert_allclose(np.corrcoef(residuals.T), self.CORRELATION, atol=0.015)
        np.testing.assert_allclose(np.corrcoef(X.T), self.CORRELATION, atol=0.015)
        np.testing.assert_allclose(X.var(axis=0), 1, atol=0.03)
        np.testing.assert_allclose(X.mean(axis=0), 0, atol=0.03)

    def test_water_and_alpine_lie_far_out_at_opposite_ends(self):
        X, y = make_landsat_surrogate(random_state=0)
        centers = np.array([X[y == label].mean(axis=0) for label in range(1, 15)])
        far = np.linalg.norm(centers, axis=1)
        others = np.delete(far, [8, 13])
        assert far[[8, 13]].min() > 2 * others.max()
        assert np.all(centers[8] < 0)
        assert np.all(centers[13] > 0)


class TestKddSurrogate:
    def test_size(self):
        X, y = make_kdd_surrogate(random_state=0)
        assert X.shape == (95412, 56)
        assert len(np.unique(y)) == 10
        assert np.all(np.diff(np.bincount(y)) < 0)

    def test_column_types(self):
        X, y = make_kdd_surrogate(5000, random_state=0)
        gaussian, skewed, binary = np.split(X, [30, 46], axis=1)
        np.testing.assert_array_equal(np.unique(binary), [0, 1])
        assert np.all(binary.std(axis=0) > 0)
        assert skewed.min() > 0
        assert np.all(skew(skewed, axis=0) > 2)
        within = gaussian[y == 0]
        assert np.all(np.abs(skew(within, axis=0)) < 0.4)
        np.testing.assert_allclose(within.std(axis=0), 1, atol=0.12)

    def test_clusters_do_not_depend_on_the_seed(self):
        means = [
            np.array([X[y == label, :30].mean(axis=0) for label in range(10)])
            for X, y in (make_kdd_surrogate(10000, random_state=seed) for seed in (0, 1))
        ]
        np.testing.assert_allclose(*means, atol=0.4)

    def test_clusters_can_be_found(self):
        X, y = make_kdd_surrogate(3000, random_state=0)
        found = KMeans(10, n_init=2, random_state=0).fit_predict(StandardScaler().fit_transform(X))
        assert adjusted_rand_score(y, found) > 0.8
