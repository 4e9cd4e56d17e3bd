"""Shapes of prototypes against dense matrices: distances, what they follow from, sums of samples, completed vectors."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import logsumexp
from scipy.stats import multivariate_normal

from protolearn.core.lattices import chain, rectangular
from protolearn.core.loop import anneal, nearest
from protolearn.core.neighborhoods import OnLattice, Ranks, Soft, Winner
from protolearn.core.prototypes import Matrix, Subspace
from protolearn.core.shapes import (
    MEASURES,
    REGULARIZATIONS,
    ShapeRule,
    Shapes,
    completed,
    no_swap_helps,
    optimal_block,
    principal_shapes,
    sketched_shapes,
)
from protolearn.core.sources import ArraySource

seeds = st.integers(0, 10_000)
each_measure = pytest.mark.parametrize("measure", MEASURES)
each_kind = pytest.mark.parametrize("kind", [Matrix, Subspace])

COOPERATIONS = {
    "winner": Winner(),
    "ranks": Ranks(),
    "heskes": OnLattice(chain(3)),
    "kohonen": OnLattice(chain(3), winner="nearest"),
}


def random_shapes(rng, k=3, d=4, q=2):
    """Ellipsoids of random direction; the rest varies more than some directions, and less than others."""
    axes = np.swapaxes(np.linalg.qr(rng.normal(size=(k, d, d)))[0], 1, 2)[:, :q]
    return Shapes(axes, np.sort(rng.uniform(0.1, 9, (k, q)))[:, ::-1], rng.uniform(0.1, 3, k))


def random_covariances(rng, k=3, d=4, spread=5.0):
    """Covariances with eigenvalues between exp(-spread) and exp(spread)."""
    turned = np.linalg.qr(rng.normal(size=(k, d, d)))[0] * np.exp(rng.uniform(-spread, spread, (k, 1, d)) / 2)
    return turned @ np.swapaxes(turned, 1, 2)


def dense(shapes):
    """Covariance of every shape, by a loop over directions."""
    k, q, d = shapes.axes.shape
    covariances = np.zeros((k, d, d))
    for i in range(k):
        left = np.eye(d)
        for axis, variance in zip(shapes.axes[i], shapes.variances[i]):
            covariances[i] += variance * np.outer(axis, axis)
            left -= np.outer(axis, axis)
        if q < d:
            covariances[i] += shapes.rest[i] * left
    return covariances


def slow_distances(X, positions, shapes, measure):
    """The distance of each measure from its definition."""
    distances = np.empty((len(X), len(shapes)))
    for i, covariance in enumerate(dense(shapes)):
        axes = shapes.axes[i]
        for j, gap in enumerate(X - positions[i]):
            inverse = np.linalg.inv(covariance)
            along = axes @ gap
            outside = gap - axes.T @ along
            distances[j, i] = {
                "det": gap @ inverse @ gap * np.linalg.det(covariance) ** (1 / len(gap)),
                "logdet": gap @ inverse @ gap + np.linalg.slogdet(covariance)[1],
                "none": gap @ inverse @ gap,
                "euclidean": gap @ gap,
                "mahalanobis": (along**2 / shapes.variances[i]).sum() + np.log(shapes.variances[i]).sum(),
                "residual": outside @ outside,
                "reconstruction": outside @ outside + 1e-9 * along @ along,  # centers decide ties
            }[measure]
    return distances


def state(seed, kind, measure="det", k=3, d=4, q=2, n=40, labels=0, quadratic=None, **options):
    """Samples and prototypes of random shapes, in coordinates around an origin, and what they are without it."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + 3
    positions, shapes = X[:k] + 0.1, random_shapes(rng, k, d, q)
    fuzzy = np.eye(labels)[rng.integers(0, labels, n)] if labels else None
    source = ArraySource(
        X,
        weights=rng.integers(0, 3, n) + rng.random(n),
        labels=fuzzy,
        label_weight=0.3 if labels else 0.0,
        origin=np.full(d, 2.0),
        quadratic=kind is Matrix,
        **options,
    )
    prototypes = kind(
        np.hstack([positions - 2.0, rng.random((k, labels))]), source.metric, shapes, ShapeRule(q, measure)
    )
    return X, positions, source, prototypes


