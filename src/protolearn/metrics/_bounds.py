"""Base class of error bounds: sums of terms that are printed as a table."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from protolearn.core.sheets import Printed, Sheet, import_pandas

__all__ = ["PrintedBound"]


class PrintedBound(Printed):
    """Error bound whose fields are numbers; the bound is the property ``value``."""

    value: Any

    def to_frame(self) -> Any:
        """Return the bound and its terms as a pandas DataFrame.

        Returns
        -------
        frame : DataFrame
            One row, with a column for the value and for each term.
        """
        return import_pandas().DataFrame([self._terms()])

    def _terms(self) -> dict[str, float]:
        return {"value": self.value} | {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]

    def _sheet(self) -> Sheet:
        return Sheet("", ["term", "value"], [[name, f"{number:.4g}"] for name, number in self._terms().items()])
