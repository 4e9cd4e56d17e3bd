"""
Digits placed by a mapping
==========================

t-SNE finds a position for each sample, but no function that computes it. A mapping from the data to the view is such
a function: a third of the digits are sufficient to learn it, and it embeds the others.
"""

# %%
# Learn from a third, embed all
# -----------------------------
# The mapping is linear on each of a hundred charts, small regions of the data around the prototypes of k-means. Its
# parameters minimize the cost of t-SNE.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier

from protolearn import LGMLVQ, MappedEmbedding, MatrixNeuralGas
from protolearn.plotting import plot_decision_regions, plot_embedding, plot_image_grid

X, y = load_digits(return_X_y=True)
X, X_new, y, y_new = train_test_split(X, y, train_size=600, stratify=y, random_state=0)


def error(view):
    """Return how often the nearest training sample in the view is another digit than a new one."""
    nearest = KNeighborsClassifier(1).fit(view.transform(X), y)
    return 1 - nearest.score(view.transform(X_new), y_new)


views = {
    "linear": MappedEmbedding(mapping="linear", random_state=0).fit(X),
    "linear on charts": MappedEmbedding(random_state=0).fit(X),
}

figure, axes = plt.subplots(1, 2, figsize=(9, 4.8), layout="constrained")
for ax, (name, view) in zip(axes, views.items()):
    plot_embedding(view.transform(X_new), y_new, ax=ax)
    ax.set_title(f"{len(X_new)} new digits, {name}: {error(view):.0%} errors")

# %%
# Images on a grid
# ----------------
# For each cell of a grid, the new digit nearest to its center.

view = views["linear on charts"]
figure, ax = plt.subplots(figsize=(8, 8), layout="constrained")
plot_image_grid(view.transform(X_new), X_new.reshape(-1, 8, 8), y_new, n_cells=24, cmap="gray_r", ax=ax)

# %%
# Inverse mapping
# ---------------
# On each chart the mapping can be inverted. Many small charts are accurate but irregular: between the digits each of
# them extrapolates differently. A few wide, overlapping charts, by a map with shapes, are smoother. The images that
# such a mapping would place along a line from the zeros to the ones, and on to the sixes:

smooth = MappedEmbedding(mapping=MatrixNeuralGas(10, n_components=5), random_state=0).fit(X)
stops = [np.median(smooth.embedding_[y == digit], axis=0) for digit in (0, 1, 6)]
times = np.linspace(0, 2, 15)
line = np.column_stack([np.interp(times, [0, 1, 2], column) for column in np.transpose(stops)])
figure, axes = plt.subplots(1, len(line), figsize=(9, 0.9), layout="constrained")
for ax, image in zip(axes, smooth.inverse_transform(line)):
    ax.imshow(image.reshape(8, 8), cmap="gray_r", vmin=0, vmax=16)
    ax.set_axis_off()

# %%
# Decisions in the view
# ---------------------
# A classifier of digits can be shown in the view: a position has the class of the image there. Since the mapping embeds
# new samples, a classifier can also be trained in the view, here by the five nearest neighbors.

classifier = LGMLVQ(n_components=10, random_state=0).fit(X, y)
within = KNeighborsClassifier().fit(view.embedding_, y)

figure, axes = plt.subplots(1, 2, figsize=(10, 4.6), layout="constrained")
plot_decision_regions(classifier, X_new, y_new, mapping=smooth, ax=axes[0])
axes[0].set_title(f"LVQ on 64 pixels: {classifier.score(X_new, y_new):.1%} right")
plot_decision_regions(within, view.transform(X_new), y_new, ax=axes[1])
axes[1].set(xlabel="coordinate 1", ylabel="coordinate 2")
axes[1].set_title(f"neighbors in the view: {within.score(view.transform(X_new), y_new):.1%} right")

# %%
# A supervised view
# -----------------
# With the charts of a classifier, the mapping emphasizes the differences that matter. The training digits look
# perfectly separated, which means little; look at the new ones.

supervised = MappedEmbedding(mapping=LGMLVQ(n_components=5, random_state=0)).fit(X, y)
figure, ax = plt.subplots(figsize=(5.5, 5), layout="constrained")
plot_embedding(supervised.transform(X_new), y_new, ax=ax)
ax.set_title(f"new digits, charts of an LVQ classifier: {error(supervised):.1%} errors")

plt.show()
# sphinx_gallery_thumbnail_number = 2
