"""Files of users through the command line: 30 kinds of tables, and what holds for every command and model."""

import json
import re
import warnings
from dataclasses import dataclass, field

import numpy as np
import pytest

pytest.importorskip("typer")
pytest.importorskip("skops")
pytest.importorskip("pandas")

import pandas as pd
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import RepeatedStratifiedKFold, cross_val_predict
from typer.testing import CliRunner

import protolearn
from protolearn.cli import app
from protolearn.cli._findings import relevance_table
from protolearn.cli._learning import FILES
from protolearn.tables import as_labels, read_strings, read_table

WIDE = {"COLUMNS": "160"}
FAST = ["--folds", "2", "--repeats", "1"]


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments], env=WIDE)


def rows_of(n=40, sep=",", decimal=".", seed=0, header="width,kind,class"):
    """Return a table as text: a number that tells two classes apart, and a category that does not."""
    rng = np.random.default_rng(seed)
    lines = [header.replace(",", sep)]
    for i in range(n):
        number = f"{rng.normal() + 5 * (i % 2):.3f}".replace(".", decimal)
        lines.append(sep.join([number, "uv"[rng.integers(2)], "ab"[i % 2]]))
    return "\n".join(lines) + "\n"


def frame_of(n=40, **columns):
    rng = np.random.default_rng(0)
    classes = np.array(["a", "b"])[np.arange(n) % 2]
    return pd.DataFrame({"width": (rng.normal(size=n) + 5 * (np.arange(n) % 2)).round(3), "class": classes, **columns})


def text_of(n=40, **columns):
    return frame_of(n, **columns).to_csv(index=False)


def wide(n_columns):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, n_columns)).round(3)
    return pd.DataFrame(X).add_prefix("gene ").assign(**{"class": np.where(X[:, 0] > 0, "a", "b")}).to_csv(index=False)


@dataclass(frozen=True)
class Case:
    """A file, and what a command says to it; ``says`` is printed, or in the notes and columns of the report."""

    content: str | bytes
    says: str = ""
    exit_code: int = 0
    n_rows: int = 40
    command: tuple[str, ...] = ("classify", "--target", "class", *FAST)
    suffix: str = ".csv"
    kinds: dict = field(default_factory=dict)


