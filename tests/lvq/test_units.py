"""Prototypes, explanations and counterfactuals behind pipelines, in the columns and units of the table."""

import warnings
from functools import cache
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.compose import ColumnTransformer, make_column_selector, make_column_transformer
from sklearn.decomposition import PCA, KernelPCA
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import VarianceThreshold
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)

from protolearn import GLVQ, GMLVQ, GRLVQ, LGMLVQ
from protolearn.deployment import load, save
from protolearn.lvq import Category, Number, Unused, counterfactual, explain, prototypes_in_units, table_of

pd = pytest.importorskip("pandas")

NUMBERS, CATEGORIES = ["age", "pressure", "visits"], ["smoker", "ward"]


def make_table(n=250, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "ward": rng.choice(["A", "B"], n),
            "age": rng.integers(20, 80, n),
            "code": np.arange(n),
            "smoker": rng.choice(["never", "former", "now"], n),
            "pressure": rng.normal(130.0, 15.0, n),
            "visits": rng.integers(0, 8, n),
        }
    )
    risk = 0.05 * (X.age - 50) + 0.06 * (X.pressure - 130) + 1.5 * (X.smoker == "now") - 0.4 * (X.visits - 4)
    return X, np.where(risk + 0.4 * rng.normal(size=n) > 0.4, "high", "low")


X, Y = make_table()
ONE_HOT = OneHotEncoder(sparse_output=False)
STEPS = {
    "plain": [make_column_transformer((StandardScaler(), NUMBERS), (ONE_HOT, CATEGORIES))],
    "frames": [
        make_column_transformer((StandardScaler(), NUMBERS), (ONE_HOT, CATEGORIES)).set_output(transform="pandas")
    ],
    "scaled after": [make_column_transformer((ONE_HOT, CATEGORIES), ("passthrough", NUMBERS)), StandardScaler()],
    "nested": [
        ColumnTransformer(
            [
                ("words", make_pipeline(SimpleImputer(strategy="most_frequent"), clone(ONE_HOT)), [3, 0]),
                ("numbers", make_pipeline(SimpleImputer(), RobustScaler(), MinMaxScaler()), slice("pressure", None)),
                ("years", FunctionTransformer(np.log, np.exp), [1]),
            ],
        ),
        "passthrough",
    ],
    "dropped and ordinal": [
        make_column_transformer(
            (OneHotEncoder(drop="first", sparse_output=False), ["smoker"]),
            (OrdinalEncoder(), ["ward"]),
            ("drop", ["code"]),
            remainder=StandardScaler(),
        ),
        VarianceThreshold(),
    ],
    "selected by type": [
        make_column_transformer(
            (ONE_HOT, make_column_selector(dtype_exclude="number")),
            (StandardScaler(), make_column_selector("age|pressure|visits")),
        )
    ],
}
MODELS = {"GMLVQ": GMLVQ(), "LGMLVQ": LGMLVQ(random_state=0, max_iter=20)}
PAIRS = list(product(STEPS, MODELS))


@cache
def fitted(steps, model):
    return clone(make_pipeline(*STEPS[steps], MODELS[model])).fit(X, Y)


@pytest.fixture(params=PAIRS, ids=" ".join)
def pipeline(request):
    return fitted(*request.param)


def test_table_makes_of_each_feature_what_the_pipeline_makes(pipeline):
    """Each column of the classifier comes from one feature, by the way that the table says."""
    table = table_of(pipeline)
    assert list(table.names) == list(X.columns)
    made = np.full(np.shape(pipeline[:-1].transform(X)), np.nan)
    for name, feature in zip(table.names, table.features):
        assert np.isnan(made[:, feature.columns]).all()
        if isinstance(feature, Number):
            made[:, feature.columns[0]] = feature.forward(X[name].to_numpy(float))
            assert np.allclose(feature.back(made[:, feature.columns[0]]), X[name])
        elif isinstance(feature, Category):
            made[:, feature.columns] = feature.rows[np.searchsorted(feature.categories.astype(str), X[name])]
        else:
            assert isinstance(feature, Unused)
            assert name == "code"
    assert np.allclose(made, np.asarray(pipeline[:-1].transform(X), float))


