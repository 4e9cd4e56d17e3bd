"""
A map of languages
==================

Words have no coordinates, but one can count how many letters must change to turn one word into another. A map of
dissimilarities needs nothing else.
"""

# %%
# From words to distances
# -----------------------
# The data are twenty meanings in eighteen European languages, in plain Latin letters. The distance between two
# languages is the mean distance between their words for the same meaning, and the distance between two words is the
# share of letters that change.

import matplotlib.pyplot as plt
import numpy as np

from protolearn import RelationalNeuralGas, RelationalSOM
from protolearn.core.lattices import hexagonal
from protolearn.datasets import load_words
from protolearn.dissimilarities import edit
from protolearn.plotting import plot_examples, plot_prototype_view, plot_spectrum

data = load_words()
for language in ("English", "German", "Italian", "Finnish"):
    print(f"{language:9}", *data.words[data.languages == language, 10:15].ravel())

D = np.mean([edit(words, normalize=True) for words in data.words.T], axis=0)

# %%
# The map
# -------
# A self-organizing map of the languages, trained on the distances only; colors are language families. Families form
# regions, most of them separated by empty nodes. Basque has no relatives, so its position has no meaning.

som = RelationalSOM(hexagonal(4, 4)).fit(D)
plot_examples(som, data.languages, y=data.families, n_examples=3)

# %%
# A view of the prototypes
# ------------------------
# Neural gas has no lattice. Its prototypes are shown in the plane that best preserves their distances; edges connect
# the two nearest prototypes of each language. Small dark dots are prototypes between languages, without any members.

gas = RelationalNeuralGas(9, random_state=0).fit(D)
plot_prototype_view(gas, y=data.families)

# %%
# Are these distances Euclidean?
# ------------------------------
# Nearly: a single eigenvalue is negative, and it is tiny. There are points in some space with almost exactly these
# distances, and a relational map is the map of those points.

plot_spectrum(D)

# %%
# A map of words
# --------------
# Six of the meanings in all languages. Now each word is an object, and the map computes the distances itself. Words of
# one meaning with a common origin are close to each other; others are similar by chance, such as the Estonian *ema* for
# mother and the Basque *ama*.

shown = np.isin(data.meanings, ["three", "seven", "mother", "night", "name", "new"])
words = data.words[:, shown].ravel().tolist()
meanings = np.tile(data.meanings[shown], len(data.languages))

word_map = RelationalSOM(hexagonal(7, 9), metric="edit", metric_params={"normalize": True}).fit(words)
plot_examples(word_map, words, y=meanings, n_examples=2)

# %%
# New words are compared with those of the fit, and assigned to a node.

for word in ("nicht", "septem", "tres", "novum"):
    node = word_map.predict([word])[0]
    neighbors = sorted({words[index] for index in np.flatnonzero(word_map.labels_ == node)})
    print(f"{word:6} goes to {', '.join(neighbors)}")

plt.show()
