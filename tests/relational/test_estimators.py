"""Maps of dissimilarities as scikit-learn estimators: searches, pipelines, classifiers, parameters, documentation."""

import pickle
import re
from inspect import getdoc

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.datasets import load_iris, make_blobs
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, KFold, cross_val_predict, cross_val_score
from sklearn.utils import get_tags

import protolearn
from protolearn import (
    MedianGLVQ,
    MedianKMeans,
    MedianNeuralGas,
    MedianSOM,
    NeuralGas,
    PairwiseAnnealing,
    PrototypeClassifier,
    RelationalGLVQ,
    RelationalKMeans,
    RelationalNeuralGas,
    RelationalSOM,
)
from protolearn.core.lattices import (
    chain,
    from_distances,
    hexagonal,
    hyperbolic,
    rectangular,
    tree,
)
from protolearn.core.parameters import grouped
from protolearn.dissimilarities import Dissimilarities, pairwise
from protolearn.maps import OnLattice, Patches, Ranks, Soft, Winner

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

N = 60
MAPS = [
    MedianKMeans(4, random_state=0),
    MedianNeuralGas(4, max_iter=15, random_state=0),
    MedianSOM((2, 2), max_iter=15, random_state=0),
    RelationalKMeans(4, max_iter=15, random_state=0),
    RelationalNeuralGas(4, max_iter=15, random_state=0),
    RelationalSOM((2, 2), max_iter=15, random_state=0),
    PairwiseAnnealing(4, max_iter=15, random_state=0),
]
each_map = pytest.mark.parametrize("estimator", MAPS, ids=repr)
WORDS = [
    *("kitten", "kitchen", "mitten", "bitten", "smitten", "written"),
    *("castle", "cattle", "rattle", "battle", "tattle", "prattle"),
    *("stone", "phone", "shone", "throne", "prone", "drone"),
]
KINDS = np.repeat(["-itten", "-attle", "-one"], 6)


def blobs(seed=0, n=N):
    return make_blobs(n, 3, centers=4, cluster_std=1.5, random_state=seed)


def distances(seed=0, n=N):
    X, _ = blobs(seed, n)
    return cdist(X, X)


# Parameters and state


@each_map
def test_parameters_are_stored_and_cloned(estimator):
    params = estimator.get_params()
    again = clone(estimator)
    assert again.get_params() == params
    assert set(params) == set(re.findall(r"'(\w+)'", str(list(type(estimator)().get_params()))))
    for unused in ("online", "tol"):
        assert unused not in params
    with pytest.raises(TypeError, match="online"):
        type(estimator)(online=None)


@each_map
def test_the_same_seed_gives_the_same_map_twice(estimator):
    D = distances()
    first, second = clone(estimator).fit(D), clone(estimator).fit(D)
    assert_array_equal(first.transform(D), second.transform(D))
    refitted = first.fit(distances(1)).fit(D)
    assert_array_equal(refitted.transform(D), second.transform(D))


@each_map
@pytest.mark.parametrize("options", [{}, {"patches": Patches(20)}])
def test_pickle(estimator, options):
    D = distances()
    fitted = clone(estimator).set_params(**options).fit(D)
    again = pickle.loads(pickle.dumps(fitted))
    assert_array_equal(again.transform(D), fitted.transform(D))
    words = clone(estimator).set_params(metric="edit", **options).fit(WORDS * 2)
    again = pickle.loads(pickle.dumps(words))
    assert_array_equal(again.predict(WORDS), words.predict(WORDS))
    again.partial_fit(WORDS)
    assert_allclose(again.multiplicities_.sum(), 54)


@each_map
def test_a_pickled_map_does_not_hold_the_matrix(estimator):
    D = distances(n=300)
    assert len(pickle.dumps(clone(estimator).set_params(max_iter=2).fit(D))) < D.nbytes / 4


@each_map
def test_not_fitted(estimator):
    for ask in (estimator.predict, estimator.transform, estimator.score):
        with pytest.raises(NotFittedError):
            ask(distances())


