"""Rows a block at a time, so that what is computed of a block stays small.

The size of a block depends on the data only, never on the number of threads, and so does the result.
"""

from __future__ import annotations

from collections.abc import Iterator

__all__ = ["CACHED", "CLOSE", "HELD", "block_size", "cut", "row_blocks"]

CLOSE = 1 << 18  # bytes of a block that several passes go over: within the second cache of a core
CACHED = 1 << 21  # bytes of a block that a matrix product makes and the next lines read: within the cache of a core
HELD = 1 << 23  # bytes of a block that only must not fill the memory


def cut(stop: int, size: int, start: int = 0) -> Iterator[slice]:
    """Cut rows into slices of so many, the last one of what is left.

    Examples
    --------
    >>> list(cut(7, 3))
    [slice(0, 3, None), slice(3, 6, None), slice(6, 7, None)]
    """
    return (slice(first, min(first + size, stop)) for first in range(start, stop, size))


def block_size(row_bytes: int, most: int, least: int = 1) -> int:
    """Return how many rows take ``most`` bytes together, but ``least`` rows or more.

    Examples
    --------
    >>> block_size(8 * 1000, CACHED), block_size(8 * 1000000, CACHED)
    (262, 1)
    """
    return max(least, most // max(1, row_bytes))


def row_blocks(n_rows: int, row_bytes: int, most: int, least: int = 1) -> Iterator[slice]:
    """Cut rows into blocks of ``most`` bytes.

    Examples
    --------
    >>> list(row_blocks(5, 8, 16))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    return cut(n_rows, block_size(row_bytes, most, least))
