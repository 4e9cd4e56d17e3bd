"""Pages of views: positions, the quality of each point, true neighbors, and samples that are typed in."""

import re
from importlib.resources import files

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA
from sklearn.neighbors import NearestNeighbors
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PowerTransformer, StandardScaler

from protolearn import GMLVQ, SOM, TSNE, Charting, MappedEmbedding
from protolearn.embedding import DiscriminativeEmbedding, OutOfSample
from protolearn.embedding.mappings import LocalLinearMapping, NetworkMapping
from protolearn.explore import explore
from protolearn.explore._page import pack
from protolearn.explore._views import affine_numbers, mapping_numbers, view_part
from protolearn.metrics import continuity, point_quality, trustworthiness

WINE = load_wine(as_frame=True)
X, Y = WINE.data, WINE.target
Z = StandardScaler().fit_transform(X)


def part(model, X, y=None):
    return view_part(model, model[-1] if hasattr(model, "steps") else model, X, y)


def shown(positions):
    view = BaseEstimator()
    view.embedding_ = positions
    return view


# Positions


def test_a_mapping_places_samples_it_has_not_seen():
    view = MappedEmbedding(cost="mds", mapping="linear", max_iter=5).fit(Z[::2])
    np.testing.assert_array_equal(part(view, Z)["view"]["positions"], view.transform(Z))
    np.testing.assert_allclose(part(view, Z[::2])["view"]["positions"], view.embedding_)
    other = OutOfSample(TSNE(perplexity=20, max_iter=20, random_state=0)).fit(Z[::2])
    np.testing.assert_allclose(part(other, Z[:60])["view"]["positions"], other.transform(Z[:60]))
    np.testing.assert_array_equal(part(other, Z[::2])["view"]["positions"], other.embedding_)


def test_a_view_without_a_map_needs_its_own_samples():
    with pytest.raises(ValueError, match="has embedded 178 samples and has no out-of-sample extension, but X has 10"):
        part(shown(Z[:, :2]), Z[:10])
    with pytest.raises(ValueError, match="Positions of BaseEstimator contain NaN"):
        part(shown(np.full((178, 2), np.nan)), Z)


def test_dimensions_that_are_not_two():
    deep = part(shown(Z[:, :3]), Z)
    np.testing.assert_array_equal(deep["view"]["positions"], Z[:, :2])
    assert "The first two of 3 dimensions" in deep["subtitle"]
    flat = part(shown(Z[:, :1]), Z)
    np.testing.assert_array_equal(flat["view"]["positions"][:, 0], Z[:, 0])
    assert "one dimension" in flat["subtitle"]


# Quality


def test_quality_is_measured_in_the_space_that_the_view_saw():
    pipeline = make_pipeline(StandardScaler(), MappedEmbedding(mapping="linear", max_iter=5)).fit(X)
    found = part(pipeline, X)
    positions = pipeline[-1].embedding_
    torn, squeezed = (column["values"] for column in found["view"]["quality"])
    trusted, kept = point_quality(Z, positions, 10)
    np.testing.assert_allclose(torn, 100 * (1 - kept), atol=1e-5)
    np.testing.assert_allclose(squeezed, 100 * (1 - trusted), atol=1e-5)
    assert f"trustworthiness {trustworthiness(Z, positions, 10):.3f}" in found["subtitle"]
    assert f"continuity {continuity(Z, positions, 10):.3f}" in found["subtitle"]
    nearest = NearestNeighbors(n_neighbors=10).fit(Z).kneighbors(return_distance=False)
    np.testing.assert_array_equal(np.sort(found["view"]["neighbors"]), np.sort(nearest))


def test_dissimilarities_and_learned_metrics_have_a_quality_too():
    D = np.sqrt(((Z[:, None] - Z) ** 2).sum(-1))
    pairs = TSNE(metric="precomputed", max_iter=10, random_state=0).fit(D)
    vectors = part(shown(pairs.embedding_), Z)
    np.testing.assert_array_equal(np.sort(part(pairs, D)["view"]["neighbors"]), np.sort(vectors["view"]["neighbors"]))
    words = ["abc", "abd", "xyz", "xyy", "abcd", "wxyz", "aab", "zzz"]
    strings = TSNE(metric="edit", perplexity=2, max_iter=10, random_state=0).fit(words)
    assert len(part(strings, words)["view"]["quality"]) == 2
    learned = DiscriminativeEmbedding(GMLVQ(max_iter=20), TSNE(max_iter=10, random_state=0))
    assert len(part(learned.fit(Z, Y), Z, Y)["view"]["quality"]) == 2


