"""Search through the command line: index, table of results, picture, and what is said when something is wrong."""

import shutil
import sys

import numpy as np
import pytest

pytest.importorskip("typer")
pytest.importorskip("matplotlib")

from PIL import Image
from typer.testing import CliRunner

from protolearn.applications import ImageRetriever, RegionColors, retrieval_rates
from protolearn.cli import app
from protolearn.datasets import make_lesion_images

WIDE = {"COLUMNS": "300"}


def run(*arguments):
    return CliRunner().invoke(app, ["retrieve", *map(str, arguments)], env=WIDE)


def store(root, images, masks, labels, first=0):
    for number, (image, mask, label) in enumerate(zip(images, masks, labels), first):
        (root / label).mkdir(parents=True, exist_ok=True)
        Image.fromarray(image).save(root / label / f"{number:02}.png")
        Image.fromarray(mask).save(root / label / f"{number:02}_mask.png")


@pytest.fixture(scope="module")
def skin(tmp_path_factory):
    """Return a folder of 24 images, an index of it, and another image with its mask."""
    root = tmp_path_factory.mktemp("skin")
    images, masks, y = make_lesion_images((7, 6, 6, 6), size=24, random_state=0)
    store(root / "images", images[:-1], masks[:-1], y[:-1])
    Image.fromarray(images[-1]).save(root / "query.png")
    Image.fromarray(masks[-1]).save(root / "region.png")
    assert run("index", root / "images", "-o", root / "index.npz").exit_code == 0
    return root


def rows_of(result, n):
    """Return the cells of the last table, above the line about the picture."""
    lines = [line.split() for line in result.output.splitlines() if line.split()[:1] and line.split()[0].isdigit()]
    return lines[-n:]


def test_an_index_and_a_query(skin, tmp_path):
    target = tmp_path / "hits.png"
    result = run(
        "query", skin / "query.png", "--mask", skin / "region.png", "-k", 5, "--index", skin / "index.npz", "-o", target
    )
    assert result.exit_code == 0, result.output
    retriever = ImageRetriever(random_state=0).fit(skin / "images")
    image, mask = (np.asarray(Image.open(skin / name)) for name in ("query.png", "region.png"))
    hits = retriever.retrieve([(image, mask)], 5)
    expected = [
        [str(rank), label, f"{distance:.3f}", str(path)]
        for rank, (label, distance, path) in enumerate(zip(hits.labels[0], hits.distances[0], hits.paths[0]), 1)
    ]
    assert rows_of(result, 5) == expected
    with Image.open(target) as sheet:
        assert sheet.width > 4 * sheet.height


def test_an_image_of_the_index_is_not_its_own_result(skin, tmp_path):
    path = next((skin / "images" / "red").glob("*[0-9].png"))
    result = run("query", path, "-k", 3, "--index", skin / "index.npz", "-o", tmp_path / "hits.png")
    assert result.exit_code == 0, result.output
    retriever = ImageRetriever(random_state=0).fit(skin / "images")
    own = retriever.paths_.index(path)
    nearest = retriever.kneighbors(n_neighbors=3, return_distance=False)[own]
    assert [row[3] for row in rows_of(result, 3)] == [str(retriever.paths_[i]) for i in nearest]
    green = (np.asarray(Image.open(tmp_path / "hits.png").convert("RGB")) == (0x1A, 0x98, 0x50)).all(axis=2)
    assert green.any() == ("red" in retriever.labels_[nearest])  # its class is known, so right results are marked


def test_fewer_images_than_results_by_default(tmp_path):
    images, masks, y = make_lesion_images((2, 2, 2, 2), size=24, random_state=0)
    store(tmp_path / "images", images, masks, y)
    index, sheet = ["--index", tmp_path / "index.npz"], ["-o", tmp_path / "hits.png"]
    assert run("index", tmp_path / "images", "-o", tmp_path / "index.npz", "--metric", "euclidean").exit_code == 0
    own = tmp_path / "images" / y[0] / "00.png"
    shutil.copy(own, tmp_path / "query.png")
    for query, n_results in [(tmp_path / "query.png", 8), (own, 7)]:
        result = run("query", query, *index, *sheet)
        assert result.exit_code == 0, result.output
        ranks = [row[0] for row in rows_of(result, 9)]
        assert ranks == [str(rank) for rank in range(1, n_results + 1)]
    (tmp_path / "hits.png").unlink()
    (tmp_path / "images").rename(tmp_path / "moved")
    result = run("query", tmp_path / "query.png", *index, *sheet)
    assert result.exit_code == 1
    assert len(rows_of(result, 9)) == 8  # what was found is told all the same
    assert "images of the index are no longer there" in result.output
    assert not (tmp_path / "hits.png").exists()


