"""The command line and the page of the demo, read as a browser would and recomputed from the models behind it."""

import re
import subprocess
import sys
from base64 import b64decode
from html.parser import HTMLParser
from io import BytesIO

import numpy as np
import pytest

pytest.importorskip("typer")
pytest.importorskip("matplotlib")

from PIL import Image
from scipy.spatial.distance import cdist
from typer.testing import CliRunner

import protolearn
from protolearn.cli import app
from protolearn.cli._pictures import signed_png
from protolearn.cli._report import Prose, Section, Table, render_page
from protolearn.cli._sections import QUICK

VOID = {"meta", "img", "br", "link", "input", "hr"}
NUMBER = re.compile(r"\d+(?:\.\d+)?")


class Page(HTMLParser):
    """Collects what the tests look at, and insists that every element is closed where it should be."""

    def __init__(self, source):
        super().__init__()
        self.open, self.addresses, self.images, self.ids, self.rows, self.text = [], [], [], set(), [], []
        self.feed(source)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.addresses += [attributes[name] for name in ("src", "href", "srcset", "data") if name in attributes]
        self.ids |= {attributes["id"]} if "id" in attributes else set()
        if tag == "img":
            self.images.append(attributes)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] in ("td", "th"):
            self.rows[-1][-1] += data
        if "style" not in self.open:
            self.text.append(data)


@pytest.fixture(scope="module")
def page(demo):
    return Page(demo.report.read_text(encoding="utf-8"))


def test_page_needs_nothing_else(demo, page):
    """Links lead to sections of the page, pictures are inside, and neither style nor text load anything."""
    assert set(demo.sections) <= page.ids
    beside = {path.name for path in demo.report.parent.glob("*.html")}
    for address in page.addresses:
        inside = address.startswith("data:image/png;base64,") or address.removeprefix("#") in page.ids
        assert inside or address in beside
    assert beside - {demo.report.name} <= set(page.addresses)
    assert len(beside) == 5
    source = re.sub(r"base64,[\w+/=]+", "", demo.report.read_text(encoding="utf-8"))  # where any letters can come up
    assert "http" not in source
    assert "@import" not in source
    assert "url(" not in source


def test_pictures_decode(demo, page):
    """All pictures are PNG with something to see in them and a description."""
    n_pictures = sum(len(section.pictures) for section in demo.sections.values())
    assert len(page.images) >= n_pictures >= 15
    for picture in page.images:
        assert picture["alt"]
        image = Image.open(BytesIO(b64decode(picture["src"].partition(",")[2], validate=True)))
        assert image.format == "PNG"
        assert np.ptp(np.asarray(image.convert("RGBA").convert("L"))) > 0


def test_trials_do_not_see_their_tests(demo):
    results = demo.sections["lvq"].results
    for trials in results["trials"].values():
        assert len(trials) == QUICK.n_splits
        for trial in trials:
            assert not set(trial.train) & set(trial.test)
            assert len(trial.train) + len(trial.test) == len(results["X"]) == QUICK.n_digits


def test_table_of_lvq(demo, page):
    """Accuracies follow from plain distances to the prototypes under the learned matrices."""
    results = demo.sections["lvq"].results
    X, y, trials = results["X"], results["y"], results["trials"]
    rows = {row[0]: row[1:] for row in page.rows if row[0] in trials and len(row) == 4}
    assert list(trials) == ["GLVQ", "GMLVQ", "LGMLVQ"]
    for name, repeated in trials.items():
        shares = [100 * _right(trial.classifier, X[trial.test], y[trial.test]).mean() for trial in repeated]
        seconds = np.mean([trial.seconds for trial in repeated])  # of two, the median is the mean
        expected = [10, np.mean(shares), np.std(shares), seconds]
        shown = [float(number) for number in NUMBER.findall(" ".join(rows[name]))]
        assert np.all(np.abs(np.subtract(shown, expected)) <= [0, 0.0501, 0.0501, 0.00501]), (name, rows[name])


def _right(model, X, y):
    return model.prototype_labels_[_lvq_distances(model, X).argmin(axis=1)] == y


def _lvq_distances(model, X):
    """Return squared distances (n, k), one prototype after another."""
    W = getattr(model, "estimator_", model).prototypes_
    identity = np.eye(X.shape[1])
    matrices = getattr(model, "omegas_", [getattr(model, "omega_", identity)] * len(W))
    return np.stack([(((X - w) @ A.T) ** 2).sum(axis=1) for w, A in zip(W, matrices)], axis=1)


