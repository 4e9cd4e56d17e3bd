"""
Magnification control
=====================

Prototypes are denser where the data are dense, but not in proportion: for k-means and neural gas, the density of
prototypes is ``p ** (d / (d + 2))`` for a density ``p`` of the data in ``d`` dimensions, which favors rare samples.
Magnification control changes this exponent by weighting each sample with ``p ** c``: positive ``c`` favors common
samples, negative ``c`` rare ones.
"""

# %%
# Three exponents on one set of samples
# -------------------------------------
# A dense cloud within a thin one.

import matplotlib.pyplot as plt
import numpy as np

from protolearn import NeuralGas
from protolearn.core.density import correlation_dimension
from protolearn.datasets import make_magnification_control
from protolearn.metrics import map_entropy
from protolearn.plotting import plot_prototypes

rng = np.random.default_rng(0)
X = np.vstack([rng.normal(0, 2.0, (1000, 2)), rng.normal([2.0, 1.0], 0.3, (1000, 2))])

figure, axes = plt.subplots(1, 3, figsize=(12, 4), layout="constrained", sharey=True)
for ax, c in zip(axes, (-0.6, 0.0, 1.0)):
    gas = NeuralGas(60, magnification=c, random_state=0).fit(X)
    plot_prototypes(gas, X, ax=ax)
    ax.set_title(f"magnification = {c:g}")

# %%
# The optimal exponent
# --------------------
# With ``c = 2 / d``, the density of prototypes is proportional to the density of the data, and all prototypes win
# equally often: each one carries as much information about a sample as possible. ``magnification="optimal"`` estimates
# the intrinsic dimension ``d`` and uses that exponent. On this curve in the plane the dimension is 1, although there
# are two features.

curve, density = make_magnification_control(dim=1, n_samples=1500, random_state=0)
print(f"dimension {correlation_dimension(curve):.2f}")

gas = NeuralGas(50, magnification="optimal", random_state=0).fit(curve)
print(f"exponent {gas.magnification_:.2f}")

# %%
# The entropy of the winners measures how evenly the samples are distributed; its maximum is ``ln k``.

exponents = np.linspace(-0.9, 3.0, 9)
entropies = [map_entropy(NeuralGas(50, magnification=c, random_state=0).fit(curve)) for c in exponents]

figure, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
ax.plot(exponents, entropies, "o-", color="#0072B2")
ax.axhline(np.log(50), color="gray", linewidth=0.8)
ax.text(-0.9, np.log(50), " ln 50", va="bottom", color="gray")
ax.axvline(gas.magnification_, color="#D55E00", linewidth=0.8)
ax.text(gas.magnification_, min(entropies), ' "optimal"', color="#D55E00")
ax.set(xlabel="magnification", ylabel="entropy of the winners")
ax.margins(y=0.15)
ax.spines[["top", "right"]].set_visible(False)

plt.show()
