"""Streams of batches, for every estimator with partial_fit: absurd batches, changes of the concept, honest tails."""

import copy
import warnings
from itertools import product

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from protolearn import (
    GLVQ,
    GMLVQ,
    GRLVQ,
    LGMLVQ,
    LGRLVQ,
    LVQ1,
    LVQ21,
    NGPCA,
    RSLVQ,
    SOM,
    KMeans,
    LLiRaMLVQ,
    MatrixKMeans,
    MatrixNeuralGas,
    MatrixSOM,
    MedianKMeans,
    NeuralGas,
    RelationalKMeans,
    RelationalNeuralGas,
)
from protolearn.core.streams import usual_rows
from protolearn.maps import Online

CLASSES = [0, 1, 2]
CLASSIFIERS = {
    "LVQ1": LVQ1(),
    "LVQ21": LVQ21(),
    "GLVQ": GLVQ(),
    "GLVQ, sgd": GLVQ(2, solver="sgd"),
    "GRLVQ": GRLVQ(),
    "LGRLVQ": LGRLVQ(),
    "GMLVQ": GMLVQ(),
    "GMLVQ, sgd": GMLVQ(solver="sgd"),
    "LGMLVQ": LGMLVQ(),
    "LLiRaMLVQ": LLiRaMLVQ(),
    "RSLVQ": RSLVQ(),
}
MAPS = {
    "KMeans": KMeans(6),
    "NeuralGas": NeuralGas(6),
    "NeuralGas, online": NeuralGas(6, online=Online()),
    "SOM": SOM((3, 3)),
    "MatrixKMeans": MatrixKMeans(3),
    "MatrixNeuralGas": MatrixNeuralGas(3),
    "MatrixSOM": MatrixSOM((2, 2)),
    "NGPCA": NGPCA(3, 1, n_steps=1000),
    "NGPCA, batch": NGPCA(3, 1, algorithm="batch"),
    "RelationalKMeans of vectors": RelationalKMeans(3, metric="sqeuclidean", squared=True),
    "MedianKMeans of vectors": MedianKMeans(3, metric="euclidean"),
}


def batch(rng, n=50):
    y = rng.integers(0, 3, n)
    X = rng.normal(size=(n, 4))
    X[:, 0] += 4 * (y == 1)
    X[:, 1] += 4 * (y == 2)
    return X, y


def learn(model, X, y):
    return model.partial_fit(X, y, classes=CLASSES) if hasattr(model, "predict_proba") else model.partial_fit(X)


def begun(model, rng, n_batches=5):
    model = clone(model).set_params(random_state=0)
    for _ in range(n_batches):
        learn(model, *batch(rng))
    return model


@pytest.mark.parametrize("name", [*CLASSIFIERS, *MAPS])
def test_an_absurd_batch_is_left_out(name):
    """The estimator goes on as if the batch had not been there."""
    model = (CLASSIFIERS | MAPS)[name]
    with_it, without = (begun(model, np.random.default_rng(0)) for _ in range(2))
    X, y = batch(np.random.default_rng(1))
    with pytest.warns(
        UserWarning, match=f"{type(model).__name__} leaves 50 of 50 samples out: feature . has values up"
    ):
        learn(with_it, 1e6 * X, y)
    for seed in range(2, 4):
        learn(with_it, *batch(np.random.default_rng(seed)))
        learn(without, *batch(np.random.default_rng(seed)))
    X = batch(np.random.default_rng(9), 200)[0]
    assert np.array_equal(with_it.predict(X), without.predict(X))
    prediction = "predict_proba" if hasattr(model, "predict_proba") else "distances"
    assert np.array_equal(getattr(with_it, prediction)(X), getattr(without, prediction)(X))


@pytest.mark.parametrize("name", [*CLASSIFIERS, *MAPS])
def test_absurd_samples_of_a_batch_are_left_out(name):
    model = (CLASSIFIERS | MAPS)[name]
    with_them, without = (begun(model, np.random.default_rng(0)) for _ in range(2))
    X, y = batch(np.random.default_rng(1))
    X[[3, 8], 2] = 1e9, -5e4
    kept = np.delete(np.arange(50), [3, 8])
    with pytest.warns(UserWarning, match="leaves 2 of 50 samples out: feature 2 has values up to 1e"):
        learn(with_them, X, y)
    learn(without, X[kept], y[kept])
    X = batch(np.random.default_rng(9), 200)[0]
    assert np.array_equal(with_them.predict(X), without.predict(X))


