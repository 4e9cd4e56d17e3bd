"""Data with more features than samples, and what does not fit in memory and says so before it is tried."""

import tracemalloc
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.distance import pdist
from sklearn.exceptions import ConvergenceWarning

import protolearn as pl
from protolearn.core import validation
from protolearn.core.fitted import edge_lengths
from protolearn.core.lattices import chain, hexagonal
from protolearn.core.numerics import row_space
from protolearn.core.validation import require_memory
from protolearn.dissimilarities import geodesic, pairwise
from protolearn.embedding.charts import _local_directions
from protolearn.embedding.costs import tsne
from protolearn.lvq import SGD
from protolearn.lvq._lfda import LinearMetric
from protolearn.maps import Online
from protolearn.metrics import coranking_matrix, topographic_product

rng = np.random.default_rng(0)
ISOMETRY = np.linalg.qr(rng.normal(size=(90, 5)))[0].T


@pytest.fixture(scope="module")
def narrow():
    """Two classes of 20 samples in 5 dimensions, and an isometry into 90."""
    X, y = rng.normal(size=(40, 5)) * [1.0, 2.0, 1.0, 3.0, 1.0], np.repeat([0, 1], 20)
    X[y == 1, :2] += 1.5
    return X, y, ISOMETRY


METRICS = {
    "LFDA": pl.LFDA(n_neighbors=3),
    "LFDA, two directions": pl.LFDA(2, n_neighbors=3, scaling="plain"),
    "LMNN": pl.LMNN(max_iter=5),
    "LMNN, two directions": pl.LMNN(2, max_iter=5),
    "LMNN, convex": pl.LMNN(method="psd", init=ISOMETRY, max_iter=5),
    "LMNN, given": pl.LMNN(init=np.random.default_rng(1).normal(size=(2, 90)), max_iter=5),
}


@pytest.mark.parametrize("name", METRICS)
def test_metrics_in_the_space_of_the_samples_are_those_of_all_features(name, narrow, monkeypatch):
    X, y, isometry = narrow
    wide = X @ isometry + np.linspace(-1.0, 1.0, 90)
    model = METRICS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        few = model.fit(wide, y).transform(wide)
        beside = model.components_ - model.components_ @ isometry.T @ isometry
        monkeypatch.setattr(LinearMetric, "_within", lambda self, X: (X, None))
        many = model.fit(wide, y).transform(wide)
    assert few.shape[1] == min(many.shape[1], 5)
    assert_allclose(pdist(few), pdist(many), rtol=1e-6)
    assert_allclose(beside, 0.0, atol=1e-8 * np.abs(few).max())


@pytest.mark.parametrize("n_components", [None, 2])
def test_stochastic_gradients_do_not_see_empty_directions(n_components, narrow):
    X, y, isometry = narrow
    model = pl.GMLVQ(solver="sgd", n_components=n_components, metric_init="identity", max_iter=3, random_state=0)
    if n_components is not None:
        model.set_params(metric_init="discriminative")
    few = model.fit(X, y).relevance_matrix_
    many = model.fit(X @ isometry, y)
    assert_allclose(isometry @ many.relevance_matrix_ @ isometry.T, few, atol=1e-9)
    assert many.omega_.shape == (n_components or 5, 90)


def test_rates_of_the_diagonal_belong_to_features(narrow):
    X, y, isometry = narrow
    solver = SGD(metric_learning_rate=0.01, off_diagonal_learning_rate=0.0)
    omega = pl.GMLVQ(solver=solver, max_iter=2, regularization=0.0).fit(X @ isometry, y).omega_
    assert_allclose(np.count_nonzero(np.abs(omega) > 1e-12, axis=1), 1)  # it stays diagonal
    assert omega.shape == (90, 90)


def test_local_directions_of_many_features():
    rng = np.random.default_rng(0)
    X, labels = rng.normal(size=(14, 40)), np.arange(14) % 3
    axes = _local_directions(X, labels, 3, None)
    gaps = X - np.stack([X[labels == i].mean(axis=0) for i in range(3)])[labels]
    assert axes.shape == (3, 11, 40)
    for i, own in enumerate(axes):
        scatter = gaps[labels == i].T @ gaps[labels == i] + 41 * gaps.T @ gaps / len(X)
        values, vectors = np.linalg.eigh(scatter)
        assert_allclose(own @ own.T, np.eye(11), atol=1e-10)
        assert_allclose(np.einsum("md,de,me->m", own, scatter, own), values[::-1][:11], rtol=1e-8)
        assert_allclose(np.abs(np.sum(own[:4] * vectors.T[::-1][:4], axis=1)), 1.0, rtol=1e-6)


def test_row_space_keeps_lengths_and_drops_rounding():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(6, 3)) @ rng.normal(size=(3, 50))
    basis = row_space(rows)
    assert basis.shape == (50, 3)
    assert_allclose(pdist(rows @ basis), pdist(rows))
    assert row_space(np.zeros((2, 4))) is None


