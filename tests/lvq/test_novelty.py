"""Acceptance radii: what share of samples they cover, what they reject, and detectors made of classifiers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_digits, load_wine
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, scale

from protolearn import GLVQ, GMLVQ, GRLVQ, LGMLVQ, LVQ1, LVQ21, OutlierDetector
from protolearn.core.classification import acceptance_radii, novelty
from protolearn.lvq import MinkowskiMetric, TangentMetric

MODELS = [
    GLVQ(),
    GRLVQ(),
    GMLVQ(2),
    LGMLVQ(),
    LGMLVQ(2, localization="class"),
    LVQ1(),
    LVQ21(learning_rate=1e-3),
    GLVQ(metric=MinkowskiMetric(1)),
    GLVQ(metric=TangentMetric(2)),
]


def name(model):
    return str(model).replace("\n", "")


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True)
    return scale(X), y


def rejected(model, X):
    return np.asarray(model.predict(X)) == -1


@pytest.mark.parametrize("model", MODELS, ids=name)
def test_radii_leave_a_share_of_the_training_samples_outside(model, wine):
    X, y = wine
    n = len(X)
    before = np.zeros(n, bool)
    for contamination in (0.0, 0.05, 0.1, 0.3):
        fitted = clone(model).set_params(contamination=contamination, max_iter=10, random_state=0).fit(X, y)
        outside = rejected(fitted, X)
        assert outside.sum() == int(contamination * n + 1e-9)  # ratios without ties
        assert (outside >= before).all()  # with more contamination, the same and others
        assert np.array_equal(outside, fitted.score_samples(X) < -1)
        assert fitted.acceptance_radii_.shape == (len(fitted.prototypes_),)
        before = outside
    far = X + 1e3 * np.random.default_rng(0).normal(size=X.shape)
    assert rejected(fitted, far).all()
    assert not rejected(fitted, fitted.prototypes_).any()


@pytest.mark.parametrize("model", MODELS[:-2], ids=name)
def test_scale_and_place_of_the_samples_do_not_matter(model, wine):
    X, y = wine
    model = clone(model).set_params(contamination=0.1, max_iter=5, random_state=0)
    if isinstance(model, (LVQ1, LVQ21)):
        factor, shift = 2.0**10, 0.0
    else:
        factor, shift = 2.0**10, 3.0
    one = clone(model).fit(X, y)
    other = clone(model).fit(factor * (X + shift), y)
    new = np.random.default_rng(0).normal(size=(200, 13)) * 1.5
    assert np.allclose(other.score_samples(factor * (new + shift)), one.score_samples(new), rtol=1e-4)


def test_weights_are_copies(wine):
    X, y = wine
    counts = np.random.default_rng(0).integers(0, 4, len(X))
    model = GMLVQ(contamination=0.1, max_iter=5)
    weighted = clone(model).fit(X, y, sample_weight=counts)
    copies = clone(model).fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    assert np.allclose(weighted.acceptance_radii_, copies.acceptance_radii_, rtol=1e-6)


def test_both_rejections_add_up(wine):
    X, y = wine
    labels = np.array(["a", "b", "c"])[y]
    settings = {"max_iter": 10, "reject_label": "none"}
    unsure = GMLVQ(reject_threshold=0.6, **settings).fit(X, labels).predict(X) == "none"
    novel = GMLVQ(contamination=0.1, **settings).fit(X, labels).predict(X) == "none"
    both = GMLVQ(reject_threshold=0.6, contamination=0.1, **settings).fit(X, labels).predict(X) == "none"
    assert np.array_equal(both, unsure | novel)
    assert unsure.any()
    assert novel.any()
    plain = GMLVQ(max_iter=10).fit(X, labels)
    assert set(plain.predict(1e3 * X)) <= {"a", "b", "c"}


def test_messages(wine):
    X, y = wine
    plain = GMLVQ(max_iter=2).fit(X, y)
    assert not hasattr(plain, "score_samples")
    with pytest.raises(ValueError, match=r"fitted without contamination, so it has no acceptance radii"):
        plain.set_params(contamination=0.1).predict(X)
    with pytest.raises(ValueError, match="contamination=1 must be a number"):
        GMLVQ(contamination=1).fit(X, y)
    with pytest.raises(ValueError, match="reject_label=1 is one of the classes"):
        GMLVQ(contamination=0.1, reject_label=1).fit(X, y)
    with pytest.raises(ValueError, match="not of the type of the classes"):
        GMLVQ(contamination=0.1).fit(X, y.astype(str))
    with pytest.raises(ValueError, match="needs classes; pass them as y"):
        OutlierDetector(GMLVQ(contamination=0.1)).fit(X)


@pytest.mark.parametrize("model", [GMLVQ(), LVQ1()], ids=name)
def test_streams_have_radii_of_the_classes_seen(model, wine):
    X, y = wine
    model = clone(model).set_params(contamination=0.1, random_state=0)
    model.partial_fit(X[y < 2], y[y < 2], classes=[0, 1, 2])
    before = model.acceptance_radii_
    assert rejected(model, 50 + X).all()
    assert rejected(model, X[y == 2]).mean() > 0.3
    model.partial_fit(X[y > 0], y[y > 0])
    assert model.acceptance_radii_[0] == before[0]
    assert rejected(model, X[y == 2]).mean() < 0.3


def test_untouched_class_is_rejected_better_than_by_chance():
    X, y = load_digits(return_X_y=True)
    known = y != 4
    train = known & (np.arange(len(X)) % 2 == 0)
    new = ~train
    model = GMLVQ(contamination=0.05).fit(X[train] / 16, y[train])
    assert roc_auc_score(known[new], model.score_samples(X[new] / 16)) > 0.8
    assert rejected(model, X[new & known] / 16).mean() < 0.15


def test_classifier_as_a_detector(wine):
    X, y = wine
    train = y < 2
    pipeline = make_pipeline(StandardScaler(), LGMLVQ(contamination=0.05))
    detector = OutlierDetector(pipeline, contamination=0.1).fit(X[train], y[train])
    assert (detector.predict(X[train]) == -1).sum() == 13  # a tenth of 130
    assert roc_auc_score(train, detector.score_samples(X)) > 0.85
    common = OutlierDetector(GMLVQ(max_iter=5)).fit(X, y)  # without radii, one distance is the border for all
    assert np.allclose(common.score_samples(X), -common.estimator_.distances(X).min(axis=1))
    weighted = OutlierDetector(GMLVQ(contamination=0.05)).fit(X, y, sample_weight=1.0 + (y == 0))
    assert np.allclose(weighted.score_samples(X), weighted.estimator_.score_samples(X))


@settings(max_examples=60, deadline=None)
@given(
    st.integers(2, 30), st.integers(1, 5), st.integers(1, 3), st.floats(0.0, 0.99), st.integers(0, 1000), st.booleans()
)
def test_share_outside_is_at_most_the_contamination(n, k, n_classes, contamination, seed, coarse):
    rng = np.random.default_rng(seed)
    D = rng.exponential(size=(n, k))
    if coarse:
        D = np.round(2 * D)  # ties and zeros
    codes, y, u = rng.integers(0, n_classes, k), rng.integers(0, n_classes, n), rng.uniform(0.1, 2, n)
    y = codes[rng.integers(0, k, n)]
    radii = acceptance_radii(D, codes, y, u, contamination)
    ratios = novelty(D, radii)
    known = np.isin(codes, y)
    outside = novelty(D[:, known], radii[known]) > 1.0
    assert u[outside].sum() <= contamination * u.sum() * (1 + 1e-9)
    assert np.isfinite(radii).all()
    assert not np.isnan(ratios).any()
    wider = acceptance_radii(D, codes, y, u, contamination / 2)
    assert (wider >= radii * (1 - 1e-12)).all()
    scaled = acceptance_radii(7.0 * D, codes, y, u, contamination)
    assert np.allclose(scaled, 7.0 * radii, rtol=1e-9)
