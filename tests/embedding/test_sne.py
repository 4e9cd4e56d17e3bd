"""Views by SNE and t-SNE: the same from any form of the data, repeatable, and better than projections."""

import pickle
import warnings

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import pdist, squareform
from sklearn import manifold
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris
from sklearn.decomposition import PCA
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsTransformer, kneighbors_graph
from sklearn.pipeline import make_pipeline

from protolearn import LGMLVQ, MVU, SNE, SONE, TSNE, XOM
from protolearn.embedding import discriminative_distances
from protolearn.embedding._exact import Exact
from protolearn.embedding._fast import Fast
from protolearn.embedding.divergences import DIVERGENCES, Gamma, KullbackLeibler, NeRV
from protolearn.metrics import trustworthiness

IRIS = load_iris().data + np.random.default_rng(0).normal(size=(150, 4)) * 1e-3
HALF = IRIS[::2]
DISTANCES = squareform(pdist(HALF))
SHORT = {"perplexity": 10, "max_iter": 30, "early_exaggeration_iter": 6, "random_state": 0}
BOTH = pytest.mark.parametrize("estimator", [SNE, TSNE])
METHODS = pytest.mark.parametrize("method", ["exact", "fast"])


def assert_same_view(model, other, rtol=1e-6):
    np.testing.assert_allclose(model.embedding_, other.embedding_, atol=rtol * np.ptp(other.embedding_))


# Dissimilarities that are not symmetric


@BOTH
@METHODS
@pytest.mark.parametrize("squared", [False, True])
def test_each_row_has_its_own_affinities(estimator, method, squared):
    D = DISTANCES * np.random.default_rng(0).uniform(0.5, 1.5, size=DISTANCES.shape)
    D[3, 3] = 0.0
    n, near = len(D), 30 if method == "fast" else 74
    model = estimator(metric="precomputed", symmetrize="keep", squared=squared, method=method, **SHORT).fit(D)
    squares = D if squared else D**2
    p = np.zeros((n, n))
    for i in range(n):
        others = sorted((j for j in range(n) if j != i), key=lambda j: squares[i, j])[:near]
        weights = [np.exp(-squares[i, j] / (2.0 * model.bandwidths_[i] ** 2)) for j in others]
        for j, weight in zip(others, weights):
            p[i, j] = weight / sum(weights)
        entropy = -sum(p[i, j] * np.log(p[i, j]) for j in others if p[i, j] > 0.0)
        assert np.exp(entropy) == pytest.approx(10.0, rel=1e-5)
    expected = p if estimator is SNE else [[(p[i, j] + p[j, i]) / (2 * n) for j in range(n)] for i in range(n)]
    found = model.affinities_.toarray() if sparse.issparse(model.affinities_) else model.affinities_
    np.testing.assert_allclose(found, expected, atol=1e-12)
    assert np.isfinite(model.embedding_).all()
    np.testing.assert_array_equal(model.transform(D[:4]), model.embedding_[:4])


@BOTH
def test_of_symmetric_ones_nothing_changes(estimator):
    plain, kept = (
        estimator(metric="precomputed", symmetrize=rule, **SHORT).fit(DISTANCES) for rule in ("raise", "keep")
    )
    np.testing.assert_array_equal(plain.embedding_, kept.embedding_)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_samples_that_measure_by_the_matrix_of_their_own_winner():
    y = load_iris().target[::2]
    metric = LGMLVQ(max_iter=5, random_state=0).fit(HALF, y)
    D = discriminative_distances(metric, HALF, symmetrize=None)
    assert np.abs(D - D.T).max() > 0.01
    seen = SNE(metric=metric, symmetrize="keep", **SHORT).fit(HALF)
    given = SNE(metric="precomputed", symmetrize="keep", **SHORT).fit(D)
    assert_same_view(seen, given)
    new = IRIS[1::2]
    rows = discriminative_distances(metric, new, HALF, symmetrize=None)
    np.testing.assert_allclose(seen.transform(new), given.transform(rows), atol=1e-5 * np.ptp(given.embedding_))
    both = SNE(metric=metric, **SHORT).fit(HALF)
    assert np.abs(both.affinities_ - seen.affinities_).max() > 1e-3


