"""Pages of maps show what the map says: members, prototypes in units, distances between neighbors, quality."""

import inspect
import itertools

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits, load_wine
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer, StandardScaler

import protolearn
from protolearn import SOM, KMeans, MatrixSOM, NeuralGas, RelationalKMeans, RelationalNeuralGas, RelationalSOM
from protolearn.core.lattices import chain, from_graph, hexagonal, hyperbolic, rectangular, tree
from protolearn.core.map import TopographicMap
from protolearn.explore import explore
from protolearn.explore._maps import _spread, map_part
from protolearn.metrics import quantization_error, topographic_error

WORDS = ["night", "nacht", "natt", "noche", "notte", "nuit", "sun", "sonne", "sol", "sole", "soleil", "<b>solus</b>"]
MAPS = [
    model
    for model in (getattr(protolearn, name) for name in protolearn.__all__)
    if inspect.isclass(model) and issubclass(model, TopographicMap)
]


def part_of(model, X, y=None):
    last = model[-1] if hasattr(model, "steps") else model
    return map_part(model, last, X, y)["map"]


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True, as_frame=True)
    model = make_pipeline(StandardScaler(), SOM(hexagonal(6, 7), random_state=0)).fit(X)
    return model, X, np.array(["barolo", "grignolino", "barbera"])[y]


# What the page is given


def test_all_maps_are_known():
    assert len(MAPS) == 16


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("Map", MAPS)
def test_every_map_has_a_page(Map, tmp_path):
    X = np.random.RandomState(0).normal(size=(60, 3))
    options = {"metric": "euclidean"} if "Median" in Map.__name__ or Map.__module__.startswith("protolearn.rel") else {}
    size = (3, 4) if "SOM" in Map.__name__ else 4
    model = Map(size, **options, max_iter=20, random_state=0).fit(X)
    explore(model, X, X[:, 0] > 0, path=tmp_path / "map.html")
    part = part_of(model, X)
    np.testing.assert_array_equal(part["winners"], model.predict(X))
    assert len(part["heights"]) == len(part["positions"]) == part["planes"]["columns"][0].size
    assert np.isfinite(part["positions"]).all()
    assert np.isfinite(part["distances"]).all()


@pytest.mark.parametrize(
    "lattice",
    [
        rectangular(4, 5),
        hexagonal(4, 5, periodic=True),
        chain(25),
        chain(9, periodic=True),
        tree(2, 3),
        hyperbolic(7, 1),
    ],
)
def test_quality_and_distances_between_neighbors(lattice, wine):
    """The same numbers as those of the measures, and of sums written down differently."""
    _, X, _ = wine
    model = make_pipeline(StandardScaler(), SOM(lattice, random_state=0, max_iter=10)).fit(X)
    part, last, samples = part_of(model, X), model[-1], model[:-1].transform(X)
    assert part["quantization"] == pytest.approx(quantization_error(samples, last), rel=1e-6)
    assert part["topographic"] == pytest.approx(topographic_error(samples, last))
    gaps = cdist(last.prototypes_, last.prototypes_)
    joined = np.isclose(lattice.distances, 1.0)
    np.testing.assert_allclose(part["heights"], [row[near].mean() for row, near in zip(gaps, joined)], rtol=1e-6)
    for (a, b), length in zip(part["edges"], part["lengths"]):
        assert joined[a, b]
        assert length == pytest.approx(gaps[a, b])
    apart = cdist(part["positions"], part["positions"]) + 9 * np.eye(lattice.n_nodes)
    assert apart.min() >= 2 * part["lattice"]["radius"] * (1 - 1e-9) or lattice.kind == "hyperbolic"


@pytest.mark.parametrize("Map", [SOM, MatrixSOM])
def test_samples_in_blocks(Map, wine, monkeypatch):
    """Also if they are rows of a frame, of which the map knows the names."""
    _, X, _ = wine
    model = Map((3, 3), random_state=0, max_iter=5).fit(X.iloc[:, :4])
    X = X.iloc[:, :4]
    whole = part_of(model, X)
    monkeypatch.setattr("protolearn.explore._maps.BLOCK", 500)
    parts = part_of(model, X)
    np.testing.assert_array_equal(parts["winners"], whole["winners"])
    np.testing.assert_allclose(parts["distances"], whole["distances"])
    assert parts["topographic"] == whole["topographic"]


