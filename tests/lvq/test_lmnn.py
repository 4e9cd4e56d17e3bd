"""LMNN: cost and gradients against all triples, exact lists of near pairs, the convex optimum and its certificate."""

import warnings
from copy import copy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import eigh
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine, make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from protolearn.core.progress import Progress
from protolearn.lvq import _lmnn
from protolearn.lvq._lmnn import LMNN, LargeMarginCost, NearPairs, clip_eigenvalues, target_neighbors

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

IRIS = StandardScaler().fit_transform(load_iris().data), load_iris().target
WINE = StandardScaler().fit_transform(load_wine().data), load_wine().target


def overlapping(n=40, n_features=4, apart=0.5):
    y = np.arange(n) % 3
    X = np.random.default_rng(0).normal(size=(n, n_features)) + apart * y[:, None]
    return X - X.mean(axis=0), y


@pytest.mark.parametrize("method", ["low_rank", "psd"])
def test_an_interrupted_fit_keeps_the_metric_so_far(method, monkeypatch):
    def interrupt(self, done, *, cost):
        if done == 5:
            raise KeyboardInterrupt

    first = LMNN(method=method, max_iter=5).fit(*WINE)
    monkeypatch.setattr(Progress, "step", interrupt)
    model = LMNN(method=method, max_iter=100)
    with pytest.raises(KeyboardInterrupt):
        model.fit(*WINE)
    assert model.n_iter_ == 5
    if method == "low_rank":
        assert_allclose(model.components_, first.components_)
    else:  # the schedule of the smoothing depends on max_iter
        cost = LargeMarginCost(WINE[0] - WINE[0].mean(axis=0), WINE[1], 3, 0.5)
        assert cost.by_factor(model.components_)[0] == pytest.approx(min(model.cost_history_))


def triples(cost):
    """List all (sample, target, sample of another class)."""
    for i, targets in enumerate(cost.targets):
        for j in targets:
            for k in np.flatnonzero(cost.codes != cost.codes[i]):
                yield i, j, k


def by_definition(cost, gamma, hinge=lambda excess: max(0.0, excess)):
    def d(i, j):
        return (cost.X[i] - cost.X[j]) @ gamma @ (cost.X[i] - cost.X[j])

    pulled = sum(d(i, j) for i, targets in enumerate(cost.targets) for j in targets)
    return (1 - cost.push) * pulled + cost.push * sum(hinge(1 + d(i, j) - d(i, k)) for i, j, k in triples(cost))


def slopes(function, at, eps=1e-6):
    """Return central differences by every entry."""
    result = np.empty_like(at)
    for index in np.ndindex(at.shape):
        step = np.zeros_like(at)
        step[index] = eps
        result[index] = (function(at + step) - function(at - step)) / (2 * eps)
    return result


@pytest.mark.parametrize("n_components", [1, 2, 4])
@pytest.mark.parametrize("push", [0.2, 0.5, 1.0])
def test_cost_and_gradient_by_factor(n_components, push):
    cost = LargeMarginCost(*overlapping(), 3, push)
    upsilon = np.random.default_rng(1).normal(size=(n_components, 4)) / 2
    value, gradient = cost.by_factor(upsilon)
    assert_allclose(value, by_definition(cost, upsilon.T @ upsilon), rtol=1e-12)
    assert_allclose(gradient, slopes(lambda u: cost.by_factor(u)[0], upsilon), rtol=1e-6, atol=1e-5)


@pytest.mark.parametrize("smoothing", [0.0, 0.3])
def test_cost_and_gradient_by_matrix(smoothing):
    cost = LargeMarginCost(*overlapping(24), 2, 0.5)

    def rounded(excess):
        if excess <= 0 or excess >= smoothing:
            return max(0.0, excess - smoothing / 2)
        return excess**2 / (2 * smoothing)

    factor = np.random.default_rng(1).normal(size=(4, 4)) / 2
    gamma, root = clip_eigenvalues(factor.T @ factor)
    exact, smoothed, gradient = cost.by_matrix(root, smoothing)
    assert_allclose(exact, by_definition(cost, gamma), rtol=1e-12)
    assert_allclose(smoothed, by_definition(cost, gamma, rounded), rtol=1e-12)
    expected = slopes(lambda g: by_definition(cost, g, rounded), gamma, 1e-5)
    assert_allclose(gradient, expected, rtol=1e-6, atol=1e-5)