def test_table_of_a_bare_classifier():
    numbers = X[NUMBERS]
    table = table_of(GMLVQ(max_iter=2).fit(numbers, Y))
    assert list(table.names) == NUMBERS
    assert [feature.columns.tolist() for feature in table.features] == [[0], [1], [2]]


def test_prototypes_have_the_columns_of_the_table(pipeline):
    prototypes = prototypes_in_units(pipeline)
    assert prototypes.shape == (2, 6)
    named = dict(zip(X.columns, prototypes.T))
    assert set(named["ward"]) <= {"A", "B"}
    assert set(named["smoker"]) <= {"never", "former", "now"}
    assert np.isnan(named["code"].astype(float)).all()
    high, low = (list(pipeline[-1].prototype_labels_).index(label) for label in ("high", "low"))
    assert 90 < named["pressure"][low] < named["pressure"][high] < 170
    assert 20 < named["age"][low] < named["age"][high] < 90
    again = np.asarray(pipeline[:-1].transform(pd.DataFrame(prototypes, columns=X.columns).infer_objects()))
    numbers = [len(np.unique(column)) > 3 for column in np.asarray(pipeline[:-1].transform(X)).T]
    assert np.allclose(again[:, numbers], pipeline[-1].prototypes_[:, numbers])


def test_contributions_of_the_features_of_the_table(pipeline):
    explanation = explain(pipeline, X[:20])
    plain = pipeline[-1].explain(pipeline[:-1].transform(X[:20]))
    assert list(explanation.feature_names) == list(X.columns)
    assert np.allclose(explanation.contributions.sum(axis=1), plain.contributions.sum(axis=1))
    assert (explanation.contributions[:, X.columns.get_loc("code")] == 0).all()
    assert np.array_equal(explanation.classes, pipeline.predict(X[:20]))
    assert "smoker" in explanation.table(n_features=6)


@settings(max_examples=16, deadline=None)
@given(st.data())
def test_counterfactuals_obey_in_the_units_of_the_table(data):
    pipeline = fitted(*data.draw(st.sampled_from(PAIRS)))
    sample = X[(row := data.draw(st.integers(0, len(X) - 1))) : row + 1]
    before = sample.iloc[0]
    fixed = data.draw(st.lists(st.sampled_from(["age", "ward", "smoker"]), unique=True))
    bounds = {"pressure": (before.pressure - 20.0, before.pressure + data.draw(st.floats(0.0, 30.0))), "visits": (0, 7)}
    if data.draw(st.booleans()):
        bounds["smoker"] = [before.smoker, "never"]
    rising = data.draw(st.sampled_from([[], ["age"], ["visits"]]))
    sparse, margin = data.draw(st.booleans()), data.draw(st.sampled_from([0.0, 0.1]))
    found = counterfactual(
        pipeline,
        sample,
        fixed=fixed,
        bounds=bounds,
        increasing=rising,
        integers=["age", "visits"],
        sparse=sparse,
        margin=margin,
    )
    after = found.samples.iloc[0]
    for name in ["code", *fixed]:
        assert after[name] == before[name]
    assert bounds["pressure"][0] <= after.pressure <= bounds["pressure"][1]
    assert 0 <= after.visits <= 7
    assert after.smoker in bounds.get("smoker", ["never", "former", "now"])
    assert after.age == round(after.age)
    assert all(after[name] >= before[name] for name in rising)
    assert list(found.samples.dtypes) == list(X.dtypes)
    assert np.array_equal(pipeline.predict(found.samples), found.classes)
    assert found.found[0] == (found.classes[0] != pipeline.predict(sample)[0])
    assert not found.found[0] or pipeline[-1].confidence(pipeline[:-1].transform(found.samples))[0] >= margin
    changed = [name for name in X.columns if after[name] != before[name]]
    assert changed == list(X.columns[found.changes[0] != 0])


