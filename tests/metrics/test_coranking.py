from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_array_equal
from scipy.spatial.distance import cdist, squareform
from sklearn.decomposition import PCA
from sklearn.manifold import trustworthiness as sklearn_trustworthiness

from protolearn.metrics import (
    _views,
    b_nx,
    continuity,
    coranking_matrix,
    distance_correlation,
    extrusions,
    intrusions,
    lcmc,
    nearest_neighbor_error,
    neighborhood_hit,
    point_quality,
    q_nx,
    r_nx,
    sammon_stress,
    stress,
    trustworthiness,
    view_quality,
)

CURVES = {"q_nx": q_nx, "b_nx": b_nx, "lcmc": lcmc, "r_nx": r_nx}
NUMBERS = (trustworthiness, continuity)
HELD = "protolearn.metrics._spaces.HELD"


def grid(rows, columns, high=3):
    """Points with whole coordinates: distances have many ties, and their squares no rounding."""
    return arrays(np.int64, (rows, columns), elements=st.integers(-high, high))


def not_all_the_same(points):
    return (points != points[0]).any()


def orders(points):
    """Neighbors of each point, by whole squared distances, equal ones by their index."""
    squares = [[sum((a - b) ** 2 for a, b in zip(p, q)) for q in points.tolist()] for p in points.tolist()]
    return orders_of(squares)


def orders_of(distances):
    n = len(distances)
    return [sorted((j for j in range(n) if j != i), key=lambda j: (distances[i][j], j)) for i in range(n)]


def matrix_by_definition(given, shown):
    n = len(given)
    matrix = np.zeros((n - 1, n - 1), int)
    for in_data, in_view in zip(given, shown):
        for k, j in enumerate(in_data):
            matrix[k, in_view.index(j)] += 1
    return matrix


def measures_by_definition(given, shown, K):
    """Every measure at one size, straight from sets of neighbors and ranks of single pairs."""
    n = len(given)
    kept = in_view_only = in_data_only = intrusions = extrusions = 0
    for in_data, in_view in zip(given, shown):
        kept += len(set(in_data[:K]) & set(in_view[:K]))
        in_view_only += sum(in_data.index(j) + 1 - K for j in in_view[:K] if in_data.index(j) >= K)
        in_data_only += sum(in_view.index(j) + 1 - K for j in in_data[:K] if in_view.index(j) >= K)
        both = set(in_data[:K]) & set(in_view[:K])
        intrusions += sum(in_view.index(j) < in_data.index(j) for j in both)
        extrusions += sum(in_view.index(j) > in_data.index(j) for j in both)
    worst = sum(sorted((max(0, rank - K) for rank in range(1, n)), reverse=True)[:K]) * n
    q = kept / (K * n)
    return {
        "q_nx": q,
        "b_nx": (extrusions - intrusions) / (K * n),
        "mild_intrusions": intrusions / (K * n),
        "mild_extrusions": extrusions / (K * n),
        "hard_intrusions": sum(len(set(in_view[:K]) - set(in_data[:K])) for in_data, in_view in zip(given, shown))
        / (K * n),
        "lcmc": q - K / (n - 1),
        "r_nx": ((n - 1) * q - K) / (n - 1 - K),
        "trustworthiness": 1 - in_view_only / worst,
        "continuity": 1 - in_data_only / worst,
    }


def local_global_by_definition(given, shown):
    n = len(given)
    q = [sum(len(set(a[:K]) & set(b[:K])) for a, b in zip(given, shown)) / (K * n) for K in range(1, n)]
    k_max = max(range(1, n), key=lambda K: (round(q[K - 1] - K / (n - 1), 12), -K))
    return sum(q[:k_max]) / k_max, sum(q[k_max - 1 :]) / (n - k_max), k_max


@pytest.fixture
def views():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((70, 5))
    return X, X[:, :2] + 0.5 * rng.standard_normal((70, 2))


