"""
Prototypes between strings
==========================

A median prototype is one of the objects; a relational prototype is a mean of several objects, although strings have no
mean. For noisy objects, this makes a great difference.
"""

# %%
# Families of strings
# -------------------
# There are five ancestors, and forty descendants of each, in which half of the letters were lost, replaced or followed
# by another, as in genes or proteins. Distances are edit distances. Two descendants of one ancestor are nearly as far
# apart as those of different ancestors.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier

from protolearn import MedianNeuralGas, PrototypeClassifier, RelationalNeuralGas, RelationalSOM
from protolearn.datasets import make_string_classes
from protolearn.dissimilarities import edit
from protolearn.plotting import plot_class_map, plot_spectrum

strings, y = make_string_classes(5, 40, length=40, mutation=0.5, kind="letters", random_state=0)
print(*(strings[index] for index in np.flatnonzero(y == 0)[:3]), sep="\n")

D = edit(strings)
same = np.equal.outer(y, y) & ~np.eye(len(y), dtype=bool)
print(f"mean distance within a class {D[same].mean():.1f}, between classes {D[~np.equal.outer(y, y)].mean():.1f}")

# %%
# Relational and median prototypes
# --------------------------------
# Cross-validation on the matrix of distances: scikit-learn selects rows and columns for each fold, since the maps
# declare themselves pairwise. A single descendant is far from most of its class, so median prototypes perform poorly,
# and the nearest neighbor is sometimes wrong. In the mean of many descendants, their random mutations cancel out.

folds = StratifiedKFold(5, shuffle=True, random_state=0)
sizes = [5, 10, 20, 40]
accuracy = {
    name: [cross_val_score(PrototypeClassifier(Gas(k, random_state=0)), D, y, cv=folds).mean() for k in sizes]
    for name, Gas in {"relational": RelationalNeuralGas, "median": MedianNeuralGas}.items()
}
nearest = cross_val_score(KNeighborsClassifier(1, metric="precomputed"), D, y, cv=folds).mean()

figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for name, values in accuracy.items():
    ax.plot(sizes, values, "o-", label=f"{name} neural gas")
ax.axhline(nearest, color="0.5", linestyle="--", label="nearest of all strings")
ax.set(xlabel="prototypes", ylabel="accuracy", ylim=(0.5, 1.02), xticks=sizes)
ax.legend()

# %%
# The same without a matrix: pass the strings and the name of a metric.

classifier = PrototypeClassifier(RelationalNeuralGas(10, metric="edit", random_state=0))
print(f"{cross_val_score(classifier, strings, y, cv=folds).mean():.3f}")

# %%
# Not Euclidean
# -------------
# A third of the eigenvalues are negative: there are no points with these distances. The formulas are still valid, and
# the cost never increased.

plot_spectrum(D)
gas = RelationalNeuralGas(10, random_state=0).fit(D)
print(f"epochs {gas.n_iter_}, of which the cost rose in {gas.n_cost_increases_}")

# %%
# The map
# -------
# Classes on a lattice, and the strings nearest to the prototype of each node.

som = RelationalSOM((8, 10)).fit(D)
plot_class_map(som, y=y)
largest = som.multiplicities_.argmax()
print(*(strings[index] for index in som.prototype_examples_[largest, :3]), sep="\n")

plt.show()
# sphinx_gallery_thumbnail_number = 1
