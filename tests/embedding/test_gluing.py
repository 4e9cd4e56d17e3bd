"""Affine maps of charts minimize the sum over all pairs of charts, found by a slow dense solver here."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.linalg import block_diag, qr, subspace_angles, svd
from scipy.spatial.distance import pdist
from sklearn.datasets import make_s_curve
from sklearn.manifold import LocallyLinearEmbedding
from sklearn.neighbors import NearestNeighbors

from protolearn.embedding import _charting as _gluing
from protolearn.embedding._charting import (
    chart_groups,
    coordinated,
    glued,
    isometric,
    off_neighbors,
    off_tangents,
)

SEEDS = st.integers(0, 10_000)


def rng(seed=0):
    return np.random.RandomState(seed)


def shares_around(X, k, width, seed=0):
    """Return soft shares of k random samples as prototypes, cut to zero where they are small."""
    centers = X[rng(seed).choice(len(X), k, replace=False)]
    shares = np.exp(-np.square(X[:, None] - centers).sum(axis=2) / width)
    shares /= shares.sum(axis=1, keepdims=True)
    shares[shares < 1e-4] = 0.0
    return shares / shares.sum(axis=1, keepdims=True)


def stretch(m, seed):
    """Return a matrix (m, m) that turns and stretches by factors from 0.3 to 3."""
    return qr(rng(seed).normal(size=(m, m)))[0] * rng(seed).uniform(0.3, 3.0, m)


def flat(n=80, k=5, m=2, seed=0, width=0.3):
    """Return charts (n, k, m) that are affine copies of one plane, their shares, and the plane."""
    X = rng(seed).uniform(-1.0, 1.0, size=(n, m))
    z = np.stack([X @ stretch(m, seed + chart) + rng(chart).normal(size=m) for chart in range(k)], axis=1)
    return z, shares_around(X, k, width, seed), X


def bent(n=80, k=5, m=2, seed=0, width=0.3):
    """Return charts of a curved sheet, which no affine maps can glue without a rest, and their shares."""
    z, shares, X = flat(n, k, m, seed, width)
    return z + 0.3 * np.sin(5.0 * X[:, None] + np.arange(k)[:, None]), shares


def features(z, shares):
    """Return U (n, k (m + 1)) by loops."""
    rows = []
    for z_i, r_i in zip(z, shares):
        rows.append(np.concatenate([r * np.append(local, 1.0) for local, r in zip(z_i, r_i)]))
    return np.array(rows)


def moments(z, shares):
    """Return the block-diagonal D by loops."""
    blocks = []
    for chart in range(z.shape[1]):
        homogeneous = np.column_stack([z[:, chart], np.ones(len(z))])
        blocks.append(sum(r * np.outer(row, row) for row, r in zip(homogeneous, shares[:, chart])))
    return block_diag(*blocks)


def disagreements(z, shares):
    """Return rows R with ``R'R = D - U'U`` by loops: what each chart says of a sample, less what all say."""
    k, m = z.shape[1:]
    rows = []
    for z_i, r_i, u_i in zip(z, shares, features(z, shares)):
        for chart in range(k):
            own = np.zeros((k, m + 1))
            own[chart] = np.append(z_i[chart], 1.0)
            rows.append(np.sqrt(r_i[chart]) * (own.ravel() - u_i))
    return np.array(rows)


def double_sum(z, shares, weights):
    """Return the cost of Brand (2003) by loops over samples and pairs of charts."""
    n, k, m = z.shape
    blocks = weights.reshape(k, m + 1, -1)
    total = 0.0
    for i in range(n):
        images = [np.append(z[i, chart], 1.0) @ blocks[chart] for chart in range(k)]
        for a in range(k):
            for b in range(k):
                total += shares[i, a] * shares[i, b] * np.square(images[a] - images[b]).sum()
    return total


def dense_solution(R, U, n_components):
    """Return the smallest eigenvalues of ``R'R v = lambda U'U v`` on the range of U without the constant.

    No square is formed: U'U has a condition of up to 3e8, which would cost half of the digits.
    """
    outer, values, inner = svd(U, full_matrices=False)
    kept = values > 1e-7 * values[0]
    assert values[kept].min() > 3e-5 * values[0]  # a clear range, or this solver could not be trusted
    aside = qr(outer[:, kept].T @ np.ones((len(U), 1)))[0][:, 1:]  # from the constant
    _, roots, turn = svd(R @ (inner[kept].T / values[kept]) @ aside, full_matrices=False)
    turn = aside @ turn[::-1][:n_components].T
    return roots[::-1][:n_components] ** 2, outer[:, kept] @ turn


def assert_same_span(A, B, tolerance=1e-6):
    assert subspace_angles(A, B).max() < tolerance


def assert_equal_up_to_signs(A, B, tolerance=1e-6):
    signs = np.sign((A * B).sum(axis=0))
    np.testing.assert_allclose(A * signs, B, atol=tolerance * np.abs(B).max())


# The cost and its minimum


@given(SEEDS)
@settings(max_examples=10)
def test_cost_is_the_trace_of_the_quadratic_form(seed):
    z, shares = bent(n=15, k=3, seed=seed)
    U, D = features(z, shares), moments(z, shares)
    A = rng(seed).normal(size=(9, 2))
    expected = 2.0 * np.trace(A.T @ (D - U.T @ U) @ A)
    assert double_sum(z, shares, A) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("m", [1, 2, 3])
@pytest.mark.parametrize("seed", range(3))
def test_solution_is_that_of_a_dense_solver(m, seed):
    z, shares = bent(m=m, seed=seed)
    found = glued(z, shares, m)
    costs, positions = dense_solution(disagreements(z, shares), features(z, shares), m)
    np.testing.assert_allclose(found.eigenvalues, costs, atol=1e-11)
    assert_same_span(found.positions, positions, 1e-9)
    assert_equal_up_to_signs(found.positions, positions)
    assert (costs > 1e-4).all()  # nothing would be shown by a trivial problem


@given(SEEDS)
@settings(max_examples=10)
def test_positions_are_orthonormal_centered_and_cost_the_eigenvalues(seed):
    z, shares = bent(n=30, k=4, seed=seed)
    found = glued(z, shares, 2)
    np.testing.assert_allclose(features(z, shares) @ found.weights, found.positions, atol=1e-8)
    np.testing.assert_allclose(found.positions.T @ found.positions, np.eye(2), atol=1e-8)
    np.testing.assert_allclose(found.positions.sum(axis=0), 0.0, atol=1e-8)
    assert (found.eigenvalues >= 0.0).all()
    assert (np.diff(found.eigenvalues) >= 0.0).all()
    assert double_sum(z, shares, found.weights) == pytest.approx(2.0 * found.eigenvalues.sum(), abs=1e-8)


@given(SEEDS)
@settings(max_examples=10)
def test_affine_changes_of_charts_change_nothing(seed):
    z, shares = bent(n=60, k=4, seed=seed)
    turns = np.stack([stretch(2, seed + 9 + chart) for chart in range(4)])
    moved = np.einsum("nkm,kml->nkl", z, turns) + rng(seed).normal(size=(4, 2), scale=5.0)
    one, other = glued(z, shares, 2), glued(moved, shares, 2)
    np.testing.assert_allclose(other.eigenvalues, one.eigenvalues, atol=1e-9)
    assert_same_span(other.positions, one.positions)


@pytest.mark.parametrize("m", [1, 2, 3])
def test_affine_copies_of_one_plane_are_glued_exactly(m):
    z, shares, X = flat(m=m)
    found = glued(z, shares, m)
    np.testing.assert_allclose(found.eigenvalues, 0.0, atol=1e-10)
    padded = np.column_stack([X, np.ones(len(X))])
    rest = found.positions - padded @ np.linalg.lstsq(padded, found.positions, rcond=None)[0]
    assert np.abs(rest).max() < 1e-10
    assert np.linalg.matrix_rank(found.positions) == m  # no dimension is lost to the constant


def test_one_chart_is_whitened_principal_components():
    X = rng().normal(size=(50, 4)) @ np.diag([5.0, 2.0, 1.0, 0.5])
    found = glued(X[:, None], np.ones((50, 1)), 4)
    left = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)[0]
    np.testing.assert_allclose(found.eigenvalues, 0.0, atol=1e-12)
    np.testing.assert_allclose(found.positions @ found.positions.T, left @ left.T, atol=1e-10)


def test_constant_is_never_a_coordinate():
    z, shares, _ = flat(n=40, k=3)
    found = glued(z, shares, 8)  # as many as there are: more than the plane has
    np.testing.assert_allclose(found.positions.sum(axis=0), 0.0, atol=1e-7)
    np.testing.assert_allclose(found.positions.T @ found.positions, np.eye(found.positions.shape[1]), atol=1e-7)


# Degenerate charts


def test_coordinates_along_which_a_chart_is_thin_are_left_out():
    z, shares, X = flat(k=3)
    z = np.concatenate([z, 1e-6 * rng(7).normal(size=(*z.shape[:2], 1))], axis=2)
    found = glued(z, shares, 2)
    assert np.abs(found.weights.reshape(3, 4, 2)[:, 2]).max() < 1e-3  # not 1e6
    padded = np.column_stack([X, np.ones(len(X))])
    rest = found.positions - padded @ np.linalg.lstsq(padded, found.positions, rcond=None)[0]
    assert np.abs(rest).max() < 1e-5


def test_chart_without_samples_has_no_weights_and_changes_nothing():
    z, shares = bent(k=3)
    extra = np.concatenate([z, rng(3).normal(size=(len(z), 1, 2))], axis=1)
    one, other = glued(z, shares, 2), glued(extra, np.column_stack([shares, np.zeros(len(z))]), 2)
    np.testing.assert_allclose(other.eigenvalues, one.eigenvalues, atol=1e-12)
    assert_equal_up_to_signs(other.positions, one.positions)
    np.testing.assert_array_equal(other.weights[-3:], 0.0)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_few_samples_have_few_coordinates(n):
    z, shares = rng().normal(size=(n, 2, 2)), np.full((n, 2), 0.5)
    found = glued(z, shares, 2)
    assert found.positions.shape == (n, min(2, n - 1))
    assert found.weights.shape == (6, min(2, n - 1))
    np.testing.assert_allclose(found.positions.T @ found.positions, np.eye(min(2, n - 1)), atol=1e-10)


def test_samples_in_one_place_have_no_coordinates():
    found = glued(np.ones((5, 2, 2)), np.full((5, 2), 0.5), 2)
    assert found.positions.shape[0] == 5
    np.testing.assert_allclose(found.positions.sum(axis=0), 0.0, atol=1e-8)


# The sparse solver


@pytest.mark.parametrize("m", [1, 2, 3])
@pytest.mark.parametrize("n_components", [1, 3])
def test_sparse_solver_agrees_with_the_dense_one(monkeypatch, m, n_components):
    z, shares = bent(n=200, k=12, m=m, width=0.3)
    dense = glued(z, shares, n_components)
    monkeypatch.setattr(_gluing, "MOST_DENSE", 0)
    found = glued(z, shares, n_components)
    np.testing.assert_allclose(found.eigenvalues, dense.eigenvalues, atol=1e-8)
    assert_equal_up_to_signs(found.positions, dense.positions, 1e-5)
    np.testing.assert_allclose(features(z, shares) @ found.weights, found.positions, atol=1e-8)


@pytest.mark.parametrize("k", [5, 60])
@pytest.mark.parametrize("m", [2, 3])
def test_sparse_solver_finds_all_of_a_multiple_eigenvalue(monkeypatch, k, m):
    monkeypatch.setattr(_gluing, "MOST_DENSE", 0)
    z, shares, X = flat(n=600, k=k, m=m, width=0.5)
    found = glued(z, shares, m)
    np.testing.assert_allclose(found.eigenvalues, 0.0, atol=1e-8)
    np.testing.assert_allclose(found.positions.sum(axis=0), 0.0, atol=1e-8)
    assert_same_span(found.positions, X - X.mean(axis=0), 1e-4)


# Locally linear coordination


def weights_of_neighbors(n, seed=0):
    """Return random weights of ten others, each row of which sums to one."""
    W = np.zeros((n, n))
    for i in range(n):
        others = rng(seed + i).permutation(np.delete(np.arange(n), i))[:10]
        W[i, others] = rng(seed + i).dirichlet(np.ones(10))
    return W


@pytest.mark.parametrize("m", [1, 2, 3])
def test_coordination_is_that_of_a_dense_solver(m):
    z, shares = bent(m=m)
    U, W = features(z, shares), weights_of_neighbors(len(z))
    costs, positions = dense_solution(U - W @ U, U, m)
    found = coordinated(z, shares, m, off_neighbors(sparse.csr_array(W)))
    np.testing.assert_allclose(found.eigenvalues, costs, atol=1e-8)
    assert_equal_up_to_signs(found.positions, positions)
    np.testing.assert_allclose(U @ found.weights, found.positions, atol=1e-8)
    np.testing.assert_allclose(found.positions.T @ found.positions, np.eye(m), atol=1e-8)
    np.testing.assert_allclose(found.positions.sum(axis=0), 0.0, atol=1e-8)
    np.testing.assert_allclose(
        np.square(found.positions - W @ found.positions).sum(axis=0), found.eigenvalues, atol=1e-10
    )


# Local tangent space alignment


def tangent_residuals(z, members, positions):
    """Return what the best affine map of each chart leaves of positions, chart by chart."""
    rests = []
    for chart in range(z.shape[1]):
        own = members[:, chart] > 0
        homogeneous = np.column_stack([z[own, chart], np.ones(own.sum())])
        fitted = homogeneous @ np.linalg.lstsq(homogeneous, positions[own], rcond=None)[0]
        rests.append(positions[own] - fitted)
    return np.concatenate(rests)


@pytest.mark.parametrize("m", [1, 2, 3])
def test_alignment_is_that_of_a_dense_solver(m):
    z, shares = bent(m=m)
    U, members = features(z, shares), (shares > 0.01).astype(float)
    costs, positions = dense_solution(tangent_residuals(z, members, U), U, m)
    found = coordinated(z, shares, m, off_tangents(z, members))
    np.testing.assert_allclose(found.eigenvalues, costs, atol=1e-8)
    assert_equal_up_to_signs(found.positions, positions)
    np.testing.assert_allclose(U @ found.weights, found.positions, atol=1e-8)
    rests = tangent_residuals(z, members, found.positions)
    np.testing.assert_allclose(np.square(rests).sum(axis=0), found.eigenvalues, atol=1e-8)
    assert (costs > 1e-4).all()


def test_alignment_of_all_neighborhoods_is_that_of_scikit_learn():
    X, n, k = make_s_curve(150, random_state=0)[0], 150, 10
    neighbors = NearestNeighbors(n_neighbors=k).fit(X).kneighbors(return_distance=False)
    members, z = np.zeros((n, n)), np.empty((n, n, 2))
    for chart, own in enumerate(neighbors):
        members[own, chart] = 1.0
        axes = np.linalg.svd(X[own] - X[own].mean(axis=0))[2][:2]
        z[:, chart] = (X - X[own].mean(axis=0)) @ axes.T
    shares = members / members.sum(axis=1, keepdims=True)
    found = coordinated(z, shares, 2, off_tangents(z, members))
    other = LocallyLinearEmbedding(n_neighbors=k, method="ltsa", eigen_solver="dense").fit(X)
    assert_same_span(found.positions, other.embedding_, 1e-6)
    assert found.eigenvalues.sum() == pytest.approx(other.reconstruction_error_, rel=1e-6)


@given(SEEDS)
@settings(max_examples=10)
def test_alignment_by_shares_is_charting(seed):
    # Shares that sum to one in place of members: the same singular vectors, from the other side.
    z, shares = bent(n=60, k=4, seed=seed)
    one, other = glued(z, shares, 2), coordinated(z, shares, 2, off_tangents(z, shares))
    assert_same_span(other.positions, one.positions)
    np.testing.assert_allclose(1.0 / (1.0 - other.eigenvalues) - 1.0, one.eigenvalues, atol=1e-8)


# Isometries


def test_isometric_charts_keep_lengths():
    X = rng().normal(size=(60, 2)) * [4.0, 1.0]
    turns = [qr(rng(i).normal(size=(2, 2)))[0] for i in range(4)]
    z = np.stack([X @ turn + i for i, turn in enumerate(turns)], axis=1)
    shares = shares_around(X, 4, 3.0)
    found = glued(z, shares, 2)
    change, defect = isometric(found.weights, shares.sum(axis=0), 2)
    assert defect < 1e-20
    np.testing.assert_allclose(pdist(found.positions @ change), pdist(X), rtol=1e-9)


@given(SEEDS)
@settings(max_examples=10)
def test_charts_are_isometries_on_average(seed):
    weights, masses = rng(seed).normal(size=(12, 2)), rng(seed).uniform(0.1, 2.0, 4)
    change, defect = isometric(weights, masses, 2)
    metrics, expected = [], 0.0
    for block in weights.reshape(4, 3, 2):
        metrics.append(change.T @ block[:2].T @ block[:2] @ change)
    np.testing.assert_allclose(np.average(metrics, axis=0, weights=masses), np.eye(2), atol=1e-10)
    for mass, metric in zip(masses, metrics):
        expected += mass / masses.sum() * np.square(metric - np.eye(2)).sum()
    assert defect == pytest.approx(expected, rel=1e-9)


@given(SEEDS)
@settings(max_examples=10)
def test_isometry_defect_does_not_depend_on_linear_changes_of_the_view(seed):
    weights, masses = rng(seed).normal(size=(12, 2)), rng(seed).uniform(0.1, 2.0, 4)
    turn = qr(rng(seed + 1).normal(size=(2, 2)))[0] * rng(seed).uniform(0.2, 5.0, 2)
    assert isometric(weights @ turn, masses, 2)[1] == pytest.approx(isometric(weights, masses, 2)[1], rel=1e-6)


def test_no_coordinates_are_isometric():
    change, defect = isometric(np.empty((6, 0)), np.ones(2), 2)
    assert change.shape == (0, 0)
    assert defect == 0.0


# Components


def loop_groups(shares, others, overlap):
    """Return components of charts by spreading labels."""
    k = shares.shape[1]
    masses = [sum(shares[:, a]) for a in range(k)]
    labels = list(range(k))
    for _ in range(k):
        for a in range(k):
            for b in range(k):
                if masses[a] and masses[b]:
                    common = sum(r * s for r, s in zip(shares[:, a], others[:, b])) / min(masses[a], masses[b])
                    if common > overlap:
                        labels[a] = labels[b] = min(labels[a], labels[b])
    return labels


@given(SEEDS, st.sampled_from([0.0, 1e-3, 0.05, 0.2]))
@settings(max_examples=30)
def test_components_are_those_of_overlapping_charts(seed, overlap):
    shares = rng(seed).dirichlet(np.full(6, 0.05), size=12)
    shares[shares < 0.01] = 0.0
    shares /= shares.sum(axis=1, keepdims=True)
    found, expected = chart_groups(shares, shares, overlap), np.array(loop_groups(shares, shares, overlap))
    living = shares.any(axis=0)
    same = expected[living, None] == expected[living]
    np.testing.assert_array_equal(found[living, None] == found[living], same)
    assert set(found) == set(range(len(set(expected[living]))))
