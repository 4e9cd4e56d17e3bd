"""Tests of maps of samples with missing values, by distances over the values that are known."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.impute import SimpleImputer
from sklearn.metrics.pairwise import nan_euclidean_distances
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags

import protolearn
from protolearn import GLVQ, SOM, TSNE, KMeans, MatrixNeuralGas, NeuralGas, OutlierDetector, PrototypeClassifier
from protolearn.core import neighborhoods, relocation
from protolearn.core.lattices import rectangular
from protolearn.maps import OnLattice, Online, Patches, Ranks

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

MAPS = [
    KMeans(4, random_state=0),
    NeuralGas(4, max_iter=15, random_state=0),
    SOM((2, 3), max_iter=15, random_state=0),
    SOM((2, 3), max_iter=15, neighborhood=OnLattice(kernel="exponential", winner="nearest"), random_state=0),
]
each_map = pytest.mark.parametrize("estimator", MAPS, ids=repr)


def incomplete(seed=0, n=80, d=5, share=0.3, shift=0.0):
    """Return samples of three groups with missing values, weights, and labels."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    X = rng.normal(size=(3, d), scale=3.0)[y] + rng.normal(size=(n, d)) + shift
    gaps = rng.random((n, d)) < share
    gaps[np.arange(n), rng.integers(d, size=n)] = False
    X[gaps] = np.nan
    return X, rng.integers(1, 4, n).astype(float), y


def slow_distances(X, W):
    """Return squared distances over known values, times all features over known ones, one by one."""
    D = np.empty((len(X), len(W)))
    for j, x in enumerate(X):
        known = [t for t in range(len(x)) if x[t] == x[t]]
        for i, w in enumerate(W):
            D[j, i] = sum((x[t] - w[t]) ** 2 for t in known) * len(x) / len(known)
    return D


def slow_shares(D, estimator, range_):
    """Return the weight (n, k) with which prototypes learn from samples, given distances."""
    if isinstance(estimator, KMeans):
        return np.eye(D.shape[1])[D.argmin(axis=1)]
    if isinstance(estimator, NeuralGas):
        return np.exp(-D.argsort(axis=1).argsort(axis=1) / range_)
    near = estimator.neighborhood or OnLattice()
    g = rectangular(*estimator.lattice).distances
    h = np.exp(-g / range_) if near.kernel == "exponential" else np.exp(-(g**2) / (2 * range_**2))
    if near.winner == "heskes":
        h = h / h.sum(axis=1, keepdims=True)
        return h[(D @ h.T).argmin(axis=1)]
    return h[D.argmin(axis=1)]


def slow_epoch(X, u, W, estimator, range_):
    """Return prototypes after an epoch, and the cost before it, entry by entry."""
    D = slow_distances(X, W)
    H = slow_shares(D, estimator, range_) * u[:, None]
    moved = W.copy()
    for i in range(len(W)):
        for t in range(X.shape[1]):
            rows = [j for j in range(len(X)) if X[j, t] == X[j, t]]
            factors = [H[j, i] * X.shape[1] / np.sum(X[j] == X[j]) for j in rows]
            if sum(factors) > 0:
                moved[i, t] = sum(f * X[j, t] for f, j in zip(factors, rows)) / sum(factors)
    return moved, 0.5 * (H * D).sum()


@each_map
@pytest.mark.parametrize("shift", [0.0, 1e3])
def test_training_is_that_of_a_slow_twin(estimator, shift):
    X, u, _ = incomplete(shift=shift)
    k = 6 if isinstance(estimator, SOM) else 4
    W = np.where(np.isnan(X[:k]), shift, X[:k])
    short = {"max_iter": 4, "init": W, "missing": "partial"} | (
        {"neighborhood__settle": False} if isinstance(estimator, NeuralGas) else {}
    )
    model = clone(estimator).set_params(**short)
    model.fit(X, sample_weight=u)
    for range_, cost in zip(model.range_history_, model.cost_history_):
        W, expected = slow_epoch(X, u, W, estimator, range_)
        np.testing.assert_allclose(cost, expected, rtol=1e-9)
    np.testing.assert_allclose(model.prototypes_, W, rtol=1e-9, atol=1e-9)


