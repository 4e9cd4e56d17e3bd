"""The chapter of the demo on maps to a view: its numbers follow from the maps that it shows."""

import re

import numpy as np
import pytest

pytest.importorskip("typer")
pytest.importorskip("matplotlib")

from scipy.spatial.distance import cdist
from sklearn.manifold import trustworthiness


@pytest.fixture
def section(demo):
    return demo.sections["mappings"]


def test_sheet(section):
    """The roll is unrolled, and comes back from the plane, as the text says."""
    charting, new = section.results["charting"], section.results["new"]
    text = " ".join(section.html().split())
    numbers = re.findall(r"from that of the data by ([\d.]+), .* of ([\d.]+), where .* have moved by ([\d.]+);", text)
    ((defect, trusted, moved),) = [tuple(map(float, found)) for found in numbers]
    places = charting.transform(new)
    gaps = np.sqrt(np.square(charting.inverse_transform(places) - new).sum(axis=1))
    assert abs(defect - charting.isometry_defect_) <= 0.00501
    assert abs(trusted - trustworthiness(new, places, n_neighbors=12)) <= 0.0000501
    assert abs(moved - gaps.mean()) <= 0.00501
    assert charting.isometry_defect_ < 0.5
    assert gaps.mean() < 0.02 * np.ptp(new[:, 0])


def test_table(section):
    digits, views = section.results["digits"], section.results["views"]
    (table,) = section.tables
    assert [row[0] for row in table.rows] == list(views)
    for name, shown in table.rows:
        old, new = views[name].embedding_, views[name].transform(digits.X_new)
        right = (digits.y[cdist(new, old).argmin(axis=1)] == digits.y_new).mean()
        assert abs(float(shown.rstrip("%")) - 100 * right) <= 0.0501


def test_new_digits_are_new(section):
    digits = section.results["digits"]
    assert len(digits.X) < len(digits.X_new)
    assert cdist(digits.X, digits.X_new).min() > 0
