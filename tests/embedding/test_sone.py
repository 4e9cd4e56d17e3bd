"""SONE: its steps are gradients, its compiled loop is the slow one, its views are those of the dissimilarities."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris, make_blobs
from sklearn.metrics import pairwise_distances
from sklearn.utils.estimator_checks import parametrize_with_checks

from protolearn.embedding import _presentations as _rows
from protolearn.embedding import _sone
from protolearn.embedding._base import vector_samples
from protolearn.embedding._presentations import Squares
from protolearn.embedding._sone import SONE, Attraction, minus_log_kernel, power_form, pull
from protolearn.embedding.divergences import (
    Alpha,
    Beta,
    Bregman,
    CauchySchwarz,
    Csiszar,
    Eta,
    Gamma,
    GeneralizedKullbackLeibler,
    GeneralizedRenyi,
    Hellinger,
    ItakuraSaito,
    ReverseGeneralizedKullbackLeibler,
)

CLOSED = [
    GeneralizedKullbackLeibler(),
    ItakuraSaito(),
    Beta(0.5),
    Beta(1.7),
    Eta(2.0),
    Eta(1.4),
    Alpha(0.5),
    Alpha(2.0),
    Alpha(-0.7),
    Hellinger(),
    Gamma(0.3),
    Gamma(1.6),
    CauchySchwarz(),
    ReverseGeneralizedKullbackLeibler(),
    GeneralizedRenyi(0.5),
    GeneralizedRenyi(1.6),
    GeneralizedRenyi(-0.4, normalized=True),
]
OTHERS = [Bregman(np.exp, np.exp, np.exp), Csiszar(lambda u: (u - 1) ** 2, lambda u: 2 * (u - 1), generalized=True)]
KERNELS = ["student", "gaussian"]


def data(n=30, seed=0):
    return make_blobs(n, n_features=4, centers=3, random_state=seed)


def attraction(n=30, seed=0, *, kernel="student", divergence=CLOSED[0], winner="mean", bandwidth="radius", **changes):
    squares = changes.pop("squares", None) or Squares(vector_samples(data(n, seed)[0]))
    settings = {"neighbors": [n / 3, 5.0], "scales": [2.0, 1.5], "rates": [0.5, 0.3]} | changes
    settings = {"offset": False, "each": True} | settings
    for name in ("neighbors", "scales", "rates"):
        settings[name] = np.asarray(settings[name])
    return Attraction(
        squares,
        kernel=kernel,
        divergence=divergence,
        winner=_sone.WINNERS.index(winner),
        bandwidth=bandwidth,
        **settings,
    )


def start(n=30, seed=1):
    return np.random.RandomState(seed).normal(size=(n, 2))


def name_of(divergence):
    return type(divergence).__name__ + "".join(
        f"{value:g}" for value in vars(divergence).values() if not callable(value)
    )


# The slow oracle


def kernel_of(images, s, kernel, scale):
    squares = ((images - s) ** 2).sum(axis=1)
    return np.exp(-squares / (2 * scale**2)) if kernel == "gaussian" else (1 + squares / scale) ** (-(scale + 1) / 2)


def squares_of(model):
    """Return squared distances of rows, less those to their nearest neighbors if these are the offsets."""
    squares = np.square(pairwise_distances(model.squares.vectors))
    others = squares + np.diag(np.full(len(squares), np.inf))
    return squares - model.neighborhoods.offset * others.min(axis=1, keepdims=True)


def affinities_of(model):
    """Return h (winner, sample): that of a sample is by its own row, or by the row of the winner."""
    h = np.exp(-squares_of(model) * model.precisions[:, None])
    np.fill_diagonal(h, 0.0)
    own = 0.9 * h.max(axis=1)
    h = h.T.copy() if model.each else h
    np.fill_diagonal(h, own)
    return h if model.divergence == GeneralizedKullbackLeibler() else np.maximum(h, 1e-12)


def winner_of(model, images, s, h, g):
    if model.winner == _sone.WINNERS.index("image"):
        return ((images - s) ** 2).sum(axis=1).argmin()
    if model.winner == _sone.WINNERS.index("mean"):
        far = -np.log(kernel_of(images, s, model.kernel, model.scale))  # g has a floor if it is for a divergence
        return ((h * far).sum(axis=1) / h.sum(axis=1)).argmin()
    return growing(model.divergence).value(h, g).argmin()


def growing(divergence):
    """Return a finite divergence that grows with the given one: Renyi's is the logarithm of an alpha divergence."""
    return Alpha(divergence.alpha) if isinstance(divergence, GeneralizedRenyi) else divergence


