"""What all pages have: data that come through unchanged, one selection, and a policy that lets nothing in."""

import re

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from protolearn.explore import explore
from protolearn.explore._page import script
from protolearn.explore._payload import narrowed, pack


def test_narrowed_numbers_are_the_same():
    for values in (np.arange(300), np.array([0.1, np.nan, np.inf]), np.array([-1.0, 2.0**40]), np.array([True, False])):
        np.testing.assert_array_equal(narrowed(values), values)


def test_names_of_modules_do_not_clash():
    """Modules share one scope in the page, so that each name at its top level must be there once."""
    names = re.findall(r"^(?:async )?(?:function|class|const|let) (\w+)", script(), flags=re.M)
    assert len(names) == len(set(names)) > 20


def test_script_is_small():
    assert len(script()) < 150_000


def test_nothing_but_data_is_packed():
    with pytest.raises(TypeError, match="set cannot be part of a page"):
        pack({"a": {1, 2}})


@pytest.fixture
def page(visit, tmp_path, spoken):
    """A page of a view of three hundred samples, whose names, classes and title hold markup."""
    rng = np.random.RandomState(0)
    X = rng.normal(size=(300, 4)).astype(np.float64)
    X[:100] += 5
    view = BaseEstimator()
    view.embedding_ = X[:, :2]
    y = np.where(np.arange(300) < 100, "left " + spoken.markup, "right")
    names = [f"sample {i} {spoken.markup}" for i in range(300)]
    features = ["a", spoken.markup, "c", "d"]
    path = explore(view, X, y, names=names, feature_names=features, title=spoken.markup, path=tmp_path / "view.html")
    page = visit(path)
    page.X = X
    return page


def test_arrays_come_through(page):
    for j in range(4):
        values = page.evaluate(f"Array.from(protolearn.doc.samples.columns[{j}].values)")
        np.testing.assert_array_equal(values, page.X[:, j])


def test_markup_is_shown_and_never_run(page, spoken):
    assert page.inner_text("h1") == spoken.markup
    page.click("table.samples tbody tr[data-sample='0'] th button")
    assert spoken.markup in page.inner_text("#sample")
    page.evaluate("protolearn.store.select([0, 1, 2])")
    assert spoken.markup in page.inner_text("#selection")
    assert page.evaluate("window.broken") is None
    assert page.query_selector_all("main img, main script") == []


def test_policy_forbids_whatever_comes_from_outside(page, visit):
    """Scripts and styles that are added later, and requests, are refused by the browser itself."""
    refused = page.evaluate(
        """async () => {
            const seen = [];
            document.addEventListener("securitypolicyviolation", (event) => seen.push(event.effectiveDirective));
            const script = document.createElement("script");
            script.textContent = "window.broken = 1";
            document.body.append(script);
            const button = document.createElement("button");
            button.setAttribute("onclick", "window.broken = 1");
            document.body.append(button);
            button.click();
            await fetch("file:///etc/hostname").catch(() => 0);
            setTimeout("window.broken = 1");
            await new Promise((resolve) => setTimeout(resolve, 100));
            return [window.broken ?? null, ...new Set(seen)];
        }"""
    )
    visit.errors.clear()  # the browser reports each of these
    assert refused[0] is None
    assert {"script-src-elem", "script-src-attr", "connect-src", "script-src"} <= set(refused[1:])