@pytest.mark.parametrize("kind", [RelationalKMeans, MedianKMeans, RelationalNeuralGas])
def test_absurd_dissimilarities_are_left_out(kind):
    """Objects keep their numbers, which rows of later batches refer to."""
    rng = np.random.default_rng(0)
    X = np.concatenate([batch(rng)[0] for _ in range(4)])
    X[100:150] *= 1e6
    X[155] *= 1e6
    D = cdist(X, X)
    model = kind(3, random_state=0).partial_fit(D[:50, :50])
    left_out = []
    for start in (50, 100, 150):
        new = np.arange(start, start + 50)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model.partial_fit(D[np.ix_(new, np.append(model.kept_, new))])
        left_out += [str(each.message).partition(" samples")[0] for each in caught if "leaves" in str(each.message)]
    assert left_out == [f"{kind.__name__} leaves {count} of 50" for count in (50, 1)]
    assert not np.isin(model.kept_, [*range(100, 150), 155]).any()
    assert kind is MedianKMeans or (model.kept_ >= 150).any()
    assert model.multiplicities_.sum() == pytest.approx(149)


def test_patches_of_an_iterator_are_a_stream():
    rng = np.random.default_rng(0)
    patches = [batch(rng)[0] for _ in range(4)]
    expected = KMeans(4, random_state=0).fit(iter([patches[0], patches[1], patches[3]]))
    patches[2] *= 1e6
    with pytest.warns(UserWarning, match="leaves 50 of 50"):
        model = KMeans(4, random_state=0).fit(iter(patches))
    assert np.array_equal(model.prototypes_, expected.prototypes_)


