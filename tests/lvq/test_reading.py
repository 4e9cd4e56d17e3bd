"""Explanations, counterfactuals, probabilities, rejection, and prototypes in the units of the data."""

import warnings

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.metrics import log_loss
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from protolearn import GLVQ, GMLVQ, GRLVQ, LGMLVQ, LGRLVQ, LVQ1, LLiRaMLVQ
from protolearn.core.classification import best_temperature
from protolearn.lvq import MinkowskiMetric, prototypes_in_units

MODELS = [LVQ1(2), GLVQ(2), GRLVQ(2), LGRLVQ(2), GMLVQ(2), GMLVQ(2, n_components=2), LGMLVQ(2), LLiRaMLVQ(2)]


def name(model):
    return str(model)


@pytest.mark.parametrize("model", MODELS, ids=name)
def test_contributions_add_up_to_the_margin(model, wine):
    X, y = wine
    model = clone(model).set_params(random_state=0).fit(X, y)
    explanation = model.explain(X)
    assert np.array_equal(explanation.classes, model.predict(X))
    assert np.array_equal(explanation.classes, model.prototype_labels_[explanation.prototypes])
    assert (explanation.rivals != explanation.classes).all()
    margins = explanation.rival_distances - explanation.distances
    assert np.allclose(explanation.contributions.sum(axis=1), margins, rtol=1e-8, atol=1e-10)
    right = explanation.classes == y
    assert np.allclose(model.margins(X, y)[right], margins[right], rtol=1e-8, atol=1e-10)
    relative = margins / (explanation.rival_distances + explanation.distances)
    assert np.allclose(model.confidence(X), relative, rtol=1e-8, atol=1e-10)
    assert np.allclose(model.relative_distance(X, y)[right], -relative[right], rtol=1e-8, atol=1e-10)


def test_relevance_of_single_features_in_an_explanation(wine):
    X, y = wine
    model = GRLVQ().fit(X, y)
    explanation = model.explain(X[:1])
    near, far = (model.prototypes_[i] for i in (explanation.prototypes[0], explanation.rival_prototypes[0]))
    expected = model.relevances_ * ((X[0] - far) ** 2 - (X[0] - near) ** 2)
    assert np.allclose(explanation.contributions[0], expected)


def test_table_of_an_explanation():
    iris = load_iris(as_frame=True)
    model = GMLVQ().fit(iris.data, iris.target_names[iris.target])
    explanation = model.explain(iris.data[:2])
    lines = explanation.table(1, n_features=3).splitlines()
    assert lines[0].startswith("setosa, because prototype 0 is at ")
    assert len(lines) == 5
    assert all(line.endswith(("for", "against")) for line in lines[1:4])
    assert lines[4].strip() == "and 1 more feature; to_frame() returns all"
    assert len(explanation.table(1).splitlines()) == 5  # all four, and nothing left out
    top = iris.feature_names[np.abs(explanation.contributions[1]).argmax()]
    assert lines[1].strip().startswith(top)


def test_tables_tell_what_they_leave_out(wine):
    X, y = wine
    explanation = GMLVQ(max_iter=20).fit(X, y).explain(X)
    assert str(explanation).endswith(f"and {len(X) - 10} more samples; to_frame() returns all")
    assert len(explanation.to_frame()) == len(X)
    one = GMLVQ(max_iter=20).fit(X, y).explain(X[:1])
    assert str(one).endswith(f"and {X.shape[1] - 10} more features; to_frame() returns all")
    assert "more features" in one._repr_html_()


@pytest.mark.parametrize("model", MODELS, ids=name)
def test_counterfactuals_change_the_class(model, wine):
    X, y = wine
    model = clone(model).set_params(random_state=0).fit(X, y)
    some = X[::12]
    changed = model.counterfactual(some)
    assert np.allclose(changed.samples, some + changed.changes)
    assert (model.predict(changed.samples) != model.predict(some)).all()
    assert np.array_equal(changed.classes, model.predict(changed.samples))
    assert np.isfinite(changed.distances).all()
    halfway = some + 0.9 * changed.changes
    assert (model.predict(halfway) == model.predict(some)).mean() > 0.9


@pytest.mark.parametrize("model", [GLVQ(3), GMLVQ(3), GMLVQ(3, n_components=2), GRLVQ(3)], ids=name)
def test_counterfactuals_of_a_shared_metric_are_the_smallest(model, wine):
    X, y = wine
    model = clone(model).set_params(random_state=0).fit(X, y)
    omega = np.atleast_2d(model.omega_) if hasattr(model, "omega_") else np.eye(13)
    omega = np.diag(omega[0]) if len(omega) == 1 else omega
    V = model.prototypes_ @ omega.T
    for x in X[::40]:
        result = model.counterfactual(x[None])
        z, label = omega @ x, model.predict(x[None])[0]
        own, others = V[model.prototype_labels_ == label], V[model.prototype_labels_ != label]
        best = min(nearest_point(z, v, own) for v in others)
        assert result.distances[0] == pytest.approx(best, rel=1e-3)


def nearest_point(z, v, own):
    """Squared distance of z from the points nearer to v than to all of ``own``, by a general solver."""

    def halves(p):
        return ((p - own) ** 2).sum(axis=1) - ((p - v) ** 2).sum()

    constraint = {"type": "ineq", "fun": halves}
    found = minimize(lambda p: ((p - z) ** 2).sum(), v, constraints=[constraint], method="SLSQP", tol=1e-12)
    return found.fun if found.success else np.inf


