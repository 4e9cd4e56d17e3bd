"""What maps of dissimilarities take, matrices, files, strings, sequences, functions; and what they refuse."""

import pickle
import tracemalloc
from functools import partial

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist, squareform
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning

from protolearn import (
    MedianKMeans,
    MedianNeuralGas,
    MedianSOM,
    PairwiseAnnealing,
    RelationalKMeans,
    RelationalNeuralGas,
    RelationalSOM,
)
from protolearn.dissimilarities import Dissimilarities, pairwise
from protolearn.maps import Patches
from protolearn.relational import _objects

N = 60
MAPS = [
    MedianKMeans(4, random_state=0),
    MedianNeuralGas(4, max_iter=15, random_state=0),
    MedianSOM((2, 2), max_iter=15, random_state=0),
    RelationalKMeans(4, max_iter=15, random_state=0),
    RelationalNeuralGas(4, max_iter=15, random_state=0),
    RelationalSOM((2, 2), max_iter=15, random_state=0),
    PairwiseAnnealing(4, max_iter=15, random_state=0),
]
each_map = pytest.mark.parametrize("estimator", MAPS, ids=repr)
some_maps = pytest.mark.parametrize("estimator", [MAPS[0], MAPS[4], MAPS[5]], ids=repr)
WITHOUT_SWAPS = [clone(one).set_params(swap=False) if "swap" in one.get_params() else one for one in MAPS]
each_map_without_swaps = pytest.mark.parametrize("estimator", WITHOUT_SWAPS, ids=repr)
WORDS = ["kitten", "kitchen", "mitten", "bitten", "castle", "cattle", "rattle", "battle", "stone", "phone", "shone", ""]


def distances(seed=0, n=N):
    X, _ = make_blobs(n, 3, centers=4, cluster_std=2.0, random_state=seed)
    return cdist(X, X)


def shrunk(estimator, n):
    """Return the map with n prototypes."""
    name, value = ("lattice", (1, n)) if hasattr(estimator, "lattice") else ("n_prototypes", n)
    return clone(estimator).set_params(**{name: value})


# Stored dissimilarities


def as_list(D, folder):
    return D.tolist()


def as_frame(D, folder):
    return pd.DataFrame(D)


def as_source(D, folder):
    return Dissimilarities(D)


def as_fortran(D, folder):
    return np.asfortranarray(D)


def as_strided(D, folder):
    return np.repeat(np.repeat(D, 2, axis=0), 2, axis=1)[::2, ::2]


def as_memory_map(D, folder):
    np.save(folder / "D.npy", D)
    return np.load(folder / "D.npy", mmap_mode="r")


def as_hdf5(D, folder, **options):
    h5py = pytest.importorskip("h5py")
    with h5py.File(folder / "D.h5", "w") as file:
        file.create_dataset("D", data=D, **options)
    return h5py.File(folder / "D.h5", "r")["D"]


def as_zarr(D, folder):
    zarr = pytest.importorskip("zarr")
    stored = zarr.create_array(str(folder / "D.zarr"), shape=D.shape, chunks=(7, 11), dtype=D.dtype)
    stored[:] = D
    return stored


def as_condensed(D, folder):
    return Dissimilarities(squareform(D, checks=False))


def as_map_of_condensed(D, folder):
    return Dissimilarities(as_memory_map(squareform(D, checks=False), folder))


def as_source_of_hdf5(D, folder):
    return Dissimilarities(as_hdf5(D, folder, chunks=(7, 11)))


STORED = [as_list, as_frame, as_source, as_fortran, as_strided, as_memory_map, as_hdf5, as_zarr, as_source_of_hdf5]
STORED += [as_condensed, as_map_of_condensed]


