"""Allocation of a given number of bits to codebook, coefficients and their resolution."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterator, Sequence
from itertools import product
from typing import NamedTuple

from protolearn.applications._bitstream import Header

__all__ = ["Plan", "candidate_plans"]

LARGEST_SHARE = {False: 0.3, True: 0.5}  # of the side information, at a fixed rate and entropy coded
MOST_COMPONENTS = 24  # more, in larger blocks, are no better
MOST_CENTERS = 1024
ANY = 8  # bits of a coefficient where there is none, or where its step is sought


class Plan(NamedTuple):
    """Sizes of a codebook, and resolution of the coefficients."""

    block_size: int
    n_prototypes: int
    n_components: int
    coefficient_bits: int


def candidate_plans(method: str, entropy: bool, shapes: Sequence[tuple[int, ...]], allowed: float) -> Iterator[Plan]:
    """Yield plans worth comparing for images of these shapes, whose streams may take so many bytes together.

    At a fixed rate each uses the bytes up. What an entropy coder makes of a plan, only a trial can tell.

    Examples
    --------
    >>> next(candidate_plans("vq", False, [(256, 256)], allowed=8192))
    Plan(block_size=1, n_prototypes=1, n_components=0, coefficient_bits=8)
    >>> next(candidate_plans("pca", False, [(256, 256)], allowed=8192))
    Plan(block_size=4, n_prototypes=1, n_components=3, coefficient_bits=5)
    """
    channels = shapes[0][2] if len(shapes[0]) == 3 else 1
    if entropy:
        plans = _entropy_coded(method, channels)
    elif method == "vq":
        plans = _centers(shapes, allowed)
    else:
        plans = _components(method, channels, shapes, allowed)
    for plan in plans:
        if method == "vqpca" and plan.n_components == plan.block_size**2 * channels:
            continue  # every block would fit every prototype
        if sum(header.side_size for header in _headers(plan, shapes)) <= LARGEST_SHARE[entropy] * allowed:
            yield plan


def _centers(shapes: Sequence[tuple[int, ...]], allowed: float) -> Iterator[Plan]:
    for size in (1, 2, 3, 4):
        n = bisect(range(1, MOST_CENTERS + 1), allowed, key=lambda n: _fixed_size(Plan(size, n, 0, ANY), shapes))
        if n > 0:
            yield Plan(size, n, 0, ANY)


def _components(method: str, channels: int, shapes: Sequence[tuple[int, ...]], allowed: float) -> Iterator[Plan]:
    for size, n, bits in product((2, 4, 6, 8, 16), (1,) if method == "pca" else (1, 4, 16, 64), (5, 6)):
        numbers = range(1, size * size * channels + 1)
        k = bisect(numbers, allowed, key=lambda k: _fixed_size(Plan(size, n, k, bits), shapes))
        if 0 < k <= MOST_COMPONENTS:
            yield Plan(size, n, k, bits)


def _entropy_coded(method: str, channels: int) -> Iterator[Plan]:
    if method == "vq":
        for size, n in product((2, 3, 4), (16, 64, 256, MOST_CENTERS)):
            yield Plan(size, n, 0, ANY)
        return
    for size in (4, 8):
        area = size * size
        for k in sorted({area // 4, area // 2, area, area * channels}):
            yield Plan(size, 1, k, ANY)
        if method != "pca":
            yield Plan(size, 4, area // 2, ANY)
            yield Plan(size, 16, area // 4, ANY)


def _fixed_size(plan: Plan, shapes: Sequence[tuple[int, ...]]) -> int:
    return sum(header.fixed_size for header in _headers(plan, shapes))


def _headers(plan: Plan, shapes: Sequence[tuple[int, ...]]) -> list[Header]:
    return [Header(shape, *plan, has_codebook=True, checksum=0) for shape in shapes]