def test_the_index_tells_classes_weights_and_rates(skin, tmp_path):
    options = ["--space", "rgb", "--metric", "lmnn", "--components", "2", "--rates", "--seed", "3"]
    result = run("index", skin / "images", "-o", tmp_path / "index.npz", *options)
    assert result.exit_code == 0, result.output
    features = RegionColors("rgb", regions="center")
    retriever = ImageRetriever("lmnn", features=features, n_components=2, random_state=3).fit(skin / "images")
    for label in np.unique(retriever.labels_):
        assert [label, str((retriever.labels_ == label).sum())] in [line.split() for line in result.output.splitlines()]
    assert str(retriever.recommendation()) in result.output
    smallest = np.unique(retriever.labels_, return_counts=True)[1].min()
    given = {"ks": [1, 5, 11], "n_folds": int(smallest), "n_starts": 1, "random_state": 3}
    for metric in ("lmnn", "euclidean"):
        found = retrieval_rates(retriever.set_params(metric=metric), skin / "images", **given)
        shares = [f"{100 * rate:.1f}" for rate in found.rates]
        (row,) = [line.split() for line in result.output.splitlines() if line.startswith(metric)]
        assert row[1::2] == shares


@pytest.mark.parametrize("options", [["--difference"], ["--whole"], ["--metric", "local"], ["--metric", "euclidean"]])
def test_other_features_and_metrics(skin, tmp_path, options):
    index = tmp_path / "index.npz"
    assert run("index", skin / "images", "-o", index, *options).exit_code == 0
    result = run("query", skin / "query.png", "-k", 2, "--index", index, "-o", tmp_path / "hits.png", "--label", "red")
    assert result.exit_code == 0, result.output
    assert len(rows_of(result, 2)) == 2


def test_files_that_cannot_be_used_are_named(tmp_path):
    images, masks, y = make_lesion_images((4, 4, 4, 4), size=24, random_state=0)
    store(tmp_path / "images", images, masks, y)
    (tmp_path / "images" / "red" / "cut.png").write_bytes((tmp_path / "images" / y[0] / "00.png").read_bytes()[:200])
    Image.fromarray(images[0][..., 0]).save(tmp_path / "images" / "blue" / "gray.png")
    index = tmp_path / "index.npz"
    result = run("index", tmp_path / "images", "-o", index)
    assert result.exit_code == 1
    assert "gray.png is gray" in result.output
    assert not index.exists()
    result = run("index", tmp_path / "images", "-o", index, "--skip")
    assert result.exit_code == 0, result.output
    assert "Skipped 2 of " in result.output
    for name in ("cut.png", "gray.png"):
        assert name in result.output
    assert index.exists()


