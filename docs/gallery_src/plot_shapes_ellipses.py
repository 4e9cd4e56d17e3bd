"""
Prototypes with a shape
=======================

A prototype with a shape represents an ellipsoid of samples: their position, and the directions and extent of their
variation. A few of them describe elongated clusters, curves and sheets that would need many points.
"""

# %%
# Elongated clusters
# ------------------
# Nine clusters, alternately horizontal and vertical. k-means places borders halfway between its prototypes, through the
# clusters; with a matrix for each prototype, borders follow the shapes of the clusters. Ellipses are drawn at 1.5
# standard deviations, with arrows along the two principal directions.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import adjusted_rand_score

from protolearn import NGPCA, KMeans, MatrixNeuralGas
from protolearn.datasets import (
    make_elongated_checkerboard,
    make_ring_line_square,
    make_spiral_uniform,
    make_spirals,
    make_vortex,
)
from protolearn.plotting import plot_ellipses, plot_prototypes, plot_training

X, _, field = make_elongated_checkerboard(3, 3, ratio=64, return_field=True, random_state=0)
kmeans = KMeans(9, random_state=0).fit(X)
gas = MatrixNeuralGas(9, random_state=0).fit(X)

figure, axes = plt.subplots(1, 2, figsize=(10, 4.8), layout="constrained")
plot_prototypes(kmeans, X, ax=axes[0])
plot_ellipses(gas, X, winners=True, ax=axes[1])
for ax, model in zip(axes, (kmeans, gas)):
    ax.set_title(f"{type(model).__name__}, adjusted Rand index {adjusted_rand_score(field, model.labels_):.2f}")

# %%
# A broad spiral
# --------------
# ``NGPCA`` learns online: samples are presented one after the other, and each prototype moves and rotates a little. At
# first the range is wide and every sample updates all prototypes; in the end each prototype represents its own part of
# the arm. The number above each plot is the mean log-density of the mixture of ellipses.

X, _ = make_vortex(random_state=0)
stages = [(f"{n} samples", NGPCA(20, n_steps=n, random_state=0).fit(X)) for n in (300, 3000, 30000)]
plot_training(stages, X)

# %%
# Joint or two-stage learning
# ---------------------------
# A ring, a line and a square, of different dimension and density. On the left positions and directions are learned
# together, so a prototype is near a sample if its ellipse reaches it. On the right neural gas has placed the prototypes
# first, and their directions were learned afterwards, each within its own region. Round ellipses then lie at the
# corners of the square, where one along each side would fit better: the best positions depend on the shapes.

X, _ = make_ring_line_square(random_state=0)
ways = {"together": "online", "one after the other": "two-stage"}
figure, axes = plt.subplots(1, 2, figsize=(10, 3), layout="constrained")
plot_training([(name, NGPCA(10, algorithm=way, random_state=0).fit(X)) for name, way in ways.items()], X, ax=axes)

# %%
# Spirals
# -------
# In three dimensions, one direction per prototype is enough for a curve; all other directions share one variance.
# Arrows show the direction, circles the spread around it, in two projections. This map was trained in batches.

X, _ = make_spiral_uniform(max_angle=4 * np.pi, random_state=0)
curve = NGPCA(12, 1, algorithm="batch", random_state=0).fit(X)
figure, axes = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained", width_ratios=(2, 1))
plot_ellipses(curve, X, features=(0, 1), ax=axes[0])
plot_ellipses(curve, X, features=(1, 2), ax=axes[1])

# %%
# Two thin intertwined spirals are difficult: a point between the arms is near both. The default initialization of
# ``MatrixNeuralGas`` is the result of neural gas, which has merged the arms, and an ellipse that lies across them does
# not recover. k-means++ is the better initialization here, and online learning is better still, since it can escape
# poor optima by chance.

X, _ = make_spirals(random_state=0)
models = {
    "start from neural gas": MatrixNeuralGas(34, random_state=0),
    "start from spread samples": MatrixNeuralGas(34, init="k-means++", random_state=0),
    "online": NGPCA(34, random_state=0),
}
figure, axes = plt.subplots(1, 3, figsize=(12, 4.2), layout="constrained")
for ax, (name, model) in zip(axes, models.items()):
    plot_ellipses(model.fit(X), X, arrows=False, ax=ax)
    ax.set_title(f"{name}: log-likelihood {model.score(X):.2f}", fontsize="medium")

plt.show()
# sphinx_gallery_thumbnail_number = 2
