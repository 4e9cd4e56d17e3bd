"""How an experiment reports: our numbers beside the document's, a verdict for each, a JSON file and a picture.

Settings and verdicts are kept in the repository. Pictures and what they are drawn from are bulky, and are not.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from PIL import Image

__all__ = [
    "ADDED",
    "BORDER",
    "DOCUMENTS",
    "JUDGED",
    "MISSED",
    "NOT_YET",
    "NO_NUMBER",
    "ORDER",
    "PICTURES",
    "REFERENCE",
    "REPRODUCED",
    "RESULTS",
    "SKIPPED",
    "STATEMENT",
    "Result",
    "Row",
    "cells",
    "holds",
    "judge",
    "reaches",
    "report",
    "row",
    "save",
    "save_picture",
    "table",
    "typical",
    "within",
]

RESULTS = Path(__file__).parent / "results"
PICTURES = RESULTS.with_name("pictures")  # ignored by git

# what the experiments of a letter are about: a heading, and what they are taken from
DOCUMENTS = {
    "e": (
        "Topographic maps",
        "A. Hasenfuss, *Topographic Mapping of Dissimilarity Datasets* (PhD thesis, TU Clausthal, 2009), chapters 3 "
        "and 4",
    ),
    "g": (
        "Matrix learning",
        "M. Biehl, B. Hammer, P. Schneider, *Matrix Learning in Learning Vector Quantization* (technical report "
        "IfI-06-14, TU Clausthal, 2006)",
    ),
    "b": (
        "Adaptive dissimilarities",
        "K. Bunte, *Adaptive Dissimilarity Measures, Dimension Reduction and Visualization* (PhD thesis, University "
        "of Groningen, 2011), chapters 2 to 5",
    ),
    "v": (
        "Views and divergences",
        "K. Bunte, *Adaptive Dissimilarity Measures, Dimension Reduction and Visualization* (PhD thesis, University "
        "of Groningen, 2011), chapters 6 to 9",
    ),
    "m": (
        "Matrix learning for maps",
        "B. Arnonkijpanich, *Matrix Learning for Topographic Maps* (PhD thesis, TU Clausthal, 2010), chapters 4 and 5",
    ),
    "n": (
        "Neural gas with local PCA",
        "R. Möller, H. Hoffmann, *An Extension of Neural Gas to Local PCA* (Neurocomputing, 2004)",
    ),
}

REPRODUCED = "reproduced"
ORDER = "same order, other values"
BORDER = "on the border"  # the mean may lie on either side of the tolerance
MISSED = "missed"
NO_NUMBER = "no number to compare"  # our number, for the record
REFERENCE = "reference only"  # the document quotes the number from elsewhere
ADDED = "added later, no verdict"  # looks for the cause of a miss
STATEMENT = "a statement, no verdict"  # of what cannot come out otherwise
NOT_YET = "not yet"
SKIPPED = "skipped"
JUDGED = (REPRODUCED, ORDER, BORDER, MISSED)

Row = dict[str, Any]
Result = dict[str, Any]


def row(quantity: str, document: float | str | None, ours: Any, verdict: str) -> Row:
    """One line of the table; ``ours`` is a number, a text, or the values of all runs."""
    values = np.asarray(ours if ours is not None else [])
    if values.dtype.kind in "US" or values.size == 0:
        return {"quantity": quantity, "document": document, "ours": ours, "sd": None, "n": None, "verdict": verdict}
    many = values.size > 1
    return {
        "quantity": quantity,
        "document": document,
        "ours": float(values.mean()),
        "sd": float(values.std(ddof=1)) if many else None,
        "n": int(values.size) if many else None,
        "verdict": verdict,
    }


def judge(ours: Any, document: float, tolerance: float, same_order: bool) -> str:
    """Compare a mean with a printed number: within the tolerance, only in the same order, or neither.

    If the mean of several runs is closer to the edge of the tolerance than its standard error, other runs, or the
    rounding of another processor, may put it on the other side: it is on the border.
    """
    off = abs(float(np.mean(ours)) - document)
    if np.size(ours) > 1 and abs(off - tolerance) < np.std(ours, ddof=1) / np.sqrt(np.size(ours)):
        return BORDER
    if off <= tolerance:
        return REPRODUCED
    return ORDER if same_order else MISSED


def holds(statement: Any) -> str:
    """Verdict on a statement without a number."""
    return REPRODUCED if bool(statement) else MISSED


def reaches(ours: Any, threshold: float) -> str:
    """Verdict on a statement that the mean of several runs is at least so large, with a border as in `judge`."""
    above = float(np.mean(ours)) - threshold
    return BORDER if abs(above) < np.std(ours, ddof=1) / np.sqrt(np.size(ours)) else holds(above >= 0)


def typical(printed: float, ours: Any) -> str:
    """Verdict on the printed number of a single run: reproduced within two standard deviations of our runs."""
    return holds(abs(printed - np.mean(ours)) <= 2 * np.std(ours, ddof=1))


def within(printed: float, ours: Any) -> str:
    """Verdict on a printed number: reproduced if it lies in the range of our runs."""
    return holds(min(ours) <= printed <= max(ours))


def report(settings: Mapping[str, Any], rows: Sequence[Row], data: Mapping[str, Any] | None = None) -> Result:
    """Put settings, rows and what the picture needs together, all as plain numbers and lists."""
    return {"settings": _plain(settings), "rows": _plain(rows), "data": _plain(data or {})}


def save(name: str, result: Result, folder: Path) -> None:
    """Write ``name.json``: all but what the picture needs."""
    folder.mkdir(parents=True, exist_ok=True)
    kept = {key: value for key, value in result.items() if key != "data"}
    (folder / f"{name}.json").write_text(json.dumps(kept, indent=1) + "\n")


def save_picture(name: str, result: Result, draw: Callable[[Result], Figure] | None, folder: Path) -> None:
    """Write ``name.png`` and the whole result, if there is something to draw."""
    if draw is None or not result["data"]:
        return
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.json").write_text(json.dumps(result) + "\n")
    buffer = io.BytesIO()
    draw(result).savefig(buffer, dpi=110)
    # a palette keeps the pictures small
    Image.open(buffer).convert("RGB").quantize(128).save(folder / f"{name}.png", optimize=True)


def table(rows: Sequence[Row]) -> str:
    """Return the rows as a table for the screen."""
    lines = [["quantity", "document", "ours", "runs", "verdict"], *(cells(line) for line in rows)]
    widths = [max(map(len, column)) for column in zip(*lines)]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in lines)


def cells(line: Row) -> list[str]:
    """Return the texts of a row: quantity, document, ours, runs, verdict."""
    ours = _text(line["ours"])
    if line["sd"] is not None:
        rounding = 1e-12 * abs(line["ours"])
        ours += f" ± {line['sd'] if line['sd'] > rounding else 0:.2g}"
    return [line["quantity"], _text(line["document"]), ours, str(line["n"] or ""), line["verdict"]]


def _text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else f"{value:.4g}"


def _plain(value: Any) -> Any:
    """Return nested containers and arrays as lists, dictionaries and Python numbers with six digits."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, range, np.ndarray)):
        return [_plain(item) for item in value]
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (float, np.floating)):
        return float(f"{value:.6g}")
    return int(value) if isinstance(value, np.integer) else value