def test_what_is_wrong_is_said(skin, tmp_path, monkeypatch):
    index, query = ["--index", skin / "index.npz"], skin / "query.png"
    output = ["-o", tmp_path / "new"]
    (tmp_path / "text.npz").write_text("no index")
    Image.fromarray(np.zeros((24, 24), np.uint8)).save(tmp_path / "gray.png")
    Image.fromarray(np.zeros((24, 24), np.uint8)).save(tmp_path / "black.png")
    Image.fromarray(np.eye(9, dtype=np.uint8) * 255).save(tmp_path / "small.png")
    for arguments, message in [
        (["index", tmp_path / "none", *output], "nor a folder"),
        (["index", tmp_path, *output], "no sub-folders, which name the labels"),
        (["index", skin / "images" / "red", *output], "no sub-folders, which name the labels"),
        (["index", skin / "images", *output, "--space", "hsv"], "space='hsv'"),
        (["index", skin / "images", *output, "--metric", "cosine"], "metric='cosine'"),
        (["index", skin / "images", "-o", tmp_path / "none" / "index.npz"], "No such file"),
        (["query", query, "--index", tmp_path / "none.npz", *output], "There is no index"),
        (["query", query, "--index", tmp_path / "text.npz", *output], "is no image index"),
        (["query", query, "--index", query, *output], "is no image index"),
        (["query", tmp_path / "none.png", *index, *output], "No such file"),
        (["query", tmp_path / "text.npz", *index, *output], "not an image of a supported type"),
        (["query", tmp_path / "gray.png", *index, *output], "is gray"),
        (["query", query, "--mask", tmp_path / "none.png", *index, *output], "No such file"),
        (["query", query, "--mask", tmp_path / "black.png", *index, *output], "no inside"),
        (["query", query, "--mask", tmp_path / "small.png", *index, *output], "mask has shape (9, 9)"),
        (["query", query, *index, *output, "-k", 25], "n_neighbors=25 must be an integer in [1, 24]"),
        (["query", query, *index, *output, "-k", 0], "n_neighbors=0"),
        (["query", query, *index, *output, "--label", "rde"], "no class 'rde'"),
    ]:
        result = run(*arguments)
        assert result.exit_code == 1, arguments
        assert message in result.output
        assert "Traceback" not in result.output
        assert not (tmp_path / "new").exists()
    monkeypatch.setitem(sys.modules, "PIL", None)
    result = run("query", query, *index, *output)
    assert result.exit_code == 1
    assert "protolearn[images]" in result.output


def test_an_input_is_never_replaced(skin, tmp_path):
    root = tmp_path / "skin"
    shutil.copytree(skin / "images", root)
    query, index = tmp_path / "query.png", tmp_path / "index.npz"
    shutil.copy(skin / "query.png", query)
    shutil.copy(skin / "region.png", tmp_path / "query_mask.png")
    assert run("index", root, "-o", index, "--metric", "euclidean").exit_code == 0
    image = next((root / "red").glob("*[0-9].png"))
    files = {path: path.read_bytes() for path in tmp_path.rglob("*.*")}
    commands = [
        ["query", query, "--index", index, "-o", target]
        for target in (query, tmp_path / "query_mask.png", index, image)
    ]
    for arguments in [*commands, ["index", root, "-o", image]]:
        result = run(*arguments)
        assert result.exit_code == 1, arguments
        assert "would be overwritten" in result.output
    assert {path: path.read_bytes() for path in tmp_path.rglob("*.*")} == files
    assert run("index", root, "-o", index, "--metric", "euclidean").exit_code == 0  # an old index may be replaced


def test_outputs_are_tried_before_the_work(skin, tmp_path, monkeypatch):
    monkeypatch.setattr(ImageRetriever, "fit", lambda *_: pytest.fail("the work has begun"))
    result = run("index", skin / "images", "-o", tmp_path)
    assert result.exit_code == 1
    assert "is a folder" in result.output


@pytest.mark.filterwarnings("ignore:Glyph")
def test_names_are_printed_as_they_are(skin, tmp_path):
    """Neither markup of tables nor what steers a terminal acts from the name of a folder or a file."""
    for name, copied in {"[red]": "red", "esc\x1b[31m": "blue"}.items():
        shutil.copytree(skin / "images" / copied, tmp_path / "images" / name)
    index = tmp_path / "[b]index.npz"
    result = run("index", tmp_path / "images", "-o", index, "--metric", "euclidean")
    assert result.exit_code == 0, result.output
    for text in ("[red]", "esc\ufffd[31m", "[b]index.npz"):
        assert text in result.output.replace("\n", "")
    result = run("query", skin / "query.png", "-k", 12, "--index", index, "-o", tmp_path / "hits.png")
    assert result.exit_code == 0, result.output
    assert "[red]" in result.output
    assert "\x1b" not in result.output


def test_help_tells_what_there_is():
    result = run("--help")
    assert result.exit_code == 0
    assert "index" in result.output
    assert "query" in result.output