@settings(max_examples=20, deadline=None)
@given(
    values=st.lists(st.tuples(*[st.integers(-2, 2)] * 3), min_size=12, max_size=24),
    n_neighbors=st.integers(1, 3),
    tile=st.sampled_from([(1, 2), (3, 4), (512, 1024)]),
)
def test_cost_with_ties_and_duplicates(values, n_neighbors, tile):
    X = np.array(values, dtype=float)
    y = np.arange(len(X)) % 3
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_lmnn, "TILE", tile)
        cost = LargeMarginCost(X, y, n_neighbors, 0.5)
        value, _ = cost.by_factor(np.eye(3))
    assert_allclose(value, by_definition(cost, np.eye(3)), rtol=1e-12)


@settings(max_examples=20, deadline=None)
@given(values=st.lists(st.tuples(*[st.integers(-2, 2)] * 2), min_size=8, max_size=20), n_neighbors=st.integers(1, 3))
def test_targets_are_the_nearest_of_the_class(values, n_neighbors):
    X = np.array(values, dtype=float)
    y = np.arange(len(X)) % 2
    targets = target_neighbors(X, y, n_neighbors)
    for i, row in enumerate(targets):
        others = [j for j in np.flatnonzero(y == y[i]) if j != i]
        assert set(row) <= set(others)
        assert len(set(row)) == n_neighbors
        nearest = sorted(((X[others] - X[i]) ** 2).sum(axis=1))[:n_neighbors]
        assert_allclose(sorted(((X[row] - X[i]) ** 2).sum(axis=1)), nearest, atol=1e-12)


def follow(cost, path):
    """Compare cost and gradient with those from a fresh search at every step; return how often the list served."""
    served = 0
    for upsilon in path:
        before = cost.near_pairs.listed
        value, gradient = cost.by_factor(upsilon)
        served += cost.near_pairs.listed is before
        cost_anew = copy(cost)
        cost_anew.near_pairs = NearPairs(cost.X, cost.codes)
        value_anew, gradient_anew = cost_anew.by_factor(upsilon)
        assert_allclose(value, value_anew, rtol=1e-10)
        assert_allclose(gradient, gradient_anew, rtol=1e-8, atol=1e-8 * np.abs(gradient_anew).max())
    return served


@pytest.mark.parametrize("step", [1e-3, 1e-2, 0.1, 1.0])
@pytest.mark.parametrize("tile", [(16, 32), (512, 1024)])
def test_lists_of_near_pairs_lose_nothing(step, tile, monkeypatch):
    monkeypatch.setattr(_lmnn, "TILE", tile)
    X, y = overlapping(200, 6, apart=2.0)
    X[:20] *= 10.0  # outliers move farther than others
    steps = np.random.default_rng(0).normal(size=(30, 6, 6))
    steps[1:] *= step / 6
    served = follow(LargeMarginCost(X, y, 3, 0.5), steps.cumsum(axis=0))
    assert served > 10 or step > 1e-2


def test_lists_heed_samples_that_meet_head_on():
    """On both sides of the origin, samples approach each other as fast as the bound allows."""
    X = np.concatenate([np.linspace(1.0, 2.0, 60), np.linspace(-2.0, -1.0, 60)])[:, None]
    cost = LargeMarginCost(X, np.repeat([0, 1], 60), 3, 0.5)
    assert follow(cost, [np.array([[factor]]) for factor in np.linspace(0.8, 0.3, 300)]) > 100


