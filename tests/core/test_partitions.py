"""Samples in partitions are the same samples, however they are cut and whoever reads them."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.base import clone

from protolearn import KMeans
from protolearn.core import partitions
from protolearn.core.initialization import (
    distinct_samples,
    drawn_points,
    mean_and_covariance,
    mean_and_variance,
    n_distinct,
    principal_axes,
    resolutions,
    spread_samples,
)
from protolearn.core.partitions import PartitionError, Partitions, read_partitions
from protolearn.core.samples import Samples, labeled
from protolearn.core.statistics import Distinct, Lowest
from protolearn.maps import Patches

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
pd = pytest.importorskip("pandas")


@pytest.fixture(autouse=True)
def one_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


def collection(values, sizes):
    """Return an array in partitions of these sizes."""
    return None if values is None else da.from_array(values, chunks=(tuple(sizes), *values.shape[1:]))


def read(X, y=None, weights=None, sizes=None, **options):
    """Return samples in memory, and the same in partitions."""
    whole = labeled(X, y, weights, 0.0 if y is None else 0.5).present()
    parts = (collection(part, sizes or (len(X),)) for part in (X, y, weights))
    return whole, read_partitions(KMeans(), *parts, reset=True, supervised=y is not None, **options)


def cuts(n):
    """Sizes of partitions, some of them empty, that add up to n."""
    return st.lists(st.integers(0, n), max_size=7).map(lambda bounds: np.diff([0, *sorted(bounds), n]).tolist())


@given(sizes=cuts(60), seed=st.integers(0, 10**6), weighted=st.booleans(), supervised=st.booleans())
@settings(max_examples=25, deadline=None)
def test_a_partitioned_source_is_the_array_source(sizes, seed, weighted, supervised):
    rng = np.random.default_rng(seed)
    X = rng.normal(3.0, 2.0, (60, 3))
    y = np.where(rng.random(60) < 0.3, np.nan, rng.integers(0, 3, 60)) if supervised else None
    weights = rng.integers(0, 3, 60).astype(float) if weighted else None
    with dask.config.set(scheduler="synchronous"):
        whole, parts = read(X, y, weights, sizes)
        options = {"origin": np.ones(3), "scale": np.array([1.0, 2.0, 0.5]), "label_weight": 0.5, "quadratic": True}
        one, many = whole.source(**options), parts.source(**options)
        assert len(parts) == len(whole)
        assert many.n_lifted == one.n_lifted
        assert_allclose(many.mass, one.mass)
        assert_array_equal(many.weights, one.weights)
        for function in (
            lambda chunk: (chunk.weights[:, None] * chunk.lifted).sum(axis=0),
            lambda chunk: chunk.weights @ chunk.filled,
        ):
            assert_allclose(many.sum(function), one.sum(function), rtol=1e-12, atol=1e-12)
        rows = rng.integers(0, len(whole), 5)
        assert_allclose(many.rows(rows), one.rows(rows))
        assert_array_equal(many.picked(rows), one.picked(rows))
        for mine, theirs in zip(
            many.gather(lambda chunk: (chunk.lifted, chunk.weights)),
            one.gather(lambda chunk: (chunk.lifted, chunk.weights)),
        ):
            assert_array_equal(mine, theirs)
        places = many.gather(lambda chunk: (np.arange(chunk.rows.start, chunk.rows.stop),))[0]
        assert_array_equal(places, np.arange(len(whole)))
        if supervised:
            assert_array_equal(parts.classes, whole.classes)
            assert_allclose(parts.label_moments.mean, whole.label_moments.mean)
            assert_allclose(parts.label_moments.variance, whole.label_moments.variance)


@given(sizes=cuts(80), seed=st.integers(0, 10**6))
@settings(max_examples=15, deadline=None)
def test_starts_do_not_depend_on_the_partitioning(sizes, seed):
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(80, 3)), 1)
    with dask.config.set(scheduler="synchronous"):
        whole, parts = read(X, None, rng.integers(0, 3, 80).astype(float), sizes)
        one, many = whole.source(origin=np.ones(3)), parts.source(origin=np.ones(3))
        for moments in (mean_and_variance, mean_and_covariance, lambda source: principal_axes(source, 2)[:2]):
            for mine, theirs in zip(moments(many), moments(one)):
                assert_allclose(mine, theirs, atol=1e-10)
        assert_allclose(resolutions(many), resolutions(one))
        assert n_distinct(many) == n_distinct(one)
        for start in (spread_samples, distinct_samples):
            mine, theirs = (start(source, 4, np.random.RandomState(seed)) for source in (many, one))
            assert_array_equal(mine, theirs)


def test_sums_are_the_same_to_the_last_bit_on_any_scheduler():
    rng = np.random.default_rng(0)
    _, parts = read(rng.normal(size=(500, 4)), None, rng.random(500), [50] * 9 + [0, 50])
    source = parts.source()
    totals = []
    for scheduler in ("synchronous", "threads", "threads"):
        with dask.config.set(scheduler=scheduler):
            totals.append(source.sum(lambda chunk: chunk.weights @ chunk.lifted))
    assert_array_equal(totals[0], totals[1])
    assert_array_equal(totals[0], totals[2])


# Samples too many to be listed


@pytest.fixture
def few_are_listed(monkeypatch):
    monkeypatch.setattr(partitions, "MOST_LISTED", 50)


@pytest.mark.usefixtures("few_are_listed")
@pytest.mark.parametrize("start", [spread_samples, distinct_samples])
def test_samples_that_are_not_listed_are_drawn_by_row(start):
    """The draw depends on the order of the samples, not on the partitions, and is of samples alone."""
    X = np.random.default_rng(0).normal(size=(5000, 2)) + np.repeat(np.arange(5), 1000)[:, None] * 20.0
    chosen = []
    for sizes in ([5000], [1, 0, 2999, 2000], [500] * 10):
        source = read(X, sizes=sizes)[1].source(origin=np.zeros(2))
        assert not source.listed
        chosen.append(start(source, 5, np.random.RandomState(3)))
    assert_array_equal(chosen[0], chosen[1])
    assert_array_equal(chosen[0], chosen[2])
    assert np.isin(chosen[0], X).all()
    if start is spread_samples:
        assert_array_equal(np.sort(np.round(chosen[0][:, 0] / 20)), np.arange(5))


@pytest.mark.usefixtures("few_are_listed")
def test_draws_of_samples_that_are_not_listed_follow_weights():
    n = 20000
    weights = np.where(np.arange(n) < n // 2, 0.5, 1.5)
    source = read(np.arange(n, dtype=float)[:, None], None, weights, [n // 4] * 4)[1].source(origin=np.zeros(1))
    points, equal = drawn_points(source, 1000, np.random.RandomState(0))
    assert len(np.unique(points)) == len(points) == 1000
    assert_array_equal(equal, 1.0)
    share = (points < n // 2).mean()
    assert abs(share - 0.25) < 5 * np.sqrt(0.25 * 0.75 / 1000) + 0.01  # without replacement, of one in twenty


@pytest.mark.usefixtures("few_are_listed")
@pytest.mark.parametrize("copies", [1, 3])
def test_different_samples_are_counted(copies):
    X = np.random.default_rng(0).permutation(
        np.repeat(np.random.default_rng(1).normal(size=(20000, 2)), copies, axis=0)
    )
    assert n_distinct(read(X, sizes=[len(X) // 4] * 4)[1].source()) == 20000
    few = X[:: 100 * copies]
    assert n_distinct(read(few, sizes=[len(few)])[1].source()) == len(np.unique(few, axis=0))


@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 99)), min_size=2, max_size=40), st.integers(1, 10), st.data()
)
@settings(max_examples=50, deadline=None)
def test_the_lowest_keys_add(pairs, most, data):
    keys, values = np.array(pairs, float).T
    cut = data.draw(st.integers(1, len(pairs) - 1))
    halves = [Lowest.of(keys[part], values[part, None], values[part], most) for part in (slice(cut), slice(cut, None))]
    total = halves[0] + halves[1]
    assert_array_equal(total.points[:, 0], values[np.argsort(keys, kind="stable")[:most]])


@given(st.lists(st.integers(0, 30), min_size=2, max_size=60), st.data())
@settings(max_examples=50, deadline=None)
def test_counts_of_codes_add(codes, data):
    codes = np.array(codes, np.uint64)
    cut = data.draw(st.integers(0, len(codes)))
    total = Distinct.of(codes[:cut], 40) + Distinct.of(codes[cut:], 40)
    assert total.number == len(np.unique(codes))


# Reading


def test_every_pass_reads_every_partition_once():
    reads = []
    X = np.random.default_rng(0).normal(size=(70, 2))

    def load(block, block_info=None):
        reads.append(block_info[0]["chunk-location"][0])
        return block

    lazy = collection(X, [10, 20, 40]).map_blocks(load, dtype=float, meta=np.empty((0, 2)))
    parts = read_partitions(KMeans(), lazy, reset=True)
    assert sorted(reads) == [0, 1, 2]
    for _ in range(3):
        reads.clear()
        parts.source().sum(lambda chunk: chunk.weights.sum())
        assert sorted(reads) == [0, 1, 2]
    reads.clear()
    parts.source().rows(np.array([5, 3]))
    assert reads == [0]
    reads.clear()
    gas = KMeans(2, init=X[:2], max_iter=4, tol=0.0).fit(lazy)
    assert sorted(reads) == sorted([0, 1, 2] * (len(gas.cost_history_) + 2))  # the survey, and the receptive fields
    reads.clear()
    gas.labels_[:10].compute()
    assert reads == [0]


@pytest.mark.parametrize(
    ("value", "problem"), [(np.nan, "contains NaN, in row 1 of it"), (np.inf, "contains infinity, in row 1 of it")]
)
def test_a_partition_names_itself(value, problem):
    X = np.zeros((60, 2))
    X[17 * 3 + 1, 1] = value
    with pytest.raises(PartitionError, match=f"Partition 17 of X {problem}"):
        KMeans(2).fit(collection(X, [3] * 20))


def test_a_partition_that_cannot_be_read_names_itself():
    def load(block, block_info=None):
        if block_info[0]["chunk-location"][0] == 3:
            raise OSError("no such file")
        return block

    lazy = collection(np.zeros((60, 2)), [10] * 6).map_blocks(load, dtype=float, meta=np.empty((0, 2)))
    with pytest.raises(PartitionError, match=r"Partition 3 of X cannot be read.*no such file"):
        KMeans(2).fit(lazy)


@pytest.mark.parametrize("scheduler", ["synchronous", "threads"])
def test_a_partition_that_cannot_be_read_any_more_names_itself(scheduler):
    """The file was there when learning began, and is gone in the third epoch."""
    X, reads = np.random.default_rng(0).normal(size=(60, 2)), []

    def load(block, block_info=None):
        number = block_info[0]["chunk-location"][0]
        reads.append(number)
        if number == 3 and reads.count(3) > 3:
            raise OSError("no such file")
        return block

    model = KMeans(2, init=X[:2], max_iter=9, tol=0.0).fit(X)
    before = model.prototypes_
    lazy = collection(X, [10] * 6).map_blocks(load, dtype=float, meta=np.empty((0, 2)))
    with (
        dask.config.set(scheduler=scheduler),
        pytest.raises(PartitionError, match=r"Partition 3 of X cannot be read.*no such file"),
    ):
        model.fit(lazy)
    assert reads.count(5) in (2, 3, 4)  # those after it are not read again to find it
    assert model.prototypes_ is before


def test_every_pass_reads_every_part_of_a_frame_once():
    reads = []

    def load(number):
        reads.append(number)
        return pd.DataFrame({"a": np.arange(5.0) * number, "b": np.arange(5) % 2, "w": 1.0})

    lazy = dd.from_map(load, range(6), meta=load(0))
    table = lazy.to_dask_array(lengths=[5] * 6)
    model = KMeans(2, init=[[0.0, 0.0], [9.0, 1.0]], max_iter=3, tol=0.0)
    for X, weights in ((lazy[["a", "b"]], None), (lazy[["a", "b"]], lazy["w"]), (table[:, :2], table[:, 2])):
        reads.clear()
        model.fit(X, None, weights)
        assert sorted(reads) == sorted([*range(6)] * (len(model.cost_history_) + 2))  # the survey, and the fields
        reads.clear()
        model.score(X, None, weights)
        assert sorted(reads) == list(range(6))
        reads.clear()
        model.predict(X).compute()
        assert sorted(reads) == list(range(6))


@pytest.mark.filterwarnings("ignore:The inplace keyword")
def test_small_files_that_dask_joins(tmp_path):
    """Dask joins small files, more of them the fewer columns are asked for: all that is read is cut alike."""
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(240, 9)), columns=list("abcdefghi"))
    dd.from_pandas(frame.assign(y=np.arange(240) % 2, w=1.0), npartitions=12).to_parquet(tmp_path / "rows")
    lazy, columns = dd.read_parquet(tmp_path / "rows"), ["a", "b", "c"]
    assert len(lazy["y"].to_delayed()) < 12  # which is what this is about
    model = KMeans(3, random_state=0, label_weight=0.3)
    array = da.from_array(np.arange(240) % 2, chunks=20)
    for y, weights in ((lazy["y"], lazy["w"]), (lazy["y"], None), (array, None)):
        whole = KMeans(3, random_state=0, label_weight=0.3).fit(frame[columns], np.arange(240) % 2)
        assert_allclose(model.fit(lazy[columns], y, weights).prototypes_, whole.prototypes_)
        assert_array_equal(model.labels_.compute(), whole.labels_)
        assert_array_equal(model.predict(lazy[columns]).compute(), whole.labels_)
        assert_allclose(model.score(lazy[columns], None, weights), whole.score(frame[columns]))


ROWS = np.random.default_rng(0).normal(size=(12, 3))
D = da.from_array(ROWS, chunks=(4, 3))
FRAME = pd.DataFrame({"a": np.arange(12.0), "b": list("xy") * 6, "when": pd.Timestamp("2020-01-01")})


@pytest.mark.parametrize(
    ("X", "y", "weights", "message"),
    [
        (da.from_array(ROWS, chunks=(4, 2)), None, None, r"cut along its columns, into 2 chunks.*rechunk"),
        (D[:, 0], None, None, "of 1 dimensions"),
        (D.astype(object), None, None, "object"),
        (D.astype(complex), None, None, "complex"),
        (dd.from_pandas(FRAME, npartitions=2), None, None, "columns that are not numbers: 'b'.*'when'"),
        (D, np.arange(12), None, "y must be a Dask collection with the partitions of X, got ndarray"),
        (D, da.from_array(np.arange(12) % 2, chunks=6), None, "y has 2 partitions, and X has 3"),
        (
            D,
            da.from_array(np.arange(12) % 2, chunks=((4, 5, 3),)),
            None,
            "Partition 1 of X has 4 rows, and that of y has 5",
        ),
        (D, None, da.zeros(12, chunks=4), "sums to zero"),
        (D, None, -da.ones(12, chunks=4), "Partition 0 of X cannot be used: sample_weight contains negative"),
        (D, None, da.full(12, np.nan, chunks=4), "Partition 0 of X cannot be used: sample_weight contains NaN"),
        (D, da.full(12, np.nan, chunks=4), None, "No sample of positive weight has a label"),
        (D[:0], None, None, "no rows"),
        (da.ma.masked_greater(D, 1.0), None, None, r"masked values; fill them in.*da\.ma\.filled"),
        (D.map_blocks(csr_array), None, None, "blocks of type csr_array, float64; give NumPy arrays"),
        (
            dd.from_pandas(FRAME[["a"]].astype(pd.SparseDtype(float)), npartitions=2),
            None,
            None,
            "sparse columns; make them dense",
        ),
        (dd.from_pandas(FRAME["a"], npartitions=2), None, None, "X is a Dask Series of 1 dimensions"),
        (dask.delayed(ROWS), None, None, "X is a Delayed.*; give a Dask array or data frame"),
        (D, D[:, :1], None, "y has 2 dimensions; give one value for each row"),
        (D, None, D[:, :1], "sample_weight has 2 dimensions"),
        (D, D[:, 0], None, "Partition 0 of X cannot be used: Unknown label type: continuous"),
        (
            D.map_blocks(lambda block: np.full(block.shape, "x"), dtype=float, meta=np.empty((0, 0))),
            None,
            None,
            "Partition 0 of X cannot be used: could not convert string to float",
        ),
        (
            D.map_blocks(lambda block: block[:, : 2 + (block == ROWS[0, 0]).any()], dtype=float, meta=np.empty((0, 0))),
            None,
            None,
            r"Partition 1 of X has blocks of shape \(4, 2\), and X has 3 columns",
        ),
        (D * 1e-200, None, None, "too small for float64"),
        (D * 1e200, None, None, "too large for float64"),
    ],
)
def test_what_cannot_be_learned_from(X, y, weights, message):
    with pytest.raises(ValueError, match=message):
        KMeans(2, label_weight=0.0 if y is None else 0.5).fit(X, y, weights)


@pytest.mark.parametrize("kind", ["Float32", "Float64", "double[pyarrow]", "float[pyarrow]"])
def test_columns_that_can_be_missing(kind):
    frame = pd.DataFrame(ROWS, columns=list("abc")).astype(kind)
    model = KMeans(2, random_state=0).fit(dd.from_pandas(frame, npartitions=3))
    assert_allclose(model.prototypes_, KMeans(2, random_state=0).fit(frame).prototypes_, rtol=1e-5)
    assert_array_equal(model.predict(dd.from_pandas(frame, npartitions=3)).compute(), model.predict(frame))
    frame.iloc[7, 1] = pd.NA
    broken = dd.from_pandas(frame, npartitions=3)
    with pytest.raises(PartitionError, match="Partition 1 of X contains NaN, in row 3 of it"):
        model.fit(broken)
    with pytest.raises(PartitionError, match="Partition 1 of X cannot be used: Input X contains NaN"):
        model.predict(broken).compute()


@pytest.mark.parametrize("dtype", [np.float16, np.int8, np.uint64, np.longdouble, ">f8", bool])
def test_other_kinds_of_numbers(dtype):
    X = np.abs(10 * ROWS).astype(dtype)
    blocks = da.from_array(np.asfortranarray(X), chunks=(5, 3))
    assert_allclose(KMeans(2, init=ROWS[:2]).fit(blocks).prototypes_, KMeans(2, init=ROWS[:2]).fit(X).prototypes_)


def test_lazy_results_are_not_collected_to_data_frames():
    model = KMeans(2, random_state=0).fit(D)
    with pytest.raises(ValueError, match=r"set_output\(transform='pandas'\) would collect all partitions"):
        model.set_output(transform="pandas").transform(D)
    assert isinstance(model.transform(ROWS), pd.DataFrame)
    assert isinstance(model.predict(D), da.Array)


def test_sizes_of_partitions_need_not_be_known():
    y = da.from_array(np.arange(12) % 2, chunks=4)
    mask = da.from_array(np.arange(12) % 3 > 0, chunks=4)
    kept = np.arange(12) % 3 > 0
    mine = KMeans(2, label_weight=0.5, random_state=0).fit(D[mask], y[mask])
    theirs = KMeans(2, label_weight=0.5, random_state=0).fit(ROWS[kept], (np.arange(12) % 2)[kept])
    assert_allclose(mine.prototypes_, theirs.prototypes_)
    assert mine.labels_.shape == (8,)
    with pytest.raises(PartitionError, match="Partition 0 of X has 2 rows, and that of y has 4"):
        KMeans(2, label_weight=0.5).fit(D[mask], y)


def test_columns_of_one_file(tmp_path):
    """Dask joins partitions of which few columns are read: those of samples, labels and weights alike."""
    pytest.importorskip("pyarrow")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(100, 20))).rename(columns="c{}".format).assign(y=np.arange(100) % 3, w=1.0)
    dd.from_pandas(frame, npartitions=10).to_parquet(tmp_path)
    lazy, features = dd.read_parquet(tmp_path), [f"c{i}" for i in range(20)]
    model = KMeans(3, label_weight=0.5, random_state=0)
    for names in (features, features[:1]):
        mine = clone(model).fit(lazy[names], lazy["y"], lazy["w"])
        assert_allclose(mine.prototypes_, clone(model).fit(frame[names], frame["y"], frame["w"]).prototypes_)
        assert_array_equal(mine.labels_.compute(), mine.predict(frame[names]))
        assert_allclose(mine.score(lazy[names], None, lazy["w"]), mine.score(frame[names]))


def test_labels_that_follow_from_samples_are_read_with_them():
    reads = []

    def load(block_info=None):
        reads.append(block_info[None]["chunk-location"][0])
        return np.random.default_rng(reads[-1]).normal(size=(20, 3))

    lazy = da.map_blocks(load, chunks=((20, 20, 20), (3,)), dtype=float, meta=np.empty((0, 3)))
    reads.clear()
    parts = read_partitions(KMeans(), lazy[:50, :2], lazy[:50, 2] > 0, reset=True, supervised=True)
    assert sorted(reads) == [0, 1, 2]
    reads.clear()
    parts.source().sum(lambda chunk: chunk.weights.sum())
    assert sorted(reads) == [0, 0, 1, 1, 2, 2]  # the sums over labels, and these


def test_too_few_rows():
    with pytest.raises(ValueError, match="n_samples=12 is fewer than the 13 prototypes"):
        KMeans(13).fit(D)
    with pytest.raises(ValueError, match="n_samples=12 is fewer than the 13 prototypes"):
        KMeans(13, patches=Patches(4)).fit(D)


def test_what_needs_no_dask_does_not_import_it():
    code = (
        "import sys, numpy as np; from protolearn import SOM, GMLVQ;"
        "X = np.random.default_rng(0).normal(size=(20, 2)); SOM((2, 2)).fit(X).predict(X);"
        "print(sorted({'dask', 'distributed'} & set(sys.modules)))"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.strip() == "[]"


def test_joined_samples_come_last():
    whole, parts = read(ROWS, np.arange(12) % 2, None, [4, 8])
    past = Samples(np.ones((2, 3)), np.array([2.0, 5.0]), np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([1, 7]))
    both = parts.joined(past)
    expected = whole.joined(past)
    assert isinstance(both, Partitions)
    assert_array_equal(both.classes, expected.classes)
    assert_allclose(both.heaviest, 5.0)
    one, many = expected.source(origin=np.zeros(3)), both.source(origin=np.zeros(3))
    assert_array_equal(many.rows(np.arange(14)), one.rows(np.arange(14)))
    assert_allclose(many.mass, one.mass)
    new, old = both.parted(12)
    assert (len(new), len(old)) == (12, 2)
