"""The nearest point of a set that quadratic inequalities and bounds describe, against a general solver."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from protolearn.lvq._nearest_point import Program, least_distance, nearest_point

KINDS = ("half-spaces", "convex", "any")


def make_program(seed, kind, bounded, m=None, k=None):
    """Return a program that has a solution: its goal."""
    rng = np.random.default_rng(seed)
    m, k = m or rng.integers(1, 6), k or rng.integers(1, 5)
    goal = 2.0 * rng.normal(size=m)
    A, g = rng.normal(size=(k, m, m)), rng.normal(size=(k, m))
    Q = {"half-spaces": None, "convex": 0.2 * A @ A.swapaxes(1, 2), "any": (A + A.swapaxes(1, 2)) / 2.0}[kind]
    c = -2.0 * g @ goal - 0.5 * rng.random(k)
    c -= 0.0 if Q is None else Q @ goal @ goal
    B = np.eye(m) + 0.3 * rng.normal(size=(m, m))
    place, room = B @ goal, 0.1 * rng.random((2, m))
    low = np.minimum(place, 0.0) - room[0] if bounded else np.full(m, -np.inf)
    high = np.maximum(place, 0.0) + room[1] if bounded else np.full(m, np.inf)
    return Program(Q, g, c, B, low, high, goal, kind != "any")


def by_restarts(program, n_starts, seed=0):
    """Return the least squared distance that SLSQP finds from many starts."""
    rng = np.random.default_rng(seed)
    bounded = np.isfinite(program.low[0])

    def inequalities(y):
        place = program.B @ y
        return np.concatenate([-program.excess(y), *((place - program.low, program.high - place) if bounded else ())])

    best = np.inf
    for s in range(n_starts):
        start = (
            program.goal
            if s == 0
            else program.goal * rng.random() + 2 * rng.random() * rng.normal(size=len(program.goal))
        )
        constraint = {"type": "ineq", "fun": inequalities}
        found = minimize(lambda y: y @ y, start, jac=lambda y: 2 * y, constraints=constraint, method="SLSQP", tol=1e-12)
        if (inequalities(found.x) >= -1e-7).all():
            best = min(best, found.fun)
    return best


@pytest.mark.parametrize("bounded", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_no_point_is_nearer(kind, bounded):
    for seed in range(12):
        program = make_program(seed, kind, bounded)
        answer = nearest_point(program)
        assert program.contains(answer.point)
        assert answer.value == pytest.approx(answer.point @ answer.point)
        assert answer.value <= by_restarts(program, 3 if kind != "any" else 20) * (1 + 1e-5) + 1e-6
        assert answer.proven or kind == "any"


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(KINDS), st.booleans())
def test_what_is_proven_is_the_nearest_on_a_grid(seed, kind, bounded):
    program = make_program(seed, kind, bounded, m=2)
    answer = nearest_point(program)
    assert program.contains(answer.point)
    radius = np.sqrt(answer.value) * 0.999
    angles, radii = np.linspace(0, 2 * np.pi, 181)[:-1], np.linspace(0, radius, 41)
    points = np.stack([np.outer(radii, np.cos(angles)).ravel(), np.outer(radii, np.sin(angles)).ravel()], axis=1)
    if answer.proven and answer.value > 0:
        assert not any(strictly_contains(program, point) for point in points)


def strictly_contains(program, y):
    place = program.B @ y
    return (program.excess(y) < -1e-9).all() and (place > program.low).all() and (place < program.high).all()


def one_inequality(Q, g, c):
    m = len(g)
    free = np.full(m, np.inf)
    return Program(np.array([Q]), np.array([g]), np.array([c]), np.eye(m), -free, free, np.ones(m), False)


def test_one_inequality_when_the_center_is_shared():
    """The gradient vanishes at zero, so that no descent from there finds a way; there are two nearest points."""
    answer = nearest_point(one_inequality(np.diag([1.0, -0.5, -0.25]), np.zeros(3), 2.0))
    assert answer.proven
    assert answer.value == pytest.approx(4.0)
    assert np.abs(answer.point) == pytest.approx([0.0, 2.0, 0.0])


def test_one_inequality_in_the_hard_case():
    """No multiplier below the limit makes it tight: the rest of the way is along the leading eigenvector."""
    answer = nearest_point(one_inequality(np.diag([1.0, -1.0]), np.array([0.5, 0.0]), 1.0))
    expected = min(x**2 + (1.0 + x + x**2) for x in np.linspace(-1, 1, 20001))
    assert answer.proven
    assert answer.value == pytest.approx(expected, rel=1e-6)


def test_sets_without_a_point():
    free = np.full(2, np.inf)
    ball = Program(np.array([np.eye(2)]), np.zeros((1, 2)), np.ones(1), np.eye(2), -free, free, np.ones(2), True)
    assert nearest_point(ball).value == np.inf
    assert nearest_point(ball).proven
    opposite = Program(None, np.array([[1.0, 0.0], [-1.0, 0.0]]), np.ones(2), np.eye(2), -free, free, np.ones(2), True)
    assert nearest_point(opposite).value == np.inf
    far = Program(None, np.array([[-1.0, 0.0]]), np.array([9.0]), np.eye(2), -np.ones(2), np.ones(2), np.ones(2), True)
    assert nearest_point(far).value == np.inf


@pytest.mark.parametrize("gap", [1e-2, 1.0, 100.0])
def test_balls_beyond_the_bounds(gap):
    """Every linearization has a solution, or multipliers grow without end; in both cases there is no point."""
    goals = np.array([[2.0 + gap, 0.0], [2.0 + gap, 0.3]])
    Q, c = np.array([np.eye(2)] * 2), (goals**2).sum(axis=1) - 1.0
    program = Program(Q, -goals, c, np.eye(2), np.full(2, -1.0), np.ones(2), goals[0], True)
    answer = nearest_point(program)
    assert answer.value == np.inf
    assert answer.proven


def test_nothing_below_the_cutoff():
    program = make_program(0, "any", False, m=3, k=1)
    value = nearest_point(program).value
    assert value > 0
    assert nearest_point(program, 0.99 * value).value == np.inf
    assert nearest_point(program, 1.01 * value).value == pytest.approx(value)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6))
def test_least_distance_satisfies_its_optimality_conditions(seed):
    rng = np.random.default_rng(seed)
    G = rng.normal(size=(rng.integers(1, 12), rng.integers(1, 6)))
    h = G @ rng.normal(size=G.shape[1]) - rng.random(len(G))
    z, multipliers = least_distance(G, h)
    assert (G @ z >= h - 1e-9).all()
    assert (multipliers >= 0).all()
    assert np.allclose(G.T @ multipliers, z, atol=1e-8)
    assert np.allclose(multipliers * (G @ z - h), 0.0, atol=1e-8)
