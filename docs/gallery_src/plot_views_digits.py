"""
Digits in four views
====================

A view places neighbors in the data next to each other. No view can do this without errors; the divergence that it
minimizes determines which errors it makes.
"""

# %%
# The effect of the divergence
# ----------------------------
# A thousand digits of 64 pixels. The views do not use the colors, which show the classes.
#
# t-SNE minimizes the Kullback-Leibler divergence, and shows clusters with wide gaps. With the Cauchy-Schwarz divergence
# small affinities count less: the gaps close, and within a cluster more of the nearest neighbors are preserved. Rényi's
# divergence of order two penalizes separated neighbors, and tolerates a few false ones. SNE, with a Gaussian kernel in
# the view, has the smallest gaps.

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits

from protolearn import SNE, TSNE
from protolearn.embedding.divergences import CauchySchwarz, Renyi
from protolearn.metrics import coranking_matrix, view_quality
from protolearn.plotting import plot_coranking, plot_embedding, plot_images, plot_quality

digits = load_digits()
X, y, images = digits.data[:1000], digits.target[:1000], digits.images[:1000]

embeddings = {
    "t-SNE": TSNE(random_state=0),
    "t-SNE, Cauchy-Schwarz": TSNE(divergence=CauchySchwarz(), random_state=0),
    "t-SNE, Rényi 2": TSNE(divergence=Renyi(2.0), random_state=0),
    "SNE": SNE(random_state=0),
}
views = {name: embedding.fit_transform(X) for name, embedding in embeddings.items()}

figure, axes = plt.subplots(2, 2, figsize=(9, 9), layout="constrained")
for ax, (name, view) in zip(axes.flat, views.items()):
    plot_embedding(view, y, ax=ax)
    ax.set_title(name)

# %%
# Quality of the views
# --------------------
# For each size K of neighborhoods, the curves show how many of the K nearest neighbors in the data are among the K
# nearest in the view, where 0 is a random view and 1 a perfect one. No view is best at all sizes. Left of the crossing,
# Cauchy-Schwarz preserves more; right of it, the others do.

quality = {name: view_quality(X, view, y) for name, view in views.items()}
plot_quality(quality)

# %%
# The second curve shows the kind of errors: above zero a view shows false neighbors, below zero it separates true ones.
# The numbers agree: trustworthiness decreases with false neighbors, continuity with missed ones.

plot_quality(quality, "b_nx")

print(f"{'ten neighbors':22} {'trusted':>8} {'kept':>8} {'same digit':>11}")
for name, measured in quality.items():
    values = measured.trustworthiness[9], measured.continuity[9], measured.neighborhood_hit[9]
    print(f"{name:22} {values[0]:8.3f} {values[1]:8.3f} {values[2]:11.3f}")

# %%
# The co-ranking matrix counts all pairs of samples by their ranks in the data and in the view. A perfect view would be
# a diagonal line. Below it are distant samples that have come closer, above it neighbors that moved away. The first 300
# ranks are shown, and the borders of neighborhoods of 30, the perplexity.

plot_coranking(coranking_matrix(X, views["t-SNE"]), max_rank=300, n_neighbors=30)

# %%
# Images in the view
# ------------------
# Samples that are images can be shown themselves. The ones lie in several clusters, because there are several ways to
# write a one.

plot_images(views["t-SNE"], images, y, n_images=250)

plt.show()
# sphinx_gallery_thumbnail_number = 1
