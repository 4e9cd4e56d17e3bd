"""Pipelines whose steps mix columns, and prototypes with names, units and shares of categories."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.decomposition import NMF, PCA, TruncatedSVD
from sklearn.feature_selection import VarianceThreshold
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    PowerTransformer,
    RobustScaler,
    StandardScaler,
)

from protolearn import GMLVQ, GRLVQ, LGMLVQ, SOM, KMeans, PrototypeClassifier
from protolearn.core.fitted import take_apart, take_map_apart
from protolearn.lvq import counterfactual, explain, prototype_table, prototypes_in_units, table_of

NAMES = ["age", "pressure", "weight", "visits"]


@pytest.fixture(scope="module")
def patients():
    rng = np.random.default_rng(0)
    n = 90
    hidden = rng.normal(size=(n, 2))
    X = pd.DataFrame(
        {
            "age": np.round(50 + 12 * hidden[:, 0]),
            "smoker": rng.choice(["never", "former", "now"], n, p=[0.5, 0.2, 0.3]),
            "pressure": 130 + 10 * hidden[:, 0] + 8 * rng.normal(size=n),
            "weight": 75 + 9 * hidden[:, 1] + 4 * rng.normal(size=n),
            "visits": rng.integers(1, 9, n).astype(float),
        }
    )
    risk = hidden.sum(axis=1) + 0.9 * (X.smoker == "now") + 0.1 * (X.visits - 4)
    return X, np.where(risk > 0.3, "high", "low")


def mixed_columns():
    """Columns that are mixed in one block, scaled in another, encoded, and passed through."""
    white = make_pipeline(SimpleImputer(), StandardScaler(), PCA(2, whiten=True), RobustScaler())
    return make_column_transformer(
        (white, ["age", "pressure", "weight"]),
        (OneHotEncoder(sparse_output=False), ["smoker"]),
        remainder="passthrough",
    )


MIXED = {
    "PCA": [StandardScaler(), PCA(3)],
    "white, scaled after": [RobustScaler(), PCA(2, whiten=True), MinMaxScaler()],
    "SVD of imputed": [SimpleImputer(), PowerTransformer(), TruncatedSVD(2), VarianceThreshold()],
    "all components": [PCA()],
}


@pytest.mark.parametrize(
    "steps",
    [*MIXED.values(), *([step] for step in (StandardScaler(), MinMaxScaler(), RobustScaler(), PowerTransformer()))],
    ids=str,
)
def test_prototypes_are_those_of_the_inverse(steps, patients):
    X, y = patients
    pipeline = make_pipeline(*steps, GRLVQ(random_state=0, max_iter=5)).fit(X[NAMES], y)
    undone = pipeline[-1].prototypes_
    for step in reversed(steps):
        undone = undone if isinstance(step, SimpleImputer) else step.inverse_transform(undone)
    table = prototype_table(pipeline)
    assert np.allclose(table.values, undone)
    assert list(table.feature_names) == NAMES
    assert list(table.labels) == list(pipeline[-1].prototype_labels_)
    assert table.note == ""
    assert list(table.to_frame().columns) == NAMES
    assert np.array_equal(prototypes_in_units(pipeline), table.values)
    again = pipeline[:-1].transform(pd.DataFrame(table.values, columns=NAMES))
    assert np.allclose(again, pipeline[-1].prototypes_)


def test_blocks_of_columns_are_undone_one_by_one(patients):
    X, y = patients
    pipeline = make_pipeline(mixed_columns(), GMLVQ(random_state=0, max_iter=5)).fit(X, y)
    columns, W = pipeline[0], pipeline[-1].prototypes_
    undone = W[:, columns.output_indices_["pipeline"]]
    for step in reversed(columns.named_transformers_["pipeline"][1:]):
        undone = step.inverse_transform(undone)
    frame = prototype_table(pipeline).to_frame()
    assert np.allclose(frame[["age", "pressure", "weight"]], undone)
    assert np.allclose(frame["visits"], W[:, -1])
    codes = np.maximum(W[:, columns.output_indices_["onehotencoder"]], 0.0)
    assert frame["smoker"].tolist() == [["former", "never", "now"][i] for i in codes.argmax(axis=1)]
    assert list(frame.columns) == ["age", "smoker", "smoker share", "pressure", "weight", "visits"]


@pytest.mark.parametrize(
    "encoder", [OneHotEncoder(sparse_output=False), OneHotEncoder(drop="first", sparse_output=False)], ids=str
)
@pytest.mark.parametrize("after", [[], [StandardScaler()], [StandardScaler(), PCA()]], ids=str)
def test_shares_of_categories_are_those_among_the_samples(encoder, after, patients):
    """One prototype is the mean of all samples, and its columns are shares."""
    X, _ = patients
    steps = make_column_transformer((encoder, ["smoker"]), ("passthrough", ["age"]))
    table = prototype_table(make_pipeline(steps, *after, KMeans(1)).fit(X))
    place = list(table.feature_names).index("smoker")
    counts = X.smoker.value_counts(normalize=True)
    assert table.values[0, place] == counts.index[0]
    assert table.shares[0, place] == pytest.approx(counts.iloc[0])
    assert np.isnan(np.delete(table.shares, place, axis=1)).all()
    assert f"{counts.index[0]} ({counts.iloc[0]:.0%})" in str(table)


def test_a_code_of_one_number_has_no_shares(patients):
    X, _ = patients
    pipeline = make_pipeline(OrdinalEncoder(), KMeans(1)).fit(X[["smoker"]])
    table = prototype_table(pipeline)
    nearest = ["former", "never", "now"][round(float(pipeline[-1].prototypes_[0, 0]))]
    assert table.values.tolist() == [[nearest]]
    assert np.isnan(table.shares).all()


def test_prototypes_of_maps_and_other_vectors(patients):
    X, y = patients
    inner = PrototypeClassifier(make_pipeline(StandardScaler(), SOM((2, 3), max_iter=3))).fit(X[NAMES], y)
    assert type(take_map_apart(inner).last) is SOM
    table = prototype_table(inner)
    assert table.values.shape == (6, 4)
    assert X[NAMES].min().min() < table.values.min()
    pipeline = make_pipeline(StandardScaler(), make_pipeline(PCA(2), KMeans(3, random_state=0))).fit(X[NAMES])
    assert type(take_apart(pipeline).last) is KMeans
    moved = pipeline[-1][-1].prototypes_ + np.array([1.0, 0.0])
    step = prototype_table(pipeline, moved).values - prototype_table(pipeline).values
    assert np.allclose(step, pipeline[-1][0].components_[0] * pipeline[0].scale_)


def test_prototypes_behind_a_step_without_an_inverse(patients):
    X, y = patients
    pipeline = make_pipeline(make_column_transformer((NMF(2, max_iter=1000), NAMES)), GRLVQ(max_iter=5)).fit(X, y)
    table = prototype_table(pipeline)
    assert "Step 'nmf' (NMF) of the pipeline mixes columns in a way that is not affine" in table.note
    assert table.note in str(table)
    assert list(table.feature_names) == ["nmf__nmf0", "nmf__nmf1"]
    with pytest.warns(UserWarning, match="The values are in the input columns of GRLVQ"):
        assert np.array_equal(prototypes_in_units(pipeline), pipeline[-1].prototypes_)
    with pytest.warns(UserWarning, match="The result is in the input columns of GRLVQ"):
        found = counterfactual(pipeline, X[:3], fixed=["nmf__nmf1"])
    assert list(found.feature_names) == ["nmf__nmf0", "nmf__nmf1"]
    assert (found.changes[:, 1] == 0).all()
    alone = make_pipeline(NMF(2, max_iter=1000), GRLVQ(max_iter=5)).fit(X[NAMES], y)  # has an inverse, but mixes
    assert np.allclose(prototype_table(alone).values, alone[0].inverse_transform(alone[-1].prototypes_))


@pytest.mark.parametrize("model", [GMLVQ(random_state=0), LGMLVQ(random_state=0), GRLVQ(random_state=0)], ids=str)
@pytest.mark.parametrize("steps", MIXED.values(), ids=MIXED)
def test_contributions_of_mixed_columns(steps, model, patients):
    """They add up to what those of the classifier add up to, and are those of its metric seen through the steps."""
    X, y = patients
    pipeline = make_pipeline(*steps, model.set_params(max_iter=5)).fit(X[NAMES], y)
    explanation = explain(pipeline, X[NAMES][:20])
    plain = pipeline[-1].explain(pipeline[:-1].transform(X[NAMES][:20]))
    assert np.allclose(explanation.contributions.sum(axis=1), plain.contributions.sum(axis=1))
    assert np.allclose(explanation.contributions.sum(axis=1), explanation.rival_distances - explanation.distances)
    assert list(explanation.feature_names) == NAMES
    assert np.array_equal(explanation.classes, pipeline.predict(X[NAMES][:20]))


def test_contributions_do_not_depend_on_a_rotation(patients):
    """All principal components are a rotation, behind which a metric is the same in other coordinates."""
    X, y = patients
    Z = StandardScaler().fit_transform(X[NAMES])
    pipeline = make_pipeline(PCA(), GMLVQ(random_state=0, max_iter=8)).fit(Z, y)
    turned, rotation = pipeline[-1], pipeline[0].components_
    omega, W = turned.omega_ @ rotation, pipeline[0].inverse_transform(turned.prototypes_)

    def parts(x, w):
        return (x - w) * ((x - w) @ omega.T @ omega)

    explanation = explain(pipeline, Z[:10])
    for x, winner, rival, found in zip(
        Z, explanation.prototypes, explanation.rival_prototypes, explanation.contributions
    ):
        assert np.allclose(found, parts(x, W[rival]) - parts(x, W[winner]))


@pytest.mark.parametrize("model", [GMLVQ(random_state=0), LGMLVQ(random_state=0)], ids=str)
def test_counterfactuals_of_mixed_columns(model, patients):
    X, y = patients
    holes = X.copy()
    holes.loc[::4, "weight"] = np.nan
    pipeline = make_pipeline(mixed_columns(), model.set_params(max_iter=8)).fit(holes, y)
    some = holes[:6]
    for target in ("high", "low"):
        bounds = {"pressure": (60, 220), "visits": (1, 9)}
        found = counterfactual(pipeline, some, target, fixed=["smoker"], bounds=bounds, integers=["age"])
        after = found.samples
        assert found.found.any()
        assert (pipeline.predict(after)[found.found] == target).all()
        assert np.array_equal(pipeline.predict(after), found.classes)
        assert (after.smoker == some.smoker).all()
        assert (after.age == after.age.round()).all()
        assert after.pressure.between(60, 220).all()
        assert after.isna().equals(some.isna())


def test_the_smallest_change_behind_principal_components(patients):
    """Without bounds it is the one in the plane of the components, by the learned metric."""
    X, y = patients
    pipeline = make_pipeline(StandardScaler(), PCA(2), GMLVQ(random_state=0, max_iter=8)).fit(X[NAMES], y)
    some = X[NAMES][:8]
    found = counterfactual(pipeline, some, bounds=None)
    plain = pipeline[-1].counterfactual(pipeline[:-1].transform(some), bounds=None)
    assert found.proven.all()
    assert np.allclose(found.distances, plain.distances, rtol=1e-6)
    assert (pipeline.predict(found.samples) != pipeline.predict(some)).all()


def test_table_tells_what_mixes_columns(patients):
    X, y = patients
    pipeline = make_pipeline(mixed_columns(), GMLVQ(max_iter=2)).fit(X, y)
    table = table_of(pipeline)
    Z = pipeline[:-1].transform(X)
    columns = table.prepare(X).astype(float)
    assert np.allclose(table.mixing.forward(columns), Z)
    assert np.allclose(table.mixing.forward(table.mixing.back(Z)), Z)
    for name, feature in zip(table.names, table.features):
        if name in NAMES:
            assert np.allclose(feature.forward(X[name].to_numpy()), columns[:, feature.columns[0]])