@pytest.mark.pairwise(estimator=[MAPS[1], MAPS[4]], patch_size=[None, 20], store=STORED)
def test_stored_dissimilarities_equal_the_array(store, patch_size, estimator, tmp_path):
    D = distances()
    expected = clone(estimator).set_params(patches__size=patch_size).fit(D)
    fitted = clone(estimator).set_params(patches__size=patch_size).fit(store(D, tmp_path))
    assert_allclose(fitted.transform(D), expected.transform(D), atol=1e-12)
    assert_array_equal(fitted.labels_, expected.labels_)
    assert_array_equal(fitted.kept_, expected.kept_)
    assert fitted.n_features_in_ == N
    again = pickle.loads(pickle.dumps(fitted))
    assert_array_equal(again.predict(D), expected.labels_)


@pytest.mark.pairwise(
    estimator=WITHOUT_SWAPS,
    store=[as_memory_map, as_hdf5, as_condensed, as_map_of_condensed],
    magnification=[0.0, 0.5, "optimal"],
)
def test_dissimilarities_too_many_for_memory_are_read_by_rows(estimator, store, magnification, tmp_path, monkeypatch):
    D = distances()
    estimator = clone(estimator).set_params(magnification=magnification)
    expected = clone(estimator).fit(D)
    monkeypatch.setattr(_objects, "MOST_BYTES", 8 * N)
    monkeypatch.setattr(_objects, "UNPACKED_BYTES", 8 * N)
    fitted = clone(estimator).fit(store(D, tmp_path))
    assert_allclose(fitted.transform(D), expected.transform(D), atol=1e-9)
    assert_array_equal(fitted.labels_, expected.labels_)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_squares_in_a_file_are_used_where_they_are(dtype, tmp_path):
    D = distances(n=1000).astype(dtype)
    model = RelationalNeuralGas(4, squared=True, max_iter=3, random_state=0)
    expected = clone(model).fit(D**2)
    stored = as_memory_map(D**2, tmp_path)
    fitted = clone(model).fit(stored)  # loops are compiled
    tracemalloc.start()
    model.fit(stored)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < D.nbytes / 2
    assert_array_equal(fitted.labels_, expected.labels_)


@pytest.mark.parametrize("vector", [np.ones(5), ["a", "b", "c"], np.array(["a"])])
def test_vectors_that_are_not_condensed_are_refused(vector):
    with pytest.raises(ValueError, match=f"condensed vector.*got a vector of {len(vector)}. For objects choose"):
        Dissimilarities(vector)


@pytest.mark.parametrize("n", [1, 2, 3, 7])
def test_condensed_rows_are_those_of_the_square(n):
    D = distances(n=7)[:n, :n]
    source = Dissimilarities(squareform(D, checks=False))
    every = np.arange(n)
    assert len(source) == n
    assert_array_equal(source.block(every), D)
    assert_array_equal(source.block(every[::-2], every[1:]), D[every[::-2]][:, every[1:]])


@each_map_without_swaps
def test_objects_too_many_for_memory_are_compared_by_rows(estimator, monkeypatch):
    X, _ = make_blobs(N, 3, centers=4, cluster_std=2.0, random_state=0)
    expected = clone(estimator).set_params(metric="euclidean").fit(X)
    monkeypatch.setattr(_objects, "MOST_BYTES", 8 * N)
    fitted = clone(estimator).set_params(metric="euclidean", n_jobs=2).fit(X)
    assert_allclose(fitted.transform(X), expected.transform(X), atol=1e-9)
    assert_array_equal(fitted.labels_, expected.labels_)


@each_map
@pytest.mark.parametrize("value", [np.nan, np.inf, -1.0])
def test_bad_rows_are_noticed_when_they_are_read(estimator, value, tmp_path, monkeypatch):
    D = distances()
    D[3, 4] = D[4, 3] = value
    monkeypatch.setattr(_objects, "MOST_BYTES", 8 * N)
    with pytest.raises(ValueError, match=r"(?i)nan|infinit|negative"):
        clone(estimator).fit(as_memory_map(D, tmp_path))


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int64, np.uint8])
@pytest.mark.parametrize("store", [as_memory_map, as_hdf5])
def test_numbers_of_other_types(dtype, store, tmp_path):
    D = np.round(distances()).astype(dtype)
    for estimator in (MAPS[0], MAPS[4]):
        expected = clone(estimator).fit(D.astype(np.float64))
        assert_array_equal(clone(estimator).fit(D).labels_, expected.labels_)
        assert_array_equal(clone(estimator).fit(store(D, tmp_path)).labels_, expected.labels_)