def measured(prototypes, source):
    look = prototypes.measure(source.dtype)
    (distances,) = source.gather(lambda chunk: (look(chunk)[0],), len(prototypes))
    return distances


# What a shape is


@given(seeds, st.integers(1, 5), st.data())
@settings(max_examples=40)
def test_covariance_and_determinant(seed, d, data):
    shapes = random_shapes(np.random.default_rng(seed), 3, d, data.draw(st.integers(1, d)))
    assert_allclose(shapes.covariances, dense(shapes), atol=1e-12)
    assert_allclose(shapes.log_determinants, np.linalg.slogdet(dense(shapes))[1], atol=1e-10)
    assert_allclose(shapes[1:].covariances, shapes.covariances[1:])


@each_measure
@pytest.mark.parametrize("q", [1, 2, 4])
def test_gains_and_forms_give_the_distance_of_the_definition(measure, q):
    rng = np.random.default_rng(0)
    shapes, X, positions = random_shapes(rng, 3, 4, q), rng.normal(size=(20, 4)), rng.normal(size=(3, 4))
    gaps = X[:, None] - positions
    along = np.einsum("kqd,nkd->nkq", shapes.axes, gaps)
    gains, other, constant = shapes.gains(measure)
    by_gains = (gains * along**2).sum(axis=2) + other * ((gaps**2).sum(axis=2) - (along**2).sum(axis=2)) + constant
    by_forms = np.einsum("nkd,kde,nke->nk", gaps, shapes.forms(measure), gaps) + constant
    expected = slow_distances(X, positions, shapes, measure)
    assert_allclose(by_gains, expected, atol=1e-9)
    assert_allclose(by_forms, expected, atol=1e-9)


