"""How classifiers train by default: units of features, rare classes, wide and narrow classes, warnings."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_wine, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import StratifiedKFold, cross_val_score, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from protolearn import GLVQ, GMLVQ, GRLVQ, LGMLVQ, LGRLVQ, LLiRaMLVQ
from protolearn.lvq import SGD, DiagonalMetric, MatrixMetric
from protolearn.lvq._start import first_prototypes, standard_frame
from protolearn.lvq.samples import Labeled

LEARNERS = [
    GRLVQ(),
    LGRLVQ(localization="class"),
    GMLVQ(),
    GMLVQ(n_components=2),
    GMLVQ(mask=1),
    GMLVQ(symmetric=True),
    LGMLVQ(),
    LLiRaMLVQ(),
]


def wide_and_narrow(n_samples, seed):
    """Two classes around one center, of which one is three times as wide."""
    y = np.repeat([0, 1], n_samples // 2)
    return np.random.default_rng(seed).normal(size=(n_samples, 4)) * np.where(y, 1.0, 3.0)[:, None], y


def noisy(n_samples, seed, n_noise=28):
    """Two informative features, and many that say nothing."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n_samples)
    X = rng.normal(size=(n_samples, 2 + n_noise))
    X[:, :2] += 2.0 * y[:, None] - 1.0
    return X, y


@pytest.mark.parametrize("model", LEARNERS, ids=str)
def test_units_of_features_do_not_matter(model, wine):
    X, y = wine
    units = np.exp2(np.random.default_rng(0).integers(-20, 20, 13))  # exact in binary arithmetic
    shift = 3.0 * units
    plain = clone(model).set_params(max_iter=15, random_state=0).fit(X, y)
    scaled = clone(plain).fit(X * units + shift, y)
    Z = X * units + shift
    assert np.allclose(scaled.distances(Z), plain.distances(X), rtol=1e-4, atol=1e-6)
    assert np.array_equal(scaled.predict(Z), plain.predict(X))
    assert np.allclose(scaled.relevances_, plain.relevances_, rtol=1e-4, atol=1e-7)
    assert np.allclose(scaled.prototypes_, plain.prototypes_ * units + shift, atol=1e-4 * units)
    assert np.allclose(scaled.scale_, units * plain.scale_)


@settings(max_examples=15, deadline=None)
@given(exponents=st.lists(st.integers(-30, 30), min_size=4, max_size=4))
def test_frames_take_samples_and_metrics_there_and_back(exponents):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 4)) * np.exp2(exponents)
    frame = standard_frame(Labeled(X, np.arange(20) % 2, np.ones(20)), rotates=False)
    assert np.allclose(frame.enter(X).std(axis=0), 1.0)
    assert np.allclose(frame.leave(frame.enter(X)), X, rtol=1e-9, atol=1e-12 * np.abs(X).max(axis=0))
    omega = rng.normal(size=(1, 3, 4))
    inside = frame.enter_matrices(omega)
    assert np.allclose(frame.leave_matrices(inside), omega)
    D = ((X - X[0]) @ omega[0].T) ** 2
    assert np.allclose(((frame.enter(X) - frame.enter(X)[0]) @ inside[0].T) ** 2, D)


def test_euclidean_distance_keeps_the_units_of_the_user(wine):
    X, y = wine
    wide = X * np.where(np.arange(13) == 3, 1000.0, 1.0)
    model = GLVQ().fit(wide, y)
    assert np.allclose(model.distances(wide), ((wide[:, None] - model.prototypes_) ** 2).sum(axis=2))
    assert not hasattr(model, "scale_")


@pytest.mark.parametrize("model", [GRLVQ(), GMLVQ(), LGMLVQ()], ids=str)
@pytest.mark.parametrize("load", [load_wine, load_breast_cancer])
def test_raw_tables_are_as_good_as_standardized_ones(model, load):
    X, y = load(return_X_y=True)
    X = X * np.where(np.arange(X.shape[1]) == 1, 1000.0, 1.0)
    cv = StratifiedKFold(3, shuffle=True, random_state=0)
    raw = cross_val_score(model, X, y, cv=cv).mean()
    standardized = cross_val_score(make_pipeline(StandardScaler(), model), X, y, cv=cv).mean()
    assert abs(raw - standardized) < 0.01