def slow_epoch(model, points, images, rate):
    """Return images and winners after presentations, by differences of the cost instead of its derivative."""
    images, winners = images.copy(), []
    h = affinities_of(model)
    for s in points:
        g = kernel_of(images, s, model.kernel, model.scale)
        if model.divergence != GeneralizedKullbackLeibler():
            g = np.maximum(g, 1e-12 * (g.max() if isinstance(model.divergence, Gamma) else 1.0))
        i = winner_of(model, images, s, h, g)
        b = -g * model.divergence.derivative(h[i], g)
        if not np.isfinite(b).all():  # infinite, but the direction is known
            b = -g * growing(model.divergence).derivative(h[i], g)
        b = limited(model.divergence, b)
        squares = ((images - s) ** 2).sum(axis=1)
        slope = (model.scale + 1) / (model.scale + squares) if model.kernel == "student" else 1 / model.scale**2
        images = images - (rate * slope * b)[:, None] * (images - s)
        winners.append(i)
    return images, winners


def limited(divergence, b):
    form = power_form(divergence)
    return b / np.abs(b).max() if form is not None and form.q_power > 0 else np.clip(b, -1.0, 1.0)


# Rules


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("divergence", CLOSED + OTHERS, ids=name_of)
def test_steps_are_the_gradient_of_the_divergence(divergence, kernel):
    rng = np.random.RandomState(0)
    images, s, h, scale = rng.normal(size=(8, 2)), rng.normal(size=2), rng.uniform(0.05, 1.0, 8), 1.7
    cost, eps, gradient = divergence.limit(), 1e-6, np.zeros_like(images)
    for place in np.ndindex(*images.shape):
        for sign in (1.0, -1.0):
            moved = images.copy()
            moved[place] += sign * eps
            gradient[place] += sign * cost.value(h, kernel_of(moved, s, kernel, scale)) / (2 * eps)
    c, slope = minus_log_kernel(((images - s) ** 2).sum(axis=1), kernel, scale)
    step = -(slope * pull(cost, h, np.exp(-c)))[:, None] * (images - s)
    np.testing.assert_allclose(step, -gradient, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("divergence", CLOSED, ids=name_of)
def test_power_forms_are_the_pulls_of_their_divergences(divergence):
    rng = np.random.RandomState(0)
    h, g = rng.uniform(0.01, 1.0, (2, 10))
    a, b, factor, scale_free, inner, outer = power_form(divergence)
    attract, repel = h**a * g**b, g ** (a + b)
    if a == 0:
        attract = g * (1 + np.log(h / g))
    if scale_free:
        attract, repel = attract / attract.sum(), repel / repel.sum()
    if inner:
        factor *= inner * outer / (1 + inner * Alpha(a).value(h, g))
    np.testing.assert_allclose(factor * (attract - repel), pull(divergence, h, g), rtol=1e-9, atol=1e-12)


@pytest.mark.pairwise(
    divergence=CLOSED + OTHERS,
    kernel=KERNELS,
    winner=["image", "mean", "divergence"],
    offset=[False, True],
    each=[False, True],
    size=[1.0, 4.0],
)
def test_an_epoch_is_that_of_the_slow_rule(divergence, kernel, winner, offset, each, size):
    model = attraction(divergence=divergence, kernel=kernel, winner=winner, offset=offset, each=each)
    points, images = size * np.random.RandomState(2).normal(size=(12, 2)), size * start()
    slow, winners = slow_epoch(model, points, images, 0.2)
    _, won = model._present(points, np.full(12, -1), images, 0.2)
    np.testing.assert_array_equal(won, winners)
    np.testing.assert_allclose(images, slow, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("divergence", CLOSED + OTHERS, ids=name_of)
def test_the_cost_is_the_mean_divergence(divergence):
    model, images = attraction(divergence=divergence), start()
    points = np.random.RandomState(2).normal(size=(6, 2))
    cost, won = model._present(points, np.full(6, -1), images, 0.0)
    h = affinities_of(model)
    values = [divergence.value(h[i], kernel_of(images, s, "student", model.scale)) for i, s in zip(won, points)]
    assert cost == pytest.approx(np.mean(values), rel=1e-8)
    np.testing.assert_array_equal(images, start())


def test_vectors_with_an_anchor_are_relative_to_where_it_is_then():
    model, images = attraction(), start()
    noise, anchors = np.random.RandomState(3).normal(size=(5, 2)), np.array([3, 7, 3, 0, 29])
    slow = images.copy()
    for shift, anchor in zip(noise, anchors):
        slow, _ = slow_epoch(model, [slow[anchor] + shift], slow, 0.4)
    model._present(noise, anchors, images, 0.4)
    np.testing.assert_allclose(images, slow, rtol=1e-8)


@pytest.mark.parametrize("kernel", KERNELS)
def test_neighbors_are_attracted_and_others_repelled(kernel):
    model, images = attraction(kernel=kernel, winner="image"), start()
    s = images[4] + 0.1
    h, g = affinities_of(model)[4], kernel_of(images, s, kernel, model.scale)
    before = np.linalg.norm(images - s, axis=1)
    _, won = model._present(s[None], np.array([-1]), images, 0.1)
    assert won[0] == 4
    nearer = np.linalg.norm(images - s, axis=1) < before
    assert 0 < nearer.sum() < len(nearer)
    np.testing.assert_array_equal(nearer, h > g)


@given(
    seed=st.integers(0, 10_000),
    n=st.integers(5, 40),
    winner=st.sampled_from(["mean", "divergence"]),
    each=st.booleans(),
)
@settings(max_examples=30, deadline=None)
def test_pruned_winners_are_those_of_a_full_search(seed, n, winner, each):
    model, images = attraction(n, seed, winner=winner, each=each, neighbors=[n / 2]), 5 * start(n, seed)
    points = 5 * np.random.RandomState(seed).normal(size=(8, 2))
    h = affinities_of(model)
    expected = [winner_of(model, images, s, h, kernel_of(images, s, "student", model.scale)) for s in points]
    np.testing.assert_array_equal(model.winners(points, images), expected)


def test_many_samples_are_represented_by_some_neighbors(monkeypatch):
    exact = attraction(200, winner="mean")
    monkeypatch.setattr(_rows, "MOST_EXACT", 100)
    sampled = attraction(200, winner="mean")
    assert sampled.weights.columns.shape == (200, 128)
    np.testing.assert_allclose(sampled.weights.values.sum(axis=1), 1.0)
    np.testing.assert_allclose(sampled.precisions, exact.precisions, rtol=0.02)
    costs = np.random.RandomState(0).uniform(size=200)
    full, part = ((model.weights.values * costs[model.weights.columns]).sum(axis=1) for model in (exact, sampled))
    assert 0.0 < np.abs(part - full).mean() < 0.02


# Neighborhoods


def test_the_last_neighbor_is_three_standard_deviations_away():
    model = attraction(neighbors=[7.0, 3.0])
    for t, k in enumerate((7, 3)):
        model._set_step(t)
        others = squares_of(model) + np.diag(np.full(30, np.inf))
        np.testing.assert_allclose(np.sqrt(0.5 / model.precisions), np.sqrt(np.sort(others)[:, k - 1]) / 3)


@pytest.mark.parametrize("n_neighbors", [2, 5, 15, 25])
def test_perplexity_is_the_number_of_neighbors(n_neighbors):
    model = attraction(bandwidth="perplexity", neighbors=[float(n_neighbors)])
    p = np.exp(-squares_of(model) * model.precisions[:, None])
    np.fill_diagonal(p, 0.0)
    p /= p.sum(axis=1, keepdims=True)
    entropy = -(p * np.log(np.where(p > 0, p, 1.0))).sum(axis=1)
    np.testing.assert_allclose(np.exp(entropy), n_neighbors, rtol=1e-4)


def test_samples_have_a_share_of_the_affinity_of_their_nearest_neighbor():
    """Bunte 2011, eq. 8.18."""
    model = attraction(each=False)
    h = model.affinities(np.arange(30))
    own = np.diag(h).copy()
    np.fill_diagonal(h, 0.0)
    np.testing.assert_allclose(own, 0.9 * h.max(axis=1))


def test_schedules_have_their_ends():
    X, _ = data()
    model = SONE(max_iter=4, n_neighbors_start=16, n_neighbors_end=1, random_state=0).fit(X)
    np.testing.assert_allclose(model.range_history_, [16, 8, 4, 2])
    trainer = SONE(max_iter=5)._trainer(Squares(vector_samples(data(40)[0])), np.array([[0.0, 0.0], [30.0, 40.0]]))
    assert trainer.neighbors[0] == 20
    assert trainer.scales[0] == 1e7
    assert trainer.scales[-1] * (trainer.scales[-1] / trainer.scales[-2]) == pytest.approx(2.5)
    np.testing.assert_array_equal(trainer.rates, 1.0)


@pytest.mark.parametrize("each", [False, True])
def test_the_nearest_neighbor_has_the_affinity_one(each):
    model = attraction(offset=True, each=each)
    h = model.affinities(np.arange(30))
    np.fill_diagonal(h, 0.0)
    h = h.T if each else h  # a sample draws its neighbors as a winner, or it is drawn by them
    np.testing.assert_allclose(h.max(axis=1), 1.0)
    np.testing.assert_array_equal(h.argmax(axis=1), model.near.columns[:, 1])


@pytest.mark.parametrize("each", [False, True])
def test_a_sample_that_is_neighbor_of_no_other_is_drawn_by_its_own_neighbors_alone(each):
    """A sample far from all others: as winners, none of these reaches it."""
    group = np.random.RandomState(0).normal(size=(40, 4))
    squares = Squares(vector_samples(np.vstack([group, group[:1] + 12.0])))
    model = attraction(1, squares=squares, offset=True, each=each, neighbors=[10.0])
    strongest = model.affinities(np.arange(40))[:, 40].max()
    assert strongest == pytest.approx(1.0) if each else strongest < 1e-6


@pytest.mark.parametrize("share", [0.4, 0.6])
def test_there_is_no_offset_if_most_samples_have_several_nearest_neighbors(share):
    D = np.random.RandomState(0).uniform(1.0, 2.0, (50, 50))
    D = np.triu(D, 1) + np.triu(D, 1).T
    tied = np.arange(int(50 * share))
    D[np.ix_(tied, tied)] = 0.5 * (1 - np.eye(len(tied)))
    views = [
        SONE(metric="precomputed", offset=offset, max_iter=2, random_state=0).fit_transform(D)
        for offset in ("auto", share < 0.5, share > 0.5)
    ]
    np.testing.assert_array_equal(views[0], views[1])
    assert np.abs(views[0] - views[2]).max() > 1e-3


# Starts


@pytest.mark.parametrize("metric", ["euclidean", "precomputed"])
def test_starts_lie_in_the_box_of_the_structure(metric):
    X, _ = data(60)
    given = X if metric == "euclidean" else pairwise_distances(X)
    structure = np.random.RandomState(0).uniform([100, 0], [300, 50], (30, 2))
    still = {"learning_rate_start": 1e-300, "learning_rate_end": 1e-300, "max_iter": 1, "random_state": 0}
    for init in ("pca", "random"):
        start = SONE(metric=metric, structure=structure, init=init, **still).fit_transform(given)
        low, high = structure.min(axis=0), structure.max(axis=0)
        assert (start > low - 0.05 * (high - low)).all()
        assert (start < high + 0.05 * (high - low)).all()
        assert np.ptp(start, axis=0)[0] > 0.7 * (high - low)[0]


def test_principal_components_are_in_order_from_the_start():
    X, _ = load_digits(n_class=5, return_X_y=True)
    narrow = {"kernel": "gaussian", "structure": "circle", "bandwidth": "perplexity", "n_neighbors_start": 15,
              "n_neighbors_end": 3, "winner": "mean", "neighborhoods": "winner", "max_iter": 20,
              "random_state": 0}  # fmt: skip
    y = load_digits(n_class=5, return_X_y=True)[1][:300]
    ordered, scattered = (error(SONE(init=init, **narrow).fit_transform(X[:300]), y) for init in ("pca", "random"))
    assert ordered < 0.1 < scattered


# Views


@pytest.mark.parametrize("changes", [{}, {"kernel": "gaussian"}, {"structure": None}, {"winner": "image"}], ids=str)
def test_dissimilarities_give_the_view_of_their_vectors(changes):
    X, _ = data(40)
    model = SONE(max_iter=8, random_state=0, **changes)
    D = pairwise_distances(X)
    view = model.fit_transform(X)
    for matrix, squared in ((D, False), (D**2, True)):
        other = clone(model).set_params(metric="precomputed", squared=squared)
        np.testing.assert_allclose(other.fit_transform(matrix), view, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(
    "changes", [{}, {"kernel": "gaussian"}, {"winner": "divergence"}, {"divergence": "gamma"}], ids=str
)
def test_the_order_of_samples_does_not_matter(changes):
    X, _ = data(40)
    order, init = np.random.RandomState(5).permutation(40), 0.1 * start(40)
    model = SONE(max_iter=2, init=init, random_state=0, **changes)
    view = model.fit_transform(X)
    moved = clone(model).set_params(init=init[order])
    np.testing.assert_allclose(moved.fit_transform(X[order]), view[order], rtol=1e-6, atol=1e-6)
    np.testing.assert_array_equal(order[moved.exemplars_], model.exemplars_)


def test_scale_and_place_of_samples_do_not_matter():
    X, _ = data(40)
    view = SONE(max_iter=5, random_state=0).fit_transform(X)
    np.testing.assert_allclose(SONE(max_iter=5, random_state=0).fit_transform(1e-3 * X + 1.0), view, rtol=1e-5)


def test_the_same_seed_gives_the_same_view():
    X, _ = data(40)
    first, second, other = (SONE(max_iter=5, random_state=seed).fit_transform(X) for seed in (0, 0, 1))
    np.testing.assert_array_equal(first, second)
    assert np.abs(first - other).max() > 1.0


def test_a_structure_of_any_size_is_scaled():
    X, y = data(60)
    corners = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, 0.8]])
    small = SONE(structure=corners, max_iter=20, random_state=0).fit(X)
    for size in (1000.0, 1e200, 1e-200):
        large = SONE(structure=size * corners, max_iter=20, random_state=0).fit(X)
        np.testing.assert_allclose(large.embedding_ / size, small.embedding_, rtol=1e-6)
    np.testing.assert_allclose(small.structure_, corners)
    np.testing.assert_array_equal(small.labels_, pairwise_distances(small.embedding_, corners).argmin(axis=1))
    np.testing.assert_array_equal(y[small.exemplars_], [np.bincount(y[small.labels_ == i]).argmax() for i in range(3)])