@given(seeds, st.sampled_from([1, 2, 7, 30, 60]), st.integers(-10, 10))
@settings(max_examples=30)
def test_determinant_of_the_matrix_is_one(seed, d, power):
    """Also where the determinant of the covariance itself would overflow or vanish."""
    covariances = random_covariances(np.random.default_rng(seed), 2, d) * 10.0**power
    for q in {1, max(1, d // 2), d}:
        shapes, _ = principal_shapes(covariances, ShapeRule(q, epsilon=0.0, unit=0.0))
        sign, log_determinant = np.linalg.slogdet(shapes.forms("det"))
        assert (sign == 1).all()
        assert_allclose(log_determinant, 0, atol=1e-8)


# How shapes follow from covariances


@given(seeds, st.integers(1, 6))
@settings(max_examples=30)
def test_full_shape_is_the_normalized_inverse(seed, d):
    covariances = random_covariances(np.random.default_rng(seed), 3, d)
    shapes, changed = principal_shapes(covariances, ShapeRule(d, epsilon=0.0))
    assert_array_equal(changed, 0)
    roots = np.linalg.det(covariances) ** (1 / d)
    assert_allclose(shapes.covariances, covariances, rtol=1e-9, atol=1e-9 * np.abs(covariances).max())
    products = shapes.forms("det") @ covariances
    assert_allclose(products / roots[:, None, None], np.tile(np.eye(d), (3, 1, 1)), atol=1e-8)
    assert_allclose(np.trace(products, axis1=1, axis2=2), d * roots, rtol=1e-9)
    assert (np.diff(shapes.variances, axis=1) <= 0).all()


@given(seeds, st.integers(2, 6), st.data())
@settings(max_examples=40)
def test_low_rank_formulas(seed, d, data):
    """Arnonkijpanich 2010, sec. 3.3: the mean of the other variances, and the cost d K."""
    q = data.draw(st.integers(1, d - 1))
    (covariance,) = random_covariances(np.random.default_rng(seed), 1, d)
    values, vectors = np.linalg.eigh(covariance)
    shapes, _ = principal_shapes(covariance[None], ShapeRule(q, epsilon=0.0))
    top, rest = values[d - q :], values[: d - q].mean()
    assert_allclose(shapes.variances[0], top[::-1])
    assert_allclose(shapes.rest[0], rest)
    scale = np.exp((np.log(top).sum() + (d - q) * np.log(rest)) / d)
    chosen = vectors[:, d - q :]
    matrix = chosen @ np.diag(scale / top) @ chosen.T + scale / rest * (np.eye(d) - chosen @ chosen.T)
    assert_allclose(shapes.forms("det")[0], matrix, atol=1e-9 * np.abs(matrix).max())
    assert_allclose(np.trace(shapes.forms("det")[0] @ covariance), d * scale, rtol=1e-9)


@given(seeds, st.integers(2, 6))
@settings(max_examples=20)
def test_all_directions_but_one_are_all(seed, d):
    covariances = random_covariances(np.random.default_rng(seed), 2, d)
    full, _ = principal_shapes(covariances, ShapeRule(d, epsilon=0.0))
    for selection in ("top", "optimal"):
        less, _ = principal_shapes(covariances, ShapeRule(d - 1, epsilon=0.0, selection=selection))
        assert_allclose(less.covariances, full.covariances, atol=1e-9 * np.abs(covariances).max())


def block_cost(values, kept):
    """Half the cost of a shape of determinant one that keeps these variances and averages the others."""
    others = np.delete(values, kept)
    return np.exp((np.log(values[list(kept)]).sum() + len(others) * np.log(others.mean())) / len(values))


@given(st.lists(st.floats(1e-3, 1e3), min_size=2, max_size=7), st.data())
@settings(max_examples=60)
def test_optimal_block_is_the_best_of_all_subsets(values, data):
    values = np.sort(np.array(values))[::-1]
    d = len(values)
    q = data.draw(st.integers(1, d - 1))
    first = int(optimal_block(values[None], q)[0])
    chosen = block_cost(values, [*range(first), *range(first + d - q, d)])
    best = min(block_cost(values, kept) for kept in combinations(range(d), q))
    assert_allclose(chosen, best, rtol=1e-9)


@given(st.lists(st.floats(1e-3, 1e3), min_size=2, max_size=6), st.data())
@settings(max_examples=60)
def test_swap_condition_is_that_no_single_exchange_lowers_the_cost(values, data):
    values = np.sort(np.array(values))[::-1]
    d = len(values)
    q = data.draw(st.integers(1, d - 1))
    swaps = [[*(set(range(q)) - {p}), other] for p in range(q) for other in range(q, d)]
    gain = min(block_cost(values, kept) for kept in swaps) / block_cost(values, list(range(q))) - 1
    if abs(gain) > 1e-7:  # else rounding decides
        assert no_swap_helps(values[None, :q], values[None, q:])[0] == (gain > 0)
    if q == d - 1:
        assert no_swap_helps(values[None, :q], values[None, q:])[0]  # a full matrix, whichever is kept


def test_optimal_selection_costs_no_more_than_the_largest_and_sometimes_less():
    """The example of the thesis' spectrum in which the two smallest are the better choice."""
    values = np.array([24.177, 10.212, 0.775, 0.197])
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(4, 4)))[0]
    covariance = turn @ np.diag(values) @ turn.T
    costs = {}
    for selection in ("top", "optimal"):
        shapes, _ = principal_shapes(covariance[None], ShapeRule(2, selection=selection))
        costs[selection] = float(np.trace(shapes.forms("det")[0] @ covariance))
    assert_allclose(costs["top"], 11.054, atol=5e-4)
    assert_allclose(costs["optimal"], 10.370, atol=5e-3)


# Regularization


def regularized(values, option, epsilon=0.01, unit=1.0):
    rule = ShapeRule(len(values), regularization=option, epsilon=epsilon, unit=unit)
    lifted, changed = rule.regularized(np.array([values], dtype=float))
    return lifted[0], int(changed[0])


