"""Settings of the documentation, built by ``make docs``."""

import os
import sys
import warnings
from functools import partial
from inspect import getdoc
from pathlib import Path
from typing import Any

import numpydoc.docscrape_sphinx
from docutils import nodes
from jinja2 import FileSystemBytecodeCache
from jinja2.sandbox import SandboxedEnvironment
from sphinx import addnodes

import protolearn

os.environ.setdefault("MPLBACKEND", "Agg")
sys.path.insert(0, str(Path(__file__).parent / "_ext"))

from gallery_order import write_index

project = "protolearn"
author = "The protolearn developers"
copyright = "2026, the protolearn developers"
release = version = protolearn.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
    "sphinx_copybutton",
    "native_math",
    "linked_names",
]
templates_path = ["_templates"]
exclude_patterns = ["_build", "_templates", "gallery_src"]
default_role = "py:obj"
nitpicky = False

# Pages in Markdown

myst_enable_extensions = ["dollarmath", "deflist", "colon_fence"]
myst_heading_anchors = 3

# The reference, from the docstrings

autosummary_generate = True
autodoc_typehints = "none"
numpydoc_show_class_members = False
# numpydoc makes an environment for every docstring, and its template is compiled for the first one only
numpydoc.docscrape_sphinx.SandboxedEnvironment = partial(SandboxedEnvironment, bytecode_cache=FileSystemBytecodeCache())

# The gallery, where a warning is shown without the path of the program

warnings.formatwarning = lambda message, category, *where: f"{category.__name__}: {message}\n"
sphinx_gallery_conf = {
    "examples_dirs": "gallery_src",
    "gallery_dirs": "gallery",
    "copyfile_regex": r"index\.rst",  # by task, see gallery_order
    "minigallery_sort_order": "gallery_order.in_order",
    "backreferences_dir": "gallery/backreferences",
    "doc_module": ("protolearn",),
    "reference_url": {"protolearn": None},
    "image_srcset": ["2x"],
    "image_scrapers": ("matplotlib", "live_pages.scraper"),
    "download_all_examples": False,
    "show_signature": False,
    "capture_repr": (),
    "remove_config_comments": True,
    "min_reported_time": 1e6,
    "write_computation_times": False,
    "abort_on_example_error": True,
}

# The looks

html_theme = "pydata_sphinx_theme"
html_title = "protolearn"
html_static_path = ["_static"]
html_css_files = ["style.css"]
html_math_renderer = "native"
html_show_sourcelink = False
html_copy_source = False
html_sidebars = {pages: [] for pages in ("*", "guide/*", "tutorials/*", "experiments/*")}  # for reference and gallery
html_theme_options = {
    "logo": {"text": "protolearn"},
    "navbar_align": "left",
    "header_links_before_dropdown": 7,
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "footer_start": ["copyright"],
    "footer_end": [],
}
copybutton_prompt_text = r">>> |\.\.\. "
copybutton_prompt_is_regexp = True


def trim(app: Any, page: nodes.document) -> None:
    """Drop the empty line at the end of a code block, which doctest needs to see where the output ends."""
    for block in page.findall(nodes.literal_block):
        if block.rawsource == block.astext():
            block.rawsource = block.rawsource.rstrip("\n")
            block[:] = [nodes.Text(block.rawsource)]


def keep_anchors(app: Any, page: nodes.document) -> None:
    """Move the anchor of a module to the paragraph above, from the node after it, which HTML writes without anchors."""
    for node in page.findall(lambda node: isinstance(node, addnodes.tabular_col_spec | addnodes.glossary)):
        above = node.parent[: node.parent.index(node)]
        paragraph = next((one for one in reversed(above) if isinstance(one, nodes.paragraph)), None)
        if paragraph is not None and node["ids"]:
            paragraph["ids"] += node["ids"]
            node["ids"] = []


def leave_out_types(app: Any, kind: str, name: str, value: Any, options: Any, lines: list[str]) -> None:
    """Show no description for a constant without one, where autodoc shows that of its type, such as int."""
    of_type, shown = (" ".join(text.split()) for text in (getdoc(type(value)) or "", " ".join(lines)))
    if kind == "data" and shown and of_type.startswith(shown[:20]):
        lines.clear()


def setup(app: Any) -> None:
    app.connect("doctree-read", trim)
    app.connect("doctree-read", keep_anchors)
    app.connect("autodoc-process-docstring", leave_out_types, priority=100)  # before numpydoc
    app.connect("builder-inited", write_index, priority=100)  # before Sphinx-Gallery
