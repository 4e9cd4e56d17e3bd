"""The reference lists every public name, and each gallery program has its place."""

import re
import sys
from functools import cache
from importlib import import_module
from inspect import isclass, isroutine
from pathlib import Path
from pkgutil import walk_packages

import numpy as np
import pytest
from PIL import Image

import protolearn

DOCS = Path(__file__).parents[1] / "docs"


def is_public(module: str) -> bool:
    return not any(part.startswith("_") for part in module.split(".")) and module != "protolearn.cli"


MODULES = [
    "protolearn",
    *filter(is_public, (found.name for found in walk_packages(protolearn.__path__, "protolearn."))),
]


@cache
def listed() -> list[tuple[str, str]]:
    """Return modules and names that the reference lists."""
    page = (DOCS / "api" / "index.md").read_text(encoding="utf-8")
    module, found = "", []
    for home, name in re.findall(r"^\.\. (?:current)?module:: (\S+)$|^   (\w+)$", page, flags=re.MULTILINE):
        module = home or module
        if name:
            found.append((module, name))
    return found


def test_what_the_reference_lists_exists():
    assert [(module, name) for module, name in listed() if not hasattr(import_module(module), name)] == []
    assert len(listed()) == len(set(listed()))


@pytest.mark.parametrize("module", MODULES)
def test_reference_lists_public_names(module):
    """Public means listed: a module without an underscore has no other names in ``__all__``."""
    home = import_module(module)
    names = {name for name in getattr(home, "__all__", ()) if name != "__version__"}
    homes = {
        name: {id(getattr(import_module(where), name, None)) for where, it in listed() if it == name} for name in names
    }
    assert {name for name in names if id(getattr(home, name)) not in homes[name]} == set()
    assert names or home.__file__.endswith("__init__.py")


def test_gallery_order_is_complete(monkeypatch):
    monkeypatch.syspath_prepend(DOCS / "_ext")
    order = import_module("gallery_order").ORDER
    sys.modules.pop("gallery_order")
    programs = [path.stem.removeprefix("plot_") for path in (DOCS / "gallery_src").glob("plot_*.py")]
    assert sorted(order) == sorted(programs)


@pytest.mark.parametrize("page", sorted({path.name for path in (DOCS / "guide").glob("*.md")} - {"index.md"}))
def test_guide_pages_are_reachable(page):
    assert page.removesuffix(".md") in (DOCS / "guide" / "index.md").read_text(encoding="utf-8").split()
    assert f"({page})" in (DOCS / "guide" / "index.md").read_text(encoding="utf-8")  # links of a forge, too
    assert f"guide/{page}" in (DOCS / "index.md").read_text(encoding="utf-8")
    assert "(docs/guide/index.md)" in (DOCS.parent / "README.md").read_text(encoding="utf-8")


MADE = {"_build", "gallery", "generated"}  # by Sphinx, which knows their links
PAGES = [DOCS.parent / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")] + [
    page for page in sorted(DOCS.rglob("*.md")) if not MADE & set(page.parts)
]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(DOCS.parent).as_posix())
def test_links_to_files_lead_somewhere(page):
    targets = re.findall(r"\]\(([^)#\s]*\.[^)#\s]*)", page.read_text(encoding="utf-8"))
    local = [target for target in targets if "://" not in target and not MADE & set(target.split("/"))]
    assert [target for target in local if not (page.parent / target).exists()] == []


def test_the_picture_of_the_readme_is_that_of_its_first_example(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(DOCS)
    hero = import_module("draw_hero")
    sys.modules.pop("draw_hero")
    assert f"]({hero.PICTURE.relative_to(DOCS.parent).as_posix()})" in hero.README.read_text(encoding="utf-8")
    hero.main(tmp_path / "drawn.png")
    drawn, stored = (Image.open(path).convert("RGBA") for path in (tmp_path / "drawn.png", hero.PICTURE))
    assert drawn.size == stored.size
    small = [np.asarray(picture.resize((64, 32)), dtype=float) for picture in (drawn, stored)]
    assert np.abs(small[0] - small[1]).mean() < 5.0  # of 255: fonts and the last digits differ between machines


@pytest.mark.parametrize(("module", "name"), listed())
def test_public_names_are_explained(module, name):
    """A class or function has a docstring with an example, and describes its parameters in words of their own."""
    public = getattr(import_module(module), name)
    if not (isclass(public) or isroutine(public)):
        return
    text = public.__doc__ or ""
    assert ">>>" in text
    described = re.findall(r"^ +[\w*, ]+ : .+\n +(\w+)", text, flags=re.MULTILINE)
    assert not {"Of", "With", "In", "As", "Between"} & set(described)
