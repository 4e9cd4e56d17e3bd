"""Numbers of edits, from columns of differences that are kept as bits, for many pairs of sequences side by side."""

from __future__ import annotations

from math import prod

import numpy as np
from numba import njit
from numpy.typing import NDArray

from protolearn.core.compiling import WITHIN_LOOPS
from protolearn.core.types import Floats, Indices
from protolearn.dissimilarities._strings import Sequences

__all__ = ["count_edits"]

Word = np.uint64
Words = NDArray[Word]

# The first sequence is common to a group of WORDS words, so the innermost loop has no branches and becomes vector
# instructions. Several vectors are in progress at a time, as each step of one depends on the step before.
WORDS = 32
BITS = 64
NONE, ONE = np.uint64(0), np.uint64(1)


def count_edits(a: Sequences, b: Sequences) -> Floats:
    """Return the least numbers of insertions, deletions and substitutions (len(a), len(b)) between integer sequences.

    Examples
    --------
    >>> from protolearn.dissimilarities._strings import Sequences
    >>> symbols = np.array([7, 5, 5, 9, 7], np.int32)
    >>> count_edits(Sequences.cut(symbols[:3], [3]), Sequences.cut(symbols[1:], [3, 0, 1]))
    array([[2., 3., 2.]])
    """
    depth = max(1, -(-int(b.lengths.max(initial=0)) // BITS))
    highest = int(max(a.values.max(initial=0), b.values.max(initial=0)))
    n_steps = int(a.lengths.max(initial=0)) if depth > 1 else 0
    outside, lowest, still, falls = _zeros(4, WORDS)
    up, down = _zeros(2, n_steps, WORDS)
    result = np.empty((len(a), len(b)))
    _count_block(
        *a.parts,
        *b.parts,
        np.argsort(b.lengths, kind="stable"),
        np.zeros(highest + 1, np.int64),
        _zeros(depth, 2 + min(highest, int(b.lengths.sum())), WORDS),
        np.empty((4, len(b)), np.int64),
        np.empty((depth, len(b)), np.uint64),
        outside,
        lowest,
        still,
        falls,
        up,
        down,
        np.empty(len(b), np.int64),
        result,
    )
    return result


def _zeros(*shape: int) -> Words:
    """Return zeros that begin where a line of the cache begins."""
    size = prod(shape)
    room = np.zeros(size + 8, np.uint64)
    start = -room.ctypes.data % 64 // 8
    return room[start : start + size].reshape(shape)


@njit(cache=True, nogil=True)
def _count_block(
    x: Indices,
    x_starts: Indices,
    x_lengths: Indices,
    y: Indices,
    y_starts: Indices,
    y_lengths: Indices,
    order: Indices,
    rows: Indices,
    table: Words,
    places: Indices,
    fields: Words,
    outside: Words,
    lowest: Words,
    still: Words,
    falls: Words,
    up: Words,
    down: Words,
    edits: Indices,
    result: Floats,
) -> None:
    """Write the numbers of edits into ``result`` (n, m); ``order`` sorts the second sequences by length.

    The short ones of a group share words: each has a field with a bit for each of its symbols. Those of more than 64
    symbols have a word of their own in each of several layers. Each place of a symbol is a bit of ``table`` (layers,
    rows, WORDS); all symbols of the group have a row, and the row 0 is for other symbols.
    """
    _pack(y_lengths, order, places)
    members = places[0]
    first: int | np.int64 = np.int64(0)  # no literal, for which all below would be compiled once more
    while first < len(order):
        last = first
        while last < len(order) and places[1, last] == places[1, first]:
            last += 1
        _write(y, y_starts, y_lengths, members, first, last, rows, table, places, fields)
        _outline(places, fields, first, last, outside, lowest)
        n_layers = max(1, -(-y_lengths[members[last - 1]] // BITS))
        for i in range(len(x_starts)):
            start, length = x_starts[i], x_lengths[i]
            for k in range(first, last):
                edits[k] = length
            for a in range(length if n_layers > 1 else 0):  # on top, each symbol of the text is one more edit
                for w in range(WORDS):
                    up[a, w], down[a, w] = ONE, NONE
            for layer in range(n_layers):
                if n_layers == 1:
                    _read_fields(x, start, length, rows, table, outside, lowest, still, falls)
                else:
                    _read_layer(x, start, length, rows, table, layer, still, falls, up, down)
                _add(still, falls, places, fields, layer, first, last, edits)
            for k in range(first, last):
                result[i, members[k]] = edits[k]
        _erase(y, y_starts, y_lengths, members, first, last, rows, table, places)
        first = last


@njit(**WITHIN_LOOPS)
def _pack(lengths: Indices, order: Indices, places: Indices) -> None:
    """Choose for each sequence a group, its word and its lowest bit there: rows 1 to 3; row 0 is the sequence.

    A word has the longest sequence that is left, and then as many of the shortest ones as fit. A bit between two fields
    is left free, for the carry of the lower one. Sequences that do not fit into a word are in the groups at the end.
    """
    n_short = 0
    while n_short < len(order) and lengths[order[n_short]] <= BITS:
        n_short += 1
    low, high, word, shift = 0, n_short, -1, BITS + 1
    for k in range(len(order)):
        member = order[k]
        if k >= n_short:
            word, shift = -(-(word + 1) // WORDS) * WORDS if k == n_short else word + 1, 0
        elif shift + lengths[order[low]] <= BITS:
            member, low = order[low], low + 1
        else:
            high, word, shift = high - 1, word + 1, 0
            member = order[high]
        places[0, k], places[1, k], places[2, k], places[3, k] = member, word // WORDS, word % WORDS, shift
        shift += lengths[member] + 1


@njit(**WITHIN_LOOPS)
def _write(
    y: Indices,
    starts: Indices,
    lengths: Indices,
    members: Indices,
    first: int | np.int64,
    last: int,
    rows: Indices,
    table: Words,
    places: Indices,
    fields: Words,
) -> None:
    """Give each symbol of the group a row, and write the places of each symbol, and of each sequence."""
    n_rows = 1
    for k in range(first, last):
        for layer in range(len(fields)):
            fields[layer, k] = NONE
        for a in range(lengths[members[k]]):
            symbol = y[starts[members[k]] + a]
            if rows[symbol] == 0:
                rows[symbol] = n_rows
                n_rows += 1
            bit = ONE << np.uint64((places[3, k] + a) % BITS)
            table[a // BITS, rows[symbol], places[2, k]] |= bit
            fields[a // BITS, k] |= bit


@njit(**WITHIN_LOOPS)
def _outline(places: Indices, fields: Words, first: int | np.int64, last: int, outside: Words, lowest: Words) -> None:
    """Write the bits outside of all fields, and the lowest bit of each field."""
    for w in range(WORDS):
        outside[w] = ~NONE
    for k in range(first, last):
        outside[places[2, k]] &= ~fields[0, k]
    for w in range(WORDS):
        lowest[w] = ((outside[w] << ONE) | ONE) & ~outside[w]


@njit(**WITHIN_LOOPS)
def _erase(
    y: Indices,
    starts: Indices,
    lengths: Indices,
    members: Indices,
    first: int | np.int64,
    last: int,
    rows: Indices,
    table: Words,
    places: Indices,
) -> None:
    for k in range(first, last):
        for a in range(lengths[members[k]]):
            table[a // BITS, rows[y[starts[members[k]] + a]], places[2, k]] = NONE
    for k in range(first, last):
        for a in range(lengths[members[k]]):
            rows[y[starts[members[k]] + a]] = 0


@njit(**WITHIN_LOOPS)
def _read_fields(
    x: Indices,
    start: int,
    length: int,
    rows: Indices,
    table: Words,
    outside: Words,
    lowest: Words,
    still: Words,
    falls: Words,
) -> None:
    """Advance the columns of all fields from the beginning of a text to its end."""
    for w in range(WORDS):
        still[w], falls[w] = outside[w], NONE
    for a in range(start, start + length):
        matches = table[0, rows[x[a]]]
        for w in range(WORDS):
            column = _advanced(matches[w], still[w], falls[w], lowest[w], NONE)
            still[w], falls[w] = column[0] | outside[w], column[1]  # nothing is carried beyond a free bit


@njit(**WITHIN_LOOPS)
def _read_layer(
    x: Indices,
    start: int,
    length: int,
    rows: Indices,
    table: Words,
    layer: int,
    still: Words,
    falls: Words,
    up: Words,
    down: Words,
) -> None:
    """Advance the columns of a layer, given the steps (length, WORDS) up and down above it; write those below it."""
    for w in range(WORDS):
        still[w], falls[w] = NONE, NONE
    for a in range(length):
        matches, ups, downs = table[layer, rows[x[start + a]]], up[a], down[a]
        for w in range(WORDS):
            column = _advanced(matches[w], still[w], falls[w], ups[w], downs[w])
            still[w], falls[w] = column[0], column[1]
            ups[w], downs[w] = column[2] >> np.uint64(BITS - 1), column[3] >> np.uint64(BITS - 1)


@njit(**WITHIN_LOOPS)
def _advanced(matches: Word, still: Word, falls: Word, up: Word, down: Word) -> tuple[Word, Word, Word, Word]:
    """Advance columns by a symbol, Hyyro 2003, figure 3: return ``~VP``, ``VN``, and the steps ``HP``, ``HN``.

    The step above the columns is ``up`` or ``down``. As ``still = ~VP``, sums become differences, for fewer operations.
    """
    matches = matches | down
    diagonal = ((still - (matches & ~still)) ^ still) | matches | falls
    ups = falls | (still & ~diagonal)
    downs = diagonal & ~still
    above, below = (ups + ups) | up, (downs + downs) | down
    return (diagonal | above) & ~below, above & diagonal, ups, downs


@njit(**WITHIN_LOOPS)
def _add(
    still: Words,
    falls: Words,
    places: Indices,
    fields: Words,
    layer: int,
    first: int | np.int64,
    last: int,
    edits: Indices,
) -> None:
    """Add the differences along the column of each sequence."""
    for k in range(first, last):
        w = places[2, k]
        edits[k] += _count(~still[w] & fields[layer, k]) - _count(falls[w] & fields[layer, k])


@njit(**WITHIN_LOOPS)
def _count(bits: Word) -> np.int64:
    """Return the number of ones; compilers replace this form by one instruction."""
    bits = bits - ((bits >> ONE) & np.uint64(0x5555555555555555))
    bits = (bits & np.uint64(0x3333333333333333)) + ((bits >> np.uint64(2)) & np.uint64(0x3333333333333333))
    bits = (bits + (bits >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((bits * np.uint64(0x0101010101010101)) >> np.uint64(56))
