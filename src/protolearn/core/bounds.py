"""Search for nearest prototypes with bounds: prototypes that were nearest by a large margin are not searched again.

A search stores the *room* of each sample: how much farther its second nearest prototype is than its winner. Movements
of the prototypes reduce the room by at most their lengths; as long as room is left, the winner cannot change and needs
no search (Hamerly 2010). Rounding errors are subtracted from the room as well. Ties in single precision are decided in
double precision, by the lowest index among equal distances. Winners therefore do not depend on earlier bounds, on the
precision of the search, on blocks, or on the BLAS library.

References
----------
Hamerly, G. (2010). Making k-means even faster. SIAM International Conference on Data Mining, 130-140.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from protolearn.core.threads import CLOSE, blas_architectures, block_size
from protolearn.core.types import Array, Floats

__all__ = ["Bounds", "Search", "tile_size"]

VECTOR = 64  # rows of a block are a multiple of it, so that loops along them are vector instructions only
SMALL_TILE = 3 * VECTOR  # samples of a tile that is multiplied without packing its factors, at most
SMALL_WORK = 1_000_000  # multiplications up to which OpenBLAS does so,
SMALL_KERNELS = {"SkylakeX", "Cooperlake", "SapphireRapids"}  # on these processors, those with AVX-512
COARSE = 0.05  # share of samples that single precision may leave open, before double precision is faster


def tile_size(forms: Array) -> int:
    """Return the number of samples whose products with forms (k, L) stay in the cache of a core.

    Examples
    --------
    >>> import numpy as np
    >>> tile_size(np.ones((100, 52), np.float32)), tile_size(np.ones((10_000, 52)))
    (640, 128)
    """
    return VECTOR * block_size(VECTOR * forms.itemsize * len(forms), CLOSE, least=2)


def small_tile_size(forms: Array) -> int:
    """Return the number of samples whose product with forms (k, L) is made without packing, 0 if there is no such way.

    It takes three quarters of the time, if samples are columns; elsewhere small products are slower than large ones.
    """
    if forms.dtype != np.float32 or not blas_architectures() <= SMALL_KERNELS:
        return 0
    return min(SMALL_TILE, SMALL_WORK // (VECTOR * forms.size) * VECTOR)


@dataclass
class Bounds:
    """Results of the last search: winners (n,) and the room (n,) of each sample.

    A sample without room needs a new search.

    Examples
    --------
    >>> import numpy as np
    >>> search = Search(np.array([[-2.0, 1.0, 1.0], [-10.0, 25.0, 1.0]]), euclidean=True)  # of points at 1 and 5
    >>> bounds = Bounds.unknown(2)
    >>> search.update(np.array([[0.0, 1.0, 0.0], [2.9, 1.0, 8.41]]), bounds)
    >>> bounds.winners, bounds.room.round(3)
    (array([0, 0], dtype=int32), array([4. , 0.2]))
    """

    winners: NDArray[np.int32]
    room: Floats
    sites: Floats | None = None

    @classmethod
    def unknown(cls, n: int) -> Bounds:
        """Return the initial bounds, before any search."""
        return cls(np.zeros(n, np.int32), np.zeros(n))

    def __getitem__(self, rows: slice) -> Bounds:
        """Return the same of some samples, to be written to."""
        return Bounds(self.winners[rows], self.room[rows])

    def loosen(self, search: Search) -> None:
        """Take from the room what the prototypes of another search than the last one may have used up."""
        sites = search.sites if search.euclidean else None
        if sites is None or self.sites is None or sites.shape != self.sites.shape:
            self.room[:] = 0.0
        else:
            moves = np.sqrt(np.square(sites - self.sites).sum(axis=1))
            moves *= 1.0 + 2.0 * search.least_room  # for rounding here, and the margin that grows with the sites
            others = np.full(len(moves), moves.max(initial=0.0))
            others[moves.argmax()] = np.delete(moves, moves.argmax()).max(initial=0.0)
            self.room -= (moves + others)[self.winners]
        self.sites = sites


class Search:
    """The prototypes nearest to lifted samples, those with the lowest product of the sample and a row.

    Parameters
    ----------
    forms : array of shape (k, D + 2)
        The rows, or (k, L) if samples are lifted further; the last but one coefficient is the constant.
    euclidean : bool
        Whether the products are squared distances to sites, ``|x - w|^2 + h^2``, from which the room can be computed.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.core.bounds import Bounds, Search
    >>> search, bounds = Search(np.array([[-2.0, 1.0, 1.0], [-10.0, 25.0, 1.0]]), euclidean=True), Bounds.unknown(1)
    >>> search.update(np.array([[4.0, 1.0, 16.0]]), bounds)  # the point at 4, and sites at 1 and 5
    >>> bounds.winners.tolist(), search.sites.tolist()
    ([1], [[1.0, 0.0], [5.0, 0.0]])
    """

    def __init__(self, forms: Floats, euclidean: bool) -> None:
        alike = np.ptp(forms[:, -1]) < 1e-12  # |x|^2 then decides nothing
        self.euclidean = bool(euclidean and alike)
        self.forms = np.ascontiguousarray(forms[:, :-1] if alike else forms)
        self.slope = float(np.sqrt(np.square(np.delete(self.forms, forms.shape[1] - 2, axis=1)).sum(axis=1).max()))
        self.constant = float(np.abs(forms[:, -2]).max())
        # coefficients that cancel, as those of thin shapes do, are not worth a try in single precision
        short = self.euclidean and max(self.constant, self.slope) < float(np.finfo(np.float32).max)
        types = (np.float32, np.float64) if short else (np.float64,)
        self._passes = [(self.forms.astype(dtype, copy=False), self._limits(dtype)) for dtype in types]

    @property
    def sites(self) -> Floats:
        """Points (k, D + 1) whose squared distance to (x, 0) is the product: w, and its height h."""
        places = -0.5 * self.forms[:, :-1]
        heights = np.maximum(self.forms[:, -1] - np.square(places).sum(axis=1), 0.0)
        return np.column_stack([places, np.sqrt(heights)])

    @property
    def least_room(self) -> float:
        """Room, in units of the lengths of sample and site, that the rounding of squares can hide."""
        return float(np.sqrt(2.0 * self._rounding(np.float64)))

    def update(self, lifted: Array, bounds: Bounds) -> None:
        """Find winner and room of the samples that have no room."""
        self._run(self._passes, lifted, bounds, np.empty(0, np.int32))

    def nearest(self, lifted: Array) -> NDArray[np.int32]:
        """Return the nearest row of each sample."""
        bounds = Bounds.unknown(len(lifted))
        self.update(lifted, bounds)
        return bounds.winners

    def two_nearest(self, lifted: Array) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return the nearest row of each sample, and the second nearest in the precision of the samples.

        Examples
        --------
        >>> import numpy as np
        >>> from protolearn.core.bounds import Search
        >>> search = Search(np.array([[-2.0, 1.0, 1.0], [-10.0, 25.0, 1.0]]), euclidean=True)
        >>> [found.tolist() for found in search.two_nearest(np.array([[0.0, 1.0, 0.0], [4.0, 1.0, 16.0]]))]
        [[0, 1], [1, 0]]
        """
        bounds, runners_up = Bounds.unknown(len(lifted)), np.zeros(len(lifted), np.int32)
        passes = [each for each in self._passes if each[0].itemsize >= lifted.itemsize]
        self._run(passes, lifted, bounds, runners_up)
        return bounds.winners, runners_up

    def _run(self, passes: list[Any], lifted: Array, bounds: Bounds, runners_up: NDArray[np.int32]) -> None:
        """Search in one precision after the other, until no sample is left."""
        from protolearn.core._kernels import find_winners

        if len(self.forms) == 1:
            return
        left = np.flatnonzero(bounds.room <= 0.0)
        for forms, limits in passes:
            if len(left) == 0:
                return
            coarse = COARSE if forms is not passes[-1][0] else 1.0
            small = small_tile_size(forms)
            rule = limits, coarse, small or tile_size(forms), bool(small)
            n_done = find_winners(lifted, left, forms, self.forms, *rule, bounds.winners, bounds.room, runners_up)
            left = left[n_done:]

    def _rounding(self, dtype: Any) -> float:
        """Return the relative error of a product, and as much again for that of the forms and of decisions."""
        return (self.forms.shape[1] + 8) * float(np.finfo(dtype).eps)

    def _limits(self, dtype: Any) -> tuple[float, ...]:
        """Return by how much two products must differ, at least and for each unit of a sample's length, and the rest.

        Products whose terms add up to half the largest number, or more, are not to be trusted; terms lose what is below
        the smallest one.
        """
        rounding, tiny = self._rounding(dtype), self.forms.shape[1] * float(np.finfo(dtype).tiny)
        at_least = 2.0 * (rounding * self.constant + tiny * (1.0 + self.slope))
        per_length = 2.0 * (rounding * self.slope + tiny)
        reach = np.sqrt(self.constant) if self.euclidean else np.inf
        too_large = rounding * float(np.finfo(dtype).max)
        # samples may hold |x|^2 in single precision
        growth, least_square = 1.0 + self._rounding(np.float32), self.forms.shape[1] * float(np.finfo(np.float32).tiny)
        return at_least, per_length, too_large, self.least_room, float(reach), growth, least_square
