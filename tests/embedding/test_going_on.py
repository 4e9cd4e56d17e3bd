"""Views of SNE and t-SNE that are continued, followed, and joined by new samples."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits, load_iris
from sklearn.neighbors import kneighbors_graph

from protolearn import GMLVQ, LGMLVQ, SNE, TSNE
from protolearn.core.threads import Threads
from protolearn.embedding._exact import Exact
from protolearn.embedding._tsne import placed
from protolearn.embedding.affinities import GaussianKernel, StudentKernel
from protolearn.metrics import nearest_neighbor_error

IRIS, CLASSES = load_iris(return_X_y=True)
IRIS = IRIS + np.random.default_rng(0).normal(size=(150, 4)) * 1e-3
HALF, REST = IRIS[::2], IRIS[1::2]
SHORT = {"perplexity": 10, "max_iter": 30, "early_exaggeration_iter": 6, "random_state": 0}
BOTH = pytest.mark.parametrize("estimator", [SNE, TSNE])
METHODS = pytest.mark.parametrize("method", ["exact", "fast"])


# Going on


@BOTH
@METHODS
@pytest.mark.parametrize("first", [3, 18, 29])
def test_two_fits_are_as_good_as_one(estimator, method, first):
    short = dict(SHORT, early_exaggeration_iter=min(6, first // 3))
    whole = estimator(method=method, **short).fit(HALF)
    parts = estimator(method=method, **dict(short, max_iter=first)).fit(HALF)
    parts.set_params(warm_start=True, max_iter=30 - first).fit(HALF)
    assert parts.n_iter_ == whole.n_iter_ == 30
    # a grid that is laid out anew rounds otherwise
    tolerance = 1e-9 if method == "exact" else 1e-3
    np.testing.assert_allclose(parts.embedding_, whole.embedding_, atol=tolerance * np.ptp(whole.embedding_))
    np.testing.assert_allclose(parts.divergence_, whole.divergence_, rtol=tolerance)


def test_what_was_interrupted_goes_on(monkeypatch):
    step, calls = Exact.step, []

    def interrupted(self, *args):
        calls.append(1)
        if len(calls) == 5:
            raise KeyboardInterrupt
        return step(self, *args)

    whole = TSNE(**SHORT).fit(HALF)
    model = TSNE(warm_start=True, **SHORT)
    monkeypatch.setattr(Exact, "step", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.fit(HALF)
    assert model.n_iter_ == 4  # of six with exaggeration
    model = pickle.loads(pickle.dumps(model))
    model.set_params(max_iter=26).fit(HALF)
    np.testing.assert_allclose(model.embedding_, whole.embedding_, atol=1e-9 * np.ptp(whole.embedding_))


def test_an_interrupt_before_the_first_step_changes_nothing(monkeypatch):
    def interrupted(self, *args):
        raise KeyboardInterrupt

    model = TSNE(warm_start=True, **SHORT).fit(HALF)
    state = dict(vars(model))
    monkeypatch.setattr(Exact, "step", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.fit(HALF)
    assert vars(model) == state


def test_history_is_continued():
    model = TSNE(warm_start=True, **dict(SHORT, max_iter=110)).fit(HALF)
    first, positions = list(model.divergence_history_), model.embedding_.copy()
    before = model.embedding_
    model.fit(HALF)
    assert model.divergence_history_[: len(first)] == first
    assert len(model.divergence_history_) == 4
    np.testing.assert_array_equal(before, positions)  # what was handed out stays as it was


def test_known_affinities_are_not_found_again():
    model = TSNE(warm_start=True, **SHORT).fit(HALF)
    known = model.affinities_
    assert model.fit(HALF).affinities_ is known
    assert model.fit(HALF + 1.0).affinities_ is not known
    known = model.affinities_
    wider = model.set_params(perplexity=20).fit(HALF + 1.0)
    assert wider.affinities_ is not known
    np.testing.assert_allclose(wider.affinities_, TSNE(**dict(SHORT, perplexity=20)).fit(HALF).affinities_, atol=1e-9)


@METHODS
def test_exaggeration_draws_clusters_together(method):
    model = TSNE(method=method, **dict(SHORT, max_iter=200, early_exaggeration_iter=60)).fit(IRIS)
    spread = within(model.embedding_)
    model.set_params(warm_start=True, exaggeration=4.0).fit(IRIS)
    assert within(model.embedding_) < 0.7 * spread
    straight = TSNE(method=method, exaggeration=4.0, **dict(SHORT, max_iter=200, early_exaggeration_iter=60))
    assert within(straight.fit_transform(IRIS)) < 0.7 * spread


def within(view):
    """Return the size of the three kinds of iris relative to that of their view."""
    return np.mean([view[c == CLASSES].std(axis=0).mean() for c in range(3)]) / view.std()


def test_another_shape_cannot_go_on():
    model = TSNE(warm_start=True, **SHORT).fit(HALF)
    with pytest.raises(ValueError, match="warm_start=True goes on with a view of the shape"):
        model.fit(HALF[1:])
    with pytest.raises(ValueError, match="n_components"):
        model.set_params(n_components=3).fit(HALF)


# Following


def test_what_a_callback_sees():
    seen = []
    model = TSNE(callback=lambda state: seen.append((state, state.embedding, state.divergence)), **SHORT).fit(HALF)
    assert [state.iteration for state, *_ in seen] == list(range(1, 31))
    assert [state.exaggeration for state, *_ in seen] == [12.0] * 6 + [1.0] * 24
    np.testing.assert_array_equal(seen[-1][1], model.embedding_)
    assert seen[-1][2] == model.divergence_
    _, positions, divergence = seen[19]
    part = TSNE(**dict(SHORT, max_iter=20)).fit(HALF)
    np.testing.assert_array_equal(part.embedding_, positions)
    assert part.divergence_ == divergence


@pytest.mark.parametrize("kind", ["returns", "raises"])
def test_a_callback_may_end_it(kind):
    def follow(state):
        if state.iteration == 20:
            if kind == "raises":
                raise StopIteration
            return True

    model = TSNE(callback=follow, **SHORT).fit(HALF)
    assert model.n_iter_ == 20
    np.testing.assert_array_equal(model.embedding_, TSNE(**dict(SHORT, max_iter=20)).fit(HALF).embedding_)


# New samples


@pytest.mark.parametrize("kernel", [StudentKernel(), StudentKernel(2.5), GaussianKernel()], ids=str)
@pytest.mark.parametrize("d", [1, 2, 3])
def test_new_samples_go_where_the_divergence_is_least(kernel, d):
    rng = np.random.default_rng(d)
    points = rng.normal(size=(60, d)) * (4.0 if isinstance(kernel, StudentKernel) else 1.5)
    indices = np.argsort(cdist(rng.normal(size=(5, d)), points))[:, :6]
    p = rng.dirichlet(np.ones(6), size=5)

    def cost(y, i):
        w = kernel.weights(cdist(y[None], points, "sqeuclidean")[0])
        return -p[i] @ np.log(w[indices[i]]) + np.log(w.sum())

    found = placed(points, indices, p, kernel, Threads())
    assert found.shape == (5, d)
    for i, y in enumerate(found):
        start = points[indices[i, 0]]
        assert cost(y, i) <= cost(start, i)
        assert cost(y, i) < minimize(cost, y, args=(i,), options={"gtol": 1e-7}).fun + 1e-3


@BOTH
@METHODS
def test_samples_of_the_view_have_their_own_positions(estimator, method):
    model = estimator(method=method, **SHORT).fit(HALF)
    np.testing.assert_array_equal(model.transform(HALF), model.embedding_)


def test_nearly_the_same_samples_have_nearly_the_same_positions():
    X, y = load_digits(return_X_y=True)
    model = TSNE(random_state=0).fit(X[:400])
    near = model.transform(X[:400] + 1e-3)
    distances = np.linalg.norm(near - model.embedding_, axis=1)
    assert np.median(distances) < 0.02 * np.ptp(model.embedding_)
    placed_ones = model.transform(X[400:800])
    found = cdist(placed_ones, model.embedding_).argmin(axis=1)
    wrong, least = np.mean(y[:400][found] != y[400:800]), np.mean(y[cdist(X[400:800], X[:400]).argmin(1)] != y[400:800])
    assert wrong < least + 0.02
    assert nearest_neighbor_error(model.embedding_, y[:400]) < 0.05


@BOTH
def test_new_samples_do_not_see_each_other(estimator):
    model = estimator(**SHORT).fit(HALF)
    together = model.transform(REST)
    np.testing.assert_array_equal(np.vstack([model.transform(one[None]) for one in REST[:10]]), together[:10])
    np.testing.assert_array_equal(model.transform(REST[::-1]), together[::-1])


def test_new_samples_by_any_form_of_the_data():
    vectors = TSNE(**SHORT).fit(HALF)
    expected = vectors.transform(REST)

    def check(model, new):
        model.embedding_ = vectors.embedding_  # but for rounding the same
        np.testing.assert_allclose(model.transform(new), expected, atol=1e-3 * np.ptp(expected))

    D, new = cdist(HALF, HALF), cdist(REST, HALF)
    check(TSNE(metric="precomputed", **SHORT).fit(D), new)
    check(TSNE(metric="precomputed", squared=True, **SHORT).fit(D**2), new**2)
    graph = kneighbors_graph(HALF, 30, mode="distance")
    nearest = sparse.csr_array(np.where(new <= np.sort(new)[:, 11:12], new, 0.0))
    check(TSNE(metric="precomputed", **SHORT).fit(graph), nearest)
    check(TSNE(metric="euclidean", **SHORT).fit(HALF.astype(np.float32)), REST.astype(np.float32))
    check(TSNE(metric=lambda a, b: np.linalg.norm(np.subtract(a, b)), **SHORT).fit(list(HALF)), list(REST))


@pytest.mark.parametrize("classifier", [GMLVQ(), LGMLVQ()], ids=lambda c: type(c).__name__)
def test_new_samples_by_a_learned_metric(classifier):
    classifier.fit(HALF, CLASSES[::2])
    model = TSNE(metric=classifier, **dict(SHORT, max_iter=200)).fit(HALF)
    np.testing.assert_allclose(model.transform(HALF), model.embedding_, atol=1e-6 * np.ptp(model.embedding_))
    found = cdist(model.transform(REST), model.embedding_).argmin(axis=1)
    assert np.mean(CLASSES[::2][found] == CLASSES[1::2]) > 0.9


def test_new_words():
    words = [stem + ending for stem in ("neighbor", "view", "chance") for ending in ("", "s", "ing", "ed", "er", "y")]
    model = TSNE(metric="edit", perplexity=4, max_iter=300, random_state=0).fit(words)
    found = cdist(model.transform(["neighbors2", "views2", "chances2"]), model.embedding_).argmin(axis=1)
    np.testing.assert_array_equal(found // 6, [0, 1, 2])
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.transform(["viewing"]), model.transform(["viewing"]))


def test_far_samples_stay_within_the_view():
    model = TSNE(**SHORT).fit(HALF)
    far = model.transform(1e6 * np.ones((1, 4)))
    room = 0.2 * np.ptp(model.embedding_, axis=0)
    assert (far > model.embedding_.min(axis=0) - room).all()
    assert (far < model.embedding_.max(axis=0) + room).all()


@pytest.mark.parametrize(
    ("made_of", "new", "message"),
    [
        ("vectors", HALF[:, :2], "features"),
        ("vectors", np.full((1, 4), np.nan), "NaN"),
        ("pairs", cdist(REST, HALF)[:, 1:], "features"),
        ("pairs", -cdist(REST, HALF), "negative"),
        ("graph", kneighbors_graph(HALF, 5, mode="distance"), "only 5 neighbors"),
        ("graph", -kneighbors_graph(HALF, 30, mode="distance"), "negative"),
        ("graph", cdist(REST, HALF), "sparse graph"),
    ],
)
def test_bad_new_samples(made_of, new, message):
    X = {"vectors": HALF, "pairs": cdist(HALF, HALF), "graph": kneighbors_graph(HALF, 30, mode="distance")}[made_of]
    model = TSNE(metric="euclidean" if made_of == "vectors" else "precomputed", **dict(SHORT, max_iter=3)).fit(X)
    with pytest.raises((ValueError, TypeError), match=message):
        model.transform(new)
