"""Views of a Dask collection: a mapping is learned on a sample, and places all partitions lazily."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from protolearn import GMLVQ, LGMLVQ, TSNE, Charting, MappedEmbedding, OutOfSample
from protolearn.core.partitions import PartitionError, Partitions
from protolearn.core.progress import Progress
from protolearn.embedding import _mapped

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
pd = pytest.importorskip("pandas")

pytestmark = pytest.mark.filterwarnings("ignore:LBFGS stopped", "ignore:perplexity", "ignore:The inplace keyword")
SIZES = (100, 0, 30, 170, 100)


@pytest.fixture(autouse=True)
def one_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


def samples(dtype=np.float64):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 400)
    return (rng.normal(size=(400, 4)) + 3.0 * np.eye(4)[y]).astype(dtype), y


def cut(values):
    return da.from_array(values, chunks=(SIZES, *values.shape[1:]))


VIEWS = [
    MappedEmbedding(n_train=60, cost="strain", mapping="linear", max_iter=20, random_state=0),
    MappedEmbedding(n_train=0.2, max_iter=20, random_state=0),
    MappedEmbedding(n_train=80, mapping="network", max_iter=5, random_state=0),
]


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: str(view.mapping))
def test_a_view_is_that_of_the_same_sample_in_memory(view):
    X, _ = samples()
    lazy, whole = clone(view).fit(cut(X)), clone(view).fit(X)
    assert_array_equal(lazy.train_indices_, whole.train_indices_)
    rng = np.random.RandomState(0)
    rng.choice(400, len(whole.train_indices_), replace=False)
    same = clone(view).set_params(n_train=None, random_state=rng).fit(X[whole.train_indices_])
    assert_allclose(lazy.cost_history_, same.cost_history_)
    assert isinstance(lazy.embedding_, da.Array)
    assert lazy.embedding_.chunks == (SIZES, (2,))
    assert_allclose(lazy.embedding_.compute(), same.transform(X), atol=1e-9)
    assert_allclose(lazy.transform(X), same.transform(X), atol=1e-9)
    assert_array_equal(clone(view).fit_transform(cut(X)).compute(), lazy.embedding_.compute())


def test_a_data_frame_whose_sizes_are_not_known():
    X, _ = samples()
    frame = pd.DataFrame(X, columns=list("abcd"))
    lazy = dd.from_pandas(frame, npartitions=3)
    view = clone(VIEWS[0]).fit(lazy)
    assert_array_equal(view.feature_names_in_, list("abcd"))
    assert view.embedding_.shape == (400, 2)
    assert_allclose(view.embedding_.compute(), view.transform(frame))
    placed = view.transform(lazy)
    assert np.isnan(placed.shape[0])
    assert_allclose(placed.compute(), view.transform(frame))


def test_classes_and_a_learned_metric():
    X, y = samples()
    view = MappedEmbedding(
        mapping=LGMLVQ(n_components=2, max_iter=5, random_state=0), n_train=90, max_iter=5, random_state=0
    )
    lazy = clone(view).fit(cut(X), cut(y))
    rows = lazy.train_indices_
    rng = np.random.RandomState(0)
    rng.choice(400, 90, replace=False)
    same = clone(view).set_params(n_train=None, random_state=rng).fit(X[rows], y[rows])
    assert_allclose(lazy.embedding_.compute(), same.transform(X), atol=1e-9)
    with pytest.raises(ValueError, match="y has 1 partitions, and X has 5"):
        clone(view).fit(cut(X), da.from_array(y))
    metric = GMLVQ(max_iter=5, random_state=0).fit(X, y).metric_
    view = clone(VIEWS[0]).set_params(metric=metric).fit(cut(X))
    assert_allclose(view.embedding_.compute(), view.transform(X), atol=1e-9)


def test_labels_of_another_length_are_named():
    X, y = samples()
    mask = da.from_array(np.arange(400) != 150, chunks=(SIZES,))
    view = MappedEmbedding(mapping=LGMLVQ(n_components=2, max_iter=5, random_state=0), n_train=200, max_iter=5)
    with pytest.raises(PartitionError, match="Partition 3 of X has 170 rows, and that of y has 169"):
        view.fit(cut(X), cut(y)[mask])


def test_nothing_is_collected_but_the_sample(monkeypatch):
    X, _ = samples()
    collected = []
    computed = Partitions._computed

    def spied(self, tasks):
        results = computed(self, tasks)
        collected.append(sum(len(pickle.dumps(result)) for result in results))
        return results

    monkeypatch.setattr(Partitions, "_computed", spied)
    tall = da.concatenate([cut(X)] * 50)
    view = clone(VIEWS[0]).set_params(n_train=50).fit(tall)
    assert view.embedding_.shape == (20_000, 2)
    assert sum(collected) < 0.2 * X.nbytes * 50


def test_a_few_thousand_by_default(monkeypatch, capsys):
    X, _ = samples()
    view = clone(VIEWS[0]).set_params(n_train=None, verbose=1)
    assert_array_equal(clone(view).fit(cut(X)).train_indices_, np.arange(400))
    monkeypatch.setattr(_mapped, "MOST_COLLECTED", 100)
    capsys.readouterr()
    assert len(view.fit(cut(X)).train_indices_) == 100
    assert "400 samples in 5 partitions; 100 of them are trained on" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"mapping": "free", "n_train": None}, "mapping='free' cannot place further samples"),
        ({"metric": "precomputed"}, "metric='precomputed' does not apply to a Dask collection"),
        ({"init": np.zeros((400, 2))}, "init must not be an array"),
        ({"n_train": 401}, "n_train=401 means 401 samples"),
    ],
)
def test_what_cannot_be_trained_on(options, message):
    X, _ = samples()
    view = clone(VIEWS[0]).fit(X)
    before = view.mapping_
    with pytest.raises(ValueError, match=message):
        view.set_params(**options).fit(cut(X))
    assert view.mapping_ is before


def test_an_interrupt_keeps_the_mapping_so_far(monkeypatch):
    X, _ = samples()
    view = clone(VIEWS[1])

    def step(progress, done, **values):
        if progress.name == "MappedEmbedding" and done == 4:
            raise KeyboardInterrupt

    monkeypatch.setattr(Progress, "step", step)
    with pytest.raises(KeyboardInterrupt):
        view.fit(cut(X))
    assert view.n_iter_ == 4
    assert_allclose(view.embedding_.compute(), view.transform(X))


def test_a_stored_view_has_no_data():
    X, _ = samples()
    view = clone(VIEWS[0]).fit(cut(X))
    again = pickle.loads(pickle.dumps(view))
    assert not hasattr(again, "embedding_")
    assert_array_equal(again.transform(X), view.transform(X))
    assert_array_equal(again.get_feature_names_out(), ["mappedembedding0", "mappedembedding1"])
    assert_allclose(again.transform(cut(X)).compute(), view.embedding_.compute())
    view.fit(X[:60])
    assert isinstance(view.embedding_, np.ndarray)


@pytest.mark.parametrize(
    "view",
    [
        Charting(n_charts=4, n_init=1, random_state=0),
        OutOfSample(TSNE(perplexity=10, max_iter=50, random_state=0)),
        MappedEmbedding(mapping="free", cost="sammon", max_iter=10, random_state=0),
    ],
    ids=lambda view: type(view).__name__,
)
def test_other_views_place_samples_lazily(view):
    X, _ = samples(np.float32)
    view.fit(X[:60])
    lazy, whole = view.transform(cut(X)), view.transform(X)
    assert lazy.chunks == (SIZES, (2,))
    assert lazy.dtype == whole.dtype
    tol = 1e-4 if isinstance(view, Charting) else 0.02 * np.ptp(whole)  # a search ends when little is to be gained
    assert_allclose(lazy.compute(), whole, rtol=0, atol=tol)


def test_positions_are_written_partition_by_partition(tmp_path):
    X, _ = samples()
    view = clone(VIEWS[0]).fit(X)
    lazy, other = view.transform(cut(X)), view.transform(da.from_array(X, chunks=(150, 4)))
    dd.from_dask_array(lazy, columns=["x", "y"]).to_parquet(tmp_path / "view")
    assert_array_equal(pd.read_parquet(tmp_path / "view").to_numpy(), lazy.compute())
    assert_allclose(lazy.compute(), view.transform(X), rtol=1e-10)  # products of other sizes are rounded otherwise
    assert len(list((tmp_path / "view").glob("*.parquet"))) == len(SIZES)
    zarr = pytest.importorskip("zarr")
    other.to_zarr(tmp_path / "view.zarr")
    assert_array_equal(zarr.open_array(tmp_path / "view.zarr")[:], other.compute())
