"""
Streams and patches
===================

A map does not need all samples at once. It can learn from one patch at a time: the current prototypes are added to the
next patch, each with the weight of all samples it represents. Memory does not grow, samples are read once, and earlier
patches are not forgotten, even if the stream changes.
"""

# %%
# A stream that changes
# ---------------------
# Eleven clouds arrive in patches of a thousand samples; each patch comes mostly from one cloud, the next from another.
# A method that adapts to the latest samples would end with all prototypes on the last cloud.

import matplotlib.pyplot as plt
import numpy as np

from protolearn import NeuralGas
from protolearn.datasets import make_eleven_clouds
from protolearn.maps import Patches
from protolearn.metrics import quantization_error
from protolearn.plotting import plot_prototypes

X, cloud = make_eleven_clouds(11000, order="diffused", random_state=0)
patches = np.array_split(X, 11)

gas = NeuralGas(n_prototypes=33, random_state=0)
figure, axes = plt.subplots(1, 3, figsize=(12, 3.6), layout="constrained", sharex=True, sharey=True)
limits = dict(zip(("xlim", "ylim"), np.column_stack([X.min(axis=0), X.max(axis=0)])))
shown = {1: axes[0], 6: axes[1], 11: axes[2]}
for number, patch in enumerate(patches, 1):
    gas.partial_fit(patch)
    if number in shown:
        plot_prototypes(gas, patch, voronoi=False, ax=shown[number])
        shown[number].set(title=f"after patch {number}", **limits)

# %%
# Each plot shows only the samples of its patch. Earlier clouds keep their prototypes, which represent the samples seen
# before. An iterator of patches does the same in one call:

gas = NeuralGas(n_prototypes=33, random_state=0).fit(iter(patches))

# %%
# What is the loss from seeing samples only once, in this unfavorable order? Compare with a fit on all of them.

everything = NeuralGas(n_prototypes=33, random_state=0).fit(X)
for name, model in {"patches": gas, "all at once": everything}.items():
    print(f"{name:12s} quantization error {quantization_error(X, model):.3f}")

# %%
# Forgetting
# ----------
# To forget the past, ``decay`` multiplies the weight of earlier samples by a factor for each new patch. With 0.3, a
# cloud that was last seen five patches ago counts for a quarter of a percent of its samples.

figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained", sharey=True)
for ax, decay in zip(axes, (1.0, 0.3)):
    gas = NeuralGas(n_prototypes=33, patches=Patches(decay=decay), random_state=0).fit(iter(patches))
    plot_prototypes(gas, X, voronoi=False, ax=ax)
    ax.set_title(f"decay = {decay:g}")

plt.show()
# sphinx_gallery_thumbnail_number = 2
