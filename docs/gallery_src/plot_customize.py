"""
Your own neighborhood
=====================

The estimators are thin: below them, a map is a loop over three parts that can be replaced one by one. A *source*
provides samples in chunks, *prototypes* compute distances and are updated, and a *neighborhood* determines which
prototypes a sample updates. This page runs the loop by hand and then uses a custom neighborhood in it.
"""

# %%
# The loop by hand
# ----------------
# ``anneal`` takes the parts and a range for every epoch. It yields a ``Step`` after each epoch, at which you can stop,
# inspect or record. This is the complete neural gas:

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from protolearn.core.lattices import chain
from protolearn.core.loop import anneal
from protolearn.core.neighborhoods import OnLattice, Ranks
from protolearn.core.prototypes import Mean
from protolearn.core.schedules import geometric
from protolearn.core.sources import ArraySource

X, _ = make_moons(800, noise=0.08, random_state=0)
source = ArraySource(X, origin=np.zeros(2))


def train(neighborhood, ranges, n_prototypes=20):
    """Run the loop from small values around the mean and return the final positions and all costs."""
    start = X.mean(axis=0) + 1e-3 * np.random.default_rng(0).normal(size=(n_prototypes, 2))
    prototypes, costs = Mean(start, source.metric), []
    for step in anneal(prototypes, neighborhood, source, ranges):
        prototypes = step.prototypes
        costs.append(step.cost)
    return prototypes.positions, costs


gas, _ = train(Ranks(), geometric(10.0, 0.01, 60))

# %%
# Another neighborhood makes it a self-organizing map:

som, _ = train(OnLattice(chain(20)), geometric(5.0, 0.3, 60))

# %%
# A new neighborhood
# ------------------
# A neighborhood needs only one method, ``gather``, which sums the samples for every prototype. The one below is *soft*:
# sample j counts for prototype i with :math:`e^{-d_{ij} / 2 \lambda^2}`, divided by the sum over all prototypes. This
# is a mixture of equal spherical Gaussians, with the range as their width (deterministic annealing).
# ``prototypes.measure`` returns the distances of a chunk, and a function that sums its samples with any weights; the
# source handles chunks, threads and float32.


class Soft:
    """Prototypes share each sample in proportion to how likely it is for them."""

    def gather(self, prototypes, source, range_):
        measure = prototypes.measure(source.dtype)

        def learn(chunk):
            distances, sums = measure(chunk)
            shares = np.exp(-(distances - distances.min(axis=1, keepdims=True)) / (2 * range_**2))
            shares *= (chunk.weights / shares.sum(axis=1))[:, None]
            return sums(shares.T)

        return source.sum(learn, len(prototypes))


soft, costs = train(Soft(), geometric(1.0, 0.05, 60))

# %%
# Comparison
# ----------

figure, axes = plt.subplots(1, 3, figsize=(12, 3), layout="constrained", sharey=True)
results = {"Ranks (neural gas)": gas, "OnLattice (SOM)": som, "Soft (ours)": soft}
for ax, (name, positions) in zip(axes, results.items()):
    ax.scatter(*X.T, s=5, color="lightgray")
    ax.scatter(*positions.T, s=30, color="#0072B2", zorder=3)
    ax.set(title=name, aspect="equal")
axes[1].plot(*som.T, color="#0072B2", linewidth=1)

# %%
# The cost is recorded for every epoch. With this neighborhood prototypes split up suddenly, in a sequence of phase
# transitions, as the range falls below the spread of the samples they represent.

figure, ax = plt.subplots(figsize=(6, 3.2), layout="constrained")
ax.loglog(geometric(1.0, 0.05, 60), costs, "o-", markersize=3, color="#0072B2")
ax.invert_xaxis()
ax.set(xlabel="range", ylabel="cost")
ax.spines[["top", "right"]].set_visible(False)

plt.show()
# sphinx_gallery_thumbnail_number = 1