def test_many_samples_are_compared_with_some(monkeypatch):
    monkeypatch.setattr("protolearn.explore._views.MOST_PAIRS", 1)
    rng = np.random.RandomState(0)
    many = rng.normal(size=(1100, 3))
    found = part(shown(many[:, :2]), many)
    assert "compared with 1,000 samples drawn at random" in found["subtitle"]


def test_without_numbers_there_is_no_quality():
    missing = Z.copy()
    missing[0, 0] = np.nan
    assert part(shown(Z[:, :2]), missing)["view"]["quality"] == []


# Samples that are typed in


def test_steps_that_are_affine():
    steps = make_pipeline(StandardScaler(), PCA(3)).fit(X)
    numbers = affine_numbers([steps.transform], X)
    np.testing.assert_allclose(
        numbers["start"] + (X.to_numpy() - numbers["middle"]) @ numbers["slopes"], steps.transform(X), atol=1e-9
    )
    assert affine_numbers([PowerTransformer().fit(X).transform], X) is None
    assert affine_numbers([], np.array([["a"], ["b"]])) is None


@pytest.fixture(scope="module")
def mappings():
    """Views of all kinds of formulas, each with the samples that it takes."""
    raw, classes = Z.copy(), Y.to_numpy()
    lvq = GMLVQ(2, n_components=2, max_iter=300, tol=1e-3, random_state=0)
    short = {"max_iter": 8, "random_state": 0}
    found = {
        "linear": (MappedEmbedding(mapping="linear", **short).fit(raw), raw),
        "crisp": (MappedEmbedding(**short).fit(raw), raw),
        "rank": (MappedEmbedding(mapping=LocalLinearMapping(n_charts=8, gating="rank"), **short).fit(raw), raw),
        "som": (MappedEmbedding(mapping=SOM((3, 3), random_state=0), **short).fit(raw), raw),
        "lvq": (MappedEmbedding(mapping=lvq, **short).fit(raw, classes), raw),
        "network": (MappedEmbedding(mapping=NetworkMapping((12, 7)), **short).fit(raw), raw),
        "charting": (Charting(n_charts=5, n_init=1, random_state=0).fit(raw), raw),
        "components first": (Charting(n_charts=4, n_pca=3, n_init=1, random_state=0).fit(raw), raw),
        "metric": (MappedEmbedding(mapping="linear", metric=np.arange(26.0).reshape(2, 13), **short).fit(raw), raw),
        "scaled": (make_pipeline(StandardScaler(), MappedEmbedding(**short)).fit(X), X),
        "reduced": (make_pipeline(StandardScaler(), PCA(4), Charting(n_charts=4, n_init=1, random_state=0)).fit(X), X),
    }
    apart = np.concatenate([raw[:60], raw[60:120] + 200.0])
    islands = Charting(n_charts=6, gating="density", n_init=1, random_state=0).fit(apart)
    found["components"] = (islands, apart)
    return found


def test_page_places_samples_as_transform_does(browser, mappings):
    """The modules of the page, alone in an empty page, for every kind of mapping."""
    page = browser.new_page()
    modules = [
        files("protolearn.explore").joinpath("page", f"{name}.js").read_text("utf-8") for name in ("data", "mapping")
    ]
    code = re.sub(r"^import [^;]*;\n|^export ", "", "\n".join(modules), flags=re.M)
    assert mappings["components"][0].groups_.any()
    for name, (model, samples) in mappings.items():
        numbers = mapping_numbers(model, model[-1] if hasattr(model, "steps") else model, samples)
        rng = np.random.RandomState(0)
        values = np.asarray(samples)[::4]
        features = values + 0.1 * values.std(axis=0) * rng.normal(size=values.shape)
        given = type(samples)(features, columns=samples.columns) if hasattr(samples, "columns") else features
        found = page.evaluate(
            f"async ([text, rows]) => {{ {code}\nconst numbers = await unpack(text);\n"
            "return rows.map((row) => Array.from(placed(numbers, row))); }",
            [pack(numbers), features.tolist()],
        )
        np.testing.assert_allclose(found, model.transform(given), rtol=1e-6, atol=1e-6, err_msg=name)
    page.close()


def test_views_without_a_formula_have_no_form():
    free = MappedEmbedding(mapping="free", max_iter=2, random_state=0).fit(Z)
    curved = make_pipeline(PowerTransformer(), MappedEmbedding(mapping="linear", max_iter=2)).fit(X)
    assert part(free, Z)["view"]["mapping"] is None
    assert part(curved, X)["view"]["mapping"] is None
    assert part(shown(Z[:, :2]), Z)["view"]["mapping"] is None


