"""
Texts on a hyperbolic map
=========================

How much shorter do two texts get if they are compressed together? This defines a dissimilarity that uses no knowledge
of words or languages, and it is sufficient to organize the documentation of scikit-learn.
"""

# %%
# The texts
# ---------
# The texts are the parameter descriptions of scikit-learn's estimators, from the modules with most of them. All texts
# are truncated to the same length: the compression distance of a long and a short text mainly reflects their lengths.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.utils import all_estimators

from protolearn import MedianSOM, RelationalSOM
from protolearn.core.lattices import hyperbolic
from protolearn.dissimilarities import ncd
from protolearn.metrics import map_trustworthiness
from protolearn.plotting import plot_examples

MODULES = ["linear_model", "ensemble", "preprocessing", "cluster", "decomposition", "feature_selection", "neighbors"]
LENGTH = 1500

names, texts, modules = [], [], []
for name, estimator in all_estimators():
    module = estimator.__module__.split(".")[1]
    text = " ".join(estimator.__doc__.partition("Parameters\n")[2].split()).lstrip("- ")
    if module in MODULES and len(text) >= LENGTH:
        names.append(name)
        texts.append(text[:LENGTH])
        modules.append(module)
print(f"{len(texts)} texts, such as {names[0]}: {texts[0][:70]} ...")

# %%
# Distances
# ---------
# The normalized compression distance is near 0 for texts with the same content, and near 1 for texts that have nothing
# in common. Any compressor can be used; for short texts zlib is the fastest.

D = ncd(texts, compressor="zlib")
for name in ("Lasso", "KMeans"):
    nearest = np.argsort(D[names.index(name)])[1:4]
    print(f"nearest to {name}:", ", ".join(names[index] for index in nearest))

# %%
# The map
# -------
# On a hyperbolic lattice the number of nodes grows with each ring, so there is room for many groups. Each node shows
# the estimator nearest to its prototype.

som = RelationalSOM(hyperbolic(7, rings=3)).fit(D)
plot_examples(som, names, y=modules)

# %%
# To see one region more closely, move a node to the center: here the node of the first ring that is nearest to k-means.

lattice = som.lattice_
focus = 1 + int(lattice.distances[1:8, som.labels_[names.index("KMeans")]].argmin())
plot_examples(som, names, y=modules, n_examples=2, focus=focus)

# %%
# Median prototypes
# -----------------
# In a median map every node is one of the texts, which can be read. Its neighborhoods are about as trustworthy here.

median = MedianSOM(hyperbolic(7, rings=3)).fit(D)
for model in (som, median):
    print(f"{type(model).__name__:13} trustworthiness {map_trustworthiness(D, model):.2f}")

plt.show()
