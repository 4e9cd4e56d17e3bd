"""The page itself: a template, a style sheet and modules of JavaScript, put together with the data in one file.

Modules are plain JavaScript that a browser could load directly. In the page they are concatenated to one script,
without imports and exports. A content security policy allows that script and the style sheet by their hashes and
forbids everything else, in particular code that might be contained in the data.
"""

from __future__ import annotations

import re
from base64 import b64encode
from functools import cache
from hashlib import sha256
from html import escape
from importlib.resources import files
from string import Template

__all__ = ["render", "script"]

MODULES = (
    "data", "dom", "store", "colors", "scatter", "table", "bars", "panels",
    "quadratic", "lvq", "classifiers", "maps", "mapping", "views", "main",
)  # fmt: skip


def render(title: str, payload: str) -> str:
    """Return a self-contained page.

    Examples
    --------
    >>> page = render("<b>Wine</b>", "")
    >>> "&lt;b&gt;Wine&lt;/b&gt;" in page and "src=" not in page.partition("<script")[0]
    True
    """
    title = title.encode("utf-8", "replace").decode()  # halves of characters (surrogates) cannot be written
    style, code = _read("style.css"), script()
    policy = (
        f"default-src 'none'; script-src '{_hash(code)}'; style-src '{_hash(style)}'; img-src data: blob:; "
        "base-uri 'none'; form-action 'none'"
    )
    template = Template(_read("template.html"))
    return template.substitute(title=escape(title), policy=policy, style=style, script=code, payload=payload)


@cache
def script() -> str:
    """Return all modules in one, without indentation, which would be a tenth of it."""
    parts = (re.sub(r"^import [^;]*;\n|^export ", "", _read(f"{name}.js"), flags=re.M) for name in MODULES)
    return re.sub(r"^ +", "", "\n".join(parts), flags=re.M)


def _read(name: str) -> str:
    return files("protolearn.explore").joinpath("page", name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"