@pytest.mark.parametrize("sparse", [False, True])
def test_categories_by_enumeration(sparse):
    pipeline = fitted("plain", "GMLVQ")
    asked = {"fixed": ["age", "pressure"], "bounds": {"visits": (0, 7)}, "integers": ["visits"], "sparse": sparse}
    omega = pipeline[-1].omega_
    for row in range(0, 60, 12):
        sample = X[row : row + 1]
        every = pd.concat([sample] * 48, ignore_index=True)
        choices = [
            (ward, smoker, visits) for ward in "AB" for smoker in ("never", "former", "now") for visits in range(8)
        ]
        every[["ward", "smoker", "visits"]] = pd.DataFrame(choices)
        ok = every[pipeline.predict(every) != pipeline.predict(sample)[0]]
        found = counterfactual(pipeline, sample, **asked)
        assert found.proven[0]
        assert found.found[0] == (len(ok) > 0)
        if len(ok):
            ways = (pipeline[:-1].transform(ok) - pipeline[:-1].transform(sample)) @ omega.T
            lengths, counts = (ways**2).sum(axis=1), (ok != sample.iloc[0]).sum(axis=1).to_numpy()
            best = lengths[counts == counts.min()].min() if sparse else lengths.min()
            assert found.distances[0] == pytest.approx(best, rel=1e-6)


def test_missing_values_stay_missing():
    holes = X.copy()
    holes.loc[::7, "pressure"] = np.nan
    holes.loc[::5, "smoker"] = None
    pipeline = make_pipeline(
        make_column_transformer(
            (make_pipeline(SimpleImputer(), StandardScaler()), NUMBERS),
            (make_pipeline(SimpleImputer(strategy="most_frequent"), clone(ONE_HOT)), CATEGORIES),
        ),
        GMLVQ(),
    ).fit(holes, Y)
    found = counterfactual(pipeline, holes[:8])
    assert found.samples.isna().equals(holes[:8].isna())
    assert (pipeline.predict(found.samples) != pipeline.predict(holes[:8])).all()
    partial = make_pipeline(
        make_column_transformer((StandardScaler(), NUMBERS), (clone(ONE_HOT), ["ward"])), GMLVQ(missing="partial")
    ).fit(holes, Y)
    found = counterfactual(partial, holes[:8])
    assert found.samples.isna().equals(holes[:8].isna())
    assert (partial.predict(found.samples) != partial.predict(holes[:8])).all()


def test_arrays_without_names(wine):
    samples, y = wine
    samples = samples * 7 + 3
    pipeline = make_pipeline(StandardScaler(), GRLVQ()).fit(samples, y)
    found = counterfactual(pipeline, samples[:5], fixed=[0], bounds={1: (-50, 50)}, sparse=True)
    assert found.samples.dtype == np.float64
    assert (pipeline.predict(found.samples) != pipeline.predict(samples[:5])).all()
    assert np.array_equal(found.samples[:, 0], samples[:5, 0])
    assert list(explain(pipeline, samples[:2]).feature_names) == [f"x{i}" for i in range(13)]
    mixed = X.to_numpy(dtype=object)
    columns = ColumnTransformer([("words", clone(ONE_HOT), [0, 3]), ("numbers", StandardScaler(), [1, 4, 5])])
    pipeline = make_pipeline(columns, GMLVQ()).fit(mixed, Y)
    found = counterfactual(pipeline, mixed[:5], sparse=True)
    assert found.samples.dtype == object
    assert (pipeline.predict(found.samples) != pipeline.predict(mixed[:5])).all()


def test_classifiers_without_other_steps(iris):
    samples, y = iris
    model = GMLVQ().fit(samples, y)
    alone = make_pipeline(model)
    for one in (model, alone):
        assert np.array_equal(prototypes_in_units(one), model.prototypes_)
        assert np.array_equal(explain(one, samples).contributions, model.explain(samples).contributions)
        assert np.array_equal(counterfactual(one, samples[:3]).samples, model.counterfactual(samples[:3]).samples)