def test_floor_and_ridge():
    assert_allclose(regularized([8.0, 0.0, 1.0, 0.01], "floor")[0], [8, 0.0225, 1, 0.0225], rtol=0.01)
    lifted, changed = regularized([8.0, 0.99, 0.01, 0.0], "floor")
    assert_allclose(lifted, [8, 0.99, 0.0225, 0.0225])
    assert changed == 2
    lifted, changed = regularized([8.0, 0.99, 0.01, 0.0], "ridge")
    assert_allclose(lifted, [8.0225, 1.0125, 0.0325, 0.0225])
    assert changed == 2
    assert regularized([8.0, 0.99, 0.5, 0.3], "floor")[1] == 0


def test_pinv_leaves_null_directions_out():
    lifted, changed = regularized([8.0, 2.0, 1e-9, 0.0], "pinv")
    assert_array_equal(lifted, [8, 2, np.inf, np.inf])
    assert changed == 2
    shapes, _ = principal_shapes(np.diag([8.0, 2.0, 0.0])[None], ShapeRule(3, regularization="pinv"))
    assert_allclose(shapes.log_determinants, np.log(16))  # over the directions that are left
    assert_allclose(shapes.covariances[0], np.diag([8.0, 2.0, 0.0]), atol=1e-12)
    form = shapes.forms("det")[0]
    assert_allclose(form, np.diag([0.5, 2.0, 0.0]), atol=1e-12)  # determinant one on the plane


def test_tikhonov_inverts_as_the_thesis_does():
    """s -> s / (s^2 + eps), with eps in units of the mean variance squared; where that falls, nothing is left."""
    values = np.array([5.0, 3.0, 0.02, 1e-3, 1e-9])
    lifted, changed = regularized(values, "tikhonov", epsilon=1e-6)
    inverse = values / (values**2 + 1e-6 * values.mean() ** 2)
    assert_allclose(1 / lifted, np.where(values > 1e-3 * values.mean(), inverse, 0.0), rtol=1e-9)
    assert changed == 2


def test_no_regularization_refuses_a_direction_without_variance():
    assert_array_equal(regularized([8.0, 2.0], "none")[0], [8, 2])
    with pytest.raises(ValueError, match=r"prototype 0 do not vary in every direction.*regularization='floor'"):
        regularized([8.0, 0.0], "none")


@pytest.mark.pairwise(option=[option for option in REGULARIZATIONS if option != "none"], q=[1, 2, 4], rank=[0, 1, 2, 3])
def test_distances_are_finite_whatever_the_rank(option, q, rank):
    """No variance at all, or none along some directions: finite gains, none of them negative."""
    rng = np.random.default_rng(rank)
    half = rng.normal(size=(2, 4, rank))
    shapes, _ = principal_shapes(half @ np.swapaxes(half, 1, 2), ShapeRule(q, regularization=option))
    for measure in ("det", "logdet", "none"):
        for gain in shapes.gains(measure)[:2]:
            assert np.isfinite(gain).all()
            assert (gain >= 0).all()
        assert np.isfinite(shapes.gains(measure)[2]).all()
    assert_allclose(shapes.axes @ np.swapaxes(shapes.axes, 1, 2), np.tile(np.eye(q), (2, 1, 1)), atol=1e-9)


# Sketched covariances


@given(seeds, st.integers(2, 8), st.data())
@settings(max_examples=30)
def test_sketch_of_a_covariance_of_low_rank_is_exact(seed, d, data):
    rng = np.random.default_rng(seed)
    q = data.draw(st.integers(1, d - 1))
    half = rng.normal(size=(2, d, q))
    covariances = half @ np.swapaxes(half, 1, 2)
    axes = np.swapaxes(np.linalg.qr(rng.normal(size=(2, d, q)))[0], 1, 2)
    totals = np.trace(covariances, axis1=1, axis2=2)
    shapes, _ = sketched_shapes(axes, axes @ covariances, totals, ShapeRule(q, epsilon=0.0, unit=0.0))
    assert_allclose(shapes.covariances, covariances, atol=1e-6 * totals.max())


