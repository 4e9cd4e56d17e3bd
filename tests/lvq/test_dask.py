"""Classifiers of a Dask collection are those of the same samples in memory."""

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
    CIALVQ,
    GLVQ,
    GMLVQ,
    GRLVQ,
    LFDA,
    LGMLVQ,
    LGRLVQ,
    LMNN,
    LPP,
    LVQ1,
    LVQ21,
    RSLVQ,
    KMeans,
    LLiRaMLVQ,
    MatrixKMeans,
    PrototypeClassifier,
)
from protolearn.core import partitions
from protolearn.core.partitions import PartitionError, Partitions
from protolearn.core.progress import Progress
from protolearn.lvq import Adam, MinkowskiMetric, TangentMetric, solvers

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
pd = pytest.importorskip("pandas")

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # few iterations are enough
SEVEN = (40, 1, 0, 99, 10, 60, 30)
LEARNED = ("prototypes_", "cost_history_", "n_wins_", "temperature_", "score_history_", "acceptance_radii_", "scale_")
METRIC = ("omega_", "omegas_", "psis_", "relevances_", "width_", "regularization_")


@pytest.fixture(autouse=True)
def one_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


def samples(dtype=np.float64):
    """Return three classes that overlap, in random order, and weights, some zero."""
    rng = np.random.default_rng(5)
    y = rng.integers(0, 3, 240)
    X = rng.normal(size=(240, 4)) * [1.0, 0.5, 2.0, 0.1] + y[:, None] * [2.5, 0.0, 2.0, 0.1] + 7.0
    return X.astype(dtype), np.array(["one", "two", "three"])[y], rng.integers(0, 4, 240).astype(float)


def cut(values, sizes=SEVEN):
    """Return an array in partitions of these sizes."""
    return None if values is None else da.from_array(values, chunks=(tuple(sizes), *values.shape[1:]))


def assert_same(lazy, whole, tol=1e-8):
    """Compare all that was learned."""
    assert lazy.n_iter_ == whole.n_iter_
    assert_array_equal(lazy.classes_, whole.classes_)
    assert_array_equal(lazy.prototype_labels_, whole.prototype_labels_)
    for name in (*LEARNED, *METRIC):
        assert name in vars(lazy) if name in vars(whole) else name not in vars(lazy)
        if name in vars(whole):
            mine, theirs = np.asarray(getattr(lazy, name)), np.asarray(getattr(whole, name))
            assert_allclose(mine, theirs, rtol=tol, atol=tol * np.abs(theirs).max(initial=1e-300), err_msg=name)


def fitted(model, sizes, X, y, weights=None):
    """Return the classifier of partitions, and that of the samples in memory."""
    return clone(model).fit(*(cut(part, sizes) for part in (X, y, weights))), clone(model).fit(X, y, weights)


FAMILY = [
    GLVQ(random_state=0, max_iter=8),
    GRLVQ(random_state=0, max_iter=8),
    LGRLVQ(random_state=0, max_iter=8),
    GMLVQ(random_state=0, max_iter=8),
    GMLVQ(n_components=2, random_state=0, max_iter=8),
    LGMLVQ(random_state=0, max_iter=8),
    LLiRaMLVQ(random_state=0, max_iter=8),
    RSLVQ(random_state=0, max_iter=8),
    RSLVQ(metric="matrix", localization="class", random_state=0, max_iter=8),
]


@pytest.mark.parametrize("sizes", [(240,), (77, 163), SEVEN], ids=len)
@pytest.mark.parametrize("model", FAMILY, ids=str)
def test_every_classifier_is_that_of_the_samples_in_memory(model, sizes):
    X, y, weights = samples()
    assert_same(*fitted(model, sizes, X, y, weights if len(sizes) == 7 else None))


