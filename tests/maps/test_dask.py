"""Maps of a Dask collection are those of the same samples in memory."""

import gc
import os
import pickle
import signal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from protolearn import (
    GMLVQ,
    NGPCA,
    SOM,
    VQPCA,
    KMeans,
    MatrixKMeans,
    MatrixNeuralGas,
    MatrixSOM,
    MixturePPCA,
    NeuralGas,
    OutlierDetector,
    PrototypeClassifier,
)
from protolearn.core import partitions
from protolearn.core.progress import Progress
from protolearn.maps import Online, Patches, Winner

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
pd = pytest.importorskip("pandas")

SEVEN = (40, 1, 0, 99, 10, 60, 30)


@pytest.fixture(autouse=True)
def one_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


def samples(dtype=np.float64):
    """Return three groups in random order, their classes, some unknown, and weights, some zero."""
    rng = np.random.default_rng(5)
    y = rng.integers(0, 3, 240)
    X = (rng.normal(size=(240, 4)) * [1.0, 0.5, 0.2, 0.1] + 3.0 * y[:, None] + 7.0).astype(dtype)
    return X, np.where(rng.random(240) < 0.2, np.nan, y), rng.integers(0, 4, 240).astype(float)


def cut(values, sizes):
    """Return an array in partitions of these sizes."""
    return None if values is None else da.from_array(values, chunks=(tuple(sizes), *values.shape[1:]))


def assert_same(lazy, whole, tol=1e-8):
    """Compare all that was learned."""
    attributes = ("prototypes_", "multiplicities_", "cost_history_", "range_history_", "label_distribution_")
    shapes = ("variances_", "residual_variances_", "weights_", "log_volumes_", "covariances_", "magnification_")
    assert lazy.n_iter_ == whole.n_iter_
    for name in (*attributes, *shapes):
        assert hasattr(lazy, name) == hasattr(whole, name)
        if hasattr(whole, name):
            mine, theirs = np.asarray(getattr(lazy, name)), np.asarray(getattr(whole, name))
            assert_allclose(mine, theirs, rtol=tol, atol=tol * np.abs(theirs).max(initial=1e-300), err_msg=name)
    assert_allclose(lazy.graph_.toarray(), whole.graph_.toarray())
    assert isinstance(lazy.labels_, da.Array)
    assert_array_equal(lazy.labels_.compute(), whole.labels_)


def fitted(model, sizes, X, y=None, weights=None):
    """Return the map of partitions, and that of the samples in memory."""
    return clone(model).fit(*(cut(part, sizes) for part in (X, y, weights))), clone(model).fit(X, y, weights)


MAPS = [
    KMeans(4, random_state=0, max_iter=20),
    NeuralGas(5, random_state=0, max_iter=8),  # of four, rounding can choose which two share a group
    SOM((3, 2), max_iter=8),
    MatrixKMeans(3, random_state=0, max_iter=20),
    MatrixNeuralGas(3, random_state=0, max_iter=6),
    MatrixSOM((2, 2), max_iter=6),
    NGPCA(3, 2, algorithm="batch", random_state=0, max_iter=8),
    VQPCA(3, 1, random_state=0),
    MixturePPCA(3, 2, random_state=0),
]
LABELED = MAPS[:6]
names = lambda model: type(model).__name__  # noqa: E731


@pytest.mark.parametrize("sizes", [(240,), (77, 163), SEVEN], ids=len)
@pytest.mark.parametrize("model", MAPS, ids=names)
def test_every_map_is_that_of_the_samples_in_memory(model, sizes):
    X, _, weights = samples()
    assert_same(*fitted(model, sizes, X, None, weights if len(sizes) == 7 else None))


@pytest.mark.parametrize("model", LABELED, ids=names)
def test_labels(model):
    X, y, weights = samples()
    lazy, whole = fitted(clone(model).set_params(label_weight=0.4), SEVEN, X, y, weights)
    assert_same(lazy, whole)
    assert_array_equal(lazy.prototype_labels_, whole.prototype_labels_)