@given(seeds)
@settings(max_examples=20)
def test_sketch_is_never_larger_than_the_covariance_and_keeps_its_trace(seed):
    rng = np.random.default_rng(seed)
    d, q = 8, 3
    covariances = random_covariances(rng, 2, d, 1.0)
    axes = np.swapaxes(np.linalg.qr(rng.normal(size=(2, d, q)))[0], 1, 2)
    totals = np.trace(covariances, axis1=1, axis2=2)
    shapes, _ = sketched_shapes(axes, axes @ covariances, totals, ShapeRule(q, epsilon=0.0))
    seen = np.swapaxes(shapes.axes, 1, 2) @ (shapes.variances[:, :, None] * shapes.axes)
    assert np.linalg.eigvalsh(covariances - seen).min() > -1e-9 * totals.max()
    assert_allclose(np.trace(shapes.covariances, axis1=1, axis2=2), totals)


def test_repeated_sketches_end_at_the_principal_directions():
    rng = np.random.default_rng(0)
    d, q = 20, 3
    turned = np.linalg.qr(rng.normal(size=(2, d, d)))[0] * 0.8 ** np.arange(d)
    covariances = turned @ np.swapaxes(turned, 1, 2)
    rule = ShapeRule(q, epsilon=0.0)
    exact, _ = principal_shapes(covariances, rule)
    axes = np.swapaxes(np.linalg.qr(rng.normal(size=(2, d, q)))[0], 1, 2)
    totals = np.trace(covariances, axis1=1, axis2=2)
    for _ in range(100):
        shapes, _ = sketched_shapes(axes, axes @ covariances, totals, rule)
        axes = shapes.axes
    assert_allclose(shapes.variances, exact.variances, rtol=1e-9)
    assert_allclose(shapes.covariances, exact.covariances, atol=1e-7 * totals.max())


# Distances, sums and costs of prototypes


@each_kind
@each_measure
@pytest.mark.parametrize("q", [1, 2, 4])
def test_distances_of_samples(kind, measure, q):
    X, positions, source, prototypes = state(0, kind, measure, q=q)
    distances = measured(prototypes, source)
    assert_allclose(distances, slow_distances(X, positions, prototypes.shapes, measure), atol=1e-8)
    winners = nearest(prototypes, source)
    assert_allclose(distances[np.arange(len(X)), winners], distances.min(axis=1), atol=1e-8)  # all 0 if nothing is left


@each_kind
@each_measure
def test_distances_with_labels(kind, measure):
    """(1 - beta) d + beta |y - w_y|^2."""
    X, positions, source, prototypes = state(1, kind, measure, labels=3)
    labels = ((source.labels.vectors[:, None] - prototypes.positions[:, 4:]) ** 2).sum(axis=2)
    expected = 0.7 * slow_distances(X, positions, prototypes.shapes, measure) + 0.3 * labels
    assert_allclose(measured(prototypes, source), expected, atol=1e-8)


def test_a_common_scale_is_that_of_the_samples():
    """Coordinates of a source are (x - origin) * scale."""
    X, _, source, prototypes = state(0, Matrix)
    scale = np.array([1.0, 2.0, 0.5, 3.0])
    scaled = ArraySource(X, weights=source.weights, origin=np.full(4, 2.0), scale=scale, quadratic=True)
    plain = ArraySource((X - 2) * scale, weights=source.weights, origin=np.zeros(4), quadratic=True)
    assert_allclose(measured(prototypes, scaled), measured(prototypes, plain), atol=1e-9)
    assert_allclose(scaled.rows(np.arange(5)), ((X - 2) * scale)[:5])


