"""Identities between the classifiers, invariances, and what they do with unusual input."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_digits, load_iris
from sklearn.decomposition import PCA
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from protolearn import GLVQ, GMLVQ, GRLVQ, LGMLVQ, LGRLVQ, LVQ1, LVQ21, LLiRaMLVQ
from protolearn.datasets import make_cigars, make_clouds
from protolearn.lvq import SGD, MatrixMetric, Metric, canonical_matrix, mean_canonical_matrix

ALL = [LVQ1(), LVQ21(), GLVQ(), GRLVQ(), LGRLVQ(), GMLVQ(), LGMLVQ(), LLiRaMLVQ()]
COSTED = ALL[2:]
MATRICES = [GMLVQ(), GMLVQ(n_components=2), LGMLVQ(), LGMLVQ(n_components=2, localization="class"), LLiRaMLVQ()]


def name(model):
    return str(model)


def rotation(n, seed=0):
    return np.linalg.qr(np.random.default_rng(seed).normal(size=(n, n)))[0]


def test_rank_of_all_features_is_the_full_matrix(wine):
    X, y = wine
    full = GMLVQ(metric_init="identity").fit(X, y)
    limited = GMLVQ(n_components=13, metric_init="identity").fit(X, y)
    assert np.array_equal(full.omega_, limited.omega_)


def test_diagonal_mask_is_relevance_learning(wine):
    X, y = wine
    settings = {"max_iter": 30, "regularization": 0.02, "slope": 10.0}
    masked = GMLVQ(mask=0, **settings).fit(X, y)
    relevance = GRLVQ(**settings).fit(X, y)
    assert np.allclose(masked.relevances_, relevance.relevances_, rtol=1e-6, atol=1e-9)
    assert np.allclose(masked.decision_function(X), relevance.decision_function(X), rtol=1e-6, atol=1e-9)
    assert np.count_nonzero(masked.omega_ - np.diag(np.diag(masked.omega_))) == 0


def test_band_limits_the_matrix(wine):
    omega = GMLVQ(mask=2).fit(*wine).omega_
    rows, columns = np.indices(omega.shape)
    assert (omega[np.abs(rows - columns) > 2] == 0).all()
    assert (omega[np.abs(rows - columns) <= 2] != 0).all()


def test_whole_mask_is_no_mask(wine):
    X, y = wine
    masked = GMLVQ(mask=np.ones((13, 13)), max_iter=10).fit(X, y)
    assert np.allclose(canonical_matrix(masked.omega_), GMLVQ(max_iter=10).fit(X, y).omega_, atol=1e-8)


@pytest.mark.parametrize("model", MATRICES, ids=name)
def test_rotated_input_gives_rotated_matrices_and_equal_predictions(model, wine):
    X, y = wine
    X = PCA(whiten=True).fit_transform(X)  # turned features have unit variance, too
    R = rotation(13)
    plain = clone(model).set_params(max_iter=15).fit(X, y)
    turned = clone(plain).fit(X @ R, y)
    assert np.allclose(turned.decision_function(X @ R), plain.decision_function(X), rtol=1e-5, atol=1e-8)
    assert np.allclose(turned.relevance_matrix_, R.T @ plain.relevance_matrix_ @ R, atol=1e-6)


@pytest.mark.parametrize("symmetric", [False, True])
def test_online_learning_turns_with_the_data_if_all_entries_learn_alike(symmetric, wine):
    X, y = wine
    R = rotation(13)
    model = GMLVQ(solver=SGD(0.01, 0.005), symmetric=symmetric, max_iter=5, regularization=0.0, random_state=0)
    plain, turned = clone(model).fit(X, y), clone(model).fit(X @ R, y)
    assert np.allclose(turned.relevance_matrix_, R.T @ plain.relevance_matrix_ @ R, atol=1e-10)


@pytest.mark.parametrize("model", COSTED, ids=name)
def test_translation_and_scale_do_not_matter(model, wine):
    X, y = wine
    plain = clone(model).set_params(max_iter=10, random_state=0).fit(X, y)
    moved = clone(plain).fit(1000.0 * X - 5e4, y)
    assert np.allclose(moved.confidence(1000.0 * X - 5e4), plain.confidence(X), rtol=1e-4, atol=1e-6)
    assert np.allclose((moved.prototypes_ + 5e4) / 1000.0, plain.prototypes_, atol=1e-5)


@pytest.mark.parametrize("model", ALL, ids=name)
def test_names_of_classes_do_not_matter(model, iris):
    X, y = iris
    names = np.array(["ant", "bee", "cow"])
    model = clone(model).set_params(random_state=0)
    numbers, words = clone(model).fit(X, 10 * y - 7), clone(model).fit(X, names[y])
    assert np.array_equal(names[(numbers.predict(X) + 7) // 10], words.predict(X))
    assert np.array_equal(numbers.predict_proba(X), words.predict_proba(X))


@pytest.mark.parametrize("model", COSTED, ids=name)
def test_weight_two_is_the_sample_twice(model, iris):
    X, y = iris
    twice = np.random.default_rng(0).integers(0, 3, len(X))
    model = clone(model).set_params(prototypes_per_class=2, max_iter=8, random_state=0)
    weighted = clone(model).fit(X, y, sample_weight=twice)
    repeated = clone(model).fit(np.repeat(X, twice, axis=0), np.repeat(y, twice))
    assert np.allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-6)


def test_class_weight_is_a_sample_weight(iris):
    X, y = iris
    by_class = GMLVQ(class_weight={0: 1, 1: 5, 2: 1}).fit(X, y)
    by_sample = GMLVQ().fit(X, y, sample_weight=np.where(y == 1, 5, 1))
    assert np.array_equal(by_class.prototypes_, by_sample.prototypes_)


def test_first_iteration_of_one_prototype_is_the_nearest_centroid(iris):
    X, y = iris
    centroids = NearestCentroid().fit(X, y)
    model = GLVQ(solver=SGD(0.0), max_iter=1).fit(X, y)
    assert np.allclose(model.prototypes_, centroids.centroids_)
    assert np.array_equal(model.predict(X), centroids.predict(X))


def test_predictions_are_those_of_the_distances(wine):
    X, y = wine
    for model in (GMLVQ(2, n_components=3, random_state=0), LGMLVQ(2, random_state=0), LLiRaMLVQ(2, random_state=0)):
        model.fit(X, y)
        if isinstance(model, LGMLVQ):
            A = model.omegas_
        elif isinstance(model, LLiRaMLVQ):
            A = np.repeat(model.psis_ @ model.omega_, 2, axis=0)
        else:
            A = np.repeat(model.omega_[None], 6, axis=0)
        D = np.stack([(((X - w) @ a.T) ** 2).sum(axis=1) for w, a in zip(model.prototypes_, A)], axis=1)
        assert np.array_equal(model.predict(X), model.prototype_labels_[D.argmin(axis=1)])
        nearest = np.stack([D[:, model.prototype_labels_ == c].min(axis=1) for c in range(3)], axis=1)
        assert np.allclose(model.decision_function(X), -np.sqrt(nearest), rtol=1e-9, atol=1e-9)


def test_view_holds_the_learned_distances(wine):
    X, y = wine
    model = GMLVQ(n_components=2).fit(X, y)
    Z, V = model.transform(X), model.transform(model.prototypes_)
    D = ((Z[:, None] - V) ** 2).sum(axis=2)
    assert np.array_equal(model.predict(X), model.classes_[D.argmin(axis=1)])
    relevance = GRLVQ().fit(X, y)
    Z, V = relevance.transform(X), relevance.transform(relevance.prototypes_)
    assert np.allclose(np.linalg.norm(Z[:, None] - V, axis=2), -relevance.decision_function(X))


def test_local_views_hold_the_distances(wine):
    X, y = wine
    model = LGMLVQ(n_components=2).fit(X, y)
    assert np.allclose(np.linalg.norm(model.local_transform(X), axis=2), -model.decision_function(X))


def test_canonical_matrices(rng):
    omega = rng.normal(size=(3, 5))
    rows = canonical_matrix(omega)
    assert np.allclose(rows.T @ rows, omega.T @ omega)
    assert np.allclose(rows @ rows.T, np.diag(np.diag(rows @ rows.T)))
    assert (np.diff(np.diag(rows @ rows.T)) <= 0).all()
    assert (rows[np.arange(3), np.abs(rows).argmax(axis=1)] > 0).all()
    assert np.allclose(canonical_matrix(rotation(3) @ omega), rows)
    assert np.allclose(canonical_matrix(omega, 2), rows[:2])
    assert np.allclose(mean_canonical_matrix([omega, rotation(3) @ omega, -omega]), rows)


@pytest.mark.parametrize("model", [GMLVQ(), LGMLVQ(), GRLVQ()], ids=name)
def test_irrelevant_features_lose_relevance(model):
    X, y = make_clouds(200, [[-2, 0, 0, 0, 0], [2, 0, 0, 0, 0]], random_state=0)
    model = clone(model).set_params(regularization=0.0).fit(StandardScaler().fit_transform(X), y)
    assert np.atleast_2d(model.relevances_)[:, 0].min() > 0.8


def test_regularization_keeps_the_rank(wine):
    X, y = wine
    free = GMLVQ(regularization=0.0, max_iter=200).fit(X, y).eigenvalues_
    kept = GMLVQ(regularization=0.3, max_iter=200).fit(X, y).eigenvalues_
    assert kept.min() > 10 * free.min()
    assert free.sum() == pytest.approx(1.0)
    assert kept.sum() == pytest.approx(1.0)


def test_directions_without_variance_get_no_relevance(wine):
    X, y = wine
    wide = np.column_stack([X, X[:, 0] + X[:, 1], np.full(len(X), 0.1)])
    model = GMLVQ().fit(wide, y)
    silent = np.zeros((2, 15))
    silent[0, [0, 1, 13]] = 1, 1, -1
    silent[1, 14] = 1
    assert model.relevance_matrix_.shape == (15, 15)
    assert np.allclose((model.omega_ * model.scale_) @ (silent * model.scale_).T, 0.0, atol=1e-12)
    assert model.omega_.shape == (13, 15)
    given = GMLVQ(metric_init=np.diag(1.0 / model.scale_)).fit(wide, y)
    assert np.allclose(given.relevance_matrix_, model.relevance_matrix_, atol=1e-6)
    again = model.partial_fit(wide[:50], y[:50])
    assert again.relevances_[14] < 1e-9
    assert again.score(wide, y) > 0.95


def test_more_features_than_samples():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 15)
    X = rng.normal(size=(30, 500))
    X[:, 0] += 6 * y
    for model in (GMLVQ(n_components=2), GMLVQ(), LGMLVQ(n_components=2), LLiRaMLVQ()):
        assert clone(model).fit(X, y).score(X, y) == 1.0


@pytest.mark.parametrize("init", ["neural_gas", "mean"])
def test_number_of_prototypes_by_class(init, iris):
    X, y = iris
    model = GLVQ({0: 1, 1: 2, 2: 3}, init=init, random_state=0).fit(X, y)
    assert model.prototype_labels_.tolist() == [0, 1, 1, 2, 2, 2]
    assert len(np.unique(model.prototypes_, axis=0)) == 6


def test_given_start(iris):
    X, y = iris
    start = X[[0, 50, 100]]
    model = GMLVQ(
        init=start, metric_init=np.eye(4, dtype=int)[::-1], solver=SGD(0.0, 0.0), max_iter=1, regularization=0.0
    )
    assert np.allclose(model.fit(X, y).prototypes_, start)
    assert np.allclose(model.relevance_matrix_, np.eye(4) / 4)


def test_warm_start_goes_on(wine):
    X, y = wine
    for model in (GMLVQ(), GMLVQ(n_components=2), LGMLVQ(), LLiRaMLVQ(), GRLVQ(), LGRLVQ()):
        model = clone(model).set_params(slope=4.0, warm_start=True, max_iter=5, random_state=0).fit(X, y)
        first = model.cost_history_[-1]
        again = model.fit(X, y).cost_history_
        assert max(again) < first + 1e-9


def test_partial_fit_learns_a_stream():
    X, y = make_cigars(600, random_state=0)
    model = GMLVQ(2, random_state=0)
    for epoch in range(5):
        for rows in np.array_split(np.random.default_rng(epoch).permutation(len(X)), 10):
            model.partial_fit(X[rows], y[rows], classes=[0, 1])
    assert model.score(X, y) > 0.72
    assert model.score(X, y) > NearestCentroid().fit(X, y).score(X, y) - 0.02


def test_partial_fit_welcomes_classes_when_they_come(iris):
    X, y = iris
    model = LGMLVQ(random_state=0).partial_fit(X[:50], y[:50], classes=[0, 1, 2])
    assert set(model.predict(X)) == {0}
    assert np.array_equal(model.predict_proba(X[:1]), [[1.0, 0.0, 0.0]])
    model.partial_fit(X[:100], y[:100])
    assert set(model.predict(X)) == {0, 1}
    for _ in range(20):
        model.partial_fit(X, y)
    assert model.score(X, y) > 0.93


@pytest.mark.parametrize("model", [GMLVQ(), GMLVQ(n_components=10), LGMLVQ(max_iter=15)], ids=name)
def test_partial_fit_goes_on_from_fit(model):
    X, y = load_digits(return_X_y=True)
    X = X / 16
    model = clone(model).set_params(random_state=0).fit(X[:1200], y[:1200])
    before = model.score(X[1200:], y[1200:])
    for start in range(0, 160, 40):
        model.partial_fit(X[start : start + 40], y[start : start + 40])
    assert model.score(X[1200:], y[1200:]) > before - 0.03


def test_stream_that_starts_with_single_samples(wine):
    X, y = wine
    model = GMLVQ(2, random_state=0)
    order = np.random.default_rng(0).permutation(len(X))
    for i in order[:5]:
        model.partial_fit(1e-3 * X[[i]], y[[i]], classes=[0, 1, 2])
    for _ in range(5):
        for rows in np.array_split(order, 10):
            model.partial_fit(1e-3 * X[rows], y[rows])
    assert model.score(1e-3 * X, y) > 0.95
    batch = model.predict_proba(1e-3 * X)
    assert np.array_equal(model.partial_fit(1e-3 * X[:1], y[:1]).classes_, [0, 1, 2])
    assert np.abs(model.predict_proba(1e-3 * X) - batch).max() < 0.2


CHANGES = {
    "prototypes_per_class": (GMLVQ(), {"prototypes_per_class": 2}),
    "n_components": (GMLVQ(n_components=1), {"n_components": 3}),
    "localization": (LGMLVQ(2), {"localization": "class"}),
    "mask": (GMLVQ(mask=1), {"mask": 2}),
}


@pytest.mark.parametrize("changed", sorted(CHANGES))
def test_training_goes_on_only_with_a_model_of_the_same_form(changed, wine):
    X, y = wine
    model, change = CHANGES[changed]
    model = clone(model).set_params(warm_start=True, max_iter=3, random_state=0).fit(X, y)
    before = model.predict_proba(X)
    model.set_params(**change)
    with pytest.raises(ValueError, match=f"{changed} was .* in the last fit and is .* now"):
        model.fit(X, y)
    with pytest.raises(ValueError, match=f"{changed} was"):
        model.partial_fit(X, y)
    assert np.array_equal(model.predict_proba(X), before)


def test_failed_fit_loses_nothing(iris):
    X, y = iris
    model = GMLVQ().fit(X, y)
    before = model.predict_proba(X)
    with pytest.raises(ValueError, match="at least 2 classes"):
        model.fit(X[:, :3], np.zeros(150))
    assert np.array_equal(model.predict_proba(X), before)
    assert model.n_features_in_ == 4


class Bump(Metric):
    """A distance that is neither homogeneous nor unbounded."""

    def measure(self, X, W, classes, theta):
        kernels = np.exp(-((X[:, None] - W) ** 2).sum(axis=2) / 50.0)

        def pullback(G):
            weights = G * kernels / 25.0
            return weights.sum(axis=0)[:, None] * W - weights.T @ X, ()

        return 1.0 - kernels, pullback


def test_metrics_of_any_kind_are_used_as_they_were_trained(wine):
    X, y = wine
    model = GLVQ(metric=Bump(), slope=2.0).fit(3 * X + 7, y)
    mu = model.relative_distance(3 * X + 7, y)
    assert (1 / (1 + np.exp(-2.0 * mu))).mean() == pytest.approx(model.cost_history_[-1])
    with pytest.raises(ValueError, match="Bump does not support missing values"):
        GLVQ(metric=Bump(), missing="partial").fit(X, y)


def test_size_of_weights_does_not_matter_for_shares(wine):
    X, y = wine
    plain = GMLVQ(n_components=2).fit(X, y)
    shares = GMLVQ(n_components=2).fit(X, y, sample_weight=np.full(len(X), 1 / len(X)))
    assert np.allclose(shares.predict_proba(X), plain.predict_proba(X), atol=1e-6)


def test_missing_values_in_views_and_explanations(wine):
    X, y = wine
    hidden = X.copy()
    hidden[3, 4] = np.nan
    view = GMLVQ(n_components=2, missing="partial").fit(hidden, y)
    assert np.isnan(view.counterfactual(hidden[3:4]).samples[0, 4])
    filled = np.where(np.isnan(hidden), np.nanmean(hidden, axis=0), hidden)
    assert np.allclose(view.transform(hidden), view.transform(filled))
    local = LGMLVQ(missing="partial").fit(hidden, y)
    assert np.allclose(np.linalg.norm(local.local_transform(hidden), axis=2), -local.decision_function(hidden))
    hidden[3] = np.nan
    with pytest.raises(ValueError, match="1 samples of X have no known value"):
        view.predict(hidden)
    assert np.allclose(view.explain(X[:2]).contributions.sum(axis=1), view.margins(X[:2], y[:2]))


def test_mask_without_diagonal(iris):
    X, y = iris
    model = GMLVQ(mask=~np.eye(4, dtype=bool)).fit(X, y)
    assert (np.diag(model.omega_) == 0).all()
    assert model.score(X, y) > 0.9


def test_missing_values_are_left_out(wine):
    X, y = wine
    hidden = X.copy()
    hidden[np.random.default_rng(0).random(X.shape) < 0.2] = np.nan
    for model in (GLVQ(), GRLVQ(), GMLVQ(), LGMLVQ(), LLiRaMLVQ(), LVQ1(), LVQ21()):
        model = clone(model).set_params(missing="partial", random_state=0).fit(hidden, y)
        assert model.score(hidden, y) > 0.9
        full = clone(model).fit(X, y)
        assert np.array_equal(full.predict(X), clone(model).set_params(missing="error").fit(X, y).predict(X))


def test_partial_distances_by_their_definition(wine):
    X, y = wine
    model = GMLVQ(missing="partial").fit(X, y)
    x = X[:1].copy()
    x[0, [2, 5]] = np.nan
    F = np.nan_to_num(x - model.prototypes_)
    assert np.allclose(model.decision_function(x), -np.linalg.norm(F @ model.omega_.T, axis=1))


def test_works_with_the_tools_of_scikit_learn(wine):
    X, y = wine
    pipeline = make_pipeline(StandardScaler(), GMLVQ(max_iter=10))
    grid = {"gmlvq__n_components": [1, 2], "gmlvq__solver": ["lbfgs", SGD(0.02)]}
    search = GridSearchCV(pipeline, grid, cv=3).fit(X, y)
    assert search.best_score_ > 0.9
    calibrated = CalibratedClassifierCV(GMLVQ(max_iter=10), cv=3).fit(X, y)
    assert calibrated.score(X, y) > 0.95
    frame = load_iris(as_frame=True)
    view = GMLVQ(n_components=2).set_output(transform="pandas").fit(frame.data, frame.target)
    assert list(view.transform(frame.data).columns) == ["gmlvq0", "gmlvq1"]


def test_single_precision_predictions_agree(wine):
    X, y = wine
    for model in (GMLVQ(), GRLVQ(), LGMLVQ(n_components=2)):
        model = clone(model).fit(X, y)
        shallow = X.astype(np.float32)
        assert np.array_equal(model.predict(shallow), model.predict(X))
    assert GMLVQ().fit(X, y).transform(X.astype(np.float32)).dtype == np.float32


def test_far_from_the_origin_predictions_stay_right(wine):
    X, y = wine
    model = GMLVQ().fit(X, y)
    far = clone(model).fit(X + 1e6, y)
    assert np.array_equal(far.predict(X + 1e6), model.predict(X))
    shallow = (X + 1e6).astype(np.float32)  # with few digits left, which all count
    assert np.array_equal(far.predict(shallow), far.predict(shallow.astype(np.float64)))


def test_probabilities_follow_from_temperature_and_distances(wine):
    X, y = wine
    model = GMLVQ(2, random_state=0).fit(X, y)
    near = model.distances(X).reshape(len(X), 3, 2).min(axis=2)
    shares = np.exp(-np.sqrt(near) / model.temperature_)
    np.testing.assert_allclose(model.predict_proba(X), shares / shares.sum(axis=1, keepdims=True), atol=1e-12)


def test_cigars_as_in_the_report():
    """Biehl et al. 2006, table 1a, within the bands of a careful replication, on three data sets."""
    bands = {"GLVQ": (0.70, 0.77), "GMLVQ": (0.76, 0.81), "LGRLVQ": (0.77, 0.83), "LGMLVQ": (0.88, 0.94)}
    for model in (GLVQ(), GMLVQ(regularization=0.0), LGRLVQ(), LGMLVQ(regularization=0.0)):
        scores = []
        for seed in range(3):
            X, y = make_cigars(300, random_state=seed)
            model = clone(model).set_params(squashing="identity")
            scores.append(model.fit(X, y).score(*make_cigars(600, random_state=100 + seed)))
        low, high = bands[type(model).__name__]
        assert low < np.mean(scores) < high


def test_local_matrices_find_the_narrow_axes_of_the_cigars():
    X, y = make_cigars(600, random_state=0)
    first, second = LGMLVQ(regularization=0.0).fit(X, y).relevance_matrix_
    assert first[0, 1] < -0.4
    assert second[0, 1] > 0.3


BAD = {
    "one class": (GMLVQ(), lambda X, y: (X, np.zeros(len(X))), "at least 2 classes, but y has one class only"),
    "too few samples": (GLVQ(60), lambda X, y: (X, y), "has 50 samples, fewer than its 60 prototypes"),
    "rank": (GMLVQ(n_components=5), lambda X, y: (X, y), r"n_components=5 must be an integer in \[1, 4\]"),
    "nan": (GMLVQ(), lambda X, y: (np.where(X > 7, np.nan, X), y), "contains NaN"),
    "empty sample": (
        GMLVQ(missing="partial"),
        lambda X, y: (np.where(np.arange(150)[:, None] == 7, np.nan, X), y),
        "1 samples of X have no known value .the first is row 7",
    ),
    "squashing": (GLVQ(squashing="step"), lambda X, y: (X, y), "squashing='step' must be one of"),
    "slope": (GLVQ(slope=(1, 2, 3)), lambda X, y: (X, y), "must be a number, or a pair"),
    "negative slope": (GLVQ(slope=-1), lambda X, y: (X, y), "slope=-1"),
    "missing": (GLVQ(missing="drop"), lambda X, y: (X, y), "missing='drop'"),
    "init": (GLVQ(init=np.zeros((2, 4))), lambda X, y: (X, y), r"init has shape \(2, 4\); expected .* \(3, 4\)"),
    "metric init": (GMLVQ(metric_init=np.eye(3)), lambda X, y: (X, y), r"metric_init has shape \(3, 3\)"),
    "dict": (GLVQ({0: 1, 1: 1}), lambda X, y: (X, y), "are missing"),
    "unknown class": (GLVQ({0: 1, 1: 1, 2: 1, 3: 1}), lambda X, y: (X, y), "are unknown"),
    "zero prototypes": (GLVQ(0), lambda X, y: (X, y), "must be an integer of 1 or more"),
    "metric": (GLVQ(metric="cosine"), lambda X, y: (X, y), "metric='cosine'"),
    "localization": (LGMLVQ(localization="sample"), lambda X, y: (X, y), "localization='sample'"),
    "mask": (GMLVQ(mask=np.ones((2, 2))), lambda X, y: (X, y), r"mask has shape \(2, 2\); expected \(4, 4\)"),
    "symmetric": (GMLVQ(symmetric=True, n_components=2), lambda X, y: (X, y), "must be square"),
    "reject": (GLVQ(reject_threshold=0.1, reject_label="none"), lambda X, y: (X, y), "reject_label='none'"),
    "early stopping": (GLVQ(early_stopping="test"), lambda X, y: (X, y), "early_stopping='test'"),
    "huge": (GLVQ(), lambda X, y: (X * 1e160, y), "squares are too large"),
    "negative band": (GMLVQ(mask=-1), lambda X, y: (X, y), "mask=-1 must be an integer"),
    "empty mask": (GMLVQ(mask=np.zeros((4, 4))), lambda X, y: (X, y), "mask allows no entry"),
    "lopsided mask": (
        GMLVQ(mask=np.triu(np.ones((4, 4))), symmetric=True),
        lambda X, y: (X, y),
        "requires a symmetric mask",
    ),
    "no matrix": (GMLVQ(metric_init=np.zeros((4, 4))), lambda X, y: (X, y), "not all zero"),
    "negative class weight": (GMLVQ(class_weight={0: -1}), lambda X, y: (X, y), "negative values"),
    "class as reject label": (
        GLVQ(reject_threshold=0.1, reject_label=1),
        lambda X, y: (X, y),
        "reject_label=1 is one of the classes",
    ),
    "too few to hold out": (
        GLVQ(early_stopping=True),
        lambda X, y: (X[::10], y[::10]),
        "Too few samples to hold out validation_fraction=0.1 of 15",
    ),
    "too few left": (
        GLVQ(10, early_stopping=True, validation_fraction=0.3, random_state=0),
        lambda X, y: (X[::5], y[::5]),
        "fewer than its 10 prototypes",
    ),
    "window": (LVQ21(window=2), lambda X, y: (X, y), "window=2"),
    "half an epoch": (LVQ1(max_iter=1.5), lambda X, y: (X, y), "max_iter=1.5"),
}


@pytest.mark.parametrize("case", sorted(BAD))
def test_bad_input_gets_a_clear_error(case, iris):
    model, spoil, message = BAD[case]
    X, y = spoil(*iris)
    with pytest.raises(ValueError, match=message):
        model.fit(X, y)


def test_partial_fit_needs_the_classes(iris):
    X, y = iris
    with pytest.raises(ValueError, match="partial_fit needs classes"):
        GLVQ().partial_fit(X, y)
    model = GLVQ().partial_fit(X, y, classes=[0, 1, 2])
    with pytest.raises(ValueError, match=r"\[.*3.*\], which are not among the classes"):
        model.partial_fit(X[:1], [3])


def test_warm_start_needs_the_same_classes(iris):
    X, y = iris
    model = GLVQ(warm_start=True).fit(X, y)
    with pytest.raises(ValueError, match="warm_start needs the classes of the last fit"):
        model.fit(X[:100], y[:100])


def test_constant_features_are_no_problem(iris):
    X, y = iris
    flat = np.column_stack([X, np.full(len(X), 3.0)])
    for model in COSTED:
        assert clone(model).fit(flat, y).score(flat, y) > 0.9


def test_all_samples_equal():
    X, y = np.ones((10, 3)), np.repeat([0, 1], 5)
    for model in ALL:
        fitted = clone(model).fit(X, y)
        assert np.isfinite(fitted.prototypes_).all()
        assert np.isfinite(fitted.predict_proba(X)).all()


def test_divergence_is_an_error(wine):
    X, y = wine
    with pytest.raises(ValueError, match="Training diverged"):
        GMLVQ(solver=SGD(1e300, 1e300), max_iter=3, random_state=0).fit(X, y)


def test_matrix_starts():
    rng = np.random.RandomState(0)
    omega = MatrixMetric(2, start_at="random").start(3, np.arange(2), rng)[0]
    assert omega.shape == (1, 2, 3)
    assert np.linalg.norm(omega) == pytest.approx(1.0)
    assert np.allclose(MatrixMetric(2).start(3, np.arange(2), rng)[0][0], np.eye(2, 3) / np.sqrt(2))


def test_discriminative_start_beats_random_start(wine):
    X, y = wine
    settings = {"n_components": 1, "max_iter": 1}
    good = GMLVQ(metric_init="discriminative", **settings).fit(X, y).score(X, y)
    poor = GMLVQ(metric_init="random", random_state=0, **settings).fit(X, y).score(X, y)
    assert good > poor + 0.1