@each_map
def test_shorthands(estimator):
    D = distances()
    fitted = clone(estimator).fit(D)
    assert_array_equal(clone(estimator).fit_predict(D), fitted.labels_)
    assert_array_equal(clone(estimator).fit_transform(D), fitted.transform(D))
    assert_array_equal(fitted.transform(D).argmin(axis=1), fitted.predict(D))
    assert_allclose(fitted.score(D), -np.sqrt(np.maximum(fitted.transform(D).min(axis=1), 0)).mean())
    names = [f"{type(estimator).__name__.lower()}{i}" for i in range(4)]
    assert fitted.get_feature_names_out().tolist() == names
    frame = clone(estimator).set_output(transform="pandas").fit_transform(D)
    assert frame.columns.tolist() == names


@each_map
def test_a_source_is_taken_everywhere(estimator):
    D = distances()
    fitted = clone(estimator).fit(D)
    source = Dissimilarities(D)
    assert_allclose(clone(estimator).fit_transform(source), fitted.transform(D), rtol=1e-9, atol=1e-9)
    assert_array_equal(clone(estimator).fit(source).predict(source), fitted.labels_)
    words = clone(estimator).set_params(metric="edit")
    source = Dissimilarities(WORDS, "edit")
    distances_of_words = clone(words).fit_transform(source)
    assert_allclose(distances_of_words, clone(words).fit_transform(WORDS), rtol=1e-9, atol=1e-9)
    winners = clone(words).fit(source).predict(source)  # words can be equally far from two prototypes
    assert_allclose(distances_of_words[np.arange(len(WORDS)), winners], distances_of_words.min(axis=1), atol=1e-9)


@each_map
def test_threads_do_not_matter(estimator):
    X, _ = blobs(0, 500)
    one, two = (clone(estimator).set_params(metric="euclidean", n_jobs=j).fit(X) for j in (1, 2))
    assert_array_equal(one.labels_, two.labels_)
    assert_allclose(one.transform(X), two.transform(X), atol=1e-10)


@each_map
def test_verbose(estimator, capsys):
    clone(estimator).fit(distances())
    assert capsys.readouterr().out == ""
    fitted = clone(estimator).set_params(verbose=2, metric="edit").fit(WORDS)
    lines = capsys.readouterr().out.splitlines()
    epochs = [line for line in lines if line.startswith(f"[{type(estimator).__name__}] epoch ")]
    assert len(epochs) == fitted.n_iter_
    assert any(line.startswith("[edit]") and "pairs" in line for line in lines)


@each_map
def test_documented_attributes_exist(estimator):
    """And no others, beside those of scikit-learn."""
    _, y = blobs()
    fitted = clone(estimator).set_params(label_weight=0.3, magnification=0.5).fit(distances(), y)
    section = getdoc(type(estimator)).partition("\nAttributes\n")[2].partition("\nSee Also\n")[0]
    documented = {name for line in re.findall(r"^(\w.*_) :", section, flags=re.M) for name in re.split(r",\s*", line)}
    public = {name for name in vars(fitted) if name.endswith("_") and not name.startswith("_")}
    assert documented == public


@pytest.mark.parametrize("estimator", [*MAPS, RelationalGLVQ(), MedianGLVQ()], ids=repr)
def test_documented_parameters_exist(estimator):
    section = getdoc(type(estimator)).partition("\nParameters\n")[2].partition("\nAttributes\n")[0]
    documented = [name for line in re.findall(r"^(\w.*) : ", section, flags=re.M) for name in re.split(r",\s*", line)]
    assert sorted(documented) == sorted(estimator.get_params())
    assert "%(" not in type(estimator).__doc__


def test_all_maps_are_public():
    names = [type(one).__name__ for one in MAPS]
    assert set(names) <= set(dir(protolearn))
    others = {"MedianGLVQ", "RelationalGLVQ", "ObjectExplanation"}  # classifiers, and what one returns
    assert set(names) == set(protolearn.relational.__all__) - others


# Cross-validation


