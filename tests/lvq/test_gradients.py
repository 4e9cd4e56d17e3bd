"""Every analytic gradient equals finite differences."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from protolearn.lvq import DiagonalMetric, EuclideanMetric, MatrixMetric, MinkowskiMetric, ProductMetric
from protolearn.lvq._triangles import add_squares, times_triangle
from protolearn.lvq.cost import SQUASHING, CooperativeRelativeDistance, CrossEntropy, RelativeDistance
from protolearn.lvq.problem import Problem, pack

N = 4
METRICS = {
    "identity": EuclideanMetric(),
    "diagonal": DiagonalMetric(),
    "diagonal per class": DiagonalMetric("class"),
    "diagonal per prototype": DiagonalMetric("prototype"),
    "matrix": MatrixMetric(),
    "matrix of rank 2": MatrixMetric(2),
    "matrix per class": MatrixMetric(localization="class"),
    "matrix of rank 3 per prototype": MatrixMetric(3, localization="prototype"),
    "banded matrix": MatrixMetric(mask=1),
    "masked local matrix": MatrixMetric(2, mask=np.array([[1, 0, 1, 1], [0, 1, 1, 0]]), localization="prototype"),
    "product per class": ProductMetric(2),
    "product per prototype": ProductMetric(3, localization="prototype"),
    "Minkowski": MinkowskiMetric(3.0),
    "symmetric matrix": MatrixMetric(symmetric=True),
    "symmetric banded matrix per class": MatrixMetric(symmetric=True, mask=1, localization="class"),
}


def problem_of(metric, squashing="sigmoid", regularization=0.3, missing=False, n=30):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(n, N))
    if missing:
        X[rng.random(X.shape) < 0.2] = np.nan
        X[:, 0] = rng.normal(size=n)
    y = rng.integers(0, 3, n)
    classes = np.array([0, 0, 1, 2, 2])
    W = rng.normal(size=(len(classes), N))
    theta = tuple(
        part + 0.1 * rng.normal(size=part.shape) for part in metric.start(N, classes, np.random.RandomState(0))
    )
    problem = Problem(
        X,
        y,
        rng.uniform(0.5, 2, n),
        classes,
        metric,
        RelativeDistance(squashing, (2.0, 2.0)),
        0.0 if isinstance(metric, MinkowskiMetric) else regularization,
        [W.shape, *(part.shape for part in theta)],
    )
    return problem, pack(W, theta)


def finite_differences(cost, flat, step=1e-6):
    slopes = np.empty_like(flat)
    for i in range(len(flat)):
        shift = np.zeros_like(flat)
        shift[i] = step
        slopes[i] = (cost(flat + shift) - cost(flat - shift)) / (2 * step)
    return slopes


@pytest.mark.parametrize(
    ("name", "squashing"),
    [(name, "swish") for name in sorted(METRICS)] + [("matrix per class", name) for name in sorted(SQUASHING)[:-1]],
)
def test_gradient_equals_finite_differences(name, squashing):
    problem, flat = problem_of(METRICS[name], squashing)
    numeric = finite_differences(lambda point: problem(point)[0], flat)
    analytic = problem(flat)[1]
    assert np.linalg.norm(analytic - numeric) <= 1e-6 * np.linalg.norm(numeric)


COSTS = {
    "cooperation": CooperativeRelativeDistance("sigmoid", (2.0, 2.0), (1.5, 1.5)),
    "narrow cooperation": CooperativeRelativeDistance("swish", (2.0, 2.0), (0.4, 0.4)),
    "soft": CrossEntropy(0.8),
    "soft and wide": CrossEntropy(3.0),
}


@pytest.mark.parametrize("name", sorted(METRICS))
@pytest.mark.parametrize("cost", sorted(COSTS))
def test_gradient_of_other_costs(name, cost):
    problem, flat = problem_of(METRICS[name], missing=name != "Minkowski")
    problem.cost = COSTS[cost]
    numeric = finite_differences(lambda point: problem(point)[0], flat)
    assert np.linalg.norm(problem(flat)[1] - numeric) <= 1e-6 * np.linalg.norm(numeric)


@pytest.mark.parametrize("name", sorted(set(METRICS) - {"Minkowski"}))
def test_gradient_with_missing_values(name):
    problem, flat = problem_of(METRICS[name], missing=True)
    numeric = finite_differences(lambda point: problem(point)[0], flat)
    assert np.linalg.norm(problem(flat)[1] - numeric) <= 1e-6 * np.linalg.norm(numeric)


def test_gradient_of_part_of_the_samples():
    problem, flat = problem_of(MatrixMetric(2))
    rows = np.array([3, 5, 8])
    numeric = finite_differences(lambda point: problem(point, rows=rows)[0], flat)
    assert np.linalg.norm(problem(flat, rows=rows)[1] - numeric) <= 1e-6 * np.linalg.norm(numeric)


def test_cost_is_a_sum_over_chunks_and_threads(monkeypatch):
    problem, flat = problem_of(MatrixMetric(2), n=700)
    cost, gradient = problem(flat)
    monkeypatch.setattr("protolearn.lvq.problem.CACHED", 1)
    chunked, slopes = problem(flat)
    monkeypatch.setattr("protolearn.lvq.problem.LEAST_NUMBERS", 1)
    shared = replace(problem, n_threads=2)
    threaded = shared(flat)
    assert shared._threads.n == 2
    assert chunked == pytest.approx(cost, rel=1e-12)
    assert np.allclose(slopes, gradient, rtol=1e-9, atol=1e-12)
    assert threaded[0] == chunked
    assert np.array_equal(threaded[1], slopes)


@pytest.mark.parametrize(("missing_numbers", "n_threads"), [(0, 2), (1, 1)])
def test_threads_are_for_many_numbers(missing_numbers, n_threads, monkeypatch):
    problem, _ = problem_of(MatrixMetric(2))
    monkeypatch.setattr("protolearn.lvq.problem.LEAST_NUMBERS", problem.X.size + missing_numbers)
    assert replace(problem, n_threads=2)._threads.n == n_threads


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_products_of_triangles(dtype):
    rng = np.random.default_rng(0)
    X, R = rng.normal(size=(9, 5)).astype(dtype), np.triu(rng.normal(size=(5, 5)))
    unread = R + np.tril(np.full((5, 5), np.nan), -1)
    assert_allclose(times_triangle(X, unread), X @ R.T, rtol=1e-5 if dtype == np.float32 else 1e-12, atol=1e-6)
    assert times_triangle(np.asfortranarray(X), R).dtype == dtype
    Q = np.triu(np.ones((5, 5), dtype))
    add_squares(Q, X, -2.0)
    assert_allclose(Q, np.triu(1.0 - 2.0 * X.T @ X), rtol=1e-5 if dtype == np.float32 else 1e-12, atol=1e-5)
    with pytest.raises(ValueError, match="contiguous"):
        add_squares(Q, X.astype(np.float16))


@pytest.mark.parametrize("metric", [MatrixMetric(), MatrixMetric(8), MatrixMetric(localization="class")])
def test_triangles_give_the_same_as_whole_matrices(metric, monkeypatch):
    rng = np.random.default_rng(0)
    n_features, classes = 12, np.array([0, 0, 1, 2])
    X, W = rng.normal(size=(90, n_features)), rng.normal(size=(4, n_features))
    theta = metric.start(n_features, classes, np.random.RandomState(0))
    shapes = [W.shape, theta[0].shape]
    cost = RelativeDistance("sigmoid", (2.0, 2.0))
    problem = Problem(X, rng.integers(0, 3, 90), np.ones(90), classes, metric, cost, 0.3, shapes)
    flat = pack(W, (theta[0] + 0.1 * rng.normal(size=theta[0].shape),))
    whole, slopes = problem(flat)
    monkeypatch.setattr("protolearn.lvq.relevance.BLOCK", 4)
    in_triangles, same_slopes = problem(flat)
    assert in_triangles == pytest.approx(whole, rel=1e-12)
    assert_allclose(same_slopes, slopes, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("squashing", sorted(SQUASHING))
def test_compiled_cost_is_that_to_read(squashing, monkeypatch):
    rng = np.random.default_rng(0)
    D = rng.exponential(size=(60, 5))
    own = rng.integers(0, 3, 60)[:, None] == np.array([0, 0, 1, 2, 2])
    D[:5, 2] = np.inf  # hidden, for some the only one of their class
    D[5] = 0.0
    D[6] = np.inf
    D[7] = 1.0
    D[8] *= 1e-200
    cost, u = RelativeDistance(squashing, (1.0, 3.0)), rng.uniform(0.5, 2.0, 60)
    value, slopes = cost(D, own, u)
    monkeypatch.setattr("protolearn.lvq.cost.COMPILED", 0)
    compiled, same_slopes = cost(D, own, u)
    assert compiled == pytest.approx(value, rel=1e-12)
    assert_allclose(same_slopes, slopes, rtol=1e-12, atol=0)


def test_size_of_all_local_factors_together_does_not_pay():
    problem, flat = problem_of(ProductMetric(2))
    W, (omega, psi) = problem.unpack(flat)
    assert problem(pack(W, (omega, 1e3 * psi)))[0] == pytest.approx(problem(flat)[0], rel=1e-9)


@pytest.mark.parametrize("name", ["matrix", "matrix of rank 2", "diagonal"])
def test_cost_does_not_depend_on_the_size_of_a_shared_matrix(name):
    problem, flat = problem_of(METRICS[name], regularization=0.0)
    W, (omega,) = problem.unpack(flat)
    grown = pack(W, (7.0 * omega,))
    assert problem(grown)[0] == pytest.approx(problem(flat)[0], rel=1e-12)
    slope = problem.unpack(problem(flat)[1])[1][0]
    assert (slope * omega).sum() == pytest.approx(0.0, abs=1e-12)


def test_cost_does_not_depend_on_rotations_of_the_view_nor_on_translations():
    problem, flat = problem_of(MatrixMetric(3))
    W, (omega,) = problem.unpack(flat)
    Q = np.linalg.qr(np.random.default_rng(3).normal(size=(3, 3)))[0]
    cost = problem(flat)[0]
    assert problem(pack(W, ((Q @ omega[0])[None],)))[0] == pytest.approx(cost, rel=1e-12)
    problem.X = problem.X + 5.0
    assert problem(pack(W + 5.0, (omega,)))[0] == pytest.approx(cost, rel=1e-9)


def test_volume_of_a_matrix_with_equal_rows_is_small_and_finite():
    theta = (np.array([[[1.0, 2.0, 2.0], [1.0, 2.0, 2.0]]]),)
    value, (slope,) = MatrixMetric(2).log_volume(theta)
    assert value == pytest.approx((np.log(np.sqrt(18.0)) + np.log(1e-8 * np.sqrt(18.0))) / 2)  # its singular values
    assert slope.shape == theta[0].shape
    assert np.isfinite(slope).all()


def test_sample_on_two_prototypes_does_not_count():
    problem, flat = problem_of(MatrixMetric())
    W, theta = problem.unpack(flat.copy())
    W[0] = W[2] = problem.X[0]  # classes 0 and 1
    problem.y[0] = 0
    cost, gradient = problem(pack(W, theta), rows=slice(0, 1))
    volume = problem.metric.log_volume(problem.metric.normalize(theta))[0]
    assert cost == pytest.approx(0.5 - 0.3 * volume)  # phi(0), and the regularization
    assert np.array_equal(problem.unpack(gradient)[0], np.zeros_like(W))


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("localization", ["global", "class", "prototype"])
def test_wide_matrices_take_other_products_with_the_same_results(localization, missing):
    """Triangular factors and symmetric sums, for many samples, against differences one by one."""
    rng = np.random.default_rng(0)
    X, W, classes = rng.normal(size=(600, 130)), rng.normal(size=(4, 130)), np.array([0, 0, 1, 1])
    if missing:
        X[rng.random(X.shape) < 0.01] = np.nan
    metric = MatrixMetric(localization=localization)
    slots = metric.slots(classes)
    A, G = rng.normal(size=(slots.max() + 1, 130, 130)), rng.normal(size=(600, 4))
    D, pullback = metric.measure(X, W, classes, (A,))
    dW, (dA,) = pullback(G)
    expected = np.zeros_like(A)
    for p, slot in enumerate(slots):
        F = np.nan_to_num(X - W[p])
        Z = F @ A[slot].T
        weighted = 2.0 * G[:, p, None] * Z
        np.testing.assert_allclose(D[:, p], (Z**2).sum(axis=1), rtol=1e-10)
        np.testing.assert_allclose(dW[p], -np.where(np.isnan(X), 0.0, weighted @ A[slot]).sum(axis=0), rtol=1e-8)
        expected[slot] += weighted.T @ F
    np.testing.assert_allclose(dA, expected, rtol=1e-8, atol=1e-9 * np.abs(expected).max())
