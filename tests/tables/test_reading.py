"""Tables from files: what was written is what is read, however it was written, and damage is said."""

import csv
import io
from datetime import date, timedelta
from decimal import Decimal
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("pandas")

import pandas as pd
from hypothesis import example, given, settings
from hypothesis import strategies as st

from protolearn.tables import TablePreparation, as_labels, read_distances, read_pictures, read_strings, read_table
from protolearn.tables._dialect import date_format, find_dialect, read_dates, read_numbers, text_encoding, unique_names

WORDS = st.text(st.characters(min_codepoint=33, max_codepoint=0x24F, exclude_characters='";,\t|\x7f'), min_size=1)


def is_word(text):
    """Tell whether a text is read as nothing else: neither as a number nor as a truth value or a missing one."""
    missing = pd.read_csv(io.StringIO(f'"{text}"\n'), header=None, na_values=["?"], sep=";")
    return isinstance(missing.iloc[0, 0], str) and read_numbers(pd.Series([text])).isna().all() and text == text.strip()


@settings(max_examples=40, deadline=None)
@given(
    numbers=st.lists(st.floats(-1e6, 1e6).map(lambda x: round(x, 4)), min_size=2, max_size=8),
    words=st.lists(WORDS.filter(is_word), min_size=8, max_size=8),
    separator=st.sampled_from([",", ";", "\t", "|"]),
    decimal=st.sampled_from([".", ","]),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
    end=st.sampled_from(["\n", "\r\n"]),
)
def test_tables_are_read_as_they_were_written(tmp_path_factory, numbers, words, separator, decimal, encoding, end):
    decimal = "." if separator == "," else decimal
    numbers = [*numbers, 0.25]  # which shows what the decimal mark is
    table = pd.DataFrame({"size": numbers, "a word": (words * 2)[: len(numbers)], "same": 1})
    path = tmp_path_factory.mktemp("tables") / "table.csv"
    text = table.to_csv(index=False, sep=separator, decimal=decimal, lineterminator=end)
    path.write_bytes(text.encode(encoding))
    found = read_table(path)
    assert list(found.columns) == list(table.columns)
    np.testing.assert_array_equal(found["size"], table["size"])
    assert found["a word"].tolist() == table["a word"].tolist()
    again = read_table(path, decimal=decimal)
    pd.testing.assert_frame_equal(again, found)


@pytest.mark.parametrize("separator", [";", "\t", "|"])
@pytest.mark.parametrize("others", [["x", "y"], ["Smith, John", "Doe; Jane"]])
def test_separators_within_quotes(tmp_path, separator, others):
    path = tmp_path / "table.txt"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, delimiter=separator)
        writer.writerows([["n", "name", "note"], *([i / 8, other, "a\nb"] for i, other in enumerate(others * 3))])
    found = read_table(path)
    assert found["name"].tolist() == others * 3
    assert found["note"].tolist() == ["a\nb"] * 6
    np.testing.assert_array_equal(found["n"], np.arange(6) / 8)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('a,b\n"1,234.5",x\n"12,345,678",y\n', [1234.5, 12345678.0]),  # marks between thousands
        ('a,b\n"1,234",x\n"5,678",y\n', [1234.0, 5678.0]),  # in a table with commas they can be nothing else
        ("a;b\n1.234,5;x\n12.345.678;y\n", [1234.5, 12345678.0]),
        ("a;b\n1,234;x\n5,678;y\n", [1.234, 5.678]),  # as spreadsheets in most of Europe write it
        ("a;b\n1,2;1.5\n3,4;2.5\n", [1.2, 3.4]),
        ("a;b\n1.234;x\n5.678;y\n", [1.234, 5.678]),
        ("a\tb\n1e-3\tx\n-2.5E+2\ty\n", [1e-3, -250.0]),
        ("a,b\n -,x\n 7 ,y\n", [np.nan, 7.0]),
    ],
)
def test_marks_in_numbers(tmp_path, text, expected):
    path = tmp_path / "table.csv"
    path.write_text(text)
    np.testing.assert_array_equal(read_table(path)["a"], expected)


