"""Properties of the fitted maps: identities between ways to give the same data, invariances, patches, labels."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.cluster import KMeans as ScikitKMeans
from sklearn.datasets import load_iris, make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from protolearn import SOM, KMeans, MatrixNeuralGas, MatrixSOM, MedianSOM, NeuralGas, RelationalNeuralGas, RelationalSOM
from protolearn.core import relocation
from protolearn.core.density import parzen_log_density
from protolearn.core.lattices import chain, from_distances, hexagonal, hyperbolic, rectangular
from protolearn.core.neighborhoods import Ranks
from protolearn.core.progress import Progress
from protolearn.core.schedules import constant, geometric, inverse
from protolearn.core.sources import ArraySource, cut_patches
from protolearn.datasets import make_checkerboard
from protolearn.maps import OnLattice, Online, Patches, Winner
from protolearn.metrics import quantization_error

seeds = st.integers(0, 10_000)
MAPS = [
    KMeans(5, random_state=0),
    NeuralGas(5, max_iter=20, random_state=0),
    SOM((2, 3), max_iter=20),
    SOM((2, 3), max_iter=20, neighborhood=OnLattice(kernel="exponential", winner="nearest")),
]
SUPERVISED = [clone(m).set_params(label_weight=0.4) for m in MAPS]
each_map = pytest.mark.parametrize("estimator", MAPS, ids=repr)
each_any_map = pytest.mark.parametrize("estimator", MAPS + SUPERVISED, ids=repr)


def blobs(seed=0, n=150, d=4):
    return make_blobs(n, d, centers=4, cluster_std=2.0, random_state=seed)


# The same data, given in different ways


@each_any_map
@pytest.mark.parametrize("rows", [7, 64])
def test_chunks_do_not_matter(estimator, rows, monkeypatch):
    X, y = blobs()
    whole = clone(estimator).fit(X, y)
    monkeypatch.setattr(ArraySource, "slices", lambda self, k=1: [
        slice(a, min(a + rows, self.n_samples)) for a in range(0, self.n_samples, rows)
    ])  # fmt: skip
    chunked = clone(estimator).fit(X, y)
    assert_allclose(chunked.prototypes_, whole.prototypes_, atol=1e-10)
    assert_array_equal(chunked.labels_, whole.labels_)


@each_any_map
def test_memory_map(estimator, tmp_path):
    X, y = blobs()
    np.save(tmp_path / "X.npy", X)
    mapped = clone(estimator).fit(np.load(tmp_path / "X.npy", mmap_mode="r"), y)
    assert_allclose(mapped.prototypes_, clone(estimator).fit(X, y).prototypes_, atol=1e-10)


@each_any_map
@given(seed=seeds)
@settings(max_examples=10, deadline=None)
def test_weight_two_is_the_sample_twice_and_weight_zero_is_none(estimator, seed):
    X, y = blobs(seed, 60)
    y = np.where(np.arange(60) % 7 == 0, np.nan, y)
    weights = np.random.default_rng(seed).integers(0, 3, 60)
    weights[:10] = 1
    keep = np.repeat(np.arange(60), weights)
    weighted = clone(estimator).fit(X, y, sample_weight=weights)
    repeated = clone(estimator).fit(X[keep], y[keep])
    assert_allclose(weighted.prototypes_, repeated.prototypes_, atol=1e-8)
    assert_allclose(weighted.multiplicities_, repeated.multiplicities_)
    assert_allclose(weighted.graph_.toarray(), repeated.graph_.toarray())
    assert_allclose(weighted.cost_history_, repeated.cost_history_, rtol=1e-8)


@each_map
def test_scale_of_weights_does_not_move_prototypes(estimator):
    X, _ = blobs()
    one, tiny = clone(estimator).fit(X), clone(estimator).fit(X, sample_weight=np.full(len(X), 1e-30))
    assert_allclose(one.prototypes_, tiny.prototypes_, atol=1e-10)
    assert_allclose(np.array(tiny.cost_history_) * 1e30, one.cost_history_)


@each_any_map
def test_order_of_samples_does_not_matter(estimator):
    X, y = blobs()
    order = np.random.default_rng(0).permutation(len(X))
    straight, shuffled = clone(estimator).fit(X, y), clone(estimator).fit(X[order], y[order])
    assert_allclose(shuffled.prototypes_, straight.prototypes_, atol=1e-9)
    assert_array_equal(shuffled.labels_, straight.labels_[order])


@each_map
def test_single_precision_stays_single_and_close(estimator):
    X, _ = blobs()
    double = clone(estimator).fit(X)
    single = clone(estimator).fit(X.astype(np.float32))
    assert single.prototypes_.dtype == np.float32
    assert_allclose(single.prototypes_, double.prototypes_, rtol=1e-3, atol=1e-3)


@each_map
def test_data_far_from_the_origin(estimator):
    """A large common offset costs no precision, also in single precision."""
    X, _ = blobs()
    near = clone(estimator).fit(X)
    far = clone(estimator).fit((X + 1e4).astype(np.float32))
    assert_allclose(far.prototypes_ - 1e4, near.prototypes_, atol=0.02)
    offset = clone(estimator).fit(X + 1e6)
    few_digits = (X + 1e6).astype(np.float32)
    exact = offset.distances(few_digits.astype(np.float64))
    assert_allclose(offset.distances(few_digits), exact, atol=1e-5 * exact.max())


@pytest.mark.parametrize("estimator", MAPS[1:], ids=repr)
def test_moves_turns_and_scales_with_the_data(estimator):
    X, _ = blobs()
    rotation = np.linalg.qr(np.random.default_rng(0).normal(size=(4, 4)))[0]
    estimator = clone(estimator).set_params(init=X[: 5 if isinstance(estimator, NeuralGas) else 6])
    plain = clone(estimator).fit(X)
    moved = clone(estimator).set_params(init=3 * estimator.init @ rotation + 7).fit(3 * X @ rotation + 7)
    assert_allclose(moved.prototypes_, 3 * plain.prototypes_ @ rotation + 7, atol=1e-8)
    assert_allclose(moved.transform(3 * X @ rotation + 7), 9 * plain.transform(X), atol=1e-7)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("scale", [1e-16, 1.0, 1e15])
@each_map
def test_scale_of_the_data(estimator, dtype, scale):
    X, _ = blobs()
    expected = clone(estimator).fit(X).prototypes_
    assert_allclose(clone(estimator).fit((X * scale).astype(dtype)).prototypes_ / scale, expected, rtol=2e-3, atol=2e-3)


@pytest.mark.parametrize("far", [1e4, 1e6])
def test_an_outlier_costs_the_others_no_precision(far):
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(1000, 3))
    A = np.vstack([Z, np.full((1, 3), far)]).astype(np.float32)
    kmeans = KMeans(20, init=np.vstack([Z[:19], A[-1:]])).fit(A)
    exact = cdist(A, kmeans.prototypes_)
    assert (kmeans.labels_ == exact.argmin(axis=1)).mean() > 0.999
    assert_allclose(kmeans.score(A), -exact.min(axis=1).mean(), rtol=1e-4)


def test_samples_of_weight_zero_may_be_anything():
    X, _ = blobs()
    wild = np.vstack([X, np.full((3, 4), 1e100)])
    weights = np.r_[np.ones(len(X)), np.zeros(3)]
    for estimator in MAPS:
        expected = clone(estimator).fit(X).prototypes_
        assert_allclose(clone(estimator).fit(wild, sample_weight=weights).prototypes_, expected, atol=1e-9)


@pytest.mark.parametrize("weight", [1e-50, 1e39, 1e300])
def test_extreme_weights_in_single_precision(weight):
    X = blobs()[0].astype(np.float32)
    gas = NeuralGas(5, max_iter=10, random_state=0).fit(X, sample_weight=np.full(len(X), weight))
    assert_allclose(gas.prototypes_, NeuralGas(5, max_iter=10, random_state=0).fit(X).prototypes_, rtol=1e-4)
    assert_allclose(gas.multiplicities_.sum(), weight * len(X))


def test_far_groups_are_not_taken_for_equal_samples():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(200, 2)) - 1000, rng.normal(size=(200, 2)) + 1000]).astype(np.float32)
    assert (KMeans(40, random_state=0).fit(X).multiplicities_ > 0).sum() >= 38


def test_lattice_of_other_units():
    X, _ = blobs()
    small = from_distances(chain(9).distances * 0.01, coordinates=chain(9).coordinates)
    assert_allclose(SOM(small).fit(X).prototypes_, SOM(chain(9)).fit(X).prototypes_, atol=1e-9)


def test_many_constant_columns():
    assert_allclose(SOM((2, 2)).fit(np.ones((10, 1100))).prototypes_, 1.0)


# What is fitted


@each_any_map
def test_attributes_agree_with_each_other(estimator):
    X, y = blobs()
    estimator = clone(estimator).fit(X, y)
    D = ((X[:, None] - estimator.prototypes_) ** 2).sum(axis=2)
    order = np.argsort(D, axis=1)
    assert_array_equal(estimator.labels_, order[:, 0])
    assert_array_equal(estimator.predict(X), estimator.labels_)
    assert_array_equal(clone(estimator).fit_predict(X, y), estimator.labels_)
    assert_allclose(estimator.transform(X), D, atol=1e-9)
    k = len(estimator.prototypes_)
    assert_array_equal(estimator.multiplicities_, np.bincount(order[:, 0], minlength=k))
    edges = np.zeros((k, k))
    np.add.at(edges, (order[:, 0], order[:, 1]), 1)
    assert_array_equal(estimator.graph_.toarray(), edges + edges.T)
    assert_allclose(estimator.score(X), -np.sqrt(D.min(axis=1)).mean())
    assert len(estimator.cost_history_) == len(estimator.range_history_) == estimator.n_iter_
    assert np.isfinite(estimator.cost_history_).all()


@pytest.mark.parametrize("estimator", MAPS[1:], ids=repr)
def test_prototypes_lie_in_the_hull_of_the_data(estimator):
    X, _ = blobs(d=2)
    W = clone(estimator).fit(X).prototypes_
    directions = np.random.default_rng(0).normal(size=(2, 200))
    assert ((W @ directions).max(axis=0) <= (X @ directions).max(axis=0) + 1e-9).all()


def test_kmeans_agrees_with_scikit_learn():
    X, _ = blobs(n=400)
    ours = KMeans(6, init=X[:6], tol=0, max_iter=100).fit(X)
    theirs = ScikitKMeans(6, init=X[:6], tol=0, n_init=1, max_iter=100).fit(X)
    assert_allclose(ours.prototypes_, theirs.cluster_centers_, atol=1e-10)
    assert_allclose(2 * ours.cost_history_[-1], theirs.inertia_)


def test_kmeans_keeps_the_best_of_several_starts():
    X, _ = blobs(3, n=300)
    errors = [
        quantization_error(X, KMeans(8, init="random", n_init=n, random_state=2).fit(X), reduction="half_sum")
        for n in (1, 3, 10)
    ]
    assert errors[0] >= errors[1] >= errors[2]
    assert errors[0] > errors[2]


def test_kmeans_reseeds_or_keeps_empty_prototypes():
    X, _ = blobs(n=100)
    start = np.vstack([X[:3], [[1e3] * 4]])
    assert_array_equal(KMeans(4, init=start).fit(X).prototypes_[3], start[3])
    assert (KMeans(4, init=start, neighborhood=Winner("reseed")).fit(X).multiplicities_ > 0).all()


def test_neural_gas_hardly_depends_on_its_start():
    X, _ = blobs(n=300)
    errors = [quantization_error(X, NeuralGas(4, random_state=s, init=i).fit(X))
              for s in range(5) for i in ("center", "random", "pca")]  # fmt: skip
    assert np.ptp(errors) < 1e-3


def half_sum(X, fitted):
    return quantization_error(X, fitted, reduction="half_sum")


@pytest.mark.parametrize("k", [6, 12])
def test_neural_gas_comes_up_to_k_means_of_ten_starts(k):
    X, _ = load_iris(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    settled = half_sum(X, NeuralGas(k, random_state=0).fit(X))
    assert settled <= half_sum(X, NeuralGas(k, neighborhood=Ranks(settle=False), random_state=0).fit(X))
    assert settled <= 1.03 * 0.5 * ScikitKMeans(k, n_init=10, random_state=0).fit(X).inertia_


def test_small_distant_groups_get_prototypes():
    rng = np.random.default_rng(0)
    sizes, centers = [500, 300, 10, 10, 10], 12 * np.array([[0, 0], [1, 0], [8, 0], [8, 8], [0, 8]])
    X = np.vstack([rng.normal(size=(n, 2)) + center for n, center in zip(sizes, centers)])
    for init in ("center", "random", "k-means++"):
        gas = NeuralGas(5, init=init, random_state=0).fit(X)
        assert_array_equal(np.sort(gas.multiplicities_), np.sort(sizes))
    with_labels = NeuralGas(5, label_weight=0.2, random_state=0).fit(X, np.repeat(np.arange(5), sizes))
    assert_array_equal(np.sort(with_labels.multiplicities_), np.sort(sizes))


def test_settling_never_raises_the_cost_and_leaves_other_maps_alone():
    X, _ = blobs(n=200)
    for seed in range(5):
        free, settled = (NeuralGas(9, neighborhood=Ranks(settle=s), random_state=seed).fit(X) for s in (False, True))
        assert half_sum(X, settled) <= half_sum(X, free) * (1 + 1e-9)
        assert_array_equal(settled.cost_history_, free.cost_history_)
    for end, options in ((1.0, {}), (0.01, {"online": Online(), "max_iter": 3})):
        free, settled = (
            NeuralGas(9, neighborhood=Ranks(("auto", end), settle=s), random_state=0, **options).fit(X)
            for s in (False, True)
        )
        assert_array_equal(settled.prototypes_, free.prototypes_)


def test_moves_are_tried_on_some_of_many_samples(monkeypatch):
    monkeypatch.setattr(relocation, "MOST", 300)
    rng = np.random.default_rng(0)
    centers = 10 * rng.normal(size=(8, 3))
    X = np.repeat(centers, [900, 600, 400, 50, 50, 40, 40, 40], axis=0) + rng.normal(size=(2120, 3))
    free, settled = (
        NeuralGas(8, neighborhood=Ranks(settle=s), init="center", random_state=0).fit(X) for s in (False, True)
    )
    assert half_sum(X, settled) < 0.95 * half_sum(X, free)


@pytest.mark.parametrize(
    "estimator", [NeuralGas(7, init="random", neighborhood=Ranks(settle=False)), SOM((2, 4), init="random")], ids=repr
)
def test_more_starts_of_any_map_never_raise_the_cost(estimator):
    X, _ = blobs(3, n=300)
    costs = [
        clone(estimator).set_params(n_init=n, max_iter=8, random_state=1).fit(X).cost_history_[-1] for n in (1, 3, 6)
    ]
    assert costs[0] >= costs[1] >= costs[2]
    assert costs[0] > costs[2]


def test_schedules():
    X, _ = blobs()
    gas = NeuralGas(4, neighborhood=Ranks((2.0, 0.5)), max_iter=4, random_state=0)
    assert_allclose(clone(gas).fit(X).range_history_, 2 * 0.25 ** (np.arange(4) / 4))
    assert_allclose(clone(gas).set_params(neighborhood__schedule="constant").fit(X).range_history_, [2, 2, 2, 2])
    own = clone(gas).set_params(neighborhood__schedule=np.linspace).fit(X)
    assert_allclose(own.range_history_, [2, 1.5, 1, 0.5])
    for bad in ([1.0, 0.5], [4.0, 3.0, 2.0, 0.0], [2.0, np.nan, 1.0, 0.5]):
        with pytest.raises(ValueError, match="schedule must give max_iter=4 positive numbers"):
            clone(gas).set_params(neighborhood__schedule=lambda start, end, n, bad=bad: np.array(bad)).fit(X)


def test_chain_orders_a_line():
    X = np.random.default_rng(0).random((500, 1)) ** 2
    for init in ("pca", "center"):
        W = SOM(chain(10), init=init, max_iter=200, random_state=0).fit(X).prototypes_[:, 0]
        assert (np.diff(W) > 0).all() or (np.diff(W) < 0).all()


def test_ring_lattice_closes_around_a_circle():
    angle = np.random.default_rng(0).random(800) * 2 * np.pi
    X = np.column_stack([np.cos(angle), np.sin(angle)])
    W = SOM(chain(12, periodic=True), max_iter=100).fit(X).prototypes_
    steps = np.diff(np.unwrap(np.arctan2(W[:, 1], W[:, 0]), period=2 * np.pi))
    assert (steps > 0).all() or (steps < 0).all()


def test_user_given_and_hyperbolic_lattices():
    X, _ = blobs(n=200)
    assert SOM(hyperbolic(7, 2), max_iter=10).fit(X).prototypes_.shape == (29, 4)
    distances = np.abs(np.subtract.outer(np.arange(6.0), np.arange(6.0)))
    own = SOM(from_distances(distances, coordinates=chain(6).coordinates), max_iter=10).fit(X)
    assert_allclose(own.prototypes_, SOM(chain(6), max_iter=10).fit(X).prototypes_, atol=1e-10)


def test_automatic_lattice_follows_the_data():
    rng = np.random.default_rng(0)
    long = SOM(max_iter=1).fit(rng.normal(size=(400, 2)) * [4, 1]).lattice_
    assert 70 <= long.n_nodes <= 100
    assert 3 <= long.shape[1] / long.shape[0] <= 5
    assert SOM(max_iter=1).fit(np.repeat(rng.normal(size=(5, 3)), 50, axis=0)).lattice_.n_nodes <= 5


def test_graph_separates_far_clusters_and_connects_convex_data():
    rng = np.random.default_rng(0)
    square = rng.random((2000, 2))
    gas = NeuralGas(20, random_state=0)
    assert connected_components(gas.fit(square).graph_)[0] == 1
    assert connected_components(gas.fit(np.vstack([square, square + 50])).graph_)[0] == 2


def test_one_prototype_is_the_mean():
    X, _ = blobs()
    for estimator in (KMeans(1), NeuralGas(1), SOM((1, 1))):
        assert_allclose(estimator.fit(X).prototypes_[0], X.mean(axis=0))
        assert estimator.graph_.nnz == 0


@pytest.mark.parametrize("estimator", [NeuralGas(9, online=Online()), SOM((3, 3), online=Online()),
                                       KMeans(9, online=Online())], ids=repr)  # fmt: skip
def test_online_comes_close_to_batch(estimator):
    X, _ = make_checkerboard(3, 3, random_state=0)
    online = estimator.set_params(max_iter=50, random_state=0).fit(X)
    again = clone(estimator).fit(X)
    assert_array_equal(online.prototypes_, again.prototypes_)
    batch = clone(estimator).set_params(online=None).fit(X)
    assert quantization_error(X, online) <= 1.1 * quantization_error(X, batch)


@pytest.mark.parametrize("schedule", [geometric, inverse, constant])
@pytest.mark.parametrize("max_iter", [1, 3])
def test_online_range_and_rate_fall_over_all_single_steps(schedule, max_iter, monkeypatch):
    """The last epoch, which may be the only one, anneals as the others do (Hasenfuss 2009, sec. 2.4)."""
    X, _ = blobs(n=128)
    seen = []
    monkeypatch.setattr(Ranks, "learn_online", lambda self, points, W, metric, *values: seen.append(values))
    gas = NeuralGas(
        5,
        neighborhood=Ranks((2.0, 0.01), schedule=schedule),
        online=Online(schedule=schedule),
        max_iter=max_iter,
    )
    gas.fit(X)
    rates, ranges = np.hstack([values[:2] for values in seen])
    assert_allclose(ranges, schedule(2.0, 0.01, 128 * max_iter))
    assert_allclose(rates, schedule(0.5, 0.005, 128 * max_iter))
    assert_allclose(gas.range_history_, ranges[::128])


def test_one_epoch_online_finds_separate_clusters():
    X, _ = make_checkerboard(3, 3, points_per_field=(200, 250), random_state=0)
    once = NeuralGas(9, online=Online(), init="center", max_iter=1, random_state=0).fit(X)
    assert quantization_error(X, once) <= 2 * quantization_error(X, NeuralGas(9, random_state=0).fit(X))


# Labels


@pytest.mark.parametrize("estimator", MAPS, ids=repr)
@pytest.mark.parametrize("label_weight", [0.1, 0.5, 0.9])
def test_supervised_map_is_the_plain_map_of_longer_vectors(estimator, label_weight):
    """Samples (sqrt(1 - b) x, sqrt(b V / V_y) y) with one-hot y (Hasenfuss 2009, eq. 3.14) in units of the samples."""
    X, y = blobs()
    k = 5 if not isinstance(estimator, SOM) else 6
    start = X[:k]
    labels = np.eye(4)[y]
    supervised = clone(estimator).set_params(label_weight=label_weight, init=start).fit(X, y)
    a, b = np.sqrt(1 - label_weight), np.sqrt(label_weight * X.var(axis=0).sum() / labels.var(axis=0).sum())
    long_start = np.hstack([a * start, b * np.tile(labels.mean(axis=0), (k, 1))])
    plain = clone(estimator).set_params(init=long_start).fit(np.hstack([a * X, b * labels]))
    if isinstance(estimator, KMeans) and supervised.n_iter_ != plain.n_iter_:
        pytest.fail("the stopping rules differ")
    assert_allclose(supervised.prototypes_, plain.prototypes_[:, :4] / a, atol=1e-8)
    assert_allclose(supervised.label_distribution_, plain.prototypes_[:, 4:] / b, atol=1e-8)
    assert_allclose(supervised.label_distribution_.sum(axis=1), 1)
    assert_array_equal(supervised.prototype_labels_, supervised.label_distribution_.argmax(axis=1))


@pytest.mark.parametrize("estimator", SUPERVISED, ids=repr)
@pytest.mark.parametrize("change", [lambda X: 1000 * X, lambda X: np.tile(X, 6), lambda X: X - 50])
def test_a_label_weight_does_not_depend_on_scale_or_number_of_features(estimator, change):
    X, y = blobs()
    start = X[: 6 if isinstance(estimator, SOM) else 5]
    plain = clone(estimator).set_params(init=start).fit(X, y)
    other = clone(estimator).set_params(init=change(start)).fit(change(X), y)
    assert_allclose(other.prototypes_, change(plain.prototypes_), rtol=1e-8, atol=1e-8)
    assert_allclose(other.label_distribution_, plain.label_distribution_, atol=1e-8)


def slow_partly_labeled(X, y, W, label_weight, h, n_epochs):
    """Batch learning with loops: unlabeled samples have no label distance, and no part in labels."""
    labeled = ~np.isnan(y)
    onehot = np.eye(4)[y[labeled].astype(int)]
    unit = X.var(axis=0).sum() / onehot.var(axis=0).sum()
    W, V = W.copy(), np.tile(onehot.mean(axis=0), (len(W), 1))
    for _ in range(n_epochs):
        D = (1 - label_weight) * cdist(X, W, "sqeuclidean")
        D[labeled] += label_weight * unit * cdist(onehot, V, "sqeuclidean")
        H = h(D)
        W = H.T @ X / H.sum(axis=0)[:, None]
        V = H[labeled].T @ onehot / H[labeled].sum(axis=0)[:, None]
    return W, V


@pytest.mark.parametrize("label_weight", [0.2, 0.7])
def test_unlabeled_samples_count_by_their_features_only(label_weight):
    X, y = blobs()
    y = np.where(np.random.default_rng(0).random(len(y)) < 0.5, np.nan, y)
    ranks = lambda D: np.exp(-D.argsort(axis=1).argsort(axis=1) / 0.7)  # noqa: E731
    gas = NeuralGas(
        5,
        init=X[:5],
        neighborhood=Ranks((0.7, 0.01), schedule="constant"),
        max_iter=6,
        label_weight=label_weight,
    )
    W, V = slow_partly_labeled(X, y, X[:5], label_weight, ranks, 6)
    assert_array_equal(gas.fit(X, y).classes_, [0, 1, 2, 3])
    assert_allclose(gas.prototypes_, W, atol=1e-9)
    assert_allclose(gas.label_distribution_, V, atol=1e-9)
    lattice = chain(6).distances

    def share(D):
        h = np.exp(-lattice / 0.7)
        h /= h.sum(axis=1, keepdims=True)
        return h[(D @ h.T).argmin(axis=1)]

    som = SOM(
        chain(6),
        neighborhood=OnLattice(radius=(0.7, 0.55), kernel="exponential", schedule="constant"),
        init=X[:6],
        max_iter=6,
    )
    W, V = slow_partly_labeled(X, y, X[:6], label_weight, share, 6)
    assert_allclose(som.set_params(label_weight=label_weight).fit(X, y).prototypes_, W, atol=1e-9)
    assert_allclose(som.label_distribution_, V, atol=1e-9)


@pytest.mark.parametrize("online", [None, Online()], ids=repr)
@pytest.mark.parametrize("estimator", SUPERVISED, ids=repr)
def test_every_sign_for_no_label_is_the_same(estimator, online):
    X, y = blobs()
    names = np.array(["alpha", "bravo", "charlie", "delta"])[y]
    missing = np.arange(len(y)) % 3 == 0
    estimator = clone(estimator).set_params(online=online, max_iter=5, random_state=0)
    expected = clone(estimator).fit(X, np.where(missing, np.nan, y))
    for labels in (
        np.where(missing, None, names),
        pd.Series(pd.Categorical(np.where(missing, None, names))),
        pd.Series(np.where(missing, None, y)).astype("Int64"),
        pd.Series(np.where(missing, None, names), dtype="string"),
        np.where(missing, None, y),
    ):
        found = clone(estimator).fit(X, labels)
        assert_array_equal(found.prototypes_, expected.prototypes_)
        assert_array_equal(found.label_distribution_, expected.label_distribution_)
    assert len(found.classes_) == 4
    assert_allclose(found.label_distribution_.sum(axis=1), 1)


def test_a_few_labels_reach_all_samples():
    X, y = make_blobs(300, centers=[[0, 0], [8, 0], [0, 8]], random_state=0)
    few = np.where(np.arange(300) < 30, y, np.nan)
    gas = NeuralGas(6, label_weight=0.5, random_state=0).fit(X, few)
    assert (gas.prototype_labels_[gas.labels_] == y).mean() > 0.99


def test_patches_may_hold_unlabeled_samples():
    X, y = blobs(n=200)
    few = np.where(np.arange(200) % 4 == 0, y, np.nan)
    gas = NeuralGas(6, label_weight=0.5, random_state=0, patches=Patches(50)).fit(X, few)
    assert_array_equal(gas.classes_, [0, 1, 2, 3])
    assert_allclose(gas.multiplicities_.sum(), 200)


def test_no_label_at_all():
    X, _ = blobs()
    with pytest.raises(ValueError, match="No sample of positive weight has a label: NaN, None and NA mean unlabeled"):
        NeuralGas(4, label_weight=0.5).fit(X, np.full(len(X), np.nan))


@each_map
def test_label_weight_zero_ignores_y(estimator):
    X, y = blobs()
    assert_array_equal(clone(estimator).fit(X, y).prototypes_, clone(estimator).fit(X).prototypes_)
    assert not hasattr(clone(estimator).fit(X, y), "prototype_labels_")


def test_labels_alone_ignore_the_samples():
    X, y = blobs()
    gas = NeuralGas(6, label_weight=1.0, init="center", random_state=0).fit(X, y)
    other = clone(gas).fit(X[::-1], y)
    assert_allclose(gas.label_distribution_, other.label_distribution_, atol=1e-9)
    pure = gas.label_distribution_.max(axis=1) > 1 - 1e-9
    assert pure.sum() >= 2
    for position, label in zip(gas.prototypes_[pure], gas.prototype_labels_[pure]):
        assert_allclose(position, X[y == label].mean(axis=0), atol=1e-6)


def test_labels_help_classes_that_overlap_in_space():
    X, y = load_iris(return_X_y=True)
    plain, supervised = (NeuralGas(9, label_weight=b, random_state=0).fit(X, y) for b in (1e-9, 0.9))
    purity = [m.label_distribution_.max(axis=1) @ m.multiplicities_ / len(X) for m in (plain, supervised)]
    assert purity[1] > purity[0]


@pytest.mark.parametrize("options", [{"label_weight": 0.9}, {"magnification": -0.9}])
def test_more_starts_never_raise_the_cost(options):
    X, y = blobs()
    costs = [KMeans(6, n_init=n, random_state=0, **options).fit(X, y).cost_history_[-1] for n in (1, 2, 5, 10)]
    assert (np.diff(costs) <= 1e-9).all()


@pytest.mark.parametrize("y", [np.linspace(0, 1, 150), np.r_[np.inf, np.ones(149)]])
def test_labels_must_be_classes(y):
    with pytest.raises(ValueError, match=r"Unknown label type|infinity"):
        NeuralGas(4, label_weight=0.5).fit(blobs()[0], y)


# Magnification


@each_map
def test_magnification_is_a_weight(estimator):
    X, _ = blobs()
    log_p = parzen_log_density(X)
    controlled = clone(estimator).set_params(magnification=0.7).fit(X)
    weighted = clone(estimator).fit(X, sample_weight=np.exp(0.7 * (log_p - log_p.max())))
    assert_allclose(controlled.prototypes_, weighted.prototypes_, atol=1e-8)
    assert_array_equal(
        controlled.multiplicities_, np.bincount(controlled.labels_, minlength=len(controlled.prototypes_))
    )
    off = clone(estimator).set_params(magnification=0.0).fit(X)
    assert_array_equal(off.prototypes_, clone(estimator).fit(X).prototypes_)


def test_magnification_takes_weights_that_are_shares():
    X, _ = blobs()
    gas = NeuralGas(5, magnification=0.7, max_iter=10, random_state=0)
    expected = clone(gas).fit(X).prototypes_
    assert_allclose(clone(gas).fit(X, sample_weight=np.full(len(X), 1 / len(X))).prototypes_, expected, atol=1e-9)


def test_magnification_moves_prototypes_towards_or_away_from_density():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 1))
    spread = [
        np.abs(NeuralGas(15, magnification=c, random_state=0).fit(X).prototypes_).mean() for c in (-0.9, 0.0, 2.0)
    ]
    assert spread[0] > spread[1] > spread[2]


def test_density_at_the_winner_controls_magnification_too():
    """Hasenfuss 2009, eq. 3.6 and 3.8."""
    X = np.random.default_rng(0).normal(size=(1500, 1))
    options = {"max_iter": 20, "random_state": 0}
    spread = {
        (at, c): np.abs(
            NeuralGas(15, magnification=c, online=Online(density_at=at), **options).fit(X).prototypes_
        ).mean()
        for at in ("sample", "winner")
        for c in (-0.9, 0.0, 2.0)
    }
    for at in ("sample", "winner"):
        assert spread[at, -0.9] > 1.1 * spread[at, 0.0] > 1.2 * spread[at, 2.0]
    assert spread["sample", 0.0] == spread["winner", 0.0]
    assert spread["sample", 2.0] != spread["winner", 2.0]


def test_edges_made_while_learning():
    rng = np.random.default_rng(0)
    square = rng.random((500, 2))
    X = np.vstack([square, square + 50])
    options = {"online": Online(edge_lifetime=10**9), "max_iter": 10, "random_state": 0}
    for estimator in (NeuralGas(20, **options), KMeans(20, **options), SOM((4, 5), **options)):
        kept = clone(estimator).fit(X).graph_
        assert kept.sum() == 2 * 10 * len(X)  # every sample presented makes or renews an edge
        assert (kept != kept.T).nnz == 0
    young, old = (NeuralGas(20, **options).set_params(online__edge_lifetime=age).fit(X) for age in (60, 10**9))
    assert_array_equal(young.prototypes_, old.prototypes_)
    assert 20 <= young.graph_.nnz < old.graph_.nnz  # edges of places that prototypes have left are gone
    first, second = (np.unique(part) for part in np.split(young.labels_, 2))
    assert young.graph_[first][:, second].nnz == 0
    in_patches = NeuralGas(20, patches=Patches(250), **options).fit(X)
    assert in_patches.graph_.shape == (20, 20)


def test_magnification_is_forgotten_with_the_next_fit():
    X, _ = blobs()
    gas = NeuralGas(5, magnification=1.0, max_iter=2).fit(X)
    assert gas.magnification_ == 1.0
    assert not hasattr(gas.set_params(magnification=0.0).fit(X), "magnification_")


def test_optimal_magnification_uses_the_intrinsic_dimension():
    X = np.random.default_rng(0).random((1500, 2)) @ np.array([[1.0, 0, 1], [0, 1, 1]])
    gas = NeuralGas(10, magnification="optimal", random_state=0, max_iter=2).fit(X)
    assert_allclose(gas.magnification_, 1.0, atol=0.15)


# Patches


@each_any_map
def test_one_patch_is_the_batch(estimator):
    X, y = blobs()
    batch = clone(estimator).fit(X, y)
    for patched in (
        clone(estimator).partial_fit(X, y),
        clone(estimator).fit(iter([(X, y)])),
    ):
        assert_array_equal(patched.prototypes_, batch.prototypes_)
        assert_array_equal(patched.labels_, batch.labels_)
    cut = clone(estimator).set_params(patches__size=len(X)).fit(X, y)
    assert_allclose(cut.prototypes_, batch.prototypes_, atol=1e-8)


@each_any_map
def test_patches_one_by_one_from_an_iterator_and_cut_by_fit(estimator):
    X, y = blobs(n=200)
    one_by_one = clone(estimator)
    seen = 0
    order = np.random.RandomState(0).permutation(200)
    patches = [order[cut] for cut in cut_patches(200, 60)]
    for patch in patches:
        one_by_one.partial_fit(X[patch], y[patch])
        seen += len(patch)
        assert_allclose(one_by_one.multiplicities_.sum(), seen)
    iterated = clone(estimator).fit((X[p], y[p]) for p in patches)
    assert_array_equal(iterated.prototypes_, one_by_one.prototypes_)
    if isinstance(estimator, SOM):  # no draw but the order of the samples
        cut = clone(estimator).set_params(patches__size=60, random_state=0).fit(X, y)
        assert_allclose(cut.prototypes_, one_by_one.prototypes_, atol=1e-9)
        assert_array_equal(cut.labels_, cut.predict(X))


@each_map
@pytest.mark.parametrize("given", [True, False])
def test_a_second_patch_is_a_weighted_fit(estimator, given):
    """Former centers of receptive fields join the new patch, weighted by mass (Hasenfuss 2009, algorithm 3.4)."""
    X, _ = blobs(n=200)
    rng = np.random.RandomState(0)
    if given:
        estimator = clone(estimator).set_params(init=X[: 6 if isinstance(estimator, SOM) else 5])
    first = clone(estimator).set_params(random_state=rng).fit(X[:100])
    second = clone(estimator).set_params(random_state=0).fit(X[:100]).partial_fit(X[100:])
    full = first.multiplicities_ > 0
    fields = [X[:100][first.labels_ == i].mean(axis=0) for i in np.flatnonzero(full)]
    joined = np.vstack([X[100:], fields])
    weights = np.concatenate([np.ones(100), first.multiplicities_[full]])
    expected = clone(estimator).set_params(random_state=rng)
    if given or isinstance(estimator, SOM):  # later patches start where the first ended
        expected.set_params(init=first.prototypes_)
    if isinstance(estimator, SOM):  # in order, and at the last range
        expected.set_params(neighborhood__radius=(0.55, 0.55))
    expected.fit(joined, sample_weight=weights)
    places = cdist(second.prototypes_, expected.prototypes_).argmin(axis=1)
    assert len(set(places)) == len(places)
    assert_allclose(second.prototypes_, expected.prototypes_[places], atol=1e-9)


@pytest.mark.parametrize(
    "estimator",
    [SOM((5, 5)), SOM((1, 12), label_weight=0.3), MatrixSOM((3, 3), max_iter=20)],
    ids=repr,
)
def test_a_map_does_not_contract_from_patch_to_patch(estimator):
    """Centers of receptive fields stand for the past, not prototypes, which are drawn towards their neighbors."""
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(4000, 2)) @ [[3.0, 0.0], [1.0, 1.0]]
    y = (X[:, 0] > 2).astype(int)
    batch = clone(estimator).set_params(random_state=0).fit(X, y)
    patched = clone(estimator).set_params(random_state=0)
    for part in np.array_split(rng.permutation(4000), 20):
        patched.partial_fit(X[part], y[part])
    assert quantization_error(X, patched.prototypes_) < 1.1 * quantization_error(X, batch.prototypes_)


@pytest.mark.parametrize("estimator", [KMeans(4, random_state=0), NeuralGas(4, random_state=0)], ids=repr)
def test_prototypes_keep_their_index_from_patch_to_patch(estimator):
    X, y = make_blobs(400, centers=[[0, 0], [20, 0], [0, 20], [20, 20]], random_state=0)
    estimator.partial_fit(X[:200])
    before = estimator.predict(X)
    assert_array_equal(estimator.partial_fit(X[200:]).predict(X), before)
    assert len(np.unique(before + 4 * y)) == 4


def test_kmeans_follows_modes_that_come_one_after_the_other():
    centers = 20.0 * np.arange(5)[:, None] * [1, 0]
    rng = np.random.default_rng(0)
    kmeans = KMeans(5, random_state=0)
    for center in centers:
        kmeans.partial_fit(center + rng.normal(size=(200, 2)))
    assert_allclose(kmeans.prototypes_[np.argsort(kmeans.prototypes_[:, 0])], centers, atol=0.5)


def test_forgetting():
    rng = np.random.default_rng(0)
    sizes = [50, 80, 30, 60]
    gas = NeuralGas(4, patches=Patches(decay=0.5), random_state=0, max_iter=10)
    for size in sizes:
        gas.partial_fit(rng.normal(size=(size, 2)))
    assert_allclose(gas.multiplicities_.sum(), sum(n * 0.5 ** (3 - t) for t, n in enumerate(sizes)))


def test_forgetting_follows_a_drift():
    rng = np.random.default_rng(0)
    gases = [NeuralGas(3, patches=Patches(decay=decay), random_state=0, max_iter=20) for decay in (1.0, 0.1)]
    for t in range(6):
        X = rng.normal(size=(100, 1)) + 10 * t
        for gas in gases:
            gas.partial_fit(X)
    assert gases[1].prototypes_.min() > gases[0].prototypes_.min() + 5


@each_any_map
def test_parallel_runs_conserve_mass_and_do_not_depend_on_threads(estimator):
    X, y = blobs(n=300)
    fits = [
        clone(estimator).set_params(patches__size=50, patches__runs=3, n_jobs=n_jobs, random_state=0).fit(X, y)
        for n_jobs in (1, 2)
    ]
    assert_array_equal(fits[0].prototypes_, fits[1].prototypes_)
    assert_allclose(fits[0].multiplicities_.sum(), 300)
    assert_array_equal(fits[0].multiplicities_, np.bincount(fits[0].labels_, minlength=len(fits[0].prototypes_)))
    batch = clone(estimator).fit(X, y)
    assert quantization_error(X, fits[0]) < 1.3 * quantization_error(X, batch)


def test_winners_after_a_merge_are_those_of_the_last_patch():
    X, _ = blobs()
    gas = NeuralGas(5, patches=Patches(runs=2), random_state=0, max_iter=10).fit(iter([X[:60], X[60:110], X[110:]]))
    assert_array_equal(gas.labels_, gas.predict(X[110:]))
    assert gas.graph_.sum() == 2 * 40


def test_new_classes_may_appear_in_later_patches():
    X, y = blobs(n=200)
    order = np.argsort(y, kind="stable")
    gas = NeuralGas(8, label_weight=0.5, random_state=0)
    names = np.array(["delta", "alpha", "charlie", "bravo"])
    for patch in np.array_split(order, 4):
        gas.partial_fit(X[patch], names[y[patch]])
    assert_array_equal(gas.classes_, ["alpha", "bravo", "charlie", "delta"])
    assert set(gas.prototype_labels_) == set(names)
    assert_allclose(gas.label_distribution_.sum(axis=1), 1)


def test_non_stationary_patches_keep_old_modes():
    """Modes that come one after the other all keep a prototype."""
    centers = 20.0 * np.arange(5)[:, None] * [1, 0]
    rng = np.random.default_rng(0)
    gas = NeuralGas(5, random_state=0)
    for center in centers:
        gas.partial_fit(center + rng.normal(size=(200, 2)))
    assert_allclose(gas.prototypes_[np.argsort(gas.prototypes_[:, 0])], centers, atol=0.5)


# Interruption, progress, scikit-learn


def interrupted_after(n_updates, monkeypatch):
    from protolearn.core.prototypes import Mean

    plain, calls = Mean.update, []

    def update(self, statistics):
        calls.append(1)
        if len(calls) > n_updates:
            raise KeyboardInterrupt
        return plain(self, statistics)

    monkeypatch.setattr(Mean, "update", update)


def test_an_interrupted_fit_keeps_its_state(monkeypatch):
    X, _ = blobs()
    ranges = NeuralGas(5, random_state=0, max_iter=20).fit(X).range_history_
    interrupted_after(7, monkeypatch)
    gas = NeuralGas(5, random_state=0, max_iter=20)
    with pytest.raises(KeyboardInterrupt):
        gas.fit(X)
    assert gas.n_iter_ == 7
    assert gas.range_history_ == ranges[:7]
    assert gas.predict(X).shape == (150,)


@pytest.mark.parametrize(
    "estimator",
    [
        KMeans(5, init="random"),
        NeuralGas(5, max_iter=8),
        SOM((2, 3), max_iter=8),
        MatrixNeuralGas(3, max_iter=8),
        RelationalNeuralGas(4, metric="euclidean", max_iter=8),
    ],
    ids=lambda e: type(e).__name__,
)
def test_an_interrupt_in_a_later_start_keeps_the_first_and_is_passed_on(estimator, monkeypatch):
    X, _ = blobs()
    first = clone(estimator).set_params(random_state=0).fit(X)
    shown = []

    def interrupt(self, done, new=1, *, cost=None, **values):
        if cost is not None:  # an epoch, not some pairs
            shown.append(cost)
        if len(shown) == first.n_iter_ + 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(Progress, "step", interrupt)
    several = clone(estimator).set_params(random_state=0, n_init=4)
    with pytest.raises(KeyboardInterrupt):
        several.fit(X)
    assert_array_equal(several.labels_, first.labels_)
    assert several.cost_history_ == first.cost_history_


def test_an_interrupted_stream_keeps_the_patches_learned():
    X, _ = blobs()

    def stream():
        yield X[:70]
        yield X[70:]
        raise KeyboardInterrupt

    gas = NeuralGas(5, random_state=0, max_iter=5)
    with pytest.raises(KeyboardInterrupt):
        gas.fit(stream())
    assert gas.multiplicities_.sum() == 150


@pytest.mark.parametrize(
    "estimator",
    [*MAPS, MatrixNeuralGas(2, max_iter=5, random_state=0), RelationalNeuralGas(5, metric="euclidean", max_iter=5)],
    ids=repr,
)
@pytest.mark.parametrize(("failure", "n_kept"), [(OSError("disk"), 120), (KeyboardInterrupt(), 80)])
def test_a_stream_that_fails_keeps_all_runs(estimator, failure, n_kept):
    X, _ = blobs()

    def stream():
        yield from (X[:40], X[40:80], X[80:120])
        raise failure

    runs = clone(estimator).set_params(patches__runs=2, n_jobs=1)
    with pytest.raises(type(failure)):
        runs.fit(stream())
    # an error comes when the third patch is read and learned, an interrupt stops at once
    assert_allclose(runs.multiplicities_.sum(), n_kept)
    assert len(runs.predict(X)) == 150
    runs.partial_fit(X[120:])
    assert_allclose(runs.multiplicities_.sum(), n_kept + 30)


def test_an_interrupt_in_one_run_does_not_begin_the_next(monkeypatch):
    X, _ = blobs()
    epochs = []

    def interrupt(self, done, new=1, *, cost=None, **values):
        epochs.append(cost)
        if len(epochs) == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(Progress, "step", interrupt)
    gas = NeuralGas(5, patches=Patches(runs=2), n_jobs=1, max_iter=9, random_state=0)
    with pytest.raises(KeyboardInterrupt):
        gas.fit(iter([X[:40], X[40:]]))
    assert len(epochs) == gas.n_iter_ == 3
    assert gas.multiplicities_.sum() == 40


def test_a_failed_fit_loses_nothing():
    X, _ = blobs()
    gas = NeuralGas(5, random_state=0).fit(X)
    before = gas.prototypes_.copy()
    with pytest.raises(ValueError, match="NaN"):
        gas.partial_fit(np.full((10, 4), np.nan))
    assert_array_equal(gas.predict(X), gas.labels_)
    assert_array_equal(gas.prototypes_, before)


@pytest.mark.parametrize(
    ("estimator", "change", "message"),
    [
        (NeuralGas(4), {"n_prototypes": 9}, "9 prototypes, but the current map has 4; call fit"),
        (KMeans(4), {"n_clusters": 2}, "2 prototypes, but the current map has 4"),
        (SOM((2, 3)), {"lattice": (3, 2)}, "lattice, winner or kernel differs from that of the current map"),
        (SOM((2, 3)), {"neighborhood": OnLattice(kernel="exponential")}, "lattice, winner or kernel"),
    ],
)
def test_partial_fit_needs_the_same_map(estimator, change, message):
    X, _ = blobs()
    clone(estimator).fit(X).partial_fit(X)
    with pytest.raises(ValueError, match=message):
        clone(estimator).fit(X).set_params(**change).partial_fit(X)


def test_partial_fit_needs_labels_of_one_kind():
    X, y = blobs()
    gas = NeuralGas(4, label_weight=0.5, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="same type of labels"):
        gas.partial_fit(X, y.astype(str))


def test_partial_fit_does_not_mix_maps_with_and_without_labels():
    X, y = blobs()
    gas = NeuralGas(5, random_state=0).fit(X).set_params(label_weight=0.5)
    with pytest.raises(ValueError, match=r"label_weight=0.5, but the current map was fitted without labels; call fit"):
        gas.partial_fit(X, y)


def test_verbose_prints_progress(capsys):
    X, _ = blobs()
    NeuralGas(5, max_iter=30, verbose=1, random_state=0).fit(X)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 11
    assert lines[-1].startswith("[NeuralGas] epoch 30/30  range 0.0")


def test_pandas_names_pipeline_and_grid_search():
    X, _ = load_iris(return_X_y=True, as_frame=True)
    som = SOM((3, 4), max_iter=5).set_output(transform="pandas").fit(X)
    out = som.transform(X)
    assert isinstance(out, pd.DataFrame)
    assert list(out.columns[:2]) == ["som0", "som1"]
    assert list(som.feature_names_in_) == list(X.columns)
    search = GridSearchCV(make_pipeline(StandardScaler(), NeuralGas(max_iter=10, random_state=0)),
                          {"neuralgas__n_prototypes": [2, 10]}).fit(X)  # fmt: skip
    assert search.best_params_ == {"neuralgas__n_prototypes": 10}


# Bad input


@each_map
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"X": np.full((20, 2), np.nan)}, "NaN"),
        ({"X": np.full((20, 2), np.inf)}, "infinity"),
        ({"X": np.full((20, 2), 1e160)}, "squares are too large for float64; rescale X"),
        ({"X": np.ones(20)}, "Expected 2D array, got 1D array"),
        ({"X": np.eye(3)}, r"n_samples=3 is fewer than the \d prototypes.*Use at most 3 prototypes"),
        ({"sample_weight": -np.ones(20)}, r"negative values \(smallest -1\); weights must be 0 or more"),
        ({"sample_weight": np.zeros(20)}, "sums to zero; give at least one sample a positive weight"),
        ({"sample_weight": np.full(20, np.nan)}, "sample_weight contains NaN or infinity"),
        ({"sample_weight": np.ones(19)}, r"expected \(20,\): one weight for each sample"),
        ({"y": np.ones(19)}, "inconsistent numbers of samples"),
    ],
    ids=lambda case: str(case)[:30],
)
def test_bad_samples(estimator, arguments, message):
    good = {"X": np.random.default_rng(0).normal(size=(20, 2))}
    with pytest.raises(ValueError, match=message):
        clone(estimator).fit(**(good | arguments))


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (KMeans(0), r"n_clusters=0 must be an integer in \[1, inf\)"),
        (NeuralGas(2.5), "n_prototypes=2.5 must be an integer"),
        (NeuralGas(neighborhood=Ranks(("auto", 0))), r"neighborhood__radius=\('auto', 0\) must be a pair"),
        (NeuralGas(neighborhood=Ranks((-1, 0.01))), "neighborhood__radius"),
        (NeuralGas(max_iter=0), "max_iter=0"),
        (NeuralGas(label_weight=1.5), r"label_weight=1.5 must be a number in \[0, 1\]"),
        (NeuralGas(patches=Patches(decay=0)), r"decay=0 must be a number in \(0, 1\]"),
        (NeuralGas(online="stream"), "online='stream' must be an instance of Online or None"),
        (NeuralGas(init="zeros"), "init='zeros' must be one of .* or an array of shape"),
        (NeuralGas(3, init=np.ones((2, 2))), r"init has shape \(2, 2\); expected \(3, 2\)"),
        (NeuralGas(magnification="best"), "magnification='best' must be a number"),
        (NeuralGas(label_weight=0.5), r"label_weight=0.5 needs the classes.*call fit\(X, y\)"),
        (
            NeuralGas(neighborhood=Ranks(schedule="linear")),
            "schedule='linear' must be one of 'geometric', 'inverse', 'constant' or a func",
        ),
        (
            NeuralGas(neighborhood=Ranks((np.inf, 0.01))),
            r"neighborhood__radius=\(inf, 0.01\) must be a pair",
        ),
        (NeuralGas(magnification=np.inf), r"magnification=inf must be a number in \(-inf, inf\) or 'optimal'"),
        (NeuralGas(init=None), "init=None must be one of"),
        (NeuralGas(n_jobs="all"), "n_jobs='all' must be an integer"),
        (NeuralGas(patches=Patches(0)), "patches__size=0"),
        (NeuralGas(5, patches=Patches(4)), "n_samples=4 is fewer than the 5 prototypes"),
        (SOM("spherical"), r"lattice='spherical' must be 'auto', a tuple .*hyperbolic\(\)"),
        (SOM((3, 4), topology="toroidal"), "topology='toroidal' must be one of 'rectangular', 'hexagonal'"),
        (
            SOM(12, topology="hexagonal"),
            r"topology='hexagonal' needs lattice=\(rows, cols\), the size of a sheet; got 12",
        ),
        (
            SOM(rectangular(3, 4), topology="hexagonal"),
            r"needs lattice=\(rows, cols\).*got Lattice\(rectangular, 3 x 4",
        ),
        (SOM((3, 0)), "0"),
        (
            SOM(neighborhood=OnLattice(winner="best")),
            "winner='best' must be one of 'heskes', 'nearest', 'heskes-printed'",
        ),
        (SOM(neighborhood=OnLattice(kernel="box")), "kernel='box' must be one of 'gaussian', 'exponential'"),
        (KMeans(neighborhood=Winner("drop")), "empty='drop' must be one of 'keep', 'reseed'"),
    ],
    ids=repr,
)
def test_bad_parameters(estimator, message):
    with pytest.raises(ValueError, match=message):
        estimator.fit(np.random.default_rng(0).normal(size=(20, 2)))


@pytest.mark.parametrize("lattice", [(4, 5), "auto", hexagonal(4, 5)], ids=repr)
@pytest.mark.parametrize("kind", [SOM, MatrixSOM, RelationalSOM, MedianSOM])
def test_topology(kind, lattice):
    X = np.random.default_rng(0).normal(size=(60, 2))
    options = {"max_iter": 3} | ({"metric": "euclidean"} if kind in (RelationalSOM, MedianSOM) else {})
    som = kind(lattice, topology="hexagonal", **options).fit(X)
    expected = hexagonal(*(kind(**options).fit(X).lattice_.shape if lattice == "auto" else (4, 5)))
    assert som.lattice_ == expected
    np.testing.assert_array_equal(som.labels_, kind(expected, **options).fit(X).labels_)
    som.partial_fit(X)
    with pytest.raises(ValueError, match="lattice, winner or kernel differs from that of the current map"):
        som.set_params(topology="rectangular", lattice=expected.shape).partial_fit(X)


def test_labels_of_an_iterator_come_with_its_patches():
    with pytest.raises(ValueError, match="must yield labels and weights itself"):
        NeuralGas().fit(iter([np.ones((20, 2))]), np.ones(20))


def test_no_patches():
    with pytest.raises(ValueError, match="no patches"):
        NeuralGas().fit(iter([]))


@each_map
def test_constant_features_and_identical_samples(estimator):
    X = np.column_stack([np.random.default_rng(0).normal(size=30), np.full(30, 3.0)])
    W = clone(estimator).fit(X).prototypes_
    assert_allclose(W[:, 1], 3.0)
    if isinstance(estimator, SOM):
        same = clone(estimator).fit(np.ones((30, 2)))
    else:
        with pytest.warns(ConvergenceWarning, match="Only 1 distinct samples for 5 prototypes"):
            same = clone(estimator).fit(np.ones((30, 2)))
    assert_allclose(same.prototypes_, 1.0, atol=1e-6)