@each_map
def test_single_precision_is_close_to_double(estimator):
    D = distances()
    double, single = clone(estimator).fit(D), clone(estimator).fit(D.astype(np.float32))
    assert_array_equal(single.labels_, double.labels_)
    assert_allclose(single.transform(D.astype(np.float32)), double.transform(D), rtol=1e-4, atol=1e-3)
    assert_allclose(single.dual_cost_, double.dual_cost_, rtol=1e-5)


def test_input_is_not_changed():
    for estimator in (MAPS[0], MAPS[5]):
        for options in ({}, {"metric": "kernel"}, {"squared": True}, {"patches": Patches(20)}, {"symmetrize": "mean"}):
            D = distances() + (np.eye(N) if options == {"symmetrize": "mean"} else 0)
            given = 10.0 * np.eye(N) + 1.0 if options == {"metric": "kernel"} else D
            before = given.copy()
            fitted = clone(estimator).set_params(**options).fit(given)
            fitted.predict(given)
            assert_array_equal(given, before)


def test_the_source_gives_blocks_and_counts_them(tmp_path):
    D = distances()
    rows, columns = np.array([5, 3, 3, 50]), np.array([59, 0, 7])
    for store in (as_list, as_memory_map, as_hdf5, as_zarr):
        source = Dissimilarities(store(D, tmp_path))
        assert len(source) == N
        assert_array_equal(source.block(rows, columns), D[np.ix_(rows, columns)])
        assert_array_equal(source.block(rows), D[np.ix_(rows, rows)])
        assert source.n_computed == 12 + 16
    words = Dissimilarities(WORDS, "edit", indel=2.0)
    expected = pairwise(WORDS, metric="edit", indel=2.0)
    assert_array_equal(words.block([3, 0], [1, 1, 2]), expected[np.ix_([3, 0], [1, 1, 2])])
    assert_array_equal(words.block([3, 0, 8]), expected[np.ix_([3, 0, 8], [3, 0, 8])])
    assert words.n_computed == 6 + 3


# Objects


def as_tuple(words):
    return tuple(words)


def as_text_array(words):
    return np.array(words)


def as_object_array(words):
    return np.array(words, dtype=object)


def as_series(words):
    return pd.Series(words, index=np.arange(len(words))[::-1])


def as_characters(words):
    return [list(word) for word in words]


def as_source_of_words(words):
    return Dissimilarities(words, "edit")


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@some_maps
@pytest.mark.parametrize(
    "kind", [list, as_tuple, as_text_array, as_object_array, as_series, as_characters, as_source_of_words]
)
def test_words_of_any_kind_equal_their_distances(estimator, kind):
    D = pairwise(WORDS, metric="edit")
    new = ["witten", "wattle", "bone"]
    expected = clone(estimator).fit(D)
    fitted = clone(estimator).set_params(metric="edit").fit(kind(WORDS))
    assert_array_equal(fitted.labels_, expected.labels_)
    to_new = pairwise(new, WORDS, metric="edit")
    asked = as_characters(new) if kind is as_characters else new
    assert_allclose(fitted.transform(asked), expected.transform(to_new), atol=1e-12)
    assert_array_equal(fitted.predict(kind(WORDS)), expected.labels_)
    assert fitted.score(asked) == expected.score(to_new)