def test_the_best_model_of_a_search(iris):
    samples, y = iris
    pipeline = make_pipeline(StandardScaler(), GMLVQ(max_iter=20))
    search = GridSearchCV(pipeline, {"gmlvq__n_components": [1, 2]}, cv=2).fit(samples, y)
    best = search.best_estimator_
    assert np.array_equal(prototypes_in_units(search), prototypes_in_units(best))
    assert np.array_equal(explain(search, samples).contributions, explain(best, samples).contributions)
    assert np.array_equal(counterfactual(search, samples[:3]).samples, counterfactual(best, samples[:3]).samples)


@pytest.mark.parametrize("wanted", [explain, counterfactual])
def test_classifiers_that_cannot_explain(wanted, iris):
    samples, y = iris
    for model in (LogisticRegression(), make_pipeline(StandardScaler(), LogisticRegression())):
        with pytest.raises(
            TypeError, match=f"{wanted.__name__} is not available for LogisticRegression.*such as GMLVQ"
        ):
            wanted(model.fit(samples, y), samples)
    with pytest.raises(NotFittedError):
        wanted(make_pipeline(StandardScaler(), GMLVQ()), samples)


def test_groups_and_booleans_of_a_table():
    frame = pd.get_dummies(X[["smoker"]]).join(X[["age", "pressure"]]).join(pd.Series(X.ward == "A", name="near"))
    names = list(frame.columns[:3])
    frame[names] = frame[names].astype(float)
    pipeline = make_pipeline(StandardScaler(), GMLVQ()).fit(frame, Y)
    found = counterfactual(
        pipeline, frame[:30], fixed=["age"], groups=[names], bounds={"pressure": (80, 190)}, sparse=True
    )
    assert (found.samples[names].sum(axis=1) == 1).all()
    assert found.samples[names].isin([0, 1]).all().all()
    assert found.samples.dtypes["near"].kind == "b"
    assert (pipeline.predict(found.samples) != pipeline.predict(frame[:30]))[found.found].all()


SCALERS = {
    "standard": StandardScaler(),
    "robust": RobustScaler(),
    "range": MinMaxScaler((-1, 1)),
    "quantiles": QuantileTransformer(n_quantiles=50),
    "power": PowerTransformer(),
    "logarithm": FunctionTransformer(np.log, np.exp),
    "turned": FunctionTransformer(np.negative, np.negative),
}


@pytest.fixture(scope="module")
def ages():
    """Ages from 19 to 75, and a risk that grows with age and pressure."""
    rng = np.random.default_rng(0)
    age = np.append(rng.integers(19, 76, 298), [19, 75])
    pressure = np.round(rng.normal(110 + 0.4 * age, 15), 1)
    score = rng.normal(5.0, 1.0, 300)
    ill = 0.05 * age + 0.05 * pressure + score + rng.normal(0, 1.5, 300)
    return pd.DataFrame({"age": age, "pressure": pressure, "score": score}), np.where(
        ill > np.median(ill), "ill", "well"
    )


@pytest.mark.parametrize("scaler", SCALERS.values(), ids=SCALERS)
@pytest.mark.parametrize("sparse", [False, True])
def test_changes_stay_within_the_training_samples(scaler, sparse, ages):
    frame, y = ages
    pipeline = make_pipeline(clone(scaler), GMLVQ(random_state=0, max_iter=20)).fit(frame, y)
    some, asked = frame[:20], {"integers": ["age"], "sparse": sparse, "margin": 0.4}
    found = counterfactual(pipeline, some, **asked)
    assert found.found.any()
    assert found.samples.age.between(19, 75).all()
    assert found.samples.age.dtype == frame.age.dtype
    assert ((frame.min() * (1 - 1e-12) <= found.samples) & (found.samples <= frame.max() * (1 + 1e-12))).all(axis=None)
    bounds = {name: (frame[name].min(), frame[name].max()) for name in frame}
    explicit = counterfactual(pipeline, some, bounds=bounds, **asked)
    assert np.array_equal(found.found, explicit.found)
    assert np.allclose(found.samples, explicit.samples)
    older = some.assign(age=80)
    assert counterfactual(pipeline, older, **asked).samples.age.between(19, 80).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_first_and_the_last_age_can_be_reached(dtype):
    X = np.arange(19.0, 76.0, dtype=dtype)[:, None]
    for scaler in SCALERS.values():
        pipeline = make_pipeline(clone(scaler), GLVQ(random_state=0)).fit(X, np.where(X[:, 0] == 19, "young", "old"))
        pipeline[-1].prototypes_ = pipeline[0].transform([[38.9], [19.0]])[:, :1].astype(float)
        pipeline[-1].prototypes_[1] = 2 * pipeline[0].transform([[19.4]])[0] - pipeline[-1].prototypes_[0]
        found = counterfactual(pipeline, X[5:8], integers=[0])
        assert found.samples.tolist() == [[19.0]] * 3