def test_tags():
    for estimator in MAPS:
        for metric, is_pairwise in (("precomputed", True), ("kernel", True), ("edit", False), (cdist, False)):
            assert get_tags(clone(estimator).set_params(metric=metric)).input_tags.pairwise is is_pairwise
            classifier = PrototypeClassifier(clone(estimator).set_params(metric=metric))
            assert get_tags(classifier).input_tags.pairwise is is_pairwise


@each_map
def test_cross_validation_cuts_rows_and_columns(estimator):
    D = distances()
    folds = KFold(3, shuffle=True, random_state=0)
    scores = cross_val_score(estimator, D, cv=folds)
    expected = [
        clone(estimator).fit(D[np.ix_(train, train)]).score(D[np.ix_(test, train)]) for train, test in folds.split(D)
    ]
    assert_allclose(scores, expected)


def test_grid_search_on_a_matrix():
    D = distances()
    search = GridSearchCV(RelationalNeuralGas(max_iter=10, random_state=0), {"n_prototypes": [1, 4]}, cv=3).fit(D)
    assert search.best_params_ == {"n_prototypes": 4}
    assert search.predict(D).shape == (N,)


# Classifiers


@each_map
@pytest.mark.parametrize("options", [{}, {"per_class": True}, {"labeling": "majority"}])
def test_classifier_on_a_matrix_and_on_words(estimator, options):
    D = pairwise(WORDS, metric="edit")
    small = clone(estimator).set_params(
        **({"lattice": (1, 3)} if hasattr(estimator, "lattice") else {"n_prototypes": 3})
    )
    matrix = PrototypeClassifier(small, **options).fit(D, KINDS)
    words = PrototypeClassifier(clone(small).set_params(metric="edit"), **options).fit(WORDS, KINDS)
    assert_array_equal(words.predict(WORDS), matrix.predict(D))
    assert words.score(WORDS, KINDS) >= 0.8
    new = ["witten", "wattle", "clone"]
    assert_array_equal(words.predict(new), ["-itten", "-attle", "-one"])
    assert_array_equal(matrix.predict(pairwise(new, WORDS, metric="edit")), words.predict(new))
    assert_allclose(words.predict_proba(new).sum(axis=1), 1.0)
    assert_allclose(words.predict_proba(new), matrix.predict_proba(pairwise(new, WORDS, metric="edit")))
    assert_allclose(words.confidence(new), matrix.confidence(pairwise(new, WORDS, metric="edit")))
    again = pickle.loads(pickle.dumps(words))
    assert_array_equal(again.predict(new), words.predict(new))


def test_classifier_of_euclidean_distances_is_that_of_vectors():
    X, y = load_iris(return_X_y=True)
    D = cdist(X, X)
    A = np.random.default_rng(0).dirichlet(np.ones(150), 9)
    vectors = PrototypeClassifier(NeuralGas(9, init=A @ X, max_iter=20, neighborhood=Ranks(settle=False))).fit(X, y)
    objects = PrototypeClassifier(RelationalNeuralGas(9, init=A, max_iter=20)).fit(D, y)
    assert_array_equal(objects.predict(D), vectors.predict(X))
    assert_allclose(objects.label_distribution_, vectors.label_distribution_, atol=1e-9)
    assert_allclose(objects.confidence(D), vectors.confidence(X), atol=1e-9)
    rejecting = PrototypeClassifier(RelationalNeuralGas(9, init=A, max_iter=20), reject_threshold=0.3).fit(D, y)
    assert_array_equal(rejecting.predict(D) == -1, objects.confidence(D) < 0.3)


def test_classifier_in_searches():
    X, y = load_iris(return_X_y=True)
    D = cdist(X, X)
    classifier = PrototypeClassifier(RelationalNeuralGas(9, max_iter=10, random_state=0))
    assert cross_val_score(classifier, D, y, cv=3).mean() > 0.85
    search = GridSearchCV(classifier, {"estimator__label_weight": [0.0, 0.5]}, cv=3).fit(D, y)
    assert search.score(D, y) > 0.9
    words = PrototypeClassifier(MedianNeuralGas(6, metric="edit", max_iter=10, random_state=0))
    assert cross_val_score(words, WORDS, KINDS, cv=3).shape == (3,)
    predicted = cross_val_predict(words, np.array(WORDS), KINDS, cv=3)
    assert (predicted == KINDS).mean() > 0.7
    supervised = PrototypeClassifier(RelationalSOM((2, 3), metric="edit", label_weight=0.9, max_iter=10))
    assert supervised.fit(WORDS, KINDS).score(WORDS, KINDS) > 0.9


