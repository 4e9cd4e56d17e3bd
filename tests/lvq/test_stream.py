"""Streams and weights: partial_fit follows the solver, and the rules without a cost learn from both."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.preprocessing import scale

from protolearn import GLVQ, GMLVQ, GRLVQ, LGMLVQ, LVQ1, LVQ21, LLiRaMLVQ
from protolearn.lvq import LBFGS, SGD, Adam, MinkowskiMetric

RULES = {
    "LVQ1": LVQ1(random_state=0),
    "OLVQ1": LVQ1(adaptive_rates=True, random_state=0),
    "RLVQ": LVQ1(relevance_learning_rate=1e-4, random_state=0),
    "LVQ21": LVQ21(random_state=0),
}


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(X))
    return scale(X)[order], y[order]


def stream(model, X, y, n_batches=4, classes=(0, 1, 2)):
    for rows in np.array_split(np.arange(len(X)), n_batches):
        model.partial_fit(X[rows], y[rows], classes=classes)
    return model


@pytest.mark.parametrize("solver", ["lbfgs", "waypoint", LBFGS()], ids=str)
def test_solvers_that_need_all_samples_are_refused(solver, wine):
    X, y = wine
    model = GMLVQ(solver=solver)
    with pytest.raises(ValueError, match=r"partial_fit sees each batch once.*Use 'adam' or 'sgd'"):
        model.partial_fit(X, y, classes=[0, 1, 2])
    assert not hasattr(model, "prototypes_")


def test_parameters_of_adam_count_in_a_stream(wine):
    default = stream(GMLVQ(random_state=0), *wine)
    named = stream(GMLVQ(solver="adam", random_state=0), *wine)
    same = stream(GMLVQ(solver=Adam(batch_size=128), random_state=0), *wine)
    slow = stream(GMLVQ(solver=Adam(1e-6, batch_size=128), random_state=0), *wine)
    assert np.array_equal(default.prototypes_, named.prototypes_)
    assert np.array_equal(default.prototypes_, same.prototypes_)
    start = GMLVQ(random_state=0).partial_fit(wine[0][:45], wine[1][:45], classes=[0, 1, 2])
    assert np.abs(slow.prototypes_ - start.prototypes_).max() < 0.5 * np.abs(default.prototypes_).max()
    with pytest.raises(ValueError, match="learning_rate"):
        stream(GMLVQ(solver=Adam(-1.0)), *wine)


@pytest.mark.parametrize(
    "model", [GLVQ(), GRLVQ(), GMLVQ(), LGMLVQ(localization="class"), LLiRaMLVQ(), GLVQ(metric=MinkowskiMetric(3.0))]
)
def test_a_batch_is_an_epoch_of_sgd(model, wine):
    """All samples as one batch, again and again, follow the rates and the rule of SGD in fit."""
    X, y = wine
    model = clone(model).set_params(solver=SGD(0.05, 0.005, decay=0.1, metric_start=2), slope=3.0, random_state=0)
    if "regularization" in model.get_params():
        model.set_params(regularization=0.02)  # "auto" falls with the samples seen
    batches = clone(model)
    for _ in range(3):
        batches.partial_fit(X, y, classes=[0, 1, 2])
    whole = clone(model).set_params(max_iter=3).fit(X, y)
    assert np.allclose(batches.prototypes_, whole.prototypes_, rtol=1e-9, atol=1e-9)
    assert np.allclose(batches.cost_history_, whole.cost_history_, rtol=1e-9)
    assert np.allclose(batches.predict_proba(X), whole.predict_proba(X), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("model", [GLVQ(), LGMLVQ(regularization=0.0, norm="each"), GLVQ(metric=MinkowskiMetric(3.0))])
def test_sgd_leaves_prototypes_of_classes_to_come_alone(model, wine):
    X, y = wine
    two = y < 2
    rates = SGD(0.05, 0.005)
    model = clone(model).set_params(solver=rates, random_state=0).partial_fit(X[two], y[two], classes=[0, 1, 2])
    assert set(model.predict(X)) == {0, 1}
    assert np.isfinite(model.prototypes_).all()
    apart = clone(model).partial_fit(X[two], y[two], classes=[0, 1])
    assert np.allclose(model.prototypes_[:2], apart.prototypes_)
    model.partial_fit(X, y)
    assert set(model.predict(X)) == {0, 1, 2}


@pytest.mark.parametrize("name", sorted(RULES))
def test_weights_are_numbers_of_presentations(name, wine):
    X, y = wine
    counts = np.random.default_rng(1).integers(0, 4, len(X))
    model = clone(RULES[name]).set_params(max_iter=5)
    weighted = clone(model).fit(X, y, sample_weight=counts)
    copies = clone(model).fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    assert np.allclose(weighted.prototypes_, copies.prototypes_, rtol=1e-9, atol=1e-12)
    assert np.allclose(weighted.error_history_, copies.error_history_)
    shares = clone(model).fit(X, y, sample_weight=np.full(len(X), 1e-3))
    assert np.allclose(shares.prototypes_, clone(model).fit(X, y).prototypes_, rtol=1e-9, atol=1e-12)


def test_fractions_of_weights_count_on_average(wine):
    X, y = wine
    half = LVQ1(random_state=0).fit(X, y, sample_weight=np.where(y == 2, 1.5, 3.0))
    assert half.score(X, y) > 0.9
    with pytest.raises(ValueError, match="negative"):
        LVQ1().fit(X, y, sample_weight=-np.ones(len(X)))


@pytest.mark.parametrize("name", sorted(RULES))
def test_rules_learn_a_stream(name, wine):
    X, y = wine
    model = clone(RULES[name]).set_params(learning_rate=0.001 if name == "LVQ21" else 0.02)
    whole = clone(model)
    for _ in range(5):
        stream(model, X, y)
        whole.partial_fit(X, y, classes=[0, 1, 2])
    assert model.score(X, y) > 0.93
    assert model.n_iter_ == len(model.error_history_) == 20
    assert whole.n_iter_ == 5
    fitted = clone(model).fit(X, y)
    before = fitted.prototypes_
    assert fitted.partial_fit(X, y).score(X, y) > 0.9
    assert not np.array_equal(before, fitted.prototypes_)


@pytest.mark.parametrize("name", sorted(RULES))
def test_rules_welcome_classes_when_they_come(name, wine):
    X, y = wine
    model = clone(RULES[name]).partial_fit(X[y == 0], y[y == 0], classes=[0, 1, 2])
    assert set(model.predict(X)) == {0}
    model.partial_fit(X[y < 2], y[y < 2])
    assert set(model.predict(X)) == {0, 1}
    apart = clone(RULES[name]).partial_fit(X[y == 0], y[y == 0], classes=[0, 1]).partial_fit(X[y < 2], y[y < 2])
    assert np.allclose(model.prototypes_[:2], apart.prototypes_)
    model.partial_fit(X, y)
    assert set(model.predict(X)) == {0, 1, 2}
    state = model.prototypes_.copy()
    for wrong, message in (([3], "not among the classes"), ([np.nan], "NaN")):
        with pytest.raises(ValueError, match=message):
            model.partial_fit(X[:1], wrong)
    assert np.array_equal(model.prototypes_, state)
    with pytest.raises(ValueError, match="has changed since training began"):
        model.set_params(prototypes_per_class=2).partial_fit(X, y)


def test_a_batch_that_fails_changes_nothing(wine, monkeypatch):
    X, y = wine
    model = LVQ1(adaptive_rates=True, relevance_learning_rate=0.01, random_state=0).partial_fit(X, y, classes=[0, 1, 2])
    before = [model.relevances_.copy(), model._rates.copy(), model.prototypes_.copy(), model._rng.get_state()[1].copy()]
    monkeypatch.setattr(LVQ1, "_fit_temperature", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        model.partial_fit(X, y)
    after = [model.relevances_, model._rates, model.prototypes_, model._rng.get_state()[1]]
    assert all(np.array_equal(a, b) for a, b in zip(before, after))