METRICS = {
    "hamming": (["abba", "abca", "bbbb", "cabb", "baab", "aaaa", "bbba"], {}),
    "jaccard": ([{1, 2}, {2, 3}, {1}, {4, 5}, {5}, {4, 6}, {1, 3}], {}),
    "cyclic_edit": ([[0, 90, 10], [90, 0], [270, 15, 3, 20], [5], [8, 9, 200], [7, 300], [0, 1]], {"indel": 60}),
    "ncd": (["a b c d " * 9, "a b c e " * 9, "xyz w " * 9, "xyw z " * 9, "q" * 50, "qr" * 30, "p" * 9], {}),
    "dtw": ([np.arange(5.0), np.arange(7.0), np.ones(3), np.zeros(4), np.ones(6), np.arange(3.0), np.ones(2)], {}),
}


@pytest.mark.parametrize("table", [pd.DataFrame({"word": WORDS}), np.array(WORDS)[:, None]], ids=["frame", "array"])
def test_a_column_of_words_is_not_taken_for_sequences_of_one_symbol(table):
    expected = MedianKMeans(4, metric="edit", random_state=0).fit(WORDS)
    try:
        fitted = MedianKMeans(4, metric="edit", random_state=0).fit(table)
    except ValueError as error:
        assert "column" in str(error)  # noqa: PT017
    else:
        assert_array_equal(fitted.labels_, expected.labels_)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("metric", METRICS)
def test_named_metrics_equal_their_matrix(metric):
    objects, params = METRICS[metric]
    D = pairwise(objects, metric=metric, **params)
    for estimator in (MedianKMeans(2, random_state=0), RelationalNeuralGas(2, max_iter=10, random_state=0)):
        fitted = clone(estimator).set_params(metric=metric, metric_params=params).fit(objects)
        assert_array_equal(fitted.labels_, clone(estimator).fit(D).labels_)
        to_others = pairwise(objects[:3], objects, metric=metric, **params)
        assert_allclose(fitted.transform(objects[:3]), clone(estimator).fit(D).transform(to_others), atol=1e-12)


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "pearson", "tanimoto"])
def test_metrics_of_vectors(metric):
    X = np.random.default_rng(0).random((40, 5))
    D = pairwise(X, metric=metric)
    fitted = RelationalNeuralGas(4, max_iter=10, random_state=0, metric=metric).fit(pd.DataFrame(X))
    assert_array_equal(fitted.labels_, RelationalNeuralGas(4, max_iter=10, random_state=0).fit(D).labels_)
    assert fitted.n_features_in_ == 5
    with pytest.raises(ValueError, match="4 features, but RelationalNeuralGas is expecting 5"):
        fitted.predict(X[:, :4])


def scaled_difference(a, b, scale=1.0):
    return scale * abs(len(a) - len(b))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_function_with_parameters():
    lengths = np.array([len(word) for word in WORDS], float)
    D = 3.0 * np.abs(lengths[:, None] - lengths)
    for metric, params in ((scaled_difference, {"scale": 3.0}), (partial(scaled_difference, scale=3.0), None)):
        fitted = MedianKMeans(3, metric=metric, metric_params=params, random_state=0).fit(WORDS)
        assert_array_equal(fitted.labels_, MedianKMeans(3, random_state=0).fit(D).labels_)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_objects_can_be_anything():
    class Graph:
        def __init__(self, edges):
            self.edges = frozenset(edges)

    graphs = [Graph([(0, 1)]), Graph([(0, 1), (1, 2)]), Graph([(3, 4)]), Graph([(3, 4), (4, 5)])]
    fitted = MedianKMeans(2, metric=differing_edges, random_state=0).fit(graphs)
    assert fitted.labels_[0] == fitted.labels_[1] != fitted.labels_[2] == fitted.labels_[3]
    assert fitted.predict([Graph([(4, 5)])]) == fitted.labels_[2]


def differing_edges(a, b):
    return len(a.edges ^ b.edges)


# Degenerate, but allowed


@each_map
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_all_objects_equal(estimator):
    fitted = clone(estimator).fit(np.zeros((10, 10)))
    assert_array_equal(fitted.labels_, 0)
    assert_allclose(fitted.transform(np.zeros((3, 10))), 0.0)
    assert fitted.dual_cost_ == 0.0
    assert fitted.score(np.zeros((3, 10))) == 0.0