@given(seeds, st.sampled_from(["det", "logdet", "none"]), st.sampled_from([0, 3]), st.sampled_from([0.02, 1.0, 5.0]))
@settings(max_examples=30)
def test_cost_is_half_the_weighted_sum_of_distances(seed, measure, labels, range_):
    for kind in (Matrix, Subspace):
        _, _, source, prototypes = state(seed, kind, measure, labels=labels)
        distances = measured(prototypes, source)
        ranks = distances.argsort(axis=1, kind="stable").argsort(axis=1)
        for neighborhood, h in ((Ranks(), np.exp(-ranks / range_)), (Winner(), ranks == 0)):
            cost = prototypes.cost(neighborhood.gather(prototypes, source, range_))
            expected = 0.5 * (source.weights[:, None] * h * distances).sum()
            assert_allclose(cost, expected, rtol=1e-8, atol=1e-8)


@each_kind
@pytest.mark.parametrize("labels", [0, 3])
@pytest.mark.parametrize("shared", [False, True])
def test_update_takes_the_weighted_mean_and_covariance(kind, labels, shared):
    """Of the covariance, Subspace knows the product with the directions before; the rest follows from that."""
    X, _, source, prototypes = state(3, kind, labels=labels, d=5, q=2)
    if shared:
        same = prototypes.shapes[np.zeros(3, np.int64)]
        prototypes = replace(prototypes, shapes=same, rule=replace(prototypes.rule, shared=True))
    after = prototypes.update(Ranks().gather(prototypes, source, 1.0))
    ranks = measured(prototypes, source).argsort(axis=1, kind="stable").argsort(axis=1)
    h = source.weights[:, None] * np.exp(-ranks)
    points = X if labels == 0 else np.hstack([X, source.labels.vectors])
    means = h.T @ points / h.sum(axis=0)[:, None]
    assert_allclose(after.positions + source.origin, means, atol=1e-10)
    covariances = np.array(
        [(X - m).T @ (w[:, None] * (X - m)) / (1.0 if shared else w.sum()) for w, m in zip(h.T, means[:, :5])]
    )
    if shared:
        covariances[:] = covariances.sum(axis=0) / h.sum()
    if kind is Matrix:
        expected, _ = principal_shapes(covariances, prototypes.rule)
    else:
        axes = prototypes.shapes.axes
        totals = np.trace(covariances, axis1=1, axis2=2)
        expected, _ = sketched_shapes(axes, axes @ covariances, totals, prototypes.rule)
    assert_allclose(after.shapes.covariances, expected.covariances, atol=1e-9)


@each_kind
def test_prototype_without_samples_stays_as_it_is(kind):
    _, _, source, prototypes = state(0, kind)
    away = prototypes.positions.copy()
    away[1] += 1e3
    prototypes = replace(prototypes, positions=away)
    after = prototypes.update(Winner().gather(prototypes, source, 0.0))
    assert_array_equal(after.positions[1], away[1])
    assert_array_equal(after.shapes.covariances[1], prototypes.shapes.covariances[1])
    assert not np.allclose(after.shapes.covariances[0], prototypes.shapes.covariances[0])


@each_kind
@pytest.mark.parametrize("chunk_size", [1, 7, 1000])
@pytest.mark.parametrize("neighborhood", COOPERATIONS)
def test_chunks_do_not_matter(kind, chunk_size, neighborhood):
    neighborhood = COOPERATIONS[neighborhood]
    _, _, source, prototypes = state(2, kind)
    whole = neighborhood.gather(prototypes, source, 0.7)
    _, _, source, _ = state(2, kind, chunk_size=chunk_size)
    parts = neighborhood.gather(prototypes, source, 0.7)
    assert_allclose(prototypes.cost(parts), prototypes.cost(whole))
    whole, parts = prototypes.update(whole), prototypes.update(parts)
    assert_allclose(parts.positions, whole.positions, atol=1e-10)
    assert_allclose(parts.shapes.covariances, whole.shapes.covariances, atol=1e-9)