@pytest.mark.parametrize("model", MAPS, ids=names)
def test_single_precision(model):
    """Sums of a chunk are in single precision, and chunks end where partitions do."""
    X, _, _ = samples(np.float32)
    lazy, whole = fitted(model, SEVEN, X)
    assert lazy.prototypes_.dtype == np.float32
    assert_same(lazy, whole, 2e-4 if isinstance(model, VQPCA | MixturePPCA) else 2e-5)


@given(bounds=st.lists(st.integers(0, 240), max_size=6), model=st.sampled_from(MAPS[:4]), seed=st.integers(0, 9))
@settings(max_examples=12, deadline=None)
def test_the_partitioning_does_not_matter(bounds, model, seed):
    sizes = np.diff([0, *sorted(bounds), 240]).tolist()
    X, y, weights = samples()
    with dask.config.set(scheduler="synchronous"):
        model = clone(model).set_params(random_state=seed, max_iter=4, label_weight=0.3)
        assert_same(*fitted(model, sizes, X, y, weights))


OTHERS = [
    SOM(max_iter=4),
    MatrixSOM(max_iter=3),
    MatrixKMeans(random_state=0, max_iter=5),
    KMeans(12, init="random", neighborhood=Winner("reseed"), random_state=3, max_iter=9),
    KMeans(3, init="center", n_init=3, random_state=0, max_iter=9),
    NeuralGas(3, init="pca", max_iter=5, magnification=0.5),
    NeuralGas(3, init="pca", max_iter=5, magnification="optimal"),
    SOM((2, 2), max_iter=4, metric=np.array([[1.0, 0.0, 2.0, 0.0], [0.0, 0.5, 0.0, 1.0]])),
    MatrixNeuralGas(2, regularization="floor", metric_init="covariance", max_iter=4, init="pca"),
    MatrixNeuralGas(2, scope="global", max_iter=4, init="pca", label_weight=0.5),
    VQPCA(2, 1, measure="euclidean", init=np.full((2, 4), 8.0) + np.arange(2)[:, None]),
]


@pytest.mark.parametrize("model", OTHERS, ids=str)
def test_options(model):
    X, y, weights = samples()
    assert_same(*fitted(model, SEVEN, X, y, weights))


@pytest.mark.parametrize("model", [MatrixKMeans(2, random_state=0, max_iter=5), MixturePPCA(2, 3, random_state=0)])
def test_missing_values(model):
    X, _, weights = samples()
    X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    X[np.isnan(X).all(axis=1)] = 7.0
    lazy, whole = fitted(model, SEVEN, X, None, weights)
    assert_same(lazy, whole)
    assert_allclose(lazy.complete(cut(X, SEVEN)).compute(), whole.complete(X))


def test_many_features():
    """Covariances are sketched, and the start has no covariance at all."""
    X = np.random.default_rng(0).normal(size=(240, 70)) * np.linspace(2, 0.5, 70)
    assert_same(*fitted(NGPCA(2, 3, algorithm="batch", random_state=0, max_iter=4), SEVEN, X))
    with pytest.raises(ValueError, match="60 samples of 70 features; fewer samples than features fit in memory"):
        MatrixKMeans(2).fit(cut(X[:60], (60,)))


def test_samples_that_are_not_listed_make_a_map_as_good(monkeypatch):
    X = np.tile(samples()[0], (20, 1))
    X += np.random.default_rng(0).normal(0.0, 0.05, X.shape)
    _, whole = fitted(MAPS[1], (len(X),), X)
    monkeypatch.setattr(partitions, "MOST_LISTED", 100)
    maps = [clone(MAPS[1]).fit(cut(X, sizes)) for sizes in ((len(X),), (1000, 0, 800, 3000))]
    assert_allclose(maps[0].prototypes_, maps[1].prototypes_, rtol=1e-9)
    assert maps[0].score(X) > 1.05 * whole.score(X)


# Going on


@pytest.mark.parametrize("model", [MAPS[0], MAPS[2], MAPS[4]], ids=names)
def test_partial_fit(model):
    X, y, weights = samples()
    model = clone(model).set_params(label_weight=0.3)
    lazy, whole = clone(model), clone(model)
    for part in (slice(100), slice(100, 240)):
        lazy.partial_fit(
            *(cut(values[part], (30, 70) if part.stop == 100 else (0, 80, 60)) for values in (X, y, weights))
        )
        whole.partial_fit(X[part], y[part], weights[part])
    assert_same(lazy, whole)


