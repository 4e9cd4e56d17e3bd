"""The versions that are promised in pyproject.toml are those that ``make test-oldest`` installs."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
TOOLS = {"ruff", "mypy", "pre-commit"}  # look at the code and do not run it


def stated() -> dict[str, str]:
    """Return the least version of everything that the package and its tests may import."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    asked = [*project["dependencies"], *extras["plot"], *extras["cli"], *extras["dev"]]
    for named in re.findall(r"protolearn\[(.*)\]", " ".join(extras["dev"])):
        asked += [line for name in named.split(",") for line in extras[name]]
    pairs = (line.split(">=") for line in asked if not line.startswith("protolearn["))
    return {name.partition("[")[0]: least for name, least in pairs if name not in TOOLS}  # pins have no extras


def pinned() -> dict[str, str]:
    lines = (ROOT / "tests" / "oldest.txt").read_text().splitlines()
    return dict(line.split("==") for line in lines if "==" in line and not line.startswith("#"))


def test_oldest_versions_are_the_stated_ones():
    def release(version: str) -> str:
        return re.sub(r"(\.0)+$", "", version)

    assert {k: release(v) for k, v in pinned().items()} == {k: release(v) for k, v in stated().items()}
