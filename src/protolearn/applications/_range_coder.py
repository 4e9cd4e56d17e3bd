"""An adaptive binary arithmetic coder for the indices and coefficients of blocks, compiled.

One routine both writes and reads: what the encoder does with a bit that it is given, the decoder does with the bit that
it finds. The probability of a bit is the mean of two opinions, each learned from earlier bits in one of two contexts.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from protolearn.core.compiling import FROM_PYTHON, WITHIN_LOOPS
from protolearn.core.types import Array, Indices

LOW, HIGH, PLACE, CODE = range(4)  # the state: interval, next byte, and the bytes being read
WORD = 0xFFFFFFFF
EVEN = 1 << 15  # a probability of one half
MEMORY = 30  # bits over which an opinion averages
MOST_DIGITS = 16  # of a level
DIGITS = MOST_DIGITS + 1  # after the opinions on the count of digits and on the sign come those on the digits
SLOTS = DIGITS + MOST_DIGITS * MOST_DIGITS
MOST_PAIRS = 1 << 18  # of an index and a neighboring one; if there are more, only the neighbor's highest bits count
MOST_LEVELS = 1 << 14  # contexts of a unit and a direction, likewise
ENERGIES = 8  # classes of how large coefficients nearby are

Coder = tuple[Indices, NDArray[np.int32], NDArray[np.int32]]  # state, opinions on indices and on levels


@njit(**FROM_PYTHON)
def new_coder(index_bits: int, k: int, stream: NDArray[np.uint8], reading: bool) -> Coder:
    """Return the state at the beginning of a stream, and what is thought of indices and levels then: nothing."""
    n_units = 1 << index_bits
    state = np.array([0, WORD, 0, 0])
    if reading:
        for _ in range(4):
            state[CODE] = (state[CODE] << 8) | _next_byte(state, stream)
    n_neighbors = n_units >> _excess(n_units, n_units, MOST_PAIRS)
    n_shared = n_units >> _excess(n_units, k, MOST_LEVELS)
    index_model = np.empty((2, 2 * n_neighbors * n_units), np.int32)
    level_model = np.empty((2, SLOTS * k * (n_shared + ENERGIES * ENERGIES)), np.int32)
    for model in (index_model, level_model):
        model[0] = EVEN
        model[1] = 0
    return state, index_model, level_model


@njit(**FROM_PYTHON)
def transcode(
    indices: Indices,
    levels: Indices,
    first_block: int,
    n_columns: int,
    index_bits: int,
    coder: Coder,
    stream: NDArray[np.uint8],
    reading: bool,
) -> int:
    """Write indices (N,) and levels (N, k) of blocks to a stream, or read them from it; return its length in bytes.

    If that is more than the stream can hold, the rest was not written. Blocks come row by row, ``n_columns`` to a row;
    those before the first are known. An index is seen in the context of the index to its left and of that above; a
    level in the context of its unit, and of the sizes of the levels to the left, above, and just before.
    """
    n_blocks, k = levels.shape
    n_units = 1 << index_bits
    state, index_model, level_model = coder
    vague = _excess(n_units, n_units, MOST_PAIRS)
    n_neighbors = n_units >> vague
    common = _excess(n_units, k, MOST_LEVELS)
    for j in range(first_block, n_blocks):
        has_left, has_above = j % n_columns > 0, j >= n_columns
        left = indices[j - 1] if has_left else 0
        above = indices[j - n_columns] if has_above else left
        node = 1
        for place in range(index_bits - 1, -1, -1):
            bit = (indices[j] >> place) & 1
            first = (left >> vague) * n_units + node
            second = (n_neighbors + (above >> vague)) * n_units + node
            node = 2 * node + _bit(bit, first, second, index_model, state, stream, reading)
        unit = node - n_units
        indices[j] = unit
        for t in range(k):
            around = (abs(levels[j - 1, t]) if has_left else 0) + (abs(levels[j - n_columns, t]) if has_above else 0)
            before = (abs(levels[j, t - 1]) if t > 0 else 0) + (abs(levels[j, t - 2]) if t > 1 else 0)
            energy = min(_n_digits(around), ENERGIES - 1) * ENERGIES + min(_n_digits(before), ENERGIES - 1)
            first = SLOTS * ((unit >> common) * k + t)
            second = SLOTS * ((n_units >> common) * k + t * ENERGIES * ENERGIES + energy)
            levels[j, t] = _level(levels[j, t], first, second, level_model, state, stream, reading)
    if not reading:
        _put_byte((state[LOW] >> 24) + 1, state, stream)  # with zeros behind it, it lies within the interval
    return state[PLACE]


@njit(**FROM_PYTHON)
def _level(level: int, first: int, second: int, model: Array, state: Array, stream: Array, reading: bool) -> int:
    """Code a number as its count of binary digits, one by one, its sign, and its digits after the first."""
    n_digits = _n_digits(abs(level))
    count = 0
    while count < MOST_DIGITS and _bit(count < n_digits, first + count, second + count, model, state, stream, reading):
        count += 1
    if count == 0:
        return 0
    negative = _bit(level < 0, first + MOST_DIGITS, second + MOST_DIGITS, model, state, stream, reading)
    size = 1
    for place in range(count - 2, -1, -1):
        done = count - 2 - place
        slot = DIGITS + (count - 1) * MOST_DIGITS + (size - 1 if done < 2 else done + 1)
        size = 2 * size + _bit((abs(level) >> place) & 1, first + slot, second + slot, model, state, stream, reading)
    return -size if negative else size


@njit(**WITHIN_LOOPS)
def _bit(bit: int, first: int, second: int, model: Array, state: Array, stream: Array, reading: bool) -> int:
    """Narrow the interval to the part of a bit, and let both opinions learn it."""
    chance = (model[0, first] + model[0, second]) >> 1
    middle = state[LOW] + ((state[HIGH] - state[LOW]) * chance >> 16)
    one = state[CODE] <= middle if reading else bool(bit)
    if one:
        state[HIGH] = middle
    else:
        state[LOW] = middle + 1
    for context in (first, second):
        target = WORD >> 16 if one else 0
        model[0, context] += (target - model[0, context]) // (model[1, context] + 2)
        model[0, context] = min(max(model[0, context], 64), (WORD >> 16) - 64)
        model[1, context] = min(model[1, context] + 1, MEMORY)
    while (state[LOW] ^ state[HIGH]) >> 24 == 0:
        if reading:
            state[CODE] = ((state[CODE] << 8) & WORD) | _next_byte(state, stream)
        else:
            _put_byte(state[HIGH] >> 24, state, stream)
        state[LOW] = (state[LOW] << 8) & WORD
        state[HIGH] = ((state[HIGH] << 8) & WORD) | 255
    return 1 if one else 0


@njit(**WITHIN_LOOPS)
def _put_byte(byte: int, state: Array, stream: Array) -> None:
    if state[PLACE] < stream.shape[0]:
        stream[state[PLACE]] = byte
    state[PLACE] += 1


@njit(**WITHIN_LOOPS)
def _next_byte(state: Array, stream: Array) -> int:
    place = state[PLACE]
    state[PLACE] = place + 1
    return int(stream[place]) if place < stream.shape[0] else 0


@njit(**WITHIN_LOOPS)
def _excess(n_units: int, each: int, most: int) -> int:
    """Return how many low bits of a unit to drop, so that there are not more contexts than allowed (or but one)."""
    bits = 0
    while n_units >> bits > 1 and (n_units >> bits) * each > most:
        bits += 1
    return bits


@njit(**WITHIN_LOOPS)
def _n_digits(number: int) -> int:
    count = 0
    while number >> count > 0:
        count += 1
    return count