def test_a_map_goes_from_memory_to_partitions():
    X, _, _ = samples()
    lazy = clone(MAPS[2]).fit(X[:100]).partial_fit(cut(X[100:], (140,)))
    assert_same(lazy, clone(MAPS[2]).fit(X[:100]).partial_fit(X[100:]))


@pytest.mark.parametrize("model", [MAPS[1], MAPS[2], MAPS[4]], ids=names)
def test_patches_are_condensed_where_they_are(model):
    """Partitions, of which some have fewer samples than there are prototypes, are merged to a map nearly as good."""
    X, _, weights = samples()
    one, two = (
        clone(model).set_params(patches__size=25, random_state=1).fit(cut(X, SEVEN), None, cut(weights, SEVEN))
        for _ in "ab"
    )
    assert_array_equal(one.prototypes_, two.prototypes_)
    assert_allclose(one.multiplicities_.sum(), weights.sum())
    assert_allclose(one.multiplicities_, np.bincount(one.predict(X), weights, len(one.prototypes_)))
    assert_array_equal(one.labels_.compute(), one.predict(X))
    whole, patches = (
        clone(model).set_params(patches__size=size, random_state=1).fit(X, None, weights) for size in (None, 25)
    )
    assert one.score(X) > min(whole.score(X), patches.score(X)) - 0.1 * abs(whole.score(X))


def test_runs_are_the_partitions():
    with pytest.raises(ValueError, match="has several runs"):
        SOM((2, 2), patches=Patches(30, runs=2)).fit(cut(samples()[0], SEVEN))


@pytest.mark.parametrize("model", [SOM((2, 2), online=Online()), NGPCA(2, 1)], ids=names)
def test_online_learning_needs_samples_in_memory(model):
    with pytest.raises(ValueError, match="a Dask collection does not support"):
        model.fit(cut(samples()[0], SEVEN))


def test_an_interrupt_keeps_the_last_epoch(monkeypatch):
    X, _, _ = samples()
    model = SOM((3, 2), max_iter=8)

    def step(progress, done, **values):
        if done == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(Progress, "step", step)
    with pytest.raises(KeyboardInterrupt):
        model.fit(cut(X, SEVEN))
    assert model.n_iter_ == 3
    assert_allclose(model.multiplicities_.sum(), 240)
    monkeypatch.undo()
    assert_allclose(model.cost_history_, clone(model).fit(X).cost_history_[:3])


def test_an_interrupt_in_the_middle_of_an_epoch():
    """What the finished epochs reached is kept, and learning goes on from there as in memory."""
    X, _, _ = samples()
    reads = []

    def load(block, block_info=None):
        reads.append(block_info[0]["chunk-location"][0])
        if reads.count(3) == 5:
            reads.append(3)
            raise KeyboardInterrupt
        return block

    lazy = cut(X[:140], SEVEN[:4]).map_blocks(load, dtype=float, meta=np.empty((0, 4)))
    model = SOM((3, 2), max_iter=8)
    with pytest.raises(KeyboardInterrupt):
        model.fit(lazy)
    whole = clone(model).fit(X[:140])
    assert 0 < model.n_iter_ < 5
    assert_allclose(model.cost_history_, whole.cost_history_[: model.n_iter_])
    assert_allclose(model.multiplicities_.sum(), 140)
    assert_array_equal(model.labels_.compute(), model.predict(X[:140]))
    twin = pickle.loads(pickle.dumps(model))
    assert_same(model.partial_fit(cut(X[140:], (60, 40))), twin.partial_fit(X[140:]))


def test_a_failure_leaves_the_map_as_it_was():
    X, _, _ = samples()
    model = SOM((3, 2), max_iter=3).fit(X)
    before = model.prototypes_
    broken = cut(np.where(np.arange(240)[:, None] == 200, np.nan, X), SEVEN)
    with pytest.raises(ValueError, match="Partition 5 of X contains NaN, in row 50"):
        model.fit(broken)
    assert model.prototypes_ is before


# What fitted maps do with collections

METHODS = ["predict", "nearest", "transform", "distances", "score_samples", "complete"]


