"""Detection of outliers by maps: scikit-learn's conventions, the share of outliers, weights, any map."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from protolearn import (
    NGPCA,
    SOM,
    KMeans,
    MatrixKMeans,
    MatrixNeuralGas,
    MixturePPCA,
    NeuralGas,
    OutlierDetector,
)
from protolearn.datasets import make_vortex

MAPS = [
    None,
    MatrixNeuralGas(3, max_iter=10, random_state=0),
    MatrixKMeans(2, random_state=0),
    NGPCA(3, 1, n_steps=2000, random_state=0),
    MixturePPCA(3, 1, random_state=0),
    NeuralGas(3, max_iter=10, random_state=0),
    KMeans(3, random_state=0),
    SOM((2, 2), max_iter=10),
    make_pipeline(StandardScaler(), MatrixNeuralGas(2, max_iter=10, random_state=0)),
    make_pipeline(StandardScaler(), NeuralGas(3, max_iter=10, random_state=0)),
]
each_map = pytest.mark.parametrize("estimator", MAPS, ids=repr)


def cloud(seed=0, n=200):
    return np.random.default_rng(seed).normal(size=(n, 3)) * [3.0, 1.0, 0.2]


@each_map
@pytest.mark.parametrize("contamination", [0.01, 0.05, 0.1, 0.5])
def test_share_of_outliers_among_the_training_samples(estimator, contamination):
    X = cloud()
    detector = OutlierDetector(estimator, contamination=contamination).fit(X)
    verdict = detector.predict(X)
    assert set(verdict) == {-1, 1}
    assert (verdict == -1).sum() == round(contamination * len(X))


@each_map
def test_conventions(estimator):
    X = cloud(1)
    detector = OutlierDetector(estimator, contamination=0.1).fit(X)
    scores, decision = detector.score_samples(X), detector.decision_function(X)
    assert_allclose(decision, scores - detector.offset_)
    assert_array_equal(detector.predict(X), np.where(decision < 0, -1, 1))
    assert_array_equal(OutlierDetector(estimator, contamination=0.1).fit_predict(X), detector.predict(X))
    assert (detector.predict(X + 1e3) == -1).all()
    assert detector.predict(X.mean(axis=0)[None]) == 1
    assert detector.score_samples(X[:1] + 1e3) < detector.score_samples(X[:1])


@each_map
def test_score_is_density_or_distance(estimator):
    X = cloud(2)
    detector = OutlierDetector(estimator).fit(X)
    fitted = detector.estimator_
    assert fitted is not estimator
    if estimator is not None:
        alone = clone(estimator).fit(X)
        shaped = hasattr(alone, "score_samples")
        expected = alone.score_samples(X) if shaped else -alone.transform(X).min(axis=1)
        assert_allclose(detector.score_samples(X), expected)
    assert detector.score_samples(X).dtype == np.float64


@given(st.lists(st.integers(0, 3), min_size=30, max_size=30), st.sampled_from([0.05, 0.1, 0.3]))
@settings(max_examples=15)
def test_weight_two_is_the_sample_twice(weights, contamination):
    X = cloud(3, 30)
    weights = np.array(weights)
    weights[:6] = 1
    detector = OutlierDetector(KMeans(2, random_state=0), contamination=contamination)
    weighted = clone(detector).fit(X, sample_weight=weights)
    repeated = clone(detector).fit(np.repeat(X, weights, axis=0))
    assert_allclose(weighted.offset_, repeated.offset_)
    assert_array_equal(weighted.predict(X), repeated.predict(X))


def test_gaps_of_a_spiral_are_outside():
    """Shapes follow the arms; circles around as many centers do not."""
    X, _ = make_vortex(random_state=0)
    noise = np.random.default_rng(0).uniform(-140, 140, (2000, 2))
    radius, angle = np.hypot(*noise.T), np.arctan2(noise[:, 1], noise[:, 0]) % (2 * np.pi)
    turns = np.stack([40 * (angle + 2 * np.pi * turn) / (2 * np.pi) for turn in range(3)])
    inside = ((radius > turns) & (radius < turns + 20)).any(axis=0)
    areas = [
        roc_auc_score(inside, OutlierDetector(model).fit(X).score_samples(noise))
        for model in (NGPCA(20, 2, random_state=0), NeuralGas(20, random_state=0))
    ]
    assert areas[0] > 0.9
    assert areas[0] > areas[1] + 0.05


@pytest.mark.parametrize("n", [1, 2, 5, 40])
def test_default_map_fits_small_data(n):
    X = cloud(4, n)
    detector = OutlierDetector().fit(X)
    assert 1 <= len(detector.estimator_.prototypes_) <= 8
    assert np.isfinite(detector.decision_function(X)).all()
    assert (OutlierDetector().fit(np.zeros((n, 3))).predict(np.zeros((n, 3))) == 1).all()


def test_default_map_is_repeatable_and_grows_with_the_data():
    X = cloud(5, 2000)
    first, second = OutlierDetector().fit(X), OutlierDetector().fit(X)
    assert first.offset_ == second.offset_
    assert len(first.estimator_.prototypes_) == 8


def test_bad_input_is_refused():
    X = cloud()
    for contamination in (0.0, 0.6, -0.1, "auto", np.nan):
        with pytest.raises(ValueError, match="contamination"):
            OutlierDetector(contamination=contamination).fit(X)
    X[0, 0] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        OutlierDetector().fit(X)
    X = cloud()
    detector = OutlierDetector().fit(X)
    with pytest.raises(ValueError, match="3 features"):
        detector.predict(X[:, :2])
    with pytest.raises(ValueError, match="does not support sample_weight"):
        OutlierDetector(MAPS[-1]).fit(X, sample_weight=np.ones(len(X)))
    with pytest.raises(ValueError, match="sums to zero"):
        OutlierDetector().fit(X, sample_weight=np.zeros(len(X)))
