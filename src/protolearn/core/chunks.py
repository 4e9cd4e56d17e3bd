"""Blocks of rows. The size of a block depends on the data, never on the number of threads.

>>> list(cut(7, 3))
[slice(0, 3, None), slice(3, 6, None), slice(6, 7, None)]
>>> list(row_blocks(3, 8 * 1000, most=16_000))
[slice(0, 2, None), slice(2, 3, None)]
"""

from __future__ import annotations

from collections.abc import Iterator

__all__ = ["CACHED", "CLOSE", "HELD", "block_size", "cut", "row_blocks"]

CLOSE = 1 << 18  #: Bytes of a block that several passes go over: within the second cache of a core.
CACHED = 1 << 21  #: Bytes of a block that a matrix product makes and the next lines read: within the last cache.
HELD = 1 << 23  #: Bytes of a block that only must not fill the memory.


def cut(stop: int, size: int, start: int = 0) -> Iterator[slice]:
    """Cut rows into slices of a given size; the last slice contains the remaining rows.

    Examples
    --------
    >>> from protolearn.core.chunks import cut
    >>> list(cut(7, 3))
    [slice(0, 3, None), slice(3, 6, None), slice(6, 7, None)]
    """
    return (slice(first, min(first + size, stop)) for first in range(start, stop, size))


def block_size(row_bytes: int, most: int, least: int = 1) -> int:
    """Return the number of rows that fit into ``most`` bytes, at least ``least`` rows.

    Examples
    --------
    >>> from protolearn.core.chunks import block_size
    >>> block_size(8 * 1000, most=16_000), block_size(8 * 1000, most=16_000, least=10)
    (2, 10)
    """
    return max(least, most // max(1, row_bytes))


def row_blocks(n_rows: int, row_bytes: int, most: int, least: int = 1) -> Iterator[slice]:
    """Cut rows into blocks of ``most`` bytes.

    Examples
    --------
    >>> from protolearn.core.chunks import row_blocks
    >>> list(row_blocks(3, 8 * 1000, most=16_000))
    [slice(0, 2, None), slice(2, 3, None)]
    """
    return cut(n_rows, block_size(row_bytes, most, least))
