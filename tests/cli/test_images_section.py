"""The chapter of the demo on images: its numbers follow from the searches and classifiers that it shows."""

import re

import numpy as np
import pytest

pytest.importorskip("typer")
pytest.importorskip("matplotlib")

from scipy.spatial.distance import cdist


@pytest.fixture
def section(demo):
    return demo.sections["images"]


def test_queries_are_not_in_the_index(section):
    results = section.results
    assert not set(results["queries"]) & set(results["known"])
    assert len(results["queries"]) + len(results["known"]) == len(results["y"])
    assert sorted(results["y"][results["queries"]]) == ["blue", "brown", "red", "white"]


def test_search_by_plain_colors(section):
    """Without learning, what is found are the nearest scaled colors."""
    X, queries, known = (section.results[name] for name in ("colors", "queries", "known"))
    scaled = (X - X[known].mean(axis=0)) / X[known].std(axis=0)
    found = section.results["hits"]["colors as they are"]
    nearest = np.argsort(cdist(scaled[queries], scaled[known]), axis=1)[:, : found.indices.shape[1]]
    np.testing.assert_array_equal(found.indices, nearest)
    np.testing.assert_array_equal(found.labels, section.results["y"][known][nearest])


def test_table_and_text(section):
    """Rates of the table are those that were measured, and the text quotes two of them."""
    rates, text = section.results["rates"], " ".join(section.html().split())
    (table,) = section.tables
    assert [row[0] for row in table.rows] == list(rates)
    for name, *cells in table.rows:
        np.testing.assert_allclose([float(cell.rstrip("%")) for cell in cells], 100 * rates[name].rates, atol=0.0501)
    ((learned, plain),) = re.findall(r"of 11 results, (\d+)% have the class of the query, instead of (\d+)%", text)
    assert abs(float(learned) - 100 * rates["learned metric"].rates[1]) <= 0.501
    assert abs(float(plain) - 100 * rates["colors as they are"].rates[1]) <= 0.501


def test_textures_in_the_text(section):
    parts, models = section.results["parts"], section.results["models"]
    text = " ".join(section.html().split())
    (shown,) = re.findall(r"misclassified in (\d+)% of all cases, and patches in color in (\d+)%", text)
    wrong = [100 * np.mean(model.predict(parts.X_unseen) != parts.y_unseen) for model in models.values()]
    np.testing.assert_allclose([float(number) for number in shown], wrong, atol=0.501)
    assert not set(parts.sources_train) & set(parts.sources_unseen)