class TestDefinition:
    @settings(max_examples=60, deadline=None)
    @given(st.integers(3, 12).flatmap(lambda n: st.tuples(grid(n, 3), grid(n, 2))))
    def test_all_measures_with_many_ties(self, points):
        X, Y = points
        if not (not_all_the_same(X) and not_all_the_same(Y)):
            return
        given, shown = orders(X), orders(Y)
        quality = view_quality(X, Y)
        assert quality.k.tolist() == list(range(1, len(X) - 1))
        for K in quality.k:
            for name, value in measures_by_definition(given, shown, K).items():
                assert getattr(quality, name)[K - 1] == pytest.approx(value, abs=1e-12)
        expected = local_global_by_definition(given, shown)
        assert (quality.q_local, quality.q_global, quality.k_max) == pytest.approx(expected, abs=1e-12)
        assert (coranking_matrix(X, Y) == matrix_by_definition(given, shown)).all()

    def test_functions_give_the_same_as_the_bundle(self, views):
        X, Y = views
        quality = view_quality(X, Y)
        for name, function in CURVES.items():
            curve = getattr(quality, name)
            assert function(X, Y).tolist() == curve.tolist()
            assert [function(X, Y, k) for k in (1, 7, 68)] == curve[[0, 6, 67]].tolist()
        assert [trustworthiness(X, Y, k) for k in (1, 7, 34)] == quality.trustworthiness[[0, 6, 33]].tolist()
        assert [continuity(X, Y, k) for k in (1, 7, 34)] == quality.continuity[[0, 6, 33]].tolist()
        weights = 1 / quality.k
        assert quality.auc == pytest.approx(weights @ quality.r_nx / weights.sum(), rel=1e-12)

    @pytest.mark.parametrize("n_features", [3, 16, 17, 40])
    def test_equal_distances_count_in_the_order_of_the_samples(self, n_features):
        """On a grid far from the origin, and whether distances come from differences or products."""
        rng = np.random.default_rng(n_features)
        X, Y = rng.integers(0, 3, (60, n_features)), rng.integers(0, 4, (60, 2))
        X[30:40], Y[30:45] = X[:10], Y[:15]
        expected = matrix_by_definition(orders(X), orders(Y))
        for moved in (X, X + 10**6, X / 8 - 1000):
            assert (coranking_matrix(moved, Y) == expected).all()

    def test_order_of_distances_of_any_size(self):
        """Nearly equal, tiny and huge distances in one row."""
        rng = np.random.default_rng(0)
        X, Y = (rng.standard_normal((80, 2)) * 10.0 ** rng.integers(-9, 9, (80, 1)) for _ in range(2))
        expected = matrix_by_definition(orders_of(cdist(X, X)), orders_of(cdist(Y, Y)))
        assert (coranking_matrix(X, Y) == expected).all()
        D = squareform(1 + rng.integers(0, 200, 80 * 79 // 2) * 2.0**-52)
        expected = matrix_by_definition(orders_of(D), orders_of(cdist(Y, Y)))
        assert (coranking_matrix(D, Y, metric="precomputed") == expected).all()

    @pytest.mark.parametrize("dtype", [np.float32, np.float64, int])
    def test_dissimilarities(self, dtype):
        rng = np.random.default_rng(1)
        D, Y = np.triu(rng.integers(1, 9, (40, 40)), 1), rng.integers(0, 5, (40, 2))
        D = (D + D.T).astype(dtype)
        expected = matrix_by_definition(orders_of(D), orders(Y))
        assert (coranking_matrix(D, Y, metric="precomputed") == expected).all()
        values = measures_by_definition(orders_of(D), orders(Y), 6)
        quality = view_quality(D, Y, metric="precomputed")
        assert {name: getattr(quality, name)[5] for name in values} == pytest.approx(values, abs=1e-12)

    def test_distances_as_dissimilarities(self, views):
        X, Y = views
        direct, given = view_quality(X, Y), view_quality(cdist(X, X), Y, metric="precomputed")
        for name in (*CURVES, "trustworthiness", "continuity", "pearson", "spearman", "sammon_stress"):
            assert getattr(given, name) == pytest.approx(getattr(direct, name), abs=1e-12)

    @pytest.mark.parametrize("k", [1, 2, 10, 34])
    def test_trustworthiness_is_that_of_sklearn(self, views, k):
        X, Y = views
        assert trustworthiness(X, Y, k) == pytest.approx(sklearn_trustworthiness(X, Y, n_neighbors=k), abs=1e-12)
        assert continuity(X, Y, k) == pytest.approx(sklearn_trustworthiness(Y, X, n_neighbors=k), abs=1e-12)
        D = cdist(X, X, "cityblock")
        expected = sklearn_trustworthiness(D, Y, n_neighbors=k, metric="precomputed")
        assert trustworthiness(D, Y, k, metric="precomputed") == pytest.approx(expected, abs=1e-12)

    def test_many_samples_of_many_features_as_sklearn(self):
        rng = np.random.default_rng(0)
        X = rng.standard_normal((1500, 60))
        Y = X[:, :2] + 0.1 * rng.standard_normal((1500, 2))
        assert trustworthiness(X, Y, 12) == pytest.approx(sklearn_trustworthiness(X, Y, n_neighbors=12), abs=1e-12)


class TestProperties:
    def test_coranking_matrix_sums(self, views):
        matrix = coranking_matrix(*views)
        n = len(views[0])
        assert matrix.dtype == np.int32
        assert (matrix.sum(axis=0) == n).all()
        assert (matrix.sum(axis=1) == n).all()
        for K in range(1, n - 1):
            assert matrix[:K, K:].sum() == matrix[K:, :K].sum()

    def test_curves_follow_from_the_matrix(self, views):
        matrix, quality = coranking_matrix(*views), view_quality(*views)
        n = len(views[0])
        for K in quality.k:
            block = matrix[:K, :K]
            assert quality.q_nx[K - 1] == pytest.approx(block.sum() / (K * n), abs=1e-12)
            difference = np.triu(block, 1).sum() - np.tril(block, -1).sum()
            assert quality.b_nx[K - 1] == pytest.approx(difference / (K * n), abs=1e-12)

    def test_the_same_points_are_a_perfect_view(self, views):
        quality = view_quality(views[0], -3 * views[0] + 1)
        for curve in (quality.q_nx, quality.r_nx, quality.trustworthiness, quality.continuity):
            assert curve == pytest.approx(1.0, abs=1e-12)
        assert not quality.b_nx.any()
        assert (quality.auc, quality.q_local, quality.q_global, quality.k_max) == pytest.approx((1, 1, 1, 1))
        assert (quality.pearson, quality.spearman) == pytest.approx((1, 1), abs=1e-12)
        assert quality.sammon_stress == pytest.approx(0, abs=1e-12)

    def test_a_random_view_keeps_neighbors_by_chance(self):
        rng = np.random.default_rng(0)
        quality = view_quality(rng.random((800, 4)), rng.random((800, 2)))
        assert quality.q_nx == pytest.approx(quality.k / 799, abs=0.01)
        assert quality.r_nx[:400] == pytest.approx(0, abs=0.02)
        assert abs(quality.auc) < 0.02
        assert abs(quality.spearman) < 0.05

    def test_sign_of_intrusion(self):
        """Principal components put three layers on top of each other; cutting a circle open tears neighbors apart."""
        rng = np.random.default_rng(0)
        layer = np.repeat([-1.0, 0.0, 1.0], 100)
        X = np.column_stack([rng.normal(0, 4, 300), 4.5 * layer + rng.normal(0, 0.3, 300), rng.normal(0, 6, 300)])
        flat = PCA(2).fit_transform(X)
        seen = view_quality(X, flat, layer)
        assert (seen.b_nx[4:150] > 0.15).all()
        assert seen.nearest_neighbor_error > 0.5
        angle = rng.uniform(0, 2 * np.pi, 300)
        torn = b_nx(np.column_stack([np.cos(angle), np.sin(angle)]), angle[:, None])
        assert (torn[100:290] < 0).all()
        # exchanging data and view exchanges the error
        assert b_nx(flat, X) == pytest.approx(-seen.b_nx, abs=1e-12)

    def test_exchanged_roles(self, views):
        X, Y = views
        there, back = view_quality(X, Y), view_quality(Y, X)
        assert there.q_nx.tolist() == back.q_nx.tolist()
        assert there.trustworthiness.tolist() == back.continuity.tolist()
        assert (coranking_matrix(X, Y) == coranking_matrix(Y, X).T).all()

    def test_order_place_and_scale_do_not_matter(self, views):
        X, Y = views
        rng = np.random.default_rng(1)
        rotation, order = np.linalg.qr(rng.standard_normal((5, 5)))[0], rng.permutation(70)
        plain, moved = view_quality(X, Y), view_quality(7 * X[order] @ rotation - 3, 0.01 * Y[order] + 5)
        for name in (*CURVES, "trustworthiness", "continuity", "pearson", "spearman", "sammon_stress"):
            assert getattr(moved, name) == pytest.approx(getattr(plain, name), abs=1e-9)

    @pytest.mark.parametrize("entries", [1, 70, 70 * 3 + 5, 70 * 69])
    @pytest.mark.parametrize("n_jobs", [1, 3])
    def test_blocks_and_threads_make_no_difference(self, views, monkeypatch, entries, n_jobs):
        X, Y = views
        y = np.arange(70) % 3
        matrix, whole = coranking_matrix(X, Y), view_quality(X, Y, y)
        monkeypatch.setattr(HELD, 8 * entries)
        assert (coranking_matrix(X, Y, n_jobs=n_jobs) == matrix).all()
        parts = view_quality(X, Y, y, n_jobs=n_jobs)
        for name in (*CURVES, "trustworthiness", "continuity", "neighborhood_hit"):
            assert getattr(parts, name).tolist() == getattr(whole, name).tolist()
        for name in ("pearson", "spearman", "sammon_stress", "nearest_neighbor_error"):
            assert getattr(parts, name) == pytest.approx(getattr(whole, name), rel=1e-12)

    def test_three_samples_are_enough(self):
        quality = view_quality([[0.0], [1.0], [3.0]], [[0.0], [2.0], [3.0]])
        assert quality.q_nx.tolist() == pytest.approx([2 / 3])
        assert trustworthiness([[0.0], [1.0], [3.0]], [[0.0], [2.0], [3.0]], 1) == pytest.approx(2 / 3)


class TestSamples:
    """Measures of some samples, whose neighbors are sought among all."""

    @pytest.fixture(scope="class")
    def many(self):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(1500, 4)) * [1.0, 1.0, 0.7, 0.4]
        y = (X[:, 2] > 0.0).astype(int)
        return X, X[:, :2] + 0.1 * rng.normal(size=(1500, 2)), y

    @pytest.fixture(scope="class")
    def whole(self, many):
        return view_quality(*many)

    NUMBERS = ("auc", "sammon_stress", "pearson", "spearman", "nearest_neighbor_error")
    CURVES = ("q_nx", "b_nx", "r_nx", "lcmc", "mild_intrusions", "hard_intrusions", "trustworthiness", "continuity")

    @pytest.mark.parametrize("metric", ["euclidean", "precomputed"])
    def test_are_within_their_errors(self, many, whole, metric):
        X, Y, y = many
        data = cdist(X, X) if metric == "precomputed" else X
        deviations = []
        for seed in range(4):
            some = view_quality(data, Y, y, metric=metric, n_samples=300, random_state=seed)
            assert some.n_samples == 300
            errors = some.standard_errors
            for name in (*self.CURVES, "neighborhood_hit"):
                at = [4, 29, 199]
                gap = getattr(some, name)[at] - getattr(whole, name)[at]
                deviations += (gap / errors[name][at]).tolist()
            deviations += [(getattr(some, name) - getattr(whole, name)) / errors[name] for name in self.NUMBERS]
        sizes = np.abs(deviations)
        assert sizes.max() < 5.0
        assert 0.3 < np.median(sizes) < 1.2  # 0.67 of a normal distribution

    def test_errors_fall_with_their_number(self, many):
        few, more = (view_quality(*many, n_samples=n).standard_errors for n in (150, 1200))
        expected = np.sqrt((1 / 150 - 1 / 1500) / (1 / 1200 - 1 / 1500))
        ratios = few["q_nx"][5:200] / more["q_nx"][5:200]
        assert 0.6 * expected < np.median(ratios) < 1.7 * expected

    def test_of_all_are_exact(self, many, whole):
        for n in (1500, 10_000):
            same = view_quality(*many, n_samples=n)
            assert same.standard_errors == {}
            assert same.n_samples == 1500
            assert_array_equal(same.q_nx, whole.q_nx)
            assert (same.auc, same.spearman) == (whole.auc, whole.spearman)
        assert "±" not in repr(whole)

    def test_many_samples_are_drawn_and_the_result_says_so(self, many, monkeypatch):
        monkeypatch.setattr(_views, "MOST_SAMPLES", 600)
        monkeypatch.setattr(_views, "LEAST_AUTO", 100)
        quality = view_quality(*many)
        assert quality.n_samples == 600**2 // 1500
        assert "n_samples=240" in repr(quality)
        assert f"auc={quality.auc:.4g} ± {quality.standard_errors['auc']:.1g}" in repr(quality)

    @pytest.mark.parametrize("n_samples", [99, 2.5, "all"])
    def test_too_few_are_refused(self, many, n_samples):
        with pytest.raises(ValueError, match=f"n_samples={n_samples!r} must be an integer in .100, inf.*'auto'"):
            view_quality(*many, n_samples=n_samples)


class TestIntrusionsAndExtrusions:
    @pytest.mark.parametrize("K", [1, 5, 30, 68])
    def test_are_parts_of_the_coranking_matrix(self, views, K):
        matrix = coranking_matrix(*views)
        k, l = np.indices(matrix.shape) + 1  # noqa: E741
        for measure, kind, part in (
            (intrusions, "mild", (l < k) & (k <= K)),
            (extrusions, "mild", (k < l) & (l <= K)),
            (intrusions, "hard", (l <= K) & (k > K)),
            (extrusions, "hard", (k <= K) & (l > K)),
        ):
            assert measure(*views, K, kind) == pytest.approx(matrix[part].sum() / (K * 70), rel=1e-12)
            assert measure(*views, kind=kind)[K - 1] == measure(*views, K, kind)

    def test_what_is_kept_and_what_is_not(self, views):
        """Neighbors are kept at their rank, come closer, go away, or are lost to as many strangers."""
        quality = view_quality(*views)
        matrix = coranking_matrix(*views)
        at_their_rank = np.diagonal(matrix).cumsum()[:-1] / (quality.k * 70)
        mild = quality.mild_intrusions + quality.mild_extrusions
        np.testing.assert_allclose(at_their_rank + mild, quality.q_nx, rtol=1e-12)
        np.testing.assert_allclose(quality.q_nx + quality.hard_intrusions, 1.0, rtol=1e-12)
        np.testing.assert_allclose(quality.mild_extrusions - quality.mild_intrusions, quality.b_nx, atol=1e-15)
        np.testing.assert_array_equal(intrusions(*views, kind="hard"), extrusions(*views, kind="hard"))

    def test_roles_are_exchanged_with_the_spaces(self, views):
        X, Y = views
        np.testing.assert_array_equal(intrusions(X, Y), extrusions(Y, X))

    def test_other_kinds_are_refused(self, views):
        with pytest.raises(ValueError, match="kind='soft' must be one of 'mild', 'hard'"):
            intrusions(*views, kind="soft")


class TestSamplesWithoutPositions:
    """Measures are those of the samples that have a position."""

    LOST = np.array([0, 7, 69])
    KEPT = np.setdiff1d(np.arange(70), LOST)

    @pytest.fixture
    def torn(self, views):
        X, Y = views
        Y = Y.copy()
        Y[self.LOST] = np.nan
        return X, Y

    @pytest.mark.parametrize("precomputed", [False, True])
    @pytest.mark.parametrize("measure", [
        coranking_matrix, *CURVES.values(), *NUMBERS, intrusions, extrusions, sammon_stress, distance_correlation,
    ])  # fmt: skip
    def test_are_left_out(self, measure, torn, precomputed):
        X, Y = torn
        options = {"metric": "precomputed"} if precomputed else {}
        given, part = (cdist(X[rows], X[rows]) if precomputed else X[rows] for rows in (slice(None), self.KEPT))
        with pytest.warns(UserWarning, match=r"3 of 70 samples have no position in Y \(rows of NaN\)"):
            found = measure(given, Y, **options)
        np.testing.assert_allclose(found, measure(part, Y[self.KEPT], **options), rtol=1e-12)

    def test_are_counted(self, torn):
        X, Y = torn
        y = np.arange(70) % 3
        with pytest.warns(UserWarning, match="3 of 70 samples"):
            found = view_quality(X, Y, y)
        part = view_quality(X[self.KEPT], Y[self.KEPT], y[self.KEPT])
        assert (found.n_unplaced, part.n_unplaced) == (3, 0)
        assert "n_unplaced=3" in repr(found)
        assert "n_unplaced" not in repr(part)
        for name in ("r_nx", "neighborhood_hit", "nearest_neighbor_error", "pearson", "spearman", "sammon_stress"):
            np.testing.assert_allclose(getattr(found, name), getattr(part, name), rtol=1e-12)

    def test_have_no_quality_of_their_own(self, torn):
        X, Y = torn
        with pytest.warns(UserWarning, match="3 of 70 samples"):
            found = point_quality(X, Y)
        for values, part in zip(found, point_quality(X[self.KEPT], Y[self.KEPT])):
            assert np.isnan(values[self.LOST]).all()
            np.testing.assert_array_equal(values[self.KEPT], part)

    @pytest.mark.parametrize("measure", [nearest_neighbor_error, neighborhood_hit])
    def test_have_no_neighbors_either(self, torn, measure):
        Y, y = torn[1], np.arange(70) % 3
        with pytest.warns(UserWarning, match="3 of 70 samples"):
            found = measure(Y, y, 3)
        assert found == measure(Y[self.KEPT], y[self.KEPT], 3)

    @pytest.mark.parametrize("nonmetric", [False, True])
    def test_have_no_stress(self, torn, nonmetric):
        X, Y = torn
        D = cdist(X, X)
        with pytest.warns(UserWarning, match="3 of 70 samples"):
            found = stress(D, Y, nonmetric)
        assert found == pytest.approx(stress(D[np.ix_(self.KEPT, self.KEPT)], Y[self.KEPT], nonmetric), rel=1e-12)

    def test_bad_positions_are_refused(self, torn):
        X, Y = torn
        with pytest.raises(ValueError, match="all entries of Y are NaN"):
            q_nx(X, np.full((70, 2), np.nan))
        half = np.where(np.arange(2) == 0, np.nan, Y)
        with pytest.raises(ValueError, match="Y contains NaN"):
            q_nx(X, half)
        with (
            pytest.warns(UserWarning, match="3 of 70"),
            pytest.raises(ValueError, match="X has 69 samples, but Y has 70 positions"),
        ):
            q_nx(X[1:], Y)


class TestErrors:
    ALL = (view_quality, coranking_matrix, *CURVES.values(), *NUMBERS)

    @pytest.mark.parametrize("measure", ALL)
    def test_bad_samples(self, measure, views):
        X, Y = views
        with pytest.raises(ValueError, match="X has 70 samples, but Y has 69 positions"):
            measure(X, Y[1:])
        with pytest.raises(ValueError, match="Y has 2 samples, but comparing neighbors needs at least 3"):
            measure(X[:3], Y[:2])
        with pytest.raises(ValueError, match="All samples in Y coincide"):
            measure(X, np.full((70, 2), 0.1))
        with pytest.raises(ValueError, match="All samples in X coincide"):
            measure(np.full((70, 2), 0.1), Y)
        with pytest.raises(ValueError, match="X contains NaN"):
            measure(np.where(X[4, 2] == X, np.nan, X), Y)
        with pytest.raises(ValueError, match="Y contains infinity"):
            measure(X, np.where(Y[4, 1] == Y, np.inf, Y))
        with pytest.raises(ValueError, match="in X are too large"):
            measure(1e200 * X, Y)
        with pytest.raises(ValueError, match="metric='cosine' must be one of 'euclidean', 'precomputed'"):
            measure(X, Y, metric="cosine")

    @pytest.mark.parametrize("measure", ALL)
    def test_bad_dissimilarities(self, measure, views):
        X, Y = views
        measure, D = partial(measure, metric="precomputed"), cdist(X, X)
        with pytest.raises(ValueError, match="not square"):
            measure(D[:, 1:], Y)
        with pytest.raises(ValueError, match="must be symmetric"):
            measure(np.triu(D), Y)
        with pytest.raises(ValueError, match="Negative values"):
            measure(-D, Y)
        with pytest.raises(ValueError, match="none may be NaN"):
            measure(np.where(D[4, 2] == D, np.nan, D), Y)
        with pytest.raises(ValueError, match="All samples in X coincide"):
            measure(np.zeros_like(D), Y)

    @pytest.mark.parametrize("measure", CURVES.values())
    @pytest.mark.parametrize("k", [0, 69, 2.5, True])
    def test_size_of_neighborhoods(self, measure, views, k):
        with pytest.raises(ValueError, match=rf"k={k} must be an integer in \[1, 68\], as there are 70 samples"):
            measure(*views, k)

    @pytest.mark.parametrize("measure", [trustworthiness, continuity])
    def test_neighbors_below_half(self, measure, views):
        with pytest.raises(ValueError, match="n_neighbors=35 must be less than half the number of samples, n=70"):
            measure(*views, 35)
        with pytest.raises(ValueError, match="n_neighbors=0"):
            measure(*views, 0)
