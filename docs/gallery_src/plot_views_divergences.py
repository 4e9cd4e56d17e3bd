"""
Divergences compared
====================

A divergence measures how much one distribution differs from another. There are many divergences, and they weight
differences in different ways.
"""

# %%
# On the probability simplex
# --------------------------
# Contours of equal divergence from the point, on the simplex of all distributions of three values. Close to the point
# all divergences look the same, as ellipses. Farther away they differ: the Kullback-Leibler divergence is finite where
# probabilities are zero, the Itakura-Saito divergence is infinite there, and its contours follow the sides. The
# contours of the gamma divergences cross the sides, the more so the larger gamma is: large entries dominate.

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import spearmanr

from protolearn import TSNE
from protolearn.datasets import make_noisy_histograms, make_spectra
from protolearn.embedding.divergences import (
    Alpha,
    Eta,
    Gamma,
    GeneralizedKullbackLeibler,
    Hellinger,
    ItakuraSaito,
    KullbackLeibler,
    pairwise_divergences,
)
from protolearn.plotting import plot_divergence_octant, plot_divergence_simplex, plot_embedding

chosen = [KullbackLeibler(), Hellinger(), ItakuraSaito(), Gamma(0.5), Gamma(1.0), Gamma(3.0)]
figure, axes = plt.subplots(2, 3, figsize=(12, 7.5), layout="constrained")
for ax, divergence in zip(axes.flat, chosen):
    plot_divergence_simplex(divergence, (0.5, 0.3, 0.2), ax=ax)

# %%
# Unnormalized measures
# ---------------------
# Surfaces of constant divergence in three dimensions. For the generalized Kullback-Leibler divergence the surface is
# closed around the point. The gamma divergence is invariant to a factor: its surface is a cone.

figure, axes = plt.subplots(1, 2, figsize=(10, 4.8), subplot_kw={"projection": "3d"})
plot_divergence_octant(GeneralizedKullbackLeibler(), (0.5, 0.3, 0.2), 0.05, ax=axes[0])
plot_divergence_octant(Gamma(1.0), (0.5, 0.3, 0.2), 0.05, ax=axes[1])

# %%
# Histograms of an image
# ----------------------
# An image whose contrast is increased in nine steps, and the histograms of its gray values.

histograms, levels, images = make_noisy_histograms(return_images=True, random_state=0)
figure, axes = plt.subplots(2, 4, figsize=(12, 4.4), layout="constrained")
for column, index in enumerate((0, 2, 5, 9)):
    axes[0, column].imshow(images[index], cmap="gray", vmin=0, vmax=images.max())
    axes[0, column].set(title=f"level {levels[index]:.0f}", xticks=[], yticks=[])
    axes[1, column].plot(histograms[index], linewidth=0.8)
    axes[1, column].set_yscale("symlog")

# %%
# If a divergence is sensitive to the change, it increases from level to level, and the matrix of all pairs is a band.
# The number above each matrix measures this: the mean rank correlation of its rows with the difference of the levels.
# Zeros are frequent in histograms, and would make some divergences infinite; therefore one count is added to each bin.
# Divergences based on ratios mainly reflect where bins are empty; the others are closer to a band.

apart = np.abs(np.subtract.outer(levels, levels))
figure, axes = plt.subplots(1, 5, figsize=(13, 3), layout="constrained")
for ax, divergence in zip(axes, [GeneralizedKullbackLeibler(), ItakuraSaito(), Alpha(0.5), Eta(2.0), Gamma(1.0)]):
    matrix = pairwise_divergences(histograms, divergence=divergence, pseudocount=1.0)
    band = np.mean([spearmanr(row, wanted).statistic for row, wanted in zip(matrix, apart)])
    ax.imshow(matrix, cmap="viridis")
    ax.set(title=f"{type(divergence).__name__}\n{band:.2f}", xticks=[], yticks=[])
    ax.title.set_fontsize("small")

# %%
# A divergence of the data
# ------------------------
# Spectra and histograms are densities, and a divergence can replace the distance between them. For spectra of forty
# species in eight genera, a view of their Hellinger divergences, which are squared distances, shows species as small
# clusters. Colors are genera.

spectra, species = make_spectra(800, n_genera=8, random_state=0)
squares = pairwise_divergences(spectra, divergence="hellinger")
view = TSNE(metric="precomputed", squared=True, random_state=0).fit_transform(squares)
plot_embedding(view, species // 5)

plt.show()
# sphinx_gallery_thumbnail_number = 1