@pytest.mark.parametrize("winner", ["heskes", "nearest"])
@pytest.mark.parametrize("kernel", ["gaussian", "exponential"])
def test_lattice_shares_of_both_kinds_are_those_of_the_definition(winner, kernel):
    """Sums of a winner, shared among its neighbors, are the sums of every sample for every prototype."""
    lattice = rectangular(2, 3)
    for kind in (Matrix, Subspace):
        X, _, source, prototypes = state(5, kind, k=6, n=60)
        log_h = -lattice.distances / 0.8 if kernel == "exponential" else -0.5 * (lattice.distances / 0.8) ** 2
        h = np.exp(log_h) / (np.exp(log_h).sum(axis=1, keepdims=True) if winner == "heskes" else 1.0)
        distances = measured(prototypes, source)
        winners = (distances @ h.T if winner == "heskes" else distances).argmin(axis=1)
        weights = source.weights[:, None] * h[winners]
        statistics = OnLattice(lattice, winner=winner, kernel=kernel).gather(prototypes, source, 0.8)
        assert_allclose(prototypes.cost(statistics), 0.5 * (weights * distances).sum())
        after = prototypes.update(statistics)
        means = weights.T @ X / weights.sum(axis=0)[:, None]
        assert_allclose(after.positions + 2.0, means, atol=1e-10)
        traces = [w @ ((X - m) ** 2).sum(axis=1) / w.sum() for w, m in zip(weights.T, means)]
        assert_allclose(np.trace(after.shapes.covariances, axis1=1, axis2=2), traces)


