"""LVQ of objects: what it has in common with LVQ of vectors, brute force for exchanges, input, patches, bad cases."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.datasets import load_wine, make_blobs
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.preprocessing import StandardScaler

from protolearn import GLVQ, GMLVQ, MedianGLVQ, RelationalGLVQ
from protolearn.core.classification import relative_similarity
from protolearn.core.pairs import Pairs
from protolearn.dissimilarities import Dissimilarities, pairwise
from protolearn.lvq import SGD, Solver
from protolearn.lvq.cost import SQUASHING, relative_distance_cost
from protolearn.relational import _exchange_kernels
from protolearn.relational._exchange import CODES, exchanges
from protolearn.relational._space import euclidean_part

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

WORDS = [
    *("kitten", "kitchen", "mitten", "bitten", "smitten", "written"),
    *("castle", "cattle", "rattle", "battle", "tattle", "prattle"),
    *("stone", "phone", "shone", "throne", "prone", "drone"),
]
ENDINGS = np.repeat(["-itten", "-attle", "-one"], 6)
KINDS = [RelationalGLVQ, MedianGLVQ]
each_kind = pytest.mark.parametrize("kind", KINDS)


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True)
    return StandardScaler().fit_transform(X), y


def start_of(y, per_class, seed=0):
    """Return random coefficients of prototypes, each of objects of its class."""
    codes = np.repeat(np.unique(y), per_class)
    A = np.random.default_rng(seed).random((len(codes), len(y))) * (codes[:, None] == y)
    return A / A.sum(axis=1, keepdims=True)


def indefinite(n=60, seed=0, share=0.6):
    """Return dissimilarities of points in a space in which some directions count negatively, and two classes."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, 8)), np.arange(n) % 2
    X[:, 0] += 3.0 * y
    squares = cdist(X[:, :5], X[:, :5], "sqeuclidean") - share * cdist(X[:, 5:], X[:, 5:], "sqeuclidean")
    return np.sqrt(np.maximum(squares, 0.0)), squares, y


# Vectors


@pytest.mark.parametrize("solver", ["lbfgs", "waypoint", SGD(0.05)], ids=str)
@pytest.mark.parametrize("squashing", ["sigmoid", "identity"])
def test_squared_euclidean_distances_give_what_vectors_give(wine, solver, squashing):
    X, y = wine
    A, D = start_of(y, 2), cdist(X, X)
    common = {"solver": solver, "squashing": squashing, "max_iter": 20, "random_state": 0}
    vectors = GLVQ(2, init=A @ X, **common).fit(X, y)
    objects = RelationalGLVQ(2, init=A, **common).fit(D, y)
    assert_allclose(objects.cost_history_, vectors.cost_history_, rtol=1e-8)
    assert_allclose(objects.coefficients_ @ X, vectors.prototypes_, atol=1e-8)
    assert_allclose(objects.distances(D), vectors.distances(X), rtol=1e-8)
    assert_allclose(objects.predict_proba(D), vectors.predict_proba(X), atol=1e-8)
    assert_allclose(objects.confidence(D), vectors.confidence(X), atol=1e-8)
    assert_allclose(objects.relative_distance(D, y), vectors.relative_distance(X, y), atol=1e-8)
    assert_array_equal(objects.predict(D), vectors.predict(X))
    assert_array_equal(objects.nearest(D), vectors.nearest(X))


def test_new_objects_are_measured_as_vectors_are(wine):
    X, y = wine
    old, new = np.arange(len(y)) % 3 > 0, np.arange(len(y)) % 3 == 0
    A = start_of(y[old], 1)
    vectors = GLVQ(init=A @ X[old]).fit(X[old], y[old])
    objects = RelationalGLVQ(init=A).fit(cdist(X[old], X[old]), y[old])
    cross = cdist(X[new], X[old])
    assert_allclose(objects.distances(cross), vectors.distances(X[new]), rtol=1e-8)
    assert_allclose(objects.decision_function(cross), vectors.decision_function(X[new]), rtol=1e-8)


