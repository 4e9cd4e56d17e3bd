"""Results as tables: printed, in notebooks, and as data frames."""

from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

from protolearn import GMLVQ, RelationalGLVQ
from protolearn.core.printing import Sheet
from protolearn.lvq import RelevanceStability, prototype_table
from protolearn.metrics import margin_bound, point_quality, view_quality

EVIL = "<script>alert('&')</script>"


class Cells(HTMLParser):
    """Reads a page as a browser would, and keeps its tags and its texts."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.texts = set(), []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)

    def handle_data(self, data):
        self.texts.append(data)


@pytest.fixture(scope="module")
def model():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(40, 3)), columns=["plain", EVIL, "a & b"])
    y = np.where(X["plain"] > 0, EVIL, "x")
    return GMLVQ(random_state=0, max_iter=5).fit(X, y), X


def test_text_and_page_have_the_same_cells():
    sheet = Sheet("A caption.", ["name", "value"], [[EVIL, "1.5"], ["b", "20 %"]], "A footer.")
    lines = sheet.text().split("\n")
    assert (lines[0], lines[-1]) == ("A caption.", "A footer.")
    assert len({len(line) for line in lines[1:-1]}) == 1  # numbers are to the right
    page = Cells(sheet.html())
    assert page.texts == ["A caption.", "name", "value", EVIL, "1.5", "b", "20 %", "A footer."]


def results(model, X):
    quality = view_quality(X, X.to_numpy()[:, :2])
    bound = margin_bound([0.2, 0.4], n_prototypes=2, radius=1.0, rho=0.4)
    words = RelationalGLVQ(metric="edit").fit(["kit", "mit", "cat", "rat"], [EVIL, EVIL, "c", "c"])
    return [
        model.explain(X[:1]),
        model.explain(X),
        model.counterfactual(X[:3]),
        prototype_table(model),
        quality,
        bound,
        words.explain(["bit"]),
    ]


def test_results_print_and_show_what_the_data_hold_as_text(model):
    for result in results(*model):
        page = Cells(result._repr_html_())
        assert page.tags <= {"div", "p", "table", "thead", "tbody", "tr", "th", "td"}
        shown = "".join(page.texts)
        for word in str(result).split():
            assert word in shown
        assert len(result.to_frame())


def test_frames_hold_the_numbers(model):
    classifier, X = model
    explanation = classifier.explain(X)
    frame = explanation.to_frame()
    assert np.allclose(frame.sum(axis=1), explanation.rival_distances - explanation.distances)
    assert list(frame.columns) == list(X.columns)
    found = classifier.counterfactual(X[:4])
    changes = found.to_frame()
    rebuilt = X[:4].copy()
    for row in changes.itertuples():
        assert row.before == rebuilt.loc[row.sample, row.feature]
        rebuilt.loc[row.sample, row.feature] = row.after
    assert np.allclose(rebuilt, found.samples)
    quality = view_quality(X, X.to_numpy()[:, :2])
    assert np.array_equal(quality.to_frame()["q_nx"], quality.q_nx)
    points = point_quality(X, X.to_numpy()[:, :2])
    assert np.allclose(points.to_frame().mean(), [points.trustworthiness.mean(), points.continuity.mean()])
    bound = margin_bound([0.2, 0.4], n_prototypes=2, radius=1.0, rho=0.4)
    assert bound.to_frame()["value"].tolist() == [bound.value]


def test_long_results_say_what_they_leave_out(model):
    classifier, X = model
    assert str(classifier.explain(X)).endswith("and 30 more samples; to_frame() returns all")
    assert str(classifier.counterfactual(X[:12])).endswith("and 2 more samples; to_frame() returns all")
    fixed = classifier.counterfactual(X[:1], fixed=list(X))
    assert "There is no allowed change" in str(fixed)
    assert fixed.to_frame().empty


def test_stability_shows_its_table():
    numbers = np.array([[0.75, 0.25], [0.5, 0.5]])
    ones = np.ones(2)
    found = RelevanceStability(
        np.array([EVIL, "b"]),
        np.array(["x", "y"]),
        numbers,
        (),
        ones,
        ones,
        ones[:, None],
        ones,
        np.ones((2, 1, 2)),
        1,
        0.9,
    )
    assert str(found) == found.table()
    page = Cells(found._repr_html_())
    assert EVIL in page.texts
    assert "script" not in page.tags
