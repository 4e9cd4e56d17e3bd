"""Maps of a Dask bag: partitions are learned where they are, and a few objects of each stand for it."""

import gc
import itertools
import pickle
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from protolearn import (
    MedianKMeans,
    MedianNeuralGas,
    MedianSOM,
    PairwiseAnnealing,
    RelationalGLVQ,
    RelationalKMeans,
    RelationalNeuralGas,
    RelationalSOM,
)
from protolearn.core import partitions
from protolearn.core.learning import condense, merge
from protolearn.core.partitions import PartitionError
from protolearn.core.samples import Samples
from protolearn.dissimilarities import pairwise
from protolearn.maps import Patches

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
db = pytest.importorskip("dask.bag")
dd = pytest.importorskip("dask.dataframe")
pd = pytest.importorskip("pandas")

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
SIZES = (50, 3, 0, 77, 60, 50)


@pytest.fixture(autouse=True)
def one_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


def words(n=240, n_groups=5, length=16, most=5):
    """Return words that are a few letters away from one of some others, which one that is, and weights, some zero."""
    rng = np.random.default_rng(3)
    letters = np.array(list("abcd"))
    centers = rng.choice(letters, (n_groups, length))
    y = rng.integers(0, n_groups, n)
    found = centers[y]
    for row in found:
        row[rng.integers(0, length, rng.integers(0, most + 1))] = rng.choice(letters)
    return ["".join(row) for row in found], y, rng.integers(0, 4, n).astype(float)


def bag(objects, sizes=SIZES):
    """Return a bag with partitions of these sizes."""
    bounds = np.cumsum([0, *sizes])
    return db.from_delayed([dask.delayed(list)(objects[i:j]) for i, j in itertools.pairwise(bounds)])


def array(values, sizes=SIZES):
    return da.from_array(values, chunks=(tuple(sizes),))


MAPS = [
    RelationalKMeans(5, n_approximation=4, max_iter=20),
    RelationalNeuralGas(5, n_approximation=4, max_iter=20),
    RelationalSOM((2, 3), n_approximation=4, max_iter=20),
    MedianKMeans(5),
    MedianNeuralGas(5, max_iter=20),
    MedianSOM((2, 3), max_iter=20),
    PairwiseAnnealing(5, n_approximation=4, max_iter=100),
]
names = lambda model: type(model).__name__  # noqa: E731
each_map = pytest.mark.parametrize("model", MAPS, ids=names)


def on_words(model, **options):
    return clone(model).set_params(metric="edit", random_state=7, **options)


def assert_same(one, other, objects):
    for name in ("support_", "kept_", "prototype_examples_", "multiplicities_", "cost_history_", "dual_cost_"):
        assert_allclose(getattr(one, name), getattr(other, name), err_msg=name)
    assert_allclose(one.transform(objects), other.transform(objects), atol=1e-9)
    assert_allclose(one.graph_.toarray(), other.graph_.toarray())
    assert one.n_dissimilarities_ == other.n_dissimilarities_
    assert_array_equal(np.asarray(one.labels_), np.asarray(other.labels_))


@each_map
def test_one_partition_is_the_fit_by_patches_in_memory(model):
    """The seed of a partition is the first number that the map's own generator draws."""
    objects, y, _ = words()
    lazy = on_words(model, patches=Patches(60), label_weight=0.2).fit(bag(objects, [240]), array(y, [240]))
    seed = np.random.RandomState(7).randint(2**31)
    whole = on_words(model, patches=Patches(60), label_weight=0.2).set_params(random_state=seed).fit(objects, y)
    assert isinstance(lazy.labels_, da.Array)
    assert lazy.labels_.chunks == ((240,),)
    assert_same(lazy, whole, objects)
    assert set(vars(lazy)) == set(vars(whole))
    assert_array_equal(lazy.prototype_labels_, whole.prototype_labels_)


