"""Curves, long clusters and small digits have the geometry that their descriptions promise."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.spatial.distance import cdist
from scipy.stats import kstest

from experiments.datasets import make_gaussian_ellipses, make_spiral_gaussian
from protolearn.datasets import (
    downsample_digits,
    make_checkerboard,
    make_elongated_checkerboard,
    make_ring_line_square,
    make_spiral_uniform,
    make_spirals,
    make_vortex,
)

# generator, shape of the samples
GENERATORS = {
    "vortex": (make_vortex, (1000, 2)),
    "ring, line, square": (make_ring_line_square, (750, 2)),
    "uniform spiral": (make_spiral_uniform, (1000, 3)),
    "gaussian spiral": (make_spiral_gaussian, (500, 3)),
    "ellipses": (make_gaussian_ellipses, (2000, 2)),
    "spirals": (make_spirals, (2000, 2)),
    "elongated checkerboard": (make_elongated_checkerboard, (3200, 2)),
}
SIZED = ("vortex", "uniform spiral", "gaussian spiral", "ellipses", "spirals")
SHUFFLED = ("ring, line, square", "ellipses", "spirals", "elongated checkerboard")


def is_uniform(values, low, high):
    return kstest(values, "uniform", (low, high - low)).pvalue > 1e-3


def is_normal(values, deviation):
    return kstest(values / deviation, "norm").pvalue > 1e-3


class TestEveryGenerator:
    @pytest.mark.parametrize("name", GENERATORS)
    def test_shape_and_type(self, name):
        make, shape = GENERATORS[name]
        X, y = make(random_state=0)
        assert X.dtype == np.float64
        assert X.shape == shape
        assert y.shape == shape[:1]
        assert np.all(np.isfinite(X))

    @pytest.mark.parametrize("name", GENERATORS)
    def test_the_seed_decides(self, name):
        make = GENERATORS[name][0]
        rng = np.random.RandomState(3)
        first, second = make(random_state=rng), make(random_state=rng)
        for one, other in zip(first, make(random_state=3)):
            np.testing.assert_array_equal(one, other)
        assert not np.array_equal(first[0], second[0])

    @pytest.mark.parametrize("name", SIZED)
    def test_sizes(self, name):
        make = GENERATORS[name][0]
        for n_samples in (1, 2, 17):
            X, y = make(n_samples, random_state=0)
            assert len(X) == len(y) == n_samples
        with pytest.raises(ValueError, match=r"n_samples=0 must be an integer in .1, inf."):
            make(0)

    @pytest.mark.parametrize("name", SHUFFLED)
    def test_samples_are_in_random_order(self, name):
        _, y = GENERATORS[name][0](random_state=0)
        expected = np.sum((np.bincount(y) / len(y)) ** 2)
        assert np.mean(y[1:] == y[:-1]) == pytest.approx(expected, abs=0.06)


class TestVortex:
    def test_samples_are_where_angle_and_width_say(self):
        X, angle = make_vortex(20_000, random_state=0)
        z = X[:, 0] + 1j * X[:, 1]
        np.testing.assert_allclose(z / np.abs(z), np.exp(1j * angle))
        width = np.abs(z) - 40 * angle / (2 * np.pi)
        assert is_uniform(angle, 0, 6 * np.pi)
        assert is_uniform(width, 0, 20)
        assert abs(np.corrcoef(angle, width)[0, 1]) < 0.03

    def test_gaps_between_the_turns_are_as_wide_as_the_arm(self):
        # Along a ray, the arm is met every 40 units for 20 units: half of every turn is empty.
        X, _ = make_vortex(20_000, random_state=0)
        radius, turn = np.hypot(*X.T), np.arctan2(X[:, 1], X[:, 0]) % (2 * np.pi) / (2 * np.pi)
        phase = (radius - 40 * turn) % 40
        assert phase.max() < 20 + 1e-9
        assert np.hypot(*X.T).max() == pytest.approx(140, abs=0.5)

    def test_density_falls_with_the_radius(self):
        X, _ = make_vortex(20_000, random_state=0)
        edges = np.array([0, 40, 80, 120])
        density = np.histogram(np.hypot(*X.T), edges)[0] / np.diff(edges**2)
        assert density[0] > 1.5 * density[1] > 1.8 * density[2]


class TestRingLineSquare:
    def test_counts(self):
        _, y = make_ring_line_square(random_state=0)
        np.testing.assert_array_equal(np.bincount(y), [500, 50, 200])
        _, y = make_ring_line_square((3, 1, 2), random_state=0)
        np.testing.assert_array_equal(np.bincount(y), [3, 1, 2])

    def test_ring(self):
        X, y = make_ring_line_square((20_000, 1, 1), random_state=0)
        ring = X[y == 0]
        assert is_uniform(np.hypot(*ring.T), 50, 100)  # and so denser inside than outside
        assert is_uniform(np.arctan2(*ring.T), -np.pi, np.pi)

    def test_line(self):
        X, y = make_ring_line_square((1, 20_000, 1), random_state=0)
        line = X[y == 1]
        assert is_uniform(line[:, 0], 100, 250)
        assert is_uniform(line[:, 1], -10, 10)

    def test_square(self):
        X, y = make_ring_line_square((1, 1, 20_000), random_state=0)
        centered = X[y == 2] - [350, 0]
        # The outline is the set of points whose larger coordinate is 100; its bands reach 10 to both sides.
        assert np.abs(centered).max() < 110
        assert np.abs(centered).max() > 109.9
        near_side = np.abs(np.abs(centered) - 100) <= 10
        assert near_side.any(axis=1).all()
        sides = [
            near_side[:, 0] & ~near_side[:, 1] & (centered[:, 0] < 0),
            near_side[:, 0] & ~near_side[:, 1] & (centered[:, 0] > 0),
            near_side[:, 1] & ~near_side[:, 0] & (centered[:, 1] < 0),
            near_side[:, 1] & ~near_side[:, 0] & (centered[:, 1] > 0),
        ]
        for side, axis in zip(sides, (0, 0, 1, 1)):
            assert side.mean() == pytest.approx(0.25 * 0.9, abs=0.02)  # a side without its two ends of length 10
            assert is_uniform(np.abs(centered[side, axis]), 90, 110)
            assert is_uniform(centered[side, 1 - axis], -90, 90)

    @pytest.mark.parametrize("n_samples", [750, (500, 250), (1, 2, 3, 4)])
    def test_three_numbers_are_needed(self, n_samples):
        with pytest.raises(ValueError, match="must be three numbers of samples: for the ring, the line and the square"):
            make_ring_line_square(n_samples)

    def test_every_part_has_samples(self):
        with pytest.raises(ValueError, match=r"n_samples=0 must be an integer in .1, inf."):
            make_ring_line_square((500, 0, 200))


class TestSpiralUniform:
    @pytest.mark.parametrize("max_angle", [2 * np.pi, 4 * np.pi])
    def test_curve(self, max_angle):
        X, angle = make_spiral_uniform(max_angle=max_angle, noise=0)
        np.testing.assert_allclose(angle, max_angle * np.arange(1000) / 1000)
        np.testing.assert_allclose(X[:, 0], np.arange(1000) / 2)
        np.testing.assert_allclose(X[:, 1] + 1j * X[:, 2], 120 * np.exp(1j * angle))

    def test_steps_along_the_curve_are_equal(self):
        X, _ = make_spiral_uniform(noise=0)
        steps = np.linalg.norm(np.diff(X, axis=0), axis=1)
        np.testing.assert_allclose(steps, steps[0])

    @pytest.mark.parametrize("noise", [10.0, 3.0])
    def test_noise_is_uniform_along_each_axis(self, noise):
        X, _ = make_spiral_uniform(10_000, noise=noise, random_state=0)
        errors = X - make_spiral_uniform(10_000, noise=0)[0]
        for column in errors.T:
            assert is_uniform(column, -noise, noise)
        np.testing.assert_allclose(np.corrcoef(errors.T), np.eye(3), atol=0.03)

    def test_the_angle_is_that_of_the_paper(self):
        np.testing.assert_array_equal(
            make_spiral_uniform(random_state=0)[0],
            make_spiral_uniform(max_angle=2 * np.pi, noise=10.0, random_state=0)[0],
        )


class TestSpiralGaussian:
    def test_curve(self):
        X, angle = make_spiral_gaussian(20_000, noise=0, random_state=0)
        np.testing.assert_array_equal(X[:, 0], angle)
        np.testing.assert_allclose(X[:, 2] + 1j * X[:, 1], np.exp(1j * angle))
        assert is_uniform(angle, 0, 4 * np.pi)

    @pytest.mark.parametrize("noise", [0.1, 0.3])
    def test_noise_is_the_standard_deviation_along_each_axis(self, noise):
        X, angle = make_spiral_gaussian(20_000, noise=noise, random_state=0)
        errors = X - np.column_stack([angle, np.sin(angle), np.cos(angle)])
        for column in errors.T:
            assert is_normal(column, noise)
        np.testing.assert_allclose(np.corrcoef(errors.T), np.eye(3), atol=0.03)

    def test_with_a_noisy_angle_the_other_coordinates_follow_the_first(self):
        X, angle = make_spiral_gaussian(20_000, noisy_angle=True, random_state=0)
        assert is_normal(X[:, 0] - angle, 0.1)
        assert is_normal(X[:, 1] - np.sin(X[:, 0]), 0.1)
        assert is_normal(X[:, 2] - np.cos(X[:, 0]), 0.1)
        assert not is_normal(X[:, 1] - np.sin(angle), 0.1)

    def test_the_same_noise_with_both_readings(self):
        clean, noisy = (make_spiral_gaussian(noisy_angle=noisy, random_state=0) for noisy in (False, True))
        np.testing.assert_array_equal(clean[1], noisy[1])
        np.testing.assert_array_equal(clean[0][:, 0], noisy[0][:, 0])


class TestGaussianEllipses:
    def test_moments(self):
        X, y = make_gaussian_ellipses(80_000, random_state=0)
        np.testing.assert_array_equal(np.bincount(y), 20_000)
        centers = [(-4, 0), (4, 0), (0, -4), (0, 4)]
        for label, (center, upright) in enumerate(zip(centers, (True, True, False, False))):
            cluster = X[y == label]
            np.testing.assert_allclose(cluster.mean(axis=0), center, atol=0.05)
            variances = (0.16, 2.56) if upright else (2.56, 0.16)
            np.testing.assert_allclose(np.cov(cluster.T), np.diag(variances), atol=0.06)

    def test_long_axes_lie_across_the_direction_to_the_middle(self):
        X, y = make_gaussian_ellipses(random_state=0)
        for label in range(4):
            variances, axes = np.linalg.eigh(np.cov(X[y == label].T))
            assert variances[1] / variances[0] == pytest.approx(16, rel=0.25)
            center = X[y == label].mean(axis=0)
            assert abs(axes[:, 1] @ center) / np.linalg.norm(center) < 0.05


class TestSpirals:
    @pytest.mark.parametrize("n_arms", [1, 2, 3])
    def test_arms_are_turned_copies(self, n_arms):
        X, y = make_spirals(3000, n_arms, noise=0, random_state=0)
        np.testing.assert_array_equal(np.bincount(y), 3000 // n_arms)
        z = X[:, 0] + 1j * X[:, 1]
        radius = np.abs(z)
        np.testing.assert_allclose(z, radius * np.exp(1j * (6 * np.pi * radius + 2 * np.pi * y / n_arms)))

    def test_samples_within_a_circle_are_as_many_as_its_area_says(self):
        X, _ = make_spirals(20_000, noise=0, random_state=0)
        assert is_uniform(np.hypot(*X.T) ** 2, 0, 1)

    def test_noise_is_the_standard_deviation_along_each_axis(self):
        clean, _ = make_spirals(20_000, noise=0, random_state=0)
        for noise in (0.01, 0.05):
            X, _ = make_spirals(20_000, noise=noise, random_state=0)
            for column in (X - clean).T:
                assert is_normal(column, noise)

    def test_two_arms_keep_half_a_turn_apart(self):
        X, y = make_spirals(4000, noise=0, random_state=0)
        outer = np.hypot(*X.T) > 0.3
        gap = cdist(X[outer & (y == 0)], X[outer & (y == 1)]).min()
        assert gap == pytest.approx(1 / 6, rel=0.1)  # a turn moves an arm outwards by a third, half a turn by a sixth

    def test_there_is_at_least_one_arm(self):
        with pytest.raises(ValueError, match=r"n_arms=0 must be an integer in .1, inf."):
            make_spirals(n_arms=0)


class TestElongatedCheckerboard:
    def test_clusters_lie_flat_and_upright_in_turn(self):
        X, y, field = make_elongated_checkerboard(points_per_field=(4000, 4000), return_field=True, random_state=0)
        np.testing.assert_array_equal(np.bincount(field), 4000)
        np.testing.assert_array_equal(y, (field // 4 + field % 4) % 2)
        for number in range(16):
            cluster = X[field == number]
            np.testing.assert_allclose(cluster.mean(axis=0), (number % 4, number // 4), atol=0.02)
            across, along = sorted(cluster.std(axis=0))
            assert across == pytest.approx(0.06, rel=0.05)
            assert along == pytest.approx(0.24, rel=0.05)
            upright = cluster[:, 1].std() > cluster[:, 0].std()
            assert upright == ((number // 4 + number % 4) % 2 == 1)
            assert abs(np.corrcoef(cluster.T)[0, 1]) < 0.06

    def test_the_same_samples_as_those_of_round_clusters_but_stretched(self):
        given = {"points_per_field": (5, 9), "noise": 0.2, "return_field": True, "random_state": 0}
        X, y, field = make_elongated_checkerboard(2, 3, ratio=81.0, **given)
        round_, other_y, other_field = make_checkerboard(2, 3, **given)
        np.testing.assert_array_equal(y, other_y)
        np.testing.assert_array_equal(field, other_field)
        centers = np.column_stack([field % 3, field // 3])
        expected = np.where(y[:, None] == 0, [3, 1 / 3], [1 / 3, 3]) * (round_ - centers)
        np.testing.assert_allclose(X - centers, expected, atol=1e-14)
        np.testing.assert_array_equal(X, make_elongated_checkerboard(2, 3, ratio=81.0, **given)[0])

    def test_neighbors_hardly_overlap(self):
        X, _, field = make_elongated_checkerboard(return_field=True, random_state=0)
        scales = np.where(((field // 4 + field % 4) % 2)[:, None] == 0, [0.24, 0.06], [0.06, 0.24])
        centers = np.column_stack([np.arange(16) % 4, np.arange(16) // 4])
        own = np.array([scales[field == number][0] for number in range(16)])
        nearest = (((X[:, None] - centers) / own) ** 2).sum(axis=2).argmin(axis=1)
        assert np.mean(nearest == field) > 0.995

    def test_a_ratio_below_one_is_refused(self):
        with pytest.raises(ValueError, match=r"ratio=0\.5 must be a number in .1, inf."):
            make_elongated_checkerboard(ratio=0.5)


class TestDownsampleDigits:
    PIXELS = np.eye(784).reshape(784, 28, 28)

    def test_weights_by_the_formula(self):
        weights = downsample_digits(self.PIXELS)  # of each of 784 pixels in each of 8 x 8
        for row, col in ((0, 0), (3, 6), (7, 2)):
            x, y = 4 + 2.5 * col + 0.75, 4 + 2.5 * row + 0.75
            expected = np.zeros((28, 28))
            for i in range(4, 24):
                for j in range(4, 24):
                    expected[i, j] = np.exp(-((i - y) ** 2 + (j - x) ** 2) / (2 * 1.25**2))
            np.testing.assert_allclose(weights[:, row, col].reshape(28, 28), expected / expected.sum(), atol=1e-15)

    def test_weights_sum_to_one_and_ignore_the_border(self):
        weights = downsample_digits(self.PIXELS).reshape(28, 28, 64)
        np.testing.assert_allclose(weights.sum(axis=(0, 1)), 1)
        assert np.all(weights[4:24, 4:24] > 0)
        border = np.ones((28, 28), dtype=bool)
        border[4:24, 4:24] = False
        assert np.all(weights[border] == 0)

    def test_a_constant_image_stays_constant(self):
        np.testing.assert_allclose(downsample_digits(np.full((28, 28), 0.7)), np.full((8, 8), 0.7), rtol=1e-14)

    def test_a_ramp_stays_a_ramp_inside(self):
        # Gaussian weights lie almost evenly around the center of a pixel, except next to the border.
        ramp = np.tile(np.arange(28.0), (28, 1))
        small = downsample_digits(ramp)
        np.testing.assert_allclose(small[:, 2:6], np.tile(4 + 2.5 * np.arange(2, 6) + 0.75, (8, 1)), atol=1e-3)

    @settings(max_examples=25, deadline=None)
    @given(image=arrays(np.float64, (28, 28), elements=st.floats(0, 1)))
    def test_symmetries_and_range(self, image):
        small = downsample_digits(image)
        assert small.min() >= 0
        assert small.max() <= 1 + 1e-14
        for change in (np.fliplr, np.flipud, np.transpose, np.rot90):
            np.testing.assert_allclose(downsample_digits(change(image)), change(small), atol=1e-14)
        np.testing.assert_allclose(downsample_digits(3 * image + 2), 3 * small + 2)

    def test_flat_images_stay_flat(self):
        images = np.random.default_rng(0).integers(0, 256, (2, 3, 28, 28)).astype(np.uint8)
        small = downsample_digits(images)
        assert small.shape == (2, 3, 8, 8)
        np.testing.assert_array_equal(downsample_digits(images.reshape(2, 3, 784)), small.reshape(2, 3, 64))
        np.testing.assert_allclose(downsample_digits(images[1, 2]), small[1, 2])
        assert downsample_digits(np.empty((0, 784))).shape == (0, 64)

    @pytest.mark.parametrize("shape", [(64,), (28,), (784, 28), (5, 28, 20)])
    def test_other_sizes_are_refused(self, shape):
        with pytest.raises(ValueError, match=r"expected \(\.\.\., 28, 28\) or \(\.\.\., 784\)"):
            downsample_digits(np.zeros(shape))
