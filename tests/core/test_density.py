import math
import tracemalloc

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.spatial.distance import cdist, pdist
from sklearn.neighbors import KernelDensity
from threadpoolctl import threadpool_limits

from protolearn.core import density
from protolearn.core.density import (
    Precomputed,
    correlation_dimension,
    correlation_integral,
    mean_pairwise_distance,
    parzen_log_density,
    squared_distances,
)

COORDINATES = st.floats(-100, 100, width=32)


@st.composite
def weighted_samples(draw):
    """Samples of which some may coincide, with counts as weights; at least two in total."""
    shape = draw(st.tuples(st.integers(2, 8), st.integers(1, 3)))
    X = draw(arrays(np.float64, shape, elements=COORDINATES))
    counts = draw(st.lists(st.integers(0, 3), min_size=len(X), max_size=len(X)).filter(lambda c: sum(c) > 1))
    return X, np.array(counts)


def random_rotation(d, rng):
    return np.linalg.qr(rng.standard_normal((d, d)))[0]


def cube(dim, n, ambient, rng):
    """Samples of a cube of dimension ``dim`` in general position in a space of more dimensions."""
    return rng.random((n, dim)) @ random_rotation(ambient, rng)[:dim] + rng.standard_normal(ambient)


def parzen_oracle(X, counts, h, points):
    multiset = [x for x, count in zip(X, counts) for _ in range(count)]
    log_values = []
    for v in points:
        value = sum(math.exp(-sum((a - b) ** 2 for a, b in zip(v, x)) / (2 * h * h)) for x in multiset)
        log_values.append(math.log(value / len(multiset)) - len(v) * math.log(math.sqrt(2 * math.pi) * h))
    return np.array(log_values)


def test_distances_may_be_read_by_rows(monkeypatch):
    X = np.random.default_rng(0).random((50, 2))
    squared = cdist(X, X, "sqeuclidean")
    read = []

    def rows(chosen):
        block = squared[chosen]
        read.append(len(block))
        return block

    whole = Precomputed(squared)
    monkeypatch.setattr(density, "HELD", 8 * 50 * 7)  # seven rows
    lazy, weights = Precomputed(rows, 50), np.arange(50) % 3 + 1
    for function in (parzen_log_density, mean_pairwise_distance, correlation_dimension):
        for options in ({}, {"sample_weight": weights}):
            np.testing.assert_allclose(function(lazy, **options), function(whole, **options), rtol=1e-12)
    assert max(read) == 7


@pytest.fixture
def tiny_tiles(monkeypatch):
    monkeypatch.setattr(density, "TILE_SIDE", 3)


