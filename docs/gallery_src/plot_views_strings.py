"""
Views of sequences
==================

Views do not need coordinates: dissimilarities are sufficient. The examples are sequences that have evolved from a
common ancestor, and languages.
"""

# %%
# Families of sequences
# ---------------------
# 226 sequences of 300 letters in five families, like families of proteins. Each descends from another one by random
# substitutions. The dissimilarity is the time since two sequences diverged, estimated from the share of positions at
# which they differ.

import matplotlib.pyplot as plt
import numpy as np

from protolearn import SONE, TSNE, XOM
from protolearn.datasets import load_words, make_evolved_sequences
from protolearn.dissimilarities import edit, hamming
from protolearn.embedding.structures import class_centers, gaussian_mixture
from protolearn.metrics import view_quality
from protolearn.plotting import plot_embedding, plot_quality

sequences, family = make_evolved_sequences(random_state=0)
D = -19 / 20 * np.log(1 - 20 / 19 * hamming(sequences))
names = np.array([f"family {letter}" for letter in "ABCDE"])[family]
print(sequences[0][:60], "...")

# %%
# Three views
# -----------
# t-SNE shows families as islands, branches within them, and family E close to C, from which it descends. SONE and XOM
# arrange the sequences among the points of a *structure*, a hexagon by default: the whole view is filled, which leaves
# room for labels, and gaps are small.

embeddings = {
    "t-SNE": TSNE(perplexity=20, metric="precomputed", random_state=0),
    "SONE": SONE(metric="precomputed", random_state=0),
    "XOM": XOM(metric="precomputed", random_state=0),
}
views = {name: embedding.fit_transform(D) for name, embedding in embeddings.items()}

figure, axes = plt.subplots(1, 3, figsize=(13, 4.6), layout="constrained")
for ax, (name, view) in zip(axes, views.items()):
    plot_embedding(view, names, ax=ax)
    ax.set_title(name)

# %%
# Quality measures accept dissimilarities, too.

plot_quality({name: view_quality(D, view, metric="precomputed") for name, view in views.items()})

# %%
# Another structure
# -----------------
# The points of the structure may be placed freely: along a ring, or in five groups, as here. The structure is a
# preference, not a constraint: SONE decides which family goes where, a large one to more than one group, and two small
# ones to the same.

angles = 2 * np.pi * np.arange(120) / 120
structures = {
    "ring": 20 * np.column_stack([np.cos(angles), np.sin(angles)]),
    "five groups": gaussian_mixture(class_centers(5, spacing=12.0), 150, random_state=0),
}
figure, axes = plt.subplots(1, 2, figsize=(10, 4.8), layout="constrained")
for ax, (name, structure) in zip(axes, structures.items()):
    sone = SONE(structure=structure, metric="precomputed", random_state=0).fit(D)
    plot_embedding(sone, names, ax=ax)
    ax.plot(*structure.T, "+", color="0.7", markersize=4, zorder=0)
    ax.set_title(name)

# %%
# Few objects
# -----------
# Eighteen languages, compared by the share of letters in which their words for the same meanings differ. With so few
# objects the perplexity has to be low: at most a third of their number.

data = load_words()
languages = np.mean([edit(words, normalize=True) for words in data.words.T], axis=0)
view = TSNE(perplexity=4, metric="precomputed", random_state=0).fit_transform(languages)

figure, ax = plt.subplots(figsize=(11, 7.5), layout="constrained")
plot_embedding(view, data.families, labels="legend", sizes=40, ax=ax)
for number, index in enumerate(np.argsort(view[:, 0])):
    offset = (0, 7 if number % 2 else -14)  # above and below in turns, so that names of neighbors do not overlap
    ax.annotate(
        data.languages[index], view[index], xytext=offset, textcoords="offset points", ha="center", fontsize=7.5
    )

plt.show()
# sphinx_gallery_thumbnail_number = 1