CASES = {
    "comma": Case(rows_of(), kinds={"width": "number", "kind": "category", "class": "target"}),
    "semicolon": Case(rows_of(sep=";"), kinds={"width": "number"}),
    "tab": Case(rows_of(sep="\t"), suffix=".tsv", kinds={"width": "number"}),
    "bar": Case(rows_of(sep="|"), suffix=".txt", kinds={"width": "number"}),
    "decimal comma": Case(rows_of(sep=";", decimal=","), kinds={"width": "number"}),
    "separator named by Excel": Case("sep=;\r\n" + rows_of(sep=";", decimal=",").replace("\n", "\r\n")),
    "ends of lines of old": Case(rows_of(sep=";").replace("\n", "\r").encode(), kinds={"width": "number"}),
    "thousands": Case(
        text_of(cost=[f"{1000 * i + 0.5:,.2f}" for i in range(1, 41)]), kinds={"cost": "number", "width": "number"}
    ),
    "quoted newlines": Case(text_of(note=['one\n"two", three'] * 20 + ["four"] * 20), kinds={"note": "category"}),
    "byte-order mark": Case(b"\xef\xbb\xbf" + rows_of().encode(), kinds={"width": "number"}),
    "latin-1": Case(text_of(ort=["Köln", "Münster"] * 20).encode("latin-1"), kinds={"ort": "category"}),
    "utf-16": Case(rows_of(sep="\t").encode("utf-16"), kinds={"width": "number"}),
    "utf-16 without a mark": Case(rows_of().encode("utf-16-le"), kinds={"width": "number"}),
    "Windows ends of lines": Case(rows_of().replace("\n", "\r\n"), kinds={"width": "number"}),
    "row names as R writes them": Case(
        "width,kind,class\n" + "\n".join(f"r{i},{line}" for i, line in enumerate(rows_of().splitlines()[1:])),
        kinds={"row": "identifier", "width": "number"},
    ),
    "no header": Case(
        "\n".join(f"{i % 2 + i / 100},{i % 2}" for i in range(40)),
        command=("classify", "--target", "column 2", *FAST),
        kinds={"column 1": "number"},
    ),
    "all text": Case(
        pd.DataFrame({"size": ["S", "L"] * 20, "shade": ["red"] * 20 + ["blue"] * 20, "class": ["a", "b"] * 20}).to_csv(
            index=False
        ),
        kinds={"size": "category", "shade": "category"},
    ),
    "one row": Case("width,class\n1,a\n", "There is no column to learn from in 1 sample", 1),
    "one row per class": Case("width,class\n1,a\n2,b\n", "Column 'class' has one row of each class", 1),
    "one row of a class": Case("width,class\n1,a\n2,a\n4,b\n", "Not validated: without the rows of a fold", n_rows=3),
    "header only": Case("width,class\n", "has column names, but no rows.", 1),
    "empty": Case("", "is empty.", 1),
    "blank": Case("\n\n  \n", "is empty.", 1),
    "duplicate columns": Case(
        text_of(x=np.arange(40) % 7).replace("x", "width", 1), kinds={"width": "number", "width (2)": "number"}
    ),
    "target that is missing": Case(rows_of(), "There is no column 'ill'; columns are 'width', 'kind', 'class'.", 1,
        command=("classify", "--target", "ill", *FAST)),
    "target not given": Case(
        rows_of(), "name the column that contains the classes: --target NAME", 2, command=("classify", *FAST)
    ),
    "target with one class": Case(
        text_of().replace(",b\n", ",a\n"), "Column 'class' has one class only, 'a'; at least two classes are needed", 1
    ),
    "target without values": Case(
        frame_of().assign(**{"class": None}).to_csv(index=False), "Column 'class' has no values, so there is no", 1
    ),
    "target of numbers": Case(
        text_of(price=np.linspace(0, 9, 40) ** 2), "Column 'price' has 40 different values in 40 rows; each class", 1,
        command=("classify", "--target", "price", *FAST),
    ),
    "target of many numbers": Case(
        text_of(2000, price=np.arange(2000) // 5),
        "Column 'price' has 400 different values in 2,000 rows; each class", 1,
        command=("classify", "--target", "price", *FAST),
    ),
    "target of some numbers": Case(
        text_of(210, price=np.arange(210) % 21), "Column 'price' holds 21 different numbers, which looks like a",
        n_rows=210, command=("classify", "--target", "price", *FAST),
    ),
    "target with gaps": Case(
        text_of().replace(",a\n", ",\n", 3), "3 rows without a class are not used for training, but predicted.",
        n_rows=40,
    ),
    "dates": Case(
        text_of(seen=pd.date_range("2020-01-01", periods=40), born=[f"{i % 28 + 1}.3.19{50 + i}" for i in range(40)]),
        "days since 2020-01-01", kinds={"seen": "date", "born": "date"},
    ),
    "identifiers": Case(
        text_of(patient=[f"P{i:03}" for i in range(40)], number=np.arange(40) + 7, case_id=(np.arange(40) * 37) % 997),
        "left out, numbers the rows", kinds=dict.fromkeys(["patient", "number", "case_id"], "identifier"),
    ),
    "constant and empty columns": Case(
        text_of(site="Ulm", nothing=None), "left out, always Ulm", kinds={"site": "constant", "nothing": "empty"}
    ),
    "free text": Case(
        text_of(60, note=[f"Seen {i} times, {'no' if i % 3 else 'some'} pain." for i in range(58)] + ["-", "-"]),
        "left out, 59 different texts", n_rows=60, kinds={"note": "text"},
    ),
    "gaps of many spellings": Case(
        text_of(age=["?", "NA", "", "n/a", "-", *range(20, 55)], dose=["<0.5", *["1.5", "2.5", "3.0"] * 13]),
        "1 such as <0.5 treated as missing", kinds={"age": "number", "dose": "number"},
    ),
    "infinite numbers": Case(
        text_of(ratio=["inf", "-inf", "NaN", *map(str, np.arange(37) % 5)]), "2 infinite treated as missing",
        kinds={"ratio": "number"},
    ),
    "huge numbers": Case(
        text_of(mass=np.arange(40) % 7 * 1e300),
        "Column 'mass' contains numbers too large to be scaled, up to 6e+300;", 1,
    ),
    "2,000 columns": Case(wide(2000), n_rows=30, command=("classify", "--target", "class", "--model", "glvq", *FAST)),
    "ragged rows": Case(rows_of() + "1,2,3,4,5\n", "line 42 has 5 values, but there are 3 columns, separated", 1),
    "short rows": Case(rows_of() + "1.5\n", n_rows=41, kinds={"width": "number"}),
    "open quotation mark": Case(rows_of() + '"1,u,a\n', "a quotation mark is opened and never closed.", 1),
    "binary": Case(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(range(256)), "is not a text file: it contains bytes", 1),
    "NUL in the middle": Case(rows_of(2000).encode() + b"1,\0u,a\n", "is not a text file: it contains bytes", 1),
    "markup": Case(
        text_of(**{"<b>[red]": ["<script>alert(1)</script>", "[/]\x1b[31m"] * 20}), kinds={"<b>[red]": "category"}
    ),
    "Parquet that is none": Case(b"PAR1 but not really", "cannot be read as a Parquet file", 1, suffix=".parquet"),
    "Excel that is none": Case(b"PK\x03\x04 and nothing more", "cannot be read as an Excel file", 1, suffix=".xlsx"),
    "NumPy that is none": Case(b"\x93NUMPY\x01\x00", "cannot be read as a file of NumPy arrays", 1, suffix=".npy"),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_kinds_of_files(tmp_path, name):
    case = CASES[name]
    if case.suffix == ".parquet":
        pytest.importorskip("pyarrow")
    if case.suffix == ".xlsx":
        pytest.importorskip("openpyxl")
    data, folder = tmp_path / f"data{case.suffix}", tmp_path / "out"
    data.write_bytes(case.content if isinstance(case.content, bytes) else case.content.encode())
    verb, *options = case.command
    result = run(verb, data, "-o", folder, *options)
    assert result.exit_code == case.exit_code, result.output
    assert case.says in " ".join(result.output.split())
    assert "\x1b[31m" not in result.output
    if case.exit_code:
        assert "Traceback" not in result.output
        assert case.exit_code == 2 or (case.says in result.output.splitlines()[-1] and result.output.endswith(".\n"))
        assert not folder.exists()
        return
    report = json.loads((folder / "report.json").read_text())
    found = {column["name"]: column["kind"] for column in report["columns"]}
    assert {column: found[column] for column in case.kinds} == case.kinds
    assert all((folder / file).stat().st_size for file in FILES)
    table = pd.read_csv(folder / "predictions.csv")
    assert len(table) == case.n_rows == report["data"]["rows"]
    assert table["predicted"].notna().all()
    model = protolearn.load(folder / "model.skops")
    np.testing.assert_array_equal(as_labels(table["predicted"]), model.predict(read_table(data)))


def test_many_rows_are_learned_in_part(tmp_path):
    n = 200_000
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=n)
    y[:30] = 2  # a rare class, which the part must keep
    table = pd.DataFrame({"id": np.arange(n), "x": (rng.normal(size=n) + 4 * y).round(2), "y": y})
    data = tmp_path / "many.csv"
    table.to_csv(data, index=False)
    result = run("classify", data, "--target", "y", "-o", tmp_path / "out", "--rows", 2000, *FAST)
    assert result.exit_code == 0, result.output
    assert f"of {n:,} rows, chosen at random" in result.output
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    assert 2000 <= report["data"]["learned"] <= 2020  # 20 of the rare class
    assert [entry["class"] for entry in report["classes"]] == ["0", "1", "2"]
    assert len(pd.read_csv(tmp_path / "out" / "predictions.csv")) == n


@pytest.fixture(scope="module")
def patients(tmp_path_factory):
    """Return breast cancer as a table with all that tables have, and what ``classify`` makes of it."""
    folder = tmp_path_factory.mktemp("patients")
    data = load_breast_cancer(as_frame=True)
    table = data.data.iloc[:200, :4].copy()
    rng = np.random.default_rng(0)
    table.iloc[rng.integers(200, size=20), 0] = np.nan
    table.insert(0, "patient", [f"P{i}" for i in range(200)])
    table["ward"] = rng.choice(["north", "south", None], 200)
    table["seen"] = pd.Timestamp("2021-05-01") + pd.to_timedelta(rng.integers(100, size=200), unit="D")
    table["diagnosis"] = np.where(data.target[:200] == 0, "malignant", "benign")
    table.loc[[3, 77], "diagnosis"] = None
    table.to_csv(folder / "patients.csv", index=False)
    result = run("classify", folder / "patients.csv", "--target", "diagnosis", "-o", folder / "out", "--repeats", 2)
    assert result.exit_code == 0, result.output
    return folder / "patients.csv", folder / "out", result.output


def test_report_says_what_scikit_learn_says(patients):
    data, folder, printed = patients
    report = json.loads((folder / "report.json").read_text())
    model = protolearn.load(folder / "model.skops")
    table = read_table(data)
    labels = as_labels(table["diagnosis"])
    known = labels != None  # noqa: E711
    X, y = model[0].transform(table)[known], labels[known].astype(str)
    splits = RepeatedStratifiedKFold(n_splits=5, n_repeats=2, random_state=0)
    parts = list(splits.split(X, y))
    held_out = [cross_val_predict(model[1:], X, y, cv=parts[start : start + 5]) for start in (0, 5)]
    figures = {
        "accuracy": np.array([np.mean(y[test] == held_out[i // 5][test]) for i, (_, test) in enumerate(parts)]),
        "balanced accuracy": np.array([balanced_accuracy_score(y, predicted) for predicted in held_out]),
    }
    for name, expected in figures.items():
        np.testing.assert_allclose(report["validation"]["scores"][name], expected, atol=1e-12)
        assert f"{100 * expected.mean():.1f} % ± {100 * expected.std():.1f}" in printed
    assert "P0" not in printed  # names are for predictions


def test_rare_classes_count(tmp_path):
    table = frame_of(60)
    table.loc[[0, 1], "class"] = "rare"
    table.to_csv(tmp_path / "data.csv", index=False)
    result = run("classify", tmp_path / "data.csv", "--target", "class", "-o", tmp_path / "out", "--repeats", 1)
    assert result.exit_code == 0, result.output
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    found = [entry["found"] for entry in report["classes"]]
    assert len(found) == 3
    assert report["validation"]["scores"]["balanced accuracy"] == [pytest.approx(np.mean(found))]
    assert re.search(
        rf"balanced accuracy +{100 * np.mean(found):.1f} % +mean over classes", result.output
    )  # of one, no spread
    assert "fewer rows than the 5 folds, so their scores are unreliable: 'rare' (2)." in result.output


@pytest.mark.parametrize("copies", [0, 1, 2, 30])
def test_copies_are_counted(tmp_path, copies):
    table = frame_of(120, site="Ulm")
    number = pd.Series(range(120 + copies), name="id")  # is not learned from, and so makes no difference
    table = pd.concat([table, table[:copies]], ignore_index=True).assign(id=number)
    other = table[5:6].assign(id=999, **{"class": "a"})  # the same numbers, but of another class
    pd.concat([table, other]).to_csv(tmp_path / "data.csv", index=False)
    result = run("classify", tmp_path / "data.csv", "--target", "class", "-o", tmp_path / "out", *FAST)
    assert result.exit_code == 0, result.output
    assert table["class"][5] == "b"
    assert (f"{copies} rows are copies of others" in result.output) == (copies > 1)
    assert ("are copies" in result.output) == (copies > 1)


@pytest.mark.parametrize(("left", "says"), [(0, ""), (1, " (and 1 more column)"), (2, " (and 2 more columns)")])
def test_columns_that_are_not_listed_are_counted(left, says):
    table = relevance_table([{"column": f"x{i}", "share": 0.1} for i in range(10 + left)])
    assert table.caption == f"Relevance of the columns{says}"


def test_predictions_are_those_of_the_model_on_the_raw_table(patients, tmp_path):
    data, folder, _ = patients
    model, raw = protolearn.load(folder / "model.skops"), read_table(data)
    written = pd.read_csv(folder / "predictions.csv")
    np.testing.assert_array_equal(written["predicted"], model.predict(raw))
    np.testing.assert_allclose(written["probability"], model.predict_proba(raw).max(axis=1))
    np.testing.assert_array_equal(written["name"], raw["patient"])
    assert written["held out"].isna().sum() == 2
    assert run("predict", folder / "model.skops", data, "-o", tmp_path / "new" / "again.csv").exit_code == 0
    again = pd.read_csv(tmp_path / "new" / "again.csv")
    pd.testing.assert_frame_equal(again, written[again.columns])


def test_order_of_columns_and_further_ones_change_nothing(patients, tmp_path):
    data, folder, _ = patients
    raw = pd.read_csv(data)
    shuffled = raw[raw.columns[::-1]].drop(columns=["patient", "diagnosis"]).assign(more=1)
    shuffled.to_csv(tmp_path / "new.csv", index=False, sep=";", decimal=",")
    result = run("predict", folder / "model.skops", tmp_path / "new.csv", "-o", tmp_path / "p.csv", "--json")
    assert result.exit_code == 0, result.output
    written = pd.read_csv(folder / "predictions.csv")
    told = pd.DataFrame(json.loads(result.output)["predictions"])
    for found in (told, pd.read_csv(tmp_path / "p.csv")):
        np.testing.assert_array_equal(found["predicted"], written["predicted"])
        np.testing.assert_allclose(found["probability"], written["probability"], rtol=1e-9)


def test_what_a_new_table_lacks_is_said(patients, tmp_path):
    data, folder, _ = patients
    raw = pd.read_csv(data)
    raw.drop(columns=["mean area", "ward"]).to_csv(tmp_path / "new.csv", index=False)
    result = run("predict", folder / "model.skops", tmp_path / "new.csv", "-o", tmp_path / "p.csv")
    assert result.exit_code == 1
    assert "The table has no columns 'mean area', 'ward', which the model was trained on; it has 'pat" in result.output
    raw.assign(**{"mean area": "large"}).to_csv(tmp_path / "new.csv", index=False)
    result = run("predict", folder / "model.skops", tmp_path / "new.csv", "-o", tmp_path / "p.csv")
    assert result.exit_code == 1
    assert "Column 'mean area' must contain a number in each row, but contains large." in result.output
    assert not (tmp_path / "p.csv").exists()


def test_what_is_new_in_a_new_table_is_said(patients, tmp_path):
    data, folder, _ = patients
    raw = pd.read_csv(data)
    raw.loc[[3, 5, 8], "ward"] = ["west", "east", None]
    raw.assign(**{"mean area": None}).to_csv(tmp_path / "new.csv", index=False)
    result = run("predict", folder / "model.skops", tmp_path / "new.csv", "-o", tmp_path / "p.csv")
    assert result.exit_code == 0, result.output
    assert "Note: 2 of 200 rows have values that did not occur in training, in 'ward'" in result.output
    assert "Note: There are no values in 'mean area'" in result.output
    assert "Note" not in run("predict", folder / "model.skops", data, "-o", tmp_path / "p.csv").output


def test_a_row_without_a_small_change_says_so(tmp_path):
    table = tmp_path / "table.csv"
    table.write_text("size,kind\n" + "".join(f"{i % 7},{'small' if i % 7 < 3 else 'large'}\n" for i in range(70)))
    assert run("classify", table, "--target", "kind", *FAST, "-o", tmp_path / "out").exit_code == 0
    far = tmp_path / "far.csv"
    far.write_text("size,kind\n3,large\n")
    model = protolearn.load(tmp_path / "out" / "model.skops")
    model[-1].feature_ranges_[0] = model[-1].feature_ranges_[1]  # as if no small sizes had been seen
    protolearn.save(model, tmp_path / "model.skops")
    result = run("explain", tmp_path / "model.skops", far, "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.output)["no_change"] == "There is no allowed change to another class."
    assert "There is no allowed change" in run("explain", tmp_path / "model.skops", far).output


def test_what_lies_outside_the_training_data_is_said(patients, tmp_path):
    data, folder, _ = patients
    model = folder / "model.skops"
    raw = pd.read_csv(data)
    lowest, highest = raw["mean area"].min(), raw["mean area"].max()
    raw["mean radius"] = raw["mean radius"].astype(object)
    raw.loc[[0, 1], "mean area"] = [-5.0, 1e6]
    raw.loc[2, "seen"], raw.loc[3, "ward"], raw.loc[5, "mean radius"] = "1999-12-31", "west", "large"
    raw.to_csv(tmp_path / "new.csv", index=False)
    result = run("predict", model, tmp_path / "new.csv", "-o", tmp_path / "p.csv", "--json")
    assert result.exit_code == 0, result.output
    told = json.loads(result.output)
    found = {entry["column"]: entry for entry in told["outside"]}
    area = {"column": "mean area", "rows": 2, "from": -5.0, "to": 1e6, "lowest": lowest, "highest": highest}
    assert found["mean area"] == area
    assert (found["ward"]["values"], found["ward"]["rows"]) == (["west"], 1)
    assert (found["mean radius"]["values"], found["mean radius"]["missing"]) == (["large"], True)
    assert found["seen"]["from"] == "1999-12-31"
    assert len(found) == 4
    assert "3 of 200 rows have values outside the range of the training data, in 'mean area'" in " ".join(told["notes"])
    printed = run("predict", model, tmp_path / "new.csv", "-o", tmp_path / "p.csv").output
    assert re.search(rf"mean area +2 +-5 to 1e\+06 +{lowest:.6g} to {highest:.6g}", printed)
    assert all(f"Note: {note}" in printed for note in told["notes"])
    for row, names in ((1, ["mean area"]), (4, ["ward"]), (10, [])):
        reasons = json.loads(run("explain", model, tmp_path / "new.csv", "--row", row, "--json").output)
        assert [entry["column"] for entry in reasons["outside"]] == names
    columns = {c["name"]: c["range"] for c in json.loads(run("info", model, "--json").output)["columns"]}
    assert columns["mean area"] == [lowest, highest]
    assert columns["ward"] is None
    same = json.loads(run("predict", model, data, "-o", tmp_path / "p.csv", "--json").output)
    assert (same["outside"], same["notes"]) == ([], [])


def test_new_files_are_read_with_the_decimal_mark_of_the_model(tmp_path):
    """Rows one by one, which do not show what 1,250 means, are predicted as all together."""
    table = frame_of(60)
    table["width"] = table["width"] + 1.0
    lines = table.to_csv(index=False, sep="\t", decimal=",", float_format="%.3f").splitlines()
    (tmp_path / "data.tsv").write_text("\n".join([*lines, "0,5\ta"]))
    result = run("classify", tmp_path / "data.tsv", "--target", "class", "-o", tmp_path / "out", *FAST)
    assert "61 rows, 2 columns, decimal comma" in result.output
    assert json.loads((tmp_path / "out" / "report.json").read_text())["data"]["decimal"] == ","
    written = pd.read_csv(tmp_path / "out" / "predictions.csv")["predicted"]
    for row in range(0, 60, 12):
        (tmp_path / "new.tsv").write_text(f"{lines[0]}\n{lines[row + 1]}\n")
        result = run("predict", tmp_path / "out" / "model.skops", tmp_path / "new.tsv", "-o", tmp_path / "p.csv")
        assert result.exit_code == 0, result.output
        assert pd.read_csv(tmp_path / "p.csv")["predicted"].tolist() == [written[row]]


def test_classes_may_have_the_names_of_missing_values(tmp_path):
    table = frame_of(60)
    table["class"] = np.array(["None", "NA", "?", "x"])[np.arange(60) % 4]
    table["width"] += 10 * (np.arange(60) % 4)
    table.loc[8, "class"] = ""
    table.to_csv(tmp_path / "data.csv", index=False)
    result = run("classify", tmp_path / "data.csv", "--target", "class", "-o", tmp_path / "out", *FAST)
    assert result.exit_code == 0, result.output
    assert "classes named '?' (15 rows), 'NA' (15 rows), 'None' (14 rows)." in result.output
    assert "1 rows without a class are not used" in result.output
    assert protolearn.load(tmp_path / "out" / "model.skops").classes_.tolist() == ["?", "NA", "None", "x"]
    again = read_table(tmp_path / "out" / "predictions.csv")
    assert set(again["predicted"]) == {"?", "NA", "None", "x"}


def test_reasons_are_those_of_the_library(patients):
    data, folder, _ = patients
    model, raw = protolearn.load(folder / "model.skops"), read_table(data)
    result = run("explain", folder / "model.skops", data, "--row", 9, "--json")
    assert result.exit_code == 0, result.output
    told = json.loads(result.output)
    sample = model[0].transform(raw)[8:9]
    expected = protolearn.lvq.explain(model[1:], sample)
    shares = expected.contributions[0] / np.abs(expected.contributions[0]).sum()
    found = {reason["column"]: reason["share"] for reason in told["reasons"]}
    np.testing.assert_allclose([found[name] for name in expected.feature_names], shares)
    assert told["class"] == expected.classes[0] == model.predict(raw[8:9])[0]
    dates = {reason["column"]: reason["value"] for reason in told["reasons"]}
    assert dates["seen"] == str(raw["seen"][8])
    assert f"Row 9 (P8): {told['class']}" in run("explain", folder / "model.skops", data, "--row", 9).output
    changed = {change["column"]: change["to"] for change in told["change"]["columns"]}
    new = raw[8:9].assign(**changed)
    assert model.predict(new)[0] == told["change"]["class"] != told["class"]
    numbers = raw.select_dtypes("number").columns
    assert all(raw[name].min() <= changed[name] <= raw[name].max() for name in numbers if name in changed)
    result = run("explain", folder / "model.skops", data, "--row", 201)
    assert (result.exit_code, "has 200 rows; there is no row 201." in result.output) == (1, True)


def test_info(patients):
    _, folder, _ = patients
    told = json.loads(run("info", folder / "model.skops", "--json").output)
    report = json.loads((folder / "report.json").read_text())
    assert told["model"] == "GMLVQ"
    assert told["target"] == "diagnosis"
    assert told["classes"] == ["benign", "malignant"]
    assert [c["kind"] for c in told["columns"]] == [c["kind"] for c in report["columns"]]
    assert told["relevances"] == report["relevances"]
    assert sum(entry["share"] for entry in told["relevances"]) == pytest.approx(1)
    assert "malignant" in run("info", folder / "model.skops").output


def test_output_is_quiet_or_json_and_repeatable(patients, tmp_path):
    data = patients[0]
    arguments = [
        "classify",
        data,
        "--target",
        "diagnosis",
        "-o",
        tmp_path / "out",
        "--model",
        "glvq",
        "--seed",
        3,
        *FAST,
    ]
    result = run(*arguments, "--json")
    report = json.loads(result.output)  # and nothing else
    assert report == json.loads((tmp_path / "out" / "report.json").read_text())
    first = {name: (tmp_path / "out" / name).read_bytes() for name in ("predictions.csv", "index.html")}
    result = run(*arguments, "--quiet")
    assert (result.exit_code, result.output) == (0, "")
    assert first == {name: (tmp_path / "out" / name).read_bytes() for name in first}


def test_nothing_that_is_read_is_overwritten(patients, tmp_path):
    data, folder, _ = patients
    taken = tmp_path / "predictions.csv"
    taken.write_bytes(data.read_bytes())
    for result in (
        run("classify", taken, "--target", "diagnosis", "-o", tmp_path, *FAST),
        run("predict", folder / "model.skops", taken, "-o", taken),
    ):
        assert result.exit_code == 1
        assert "is read by this command, and would be overwritten" in " ".join(result.output.split())
    assert taken.read_bytes() == data.read_bytes()
    assert "File or folder not found" in run("map", tmp_path / "none.csv").output
    (tmp_path / "file").touch()
    assert "is a file; choose an output folder" in run("map", taken, "-o", tmp_path / "file").output


def test_interrupt_ends_with_130(patients, tmp_path, monkeypatch):
    def interrupted(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr("protolearn.tables.read_table", interrupted)
    result = run("map", patients[0], "-o", tmp_path / "out")
    assert result.exit_code == 130
    assert not any((tmp_path / "out" / name).exists() for name in FILES)


@pytest.fixture(scope="module")
def wine(tmp_path_factory):
    path = tmp_path_factory.mktemp("wine") / "wein.csv"
    load_wine(as_frame=True).frame.to_csv(path, index=False, sep=";", decimal=",", encoding="latin-1")
    return path


def test_map(wine, tmp_path):
    result = run("map", wine, "--target", "target", "-o", tmp_path, "--size", 4, 5, *FAST)
    assert result.exit_code == 0, result.output
    X, y = load_wine(return_X_y=True)
    model = protolearn.load(tmp_path / "model.skops")
    raw = read_table(wine)
    np.testing.assert_allclose(model[0].transform(raw), X)
    written = pd.read_csv(tmp_path / "predictions.csv")
    np.testing.assert_array_equal(written["node"], model.predict(raw))
    np.testing.assert_allclose(written["distance"] ** 2, model.transform(raw).min(axis=1), atol=1e-9)
    np.testing.assert_array_equal(written["target"], y)
    assert len(model[-1].prototypes_) == 20
    figures = json.loads((tmp_path / "report.json").read_text())["validation"]["figures"]
    assert figures["class by node"]["mean"] > 0.8
    assert figures["explained variance"]["mean"] > 0.4
    assert figures["topographic error"]["mean"] < 0.5


def test_clusters(wine, tmp_path):
    result = run("cluster", wine, "--ignore", "target", "-o", tmp_path, *FAST)
    assert result.exit_code == 0, result.output
    model, y = protolearn.load(tmp_path / "model.skops"), load_wine().target
    assert len(model[-1].prototypes_) == 3  # the number of classes, which it was not told
    found = pd.read_csv(tmp_path / "predictions.csv")["cluster"]
    table = pd.crosstab(found, y).to_numpy()
    assert table.max(axis=1).sum() > 0.9 * len(y)
    result = run("cluster", wine, "-o", tmp_path, "--clusters", 5, "--model", "k-means", *FAST)
    assert result.exit_code == 0, result.output
    assert type(protolearn.load(tmp_path / "model.skops")[-1]) is protolearn.KMeans
    assert json.loads((tmp_path / "report.json").read_text())["model"]["prototypes"] == 5
    assert "choose one of neural-gas, k-means." in run("cluster", wine, "-o", tmp_path, "--model", "dbscan").output


def test_views(wine, tmp_path):
    result = run("view", wine, "--target", "target", "-o", tmp_path / "plain", "--rows", 100)
    assert result.exit_code == 0, result.output
    written = pd.read_csv(tmp_path / "plain" / "predictions.csv")
    assert written["x"].notna().sum() == 100
    assert "Trained on 100 of 178 rows, chosen at random" in result.output
    quality = json.loads((tmp_path / "plain" / "report.json").read_text())["quality"]
    view = protolearn.load(tmp_path / "plain" / "model.skops")
    shown = written["x"].notna().to_numpy()
    np.testing.assert_allclose(written[["x", "y"]][shown], view[-1].embedding_, rtol=1e-12)
    columns = view[1:-1].transform(view[0].transform(read_table(wine)[shown]))
    expected = protolearn.metrics.trustworthiness(columns, view[-1].embedding_, 10)
    assert quality["trustworthiness"] == pytest.approx(expected)
    result = run("predict", tmp_path / "plain" / "model.skops", wine, "-o", tmp_path / "p.csv")
    assert result.exit_code == 0, result.output
    placed = pd.read_csv(tmp_path / "p.csv")[["x", "y"]].to_numpy()
    assert np.isfinite(placed).all()
    np.testing.assert_allclose(placed[shown], view[-1].embedding_, atol=1e-6)  # where the view has them

    result = run("view", wine, "--ignore", "target", "-o", tmp_path / "mapped", "--mapping")
    assert result.exit_code == 0, result.output
    model = protolearn.load(tmp_path / "mapped" / "model.skops")
    written = pd.read_csv(tmp_path / "mapped" / "predictions.csv")
    np.testing.assert_allclose(written[["x", "y"]], model.transform(read_table(wine)), atol=1e-6)
    assert "The quality of the mapping is measured on its training rows" in result.output
    result = run("view", wine, "--ignore", "target", "-o", tmp_path / "part", "--mapping", "--rows", 78)
    assert result.exit_code == 0, result.output
    assert "is measured on its training rows" not in result.output


@pytest.fixture(scope="module")
def words(tmp_path_factory):
    path = tmp_path_factory.mktemp("words") / "words.txt"
    rng = np.random.default_rng(0)
    lines = []
    for i in range(40):
        letters = list("banana" if i % 2 else "potato")
        letters[rng.integers(6)] = "xyz"[rng.integers(3)]
        lines.append("".join(letters) + (f"\t{'fruit' if i % 2 else 'root'}" if i > 1 else ""))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("command", ["classify", "map", "cluster", "view"])
def test_strings(words, tmp_path, command):
    options = FAST if command != "view" else []
    result = run(command, words, "--metric", "edit", "-o", tmp_path, *options)
    assert result.exit_code == 0, result.output
    model, objects = protolearn.load(tmp_path / "model.skops"), read_strings(words)
    written = pd.read_csv(tmp_path / "predictions.csv")
    assert written["name"].tolist() == objects.X
    if command == "view":
        np.testing.assert_allclose(written[["x", "y"]], model.embedding_, rtol=1e-12)
        return
    assert model.metric == "edit"
    np.testing.assert_array_equal(written.iloc[:, 3], model.predict(objects.X))
    assert run("predict", tmp_path / "model.skops", words, "-o", tmp_path / "p.csv").exit_code == 0
    np.testing.assert_array_equal(pd.read_csv(tmp_path / "p.csv").iloc[:, 2], written.iloc[:, 3])
    if command == "classify":
        np.testing.assert_array_equal(written["predicted"][:2], ["root", "fruit"])
        told = json.loads(run("explain", tmp_path / "model.skops", words, "--row", 2, "--json").output)
        assert (told["class"], told["rival"]) == ("fruit", "root")
        assert "fruit" in run("explain", tmp_path / "model.skops", words, "--row", 2).output
    else:
        assert "only classifiers can explain" in run("explain", tmp_path / "model.skops", words).output


def test_texts_in_folders(tmp_path):
    rng = np.random.default_rng(0)
    for i in range(16):
        folder = tmp_path / "texts" / ("even" if i % 2 else "odd")
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{i}.txt").write_text(" ".join(rng.choice(["ab cd", "ef gh"] if i % 2 else ["12 34", "56 78"], 60)))
    result = run("classify", tmp_path / "texts", "--metric", "ncd", "-o", tmp_path / "out", *FAST)
    assert result.exit_code == 0, result.output
    written = pd.read_csv(tmp_path / "out" / "predictions.csv")
    assert (written["predicted"] == written["target"]).all()
    assert written["name"][0] == "even/1.txt"
    assert "texts: 16 texts\n" in result.output
    assert "for texts, name a metric" in run("map", tmp_path / "texts", "-o", tmp_path / "out").output
    inside = run("map", tmp_path / "texts", "--metric", "ncd", "-o", tmp_path / "texts" / "out")
    assert "is inside the input folder" in inside.output
    assert (
        "Unknown metric 'edits'; choose"
        in run("map", tmp_path / "texts", "--metric", "edits", "-o", tmp_path / "o").output
    )


@pytest.mark.parametrize("suffix", [".csv", ".npy", ".npz"])
def test_distances(tmp_path, suffix):
    X, y = load_iris(return_X_y=True)
    X, y = X[::3], y[::3].astype(str)
    D = np.linalg.norm(X[:, None] - X, axis=2)
    data = tmp_path / f"D{suffix}"
    if suffix == ".csv":
        names = [f"flower {i}" for i in range(len(D))]
        pd.DataFrame(D, columns=names).assign(kind=y).to_csv(data, index=False)
        result = run("classify", data, "--metric", "precomputed", "--target", "kind", "-o", tmp_path / "out", *FAST)
    elif suffix == ".npz":
        np.savez(data, D=D, y=y)
        result = run("classify", data, "--metric", "precomputed", "-o", tmp_path / "out", *FAST)
    else:
        np.save(data, D)
        result = run("map", data, "--metric", "precomputed", "-o", tmp_path / "out", *FAST)
    assert result.exit_code == 0, result.output
    model = protolearn.load(tmp_path / "out" / "model.skops")
    written = pd.read_csv(tmp_path / "out" / "predictions.csv", dtype=str)
    column = "node" if suffix == ".npy" else "predicted"
    np.testing.assert_array_equal(written[column], model.predict(D).astype(str))
    assert run("predict", tmp_path / "out" / "model.skops", data, "-o", tmp_path / "p.csv").exit_code == 0
    np.testing.assert_array_equal(pd.read_csv(tmp_path / "p.csv", dtype=str)[column], written[column])
    np.save(tmp_path / "wrong.npy", D[:10])
    result = run("map", tmp_path / "wrong.npy", "--metric", "precomputed", "-o", tmp_path / "out")
    assert "has 10 rows and 50 columns of distances" in result.output
    D[41, 7] += 1
    np.save(tmp_path / "wrong.npy", D)
    result = run("map", tmp_path / "wrong.npy", "--metric", "precomputed", "-o", tmp_path / "out")
    assert "objects 7 and 41" in result.output  # numbers are those of the file, not those of a part for validation


@pytest.mark.parametrize("named", [False, True])
@pytest.mark.parametrize("command", ["classify", "map"])
def test_distances_with_classes_are_predicted(tmp_path, command, named):
    X, y = load_iris(return_X_y=True)
    D = pd.DataFrame(np.linalg.norm(X[::5, None] - X[::5], axis=2)).add_prefix("to ")
    D = D.assign(kind=np.array(["x", "y", "z"])[y[::5]])
    if named:
        D.insert(0, "flower", [f"flower {i}" for i in range(len(D))])
    D.to_csv(tmp_path / "D.csv", index=False)
    options = ["--metric", "precomputed", "--target", "kind", "-o", tmp_path / "out"]
    assert run(command, tmp_path / "D.csv", *options, *FAST).exit_code == 0
    predict = ["predict", tmp_path / "out" / "model.skops"]
    D[-10:].to_csv(tmp_path / "new.csv", index=False)
    result = run(*predict, tmp_path / "new.csv", "-o", tmp_path / "p.csv")
    assert result.exit_code == 0, result.output
    column = "predicted" if command == "classify" else "node"
    expected = pd.read_csv(tmp_path / "out" / "predictions.csv")[column][-10:]
    np.testing.assert_array_equal(pd.read_csv(tmp_path / "p.csv")[column], expected)
    D.drop(columns="kind").assign(more=0.5).to_csv(tmp_path / "more.csv", index=False)
    result = run(*predict, tmp_path / "more.csv", "-o", tmp_path / "p.csv")
    assert "has 31 columns of numbers, but the model takes the distances to 30 objects" in result.output


def test_pictures(tmp_path):
    Image = pytest.importorskip("PIL.Image")
    rng = np.random.default_rng(0)
    for i in range(20):
        folder = tmp_path / "pictures" / ("dark" if i % 2 else "light")
        folder.mkdir(parents=True, exist_ok=True)
        pixels = rng.integers(0, 100, (20, 24)) + (0 if i % 2 else 120)
        Image.fromarray(pixels.astype(np.uint8)).save(folder / f"{i}.png")
    result = run("classify", tmp_path / "pictures", "-o", tmp_path / "out", "--model", "glvq", *FAST)
    assert result.exit_code == 0, result.output
    assert "20 pictures" in result.output
    result = run("predict", tmp_path / "out" / "model.skops", tmp_path / "pictures", "-o", tmp_path / "p.csv")
    assert result.exit_code == 0, result.output
    written = pd.read_csv(tmp_path / "p.csv")
    assert [name.startswith(label) for name, label in zip(written["name"], written["predicted"])] == [True] * 20


def test_what_does_not_fit_together_is_said(words, wine, tmp_path):
    folder = tmp_path / "out"
    said = {
        "Columns can be named for tables only": run("map", words, "--metric", "edit", "--target", "x", "-o", folder),
        "'lgmlvq' is not a model for objects; choose": run(
            "classify", words, "--metric", "edit", "--model", "lgmlvq", "-o", folder
        ),
        "'rglvq' is not a model for tables; choose": run(
            "classify", wine, "--target", "target", "--model", "rglvq", "-o", folder
        ),
        "A view with a mapping needs a table": run("view", words, "--metric", "edit", "--mapping", "-o", folder),
        "File or folder not found": run("predict", tmp_path / "model.skops", wine),
        "is not a model that protolearn": run("info", wine),
    }
    for sentence, result in said.items():
        assert sentence in result.output
        assert result.exit_code == 1
    words = tmp_path / "words.txt"
    words.write_text("a\nb\nc\n")
    result = run("classify", words, "--metric", "edit", "-o", folder)
    assert "contains no classes to learn; give them by a tab and the class after each string." in result.output


def test_markup_in_files_is_shown(tmp_path):
    table = frame_of(**{"[bold]x": np.arange(40) % 5, "\x1b[2J": ["[red]u", "[/]"] * 20})
    table.to_csv(tmp_path / "data.csv", index=False)
    printed = run("classify", tmp_path / "data.csv", "--target", "class", "-o", tmp_path / "out", *FAST).output
    assert "[bold]x" in printed
    assert "\x1b" not in printed
    assert re.search(r"^\N{REPLACEMENT CHARACTER}\[2J +category", printed, flags=re.MULTILINE)


def test_texts_of_files_are_inert_in_json_and_csv(tmp_path):
    hidden, formula = "\x85\x9b31m\x7f\u202e\u2066\u200f\u2028", "=HYPERLINK(A1)"
    table = frame_of(name=[f"-{i}+{hidden}{i}" for i in range(40)], **{f"kind{hidden}": ["@u", "-5"] * 20})
    table["class"] = np.where(table["class"] == "a", formula, "-1")
    table.to_csv(tmp_path / "data.csv", index=False)
    result = run("classify", tmp_path / "data.csv", "--target", "class", "-o", tmp_path / "out", *FAST, "--json")
    assert result.exit_code == 0, result.output
    model = tmp_path / "out" / "model.skops"
    for text in (
        result.output,
        (tmp_path / "out" / "report.json").read_text(encoding="utf-8"),
        run("predict", model, tmp_path / "data.csv", "-o", tmp_path / "p.csv", "--json").output,
        run("explain", model, tmp_path / "data.csv", "--json").output,
        run("info", model, "--json").output,
    ):
        assert json.loads(text)
        assert not set(hidden) - {"3", "1", "m"} & set(text)
    for path in (tmp_path / "out" / "predictions.csv", tmp_path / "p.csv"):
        raw = pd.read_csv(path)
        assert set(raw["predicted"]) == {f"'{formula}", "-1"}
        assert raw["name"].str.startswith("'-").all()
        again = read_table(path)
        assert again["name"].tolist() == table["name"].tolist()
        assert again["predicted"].tolist() == table["class"].tolist()


def test_warnings_are_printed_without_controls(tmp_path, monkeypatch):
    def load(path):
        warnings.warn("old \x9b31m version", UserWarning, stacklevel=2)
        raise ValueError("no model")

    (tmp_path / "model.skops").touch()
    monkeypatch.setattr("protolearn.load", load)
    result = run("info", tmp_path / "model.skops")
    assert result.exit_code == 1
    assert "Warning: old \N{REPLACEMENT CHARACTER}31m version" in result.output
