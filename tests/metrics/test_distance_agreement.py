import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import minimize_scalar
from scipy.spatial.distance import cdist, pdist, squareform
from scipy.stats import pearsonr, spearmanr

from protolearn.metrics import distance_correlation, sammon_stress, view_quality


def sammon_by_definition(X, Y, scale):
    error = total = 0.0
    for i, j in combinations(range(len(X)), 2):
        d, e = math.dist(X[i], X[j]), scale * math.dist(Y[i], Y[j])
        total += d
        error += (d - e) ** 2 / d if d > 0 else 0.0
    return error / total


@pytest.fixture
def views():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 20))
    X[50:] = X[:10]
    return X, X[:, :2] + 0.2 * rng.standard_normal((60, 2))


class TestSammonStress:
    def test_by_definition(self, views):
        X, Y = views
        assert sammon_stress(X, Y, scaled=False) == pytest.approx(sammon_by_definition(X, Y, 1.0), rel=1e-9)
        assert sammon_stress(cdist(X, X), Y, metric="precomputed") == pytest.approx(sammon_stress(X, Y), rel=1e-9)

    def test_no_other_scale_is_better(self, views):
        X, Y = views
        best = minimize_scalar(lambda scale: sammon_by_definition(X, Y, scale), bracket=(0.5, 5), tol=1e-9)
        assert best.x > 1.5
        assert sammon_stress(X, Y) == pytest.approx(best.fun, rel=1e-9)

    def test_scale_of_the_view_counts_only_if_wanted(self, views):
        X, Y = views
        assert sammon_stress(X, 1e-5 * Y) == pytest.approx(sammon_stress(X, Y), rel=1e-9)
        assert sammon_stress(X, 1.5 * X, scaled=False) == pytest.approx(0.25, rel=1e-9)
        assert sammon_stress(X, 1.5 * X) == pytest.approx(0.0, abs=1e-12)
        assert view_quality(X, Y).sammon_stress == pytest.approx(sammon_stress(X, Y), rel=1e-12)


class TestDistanceCorrelation:
    def test_as_scipy(self, views):
        X, Y = views
        d, e = pdist(X), pdist(Y)
        assert distance_correlation(X, Y, "pearson") == pytest.approx(pearsonr(d, e)[0], abs=1e-12)
        assert distance_correlation(X, Y) == pytest.approx(spearmanr(d, e)[0], abs=1e-12)
        quality = view_quality(X, Y)
        assert (quality.pearson, quality.spearman) == pytest.approx((pearsonr(d, e)[0], spearmanr(d, e)[0]), abs=1e-12)

    @settings(max_examples=40, deadline=None)
    @given(
        arrays(np.int64, (8, 2), elements=st.integers(0, 3), unique=False),
        arrays(np.int64, (8, 1), elements=st.integers(0, 5)),
    )
    def test_ties_share_their_average_rank(self, X, Y):
        d, e = pdist(X), pdist(Y)
        if np.ptp(d) == 0 or np.ptp(e) == 0:
            return
        assert distance_correlation(X, Y) == pytest.approx(spearmanr(d, e)[0], abs=1e-12)
        assert distance_correlation(X, Y, "pearson") == pytest.approx(pearsonr(d, e)[0], abs=1e-12)

    def test_distances_that_hardly_differ(self):
        rng = np.random.default_rng(0)
        Y = rng.random((40, 2))
        D = squareform(1e4 + 1e-3 * pdist(Y) + 1e-4 * rng.random(780))
        expected = pearsonr(squareform(D), pdist(Y))[0]
        assert distance_correlation(D, Y, "pearson", metric="precomputed") == pytest.approx(expected, abs=1e-7)

    @pytest.mark.parametrize("kind", ["spearman", "pearson"])
    def test_equal_distances_have_no_correlation(self, kind):
        D, Y = 1.0 - np.eye(5), np.arange(5.0)[:, None]
        assert math.isnan(distance_correlation(D, Y, kind, metric="precomputed"))
        assert math.isnan(getattr(view_quality(D, Y, metric="precomputed"), kind))

    @pytest.mark.parametrize("case", ["clouds", "far outlier", "concentrated", "grid", "duplicates"])
    def test_many_samples_in_buckets(self, case, monkeypatch):
        rng = np.random.default_rng(0)
        X, Y = rng.standard_normal((300, 5)), rng.standard_normal((300, 2))
        Y += X[:, :2]
        if case == "far outlier":
            X[0], Y[1] = 1e5, -1e6
        elif case == "concentrated":
            X = np.hstack([X, rng.standard_normal((300, 4000))])
        elif case == "grid":
            X, Y = X.round(), Y.round()
        elif case == "duplicates":
            X[:250], Y[100:] = X[0], Y[100]
        exact = distance_correlation(X, Y)
        monkeypatch.setattr("protolearn.metrics._distances.EXACT", 0)
        tolerance = 5e-5 if case == "far outlier" else 5e-6  # one in 150 distances is that of the outlier
        assert distance_correlation(X, Y) == pytest.approx(exact, abs=tolerance)

    def test_buckets_in_blocks_and_threads(self, views, monkeypatch):
        X, Y = views
        monkeypatch.setattr("protolearn.metrics._distances.EXACT", 0)
        whole = distance_correlation(X, Y)
        monkeypatch.setattr("protolearn.metrics._spaces.HELD", 8 * 60 * 7)
        assert view_quality(X, Y, n_jobs=3).spearman == pytest.approx(whole, abs=1e-12)
        assert distance_correlation(X, 2 * X) == pytest.approx(1, abs=1e-12)

    def test_says_what_is_wrong(self, views):
        X, Y = views
        with pytest.raises(ValueError, match="kind='kendall' must be one of 'spearman', 'pearson'"):
            distance_correlation(X, Y, "kendall")
        for measure in (distance_correlation, sammon_stress):
            with pytest.raises(ValueError, match="All samples in Y coincide"):
                measure(X, np.ones((60, 2)))
            with pytest.raises(ValueError, match="X has 60 samples, but Y has 59"):
                measure(X, Y[1:])
            with pytest.raises(ValueError, match="must be symmetric"):
                measure(np.triu(cdist(X, X)), Y, metric="precomputed")
