"""Relevances over the splits of a cross-validation, and as scikit-learn's feature importances."""

from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import spearmanr
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_breast_cancer, load_wine, make_classification
from sklearn.feature_selection import RFE, SelectFromModel
from sklearn.metrics import balanced_accuracy_score, roc_auc_score
from sklearn.model_selection import GroupKFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler, scale

from protolearn import CIALVQ, GLVQ, GMLVQ, GRLVQ, LGMLVQ, LGRLVQ, LVQ1, LLiRaMLVQ
from protolearn.lvq import RelevanceStability, canonical_matrix, relevance_stability

FEW = {"max_iter": 15}
FOLDS = StratifiedKFold(4, shuffle=True, random_state=0)
WITH_RELEVANCES = [GRLVQ, LGRLVQ, GMLVQ, LGMLVQ, LLiRaMLVQ, LVQ1]


@pytest.fixture(scope="module")
def wine():
    return load_wine(return_X_y=True, as_frame=True)


@pytest.fixture(scope="module")
def pipeline():
    return make_pipeline(StandardScaler(), GMLVQ(**FEW))


@pytest.fixture(scope="module")
def found(pipeline, wine):
    return relevance_stability(pipeline, *wine, cv=FOLDS)


def by_hand(pipeline, X, y):
    """Yield a fitted pipeline, and the samples held out, for each split."""
    for train, test in FOLDS.split(X, y):
        yield clone(pipeline).fit(X.iloc[train], y.iloc[train]), X.iloc[test], y.iloc[test]


def test_splits_are_those_of_the_cross_validation(found, pipeline, wine):
    assert_array_equal(found.classes, [0, 1, 2])
    assert_array_equal(found.feature_names, wine[0].columns)
    for i, (fitted, X, y) in enumerate(by_hand(pipeline, *wine)):
        assert_allclose(found.relevances[i], fitted[-1].relevances_)
        assert_allclose(found.omegas[i], canonical_matrix(fitted[-1].omega_))
        assert found.accuracy[i] == pytest.approx(fitted.score(X, y))
        assert found.balanced_accuracy[i] == pytest.approx(balanced_accuracy_score(y, fitted.predict(X)))
        P = fitted.predict_proba(X)
        assert_allclose(found.auc[i], [roc_auc_score(y == c, P[:, c]) for c in range(3)])
    assert_allclose(found.mean_relevances.sum(), 1.0)
    assert_allclose(found.mean_relevance_matrix().diagonal(), found.mean_relevances)


def test_curve_of_two_classes():
    X, y = load_breast_cancer(return_X_y=True)
    found = relevance_stability(make_pipeline(StandardScaler(), GRLVQ(**FEW)), X[:150, :5], y[:150], cv=3)
    assert found.auc.shape == (3, 1)
    assert found.true_positive_rates.shape == (3, 1, 101)
    assert (np.diff(found.true_positive_rates) >= 0).all()
    assert (found.true_positive_rates[..., 0] == 0).all()
    assert (found.true_positive_rates[..., -1] == 1).all()
    trapezoids = np.trapezoid(found.true_positive_rates, found.false_positive_rates)
    assert_allclose(trapezoids, found.auc, atol=0.02)
    assert found.omegas == ()
    with pytest.raises(ValueError, match="learns no matrix"):
        found.mean_relevance_matrix()


def test_ranks_agree_with_brute_force(found):
    pairs = list(combinations(range(4), 2))
    assert found.rank_correlation == pytest.approx(
        np.mean([spearmanr(found.relevances[a], found.relevances[b])[0] for a, b in pairs])
    )
    assert found.n_top == 4  # a third of 13
    tops = [set(np.argsort(-each)[:4]) for each in found.relevances]
    overlaps = [(len(tops[a] & tops[b]) * 13 - 16) / (4 * 9) for a, b in pairs]
    assert found.kuncheva_index == pytest.approx(np.mean(overlaps))
    assert_allclose(found.top_share, [np.mean([i in top for top in tops]) for i in range(13)])
    assert_array_equal(found.ranks.argmin(axis=1), found.relevances.argmax(axis=1))