@each_map
def test_equal_objects_are_warned_of(estimator):
    D = np.kron(distances(n=2), np.ones((5, 5)))
    with pytest.warns(ConvergenceWarning, match="2 distinct objects for 4 prototypes"):
        clone(estimator).set_params(init="k-means++").fit(D)


@each_map
def test_one_object(estimator):
    fitted = shrunk(estimator, 1).fit([[0.0]])
    assert_array_equal(fitted.labels_, [0])
    assert_allclose(fitted.transform([[2.0], [0.0]]), [[4.0], [0.0]])
    assert_array_equal(fitted.prototype_examples_, [[0]])
    assert shrunk(estimator, 1).set_params(metric="edit").fit(["one"]).predict(["two", "three"]).tolist() == [0, 0]


@each_map
def test_as_many_prototypes_as_objects(estimator):
    D = distances(n=4)
    fitted = clone(estimator).set_params(init="random").fit(D)
    assert fitted.prototype_examples_.shape == (4, 4)
    if not isinstance(estimator, RelationalSOM | PairwiseAnnealing):
        assert sorted(fitted.labels_) == [0, 1, 2, 3]
        assert_allclose(fitted.transform(D).min(axis=1), 0.0, atol=1e-6)


@each_map
def test_duplicates_belong_together(estimator):
    twice = np.repeat(np.arange(20), 2)
    fitted = clone(estimator).fit(distances(n=20)[np.ix_(twice, twice)])
    assert_array_equal(fitted.labels_[::2], fitted.labels_[1::2])
    if hasattr(fitted, "prototype_indices_"):
        assert len(set(twice[fitted.prototype_indices_])) == 4


@each_map
def test_negative_squares_are_allowed(estimator):
    X, _ = make_blobs(40, 3, centers=4, random_state=0)
    S = cdist(X[:, :2], X[:, :2], "sqeuclidean") - 0.9 * cdist(X[:, 2:], X[:, 2:], "sqeuclidean")
    assert (S < 0).any()
    fitted = clone(estimator).set_params(squared=True).fit(S)
    assert np.isfinite(fitted.transform(S)).all()
    assert_array_equal(fitted.predict(S), fitted.labels_)
    assert fitted.score(S) <= 0


@each_map
@pytest.mark.parametrize("init", ["k-means++", "random"])
def test_negative_squares_are_not_taken_for_equal_objects(estimator, init, recwarn):
    X, _ = make_blobs(40, 3, centers=4, random_state=0)
    S = cdist(X[:, :2], X[:, :2], "sqeuclidean") - 0.9 * cdist(X[:, 2:], X[:, 2:], "sqeuclidean")
    shrunk(estimator, 8).set_params(squared=True, init=init).fit(S)
    warned = [one for one in recwarn if issubclass(one.category, ConvergenceWarning)]
    assert not [one for one in warned if "distinct" in str(one.message)]


def test_symmetrize_takes_the_mean():
    rng = np.random.default_rng(0)
    D = rng.random((30, 30))
    mean = (D + D.T) / 2 * (1 - np.eye(30))
    K = D @ D.T + 0.01 * rng.random((30, 30))
    for estimator in (MAPS[0], MAPS[4]):
        fitted = clone(estimator).set_params(symmetrize="mean").fit(D)
        assert_array_equal(fitted.labels_, clone(estimator).fit(mean).labels_)
        kernel = clone(estimator).set_params(symmetrize="mean", metric="kernel").fit(K)
        assert_array_equal(kernel.labels_, clone(estimator).set_params(metric="kernel").fit((K + K.T) / 2).labels_)
        magnified = clone(estimator).set_params(symmetrize="mean", magnification=0.5).fit(D)
        assert_array_equal(magnified.labels_, clone(estimator).set_params(magnification=0.5).fit(mean).labels_)


def one_way(a, b):
    """Depends on the order, and on nothing but its objects."""
    return abs(a - b) + 0.3 * max(a - b, 0.0) + 0.1