def test_classifier_takes_weights_of_words():
    weights = np.where(KINDS == "-one", 0.0, 1.0)
    words = PrototypeClassifier(MedianKMeans(4, metric="edit", random_state=0)).fit(WORDS, KINDS, weights)
    assert "-one" not in words.predict(WORDS)


def test_classifier_refuses_what_its_map_refuses():
    classifier = PrototypeClassifier(MedianKMeans(2))
    with pytest.raises(ValueError, match="square"):
        classifier.fit(distances()[:, :5], np.arange(N) % 2)
    with pytest.raises(ValueError, match="inconsistent"):
        PrototypeClassifier(MedianKMeans(2, metric="edit")).fit(WORDS, KINDS[:5])
    with pytest.raises(ValueError, match="sequence of objects"):
        PrototypeClassifier(MedianKMeans(2, metric="edit")).fit("kitten" * 3, KINDS)


# Maps, starts and schedules


@pytest.mark.pairwise(
    init=["pca", "k-means++"],
    kind=[MedianSOM, RelationalSOM],
    lattice=[
        hexagonal(2, 3),
        chain(5),
        hyperbolic(rings=1),
        rectangular(3, 3, periodic=True),
        tree(2, 2),
        from_distances(1 - np.eye(4)),
        (2, 3),
        5,
    ],
)
def test_lattices(lattice, kind, init):
    D = distances()
    som = kind(lattice, max_iter=10, random_state=0, init=init).fit(D)
    assert som.transform(D).shape == (N, som.lattice_.n_nodes)
    assert_allclose(som.multiplicities_.sum(), N)
    assert np.isfinite(som.transform(D)).all()


def test_a_chain_orders_a_line():
    x = np.sort(np.random.default_rng(0).random(100))
    D = np.abs(x[:, None] - x)
    places = RelationalSOM(chain(8), max_iter=60).fit(D).coefficients_ @ x
    assert (np.diff(places) > 0).all() or (np.diff(places) < 0).all()
    medians = x[MedianSOM(chain(8), max_iter=60).fit(D).prototype_indices_]
    assert (np.diff(medians) > 0).all() or (np.diff(medians) < 0).all()


def test_automatic_lattice_follows_the_objects():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 3)) * [6, 2, 0.1]
    vectors = protolearn.SOM(max_iter=2).fit(X).lattice_
    for kind in (RelationalSOM, MedianSOM):
        assert kind(max_iter=2).fit(cdist(X, X)).lattice_ == vectors


@each_map
@pytest.mark.parametrize("init", ["k-means++", "random", "pca", "center"])
def test_starts(estimator, init):
    D = distances()
    if init == "center" and hasattr(estimator, "collision"):
        with pytest.raises(ValueError, match="init='center' must be"):
            clone(estimator).set_params(init=init).fit(D)
        return
    fitted = clone(estimator).set_params(init=init).fit(D)
    assert_allclose(fitted.multiplicities_.sum(), N)


