"""Solvers: the published online rules against a slow oracle, schedules, progress, early stopping, interruption."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from protolearn import GLVQ, GMLVQ, GRLVQ, LGMLVQ, LGRLVQ, LVQ1, LVQ21, LLiRaMLVQ
from protolearn.datasets import make_cigars
from protolearn.lvq import (
    LBFGS,
    SGD,
    Adam,
    DiagonalMetric,
    EuclideanMetric,
    MatrixMetric,
    MinkowskiMetric,
    ProductMetric,
    Waypoint,
)
from protolearn.lvq._sweeps import _sweep_any, sweep
from protolearn.lvq.cost import CooperativeRelativeDistance, CrossEntropy, RelativeDistance
from protolearn.lvq.problem import Problem, pack
from protolearn.lvq.solvers import Solver

N = 3
CLASSES = np.array([0, 0, 1, 2])


def problem_of(metric, squashing="swish", missing=False, regularization=0.0):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(25, N)), rng.integers(0, 3, 25)
    if missing:
        X[rng.random(X.shape) < 0.2] = np.nan
        X[:, 0] = rng.normal(size=25)
    W = rng.normal(size=(len(CLASSES), N))
    theta = tuple(
        part + 0.2 * rng.normal(size=part.shape) for part in metric.start(N, CLASSES, np.random.RandomState(0))
    )
    shapes = [W.shape, *(part.shape for part in theta)]
    cost = RelativeDistance(squashing, (2.0, 2.0))
    problem = Problem(X, y, rng.uniform(0.5, 2, 25), CLASSES, metric, cost, regularization, shapes)
    return problem, problem.normalized(pack(W, theta))


EXACT = {
    "identity": EuclideanMetric(),
    "matrix": MatrixMetric(),
    "matrix of rank 2": MatrixMetric(2),
    "matrix per prototype": MatrixMetric(localization="prototype"),
    "matrix of norm one per prototype": MatrixMetric(localization="prototype", norm="each"),
    "matrix of rank 2 per class": MatrixMetric(2, localization="class"),
    "banded matrix": MatrixMetric(mask=1),
    "symmetric matrix": MatrixMetric(symmetric=True),
    "symmetric matrix per prototype": MatrixMetric(symmetric=True, localization="prototype"),
    "product": ProductMetric(2),
    "product per prototype": ProductMetric(3, localization="prototype"),
}


@pytest.mark.pairwise(
    name=sorted(EXACT), squashing=["identity", "sigmoid", "swish"], missing=[False, True], regularization=[0.0, 0.3]
)
def test_compiled_sweep_follows_the_exact_gradient_of_every_sample(name, squashing, missing, regularization):
    """At a normalized point the gradient is that of the published rule, but for its part along the matrix."""
    problem, flat = problem_of(EXACT[name], squashing, missing, regularization)
    order = np.random.default_rng(1).permutation(25)
    # steps so small that normalizing after a step equals staying on the sphere
    rates = (1e-6, 1e-6, 1e-6)
    compiled, cost = sweep(problem, flat.copy(), order, rates, problem.cost)
    general, expected = _sweep_any(problem, flat.copy(), order, rates, problem.cost)
    moved = general - flat
    assert regularization or cost == pytest.approx(expected, rel=1e-6)
    assert np.linalg.norm(compiled - general) <= 1e-4 * np.linalg.norm(moved)


@pytest.mark.parametrize(
    "cost", [CrossEntropy(0.7), CooperativeRelativeDistance("swish", (2.0, 2.0), (0.8, 0.8))], ids=str
)
@pytest.mark.parametrize("name", sorted(EXACT))
def test_compiled_sweep_follows_the_exact_gradient_of_other_costs(name, cost):
    problem, flat = problem_of(EXACT[name], missing=True)
    problem.cost = cost
    order = np.random.default_rng(1).permutation(25)
    rates = (1e-6, 1e-6, 1e-6)
    compiled, met = sweep(problem, flat.copy(), order, rates, cost)
    general, expected = _sweep_any(problem, flat.copy(), order, rates, cost)
    assert met == pytest.approx(expected, rel=1e-6)
    assert np.linalg.norm(compiled - general) <= 1e-4 * np.linalg.norm(general - flat)


@given(st.integers(0, 1000), st.floats(0.05, 5.0), st.booleans())
@settings(max_examples=50, deadline=None)
def test_compiled_costs_of_a_sample_are_those_of_arrays(seed, size, soft):
    from protolearn.lvq._kernels import slopes_of

    rng = np.random.default_rng(seed)
    d, own = rng.integers(1, 6, 7) / 2.0, np.arange(7) < rng.integers(1, 7)  # with ties
    d[rng.integers(0, 7)] = rng.choice([0.0, np.inf])
    cost = CrossEntropy(size) if soft else CooperativeRelativeDistance("sigmoid", (3.0, 3.0), (size, size))
    gamma = np.empty(7)
    rule = (0, 1.0, None, size) if soft else (1, 3.0, size, None)
    value = slopes_of(*rule, d, own.astype(np.int64), 1.5, gamma)
    expected, (slopes,) = cost(d[None], own[None], np.array([1.5]))
    assert np.isnan(value) or 1.5 * value == pytest.approx(expected, rel=1e-9, abs=1e-12)
    assert np.allclose(gamma, slopes, rtol=1e-9, atol=1e-14)


def oracle_symmetric(X, y, order, W, omega, rates):
    """The rules of Biehl et al. 2006, section 3, word by word, with a matrix for each prototype."""
    by_prototypes, by_diagonal, by_rest = rates
    EPS = np.where(np.eye(N, dtype=bool), by_diagonal, by_rest)
    for i in order:
        d = np.array([((omega[p] @ (X[i] - W[p])) ** 2).sum() for p in range(len(W))])
        J = min(np.flatnonzero(y[i] == CLASSES), key=lambda p: d[p])
        K = min(np.flatnonzero(y[i] != CLASSES), key=lambda p: d[p])
        plus, minus = 2 * d[K] / (d[J] + d[K]) ** 2, 2 * d[J] / (d[J] + d[K]) ** 2
        u, v = X[i] - W[J], X[i] - W[K]
        a, b = omega[J] @ u, omega[K] @ v
        W[J] += 2 * by_prototypes * plus * omega[J] @ a  # the report's rate is twice ours
        W[K] -= 2 * by_prototypes * minus * omega[K] @ b
        omega[J] -= EPS * plus * (np.outer(u, a) + np.outer(a, u))
        omega[K] += EPS * minus * (np.outer(v, b) + np.outer(b, v))
        for p in (J, K):
            omega[p] /= np.linalg.norm(omega[p])


def test_symmetric_local_matrices_follow_the_report():
    problem, flat = problem_of(MatrixMetric(symmetric=True, localization="prototype", norm="each"), "identity")
    problem.u[:] = 1.0
    order = np.random.default_rng(1).permutation(25)
    rates = (0.05, 0.02, 0.003)
    W, (omega,) = problem.unpack(flat.copy())
    oracle_symmetric(problem.X, problem.y, order, W, omega, rates)
    swept, _ = sweep(problem, flat.copy(), order, rates, problem.cost)
    assert np.allclose(swept, pack(W, (omega,)), rtol=1e-9, atol=1e-12)
    matrices = problem.unpack(swept)[1][0]
    assert np.array_equal(matrices, matrices.swapaxes(1, 2))


@pytest.mark.parametrize("localization", ["global", "prototype", "class"])
def test_relevances_follow_the_published_rule(localization):
    problem, flat = problem_of(DiagonalMetric(localization, "each"), "identity")
    problem.u[:] = 1.0
    order = np.random.default_rng(1).permutation(25)
    by_prototypes, by_relevances = 0.05, 0.5  # so large that some relevances are clipped
    W, (omega,) = problem.unpack(flat.copy())
    lam, slots = omega**2, problem.metric.slots(CLASSES)
    clipped = False
    for i in order:
        d = np.array([(lam[slots[p]] * (problem.X[i] - W[p]) ** 2).sum() for p in range(len(W))])
        J = min(np.flatnonzero(problem.y[i] == CLASSES), key=lambda p: d[p])
        K = min(np.flatnonzero(problem.y[i] != CLASSES), key=lambda p: d[p])
        plus, minus = 2 * d[K] / (d[J] + d[K]) ** 2, 2 * d[J] / (d[J] + d[K]) ** 2
        u, v = problem.X[i] - W[J], problem.X[i] - W[K]
        W[J] += 2 * by_prototypes * plus * lam[slots[J]] * u
        W[K] -= 2 * by_prototypes * minus * lam[slots[K]] * v
        lam[slots[J]] -= by_relevances * plus * u**2
        lam[slots[K]] += by_relevances * minus * v**2
        clipped |= bool((lam < 0).any())
        for p in (J, K):
            lam[slots[p]] = np.maximum(lam[slots[p]], 0)
            lam[slots[p]] /= lam[slots[p]].sum()
    assert clipped
    swept, _ = sweep(problem, flat.copy(), order, (by_prototypes, by_relevances, 0.0), problem.cost)
    assert np.allclose(swept, pack(W, (np.sqrt(lam),)), rtol=1e-9, atol=1e-12)


def test_rates_start_late_and_fall():
    solver = SGD(0.8, 0.1, off_diagonal_learning_rate=0.05, decay=0.5, metric_decay=1.0, metric_start=3)
    assert solver.rates(1, 9) == (0.8, 0.0, 0.0)
    assert solver.rates(2, 9)[1:] == (0.0, 0.0)
    assert solver.rates(3, 9) == (0.4, 0.1, 0.05)
    assert solver.rates(4, 9) == pytest.approx((0.8 / 2.5, 0.05, 0.025))


def test_metric_does_not_move_before_its_start(wine):
    X, y = wine
    late = GMLVQ(solver=SGD(metric_start=6), metric_init="random", max_iter=5, random_state=0, symmetric=False, mask=12)
    early = clone(late).set_params(solver__metric_start=1)
    start = MatrixMetric(mask=12, start_at="random").start(13, np.arange(3), np.random.RandomState(0))[0][0]
    assert np.array_equal(late.fit(X, y).omega_, start)
    assert not np.allclose(early.fit(X, y).omega_, start)


def test_frozen_metric_is_glvq(wine):
    X, y = wine
    solver = SGD(0.02, 0.0)
    settings = {"solver": solver, "max_iter": 5, "random_state": 0, "squashing": "identity"}
    expected = GLVQ(**settings).fit(X, y).predict(X)
    plain = GLVQ(**settings).fit(X, y)
    for model in (GMLVQ(regularization=0.0, **settings), GRLVQ(**settings), LGRLVQ(**settings)):
        assert np.allclose(model.fit(X, y).prototypes_, plain.prototypes_, rtol=1e-9, atol=1e-12)
        assert np.array_equal(model.predict(X), expected)


@pytest.mark.parametrize(
    "model", [GMLVQ(), GMLVQ(n_components=2), LGMLVQ(), LGMLVQ(symmetric=True), LLiRaMLVQ(), GRLVQ(), LGRLVQ()]
)
@pytest.mark.parametrize("solver", ["lbfgs", "sgd", "waypoint", "adam"])
def test_every_solver_lowers_the_cost_and_keeps_relevances_normalized(model, solver, wine):
    X, y = wine
    model = clone(model).set_params(solver=solver, max_iter=15, slope=2.0, random_state=0).fit(X, y)
    assert model.cost_history_[-1] < model.cost_history_[0]
    assert model.score(X, y) > 0.95
    relevances = np.atleast_2d(model.relevances_)
    assert np.isclose(relevances.sum(axis=1).mean(), 1.0, rtol=1e-12)
    assert (relevances >= 0).all()
    if hasattr(model, "relevance_matrix_"):
        matrices = model.relevance_matrix_.reshape(-1, 13, 13)
        assert np.linalg.eigvalsh(matrices).min() > -1e-12


def test_lbfgs_never_raises_the_cost(wine):
    model = GMLVQ(slope=5.0, max_iter=40).fit(*wine)
    assert (np.diff(model.cost_history_) <= 1e-12).all()


@pytest.mark.parametrize("solver", ["lbfgs", "sgd", "waypoint", "adam"])
def test_same_seed_same_model(solver, wine):
    model = GMLVQ(2, solver=solver, max_iter=5, random_state=3)
    first, second = (clone(model).fit(*wine) for _ in range(2))
    assert np.array_equal(first.prototypes_, second.prototypes_)
    assert np.array_equal(first.omega_, second.omega_)


def test_lbfgs_finishes_wide_matrices_in_double_precision():
    rng = np.random.default_rng(0)
    y = np.arange(600) % 3
    X = rng.normal(size=(600, 70)) + np.eye(3, 70)[y]
    models = [GMLVQ(max_iter=1000, n_jobs=n_jobs).fit(X, y) for n_jobs in (1, 2)]
    np.testing.assert_array_equal(models[0].omega_, models[1].omega_)
    types = []

    class Follow(LBFGS):
        def minimize(self, problem, start, max_iter, tol, rng, watch):
            assert problem.wide

            def see(flat, cost, stage=0):
                exact = problem(flat)[0]
                types.append("double" if cost == exact else "single")
                assert cost == pytest.approx(exact, rel=1e-6)
                watch(flat, cost, stage)

            return super().minimize(problem, start, max_iter, tol, rng, see)

    GMLVQ(solver=Follow(), max_iter=1000).fit(X, y)
    assert types[0] == "single"
    assert types[-1] == "double"
    assert types == sorted(types, reverse=True)


def test_waypoint_recovers_from_steps_that_are_too_long(wine):
    X, y = wine
    settings = {"regularization": 0.0, "slope": 2.0, "max_iter": 60}
    costs, short = (GMLVQ(solver=Waypoint(step=step), **settings).fit(X, y).cost_history_ for step in (1.0, 0.1))
    assert costs[0] > 1.2 * short[0]
    assert costs[-1] < 1.01 * GMLVQ(**settings).fit(X, y).cost_history_[-1]


def test_adam_sees_every_sample_once_in_an_epoch():
    batches = list(Adam(batch_size=4).batches(10, np.random.RandomState(0)))
    assert [len(batch) for batch in batches] == [4, 4, 2]
    assert sorted(np.concatenate(batches)) == list(range(10))


def test_annealing_ends_at_the_second_slope(wine):
    X, y = wine
    model = GMLVQ(slope=(1.0, 8.0), max_iter=2, regularization=0.0).fit(X, y)
    mu = model.relative_distance(X, y)
    assert model.cost_history_[-1] == pytest.approx((1 / (1 + np.exp(-8.0 * mu))).mean(), rel=1e-6)


def test_any_metric_can_be_swept(iris):
    X, y = iris
    model = GLVQ(metric=MinkowskiMetric(3.0), solver=SGD(0.01), max_iter=3, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.9


def test_early_stopping_keeps_the_best_state(wine):
    X, y = wine
    model = GMLVQ(early_stopping="train", max_iter=40, n_iter_no_change=3, random_state=0).fit(X, y)
    assert model.score(X, y) == pytest.approx(max(model.score_history_))
    assert len(model.score_history_) == model.n_iter_
    since_best = model.n_iter_ - 1 - int(np.argmax(model.score_history_))
    assert since_best == 3 or model.n_iter_ == 40


def test_early_stopping_holds_samples_out(wine):
    X, y = wine
    model = GMLVQ(early_stopping=True, validation_fraction=0.3, random_state=0).fit(X, y)
    shares = np.array(model.score_history_) * round(0.3 * len(X) + 0.5)
    assert np.allclose(shares, shares.round())


class Interrupting(Solver):
    """L-BFGS with Ctrl-C in the middle of its ninth evaluation."""

    def minimize(self, problem, start, max_iter, tol, rng, watch):
        calls = iter(range(9))

        class Counted(type(problem)):
            def __call__(self, *args):
                if next(calls, None) is None:
                    raise KeyboardInterrupt
                return super().__call__(*args)

        problem.__class__ = Counted
        LBFGS().minimize(problem, start, max_iter, tol, rng, watch)


def test_interruption_keeps_the_state_so_far(wine):
    X, y = wine
    model = GMLVQ(solver=Interrupting(), slope=2.0, regularization=0.0)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert 1 < model.n_iter_ < 9
    mu = model.relative_distance(X, y)
    assert (1 / (1 + np.exp(-2.0 * mu))).mean() == pytest.approx(model.cost_history_[-1])
    again = GMLVQ(max_iter=model.n_iter_, slope=2.0, regularization=0.0).fit(X, y)
    assert np.allclose(model.predict_proba(X), again.predict_proba(X))


@pytest.mark.parametrize(
    "model",
    [
        GLVQ(2, solver="sgd", max_iter=3, random_state=0),
        LGMLVQ(solver="sgd", max_iter=3, random_state=0),
        LVQ1(2, adaptive_rates=True, relevance_learning_rate=0.01, max_iter=3, random_state=0),
        LVQ21(2, max_iter=3, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_an_epoch_in_pieces_is_the_same(model, wine, monkeypatch):
    X, y = wine
    whole = clone(model).fit(X, y)
    monkeypatch.setattr("protolearn.lvq._sweeps.CALL_ENTRIES", 1000)
    cut = clone(model).fit(X, y)
    history = "error_history_" if hasattr(cut, "error_history_") else "cost_history_"
    assert np.allclose(getattr(cut, history), getattr(whole, history))
    assert np.allclose(cut.prototypes_, whole.prototypes_)
    assert np.allclose(cut.predict_proba(X), whole.predict_proba(X))


def test_online_relevances_heed_the_regularization(wine):
    X, y = wine
    settings = {"solver": SGD(0.01, 0.01), "max_iter": 10, "random_state": 0}
    free, kept = (GRLVQ(regularization=eta, **settings).fit(X, y).relevances_ for eta in (0.0, 3.0))
    assert kept.min() > 5 * free.min()


def test_oscillating_rates_do_not_break_olvq1():
    X, y = make_cigars(100, random_state=0)
    model = LVQ1(learning_rate=1.0, adaptive_rates=True, max_iter=3, random_state=0).fit(X, y)
    assert np.isfinite(model.prototypes_).all()


def test_verbose_reports(wine, capsys):
    GMLVQ(max_iter=20, verbose=1, slope=2.0, tol=0).fit(*wine)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("[GMLVQ] iteration 1/20  cost ")
    assert len(lines) == 11
    LVQ1(max_iter=3, verbose=2).fit(*wine)
    assert len(capsys.readouterr().out.splitlines()) == 3


def oracle_lvq1(X, y, order, W, classes, rates, adaptive, most):
    for i in order:
        p = ((X[i] - W) ** 2).sum(axis=1).argmin()
        sign = 1 if classes[p] == y[i] else -1
        if adaptive:
            rates[p] = min(most, rates[p] / (1 + sign * rates[p]))
        W[p] += sign * rates[p] * (X[i] - W[p])


@pytest.mark.parametrize("adaptive", [False, True])
def test_lvq1_follows_its_rule(adaptive):
    X, y = make_cigars(30, random_state=0)
    W = np.array([X[y == 0].mean(axis=0), X[y == 1].mean(axis=0)])
    model = LVQ1(learning_rate=0.1, max_iter=2, adaptive_rates=adaptive, random_state=0).fit(X, y)
    rng, rates = np.random.RandomState(0), np.full(2, 0.1)
    for epoch in range(2):
        if not adaptive:
            rates[:] = 0.1 * (1 - epoch / 2)
        oracle_lvq1(X, y, rng.permutation(len(X)), W, np.array([0, 1]), rates, adaptive, 0.1)
    assert np.allclose(model.prototypes_, W)


def test_relevance_lvq_finds_the_relevant_feature():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 200)
    X = np.column_stack([2.0 * y + 0.3 * rng.normal(size=400), rng.normal(size=400), rng.normal(size=400)])
    model = LVQ1(relevance_learning_rate=1e-3, random_state=0).fit(X, y)
    assert model.relevances_[0] > 0.5
    assert model.relevances_.sum() == pytest.approx(1.0)
    assert LVQ1(random_state=0).fit(X, y).relevances_ == pytest.approx(np.full(3, 1 / 3))


def test_lvq21_moves_prototypes_only_for_samples_in_the_window():
    X = np.array([[-1.0], [1.0], [0.9]])
    y = np.array([0, 1, 0])
    settings = {"init": [[-1.0], [1.0]], "learning_rate": 0.1, "max_iter": 1, "random_state": 0}
    inside = LVQ21(window=0.95, **settings).fit(X, y)
    outside = LVQ21(window=0.25, **settings).fit(X, y)
    assert np.array_equal(outside.prototypes_, [[-1.0], [1.0]])
    assert not np.array_equal(inside.prototypes_, [[-1.0], [1.0]])


@pytest.mark.parametrize(
    ("solver", "message"),
    [
        (SGD(learning_rate=-1), "learning_rate=-1"),
        (SGD(metric_start=0), "metric_start=0"),
        (Adam(batch_size=0), "batch_size=0"),
        (Waypoint(step=0), "step=0"),
        (LBFGS(memory=0), "memory=0"),
        ("newton", "solver='newton' must be one of 'auto', 'lbfgs', 'sgd', 'waypoint', 'adam' or a Solver"),
    ],
    ids=["rate", "start", "batch", "step", "memory", "name"],
)
def test_solvers_check_their_parameters(solver, message, wine):
    with pytest.raises(ValueError, match=message):
        GMLVQ(solver=solver).fit(*wine)