def test_counterfactuals_across_a_curved_border_are_the_smallest(wine):
    X, y = wine
    X, y = X[y < 2][:, :4], y[y < 2]
    model = LGMLVQ(n_components=4, regularization=0.5).fit(X, y)
    for x in X[::25]:
        result = model.counterfactual(x[None])
        J = int(model.predict(x[None])[0])
        mine, theirs = model.omegas_[J], model.omegas_[1 - J]
        w, v = model.prototypes_[J], model.prototypes_[1 - J]

        def across(p, mine=mine, theirs=theirs, w=w, v=v):
            return ((mine @ (p - w)) ** 2).sum() - ((theirs @ (p - v)) ** 2).sum()

        found = minimize(
            lambda p, x=x, mine=mine: ((mine @ (p - x)) ** 2).sum(),
            result.samples[0],
            constraints=[{"type": "ineq", "fun": across}],
            method="SLSQP",
            tol=1e-12,
        )
        assert result.distances[0] <= found.fun * 1.01 + 1e-9


@pytest.mark.parametrize("model", [GMLVQ(n_components=1), GRLVQ(regularization=0.0)], ids=name)
def test_counterfactuals_change_nothing_that_the_metric_does_not_see(model, wine):
    X, y = wine
    model = clone(model).fit(X, y)
    omega = np.diag(model.omega_) if model.omega_.ndim == 1 else model.omega_
    seen = np.linalg.pinv(omega, rcond=1e-10) @ omega
    changes = model.counterfactual(X[::30]).changes
    assert np.allclose(changes @ seen.T, changes, atol=1e-8)


def test_counterfactuals_reach_a_target(wine):
    X, y = wine
    model = GMLVQ(2, random_state=0).fit(X, y)
    changed = model.counterfactual(X[::20], target=2)
    assert (model.predict(changed.samples) == 2).all()
    stays = model.predict(X[::20]) == 2
    assert (changed.distances[stays] == 0).all()
    assert (changed.distances >= model.counterfactual(X[::20]).distances - 1e-9)[~stays].all()
    with pytest.raises(ValueError, match="target=7 is not one of the classes"):
        model.counterfactual(X, target=7)


def test_metrics_of_other_kinds_cannot_explain(iris):
    model = GLVQ(metric=MinkowskiMetric(3.0)).fit(*iris)
    with pytest.raises(ValueError, match="MinkowskiMetric is of another kind"):
        model.explain(iris[0])


@pytest.mark.parametrize("model", MODELS, ids=name)
def test_probabilities(model, wine):
    X, y = wine
    model = clone(model).set_params(random_state=0).fit(X, y)
    probabilities = model.predict_proba(X)
    assert np.allclose(probabilities.sum(axis=1), 1.0)
    assert np.array_equal(model.classes_[probabilities.argmax(axis=1)], model.predict(X))


def test_temperature_is_that_of_the_largest_likelihood():
    rng = np.random.default_rng(0)
    D = rng.exponential(size=(400, 3))
    shares = np.exp(-D / 0.3) / np.exp(-D / 0.3).sum(axis=1, keepdims=True)
    y = np.array([rng.choice(3, p=share) for share in shares])

    def loss(T):
        shares = np.exp(-D / T) / np.exp(-D / T).sum(axis=1, keepdims=True)
        return log_loss(y, shares)

    T = best_temperature(D, y, np.ones(400))
    assert pytest.approx(0.3, rel=0.25) == T
    grid = np.linspace(0.1, 1, 200)
    assert loss(T) < min(map(loss, grid)) + 1e-3


def test_temperature_of_separable_classes_is_finite():
    D = np.array([[0.0, 1.0], [1.0, 0.0]] * 10)
    T = best_temperature(D, np.array([0, 1] * 10), np.ones(20))
    assert 0 < T < 1
    certainty = 1 / (1 + np.exp(-1 / T))
    assert certainty == pytest.approx(21 / 22, rel=1e-6)  # as if one more of twenty were wrong


def test_rejected_samples_of_small_integers_and_frames():
    iris = load_iris(as_frame=True)
    y = iris.target.astype("uint8")
    model = GMLVQ(reject_threshold=0.5).fit(iris.data, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        predicted = model.predict(iris.data)
    assert set(predicted) == {-1, 0, 1, 2}


def test_rejected_samples(wine):
    X, y = wine
    model = GMLVQ(reject_threshold=0.8).fit(X, y)
    unsure = model.confidence(X) < 0.8
    assert unsure.any()
    assert (model.predict(X)[unsure] == -1).all()
    assert np.array_equal(model.predict(X)[~unsure], GMLVQ().fit(X, y).predict(X)[~unsure])


def test_margins_need_known_classes(iris):
    X, y = iris
    model = GLVQ().fit(X, y)
    with pytest.raises(ValueError, match="classes that were not in the training data"):
        model.margins(X[:1], [5])
    with pytest.raises(ValueError, match="one class for each sample"):
        model.relative_distance(X, y[:3])


def test_prototypes_in_units(iris):
    X, y = iris
    pipeline = make_pipeline(StandardScaler(), "passthrough", GLVQ()).fit(X, y)
    expected = pipeline[0].inverse_transform(pipeline[-1].prototypes_)
    assert np.array_equal(prototypes_in_units(pipeline), expected)
    assert np.array_equal(prototypes_in_units(pipeline[-1]), pipeline[-1].prototypes_)
    one_way = make_pipeline(NoWayBack(), GLVQ()).fit(X, y)
    with pytest.warns(UserWarning, match="inverse_transform"):
        assert np.array_equal(prototypes_in_units(one_way), one_way[-1].prototypes_)


class NoWayBack(FunctionTransformer):
    inverse_transform = property()
