"""The learned metric: what the definition says, whoever has learned it and whoever measures by it."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist, pdist, squareform
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from protolearn import (
    CIALVQ,
    GLVQ,
    GMLVQ,
    GRLVQ,
    LFDA,
    LGMLVQ,
    LGRLVQ,
    LMNN,
    MVU,
    SNE,
    SONE,
    TSNE,
    XOM,
    DiscriminativeEmbedding,
    KMeans,
    LearnedMetric,
    MappedEmbedding,
    OutOfSample,
    PrototypeClassifier,
    as_metric,
)
from protolearn.applications import ImageRetriever
from protolearn.core.metric import is_learned
from protolearn.dissimilarities import Dissimilarities, pairwise
from protolearn.lvq import MinkowskiMetric
from tests.fitted import Fitted

X, Y = load_iris(return_X_y=True)
X = X + np.random.default_rng(0).normal(size=X.shape) * 1e-2  # no ties
FEW = X[::5]
GLOBAL = {
    "GLVQ": GLVQ(2, random_state=0),
    "GRLVQ": GRLVQ(2, random_state=0),
    "GMLVQ": GMLVQ(2, n_components=2, random_state=0),
    "LMNN": LMNN(2),
    "LFDA": LFDA(3),
}
LOCAL = {
    "LGMLVQ": LGMLVQ(2, random_state=0),
    "LGMLVQ of classes": LGMLVQ(2, n_components=2, localization="class", random_state=0),
    "LGRLVQ": LGRLVQ(2, random_state=0),
}
MODELS = Fitted(GLOBAL | LOCAL, X, Y)
each_model = pytest.mark.parametrize("name", [*GLOBAL, *LOCAL])
each_global = pytest.mark.parametrize("name", GLOBAL)
each_local = pytest.mark.parametrize("name", LOCAL)
both = pytest.mark.parametrize("name", ["GMLVQ", "LGMLVQ"])


def winner_by_loops(metric, x):
    far = [np.square(metric.omegas[s] @ (x - w)).sum() for w, s in zip(metric.prototypes, metric.slots)]
    return int(np.argmin(far))


# The definition


@each_global
def test_a_global_metric_is_euclidean_after_the_projection(name):
    metric = MODELS[name].metric_
    assert metric.is_global
    np.testing.assert_allclose(metric.distances(X), squareform(pdist(metric.project(X))), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(metric.distances(FEW, X), cdist(*map(metric.project, (FEW, X))), rtol=1e-9, atol=1e-12)
    if hasattr(MODELS[name], "transform"):
        np.testing.assert_allclose(metric.project(X), MODELS[name].transform(X), rtol=1e-12, atol=1e-15)


@each_local
def test_a_local_metric_is_that_of_the_nearest_prototype(name):
    metric = MODELS[name].metric_
    assert not metric.is_global
    winners = [winner_by_loops(metric, x) for x in FEW]
    np.testing.assert_array_equal(metric.nearest(FEW), winners)
    by_rows = np.empty((len(FEW), len(FEW)))
    for i, p in enumerate(winners):
        omega = metric.omegas[metric.slots[p]]
        np.testing.assert_array_equal(metric.at(FEW[i]), omega)
        np.testing.assert_allclose(metric.project(FEW)[i], omega @ FEW[i], atol=1e-12)
        by_rows[i] = np.square((FEW[i] - FEW) @ omega.T).sum(axis=1)
    given = {"squared": True, "symmetrize": None}
    np.testing.assert_allclose(metric.distances(FEW, **given), by_rows, rtol=1e-9, atol=1e-14)
    np.testing.assert_allclose(metric.distances(FEW), np.sqrt((by_rows + by_rows.T) / 2), rtol=1e-9, atol=1e-8)
    np.testing.assert_allclose(metric.distances(FEW[:4], FEW), metric.distances(FEW)[:4], rtol=1e-9, atol=1e-8)


@pytest.mark.parametrize("name", [name for name in (*GLOBAL, *LOCAL) if name not in ("LMNN", "LFDA")])
def test_prototypes_win_the_samples_that_they_win_in_the_classifier(name):
    model = MODELS[name]
    np.testing.assert_array_equal(model.metric_.nearest(X), model.nearest(X))
    np.testing.assert_array_equal(model.nearest(X), model.distances(X).argmin(axis=1))
    np.testing.assert_array_equal(model.metric_.labels[model.nearest(X)], model.predict(X))
    centered = model.metric_.project(X, centered=True)
    np.testing.assert_allclose(np.square(centered).sum(axis=1), model.distances(X).min(axis=1), rtol=1e-6, atol=1e-12)


def test_prototypes_of_classes_that_no_sample_has_win_nothing():
    model = LGMLVQ(random_state=0).partial_fit(X[:100], Y[:100], classes=[0, 1, 2])
    metric = model.metric_
    assert metric.slots.tolist() == [0, 1, -1]
    np.testing.assert_array_equal(metric.nearest(X), model.nearest(X))


def test_relevances_are_a_diagonal_matrix():
    relevances = MODELS["GRLVQ"].omega_ ** 2  # in the units of the samples
    diagonal, matrix = as_metric(relevances), as_metric(np.diag(np.sqrt(relevances)))
    for metric in (diagonal, MODELS["GRLVQ"].metric_):
        np.testing.assert_allclose(metric.distances(X), matrix.distances(X), rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(metric.omegas, np.abs(matrix.omegas), rtol=1e-12)
    np.testing.assert_array_equal(diagonal.at(X[0]), matrix.at(X[0]))
    np.testing.assert_allclose(as_metric(np.ones(4)).distances(X), squareform(pdist(X)), rtol=1e-9)


@both
@pytest.mark.parametrize("factor", [1e-60, 2.5, 1e60])
def test_distances_follow_the_scale_of_samples_and_matrices(name, factor):
    metric = MODELS[name].metric_
    args = metric.prototypes, metric.slots, metric.labels
    expected = factor * metric.distances(X)
    np.testing.assert_allclose(LearnedMetric(factor * metric.matrices, *args).distances(X), expected, rtol=1e-8)
    moved = LearnedMetric(metric.matrices, factor * metric.prototypes, *args[1:])
    np.testing.assert_allclose(moved.distances(factor * X), expected, rtol=1e-8)


@each_model
def test_single_precision_stays(name):
    metric, narrow = MODELS[name].metric_, X.astype(np.float32)
    for function in (metric.project, metric.distances):
        assert function(narrow).dtype == np.float32
        np.testing.assert_allclose(function(narrow), function(narrow.astype(np.float64)), rtol=1e-5, atol=1e-6)


# Back to the samples


def test_points_are_taken_back_exactly_by_an_invertible_matrix():
    rng = np.random.default_rng(0)
    for metric in (as_metric(rng.normal(size=(4, 4))), as_metric(rng.random(4) + 0.1)):
        back = metric.restore(metric.project(X), rng.normal(size=4))
        np.testing.assert_allclose(back, X, rtol=1e-9, atol=1e-9)
    assert metric.restore(metric.project(X).astype(np.float32), X[0]).dtype == np.float32


@pytest.mark.parametrize(
    "source", [np.arange(8.0).reshape(2, 4) % 5, [1.0, 0.0, 2.0, 0.0]], ids=["matrix", "relevances"]
)
def test_points_are_taken_back_to_the_samples_nearest_to_the_center(source):
    metric, center = as_metric(source), X.mean(axis=0)
    back = metric.restore(metric.project(X), center)
    np.testing.assert_allclose(metric.project(back), metric.project(X), atol=1e-9)
    seen = np.linalg.pinv(metric.omegas[0]) @ metric.omegas[0]  # what of a sample the metric sees
    np.testing.assert_allclose(back, center + (X - center) @ seen.T, atol=1e-9)


def test_points_are_taken_back_through_the_steps():
    model = make_pipeline(StandardScaler(), GMLVQ(random_state=0)).fit(X, Y)
    metric = as_metric(model)
    np.testing.assert_allclose(metric.restore(metric.project(X), np.zeros(4)), X, atol=1e-6)
    with pytest.raises(ValueError, match="needs a single matrix; this metric has 6"):
        MODELS["LGMLVQ"].metric_.restore(X, X[0])


# Where it comes from


def test_pipelines_and_frozen_models():
    scaler = StandardScaler().fit(X)
    model = LGMLVQ(random_state=0).fit(scaler.transform(X), Y)
    expected = model.metric_.distances(scaler.transform(X))
    whole = make_pipeline(StandardScaler(), LGMLVQ(random_state=0)).fit(X, Y)
    nested = make_pipeline(scaler, FrozenEstimator(make_pipeline(PCA().fit(scaler.transform(X)), MODELS["GLVQ"])))
    for source in (whole, FrozenEstimator(whole), make_pipeline(scaler, FrozenEstimator(model))):
        metric = as_metric(source)
        np.testing.assert_allclose(metric.distances(X), expected, rtol=1e-9)
        np.testing.assert_allclose(metric.inner.distances(metric.samples(X)), expected, rtol=1e-9)
    np.testing.assert_allclose(as_metric(nested).distances(X), pairwise(scaler.transform(X), metric="euclidean"))
    assert as_metric(make_pipeline(model)).steps is None
    assert as_metric(metric) is metric


@each_model
def test_pickles_clones_and_words(name):
    metric = MODELS[name].metric_
    copy = pickle.loads(pickle.dumps(metric))
    np.testing.assert_array_equal(copy.distances(X), metric.distances(X))
    assert clone(metric) is metric
    assert repr(metric).startswith(f"LearnedMetric({name.split()[0]}, ")
    assert clone(TSNE(metric=metric)).metric is metric
    assert "LearnedMetric" in repr(TSNE(metric=metric))
    with pytest.raises(AttributeError):
        metric.matrices = None


def test_what_has_no_metric():
    for source in (KMeans(3).fit(X), PCA(), make_pipeline(PCA()), "gmlvq", None, 3.0, object()):
        with pytest.raises(TypeError, match="has no metric for distances; pass an LVQ classifier"):
            as_metric(source)
    for source in (LGMLVQ(), LMNN(), make_pipeline(PCA(), GMLVQ()), FrozenEstimator(LFDA())):
        with pytest.raises(NotFittedError, match=r"is not fitted.*wrap it in FrozenEstimator"):
            as_metric(source)
    with pytest.raises(ValueError, match=r"TSNE needs a metric .* MinkowskiMetric is of another kind"):
        as_metric(GLVQ(metric=MinkowskiMetric(3.0)).fit(X, Y), "TSNE")
    assert not hasattr(GLVQ(metric=MinkowskiMetric(3.0)).fit(X, Y), "metric_")
    patches = np.random.default_rng(0).random((12, 3, 3, 1))
    with pytest.raises(ValueError, match=r"distances needs a metric .* Spectral is of another kind"):
        as_metric(CIALVQ(1, filters=None, max_iter=2).fit(patches, np.arange(12) % 2))
    assert not any(map(is_learned, ("euclidean", None, 3.0, np.dot)))


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ((np.ones(4),), r"matrices has shape \(4,\); expected \(s, M, N\)"),
        ((np.full((1, 4), np.nan),), "matrices must be an array of numbers: Input matrices contains NaN"),
        ((np.ones((2, 3, 4)),), "2 matrices need prototypes that select among them"),
        ((np.ones((2, 4)), np.ones((3, 4)), [0, 1, 2]), "with slots below 2"),
        ((np.ones((2, 4)), np.ones((3, 5)), [0, 1, 1]), r"shapes \(3, 5\), \(3,\) and \(3,\); expected \(3, 4\)"),
        ((np.ones((2, 4)), np.ones((3, 4)), [0, 1]), r"expected \(3, 4\), \(3,\)"),
    ],
)
def test_impossible_metrics(args, message):
    with pytest.raises(ValueError, match=message):
        LearnedMetric(*args)


def test_bad_arrays_and_samples():
    with pytest.raises(ValueError, match=r"metric has shape \(1, 2, 2\); expected a matrix"):
        as_metric(np.ones((1, 2, 2)))
    with pytest.raises(ValueError, match=r"negative relevances \(smallest -1\)"):
        as_metric([1.0, -1.0])
    metric = MODELS["LMNN"].metric_
    with pytest.raises(ValueError, match="X has 3 features, but LMNN is expecting 4"):
        metric.project(X[:, :3])
    with pytest.raises(ValueError, match=r"2 samples have missing values \(the first is row 1\)"):
        metric.project(np.where(np.isin(np.arange(150), [1, 5])[:, None], np.nan, X))
    with pytest.raises(ValueError, match="has one matrix and no prototypes"):
        metric.nearest(X)
    with pytest.raises(ValueError, match="symmetrize='sum' must be one of"):
        metric.distances(X, symmetrize="sum")
    frame = pd.DataFrame(X, columns=list("abcd"))
    named = LFDA().fit(frame, Y).metric_
    np.testing.assert_allclose(named.project(frame), named.project(X))
    with pytest.raises(ValueError, match=r"X has the features \['d'.*but LFDA knows \['a'"):
        named.project(frame[list("dcba")])


# Who takes it

VIEWS = [
    TSNE(perplexity=8, max_iter=30, random_state=0),
    SNE(perplexity=8, max_iter=30, random_state=0),
    XOM(max_iter=3, random_state=0),
    SONE(max_iter=3, random_state=0),
    MVU(n_neighbors=12, method="low_rank", max_iter=3, random_state=0),
    MappedEmbedding(mapping="free", cost="mds", max_iter=10, random_state=0),
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("view", VIEWS, ids=lambda view: type(view).__name__)
def test_views_by_learned_metrics_are_those_of_projections_or_distances(view):
    for name in ("GMLVQ", "GRLVQ", "LFDA"):
        metric = MODELS[name].metric_
        expected = clone(view).fit_transform(metric.project(X[::3]))
        for source in (MODELS[name], metric, FrozenEstimator(MODELS[name])):
            given = clone(view).set_params(metric=source)
            np.testing.assert_array_equal(given.fit_transform(X[::3]), expected)
            assert given.n_features_in_ == 4
    local = MODELS["LGMLVQ"]
    expected = clone(view).set_params(metric="precomputed").fit_transform(local.metric_.distances(X[::3]))
    for source in (local, local.metric_):
        np.testing.assert_array_equal(clone(view).set_params(metric=source).fit_transform(X[::3]), expected)


def test_views_of_pipelines_and_matrices():
    pipeline = make_pipeline(StandardScaler(), GMLVQ(n_components=2, random_state=0)).fit(X, Y)
    view = TSNE(perplexity=8, max_iter=20, random_state=0)
    expected = view.fit_transform(pipeline.transform(X))
    scaled = pipeline[0].transform(X)
    np.testing.assert_array_equal(TSNE(**view.get_params() | {"metric": pipeline}).fit_transform(X), expected)
    by_matrix = TSNE(**view.get_params() | {"metric": pipeline[-1].omega_}).fit_transform(scaled)
    np.testing.assert_array_equal(by_matrix, expected)


def test_views_that_cannot_take_it():
    with pytest.raises(TypeError, match="KMeans has no metric for TSNE"):
        TSNE(metric=KMeans(3).fit(X)).fit(X)
    with pytest.raises(NotFittedError, match=r"GMLVQ instance is not fitted.*A clone of a fitted estimator"):
        clone(TSNE(metric=MODELS["GMLVQ"])).fit(X)
    with pytest.raises(ValueError, match="gives dissimilarities, which LinearMapping cannot map"):
        MappedEmbedding(metric=MODELS["LGMLVQ"].metric_, mapping="linear").fit(X)
    with pytest.raises(ValueError, match="X has 3 features, but LFDA is expecting 4"):
        XOM(metric=MODELS["LFDA"]).fit(X[:, :3])
    with pytest.raises(ValueError, match="All samples are the same"):
        TSNE(metric=MODELS["LFDA"]).fit(np.ones((10, 4)))


@both
def test_new_samples_find_their_places_by_the_metric(name):
    metric, train, new = MODELS[name].metric_, X[::2], X[1::2]
    view = OutOfSample(TSNE(perplexity=8, max_iter=30, random_state=0, metric=MODELS[name])).fit(train)
    assert view.embedding_estimator_.metric is not MODELS[name]
    plain = OutOfSample(TSNE(perplexity=8, max_iter=30, random_state=0))
    if metric.is_global:
        expected = plain.fit(metric.project(train)).transform(metric.project(new))
    else:
        plain.embedding.metric = "precomputed"
        expected = plain.fit(metric.distances(train)).transform(metric.distances(new, train))
    np.testing.assert_allclose(view.transform(new), expected, atol=1e-6 * np.abs(expected).max())
    np.testing.assert_array_equal(view.transform(train), view.embedding_)
    assert pickle.loads(pickle.dumps(view)).transform(new).shape == (75, 2)


@both
def test_free_positions_of_new_samples(name):
    metric, train, new = MODELS[name].metric_, X[::2], X[1::2]
    free = MappedEmbedding(mapping="free", cost="mds", max_iter=10, random_state=0)
    view = clone(free).set_params(metric=metric, squared=True).fit(train)
    if metric.is_global:
        expected = free.fit(metric.project(train)).transform(metric.project(new))
    else:
        expected = (
            free.set_params(metric="precomputed").fit(metric.distances(train)).transform(metric.distances(new, train))
        )
    np.testing.assert_allclose(view.transform(new), expected, atol=1e-6 * np.abs(expected).max())
    np.testing.assert_array_equal(view.transform(train), view.embedding_)


def test_mappings_of_projections_and_the_way_back():
    metric = MODELS["GMLVQ"].metric_
    view = MappedEmbedding(mapping="linear", cost="mds", max_iter=10, random_state=0)
    learned, plain = clone(view).set_params(metric=metric).fit(X), view.fit(metric.project(X))
    np.testing.assert_array_equal(learned.embedding_, plain.embedding_)
    np.testing.assert_array_equal(learned.transform(FEW), plain.transform(metric.project(FEW)))
    back = learned.inverse_transform(learned.transform(FEW))
    assert back.shape == FEW.shape
    np.testing.assert_allclose(metric.project(back), metric.project(FEW), atol=1e-8)


@each_model
def test_dissimilarities_by_learned_metrics(name):
    metric = MODELS[name].metric_
    for source in (MODELS[name], metric):
        np.testing.assert_allclose(pairwise(X, metric=source), metric.distances(X), rtol=1e-8, atol=1e-12)
        np.testing.assert_allclose(pairwise(FEW, X, metric=source), metric.distances(FEW, X), rtol=1e-8, atol=1e-12)
        block = Dissimilarities(X, source).block([0, 60, 120], [3, 70])
        np.testing.assert_allclose(block, metric.distances(X)[np.ix_([0, 60, 120], [3, 70])], rtol=1e-8)
    with pytest.raises(ValueError, match="A learned metric has no parameters, but indel was given"):
        pairwise(X, metric=metric, indel=2.0)


@pytest.mark.parametrize("tile", [7, 1024])
def test_dissimilarities_in_blocks_of_any_size(tile, monkeypatch):
    monkeypatch.setattr("protolearn.dissimilarities._pairwise.LearnedDistance.tile", tile)
    monkeypatch.setattr("protolearn.dissimilarities._pairwise.LearnedDistance.grain", tile)
    for name in ("GMLVQ", "LGMLVQ"):
        D = pairwise(X, metric=MODELS[name])
        np.testing.assert_allclose(D, MODELS[name].metric_.distances(X), rtol=1e-8, atol=1e-12)
        np.testing.assert_array_equal(D, D.T)
        assert not D.diagonal().any()


@each_model
def test_retrievers_and_supervised_views_take_it_in_place_of_an_estimator(name):
    metric = MODELS[name].metric_
    scaled = ImageRetriever(metric, scale=False).fit(X, Y)
    by_rows = metric.distances(X, symmetrize=None)
    np.fill_diagonal(by_rows, np.inf)
    np.testing.assert_allclose(
        scaled.kneighbors(n_neighbors=3)[0], np.sort(by_rows, axis=1)[:, :3], rtol=1e-6, atol=1e-9
    )
    assert scaled.metric_ is metric
    embedding = TSNE(perplexity=8, max_iter=20, random_state=0)
    views = [
        DiscriminativeEmbedding(given, embedding).fit_transform(X) for given in (metric, FrozenEstimator(MODELS[name]))
    ]
    np.testing.assert_array_equal(*views)


def test_retrievers_with_steps_before_the_metric():
    for model in (LFDA(2), LGMLVQ(random_state=0)):
        pipeline = make_pipeline(PCA(3), model)
        retriever = ImageRetriever(pipeline, scale=False).fit(X, Y)
        by_rows = as_metric(retriever.metric_).distances(X, symmetrize=None)
        np.fill_diagonal(by_rows, np.inf)
        np.testing.assert_array_equal(retriever.kneighbors(n_neighbors=1)[1][:, 0], by_rows.argmin(axis=1))
        with pytest.raises(ValueError, match="Pipeline has no matrix"):
            retriever.recommendation()


# The contract


def test_classifiers_made_of_maps_have_distances_and_nearest():
    for per_class in (False, True):
        model = PrototypeClassifier(KMeans(3, random_state=0), per_class=per_class).fit(X, Y)
        assert model.distances(X).shape == (150, len(model.prototype_labels_))
        np.testing.assert_array_equal(model.nearest(X), model.distances(X).argmin(axis=1))
        np.testing.assert_array_equal(model.prototype_labels_[model.nearest(X)], model.predict(X))


def test_images_like_those_of_the_index():
    retriever = ImageRetriever(LFDA(2)).fit(X, Y)
    hits = retriever.similar([3, 70], 5)
    distances, indices = retriever.kneighbors(n_neighbors=5)
    np.testing.assert_array_equal(hits.indices, indices[[3, 70]])
    np.testing.assert_allclose(hits.distances, distances[[3, 70]])
    assert hits.labels.shape == (2, 5)