def test_the_start_is_the_class_mean(wine):
    X, y = wine
    vectors = GLVQ(max_iter=15).fit(X, y)
    objects = RelationalGLVQ(max_iter=15).fit(cdist(X, X), y)
    assert_allclose(objects.coefficients_ @ X, vectors.prototypes_, atol=1e-8)


def test_a_kernel_gives_what_its_distances_give(wine):
    X, y = wine
    K = (1.0 + X @ X.T) ** 2
    squares = np.diag(K)[:, None] + np.diag(K) - 2.0 * K
    kernel = RelationalGLVQ(2, metric="kernel", random_state=0, max_iter=20).fit(K, y)
    distances = RelationalGLVQ(2, squared=True, random_state=0, max_iter=20).fit(squares, y)
    assert_allclose(kernel.cost_history_, distances.cost_history_, rtol=1e-8)
    whole = np.column_stack([K, np.diag(K)])
    assert_allclose(kernel.distances(whole), distances.distances(squares), rtol=1e-8, atol=1e-8 * squares.max())
    assert_allclose(kernel.predict_proba(whole), distances.predict_proba(squares), atol=1e-8)
    assert_array_equal(kernel.predict(K), distances.predict(squares))  # does without the diagonal
    with pytest.raises(ValueError, match="append it to X as a column"):
        kernel.confidence(K)
    medians = [
        MedianGLVQ(metric="kernel", random_state=0).fit(K, y),
        MedianGLVQ(squared=True, random_state=0).fit(squares, y),
    ]
    assert_array_equal(*(model.prototype_indices_ for model in medians))


def test_gradient_by_coefficients_equals_finite_differences(wine):
    """The cost as Hammer et al. 2014 state it, by coefficients, beside the gradient in coordinates."""
    X, y = wine[0][::4], wine[1][::4]
    S, A = cdist(X, X, "sqeuclidean"), start_of(wine[1][::4], 2)
    own = y[:, None] == np.repeat(np.unique(y), 2)
    u = np.linspace(0.5, 1.5, len(y))

    def cost(A):
        D = S @ A.T - 0.5 * np.einsum("ij,jl,il->i", A, S, A)
        return relative_distance_cost(D, own, u, SQUASHING["sigmoid"], 3.0)

    space = euclidean_part(Pairs(S, weights=u), 200)
    Z, W = space.coordinates, space.positions(A)
    D = cdist(Z, W, "sqeuclidean")
    value, G = relative_distance_cost(D, own, u, SQUASHING["sigmoid"], 3.0)
    by_position = 2.0 * (G.sum(axis=0)[:, None] * W - G.T @ Z)
    assert_allclose(cost(A)[0], value, rtol=1e-10)
    rng = np.random.default_rng(0)
    for _ in range(5):
        step = rng.normal(size=A.shape)
        step -= step.mean(axis=1, keepdims=True)
        numeric = (cost(A + 1e-6 * step)[0] - cost(A - 1e-6 * step)[0]) / 2e-6
        assert_allclose(np.sum(by_position * (step @ Z)), numeric, rtol=1e-6, atol=1e-6)


# The space in which prototypes move


@pytest.mark.parametrize("n", [60, 1300])
def test_distances_are_those_of_the_space_but_for_a_term_of_each_object(n):
    """All directions, or the largest of many objects by iteration: the formula of distances holds either way."""
    _, S, _ = indefinite(n)
    weights = np.random.default_rng(1).random(n) + 0.5
    space = euclidean_part(Pairs(S, weights=weights), 4)
    W = np.random.default_rng(0).normal(size=(3, space.coordinates.shape[1]))
    A = space.combinations(W)
    assert_allclose(A.sum(axis=1), 1.0)
    assert_allclose(space.positions(A), W, atol=1e-8)
    rest = S @ A.T - 0.5 * np.einsum("ij,jl,il->i", A, S, A) - cdist(space.coordinates, W, "sqeuclidean")
    assert_allclose(rest, rest[:, :1] + np.zeros(3), atol=1e-8 * S.max())