@pytest.mark.parametrize("model", [MAPS[2], MAPS[4], MAPS[8]], ids=names)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_methods_are_lazy(model, dtype):
    X, _, weights = samples(dtype)
    model = clone(model).fit(X)
    for name in METHODS:
        if hasattr(model, name):
            lazy, whole = getattr(model, name)(cut(X, SEVEN)), getattr(model, name)(X)
            assert isinstance(lazy, da.Array)
            assert lazy.shape == whole.shape
            assert lazy.dtype == whole.dtype
            assert lazy.chunks[0] == SEVEN
            assert_allclose(lazy.compute(), whole, rtol=2e-5 if dtype == np.float32 else 1e-12, atol=1e-4)
    for u in (None, weights):
        assert_allclose(model.score(cut(X, SEVEN), None, cut(u, SEVEN)), model.score(X, None, u), rtol=1e-5)
    with pytest.raises(ValueError, match="X has 3 features"):
        model.predict(cut(X[:, :3], SEVEN))


def test_lazy_results_are_of_the_map_at_that_time():
    X, _, _ = samples()
    model = clone(MAPS[0]).fit(X)
    expected, lazy = model.predict(X), model.predict(cut(X, SEVEN))
    model.set_params(n_clusters=2).fit(X)
    assert_array_equal(lazy.compute(), expected)


def test_three_axes():
    X, _, _ = samples()
    model = clone(MAPS[4]).fit(X)
    lazy = model.distances(cut(X, SEVEN), measure="pair")
    assert lazy.shape == (240, 3, 2)
    assert_allclose(lazy.compute(), model.distances(X, measure="pair"))


def test_data_frames():
    X, y, weights = samples()
    frame = pd.DataFrame(X, columns=list("abcd")).assign(d=np.arange(240))
    lazy = dd.from_pandas(frame.assign(y=y, w=weights), npartitions=5)
    model, whole = (SOM((3, 2), max_iter=4, label_weight=0.3) for _ in "ab")
    assert_same(model.fit(lazy[list("abcd")], lazy["y"], lazy["w"]), whole.fit(frame, y, weights))
    assert_array_equal(model.feature_names_in_, list("abcd"))
    assert_array_equal(model.predict(lazy[list("abcd")]).compute(), whole.predict(frame))
    assert_allclose(model.transform(lazy[list("abcd")]).compute(), whole.transform(frame))
    assert_allclose(model.score(lazy[list("abcd")]), whole.score(frame))
    with pytest.raises(ValueError, match="feature names"):
        model.predict(lazy[list("abdc")])


def test_whole_numbers_and_words():
    X, y, _ = samples()
    words = np.array(["one", "two", "three"], object)[np.nan_to_num(y, nan=2).astype(int)]
    frame = dd.from_pandas(pd.DataFrame({"a": np.round(10 * X[:, 0]).astype(int), "b": X[:, 1] > 9}), npartitions=3)
    whole = KMeans(3, label_weight=0.3, random_state=0).fit(frame.compute(), words)
    series = dd.from_pandas(pd.Series(words), npartitions=3)
    assert_same(KMeans(3, label_weight=0.3, random_state=0).fit(frame, series), whole)


def test_a_stored_map_has_no_data():
    X, _, _ = samples()
    model = clone(MAPS[2]).fit(cut(X, SEVEN))
    stored = pickle.dumps(model)
    assert len(stored) <= len(pickle.dumps(clone(model).fit(X)))
    again = pickle.loads(stored)
    assert not hasattr(again, "labels_")
    assert_array_equal(again.predict(X), model.labels_.compute())


def test_a_classifier_predicts_lazily():
    X, _, _ = samples()
    y = (X[:, 0] > 10).astype(int)
    model = PrototypeClassifier(NeuralGas(4, random_state=0)).fit(X, y)
    for name in ("predict", "predict_proba", "confidence", "distances"):
        assert_allclose(getattr(model, name)(cut(X, SEVEN)).compute(), getattr(model, name)(X))


def test_a_detector_of_outliers_scores_lazily():
    X, _, _ = samples()
    model = OutlierDetector(NeuralGas(4, random_state=0)).fit(X)
    for name in ("score_samples", "decision_function", "predict"):
        assert_allclose(getattr(model, name)(cut(X, SEVEN)).compute(), getattr(model, name)(X))