@each_map
def test_partitions_are_condensed_and_merged_in_pairs(model):
    """The same, step by step, by what patches in memory are made of; a partition without objects draws no seed."""
    objects, _, weights = words()
    model = on_words(model, patches=Patches(30))
    lazy = clone(model).fit(bag(objects), None, array(weights))
    recipe, rng = model._recipe(), np.random.RandomState(7)
    recipe = partitions.replace(recipe, kind=recipe.kind.condensing())
    bounds, level = np.cumsum([0, *SIZES]), []
    for first, last in itertools.pairwise(bounds):
        if last > first:
            samples = model._read(objects[first:last], None, weights[first:last], reset=True).present()
            samples = partitions.replace(samples, X=samples.X.among(first, 240))
            level.append(condense(recipe, samples, 30, np.random.RandomState(rng.randint(2**31))))
    assert isinstance(level[1], Samples)  # three words are too few
    while len(level) > 1:
        level = [
            merge(recipe, level[n : n + 2], np.random.RandomState(rng.randint(2**31))) for n in range(0, len(level), 2)
        ]
    assert_array_equal(lazy.kept_, level[0].kept.objects.numbers)
    assert_array_equal(lazy.support_, level[0].support.numbers)
    assert_array_equal(lazy.prototype_examples_, level[0].examples)
    assert_allclose(lazy.cost_history_, level[0].history.costs)
    assert_allclose(lazy.multiplicities_, np.bincount(lazy.predict(objects), weights, len(lazy.multiplicities_)))
    assert_allclose(lazy.multiplicities_.sum(), weights.sum())
    assert_array_equal(lazy.labels_.compute(), lazy.predict(objects))
    assert (weights[lazy.support_] > 0).all()
    assert_allclose(
        lazy.transform([objects[j] for j in lazy.support_]), lazy.transform(bag(objects)).compute()[lazy.support_]
    )


@pytest.mark.parametrize("model", [MAPS[1], MAPS[2], MAPS[4]], ids=names)
def test_the_result_is_about_as_good_as_in_memory(model):
    objects, _, _ = words()
    models = [on_words(model, patches=Patches(60)).set_params(random_state=seed) for seed in range(3)]
    mine, theirs = (np.mean([one.fit(X).score(objects) for one in models]) for X in (bag(objects), objects))
    assert mine > 1.1 * theirs


def test_the_result_is_the_same_on_any_scheduler():
    objects, _, _ = words()
    one = on_words(MAPS[1]).fit(bag(objects))
    with dask.config.set(scheduler="threads"):
        two = on_words(MAPS[1], n_jobs=2).fit(bag(objects))
    assert_same(one, two, objects)


@pytest.mark.parametrize("patch_size", [None, 25])
@pytest.mark.parametrize("model", [MAPS[1], MAPS[2], MAPS[4]], ids=names)
def test_what_travels_are_a_few_objects(model, patch_size, monkeypatch):
    objects, _, _ = words()
    k, seen = 6, []

    def spied(function, *args):
        result = function(*args)
        parts = pickle.dumps(result)
        seen.append(sum(parts.count(word.encode()) for word in set(objects)))
        model_ = not isinstance(result, Samples)
        assert len(result.kept.objects.source if model_ else result.X.source) <= 4 * k
        if model_:
            assert len(result.support.source) <= 4 * k
        return result

    for name in ("_condensed", "_merged"):
        monkeypatch.setattr(partitions, name, partial(spied, getattr(partitions, name)))
    on_words(model, patches=Patches(patch_size)).fit(bag(objects))
    assert len(seen) == 5 + 3 + 2 + 1  # five partitions with objects, and merges of two
    assert max(seen) <= 4 * k


# Collections


def test_methods_are_lazy():
    objects, _, weights = words()
    model = on_words(MAPS[1]).fit(objects)
    for name in ("predict", "nearest", "transform", "distances"):
        whole = getattr(model, name)(objects)
        for lazy in (getattr(model, name)(part) for part in (bag(objects), array(np.array(objects)))):
            assert isinstance(lazy, da.Array)
            assert lazy.dtype == whole.dtype
            assert lazy.shape[1:] == whole.shape[1:]
            assert_allclose(lazy.compute(), whole, atol=1e-9)
        assert np.isnan(getattr(model, name)(bag(objects)).shape[0])
        assert lazy.chunks[0] == SIZES
    assert_allclose(model.score(bag(objects), None, array(weights)), model.score(objects, None, weights))
    assert_allclose(model.score(bag(objects)), model.score(objects))


