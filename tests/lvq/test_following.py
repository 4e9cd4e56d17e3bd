"""Training that is followed or left out: callbacks, no iterations, exponential rates, the Manhattan distance."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.preprocessing import scale

from protolearn import CIALVQ, GLVQ, GMLVQ, GRLVQ, LGMLVQ, LGRLVQ, LVQ1, LVQ21, LLiRaMLVQ
from protolearn.lvq import SGD, MinkowskiMetric, canonical_matrix
from protolearn.lvq._callback import TrainingState

MODELS = [GLVQ(), GRLVQ(), LGRLVQ(), GMLVQ(), LGMLVQ(), LLiRaMLVQ(), LVQ1(), LVQ21(learning_rate=1e-3)]
SOLVED = [GMLVQ(solver=solver) for solver in ("lbfgs", "sgd", "adam", "waypoint")]


def name(model):
    return f"{type(model).__name__} {getattr(model, 'solver', '')}"


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True)
    return scale(X), y


class Recorder:
    def __init__(self, most=None):
        self.states = []
        self.most = most

    def __call__(self, state):
        self.states.append((state.iteration, state.cost, state.classifier))
        return len(self.states) == self.most


@pytest.mark.parametrize("model", MODELS + SOLVED, ids=name)
def test_callback_sees_every_iteration(model, wine):
    X, y = wine
    silent = clone(model).set_params(max_iter=6, random_state=0).fit(X, y)
    record = Recorder()
    model = clone(model).set_params(max_iter=6, random_state=0)
    model.callback = record
    model.fit(X, y)
    history = model.error_history_ if isinstance(model, (LVQ1, LVQ21)) else model.cost_history_
    assert [i for i, _, _ in record.states] == list(range(1, model.n_iter_ + 1))
    assert [cost for _, cost, _ in record.states] == history
    assert np.array_equal(model.predict_proba(X), silent.predict_proba(X))  # looking changes nothing
    last = record.states[-1][2]
    assert np.array_equal(last.prototypes_, model.prototypes_)
    assert np.array_equal(last.predict_proba(X), model.predict_proba(X))
    first = record.states[0][2]
    assert first.n_iter_ == 1
    assert not np.array_equal(first.prototypes_, model.prototypes_)
    once = clone(silent).set_params(max_iter=1, slope=model.slope) if isinstance(model, GLVQ) else None
    if once is not None and model.solver == "lbfgs":
        assert first.score(X, y) > 0.9


@pytest.mark.parametrize("way", ["return", "raise"])
@pytest.mark.parametrize("model", MODELS + SOLVED, ids=name)
def test_callback_stops_training(model, way, wine):
    X, y = wine

    def stop(state):
        if state.iteration == 3 and way == "raise":
            raise StopIteration
        return state.iteration == 3

    record = Recorder(3)
    model = clone(model).set_params(max_iter=20, random_state=0, callback=stop).fit(X, y)
    assert model.n_iter_ == 3
    full = clone(model)
    full.callback = record
    full.fit(X, y)
    assert np.array_equal(model.prototypes_, record.states[-1][2].prototypes_)


@pytest.mark.parametrize("model", [GMLVQ(), LVQ1(relevance_learning_rate=1e-3)], ids=name)
def test_states_can_be_read_later(model, wine):
    X, y = wine
    kept, read = [], []

    def keep(state):
        kept.append(state)

    def read_at_once(state):
        read.append(state.classifier)

    for callback in (keep, read_at_once):
        clone(model).set_params(callback=callback, max_iter=5, random_state=0).fit(X, y)
    for late, early in zip(kept, read):
        assert np.array_equal(late.classifier.decision_function(X), early.decision_function(X))
        assert late.classifier.n_iter_ == late.iteration


def test_callback_of_pictures():
    rng = np.random.default_rng(0)
    patches, labels = rng.random((12, 5, 5, 1)), np.repeat([0, 1], 6)
    record = Recorder()
    model = CIALVQ(1, max_iter=3, random_state=0)
    model.callback = record
    model.fit(patches, labels)
    assert np.array_equal(record.states[-1][2].predict(patches), model.predict(patches))


def test_callback_and_early_stopping(wine):
    X, y = wine
    seen = []
    model = GMLVQ(early_stopping="train", n_iter_no_change=3, callback=lambda state: seen.append(state.iteration))
    model.fit(X, y)
    assert len(seen) == model.n_iter_ == len(model.score_history_)
    stopped = GMLVQ(early_stopping="train", callback=lambda state: state.iteration == 2).fit(X, y)
    assert len(stopped.score_history_) == 2


def follow(state):
    return False


def test_callback_is_a_parameter_like_others(wine):
    X, y = wine
    model = GMLVQ(callback=follow, max_iter=3)
    assert clone(model).get_params()["callback"] is follow
    assert cross_val_score(model, X, y, cv=3).mean() > 0.9
    assert pickle.loads(pickle.dumps(model.fit(X, y))).callback is follow
    with pytest.raises(ValueError, match="callback=3 must be a callable or None"):
        GMLVQ(callback=3).fit(X, y)
    assert repr(TrainingState(2, 0.5, lambda: None)) == "TrainingState(iteration=2, cost=0.5)"


def test_error_in_a_callback_loses_nothing(wine):
    X, y = wine
    model = GMLVQ(max_iter=3).fit(X, y)
    before = model.prototypes_
    with pytest.raises(ZeroDivisionError):
        model.set_params(callback=lambda state: 1 / 0).fit(X, y)
    assert model.prototypes_ is before


@pytest.mark.parametrize("p", [1.0, 1.5, 2.0])
def test_no_iterations_classify_by_given_prototypes(p, wine):
    X, y = wine
    rng = np.random.default_rng(0)
    W = X[np.sort(np.concatenate([rng.choice(np.flatnonzero(y == c), 3, replace=False) for c in range(3)]))]
    labels = np.repeat([0, 1, 2], 3)
    model = GLVQ(3, metric=MinkowskiMetric(p), init=W, max_iter=0).fit(X, y)
    nearest = KNeighborsClassifier(1, p=p, metric="minkowski").fit(W, labels)
    assert np.allclose(model.prototypes_, W, rtol=1e-12, atol=1e-12)
    assert np.array_equal(model.predict(X), nearest.predict(X))
    assert model.n_iter_ == 0
    assert model.cost_history_ == []
    assert model.predict_proba(X).shape == (178, 3)


def test_no_iterations_and_no_prototypes_are_class_means(wine):
    X, y = wine
    model = GLVQ(max_iter=0).fit(X, y)
    assert np.array_equal(model.predict(X), NearestCentroid().fit(X, y).predict(X))


def test_given_prototypes_stay_where_features_outnumber_samples():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(10, 30)), np.repeat([0, 1], 5)
    W, omega = rng.normal(size=(2, 30)), rng.normal(size=(30, 30))
    model = GMLVQ(init=W, metric_init=omega, max_iter=0).fit(X, y)
    assert np.allclose(model.prototypes_, W)
    new = rng.normal(size=(50, 30))
    expected = ((new[:, None] - W) @ omega.T / np.linalg.norm(omega * model.scale_)) ** 2
    assert np.allclose(model.distances(new), expected.sum(axis=2))


@pytest.mark.parametrize("M", [1, 2, 5])
def test_truncated_matrix_is_a_classifier(M, wine):
    """The leading rows of a full matrix, with the prototypes it was learned with."""
    X, y = wine
    full = GMLVQ(regularization=0.0).fit(X, y)
    kept = full.omega_[:M]
    cut = GMLVQ(n_components=M, init=full.prototypes_, metric_init=kept, max_iter=0).fit(X, y)
    nearest = KNeighborsClassifier(1).fit(full.prototypes_ @ kept.T, [0, 1, 2])
    assert np.array_equal(cut.predict(X), nearest.predict(X @ kept.T))
    assert np.allclose(cut.omega_, canonical_matrix(kept / np.linalg.norm(kept)))
    whole = GMLVQ(init=full.prototypes_, metric_init=full.omega_, max_iter=0).fit(X, y)
    assert np.allclose(whole.predict_proba(X), full.predict_proba(X), atol=1e-9)


def test_exponential_rates_go_from_first_to_last():
    """The schedules of the thesis for color textures, eqs. 5.4 and 5.5."""
    solver = SGD((0.002, 1e-5), (1e-3, 1e-5))
    for t in (1, 150, 300):
        expected = 0.002 * 0.005 ** (t / 300), 1e-3 * 0.01 ** (t / 300)
        assert solver.rates(t, 300)[:2] == pytest.approx(expected)
    assert solver.rates(300, 300) == pytest.approx((1e-5, 1e-5, 1e-5))
    mixed = SGD(0.1, (1e-3, 1e-4), off_diagonal_learning_rate=(1e-4, 1e-5), decay=0.5, metric_start=3)
    assert mixed.rates(2, 4) == pytest.approx((0.1 / 1.5, 0.0, 0.0))
    assert mixed.rates(4, 4) == pytest.approx((0.1 / 2.5, 1e-4, 1e-5))
    assert solver.turns
    assert not mixed.turns


def test_exponential_rates_learn(wine):
    X, y = wine
    model = GMLVQ(solver=SGD((0.05, 1e-3), (5e-3, 1e-4)), max_iter=20, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.95
    with pytest.raises(ValueError, match="partial_fit has no last epoch"):
        model.partial_fit(X, y)
    for wrong in ((0.1, 0.0), (0.1,), "fast"):
        with pytest.raises(ValueError, match=r"learning_rate=.* must be a number .* or a pair of positive numbers"):
            GMLVQ(solver=SGD(wrong)).fit(X, y)


def test_manhattan_distance(wine):
    X, y = wine
    model = GLVQ(metric=MinkowskiMetric(1)).fit(X, y)
    assert model.score(X, y) > 0.95
    assert np.allclose(model.distances(X[:5]), np.abs(X[:5, None] - model.prototypes_).sum(axis=2))
    W = X[:2].copy()
    slopes, _ = MinkowskiMetric(1).measure(X[:1], W, None, ())[1](np.ones((1, 2)))
    assert np.array_equal(slopes[0], np.zeros(13))  # where both agree
    assert np.array_equal(slopes[1], -np.sign(X[0] - W[1]))
    with pytest.raises(ValueError, match=r"p=0\.5 must be at least 1"):
        GLVQ(metric=MinkowskiMetric(0.5)).fit(X, y)
