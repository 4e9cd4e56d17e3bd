"""The smallest change after which a sample has another class, among the changes that are allowed.

A prototype r of the wanted class must be nearer to the changed sample than every prototype j of other classes, by the
margin m: ``(1 + m) d_r <= (1 - m) d_j``, which is quadratic in the change, and linear if all prototypes share a matrix
and m is zero. The smallest change is computed for each r in turn (`_nearest_point`), by branch and bound if there are
integers or categories. If few features shall change, sets of features are tried in the order of their size.

Arrays: x (N,) a sample, delta (N,) its change, W (k, N) prototypes, A (s, M, N) or (s, N) factors of the relevance
matrices A'A, slots (k,) matrix of each prototype. S is the form by which changes are measured. If all prototypes share
a matrix and m is zero, nothing of size N x N is needed but the factors.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from heapq import heappop, heappush
from itertools import combinations, count
from math import comb
from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_triangular

from protolearn.core.types import Bools, Floats, Indices
from protolearn.core.validation import require_memory
from protolearn.lvq._forms import Form, nearest_beyond
from protolearn.lvq._nearest_point import Program, nearest_point

BEYOND = (1e-9, 1e-6, 1e-3)  # how far beyond the border, as a share of the distances; the first that `reaches` confirms
FAINT = 1e-4  # weight of what other prototypes see, so that what the nearest one does not see is not free of cost
UNSEEN = 1e-8  # weight of what no prototype sees
N_NODES = 5_000  # of branch and bound, for each prototype and set of features
N_SETS = 50_000  # sets of features of one size that are looked at
N_TRIED = 1_500  # sets of features that are tried, for all prototypes together

Around = Callable[[float], tuple[float, float]]


@dataclass(frozen=True)
class Room:
    """What a sample may become, in the columns of the classifier.

    Attributes
    ----------
    low, high : ndarray of shape (N,)
        Bounds of each column; equal to the sample where it must stay.
    integers : dict of callable
        For columns of integers: the allowed values next to a number, below and above.
    groups : list of (ndarray, ndarray)
        Columns of one category, and the rows of values they can have together; the first is that of the sample.
    features : list of ndarray
        The columns that count as one feature.
    """

    low: Floats
    high: Floats
    integers: Mapping[int, Around]
    groups: list[tuple[Indices, Floats]]
    features: list[Indices]


class Change(NamedTuple):
    """A changed sample, the squared length of the change (infinite: none was found), and whether none is smaller."""

    sample: Floats
    length: float
    proven: bool


@dataclass(frozen=True)
class Borders:
    """Prototypes and the relevance matrices by which distances to them are measured."""

    W: Floats
    codes: Indices
    A: Floats
    slots: Indices
    _heavier: dict[int, Form] = field(default_factory=dict)

    def measure(self, x: Floats, present: int, length: str) -> Form:
        """Return the form by which changes of a sample are measured: the squared length, or that of its winner."""
        return self._form(self._slot(x, present, length))

    def heavier(self, x: Floats, present: int, length: str) -> Form:
        """Return the same form with a small weight of all changes, so that none is free of cost."""
        slot = self._slot(x, present, length)
        if slot not in self._heavier:
            form = self._form(slot)
            if length == "metric":
                for other, share in enumerate(np.bincount(self.slots, minlength=len(self.A)) / len(self.slots)):
                    if len(self.A) == 1:
                        form = Form(form.d * (1.0 + FAINT), form.F * np.sqrt(1.0 + FAINT))
                    elif share > 0:
                        form = form.plus(FAINT * share, self._form(other))
            self._heavier[slot] = replace(form, d=form.d + UNSEEN * self._form(slot).trace / len(x))
        return self._heavier[slot]

    def _slot(self, x: Floats, present: int, length: str) -> int:
        if length == "euclidean":
            return -1
        own = np.flatnonzero(self.codes == present)
        return int(self.slots[own[self._distances(self._offsets(x))[own].argmin()]])

    def _form(self, slot: int) -> Form:
        N = self.W.shape[1]
        if slot < 0:
            return Form(np.ones(N), np.empty((0, N)))
        return Form(self.A[slot] ** 2, np.empty((0, N))) if self.A.ndim == 2 else Form(np.zeros(N), self.A[slot])

    def ways(self, x: Floats, present: int, target: int | None, margin: float, beyond: float) -> Iterator[Way]:
        """Yield the problem of each prototype that the sample may go to, the nearest first."""
        offsets = self._offsets(x)
        d = self._distances(offsets)
        pulls = self._pulls(offsets)
        convex = len(self.A) == 1
        L = self._matrices() if margin or not convex else None
        for r in np.argsort(d, kind="stable"):
            mine = self.codes[r]
            if mine == present if target is None else mine != target:
                continue
            j = np.flatnonzero(self.codes == present if target is None and margin == 0 else self.codes != mine)
            g = (1.0 - margin) * pulls[j] - (1.0 + margin) * pulls[r]
            c = (1.0 + margin) * d[r] - (1.0 - margin) * d[j] + beyond * (d[r] + d[j])
            if L is None:
                Q = None
            elif convex:
                Q = np.broadcast_to(2.0 * margin * L[0], (len(j), *L[0].shape))
            else:
                Q = (1.0 + margin) * L[self.slots[r]] - (1.0 - margin) * L[self.slots[j]]
            yield Way(Q, g, c, offsets[r], convex)

    def _offsets(self, x: Floats) -> Floats:
        return np.nan_to_num(self.W - x)  # missing values take no part

    def _distances(self, offsets: Floats) -> Floats:
        return np.array([(self._image(offset, slot) ** 2).sum() for offset, slot in zip(offsets, self.slots)])

    def _pulls(self, offsets: Floats) -> Floats:
        """Return the relevance matrix of each prototype times its offset (k, N)."""
        images = [self._image(offset, slot) for offset, slot in zip(offsets, self.slots)]
        return np.stack(
            [image @ self.A[s] if self.A.ndim == 3 else image * self.A[s] for image, s in zip(images, self.slots)]
        )

    def _image(self, offset: Floats, slot: int) -> Floats:
        A = self.A[slot]
        return A @ offset if A.ndim == 2 else A * offset

    def _matrices(self) -> Floats:
        """Return the relevance matrices (s, N, N), which curved borders need."""
        N, s = self.W.shape[1], len(self.A)
        what = f"A counterfactual of {N} features by local metrics or with a margin"
        require_memory(what, 8 * N**2 * (s + len(self.W) + 6), "use one metric and margin=0, or fewer features")
        return np.stack([self._form(slot).matrix() for slot in range(s)])


@dataclass(frozen=True)
class Way:
    """To one prototype: all of ``delta'Q_j delta + 2 g_j'delta + c_j <= 0``; the prototype is at ``goal``."""

    Q: Floats | None
    g: Floats
    c: Floats
    goal: Floats
    convex: bool

    def is_closed(self, low: Floats, high: Floats) -> bool:
        """Return whether an inequality fails everywhere within bounds, by a bound on its left side."""
        if not np.isfinite([low, high]).all():
            return False
        center, half = (low + high) / 2.0, (high - low) / 2.0
        g, least = self.g, self.c + 2.0 * self.g @ center
        if self.Q is not None:
            bent = self.Q @ center
            g, least = g + bent, least + bent @ center - np.abs(self.Q) @ half @ half
            least += np.maximum(np.einsum("kii->ki", self.Q), 0.0) @ half**2
        return bool((least - 2.0 * np.abs(g) @ half > 0.0).any())

    def within(self, S: Form, low: Floats, high: Floats, cutoff: float) -> tuple[Floats, float, bool]:
        """Return the change with the smallest ``delta'S delta`` within bounds, its value, and whether it is proven."""
        if self.is_closed(low, high):
            return np.zeros_like(low), np.inf, True
        if self.Q is None:
            return nearest_beyond(S, self.g, self.c, low, high, cutoff)
        free = low < high
        delta = np.where(free, 0.0, low)
        root = np.linalg.cholesky(S.within(free).matrix())
        pull = solve_triangular(root, S.times(delta)[free], lower=True)
        base = float(S(delta) - pull @ pull)
        delta[free] = -solve_triangular(root, pull, lower=True, trans="T")  # without inequalities this is the best
        aim = root.T @ (self.goal - delta)[free]
        size = float(np.sqrt(aim @ aim)) or 1.0
        B = size * solve_triangular(root, np.eye(len(root)), lower=True, trans="T")
        bent = self.Q @ delta
        c = self.c + 2.0 * self.g @ delta + bent @ delta
        g = (self.g + bent)[:, free] @ B
        Q = B.T @ self.Q[:, free][:, :, free] @ B
        sizes = np.maximum(np.abs(c), np.abs(g).max(axis=1, initial=0.0))
        sizes = np.maximum(sizes, np.abs(Q).max(axis=(1, 2), initial=0.0))
        sizes[sizes == 0] = 1.0
        program = Program(
            Q / sizes[:, None, None],
            g / sizes[:, None],
            c / sizes,
            B,
            (low - delta)[free],
            (high - delta)[free],
            aim / size,
            self.convex,
        )
        y, value, proven = nearest_point(program, (cutoff - base) / size**2)
        delta[free] += B @ y
        return np.clip(delta, low, high), base + size**2 * value, proven


