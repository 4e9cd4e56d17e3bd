"""The page itself: a template, a style sheet and modules of JavaScript, put together with the data in one file.

Modules are plain, and a browser could load them as they are. In the page they stand one after another in one script:
imports are dropped, and names that are exported are simply there. A content security policy names that script and the
style sheet by their hashes, and forbids everything else, above all what could come in with the data.
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
    """Return a page that needs no other file.

    Examples
    --------
    >>> page = render("<b>Wine</b>", "")
    >>> "&lt;b&gt;Wine&lt;/b&gt;" in page and "src=" not in page.partition("<script")[0]
    True
    """
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