def test_matrices_belong_to_the_features_as_given():
    X, y = load_wine(return_X_y=True)
    model = GMLVQ().fit(X, y)
    D = (((X[:, None] - model.prototypes_) @ model.omega_.T) ** 2).sum(axis=2)
    assert np.allclose(model.distances(X), D)
    assert np.allclose(model.relevance_matrix_, (model.omega_ * model.scale_).T @ (model.omega_ * model.scale_))
    assert np.allclose(model.relevances_, np.diag(model.relevance_matrix_))
    assert model.relevances_.sum() == pytest.approx(1.0)
    assert np.allclose(model.scale_, X.std(axis=0))


def test_online_rules_keep_the_units_of_the_samples():
    X, y = load_wine(return_X_y=True)
    model = GMLVQ(solver=SGD(), max_iter=1, random_state=0).fit(X, y)
    assert np.array_equal(model.scale_, np.ones(13))
    assert np.linalg.norm(model.omega_) == pytest.approx(1.0)


def test_streams_and_second_fits_keep_their_units():
    X, y = load_wine(return_X_y=True)
    model = GMLVQ(warm_start=True, random_state=0).fit(X, y)
    scale, score = model.scale_, model.score(X, y)
    again = model.fit(X, y)
    assert np.allclose(again.scale_, scale)
    assert again.cost_history_[0] < again.cost_history_[-1] + 1e-3
    for rows in np.array_split(np.random.default_rng(0).permutation(len(X)), 30):
        model.partial_fit(X[rows], y[rows])
    assert np.array_equal(model.scale_, scale)
    assert model.score(X, y) > score - 0.03


def test_stream_of_raw_samples():
    X, y = load_wine(return_X_y=True)
    scores = []
    for samples in (X, StandardScaler().fit_transform(X)):
        model = GMLVQ(random_state=0)
        for epoch in range(10):
            for rows in np.array_split(np.random.default_rng(epoch).permutation(len(X)), 5):
                model.partial_fit(samples[rows], y[rows], classes=[0, 1, 2])
        scores.append(model.score(samples, y))
    assert scores[0] > max(0.9, scores[1] - 0.05)


@pytest.mark.parametrize("weight", [0.05, 0.07])
@pytest.mark.parametrize("model", [GLVQ(2, random_state=0), GRLVQ(), GMLVQ(), LGMLVQ()], ids=str)
def test_rare_classes_are_not_given_up(model, weight):
    """As good as logistic regression on both classes; a flat start of the slope gives the rare class up."""
    X, y = make_classification(
        2000, 10, n_informative=5, weights=[1 - weight], flip_y=0.01, class_sep=1.5, random_state=0
    )
    X, X_new, y, y_new = train_test_split(X, y, stratify=y, random_state=0)
    reference = balanced_accuracy_score(y_new, LogisticRegression().fit(X, y).predict(X_new))
    assert balanced_accuracy_score(y_new, clone(model).fit(X, y).predict(X_new)) > reference - 0.05


def rare():
    X, y = make_classification(1000, 10, n_informative=5, weights=[0.93], flip_y=0.02, class_sep=0.8, random_state=103)
    return X, np.where(y == 1, "rare", "usual")


def test_classes_that_are_never_predicted_are_named():
    X, y = rare()
    with pytest.warns(UserWarning, match=r"GMLVQ never predicts rare on the training samples.*class_weight='balanced'"):
        model = GMLVQ(slope=(2.0, 10.0)).fit(X, y)
    assert model.n_wins_.tolist() == [0, 1000]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = GMLVQ(class_weight="balanced").fit(X, y)
    assert (model.n_wins_ > 0).all()


def test_wins_are_those_of_the_training_samples(wine):
    X, y = wine
    model = LGMLVQ(2, random_state=0).fit(X, y)
    assert np.array_equal(model.n_wins_, np.bincount(model.nearest(X), minlength=6))
    model.partial_fit(X[:20], y[:20])
    assert np.array_equal(model.n_wins_, np.bincount(model.nearest(X[:20]), minlength=6))


def test_a_stop_before_convergence_is_told(wine):
    X, y = wine
    with pytest.warns(ConvergenceWarning, match="max_iter=3 iterations, before it converged. Raise max_iter"):
        GMLVQ(max_iter=3).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for model in (GLVQ(), GRLVQ(), GMLVQ(), LGMLVQ(), LLiRaMLVQ(), GMLVQ(slope=(2, 10))):
            clone(model).fit(X, y)
        GMLVQ(max_iter=20, early_stopping="train", n_iter_no_change=1).fit(X, y)
        GMLVQ(solver="adam", max_iter=1).fit(X, y)