def test_prototypes_that_cannot_be_in_units_give_way_to_means_of_members(wine):
    _, X, _ = wine
    model = make_pipeline(Normalizer(), SOM((3, 4), random_state=0)).fit(X)
    planes = part_of(model, X)["planes"]
    assert planes["of"] == "members"
    means = X.groupby(model.predict(X)).mean()
    np.testing.assert_allclose(np.stack(planes["columns"], axis=1)[means.index], means)


def test_categories_of_prototypes():
    pd = pytest.importorskip("pandas")
    from sklearn.compose import make_column_transformer
    from sklearn.preprocessing import OneHotEncoder

    rng = np.random.RandomState(0)
    size = rng.normal(size=80)
    X = pd.DataFrame({"size": size, "color": np.where(size > 0, "red", "blue")})
    columns = make_column_transformer((StandardScaler(), ["size"]), (OneHotEncoder(), ["color"]))
    model = make_pipeline(columns, KMeans(2, random_state=0)).fit(X)
    size, color = part_of(model, X)["planes"]["columns"]
    np.testing.assert_array_equal(color, (size > 0).astype(int))  # blue, red


@pytest.mark.parametrize("diagonal", [False, True])
def test_kernels_and_matrices(diagonal):
    """A kernel gives the page that the distances it stands for give, also if its diagonal is not constant."""
    rng = np.random.RandomState(0)
    X = rng.normal(size=(40, 3))
    if not diagonal:
        X /= np.linalg.norm(X, axis=1, keepdims=True)
    kernel = RelationalKMeans(4, metric="kernel", init=np.eye(4, 40), random_state=0).fit(X @ X.T)
    matrix = RelationalKMeans(4, init=np.eye(4, 40), random_state=0).fit(cdist(X, X))
    first, second = part_of(kernel, X @ X.T), part_of(matrix, cdist(X, X))
    np.testing.assert_array_equal(first["winners"], second["winners"])
    np.testing.assert_allclose(first["distances"], second["distances"], atol=1e-6)
    assert first["planes"] is second["planes"] is None


def test_objects_that_are_no_table(tmp_path):
    """Sequences of different lengths have neither columns nor texts."""
    rng = np.random.RandomState(0)
    series = [rng.normal(size=5 + i % 3).tolist() for i in range(20)]
    model = RelationalSOM((2, 3), metric="dtw", max_iter=5).fit(series)
    assert explore(model, series, path=tmp_path / "series.html").exists()
    assert part_of(model, series)["planes"] is None


