"""Counterfactuals: they reach their class, obey what was asked, and are the smallest, by brute force."""

from functools import cache
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine

from protolearn import GLVQ, GMLVQ, GRLVQ, LGMLVQ, LGRLVQ, LVQ1, LLiRaMLVQ
from protolearn.datasets import make_cigars

SHARED = [GLVQ(2, random_state=0), GMLVQ(2, random_state=0), GRLVQ(3, random_state=0)]
LOCAL = [LGMLVQ(random_state=0), LGMLVQ(2, random_state=0), LGRLVQ(2, random_state=0)]


def name(model):
    return str(model)


@pytest.fixture(scope="module")
def counts():
    """Three features that are small integers, two classes that overlap."""
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 150)
    X = np.clip(rng.poisson(np.where(y[:, None], [4.0, 2.0, 3.0], [2.0, 4.0, 3.0])), 0, 7).astype(float)
    X[:, 2] = np.clip(X[:, 2] + np.where(y, X[:, 0] - 3, 0), 0, 7)
    return X, y


def relevance_matrices(model):
    A, slots = model._matrices("a test")
    return np.stack([np.diag(a**2) if a.ndim == 1 else a.T @ a for a in A])[slots]


def measure(model, x):
    """The matrix by which changes of a sample are measured."""
    return relevance_matrices(model)[model.nearest(x[None])[0]]


def by_restarts(model, x, rng, n_starts=5):
    """Return the least squared length that a general solver finds from many starts."""
    L, W, labels = relevance_matrices(model), model.prototypes_, model.prototype_labels_
    own = np.flatnonzero(labels == model.predict(x[None])[0])
    S, best = measure(model, x), np.inf

    def distance(z, p):
        return (z - W[p]) @ L[p] @ (z - W[p])

    for r in np.flatnonzero(labels != labels[own[0]]):

        def nearer(z, r=r):
            return np.array([distance(z, j) - distance(z, r) for j in own])

        def slopes(z, r=r):
            return np.array([2 * L[j] @ (z - W[j]) - 2 * L[r] @ (z - W[r]) for j in own])

        for s in range(n_starts):
            start = x + (W[r] - x) * (1.0 if s == 0 else rng.random()) + (s > 2) * rng.normal(size=len(x))
            found = minimize(
                lambda z: (z - x) @ S @ (z - x),
                start,
                jac=lambda z: 2 * S @ (z - x),
                constraints={"type": "ineq", "fun": nearer, "jac": slopes},
                method="SLSQP",
                options={"maxiter": 200, "ftol": 1e-12},
            )
            if (nearer(found.x) >= -1e-8).all():
                best = min(best, found.fun)
    return best


@pytest.mark.parametrize("model", SHARED + LOCAL, ids=name)
@pytest.mark.parametrize("data", ["iris", "wine"])
def test_no_restart_finds_a_smaller_change(model, data, request):
    X, y = request.getfixturevalue(data)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    model = clone(model).fit(X, y)
    rng = np.random.default_rng(1)
    some = X[rng.choice(len(X), 8, replace=False)]
    found = model.counterfactual(some, bounds=None)
    assert (model.predict(found.samples) != model.predict(some)).all()
    for x, value in zip(some, found.distances):
        assert value <= by_restarts(model, x, rng) * 1.001 + 1e-8
    assert model not in SHARED or found.proven.all()


@pytest.mark.parametrize("margin", [0.0, 0.3])
@pytest.mark.parametrize("model", [GMLVQ(2, random_state=0), LGMLVQ(2, random_state=0)], ids=name)
def test_no_point_of_a_grid_is_nearer(model, margin):
    X, y = make_cigars(random_state=0)
    model = clone(model).fit(X, y)
    low, high = X.min(axis=0), X.max(axis=0)
    grid = np.stack(np.meshgrid(*np.linspace(low, high, 150).T), axis=-1).reshape(-1, 2)
    labels, sure = model.predict(grid), model.confidence(grid) >= margin
    for x in X[::60]:
        bounds = {i: (low[i], x[i] + 0.4 * (high[i] - x[i])) for i in range(2)}
        inside = (grid <= [bounds[0][1], bounds[1][1]]).all(axis=1)
        ok = grid[(labels != model.predict(x[None])[0]) & sure & inside]
        best = np.einsum("ni,ij,nj->n", ok - x, measure(model, x), ok - x).min(initial=np.inf)
        found = model.counterfactual(x[None], bounds=bounds, margin=margin)
        assert found.distances[0] <= best
        assert found.found[0] or best == np.inf
        if found.found[0]:
            assert model.confidence(found.samples)[0] >= margin
            assert model.predict(found.samples)[0] != model.predict(x[None])[0]


