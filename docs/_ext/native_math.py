"""Formulas as MathML, which browsers draw themselves: the pages need neither scripts nor a network for them."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx

THIN = '<mspace width="0.1667em"></mspace>'
FUNCTION = r"<mi[^>]*>\w+</mi>\s*<mo>&ApplyFunction;</mo>"


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
    return typeset(tex2mathml(re.sub(r"\\dots\b", r"\\ldots", with_sides), **options))


def typeset(markup: str) -> str:
    """Keep bars and braces at the height of the line, and put thin spaces around functions such as ln, like LaTeX."""
    bars = re.sub(r"<mo( class=\"mathopen\")?>([‖∣{}])</mo>", r'<mo\1 stretchy="false">\2</mo>', markup)
    before = re.sub(rf"((?:</(?:m[in]|mfrac|msu[bp]|msubsup|msqrt)|[)\]]</mo)>\s*)({FUNCTION})", rf"\1{THIN}\2", bars)
    return re.sub(rf"({FUNCTION})(?!\s*<mo|\s*<mspace)", rf"\1{THIN}", before)
