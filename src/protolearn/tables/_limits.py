"""Limits of tables: none has more cells or longer texts than its file justifies, whatever the file says."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any

from protolearn.core.files import check_bytes, check_cells, file_size
from protolearn.tables._dialect import Dialect, optional

__all__ = ["FREE_XML", "check_chunks", "check_lines", "names_of_texts", "sheet_rows", "with_texts"]

FREE_XML = 2**20  #: Bytes of XML in an Excel file of any size; what is made of them has a hundred times as many.
FREE_TEXTS = 2**26  # bytes of texts in a Parquet file of any size, most of which may be equal
LAST_ROW = 2**20  # of a sheet
BLOCK = 2**20  # bytes of a text file


def check_lines(path: Path, dialect: Dialect) -> None:
    """Require values for most cells, since rows that are too short are filled."""
    with path.open("rb") as file:
        n_lines = sum(max(block.count(b"\n"), block.count(b"\r")) for block in iter(lambda: file.read(BLOCK), b""))
    try:
        check_cells(n_lines, len(dialect.names), file_size(path))
    except ValueError as error:
        raise ValueError(f"{path} cannot be read as a table ({error}); most rows lack most values.") from error


def check_chunks(about: Any, size: int) -> None:
    """Require no more values and bytes of a Parquet file than its size can justify."""
    check_cells(about.num_rows, about.num_columns, size)
    groups = [about.row_group(i) for i in range(about.num_row_groups)]
    chunks = [group.column(i) for group in groups for i in range(group.num_columns)]
    check_cells(sum(chunk.num_values for chunk in chunks), 1, size)
    check_bytes(sum(chunk.total_uncompressed_size for chunk in chunks), size)


def names_of_texts(schema: Any) -> list[str]:
    """Return the names of the columns of texts of a Parquet file."""
    kinds = optional("pyarrow", "Parquet files").types
    return [
        field.name
        for field in schema
        if any(is_kind(field.type) for is_kind in (kinds.is_string, kinds.is_large_string, kinds.is_binary))
    ]


def with_texts(table: Any, names: Collection[str], size: int) -> Any:
    """Return a table with texts in place of references to texts, which must not be too long together."""
    arrow, compute = optional("pyarrow", "Parquet files"), optional("pyarrow.compute", "Parquet files")
    n_bytes = 0
    for place, field in enumerate(table.schema):
        if field.name in names and arrow.types.is_dictionary(field.type):
            column = table.column(place)
            for chunk in column.chunks:
                n_bytes += compute.sum(compute.binary_length(chunk.dictionary).take(chunk.indices)).as_py() or 0
            check_bytes(n_bytes, size, FREE_TEXTS)
            table = table.set_column(place, field.name, column.cast(field.type.value_type))
    return table


def sheet_rows(sheet: Any, size: int) -> list[list[Any]]:
    """Return the values of a sheet up to the last one, all rows alike long, with "" for empty cells.

    A sheet has no more of them than its file justifies, though a value may be in its last row and column.
    """
    sheet.reset_dimensions()  # which the file may state wrongly
    rows: list[list[Any]] = []
    height = width = n_seen = 0
    for number, row in enumerate(sheet.iter_rows(values_only=True), 1):
        if number > LAST_ROW:
            raise ValueError(f"its first sheet has more than {LAST_ROW:,} rows")
        n_seen += len(row)
        filled = next((place for place in range(len(row), 0, -1) if row[place - 1] not in (None, "")), 0)
        if filled:
            height, width = number, max(width, filled)
        check_cells(height, width, size)
        check_cells(n_seen, 1, size)
        rows.append([_plain(value) for value in row[:filled]])
    return [row + [""] * (width - len(row)) for row in rows[:height]]


def _plain(value: Any) -> Any:
    """Return the value of a cell: whole numbers without a fraction, and "" if it is empty."""
    if value is None:
        return ""
    return int(value) if isinstance(value, float) and value.is_integer() else value
