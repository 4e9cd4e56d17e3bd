"""Distances and views in learned metrics: what loops over the definition give, and what embeddings make of them."""

import tracemalloc
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.spatial.distance import pdist, squareform
from scipy.special import softmax
from sklearn.base import BaseEstimator, clone
from sklearn.datasets import load_iris, load_wine
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.manifold import MDS, Isomap, LocallyLinearEmbedding, SpectralEmbedding
from sklearn.manifold import TSNE as TheirTSNE
from sklearn.neighbors import kneighbors_graph
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

from protolearn import (
    GLVQ,
    GMLVQ,
    GRLVQ,
    LFDA,
    LGMLVQ,
    LGRLVQ,
    LMNN,
    LVQ1,
    RSLVQ,
    SNE,
    SONE,
    TSNE,
    XOM,
    KMeans,
    LLiRaMLVQ,
)
from protolearn.core import metric as learned
from protolearn.embedding.discriminative import (
    DiscriminativeEmbedding,
    class_aware_distances,
    discriminative_distances,
    fisher_distances,
    local_projection,
)
from protolearn.embedding.divergences import NeRV
from protolearn.lvq import MinkowskiMetric
from protolearn.metrics import nearest_neighbor_error
from tests.fitted import Fitted

X, Y = load_iris(return_X_y=True)
X = X + np.random.default_rng(0).normal(size=X.shape) * 1e-2  # no ties
WINE, WINES = load_wine(return_X_y=True)
WINE = StandardScaler().fit_transform(WINE)
HALF, HALF_Y = X[::2], Y[::2]

UNFITTED = {
    "GLVQ": GLVQ(2, random_state=0),
    "LVQ1": LVQ1(2, relevance_learning_rate=0.01, random_state=0),
    "GRLVQ": GRLVQ(2, random_state=0),
    "LGRLVQ": LGRLVQ(2, random_state=0),
    "GMLVQ": GMLVQ(2, n_components=2, random_state=0),
    "LGMLVQ": LGMLVQ(2, random_state=0),
    "LGMLVQ of classes": LGMLVQ(2, n_components=2, localization="class", random_state=0),
    "LLiRaMLVQ": LLiRaMLVQ(2, random_state=0),
    "LMNN": LMNN(2),
    "LFDA": LFDA(3),
}
MODELS = Fitted(UNFITTED, X, Y)
LOCAL = MODELS["LGMLVQ"]
ALL = pytest.mark.parametrize("name", UNFITTED)
SYMMETRIZE = pytest.mark.parametrize("symmetrize", ["mean", "min", "max", None])
MERGED = {"mean": lambda a, b: (a + b) / 2, "min": np.minimum, "max": np.maximum, None: lambda a, b: a}


def omegas(name):
    """Return the matrix of each prototype as its documentation has it."""
    model = MODELS[name]
    if name in ("LMNN", "LFDA"):
        return [model.components_]
    k = len(model.prototypes_)
    if name == "GLVQ":
        return [np.eye(4)] * k
    if name in ("LVQ1", "GRLVQ"):
        return [np.diag(np.sqrt(model.relevances_) / getattr(model, "scale_", 1.0))] * k
    if name == "LGRLVQ":
        return [np.diag(np.sqrt(row) / model.scale_) for row in model.relevances_]
    if name == "GMLVQ":
        return [model.omega_] * k
    if name == "LGMLVQ":
        return list(model.omegas_)
    if name == "LGMLVQ of classes":
        return [model.omegas_[label] for label in model.prototype_labels_]
    return [model.psis_[label] @ model.omega_ for label in model.prototype_labels_]


def winner(name, x):
    if name in ("LMNN", "LFDA"):
        return 0
    gaps = [omega @ (x - w) for omega, w in zip(omegas(name), MODELS[name].prototypes_)]
    return int(np.argmin([gap @ gap for gap in gaps]))


def squares_by_loops(name, A, B):
    """Return the distances of the rows of A to those of B, by the winners of A."""
    matrices = omegas(name)
    D = np.empty((len(A), len(B)))
    for i, a in enumerate(A):
        relevances = matrices[winner(name, a)]
        relevances = relevances.T @ relevances
        for j, b in enumerate(B):
            D[i, j] = (a - b) @ relevances @ (a - b)
    return D


def assert_same_up_to_signs(view, other, **tolerance):
    np.testing.assert_allclose(view * np.sign((view * other).sum(axis=0)), other, **tolerance)


# Distances


