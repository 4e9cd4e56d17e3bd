"""The point nearest to zero of a set that quadratic inequalities and bounds describe.

    minimize y'y   subject to   y'Q_j y + 2 g_j'y + c_j <= 0  for all j,   and   low <= B y <= high

Half-spaces (no Q) make it a quadratic program, which is solved exactly. One inequality without bounds is solved exactly
too, convex or not. The rest is descended to a point that satisfies the conditions of Karush, Kuhn and Tucker; if the
Hessian of its Lagrangian has no negative eigenvalue, that point is the nearest of all (`Answer.proven`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq, minimize, nnls

from protolearn.core.types import Floats

N_STEPS = 60
N_RANDOM_STARTS = 12
STEEPEST = 1e6  # multipliers that grow so large belong to a set without a point
SLACK = 1e-10  # by how much an inequality, scaled to size one, may be missed


@dataclass(frozen=True)
class Program:
    """The problem above, in coordinates in which distances and inequalities are of size one.

    Q (k, m, m) or None, g (k, m), c (k,), B (m, m), low and high (m,); ``goal`` (m,) is a good point to start from, and
    ``convex`` says that no Q_j has a negative eigenvalue.
    """

    Q: Floats | None
    g: Floats
    c: Floats
    B: Floats
    low: Floats
    high: Floats
    goal: Floats
    convex: bool

    def excess(self, y: Floats) -> Floats:
        """Return the left sides of the inequalities."""
        flat = 2.0 * self.g @ y + self.c
        return flat if self.Q is None else flat + self.Q @ y @ y

    def slopes(self, y: Floats) -> Floats:
        """Return the derivatives of the left sides, (k, m)."""
        return 2.0 * (self.g if self.Q is None else self.g + self.Q @ y)

    def hessian(self, multipliers: Floats) -> Floats:
        """Return half the Hessian of the Lagrangian."""
        flat = np.eye(len(self.B))
        return flat if self.Q is None else flat + np.tensordot(multipliers, self.Q, 1)

    def contains(self, y: Floats) -> bool:
        """Return whether a point satisfies everything, up to rounding."""
        place = self.B @ y
        room = SLACK * np.abs(self.B).max(initial=0.0)
        inside = (place >= self.low - room).all() and (place <= self.high + room).all()
        return bool(inside and (self.excess(y) <= SLACK).all())

    def clipped(self, y: Floats) -> Floats:
        """Return the point that has the coordinates ``B y``, moved into their bounds."""
        place = self.B @ y
        inside = np.clip(place, self.low, self.high)
        return y if np.array_equal(place, inside) else np.asarray(np.linalg.solve(self.B, inside), np.float64)


class Answer(NamedTuple):
    """A point, its squared distance from zero (infinite: there is none), and whether no point is nearer."""

    point: Floats
    value: float
    proven: bool


def nearest_point(program: Program, cutoff: float = np.inf) -> Answer:
    """Return the point nearest to zero, or an infinite value if there is none whose value is below the cutoff."""
    m = len(program.B)
    none = Answer(np.zeros(m), np.inf, True)
    if m == 0:
        return Answer(np.zeros(0), 0.0, True) if program.contains(np.zeros(0)) else none
    if m == 1:
        return _on_a_line(program)
    if program.convex:
        return _in_convex(program)
    worst = int(program.c.argmax())
    pair = _beyond_one(program, worst)
    if not pair or pair[0] @ pair[0] >= cutoff:
        return none
    for y in pair:
        if program.contains(y):
            return Answer(y, float(y @ y), True)
    best = none._replace(proven=False)
    for start in _starts(program, pair):
        answer = _descend(program, start)
        if answer.proven:
            return answer
        if answer.value < best.value:
            best = answer
    return best


def _in_convex(program: Program) -> Answer:
    answer = _descend(program, np.zeros(len(program.B)))
    if np.isfinite(answer.value) or answer.proven:
        return answer
    start = _repaired(program, program.goal)
    if program.excess(start).max() > 1e-4:  # the least violation there is
        return answer._replace(proven=True)
    return _descend(program, start)


def _starts(program: Program, pair: list[Floats]) -> Iterator[Floats]:
    """Yield where to descend from; later ones are tried only if no point has been proven the nearest."""
    yield from pair
    yield program.goal
    for j in range(len(program.c)):
        yield from _beyond_one(program, j)
    rng = np.random.default_rng(0)
    yield _repaired(program, program.goal)
    for spread in np.geomspace(0.1, 30.0, N_RANDOM_STARTS):  # the widest ones begin in corners of the bounds
        yield _repaired(program, program.goal * rng.random() + spread * rng.normal(size=len(program.goal)))


def _on_a_line(program: Program) -> Answer:
    """Solve for a single variable: the nearest point is zero, a bound, or a root of an inequality."""
    b = float(program.B[0, 0])
    curvature = np.zeros_like(program.c) if program.Q is None else program.Q[:, 0, 0]
    roots = [np.roots(each) for each in zip(curvature, 2.0 * program.g[:, 0], program.c)]
    real = [root.real for each in roots for root in each if abs(root.imag) <= 1e-7 * abs(root.real)]
    candidates = np.array([0.0, program.low[0] / b, program.high[0] / b, *real])
    for y in sorted(candidates[np.isfinite(candidates)], key=abs):
        size = curvature * y**2 + 2.0 * np.abs(program.g[:, 0] * y) + np.abs(program.c)
        inside = program.low[0] - SLACK * abs(b) <= b * y <= program.high[0] + SLACK * abs(b)
        if inside and (program.excess(np.array([y])) <= SLACK * np.minimum(size, 1.0)).all():
            return Answer(np.array([y]), float(y**2), True)
    return Answer(np.zeros(1), np.inf, True)


def _beyond_one(program: Program, j: int) -> list[Floats]:
    """Return the nearest points that satisfy inequality j alone: one, or two if they are symmetric, or none at all.

    They are ``y = -(s + Q)^-1 g`` with the s above ``-min eig Q`` for which the inequality is tight. If it is tight for
    no s, the nearest points lie along the leading eigenvector, on both sides. (One quadratic constraint has no duality
    gap: the S-lemma; Boyd and Vandenberghe 2004, appendix B.)
    """
    g, c = program.g[j], float(program.c[j])
    if c <= 0.0:
        return [np.zeros_like(g)]
    theta, V = np.linalg.eigh(np.zeros_like(program.B) if program.Q is None else program.Q[j])
    along = V.T @ g
    gaps = theta - min(theta[0], 0.0)
    size = max(np.abs(along).max(), np.abs(theta).max())

    def excess(y: Floats) -> float:
        return float(theta @ y**2 + 2.0 * along @ y + c)

    def beyond(log_t: float) -> float:
        return excess(-along / (gaps + np.exp(log_t)))

    least, most = np.log(size) - 34.0, np.log(size) + 1.0
    while beyond(most) <= 0.0:
        most += 2.0
    if beyond(least) <= 0.0:
        return [V @ (-along / (gaps + np.exp(brentq(beyond, least, most, xtol=1e-14, rtol=1e-15))))]
    if theta[0] >= 0.0:
        return []
    y = np.where(gaps > 1e-12 * size, -along / np.maximum(gaps, 1e-12 * size), 0.0)
    length = np.sqrt(max(excess(y), 0.0) / -theta[0])
    return [V @ y + side * length * V[:, 0] for side in (1.0, -1.0)]


def _repaired(program: Program, y: Floats) -> Floats:
    """Return a point near y within the bounds that violates the inequalities as little as possible."""
    back = np.linalg.inv(program.B)

    def violation(place: Floats) -> tuple[float, Floats]:
        y = back @ place
        over = np.maximum(program.excess(y) + SLACK, 0.0)
        return float(over @ over), 2.0 * back.T @ (over @ program.slopes(y))

    start = np.clip(program.B @ y, program.low, program.high)
    bounds = np.stack([program.low, program.high], axis=1)
    return back @ minimize(violation, start, jac=True, bounds=bounds, method="L-BFGS-B", options={"ftol": 0.0}).x


def _descend(program: Program, y: Floats) -> Answer:
    """Return where sequential quadratic programming leads; the value is infinite if it leads to no allowed point."""
    y, multipliers, weight = program.clipped(y), np.zeros(len(program.c)), 1.0

    def merit(y: Floats) -> float:
        return float(y @ y / 2.0 + weight * np.maximum(program.excess(y) / 2.0, 0.0).sum())

    for _ in range(N_STEPS):
        over, slopes = program.excess(y) / 2.0, program.slopes(y) / 2.0
        root = _inverse_root(program.hessian(multipliers))
        solved = _step(program, root, y, slopes, -over)
        if solved is None:  # around a convex set there is always a way
            return Answer(y, np.inf, program.convex)
        step, multipliers = solved
        if multipliers.max() > STEEPEST:
            return Answer(y, np.inf, False)
        if program.Q is None:  # one step is exact
            y = y + step
            break
        weight = max(weight, 2.0 * multipliers.max())
        slope = min(float(y @ step - weight * np.maximum(over, 0.0).sum()), 0.0)
        now, t = merit(y), 1.0
        while merit(y + t * step) > now + 1e-4 * t * slope + 1e-16 * now and t > 1e-8:
            if t == 1.0:  # the curvature of the border may stand in the way of a good step
                bent = _step(program, root, y, slopes, slopes @ step - program.excess(y + step) / 2.0)
                if bent is not None and merit(y + bent[0]) <= now + 1e-4 * slope:
                    step = bent[0]
                    break
            t /= 2.0
        y = y + t * step
        if t * np.abs(step).max() <= 1e-12 * (1.0 + np.abs(y).max()):
            break
    if not program.contains(y):
        return Answer(y, np.inf, False)
    settled = program.Q is None or np.abs(step).max() <= 1e-7 * (1.0 + np.abs(y).max())
    global_ = program.convex or np.linalg.eigvalsh(program.hessian(multipliers))[0] >= -1e-8
    return Answer(y, float(y @ y), bool(settled and global_))


def _inverse_root(H: Floats) -> Floats:
    """Return R with ``R'R = H^-1``, of H with the signs of its negative eigenvalues turned."""
    values, vectors = np.linalg.eigh(H)
    return (vectors / np.sqrt(np.maximum(np.abs(values), 1e-4))).T