def stability(relevances, n_top):
    n, N = np.shape(relevances)
    ones = np.ones(n)
    names = np.array([f"x{i}" for i in range(N)])
    curves = np.zeros((n, 1, 2))
    values = np.asarray(relevances, float)
    return RelevanceStability(
        names, np.arange(2), values, (), ones, ones, ones[:, None], np.arange(2.0), curves, n_top, 0.9
    )


def test_indices_at_their_ends():
    rng = np.random.default_rng(0)
    same = np.tile(rng.random(10), (5, 1))
    assert stability(same, 3).rank_correlation == pytest.approx(1.0)
    assert stability(same, 3).kuncheva_index == pytest.approx(1.0)
    chance = stability(rng.random((200, 10)), 3)
    assert abs(chance.rank_correlation) < 0.02
    assert abs(chance.kuncheva_index) < 0.02
    assert np.isnan(stability(same, 10).kuncheva_index)
    assert np.isnan(stability(np.ones((3, 4)), 2).rank_correlation)
    assert stability(same[:1], 3).rank_correlation == 1.0


def test_intervals_are_percentiles_over_the_splits(found):
    low, high = found.interval(found.relevances)
    assert_allclose(low, np.percentile(found.relevances, 2.5, axis=0))
    assert_allclose(high, np.percentile(found.relevances, 97.5, axis=0))
    values = np.array([0.0, 0.5, np.nan, 1.0])
    assert found.interval(values) == (pytest.approx(0.025), pytest.approx(0.975))


def test_the_same_with_any_number_of_jobs(found, pipeline, wine):
    again = relevance_stability(pipeline, *wine, cv=FOLDS, n_jobs=2)
    assert_allclose(again.relevances, found.relevances, rtol=1e-8, atol=1e-12)
    assert_array_equal(again.accuracy, found.accuracy)
    several = GMLVQ(2, random_state=np.random.RandomState(3), **FEW)  # each split starts from a copy of this state
    first, second = (relevance_stability(several, *wine, cv=3, n_jobs=n).relevances for n in (1, 2))
    assert_allclose(first, second, rtol=1e-8, atol=1e-12)


def test_default_splits_are_repeated_and_always_the_same():
    X, y = make_classification(60, 6, random_state=0)
    model = GRLVQ(max_iter=3)
    first, second = (relevance_stability(model, X, y) for _ in range(2))
    assert len(first.relevances) == 25
    assert_array_equal(first.relevances, second.relevances)
    assert first.feature_names.tolist() == [f"x{i}" for i in range(6)]


def test_table_and_frame(found):
    frame = found.to_frame()
    assert (frame["relevance"].diff().dropna() <= 0).all()
    assert (frame["low"] <= frame["relevance"]).all()
    assert (frame["relevance"] <= frame["high"]).all()
    lines = found.table(n_features=3).splitlines()
    assert lines[0].startswith("4 splits; in brackets the middle 95 %")
    assert len(lines) == 10
    assert [line.split("  ")[0].strip() for line in lines[-3:]] == frame.index[:3].tolist()


@pytest.mark.parametrize("model", [LGMLVQ(**FEW), LGRLVQ(**FEW), LLiRaMLVQ(**FEW), GMLVQ(mask=1, **FEW)], ids=repr)
def test_local_and_other_metrics(model, wine):
    found = relevance_stability(make_pipeline(StandardScaler(), model), *wine, cv=2)
    assert_allclose(found.relevances.sum(axis=1), 1.0)
    if found.omegas:
        matrix = found.mean_relevance_matrix()
        assert matrix.shape[-2:] == (13, 13)
        diagonal = np.diagonal(matrix, axis1=-2, axis2=-1)
        assert_allclose(diagonal.reshape(-1, 13).mean(axis=0), found.mean_relevances)


def test_groups_stay_together(wine):
    X, y = wine
    groups = np.arange(len(X)) % 20
    found = relevance_stability(GRLVQ(**FEW), X, y, cv=GroupKFold(3), groups=groups)
    (train, test), *_ = GroupKFold(3).split(X, y, groups)
    alone = GRLVQ(**FEW).fit(X.iloc[train], y.iloc[train])
    assert_allclose(found.relevances[0], alone.relevances_)
    assert found.accuracy[0] == alone.score(X.iloc[test], y.iloc[test])


