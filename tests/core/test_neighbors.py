"""Nearest rows against all pairs; ties by rule, whatever rounding and threads do."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from threadpoolctl import threadpool_limits

from protolearn.core.neighbors import first_nearest
from protolearn.core.threads import Threads


def by_sorting(squares, k):
    """Whole numbers are compared exactly: by distance, then by index."""
    order = np.argsort(squares, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(squares, order, axis=1), order


@settings(max_examples=40)
@given(st.integers(0, 10**6), st.integers(1, 6), st.sampled_from([2, 20]), st.booleans())
def test_against_all_pairs_of_whole_numbers(seed, k, n_features, others):
    rng = np.random.default_rng(seed)
    X, new = (rng.integers(0, 3, (n, n_features)).astype(float) for n in (40, 15))
    squares = cdist(new if others else X, X, "sqeuclidean")
    if not others:
        np.fill_diagonal(squares, np.inf)
    found = first_nearest(X, k, new=new if others else None)
    expected = by_sorting(squares, k)
    assert_allclose(found[0], expected[0], atol=1e-9)
    assert_array_equal(np.sort(found[1]), np.sort(expected[1]))


@pytest.mark.parametrize("n_features", [2, 30])
def test_turning_and_moving_change_nothing(n_features):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (80, n_features)).astype(float)
    X[40:] = X[:40]
    turn = np.linalg.qr(rng.normal(size=(n_features, n_features)))[0]
    _, indices = first_nearest(X, 5)
    _, turned = first_nearest(100.0 + X @ turn, 5)
    assert_array_equal(np.sort(turned), np.sort(indices))


def test_a_far_sample_does_not_blur_the_others():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 3))
    _, indices = first_nearest(X, 3)
    _, beside = first_nearest(np.vstack([X, np.full(3, 1e9)]), 3)
    assert_array_equal(np.sort(beside[:50]), np.sort(indices))


def test_threads_do_not_decide_ties():
    X = np.random.default_rng(0).integers(0, 2, (1200, 20)).astype(float)
    with threadpool_limits(1):
        one = first_nearest(X, 10, Threads(1))
    with threadpool_limits(2):
        two = first_nearest(X, 10, Threads(2))
    assert_array_equal(one[0], two[0])
    assert_array_equal(one[1], two[1])
