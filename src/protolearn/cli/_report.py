"""A page of sections with prose, pictures and tables, as one self-contained HTML file.

Text is HTML written by the library itself; only table cells are escaped.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any, Protocol

__all__ = [
    "Block",
    "Explorable",
    "Gallery",
    "Picture",
    "Prose",
    "Section",
    "Table",
    "render_page",
]

SHARPNESS = 1.5  # pixels of a picture for each pixel of the page, so that it is sharp on fine screens and in print


class Block(Protocol):
    """A part of a section."""

    def html(self) -> str:
        """Return the block as HTML."""


@dataclass(frozen=True)
class Prose:
    """Paragraphs of text, separated by empty lines."""

    text: str

    def html(self) -> str:
        """Return the paragraphs."""
        paragraphs = re.split(r"\n\s*\n", self.text.strip())
        return "\n".join(f"<p>{' '.join(paragraph.split())}</p>" for paragraph in paragraphs)


@dataclass(frozen=True)
class Picture:
    """A picture with a caption and a description for those who cannot see it."""

    png: bytes
    alt: str
    caption: str = ""

    def html(self) -> str:
        """Return the picture as a figure."""
        caption = f"<figcaption>{self.caption}</figcaption>" if self.caption else ""
        return f"<figure>{image(self.png, self.alt)}{caption}</figure>"


@dataclass(frozen=True)
class Gallery:
    """Pictures side by side, as many in a row as there is room for; ``size`` is large, medium, small or tiny.

    Tiny pictures are shown with hard pixels, one for each value of an image.
    """

    pictures: Sequence[Picture]
    size: str = "large"

    def html(self) -> str:
        """Return the pictures in a grid."""
        return f'<div class="gallery {self.size}">{"".join(picture.html() for picture in self.pictures)}</div>'


@dataclass(frozen=True)
class Table:
    """A table whose first column names the rows; it is also printed in the terminal."""

    caption: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]

    def html(self) -> str:
        """Return the table, which scrolls where it is wider than the screen."""
        head = "".join(f'<th scope="col">{escape(name)}</th>' for name in self.columns)
        body = "".join(self._row(*row) for row in self.rows)
        caption = escape(self.caption)
        table = f'<table aria-label="{caption}"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
        return f'<h3>{caption}</h3><div class="scroll">{table}</div>'

    @staticmethod
    def _row(name: str, *values: str) -> str:
        cells = "".join(f"<td>{escape(value)}</td>" for value in values)
        return f'<tr><th scope="row">{escape(name)}</th>{cells}</tr>'


@dataclass(frozen=True)
class Explorable:
    """A link to a page of its own, on which the reader goes on; ``write`` is given the path of that page."""

    file: str
    title: str
    text: str
    write: Callable[[Path], object]

    def html(self) -> str:
        """Return the link."""
        return f'<p class="explore"><a href="{self.file}">{self.title}</a><br>{self.text}</p>'


@dataclass(frozen=True)
class Section:
    """A chapter of the page: its name in links, its title, its blocks, and the fitted models its numbers come from."""

    name: str
    title: str
    blocks: Sequence[Block]
    results: dict[str, Any] = field(default_factory=dict)

    def html(self) -> str:
        """Return the chapter."""
        blocks = "\n".join(block.html() for block in self.blocks)
        return f'<section id="{self.name}">\n<h2>{self.title}</h2>\n{blocks}\n</section>'

    @property
    def tables(self) -> list[Table]:
        """The tables in it."""
        return [block for block in self.blocks if isinstance(block, Table)]

    @property
    def explorables(self) -> list[Explorable]:
        """The pages that it links to."""
        return [block for block in self.blocks if isinstance(block, Explorable)]

    @property
    def pictures(self) -> list[Picture]:
        """The pictures in it, also those in galleries."""
        galleries = [block.pictures for block in self.blocks if isinstance(block, Gallery)]
        alone = [block for block in self.blocks if isinstance(block, Picture)]
        return alone + [picture for pictures in galleries for picture in pictures]


def render_page(title: str, lead: str, sections: Sequence[Section], footer: str) -> str:
    """Return the whole page.

    Parameters
    ----------
    title, lead, footer : str
        Heading, first paragraph and last line, as HTML.
    sections : sequence of Section
        The chapters, in order.

    Returns
    -------
    str
        An HTML document without references to other files.

    Examples
    --------
    >>> page = render_page("Maps", "A tour.", [Section("wine", "Wines", [Prose("Text.")])], "The end.")
    >>> "<h2>Wines</h2>" in page
    True
    """
    template = Template(files("protolearn.cli").joinpath("_page.html").read_text(encoding="utf-8"))
    contents = "".join(f'<li><a href="#{section.name}">{section.title}</a></li>' for section in sections)
    body = "\n".join(section.html() for section in sections)
    return template.substitute(title=title, lead=lead, contents=contents, body=body, footer=footer)


def image(png: bytes, alt: str) -> str:
    """Return an image element that contains the picture."""
    # The size of a PNG in pixels is in two numbers of four bytes each, which follow its first 16 bytes.
    width, height = (round(int.from_bytes(png[start : start + 4]) / SHARPNESS) for start in (16, 20))
    source = f"data:image/png;base64,{b64encode(png).decode()}"
    return f'<img src="{source}" alt="{escape(alt)}" width="{width}" height="{height}">'
