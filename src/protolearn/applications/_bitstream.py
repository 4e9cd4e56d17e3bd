"""Bit streams of compressed images, with a validated header and a checksum."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Self

import numpy as np

from protolearn.applications._blocks import grid_shape
from protolearn.core.chunks import HELD, row_blocks
from protolearn.core.files import FREE_PIXELS, PIXELS_PER_BYTE
from protolearn.core.types import Indices

__all__ = ["Header", "pack", "packed_size", "range_decode", "range_encode", "seal", "unpack", "unpack_bands", "unseal"]

Bands = Iterator[tuple[Indices, Indices]]  # indices (N,) and levels (N, k), some rows at a time

MAGIC = b"PLIC"
VERSION = 1
FIELDS = struct.Struct("<4sBBBBBHIIII")
CHECKSUM = struct.Struct("<I")
MOST_PIXELS, MOST_SIDE = 2**28, 2**16
MOST_PROTOTYPES, LARGEST_BLOCK = 2**16, 16
MOST_PER_BIT = 1000  # decisions that the entropy coder can put into a bit, as it never is quite sure


@dataclass(frozen=True)
class Header:
    """Header of a stream: everything that the decoder needs to read the rest.

    ``coefficient_bits`` is 0 if the stream is entropy coded; ``checksum`` is that of the codebook, which tells whether
    a codebook that is not in the stream is the right one.
    """

    shape: tuple[int, ...]
    block_size: int
    n_prototypes: int
    n_components: int
    coefficient_bits: int
    has_codebook: bool
    checksum: int

    @property
    def grid(self) -> tuple[int, int]:
        """Number of blocks downwards and across."""
        return grid_shape(self.shape, self.block_size)

    @property
    def n_values(self) -> int:
        """Number of values in a block."""
        return self.block_size**2 * (self.shape[2] if len(self.shape) == 3 else 1)

    @property
    def codebook_size(self) -> int:
        """Bytes of centers and directions."""
        return self.n_prototypes * (1 + self.n_components) * self.n_values

    @property
    def levels_size(self) -> int:
        """Bytes of the ranges, or steps, of the coefficients."""
        return 4 * self.n_prototypes * self.n_components

    @property
    def side_size(self) -> int:
        """Bytes of header, checksum, levels, and of the codebook if the stream has it."""
        codebook = self.codebook_size if self.has_codebook else 0
        return FIELDS.size + CHECKSUM.size + codebook + self.levels_size

    @property
    def index_bits(self) -> int:
        """Whole bits that an index needs."""
        return (self.n_prototypes - 1).bit_length()

    @property
    def index_size(self) -> int:
        """Bytes of the indices, if they are packed at a fixed rate."""
        return packed_size(self.grid[0] * self.grid[1], self.n_prototypes)

    @property
    def least_size(self) -> int:
        """Minimum size in bytes of a stream with this many pixels, so that a short stream cannot request all memory."""
        return -(-(self.shape[0] * self.shape[1] - FREE_PIXELS) // PIXELS_PER_BYTE)

    @property
    def fixed_size(self) -> int:
        """Bytes of the whole stream, if it is coded at a fixed rate."""
        n_coefficients = self.grid[0] * self.grid[1] * self.n_components
        coded = self.side_size + self.index_size + packed_size(n_coefficients, 2**self.coefficient_bits)
        return max(coded, self.least_size)

    @property
    def bands(self) -> list[slice]:
        """Rows of blocks that are decoded together."""
        rows, columns = self.grid
        return list(row_blocks(rows, 8 * columns * (self.n_values + self.n_components + 1), HELD))

    def allows(self, size: int) -> bool:
        """Return whether a stream with this header can have so many bytes."""
        if self.coefficient_bits > 0:
            return size == self.fixed_size
        n_decisions = self.grid[0] * self.grid[1] * (self.index_bits + self.n_components)
        coded = size - self.side_size
        return coded > 0 and n_decisions <= 8 * MOST_PER_BIT * coded and size >= self.least_size

    def to_bytes(self) -> bytes:
        """Return the first bytes of a stream."""
        height, width, *channels = self.shape
        return FIELDS.pack(
            MAGIC,
            VERSION,
            self.has_codebook,
            *(channels or [1]),
            self.block_size,
            self.coefficient_bits,
            self.n_components,
            height,
            width,
            self.n_prototypes,
            self.checksum,
        )

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Read what `to_bytes` wrote; values that no stream can have are refused."""
        _, _, has_codebook, channels, size, bits, k, height, width, n, checksum = FIELDS.unpack_from(data)
        shape = (height, width, channels) if channels > 1 else (height, width)
        header = cls(shape, size, n, k, bits, bool(has_codebook), checksum)
        possible = channels in (1, 3) and 1 <= size <= LARGEST_BLOCK and bits <= 16 and 1 <= n <= MOST_PROTOTYPES
        small = 0 < height * width <= MOST_PIXELS and max(height, width) <= MOST_SIDE
        if not possible or not small or has_codebook > 1 or k > header.n_values:
            raise ValueError(f"The stream has an impossible header ({header}); it was not written by protolearn.")
        return header


def seal(data: bytes, least_size: int = 0) -> bytes:
    """Append zeros up to a size, and a checksum."""
    data = data.ljust(least_size - CHECKSUM.size, b"\0")
    return data + CHECKSUM.pack(zlib.crc32(data))