def test_decimal_mark_can_be_given(tmp_path):
    path = tmp_path / "table.tsv"
    path.write_text("a\tb\n1,234\tx\n5,678\ty\n")
    with pytest.raises(ValueError, match=r"such as 1,234 in 'a' may mean 1234 or 1.234, .* give the decimal mark"):
        read_table(path)
    assert read_table(path, decimal=".")["a"].tolist() == [1234.0, 5678.0]
    assert read_table(path, decimal=",")["a"].tolist() == [1.234, 5.678]
    with pytest.raises(ValueError, match="decimal=';' must be one of"):
        read_table(path, decimal=";")


@settings(max_examples=60, deadline=None)
@example(values=[1.25, 3.5], whole=150, separator="\t", decimal=",")
@example(values=[1.25, 2.5], whole=0, separator="\t", decimal=",")
@example(values=[7.125], whole=150, separator=";", decimal=",")
@given(
    values=st.lists(st.integers(-3_000_000, 3_000_000).map(lambda x: x / 1000), min_size=1, max_size=6),
    whole=st.sampled_from([0, 1, 150]),
    separator=st.sampled_from([",", ";", "\t", "|"]),
    decimal=st.sampled_from([".", ","]),
)
def test_numbers_are_read_as_they_were_written_or_refused(tmp_path_factory, values, whole, separator, decimal):
    decimal = "." if separator == "," else decimal
    texts = [*["3"] * whole, *(f"{value:.3f}".replace(".", decimal) for value in values)]
    path = tmp_path_factory.mktemp("marks") / "table.csv"
    path.write_text("\n".join([f"a{separator}b", *(f"{text}{separator}x" for text in texts)]))
    try:
        found = read_table(path)
    except ValueError as error:
        assert "give the decimal mark" in str(error)  # noqa: PT017
        assert (separator in "\t|", decimal) == (True, ",")
        found = read_table(path, decimal=decimal)
    np.testing.assert_array_equal(found["a"], [*[3.0] * whole, *values])


@pytest.mark.parametrize(
    ("text", "expected", "mark"),
    [
        ("a\tb\n1,250\t7\n2,5\t7\n", {"a": [1.25, 2.5]}, ","),  # one number shows what the others mean
        ("a\tb\n1,250\t2.5\n", {"a": [1250.0], "b": [2.5]}, "."),
        ("a;b\n1.250;2,5\n", {"a": [1250.0], "b": [2.5]}, ","),
        ("a;b\n1.250;1.234.567\n", {"a": [1250.0], "b": [1234567.0]}, ","),
        ("a\tb\n0,125\t1,250\n", {"a": [0.125], "b": [1.25]}, ","),  # no group begins with 0
        ('a,b\n"1,250","2,5"\n', {"a": [1.25], "b": [2.5]}, ","),
        ("a;b\n1;2\n", {"a": [1], "b": [2]}, None),
        ("a;b\nsay 2,5;1.250\n", {"b": [1.25]}, "."),  # texts with numbers in them show nothing
        ("a\tb\n1,250\t-\nNA\t1.5\n?\t--\n", {"a": [1250.0, np.nan, np.nan]}, "."),
    ],
)
def test_columns_are_read_with_the_mark_of_the_others(tmp_path, text, expected, mark):
    path = tmp_path / "table.csv"
    path.write_text(text)
    found = read_table(path)
    for name, values in expected.items():
        np.testing.assert_array_equal(found[name], values)
    assert found.attrs["decimal"] == mark


@pytest.mark.parametrize("text", ["a\tb\n1,250\t1.250\n", "a;b\n1,250;1.250\n", "a;b;c\n1,250;2,5;2.5\n"])
def test_numbers_that_may_mean_two_things_are_refused(tmp_path, text):
    path = tmp_path / "table.csv"
    path.write_text(text)
    with pytest.raises(ValueError, match=r"such as 1,250 in 'a'.* may mean 1250 or 1.25"):
        read_table(path)
    for decimal, value in ((".", 1250.0), (",", 1.25)):
        assert read_table(path, decimal=decimal)["a"].tolist() == [value]


@pytest.mark.parametrize("suffix", [".parquet", ".xlsx"])
def test_texts_of_binary_tables_are_numbers_by_the_same_rule(tmp_path, suffix):
    pytest.importorskip("pyarrow" if suffix == ".parquet" else "openpyxl")
    path = tmp_path / f"table{suffix}"
    frame = pd.DataFrame({"a": ["1,250", "3,125"], "n": [1.234, 2.5]})
    write = pd.DataFrame.to_parquet if suffix == ".parquet" else pd.DataFrame.to_excel
    write(frame, path, index=False)
    with pytest.raises(ValueError, match=r"may mean 1250 or 1.25"):
        read_table(path)
    assert read_table(path, decimal=".")["a"].tolist() == [1250.0, 3125.0]
    write(frame.assign(b=["2,5", "3"]), path, index=False)
    found = read_table(path)
    assert found["a"].tolist() == [1.25, 3.125]
    assert found["n"].tolist() == [1.234, 2.5]