@pytest.mark.parametrize(
    "model", [GMLVQ(2, random_state=0), LGMLVQ(2, random_state=0), LGRLVQ(2, random_state=0)], ids=name
)
@pytest.mark.parametrize("margin", [0.0, 0.2])
def test_integers_by_enumeration(model, margin, counts):
    X, y = counts
    model = clone(model).fit(X, y)
    every = np.array(list(product(range(8), repeat=3)), dtype=float)
    labels, sure = model.predict(every), model.confidence(every) >= margin
    some = X[::18]
    found = model.counterfactual(some, bounds=dict.fromkeys(range(3), (0, 7)), integers=[0, 1, 2], margin=margin)
    assert np.array_equal(found.samples, np.round(found.samples))
    for x, label, value in zip(some, model.predict(some), found.distances):
        ok = every[(labels != label) & sure]
        lengths = np.einsum("ni,ij,nj->n", ok - x, measure(model, x), ok - x)
        assert value == pytest.approx(lengths.min(initial=np.inf), rel=1e-5)


@pytest.mark.parametrize("model", [GMLVQ(2, random_state=0), LGMLVQ(2, random_state=0)], ids=name)
def test_few_features_by_enumeration(model, counts):
    X, y = counts
    model = clone(model).fit(X, y)
    axis = np.arange(0.0, 7.01, 0.25)
    every = np.stack(np.meshgrid(axis, axis, axis), axis=-1).reshape(-1, 3)
    labels = model.predict(every)
    some = X[::13]
    found = model.counterfactual(some, bounds=dict.fromkeys(range(3), (0, 7)), sparse=True)
    assert found.found.all()
    for x, label, sample, value in zip(some, model.predict(some), found.samples, found.distances):
        size = int((sample != x).sum())
        for n_features in range(1, size + 1):
            for chosen in combinations(range(3), n_features):
                others = np.delete(np.arange(3), chosen)
                ok = every[(labels != label) & (every[:, others] == x[others]).all(axis=1)]
                lengths = np.einsum("ni,ij,nj->n", ok - x, measure(model, x), ok - x)
                assert lengths.min(initial=np.inf) >= (value * (1 - 1e-9) if n_features == size else np.inf)