@pytest.mark.parametrize(
    "model",
    [
        pl.LMNN(max_iter=3),
        pl.LFDA(),
        pl.GMLVQ(solver="sgd", max_iter=2),
        pl.MappedEmbedding(cost=tsne(perplexity=5), max_iter=5, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_no_matrix_of_all_features_is_formed(model):
    n, d = 40, 1500
    X, y = np.random.default_rng(0).normal(size=(n, d)), np.arange(n) % 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X[:, : 2 * n], y).transform(X[:, : 2 * n])  # compiles what it needs, which takes memory, too
        tracemalloc.start()
        model.fit(X, y).transform(X)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < 8 * d**2 / 2


@pytest.mark.parametrize("lattice", [(40, 40), hexagonal(40, 40), chain(1600)], ids=str)
def test_no_matrix_of_all_nodes_is_formed(lattice):
    X = np.random.default_rng(0).normal(size=(1600, 2))
    tracemalloc.start()
    som = pl.SOM(lattice, max_iter=2).fit(X)
    pl.metrics.topographic_error(X, som)
    edge_lengths(som, som.lattice_.edges)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < (3 if som.lattice_.shape is None else 0.8) * 8 * 1600**2  # of a chain, blocks are as large


@pytest.fixture
def little_memory(monkeypatch):
    monkeypatch.setattr(validation, "available_memory", lambda: 1000.0)
    monkeypatch.setattr(validation, "LEAST_BYTES", 0)


X, y = rng.normal(size=(30, 4)), np.arange(30) % 2
REFUSED = {
    "exact view": lambda: pl.TSNE(perplexity=5, method="exact").fit(X),
    "view of dissimilarities": lambda: pl.SNE(perplexity=5, metric="precomputed").fit(pairwise_of(X)),
    "XOM": lambda: pl.XOM(metric="precomputed").fit(pairwise_of(X)),
    "multidimensional scaling": lambda: pl.MappedEmbedding(cost="mds").fit(X),
    "MVU": lambda: pl.MVU(metric="precomputed").fit(pairwise_of(X)),
    "a function of two objects": lambda: pairwise(list(X), metric=lambda a, b: float(np.abs(a - b).sum())),
    "paths": lambda: geodesic(X, n_neighbors=5),
    "co-ranking": lambda: coranking_matrix(X, X[:, :2]),
    "LMNN": lambda: pl.LMNN().fit(X, y),
    "LFDA": lambda: pl.LFDA().fit(X, y),
    "LPP": lambda: pl.LPP().fit(X),
    "prototypes of a stream": lambda: pl.LVQ1(2).partial_fit(X, y, [0, 1]),
    "structure": lambda: pl.SONE(n_sampling=20).fit(X),
    "GMLVQ": lambda: pl.GMLVQ().fit(X, y),
    "matrix map": lambda: pl.MatrixKMeans(2).fit(X),
    "map of dissimilarities": lambda: pl.RelationalSOM((2, 3)).fit(pairwise_of(X)),
    "online map": lambda: pl.SOM((2, 3), online=Online()).fit(X),
    "small map": lambda: pl.SOM((3, 4)).fit(X),
    "graph": lambda: pl.core.lattices.from_graph(np.ones((20, 20))),
}


def pairwise_of(X):
    return np.sqrt(((X[:, None] - X) ** 2).sum(axis=2))


@pytest.mark.parametrize("name", REFUSED)
def test_refused_before_it_is_tried(name, little_memory):
    with pytest.raises(MemoryError, match=r"needs .* GB of memory, but only 1e-06 GB are free; use .*\.$"):
        REFUSED[name]()


def test_fitted_attributes_of_all_features_say_what_to_use_instead(monkeypatch):
    wide = rng.normal(size=(10, 80))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", (UserWarning, ConvergenceWarning))
        fitted = pl.MatrixKMeans(1).fit(wide), pl.LMNN(max_iter=2).fit(wide, y[:10]), pl.GMLVQ().fit(wide, y[:10])
        som = pl.SOM((3, 3)).fit(X)
    monkeypatch.setattr(validation, "available_memory", lambda: 1000.0)
    monkeypatch.setattr(validation, "LEAST_BYTES", 0)
    for model, name in zip((fitted[0], *fitted), ("covariances_", "omegas_", "gamma_", "relevance_matrix_")):
        with pytest.raises(MemoryError, match=rf"{name} of .*80 features needs .*; use "):
            getattr(model, name)
    with pytest.raises(MemoryError, match="use topographic_error"):
        topographic_product(som)


def test_memory_is_not_refused_where_the_system_does_not_tell(monkeypatch):
    monkeypatch.setattr(validation, "open", lambda *_, **__: (_ for _ in ()).throw(OSError), raising=False)
    assert validation.available_memory() > 1e6  # by another way
    monkeypatch.delattr(validation.os, "sysconf", raising=False)
    assert validation.available_memory() == np.inf
    require_memory("Anything", 1e30, "wait")