def test_numbers_among_texts_stay_as_they_are(tmp_path):
    mixed = pd.Series([1.234, "2,5", "7,125", None], dtype=object)
    np.testing.assert_array_equal(read_numbers(mixed), [1.234, 2.5, 7.125, np.nan])
    pytest.importorskip("openpyxl")
    path = tmp_path / "table.xlsx"
    pd.DataFrame({"a": mixed, "b": "x"}).to_excel(path, index=False)
    np.testing.assert_array_equal(read_table(path)["a"], [1.234, 2.5, 7.125, np.nan])


def test_new_tables_are_read_as_the_training_table(tmp_path):
    path = tmp_path / "table.tsv"
    path.write_text("a\tcode\n2,5\t01\n1,250\tA1\n0,5\t02\n4,5\t01\n")
    preparation = TablePreparation().fit(read_table(path))
    assert preparation.decimal_ == ","
    path.write_text("a\tcode\n1,250\t01\n")
    found = read_table(path, like=preparation)
    assert found["a"].tolist() == [1.25]
    assert preparation.transform(found)["code"].tolist() == ["01"]
    path.write_text("a\tcode\n1.250\t01\n")
    with pytest.raises(ValueError, match=r"such as 1.250 in 'a' may mean 1.25 or 1250"):
        read_table(path, like=preparation)
    path.write_text("a\tcode\n1.25\t01\n")  # which shows its mark
    found = read_table(path, like=preparation)
    assert found["a"].tolist() == [1.25]
    assert found.attrs["notes"] == ["The table has decimal points, but the training table had decimal commas."]


def test_texts_among_numbers_are_read_with_the_mark_of_the_table(tmp_path):
    path = tmp_path / "table.tsv"
    lines = [f"{i},{125 + i}\t{i},5" for i in range(1, 21)]
    path.write_text("\n".join(["a\tb", *lines, "<1\t2,5"]))
    preparation = TablePreparation().fit(read_table(path))
    assert preparation.columns_[0].done == "scaled; 1 such as <1 treated as missing"
    assert (preparation.columns_[0].low, preparation.columns_[0].high) == (1.126, 20.145)
    path.write_text("a\tb\n1,126\t0,5\n<1\t0,5\n")
    np.testing.assert_array_equal(preparation.transform(read_table(path))["a"], [1.126, np.nan])
    path.write_text("a\tb\n1,126\t0.5\n<1\t0.5\n")
    np.testing.assert_array_equal(preparation.transform(read_table(path))["a"], [1126, np.nan])