@pytest.mark.parametrize("model", FAMILY, ids=str)
def test_at_the_end_of_training(model):
    """Every iteration of L-BFGS multiplies what rounding has made different; costs are the same all the same."""
    X, y, weights = samples()
    lazy, whole = fitted(clone(model).set_params(max_iter=None), SEVEN, X, y, weights)
    assert lazy.n_iter_ == whole.n_iter_
    assert_allclose(lazy.cost_history_[-1], whole.cost_history_[-1], rtol=1e-7)
    assert_allclose(lazy.prototypes_, whole.prototypes_, rtol=1e-5)
    assert_array_equal(lazy.predict(X), whole.predict(X))


@pytest.mark.parametrize("model", FAMILY, ids=str)
def test_single_precision(model):
    """Classifiers learn in double precision whatever they are given."""
    X, y, weights = samples(np.float32)
    assert_same(*fitted(model, SEVEN, X, y, weights))


@given(
    bounds=st.lists(st.integers(0, 240), max_size=6),
    model=st.sampled_from(FAMILY),
    seed=st.integers(0, 9),
    weighted=st.booleans(),
)
@settings(max_examples=20, deadline=None)
def test_the_partitioning_does_not_matter(bounds, model, seed, weighted):
    sizes = np.diff([0, *sorted(bounds), 240]).tolist()
    X, y, weights = samples()
    model = clone(model).set_params(random_state=seed, max_iter=4, init="mean", prototypes_per_class=2)
    with dask.config.set(scheduler="synchronous"):
        assert_same(*fitted(model, sizes, X, y, weights if weighted else None))


OPTIONS = [
    GLVQ({"one": 1, "two": 2, "three": 1}, random_state=0, max_iter=4),
    GMLVQ(2, early_stopping=True, random_state=0, max_iter=6),
    GMLVQ(early_stopping="train", n_iter_no_change=2, max_iter=30),
    GMLVQ(class_weight="balanced", max_iter=5),
    GRLVQ(class_weight={"one": 2.0, "two": 0.5, "three": 1.0}, max_iter=5),
    GMLVQ(contamination=0.1, reject_label="none", max_iter=5),
    GMLVQ(neighborhood_range=1.0, init="mean", prototypes_per_class=3, random_state=1, max_iter=5),
    GMLVQ(init=7.0 + np.outer([0, 2, 1], [2.5, 0, 2, 0.1]), metric_init="random", random_state=0, max_iter=5),
    GMLVQ(mask=1, squashing="swish", slope=(1.0, 4.0), regularization=0.1, max_iter=6),
    LGMLVQ(symmetric=True, localization="class", metric_init="discriminative", max_iter=4),
    GLVQ(metric=MinkowskiMetric(3.0), max_iter=4),
    GMLVQ(solver="waypoint", max_iter=5),
]


@pytest.mark.parametrize("model", OPTIONS, ids=str)
def test_options(model):
    X, y, weights = samples()
    assert_same(*fitted(model, SEVEN, X, y, weights))


def test_partitions_of_which_all_samples_are_held_out():
    X, y, weights = samples()
    model = GMLVQ(early_stopping=True, validation_fraction=0.5, random_state=0, max_iter=4)
    assert_same(*fitted(model, (1,) * 12 + (228,), X, y, weights))


@pytest.mark.parametrize(
    ("model", "init"),
    [(FAMILY[1], "mean"), (FAMILY[4], "neural_gas"), (FAMILY[5], "mean"), (FAMILY[7], "mean")],
    ids=str,
)
def test_missing_values(model, init):
    X, y, weights = samples()
    X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    X[:, 0] = samples()[0][:, 0]
    model = clone(model).set_params(missing="partial", init=init, prototypes_per_class=2, max_iter=3)
    lazy, whole = fitted(model, SEVEN, X, y, weights)
    assert_same(lazy, whole)
    assert_array_equal(lazy.predict(cut(X)).compute(), whole.predict(X))


def test_directions_in_which_no_two_samples_differ_are_dropped():
    X, y, weights = samples()
    X = np.column_stack([X, X[:, 0] - X[:, 1], np.full(240, 3.0)])
    lazy, whole = fitted(GMLVQ(max_iter=8), SEVEN, X, y, weights)
    assert_same(lazy, whole)
    assert lazy.omega_.shape == (4, 6)


