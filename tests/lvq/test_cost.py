"""The relative distance and its squashing."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from protolearn.lvq.cost import SQUASHING, relative_distance, relative_distance_cost

distances = arrays(np.float64, (6, 4), elements=st.floats(0, 1e6))
labels = arrays(np.int64, 6, elements=st.integers(0, 1))
CLASSES = np.array([0, 0, 1, 1])


@given(distances, labels)
def test_relative_distance_by_its_definition(D, y):
    mu, J, K, by_J, by_K = relative_distance(D, y[:, None] == CLASSES)
    for i in range(len(D)):
        d_J, d_K = D[i, y[i] == CLASSES].min(), D[i, y[i] != CLASSES].min()
        assert D[i, J[i]] == d_J
        assert D[i, K[i]] == d_K
        if d_J + d_K > 1e-290:
            assert mu[i] == pytest.approx((d_J - d_K) / (d_J + d_K))
            assert (mu[i] < 0) == (d_J < d_K) or abs(mu[i]) < 1e-12
        else:
            assert mu[i] == by_J[i] == by_K[i] == 0
        assert by_J[i] >= 0 >= by_K[i]


@given(distances, labels)
def test_cost_never_has_a_silent_nan(D, y):
    for squashing in SQUASHING.values():
        cost, G = relative_distance_cost(D, y[:, None] == CLASSES, np.ones(6), squashing, 3.0)
        assert np.isfinite(cost)
        assert np.isfinite(G).all()
        assert (np.count_nonzero(G, axis=1) <= 2).all()


def test_ties_go_to_the_first_prototype():
    _, J, K, _, _ = relative_distance(np.ones((1, 4)), np.array([[True, True, False, False]]))
    assert (J[0], K[0]) == (0, 2)


@pytest.mark.parametrize("name", sorted(SQUASHING))
def test_squashing_functions_rise_where_samples_are_wrong_and_have_right_derivatives(name):
    mu = np.linspace(-1, 1, 41)
    value, slope = SQUASHING[name](mu, 4.0)
    numeric = (SQUASHING[name](mu + 1e-6, 4.0)[0] - SQUASHING[name](mu - 1e-6, 4.0)[0]) / 2e-6
    assert np.allclose(slope, numeric, rtol=1e-6, atol=1e-9)
    assert (np.diff(value[mu >= 0]) > 0).all()