@some_maps
@pytest.mark.parametrize("patch_size", [None, 12])
def test_functions_are_called_for_both_orders_if_their_mean_is_asked_for(estimator, patch_size):
    """So results are those of the matrix of means, whatever the order of the objects."""
    numbers = np.random.default_rng(0).normal(size=40).round(3).tolist()
    mean = np.array([[0.0 if a == b else (one_way(a, b) + one_way(b, a)) / 2 for b in numbers] for a in numbers])
    asked = clone(estimator).set_params(symmetrize="mean", patches__size=patch_size)
    fitted = clone(asked).set_params(metric=one_way).fit(numbers)
    expected = asked.fit(mean)
    assert_array_equal(fitted.labels_, expected.labels_)
    assert_allclose(fitted.transform(numbers), expected.transform(mean), atol=1e-9)
    assert_allclose(pairwise(numbers, metric=one_way, symmetrize="mean"), mean)
    assert_allclose(pairwise(numbers[:5], numbers[3:], metric=one_way, symmetrize="mean"), mean[:5, 3:])


@pytest.mark.parametrize("n", [2, 5, 40])
@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda a, b: max(a - b, 0.0), r"\(X\[\d+\], X\[\d+\]\) is .*, but .*symmetrize=\"mean\""),
        (lambda a, b: abs(a - b) + 1.0, r"is 1, not 0.*symmetrize=\"mean\""),
    ],
    ids=["asymmetric", "diagonal"],
)
def test_functions_that_are_not_symmetric_are_refused(function, message, n):
    numbers = list(range(n))
    with pytest.raises(ValueError, match=message):
        RelationalKMeans(2, metric=function, random_state=0).fit(numbers)
    with pytest.raises(ValueError, match=message):
        RelationalKMeans(2, metric=function, patches=Patches(3), random_state=0).fit(numbers)
    with pytest.raises(ValueError, match=message):
        pairwise(numbers, metric=function)


def test_a_symmetric_function_is_called_once_for_each_pair():
    calls = []

    def counted(a, b):
        calls.append((a, b))
        return abs(a - b)

    pairwise(list(range(100)), metric=counted)
    tried = 24 * 2 + 8  # whether it is symmetric, on some
    assert len(calls) == 100 * 99 / 2 + tried


# Refused


def changed(i, j, value, both=True):
    D = distances()
    D[i, j] = value
    if both:
        D[j, i] = value
    return D


BAD_MATRICES = [
    (changed(3, 4, np.nan), "NaN"),
    (changed(3, 4, np.inf), "infinity|infinite"),
    (changed(3, 4, -2.0), "objects 3 and 4 is -2.*squared=True"),
    (changed(3, 4, 99.0, both=False), 'objects 3 and 4 is 99.*symmetrize="mean"'),
    (changed(7, 7, 0.5), 'object 7 to itself is 0.5.*symmetrize="mean"'),
    (distances()[:, :20], "square"),
    (distances()[0], "2D"),
    (distances()[None], "(?i)dim"),
    (np.exp(-distances()), 'kernel.*metric="kernel"'),
    (np.empty((0, 0)), "0 sample"),
    ([["a", "b"], ["b", "a"]], "metric='edit'"),
    (WORDS, "metric='edit'"),
    (np.array(WORDS), "metric='edit'"),
    (1e200 * distances(), "too large.*rescale"),
    (1j * distances(), "(?i)complex"),
]


@some_maps
@pytest.mark.parametrize(("D", "message"), BAD_MATRICES, ids=[message for _, message in BAD_MATRICES])
def test_bad_matrices(estimator, D, message):
    with pytest.raises(ValueError, match=message):
        clone(estimator).fit(D)


@pytest.mark.parametrize("options", [{"squared": True}, {"metric": "kernel"}])
@some_maps
def test_numbers_too_large_to_be_added(estimator, options):
    X, _ = make_blobs(N, 3, centers=4, random_state=0)
    huge = X @ X.T if "metric" in options else cdist(X, X)
    with pytest.raises(ValueError, match=r"too large.*rescale"):
        clone(estimator).set_params(**options).fit(1.7e308 / np.abs(huge).max() * huge)