def test_what_compares_each_pair_once_is_refused():
    with pytest.raises(ValueError, match=r"symmetrize='keep' .* metric='edit' compares each pair once.*pairwise\(X, X"):
        SNE(metric="edit", symmetrize="keep").fit(list("abcdefgh"))
    for other in (XOM, SONE, MVU):
        with pytest.raises(ValueError, match="symmetrize='keep' must be one of 'raise', 'mean'"):
            other(metric="precomputed", symmetrize="keep").fit(DISTANCES)


# Quality


@pytest.mark.parametrize("name", DIVERGENCES)
@BOTH
def test_every_divergence_shows_neighbors_better_than_a_projection(estimator, name):
    X = load_digits().data[:80]
    model = estimator(divergence=name, perplexity=12, max_iter=250, early_exaggeration_iter=100, random_state=0).fit(X)
    projected = trustworthiness(X, PCA(2).fit_transform(X), n_neighbors=10)
    # Ratios of affinities weigh strangers like neighbors, under Gaussian tails most of all (documented in SNE).
    gain = -0.05 if estimator is SNE and name in ("is", "beta") else 0.02
    assert trustworthiness(X, model.embedding_, n_neighbors=10) > projected + gain
    assert model.divergence_ <= model.divergence_history_[0]
    np.testing.assert_allclose(model.divergence_, model.divergence_history_[-1])


def test_the_same_divergence_as_that_of_scikit_learn():
    X = load_digits().data[:120]
    ours = TSNE(perplexity=20, random_state=0).fit(X)
    theirs = manifold.TSNE(perplexity=20, method="exact", init="pca", max_iter=750, random_state=0).fit(X)
    assert ours.kl_divergence_ == ours.divergence_ < 1.03 * theirs.kl_divergence_
    assert ours.n_iter_ == 750
    assert not hasattr(clone(ours).set_params(divergence="gamma", max_iter=3).fit(X), "kl_divergence_")
    value = Exact(ours.affinities_, ours._kernel(), True).value(theirs.embedding_.astype(float), KullbackLeibler())
    np.testing.assert_allclose(value, theirs.kl_divergence_, rtol=1e-3)


def test_fast_reaches_what_exact_reaches():
    X = load_digits().data[:200]
    exact, fast = (
        TSNE(perplexity=15, n_neighbors=45, max_iter=350, method=method, random_state=0).fit(X)
        for method in ("exact", "fast")
    )
    np.testing.assert_allclose(fast.divergence_, exact.divergence_, rtol=0.03)
    true = Exact(fast.affinities_.toarray(), fast._kernel(), True).value(fast.embedding_, KullbackLeibler())
    np.testing.assert_allclose(fast.divergence_, true, rtol=2e-3)


@BOTH
def test_the_retrieval_visualizer_with_recall_alone_is_the_plain_view(estimator):
    plain, nerv = (estimator(divergence=divergence, **SHORT).fit(HALF) for divergence in ("kl", NeRV(1.0)))
    np.testing.assert_array_equal(plain.embedding_, nerv.embedding_)


@BOTH
def test_limits_of_parameters(estimator):
    plain, gamma = (estimator(divergence=divergence, **SHORT).fit(HALF) for divergence in ("kl", Gamma(0.0)))
    np.testing.assert_array_equal(plain.embedding_, gamma.embedding_)


