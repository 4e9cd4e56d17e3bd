"""What all pages have: data that come through unchanged, one selection, and a policy that lets nothing in."""

import re
from importlib.resources import files

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator

from protolearn.core.texts import as_cell
from protolearn.explore import explore
from protolearn.explore._page import MODULES, narrowed, pack, script


def test_narrowed_numbers_are_the_same():
    for values in (np.arange(300), np.array([0.1, np.nan, np.inf]), np.array([-1.0, 2.0**40]), np.array([True, False])):
        np.testing.assert_array_equal(narrowed(values), values)


def test_names_of_modules_do_not_clash():
    """Modules share one scope in the page, so that each name at its top level must be there once."""
    folder = files("protolearn.explore").joinpath("page")
    modules = "\n".join(folder.joinpath(f"{name}.js").read_text(encoding="utf-8") for name in MODULES)
    names = re.findall(r"^(?:export )?(?:async )?(?:function|class|const|let) (\w+)", modules, flags=re.M)
    assert len(names) == len(set(names)) > 20


def test_script_is_small():
    assert len(script()) < 150_000


def test_nothing_but_data_is_packed():
    with pytest.raises(TypeError, match="set cannot be part of a page"):
        pack({"a": {1, 2}})


def test_any_characters_are_a_title_or_a_name(tmp_path):
    view = BaseEstimator()
    view.embedding_ = np.zeros((2, 2))
    path = explore(view, np.eye(2), names=["\ud800", "b"], title="a\ud800b\x85", path=tmp_path / "view.html")
    assert "<title>a?b" in path.read_text(encoding="utf-8")


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


@pytest.fixture
def odd(tmp_path):
    """A page of samples with missing values, categories, many columns and names that a file must quote."""
    frame = pd.DataFrame(
        np.arange(40 * 130, dtype=float).reshape(40, 130), columns=[f"long name {j}" for j in range(130)]
    )
    frame.iloc[3, 0], frame.iloc[5, 0] = np.nan, np.inf
    frame["kind"] = np.where(np.arange(40) % 2, 'with, comma and "quotes"', None)
    names = [f"sample {i}\nof two lines" if i == 7 else f"sample {i}" for i in range(40)]
    names[8] = "=1+1"
    view = BaseEstimator()
    view.embedding_ = np.random.RandomState(0).normal(size=(40, 2))
    y = ["one", "two"] * 20
    return explore(view, frame, y, names=names, title="Odd", path=tmp_path / "odd.html"), frame, names


def test_table_sorts_pages_and_is_saved(visit, odd):
    path, frame, names = odd
    page = visit(path, accept_downloads=True)
    assert page.title() == "Odd · protolearn"
    rows = (
        "[...document.querySelectorAll('table.samples tbody tr[data-sample]')].map((row) => Number(row.dataset.sample))"
    )
    assert page.locator("table.samples tr[data-sample='3'] td").nth(1).inner_text() == "–"
    assert page.locator("table.samples tr[data-sample='5'] td").nth(1).inner_text() == "∞"

    page.click("table.samples thead >> text='long name 0'")
    page.click("table.samples thead >> text='long name 0'")
    assert page.evaluate(rows)[:3] == [5, 39, 38]  # descending; what is missing comes last, whatever the direction
    assert page.get_attribute("table.samples th:nth-child(3)", "aria-sort") == "descending"
    page.evaluate("document.querySelector('.scroller').scrollTop = 1e6")
    page.wait_for_selector("table.samples tr[data-sample='3']")
    assert page.evaluate(rows)[-1] == 3

    # columns in pages of sixty
    assert "columns 1 to 60 of 132" in page.inner_text(".pages")
    page.click("[aria-label='Next columns']")
    page.click("[aria-label='Next columns']")
    assert page.inner_text("table.samples thead tr").split()[-1] == "kind"
    assert page.is_disabled("[aria-label='Next columns']")

    # the file holds what is selected, in the order of the table, with all columns
    page.evaluate("protolearn.store.select([3, 7, 8])")
    with page.expect_download() as download:
        page.click("text=Save as CSV")
    assert download.value.suggested_filename == "Odd.csv"
    saved = pd.read_csv(download.value.path(), index_col="sample")
    assert saved.index.tolist() == [as_cell(names[8]), names[7], names[3]] == ["'=1+1", names[7], names[3]]
    numbers = frame.columns[:130]
    np.testing.assert_array_equal(saved[numbers], frame[numbers].iloc[[8, 7, 3]])
    assert saved["class"].tolist() == ["one", "two", "two"]
    assert saved["kind"].isna().tolist() == [True, False, False]
    assert saved["kind"].iloc[1] == 'with, comma and "quotes"'

    page.click("text=Select the others")
    assert page.evaluate("protolearn.store.count") == 37
    assert page.evaluate("protolearn.store.selected[3]") == 0