def test_without_structure_there_are_no_receptive_fields():
    X, _ = data(30)
    model = SONE(max_iter=3, random_state=0).fit(X)
    assert model.labels_.shape == (30,)
    assert model.exemplars_.shape == (len(model.structure_),) == (22,)
    model.set_params(structure=None).fit(X)
    assert model.structure_ is None
    assert not hasattr(model, "labels_")
    assert not hasattr(model, "exemplars_")


@pytest.mark.parametrize("n_components", [1, 3])
def test_views_have_any_dimension(n_components):
    X, y = data(60)
    view = SONE(n_components, max_iter=40, random_state=0).fit_transform(X)
    assert view.shape == (60, n_components)
    assert error(view, y) < 0.1


def error(view, y):
    """Return the share of samples whose nearest neighbor is of another class."""
    distances = pairwise_distances(view)
    np.fill_diagonal(distances, np.inf)
    return np.mean(y[distances.argmin(axis=1)] != y)


@pytest.mark.parametrize(
    ("changes", "bound"),
    [({}, 0.12), ({"kernel": "gaussian"}, 0.12), ({"structure": None, "max_iter": 40}, 0.15)],
    ids=["student", "gaussian", "without structure"],
)
def test_digits_are_told_apart(changes, bound):
    X, y = load_digits(n_class=5, return_X_y=True)
    model = SONE(max_iter=60, random_state=0).set_params(**changes).fit(X[:300])
    assert error(model.embedding_, y[:300]) < bound
    assert model.n_iter_ == len(model.n_distinct_winners_) == len(model.cost_history_) == model.max_iter
    assert model.n_distinct_winners_[-1] > 40


