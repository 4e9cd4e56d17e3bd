"""Starts depend on the samples and their weights, not on their order, and do what their names say."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.spatial.distance import cdist
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning

from protolearn.core.initialization import (
    around_center,
    distinct_rows,
    distinct_samples,
    mean_and_variance,
    on_principal_plane,
    principal_axes,
    spread_samples,
)
from protolearn.core.lattices import rectangular
from protolearn.core.sources import ArraySource

seeds = st.integers(0, 10_000)


def draw(start, X, weights=None, seed=0, k=4):
    source = ArraySource(X, weights=weights, origin=np.zeros(X.shape[1]))
    return start(source, k, np.random.RandomState(seed))


@pytest.mark.parametrize("start", [around_center, distinct_samples, spread_samples])
@given(seed=seeds)
@settings(max_examples=25, deadline=None)
def test_weights_are_repetitions_in_any_order(start, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(25, 3))
    weights = rng.integers(0, 4, 25)
    weights[:6] = 1
    repeated = np.repeat(X, weights, axis=0)[::-1]
    assert_allclose(draw(start, X, weights.astype(float), seed), draw(start, repeated, None, seed), atol=1e-9)


@pytest.mark.parametrize("start", [distinct_samples, spread_samples])
def test_draws_are_distinct_samples_with_weight(start):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, size=(60, 2)).astype(float)
    weights = (X[:, 0] > 0).astype(float)
    found = draw(start, X, weights, k=6)
    assert len(np.unique(found, axis=0)) == 6
    assert (found[:, 0] > 0).all()
    assert_allclose(cdist(found, X).min(axis=1), 0)


def test_too_few_distinct_samples_warn():
    X = np.repeat([[0.0], [1.0]], 10, axis=0)
    with pytest.warns(ConvergenceWarning, match="Only 2 distinct samples for 4 prototypes"):
        assert set(draw(spread_samples, X).ravel()) == {0.0, 1.0}


def test_spread_samples_find_far_clusters():
    centers = 100 * np.arange(8)[:, None]
    X = np.vstack([c + np.random.default_rng(i).normal(size=(30, 1)) for i, c in enumerate(centers)])
    for seed in range(20):
        found = np.sort(draw(spread_samples, X, seed=seed, k=8), axis=0)
        assert_allclose(found, centers, atol=5)


@pytest.mark.parametrize("d", [3, 1100])
def test_principal_axes_agree_with_pca(d):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, d)) * np.r_[5, 3, np.ones(d - 2)] + 10
    source = ArraySource(X, chunk_size=17)
    mean, variance = mean_and_variance(source)
    center, values, axes = principal_axes(source, 2)
    assert_allclose(center, mean)
    pca = PCA(2, svd_solver="full").fit(X)
    assert_allclose(mean + source.origin, X.mean(axis=0))
    assert_allclose(variance, X.var(axis=0))
    assert_allclose(values, pca.explained_variance_ * 59 / 60)
    assert_allclose(np.abs((axes * pca.components_).sum(axis=1)), 1, atol=1e-6)


def test_plane_has_the_spread_of_the_data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 4)) * [9, 4, 0.1, 0.1] + 3
    source = ArraySource(X)
    start = on_principal_plane(source, rectangular(5, 8).coordinates) + source.origin
    assert_allclose(start.mean(axis=0), X.mean(axis=0))
    assert_allclose(np.sort(PCA(2).fit(start).explained_variance_) * 39 / 40,
                    np.sort(PCA(2).fit(X).explained_variance_) * 499 / 500)  # fmt: skip
    line = on_principal_plane(ArraySource(X[:, :1]), rectangular(5, 8).coordinates)
    assert line.shape == (40, 1)


@given(seeds)
@settings(max_examples=30, deadline=None)
def test_distinct_rows(seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(-2, 2, size=(40, 3)).astype(rng.choice([np.float32, np.float64])) / 4
    weights = rng.integers(0, 2, 40).astype(float)
    weights[0] = 1
    source = ArraySource(X, weights=weights, origin=np.zeros(3))
    rows, summed = distinct_rows(source)
    expected, same = np.unique(X[weights > 0] + 0.0, axis=0, return_inverse=True)
    order = np.lexsort(X[rows].T[::-1])
    assert_allclose(X[rows][order], expected)
    assert_allclose(summed[order], np.bincount(same.ravel(), weights[weights > 0]))


@pytest.mark.parametrize("n_distinct", [100, 3000])
def test_large_data_are_thinned_or_merged(n_distinct):
    """More samples than are looked at: repetitions are merged, else a random subset is drawn from."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_distinct, 2))
    weights = rng.integers(1, 4, n_distinct)
    repeated = np.repeat(X, weights, axis=0)
    assert len(repeated) * 40 // len(X) > 40
    many = np.tile(repeated, (40, 1))
    found = draw(spread_samples, many, k=4)
    assert_allclose(found, draw(spread_samples, X, 40.0 * weights, k=4), atol=1e-9)
    assert_allclose(cdist(found, X).min(axis=1), 0, atol=1e-12)