def test_lvq_rejection_in_the_text(demo, page):
    """The accuracies on the most certain digits come from the two nearest classes of every test digit."""
    results = demo.sections["lvq"].results
    certainty, right = [], []
    for trial in results["trials"]["GMLVQ"]:
        X, y = results["X"][trial.test], results["y"][trial.test]
        near, far = np.sort(_lvq_distances(trial.classifier, X), axis=1)[:, :2].T  # one prototype for each class
        certainty += list((far - near) / (far + near))
        right += list(_right(trial.classifier, X, y))
    surest = np.array(right)[np.argsort(certainty)[::-1]]
    shown = [f"{surest[: round(len(surest) * share)].mean():.1%}" for share in (0.95, 0.9, 0.8)]
    text = _text(page)
    assert f"If the least certain 5%, 10% or 20% are rejected, GMLVQ is right on {', '.join(shown[:2])} or " in text
    assert f"or {shown[2]} of the others" in text


def test_pixel_of_most_weight(demo, page):
    """It adds most to the distances between digits, if pixels are counted one by one."""
    results = demo.sections["lvq"].results
    trial = results["trials"]["GMLVQ"][0]
    X, matrix = results["X"][trial.train], trial.classifier.omega_.T @ trial.classifier.omega_
    parts = np.array([matrix[i, i] * cdist(X[:, [i]], X[:, [i]], "sqeuclidean").sum() for i in range(64)])
    parts /= parts.mean()
    row, column = np.argwhere(parts.reshape(8, 8) == parts.max())[0] + 1
    assert f"row {row}, column {column} has the largest weight, {parts.max():.1f} times the average" in _text(page)
    assert f"{np.mean(parts < 0.1):.0%} of the pixels have less than a tenth of the average weight" in _text(page)


def test_view_in_the_text(demo, page):
    """The shares are those of test digits nearest to a prototype of their class in each of the planes."""
    results = demo.sections["lvq"].results
    rows = results["trials"]["GMLVQ"][0].test
    X, y = results["X"][rows], results["y"][rows]
    learned, (pca, principal) = results["planes"]["learned"], results["planes"]["principal"]
    in_view = cdist(learned.transform(X), learned.transform(learned.prototypes_)).argmin(axis=1)
    assert learned.transform(X).shape[1] == 2
    right = np.mean(learned.prototype_labels_[in_view] == y)
    assert f"few for ten digits, {right:.0%} of the test digits lie in the region of their class" in _text(page)
    assert f"LVQ classifies {_right(principal, pca.transform(X), y).mean():.0%} correctly" in _text(page)


def test_explained_digit(demo, page):
    """It is a test digit of middle confidence; the page tells its distances and shows what would change its class."""
    results = demo.sections["lvq"].results
    trial, sample = results["trials"]["GMLVQ"][0], results["shown"]
    model, X, y = trial.classifier, results["X"][trial.test], results["y"][trial.test]
    right = X[_right(model, X, y)]
    assert (right == sample).all(axis=1).any()
    assert np.mean(model.confidence(right) < model.confidence(sample)) == pytest.approx(0.5, abs=0.02)

    (distances,) = _lvq_distances(model, sample)
    nearest, rival = np.argsort(distances)[:2]
    text = _text(page)
    assert f"the prototype of class {model.classes_[nearest]} is {distances[nearest]:.3f}" in text
    assert f"the next class is {model.classes_[rival]}, at {distances[rival]:.3f}" in text

    (other,) = model.counterfactual(sample).samples
    for alt, values in {
        "Test digit": sample,
        "Nearest prototype": model.prototypes_[nearest],
        "Nearest of another class": model.prototypes_[rival],
        "Test digit after the change": other,
    }.items():
        np.testing.assert_allclose(_ink(page, alt), np.clip(values, 0, 1).reshape(8, 8), atol=0.01)
    reached = model.classes_[_lvq_distances(model, other[None]).argmin()]
    assert reached != model.classes_[nearest]
    assert f"leads to class {reached}; no pixel changes by more than {np.abs(other - sample).max():.0%}" in text


