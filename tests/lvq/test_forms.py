"""Quadratic forms of few factors, and the nearest point beyond half-spaces, against dense matrices."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.datasets import load_digits

from protolearn import GLVQ, GMLVQ
from protolearn.lvq._forms import Form, nearest_beyond
from protolearn.lvq._nearest_point import Program, nearest_point


def make_form(rng, N, r, least=0.1):
    return Form(least * (0.5 + rng.random(N)), rng.normal(size=(r, N)))


@pytest.mark.parametrize("r", [0, 2, 5, 30])
def test_forms_are_those_of_their_matrix(r):
    rng = np.random.default_rng(r)
    form, delta, rows = make_form(rng, 12, r), rng.normal(size=12), rng.normal(size=(3, 12))
    S = np.diag(form.d) + form.F.T @ form.F
    assert_allclose(form.matrix(), S)
    assert_allclose(form(delta), delta @ S @ delta)
    assert_allclose(form.times(delta), S @ delta)
    assert_allclose(form.trace, np.trace(S))
    assert_allclose(form.solve(rows), np.linalg.solve(S, rows.T).T, rtol=1e-8, atol=1e-9)
    assert_allclose(form.share(delta, np.array([1, 4])), delta[[1, 4]] @ S[np.ix_([1, 4], [1, 4])] @ delta[[1, 4]])
    free = rng.random(12) < 0.5
    assert_allclose(form.within(free).matrix(), S[np.ix_(free, free)])
    assert_allclose(form.plus(0.3, form).matrix(), 1.3 * S)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.integers(0, 6), st.booleans(), st.booleans())
def test_the_nearest_point_is_that_of_the_dense_program(seed, r, bounded, reachable):
    rng = np.random.default_rng(seed)
    N, k = int(rng.integers(2, 9)), int(rng.integers(1, 4))
    form, goal, g = make_form(rng, N, r), 2.0 * rng.normal(size=N), rng.normal(size=(k, N))
    c = -2.0 * g @ goal + (-0.3 if reachable else 0.7) * rng.random(k)
    low = np.minimum(goal, 0.0) - 0.1 * rng.random(N) if bounded else np.full(N, -np.inf)
    high = np.maximum(goal, 0.0) + 0.1 * rng.random(N) if bounded else np.full(N, np.inf)
    held = rng.random(N) < 0.2
    low[held] = high[held] = 0.0
    delta, value, proven = nearest_beyond(form, g, c, low, high, np.inf)
    assert proven
    free = low < high
    if not free.any():
        return
    B = np.linalg.inv(np.linalg.cholesky(form.matrix()[np.ix_(free, free)])).T
    dense = nearest_point(
        Program(None, g[:, free] @ B, c, B, low[free], high[free], np.linalg.solve(B, goal[free]), True)
    )
    assert np.isfinite(value) == np.isfinite(dense.value)
    if np.isfinite(value):
        assert_allclose(value, dense.value, rtol=1e-6, atol=1e-9)
        assert (2.0 * g @ delta + c <= 1e-6 * (1.0 + np.abs(c))).all()
        assert ((low <= delta) & (delta <= high)).all()
        assert_allclose(form(delta), value)


def test_a_search_ends_at_the_cutoff():
    form = Form(np.ones(2), np.empty((0, 2)))
    free, problem = np.full(2, np.inf), (np.array([[-0.5, -0.5]]), np.array([4.0]))
    assert_allclose(nearest_beyond(form, *problem, -free, free, np.inf)[1], 8.0)
    assert nearest_beyond(form, *problem, -free, free, 3.0)[1] >= 3.0


@pytest.mark.parametrize("model", [GMLVQ(n_components=5, max_iter=3, random_state=0), GLVQ(max_iter=3)], ids=str)
@pytest.mark.parametrize("bounds", ["training", None])
def test_memory_grows_in_proportion_to_the_features(model, bounds):
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    X = rng.normal(size=(60, 3000))
    X[:, 0] += 9.0 * y
    model.fit(X, y)
    tracemalloc.start()
    found = model.counterfactual(X[:1], bounds=bounds)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.found.all()
    assert peak < 8 * 3000**2 / 2


def test_many_bounds_at_once():
    """Most pixels of a digit are at a bound, and many of them would leave it."""
    X, y = load_digits(return_X_y=True)
    model = GMLVQ(max_iter=10, random_state=0).fit(X, y)
    found = model.counterfactual(X[:12], target=8)
    low, high = model.feature_ranges_
    assert found.found.all()
    assert found.proven.all()
    assert ((low <= found.samples) & (found.samples <= high)).all()
    assert ((found.samples == low) | (found.samples == high)).mean() > 0.2
