"""Precision of a search, against a count by loops."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protolearn.metrics import neighborhood_hit, precision_at_k, precision_curve


def count(found, wanted, k):
    right = 0
    for row, label in zip(found, wanted):
        for result in row[:k]:
            if result == label:
                right += 1
    return right / (k * len(wanted))


@st.composite
def searches(draw):
    n, m = draw(st.integers(1, 8)), draw(st.integers(1, 9))
    words = st.sampled_from(["red", "white", "blue"])
    found = draw(st.lists(st.lists(words, min_size=m, max_size=m), min_size=n, max_size=n))
    return found, draw(st.lists(words, min_size=n, max_size=n))


@settings(max_examples=60, deadline=None)
@given(searches())
def test_as_counted(search):
    found, wanted = search
    n_results = len(found[0])
    expected = [count(found, wanted, k) for k in range(1, n_results + 1)]
    np.testing.assert_allclose(precision_curve(found, wanted), expected, rtol=0, atol=1e-12)
    assert precision_at_k(found, wanted, n_results) == pytest.approx(expected[-1], abs=1e-12)
    for one, row, label in zip(precision_curve(found, wanted, average=False), found, wanted, strict=True):
        np.testing.assert_allclose(one, [count([row], [label], k) for k in range(1, n_results + 1)], atol=1e-12)


def test_sizes_in_any_order():
    rng = np.random.default_rng(0)
    found, wanted = rng.integers(0, 3, (20, 12)), rng.integers(0, 3, 20)
    sizes = [11, 1, 5, 5]
    np.testing.assert_allclose(precision_curve(found, wanted, sizes), [count(found, wanted, k) for k in sizes])
    np.testing.assert_array_equal(precision_curve(found, wanted, iter(sizes)), precision_curve(found, wanted, sizes))
    assert precision_at_k(found, wanted) == pytest.approx(count(found, wanted, 11))


def test_of_all_neighbors_it_is_the_neighborhood_hit():
    rng = np.random.default_rng(0)
    points, y = rng.standard_normal((60, 2)), rng.integers(0, 3, 60)
    distances = np.linalg.norm(points[:, None] - points, axis=2)
    np.fill_diagonal(distances, np.inf)
    found = y[np.argsort(distances, axis=1)[:, :-1]]
    for k in (1, 7, 59):
        assert precision_at_k(found, y, k) == pytest.approx(neighborhood_hit(points, y, k))


@pytest.mark.parametrize(
    ("found", "wanted", "ks", "message"),
    [
        ([[1, 2]], [1], [3], "k=3 must be an integer in \\[1, 2\\], the number of results"),
        ([[1, 2]], [1], [0], "k=0"),
        ([[1, 2]], [1, 1], [1], "shape \\(1, 2\\) and labels \\(2,\\)"),
        ([1, 2], [1, 1], [1], "shape \\(2,\\)"),
        (np.empty((0, 2)), [], [1], "at least one"),
    ],
)
def test_what_is_wrong_is_said(found, wanted, ks, message):
    with pytest.raises(ValueError, match=message):
        precision_curve(found, wanted, ks)