def unseal(stream: bytes) -> tuple[Header, bytes]:
    """Return the header and the body of a stream that is complete and undamaged."""
    if not isinstance(stream, bytes | bytearray | memoryview):
        raise ValueError(f"A stream must be of type bytes, not {type(stream).__name__}.")
    stream = bytes(stream)
    if stream[: len(MAGIC)] != MAGIC:
        raise ValueError(f"Not a compressed image of protolearn: it starts with {stream[:4]!r}, not with {MAGIC!r}.")
    if stream[4:5] not in (b"", bytes([VERSION])):
        raise ValueError(
            f"The stream has version {stream[4]}, but this release reads only version {VERSION}; update protolearn."
        )
    data, checksum = stream[: -CHECKSUM.size], stream[-CHECKSUM.size :]
    if len(data) < FIELDS.size or CHECKSUM.unpack(checksum)[0] != zlib.crc32(data):
        raise ValueError("The stream is damaged or cut off: its checksum is wrong. Copy or compress the image again.")
    header = Header.from_bytes(data)
    if not header.allows(len(stream)):
        raise ValueError(f"The stream has {len(stream)} bytes, which does not fit its header ({header}).")
    return header, data[FIELDS.size :]


def pack(digits: Indices, base: int) -> bytes:
    """Pack digits from 0 to ``base - 1`` into little more than ``log2(base)`` bits each.

    Examples
    --------
    >>> pack(np.array([1, 0, 3, 2]), 4).hex()
    '4e'
    """
    group, width = _word(base)
    digits = np.concatenate([digits, np.zeros(-len(digits) % group, np.int64)]).reshape(-1, group)
    words = (digits @ _powers(base, group)).astype(">u8")
    return np.packbits(np.unpackbits(words.view(np.uint8).reshape(-1, 8), axis=1)[:, 64 - width :]).tobytes()


def unpack(data: bytes, base: int, count: int, start: int = 0) -> Indices:
    """Undo `pack` for so many digits, from one of them on.

    Examples
    --------
    >>> unpack(pack(np.array([18, 0, 7]), 19), 19, 3).tolist()
    [18, 0, 7]
    """
    group, width = _word(base)
    first, before = divmod(start, group)
    n_words = -(-(before + count) // group)
    byte, skipped = divmod(first * width, 8)
    found = np.unpackbits(np.frombuffer(data, np.uint8)[byte:], count=skipped + n_words * width)[skipped:]
    bits = np.zeros((n_words, 64), np.uint8)
    bits[:, 64 - width :] = found.reshape(n_words, width)
    words = np.packbits(bits, axis=1).view(">u8").astype(np.int64)
    return (words // _powers(base, group) % base).ravel()[before : before + count]


def packed_size(count: int, base: int) -> int:
    """Return the number of bytes `pack` needs.

    Examples
    --------
    >>> packed_size(1000, 19), 1000 * np.log2(19) / 8
    (532, np.float64(530.9...))
    """
    group, width = _word(base)
    return -(-(-(-count // group) * width) // 8)


def unpack_bands(data: bytes, header: Header) -> Bands:
    """Yield what was packed at a fixed rate: indices, and levels from 0."""
    k, columns = header.n_components, header.grid[1]
    packed_indices, packed_levels = data[: header.index_size], data[header.index_size :]
    for rows in header.bands:
        start, count = rows.start * columns, (rows.stop - rows.start) * columns
        levels = unpack(packed_levels, 2**header.coefficient_bits, count * k, start * k)
        yield unpack(packed_indices, header.n_prototypes, count, start), levels.reshape(count, k)


def range_encode(indices: Indices, levels: Indices, header: Header) -> bytes:
    """Return indices (N,) and levels (N, k) of blocks, entropy coded."""
    from protolearn.applications._range_coder import new_coder, transcode  # compiled; needed for some streams only

    size = 2 * (indices.size + levels.size) + 16
    stream = np.empty(0, np.uint8)
    while size > len(stream):
        stream = np.empty(size, np.uint8)
        coder = new_coder(header.index_bits, header.n_components, stream, False)
        size = transcode(indices.copy(), levels.copy(), 0, header.grid[1], header.index_bits, coder, stream, False)
    return stream[:size].tobytes()


def range_decode(data: bytes, header: Header) -> Bands:
    """Yield what `range_encode` was given."""
    from protolearn.applications._range_coder import new_coder, transcode

    stream, k, columns = np.frombuffer(bytearray(data), np.uint8), header.n_components, header.grid[1]
    coder = new_coder(header.index_bits, k, stream, True)
    indices, levels, known = np.empty(0, np.int64), np.empty((0, k), np.int64), 0
    for rows in header.bands:
        new = (rows.stop - rows.start) * columns
        indices = np.concatenate([indices[len(indices) - known :], np.zeros(new, np.int64)])
        levels = np.concatenate([levels[len(levels) - known :], np.zeros((new, k), np.int64)])
        transcode(indices, levels, known, columns, header.index_bits, coder, stream, True)
        if indices.max() >= header.n_prototypes:
            raise ValueError(
                "The stream refers to a prototype that it does not contain; it was not written by protolearn."
            )
        yield indices[known:], levels[known:]
        known = columns  # the row above is the context of the next


@cache
def _word(base: int) -> tuple[int, int]:
    """Return how many digits to a word of how many bits waste least; words fit an integer."""
    widths = {}
    group = 1
    while (width := (base**group - 1).bit_length()) <= 62 and group <= 62:
        widths[group] = width
        group += 1
    group = min(widths, key=lambda group: (widths[group] / group, group))
    return group, widths[group]


def _powers(base: int, count: int) -> Indices:
    return np.array([base**power for power in range(count)], np.int64)