@pytest.mark.parametrize("seed", range(5))
def test_the_nearest_prototype_is_that_of_the_clipped_gram_matrix(seed):
    _, S, y = indefinite(seed=seed)
    model = RelationalGLVQ(2, squared=True, random_state=0).fit(S, y)
    J = np.eye(len(S)) - 1.0 / len(S)
    values, vectors = np.linalg.eigh(-0.5 * J @ S @ J)
    Z = vectors * np.sqrt(np.maximum(values, 0.0))
    assert_array_equal(model.nearest(S), cdist(Z, model.coefficients_ @ Z).argmin(axis=1))


@pytest.mark.parametrize("share", [0.6, 1.0, 3.0])
def test_negative_distances_do_no_harm(share):
    _, S, y = indefinite(share=share)
    model = RelationalGLVQ(2, squared=True, random_state=0).fit(S, y)
    D = model.distances(S)
    assert D.min() < 0
    assert model.cost_history_[-1] < model.cost_history_[0]
    assert np.isfinite(model.cost_history_).all()
    mu, sure, shares = model.relative_distance(S, y), model.confidence(S), model.predict_proba(S)
    assert np.abs(mu).max() <= 1.0
    assert ((mu < 0) == (model.predict(S) == y)).all()
    assert sure.min() >= 0.0
    assert sure.max() <= 1.0
    assert_allclose(shares.sum(axis=1), 1.0)
    assert_array_equal(shares.argmax(axis=1), D.argmin(axis=1) // 2)
    assert_array_equal(model.decision_function(S) > 0, model.predict(S) == 1)
    assert model.score(S, y) > 0.8


def test_what_is_left_out_of_the_space_is_left_out_of_the_confidence(wine):
    X, y = wine
    D = cdist(X, X)
    few, all_of_them = RelationalGLVQ(n_components=3).fit(D, y), RelationalGLVQ().fit(D, y)
    gaps = few.distances(D) - few._measure(few.distances(D))
    assert gaps.mean() > 1.0
    assert np.abs(all_of_them.distances(D) - all_of_them._measure(all_of_them.distances(D))).max() < 1e-9
    assert few.confidence(D).mean() > relative_similarity(few.distances(D), few.prototype_labels_).mean() + 0.05


def test_order_and_threads_change_nothing():
    X, y = make_blobs(90, 4, centers=3, cluster_std=3.0, random_state=0)
    D, order = cdist(X, X), np.random.default_rng(0).permutation(90)
    for kind in KINDS:
        plain = kind(2, random_state=0).fit(D, y)
        shuffled = kind(2, random_state=0).fit(D[np.ix_(order, order)], y[order])
        assert_allclose(shuffled.distances(D[:, order]), plain.distances(D), rtol=1e-6)
        parallel = kind(2, random_state=0, n_jobs=2).fit(D, y)
        assert_array_equal(parallel.distances(D), plain.distances(D))


@each_kind
def test_a_unit_changes_nothing(kind):
    D, _, y = indefinite()
    plain, scaled = (kind(2, random_state=0).fit(factor * D, y) for factor in (1.0, 2.0**40))
    assert_array_equal(scaled.predict(2.0**40 * D), plain.predict(D))
    assert_allclose(scaled.predict_proba(2.0**40 * D), plain.predict_proba(D), atol=1e-6)


# Exchanges


def cost_of(S, y, codes, indices, u, squashing, slope):
    D = S[:, indices]
    return relative_distance_cost(D, y[:, None] == codes, u, SQUASHING[squashing], slope)[0]


@pytest.mark.parametrize("squashing", CODES)
@pytest.mark.parametrize("per_class", [1, 2, 3])
def test_cost_of_candidates_equals_brute_force(squashing, per_class):
    rng = np.random.default_rng(per_class)
    X, y = rng.normal(size=(40, 3)), np.arange(40) % 3
    S, u, codes = cdist(X, X, "sqeuclidean"), rng.random(40), np.repeat(np.arange(3), per_class)
    indices = np.concatenate([np.flatnonzero(y == c)[:per_class] for c in range(3)])
    for p, code in enumerate(codes):
        members = np.flatnonzero(y == code)
        nearest = _exchange_kernels.nearest_of_both(S[indices], y, codes, p)
        found = _exchange_kernels.candidate_costs(S, members, nearest, y, code, u, CODES[squashing], 3.0)
        expected = [
            cost_of(S, y, codes, np.where(np.arange(len(codes)) == p, q, indices), u, squashing, 3.0) for q in members
        ]
        assert_allclose(found, expected, rtol=1e-10)


@pytest.mark.parametrize("seed", range(4))
def test_no_single_exchange_lowers_the_cost(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(30, 2)), np.arange(30) % 2
    S, codes, u = cdist(X, X, "sqeuclidean"), np.array([0, 0, 1, 1]), rng.random(30) + 0.1
    model = MedianGLVQ(2, squared=True, slope=5.0, random_state=seed).fit(S, y, u)
    assert (np.diff(model.cost_history_) <= 1e-12).all()
    best = cost_of(S, y, codes, model.prototype_indices_, u, "sigmoid", 5.0)
    assert_allclose(model.cost_history_[-1], best / u.sum())
    for p, code in enumerate(codes):
        for q in np.flatnonzero(y == code):
            changed = model.prototype_indices_.copy()
            changed[p] = q
            assert cost_of(S, y, codes, changed, u, "sigmoid", 5.0) >= best * (1.0 - 1e-8)


def test_exchanges_find_the_best_pair_of_all():
    """One prototype for each of two classes: the best of several starts is the best pair of all."""
    rng = np.random.default_rng(0)
    for _ in range(10):
        X, y = rng.normal(size=(20, 2)), np.arange(20) % 2
        X[:, 0] += 2.0 * y
        S, codes, u = cdist(X, X, "sqeuclidean"), np.array([0, 1]), np.ones(20)
        pairs = [np.array(pair) for pair in product(range(0, 20, 2), range(1, 20, 2))]
        least = min(cost_of(S, y, codes, pair, u, "sigmoid", 5.0) for pair in pairs)
        ends = [list(exchanges(Pairs(S), y, codes, start, "sigmoid", 5.0))[-1][1] for start in pairs[::11]]
        assert_allclose(20 * min(ends), least, rtol=1e-9)


def test_median_prototypes_are_objects_of_their_class(wine):
    X, y = wine
    D = cdist(X, X)
    model = MedianGLVQ(3, random_state=0).fit(D, y)
    assert_array_equal(y[model.prototype_indices_], model.prototype_labels_)
    assert_allclose(model.distances(D), D[:, model.prototype_indices_] ** 2)
    assert_array_equal(model.predict(D[:, model.support_]), model.predict(D))
    assert_array_equal(model.prototype_examples_[:, 0], model.prototype_indices_)


def test_median_takes_negative_squares():
    _, S, y = indefinite(share=2.0)
    assert S.min() < 0
    model = MedianGLVQ(2, squared=True, random_state=0).fit(S, y)
    assert np.isfinite(model.cost_history_).all()
    assert model.confidence(S).max() <= 1.0
    assert model.score(S, y) > 0.7


# Few objects


def test_sparse_prototypes_are_made_of_few_objects(wine):
    X, y = wine
    D = cdist(X, X)
    whole = RelationalGLVQ().fit(D, y)
    for sparsity in (1, 3, 10, 1000):
        model = RelationalGLVQ(sparsity=sparsity).fit(D, y)
        assert len(model.support_) <= min(3 * sparsity, len(y))
        assert model.coefficients_.shape == (3, len(model.support_))
        assert_allclose(model.coefficients_.sum(axis=1), 1.0)
        assert_allclose(model.distances(D[:, model.support_]), model.distances(D))
        assert_allclose(model.distances(D), cdist(X, model.coefficients_ @ X[model.support_]) ** 2, rtol=1e-6)
        assert model.score(D, y) > 0.9
    assert np.abs(model.distances(D) - whole.distances(D)).max() < 0.2 * whole.distances(D).max()


@each_kind
def test_patches_read_few_dissimilarities(kind):
    X, y = make_blobs(600, 5, centers=4, cluster_std=2.0, random_state=0)
    D = cdist(X, X)
    whole, patches = kind(2, random_state=0).fit(D, y), kind(2, patch_size=100, random_state=0).fit(D, y)
    assert whole.n_dissimilarities_ == 600**2
    assert patches.n_dissimilarities_ <= 6 * 180**2
    assert patches.score(D, y) > whole.score(D, y) - 0.03
    assert_allclose(patches.distances(D[:, patches.support_]), patches.distances(D))
    assert len(patches.cost_history_) == patches.n_iter_


@each_kind
def test_patches_of_objects_and_of_stored_matrices_are_the_same(kind, tmp_path):
    D = pairwise(WORDS, metric="edit")
    np.save(tmp_path / "D.npy", D)
    stored = np.load(tmp_path / "D.npy", mmap_mode="r")
    options = {"patch_size": 9, "random_state": 0, "n_approximation": 2}
    of_matrix = kind(**options).fit(D, ENDINGS)
    of_stored = kind(**options).fit(stored, ENDINGS)
    of_words = kind(metric="edit", **options).fit(WORDS, ENDINGS)
    for model, X in ((of_stored, D), (of_words, WORDS)):
        assert_array_equal(model.support_, of_matrix.support_)
        assert_allclose(model.distances(X), of_matrix.distances(D), atol=1e-9)


def test_a_failure_in_a_later_patch_loses_nothing(monkeypatch):
    X, y = make_blobs(120, 3, centers=3, random_state=0)
    D, seen = cdist(X, X), []
    learn = RelationalGLVQ._learn

    def failing(self, *args):
        seen.append(1)
        if len(seen) == 3:
            raise RuntimeError("planted")
        return learn(self, *args)

    monkeypatch.setattr(RelationalGLVQ, "_learn", failing)
    model = RelationalGLVQ(patch_size=30, random_state=0)
    with pytest.raises(RuntimeError, match="planted"):
        model.fit(D, y)
    assert model.score(D, y) > 0.9


# Input


@each_kind
def test_objects_matrices_and_sources_are_the_same(kind):
    D = pairwise(WORDS, metric="edit")
    new = ["fitting", "shattle", "lone"]
    plain = kind().fit(D, ENDINGS)
    cross = pairwise(new, WORDS, metric="edit")
    assert_array_equal(plain.predict(cross), ["-itten", "-attle", "-one"])
    edit = Dissimilarities(["a", "b"], "edit")

    def function(a, b):
        return float(edit.like([a, b]).block([0], [1])[0, 0])

    for model, X, Y in (
        (kind(metric="edit"), WORDS, new),
        (kind(metric="edit"), Dissimilarities(WORDS, "edit"), new),
        (kind(), Dissimilarities(D), cross),
        (kind(metric=function), WORDS, new),
    ):
        model.fit(X, ENDINGS)
        assert_array_equal(model.predict(Y), plain.predict(cross))
        assert_allclose(model.distances(Y), plain.distances(cross), atol=1e-9)


@each_kind
def test_a_learned_metric_is_taken(kind, wine):
    X, y = wine
    learned = GMLVQ(random_state=0, max_iter=10).fit(X, y)
    model = kind(metric=learned.metric_).fit(X, y)
    assert model.score(X, y) > 0.9


@each_kind
def test_weights_are_repetitions_and_zero_leaves_out(kind, wine):
    X, y = wine[0][::3], wine[1][::3]
    D, counts = cdist(X, X), np.arange(len(y)) % 3
    many = np.repeat(np.arange(len(y)), counts)
    kept = np.flatnonzero(counts)
    weighted = kind().fit(D, y, sample_weight=counts)
    repeated = kind().fit(D[np.ix_(many, many)], y[many])
    left = kind().fit(D[np.ix_(kept, kept)], y[kept], sample_weight=counts[kept])
    assert_allclose(weighted.distances(D), repeated.distances(D[:, many]), rtol=1e-6, atol=1e-9)
    assert_allclose(weighted.distances(D), left.distances(D[:, kept]), rtol=1e-9)
    shares = kind().fit(D, y, sample_weight=counts / counts.sum())
    assert_allclose(shares.distances(D), weighted.distances(D), rtol=1e-6, atol=1e-9)


@each_kind
def test_class_weights_are_sample_weights(kind, wine):
    X, y = wine
    D = cdist(X, X)
    by_class = kind(class_weight={0: 3.0, 1: 1.0, 2: 2.0}).fit(D, y)
    by_sample = kind().fit(D, y, sample_weight=np.array([3.0, 1.0, 2.0])[y])
    assert_array_equal(by_class.distances(D), by_sample.distances(D))
    assert kind(class_weight="balanced").fit(D, y).score(D, y) > 0.9


@each_kind
def test_cross_validation_cuts_rows_and_columns(kind, wine):
    X, y = wine
    D = cdist(X, X)
    assert cross_val_score(kind(), D, y).mean() > 0.9
    search = GridSearchCV(kind(), {"prototypes_per_class": [1, 2]}, cv=3).fit(D, y)
    assert search.best_score_ > 0.9


@each_kind
def test_prototypes_of_each_class(kind):
    D, _, y = indefinite()
    labels = np.array(["few", "many"])[y]
    model = kind({"few": 1, "many": 4}, random_state=0).fit(D, labels)
    assert_array_equal(model.prototype_labels_, ["few"] + 4 * ["many"])
    assert model.prototype_examples_.shape == (5, 5)
    assert all((labels[row] == label).all() for row, label in zip(model.prototype_examples_, model.prototype_labels_))


@each_kind
def test_doubtful_objects_are_rejected(kind, wine):
    X, y = wine
    D = cdist(X, X)
    model = kind(reject_threshold=0.2, reject_label=-1).fit(D, y)
    doubtful = model.confidence(D) < 0.2
    assert_array_equal(model.predict(D) == -1, doubtful)
    assert 0 < doubtful.sum() < len(y) / 2


@each_kind
def test_explanations_name_prototypes_and_members(kind, wine):
    X, y = wine
    D = cdist(X, X)
    model = kind(2, random_state=0).fit(D, y)
    reasons = model.explain(D)
    assert_array_equal(reasons.classes, model.predict(D))
    assert_array_equal(reasons.prototypes, model.nearest(D))
    assert (reasons.rivals != reasons.classes).all()
    assert (reasons.distances <= reasons.rival_distances).all()
    assert_array_equal(y[reasons.members[:, 0]], reasons.classes)
    assert_array_equal(y[reasons.rival_members[:, 0]], reasons.rivals)


# Bad cases


@each_kind
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda D, y: (D[:, :-1], y), "square"),
        (lambda D, y: (D, y[:-1]), "inconsistent numbers of samples"),
        (lambda D, y: (D, None), "requires y"),
        (lambda D, y: (D, np.zeros_like(y)), "at least 2 classes"),
        (lambda D, y: (D, y + 0.5), "Unknown label type"),
        (lambda D, y: (np.where(D.max() == D, np.nan, D), y), "NaN"),
        (lambda D, y: (D - 1.0 + np.eye(len(D)), y), "Negative"),
        (lambda D, y: (D + np.triu(D), y), "symmetr"),
        (lambda D, y: (np.exp(-D), y), "kernel"),
        (lambda D, y: (WORDS, ENDINGS), "texts"),
    ],
)
def test_bad_input_is_refused(kind, change, message):
    X, y = make_blobs(20, 2, centers=2, random_state=0)
    with pytest.raises(ValueError, match=message):
        kind().fit(*change(cdist(X, X), y))


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (RelationalGLVQ(init=np.ones((2, 3))), r"init has shape \(2, 3\)"),
        (RelationalGLVQ(init=np.ones((2, 20))), "add up to 1"),
        (MedianGLVQ(init=[0]), "indices of 2 objects"),
        (MedianGLVQ(init=[0, 99]), "indices of 2 objects"),
        (RelationalGLVQ(slope=(1.0, 2.0, 3.0)), "slope"),
        (MedianGLVQ(slope=-1.0), "slope"),
        (RelationalGLVQ(3, patch_size=4), "larger patches"),
        (RelationalGLVQ(11), "fewer than its 11 prototypes"),
        (MedianGLVQ(metric_params={"indel": 2.0}), "metric_params"),
    ],
    ids=str,
)
def test_bad_parameters_are_refused(model, message):
    X, y = make_blobs(20, 2, centers=2, random_state=0)
    with pytest.raises(ValueError, match=message):
        model.fit(cdist(X, X), y)


