import numpy as np
import pytest
from sklearn.manifold import LocallyLinearEmbedding
from sklearn.neighbors import NearestNeighbors

from protolearn.embedding._local_weights import locally_linear, reconstruction_weights


@pytest.fixture(scope="module")
def sheet():
    rng = np.random.default_rng(0)
    t, height = 3.0 * rng.uniform(size=150), rng.uniform(size=150)
    X = np.column_stack([np.cos(t), height, np.sin(t)])
    return X, NearestNeighbors(n_neighbors=8).fit(X).kneighbors(return_distance=False)


def test_weights_solve_the_problem_of_each_sample(sheet):
    X, indices = sheet
    weights = reconstruction_weights(X, indices, 1e-3).toarray()
    np.testing.assert_allclose(weights.sum(axis=1), 1.0, atol=1e-10)
    for i in (0, 70, 149):
        gaps = X[indices[i]] - X[i]
        gram = gaps @ gaps.T
        gram += 1e-3 * np.trace(gram) * np.eye(8)
        best = np.linalg.solve(gram, np.ones(8))
        np.testing.assert_allclose(weights[i, indices[i]], best / best.sum(), atol=1e-8)
        assert np.count_nonzero(weights[i]) <= 8


def test_weights_do_not_see_rotation_shift_and_scale(sheet):
    X, indices = sheet
    turn = np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))[0]
    expected = reconstruction_weights(X, indices, 1e-3).toarray()
    np.testing.assert_allclose(
        reconstruction_weights(7.0 * X @ turn + 3.0, indices, 1e-3).toarray(), expected, atol=1e-6
    )


def test_positions_are_those_of_scikit_learn(sheet):
    X, indices = sheet
    ours = locally_linear(reconstruction_weights(X, indices, 1e-3), 2, np.random.RandomState(0))
    theirs = LocallyLinearEmbedding(n_neighbors=8, n_components=2, eigen_solver="dense").fit_transform(X)
    np.testing.assert_allclose(ours.mean(axis=0), 0.0, atol=1e-8)
    np.testing.assert_allclose(ours.T @ ours / len(X), np.eye(2), atol=1e-6)
    theirs = theirs / np.linalg.norm(theirs, axis=0) * np.sqrt(len(X))
    np.testing.assert_allclose(np.abs((ours * theirs).mean(axis=0)), 1.0, atol=1e-4)