def test_sparse_changes_of_many_features_cannot_lose_any():
    """Beyond the budget of sets, features are left out one by one, and those that remain are all needed."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    X = rng.normal(size=(200, 40)) + 0.6 * y[:, None]
    model = GMLVQ().fit(X, y)
    bounds = dict.fromkeys(range(40), (-2.5, 2.5))
    some = X[(np.abs(X) < 2.5).all(axis=1)][:3]
    found = model.counterfactual(some, bounds=bounds, sparse=True)
    for x, sample in zip(some, found.samples):
        changed = np.flatnonzero(sample != x)
        assert len(changed) == fewest_to_a_half_space(model, x, -2.5, 2.5)
        if len(changed) > 2:
            for i in changed:
                fixed = [j for j in range(40) if j not in changed or j == i]
                assert not model.counterfactual(x[None], bounds=bounds, fixed=fixed).found[0]


def fewest_to_a_half_space(model, x, low, high):
    """With two prototypes: the features that can do most, until they do enough."""
    own, other = model.prototypes_[[model.nearest(x[None])[0], 1 - model.nearest(x[None])[0]]]
    S = measure(model, x)
    slope = 2 * S @ (other - own)
    needed = (x - other) @ S @ (x - other) - (x - own) @ S @ (x - own)
    gains = np.sort(np.maximum(slope * (low - x), slope * (high - x)))[::-1]
    return int(np.searchsorted(np.cumsum(gains), needed)) + 1


@pytest.fixture(scope="module")
def mixed():
    """Two numbers, and one of three categories as columns."""
    rng = np.random.default_rng(5)
    kind = rng.integers(0, 3, 200)
    numbers = rng.normal(size=(200, 2))
    y = (numbers.sum(axis=1) + np.array([-1.0, 0.0, 1.0])[kind] + 0.3 * rng.normal(size=200) > 0).astype(int)
    return np.hstack([numbers, np.eye(3)[kind]]), y


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("model", [GMLVQ(), LGMLVQ(random_state=0)], ids=name)
def test_groups_by_enumeration(model, sparse, mixed):
    X, y = mixed
    model = clone(model).fit(X, y)
    axis = np.linspace(-1.0, 1.0, 41)
    for x in X[(np.abs(X[:, :2]) < 1).all(axis=1)][:8]:
        found = model.counterfactual(x[None], bounds={0: (-1, 1), 1: (-1, 1)}, groups=[[2, 3, 4]], sparse=sparse)
        sample = found.samples[0]
        assert sorted(sample[2:]) == [0, 0, 1]
        first, second = np.append(axis, x[0]), np.append(axis, x[1])
        every = np.array([[a, b, *code] for a in first for b in second for code in np.eye(3)])
        ok = every[model.predict(every) != model.predict(x[None])[0]]
        lengths = np.einsum("ni,ij,nj->n", ok - x, measure(model, x), ok - x)
        n_changed = (ok[:, :2] != x[:2]).sum(axis=1) + (ok[:, 2:] != x[2:]).any(axis=1)
        if not len(ok):
            continue
        assert found.found[0]
        if sparse:
            size = (sample[:2] != x[:2]).sum() + (sample[2:] != x[2:]).any()
            assert size <= n_changed.min()
            lengths = lengths[n_changed == size]
        assert found.distances[0] <= lengths.min(initial=np.inf) * (1 + 1e-9)


@cache
def on_iris(kind):
    return kind(2, random_state=0).fit(*load_iris(return_X_y=True))


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_what_was_asked_holds_exactly(data):
    X = load_iris().data
    model = on_iris(data.draw(st.sampled_from([GMLVQ, LGMLVQ])))
    x = X[data.draw(st.integers(0, 149))]
    roles = [data.draw(st.sampled_from(["free", "fixed", "increasing", "decreasing", "integers"])) for _ in range(4)]
    x = np.where([role == "integers" for role in roles], np.round(x), x)
    room = [data.draw(st.tuples(st.floats(0, 3), st.floats(0, 3)) | st.none()) for _ in range(4)]
    bounds = {i: (x[i] - pair[0], x[i] + pair[1]) for i, pair in enumerate(room) if pair is not None}
    asked = {
        kind: [i for i in range(4) if roles[i] == kind] for kind in ("fixed", "increasing", "decreasing", "integers")
    }
    target, margin = data.draw(st.sampled_from([None, 0, 1, 2])), data.draw(st.sampled_from([0.0, 0.2]))
    sparse = data.draw(st.booleans())
    found = model.counterfactual(x[None], target, bounds=bounds, sparse=sparse, margin=margin, **asked)
    (z,) = found.samples
    assert np.array_equal(z[asked["fixed"]], x[asked["fixed"]])
    assert (z[asked["increasing"]] >= x[asked["increasing"]]).all()
    assert (z[asked["decreasing"]] <= x[asked["decreasing"]]).all()
    assert np.array_equal(z[asked["integers"]], np.round(z[asked["integers"]]))
    assert all(low <= z[i] <= high for i, (low, high) in bounds.items())
    assert np.array_equal(found.classes, model.predict(z[None]))
    assert found.found[0] == np.isfinite(found.distances[0])
    if not found.found[0]:
        assert np.array_equal(z, x)
    else:
        assert found.classes[0] == target if target is not None else found.classes[0] != model.predict(x[None])[0]
        assert model.confidence(z[None])[0] >= margin
        assert found.distances[0] == pytest.approx((z - x) @ measure(model, x) @ (z - x), rel=1e-9, abs=1e-15)


@pytest.mark.parametrize("model", [GMLVQ(2, random_state=0), LGMLVQ(2, random_state=0)], ids=name)
@pytest.mark.parametrize("target", [0, 2])
def test_margins_are_reached_and_cost_more(model, target, wine):
    X, y = wine
    model = clone(model).fit(X, y)
    lengths = []
    for margin in (0.0, 0.1, 0.4):
        found = model.counterfactual(X[::30], target, margin=margin, bounds=None)
        assert found.found.all()
        assert (model.predict(found.samples) == target).all()
        assert (model.confidence(found.samples) >= margin).all()
        lengths.append(found.distances)
    assert (np.diff(lengths, axis=0) >= -1e-9).all()


def test_rejected_samples_are_no_answer(wine):
    X, y = wine
    model = GMLVQ(reject_threshold=0.3).fit(X, y)
    found = model.counterfactual(X[::30], target=1)
    assert (model.predict(found.samples) == 1).all()


@pytest.mark.parametrize("model", [GMLVQ(missing="partial"), LGMLVQ(missing="partial", random_state=0)], ids=name)
def test_missing_values_stay_missing_and_take_no_part(model, wine):
    X, y = wine
    rng = np.random.default_rng(0)
    holes = np.where(rng.random(X.shape) < 0.3, np.nan, X)
    model = clone(model).fit(holes, y)
    some = holes[::20]
    found = model.counterfactual(some)
    assert np.array_equal(np.isnan(found.samples), np.isnan(some))
    assert (model.predict(found.samples) != model.predict(some)).all()
    assert (found.changes[np.isnan(some)] == 0).all()
    assert np.isfinite(found.distances).all()
    known = ~np.isnan(some[0])
    L = relevance_matrices(model)[model.nearest(some[:1])[0]][np.ix_(known, known)]
    delta = found.changes[0][known]
    assert found.distances[0] == pytest.approx(delta @ L @ delta)


def test_two_classes_around_one_center():
    """A sample at the common center can leave in two directions; descent alone would stay where it is."""
    rng = np.random.default_rng(0)
    X = np.concatenate([0.4 * rng.normal(size=(200, 2)), 3.0 * rng.normal(size=(200, 2)) * [1.0, 0.3]])
    model = LGMLVQ(norm="each", random_state=0, init=np.zeros((2, 2)), max_iter=30).fit(X, np.repeat([0, 1], 200))
    model.prototypes_ = np.zeros((2, 2))
    model._center = np.zeros(2)
    x = np.array([0.3, 0.1])
    for sample in (np.array([[0.0, 1e-3]]), np.array([[1e-3, 0.0]]), x[None]):
        found = model.counterfactual(sample)
        assert found.found[0]
        assert found.proven[0]
        assert model.predict(found.samples)[0] != model.predict(sample)[0]


def test_lengths_of_equal_weight(wine):
    X, y = wine
    model = GMLVQ(2, random_state=0).fit(X, y)
    plain, euclidean = model.counterfactual(X[::30]), model.counterfactual(X[::30], length="euclidean")
    assert np.allclose(euclidean.distances, (euclidean.changes**2).sum(axis=1))
    assert (euclidean.distances <= (plain.changes**2).sum(axis=1) + 1e-9).all()
    assert (model.predict(euclidean.samples) != model.predict(X[::30])).all()


@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_scale_of_the_samples_does_not_matter(scale, wine):
    X, y = wine
    X = X[:, :5]
    for model in (GMLVQ(2, random_state=0), LGMLVQ(random_state=0)):
        one = clone(model).fit(X, y)
        other = clone(one).fit(X, y)
        other.prototypes_, other._center = one.prototypes_ * scale, one._center * scale
        other.feature_ranges_ = one.feature_ranges_ * scale
        asked = {"fixed": [0], "margin": 0.1}
        found = one.counterfactual(X[::30], **asked)
        scaled = other.counterfactual(X[::30] * scale, **asked)
        assert np.allclose(scaled.samples, found.samples * scale, rtol=1e-6, atol=1e-6 * scale)


def test_features_by_name_and_tables():
    iris = load_iris(as_frame=True)
    model = GMLVQ().fit(iris.data, iris.target_names[iris.target])
    sample = iris.data[:1]
    length, width = "petal length (cm)", "petal width (cm)"
    found = model.counterfactual(sample, "versicolor", fixed=["sepal length (cm)", 1], bounds={length: (None, 6)})
    lines = found.table().splitlines()
    assert lines[0] == "setosa becomes versicolor with"
    assert sorted(line.split(" (cm)")[0].strip() for line in lines[1:]) == ["petal length", "petal width"]
    assert f"1.4 -> {found.samples[0, 2]:.4g}" in found.table()
    assert len(found.table(n_features=1).splitlines()) == 3
    nothing = model.counterfactual(sample, "virginica", fixed=list(range(4)))
    assert not nothing.found[0]
    assert nothing.proven[0]
    assert nothing.distances[0] == np.inf
    assert nothing.table() == "setosa. There is no allowed change to class virginica."
    assert model.counterfactual(sample, "setosa").table() == "setosa, the requested class, without any change."
    only = model.counterfactual(sample, increasing=width, sparse=True)
    assert np.array_equal(only.samples[0, :2], sample.to_numpy()[0, :2])


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"fixed": ["petal"]}, "fixed contains 'petal', which is not a feature. There are 4 features: x0, x1, x2, x3"),
        ({"bounds": {4: (0, 1)}}, "bounds contains 4, which is not a feature"),
        ({"bounds": {0: (9, 1)}}, "the lower one is above the upper one"),
        ({"bounds": {0: 3}}, "expected two numbers, None for no bound"),
        ({"bounds": "train"}, "bounds='train' must be 'training' .*, a dict from features to pairs"),
        ({"bounds": [(0, 1)] * 4}, "must be 'training' .*, a dict from features to pairs"),
        ({"groups": [[0, 1], [1, 2]]}, "only once in groups"),
        ({"increasing": [1], "decreasing": [1]}, "x1 is both increasing and decreasing"),
        ({"margin": 1.0}, "margin=1.0 must be a number in"),
        ({"length": "l7"}, "length='l7' must be one of 'metric', 'euclidean'"),
    ],
)
def test_requests_that_make_no_sense(asked, message, iris):
    model = GLVQ().fit(*iris)
    with pytest.raises(ValueError, match=message):
        model.counterfactual(iris[0][:1], **asked)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"bounds": {0: (4.5, 5)}}, "It has x0=5.1, outside its bounds 4.5 to 5."),
        ({"integers": [0]}, "It has x0=5.1, but x0 is one of the integers."),
        ({"groups": [[0, 1]]}, "It has [5.1, 3.5] in the group x0, x1; one must be 1 and the others 0."),
    ],
)
def test_a_sample_that_is_not_allowed_itself_does_not_concern_others(asked, message, iris):
    model = GLVQ().fit(*iris)
    others = {"bounds": [4.9, 3.0, 1.4, 0.2], "integers": [5.0, 3.5, 1.4, 0.2], "groups": [1.0, 0.0, 1.4, 0.2]}
    some = np.array([iris[0][0], others[next(iter(asked))]])
    found = model.counterfactual(some, **asked)
    assert found.found.tolist() == [False, True]
    assert found.messages.tolist() == [f"The sample itself is not allowed. {message}", ""]
    assert found.distances[0] == np.inf
    assert np.array_equal(found.samples[0], some[0])
    assert np.array_equal(found.samples[1], model.counterfactual(some[1:], **asked).samples[0])
    assert found.table() == f"0. The sample itself is not allowed. {message}"
    assert message in str(found)


KINDS = [GMLVQ(2, random_state=0), GRLVQ(random_state=0), LGMLVQ(2, random_state=0), LVQ1(2, random_state=0)]


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("model", KINDS, ids=name)
def test_changes_stay_within_the_training_samples(model, sparse, wine):
    X, y = wine
    X = X[:, :6]
    model = clone(model).fit(X, y)
    assert np.array_equal(model.feature_ranges_, [X.min(axis=0), X.max(axis=0)])
    some, asked = X[::12], {"sparse": sparse, "target": 2, "margin": 0.3}
    free = model.counterfactual(some, bounds=None, **asked)
    found = model.counterfactual(some, **asked)
    outside = ((free.samples < X.min(axis=0)) | (free.samples > X.max(axis=0))).any(axis=1)
    assert outside.any() or not (sparse and isinstance(model, GMLVQ))
    assert ((X.min(axis=0) <= found.samples) & (found.samples <= X.max(axis=0))).all()
    assert np.array_equal(found.messages == "", found.found)
    explicit = model.counterfactual(some, bounds=dict(enumerate(zip(X.min(axis=0), X.max(axis=0)))), **asked)
    assert np.array_equal(found.samples, explicit.samples)
    wide = model.counterfactual(some, bounds=dict.fromkeys(range(6), (None, None)), **asked)
    assert np.array_equal(wide.samples, free.samples)


def test_values_outside_of_the_training_samples_may_stay(wine):
    X, y = wine
    model = GMLVQ(random_state=0).fit(X, y)
    low, high = model.feature_ranges_
    new = X[:4].copy()
    new[:, 0], new[:, 1] = high[0] + 2.0, low[1] - 1.0
    found = model.counterfactual(new, target=1)
    assert found.found.all()
    assert ((np.minimum(low, new) <= found.samples) & (found.samples <= np.maximum(high, new))).all()


def test_ranges_follow_streams_and_leave_out_what_is_missing_or_weighs_nothing(wine):
    X, y = wine
    for model in (GLVQ(random_state=0), LVQ1(random_state=0)):
        model.partial_fit(X[::2], y[::2], [0, 1, 2]).partial_fit(X[1::2], y[1::2])
        assert np.array_equal(model.feature_ranges_, [X.min(axis=0), X.max(axis=0)])
    weights = np.where(X[:, 0] == X[:, 0].max(), 0.0, 1.0)
    model = GLVQ(random_state=0).fit(X, y, weights)
    assert model.feature_ranges_[1, 0] == np.sort(X[:, 0])[-2]
    holes = X.copy()
    holes[1:, 2], holes[:, 3] = np.nan, np.nan
    model = GLVQ(missing="partial", random_state=0).fit(holes, y)
    assert np.array_equal(model.feature_ranges_[:, 2:4], [[X[0, 2], np.inf], [X[0, 2], -np.inf]])
    new = X[:3].copy()
    found = model.counterfactual(new)
    assert np.array_equal(found.samples[:, 3], new[:, 3])


def test_models_that_do_not_know_their_ranges_say_so(wine):
    X, y = wine
    model = GMLVQ(random_state=0).fit(X, y)
    del model.feature_ranges_
    with pytest.warns(UserWarning, match="not limited to the ranges of the training samples.* an earlier version"):
        found = model.counterfactual(X[:2], target=1)
    assert np.array_equal(found.samples, model.counterfactual(X[:2], target=1, bounds=None).samples)


@pytest.mark.parametrize("length", ["metric", "euclidean"])
def test_directions_that_only_other_prototypes_see(length):
    """Matrices of rank two, features of many sizes: what the nearest prototype does not see must not run away."""
    X, y = load_wine(return_X_y=True)
    model = LGMLVQ(2, n_components=2, random_state=0, max_iter=20).fit(X, y)
    low, high = X.min(axis=0), X.max(axis=0)
    bounds = dict(enumerate(zip(low, high)))
    found = model.counterfactual(X[::30], 1, bounds=bounds, margin=0.5, length=length)
    rng = np.random.default_rng(0)
    some = rng.uniform(low, high, (5000, 13))
    reachable = ((model.predict(some) == 1) & (model.confidence(some) >= 0.5)).any()
    assert found.found.all() == reachable
    assert (model.predict(found.samples) == 1)[found.found].all()
    assert ((found.samples >= low) & (found.samples <= high)).all()


@pytest.mark.parametrize("model", [LVQ1(2), LLiRaMLVQ(2)], ids=name)
def test_other_kinds(model, wine):
    X, y = wine
    model = clone(model).set_params(random_state=0).fit(X, y)
    found = model.counterfactual(X[::30], bounds=dict.fromkeys(range(13), (-5, 5)), sparse=True, margin=0.05)
    assert (model.predict(found.samples) != model.predict(X[::30]))[found.found].all()
    assert found.found.all()