def test_search_goes_from_one_to_the_next(visit, odd):
    page = visit(odd[0])
    page.fill("#search", "SAMPLE 1")
    suggested = page.eval_on_selector_all("#names option", "(all) => all.map((one) => one.value)")
    assert suggested[:3] == ["sample 1", "sample 10", "sample 11"]
    assert len(suggested) <= 12
    page.fill("#search", "ple 3")
    found = [3, *range(30, 40)]
    looked = []
    for _ in range(12):
        page.press("#search", "Enter")
        looked.append(page.evaluate("protolearn.store.focus"))
    assert looked == [*found, 3]
    page.press("#search", "Shift+Enter")
    page.click("[aria-label='Previous sample found']")
    assert page.evaluate("protolearn.store.focus") == 38
    assert page.inner_text(".answer") == "10 of 11"
    assert page.evaluate("Array.from(protolearn.store.members())") == found
    page.fill("#search", "sample 4")
    page.press("#search", "Enter")
    assert page.evaluate("protolearn.store.focus") == 4  # an exact name is one sample
    page.fill("#search", "nobody")
    page.press("#search", "Enter")
    assert page.inner_text(".answer") == "not found"


def test_table_obeys_keys(visit, odd):
    page = visit(odd[0])
    page.focus(".scroller")
    for key, sample in (("ArrowDown", 0), ("ArrowDown", 1), ("End", 39), ("ArrowUp", 38), ("Home", 0), ("ArrowUp", 0)):
        page.keyboard.press(key)
        assert page.evaluate("protolearn.store.focus") == sample
    row = page.locator("table.samples tr[aria-current]")
    assert row.get_attribute("aria-rowindex") == "2"
    page.keyboard.press("Enter")
    page.keyboard.press("ArrowDown")
    assert page.evaluate("protolearn.store.count") == 1
    assert page.evaluate("document.activeElement.className") == "scroller"
    page.keyboard.press("Escape")
    assert page.evaluate("protolearn.store.count") == 0


def test_phone_dark_and_paper(visit, odd, tmp_path):
    page = visit(odd[0], width=390, height=800, color_scheme="dark", reduced_motion="reduce")
    page.evaluate("protolearn.store.look(7); protolearn.store.select([1, 2, 3])")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    background = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(background)
    assert dark != "rgb(255, 255, 255)"
    page.click("[aria-label='Light colors']")
    assert page.evaluate(background) == "rgb(255, 255, 255)"
    page.click("[aria-label='Dark colors']")
    assert page.evaluate(background) == dark
    page.emulate_media(media="print")
    assert page.evaluate(background) == "rgb(255, 255, 255)"
    hidden = page.eval_on_selector_all(".tools, .actions, .save, .gap", "(all) => all.map((one) => one.offsetHeight)")
    assert not any(hidden)
    assert "sample 7" in page.inner_text("#sample")
    pages = re.findall(rb"/Type\s*/Page\b", page.pdf())
    assert 1 <= len(pages) <= 6  # not as long as a table of all samples


def test_everything_has_a_name(visit, odd):
    """Whatever can be operated says what it is."""
    page = visit(odd[0])
    page.evaluate("protolearn.store.look(7); protolearn.store.select([1, 2, 3])")
    nameless = page.evaluate(
        """[...document.querySelectorAll("button, input, select, canvas, [role=region], section")].filter((one) =>
            !one.hidden && !one.ariaLabel && !one.labels?.length && !one.textContent.trim())
            .map((one) => one.outerHTML)"""
    )
    assert nameless == []
    ids = page.eval_on_selector_all("[id]", "(all) => all.map((one) => one.id)")
    assert len(ids) == len(set(ids))


def test_a_browser_that_is_too_old_is_told_so(browser, odd, tmp_path):
    page = browser.new_page()
    page.add_init_script("delete globalThis.DecompressionStream")
    page.goto(f"file://{odd[0]}")
    page.wait_for_selector("[role=alert]")
    assert "this browser cannot unpack compressed data" in page.inner_text("[role=alert]")
    assert page.get_attribute("#page", "aria-busy") is None
    page.close()
