"""The demo: train models on bundled data, and write a page that explains the results."""

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
from protolearn.core.files import check_output, replacing_together

__all__ = ["Demo", "run_demo"]

TITLE = "Maps of data"
LEAD = (
    "A <em>topographic map</em> represents many samples by a few typical ones, called prototypes, and arranges similar "
    "prototypes next to each other. Like a geographic map, it shows regions, borders and distances. This page maps a "
    "table, and explains how to read such a map. It trains classifiers that learn their distance and explain their "
    "decisions, maps words, which have no coordinates, and embeds every sample of a data set in the plane. Each "
    "chapter has an interactive page of its own. The gallery of the documentation shows more."
)


@dataclass(frozen=True)
class Demo:
    """Result of a demo: the page, its sections with their models, and the running time."""

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
    """Train the models, and write ``index.html`` and the interactive pages next to it.

    Parameters
    ----------
    output : path, default="demo"
        Output folder, which is created if it does not exist.
    effort : Effort, optional
        Number of samples, epochs and repetitions.
    progress : callable, optional
        Function that is called with a description of each section before it runs.

    Returns
    -------
    Demo
        The page and the models it shows.
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
    seconds = time.perf_counter() - start
    page = render_page(TITLE, LEAD, list(sections.values()), _colophon(seconds)).encode()
    with replacing_together() as writing:
        for explorable in (block for section in sections.values() for block in section.explorables):
            with writing(folder / explorable.file) as new:
                explorable.write(new)
        with writing(report) as new:
            new.write_bytes(page)
    return Demo(report, sections, seconds)


def _colophon(seconds: float) -> str:
    return (
        f"Created by <code>protolearn demo</code> in {seconds:.0f} seconds with protolearn {__version__}, "
        f"scikit-learn {sklearn.__version__} and NumPy {numpy.__version__}. All numbers come from this run."
    )