def test_islands_of_a_graph_that_falls_apart():
    islands = np.r_[HALF[:25], HALF[:25] + 1e3, HALF[:25] - 1e3]
    graph = kneighbors_graph(islands, 15, mode="distance")
    view = TSNE(perplexity=5, metric="precomputed", max_iter=300, random_state=0).fit_transform(graph)
    nearest = squareform(pdist(view))
    np.fill_diagonal(nearest, np.inf)
    assert (nearest.argmin(axis=1) // 25 == np.arange(75) // 25).all()


@METHODS
def test_equal_samples_are_shown_together(method):
    X = np.repeat(HALF[:25], 3, axis=0)
    view = TSNE(perplexity=8, max_iter=500, method=method, random_state=0).fit_transform(X)
    distances = squareform(pdist(view))
    twins = np.kron(np.eye(25), np.ones((3, 3))).astype(bool)
    assert np.median(distances[twins]) < 0.1 * np.median(distances[~twins])


# Forms of the data


@BOTH
@METHODS
def test_dissimilarities_are_as_good_as_vectors(estimator, method):
    vectors = estimator(method=method, **SHORT).fit(HALF)
    short = dict(SHORT, method=method, metric="precomputed")
    assert_same_view(estimator(**short).fit(DISTANCES), vectors, 1e-3)
    assert_same_view(estimator(squared=True, **short).fit(DISTANCES**2), vectors, 1e-3)
    start = vectors.set_params(max_iter=1).fit(HALF).embedding_
    graph = kneighbors_graph(HALF, 30, mode="distance")
    view = estimator(init=start, **short).fit(graph)
    assert_same_view(view, estimator(**dict(SHORT, init=start, method=method, n_neighbors=30)).fit(HALF), 1e-3)
    assert_same_view(estimator(init=start, **short).fit(sparse.coo_array(graph)), view)
    nothing_above = estimator(init=start, **short).fit(graph + 0.0 * graph.T)
    assert_same_view(nothing_above, view)


@METHODS
@pytest.mark.parametrize("scale", [1e-150, 1e-30, 1e30, 1e150])
def test_scale_and_place_of_the_data_do_not_matter(scale, method):
    model, other = (TSNE(method=method, **SHORT).fit(X) for X in (HALF, HALF * scale))
    assert_same_view(other, model, 1e-3)
    np.testing.assert_allclose(other.bandwidths_, model.bandwidths_ * scale, rtol=1e-6)
    assert_same_view(TSNE(metric="precomputed", method=method, **SHORT).fit(DISTANCES * scale), model, 1e-3)


@METHODS
def test_offsets_do_not_matter(method):
    X = np.round(HALF * 2.0**10) / 2.0**10
    assert_same_view(TSNE(method=method, **SHORT).fit(X + 2.0**20), TSNE(method=method, **SHORT).fit(X), 1e-3)


def test_bandwidths_are_standard_deviations():
    model = TSNE(**SHORT).fit(HALF)
    i = 7
    w = np.exp(-(DISTANCES[i] ** 2) / (2.0 * model.bandwidths_[i] ** 2))
    w[i] = 0.0
    p = w[w > 0.0] / w.sum()
    np.testing.assert_allclose(np.exp(-(p * np.log(p)).sum()), 10.0, rtol=1e-5)


@METHODS
def test_several_perplexities(method):
    short = dict(SHORT, method=method, n_neighbors=60)
    one, listed, twice, both, other = (
        TSNE(**dict(short, perplexity=perplexity)).fit(HALF) for perplexity in (10, [10], (10, 10), [10, 20], 20)
    )
    for model in (listed, twice):
        np.testing.assert_allclose(model.embedding_, one.embedding_, atol=1e-9 * np.ptp(one.embedding_))
    assert abs(both.affinities_ - 0.5 * (one.affinities_ + other.affinities_)).max() < 1e-15
    np.testing.assert_allclose(both.bandwidths_, np.c_[one.bandwidths_, other.bandwidths_])
    assert both.transform(HALF[:3] + 0.01).shape == (3, 2)


@METHODS
def test_an_outlier_does_not_spoil_the_view(method):
    far = np.r_[HALF, [[1e9] * 4]]
    model = TSNE(method=method, **dict(SHORT, max_iter=200, early_exaggeration_iter=100)).fit(far)
    assert trustworthiness(HALF, model.embedding_[:-1], n_neighbors=5) > 0.95


def test_single_precision():
    single = TSNE(**SHORT).fit(HALF.astype(np.float32))
    assert single.embedding_.dtype == np.float64
    assert_same_view(single, TSNE(**SHORT).fit(HALF), 0.01)


def test_strings():
    words = [
        stem + ending for stem in ("neighbor", "view", "chance", "grid") for ending in ("", "s", "ing", "ed", "er")
    ]
    view = TSNE(metric="edit", perplexity=4, max_iter=300, random_state=0).fit_transform(words)
    distances = squareform(pdist(view))
    np.fill_diagonal(distances, np.inf)
    assert np.mean(distances.argmin(axis=1) // 5 == np.arange(20) // 5) > 0.9


def test_pipeline_from_a_graph():
    pipeline = make_pipeline(KNeighborsTransformer(n_neighbors=30), TSNE(metric="precomputed", **SHORT))
    view = pipeline.fit_transform(HALF)
    direct = TSNE(init="spectral", n_neighbors=30, **SHORT).fit(HALF)
    assert_same_view(pipeline[-1], direct, 1e-3)
    assert view.shape == (75, 2)


@pytest.mark.parametrize("d", [1, 2, 3, 5])
def test_dimensions_of_the_view(d):
    model = TSNE(d, **SHORT).fit(HALF)
    assert model.embedding_.shape == (75, d)
    assert (model.embedding_.std(axis=0) > 0.0).all()
    np.testing.assert_allclose(model.embedding_.mean(axis=0), 0.0, atol=1e-9)


# Behavior


@BOTH
@METHODS
@pytest.mark.parametrize("symmetric", [True, False])
def test_repeatable_whatever_the_threads(estimator, method, symmetric):
    def view(n_jobs):
        model = estimator(symmetric=symmetric, method=method, divergence="gamma", n_jobs=n_jobs, **SHORT)
        return model.fit(HALF).embedding_

    one = view(1)
    np.testing.assert_array_equal(view(1), one)
    np.testing.assert_allclose(view(2), one, rtol=1e-5)


def test_clone_pickle_and_search():
    model = TSNE(divergence=Gamma(0.3), **SHORT).fit(HALF)
    assert_same_view(pickle.loads(pickle.dumps(model)), model)
    assert_same_view(clone(model).fit(HALF), model)

    def score(view, X, y=None):
        return -view.fit(X).divergence_

    search = GridSearchCV(TSNE(**SHORT), {"divergence": ["kl", Gamma(0.3)]}, scoring=score, cv=2).fit(HALF)
    assert set(search.cv_results_["rank_test_score"]) == {1, 2}


@BOTH
def test_names_of_columns(estimator):
    frame = estimator(**SHORT).set_output(transform="pandas").fit_transform(HALF)
    stem = estimator.__name__.lower()
    assert list(frame.columns) == [f"{stem}0", f"{stem}1"]


@pytest.mark.parametrize("init", ["auto", "pca", "spectral", "random"])
def test_starts(init):
    first = TSNE(init=init, **dict(SHORT, max_iter=1)).fit(HALF).embedding_
    assert 1e-5 < first.std() < 1e-2
    given = np.random.default_rng(0).normal(size=(75, 2))
    before = given.copy()
    TSNE(init=given, **SHORT).fit(HALF)
    np.testing.assert_array_equal(given, before)


@METHODS
def test_an_interrupt_keeps_what_was_reached(monkeypatch, method):
    forces = Exact if method == "exact" else Fast
    step, calls = forces.step, []

    def interrupted(self, *args):
        calls.append(1)
        if len(calls) == 20:
            raise KeyboardInterrupt
        return step(self, *args)

    expected = TSNE(method=method, **dict(SHORT, max_iter=19)).fit(HALF)
    monkeypatch.setattr(forces, "step", interrupted)
    model = TSNE(method=method, **SHORT)
    with pytest.raises(KeyboardInterrupt):
        model.fit(HALF)
    assert model.n_iter_ == 19
    assert_same_view(model, expected)
    np.testing.assert_allclose(model.divergence_, expected.divergence_)


def test_a_failed_fit_loses_nothing():
    model = TSNE(**SHORT).fit(HALF)
    state = dict(vars(model))
    with pytest.raises(ValueError, match="NaN"):
        model.fit(np.where(HALF > 5.0, np.nan, HALF))
    with pytest.raises(ValueError, match="shape"):
        model.set_params(init=np.ones((3, 2))).fit(HALF[:, :2])
    model.set_params(init="auto")
    assert vars(model).keys() == state.keys()
    assert model.n_features_in_ == 4
    assert model.embedding_ is state["embedding_"]


def test_verbose(capsys):
    model = TSNE(verbose=1, **dict(SHORT, max_iter=160, early_exaggeration_iter=50)).fit(HALF)
    lines = capsys.readouterr().out.splitlines()
    assert len(model.divergence_history_) == 2
    assert [line.split("  ")[0] for line in lines] == [f"[TSNE] iteration {i}/160" for i in (50, 100, 150)]
    assert [line.split("  ")[1].split()[0] for line in lines] == ["exaggerated", "divergence", "divergence"]
    TSNE(**SHORT).fit(HALF)
    assert capsys.readouterr().out == ""


def test_methods_by_size():
    X = np.random.default_rng(0).normal(size=(151, 3))
    short = dict(SHORT, max_iter=2)
    assert TSNE(**short).fit(X).method_ == "fast"
    assert TSNE(**short).fit(X[:150]).method_ == "exact"
    assert TSNE(3, **short).fit(X).method_ == "fast"
    assert TSNE(3, symmetric=False, **short).fit(X).method_ == "fast"
    assert TSNE(4, **short).fit(X).method_ == "exact"
    assert sparse.issparse(TSNE(**short).fit(X).affinities_)


def test_degrees_of_freedom():
    views = [TSNE(dof=dof, **dict(SHORT, max_iter=200)).fit_transform(HALF) for dof in (0.5, 1.0, 10.0)]
    extents = [np.ptp(view) for view in views]
    assert extents[0] > extents[1] > extents[2]  # the heavier the tail, the farther apart


# Input that is refused or warned about


def with_entry(matrix, value):
    matrix = matrix.copy()
    matrix[3, 1] = value
    return matrix


BAD_DATA = {
    "NaN": (with_entry(HALF, np.nan), {}, "NaN"),
    "infinity": (with_entry(HALF, np.inf), {}, "infinity"),
    "identical": (np.ones((20, 3)), {}, "All samples are the same"),
    "too large": (HALF * 1e160, {}, "too large"),
    "one sample": (HALF[:1], {}, "minimum of"),
    "three samples": (HALF[:3], {}, "minimum of"),
    "asymmetric": (with_entry(DISTANCES, 9.0), {"metric": "precomputed"}, "must be symmetric"),
    "negative": (-DISTANCES, {"metric": "precomputed"}, "[Nn]egative"),
    "NaN distance": (with_entry(DISTANCES, np.nan), {"metric": "precomputed"}, "nan"),
    "not square": (HALF, {"metric": "precomputed"}, "square"),
    "all zero": (0.0 * DISTANCES, {"metric": "precomputed"}, "nothing to arrange"),
    "negative graph": (sparse.csr_array(-DISTANCES), {"metric": "precomputed"}, "negative"),
    "thin graph": (kneighbors_graph(HALF, 5, mode="distance"), {"metric": "precomputed"}, "only 5 neighbors"),
    "oblong graph": (kneighbors_graph(HALF, 30)[:50], {"metric": "precomputed"}, "square"),
    "equal words": (["a"] * 20, {"metric": "edit"}, "nothing to arrange"),
    "unknown metric": (HALF, {"metric": "none"}, "metric"),
    "graph and components": (
        kneighbors_graph(HALF, 30, mode="distance"),
        {"metric": "precomputed", "init": "pca"},
        "spectral",
    ),
}


@pytest.mark.parametrize("case", BAD_DATA)
@METHODS
@BOTH
def test_bad_data(estimator, method, case):
    X, parameters, message = BAD_DATA[case]
    with pytest.raises(ValueError, match=message):
        estimator(method=method, **SHORT, **parameters).fit(X)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"perplexity": 75}, "perplexity=75 is more than the 74 neighbors"),
        ({"perplexity": 1}, "perplexity"),
        ({"perplexity": [10, 75]}, "perplexity=75 is more than the 74 neighbors"),
        ({"perplexity": []}, "perplexity"),
        ({"perplexity": [[10, 20]]}, "perplexity"),
        ({"perplexity": "many"}, "perplexity"),
        ({"exaggeration": 0.5}, "exaggeration"),
        ({"warm_start": "yes"}, "warm_start"),
        ({"callback": "print"}, "callback"),
        ({"perplexity": np.nan}, "perplexity"),
        ({"n_components": 0}, "n_components"),
        ({"n_components": 1.5}, "n_components"),
        ({"n_neighbors": 5}, "n_neighbors=5 is less than perplexity"),
        ({"method": "barnes_hut"}, "method"),
        ({"method": "fast", "n_components": 4}, "n_components=4"),
        ({"init": "best"}, "init"),
        ({"init": None}, "init"),
        ({"init": np.ones((75, 3))}, "shape"),
        ({"init": np.full((75, 2), np.nan)}, "NaN"),
        ({"init": np.zeros((75, 2))}, "same"),
        ({"early_exaggeration": 0.5}, "early_exaggeration"),
        ({"early_exaggeration_iter": -1}, "early_exaggeration_iter"),
        ({"max_iter": 0}, "max_iter"),
        ({"learning_rate": 0}, "learning_rate"),
        ({"learning_rate": "fast"}, "learning_rate"),
        ({"divergence": "none"}, "divergence"),
        ({"divergence": None}, "divergence"),
        ({"dof": 0}, "dof"),
        ({"symmetric": "no"}, "symmetric"),
        ({"symmetrize": "max", "metric": "precomputed"}, "symmetrize"),
    ],
    ids=str,
)
def test_bad_parameters(parameters, message):
    X = DISTANCES if parameters.get("metric") == "precomputed" else HALF
    with pytest.raises(ValueError, match=message):
        TSNE(**(SHORT | parameters)).fit(X)


