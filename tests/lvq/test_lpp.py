"""LPP: scatters and directions by their definition, invariances, and what it is for."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import eigh
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits, load_wine
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
    for ours, expected in zip(preserved_scatters(X, X, n_neighbors), by_definition(X, n_neighbors)[1:]):
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


def with_null_directions(X, kind):
    first = X[:, :3]
    return {
        "constant": np.hstack([X, np.full((len(X), 2), 0.1), np.full((len(X), 1), 1e6)]),
        "duplicates": np.hstack([X, first]),
        "sum": np.hstack([X, first.sum(axis=1, keepdims=True)]),
        "sum of large numbers": np.hstack([X + 1e5, first.sum(axis=1, keepdims=True) + 3e5]),
    }[kind]


@pytest.mark.parametrize("kind", ["constant", "duplicates", "sum", "sum of large numbers"])
@pytest.mark.parametrize("n_components", [1, 3])
def test_null_directions_are_not_the_first(kind, n_components):
    more = with_null_directions(X, kind)
    model = LPP(n_components).fit(more)
    _, near, whole = by_definition(more, 7)
    axes = np.linalg.svd(more - more.mean(axis=0), full_matrices=False)[2][:13].T  # those of the space of the data
    expected = eigh(axes.T @ near @ axes, axes.T @ whole @ axes, eigvals_only=True)[:n_components]
    assert_allclose(model.eigenvalues_, expected, rtol=1e-4)
    T = model.components_
    assert_allclose(T @ whole @ T.T, np.eye(n_components), atol=1e-5)


def test_number_of_directions_is_that_of_the_space_of_the_data():
    constant = with_null_directions(X, "constant")
    assert LPP().fit(constant).components_.shape == LFDA().fit(constant, y).components_.shape == (13, 16)
    assert not LPP().fit(constant).components_[:, 13:].any()
    dependent = with_null_directions(X, "duplicates")
    assert LPP(15).fit(dependent).components_.shape == LFDA(15).fit(dependent, y).components_.shape == (13, 16)


def test_units_of_faint_features_do_not_matter():
    rng = np.random.default_rng(0)
    faint = rng.normal(size=(len(X), 1))
    values = [LPP(3).fit(np.hstack([X, unit * faint])).eigenvalues_ for unit in (1e-5, 1e-8)]
    assert_allclose(*values, rtol=1e-4)


def test_digits():
    digits = load_digits().data[:600]
    varies = digits.std(axis=0) > 0
    assert not varies.all()
    for k in (3, 10):
        Z, inside = LPP(k).fit_transform(digits), LPP(k).fit_transform(digits[:, varies])
        assert_allclose(cdist(Z, Z), cdist(inside, inside), rtol=1e-6, atol=1e-6)


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
