"""Tangent distances: gradients, invariances, and what they share with local PCA."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits

from protolearn import GLVQ, NGPCA, VQPCA
from protolearn.lvq import SGD, TangentMetric
from protolearn.lvq._tangent import _orthonormal
from protolearn.lvq.cost import RelativeDistance
from protolearn.lvq.problem import Problem, pack

N, CLASSES = 5, np.array([0, 0, 1, 2])


def problem_of(q):
    rng = np.random.default_rng(q)
    X, y, W = rng.normal(size=(40, N)), rng.integers(0, 3, 40), rng.normal(size=(4, N))
    V = rng.normal(size=(4, q, N))  # not orthonormal: Problem normalizes
    cost = RelativeDistance("sigmoid", (2.0, 2.0))
    problem = Problem(X, y, rng.uniform(0.5, 2, 40), CLASSES, TangentMetric(q), cost, 0.0, [W.shape, V.shape])
    return problem, pack(W, (V,))


@pytest.mark.parametrize("q", [1, 2, 4])
def test_gradient_equals_finite_differences(q):
    problem, flat = problem_of(q)
    numeric = np.empty_like(flat)
    for i in range(len(flat)):
        shift = 1e-6 * (np.arange(len(flat)) == i)
        numeric[i] = (problem(flat + shift)[0] - problem(flat - shift)[0]) / 2e-6
    assert np.linalg.norm(problem(flat)[1] - numeric) <= 1e-6 * np.linalg.norm(numeric)


def test_distance_is_that_to_the_subspace():
    problem, flat = problem_of(2)
    W, theta = problem.unpack(problem.normalized(flat))
    D, _ = problem.metric.measure(problem.X, W, CLASSES, theta)
    for p in range(4):
        V = theta[0][p]
        residuals = (problem.X - W[p]) @ (np.eye(N) - V.T @ V)
        assert np.allclose(D[:, p], (residuals**2).sum(axis=1), atol=1e-12)
        assert np.allclose(V @ V.T, np.eye(2))


def test_only_subspaces_count():
    """Other directions of the same subspace, and a prototype that is moved along it, change nothing."""
    problem, flat = problem_of(2)
    rng = np.random.default_rng(1)
    W, (V,) = problem.unpack(flat)
    mixed = rng.normal(size=(4, 2, 2)) @ V
    moved = W + np.einsum("kq,kqi->ki", rng.normal(size=(4, 2)), V)
    assert problem(pack(moved, (mixed,)))[0] == pytest.approx(problem(flat)[0], rel=1e-9)
    Q, L = _orthonormal(V)
    assert np.allclose(L @ Q, V)
    assert np.allclose(_orthonormal(Q)[0], Q)


@pytest.mark.parametrize("model", [VQPCA(3, 2, random_state=0), NGPCA(3, 2, measure="reconstruction", random_state=0)])
def test_distance_is_the_reconstruction_error_of_local_pca(model):
    X = load_digits().data[:300] / 16
    model = clone(model).fit(X)
    theta = (model.components_,)
    D, _ = TangentMetric(2).measure(X, model.prototypes_, np.arange(3), theta)
    assert np.allclose(D, model.distances(X), rtol=1e-8, atol=1e-10)


def test_start_is_local_pca():
    """One prototype per class: directions of PCA, and its reconstruction error as the distance."""
    X, y = load_digits(return_X_y=True)
    X, y = X[y < 3] / 16, y[y < 3]
    model = GLVQ(metric=TangentMetric(4), max_iter=0).fit(X, y)
    D = model.distances(X)
    for label in range(3):
        mine = X[y == label]
        local = VQPCA(1, 4, random_state=0).fit(mine)
        assert np.allclose(model.prototypes_[label], local.prototypes_[0], atol=1e-8)
        assert np.allclose(D[:, label], local.distances(X)[:, 0], rtol=1e-6, atol=1e-8)
    learned = GLVQ(metric=TangentMetric(4)).fit(X, y)
    assert learned.score(X, y) >= model.score(X, y)


def test_directions_are_learned_in_any_way(recwarn):
    X, y = load_digits(return_X_y=True)
    X, y = X[y < 4] / 16, y[y < 4]
    plain = GLVQ(max_iter=10).fit(X[::2], y[::2]).score(X[1::2], y[1::2])
    for solver, iterations in (("lbfgs", 10), ("adam", 5), (SGD(0.01, 0.001), 2), ("waypoint", 10)):
        model = GLVQ(metric=TangentMetric(3), solver=solver, max_iter=iterations, random_state=0).fit(X[::2], y[::2])
        (V,) = model.metric_parameters_
        assert np.allclose(V @ V.swapaxes(1, 2), np.eye(3), atol=1e-9)
        assert model.score(X[1::2], y[1::2]) >= plain - 0.01
    stream = GLVQ(metric=TangentMetric(3), random_state=0)
    for rows in np.array_split(np.arange(0, len(X), 2), 4):
        stream.partial_fit(X[rows], y[rows], classes=range(4))
    assert stream.score(X[1::2], y[1::2]) > 0.95


def test_few_samples_and_too_many_directions():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(6, 8)), np.array([0, 0, 0, 1, 1, 1])
    model = GLVQ(3, metric=TangentMetric(4), random_state=0, max_iter=3).fit(X, y)  # one sample per prototype
    assert np.isfinite(model.distances(X)).all()
    with pytest.raises(ValueError, match=r"n_components=8 must be an integer in \[1, 7\], below n_features = 8"):
        GLVQ(metric=TangentMetric(8)).fit(X, y)
    with pytest.raises(AttributeError, match="metric_ needs a metric"):
        _ = model.metric_