@each_kind
def test_wrong_width_is_refused(kind):
    D, _, y = indefinite()
    model = kind().fit(D, y)
    with pytest.raises(ValueError, match="expecting 60 features"):
        model.predict(D[:, :7])
    with pytest.raises(AttributeError, match="learns no metric"):
        model.metric_  # noqa: B018
    with pytest.raises(ValueError, match="needs features"):
        model.counterfactual(D)


def test_median_start_is_taken():
    X, y = make_blobs(20, 2, centers=2, random_state=0)
    first = [int(np.flatnonzero(y == c)[0]) for c in (0, 1)]
    model = MedianGLVQ(init=first, max_iter=1, squashing="identity").fit(cdist(X, X), y)
    assert model.n_iter_ == 1
    assert model.score(cdist(X, X), y) > 0.9


@each_kind
def test_equal_objects_are_classified_somehow(kind):
    model = kind(2, random_state=0).fit(np.zeros((8, 8)), np.arange(8) % 2)
    shares = model.predict_proba(np.zeros((3, 8)))
    assert np.isfinite(shares).all()
    assert np.isfinite(model.confidence(np.zeros((3, 8)))).all()


class Impatient(Solver):
    """Stops as the user would, after some steps."""

    def minimize(self, problem, start, max_iter, tol, rng, watch):
        """Improve nothing, and be interrupted."""
        for _ in range(3):
            watch(start, 0.5)
        raise KeyboardInterrupt


