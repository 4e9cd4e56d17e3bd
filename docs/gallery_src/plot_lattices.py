"""
Lattices
========

The lattice of a self-organizing map determines which prototypes are neighbors. The map is drawn in the shape of its
lattice: a sheet, a sheet without borders, a disc with room for branches, or a ring.
"""

# %%
# The same data on five lattices
# ------------------------------
# Handwritten digits, 64 pixels each. Every map has about as many nodes as the others.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from protolearn import SOM
from protolearn.core.lattices import chain, hexagonal, hyperbolic, rectangular
from protolearn.maps import OnLattice
from protolearn.metrics import quantization_error, topographic_error
from protolearn.plotting import plot_class_map, plot_prototypes

X, y = load_digits(return_X_y=True)
lattices = {
    "rectangular": rectangular(8, 10),
    "hexagonal": hexagonal(8, 10),
    "torus": hexagonal(8, 10, periodic=True),
    "hyperbolic": hyperbolic(7, rings=3),
    "ring": chain(80, periodic=True),
}
maps = {name: SOM(lattice=lattice, max_iter=50).fit(X) for name, lattice in lattices.items()}

# %%
# A sheet is the easiest to read. The cells of a rectangular lattice have four neighbors, those of a hexagonal lattice
# six, which makes distances on the map more uniform.


def draw(names):
    _, axes = plt.subplots(1, len(names), figsize=(4.6 * len(names), 3.6), layout="constrained")
    for name, ax in zip(names, axes):
        plot_class_map(maps[name], X, y, ax=ax)
        ax.set_title(name)
        if name != names[-1]:
            ax.get_legend().remove()


draw(["rectangular", "hexagonal"])

# %%
# Here, prototypes are images, too. With their shape, the cells show them in place of the discs.

plot_class_map(maps["hexagonal"], X, y, shape=(8, 8))

# %%
# A torus has no border: opposite sides are connected. On the hyperbolic plane the number of nodes grows exponentially
# with the distance from the center, which suits branching data such as hierarchies. A ring puts all samples in one
# cyclic order.

draw(["torus", "hyperbolic", "ring"])

# %%
# Quality measures
# ----------------
# A ring, whose nodes have two neighbors each, is the least constrained and has the lowest quantization error. The
# topographic error is the fraction of samples whose two nearest prototypes are not neighbors on the lattice. It is
# largest for the torus: the digits do not have the topology of a torus, so connecting opposite borders brings
# dissimilar digits together.

for name, som in maps.items():
    print(f"{name:12s} quantization {quantization_error(X, som):6.2f}   topographic {topographic_error(X, som):.2f}")

# %%
# A ring for cyclic data
# ----------------------
# If data lie on a circle, a ring closes it and a chain leaves a gap. The initialization along the first principal axis
# is far from both, so the initial range is wider than the default, with which the chain would keep folds of its
# straight initialization.

angle = np.random.default_rng(0).uniform(0, 2 * np.pi, 600)
circle = np.column_stack([np.cos(angle), np.sin(angle)]) * (1 + 0.08 * np.sin(5 * angle))[:, None]
circle += np.random.default_rng(1).normal(0, 0.05, circle.shape)

figure, axes = plt.subplots(1, 2, figsize=(9, 4.2), layout="constrained")
for ax, periodic in zip(axes, (False, True)):
    som = SOM(lattice=chain(24, periodic=periodic), neighborhood=OnLattice(radius=(8, 0.55))).fit(circle)
    plot_prototypes(som, circle, voronoi=False, ax=ax)
    ax.set_title("ring" if periodic else "chain")

plt.show()
