"""The page of a classifier computes what the classifier does; a reader changes a sample until its class flips."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.datasets import load_iris, load_wine
from sklearn.decomposition import PCA, KernelPCA
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import confusion_matrix
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

from protolearn import (
    GLVQ,
    GMLVQ,
    GRLVQ,
    LGMLVQ,
    RSLVQ,
    LearnedMetric,
    LLiRaMLVQ,
    MatrixNeuralGas,
    NeuralGas,
    PrototypeClassifier,
    RelationalGLVQ,
)
from protolearn.explore import explore
from protolearn.explore._classifiers import _affine, _plane, _probes, _ways, classifier_part
from protolearn.explore._samples import columns_of
from protolearn.lvq import MinkowskiMetric, Number, counterfactual, explain, table_of

pd = pytest.importorskip("pandas")
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

WINE = load_wine(as_frame=True)
X, Y = WINE.data, WINE.target_names[WINE.target]
IRIS = load_iris(return_X_y=True)


def patients(n=120):
    """A table with numbers, of which some are missing, and with categories."""
    rng = np.random.RandomState(1)
    codes = rng.randint(0, 3, n)
    table = pd.DataFrame(
        {
            "visit": np.arange(n),
            "age": np.round(40 + 10 * codes + 8 * rng.normal(size=n)),
            "pressure": 120 + 12 * rng.normal(size=n) + 10 * (codes == 2),
            "smoker": np.where(rng.rand(n) < 0.2 + 0.3 * codes, "yes", "no"),
            "blood": rng.choice(["0", "A", "AB", "B"], n),
        }
    )
    table.loc[rng.rand(n) < 0.15, "pressure"] = np.nan
    return table, np.array(["well", "at risk", "ill"])[codes]


def mixed_pipeline():
    numbers = make_pipeline(SimpleImputer(), StandardScaler())
    columns = make_column_transformer((numbers, ["pressure", "age"]), (OneHotEncoder(), ["smoker", "blood"]))
    return make_pipeline(columns, GMLVQ(max_iter=30, random_state=0))


CASES = {
    "glvq": (GLVQ(prototypes_per_class=2, random_state=0), X, Y),
    "grlvq": (GRLVQ(random_state=0), X, Y),
    "gmlvq": (GMLVQ(max_iter=30, random_state=0), X, Y),
    "two classes": (make_pipeline(StandardScaler(), GMLVQ(max_iter=30, random_state=0)), X[:130], Y[:130]),
    "lgmlvq": (LGMLVQ(max_iter=30, random_state=0), X, Y),
    "lliram": (LLiRaMLVQ(max_iter=30, random_state=0), X, Y),
    "rslvq": (RSLVQ(prototypes_per_class=2, random_state=0), *IRIS),
    "mixed": (mixed_pipeline(), *patients()),
}
LOCAL = ("lgmlvq", "lliram")


def steps(model):
    return (model[-1], model[:-1].transform) if hasattr(model, "steps") else (model, lambda samples: samples)


def rows(samples, chosen):
    return samples.iloc[chosen] if hasattr(samples, "iloc") else samples[chosen]


def check_answers(found, model, samples):
    """Require what the page says of samples to be what the model says."""
    last, prepared = steps(model)
    assert [last.reject_label if one["predicted"] < 0 else last.classes_[one["predicted"]] for one in found] == list(
        model.predict(samples)
    )
    decision = np.array([one["decision"] for one in found])
    shape = (-1,) if decision.shape[1] == 1 else decision.shape
    np.testing.assert_allclose(decision.reshape(shape), model.decision_function(samples), rtol=1e-7, atol=1e-8)
    for key, expected in {
        "D": last.distances(prepared(samples)),
        "probabilities": model.predict_proba(samples),
        "confidence": last.confidence(prepared(samples)),
    }.items():
        np.testing.assert_allclose([one[key] for one in found], expected, rtol=1e-7, atol=1e-8)
    explanation = explain(model, samples)
    used = [i for i, name in enumerate(explanation.feature_names) if name != "visit"]  # which does not reach the model
    parts = np.array([one["contributions"] for one in found])
    np.testing.assert_allclose(parts, explanation.contributions[:, used], rtol=1e-7, atol=1e-8)
    assert [one["winner"] for one in found] == list(explanation.prototypes)
    assert [one["rival"] for one in found] == list(explanation.rival_prototypes)


LOOK = """(list) => list.map(([s, changes]) => {
    const found = protolearn.doc.desk.model.look(s, new Map(changes));
    for (const key of ["D", "probabilities", "z"]) found[key] = Array.from(found[key]);
    return found;
})"""


@pytest.mark.parametrize("name", CASES)
def test_page_computes_what_the_model_computes(name, visit, tmp_path):
    """For all samples, after changes, at places in the plane, and for the nearest change to another class."""
    model, samples, y = CASES[name]
    model.fit(samples, y)
    page = visit(explore(model, samples, y, path=tmp_path / "page.html"))
    check_samples(page, model, samples)
    check_regions(page, model, samples)
    check_nearest_changes(page, model, samples, 0.05 if name in LOCAL else 1e-3)


def check_samples(page, model, samples):
    check_answers(page.evaluate(LOOK, [[s, []] for s in range(len(samples))]), model, samples)

    rng = np.random.RandomState(0)
    features = page.evaluate(
        "protolearn.doc.desk.model.features.map(({ name, categories, low, high }) => ({ name, categories, low, high }))"
    )
    chosen = rng.choice(len(samples), 20)
    changed = pd.DataFrame(rows(samples, chosen)).reset_index(drop=True)
    asked = []
    for row, s in enumerate(chosen):
        changes = []
        for i in rng.choice(len(features), 2, replace=False):
            feature = features[i]
            place = list(map(str, changed.columns)).index(feature["name"].removeprefix("x"))
            if feature.get("categories"):
                value = rng.randint(len(feature["categories"]))
                changed.iloc[row, place] = feature["categories"][value]
            else:
                value = rng.uniform(feature["low"], feature["high"])
                changed[changed.columns[place]] = changed[changed.columns[place]].astype(float)
                changed.iloc[row, place] = value
            changes.append([int(i), value])
        asked.append([int(s), changes])
    check_answers(page.evaluate(LOOK, asked), model, changed if hasattr(samples, "iloc") else changed.to_numpy())


def check_regions(page, model, samples):
    last, prepared = steps(model)
    places = np.random.RandomState(0).normal(size=(20, 2))
    codes, columns = page.evaluate(
        """([s, places]) => {
            const { model } = protolearn.doc.desk;
            const z = model.input(s);
            const forms = model.slice(z);
            const d = (f, [x, y]) => f.c + 2 * (f.bx * x + f.by * y) + f.xx * x * x + 2 * f.xy * x * y + f.yy * y * y;
            const nearest = (q) => forms.reduce((a, b) => (d(b, q) < d(a, q) ? b : a)).code;
            const { back } = model;
            const at = ([x, y]) => Array.from(z, (value, j) => value + back[2 * j] * x + back[2 * j + 1] * y);
            return [[[0, 0], ...places].map(nearest), [[0, 0], ...places].map(at)];
        }""",
        [3, places.tolist()],
    )
    np.testing.assert_allclose(columns[0], np.asarray(prepared(samples), float)[3], rtol=1e-9)
    points = pd.DataFrame(columns)
    if hasattr(last, "feature_names_in_"):
        points.columns = last.feature_names_in_
    else:
        points = points.to_numpy()
    assert list(last.classes_[codes]) == list(last.predict(points))


def check_nearest_changes(page, model, samples, tolerance):
    """Require changes in the page to reach the class, and to be as short as those of the library."""
    last, _ = steps(model)
    some = list(range(0, len(samples), len(samples) // 12))
    names = samples.columns if hasattr(samples, "columns") else range(samples.shape[1])
    table = pd.DataFrame(samples)
    numbers = [i for i in range(len(names)) if table.dtypes.iloc[i].kind in "if"]
    bounds = {i: (table.iloc[:, i].min(), table.iloc[:, i].max()) for i in numbers}
    fixed = [i for i in range(len(names)) if i not in numbers]
    for target in (None, 1):
        wanted = None if target is None else last.classes_[target]
        found = page.evaluate(
            """([some, target]) => some.map((s) => {
                const { model } = protolearn.doc.desk;
                const changes = model.counterfactual(s, new Map(), { target });
                const z = model.input(s);
                const there = model.input(s, changes);
                const change = model.project(there.map((value, j) => value - z[j]), model.slots[model.look(s).winner]);
                return [model.predict(model.distances(there)), change.reduce((sum, value) => sum + value * value, 0)];
            })""",
            [some, -1 if target is None else target],
        )
        best = counterfactual(model, rows(samples, some), wanted, bounds=bounds, fixed=fixed)
        present = np.searchsorted(last.classes_, best.original_classes)
        there, lengths = np.array(found).T
        other = present != there if target is None else there == target
        moves = np.ones(len(some), bool) if target is None else present != target
        assert other.all()
        assert best.found.all()
        ratios = lengths[moves] / best.distances[moves]
        assert ratios.max() <= 1.0 + tolerance


def test_change_of_few_features_is_the_one_of_the_library(visit, tmp_path):
    """Of a shared metric: as many features change as in a sparse counterfactual, and the class flips."""
    model = GMLVQ(max_iter=30, random_state=0).fit(X, Y)
    page = visit(explore(model, X, Y, path=tmp_path / "page.html"))
    some = list(range(0, len(X), 20))
    found = page.evaluate(
        """(some) => some.map((s) => {
            const { model } = protolearn.doc.desk;
            const changes = model.fewChanges(s, new Map(), { held: new Set() });
            return [changes.size, model.look(s, changes).predicted];
        })""",
        some,
    )
    bounds = {name: (X[name].min(), X[name].max()) for name in X}
    fewest = counterfactual(model, X.iloc[some], bounds=bounds, sparse=True)
    sizes, codes = np.array(found).T
    assert (model.classes_[codes] != fewest.original_classes).all()
    assert sizes.tolist() == (fewest.changes != 0).sum(axis=1).tolist()


@pytest.fixture
def reader(visit, tmp_path):
    """A page of the mixed table in front of a reader."""
    samples, y = patients()
    model = mixed_pipeline().fit(samples, y)
    page = visit(explore(model, samples, y, path=tmp_path / "patients.html"))
    page.model, page.samples, page.y = model, samples, y
    return page


def shown(page):
    """Return what the page shows: class, confidence, probabilities of classes, and values of features that changed."""
    page.wait_for_timeout(60)
    text = page.inner_text("#verdict")
    chances = {
        row.split("\n")[0]: float(row.split("\n")[-1].rstrip(" %")) / 100
        for row in page.locator("#sample ul[aria-label='Probabilities of classes'] li").all_inner_texts()
    }
    return page.inner_text("#verdict strong"), float(text.split("confidence ")[1][:5]), chances


def check_shown(page, sample):
    said, confidence, chances = shown(page)
    prepared = page.model[:-1].transform(sample)
    assert said == page.model.predict(sample)[0]
    assert confidence == pytest.approx(page.model[-1].confidence(prepared)[0], abs=6e-4)
    for name, share in zip(page.model.classes_, page.model.predict_proba(sample)[0]):
        assert chances[name] == pytest.approx(share, abs=6e-4)
    return said


def test_reader_changes_a_sample_until_its_class_flips(reader):
    page, samples = reader, reader.samples
    s = 7
    x, y = page.evaluate(
        "(s) => { const { scatter, model } = protolearn.doc.desk; scatter.canvas.scrollIntoView({ block: 'center' });"
        " return scatter.toScreen(model.positions[2 * s], model.positions[2 * s + 1]); }",
        s,
    )
    page.locator("canvas.scatter").click(position={"x": x, "y": y})
    s = page.evaluate("protolearn.store.focus")
    before = check_shown(page, samples[s : s + 1])
    assert str(page.samples.index[s]) in page.inner_text("#sample .name")

    slider = page.get_by_label("age", exact=True)
    aim = "End" if samples.age[s] < samples.age.median() else "Home"
    slider.focus()
    page.keyboard.press(aim)
    page.keyboard.press("ArrowLeft" if aim == "End" else "ArrowRight")
    changed = samples[s : s + 1].assign(age=float(slider.input_value()))
    flipped = check_shown(page, changed)
    assert flipped != before
    assert f"no longer {before}" in page.inner_text("#verdict")
    assert page.inner_text("li[data-feature].changed .was") == f"was {samples.age[s]:g}"

    page.get_by_label("smoker", exact=True).select_option("no" if samples.smoker[s] == "yes" else "yes")
    changed = changed.assign(smoker="no" if samples.smoker[s] == "yes" else "yes")
    page.get_by_label("pressure, number").fill("137.5")
    page.get_by_label("pressure, number").press("Enter")
    check_shown(page, changed.assign(pressure=137.5))

    page.click("#reset")
    assert check_shown(page, samples[s : s + 1]) == before

    box = slider.bounding_box()
    for share in np.linspace(0.5, 0.99 if aim == "End" else 0.01, 8):  # drag, until the class is another one
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        page.mouse.down()
        page.mouse.move(box["x"] + box["width"] * share, box["y"] + box["height"] / 2, steps=4)
        page.mouse.up()
        if check_shown(page, samples[s : s + 1].assign(age=float(slider.input_value()))) != before:
            break
    else:
        raise AssertionError("the class never flipped")


def test_nearest_change_moves_the_sliders(reader):
    page, samples = reader, reader.samples
    s = int(np.flatnonzero(samples.pressure.notna() & (page.model.predict(samples) == "ill"))[0])
    page.evaluate("(s) => protolearn.store.look(s)", s)
    page.get_by_label("hold pressure").check()
    page.get_by_label("to", exact=True).select_option("well")
    page.click("#counterfactual")
    assert shown(page)[0] == "well"
    ((feature, age),) = page.evaluate("Array.from(protolearn.doc.desk.changes)")
    assert page.evaluate("(i) => protolearn.doc.desk.model.features[i].name", feature) == "age"
    assert page.model.predict(samples[s : s + 1].assign(age=age))[0] == "well"
    assert page.inner_text("#found").startswith(f"well with age {samples.age[s]:g} → ")
    page.get_by_label("hold age").check()
    page.get_by_label("to", exact=True).select_option("ill")
    page.click("#counterfactual")
    assert "no such change" in page.inner_text("#found")


def test_mistakes_and_threshold(reader):
    """The confusion matrix, and accuracy and coverage at a threshold, are those of the model with that threshold."""
    page, samples, y, model = reader, reader.samples, reader.y, reader.model

    def numbers():
        cells = page.locator(".confusion tbody tr").all()
        return [[int(cell.replace("·", "0")) for cell in row.locator("td").all_inner_texts()] for row in cells]

    assert np.array_equal(numbers(), confusion_matrix(y, model.predict(samples), labels=model.classes_))
    page.locator(".confusion tbody tr").nth(0).locator("td button").nth(1).click()
    expected = (y == model.classes_[0]) & (model.predict(samples) == model.classes_[1])
    assert page.evaluate("Array.from(protolearn.store.selected)") == expected.astype(int).tolist()
    assert page.inner_text(".mistakes p").startswith(f"0.0 % correct of {expected.sum()} samples")
    page.evaluate("(s) => protolearn.store.look(s)", int(np.flatnonzero(expected)[0]))
    assert page.locator(".confusion td.here").inner_text() == str(expected.sum())

    page.locator("#threshold").fill("0.3")
    model[-1].set_params(reject_threshold=0.3, reject_label="none")
    said = model.predict(samples)
    assert [sum(row) for row in zip(*numbers())] == [int((said == name).sum()) for name in [*model.classes_, "none"]]
    answered = said != "none"
    text = page.inner_text(".threshold")
    assert f"{100 * answered.mean():.1f} % of the samples" in text
    assert f"{100 * (said == y)[answered].mean():.1f} % of these correctly" in text
    page.click("text=Select those without an answer")
    assert page.evaluate("Array.from(protolearn.store.selected)") == (~answered).astype(int).tolist()
    check_answers(
        page.evaluate(LOOK.replace("new Map(changes)", "new Map(changes), 0.3"), [[s, []] for s in range(len(y))]),
        model,
        samples,
    )
    model[-1].set_params(reject_threshold=0.0)


def test_phone_and_markup(visit, tmp_path, spoken):
    """Names of classes, features and categories are shown and never run, and nothing is wider than a phone."""
    samples, y = patients(60)
    samples = samples.rename(columns={"age": spoken.markup}).assign(blood=samples.blood.replace("A", spoken.markup))
    columns = make_column_transformer((StandardScaler(), [spoken.markup]), (OneHotEncoder(), ["blood"]))
    model = make_pipeline(columns, GMLVQ(max_iter=5)).fit(samples, np.where(y == "ill", spoken.markup, y))
    page = visit(explore(model, samples, y, path=tmp_path / "page.html"), width=390, color_scheme="dark")
    page.wait_for_selector("li[data-feature]")
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    page.click("#counterfactual")
    assert spoken.markup in page.inner_text("#sample")
    assert page.evaluate("window.broken") is None
    assert page.query_selector_all("main img, main script") == []


def missing():
    samples = X.copy()
    samples.iloc[::7, 3] = np.nan
    return samples


SPECIAL = {
    "alcohol": (make_pipeline(StandardScaler(), PCA(3), GLVQ(random_state=0)), X, Y),  # not a component
    "mixes columns": (
        make_pipeline(StandardScaler(), KernelPCA(3, kernel="rbf", fit_inverse_transform=True), GLVQ(random_state=0)),
        X,
        Y,
    ),
    "changed here in the input columns": (
        make_pipeline(FunctionTransformer(np.log, np.exp, feature_names_out="one-to-one"), GLVQ(random_state=0)), X, Y,
    ),
    "missing": (GMLVQ(missing="partial", max_iter=10, random_state=0), missing(), Y),
    "novel": (GMLVQ(contamination=0.2, reject_threshold=0.1, reject_label="none", max_iter=10), X, Y),
    "map": (PrototypeClassifier(NeuralGas(7, random_state=0)), X, Y),
    "map of each class": (PrototypeClassifier(NeuralGas(2, random_state=0), per_class=True), X, Y),
}  # fmt: skip
STORED = {
    "another metric": (GLVQ(metric=MinkowskiMetric(3), max_iter=10), X, Y),
    "shapes": (PrototypeClassifier(MatrixNeuralGas(3, random_state=0)), X, Y),
    "relations": (RelationalGLVQ(random_state=0), cdist(X, X), Y),
}


@pytest.mark.parametrize("name", [*SPECIAL, *STORED])
def test_all_kinds_of_classifiers_have_a_page(name, visit, tmp_path):
    model, samples, y = (SPECIAL | STORED)[name]
    model.fit(samples, y)
    last, prepared = steps(model)
    page = visit(explore(model, samples, None if name == "map" else y, path=tmp_path / "page.html"))
    found = page.evaluate(
        """() => protolearn.doc.samples.names.map((_, s) => {
            const { predicted, confidence, probabilities } = protolearn.doc.desk.model.look(s);
            return [predicted, confidence, Array.from(probabilities), protolearn.doc.desk.answer(s)];
        })"""
    )
    said = [last.reject_label if code < 0 else last.classes_[code] for code, *_ in found]
    assert said == list(model.predict(samples))
    assert [one[0] for one in found] == [one[3] for one in found]
    np.testing.assert_allclose([one[1] for one in found], last.confidence(prepared(samples)), rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose([one[2] for one in found], model.predict_proba(samples), rtol=1e-6, atol=1e-7)
    assert page.evaluate("protolearn.doc.desk.model.computes") == (name in SPECIAL)
    page.wait_for_function("protolearn.store.focus >= 0")
    if name in STORED:
        assert "This page cannot compute the distances" in page.inner_text("#sample")
        return
    nearest = "protolearn.doc.desk.model.codes[protolearn.doc.desk.now.winner]"
    before = page.evaluate(nearest)
    page.click("#counterfactual")
    assert page.evaluate(nearest) != before
    if "classifier" in name or "columns" in name or name == "alcohol":
        assert name in page.inner_text("#sample")


def stream(model):
    """Fit a model to a stream in which a class has not come yet."""
    return model.partial_fit(IRIS[0][:100], IRIS[1][:100], classes=[0, 1, 2])


@pytest.mark.parametrize(
    "model",
    [
        PrototypeClassifier(NeuralGas(1)).fit(*IRIS),
        GLVQ().fit(IRIS[0][:, :1], IRIS[1]),
        stream(GMLVQ()),
        stream(GLVQ(metric=MinkowskiMetric(3))),
    ],
    ids=["one prototype", "one feature", "unseen class", "unseen class, another metric"],
)
def test_planes_of_degenerate_models_are_finite(model):
    part = classifier_part(model, model, IRIS[0][:, : model.n_features_in_], IRIS[1])["classifier"]
    assert np.isfinite(part["positions"]).all()
    if "plane" in part:
        assert np.isfinite(part["back"]).all()
        planes = part["plane"] @ part["back"]  # there and back again, along the axes that there are
        np.testing.assert_allclose(planes, np.diag(np.diag(planes).round()), atol=1e-9)


@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e3), st.sampled_from([-1, 1]), st.floats(-1e3, 1e3), st.floats(1e-3, 1e3))
def test_affine_ways_are_found(origin, size, sign, low, span):
    at = _probes(np.array([low, np.nan, low + span]))
    found = _affine(at, (at - origin) * size * sign)
    assert found is not None
    at = np.linspace(low, low + span, 5)
    assert (at - found[0]) * found[1] == pytest.approx((at - origin) * size * sign, abs=1e-6 * size * span)


@pytest.mark.parametrize("way", [np.square, np.zeros_like, lambda v: np.clip(v, 0, 10), lambda v: np.log(v + 1e-3)])
def test_other_ways_are_not_affine(way):
    at = _probes(np.linspace(0.0, 10.0, 20))
    with np.errstate(invalid="ignore"):
        assert _affine(at, way(at)) is None


@pytest.mark.parametrize("frame", [False, True])
def test_ways_of_all_numbers_are_those_of_each(frame):
    """Numbers go through all steps together, and each is what it is alone, beside categories and gaps."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"a": rng.random(40), "b": rng.integers(1, 9, 40), "c": rng.random(40) + 1.0, "d": 1.0})
    table.loc[3, "a"] = np.nan
    scalers: list = [("scaled", make_pipeline(SimpleImputer(), StandardScaler()), [1, 0])]
    scalers.append(("logs", FunctionTransformer(np.log, np.exp, feature_names_out="one-to-one"), [2]))
    if frame:
        table["e"] = pd.Categorical(np.array(["x", "y"])[np.arange(40) % 2])
        scalers.append(("codes", OneHotEncoder(sparse_output=False), [4]))
    X = table if frame else table.to_numpy()
    model = make_pipeline(ColumnTransformer(scalers), GLVQ(random_state=0)).fit(X, np.arange(40) % 2)
    seen = table_of(model)
    columns = columns_of(X)
    ways = _ways(seen, X, columns, list(range(len(seen.features))))
    numbers = [(i, feature) for i, feature in enumerate(seen.features) if isinstance(feature, Number)]
    assert sorted(ways) == [0, 1, 2]
    assert ways[2] is None
    for i, feature in numbers[:2]:
        at = columns[i]["values"][:3]
        origin, factor = ways[int(feature.columns[0])]
        np.testing.assert_allclose((at - origin) * factor, feature.forward(at), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("n_metrics", [1, 3])
def test_planes_of_diagonals_are_those_of_matrices(n_metrics):
    rng = np.random.default_rng(1)
    W, Z, diagonals = rng.normal(size=(3, 6)), rng.normal(size=(30, 6)), rng.random((n_metrics, 6))
    diagonals[:, 2] = 0.0
    slots = np.arange(3) % n_metrics
    plain = _plane(LearnedMetric(diagonals, W, slots), Z)
    whole = _plane(LearnedMetric(np.array([np.diag(a) for a in diagonals]), W, slots), Z)
    for name in ("plane", "back", "positions", "shares"):
        signs = np.sign((plain["plane"] * whole["plane"]).sum(axis=1)) if name != "shares" else 1.0
        turned = whole[name] * (signs[:, None] if name == "plane" else signs)
        np.testing.assert_allclose(plain[name], turned, atol=1e-9)
    assert plain["complete"] == whole["complete"]


@pytest.mark.parametrize("model", [KNeighborsClassifier(), LogisticRegression(max_iter=10_000)])
def test_other_classifiers_are_refused(model):
    model.fit(*IRIS)
    with pytest.raises(ValueError, match="has no page; give a fitted classifier of protolearn"):
        classifier_part(model, model, *IRIS)