def test_a_class_that_is_not_held_out_has_no_curve():
    X, y = make_classification(40, 4, random_state=0)
    splits = [(np.arange(40), np.flatnonzero(y == 0)), (np.arange(20), np.arange(20, 40))]
    found = relevance_stability(GRLVQ(**FEW), X, y, cv=splits)
    assert np.isnan(found.auc[0, 0])
    assert not np.isnan(found.auc[1, 0])
    assert "area under the ROC curve" in found.table()


def test_names_of_columns_that_steps_have_made(wine):
    X, y = wine
    X = X.iloc[:, :2].assign(kind=np.where(np.arange(len(X)) % 2, "a", "b"))
    steps = ColumnTransformer([("number", StandardScaler(), ["alcohol"]), ("kind", OneHotEncoder(), ["kind"])])
    found = relevance_stability(make_pipeline(steps, GRLVQ(**FEW)), X, y, cv=3)
    assert found.feature_names.tolist() == ["number__alcohol", "kind__kind_a", "kind__kind_b"]
    X.loc[0, "kind"] = "c"  # in the training part of two splits only
    steps.set_params(kind=OneHotEncoder(handle_unknown="ignore"))
    with pytest.raises(ValueError, match="differ between splits"):
        relevance_stability(make_pipeline(steps, GRLVQ(**FEW)), X, y, cv=3)


def test_refuses_what_has_no_relevances(wine):
    with pytest.raises(ValueError, match="GLVQ learns no relevances"):
        relevance_stability(GLVQ(), *wine, cv=2)
    with pytest.raises(ValueError, match="lack a class"):
        relevance_stability(GRLVQ(**FEW), *wine, cv=[(np.arange(100), [1]), (np.arange(178), [1])])
    with pytest.raises(ValueError, match="level"):
        relevance_stability(GRLVQ(**FEW), *wine, level=1.5)


# Feature importances


@pytest.mark.parametrize("kind", WITH_RELEVANCES)
def test_importances_are_relevances_averaged_over_prototypes(kind, wine):
    X, y = scale(wine[0]), wine[1]
    model = kind({0: 1, 1: 2, 2: 1}, random_state=0)
    assert not hasattr(model, "feature_importances_")
    importances = model.fit(X, y).feature_importances_
    assert importances.shape == (13,)
    assert importances.sum() == pytest.approx(1.0)
    shares = model.relevances_ / model.relevances_.sum(axis=-1, keepdims=True)
    assert_allclose(importances, shares if shares.ndim == 1 else shares.mean(axis=0), atol=1e-12)


def test_a_class_with_more_prototypes_counts_more(wine):
    X, y = scale(wine[0]), wine[1]
    model = LGMLVQ({0: 1, 1: 2, 2: 1}, localization="class", random_state=0, **FEW).fit(X, y)
    shares = model.relevances_ / model.relevances_.sum(axis=1, keepdims=True)
    assert_allclose(model.feature_importances_, shares[[0, 1, 1, 2]].mean(axis=0))


def test_without_relevances_there_are_no_importances(wine):
    assert not hasattr(GLVQ(**FEW).fit(*wine), "feature_importances_")
    patches = np.random.default_rng(0).random((8, 3, 3, 3))
    assert not hasattr(CIALVQ(1, max_iter=2).fit(patches, [0, 1] * 4), "feature_importances_")


@pytest.mark.parametrize("model", [GRLVQ(), LGMLVQ(**FEW)], ids=repr)
def test_selection_of_features_by_scikit_learn(model):
    X, y = make_classification(
        200, 10, n_informative=3, n_redundant=0, n_clusters_per_class=1, shuffle=False, class_sep=2.0, random_state=0
    )
    X = scale(X)
    chosen = SelectFromModel(model, max_features=3, threshold=-np.inf).fit(X, y)
    importances = clone(model).fit(X, y).feature_importances_
    assert_array_equal(np.flatnonzero(chosen.get_support()), np.sort(np.argsort(-importances)[:3]))
    eliminated = RFE(model, n_features_to_select=2).fit(X, y)
    assert eliminated.get_support()[:3].sum() == 2  # both informative
    assert eliminated.estimator_.n_features_in_ == 2