@BOTH
@METHODS
def test_large_perplexity_warns(estimator, method):
    short = dict(SHORT, method=method)
    with pytest.warns(UserWarning, match="more than a third"):
        model = estimator(**dict(short, perplexity=40)).fit(HALF)
    assert np.isfinite(model.embedding_).all()
    with pytest.warns(UserWarning, match="more than a third"):
        assert np.isfinite(estimator(**dict(short, perplexity=74)).fit(HALF).embedding_).all()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        estimator(**dict(short, perplexity=25)).fit(HALF)


@pytest.mark.pairwise(n=[4, 5, 6], estimator=[SNE, TSNE], method=["exact", "fast"])
def test_few_samples(estimator, method, n):
    X = IRIS[[0, 60, 100, 40, 70, 130]][:n]
    model = estimator(**dict(SHORT, perplexity=1.3, max_iter=200, method=method)).fit(X)
    assert np.isfinite(model.embedding_).all()
    assert np.ptp(model.embedding_) < 100.0
    assert -0.02 < model.divergence_ < 2.0


@BOTH
@METHODS
@pytest.mark.filterwarnings("ignore:perplexity")
def test_awkward_data(estimator, method):
    short = dict(SHORT, method=method)
    rng = np.random.default_rng(0)
    awkward = [
        HALF[:, :1],  # one feature
        np.c_[HALF[:, :1], np.ones((75, 3))],
        np.r_[np.tile(HALF[:1], (60, 1)), HALF[60:]],  # most are the same
        np.repeat([[0.0, 0.0], [1.0, 1.0]], 30, axis=0),  # two samples many times
        np.r_[np.ones((60, 3)), [[1.0, 1.0, 1.0 + 1e-15]]],  # different by rounding alone
        np.r_[HALF[:25], HALF[:25] + 1e3, HALF[:25] - 1e3],  # far clusters
        rng.integers(2, size=(60, 5)),
        rng.normal(size=(30, 200)),  # more features than samples
    ]
    for X in awkward:
        model = estimator(**short).fit(X)
        assert np.isfinite(model.embedding_).all()
        assert np.isfinite(model.divergence_)