@pytest.mark.parametrize("k", [1, 2, 3, 60])
def test_dots_are_apart(k):
    rng = np.random.RandomState(0)
    prototypes = rng.normal(size=(k, 5))
    prototypes[k // 2 :] = prototypes[0]  # many that coincide
    positions = _spread(cdist(prototypes, prototypes))
    gaps = cdist(positions, positions)[~np.eye(k, dtype=bool)]
    assert np.isfinite(positions).all()
    assert (gaps > 0.95).all()
    np.testing.assert_array_equal(positions, _spread(cdist(prototypes, prototypes)))


def test_plane_prototypes_keep_their_distances():
    grid = np.stack(np.meshgrid(np.arange(6.0), np.arange(4.0)), axis=2).reshape(-1, 2)
    positions = _spread(cdist(grid, grid))
    ratios = cdist(positions, positions)[~np.eye(24, dtype=bool)] / cdist(grid, grid)[~np.eye(24, dtype=bool)]
    np.testing.assert_allclose(ratios, ratios.mean(), rtol=1e-4)


# In the browser


def center_of(page, cell):
    box = page.evaluate(
        "cell => { document.querySelector('.lattice').scrollIntoView({ block: 'center' });"
        " const b = document.querySelector(`.cell[data-cell='${cell}'] .face`).getBoundingClientRect();"
        " return [b.x + b.width / 2, b.y + b.height / 2]; }",
        int(cell),
    )
    return np.array(box)


def every(page, selector, value):
    return page.evaluate(f"selector => [...document.querySelectorAll(selector)].map((one) => {value})", selector)


def selected(page):
    return page.evaluate("Array.from(protolearn.store.selected).flatMap((one, i) => one ? [i] : [])")


def number(text):
    return float(text.replace("−", "-"))


def test_wine(wine, visit, tmp_path, spoken):
    model, X, y = wine
    winners = model.predict(X)
    names = [f"wine {i} {spoken.markup}" for i in range(len(X))]
    features = [f"{name} {spoken.markup}" for name in X.columns]
    page = visit(explore(model, X, y, names=names, feature_names=features, path=tmp_path / "wine.html"))

    # Every cell tells its members, and a click selects exactly these in the table.
    hits = np.bincount(winners, minlength=42)
    labels = every(page, ".cell", "one.getAttribute('aria-label')")
    for cell, label in enumerate(labels):
        head = f"Cell {cell} (row {cell // 7 + 1}, column {cell % 7 + 1}): {hits[cell]} sample"
        assert label.startswith(head + ("" if hits[cell] == 1 else "s"))
    prototypes = model[0].inverse_transform(model[-1].prototypes_)
    cell = int(hits.argmax())
    for one in (cell, int(hits.argmin())):
        page.mouse.click(*center_of(page, one))
        assert selected(page) == np.flatnonzero(winners == one).tolist()
        page.click("#cells .more")
        values = {}
        for title in every(page, "#cells .bars li", "one.title"):
            name, _, rest = title.rpartition(": ")
            values[name] = number(rest.split(" here, ")[0])
        np.testing.assert_allclose([values[name] for name in features], prototypes[one], rtol=1e-5)
    page.mouse.click(*center_of(page, cell))
    rows = page.evaluate(
        "[...document.querySelectorAll('table.samples [data-sample]')].map((row) => +row.dataset.sample)"
    )
    assert rows == np.flatnonzero(winners == cell).tolist()

    # Names are shown, and nothing in them runs.
    assert spoken.markup in page.inner_text("#cells")
    assert spoken.markup in page.inner_text("#planes")
    assert page.evaluate("window.broken") is None
    assert page.query_selector_all("main img, main script") == []

    # With Ctrl cells are added and taken away, a second click and Escape end the selection.
    other = int(np.flatnonzero((hits > 0) & (np.arange(42) != cell))[-1])
    page.keyboard.down("Control")
    page.mouse.click(*center_of(page, other))
    assert selected(page) == np.flatnonzero(np.isin(winners, [cell, other])).tolist()
    page.mouse.click(*center_of(page, cell))
    page.keyboard.up("Control")
    assert selected(page) == np.flatnonzero(winners == other).tolist()
    page.keyboard.press("Escape")
    assert selected(page) == []

    # A lasso takes the cells whose centers are inside.
    centers = np.array([center_of(page, one) for one in range(42)])
    (left, top), (right, bottom) = np.quantile(centers, 0.2, axis=0) - 7, np.quantile(centers, 0.7, axis=0) + 7
    page.mouse.move(left, top)
    page.mouse.down()
    for corner in ((right, top), (right, bottom), (left, bottom), (left, top)):
        page.mouse.move(*corner, steps=3)
    page.mouse.up()
    inside = ((centers > [left, top]) & (centers < [right, bottom])).all(axis=1)
    assert 3 < inside.sum() < 40
    assert selected(page) == np.flatnonzero(inside[winners]).tolist()

    # Keys go from cell to cell, and select.
    page.focus(".cell[tabindex='0']")
    page.evaluate("document.querySelector('.cell[tabindex=\"0\"]').focus()")
    start = int(page.evaluate("document.activeElement.dataset.cell"))
    path = [start]
    for key in ("ArrowRight", "ArrowRight", "ArrowLeft", "ArrowUp", "ArrowDown"):
        page.keyboard.press(key)
        path.append(int(page.evaluate("document.activeElement.dataset.cell")))
    joined = model[-1].lattice_.distances == 1
    assert all(a == b or joined[a, b] for a, b in itertools.pairwise(path))
    assert len(set(path)) > 2
    page.keyboard.press("Enter")
    assert selected(page) == np.flatnonzero(winners == path[-1]).tolist()
    assert page.evaluate("document.querySelectorAll('.cell[tabindex=\"0\"]').length") == 1

    # What is selected elsewhere shows as a share of each cell, and the sample looked at marks its cell.
    some = np.flatnonzero(winners == cell)[:2].tolist() + np.flatnonzero(winners == other).tolist()
    page.evaluate("some => protolearn.store.select(some)", some)
    shares = dict(every(page, ".ring", "[+one.dataset.cell, +one.dataset.share]"))
    assert shares == pytest.approx({cell: 2 / hits[cell], other: 1.0})
    page.fill("#search", names[100])
    page.keyboard.press("Enter")
    assert page.get_attribute(".seen[data-cell]", "data-cell") == str(winners[100])
    for _ in range(2):  # the second time it is selected already
        page.click("#sample .link")
    assert selected(page) == np.flatnonzero(winners == winners[100]).tolist()

    # A small map becomes the large one, and its legend has the values of the prototypes.
    page.click("#planes .thumb:nth-child(10)")
    assert page.eval_on_selector("#map select", "select => select.selectedOptions[0].textContent") == features[9]
    ends = [number(text) for text in page.locator("#map .legend").first.inner_text().split()]
    np.testing.assert_allclose(ends, [prototypes[:, 9].min(), prototypes[:, 9].max()], rtol=1e-2)

    # The U-matrix, said cell by cell, is that of the prototypes.
    page.select_option("#map select >> nth=0", "heights")
    gaps = cdist(model[-1].prototypes_, model[-1].prototypes_)
    labels = every(page, ".cell", "one.getAttribute('aria-label')")
    said = [number(label.rsplit(" ", 1)[1]) for label in labels]
    np.testing.assert_allclose(said, [row[near].mean() for row, near in zip(gaps, joined)], rtol=1e-3)
    heights = page.evaluate("Array.from(protolearn.doc.map.heights)")
    np.testing.assert_allclose(heights, [row[near].mean() for row, near in zip(gaps, joined)], rtol=1e-6)


def test_phone(wine, visit, tmp_path):
    model, X, y = wine
    page = visit(explore(model, X, y, path=tmp_path / "wine.html"), width=390, height=800, has_touch=True)
    page.tap(".cell[data-cell='10'] .face")
    assert selected(page) == np.flatnonzero(model.predict(X) == 10).tolist()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_torus_and_disc_move(wine, visit, tmp_path):
    _, X, y = wine
    scaled = StandardScaler().fit_transform(X)
    torus = SOM(hexagonal(6, 7, periodic=True), random_state=0, max_iter=5).fit(scaled)
    page = visit(explore(torus, scaled, y, path=tmp_path / "torus.html"))

    def lengths():
        """Return the lengths of all edges as they are drawn, in ascending order."""
        boxes = np.array(every(page, ".face", "(({ x, y, width, height }) => [x, y, width, height])(one.getBBox())"))
        centers = boxes[:, :2] + boxes[:, 2:] / 2
        return np.sort(np.linalg.norm(np.subtract(*centers[torus.lattice_.edges.T]), axis=1))

    before = lengths()
    for cell in (0, 41, 16):
        page.mouse.click(*center_of(page, cell))
        page.click("text=Center")
        np.testing.assert_allclose(lengths(), before, atol=0.3)
        box = page.query_selector(".lattice").bounding_box()
        middle = np.array([box["x"] + box["width"] / 2, box["y"] + box["height"] / 2])
        assert np.linalg.norm(center_of(page, cell) - middle) < 0.2 * box["width"]
    page.click("[aria-label='Shift left']")
    page.click("[aria-label='Shift up']")
    np.testing.assert_allclose(lengths(), before, atol=0.3)

    disc = SOM(hyperbolic(7, 2), random_state=0, max_iter=5).fit(scaled)
    page = visit(explore(disc, scaled, y, path=tmp_path / "disc.html"))
    page.mouse.click(*center_of(page, 20))
    page.click("text=Center")
    nodes = np.array(every(page, ".face", "[one.cx.baseVal.value, one.cy.baseVal.value]")) @ [1, -1j] / 600
    start = disc.lattice_.coordinates @ [1, 1j]
    expected = (start - start[20]) / (1 - start[20].conj() * start)
    np.testing.assert_allclose(nodes, expected, atol=1e-4)


def test_other_maps_load(wine, visit, tmp_path):
    """Each draws its cells, and says nothing to the console."""
    _, X, y = wine
    scaled = StandardScaler().fit_transform(X)
    images = load_digits().images[:200]
    pixels, D = images.reshape(200, -1), cdist(scaled, scaled)
    cube = from_graph([[0, 1, 1, 0], [1, 0, 0, 1], [1, 0, 0, 1], [0, 1, 1, 0]])
    rng = np.random.RandomState(0)
    cases = {
        "chain": (SOM(chain(14), random_state=0, max_iter=5).fit(scaled), scaled, {"y": y}, 14),
        "graph": (SOM(cube, random_state=0, max_iter=5).fit(scaled), scaled, {}, 4),
        "gas": (NeuralGas(9, random_state=0, max_iter=5).fit(scaled), scaled, {"y": y}, 9),
        "one": (KMeans(1).fit(scaled), scaled, {}, 1),
        "shapes": (MatrixSOM((2, 3), random_state=0, max_iter=5).fit(rng.normal(size=(90, 2))), None, {}, 6),
        "digits": (SOM((4, 5), random_state=0, max_iter=5).fit(pixels), pixels, {"images": images}, 20),
        "matrix": (RelationalNeuralGas(5, random_state=0).fit(D), D, {"y": y}, 5),
    }  # fmt: skip
    for name, (model, data, options, k) in cases.items():
        data = rng.normal(size=(50, 2)) if data is None else data
        page = visit(explore(model, data, path=tmp_path / f"{name}.html", **options))
        assert page.locator(".cell").count() == k
        for select in page.query_selector_all("#map select"):
            for value in select.evaluate("select => [...select.options].map((option) => option.value)")[:8]:
                select.select_option(value)
        page.mouse.click(*center_of(page, 0))
        assert selected(page) == np.flatnonzero(model.predict(data) == 0).tolist()


def test_pictures_of_prototypes(visit, tmp_path):
    """If features are pixels, a cell shows its prototype, with the gray levels of the images."""
    digits = load_digits()
    X, images = digits.data[:300], digits.images[:300]
    model = SOM((3, 4), random_state=0, max_iter=5).fit(X)
    page = visit(explore(model, X, digits.target[:300], images=images, path=tmp_path / "digits.html"))
    levels = page.evaluate(
        """async () => {
            const image = new Image();
            image.src = document.querySelector(".cell[data-cell='5'] image").getAttribute("href");
            await image.decode();
            const canvas = document.createElement("canvas");
            [canvas.width, canvas.height] = [8, 8];
            const context = canvas.getContext("2d");
            context.drawImage(image, 0, 0);
            return Array.from(context.getImageData(0, 0, 8, 8).data).filter((_, j) => j % 4 === 0);
        }"""
    )
    np.testing.assert_allclose(levels, 255 * model.prototypes_[5] / 16, atol=1)


def test_words(visit, tmp_path):
    """Objects speak for themselves, in cells and in lists, the most typical first."""
    model = RelationalSOM((2, 3), metric="edit", random_state=0).fit(WORDS)
    page = visit(explore(model, WORDS, path=tmp_path / "words.html"))
    winners, distances = model.predict(WORDS), model.transform(WORDS)
    for cell in np.unique(winners):
        page.mouse.click(*center_of(page, cell))
        members = np.flatnonzero(winners == cell)
        members = members[np.argsort(np.maximum(distances[members, cell], 0), kind="stable")]
        listed = every(page, "#cells .typical button", "one.textContent")
        assert listed == [WORDS[i] for i in members[:8]]
        written = page.evaluate(
            f"[...document.querySelectorAll(\".cell[data-cell='{cell}'] text\")].map((t) => t.textContent)"
        )
        assert written
        assert written[0] == WORDS[members[0]]