@each_map
def test_answers_are_those_of_distances_over_known_values(estimator):
    X, u, _ = incomplete()
    new, _, _ = incomplete(1, n=30)
    model = clone(estimator).set_params(missing="partial").fit(X, sample_weight=u)
    D = slow_distances(new, model.prototypes_)
    np.testing.assert_allclose(D, nan_euclidean_distances(new, model.prototypes_, squared=True), rtol=1e-9)
    np.testing.assert_allclose(model.transform(new), D, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(model.distances(new), D, rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(model.predict(new), D.argmin(axis=1))
    np.testing.assert_array_equal(model.labels_, slow_distances(X, model.prototypes_).argmin(axis=1))
    np.testing.assert_allclose(model.multiplicities_, np.bincount(model.labels_, u, len(model.prototypes_)))
    np.testing.assert_allclose(
        model.score(new, sample_weight=u[:30]), -np.average(np.sqrt(D.min(axis=1)), weights=u[:30])
    )
    if isinstance(model, KMeans):
        np.testing.assert_allclose(model.inertia_, u @ slow_distances(X, model.prototypes_).min(axis=1))


@each_map
def test_without_missing_values_nothing_changes(estimator):
    X, u, y = incomplete(share=0.0)
    for options in ({}, {"label_weight": 0.3}, {"patches": Patches(40)}, {"online": Online(), "max_iter": 3}):
        plain = clone(estimator).set_params(**options).fit(X, y, u)
        partial = clone(plain).set_params(missing="partial").fit(X, y, u)
        np.testing.assert_array_equal(partial.prototypes_, plain.prototypes_)
        np.testing.assert_array_equal(partial.transform(X), plain.transform(X))
        assert partial.score(X) == plain.score(X)


@each_map
def test_one_gap_of_hardly_any_weight_changes_next_to_nothing(estimator):
    """Complete samples are learned from in the same way where another sample has a gap."""
    X, u, y = incomplete(share=0.0, n=60)
    start = clone(estimator).fit(X).prototypes_
    model = clone(estimator).set_params(label_weight=0.3, init=start, max_iter=1)
    X[-1, 0], u[-1] = np.nan, 1e-12
    partial = clone(model).set_params(missing="partial").fit(X, y, u)
    plain = clone(model).fit(np.nan_to_num(X), y, u)
    np.testing.assert_allclose(partial.prototypes_, plain.prototypes_, rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(partial.label_distribution_, plain.label_distribution_, rtol=1e-6, atol=1e-6)


@each_map
def test_weights_are_copies(estimator):
    X, u, y = incomplete()
    start = clone(estimator).fit(np.nan_to_num(X)).prototypes_
    model = clone(estimator).set_params(missing="partial", label_weight=0.3, init=start)
    weighted = clone(model).fit(X, y, u)
    copies = u.astype(int)
    repeated = clone(model).fit(np.repeat(X, copies, axis=0), np.repeat(y, copies))
    np.testing.assert_allclose(weighted.prototypes_, repeated.prototypes_, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(weighted.cost_history_, repeated.cost_history_, rtol=1e-8)


@each_map
def test_labels_patches_and_single_samples(estimator):
    X, u, y = incomplete()
    worst = np.sqrt(np.nanvar(X, axis=0).sum())
    for options in (
        {"label_weight": 0.3},
        {"patches": Patches(40)},
        {"online": Online(), "max_iter": 20},
        {"init": "random"},
    ):
        model = clone(estimator).set_params(missing="partial", random_state=0, **options).fit(X, y, u)
        assert np.isfinite(model.prototypes_).all()
        assert -model.score(X) < 0.8 * worst
    stream = clone(estimator).set_params(missing="partial").partial_fit(X[:40]).partial_fit(X[40:])
    assert -stream.score(X) < 0.8 * worst


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_moves_are_judged_by_known_values(dtype, monkeypatch):
    """Moves on all samples, or tried on some of them, lower the cost over known values."""
    X, _, _ = incomplete(n=400, d=4)
    X = X.astype(dtype)
    plain = NeuralGas(12, max_iter=5, neighborhood=Ranks(settle=False), missing="partial", random_state=0).fit(X)
    for most in (4096, 100):
        monkeypatch.setattr(relocation, "MOST", most)
        monkeypatch.setattr(relocation, "SHARE", 1)
        model = clone(plain).set_params(neighborhood__settle=True).fit(X)
        costs = [
            slow_distances(X.astype(float), one.prototypes_.astype(float)).min(axis=1).sum() for one in (plain, model)
        ]
        assert costs[1] < costs[0]
        assert model.prototypes_.dtype == dtype


def test_compiled_sums_are_the_same(monkeypatch):
    X, u, _ = incomplete(n=300)
    for estimator in MAPS:
        model = clone(estimator).set_params(missing="partial", max_iter=5)
        expected = clone(model).fit(X, sample_weight=u).prototypes_
        monkeypatch.setattr(neighborhoods, "LARGE_WORK", 0)
        np.testing.assert_allclose(clone(model).fit(X, sample_weight=u).prototypes_, expected, rtol=1e-9, atol=1e-9)
        monkeypatch.undo()


@each_map
def test_tags_and_messages(estimator):
    X, _, _ = incomplete()
    partial = clone(estimator).set_params(missing="partial")
    assert not get_tags(estimator).input_tags.allow_nan
    assert get_tags(partial).input_tags.allow_nan
    name = type(estimator).__name__
    with pytest.raises(
        ValueError, match=rf"Input X contains NaN. {name}\(missing='partial'\) leaves missing values out"
    ):
        clone(estimator).fit(X)
    complete = clone(estimator).fit(np.nan_to_num(X))
    with pytest.raises(ValueError, match=r"missing='partial'\) leaves"):
        complete.predict(X)
    empty = X.copy()
    empty[7] = np.nan
    with pytest.raises(ValueError, match=r"1 samples of X have no known value \(the first is row 7\)"):
        clone(partial).fit(empty)
    with pytest.raises(ValueError, match="the first is row 7"):
        clone(partial).fit(X).transform(empty)
    unknown = X.copy()
    unknown[:, 2] = np.nan
    unknown[:, 0] = 1.0
    with pytest.raises(ValueError, match="Feature 2 of X has no known value"):
        clone(partial).fit(unknown)
    complete.set_params(missing="partial")
    with pytest.raises(ValueError, match="NaN"):  # of a map that was fitted without
        complete.predict(X)
    infinite = X.copy()
    infinite[0, 0] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        clone(partial).fit(infinite)


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (SOM(missing="drop"), "missing='drop' must be one of 'error', 'partial'"),
        (NeuralGas(missing="partial", magnification=0.5), "missing='partial' needs magnification=0"),
        (KMeans(missing="partial", metric=np.eye(5)), "missing='partial' needs metric='euclidean'"),
    ],
    ids=repr,
)
def test_what_does_not_go_together(estimator, message):
    with pytest.raises(ValueError, match=message):
        estimator.fit(incomplete()[0])


def test_classifiers_name_the_remedy_too_and_others_do_not():
    X, _, y = incomplete()
    with pytest.raises(ValueError, match=r"Input X contains NaN. GLVQ\(missing='partial'\)"):
        GLVQ().fit(X, y)
    model = GLVQ().fit(np.nan_to_num(X), y)
    with pytest.raises(ValueError, match=r"GLVQ\(missing='partial'\)"):
        model.predict(X)
    with pytest.raises(ValueError, match="NaN") as caught:
        TSNE().fit(X)
    assert "partial" not in str(caught.value)


def test_a_collection_is_learned_from_as_samples_in_memory_are():
    da = pytest.importorskip("dask.array")
    X, _, _ = incomplete()
    model = SOM((2, 3), max_iter=10, missing="partial")
    whole = clone(model).fit(X)
    parts = clone(model).fit(da.from_array(X, chunks=(30, 5)))
    np.testing.assert_allclose(parts.cost_history_, whole.cost_history_, rtol=1e-2)
    np.testing.assert_array_equal(parts.predict(da.from_array(X, chunks=(30, 5))).compute(), parts.predict(X))
    gas = NeuralGas(4, max_iter=5, missing="partial", random_state=0).fit(da.from_array(X, chunks=(30, 5)))
    assert np.isfinite(gas.prototypes_).all()
    with pytest.raises(ValueError, match=r"Partition 0 of X contains NaN.*SOM\(missing='partial'\)"):
        SOM((2, 3)).fit(da.from_array(X, chunks=(30, 5)))


def test_a_stored_map_takes_missing_values(tmp_path):
    pytest.importorskip("skops")
    X, _, _ = incomplete()
    model = KMeans(4, missing="partial", random_state=0).fit(X)
    protolearn.save(model, tmp_path / "map.skops")
    np.testing.assert_array_equal(protolearn.load(tmp_path / "map.skops").transform(X), model.transform(X))


WRAPPED = [
    *(clone(estimator).set_params(missing="partial") for estimator in MAPS[:3]),
    MatrixNeuralGas(3, max_iter=10, random_state=0),
    make_pipeline(StandardScaler(), KMeans(4, missing="partial", random_state=0)),
    make_pipeline(make_pipeline(SimpleImputer(), StandardScaler()), KMeans(4, random_state=0)),
]


@pytest.mark.parametrize("estimator", WRAPPED, ids=repr)
def test_classifiers_and_detectors_hand_gaps_on_to_their_map(estimator):
    X, _, y = incomplete()
    fitted = clone(estimator).fit(X)
    classifier = PrototypeClassifier(estimator).fit(X, y)
    np.testing.assert_array_equal(classifier.nearest(X), fitted.predict(X))
    np.testing.assert_array_equal(classifier.predict(X), classifier.prototype_labels_[fitted.predict(X)])
    assert np.isfinite(classifier.confidence(X)).all()
    assert np.isfinite(PrototypeClassifier(estimator, per_class=True).fit(X, y).predict_proba(X)).all()
    detector = OutlierDetector(estimator, contamination=0.1).fit(X)
    assert (detector.predict(X) == -1).sum() == round(0.1 * len(X))
    for wrapper in (classifier, detector):
        assert get_tags(wrapper).input_tags.allow_nan


@pytest.mark.parametrize("kind", [PrototypeClassifier, OutlierDetector])
def test_classifiers_and_detectors_refuse_gaps_if_their_map_does(kind):
    X, _, y = incomplete()
    for estimator in (KMeans(2), make_pipeline(StandardScaler(), KMeans(2)), make_pipeline("passthrough", KMeans(2))):
        with pytest.raises(ValueError, match="contains NaN"):
            kind(estimator).fit(X, y)
    with pytest.raises(ValueError, match=r"KMeans\(missing='partial'\) leaves missing values out"):
        kind(KMeans(2)).fit(X, y)
    assert not get_tags(kind()).input_tags.allow_nan
    assert not get_tags(kind(KMeans(2))).input_tags.allow_nan