def _ink(page, alt):
    """Return how much ink, from 0 to 1, is in each pixel of the image with this description."""
    (source,) = (image["src"] for image in page.images if image["alt"] == alt)
    return 1 - _pixels(b64decode(source.partition(",")[2]))[..., 0] / 255


def test_wine_that_might_be_another(demo, page):
    """The page tells the largest changes that take the least certain wine, rightly classified, across a border."""
    (scaler, model), X, y, names = demo.sections["lvq"].results["wines"]
    text = _text(page)
    Z = scaler.transform(X)
    right = _right(model, Z, y)
    assert f"is right on {right.mean():.0%} of {len(X)} test wines" in text
    second, first = np.argsort((model.omega_**2).sum(axis=0))[-2:]
    assert f"Its most relevant features are {names[first]} and {names[second]}." in text

    near, far = np.sort(_lvq_distances(model, Z), axis=1)[:, :2].T
    row = np.where(right, (far - near) / (far + near), np.inf).argmin()
    after = model.counterfactual(Z[[row]]).samples
    reached = model.classes_[_lvq_distances(model, after).argmin()]
    assert reached != y[row]
    assert f"would turn the last wine into {reached}?" in text
    values = after[0] * scaler.scale_ + scaler.mean_
    for column in np.argsort(np.abs(after - Z[row])[0])[-3:]:
        assert f"{names[column]} {values[column]:.4g} instead of {X[row, column]:.4g}" in text


def test_languages_and_words(demo, page):
    """Distances, clusters and places of new words follow from the words by a plain edit distance."""
    results = demo.sections["words"].results
    data, gas, som = results["data"], results["gas"], results["word_map"]
    n = len(data.languages)
    D = np.array([[np.mean([_share_changed(*pair) for pair in zip(a, b)]) for b in data.words] for a in data.words])
    np.testing.assert_allclose(results["D"], D, atol=1e-12)

    nearest = np.array([min((j for j in range(n) if j != i), key=lambda j: D[i, j]) for i in range(n)])
    text = _text(page)
    assert f"from English, the nearest is {data.languages[nearest[0]]}, where {D[0].take(nearest[0]):.0%} of" in text
    same = sum(data.families[i] == data.families[nearest[i]] for i in range(n))
    assert f"For {same} of the {n} the nearest language is of the same family" in text

    rows = {row[0]: row[1].split(", ") for row in page.rows if len(row) == 2 and row[0] in data.languages}
    assert sorted(name for members in rows.values() for name in members) == sorted(data.languages)
    weights = np.stack([np.isin(data.languages, members) / len(members) for members in rows.values()], axis=1)
    own = 0.5 * np.einsum("ji,jk,ki->i", weights, D**2, weights)
    distances = D**2 @ weights - own  # to the means of the clusters that the page shows
    assert [data.languages[j] for j in distances.argmin(axis=0)] == list(rows)
    assert [list(rows)[i] for i in distances.argmin(axis=1)] == [
        next(name for name, members in rows.items() if language in members) for language in data.languages
    ]
    right = sum(max(np.sum(data.families[gas.labels_ == i] == name) for name in data.families) for i in range(5))
    assert f"puts {right} of the {n} languages into a cluster of their own family" in text

    for new in ("novum", "tria", "nomen"):
        squares = np.array([_share_changed(new, word) for word in results["words"]]) ** 2
        node = (som.coefficients_ @ squares - 0.5 * som.self_terms_).argmin()
        members = sorted({word for word, place in zip(results["words"], som.labels_) if place == node})
        assert f"{new} goes to {', '.join(members) or 'a node without words'}" in text