@pytest.mark.parametrize(
    "estimator",
    [
        RelationalKMeans(6, init="random"),
        RelationalNeuralGas(6, init="random", max_iter=8, neighborhood=Ranks((0.5, 0.01))),
        RelationalNeuralGas(6, init="random", max_iter=8, neighborhood=Ranks((0.5, 0.01)), keep_best=True),
        RelationalSOM((2, 3), init="random", max_iter=8, neighborhood=OnLattice(radius=(0.6, 0.1))),
        MedianKMeans(6, init="random", swap=False),
        MedianNeuralGas(6, init="random", max_iter=8, neighborhood=Ranks((0.5, 0.01))),
        MedianSOM((2, 3), init="random", max_iter=8, neighborhood=OnLattice(radius=(0.6, 0.1))),
    ],
    ids=repr,
)
def test_best_of_several_starts(estimator):
    """Several starts are those of one random state after the other, and the best of them is kept."""
    rng = np.random.default_rng(1)
    D = distances(1, 50) * (1 + 0.3 * np.abs(np.subtract.outer(rng.random(50), rng.random(50))))
    D = (D + D.T) / 2

    def cost(fitted):
        return fitted.transform(D).min(axis=1).sum() / 2 if hasattr(fitted, "collision") else fitted.dual_cost_

    state = np.random.RandomState(0)
    alone = [cost(clone(estimator).set_params(random_state=state).fit(D)) for _ in range(4)]
    several = clone(estimator).set_params(n_init=4, random_state=0).fit(D)
    assert np.ptp(alone) > 1e-3 * np.abs(alone).max()
    assert cost(several) == pytest.approx(min(alone))
    again = clone(several).fit(D)
    assert_array_equal(again.labels_, several.labels_)
    assert again.cost_history_ == several.cost_history_


def test_neural_gas_hardly_depends_on_its_start():
    D = distances(n=120)
    for kind in (RelationalNeuralGas, MedianNeuralGas):
        starts = ["k-means++", "random", "pca"]
        scores = [kind(4, random_state=s, init=init).fit(D).score(D) for init in starts for s in range(2)]
        assert_allclose(scores, scores[0], rtol=0.02)


def test_more_starts_never_raise_the_cost():
    D = distances(3)
    for kind in (RelationalKMeans, MedianKMeans):
        costs = [kind(6, init="random", n_init=n, random_state=0).fit(D).cost_history_[-1] for n in (1, 5)]
        assert costs[1] <= costs[0]


def test_empty_prototypes_stay_or_are_reseeded():
    x = np.r_[np.arange(10.0), 100.0 + np.arange(10.0)]
    D = np.abs(x[:, None] - x)
    start = np.zeros((3, 20))
    start[0, 0] = start[1, 1] = 1.0
    start[2] = 1.0
    start[2, 0] = -18.0  # far beyond all objects
    kept = RelationalKMeans(3, init=start, max_iter=1).fit(D)
    assert_allclose(kept.coefficients_[2], start[2])
    reseeded = RelationalKMeans(3, init=start, neighborhood=Winner("reseed")).fit(D)
    assert (reseeded.multiplicities_ > 0).all()
    coincide = MedianKMeans(3, init=[0, 1, 1], neighborhood=Winner("reseed"), collision="ignore", swap=False).fit(D)
    assert len(set(coincide.prototype_indices_)) == 3


@pytest.mark.parametrize("collision", ["exclude", "noise", "ignore"])
def test_collisions(collision):
    """Medians that start on one object part again, unless collisions are ignored."""
    D = distances(2)
    fitted = MedianNeuralGas(4, init=[0, 0, 0, 0], collision=collision, swap=False, random_state=0).fit(D)
    assert len(set(fitted.prototype_indices_)) == (1 if collision == "ignore" else 4)


def test_noise_does_not_enter_the_cost():
    """One prototype has the same rank for all objects, however loud the noise."""
    D = distances(2)
    noisy = MedianNeuralGas(1, init=[0], collision="noise", noise=10.0, max_iter=5, random_state=0).fit(D)
    plain = MedianNeuralGas(1, init=[0], collision="ignore", max_iter=5).fit(D)
    assert_allclose(noisy.cost_history_, plain.cost_history_)
    many = MedianNeuralGas(4, collision="noise", noise=10.0, max_iter=5, random_state=0).fit(D)
    S = D**2
    assert_allclose(many.transform(D), S[:, many.prototype_indices_])


def test_the_last_epoch_has_no_noise():
    settings = {"init": [0, 5, 9, 14], "max_iter": 1, "swap": False, "random_state": 0}
    loud = MedianNeuralGas(4, collision="noise", noise=10.0, **settings).fit(distances(2))
    still = MedianNeuralGas(4, collision="ignore", **settings).fit(distances(2))
    assert loud.prototype_indices_.tolist() == still.prototype_indices_.tolist()


