"""Images as blocks, and their representation by quantized local principal components.

A block of unit i is decoded as ``c_i + sum_j v_j D_ij / 128`` from 8-bit centers ``c``, 8-bit directions ``D`` and
fixed-point coefficients ``v``, in integers only: a stream gives the same image on every machine.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from protolearn.core.chunks import HELD, row_blocks
from protolearn.core.types import Array, Floats, Indices

__all__ = [
    "Codebook",
    "FreeLevels",
    "RangeLevels",
    "best_subspaces",
    "cut_blocks",
    "grid_shape",
    "join_blocks",
    "members",
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