def test_a_column_of_texts():
    objects, y, _ = words()
    frame = dd.from_pandas(pd.DataFrame({"text": objects, "y": y}), npartitions=4)
    model = on_words(MAPS[2], label_weight=0.3).fit(frame["text"], frame["y"])
    same = on_words(MAPS[2], label_weight=0.3).fit(bag(objects, [60] * 4), array(y, [60] * 4))
    assert_same(model, same, objects)
    mixed = on_words(MAPS[2], label_weight=0.3).fit(bag(objects, [60] * 4).map(str), frame["y"])
    assert_same(mixed, same, objects)
    assert_array_equal(model.predict(frame["text"]).compute(), same.predict(objects))


@pytest.mark.parametrize("metric", ["hamming", "jaccard"])
def test_a_metric_that_remembers_symbols(metric):
    objects, _, _ = words()
    model = MedianKMeans(5, metric=metric, random_state=0).fit(bag(objects))
    own = [objects[j] for j in model.prototype_indices_]
    assert_allclose(model.transform(objects), pairwise(objects, own, metric=metric) ** 2, atol=1e-12)
    assert_array_equal(model.labels_.compute(), model.predict(objects))


def test_rows_of_a_table():
    X = np.abs(np.random.default_rng(0).normal(size=(120, 4))) + np.repeat(np.eye(4), 30, axis=0) * 5
    lazy = da.from_array(X, chunks=((50, 0, 70), 4))
    model = RelationalKMeans(4, metric="cosine", random_state=0).fit(lazy)
    assert model.n_features_in_ == 4
    assert_array_equal(model.predict(lazy).compute(), model.predict(X))
    assert len(set(model.predict(X[::30]))) == 4
    same = RelationalKMeans(4, metric="cosine", random_state=0).fit(bag(list(X), (50, 0, 70)))
    assert_allclose(same.transform(X), model.transform(X))
    with pytest.raises(ValueError, match="cut along its columns"):
        model.fit(lazy.rechunk({1: 2}))


def test_a_precomputed_matrix_may_be_lazy():
    X = np.random.default_rng(0).normal(size=(60, 2))
    D = np.sqrt(np.square(X[:, None] - X).sum(axis=2))
    model, whole = (RelationalKMeans(3, random_state=0).fit(part) for part in (da.from_array(D, chunks=20), D))
    assert_allclose(model.transform(D), whole.transform(D))
    lazy = whole.predict(da.from_array(D, chunks=(25, 60)))
    assert lazy.chunks == ((25, 25, 10),)
    with pytest.raises(ValueError, match="metric='precomputed' needs dissimilarities to the training objects"):
        whole.predict(bag(list(X), [60]))
    assert_array_equal(lazy.compute(), whole.predict(D))


def test_a_classifier_of_objects_predicts_lazily():
    objects, y, _ = words()
    model = RelationalGLVQ(metric="edit", max_iter=3, random_state=0).fit(objects[:60], y[:60])
    for name in ("predict", "nearest", "distances"):
        assert_allclose(getattr(model, name)(bag(objects)).compute(), getattr(model, name)(objects), atol=1e-9)
    with pytest.raises(ValueError, match=r"RelationalGLVQ needs objects in memory; use a sample"):
        model.fit(bag(objects), y)


def test_stored_and_gone_on_with():
    objects, _, _ = words()
    model = on_words(MAPS[1]).fit(bag(objects[:180], [90, 90]))
    again = pickle.loads(pickle.dumps(model))
    assert not hasattr(again, "labels_")
    assert_array_equal(again.predict(objects[:180]), model.labels_.compute())
    more = again.partial_fit(objects[180:])
    assert_allclose(more.multiplicities_.sum(), 240)
    assert more.kept_.max() >= 180


# What cannot be learned from