@pytest.mark.parametrize("name", ["LVQ1", "GMLVQ", "KMeans", "NGPCA"])
def test_other_units_need_a_new_fit(name):
    model = begun((CLASSIFIERS | MAPS)[name], np.random.default_rng(0))
    X, y = batch(np.random.default_rng(1), 300)
    for _ in range(3):
        with pytest.warns(UserWarning, match="If the units have changed, call fit with new samples"):
            learn(model, 1e6 * X, y)
    model.fit(1e6 * X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        learn(model, 1e6 * X[:50], y[:50])
        learn(model, X[:50], y[:50])  # small values are no danger
    with pytest.warns(UserWarning, match="leaves 50 of 50"):
        learn(model, 1e12 * X[:50], y[:50])


def test_samples_without_weight_neither_count_nor_warn():
    rng, weights = np.random.default_rng(0), np.ones(50)
    weights[7] = 0
    model = begun(KMeans(3), rng)
    X, _ = batch(rng)
    X[7] = 1e9
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.partial_fit(X, sample_weight=weights)
    with pytest.warns(UserWarning, match="leaves 1 of 50"):
        model.partial_fit(X)


STREAMS = {
    "lognormal": lambda rng, t, n: rng.lognormal(size=(n, 5)),
    "Student, 3 degrees": lambda rng, t, n: rng.standard_t(3, size=(n, 5)),
    "exponential, faint units": lambda rng, t, n: rng.exponential(size=(n, 5)) * 10.0 ** np.arange(-6, 4, 2),
    "indicators, some late": lambda rng, t, n: np.eye(8)[rng.integers(0, 3 + t // 20, n)],
    "rare counts": lambda rng, t, n: np.column_stack(
        [rng.normal(size=n), rng.exponential(size=n) * (rng.random(n) < 0.01)]
    ),
    "sorted": lambda rng, t, n: (t + np.linspace(0, 1, n))[:, None] + 0.1 * rng.normal(size=(n, 3)),
    "ten times larger": lambda rng, t, n: (10.0 if t > 50 else 1.0) * rng.normal(size=(n, 5)),
    "three times larger, again and again": lambda rng, t, n: 3.0 ** (t // 20) * rng.normal(size=(n, 5)),
    "constant, then not": lambda rng, t, n: np.column_stack([rng.normal(size=n), np.full(n, float(t > 50))]),
    "far from zero": lambda rng, t, n: 1e6 + rng.normal(size=(n, 2)),
}


@pytest.mark.parametrize("n_rows", [1, 50])
@pytest.mark.parametrize("name", STREAMS)
def test_no_alarm_on_honest_streams(name, n_rows):
    for seed in range(10):
        rng, model = np.random.default_rng(seed), KMeans()
        for t in range(100):
            assert usual_rows(model, STREAMS[name](rng, t, n_rows), np.ones(n_rows)).all()


@pytest.mark.parametrize("name", [name for name in STREAMS if name != "three times larger, again and again"])
def test_alarm_on_absurd_batches_of_the_same_streams(name):
    for seed in range(10):
        rng, model = np.random.default_rng(seed), KMeans()
        for t in range(100):
            usual_rows(model, STREAMS[name](rng, t, 50), np.ones(50))
        with pytest.warns(UserWarning, match="samples out"):
            usual = usual_rows(model, 1e6 * STREAMS[name](rng, 99, 50), np.ones(50))
        assert not usual.any()


CHANGES = {
    "exchanged labels": lambda X, y: (X, (y + 1) % 3),
    "shifted samples": lambda X, y: (X + 6.0, y),
    "other features": lambda X, y: (X[:, [2, 3, 0, 1]], y),
}


LOW_RANK = "LLiRaMLVQ", "other features"  # which its matrix of two rows does not see


@pytest.mark.parametrize(("name", "change"), [c for c in product(CLASSIFIERS, CHANGES) if c != LOW_RANK])
def test_classifiers_follow_a_changed_concept(name, change):
    """Nothing is known of earlier accuracies, so models that were fitted at once adapt as well."""
    rng, changed = np.random.default_rng(0), CHANGES[change]
    new, labels = changed(*batch(np.random.default_rng(9), 500))
    model = begun(CLASSIFIERS[name], rng)
    fitted = clone(model).set_params(max_iter=5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        fitted.fit(*batch(rng, 200))
    for each in (model, fitted):
        assert each.score(new, labels) < 0.85
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for _ in range(8):
                learn(each, *changed(*batch(rng)))
        assert 1 <= sum("classified clearly better" in str(one.message) for one in caught) <= 2
        assert each.score(new, labels) > 0.93


@pytest.mark.parametrize("name", ["LVQ1", "GMLVQ"])
def test_single_samples_follow_a_changed_concept(name):
    rng = np.random.default_rng(0)
    model = begun(CLASSIFIERS[name], rng)
    for _ in range(200):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            X, y = batch(rng, 1)
            learn(model, X, (y + 1) % 3)
    X, y = batch(rng, 500)
    assert model.score(X, (y + 1) % 3) > 0.85


@pytest.mark.parametrize("name", ["LVQ1", "LVQ21", "GLVQ, sgd", "GMLVQ", "RSLVQ"])
def test_a_stream_of_the_same_classes_goes_on_undisturbed(name, monkeypatch):
    """Also where batches have one class each, or a class comes late."""
    rng = np.random.default_rng(0)
    batches = [batch(rng) for _ in range(12)]
    X, y = batch(rng, 600)
    batches += [(X[y == code][:50], y[y == code][:50]) for code in CLASSES * 2]
    first = [(X[y < 2], y[y < 2]) for X, y in batches[:3]]
    model = begun(CLASSIFIERS[name], rng, 0)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        for samples in first + batches:
            learn(model, *samples)
    monkeypatch.setattr("protolearn.lvq._stream.LEAST_GAIN", np.inf)
    same = begun(CLASSIFIERS[name], rng, 0)
    for samples in first + batches:
        learn(same, *samples)
    assert np.array_equal(model.prototypes_, same.prototypes_)


def test_a_batch_that_fails_leaves_recent_means_alone(monkeypatch):
    rng = np.random.default_rng(0)
    for name in ("LVQ1", "GMLVQ"):
        model = begun(CLASSIFIERS[name], rng)
        again = copy.deepcopy(model)
        with monkeypatch.context() as context:
            context.setattr(type(model), "_finish_batch", lambda *_: 1 / 0)
            with pytest.raises(ZeroDivisionError):
                learn(model, *batch(rng))
        X, y = batch(rng)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for each in (model, again):
                learn(learn(each, X, (y + 1) % 3), X, (y + 1) % 3)
        assert np.array_equal(model.prototypes_, again.prototypes_)
