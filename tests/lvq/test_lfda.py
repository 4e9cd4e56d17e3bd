"""LFDA: scatters by their definition over all pairs, Fisher's analysis as a special case, invariances."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import eigh, subspace_angles
from sklearn.datasets import load_iris, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from protolearn.lvq import _lfda
from protolearn.lvq._lfda import LFDA, local_scatters

X, y = load_wine(return_X_y=True)
X = (X - X.mean(axis=0)) / X.std(axis=0)


def by_definition(X, y, n_neighbors):
    """Return the scatters within and between classes from n x n matrices of weights."""
    n = len(X)
    D = ((X[:, None] - X) ** 2).sum(axis=2)
    within, between = np.zeros((n, n)), np.full((n, n), 1 / n)
    for label in np.unique(y):
        rows = np.flatnonzero(y == label)
        block = np.ix_(rows, rows)
        A = np.zeros((len(rows), len(rows)))
        s = np.sqrt(np.sort(D[block], axis=1)[:, min(n_neighbors, len(rows) - 1)])
        for a in range(len(rows)):
            for b in range(len(rows)):
                if s[a] * s[b] > 0:
                    A[a, b] = np.exp(-D[block][a, b] / (s[a] * s[b]))
        within[block] = A / len(rows)
        between[block] = A * (1 / n - 1 / len(rows))
    differences = X[:, None] - X
    return tuple(np.einsum("ij,ija,ijb->ab", W, differences, differences) / 2 for W in (within, between))


@pytest.mark.parametrize("n_neighbors", [1, 2, 7, 100])
@pytest.mark.parametrize("block", [1 << 20, 100])
def test_scatters_by_definition(n_neighbors, block, monkeypatch):
    monkeypatch.setattr(_lfda, "HELD", 8 * block)
    some = X[::2] - X[::2].mean(axis=0), y[::2]
    for ours, expected in zip(local_scatters(*some, n_neighbors), by_definition(*some, n_neighbors)):
        assert_allclose(ours, expected, rtol=1e-9, atol=1e-9)


@settings(max_examples=50, deadline=None)
@given(values=st.lists(st.tuples(*[st.integers(-2, 2)] * 2), min_size=5, max_size=20), n_neighbors=st.integers(1, 4))
def test_scatters_with_duplicates_and_single_samples(values, n_neighbors):
    points = np.array(values, dtype=float)
    codes = np.arange(len(points)) % 2
    codes[0] = 2
    for ours, expected in zip(
        local_scatters(points - points.mean(axis=0), codes, n_neighbors), by_definition(points, codes, n_neighbors)
    ):
        assert_allclose(ours, expected, atol=1e-9)


@pytest.mark.parametrize("n_components", [2, None])
def test_directions_solve_the_eigenproblem(n_components):
    within, between = by_definition(X, y, 7)
    model = LFDA(n_components, scaling="plain").fit(X, y)
    M = n_components or 13
    assert model.components_.shape == (M, 13)
    assert_allclose(model.eigenvalues_, eigh(between, within, eigvals_only=True)[::-1][:M], rtol=1e-5, atol=1e-7)
    assert_allclose(model.components_ @ within @ model.components_.T, np.eye(M), atol=1e-6)
    assert_allclose(model.components_ @ between @ model.components_.T, np.diag(model.eigenvalues_), atol=1e-5)


def test_affinity_one_is_fishers_analysis(monkeypatch):
    monkeypatch.setattr(
        _lfda, "local_affinities", lambda members, _: [(slice(None), np.ones((len(members), len(members))))]
    )
    within, between = local_scatters(X, y, 7)
    means = np.array([X[y == label].mean(axis=0) for label in range(3)])
    assert_allclose(within, (X - means[y]).T @ (X - means[y]), rtol=1e-9, atol=1e-9)
    assert_allclose(between, means[y].T @ means[y], rtol=1e-9, atol=1e-9)
    fisher = LinearDiscriminantAnalysis(solver="eigen").fit(X, y).scalings_[:, :2]
    ours = LFDA(2, scaling="plain").fit(X, y).components_
    cosines = (ours * fisher.T).sum(axis=1) / np.linalg.norm(ours, axis=1) / np.linalg.norm(fisher, axis=0)
    assert_allclose(np.abs(cosines), 1.0, atol=1e-9)


def test_scalings_span_the_same_space():
    plain, weighted, orthonormal = (
        LFDA(3, scaling=scaling).fit(X, y) for scaling in ("plain", "weighted", "orthonormalized")
    )
    assert_allclose(weighted.components_, plain.components_ * np.sqrt(plain.eigenvalues_)[:, None], rtol=1e-9)
    assert_allclose(orthonormal.components_ @ orthonormal.components_.T, np.eye(3), atol=1e-12)
    assert_allclose(subspace_angles(orthonormal.components_.T, plain.components_.T), 0.0, atol=1e-6)
    for model in (plain, weighted, orthonormal):
        peaks = np.abs(model.components_).argmax(axis=1)
        assert np.all(model.components_[np.arange(3), peaks] > 0)
        assert_array_equal(model.eigenvalues_, plain.eigenvalues_)


@settings(max_examples=50, deadline=None)
@given(
    values=st.lists(st.tuples(*[st.floats(-5, 5)] * 3), min_size=6, max_size=20),
    n_neighbors=st.integers(1, 9),
    n_classes=st.integers(2, 3),
)
def test_scatters_are_positive_semidefinite(values, n_neighbors, n_classes):
    points = np.array(values)
    points = points - points.mean(axis=0)
    for scatter in local_scatters(points, np.arange(len(points)) % n_classes, n_neighbors):
        assert np.linalg.eigvalsh(scatter)[0] >= -1e-9


@pytest.mark.parametrize("scaling", ["weighted", "orthonormalized", "plain"])
def test_shift_scale_rotation_and_order(scaling):
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(13, 13)))[0]
    order = np.random.default_rng(1).permutation(len(X))
    model = LFDA(2, scaling=scaling).fit(X, y)
    gamma = model.components_.T @ model.components_
    power = 0 if scaling == "orthonormalized" else 1
    moved = LFDA(2, scaling=scaling).fit(1e3 * X[order] + 5.0, np.array(["c", "a", "b"])[y[order]])
    assert_allclose(moved.components_ * 1e3**power, model.components_, rtol=1e-6, atol=1e-8)
    turned = LFDA(2, scaling=scaling).fit(X @ turn, y).components_
    assert_allclose(turned.T @ turned, turn.T @ gamma @ turn, rtol=1e-6, atol=1e-8)
    huge = LFDA(2, scaling=scaling).fit(1e200 * X, y).components_
    assert_allclose(huge * 1e200**power, model.components_, rtol=1e-6, atol=1e-8)


def test_classes_of_several_clusters():
    rng = np.random.default_rng(0)
    points = np.vstack([rng.normal([m, 0], [0.5, 3.0], (50, 2)) for m in (-4, 0, 4)])
    labels = np.repeat([0, 1, 0], 50)
    neighbors = KNeighborsClassifier(5)
    local = cross_val_score(make_pipeline(LFDA(1), neighbors), points, labels).mean()
    fisher = cross_val_score(
        make_pipeline(LinearDiscriminantAnalysis(n_components=1), neighbors), points, labels
    ).mean()
    assert local > 0.98 > fisher + 0.05


def test_more_features_than_samples():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(20, 50))
    points[::2, 0] += 5.0
    model = LFDA(2).fit(points, np.arange(20) % 2)
    assert np.isfinite(model.components_).all()
    assert np.isfinite(model.eigenvalues_).all()


def test_transform_and_names():
    frame, labels = load_iris(return_X_y=True, as_frame=True)
    model = LFDA(2).set_output(transform="pandas").fit(frame, labels)
    view = model.transform(frame)
    assert list(view.columns) == ["lfda0", "lfda1"]
    assert_allclose(view, frame.to_numpy() @ model.components_.T)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_components": 14}, r"n_components=14 must be an integer in \[1, 13\] \(n_features\)"),
        ({"n_components": 0}, "n_components=0"),
        ({"n_neighbors": 0}, "n_neighbors=0 must be an integer"),
        ({"scaling": "none"}, "scaling='none' must be one of"),
    ],
)
def test_refuses_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        LFDA(**parameters).fit(X, y)


def test_refuses_samples_without_scatter():
    with pytest.raises(ValueError, match="1 class only"):
        LFDA().fit(X, np.zeros(len(X)))
    with pytest.raises(ValueError, match="within-class scatter is zero"):
        LFDA().fit(np.repeat(np.eye(3), 10, axis=0), np.repeat([0, 1, 2], 10))
    with pytest.raises(ValueError, match="within-class scatter is zero"):
        LFDA().fit(X[:5], np.arange(5))