def smallest_change(
    x: Floats,
    borders: Borders,
    room: Room,
    reaches: Callable[[Floats], bool],
    *,
    present: int,
    target: int | None,
    margin: float,
    sparse: bool,
    length: str,
) -> Change:
    """Return the smallest allowed change of a sample that gives it another class (or class ``target``).

    Lengths are ``delta'S delta`` with the matrix of the present winner, or the identity (``length="euclidean"``). A
    result is one that ``reaches`` confirms.
    """
    S, heavier = borders.measure(x, present, length), borders.heavier(x, present, length)
    for beyond in BEYOND:
        ways = list(borders.ways(x, present, target, margin, beyond))
        search = ChangeSearch(x, room, ways, heavier)
        found = search.fewest() if sparse else search.smallest(search.free)
        if not np.isfinite(found.length):
            return found
        if reaches(found.sample):
            delta = np.nan_to_num(found.sample - x)
            return found._replace(length=S(delta))
    return Change(x, np.inf, False)


@dataclass(frozen=True)
class ChangeSearch:
    """All ways for one sample, within one room."""

    x: Floats
    room: Room
    ways: list[Way]
    S: Form

    @property
    def free(self) -> Bools:
        """The columns that can change."""
        return self.room.low < self.room.high

    def smallest(self, free: Bools, cutoff: float = np.inf) -> Change:
        """Return the smallest change of some columns."""
        best = Change(self.x, np.inf, True)
        for way in self.ways:
            found = self._branch(way, free, min(cutoff, best.length))
            proven = best.proven and found.proven
            best = (found if found.length < best.length else best)._replace(proven=proven)
        return best

    def fewest(self) -> Change:
        """Return the change of the fewest features, among these the smallest.

        Sets of features are tried in the order of their size, as long as there are not too many of them.
        """
        features = [columns for columns in self.room.features if self.free[columns].any()]
        everything = self.smallest(self.free)
        if not np.isfinite(everything.length):
            return everything
        proven, n_tried = True, 0
        for size in range(1, len(features)):
            if comb(len(features), size) > N_SETS:
                return self._few_of_many(features)
            sets = np.array(list(combinations(range(len(features)), size)), np.int64)
            chances = [(way, sets[self._may_suffice(way, features, sets)]) for way in self.ways]
            n_tried += sum(len(some) for _, some in chances)
            if n_tried > N_TRIED:
                return self._few_of_many(features)
            best = Change(self.x, np.inf, True)
            for way, some in chances:
                for chosen in some:
                    found = self._branch(way, self._only([features[i] for i in chosen]), best.length)
                    proven = proven and found.proven
                    best = found if found.length < best.length else best
            if np.isfinite(best.length):
                return best._replace(proven=proven)
        return everything._replace(proven=proven and everything.proven)

    def _may_suffice(self, way: Way, features: list[Indices], sets: Indices) -> Bools:
        """Return which sets of features can reach every half-space by itself, each feature going as far as it may."""
        if way.Q is not None:
            return np.ones(len(sets), bool)
        x = np.nan_to_num(self.x)
        low, high = (np.where(self.free & (way.g != 0), edge - x, 0.0) for edge in (self.room.low, self.room.high))
        reach = np.maximum(-2.0 * way.g * low, -2.0 * way.g * high)
        reach = np.stack([reach[:, columns].sum(axis=1) for columns in features], axis=1)
        needed = way.c - 1e-9 * np.abs(way.c)
        return np.asarray((reach[:, sets].sum(axis=2) >= needed[:, None]).all(axis=0))

    def _few_of_many(self, features: list[Indices]) -> Change:
        few = [self._few(features, way) for way in self.ways]
        return min(few, key=lambda change: (self._n_changed(change), change.length))._replace(proven=False)

    def _few(self, features: list[Indices], way: Way) -> Change:
        """Return a change along one way of features none of which can be left out.

        Those that can do most towards it by themselves are taken first. With a single half-space to reach, these are
        the fewest.
        """
        gains = self._gains(way)
        order = sorted(features, key=lambda columns: -gains[columns].sum())
        alone = replace(self, ways=[way])

        def change(n_features: int) -> Change:
            return alone.smallest(alone._only(order[:n_features]))

        n_features = bisect_left(range(len(order)), True, key=lambda n: bool(np.isfinite(change(n).length)))
        best, kept = change(n_features), order[:n_features]
        for columns in reversed(order[: n_features - 1] if np.isfinite(best.length) else []):
            fewer = [each for each in kept if each is not columns]
            found = alone.smallest(alone._only(fewer))
            if np.isfinite(found.length):
                best, kept = found, fewer
        return best

    def _gains(self, way: Way) -> Floats:
        """Return by how much each column alone can lower the worst inequality."""
        j, x = int(way.c.argmax()), np.nan_to_num(self.x)
        far = 10.0 * np.abs(way.goal).max()
        low, high = (np.clip(np.where(self.free, edge - x, 0.0), -far, far) for edge in (self.room.low, self.room.high))
        g, bend = way.g[j], np.zeros(len(x)) if way.Q is None else np.diagonal(way.Q[j])
        bottom = np.clip(-g / np.where(bend > 0, bend, np.inf), low, high)
        return np.max([-bend * step**2 - 2.0 * g * step for step in (low, high, bottom)], axis=0)

    def _n_changed(self, change: Change) -> float:
        moved = np.nan_to_num(change.sample - self.x) != 0
        return sum(moved[columns].any() for columns in self.room.features) if np.isfinite(change.length) else np.inf

    def _only(self, features: list[Indices]) -> Bools:
        chosen = np.zeros(len(self.x), bool)
        for columns in features:
            chosen[columns] = True
        return chosen & self.free

    def _branch(self, way: Way, free: Bools, cutoff: float) -> Change:
        """Return the smallest change along one way that has integers and categories where it must."""
        x = np.nan_to_num(self.x)
        low, high = (np.where(free, edge - x, 0.0) for edge in (self.room.low, self.room.high))
        best, serial = Change(self.x, cutoff, True), count()
        nodes, n_nodes, proven, found = [(0.0, next(serial), low, high)], 0, True, False
        while nodes and n_nodes < N_NODES:
            bound, _, low, high = heappop(nodes)
            if bound >= best.length:
                break
            n_nodes += 1
            delta, value, sure = way.within(self.S, low, high, best.length)
            proven &= sure
            if value >= best.length:
                continue
            parts = list(self._parts(x + delta, x, low, high))
            for low, high in parts:
                heappush(nodes, (value, next(serial), low, high))
            if not parts:
                best, found = Change(self._landed(delta, free), value, True), True
        proven &= n_nodes < N_NODES
        return best._replace(proven=proven) if found else Change(self.x, np.inf, proven)

    def _parts(self, z: Floats, x: Floats, low: Floats, high: Floats) -> Iterator[tuple[Floats, Floats]]:
        """Yield bounds of smaller problems that together hold all allowed changes; none if z itself is allowed."""
        for columns, rows in self.room.groups:
            if (low < high)[columns].any() and np.abs(rows - z[columns]).max(axis=1).min() > 1e-7 * np.ptp(rows):
                for row in rows:
                    lower, upper = low.copy(), high.copy()
                    lower[columns] = upper[columns] = row - x[columns]
                    yield lower, upper
                return
        for column, around in self.room.integers.items():
            if low[column] < high[column]:
                below, above = around(z[column])
                if below < above:
                    upper, lower = high.copy(), low.copy()
                    upper[column], lower[column] = below - x[column], above - x[column]
                    if upper[column] >= low[column]:
                        yield low, upper
                    if lower[column] <= high[column]:
                        yield lower, high
                    return

    def _landed(self, delta: Floats, free: Bools) -> Floats:
        """Return the changed sample, with what is fixed, bounded, whole or a category exactly so."""
        moved = free & (delta != 0)
        z = np.where(moved, np.clip(self.x + delta, self.room.low, self.room.high), self.x)
        for column, around in self.room.integers.items():
            if moved[column]:
                z[column] = around(z[column])[0]
        for columns, rows in self.room.groups:
            if moved[columns].any():
                z[columns] = rows[np.abs(rows - z[columns]).max(axis=1).argmin()]
        return z