class TestParzen:
    def test_is_the_average_of_gaussians(self, tiny_tiles):
        rng = np.random.default_rng(0)
        X, points, counts = rng.random((10, 2)), rng.random((7, 2)), rng.integers(1, 4, 10)
        found = parzen_log_density(X, sample_weight=counts, bandwidth=0.3, points=points)
        np.testing.assert_allclose(found, parzen_oracle(X, counts, 0.3, points), rtol=1e-12)

    @pytest.mark.parametrize("n", [1, 384, 385, 800])
    def test_agrees_with_sklearn_across_tiles(self, n):
        rng = np.random.default_rng(n)
        X, weights = rng.standard_normal((n, 3)), rng.random(n)
        oracle = KernelDensity(bandwidth=0.7, rtol=1e-12).fit(X, sample_weight=weights).score_samples(X)
        np.testing.assert_allclose(
            parzen_log_density(X, sample_weight=weights, bandwidth=0.7), oracle, rtol=1e-9, atol=1e-9
        )

    @pytest.mark.parametrize("weighted", [False, True])
    @pytest.mark.parametrize("given", [False, True])
    def test_some_windows_stand_for_all(self, tiny_tiles, weighted, given):
        """Own windows count as they are, those of the other samples by the weight of the ones that are chosen."""
        rng = np.random.default_rng(3)
        X = rng.random((40, 2))
        u = rng.integers(0, 4, 40).astype(float) if weighted else np.ones(40)
        present = np.flatnonzero(u)
        chosen = present[np.random.default_rng(0).choice(len(present), 9, replace=False)]
        K = np.exp(-cdist(X, X, "sqeuclidean") / (2 * 0.3**2))
        expected = np.empty(40)
        for j in range(40):
            others = [i for i in chosen if i != j]
            mean = sum(u[i] * K[j, i] for i in others) / sum(u[i] for i in others)
            expected[j] = (u[j] + (u.sum() - u[j]) * mean) / u.sum()
        samples = Precomputed(cdist(X, X, "sqeuclidean")) if given else X
        found = parzen_log_density(samples, sample_weight=u, bandwidth=0.3, max_samples=9)
        volume = 0.0 if given else 2 * np.log(np.sqrt(2 * np.pi) * 0.3)
        np.testing.assert_allclose(found + volume, np.log(expected), rtol=1e-10, atol=1e-12)
        at_points = parzen_log_density(X, sample_weight=u, bandwidth=0.3, max_samples=9, points=X[:5] + 0.01)
        alone = parzen_log_density(X[chosen], sample_weight=u[chosen], bandwidth=0.3, points=X[:5] + 0.01)
        np.testing.assert_allclose(at_points, alone, rtol=1e-10)

    @pytest.mark.parametrize("d", [1, 5, 50])
    def test_some_windows_are_near_all(self, d):
        """The density by 1000 of 4000 samples is within 15 % of that by all, and outliers are not forgotten."""
        X = np.random.default_rng(d).standard_normal((4000, d))
        X[:5] += 50.0
        whole, some = parzen_log_density(X), parzen_log_density(X, max_samples=1000)
        assert np.std((some - whole)[5:]) < 0.15
        np.testing.assert_allclose(some[:5], whole[:5], atol=np.log(5))
        np.testing.assert_array_equal(some, parzen_log_density(X, max_samples=1000, n_jobs=2))
        np.testing.assert_array_equal(whole, parzen_log_density(X, max_samples=4000))

    def test_default_bandwidth_is_a_third_of_the_average_distance(self):
        X = np.random.default_rng(0).random((30, 2))
        expected = parzen_log_density(X, bandwidth=pdist(X).mean() / 3)
        np.testing.assert_allclose(parzen_log_density(X), expected, rtol=1e-12)

    @given(weighted_samples())
    def test_weight_counts_samples(self, weighted):
        X, counts = weighted
        repeated = np.repeat(X, counts, axis=0)
        assume(np.ptp(repeated, axis=0).any())
        np.testing.assert_allclose(
            parzen_log_density(X, sample_weight=counts),
            parzen_log_density(repeated, points=X),
            rtol=1e-9,
            atol=1e-9,
        )

    def test_integrates_to_one(self):
        X = np.random.default_rng(0).standard_normal((40, 1))
        grid = np.linspace(-12, 12, 4001)
        values = np.exp(parzen_log_density(X, points=grid[:, None]))
        assert np.trapezoid(values, grid) == pytest.approx(1.0, abs=1e-9)

    def test_moves_with_the_data(self):
        rng = np.random.default_rng(0)
        X, weights = rng.random((50, 4)), rng.random(50) + 1
        plain = parzen_log_density(X, sample_weight=weights)
        moved = X @ random_rotation(4, rng) + 1e4
        np.testing.assert_allclose(parzen_log_density(moved, sample_weight=weights), plain, atol=1e-8)
        order = rng.permutation(50)
        np.testing.assert_allclose(
            parzen_log_density(X[order], sample_weight=weights[order]), plain[order], rtol=1e-12, atol=1e-12
        )
        scaled = parzen_log_density(5.0 * X, sample_weight=weights)
        np.testing.assert_allclose(scaled, plain - 4 * np.log(5.0), rtol=1e-12, atol=1e-12)

    def test_far_points_have_a_finite_log_density(self):
        X = np.zeros((2, 1))
        (value,) = parzen_log_density(X, bandwidth=1e-3, points=[[1e6]])
        assert value == pytest.approx(-0.5e18 - np.log(np.sqrt(2 * np.pi) * 1e-3))

    def test_single_precision_samples(self):
        X = np.random.default_rng(0).random((200, 3)).astype(np.float32) + 100
        found = parzen_log_density(X)
        assert found.dtype == np.float64
        np.testing.assert_allclose(found, parzen_log_density(X.astype(np.float64)), rtol=1e-12)

    def test_memory_stays_bounded(self):
        X = np.random.default_rng(0).random((3000, 5))  # the distances alone would take 72 MB
        with threadpool_limits(1):
            tracemalloc.start()
            parzen_log_density(X)
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
        assert peak < 32e6

    def test_says_what_is_wrong(self):
        with pytest.raises(ValueError, match=r"same point.*set a positive bandwidth"):
            parzen_log_density(np.ones((5, 2)))
        with pytest.raises(ValueError, match="no pair of samples"):
            parzen_log_density([[1.0]])
        with pytest.raises(ValueError, match=r"no pair of samples.*only one sample has a weight"):
            parzen_log_density([[1.0], [2.0]], sample_weight=[0.5, 0.0])
        with pytest.raises(ValueError, match="points have 1 features, but the samples have 2"):
            parzen_log_density(np.eye(2), points=[[1.0]])
        for bandwidth in (0.0, -1.0, np.nan):
            with pytest.raises(ValueError, match="bandwidth"):
                parzen_log_density(np.eye(2), bandwidth=bandwidth)
        with pytest.raises(ValueError, match="sample_weight"):
            parzen_log_density(np.eye(2), sample_weight=[0, 0])

    def test_shares_count_once_on_average(self):
        shares = parzen_log_density([[1.0], [2.0]], sample_weight=[0.5, 0.5])
        np.testing.assert_allclose(shares, parzen_log_density([[1.0], [2.0]]), rtol=1e-12)


