"""Probabilities: what they are made of, and a temperature that is chosen on samples held out."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_iris, make_blobs, make_classification
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import scale

from protolearn.core.classification import (
    best_temperature,
    fold_numbers,
    nearest_of_classes,
    shares_at,
)
from protolearn.lvq import GLVQ, GMLVQ, GRLVQ, LGMLVQ, LGRLVQ, LVQ1, LVQ21, LLiRaMLVQ

CALIBRATED = [GLVQ, GRLVQ, LGRLVQ, GMLVQ, LGMLVQ, LLiRaMLVQ]


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    return scale(X), y


@pytest.fixture(scope="module")
def noisy():
    X, y = make_classification(400, 32, n_informative=4, n_redundant=0, flip_y=0.1, random_state=0)
    return train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)


@pytest.mark.parametrize("model", [*(kind() for kind in CALIBRATED), LVQ1(), LVQ21()], ids=repr)
def test_probabilities_are_a_softmax_of_the_distances_to_the_classes(model, iris):
    X, y = iris
    model = clone(model).set_params(random_state=0, prototypes_per_class=2).fit(X, y)
    P = model.predict_proba(X)
    near = nearest_of_classes(model.distances(X), np.repeat([0, 1, 2], 2), 3)
    odds = np.log(P[:, :1] / P[:, 1:])
    expected = np.sqrt(near[:, 1:]) - np.sqrt(near[:, :1])
    T = np.vdot(expected, expected) / np.vdot(odds, expected)
    assert np.allclose(odds * T, expected, atol=1e-8 * np.abs(expected).max())
    assert np.isclose(model.temperature_, T)
    assert np.array_equal(model.classes_[P.argmax(axis=1)], model.predict(X))


@pytest.mark.parametrize("kind", CALIBRATED)
def test_calibration_changes_the_probabilities_alone(kind, iris):
    X, y = iris
    plain, calibrated = (kind(calibration=folds, random_state=0).fit(X, y) for folds in (None, 3))
    assert np.array_equal(plain.prototypes_, calibrated.prototypes_)
    assert np.array_equal(plain.predict(X), calibrated.predict(X))
    assert np.array_equal(plain.confidence(X), calibrated.confidence(X))
    assert not np.array_equal(plain.predict_proba(X), calibrated.predict_proba(X))
    assert np.array_equal(calibrated.predict(X), calibrated.predict_proba(X).argmax(axis=1))


def test_temperature_is_the_best_for_the_distances_of_samples_held_out(iris):
    X, y = iris
    folds = fold_numbers(X, y, np.ones(len(X)), 3, [1, 1, 1])
    assert (folds < 0).sum() == 2  # one that comes twice
    model = LGMLVQ(calibration=3).fit(X, y)
    own = np.sqrt(model.distances(X))
    D = own / own.mean()
    for fold in range(3):
        out = folds == fold
        held = np.sqrt(LGMLVQ().fit(X[~out], y[~out]).distances(X[out]))
        D[out] = held / held.mean()
    T = best_temperature(D, y, np.ones(150)) * own.mean()
    assert np.allclose(model.predict_proba(X), shares_at(T, own))


def test_samples_held_out_guard_against_certainty_that_was_learned_by_heart(noisy):
    X, X_new, y, y_new = noisy
    losses = [
        log_loss(y_new, LGMLVQ(calibration=folds).fit(X, y).predict_proba(X_new)) for folds in (None, 3)
    ]  # 200 samples of 32 features of which 28 are noise: without errors in training, a third wrong on new samples
    assert losses[1] < losses[0] - 0.1


@pytest.mark.parametrize("kind", [GLVQ, GMLVQ, LGMLVQ])
def test_a_weight_counts_as_copies_and_the_order_does_not_count(kind, iris):
    X, y = iris
    weights = np.random.default_rng(0).integers(0, 3, len(X))
    rows = np.random.default_rng(1).permutation(np.repeat(np.arange(len(X)), weights))
    model = kind(calibration=3)
    weighted = clone(model).fit(X, y, sample_weight=weights).predict_proba(X)
    copied = clone(model).fit(X[rows], y[rows]).predict_proba(X)
    assert np.allclose(weighted, copied, atol=1e-4)  # L-BFGS ends where its sums, in another order, let it


@given(st.integers(2, 5), st.integers(0, 10_000))
def test_folds_are_even_in_each_class_and_hold_out_what_comes_once(n_folds, seed):
    rng = np.random.default_rng(seed)
    X, y, u = rng.integers(0, 5, (40, 2)).astype(float), rng.integers(0, 3, 40), rng.integers(1, 3, 40)
    folds = fold_numbers(X, y, u, n_folds, [0, 0, 0])
    order = rng.permutation(np.repeat(np.arange(40), u))
    copies = fold_numbers(X[order], y[order], np.ones(len(order)), n_folds, [0, 0, 0])
    assert np.array_equal(copies, folds[order])
    for code in np.unique(y):
        for row in np.unique(X[y == code], axis=0):
            same = (y == code) & (row == X).all(axis=1)
            assert (folds[same] >= 0).all() == (u[same].sum() == 1)
        loads = np.bincount(folds[(y == code) & (folds >= 0)], minlength=n_folds)
        assert loads.max() - loads.min() <= 1


def test_folds_of_samples_with_missing_values(iris):
    X, y = iris[0].copy(), iris[1]
    X[::7, 1] = np.nan
    model = GMLVQ(missing="partial", calibration=3).fit(X, y)
    assert np.isfinite(model.predict_proba(X)).all()
    assert np.array_equal(
        fold_numbers(np.repeat(X, 2, axis=0), np.repeat(y, 2), np.full(300, 0.5), 3, [1, 1, 1]),
        np.repeat(fold_numbers(X, y, np.ones(len(X)), 3, [1, 1, 1]), 2),
    )


def test_class_weights_and_classes_with_names(iris):
    X, y = iris
    names = np.array(["c", "a", "b"])[y]
    settings = {"prototypes_per_class": {"a": 1, "b": 2, "c": 1}, "class_weight": {"a": 2, "b": 1, "c": 1}}
    model = GMLVQ(calibration=3, random_state=0, early_stopping=True, **settings).fit(X, names)
    assert np.array_equal(model.classes_[model.predict_proba(X).argmax(axis=1)], model.predict(X))


def test_classes_with_few_samples_are_never_held_out():
    X, y = make_blobs([20, 20, 2], 2, random_state=0)
    folds = fold_numbers(X, y, np.ones(len(X)), 2, [1, 1, 2])
    assert (folds[y == 2] == -1).all()
    assert set(folds[y != 2]) == {0, 1}
    assert set(fold_numbers(X, y, np.ones(len(X)), 2, [1, 1, 1])[y == 2]) == {0, 1}
    copies = np.flatnonzero(y == 2)[[0, 0, 0]]  # one sample, three times
    rows = np.append(np.flatnonzero(y != 2), copies)
    assert (fold_numbers(X[rows], y[rows], np.ones(len(rows)), 2, [1, 1, 1])[-3:] == -1).all()
    model = GMLVQ({0: 1, 1: 1, 2: 2}, calibration=2, random_state=0).fit(X, y)
    assert np.isfinite(model.predict_proba(X)).all()


def test_samples_that_all_come_twice_leave_the_temperature_as_it_is(iris):
    X, y = np.repeat(iris[0], 2, axis=0), np.repeat(iris[1], 2)
    plain, calibrated = (GMLVQ(calibration=folds).fit(X, y).predict_proba(X) for folds in (None, 3))
    assert np.allclose(plain, calibrated, rtol=1e-6)


def test_weights_of_classes_are_no_copies(noisy):
    X, X_new, y, y_new = noisy
    weighted = [LGMLVQ(calibration=folds, class_weight={0: 3, 1: 3}).fit(X, y) for folds in (None, 3)]
    losses = [log_loss(y_new, model.predict_proba(X_new)) for model in weighted]
    assert losses[1] < losses[0] - 0.1


def test_refuses_a_single_fold(iris):
    with pytest.raises(ValueError, match="calibration=1 must be an integer"):
        GMLVQ(calibration=1).fit(*iris)


def test_an_interrupt_while_samples_are_held_out_keeps_the_model(iris, monkeypatch):
    X, y = iris
    model = GMLVQ(calibration=3)

    def interrupt(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr(GMLVQ, "_calibrate", interrupt)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert np.array_equal(model.predict_proba(X), GMLVQ().fit(X, y).predict_proba(X))


def test_temperature_of_scores_that_say_nothing():
    y = np.array([0, 1] * 10)
    assert np.allclose(shares_at(best_temperature(np.zeros((20, 2)), y, np.ones(20)), np.ones((3, 2))), 0.5)
    wrong = np.where(np.eye(2)[y] > 0, 1.0, 0.0)  # the own class is always the farther one
    P = shares_at(best_temperature(wrong, y, np.ones(20)), wrong)
    assert np.allclose(P, 0.5, atol=1e-5)
    assert np.array_equal(P.argmax(axis=1), wrong.argmin(axis=1))


@given(st.integers(0, 1000), st.floats(0.01, 100))
def test_temperature_has_the_unit_of_the_distances(seed, factor):
    rng = np.random.default_rng(seed)
    D, y, u = rng.exponential(size=(30, 3)), rng.integers(0, 3, 30), rng.integers(1, 4, 30).astype(float)
    T = best_temperature(D, y, u)
    assert best_temperature(factor * D, y, u) == pytest.approx(factor * T, rel=1e-6)
    copies = np.repeat(np.arange(30), u.astype(int))
    assert best_temperature(D[copies], y[copies], np.ones(len(copies))) == pytest.approx(T, rel=1e-6)