def test_a_metric_learned_by_lvq():
    X, y, _ = samples()
    metric = GMLVQ(random_state=0, max_iter=5).fit(X[y >= 0], y[y >= 0]).metric_
    assert_same(*fitted(SOM((3, 2), max_iter=4, metric=metric), SEVEN, X))


# On a cluster


def test_errors_on_a_cluster(monkeypatch, tmp_path):
    """The same partitions are named, and old states kept, as without; a map outlives the client it was learned with."""
    distributed = pytest.importorskip("distributed")
    X, _, _ = samples()
    model = KMeans(2, init=X[:2], max_iter=3, tol=0.0)
    options = {"n_workers": 1, "threads_per_worker": 2, "processes": False, "dashboard_address": ":0"}
    with dask.config.set({"scheduler": None, "distributed.admin.tick.limit": "60s", "logging.distributed": "error"}):
        with distributed.LocalCluster(**options, silence_logs=50) as cluster, distributed.Client(cluster):
            kept = cut(X, SEVEN).persist()
            before = model.fit(kept).prototypes_
            winners = model.labels_.compute()
            path = tmp_path / "rows"
            path.touch()

            def load(block, block_info=None):
                if block_info[0]["chunk-location"][0] == 3 and not path.exists():
                    raise OSError("no such file")
                return block

            def step(progress, done, **values):
                if done == 2:
                    path.unlink()

            monkeypatch.setattr(Progress, "step", step)
            gone = cut(X, SEVEN).map_blocks(load, dtype=float, meta=np.empty((0, 4)))
            broken = cut(np.where(np.arange(240)[:, None] == 200, np.nan, X), SEVEN)
            for lazy, problem in (
                (gone, "Partition 3 of X cannot be read.*no such file"),
                (broken, "Partition 5 .*NaN"),
            ):
                with pytest.raises(partitions.PartitionError, match=problem):
                    model.fit(lazy)
            monkeypatch.undo()
            with pytest.raises(partitions.PartitionError, match=r"Partition 5 of X cannot be used: .*NaN"):
                model.predict(broken).compute()
            with pytest.raises(ValueError, match="n_samples=12 is fewer than the 13 prototypes"):
                KMeans(13).fit(cut(X[:12], (3, 9)))
            frame = dd.from_pandas(pd.DataFrame(X, columns=list("abcd")), npartitions=3).persist()
            other = clone(model).fit(frame)
            del frame
            gc.collect()  # what was persisted is kept by labels_ alone
            assert_array_equal(other.labels_.compute(), winners)
            mask = da.from_array(np.arange(240) % 2 == 0, chunks=(SEVEN,))
            assert_allclose(KMeans(2, init=X[:2], max_iter=3).fit(kept[mask]).multiplicities_.sum(), 120)
        with pytest.raises(
            partitions.PartitionError, match=r"Partition 0 of X cannot be read.*while its client is open"
        ):
            model.fit(kept)
        assert model.prototypes_ is before
        with dask.config.set(scheduler="synchronous"):
            assert_array_equal(model.predict(cut(X, SEVEN)).compute(), winners)


def test_a_killed_worker_changes_nothing(monkeypatch):
    """Two processes, one of which is killed in the middle of the fit, and the data with it."""
    distributed = pytest.importorskip("distributed")
    X, _, weights = samples()
    model = SOM((3, 2), max_iter=6)
    expected = clone(model).fit(X, None, weights)
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": ":0"}
    with (
        dask.config.set({"scheduler": None, "distributed.admin.tick.limit": "60s", "logging.distributed": "error"}),
        distributed.LocalCluster(**options, silence_logs=50) as cluster,
        distributed.Client(cluster),
    ):
        victim = next(iter(cluster.workers.values())).process.pid
        killed = []

        def step(progress, done, **values):
            if done == 2:
                os.kill(victim, signal.SIGKILL)
                killed.append(victim)

        monkeypatch.setattr(Progress, "step", step)
        model.fit(cut(X, SEVEN).persist(), None, cut(weights, SEVEN).persist())
        assert killed
        gc.collect()  # what was persisted is kept by labels_ alone
        assert_same(model, expected)
