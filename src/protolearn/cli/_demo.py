"""The demo: train maps on bundled data, tell what they show, and write it all into one page."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy
import sklearn

from protolearn import __version__
from protolearn.cli._report import Section, Table, render_page
from protolearn.cli._sections import FULL, SECTIONS, Effort
from protolearn.core.files import check_output, replacing

__all__ = ["Demo", "run_demo"]

TITLE = "Maps of data"
LEAD = (
    "A <em>topographic map</em> describes many samples by a few typical ones, called prototypes, and puts those that "
    "are alike next to each other. You can read it like the map of a country: regions, borders, and the way from "
    "one place to another. This page trains such maps on small data sets and shows how to read them; "
    "later chapters learn the distance as well, for classifiers that give their reasons, and the shape of prototypes, "
    "map words, which have no coordinates at all, show every sample in a view, learn maps to such views, and find "
    "similar images. Four of the models have a page of their own, on which you can try them yourself."
)


@dataclass(frozen=True)
class Demo:
    """What a demo has produced: the page, its sections with the models behind them, and how long it took."""

    report: Path
    sections: dict[str, Section]
    seconds: float

    @property
    def tables(self) -> list[Table]:
        """All tables of the page."""
        return [table for section in self.sections.values() for table in section.tables]


def run_demo(
    output: Path | str = "demo", *, effort: Effort = FULL, progress: Callable[[str], object] = lambda title: None
) -> Demo:
    """Train the maps, write ``index.html``, and the pictures and pages that have a file of their own.

    Parameters
    ----------
    output : path, default="demo"
        Folder to write to; it is made if it does not exist.
    effort : Effort, optional
        How many samples, epochs and repetitions.
    progress : callable, optional
        Called with what is being done before each section.

    Returns
    -------
    Demo
        The page and what it was made of.
    """
    folder = Path(output)
    folder.mkdir(parents=True, exist_ok=True)
    report = folder / "index.html"
    check_output(report)  # before the training, which takes a while
    start = time.perf_counter()
    sections = {}
    for activity, build in SECTIONS.items():
        progress(activity)
        section = build(effort)
        sections[section.name] = section
    for explorable in (block for section in sections.values() for block in section.explorables):
        explorable.write(folder / explorable.file)
    seconds = time.perf_counter() - start
    page = render_page(TITLE, LEAD, list(sections.values()), _colophon(seconds)).encode()
    pictures = [picture for section in sections.values() for picture in section.pictures]
    files = {picture.file: picture.png for picture in pictures if picture.file is not None}
    for name, content in {**files, report.name: page}.items():
        with replacing(folder / name) as new:
            new.write_bytes(content)
    return Demo(report, sections, seconds)


def _colophon(seconds: float) -> str:
    return (
        f"Made by <code>protolearn demo</code> in {seconds:.0f} seconds with protolearn {__version__}, "
        f"scikit-learn {sklearn.__version__} and NumPy {numpy.__version__}. All numbers come from this run."
    )
