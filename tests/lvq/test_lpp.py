"""LPP: scatters and directions by their definition, invariances, and what it is for."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import eigh
from scipy.spatial.distance import cdist
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA
from sklearn.metrics import silhouette_score

from protolearn import LFDA, LPP, as_metric
from protolearn.lvq import _lfda
from protolearn.lvq._lpp import preserved_scatters

X, y = load_wine(return_X_y=True)
X = (X - X.mean(axis=0)) / X.std(axis=0)


def by_definition(X, n_neighbors):
    """Return affinities, the scatter of neighbors and that of all samples, from n x n matrices."""
    D = cdist(X, X)
    s = np.sort(D, axis=1)[:, min(n_neighbors, len(X) - 1)]
    A = np.exp(-(D**2) / np.outer(s, s))
    degrees = np.diag(A.sum(axis=1))
    centered = X - A.sum(axis=1) @ X / A.sum()
    return A, centered.T @ (degrees - A) @ centered, centered.T @ degrees @ centered


@pytest.mark.parametrize("n_neighbors", [1, 7, 1000])
@pytest.mark.parametrize("block", [1 << 20, 100])
def test_scatters_by_definition(n_neighbors, block, monkeypatch):
    monkeypatch.setattr(_lfda, "HELD", 8 * block)
    for ours, expected in zip(preserved_scatters(X, n_neighbors), by_definition(X, n_neighbors)[1:]):
        assert_allclose(ours, expected, rtol=1e-9, atol=1e-9)


def test_directions_minimize_the_cost():
    A, near, whole = by_definition(X, 7)
    model = LPP(3).fit(X)
    T = model.components_
    assert_allclose(T @ whole @ T.T, np.eye(3), atol=1e-6)
    Z = model.transform(X)
    cost = 0.5 * (A * cdist(Z, Z, "sqeuclidean")).sum()
    assert_allclose(cost, model.eigenvalues_.sum(), rtol=1e-6)
    assert_allclose(model.eigenvalues_, eigh(near, whole, eigvals_only=True)[:3], rtol=1e-5)
    other = np.linalg.qr(np.random.default_rng(0).normal(size=(13, 3)))[0]
    other = other @ np.linalg.inv(np.linalg.cholesky(other.T @ whole @ other)).T
    assert cost < 0.5 * (A * cdist(X @ other, X @ other, "sqeuclidean")).sum()


def test_shift_scale_rotation_and_order():
    rng = np.random.default_rng(0)
    turn = np.linalg.qr(rng.normal(size=(13, 13)))[0]
    order = rng.permutation(len(X))
    model = LPP(2).fit(X)
    moved = LPP(2).fit(3e5 * (X @ turn + 7.0)[order])
    assert_allclose(moved.eigenvalues_, model.eigenvalues_, rtol=1e-8)
    gap = cdist(model.transform(X), model.transform(X))
    other = 3e5 * (X @ turn + 7.0)
    assert_allclose(cdist(moved.transform(other), moved.transform(other)), gap, rtol=1e-6, atol=1e-9)


def test_more_features_than_samples():
    rng = np.random.default_rng(0)
    few = rng.normal(size=(12, 40))
    model = LPP().fit(few)
    assert model.components_.shape == (11, 40)
    axes = np.linalg.svd(few - few.mean(axis=0), full_matrices=False)[2][:11]
    inside = LPP().fit(few @ axes.T)
    assert_allclose(model.eigenvalues_, inside.eigenvalues_, rtol=1e-4, atol=1e-7)


def test_neighbors_stay_together_where_variance_misleads():
    rng = np.random.default_rng(0)
    clusters = np.repeat([0, 1], 100)
    points = np.column_stack([2 * clusters + rng.normal(0, 0.02, 200), rng.normal(0, 2, 200)])
    by_lpp, by_pca = (model.fit(points).transform(points) for model in (LPP(1), PCA(1)))
    assert silhouette_score(by_lpp, clusters) > silhouette_score(by_pca, clusters) + 0.3


def test_equal_samples_are_refused_and_metrics_are_learned():
    with pytest.raises(ValueError, match="All samples of X are equal"):
        LPP().fit(np.ones((5, 2)))
    model = LPP(2).fit(X)
    assert_allclose(as_metric(model).project(X), model.transform(X))
    assert not model.__sklearn_tags__().target_tags.required
    assert LFDA().__sklearn_tags__().target_tags.required
