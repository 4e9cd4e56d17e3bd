"""Draw which packages of protolearn import which others, read from their sources.

Run ``python docs/draw_imports.py`` to draw ``docs/_static/imports.svg`` again, or give the name of another file. An
arrow that follows from others is left out: what imports `maps` has `core` as well.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from itertools import combinations, pairwise, permutations
from pathlib import Path
from typing import NamedTuple

DOCS = Path(__file__).parent
SOURCE = DOCS.parent / "src"
BOX, GAP, STEP = (1.4, 0.4), 0.3, 0.85  # size of a box, distance of boxes, and of layers, in inches
ARROW = "#777777"

Graph = dict[str, set[str]]
Node = tuple[str, ...]


class Import(NamedTuple):
    """A name, or a whole module if the name is empty, that a module imports."""

    importer: str
    module: str
    name: str

    @property
    def packages(self) -> tuple[str, str]:
        """The package that imports, and the one that is imported."""
        return package_of(self.importer), package_of(f"{self.module}.{self.name}")


def package_of(module: str) -> str:
    """Return the package of a module, such as ``maps`` of ``protolearn.maps._som``; nothing for `protolearn` itself."""
    return module.split(".")[1] if "." in module else ""


def module_name(path: Path) -> str:
    """Return the full name of the module in a file."""
    return ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")


@cache
def trees() -> dict[str, ast.Module]:
    """Return the syntax trees of all modules, by their names, but for the program that is `protolearn` itself."""
    paths = [path for path in sorted(SOURCE.rglob("*.py")) if path.name != "__main__.py"]
    return {module_name(path): ast.parse(path.read_text("utf-8")) for path in paths}


def all_imports() -> list[Import]:
    """Return whatever modules of protolearn import from each other, within functions as well.

    A name that `protolearn` itself offers counts as imported from its home.
    """
    found = [one for module, tree in trees().items() for one in imports_in(module, tree)]
    home = {one.name: one.module for one in found if one.importer == "protolearn"}
    within = [one for one in found if one.importer != "protolearn" and one.name != "__version__"]
    return [
        one._replace(module=home.get(one.name, one.module) if one.module == "protolearn" else one.module)
        for one in within
    ]


def imports_in(module: str, tree: ast.Module) -> Iterator[Import]:
    """Yield what one module imports from protolearn."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "protolearn":
            yield from (Import(module, node.module or "", alias.name) for alias in node.names)
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names if alias.name.split(".")[0] == "protolearn"]
            yield from (Import(module, name, "") for name in names)


def package_graph() -> Graph:
    """Return the other packages that each package imports; `protolearn` itself, by which others are found, is none."""
    pairs = {one.packages for one in all_imports()}
    return {package: {other for one, other in pairs if one == package != other != ""} for package, _ in pairs}


def reach(graph: Graph, package: str) -> set[str]:
    """Return all that a package imports, or whatever it imports does."""
    return graph[package].union(*(reach(graph, other) for other in graph[package]))


def reduced(graph: Graph) -> Graph:
    """Return the graph without arrows that follow from others."""
    return {one: others - set().union(*(reach(graph, other) for other in others)) for one, others in graph.items()}


def layered(graph: Graph) -> list[dict[Node, list[Node]]]:
    """Return layers, the lowest first: for each node of a layer those in the layer below that its arrows lead to.

    A node is a package, or an arrow on its way past a layer.
    """
    height: dict[str, int] = {}
    for package in TopologicalSorter(graph).static_order():
        height[package] = 1 + max((height[other] for other in graph[package]), default=-1)
    rows: list[dict[Node, list[Node]]] = [{} for _ in range(1 + max(height.values()))]
    for package in sorted(graph):
        rows[height[package]][package,] = []
    for package, others in sorted(graph.items()):
        for other in sorted(others):
            past: list[Node] = [(package, other)] * (height[package] - height[other] - 1)
            way: list[Node] = [(package,), *past, (other,)]
            for step, (node, below) in enumerate(pairwise(way)):
                rows[height[package] - step].setdefault(node, []).append(below)
    return rows


def crossings(order: list[Node], below: list[Node], arrows: dict[Node, list[Node]]) -> int:
    """Count the arrows between two layers that cross."""
    ends = [(place, below.index(end)) for place, node in enumerate(order) for end in arrows[node]]
    return sum((a - c) * (b - d) < 0 for (a, b), (c, d) in combinations(ends, 2))


def places(rows: list[dict[Node, list[Node]]]) -> list[dict[Node, float]]:
    """Return where nodes stand in their layer, in inches from the middle: in orders with the fewest crossings."""
    best: dict[tuple[Node, ...], tuple[int, list[tuple[Node, ...]]]] = {(): (0, [])}
    for row, arrows in enumerate(rows):
        known, best = best, {}
        for order in permutations(arrows):
            ways = [
                (count + (crossings(list(order), list(below), arrows) if row else 0), [*path, order])
                for below, (count, path) in known.items()
            ]
            best[order] = min(ways, key=lambda way: way[0])
    _, orders = min(best.values(), key=lambda way: way[0])
    return [middles(order) for order in orders]


def middles(order: tuple[Node, ...]) -> dict[Node, float]:
    """Return the places of nodes side by side."""
    widths = [BOX[0] + GAP if len(node) == 1 else GAP for node in order]
    return {node: sum(widths[:i]) + 0.5 * widths[i] - 0.5 * sum(widths) for i, node in enumerate(order)}


def draw(path: Path) -> None:
    """Draw the packages as boxes in layers, with an arrow to each that they import."""
    from matplotlib import pyplot as plt
    from matplotlib.patches import FancyArrowPatch, FancyBboxPatch
    from matplotlib.path import Path as Curve

    rows = layered(reduced(package_graph()))
    columns = places(rows)
    width = 2 * max(abs(x) for places in columns for x in places.values()) + BOX[0] + GAP
    figure, ax = plt.subplots(figsize=(width, len(rows) * STEP))
    for row, (arrows, place) in enumerate(zip(rows, columns)):
        for node, x in place.items():
            bottom, top = row * STEP - BOX[1] / 2, row * STEP + BOX[1] / 2
            if len(node) == 1:
                frame = FancyBboxPatch((x - BOX[0] / 2, bottom), *BOX, boxstyle="round,pad=0,rounding_size=0.08")
                ax.add_patch(frame).set(facecolor="#eef3f8", edgecolor="#0072B2")
                ax.text(x, row * STEP, node[0], ha="center", va="center", color="#222222")
            else:
                ax.plot((x, x), (bottom, top), color=ARROW, linewidth=1.0)
            for end in arrows[node]:
                to, low = columns[row - 1][end], (row - 1) * STEP + BOX[1] / 2
                middle = (bottom + low) / 2
                curve = Curve([(x, bottom), (x, middle), (to, middle), (to, low)], [1, 4, 4, 4])
                tip = "-|>" if len(end) == 1 else "-"
                ax.add_patch(FancyArrowPatch(path=curve, arrowstyle=tip, mutation_scale=10, color=ARROW))
    ax.set(xlim=(-width / 2, width / 2), ylim=(-STEP / 2, (len(rows) - 0.5) * STEP), aspect="equal")
    ax.set_position((0, 0, 1, 1))
    ax.axis("off")
    plt.rcParams["svg.hashsalt"] = "imports"  # the same file again, if nothing has changed
    figure.savefig(path, dpi=150, metadata={"Date": None} if path.suffix == ".svg" else None)


if __name__ == "__main__":
    draw(Path(sys.argv[1]) if len(sys.argv) > 1 else DOCS / "_static" / "imports.svg")
