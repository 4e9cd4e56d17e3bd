"""What a release says about itself agrees: versions, Pythons, dependencies."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def test_recipe_has_the_dependencies_of_the_project():
    recipe = (ROOT / "recipe" / "meta.yaml").read_text()
    run = re.search(r"  run:\n(.*?)  run_constrained", recipe, re.DOTALL)
    assert run
    named = {line.strip("- ").replace(" ", "") for line in run[1].splitlines()}
    assert named == {*PROJECT["dependencies"], "python" + PROJECT["requires-python"]}


def test_all_pythons_of_the_classifiers_are_tested():
    classifiers = re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["classifiers"]))
    tested = re.search(r"python: \[(.*)\]", (ROOT / ".github" / "workflows" / "ci.yml").read_text())
    assert tested
    assert re.findall(r"3\.\d+", tested[1]) == classifiers


def test_versions_agree():
    import protolearn

    citation = (ROOT / "CITATION.cff").read_text()
    assert f"version: {PROJECT['version']}" in citation
    assert protolearn.__version__ == PROJECT["version"]
    assert f"## {PROJECT['version']}" in (ROOT / "CHANGELOG.md").read_text()