BAD_COLUMNS = [
    (changed(3, 4, np.nan), "NaN"),
    (changed(3, 4, -2.0), "(?i)negative"),
    (changed(3, 4, 99.0, both=False), 'symmetrize="mean"'),
    (changed(7, 7, 0.5), 'symmetrize="mean"'),
]


@pytest.mark.parametrize(("D", "message"), BAD_COLUMNS, ids=["nan", "negative", "asymmetric", "diagonal"])
def test_bad_dissimilarities_to_landmarks(D, message):
    """As far as they can be seen between landmarks."""
    with pytest.raises(ValueError, match=message):
        RelationalNeuralGas(4, n_landmarks=N - 1, max_iter=5, random_state=0).fit(D)


def test_landmarks_with_a_diagonal_are_repaired():
    gas = RelationalNeuralGas(4, n_landmarks=N - 1, max_iter=5, random_state=0)
    repaired = clone(gas).set_params(symmetrize="mean").fit(distances() + np.eye(N))
    assert_array_equal(repaired.labels_, clone(gas).fit(distances()).labels_)


@each_map
def test_sparse_tables_are_refused(estimator):
    with pytest.raises(TypeError, match=r"(?i)sparse"):
        clone(estimator).fit(csr_array(distances()))


BAD_FILES = [(changed(3, 4, np.nan), "NaN"), (distances()[:, :20], "square"), (distances()[0], "square")]


@pytest.mark.parametrize("store", [as_memory_map, as_hdf5])
@pytest.mark.parametrize(("D", "message"), BAD_FILES, ids=["nan", "oblong", "flat"])
@pytest.mark.parametrize("estimator", [MAPS[0], MAPS[4]], ids=repr)
def test_bad_files(store, D, message, estimator, tmp_path):
    stored = store(D, tmp_path)
    with pytest.raises(ValueError, match=message):
        clone(estimator).fit(stored)
    with pytest.raises(ValueError, match=message):
        clone(estimator).fit(Dissimilarities(stored))


BAD_KERNELS = [
    (distances(), "metric='precomputed'"),
    (changed(3, 4, np.nan), "NaN"),
    (np.triu(np.ones((9, 9))), "symmetrize='mean'"),
    (np.eye(9)[:5], "square"),
]


@pytest.mark.parametrize(("K", "message"), BAD_KERNELS, ids=[message for _, message in BAD_KERNELS])
@pytest.mark.parametrize("estimator", [MAPS[0], MAPS[4]], ids=repr)
def test_bad_kernels(K, message, estimator):
    with pytest.raises(ValueError, match=message):
        clone(estimator).set_params(metric="kernel").fit(K)


def fails_for_long_words(a, b):
    if len(a) + len(b) > 12:
        raise ZeroDivisionError("too long")
    return abs(len(a) - len(b))


def returns_text(a, b):
    return "far"


def returns_negative(a, b):
    return -1.0


def returns_nan(a, b):
    return float("nan")


BAD_OBJECTS = [
    (fails_for_long_words, WORDS, r"fails_for_long_words\(X\[\d+\], X\[\d+\]\) failed: ZeroDivisionError: too long"),
    (returns_text, WORDS, r"returns_text\(.*returned 'far'; it must be a number"),
    (returns_negative, WORDS, "returned -1.0; it must be a number, 0 or more"),
    (returns_nan, WORDS, "returned nan"),
    ("edit", "kitten", "sequence of objects, such as a list of strings; got str"),
    ("edit", [], "X is empty"),
    ("edit", 5, "sequence of objects"),
    ("edit", set(WORDS), "sequence of objects"),
    ("edit", None, "sequence of objects"),
    ("edit", [1.0, 2.0, 3.0, 4.0, 5.0], "(?i)sequence|string|object"),
    ("edit", ["one", None, "three", "four", "five"], r"X\[1\]|None"),
    ("hamming", ["one", "three", "four", "five"], "equal lengths"),
    ("damerau", WORDS, "metric='damerau' must be .*'edit'"),
    (None, WORDS, "metric=None must be"),
    (3, WORDS, "metric=3 must be"),
    ("euclidean", WORDS, "(?i)could not convert|numeric|2D"),
]