def test_lists_heed_growing_margins():
    """Some targets move away, while the samples themselves and those of the other class hardly move."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.uniform(0.0, 0.1, 120), np.tile([0.0, 0.0, 3.0], 40)])
    X[60:, 0] += 0.3
    cost = LargeMarginCost(X, np.repeat([0, 1], 60), 45, 0.5)
    assert follow(cost, [np.diag([10.0, factor]) for factor in np.linspace(0.1, 1.0, 300)]) > 5


@pytest.mark.parametrize("smoothing", [0.0, 0.3])
@pytest.mark.parametrize(("most", "share"), [(10, 1.0), (1000, 0.0)], ids=["list full", "tiles crowded"])
def test_pairs_that_are_not_listed_count_all_the_same(most, share, smoothing, monkeypatch):
    """All pairs of a tile by products of matrices give what single pairs give, when samples have moved as well."""
    X, y = overlapping(200, 6)
    path = np.eye(6) + np.random.default_rng(0).normal(0, 1e-3, (5, 6, 6)).cumsum(axis=0)
    expected = [LargeMarginCost(X, y, 5, 0.5).by_matrix(root, smoothing) for root in path]
    monkeypatch.setattr(_lmnn, "TILE", (16, 100))
    monkeypatch.setattr(_lmnn, "KEPT_PAIRS", most)
    monkeypatch.setattr(_lmnn, "CROWDED", share)
    cost = LargeMarginCost(X, y, 5, 0.5)
    for root, values in zip(path, expected):
        for value, reference in zip(cost.by_matrix(root, smoothing), values):
            assert_allclose(value, reference, rtol=1e-9, atol=1e-9 * np.abs(values[2]).max())
        assert len(cost.near_pairs.listed[0]) <= most
        assert cost.near_pairs.unlisted


def test_classes_beyond_the_margin_do_not_count():
    X, y = overlapping()
    distant = np.where(y == 2, 50.0, 0.0)[:, None]
    near, far = (LargeMarginCost(X + shift, y, 3, 0.5).by_matrix(np.eye(4)) for shift in (distant, 3 * distant))
    assert_allclose(near[0], far[0], rtol=1e-12)
    assert_allclose(near[2], far[2], rtol=1e-9, atol=1e-9)
    assert LargeMarginCost(X, y, 3, 0.5).by_matrix(np.eye(4))[0] > near[0]


def test_cost_is_zero_only_without_pull_and_impostors():
    X = np.repeat([[0.0], [2.0]], 5, axis=0)
    y = np.repeat([0, 1], 5)
    assert LargeMarginCost(X, y, 3, 0.5).by_factor(np.eye(1))[0] == 0.0
    assert LargeMarginCost(X, y, 3, 0.5).by_factor(np.eye(1) / 4)[0] > 0.0
    X[0] = 0.1
    assert LargeMarginCost(X, y, 3, 0.5).by_factor(np.eye(1))[0] > 0.0


@pytest.mark.parametrize("data", [IRIS, WINE], ids=["iris", "wine"])
def test_methods_agree_on_the_global_minimum(data):
    convex = LMNN(method="psd", max_iter=500).fit(*data)
    lowest = min(convex.cost_history_)
    for init in ("pca", "lda", "identity", "random"):
        free = LMNN(init=init, max_iter=500, tol=1e-7, random_state=0).fit(*data).cost_history_[-1]
        assert_allclose(free, lowest, rtol=2e-3)
    other = LMNN(method="psd", init="random", random_state=0, max_iter=500).fit(*data)
    assert_allclose(min(other.cost_history_), lowest, rtol=2e-3)
    for rank in (1, 2):
        assert LMNN(rank, max_iter=500).fit(*data).cost_history_[-1] >= lowest


@pytest.mark.parametrize(("data", "tightness"), [(IRIS, 0.99), (WINE, 0.95)], ids=["iris", "wine"])
def test_minimum_is_certified_by_a_lower_bound(data, tightness):
    """Weights of triples in [0, b] that leave the gradient positive semidefinite bound all costs by their sum."""
    model = LMNN(method="psd", tol=1e-10, max_iter=3000).fit(*data)
    cost = LargeMarginCost(*data, 3, 0.5)
    pulled, gradient, total = np.zeros_like(model.gamma_), np.zeros_like(model.gamma_), 0.0
    for i, targets in enumerate(cost.targets):
        others = cost.X[i] - cost.X[cost.codes != cost.codes[i]]
        for to_target in cost.X[i] - cost.X[targets]:
            excess = 1 + to_target @ model.gamma_ @ to_target - ((others @ model.gamma_) * others).sum(axis=1)
            weights = 0.5 * np.clip(excess / 0.01, 0, 1)
            pulled += 0.5 * np.outer(to_target, to_target)
            gradient += weights.sum() * np.outer(to_target, to_target) - (weights[:, None] * others).T @ others
            total += weights.sum()
    shrink = min(1.0, -1.0 / eigh(gradient, pulled, eigvals_only=True)[0])
    lowest = min(model.cost_history_)
    assert tightness * lowest <= shrink * total <= lowest


def test_cost_is_convex_in_gamma():
    cost = LargeMarginCost(*overlapping(), 3, 0.5)
    rng = np.random.default_rng(0)
    for _ in range(20):
        gammas = [factor.T @ factor for factor in rng.normal(size=(2, 4, 4))]
        ends = [cost.by_matrix(clip_eigenvalues(gamma)[1])[0] for gamma in gammas]
        middle = cost.by_matrix(clip_eigenvalues(sum(gammas) / 2)[1])[0]
        assert middle <= sum(ends) / 2 + 1e-9


@pytest.mark.parametrize("method", ["low_rank", "psd"])
def test_history_belongs_to_the_result(method):
    model = LMNN(method=method).fit(*WINE)
    cost = LargeMarginCost(*WINE, 3, 0.5)
    assert_allclose(cost.by_factor(model.components_)[0], min(model.cost_history_), rtol=1e-9)
    assert len(model.cost_history_) == model.n_iter_
    if method == "low_rank":
        assert np.all(np.diff(model.cost_history_) <= 0)
    assert_allclose(model.gamma_, model.components_.T @ model.components_)


def test_components_are_canonical():
    for model in (LMNN(3).fit(*WINE), LMNN(3, method="psd").fit(*WINE)):
        assert model.components_.shape == (3, 13)
        products = model.components_ @ model.components_.T
        assert_allclose(products, np.diag(np.diag(products)), atol=1e-9 * products.max())
        assert np.all(np.diff(np.diag(products)) <= 0)
        peaks = np.abs(model.components_).argmax(axis=1)
        assert np.all(model.components_[np.arange(3), peaks] > 0)


def test_convex_method_keeps_leading_directions():
    whole, part = (LMNN(n, method="psd").fit(*IRIS) for n in (None, 2))
    assert_allclose(part.components_, whole.components_[:2])


@pytest.mark.parametrize("method", ["low_rank", "psd"])
@pytest.mark.parametrize("init", ["pca", "lda"])
def test_shift_scale_and_rotation(method, init):
    X, y = IRIS
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(4, 4)))[0]
    model = LMNN(method=method, init=init, max_iter=8)
    gamma = clone(model).fit(X, y).gamma_
    assert_allclose(clone(model).fit(1e3 * X + 5.0, y).gamma_ * 1e6, gamma, rtol=1e-6, atol=1e-6)
    assert_allclose(clone(model).fit(X @ turn, y).gamma_, turn.T @ gamma @ turn, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("tied", [1, 3, 20])
def test_the_first_of_equally_far_targets_are_taken(tied):
    """Points of a circle are equally far from its center, and turning it does not change which are taken."""
    angles = np.random.default_rng(0).uniform(0, 2 * np.pi, tied)
    circle = np.column_stack([np.cos(angles), np.sin(angles)])
    X = np.concatenate([[[0.0, 0.0]], 3.0 * circle[:1], circle, 2.0 * circle])
    for angle in np.linspace(0, 3, 8):
        turned = X @ np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        targets = target_neighbors(turned, np.zeros(len(X), int), min(tied, 3))
        assert set(targets[0]) == set(range(2, 2 + min(tied, 3)))


def test_order_and_names_of_samples_do_not_matter():
    X, y = WINE  # without equally far neighbors
    order = np.random.default_rng(0).permutation(len(X))
    gamma = LMNN(max_iter=8).fit(X, y).gamma_
    assert_allclose(LMNN(max_iter=8).fit(X[order], np.array(["c", "a", "b"])[y[order]]).gamma_, gamma, rtol=1e-6)


def test_huge_values():
    X, y = IRIS
    assert_allclose(
        LMNN(max_iter=8).fit(1e200 * X, y).components_ * 1e200, LMNN(max_iter=8).fit(X, y).components_, rtol=1e-6
    )


def test_given_start():
    X, y = 10.0 * IRIS[0], IRIS[1]
    start = np.random.default_rng(0).normal(size=(2, 4))
    model = LMNN(init=start, max_iter=1).fit(X, y)
    assert model.components_.shape == (2, 4)
    optimum = LMNN(method="psd", init=start, max_iter=300).fit(X, y)
    assert optimum.components_.shape == (4, 4)
    again = LMNN(init=optimum.components_, max_iter=1).fit(X, y)
    assert_allclose(again.cost_history_[0], min(optimum.cost_history_), rtol=1e-3)


def test_random_start_is_repeatable():
    X, y = WINE
    runs = [LMNN(2, init="random", random_state=seed).fit(X, y) for seed in (0, 0, 1)]
    assert_array_equal(runs[0].components_, runs[1].components_)
    assert not np.allclose(runs[0].components_, runs[2].components_)


def test_metric_ignores_noise_and_helps_neighbors():
    rng = np.random.default_rng(0)
    X, y = make_blobs(150, centers=3, n_features=2, cluster_std=0.7, random_state=3)
    noisy = np.hstack([X, 6.0 * rng.normal(size=(150, 8))])
    neighbors = KNeighborsClassifier(1)
    learned = cross_val_score(make_pipeline(LMNN(), neighbors), noisy, y).mean()
    assert learned > cross_val_score(neighbors, noisy, y).mean() + 0.1
    gamma = LMNN().fit(noisy, y).gamma_
    assert np.diag(gamma)[:2].min() > 5 * np.diag(gamma)[2:].max()


@pytest.mark.parametrize("method", ["low_rank", "psd"])
def test_constant_samples_do_no_harm(method):
    model = LMNN(method=method).fit(np.ones((12, 2)), np.arange(12) % 2)
    assert np.isfinite(model.components_).all()


def test_transform_and_names():
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = LMNN(2).set_output(transform="pandas").fit(X, y)
    view = model.transform(X)
    assert list(view.columns) == ["lmnn0", "lmnn1"]
    assert_allclose(view, X.to_numpy() @ model.components_.T)


@pytest.mark.filterwarnings("default::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("method", ["low_rank", "psd"])
def test_says_when_it_has_not_converged(method):
    with pytest.warns(ConvergenceWarning, match="max_iter=3 iterations"):
        LMNN(method=method, max_iter=3).fit(*IRIS)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        LMNN(method=method, max_iter=500).fit(*IRIS)


@pytest.mark.parametrize(("verbose", "n_lines"), [(0, 0), (1, 11), (2, 30)])
def test_reports_progress(verbose, n_lines, capsys):
    model = LMNN(max_iter=30, tol=0, verbose=verbose).fit(*WINE)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == n_lines
    if lines:
        assert lines[-1] == f"[LMNN] iteration 30/30  cost {model.cost_history_[-1]:.6g}"


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_neighbors": 50}, "n_neighbors=50 needs at least 51 samples per class, but class 0 has 50"),
        ({"n_neighbors": 0}, "n_neighbors=0 must be an integer"),
        ({"n_components": 5}, r"n_components=5 must be an integer in \[1, 4\]"),
        ({"push": 0.0}, r"push=0.0 must be a number in \(0, 1\]"),
        ({"method": "sdp"}, "method='sdp' must be one of 'low_rank', 'psd'"),
        ({"init": "best"}, "init='best' must be one of"),
        ({"init": np.eye(3)}, r"init has shape \(3, 3\); expected any number of rows and n_features=4"),
        ({"init": np.eye(3, 4), "n_components": 2}, r"init has shape \(3, 4\); expected 2 rows"),
        ({"max_iter": 0}, "max_iter=0"),
        ({"tol": -1.0}, "tol=-1.0"),
    ],
)
def test_refuses_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        LMNN(**parameters).fit(*IRIS)


def test_refuses_bad_labels():
    X, _ = IRIS
    with pytest.raises(ValueError, match="1 class only"):
        LMNN().fit(X, np.zeros(150))
    with pytest.raises(ValueError, match="Unknown label type"):
        LMNN().fit(X, X[:, 0])
    with pytest.raises(ValueError, match="class 'rare' has 1 in X"):
        LMNN().fit(X, np.array(["common"] * 149 + ["rare"]))