@pytest.mark.parametrize(
    "estimator", [one for one in MAPS if hasattr(grouped(type(one))["neighborhood"](), "schedule")], ids=repr
)
def test_a_schedule_that_interrupts_or_fails(estimator):
    D = distances()

    def stop(start, end, n_steps):
        raise KeyboardInterrupt

    def wrong(start, end, n_steps):
        return np.zeros(n_steps)

    fitted = clone(estimator).fit(D)
    before = fitted.transform(D)
    with pytest.raises(KeyboardInterrupt):
        fitted.set_params(neighborhood__schedule=stop).fit(distances(1))
    assert_array_equal(fitted.transform(D), before)
    with pytest.raises(ValueError, match="The schedule must give"):
        fitted.set_params(neighborhood__schedule=wrong).fit(distances(1))
    assert_array_equal(fitted.transform(D), before)
    with pytest.raises(KeyboardInterrupt):
        clone(fitted).set_params(neighborhood__schedule=stop).fit(D)


BAD_PARAMETERS = [
    (MedianKMeans(0), "n_prototypes"),
    (MedianKMeans(collision="never"), "collision='never' must be"),
    (MedianKMeans(noise=-1), "noise"),
    (MedianKMeans(swap="yes"), "swap"),
    (MedianKMeans(exemplar_labels="yes"), "exemplar_labels"),
    (MedianKMeans(neighborhood=Winner("drop")), "empty"),
    (MedianKMeans(3, init=[0, 1]), "init must hold the indices of 3 objects"),
    (MedianKMeans(3, init=[0, 1, 60]), "init must hold the indices"),
    (MedianKMeans(3, init=[0, 1, -1]), "init must hold the indices"),
    (MedianKMeans(3, init=[0.5, 1.0, 2.0]), "init must hold the indices"),
    (MedianKMeans(3, init=np.eye(3)), "init must hold the indices"),
    (RelationalKMeans(3, init=np.eye(3)), r"init has shape \(3, 3\); expected \(3, 60\)"),
    (RelationalKMeans(3, init=np.ones((3, 60))), "add up to 1"),
    (RelationalKMeans(3, init=np.full((3, 60), np.nan)), "NaN"),
    (RelationalKMeans(3, init="kmeans"), "init='kmeans' must be"),
    (RelationalNeuralGas(spread="auto"), "spread='auto'.*'implicit'"),
    (RelationalNeuralGas(spread=-1.0), "spread"),
    (RelationalNeuralGas(spread="implicit", n_landmarks=5), "omit n_landmarks"),
    (RelationalNeuralGas(sparsity=0), "sparsity"),
    (RelationalNeuralGas(n_landmarks=2.5), "n_landmarks"),
    (RelationalNeuralGas(n_approximation=0), "n_approximation"),
    (RelationalNeuralGas(n_approximation=2.5), "n_approximation.*below 1"),
    (RelationalNeuralGas(keep_best="yes"), "keep_best"),
    (RelationalNeuralGas(squared="yes"), "squared='yes' must be True or False"),
    (RelationalNeuralGas(symmetrize="max"), "symmetrize='max' must be"),
    (RelationalNeuralGas(metric_params=3), "metric_params"),
    (RelationalNeuralGas(metric_params={"indel": 2.0}), "metric_params"),
    (RelationalNeuralGas(neighborhood=Ranks((0, 0.01))), "neighborhood__radius"),
    (RelationalNeuralGas(label_weight=2), "label_weight"),
    (RelationalSOM("hexagonal"), "lattice='hexagonal' must be"),
    (RelationalSOM(neighborhood=OnLattice(winner="best")), "winner"),
    (PairwiseAnnealing(neighborhood=Soft((0, "auto"))), "neighborhood__temperature"),
    (PairwiseAnnealing(neighborhood=Soft(("auto", "cold"))), "neighborhood__temperature"),
]


@pytest.mark.parametrize(("estimator", "message"), BAD_PARAMETERS, ids=[str(i) for i in range(len(BAD_PARAMETERS))])
def test_bad_parameters(estimator, message):
    with pytest.raises(ValueError, match=message):
        clone(estimator).fit(distances())
