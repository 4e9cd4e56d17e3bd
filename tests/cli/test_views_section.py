"""The chapter of the demo on views: its numbers follow from the views that it shows."""

import re

import numpy as np
import pytest

pytest.importorskip("typer")
pytest.importorskip("matplotlib")

from scipy.spatial.distance import cdist
from sklearn.manifold import trustworthiness

ROUNDING, TIES = 0.0005, 0.0001  # of pixels in 17 steps, some distances are equal, and ordered in another way


@pytest.fixture
def section(demo):
    return demo.sections["views"]


def neighbors(points):
    return np.argsort(cdist(points, points) + np.diag(np.full(len(points), np.inf)), axis=1, kind="stable")


def test_table(section):
    X, y, views = (section.results[name] for name in ("X", "y", "views"))
    (table,) = section.tables
    assert [row[0] for row in table.rows] == list(views)
    for name, trusted, kept, same, _ in table.rows:
        hits = (y[neighbors(views[name])[:, :10]] == y[:, None]).mean()
        expected = [trustworthiness(X, views[name], n_neighbors=10), trustworthiness(views[name], X, n_neighbors=10)]
        np.testing.assert_allclose([float(trusted), float(kept), float(same)], [*expected, hits], atol=ROUNDING + TIES)


def test_nearest_in_the_text(section):
    X, y, views = (section.results[name] for name in ("X", "y", "views"))
    text = " ".join(section.html().split())
    same = 100 * (y[neighbors(views["t-SNE"])[:, 0]] == y).mean()
    (shown,) = re.findall(r"([\d.]+)% of the nearest neighbors are the same digit", text)
    assert abs(float(shown) - same) <= 0.0501
    kept = [100 * (neighbors(X)[:, 0] == neighbors(views[name])[:, 0]).mean() for name in list(views)[:2]]
    (shown,) = re.findall(r"kept for (\d+)% of the digits on the left and (\d+)% on the right", text)
    np.testing.assert_allclose([float(number) for number in shown], kept, atol=0.501)
