"""Bandwidths give each sample the perplexity asked for, and affinities are distributions over its neighbors."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.spatial.distance import pdist, squareform
from sklearn.datasets import load_iris

from protolearn.core.threads import Threads
from protolearn.embedding._base import ViewSamples
from protolearn.embedding._neighbors import (
    all_pairs,
    graph_neighbors,
    nearest_by_cells,
    nearest_in_matrix,
    nearest_vectors,
)
from protolearn.embedding.affinities import (
    Neighbors,
    calibrated,
    conditional_affinities,
    joint_affinities,
)

X = load_iris().data + np.random.default_rng(0).normal(size=(150, 4)) * 1e-3
SQUARES = squareform(pdist(X, "sqeuclidean"))


def entropies(p):
    return -np.sum(p * np.log(np.maximum(p, 1e-300)), axis=1)


def slow_row(squares, perplexity):
    """Find the bandwidth of one row by a root finder for the logarithm of the rate."""

    def p_at(log_rate):
        w = np.exp(-np.exp(log_rate) * (squares - squares.min()))
        return w / w.sum()

    def excess(log_rate):
        return entropies(p_at(log_rate)[None])[0] - np.log(perplexity)

    log_rate = brentq(excess, -40, 40, xtol=1e-12)
    return p_at(log_rate), 0.5 * np.exp(-log_rate)


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 1000),
    share=st.floats(0.1, 0.9),
    scale=st.sampled_from([1e-200, 1e-9, 1.0, 1e9, 1e200]),
)
def test_entropy_is_that_of_the_perplexity(seed, share, scale):
    squares = np.random.default_rng(seed).gamma(2.0, size=(3, 20))
    perplexity = 1.0 + share * 19.0
    p, variances = calibrated(squares * scale, perplexity)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    np.testing.assert_allclose(entropies(p), np.log(perplexity), atol=2e-7)
    for row, own, variance in zip(squares, p, variances):
        slow, slow_variance = slow_row(row, perplexity)
        np.testing.assert_allclose(own, slow, atol=1e-6)
        np.testing.assert_allclose(variance / scale, slow_variance, rtol=1e-4)


@pytest.mark.parametrize("far", [1e12, 1e30, 1e200])
def test_an_outlier_does_not_mislead_the_search(far):
    squares = np.append(np.arange(1.0, 30.0), far)[None]
    p, variances = calibrated(squares, 5.0)
    np.testing.assert_allclose(entropies(p), np.log(5.0), atol=2e-7)
    alone, variances_alone = calibrated(squares[:, :-1], 5.0)
    np.testing.assert_allclose(p[:, :-1], alone, atol=1e-6)
    np.testing.assert_allclose(variances, variances_alone, rtol=1e-5)


def test_infinite_distances_are_no_neighbors():
    squares = np.random.default_rng(0).gamma(2.0, size=(4, 12))
    filled = np.insert(squares, [0, 5, 12], np.inf, axis=1)
    p, variances = calibrated(filled, 4.0)
    shorter, variances_of_shorter = calibrated(squares, 4.0)
    np.testing.assert_array_equal(p[np.isfinite(filled)].reshape(squares.shape), shorter)
    np.testing.assert_array_equal(variances, variances_of_shorter)
    assert not p[np.isinf(filled)].any()


def test_equal_distances_give_equal_affinities():
    p, variances = calibrated(np.array([[0.0] * 6, [2.0] * 6]), 3.0)
    np.testing.assert_allclose(p, 1.0 / 6.0)
    assert np.isfinite(variances).all()


def test_duplicates_share_alike():
    squares = np.repeat([[1.0, 2.0, 5.0]], 2, axis=0)
    squares = np.c_[np.zeros((2, 4)), squares]
    p, _ = calibrated(squares, 5.0)
    assert np.ptp(p[:, :4], axis=1).max() == 0.0
    np.testing.assert_allclose(entropies(p), np.log(5.0), atol=2e-7)
    below, _ = calibrated(squares, 3.0)  # four twins are more than a perplexity of three: no bandwidth reaches it
    np.testing.assert_allclose(below[:, :4], 0.25, atol=1e-6)


def test_joint_affinities_are_one_symmetric_distribution():
    neighbors = all_pairs(SQUARES)
    p, _ = calibrated(neighbors.squares, 20.0)
    conditional = conditional_affinities(neighbors, p)
    joint = joint_affinities(conditional)
    n = len(X)
    assert not conditional.diagonal().any()
    np.testing.assert_array_equal(joint, joint.T)
    np.testing.assert_allclose(joint.sum(), 1.0)
    assert (joint.sum(axis=1) >= 0.5 / n - 1e-15).all()
    i, j = 3, 77
    np.testing.assert_allclose(joint[i, j], (conditional[i, j] + conditional[j, i]) / (2 * n))


@pytest.mark.parametrize("k", [149, 40])
def test_sparse_affinities_are_dense_ones_on_the_same_neighbors(k):
    neighbors = nearest_in_matrix(SQUARES, k)
    p, variances = calibrated(neighbors.squares, 12.0)
    sparse = conditional_affinities(neighbors, p)
    masked = np.full_like(SQUARES, np.inf)
    np.put_along_axis(masked, neighbors.indices, neighbors.squares, axis=1)
    dense_neighbors = all_pairs(masked)
    dense_p, dense_variances = calibrated(dense_neighbors.squares, 12.0)
    dense = conditional_affinities(Neighbors(dense_neighbors.squares, None), dense_p)
    np.testing.assert_allclose(sparse.toarray(), dense, atol=1e-12)
    np.testing.assert_allclose(variances, dense_variances, rtol=1e-9)
    joint = joint_affinities(sparse)
    np.testing.assert_allclose(joint.toarray(), joint_affinities(dense), atol=1e-12)


def test_threads_change_nothing():
    one = calibrated(SQUARES, 10.0)
    two = calibrated(SQUARES, 10.0, Threads(2, least=10))
    for a, b in zip(one, two):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("offset", [0.0, 1e7])
def test_nearest_vectors_are_those_of_the_matrix(offset):
    rng = np.random.RandomState(0)
    found = nearest_vectors(X + offset, 20, Threads(), rng)
    np.testing.assert_allclose(np.sort(found.squares), np.sort(nearest_in_matrix(SQUARES, 20).squares), atol=1e-6)
    np.testing.assert_allclose(np.take_along_axis(SQUARES, found.indices.astype(int), 1), found.squares, atol=1e-6)
    assert not (found.indices == np.arange(len(X))[:, None]).any()


def duplicates_and_others():
    return np.r_[np.zeros((900, 3)), np.random.default_rng(0).normal(size=(100, 3))]


def small_groups():
    rng = np.random.default_rng(1)
    return rng.normal(size=(600, 4)) + 50.0 * rng.normal(size=(60, 4))[np.arange(600) % 60]


@pytest.mark.parametrize("data", [duplicates_and_others, small_groups])
def test_neighbors_through_cells_are_others_once_each_and_near(data):
    rows = data()
    found = nearest_by_cells(rows, 30, Threads(2, least=100), np.random.RandomState(0))
    squares = squareform(pdist(rows, "sqeuclidean"))
    n = len(rows)
    assert all(len(set(row)) == 30 for row in found.indices.tolist())
    assert not (found.indices == np.arange(n)[:, None]).any()
    true = np.take_along_axis(squares, found.indices.astype(int), 1)
    np.testing.assert_allclose(found.squares, true, rtol=1e-3, atol=1e-4)
    best = np.sort(nearest_in_matrix(squares, 30).squares)
    assert np.sqrt(true).sum() <= 1.1 * np.sqrt(best).sum()


def test_graph_keeps_zeros_and_rows_of_any_length():
    from scipy.sparse import csr_array

    graph = csr_array(([0.0, 2.0, 3.0, 1.0, 4.0], ([0, 0, 1, 2, 2], [1, 2, 0, 0, 1])), shape=(3, 3))
    neighbors = graph_neighbors(graph, squared=False)
    np.testing.assert_array_equal(neighbors.squares, [[0.0, 4.0], [9.0, np.inf], [1.0, 16.0]])
    np.testing.assert_array_equal(graph_neighbors(graph, squared=True).squares[2], [1.0, 4.0])
    matrix = conditional_affinities(neighbors, np.array([[0.5, 0.5], [1.0, 0.0], [0.5, 0.5]]))
    np.testing.assert_array_equal(matrix.toarray(), [[0, 0.5, 0.5], [1, 0, 0], [0.5, 0.5, 0]])


@pytest.mark.parametrize("rows", [1, 64, 1000])
def test_squares_of_all_pairs_do_not_depend_on_their_blocks(rows, monkeypatch):
    monkeypatch.setattr("protolearn.embedding._base.ROWS", rows)
    assert np.allclose(ViewSamples(X, None, 1.0).all_squares(), SQUARES)
