"""Prototypes that are objects, by exchange: one is replaced by another object of its class as long as the cost falls.

The cost is that of generalized LVQ, ``sum_j u_j phi(mu_j)``. For one prototype it is known for all objects of the class
at once: without that prototype every object has a nearest one of its class and of another, and a candidate changes only
what it comes nearer to.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from protolearn.core.numerics import TIED, first_lowest
from protolearn.core.pairs import Pairs
from protolearn.core.types import Indices

__all__ = ["exchanges"]

CODES = {"identity": 0, "sigmoid": 1, "swish": 2}  # of squashing functions, in the compiled loops


def exchanges(
    pairs: Pairs, y: Indices, codes: Indices, indices: Indices, squashing: str, slope: float
) -> Iterator[tuple[Indices, float]]:
    """Yield prototypes and their mean cost after each round over all of them, as long as a round lowers it.

    Objects have class codes y (n,); prototypes have ``codes`` (k,) and start at the objects ``indices`` (k,).
    """
    from protolearn.relational._exchange_kernels import candidate_costs, nearest_of_both

    S, chosen, phi = pairs.squares, indices.copy(), CODES[squashing]
    P = S[chosen]
    order = [(code, np.flatnonzero(y == code), p) for p, code in enumerate(codes.tolist())]
    mass, n_still = float(pairs.weights.sum()), 0
    while n_still < len(order):
        cost = 0.0
        for code, members, p in order:
            nearest = nearest_of_both(P, y, codes, p)
            costs = candidate_costs(S, members, nearest, y, code, pairs.weights, phi, float(slope))
            place = int(np.flatnonzero(members == chosen[p])[0])
            best = first_lowest(costs)
            if costs[best] < costs[place] - TIED * abs(costs[place]):
                chosen[p], P[p], place, n_still = members[best], S[members[best]], best, 0
            else:
                n_still += 1
            cost = float(costs[place])
            if n_still == len(order):
                break
        yield chosen.copy(), cost / mass
