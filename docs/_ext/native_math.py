"""Formulas as MathML, which browsers draw themselves: the pages need neither scripts nor a network for them."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the renderer."""
    app.add_html_math_renderer("native", (inline, None), (display, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def inline(writer: Any, node: nodes.math) -> None:
    """Write a formula within a line."""
    writer.body.append(mathml(node.astext()))
    raise nodes.SkipNode


def display(writer: Any, node: nodes.math_block) -> None:
    """Write a formula of its own."""
    writer.body.append(writer.starttag(node, "div", CLASS="math"))
    writer.body.append(mathml(node.astext(), as_block=True) + "</div>")
    raise nodes.SkipNode


def mathml(formula: str, **options: bool) -> str:
    r"""Translate a formula in the notation of LaTeX, where ``\frac12``, ``\Big(`` and ``\dots`` are allowed as well."""
    with_braces = re.sub(r"(\\[td]?frac)(\d)(\d)", r"\1{\2}{\3}", formula)
    with_sides = re.sub(r"(\\[bB]ig)\)", r"\1r)", re.sub(r"(\\[bB]ig)\(", r"\1l(", with_braces))
    return tex2mathml(re.sub(r"\\dots\b", r"\\ldots", with_sides), **options)