def test_minus_one_is_a_class_and_one_without_weight_is_none():
    X, y, weights = samples()
    codes = np.where(y == "one", -1, np.where(y == "two", 5, 2))
    assert_same(*fitted(GMLVQ(max_iter=4), SEVEN, X, codes, weights))
    lazy, whole = fitted(
        GMLVQ(max_iter=4, class_weight="balanced"), SEVEN, X, codes, np.where(codes == 5, 0.0, weights)
    )
    assert_same(lazy, whole)
    assert_array_equal(lazy.classes_, [-1, 2])


def test_samples_without_weight_are_as_if_left_out():
    X, y, weights = samples()
    model = GMLVQ(class_weight="balanced", max_iter=4)
    assert_same(clone(model).fit(X, y, weights), clone(model).fit(X[weights > 0], y[weights > 0], weights[weights > 0]))


def test_warm_start():
    X, y, weights = samples()
    model = GMLVQ(2, init="mean", warm_start=True, random_state=0, max_iter=4)
    lazy, whole = fitted(model, SEVEN, X, y, weights)
    assert_same(lazy.fit(cut(X), cut(y)), whole.fit(X, y))
    assert_same(lazy.fit(X, y), whole.fit(X, y))  # and back to memory
    with pytest.raises(ValueError, match="warm_start needs the classes of the last fit"):
        lazy.fit(cut(X), cut(np.where(y == "one", "four", y)))


def test_data_frames():
    X, y, weights = samples()
    frame = pd.DataFrame(X, columns=list("abcd"))
    lazy = dd.from_pandas(frame.assign(y=y, w=weights), npartitions=5)
    lazy = lazy[lazy["a"] > -100.0]
    features, classes = lazy[list("abcd")], lazy["y"]
    model, whole = (GMLVQ({"one": 2, "two": 1, "three": 1}, random_state=0, max_iter=4) for _ in "ab")
    assert_same(model.fit(features, classes, lazy["w"]), whole.fit(frame, y, weights))
    assert_array_equal(model.feature_names_in_, list("abcd"))
    assert_array_equal(model.predict(features).compute(), whole.predict(frame))
    assert_allclose(model.margins(features, classes).compute(), whole.margins(frame, y))
    assert_allclose(model.score(features, classes, lazy["w"]), whole.score(frame, y, weights))


# More samples than are listed


@pytest.mark.parametrize("init", ["neural_gas", "mean"])
def test_samples_that_are_not_listed_make_a_classifier_as_good(monkeypatch, init):
    X, y, _ = samples()
    rows = np.random.default_rng(0).integers(0, 240, 4800)
    X, y = X[rows] + np.random.default_rng(0).normal(0.0, 0.05, (4800, 4)), y[rows]
    model = GMLVQ(2, init=init, contamination=0.1, reject_label="none", random_state=0, max_iter=20)
    whole = clone(model).fit(X, y)
    monkeypatch.setattr(partitions, "MOST_LISTED", 100)
    monkeypatch.setattr("protolearn.lvq.samples.ENOUGH", 300)
    one, two = (clone(model).fit(cut(X, sizes), cut(y, sizes)) for sizes in ((4800,), (1000, 0, 800, 3000)))
    assert_same(one, two)
    assert_allclose((one.predict(X) == "none").mean(), 0.1, atol=0.03)
    scores = [model.set_params(contamination=None).score(X, y) for model in (one, whole)]
    assert abs(scores[0] - scores[1]) < 0.01
    with pytest.raises(ValueError, match="4,800 samples, too many to list; use early_stopping='train'"):
        clone(model).set_params(early_stopping=True).fit(cut(X, (4800,)), cut(y, (4800,)))


# Mini-batches


def test_adam_on_one_partition_is_that_in_memory():
    X, y, weights = samples()
    model = GMLVQ(2, init="mean", solver=Adam(batch_size=16), random_state=0, max_iter=5)
    assert_same(*fitted(model, (240,), X, y, weights))
    assert_same(*fitted(clone(model).set_params(early_stopping=True), (240,), X, y, weights))