# Input


def test_duplicates_are_no_problem():
    X = np.repeat(load_iris().data[::15], 6, axis=0)
    for bandwidth in ("radius", "perplexity"):
        view = SONE(max_iter=10, n_neighbors_end=3, bandwidth=bandwidth, random_state=0).fit_transform(X)
        assert np.isfinite(view).all()


@pytest.mark.parametrize("divergence", CLOSED + OTHERS, ids=name_of)
def test_outliers_are_no_problem(divergence):
    X, _ = data(20)
    X[0] = 1e6
    view = SONE(max_iter=4, divergence=divergence, winner="divergence", random_state=0).fit_transform(X)
    assert np.isfinite(view).all()


def test_interrupted_fits_keep_what_they_have(monkeypatch):
    X, _ = data()
    epoch = Attraction.epoch

    def interrupted(self, t, *arguments):
        if t == 3:
            raise KeyboardInterrupt
        return epoch(self, t, *arguments)

    monkeypatch.setattr(Attraction, "epoch", interrupted)
    model = SONE(max_iter=10, random_state=0)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X)
    assert model.n_iter_ == 3
    assert model.embedding_.shape == (30, 2)


def test_progress_is_printed(capsys):
    SONE(max_iter=20, random_state=0, verbose=1).fit(data()[0])
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 11
    assert lines[0].startswith("[SONE] epoch 1/20  range 15  winners ")