class TestMeanPairwiseDistance:
    @pytest.mark.parametrize("n", [2, 50, 1000])
    def test_is_the_mean_over_pairs(self, n):
        X = np.random.default_rng(n).standard_normal((n, 4))
        assert mean_pairwise_distance(X) == pytest.approx(pdist(X).mean(), rel=1e-12)

    @given(weighted_samples())
    def test_weight_counts_samples(self, weighted):
        X, counts = weighted
        oracle = pdist(np.repeat(X, counts, axis=0)).mean()
        assert mean_pairwise_distance(X, counts) == pytest.approx(oracle, rel=1e-9, abs=1e-12)

    def test_does_not_lose_digits_far_from_the_origin_or_in_tight_clusters(self):
        rng = np.random.default_rng(0)
        X = 1e-4 * rng.random((60, 2))
        X[:30] += 1e4
        within = pdist(X[:30]).mean()
        assert mean_pairwise_distance(X[:30]) == pytest.approx(within, rel=1e-9)
        assert mean_pairwise_distance(X) == pytest.approx(pdist(X).mean(), rel=1e-12)

    def test_control_data_of_the_thesis(self):
        rng = np.random.default_rng(0)
        for d, expected in ((1, 0.519), (2, 0.659), (3, 0.746)):
            x = rng.random((2000, d))
            X = np.column_stack([x, np.sin(np.pi * x).prod(axis=1)])
            assert mean_pairwise_distance(X) == pytest.approx(expected, abs=0.01)


class TestCorrelationIntegral:
    @given(weighted_samples(), st.lists(st.floats(-1, 300), max_size=5))
    def test_counts_pairs_below_the_radius(self, weighted, radii):
        X, counts = weighted
        repeated = np.repeat(X, counts, axis=0)
        distances = [math.dist(a, b) for i, a in enumerate(repeated) for b in repeated[:i]]
        radii = [r for r in radii if all(abs(r - d) > 1e-6 for d in distances)]  # not decided by rounding
        oracle = [sum(d < r for d in distances) / len(distances) for r in radii]
        np.testing.assert_allclose(correlation_integral(X, radii, sample_weight=counts), oracle, atol=1e-12)

    def test_inequality_is_strict_and_shape_is_kept(self, tiny_tiles):
        X = np.arange(5.0)[:, None]
        found = correlation_integral(X, [[4.0, 1.0], [1.5, 5.0]])
        np.testing.assert_allclose(found, [[0.9, 0.0], [0.4, 1.0]])
        assert correlation_integral(X, 0.0) == 0.0

    def test_large_data_are_thinned_in_the_same_way_each_time(self):
        X = np.random.default_rng(0).random((3000, 2))
        thinned = correlation_integral(X, [0.1, 0.5], max_samples=1000)
        np.testing.assert_array_equal(thinned, correlation_integral(X, [0.1, 0.5], max_samples=1000))
        np.testing.assert_allclose(thinned, correlation_integral(X, [0.1, 0.5]), rtol=0.05)

    def test_radii_have_to_be_numbers(self):
        with pytest.raises(ValueError, match="NaN"):
            correlation_integral(np.eye(3), [np.nan])


