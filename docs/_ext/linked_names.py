"""Public names written as code, such as `SOM`, become links to the reference, and the pages stay plain Markdown."""

from __future__ import annotations

import re
from functools import cache
from importlib import import_module
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx

PARTS = (
    *("lattices", "density", "neighborhoods", "prototypes", "shapes", "pairs", "relational", "statistics", "sources"),
    "schedules",
)
FOREIGN = re.compile(r"(scikit-learn(['’]s)?|the command)\s+$")  # in the text before a name
HOMES = (  # of a name that has several, the last counts
    *(f".core.{part}" for part in PARTS),
    *(".embedding.affinities", ".embedding.structures", ".embedding.divergences"),
    *(".embedding.costs", ".embedding.mappings", ".embedding.charts", ".embedding"),
    *(".tables", ".explore", ".lvq", ".dissimilarities", "", ".metrics", ".plotting", ".datasets", ".applications"),
)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the step."""
    app.connect("doctree-read", link_names)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def link_names(app: Sphinx, page: nodes.document) -> None:
    """Wrap inline code that is a public name, with or without its module, in a link."""
    targets = public_names()
    for code in list(page.findall(nodes.literal)):
        target = targets.get(code.astext())
        within = (nodes.title, nodes.reference, addnodes.pending_xref)
        if target and not isinstance(code.parent, within) and not is_foreign(app.env.docname, code):
            code.replace_self(
                addnodes.pending_xref(
                    "",
                    code.deepcopy(),
                    refdomain="py",
                    reftype="obj",
                    reftarget=target,
                    refexplicit=True,
                    refdoc=app.env.docname,
                )
            )


def is_foreign(page: str, code: nodes.Node) -> bool:
    """Say whether code is a name of scikit-learn, a command, or in a column of names of other libraries or extras."""
    before = code.parent[: code.parent.index(code)]
    if before and FOREIGN.search(before[-1].astext()):
        return True
    cell = code
    while not isinstance(cell, nodes.entry) and cell.parent is not None:
        cell = cell.parent
    is_first = isinstance(cell, nodes.entry) and cell.parent.index(cell) == 0
    return is_first and page.startswith(("coming_from/", "install"))


@cache
def public_names() -> dict[str, str]:
    """Return the full name for each public name, short or full, and for each module."""
    modules = [import_module("protolearn" + home) for home in HOMES]
    full = {name: f"{module.__name__}.{name}" for module in modules for name in module.__all__ if name[0] != "_"}
    return full | {name: name for name in full.values()} | {m.__name__: m.__name__ for m in modules}
