"""The compiled loop of NGPCA against a slow oracle, and what must hold whatever the data."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import multivariate_normal

from protolearn.core.schedules import geometric
from protolearn.maps import _ngpca_kernels
from protolearn.maps._ngpca_kernels import present, settle
from tests.maps.online_pca import interlocked_step, orthonormalized


@njit
def project(gap, square, axes, y):
    """Call a loop that only other loops can call."""
    return _ngpca_kernels._project(gap, square, axes, y)


@njit
def orthonormalize(axes):
    """Call a loop that only other loops can call."""
    _ngpca_kernels.orthonormalize(axes)


MEASURES = ["combined", "euclidean", "mahalanobis", "reconstruction"]
RULES = ["rrlsa", "gram_schmidt", "sanger", "ccipca"]
every_rule = pytest.mark.parametrize("rule", RULES)
every_measure = pytest.mark.parametrize("measure", MEASURES)


def cloud(seed=0, n=200, d=4):
    """Three flat clouds of different direction."""
    rng = np.random.default_rng(seed)
    parts = [rng.normal(size=(n, d)) * rng.uniform(0.1, 3, d) @ rng.normal(size=(d, d)) + 8 * rng.normal(size=d)]
    parts += [rng.normal(size=(n, d)) * rng.uniform(0.1, 3, d) + 8 * rng.normal(size=d) for _ in range(2)]
    return np.concatenate(parts)


def start(X, k, m, seed=1, variance=1.0):
    """Centers at random samples, random axes, equal variances."""
    rng = np.random.default_rng(seed)
    axes = [orthonormalized(rng.normal(size=(m, X.shape[1]))) for _ in range(k)]
    centers = X[rng.choice(len(X), k, replace=False)].astype(np.float64)
    return centers, np.array(axes), np.full((k, m), variance), np.full(k, variance)


def copies(state):
    return tuple(part.copy() for part in state)


def learn(X, state, order, ranges, rates, measure="combined", rule="rrlsa", refresh=1000, floor=1e-9, step=0):
    """Run the compiled loop on copies of the state."""
    new = copies(state)
    codes = MEASURES.index(measure), RULES.index(rule) or None
    present(X, order, *new, ranges, rates, *codes, refresh, floor, step)
    return new


def course(X, n_steps, seed=2, ranges=(2.0, 0.01), rates=(0.5, 0.01)):
    order = np.random.default_rng(seed).integers(0, len(X), n_steps)
    return order, geometric(*ranges, n_steps), geometric(*rates, n_steps)


def assert_orthonormal(axes, atol=1e-12):
    for rows in axes:
        assert_allclose(rows @ rows.T, np.eye(len(rows)), atol=atol)


# A slow oracle: Möller and Hoffmann 2004, sections 2 and 3, appendix A


def slow_distance(x, c, W, lam, sig2, measure):
    m, d = W.shape
    xi = x - c
    if measure == "euclidean":
        return sum(xi**2)
    if measure == "reconstruction":
        return (sum((xi - W.T @ W @ xi) ** 2) if m < d else 0.0) + 1e-9 * sum((W @ xi) ** 2)  # centers decide ties
    if measure == "mahalanobis":
        return sum((w @ xi) ** 2 / value + np.log(value) for w, value in zip(W, lam))
    covariance = (W.T * lam) @ W
    if m < d:
        covariance += sig2 / (d - m) * (np.eye(d) - W.T @ W)
    return -2 * multivariate_normal.logpdf(x, c, covariance) - d * np.log(2 * np.pi)


def slow_pca(W, lam, xi, alpha, rule):
    V, grown = np.empty_like(W), np.empty_like(lam)
    y = W @ xi
    left = xi
    for i in range(len(W)):
        if rule == "sanger":
            grown[i] = (1 - alpha) * lam[i] + alpha * y[i] ** 2
            V[i] = W[i] + alpha / grown[i] * y[i] * (xi - sum(y[j] * W[j] for j in range(i + 1)))
        elif rule == "ccipca":
            v = lam[i] * W[i]
            V[i] = (1 - alpha) * v + alpha * left * (left @ v) / np.linalg.norm(v)
            grown[i] = np.linalg.norm(V[i])
            direction = V[i] / grown[i]
            left = left - (left @ direction) * direction
        else:
            V[i] = lam[i] * W[i] + alpha * (y[i] * left - lam[i] * W[i])
            grown[i] = np.linalg.norm(V[i])
            left = left - y[i] * W[i]
    for i in range(len(V)):
        for j in range(i):
            V[i] -= (V[j] @ V[i]) * V[j]
        V[i] /= np.linalg.norm(V[i])
    return V, grown


def slow_present(X, order, state, ranges, rates, measure, rule, floor):
    centers, axes, variances, residual = copies(state)
    k, m, d = axes.shape
    for x, reach, rate in zip(X[order], ranges, rates):
        distances = [slow_distance(x, *unit, measure) for unit in zip(centers, axes, variances, residual)]
        for i in range(k):
            rank = sum(other < distances[i] or (other == distances[i] and j < i) for j, other in enumerate(distances))
            alpha = rate * np.exp(-rank / reach)
            if alpha < 1e-14:
                continue
            xi = x - centers[i]
            error = sum((xi - axes[i].T @ axes[i] @ xi) ** 2)
            centers[i] = (1 - alpha) * centers[i] + alpha * x
            axes[i], grown = slow_pca(axes[i], variances[i], xi, alpha, rule)
            variances[i] = np.maximum(grown, floor)
            if m < d:
                residual[i] = max((1 - alpha) * residual[i] + alpha * error, floor * (d - m))
    return centers, axes, variances, residual


@every_rule
@every_measure
@pytest.mark.parametrize("m", [1, 3, 4])
def test_loop_is_the_slow_oracle(rule, measure, m):
    X = cloud()
    state = start(X, 5, m)
    order, ranges, rates = course(X, 40)
    floor = 0.02
    expected = slow_present(X, order, state, ranges, rates, measure, rule, floor)
    for new, slow in zip(learn(X, state, order, ranges, rates, measure, rule, floor=floor), expected):
        assert_allclose(new, slow, rtol=1e-8, atol=1e-8)


@every_rule
@pytest.mark.parametrize("m", [2, 4])
def test_settling_is_the_slow_oracle(rule, m):
    X = cloud()
    center, axes, variances, residual = (part[0] for part in start(X, 1, m))
    order, _, rates = course(X, 40)
    W, lam, sig2 = axes, variances, residual
    for x, alpha in zip(X[order], rates):
        error = sum((x - center - W.T @ W @ (x - center)) ** 2)
        sig2 = (1 - alpha) * sig2 + alpha * error if m < 4 else sig2
        W, lam = slow_pca(W, lam, x - center, alpha, rule)
    kept, new_axes, new_variances, new_residual = center.copy(), axes.copy(), variances.copy(), np.array([residual])
    settle(X, order, center, new_axes, new_variances, new_residual, rates, RULES.index(rule) or None, 1000, 1e-9)
    assert_array_equal(center, kept)
    assert_allclose(new_axes, W, rtol=1e-8, atol=1e-8)
    assert_allclose(new_variances, lam, rtol=1e-8)
    assert_allclose(new_residual, sig2, rtol=1e-8, atol=1e-8)


# One step, by hand


def test_step_is_the_published_one():
    X = cloud(d=7)
    state = start(X, 1, 3)
    x, rate = X[:1], np.array([0.3])
    new = learn(x, state, np.array([0]), np.array([1.0]), rate)
    axes, variances = interlocked_step(state[1][0], state[2][0], x[0] - state[0][0], 0.3)
    assert_allclose(new[1][0], axes, atol=1e-13)
    assert_allclose(new[2][0], variances, rtol=1e-13)


@every_rule
@given(st.floats(-50, 50), st.floats(1e-6, 0.999), st.floats(0.01, 100))
@settings(max_examples=25, deadline=None)
def test_variance_is_learned_around_the_old_center(rule, x, rate, variance):
    state = np.array([[7.0]]), np.array([[[1.0]]]), np.array([[variance]]), np.array([1.0])
    new = learn(np.array([[x]]), state, np.array([0]), np.array([1.0]), np.array([rate]), rule=rule)
    assert_allclose(new[0], (1 - rate) * 7 + rate * x, rtol=1e-12, atol=1e-12)
    assert_allclose(new[2], (1 - rate) * variance + rate * (x - 7) ** 2, rtol=1e-12)


def test_residual_is_the_total_outside_the_old_axes():
    state = np.zeros((1, 3)), np.eye(3)[None, :1], np.array([[4.0]]), np.array([10.0])
    new = learn(np.array([[5.0, 1.0, 2.0]]), state, np.array([0]), np.array([1.0]), np.array([0.2]))
    assert_allclose(new[3], 0.8 * 10 + 0.2 * (1 + 4))


def test_what_the_axes_leave_out_is_never_negative():
    axes = start(cloud(d=9), 1, 3)[1][0]
    within = np.random.default_rng(0).normal(size=(200, 3)) @ axes
    rests = np.array([project(xi, xi @ xi, axes, np.empty(3)) for xi in within])
    assert rests.min() == 0.0  # about half of them are rounded to less
    assert rests.max() < 1e-12


@every_rule
@every_measure
def test_rate_zero_changes_nothing(rule, measure):
    X = cloud()
    state = start(X, 4, 2)
    order, ranges, rates = course(X, 50)
    for new, old in zip(learn(X, state, order, ranges, 0 * rates, measure, rule), state):
        assert_array_equal(new, old)


@every_rule
def test_only_the_winner_learns_at_a_small_range(rule):
    X = cloud()
    state = start(X, 6, 2)
    x = X[:1]
    distances = [slow_distance(x[0], *unit, "combined") for unit in zip(*state)]
    new = learn(x, state, np.array([0]), np.array([0.02]), np.array([0.5]), rule=rule)
    changed = [(part != old).reshape(6, -1).any(axis=1) for part, old in zip(new, state)]
    for rows in changed:
        assert_array_equal(rows, np.arange(6) == np.argmin(distances))


def test_ties_are_ranked_by_index():
    X = cloud()
    one = start(X, 1, 2)
    state = tuple(np.repeat(part, 4, axis=0) for part in one)
    new = learn(X, state, np.array([3]), np.array([1.5]), np.array([0.5]))
    for i in range(4):
        alone = learn(X, one, np.array([3]), np.array([1.5]), np.array([0.5 * np.exp(-i / 1.5)]))
        for part, expected in zip(new, alone):
            assert_allclose(part[i], expected[0], rtol=1e-12, atol=1e-12)


# Runs


def test_euclidean_measure_is_online_neural_gas():
    X = cloud()
    state = start(X, 7, 2)
    order, ranges, rates = course(X, 500)
    centers = state[0].copy()
    for x, reach, rate in zip(X[order], ranges, rates):
        ranks = np.argsort(np.argsort(((x - centers) ** 2).sum(axis=1), kind="stable"), kind="stable")
        centers += rate * np.exp(-ranks / reach)[:, None] * (x - centers)
    assert_allclose(learn(X, state, order, ranges, rates, "euclidean")[0], centers, rtol=1e-9, atol=1e-9)


@every_rule
@pytest.mark.parametrize("m", [10, 20])
def test_axes_stay_orthonormal_without_refresh(rule, m):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 20)) * np.geomspace(10, 0.3, 20)
    state = start(X, 4, m)
    order, ranges, rates = course(X, 4000)
    for _ in range(2):
        state = learn(X, state, order, ranges, rates, rule=rule, refresh=10**9)
        assert_orthonormal(state[1])
        assert all(np.isfinite(part).all() for part in state)
        assert (state[2] > 0).all()
        assert (state[3] > 0).all()


def test_refresh_counts_earlier_presentations():
    X = cloud()
    state = start(X, 3, 2)
    state[1][:, 1] += 0.1 * state[1][:, 0]
    order, ranges, rates = np.zeros(5, np.int64), np.ones(5), np.zeros(5)
    early = learn(X, state, order, ranges, rates, refresh=10, step=4)
    assert_array_equal(early[1], state[1])
    due = learn(X, state, order, ranges, rates, refresh=10, step=5)
    expected = [orthonormalized(rows) for rows in state[1]]
    assert_allclose(due[1], expected, atol=1e-14)
    assert np.abs(due[1] - state[1]).max() > 0.01
    center, axes, variances, _ = (part[0] for part in copies(state))
    settle(X, order, center, axes, variances, np.ones(1), rates + 1e-15, None, 5, 1e-9)
    assert_allclose(axes, expected[0], atol=1e-12)


def test_orthonormalization_is_the_reference():
    rows = np.random.default_rng(0).normal(size=(5, 9))
    rows[3] = rows[1] + 1e-9 * rows[3]
    axes = rows.copy()
    orthonormalize(axes)
    assert_orthonormal([axes], atol=1e-14)
    assert_allclose(axes, orthonormalized(rows), atol=1e-5)  # nine digits of the fourth row are gone


@every_rule
def test_two_calls_continue_one(rule):
    X = cloud()
    state = start(X, 4, 2)
    order, ranges, rates = course(X, 300)
    whole = learn(X, state, order, ranges, rates, rule=rule, refresh=70)
    part = learn(X, state, order[:113], ranges[:113], rates[:113], rule=rule, refresh=70)
    part = learn(X, part, order[113:], ranges[113:], rates[113:], rule=rule, refresh=70, step=113)
    for one, two in zip(whole, part):
        assert_array_equal(one, two)


def test_single_precision_samples_are_learned_in_double_precision():
    X = cloud().astype(np.float32)
    state = start(X, 4, 2)
    order, ranges, rates = course(X, 300)
    doubles = learn(X.astype(np.float64), state, order, ranges, rates)
    for new, expected in zip(learn(X, state, order, ranges, rates), doubles):
        assert_allclose(new, expected, rtol=1e-11, atol=1e-11)


@every_rule
@pytest.mark.parametrize("m", [2, 4])
def test_floor_holds_on_constant_samples(rule, m):
    X = np.full((3, 4), 5.0)
    state = (np.full((2, 4), 5.0), *start(cloud(), 2, m)[1:])
    order, ranges, rates = course(X, 3000)
    centers, axes, variances, residual = learn(X, state, order, ranges, rates, rule=rule, floor=1e-3)
    assert_array_equal(centers, 5.0)
    assert_array_equal(variances[0], 1e-3)
    assert_array_equal(residual[0], 1e-3 * 2 if m == 2 else state[3][0])
    assert_orthonormal(axes)
    center, axes, variances, residual = (part[:1] for part in copies(state))
    settle(X, order, center[0], axes[0], variances[0], residual, rates, RULES.index(rule) or None, 1000, 1e-3)
    assert_array_equal(variances, 1e-3)
    assert_array_equal(residual, 1e-3 * 2 if m == 2 else state[3][:1])
    assert_orthonormal(axes)


# Equivariance


@every_rule
@every_measure
@pytest.mark.parametrize("m", [2, 4])
def test_scale(rule, measure, m):
    X = cloud()
    state = start(X, 5, m)
    order, ranges, rates = course(X, 400)
    s = 0.25  # a power of two: no digit changes
    scaled = s * state[0], state[1].copy(), s**2 * state[2], s**2 * state[3]
    centers, axes, variances, residual = learn(X, state, order, ranges, rates, measure, rule)
    new = learn(s * X, scaled, order, ranges, rates, measure, rule, floor=s**2 * 1e-9)
    assert_allclose(new[0], s * centers, rtol=1e-9)
    assert_allclose(new[1], axes, atol=1e-9)
    assert_allclose(new[2], s**2 * variances, rtol=1e-9)
    assert_allclose(new[3], s**2 * residual, rtol=1e-9)


@every_rule
@pytest.mark.parametrize("m", [2, 4])
def test_motion(rule, m):
    X = cloud()
    state = start(X, 5, m)
    order, ranges, rates = course(X, 400)
    rotation = orthonormalized(np.random.default_rng(9).normal(size=(4, 4)))
    shift = np.array([3.0, -20.0, 0.5, 7.0])
    moved = state[0] @ rotation + shift, state[1] @ rotation, *state[2:]
    centers, axes, variances, residual = learn(X, state, order, ranges, rates, rule=rule)
    new = learn(X @ rotation + shift, moved, order, ranges, rates, rule=rule)
    assert_allclose(new[0], centers @ rotation + shift, rtol=1e-7)
    assert_allclose(new[1], axes @ rotation, atol=1e-7)
    assert_allclose(new[2], variances, rtol=1e-7)
    assert_allclose(new[3], residual, rtol=1e-7, atol=1e-12)


# Convergence to the principal components


def gaussian():
    """Samples with eigenvalues over four powers of ten, exact in the sample, and the eigenvectors."""
    rng = np.random.default_rng(3)
    Z = rng.normal(size=(20_000, 5))
    Z -= Z.mean(axis=0)
    Z = np.linalg.qr(Z)[0] * np.sqrt(len(Z))
    vectors = orthonormalized(rng.normal(size=(5, 5)))
    eigenvalues = np.array([100.0, 10.0, 1.0, 0.1, 0.01])
    return Z * np.sqrt(eigenvalues) @ vectors + 4.0, eigenvalues, vectors


@every_rule
@pytest.mark.parametrize("m", [3, 5])
def test_one_unit_becomes_the_principal_components(rule, m):
    X, eigenvalues, vectors = gaussian()
    order, ranges, rates = course(X, 30_000, rates=(0.5, 0.0005))
    centers, axes, variances, residual = learn(X, start(X, 1, m), order, ranges, rates, rule=rule)
    assert_allclose((centers[0] - 4.0) @ vectors.T / np.sqrt(eigenvalues), 0, atol=0.05)
    assert_allclose(variances[0], eigenvalues[:m], rtol=0.07)
    assert (np.abs(np.sum(axes[0] * vectors[:m], axis=1)) > 0.999).all()
    if m < 5:
        assert_allclose(residual[0], eigenvalues[m:].sum(), rtol=0.07)


@every_rule
def test_settling_finds_the_principal_components(rule):
    X, eigenvalues, vectors = gaussian()
    order, _, rates = course(X, 30_000, rates=(0.5, 0.0005))
    _, axes, variances, residual = (part[0] for part in start(X, 1, 3))
    total = np.array([residual])
    settle(X, order, np.full(5, 4.0), axes, variances, total, rates, RULES.index(rule) or None, 1000, 1e-9)
    assert_allclose(variances, eigenvalues[:3], rtol=0.07)
    assert (np.abs(np.sum(axes * vectors[:3], axis=1)) > 0.999).all()
    assert_allclose(total, eigenvalues[3:].sum(), rtol=0.07)
