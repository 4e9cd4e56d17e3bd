"""New samples go where they cost least, near to their neighbors, and training samples stay where they are."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist
from sklearn import manifold
from sklearn.base import clone
from sklearn.cluster import KMeans as OtherKMeans
from sklearn.datasets import make_s_curve
from sklearn.decomposition import PCA, KernelPCA
from sklearn.exceptions import NotFittedError
from sklearn.manifold import MDS, Isomap, LocallyLinearEmbedding, SpectralEmbedding
from sklearn.manifold import TSNE as OtherTSNE

from protolearn import MVU, SNE, TSNE, XOM, MappedEmbedding, OutOfSample
from protolearn.core.threads import Threads
from protolearn.embedding import _placing
from protolearn.embedding.costs import (
    COSTS,
    isomap,
    laplacian,
    lle,
    mds,
    nerv,
    sammon,
    sne,
    strain,
    tnerv,
    tsne,
)
from protolearn.embedding.divergences import Gamma

START = {"init": "classical_mds"} if "init" in MDS().get_params() else {}  # in scikit-learn since 1.8
EMBEDDINGS = {
    "tsne": TSNE(perplexity=15, max_iter=100, random_state=0),
    "gamma": TSNE(perplexity=15, max_iter=100, divergence=Gamma(0.5), dof=2.0, random_state=0),
    "sne": SNE(perplexity=15, max_iter=100, random_state=0),
    "symmetric": SNE(perplexity=15, max_iter=100, symmetric=True, random_state=0),
    "free": MappedEmbedding(cost="sammon", mapping="free", max_iter=50, random_state=0),
    "linear": MappedEmbedding(cost="mds", mapping="linear", max_iter=50, random_state=0),
    "other tsne": OtherTSNE(perplexity=15, max_iter=500, random_state=0),
    "mds": MDS(n_init=1, random_state=0, **START),
    "isomap": Isomap(n_neighbors=8),
    "lle": LocallyLinearEmbedding(n_neighbors=10, random_state=0),
    "spectral": SpectralEmbedding(n_neighbors=10, random_state=0),
}
if hasattr(manifold, "ClassicalMDS"):  # in scikit-learn since 1.8
    EMBEDDINGS["classical"] = manifold.ClassicalMDS()
PRECOMPUTED = {"metric" if isinstance(MDS().metric, str) else "dissimilarity": "precomputed"}
PAIRWISE = {
    "tsne": TSNE(perplexity=15, max_iter=100, metric="precomputed", random_state=0),
    "other tsne": OtherTSNE(perplexity=15, max_iter=500, metric="precomputed", init="random", random_state=0),
    "mds": MDS(n_init=1, random_state=0, **START, **PRECOMPUTED),
    "isomap": Isomap(n_neighbors=8, metric="precomputed"),
    "free": MappedEmbedding(cost="mds", mapping="free", metric="precomputed", max_iter=50, random_state=0),
}
SMALL = {"tsne": tsne(15.0), "sne": sne(15.0), "nerv": nerv(15.0), "tnerv": tnerv(15.0)}


def rng(seed=0):
    return np.random.RandomState(seed)


@pytest.fixture(scope="module")
def halves():
    """Return training samples of a bent sheet, and new ones."""
    X = make_s_curve(180, random_state=0)[0]
    return X[:120], X[120:]


@pytest.fixture(scope="module")
def fitted(halves):
    """Return all embeddings, fitted."""
    return {name: OutOfSample(embedding).fit(halves[0]) for name, embedding in EMBEDDINGS.items()}


def spread(Y):
    return np.sqrt(Y.var(axis=0).sum())


def costs_at(view, X, places):
    """Return what each of some places of new samples costs."""
    placing = view._placing
    new = placing._read(X)
    objective, start = placing.cost.placement(placing.samples, placing.positions, new, Threads(), rng())
    return [objective.parts[0](Y)[0] for Y in (places / placing.unit, start)]


# Places


@pytest.mark.parametrize("name", EMBEDDINGS)
def test_training_samples_stay_where_they_are(fitted, halves, name):
    view = fitted[name]
    np.testing.assert_array_equal(view.transform(halves[0]), view.embedding_)
    np.testing.assert_array_equal(view.transform(halves[0][::-7]), view.embedding_[::-7])
    assert view.transform(halves[0]).dtype == view.embedding_.dtype


@pytest.mark.parametrize("name", EMBEDDINGS)
def test_view_is_that_of_the_embedding(fitted, halves, name):
    np.testing.assert_array_equal(fitted[name].embedding_, clone(EMBEDDINGS[name]).fit_transform(halves[0]))
    assert not hasattr(EMBEDDINGS[name], "embedding_")


@pytest.mark.parametrize("name", EMBEDDINGS)
def test_new_samples_land_near_their_neighbors(fitted, halves, name):
    (X, new), view = halves, fitted[name]
    nearest = cdist(new, X).argmin(axis=1)
    gaps = np.linalg.norm(view.transform(new) - view.embedding_[nearest], axis=1)
    assert np.median(gaps) < 0.15 * spread(view.embedding_)
    assert gaps.max() < 1.0 * spread(view.embedding_)


@pytest.mark.parametrize("name", EMBEDDINGS)
def test_samples_next_to_a_training_sample_land_next_to_it(fitted, halves, name):
    X, view = halves[0], fitted[name]
    gaps = np.linalg.norm(view.transform(X + 1e-6) - view.embedding_, axis=1)
    assert np.median(gaps) < 0.15 * spread(view.embedding_)  # it is one more sample there, not the same


@pytest.mark.parametrize("name", EMBEDDINGS)
def test_places_cost_no_more_than_the_start(fitted, halves, name):
    found = fitted[name].transform(halves[1])
    reached, started = costs_at(fitted[name], halves[1], found.astype(np.float64))
    assert (reached <= started + 1e-6 * np.abs(started)).all()


@pytest.mark.parametrize("cost", COSTS)
def test_places_are_least_of_their_cost(halves, cost):
    (X, new), cost = halves, SMALL.get(cost, cost)
    view = OutOfSample(PCA(2), cost=cost).fit(X)
    places = view.transform(new)
    reached, started = costs_at(view, new, places)
    assert (reached <= started + 1e-9 * np.abs(started)).all()
    for seed in range(5):
        nearby = places + 1e-2 * spread(view.embedding_) * rng(seed).normal(size=places.shape)
        assert (costs_at(view, new, nearby)[0] >= reached - 1e-6 * np.abs(reached)).mean() > 0.95


@pytest.mark.parametrize("name", ["tsne", "mds", "isomap", "lle"])
def test_new_samples_do_not_see_each_other(fitted, halves, name, monkeypatch):
    new, view = halves[1][:12], fitted[name]
    together = view.transform(new)
    size = spread(view.embedding_)
    np.testing.assert_allclose(np.vstack([view.transform(x[None]) for x in new]), together, atol=2e-3 * size)
    np.testing.assert_allclose(view.transform(np.vstack([new, 100.0 * new[:3]]))[:12], together, atol=2e-3 * size)
    monkeypatch.setattr(_placing, "ROWS", 5)
    np.testing.assert_allclose(view.transform(new), together, atol=2e-3 * size)


def test_linear_views_are_continued_linearly(halves):
    X, new = halves
    pca = PCA(3).fit(X)
    for cost in (strain(), mds(), sammon()):
        view = OutOfSample(PCA(3), cost=cost).fit(X)
        np.testing.assert_allclose(view.transform(new), pca.transform(new), atol=1e-3)


@pytest.mark.parametrize("scale", [1e-150, 1e150])
def test_scales(halves, scale):
    X, new = halves
    embedding = MappedEmbedding(cost="sammon", mapping="free", max_iter=20, random_state=0)
    view = OutOfSample(embedding).fit(scale * X)
    assert spread(view.embedding_ / scale) == pytest.approx(spread(X), rel=0.1)
    nearest = cdist(new, X).argmin(axis=1)
    gaps = np.linalg.norm((view.transform(scale * new) - view.embedding_[nearest]) / scale, axis=1)
    assert np.median(gaps) < 0.15 * spread(X)


def test_duplicates(halves):
    X = np.repeat(halves[0][:60], 2, axis=0)
    for name in ("free", "mds", "isomap", "lle"):
        view = OutOfSample(EMBEDDINGS[name]).fit(X)
        assert np.isfinite(view.transform(halves[1])).all()
        gaps = np.abs(view.transform(X)[:, None] - view.embedding_.reshape(60, 2, 2).repeat(2, axis=0)).max(axis=2)
        np.testing.assert_array_equal(gaps.min(axis=1), 0.0)  # the place of one of both


# Dissimilarities


@pytest.mark.parametrize("name", PAIRWISE)
def test_dissimilarities(halves, name):
    X, new = halves
    D, given = cdist(X, X), cdist(new, X)
    D[np.diag_indices(120)] = 0.0
    view = OutOfSample(PAIRWISE[name]).fit(D)
    assert view.__sklearn_tags__().input_tags.pairwise
    np.testing.assert_array_equal(view.transform(D), view.embedding_)
    gaps = np.linalg.norm(view.transform(given) - view.embedding_[given.argmin(axis=1)], axis=1)
    assert np.median(gaps) < 0.15 * spread(view.embedding_)
    for call, numbers in ((OutOfSample(PAIRWISE[name]).fit, -D), (view.transform, -given)):
        with pytest.raises(ValueError, match=r"(?i)negative"):
            call(numbers)


def test_squared_dissimilarities(halves):
    X, new = halves
    D, given = cdist(X, X), cdist(new, X)
    options = {"perplexity": 15, "max_iter": 2, "metric": "precomputed", "random_state": 0}
    plain = OutOfSample(TSNE(**options)).fit(D)
    squared = OutOfSample(TSNE(squared=True, **options)).fit(D**2)
    np.testing.assert_allclose(squared.embedding_, plain.embedding_, atol=1e-6 * spread(plain.embedding_))
    np.testing.assert_allclose(
        squared.transform(given**2), plain.transform(given), atol=1e-3 * spread(plain.embedding_)
    )


# Costs


def test_costs_are_those_of_the_embeddings(fitted, halves):
    expected = {
        "tsne": tsne(15.0),
        "gamma": tsne(15.0, Gamma(0.5), 2.0),
        "sne": sne(15.0),
        "symmetric": sne(15.0, symmetric=True),
        "free": sammon(),
        "linear": mds(),
        "other tsne": tsne(15.0),
        "mds": mds(),
        "classical": strain(),
        "isomap": isomap(8, components="connect"),
        "lle": lle(10),
        "spectral": laplacian(10),
    }
    assert {name: view.cost_ for name, view in fitted.items()} == {name: expected[name] for name in EMBEDDINGS}
    other = OutOfSample(OtherTSNE(3, perplexity=15, max_iter=250, random_state=0)).fit(halves[0])
    assert other.cost_ == tsne(15.0, dof=2.0)


def test_neighbors_are_as_many_as_the_embedding_takes_by_default(halves):
    default = OutOfSample(SpectralEmbedding(random_state=0)).fit(halves[0])
    assert default.cost_.data.n_neighbors == default.embedding_estimator_.n_neighbors_ == 12


def test_given_cost_is_taken(halves):
    X, new = halves
    view = OutOfSample(XOM(max_iter=5, random_state=0), cost="lle").fit(X)
    assert view.cost_ == COSTS["lle"]
    assert view.transform(new).shape == (60, 2)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_balls_around_new_samples(halves):
    """Of a view by balls, they are those of its cost, too; samples without a position are no neighbors."""
    X, new = halves
    reach = np.sort(cdist(X, X), axis=1)[:, 6].max()
    theirs = OutOfSample(Isomap(n_neighbors=None, radius=reach)).fit(X)
    assert theirs.cost_ == isomap(radius=reach, components="connect")
    assert np.isfinite(theirs.transform(new)).all()
    far = np.vstack([X, X[:3] + 1000.0])
    ours = OutOfSample(MVU(radius=reach, components="largest", max_iter=5, random_state=0))
    with pytest.warns(UserWarning, match="the other 3 are left out"):
        ours.fit(far)
    assert np.isnan(ours.embedding_[-3:]).all()
    with pytest.warns(UserWarning, match=r"3 of 63 new samples have no neighbors .* \(NaN\)"):
        placed = ours.transform(np.vstack([new, X[:3] + 1000.0]))
    assert np.isnan(placed[-3:]).all()
    whole = OutOfSample(MVU(radius=reach, max_iter=5, random_state=0)).fit(X)
    np.testing.assert_allclose(placed[:-3], whole.transform(new), atol=1e-3)  # of a search


RANKS = {"metric_mds": False, "init": "random"} if START else {"metric": False}
UNKNOWN = {
    "of another kind": XOM(max_iter=5),
    "whitened": PCA(2, whiten=True),
    "kernel": KernelPCA(2, kernel="rbf"),
    "other metric": TSNE(metric="cosine", max_iter=5),
    "other metric of others": OtherTSNE(metric="manhattan", max_iter=250),
    "graph of other metric": Isomap(metric="manhattan"),
    "other power": Isomap(p=1),
    "ranks": MDS(n_init=1, max_iter=5, **RANKS),
    "tangent spaces": LocallyLinearEmbedding(method="ltsa", n_neighbors=10),
    "affinities": SpectralEmbedding(affinity="rbf", n_neighbors=10),
}
OF_SIMILARITIES = {
    "given kernel": KernelPCA(2, kernel="precomputed"),
    "given affinities": SpectralEmbedding(affinity="precomputed", n_neighbors=10),
}


@pytest.mark.parametrize("name", UNKNOWN | OF_SIMILARITIES)
def test_unknown_costs_are_refused(halves, name):
    X = halves[0] if name in UNKNOWN else np.exp(-cdist(halves[0], halves[0]))
    with pytest.raises(ValueError, match=r"is unknown|cannot be placed"):
        OutOfSample((UNKNOWN | OF_SIMILARITIES)[name]).fit(X)


def test_callable_metrics_are_refused(halves):
    def taxi(one, other):
        return np.abs(one - other).sum()

    with pytest.raises(ValueError, match="cannot be placed"):
        OutOfSample(TSNE(metric=taxi, max_iter=5)).fit(halves[0])


# Input


@pytest.mark.parametrize("embedding", ["tsne", TSNE, OtherKMeans, None, 3])
def test_what_is_no_embedding_is_refused(halves, embedding):
    with pytest.raises(TypeError, match="is not an estimator with fit_transform"):
        OutOfSample(embedding).fit(halves[0])


def test_bad_samples_are_refused(halves, fitted):
    X = halves[0].copy()
    X[3, 1] = np.nan
    for call in (OutOfSample(EMBEDDINGS["mds"]).fit, fitted["mds"].transform):
        with pytest.raises(ValueError, match="NaN"):
            call(X)
    with pytest.raises(ValueError, match="All samples are the same"):
        OutOfSample(EMBEDDINGS["mds"]).fit(np.ones((20, 2)))
    with pytest.raises(ValueError, match="All dissimilarities are zero"):
        OutOfSample(PAIRWISE["mds"]).fit(np.zeros((20, 20)))
    with pytest.raises(ValueError, match="2 features"):
        fitted["mds"].transform(halves[1][:, :2])
    with pytest.raises(NotFittedError):
        OutOfSample(EMBEDDINGS["mds"]).transform(halves[1])
    with pytest.raises(ValueError, match="cost='other' must be one of"):
        OutOfSample(EMBEDDINGS["mds"], cost="other").fit(halves[0])


def test_failed_fit_leaves_the_old_one(halves):
    view = OutOfSample(EMBEDDINGS["lle"]).fit(halves[0])
    with pytest.raises(ValueError, match="All samples are the same"):
        view.fit(np.ones((20, 2)))
    np.testing.assert_array_equal(view.transform(halves[0]), view.embedding_)


# scikit-learn


@pytest.mark.parametrize("name", ["tsne", "isomap", "free"])
def test_pickled_copies_place_alike(fitted, halves, name):
    copy = pickle.loads(pickle.dumps(fitted[name]))
    np.testing.assert_array_equal(copy.transform(halves[1]), fitted[name].transform(halves[1]))


def test_names_and_frames(halves):
    frames = [pd.DataFrame(X, columns=["a", "b", "c"]) for X in halves]
    view = OutOfSample(EMBEDDINGS["lle"]).set_output(transform="pandas").fit(frames[0])
    assert list(view.transform(frames[1]).columns) == ["outofsample0", "outofsample1"]
    np.testing.assert_array_equal(view.transform(frames[0]), view.embedding_)


def test_parameters_of_the_embedding_can_be_set(halves):
    view = OutOfSample(Isomap(n_neighbors=5)).set_params(embedding__n_neighbors=9).fit(halves[0])
    assert view.cost_.data.n_neighbors == 9