@pytest.mark.parametrize(
    ("model", "X", "y", "message"),
    [
        (
            RelationalKMeans(2),
            bag(words()[0]),
            None,
            r"metric='precomputed' needs a matrix of all pairs.*a Bag of objects",
        ),
        (MedianSOM((2, 2), metric="kernel"), bag(words()[0]), None, "metric='kernel' needs a matrix of all pairs"),
        (RelationalKMeans(2, init=np.eye(2, 240), metric="edit"), bag(words()[0]), None, "init is an array"),
        (RelationalKMeans(2, patches=Patches(runs=2), metric="edit"), bag(words()[0]), None, "has several runs"),
        (
            RelationalKMeans(2, label_weight=0.5, metric="edit"),
            bag(words()[0]),
            None,
            "label_weight=0.5 needs the classes",
        ),
        (
            RelationalKMeans(2, label_weight=0.5, metric="edit"),
            bag(words()[0]),
            array(words()[1], (120, 120)),
            "y has 2 partitions, and X has 6",
        ),
        (
            RelationalKMeans(2, label_weight=0.5, metric="edit"),
            bag(words()[0]),
            bag(words()[1].tolist(), (50, 4, 0, 76, 60, 50)),
            "Partition 1 of X has 3 rows, and that of y has 4",
        ),
        (RelationalKMeans(241, metric="edit"), bag(words()[0]), None, "n_samples=240 is fewer than the 241 prototypes"),
        (RelationalKMeans(2, metric="edit"), bag([], [0, 0]), None, "no rows"),
    ],
)
def test_what_cannot_be_learned_from(model, X, y, message):
    with pytest.raises(ValueError, match=message):
        model.fit(X, y)


def test_partial_fit_takes_objects_in_memory():
    objects, _, _ = words()
    model = on_words(MAPS[0]).fit(objects)
    before = model.kept_
    with pytest.raises(ValueError, match="partial_fit needs objects in memory"):
        model.partial_fit(bag(objects))
    assert model.kept_ is before


@pytest.mark.parametrize("scheduler", ["synchronous", "threads"])
def test_a_partition_that_fails_names_itself(scheduler):
    objects, _, _ = words()

    def load(number):
        if number == 3:
            raise OSError("no such file")
        return objects[:20]

    def picky(a, b):
        if "!" in a + b:
            raise ZeroDivisionError("cannot compare")
        return float(a != b)

    model = on_words(MAPS[0]).fit(objects)
    before = model.kept_
    with dask.config.set(scheduler=scheduler):
        with pytest.raises(PartitionError, match=r"Partition 3 of X cannot be read.*no such file"):
            model.fit(db.from_delayed([dask.delayed(load)(number) for number in range(5)]))
        with pytest.raises(PartitionError, match=r"Partition 4 of X cannot be used: .*cannot compare"):
            model.set_params(metric=picky).fit(bag([*objects[:150], "!", *objects[151:]]))
        with pytest.raises(PartitionError, match=r"Partition 3 of X cannot be used: .*None"):
            model.set_params(metric="edit").fit(bag([*objects[:100], None, *objects[101:]]))
    assert model.kept_ is before


def test_every_partition_is_read_three_times():
    objects, _, _ = words()
    reads = []

    def load(number):
        reads.append(number)
        return objects[40 * number : 40 * number + 40]

    lazy = db.from_delayed([dask.delayed(load, pure=False)(number) for number in range(6)])
    model = on_words(MAPS[1], patches=Patches(20)).fit(lazy)
    assert sorted(reads) == sorted([*range(6)] * 3)  # to count, to learn, and to assign
    reads.clear()
    model.labels_[:40].compute()
    assert reads == [0]


def test_on_a_cluster():
    """What was persisted is kept by ``labels_``, functions of two objects travel, and a closed client is named."""
    distributed = pytest.importorskip("distributed")
    objects, _, _ = words()
    expected = RelationalKMeans(5, metric=lambda a, b: float(sum(x != y for x, y in zip(a, b))), random_state=7)
    expected.fit(bag(objects))
    model = clone(expected)
    with dask.config.set({"scheduler": None, "distributed.admin.tick.limit": "60s", "logging.distributed": "error"}):
        with (
            distributed.LocalCluster(
                n_workers=1, threads_per_worker=2, processes=False, dashboard_address=":0", silence_logs=50
            ) as cluster,
            distributed.Client(cluster),
        ):
            model.fit(bag(objects).map(str).persist())
            winners = model.predict(bag(objects).map(str).persist())
            gc.collect()  # what was persisted is kept by what is lazy
            assert_array_equal(winners.compute(), expected.labels_.compute(scheduler="synchronous"))
            assert_same(model, expected, objects)
            lazy = bag(objects).persist()
        before = model.kept_
        with pytest.raises(PartitionError, match=r"Partition 0 of X cannot be read.*while its client is open"):
            model.fit(lazy)
        assert model.kept_ is before