@ALL
def test_distances_are_those_of_loops_by_the_metric_of_the_winner(name):
    squares = discriminative_distances(MODELS[name], HALF, squared=True, symmetrize=None)
    np.testing.assert_allclose(squares, squares_by_loops(name, HALF, HALF), rtol=1e-9, atol=1e-15)
    assert (squares.diagonal() == 0.0).all()
    assert (squares >= 0.0).all()
    roots = discriminative_distances(MODELS[name], HALF, symmetrize=None)
    np.testing.assert_allclose(roots**2, squares, rtol=1e-12)


@settings(deadline=None, max_examples=25)
@given(arrays(np.float64, st.tuples(st.integers(1, 8), st.just(4)), elements=st.floats(-10, 10, width=32)))
def test_distances_of_any_samples(samples):
    squares = discriminative_distances(LOCAL, samples, squared=True, symmetrize=None)
    own = omegas("LGMLVQ")
    for row, x in zip(squares, samples):
        # Between prototypes at the same distance either may win.
        gaps = [((x - samples) @ omega.T) for omega in own]
        far = [np.square(omega @ (x - w)).sum() for omega, w in zip(own, LOCAL.prototypes_)]
        candidates = [np.square(gap).sum(axis=1) for gap, d in zip(gaps, far) if d <= min(far) * (1 + 1e-9) + 1e-12]
        assert any(np.allclose(row, candidate, rtol=1e-6, atol=1e-12) for candidate in candidates)


@pytest.mark.parametrize("name", ["GMLVQ", "GRLVQ", "LMNN", "LFDA"])
@SYMMETRIZE
def test_with_one_metric_distances_are_euclidean_after_the_transform(name, symmetrize):
    distances = discriminative_distances(MODELS[name], X, symmetrize=symmetrize)
    np.testing.assert_allclose(distances, squareform(pdist(MODELS[name].transform(X))), rtol=1e-9, atol=1e-12)


def test_without_learned_metric_distances_are_euclidean():
    np.testing.assert_allclose(discriminative_distances(MODELS["GLVQ"], X), squareform(pdist(X)), rtol=1e-9)


@pytest.mark.parametrize("name", ["LGMLVQ", "LGRLVQ", "LLiRaMLVQ"])
def test_symmetric_inside_a_field_and_not_across(name):
    squares = discriminative_distances(MODELS[name], X, squared=True, symmetrize=None)
    fields = np.array([winner(name, x) for x in X])
    if name == "LLiRaMLVQ":  # of classes
        fields = MODELS[name].prototype_labels_[fields]
    same = fields[:, None] == fields
    np.testing.assert_allclose(squares[same], squares.T[same], rtol=1e-9, atol=1e-15)
    assert (np.abs(squares - squares.T) > 0.01 * (squares + squares.T))[~same].mean() > 0.5


@pytest.mark.parametrize("tile", [7, 10**6])
@pytest.mark.parametrize("symmetrize", ["mean", "min", "max"])
def test_symmetrized_squares(symmetrize, tile, monkeypatch):
    plain = discriminative_distances(LOCAL, X, squared=True, symmetrize=None)
    monkeypatch.setattr(learned, "TILE", tile)
    squares = discriminative_distances(LOCAL, X, squared=True, symmetrize=symmetrize)
    np.testing.assert_array_equal(squares, squares.T)
    np.testing.assert_allclose(squares, MERGED[symmetrize](plain, plain.T), rtol=1e-9, atol=1e-15)
    roots = discriminative_distances(LOCAL, X, symmetrize=symmetrize)
    np.testing.assert_allclose(roots**2, squares, rtol=1e-12, atol=1e-300)


@SYMMETRIZE
@pytest.mark.parametrize("tile", [7, 10**6])
def test_distances_to_other_samples(symmetrize, tile, monkeypatch):
    monkeypatch.setattr(learned, "TILE", tile)
    few, others = X[::5], X[1::4]
    squares = discriminative_distances(LOCAL, few, others, squared=True, symmetrize=symmetrize)
    by_rows, by_columns = squares_by_loops("LGMLVQ", few, others), squares_by_loops("LGMLVQ", others, few).T
    np.testing.assert_allclose(squares, MERGED[symmetrize](by_rows, by_columns), rtol=1e-8, atol=1e-15)
    whole = discriminative_distances(LOCAL, X, symmetrize=symmetrize)
    part = discriminative_distances(LOCAL, X[10:13], X, symmetrize=symmetrize)
    np.testing.assert_allclose(part, whole[10:13], rtol=1e-8, atol=1e-9)