def _share_changed(a, b):
    """Return the edit distance, by its recursion, as a share of the longer word."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        corner, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            corner, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, corner + (x != y))
    return row[-1] / max(len(a), len(b))


def _text(page):
    return " ".join("".join(page.text).split())


def test_signed_pictures():
    """Zero is white, opposite values have the place of blue and red exchanged, and the largest is the darkest."""
    values = np.array([[0.0, 1.0, -1.0], [0.5, -0.5, 0.25]])
    colors, exchanged = (_pixels(signed_png(signs * values)).astype(int)[..., :3] for signs in (1, -1))
    assert colors[0, 0].min() > 240
    assert np.all(colors[values > 0][:, 2] > colors[values > 0][:, 0])
    assert np.all(colors[values < 0][:, 0] > colors[values < 0][:, 2])
    np.testing.assert_array_equal(colors[0, 1], exchanged[0, 2])
    np.testing.assert_array_equal(_pixels(signed_png(7 * values))[..., :3], colors)
    assert colors[0, 1].sum() < colors[1, 0].sum() < colors[1, 2].sum()
    assert np.ptp(_pixels(signed_png(np.zeros((2, 2))))[..., :3]) < 10


def test_demo_command(monkeypatch, tmp_path, demo):
    """The command runs the demo in the folder asked for, prints tables and the page, and opens it only on demand."""
    calls, opened = [], []
    monkeypatch.setattr("protolearn.cli._demo.run_demo", lambda output, progress: calls.append(output) or demo)
    monkeypatch.setattr("webbrowser.open", opened.append)
    plain = CliRunner().invoke(app, ["demo", "--output", str(tmp_path)], env={"COLUMNS": "80"})
    assert plain.exit_code == 0
    assert calls == [tmp_path]
    assert opened == []
    for row in demo.tables[0].rows:
        for cell in row:
            assert cell in plain.output
    assert str(demo.report) in plain.output
    assert CliRunner().invoke(app, ["demo", "--open"]).exit_code == 0
    assert [str(path) for path in calls[1:]] == ["demo"]
    assert opened == [demo.report.resolve().as_uri()]


def test_the_folder_is_tried_before_the_work(tmp_path, monkeypatch):
    monkeypatch.setattr("protolearn.cli._demo.SECTIONS", {"work": lambda effort: pytest.fail("it has begun")})
    (tmp_path / "file").write_text("kept")
    (tmp_path / "site" / "index.html").mkdir(parents=True)
    for folder, message in [("file", "File exists"), ("file/site", "Not a directory"), ("site", "is a folder")]:
        result = CliRunner().invoke(app, ["demo", "--output", str(tmp_path / folder)])
        assert result.exit_code == 1
        assert message in result.output
        assert isinstance(result.exception, SystemExit)
    assert (tmp_path / "file").read_text() == "kept"


def test_version():
    result = CliRunner().invoke(app, ["version"])
    assert (result.exit_code, result.output.strip()) == (0, protolearn.__version__)
    by_option = CliRunner().invoke(app, ["--version"])
    assert (by_option.exit_code, by_option.output) == (0, result.output)
    run = subprocess.run([sys.executable, "-m", "protolearn", "--version"], capture_output=True, text=True, check=True)
    assert run.stdout.split() == [protolearn.__version__]


def test_no_command_shows_help():
    output = CliRunner().invoke(app, []).output
    assert "demo" in output
    assert "version" in output


def test_import_is_light():
    """The command line starts without the libraries that only its commands need."""
    code = "import sys, protolearn.cli; print(sorted({'numpy', 'sklearn', 'numba', 'matplotlib'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


@pytest.mark.parametrize("missing", ["typer", "rich"])
def test_missing_extra(missing):
    """Without the extra, the package imports, and the command says what to install."""
    code = f"import sys; sys.modules['{missing}'] = None; from protolearn.cli import app; app()"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.returncode == 1
    assert result.stderr.strip().endswith("pip install 'protolearn[cli]'")
    assert "Traceback" not in result.stderr


def test_missing_matplotlib():
    code = "import sys; sys.modules['matplotlib'] = None; from protolearn.cli import app; app(['demo'])"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.returncode == 1
    assert "pip install 'protolearn[plot]'" in result.stdout
    assert "pip install 'protolearn[cli]'" in result.stdout
    assert "Traceback" not in result.stdout + result.stderr


def test_blocks_escape_what_is_not_prose():
    """Cells are shown as they are; prose may contain HTML."""
    table = Table("a < b", ["<x>", "y"], [["r & s", "<1>"]])
    blocks = [Prose("One <em>word</em>.\n\n  Two."), table]
    page = Page(render_page("T", "L", [Section("s", "S", blocks)], "F"))
    assert page.rows == [["<x>", "y"], ["r & s", "<1>"]]
    assert {"word", "a < b"} <= set(page.text)
    assert blocks[0].html() == "<p>One <em>word</em>.</p>\n<p>Two.</p>"


def _pixels(png):
    return np.asarray(Image.open(BytesIO(png)).convert("RGBA"))