def test_failed_fits_lose_nothing():
    X, _ = data()
    model = SONE(max_iter=3, random_state=0).fit(X)
    view = model.embedding_
    with pytest.raises(ValueError, match="All samples are the same"):
        model.fit(np.ones((10, 2)))
    assert model.embedding_ is view
    assert model.n_features_in_ == 4


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"n_components": 0}, "n_components=0"),
        ({"n_components": 3, "structure": "circle"}, "structure='circle' is two-dimensional"),
        ({"kernel": "cauchy"}, "kernel='cauchy' must be one of 'gaussian', 'student'"),
        ({"winner": "best"}, "winner='best'"),
        ({"structure": "star"}, "structure='star'"),
        ({"structure": [[1.0, 2.0, 3.0]]}, "structure has 3 columns"),
        ({"structure": [[1.0, 2.0], [1.0, 2.0]]}, "fewer than 2 distinct"),
        ({"structure": [[1.0, np.nan]]}, "structure contains NaN"),
        ({"divergence": "kl"}, "is defined for densities"),
        ({"divergence": "tsallis"}, "is defined for densities"),
        ({"divergence": "reverse_kl"}, "is defined for densities"),
        ({"divergence": "mahalanobis"}, "divergence='mahalanobis'"),
        ({"n_neighbors_start": 30}, "n_neighbors_start=30 must be"),
        ({"n_neighbors_end": 0.5}, "n_neighbors_end=0.5 must be"),
        ({"scale_end": 0.0}, "scale_end=0.0"),
        ({"spacing": 1e-300}, r"spacing=1e-300 must be a number in \(1e-30, 1e\+30\]"),
        ({"learning_rate_start": 1e300}, r"learning_rate_start=1e\+300 must be a number in"),
        ({"structure": [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1e300, 0.0]]}, r"structure has values up to 1e\+300"),
        ({"init": np.full((30, 2), 1e300)}, r"init has values up to 1e\+300"),
        ({"learning_rate_start": -1.0}, "learning_rate_start=-1.0"),
        ({"bandwidth": "entropy"}, "bandwidth='entropy'"),
        ({"init": "spectral"}, "init='spectral'"),
        ({"offset": "always"}, "offset='always'"),
        ({"init": np.zeros((3, 2))}, r"init has shape \(3, 2\)"),
        ({"n_sampling": 1}, "n_sampling=1"),
        ({"max_iter": 0}, "max_iter=0"),
        ({"metric": "unknown"}, "metric='unknown'"),
        ({"metric": "precomputed"}, "30, 4"),
    ],
)
def test_bad_settings_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        SONE(**({"max_iter": 2} | changes)).fit(data()[0])


