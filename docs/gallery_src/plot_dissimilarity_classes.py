"""
Classes of strings
==================

LVQ does not need vectors. Its prototypes can be combinations of objects that are described only by their
dissimilarities, or some of the objects themselves.
"""

# %%
# Strings with many mutations
# ---------------------------
# There are five ancestors, and forty descendants of each, in which two thirds of the letters were lost, replaced or
# followed by another. A string is hardly nearer to its own class than to others.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier

from protolearn import MedianGLVQ, PrototypeClassifier, RelationalGLVQ, RelationalNeuralGas
from protolearn.datasets import make_string_classes
from protolearn.dissimilarities import edit, pseudo_euclidean

strings, y = make_string_classes(5, 40, length=40, mutation=0.65, kind="letters", random_state=0)
D = edit(strings)
same = np.equal.outer(y, y) & ~np.eye(len(y), dtype=bool)
print(f"mean distance within a class {D[same].mean():.1f}, between classes {D[~np.equal.outer(y, y)].mean():.1f}")

# %%
# Accuracy
# --------
# Prototypes that are combinations of strings separate the classes best, although no single string corresponds to them,
# and one per class is enough. The mean of each class, neural gas with one prototype, is nearly as good here; a map that
# does not use the classes is worse. A single string is a poor prototype for others with so many mutations.

folds = StratifiedKFold(5, shuffle=True, random_state=0)
models = {
    "nearest string": KNeighborsClassifier(1, metric="precomputed"),
    "MedianGLVQ, 1 per class": MedianGLVQ(random_state=0),
    "MedianGLVQ, 3 per class": MedianGLVQ(3, random_state=0),
    "neural gas, 10": PrototypeClassifier(RelationalNeuralGas(10, random_state=0)),
    "neural gas, 1 per class": PrototypeClassifier(RelationalNeuralGas(1, random_state=0), per_class=True),
    "RelationalGLVQ, 1 per class": RelationalGLVQ(),
}
scores = {name: cross_val_score(model, D, y, cv=folds) for name, model in models.items()}

figure, ax = plt.subplots(figsize=(7, 3.2), layout="constrained")
places = np.arange(len(scores))
ax.barh(places, [values.mean() for values in scores.values()], color="#8fb8de")
for place, values in zip(places, scores.values()):
    ax.plot(values, np.full(len(values), place), "o", color="0.2", markersize=3)
ax.set_yticks(places, list(scores))
ax.set(xlabel="accuracy in five folds", xlim=(0, 1.02))

# %%
# Positions of prototypes
# -----------------------
# The first two directions of classical scaling, in which a combination of strings has a position, too. Each relational
# prototype (star) lies beyond the center of its class, away from the others; median prototypes (rings) are strings.

relational, median = RelationalGLVQ().fit(D, y), MedianGLVQ(random_state=0).fit(D, y)
plane = pseudo_euclidean(D)[0][:, :2]

figure, ax = plt.subplots(figsize=(6.5, 5.5), layout="constrained")
colors = plt.get_cmap("tab10")(np.arange(5))
ax.scatter(*plane.T, s=14, c=colors[y], alpha=0.5, linewidths=0)
stars, rings = relational.coefficients_ @ plane, plane[median.prototype_indices_]
look = {"s": 220, "marker": "*", "c": colors[relational.prototype_labels_], "edgecolors": "black"}
ax.scatter(*stars.T, **look, label="combinations")
look = {"s": 110, "facecolors": "none", "edgecolors": colors[median.prototype_labels_], "linewidths": 2}
ax.scatter(*rings.T, **look, label="strings")
ax.set(xlabel="first direction", ylabel="second direction")
ax.legend(title="prototypes", frameon=False)

# %%
# Interpretation of prototypes
# ----------------------------
# A combination cannot be written down, but the strings of its class that are nearest to it can. ``explain`` returns
# them for every prediction, together with the nearest prototype of another class.

reasons = relational.explain(D[:1])
print(f"{strings[0]} is of class {reasons.classes[0]}, like")
print(*(f"  {strings[j]}" for j in reasons.members[0, :3]), sep="\n")
print(f"next would be class {reasons.rivals[0]}; confidence {relational.confidence(D[:1])[0]:.2f}")

# %%
# Few comparisons
# ---------------
# A new string has to be compared with all strings that a prototype is a combination of. With ``sparsity`` there are
# few.

for sparsity in (None, 10, 3):
    model = RelationalGLVQ(sparsity=sparsity)
    accuracy = cross_val_score(model, D, y, cv=folds).mean()
    print(f"compared with {len(model.fit(D, y).support_):3}: accuracy {accuracy:.2f}")

plt.show()
# sphinx_gallery_thumbnail_number = 2
