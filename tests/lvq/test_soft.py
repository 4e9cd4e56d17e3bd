"""Soft LVQ: its cost, its limits, and the probabilities it gives."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import softmax
from sklearn.base import clone
from sklearn.datasets import make_blobs

from protolearn import GLVQ, RSLVQ
from protolearn.lvq import LBFGS, SGD, Adam, MinkowskiMetric
from protolearn.lvq.cost import CrossEntropy, log_posteriors

CODES = np.array([0, 0, 1, 2, 2])
METRICS = [
    {"metric": "euclidean"},
    {"metric": "diagonal"},
    {"metric": "diagonal", "localization": "class"},
    {"metric": "matrix"},
    {"metric": "matrix", "n_components": 2},
    {"metric": "matrix", "localization": "prototype"},
    {"metric": MinkowskiMetric(3.0), "regularization": 0.0},
]


def samples(seed, n=30):
    rng = np.random.default_rng(seed)
    return rng.uniform(0.01, 4.0, (n, len(CODES))), rng.integers(0, 3, n), rng.uniform(0.5, 2.0, n)


def mixture(D, width):
    """The posterior of every class by its definition, for distances that are not too large."""
    densities = np.exp(-D / (2 * width**2))
    return np.stack([densities[:, c == CODES].sum(axis=1) for c in range(3)], axis=1) / densities.sum(axis=1)[:, None]


@given(st.integers(0, 1000), st.floats(0.5, 3.0))
@settings(max_examples=20)
def test_cost_is_the_cross_entropy_of_the_mixture(seed, width):
    D, y, u = samples(seed)
    posterior = mixture(D, width)
    cost, _ = CrossEntropy(width)(D, y[:, None] == CODES, u)
    assert cost == pytest.approx(-u @ np.log(posterior[np.arange(len(y)), y]), rel=1e-10)
    assert np.allclose(np.exp(log_posteriors(D, CODES, 3, width)), posterior, rtol=1e-10, atol=1e-15)


def test_slopes_are_the_differences_of_two_assignments():
    """The published rule: prototypes of the class by P_y(l|x) - P(l|x), all others by -P(l|x)."""
    D, y, u = samples(0)
    own, width = y[:, None] == CODES, 0.7
    _, G = CrossEntropy(width)(D, own, u)
    P = softmax(-D / (2 * width**2), axis=1)
    P_y = softmax(np.where(own, -D / (2 * width**2), -np.inf), axis=1)
    assert np.allclose(G, u[:, None] * (P_y - P) / (2 * width**2), rtol=1e-10, atol=1e-14)
    assert np.allclose(G.sum(axis=1), 0.0, atol=1e-14)


@given(st.integers(0, 1000))
@settings(max_examples=20)
def test_with_vanishing_width_only_mistakes_are_learned_from(seed):
    """Seo and Obermayer 2003: the nearest of the class is drawn, the nearest of all pushed, if these are not one."""
    D, y, u = samples(seed)
    own, width = y[:, None] == CODES, 1e-5
    cost, G = CrossEntropy(width)(D, own, u)
    rows = np.arange(len(D))
    J, K = np.where(own, D, np.inf).argmin(axis=1), D.argmin(axis=1)
    expected = np.zeros_like(D)
    expected[rows, J] += u
    expected[rows, K] -= u
    assert np.allclose(G * 2 * width**2, expected, atol=1e-12)
    assert cost * 2 * width**2 == pytest.approx(u @ (D[rows, J] - D[rows, K]), abs=1e-6)


def test_wide_gaussians_tell_nothing_apart():
    D, y, u = samples(0)
    cost, G = CrossEntropy(1e6)(D, y[:, None] == CODES, u)
    shares = np.bincount(CODES) / len(CODES)
    assert cost == pytest.approx(-u @ np.log(shares[y]), rel=1e-9)
    assert np.abs(G).max() < 1e-9


@given(st.integers(0, 1000), st.floats(1e-8, 1e8))
@settings(max_examples=30)
def test_nothing_overflows(seed, width):
    D, y, u = samples(seed)
    D[0] = 0.0
    D[1] *= 1e100
    D[:, 1] = np.inf  # a prototype that takes no part yet
    cost, G = CrossEntropy(width)(D, y[:, None] == CODES, u)
    assert np.isfinite(cost)
    assert cost >= -1e-9
    assert np.isfinite(G).all()
    assert not G[:, 1].any()


def test_sample_of_a_class_without_prototypes_does_not_count():
    D, y, u = samples(0)
    y[:5] = 3
    own = y[:, None] == CODES
    whole, part = CrossEntropy()(D, own, u), CrossEntropy()(D[5:], own[5:], u[5:])
    assert whole[0] == pytest.approx(part[0])
    assert not whole[1][:5].any()
    assert np.array_equal(whole[1][5:], part[1])


@pytest.mark.parametrize("options", METRICS, ids=str)
def test_probabilities_are_the_posteriors_of_the_distances(options, iris):
    X, y = iris
    model = RSLVQ(random_state=0, max_iter=20, **options).fit(X, y)
    expected = softmax(-model.distances(X) / (2 * model.width_**2), axis=1)
    assert np.allclose(model.predict_proba(X), expected, rtol=1e-9, atol=1e-12)  # one prototype per class
    assert np.array_equal(model.predict(X), model.classes_[expected.argmax(axis=1)])
    cost = -np.log(expected[np.arange(len(y)), y]).mean()
    if model.regularization:
        standard = model._metric.carried(model._theta, lambda A: A * getattr(model, "scale_", 1.0))
        cost -= model.regularization * model._metric.log_volume(standard)[0]
    if options.get("n_components") != 2:  # a turned frame has fewer rows
        assert model.cost_history_[-1] == pytest.approx(cost, rel=1e-6)
    assert model.score(X, y) > 0.95


def test_probabilities_of_several_prototypes_add_up_by_class(iris):
    X, y = iris
    model = RSLVQ({0: 1, 1: 3, 2: 2}, random_state=0).fit(X, y)
    shares = softmax(-model.distances(X) / (2 * model.width_**2), axis=1)
    expected = np.stack([shares[:, model.prototype_labels_ == c].sum(axis=1) for c in range(3)], axis=1)
    assert np.allclose(model.predict_proba(X), expected, rtol=1e-9, atol=1e-12)
    assert np.array_equal(model.predict(X), model.prototype_labels_[model.nearest(X)])
    model.reject_threshold = 0.3
    assert np.array_equal(model.predict(X) == -1, model.confidence(X) < 0.3)


@pytest.mark.parametrize("options", METRICS[:6], ids=str)
def test_width_and_prototypes_follow_the_scale_of_the_samples(options, iris):
    X, y = iris
    model = RSLVQ(max_iter=10, **options)
    small, large = clone(model).fit(X, y), clone(model).fit(1024.0 * X, y)
    unit = 1.0 if hasattr(small, "scale_") else 1024.0  # learned metrics measure in standard deviations
    assert large.width_ == pytest.approx(unit * small.width_, rel=1e-9)
    assert np.allclose(large.prototypes_, 1024.0 * small.prototypes_, rtol=1e-6)
    assert np.allclose(large.predict_proba(1024.0 * X), small.predict_proba(X), atol=1e-6)


def test_given_width_is_used_in_the_unit_of_the_distances(iris):
    X, y = iris
    free = RSLVQ().fit(X, y)
    again = RSLVQ(width=free.width_).fit(X, y)
    assert np.allclose(again.prototypes_, free.prototypes_)
    assert RSLVQ(width=5.0).fit(X, y).width_ == 5.0


def test_width_by_its_rule(iris):
    X, y = iris
    means = np.stack([X[y == c].mean(axis=0) for c in range(3)])
    variance = 0.1 * ((X - means[y]) ** 2).sum(axis=1).mean()
    assert RSLVQ().fit(X, y).width_ == pytest.approx(np.sqrt(variance), rel=1e-12)


@pytest.mark.parametrize("solver", [LBFGS(), SGD(0.01, 0.0005), Adam(batch_size=16), "waypoint"], ids=str)
@pytest.mark.parametrize("metric", ["euclidean", "diagonal", "matrix"])
def test_every_solver_lowers_the_cost(solver, metric, wine):
    X, y = wine
    model = RSLVQ(metric=metric, solver=solver, max_iter=8, regularization=0.0, random_state=0).fit(X, y)
    assert model.cost_history_[-1] < model.cost_history_[0]
    assert model.score(X, y) > 0.9


@pytest.mark.parametrize("options", METRICS[1:6], ids=str)
def test_relevances_add_up_to_one(options, wine):
    X, y = wine
    model = RSLVQ(max_iter=10, **options).fit(X, y)
    assert np.allclose(model.relevances_.sum(axis=-1).mean(), 1.0)
    matrices = model.relevance_matrix_
    assert np.allclose(np.diagonal(matrices, axis1=-2, axis2=-1), model.relevances_)
    d = X[:5, None] - model.prototypes_
    local = matrices if options.get("localization") else matrices[None]
    slots = np.arange(3) if options.get("localization") else np.zeros(3, int)
    expected = np.stack([np.einsum("ni,ij,nj->n", d[:, p], local[slots[p]], d[:, p]) for p in range(3)], axis=1)
    assert np.allclose(model.distances(X[:5]), expected)


def test_euclidean_metric_has_no_relevances(iris):
    model = RSLVQ(max_iter=2).fit(*iris)
    assert not hasattr(model, "relevances_")
    assert np.array_equal(model.metric_.matrices, np.ones((1, 4)))


def test_explanations_and_counterfactuals_agree_with_predictions(wine):
    X, y = wine
    model = RSLVQ(2, metric="matrix", random_state=0).fit(X, y)
    told = model.explain(X)
    assert np.array_equal(told.classes, model.predict(X))
    changed = model.counterfactual(X[:10])
    assert np.array_equal(model.predict(changed.samples), changed.classes)
    assert (changed.classes != model.predict(X[:10])).all()


def test_soft_borders_beat_crisp_ones_in_log_loss():
    """Where classes overlap, the posterior of a model that minimizes it is near the truth."""
    X, y = make_blobs(2000, centers=[[0.0, 0.0], [1.5, 0.0]], random_state=0)
    truth = 1 / (1 + np.exp(-1.5 * (X[:, 0] - 0.75)))
    model = RSLVQ(random_state=0).fit(X, y)
    assert np.abs(model.predict_proba(X)[:, 1] - truth).mean() < 0.03


def test_streams_keep_the_width_of_the_first_samples_that_differ(iris):
    X, y = iris
    model = RSLVQ(random_state=0)
    model.partial_fit(X[:1], y[:1], classes=[0, 1, 2])
    assert model.width_ == 0.0
    assert model.predict_proba(X[:1]) == pytest.approx(np.array([[1.0, 0.0, 0.0]]))
    order = np.random.default_rng(0).permutation(len(X))
    for rows in np.array_split(np.tile(order, 20), 60):
        model.partial_fit(X[rows], y[rows])
    width = model.width_
    assert width > 0.0
    assert model.partial_fit(X[order[:50]], y[order[:50]]).width_ == width
    assert model.score(X, y) > 0.9


def test_warm_start_keeps_the_width(iris):
    X, y = iris
    model = RSLVQ(warm_start=True, max_iter=3).fit(X, y)
    width, cost = model.width_, model.cost_history_[-1]
    model.fit(X, y)
    assert model.width_ == width
    assert model.cost_history_[-1] < cost


def test_missing_values_take_no_part(wine, rng):
    X, y = wine
    holes = np.where(rng.random(X.shape) < 0.1, np.nan, X)
    model = RSLVQ(metric="matrix", missing="partial").fit(holes, y)
    assert model.score(holes, y) > 0.9
    assert np.allclose(model.predict_proba(holes).sum(axis=1), 1.0)


def test_one_prototype_and_euclidean_distances_make_linear_borders(iris):
    """With one prototype per class the posterior is a logistic model: log ratios are affine in x."""
    X, y = iris
    model = RSLVQ().fit(X, y)
    Z = np.random.default_rng(0).normal(X.mean(axis=0), 0.1, (40, 4))
    D = model.distances(Z)
    logits = (D[:, [0]] - D[:, 1:]) / (2 * model.width_**2)
    design = np.column_stack([Z, np.ones(40)])
    residual = logits - design @ np.linalg.lstsq(design, logits, rcond=None)[0]
    assert np.abs(residual).max() < 1e-9 * np.abs(logits).max()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"width": 0.0}, "width=0.0"),
        ({"width": "wide"}, "width='wide'"),
        ({"metric": "cosine"}, "metric='cosine'"),
        ({"localization": "class"}, "localization='class' requires learned relevances"),
        ({"n_components": 9, "metric": "matrix"}, "n_components=9"),
        ({"metric_init": "random"}, "metric_init='random' applies to matrices only"),
    ],
    ids=str,
)
def test_parameters_are_checked(options, message, iris):
    with pytest.raises(ValueError, match=message):
        RSLVQ(**options).fit(*iris)


def test_soft_and_generalized_lvq_start_at_the_same_prototypes(iris):
    X, y = iris
    start = np.stack([X[y == c].mean(axis=0) for c in range(3)])
    steps = [model.fit(X, y).prototypes_ for model in (RSLVQ(init=start), RSLVQ(), GLVQ(init=start))]
    assert np.allclose(steps[0], steps[1])
    assert not np.allclose(steps[0], steps[2])