def _step(program: Program, root: Floats, y: Floats, slopes: Floats, room: Floats) -> tuple[Floats, Floats] | None:
    """Return the p with the least ``p'Hp / 2 + y'p`` and ``slopes p <= room`` within the bounds, and multipliers."""
    place = program.B @ y
    above, below = np.isfinite(program.high), np.isfinite(program.low)
    rows = np.concatenate([slopes, program.B[above], -program.B[below]])
    limits = np.concatenate([room, (program.high - place)[above], (place - program.low)[below]])
    shift = root @ y
    G = -rows @ root.T
    solved = least_distance(G, G @ shift - limits)
    return None if solved is None else (root.T @ (solved[0] - shift), solved[1][: len(slopes)])


def least_distance(G: Floats, h: Floats) -> tuple[Floats, Floats] | None:
    """Return the z nearest to zero with ``G z >= h`` and its multipliers; None if there is no such z.

    The dual is a non-negative least squares problem (Lawson and Hanson 1974, chapter 23). The inequalities that it
    finds tight are then solved as equations, to full precision.
    """
    norms = np.sqrt((G**2).sum(axis=1))
    some = norms > 1e-14 * norms.max(initial=1e-300)
    if (h[~some] > SLACK * max(1.0, np.abs(h).max())).any():
        return None
    G, h = G[some] / norms[some, None], h[some] / norms[some]
    multipliers, size = np.zeros(len(norms)), h.max(initial=0.0)
    if size <= 0.0:
        return np.zeros(G.shape[1]), multipliers
    system = np.vstack([G.T, h / size])
    goal = np.append(np.zeros(G.shape[1]), 1.0)
    weights, residual = nnls(system, goal, maxiter=30 * len(h) + 100)
    if residual**2 <= 1e-13:
        return None
    tight = weights > 0.0
    z = np.linalg.lstsq(G[tight], h[tight])[0]
    forces = np.zeros(len(h))
    forces[tight] = np.linalg.lstsq(G[tight].T, z)[0]
    if (G @ z < h - 1e-9 * size).any() or (forces < -1e-9 * size).any():  # nearly dependent inequalities
        forces = size * weights / residual**2
        z = G.T @ forces
    multipliers[some] = np.maximum(forces, 0.0) / norms[some]
    return z, multipliers