def test_iterations_that_the_first_slope_leaves_serve_the_second(wine):
    model = GMLVQ(slope=(9.9, 10.0), max_iter=100).fit(*wine)
    assert model.n_iter_ <= 100
    with pytest.warns(ConvergenceWarning):
        assert GMLVQ(slope=(2.0, 10.0), max_iter=7).fit(*wine).n_iter_ == 7


def test_a_wide_class_around_a_narrow_one():
    X, y = wide_and_narrow(600, 0)
    X_new, y_new = wide_and_narrow(2000, 1)
    for model in (LGMLVQ(), LGRLVQ()):
        common = clone(model).fit(X, y)
        each = clone(model).set_params(norm="each").fit(X, y)
        assert common.score(X_new, y_new) > 0.87
        assert each.score(X_new, y_new) < 0.8
        volumes = common.relevances_.sum(axis=1)
        assert volumes[1] > 3 * volumes[0]  # a narrow class has large distances
        assert volumes.mean() == pytest.approx(1.0)
        assert np.allclose(each.relevances_.sum(axis=1), 1.0)


@pytest.mark.parametrize("metric", [DiagonalMetric, MatrixMetric])
def test_one_matrix_has_one_norm(metric):
    theta = metric().start(5, np.arange(3), np.random.RandomState(0))
    doubled = (2.0 * theta[0],)
    assert np.array_equal(metric().normalize(doubled)[0], metric(norm="each").normalize(doubled)[0])
    with pytest.raises(ValueError, match="norm='all' must be one of"):
        metric(norm="all").normalize(theta)


def test_regularization_fades_as_samples_come():
    few, many = (GMLVQ().fit(*noisy(n, 0)) for n in (300, 3000))
    assert few.regularization_ == pytest.approx(0.1 * 30 / 300)
    assert many.regularization_ == pytest.approx(0.1 * 30 / 3000)
    assert GRLVQ().fit(*noisy(300, 0)).regularization_ == pytest.approx(0.01 * 30 / 300)
    assert LGMLVQ(2, random_state=0).fit(*noisy(300, 0)).regularization_ == pytest.approx(0.1 * 4 * 30 / 300)
    assert GMLVQ(regularization=0.3).fit(*noisy(300, 0)).regularization_ == 0.3
    X, y = noisy(300, 0)
    stream = GMLVQ().partial_fit(X[:100], y[:100], classes=[0, 1]).partial_fit(X[100:], y[100:])
    assert stream.regularization_ == pytest.approx(few.regularization_)
    assert few.partial_fit(X, y).regularization_ == pytest.approx(0.1 * 30 / 600)


@pytest.mark.parametrize(("model", "most"), [(GMLVQ(), 0.25), (GRLVQ(), 0.22)], ids=["GMLVQ", "GRLVQ"])
def test_noise_holds_little_relevance(model, most):
    shares = [clone(model).fit(*noisy(600, seed)).relevances_[2:].sum() for seed in range(3)]
    assert np.mean(shares) < most


def test_mean_of_a_random_third_for_a_single_prototype():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(90, 3)), np.repeat([0, 1], 45)
    samples = Labeled(X, y, np.ones(90))
    starts = [first_prototypes(samples, np.arange(2), "mean", np.random.RandomState(i)) for i in range(200)]
    means = np.stack([X[:45].mean(axis=0), X[45:].mean(axis=0)])
    default = first_prototypes(samples, np.arange(2), "neural_gas", np.random.RandomState(0))
    assert np.allclose(default, means)
    offsets = np.stack(starts) - means
    expected = np.sqrt(X[:45].var(axis=0) / 15 * (45 - 15) / (45 - 1))  # drawn without replacement
    assert np.allclose(offsets[:, 0].std(axis=0), expected, rtol=0.2)
    assert np.abs(offsets.mean(axis=0)).max() < 0.06
    a, b = (GLVQ(init="mean", solver=SGD(0.0), max_iter=1, random_state=i).fit(X, y).prototypes_ for i in range(2))
    assert not np.allclose(a, b)