@pytest.mark.parametrize("bounds", [None, {}, {"age": (None, None), "pressure": (0, None), "score": (None, None)}])
def test_without_bounds_changes_leave_the_training_samples(bounds, ages):
    frame, y = ages
    pipeline = make_pipeline(StandardScaler(), GMLVQ(random_state=0, max_iter=20)).fit(frame, y)
    found = counterfactual(pipeline, frame[:40], fixed=["score", "pressure"], bounds=bounds)
    assert found.found.all() == (bounds != {})
    assert found.samples.age.between(19, 75).all() == (bounds == {})


def test_mixed_features_have_no_known_ranges(ages):
    frame, y = ages
    pipeline = make_pipeline(StandardScaler(), PCA(2), GMLVQ(random_state=0, max_iter=20)).fit(frame, y)
    with pytest.warns(UserWarning, match="not limited to the ranges of the training samples.* mixes features"):
        found = counterfactual(pipeline, frame[:3])
    bounds = dict.fromkeys(frame, (None, None))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for given in (None, bounds):
            assert np.array_equal(counterfactual(pipeline, frame[:3], bounds=given).samples, found.samples)


def test_stored_models_know_the_ranges(ages, tmp_path):
    frame, y = ages
    pipeline = make_pipeline(StandardScaler(), GMLVQ(random_state=0, max_iter=20)).fit(frame, y)
    save(pipeline, tmp_path / "ages.skops")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = counterfactual(load(tmp_path / "ages.skops"), frame[:3])
    assert np.array_equal(again.samples, counterfactual(pipeline, frame[:3]).samples)


def test_a_category_that_is_not_allowed_does_not_concern_others():
    some = X[:12]
    found = counterfactual(fitted("plain", "GMLVQ"), some, bounds={"smoker": ["former", "now"]})
    excluded = (some.smoker == "never").to_numpy()
    assert 0 < excluded.sum() < 12
    assert not found.found[excluded].any()
    assert all("has smoker='never', which is not among the bounds" in text for text in found.messages[excluded])
    assert found.found[~excluded].any()


def test_rare_and_unknown_categories():
    frame = X.assign(smoker=X.smoker.where(X.index > 3, "pipe"))
    encoder = OneHotEncoder(min_frequency=10, handle_unknown="infrequent_if_exist", sparse_output=False)
    pipeline = make_pipeline(make_column_transformer((encoder, ["smoker"]), (StandardScaler(), ["age"])), GMLVQ())
    pipeline.fit(frame, Y)
    new = frame[:4].assign(smoker="cigar")
    assert counterfactual(pipeline, new, fixed=["smoker"]).samples.smoker.tolist() == ["cigar"] * 4
    found = counterfactual(pipeline, new)
    assert (pipeline.predict(found.samples) != pipeline.predict(new)).all()