def test_nodes_that_win_nothing_on_a_long_chain():
    """The neighborhood function between far nodes is below any number; their ratio may be above."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 6))
    positions = np.zeros((40, 6))
    positions[1:, 0] = 100 + np.arange(39)
    shapes = random_shapes(rng, 40, 6, 2)
    source = ArraySource(X, origin=np.zeros(6))
    prototypes = Subspace(positions, source.metric, shapes, ShapeRule(2))
    after = prototypes.update(OnLattice(chain(40)).gather(prototypes, source, 0.3))
    assert_allclose(after.positions, np.tile(X.mean(axis=0), (40, 1)), atol=1e-9)


@pytest.mark.parametrize("neighborhood", COOPERATIONS)
@pytest.mark.parametrize("shared", [False, True])
def test_a_fixed_point_of_whole_covariances_is_one_of_sketches(neighborhood, shared):
    neighborhood = COOPERATIONS[neighborhood]
    X, _, source, prototypes = state(7, Matrix, "logdet", d=5, q=2, n=120)
    prototypes = replace(prototypes, rule=replace(prototypes.rule, shared=shared))
    for step in anneal(prototypes, neighborhood, source, np.full(60, 0.4)):
        prototypes = step.prototypes
    sketched = Subspace(**vars(replace(prototypes)))
    plain = ArraySource(X, weights=source.weights, origin=np.full(5, 2.0))
    after = sketched.update(neighborhood.gather(sketched, plain, 0.4))
    assert_allclose(after.positions, prototypes.positions, atol=1e-9)
    assert_allclose(after.shapes.covariances, prototypes.shapes.covariances, atol=1e-8)


# Samples that stand for many


@each_kind
@pytest.mark.parametrize("scaled", [False, True])
def test_mean_and_covariance_stand_for_the_samples(kind, scaled):
    """Sums over two groups of samples are those over two samples with the spreads of the groups."""
    rng = np.random.default_rng(0)
    d = 4
    X = rng.normal(size=(90, d)) @ rng.normal(size=(d, d))
    groups = [X[10:40], X[40:]]
    covariances = np.array([np.cov(group.T, bias=True) for group in groups])
    values, vectors = np.linalg.eigh(covariances)
    spreads = Shapes(np.swapaxes(vectors, 1, 2), values, np.ones(2))
    few = np.vstack([X[:10], *(group.mean(axis=0, keepdims=True) for group in groups)])
    options = {"origin": np.ones(d), "quadratic": kind is Matrix}
    if scaled and kind is Matrix:
        options["scale"] = np.array([2.0, 0.5, 1.0, 3.0])
    many = ArraySource(X, **options)
    prototypes = kind(
        np.zeros((1, d)), many.metric, random_shapes(rng, 1, d, 2), ShapeRule(2), changed=np.zeros(1, np.int64)
    )
    expected = Winner().gather(prototypes, many, 0.0)
    for chunk_size in (1000, 11, 1):  # with both, one, or none of the two in a chunk
        source = ArraySource(
            few, weights=np.r_[np.ones(10), 30.0, 50.0], spreads=spreads, chunk_size=chunk_size, **options
        )
        found = Winner().gather(prototypes, source, 0.0)
        assert_allclose(prototypes.cost(found), prototypes.cost(expected))
        assert_allclose(
            prototypes.update(found).shapes.covariances, prototypes.update(expected).shapes.covariances, atol=1e-9
        )


# Mixtures


@each_kind
@given(seed=seeds)
@settings(max_examples=15)
def test_responsibilities_are_posteriors_and_their_cost_is_the_likelihood(kind, seed):
    X, positions, source, prototypes = state(seed, kind, "logdet")
    shares = np.array([0.2, 0.3, 0.5])
    prototypes = replace(prototypes, log_weights=np.log(shares))
    logs = np.column_stack(
        [multivariate_normal(m, c).logpdf(X) for m, c in zip(positions, prototypes.shapes.covariances)]
    )
    logs += np.log(shares)
    statistics = Soft().gather(prototypes, source, 1.0)
    likelihood = source.weights @ logsumexp(logs, axis=1)
    constant = 0.5 * source.weights.sum() * X.shape[1] * np.log(2 * np.pi)
    assert_allclose(prototypes.cost(statistics), -likelihood - constant)
    posteriors = source.weights[:, None] * np.exp(logs - logsumexp(logs, axis=1, keepdims=True))
    after = prototypes.update(statistics)
    assert_allclose(np.exp(after.log_weights), posteriors.sum(axis=0) / source.weights.sum())
    assert_allclose(after.positions + 2.0, posteriors.T @ X / posteriors.sum(axis=0)[:, None], atol=1e-8)


# Completion


def slow_completion(x, mean, covariance):
    """Most likely values of what is missing, Mahalanobis distance and ln det of what is known."""
    gap = np.isnan(x)
    known = covariance[np.ix_(~gap, ~gap)]
    solved = np.linalg.solve(known, (x - mean)[~gap])
    filled = x.copy()
    filled[gap] = mean[gap] + covariance[np.ix_(gap, ~gap)] @ solved
    return filled, (x - mean)[~gap] @ solved, np.linalg.slogdet(known)[1]


@given(seeds, st.integers(1, 4), st.sampled_from(["marginal", "blend"]))
@settings(max_examples=20)
def test_completion_by_density(seed, q, how):
    rng = np.random.default_rng(seed)
    shapes, positions, shares = random_shapes(rng, 3, 4, q), rng.normal(size=(3, 4)), rng.dirichlet(np.ones(3))
    X = 2 * rng.normal(size=(12, 4))
    X[rng.random((12, 4)) < 0.4] = np.nan
    X[:, 0] = np.where(np.isnan(X).all(axis=1), 1.0, X[:, 0])
    filled, chosen = completed(X, positions, shapes, np.log(shares), how)
    for x, result, unit in zip(X, filled, chosen):
        options, spreads, log_dets = zip(*(slow_completion(x, m, c) for m, c in zip(positions, dense(shapes))))
        logs = np.log(shares) - 0.5 * (np.array(spreads) + np.array(log_dets))
        assert unit == logs.argmax()
        posterior = np.exp(logs - logsumexp(logs))
        expected = options[unit] if how == "marginal" else posterior @ np.array(options)
        assert_allclose(result, np.where(np.isnan(x), expected, x), atol=1e-8)