@pytest.mark.parametrize(
    ("metric", "objects", "message"), BAD_OBJECTS, ids=[f"{number}" for number in range(len(BAD_OBJECTS))]
)
@pytest.mark.parametrize("estimator", [MAPS[0], MAPS[4]], ids=repr)
def test_bad_objects(metric, objects, message, estimator):
    with pytest.raises(ValueError, match=message):
        clone(estimator).set_params(metric=metric).fit(objects)


def test_unknown_parameters_of_a_metric():
    with pytest.raises(ValueError, match="metric 'edit' has no parameter 'cost'"):
        MedianKMeans(2, metric="edit", metric_params={"cost": 2}).fit(WORDS)


def test_a_source_of_another_metric():
    with pytest.raises(ValueError, match="metric='edit', but X is a source with metric='hamming'"):
        MedianKMeans(2, metric="edit").fit(Dissimilarities(["abc", "abd"], "hamming"))
    with pytest.raises(ValueError, match="metric='precomputed', but X is a source with metric='edit'"):
        MedianKMeans(2).fit(Dissimilarities(WORDS, "edit"))
    with pytest.raises(ValueError, match="sequence"):
        Dissimilarities("kitten", "edit")


@each_map
def test_fewer_objects_than_prototypes(estimator):
    with pytest.raises(ValueError, match="n_samples=3 is fewer than the 4 prototypes"):
        clone(estimator).fit(distances(n=3))
    weights = np.zeros(N)
    weights[:3] = 1.0
    with pytest.raises(ValueError, match="n_samples=3 is fewer than the 4 prototypes"):
        clone(estimator).fit(distances(), sample_weight=weights)


@each_map
def test_bad_new_objects(estimator):
    D = distances()
    fitted = clone(estimator).fit(D)
    for ask in (fitted.predict, fitted.transform, fitted.score):
        with pytest.raises(ValueError, match=f"X has 59 features, but {type(estimator).__name__} is expecting {N}"):
            ask(D[:5, :-1])
        with pytest.raises(ValueError, match="NaN"):
            ask(changed(0, 1, np.nan))
        with pytest.raises(ValueError, match="negative"):
            ask(-D[:5] - 1)
        with pytest.raises(ValueError, match="too large"):
            ask(1e200 * D[:5])
    words = clone(estimator).set_params(metric="edit").fit(WORDS)
    for asked, message in (("kitten", "sequence of objects"), ([], "X is empty"), (3, "sequence of objects")):
        with pytest.raises(ValueError, match=message):
            words.predict(asked)


def test_bad_weights_and_labels():
    D = distances()
    for weights, message in ((np.ones(3), "weight"), (np.full(N, -1.0), "(?i)negative"), (np.zeros(N), "weight")):
        with pytest.raises(ValueError, match=message):
            RelationalNeuralGas(4).fit(D, sample_weight=weights)
    with pytest.raises(ValueError, match="needs the classes"):
        RelationalNeuralGas(4, label_weight=0.5).fit(D)
    with pytest.raises(ValueError, match="inconsistent"):
        RelationalNeuralGas(4).fit(D, np.zeros(3))


def test_a_failed_fit_loses_nothing():
    D = distances()
    for estimator in MAPS:
        fitted = clone(estimator).fit(D)
        before = fitted.transform(D)
        for bad in (changed(3, 4, np.nan), distances(n=50)[:, :20], changed(3, 4, 9.0, both=False)[:50, :50]):
            with pytest.raises(ValueError, match=r"NaN|square|symmetric"):
                fitted.fit(bad)
            assert_array_equal(fitted.transform(D), before)
            assert_array_equal(fitted.predict(D), fitted.labels_)
