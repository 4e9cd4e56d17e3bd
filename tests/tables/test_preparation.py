"""What columns are, and the same columns from new tables."""

import numpy as np
import pytest

pytest.importorskip("pandas")

import pandas as pd
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks

import protolearn
from protolearn import GMLVQ, SOM
from protolearn.lvq import counterfactual, explain, prototypes_in_units
from protolearn.tables import TablePreparation, as_labels, table_pipeline

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def expected_failures(estimator):
    return {"check_dataframe_column_names_consistency": "columns are found by their names, in whatever order"}


@parametrize_with_checks([TablePreparation()], expected_failed_checks=expected_failures)
def test_sklearn_checks(estimator, check):
    check(estimator)


def mixed(n=60, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "name": [f"case {i}" for i in range(n)],
            "count": np.arange(n),
            "size": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n)),
            "ward": rng.choice(["north", "south", None], n),
            "flag": rng.random(n) < 0.5,
            "seen": (pd.Timestamp("2020-02-27") + pd.to_timedelta(rng.integers(90, size=n), unit="D")).strftime(
                "%d.%m.%Y"
            ),
            "site": "Ulm",
            "none": np.nan,
            "class": np.array(["a", "b", "c"])[rng.integers(3, size=n)],
        }
    )


def test_kinds_and_what_becomes_of_them():
    table = mixed()
    preparation = TablePreparation("class").fit(table)
    kinds = {column.name: column.kind for column in preparation.columns_}
    assert kinds == {
        "name": "identifier",
        "count": "identifier",
        "size": "number",
        "ward": "category",
        "flag": "boolean",
        "seen": "date",
        "site": "constant",
        "none": "empty",
        "class": "target",
    }
    found = preparation.transform(table)
    assert list(found.columns) == preparation.get_feature_names_out().tolist() == ["size", "ward", "flag", "seen"]
    np.testing.assert_array_equal(found["size"], table["size"])
    assert set(found["ward"]) == {"north", "south", "(missing)"}
    assert set(found["flag"]) == {"True", "False"}
    days = pd.to_datetime(table["seen"], format="%d.%m.%Y")
    np.testing.assert_array_equal(found["seen"], (days - days.min()).dt.days)
    for column in preparation.columns_:
        assert column.missing == pytest.approx(table[column.name].isna().mean())


def test_new_rows_are_prepared_one_by_one_as_all_together():
    table = mixed()
    preparation = TablePreparation("class").fit(table)
    whole = preparation.transform(table)
    for row in range(0, 60, 7):
        pd.testing.assert_frame_equal(preparation.transform(table[row : row + 1]), whole[row : row + 1])
    shuffled = table[table.columns[::-1]].assign(more="x")
    pd.testing.assert_frame_equal(preparation.transform(shuffled), whole)
    typed = table.assign(seen=pd.to_datetime(table["seen"], format="%d.%m.%Y"), size=table["size"].astype(object))
    pd.testing.assert_frame_equal(preparation.transform(typed), whole)


def test_columns_can_be_ignored_or_kept():
    table = mixed()
    preparation = TablePreparation("class", ignore=["size"], keep=["count", "name"]).fit(table)
    assert preparation.names_of("number") == ["count"]
    assert preparation.names_of("ignored") == ["size"]
    assert "name" in preparation.names_of("category")
    for wrong in ({"target": "clas"}, {"ignore": ["clas"]}, {"keep": ["clas"]}):
        with pytest.raises(ValueError, match="There is no column 'clas'; columns are 'name', 'count'"):
            TablePreparation(**wrong).fit(table)
    with pytest.raises(ValueError, match="ignore='size' must be a list of names of columns"):
        TablePreparation(ignore="size").fit(table)
    with pytest.raises(NotFittedError):
        TablePreparation().transform(table)


@pytest.mark.parametrize("model", [GMLVQ(random_state=0, max_iter=20), SOM((2, 2), random_state=0)])
def test_pipelines_take_raw_tables_and_are_stored(tmp_path, model):
    pytest.importorskip("skops")
    table = mixed()
    pipeline = table_pipeline(TablePreparation("class").fit(table), model).fit(table, table["class"].astype(str))
    protolearn.save(pipeline, tmp_path / "model.skops")
    again = protolearn.load(tmp_path / "model.skops")
    new = mixed(30, seed=1).assign(ward="east").drop(columns="class")  # a ward that was not seen
    np.testing.assert_array_equal(again.predict(new), pipeline.predict(new))
    assert again[0].columns_ == pipeline[0].columns_
    np.testing.assert_array_equal(again.transform(new), pipeline.transform(new))


def test_pipelines_are_read_in_the_columns_of_the_table():
    table = mixed()
    pipeline = table_pipeline(TablePreparation("class").fit(table), GMLVQ(random_state=0, max_iter=20))
    pipeline.fit(table, as_labels(table["class"]).astype(str))
    prepared = pipeline[0].transform(table)
    reasons = explain(pipeline[1:], prepared)
    assert reasons.feature_names.tolist() == list(prepared.columns)
    np.testing.assert_allclose(reasons.contributions.sum(axis=1), reasons.rival_distances - reasons.distances)
    prototypes = prototypes_in_units(pipeline[1:])
    assert set(prototypes[:, 1]) <= {"north", "south", "(missing)"}
    changed = counterfactual(pipeline[1:], prepared[:5])
    assert changed.found.all()
    np.testing.assert_array_equal(pipeline[1:].predict(changed.samples), changed.classes)
