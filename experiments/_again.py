"""Which experiments to run again, and whether they still find what is stored."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from experiments._report import JUDGED, MISSED, Result, Row

__all__ = ["differences", "fitting", "fraction", "missed_rows"]

STANDARD_ERRORS = 3.0  # of the difference of two means
ROUNDING = 1e-3  # relative; what another processor may change in a mean without spread between its runs


def missed_rows(result: Result) -> list[Row]:
    """Return the rows of a result that are missed."""
    return [line for line in result["rows"] if line["verdict"] == MISSED]


def fraction(names: Sequence[str], share: float, seed: int) -> list[str]:
    """Return a random share of the names, at least one, in random order."""
    return random.Random(seed).sample(list(names), max(1, round(share * len(names))))


def fitting(names: Sequence[str], stored: Mapping[str, Result], minutes: float) -> list[str]:
    """Return the names whose stored run times, added up in the given order, stay below a limit; others are left out."""
    chosen, left = [], 60 * minutes
    for name in names:
        if name in stored and stored[name]["seconds"] <= left:
            chosen.append(name)
            left -= stored[name]["seconds"]
    return chosen


def differences(stored: Result, again: Result) -> list[str]:
    """Return a sentence for each judged row that is not found again.

    The mean of several runs is found again if it differs by at most three standard errors of the difference of two
    such means, by the stored spread; a row without a spread if its verdict is the same.
    """
    before, now = (dict(_judged(result)) for result in (stored, again))
    sentences = [f"{quantity}: stored, but not found again" for quantity in before if quantity not in now]
    sentences += [f"{quantity}: found, but not stored" for quantity in now if quantity not in before]
    return sentences + [
        f"{quantity}: {_told(line)} is stored, {_told(now[quantity])} was found"
        for quantity, line in before.items()
        if quantity in now and not _agree(line, now[quantity])
    ]


def _judged(result: Result) -> Iterator[tuple[str, Row]]:
    return ((line["quantity"], line) for line in result["rows"] if line["verdict"] in JUDGED)


def _agree(stored: Row, again: Row) -> bool:
    if stored["sd"] is None or again["sd"] is None:
        return bool(stored["verdict"] == again["verdict"])
    spread = STANDARD_ERRORS * stored["sd"] * np.sqrt(1 / stored["n"] + 1 / again["n"])
    return bool(abs(stored["ours"] - again["ours"]) <= max(spread, ROUNDING * abs(stored["ours"])))


def _told(line: Row) -> str:
    number = line["ours"] if isinstance(line["ours"], str) else f"{line['ours']:.4g}"
    return f"{number} ({line['verdict']})"
