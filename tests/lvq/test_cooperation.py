"""Supervised neural gas: cooperation of the prototypes of a class by rank, inside the cost of generalized LVQ."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from protolearn import GLVQ, GMLVQ, GRLVQ, LGMLVQ, LGRLVQ, LLiRaMLVQ
from protolearn.lvq import LBFGS, SGD, Adam
from protolearn.lvq.cost import SQUASHING, CooperativeRelativeDistance, RelativeDistance, rank_weights

CODES = np.array([0, 0, 0, 1, 1, 2])


def samples(seed, n=25):
    rng = np.random.default_rng(seed)
    return rng.uniform(0.0, 4.0, (n, len(CODES))), rng.integers(0, 3, n), rng.uniform(0.5, 2.0, n)


@given(st.integers(0, 1000), st.floats(0.05, 20.0), st.sampled_from(sorted(SQUASHING)))
@settings(max_examples=30)
def test_cost_by_its_definition(seed, range_, squashing):
    """Hammer, Strickert and Villmann 2005, sample by sample."""
    D, y, u = samples(seed)
    expected = 0.0
    for d, label, weight in zip(D, y, u):
        mine, others = np.flatnonzero(label == CODES), d[label != CODES]
        ranks = np.array([(d[mine] < d[p]).sum() for p in mine])
        h = np.exp(-ranks / range_)
        mu = (d[mine] - others.min()) / (d[mine] + others.min())
        expected += weight * (h @ SQUASHING[squashing](mu, 3.0)[0]) / h.sum()
    cost = CooperativeRelativeDistance(squashing, (3.0, 3.0), (range_, range_))
    assert cost(D, y[:, None] == CODES, u)[0] == pytest.approx(expected, rel=1e-10, abs=1e-12)


@given(st.integers(0, 1000), st.sampled_from(sorted(SQUASHING)))
@settings(max_examples=30)
def test_without_range_it_is_the_cost_of_generalized_lvq(seed, squashing):
    D, y, u = samples(seed)
    D[0, [0, 3, 5]] = 0.0  # a sample on its winners
    D[:, 4] = np.inf  # a prototype that takes no part yet
    D[1, :3] = D[1, 0]  # ties
    own = y[:, None] == CODES
    cost, G = CooperativeRelativeDistance(squashing, (3.0, 3.0), (0.01, 0.01))(D, own, u)
    expected, slopes = RelativeDistance(squashing, (3.0, 3.0))(D, own, u)
    assert cost == pytest.approx(expected, rel=1e-12, abs=1e-12)
    assert np.allclose(G, slopes, rtol=1e-12, atol=1e-12)


@given(st.integers(0, 1000), st.floats(0.05, 20.0))
@settings(max_examples=30)
def test_weights_fall_with_the_rank_and_add_up_to_one(seed, range_):
    D, y, _ = samples(seed)
    own = y[:, None] == CODES
    H = rank_weights(D, own, range_)
    assert np.allclose(H.sum(axis=1), 1.0)
    assert not H[~own].any()
    for d, h, mine in zip(D, H, own):
        assert (np.diff(h[mine][np.argsort(d[mine])]) <= 0).all()
        assert h[mine].argmax() == d[mine].argmin()


def test_one_prototype_per_class_needs_no_cooperation(wine):
    X, y = wine
    settings = {"max_iter": 20, "slope": 5.0, "tol": 0.0}
    with_it = GLVQ(neighborhood_range=3.0, **settings)
    assert with_it.fit(X, y).cost_history_[0] == pytest.approx(GLVQ(**settings).fit(X, y).cost_history_[0], rel=1e-9)


def test_ranges_fall_to_where_only_the_nearest_learns():
    cost = CooperativeRelativeDistance("sigmoid", (2.0, 8.0), (4.0, 0.25))
    stages = cost.stages(3)
    assert [stage.range_[1] for stage in stages] == pytest.approx([4.0, 1.0, 0.25])
    assert [stage.slope[1] for stage in stages] == pytest.approx([2.0, 4.0, 8.0])
    assert cost.stages(1)[0].range_[1] == 0.25


@pytest.mark.parametrize(
    "model", [GLVQ(2), GRLVQ(2), LGRLVQ(2), GMLVQ(2), LGMLVQ(2), LLiRaMLVQ(2)], ids=lambda model: type(model).__name__
)
@pytest.mark.parametrize("solver", [LBFGS(), SGD(), Adam(batch_size=32), "waypoint"], ids=str)
def test_every_metric_and_every_solver_can_cooperate(model, solver, wine):
    X, y = wine
    model = clone(model).set_params(solver=solver, neighborhood_range=1.0, max_iter=10, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.95
    mu = model.relative_distance(X, y)
    if isinstance(solver, LBFGS):  # ends at the cost of generalized LVQ, but for exp(-10)
        regularization = getattr(model, "regularization_", 0.0) * model._metric.log_volume(model._theta)[0]
        expected = (1 / (1 + np.exp(-model._slope()[1] * mu))).mean() - regularization
        assert model.cost_history_[-1] == pytest.approx(expected, abs=1e-3)


def checkerboard(n, rng):
    X = rng.uniform(0, 4, (n, 2))
    return X, X.astype(int).sum(axis=1) % 2


def test_cooperation_spreads_prototypes_that_start_in_the_middle():
    errors = []
    for seed in range(5):
        X, y = checkerboard(800, np.random.default_rng(seed))
        model = GLVQ(8, init="mean", max_iter=200, random_state=seed)
        errors.append([1 - clone(model).set_params(neighborhood_range=r).fit(X, y).score(X, y) for r in (None, 1.0)])
    alone, together = np.mean(errors, axis=0)
    assert together < 0.85 * alone


def test_range_is_checked(iris):
    with pytest.raises(ValueError, match="neighborhood_range=0"):
        GLVQ(neighborhood_range=0).fit(*iris)