def test_single_precision_in_and_out():
    narrow, wide = X.astype(np.float32), X.astype(np.float32).astype(np.float64)
    distances = discriminative_distances(LOCAL, narrow)
    assert distances.dtype == np.float32
    assert (distances.diagonal() == 0.0).all()
    # The sums are in double precision, so that near samples lose no digits.
    np.testing.assert_allclose(distances, discriminative_distances(LOCAL, wide), rtol=3e-7)
    assert discriminative_distances(LOCAL, narrow, wide[:3]).dtype == np.float64
    assert local_projection(LOCAL, narrow).dtype == np.float32


@pytest.mark.parametrize("n_samples", [50, 333])
def test_the_diagonal_is_zero_whatever_the_rounding_of_products(n_samples):
    rng = np.random.default_rng(0)
    samples, labels = rng.normal(size=(n_samples, 30)), np.arange(n_samples) % 3
    model = LGMLVQ(n_components=20, max_iter=2, random_state=0).fit(samples, labels)
    for symmetrize in ("mean", None):
        assert (discriminative_distances(model, samples, symmetrize=symmetrize).diagonal() == 0.0).all()


def test_far_from_the_origin_no_digits_are_lost():
    shift = 2.0**30
    near, far = np.round(X * 256) / 256, np.round(X * 256) / 256 + shift
    model = LGMLVQ(max_iter=20, random_state=0).fit(near, Y)
    moved = clone(model).fit(far, Y)
    distances = [discriminative_distances(m, samples) for m, samples in ((model, near), (moved, far))]
    np.testing.assert_allclose(distances[1], distances[0], rtol=1e-4)
    gaps = far[:, None] - far
    winners = np.abs(local_projection(moved, far, centered=True)).sum(axis=1)
    assert winners.max() < 10.0
    squares = discriminative_distances(moved, far, squared=True, symmetrize=None)
    fits = [
        np.isclose(squares, np.square(gaps @ omega.T).sum(axis=-1), rtol=1e-9).all(axis=1) for omega in moved.omegas_
    ]
    assert np.any(fits, axis=0).all()


def test_memory_is_that_of_the_result():
    samples = np.random.default_rng(0).normal(size=(2500, 4))
    tracemalloc.start()
    try:
        result = discriminative_distances(LOCAL, samples)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 1.2 * result.nbytes


# Projections