def test_adam_goes_from_partition_to_partition():
    X, y, weights = samples()
    model = GMLVQ(2, init="mean", solver=Adam(batch_size=16), random_state=0, max_iter=10)
    lazy, whole = fitted(model, SEVEN, X, y, weights)
    assert abs(lazy.score(X, y, weights) - whole.score(X, y, weights)) < 0.03
    assert lazy.n_iter_ == 10
    assert lazy.cost_history_[-1] < lazy.cost_history_[0]
    with dask.config.set(scheduler="threads"):
        again = clone(model).fit(cut(X), cut(y), cut(weights))
    assert_array_equal(again.prototypes_, lazy.prototypes_)


def test_mini_batches_are_chosen_for_many_samples(monkeypatch):
    X, y, _ = samples()
    monkeypatch.setattr(solvers, "LARGE", 200)
    assert_same(*fitted(GMLVQ(random_state=0), (240,), X, y))


# Following and going on


def test_an_interrupt_keeps_the_last_state(monkeypatch):
    X, y, weights = samples()
    model = GMLVQ(max_iter=8)

    def step(progress, done, **values):
        if done == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(Progress, "step", step)
    with pytest.raises(KeyboardInterrupt):
        model.fit(cut(X), cut(y), cut(weights))
    monkeypatch.undo()
    assert model.n_iter_ == 3
    assert_allclose(model.cost_history_, clone(model).fit(X, y, weights).cost_history_[:3])
    assert model.n_wins_.sum() == np.count_nonzero(weights)


def test_callbacks_see_the_classifier():
    X, y, weights = samples()
    seen = [], []
    for lazily, scores in enumerate(seen):
        parts = [cut(part) if lazily else part for part in (X, y, weights)]

        def follow(state, parts=parts, scores=scores):
            scores.append(state.classifier.score(*parts))
            return len(scores) == 3

        GMLVQ(max_iter=8, callback=follow).fit(*parts)
    assert_allclose(*seen)
    assert len(seen[0]) == 3


def test_remarks(capsys):
    X, y, _ = samples()
    GMLVQ(max_iter=2, verbose=2).fit(cut(X), cut(y))
    assert "240 samples in 7 partitions\n" in capsys.readouterr().out


def test_what_is_collected_are_sums(monkeypatch):
    """Nothing comes back but examples for the survey, distances from classes for the probabilities, and sums."""
    X, y, _ = samples()
    X, y = np.tile(np.hstack([X] * 10) + np.arange(40), (10, 1)), np.tile(y, 10)
    sizes = []
    computed = Partitions._computed

    def measured(self, tasks):
        results = computed(self, tasks)
        sizes.append(sum(len(pickle.dumps(result)) for result in results))
        return results

    monkeypatch.setattr(Partitions, "_computed", measured)
    model = GMLVQ(n_components=2, max_iter=5).fit(cut(X, (1000, 1400)), cut(y, (1000, 1400)))
    examples, *others, distances = sizes
    assert examples < 8 * 40 * 2 * partitions.N_EXAMPLES + 2000
    assert distances < 8 * 2400 * (3 + 2) + 2000  # with classes and weights
    assert max(others) < 8 * 40 * 40 + 2000  # a covariance
    assert sum(size < 8 * (3 + 2) * 40 + 1000 for size in others) > model.n_iter_  # cost and gradient


