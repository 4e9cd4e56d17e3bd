"""Views by a mapping reach the known minima of their costs, place new samples, and keep what they reached."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.linalg import orthogonal_procrustes
from scipy.spatial.distance import cdist, pdist, squareform
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from experiments.datasets import make_three_gaussians
from protolearn import LGMLVQ, KMeans, MappedEmbedding
from protolearn.embedding import _mapped
from protolearn.embedding.costs import COSTS, isomap, laplacian, lle, mvu, nerv, sne, tnerv, tsne
from protolearn.embedding.mappings import (
    FreeMapping,
    LinearMapping,
    LocalLinearMapping,
    NetworkMapping,
)
from protolearn.metrics import nearest_neighbor_error

SMALL = {
    "tsne": tsne(10.0),
    "sne": sne(10.0),
    "nerv": nerv(10.0),
    "tnerv": tnerv(10.0),
    "isomap": isomap(8),
    "lle": lle(8),
    "laplacian": laplacian(8),
    "mvu": mvu(8),
}
MAPPINGS = {
    "linear": "linear",
    "local": LocalLinearMapping(n_charts=5),
    "soft": LocalLinearMapping(KMeans(3, random_state=0), gating="density"),
    "network": NetworkMapping((12, 12)),
    "neighbors": "neighbors",
    "free": "free",
}


def rng(seed=0):
    return np.random.RandomState(seed)


def samples(n=60, seed=0):
    return rng(seed).normal(size=(n, 4)) * [3.0, 2.0, 1.0, 0.5] + 5.0


def view(**parameters):
    return MappedEmbedding(**{"random_state": 0, "max_iter": 30, "cost": tsne(10.0)} | parameters)


def moved_onto(Y, target):
    """Return centered positions after the best rotation and reflection onto others."""
    return Y @ orthogonal_procrustes(Y, target)[0]


# Known minima


@pytest.mark.parametrize(
    "mapping", ["linear", "free", LocalLinearMapping(n_charts=4, n_coordinates=4, regularization=0.0)]
)
@pytest.mark.parametrize("init", ["pca", "random"])
def test_strain_is_least_for_principal_components(mapping, init):
    X = samples()
    found = view(cost="strain", mapping=mapping, init=init, tol=0.0, max_iter=1000).fit(X)
    scores = PCA(2).fit_transform(X)
    size = np.abs(scores).max()
    centered = found.embedding_ - found.embedding_.mean(axis=0)
    np.testing.assert_allclose(moved_onto(centered, scores), scores, atol=1e-8 * size)


@pytest.mark.parametrize("mapping", ["linear", "free"])
@pytest.mark.parametrize("init", ["pca", "random"])
def test_distances_are_kept_in_enough_dimensions(mapping, init):
    X = samples()
    found = view(n_components=4, cost="mds", mapping=mapping, init=init, tol=0.0, max_iter=2000).fit(X)
    assert found.cost_ < 1e-20
    np.testing.assert_allclose(pdist(found.embedding_), pdist(X), rtol=1e-8)
    scores = PCA(4).fit_transform(X)
    np.testing.assert_allclose(moved_onto(found.embedding_ - found.embedding_.mean(axis=0), scores), scores, atol=1e-7)


def test_linear_map_with_enough_dimensions_loses_nothing():
    X = samples()
    found = view(n_components=4, cost="mds", mapping="linear").fit(X)
    np.testing.assert_allclose(found.inverse_transform(found.embedding_), X, atol=1e-8)


def test_linear_t_sne_separates_what_principal_components_overlay():
    X, y = make_three_gaussians(random_state=0)
    assert nearest_neighbor_error(PCA(2).fit_transform(X), y) > 0.6
    found = view(cost="tsne", mapping="linear", n_init=3, max_iter=200).fit(X)
    assert nearest_neighbor_error(found.embedding_, y) < 0.1
    # The direction in which classes differ is one that can be read from the map.
    between = np.abs(found.mapping_.weights).max(axis=1)
    assert between.argmax() == 1


# What is minimized


@pytest.mark.parametrize("cost", COSTS)
@pytest.mark.parametrize("mapping", MAPPINGS)
def test_cost_falls(cost, mapping):
    found = view(cost=SMALL.get(cost, cost), mapping=MAPPINGS[mapping]).fit(samples())
    history = found.cost_history_
    descends = mapping == "neighbors" and cost in ("tsne", "tnerv")  # and L-BFGS has one iteration after it
    assert (len(history), found.n_iter_) == ((2, found.max_iter) if descends else (found.n_iter_ + 1, found.n_iter_))
    assert (np.diff(history) <= 1e-12).all()
    assert history[-1] == found.cost_ < history[0]
    assert np.isfinite(found.embedding_).all()


@pytest.mark.parametrize("mapping", ["linear", "network", "free"])
def test_reached_cost_is_that_of_the_view(mapping):
    X = samples()
    found = view(cost="mds", mapping=MAPPINGS[mapping]).fit(X)
    distances = pdist(X)
    stress = np.square(distances - pdist(found.embedding_)).sum() / np.square(distances).sum()
    assert found.cost_ == pytest.approx(stress, rel=1e-8)


@pytest.mark.parametrize("mapping", MAPPINGS)
def test_scale_of_the_data(mapping):
    X = samples()
    for cost, unit in ((tsne(10.0), 0), ("sammon", 1)):
        if mapping == "soft":
            continue
        one = view(cost=cost, mapping=MAPPINGS[mapping], max_iter=3).fit(X)
        for power in (-60, 40):  # multiplication by powers of two is exact
            other = view(cost=cost, mapping=MAPPINGS[mapping], max_iter=3).fit(X * 2.0**power)
            np.testing.assert_allclose(other.embedding_ / 2.0 ** (unit * power), one.embedding_, rtol=1e-4, atol=1e-6)


# New samples


@pytest.mark.parametrize("mapping", MAPPINGS)
@pytest.mark.parametrize("cost", ["tsne", "mds"])
def test_training_samples_have_their_places(mapping, cost):
    X = samples()
    found = view(cost=SMALL.get(cost, cost), mapping=MAPPINGS[mapping]).fit(X)
    np.testing.assert_allclose(found.transform(X), found.embedding_, atol=1e-10 * np.abs(found.embedding_).max())
    np.testing.assert_array_equal(clone(found).fit_transform(X), found.embedding_)


@pytest.mark.parametrize("mapping", ["linear", "local", "soft", "network"])
@pytest.mark.parametrize("n_train", [30, 0.5])
def test_mapping_is_trained_on_some_and_places_all(mapping, n_train):
    X = samples()
    found = view(mapping=MAPPINGS[mapping], n_train=n_train).fit(X)
    rows = found.train_indices_
    assert len(rows) == len(set(rows)) == 30
    assert found.embedding_.shape == (60, 2)
    changed = X.copy()
    changed[np.setdiff1d(np.arange(60), rows)] += 3.0  # the others have no part in it
    other = view(mapping=MAPPINGS[mapping], n_train=n_train).fit(changed)
    np.testing.assert_allclose(other.embedding_[rows], found.embedding_[rows], atol=1e-6)


def test_trained_on_a_part_of_digits():
    X, y = load_digits(return_X_y=True)
    found = MappedEmbedding(n_train=300, max_iter=150, random_state=0).fit(X)
    others = np.setdiff1d(np.arange(len(X)), found.train_indices_)
    model = KNeighborsClassifier(1).fit(found.embedding_[found.train_indices_], y[found.train_indices_])
    assert model.score(found.embedding_[others], y[others]) > 0.75  # principal components: 0.5


def test_near_samples_have_near_places():
    X = samples()
    for mapping in ("linear", "soft", "network"):
        found = view(mapping=MAPPINGS[mapping]).fit(X)
        moved = found.transform(X + 1e-7 * rng(1).normal(size=X.shape))
        assert np.abs(moved - found.embedding_).max() < 1e-3


def test_classes_make_charts_supervised():
    X, y = load_iris(return_X_y=True)
    found = view(mapping=LGMLVQ(n_components=2, random_state=0)).fit(X, y)
    assert set(found.mapping_.charts.model.classes_) == {0, 1, 2}
    frozen = FrozenEstimator(found.mapping_.charts.model)
    np.testing.assert_allclose(view(mapping=frozen).fit(X).embedding_, found.embedding_, atol=1e-8)


# Starts


def test_best_of_several_starts_is_kept():
    X, costs = samples(), []
    for n_init in (1, 2, 4):
        costs.append(view(n_components=1, init="random", n_init=n_init, mapping="free").fit(X).cost_)
    assert costs[0] >= costs[1] >= costs[2]
    assert costs[0] > costs[2]


def test_given_positions_are_the_start():
    X, Y = samples(), rng(1).normal(size=(60, 2))
    found = view(cost="mds", mapping="free", init=Y, max_iter=1).fit(X)
    stress = np.square(pdist(X) - pdist(Y)).sum() / np.square(pdist(X)).sum()
    assert found.cost_history_[0] == pytest.approx(stress, rel=1e-9)
    again = view(cost="mds", mapping="free", init=found.embedding_, max_iter=1).fit(X)
    assert again.cost_history_[0] == pytest.approx(found.cost_, rel=1e-9)


@pytest.mark.parametrize("mapping", MAPPINGS)
def test_reproducible(mapping):
    X = samples()
    options = {"mapping": MAPPINGS[mapping], "init": "random", "n_init": 2, "max_iter": 5}
    one, other = (view(**options).fit(X).embedding_ for _ in range(2))
    np.testing.assert_array_equal(one, other)
    assert not np.array_equal(view(**options, random_state=1).fit(X).embedding_, one)


# On the way


@pytest.mark.parametrize("mapping", ["linear", "local", "free"])
def test_interrupted_fit_keeps_what_it_reached(mapping, monkeypatch):
    X, whole = samples(), view(mapping=MAPPINGS[mapping], max_iter=4).fit(samples())
    descend = _mapped.minimize

    def interrupted(function, theta, callback, **options):
        calls = []

        def counted(intermediate_result):
            callback(intermediate_result)
            calls.append(1)
            if len(calls) == 4:
                raise KeyboardInterrupt

        return descend(function, theta, callback=counted, **options)

    monkeypatch.setattr(_mapped, "minimize", interrupted)
    found = view(mapping=MAPPINGS[mapping], max_iter=100)
    with pytest.raises(KeyboardInterrupt):
        found.fit(X)
    assert found.n_iter_ == 4
    assert found.cost_ == whole.cost_
    np.testing.assert_array_equal(found.embedding_, whole.embedding_)
    assert found.transform(X).shape == (60, 2)


def test_verbose_prints_the_cost(capsys):
    found = view(mapping="free", max_iter=110, tol=0.0, verbose=1).fit(samples())
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2
    assert f"iteration 50/110  cost {found.cost_history_[50]:.6g}" in lines[0]


# Dissimilarities


@pytest.mark.parametrize("cost", ["tsne", "mds", "isomap", "mvu", "laplacian", "strain", "sammon"])
def test_dissimilarities_are_arranged_as_vectors_are(cost):
    X, new = samples(), samples(5, seed=1)
    D, start = squareform(pdist(X)), PCA(2).fit_transform(X)
    options = {"cost": SMALL.get(cost, cost), "mapping": "free", "init": start, "max_iter": 150, "tol": 1e-12}
    vectors = view(**options).fit(X)
    for squared, power in ((False, 1), (True, 2)):
        pairs = view(metric="precomputed", squared=squared, **options).fit(D**power)
        assert pairs.cost_history_[0] == pytest.approx(vectors.cost_history_[0], rel=1e-9)
        assert pairs.cost_ == pytest.approx(vectors.cost_, rel=1e-2)
        gaps = np.linalg.norm(pairs.transform(cdist(new, X) ** power)[:, None] - pairs.embedding_, axis=2)
        near = cdist(new, X).argsort(axis=1)[:, :10]
        assert np.take_along_axis(gaps, near, axis=1).mean() < 0.5 * gaps.mean()


def test_objects_are_arranged_but_new_ones_not():
    words = ["tree", "trees", "free", "house", "mouse", "houses", "a", "an"]
    found = view(cost="mds", mapping="free", metric="edit").fit(words)
    assert found.embedding_.shape == (8, 2)
    with pytest.raises(ValueError, match="edit"):
        found.transform(["tee"])


@pytest.mark.parametrize(
    ("D", "message"),
    [
        (-squareform(pdist(samples())), "Negative values"),
        (squareform(pdist(samples())) * rng().uniform(size=(60, 60)), "must be symmetric"),
        (np.zeros((60, 60)), "All dissimilarities are zero"),
        (np.ones((60, 3)), "needs the dissimilarities of all pairs"),
    ],
)
def test_bad_dissimilarities_are_refused(D, message):
    with pytest.raises(ValueError, match=message):
        view(mapping="free", metric="precomputed").fit(D)


def test_negative_dissimilarities_of_new_samples_are_refused():
    D = squareform(pdist(samples()))
    found = view(mapping="free", metric="precomputed").fit(D)
    with pytest.raises(ValueError, match="negative"):
        found.transform(-D[:3])


def test_dissimilarities_have_no_map():
    with pytest.raises(ValueError, match="which LinearMapping cannot map"):
        view(mapping="linear", metric="precomputed").fit(squareform(pdist(samples())))


# Difficult samples


@pytest.mark.parametrize("mapping", MAPPINGS)
@pytest.mark.parametrize("cost", COSTS)
def test_duplicates(mapping, cost):
    X = np.repeat(samples(40), 2, axis=0)
    found = view(cost=SMALL.get(cost, cost), mapping=MAPPINGS[mapping], max_iter=5).fit(X)
    assert np.isfinite(found.embedding_).all()
    if mapping != "free":
        np.testing.assert_allclose(found.embedding_[::2], found.embedding_[1::2], atol=1e-8)


@pytest.mark.parametrize("mapping", MAPPINGS)
@pytest.mark.parametrize("kind", [np.int64, np.float16, np.float32])
def test_kinds_of_numbers(mapping, kind):
    X = (50.0 * samples()).astype(kind)
    found = view(mapping=MAPPINGS[mapping], max_iter=3).fit(X)
    wide = view(mapping=MAPPINGS[mapping], max_iter=3).fit(X.astype(np.float64))
    size = np.abs(wide.embedding_).max()
    np.testing.assert_allclose(found.transform(X), found.embedding_, atol=1e-5 * size)
    np.testing.assert_allclose(found.embedding_, wide.embedding_, atol=(1e-2 if kind is np.float32 else 1e-10) * size)


def test_constant_features_have_no_part():
    X = samples()
    wide = np.column_stack([X, np.full(60, 0.1)])
    for mapping in ("linear", "local"):
        found = view(mapping=MAPPINGS[mapping]).fit(wide)
        wide[:, 4] = 0.2
        np.testing.assert_allclose(found.transform(wide), found.embedding_, atol=1e-6 * np.abs(found.embedding_).max())
        wide[:, 4] = 0.1


@pytest.mark.parametrize("cost", ["isomap", "lle", "laplacian", "mvu"])
def test_disconnected_graphs_are_refused(cost):
    X = np.vstack([samples(30), samples(30) + 1000.0])
    with pytest.raises(ValueError, match="falls into 2 components"):
        view(cost=SMALL[cost], mapping="linear").fit(X)


def apart(seed=0):
    """Two groups in one table, the smaller of them in between, and which samples are in the larger."""
    X = samples(50, seed)
    X[::5] += 1000.0
    return X, np.flatnonzero(np.arange(50) % 5)


@pytest.mark.parametrize("cost", [isomap, lle, laplacian, mvu])
def test_only_the_largest_component_takes_part(cost):
    X, larger = apart()
    options = {"cost": cost(6, components="largest"), "max_iter": 5}
    with pytest.warns(UserWarning, match="of 40, 10 objects. Only the largest takes part; the other 10 are left out"):
        free = view(mapping="free", **options).fit(X)
    alone = view(mapping="free", cost=cost(6), max_iter=5).fit(X[larger])
    np.testing.assert_array_equal(free.train_indices_, larger)
    assert np.isnan(free.embedding_).all(axis=1).sum() == 10
    size = np.abs(alone.embedding_).max()
    np.testing.assert_allclose(free.embedding_[larger], alone.embedding_, atol=1e-6 * size)
    np.testing.assert_allclose(free.transform(X[larger]), free.embedding_[larger])
    with pytest.warns(UserWarning, match="Only the largest"):
        linear = view(mapping="linear", **options).fit(X)
    few = view(mapping="linear", cost=cost(6), max_iter=5).fit(X[larger])
    np.testing.assert_allclose(
        linear.mapping_.weights, few.mapping_.weights, atol=1e-6 * np.abs(few.mapping_.weights).max()
    )
    assert np.isfinite(linear.embedding_).all()  # a mapping places all


@pytest.mark.parametrize("cost", [isomap, laplacian, mvu])
def test_only_the_largest_component_of_dissimilarities(cost):
    X, larger = apart()
    D, options = cdist(X, X), {"mapping": "free", "metric": "precomputed", "max_iter": 5}
    with pytest.warns(UserWarning, match="Only the largest takes part"):
        found = view(cost=cost(radius=6.0, components="largest"), **options).fit(D)
    alone = view(cost=cost(radius=6.0), **options).fit(D[np.ix_(larger, larger)])
    size = np.abs(alone.embedding_).max()
    np.testing.assert_allclose(found.embedding_[larger], alone.embedding_, atol=1e-6 * size)
    new = cdist(np.vstack([samples(4, 1), samples(2, 2) - 1000.0]), X)
    with pytest.warns(UserWarning, match=r"2 of 6 new samples have no neighbors .* \(NaN\)"):
        places = found.transform(new)
    np.testing.assert_allclose(places[:4], alone.transform(new[:4, larger]), atol=1e-4 * size)
    assert np.isnan(places[4:]).all()
    with (
        pytest.raises(ValueError, match="has only 1 samples; raise n_neighbors or radius"),
        pytest.warns(UserWarning, match="left out"),
    ):
        view(cost=cost(radius=1e-3, components="largest"), **options).fit(D)


def test_perplexity():
    X = samples()
    with pytest.warns(UserWarning, match="perplexity=25 is more than a third"):
        view(cost=tsne(25.0)).fit(X)
    with pytest.raises(ValueError, match="perplexity=60"):
        view(cost=tsne(60.0)).fit(X)


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("mapping", ["linear", "free"])
def test_missing_values_are_refused(value, mapping):
    X = samples()
    found = view(mapping=mapping).fit(X)
    X[3, 1] = value
    for call in (view(mapping=mapping).fit, found.transform):
        with pytest.raises(ValueError, match=r"NaN|infinity"):
            call(X)


def test_identical_samples_are_refused():
    with pytest.raises(ValueError, match="All samples are the same"):
        view().fit(np.ones((30, 3)))
    X = np.vstack([np.zeros((200, 2)), [[1.0, 2.0]]])
    with pytest.raises(ValueError, match="drawn to train on are all the same"):
        view(n_train=5, cost="mds", mapping="linear").fit(X)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_components": 0}, "n_components=0"),
        ({"cost": "other"}, "cost='other' must be one of"),
        ({"mapping": "other"}, "mapping='other' must be one of"),
        ({"init": "other"}, "init='other'"),
        ({"init": None}, "init=None"),
        ({"init": np.ones((3, 2))}, r"init has the shape \(3, 2\)"),
        ({"n_init": 0}, "n_init=0"),
        ({"max_iter": 0}, "max_iter=0"),
        ({"tol": -1.0}, "tol=-1.0"),
        ({"n_train": 0}, "n_train=0"),
        ({"n_train": 3}, "means 3 samples; it must be from 4"),
        ({"n_train": 61}, "means 61 samples"),
        ({"n_train": 1.5}, "neither a whole number of samples nor a fraction"),
        ({"n_train": True}, "n_train=True"),
        ({"n_train": 30, "mapping": "free"}, "n_train needs a mapping"),
        ({"metric": "other", "mapping": "free"}, "metric='other'"),
        ({"verbose": -1}, "verbose=-1"),
    ],
)
def test_what_is_refused(parameters, message):
    found = view(**parameters)
    with pytest.raises(ValueError, match=message):
        found.fit(samples())
    assert not hasattr(found, "embedding_")


@pytest.mark.parametrize("n", [50, 70])
def test_other_numbers_of_classes_than_samples_are_refused(n):
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        view(mapping=LGMLVQ()).fit(samples(), np.arange(n) % 2)


def test_failed_fit_leaves_the_old_one():
    found = view(mapping="linear").fit(samples())
    before = found.embedding_.copy()
    with pytest.raises(ValueError, match="All samples are the same"):
        found.fit(np.ones((10, 7)))
    np.testing.assert_allclose(found.transform(samples()), before)


def test_ways_back_that_do_not_exist():
    assert hasattr(view(mapping="linear"), "inverse_transform")
    assert hasattr(view(mapping=KMeans(3)), "inverse_transform")
    for mapping in ("free", "neighbors", "network", FreeMapping(), NetworkMapping((3,))):
        assert not hasattr(view(mapping=mapping), "inverse_transform")
    with pytest.raises(NotFittedError):
        view(mapping="linear").inverse_transform(np.ones((2, 2)))
    found = view(mapping="linear").fit(samples())
    with pytest.raises(ValueError, match="X has 3 columns, but the view has 2 dimensions"):
        found.inverse_transform(np.ones((2, 3)))
    with pytest.raises(ValueError, match="3 features"):
        found.transform(np.ones((2, 3)))


# scikit-learn


@pytest.mark.parametrize("mapping", MAPPINGS)
def test_pickled_copies_place_alike(mapping):
    found = view(mapping=MAPPINGS[mapping], max_iter=3).fit(samples())
    copy, new = pickle.loads(pickle.dumps(found)), samples(10, seed=1)
    np.testing.assert_array_equal(copy.transform(new), found.transform(new))


def test_copies_have_mappings_of_their_own():
    model = KMeans(3)
    mapping = LocalLinearMapping(model)
    copy = clone(view(mapping=mapping, cost=tsne(5.0)))
    assert copy.get_params()["cost"] == tsne(5.0)
    copy.fit(samples())
    assert not hasattr(model, "prototypes_")


def test_names_and_frames():
    frame = pd.DataFrame(samples(), columns=list("abcd"))
    found = view(mapping="linear").set_output(transform="pandas").fit(frame)
    assert list(found.transform(frame).columns) == ["mappedembedding0", "mappedembedding1"]
    np.testing.assert_array_equal(found.transform(frame), found.embedding_)
    with pytest.raises(ValueError, match="feature names"):
        found.transform(frame[["b", "a", "c", "d"]])


def test_search_over_parameters():
    X, y = load_iris(return_X_y=True)
    pipeline = make_pipeline(view(max_iter=20), KNeighborsClassifier(3))
    search = GridSearchCV(
        pipeline,
        {"mappedembedding__mapping": [LinearMapping(), KMeans(4)], "mappedembedding__cost": [tsne(15.0), "strain"]},
        cv=3,
        error_score="raise",
    ).fit(X, y)
    assert search.best_score_ > 0.9


def test_classes_are_required_by_charts_of_classifiers_only():
    for mapping, required in (
        (LGMLVQ(), True),
        (LocalLinearMapping(LGMLVQ()), True),
        (KMeans(), False),
        ("local", False),
    ):
        assert view(mapping=mapping).__sklearn_tags__().target_tags.required == required
