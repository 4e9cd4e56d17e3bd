"""LVQ1 and LVQ2.1 repel prototypes, which stay within the range of the samples all the same."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import scale

from protolearn import GLVQ, GMLVQ, LVQ1, LVQ21, RSLVQ
from protolearn.lvq import SGD

RULES = {
    "LVQ1": LVQ1(learning_rate=0.1, random_state=0),
    "LVQ1, fast": LVQ1(learning_rate=1.0, random_state=0),
    "OLVQ1": LVQ1(learning_rate=0.3, adaptive_rates=True, random_state=0),
    "RLVQ": LVQ1(learning_rate=0.1, relevance_learning_rate=1e-3, random_state=0),
    "LVQ21": LVQ21(learning_rate=0.1, random_state=0),
    "LVQ21, wide": LVQ21(learning_rate=0.5, window=0.9, random_state=0),
}
CLASSES = list(range(10))


@pytest.fixture(scope="module")
def mixed():
    """Ten classes without any border between them, where other classes prevail near every prototype."""
    rng = np.random.default_rng(0)
    return rng.normal(size=(400, 12)) * 10.0 ** np.arange(-6, 6), rng.integers(0, 10, 400)


@pytest.mark.parametrize("name", sorted(RULES))
def test_prototypes_stay_within_the_range_of_the_samples(name, mixed):
    X, y = mixed
    for data in (X, scale(X)):
        model = clone(RULES[name]).set_params(max_iter=20).fit(data, y)
        slack = 1e-12 * np.abs(data).max(axis=0)
        assert (model.prototypes_ >= data.min(axis=0) - slack).all()
        assert (model.prototypes_ <= data.max(axis=0) + slack).all()
        assert np.isfinite(model.predict_proba(data)).all()


@pytest.mark.parametrize("name", sorted(RULES))
def test_prototypes_stay_within_the_range_of_all_batches(name, mixed):
    X, y = scale(mixed[0]), mixed[1]
    model = clone(RULES[name])
    for _ in range(10):
        for part in np.array_split(np.arange(400), 4):
            model.partial_fit(X[part], y[part], classes=CLASSES)
    assert np.abs(model.prototypes_).max() <= np.abs(X).max() + 1e-12
    narrow = clone(RULES[name]).fit(X, y).partial_fit(0.1 * X, y)  # the range of the fit counts as well
    assert np.abs(narrow.prototypes_).max() <= np.abs(X).max() + 1e-12


@pytest.mark.parametrize("name", sorted(RULES))
def test_missing_values_do_not_bound(name, mixed):
    X, y = scale(mixed[0]), mixed[1]
    X[np.random.default_rng(1).random(X.shape) < 0.2] = np.nan
    X[:, 5] = np.nan
    model = clone(RULES[name]).set_params(missing="partial", max_iter=10).fit(X, y)
    assert np.abs(model.prototypes_).max() <= np.nanmax(np.abs(X)) + 1e-12


def test_defaults_learn_classes_that_overlap(mixed):
    rng, y = np.random.default_rng(0), np.arange(1100) % 11
    X = rng.normal(size=(11, 13))[y] + rng.normal(size=(1100, 13)) * 1.3
    for model in (LVQ1(random_state=0), LVQ21(random_state=0)):
        assert model.fit(X[:550], y[:550]).score(X[550:], y[550:]) > 0.65
    X, y = load_breast_cancer(return_X_y=True)
    assert LVQ21(random_state=0).fit(scale(X), y).score(scale(X), y) > 0.9


def oracle_lvq21(X, y, order, W, classes, rate, window):
    for i in order:
        d = np.sqrt(((X[i] - W) ** 2).sum(axis=1))
        J = np.where(classes == y[i], d, np.inf).argmin()
        K = np.where(classes == y[i], np.inf, d).argmin()
        if min(d[J] / d[K], d[K] / d[J]) > (1 - window) / (1 + window):
            W[J] += rate * (X[i] - W[J])
            W[K] -= rate * min(1, d[J] ** 2 / d[K] ** 2) * (X[i] - W[K])
            W[K] = np.clip(W[K], X.min(axis=0), X.max(axis=0))


def test_lvq21_follows_its_rule():
    rng, y = np.random.default_rng(0), np.arange(60) % 3
    X = rng.normal(size=(60, 2)) + 2.0 * np.eye(3, 2)[y]
    W = np.array([X[y == code].mean(axis=0) for code in range(3)])
    model = LVQ21(learning_rate=0.2, window=0.4, max_iter=3, random_state=0).fit(X, y)
    rng = np.random.RandomState(0)
    for epoch in range(3):
        oracle_lvq21(X, y, rng.permutation(60), W, np.arange(3), 0.2 * (1 - epoch / 3), 0.4)
    assert np.allclose(model.prototypes_, W)


@pytest.mark.parametrize("model", [GLVQ(), GMLVQ(), RSLVQ(), GLVQ(neighborhood_range=1.0)], ids=repr)
def test_gradients_of_single_samples_do_not_diverge(model, mixed):
    """The costs bound themselves how far a prototype is repelled."""
    X, y = scale(mixed[0]), mixed[1]
    model = clone(model).set_params(solver=SGD(0.05), max_iter=20, random_state=0).fit(X, y)
    assert np.abs(model.prototypes_).max() < 10 * np.abs(X).max()