def test_passes_over_the_data():
    X, y, _ = samples()
    reads = []

    def load(block, block_info=None):
        reads.append(block_info[0]["chunk-location"][0])
        return block

    lazy = cut(X, (100, 140)).map_blocks(load, dtype=float, meta=np.empty((0, 4)))
    calls = []
    model = GMLVQ(max_iter=5, callback=lambda state: calls.append(len(reads)))
    model.fit(lazy, cut(y, (100, 140)))
    assert calls[0] <= 2 * 10  # survey, classes, center, spread, directions, class means, and first steps
    assert len(reads) - calls[-1] == 2 * 2  # wins, and the temperature
    assert sorted(reads) == [0] * (len(reads) // 2) + [1] * (len(reads) // 2)


# Fitted classifiers

METHODS = ["predict", "predict_proba", "decision_function", "confidence", "distances", "nearest", "transform"]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("model", [FAMILY[0], FAMILY[1], FAMILY[4], FAMILY[5], FAMILY[7]], ids=str)
def test_methods_are_lazy(model, dtype):
    X, y, weights = samples(dtype)
    model = clone(model).set_params(contamination=0.1, reject_label="none", callback=lambda state: None).fit(X, y)
    calls = [(name, ()) for name in (*METHODS, "score_samples", "local_transform") if hasattr(model, name)]
    for name, args in [*calls, ("relative_distance", (y,)), ("margins", (y,))]:
        lazy, whole = getattr(model, name)(cut(X), *map(cut, args)), getattr(model, name)(X, *args)
        assert isinstance(lazy, da.Array)
        assert lazy.shape == whole.shape
        assert lazy.dtype == whole.dtype
        assert lazy.chunks[0] == SEVEN
        if name in ("predict", "nearest"):
            assert_array_equal(lazy.compute(), whole)
        else:
            assert_allclose(lazy.compute(), whole, rtol=1e-5 if dtype == np.float32 else 1e-9, atol=1e-5)
    for u in (None, weights):
        assert_allclose(model.score(cut(X), cut(y), cut(u)), model.score(X, y, u))
    assert_array_equal(model.margins(cut(X), y=cut(y)).compute(), model.margins(cut(X), cut(y)).compute())
    with pytest.raises(ValueError, match="X has 3 features"):
        model.predict(cut(X[:, :3]))
    with pytest.raises(ValueError, match="y has 2 partitions, and X has 7"):
        model.margins(cut(X), cut(y, (120, 120)))


# What cannot be learned from

X, Y, _ = samples()


@pytest.mark.parametrize(
    ("model", "X", "y", "weights", "message"),
    [
        (GMLVQ(), X, None, None, "requires y to be passed"),
        (
            GMLVQ(),
            np.where(np.arange(240)[:, None] == 200, np.nan, X),
            Y,
            None,
            "Partition 5 of X contains NaN, in row",
        ),
        (GMLVQ(), X, np.full(240, "one"), None, r"at least 2 classes, but y has one class only \(one\)"),
        (GMLVQ(), X, Y, (Y == "one") * 1.0, r"at least 2 classes, but y has one class only \(one\)"),
        (GMLVQ(2), X, np.where(np.arange(240) == 7, "four", Y), None, "Class four has 1 samples, fewer than its 2"),
        (
            GMLVQ(),
            X,
            np.where(np.arange(240) == 45, np.nan, 1.0),
            None,
            "Partition 3 of X cannot be used: 1 of 99 labels",
        ),
        (GMLVQ(), X, X[:, 0], None, "Partition 0 of X cannot be used: Unknown label type"),
        (GMLVQ(), X, Y, -np.ones(240), "Partition 0 of X cannot be used: sample_weight contains negative"),
        (GMLVQ(), X, Y, np.zeros(240), "sample_weight sums to zero"),
        (GMLVQ(class_weight={"one": 0.0}), X, Y, None, r"class_weight gives classes \['one'\] weight zero"),
        (GMLVQ(class_weight={"one": -1.0}), X, Y, None, "negative"),
        (GMLVQ(solver="sgd"), X, Y, None, r"solver=SGD\(\) presents single samples.*partial_fit"),
        (GMLVQ(calibration=3), X, Y, None, "calibration refits the classifier to samples in memory"),
        (GLVQ(metric=TangentMetric(1)), X, Y, None, r"GLVQ with metric=TangentMetric\(.*give a sample of it"),
        (GMLVQ(), np.tile(X, (1, 61)), Y, None, r"240 samples of 244 features\. Collections need as many"),
        (GMLVQ(prototypes_per_class={"one": 1}), X, Y, None, "must have exactly the classes"),
        (GMLVQ(init=np.zeros((2, 4))), X, Y, None, "init has shape"),
    ],
)
def test_what_cannot_be_learned_from(model, X, y, weights, message):
    with pytest.raises(ValueError, match=message):
        clone(model).fit(cut(X), cut(y), cut(weights))


def test_a_failure_leaves_the_classifier_as_it_was():
    X, y, _ = samples()
    model = GMLVQ(max_iter=3).fit(X, y)
    before = model.prototypes_
    for bad in (np.where(np.arange(240) == 200, np.nan, X[:, 0])[:, None] * np.ones(4), X[:, :1] * np.nan):
        with pytest.raises(PartitionError):
            model.fit(cut(bad), cut(y))
        assert model.prototypes_ is before
        assert model.n_features_in_ == 4


def test_labels_are_in_the_partitions_of_the_samples():
    X, y, _ = samples()
    with pytest.raises(ValueError, match="y must be a Dask collection with the partitions of X, got ndarray"):
        GMLVQ().fit(cut(X), y)
    with pytest.raises(ValueError, match="y has 2 partitions, and X has 7"):
        GMLVQ().fit(cut(X), cut(y, (120, 120)))
    with pytest.raises(PartitionError, match="Partition 0 of X has 40 rows, and that of y has 41"):
        GMLVQ().fit(cut(X), cut(y, (41, 0, *SEVEN[2:])))


OTHERS = [LVQ1(), LVQ21(), CIALVQ(patch_shape=(2, 2, 1)), LMNN(), LFDA(), LPP(), PrototypeClassifier()]


@pytest.mark.parametrize("model", OTHERS, ids=str)
def test_others_need_samples_in_memory(model):
    with pytest.raises(ValueError, match=f"{type(model).__name__} needs samples in memory and does not support Dask"):
        model.fit(cut(X), cut(Y))


def test_streams_are_of_samples_in_memory():
    with pytest.raises(ValueError, match="partial_fit needs samples in memory"):
        GMLVQ().partial_fit(cut(X), cut(Y), classes=np.unique(Y))


# On a cluster


def test_a_cluster_gives_the_same_and_a_killed_worker_changes_nothing(monkeypatch):
    """Two processes, one of which is killed in the middle of a fit, and the data with it."""
    distributed = pytest.importorskip("distributed")
    X, y, weights = samples()
    model = GMLVQ(random_state=0, max_iter=6)
    parts = [cut(part) for part in (X, y, weights)]
    with dask.config.set(scheduler="threads"):
        expected = clone(model).fit(*parts)
        by_adam = clone(model).set_params(solver="adam").fit(*parts)
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with (
        dask.config.set({"scheduler": None, "distributed.admin.tick.limit": "60s", "logging.distributed": "error"}),
        distributed.LocalCluster(**options, silence_logs=50) as cluster,
        distributed.Client(cluster),
    ):
        assert_array_equal(clone(model).fit(*parts).prototypes_, expected.prototypes_)
        assert_array_equal(clone(model).set_params(solver="adam").fit(*parts).prototypes_, by_adam.prototypes_)
        victim = next(iter(cluster.workers.values())).process.pid
        killed = []

        def step(progress, done, **values):
            if done == 2:
                os.kill(victim, signal.SIGKILL)
                killed.append(victim)

        monkeypatch.setattr(Progress, "step", step)
        persisted = [part.persist() for part in parts]
        assert_array_equal(clone(model).fit(*persisted).prototypes_, expected.prototypes_)
        assert killed


@pytest.mark.parametrize("model", [GMLVQ(), RSLVQ(), KMeans(2), MatrixKMeans(2)], ids=str)
def test_collections_need_columns(model):
    empty, y = da.zeros((40, 0), chunks=(10, 0)), da.from_array(np.arange(40) % 2, chunks=10)
    with pytest.raises(ValueError, match="X is a Dask Array without columns; give one with at least one feature"):
        model.fit(empty, y)
    frame = dd.from_pandas(pd.DataFrame({"a": np.arange(40.0)}), npartitions=4)[[]]
    with pytest.raises(ValueError, match="X is a Dask DataFrame without columns"):
        model.fit(frame, y)
