"""Charts have the coordinates and shares of their formulas, written as loops here, and can be undone."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import multivariate_normal
from sklearn.cluster import KMeans as OtherKMeans
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator

from protolearn import (
    GMLVQ,
    GRLVQ,
    LGMLVQ,
    NGPCA,
    SOM,
    VQPCA,
    KMeans,
    LLiRaMLVQ,
    MatrixNeuralGas,
    MixturePPCA,
    NeuralGas,
)
from protolearn.embedding import charts as module
from protolearn.embedding.charts import Gating, charts_of, fitted_model

SEEDS = st.integers(0, 10_000)
SHAPED = {
    "matrix": MatrixNeuralGas(3, random_state=0),
    "low rank": MatrixNeuralGas(3, n_components=2, random_state=0),
    "ngpca": NGPCA(3, 2, random_state=0),
    "vqpca": VQPCA(3, 2, random_state=0),
    "mixture": MixturePPCA(3, 2, random_state=3),
}
PLAIN = {
    "kmeans": KMeans(4, random_state=0),
    "neural gas": NeuralGas(4, random_state=0),
    "som": SOM((2, 2), random_state=0),
}
CLASSIFIERS = {
    "local": LGMLVQ(2, n_components=2, random_state=0),
    "global": GMLVQ(n_components=2, random_state=0),
    "limited": LLiRaMLVQ(n_components=2, random_state=0),
    "relevances": GRLVQ(),
}
MODELS = SHAPED | PLAIN | CLASSIFIERS
KINDS = (
    [(name, kind) for name in SHAPED for kind in ("density", "distance", "rank", "crisp")]
    + [(name, kind) for name in PLAIN for kind in ("distance", "rank", "crisp")]
    + [(name, kind) for name in CLASSIFIERS for kind in ("distance", "rank", "crisp")]
)


def rng(seed=0):
    return np.random.RandomState(seed)


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    return X + 0.01 * rng().normal(size=X.shape), y


@pytest.fixture(scope="module")
def fitted(iris):
    """Return all models, fitted."""
    return {name: fitted_model(model, *iris, rng()) for name, model in MODELS.items()}


def weights_for(charts, c=2, seed=1):
    k, m, _ = charts.axes.shape
    return rng(seed).normal(size=(k * (m + 1), c))


def softmaxed(exponents):
    rows = []
    for row in exponents:
        terms = [np.exp(value - max(row)) for value in row]
        rows.append([term / sum(terms) for term in terms])
    return np.array(rows)


# Shares


@pytest.mark.parametrize(("name", "kind"), KINDS)
def test_shares_are_shares(fitted, iris, name, kind):
    charts = charts_of(fitted[name], iris[0], n_components=2, gating=kind)
    shares = charts.shares(iris[0])
    assert shares.shape == (150, len(charts))
    assert (shares >= 0.0).all()
    np.testing.assert_allclose(shares.sum(axis=1), 1.0, atol=1e-12)


@pytest.mark.parametrize("name", SHAPED)
def test_shares_by_density_are_posteriors(fitted, iris, name):
    model, X = fitted[name], iris[0]
    charts = charts_of(model, cutoff=0.0)
    assert charts.gating.kind == "density"
    joint = [
        weight * multivariate_normal(mean, covariance).pdf(X)
        for weight, mean, covariance in zip(model.weights_, model.prototypes_, model.covariances_)
    ]
    np.testing.assert_allclose(charts.shares(X), (joint / np.sum(joint, axis=0)).T, atol=1e-8)


def test_shares_by_density_do_not_underflow(fitted):
    far = np.array([[1e6, 0.0, 0.0, 0.0], [-1e8, 1e8, 0.0, 3.0]])
    shares = charts_of(fitted["matrix"]).shares(far)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)


@pytest.mark.pairwise(name=["kmeans", "local", "global"], n_nearest=[1, 3], bandwidth=["square", "mean", "root_sum"])
def test_shares_by_distance_follow_their_formula(fitted, iris, name, n_nearest, bandwidth):
    model, X = fitted[name], iris[0]
    charts = charts_of(model, X, gating="distance", fraction=0.7, n_nearest=n_nearest, bandwidth=bandwidth, cutoff=0.0)
    centers, k = model.prototypes_, len(model.prototypes_)
    # Squared distances by the matrix of the prototype. Bunte 2011, eq. 7.4 and 7.5
    matrices = [np.eye(4)] * k if name == "kmeans" else charts.axes

    def squared(x, j):
        return np.square(matrices[j] @ (x - centers[j])).sum()

    near = [sorted(squared(centers[other], j) for other in range(k) if other != j)[:n_nearest] for j in range(k)]
    means = {
        "square": [np.median([np.mean(row) for row in near])] * k,
        "mean": [sum(np.sqrt(row)) / len(row) for row in near],
        "root_sum": [np.sqrt(sum(row)) / len(row) for row in near],
    }
    exponents = [[-squared(x, j) / (0.7 * means[bandwidth][j]) for j in range(k)] for x in X]
    np.testing.assert_allclose(charts.shares(X), softmaxed(exponents), atol=1e-7)


@pytest.mark.parametrize("scale", [1e-100, 1e100])
def test_shares_by_distance_do_not_depend_on_the_scale_by_default(iris, scale):
    one, other = (
        charts_of(KMeans(4, random_state=0).fit(s * iris[0]), iris[0], gating="distance") for s in (1.0, scale)
    )
    np.testing.assert_allclose(other.shares(scale * iris[0]), one.shares(iris[0]), atol=1e-8)


@pytest.mark.parametrize("name", ["kmeans", "local"])
def test_shares_by_rank_follow_their_formula(fitted, iris, name):
    charts = charts_of(fitted[name], iris[0], gating="rank", range_=0.8, cutoff=0.0)
    for row, share in zip(charts.distances(iris[0]), charts.shares(iris[0])):
        ranks = [sum(other < one for other in row) for one in row]
        np.testing.assert_allclose(share, softmaxed([[-rank / 0.8 for rank in ranks]])[0], atol=1e-12)


def test_ranks_of_equal_and_of_infinite_distances_follow_their_order():
    gating = Gating("rank", np.zeros(3), np.full(3, np.log(2.0)))
    expected = np.array([4.0, 2.0, 1.0]) / 7.0
    np.testing.assert_allclose(gating.shares(np.full((2, 3), 5.0)), [expected, expected], atol=1e-15)
    np.testing.assert_allclose(gating.shares(np.array([[np.inf, 3.0, np.inf]])), expected[[[1, 0, 2]]], atol=1e-15)
    np.testing.assert_allclose(gating.shares(np.array([[np.inf, np.inf, np.inf]])), [expected], atol=1e-15)


@given(SEEDS, st.sampled_from([0.0, 1e-8, 0.01, 0.2]))
@settings(max_examples=10)
def test_small_shares_by_rank_are_cut_off(seed, cutoff):
    distances, rates = rng(seed).uniform(size=(5, 6)), np.full(6, 1.5)
    whole = Gating("rank", np.zeros(6), rates).shares(distances)
    kept = np.where(whole >= cutoff, whole, 0.0)
    cut = Gating("rank", np.zeros(6), rates, cutoff).shares(distances)
    np.testing.assert_allclose(cut, kept / kept.sum(axis=1, keepdims=True), rtol=1e-12)


@pytest.mark.parametrize("kind", ["density", "distance", "rank", "crisp"])
def test_charts_behind_principal_components_are_those_in_their_space(iris, kind):
    X = iris[0]
    first = PCA(3).fit(X)
    inner = charts_of(NGPCA(3, 2, random_state=0).fit(first.transform(X)), n_components=2, gating=kind)
    charts, weights = inner.behind(first), rng().normal(size=(9, 2))
    Z = first.transform(X)
    np.testing.assert_allclose(charts.shares(X), inner.shares(Z), atol=1e-12)
    np.testing.assert_allclose(charts.coordinates(X), inner.coordinates(Z), atol=1e-12)
    np.testing.assert_allclose(charts.place(X, weights), inner.place(Z, weights), atol=1e-12)
    Y = inner.place(Z, weights)
    np.testing.assert_allclose(charts.invert(Y, weights), first.inverse_transform(inner.invert(Y, weights)), atol=1e-9)
    np.testing.assert_allclose(charts.inner.axes, inner.axes, atol=1e-12)


def test_crisp_shares_go_to_the_nearest_and_of_equals_to_the_first():
    shares = Gating("crisp", np.zeros(3), np.ones(3)).shares(np.array([[2.0, 1.0, 1.0], [0.0, 5.0, 3.0]]))
    np.testing.assert_array_equal(shares, [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]])


@given(SEEDS, st.sampled_from([0.0, 1e-8, 0.01, 0.2, 0.5]))
@settings(max_examples=25)
def test_cut_shares_still_sum_to_one(seed, cutoff):
    distances = rng(seed).exponential(size=(20, 6))
    gating = Gating("distance", np.zeros(6), np.ones(6), cutoff)
    shares, whole = gating.shares(distances), replace(gating, cutoff=0.0).shares(distances)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    assert (shares[whole < np.minimum(cutoff, whole.max(axis=1, keepdims=True))] == 0.0).all()
    assert (shares.argmax(axis=1) == whole.argmax(axis=1)).all()


@given(SEEDS)
@settings(max_examples=25)
def test_a_sample_belongs_to_one_group_of_charts(seed):
    groups, distances = np.array([0, 1, 1, 0, 2]), rng(seed).exponential(size=(20, 5))
    whole = Gating("distance", np.zeros(5), np.full(5, 2.0))
    shares = replace(whole, groups=groups).shares(distances)
    for all_shares, own in zip(whole.shares(distances), shares):
        totals = [sum(share for share, group in zip(all_shares, groups) if group == g) for g in range(3)]
        mine = groups == np.argmax(totals)
        np.testing.assert_allclose(own, np.where(mine, all_shares, 0.0) / all_shares[mine].sum(), atol=1e-12)


def test_prototypes_in_one_place_share(iris):
    X = np.repeat(iris[0][:3], 10, axis=0)
    with pytest.warns(UserWarning, match="distinct"):
        model = KMeans(5, random_state=0).fit(X)
    for kind in ("distance", "rank", "crisp"):
        shares = charts_of(model, X, gating=kind).shares(X)
        np.testing.assert_allclose(shares.sum(axis=1), 1.0)


def test_one_chart_has_everything(iris):
    model = KMeans(1, random_state=0).fit(iris[0])
    for kind in ("distance", "rank", "crisp"):
        np.testing.assert_array_equal(charts_of(model, iris[0], gating=kind).shares(iris[0]), 1.0)


# Coordinates


@pytest.mark.parametrize("name", MODELS)
def test_coordinates_follow_their_formula(fitted, iris, name):
    charts = charts_of(fitted[name], iris[0], n_components=2)
    found = charts.coordinates(iris[0][:10])
    for x, row in zip(iris[0][:10], found):
        for center, axes, z in zip(charts.centers, charts.axes, row):
            np.testing.assert_allclose(z, [axis @ (x - center) for axis in axes], atol=1e-10)


def test_coordinates_survive_a_far_origin(fitted, iris):
    far = iris[0] + 1e7
    charts = charts_of(MatrixNeuralGas(3, random_state=0).fit(far), n_components=2)
    expected = np.einsum("kmd,nkd->nkm", charts.axes, far[:, None] - charts.centers)
    np.testing.assert_allclose(charts.coordinates(far), expected, atol=1e-7)


def test_axes_of_shaped_maps_are_their_directions(fitted):
    model = fitted["matrix"]
    charts = charts_of(model, n_components=3)
    for axes, covariance in zip(charts.axes, model.covariances_):
        values, vectors = np.linalg.eigh(covariance)
        np.testing.assert_allclose(np.abs(axes @ vectors[:, ::-1][:, :3]), np.eye(3), atol=1e-5)
        assert (np.diff(values) > 0).all()


def test_axes_of_classifiers_are_their_matrices(fitted, iris):
    for name in ("local", "global", "limited"):
        charts, model = charts_of(fitted[name]), fitted[name]
        for j, x in enumerate(iris[0][: len(charts)]):
            lengths = [np.square(axes @ (x - center)).sum() for axes, center in zip(charts.axes, charts.centers)]
            np.testing.assert_allclose(lengths, model.distances(x[None])[0], atol=1e-8, err_msg=str(j))


def test_axes_of_plain_maps_are_principal_directions_of_cells(iris):
    X = np.vstack([rng(i).normal(size=(400, 3)) * np.roll([3.0, 1.0, 0.1], i) + 100.0 * i for i in range(3)])
    model = KMeans(3, random_state=0).fit(X)
    charts = charts_of(model, X, n_components=2)
    for chart in range(3):
        expected = PCA(2).fit(X[model.predict(X) == chart]).components_
        cosines = np.linalg.svd(expected @ charts.axes[chart].T)[1]
        assert cosines.min() > 0.99
        np.testing.assert_allclose(charts.axes[chart] @ charts.axes[chart].T, np.eye(2), atol=1e-10)


def test_axes_of_a_cell_with_one_sample_are_those_within_the_others():
    X = np.vstack([rng().normal(size=(100, 3)) * [3.0, 2.0, 1.0], [[500.0, 500.0, 500.0]]])
    model = KMeans(2, init=np.array([[0.0, 0.0, 0.0], [500.0, 500.0, 500.0]])).fit(X)
    alone = model.predict(X)[-1]
    axes = charts_of(model, X, n_components=2).axes[alone]
    np.testing.assert_allclose(np.abs(axes @ PCA(2).fit(X[:100]).components_.T), np.eye(2), atol=1e-6)


# Features, places, and the way back


@pytest.mark.parametrize(("name", "kind"), KINDS)
def test_features_and_places_agree(fitted, iris, name, kind):
    X = iris[0]
    charts = charts_of(fitted[name], X, n_components=2, gating=kind)
    weights, features = weights_for(charts), charts.features(X)
    z, shares = charts.coordinates(X), charts.shares(X)
    expected = [np.concatenate([r * np.append(a, 1.0) for a, r in zip(*row)]) for row in zip(z, shares)]
    np.testing.assert_allclose(features, expected, atol=1e-10)
    np.testing.assert_allclose(charts.place(X, weights), features @ weights, atol=1e-9)


@pytest.mark.parametrize(("name", "kind"), [("matrix", "density"), ("matrix", "crisp"), ("kmeans", "crisp")])
@pytest.mark.parametrize("most", [0, 10_000])
def test_places_do_not_depend_on_how_they_are_computed(fitted, iris, monkeypatch, name, kind, most):
    X = np.vstack([iris[0]] * 4)
    charts = charts_of(fitted[name], X, n_components=2, gating=kind)
    expected = charts.features(X) @ weights_for(charts)
    monkeypatch.setattr(module, "MOST_AT_ONCE", most)
    monkeypatch.setattr(module, "CACHED", 1)  # as few at a time as there can be
    np.testing.assert_allclose(charts.place(X, weights_for(charts)), expected, atol=1e-9)


@pytest.mark.parametrize("name", ["matrix", "kmeans", "local"])
def test_places_of_float32_are_float32(fitted, iris, name):
    charts = charts_of(fitted[name], iris[0], n_components=2)
    places = charts.place(iris[0].astype(np.float32), weights_for(charts))
    assert places.dtype == np.float32
    np.testing.assert_allclose(places, charts.place(iris[0], weights_for(charts)), atol=1e-3)


@pytest.mark.parametrize("name", SHAPED)
@pytest.mark.parametrize("far", [1.0, 30.0])
def test_way_back_is_by_the_chart_with_the_largest_density(fitted, name, far):
    model = fitted[name]
    charts = charts_of(model, n_components=2)
    weights, Y = weights_for(charts), far * rng(2).normal(size=(60, 2))
    found, chosen = charts.invert(Y, weights), []
    for y, x in zip(Y, found):
        logs, posteriors, candidates = [], [], []
        for chart, block in enumerate(weights.reshape(3, 3, 2)):
            z = np.linalg.solve(block[:2].T, y - block[2])
            candidates.append(model.prototypes_[chart] + z @ charts.axes[chart])
            joint = [
                np.log(weight) + multivariate_normal(mean, covariance).logpdf(candidates[-1])
                for weight, mean, covariance in zip(model.weights_, model.prototypes_, model.covariances_)
            ]
            logs.append(joint[chart])
            posteriors.append(joint[chart] - np.logaddexp.reduce(joint))
        # Unnormalized: far from all charts the posterior is near one for a preimage that is far off.
        np.testing.assert_allclose(x, candidates[np.argmax(logs)], atol=1e-6 * far)
        chosen.append((np.argmax(logs), np.argmax(posteriors)))
    assert any(one != other for one, other in chosen)


@pytest.mark.parametrize(("name", "kind"), KINDS)
def test_way_back_leads_to_where_it_came_from(fitted, iris, name, kind):
    charts = charts_of(fitted[name], iris[0], n_components=2, gating=kind)
    weights, Y = weights_for(charts), rng(2).normal(size=(40, 2))
    blocks = weights.reshape(len(charts), 3, 2)
    images = charts.coordinates(charts.invert(Y, weights))
    gaps = np.abs(np.einsum("nkm,kmc->nkc", images, blocks[:, :2]) + blocks[:, 2] - Y[:, None]).max(axis=2)
    assert gaps.min(axis=1).max() < 1e-8


def test_way_back_of_one_flat_chart_is_exact():
    X = rng().normal(size=(100, 2)) @ rng(1).normal(size=(2, 5)) + 3.0
    charts = charts_of(MatrixNeuralGas(1, n_components=2, regularization="floor", random_state=0).fit(X))
    weights = weights_for(charts)
    np.testing.assert_allclose(charts.invert(charts.place(X, weights), weights), X, atol=1e-8)


@pytest.mark.parametrize("kind", ["density", "distance", "rank", "crisp"])
def test_charts_that_do_not_reach_a_position_are_left_out(fitted, kind):
    charts = charts_of(fitted["matrix"], n_components=2, gating=kind)
    blocks = weights_for(charts).reshape(3, 3, 2)
    blocks[0] = 0.0  # a chart without samples
    blocks[1, :2] = np.outer([1.0, 2.0], [1.0, -1.0])  # one whose samples are on a line
    Y = rng(2).normal(size=(30, 2))
    X = charts.invert(Y, blocks.reshape(9, 2))
    z = np.einsum("nd,md->nm", X - charts.centers[2], charts.axes[2])
    np.testing.assert_allclose(z @ blocks[2, :2] + blocks[2, 2], Y, atol=1e-8)


def test_way_back_is_by_the_chart_that_reaches_a_position(fitted):
    charts = charts_of(fitted["matrix"], n_components=2)
    blocks = np.zeros((3, 3, 2))
    blocks[:, 0, 0] = 1.0  # all charts are lines, each at another height
    blocks[:, 2, 1] = [0.0, 5.0, 10.0]
    for chart in range(3):
        found = charts.invert(np.array([[0.3, 5.0 * chart]]), blocks.reshape(9, 2))[0]
        np.testing.assert_allclose(found, charts.centers[chart] + 0.3 * charts.axes[chart, 0], atol=1e-9)


def test_way_back_does_not_depend_on_other_positions(fitted):
    charts = charts_of(fitted["kmeans"], rng().normal(size=(50, 4)), n_components=2)
    blocks = weights_for(charts).reshape(4, 3, 2)
    blocks[1, :2] = np.outer([1.0, 2.0], [1.0, -1.0])
    Y = np.vstack([rng(2).normal(size=(30, 2)), [[1e9, 1e9]]])
    together = charts.invert(Y, blocks.reshape(12, 2))
    alone = np.vstack([charts.invert(y[None], blocks.reshape(12, 2)) for y in Y])
    np.testing.assert_allclose(together, alone, rtol=1e-9, atol=1e-9)


# Which models have charts


def test_default_gating(fitted, iris):
    kinds = {name: charts_of(model, iris[0]).gating.kind for name, model in fitted.items()}
    assert kinds == (
        dict.fromkeys(SHAPED, "density") | dict.fromkeys(PLAIN, "crisp") | dict.fromkeys(CLASSIFIERS, "distance")
    )


@pytest.mark.parametrize(
    ("model", "options", "error", "message"),
    [
        (OtherKMeans(3, random_state=0), {}, TypeError, "has no charts"),
        (KMeans(3), {}, ValueError, "no directions of its own"),
        (GRLVQ(), {"gating": "density"}, ValueError, "has no densities"),
        (KMeans(3), {"gating": "other"}, ValueError, "gating='other' must be one of"),
        (KMeans(3), {"bandwidth": "other"}, ValueError, "bandwidth='other' must be one of"),
        (NGPCA(3, 1), {"n_components": 2}, ValueError, "more than the 1 directions"),
        (NGPCA(3, 1), {"n_components": 0}, ValueError, "n_components=0"),
        (KMeans(3), {"fraction": 0.0}, ValueError, "fraction=0.0"),
        (KMeans(3), {"n_nearest": 0}, ValueError, "n_nearest=0"),
        (KMeans(3), {"range_": -1.0}, ValueError, "range_=-1.0"),
        (KMeans(3), {"cutoff": 0.7}, ValueError, "cutoff=0.7"),
    ],
)
def test_what_is_refused(iris, model, options, error, message):
    with pytest.raises(error, match=message):
        charts_of(model.fit(*iris), **options)


def test_other_numbers_of_features_are_refused(fitted, iris):
    with pytest.raises(ValueError, match="X has 3 features, but KMeans was fitted to 4"):
        charts_of(fitted["kmeans"], iris[0][:, :3])


def test_unfitted_models_are_refused():
    with pytest.raises(NotFittedError):
        charts_of(KMeans(3))


def test_models_are_cloned_and_seeded_but_frozen_ones_kept(iris):
    model = KMeans(3)
    one, other = (fitted_model(model, *iris, rng(5)) for _ in range(2))
    np.testing.assert_array_equal(one.prototypes_, other.prototypes_)
    assert not hasattr(model, "prototypes_")
    assert fitted_model(KMeans(3, random_state=7), *iris, rng()).random_state == 7
    assert fitted_model(FrozenEstimator(one), *iris, rng()) is one


def test_what_cannot_be_fitted_is_refused(iris):
    for model in ("kmeans", KMeans):
        with pytest.raises(TypeError, match="cannot be fitted"):
            fitted_model(model, *iris, rng())