@ALL
def test_projections_by_the_matrix_of_the_winner(name):
    model = MODELS[name]
    expected = np.stack([omegas(name)[winner(name, x)] @ x for x in HALF])
    np.testing.assert_allclose(local_projection(model, HALF), expected, rtol=1e-9, atol=1e-12)
    if name in ("LMNN", "LFDA"):
        with pytest.raises(ValueError, match="centered=True needs a model with prototypes"):
            local_projection(model, HALF, centered=True)
        return
    from_winner = np.stack(
        [omegas(name)[p] @ (x - model.prototypes_[p]) for x, p in ((x, winner(name, x)) for x in HALF)]
    )
    centered = local_projection(model, HALF, centered=True)
    np.testing.assert_allclose(centered, from_winner, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose((centered**2).sum(axis=1), model.explain(HALF).distances, rtol=1e-7, atol=1e-12)


def test_projection_with_one_matrix_is_the_transform():
    np.testing.assert_allclose(local_projection(MODELS["GMLVQ"], X), MODELS["GMLVQ"].transform(X), rtol=1e-12)


def test_inside_a_field_distances_of_projections_are_the_learned_ones():
    fields = np.array([winner("LGMLVQ", x) for x in X])
    projected, distances = local_projection(LOCAL, X), discriminative_distances(LOCAL, X)
    for field in np.unique(fields):
        own = fields == field
        np.testing.assert_allclose(squareform(pdist(projected[own])), distances[np.ix_(own, own)], atol=1e-9)


def test_pipelines_and_frozen_models_are_measured_behind_their_other_steps():
    scaler = StandardScaler().fit(X)
    scaled = scaler.transform(X)
    model = LGMLVQ(random_state=0).fit(scaled, Y)
    whole = make_pipeline(StandardScaler(), LGMLVQ(random_state=0)).fit(X, Y)
    for other in (whole, FrozenEstimator(whole), make_pipeline(scaler, FrozenEstimator(model))):
        distances = discriminative_distances(other, X)
        np.testing.assert_allclose(distances, discriminative_distances(model, scaled), rtol=1e-9)
    np.testing.assert_array_equal(discriminative_distances(make_pipeline(LOCAL), X), discriminative_distances(LOCAL, X))


# Bad input of both functions

BOTH = pytest.mark.parametrize("function", [discriminative_distances, local_projection])


@BOTH
@pytest.mark.parametrize("name", ["LGMLVQ", "LFDA"])
def test_bad_samples(function, name):
    with pytest.raises(NotFittedError, match=f"{type(MODELS[name]).__name__} instance is not fitted"):
        function(clone(MODELS[name]), X)
    with pytest.raises(ValueError, match=r"X has 3 features, but .* is expecting 4"):
        function(MODELS[name], X[:, :3])
    with pytest.raises(ValueError, match="contains NaN"):
        function(MODELS[name], np.where(X > 5, np.nan, X))
    with pytest.raises(ValueError, match="too large for float64; rescale X"):
        function(MODELS[name], X * 1e200)


@BOTH
def test_missing_values_that_the_model_allows(function):
    gaps = X.copy()
    gaps[[3, 70], [1, 2]] = np.nan
    model = LGMLVQ(missing="partial", random_state=0).fit(gaps, Y)
    with pytest.raises(ValueError, match=r"2 samples have missing values \(the first is row 3\).*fill the gaps"):
        function(model, gaps)
    assert np.isfinite(function(model, X)).all()


@BOTH
def test_models_without_a_learned_metric(function):
    with pytest.raises(TypeError, match=f"KMeans has no metric for {function.__name__}; pass an LVQ classifier"):
        function(KMeans(3).fit(X), X)
    with pytest.raises(ValueError, match=f"{function.__name__} needs a metric .* MinkowskiMetric is of another kind"):
        function(GLVQ(metric=MinkowskiMetric(3.0)).fit(X, Y), X)


def test_unknown_symmetrization_and_other_samples_with_gaps():
    with pytest.raises(ValueError, match="symmetrize='sum' must be one of 'mean', 'min', 'max' or None"):
        discriminative_distances(LOCAL, X, symmetrize="sum")
    with pytest.raises(ValueError, match="contains NaN"):
        discriminative_distances(LOCAL, X, np.full((2, 4), np.nan))


# Views

FROZEN = FrozenEstimator(LOCAL)
EMBEDDINGS = {
    "TSNE": TSNE(perplexity=15, max_iter=60, random_state=0),
    "SNE": SNE(perplexity=15, max_iter=60, random_state=0),
    "SNE of pca": SNE(perplexity=15, max_iter=60, init="pca", random_state=0),
    "XOM": XOM(max_iter=5, random_state=0),
    "SONE": SONE(max_iter=5, random_state=0),
    "Isomap": Isomap(n_neighbors=40),
}


@pytest.mark.parametrize("name", EMBEDDINGS)
def test_views_are_those_of_the_distances_given_by_hand(name):
    embedding = EMBEDDINGS[name]
    view = DiscriminativeEmbedding(FROZEN, embedding).fit_transform(X)
    by_hand = clone(embedding).set_params(metric="precomputed").fit_transform(discriminative_distances(LOCAL, X))
    np.testing.assert_array_equal(view, by_hand)
    assert embedding.metric in ("euclidean", "minkowski")
    assert not hasattr(embedding, "embedding_")


def test_views_of_scikit_learn_whose_parameters_have_other_names():
    D = discriminative_distances(LOCAL, X)
    plus = DiscriminativeEmbedding(FROZEN, TheirTSNE(perplexity=15, max_iter=250, random_state=0)).fit(X)
    by_hand = TheirTSNE(perplexity=15, max_iter=250, metric="precomputed", init="random", random_state=0)
    np.testing.assert_array_equal(plus.embedding_, by_hand.fit_transform(D))
    for n_neighbors, used in ((None, 15), (70, 70)):
        spectral = SpectralEmbedding(n_neighbors=n_neighbors, random_state=0)
        plus = DiscriminativeEmbedding(FROZEN, spectral).fit(X).embedding_estimator_
        near = kneighbors_graph(D, used - 1, metric="precomputed").toarray() + np.eye(len(X))
        np.testing.assert_array_equal(plus.affinity_matrix_.toarray(), (near + near.T) / 2)
    start = {"init": "random"} if "init" in MDS().get_params() else {}  # in scikit-learn since 1.8
    scaling = MDS(n_init=1, random_state=0, **start)
    by_hand = {"metric": "precomputed"} if isinstance(scaling.metric, str) else {"dissimilarity": "precomputed"}
    plus = DiscriminativeEmbedding(FROZEN, scaling).fit_transform(X)
    np.testing.assert_array_equal(plus, clone(scaling).set_params(**by_hand).fit_transform(D))


@pytest.mark.parametrize(
    "embedding", [Isomap(n_neighbors=60), LocallyLinearEmbedding(n_neighbors=60)], ids=["Isomap", "LLE"]
)
def test_without_learned_metric_views_are_the_plain_ones(embedding):
    plain = clone(embedding).fit_transform(X)
    view = DiscriminativeEmbedding(GLVQ(random_state=0), embedding).fit_transform(X, Y)
    scale = np.sqrt((view**2).sum(axis=0) / (plain**2).sum(axis=0))
    assert_same_up_to_signs(view / scale, plain, atol=1e-6 * np.abs(plain).max())


def test_locally_linear_views_take_neighbors_from_the_metric_and_weights_from_the_data():
    n, k = len(X), 60
    order = np.argsort(discriminative_distances(LOCAL, X, symmetrize=None), axis=1)
    W = np.zeros((n, n))
    for i, near in enumerate(order[:, 1 : k + 1]):
        gaps = X[near] - X[i]
        gram = gaps @ gaps.T
        w = np.linalg.solve(gram + 1e-3 * np.trace(gram) * np.eye(k), np.ones(k))
        W[i, near] = w / w.sum()
    vectors = np.linalg.eigh((np.eye(n) - W).T @ (np.eye(n) - W))[1][:, 1:3]
    plus = DiscriminativeEmbedding(FROZEN, LocallyLinearEmbedding(n_neighbors=k)).fit(X)
    assert_same_up_to_signs(plus.embedding_ / np.sqrt(n), vectors, atol=1e-6)
    np.testing.assert_array_equal(plus.embedding_, plus.embedding_estimator_.embedding_)


def test_the_name_of_locally_linear_embedding():
    with pytest.warns(UserWarning, match="n_neighbors=5 there are 2 groups of samples without neighbors outside"):
        named = DiscriminativeEmbedding(FROZEN, "lle").fit_transform(X)
    with pytest.warns(UserWarning, match="groups of samples"):
        given = DiscriminativeEmbedding(FROZEN, LocallyLinearEmbedding()).fit_transform(X)
    np.testing.assert_array_equal(named, given)


class Unfolding(BaseEstimator):
    """An embedding that may be told which samples are neighbors, as maximum variance unfolding may."""

    def __init__(self, n_neighbors=5, connectivity=None, metric="euclidean"):
        self.n_neighbors = n_neighbors
        self.connectivity = connectivity
        self.metric = metric

    def fit_transform(self, X, y=None):
        self.samples_ = X
        return X[:, :2]


def test_embeddings_with_neighbors_of_their_own_get_those_of_the_metric_and_the_data():
    nearest = np.argsort(discriminative_distances(LOCAL, X, symmetrize=None), axis=1)[:, 1:8]
    joined = np.zeros((150, 150), bool)
    np.put_along_axis(joined, nearest, True, axis=1)
    fitted = DiscriminativeEmbedding(FROZEN, Unfolding(7)).fit(X).embedding_estimator_
    np.testing.assert_array_equal(fitted.connectivity.toarray(), joined)
    np.testing.assert_array_equal(fitted.samples_, X)
    assert fitted.metric == "euclidean"


def test_maximum_variance_unfolding_takes_neighbors_from_the_metric_and_lengths_from_the_data():
    unfolding = pytest.importorskip("protolearn.embedding._mvu").MVU(n_neighbors=12, random_state=0)
    few = X[::5]
    nearest = np.argsort(discriminative_distances(LOCAL, few, symmetrize=None), axis=1)[:, 1:13]
    joined = np.zeros((len(few), len(few)), bool)
    np.put_along_axis(joined, nearest, True, axis=1)
    view = DiscriminativeEmbedding(FROZEN, unfolding).fit_transform(few)
    by_hand = clone(unfolding).set_params(connectivity=joined).fit_transform(few)
    np.testing.assert_allclose(view, by_hand, atol=1e-6 * np.abs(by_hand).max())
    with pytest.raises(ValueError, match="2 components"):
        DiscriminativeEmbedding(GMLVQ(random_state=0), clone(unfolding)).fit(APART, APART_Y)


# The estimator


@parametrize_with_checks([DiscriminativeEmbedding(LFDA(), Isomap(n_neighbors=2))])
@pytest.mark.filterwarnings("ignore:The number of connected components", "ignore:Changing the sparsity structure")
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize(("samples", "labels"), [(X, Y), (WINE, WINES)], ids=["iris", "wine"])
@pytest.mark.parametrize("embedding", [TSNE(max_iter=300, random_state=0), XOM(random_state=0)], ids=["TSNE", "XOM"])
def test_classes_lie_apart_at_least_as_well_as_without_labels(samples, labels, embedding):
    view = DiscriminativeEmbedding(embedding=embedding).fit_transform(samples, labels)
    plain = clone(embedding).fit_transform(samples)
    assert nearest_neighbor_error(view, labels) <= nearest_neighbor_error(plain, labels)


def test_classes_that_noise_hides_show_in_samples_that_the_classifier_has_not_seen():
    rng = np.random.default_rng(0)
    labels = np.arange(400) % 2
    samples = rng.normal(size=(400, 10)) * 6.0
    samples[:, 0] = 4.0 * labels + rng.normal(size=400)
    classifier = LGMLVQ(random_state=0).fit(samples[:200], labels[:200])
    new, own = samples[200:], labels[200:]
    embedding = TSNE(max_iter=300, random_state=0)
    view = DiscriminativeEmbedding(FrozenEstimator(classifier), embedding).fit_transform(new)
    assert nearest_neighbor_error(view, own) < 0.5 * nearest_neighbor_error(embedding.fit_transform(new), own)


def test_classifier_and_embedding_are_cloned():
    classifier, embedding = LFDA(2), TSNE(perplexity=5, max_iter=10, random_state=0)
    model = DiscriminativeEmbedding(classifier, embedding).fit(X, Y)
    assert not hasattr(classifier, "components_")
    assert not hasattr(embedding, "embedding_")
    np.testing.assert_array_equal(model.classifier_.components_, clone(classifier).fit(X, Y).components_)
    np.testing.assert_array_equal(model.embedding_, model.embedding_estimator_.embedding_)
    assert model.n_features_in_ == 4


def test_the_default_perplexity_suits_few_samples():
    model = DiscriminativeEmbedding().fit(X[::10], Y[::10])
    assert model.embedding_estimator_.perplexity == 5.0
    assert isinstance(model.classifier_, LGMLVQ)
    assert get_tags(model).target_tags.required


def test_names_of_features_and_of_coordinates():
    frame = pd.DataFrame(X, columns=list("abcd"))
    embedding = TSNE(perplexity=5, max_iter=10, random_state=0)
    model = DiscriminativeEmbedding(make_pipeline(StandardScaler(), LFDA()), embedding).set_output(transform="pandas")
    view = model.fit_transform(frame, Y)
    assert list(view.columns) == ["discriminativeembedding0", "discriminativeembedding1"]
    assert list(model.feature_names_in_) == list("abcd")
    assert list(model.classifier_.feature_names_in_) == list("abcd")


# Metrics that move classes out of reach of each other

APART = np.vstack([HALF[:20] + shift * np.array([1.0, 0, 0, 0]) for shift in (0.0, 1e3)])
APART_Y = np.repeat([0, 1], 20)


def test_no_sample_is_lost_if_the_graph_of_neighbors_falls_apart():
    def view(embedding):
        return DiscriminativeEmbedding(GMLVQ(random_state=0), embedding).fit_transform(APART, APART_Y)

    def check(positions):
        assert positions.shape == (40, 2)
        assert np.isfinite(positions).all()

    check(view(TSNE(perplexity=5, max_iter=100, random_state=0)))
    with pytest.warns(UserWarning, match="connected components of the neighbors graph is 2"):
        check(view(Isomap(n_neighbors=5)))
    with pytest.warns(UserWarning, match="there are 2 groups of samples without neighbors outside"):
        check(view("lle"))


def test_groups_that_only_strangers_join_are_still_groups():
    """Two cliques, and a sample that has neighbors in both but is a neighbor of none."""
    line = np.array([0.0, 1.0, 2.1, 50.0, 98.0, 99.0, 100.1])[:, None] * [1.0, 0.0]
    line[:, 1] = [0.0, 0.3, 0.1, 0.2, 0.0, 0.3, 0.1]
    model = FrozenEstimator(GLVQ(random_state=0).fit(line, [0, 0, 0, 0, 1, 1, 1]))
    with pytest.warns(UserWarning, match="n_neighbors=2 there are 2 groups"):
        DiscriminativeEmbedding(model, LocallyLinearEmbedding(n_neighbors=2)).fit(line)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        DiscriminativeEmbedding(model, LocallyLinearEmbedding(n_neighbors=3)).fit(line)


# Bad input


def test_bad_samples_of_views():
    model = DiscriminativeEmbedding()
    with pytest.raises(ValueError, match="at least 2 classes, but y has one class only"):
        model.fit(X, np.zeros(len(X)))
    with pytest.raises(ValueError, match="requires y to be passed, but the target y is None"):
        model.fit(X)
    with pytest.raises(ValueError, match="contains NaN"):
        model.fit(np.where(X > 5, np.nan, X), Y)
    with pytest.raises(ValueError, match="X has 3 features, but LGMLVQ is expecting 4"):
        DiscriminativeEmbedding(FROZEN).fit(X[:, :3])
    with pytest.raises(NotFittedError):
        DiscriminativeEmbedding(FrozenEstimator(LGMLVQ())).fit(X)
    gaps = X.copy()
    gaps[3, 1] = np.nan
    with pytest.raises(ValueError, match="DiscriminativeEmbedding needs samples without"):
        DiscriminativeEmbedding(LGMLVQ(missing="partial", random_state=0)).fit(gaps, Y)


@pytest.mark.parametrize(
    ("embedding", "message"),
    [
        (PCA(2), r"embedding=PCA\(n_components=2\) cannot use learned distances: it has no parameter `metric`"),
        (SpectralEmbedding(affinity="rbf"), "cannot use learned distances.*SpectralEmbedding"),
        (LocallyLinearEmbedding(method="ltsa"), "method='ltsa' must be one of 'standard' for neighbors by a learned"),
        (LocallyLinearEmbedding(n_neighbors=150), "n_neighbors=150 must be an integer in .1, 149. for n_samples=150"),
        ("isomap", "embedding='isomap' must be 'lle', an estimator"),
    ],
    ids=["no metric", "kernel", "other weights", "too many neighbors", "name"],
)
def test_bad_embeddings(embedding, message):
    with pytest.raises(ValueError, match=message):
        DiscriminativeEmbedding(FROZEN, embedding).fit(X)


def test_classifiers_without_metric():
    with pytest.raises(TypeError, match="KMeans has no metric for DiscriminativeEmbedding"):
        DiscriminativeEmbedding(KMeans(3)).fit(X, Y)


def test_a_failed_fit_loses_nothing():
    model = DiscriminativeEmbedding(LFDA(), TSNE(perplexity=5, max_iter=10, random_state=0)).fit(X, Y)
    before = model.embedding_
    with pytest.raises(ValueError, match="1 class only"):
        model.fit(X[:, :3], np.zeros(len(X)))
    assert model.embedding_ is before
    assert model.n_features_in_ == 4


# Distances that classes change


@pytest.mark.parametrize("width", [None, 3.0])
def test_class_aware_distances_by_a_loop(width):
    X, y = load_iris(return_X_y=True)
    X, y = X[::5], y[::5]
    n, alpha = len(X), 0.4
    pairs = [((a - b) ** 2).sum() for i, a in enumerate(X) for j, b in enumerate(X) if i != j]
    beta = np.mean(pairs) if width is None else width
    D = class_aware_distances(X, y, alpha=alpha, width=width)
    for i in range(n):
        for j in range(n):
            square = ((X[i] - X[j]) ** 2).sum()
            near, far = np.sqrt(1.0 - np.exp(-square / beta)), np.sqrt(np.exp(square / beta)) - alpha
            expected = near if y[i] == y[j] else far
            assert D[i, j] == pytest.approx(expected, rel=1e-9, abs=1e-12)
    same = y[:, None] == y
    assert D[same].max() < 1.0
    assert D[~same].min() >= 1.0 - alpha
    np.testing.assert_array_equal(D, D.T)


def test_class_aware_distances_have_no_unit_and_stay_finite():
    X, y = load_iris(return_X_y=True)
    D = class_aware_distances(X, y)
    np.testing.assert_allclose(class_aware_distances(1e4 * X - 7.0, y), D, rtol=1e-6)
    far = np.vstack([np.zeros((2000, 1)), np.ones((1, 1))])
    assert np.isfinite(class_aware_distances(far, np.arange(2001) % 2)).all()
    with pytest.raises(ValueError, match="All samples are the same"):
        class_aware_distances(np.ones((5, 2)), np.arange(5))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        class_aware_distances(X, y[1:])
    with pytest.raises(ValueError, match="alpha=2"):
        class_aware_distances(X, y, alpha=2)


# Fisher distances


class Sigmoid:
    """Two classes, of which the second becomes more probable along a direction."""

    def __init__(self, direction):
        self.direction = np.asarray(direction)

    def fit(self, X, y):
        return self

    def predict_proba(self, X):
        p = 1.0 / (1.0 + np.exp(-X @ self.direction))
        return np.column_stack([1.0 - p, p])


class Softmax:
    """Three classes, by linear functions and a quadratic one."""

    weights = np.random.default_rng(0).normal(size=(3, 3))

    def fit(self, X, y):
        return self

    def predict_proba(self, X):
        return softmax(np.atleast_2d(X) @ self.weights + 0.3 * np.square(X[..., :1]) * [1, 0, -1], axis=1)


@pytest.mark.parametrize("n_steps", [1, 7])
def test_on_a_line_fisher_distances_are_arcs(n_steps):
    x = np.random.default_rng(0).normal(size=(40, 1))
    D = fisher_distances(Sigmoid([2.0]), x, n_neighbors=12, n_steps=n_steps)
    angles = 2.0 * np.arcsin(np.sqrt(Sigmoid([2.0]).predict_proba(x)[:, 1]))
    np.testing.assert_allclose(D, np.abs(angles[:, None] - angles), atol=1e-12)


def test_small_fisher_distances_are_those_of_the_fisher_information():
    model, h = Softmax(), 1e-5
    x = np.random.default_rng(1).normal(size=3)
    p = model.predict_proba(x[None])[0]
    higher, lower = (np.log(model.predict_proba(x + sign * h * np.eye(3))) for sign in (1.0, -1.0))
    slopes = (higher - lower) / (2.0 * h)
    information = (slopes * p) @ slopes.T
    for direction in np.random.default_rng(2).normal(size=(5, 3)):
        step = 1e-4 * direction
        D = fisher_distances(model, np.stack([x - 0.5 * step, x + 0.5 * step]), n_neighbors=1, n_steps=3)
        assert D[0, 1] == pytest.approx(np.sqrt(step @ information @ step), rel=1e-6)


def test_fisher_distances_are_shortest_paths_along_lines_between_neighbors():
    model, some = Softmax(), np.random.default_rng(3).normal(size=(50, 3))
    D = fisher_distances(model, some, n_neighbors=8, n_steps=5)
    np.testing.assert_array_equal(D, D.T)
    assert (D.diagonal() == 0.0).all()
    assert (D[:, :, None] <= D[:, None, :] + D.T[None] + 1e-12).all()  # the triangle inequality
    for i in range(0, len(some), 7):
        for j in np.argsort(np.square(some - some[i]).sum(axis=1))[1:9]:
            places = some[i] + np.linspace(0, 1, 6)[:, None] * (some[j] - some[i])
            roots = np.sqrt(model.predict_proba(places))
            line = 2.0 * np.arccos(np.minimum((roots[1:] * roots[:-1]).sum(axis=1), 1.0)).sum()
            assert D[i, j] <= line + 1e-6
    direct = fisher_distances(model, some, n_neighbors=len(some) - 1, n_steps=5)
    assert (direct <= D + 1e-12).all()


def test_directions_without_classes_have_no_length():
    rng = np.random.default_rng(0)
    samples = rng.normal(size=(50, 3))
    moved = samples + np.outer(rng.normal(size=50), [0.0, 2.0, -1.0])  # to which the classes are blind
    blind = Sigmoid([2.0, 1.0, 2.0])
    D = [fisher_distances(blind, S, n_neighbors=49) for S in (samples, moved)]
    np.testing.assert_allclose(D[0], D[1], atol=1e-9)


def test_a_supervised_nerv_separates_classes():
    model = RSLVQ(random_state=0).fit(WINE, WINES)
    D = fisher_distances(model, WINE)
    view = SNE(divergence=NeRV(0.5), metric="precomputed", max_iter=250, random_state=0).fit_transform(D)
    assert nearest_neighbor_error(view, WINES) < 0.02 < nearest_neighbor_error(WINE, WINES)


def test_fisher_distances_refuse_what_they_cannot_do():
    with pytest.raises(TypeError, match="not an estimator with predict_proba"):
        fisher_distances(LMNN(2), X)
    with pytest.raises(ValueError, match="components"):
        fisher_distances(Softmax(), np.vstack([X[:10, :3], 100 + X[:10, :3]]), n_neighbors=2)
