"""Images as blocks, and their representation by quantized local principal components.

A block of unit i is decoded as ``c_i + sum_j v_j D_ij / 128`` from 8-bit centers ``c``, 8-bit directions ``D`` and
fixed-point coefficients ``v``, in integers only: a stream gives the same image on every machine.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from protolearn.core.files import FREE_PIXELS, PIXELS_PER_BYTE
from protolearn.core.threads import HELD, row_blocks
from protolearn.core.types import Array, Floats, Indices

__all__ = [
    "Codebook",
    "FreeLevels",
    "Header",
    "RangeLevels",
    "best_subspaces",
    "cut_blocks",
    "grid_shape",
    "join_blocks",
    "members",
    "pack",
    "packed_size",
    "range_decode",
    "range_encode",
    "seal",
    "unpack",
    "unpack_bands",
    "unseal",
]

FRACTION = 20  # bits behind the point of a coefficient


RANGE_FRACTION = 3  # bits behind the point of the ends of a range


DIRECTION = 7  # bits of a direction: a full entry is 127/128


ROUNDING = 0.4  # below one half: small coefficients become 0, which costs less to code than it spoils


BIT_PRICE = 0.15  # squared error, in squared steps, that doubling a squared coefficient is worth


LARGEST_LEVEL = 2**16 - 1


def grid_shape(shape: tuple[int, ...], size: int) -> tuple[int, int]:
    """Return how many blocks an image has downwards and across.

    Examples
    --------
    >>> grid_shape((9, 16), 4)
    (3, 4)
    """
    return -(-shape[0] // size), -(-shape[1] // size)


def cut_blocks(image: NDArray[np.uint8], size: int) -> NDArray[np.uint8]:
    """Cut an image (h, w) or (h, w, c) into rows (n_blocks, size * size * c); its edges are repeated if need be.

    Examples
    --------
    >>> cut_blocks(np.arange(6, dtype=np.uint8).reshape(2, 3), 2).tolist()
    [[0, 1, 3, 4], [2, 2, 5, 5]]
    """
    rows, columns = grid_shape(image.shape, size)
    planes = np.atleast_3d(image)
    height, width, channels = planes.shape
    padded = np.pad(planes, ((0, rows * size - height), (0, columns * size - width), (0, 0)), mode="edge")
    return padded.reshape(rows, size, columns, size, channels).swapaxes(1, 2).reshape(rows * columns, -1)


def join_blocks(blocks: Array, shape: tuple[int, ...], size: int) -> Array:
    """Undo `cut_blocks` for an image of this shape.

    Examples
    --------
    >>> image = np.arange(15, dtype=np.uint8).reshape(3, 5)
    >>> bool((join_blocks(cut_blocks(image, 2), image.shape, 2) == image).all())
    True
    """
    rows, columns = grid_shape(shape, size)
    planes = blocks.reshape(rows, columns, size, size, -1).swapaxes(1, 2).reshape(rows * size, columns * size, -1)
    return np.ascontiguousarray(planes[: shape[0], : shape[1]].reshape(shape))


@dataclass(frozen=True)
class Codebook:
    """Centers (n, m) and directions (n, k, m) in 8 bits; vector quantization has k = 0, global PCA n = 1."""

    centers: NDArray[np.uint8]
    directions: NDArray[np.int8]

    @classmethod
    def quantized(cls, prototypes: Floats, components: Floats) -> Self:
        """Round prototypes to pixels, and components so that the largest entry of each is 127."""
        centers = np.clip(np.rint(prototypes), 0, 255).astype(np.uint8)
        largest = np.take_along_axis(components, np.abs(components).argmax(axis=2, keepdims=True), axis=2)
        return cls(centers, np.rint(components * (127.0 / largest)).astype(np.int8))

    @classmethod
    def from_bytes(cls, data: bytes, n: int, k: int, m: int) -> Self:
        """Read what `to_bytes` wrote."""
        numbers = np.frombuffer(data, np.uint8)
        return cls(numbers[: n * m].reshape(n, m), numbers[n * m :].view(np.int8).reshape(n, k, m))

    def to_bytes(self) -> bytes:
        """Return n m + n k m bytes."""
        return self.centers.tobytes() + self.directions.tobytes()

    @property
    def lengths(self) -> Floats:
        """Length (n, k) of each direction, in pixels for a coefficient of 1."""
        return np.linalg.norm(self.directions / 2.0**DIRECTION, axis=2)

    def assign(self, blocks: NDArray[np.uint8], step: float = 0.0) -> Indices:
        """Return the unit that each block (N, m) is best coded with, as `best_subspaces` does."""
        bases = np.linalg.qr(self.directions.swapaxes(1, 2).astype(np.float64))[0]
        return best_subspaces(blocks, self.centers.astype(np.float64), bases.swapaxes(1, 2), step)

    def coefficients(self, blocks: NDArray[np.uint8], indices: Indices) -> Floats:
        """Return the coefficients (N, k) that reconstruct each block best with the directions as they are rounded."""
        _, k, _ = self.directions.shape
        values = np.empty((len(blocks), k))
        for i, own in members(indices):
            gaps = blocks[own].astype(np.float64) - self.centers[i]
            values[own] = gaps @ np.linalg.pinv(self.directions[i] / 2.0**DIRECTION)
        return values

    def reconstruct(self, indices: Indices, values: Indices) -> NDArray[np.uint8]:
        """Return the blocks (N, m) of fixed-point coefficients (N, k)."""
        blocks = np.empty((len(indices), self.centers.shape[1]), np.uint8)
        half = 1 << (FRACTION + DIRECTION - 1)
        for i, own in members(indices):
            offsets = (values[own] @ self.directions[i].astype(np.int64) + half) >> (FRACTION + DIRECTION)
            blocks[own] = np.clip(self.centers[i] + offsets, 0, 255)
        return blocks


@dataclass(frozen=True)
class RangeLevels:
    """Coefficients in ``2**bits`` equal steps between the two ends (n, k, 2) of their range in each unit."""

    ends: NDArray[np.int16]
    bits: int

    @classmethod
    def fitted(cls, values: Floats, indices: Indices, n: int, bits: int) -> Self:
        """Return the levels that span the coefficients (N, k) of each of n units."""
        ends = np.zeros((n, values.shape[1], 2), np.int16)
        limits = np.iinfo(np.int16)
        for i, own in members(indices):
            scaled = values[own] * 2**RANGE_FRACTION
            exact = np.stack([np.floor(scaled.min(axis=0)), np.ceil(scaled.max(axis=0))], axis=1)
            ends[i] = np.clip(exact, limits.min, limits.max)
        return cls(ends, bits)

    @classmethod
    def from_bytes(cls, data: bytes, n: int, k: int, bits: int) -> Self:
        """Read what `to_bytes` wrote."""
        return cls(np.frombuffer(data, "<i2").reshape(n, k, 2).astype(np.int16), bits)

    def to_bytes(self) -> bytes:
        """Return 4 n k bytes."""
        return self.ends.astype("<i2").tobytes()

    def quantize(self, values: Floats, indices: Indices) -> Indices:
        """Return the level (N, k), from 0, of each coefficient."""
        first, step = self._grid
        exact = (values * 2.0**FRACTION - first[indices]) / np.maximum(step, 1)[indices]
        return np.clip(np.rint(exact), 0, 2**self.bits - 1).astype(np.int64)

    def restore(self, levels: Indices, indices: Indices) -> Indices:
        """Return the fixed-point coefficient in the middle of each step."""
        first, step = self._grid
        return first[indices] + levels * step[indices]

    @cached_property
    def _grid(self) -> tuple[Indices, Indices]:
        low, high = np.moveaxis(self.ends.astype(np.int64) << (FRACTION - RANGE_FRACTION), 2, 0)
        step = (high - low) >> self.bits  # exact: the ends have 17 zeros behind them, and there are at most 16 bits
        return low + (step >> 1), step


@dataclass(frozen=True)
class FreeLevels:
    """Coefficients as multiples, of either sign, of one step, whatever their range; ``steps`` (n, k) in fixed point."""

    steps: NDArray[np.uint32]

    @classmethod
    def of(cls, codebook: Codebook, step: float) -> Self:
        """Return the levels a given step apart, in the scale of pixels, along every direction."""
        steps = np.rint(step * 2.0**FRACTION / codebook.lengths)
        return cls(np.clip(steps, 1, np.iinfo(np.uint32).max).astype(np.uint32))

    @classmethod
    def from_bytes(cls, data: bytes, n: int, k: int) -> Self:
        """Read what `to_bytes` wrote."""
        return cls(np.frombuffer(data, "<u4").reshape(n, k).astype(np.uint32))

    def to_bytes(self) -> bytes:
        """Return 4 n k bytes."""
        return self.steps.astype("<u4").tobytes()

    def quantize(self, values: Floats, indices: Indices) -> Indices:
        """Return the multiple (N, k) of the step for each coefficient."""
        multiples = np.floor(np.abs(values) * 2.0**FRACTION / self.steps[indices] + ROUNDING)
        return (np.sign(values) * np.minimum(multiples, LARGEST_LEVEL)).astype(np.int64)

    def restore(self, levels: Indices, indices: Indices) -> Indices:
        """Return the fixed-point coefficient of each level."""
        return levels * self.steps[indices]


def best_subspaces(blocks: NDArray[np.uint8], centers: Floats, axes: Floats, step: float = 0.0) -> Indices:
    """Return the affine subspace, with center (n, m) and orthonormal axes (n, k, m), that reconstructs each block best.

    If coefficients are to be multiples of a step, the bits that they will take when entropy coded count too.
    """
    n, k, m = axes.shape
    if n == 1:
        return np.zeros(len(blocks), np.int64)
    every = axes.reshape(n * k, m).T
    origins = np.matmul(axes, centers[:, :, None]).ravel()
    indices = np.empty(len(blocks), np.int64)
    for part in row_blocks(len(blocks), 8 * n * (k + 1), HELD):
        X = blocks[part].astype(np.float64)
        errors = (centers**2).sum(axis=1) - 2.0 * X @ centers.T  # |x|^2 is the same for all
        gains = np.square(X @ every - origins).reshape(len(X), n, k)
        errors -= gains.sum(axis=2)
        if step > 0:
            errors += BIT_PRICE * step**2 * np.log2(1.0 + gains / step**2).sum(axis=2)
        indices[part] = errors.argmin(axis=1)
    return indices


def members(indices: Indices) -> Iterator[tuple[int, Indices]]:
    """Yield each unit that occurs with the rows that belong to it."""
    order = np.argsort(indices, kind="stable")
    units, starts = np.unique(indices[order], return_index=True)
    yield from zip(units.tolist(), np.split(order, starts[1:]))


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