# In the browser


@pytest.fixture(scope="module")
def wine():
    return make_pipeline(StandardScaler(), MappedEmbedding(max_iter=50, random_state=0)).fit(X)


def test_a_reader_explores_wine(visit, wine, tmp_path):
    names = [f"wine {i}" for i in range(len(X))]
    page = visit(explore(wine, X, Y, names=names, path=tmp_path / "wine.html"))
    positions = wine.transform(X)
    np.testing.assert_allclose(
        np.reshape(page.evaluate("Array.from(protolearn.doc.view.positions)"), (-1, 2)), positions, atol=1e-5
    )
    scatter = "document.querySelector('.plane').scatter"

    # a click on a point: the sample, and how many of its neighbors were kept
    box = page.locator("canvas.scatter").bounding_box()
    x, y = page.evaluate(f"{scatter}.at(20)")
    page.mouse.move(box["x"] + x, box["y"] + y)
    page.wait_for_selector(".bubble:not([hidden])")
    assert page.inner_text(".bubble").split("\n") == ["wine 20", "class: 0"]
    page.mouse.click(box["x"] + x, box["y"] + y)
    assert page.evaluate("protolearn.store.focus") == 20
    in_data, in_view = (
        NearestNeighbors(n_neighbors=10).fit(space).kneighbors(return_distance=False) for space in (Z, positions)
    )
    kept = len(set(in_data[20]) & set(in_view[20]))
    said = f"{kept} of its 10 nearest samples in the data are among its 10 nearest in the view."
    assert said in page.inner_text("#sample")
    assert page.locator("#sample .chips button").count() == 10

    # a lasso around points: exactly those inside
    page.click("text=Lasso")
    corners = [(120, 80), (420, 60), (500, 300), (300, 420), (100, 330)]
    page.mouse.move(box["x"] + corners[0][0], box["y"] + corners[0][1])
    page.mouse.down()
    for corner in corners[1:]:
        page.mouse.move(box["x"] + corner[0], box["y"] + corner[1], steps=5)
    page.mouse.up()
    from matplotlib.path import Path

    places = page.evaluate(f"Array.from({{ length: {len(X)} }}, (_, i) => {scatter}.at(i))")
    inside = np.flatnonzero(Path(corners).contains_points(places))
    selected = page.evaluate("Array.from(protolearn.store.members())")
    assert 0 < len(inside) < len(X)
    assert selected == inside.tolist()
    assert f"{len(inside)} samples selected of 178" in page.inner_text(".table")

    # a sample that is typed in goes where transform places it
    page.click("text=Start from the sample looked at")
    page.fill("#feature-12", "400")
    page.fill("#feature-0", "12.25")
    typed = X.iloc[[20]].astype(float).copy()
    typed.iloc[0, 12], typed.iloc[0, 0] = 400.0, 12.25
    shown_at = page.inner_text("#place .place").removeprefix("Placed at ").replace("−", "-").split(", ")
    np.testing.assert_allclose(np.array(shown_at, float), wine.transform(typed)[0], rtol=1e-4)
    page.fill("#feature-0", "")
    assert page.inner_text("#place .place") == "Enter a number for every feature."

    # colors: classes first, then quality, then features, in groups
    groups = page.eval_on_selector_all(".choices optgroup", "(all) => all.map((one) => one.label)")
    assert groups == ["Quality of the view", "Features"]
    page.select_option(".choices select", label="proline")
    page.evaluate(f"{scatter}.paint()")
    words = page.evaluate(f"[{X.proline.argmax()}, {X.proline.argmin()}].map((i) => {scatter}.words[i] & 0xffffff)")
    assert words == [37 << 16 | 231 << 8 | 253, 84 << 16 | 1 << 8 | 68]  # the ends of viridis


def test_keys_go_from_point_to_point(visit, tmp_path):
    grid = np.array([[x, y] for x in range(4) for y in range(4)], float)
    page = visit(explore(shown(grid), np.hstack([grid, grid]), path=tmp_path / "grid.html"))
    page.evaluate("protolearn.store.look(0)")
    page.focus("canvas.scatter")
    for key, sample in (("ArrowRight", 4), ("ArrowUp", 5), ("ArrowLeft", 1), ("ArrowDown", 0)):
        page.keyboard.press(key)
        assert page.evaluate("protolearn.store.focus") == sample
        assert page.inner_text(".plane .status") == str(sample)
    page.keyboard.press("Enter")
    assert page.evaluate("Array.from(protolearn.store.members())") == [0]
    page.keyboard.press("Escape")
    assert page.evaluate("protolearn.store.count") == 0