def test_no_category_is_exchanged_for_none():
    frame = X[["smoker"]].assign(smoker=X.smoker.astype(object).where(X.smoker != "never", None))
    pipeline = make_pipeline(make_column_transformer((clone(ONE_HOT), ["smoker"])), GMLVQ())
    pipeline.fit(frame, np.where(X.smoker == "never", "low", "high"))
    found = counterfactual(pipeline, frame[X.smoker == "now"][:3])
    assert not found.found.any()
    assert found.proven.all()
    with pytest.raises(NotFittedError):
        explain(clone(pipeline), frame)


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        (
            [KernelPCA(2, kernel="rbf", fit_inverse_transform=True)],
            r"Step 'kernelpca' \(KernelPCA\) of the pipeline mixes",
        ),
        ([Normalizer()], "Step 'normalizer' of the pipeline has no inverse_transform"),
        ([FunctionTransformer(np.exp)], "has no inverse_func"),
        ([SimpleImputer(add_indicator=True)], "Step 'simpleimputer' adds or drops columns"),
        ([StandardScaler(), OneHotEncoder(sparse_output=False)], "encodes the output of an earlier step"),
    ],
)
def test_steps_without_units(steps, message, iris):
    samples, y = iris
    samples = samples.round()
    if "adds" in message:
        samples[0, 0] = np.nan
    pipeline = make_pipeline(*steps, GMLVQ(max_iter=2)).fit(samples, y)
    with pytest.raises(ValueError, match=message):
        table_of(pipeline)
    with pytest.warns(UserWarning, match=f"{message}.*The result is in the input columns of GMLVQ"):
        explanation = explain(pipeline, samples[:5])
    plain = pipeline[-1].explain(pipeline[:-1].transform(samples[:5]))
    assert np.array_equal(explanation.contributions, plain.contributions)
    if "inverse_func" not in message:  # a function does not tell the names of what it makes
        assert list(explanation.feature_names) == list(pipeline[:-1].get_feature_names_out())


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"increasing": ["smoker"]}, "increasing has smoker, which is categorical"),
        ({"bounds": {"smoker": ["pipe"]}}, "bounds of smoker have 'pipe', which is not one of its categories"),
        ({"fixed": ["sex"]}, "fixed contains 'sex', which is not a feature. There are 6 features: ward, age"),
        ({"groups": [["code", "age"]]}, "the classifier does not use"),
    ],
)
def test_requests_that_make_no_sense(asked, message):
    with pytest.raises(ValueError, match=message):
        counterfactual(fitted("plain", "GMLVQ"), X[X.smoker != "former"][:1], **asked)


def test_features_are_converted_together_as_one_by_one():
    pipeline = make_pipeline(
        ColumnTransformer(
            [
                ("a", make_pipeline(SimpleImputer(), StandardScaler(), MinMaxScaler()), ["pressure", "age"]),
                ("b", PowerTransformer(), ["visits"]),
                ("c", clone(ONE_HOT), ["smoker"]),
            ]
        ),
        GMLVQ(max_iter=2),
    ).fit(X, Y)
    table = table_of(pipeline)
    numbers = [i for i, feature in enumerate(table.features) if isinstance(feature, Number)]
    values = np.random.default_rng(0).normal(50.0, 5.0, (3, len(table.names)))
    values[:, list(table.names).index("visits")] = [1.0, 2.0, 3.0]
    made = table.converted(values)
    back = table.converted(made, back=True)
    assert [str(table.names[i]) for i in numbers] == ["age", "pressure", "visits"]
    for i in numbers:
        assert np.array_equal(made[:, i], table.features[i].forward(values[:, i]))
        assert np.array_equal(back[:, i], table.features[i].back(made[:, i]))
    assert np.allclose(back[:, numbers], values[:, numbers])


def test_steps_are_applied_to_all_columns_at_once(monkeypatch):
    """The time grows with the number of features, and not with its square."""
    rng = np.random.default_rng(0)
    calls = []
    for d in (20, 40):
        samples = rng.normal(size=(60, d))
        pipeline = make_pipeline(StandardScaler(), GRLVQ(max_iter=2)).fit(samples, np.arange(60) % 2)
        scaler, count = pipeline[0], []
        for name in ("transform", "inverse_transform"):
            method = getattr(scaler, name)
            monkeypatch.setattr(scaler, name, lambda X, m=method, c=count: (c.append(1), m(X))[1])
        counterfactual(pipeline, samples[:1])
        calls.append(len(count))
    assert calls[0] == calls[1]