class TestCorrelationDimension:
    @pytest.mark.parametrize(
        ("dim", "tolerance", "n"), [(1, 0.05, 1500), (2, 0.1, 1500), (3, 0.2, 1500), (2, 0.1, 6000)]
    )
    def test_finds_lines_planes_and_cubes(self, dim, tolerance, n):
        X = cube(dim, n, 6, np.random.default_rng(dim))
        assert correlation_dimension(X) == pytest.approx(dim, abs=tolerance)

    def test_small_data(self):
        for dim in (1, 2):
            found = [correlation_dimension(cube(dim, 60, 4, np.random.default_rng(seed))) for seed in range(10)]
            assert np.mean(found) == pytest.approx(dim, abs=0.2)

    def test_slope_between_two_quantiles(self):
        X = np.random.default_rng(0).random((300, 3))
        distances = np.sort(pdist(X))
        dimension, radii, shares = correlation_dimension(X, quantiles=(0.02, 0.2), return_curve=True)
        np.testing.assert_allclose(shares, np.searchsorted(distances, radii) / len(distances), atol=1e-12)
        np.testing.assert_allclose(shares, correlation_integral(X, radii), atol=1e-12)
        low, high = np.quantile(distances, [0.02, 0.2])
        r = np.geomspace(low, high, 200)
        oracle = np.polyfit(np.log(r), np.log(np.searchsorted(distances, r, side="right") / len(distances)), 1)[0]
        assert dimension == pytest.approx(oracle, rel=0.01)

    def test_repeated_samples_and_weights_do_not_count(self):
        rng = np.random.default_rng(0)
        X = rng.random((300, 2))
        plain = correlation_dimension(X)
        assert correlation_dimension(np.repeat(X, 3, axis=0)) == pytest.approx(plain, rel=1e-12)
        assert correlation_dimension(X, sample_weight=np.full(300, 1e-3)) == pytest.approx(plain, rel=1e-12)
        counts = rng.integers(0, 4, 300)
        weighted = correlation_dimension(X, sample_weight=counts)
        assert weighted == pytest.approx(correlation_dimension(np.repeat(X, counts, axis=0)), rel=1e-12)
        assert weighted != pytest.approx(plain, rel=1e-6)

    def test_does_not_depend_on_place_scale_or_order(self, tiny_tiles):
        rng = np.random.default_rng(0)
        X = rng.random((90, 3))
        plain = correlation_dimension(X)
        assert correlation_dimension(X[rng.permutation(90)]) == pytest.approx(plain, rel=1e-9)
        assert correlation_dimension(1024.0 * X) == pytest.approx(plain, rel=1e-9)
        assert correlation_dimension(X @ random_rotation(3, rng) + 10) == pytest.approx(plain, abs=0.05)
        assert correlation_dimension(1e-9 * X) == pytest.approx(plain, abs=0.05)

    def test_a_grid_has_two_dimensions(self):
        grid = np.stack(np.meshgrid(np.arange(25.0), np.arange(25.0)), axis=-1).reshape(-1, 2)
        assert correlation_dimension(grid) == pytest.approx(2.0, abs=0.25)

    def test_large_data_in_single_precision(self):
        X = cube(2, 20_000, 4, np.random.default_rng(0)).astype(np.float32)
        first = correlation_dimension(X)
        assert first == correlation_dimension(X)
        assert first == pytest.approx(2.0, abs=0.06)

    def test_says_what_is_wrong(self):
        with pytest.raises(ValueError, match="same point"):
            correlation_dimension(np.ones((10, 3)))
        with pytest.raises(ValueError, match="no finite dimension"):
            correlation_dimension(np.eye(10))
        for quantiles in ((0.1, 0.1), (0.2, 0.1), (-0.1, 0.5), (0.1, 1.5)):
            with pytest.raises(ValueError, match="quantiles"):
                correlation_dimension(np.random.default_rng(0).random((10, 2)), quantiles=quantiles)
        with pytest.raises(ValueError, match="max_samples"):
            correlation_dimension(np.eye(10), max_samples=1)


class TestSquaredDistances:
    @given(arrays(np.float64, (4, 3), elements=COORDINATES), arrays(np.float64, (5, 3), elements=COORDINATES))
    def test_agrees_with_differences(self, A, B):
        np.testing.assert_allclose(squared_distances(A, B), cdist(A, B, "sqeuclidean"), rtol=1e-8, atol=1e-30)

    def test_the_same_point_has_distance_zero(self):
        A = 1e3 + np.random.default_rng(0).random((20, 7))
        squared = squared_distances(A, A)
        assert not squared.diagonal().any()
        np.testing.assert_allclose(squared, cdist(A, A, "sqeuclidean"), rtol=1e-8)
