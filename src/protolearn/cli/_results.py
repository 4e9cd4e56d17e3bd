"""Results of commands as JSON and CSV."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from protolearn.core.texts import as_cell, visible_json

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["as_json", "write_csv"]


def as_json(report: Any) -> str:
    """Return a report as JSON, with null for numbers that are none."""

    def plain(value: Any) -> Any:
        if isinstance(value, dict):
            return {str(key): plain(entry) for key, entry in value.items()}
        if isinstance(value, list | tuple):
            return [plain(entry) for entry in value]
        return None if isinstance(value, float) and not math.isfinite(value) else value

    return visible_json(plain(report), indent=2) + "\n"


def write_csv(table: Any, path: Path) -> None:
    """Write a table, in which no text is a formula to a spreadsheet."""
    cells = {name: column.map(as_cell) if column.dtype.kind not in "biuf" else column for name, column in table.items()}
    table.assign(**cells).to_csv(path, index=False, errors="backslashreplace")
