"""The reference lists every public name, and each gallery program has its place."""

import sys
from importlib import import_module
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
PACKAGES = [
    "",
    ".applications",
    ".applications.color",
    ".applications.retrieval",
    ".applications.textures",
    ".datasets",
    ".dissimilarities",
    ".embedding",
    ".embedding.charts",
    ".embedding.mapped.costs",
    ".embedding.divergences",
    ".embedding.mapped.mappings",
    ".embedding.topographic.structures",
    ".lvq",
    ".metrics",
    ".plotting",
    ".relational",
]
PARTS = [
    f".core.{name}"
    for name in ("cooperation", "density", "lattices", "metric", "pairs", "prototypes", "relational", "shapes")
]


@pytest.mark.parametrize("module", [*PACKAGES, *PARTS])
def test_reference_lists_public_names(module):
    listed = {line.strip() for line in (DOCS / "api" / "index.md").read_text(encoding="utf-8").splitlines()}
    names = [name for name in import_module(f"protolearn{module}").__all__ if not name.startswith("__")]
    assert names
    assert set(names) <= listed


def test_gallery_order_is_complete(monkeypatch):
    monkeypatch.syspath_prepend(DOCS / "_ext")
    order = import_module("gallery_order").ORDER
    sys.modules.pop("gallery_order")
    programs = [path.stem.removeprefix("plot_") for path in (DOCS / "gallery_src").glob("plot_*.py")]
    assert sorted(order) == sorted(programs)


@pytest.mark.parametrize("page", sorted({path.name for path in (DOCS / "guide").glob("*.md")} - {"index.md"}))
def test_guide_pages_are_reachable(page):
    assert page.removesuffix(".md") in (DOCS / "guide" / "index.md").read_text(encoding="utf-8").split()
    for start in (DOCS / "index.md", DOCS.parent / "README.md"):
        assert f"guide/{page}" in start.read_text(encoding="utf-8")
