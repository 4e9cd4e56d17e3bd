"""Streams of compressed pictures: digits packed into bits, a header that is checked, a checksum over everything."""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass
from functools import cache
from typing import Self

import numpy as np
from numpy.typing import NDArray

from protolearn.applications._blocks import grid_shape

__all__ = ["Header", "pack", "packed_size", "range_decode", "range_encode", "seal", "unpack", "unseal"]

MAGIC = b"PLIC"
VERSION = 1
FIELDS = struct.Struct("<4sBBBBBHIIII")
CHECKSUM = struct.Struct("<I")
MOST_PIXELS = 2**28
MOST_PER_BIT = 1000  # decisions that the entropy coder can put into a bit, as it never is quite sure


@dataclass(frozen=True)
class Header:
    """What a decoder must know before it can read the rest.

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
        """Bytes of centres and directions."""
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
    def fixed_size(self) -> int:
        """Bytes of the whole stream, if it is coded at a fixed rate."""
        n_coefficients = self.grid[0] * self.grid[1] * self.n_components
        return self.side_size + self.index_size + packed_size(n_coefficients, 2**self.coefficient_bits)

    def allows(self, size: int) -> bool:
        """Return whether a stream with this header can have so many bytes."""
        if self.coefficient_bits > 0:
            return size == self.fixed_size
        n_decisions = self.grid[0] * self.grid[1] * (self.index_bits + self.n_components)
        return size > self.side_size and n_decisions <= 8 * MOST_PER_BIT * (size - self.side_size)

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
        possible = channels in (1, 3) and size >= 1 and 0 < height * width <= MOST_PIXELS and bits <= 16
        if not possible or has_codebook > 1 or n < 1 or k > header.n_values:
            raise ValueError(f"The stream has an impossible header ({header}); it was not written by protolearn.")
        return header


def seal(data: bytes) -> bytes:
    """Append a checksum."""
    return data + CHECKSUM.pack(zlib.crc32(data))


def unseal(stream: bytes) -> tuple[Header, bytes]:
    """Return the header and the body of a stream that is complete and undamaged."""
    if not isinstance(stream, bytes | bytearray | memoryview):
        raise ValueError(f"A stream is of type bytes, not {type(stream).__name__}.")
    stream = bytes(stream)
    if stream[: len(MAGIC)] != MAGIC:
        raise ValueError(f"Not a compressed picture of protolearn: it starts with {stream[:4]!r}, not with {MAGIC!r}.")
    if stream[4:5] not in (b"", bytes([VERSION])):
        raise ValueError(f"The stream has version {stream[4]}, but only version {VERSION} is known: update protolearn.")
    data, checksum = stream[: -CHECKSUM.size], stream[-CHECKSUM.size :]
    if len(data) < FIELDS.size or CHECKSUM.unpack(checksum)[0] != zlib.crc32(data):
        raise ValueError("The stream is damaged or cut off: its checksum is wrong. Copy or compress the picture again.")
    header = Header.from_bytes(data)
    if not header.allows(len(stream)):
        raise ValueError(f"The stream has {len(stream)} bytes, which does not fit its header ({header}).")
    return header, data[FIELDS.size :]


def pack(digits: NDArray[np.int64], base: int) -> bytes:
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


def unpack(data: bytes, base: int, count: int) -> NDArray[np.int64]:
    """Undo `pack` for so many digits.

    Examples
    --------
    >>> unpack(pack(np.array([18, 0, 7]), 19), 19, 3).tolist()
    [18, 0, 7]
    """
    group, width = _word(base)
    n_words = -(-count // group)
    bits = np.zeros((n_words, 64), np.uint8)
    bits[:, 64 - width :] = np.unpackbits(np.frombuffer(data, np.uint8), count=n_words * width).reshape(n_words, width)
    words = np.packbits(bits, axis=1).view(">u8").astype(np.int64)
    return (words // _powers(base, group) % base).ravel()[:count]


def packed_size(count: int, base: int) -> int:
    """Return the number of bytes `pack` needs.

    Examples
    --------
    >>> packed_size(1000, 19), 1000 * np.log2(19) / 8
    (532, np.float64(530.9...))
    """
    group, width = _word(base)
    return -(-(-(-count // group) * width) // 8)


def range_encode(indices: NDArray[np.int64], levels: NDArray[np.int64], header: Header) -> bytes:
    """Return indices (N,) and levels (N, k) of blocks, entropy coded."""
    from protolearn.applications._range_coder import transcode  # compiled; needed for some streams only

    size = 2 * (indices.size + levels.size) + 16
    stream = np.empty(0, np.uint8)
    while size > len(stream):
        stream = np.empty(size, np.uint8)
        size = transcode(indices.copy(), levels.copy(), header.grid[1], header.index_bits, stream, False)
    return stream[:size].tobytes()


def range_decode(data: bytes, header: Header) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Undo `range_encode`."""
    from protolearn.applications._range_coder import transcode

    n_blocks = header.grid[0] * header.grid[1]
    indices, levels = np.zeros(n_blocks, np.int64), np.zeros((n_blocks, header.n_components), np.int64)
    transcode(indices, levels, header.grid[1], header.index_bits, np.frombuffer(bytearray(data), np.uint8), True)
    if indices.max() >= header.n_prototypes:
        raise ValueError("The stream names a prototype that it does not have; it was not written by protolearn.")
    return indices, levels


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


def _powers(base: int, count: int) -> NDArray[np.int64]:
    return np.array([base**power for power in range(count)], np.int64)