def test_an_interrupt_keeps_the_state_so_far():
    X, y = make_blobs(60, 3, centers=3, random_state=0)
    D = cdist(X, X)
    model = RelationalGLVQ(solver=Impatient())
    with pytest.raises(KeyboardInterrupt):
        model.fit(D, y)
    assert model.n_iter_ == 3
    assert model.score(D, y) > 0.9


def test_an_interrupt_of_exchanges_keeps_whole_rounds(monkeypatch):
    X, y = make_blobs(60, 3, centers=3, cluster_std=4.0, random_state=0)
    D, calls, plain = cdist(X, X), [], _exchange_kernels.candidate_costs

    def interrupted(*args):
        calls.append(1)
        if len(calls) == 8:
            raise KeyboardInterrupt
        return plain(*args)

    monkeypatch.setattr(_exchange_kernels, "candidate_costs", interrupted)
    model = MedianGLVQ(2, random_state=0)
    with pytest.raises(KeyboardInterrupt):
        model.fit(D, y)
    assert len(model.cost_history_) == 1
    assert model.score(D, y) > 0.5


@settings(max_examples=40, deadline=None)
@given(
    n=st.integers(4, 25),
    seed=st.integers(0, 10_000),
    scale=st.integers(-200, 200),
    ties=st.booleans(),
    per_class=st.integers(1, 2),
    kind=st.sampled_from(KINDS),
)
def test_any_dissimilarities_will_do(n, seed, scale, ties, per_class, kind):
    rng = np.random.default_rng(seed)
    D = rng.integers(1, 4, (n, n)).astype(float) if ties else rng.random((n, n))
    D = np.triu(D, 1) * 2.0**scale
    D, y = D + D.T, np.arange(n) % 2
    model = kind(per_class, random_state=0, max_iter=5).fit(D, y)
    assert np.isin(model.predict(D), y).all()
    shares, mu = model.predict_proba(D), model.relative_distance(D, y)
    assert_allclose(shares.sum(axis=1), 1.0)
    assert np.abs(mu).max() <= 1.0 + 1e-12
    assert ((model.confidence(D) >= 0) & (model.confidence(D) <= 1)).all()
    assert np.isfinite(model.cost_history_).all()