@pytest.mark.parametrize(
    ("X", "metric", "message"),
    [
        ([[0.0, np.nan], [1.0, 1.0], [2.0, 1.0], [1.0, 4.0]], "euclidean", "NaN"),
        ([[0.0], [1.0], [2.0]], "euclidean", "minimum of 4"),
        ([[0.0, 1e200]] * 2 + [[0.0, 1.0]] * 2, "euclidean", "too large"),
        (np.ones((5, 5)) - 2 * np.eye(5), "precomputed", "Negative|diagonal"),
        (np.triu(np.ones((5, 5)), 1), "precomputed", "symmetric"),
        (np.zeros((5, 5)), "precomputed", "All dissimilarities are zero"),
    ],
    ids=["nan", "few", "large", "negative", "asymmetric", "same"],
)
def test_bad_samples_are_refused(X, metric, message):
    with pytest.raises(ValueError, match=message):
        SONE(metric=metric, max_iter=2).fit(X)


def test_asymmetric_dissimilarities_can_be_averaged():
    D = pairwise_distances(data(20)[0])
    skewed = D + np.triu(D)
    model = SONE(metric="precomputed", max_iter=3, random_state=0)
    expected = model.fit_transform((skewed + skewed.T) / 2)
    np.testing.assert_array_equal(model.set_params(symmetrize="mean").fit_transform(skewed), expected)


def test_views_name_their_columns():
    pytest.importorskip("pandas")
    view = SONE(max_iter=2, random_state=0).set_output(transform="pandas").fit_transform(data()[0])
    assert list(view.columns) == ["sone0", "sone1"]


@parametrize_with_checks([SONE(max_iter=3, metric="precomputed", divergence="gamma", winner="divergence")])
def test_scikit_learn_checks(estimator, check):
    check(estimator)