def test_one_column_of_decimal_commas_is_no_table_of_row_names(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("x\n1,250\n2,5\n")
    with pytest.raises(ValueError, match="two values or a number with a decimal comma, such as 1,250"):
        read_table(path)
    path.write_text('x\n"1,250"\n"2,5"\n')
    assert read_table(path)["x"].tolist() == [1.25, 2.5]
    path.write_text("x\nfirst,250\nsecond,5\n")
    assert list(read_table(path).columns) == ["row", "x"]


def test_words_for_missing_values_are_texts_among_texts(tmp_path):
    path = tmp_path / "table.csv"
    words = ["None", "NA", "null", "?", ""]
    path.write_text("\n".join(["c,n,b,d", *(f"{w},{w},{w},{w}" for w in words), "x,1.5,True,2020-01-02", ",2,False,"]))
    found = read_table(path)
    assert found["c"].isna().tolist() == [False] * 4 + [True, False, True]
    assert as_labels(found["c"]).tolist() == ["None", "NA", "null", "?", None, "x", None]
    np.testing.assert_array_equal(found["n"], [np.nan] * 5 + [1.5, 2])
    assert found["b"].isna().tolist() == [True] * 5 + [False] * 2
    more = pd.concat([found, found.assign(d="2020-02-03", b=True)])
    kinds = {column.name: (column.kind, column.missing) for column in TablePreparation().fit(more).columns_}
    assert [kinds[name][0] for name in "cnbd"] == ["category", "number", "boolean", "date"]
    assert kinds["d"][1] == pytest.approx(6 / 14)


@pytest.mark.parametrize(
    ("data", "encoding"),
    [
        ("grün".encode(), "utf-8"),
        ("grün".encode("latin-1"), "cp1252"),
        (b"x" * 2**21 + "ü".encode("latin-1"), "cp1252"),
        (b"x" * (2**20 + 4095) + "ü".encode(), "utf-8"),  # a letter that two blocks share
        ("grün".encode("utf-16"), "utf-16"),
        ("grün".encode("utf-32"), "utf-32"),
        (b"\x00\x00\xfe\xff" + "grün".encode("utf-32-be"), "utf-32"),
        ("a,b\n1,2\n".encode("utf-16-be"), "utf-16-be"),
    ],
)
def test_encodings(tmp_path, data, encoding):
    path = tmp_path / "text"
    path.write_bytes(data)
    assert text_encoding(path) == encoding


def test_headers(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("1,2\n3,4\n")
    dialect = find_dialect(path)
    assert (dialect.header, dialect.names) == (False, ["column 1", "column 2"])
    assert read_table(path).to_numpy().tolist() == [[1, 2], [3, 4]]
    path.write_text(",a,a,\n1,2,3,4\n")
    assert list(read_table(path).columns) == ["column 1", "a", "a (2)", "column 4"]
    assert unique_names(["a", "a (2)", "a"]) == ["a", "a (2)", "a (3)"]


@pytest.mark.parametrize("suffix", [".parquet", ".xlsx"])
def test_binary_tables(tmp_path, suffix):
    pytest.importorskip("pyarrow" if suffix == ".parquet" else "openpyxl")
    days = pd.date_range("2024-02-28", periods=3)
    table = pd.DataFrame({"n": [1.5, np.nan, 3.0], "word": ["x", None, "z"], "day": days, "yes": [True, False, True]})
    path = tmp_path / f"table{suffix}"
    if suffix == ".parquet":
        table.to_parquet(path)
    else:
        table.to_excel(path, index=False)
    found = read_table(path)
    assert list(found.columns) == list(table.columns)
    np.testing.assert_array_equal(found["n"], table["n"])
    assert found["word"].isna().tolist() == [False, True, False]
    assert pd.to_datetime(found["day"]).tolist() == days.tolist()
    assert found["yes"].tolist() == [True, False, True]
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(ValueError, match="cannot be read as"):
        read_table(path)


def test_parquet_that_claims_too_much(tmp_path):
    pytest.importorskip("pyarrow")
    path = tmp_path / "bomb.parquet"
    pd.DataFrame({f"c{i}": np.zeros(200_000, np.int8) for i in range(400)}).to_parquet(path)
    with pytest.raises(ValueError, match=r"200,000 rows and 400 columns are too many for its"):
        read_table(path)


def test_arrays(tmp_path):
    X, y = np.arange(12.0).reshape(4, 3), np.array(["a", "b", "a", "b"])
    np.save(tmp_path / "X.npy", X)
    np.savez(tmp_path / "both.npz", X=X, y=y)
    np.savez_compressed(tmp_path / "other.npz", train=X, test=X)
    np.save(tmp_path / "objects.npy", np.array([[1, "a"]], dtype=object), allow_pickle=True)
    np.save(tmp_path / "line.npy", X[0])
    np.testing.assert_array_equal(read_table(tmp_path / "X.npy"), X)
    both = read_table(tmp_path / "both.npz")
    assert both["y"].tolist() == y.tolist()
    np.testing.assert_array_equal(both.drop(columns="y"), X)
    for name, message in [
        ("other.npz", "name one of them 'X'"),
        ("objects.npy", "cannot be read"),
        ("line.npy", "shape"),
    ]:
        with pytest.raises(ValueError, match=message):
            read_table(tmp_path / name)


@settings(max_examples=40, deadline=None)
@example(b"\r\x01", ".csv")
@given(data=st.binary(max_size=400), suffix=st.sampled_from([".csv", ".npy", ".npz", ".xlsx", ".parquet"]))
def test_any_bytes_are_a_table_or_refused(tmp_path_factory, data, suffix):
    path = tmp_path_factory.mktemp("any") / f"table{suffix}"
    path.write_bytes(data)
    try:
        assert len(read_table(path))
    except ValueError as error:
        assert str(path) in str(error)  # noqa: PT017


@pytest.mark.parametrize("form", ["%Y-%m-%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%b-%Y", "%Y-%m-%dT%H:%M:%SZ"])
def test_dates(form):
    days = pd.Series(pd.date_range("2019-12-20", periods=40))
    texts = days.dt.strftime(form)
    found = date_format(texts)
    assert read_dates(texts, found).tolist() == days.tolist()
    assert date_format(pd.Series(["3.14.15", "2.71.82"])) is None
    assert date_format(pd.Series(["1.5", "2.5"])) is None
    assert read_dates(pd.Series(["2020-01-02"]), "%d.%m.%Y").tolist() == [pd.Timestamp("2020-01-02")]


@given(st.lists(st.one_of(st.none(), st.integers(-5, 5), st.floats(allow_nan=True), st.text(max_size=3)), min_size=1))
def test_labels_are_strings_or_none(values):
    labels = as_labels(pd.Series(values, dtype=object))
    assert len(labels) == len(values)
    for value, label in zip(values, labels):
        missing = value is None or (isinstance(value, float) and np.isnan(value)) or not str(value).strip()
        assert (label is None) == missing
        assert missing or isinstance(label, str)


def test_strings(tmp_path):
    path = tmp_path / "words.txt"
    path.write_bytes("zwei\tde\r\n\r\ntwo\ten\r\ntres\t\r\n".encode("utf-16"))
    objects = read_strings(path)
    assert objects.X == ["zwei", "two", "tres"]
    assert objects.labels.tolist() == ["de", "en", None]
    path.write_text("a b\nc d\n")
    assert read_strings(path).labels is None
    path.write_text(" \n")
    with pytest.raises(ValueError, match="contains no strings; write one string per line"):
        read_strings(path)


def test_sequences(tmp_path):
    path = tmp_path / "cells.fasta"
    path.write_text(">first, of two\nACGT\n  AC\n\n>second\nGG\n")
    objects = read_strings(path)
    assert objects.X == ["ACGTAC", "GG"]
    assert objects.names == ["first, of two", "second"]
    path.write_text(">first\n>second\nGG\n")
    with pytest.raises(ValueError, match="no sequence after the header >first"):
        read_strings(path)
    path.write_text(">=\n>>\n")  # strings as any other
    assert read_strings(path).X == [">=", ">>"]


@pytest.mark.parametrize("separator", [",", ";"])
def test_a_table_is_no_list_of_strings(tmp_path, separator):
    path = tmp_path / "words.csv"
    path.write_text(f"word{separator}language\nzwei{separator}de\n")
    with pytest.raises(ValueError, match="is a table, and whole lines would be compared"):
        read_strings(path)
    path.write_text(f"a sentence{separator} and more\nanother\n")
    assert len(read_strings(path).X) == 2


def test_names_of_rows_and_columns_in_another_order_are_refused(tmp_path):
    path = tmp_path / "D.csv"
    path.write_text("name,a,b,c\nc,2,3,0\na,0,1,2\nb,1,0,3\n")
    with pytest.raises(ValueError, match="the same names in rows and columns, but in another order"):
        read_distances(path)
    known = SimpleNamespace(n_features_in_=3)
    assert read_distances(path, model=known).X.tolist() == [[2, 3, 0], [0, 1, 2], [1, 0, 3]]  # to a, b and c


def test_distances_with_gaps_are_refused(tmp_path):
    path = tmp_path / "D.csv"
    path.write_text("a,b\n0,1\n1,\n")
    with pytest.raises(ValueError, match="values are missing or infinite"):
        read_distances(path)
    path.write_text("a,b,c\n0,1,x\n1,0,x\n")
    assert read_distances(path).names == ["x", "x"]
    path.write_text("a,b,c,d\n0,1,x,y\n1,0,x,y\n")
    with pytest.raises(ValueError, match="contains texts where distances are expected"):
        read_distances(path)


def test_pictures_gray_or_in_color(tmp_path):
    Image = pytest.importorskip("PIL.Image")
    gray = np.tile(np.arange(0, 256, 16, dtype=np.uint8), (16, 1))
    Image.fromarray(gray).save(tmp_path / "gray.png")
    table = read_pictures(tmp_path).X
    np.testing.assert_allclose(table.to_numpy().reshape(16, 16), gray / 255, atol=1 / 255)
    assert all(name.startswith("gray") for name in table)
    Image.fromarray(np.dstack([gray, gray * 0, gray * 0])).save(tmp_path / "red.png")
    table = read_pictures(tmp_path).X
    assert table.shape == (2, 768)
    assert table.filter(like="blue").iloc[1].max() == 0
    assert read_pictures(tmp_path, ["gray 0,0"]).X.columns[0] == "gray 0,0"


STRANGE = {
    "lists": [[1.0, 2.0], [3.0]] * 3,
    "bytes": [b"ab", b"\xff"] * 3,
    "records": [{"a": 1}, {"a": 2}] * 3,
}


@pytest.mark.parametrize("what", STRANGE)
def test_values_that_are_several_or_bytes_are_refused_or_ignored(tmp_path, what):
    pytest.importorskip("pyarrow")
    path = tmp_path / "table.parquet"
    pd.DataFrame({"x": [1.0, 2, 3, 4, 5, 6], "odd": STRANGE[what]}).to_parquet(path)
    found = read_table(path)
    with pytest.raises(ValueError, match=f"Column 'odd' contains {what}, but needs one number, text or date"):
        TablePreparation().fit(found)
    assert TablePreparation(ignore=["odd"]).fit(found).get_feature_names_out().tolist() == ["x"]
    with pytest.raises(ValueError, match=f"Each label must be .* contain {what}"):
        as_labels(found["odd"])
    with pytest.raises(ValueError, match=f"contains {what} in column 'odd', not distances"):
        read_distances(path)
    trained = TablePreparation().fit(found.assign(odd=[1.5, 2, 3, 4, 5, 7]))
    with pytest.raises(ValueError, match=f"Column 'odd' contains {what}"):
        trained.transform(found)


def test_types_of_parquet_are_numbers_dates_and_categories(tmp_path):
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "table.parquet"
    columns = {
        "decimal": pa.array([Decimal("1.250"), Decimal("3.500"), None]),
        "day": pa.array([date(2020, 1, 1), date(2020, 2, 1), None]),
        "while": pa.array([timedelta(1), timedelta(2.5), None]),
        "kind": pa.array(["a", "b", None]).dictionary_encode(),
        "half": pa.array(np.array([1, 2, 4], np.float16)),
        "nul": pa.array(["a\0b", "c", None]),
        "time": pa.array([1, 2, None], pa.timestamp("s", "UTC")),
    }
    parquet.write_table(pa.table(columns), path)
    table = read_table(path)
    preparation = TablePreparation().fit(table)
    assert [c.kind for c in preparation.columns_] == [
        "number",
        "date",
        "number",
        "category",
        "number",
        "category",
        "date",
    ]
    prepared = preparation.transform(table)
    np.testing.assert_array_equal(prepared["decimal"], [1.25, 3.5, np.nan])
    np.testing.assert_array_equal(prepared["day"], [0, 31, np.nan])
    np.testing.assert_array_equal(prepared["while"], [1, 2.5, np.nan])
    assert {c.name: (c.low, c.high) for c in preparation.columns_}["while"] == (1, 2.5)


def test_errors_in_excel_are_missing(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in [["NA", "n", "kind"], [1, 1.5, "NA"], [2, "#DIV/0!", "#REF!"], [3, "#N/A", "None"], [5, "NA", "u"]]:
        book.active.append(row)
    book.save(tmp_path / "table.xlsx")
    found = read_table(tmp_path / "table.xlsx")
    np.testing.assert_array_equal(found["n"], [1.5, np.nan, np.nan, np.nan])
    assert as_labels(found["kind"]).tolist() == ["NA", None, "None", "u"]
    assert found["NA"].tolist() == [1, 2, 3, 5]


def test_dates_that_could_have_the_month_first_are_said():
    def done(texts):
        return TablePreparation().fit(pd.DataFrame({"day": texts, "x": range(len(texts))})).columns_[0].done

    assert done(["03/04/2020", "05/06/2020"]).endswith("(read as %d/%m/%Y, but could also be %m/%d/%Y)")
    assert done(["03/04/2020", "13/06/2020"]).endswith("(read as %d/%m/%Y)")
    assert done(["03/04/2020", "05/16/2020"]).endswith("(read as %m/%d/%Y)")
