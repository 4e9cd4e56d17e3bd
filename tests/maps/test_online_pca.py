"""Steps of the online PCA against each other, and the theorem about the minimum of the potential."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import expm, hilbert

from tests.maps.online_pca import interlocked_step, orthonormalized, potential, rrlsa_step

seeds = st.integers(0, 10_000)
EIGENVALUES = np.array([9.0, 4.0, 2.0, 0.5, 0.1])


def unit(seed, d, m, span=2.0):
    """Random orthonormal axes, variances over ``span`` powers of ten on both sides of 1, and a sample."""
    rng = np.random.default_rng(seed)
    axes = np.linalg.qr(rng.normal(size=(d, m)))[0].T
    return axes, 10 ** rng.uniform(-span, span, m), rng.normal(size=d) * 10 ** rng.uniform(-2, 1)


def eigensystem(seed=0):
    """A covariance with the eigenvalues above, and its eigenvectors as rows."""
    vectors = np.linalg.qr(np.random.default_rng(seed).normal(size=(5, 5)))[0].T
    return (vectors.T * EIGENVALUES) @ vectors, vectors


def turned(vectors, i, j, angle):
    """The eigenvectors after a rotation in the plane of two of them."""
    new = vectors.copy()
    new[i] = np.cos(angle) * vectors[i] + np.sin(angle) * vectors[j]
    new[j] = np.cos(angle) * vectors[j] - np.sin(angle) * vectors[i]
    return new


# Steps


@given(seeds, st.integers(1, 8), st.integers(1, 8), st.floats(0, 0.999))
@settings(max_examples=200, deadline=None)
def test_interlocked_is_plain_followed_by_gram_schmidt(seed, d, m, alpha):
    axes, variances, xi = unit(seed, d, min(m, d))
    plain, grown = rrlsa_step(axes, variances, xi, alpha)
    interlocked, also_grown = interlocked_step(axes, variances, xi, alpha)
    assert_allclose(interlocked, plain, atol=1e-12)
    assert_allclose(also_grown, grown, rtol=1e-12)
    assert_allclose(interlocked @ interlocked.T, np.eye(len(axes)), atol=1e-12)


@given(seeds, st.integers(2, 8), st.integers(1, 8), st.sampled_from([1 - 1e-10, 1 - 1e-16]))
@settings(max_examples=100, deadline=None)
def test_interlocked_keeps_most_digits_when_nearly_all_is_forgotten(seed, d, m, alpha):
    axes, variances, xi = unit(seed, d, min(m, d))
    assert_allclose(
        interlocked_step(axes, variances, xi, alpha)[0], rrlsa_step(axes, variances, xi, alpha)[0], atol=1e-9
    )


@pytest.mark.parametrize("step", [rrlsa_step, interlocked_step])
def test_rate_zero_changes_nothing(step):
    axes, variances, xi = unit(3, 6, 4)
    new_axes, new_variances = step(axes, variances, xi, 0.0)
    assert_allclose(new_axes, axes, atol=1e-15)
    assert_allclose(new_variances, variances, rtol=1e-15)


@pytest.mark.parametrize("step", [rrlsa_step, interlocked_step])
@pytest.mark.parametrize("place", ["at the center", "on an axis", "within the axes", "beside the axes"])
def test_samples_in_special_places(step, place):
    axes, variances, xi = unit(4, 6, 3)
    within = axes.T @ (axes @ xi)
    xi = {
        "at the center": 0 * xi,
        "on an axis": 2.0 * axes[1],
        "within the axes": within,
        "beside the axes": xi - within,
    }[place]
    y = axes @ xi
    new_axes, new_variances = step(axes, variances, xi, 0.3)
    assert_allclose(new_axes @ new_axes.T, np.eye(3), atol=1e-12)
    if place == "within the axes":
        assert_allclose(new_axes.T @ new_axes, axes.T @ axes, atol=1e-12)
    else:
        assert_allclose(new_axes, axes, atol=1e-12)
        assert_allclose(new_variances, 0.7 * variances + 0.3 * y**2, rtol=1e-12)


def test_one_direction_is_a_running_mean_of_squares():
    axes, variances = rrlsa_step([[-1.0]], [2.0], [3.0], 0.25)
    assert_allclose(axes, [[-1.0]])
    assert_allclose(variances, [0.75 * 2.0 + 0.25 * 9.0])


@given(seeds)
@settings(max_examples=20, deadline=None)
def test_mean_step_of_the_first_axis_is_a_power_iteration(seed):
    axes, _, _ = unit(seed, 4, 4)
    X = np.random.default_rng(seed).normal(size=(30, 4)) * [3, 2, 1, 0.5]
    covariance = X.T @ X / len(X)
    w, alpha = axes[:1], 0.2
    steps = [rrlsa_step(w, [5.0], x, alpha) for x in X]
    mean = np.mean([grown * new[0] for new, grown in steps], axis=0)
    assert_allclose(mean, (1 - alpha) * 5.0 * w[0] + alpha * covariance @ w[0], rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("step", [rrlsa_step, interlocked_step])
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"xi": [1.0]}, r"do not fit; give shapes \(m, d\), \(m,\) and \(d,\)"),
        ({"variances": [1.0, 2.0]}, "do not fit"),
        ({"variances": [0.0]}, "smallest variance is 0.0; give positive"),
        ({"alpha": 1.0}, r"alpha=1.0 must be a number in \[0, 1\)"),
        ({"alpha": -0.1}, "alpha=-0.1 must be"),
    ],
)
def test_messages(step, changes, message):
    arguments = {"axes": [[1.0, 0.0]], "variances": [1.0], "xi": [1.0, 2.0], "alpha": 0.5}
    with pytest.raises(ValueError, match=message):
        step(**(arguments | changes))


# Orthonormal rows


@given(seeds, st.integers(1, 8), st.integers(1, 8))
@settings(max_examples=50, deadline=None)
def test_rows_become_orthonormal_in_order_and_keep_their_side(seed, d, m):
    rows = np.random.default_rng(seed).normal(size=(min(m, d), d))
    before = rows.copy()
    axes = orthonormalized(rows)
    triangle = rows @ axes.T
    assert_allclose(axes @ axes.T, np.eye(len(rows)), atol=1e-13)
    assert_allclose(np.triu(triangle, 1), 0, atol=1e-12)
    assert (np.diag(triangle) > 0).all()
    assert_array_equal(rows, before)


def test_nearly_dependent_rows_become_orthonormal_too():
    axes = orthonormalized(hilbert(9))
    assert_allclose(axes @ axes.T, np.eye(9), atol=1e-12)


@pytest.mark.parametrize("row", [[0.0, 0.0, 0.0], [2.0, 4.0, 6.0]])
def test_dependent_rows_are_refused(row):
    with pytest.raises(ValueError, match="Row 1 of the axes is a combination"):
        orthonormalized([[1.0, 2.0, 3.0], row])


# The potential: Möller and Hoffmann 2004, section 5.1 and appendix B


def test_potential_is_the_mean_of_the_distances():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 4))
    axes, variances, _ = unit(1, 4, 2)
    distances = [np.sum((axes @ x) ** 2 / variances) - 2 + np.log(variances).sum() for x in X]  # eq. 7
    assert_allclose(potential(axes, variances, X.T @ X / 50), np.mean(distances))


@pytest.mark.parametrize("chosen", list(combinations(range(5), 2)))
def test_eigenvectors_are_stationary(chosen):
    covariance, vectors = eigensystem()
    axes, variances, h = vectors[list(chosen)], EIGENVALUES[list(chosen)], 1e-5
    assert_allclose(potential(axes, variances, covariance), np.log(variances).sum(), atol=1e-12)

    def slope(axes_step, variances_step):
        ahead = potential(axes + h * axes_step, variances + h * variances_step, covariance)
        return (ahead - potential(axes - h * axes_step, variances - h * variances_step, covariance)) / (2 * h)

    for i, t in np.ndindex(axes.shape):
        assert abs(slope(np.eye(2)[i][:, None] * np.eye(5)[t], np.zeros(2))) < 1e-7
    for i in range(2):
        assert abs(slope(np.zeros_like(axes), np.eye(2)[i])) < 1e-7
    rng = np.random.default_rng(0)
    elsewhere = orthonormalized(rng.normal(size=(2, 5)))
    moved = potential(elsewhere + h * np.eye(2, 5), variances, covariance)
    assert abs(moved - potential(elsewhere, variances, covariance)) > 1e-3 * h


@pytest.mark.parametrize("chosen", list(combinations(range(5), 2)))
@given(st.floats(-3, 3))
@settings(max_examples=10, deadline=None)
def test_rotation_out_of_the_chosen_eigenvectors(chosen, angle):
    covariance, vectors = eigensystem()
    rows, variances = list(chosen), EIGENVALUES[list(chosen)]
    start = potential(vectors[rows], variances, covariance)
    for i in chosen:
        for j in set(range(5)) - set(chosen):
            change = potential(turned(vectors, i, j, angle)[rows], variances, covariance) - start
            expected = np.sin(angle) ** 2 * (EIGENVALUES[j] / EIGENVALUES[i] - 1)
            assert_allclose(change, expected, rtol=1e-9, atol=1e-11)


@given(st.floats(-3, 3))
@settings(max_examples=10, deadline=None)
def test_rotation_within_the_chosen_eigenvectors(angle):
    covariance, vectors = eigensystem()
    start = potential(vectors, EIGENVALUES, covariance)
    for i, j in combinations(range(5), 2):
        change = potential(turned(vectors, i, j, angle), EIGENVALUES, covariance) - start
        gap = EIGENVALUES[i] - EIGENVALUES[j]
        expected = np.sin(angle) ** 2 * gap**2 / (EIGENVALUES[i] * EIGENVALUES[j])  # eq. B.11
        assert_allclose(change, expected, rtol=1e-9, atol=1e-10)


def quadratic_form(chosen):
    """Eq. B.6 as a matrix over the turns in all planes and the changes of variances, by second differences."""
    covariance, vectors = eigensystem()
    rows, variances, h = list(chosen), EIGENVALUES[list(chosen)], 1e-4
    planes = [(i, j) for i, j in combinations(range(5), 2) if {i, j} & set(chosen)]
    n = len(planes) + len(rows)

    def value(direction):
        turn = np.zeros((5, 5))
        for (i, j), angle in zip(planes, direction):
            turn[i, j], turn[j, i] = angle, -angle
        return potential((expm(turn) @ vectors)[rows], variances + direction[len(planes) :], covariance)

    def second(a, b):
        return (value(a + b) - value(a - b) - value(b - a) + value(-a - b)) / (4 * h * h)

    basis = h * np.eye(n)
    return np.array([[second(a, b) for a in basis] for b in basis])


@pytest.mark.parametrize("chosen", list(combinations(range(5), 2)))
def test_minimum_only_at_the_smallest_eigenvalues(chosen):
    curvatures = np.linalg.eigvalsh(quadratic_form(chosen))
    assert curvatures.max() > 0
    assert (curvatures.min() > 0) == (chosen == (3, 4))


@pytest.mark.parametrize("chosen", [(0, 1), (1, 3), (3, 4)])
def test_second_order_change(chosen):
    covariance, vectors = eigensystem()
    rows, variances = list(chosen), EIGENVALUES[list(chosen)]
    rng = np.random.default_rng(5)
    turn, stretch = rng.normal(size=(5, 5)), rng.normal(size=2) * variances
    errors = []
    for h in (1e-2, 5e-3, 2.5e-3):
        axes = (expm(h * (turn - turn.T)) @ vectors)[rows]
        change = potential(axes, variances + h * stretch, covariance) - np.log(variances).sum()
        v, gain = axes - vectors[rows], h * stretch
        by_axes = ((v @ covariance * v).sum(axis=1) / variances - (v * v).sum(axis=1)).sum()
        errors.append(change - (gain**2 / (2 * variances**2)).sum() - by_axes)  # eq. B.6
    assert abs(errors[-1]) > 1e-12
    assert_allclose(np.divide(errors[:-1], errors[1:]), 8, rtol=0.3)  # of third order
